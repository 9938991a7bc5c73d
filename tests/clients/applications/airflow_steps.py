"""Airflow whole (scheduler, executor of processes, reader of DAGs, triggerer, API) with a DAG of mapped tasks."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

url, scratch = sys.argv[1:]
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
dags = Path(scratch) / "dags"
dags.mkdir()
(dags / "work.py").write_text(
    """
from datetime import datetime
from airflow.sdk import dag, task

@dag(schedule=None, start_date=datetime(2024, 1, 1), catchup=False, max_active_runs=4)
def work():
    @task
    def numbers():
        return [1, 2, 3]

    @task
    def twice(x):
        return x * 2

    @task
    def total(xs):
        return sum(xs)

    total(twice.expand(x=numbers()))

work()
"""
)
os.environ.update(
    AIRFLOW_HOME=scratch,
    AIRFLOW__CORE__LOAD_EXAMPLES="False",
    AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=url,
    AIRFLOW__API__PORT=str(port),
    AIRFLOW__CORE__EXECUTION_API_SERVER_URL=f"http://127.0.0.1:{port}/execution/",
    AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL="5",
)


def airflow(*words):
    return subprocess.run(["airflow", *words], check=True, capture_output=True, text=True).stdout


def runs():
    # Its log may stand above.
    lines = airflow("dags", "list-runs", "work", "-o", "json").splitlines()
    return [run["state"] for run in json.loads(next(line for line in reversed(lines) if line.startswith("[{")))]


def until(what, seconds=240):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(subprocess.CalledProcessError, StopIteration):
            if what():
                return
        time.sleep(3)
    raise SystemExit(f"not within {seconds} s: {what.__name__}")


def is_known():
    return '"work"' in airflow("dags", "list", "-o", "json")


def is_done():
    states = runs()
    return len(states) == 4 and not {"queued", "running"} & set(states)


log = Path(scratch) / "airflow.log"
with log.open("w") as out:
    whole = subprocess.Popen(["airflow", "standalone"], stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
try:
    until(is_known)
    airflow("dags", "unpause", "work")
    for _ in range(4):
        airflow("dags", "trigger", "work")
    until(is_done)
    states = runs()
finally:
    os.killpg(whole.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        whole.wait(30)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(whole.pid, signal.SIGKILL)
broken = [line for line in log.read_text().splitlines() if "OperationalError" in line or "NotSupportedError" in line]
print(*broken, sep="\n")
print(f"{'no' if broken else states.count('success')} runs succeeded")
