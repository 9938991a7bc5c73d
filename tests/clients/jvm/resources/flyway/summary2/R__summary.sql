create or replace view summary as select kind, count(*) as n, min(name) as first from people group by kind;
