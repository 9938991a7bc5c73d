"""Loads by dlt, in each of its file formats: merges by key, upserts, histories, appends, replacements."""

import datetime
import decimal
import os
import sys

os.chdir(sys.argv[2])
import dlt  # noqa: E402 (it reads its settings from where it is imported)

# It wants a password, whether or not anybody asks for one.
url = sys.argv[1].replace("rowferry@", "rowferry:none@")
BEGIN = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
CENTS = {"data_type": "decimal", "precision": 12, "scale": 2}


@dlt.resource(write_disposition="merge", primary_key="id", columns={"amount": CENTS})
def orders(load):
    for number in range(2000):
        yield {
            "id": number,
            "amount": decimal.Decimal(number) / 4 + load,
            "at": BEGIN + datetime.timedelta(minutes=number),
            "who": {"name": f"n{number % 7}", "tags": ["a", "é", str(number)]},
            "flag": number % 2 == 0,
            "blob": b"xyz",
            "day": datetime.date(2024, 1, 1 + number % 28),
        }


@dlt.resource(write_disposition={"disposition": "merge", "strategy": "scd2"}, primary_key="id")
def histories(load):
    yield from [{"id": 1, "name": f"x{load}"}, {"id": 2, "name": "y"}]


@dlt.resource(write_disposition={"disposition": "merge", "strategy": "upsert"}, primary_key="id")
def upserts(load):
    # The second load has a column more.
    yield from [{"id": 1, "name": f"x{load}"}, {"id": 2 + load, "name": "y", **({"extra": 1.5} if load else {})}]


@dlt.resource(write_disposition="append")
def log(load):
    yield {"load": load, "time": datetime.time(1, 2, 3, 4)}


@dlt.resource(write_disposition="replace")
def latest(load):
    yield from ({"number": number + load} for number in range(3))


loads = 0
for file_format in ("insert_values", "csv", "parquet"):
    for load in (0, 1):
        pipeline = dlt.pipeline(
            "shop",
            destination=dlt.destinations.postgres(url),
            dataset_name=f"raw_{file_format}",
            pipelines_dir=f"{sys.argv[2]}/{file_format}",
        )
        resources = [orders(load), histories(load), upserts(load), log(load), latest(load)]
        pipeline.run(resources, loader_file_format=file_format).raise_on_failed_jobs()
        loads += 1
    with pipeline.sql_client() as client:
        one = client.execute_sql(
            "SELECT count(*), sum(amount), max(at), min(day), count(*) FILTER (WHERE flag), max(who__name), "
            "max(length(blob)) FROM orders"
        )
        last = BEGIN + datetime.timedelta(minutes=1999)
        assert one == [(2000, decimal.Decimal("501750.00"), last, BEGIN.date(), 1000, "n6", 3)], one
        assert client.execute_sql("SELECT count(*), max(value) FROM orders__who__tags") == [(6000, "é")]
        kept = client.execute_sql("SELECT id, name, _dlt_valid_to IS NULL FROM histories ORDER BY 1, 3")
        assert kept == [(1, "x0", False), (1, "x1", True), (2, "y", True)], kept
        merged = client.execute_sql("SELECT id, name, extra FROM upserts ORDER BY 1")
        assert merged == [(1, "x1", None), (2, "y", None), (3, "y", 1.5)], merged
        assert client.execute_sql("SELECT load, time FROM log ORDER BY 1") == [
            (load, datetime.time(1, 2, 3, 4)) for load in (0, 1)
        ]
        assert client.execute_sql("SELECT number FROM latest ORDER BY 1") == [(1,), (2,), (3,)]
print(f"{loads} loads")
