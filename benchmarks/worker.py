"""A worker process: one peer, one connection. Obeys JSON lines on standard input, answers on standard output.

{"do": "start", "peer": "asyncmy", "address": {...}, "scenario": "mysql_point_select"}
{"do": "check"}   {"do": "reset"}   {"do": "round"}   {"do": "stop"}
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from typing import Any

from . import peers, results
from .peers.base import Peer, Row, Unsupported
from .scenarios import SCENARIOS, Scenario


class Worker:
    """The peer and the work it repeats."""

    peer: Peer
    scenario: Scenario
    address: dict[str, Any]
    sql: str

    def start(self, peer: str, address: dict[str, Any], scenario: str) -> dict[str, Any]:
        """Connect."""
        self.scenario = SCENARIOS[scenario]
        self.address = address
        self.peer = peers.load(peer)
        self.sql = self.scenario.sql_for(self.peer)
        self.peer.connect(address)
        return {"version": self.peer.version(), "pid": os.getpid()}

    def _work(self) -> Any:
        """Do the work once: rows, or None for verbs that bring none."""
        scenario, peer, parameters = self.scenario, self.peer, self.scenario.parameters
        match scenario.work:
            case "select" | "select_interleaved" | "select_arrow":
                return getattr(peer, scenario.work)(self.sql, parameters)
            case "select_concurrently" | "select_pooled" | "select_connecting":
                return getattr(peer, scenario.work)(self.sql, parameters, scenario.width)
            case "write" | "write_autocommit" | "write_each" | "write_alone":
                return getattr(peer, scenario.work)(self.sql, parameters)
            case "work_beside":
                return peer.work_beside(self.address, self.sql, parameters, scenario.width, scenario.beside)
            case "connect_each" | "acquire_each":
                return getattr(peer, scenario.work)(self.address, len(parameters))
        raise ValueError(f"no peer has the verb {scenario.work}")

    def check(self) -> dict[str, Any]:
        """Do the work, and describe its rows so that equal values are equal, whatever Python types they have."""
        scenario = self.scenario
        self.reset()
        found = self._work()
        if not self.peer.brings_rows:
            return {"rows": None, "digest": None, "first": None}
        if scenario.read_back is not None:
            found = self.peer.select(scenario.read_back, [()])
        elif found is None:
            found = self.peer.select(self.sql, scenario.parameters[:1])
        return results.describe(_rows(found))

    def reset(self) -> dict[str, Any]:
        """Undo what a round wrote."""
        reset = self.scenario.reset or ()
        for statement in (reset,) if isinstance(reset, str) else reset:
            self.peer.execute(statement)
        return {}

    def round(self) -> dict[str, Any]:
        """Do the work once and say what it took."""
        cpu = time.process_time_ns() + self.peer.helpers_cpu_ns()
        wall = time.perf_counter_ns()
        rows = self._work()
        wall = time.perf_counter_ns() - wall
        cpu = time.process_time_ns() + self.peer.helpers_cpu_ns() - cpu
        # Freeing the rows is the caller's business, not the driver's, and happens outside the clock.
        del rows
        return {"wall_ns": wall, "cpu_ns": cpu}

    def stop(self) -> dict[str, Any]:
        """Close the connection; the process then ends."""
        self.peer.close()
        return {}


def _rows(runs: list[Any]) -> list[list[Row]]:
    """The rows of every run; an Arrow table as the tuples that it stands for."""
    return [run if isinstance(run, list | tuple) else list(zip(*run.to_pydict().values(), strict=True)) for run in runs]


def main() -> None:
    """Serve orders until told to stop, or until the harness goes away."""
    # Whatever a driver prints must not end up between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = Worker()
    for line in sys.stdin:
        order = json.loads(line)
        verb = order.pop("do")
        try:
            answer = getattr(worker, verb)(**order)
        except (ImportError, Unsupported) as error:
            answer = {"missing": str(error)}
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        print(json.dumps(answer), file=answers)
        if verb == "stop":
            break


if __name__ == "__main__":
    main()
