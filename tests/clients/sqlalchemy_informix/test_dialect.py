"""SQLAlchemy, Alembic and pandas on the dialects for Informix."""

from __future__ import annotations

import asyncio
import datetime
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pandas
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from rowferry import informix
from rowferry.informix import aio
from rowferry.sqlalchemy.informix import DATETIME, INTERVAL, LVARCHAR, MONEY, SMALLFLOAT
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, selectinload
from sqlalchemy.pool import NullPool

from tests.python.informix.server import LOCALE, serve
from tests.servers.rowferry import Rowferry


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "authors"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(40), unique=True)
    active: Mapped[bool] = mapped_column(default=True)
    books: Mapped[list[Book]] = relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "books"

    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True)
    author_id: Mapped[int] = mapped_column(sa.ForeignKey("authors.id", ondelete="CASCADE"))
    title: Mapped[str] = mapped_column(sa.String(80))
    price: Mapped[Decimal] = mapped_column(sa.Numeric(8, 2))
    author: Mapped[Author] = relationship(back_populates="books")


class Empty(Base):
    __tablename__ = "empties"

    id: Mapped[int] = mapped_column(primary_key=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Rowferry]:
    with serve(tmp_path / "app.db") as server:
        yield server


def url_of(server: Rowferry, driver: str = "rowferry", **query: str) -> sa.URL:
    assert server.informix is not None
    host, port = server.informix
    given = {"client_locale": LOCALE, **query}
    return sa.URL.create(f"informix+{driver}", host=host, port=port, database=server.dbname, query=given)


@pytest.fixture
def engine(server: Rowferry) -> Iterator[sa.Engine]:
    engine = sa.create_engine(url_of(server))
    yield engine
    engine.dispose()


def test_orm_makes_writes_and_reads(engine: sa.Engine) -> None:
    Base.metadata.create_all(engine)
    # A second time, nothing is left to do: the tables are found in the catalog.
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        ada = Author(name="Ada", books=[Book(title="Notes", price=Decimal("12.50"))])
        zoe = Author(name="Zoë", active=False, books=[Book(title=f"B{n}", price=Decimal(n)) for n in range(1, 4)])
        session.add_all([ada, zoe, Empty(), Empty()])
        session.commit()
        assert (ada.id, zoe.id, ada.books[0].id) == (1, 2, 1)
        statement = (
            sa.select(Author.name, sa.func.count(Book.id), sa.func.sum(Book.price))
            .join(Author.books)
            .group_by(Author.name)
            .order_by(Author.name)
        )
        rows = session.execute(statement).all()
        assert rows == [("Ada", 1, Decimal("12.50")), ("Zoë", 3, Decimal("6.00"))]
        assert type(rows[0][1]) is int
        assert session.scalars(sa.select(Author.name).where(Author.active)).all() == ["Ada"]
        assert session.scalars(sa.select(Author.name).where(~Author.active)).all() == ["Zoë"]
        page = sa.select(Book.title).order_by(Book.id.desc()).limit(2).offset(1)
        assert session.scalars(page).all() == ["B2", "B1"]
        assert session.scalar(sa.select(sa.func.count()).select_from(Empty)) == 2
        session.add(Author(name="Ada"))
        with pytest.raises(sa.exc.IntegrityError):
            session.commit()
        session.rollback()
        session.delete(session.get(Author, 2))
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Book)) == 1
        with session.begin_nested() as savepoint:
            session.add(Author(name="Bea"))
            session.flush()
            savepoint.rollback()
        assert session.scalar(sa.select(sa.func.count()).select_from(Author)) == 1


