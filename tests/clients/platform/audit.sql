-- A log of who changed what, and tables that know their past, in the manner of the well-known ones.
create schema audit;
create table audit.logged (
    event_id bigserial primary key,
    schema_name text not null, table_name text not null, relid oid not null, session_user_name text,
    tx_started timestamptz not null, statement_started timestamptz not null, happened timestamptz not null,
    transaction_id bigint, application_name text, client_addr inet, client_port int, client_query text,
    action text not null check (action in ('I', 'D', 'U', 'T')),
    row_data jsonb, changed_fields jsonb, statement_only boolean not null
);
create index on audit.logged (relid);
create index on audit.logged (action);
create index on audit.logged using gin (row_data);

create or replace function audit.if_modified() returns trigger as $body$
declare
    audit_row audit.logged;
    include_values boolean;
    log_diffs boolean;
    old_data jsonb;
    excluded text[] = array[]::text[];
begin
    if tg_when <> 'AFTER' then
        raise exception 'audit.if_modified() may only run as an AFTER trigger';
    end if;
    audit_row = row(
        nextval('audit.logged_event_id_seq'), tg_table_schema::text, tg_table_name::text, tg_relid, session_user::text,
        current_timestamp, statement_timestamp(), clock_timestamp(), txid_current(),
        current_setting('application_name'), inet_client_addr(), inet_client_port(), current_query(),
        substring(tg_op, 1, 1), null, null, 'f'
    );
    if not tg_argv[0]::boolean is distinct from 'f'::boolean then
        audit_row.client_query = null;
    end if;
    if tg_argv[1] is not null then
        excluded = tg_argv[1]::text[];
    end if;
    if tg_op = 'UPDATE' and tg_level = 'ROW' then
        old_data = to_jsonb(old.*);
        audit_row.row_data = old_data - excluded;
        select jsonb_object_agg(n.key, n.value) into audit_row.changed_fields
        from jsonb_each(to_jsonb(new.*) - excluded) n
        join jsonb_each(old_data) o on o.key = n.key
        where o.value is distinct from n.value;
        if audit_row.changed_fields is null then
            return null;
        end if;
    elsif tg_op = 'DELETE' and tg_level = 'ROW' then
        audit_row.row_data = to_jsonb(old.*) - excluded;
    elsif tg_op = 'INSERT' and tg_level = 'ROW' then
        audit_row.row_data = to_jsonb(new.*) - excluded;
    elsif tg_level = 'STATEMENT' and tg_op in ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE') then
        audit_row.statement_only = 't';
    else
        raise exception 'the trigger was called for something else: %, %', tg_op, tg_level;
        return null;
    end if;
    insert into audit.logged values (audit_row.*);
    return null;
end;
$body$ language plpgsql security definer set search_path = pg_catalog, public;

create or replace function audit.audit_table(
    target regclass, audit_rows boolean, audit_query_text boolean, ignored_cols text[]
) returns void as $body$
declare
    stm_targets text = 'INSERT OR UPDATE OR DELETE OR TRUNCATE';
    q_txt text;
    ignored text = '';
begin
    execute 'DROP TRIGGER IF EXISTS audit_trigger_row ON ' || target;
    execute 'DROP TRIGGER IF EXISTS audit_trigger_stm ON ' || target;
    if audit_rows then
        if array_length(ignored_cols, 1) > 0 then
            ignored = ', ' || quote_literal(ignored_cols);
        end if;
        q_txt = 'CREATE TRIGGER audit_trigger_row AFTER INSERT OR UPDATE OR DELETE ON ' || target
            || ' FOR EACH ROW EXECUTE PROCEDURE audit.if_modified(' || quote_literal(audit_query_text) || ignored || ');';
        raise notice '%', q_txt;
        execute q_txt;
        stm_targets = 'TRUNCATE';
    end if;
    q_txt = 'CREATE TRIGGER audit_trigger_stm AFTER ' || stm_targets || ' ON ' || target
        || ' FOR EACH STATEMENT EXECUTE PROCEDURE audit.if_modified(' || quote_literal(audit_query_text) || ');';
    raise notice '%', q_txt;
    execute q_txt;
end;
$body$ language plpgsql;

create or replace function audit.audit_table(target regclass) returns void as
$body$ select audit.audit_table($1, boolean 't', boolean 't', null::text[]); $body$ language sql;

-- Tables with a past: the period since when a row holds, and a table of the rows that held before.
create or replace function versioning() returns trigger as $$
declare
    sys_period text := tg_argv[0];
    history text := tg_argv[1];
    adjust boolean := tg_argv[2];
    time_stamp timestamptz := coalesce(nullif(current_setting('user_defined.system_time', true), ''), now()::text);
    columns text[];
    existing tstzrange;
    lower_bound timestamptz;
