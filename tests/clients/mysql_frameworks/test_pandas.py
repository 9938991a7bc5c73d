"""pandas: tables in and out, and by Arrow without a Python object per cell."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pandas
import pytest
import sqlalchemy as sa
from rowferry import mysql

from tests.servers.mysql import MySQLServer

from .databases import new_database, url_of

pytestmark = pytest.mark.on("mariadb", "mysql9")


def frame() -> pandas.DataFrame:
    moment = datetime.datetime(2026, 11, 21, 10, 20, 30)
    return pandas.DataFrame(
        {
            "n": range(1000),
            "half": [number / 2 for number in range(1000)],
            "text": [f"é {number}" if number % 3 else None for number in range(1000)],
            "moment": [moment + datetime.timedelta(hours=number) for number in range(1000)],
            "yes": [number % 2 == 0 for number in range(1000)],
        }
    )


def test_a_frame_goes_into_a_table_and_comes_back(server: MySQLServer) -> None:
    with new_database(server, "pandas") as database:
        engine = sa.create_engine(url_of(server, database))
        written = frame()
        types = {"text": sa.String(20), "moment": sa.DateTime}
        assert written.to_sql("t", engine, index=False, dtype=types, method="multi", chunksize=300) == 1000
        assert written.head(5).to_sql("t", engine, index=False, if_exists="append", dtype=types) == 5
        read = pandas.read_sql("SELECT * FROM t ORDER BY n LIMIT 10, 1000", engine, dtype={"yes": "bool"})
        expected = written.iloc[5:].reset_index(drop=True)
        pandas.testing.assert_frame_equal(read, expected, check_dtype=False)
        assert str(read["moment"].dtype).startswith("datetime64")
        assert (read["n"].dtype.kind, read["half"].dtype.kind) == ("i", "f")
        # Bit by bit, with values of the caller's.
        statement = sa.text("SELECT n FROM t WHERE n >= :low ORDER BY n").bindparams(low=10)
        with engine.connect().execution_options(stream_results=True) as connection:
            pieces = [len(piece) for piece in pandas.read_sql(statement, connection, chunksize=400)]
        assert pieces == [400, 400, 190]
        assert len(pandas.read_sql_table("t", engine, index_col="n")) == 1005
        engine.dispose()


def test_a_frame_from_arrow(server: MySQLServer) -> None:
    with new_database(server, "pandas_arrow") as database:
        engine = sa.create_engine(url_of(server, database))
        written = frame()
        written.to_sql("t", engine, index=False, dtype={"text": sa.String(20)})
        engine.dispose()
        with mysql.connect(**{**server.dsn, "database": database}) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT n, half, text, moment, CAST(half AS DECIMAL(10, 2)) AS exact FROM t ORDER BY n")
            read = cursor.fetch_arrow_table().to_pandas()
        assert read["n"].tolist() == written["n"].tolist()
        assert read["half"].tolist() == written["half"].tolist()
        assert read["exact"].iloc[3] == Decimal("1.50")
        assert read["moment"].iloc[-1] == written["moment"].iloc[-1]
        assert [text if isinstance(text, str) else None for text in read["text"]][:3] == [None, "é 1", "é 2"]
