"""Figures from samples, as JSON for programs and Markdown for people."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from .compare import beside_postgresql, goals, ratio, reference
from .harness import Outcome, Run

PINNINGS = {
    "one": "Client and server on one CPU: what an operation costs",
    "two": "Client and server on a CPU each",
    "none": "Not pinned: what a user sees, wake-ups of the other CPU included",
}


def summarise(values: Sequence[float]) -> dict[str, float]:
    """Median and interquartile range."""
    if len(values) < 2:
        return {"median": values[0], "iqr": 0.0}
    quartiles = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": statistics.median(values), "iqr": quartiles[2] - quartiles[0]}


def as_json(machine: dict[str, Any], runs: Iterable[Run]) -> dict[str, Any]:
    """Everything that was measured, samples included; times in nanoseconds per operation."""
    return {"machine": machine, "runs": [_run_json(run) for run in runs]}


def _run_json(run: Run) -> dict[str, Any]:
    compared = reference(run)
    return {
        "scenario": run.scenario.name,
        "title": run.scenario.title,
        "operations_per_round": run.scenario.operations,
        "rows_per_round": run.scenario.rows,
        "pinning": run.pinning,
        "reference": run.scenario.reference.name,
        "contestants": [_outcome_json(outcome, compared) for outcome in run.outcomes],
    }


def _outcome_json(outcome: Outcome, compared: Outcome | None) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": outcome.contestant.name,
        "version": outcome.version,
        "server": outcome.server,
    }
    if outcome.skipped is not None:
        return {**described, "skipped": outcome.skipped}
    if outcome.failed is not None:
        return {**described, "failed": outcome.failed}
    server = [sample.server_cpu for sample in outcome.samples if sample.server_cpu is not None]
    return {
        **described,
        "wall_ns": summarise([sample.wall for sample in outcome.samples]),
        "client_cpu_ns": summarise([sample.client_cpu for sample in outcome.samples]),
        "server_cpu_ns": summarise(server) if server else None,
        "ratio": ratio(outcome, compared),
        "client_cpu_ratio": ratio(outcome, compared, "client CPU"),
        "samples": [vars(sample) for sample in outcome.samples],
    }


def as_markdown(machine: dict[str, Any], runs: Sequence[Run]) -> str:
    """The report, a table per scenario and pinning."""
    lines = [
        "# Benchmarks",
        "",
        f"Measured {machine['when']} on {machine['cpu']}, {machine['cpus']} CPUs, {machine['memory_mb']:,} MB, "
        f"Linux {machine['kernel']}, Python {machine['python']}, revision {machine['revision']}, "
        f"load average {machine['load_average'][0]} before the run.",
        "",
        "One worker process per contestant, rounds interleaved in rotated order; equal rows were checked first. "
        "Times are per operation: median ± interquartile range over the rounds. The ratio compares with the "
        "reference in the same round (below 1 is faster). Read ratios; absolute times are this machine's.",
    ]
    lines += _goals(runs)
    lines += _beside(runs)
    for run in runs:
        lines += ["", f"## {run.scenario.title}", "", f"{PINNINGS[run.pinning]}.", ""]
        lines += [*run.scenario.notes, ""]
        lines += _table(run)
    return "\n".join(lines) + "\n"


def _goals(runs: Sequence[Run]) -> list[str]:
    found = goals(runs)
    if not found:
        return []
    lines = [
        "",
        "## Goals",
        "",
        "The best variant of a driver counts, on both sides.",
        "",
        "| scenario | pinning | | goal | measured | |",
        "|---|---|---|---:|---:|---|",
    ]
    for one in found:
        words = f"{one.goal.metric} of {one.peer} by {one.other}"
        met = "met" if one.met else "**missed**"
        lines.append(
            f"| {one.goal.scenario} | {one.pinning} | {words} | {one.goal.at_most:.3g} | {one.ratio:.3f} | {met} |"
        )
    return lines


def _beside(runs: Sequence[Run]) -> list[str]:
    found = [one for one in beside_postgresql(runs) if len(one.ratios) > 1]
    if not found:
        return []
    lines = [
        "",
        "## Beside PostgreSQL",
        "",
        "Each driver's time at our door by its time at PostgreSQL: geometric mean over the kinds of work, the three",
        "where it loses most or wins least, and in how many it loses. *Client alone* is a server that takes no time:",
        "the client's own CPU time at our door by the time at PostgreSQL, below which a shared CPU lets nobody.",
        "",
        "| driver | pinning | kinds of work | mean | client alone | the dearest | slower in |",
        "|---|---|---:|---:|---:|---|---:|",
    ]
    for one in found:
        dearest = sorted(one.ratios.items(), key=lambda item: -item[1])[:3]
        words = ", ".join(f"{name.removeprefix('postgres_')} {value:.2f}" for name, value in dearest)
        slower = sum(value > 1 for value in one.ratios.values())
        means = f"{one.mean:.2f} | {one.floor:.2f}"
        lines.append(f"| {one.peer} | {one.pinning} | {len(one.ratios)} | {means} | {words} | {slower} |")
    return lines


def _table(run: Run) -> list[str]:
    compared = reference(run)
    lines = [
        f"| contestant | time per {run.scenario.unit} | ratio to {run.scenario.reference.peer} "
        "| client CPU | server CPU | version |",
        "|---|---:|---:|---:|---:|---|",
    ]
    measured = [outcome for outcome in run.outcomes if outcome.samples]
    for outcome in sorted(measured, key=lambda outcome: statistics.median(s.wall for s in outcome.samples)):
        wall = summarise([sample.wall for sample in outcome.samples])
        client = summarise([sample.client_cpu for sample in outcome.samples])
        samples = [sample.server_cpu for sample in outcome.samples if sample.server_cpu is not None]
        server = time_text(summarise(samples)["median"]) if samples else "—"
        times = ratio(outcome, compared)
        lines.append(
            f"| {outcome.contestant.name} | {time_text(wall['median'])} ± {time_text(wall['iqr'])} "
            f"| {'—' if times is None else f'{times:.2f}'} "
            f"| {time_text(client['median'])} | {server} | {outcome.version} |"
        )
    for outcome in run.outcomes:
        if outcome.failed is not None:
            lines.append(f"| {outcome.contestant.name} | **failed** | | | | {_cell(outcome.failed)} |")
        elif outcome.skipped is not None:
            lines.append(f"| {outcome.contestant.name} | skipped | | | | {_cell(outcome.skipped)} |")
    return lines


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())[:200]


def time_text(nanoseconds: float) -> str:
    """A time for people."""
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if nanoseconds >= size:
            return (
                f"{nanoseconds / size:.3g} {unit}" if nanoseconds < 100 * size else f"{nanoseconds / size:.0f} {unit}"
            )
    return f"{nanoseconds / 1e3:.3g} µs"
