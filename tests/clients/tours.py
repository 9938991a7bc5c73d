"""Tours: what users of a client library do, on a real server (PostgreSQL, MySQL) and on ours: both must print the same.

A tour is a program that is given the URL of an empty database and prints a line `== STEP` before what each of its steps
found out. A step that fails prints `FAILED` and what was said; no step may on the real server. A step that differs
on ours needs a reason in `differences.txt` beside the tours: a line `TOUR: STEP  reason`.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import psycopg
from rowferry import mysql

from tests.clients import recorded
from tests.servers.mysql import MySQL
from tests.servers.postgres import PostgreSQL
from tests.servers.rowferry import Rowferry

CACHE = Path(__file__).resolve().parents[2] / ".cache"
#: What the clients of every registry say when it is not there.
_UNREACHABLE = (
    *("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ECONNRESET"),
    *("Could not transfer", "Unknown host", "dial tcp", "no such host", "Temporary failure in name resolution"),
    *("Could not resolve host", "Could not connect to server"),
)


class Unavailable(RuntimeError):
    """A program is not installed, or a registry cannot be reached."""


class Failed(RuntimeError):
    """A program ended with an error; the message carries its last words."""


def run(command: Sequence[str | Path], *, directory: Path, timeout: float, env: Mapping[str, str] | None = None) -> str:
    """What the command prints; `Unavailable` when it needs a registry that does not answer."""
    done = subprocess.run(
        command,
        cwd=directory,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
    )
    if done.returncode != 0:
        words = f"`{command[0]}` ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        raise (Unavailable if any(sign in words for sign in _UNREACHABLE) else Failed)(words)
    return done.stdout


def compiled(sources: Path, output: Path, **versions: str) -> str:
    """The class path of the tours beside a `pom.xml`, compiled when they have changed.

    `versions` are properties of the pom. Maven fetches what the pom names; `Unavailable` without it.
    """
    for program in ("java", "javac", "mvn"):
        if shutil.which(program) is None:
            raise Unavailable(f"`{program}` is not installed (Debian packages default-jdk-headless and maven)")
    wanted = hashlib.sha256(repr(sorted(versions.items())).encode())
    pom = sources / "pom.xml"
    for path in [pom, *sorted(sources.glob("src/**/*.java")), *sorted(sources.glob("resources/**/*.*"))]:
        wanted.update(path.read_bytes())
    stamp = output / "stamp"
    if not stamp.exists() or stamp.read_text() != wanted.hexdigest():
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        chosen = [f"-D{name}={value}" for name, value in {"output": str(output), **versions}.items()]
        run(["mvn", "--quiet", "--batch-mode", "--file", pom, *chosen, "compile"], directory=output, timeout=300)
        stamp.write_text(wanted.hexdigest())
    return f"{output}/classes:{output}/lib/*"


def installed(packages: Path, output: Path) -> Path:
    """A directory with the tours of a directory of Node's packages, and what they import: modules look for others from
    where they lie. npm fetches what the lock names; `Unavailable` without it.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise Unavailable(f"`{program}` is not installed (Debian packages nodejs and npm)")
    wanted = (packages / "package-lock.json").read_text()
    stamp = output / "stamp"
    output.mkdir(parents=True, exist_ok=True)
    for path in [*packages.glob("*.js"), *packages.glob("package*.json")]:
        shutil.copy(path, output)
    shutil.copytree(packages / "prisma", output / "prisma", dirs_exist_ok=True)
    if not stamp.exists() or stamp.read_text() != wanted:
        # No package needs to build anything.
        run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], directory=output, timeout=300)
        stamp.write_text(wanted)
    return output


class Pair(abc.ABC):
    """A real server and ours; each tour is given an empty database of both."""

    #: What the real one is called.
    real: str

    @abc.abstractmethod
    def database(self, ours: bool) -> AbstractContextManager[str]:
        """The URL of an empty database called `store`."""

    def compare(
        self, tour: str, command: Sequence[str | Path], differences: Path, *, directory: Path, timeout: float = 180
    ) -> list[str]:
        """Run `command URL` on both; what is not as it ought to be, in lines."""
        with self.database(ours=False) as url:
            theirs = _steps(run([*command, url], directory=directory, timeout=timeout))
        with self.database(ours=True) as url:
            ours = _steps(run([*command, url], directory=directory, timeout=timeout))
        assert len(theirs) > 5, "a tour has steps"
        failed = [f"== {step} fails on {self.real}: {lines}" for step, lines in theirs.items() if _FAILED in str(lines)]
        found = {step: (said, ours.get(step, [])) for step, said in theirs.items() if ours.get(step) != said}
        known = recorded.reasons(differences) if differences.exists() else {}
        mine = {name.removeprefix(f"{tour}: "): why for name, why in known.items() if name.startswith(f"{tour}: ")}
        return failed + recorded.unexpected(found, mine)


class Servers(Pair):
    """A real PostgreSQL, and ours in a directory."""

    real = "PostgreSQL"

    def __init__(self, postgres: PostgreSQL, directory: Path) -> None:
        self.postgres = postgres
        self.directory = directory

    @contextlib.contextmanager
    def database(self, ours: bool) -> Iterator[str]:
        if ours:
            with tempfile.TemporaryDirectory(dir=self.directory) as directory:
                with Rowferry.start(Path(directory) / "store.db", args=["--durability", "off"]) as served:
                    yield served.postgres_dsn
            return
        with psycopg.connect(self.postgres.dsn, autocommit=True) as connection:
            connection.execute("drop database if exists store with (force)")
            connection.execute("create database store template template0")
        yield self.postgres.dsn.removesuffix("postgres") + "store"


class MySQLServers(Pair):
    """A real MySQL, and our door to it in a directory. The database is not the one that is called as our file."""

    real = "MySQL"

    def __init__(self, mysql: MySQL, directory: Path) -> None:
        self.mysql = mysql
        self.directory = directory

    @contextlib.contextmanager
    def database(self, ours: bool) -> Iterator[str]:
        if ours:
            with tempfile.TemporaryDirectory(dir=self.directory) as directory:
                file = Path(directory) / "served.db"
                with Rowferry.start(file, mysql=True, args=["--durability", "off"]) as served:
                    assert served.mysql is not None
                    host, port = served.mysql
                    yield self._emptied(host=host, port=port, user="rowferry", password="")
            return
        real = self.mysql.dsn
        yield self._emptied(host=real["host"], port=real["port"], user=real["user"], password=real["password"])

    def _emptied(self, *, host: str, port: int, user: str, password: str) -> str:
        """The URL of the database, made anew."""
        with mysql.connect(host=host, port=port, user=user, password=password) as connection:
            cursor = connection.cursor()
            cursor.execute("DROP DATABASE IF EXISTS store")
            cursor.execute("CREATE DATABASE store")
            # Clients send files.
            cursor.execute("SET GLOBAL local_infile = ON")
        return f"mysql://{user}{':' if password else ''}{password}@{host}:{port}/store"


_FAILED = "FAILED"


def _steps(printed: str) -> dict[str, list[str]]:
    return {step: said.splitlines() for step, said in recorded.answers(printed).items()}
