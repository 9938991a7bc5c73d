drop view if exists known;
create view known (id, name) as select id, name from people where kind = 'person';
