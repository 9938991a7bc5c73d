"""The Informix door: drivers against `rowferry serve --informix`, and raw sqlite3 on the same file."""

from __future__ import annotations

from .. import data
from .base import INSERT, READ_BACK, RESET, Contestant, Scenario, scattered

_DOOR = "rowferry-informix"
_REFERENCE = Contestant("informix-driver", _DOOR)
_REFERENCE_AIO = Contestant("informix-driver.aio", _DOOR)
_OURS = Contestant("rowferry.informix", _DOOR)
_OURS_AIO = Contestant("rowferry.informix.aio", _DOOR)
_OURS_UVLOOP = Contestant("rowferry.informix.aio-uvloop", _DOOR)
_JDBC = Contestant("ibm-jdbc", _DOOR)
_DRIVERS = (_OURS, _REFERENCE, _JDBC)
_WITH_FLOOR = (Contestant("sqlite3", "sqlite"), _OURS, _OURS_AIO, _REFERENCE, _JDBC)

_NOTES = ("Over TCP on loopback. informix-driver asks once more than needed at the end of each result.",)
_COLUMNS = "id, name, city, amount, quantity, placed_at"


def _fetch(rows: int, statements: int, title: str) -> Scenario:
    """`statements` SELECTs of `rows` rows each."""
    # A range instead of FIRST/LIMIT: the same text then means the same to SQLite itself.
    spare = data.MANY_ROWS - rows
    starts = [number * 7_919 % (spare + 1) for number in range(statements)]
    return Scenario(
        name=f"informix_fetch_{rows}",
        title=f"Informix: {title}",
        sql=f"SELECT {_COLUMNS} FROM bench_many WHERE id > {{0}} AND id <= {{1}} ORDER BY id",
        make_parameters=lambda: [(start, start + rows) for start in starts],
        contestants=_WITH_FLOOR,
        reference=_REFERENCE,
        rows=rows * statements,
        notes=("Integers, text, a DECIMAL and a DATETIME in 6 columns.", *_NOTES),
    )


def _written(
    rows: int, work: str, words: str, *, most_rounds: int | None = None, contestants: tuple[Contestant, ...] = _DRIVERS
) -> Scenario:
    """`rows` rows inserted."""
    return Scenario(
        name=f"informix_{work}_{rows}",
        title=f"Informix: {words}",
        sql=INSERT,
        make_parameters=lambda: data.written_rows(rows),
        contestants=contestants,
        reference=_REFERENCE,
        rows=rows,
        work=work,
        unit="row",
        read_back=READ_BACK,
        reset=RESET,
        most_rounds=most_rounds,
        notes=("The table is emptied before each round, outside the clock.",),
    )


def _cells(cells: data.CellType) -> Scenario:
    """The cells of one type."""
    return Scenario(
        name=f"informix_cells_{cells.name}",
        title=f"Informix: cells of {cells.declaration.upper()}",
        sql=f"SELECT {', '.join(cells.columns)} FROM {cells.table}",
        make_parameters=lambda: [()],
        contestants=_DRIVERS,
        reference=_REFERENCE,
        rows=data.CELL_ROWS,
        unit="cell",
        units=data.CELL_ROWS * data.CELL_COLUMNS,
        notes=(
            f"{data.CELL_ROWS:,} rows of {data.CELL_COLUMNS} columns of this type, one in 13 NULL, from the wire to "
            "objects: compare the client's CPU time.",
        ),
    )


