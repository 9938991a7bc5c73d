select 1

select 1 as one, 'two' as two, 3.0 as three, null as nothing, true as yes

select 9223372036854775807, 2147483648, 1e3, .5

select * from customers

select c.* , o.total from customers c join orders o on o.customer_id = c.id

select id, name from customers where id = 1

select id, name from customers where name = 'Ada' and active

select id from customers where name like 'A%' or email ilike '%@x.org' escape '!'

select id from customers where name not like 'A%'

select id from customers where id in (1, 2, 3) and id not in (4, 5)

select id from customers where id between 1 and 10 and born not between '2000-01-01' and '2001-01-01'

select id from customers where id = any(array[1, 2, 3])

select id from customers where id = any($1) and name = $2

select id from customers where name <> all (array['a', 'b'])

select id from customers where (id, name) in ((1, 'a'), (2, 'b'))

select id from customers where (id, name) = (1, 'a')

select id from customers where (id, rating) < (5, 1.5)

select id from customers where email is null or email is not null

select id from customers where active is true and active is not false and active is unknown

select id from customers where born is distinct from '2000-01-01'

select count(*), count(email), count(distinct email) from customers

select customer_id, sum(total), avg(total), min(placed_at), max(status) from orders group by customer_id

select customer_id, sum(total) as s from orders group by 1 having sum(total) > 100 order by 2 desc nulls last

select c.name, count(o.id) from customers c left join orders o on o.customer_id = c.id group by c.id order by c.name

select date_trunc('month', placed_at) as month, sum(total) from orders group by month order by month

select status, count(*) filter (where total > 10) from orders group by status

select string_agg(name, ', ' order by name), array_agg(id order by id desc) from customers

select bool_and(active), bool_or(active), every(active) from customers

select stddev(rating), variance(rating), stddev_pop(total), var_samp(total) from customers, orders

select distinct status from orders order by status

select distinct on (customer_id) customer_id, placed_at, total from orders order by customer_id, placed_at desc

select * from orders order by placed_at desc, id limit 10 offset 5

select * from orders order by total fetch first 3 rows only

select * from orders limit all

select * from orders limit $1 offset $2

select o.id, c.name from orders o, customers c where o.customer_id = c.id

select * from orders join items on items.order_id = orders.id

select * from orders o left join items i on i.order_id = o.id and i.quantity > 1

select * from orders o right join customers c on c.id = o.customer_id

select * from orders o full join customers c on c.id = o.customer_id

select * from orders cross join customers

select id, a.name, b.email from customers a join customers b using (id)

select * from customers natural join (select id, 1 as extra from orders) x

select c.name, x.total from customers c cross join lateral (select total from orders o where o.customer_id = c.id order by total desc limit 1) x

select c.name, x.n from customers c left join lateral (select count(*) as n from orders o where o.customer_id = c.id) x on true

select (select max(total) from orders o where o.customer_id = c.id) as best from customers c

select name from customers c where exists (select 1 from orders o where o.customer_id = c.id)

select name from customers where id in (select customer_id from orders where total > 10)

select name from customers where id not in (select customer_id from orders)

select name from customers where rating > all (select 1.5 union select 2.5)

select array(select id from customers order by id)

with big as (select * from orders where total > 100) select count(*) from big

with a as (select 1 as x), b as (select x + 1 as y from a) select * from a, b

with a(p, q) as materialized (values (1, 2), (3, 4)) select p + q from a

with recursive t(n) as (select 1 union all select n + 1 from t where n < 10) select sum(n) from t

with recursive tree as (select id, name, 0 as depth from customers where id = 1 union all select c.id, c.name, t.depth + 1 from customers c join tree t on c.id = t.id + 1) select * from tree

with gone as (delete from orders where total < 1 returning *) select count(*) from gone

with new as (insert into customers (name) values ('x') returning id) insert into orders (customer_id) select id from new

values (1, 'a'), (2, 'b')

values (1, 2.5), (3, null) order by 1

