"""Ratios between contestants: against the reference of their scenario, against goals, against a baseline."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
    """In this scenario the best of `peers` needs at most `at_most` times the `metric` of the best of `others`."""

    scenario: str
    peers: Sequence[str]
    others: Sequence[str]
    metric: str
    at_most: float


@dataclass(frozen=True)
class Measured:
    """What a run says about a goal: who was the best on each side, and the ratio between them."""

    goal: Goal
    pinning: str
    peer: str
    other: str
    ratio: float

    @property
    def met(self) -> bool:
        """True when the goal is reached."""
        return self.ratio <= self.goal.at_most


_OURS, _THEIRS = ("rowferry.informix",), ("informix-driver",)

_INFORMIX_GOALS = (
    Goal("informix_point_select", _OURS, _THEIRS, "client CPU", 1 / 2),
    Goal("informix_fetch_1000", _OURS, _THEIRS, "client CPU", 1 / 5),
    Goal("informix_fetch_1000", _OURS, _THEIRS, "wall", 1 / 3),
    Goal("informix_fetch_100000", _OURS, _THEIRS, "client CPU", 1 / 5),
    Goal("informix_fetch_100000", _OURS, _THEIRS, "wall", 1 / 3),
    Goal("informix_write_10000", _OURS, _THEIRS, "wall", 1 / 3),
    Goal("informix_concurrent", ("rowferry.informix.aio",), ("informix-driver.aio",), "wall", 1 / 4),
    Goal("informix_connect", _OURS, _THEIRS, "wall", 1 / 2),
)

_BLOCKING = ("rowferry.mysql", "rowferry.mysql-cached", "rowferry.mysql-prepared")
_AIO = (
    "rowferry.mysql.aio",
    "rowferry.mysql.aio-cached",
    "rowferry.mysql.aio-prepared",
    "rowferry.mysql.aio-uvloop",
    "rowferry.mysql.aio-cached-uvloop",
)
_ASYNCMY = (
    "asyncmy",
    "asyncmy-cached",
    "asyncmy-prepared",
    "asyncmy-uvloop",
    "asyncmy-cached-uvloop",
    "asyncmy-prepared-uvloop",
)
_PEERS = (*_ASYNCMY, "aiomysql", "pymysql", "mysqlclient", "mariadb", "mysql-connector")

_MYSQL_GOALS = tuple(
    replace(goal, scenario=goal.scenario + place)
    for place in ("", "_unix")
    for goal in (
        Goal("mysql_fetch_50k", _BLOCKING, _ASYNCMY, "wall", 0.8),
        Goal("mysql_fetch_50k", _AIO, _ASYNCMY, "wall", 0.8),
        Goal("mysql_fetch_50k", _BLOCKING, _ASYNCMY, "client CPU", 0.5),
        Goal("mysql_fetch_50k", _AIO, _ASYNCMY, "client CPU", 0.5),
        Goal("mysql_fetch_50k", ("rowferry.mysql",), ("drain-text",), "wall", 1.2),
        Goal("mysql_fetch_50k", ("rowferry.mysql-prepared",), ("drain-binary",), "wall", 1.2),
        Goal("mysql_types_decimal", _BLOCKING, _ASYNCMY, "wall", 0.6),
        Goal("mysql_types_decimal", _AIO, _ASYNCMY, "wall", 0.6),
        Goal("mysql_concurrent_50", _AIO, _ASYNCMY, "wall", 0.8),
        Goal("mysql_pool_2000", _AIO, _ASYNCMY, "wall", 0.75),
        Goal("mysql_executemany_10k", (*_BLOCKING, *_AIO), _ASYNCMY, "wall", 1),
        Goal("mysql_point_select", _BLOCKING, _ASYNCMY, "client CPU", 0.75),
        Goal("mysql_point_select", _AIO, _ASYNCMY, "client CPU", 0.75),
        Goal("mysql_connect", _BLOCKING, _PEERS, "wall", 1),
        Goal("mysql_arrow_50k", ("rowferry.mysql",), ("rowferry.mysql-tuples",), "client CPU", 1 / 4),
        Goal("mysql_arrow_50k", ("rowferry.mysql",), ("rowferry.mysql-tuples-to-arrow",), "wall", 1 / 4),
    )
)

_PSYCOPG = ("psycopg3 → rowferry",)
_PGLITE_GOALS = tuple(
    Goal(f"pglite_{kind}", _PSYCOPG, ("psycopg3 → pglite",), "wall", at_most)
    for kind, at_most in (
        ("point_select", 0.15),
        ("executemany_1000", 0.08),
        ("update_transaction", 0.15),
        ("fetch_10000", 0.5),
        ("group_by", 0.2),
    )
)
_CLIENTS_GOALS = tuple(
    Goal(f"clients_{kind}", ("psycopg2 → rowferry",), ("psycopg2 → postgresql",), "wall", 1 / times)
    for kind, times in (("8_readers", 1.3), ("8_readers_2_writers", 1.3), ("2_writers_8_readers", 1.0))
)


def _at(target: str, *peers: str) -> tuple[str, ...]:
    return tuple(f"{peer} → {target}" for peer in peers)


_DOOR_PEERS = ("rowferry.mysql", "rowferry.mysql-cached", "pymysql", "mysqlclient")
_DOORS_GOALS = (
    *(
        Goal(f"mysqldoor_{kind}", _at("rowferry-mysql", *_DOOR_PEERS), _at("mariadb", *_DOOR_PEERS), "wall", at_most)
        for kind, at_most in (("point_select", 0.8), ("fetch_50k", 1.0))
    ),
    *(
        Goal(
            f"behind_{kind}",
            _at("rowferry-informix-before-postgresql", "rowferry.informix"),
            _at("postgresql-tcp", "psycopg3"),
            "wall",
            at_most,
        )
        for kind, at_most in (("point_select", 1.5), ("fetch_100000", 1.2))
    ),
)

GOALS = (
    *_INFORMIX_GOALS,
    *_MYSQL_GOALS,
    *_PGLITE_GOALS,
    *_CLIENTS_GOALS,
    *_DOORS_GOALS,
    Goal("mysql_connect_tls", _BLOCKING, _PEERS, "wall", 1),
    Goal("mysql_executemany_10k_mysql9", (*_BLOCKING, *_AIO), _PEERS, "wall", 0.7),
)


def ratio(outcome: Outcome, other: Outcome | None, metric: str = "wall") -> float | None:
    """Median over the rounds of what this contestant needs by what `other` needs in the same round."""
    if other is None or not outcome.samples or not other.samples:
        return None
    measure = METRICS[metric]
    pairs = zip(outcome.samples, other.samples, strict=False)
    return statistics.median(measure(mine) / measure(theirs) for mine, theirs in pairs if measure(theirs) > 0)


def find(run: Run, peer: str) -> Outcome | None:
    """The contestant of this name, or whose peer is called so, if it was measured."""
    known = (outcome for outcome in run.outcomes if peer in (outcome.contestant.name, outcome.contestant.peer))
    return next((outcome for outcome in known if outcome.samples), None)


def reference(run: Run) -> Outcome | None:
    """The contestant whose time is 1."""
    compared = run.scenario.reference
    return next((outcome for outcome in run.outcomes if outcome.contestant == compared and outcome.samples), None)


def best(run: Run, peers: Sequence[str], metric: str) -> Outcome | None:
    """Of these contestants the one whose median is the least."""
    found = [outcome for name in peers if (outcome := find(run, name)) is not None]
    measure = METRICS[metric]
    return min(found, key=lambda outcome: statistics.median(map(measure, outcome.samples)), default=None)


def goals(runs: Iterable[Run]) -> list[Measured]:
    """What these runs say about the goals."""
    found = []
    for run in runs:
        for goal in GOALS:
            if goal.scenario != run.scenario.name:
                continue
            mine, other = best(run, goal.peers, goal.metric), best(run, goal.others, goal.metric)
            if mine is not None and other is not None:
                times = ratio(mine, other, goal.metric)
                if times:
                    found.append(Measured(goal, run.pinning, _said(mine, goal.peers), _said(other, goal.others), times))
    return found


def _said(outcome: Outcome, names: Sequence[str]) -> str:
    """What a goal calls a contestant."""
    return outcome.contestant.name if outcome.contestant.name in names else outcome.contestant.peer


@dataclass(frozen=True)
class Beside:
    """What a driver needs at our PostgreSQL door, of what it needs at PostgreSQL, over several kinds of work."""

    peer: str
    pinning: str
    #: Ratios of the clock, by scenario.
    ratios: dict[str, float]
    #: What the client's own work is of the time at PostgreSQL: what no server can fall below on a shared CPU.
    floors: dict[str, float]

    @property
    def mean(self) -> float:
        """Their geometric mean."""
        return statistics.geometric_mean(self.ratios.values())

    @property
    def floor(self) -> float:
        """The mean of a server that takes no time."""
        return statistics.geometric_mean(self.floors.values())


def beside_postgresql(runs: Iterable[Run]) -> list[Beside]:
    """Each driver that was measured at both, in every kind of work of the suite `postgres`."""
    found: dict[tuple[str, str], Beside] = {}
    for run in runs:
        name = run.scenario.name
        measured = {outcome.contestant: outcome for outcome in run.outcomes if outcome.samples}
        for contestant, outcome in measured.items():
            if contestant.target != "rowferry" or not name.startswith("postgres_"):
                continue
            other = measured.get(replace(contestant, target="postgresql"))
            times = ratio(outcome, other)
            if times and other is not None:
                key = (run.pinning, contestant.peer)
                beside = found.setdefault(key, Beside(contestant.peer, run.pinning, {}, {}))
                beside.ratios[name] = times
                pairs = zip(outcome.samples, other.samples, strict=False)
                beside.floors[name] = statistics.median(mine.client_cpu / theirs.wall for mine, theirs in pairs)
    return list(found.values())


def ratios(runs: Iterable[Run]) -> dict[str, dict[str, dict[str, float]]]:
    """What a baseline holds: scenario, our contestants, the ratios of CPU time, which are steadier than the clock."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    # On one CPU the ratios are steadiest.
    for run in sorted(runs, key=lambda run: run.pinning == "one"):
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
