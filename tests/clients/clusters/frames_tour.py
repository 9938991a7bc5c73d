"""What Ray and Dask read of a MySQL and of an Informix URL, beside what the server says; prints what differs.

Runs where they are installed: `python frames_tour.py MYSQL_URL INFORMIX_URL`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pandas
import ray
import rowferry.dask
import rowferry.ray
from rowferry import informix, mysql
from rowferry.exceptions import Error

DIFFERENT: list[str] = []


def expect(what: str, found: Any, wanted: Any) -> None:
    """Say what is not as it should be."""
    if found != wanted:
        DIFFERENT.append(f"{what}: {found!r:.500}, not {wanted!r:.500}")


def refused(what: str, act: Any, words: str) -> None:
    try:
        act()
    except Error as error:
        expect(what, words in str(error), True)
    else:
        DIFFERENT.append(f"{what}: is not refused")


def rows_of_frame(frame: Any) -> list[tuple[Any, ...]]:
    computed = frame.compute(scheduler="processes", num_workers=2)
    found = []
    for row in computed.itertuples(index=False):
        found.append(tuple(None if pandas.isna(value) else value for value in row))
    return sorted(found, key=lambda row: row[0])


def main() -> None:
    mysql_url, informix_url = sys.argv[1:]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    columns = "id, country, total, big, note"
    with mysql.connect(mysql_url) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns} FROM orders ORDER BY id")
        shop = list(cursor.fetchall())
    with informix.connect(informix_url) as connection:
        branch = connection.execute("SELECT id, country, total FROM orders ORDER BY id").fetchall()
    for name, url, query, wanted in (
        ("mysql", mysql_url, f"SELECT {columns} FROM orders", shop),
        ("informix", informix_url, "SELECT id, country, total FROM orders", branch),
    ):
        dataset = rowferry.ray.read(url, query=query, on="id", partitions=3, size=300)
        found = [tuple(row.values()) for row in dataset.take_all()]
        expect(f"{name}: rows of Ray", sorted(found), wanted)
        expect(f"{name}: blocks of Ray", dataset.materialize().num_blocks() >= 3, True)
        sums = dataset.groupby("country").count().take_all()
        expect(f"{name}: groups of Ray", sum(row["count()"] for row in sums), len(wanted))
        expect(f"{name}: no rows of Ray", rowferry.ray.read(url, query=f"{query} WHERE id < 0").count(), 0)

        frame = rowferry.dask.read(url, query=query, on="country", partitions=3)
        expect(f"{name}: rows of Dask", rows_of_frame(frame), [tuple(row) for row in wanted])
        frame = rowferry.dask.read(url, table="orders", on="id", partitions=4)
        expect(f"{name}: partitions of Dask", frame.npartitions, 4)
        expect(f"{name}: a sum of Dask", frame.total.sum().compute(scheduler="threads"), sum(row[2] for row in wanted))
        expect(f"{name}: no rows of Dask", len(rowferry.dask.read(url, query=f"{query} WHERE id < 0")), 0)
        refused(f"{name}: no such table", lambda url=url: rowferry.ray.read(url, table="nowhere"), "nowhere")
        refused(
            f"{name}: ranges of nothing", lambda url=url: rowferry.ray.read(url, table="t", partitions=2), "name it"
        )
        refused(f"{name}: the same", lambda url=url: rowferry.dask.read(url, table="orders", partitions=2), "name it")
        refused(f"{name}: neither", lambda url=url: rowferry.dask.read(url), "name one of them")
    ray.shutdown()
    print(json.dumps({"different": DIFFERENT}))


if __name__ == "__main__":
    main()
