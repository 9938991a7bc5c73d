alter type kind add value 'robot' before 'company';
create sequence tickets start 100 increment 5 owned by people.id;
create materialized view counted as select count(*) as n from people;
create domain code as text check (value ~ '^[A-Z]+$');
create extension if not exists pgcrypto;
