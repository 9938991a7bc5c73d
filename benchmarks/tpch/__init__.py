"""TPC-H: eight tables in the shape of its specification, from a fixed seed, and its 22 queries as files."""

from __future__ import annotations

import os
from pathlib import Path

from .generate import TABLES, rows
from .schema import INDEXES, TABLES_SQL

#: The scale factor: 1 is six million lines of orders.
SCALE = float(os.environ.get("TPCH_SCALE", "0.1"))

_DIRECTORY = Path(__file__).parent / "queries"

#: The queries by name: `q01` to `q22`.
QUERIES: dict[str, str] = {path.stem: path.read_text() for path in sorted(_DIRECTORY.glob("q*.sql"))}


def fill(dsn: str, scale: float = SCALE) -> None:
    """Make the tables in a database that speaks PostgreSQL's protocol, fill and index them, and gather statistics."""
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in TABLES_SQL.split(";"):
            if statement.strip():
                connection.execute(statement)
        for table in TABLES:
            with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                copy.write("".join("\t".join(map(str, row)) + "\n" for row in rows(table, scale)))
        for statement in INDEXES:
            connection.execute(statement)
        connection.execute("VACUUM")
        connection.execute("ANALYZE")


__all__ = ["INDEXES", "QUERIES", "SCALE", "TABLES", "TABLES_SQL", "fill", "rows"]
