"""The PostgreSQL door: drivers against `rowferry serve`, raw sqlite3, and PostgreSQL where installed."""

from __future__ import annotations

from .. import data
from .base import INSERT, READ_BACK, RESET, Contestant, Scenario, scattered

#: The drivers that are measured at both servers.
PEERS = ("psycopg2", "psycopg3", "psycopg3-binary", "asyncpg")
_REFERENCE = Contestant("sqlite3", "sqlite")
_CONTESTANTS = (
    _REFERENCE,
    *(Contestant(peer, "rowferry") for peer in PEERS),
    *(Contestant(peer, "postgresql") for peer in PEERS),
)
_NOTES = ("Over a unix socket. sqlite3 is in-process and makes str and float where drivers make datetime and Decimal.",)

SCENARIOS = (
    Scenario(
        name="postgres_point_select",
        title="PostgreSQL door: 2,000 SELECTs by primary key",
        sql="SELECT id, name, city, amount, quantity, placed_at FROM bench_rows WHERE id = {0}",
        make_parameters=lambda: scattered(2_000, data.NARROW_ROWS),
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=2_000,
        notes=_NOTES,
    ),
    Scenario(
        name="postgres_fetch_1000",
        title="PostgreSQL door: 20 SELECTs of 1,000 rows and 6 columns",
        sql="SELECT id, name, city, amount, quantity, placed_at FROM bench_rows WHERE id > {0} ORDER BY id LIMIT 1000",
        make_parameters=lambda: [(number * 450,) for number in range(20)],
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=20_000,
        notes=_NOTES,
    ),
    Scenario(
        name="postgres_executemany_1000",
        title="PostgreSQL door: executemany of 1,000 rows in one transaction",
        sql=INSERT,
        make_parameters=lambda: data.written_rows(1_000),
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=1_000,
        work="write",
        unit="row",
        read_back=READ_BACK,
        reset=RESET,
        notes=("The table is emptied before each round, outside the clock.",),
    ),
)
