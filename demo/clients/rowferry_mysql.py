"""rowferry.mysql against MariaDB: the store is copied there first, by the same driver."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

from rowferry._core import __version__

from . import Answer
from .dbapi import converse

TITLE = "rowferry.mysql, a real MariaDB"

_TABLES = {
    "customers": """customer_id int PRIMARY KEY, name varchar(60) NOT NULL, email varchar(80) NOT NULL UNIQUE,
        city varchar(40) NOT NULL, active boolean NOT NULL, credit_limit decimal(10,2) NOT NULL,
        member_since date NOT NULL""",
    "stock": """sku varchar(12) PRIMARY KEY, name varchar(60) NOT NULL, quantity int NOT NULL,
        unit_price decimal(10,2) NOT NULL, updated_at datetime NOT NULL""",
    "orders": """order_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers (customer_id),
        placed_at datetime NOT NULL, status varchar(12) NOT NULL, gift boolean NOT NULL, note text""",
    "items": """order_id int NOT NULL REFERENCES orders (order_id), line smallint NOT NULL,
        sku varchar(12) NOT NULL REFERENCES stock (sku), quantity int NOT NULL, unit_price decimal(10,2) NOT NULL,
        PRIMARY KEY (order_id, line)""",
}


def run(address: dict[str, Any], customer: int) -> Answer:
    """An ordinary connection with its defaults; `executemany` writes the tables."""
    import rowferry.mysql

    connection = rowferry.mysql.connect(**address["mariadb"])
    with contextlib.closing(sqlite3.connect(address["path"])) as source, connection.cursor() as cursor:
        for table, columns in _TABLES.items():
            cursor.execute(f"CREATE TABLE {table} ({columns}) CHARACTER SET utf8mb4")
            # Only what the generator made: the other clients have written customers of their own by now.
            where = " WHERE customer_id < 9000" if table == "customers" else ""
            rows = source.execute(f"SELECT * FROM {table}{where}").fetchall()
            cursor.executemany(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(rows[0]))})", rows)
    connection.commit()
    return converse(connection, "%s", "rowferry.mysql", f"rowferry {__version__}", customer)
