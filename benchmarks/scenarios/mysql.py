"""MySQL: drivers against one real MariaDB."""

from __future__ import annotations

from .. import data
from .base import INSERT, READ_BACK, RESET, Contestant, Scenario, scattered

_PEERS = (
    "rowferry.mysql",
    "rowferry.mysql-cached",
    "rowferry.mysql.aio",
    "rowferry.mysql.aio-uvloop",
    "asyncmy",
    "asyncmy-cached",
    "asyncmy-uvloop",
    "aiomysql",
    "pymysql",
    "mysqlclient",
)
_CONTESTANTS = tuple(Contestant(peer, "mariadb") for peer in _PEERS)
_REFERENCE = Contestant("asyncmy", "mariadb")

SCENARIOS = (
    Scenario(
        name="mysql_fetch_50k",
        title="MySQL: fetch 50,000 rows of 9 columns",
        sql="SELECT * FROM bench_wide",
        make_parameters=lambda: [()],
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=data.WIDE_ROWS,
        notes=(
            "One statement a round; all rows become tuples with int, float, Decimal, str, date and datetime cells.",
        ),
    ),
    Scenario(
        name="mysql_point_select",
        title="MySQL: 5,000 single-row SELECTs by primary key",
        sql="SELECT id, quantity, price, name, placed FROM bench_wide WHERE id = {0}",
        make_parameters=lambda: scattered(5_000, data.WIDE_ROWS),
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=5_000,
        notes=("One after the other on one connection and one cursor: the cost of a round trip.",),
    ),
    Scenario(
        name="mysql_executemany_10k",
        title="MySQL: executemany of 10,000 rows in one transaction",
        sql=INSERT,
        make_parameters=lambda: data.written_rows(10_000),
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=10_000,
        read_back=READ_BACK,
        reset=RESET,
        notes=("Per row. The table is emptied before each round, outside the clock.",),
    ),
)
