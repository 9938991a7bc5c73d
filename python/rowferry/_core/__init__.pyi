"""The Rust core. Private: use the public modules instead."""

from collections.abc import Sequence

__version__: str

def main(argv: Sequence[str]) -> int:
    """Run the `rowferry` command and return its exit code."""

moments_are_direct: bool
"""Whether `date` and `datetime` objects are filled in directly, likewise decided."""
decimals_are_direct: bool
"""Whether `decimal.Decimal` objects are filled in directly, which the import-time check of their layout decides."""

class ArrowBatch:
    """Some rows of a result set, by columns; read it through the Arrow PyCapsule interface."""

    @property
    def num_rows(self) -> int:
        """How many rows."""
    @property
    def num_columns(self) -> int:
        """How many columns."""
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None, **_kwargs: object) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class ArrowBatches:
    """All batches of a result set: what becomes a table."""

    def __new__(cls, batches: list[ArrowBatch]) -> ArrowBatches: ...
    @property
    def num_rows(self) -> int:
        """How many rows."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
