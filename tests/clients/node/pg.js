// node-postgres: queries, types, prepared statements, cursors, streams, a pool, notifications.
import pg from "pg";
import Cursor from "pg-cursor";
import QueryStream from "pg-query-stream";
import { refused, step, url } from "./tour.js";

const client = new pg.Client({ connectionString: url });
await client.connect();
const rows = async (text, values) => (await client.query(text, values)).rows;

await step("connect", async () => {
  const { rows: [row] } = await client.query("select current_database() as db, current_user as usr, current_schema as s");
  return [row, client.serverVersion ?? "no version", String((await rows("show server_encoding"))[0].server_encoding)];
});

await step("schema", async () => {
  const results = await client.query(`
    create type mood as enum ('sad', 'ok', 'happy');
    create table everything (
      id integer generated always as identity primary key,
      small smallint, big bigint, exact numeric(12, 3), approx double precision, single real,
      name text not null, short varchar(10), fixed char(5), flag boolean default false,
      at timestamptz, local timestamp, day date, moment time, span interval,
      doc json, docb jsonb, ints integer[], texts text[], nested integer[][],
      uid uuid, bytes bytea, feeling mood, address inet, feelings mood[], amount money, during int4range
    );
    create unique index everything_name on everything (lower(name));
  `);
  return results.map((result) => `${result.command} ${result.rowCount}`);
});

await step("insert every type", async () => rows(
  `insert into everything (small, big, exact, approx, single, name, short, fixed, flag, at, local, day, moment, span, doc, docb,
     ints, texts, nested, uid, bytes, feeling, address, feelings, amount, during)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)
   returning *`,
  [-5, "9007199254740993", "123456.789", 0.1, 1.5, "Ünïcode ✓", "short", "ab", true, new Date("2024-02-29T12:34:56.789Z"),
    "2024-02-29 01:02:03.000456", "2024-02-29", "23:59:59.5", "1 year 2 mons 3 days 04:05:06.7",
    { a: [1, null, "x"] }, JSON.stringify({ b: 2, a: { c: [] } }), [1, 2, null], ["a,b", 'q"uote', "NULL", null], [[1, 2], [3, 4]],
    "A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11", Buffer.from([0, 1, 255]), "ok", "192.168.0.1/24", "{sad,happy}", "12.34", "[1,5)"],
));

await step("fields of a result", async () => {
  const result = await client.query("select * from everything");
  return result.fields.map((field) => [field.name, field.dataTypeID < 16384 ? field.dataTypeID : "ours",
    field.dataTypeSize, field.dataTypeModifier, field.columnID, field.format]);
});

await step("rows as arrays", async () => {
  const { rows: found } = await client.query({ text: "select id, name, array[1.5, 2.5] from everything", rowMode: "array" });
  return found;
});

await step("nulls", () => rows("insert into everything (name) values ($1) returning *", ["nulls"]));

await step("many rows", async () => {
  const { command, rowCount } = await client.query(
    "insert into everything (name, small, exact, day) select 'row ' || g, g, g / 7.0, date '2024-01-01' + g from generate_series(1, 1000) g");
  return `${command} ${rowCount}`;
});

await step("aggregates", () => rows(`
  select count(*), sum(small), sum(big), avg(exact), min(day), max(day)::text as last, bool_or(flag), array_agg(small order by small desc)
    filter (where small < 4) as few, json_agg(json_build_object('n', name) order by id) filter (where id < 3) as docs,
    string_agg(name, ', ' order by id) filter (where id < 5) as names, stddev(small)::numeric(10, 3) as sd
  from everything`));

await step("windows and ctes", () => rows(`
  with recursive t(n) as (values (1) union all select n + 1 from t where n < 6)
  select n, sum(n) over (order by n) as running, lag(n) over w, ntile(2) over w, rank() over (order by n % 3) as r
  from t window w as (order by n desc) order by n`));

await step("a prepared statement", async () => {
  const query = { name: "by small", text: "select name, small from everything where small = $1" };
  const found = [];
  for (const value of [1, 2, "3"]) found.push(...(await rows({ ...query, values: [value] })));
  return [...found, ...(await rows("select name, statement, parameter_types::text from pg_prepared_statements"))];
});

