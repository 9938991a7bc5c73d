"""`python -m rowferry` and the `rowferry` command: the command line itself is Rust."""

from __future__ import annotations

import signal
import sys

from rowferry import _core


def main() -> int:
    """Run the command line with this process's arguments and return the exit code."""
    # Python's own handler only makes a note that nobody would read while Rust runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = getattr(_core, "main", None)
    if run is None:
        print("rowferry: here are the drivers alone; server and command line need Linux or macOS", file=sys.stderr)
        return 1
    return int(run(["rowferry", *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