def test_asyncio_orm(server: Rowferry) -> None:
    async def main() -> None:
        engine = create_async_engine(url_of(server, "rowferry_async"), pool_pre_ping=True)
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with AsyncSession(engine) as session:
            session.add(Author(name="Ada", books=[Book(title=f"B{n}", price=Decimal(n)) for n in range(300)]))
            await session.commit()
            statement = sa.select(Author).options(selectinload(Author.books))
            (author,) = (await session.scalars(statement)).all()
            assert len(author.books) == 300
            stream = await session.stream_scalars(sa.select(Book.title).order_by(Book.id))
            assert [title async for title in stream] == [f"B{n}" for n in range(300)]
        async with engine.connect() as connection:
            raw = await connection.get_raw_connection()
            assert isinstance(raw.driver_connection, aio.AsyncConnection)
        await engine.dispose()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_types_there_and_back(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    columns = {
        "amount": (MONEY(10, 2), Decimal("19.90")),
        "ratio": (SMALLFLOAT(), 0.5),
        "long_text": (sa.String(400), "é" * 200),
        "words": (sa.Text(), "x" * 5000),
        "raw": (sa.LargeBinary(), b"\xff\0\x01"),
        "yes": (sa.Boolean(), True),
        "day": (sa.Date(), datetime.date(2026, 11, 21)),
        "moment": (sa.DateTime(), datetime.datetime(2026, 11, 21, 15, 30, 0, 123450)),
        "second_": (DATETIME("YEAR", "SECOND"), datetime.datetime(2026, 11, 21, 15, 30)),
        "clock": (sa.Time(), datetime.time(15, 30, 0, 500000)),
        "span": (sa.Interval(), datetime.timedelta(days=3, seconds=5)),
        "months": (INTERVAL("YEAR(4)", "MONTH"), informix.IntervalYM(14)),
        "document": (sa.JSON(), {"a": [1, None, "é"]}),
        "who": (sa.Uuid(), uuid.UUID(int=7)),
        "kind": (sa.Enum("new", "old", name="kinds"), "old"),
        "free": (LVARCHAR(), "y"),
        "n": (sa.BigInteger(), 2**62),
    }
    table = sa.Table("kinds", metadata, *(sa.Column(name, kind) for name, (kind, _) in columns.items()))
    metadata.create_all(engine)
    row = {name: value for name, (_, value) in columns.items()}
    with engine.begin() as connection:
        connection.execute(table.insert(), row)
        assert connection.execute(sa.select(table)).one()._asdict() == row
        empty = dict.fromkeys(row)
        connection.execute(table.insert(), [empty, empty])
        assert connection.scalar(sa.select(sa.func.count()).where(table.c.day.is_(None))) == 2
    # What is reflected makes the same table.
    again = sa.Table("kinds", sa.MetaData(), autoload_with=engine)
    process = engine.dialect.type_compiler_instance.process
    assert [process(column.type) for column in again.columns] == [process(column.type) for column in table.columns]


def test_columns_of_distinct_types_are_reflected_as_of_their_source_types(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        for name, source in [
            ("flag", "BOOLEAN"),
            ("mark", "flag"),
            ("note", "LVARCHAR(300)"),
            ("dollar", "DECIMAL(8,2)"),
        ]:
            connection.exec_driver_sql(f"CREATE DISTINCT TYPE {name} AS {source}")
        connection.exec_driver_sql("CREATE TABLE own (f flag NOT NULL, m mark, n note, d dollar)")
    columns = sa.inspect(engine).get_columns("own")
    assert [str(column["type"]) for column in columns] == ["BOOLEAN", "BOOLEAN", "LVARCHAR", "DECIMAL(8, 2)"]
    assert columns[2]["type"].length == 300
    assert [column["nullable"] for column in columns] == [False, True, True, True]


def test_names_are_delimited_wherever_they_stand(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    table = sa.Table(
        "Order",
        metadata,
        sa.Column("Id", sa.Integer, primary_key=True),
        sa.Column("from", sa.String(9)),
        sa.CheckConstraint('"Id" > 0', name="Positive"),
        sa.Index("By From", "from"),
    )
    metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), [{"from": "b"}, {"from": "a"}])
        label = table.c["from"].label("My Label")
        assert connection.scalars(sa.select(label).order_by(label)).all() == ["a", "b"]
        connection.exec_driver_sql('CREATE VIEW "Seen" AS SELECT "from" FROM "Order" WHERE "Id" = 1')
        assert connection.exec_driver_sql('SELECT * FROM "Seen"').scalars().all() == ["b"]
        with pytest.raises(sa.exc.IntegrityError):
            connection.execute(table.insert(), {"Id": -1})
    inspector = sa.inspect(engine)
    assert [check["name"] for check in inspector.get_check_constraints("Order")] == ["Positive"]
    assert inspector.get_view_names() == ["Seen"]


def test_sequences_and_executemany(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    numbers = sa.Sequence("numbers", start=10, increment=5)
    table = sa.Table(
        "numbered", metadata, sa.Column("id", sa.Integer, numbers, primary_key=True), sa.Column("x", sa.Integer)
    )
    metadata.create_all(engine)
    with engine.begin() as connection:
        assert connection.execute(table.insert(), {"x": 1}).inserted_primary_key == (10,)
        assert connection.scalar(numbers.next_value()) == 15
        assert connection.execute(table.insert(), [{"x": n} for n in range(500)]).rowcount == 500
        assert connection.scalar(sa.select(sa.func.max(table.c.id))) == 15 + 5 * 500
    assert sa.inspect(engine).get_sequence_names() == ["numbers"]


def test_what_informix_cannot_say_is_refused(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    parent = sa.Table("p", metadata, sa.Column("id", sa.Integer, primary_key=True))
    table = sa.Table("t", metadata, sa.Column("id", sa.Integer, primary_key=True), sa.Column("x", sa.Integer))
    query = sa.select(table)
    for statement in (
        query.with_for_update(nowait=True),
        query.with_for_update(skip_locked=True),
        query.limit(table.c.x + 1),
        table.insert().values([{"x": 1}, {"x": 2}]),
        table.update().where(table.c.id == parent.c.id).values(x=1),
    ):
        with pytest.raises(sa.exc.CompileError):
            statement.compile(engine)
    for column in (
        sa.Column("p", sa.ForeignKey("p.id", ondelete="SET NULL")),
        sa.Column("p", sa.ForeignKey("p.id", onupdate="CASCADE")),
        sa.Column("p", sa.ForeignKey("p.id", deferrable=True)),
        sa.Column("p", sa.Integer, sa.Computed("id + 1")),
    ):
        made = sa.MetaData()
        sa.Table("p", made, sa.Column("id", sa.Integer, primary_key=True))
        refused = sa.Table("r", made, sa.Column("id", sa.Integer, primary_key=True), column)
        with pytest.raises(sa.exc.CompileError):
            sa.schema.CreateTable(refused).compile(engine)


def test_isolation_levels_autocommit_and_locks(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "READ COMMITTED"
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
        assert connection.get_isolation_level() == "REPEATABLE READ"
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "READ COMMITTED"
        connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.exec_driver_sql("CREATE TABLE kept (x INT)")
    assert sa.inspect(engine).has_table("kept")
    with engine.begin() as connection:
        kept = sa.table("kept", sa.column("x"))
        connection.execute(kept.insert().values(x=1))
        assert connection.execute(sa.select(kept.c.x).with_for_update()).scalars().all() == [1]


def test_a_lost_connection_is_noticed(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, informix.Connection)
        raw._abort()
        with pytest.raises(sa.exc.InterfaceError) as caught:
            connection.exec_driver_sql("SELECT FIRST 1 tabid FROM systables")
        assert caught.value.connection_invalidated
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT FIRST 1 tabid FROM systables").scalar() == 1


def test_the_drivers_own_pool(server: Rowferry) -> None:
    url = url_of(server)
    with informix.create_pool(
        url.host, url.port, database=url.database, client_locale=LOCALE, env={"DELIMIDENT": "y"}, max_size=2
    ) as pool:

        class Lent:
            """A connection whose `close` gives it back."""

            def __init__(self, lent: informix.Connection) -> None:
                self.lent = lent

            def __getattr__(self, name: str) -> object:
                return getattr(self.lent, name)

            def close(self) -> None:
                pool.release(self.lent)

        engine = sa.create_engine(url, creator=lambda: Lent(pool.acquire()), poolclass=NullPool)
        for _ in range(3):
            with engine.connect() as connection:
                assert connection.exec_driver_sql("SELECT FIRST 1 tabid FROM systables").scalar() == 1
        assert pool.statistics().size == 1


def test_a_url_carries_the_drivers_settings(server: Rowferry) -> None:
    engine = sa.create_engine(url_of(server, connect_timeout="5", fetch_bytes="4096", lock_wait="7"))
    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, informix.Connection)
        assert (raw.settings.connect_timeout, raw.settings.fetch_bytes, raw.lock_wait) == (5.0, 4096, 7.0)
    engine.dispose()
    with pytest.raises(TypeError, match="did you mean `password`"):
        sa.create_engine(url_of(server, pasword="x")).connect()


ENVIRONMENT = """\
from alembic import context
from sqlalchemy import create_engine

engine = create_engine(context.config.get_main_option("sqlalchemy.url"))
with engine.connect() as connection:
    metadata = context.config.attributes["metadata"]
    context.configure(connection=connection, target_metadata=metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()
"""
TEMPLATE = """\
import sqlalchemy as sa
import rowferry
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
def upgrade():
    ${upgrades if upgrades else "pass"}
def downgrade():
    ${downgrades if downgrades else "pass"}
"""


def first() -> sa.MetaData:
    metadata = sa.MetaData()
    sa.Table(
        "customers",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(60), nullable=False, unique=True),
        sa.Column("seen", sa.DateTime, server_default=sa.func.now()),
        sa.Column("code", sa.String(20)),
        sa.Column("note", sa.Text),
    )
    return metadata


def second() -> sa.MetaData:
    metadata = sa.MetaData()
    customers = sa.Table(
        "customers",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(60), nullable=False, unique=True),
        sa.Column("seen", sa.DateTime, server_default=sa.func.now()),
        sa.Column("code", sa.String(40), nullable=False, server_default="none"),
        sa.Column("credit", sa.Numeric(10, 2), server_default=sa.text("0.00"), nullable=False),
        sa.Column("active", sa.Boolean),
    )
    sa.Index("by_code", customers.c.code, customers.c.seen)
    sa.Table(
        "orders",
        metadata,
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("customer_id", sa.ForeignKey("customers.id", ondelete="CASCADE", name="whose"), nullable=False),
        sa.Column("span", sa.Interval),
        sa.UniqueConstraint("customer_id", "span", name="once"),
    )
    return metadata


def test_alembic_forth_and_back(server: Rowferry, tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENVIRONMENT)
    (tmp_path / "script.py.mako").write_text(TEMPLATE)
    url = url_of(server).render_as_string(hide_password=False)
    config = Config()
    config.set_main_option("script_location", str(tmp_path))
    config.set_main_option("path_separator", "os")
    config.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    engine = sa.create_engine(url)

    def differences(metadata: sa.MetaData) -> list[object]:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_server_default": True})
            return list(compare_metadata(context, metadata))

    for number, metadata in enumerate((first(), second()), 1):
        assert differences(metadata)
        config.attributes["metadata"] = metadata
        command.revision(config, message=f"step {number}", autogenerate=True, rev_id=f"{number}")
        command.upgrade(config, "head")
        found = differences(metadata)
        assert found == []
    command.downgrade(config, "1")
    assert differences(first()) == []
    command.downgrade(config, "base")
    assert sa.inspect(engine).get_table_names() == ["alembic_version"]
    engine.dispose()


def test_pandas_there_and_back(engine: sa.Engine) -> None:
    moment = datetime.datetime(2026, 11, 21, 10, 20, 30)
    frame = pandas.DataFrame(
        {
            "n": range(1000),
            "half": [number / 2 for number in range(1000)],
            "text": [f"é {number}" if number % 3 else None for number in range(1000)],
            "moment": [moment + datetime.timedelta(hours=number) for number in range(1000)],
            "yes": [number % 2 == 0 for number in range(1000)],
        }
    )
    types = {"text": sa.String(20), "moment": sa.DateTime}
    assert frame.to_sql("t", engine, index=False, dtype=types) == 1000
    assert frame.head(5).to_sql("t", engine, index=False, if_exists="append", dtype=types) == 5
    read = pandas.read_sql("SELECT SKIP 10 * FROM t ORDER BY n", engine)
    pandas.testing.assert_frame_equal(read, frame.iloc[5:].reset_index(drop=True), check_dtype=False)
    assert (read["n"].dtype.kind, read["half"].dtype.kind) == ("i", "f")
    statement = sa.text("SELECT n FROM t WHERE n >= :low ORDER BY n").bindparams(low=10)
    with engine.connect().execution_options(stream_results=True) as connection:
        pieces = [len(piece) for piece in pandas.read_sql(statement, connection, chunksize=400)]
    assert pieces == [400, 400, 190]
    assert len(pandas.read_sql_table("t", engine, index_col="n")) == 1005
