"""`manage.py` of the project: the database as JSON first, then the command."""

from __future__ import annotations

import json
import sys

import django
from django.conf import settings
from django.core.management import execute_from_command_line
from rowferry import mysql

APPLICATION = __package__ or ""


def main(database: str, *command: str) -> None:
    mysql.install_as_MySQLdb()
    settings.configure(
        DATABASES={"default": {"ENGINE": "django.db.backends.mysql", **json.loads(database)}},
        INSTALLED_APPS=["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", APPLICATION],
        MIGRATION_MODULES={"django_shop": f"{APPLICATION}.migrations"},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        # The site has no pages.
        SILENCED_SYSTEM_CHECKS=[f"admin.E{number}" for number in (403, 406, 408, 409, 410)],
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        SECRET_KEY="not secret",
        USE_TZ=True,
    )
    django.setup()
    execute_from_command_line(["manage.py", *command])


main(*sys.argv[1:])
