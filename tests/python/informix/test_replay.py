"""The driver against recorded bytes: values both ways, errors, logins. No server needed."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal

import pytest
from rowferry import exceptions, informix

from tests.python.informix.replay import EOT, WIDE, Driver, Replay, vector

ROW = (
    1,
    1,
    2,
    1 << 40,
    -123456789012,
    "abc",
    "chr",
    "nch",
    "PackageRoot",
    Decimal("-1234.56"),
    Decimal("3.14159"),
    Decimal("9.99"),
    1.5,
    2.25,
    dt.date(2026, 1, 2),
    dt.datetime(2026, 1, 2, 3, 4, 5),
    dt.datetime(2026, 1, 2, 3, 4, 5, 123450),
    dt.time(23, 59),
    dt.timedelta(days=3, hours=1, minutes=1, seconds=1),
    informix.IntervalYM(-14),
    True,
    777,
)


def test_every_type_is_read(driver: Driver) -> None:
    names = ("types.prepare_select.informix_driver.reply", "types.open_fetch.informix_driver.reply")
    with (
        Replay([vector(name) for name in names]) as server,
        driver.connect(port=server.port, autocommit=True) as connection,
    ):
        cursor = connection.cursor()
        cursor.execute("SELECT * FROM t1")
        rows = cursor.fetchall()
        assert rows[0] == ROW
        assert [type(value) for value in rows[0]] == [type(value) for value in ROW]
        # NULLs of every type, between values.
        assert rows[1] == (2, *[None] * 20, 888)
        assert cursor.rowcount == len(rows)
        names_of_columns = [column[0] for column in cursor.description]
        assert names_of_columns[:3] == ["id", "si", "i"] and names_of_columns[-1] == "tail"
        assert cursor.description[0][6] is False and cursor.description[1][6] is True
        assert cursor.description[9][4:6] == (10, 2)
        assert cursor.description[5][1] == informix.STRING and cursor.description[9][1] == informix.NUMBER


def test_every_type_is_sent(driver: Driver) -> None:
    replies = [vector(f"types.{name}.informix_driver.reply") for name in ("prepare_insert", "bind_execute")]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        cursor = connection.cursor()
        values = ("23:59" if isinstance(value, dt.time) else value for value in ROW[1:])
        cursor.execute(f"INSERT INTO t1 VALUES (0{',?' * 21})", tuple(values))
        assert (cursor.rowcount, cursor.lastrowid) == (1, 1)
        assert cursor.description is None
        # As informix-driver sends them, but for the precision of a DECIMAL (which nobody reads) and for intervals,
        # which we send without leading zeros.
        want = vector("types.bind_execute.informix_driver.request")
        for theirs, ours in [
            ("080500 05c1", "060500 05c1"),
            ("040200 03c1", "030200 03c1"),
            ("000cc80000000003010101000000", "0005c40301010100"),
            ("00073563636363626200", "0003396262 00"),
        ]:
            assert bytes.fromhex(theirs) in want
            want = want.replace(bytes.fromhex(theirs), bytes.fromhex(ours))
        assert server.requests[1].hex() == want.hex()


def test_nulls_are_sent(driver: Driver) -> None:
    replies = [vector(f"types.{name}.informix_driver.reply") for name in ("prepare_insert", "bind_nulls")]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        connection.cursor().execute(f"INSERT INTO t1 VALUES (0{',?' * 21})", (*[None] * 20, 888))
        assert server.requests[1] == vector("types.bind_nulls.informix_driver.request")


@pytest.mark.parametrize("mask", ["narrow", "wide"])
def test_widths_follow_both_masks(driver: Driver, mask: str) -> None:
    client = "jdbc" if mask == "wide" else "informix_driver"
    replies = [
        vector(f"paramquery.prepare.{client}.reply"),
        vector(f"paramquery.{'fetch' if mask == 'wide' else 'open_fetch'}.{client}.reply"),
    ]
    options = {"mask": WIDE} if mask == "wide" else {}
    with Replay(replies, **options) as server, driver.connect(port=server.port, autocommit=True) as connection:
        values = {"tail": 777, "vc": "abc"}
        cursor = connection.execute("SELECT id, vc, tail FROM jt1 WHERE tail = :tail AND vc = :vc", values)
        assert cursor.fetchone()[1:] == ("abc", 777)
        assert cursor.fetchone() is None
        assert b"WHERE tail = ? AND vc = ?" in server.requests[0]


def test_errors_carry_everything_that_is_known(driver: Driver) -> None:
    with Replay([vector("error.206.reply")]) as server, driver.connect(port=server.port) as connection:
        cursor = connection.cursor()
        with pytest.raises(informix.ProgrammingError) as caught:
            cursor.execute("SELECT * FROM nosuch")
        error = caught.value
        assert (error.sqlcode, error.isamcode, error.offset, error.near) == (-206, -111, 20, "nosuch")
        assert (error.errno, error.sql) == (-206, "SELECT * FROM nosuch")
        assert "The specified table (nosuch) is not in the database." in str(error)
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and again.args == error.args and again.near == "nosuch"


def test_the_login_is_refused(driver: Driver) -> None:
    with Replay(opening=[vector("login.reject.951")]) as server:
        with pytest.raises(informix.OperationalError) as caught:
            driver.connect(port=server.port)
        assert caught.value.sqlcode == -951


def test_an_unknown_database_is_refused(driver: Driver) -> None:
    opening = [vector("login.accept"), WIDE, EOT + vector("dbopen.error.reply")]
    with Replay(opening=opening) as server:
        with pytest.raises(informix.OperationalError) as caught:
            driver.connect(port=server.port)
        assert (caught.value.sqlcode, caught.value.near) == (-329, "nosuchdb")


def test_questions_of_pam_are_answered(driver: Driver) -> None:
    asked = []

    def challenge(style: int, question: str) -> str:
        asked.append((style, question))
        return "in4mix"

    for answer in (None, challenge):
        opening = [
            vector("login.accept"),
            vector("protocols.pam.reply"),
            vector("pam.challenge.reply"),
            vector("pam.response.reply"),
            EOT + vector("dbopen.reply"),
        ]
        with Replay(opening=opening) as server, driver.connect(port=server.port, challenge=answer) as connection:
            assert not connection.closed
    assert asked == [(1, "Password: ")]


def test_values_that_cannot_be_sent_are_refused_before_anything_is(driver: Driver) -> None:
    with Replay() as server, driver.connect(port=server.port, client_locale="en_US.8859-1") as connection:
        cursor = connection.cursor()
        zone = dt.timezone.utc
        for value, error, words in [
            (object(), informix.ProgrammingError, "no type for a object"),
            (object(), NotImplementedError, "no type for a object"),
            (float("nan"), informix.DataError, "NaN"),
            (Decimal("NaN"), informix.DataError, "NaN"),
            (Decimal("1." + "1" * 40), informix.DataError, "32 digits"),
            ("€", informix.DataError, "code set"),
            (dt.datetime(2026, 1, 1, tzinfo=zone), informix.ProgrammingError, "time zone"),
            (informix.IntervalYM(12 * 10**9), informix.DataError, "range"),
        ]:
            with pytest.raises(error, match=words):
                cursor.execute("INSERT INTO t VALUES (?)", (value,))
        for parameters, words in [
            ((), "takes 1 values, but 0 are in the parameter set"),
            ((1, 2), "takes 1 values, but 2 are in the parameter set"),
            (5, "as a sequence"),
            ("5", "not as text"),
        ]:
            with pytest.raises(informix.ProgrammingError, match=words):
                cursor.execute("INSERT INTO t VALUES (?)", parameters)
        with pytest.raises(informix.ProgrammingError, match=":name"):
            cursor.execute("INSERT INTO t VALUES (:name)", {"other": 1})
        with pytest.raises(informix.ProgrammingError, match="no values were given"):
            cursor.execute("INSERT INTO t VALUES (?)")
        assert server.requests == []


def test_a_closed_connection_and_cursor_say_so(driver: Driver) -> None:
    with Replay() as server:
        connection = driver.connect(port=server.port)
        cursor = connection.cursor()
        cursor.close()
        with pytest.raises(informix.InterfaceError, match="cursor is closed"):
            cursor.execute("SELECT 1")
        cursor = connection.cursor()
        connection.close()
        connection.close()
        assert connection.closed
        with pytest.raises(informix.InterfaceError, match="connection is closed"):
            cursor.execute("SELECT 1")
        with pytest.raises(informix.InterfaceError, match="connection is closed"):
            connection.cursor()


def test_urls_and_options_are_checked(driver: Driver) -> None:
    with Replay() as server:
        url = f"informix://informix:in4mix@127.0.0.1:{server.port}/testdb?server=other&autocommit=true&read_timeout=5"
        with driver.connect(url) as connection:
            assert connection.autocommit is True
            assert connection.settings.server == b"other"
    for bad in ("mysql://h/db", "informix://h:port/db", "informix://h/db?sevrer=x", "informix://h/?autocommit=maybe"):
        with pytest.raises(exceptions.InterfaceError):
            driver.connect(bad)
    with pytest.raises(exceptions.InterfaceError, match="code set"):
        driver.connect(client_locale="en_US.nosuch")


def test_nobody_listens(driver: Driver) -> None:
    with Replay() as server:
        port = server.port
    with pytest.raises(informix.OperationalError, match="cannot connect"):
        driver.connect(port=port)
