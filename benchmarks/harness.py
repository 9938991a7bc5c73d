"""Runs scenarios: a worker process per contestant, interleaved rounds in rotated order, equal rows before and after."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import cpu, peers, spell
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

    def __init__(self, command: Sequence[str] | None, first: str | None = None) -> None:
        #: It is no Python: it is told what to do in full, and lives on through the scenarios, as warming up is dear.
        self.is_foreign = command is not None
        start = ["-m", "benchmarks.worker"]
        if first is not None:
            # Even before what `-m` imports. A module that is missing is the peer's to report.
            start = [
                "-c",
                f"""\
import contextlib, runpy
with contextlib.suppress(ImportError):
    import {first}
runpy.run_module("benchmarks.worker", run_name="__main__")""",
            ]
        self._popen = subprocess.Popen(
            command or [sys.executable, *start],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # ResourceWarning and the like are not this program's business.
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )

    @property
    def is_over(self) -> bool:
        """True when the process has ended."""
        return self._popen.poll() is not None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

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


class Foreigners(contextlib.ExitStack):
    """Workers that are no Python, by peer, started when first needed."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, _Worker] = {}

    def hire(self, peer: str) -> _Worker | None:
        """The worker of `peer`; None when it is a driver for Python. Raises `Missing` when it cannot be had."""
        worker = self._workers.get(peer)
        if worker is None or worker.is_over:
            try:
                command = peers.command(peer)
            except ImportError as missing:
                raise Missing(str(missing)) from None
            if command is None:
                return None
            worker = _Worker(command)
            self.callback(worker.end)
            self._workers[peer] = worker
        return worker


def run(
    scenario: Scenario,
    targets: Targets,
    foreigners: Foreigners,
    *,
    rounds: int,
    pinning: str,
    only: Sequence[str] = (),
    say: Callable[[str], None] = lambda line: None,
) -> Run:
    """Measure `scenario` with `rounds` rounds.

    `pinning` is `one` (client and server share a CPU: what an operation costs), `two` (a CPU each) or `none`.
    `only` limits the contestants to these names.
    """
    outcomes = [Outcome(contestant) for contestant in scenario.contestants if not only or contestant.peer in only]
    workers: dict[Contestant, tuple[_Worker, Target]] = {}
    try:
        for outcome in outcomes:
            _start(outcome, scenario, targets, foreigners, pinning, workers)
            if outcome.skipped:
                say(f"  {outcome.contestant.name}: {outcome.skipped}")
        _compare(outcomes, scenario, workers)
        rounds = min(rounds, scenario.most_rounds or rounds)
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
        # Whoever answers otherwise once it is warm, or has spoilt its data, has measured something else.
        _compare(outcomes, scenario, workers)
        for outcome in outcomes:
            if outcome.failed:
                outcome.samples.clear()
                say(f"  {outcome.contestant.name}: {outcome.failed}")
    finally:
        for worker, _ in workers.values():
            if not worker.is_foreign:
                worker.end()
    return Run(scenario, pinning, outcomes)


def _start(
    outcome: Outcome,
    scenario: Scenario,
    targets: Targets,
    foreigners: Foreigners,
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
        worker = foreigners.hire(contestant.peer) or _Worker(None, peers.first(contestant.peer))
        workers[contestant] = (worker, target)
        cpu.pin(worker.pid, client_cpus)
        if worker.is_foreign:
            order = spell.out(scenario)
        else:
            order = {"peer": contestant.peer, "scenario": scenario.name}
        answer = worker.ask("start", address=target.address, **order)
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
            except Missing as missing:
                outcome.skipped = str(missing)
            except WorkerFailed as failure:
                outcome.failed = str(failure)
    if not answers:
        return
    compared = {contestant: answer for contestant, answer in answers.items() if answer["digest"] is not None}
    if not compared:
        return
    expected = compared.get(scenario.reference) or next(iter(compared.values()))
    for outcome in outcomes:
        answer = compared.get(outcome.contestant)
        if answer is None:
            continue
        if answer["rows"] != (scenario.rows if scenario.rows is not None else expected["rows"]):
            outcome.failed = f"returned {answer['rows']} rows instead of {scenario.rows or expected['rows']}"
        elif answer["digest"] != expected["digest"]:
            outcome.failed = f"rows differ: first row {answer['first']}, expected {expected['first']}"


def _round(worker: _Worker, target: Target, scenario: Scenario) -> Sample:
    if scenario.reset is not None:
        worker.ask("reset")
    before, clock = target.cpu_ns(), cpu.process_cpu_ns(worker.pid)
    answer = worker.ask("round")
    after, client = target.cpu_ns(), cpu.process_cpu_ns(worker.pid) - clock
    operations = scenario.operations
    return Sample(
        wall=answer["wall_ns"] / operations,
        # A process without a good clock of its own is looked at from here: compilers and collectors included.
        client_cpu=answer.get("cpu_ns", client) / operations,
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
