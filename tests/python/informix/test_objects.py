"""Large objects, files of the client, and routines without SQL."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import pytest
from rowferry import informix

from tests.python.informix.replay import EOT, WIDE, Driver, Replay, vector

CONTENTS = [b"", b"x", b"hello phase 10", bytes(range(256)) * 300, b"abc" * 500_000]


@pytest.fixture
def objects(connect: Any, table: str) -> tuple[Any, str]:
    """A connection, and a table with a BLOB and a CLOB."""
    connection = connect(autocommit=True)
    connection.execute(f"CREATE TABLE {table} (id INT, b BLOB, c CLOB, tail INT)")
    return connection, table


@pytest.mark.parametrize("contents", CONTENTS, ids=len)
def test_a_blob_column_is_written_and_read(objects: tuple[Any, str], contents: bytes) -> None:
    connection, table = objects
    cursor = connection.cursor()
    cursor.write_blob_column(f"INSERT INTO {table} VALUES (?, BLOB_PLACEHOLDER, NULL, 9)", contents, (1,))
    assert cursor.rowcount == 1
    assert cursor.read_blob_column(f"SELECT b FROM {table} WHERE id = ?", (1,)) == contents
    text = contents.hex().encode()
    cursor.write_blob_column(f"UPDATE {table} SET c = BLOB_PLACEHOLDER WHERE id = ?", io.BytesIO(text), (1,), clob=True)
    assert cursor.read_blob_column(f"SELECT c FROM {table} WHERE id = ?", (1,)) == text
    assert cursor.virtual_files == {}
    assert cursor.execute(f"SELECT tail FROM {table}").fetchall() == [(9,)]


def test_blob_columns_without_a_value(objects: tuple[Any, str]) -> None:
    connection, table = objects
    connection.execute(f"INSERT INTO {table} VALUES (1, NULL, NULL, 0)")
    cursor = connection.cursor()
    assert cursor.read_blob_column(f"SELECT b FROM {table} WHERE id = 1") is None
    assert cursor.read_blob_column(f"SELECT b FROM {table} WHERE id = ?", (2,)) is None


def test_blob_columns_ask_for_the_right_statements(objects: tuple[Any, str]) -> None:
    connection, table = objects
    cursor = connection.cursor()
    connection.execute(f"INSERT INTO {table} VALUES (1, NULL, NULL, 7)")
    with pytest.raises(informix.ProgrammingError, match="SELECT"):
        cursor.read_blob_column(f"DELETE FROM {table}")
    with pytest.raises(informix.ProgrammingError, match="BLOB or CLOB"):
        cursor.read_blob_column(f"SELECT tail FROM {table}")
    for statement, count in (("VALUES (1, NULL)", 0), ("/* BLOB_PLACEHOLDER */ VALUES (1, BLOB_PLACEHOLDER)", 2)):
        with pytest.raises(informix.ProgrammingError, match=f"BLOB_PLACEHOLDER {count} times"):
            cursor.write_blob_column(f"INSERT INTO {table} {statement}", b"data")
    # Nothing was carried out.
    assert cursor.execute(f"SELECT id, tail FROM {table}").fetchall() == [(1, 7)]


def test_a_large_object_is_read_piece_by_piece(objects: tuple[Any, str]) -> None:
    connection, table = objects
    contents = bytes(range(256)) * 10_000
    cursor = connection.cursor()
    cursor.write_blob_column(f"INSERT INTO {table} VALUES (1, BLOB_PLACEHOLDER, NULL, 0)", contents)
    (locator,) = cursor.execute(f"SELECT b FROM {table}").fetchone()
    lob = connection.open_lob(locator)
    settle = connection._settle
    assert settle(lob.size()) == len(contents)
    assert settle(lob.read(10)) == contents[:10]
    assert settle(lob.read(5)) == contents[10:15]
    assert lob.tell() == 15
    assert settle(lob.seek(-7, 2)) == len(contents) - 7
    assert settle(lob.read()) == contents[-7:]
    assert settle(lob.read()) == b""
    assert settle(lob.seek(1_000_001)) == 1_000_001
    buffer = bytearray(1_200_000)
    assert settle(lob.readinto(buffer)) == 1_200_000
    assert buffer == contents[1_000_001:2_200_001]
    assert settle(lob.seek(1, 1)) == 2_200_002
    assert settle(lob.read(3)) == contents[2_200_002:2_200_005]
    with pytest.raises(ValueError, match="before the beginning"):
        settle(lob.seek(-1))
    with pytest.raises(io.UnsupportedOperation):
        settle(lob.write(b"x"))
    settle(lob.close())
    settle(lob.close())
    assert lob.closed
    with pytest.raises(ValueError, match="closed"):
        settle(lob.read())
    # Other statements were never in its way.
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (1,)


@pytest.mark.parametrize("clob", [False, True])
def test_a_large_object_is_made_and_stored(objects: tuple[Any, str], clob: bool) -> None:
    connection, table = objects
    settle = connection._settle
    column = "c" if clob else "b"
    piece = b"0123456789" * 70_000
    lob = connection.create_lob(f"{table}.{column}", clob=clob)
    assert settle(lob.write(piece)) == len(piece)
    assert settle(lob.write(b"end")) == 3
    settle(lob.seek(5))
    assert settle(lob.write(b"FIVE")) == 4
    assert settle(lob.seek(0)) == 0
    assert settle(lob.read(12)) == b"01234FIVE901"
    settle(lob.close())
    connection.execute(f"INSERT INTO {table} (id, {column}, tail) VALUES (?, ?, ?)", (1, lob.locator, 3))
    stored = connection.cursor().read_blob_column(f"SELECT {column} FROM {table}")
    assert stored == b"01234FIVE9" + piece[10:] + b"end"
    (locator, tail) = connection.execute(f"SELECT {column}, tail FROM {table}").fetchone()
    assert type(locator) is (informix.ClobLocator if clob else informix.BlobLocator) and tail == 3


def test_the_server_writes_where_it_may(objects: tuple[Any, str], tmp_path: Path) -> None:
    connection, table = objects
    cursor = connection.cursor()
    cursor.write_blob_column(f"INSERT INTO {table} VALUES (1, BLOB_PLACEHOLDER, NULL, 0)", b"contents" * 9000)
    # Named by the statement: kept in memory.
    (made,) = cursor.execute(f"SELECT lotofile(b, '/tmp/of_mine', 'client') FROM {table}").fetchone()
    assert made.startswith("/tmp/of_mine")
    assert cursor.blob_files == {made: b"contents" * 9000}
    assert not Path(made).exists()
    with (tmp_path / "sink").open("wb") as sink:
        cursor.sinks["/tmp/of_mine"] = sink
        cursor.execute(f"SELECT lotofile(b, '/tmp/of_mine', 'client') FROM {table}").fetchone()
    assert cursor.blob_files == {}
    assert (tmp_path / "sink").read_bytes() == b"contents" * 9000


def test_a_full_disk_is_told_when_the_server_has_finished(objects: tuple[Any, str]) -> None:
    class Full(io.RawIOBase):
        def write(self, _: Any) -> int:
            raise OSError("no space left")

    connection, table = objects
    cursor = connection.cursor()
    cursor.write_blob_column(f"INSERT INTO {table} VALUES (1, BLOB_PLACEHOLDER, NULL, 0)", b"contents" * 9000)
    cursor.sinks["/tmp/of_mine"] = Full()
    with pytest.raises(OSError, match="no space left"):
        cursor.execute(f"SELECT lotofile(b, '/tmp/of_mine', 'client') FROM {table}").fetchone()
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (1,)


def test_a_file_that_was_not_allowed_is_not_read(objects: tuple[Any, str]) -> None:
    connection, table = objects
    with tempfile.NamedTemporaryFile() as secret:
        secret.write(b"secret")
        secret.flush()
        with pytest.raises(informix.InterfaceError, match="not allowed"):
            connection.execute(f"INSERT INTO {table} VALUES (1, filetoblob('{secret.name}', 'client'), NULL, 0)")
    # There is no other way to refuse.
    assert connection.closed


def opened(name: bytes) -> bytes:
    return bytes.fromhex("0062 0000") + len(name).to_bytes(2, "big") + name + b"\0" * (len(name) % 2) + bytes(12) + EOT


@pytest.mark.parametrize("ask", ["read", "write"])
def test_a_hostile_server_gets_no_file(driver: Driver, ask: str, tmp_path: Path) -> None:
    """A plain INSERT is answered by a request for a file of ours."""
    target = tmp_path / "authorized_keys"
    target.write_bytes(b"mine")
    wanted = vector("sqfile.read.request") if ask == "read" else vector("sqfile.write.data")
    replies = [
        vector("types.prepare_insert.informix_driver.reply"),
        opened(str(target).encode()),
        wanted,
        vector("sqfile.write.close"),
        bytes.fromhex("000f 0000 00000001 00000101 00000000") + EOT,
        vector("version.reply"),
    ]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        with pytest.raises(informix.InterfaceError, match="authorized_keys"):
            connection.execute("INSERT INTO t1 VALUES (0)")
        assert target.read_bytes() == b"mine"
        assert connection.closed == (ask == "read")
        if ask == "write":
            connection.ping()
        assert not any(b"mine" in request for request in server.requests)


def test_files_travel_as_on_real_servers(driver: Driver) -> None:
    replies = [
        vector("types.prepare_insert.informix_driver.reply"),
        vector("sqfile.read.open"),
        vector("sqfile.read.request"),
        vector("sqfile.read.close"),
        vector("sqfile.filetoblob.execute.reply"),
    ]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.write_blob_column(
            "INSERT INTO t_p11_blob VALUES (?, BLOB_PLACEHOLDER)", b"hello phase 11 blob write", (1,)
        )
        assert server.requests == [
            vector("sqfile.filetoblob.prepare.request"),
            vector("sqfile.filetoblob.execute.request"),
            vector("sqfile.read.open.ack"),
            vector("sqfile.read.data"),
            vector("sqfile.read.close.ack"),
        ]


def test_large_objects_travel_as_those_of_ibms_driver(driver: Driver) -> None:
    steps = ("getroutine_lo_open", "exfp_lo_open", "lodata_read")
    with (
        Replay([vector(f"slob.{step}.reply") for step in steps], mask=WIDE) as server,
        driver.connect(port=server.port, autocommit=True) as connection,
    ):
        lob = connection.open_lob(informix.BlobLocator(bytes(72)))
        assert connection._settle(lob.read(6)) == b"xxyyzz"
        assert server.requests[0] == vector("slob.getroutine_lo_open.request")
        assert server.requests[2] == vector("slob.lodata_read.request")
    steps = ("getroutine_col_sbinfo", "exfp_col_sbinfo", "getroutine_lo_create", "exfp_lo_create", "lodata_write")
    with (
        Replay([vector(f"slob.{step}.reply") for step in steps], mask=WIDE) as server,
        driver.connect(port=server.port, autocommit=True) as connection,
    ):
        lob = connection.create_lob("jl5.b")
        assert connection._settle(lob.write(b"blobdata")) == 8
        assert server.requests == [vector(f"slob.{step}.request") for step in steps]
        assert lob.locator.raw.startswith(bytes.fromhex("0000cafe00000003"))


def test_a_source_that_ends_early_costs_the_connection(objects: tuple[Any, str]) -> None:
    class Short(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            return b""

    connection, table = objects
    with pytest.raises(informix.OperationalError, match="shorter than announced"):
        connection.cursor().write_blob_column(
            f"INSERT INTO {table} VALUES (1, BLOB_PLACEHOLDER, NULL, 0)", Short(b"much")
        )
    assert connection.closed


def test_routines_are_called_without_sql(objects: tuple[Any, str]) -> None:
    connection, table = objects
    close = "function informix.ifx_lo_close(integer)"
    with pytest.raises(informix.Error, match="-9810"):
        connection.fast_path_call(close, -1)
    handle = connection._fp_handle_cache[close]
    cursor = connection.cursor()
    cursor.write_blob_column(f"INSERT INTO {table} VALUES (1, BLOB_PLACEHOLDER, NULL, 0)", b"contents")
    (lofd,) = cursor.execute(f"SELECT ifx_lo_open(b, 4) FROM {table}").fetchone()
    assert connection.fast_path_call(close, lofd) == [0]
    assert connection._fp_handle_cache[close] == handle
    with pytest.raises(informix.Error):
        connection.fast_path_call("function informix.no_such_function_at_all(integer)", 1)
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (1,)


def test_routines_travel_as_on_real_servers(driver: Driver) -> None:
    replies = [vector(f"fastpath.{what}.informix_driver.reply") for what in ("getroutine", "exfp", "exfp")]
    with Replay(replies) as server, driver.connect(port=server.port, autocommit=True) as connection:
        close = "function informix.ifx_lo_close(integer)"
        assert connection.fast_path_call(close, 42) == [0]
        assert connection.fast_path_call(close, 42) == [0]
        exfp = vector("fastpath.exfp.informix_driver.request")
        assert server.requests == [vector("fastpath.getroutine.informix_driver.request"), exfp, exfp]


def test_arguments_have_the_types_of_the_signature(driver: Driver) -> None:
    routine = vector("fastpath.getroutine.informix_driver.reply")
    result = vector("fastpath.exfp.informix_driver.reply")
    with (
        Replay([routine, result]) as server,
        driver.connect(port=server.port, autocommit=True) as connection,
    ):
        connection.fast_path_call("function f(smallint, int8, integer, lvarchar, ifx_lo_stat)", 1, 2, 3, "abc", b"raw")
        blocks = bytes.fromhex(
            "0005 0005"
            "0001 0000 0500 0001"
            "0011 0000 1300 0001 00000002 00000000"
            "0002 0000 0a00 00000003"
            "002b 0000 0008 6c76617263686172 0000 0000 00000003 61626300"
            "002c 0000 000b 6966785f6c6f5f7374617400 0000 0000 00000003 72617700"
        )
        assert blocks in server.requests[1]


def test_arguments_out_of_range_are_refused_before_anything_is_sent(driver: Driver) -> None:
    routine = vector("fastpath.getroutine.informix_driver.reply")
    with Replay([routine]) as server, driver.connect(port=server.port, autocommit=True) as connection:
        with pytest.raises(informix.DataError, match="out of the range of smallint"):
            connection.fast_path_call("function f(smallint)", 40_000)
        assert len(server.requests) == 1
