"""A queue of messages in functions, as an extension makes it for others: read with a time-out, archived, popped."""
# ruff: noqa: E501 (statements)

from __future__ import annotations

import json
import threading
from typing import Any

import psycopg
import tour
from psycopg.types.json import Jsonb

SCHEMA = """
create schema mq;
create table mq.meta (queue_name varchar unique not null, is_partitioned boolean not null default false,
    created_at timestamp with time zone default now() not null);
create type mq.message_record as (msg_id bigint, read_ct integer, enqueued_at timestamp with time zone,
    vt timestamp with time zone, message jsonb);
create type mq.queue_record as (queue_name varchar, is_partitioned boolean, created_at timestamp with time zone);
create type mq.metrics_result as (queue_name text, queue_length bigint, newest_msg_age_sec int, total_messages bigint);

create function mq.format_table_name(queue_name text, prefix text) returns text language plpgsql as $$
begin
    if queue_name ~ '\\$|;|--|''' then
        raise exception 'queue name contains invalid characters: $, ;, --, or \\''';
    end if;
    return lower(prefix || '_' || queue_name);
end $$;

create function mq.validate_queue_name(queue_name text) returns void language plpgsql as $$
begin
    if length(queue_name) >= 48 then
        raise exception 'queue name is too long, maximum length is 48 characters';
    end if;
end $$;

create function mq.acquire_queue_lock(queue_name text) returns void language plpgsql as $$
begin perform pg_advisory_xact_lock(hashtext('mq.queue_' || queue_name)); end $$;

create function mq.create_queue(queue_name text) returns void language plpgsql as $$
declare
    qtable text := mq.format_table_name(queue_name, 'q');
    qtable_seq text := qtable || '_msg_id_seq';
    atable text := mq.format_table_name(queue_name, 'a');
begin
    perform mq.validate_queue_name(queue_name);
    perform mq.acquire_queue_lock(queue_name);
    execute format($q$ create table if not exists mq.%I (
        msg_id bigint primary key generated always as identity, read_ct int default 0 not null,
        enqueued_at timestamp with time zone default now() not null, vt timestamp with time zone not null, message jsonb) $q$, qtable);
    execute format($q$ create table if not exists mq.%I (
        msg_id bigint primary key, read_ct int default 0 not null, enqueued_at timestamp with time zone default now() not null,
        archived_at timestamp with time zone default now() not null, vt timestamp with time zone not null, message jsonb) $q$, atable);
    execute format($q$ create index if not exists %I on mq.%I (vt asc) $q$, qtable || '_vt_idx', qtable);
    execute format($q$ insert into mq.meta (queue_name, is_partitioned) values (%L, false) on conflict do nothing $q$, queue_name);
    raise debug 'made %', qtable_seq;
end $$;

create function mq.send(queue_name text, msg jsonb, delay integer default 0) returns setof bigint language plpgsql as $$
declare sql text; qtable text := mq.format_table_name(queue_name, 'q');
begin
    sql := format($q$ insert into mq.%I (vt, message) values ((clock_timestamp() + %L), $1) returning msg_id $q$,
        qtable, make_interval(secs => delay));
    return query execute sql using msg;
end $$;

create function mq.send_batch(queue_name text, msgs jsonb[], delay integer default 0) returns setof bigint language plpgsql as $$
declare qtable text := mq.format_table_name(queue_name, 'q');
begin
    return query execute format($q$ insert into mq.%I (vt, message)
        select clock_timestamp() + %L, unnest($1) returning msg_id $q$, qtable, make_interval(secs => delay)) using msgs;
end $$;

create function mq.read(queue_name text, vt integer, qty integer, conditional jsonb default '{}'::jsonb)
returns setof mq.message_record language plpgsql as $$
declare sql text; qtable text := mq.format_table_name(queue_name, 'q');
begin
    sql := format($q$
        with cte as (
            select msg_id from mq.%I
            where vt <= clock_timestamp() and case when %L != '{}'::jsonb then (message @> %2$L)::integer else 1 end = 1
            order by msg_id asc limit $1 for update skip locked
        )
        update mq.%I m set vt = clock_timestamp() + %L, read_ct = read_ct + 1
        from cte where m.msg_id = cte.msg_id
        returning m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message $q$,
        qtable, conditional, qtable, make_interval(secs => vt));
    return query execute sql using qty;
end $$;

create function mq.pop(queue_name text) returns setof mq.message_record language plpgsql as $$
declare qtable text := mq.format_table_name(queue_name, 'q'); result mq.message_record;
begin
    return query execute format($q$
        with cte as (select msg_id from mq.%I where vt <= clock_timestamp() order by msg_id asc limit 1 for update skip locked)
        delete from mq.%I where msg_id = (select msg_id from cte)
        returning msg_id, read_ct, enqueued_at, vt, message $q$, qtable, qtable);
end $$;

create function mq.archive(queue_name text, msg_ids bigint[]) returns setof bigint language plpgsql as $$
declare qtable text := mq.format_table_name(queue_name, 'q'); atable text := mq.format_table_name(queue_name, 'a');
begin
    return query execute format($q$
        with archived as (delete from mq.%I where msg_id = any($1) returning msg_id, vt, read_ct, enqueued_at, message)
        insert into mq.%I (msg_id, vt, read_ct, enqueued_at, message)
        select msg_id, vt, read_ct, enqueued_at, message from archived returning msg_id $q$, qtable, atable) using msg_ids;
end $$;

create function mq.set_vt(queue_name text, msg_id bigint, vt integer) returns setof mq.message_record language plpgsql as $$
declare qtable text := mq.format_table_name(queue_name, 'q');
begin
    return query execute format($q$ update mq.%I set vt = (clock_timestamp() + %L) where msg_id = %L returning
        msg_id, read_ct, enqueued_at, vt, message $q$, qtable, make_interval(secs => vt), msg_id);
end $$;

create function mq.metrics(queue_name text) returns mq.metrics_result language plpgsql as $$
declare result_row mq.metrics_result; qtable text := mq.format_table_name(queue_name, 'q');
begin
    execute format($q$
        with q_summary as (select count(*) as queue_length,
            extract(epoch from (now() - max(enqueued_at)))::int as newest_msg_age_sec from mq.%I),
        all_metrics as (select last_value, is_called from mq.%I)
        select %L as queue_name, q.queue_length, greatest(q.newest_msg_age_sec, 0),
            case when a.is_called then a.last_value else 0 end from q_summary q, all_metrics a $q$,
        qtable, qtable || '_msg_id_seq', queue_name) into result_row;
    return result_row;
end $$;

create function mq.purge_queue(queue_name text) returns bigint language plpgsql as $$
declare deleted_count integer; qtable text := mq.format_table_name(queue_name, 'q');
begin
    execute format('select count(*) from mq.%I', qtable) into deleted_count;
    execute format('truncate table mq.%I', qtable);
    return deleted_count;
end $$;

create function mq.drop_queue(queue_name text) returns boolean language plpgsql as $$
declare qtable text := mq.format_table_name(queue_name, 'q'); atable text := mq.format_table_name(queue_name, 'a');
begin
    execute format('drop table if exists mq.%I', qtable);
    execute format('drop table if exists mq.%I', atable);
    if exists (select 1 from information_schema.tables where table_name = 'meta' and table_schema = 'mq') then
        execute format('delete from mq.meta where queue_name = %L', queue_name);
    end if;
    return true;
end $$;

create function mq.notify_queue() returns trigger language plpgsql as $$
begin perform pg_notify('mq.' || tg_table_name || '.' || tg_op, null); return new; end $$;
"""


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection of a worker."""
    return psycopg.connect(url, autocommit=True)


def rows(connection: psycopg.Connection[Any], query: str, *args: object) -> list[Any]:
    """Print what a query answers, or how it fails."""
    found: list[Any] = []
    try:
        found = connection.execute(query, args or None).fetchall()  # type: ignore[arg-type]
        for row in found:
            tour.show(*row)
    except psycopg.Error as error:
        tour.show(error.sqlstate, error.diag.message_primary, error.diag.message_detail)
    return found


def the_schema(url: str) -> None:
    """Functions and types, as an extension's script makes them."""
    with connect(url) as connection:
        connection.execute(SCHEMA)  # type: ignore[arg-type]
        rows(connection, "select proname, pg_get_function_result(oid), pg_get_function_arguments(oid) from pg_proc"
             " where pronamespace = 'mq'::regnamespace order by 1")  # fmt: skip


