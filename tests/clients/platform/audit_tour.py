"""A log of changes, tables with a past, and a store of events, all of them in PL/pgSQL."""
# ruff: noqa: E501 (statements)

from __future__ import annotations

import datetime
import json
import uuid
from pathlib import Path
from typing import Any

import psycopg
import tour

STREAMS = [uuid.UUID(int=n) for n in range(3)]


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection that says what it is told."""
    connection = psycopg.connect(url, autocommit=True, application_name="audit")
    connection.add_notice_handler(lambda notice: tour.show("notice", notice.message_primary))
    return connection


def rows(connection: psycopg.Connection[Any], query: str, *args: object) -> None:
    """Print what a statement answers, or how it fails."""
    try:
        cursor = connection.execute(query, args or None)  # type: ignore[arg-type]
        tour.show(cursor.statusmessage)
        if cursor.description:
            for row in cursor.fetchall():
                tour.show(*row)
    except psycopg.Error as error:
        told = error.diag
        tour.show(error.sqlstate, told.message_primary, told.message_detail, told.message_hint, told.context)


def the_schema(url: str) -> None:
    """All of it, as a migration runs it."""
    with connect(url) as connection:
        connection.execute(Path(__file__).with_name("audit.sql").read_text())  # type: ignore[arg-type]
        rows(connection, "select proname, prosecdef, proconfig, provolatile from pg_proc where pronamespace in "
             "(select oid from pg_namespace where nspname in ('audit', 'events', 'public')) order by 1, 2, pronargs")  # fmt: skip


def a_log_of_changes(url: str) -> None:
    """Rows before and after, columns left out, statements."""
    with connect(url) as connection:
        connection.execute(
            "create table customers (id serial primary key, name text, secret text, tags text[], born date)"
        )
        rows(connection, "select audit.audit_table('customers', true, true, array['secret'])")
        rows(connection, "insert into customers (name, secret, tags, born) values ('ann', 's', '{a,b}', '2000-01-02'),"
             " ('bob', 't', null, null)")  # fmt: skip
        rows(connection, "update customers set secret = 'x'")
        rows(connection, "update customers set name = upper(name), tags = tags || 'c'::text where id = 1")
        rows(connection, "insert into customers values (1, 'cy') on conflict (id) do update set name = excluded.name")
        rows(connection, "merge into customers c using (values (2, 'x')) v(id, name) on c.id = v.id"
             " when matched then delete when not matched then insert (id, name) values (v.id, v.name)")  # fmt: skip
        rows(connection, "truncate customers")
        rows(connection, "select event_id, schema_name, table_name, session_user_name is not null, application_name,"
             " client_query, action, row_data, changed_fields, statement_only from audit.logged order by 1")  # fmt: skip
        rows(
            connection,
            "select relid = 'customers'::regclass, count(distinct transaction_id) from audit.logged group by 1",
        )
        rows(connection, "select audit.audit_table('customers', false, false, null)")
        rows(connection, "update customers set name = name")
        rows(connection, "select action, client_query, statement_only from audit.logged order by event_id desc limit 1")
        rows(
            connection,
            "create trigger wrong before insert on customers for each row execute function audit.if_modified()",
        )
        rows(connection, "insert into customers values (1)")
        rows(
            connection,
            "select row_data ->> 'name', count(*) from audit.logged where row_data @> '{\"id\": 1}' group by 1 order by 1",
        )


def tables_with_a_past(url: str) -> None:
    """What held when."""
    with connect(url) as connection:
        connection.execute(
            "create table prices (item text primary key, price numeric(8, 2), sys_period tstzrange not null default"
            " tstzrange(now(), null)); create table prices_history (like prices);"
            "create view prices_ever as select * from prices union all select * from prices_history;"
            "create trigger versions before insert or update or delete on prices for each row execute function"
            " versioning('sys_period', 'prices_history', true)"
        )
        for month, change in enumerate(
            [
                "insert into prices values ('tea', 1), ('milk', 2)",
                "update prices set price = price * 2 where item = 'tea'",
                "update prices set price = price + 1",
                "delete from prices where item = 'milk'",
                "insert into prices values ('milk', 9) on conflict do nothing",
            ],
            1,
        ):
            with connection.transaction():
                connection.execute(f"set local user_defined.system_time = '2020-{month:02}-01 00:00:00+00'")  # type: ignore[arg-type]
                rows(connection, change)
        connection.execute("set timezone to 'UTC'")
        for table in ["prices", "prices_history"]:
            rows(connection, f"select item, price, lower(sys_period) at time zone 'UTC' = make_timestamp(2020, "
                 f"extract(month from lower(sys_period))::int, 1, 0, 0, 0), extract(month from lower(sys_period)),"
                 f" extract(month from upper(sys_period)) from {table} order by 1, lower(sys_period)")  # fmt: skip
        rows(connection, "select item, price from prices_ever where sys_period @> %s::timestamptz order by 1",
             datetime.datetime(2020, 2, 15, tzinfo=datetime.timezone.utc))  # fmt: skip
        with connection.transaction():
            rows(connection, "insert into prices values ('salt', 1)")
            rows(connection, "update prices set price = 2 where item = 'salt'")
            rows(connection, "delete from prices where item = 'salt'")
        rows(connection, "select count(*) from prices_history where item = 'salt'")
        rows(connection, "alter table prices rename sys_period to other")
        rows(connection, "update prices set price = 0")
        rows(connection, "alter table prices rename other to sys_period")
        rows(
            connection, "create trigger late after update on prices for each row execute function versioning('a', 'b')"
        )
        rows(connection, "update prices set price = 0")


def a_store_of_events(url: str) -> None:
    """Versions, a view that is kept, notifications, what is refused."""
    with connect(url) as connection, connect(url) as listener:
        listener.execute("listen events")
        first, second, third = STREAMS

        def append(stream: uuid.UUID, expected: int | None, *events: dict[str, object]) -> None:
            rows(connection, "select version, type, data from events.append(%s, 'account', %s, %s)",
                 stream, expected, json.dumps(events))  # fmt: skip

        append(first, 0, {"type": "opened", "by": "ann"}, {"type": "deposited", "amount": 10})
        append(first, 2, {"type": "withdrawn", "amount": 3.25}, {"type": "deposited", "amount": "0.75"})
        append(first, 2, {"type": "withdrawn", "amount": 1})
        append(second, None, {"type": "withdrawn", "amount": 1})
        append(second, None, {"type": "deposited", "amount": 1}, {"type": "withdrawn", "amount": 1})
        append(third, 0)
        rows(connection, "select * from events.balances order by 1")
        rows(connection, "select * from events.streams order by 1")
        rows(connection, "update events.log set type = 'x'")
        rows(connection, "delete from events.log where stream = %s", first)
        rows(connection, "truncate events.log")
        for notification in listener.notifies(timeout=60, stop_after=3):
            tour.show(notification.channel, notification.payload)


def over_everything(url: str) -> None:
    """What was read: running sums, the last of each, JSON made of it."""
    with connect(url) as connection:
        rows(connection, "select stream, version, sum((data ->> 'amount')::numeric) over (partition by stream order by version)"
             " from events.log order by 1, 2")  # fmt: skip
        rows(connection, "select distinct on (stream) stream, type from events.log order by stream, version desc")
        rows(connection, "select jsonb_pretty(jsonb_agg(to_jsonb(l) - 'seq' order by seq)) from events.log l where stream = %s",
             STREAMS[1])  # fmt: skip
        rows(connection, "select tgrelid::regclass, tgname, tgtype, tgnargs, tgargs, tgoldtable, tgnewtable from pg_trigger"
             " where not tgisinternal order by 1, 2")  # fmt: skip


def off_and_on(url: str) -> None:
    """A log that is switched off, and on again."""
    with connect(url) as connection:
        for change in ["disable", "enable"]:
            rows(connection, f"alter table customers {change} trigger user")
            rows(connection, "delete from customers where id = 1")
            rows(connection, "select count(*) from audit.logged where action = 'D'")
        rows(connection, "drop table customers")
        rows(connection, "select count(*) from pg_trigger where tgname like 'audit_trigger%'")


if __name__ == "__main__":
    tour.run([the_schema, a_log_of_changes, tables_with_a_past, a_store_of_events, over_everything, off_and_on])
