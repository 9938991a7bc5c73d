"""What rows look like. By default they are tuples; `row_factory=Row` or `dict` changes that."""

from __future__ import annotations

from .._base.rows import Row, RowFactory, make_row_class, row_builder

__all__ = ["Row", "RowFactory", "make_row_class", "row_builder"]
