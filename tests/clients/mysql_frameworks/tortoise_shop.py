"""Models of Tortoise's, written, read, changed and undone: `python -m … '{"host": …}'`."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
import uuid
from decimal import Decimal

from rowferry.mysql import aio

aio.install_as_asyncmy()

from tortoise import Tortoise, fields  # noqa: E402
from tortoise.backends.mysql import client  # noqa: E402
from tortoise.exceptions import IntegrityError, OperationalError  # noqa: E402
from tortoise.expressions import F  # noqa: E402
from tortoise.functions import Count, Sum  # noqa: E402
from tortoise.models import Model  # noqa: E402
from tortoise.transactions import in_transaction  # noqa: E402


class Author(Model):
    id = fields.IntField(primary_key=True)
    name = fields.CharField(max_length=60, unique=True)
    books: fields.ReverseRelation[Book]


class Book(Model):
    id = fields.UUIDField(primary_key=True)
    author: fields.ForeignKeyRelation[Author] = fields.ForeignKeyField("models.Author", related_name="books")
    title = fields.CharField(max_length=80)
    price = fields.DecimalField(max_digits=8, decimal_places=2)
    details = fields.JSONField(default=dict)
    published = fields.DatetimeField(null=True)
    reading = fields.TimeDeltaField(null=True)
    cover = fields.BinaryField(null=True)
    weight = fields.FloatField(null=True)
    in_print = fields.BooleanField(default=True)


async def crud() -> None:
    jane = await Author.create(name="Jané ✒ 100%")
    utc = datetime.timezone.utc
    written = await Book.create(
        author=jane,
        title="it's",
        price=Decimal("12.50"),
        details={"tags": ["ä", None]},
        published=datetime.datetime(2026, 11, 21, 10, 20, 30, 123456, tzinfo=utc),
        reading=datetime.timedelta(days=2, microseconds=7),
        cover=b"\xff'\0",
        weight=0.1,
    )
    read = await Book.get(id=written.id).prefetch_related("author")
    for name in Book._meta.fields_db_projection:
        assert getattr(read, name) == getattr(written, name), (name, getattr(read, name), getattr(written, name))
    assert isinstance(read.id, uuid.UUID) and read.author.name == jane.name
    await Book.bulk_create(
        [Book(author=jane, title=f"volume {n}", price=Decimal(n)) for n in range(300)], batch_size=100
    )
    assert await Book.filter(price__lt=10).update(price=F("price") + 1) == 10
    sums = await Author.annotate(n=Count("books"), total=Sum("books__price")).values("n", "total")
    assert sums == [{"n": 301, "total": Decimal("44872.50")}], sums
    assert await Book.filter(title__icontains="VOLUME 1").count() == 111
    assert [b.title async for b in Book.filter(title__startswith="volume").order_by("-price").limit(2)] == [
        "volume 299",
        "volume 298",
    ]
    for wrong, expected in ((Author.create(name=jane.name), IntegrityError), (Author.raw("SELECT"), OperationalError)):
        try:
            await wrong
        except expected:
            continue
        raise AssertionError(expected)
    await read.delete()
    assert await Book.all().count() == 300


async def transactions() -> None:
    try:
        async with in_transaction():
            await Author.create(name="gone")
            raise LookupError
    except LookupError:
        pass
    async with in_transaction() as outer:
        await Author.create(name="kept", using_db=outer)
        try:
            # A savepoint.
            async with in_transaction():
                await Author.create(name="undone")
                raise LookupError
        except LookupError:
            pass
        async with in_transaction():
            await Author.create(name="kept, too")
        locked = await Author.filter(name="kept").select_for_update().get()
        assert locked.name == "kept"
    names = set(await Author.all().values_list("name", flat=True))
    assert names & {"gone", "kept", "undone", "kept, too"} == {"kept", "kept, too"}, names

    # More tasks than connections.
    await asyncio.gather(*(Author.create(name=f"task {n}") for n in range(30)))
    assert await Author.filter(name__startswith="task").count() == 30


async def main(database: str) -> None:
    assert client.mysql.connect is aio.connect
    credentials = json.loads(database)
    connections = {"default": {"engine": "tortoise.backends.mysql", "credentials": {**credentials, "maxsize": 3}}}
    await Tortoise.init({"connections": connections, "apps": {"models": {"models": ["__main__"]}}})
    try:
        await Tortoise.generate_schemas()
        await crud()
        await transactions()
    finally:
        await Tortoise.close_connections()
    print("all is well")


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(main(sys.argv[1]), 50))
