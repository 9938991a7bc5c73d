-- What a schema keeps names functions, types and sequences without their schemas.
create function f() returns int language sql as 'select 1';
create function g(int) returns int immutable language sql as 'select $1';
create type mood as enum('a','b');
create sequence sq;
create domain dd as int check (g(value) > 0) default 1;
create table t(a int default f(), b int check (g(b) > 0), m mood default 'a'::mood, s int default nextval('sq'), d dd, gen int generated always as (b+1) stored, check (m <> 'b'::mood));
create index ti on t(g(b));
create function trg() returns trigger language plpgsql as 'begin return new; end';
create trigger tt before insert on t for each row when (g(new.b) > 0) execute function trg();
create view v as select g(a) as x, 'a'::mood as m, nextval('sq') from t;
create policy p on t using (g(b) > 0);
-- From here on: other search paths.
set search_path = '';
insert into public.t(b,d) values (1,1);
insert into public.t(b,d) values (0,1);
insert into public.t(b,d) values (1,0);
select * from public.t;
select x,m from public.v;
select * from public.t where public.g(b)=1;
update public.t set b = 2;
create schema other; create function other.g(int) returns int immutable language sql as 'select -1';
set search_path = other;
insert into public.t(b,d) values (1,1);
select x from public.v;
select 1::public.dd;