begin
    if tg_when is distinct from 'BEFORE' or tg_level is distinct from 'ROW' then
        raise trigger_protocol_violated using message = 'function "versioning" must be fired BEFORE ROW';
    end if;
    if not exists (select from pg_attribute where attrelid = tg_relid and attname = sys_period and not attisdropped) then
        raise 'column "%" of relation "%" does not exist', sys_period, tg_table_name using errcode = 'undefined_column';
    end if;
    if tg_op in ('UPDATE', 'DELETE') then
        execute format('SELECT $1.%I', sys_period) using old into existing;
        if existing is null then
            raise 'system period column "%" of relation "%" must not be null', sys_period, tg_table_name
                using errcode = 'null_value_not_allowed';
        end if;
        if isempty(existing) or not upper_inf(existing) then
            raise 'system period column "%" of relation "%" contains invalid value', sys_period, tg_table_name
                using errcode = 'data_exception', detail = 'valid ranges must be non-empty and unbounded on the high side';
        end if;
        lower_bound := lower(existing);
        if lower_bound >= time_stamp then
            if not adjust then
                raise 'system period value of relation "%" cannot be set to a valid period because a row that is attempted to modify was also modified by another transaction', tg_table_name
                    using errcode = 'data_exception',
                    detail = 'the start time of the system period is the greater than or equal to the time of the current transaction ';
            end if;
            time_stamp := lower_bound + interval '1 microseconds';
        end if;
        with history_columns as (
            select attname from pg_attribute where attrelid = history::regclass and attnum > 0 and not attisdropped
        ), current_columns as (
            select attname, attnum from pg_attribute where attrelid = tg_relid and attnum > 0 and not attisdropped
        )
        select array_agg(quote_ident(c.attname) order by c.attnum) into columns
        from history_columns h join current_columns c on c.attname = h.attname and c.attname <> sys_period;
        execute 'INSERT INTO ' || history || '(' || array_to_string(columns, ',') || ',' || quote_ident(sys_period)
            || ') VALUES ($1.' || array_to_string(columns, ',$1.') || ',tstzrange($2, $3, ''[)''))'
            using old, lower_bound, time_stamp;
    end if;
    if tg_op in ('UPDATE', 'INSERT') then
        return jsonb_populate_record(new, jsonb_build_object(sys_period, tstzrange(time_stamp, null, '[)')));
    end if;
    return old;
end;
$$ language plpgsql;

-- A store of events: streams with versions that nobody skips, and views of them that triggers keep.
create schema events;
create table events.streams (id uuid primary key, kind text not null, version int not null default 0);
create table events.log (
    seq bigint generated always as identity primary key,
    stream uuid not null references events.streams on delete cascade,
    version int not null, type text not null, data jsonb not null, unique (stream, version)
);
create table events.balances (account uuid primary key, balance numeric(12, 2) not null, changes int);

create function events.append(the_stream uuid, the_kind text, expected int, the_events jsonb) returns setof events.log
language plpgsql as $$
declare
    known events.streams%rowtype;
    event jsonb;
begin
    insert into events.streams (id, kind) values (the_stream, the_kind) on conflict do nothing;
    select * into strict known from events.streams where id = the_stream for update;
    if expected is not null and known.version <> expected then
        raise exception using errcode = '40001', message = format('stream %s is at %s, not at %s', the_stream, known.version, expected),
            hint = 'Read it again.', table = 'streams', schema = 'events';
    end if;
    for event in select value from jsonb_array_elements(the_events) loop
        known.version := known.version + 1;
        return query insert into events.log (stream, version, type, data)
            values (the_stream, known.version, event ->> 'type', event - 'type') returning *;
    end loop;
    update events.streams set version = known.version where id = the_stream;
end $$;

create function events.immutable() returns trigger language plpgsql as $$
begin
    raise exception 'events are not changed: % of %.%', lower(tg_op), tg_table_schema, tg_table_name
        using errcode = 'restrict_violation';
end $$;
create trigger immutable before update or delete on events.log for each row execute function events.immutable();
create trigger immutable_whole before truncate on events.log for each statement execute function events.immutable();

create function events.project() returns trigger language plpgsql as $$
begin
    insert into events.balances select distinct stream, 0::numeric, 0 from added on conflict do nothing;
    update events.balances b set balance = b.balance + a.amount, changes = b.changes + a.n
    from (
        select stream, sum((data ->> 'amount')::numeric * case type when 'withdrawn' then -1 else 1 end) as amount, count(*) as n
        from added where type in ('deposited', 'withdrawn') group by stream
    ) a where a.stream = b.account;
    if exists (select from events.balances where balance < 0) then
        raise check_violation using message = 'nobody has less than nothing', detail =
            (select string_agg(account || ': ' || balance, ', ' order by account) from events.balances where balance < 0);
    end if;
    perform pg_notify('events', (select json_agg(seq order by seq) from added)::text);
    return null;
end $$;
create trigger project after insert on events.log referencing new table as added
    for each statement execute function events.project();
