"""What was compiled for 64-bit ARM, under an emulator: `make test-arm`, which makes it and says where it is."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from rowferry import informix, mysql

from tests.cli.copying import copy
from tests.servers.certificates import make_certificates
from tests.servers.rowferry import Rowferry, find_rowferry

ARM = Path(os.environ["ROWFERRY_ARM"])

#: An emulator takes its time.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rowferry]:
    """All three doors over one file."""
    path = tmp_path_factory.mktemp("served") / "app.db"
    with Rowferry.start(path, informix=True, mysql=True, timeout=120) as server:
        yield server


def machine(path: Path) -> str:
    """Whose instructions a file has, by its ELF header."""
    head = path.read_bytes()[:20]
    assert head[:4] == b"\x7fELF"
    return {62: "x86_64", 183: "aarch64"}[struct.unpack_from("<H", head, 18)[0]]


def test_they_are_for_arm() -> None:
    assert machine(ARM / "bin" / "rowferry") == "aarch64"
    (module,) = (ARM / "wheel").glob("rowferry/_core*.so")
    assert module.name == "_core.cpython-311-aarch64-linux-gnu.so" and machine(module) == "aarch64"


@pytest.mark.parametrize("binary", [False, True])
def test_values_of_postgresql_clients(server: Rowferry, binary: bool) -> None:
    """At their edges, from and to the client, bytes above 127 included: a plain `char` has no sign on ARM."""
    with (
        psycopg.connect(server.postgres_dsn, autocommit=True) as connection,
        connection.cursor(binary=binary) as cursor,
    ):
        cursor.execute("DROP TABLE IF EXISTS v")
        cursor.execute(
            "CREATE TABLE v (i smallint, j bigint, n numeric, f real, d double precision, t text, b bytea, a integer[],"
            " m timestamptz, u uuid, j2 jsonb)"
        )
        cursor.execute(
            "INSERT INTO v VALUES (%s, %s, %s, '-1.5e-40', 5e-324, %s, %s, %s, '1969-12-31 23:59:59.999999+00',"
            " %s, %s)",
            (
                -32768,
                -(2**63),
                Decimal("-1e-40"),
                "naïve 🌻 ÿ",
                bytes(range(256)),
                [-1, None, 2**31 - 1],
                "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                '{"é": [1, -2.5]}',
            ),
        )
        cursor.execute("SELECT i, j, n, f < 0, d, t, b, a, extract(epoch FROM m), u::text, j2 ->> 'é' FROM v")
        assert cursor.fetchone() == (
            -32768,
            -(2**63),
            Decimal("-1e-40"),
            True,
            5e-324,
            "naïve 🌻 ÿ",
            bytes(range(256)),
            [-1, None, 2**31 - 1],
            Decimal("-0.000001"),
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "[1, -2.5]",
        )
        cursor.execute("SELECT upper('ÿ'), 'é' < 'z' COLLATE \"C\", md5('ÿ'), regexp_replace('añb', '[^a-z]', '-')")
        assert cursor.fetchone() == ("Ÿ", False, "f3f7437e8c1f303fc6742d9368b36cf6", "a-b")


def test_values_of_mysql_clients(server: Rowferry) -> None:
    assert server.mysql is not None
    host, port = server.mysql
    with mysql.connect(host=host, port=port, user="rowferry", database=server.dbname, autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE w (u BIGINT UNSIGNED, f FLOAT, n DECIMAL(65,30), t TEXT, b BLOB, d DATETIME(6))")
        row = (2**63 - 1, -1.5, Decimal("-12345.000000000000000000000000000001"), "ÿ🌻", bytes(range(256)))
        cursor.execute("INSERT INTO w VALUES (%s, %s, %s, %s, %s, '1000-01-01 00:00:00.000001')", row)
        cursor.execute("SELECT u, f, n, t, b, CAST(d AS CHAR), u >> 1, -7 DIV 2, CRC32(b) FROM w")
        assert cursor.fetchone() == (*row, "1000-01-01 00:00:00.000001", 2**62 - 1, -3, 0x29058C73)


def test_values_of_informix_clients(server: Rowferry) -> None:
    assert server.informix is not None
    host, port = server.informix
    with informix.connect(
        host=host, port=port, user="informix", password="in4mix", database=server.dbname, server="informix"
    ) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "CREATE TABLE x (s SMALLINT, b BIGINT, n DECIMAL(32,10), f FLOAT, y SMALLFLOAT, c CHAR(5), lv LVARCHAR(50),"
            " raw BYTE, d DATE, ts DATETIME YEAR TO FRACTION(5), iv INTERVAL DAY TO SECOND)"
        )
        cursor.execute(
            "INSERT INTO x VALUES (-32767, -9223372036854775807, -1234567890123456789012.0123456789, -1.5e300, 0.5,"
            " 'é', 'ÿ', ?, MDY(1,1,1), '0001-01-01 00:00:00.00001', INTERVAL(-3 04:05:06) DAY TO SECOND)",
            (bytes(range(256)),),
        )
        cursor.execute("SELECT s, b, n, f, y, c, lv, raw, d::char(10), ts::char(30), iv::char(20) FROM x")
        found = cursor.fetchone()
        assert found is not None
        assert [str(value).strip() if isinstance(value, str) else value for value in found] == [
            -32767,
            -(2**63) + 1,
            Decimal("-1234567890123456789012.0123456789"),
            -1.5e300,
            0.5,
            "é",
            "ÿ",
            bytes(range(256)),
            "0001-01-01",
            "0001-01-01 00:00:00.00001",
            "-3 04:05:06",
        ]


def test_many_at_once(server: Rowferry) -> None:
    """Sessions share caches and counters, whose order ARM promises less of."""
    with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE c (id integer PRIMARY KEY, n integer)")
        connection.execute("INSERT INTO c SELECT i, 0 FROM generate_series(1, 10) i")
    failures: list[BaseException] = []

    def count(thread: int) -> None:
        try:
            with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
                for number in range(40):
                    connection.execute("UPDATE c SET n = n + 1 WHERE id = %s", (1 + (thread + number) % 10,))
                    assert connection.execute("SELECT count(*) FROM c").fetchone() == (10,)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=count, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with psycopg.connect(server.postgres_dsn) as connection:
        assert connection.execute("SELECT sum(n) FROM c").fetchone() == (320,)


def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    server = Rowferry.start(tmp_path / "a.db", timeout=120)
    try:
        with psycopg.connect(server.postgres_dsn, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (x integer)")
            for number in range(50):
                connection.execute("INSERT INTO t VALUES (%s)", (number,))
            os.kill(server.pid, signal.SIGKILL)
    finally:
        server.process.kill()
    with Rowferry.start(tmp_path / "a.db", timeout=120) as server, psycopg.connect(server.postgres_dsn) as connection:
        assert connection.execute("SELECT count(*), sum(x) FROM t").fetchone() == (50, 1225)
    done = subprocess.run([find_rowferry(), "check", tmp_path / "a.db"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_encrypted_and_copied(tmp_path: Path) -> None:
    made = subprocess.run([find_rowferry(), "demo", "--create", tmp_path / "store.db"], timeout=300)
    assert made.returncode == 0
    files = make_certificates(tmp_path)
    options = ["--tls-cert", files["cert"], "--tls-key", files["key"]]
    with Rowferry.start(tmp_path / "store.db", args=options, timeout=120) as server:
        with psycopg.connect(server.postgres_dsn, sslmode="require") as connection:
            assert connection.pgconn.ssl_in_use
            assert connection.execute("SELECT count(*) FROM items").fetchone() == (14896,)
        told = copy(server.postgres_dsn, tmp_path / "b.db", "--as-of", "one", cwd=tmp_path)
    assert told["one_moment"] is True and told["rows"] == 21396


@pytest.mark.parametrize("size", ["4096", "65536"])
def test_pages_of_both_sizes(size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels for ARM have pages of 4 or of 64 KiB; the file's mapping and the log's shared memory lie on them."""
    monkeypatch.setenv("QEMU_PAGESIZE", size)
    with (
        Rowferry.start(tmp_path / "a.db", timeout=120) as server,
        psycopg.connect(server.postgres_dsn, autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE t AS SELECT i, repeat('x', 1000) AS x FROM generate_series(1, 5000) i")
        assert connection.execute("SELECT count(*), sum(length(x)) FROM t").fetchone() == (5000, 5_000_000)
        connection.execute("CHECKPOINT")
        with psycopg.connect(server.postgres_dsn) as other:
            assert other.execute("SELECT max(i) FROM t").fetchone() == (5000,)


MODULE = """
import asyncio, decimal, platform, sys
import rowferry.adbc, rowferry.testing
from rowferry import informix, mysql

assert platform.machine() == "aarch64"
host, ifx, my, name = sys.argv[1:]
value = decimal.Decimal("-12345.6789")
with mysql.connect(host=host, port=int(my), user="rowferry", database=name, autocommit=True) as connection:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE m (n DECIMAL(20,4), b BLOB, t TEXT)")
    cursor.executemany("INSERT INTO m VALUES (%s, %s, %s)", [(value, bytes(range(256)), "ÿ")] * 300)
    cursor.execute("SELECT * FROM m")
    assert [tuple(row) for row in cursor.fetchall()] == [(value, bytes(range(256)), "ÿ")] * 300
    cursor.execute("SELECT n, b, t FROM m LIMIT 1")
    assert tuple(cursor.fetchone()) == (value, bytes(range(256)), "ÿ")
dsn = dict(host=host, port=int(ifx), user="informix", password="in4mix", database=name, server="informix")
with informix.connect(**dsn) as connection:
    cursor = connection.cursor()
    cursor.execute("SELECT COUNT(*), MIN(n), MAX(t) FROM m")
    assert tuple(cursor.fetchone())[:2] == (300, value)

async def both():
    from rowferry.informix import aio as informix
    from rowferry.mysql import aio as mysql
    one = await informix.connect(**dsn)
    cursor = one.cursor()
    await cursor.execute("SELECT n FROM m WHERE t = ?", ("ÿ",))
    assert len(await cursor.fetchall()) == 300
    await one.close()
    other = await mysql.connect(host=host, port=int(my), user="rowferry", database=name)
    cursor = other.cursor()
    await cursor.execute("SELECT n FROM m WHERE t = %s", ("ÿ",))
    assert len(await cursor.fetchall()) == 300
    await other.ensure_closed()

asyncio.run(both())
print("well")
"""


def test_the_module_in_a_python_for_arm(server: Rowferry) -> None:
    """Both drivers, blocking and asyncio, against the server."""
    assert server.mysql is not None and server.informix is not None
    arguments = [server.mysql[0], str(server.informix[1]), str(server.mysql[1]), server.dbname]
    done = subprocess.run([ARM / "python", "-c", MODULE, *arguments], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "well\n"), done.stderr
