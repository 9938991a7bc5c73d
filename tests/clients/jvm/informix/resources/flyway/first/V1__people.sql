create table people (
    id serial not null primary key,
    name varchar(80) not null,
    kind varchar(10) default 'person' not null check (kind in ('person', 'company'))
);
create unique index people_by_name on people (name);
insert into people (name) values ('Ann');
insert into people (name) values ('Bob; with semicolon');