select * from (values (1, 'a'), (2, 'b')) as v(id, word)

select 1 union select 2 union all select 3 order by 1

select id from customers intersect select customer_id from orders except select 5

(select 1 limit 1) union all (select 2 order by 1)

select 1 union select 2.5

select null union select 'x'

select case when total > 100 then 'big' when total > 10 then 'medium' else 'small' end from orders

select case status when 'new' then 1 when 'paid' then 2 end from orders

select coalesce(note, status, 'none'), nullif(total, 0), greatest(1, 2, 3.5), least('a', 'b') from orders

select cast(total as integer), total::text, '42'::int, 'yes'::boolean, '2024-01-31'::date + 1 from orders

select int '5', date '2024-01-01', timestamp '2024-01-01 10:00', interval '1 day', interval '2' hour, time '10:00'

select numeric '1.50', 1.5::numeric(10,2), '{"a": 1}'::jsonb, 'abc'::varchar(2), 'abc'::char(5)

select 1 + 2 * 3 - 4 / 2 % 3, 2 ^ 10, -total, +total, @ -5, |/ 16 from orders

select 1.5 + 1, 1::float8 / 3, 1::int8 + 1::int2, 5 & 3 | 8 # 1, ~5, 1 << 3, 16 >> 2

select 'a' || 'b' || 1, name || '!', 'x' || null from customers

select lower(name), upper(name), length(name), initcap(name), trim(name), ltrim(name), btrim(name, 'x') from customers

select trim(both 'x' from name), trim(leading from name), substring(name from 2 for 3), substring(name, 1), position('a' in name) from customers

select overlay('abcdef' placing 'X' from 2 for 2), left(name, 2), right(name, -1), lpad(name, 10), rpad(name, 10, '*') from customers

select replace(name, 'a', 'b'), translate(name, 'ab', 'xy'), reverse(name), repeat(name, 2), split_part(email, '@', 2) from customers

select concat(name, ' ', id), concat_ws(',', name, email, id), format('%s is %I', name, email) from customers

select md5(name), encode(sha256('x'::bytea), 'hex'), ascii('a'), chr(97), to_hex(255), quote_ident('a b'), quote_literal('it''s') from customers

select name ~ '^A', name ~* 'a', name !~ 'b', name !~* 'b', regexp_replace(name, 'a', 'b', 'g') from customers

select name operator(pg_catalog.~) '^A' collate pg_catalog.default from customers

select abs(-5), ceil(1.5), floor(1.5), round(1.567, 2), trunc(1.567), sign(-2.5), sqrt(2), power(2, 10), mod(7, 3), random(), pi()

select now(), current_timestamp, current_date, current_time, localtimestamp, localtime, current_timestamp(0), clock_timestamp()

select extract(year from placed_at), extract(epoch from interval '1 day'), date_part('month', placed_at), age(placed_at) from orders

select placed_at + interval '1 day', placed_at - placed_at, current_date - born, born + 7, born - interval '1 month' from orders, customers

select to_char(placed_at, 'YYYY-MM-DD'), to_char(total, '999D99'), to_date('2024', 'YYYY'), to_timestamp(0), make_date(2024, 1, 1) from orders

select placed_at at time zone 'UTC', placed_at::date, make_interval(days => 3, hours => 1) from orders

select date_trunc('day', now()) - interval '7 days' < now()

select jb -> 'a', jb ->> 'a', jb #> '{a,b}', jb #>> '{a,b}', jb @> '{"a": 1}', jb ? 'a', jb || '{"x": 1}', jb - 'a' from everything

select j -> 0, j ->> 'x', json_typeof(j), json_array_length(j), jsonb_set(jb, '{a}', '1') from everything

select json_build_object('a', 1, 'b', name), jsonb_build_array(1, 'x', null), to_json(name), json_agg(name) from customers group by name

select key, value from everything, jsonb_each(jb)

select * from everything cross join lateral jsonb_array_elements(jb) as e(x)

