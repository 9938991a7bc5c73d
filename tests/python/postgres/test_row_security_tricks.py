"""Known ways around row-level security, none of which is one: what each tells, as PostgreSQL tells it.

`python -m tests.python.postgres.test_row_security_tricks DSN` records the answers anew from a PostgreSQL without these
roles, where everybody is trusted.
"""
# ruff: noqa: E501 (statements)

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.servers.rowferry import Rowferry

RECORDED = Path(__file__).with_name("row_security_tricks.txt")

#: Of the three secrets, `ben` may see one.
SETUP = """
create role ben login; create role eva login; create role ward; grant ward to ben;
create schema bens authorization ben; grant create, usage on schema public to ben;
create table secrets (who text primary key, word text unique, n int not null default 0, doc jsonb);
insert into secrets values ('ada', 'alpha', 1, '"alpha"'), ('ben', 'beta', 2, '2'), ('eva', 'epsilon', 3, '"epsilon"');
grant select, insert, update, delete on secrets to ben, eva, ward; analyze secrets;
create policy own on secrets using (who = current_user); alter table secrets enable row level security;
create function tell(anyelement) returns bool cost 0.0001 language plpgsql as
    'begin raise notice ''told %'', $1; return true; end';
create view lent with (security_invoker) as select * from secrets; grant select on lent to ben;
create view barred with (security_barrier) as select who, word from secrets where n > 0; grant select on barred to eva;
alter view barred owner to ben; create table others (who text primary key, word text); grant all on others to ben;
insert into others select who, word from secrets;
create table elders (like secrets); create table kin (k int) inherits (elders); grant select on elders to ben;
insert into kin values ('kin', 'kappa', 4, null, 1), ('ben', 'beta', 5, null, 2);
create policy own on elders using (who = current_user); alter table elders enable row level security;
grant insert, update, delete on elders to ben;
create table parted (who text, word text) partition by list (who); create table part partition of parted default;
insert into parted select who, word from secrets; grant all on parted to ben;
create policy own on parted using (who = current_user); alter table parted enable row level security
"""

CLEAN = """
drop schema bens cascade; drop table secrets, elders, kin, others, parted cascade; drop function tell(anyelement);
drop owned by ben, eva, ward; drop role ben, eva, ward
"""

