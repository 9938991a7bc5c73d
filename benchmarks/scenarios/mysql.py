"""MySQL: drivers against one real MariaDB over TCP and over a unix socket, and against MySQL 9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import data
from .base import INSERT, READ_BACK, RESET, Contestant, Scenario, scattered

_OURS = ("rowferry.mysql", "rowferry.mysql.aio", "rowferry.mysql.aio-uvloop")
_OURS_CACHED = ("rowferry.mysql-cached", "rowferry.mysql.aio-cached", "rowferry.mysql.aio-cached-uvloop")
_OURS_PREPARED = ("rowferry.mysql-prepared", "rowferry.mysql.aio-prepared")
_ASYNCMY = ("asyncmy", "asyncmy-uvloop")
_ASYNCMY_CACHED = ("asyncmy-cached", "asyncmy-cached-uvloop")
_ASYNCMY_PREPARED = ("asyncmy-prepared", "asyncmy-prepared-uvloop")
_OTHERS = ("mysqlclient", "mariadb", "mysql-connector", "pymysql", "aiomysql")
_DRAINS = ("drain-text", "drain-binary")

#: Results of statements without parameters: nobody's statement cache is used for them.
_FETCHERS = (
    *_DRAINS,
    *_OURS,
    *_OURS_PREPARED,
    *_ASYNCMY,
    *_ASYNCMY_PREPARED,
    *_OTHERS,
    "mariadb-binary",
)
_RUNNERS = (*_OURS, *_OURS_CACHED, *_ASYNCMY, *_ASYNCMY_CACHED, *_OTHERS)

_PLACES = {"": "mariadb", "_unix": "mariadb-unix", "_tls": "mariadb-tls", "_mysql9": "mysql9"}
_WORDS = {"": "", "_unix": ", unix socket", "_tls": ", TLS", "_mysql9": ", MySQL 9"}


def _on(scenario: Scenario, peers: Sequence[str], *places: str) -> list[Scenario]:
    """The scenario at each of these places; its own reference names the peer only."""
    return [
        replace(
            scenario,
            name=scenario.name + place,
            title=scenario.title + _WORDS[place],
            contestants=[Contestant(peer, _PLACES[place]) for peer in peers],
            reference=Contestant(scenario.reference.peer, _PLACES[place]),
        )
        for place in places
    ]


def _reads(
    name: str, title: str, sql: str, rows: int, *notes: str, reference: str = "asyncmy", units: int | None = None
) -> Scenario:
    return Scenario(
        name=f"mysql_{name}",
        title=f"MySQL: {title}",
        sql=sql,
        make_parameters=lambda: [()],
        contestants=(),
        reference=Contestant(reference, "mariadb"),
        rows=rows,
        units=units,
        unit="statement" if units is None else "cell",
        notes=notes,
    )


_FETCH = _reads(
    "fetch_50k",
    "fetch 50,000 rows of 9 columns",
    "SELECT * FROM bench_wide",
    data.WIDE_ROWS,
    "One statement a round; all rows become tuples with int, float, Decimal, str, date and datetime cells.",
)

_TYPES = [
    _reads(
        f"types_{typed.name}",
        f"fetch 50,000 rows of 4 columns {typed.declaration.partition(' ')[0].upper()}",
        f"SELECT {', '.join(typed.columns)} FROM {typed.table}",
        data.WIDE_ROWS,
    )
    for typed in data.TYPED_TABLES
]

_POINT = replace(
    _reads("point_select", "5,000 SELECTs of one row by primary key", "", 5_000),
    sql="SELECT id, quantity, price, name, placed FROM bench_wide WHERE id = {0}",
    make_parameters=lambda: scattered(5_000, data.WIDE_ROWS),
    notes=(
        "One after the other on one connection and one cursor: the cost of a round trip. Compare the client's CPU "
        "time: the clock counts how the kernel wakes the other side.",
    ),
)

_CONCURRENT = replace(
    _reads("concurrent_50", "50 queries at once over a pool of 50 connections", "", 5_000),
    sql="SELECT * FROM bench_wide WHERE id > {0} AND id <= {1}",
    make_parameters=lambda: [(number * 900, number * 900 + 100) for number in range(50)],
    work="select_pooled",
    width=50,
    notes=(
        "100 rows of 9 columns each; asyncio.gather over the driver's pool, or a thread per connection for blocking "
        "drivers (mysqlclient, PyMySQL and Connector/Python: over a queue of connections).",
    ),
)

_CONNECTING = replace(
    _CONCURRENT,
    name="mysql_concurrent_connects_50",
    title="MySQL: 50 queries at once over a pool whose 50 connections are opened for them",
    work="select_connecting",
    notes=("As above, and the pool is made before and closed after, inside the clock.",),
)

_POOL = replace(
    _CONCURRENT,
    name="mysql_pool_2000",
    title="MySQL: 2,000 times acquire, query, release, all at once over a pool of 10 connections",
    sql="SELECT id, quantity, price, name, placed FROM bench_wide WHERE id = {0}",
    make_parameters=lambda: scattered(2_000, data.WIDE_ROWS),
    rows=2_000,
    width=10,
    notes=("2,000 tasks, or 10 threads for blocking drivers.",),
)

_WRITE = Scenario(
    name="mysql_executemany_10k",
    title="MySQL: executemany of 10,000 rows in one transaction",
    sql=INSERT,
    make_parameters=lambda: data.written_rows(10_000),
    contestants=(),
    reference=Contestant("asyncmy", "mariadb"),
    rows=10_000,
    work="write",
    unit="row",
    read_back=READ_BACK,
    reset=RESET,
    notes=(
        "The table is emptied before each round, outside the clock. asyncmy uses MariaDB's bulk execution with its "
        "statement cache (`-cached`) and as `execute_bulk` (`-prepared`).",
    ),
)

_CONNECT = replace(
    _reads("connect", "connect and close, 200 times", "SELECT {0}", 1),
    make_parameters=lambda: [(1,)] * 200,
    work="connect_each",
    unit="connection",
    notes=("One after the other, each driver's defaults but for TLS, which nobody uses unless it says so.",),
)

_ARROW = replace(
    _FETCH,
    name="mysql_arrow_50k",
    title="MySQL: 50,000 rows of 9 columns as an Arrow table",
    work="select_arrow",
    reference=Contestant("rowferry.mysql-tuples", "mariadb"),
    notes=(
        "`rowferry.mysql` is `fetch_arrow_table`; `-tuples` makes tuples and no table; all others make a "
        "`pyarrow.Table` of their tuples, as users of a driver without Arrow do.",
    ),
)
_ARROWS = ("rowferry.mysql", "rowferry.mysql-tuples", "rowferry.mysql-tuples-to-arrow", "mysqlclient", "mariadb")

SCENARIOS = (
    *_on(_FETCH, _FETCHERS, "", "_unix"),
    *(placed for typed in _TYPES for placed in _on(typed, _FETCHERS, "", "_unix")),
    *_on(_POINT, (*_RUNNERS, "asyncmy-prepared", "rowferry.mysql-prepared"), "", "_unix"),
    *_on(_CONCURRENT, _RUNNERS, "", "_unix"),
    *_on(_CONNECTING, (*_OURS, *_ASYNCMY, *_OTHERS), "", "_unix"),
    *_on(_POOL, _RUNNERS, "", "_unix"),
    *_on(_WRITE, (*_RUNNERS, "asyncmy-prepared"), "", "_unix"),
    *_on(_WRITE, _RUNNERS, "_mysql9"),
    *_on(_CONNECT, (*_OURS, *_ASYNCMY, *_OTHERS), "", "_unix", "_tls"),
    *_on(_ARROW, _ARROWS, "", "_unix"),
)
