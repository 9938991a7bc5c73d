insert into countries values ('ZZ', 'after a migration') on conflict (code) do update set name = countries.name || '!';