SCENARIOS = (
    Scenario(
        name="informix_point_select",
        title="Informix: SELECT of one row by primary key",
        sql=f"SELECT {_COLUMNS} FROM bench_rows WHERE id = {{0}}",
        make_parameters=lambda: scattered(1_000, data.NARROW_ROWS),
        contestants=_WITH_FLOOR,
        reference=_REFERENCE,
        rows=1_000,
        notes=("1,000 of them, one after the other; drivers that can keep the statement prepared.", *_NOTES),
    ),
    _fetch(10, 200, "SELECT of 10 rows"),
    _fetch(1_000, 10, "SELECT of 1,000 rows"),
    _fetch(10_000, 1, "SELECT of 10,000 rows"),
    _fetch(100_000, 1, "SELECT of 100,000 rows"),
    _written(1_000, "write_each", "INSERT of one row, 1,000 times in one transaction"),
    _written(100, "write", "executemany of 100 rows in one transaction"),
    _written(1_000, "write", "executemany of 1,000 rows in one transaction", contestants=_WITH_FLOOR),
    _written(10_000, "write", "executemany of 10,000 rows in one transaction"),
    _written(100_000, "write", "executemany of 100,000 rows in one transaction", most_rounds=4),
    _written(100, "write_autocommit", "executemany of 100 rows, each its own transaction"),
    _written(1_000, "write_autocommit", "executemany of 1,000 rows, each its own transaction"),
    _written(10_000, "write_autocommit", "executemany of 10,000 rows, each its own transaction", most_rounds=4),
    Scenario(
        name="informix_connect",
        title="Informix: connect and close",
        sql="SELECT COUNT(*) FROM bench_rows",
        make_parameters=lambda: [()] * 40,
        contestants=(_OURS, _OURS_AIO, _REFERENCE, _JDBC),
        reference=_REFERENCE,
        rows=1,
        work="connect_each",
        unit="connection",
        notes=("Socket, login, capabilities, database; and good-bye.",),
    ),
    Scenario(
        name="informix_pool",
        title="Informix: take a connection out of a pool and give it back",
        sql="SELECT COUNT(*) FROM bench_rows",
        make_parameters=lambda: [()] * 500,
        contestants=(_OURS, _REFERENCE),
        reference=_REFERENCE,
        rows=1,
        work="acquire_each",
        unit="connection",
        notes=("A pool of one connection, with each driver's defaults. IBM's driver leaves pools to others.",),
    ),
    Scenario(
        name="informix_concurrent",
        title="Informix: point SELECTs of 16 asyncio tasks",
        sql=f"SELECT {_COLUMNS} FROM bench_rows WHERE id = {{0}}",
        make_parameters=lambda: scattered(1_600, data.NARROW_ROWS),
        contestants=(_OURS_AIO, _OURS_UVLOOP, _REFERENCE_AIO),
        reference=_REFERENCE_AIO,
        rows=1_600,
        work="select_concurrently",
        width=16,
        notes=("A connection for each task, opened before. informix-driver runs a thread for each.",),
    ),
    Scenario(
        name="informix_cursors",
        title="Informix: 8 cursors of 500 rows, read in turn",
        sql=f"SELECT {_COLUMNS} FROM bench_rows WHERE id > {{0}} AND id <= {{1}} ORDER BY id",
        make_parameters=lambda: [(number * 900, number * 900 + 500) for number in range(8)],
        contestants=_DRIVERS,
        reference=_REFERENCE,
        rows=4_000,
        work="select_interleaved",
        unit="row",
        units=4_000,
        notes=("One row of each cursor at a time, by `fetchone`.",),
    ),
    Scenario(
        name="informix_lobs_write",
        title="Informix: INSERT of a BYTE and a TEXT of 1 MB each",
        sql="INSERT INTO bench_lobs (id, picture, document) VALUES ({0}, {1}, {2})",
        make_parameters=lambda: data.lob_rows(2),
        contestants=(_OURS, _JDBC),
        reference=_JDBC,
        rows=2,
        work="write_each",
        unit="row",
        read_back="SELECT id, picture, document FROM bench_lobs ORDER BY id",
        reset="DELETE FROM bench_lobs",
        notes=("informix-driver cannot send values of this size: OverflowError.",),
    ),
    Scenario(
        name="informix_lobs_read",
        title="Informix: SELECT of a BYTE and a TEXT of 1 MB each",
        sql="SELECT id, picture, document FROM bench_lobs_full WHERE id = {0}",
        make_parameters=lambda: [(1,), (2,), (3,)],
        contestants=_DRIVERS,
        reference=_REFERENCE,
        rows=3,
        unit="row",
    ),
    Scenario(
        name="informix_arrow",
        title="Informix: 10,000 rows as an Arrow table",
        sql=f"SELECT {_COLUMNS} FROM bench_many WHERE id <= {{0}}",
        make_parameters=lambda: [(10_000,)],
        contestants=(_OURS, _REFERENCE),
        reference=_REFERENCE,
        rows=10_000,
        work="select_arrow",
        notes=("informix-driver has no Arrow: its rows are turned into a `pyarrow.Table` as its users would.",),
    ),
    *map(_cells, data.CELL_TYPES),
)
