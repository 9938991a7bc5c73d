--liquibase formatted sql
--changeset tour:plain
create table plain (x int, word varchar(20));
insert into plain values (1, 'a; b');
--rollback drop table plain;
