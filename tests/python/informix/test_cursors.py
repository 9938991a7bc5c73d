"""Cursors whose rows stay on the server, that outlive a transaction, or that have a name."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from rowferry import informix

from tests.python.informix.replay import EOT, Driver, Replay, vector


@pytest.fixture
def numbers(connect: Any, table: str) -> tuple[Any, str]:
    """A connection, and a table of 300 rows."""
    connection = connect()
    connection.execute(f"CREATE TABLE {table} (n INT, v VARCHAR(20))")
    connection.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?)", [(n, f"row {n}") for n in range(300)])
    connection.commit()
    return connection, table


def row(n: int) -> tuple[int, str]:
    return (n, f"row {n}")


def test_a_scroll_cursor_visits_rows_in_any_order(numbers: tuple[Any, str]) -> None:
    connection, table = numbers
    cursor = connection.cursor(scrollable=True)
    cursor.execute(f"SELECT n, v FROM {table} ORDER BY n")
    assert cursor.rownumber is None
    assert cursor.fetch_last() == row(299)
    assert cursor.rownumber == 299
    assert cursor.fetch_prior() == row(298)
    cursor.fetch_last()
    # Behind the last row.
    assert cursor.fetchone() is None
    assert cursor.fetch_prior() == row(299)
    assert cursor.fetch_first() == row(0)
    assert cursor.fetch_prior() is None
    assert cursor.rownumber is None
    assert cursor.fetchone() == row(0)
    assert cursor.fetch_absolute(42) == row(42)
    assert cursor.rownumber == 42
    assert cursor.fetch_relative(-2) == row(40)
    assert cursor.fetch_relative(0) == row(40)
    assert cursor.fetchmany(3) == [row(41), row(42), row(43)]
    assert cursor.fetch_absolute(-300) == row(0)
    assert cursor.fetch_absolute(-301) is None
    assert cursor.fetch_absolute(300) is None
    assert cursor.fetch_relative(-1) is None
    assert cursor.rownumber == 0
    cursor.scroll(290, "absolute")
    assert cursor.fetchone() == row(290)
    cursor.scroll(-2)
    assert cursor.fetchall() == [row(n) for n in range(289, 300)]
    with pytest.raises(IndexError):
        cursor.scroll(1)
    with pytest.raises(IndexError):
        cursor.scroll(-1, "absolute")
    cursor.scroll(0, "absolute")
    assert cursor.fetchall() == [row(n) for n in range(300)]


def test_a_scroll_cursor_goes_on_beside_other_statements(numbers: tuple[Any, str]) -> None:
    connection, table = numbers
    one, two = connection.cursor(scrollable=True), connection.cursor(scrollable=True)
    one.execute(f"SELECT n, v FROM {table} ORDER BY n")
    two.execute(f"SELECT n, v FROM {table} ORDER BY n DESC")
    plain = connection.execute(f"SELECT n, v FROM {table} WHERE n < ?", (5,))
    assert one.fetchone() == row(0)
    assert two.fetchone() == row(299)
    connection.execute(f"UPDATE {table} SET v = 'changed' WHERE n = 150")
    assert one.fetch_absolute(10) == row(10)
    assert two.fetch_absolute(10) == row(289)
    assert plain.fetchall() == [row(n) for n in range(5)]
    two.close()
    assert one.fetch_last() == row(299)


def test_an_empty_scroll_cursor(numbers: tuple[Any, str]) -> None:
    connection, table = numbers
    cursor = connection.cursor(scrollable=True)
    cursor.execute(f"SELECT n, v FROM {table} WHERE n < 0")
    assert cursor.fetch_first() is None
    assert cursor.fetch_last() is None
    assert cursor.fetchone() is None
    assert cursor.fetchall() == []
    assert cursor.fetch_absolute(-1) is None


def test_a_hold_cursor_outlives_its_transaction(numbers: tuple[Any, str]) -> None:
    connection, table = numbers
    held = connection.cursor(hold=True)
    held.execute(f"SELECT n, v FROM {table} ORDER BY n")
    scrolled = connection.cursor(hold=True, scrollable=True)
    scrolled.execute(f"SELECT n, v FROM {table} ORDER BY n")
    assert held.fetchmany(2) == [row(0), row(1)]
    assert scrolled.fetch_absolute(7) == row(7)
    connection.execute(f"UPDATE {table} SET v = 'changed' WHERE n = 0")
    connection.commit()
    assert held.fetchone() == row(2)
    assert scrolled.fetch_absolute(200) == row(200)


def test_a_named_cursor_is_where_its_last_row_is(numbers: tuple[Any, str]) -> None:
    connection, table = numbers
    cursor = connection.cursor(name="picker")
    cursor.execute(f"SELECT n, v FROM {table} WHERE n >= ? FOR UPDATE", (295,))
    seen = []
    while (current := cursor.fetchone()) is not None:
        seen.append(current[0])
        if current[0] in (296, 299):
            changed = connection.execute(f"UPDATE {table} SET v = 'picked' WHERE CURRENT OF picker")
            assert changed.rowcount == 1
        if current[0] == 297:
            connection.execute(f"DELETE FROM {table} WHERE CURRENT OF picker")
    assert seen == [295, 296, 297, 298, 299]
    cursor.close()
    connection.commit()
    left = connection.execute(f"SELECT n, v FROM {table} WHERE n >= 295 ORDER BY n").fetchall()
    assert left == [row(295), (296, "picked"), row(298), (299, "picked")]


def described(kind: int, number: int, *columns: str) -> bytes:
    """The answer to PREPARE: a statement of this type and number, with these columns of (INT, VARCHAR(50))."""
    fields = {
        "n": "00000000 00000000 0002 00000000 0000 0000 0000 0000 00000000 00000004",
        "v": "00000002 00000004 000d 00000000 0000 0000 0000 0000 00000000 00000032",
        # Of a type that nobody knows.
        "x": "00000000 00000000 0063 00000000 0000 0000 0000 0000 00000000 00000004",
    }
    names = b"".join(column.encode() + b"\0" for column in columns)
    head = struct.pack(
        ">3hi2hi", 8, kind, number, 0, 55 if "v" in columns else 4 * len(columns), len(columns), len(names)
    )
    return head + b"".join(bytes.fromhex(fields[column]) for column in columns) + names + DONE + EOT


DONE = bytes.fromhex("000f 0000 00000001 00000101 00000000")
SELECT, UPDATE_CURRENT = 2, 7


def test_a_named_cursor_fetches_row_by_row_and_stays_open(driver: Driver) -> None:
    def tuple_of(n: int) -> bytes:
        return bytes.fromhex("000e 0000 00000004") + n.to_bytes(4, "big")

    replies = [
        described(SELECT, 0, "n"),
        tuple_of(1) + EOT,
        described(UPDATE_CURRENT, 1) + b"",
        DONE + EOT,
        tuple_of(2) + DONE + EOT,
        described(UPDATE_CURRENT, 1),
        DONE + EOT,
        vector("version.reply"),
    ]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        cursor = connection.cursor(name="mycur")
        cursor.execute("SELECT n FROM t FOR UPDATE")
        # The name as IBM's driver sends it, and room for one row.
        name = vector("namedcursor.open.request")[4:-2]
        assert server.requests[1] == b"\0\4\0\0" + name + bytes.fromhex("0004 0000 0009 00000004 0000 000c")
        assert cursor.fetchone() == (1,)
        assert connection.execute("UPDATE t SET n = 0 WHERE CURRENT OF mycur").rowcount == 1
        assert cursor.fetchone() == (2,)
        assert connection.execute("UPDATE t SET n = 0 WHERE CURRENT OF mycur").rowcount == 1
        # It has ended, and was open for the last row's sake.
        assert server.closed_cursors == 0
        assert cursor.fetchone() is None
        cursor.close()
        connection.ping()
        assert server.closed_cursors == 1


def test_scrolling_sends_what_real_servers_have_seen(driver: Driver) -> None:
    places = ("absolute1", "absolute11", "last")
    replies = [described(SELECT, 0, "n", "v"), vector("scroll.open.informix_driver.reply")]
    replies += [vector(f"scroll.{place}.informix_driver.reply") for place in places]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        cursor = connection.cursor(scrollable=True)
        cursor.execute("SELECT n, v FROM t")
        assert server.requests[1].endswith(vector("scroll.open.informix_driver.request")[-6:])
        assert cursor.fetch_first() == (0, "row 0")
        assert cursor.fetch_absolute(10) == (10, "row 10")
        assert cursor.fetch_absolute(-1) == (1999, "row 1999")
        assert cursor.rownumber == 1999
        wanted = [vector(f"scroll.{place}.informix_driver.request") for place in places]
        assert server.requests[2:] == [*wanted[:2], wanted[2]]


@pytest.mark.parametrize("scrollable", [False, True])
def test_a_failed_fetch_costs_the_cursor_once(driver: Driver, scrollable: bool) -> None:
    failed = bytes.fromhex("000d fe70 0000 00000000 0000") + EOT
    first = EOT if scrollable else bytes.fromhex("000e 0000 00000004 00000007") + EOT
    replies = [described(SELECT, 0, "n"), first, failed, vector("version.reply"), vector("version.reply")]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        cursor = connection.cursor(scrollable=scrollable)
        cursor.execute("SELECT n FROM t")
        with pytest.raises(informix.Error, match="-400"):
            cursor.fetch_first() if scrollable else cursor.fetchall()
        # Not the end of the rows: they are lost.
        with pytest.raises(informix.ProgrammingError, match="lost"):
            cursor.fetchone()
        connection.ping()
        assert server.closed_cursors == 1
        cursor.close()
        connection.ping()
        # A second time it might hit another statement, which has the number by then.
        assert server.closed_cursors == 1


def test_a_fetch_without_rows_and_without_their_end_is_no_answer(driver: Driver) -> None:
    # A server says when the rows are over; to believe less would lose rows silently when a byte is damaged.
    with Replay([described(SELECT, 0, "n"), EOT]) as server, driver.connect(port=server.port) as connection:
        connection.autocommit = True
        with pytest.raises(informix.InternalError, match="neither rows nor their end"):
            connection.execute("SELECT n FROM t").fetchall()
        assert connection.closed


def test_a_column_of_an_unknown_type_ends_only_its_statement(driver: Driver) -> None:
    unknown = described(SELECT, 0, "x")
    replies = [unknown, described(SELECT, 0, "n"), bytes.fromhex("000e 0000 00000004 00000007") + DONE + EOT]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        with pytest.raises(informix.NotSupportedError, match="`x`"):
            connection.execute("SELECT n FROM strange")
        assert connection.execute("SELECT n FROM t").fetchall() == [(7,)]
        assert len(server.requests) == 3


def test_a_scroll_cursor_has_no_name(connect: Any) -> None:
    with pytest.raises(informix.NotSupportedError):
        connect().cursor(scrollable=True, name="both")


def test_many_statements_are_open_at_once(numbers: tuple[Any, str]) -> None:
    connection, table = numbers
    cursors = [connection.execute(f"SELECT n, v FROM {table} WHERE n >= {n} ORDER BY n") for n in range(40)]
    for n, cursor in enumerate(cursors):
        assert cursor.fetchone() == row(n)
    for n, cursor in reversed(list(enumerate(cursors))):
        assert cursor.fetchone() == row(n + 1)
        cursor.close()
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (300,)
