create table countries (code char(2) primary key, name varchar(60) not null);
insert into countries values ('DE', 'Germany');
alter table people add country char(2);
alter table people add constraint (foreign key (country) references countries constraint people_country);
create sequence tickets start with 100 increment by 5;
insert into people (name, country) values ('Cid', 'DE');
