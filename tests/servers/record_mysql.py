"""Records what real servers send, for the fuzz tests of crates/wire-mysql: `python -m tests.servers.record_mysql`.

Each vector is the server's half of a conversation whose commands `decoded` lists, or the events of a binary log.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rowferry import mysql

from tests.chaos.wire import Fault, FaultyWire
from tests.servers.mariadb import MariaDB, MariaDB11
from tests.servers.mysql import MySQL, MySQLServer

FILE = Path(__file__).resolve().parents[1] / "vectors" / "mysql.json"

COLUMNS = (
    "i TINYINT, u INT UNSIGNED, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(20,5), t VARCHAR(50), b VARBINARY(50), y YEAR,"
    " a DATE, m TIME(6), s DATETIME(6), z TIMESTAMP NULL, e ENUM('x','y'), w SET('p','q'), k BIT(9), j JSON, g GEOMETRY"
)
ROWS = [
    "(1, 4000000000, -9000000000, 1.5, 2.25, 12345.67890, 'text é', x'00ff27', 2026, '2026-11-21', '-838:59:58.000001',"
    " '2026-11-21 17:00:00.123456', '2026-11-21 17:00:00', 'x', 'p,q', b'101', '{\"a\": [1, 2.5, null]}', POINT(1, 2))",
    "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "(-128, 0, 1, -0.0, 1e300, -0.00001, '', '', 1901, '1000-01-01', '00:00:00', '9999-12-31 23:59:59', NULL, 'y', '',"
    " b'0', '[]', NULL)",
]


def converse(server: MySQLServer, compress: str | None) -> dict[str, Any]:
    """A conversation of every kind of answer."""
    commands: list[str] = ["query"]
    with FaultyWire((server.host, server.port), Fault()) as wire:
        connection = mysql.connect(
            **{**server.dsn, "port": wire.port}, ssl_mode="DISABLED", autocommit=None, compress=compress or False
        )
        start = len(wire.seen["client"])

        def query(sql: str) -> None:
            commands.append("query")
            try:
                connection.query(sql)
            except mysql.Error as error:
                assert error.sqlstate is not None, error

        connection.query(f"CREATE TEMPORARY TABLE kinds ({COLUMNS})")
        query(f"INSERT INTO kinds VALUES {', '.join(ROWS)}")
        query("SELECT * FROM kinds")
        query("SELECT i, t FROM kinds WHERE 1 = 0")
        query("SELECT nothing FROM nowhere")
        query("SELECT 1; DO 1; SELECT 'two', NULL; UPDATE kinds SET i = 2 WHERE i = 1")
        query("SET @variable = 1, autocommit = 1")
        query("BEGIN")
        for sql, args in (("SELECT *, ? FROM kinds", ("x",)), ("UPDATE kinds SET t = ? WHERE i = ?", ("y", 2))):
            statement = connection.prepare(sql)
            commands.append("prepare")
            for _ in range(2):
                statement.execute(args)
                commands.append("execute")
        query("COMMIT")
        connection.ping()
        commands.append("ping")
        query("SELECT REPEAT('long', 500), 7")
        assert len(wire.seen["client"]) > start
        connection._abort()
        return {
            "name": f"{server.version} {compress or 'plain'}",
            "direction": "server->client",
            "hex": wire.seen["server"].hex(),
            "decoded": {"commands": commands, "compression": compress},
        }


def log(server: MySQLServer) -> dict[str, Any]:
    """The events of a server's binary log."""
    with mysql.connect(**server.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("FLUSH BINARY LOGS")
        cursor.execute(f"CREATE TABLE kinds (id INT PRIMARY KEY AUTO_INCREMENT, {COLUMNS})")
        names = ", ".join(column.split()[0] for column in COLUMNS.split(", "))
        cursor.execute(f"INSERT INTO kinds ({names}) VALUES {', '.join(ROWS)}")
        cursor.execute("UPDATE kinds SET t = CONCAT(COALESCE(t, ''), 'more'), j = JSON_SET(j, '$.b', 5), l = 7")
        cursor.execute("DELETE FROM kinds WHERE i < 0")
        cursor.execute("SHOW BINARY LOGS")
        name = cursor.fetchall()[-1][0]
        cursor.execute("DROP TABLE kinds")
    data = (server.directory / "data" / name).read_bytes()
    events, at = [], 4
    while at + 19 <= len(data):
        size = int.from_bytes(data[at + 9 : at + 13], "little")
        events.append(size)
        at += size
    return {
        "name": f"{server.version} binlog",
        "direction": "log",
        "hex": data[4:at].hex(),
        "decoded": {"events": events},
    }


def main() -> None:
    vectors = []
    for kind, compressions in ((MariaDB, (None, "zlib")), (MariaDB11, (None,)), (MySQL, (None, "zstd"))):
        arguments = ["--log-bin=log", "--binlog-format=ROW", "--server-id=1"]
        with kind.start(arguments) as server:
            vectors += [converse(server, compression) for compression in compressions]
            vectors.append(log(server))
    about = "What real servers sent; recorded by tests/servers/record_mysql.py."
    FILE.write_text(json.dumps({"about": about, "vectors": vectors}, indent=1) + "\n")


if __name__ == "__main__":
    main()
