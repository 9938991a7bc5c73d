"""All migrations, roles and a user; its API over HTTP, with its own database as a source of tables and charts."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

url, scratch = sys.argv[1:]
(Path(scratch) / "superset_config.py").write_text(
    f"SECRET_KEY = 'x' * 42\nSQLALCHEMY_DATABASE_URI = {url!r}\nWTF_CSRF_ENABLED = False\n"
)
os.environ.update(PYTHONPATH=scratch, SUPERSET_HOME=scratch, FLASK_APP="superset")
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
base = f"http://127.0.0.1:{port}/api/v1"


def superset(*words):
    subprocess.run(["superset", *words], check=True, capture_output=True)


superset("db", "upgrade")
superset("init")
names = ["--username", "ada", "--firstname", "a", "--lastname", "b", "--email", "a@b.c", "--password", "secret"]
superset("fab", "create-admin", *names)

opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
headers = {"Content-Type": "application/json"}


def ask(path, body=None, **query):
    address = f"{base}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
    data = None if body is None else json.dumps(body).encode()
    try:
        with opener.open(urllib.request.Request(address, data, headers), timeout=120) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{path}: {error.code} {error.read()[:600].decode()}") from None


with (Path(scratch) / "superset.log").open("w") as out:
    server = subprocess.Popen(["superset", "run", "-p", str(port)], stdout=out, stderr=subprocess.STDOUT)
try:
    for _ in range(60):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).read()
            break
        except OSError:
            time.sleep(1)
    login = {"username": "ada", "password": "secret", "provider": "db", "refresh": True}
    headers["Authorization"] = f"Bearer {ask('/security/login', login)['access_token']}"
    may = {"expose_in_sqllab": True, "allow_dml": True, "allow_ctas": True}
    source = ask("/database/", {"database_name": "own", "sqlalchemy_uri": url, **may})["id"]
    is_mysql = url.startswith("mysql")
    schema = "app" if is_mysql else "public"
    assert schema in ask(f"/database/{source}/schemas/")["result"]
    if is_mysql:
        make = (
            "create table sales as with recursive n as (select 1 g union all select g + 1 from n where g < 500) "
            "select g id, elt(g % 3 + 1, 'ann', 'bob', 'cara') who, "
            "timestamp '2024-01-01 00:00:00' + interval g * 7 hour at, cast(g * 1.5 as decimal(10, 2)) amount from n"
        )
    else:
        make = (
            "create table sales as select g id, (array['ann', 'bob', 'cara'])[g % 3 + 1] who, "
            "timestamp '2024-01-01' + g * interval '7 hours' at, (g * 1.5)::numeric(10, 2) amount "
            "from generate_series(1, 500) g"
        )
    for number, sql in enumerate((make, "select who, sum(amount) from sales group by who order by who")):
        lab = {"database_id": source, "sql": sql, "schema": schema, "client_id": f"c{number}", "runAsync": False}
        answer = ask("/sqllab/execute/", {**lab, "queryLimit": 10})
    assert [row["who"] for row in answer["data"]] == ["ann", "bob", "cara"]
    tables = ask(f"/database/{source}/tables/", q=f"(schema_name:{schema})")["result"]
    assert "sales" in {table["value"] for table in tables}
    dataset = ask("/dataset/", {"database": source, "schema": schema, "table_name": "sales"})["id"]
    total = {"expressionType": "SIMPLE", "column": {"column_name": "amount"}, "aggregate": "SUM", "label": "s"}

    def chart(**query):
        body = {"datasource": {"id": dataset, "type": "table"}, "result_format": "json", "result_type": "full"}
        answer = ask("/chart/data", {**body, "queries": [{"row_limit": 1000, "metrics": [total, "count"], **query}]})
        return answer["result"][0]["data"]

    charts = 0
    for grain in ("PT1H", "P1D", "P1W", "P1M", "P3M", "P1Y"):
        axis = {"timeGrain": grain, "columnType": "BASE_AXIS", "sqlExpression": "at", "label": "at"}
        rows = chart(
            columns=[{**axis, "expressionType": "SQL"}],
            extras={"time_grain_sqla": grain},
            time_range="2024-01-01 : 2026-01-01",
            granularity="at",
            orderby=[["count", False]],
        )
        assert sum(row["count"] for row in rows) == 500, grain
        charts += 1
    filters = [{"col": "who", "op": "ILIKE", "val": "%a%"}, {"col": "amount", "op": ">", "val": 1}]
    rows = chart(columns=["who"], filters=filters, series_limit=2, series_columns=["who"], orderby=[["s", False]])
    assert {row["who"] for row in rows} == {"ann", "cara"}
    charts += 1
finally:
    server.terminate()
    server.wait(30)
print(f"{charts} charts")
