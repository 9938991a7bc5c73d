"""What pg_dump says of a database, entry by entry, and ways from a dump to a database.

`python -m tests.clients.pg_dump` compares by hand: it prints what differs, with the known reasons of `differences.txt`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg import sql

from tests.clients.recorded import Differing
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

HERE = Path(__file__).parent
#: Roles that the schemas name. PostgreSQL's are the cluster's; ours are each database's own.
ROLES = ("dump_owner", "dump_reader")
#: Lines that are of the run, not of the database.
_OF_THE_RUN = re.compile(r"^(\\(un)?restrict .*|-- Dumped (from|by) .*|-- (Started|Completed) on .*)\n", re.MULTILINE)
_ENTRY = re.compile(r"^--\n-- (?:Data for )?(Name: .*)\n--\n", re.MULTILINE)


def program(name: str) -> str:
    """PostgreSQL's program of a name."""
    installed = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    newest = max(installed, key=lambda path: int(path.parts[4]), default=None)
    found = newest or shutil.which(name)
    assert found, f"{name} is not installed (Debian package postgresql-client)"
    return str(found)


def run(*command: str, stdin: str | None = None) -> str:
    """What a program prints. It must not complain, even where it goes on; of keys in a circle pg_dump only warns."""
    quiet = {**os.environ, "PGOPTIONS": "-c client_min_messages=warning"}
    # As bytes: a carriage return in a row is no end of a line.
    done = subprocess.run(command, input=(stdin or "").encode(), capture_output=True, timeout=300, env=quiet)
    said = done.stderr.decode()
    warned = said.startswith("pg_dump: warning: there are circular foreign-key constraints")
    assert done.returncode == 0 and (warned or not said), f"{' '.join(command)}:\n{said}"
    return done.stdout.decode()


@dataclass
class Server:
    """A server that makes databases."""

    dsn: str
    roles_everywhere: bool
    made: int = field(default=0)

    def database(self) -> str:
        """A new database's URL, with the roles that dumps name."""
        self.made += 1
        name = f"dumped_{self.made}"
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        url = (
            re.sub(r"/[^/?@]*(\?|$)", rf"/{name}\1", self.dsn, count=1) if "?" in self.dsn else _sibling(self.dsn, name)
        )
        with psycopg.connect(url, autocommit=True) as connection:
            for role in ROLES:
                known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
                if known is None:
                    connection.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(role)))
        return url


def _sibling(dsn: str, name: str) -> str:
    return f"{dsn.rsplit('/', 1)[0]}/{name}"


@contextmanager
def servers() -> Iterator[tuple[Server, Server]]:
    """A real PostgreSQL and ours."""
    with tempfile.TemporaryDirectory() as directory, PostgreSQL.start() as reference:
        more = Path(directory) / "more"
        more.mkdir()
        arguments = ["--durability", "off", "--databases", str(more)]
        with Rowferry.start(Path(directory) / "first.db", args=arguments) as ours:
            yield Server(reference.dsn, True), Server(ours.postgres_dsn, False)


def load(url: str, script: str) -> None:
    """Run a script with psql, to its end and without a complaint."""
    run(program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-d", url, "-f", "-", stdin=script)


def lasting(printed: str) -> str:
    """What of a dump is not of the run that made it."""
    return _OF_THE_RUN.sub("", printed)


def dump(url: str, *options: str) -> str:
    """What pg_dump prints of a database."""
    return lasting(run(program("pg_dump"), *options, "-d", url))


def entries(text: str) -> dict[str, str]:
    """The parts of a dump by their headings, `Name: t; Type: TABLE; Schema: public; Owner: o`."""
    parts = _ENTRY.split(text)
    found = {"beginning": parts[0]}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        heading = heading.rstrip()
        kind = heading if heading not in found else f"{heading} (again)"
        found[kind] = body
    return found


def difference(source: str, theirs: str, ours: str) -> Differing:
    """The entries in which two dumps differ, and their order, by `source: heading`."""
    one, other = entries(theirs), entries(ours)
    found: Differing = {}
    for heading in {**one, **other}:
        pair = (one.get(heading, "").splitlines(), other.get(heading, "").splitlines())
        if pair[0] != pair[1] or (heading in one) != (heading in other):
            found[f"{source}: {heading}"] = pair if pair[0] != pair[1] else (["absent"], ["there"])
    order = ([name for name in one if name in other], [name for name in other if name in one])
    if order[0] != order[1]:
        found[f"{source}: order"] = order
    return found


#: The same objects where names need no schema, for most of them.
IN_PUBLIC = "objects in public"


def script(name: str) -> str:
    """A written schema."""
    if name != IN_PUBLIC:
        return (HERE / "schemas" / f"{name}.sql").read_text()
    bare = script("objects").replace("shop.", "").replace("SCHEMA shop", "SCHEMA public").replace("'shop'", "'public'")
    # Large objects are in no schema: once is enough.
    lines = [
        line for line in bare.splitlines() if not re.match(r"CREATE SCHEMA public|SELECT lo_|.*LARGE OBJECT", line)
    ]
    return "\n".join(lines)


#: The written schemas, each as a program of its kind writes them.
SCHEMAS = (*sorted(path.stem for path in (HERE / "schemas").glob("*.sql")), IN_PUBLIC)
