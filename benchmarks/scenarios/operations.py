"""The kinds of work that programs give a PostgreSQL: each driver at our door and at PostgreSQL itself.

What pgsqlite's own benchmarks measure (statements of each kind one by one, prepared again, in batches, arrays of 5 to
500 elements, connecting), and what reports and frameworks ask besides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .. import data
from ..peers.base import Row
from .base import INSERT, READ_BACK, RESET, Contestant, Scenario, scattered
from .postgres import PEERS

_CONTESTANTS = tuple(Contestant(peer, target) for target in ("postgresql", "rowferry") for peer in PEERS)
_REFERENCE = Contestant("psycopg3", "postgresql")
_COLUMNS = "id, name, city, amount, quantity, placed_at"
#: Elements of the arrays.
SIZES = (5, 50, 100, 500)


def _reads(
    name: str, title: str, sql: str, rows: int | None, parameters: Callable[[], Sequence[Row]] | int
) -> Scenario:
    """Queries one after the other; a number of `parameters` is how often one without any is asked."""
    times = parameters
    return Scenario(
        name=f"postgres_{name}",
        title=f"PostgreSQL door: {title}",
        sql=sql,
        make_parameters=(lambda: [()] * times) if isinstance(times, int) else times,
        contestants=_CONTESTANTS,
        reference=_REFERENCE,
        rows=rows,
    )


_READS = (
    _reads("select_1", "2,000 times SELECT 1", "SELECT 1", 2_000, 2_000),
    _reads(
        "range_100",
        "200 SELECTs of 100 rows by a range of keys",
        f"SELECT {_COLUMNS} FROM bench_rows WHERE id BETWEEN {{0}} AND {{1}} ORDER BY id",
        20_000,
        lambda: [(start, start + 99) for (start,) in scattered(200, data.NARROW_ROWS - 100)],
    ),
    _reads("fetch_10000", "SELECT of 10,000 rows and 6 columns", f"SELECT {_COLUMNS} FROM bench_rows", 30_000, 3),
    _reads(
        "filter",
        "20 counts of rows by a column without an index",
        "SELECT count(*) FROM bench_rows WHERE city = {0}",
        20,
        lambda: [(f"City {number * 11 % 211}",) for number in range(20)],
    ),
    _reads(
        "aggregate",
        "count, sum, avg, min and max of 10,000 rows",
        "SELECT count(*), sum(amount), avg(quantity), min(placed_at), max(name) FROM bench_rows",
        10,
        10,
    ),
    _reads(
        "group_by",
        "10,000 rows in 211 groups",
        "SELECT city, count(*), sum(amount), max(placed_at) FROM bench_rows GROUP BY city ORDER BY city",
        2_110 + 10,
        10,
    ),
    _reads("distinct", "DISTINCT of 10,000 texts", "SELECT DISTINCT city FROM bench_rows ORDER BY city", 2_120, 10),
    _reads(
        "top_10",
        "the ten greatest of 10,000",
        f"SELECT {_COLUMNS} FROM bench_rows ORDER BY amount DESC, id LIMIT 10",
        100,
        10,
    ),
    _reads(
        "join",
        "20 joins of 500 rows with 10,000",
        "SELECT a.id, b.name, b.amount FROM bench_rows a JOIN bench_rows b ON b.id = a.quantity"
        " WHERE a.id BETWEEN {0} AND {1} ORDER BY a.id",
        None,
        lambda: [(start, start + 499) for (start,) in scattered(20, data.NARROW_ROWS - 500)],
    ),
    _reads(
        "any_of_20",
        "200 SELECTs of 20 rows by an array of keys",
        f"SELECT {_COLUMNS} FROM bench_rows WHERE id = ANY({{0}}) ORDER BY id",
        4_000,
        lambda: [([key for (key,) in scattered(20, data.NARROW_ROWS - at)],) for at in range(200)],
    ),
    _reads(
        "prefix",
        "20 SELECTs by the beginning of a text",
        "SELECT id, name FROM bench_rows WHERE name LIKE {0} ORDER BY id",
        2_000,
        lambda: [(f"Customer {number:03}%",) for number in range(1, 21)],
    ),
    _reads(
        "exists",
        "EXISTS for each of 10,000 rows",
        "SELECT count(*) FROM bench_rows a WHERE EXISTS"
        " (SELECT 1 FROM bench_rows b WHERE b.id = a.quantity AND b.amount > a.amount)",
        5,
        5,
    ),
    _reads(
        "window",
        "ranks within 211 groups of 10,000 rows",
        "SELECT id, rank() OVER (PARTITION BY city ORDER BY amount, id), sum(quantity) OVER (PARTITION BY city)"
        " FROM bench_rows ORDER BY id LIMIT 1000",
        3_000,
        3,
    ),
    _reads(
        "recursive",
        "10 recursions of 1,000 rows",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        " SELECT count(*), sum(i) FROM n",
        10,
        10,
    ),
    _reads(
        "months",
        "10,000 times by their months",
        "SELECT date_trunc('month', placed_at) AS month, count(*) FROM bench_rows GROUP BY month ORDER BY month",
        None,
        5,
    ),
    _reads(
        "jsonb",
        "500 looks into a JSON document",
        "SELECT {0}::jsonb #>> '{{customer,name}}', jsonb_array_length({1}::jsonb -> 'lines')",
        500,
        lambda: [
            (document, document)
            for document in (
                f'{{"customer": {{"name": "Customer {number}", "city": "City"}}, "lines": [1, 2, {number}]}}'
                for number in range(500)
            )
        ],
    ),
)

_WRITE = Scenario(
    name="postgres_insert_transaction",
    title="PostgreSQL door: 500 INSERTs in one transaction",
    sql=INSERT,
    make_parameters=lambda: data.written_rows(500),
    contestants=_CONTESTANTS,
    reference=_REFERENCE,
    rows=500,
    work="write_each",
    read_back=READ_BACK,
    reset=RESET,
)
#: Brings the rows there that the others change.
FILL = (
    RESET,
    "INSERT INTO bench_written (id, name, amount, quantity, placed_at)"
    " SELECT id, name, amount, quantity, placed_at FROM bench_rows WHERE id <= 500",
)
_UPDATE = replace(
    _WRITE,
    name="postgres_update_transaction",
    title="PostgreSQL door: 500 UPDATEs by primary key in one transaction",
    sql="UPDATE bench_written SET quantity = {0} WHERE id = {1}",
    make_parameters=lambda: [(number * 7, number) for number in range(1, 501)],
    reset=FILL,
)
_DELETE = replace(
    _WRITE,
    name="postgres_delete_transaction",
    title="PostgreSQL door: 500 DELETEs by primary key in one transaction",
    sql="DELETE FROM bench_written WHERE id = {0}",
    make_parameters=lambda: [(number,) for number in range(1, 500)],
    rows=1,
    reset=FILL,
)
_UPSERT = replace(
    _WRITE,
    name="postgres_upsert",
    title="PostgreSQL door: 500 times ON CONFLICT DO UPDATE in one transaction",
    sql=f"{INSERT} ON CONFLICT (id) DO UPDATE SET amount = excluded.amount, quantity = bench_written.quantity + 1",
    reset=FILL,
)


def _alone(scenario: Scenario, kind: str) -> Scenario:
    """The same with each statement as a transaction of its own."""
    return replace(
        scenario,
        name=f"postgres_{kind}_autocommit",
        title=f"PostgreSQL door: 100 {kind.upper()}s, each a transaction of its own",
        make_parameters=lambda: scenario.make_parameters()[:100],
        rows=100 if kind == "insert" else 400 if kind == "delete" else 500,
        work="write_alone",
        notes=("Both wait for the disk before they acknowledge, as by default.",),
    )


def _arrays(size: int) -> tuple[Scenario, Scenario]:
    """Writing and reading rows with an array of so many integers."""
    written = replace(
        _WRITE,
        name=f"postgres_array_insert_{size}",
        title=f"PostgreSQL door: 200 INSERTs of an array of {size} integers in one transaction",
        sql="INSERT INTO bench_arrays_written (id, numbers) VALUES ({0}, {1})",
        make_parameters=lambda: data.array_rows(size, 200),
        rows=200,
        read_back="SELECT id, numbers FROM bench_arrays_written ORDER BY id",
        reset="DELETE FROM bench_arrays_written",
    )
    read = _reads(
        f"array_select_{size}",
        f"200 SELECTs of an array of {size} integers",
        f"SELECT numbers FROM bench_arrays WHERE id = {{0}} + {size * 1_000}",
        200,
        lambda: scattered(200, data.ARRAY_ROWS),
    )
    return written, read


_RETURNING = replace(
    _WRITE,
    name="postgres_insert_returning",
    title="PostgreSQL door: 100 times INSERT … RETURNING, each a transaction of its own",
    sql=f"{INSERT} RETURNING id, placed_at",
    make_parameters=lambda: data.written_rows(100),
    rows=100,
    work="select",
    read_back=None,
)

_CONNECT = replace(
    _reads("connect", "connect and close, 50 times", "SELECT 1", 1, 50),
    work="connect_each",
    unit="connection",
)

SCENARIOS = (
    *_READS,
    _WRITE,
    _UPDATE,
    _DELETE,
    _UPSERT,
    _alone(_WRITE, "insert"),
    _alone(_UPDATE, "update"),
    _alone(_DELETE, "delete"),
    _RETURNING,
    *(scenario for size in SIZES for scenario in _arrays(size)),
    _CONNECT,
)
