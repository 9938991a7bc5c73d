"""pg_dump of our databases and of PostgreSQL's, restored into either: what comes out is what went in."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import sqlalchemy as sa

from tests.clients import recorded
from tests.clients.alembic.test_alembic import metadata
from tests.clients.pg_dump.dumps import (
    HERE,
    SCHEMAS,
    Server,
    difference,
    dump,
    lasting,
    load,
    program,
    run,
    script,
    servers,
)
from tests.servers import postgres_clients
from tests.servers.availability import not_tested
from tests.servers.rowferry import Rowferry

pytestmark = pytest.mark.timeout(600)

KNOWN = recorded.reasons(HERE / "differences.txt")


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Server, Server]]:
    with servers() as found:
        yield found


def known(source: str) -> dict[str, str]:
    return {question: reason for question, reason in KNOWN.items() if question.startswith(f"{source}: ")}


def test_every_difference_is_of_a_schema_that_is_tried() -> None:
    assert {question.split(": ")[0] for question in KNOWN} <= {
        *SCHEMAS,
        *(f"{name} from PostgreSQL" for name in SCHEMAS),
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_dump_of_ours_is_postgresqls_and_restores_into_both(name: str, both: tuple[Server, Server]) -> None:
    reference, ours = both
    theirs, own = reference.database(), ours.database()
    load(theirs, script(name))
    load(own, script(name))
    dumped = dump(own)
    assert recorded.unexpected(difference(name, dump(theirs), dumped), known(name)) == []
    # The way back: the same dump again.
    again = ours.database()
    load(again, dumped)
    assert difference(name, dumped, dump(again)) == {}
    # Into PostgreSQL: what that says of it is what it says of the original, where ours is.
    other = reference.database()
    load(other, dumped)
    there = difference(name, dump(theirs), dump(other))
    assert set(there) - set(known(name)) == set(), there


def test_a_file_that_sqlite_has_made_restores_into_postgresql(both: tuple[Server, Server], tmp_path: Path) -> None:
    path = tmp_path / "made.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE item (
                id INTEGER PRIMARY KEY, label VARCHAR(20) NOT NULL DEFAULT 'new', active BOOLEAN NOT NULL DEFAULT 1,
                gift BOOLEAN DEFAULT 0 CHECK (gift IN (0, 1)), price DECIMAL(10, 2) DEFAULT 1.50 CHECK (price >= 0),
                made DATE DEFAULT CURRENT_DATE, seen TIMESTAMP DEFAULT CURRENT_TIMESTAMP, CHECK (active = 1 OR gift = 0)
            );
            CREATE INDEX item_gift ON item (label) WHERE gift = 1;
            INSERT INTO item (id, label, gift, made, seen) VALUES (1, 'bolt', 1, '2024-02-29', '2024-01-02 03:04:05');
            """
        )
    with Rowferry.start(path) as server:
        dumped = dump(server.postgres_dsn)
        again = both[0].database()
        load(again, dumped)
        rows = "SELECT * FROM item"
        with psycopg.connect(server.postgres_dsn) as own, psycopg.connect(again) as there:
            assert own.execute(rows).fetchall() == there.execute(rows).fetchall()
            with pytest.raises(psycopg.errors.CheckViolation):
                there.execute("INSERT INTO item (id, active, gift) VALUES (2, false, true)")
        with psycopg.connect(again) as there:
            there.execute("INSERT INTO item (id) VALUES (3)")
            assert there.execute("SELECT active, gift FROM item WHERE id = 3").fetchone() == (True, False)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_dump_of_postgresqls_restores_into_ours(name: str, both: tuple[Server, Server]) -> None:
    reference, ours = both
    theirs, own = reference.database(), ours.database()
    load(theirs, script(name))
    dumped = dump(theirs)
    load(own, dumped)
    source = f"{name} from PostgreSQL"
    assert recorded.unexpected(difference(source, dumped, dump(own)), known(source)) == []


@pytest.fixture(scope="module")
def objects(both: tuple[Server, Server]) -> str:
    """A database of ours with an object of every kind."""
    url = both[1].database()
    load(url, script("objects"))
    return url


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("c", ()),
        ("d", ("-j", "2")),
        ("t", ()),
        ("c", ("--clean", "--if-exists")),
        ("c", ("--no-owner", "--single-transaction")),
    ],
)
def test_archives_restore(
    form: str, options: tuple[str, ...], objects: str, both: tuple[Server, Server], tmp_path: Path
) -> None:
    archive = str(tmp_path / "archive")
    run(program("pg_dump"), "-F", form, "-f", archive, "-d", objects)
    for server in both:
        url = server.database()
        run(program("pg_restore"), *options, "-d", url, archive)
        if server is both[1] and "--no-owner" not in options:
            assert difference("archive", dump(objects), dump(url)) == {}


@pytest.mark.parametrize("options", [("--inserts",), ("--column-inserts",), ("--rows-per-insert=3",)])
def test_rows_as_inserts_restore(options: tuple[str, ...], objects: str, both: tuple[Server, Server]) -> None:
    written = dump(objects, *options)
    for server in both:
        url = server.database()
        load(url, written)
        if server is both[1]:
            assert difference("inserts", dump(objects), dump(url)) == {}


def made_by_django(url: str) -> None:
    """What its own applications' migrations make."""
    parts = urlsplit(url)
    database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": parts.username,
        "HOST": parse_qs(parts.query).get("host", [parts.hostname])[0],
        "PORT": parts.port or "",
    }
    settings = f"""
from django.conf import settings
settings.configure(
    DATABASES={{"default": {database!r}}}, USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[
        "django.contrib." + name
        for name in "auth contenttypes sessions admin messages sites redirects".split()
    ],
)
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.contrib.auth.models import Group, Permission, User
user = User.objects.create_user("ann", "ann@example.com", "secret", date_joined="2026-01-01T00:00:00Z")
user.password = "unusable"
user.save()
group = Group.objects.create(name="all")
group.permissions.set(Permission.objects.order_by("id")[:3])
user.groups.add(group)
"""
    run(sys.executable, "-c", settings)


