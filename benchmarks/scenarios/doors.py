"""Doors beside the servers whose wire they speak: MySQL's beside MariaDB, and all three in front of PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

from .. import data
from .base import Contestant, Scenario, scattered
from .mysql import SCENARIOS as _MYSQL

_KNOWN = {scenario.name: scenario for scenario in _MYSQL}

_DRIVERS = ("rowferry.mysql", "rowferry.mysql-cached", "pymysql", "mysqlclient")
_MARIADB = Contestant("rowferry.mysql", "mariadb")


def _beside_mariadb(kind: str) -> Scenario:
    known = _KNOWN[f"mysql_{kind}"]
    return replace(
        known,
        name=f"mysqldoor_{kind}",
        title=f"MySQL door: {known.title.partition(': ')[2]}",
        contestants=[Contestant(peer, target) for target in ("mariadb", "rowferry-mysql") for peer in _DRIVERS],
        reference=_MARIADB,
        notes=("Over TCP, the door's rows out of a file, MariaDB's out of its buffer pool.",),
    )


_PSYCOPG = Contestant("psycopg3", "postgresql-tcp")
_BEHIND = (
    _PSYCOPG,
    Contestant("psycopg3", "rowferry-before-postgresql"),
    Contestant("rowferry.informix", "rowferry-informix-before-postgresql"),
    Contestant("rowferry.mysql", "rowferry-mysql-before-postgresql"),
    Contestant("rowferry.mysql-cached", "rowferry-mysql-before-postgresql"),
)
_COLUMNS = "id, name, city, amount, quantity, placed_at"
_NOTES = (
    "Over TCP, to one PostgreSQL server: psycopg by itself and through our door, our drivers through the others.",
)

_POINT = Scenario(
    name="behind_point_select",
    title="In front of PostgreSQL: 2,000 SELECTs by primary key",
    sql=f"SELECT {_COLUMNS} FROM bench_many WHERE id = {{0}}",
    make_parameters=lambda: scattered(2_000, data.MANY_ROWS),
    contestants=_BEHIND,
    reference=_PSYCOPG,
    rows=2_000,
    notes=_NOTES,
)
_ROWS = replace(
    _POINT,
    name="behind_fetch_100000",
    title="In front of PostgreSQL: SELECT of 100,000 rows and 6 columns",
    sql=f"SELECT {_COLUMNS} FROM bench_many WHERE id > {{0}} ORDER BY id",
    make_parameters=lambda: [(data.MANY_ROWS - 100_000,)],
    rows=100_000,
)

SCENARIOS = (_beside_mariadb("point_select"), _beside_mariadb("fetch_50k"), _POINT, _ROWS)
