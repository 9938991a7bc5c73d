"""Ratios between contestants: against the reference of their scenario, against goals, against a baseline."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .harness import Outcome, Run, Sample

#: The committed ratios, measured with `--pin one`.
BASELINE = Path(__file__).parent / "baseline.json"
#: A ratio may be so many times that of the baseline before the gate closes.
TOLERANCE = 1.25


def _total_cpu(sample: Sample) -> float:
    return sample.client_cpu + (sample.server_cpu or 0.0)


#: What is compared, each a function of a sample: time on the clock, the client's work, the work of both sides.
METRICS = {
    "wall": lambda sample: sample.wall,
    "client CPU": lambda sample: sample.client_cpu,
    "CPU of both": _total_cpu,
}


@dataclass(frozen=True)
class Goal:
    """In this scenario the peer needs `factor` times less of `metric` than the other."""

    scenario: str
    peer: str
    other: str
    metric: str
    factor: float


_OURS, _THEIRS = "rowferry.informix", "informix-driver"

GOALS = (
    Goal("informix_point_select", _OURS, _THEIRS, "client CPU", 2),
    Goal("informix_fetch_1000", _OURS, _THEIRS, "client CPU", 5),
    Goal("informix_fetch_1000", _OURS, _THEIRS, "wall", 3),
    Goal("informix_fetch_100000", _OURS, _THEIRS, "client CPU", 5),
    Goal("informix_fetch_100000", _OURS, _THEIRS, "wall", 3),
    Goal("informix_write_10000", _OURS, _THEIRS, "wall", 3),
    Goal("informix_concurrent", f"{_OURS}.aio", f"{_THEIRS}.aio", "wall", 4),
    Goal("informix_connect", _OURS, _THEIRS, "wall", 2),
)


def ratio(outcome: Outcome, other: Outcome | None, metric: str = "wall") -> float | None:
    """Median over the rounds of what this contestant needs by what `other` needs in the same round."""
    if other is None or not outcome.samples or not other.samples:
        return None
    measure = METRICS[metric]
    pairs = zip(outcome.samples, other.samples, strict=False)
    return statistics.median(measure(mine) / measure(theirs) for mine, theirs in pairs if measure(theirs) > 0)


def find(run: Run, peer: str) -> Outcome | None:
    """The contestant of this name, if it was measured."""
    return next((outcome for outcome in run.outcomes if outcome.contestant.peer == peer and outcome.samples), None)


def reference(run: Run) -> Outcome | None:
    """The contestant whose time is 1."""
    return find(run, run.scenario.reference.peer)


def goals(runs: Iterable[Run]) -> list[tuple[Goal, str, float]]:
    """The goals that these runs say something about: with the pinning, and how many times less was needed."""
    found = []
    for run in runs:
        for goal in GOALS:
            mine = find(run, goal.peer)
            if goal.scenario == run.scenario.name and mine is not None:
                times = ratio(mine, find(run, goal.other), goal.metric)
                if times:
                    found.append((goal, run.pinning, 1 / times))
    return found


def ratios(runs: Iterable[Run]) -> dict[str, dict[str, dict[str, float]]]:
    """What a baseline holds: scenario, our contestants, the ratios of CPU time, which are steadier than the clock."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for run in runs:
        for outcome in run.outcomes:
            if outcome.contestant.peer.startswith("rowferry") and outcome.samples:
                values = {name: ratio(outcome, reference(run), name) for name in ("client CPU", "CPU of both")}
                kept = {name: round(value, 4) for name, value in values.items() if value is not None}
                if kept:
                    found.setdefault(run.scenario.name, {})[outcome.contestant.name] = kept
    return found


def regressions(runs: Sequence[Run], baseline: dict[str, Any]) -> list[str]:
    """Ratios that are worse than the baseline's by more than `TOLERANCE`, in words."""
    worse = []
    for scenario, contestants in ratios(runs).items():
        for contestant, values in contestants.items():
            before = baseline.get(scenario, {}).get(contestant, {})
            for metric, value in values.items():
                if metric in before and value > before[metric] * TOLERANCE:
                    was = before[metric]
                    worse.append(f"{scenario}: {contestant}: {metric} is {value:.3f} of the reference's, was {was:.3f}")
    return worse


def read_baseline() -> dict[str, Any]:
    """The committed ratios."""
    found: dict[str, Any] = json.loads(BASELINE.read_text())
    return found


def write_baseline(runs: Sequence[Run]) -> None:
    """Make these runs the baseline; scenarios that were not run keep theirs."""
    before = read_baseline() if BASELINE.exists() else {}
    BASELINE.write_text(json.dumps(dict(sorted({**before, **ratios(runs)}.items())), indent=1) + "\n")
