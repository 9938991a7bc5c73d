"""procrastinate, a job queue: its schema, jobs with locks, retries and schedules, a worker that LISTENs."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
from collections.abc import AsyncIterator
from typing import Any

import procrastinate
import psycopg
import tour
from procrastinate import exceptions, jobs, utils

done: list[str] = []
#: Seconds that a loaded machine may take for anything.
PATIENCE = 60


class Connector(procrastinate.PsycopgConnector):
    """A pool of connections that says when a worker listens: the library tells nobody."""

    listening: asyncio.Event | None = None

    async def _loop_notify(self, *args: Any, **kwargs: Any) -> None:
        # It is called once each LISTEN has been answered.
        if self.listening:
            self.listening.set()
        await super()._loop_notify(*args, **kwargs)


def application(url: str) -> procrastinate.App:
    """The tasks, on a pool of connections."""
    app = procrastinate.App(connector=Connector(conninfo=url, min_size=1, max_size=4))
    attempts: dict[int, int] = {}

    @app.task(name="add", queue="sums")
    async def add(a: int, b: int) -> int:
        done.append(f"add {a + b}")
        return a + b

    @app.task(name="flaky", queue="flaky", retry=procrastinate.RetryStrategy(max_attempts=3, wait=0), pass_context=True)
    async def flaky(context: procrastinate.JobContext, until: int) -> None:
        attempts[context.job.id or 0] = attempts.get(context.job.id or 0, 0) + 1
        done.append(f"flaky {context.job.attempts}")
        if attempts[context.job.id or 0] < until:
            raise RuntimeError("not yet")

    @app.task(name="fails", queue="fails")
    async def fails() -> None:
        raise ValueError("always")

    @app.task(name="tick", queue="ticks", pass_context=True)
    async def tick(context: procrastinate.JobContext, timestamp: int) -> None:
        done.append("tick")

    return app


@contextlib.asynccontextmanager
async def opened(url: str) -> AsyncIterator[procrastinate.App]:
    """The application with no jobs: what an earlier step has left, or failed to, is nothing to this one."""
    with psycopg.connect(url) as connection:
        connection.execute("truncate procrastinate_jobs restart identity cascade")
    done.clear()
    app = application(url)
    async with app.open_async():
        yield app


async def schema(url: str) -> None:
    """Its own schema, applied as its command does."""
    app = application(url)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        tour.show(await app.check_connection_async())
    with psycopg.connect(url) as connection:
        for query in [
            "select table_name, column_name, data_type, column_default from information_schema.columns"
            " where table_name like 'procrastinate%' order by 1, ordinal_position",
            "select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1",
            "select proname, pg_get_function_arguments(oid), pg_get_function_result(oid) from pg_proc"
            " where proname like 'procrastinate%' order by 1, 2",
            "select indexdef from pg_indexes where tablename like 'procrastinate%' order by 1",
            "select conname, pg_get_constraintdef(oid) from pg_constraint"
            " where conrelid::regclass::text like 'procrastinate%' order by 1",
        ]:
            for row in connection.execute(query):
                tour.show(*row)


async def work(app: procrastinate.App, queues: list[str]) -> None:
    """Work until nothing is left to do."""
    await asyncio.wait_for(
        app.run_worker_async(queues=queues, wait=False, install_signal_handlers=False, name="tour"), timeout=PATIENCE
    )


def told(url: str) -> None:
    """The jobs and what happened to them."""
    with psycopg.connect(url) as connection:
        jobs_ = "select id, queue_name, task_name, lock, queueing_lock, args, status, attempts from procrastinate_jobs"
        for row in connection.execute(f"{jobs_} order by id"):
            tour.show(*row)
        for row in connection.execute("select job_id, type from procrastinate_events order by job_id, id"):
            tour.show(*row)


async def deferred_jobs_are_worked_off(url: str) -> None:
    """One by one, in bulk, with priorities."""
    async with opened(url) as app:
        await app.configure_task("add").defer_async(a=1, b=2)
        await app.configure_task("add").batch_defer_async({"a": 3, "b": 4}, {"a": 5, "b": 6})
        await app.configure_task("add", priority=10).defer_async(a=0, b=0)
        await app.configure_task("add", schedule_in={"hours": 1}).defer_async(a=9, b=9)
        done.clear()
        await work(app, ["sums"])
    tour.show(done)
    told(url)


async def retries(url: str) -> None:
    """A task that fails twice, and one that always does."""
    async with opened(url) as app:
        await app.configure_task("flaky").defer_async(until=3)
        await app.configure_task("fails").defer_async()
        for _ in range(4):
            await work(app, ["flaky", "fails"])
    tour.show(done)
    told(url)


async def locks(url: str) -> None:
    """Jobs of one lock run one after the other, a queueing lock lets one wait."""
    async with opened(url) as app:
        for number in range(3):
            await app.configure_task("add", lock="one").defer_async(a=number, b=0)
        await app.configure_task("add", queueing_lock="only").defer_async(a=7, b=0)
        try:
            await app.configure_task("add", queueing_lock="only").defer_async(a=8, b=0)
        except exceptions.AlreadyEnqueued as error:
            tour.show(type(error).__name__, error)
        worker = await app.job_manager.register_worker()
        first = await app.job_manager.fetch_job(queues=["sums"], worker_id=worker)
        second = await app.job_manager.fetch_job(queues=["sums"], worker_id=worker)
        third = await app.job_manager.fetch_job(queues=["sums"], worker_id=worker)
        tour.show([job and (job.task_kwargs, job.lock, job.status) for job in [first, second, third]])
        for job in [first, second]:
            if job:
                await app.job_manager.finish_job(job, jobs.Status.SUCCEEDED, delete_job=False)
        done.clear()
        await work(app, ["sums"])
    tour.show(done)
    told(url)


async def a_worker_hears_of_new_jobs(url: str) -> None:
    """It waits for notifications: jobs that come later are worked off at once."""
    async with opened(url) as app:
        assert isinstance(app.connector, Connector)
        app.connector.listening = asyncio.Event()
        idle = asyncio.Event()
        fetch = app.job_manager.fetch_job

        async def fetching(*args: Any, **kwargs: Any) -> jobs.Job | None:
            job = await fetch(*args, **kwargs)
            if job is None:
                idle.set()
            return job

        app.job_manager.fetch_job = fetching  # type: ignore[method-assign]
        worker = asyncio.create_task(
            app.run_worker_async(queues=["sums"], fetch_job_polling_interval=600, install_signal_handlers=False)
        )
        try:
            await asyncio.wait_for(app.connector.listening.wait(), PATIENCE)
            for number in range(5):
                # A worker forgets what it is told while it fetches, and would look again in ten minutes.
                await asyncio.wait_for(idle.wait(), PATIENCE)
                idle.clear()
                await app.configure_task("add").defer_async(a=number, b=number)
            await asyncio.wait_for(idle.wait(), PATIENCE)
        finally:
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
    tour.show(done)
    told(url)


async def aborting_and_cancelling(url: str) -> None:
    """Jobs are cancelled before they run, deleted, asked for by their state."""
    async with opened(url) as app:
        manager = app.job_manager
        one = await app.configure_task("add").defer_async(a=1, b=1)
        two = await app.configure_task("add").defer_async(a=2, b=2)
        tour.show(await manager.cancel_job_by_id_async(one), await manager.get_job_status_async(one))
        tour.show(await manager.cancel_job_by_id_async(two, delete_job=True))
        tour.show([(job.id, job.status) for job in await manager.list_jobs_async()])
        three = await app.configure_task("add").defer_async(a=3, b=3)
        worker = await manager.register_worker()
        job = await manager.fetch_job(queues=None, worker_id=worker)
        tour.show(job and job.id == three, await manager.cancel_job_by_id_async(three, abort=True))
        if job:
            tour.show(await manager.list_jobs_to_abort_async())
            await manager.finish_job(job, jobs.Status.ABORTED, delete_job=False)
        tour.show(await manager.list_queues_async())
        tour.show(await manager.list_tasks_async())
        tour.show(await manager.list_locks_async())
        await manager.unregister_worker(worker)
    told(url)


async def stalled_and_retried(url: str) -> None:
    """What a worker that is gone has left is found and tried again; a job of a wrong state cannot finish."""
    async with opened(url) as app:
        manager = app.job_manager
        identifier = await app.configure_task("add").defer_async(a=1, b=1)
        worker = await manager.register_worker()
        job = await manager.fetch_job(queues=None, worker_id=worker)
        assert job
        await manager.unregister_worker(worker)
        stalled = list(await manager.get_stalled_jobs())
        tour.show([found.id == identifier for found in stalled])
        await manager.retry_job(job, retry_at=utils.utcnow() - datetime.timedelta(hours=1), priority=3, queue="other")
        tour.show([(found.status, found.priority, found.queue) for found in await manager.list_jobs_async()])
        try:
            await manager.finish_job(job, jobs.Status.SUCCEEDED, delete_job=False)
        except exceptions.ConnectorException as error:
            tour.show(type(error).__name__, str(error.__cause__).splitlines()[0])
    told(url)


async def periodic(url: str) -> None:
    """Each tick is deferred once, however many workers there are."""
    async with opened(url) as app:
        for _ in range(2):
            tour.show(
                bool(
                    await app.job_manager.defer_periodic_job(
                        job=app.tasks["tick"].configure(task_kwargs={"timestamp": 1_700_000_000}).job,
                        periodic_id="each",
                        defer_timestamp=1_700_000_000,
                    )
                )
            )
        tour.show(await app.job_manager.delete_old_jobs(nb_hours=1))
    told(url)


def as_its_command_does(url: str) -> None:
    """What `procrastinate healthchecks` looks at, and the functions called by hand."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows: Any = connection.execute(
            "select procrastinate_defer_jobs_v1(array[row('q', 't', 0, 'l', 'ql', '{\"a\": 1}', null)"
            "::procrastinate_job_to_defer_v1])"
        ).fetchall()
        tour.show(len(rows[0][0]))
        for statement in [
            "update procrastinate_jobs set status = 'doing'",
            "delete from procrastinate_jobs",
            "select type from procrastinate_events order by id",
        ]:
            cursor = connection.execute(statement)
            tour.show(cursor.statusmessage, cursor.fetchall() if cursor.description else "")


if __name__ == "__main__":
    tour.run(
        [
            schema,
            deferred_jobs_are_worked_off,
            retries,
            locks,
            a_worker_hears_of_new_jobs,
            aborting_and_cancelling,
            stalled_and_retried,
            periodic,
            as_its_command_does,
        ]
    )
