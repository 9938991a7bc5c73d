--liquibase formatted sql
--changeset tour:8 splitStatements:false
create function touch() returns trigger language plpgsql as $$
begin
    new.nick := coalesce(new.nick, 'none') || ';';
    return new;
end $$;
--rollback drop function touch();

--changeset tour:9 runInTransaction:false
create index concurrently people_active on people (active) where active;
create trigger touching before update on people for each row execute function touch();
--rollback drop trigger touching on people;
--rollback drop index people_active;
