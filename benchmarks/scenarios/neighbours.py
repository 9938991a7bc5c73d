"""The PostgreSQL door beside PGlite and pgsqlite, by each way to reach it, and with many clients at once."""

from __future__ import annotations

from dataclasses import replace

from .. import data
from ..peers.base import Beside
from .base import READ_BACK, Contestant, Scenario, scattered
from .operations import FILL
from .operations import SCENARIOS as _OPERATIONS
from .postgres import SCENARIOS as _POSTGRES

_KNOWN = {scenario.name: scenario for scenario in (*_POSTGRES, *_OPERATIONS)}

#: Kinds of work in words that SQLite knows, too.
_SQL_OF_BOTH = (
    "select_1",
    "point_select",
    "range_100",
    "fetch_1000",
    "fetch_10000",
    "filter",
    "join",
    "window",
    "executemany_1000",
    "insert_transaction",
    "update_transaction",
    "delete_transaction",
    "upsert",
    "insert_autocommit",
)

_TITLES = {"pglite": "PGlite", "pgsqlite": "pgsqlite", "ways": "Ways in"}


def _elsewhere(
    suite: str, kind: str, contestants: tuple[Contestant, ...], reference: Contestant, note: str
) -> Scenario:
    """A kind of work of the suite `postgres` for other contestants."""
    known = _KNOWN[f"postgres_{kind}"]
    title = known.title.partition(": ")[2]
    return replace(
        known,
        name=f"{suite}_{kind}",
        title=f"{_TITLES[suite]}: {title}",
        contestants=contestants,
        reference=reference,
        notes=(note,),
    )


_PGLITE = Contestant("psycopg3", "pglite")
_BESIDE_PGLITE = tuple(
    _elsewhere(
        "pglite",
        kind,
        (_PGLITE, *(Contestant("psycopg3", target) for target in ("rowferry", "postgresql"))),
        _PGLITE,
        "Over a unix socket, each with its data in files.",
    )
    for kind in ("point_select", "executemany_1000", "update_transaction", "fetch_10000", "group_by")
)

#: What pgsqlite's own benchmarks compare: drivers, raw sqlite3 in the process, and beside them PostgreSQL.
_DRIVERS = ("psycopg2", "psycopg3", "asyncpg")
_OURS = Contestant("psycopg3", "rowferry")
_BESIDE_PGSQLITE = tuple(
    _elsewhere(
        "pgsqlite",
        kind,
        (
            _OURS,
            *(Contestant(peer, "rowferry") for peer in _DRIVERS if peer != "psycopg3"),
            *(Contestant(peer, "pgsqlite") for peer in _DRIVERS),
            Contestant("psycopg3", "postgresql"),
            # It sums in floating point, sorts NULLs first, and has no arrays, no such casts, nothing to connect to.
            *((Contestant("sqlite3", "sqlite"),) if kind in _SQL_OF_BOTH else ()),
        ),
        _OURS,
        "Over a unix socket, each with its data in files, on the disk before a change is acknowledged.",
    )
    for kind in (
        *_SQL_OF_BOTH,
        "aggregate",
        "group_by",
        "any_of_20",
        "months",
        "jsonb",
        "array_insert_5",
        "array_insert_500",
        "connect",
    )
)

_UNIX = Contestant("psycopg3", "postgresql")
_WAYS_IN = tuple(
    _elsewhere(
        "ways",
        kind,
        tuple(
            Contestant("psycopg3", target)
            for target in ("postgresql", "postgresql-tcp", "rowferry", "rowferry-tcp", "rowferry-memory")
        ),
        _UNIX,
        "`-tcp` over the loopback, the others over a unix socket; `-memory` serves `:memory:`.",
    )
    for kind in ("point_select", "executemany_1000", "insert_autocommit", "fetch_10000", "connect")
)

_CLIENTS = tuple(Contestant(peer, target) for target in ("postgresql", "rowferry") for peer in ("psycopg2", "psycopg3"))
_READERS = Scenario(
    name="clients_8_readers",
    title="Many clients: 8 readers of 250 rows by primary key each",
    sql="SELECT id, name, city, amount, quantity, placed_at FROM bench_rows WHERE id = {0}",
    make_parameters=lambda: scattered(2_000, data.NARROW_ROWS),
    contestants=_CLIENTS,
    reference=_CLIENTS[0],
    rows=8,
    work="work_beside",
    width=8,
    notes=("Each client is a process with a connection of its own; what they read is compared by its count and sum.",),
)
_UPDATES = "UPDATE bench_written SET quantity = quantity + 1 WHERE id = {0}"
_WRITTEN = [(number % 500 + 1,) for number in range(500)]
_READERS_AND_WRITERS = replace(
    _READERS,
    name="clients_8_readers_2_writers",
    title="Many clients: 8 readers of 250 rows each while 2 others write",
    beside=Beside(_UPDATES, _WRITTEN, 2),
    reset=FILL,
)
_WRITERS_AND_READERS = replace(
    _READERS,
    name="clients_2_writers_8_readers",
    title="Many clients: 2 writers of 100 rows each, every row a transaction, while 8 others read",
    sql=_UPDATES,
    make_parameters=lambda: _WRITTEN[:200],
    rows=500,
    width=2,
    beside=Beside(_READERS.sql, scattered(2_000, data.NARROW_ROWS), 8),
    read_back=READ_BACK,
    reset=FILL,
    notes=(*_READERS.notes, "Both wait for the disk before they acknowledge, as by default."),
)

SCENARIOS = (*_BESIDE_PGLITE, *_BESIDE_PGSQLITE, *_WAYS_IN, _READERS, _READERS_AND_WRITERS, _WRITERS_AND_READERS)