select tags[1], array_length(tags, 1), cardinality(tags), tags || 'x'::text, tags && array['a'], tags @> array['a'], 'a' = any(tags) from everything

select array[1, 2, 3], array[]::int[], array[array[1, 2], array[3, 4]], '{1,2}'::int[], array['a', 'b']::varchar[]

select array_to_string(tags, ','), string_to_array('a,b', ','), array_append(numbers, 1), array_position(tags, 'x'), unnest(tags) from everything

select * from unnest(array[1, 2, 3]) as u(x)

select * from unnest(array['a', 'b']) with ordinality as u(x, n)

select * from generate_series(1, 10) as g

select g.n, g.n * 2 from generate_series(1, 10, 3) as g(n)

select d::date from generate_series('2024-01-01'::timestamp, '2024-01-05'::timestamp, '1 day') as d

select generate_series(1, 3)

select id, unnest(tags) as tag from everything order by tag

select row_number() over (order by id), rank() over (partition by status order by total desc) from orders

select sum(total) over (partition by customer_id order by placed_at rows between unbounded preceding and current row) from orders

select lag(total) over w, lead(total, 2, 0) over w, first_value(id) over w from orders window w as (partition by customer_id order by id)

select ntile(4) over (order by total), cume_dist() over (order by total), percent_rank() over (order by total) from orders

select count(*) over (), avg(total) over (order by id rows 3 preceding), sum(total) over (order by id range unbounded preceding) from orders

select sum(total) over (order by id groups between 1 preceding and 1 following exclude current row) from orders

select customer_id, status, sum(total) from orders group by rollup (customer_id, status)

select customer_id, status, sum(total) from orders group by cube (customer_id, status)

select customer_id, status, sum(total) from orders group by grouping sets ((customer_id), (status), ())

select * from busy where orders > 3

select b.name, b.orders from busy b join customers c on c.id = b.id

select "CustomerId", fullname from mixed

select customers from customers

select row(1, 'a', null), (1, 2)

select row_to_json(c) from customers c

select * from orders for update

select * from orders where id = 1 for update skip locked

select * from orders tablesample bernoulli (10)

select name similar to '(a|b)%' from customers

select percentile_cont(0.5) within group (order by total) from orders

select xmlelement(name a)

select grouping(status) from orders group by rollup (status)

insert into customers (name, email) values ('Ada', 'ada@example.org')

insert into customers (name) values ('a'), ('b'), (default)

insert into customers default values

insert into customers values (1, 'Ada', 'a@b', '1815-12-10', true, 5)

insert into orders (customer_id, total) select id, 10.5 from customers where active

insert into orders (customer_id, total) values ($1, $2) returning id, placed_at

insert into customers (id, name) values (1, 'x') on conflict do nothing

insert into customers (id, name) values (1, 'x') on conflict (id) do update set name = excluded.name

insert into customers as c (id, name, rating) values (1, 'x', 2) on conflict (id) do update set rating = c.rating + excluded.rating where c.active returning *

insert into customers (name, email) values ('x', 'y') on conflict on constraint customers_email_key do update set name = 'z'

insert into items (order_id, line, sku, quantity, price) values (1, 1, 'abc', 2, 9.99) on conflict (order_id, line) do update set quantity = items.quantity + excluded.quantity

insert into everything (b, i2, d, ts, tz, iv, u, j, jb, tags, bytes) values (true, 1, '2024-01-01', '2024-01-01 10:00', '2024-01-01 10:00+02', '1 day 2 hours', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '[1]', '{"a":1}', '{a,b}', '\xdeadbeef')

insert into everything (id, i4) overriding system value values (7, 1)

update customers set name = 'x' where id = 1

update customers set name = upper(name), active = not active, rating = default where id = $1 returning *

update orders o set total = s.sum from (select order_id, sum(price * quantity) as sum from items group by order_id) s where s.order_id = o.id

update orders set (status, note) = ('paid', 'thanks') where id = 1

update orders set (status, note) = (select 'a', 'b')

delete from orders where id = 1

