"""CPU time and CPU affinity of processes, to the nanosecond where Linux tells it."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path


def process_cpu_ns(pid: int) -> int:
    """CPU time that process `pid` has used so far in all its threads, ended ones included, in nanoseconds."""
    # clock_getcpuclockid(3) is this arithmetic: the complement of the pid, shifted, with 2 for the scheduler's clock.
    return time.clock_gettime_ns((~pid << 3) | 2)


def pin(pid: int, cpus: set[int]) -> None:
    """Confine every thread of process `pid` to `cpus`; threads it makes later inherit that."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        # A thread may end while we look.
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), cpus)


def available_cpus() -> list[int]:
    """The CPUs this process may use, in ascending order."""
    return sorted(os.sched_getaffinity(0))
