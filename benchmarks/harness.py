"""Runs scenarios: a worker process per contestant, interleaved rounds in rotated order, equal rows or no figures."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import cpu
from .scenarios import Contestant, Scenario
from .targets import Missing, Target, Targets

_ROOT = Path(__file__).resolve().parents[1]
#: A worker that does not answer for so long is taken for hung, in seconds.
_PATIENCE = 120


class WorkerFailed(Exception):
    """A contestant could not do the work."""


@dataclass
class Sample:
    """One round of one contestant, in nanoseconds per operation."""

    wall: float
    client_cpu: float
    #: None where there is no server.
    server_cpu: float | None


@dataclass
class Outcome:
    """All rounds of one contestant, or why there are none."""

    contestant: Contestant
    version: str = ""
    server: str = ""
    samples: list[Sample] = field(default_factory=list)
    skipped: str | None = None
    failed: str | None = None


@dataclass
class Run:
    """One scenario under one pinning."""

    scenario: Scenario
    pinning: str
    outcomes: list[Outcome]


class _Worker:
    """A worker process as the harness sees it."""

    def __init__(self) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # ResourceWarning and the like are not this program's business.
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )

    def ask(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Send one order and return the answer; raises `WorkerFailed` or `Missing`."""
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self._popen.stdin.write(json.dumps({"do": verb, **arguments}).encode() + b"\n")
        self._popen.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self._popen.stdout, selectors.EVENT_READ)
            if not selector.select(_PATIENCE):
                raise WorkerFailed(f"no answer to `{verb}` within {_PATIENCE} s")
        line = self._popen.stdout.readline()
        if not line:
            raise WorkerFailed(f"the worker ended with {self._popen.wait(10)} during `{verb}`")
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            raise Missing(answer["missing"])
        if "error" in answer:
            raise WorkerFailed(answer["error"])
        return answer

    def end(self) -> None:
        """Stop the process, kindly if it listens."""
        try:
            if self._popen.poll() is None:
                self.ask("stop")
                self._popen.wait(10)
        except (WorkerFailed, OSError, subprocess.TimeoutExpired):
            self._popen.kill()
            self._popen.wait(10)


def run(
    scenario: Scenario,
    targets: Targets,
    *,
    rounds: int,
    pinning: str,
    peers: Sequence[str] = (),
    say: Callable[[str], None] = lambda line: None,
) -> Run:
    """Measure `scenario` with `rounds` rounds.

    `pinning` is `one` (client and server share a CPU: what an operation costs), `two` (a CPU each) or `none`.
    `peers` limits the contestants to these names.
    """
    outcomes = [Outcome(contestant) for contestant in scenario.contestants if not peers or contestant.peer in peers]
    workers: dict[Contestant, tuple[_Worker, Target]] = {}
    try:
        for outcome in outcomes:
            _start(outcome, scenario, targets, pinning, workers)
            if outcome.skipped or outcome.failed:
                say(f"  {outcome.contestant.name}: {outcome.skipped or outcome.failed}")
        _compare(outcomes, scenario, workers)
        for number in range(rounds):
            live = [outcome for outcome in outcomes if outcome.failed is None and outcome.skipped is None]
            # Rotate, so that nobody always runs after the same neighbour or first on a cold machine.
            start = number % max(len(live), 1)
            for outcome in live[start:] + live[:start]:
                worker, target = workers[outcome.contestant]
                try:
                    outcome.samples.append(_round(worker, target, scenario))
                except WorkerFailed as failure:
                    outcome.failed = str(failure)
                    outcome.samples.clear()
            say(f"  round {number + 1} of {rounds}")
    finally:
        for worker, _ in workers.values():
            worker.end()
    return Run(scenario, pinning, outcomes)


def _start(
    outcome: Outcome,
    scenario: Scenario,
    targets: Targets,
    pinning: str,
    workers: dict[Contestant, tuple[_Worker, Target]],
) -> None:
    contestant = outcome.contestant
    client_cpus, server_cpus = _cpus(pinning)
    try:
        target = targets.get(contestant.target)
        outcome.server = target.version
        # Before the connection is made: servers hand their affinity down to the thread or process of a connection.
        target.pin(server_cpus)
        worker = _Worker()
        workers[contestant] = (worker, target)
        worker.ask("pin", cpus=sorted(client_cpus))
        answer = worker.ask("start", peer=contestant.peer, address=target.address, scenario=scenario.name)
        outcome.version = answer["version"]
    except Missing as missing:
        outcome.skipped = str(missing)
    except Exception as failure:
        outcome.failed = str(failure)


def _compare(outcomes: list[Outcome], scenario: Scenario, workers: dict[Contestant, tuple[_Worker, Target]]) -> None:
    """Mark as failed whoever returns other rows than the scenario's reference (or the first contestant that works)."""
    answers: dict[Contestant, dict[str, Any]] = {}
    for outcome in outcomes:
        if outcome.failed is None and outcome.skipped is None:
            try:
                answers[outcome.contestant] = workers[outcome.contestant][0].ask("check")
            except WorkerFailed as failure:
                outcome.failed = str(failure)
    if not answers:
        return
    expected = answers.get(scenario.reference) or next(iter(answers.values()))
    for outcome in outcomes:
        answer = answers.get(outcome.contestant)
        if answer is None:
            continue
        if answer["rows"] != scenario.rows:
            outcome.failed = f"returned {answer['rows']} rows instead of {scenario.rows}"
        elif answer["digest"] != expected["digest"]:
            outcome.failed = f"rows differ: first row {answer['first']}, expected {expected['first']}"


def _round(worker: _Worker, target: Target, scenario: Scenario) -> Sample:
    before = target.cpu_ns()
    answer = worker.ask("round")
    after = target.cpu_ns()
    operations = scenario.operations
    return Sample(
        wall=answer["wall_ns"] / operations,
        client_cpu=answer["cpu_ns"] / operations,
        server_cpu=(after - before) / operations if target.pids() else None,
    )


def _cpus(pinning: str) -> tuple[set[int], set[int]]:
    """The CPUs of clients and of servers."""
    available = cpu.available_cpus()
    if pinning == "one":
        return {available[-1]}, {available[-1]}
    if pinning == "two" and len(available) > 1:
        return {available[-1]}, {available[-2]}
    return set(available), set(available)
