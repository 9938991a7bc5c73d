"""Run Django's own suite with its MySQL backend, on the MySQL door.

    .venv/bin/python -m tests.clients.django_mysql.run [--reference USER:PASSWORD@HOST:PORT] [--write] [--part] [--why]
                                                       [MODULES]

The driver is PyMySQL, called MySQLdb: it is not what is under test. `floor.json` says how many tests of the same
modules as on the PostgreSQL door must pass, and why others do not; `floor_part.json` the same of what the repository's
own tests run. `--reference` compares with a MySQL or MariaDB.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.clients.django import run

MYSQL = run.Door("mysql", "django.db.backends.mysql", Path(__file__).parent, user="root", reference="root")

if __name__ == "__main__":
    sys.exit(run.main(MYSQL))