def made_by_sqlalchemy(url: str) -> None:
    """What its metadata make, with the types, indexes, checks, comments and identities that it has words for."""
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(sa.schema.CreateSchema("shop"))
        tables = metadata(3)
        tables.create_all(connection)
        rows = [{"name": "Ann", "small": 4, "tags": ["a", "b,c"], "docb": {"k": [1]}, "uid": "0" * 32, "seen": None}]
        connection.execute(sa.insert(tables.tables["customers"]), rows)
        connection.execute(sa.insert(tables.tables["orders"]), {"id": 1, "customer_id": 10, "number": 1, "status": "x"})
    engine.dispose()


@pytest.mark.parametrize("made", [made_by_django, made_by_sqlalchemy])
def test_what_frameworks_make_moves(made: Callable[[str], None], both: tuple[Server, Server]) -> None:
    """A framework's own tables in both; PostgreSQL's dump into ours, ours into PostgreSQL: the same dump each time."""
    reference, ours = both
    theirs, own, moved, back = reference.database(), ours.database(), ours.database(), reference.database()
    made(theirs)
    made(own)
    dumped = dump(theirs)
    # Moments of migrations are of the run.
    assert without_moments(difference("made", dumped, dump(own))) == {}
    load(moved, dumped)
    assert difference("moved", dumped, dump(moved)) == {}
    load(back, dump(moved))
    assert difference("back", dumped, dump(back)) == {}


def without_moments(found: recorded.Differing) -> recorded.Differing:
    """What differs in more than in when it was made."""
    moment = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+00")
    told = {entry: tuple([moment.sub("", line) for line in lines] for lines in pair) for entry, pair in found.items()}
    return {entry: found[entry] for entry, (one, other) in told.items() if one != other}


@pytest.mark.parametrize("version", [16, 17, 18])
def test_dumps_of_every_version_restore(
    version: int, objects: str, both: tuple[Server, Server], tmp_path: Path
) -> None:
    """Plain, with INSERTs, custom, directory: by the pg_dump and pg_restore of versions that are not installed."""
    try:
        pg_dump, pg_restore = (postgres_clients.command(name, version) for name in ("pg_dump", "pg_restore"))
    except postgres_clients.Unavailable as reason:
        not_tested(f"pg_dump {version}", reason)
    reference, ours = both

    def dumped(url: str, *options: str) -> str:
        return lasting(run(*pg_dump, *options, "-d", url))

    original = dumped(objects)
    for options in [(), ("--inserts",)]:
        written = dumped(objects, *options)
        for server in both:
            url = server.database()
            # What only servers from 17 on know, psql goes on without.
            load(url, written if server is ours else written.replace("SET transaction_timeout = 0;\n", ""))
            if server is ours:
                assert difference(f"by {version}", original, dumped(url)) == {}
    for form in ("c", "d"):
        archive = str(tmp_path / f"archive.{form}")
        run(*pg_dump, "-F", form, "-f", archive, "-d", objects)
        url = ours.database()
        run(*pg_restore, "-d", url, archive)
        assert difference(f"by {version}", original, dumped(url)) == {}
        other = reference.database()
        load(other, lasting(run(*pg_restore, "-f", "-", archive)).replace("SET transaction_timeout = 0;\n", ""))


def test_parts_of_a_database_are_dumped(objects: str) -> None:
    assert "COPY " not in dump(objects, "--schema-only")
    rows = dump(objects, "--data-only", "-b")
    assert "COPY shop.plain" in rows
    assert "CREATE " not in rows
    assert "CREATE TABLE shop.plain" in dump(objects, "-t", "shop.plain")
    assert "CREATE TABLE shop" not in dump(objects, "-n", '"Odd Names"')
    assert "OWNER TO" not in dump(objects, "-O", "-x")


def test_globals_are_dumped(objects: str) -> None:
    told = run(program("pg_dumpall"), "--globals-only", "-l", objects.rsplit("/", 1)[1], "-d", objects)
    assert "CREATE ROLE dump_owner;" in told
    assert "ALTER ROLE dump_owner WITH NOSUPERUSER INHERIT NOCREATEROLE NOCREATEDB NOLOGIN" in told


def test_several_jobs_dump_one_snapshot(objects: str, both: tuple[Server, Server], tmp_path: Path) -> None:
    archive = str(tmp_path / "archive")
    run(program("pg_dump"), "-F", "d", "-j", "2", "-f", archive, "-d", objects)
    url = both[1].database()
    run(program("pg_restore"), "-d", url, archive)
    assert difference("archive", dump(objects), dump(url)) == {}


def test_what_is_kept_means_the_same_along_any_search_path(both: tuple[Server, Server]) -> None:
    """A default, a check, an index, a condition, a view: what they name is found where it was, as in PostgreSQL."""
    answers = []
    for server in both:
        with psycopg.connect(server.database(), autocommit=True) as connection:
            made, asked = (HERE / "path.sql").read_text().split("-- From here on: other search paths.\n")
            connection.execute(made)
            told = []
            for statement in asked.split(";\n"):
                try:
                    cursor = connection.execute(statement)
                    told.append(cursor.fetchall() if cursor.description else cursor.statusmessage)
                except psycopg.Error as error:
                    told.append(error.sqlstate)
            answers.append(told)
    assert answers[0] == answers[1]
