-- A store with an object of every kind: what psql's \d family is asked about.
create role clerk login;
create role auditor nologin;
grant auditor to clerk;
comment on role clerk is 'sells things';
alter role clerk set search_path = shop, public;
create schema shop;
comment on schema shop is 'what is sold';
grant usage on schema shop to clerk;
create type shop.mood as enum ('sad', 'ok', 'happy');
comment on type shop.mood is 'how they feel';
create domain shop.positive as integer default 1 check (value > 0);
comment on domain shop.positive is 'above zero';
create domain shop.code as varchar(8) not null;
create type shop.address as (street text, city varchar(40), zip char(5));
create type shop.span as range (subtype = float8);
create sequence shop.numbers as integer increment by 5 start 100 minvalue 10 maxvalue 1000 cycle;
comment on sequence shop.numbers is 'numbers of bills';
create table shop.customers (
  id serial primary key,
  name varchar(40) not null,
  email text unique,
  mood shop.mood default 'ok',
  born date,
  balance numeric(10,2) not null default 0 check (balance >= 0),
  tags text[],
  created timestamp with time zone default now(),
  full_name text generated always as (name || '!') stored
);
comment on table shop.customers is 'who buys';
comment on column shop.customers.email is 'where to write';
create table shop.orders (
  id bigint generated always as identity primary key,
  customer integer not null references shop.customers (id) on delete cascade on update restrict,
  placed timestamp default current_timestamp,
  total numeric(12,2),
  state char(1) default 'n',
  constraint orders_state check (state in ('n', 'p', 's')),
  constraint orders_unique unique (customer, placed)
);
create index orders_total on shop.orders (total desc nulls last) where total > 100;
create index orders_lower on shop.orders (customer, state) include (placed);
comment on index shop.orders_total is 'the big ones';
comment on constraint orders_state on shop.orders is 'known states';
alter table shop.orders add constraint orders_total_valid check (total is null or total < 1000000) not valid;
create table shop.items (
  order_id bigint references shop.orders match full,
  line smallint,
  article text collate "C",
  quantity integer default 1,
  price double precision,
  primary key (order_id, line)
);
create unlogged table shop.scratch (a integer, b real) with (fillfactor = 70);
create table shop.animals (name text, legs integer not null default 4);
create table shop.dogs (breed text) inherits (shop.animals);
create view shop.big_orders as select id, customer, total from shop.orders where total > 100;
comment on view shop.big_orders is 'worth a call';
create view shop.names as select name, email from shop.customers with local check option;
create function shop.add(a integer, b integer default 1) returns integer language sql immutable strict as $$ select a + b $$;
comment on function shop.add(integer, integer) is 'adds';
create function shop.touch() returns trigger language plpgsql as $$
begin
  new.placed := now();
  return new;
end $$;
create procedure shop.clean(in days integer) language plpgsql as $$
begin
  delete from shop.orders where false;
end $$;
create trigger orders_touch before insert or update of total on shop.orders for each row when (new.total is not null) execute function shop.touch();
comment on trigger orders_touch on shop.orders is 'stamps';
alter table shop.customers enable row level security;
create policy own on shop.customers for select to clerk using (name = current_user);
create policy everything on shop.customers as restrictive using (true) with check (balance < 1000);
grant select, insert on shop.customers to clerk with grant option;
grant select (id, total), update (state) on shop.orders to clerk;
grant usage on sequence shop.numbers to clerk;
grant execute on function shop.add(integer, integer) to clerk;
alter default privileges in schema shop grant select on tables to auditor;
create table plain (a integer, "B c" text, d jsonb, e uuid, f bytea, g inet, h interval, i time, j bit(3), k varbit, l xid8);
create aggregate shop.total(integer) (sfunc = int4pl, stype = integer, initcond = '0');
create operator shop.@+@ (leftarg = integer, rightarg = integer, function = shop.add);
create collation shop.german (provider = icu, locale = 'de');
create text search configuration shop.words (copy = simple);
create cast (shop.address as text) with inout as assignment;

-- Kinds that are refused by name stand in a schema of their own.
create schema yard;
create table yard.bench (a integer, b integer);
create rule no_delete as on delete to yard.bench do instead nothing;
create materialized view yard.totals as select customer, sum(total) as total from shop.orders group by customer;
create table yard.parts (id integer, region text) partition by list (region);
create table yard.parts_north partition of yard.parts for values in ('north');
create statistics yard.bench_stats (dependencies) on a, b from yard.bench;
create function yard.watch() returns event_trigger language plpgsql as $$ begin end $$;
create event trigger watch on ddl_command_start execute function yard.watch();
create foreign data wrapper nowhere;
create server far foreign data wrapper nowhere;
create user mapping for clerk server far;
create table yard.slots (id integer, unique (id) deferrable initially deferred);
create publication everything for table yard.slots;
