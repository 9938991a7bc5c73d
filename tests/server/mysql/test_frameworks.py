"""What applications bring along: SQLAlchemy's and Django's MySQL dialects, unchanged, on a file."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from tests.servers.mysql_door import MySQLDoor


class Base(DeclarativeBase):
    """The store's tables."""


class User(Base):
    """A table with a key that numbers itself and one that is unique."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(50), unique=True)
    bio: Mapped[str | None] = mapped_column(sa.Text)
    posts: Mapped[list[Post]] = relationship(back_populates="user")


class Post(Base):
    """A table that refers to another."""

    __tablename__ = "posts"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id"))
    title: Mapped[str] = mapped_column(sa.String(100), index=True)
    ok: Mapped[bool] = mapped_column(default=True)
    price: Mapped[Decimal] = mapped_column(sa.Numeric(10, 2))
    user: Mapped[User] = relationship(back_populates="posts")


def test_sqlalchemy_makes_fills_asks_and_reflects_tables() -> None:
    with MySQLDoor.start() as server:
        engine = sa.create_engine(f"mysql+pymysql://{server.user}@{server.host}:{server.port}/{server.database}")
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            two = [Post(title="a", price=Decimal("1.50")), Post(title="b", ok=False, price=Decimal(1))]
            session.add(User(name="Änne", posts=two))
            session.commit()
            assert [post.id for post in two] == [1, 2]
            grouped = sa.select(User.name, sa.func.count(Post.id), sa.func.sum(Post.price)).join(Post)
            grouped = grouped.group_by(User.id, User.name).having(sa.func.count(Post.id) > 1)
            assert session.execute(grouped).all() == [("Änne", 2, Decimal("2.50"))]
            # Case and accents say nothing.
            assert session.scalar(sa.select(User.id).where(User.name == "ANNE")) == 1
            session.add(User(name="anne"))
            with pytest.raises(sa.exc.IntegrityError, match=r"Duplicate entry 'anne' for key 'users\.name'"):
                session.commit()
        found = sa.inspect(engine)
        assert sorted(found.get_table_names()) == ["posts", "users"]
        assert [str(column["type"]) for column in found.get_columns("posts")] == [
            "INTEGER",
            "INTEGER",
            "VARCHAR(100)",
            "TINYINT",
            "DECIMAL(10, 2)",
        ]
        assert [key["constrained_columns"] for key in found.get_foreign_keys("posts")] == [["user_id"]]
        assert sorted(index["name"] for index in found.get_indexes("posts")) == ["ix_posts_title", "user_id"]
        Base.metadata.drop_all(engine)
        engine.dispose()


_DJANGO = """\
import sys

import django
import pymysql
from django.conf import settings
from django.core.management import call_command

pymysql.version_info = (2, 2, 7, "final", 0)
pymysql.install_as_MySQLdb()
host, port, user, name = sys.argv[1:]
settings.configure(
    DATABASES={
        "default": {"ENGINE": "django.db.backends.mysql", "NAME": name, "USER": user, "HOST": host, "PORT": port}
    },
    INSTALLED_APPS=["django.contrib." + app for app in ("contenttypes", "auth", "sessions", "admin", "messages")],
    USE_TZ=True,
)
django.setup()
call_command("migrate", verbosity=0)

from django.contrib.auth.models import Group, User

ann = User.objects.create_user("ann", "ann@example.org", "secret")
ann.groups.add(Group.objects.create(name="staff"))
print(User.objects.filter(groups__name="STAFF").count(), ann.check_password("secret"), User.objects.get(pk=ann.pk))
"""


def test_djangos_migrations_and_its_users(tmp_path: Path) -> None:
    script = tmp_path / "site.py"
    script.write_text(_DJANGO)
    with MySQLDoor.start() as server:
        words = [server.host, str(server.port), server.user, server.database]
        done = subprocess.run(
            [sys.executable, str(script), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300
        )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["1", "True", "ann"]
