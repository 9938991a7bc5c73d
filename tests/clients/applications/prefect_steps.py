"""The server's migrations, a flow with tasks one after another and at once, and what the server tells of them."""

import asyncio
import os
import subprocess
import sys

url, scratch = sys.argv[1:]
os.environ.update(
    PREFECT_HOME=scratch, PREFECT_API_DATABASE_CONNECTION_URL=url, PREFECT_SERVER_ANALYTICS_ENABLED="false"
)
subprocess.run(["prefect", "server", "database", "upgrade", "-y"], check=True)

from prefect import flow, task  # noqa: E402 - it reads its settings as it is imported.
from prefect.client.orchestration import get_client  # noqa: E402


@task(retries=1)
def add(a, b):
    return a + b


@flow
def work(n):
    total = 0
    for i in range(n):
        total = add(total, i)
    return total + sum(future.result() for future in [add.submit(i, i) for i in range(5)])


async def told():
    async with get_client() as client:
        runs = await client.read_flow_runs()
        assert [run.state.type.value for run in runs] == ["COMPLETED"]
        return len(await client.read_task_runs())


if __name__ == "__main__":
    assert work(4) == 26
    print(f"{asyncio.run(told())} task runs")
