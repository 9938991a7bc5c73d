create table countries (code char(2) primary key, name text not null);
COPY countries (code, name) FROM STDIN;
DE	Germany
FR	France
XX	\N of none
\.
alter table people add column country char(2) references countries on delete set null;
