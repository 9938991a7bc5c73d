"""The PostgreSQL door with analytical queries: TPC-H's 22 against `rowferry serve` and PostgreSQL."""

from __future__ import annotations

from .. import tpch
from .base import Contestant, Scenario

_REFERENCE = Contestant("psycopg3", "postgresql-tpch")
_CONTESTANTS = (_REFERENCE, Contestant("psycopg3", "rowferry-tpch"))

SCENARIOS = tuple(
    Scenario(
        name=f"tpch_{name}",
        title=f"TPC-H at scale {tpch.SCALE:g}: query {int(name[1:])}",
        sql=sql,
        make_parameters=lambda: [()],
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=None,
        unit="query",
        notes=("Over a unix socket, with keys, indexes and statistics; `TPCH_SCALE` says how much data.",),
    )
    for name, sql in tpch.QUERIES.items()
)
