"""Whole applications on a SQLite file behind our doors: each in a virtual environment of its own, by hand.

    python -m tests.clients.applications.run                       all of them, on both doors
    python -m tests.clients.applications.run airflow --door mysql  one, on one door

Each application makes or migrates its own schema in a new file and then does a day's work: the steps in the file of
its name, which print in a line of its own what came out. Whoever was refused something, by the server's log, fails.
The environments stay under `.cache/applications`: some gigabytes. Those of Node need Node 20 and npm.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.rowferry import Rowferry

_HERE = Path(__file__).parent
_CACHE = Path(__file__).parents[3] / ".cache" / "applications"


@dataclass(frozen=True)
class Application:
    """An application: what is installed, which URLs it takes, and what its steps print at the end."""

    packages: tuple[str, ...]
    #: `None`: it does not speak to PostgreSQL; likewise `mysql`.
    postgres: str | None
    mysql: str | None
    expected: str
    environment: dict[str, str] = field(default_factory=dict)
    #: Its package is npm's, and `packages` begins with it; the others are those whose install scripts must run.
    is_of_node: bool = False


APPLICATIONS = {
    "optuna": Application(
        ("optuna==4.*", "pandas", "psycopg2-binary", "pymysql"), "postgresql+psycopg2", "mysql+pymysql", "40 trials"
    ),
    "mlflow": Application(
        ("mlflow==3.*", "psycopg2-binary", "pymysql"), "postgresql+psycopg2", "mysql+pymysql", "2 traces"
    ),
    "dbt": Application(("dbt-core==1.10.*", "dbt-postgres==1.10.*"), "postgresql", None, "13 tables and views"),
    "sqlmesh": Application(("sqlmesh[postgres]==0.*",), "postgresql", None, "7 models"),
    "dlt": Application(("dlt[postgres]==1.*", "pyarrow"), "postgresql", None, "6 loads"),
    "prefect": Application(("prefect==3.*",), "postgresql+asyncpg", None, "9 task runs"),
    "airflow": Application(
        ("apache-airflow==3.*", "psycopg2-binary", "asyncpg", "mysqlclient", "aiomysql", "pymysql"),
        "postgresql+psycopg2",
        "mysql+mysqldb",
        "4 runs succeeded",
    ),
    "superset": Application(
        # What Superset 6.1 needs and does not name, and what it is too old for.
        ("apache-superset==6.1.*", "rich", "cachetools", "flask-caching==2.3.1", "psycopg2-binary", "mysqlclient"),
        "postgresql+psycopg2",
        "mysql+mysqldb",
        "7 charts",
    ),
    "directus": Application(
        ("directus@10.13.4", "isolated-vm"),
        "postgresql",
        "mysql",
        "45 items made, 3 changed, 1 deleted",
        is_of_node=True,
    ),
    "ghost": Application(("ghost@5.130.6",), None, "mysql", "8 posts left", is_of_node=True),
}


def environment(name: str) -> Path:
    """The application's own Python, or the directory of its Node modules, made and filled where it is not there."""
    application = APPLICATIONS[name]
    place = _CACHE / name
    done = place / "installed"
    packages = "\n".join(application.packages)
    if not done.exists() or done.read_text() != packages:
        print(f"== installing {name} (some minutes)", flush=True)
        if application.is_of_node:
            _install_node(place, *application.packages)
        else:
            venv.create(place, with_pip=True, clear=True)
            subprocess.run([place / "bin" / "python", "-m", "pip", "install", "-q", *application.packages], check=True)
        done.write_text(packages)
    return place if application.is_of_node else place / "bin" / "python"


def _install_node(place: Path, package: str, *built: str) -> None:
    """Unpack a package and install what it needs in it, as its own installer does: some name files of their own."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    archive = subprocess.run(
        ["npm", "pack", "--silent", package], cwd=place, check=True, capture_output=True, text=True
    )
    with tarfile.open(place / archive.stdout.strip()) as packed:
        for member in packed.getmembers():
            member.path = member.path.partition("/")[2]
            packed.extract(member, place)
    described = json.loads((place / "package.json").read_text())
    # What its developers need may come from where only they are.
    described.pop("devDependencies", None)
    (place / "package.json").write_text(json.dumps(described, indent=1))
    options = ("--omit=dev", "--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts", "--silent")
    subprocess.run(["npm", "install", *options], cwd=place, check=True)
    if built:
        subprocess.run(["npm", "rebuild", "--silent", *built], cwd=place, check=True)


def run(name: str, door: str) -> bool:
    """Run an application's steps; true when they have come out as expected."""
    application = APPLICATIONS[name]
    scheme = application.postgres if door == "postgres" else application.mysql
    if scheme is None:
        return True
    place = environment(name)
    python, arguments = (Path(sys.executable), [place]) if application.is_of_node else (place, [])
    with (
        tempfile.TemporaryDirectory(prefix=f"rf-{name}-") as scratch,
        Rowferry.start(Path(scratch) / "app.db", postgres=door == "postgres", mysql=door == "mysql") as server,
    ):
        address = server.postgres if door == "postgres" else server.mysql
        assert address is not None
        host, port = address
        user = "rowferry" if door == "postgres" else "root"
        inherited = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PG", "ROWFERRY"))
        }
        done = subprocess.run(
            [python, _HERE / f"{name}_steps.py", f"{scheme}://{user}@{host}:{port}/app", scratch, *arguments],
            cwd=scratch,
            env={**inherited, **application.environment, "PATH": f"{python.parent}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=1200,
        )
        refused = [line for line in server.process.tail if "0A000" in line or "not supported" in line]
    is_right = done.returncode == 0 and application.expected in done.stdout.splitlines() and not refused
    print(f"{name} on {door}: {'as expected' if is_right else 'FAILED'}", flush=True)
    if not is_right:
        print(done.stdout[-6000:], *refused, sep="\n")
    return is_right


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(APPLICATIONS)}; by default all")
    parser.add_argument("--door", choices=("postgres", "mysql"), help="by default both")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(APPLICATIONS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    doors = [arguments.door] if arguments.door else ["postgres", "mysql"]
    results = [run(name, door) for name in arguments.names or APPLICATIONS for door in doors]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
