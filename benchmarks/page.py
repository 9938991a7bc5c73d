"""The report as one HTML file with charts and nothing else to load."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from .compare import goals, ratio, reference
from .harness import Outcome, Run
from .report import PINNINGS, summarise, time_text

_TEMPLATES = Path(__file__).parent / "templates"
#: Width of the longest bar, in pixels.
_WIDTH = 420


@dataclass(frozen=True)
class Bar:
    """A contestant in a chart: its CPU time on both sides, stacked, and the time on the clock as a line."""

    name: str
    version: str
    ours: bool
    client: float
    server: float
    wall: float
    low: float
    high: float
    words: str
    ratio: str


def as_html(machine: dict[str, Any], runs: Sequence[Run]) -> str:
    """The whole page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.get_template("report.html.j2")
    return template.render(
        machine=machine,
        goals=goals(runs),
        charts=[_chart(run) for run in runs],
    )


def _chart(run: Run) -> dict[str, Any]:
    measured = [outcome for outcome in run.outcomes if outcome.samples]
    measured.sort(key=lambda outcome: statistics.median(sample.wall for sample in outcome.samples))
    longest = max((_extent(outcome) for outcome in measured), default=1.0)
    compared = reference(run)
    return {
        "scenario": run.scenario,
        "pinning": PINNINGS[run.pinning],
        "bars": [_bar(outcome, compared, _WIDTH / longest) for outcome in measured],
        "others": [outcome for outcome in run.outcomes if not outcome.samples],
    }


def _extent(outcome: Outcome) -> float:
    cpu = statistics.median(sample.client_cpu + (sample.server_cpu or 0) for sample in outcome.samples)
    return max(cpu, _quartiles(outcome)[1])


def _quartiles(outcome: Outcome) -> tuple[float, float]:
    walls = [sample.wall for sample in outcome.samples]
    if len(walls) < 2:
        return walls[0], walls[0]
    quartiles = statistics.quantiles(walls, n=4, method="inclusive")
    return quartiles[0], quartiles[2]


def _bar(outcome: Outcome, compared: Outcome | None, scale: float) -> Bar:
    wall = summarise([sample.wall for sample in outcome.samples])
    client = statistics.median(sample.client_cpu for sample in outcome.samples)
    server = statistics.median(sample.server_cpu or 0.0 for sample in outcome.samples)
    low, high = _quartiles(outcome)
    times = ratio(outcome, compared)
    return Bar(
        name=outcome.contestant.peer,
        version=outcome.version,
        ours=outcome.contestant.peer.startswith("rowferry"),
        client=client * scale,
        server=server * scale,
        wall=wall["median"] * scale,
        low=low * scale,
        high=high * scale,
        words=f"{time_text(wall['median'])}; client {time_text(client)}, server {time_text(server)}",
        ratio="" if times is None else f"{times:.2f} x",
    )