delete from orders using customers c where c.id = customer_id and not c.active returning orders.id, c.name

delete from items

merge into customers c using orders o on c.id = o.customer_id when matched then update set name = 'x'

create table t (id serial primary key, name text not null, amount numeric(12,2) default 0 check (amount >= 0), at timestamptz default now())

create table if not exists orders (id int)

create table t2 (a int, b int, primary key (a, b), unique (b), foreign key (a) references customers (id) on delete cascade on update set null deferrable initially deferred, constraint positive check (a > 0 and b > 0))

create table t3 (id bigint generated always as identity (start with 100 increment by 5), full_name varchar(50), low text generated always as (lower(full_name)) stored, ref int references orders)

create temp table scratch (x int, y text)

create temporary table scratch2 as select * from orders

create unlogged table fast (x int)

create table copied as select id, name from customers where active with no data

select id, name into copied2 from customers

create table liked (like customers)

create table parts (a int) partition by range (a)

create table arrays (a int[], b text[][], c numeric(5,1)[], d timestamp(3), e time with time zone, f "char", g name, h uuid, i bytea, j json, k jsonb, l interval, m oid, n regclass, o real, p double precision, q smallint, r boolean, s char, t character varying, u bpchar)

create index on orders (customer_id)

create unique index if not exists orders_note on orders (lower(note) desc, id) where status = 'new'

create index concurrently orders_x on orders using btree (placed_at desc nulls last)

create index g on everything using gin (jb)

create view v as select id, name from customers where active

create or replace view busy as select 1 as id, 'x' as name, 2 as orders

create materialized view mv as select 1

create sequence s start with 5 increment by 2 maxvalue 100 cycle

create schema if not exists sales

create type mood as enum ('sad', 'happy')

create function f() returns int language sql as 'select 1'

create extension if not exists pgcrypto

alter table orders add column paid boolean default false not null

alter table orders drop column note, alter column status drop default, alter column total set not null

alter table orders alter column total type numeric(12,4) using total * 100

alter table orders rename column note to remark

alter table orders rename to purchases

alter table orders add constraint total_positive check (total > 0)

alter table orders add foreign key (customer_id) references customers (id)

alter table orders drop constraint orders_customer_id_fkey

alter table orders owner to current_user

drop table orders, items cascade

drop table if exists nothing_here

drop view busy

drop index orders_pkey

truncate orders, items restart identity cascade

comment on table orders is 'what was bought'

comment on column orders.total is null

grant select on orders to public

begin

begin isolation level serializable read only deferrable

start transaction isolation level repeatable read, read write

commit

rollback

commit and chain

savepoint a; release savepoint a; rollback to savepoint a

set transaction isolation level read committed

set session characteristics as transaction read only

set search_path to public, "Sales"

set local statement_timeout = '5s'

set time zone 'Europe/Berlin'

set client_encoding to 'UTF8'; set names 'utf8'; set extra_float_digits = 3; set datestyle to iso, dmy

reset all; reset search_path; discard all

show search_path; show all; show transaction isolation level; show server_version

prepare p (int, text) as select * from customers where id = $1 and name = $2

execute p (1, 'x'); deallocate p; deallocate all

declare c scroll cursor with hold for select * from orders; fetch 10 from c; fetch backward 2 in c; move forward all in c; close c; close all

explain select * from orders

explain (analyze, verbose, format json) select * from orders where id = 1

copy orders (id, total) from stdin with (format csv, header true, delimiter ';', null '')

copy orders to stdout; copy (select * from orders) to stdout csv header

copy orders from '/etc/passwd'

lock table orders in exclusive mode

listen channel; notify channel, 'payload'; unlisten *

vacuum; vacuum analyze orders; analyze; checkpoint; reindex table orders

do $$ begin end $$

select version(), current_database(), current_schema(), current_schemas(true), current_user, session_user, user, pg_backend_pid()

select current_setting('server_version'), set_config('search_path', 'public', false), current_setting('x.y', true)