#: By name: the statements that ben runs in one transaction.
TRICKS: dict[str, list[str]] = {
    "a leaky function in WHERE": ["select word from secrets where tell(word)"],
    "a leaky function before a cheap one": ["select word from secrets where n = 3 and tell(word)"],
    "a leaky function in a join": ["select s.word from secrets s join secrets o on tell(o.word)"],
    "a leaky function over groups": [
        "select max(word) filter (where tell(word)) from secrets group by n having tell(max(word))",
        "select word, count(*) filter (where tell(word)) over (order by tell(word)) from secrets",
    ],
    "a function that is inlined": [
        "create function bens.f(text) returns bool language sql immutable as 'select tell($1)'",
        "select word from secrets where bens.f(word)",
    ],
    "a cast that fails": [
        "select word from secrets where word::int > 0",
    ],
    "a cast to JSON that shows what it read": ["select word::json from secrets where who <> 'ben' or n < 0"],
    "a domain whose check tells": [
        "create domain bens.told as text check (tell(value))",
        "select word::bens.told from secrets where who > 'a'",
    ],
    "an arithmetic error": ["select word from secrets where 1 / (n - 3) >= 0 or 1 / (n - 1) >= 0"],
    "an error of a document": ["select word from secrets where (doc #>> '{}')::int = 2"],
    "a pattern that cannot be read": ["select word from secrets where 'x' ~ ('(' || word)"],
    "RETURNING of an update": ["update secrets set n = n + 1 returning word, n"],
    "RETURNING of a delete": ["delete from secrets where n > 0 returning *"],
    "a change through a join": [
        "update secrets set n = 9 from secrets o where o.n > secrets.n and tell(o.word) returning o.word"
    ],
    "a row given away": ["update secrets set who = 'eva' where who = 'ben'"],
    "ON CONFLICT that takes the row": [
        "insert into secrets values ('ada', 'x') on conflict (who) do update set n = 7 returning word",
    ],
    "ON CONFLICT by another key": [
        "insert into secrets values ('ben', 'alpha') on conflict (word) do update set n = 7 returning word",
    ],
    "ON CONFLICT that leaves it": ["insert into secrets values ('eva', 'x') on conflict do nothing returning word"],
    "a unique violation": ["insert into secrets values ('ben', 'gamma')"],
    "a unique violation of a hidden row": ["insert into secrets values ('bob', 'alpha')"],
    "a unique violation by update": ["update secrets set word = 'epsilon'"],
    "a NOT NULL violation": ["update secrets set n = null where tell(word)"],
    "MERGE": [
        "merge into secrets s using others o on s.word = o.word when matched and tell(s.word) then update set n = 5"
        " when not matched then do nothing",
    ],
    "MERGE that inserts": [
        "merge into secrets s using (values ('ada', 'x')) v(who, word) on s.who = v.who"
        " when matched then delete when not matched then insert (who, word) values (v.who, v.word)",
    ],
    "COPY": ["copy secrets to stdout"],
    "COPY of a query": ["copy (select word from secrets where tell(word)) to stdout"],
    "COPY with row_security off": ["set local row_security to off", "copy secrets to stdout"],
    "a dump": ["set local row_security to off", "select * from only public.secrets"],
    "COPY into it": ["copy secrets from stdin"],
    "a view of one's own": ["create view bens.v as select * from secrets", "select word from bens.v where tell(word)"],
    "a view of one's own, changed": [
        "create view bens.v as select * from secrets",
        "update bens.v set n = 8 where tell(word) returning word",
    ],
    "a view with its user's rights": ["select word from lent where tell(word)"],
    "a materialized view": [
        "create materialized view bens.m as select * from secrets where tell(word)",
        "select word from bens.m",
    ],
    "a table made of it": ["create table bens.t as table secrets", "select word from bens.t"],
    "INSERT of a query": ["insert into others select who || 2, word from secrets returning word"],
    "a foreign key to it": ["create table bens.c (who text references secrets)"],
    "a table like it": ["create table bens.l (like secrets including all)", "select word from bens.l"],
    "its statistics": [
        "select most_common_vals::text, histogram_bounds::text from pg_stats where tablename = 'secrets'",
    ],
    "its statistics as they are kept": ["select stavalues1 from pg_statistic"],
    "TABLESAMPLE": ["select word from secrets tablesample bernoulli (100) repeatable (1)"],
    "FOR UPDATE": ["select word from secrets where tell(word) for update"],
    "LOCK TABLE": ["lock table secrets in access exclusive mode", "select word from secrets"],
    "a trigger": [
        "create function bens.t() returns trigger language plpgsql as 'begin perform tell(old.word); return old; end'",
        "create trigger t before update on secrets for each row execute function bens.t()",
    ],
    "a rule by another policy": ["create policy mine on secrets using (true)"],
    "switching it off": ["alter table secrets disable row level security"],
    "an index that computes": ["create index on secrets (lower(word))"],
    "LATERAL": ["select x.word from others o, lateral (select word from secrets where who = o.who and tell(word)) x"],
    "a correlated subquery": [
        "select o.who, (select s.word from secrets s where s.who = o.who) from others o order by 1"
    ],
    "EXISTS": ["select who from others o where exists (select from secrets s where s.word = o.word and tell(s.word))"],
    "an outer join": ["select o.who, s.word from others o left join secrets s using (who) order by 1"],
    "WITH": [
        "with recursive w(word, i) as (select word, 1 from secrets union all select w.word, i + 1 from w, secrets s"
        " where i < 2 and tell(s.word)) select word, i from w order by 2"
    ],
    "set operations": ["select word from secrets union select word from secrets where tell(word)"],
    "a view of a table that others inherit from": [
        "create view bens.v as select who, word from elders",
        "update bens.v set who = who where tell(word)",
    ],
    "a row put through such a view": [
        "create view bens.v as select who, word, n from elders",
        "insert into bens.v values ('eva', 'x', 1)",
    ],
    "a view of a partitioned table": [
        "create view bens.v as select who, word from parted",
        "delete from bens.v where tell(word)",
    ],
    "a table that inherits from it": ["select word from elders* where tell(word)", "select word from kin"],
    "the whole row": ["select s::text, to_jsonb(s) from secrets s where tell(s)"],
    "the place of a row": ["select word from secrets where tableoid = 'secrets'::regclass"],
    "a prepared statement under another role": [
        "prepare bens as select word from secrets where tell(word)",
        "execute bens",
        "set local role ward",
        "execute bens",
        "deallocate bens",
    ],
    "a cursor under another role": [
        "declare c scroll cursor for select word from secrets where tell(word)",
        "set local role ward",
        "fetch all from c",
        "fetch backward all from c",
    ],
    "a role that is not one's own": ["set local role eva", "select word from secrets"],
    "another session's user": ["set session authorization eva"],
    "the user in the policy by another name": [
        "create function bens.current_user() returns name language sql as 'select ''eva''::name'",
    ],
    "another search path": [
        'create table bens.secrets as select \'bens\' as word',
        "set local search_path to bens, public",
        "select word from public.secrets",
    ],
    "no triggers, no policies": ["set local session_replication_role to replica"],
    "TRUNCATE": ["truncate secrets"],
    "a function with its maker's rights": [
        "create function bens.all() returns setof secrets language plpgsql as"
        " 'begin return query select * from secrets where tell(word); end'",
        "select word from bens.all()",
    ],
    "EXECUTE in a block": [
        "do $$ declare w text; begin for w in execute 'select word from secrets where tell(word)' loop"
        " raise notice 'has %', w; end loop; end $$",
    ],
    "what others ask": ["select count(*) from pg_stat_activity where query like '%' || 'epsi' || 'lon%'"],
    "aggregates over all": ["select count(*), sum(n), string_agg(word, ',') from secrets"],
    "a large IN list": ["select word from secrets where word in (" + ",".join(f"'w{i}'" for i in range(300)) + ",'alpha','epsilon') and tell(word)"],
    "= ANY of an array": ["select word from secrets where word = any (array['alpha', 'beta', 'epsilon']) and tell(word)"],
    "an operator of one's own": ["create function bens.op(text, text) returns bool cost 0.0001 language plpgsql as 'begin raise notice ''told %'', $1; return true; end'","create operator bens.=== (leftarg = text, rightarg = text, function = bens.op)","select word from secrets where word operator(bens.===) 'x'"],
    "an operator of one's own that says it leaks nothing": ["create function bens.op(text, text) returns bool cost 0.0001 leakproof language plpgsql as 'begin raise notice ''told %'', $1; return true; end'"],
    "ORDER BY a function": ["select who from secrets order by tell(word)"],
    "LIMIT of a subquery": ["select who from others where who = 'ben' limit (select count(*) from secrets where tell(word))"],
    "DISTINCT ON": ["select distinct on (tell(word)) who from secrets"],
    "a window over hidden rows": ["select who, lag(word) over (order by who), first_value(word) over (order by n) from secrets"],
    "a join by USING": ["select word from secrets join others using (who, word) where tell(word)"],
    "a FULL JOIN": ["select s.word, o.who from secrets s full join others o on s.who = o.who and tell(s.word) order by 2"],
    "GROUPING SETS": ["select who, count(*) from secrets group by rollup (who) having tell(max(word)) order by 1"],
    "JSON of the table": ["select json_agg(s) from secrets s","select to_json(array(select s from secrets s))"],
    "its size": ["select pg_relation_size('secrets') > 0, pg_table_size('secrets') > 0"],
    "EXPLAIN without ANALYZE": ["explain (costs off) select word from secrets where tell(word)"],
    "EXPLAIN of a function that is folded": ["explain (costs off) select word from secrets where word = (select max(word) from secrets where tell(word))"],
    "a CTE that is used twice": ["with s as materialized (select word from secrets) select a.word from s a, s b where tell(a.word) and tell(b.word)"],
    "a data-modifying WITH": ["with d as (delete from secrets where tell(word) returning word, who) select * from d"],
    "an update that moves who one is": ["update secrets set who = who || 'x' returning who"],
    "ON CONFLICT with a WHERE": ["insert into secrets values ('ada','zz') on conflict (who) do update set word = 'taken' where tell(secrets.word) returning *"],
    "ON CONFLICT DO NOTHING of all": ["insert into secrets values ('ada','x'),('ben','y'),('new','alpha') on conflict do nothing"],
    "an upsert in a function": ["create function bens.up() returns text language sql as $$ insert into secrets values ('eva','q') on conflict (who) do update set n = 7 returning word $$","select bens.up()"],
    "a prepared plan after SET ROLE": ["prepare bens2(text) as select word from secrets where who = $1 and tell(word)","execute bens2('ada')","execute bens2('eva')","execute bens2('ben')","set local role ward","execute bens2('ben')","reset role","execute bens2('ben')","deallocate bens2"],
    "a SECURITY DEFINER of one's own": ["create function bens.def() returns setof text language sql security definer as 'select word from secrets'","select * from bens.def()"],
    "an inlined SQL function on the table": ["create function bens.q() returns setof secrets language sql stable as 'select * from secrets'","select word from bens.q() where tell(word)"],
    "a set-returning function in FROM beside": ["select s.word from secrets s, unnest(array[s.word]) u where tell(u)"],
    "a view over a view": ["create view bens.v1 as select * from secrets","create view bens.v2 with (security_invoker) as select * from bens.v1","grant select on bens.v1 to ward","select word from bens.v2 where tell(word)"],
    "a view another may read": ["create view bens.v1 as select * from secrets","grant usage on schema bens to ward; grant select on bens.v1 to ward","set local role ward","select word from bens.v1 where tell(word)"],
    "a view of one's own with CHECK OPTION": ["create view bens.v as select * from secrets where tell(word) with check option","update bens.v set n = 3","insert into bens.v values ('zed','zz',1)"],
    "INSTEAD OF trigger": ["create view bens.v as select * from secrets","create function bens.io() returns trigger language plpgsql as 'begin perform tell(old.word); return old; end'","create trigger io instead of update on bens.v for each row execute function bens.io()","update bens.v set n = 1"],
    "a foreign key from another's column": ["create table bens.c (who text primary key)","alter table secrets add foreign key (who) references bens.c"],
    "an exclusion or unique key added": ["alter table secrets add unique (n)"],
    "a CHECK added": ["alter table secrets add check (tell(word))"],
    "a default added": ["alter table secrets alter n set default 3"],
    "a generated column": ["alter table secrets add column g text generated always as (upper(word)) stored"],
    "inheriting from it": ["create table bens.child () inherits (secrets)"],
    "attaching a partition": ["create table bens.sec2 partition of parted for values in ('x')"],
    "COMMENT": ["comment on table secrets is 'mine'"],
    "statistics objects": ["create statistics bens.st on who, word from secrets"],
    "currval": ["select word from secrets where nextval(null::regclass) is null and tell(word)"],
    "set_config of row_security": ["select set_config('row_security', 'off', true)","select word from secrets"],
    "a role set by set_config": ["select set_config('role', 'eva', true)","select word from secrets"],
    "current_user by set_config": ["select set_config('session_authorization', 'eva', true)"],
    "a copy of a view": ["create view bens.v as select * from secrets","copy (select * from bens.v) to stdout"],
    "COPY of the child": ["copy kin to stdout"],
    "COPY of the parent": ["copy elders to stdout"],
    "a partition by itself": ["select word from part where tell(word)"],
    "changing the partitioned table": ["update parted set word = word where tell(word) returning *"],
    "deleting from the partitioned table": ["delete from parted where tell(word) returning *"],
    "inserting into the partitioned table": ["insert into parted values ('ada','x') returning *"],
    "inserting one's own into the partitioned table": ["insert into parted values ('ben','x') returning *"],
    "changing elders": ["update elders set word = word where tell(word) returning *"],
    "deleting from elders": ["delete from elders where tell(word) returning *"],
    "FOR UPDATE of elders": ["select word from elders where tell(word) for update"],
    "merge into elders": ["merge into elders e using others o on e.who = o.who when matched and tell(e.word) then delete"],
    "row_security_active": ["select row_security_active('secrets'), row_security_active('others')"],
    "has_table_privilege of the child": ["select has_table_privilege('kin','select')"],
    "notify": ["listen x", "select pg_notify('x', word) from secrets where tell(word)"],
    "temp table as secrets": ["create temp table secrets as select 'x' as word", "select word from public.secrets where tell(word)"],
    "a function in a policy, replaced": ["create function bens.me() returns text language sql as 'select ''eva''::text'","set local search_path to bens, public","select word from public.secrets"],
    "cast of the row to text in an error": ["select (s::text)::int from secrets s"],
    "a subquery that fails for two rows": ["select (select word from secrets)"],
    "an array index": ["select (array(select word from secrets))[1], (array(select word from secrets))[2]"],
    "string_agg order": ["select string_agg(word, ',' order by tell(word)) from secrets"],
    "to_tsvector": ["select to_tsvector(word) from secrets where tell(word)"],
    "a lateral leaky value": ["select v.x from secrets s cross join lateral (values (s.word)) v(x) where tell(v.x)"],
    "CASE": ["select case when tell(word) then 1/(n-3) else 0 end from secrets"],
    "coalesce of division": ["select coalesce(1/(n-1), 1/(n-3)) from secrets"],
    "an update of its key": ["update secrets set who = 'ada'"],
    "a delete that others refer to": ["delete from secrets where who = 'ada' or tell(word)"],
    "trigger on own table that reads": ["create table bens.o (a int)","create function bens.tr() returns trigger language plpgsql security definer as 'declare w text; begin for w in select word from secrets loop raise notice ''told %'', w; end loop; return new; end'","create trigger tr before insert on bens.o for each row execute function bens.tr()","insert into bens.o values (1)"],
    "a default of one's own table": ["create function bens.df() returns text language sql as 'select string_agg(word, '','') from secrets'","create table bens.o (a int, w text default bens.df())","insert into bens.o values (1) returning w"],
    "a domain over the column": ["create domain bens.dd as text check (value <> 'beta')","select word::bens.dd from secrets"],
    "a type of the row": ["select (row(null,null,null,null)::secrets).word","select * from json_populate_record(null::secrets, '{\"who\": \"x\"}')"],
    "pg_get_viewdef": ["select pg_get_viewdef('barred'::regclass)"],
    "pg_policies": ["select qual from pg_policies where tablename='secrets'"],
    "regress by stats of expressions": ["select count(*) from pg_statistic_ext_data"],
    "tuple counts in pg_stat": ["select seq_tup_read is not null from pg_stat_user_tables where relname='secrets'"],
    "a crosstab by text": ["select * from ts_stat('select to_tsvector(word) from secrets') order by 1"],
    "cursor WHERE CURRENT OF": ["declare cc cursor for select * from secrets for update","fetch all from cc","update secrets set n = 9 where current of cc"],
    "EXPLAIN ANALYZE": ["explain (analyze, costs off, timing off, summary off) select word from secrets where tell(word)"],
}  # fmt: skip

