#!/usr/bin/env python3
"""Play the recording of the front page: commands that are typed and run for real, on ports that must be free.

    pip install termtosvg setuptools
    PATH=$PWD/target/release:$PATH termtosvg docs/images/recording.svg -c "python3 tools/recording.py" \\
        -g 100x30 -m 40 -M 4000 -D 6000 -t window_frame

(in an environment of its own; termtosvg records a terminal as an animated SVG).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time

PROMPT = "\033[32m$\033[0m "

#: What is typed, and how long it is looked at. What ends with `&` goes on beside the others.
SCENES = [
    ("rowferry demo --create store.db", 0.8),
    ("rowferry serve store.db --log error &", 1.2),
    (
        'psql postgresql://127.0.0.1/store -c "SELECT status, count(*), sum(quantity * unit_price)'
        ' FROM orders JOIN items USING (order_id) GROUP BY status"',
        3.0,
    ),
    ('rowferry query postgresql://127.0.0.1/store "SELECT version()" --csv', 2.0),
    ("psql postgresql://127.0.0.1/store -c \"UPDATE orders SET note = 'gift' WHERE order_id = 7 RETURNING *\"", 2.5),
    ("sqlite3 store.db \"SELECT order_id, note FROM orders WHERE note = 'gift' LIMIT 2\"   # still a SQLite file", 4.0),
]


def typed(text: str) -> None:
    """Write a command as somebody types it, a few letters at a time."""
    sys.stdout.write(PROMPT)
    sys.stdout.flush()
    time.sleep(0.4)
    for at in range(0, len(text), 6):
        sys.stdout.write(text[at : at + 6])
        sys.stdout.flush()
        time.sleep(0.06)
    time.sleep(0.3)
    sys.stdout.write("\n")
    sys.stdout.flush()


def main() -> None:
    """Play all scenes in an empty directory."""
    beside: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            for command, pause in SCENES:
                typed(command)
                if command.endswith("&"):
                    words = command.removesuffix(" &").split()
                    beside.append(subprocess.Popen(words, cwd=directory, stdin=subprocess.DEVNULL))
                else:
                    subprocess.run(["bash", "-c", command], cwd=directory, check=True, stdin=subprocess.DEVNULL)
                time.sleep(pause)
        finally:
            for process in beside:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
