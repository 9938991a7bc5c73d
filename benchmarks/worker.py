"""A worker process: one peer, one connection. Obeys JSON lines on standard input, answers on standard output.

{"do": "start", "peer": "asyncmy", "address": {...}, "scenario": "mysql_point_select"}
{"do": "pin", "cpus": [0]}
{"do": "check"}   {"do": "round"}   {"do": "stop"}
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from typing import Any

from . import peers, results
from .peers.base import Peer
from .scenarios import SCENARIOS, Scenario


class Worker:
    """The peer and the work it repeats."""

    peer: Peer
    scenario: Scenario
    sql: str

    def start(self, peer: str, address: dict[str, Any], scenario: str) -> dict[str, Any]:
        """Connect and run the work once, so that caches are warm."""
        self.scenario = SCENARIOS[scenario]
        self.peer = peers.load(peer)
        self.sql = self.scenario.sql_for(self.peer)
        self.peer.connect(address)
        return {"version": self.peer.version(), "pid": os.getpid()}

    def pin(self, cpus: list[int]) -> dict[str, Any]:
        """Run on these CPUs only."""
        os.sched_setaffinity(0, set(cpus))
        return {}

    def check(self) -> dict[str, Any]:
        """Run the work and describe its rows so that equal values are equal, whatever Python types they have."""
        if self.scenario.read_back is None:
            return results.describe(self.peer.select(self.sql, self.scenario.parameters))
        self.reset()
        self.peer.write(self.sql, self.scenario.parameters)
        return results.describe(self.peer.select(self.scenario.read_back, [()]))

    def reset(self) -> None:
        """Undo what a round wrote."""
        if self.scenario.reset is not None:
            self.peer.execute(self.scenario.reset)

    def round(self) -> dict[str, Any]:
        """Run the work once and say what it took."""
        parameters = self.scenario.parameters
        self.reset()
        work = self.peer.select if self.scenario.read_back is None else self.peer.write
        cpu = time.process_time_ns()
        wall = time.perf_counter_ns()
        rows = work(self.sql, parameters)
        wall = time.perf_counter_ns() - wall
        cpu = time.process_time_ns() - cpu
        # Freeing the rows is the caller's business, not the driver's, and happens outside the clock.
        del rows
        return {"wall_ns": wall, "cpu_ns": cpu}

    def stop(self) -> dict[str, Any]:
        """Close the connection; the process then ends."""
        self.peer.close()
        return {}


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
        except ImportError as error:
            answer = {"missing": str(error)}
        except BaseException as error:
            answer = {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        print(json.dumps(answer), file=answers)
        if verb == "stop":
            break


if __name__ == "__main__":
    main()