#: Where only that nothing is told matters: a plan has words of its own, and a cursor of ours shows what its opener saw,
#: where one of PostgreSQL's asks again who asks.
OWN_WORDS = {
    "EXPLAIN ANALYZE",
    "EXPLAIN without ANALYZE",
    "EXPLAIN of a function that is folded",
    "its size",
    "a cursor under another role",
}

#: What is refused by name.
REFUSED = {"FOR UPDATE of elders"}

HIDDEN = ("alpha", "epsilon", "kappa")


def told_by(connection: psycopg.Connection, statement: str) -> Iterator[str]:
    """All that a statement tells: what is wrong or what came of it, rows, notices."""
    notices: list[str] = []

    def tell(notice: psycopg.errors.Diagnostic) -> None:
        notices.append(notice.message_primary or "")

    connection.add_notice_handler(tell)
    try:
        with connection.cursor() as cursor:
            if statement.startswith("copy"):
                with cursor.copy(statement) as copy:  # type: ignore[arg-type]
                    if statement.endswith("stdout"):
                        yield from (" ".join(map(str, row)) for row in copy.rows())
            else:
                cursor.execute(statement)  # type: ignore[arg-type]
            yield cursor.statusmessage or ""
            if cursor.description and not statement.startswith("copy"):
                yield from (" ".join(map(str, row)) for row in cursor.fetchall())
    except psycopg.Error as error:
        diag = error.diag
        yield " ".join(filter(None, (error.sqlstate, diag.message_primary, diag.message_detail)))
    finally:
        connection.remove_notice_handler(tell)
    yield from notices


