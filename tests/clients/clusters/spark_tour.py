"""What Spark reads of a MySQL and of an Informix URL, each beside what the server itself says; prints what differs.

Runs where pyspark is installed: `python spark_tour.py MYSQL_URL INFORMIX_URL`. The tables are those that
`test_clusters` has made.
"""

from __future__ import annotations

import datetime
import json
import sys
import tempfile
import time
from decimal import Decimal
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import col
from rowferry import informix, mysql
from rowferry.spark import RowferryDataSource

DIFFERENT: list[str] = []


def expect(what: str, found: Any, wanted: Any) -> None:
    """Say what is not as it should be."""
    if found != wanted:
        DIFFERENT.append(f"{what}: {found!r:.500}, not {wanted!r:.500}")


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def refused(what: str, act: Any, words: str) -> None:
    try:
        act()
    except Exception as error:
        if words not in str(error):
            DIFFERENT.append(f"{what}: {str(error)[:1000]}")
    else:
        DIFFERENT.append(f"{what}: is not refused")


def read(spark: SparkSession, url: str, **options: Any) -> Any:
    reader = spark.read.format("rowferry").option("url", url)
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader


def of_mysql(spark: SparkSession, url: str) -> None:
    """Types, parts, filters."""
    with mysql.connect(url) as connection, connection.cursor() as cursor:

        def ask(sql: str) -> list[tuple[Any, ...]]:
            cursor.execute(sql)
            return sorted(cursor.fetchall())

        orders = read(
            spark, url, dbtable="orders", partitionColumn="id", numPartitions=5, pushDownPredicate=True
        ).load()
        expect("parts", orders.rdd.getNumPartitions(), 5)
        expect("rows", rows_of(orders), ask("SELECT * FROM orders"))
        expect(
            "types",
            [(field.name, field.dataType.simpleString()) for field in orders.schema.fields],
            [
                ("id", "bigint"),
                ("placed", "timestamp_ntz"),
                ("day", "date"),
                ("country", "string"),
                ("total", "decimal(12,2)"),
                ("big", "decimal(20,0)"),
                ("weight", "double"),
                ("paid", "tinyint"),
                ("note", "string"),
                ("raw", "binary"),
                ("took", "interval day to second"),
                ("doc", "string"),
            ],
        )
        for on in ("country", "placed", "day", "total", "big"):
            frame = read(spark, url, dbtable="orders", partitionColumn=on, numPartitions=3).load()
            expect(f"rows by {on}", frame.count(), 2000)
        narrow = read(spark, url, dbtable="orders", partitionColumn="id").schema("total decimal(12,2), country string")
        expect("some columns", rows_of(narrow.load()), ask("SELECT total, country FROM orders"))
        few = read(spark, url, query="SELECT country, SUM(total) AS s FROM orders GROUP BY country").load()
        expect("a query", rows_of(few), ask("SELECT country, SUM(total) FROM orders GROUP BY country"))
        expect("no rows", rows_of(read(spark, url, query="SELECT * FROM orders WHERE id < 0").load()), [])
        # MariaDB and MySQL think that DE is de, and Spark does not; nor do its answers, wherever a filter is applied.
        for words, filtered, sql in [
            ("=", orders.filter(col("country") == "DE"), "BINARY country = 'DE'"),
            ("<>", orders.filter(col("country") != "DE"), "BINARY country <> 'DE'"),
            ("<", orders.filter(col("country") < "DE"), "BINARY country < 'DE'"),
            ("in", orders.filter(col("country").isin("DE", "fr")), "BINARY country IN ('DE', 'fr')"),
            ("number", orders.filter((col("id") >= 1900) & (col("id") < 1903)), "id IN (1900, 1901, 1902)"),
            ("decimal", orders.filter(col("total") > Decimal("900.10")), "total > 900.10"),
            ("big", orders.filter(col("big") == Decimal(2**64 - 1 - 7)), "big = 18446744073709551608"),
            ("day", orders.filter(col("day") == datetime.date(2026, 2, 1)), "day = '2026-02-01'"),
            (
                "moment",
                orders.filter(col("placed") < datetime.datetime(2026, 1, 1, 0, 30, 0, 7)),
                "placed < '2026-01-01 00:30:00.000007'",
            ),
            ("null", orders.filter(col("note").isNull()), "note IS NULL"),
            ("not null", orders.filter(col("note").isNotNull() & (col("id") < 50)), "note IS NOT NULL AND id < 50"),
            ("json", orders.filter(col("doc") == '{"a": 1}'), "id = 1"),
            ("double", orders.filter(col("weight") == 0.1), "weight = 0.1"),
        ]:
            wanted = [row[0] for row in ask(f"SELECT id FROM orders WHERE {sql}")]
            expect(f"filter {words}", sorted(row.id for row in filtered.collect()), wanted)
        orders.filter((col("id") == 77) & (col("country") == "nowhere")).collect()
        sent = [words for (words,) in ask("SELECT argument FROM mysql.general_log") if "'nowhere'" in words]
        expect("filters reach the server", any("q.`id` IN (77)" in words for words in sent), True)

    spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    plain = read(spark, url, dbtable="orders", partitionColumn="id").load()
    expect("filters that Spark keeps", plain.filter((col("id") < 100) & (col("country") == "DE")).count(), 17)
    pushing = read(spark, url, dbtable="orders", pushDownPredicate=True).load()
    refused("filters that Spark does not give", pushing.collect, "filterPushdown.enabled")
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    refused("no url", lambda: spark.read.format("rowferry").option("dbtable", "t").load(), "the option `url`")
    refused("two things", lambda: read(spark, url, dbtable="t", query="SELECT 1").load(), "name one of them")
    refused("bounds", lambda: read(spark, url, dbtable="orders", lowerBound=1).load(), "`lowerbound` is not needed")
    refused("a typo", lambda: read(spark, url, dbtable="orders", partitions=1).load(), "`partitions` is not one of")
    refused("ranges of nothing", read(spark, url, dbtable="orders", numPartitions=3).load().collect, "without `part")
    refused("a place in a log", read(spark, url, dbtable="orders", startingOffset="now").load().collect, "read once")
    refused("no number", lambda: read(spark, url, dbtable="orders", numPartitions=0).load(), "a number from 1 on")
    refused("no table", lambda: read(spark, url, dbtable="nowhere").load(), "nowhere")
    refused("another kind", lambda: read(spark, "oracle://x", dbtable="t").load(), "`oracle://` is not one of")
    narrow = read(spark, url, dbtable="orders").schema("id byte").load()
    refused("too small a type", narrow.collect, "column `id` as int8")