select has_table_privilege('orders', 'SELECT'), has_schema_privilege('public', 'USAGE'), pg_get_userbyid(10), obj_description('orders'::regclass, 'pg_class')

select 'orders'::regclass, 'orders'::regclass::oid, 'int4'::regtype, 23::regtype, to_regclass('nope'), 'orders_pkey'::regclass

select nextval('counter'), currval('counter'), setval('counter', 5), lastval()

select pg_catalog.version(); select pg_typeof(1); select pg_sleep(0); select txid_current()

select t.oid, typarray from pg_type t join pg_namespace ns on typnamespace = ns.oid where typname = 'hstore'

SELECT typname AS name, t.oid AS oid, typarray AS array_oid, t.oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t
WHERE t.oid = to_regtype($1)
ORDER BY t.oid

SELECT n.nspname as "Schema",
  c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table' WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as "Type",
  pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
WHERE c.relkind IN ('r','p','v','m','S','f','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2;

SELECT c.oid,
  n.nspname,
  c.relname
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname OPERATOR(pg_catalog.~) '^(orders)$' COLLATE pg_catalog.default
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 2, 3;

SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relforcerowsecurity, false AS relhasoids, c.relispartition, '', c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relreplident, am.amname
FROM pg_catalog.pg_class c
 LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid)
LEFT JOIN pg_catalog.pg_am am ON (c.relam = am.oid)
WHERE c.oid = '101';

SELECT a.attname,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
   FROM pg_catalog.pg_attrdef d
   WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
  a.attnotnull,
  (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
   WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
  a.attidentity,
  a.attgenerated
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = '101' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum;

SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true),
  pg_catalog.pg_get_constraintdef(con.oid, true), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace
FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
  LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
WHERE c.oid = '101' AND c.oid = i.indrelid AND i.indexrelid = c2.oid
ORDER BY i.indisprimary DESC, c2.relname;

SELECT true as sametable, conname,
  pg_catalog.pg_get_constraintdef(r.oid, true) as condef,
  conrelid::pg_catalog.regclass AS ontable
FROM pg_catalog.pg_constraint r
WHERE r.conrelid = '101' AND r.contype = 'f'
     AND conparentid = 0
ORDER BY conname

SELECT conname, conrelid::pg_catalog.regclass AS ontable,
       pg_catalog.pg_get_constraintdef(oid, true) AS condef
  FROM pg_catalog.pg_constraint c
 WHERE confrelid = '101' AND contype = 'f'
ORDER BY conname;

SELECT oid, stxrelid::pg_catalog.regclass, stxnamespace::pg_catalog.regnamespace::pg_catalog.text AS nsp, stxname,
pg_catalog.pg_get_statisticsobjdef_columns(oid) AS columns,
  'd' = any(stxkind) AS ndist_enabled,
  'f' = any(stxkind) AS deps_enabled,
  'm' = any(stxkind) AS mcv_enabled,
stxstattarget
FROM pg_catalog.pg_statistic_ext
WHERE stxrelid = '101'
ORDER BY nsp, stxname;

SELECT c.oid::pg_catalog.regclass
FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
WHERE c.oid = i.inhparent AND i.inhrelid = '101'
  AND c.relkind != 'p' AND c.relkind != 'I'
ORDER BY inhseqno;

SELECT c.oid::pg_catalog.regclass, c.relkind, inhdetachpending, pg_catalog.pg_get_expr(c.relpartbound, c.oid)
FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
WHERE c.oid = i.inhrelid AND i.inhparent = '101'
ORDER BY pg_catalog.pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', c.oid::pg_catalog.regclass::pg_catalog.text;

SELECT d.datname as "Name",
       pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
       pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding",
       d.datcollate as "Collate",
       d.datctype as "Ctype",
       d.daticulocale as "ICU Locale",
       CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' END AS "Locale Provider",
       pg_catalog.array_to_string(d.datacl, E'\n') AS "Access privileges"
FROM pg_catalog.pg_database d
ORDER BY 1;

