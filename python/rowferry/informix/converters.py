"""Values of types that Python does not have, under informix-driver's name of the module."""

from __future__ import annotations

from ._composites import CollectionValue, RowValue
from ._values import BlobLocator, ClobLocator, IntervalYM

__all__ = ["BlobLocator", "ClobLocator", "CollectionValue", "IntervalYM", "RowValue"]
