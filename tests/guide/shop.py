"""The server behind the guide's pages about MySQL.

In their blocks, host `localhost` (as `host="localhost"`, in a dict as `"host"` or Django's `"HOST"`, or in a URL as
`@localhost/`), user `app` (who has every privilege), password `secret`, database `shop` reach it; so does the socket
`/run/mysqld/mysqld.sock`. Do not write a port. The database is made anew for each page from docs/guide/mysql-shop.sql.
The server writes a binary log (rows, with full metadata), allows LOAD DATA LOCAL, and offers TLS; `ca.pem`,
`client.pem` and `client.key` for it lie in the current directory.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rowferry import mysql

from tests.servers.certificates import make_certificates
from tests.servers.mariadb import MariaDB

if TYPE_CHECKING:
    from typing_extensions import Self

_TABLES = Path(__file__).resolve().parents[2] / "docs" / "guide" / "mysql-shop.sql"

#: `host="localhost"` and `"host": "localhost"`, in Django's capitals, too.
_HOST = re.compile(r"""(?P<quote>["']?)\b(?P<host>host|HOST)(?P=quote)(?P<between>\s*[=:]\s*)(["'])localhost\4""")


class Shop:
    """A running MariaDB with the user and the database of the examples."""

    def __init__(self, server: MariaDB, certificates: dict[str, str]) -> None:
        self._server = server
        self._certificates = certificates

    @classmethod
    def start(cls, directory: Path) -> Self:
        """Start the server; `directory` keeps its certificates."""
        certificates = make_certificates(directory)
        files = [f"--ssl-{name}={certificates[name]}" for name in ("ca", "cert", "key")]
        binlog = ["--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", "--binlog-row-metadata=FULL"]
        return cls(MariaDB.start([*files, *binlog, "--local-infile=ON"]), certificates)

    def open(self, directory: Path) -> None:
        """Make the database and the user anew, and put the certificates into `directory`."""
        with mysql.connect(**self._server.dsn) as connection, connection.cursor() as cursor:
            # What a page that failed left open may hold locks.
            cursor.execute("SELECT id FROM information_schema.processlist WHERE user = 'app'")
            for (number,) in cursor.fetchall():
                with contextlib.suppress(mysql.err.Error):
                    cursor.execute(f"KILL {number}")
            cursor.execute("DROP DATABASE IF EXISTS shop")
            cursor.execute("CREATE DATABASE shop CHARACTER SET utf8mb4")
            for host in ("localhost", "127.0.0.1"):
                cursor.execute("CREATE OR REPLACE USER app@%s IDENTIFIED BY 'secret'", (host,))
                cursor.execute("GRANT ALL ON *.* TO app@%s WITH GRANT OPTION", (host,))
            cursor.execute("USE shop")
            cursor.execute(_TABLES.read_text())
            while cursor.nextset():
                pass
            connection.commit()
        for name, file in (("ca", "ca.pem"), ("client_cert", "client.pem"), ("client_key", "client.key")):
            shutil.copy(self._certificates[name], directory / file)

    def placed(self, source: str) -> str:
        """The source of a block with this server's port and socket."""
        port = self._server.port

        def with_port(found: re.Match[str]) -> str:
            word = "port" if found["host"] == "host" else "PORT"
            return f"{found[0]}, {found['quote']}{word}{found['quote']}{found['between']}{port}"

        source = _HOST.sub(with_port, source)
        source = re.sub(r"([@,])localhost(?=[/?\"'])", rf"\1localhost:{port}", source)
        source = source.replace("127.0.0.1:3306", f"127.0.0.1:{port}")
        return source.replace("/run/mysqld/mysqld.sock", self._server.unix_socket)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.stop()