def of_informix(spark: SparkSession, url: str) -> None:
    """The same of the Informix door, whose moments have five digits."""
    moment = datetime.datetime(2026, 1, 1, 5, 0, 0, 123456)
    with informix.connect(url) as connection:
        wanted = sorted(connection.execute("SELECT * FROM orders").fetchall())
    orders = read(spark, url, dbtable="orders", partitionColumn="id", numPartitions=4, pushDownPredicate=True).load()
    expect("informix: rows", rows_of(orders), wanted)
    types = [field.dataType.simpleString() for field in orders.schema.fields]
    expect("informix: types", types, ["int", "timestamp_ntz", "date", "string", "decimal(12,2)", "string"])
    late = orders.filter((col("total") >= Decimal("500")) & (col("country") == "DE") & (col("placed") > moment))
    expect(
        "informix: filters",
        rows_of(late),
        [row for row in wanted if row[4] >= 500 and row[3] == "DE" and row[1] > moment],
    )


def of_changes(spark: SparkSession, url: str) -> None:
    """A stream that is stopped amid changes, and goes on where it was."""
    directory = tempfile.mkdtemp()
    schema = "_change string, id int, name string"

    def start(name: str, **options: Any) -> Any:
        reader = spark.readStream.format("rowferry").option("url", url).option("dbtable", "watched").schema(schema)
        for option, value in options.items():
            reader = reader.option(option, value)
        writer = reader.load().writeStream.format("json").option("checkpointLocation", f"{directory}/{name}")
        return writer.option("path", f"{directory}/{name}-out").start()

    def found(name: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in spark.read.schema(schema).json(f"{directory}/{name}-out").collect()]

    with mysql.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        query = start("a")
        query.processAllAvailable()
        wanted = []
        for turn in range(3):
            first = turn * 100
            cursor.executemany("INSERT INTO watched VALUES (%s, %s)", [(first + n, f"n{n}") for n in range(50)])
            cursor.execute("UPDATE watched SET name = 'é' WHERE id = %s", (first + 7,))
            cursor.execute("DELETE FROM watched WHERE id = %s", (first + 9,))
            cursor.execute("INSERT INTO other VALUES (%s)", (turn,))
            # A table of the same name elsewhere.
            cursor.execute("INSERT INTO elsewhere.watched VALUES (%s, 'no')", (first,))
            wanted += [("insert", first + n, f"n{n}") for n in range(50)]
            wanted += [("update", first + 7, "é"), ("delete", first + 9, "n9")]
            if turn == 1:
                # What changes while nobody looks is not lost.
                query = start("a")
            query.processAllAvailable()
            if turn == 0:
                query.stop()
        query.stop()
        expect("changes", sorted(found("a")), sorted(wanted))
        late = start("b", startingOffset="now")
        late.processAllAvailable()
        late.stop()
        expect("no changes", found("b"), [])

    def of_a_query() -> None:
        frame = spark.readStream.format("rowferry").option("url", url).option("query", "SELECT 1 AS a").load()
        frame.writeStream.format("memory").queryName("q").start().processAllAvailable()

    refused("changes of a query", of_a_query, "changes are those of a table")


def main() -> None:
    mysql_url, informix_url = sys.argv[1:]
    begun = time.monotonic()
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.python.filterPushdown.enabled", "true")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(RowferryDataSource)
    of_mysql(spark, mysql_url)
    of_informix(spark, informix_url)
    of_changes(spark, mysql_url)
    spark.stop()
    print(json.dumps({"different": DIFFERENT, "seconds": round(time.monotonic() - begun)}))


if __name__ == "__main__":
    main()
