"""A job queue over FOR UPDATE SKIP LOCKED: how long `--jobs` jobs of `--milliseconds` take `--workers` workers.

    python -m benchmarks.job_queue postgresql://…/db [postgresql://…/other …] [--rounds 5]

Each worker takes the first job that nobody has, works on it inside its transaction, strikes it off and commits. Given
several servers, their rounds alternate, and each is compared with the last.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time

import psycopg

TAKE = "select id from bench_jobs where state = 'new' order by id for update skip locked limit 1"


def work(dsn: str, start: threading.Barrier, seconds: float, done: list[int]) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        start.wait()
        while True:
            with connection.transaction():
                row = connection.execute(TAKE).fetchone()
                if row is None:
                    return
                time.sleep(seconds)
                connection.execute("update bench_jobs set state = 'done' where id = %s", row)
            done.append(row[0])


def once(dsn: str, jobs: int, workers: int, seconds: float) -> float:
    """How long it takes, in seconds; every job must have been done once."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("drop table if exists bench_jobs")
        connection.execute("create table bench_jobs (id int primary key, state text not null)")
        connection.execute("insert into bench_jobs select g, 'new' from generate_series(1, %s) g", (jobs,))
    start, done = threading.Barrier(workers + 1), list[int]()
    threads = [threading.Thread(target=work, args=(dsn, start, seconds, done)) for _ in range(workers)]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    if sorted(done) != list(range(1, jobs + 1)):
        raise AssertionError(f"{jobs} jobs, and {len(done)} were done, {len(set(done))} of them different ones")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dsn", nargs="+")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--milliseconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    times: dict[str, list[float]] = {dsn: [] for dsn in arguments.dsn}
    for _ in range(arguments.rounds):
        for dsn in arguments.dsn:
            times[dsn].append(once(dsn, arguments.jobs, arguments.workers, arguments.milliseconds / 1000))
    peer = statistics.median(times[arguments.dsn[-1]])
    for dsn, took in times.items():
        median = statistics.median(took)
        print(
            f"{median * 1000:7.0f} ms  ({min(took) * 1000:.0f} to {max(took) * 1000:.0f})  {median / peer:.2f}  {dsn}"
        )


if __name__ == "__main__":
    main()
