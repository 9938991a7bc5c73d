"""Run Django's own suite with its MySQL backend, on the MySQL door.

    .venv/bin/python -m tests.clients.django_mysql.run [--behind | --reference USER:PASSWORD@HOST:PORT] [--write]
                                                       [--part] [--why] [MODULES]

The driver is PyMySQL, called MySQLdb: it is not what is under test. `floor.json` says how many tests of the same
modules as on the PostgreSQL door must pass, and why others do not; `floor_part.json` the same of what the repository's
own tests run. `--reference` compares with a MySQL or MariaDB. With `--behind` the door is that in front of a PostgreSQL
server, whose floor is `floor_behind.json`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.clients import suite
from tests.clients.django import run
from tests.servers.mysql_door import MySQLDoorBehind


class Behind(run.Door):
    """MySQL's door in front of a PostgreSQL server."""

    def floor(self, *, part: bool) -> Path:
        """What must pass."""
        return self.folder / ("floor_behind_part.json" if part else "floor_behind.json")

    def run(self, modules: Sequence[str]) -> tuple[suite.Result, dict[str, str]]:
        """The suite on a new server of ours, and one of PostgreSQL's behind it."""
        with MySQLDoorBehind.start() as server:
            return run.run(server.host, server.port, self.user, modules, self.engine)


MYSQL = run.Door("mysql", "django.db.backends.mysql", Path(__file__).parent, user="root", reference="root")
BEHIND = Behind(
    "mysql in front of PostgreSQL", "django.db.backends.mysql", Path(__file__).parent, user="root", reference="root"
)

if __name__ == "__main__":
    behind = "--behind" in sys.argv
    if behind:
        sys.argv.remove("--behind")
    sys.exit(run.main(BEHIND if behind else MYSQL))