SELECT n.nspname AS "Name",
  pg_catalog.pg_get_userbyid(n.nspowner) AS "Owner"
FROM pg_catalog.pg_namespace n
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
ORDER BY 1;

SELECT seqstart, seqmin, seqmax, seqincrement, CASE WHEN seqcycle THEN 'yes' ELSE 'no' END AS "Cycles?", seqcache, pg_catalog.format_type(seqtypid, NULL) AS "Type"
FROM pg_catalog.pg_sequence
WHERE seqrelid = '201';

SELECT pg_catalog.pg_class.relname
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r'::VARCHAR, 'p'::VARCHAR]) AND pg_catalog.pg_class.relpersistence != 't'::CHAR AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog'::VARCHAR

SELECT pg_catalog.pg_attribute.attname AS name, pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod) AS format_type, (SELECT pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS pg_get_expr_1
FROM pg_catalog.pg_attrdef
WHERE pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum AND pg_catalog.pg_attribute.atthasdef) AS "default", pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name, pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS generated, (SELECT json_build_object('always', pg_catalog.pg_attribute.attidentity = 'a', 'start', pg_catalog.pg_sequence.seqstart, 'increment', pg_catalog.pg_sequence.seqincrement, 'minvalue', pg_catalog.pg_sequence.seqmin, 'maxvalue', pg_catalog.pg_sequence.seqmax, 'cache', pg_catalog.pg_sequence.seqcache, 'cycle', pg_catalog.pg_sequence.seqcycle) AS json_build_object_1
FROM pg_catalog.pg_sequence
WHERE pg_catalog.pg_attribute.attidentity != '' AND pg_catalog.pg_sequence.seqrelid = CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS REGCLASS) AS TEXT), pg_catalog.pg_attribute.attname) AS REGCLASS) AS OID)) AS identity_options
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > 0 AND NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog' AND pg_catalog.pg_class.relname IN ('orders') ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum

SELECT attr.conrelid, array_agg(CAST(attr.attname AS TEXT) ORDER BY attr.ord) AS cols, attr.conname, min(attr.description) AS description, NULL AS extra
FROM (SELECT con.conrelid AS conrelid, con.conname AS conname, con.conindid AS conindid, con.description AS description, con.ord AS ord, pg_catalog.pg_attribute.attname AS attname
FROM pg_catalog.pg_attribute JOIN (SELECT pg_catalog.pg_constraint.conrelid AS conrelid, pg_catalog.pg_constraint.conname AS conname, pg_catalog.pg_constraint.conindid AS conindid, unnest(pg_catalog.pg_constraint.conkey) AS attnum, generate_subscripts(pg_catalog.pg_constraint.conkey, 1) AS ord, pg_catalog.pg_description.description AS description
FROM pg_catalog.pg_constraint LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid
WHERE pg_catalog.pg_constraint.contype = 'p' AND pg_catalog.pg_constraint.conrelid IN (101)) AS con ON pg_catalog.pg_attribute.attnum = con.attnum AND pg_catalog.pg_attribute.attrelid = con.conrelid
WHERE con.conrelid IN (101)) AS attr GROUP BY attr.conrelid, attr.conname ORDER BY attr.conrelid, attr.conname

SELECT pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname, CASE WHEN (pg_catalog.pg_constraint.oid IS NOT NULL) THEN pg_catalog.pg_get_constraintdef(pg_catalog.pg_constraint.oid, true) END AS anon_1, nsp_ref.nspname, pg_catalog.pg_description.description
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_class.oid = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_constraint.contype = 'f' LEFT OUTER JOIN pg_catalog.pg_class AS pg_class_ref ON pg_class_ref.oid = pg_catalog.pg_constraint.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace AS nsp_ref ON pg_class_ref.relnamespace = nsp_ref.oid LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_constraint.oid ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_constraint.conname

