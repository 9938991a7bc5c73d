"""What users of Ibis do, printed step by step, for `tours.py`: `python ibis_tour.py URL` of an empty database.

Answers are put in an order of their own, so that what is printed is what was found out and not how.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import ibis
import pandas
import pyarrow
from ibis import _
from ibis.backends.postgres import Backend

#: What the shop sells, and who buys.
ITEMS = {
    "item_id": [1, 2, 3, 4, 5],
    "name": ["bolt", "nut", "lamp", "chair", "Tür"],
    "price": [Decimal("0.05"), Decimal("0.02"), Decimal("25.00"), Decimal("80.50"), None],
    "weight": [0.01, 0.005, 1.5, 7.25, None],
    "listed": [
        datetime.date(2024, 2, 29),
        datetime.date(2023, 12, 31),
        datetime.date(2024, 1, 1),
        None,
        datetime.date(2020, 6, 15),
    ],
    "kind": ["metal", "metal", "home", "home", None],
    "active": [True, False, True, None, True],
}
SALES = {
    "sale_id": [10, 11, 12, 13, 14, 15, 16],
    "item_id": [1, 1, 3, 4, 3, None, 9],
    "quantity": [100, 250, 1, 2, 3, 1, 4],
    "sold_at": [
        datetime.datetime(2024, month, day, hour, 30, 15, 250_000)
        for month, day, hour in [(1, 5, 9), (1, 20, 14), (2, 29, 23), (3, 1, 0), (3, 31, 12), (4, 1, 6), (12, 31, 18)]
    ],
}
ITEM_TYPES = {
    "item_id": "int32",
    "name": "string",
    "price": "decimal(10, 2)",
    "weight": "float64",
    "listed": "date",
    "kind": "string",
    "active": "boolean",
}
SALE_TYPES = {"sale_id": "int64", "item_id": "int32", "quantity": "int16", "sold_at": "timestamp(6)"}


def rows(expression: Any) -> list[tuple[Any, ...]]:
    """The rows of a table's expression, by pyarrow, in an order that hangs on nothing."""
    table = expression.to_pyarrow()
    found = [tuple(row.values()) for row in table.to_pylist()]
    return sorted(found, key=lambda row: [(value is None, str(value)) for value in row])


def tables(con: Backend) -> list[str]:
    """Tables and views that have names; what Ibis makes of data in memory has one of chance."""
    return [name for name in con.list_tables() if "memtable" not in name]


def show(expression: Any) -> None:
    """Types and rows."""
    print({name: str(kind) for name, kind in expression.schema().items()})
    for row in rows(expression):
        print(*(repr(value) for value in row))


def make(con: Backend) -> None:
    for name, data, types in (("items", ITEMS, ITEM_TYPES), ("sales", SALES, SALE_TYPES)):
        table = con.create_table(name, schema=ibis.schema(types))
        print(name, table.count().execute())
        con.insert(name, pyarrow.table(data, schema=ibis.schema(types).to_pyarrow()))
        print(name, con.table(name).count().execute())
    print(tables(con))


def look(con: Backend) -> None:
    print(con.current_database)
    print([name for name in con.list_databases() if name in ("public", "information_schema", "pg_catalog")])
    print(con.list_tables(like="^items"))
    for name in ("items", "sales"):
        print(dict(con.table(name).schema()))
    print(con.get_schema("items", database="public"))
    print(con.version.split(".")[0])


