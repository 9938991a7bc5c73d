"""SQLModel: a session's life, blocking and asyncio."""

# SQLModel reads the annotations: they must not be postponed.

import asyncio
import datetime
import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from pydantic import NaiveDatetime
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlmodel import JSON, Column, Field, MetaData, Relationship, Session, SQLModel, create_engine, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from tests.servers.mysql import MySQLServer

from .databases import new_database, url_of

pytestmark = pytest.mark.on("mariadb", "mysql9")

UTC = {"time_zone": "+00:00"}


class Base(SQLModel):
    metadata = MetaData()


class Team(Base, table=True):
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(max_length=50, unique=True)
    heroes: list["Hero"] = Relationship(back_populates="team")


class Hero(Base, table=True):
    id: int | None = Field(default=None, primary_key=True)
    key: uuid.UUID = Field(default_factory=uuid.uuid4)
    name: str = Field(max_length=50, index=True)
    reward: Decimal = Field(max_digits=10, decimal_places=2)
    born: datetime.date | None = None
    seen: NaiveDatetime | None = None
    # SQLModel hands over aware moments in UTC, and takes what comes back for UTC.
    saved: datetime.datetime | None = None
    powers: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON))
    team_id: int | None = Field(default=None, foreign_key="team.id")
    team: Team | None = Relationship(back_populates="heroes")


def heroes() -> Sequence[Hero]:
    team = Team(name="Prévention ⚡")
    moment = datetime.datetime(2026, 11, 21, 10, 20, 30)
    saved = datetime.datetime(2026, 11, 21, 12, 20, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    return [
        Hero(name="Deadpond", reward=Decimal("1.50"), powers={"fly": [1, None]}, team=team, seen=moment, saved=saved),
        Hero(name="Rusty-Man", reward=Decimal("99999999.99"), born=datetime.date(1970, 1, 2), team=team),
    ]


def test_a_session_writes_reads_and_undoes(server: MySQLServer) -> None:
    with new_database(server, "sqlmodel") as database:
        engine = create_engine(url_of(server, database).update_query_dict(UTC), pool_pre_ping=True)
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            written = heroes()
            session.add_all(written)
            session.commit()
            keys = [hero.key for hero in written]
        with Session(engine) as session:
            found = session.exec(select(Hero).order_by(Hero.name)).all()
            assert [hero.key for hero in found] == keys
            assert (found[0].powers, found[0].reward) == ({"fly": [1, None]}, Decimal("1.50"))
            assert found[0].saved == datetime.datetime(2026, 11, 21, 10, 20, 30, tzinfo=datetime.timezone.utc)
            assert found[1].team is not None and found[1].team.name == "Prévention ⚡"
            found[0].reward += 1
            session.commit()
            session.refresh(found[0])
            assert found[0].reward == Decimal("2.50")
            assert session.exec(select(func.count()).select_from(Hero).where(Hero.born == None)).one() == 1  # noqa: E711
            with pytest.raises(IntegrityError), session.begin_nested():
                session.add(Team(name="Prévention ⚡"))
            session.delete(found[1])
            session.commit()
            assert [hero.name for hero in session.exec(select(Team)).one().heroes] == ["Deadpond"]
        engine.dispose()


def test_an_asyncio_session(server: MySQLServer) -> None:
    async def main(database: str) -> None:
        engine = create_async_engine(
            url_of(server, database, "mysql+rowferry_async").update_query_dict(UTC), pool_pre_ping=True
        )
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with AsyncSession(engine, expire_on_commit=False) as session:
            session.add_all(heroes())
            await session.commit()
            found = (await session.exec(select(Hero).where(Hero.seen != None))).one()  # noqa: E711
            assert (found.name, found.seen) == ("Deadpond", datetime.datetime(2026, 11, 21, 10, 20, 30))
            await session.delete(found)
            await session.rollback()
            names = select(Hero.name).order_by(Hero.id)
            assert (await session.exec(names)).all() == ["Deadpond", "Rusty-Man"]
        await engine.dispose()

    with new_database(server, "sqlmodel_async") as database:
        asyncio.run(asyncio.wait_for(main(database), 60))
