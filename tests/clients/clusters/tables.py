"""What engines of several processes read: the same shop on MariaDB and at the Informix door."""

from __future__ import annotations

import datetime
from decimal import Decimal
from urllib.parse import quote

from rowferry import informix, mysql

from tests.servers.mysql import MySQLServer
from tests.servers.rowferry import Rowferry

ROWS = 2000
_COUNTRIES = ["DE", "de", "FR", "fr", "it", "GB"]
_START = datetime.datetime(2026, 1, 1)


def make_mysql(server: MySQLServer) -> str:
    """The tables on a MariaDB with a log, whose statements are noted; its URL."""
    with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS orders, watched, other")
        cursor.execute(
            "CREATE TABLE orders (id INT UNSIGNED PRIMARY KEY, placed DATETIME(6), day DATE, country VARCHAR(2),"
            " total DECIMAL(12,2), big BIGINT UNSIGNED, weight DOUBLE, paid TINYINT, note VARCHAR(40),"
            " raw VARBINARY(9), took TIME(3), doc JSON) CHARACTER SET utf8mb4"
        )
        rows = [
            (
                n,
                _START + datetime.timedelta(minutes=n, microseconds=n),
                _START.date() + datetime.timedelta(days=n % 90),
                _COUNTRIES[n % 6],
                Decimal(n * 50 + 1) / 100,
                2**64 - 1 - n,
                0.1 if n % 4 == 0 else n / 8,
                n % 2,
                None if n % 5 == 0 else f"é {n}",
                bytes((n % 256, 0)),
                datetime.timedelta(seconds=n - 1000, milliseconds=n % 1000),
                f'{{"a": {n}}}',
            )
            for n in range(ROWS)
        ]
        cursor.executemany(f"INSERT INTO orders VALUES ({', '.join(['%s'] * 12)})", rows)
        cursor.execute("CREATE TABLE watched (id INT PRIMARY KEY, name VARCHAR(20)) CHARACTER SET utf8mb4")
        cursor.execute("CREATE TABLE other (id INT)")
        cursor.execute("CREATE DATABASE IF NOT EXISTS elsewhere")
        cursor.execute("CREATE TABLE IF NOT EXISTS elsewhere.watched LIKE watched")
        cursor.execute("SET GLOBAL log_output = 'TABLE'")
        cursor.execute("SET GLOBAL general_log = 1")
    dsn = server.dsn
    return f"mysql://{quote(dsn['user'])}:{quote(dsn['password'])}@{dsn['host']}:{dsn['port']}/{dsn['database']}"


def make_informix(server: Rowferry) -> str:
    """The tables at the Informix door; its URL."""
    assert server.informix is not None
    host, port = server.informix
    url = f"informix://{host}:{port}/{server.dbname}?client_locale=en_US.utf8"
    with informix.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, placed DATETIME YEAR TO FRACTION(5), day DATE,"
            " country CHAR(2), total DECIMAL(12,2), clock VARCHAR(8))"
        )
        rows = [
            (
                n,
                _START + datetime.timedelta(minutes=n, microseconds=n * 10),
                _START.date() + datetime.timedelta(days=n % 90),
                _COUNTRIES[n % 6],
                Decimal(n * 50 + 1) / 100,
                None if n % 7 == 0 else f"é{n}",
            )
            for n in range(ROWS)
        ]
        cursor.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", rows)
    return url
