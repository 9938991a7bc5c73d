"""Asks a server, in either protocol, and compares two servers' answers."""

from __future__ import annotations

import collections
import dataclasses
import select
import time

from psycopg import pq

#: What a server's answer is when the connection is gone, or when there was none in time.
LOST, LATE = "lost", "late"
_BESIDE = {
    "DETAIL": pq.DiagnosticField.MESSAGE_DETAIL,
    "HINT": pq.DiagnosticField.MESSAGE_HINT,
    "at": pq.DiagnosticField.STATEMENT_POSITION,
}


@dataclasses.dataclass
class Answer:
    """What a statement was answered with."""

    rows: list[tuple[bytes | None, ...]] = dataclasses.field(default_factory=list)
    names: list[str] = dataclasses.field(default_factory=list)
    types: list[str] = dataclasses.field(default_factory=list)
    tag: str = ""
    sqlstate: str = ""
    message: str = ""
    #: What stands beside an error's message: DETAIL, HINT and where in the statement.
    beside: str = ""
    notices: list[str] = dataclasses.field(default_factory=list)
    built_in: bool = True

    def __str__(self) -> str:
        if self.sqlstate:
            return f"ERROR {self.sqlstate} {self.message}{self.beside}"
        cells = (
            "|".join("NULL" if cell is None else cell.decode(errors="replace") for cell in row)
            for row in self.rows[:12]
        )
        head = "|".join(f"{name} {type}" for name, type in zip(self.names, self.types, strict=True))
        return "\n".join([*self.notices, *([head] if head else []), *cells, f"{self.tag} ({len(self.rows)} rows)"])


class Server:
    """A connection to a server."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.connection = pq.PGconn.connect(dsn.encode())
        if self.connection.status != pq.ConnStatus.OK:
            raise ConnectionError(self.connection.error_message.decode(errors="replace"))
        self._notices: list[str] = []
        self._types: dict[int, str] = {}
        self.connection.notice_handler = self._noticed

    def _noticed(self, result: pq.abc.PGresult) -> None:
        state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
        text = (result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"").decode(errors="replace")
        self._notices.append(f"NOTICE {state} {text}")

    def close(self) -> None:
        """End the connection."""
        self.connection.finish()

    def ask(
        self, statement: str, parameters: list[str] | None = None, *, binary: bool = False, seconds: float = 20
    ) -> Answer:
        """The answer to a statement; with `parameters`, even none, in the extended protocol."""
        answer = self._ask(statement, parameters, binary, seconds)
        if answer.types:
            answer.types = [self._type(int(oid)) for oid in answer.types]
        return answer

    def _type(self, oid: int) -> str:
        """A type's number, or its name when somebody made it."""
        if oid < 16384:
            return str(oid)
        if oid not in self._types:
            found = self._ask(f"SELECT typname FROM pg_catalog.pg_type WHERE oid = {oid}", None, False, 20)
            self._types[oid] = (found.rows[0][0] or b"").decode() if found.rows else f"type {oid}"
        return self._types[oid]

    def forget_types(self) -> None:
        """The types that users made are others from now on."""
        self._types.clear()

    def _ask(self, statement: str, parameters: list[str] | None, binary: bool, seconds: float) -> Answer:
        connection, answer = self.connection, Answer()
        self._notices.clear()
        deadline = time.monotonic() + seconds
        given = ""
        if statement.startswith("COPY"):
            # What follows the statement's line is what it reads.
            statement, _, given = statement.partition("\n")
        try:
            if parameters is None:
                connection.send_query(statement.encode())
            else:
                values = [value.encode() for value in parameters]
                connection.send_query_params(statement.encode(), values, result_format=1 if binary else 0)
            while True:
                connection.flush()
                while connection.is_busy():
                    left = deadline - time.monotonic()
                    if left <= 0 or not select.select([connection.socket], [], [], left)[0]:
                        return Answer(sqlstate=LATE, message=f"no answer in {seconds} seconds")
                    connection.consume_input()
                result = connection.get_result()
                if result is None:
                    break
                if result.status == pq.ExecStatus.COPY_IN:
                    connection.put_copy_data(given.encode())
                    connection.put_copy_end()
                elif result.status == pq.ExecStatus.COPY_OUT:
                    self._copied(answer)
                else:
                    self._read(result, answer)
        except Exception as error:
            return Answer(sqlstate=LOST, message=str(error))
        if connection.status != pq.ConnStatus.OK:
            return Answer(sqlstate=LOST, message=answer.message or connection.error_message.decode(errors="replace"))
        answer.notices = list(self._notices)
        return answer

    def _copied(self, answer: Answer) -> None:
        while True:
            length, data = self.connection.get_copy_data(0)
            if length <= 0:
                return
            answer.rows.append((bytes(data),))

    @staticmethod
    def _read(result: pq.abc.PGresult, answer: Answer) -> None:
        if result.status == pq.ExecStatus.FATAL_ERROR:
            answer.sqlstate = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"?").decode()
            answer.message = (result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"").decode(errors="replace")
            for name, field in _BESIDE.items():
                told = (result.error_field(field) or b"").decode(errors="replace")
                answer.beside += f" {name}: {told}" if told else ""
            return
        answer.names = [(result.fname(column) or b"").decode() for column in range(result.nfields)]
        oids = [result.ftype(column) for column in range(result.nfields)]
        answer.built_in = all(oid < 16384 and oid not in (2249, 2287) for oid in oids)
        answer.types = [str(oid) for oid in oids]
        answer.rows += [
            tuple(result.get_value(row, column) for column in range(result.nfields)) for row in range(result.ntuples)
        ]
        answer.tag = (result.command_status or b"").decode()


def verdict(theirs: Answer, ours: Answer, *, ordered: bool) -> str:
    """`equal`, or how our answer is another."""
    if ours.sqlstate in (LOST, LATE):
        return ours.sqlstate
    if theirs.sqlstate or ours.sqlstate:
        if theirs.sqlstate == ours.sqlstate:
            return "equal" if (theirs.message, theirs.beside) == (ours.message, ours.beside) else "message"
        if ours.sqlstate == "0A000":
            return "refused"
        return "error" if ours.sqlstate else "accepted"
    if theirs.tag != ours.tag:
        return "tag"
    if theirs.names != ours.names:
        return "names"
    if theirs.types != ours.types:
        return "types"
    if theirs.rows != ours.rows:
        same = collections.Counter(theirs.rows) == collections.Counter(ours.rows)
        if not same:
            return "rows"
        if ordered:
            return "order"
    return "equal" if theirs.notices == ours.notices else "notices"
