"""A MariaDB server of our own: `with MariaDB.start() as server: connect(**server.dsn)`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from . import debian_sid
from .mysql import MySQLServer, run, run_as
from .process import ServerFailed


def find_mariadbd() -> str | None:
    """The path of the installed server, or None."""
    return shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class MariaDB(MySQLServer):
    """The MariaDB that is installed: 10.11 on Debian 12."""

    @classmethod
    def command(cls) -> list[str]:
        binary = find_mariadbd()
        if binary is None:
            raise ServerFailed("mariadbd is not installed (Debian package mariadb-server)")
        return [binary]

    @classmethod
    def arguments(cls) -> list[str]:
        return []

    @classmethod
    def initialise(cls, data: Path) -> None:
        run(
            [
                shutil.which("mariadb-install-db") or "mariadb-install-db",
                "--no-defaults",
                *run_as(),
                f"--datadir={data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ]
        )


class MariaDB11(MySQLServer):
    """MariaDB 11.8 out of Debian unstable; `debian_sid.Unavailable` where it cannot be fetched."""

    #: What `mariadb-install-db` feeds to the server; the script itself would run the machine's own programs.
    _SYSTEM_TABLES = (
        "mariadb_system_tables.sql",
        "mariadb_performance_tables.sql",
        "mariadb_system_tables_data.sql",
        "maria_add_gis_sp_bootstrap.sql",
        "mariadb_sys_schema.sql",
    )

    @classmethod
    def command(cls) -> list[str]:
        return debian_sid.command(cls._root(), "usr/sbin/mariadbd")

    @classmethod
    def arguments(cls) -> list[str]:
        root = cls._root()
        return [
            f"--lc-messages-dir={root / 'usr/share/mariadb'}",
            f"--character-sets-dir={root / 'usr/share/mariadb/charsets'}",
            f"--plugin-dir={root / 'usr/lib/mysql/plugin'}",
            # The plugins of mariadb-test do not say how mature they are.
            "--plugin-maturity=unknown",
        ]

    @classmethod
    def initialise(cls, data: Path) -> None:
        share = cls._root() / "usr/share/mariadb"
        statements = ["CREATE DATABASE mysql;", "USE mysql;", "SET @auth_root_socket=NULL;"]
        statements += [(share / name).read_text() for name in cls._SYSTEM_TABLES]
        run(
            [
                *cls.command(),
                "--no-defaults",
                *run_as(),
                *cls.arguments(),
                f"--datadir={data}",
                "--bootstrap",
                "--enforce-storage-engine=",
            ],
            stdin="\n".join(statements),
        )

    @staticmethod
    def _root() -> Path:
        # mariadb-test has authentication plugins that ask questions.
        return debian_sid.unpack("mariadb-server-core", "mariadb-server", "mariadb-test")
