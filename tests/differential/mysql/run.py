"""Run generated statements on MySQL 9.7 and on our MySQL door, and show every statement that differs.

`.venv/bin/python -m tests.differential.mysql.run --seed N --count N` makes schemas from seed N on, each followed by 60
queries and changes, until COUNT of them ran. What differs is made smaller and printed with what must run before
it, ready to paste. `--floor` runs what CI runs, and compares it with `floor.json`; `--write` makes what was measured
the floor.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pymysql

from tests.differential.mysql.case import LESSER, STATEMENTS, Case
from tests.differential.mysql.compare import LOST, Server
from tests.differential.run import Score, below
from tests.servers.mysql import MySQL
from tests.servers.rowferry import Rowferry

FLOOR = Path(__file__).with_name("floor.json")


@contextmanager
def servers(port: int | None = None) -> Iterator[tuple[Server, Server]]:
    """Connections to both, to servers of their own unless a running MySQL's port is named."""
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        if port is None:
            port = stack.enter_context(MySQL.start()).dsn["port"]
        served = Rowferry.start(
            Path(directory) / "app.db", mysql=True, args=["--durability", "off"], before=["prlimit", "--as=6000000000"]
        )
        stack.callback(served.process.kill)
        with (
            pymysql.connect(host=MySQL.host, port=port, user=MySQL.user, password=MySQL.password) as connection,
            connection.cursor() as cursor,
        ):
            # Who has no password is let in without a secret channel.
            cursor.execute("CREATE USER IF NOT EXISTS 'ada'@'127.0.0.1' IDENTIFIED BY ''")
            cursor.execute("GRANT ALL ON *.* TO 'ada'@'127.0.0.1'")
        assert served.mysql is not None
        both = Server(MySQL.host, port), Server(*served.mysql)
        yield both
        for server in both:
            server.close()


def run(seed: int, count: int, both: tuple[Server, Server], *, shrinks: bool = True, show: bool = False) -> Score:
    """Cases from `seed` on until `count` statements ran."""
    score = Score(lesser=LESSER)
    while score.counts.total() < count:
        case = Case(seed, *both, shrinks=shrinks)
        case.run(STATEMENTS)
        score.counts += case.counts
        score.causes += case.causes
        score.differences += case.differences
        if show:
            for difference in case.differences:
                print(difference, flush=True)
        if any(found.kind.startswith(LOST) for found in case.differences):
            break
        seed += 1
    return score


def floor() -> dict[str, int]:
    """What CI runs and what it must find."""
    known: dict[str, int] = json.loads(FLOOR.read_text())
    return known


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, compare; 1 when statements differ or something is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="how many statements, at least")
    parser.add_argument("--floor", action="store_true", help="what CI runs")
    parser.add_argument("--write", action="store_true", help="make what CI runs and finds now the floor")
    parser.add_argument(
        "--port", type=int, help="a running MySQL instead of one of our own (`python -m tests.servers up`)"
    )
    parser.add_argument("--no-shrink", action="store_true", help="show differing statements as they were made")
    given = parser.parse_args(arguments)
    seed, count = given.seed, given.count
    if given.floor or given.write:
        seed, count = floor()["seed"], floor()["count"]
    with servers(given.port) as both:
        score = run(seed, count, both, shrinks=not given.no_shrink, show=True)
    for cause, times in score.causes.most_common(60):
        print(f"{times:6} {cause}")
    print(score)
    if given.write:
        found = {"equal": score.counts["equal"], "refused": score.counts["refused"], "different": score.different()}
        FLOOR.write_text(json.dumps({"seed": seed, "count": count, **found}, indent=2) + "\n")
    lacks = below(score, floor()) if given.floor else []
    print("\n".join(lacks))
    return 1 if lacks or score.differences else 0


if __name__ == "__main__":
    sys.exit(main())
