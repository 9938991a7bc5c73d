"""pg_dump of our databases and of PostgreSQL's, restored into either: what comes out is what went in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.clients import recorded
from tests.clients.pg_dump.dumps import (
    HERE,
    SCHEMAS,
    Server,
    difference,
    dump,
    load,
    program,
    run,
    script,
    servers,
)

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


def test_several_jobs_are_refused_by_name(objects: str, tmp_path: Path) -> None:
    """Two connections with one snapshot are not here: the refusal says so, and nothing is dumped."""
    with pytest.raises(AssertionError, match=r"pg_export_snapshot\(\) is not supported"):
        run(program("pg_dump"), "-F", "d", "-j", "2", "-f", str(tmp_path / "archive"), "-d", objects)


def test_what_is_kept_means_the_same_along_any_search_path(both: tuple[Server, Server]) -> None:
    """A default, a check, an index, a condition, a view: what they name is found where it was, as in PostgreSQL."""
    answers = []
    for server in both:
        with psycopg.connect(server.database(), autocommit=True) as connection:
            made, asked = (HERE / "path.sql").read_text().split("-- From here on:")
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
