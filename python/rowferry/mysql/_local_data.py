"""The content of LOAD DATA LOCAL, from whatever holds it, in pieces of a bounded size."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from .._core.mysql import tab_separated
from . import err

__all__ = ["PIECE", "ROWS", "as_bytes", "columns_statement", "load_statement", "pieces_of", "row_pieces", "slices_of"]

#: Content travels in pieces of about this many bytes.
PIECE = 64 * 1024
#: So many rows are spelled at once.
ROWS = 256


def as_bytes(piece: Any, encoding: str) -> bytes | bytearray | memoryview:
    """A piece of content; text in `encoding`."""
    if isinstance(piece, str):
        return piece.encode(encoding)
    if isinstance(piece, (bytes, bytearray, memoryview)):
        return piece
    raise err.ProgrammingError(f"content to load is bytes or str, not {type(piece).__name__}")


def slices_of(content: bytes | bytearray | memoryview) -> Iterator[bytes]:
    """Long content in pieces."""
    view = memoryview(content).cast("B")
    for at in range(0, len(view), PIECE):
        yield bytes(view[at : at + PIECE])


def pieces_of(source: Any, encoding: str) -> Iterator[bytes]:
    """The content of bytes, of a text, of a path, of a file object or of an iterable of bytes or texts."""
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        yield from slices_of(as_bytes(source, encoding))
    elif isinstance(source, os.PathLike):
        with open(source, "rb") as file:
            yield from _gathered(iter(lambda: file.read(PIECE), b""), encoding)
    elif hasattr(source, "read"):
        yield from _gathered(_read(source), encoding)
    else:
        yield from _gathered(source, encoding)


def _read(file: Any) -> Iterator[Any]:
    while piece := file.read(PIECE):
        yield piece


def _gathered(source: Iterable[Any], encoding: str) -> Iterator[bytes]:
    """Small pieces together, long ones apart."""
    buffer = bytearray()
    for piece in source:
        buffer += as_bytes(piece, encoding)
        if len(buffer) >= PIECE:
            yield from slices_of(buffer)
            buffer = bytearray()
    yield from slices_of(buffer)


def row_pieces(rows: Iterable[Sequence[Any]], years: Sequence[int]) -> Iterator[bytes]:
    """Rows as LOAD DATA reads them: a line each, values apart by tabs, what would be misread escaped, NULL as `\\N`.

    `years` are the places of YEAR columns.
    """
    rows = iter(rows)
    done = 0
    while some := list(islice(rows, ROWS)):
        yield spelled(some, done, years)
        done += len(some)


def spelled(rows: Sequence[Sequence[Any]], first: int, years: Sequence[int]) -> bytes:
    """The lines of some rows, of which the first has the index `first`; errors name the row."""
    if years:
        rows = [_with_years(row, years) for row in rows]
    try:
        return tab_separated(rows)
    except err.Error as error:
        if error.row is not None:
            error.row += first
        raise


def _with_years(row: Sequence[Any], years: Sequence[int]) -> Sequence[Any]:
    """The number 0 is the year 0000; as text, which LOAD DATA reads, it would be 2000."""
    zeros = [at for at in years if at < len(row) and not isinstance(row[at], (str, bytes)) and row[at] == 0]
    if not zeros:
        return row
    changed = list(row)
    for at in zeros:
        changed[at] = "0000"
    return changed


def columns_statement(table: str, columns: Sequence[str]) -> str:
    """A query without rows that describes the columns that `load_statement` fills."""
    return f"SELECT {', '.join(map(_quoted, columns)) or '*'} FROM {'.'.join(map(_quoted, table.split('.')))} LIMIT 0"


def load_statement(table: str, columns: Sequence[str]) -> str:
    """LOAD DATA for content as `row_pieces` spells it. `table` may be `database.table`."""
    # As numbers, because a backslash in quotes depends on the SQL mode.
    sql = (
        f"LOAD DATA LOCAL INFILE 'rows' INTO TABLE {'.'.join(map(_quoted, table.split('.')))} CHARACTER SET utf8mb4"
        " FIELDS TERMINATED BY X'09' ESCAPED BY X'5C' LINES TERMINATED BY X'0A'"
    )
    return f"{sql} ({', '.join(map(_quoted, columns))})" if columns else sql


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