await step("types that are inferred", () => rows(
  "select $1::int + 1 as a, $2 || 'x' as b, $3::jsonb -> 'k' as c, $4 = any($5::int[]) as d, coalesce($6, 'none') as e, $7::mood as f",
  [41, "t", { k: [1] }, 3, [1, 2, 3], null, "sad"]));

await step("a cursor", async () => {
  const cursor = client.query(new Cursor("select small from everything where small between $1 and $2 order by small", [1, 10]));
  const found = [];
  for (let part = await cursor.read(4); part.length; part = await cursor.read(4)) found.push(part.map((row) => row.small).join(" "));
  await cursor.close();
  const early = client.query(new Cursor("select * from everything order by id"));
  found.push((await early.read(2)).map((row) => row.name));
  await early.close();
  return [...found, ...(await rows("select 'still here' as state"))];
});

await step("a stream", async () => {
  let count = 0;
  let total = 0;
  for await (const row of client.query(new QueryStream("select small from everything where small is not null", [], { batchSize: 50 }))) {
    count += 1;
    total += row.small;
  }
  return `${count} ${total}`;
});

await step("a cursor of sql", async () => {
  await client.query("begin");
  await client.query("declare c scroll cursor for select small from everything where small > 0 order by small");
  const found = [await rows("fetch 3 from c"), await rows("fetch last from c"), await rows("fetch prior from c"), await rows("fetch absolute 5 from c")];
  await client.query("close c");
  await client.query("commit");
  return found;
});

await step("a transaction", async () => {
  const said = [];
  await client.query("begin isolation level repeatable read");
  await client.query("update everything set flag = true where small = 7");
  await client.query("savepoint one");
  said.push((await client.query("delete from everything where small > 500")).rowCount);
  await client.query("rollback to one");
  said.push(await refused(() => client.query("select 1 / 0")));
  said.push(await refused(() => client.query("select 1")));
  await client.query("rollback to savepoint one");
  await client.query("release one");
  said.push(await rows("select count(*), count(*) filter (where flag) as flags from everything"));
  await client.query("rollback");
  said.push(await rows("select count(*) filter (where flag) as flags from everything"));
  return said;
});

await step("an upsert", async () => [
  await rows(`insert into everything (name, small) values ('Row 7', 70), ('new', 71)
    on conflict (lower(name)) do update set small = excluded.small, span = interval '1 day' returning name, small, span`),
  (await client.query("insert into everything (name) values ('NEW') on conflict do nothing")).rowCount,
]);

await step("errors", async () => [
  await refused(() => client.query("insert into everything (name) values ($1)", ["NULLS"])),
  await refused(() => client.query("insert into everything (id, name) values (1, 'x')")),
  await refused(() => client.query("insert into everything (small) values (1)")),
  await refused(() => client.query("insert into everything (name, short) values ('y', 'much too long for it')")),
  await refused(() => client.query("insert into everything (name, small) values ('y', 100000)")),
  await refused(() => client.query("insert into everything (name, feeling) values ('y', 'cross')")),
  await refused(() => client.query("select $1::int", ["no number"])),
  await refused(() => client.query("select * from nothing")),
  await refused(() => client.query("select nothing from everything")),
  await refused(() => client.query("selec 1")),
  await refused(() => client.query("select $1::uuid", ["12"])),
  await refused(() => client.query("insert into everything (name, exact) values ('y', 1e12)")),
]);

await step("constraints", async () => {
  await client.query(`
    create table parents (id int primary key, kind text check (kind in ('a', 'b')), unique (id, kind));
    create table children (id serial primary key, parent int not null constraint has_parent references parents on delete restrict, n int default 3);
    insert into parents values (1, 'a')`);
  return [
    await refused(() => client.query("insert into children (parent) values (2)")),
    await refused(() => client.query("insert into parents values (2, 'c')")),
    await rows("insert into children (parent) values (1) returning id, n"),
    await refused(() => client.query("delete from parents")),
    await refused(() => client.query("insert into parents values (1, 'b')")),
  ];
});

