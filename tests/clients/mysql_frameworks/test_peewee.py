"""peewee's MySQLDatabase on `install_as_pymysql()`."""

from __future__ import annotations

import datetime
import importlib
import sys
from collections.abc import Iterator
from decimal import Decimal
from types import ModuleType

import pytest
from rowferry import mysql

from tests.servers.mysql import MySQLServer

from .databases import new_database

pytestmark = pytest.mark.on("mariadb", "mysql9")


@pytest.fixture
def peewee() -> Iterator[ModuleType]:
    """peewee, imported while `pymysql` is ours."""

    def imported() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in ("pymysql", "peewee")]

    before = {name: sys.modules.pop(name) for name in imported()}
    mysql.install_as_pymysql()
    yield importlib.import_module("peewee")
    for name in imported():
        del sys.modules[name]
    sys.modules.update(before)


def test_models(server: MySQLServer, peewee: ModuleType) -> None:
    assert peewee.mysql.connect is mysql.connect
    with new_database(server, "peewee") as name:
        options = {word: value for word, value in server.dsn.items() if word != "database"}
        database = peewee.MySQLDatabase(name, **options)

        class Author(peewee.Model):
            name = peewee.CharField(unique=True)

        class Book(peewee.Model):
            author = peewee.ForeignKeyField(Author, backref="books", on_delete="CASCADE")
            title = peewee.TextField()
            price = peewee.DecimalField(decimal_places=2)
            published = peewee.DateTimeField(null=True)
            cover = peewee.BlobField(null=True)

        models = [Author, Book]
        with database.bind_ctx(models), database.connection_context():
            database.create_tables(models)
            jane = Author.create(name="Jané %s")
            moment = datetime.datetime(2026, 1, 2, 3, 4, 5)
            Book.create(author=jane, title="A", price=Decimal("12.50"), published=moment, cover=b"\xff'\0")
            book = Book.select(Book, Author).join(Author).where(Book.published.year == 2026).get()
            assert (book.author.name, book.price, book.published) == ("Jané %s", Decimal("12.50"), moment)
            assert book.cover == b"\xff'\0"
            rows = [{"author": jane, "title": f"volume {n}", "price": n} for n in range(100)]
            Book.insert_many(rows).execute()
            assert Book.select(peewee.fn.SUM(Book.price)).scalar() == Decimal("4962.50")
            assert Book.update(price=Book.price + 1).where(Book.price < 10).execute() == 10
            with pytest.raises(peewee.IntegrityError), database.atomic():
                Author.create(name="lost")
                Author.create(name="Jané %s")
            with database.atomic() as outer:
                Author.create(name="kept")
                with database.atomic() as inner:
                    Author.create(name="undone")
                    inner.rollback()
                outer.commit()
            assert {author.name for author in Author.select()} == {"Jané %s", "kept"}
            assert Author.replace(id=jane.id, name="Jane").execute()
            assert {index.name for index in database.get_indexes("author")} >= {"PRIMARY", "author_name"}
            assert [column.name for column in database.get_columns("book")][:3] == ["id", "author_id", "title"]
            assert database.get_foreign_keys("book")[0].dest_table == "author"
            assert sum(1 for _ in Book.select().tuples().iterator()) == Book.select().count()
            database.drop_tables(models)
