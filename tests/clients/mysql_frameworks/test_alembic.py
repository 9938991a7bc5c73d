"""Alembic: what it finds out by itself, forth and back."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy.dialects import mysql as types

from tests.servers.mysql import MySQLServer

from .databases import new_database, url_of

pytestmark = pytest.mark.on("mariadb", "mysql9")

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
        sa.Column("kind", sa.Enum("new", "old"), server_default="new", nullable=False),
        sa.Column("seen", types.DATETIME(fsp=6), comment="when they came"),
        comment="who buys",
    )
    return metadata


def second() -> sa.MetaData:
    metadata = first()
    customers = metadata.tables["customers"]
    customers.append_column(sa.Column("credit", sa.Numeric(10, 2), server_default=sa.text("0.00"), nullable=False))
    sa.Index("by_kind", customers.c.kind, customers.c.seen)
    sa.Table(
        "orders",
        metadata,
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("customer_id", sa.ForeignKey("customers.id", ondelete="CASCADE", name="whose"), nullable=False),
        sa.Column("note", types.MEDIUMTEXT(collation="utf8mb4_bin")),
    )
    return metadata


def test_revisions_forth_and_back(server: MySQLServer, tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENVIRONMENT)
    (tmp_path / "script.py.mako").write_text(TEMPLATE)
    with new_database(server, "alembic") as database:
        url = url_of(server, database)
        config = Config()
        config.set_main_option("script_location", str(tmp_path))
        config.set_main_option("path_separator", "os")
        config.set_main_option("sqlalchemy.url", url.render_as_string(hide_password=False))
        engine = sa.create_engine(url)

        def tables() -> set[str]:
            return set(sa.inspect(engine).get_table_names())

        for number, metadata in enumerate((first(), second()), 1):
            config.attributes["metadata"] = metadata
            command.revision(config, f"step {number}", autogenerate=True, rev_id=str(number))
            command.upgrade(config, "head")
            # Nothing is left to do: what was written reads as it was meant.
            command.check(config)
        assert tables() == {"alembic_version", "customers", "orders"}
        with engine.begin() as connection:
            connection.execute(sa.insert(second().tables["customers"]), [{"name": "a"}, {"name": "b"}])
            connection.execute(sa.insert(second().tables["orders"]), {"customer_id": 1})
            context = MigrationContext.configure(connection)
            differences = compare_metadata(context, first())
            assert {difference[0] for difference in differences} >= {"remove_table", "remove_column", "remove_index"}
        command.downgrade(config, "1")
        assert tables() == {"alembic_version", "customers"}
        with engine.connect() as connection:
            assert connection.execute(sa.select(sa.func.count()).select_from(sa.table("customers"))).scalar() == 2
        command.downgrade(config, "base")
        assert tables() == {"alembic_version"}
        engine.dispose()
