"""Asks a server, by text or as a prepared statement, and compares two servers' answers."""

from __future__ import annotations

import collections
import dataclasses

from tests.server.mysql.wire import USUAL, Client, Column, Result, ServerError, lenenc

#: What a server's answer is when the connection is gone.
LOST = "lost"
#: NOT NULL and UNSIGNED, which drivers make their types of. BINARY is told by the set, the others come of keys.
_FLAGS = 1 | 32
#: The types whose decimals say something to a client.
_DECIMALS = {4, 5, 246, 7, 11, 12}
#: Which of them a number or a text is follows from how long it may be, where MySQL reckons otherwise than we.
_INTEGERS, _TEXTS = {1, 2, 3, 8, 9}, {249, 250, 251, 252, 253, 254}
#: How many bytes a value has in binary; of others it is said before each.
_WIDTHS = {1: 1, 2: 2, 13: 2, 3: 4, 9: 4, 8: 8, 4: 4, 5: 8}
_STATEMENT_ERRORS = (EOFError, OSError)


@dataclasses.dataclass
class Answer:
    """What a statement was answered with."""

    rows: list[tuple[bytes | None, ...]] = dataclasses.field(default_factory=list)
    columns: list[Column] = dataclasses.field(default_factory=list)
    tag: str = ""
    code: int = 0
    state: str = ""
    message: str = ""
    warnings: int = 0

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [column.name for column in self.columns]

    @property
    def types(self) -> list[str]:
        """What a client is told of the columns' types."""
        return [_type(column) for column in self.columns]

    @property
    def families(self) -> list[str]:
        """The same, of what a program makes its values: not how wide a number or a text is, nor whether NULL comes."""
        return [_family(column) for column in self.columns]

    @property
    def lengths(self) -> list[int]:
        """How wide a client is told that columns are."""
        return [column.length for column in self.columns]

    def __str__(self) -> str:
        if self.code or self.state:
            return f"ERROR {self.code} {self.state} {self.message}"
        cells = (
            " | ".join("NULL" if cell is None else cell.decode(errors="backslashreplace") for cell in row)
            for row in self.rows[:12]
        )
        head = " | ".join(f"{column.name}: {_type(column)} of {column.length}" for column in self.columns)
        lines = [*([head] if head else []), *cells, f"{self.tag} ({len(self.rows)} rows, {self.warnings} warnings)"]
        return "\n".join(lines)


def _type(column: Column) -> str:
    flags = "".join(letter for bit, letter in ((1, "!"), (32, "u")) if column.flags & bit & _FLAGS)
    decimals = f".{column.decimals}" if column.type in _DECIMALS else ""
    return f"{column.type}{decimals}{flags}{' bytes' if column.charset == 63 else ''}"


def _family(column: Column) -> str:
    """What values of a column are to a program."""
    bytes = " bytes" if column.charset == 63 else ""
    if column.type in _INTEGERS:
        return f"integer{'u' if column.flags & 32 else ''}"
    if column.type in _TEXTS:
        return f"text{bytes}"
    # Whether its letters are told is of no account: they are UTF-8.
    if column.type == 245:
        return "document"
    decimals = f".{column.decimals}" if column.type in _DECIMALS else ""
    # A column that is NULL alone has no type to a program.
    return "NULL" if column.type == 6 else f"{column.type}{decimals}{bytes}"


class Server:
    """A connection to a server, by `ada`, who has no password."""

    def __init__(self, host: str, port: int) -> None:
        # With what `multi_results` needs; FOUND_ROWS is not among it.
        self.client = Client((host, port), capabilities=USUAL & ~2, collation=255)
        self.client.socket.settimeout(60)

    def close(self) -> None:
        """End the connection."""
        self.client.socket.close()

    def ask(self, statement: str, parameters: list[str] | None = None) -> Answer:
        """The answer to a statement; with `parameters`, even none, as a prepared one, with its rows as they come."""
        client, answer = self.client, Answer()
        try:
            if parameters is None:
                result = client.query(statement)
                answer.rows = result.texts()
            else:
                number, _, _ = client.prepare(statement)
                try:
                    result = client.execute(number, list(parameters))
                finally:
                    client.command(25, number.to_bytes(4, "little"))
                answer.rows = [_cells(row, result.columns) for row in result.rows]
        except ServerError as error:
            answer.code, answer.state, answer.message = error.code, error.sqlstate, error.message
            return answer
        except _STATEMENT_ERRORS as error:
            answer.state, answer.message = LOST, repr(error)
            return answer
        return _told(answer, result)


def _cells(row: bytes, columns: list[Column]) -> tuple[bytes | None, ...]:
    """The cells of a row in binary: integers as texts, whatever their width, others as they come."""
    at = 1 + (len(columns) + 9) // 8
    cells: list[bytes | None] = []
    for index, column in enumerate(columns):
        if row[1 + (index + 2) // 8] >> (index + 2) % 8 & 1:
            cells.append(None)
            continue
        width = _WIDTHS.get(column.type)
        if width is None:
            width, at = lenenc(row, at)
        cell = row[at : at + width]
        at += width
        if column.type in _INTEGERS:
            cell = str(int.from_bytes(cell, "little", signed=not column.flags & 32)).encode()
        cells.append(cell)
    return tuple(cells)


def _told(answer: Answer, result: Result) -> Answer:
    answer.columns = result.columns
    answer.tag = "" if result.columns else f"{result.affected} affected"
    answer.warnings = result.warnings
    return answer


def verdict(theirs: Answer, ours: Answer, *, ordered: bool) -> str:
    """`equal`, or how our answer is another."""
    if ours.state == LOST or theirs.state == LOST:
        return LOST
    if theirs.code or ours.code:
        if theirs.code == ours.code:
            return "equal" if theirs.message == ours.message else "message"
        if ours.code == 1235:
            return "refused"
        return "error" if ours.code else "accepted"
    if theirs.names != ours.names:
        return "names"
    if theirs.rows != ours.rows:
        same = collections.Counter(theirs.rows) == collections.Counter(ours.rows)
        if not same:
            return "rows" if theirs.families == ours.families else "rows and types"
        if ordered:
            return "order"
    if theirs.families != ours.families:
        return "types"
    if theirs.tag != ours.tag:
        return "tag"
    if theirs.types != ours.types:
        return "widths"
    if theirs.lengths != ours.lengths:
        return "lengths"
    return "equal" if theirs.warnings == ours.warnings else "warnings"
