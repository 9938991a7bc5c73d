create function touched() returns trigger language plpgsql as $body$
begin
    -- A semicolon; within a body.
    new.name := trim(new.name);
    return new;
end;
$body$;
create trigger touch before insert or update on people for each row execute function touched();
do $$ begin insert into people (name, kind) values ('  Cid  ', 'company'); end $$;
/* A comment; of
   several lines. */
create view companies as select id, name from people where kind = 'company';
