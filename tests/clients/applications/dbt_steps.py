"""A shop by dbt: seeds, snapshots, tables, views, each incremental strategy, contracts, tests, documents.

What each table holds at the end is what it holds on PostgreSQL 15, where the same steps were run.
"""

import os
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2

url, scratch = sys.argv[1], Path(sys.argv[2])
place = urlsplit(url)
project = scratch / "shop"
shutil.copytree(Path(__file__).with_name("dbt_shop"), project)
environment = {
    **os.environ,
    "SHOP_HOST": place.hostname or "",
    "SHOP_PORT": str(place.port),
    "SHOP_DATABASE": place.path.lstrip("/"),
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "0",
}


def dbt(*words):
    done = subprocess.run(
        ["dbt", "--no-use-colors", *words, "--profiles-dir", "."],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"dbt {' '.join(words)}:\n{done.stdout}\n{done.stderr}")


connection = psycopg2.connect(host=place.hostname, port=place.port, user=place.username, dbname=place.path.lstrip("/"))
connection.autocommit = True
cursor = connection.cursor()
cursor.execute("CREATE ROLE reader")


def rows(sql):
    cursor.execute(sql)
    return cursor.fetchall()


dbt("debug")
dbt("seed")
dbt("snapshot")
dbt("build")
dbt("build")
cursor.execute(
    "UPDATE analytics.raw_customers SET city = 'Paris', updated_at = '2024-06-01' WHERE id = 1;"
    "DELETE FROM analytics.raw_customers WHERE id = 3;"
    "UPDATE analytics.raw_orders SET status = 'paid' WHERE id = 2; DELETE FROM analytics.raw_orders WHERE id = 4;"
    "INSERT INTO analytics.raw_orders VALUES (5, 2, 7.77, 'open', '2024-07-01 00:00:00')"
)
dbt("snapshot")
# What the seeds hold is loaded anew by `build`.
dbt("build")
dbt("run", "--vars", "{wide: true}", "--select", "inc_merge")
dbt("run", "--full-refresh")
dbt("docs", "generate")
dbt("source", "freshness")
dbt("run-operation", "say")
dbt("build")

assert rows("SELECT id, name, city, orders, total FROM analytics.customers ORDER BY id") == [
    (1, "Ada", "London", 2, Decimal("30.75")),
    (2, "Böb", "Zürich", 1, Decimal("99.99")),
    (3, "Carl, Jr", None, 1, Decimal("0.01")),
]
assert rows("SELECT ids, total, days FROM analytics.monthly ORDER BY 1") == [
    ("1", Decimal("10.50"), 31),
    ("2", Decimal("20.25"), 31),
    ("3", Decimal("99.99"), 60),
    ("4", Decimal("0.01"), 60),
]
assert rows("SELECT id FROM analytics.inc_merge ORDER BY 1") == [(1,), (2,), (3,)]
assert rows("SELECT * FROM analytics.mv ORDER BY 1") == [("open", 1), ("paid", 2), ("void", 1)]
assert rows("SELECT count(*), count(dbt_valid_to) FROM analytics.snap_customers WHERE id = 1") == [(2, 1)]
assert rows("SELECT count(*) FROM analytics.snap_orders WHERE id = 4 AND dbt_is_deleted = 'True'") == [(1,)]
assert rows(
    "SELECT obj_description('analytics.customers'::regclass), relacl::text FROM pg_class "
    "WHERE oid = 'analytics.customers'::regclass"
) == [('All the customers; it\'s "quoted"', "{rowferry=arwdDxt/rowferry,reader=r/rowferry}")]
(count,) = rows(
    "SELECT count(*) FROM pg_class WHERE relnamespace = 'analytics'::regnamespace AND relkind IN ('r', 'v', 'm')"
)[0]
print(f"{count} tables and views")
