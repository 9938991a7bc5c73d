"""Models of sqlmesh's kinds, planned, run, changed in an environment of their own, compared and made everybody's."""

import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2

url, project = sys.argv[1], Path(sys.argv[2]) / "shop"
place = urlsplit(url)
for folder in ("models", "seeds"):
    (project / folder).mkdir(parents=True)

CONFIGURATION = f"""\
gateways:
  local:
    connection:
      type: postgres
      host: {place.hostname}
      port: {place.port}
      user: rowferry
      password: none
      database: {place.path[1:]}
default_gateway: local
model_defaults: {{dialect: postgres, start: 2024-01-01}}
disable_anonymized_analytics: true
"""
(project / "config.yaml").write_text(CONFIGURATION)
lines = [f"{number},n{number % 3},2024-01-{1 + number % 9:02d}" for number in range(30)]
(project / "seeds" / "seed.csv").write_text("\n".join(["id,name,day", *lines]))
MODELS = {
    "seed": "kind SEED (path '../seeds/seed.csv'), columns (id INT, name TEXT, day DATE), grain id);",
    "by_time": "kind INCREMENTAL_BY_TIME_RANGE (time_column day), grain id, description 'Days', "
    "column_descriptions (id = 'key'));"
    "SELECT id, name, day FROM shop.seed WHERE day BETWEEN @start_date AND @end_date",
    "by_key": "kind INCREMENTAL_BY_UNIQUE_KEY (unique_key name));"
    "SELECT name, COUNT(*)::INT AS n, MAX(day) AS last FROM shop.by_time GROUP BY name",
    "history": "kind SCD_TYPE_2_BY_COLUMN (unique_key name, columns [n])); SELECT name, n FROM shop.by_key",
    "ranked": "kind VIEW, audits (not_null(columns := (name)), unique_values(columns := (name))));"
    "SELECT name, n, ROW_NUMBER() OVER (ORDER BY n DESC, name) AS place FROM shop.by_key",
    "whole": "kind FULL); SELECT name, n::NUMERIC / 3 AS x FROM shop.ranked",
    "counted": "kind VIEW (materialized true)); SELECT COUNT(*) AS n FROM shop.whole",
}


def write(name, words):
    (project / "models" / f"{name}.sql").write_text(f"MODEL (name shop.{name}, {words}")


def sqlmesh(*words):
    done = subprocess.run(
        ["sqlmesh", "--paths", project, *words],
        cwd=project,
        env={**os.environ, "MAX_FORK_WORKERS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"sqlmesh {' '.join(words)}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


for name, words in MODELS.items():
    write(name, words)
sqlmesh("plan", "--auto-apply", "--no-prompts")
sqlmesh("run")
write("whole", "kind FULL); SELECT name, n::NUMERIC / 4 AS x, 'a' AS extra FROM shop.ranked")
sqlmesh("plan", "dev", "--auto-apply", "--no-prompts", "--include-unmodified")
sqlmesh("table_diff", "prod:dev", "shop.whole", "--on", "name")
sqlmesh("plan", "--auto-apply", "--no-prompts")
assert "0 audit errors" in sqlmesh("audit")
sqlmesh("invalidate", "dev")
sqlmesh("janitor")

connection = psycopg2.connect(url)
cursor = connection.cursor()


def rows(sql):
    cursor.execute(sql)
    return cursor.fetchall()


assert rows("SELECT count(*) FROM shop.by_time") == [(30,)]
assert rows("SELECT name, n FROM shop.by_key ORDER BY 1") == [("n0", 10), ("n1", 10), ("n2", 10)]
assert rows("SELECT name, place FROM shop.ranked ORDER BY 2") == [("n0", 1), ("n1", 2), ("n2", 3)]
assert rows("SELECT DISTINCT x, extra FROM shop.whole") == [(Decimal("2.5"), "a")]
assert rows("SELECT count(*) FROM shop.history WHERE valid_to IS NULL") == [(3,)]
models = sum(rows(f"SELECT count(*) FROM shop.{name}")[0][0] > 0 for name in MODELS)
print(f"{models} models")