SELECT pg_catalog.pg_index.indrelid, cls_idx.relname AS relname_index, pg_catalog.pg_index.indisunique, pg_catalog.pg_constraint.conrelid IS NOT NULL AS has_constraint, pg_catalog.pg_index.indoption, cls_idx.reloptions, pg_catalog.pg_am.amname, CASE WHEN (pg_catalog.pg_index.indpred IS NOT NULL) THEN pg_catalog.pg_get_expr(pg_catalog.pg_index.indpred, pg_catalog.pg_index.indrelid) END AS filter_definition, pg_catalog.pg_index.indnkeyatts, pg_catalog.pg_index.indnullsnotdistinct, idx_cols.elements, idx_cols.elements_is_expr
FROM pg_catalog.pg_index JOIN pg_catalog.pg_class AS cls_idx ON pg_catalog.pg_index.indexrelid = cls_idx.oid JOIN pg_catalog.pg_am ON cls_idx.relam = pg_catalog.pg_am.oid LEFT OUTER JOIN (SELECT idx_attr.indexrelid AS indexrelid, min(idx_attr.indrelid) AS min_1, array_agg(idx_attr.element ORDER BY idx_attr.ord) AS elements, array_agg(idx_attr.is_expr ORDER BY idx_attr.ord) AS elements_is_expr
FROM (SELECT idx.indexrelid AS indexrelid, idx.indrelid AS indrelid, idx.ord AS ord, CASE WHEN (idx.attnum = 0) THEN pg_catalog.pg_get_indexdef(idx.indexrelid, idx.ord + 1, true) ELSE CAST(pg_catalog.pg_attribute.attname AS TEXT) END AS element, idx.attnum = 0 AS is_expr
FROM (SELECT pg_catalog.pg_index.indexrelid AS indexrelid, pg_catalog.pg_index.indrelid AS indrelid, unnest(pg_catalog.pg_index.indkey) AS attnum, generate_subscripts(pg_catalog.pg_index.indkey, 1) AS ord
FROM pg_catalog.pg_index
WHERE NOT pg_catalog.pg_index.indisprimary AND pg_catalog.pg_index.indrelid IN (101)) AS idx LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_attribute.attnum = idx.attnum AND pg_catalog.pg_attribute.attrelid = idx.indrelid
WHERE idx.indrelid IN (101)) AS idx_attr GROUP BY idx_attr.indexrelid) AS idx_cols ON pg_catalog.pg_index.indexrelid = idx_cols.indexrelid LEFT OUTER JOIN pg_catalog.pg_constraint ON pg_catalog.pg_index.indrelid = pg_catalog.pg_constraint.conrelid AND pg_catalog.pg_index.indexrelid = pg_catalog.pg_constraint.conindid AND pg_catalog.pg_constraint.contype = ANY (ARRAY['p', 'u', 'x'])
WHERE pg_catalog.pg_index.indrelid IN (101) AND NOT pg_catalog.pg_index.indisprimary ORDER BY pg_catalog.pg_index.indrelid, cls_idx.relname

SELECT t.relname, (SELECT a.depth FROM pg_catalog.pg_partition_ancestors(t.oid) WITH ORDINALITY AS a(relid, depth) ORDER BY a.depth LIMIT 1) FROM pg_catalog.pg_class t

SELECT conname FROM pg_catalog.pg_constraint WHERE conrelid IN (SELECT pg_catalog.pg_partition_ancestors('101') UNION ALL VALUES ('101'::pg_catalog.regclass)) AND contype = 'f'

SELECT unnest(indkey) AS attnum, unnest(indclass) AS opclass, generate_subscripts(indkey, 1) AS ord, indoption FROM pg_catalog.pg_index

INSERT INTO customers (name, rating) SELECT * FROM UNNEST(($1)::varchar[], ($2)::float8[]) RETURNING id

select * from unnest(array[1, 2], array['a']) with ordinality as u(a, b, n)

SELECT indexrelid, array_agg(key ORDER BY arridx), array_agg(option & 1) FROM (SELECT * FROM pg_index i, unnest(i.indkey, i.indoption) WITH ORDINALITY koi(key, option, arridx)) idx GROUP BY indexrelid
