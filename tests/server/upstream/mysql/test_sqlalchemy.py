"""SQLAlchemy's dialect in front of a PostgreSQL server."""

from __future__ import annotations

from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from .front import MySQLFront


class Base(DeclarativeBase):
    """The store's tables."""


class Writer(Base):
    """Somebody."""

    __tablename__ = "writers"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(50), unique=True)
    texts: Mapped[list[Written]] = relationship(back_populates="writer")


class Written(Base):
    """What somebody has written."""

    __tablename__ = "written"
    id: Mapped[int] = mapped_column(primary_key=True)
    writer_id: Mapped[int] = mapped_column(sa.ForeignKey("writers.id"))
    title: Mapped[str] = mapped_column(sa.String(100), index=True)
    ok: Mapped[bool] = mapped_column(default=True)
    price: Mapped[Decimal] = mapped_column(sa.Numeric(10, 2))
    writer: Mapped[Writer] = relationship(back_populates="texts")


def test_sqlalchemy(front: MySQLFront) -> None:
    assert front.server.mysql is not None
    host, port = front.server.mysql
    engine = sa.create_engine(f"mysql+pymysql://ada@{host}:{port}/{front.server.dbname}")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        two = [Written(title="a", price=Decimal("1.50")), Written(title="b", ok=False, price=Decimal(1))]
        session.add(Writer(name="Änne", texts=two))
        session.commit()
        assert [text.id for text in two] == [1, 2]
        grouped = sa.select(Writer.name, sa.func.count(Written.id), sa.func.sum(Written.price)).join(Written)
        grouped = grouped.group_by(Writer.id, Writer.name).having(sa.func.count(Written.id) > 1)
        assert session.execute(grouped).all() == [("Änne", 2, Decimal("2.50"))]
        assert session.scalar(sa.select(Writer.id).where(Writer.name == "ANNE")) == 1
        session.add(Writer(name="anne"))
        with pytest.raises(sa.exc.IntegrityError, match=r"Duplicate entry 'anne' for key 'writers\.name'"):
            session.commit()
        session.rollback()
        two[0].title = "c"
        session.delete(two[1])
        session.commit()
    found = sa.inspect(engine)
    assert {"customer", "orders", "writers", "written"} <= set(found.get_table_names())
    assert [key["referred_table"] for key in found.get_foreign_keys("written")] == ["writers"]
    assert found.get_unique_constraints("writers")[0]["column_names"] == ["name"]
    engine.dispose()