await step("joins", () => rows(`
  select p.id, p.kind, c.id as child, (select count(*) from everything e where e.small <= c.n) as n, l.x
  from parents p left join children c on c.parent = p.id cross join lateral (select p.id + coalesce(c.n, 0) as x) l
  full join (values (1, 'one'), (2, 'two')) v(number, word) on v.number = p.id order by v.number`));

await step("several statements at once", async () => {
  const results = await client.query("select 1 as a; select 2 as b where false; update children set n = 4; select n from children");
  return results.map((result) => [result.command, result.rowCount, result.rows]);
});

await step("notices", async () => {
  const heard = [];
  const listener = (notice) => heard.push([notice.severity, notice.code, notice.message]);
  client.on("notice", listener);
  await client.query("drop table if exists nowhere");
  await client.query("do $$ begin raise notice 'hello %', 1; raise warning 'careful'; end $$");
  client.off("notice", listener);
  return heard;
});

await step("listen and notify", async () => {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  const heard = [];
  const both = new Promise((resolve) => other.on("notification", (message) => {
    heard.push([message.channel, message.payload]);
    if (heard.length === 2) resolve();
  }));
  await other.query('listen "News"');
  await client.query(`notify "News", 'first'`);
  await client.query("select pg_notify($1, $2)", ["News", "second"]);
  await both;
  await other.end();
  return heard;
});

await step("a pool", async () => {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => pool.query("select $1::int * 2 as n", [n])));
  const held = await pool.connect();
  await held.query("begin");
  await held.query("insert into children (parent) values (1)");
  const outside = (await pool.query("select count(*)::int as n from children")).rows[0].n;
  await held.query("commit");
  held.release();
  const said = [answers.map((answer) => answer.rows[0].n).join(" "), outside, pool.totalCount <= 4];
  await pool.end();
  return said;
});

await step("introspection", async () => [
  ...(await rows(`select column_name, data_type, udt_name, is_nullable, column_default, character_maximum_length, numeric_precision,
      numeric_scale, is_identity, identity_generation from information_schema.columns where table_name = 'everything' order by ordinal_position`)),
  ...(await rows(`select conname, contype, pg_get_constraintdef(oid) as def from pg_constraint
      where conrelid in ('parents'::regclass, 'children'::regclass) order by conname`)),
  ...(await rows("select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1")),
  ...(await rows("select enumlabel, enumsortorder from pg_enum where enumtypid = 'mood'::regtype order by 2")),
]);

await step("settings", async () => {
  await client.query("set time zone 'Europe/Berlin'");
  const said = [...(await rows("select timestamptz '2024-07-01 12:00+00'::text as at, current_setting('TimeZone') as zone"))];
  await client.query("set datestyle to german; set intervalstyle to iso_8601");
  said.push(...(await rows("select date '2024-07-01'::text as day, interval '1 year 2 days'::text as span")));
  await client.query("reset all");
  return said;
});

await step("cancel by time-out", async () => {
  // The failure ends the setting with the transaction: what follows has all the time it needs.
  await client.query("begin");
  await client.query("set local statement_timeout = 50");
  const said = await refused(() => client.query("select pg_sleep(10)"));
  await client.query("rollback");
  return said;
});

await step("functions", async () => {
  await client.query(`
    create function add_child(p int, out id int, out total bigint) language plpgsql as $$
      begin insert into children (parent) values (p) returning children.id into id; select count(*) into total from children; end $$;
    create function twice(n int) returns setof int language sql as 'select generate_series(1, n) * 2';
    create function touch() returns trigger language plpgsql as $$ begin new.n := coalesce(new.n, 0) + 100; return new; end $$;
    create trigger touched before update on children for each row execute function touch()`);
  return [await rows("select * from add_child(1)"), await rows("select * from twice($1)", [3]),
    await rows("update children set n = 5 where id = 1 returning n")];
});

await step("views", async () => {
  await client.query("create view happy as select id, name from everything where feeling = 'ok' with check option");
  return [await rows("select * from happy"), await rows("select pg_get_viewdef('happy'::regclass, true) as def")];
});

await client.end();
