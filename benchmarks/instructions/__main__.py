"""`python -m benchmarks.instructions`: see the package."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import __doc__ as described
from . import baseline
from .callgrind import Counted, Counter, Missing, version
from .paths import PATHS, Address, HotPath
from .servers import Worker, serve

#: Before counting: plans are made, caches filled, adaptive things settled.
_WARM_UP = 3


def main() -> int:
    """Run what the command line asks for; 1 when a path has become dearer, 2 when nothing can be counted."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instructions",
        description=described,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--path", action="append", choices=PATHS, metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--write", action="store_true", help="make what is counted the baseline")
    parser.add_argument("--profile", type=Path, metavar="DIRECTORY", help="keep callgrind's files there")
    parser.add_argument("--worker", nargs=2, metavar=("NAME", "ADDRESS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        name, address = arguments.worker
        return _work(PATHS[name], json.loads(address))
    try:
        print(f"{version()}; instructions per operation, and times those of the baseline")
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    counted = {}
    known = baseline.read()
    for name, instructions in count([PATHS[name] for name in arguments.path or PATHS], arguments.profile):
        counted[name] = instructions
        ratio = f"{instructions / known[name]:7.3f}" if name in known else ""
        print(f"{name:28} {instructions:10,}{ratio}", flush=True)
    if arguments.write:
        baseline.write(counted)
        return 0
    failures = baseline.dearer(counted)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def count(paths: Sequence[HotPath], profile: Path | None = None) -> Iterator[tuple[str, int]]:
    """The instructions of one operation of each path, by name; callgrind's files go to `profile` under the names."""
    for (server, counts_server), group in itertools.groupby(paths, lambda path: (path.server, path.counts_server)):
        with tempfile.TemporaryDirectory(prefix="rf-count-", dir="/tmp") as scratch:
            counter = Counter(Path(scratch))
            with serve(server, Path(scratch), counter.command if counts_server else ()) as (address, pid):
                for path in group:
                    total = _of_server(path, address, pid, counter) if counts_server else _of_driver(path, address)
                    yield path.name, round(total.instructions / path.operations)
                    if profile is not None:
                        profile.mkdir(parents=True, exist_ok=True)
                        (profile / f"callgrind.out.{path.name}").write_bytes(total.dump)


def _of_server(path: HotPath, address: Address, pid: int, counter: Counter) -> Counted:
    with path.open(address) as work:
        for _ in range(_WARM_UP):
            work()
        return counter.count(pid, work)


def _of_driver(path: HotPath, address: Address) -> Counted:
    with tempfile.TemporaryDirectory(prefix="rf-count-", dir="/tmp") as scratch:
        counter = Counter(Path(scratch))
        worker = Worker(path.name, address, counter.command)
        counted = counter.count(worker.pid, worker.work)
        worker.stop()
        return counted


def _work(path: HotPath, address: dict[str, object]) -> int:
    """The other side of `Worker`: warm up, then work once for each line."""
    with path.open(address) as work:
        for _ in range(_WARM_UP):
            work()
        print("done", flush=True)
        for _ in sys.stdin:
            work()
            print("done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
