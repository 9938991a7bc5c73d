-- Operators and casts over functions of users and of PostgreSQL's own, named in views, checks and indexes.
create schema s;
create type s.mood as enum ('sad', 'ok');
create function s.mood_int(s.mood) returns int language sql immutable as $$ select case $1 when 'sad' then 1 else 2 end $$;
create cast (s.mood as int) with function s.mood_int(s.mood) as implicit;
create cast (varchar as s.mood) with inout as assignment;
create cast (text as json) without function;
create function s.as_long(text, text) returns bool language sql immutable as $$ select length($1) = length($2) $$;
create function s.not_as_long(text, text) returns bool language sql immutable as $$ select length($1) <> length($2) $$;
create operator s.=== (
  leftarg = text, rightarg = text, function = s.as_long, commutator = operator(s.===), negator = operator(s.!==),
  restrict = eqsel, join = eqjoinsel, hashes, merges
);
create operator s.!== (leftarg = text, rightarg = text, function = s.not_as_long, negator = operator(s.===));
create operator public.@#@ (rightarg = int, function = int4um);
comment on operator s.=== (text, text) is 'as long';
comment on cast (s.mood as int) is 'how happy';
create view v as
  select 'a' operator(s.===) 'b' as x, @#@ 3 as y, 'ok'::s.mood::int as z, 1 + 'ok'::s.mood as w;
create table t (a text check (a operator(s.===) 'abc'), b int default @#@ 4);
create function definer(a int default 1) returns int language sql security definer set search_path = s as 'select a';
insert into t (a) values ('xyz');
