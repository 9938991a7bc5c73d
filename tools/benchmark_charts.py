#!/usr/bin/env python3
"""Draw the tables of docs/benchmarks.md as charts: docs/images/benchmarks-*.svg.

    pip install matplotlib
    tools/benchmark_charts.py            draw
    tools/benchmark_charts.py --check    1 when a chart is not of the table that the page has (needs nothing)

A chart carries the digest of its table. Colours are those of Okabe and Ito; ours is the strong one.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
IMAGES = ROOT / "docs" / "images"
COLOURS = ["#0072B2", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#999999"]


@dataclass(frozen=True)
class Chart:
    """A chart of the first table behind a heading."""

    name: str
    heading: str
    title: str
    #: What 1 is.
    line: str


CHARTS = [
    Chart(
        "mysql",
        "## `rowferry.mysql`",
        "Time of other drivers, as times of rowferry.mysql's",
        "rowferry.mysql",
    ),
    Chart(
        "postgres",
        "## The PostgreSQL door",
        "Time at `rowferry serve`, as a part of PostgreSQL 15's",
        "PostgreSQL 15",
    ),
]


def table_of(chart: Chart) -> list[list[str]]:
    """The cells of its table: a heading, then rows."""
    behind = PAGE.read_text().partition(chart.heading)[2]
    lines = re.search(r"(?:^\|.*\n)+", behind, re.MULTILINE)
    if lines is None:
        raise SystemExit(f"no table behind `{chart.heading}`")
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines[0].splitlines()]
    return [rows[0], *rows[2:]]


def digest(table: list[list[str]]) -> str:
    """What tells one table from another."""
    return hashlib.sha256(repr(table).encode()).hexdigest()[:16]


def first_number(cell: str) -> float:
    """The time of a cell; the processor's time stands behind it."""
    found = re.match(r"[\d.]+", cell)
    if found is None:
        raise SystemExit(f"no number: {cell}")
    return float(found[0])


def draw(chart: Chart) -> None:
    """Draws a chart: a group of bars for each row, a line where both are alike."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "rowferry", "svg.fonttype": "none", "font.family": "sans-serif"})
    heading, *rows = table = table_of(chart)
    rows = list(reversed(rows))
    contestants = heading[1:]
    height = 0.8 / len(contestants)
    figure, axes = pyplot.subplots(figsize=(8.5, 0.9 + 0.16 * len(rows) * (len(contestants) + 1)))
    for number, contestant in enumerate(contestants):
        places = [at + 0.4 - height * (number + 0.5) for at in range(len(rows))]
        values = [first_number(row[number + 1]) for row in rows]
        bars = axes.barh(places, values, height=height * 0.9, color=COLOURS[number], label=contestant)
        axes.bar_label(bars, fmt="%g", padding=2, fontsize=7, color="#555555")
    axes.axvline(1, color="#D55E00", linewidth=1.5)
    axes.annotate(
        chart.line,
        (1, 1),
        xycoords=("data", "axes fraction"),
        xytext=(4, 3),
        textcoords="offset points",
        color="#D55E00",
        fontsize=8,
    )
    axes.set_yticks(range(len(rows)), [row[0].replace("`", "") for row in rows], fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlim(left=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(chart.title.replace("`", ""), fontsize=10, loc="left", pad=18)
    axes.legend(fontsize=7, frameon=False, loc="lower right")
    figure.tight_layout()
    IMAGES.mkdir(exist_ok=True)
    path = IMAGES / f"benchmarks-{chart.name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None, "Description": f"table {digest(table)}"})
    pyplot.close(figure)
    # Trailing blanks of the writer's.
    path.write_text("".join(line.rstrip() + "\n" for line in path.read_text().splitlines()))


def main() -> int:
    """Draw, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="draw nothing")
    if not parser.parse_args().check:
        for chart in CHARTS:
            draw(chart)
        return 0
    old = []
    for chart in CHARTS:
        path = IMAGES / f"benchmarks-{chart.name}.svg"
        if not path.exists() or f"table {digest(table_of(chart))}" not in path.read_text():
            old.append(path.name)
    if old:
        print(
            f"{', '.join(old)}: not of the table in docs/benchmarks.md\nhint: run tools/benchmark_charts.py",
            file=sys.stderr,
        )
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
