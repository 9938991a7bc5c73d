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
from sqlalchemy.dialects.postgresql import ENUM
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
    with tour_servers.database(ours=request.param == "ours") as dsn:
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


def wide_metadata() -> sa.MetaData:
    """Tables with all that autogenerate compares: schemas, enums, comments, keys with actions, indexes, defaults."""
    meta = sa.MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    state = pg.ENUM("open", "shut", 'it\'s "so"', name="state", schema="shop", metadata=meta)
    numbers = sa.Sequence("numbers", start=5, increment=2, schema="shop", metadata=meta)
    places = sa.Table(
        "Places of Sale",
        meta,
        sa.Column("id", sa.BigInteger, sa.Identity(start=7, increment=3, minvalue=1, maxvalue=9999, cycle=True)),
        sa.Column("region", sa.String(2), nullable=False, comment='it\'s "quoted"'),
        sa.Column("Name", sa.Text(collation="C"), nullable=False, server_default="a name"),
        sa.Column("state", state, nullable=False, server_default=sa.text("'open'::shop.state")),
        sa.Column("states", pg.ARRAY(state), server_default=sa.text("'{}'::shop.state[]")),
        sa.Column("number", sa.Integer, numbers, server_default=numbers.next_value()),
        sa.Column("since", pg.TIMESTAMP(timezone=True, precision=3), server_default=sa.text("CURRENT_TIMESTAMP")),
        sa.Column("until", sa.Date, server_default=sa.text("(CURRENT_DATE + 7)")),
        sa.Column("open", pg.INTERVAL(fields="DAY TO SECOND"), server_default=sa.text("'8 hours'::interval")),
        sa.Column("rate", sa.Numeric(12, 4), server_default=sa.text("1.5")),
        sa.Column("flags", pg.BIT(varying=True, length=8)),
        sa.Column("opening", pg.INT4RANGE, server_default=sa.text("'[8,18)'::int4range")),
        sa.Column("hours", pg.ARRAY(sa.Numeric(4, 1), dimensions=2)),
        sa.Column("extra", pg.JSONB(none_as_null=True), server_default=sa.text("""'{"a": 1}'::jsonb""")),
        sa.Column("words", pg.TSVECTOR, sa.Computed("to_tsvector('simple'::regconfig, \"Name\")", persisted=True)),
        sa.PrimaryKeyConstraint("region", "id"),
        sa.UniqueConstraint("region", "Name", deferrable=True, initially="DEFERRED"),
        sa.UniqueConstraint("number", postgresql_nulls_not_distinct=True),
        sa.CheckConstraint("rate BETWEEN 0 AND 100", name="rate"),
        sa.CheckConstraint("char_length(\"Name\") > 1 OR state <> 'shut'::shop.state", name="name"),
        pg.ExcludeConstraint(("region", "="), ("opening", "&&"), name="one_at_a_time", using="gist"),
        schema="shop",
        comment="where we sell\nand what",
    )
    sa.Index("of lower", sa.func.lower(places.c.Name), places.c.region.desc().nulls_last(), unique=True)
    sa.Index("of_state", places.c.state, postgresql_where=places.c.state != sa.text("'shut'::shop.state"))
    sa.Index("of_extra", places.c.extra, postgresql_using="gin", postgresql_ops={"extra": "jsonb_path_ops"})
    sa.Index("of_words", places.c.words, postgresql_using="gin")
    sa.Index("of_like", places.c.Name, postgresql_ops={"Name": "text_pattern_ops"})
    sa.Index(
        "of_sum", sa.text("(number + 1)"), sa.text("coalesce(rate, 0::numeric) DESC"), postgresql_include=["state"]
    )
    staff = sa.Table(
        "staff",
        meta,
        sa.Column("id", pg.UUID, primary_key=True, server_default=sa.func.gen_random_uuid()),
        sa.Column("region", sa.String(2)),
        sa.Column("place", sa.BigInteger),
        sa.Column("head", sa.ForeignKey("staff.id", ondelete="SET NULL", onupdate="CASCADE"), index=True),
        sa.Column("paid", sa.Numeric(asdecimal=False), server_default="0", nullable=False),
        sa.Column("mail", pg.CITEXT, unique=True),
        sa.Column("labels", pg.HSTORE, server_default=""),
        sa.ForeignKeyConstraint(
            ["region", "place"],
            ["shop.Places of Sale.region", "shop.Places of Sale.id"],
            ondelete="RESTRICT",
            deferrable=True,
            initially="DEFERRED",
            match="FULL",
        ),
        comment="",
    )
    sa.Index(None, staff.c.region, staff.c.place)
    sa.Table(
        "shifts",
        meta,
        sa.Column("who", sa.ForeignKey(staff.c.id, ondelete="CASCADE"), primary_key=True),
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("length", sa.Interval, nullable=False),
        schema="work",
        postgresql_partition_by="RANGE (day)",
    )
    return meta


def test_nothing_is_left_to_do_after_an_upgrade_of_everything(engine: sa.Engine, tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(ENVIRONMENT)
    (tmp_path / "script.py.mako").write_text(TEMPLATE)
    config = Config(stdout=io.StringIO())
    config.set_main_option("script_location", str(tmp_path))
    config.set_main_option("path_separator", "os")
    config.set_main_option("sqlalchemy.url", engine.url.render_as_string(hide_password=False))
    with engine.begin() as connection:
        for statement in ("schema shop", "schema work", "extension citext", "extension hstore", "extension btree_gist"):
            connection.execute(sa.text(f"create {statement}"))
        # Autogenerate leaves sequences to whoever writes the revision.
        connection.execute(sa.text("create sequence shop.numbers start 5 increment 2"))
    config.attributes["metadata"] = wide_metadata()
    command.revision(config, "everything", autogenerate=True, rev_id="everything")
    command.upgrade(config, "head")
    command.check(config)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_schemas": True, "compare_server_default": True, "compare_type": True}
        )
        left = compare_metadata(context, wide_metadata())
        assert [difference for difference in left if not _is_alembics(difference)] == []
    with engine.begin() as connection:
        connection.execute(sa.text("""insert into shop."Places of Sale" (region, "Name") values ('a', 'A-house')"""))
        connection.execute(sa.text("insert into staff (region, place, mail) values ('a', 7, 'A@b.c')"))
    command.downgrade(config, "base")
    assert sa.inspect(engine).get_table_names("shop") == []


def _is_alembics(difference: object) -> bool:
    """True of Alembic's own table, which no metadata has."""
    return isinstance(difference, tuple) and difference[0] == "remove_table" and difference[1].name == "alembic_version"