def tricks(dsn: str, user: str | None = None) -> Iterator[tuple[str, list[str]]]:
    """What each trick tells ben."""
    connection = psycopg.connect(dsn, user=user, autocommit=True)
    connection.execute(SETUP)
    ben = psycopg.connect(dsn, user="ben", autocommit=True)
    try:
        for name, statements in TRICKS.items():
            ben.execute("begin")
            answers = []
            for statement in statements:
                answers += [f"> {statement}", *told_by(ben, statement)]
                if answers[-1][:1].isdigit():
                    break
            ben.execute("rollback")
            yield name, answers
    finally:
        ben.close()
        connection.execute(CLEAN)
        connection.close()


def as_text(name: str, answers: list[str]) -> str:
    shown = [answer for answer in answers if name not in OWN_WORDS or answer.startswith("> ")]
    # How often a function is called is nobody's promise.
    shown = [line for at, line in enumerate(shown) if at == 0 or line != shown[at - 1] or line[:4] != "told"]
    return "\n".join([f"## {name}", *shown]) + "\n"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    path = tmp_path_factory.mktemp("tricks") / "app.db"
    with Rowferry.start(path, args=["--durability", "off"]) as server:
        return dict(tricks(server.postgres_dsn, "ada"))


def _recorded() -> dict[str, str]:
    parts = RECORDED.read_text().split("## ")[1:]
    return {part.partition("\n")[0]: f"## {part}" for part in parts}


@pytest.mark.parametrize("name", TRICKS)
def test_a_trick_tells_nothing_of_hidden_rows(answers: dict[str, list[str]], name: str) -> None:
    said = [line for line in answers[name] if not line.startswith("> ")]
    assert not [line for line in said if any(word in line for word in HIDDEN)]
    if name in REFUSED:
        assert said[-1].startswith("0A000"), "no longer refused: strike it from REFUSED"
    else:
        assert as_text(name, answers[name]) == _recorded()[name]


if __name__ == "__main__":
    RECORDED.write_text("".join(as_text(name, told) for name, told in tricks(sys.argv[1])))
