create table half (x int);
insert into half values (1);
insert into half values ('not a number');
