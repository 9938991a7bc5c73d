"""SQLAlchemy on psycopg 3: connecting, the ORM's statements, reflection."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from sqlalchemy import Engine, ForeignKey, Numeric, String, create_engine, func, inspect, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from tests.servers.rowferry import Rowferry


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "authors"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    books: Mapped[list[Book]] = relationship(back_populates="author")


class Book(Base):
    __tablename__ = "books"

    id: Mapped[int] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey("authors.id"))
    title: Mapped[str] = mapped_column(String(80))
    price: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    author: Mapped[Author] = relationship(back_populates="books")


@pytest.fixture
def engine(served: Rowferry) -> Iterator[Engine]:
    engine = create_engine(served.postgres_dsn.replace("postgresql://", "postgresql+psycopg://"))
    yield engine
    engine.dispose()


def test_orm_makes_writes_and_reads(engine: Engine) -> None:
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        ada = Author(name="Ada", books=[Book(title="Notes", price=Decimal("12.50"))])
        session.add_all([ada, Author(name="Zoë", books=[Book(title=f"B{n}", price=Decimal(n)) for n in range(1, 4)])])
        session.commit()
        statement = (
            select(Author.name, func.count(Book.id), func.sum(Book.price))
            .join(Author.books)
            .group_by(Author.name)
            .order_by(Author.name)
        )
        assert session.execute(statement).all() == [("Ada", 1, Decimal("12.50")), ("Zoë", 3, Decimal("6.00"))]
        session.add(Author(name="Ada"))
        with pytest.raises(IntegrityError):
            session.commit()
        session.rollback()
        assert session.scalar(select(func.count()).select_from(Author)) == 2


def test_reflects_tables(engine: Engine) -> None:
    Base.metadata.create_all(engine)
    # A second time, nothing is left to do: the tables are found in the catalog.
    Base.metadata.create_all(engine)
    inspector = inspect(engine)
    assert sorted(inspector.get_table_names()) == ["authors", "books"]
    columns = {column["name"]: column for column in inspector.get_columns("books")}
    assert isinstance(columns["title"]["type"], String)
    assert columns["title"]["nullable"] is False
    assert inspector.get_pk_constraint("books")["constrained_columns"] == ["id"]
    (key,) = inspector.get_foreign_keys("books")
    assert (key["constrained_columns"], key["referred_table"], key["referred_columns"]) == (
        ["author_id"],
        "authors",
        ["id"],
    )
