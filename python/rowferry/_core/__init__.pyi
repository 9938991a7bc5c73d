"""The Rust core. Private: use the public modules instead."""

from collections.abc import Sequence

__version__: str

def main(argv: Sequence[str]) -> int:
    """Run the `rowferry` command and return its exit code."""

decimals_are_direct: bool
"""Whether `decimal.Decimal` objects are filled in directly, which the import-time check of their layout decides."""
