"""The Informix door: drivers against `rowferry serve --informix`, and raw sqlite3 on the same file."""

from __future__ import annotations

from .. import data
from .base import INSERT, READ_BACK, RESET, Contestant, Scenario, scattered

_REFERENCE = Contestant("informix-driver", "rowferry-informix")
_CONTESTANTS = (
    Contestant("sqlite3", "sqlite"),
    Contestant("rowferry.informix", "rowferry-informix"),
    Contestant("rowferry.informix.aio", "rowferry-informix"),
    _REFERENCE,
)
_NOTES = ("Over TCP on loopback. informix-driver asks once more than needed at the end of each result.",)

SCENARIOS = (
    Scenario(
        name="informix_point_select",
        title="Informix door: 1,000 SELECTs by primary key",
        sql="SELECT id, name, city, amount, quantity, placed_at FROM bench_rows WHERE id = {0}",
        make_parameters=lambda: scattered(1_000, data.NARROW_ROWS),
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=1_000,
        notes=_NOTES,
    ),
    Scenario(
        name="informix_fetch_1000",
        title="Informix door: 20 SELECTs of 1,000 rows and 6 columns",
        # A range instead of FIRST/LIMIT: the same text then means the same to SQLite itself.
        sql="SELECT id, name, city, amount, quantity, placed_at FROM bench_rows "
        "WHERE id > {0} AND id <= {1} ORDER BY id",
        make_parameters=lambda: [(number * 450, number * 450 + 1_000) for number in range(20)],
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=20_000,
        notes=_NOTES,
    ),
    Scenario(
        name="informix_executemany_1000",
        title="Informix door: executemany of 1,000 rows in one transaction",
        sql=INSERT,
        make_parameters=lambda: data.written_rows(1_000),
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=1_000,
        read_back=READ_BACK,
        reset=RESET,
        notes=("Per row. The table is emptied before each round, outside the clock.",),
    ),
)
