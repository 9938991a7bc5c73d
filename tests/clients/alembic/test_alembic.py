"""Alembic: revisions forth and back, on ours and on a real PostgreSQL, and nothing left to do in between."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy.dialects import postgresql as pg

from tests.clients.tours import Servers

ENVIRONMENT = """\
from alembic import context
from sqlalchemy import create_engine

engine = create_engine(context.config.get_main_option("sqlalchemy.url"))
with engine.connect() as connection:
    context.configure(
        connection=connection,
        target_metadata=context.config.attributes["metadata"],
        include_schemas=True,
        compare_server_default=True,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()
"""
TEMPLATE = """\
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
def upgrade():
    ${upgrades if upgrades else "pass"}
def downgrade():
    ${downgrades if downgrades else "pass"}
"""
#: What autogenerate leaves to whoever writes the revision.
BY_HAND = """\
from alembic import op
import sqlalchemy as sa
revision = "by_hand"
down_revision = "3"
def upgrade():
    op.execute("alter type mood add value 'fine' after 'sad'")
    op.rename_table("notes", "remarks", schema="shop")
    op.create_check_constraint("customers_paid", "customers", "credit >= 0")
    op.create_exclude_constraint
    with op.batch_alter_table("customers") as batch:
        batch.alter_column("name", new_column_name="full_name")
        batch.alter_column("seen", type_=sa.Date(), postgresql_using="seen::date")
    customers = sa.table("customers", sa.column("full_name"), sa.column("kind"))
    op.bulk_insert(customers, [{"full_name": "bulk", "kind": "happy"}])
def downgrade():
    op.execute("update customers set kind = 'sad' where kind = 'fine'")
    op.alter_column("customers", "seen", type_=sa.DateTime(timezone=True), postgresql_using="seen::timestamptz")
    op.alter_column("customers", "full_name", new_column_name="name")
    op.drop_constraint("customers_paid", "customers")
    op.rename_table("remarks", "notes", schema="shop")
""".replace("    op.create_exclude_constraint\n", "")


def metadata(step: int) -> sa.MetaData:
    """What the tables are after so many steps."""
    meta = sa.MetaData()
    mood = pg.ENUM("sad", "happy", name="mood", metadata=meta)
    customers = sa.Table(
        "customers",
        meta,
        sa.Column("id", sa.Integer, sa.Identity(always=True, start=10), primary_key=True),
        sa.Column("name", sa.String(60), nullable=False, unique=True, comment="as on the card"),
        sa.Column("kind", mood, server_default="happy", nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), server_default=sa.func.now()),
        comment="who buys",
    )
    if step < 2:
        return meta
    for column in (
        sa.Column("credit", sa.Numeric(10, 2), server_default=sa.text("0.00"), nullable=False),
        sa.Column("small", sa.SmallInteger),
        sa.Column("big", sa.BigInteger, server_default=sa.text("7")),
        sa.Column("score", sa.Double),
        sa.Column("single", sa.REAL),
        sa.Column("day", sa.Date),
        sa.Column("moment", sa.Time),
        sa.Column("local", pg.TIMESTAMP(precision=3)),
        sa.Column("span", pg.INTERVAL),
        sa.Column("flag", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.Column("doc", pg.JSON),
        sa.Column("docb", pg.JSONB, server_default=sa.text("'{}'::jsonb")),
        sa.Column("tags", pg.ARRAY(sa.Text)),
        sa.Column("grid", pg.ARRAY(sa.Integer)),
        sa.Column("uid", pg.UUID, server_default=sa.text("gen_random_uuid()")),
        sa.Column("data", sa.LargeBinary),
        sa.Column("address", pg.INET),
        sa.Column("network", pg.CIDR),
        sa.Column("mac", pg.MACADDR),
        sa.Column("during", pg.TSTZRANGE),
        sa.Column("words", pg.TSVECTOR),
        sa.Column("bits", pg.BIT(4)),
        sa.Column("code", sa.CHAR(3)),
        sa.Column("twice", sa.Integer, sa.Computed("small * 2", persisted=True)),
    ):
        customers.append_column(column)
    sa.Index("by_kind", customers.c.kind, customers.c.day.desc())
    sa.Index("by_day", customers.c.day, postgresql_where=sa.text("flag"))
    sa.Index("by_lower", sa.func.lower(customers.c.name), unique=True)
    sa.Index("by_doc", customers.c.docb, postgresql_using="gin")
    sa.Index("covering", customers.c.big, postgresql_include=["small"])
    sa.Table(
        "orders",
        meta,
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("customer_id", sa.ForeignKey("customers.id", ondelete="CASCADE", name="whose"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("status", sa.Text, server_default="new"),
        sa.UniqueConstraint("customer_id", "number", name="once"),
        sa.CheckConstraint("number > 0", name="positive"),
    )
    if step < 3:
        return meta
    meta.tables["orders"].c.status.type = sa.String(20)
    meta.tables["orders"].c.status.nullable = False
    meta.tables["orders"].c.number.comment = "counts from 1"
    meta.tables["orders"].c.number.type = sa.BigInteger()
    sa.Table(
        "notes",
        meta,
        sa.Column("order_id", sa.ForeignKey("orders.id", name="of_order"), primary_key=True),
        sa.Column("line", sa.Integer, sa.Identity(), primary_key=True),
        sa.Column("text", sa.Text, sa.Sequence("note_numbers", schema="shop"), server_default="none"),
        schema="shop",
    )
    return meta


@pytest.fixture(params=["postgresql", "ours"])
def engine(request: pytest.FixtureRequest, tour_servers: Servers) -> Iterator[sa.Engine]:
    """An empty database of a real PostgreSQL, and of ours."""
    with tour_servers.database(request.param) as dsn:
        made = sa.create_engine(dsn.replace("postgresql://", "postgresql+psycopg://"))
        yield made
        made.dispose()


def test_revisions_forth_and_back(engine: sa.Engine, tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENVIRONMENT)
    (tmp_path / "script.py.mako").write_text(TEMPLATE)
    config = Config(stdout=io.StringIO())
    config.set_main_option("script_location", str(tmp_path))
    config.set_main_option("path_separator", "os")
    config.set_main_option("sqlalchemy.url", engine.url.render_as_string(hide_password=False))
    with engine.begin() as connection:
        connection.execute(sa.text("create schema shop"))

    for step in (1, 2, 3):
        config.attributes["metadata"] = metadata(step)
        command.revision(config, f"step {step}", autogenerate=True, rev_id=str(step))
        command.upgrade(config, "head")
        # Nothing is left to do: what was written reads as it was meant.
        command.check(config)
        with engine.connect() as connection:
            context = MigrationContext.configure(
                connection, opts={"include_schemas": True, "compare_server_default": True, "compare_type": True}
            )
            left = compare_metadata(context, metadata(step))
            assert [difference for difference in left if not _is_alembics(difference)] == []

    customers = metadata(3).tables["customers"]
    with engine.begin() as connection:
        made = connection.execute(
            sa.insert(customers).returning(customers.c.id, customers.c.twice, customers.c.credit, customers.c.kind),
            {"name": "Ann", "small": 4, "tags": ["a", "b,c"], "docb": {"k": [1]}, "data": b"\0\1"},
        ).one()
        assert (made.id, made.twice, str(made.credit), made.kind) == (10, 8, "0.00", "happy")
        connection.execute(sa.insert(metadata(3).tables["orders"]), {"customer_id": 10, "number": 1})
    (tmp_path / "versions" / "by_hand.py").write_text(BY_HAND)
    command.upgrade(config, "head")
    with engine.connect() as connection:
        rows = connection.execute(sa.text("select id, full_name, kind from customers order by id")).all()
        assert [tuple(row) for row in rows] == [(10, "Ann", "happy"), (11, "bulk", "happy")]

    inspector = sa.inspect(engine)
    assert inspector.get_table_comment("customers") == {"text": "who buys"}
    assert set(inspector.get_table_names("shop")) == {"remarks"}
    command.downgrade(config, "1")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_schemas": True})
        left = compare_metadata(context, metadata(1))
        assert [difference for difference in left if not _is_alembics(difference)] == []
        assert connection.execute(sa.text("select count(*) from customers")).scalar() == 2
    command.downgrade(config, "base")
    assert sa.inspect(engine).get_table_names() == ["alembic_version"]
    command.history(config)
    command.current(config)


def test_the_sql_of_a_revision_made_offline_runs(engine: sa.Engine, tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENVIRONMENT)
    (tmp_path / "script.py.mako").write_text(TEMPLATE)
    written = io.StringIO()
    with contextlib.redirect_stdout(written), engine.begin() as connection:
        context = MigrationContext.configure(connection, opts={"as_sql": True, "output_buffer": written})
        from alembic.operations import Operations

        operations = Operations(context)
        operations.create_table("offline", sa.Column("id", sa.Integer, primary_key=True), sa.Column("t", sa.Text))
        operations.create_index("offline_t", "offline", ["t"])
    with engine.begin() as connection:
        connection.exec_driver_sql(written.getvalue())
    assert [index["name"] for index in sa.inspect(engine).get_indexes("offline")] == ["offline_t"]


def _is_alembics(difference: object) -> bool:
    """True of Alembic's own table, which no metadata has."""
    return isinstance(difference, tuple) and difference[0] == "remove_table" and difference[1].name == "alembic_version"
