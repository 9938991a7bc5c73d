create or replace view summary as select kind, count(*) as n from people group by kind;