def messages(url: str) -> None:
    """Sent, read, hidden for a while, read again, archived, popped."""
    with connect(url) as connection:
        for queue in ["jobs", "jobs", "Jobs; drop", "x" * 50]:
            rows(connection, "select mq.create_queue(%s)", queue)
        rows(connection, "select queue_name, is_partitioned from mq.meta")
        rows(connection, "select * from mq.send('jobs', %s)", Jsonb({"n": 1, "to": "ann"}))
        rows(connection, "select mq.send_batch('jobs', %s)", [Jsonb({"n": n, "to": "bob"}) for n in range(2, 6)])
        rows(connection, "select mq.send('jobs', %s, 3600)", Jsonb({"later": True}))
        rows(connection, "select msg_id, read_ct, message, vt > now() from mq.read('jobs', 60, 2)")
        rows(connection, 'select msg_id, message from mq.read(\'jobs\', 60, 9, \'{"to": "bob", "n": 4}\')')
        rows(connection, "select msg_id, message -> 'n' from mq.pop('jobs')")
        rows(connection, "select msg_id, vt <= clock_timestamp() from mq.set_vt('jobs', 1, -1)")
        rows(connection, "select msg_id, read_ct from mq.read('jobs', 60, 1)")
        rows(connection, "select * from mq.archive('jobs', array[1, 2, 99]) order by 1")
        rows(connection, "select msg_id, read_ct, message from mq.a_jobs order by 1")
        rows(connection, "select * from mq.metrics('jobs')")
        rows(connection, "select (mq.metrics('jobs')).queue_length, mq.metrics('none')")
        rows(connection, "select mq.purge_queue('jobs')")
        rows(connection, "select * from mq.pop('jobs')")