def choose(con: Backend) -> None:
    items, sales = con.table("items"), con.table("sales")
    show(items.filter(_.price > 1, _.active.fill_null(False)).select("name", "price"))
    show(items.filter(_.kind.isnull() | (_.kind == "home")))
    show(items.filter(_.name.isin(["bolt", "Tür"])).mutate(twice=_.price * 2, whole=_.weight.cast("int64")))
    show(items.filter(_.listed.between("2023-12-31", "2024-02-28")).drop("kind", "active"))
    show(sales.filter(_.quantity % 2 == 0).mutate(half=_.quantity / 2, floor=_.quantity // 3))
    show(items.distinct().select("kind").distinct())
    print(items.order_by(_.price.desc(nulls_first=True)).limit(3, offset=1).name.execute().tolist())
    print(items.order_by(ibis.desc("listed"), "name").name.to_pyarrow().to_pylist())
    show(items.sample(1.0, method="row").select("item_id"))


def join(con: Backend) -> None:
    items, sales = con.table("items"), con.table("sales")
    for how in ("inner", "left", "right", "outer", "semi", "anti"):
        print(how)
        joined = items.join(sales, "item_id", how=how)
        names = ["name"] if how in ("semi", "anti") else ["name", "sale_id", "quantity"]
        show(joined.select(*names))
    show(items.cross_join(sales.limit(0)).select("name"))
    show(items.join(items.view(), [("kind", "kind")]).select("name", "name_right").filter(_.name < _.name_right))
    bought = sales.item_id
    show(items.filter(items.item_id.isin(bought.fill_null(-1))).select("name"))
    show(items.filter(sales.filter(sales.quantity > 200).count() == 1).select("name"))
    show(items.select("item_id").union(sales.select(item_id=_.item_id), distinct=True))
    show(items.select("item_id").intersect(sales.select("item_id")))
    show(items.select("item_id").difference(sales.select("item_id")))


def group(con: Backend) -> None:
    items, sales = con.table("items"), con.table("sales")
    show(
        items.group_by("kind").agg(
            n=_.count(),
            known=_.price.count(),
            total=_.price.sum(),
            mean=_.weight.mean(),
            least=_.listed.min(),
            most=_.name.max(),
            every=_.active.all(),
            some=_.active.any(),
            kinds=_.name.nunique(),
        )
    )
    show(sales.group_by("item_id").agg(total=_.quantity.sum()).filter(_.total > 3))
    show(sales.agg(n=_.count(), dev=_.quantity.std().round(6), var=_.quantity.var(how="pop").round(6)))
    show(sales.agg(median=_.quantity.median(), q=_.quantity.quantile(0.25)))
    show(sales.agg(big=_.quantity.sum(where=_.quantity > 50), texts=_.sale_id.cast("string").group_concat("|")))
    show(sales.group_by(_.sold_at.truncate("M").name("month")).agg(n=_.count()))
    show(items.agg(names=_.name.collect(order_by=_.name)))
    show(items.kind.value_counts())
    show(items.group_by(big=_.price > 1).having(_.count() > 1).agg(n=_.count()))
    show(items.agg(corr=_.price.cast("float64").corr(_.weight, how="pop").round(6)))
    show(items.agg(cheapest=_.name.argmin(_.price), dearest=_.name.argmax(_.price)))
    show(items.agg(mode=_.kind.mode(), bits=_.item_id.bit_xor()))


def window(con: Backend) -> None:
    sales = con.table("sales")
    by_item = ibis.window(group_by="item_id", order_by="sold_at")
    show(
        sales.mutate(
            number=ibis.row_number().over(by_item),
            before=_.quantity.lag().over(by_item),
            after=_.quantity.lead(1, 0).over(by_item),
            running=_.quantity.sum().over(by_item),
            share=(_.quantity / _.quantity.sum().over(group_by="item_id")).round(4),
        ).drop("sold_at")
    )
    show(
        sales.select(
            "sale_id",
            rank=ibis.rank().over(order_by=_.quantity.desc()),
            dense=ibis.dense_rank().over(order_by=_.quantity),
            tile=ibis.ntile(3).over(order_by=_.sale_id),
            percent=ibis.percent_rank().over(order_by=_.sale_id).round(4),
            cume=ibis.cume_dist().over(order_by=_.quantity).round(4),
            first=_.quantity.first().over(order_by=_.sale_id),
            moving=_.quantity.mean().over(rows=(-1, 1), order_by=_.sale_id).round(4),
        )
    )
    show(sales.filter(ibis.row_number().over(by_item) == 0).select("sale_id"))
    show(sales.mutate(last=_.quantity.last().over(ibis.cumulative_window(order_by="sale_id"))).drop("sold_at"))


def compute(con: Backend) -> None:
    items, sales = con.table("items"), con.table("sales")
    name, price = items.name, items.price
    show(
        items.select(
            upper=name.left(1).upper(),
            length=name.length(),
            part=name.substr(1, 2),
            first=name.left(1),
            replaced=name.replace("t", "T"),
            like=name.like("%u%"),
            ilike=name.ilike("t%"),
            matched=name.re_search("^[a-m]"),
            extracted=name.re_extract("(.)(t|r)$", 1),
            swapped=name.re_replace("[aeiou]", "*"),
            padded=name.lpad(6, "."),
            found=name.find("t"),
            reversed=name.reverse(),
            joined=name + "!",
            begins=name.startswith("b"),
        )
    )
    show(
        items.select(
            "item_id",
            floor=price.floor(),
            ceil=price.ceil(),
            round=price.round(1),
            cased=ibis.cases((price > 50, "dear"), (price > 1, "fair"), else_="cheap"),
            some=ibis.coalesce(items.weight, -1.0),
            none=name.nullif("bolt"),
            greatest=ibis.greatest(items.item_id, 3),
            root=items.weight.sqrt().round(6),
            log=items.weight.ln().round(6),
            power=(items.item_id**2).cast("int64"),
            negative=-price,
            clipped=items.item_id.clip(2, 4),
            text=price.cast("string"),
            hashed=items.active.cast("int32"),
        )
    )
    at = sales.sold_at
    show(
        sales.select(
            "sale_id",
            year=at.year(),
            month=at.month(),
            quarter=at.quarter(),
            week=at.week_of_year(),
            day=at.day_of_week.index(),
            named=at.day_of_week.full_name(),
            of_year=at.day_of_year(),
            hour=at.hour(),
            second=at.second(),
            milli=at.millisecond(),
            date=at.date(),
            time=at.time(),
            cut=at.truncate("D"),
            later=at + ibis.interval(days=3, hours=2),
            epoch=at.epoch_seconds(),
            text=at.strftime("%Y/%m/%d %H:%M"),
        )
    )
    show(
        items.select("item_id", next=items.listed + ibis.interval(months=1), past=items.listed - ibis.interval(days=1))
    )
    show(items.select("item_id", days=items.listed.delta("2024-03-01", unit="day")))
    parts = ibis.array([items.item_id, 7])
    show(items.select("item_id", parts=parts, n=parts.length(), has=parts.contains(3), one=parts[0], cut=parts[1:]))
    show(items.select("item_id", part=ibis.array([1, 2]).unnest()))
    show(items.select(words=(name + " a b").split(" ")))
    print(con.execute(ibis.literal("2024-02-29T10:00:00").cast("timestamp") + ibis.interval(months=12)))
    print(con.execute(ibis.literal(Decimal("1.10"), type="decimal(5, 2)") * 3))
    print(con.execute(ibis.literal(None, type="int64")), con.execute(ibis.literal([1, 2])))
    print(con.execute(ibis.uuid("6ba7b810-9dad-11d1-80b4-00c04fd430c8")))


def further(con: Backend) -> None:
    items, sales = con.table("items"), con.table("sales")
    name, item = items.name, items.item_id
    show(sales.item_id.topk(2))
    show(sales.select("sale_id", bucket=_.quantity.bucket([0, 10, 100, 1000])))
    show(sales.mutate(sum=_.quantity.cumsum(), most=_.quantity.cummax(), mean=_.quantity.cummean().round(3)))
    show(sales.select("sale_id", second=_.quantity.nth(1).over(order_by=_.sale_id)))
    show(sales.select(since=_.sold_at.delta(ibis.timestamp("2024-01-01 00:00:00"), unit="hour")))
    show(sales.select(bucket=_.sold_at.bucket(hours=6), utc=_.sold_at.cast("timestamp('UTC')")))
    show(sales.agg(quantiles=_.quantity.quantile([0.25, 0.5])))
    show(items.filter((sales.item_id == item).any()).select("name"))
    show(items.filter(~(sales.item_id == item).any()).select("name"))
    show(items.filter(_.price == items.price.max()).select("name"))
    show(items.fill_null({"price": Decimal("0.00"), "kind": "?"}).select("price", "kind"))
    show(items.alias("foo").sql("SELECT kind, sum(price) AS total FROM foo GROUP BY kind"))
    show(items.select(short=_.kind.cases(("metal", "m"), ("home", "h"), else_="-")))
    show(con.sql("SELECT kind, active, count(*) AS n FROM items GROUP BY ROLLUP (kind, active)"))
    show(ibis.union(items.select("name"), items.select("name")).group_by("name").agg(n=_.count()))
    show(items.filter(item > 3).cache())
    show(items.select(parts=name.split("t"), words=name.re_split("[aeiou]"), twice=name.repeat(2), end=name.right(2)))
    show(items.select("item_id", doubled=ibis.array([item, 2]).map(lambda x: x * 2)))
    show(
        items.select("item_id", kept=ibis.array([item, 3]).filter(lambda x: x > 2), order=ibis.array([9, item]).sort())
    )
    show(items.select(a=item & 3, b=item | 8, c=item ^ 5, d=item << 2, e=item >> 1, f=~item))
    show(items.select(a=_.weight.exp().round(4), b=item.log(2).round(5), c=_.weight.sin().round(5), d=item.sign()))
    show(items.select(a=item.cast("float32"), b=_.weight.cast("decimal(8,3)"), c=_.listed.cast("string")))
    show(ibis.range(1, 5).unnest().name("n").as_table())
    begin, end = ibis.timestamp("2024-01-01"), ibis.timestamp("2024-01-03")
    print(con.execute(ibis.range(begin, end, ibis.interval(hours=12))))
    document = ibis.literal('{"a": [1, {"b": null}], "c": "x", "d": 5}', type="json")
    print(con.execute(document["a"][1]), con.execute(document["c"].str), con.execute(document["d"].int))
    least = ibis.param("int64")
    print(items.filter(item > least).count().execute(params={least: 2}))
    types = {
        "a": "int8", "b": "int16", "c": "float32", "d": "decimal(12,4)", "e": "time", "f": "timestamp('UTC')",
        "g": "uuid", "h": "json", "i": "array<string>", "j": "binary", "k": "interval('D')", "l": "inet",
        "m": "!boolean", "n": "string",
    }  # fmt: skip
    print(dict(con.create_table("kinds", schema=ibis.schema(types)).schema()))
    con.drop_table("kinds")


def write(con: Backend) -> None:
    items = con.table("items")
    con.create_view("dear", items.filter(_.price > 1))
    show(con.table("dear").select("name"))
    con.create_table("copied", items.filter(_.item_id < 3).mutate(more=_.price + 1))
    show(con.table("copied"))
    con.create_table("copied", items.select("item_id"), overwrite=True)
    print(con.table("copied").count().execute())
    arrow = pyarrow.table({"a": pyarrow.array([1, None], pyarrow.int64()), "b": ["x", None], "c": [b"\x00", b""]})
    con.create_table("arrowed", arrow)
    show(con.table("arrowed"))
    con.insert("arrowed", [{"a": 3, "b": "y", "c": b"\x01"}])
    con.insert("arrowed", con.table("arrowed").filter(_.a == 3).mutate(a=_.a + 1))
    show(con.table("arrowed"))
    con.insert("arrowed", arrow, overwrite=True)
    print(con.table("arrowed").count().execute())
    con.truncate_table("arrowed")
    print(con.table("arrowed").count().execute())
    con.create_table("scratch", pandas.DataFrame({"n": [1, 2], "t": ["a", None]}), temp=True)
    show(con.table("scratch"))
    print(tables(con))
    for name in ("copied", "arrowed"):
        con.drop_table(name)
    con.drop_view("dear")
    con.create_database("other")
    con.create_table("t", schema=ibis.schema({"n": "!int64", "j": "json", "a": "array<int32>"}), database="other")
    print(con.list_tables(database="other"), dict(con.table("t", database="other").schema()))
    con.drop_table("t", database="other")
    con.drop_database("other")
    print(tables(con))


def out(con: Backend) -> None:
    items = con.table("items").order_by("item_id")
    frame = items.to_pandas()
    print(frame.dtypes.to_dict(), frame.to_dict("records")[:2])
    table = items.to_pyarrow()
    print(table.schema.names, table.to_pylist()[:2])
    batches = items.to_pyarrow_batches(chunk_size=2)
    print([batch.num_rows for batch in batches])
    print(items.to_polars().rows()[:2])
    print(con.sql("SELECT kind, count(*) AS n FROM items GROUP BY kind ORDER BY kind").to_pyarrow().to_pylist())
    print(dict(con.sql("SELECT 1::smallint AS a, '{1}'::int[] AS b, now() AS c, '{}'::jsonb AS d").schema()))
    with con.raw_sql("SELECT 41 + 1") as cursor:
        print(cursor.fetchone())
    memory = ibis.memtable({"item_id": [1, 3], "note": ["n1", "n3"]})
    show(con.table("items").join(memory, "item_id").select("name", "note"))
    print(con.table("items").pivot_longer(["name", "kind"]).count().execute())
    wide = con.table("items").pivot_wider(
        id_cols="active", names_from="kind", names=["home", "metal"], values_from="item_id", values_agg="max"
    )
    show(wide)


STEPS: list[Callable[[Backend], None]] = [make, look, choose, join, group, window, compute, further, write, out]


def main(url: str) -> None:
    """Runs the steps, each of which may fail by itself."""
    con = ibis.connect(url)
    for step in STEPS:
        print(f"== {step.__name__}")
        try:
            step(con)
        except Exception as error:
            print("FAILED", type(error).__name__, str(error)[:2000])
            con.con.rollback()
    con.disconnect()


if __name__ == "__main__":
    main(sys.argv[1])