def many_workers(url: str) -> None:
    """Each message is had by one of eight, none is lost."""
    with connect(url) as connection:
        connection.execute("select mq.create_queue('busy')")
        connection.execute(
            "select mq.send_batch('busy', array(select jsonb_build_object('n', n) from generate_series(1, 200) n))"
        )
    taken: list[list[int]] = [[] for _ in range(8)]

    def work(mine: list[int]) -> None:
        with connect(url) as worker:
            while True:
                with worker.transaction():
                    found = worker.execute("select msg_id from mq.read('busy', 600, 3)").fetchall()
                    worker.execute("select mq.archive('busy', %s::bigint[])", [[row[0] for row in found]])
                if not found:
                    return
                mine += [row[0] for row in found]

    threads = [threading.Thread(target=work, args=(mine,)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    everything = [number for mine in taken for number in mine]
    tour.show(len(everything), len(set(everything)), min(everything), max(everything))
    with connect(url) as connection:
        rows(connection, "select count(*), sum((message ->> 'n')::int), max(read_ct) from mq.a_busy")
        rows(connection, "select count(*) from mq.q_busy")


def what_is_locked_is_passed_over(url: str) -> None:
    """A message in another's transaction is not waited for; the transaction undone, it is there again."""
    with connect(url) as one, connect(url) as other:
        one.execute("select mq.create_queue('held')")
        one.execute("select mq.send_batch('held', array['1', '2', '3']::jsonb[])")
        with one.transaction(force_rollback=True):
            rows(one, "select msg_id from mq.q_held order by msg_id limit 1 for update skip locked")
            rows(other, "select msg_id from mq.q_held order by msg_id limit 2 for update skip locked")
            rows(other, "select msg_id from mq.q_held order by msg_id limit 1 for update nowait")
            rows(other, "select msg_id from mq.q_held where msg_id = 1 for no key update skip locked")
        rows(other, "select msg_id, read_ct from mq.read('held', 1, 1)")


def told_of_new_messages(url: str) -> None:
    """A trigger wakes whoever waits."""
    with connect(url) as connection, connect(url) as listener:
        connection.execute(
            "create trigger wake after insert on mq.q_jobs for each statement execute function mq.notify_queue()"
        )
        listener.execute('listen "mq.q_jobs.INSERT"')
        for number in range(3):
            connection.execute("select mq.send('jobs', %s)", [Jsonb({"n": number})])
            for notification in listener.notifies(timeout=60, stop_after=1):
                tour.show(notification.channel, json.dumps(notification.payload))
            rows(listener, "select message from mq.pop('jobs')")
        rows(connection, "select mq.drop_queue('jobs'), mq.drop_queue('none')")
        rows(connection, "select queue_name from mq.meta order by 1")


def what_is_left(url: str) -> None:
    """The tables of the queues, and the schema gone."""
    with connect(url) as connection:
        rows(connection, "select relname, relkind from pg_class where relnamespace = 'mq'::regnamespace and relkind in ('r', 'S')"
             " order by 1")  # fmt: skip
        connection.execute("set client_min_messages to warning")
        connection.execute("drop schema mq cascade")
        rows(connection, "select count(*) from pg_proc where proname = 'pop'")


if __name__ == "__main__":
    tour.run([the_schema, messages, many_workers, what_is_locked_is_passed_over, told_of_new_messages, what_is_left])
