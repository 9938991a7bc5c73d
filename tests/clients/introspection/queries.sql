-- What frameworks and tools ask of the catalogs, in our own words: the same relations, columns, functions and ways of
-- joining as theirs. Where each is from stands above its queries. `-- == NAME` begins a query; `-- $1 = VALUE` is a
-- parameter of it. What is not ordered is compared without its order.

-- Prisma: prisma-engines, schema-engine/sql-schema-describer/src/postgres.rs and postgres/*.sql

-- == prisma: settings
select current_setting('search_path') = '', current_setting('server_version_num')::integer / 10000

-- == prisma: schema exists
-- $1 = shop
select exists (select 1 from pg_namespace where nspname = $1), to_regclass('shop.orders') is not null

-- == prisma: namespaces
-- $1 = {public,shop,yard}
select ns.nspname as namespace_name from pg_namespace as ns where ns.nspname = any ($1) order by namespace_name

-- == prisma: tables
-- $1 = {public,shop}
select rel.relname as table_name, ns.nspname as namespace,
       (rel.relhassubclass and rel.relkind = 'p') as is_partition,
       (rel.relhassubclass and rel.relkind = 'r') as has_subclass,
       rel.relrowsecurity as has_row_level_security, reloptions,
       obj_description(rel.oid, 'pg_class') as description
from pg_class as rel inner join pg_namespace as ns on ns.oid = rel.relnamespace
where ((rel.relkind = 'r' and rel.relispartition = 'f') or rel.relkind = 'p' or rel.relkind = 'f')
  and ns.nspname = any ($1)
order by namespace, table_name

-- == prisma: views
-- $1 = {public,shop}
select v.viewname as view_name, v.definition as view_sql, v.schemaname as namespace,
       obj_description(rel.oid, 'pg_class') as description
from pg_catalog.pg_views v
inner join pg_catalog.pg_namespace ns on v.schemaname = ns.nspname
inner join pg_catalog.pg_class rel on rel.relnamespace = ns.oid and rel.relname = v.viewname
where schemaname = any ($1)

-- == prisma: columns
-- $1 = {public,shop}
select rels.namespace, col.table_name, col.column_name, format_type(att.atttypid, att.atttypmod) as formatted_type,
       col.numeric_precision, col.numeric_scale, col.numeric_precision_radix, col.datetime_precision, col.data_type,
       col.udt_schema as type_schema_name, col.udt_name as full_data_type,
       pg_get_expr(def.adbin, def.adrelid) as column_default, col.is_nullable, col.is_identity,
       col.character_maximum_length, col_description(att.attrelid, ordinal_position) as description
from information_schema.columns col
join pg_attribute att on att.attname = col.column_name
join (select pg_class.oid, relname, pg_namespace.nspname as namespace
      from pg_class join pg_namespace on pg_namespace.oid = pg_class.relnamespace and pg_namespace.nspname = any ($1)
      where reltype > 0) as rels
  on rels.oid = att.attrelid and relname = col.table_name and namespace = col.table_schema
left outer join pg_attrdef def
  on def.adrelid = att.attrelid and def.adnum = att.attnum and table_schema = namespace
where table_schema = any ($1)
order by namespace, table_name, ordinal_position

-- == prisma: foreign keys
-- $1 = {public,shop}
select mine.attname as child_column, target.relname as parent_table, theirs.attname as parent_column,
       keys.confdeltype, keys.confupdtype, target_ns.nspname as referenced_schema_name, conname as constraint_name,
       child, parent, table_name, namespace, condeferrable, condeferred
from (select ns.nspname as namespace, unnest(con.conkey) as parent, unnest(con.confkey) as child,
             rel.relname as table_name, generate_subscripts(con.conkey, 1) as colidx, con.oid, con.confrelid,
             con.conrelid, con.conname, con.confdeltype, con.confupdtype, con.condeferrable, con.condeferred
      from pg_class rel
      join pg_constraint con on con.conrelid = rel.oid
      join pg_namespace ns on rel.relnamespace = ns.oid
      where ns.nspname = any ($1) and con.contype = 'f'
      order by colidx) keys
join pg_attribute theirs on theirs.attrelid = keys.confrelid and theirs.attnum = keys.child
join pg_class target on target.oid = keys.confrelid
join pg_attribute mine on mine.attrelid = keys.conrelid and mine.attnum = keys.parent
join pg_namespace target_ns on target.relnamespace = target_ns.oid
order by namespace, table_name, constraint_name, keys.colidx

-- == prisma: checks and exclusions
-- $1 = {public,shop}
select ns.nspname as namespace, rel.relname as table_name, con.conname as constraint_name,
       con.contype as constraint_type, pg_get_constraintdef(con.oid) as constraint_definition,
       con.condeferrable as is_deferrable, con.condeferred as is_deferred
from pg_constraint con
join pg_class as rel on rel.oid = con.conrelid
join pg_namespace as ns on ns.oid = rel.relnamespace
where ns.nspname = any ($1) and contype not in ('p', 'u', 'f')
order by namespace, table_name, con.contype, constraint_name

-- == prisma: indexes
-- $1 = {public,shop}
with members as (
  select indrelid, indexrelid, indisunique, indisprimary, unnest(indkey) as key,
         generate_subscripts(indkey, 1) as place, unnest(indclass) as class, unnest(indoption) as options
  from pg_index where indpred is null and not indisexclusion)
select ns.nspname as namespace, ind.relname as index_name, rel.relname as table_name, att.attname as column_name,
       members.indisunique as is_unique, members.indisprimary as is_primary_key, members.place as column_index,
       opc.opcname as opclass, opc.opcdefault as opcdefault, am.amname as index_algo,
       case members.options & 1 when 1 then 'DESC' else 'ASC' end as column_order,
       case members.options & 2 when 2 then true else false end as nulls_first,
       con.condeferrable as condeferrable, con.condeferred as condeferred
from members
inner join pg_class as rel on rel.oid = members.indrelid
inner join pg_class as ind on ind.oid = members.indexrelid
inner join pg_namespace as ns on ns.oid = rel.relnamespace
left join pg_attribute as att on att.attrelid = rel.oid and att.attnum = members.key
inner join pg_am as am on am.oid = ind.relam
left join pg_opclass as opc on opc.oid = members.class
left join pg_constraint con on members.indexrelid = con.conindid and con.contype <> 'f'
where ns.nspname = any ($1)
order by namespace, table_name, index_name, column_index

-- == prisma: sequences
-- $1 = {public,shop}
select sequence_name, sequence_schema as namespace, start_value::int8, minimum_value::int8 as min_value,
       maximum_value::int8 as max_value, increment::int8 as increment_by,
       (case cycle_option when 'yes' then true else false end) as cycle, 0::int8 as cache_size
from information_schema.sequences where sequence_schema = any ($1) order by sequence_name

-- == prisma: enums
-- $1 = {public,shop}
select t.typname as name, e.enumlabel as value, n.nspname as namespace, obj_description(t.oid, 'pg_type') as description
from pg_type t join pg_enum e on t.oid = e.enumtypid join pg_catalog.pg_namespace n on n.oid = t.typnamespace
where n.nspname = any ($1) order by e.enumsortorder

-- == prisma: base types of users
-- $1 = {public,shop}
select t.typname as name, n.nspname as namespace
from pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace
where n.nspname = any ($1) and t.typtype = 'b' and t.typinput::regproc::text <> 'array_in'

-- == prisma: procedures
-- $1 = {public,shop}
select p.proname as name, n.nspname as namespace,
       case when l.lanname = 'internal' then p.prosrc else pg_get_functiondef(p.oid) end as definition
from pg_proc p left join pg_namespace n on p.pronamespace = n.oid left join pg_language l on p.prolang = l.oid
where n.nspname = any ($1) and p.prokind <> 'a'

-- == prisma: extensions
select ext.extname as extension_name, ext.extversion as extension_version, ext.extrelocatable as extension_relocatable,
       ns.nspname as extension_schema
from pg_extension ext inner join pg_namespace ns on ext.extnamespace = ns.oid order by ext.extname

-- Rails: activerecord, lib/active_record/connection_adapters/postgresql_adapter.rb and postgresql/schema_statements.rb

-- == rails: types of users
select t.typname, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype, t.typelem > 0
from pg_type as t left join pg_range as r on oid = rngtypid
where t.typtype in ('r', 'e', 'd') and t.typnamespace in ('shop'::regnamespace, 'public'::regnamespace)

-- == rails: types by names
select t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype
from pg_type as t left join pg_range as r on oid = rngtypid
where t.typname in ('int2', 'int4', 'int8', 'oid', 'float4', 'float8', 'numeric', 'bool', 'timestamptz', 'date', 'time')

-- == rails: types by kinds
select t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype
from pg_type as t left join pg_range as r on oid = rngtypid
where t.typtype in ('r', 'm') or t.typinput = 'array_in(cstring,oid,integer)'::regprocedure and t.typelem in (16, 23, 25)
   or t.typelem in (20)

-- == rails: columns
select a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attnotnull, a.atttypmod,
       c.collname, col_description(a.attrelid, a.attnum) as comment, attidentity as identity,
       attgenerated as attgenerated
from pg_attribute a
left join pg_attrdef d on a.attrelid = d.adrelid and a.attnum = d.adnum
left join pg_type t on a.atttypid = t.oid
left join pg_collation c on a.attcollation = c.oid and a.attcollation <> t.typcollation
where a.attrelid = '"shop"."customers"'::regclass and a.attnum > 0 and not a.attisdropped
order by a.attnum

-- == rails: columns of several tables
select a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attnotnull, a.atttypmod,
       c.collname, col_description(a.attrelid, a.attnum) as comment, attidentity as identity,
       attgenerated as attgenerated, r.relname
from (select distinct on (cls.relname) cls.oid, cls.relname
      from pg_class cls join pg_namespace n on n.oid = cls.relnamespace
      where n.nspname = 'shop' and cls.relname in ('items', 'orders', 'customers', 'big_orders')
      order by cls.relname, array_position(current_schemas(false), n.nspname)) r
join pg_attribute a on a.attrelid = r.oid
left join pg_attrdef d on a.attrelid = d.adrelid and a.attnum = d.adnum
left join pg_type t on a.atttypid = t.oid
left join pg_collation c on a.attcollation = c.oid and a.attcollation <> t.typcollation
where a.attnum > 0 and not a.attisdropped
order by r.relname, a.attnum

-- == rails: relations of the search path
select c.relname from pg_class c left join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any (current_schemas(false)) and c.relkind in ('r', 'v', 'm', 'p', 'f')

-- == rails: indexes
select distinct i.relname, d.indisunique, d.indkey, pg_get_indexdef(d.indexrelid),
       pg_catalog.obj_description(i.oid, 'pg_class') as comment, d.indisvalid,
       array(select pg_get_indexdef(d.indexrelid, k + 1, true) from generate_subscripts(d.indkey, 1) as k order by k)
         as columns, t.relname
from pg_class t
inner join pg_index d on t.oid = d.indrelid
inner join pg_class i on d.indexrelid = i.oid
left join pg_namespace n on n.oid = t.relnamespace
where i.relkind in ('i', 'I') and d.indisprimary = 'f' and n.nspname = 'shop'
  and t.relname in ('orders', 'customers', 'items')
order by i.relname

-- == rails: primary keys
select t.relname as table_name, a.attname as column_name
from pg_index i
join (select distinct on (c.relname) c.oid, c.relname
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'shop' and c.relname in ('items', 'orders')
      order by c.relname, array_position(current_schemas(false), n.nspname)) t on t.oid = i.indrelid
join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
where i.indisprimary order by t.relname, array_position(i.indkey, a.attnum)

-- == rails: primary key, as it was asked before 8
select a.attname
from (select indrelid, indkey, generate_subscripts(indkey, 1) idx from pg_index
      where indrelid = '"shop"."items"'::regclass and indisprimary) i
join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[i.idx]
order by i.idx

-- == rails: foreign keys
select t1.relname as from_table, t2.oid::regclass::text as to_table, c.conname as name, c.confupdtype as on_update,
       c.confdeltype as on_delete, c.convalidated as valid, c.condeferrable as deferrable, c.condeferred as deferred,
       (select array_agg(a.attname order by idx)
        from (select idx, c.conkey[idx] as member from generate_subscripts(c.conkey, 1) as idx) mine
        join pg_attribute a on a.attrelid = t1.oid and a.attnum = mine.member) as conkey_names,
       (select array_agg(a.attname order by idx)
        from (select idx, c.confkey[idx] as member from generate_subscripts(c.confkey, 1) as idx) theirs
        join pg_attribute a on a.attrelid = t2.oid and a.attnum = theirs.member) as confkey_names
from pg_constraint c
join pg_class t1 on c.conrelid = t1.oid
join pg_class t2 on c.confrelid = t2.oid
join pg_namespace n on c.connamespace = n.oid
where c.contype = 'f' and n.nspname = 'shop' and t1.relname in ('items', 'orders')
order by c.conname

-- == rails: check constraints
select t.relname as table_name, conname, pg_get_constraintdef(c.oid, true) as constraintdef, c.convalidated as valid
from pg_constraint c
join pg_class t on c.conrelid = t.oid
join pg_namespace n on n.oid = c.connamespace
where c.contype = 'c' and n.nspname = 'shop' and t.relname in ('customers', 'orders')

-- == rails: unique constraints
select t.relname as table_name, c.conname, c.condeferrable, c.condeferred, pg_get_constraintdef(c.oid) as constraintdef,
       (select array_agg(a.attname order by idx)
        from (select idx, c.conkey[idx] as member from generate_subscripts(c.conkey, 1) as idx) mine
        join pg_attribute a on a.attrelid = t.oid and a.attnum = mine.member) as conkey_names
from pg_constraint c
join pg_class t on c.conrelid = t.oid
join pg_namespace n on n.oid = c.connamespace
where c.contype = 'u' and n.nspname = 'shop' and t.relname in ('customers', 'orders')

-- == rails: exclusion constraints
select t.relname as table_name, conname, pg_get_constraintdef(c.oid) as constraintdef, c.condeferrable, c.condeferred
from pg_constraint c join pg_class t on c.conrelid = t.oid join pg_namespace n on n.oid = c.connamespace
where c.contype = 'x' and n.nspname = 'shop'

-- == rails: options of tables
select t.relname as table_name, t.comment, t.partition_key, parent.relname as parent
from (select distinct on (c.relname) c.oid, c.relname, pg_catalog.obj_description(c.oid, 'pg_class') as comment,
             pg_catalog.pg_get_partkeydef(c.oid) as partition_key
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'shop' and c.relname in ('dogs', 'animals', 'customers') and c.relkind in ('r', 'p')
      order by c.relname, array_position(current_schemas(false), n.nspname)) t
left join pg_inherits i on i.inhrelid = t.oid
left join pg_class parent on i.inhparent = parent.oid
order by t.relname, i.inhseqno

-- == rails: sequence of a key
select attr.attname, nsp.nspname, seq.relname
from pg_class seq, pg_attribute attr, pg_depend dep, pg_constraint cons, pg_namespace nsp
where seq.oid = dep.objid and seq.relkind = 'S' and attr.attrelid = dep.refobjid and attr.attnum = dep.refobjsubid
  and attr.attrelid = cons.conrelid and attr.attnum = cons.conkey[1] and seq.relnamespace = nsp.oid
  and cons.contype = 'p' and dep.classid = 'pg_class'::regclass
  and dep.refobjid in ('"shop"."customers"'::regclass, '"shop"."orders"'::regclass)

-- == rails: sequence of a default
select attr.attname, nsp.nspname,
       case when pg_get_expr(def.adbin, def.adrelid) !~* 'nextval' then null
            when split_part(pg_get_expr(def.adbin, def.adrelid), '''', 2) ~ '.'
              then substr(split_part(pg_get_expr(def.adbin, def.adrelid), '''', 2),
                          strpos(split_part(pg_get_expr(def.adbin, def.adrelid), '''', 2), '.') + 1)
            else split_part(pg_get_expr(def.adbin, def.adrelid), '''', 2) end
from pg_class t
join pg_attribute attr on (t.oid = attrelid)
join pg_attrdef def on (adrelid = attrelid and adnum = attnum)
join pg_constraint cons on (conrelid = adrelid and adnum = conkey[1])
join pg_namespace nsp on (t.relnamespace = nsp.oid)
where t.oid = '"shop"."customers"'::regclass and cons.contype = 'p'
  and pg_get_expr(def.adbin, def.adrelid) ~* 'nextval|uuid_generate|gen_random_uuid'

-- == rails: pg_get_serial_sequence
select pg_get_serial_sequence('shop.customers', 'id'), pg_get_serial_sequence('shop.orders', 'id')

-- == rails: enums
select type.typname as name, n.nspname as schema, array_agg(enum.enumlabel order by enum.enumsortorder) as value
from pg_enum as enum join pg_type as type on (type.oid = enum.enumtypid) join pg_namespace n on type.typnamespace = n.oid
where n.nspname = any (current_schemas(false) || array['shop'::name]) group by type.oid, n.nspname, type.typname

-- == rails: extensions
select pg_extension.extname, n.nspname as schema from pg_extension join pg_namespace n on pg_extension.extnamespace = n.oid

-- == rails: extension available
select installed_version is not null from pg_available_extensions where name in ('hstore', 'citext')

-- == rails: schemas
select nspname from pg_namespace where nspname !~ '^pg_.*' and nspname not in ('information_schema') order by nspname

-- == rails: case-insensitive comparison
select exists (select * from pg_proc where proname = 'lower' and proargtypes = array['character varying'::regtype]::oidvector)
    or exists (select * from pg_proc inner join pg_cast on array[casttarget]::oidvector = proargtypes
               where proname = 'lower' and castsource = 'character varying'::regtype)

-- == rails: database
select current_schema, current_schemas(false), pg_encoding_to_char(encoding)
from pg_database where datname = current_database()

-- == rails: referential integrity, all constraints
select 1 from pg_constraint con join pg_class rel on con.conrelid = rel.oid
where con.contype = 'f' and con.convalidated and rel.relnamespace = 'shop'::regnamespace

-- == rails: advisory locks
select pg_try_advisory_lock(4242), pg_advisory_unlock(4242)

-- DBeaver: plugins/org.jkiss.dbeaver.ext.postgresql, src/org/jkiss/dbeaver/ext/postgresql/model/*.java

-- == dbeaver: databases
select db.datname, db.encoding, db.datistemplate, db.datallowconn, db.datconnlimit
from pg_catalog.pg_database db where datallowconn and not datistemplate and datname = current_database() and 1 = 0

-- == dbeaver: schemas
select n.nspname, n.nspacl, d.description
from pg_catalog.pg_namespace n
left outer join pg_catalog.pg_description d
  on d.objoid = n.oid and d.objsubid = 0 and d.classoid = 'pg_namespace'::regclass
where n.nspname in ('shop', 'pg_catalog', 'information_schema')
order by nspname

-- == dbeaver: types
select t.typname, t.typlen, t.typbyval, t.typtype, t.typcategory, t.typispreferred, t.typisdefined, t.typdelim,
       t.typinput, t.typoutput, t.typreceive, t.typsend, t.typalign, t.typstorage, t.typnotnull, t.typtypmod,
       t.typndims, t.typdefault, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) as base_type_name,
       et.typcategory as element_category, d.description
from pg_catalog.pg_type t
left outer join pg_catalog.pg_type et on et.oid = t.typelem
left outer join pg_catalog.pg_class c on c.oid = t.typrelid
left outer join pg_catalog.pg_description d on t.oid = d.objoid
where t.typname is not null and (c.relkind is null or c.relkind = 'c') and t.typnamespace = 'shop'::regnamespace
  and (et.typcategory is null or et.typcategory <> 'C')
order by t.typname

-- == dbeaver: types of its own
select t.oid, t.typname, t.typlen, t.typtype, t.typcategory, t.typelem, t.typarray, t.typbasetype, t.typalign
from pg_catalog.pg_type t left outer join pg_catalog.pg_class c on c.oid = t.typrelid
where (c.relkind is null or c.relkind = 'c') and t.typnamespace = 'pg_catalog'::regnamespace and t.typelem = 0
order by t.oid

-- == dbeaver: relations
select c.relname, c.relkind, c.relpersistence, c.relnatts, c.relchecks, c.relhasrules, c.relhastriggers,
       c.relhassubclass, c.relrowsecurity, c.relforcerowsecurity, c.relispopulated, c.relreplident, c.relispartition,
       c.relacl, c.reloptions, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,
       pg_catalog.pg_get_partkeydef(c.oid) as partition_key
from pg_catalog.pg_class c
left outer join pg_catalog.pg_description d
  on d.objoid = c.oid and d.objsubid = 0 and d.classoid = 'pg_class'::regclass
where c.relnamespace = 'shop'::regnamespace and c.relkind not in ('i', 'I', 'c')
order by c.relname

-- == dbeaver: columns
select c.relname, a.attname, a.attlen, a.attnum, a.attndims, a.atttypmod, a.attbyval, a.attalign, a.attstorage,
       a.attnotnull, a.atthasdef, a.atthasmissing, a.attidentity, a.attgenerated, a.attisdropped, a.attislocal,
       a.attinhcount, a.attacl, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,
       dsc.description, dep.objid is not null as owns
from pg_catalog.pg_attribute a
inner join pg_catalog.pg_class c on (a.attrelid = c.oid)
left outer join pg_catalog.pg_attrdef ad on (a.attrelid = ad.adrelid and a.attnum = ad.adnum)
left outer join pg_catalog.pg_description dsc on (c.oid = dsc.objoid and a.attnum = dsc.objsubid)
left outer join pg_depend dep
  on dep.refobjid = a.attrelid and dep.deptype = 'i' and dep.refobjsubid = a.attnum and dep.classid = dep.refclassid
where not a.attisdropped and a.attnum > 0 and c.relkind not in ('i', 'I', 'c') and c.relnamespace = 'shop'::regnamespace
order by c.relname, a.attnum

-- == dbeaver: constraints
select c.conname, c.contype, c.condeferrable, c.condeferred, c.convalidated, c.confupdtype, c.confdeltype,
       c.confmatchtype, c.conislocal, c.coninhcount, c.connoinherit, c.conkey, c.confkey, t.relname as tabrelname,
       rt.relname as refname, d.description,
       case when c.contype = 'c' then "substring"(pg_get_constraintdef(c.oid), 7) else null end consrc_copy
from pg_catalog.pg_constraint c
inner join pg_catalog.pg_class t on t.oid = c.conrelid
left outer join pg_catalog.pg_class rt on rt.oid = c.confrelid
left outer join pg_catalog.pg_description d
  on d.objoid = c.oid and d.objsubid = 0 and d.classoid = 'pg_constraint'::regclass
where t.relnamespace = 'shop'::regnamespace
order by c.conname

-- == dbeaver: indexes
select c.relname, tc.relname as tabrelname, i.indnatts, i.indnkeyatts, i.indisunique, i.indisprimary, i.indisexclusion,
       i.indimmediate, i.indisclustered, i.indisvalid, i.indisready, i.indislive, i.indkey as keys, i.indclass,
       i.indcollation, i.indoption, am.amname, dsc.description,
       pg_catalog.pg_get_expr(i.indpred, i.indrelid) as pred_expr,
       pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) as expr,
       pg_catalog.pg_stat_get_numscans(i.indexrelid) >= 0 as index_num_scans
from pg_catalog.pg_index i
inner join pg_catalog.pg_class c on c.oid = i.indexrelid
inner join pg_catalog.pg_class tc on tc.oid = i.indrelid
inner join pg_catalog.pg_am am on am.oid = c.relam
left outer join pg_catalog.pg_description dsc on i.indexrelid = dsc.objoid
where c.relnamespace = 'shop'::regnamespace
order by tabrelname, c.relname

-- == dbeaver: index as text
select pg_catalog.pg_get_indexdef('shop.orders_total'::regclass), pg_catalog.pg_get_indexdef('shop.orders_lower'::regclass, 2, true)

-- == dbeaver: procedures
select p.proname, p.prokind, p.proisstrict, p.proretset, p.provolatile, p.proparallel, p.pronargs, p.pronargdefaults,
       p.proargtypes, p.proallargtypes, p.proargmodes, p.proargnames, p.procost, p.prorows, p.prosecdef, p.prosrc,
       p.probin, p.proconfig, p.proacl, pg_catalog.pg_get_expr(p.proargdefaults, 0) as arg_defaults, d.description
from pg_catalog.pg_proc p
left outer join pg_catalog.pg_description d
  on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass and d.objsubid = 0
where p.pronamespace = 'shop'::regnamespace and p.proname in ('add', 'clean', 'touch')
order by p.proname

-- == dbeaver: aggregates
select p.proname as proc_name, a.aggkind, a.aggnumdirectargs, a.aggtransfn, a.aggfinalfn, a.aggtranstype, a.agginitval
from pg_catalog.pg_aggregate a, pg_catalog.pg_proc p
where p.oid = a.aggfnoid and p.pronamespace = 'shop'::regnamespace order by p.proname

-- == dbeaver: triggers
select x.tgname, x.tgtype, x.tgenabled, x.tgisinternal, x.tgattr, x.tgnargs, p.proname, d.description,
       pg_catalog.pg_get_triggerdef(x.oid), pg_catalog.pg_get_triggerdef(x.oid, true)
from pg_catalog.pg_trigger x
left outer join pg_catalog.pg_proc p on p.oid = x.tgfoid
left outer join pg_catalog.pg_description d on d.objoid = x.oid and d.objsubid = 0
where x.tgrelid = 'shop.orders'::regclass and not x.tgisinternal

-- == dbeaver: rules
select r.rulename, r.ev_type, r.ev_enabled, r.is_instead, pg_get_ruledef(r.oid) as definition
from pg_rewrite r where r.ev_class = 'shop.names'::regclass and r.rulename <> '_RETURN'::name

-- == dbeaver: policies
select * from pg_catalog.pg_policies where schemaname = 'shop' and tablename = 'customers' order by policyname

-- == dbeaver: sequence
select * from pg_catalog.pg_sequences where schemaname = 'shop' and sequencename = 'numbers'

-- == dbeaver: sequences of a schema
select c.relname, s.seqstart, s.seqincrement, s.seqmax, s.seqmin, s.seqcache, s.seqcycle, format_type(s.seqtypid, null)
from pg_catalog.pg_sequence s join pg_catalog.pg_class c on c.oid = s.seqrelid
where c.relnamespace = 'shop'::regnamespace order by 1

-- == dbeaver: labels of an enum
select e.enumlabel from pg_catalog.pg_enum e where e.enumtypid = 'shop.mood'::regtype order by e.enumsortorder

-- == dbeaver: check of a domain
select concat(c.conname, ' ', pg_catalog.pg_get_constraintdef(oid, true))
from pg_catalog.pg_constraint c where contypid = 'shop.positive'::regtype

-- == dbeaver: members of a composite type
select c.relname, row_number() over (order by a.attnum) as attnum, a.attname, format_type(a.atttypid, a.atttypmod),
       a.attcollation, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value, dsc.description
from pg_catalog.pg_attribute a
inner join pg_catalog.pg_class c on (a.attrelid = c.oid)
left outer join pg_catalog.pg_attrdef ad on (a.attrelid = ad.adrelid and a.attnum = ad.adnum)
left outer join pg_catalog.pg_description dsc on (c.oid = dsc.objoid and a.attnum = dsc.objsubid)
where a.attnum > 0 and not a.attisdropped and c.relname = 'address'
order by a.attnum

-- == dbeaver: parents of a table
select i.inhseqno, c.relname
from pg_catalog.pg_inherits i, pg_catalog.pg_class c
where i.inhrelid = 'shop.dogs'::regclass and c.oid = i.inhparent order by i.inhseqno

-- == dbeaver: extensions and what they configure
select e.extname, cfg.tbls, n.nspname as schema_name, e.extversion
from pg_catalog.pg_extension e
join pg_namespace n on n.oid = e.extnamespace
left join (select array_agg(ns.nspname || '.' || cls.relname) tbls, oid_ext
           from (select unnest(e1.extconfig) oid, e1.oid oid_ext from pg_catalog.pg_extension e1) c
           join pg_class cls on cls.oid = c.oid join pg_namespace ns on ns.oid = cls.relnamespace
           group by oid_ext) cfg on cfg.oid_ext = e.oid
order by e.extname

-- == dbeaver: roles
select a.rolname, a.rolsuper, a.rolinherit, a.rolcreaterole, a.rolcreatedb, a.rolcanlogin, a.rolreplication,
       a.rolconnlimit, a.rolpassword, a.rolvaliduntil, a.rolbypassrls, a.rolconfig, pd.description
from pg_catalog.pg_roles a left join pg_catalog.pg_shdescription pd on a.oid = pd.objoid
where a.rolname in ('clerk', 'auditor') order by a.rolname

-- == dbeaver: members of roles
select r.rolname, m.rolname, admin_option
from pg_catalog.pg_auth_members am join pg_roles r on r.oid = am.roleid join pg_roles m on m.oid = am.member
where r.rolname = 'auditor'

-- == dbeaver: access methods
select am.oid, am.amname, am.amhandler, am.amtype from pg_catalog.pg_am am order by am.oid

-- == dbeaver: encodings
select c.contoencoding as encid, pg_catalog.pg_encoding_to_char(c.contoencoding) as encname
from pg_catalog.pg_conversion c group by c.contoencoding order by 2

-- == dbeaver: languages
select l.oid, l.lanname, l.lanispl, l.lanpltrusted from pg_catalog.pg_language l where l.oid < 10000 order by l.oid

-- == dbeaver: defaults of privileges
select defaclobjtype, defaclacl from pg_default_acl where defaclnamespace = 'shop'::regnamespace

-- == dbeaver: who depends on a table
select distinct connamespace = 'shop'::regnamespace from pg_catalog.pg_constraint where confrelid = 'shop.orders'::regclass

-- == dbeaver: settings
select name, setting, unit, context, vartype from pg_catalog.pg_settings where name = 'client_encoding'

-- == dbeaver: standing of a session
select pg_catalog.pg_is_in_recovery(), session_user = current_user, current_schema(), txid_current() > 0

-- DataGrip: its introspection as it was seen on the wire (github.com/datafusion-contrib/datafusion-postgres,
-- datafusion-postgres/tests/datagrip.rs); the deeper ones, from "relations" on, are what a tool of its kind asks, and not read
-- in a source of it

-- == datagrip: start
select round(extract(epoch from pg_postmaster_start_time() at time zone 'UTC')) > 0 as startup_time,
       current_schemas(false) as b

-- == datagrip: oldest transaction
select l.transactionid::varchar::bigint as transaction_id
from pg_catalog.pg_locks l
where l.transactionid is not null and false
order by pg_catalog.age(l.transactionid) desc limit 1

-- == datagrip: transaction
select case when pg_catalog.pg_is_in_recovery() then null
            else (pg_catalog.txid_current() % 4294967296)::varchar::bigint end > 0 as current_txid

-- == datagrip: schemas
select n.xmin is not null as state_number, nspname as name, d.description
from pg_catalog.pg_namespace n left join pg_catalog.pg_description d on n.oid = d.objoid
where nspname !~ '^pg_t' order by case when nspname = pg_catalog.current_schema() then -1::bigint else n.oid::bigint end, name

-- == datagrip: time zones
select name, is_dst from pg_catalog.pg_timezone_names where name in ('UTC', 'Africa/Lagos')
union distinct select abbrev as name, is_dst from pg_catalog.pg_timezone_abbrevs where abbrev in ('CET', 'EDT')
order by 1

-- == datagrip: roles
select rolname as role_name, rolsuper is_super, rolinherit is_inherit, rolcreaterole can_createrole,
       rolcreatedb can_createdb, rolcanlogin can_login, rolreplication is_replication, rolconnlimit conn_limit,
       rolvaliduntil valid_until, rolbypassrls bypass_rls, rolconfig config, d.description
from pg_catalog.pg_roles r left join pg_catalog.pg_shdescription d on d.objoid = r.oid
where rolname in ('clerk', 'auditor')

-- == datagrip: tablespaces
select t.oid::bigint as id, t.spcname as name, pg_catalog.pg_tablespace_location(t.oid) as location,
       t.spcoptions as options, d.description as comment
from pg_catalog.pg_tablespace t left join pg_catalog.pg_shdescription d on d.objoid = t.oid
where pg_catalog.age(t.xmin) >= 0

-- == datagrip: a type and its schema, as pgjdbc asks
select typinput = 'pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid
from pg_catalog.pg_type
left join (select ns.oid as nspoid, ns.nspname, r.r
           from pg_namespace as ns
           join (select s.r, (current_schemas(false))[s.r] as nspname
                 from generate_series(1, array_upper(current_schemas(false), 1)) as s(r)) as r using (nspname)) as sp
  on sp.nspoid = typnamespace
where pg_type.oid in ('28', '1034', '1033')
order by sp.r, pg_type.oid desc

-- == datagrip: relations
select t.relkind as table_kind, t.relname as table_name, t.xmin is not null as table_state_number,
       t.relhasoids_are_gone as table_with_oids, t.reloptions as options
from (select *, xmin, false as relhasoids_are_gone from pg_catalog.pg_class) t
where relnamespace = 'shop'::regnamespace::oid and relkind in ('r', 'm', 'v', 'f', 'p')
order by table_kind, table_name

-- == datagrip: columns
select c.attname as column_name, c.attnum as column_position, c.atttypmod as type_mod, c.attndims as dimensions_number,
       pg_catalog.format_type(c.atttypid, c.atttypmod) as type_spec, c.attnotnull as mandatory,
       pg_catalog.pg_get_expr(d.adbin, t.oid) as column_default_expression, not c.attislocal as column_is_inherited,
       c.attfdwoptions as options, c.attisdropped as column_is_dropped, c.attidentity as identity_kind,
       c.attgenerated as generated
from (select t.oid, t.relkind::"char" as kind, t.relname from pg_catalog.pg_class t
      where t.relkind in ('r', 'm', 'v', 'f', 'p') and t.relnamespace = 'shop'::regnamespace::oid
      union all
      select t.oid, t.relkind, t.relname from pg_catalog.pg_class t where t.relkind = 'c' and t.relname = 'address') t
join pg_catalog.pg_attribute c on t.oid = c.attrelid
left join pg_catalog.pg_attrdef d on c.attrelid = d.adrelid and c.attnum = d.adnum
where attnum > 0
order by t.relname, c.attnum

-- == datagrip: constraints
select t.relname as table_name, c.relkind as table_kind, con.conname as con_name, con.contype as con_kind,
       con.conkey as con_columns, con.conindid <> 0 as has_index, con.confkey as ref_columns,
       con.condeferrable as is_deferrable, con.condeferred as is_init_deferred, con.confupdtype as on_update,
       con.confdeltype as on_delete, con.connoinherit as is_no_inherit,
       pg_catalog.pg_get_expr(con.conbin, con.conrelid) as con_expression, con.confmatchtype as match_type,
       con.conexclop::int[] as operator_ids
from pg_catalog.pg_constraint con
join pg_catalog.pg_class t on con.conrelid = t.oid
left join pg_catalog.pg_class c on c.oid = con.confrelid
where t.relkind in ('r', 'v', 'f', 'p') and con.connamespace = 'shop'::regnamespace::oid
  and con.contype in ('p', 'u', 'f', 'c', 'x')
order by table_name, con_name

-- == datagrip: indexes
select tab.relname as table_name, ind_head.relname as index_name, ind_stor.indisunique as is_unique,
       ind_stor.indisprimary as is_primary, ind_stor.indkey as column_positions, ind_stor.indclass as column_operators,
       ind_stor.indoption as column_options, pg_catalog.pg_get_expr(ind_stor.indpred, ind_stor.indrelid) as condition,
       ind_stor.indcollation as column_collations,
       case when ind_stor.indexprs is not null then array_to_string(array(
         select case when k = 0 then pg_catalog.pg_get_indexdef(ind_stor.indexrelid, m + 1, true) else ' ' end
         from (select unnest(ind_stor.indkey) k, generate_subscripts(ind_stor.indkey, 1) m) keys order by m), chr(28))
       else null end as expressions,
       am.amcanorder as can_order
from pg_catalog.pg_class tab
join pg_catalog.pg_index ind_stor on ind_stor.indrelid = tab.oid
join pg_catalog.pg_class ind_head on ind_head.oid = ind_stor.indexrelid
join (select oid, amname, amname = 'btree' as amcanorder from pg_am) am on am.oid = ind_head.relam
where tab.relnamespace = 'shop'::regnamespace::oid and tab.relkind in ('r', 'm', 'v', 'p')
  and ind_stor.indexrelid = ind_head.oid
order by table_name, index_name

-- == datagrip: routines
select p.proname as name, pg_catalog.pg_get_function_arguments(p.oid) as arguments,
       pg_catalog.pg_get_function_identity_arguments(p.oid) as identity,
       pg_catalog.pg_get_function_result(p.oid) as result, proargnames as arg_names, proargmodes as arg_modes,
       proargtypes::int[] as in_arg_types, proallargtypes::int[] as all_arg_types,
       pg_catalog.pg_get_expr(proargdefaults, 0) as arg_defaults, prokind as kind, proretset as ret_set, l.lanname,
       prosecdef, provolatile as volatile, proisstrict as is_strict, proleakproof, procost as cost, prorows as rows,
       proconfig as configuration_parameters
from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
where pronamespace = 'shop'::regnamespace and l.lanname in ('sql', 'plpgsql')
order by name

-- == datagrip: sources of views
select t.relkind as view_kind, t.relname, pg_catalog.pg_get_viewdef(t.oid, true) as source_text
from pg_catalog.pg_class t join pg_catalog.pg_namespace n on t.relnamespace = n.oid
where n.nspname = 'shop' and t.relkind in ('v', 'm') order by relname

-- == datagrip: triggers
select t.tgname as trigger_name, p.proname, pg_catalog.encode(t.tgargs, 'escape') as trigger_args,
       t.tgtype as trigger_fire_mode, tgattr as column_positions, tgenabled, tgdeferrable as is_deferrable,
       tginitdeferred as is_init_deferred, tgoldtable, tgnewtable,
       pg_catalog.pg_get_triggerdef(t.oid, true) as source_code
from pg_catalog.pg_trigger t join pg_catalog.pg_proc p on p.oid = t.tgfoid
where t.tgrelid in (select oid from pg_catalog.pg_class where relnamespace = 'shop'::regnamespace) and not tgisinternal

-- == datagrip: comments
select d.classoid::regclass, d.objsubid, d.description
from pg_catalog.pg_description d
left join pg_catalog.pg_class c on (d.objoid = c.oid and d.classoid = 'pg_class'::regclass::oid)
left join pg_catalog.pg_proc p on (d.objoid = p.oid and d.classoid = 'pg_proc'::regclass::oid)
where coalesce(c.relnamespace, p.pronamespace) = 'shop'::regnamespace or d.classoid = 'pg_type'::regclass

-- == datagrip: privileges
select t.relname, acl.privilege_type, acl.is_grantable, pg_get_userbyid(acl.grantee)
from pg_catalog.pg_class t, lateral aclexplode(t.relacl) acl
where t.relnamespace = 'shop'::regnamespace and acl.grantee <> t.relowner and acl.grantee <> 0

-- == datagrip: who depends on whom
select c.relname, r.ev_class::regclass, count(*)
from pg_catalog.pg_depend d
join pg_catalog.pg_rewrite r on r.oid = d.objid and d.classid = 'pg_rewrite'::regclass
join pg_catalog.pg_class c on c.oid = d.refobjid and d.refclassid = 'pg_class'::regclass
where c.relnamespace = 'shop'::regnamespace and d.refobjid <> r.ev_class and d.refobjsubid = 0
group by 1, 2

-- == datagrip: collations, operators, casts
select (select count(*) from pg_catalog.pg_operator where oid < 10000) as operators,
       (select count(*) from pg_catalog.pg_cast where oid < 16384) as casts,
       (select array_agg(collname order by collname) from pg_catalog.pg_collation where oid < 1000) as collations,
       (select count(*) from pg_catalog.pg_opclass) as classes, (select count(*) from pg_catalog.pg_opfamily) as families

-- pgAdmin 4: web/pgadmin/browser/server_groups/servers/databases, templates/*/sql/*/{nodes,properties,…}.sql; several are
-- what its panels show, asked in a way of our own

-- == pgadmin: connection
select db.oid > 0 as did, db.datname = current_database() as datname, db.datallowconn,
       pg_catalog.pg_encoding_to_char(db.encoding) as serverencoding,
       pg_catalog.has_database_privilege(db.oid, 'CREATE') as cancreate, datistemplate
from pg_catalog.pg_database db where db.datname = current_database()

-- == pgadmin: rights of the role
select rolcanlogin, rolsuper, case when rolsuper then true else rolcreaterole end as can_create_role,
       case when rolsuper then true else rolcreatedb end as can_create_db,
       case when 'pg_signal_backend' = any (array(
         with recursive cte as (
           select pg_roles.oid, pg_roles.rolname from pg_roles where pg_roles.oid = roles.oid
           union all
           select m.roleid, pgr.rolname from cte
           join pg_auth_members m on m.member = cte.oid join pg_roles pgr on pgr.oid = m.roleid)
         select rolname from cte)) then true else false end as can_signal_backend
from pg_catalog.pg_roles as roles where rolname = 'clerk'

-- == pgadmin: schemas
select nsp.nspname as name, pg_catalog.has_schema_privilege(nsp.oid, 'CREATE') as can_create,
       pg_catalog.has_schema_privilege(nsp.oid, 'USAGE') as has_usage, des.description
from pg_catalog.pg_namespace nsp
left outer join pg_catalog.pg_description des on (des.objoid = nsp.oid and des.classoid = 'pg_namespace'::regclass)
where nspname not like E'pg\\_%'
  and not ((nsp.nspname = 'pg_catalog' and exists (
              select 1 from pg_catalog.pg_class where relname = 'pg_class' and relnamespace = nsp.oid limit 1))
        or (nsp.nspname = 'information_schema' and exists (
              select 1 from pg_catalog.pg_class where relname = 'tables' and relnamespace = nsp.oid limit 1)))
order by nspname

-- == pgadmin: schema's properties
select case when (nspname like E'pg\\_temp\\_%') then 1 when (nspname like E'pg\\_%') then 0 else 3 end as nsptyp,
       nsp.nspname as name, pg_catalog.array_to_string(nsp.nspacl::text[], ', ') as acl, des.description,
       (select pg_catalog.array_agg(provider || '=' || label) from pg_catalog.pg_seclabels sl1
        where sl1.objoid = nsp.oid) as seclabels,
       (select pg_catalog.array_to_string(defaclacl::text[], ', ') from pg_catalog.pg_default_acl
        where defaclobjtype = 'r' and defaclnamespace = nsp.oid) like '%auditor=r/%' as tblacl
from pg_catalog.pg_namespace nsp
left outer join pg_catalog.pg_description des on (des.objoid = nsp.oid and des.classoid = 'pg_namespace'::regclass)
where nsp.nspname in ('shop', 'yard') order by 1, nspname

-- == pgadmin: tables
select rel.relname as name,
       (select count(*) from pg_catalog.pg_trigger where tgrelid = rel.oid and tgisinternal = false) as triggercount,
       (select count(*) from pg_catalog.pg_trigger
        where tgrelid = rel.oid and tgisinternal = false and tgenabled = 'O') as has_enable_triggers,
       (case when rel.relkind = 'p' then true else false end) as is_partitioned,
       (select count(1) from pg_catalog.pg_inherits where inhrelid = rel.oid limit 1) as is_inherits,
       (select count(1) from pg_catalog.pg_inherits where inhparent = rel.oid limit 1) as is_inherited, des.description
from pg_catalog.pg_class rel
left outer join pg_catalog.pg_description des
  on (des.objoid = rel.oid and des.objsubid = 0 and des.classoid = 'pg_class'::regclass)
where rel.relkind in ('r', 's', 't', 'p') and rel.relnamespace = 'shop'::regnamespace and not rel.relispartition
order by rel.relname

-- == pgadmin: a table's properties
select rel.relname as name, rel.reltablespace as spcoid, rel.relacl is not null as has_acl, rel.relkind,
       (case when rel.relkind = 'p' then true else false end) as is_partitioned, rel.relhastoastless,
       (select count(*) from pg_catalog.pg_trigger where tgrelid = rel.oid and tgisinternal = false) as triggercount,
       (case when rel.relpersistence = 'u' then true else false end) as relpersistence, con.conname,
       substring(pg_catalog.array_to_string(rel.reloptions, ',') from 'fillfactor=([0-9]*)') as fillfactor,
       substring(pg_catalog.array_to_string(rel.reloptions, ',') from 'autovacuum_enabled=([a-z|0-9]*)') = 'true'
         as autovacuum_enabled,
       case when typ.typname is null then null else 'x' end as typname, typ.typrelid as typoid, am.amname,
       (select pg_catalog.array_agg(provider || '=' || label) from pg_catalog.pg_seclabels sl1
        where sl1.objoid = rel.oid and sl1.objsubid = 0) as seclabels,
       (case when rel.oid <= 16383 then true else false end) as is_sys_table, rel.relrowsecurity as rlspolicy,
       rel.relforcerowsecurity as forcerlspolicy, des.description
from (select *, 'x' as relhastoastless from pg_catalog.pg_class) rel
left outer join pg_catalog.pg_description des
  on (des.objoid = rel.oid and des.objsubid = 0 and des.classoid = 'pg_class'::regclass)
left outer join pg_catalog.pg_constraint con on con.conrelid = rel.oid and con.contype = 'p'
left join pg_catalog.pg_type typ on rel.reloftype = typ.oid
left join pg_catalog.pg_am am on rel.relam = am.oid
where rel.relkind in ('r', 's', 't', 'p') and rel.relnamespace = 'shop'::regnamespace
order by rel.relname

-- == pgadmin: columns
select att.attname as name, att.attnum, pg_catalog.format_type(att.atttypid, null) as cltype,
       pg_catalog.format_type(att.atttypid, att.atttypmod) as displaytypname, att.attnotnull, att.attlen, att.atttypmod,
       case when att.attndims > 0 then 1 else 0 end as is_array, pg_catalog.pg_get_expr(def.adbin, def.adrelid) as defval,
       (select count(1) from pg_catalog.pg_type t2 where t2.typname = ty.typname) > 1 as isdup, coll.collname,
       nspc.nspname as collnspname, att.attstorage, att.attidentity, att.attgenerated, att.attacl,
       case when tn.nspname = 'pg_catalog' then 1 else 0 end as is_builtin, description,
       pi.indkey, seq.seqstart, seq.seqincrement, seq.seqmax, seq.seqmin, seq.seqcache, seq.seqcycle,
       (case when att.attidentity in ('a', 'd') then 'i' when att.attgenerated in ('s') then 'g' else 'n' end) as colconstype,
       (case when (att.attnum < 1) then true else false end) as is_sys_column,
       (exists (select 1 from pg_catalog.pg_constraint where conrelid = att.attrelid and contype = 'f'
                and att.attnum = any (conkey))) as is_fk
from pg_catalog.pg_attribute att
join pg_catalog.pg_type ty on ty.oid = atttypid
left join pg_catalog.pg_namespace tn on ty.typnamespace = tn.oid
left outer join pg_catalog.pg_attrdef def on adrelid = att.attrelid and adnum = att.attnum
left outer join pg_catalog.pg_description des
  on (des.objoid = att.attrelid and des.objsubid = att.attnum and des.classoid = 'pg_class'::regclass)
left outer join (pg_catalog.pg_depend dep
                 join pg_catalog.pg_class cs on dep.classid = 'pg_class'::regclass and dep.objid = cs.oid and cs.relkind = 'S')
  on dep.refobjid = att.attrelid and dep.refobjsubid = att.attnum
left outer join pg_catalog.pg_index pi on pi.indrelid = att.attrelid and indisprimary
left outer join pg_catalog.pg_collation coll on att.attcollation = coll.oid
left outer join pg_catalog.pg_namespace nspc on coll.collnamespace = nspc.oid
left outer join pg_catalog.pg_sequence seq on cs.oid = seq.seqrelid
where att.attrelid in ('shop.customers'::regclass, 'shop.orders'::regclass) and att.attnum > 0 and att.attisdropped is false
order by att.attrelid::regclass::text, att.attnum

-- == pgadmin: an index's columns
select i.indnkeyatts, pg_catalog.pg_get_indexdef(i.indexrelid, k, true) as attdef, k,
       case when (o.opcdefault = false) then o.opcname else null end as opcname,
       case when pg_catalog.pg_index_column_has_property(i.indexrelid, k, 'desc') then true else false end as desc,
       pg_catalog.pg_index_column_has_property(i.indexrelid, k, 'nulls_first') as nulls,
       case when (length(nspc.nspname::text) > 0 and length(coll.collname::text) > 0)
            then pg_catalog.concat(pg_catalog.quote_ident(nspc.nspname), '.', pg_catalog.quote_ident(coll.collname)) else '' end
         as collnspname
from pg_catalog.pg_index i
cross join lateral pg_catalog.generate_series(1, i.indnkeyatts) k
left join pg_catalog.pg_opclass o on (o.oid = i.indclass[k - 1])
left join pg_catalog.pg_attribute a on a.attrelid = i.indexrelid and a.attnum = k
left join pg_catalog.pg_collation coll on a.attcollation = coll.oid
left join pg_catalog.pg_namespace nspc on coll.collnamespace = nspc.oid
where i.indexrelid in ('shop.orders_total'::regclass, 'shop.items_pkey'::regclass)
order by i.indexrelid::regclass::text, k

-- == pgadmin: foreign keys
select ct.conname as name, condeferrable, condeferred, confupdtype, confdeltype,
       case confmatchtype when 's' then false when 'f' then true end as confmatchtype, conkey, confkey,
       cl.relname as fktab, cr.relname as reftab, description as comment, convalidated, coninhcount, conislocal
from pg_catalog.pg_constraint ct
join pg_catalog.pg_class cl on cl.oid = conrelid
join pg_catalog.pg_class cr on cr.oid = confrelid
left outer join pg_catalog.pg_description des
  on (des.objoid = ct.oid and des.classoid = 'pg_constraint'::regclass)
where contype = 'f' and conrelid in ('shop.orders'::regclass, 'shop.items'::regclass)
order by conname

-- == pgadmin: columns of a foreign key
select a1.attname as conattname, a2.attname as confattname, a2.attnum as confattnum
from (select pg_catalog.unnest(conkey) as conkey, pg_catalog.unnest(confkey) as confkey
      from pg_catalog.pg_constraint where conrelid = 'shop.orders'::regclass and contype = 'f') keys,
     pg_catalog.pg_attribute a1, pg_catalog.pg_attribute a2
where a1.attrelid = 'shop.orders'::regclass and a2.attrelid = 'shop.customers'::regclass
  and a1.attnum = keys.conkey and a2.attnum = keys.confkey

-- == pgadmin: check constraints
select c.conname as name, relname, nspname, description as comment,
       pg_catalog.pg_get_expr(conbin, conrelid, true) as consrc, connoinherit, not convalidated as convalidated
from pg_catalog.pg_constraint c
join pg_catalog.pg_class rel on rel.oid = conrelid
join pg_catalog.pg_namespace nsp on nsp.oid = relnamespace
left outer join pg_catalog.pg_description des on (des.objoid = c.oid and des.classoid = 'pg_constraint'::regclass)
where contype = 'c' and nspname = 'shop' order by 1

-- == pgadmin: views
select c.relname as name, c.relhasrules, pg_catalog.pg_get_viewdef(c.oid, true) as definition, description as comment,
       pg_catalog.array_to_string(c.reloptions, ',') as options,
       substring(pg_catalog.array_to_string(c.reloptions, ',') from 'check_option=([^,]*)') as check_option,
       case when (substring(pg_catalog.array_to_string(c.reloptions, ',') from 'security_barrier=([a-z|0-9]*)'))::boolean
            then true else false end as security_barrier
from pg_catalog.pg_class c
left outer join pg_catalog.pg_description des
  on (des.objoid = c.oid and des.objsubid = 0 and des.classoid = 'pg_class'::regclass)
where ((c.relhasrules and (exists (
         select r.rulename from pg_catalog.pg_rewrite r
         where ((r.ev_class = c.oid) and (pg_catalog.bpchar(r.ev_type) = '1'::bpchar))))) or (c.relkind = 'v'::char))
  and c.relnamespace = 'shop'::regnamespace
order by c.relname

-- == pgadmin: functions
select pr.proname as name,
       pr.proname || '(' || coalesce(pg_catalog.pg_get_function_identity_arguments(pr.oid), '') || ')' as signature,
       lanname, pg_catalog.format_type(typ.oid, null) as prorettypename, typns.nspname as typnsp,
       pg_catalog.pg_get_function_sqlbody(pr.oid) as body, description

from pg_catalog.pg_proc pr
join pg_catalog.pg_type typ on typ.oid = prorettype
join pg_catalog.pg_namespace typns on typns.oid = typ.typnamespace
join pg_catalog.pg_language lng on lng.oid = prolang
left outer join pg_catalog.pg_description des
  on (des.objoid = pr.oid and des.classoid = 'pg_proc'::regclass and des.objsubid = 0)
where pr.prokind in ('f', 'w') and pronamespace = 'shop'::regnamespace and lanname not in ('edbspl', 'internal')
  and typname not in ('event_trigger')
order by proname

-- == pgadmin: sequences
select cl.relname as name, cl.relacl is not null as has_acl, description as comment,
       pg_catalog.has_sequence_privilege(cl.oid, 'USAGE') as usable
from pg_catalog.pg_class cl
left outer join pg_catalog.pg_description des on (des.objoid = cl.oid and des.classoid = 'pg_class'::regclass)
left outer join pg_catalog.pg_depend d1 on d1.refobjid = cl.oid and d1.deptype = 'i'
where relkind = 'S' and relnamespace = 'shop'::regnamespace
  and not exists (select * from pg_catalog.pg_depend where refobjsubid > 0 and deptype = 'i' and objid = cl.oid)
order by cl.relname

-- == pgadmin: types
select t.typname as name, t.typacl, pg_catalog.format_type(t.oid, null) as alias, e.typname as element,
       ct.oid is not null as taboid, t.typtype, description
from pg_catalog.pg_type t
left outer join pg_catalog.pg_type e on e.oid = t.typelem
left outer join pg_catalog.pg_class ct on ct.oid = t.typrelid and ct.relkind <> 'c'
left outer join pg_catalog.pg_description des on (des.objoid = t.oid and des.classoid = 'pg_type'::regclass)
where t.typtype != 'd' and t.typname not like E'\\_%' and t.typnamespace = 'shop'::regnamespace and ct.oid is null
order by t.typname

-- == pgadmin: domains
select d.typname as name, pg_catalog.format_type(b.oid, d.typtypmod) as fulltype, b.typname as basetype,
       d.typnotnull, d.typdefault, d.typndims, c.collname, description
from pg_catalog.pg_type d
join pg_catalog.pg_type b on b.oid = d.typbasetype
left outer join pg_catalog.pg_collation c on d.typcollation = c.oid
left outer join pg_catalog.pg_description des on (des.objoid = d.oid and des.classoid = 'pg_type'::regclass)
where d.typtype = 'd' and d.typnamespace = 'shop'::regnamespace order by d.typname

-- == pgadmin: triggers
select t.tgname as name, t.tgenabled as is_enable_trigger, t.tgattr, t.tgnargs, p.proname as tfunction,
       coalesce(substring(pg_catalog.pg_get_triggerdef(t.oid), 'WHEN (.*) EXECUTE FUNCTION'), '') as whenclause,
       (case when tgconstraint != 0::oid then true else false end) as is_constraint_trigger
from pg_catalog.pg_trigger t join pg_catalog.pg_proc p on p.oid = t.tgfoid
where not tgisinternal and tgrelid = 'shop.orders'::regclass order by tgname

-- == pgadmin: privileges of a table
select 'relacl' as deftype, coalesce(gt.rolname, 'PUBLIC') as grantee, array_agg(privilege_type order by privilege_type) as privileges,
       array_agg(is_grantable order by privilege_type) as grantable
from (select (d).grantee as grantee, (d).is_grantable as is_grantable, (d).privilege_type as privilege_type
      from (select pg_catalog.aclexplode(rel.relacl) as d from pg_catalog.pg_class rel
            where rel.oid = 'shop.customers'::regclass) a) d
left join pg_catalog.pg_roles gt on (d.grantee = gt.oid)
where gt.rolname = 'clerk'
group by gt.rolname

-- == pgadmin: dependents of a table
select distinct dep.deptype, dep.classid::regclass::text, cl.relkind, cl.relname,
       case when cl.relkind is not null then cl.relkind::text || coalesce(dep.refobjsubid::text, '')
            when co.oid is not null then 'C'::text || co.contype::text when tg.oid is not null then 'T'::text
            when rw.oid is not null then 'R'::text else '' end as type,
       coalesce(co.conname, tg.tgname, rw.rulename) as name
from pg_catalog.pg_depend dep
left join pg_catalog.pg_class cl on dep.objid = cl.oid and dep.classid = 'pg_class'::regclass
left join pg_catalog.pg_constraint co on dep.objid = co.oid and dep.classid = 'pg_constraint'::regclass
left join pg_catalog.pg_trigger tg on dep.objid = tg.oid and dep.classid = 'pg_trigger'::regclass
left join pg_catalog.pg_rewrite rw on dep.objid = rw.oid and dep.classid = 'pg_rewrite'::regclass
where dep.refobjid = 'shop.orders'::regclass and dep.classid <> 'pg_type'::regclass
order by 2, 6, 5, 4

-- == pgadmin: dashboard
select (select count(*) from pg_catalog.pg_stat_activity where datname = current_database()) >= 1 as total,
       (select count(*) from pg_catalog.pg_stat_activity where state = 'active' and pid = pg_backend_pid()) as active,
       (select count(*) from pg_catalog.pg_prepared_xacts) as prepared

-- Metabase: src/metabase/driver/postgres.clj, src/metabase/driver/sql_jdbc/sync/*.clj

-- == metabase: tables
-- $1 = shop
-- $2 = yard
select n.nspname as "schema", c.relname as "name",
       case c.relkind when 'r' then 'TABLE' when 'p' then 'PARTITIONED TABLE' when 'v' then 'VIEW' when 'f' then 'FOREIGN TABLE'
            when 'm' then 'MATERIALIZED VIEW' else null end as "type",
       d.description as description, stat.n_live_tup > 100 as estimated
from pg_catalog.pg_class as c
inner join pg_catalog.pg_namespace as n on c.relnamespace = n.oid
left join pg_catalog.pg_description as d on (c.oid = d.objoid) and (d.objsubid = 0) and (d.classoid = 'pg_class'::regclass)
left join pg_stat_user_tables as stat on (n.nspname = stat.schemaname) and (c.relname = stat.relname)
where (c.relnamespace = n.oid) and (n.nspname !~ '^pg_') and (n.nspname <> 'information_schema')
  and c.relkind in ('r', 'p', 'v', 'f', 'm') and (n.nspname in ($1, $2))
order by type asc, schema asc, name asc

-- == metabase: fields
-- $1 = shop
select c.column_name as "name",
       case when c.udt_schema in ('public', 'pg_catalog') then format('%s', c.udt_name) else format('"%s"."%s"', c.udt_schema, c.udt_name) end as "database-type",
       c.ordinal_position - 1 as "database-position", c.table_schema as "table-schema", c.table_name as "table-name",
       pk.column_name is not null as "pk?",
       col_description(cast(cast(format('%I.%I', cast(c.table_schema as text), cast(c.table_name as text)) as regclass) as oid), c.ordinal_position) as "field-comment",
       ((column_default is null) or (lower(column_default) = 'null')) and (is_nullable = 'NO')
         and not (((column_default is not null) and (column_default like '%nextval(%')) or (is_identity <> 'NO')) as "database-required",
       ((column_default is not null) and (column_default like '%nextval(%')) or (is_identity <> 'NO') as "database-is-auto-increment"
from information_schema.columns as c
left join (select tc.table_schema, tc.table_name, kc.column_name from information_schema.table_constraints as tc
           inner join information_schema.key_column_usage as kc
             on (tc.constraint_name = kc.constraint_name) and (tc.table_schema = kc.table_schema) and (tc.table_name = kc.table_name)
           where tc.constraint_type = 'PRIMARY KEY') as pk
  on (c.table_schema = pk.table_schema) and (c.table_name = pk.table_name) and (c.column_name = pk.column_name)
where c.table_schema !~ '^information_schema|catalog_history|pg_' and (c.table_schema in ($1))
union all
select pa.attname as "name",
       case when ptn.nspname in ('public', 'pg_catalog') then format('%s', pt.typname) else format('"%s"."%s"', ptn.nspname, pt.typname) end as "database-type",
       pa.attnum - 1 as "database-position", pn.nspname as "table-schema", pc.relname as "table-name", false as "pk?",
       null as "field-comment", false as "database-required", false as "database-is-auto-increment"
from pg_catalog.pg_class as pc
inner join pg_catalog.pg_namespace as pn on pn.oid = pc.relnamespace
inner join pg_catalog.pg_attribute as pa on pa.attrelid = pc.oid
inner join pg_catalog.pg_type as pt on pt.oid = pa.atttypid
inner join pg_catalog.pg_namespace as ptn on ptn.oid = pt.typnamespace
where (pc.relkind = 'm') and (pa.attnum >= 1) and (pn.nspname in ($1))
order by "table-schema" asc, "table-name" asc, "database-position" asc

-- == metabase: foreign keys
-- $1 = shop
select fk_ns.nspname as "fk-table-schema", fk_table.relname as "fk-table-name", fk_column.attname as "fk-column-name",
       pk_ns.nspname as "pk-table-schema", pk_table.relname as "pk-table-name", pk_column.attname as "pk-column-name"
from pg_constraint as c
inner join pg_class as fk_table on c.conrelid = fk_table.oid
inner join pg_namespace as fk_ns on c.connamespace = fk_ns.oid
inner join pg_attribute as fk_column on c.conrelid = fk_column.attrelid
inner join pg_class as pk_table on c.confrelid = pk_table.oid
inner join pg_namespace as pk_ns on pk_table.relnamespace = pk_ns.oid
inner join pg_attribute as pk_column on c.confrelid = pk_column.attrelid
where fk_ns.nspname !~ '^information_schema|catalog_history|pg_' and (c.contype = 'f'::char) and (fk_column.attnum = any(c.conkey))
  and (pk_column.attnum = any(c.confkey)) and (fk_ns.nspname in ($1))
order by "fk-table-schema" asc, "fk-table-name" asc

-- == metabase: indexes
-- $1 = shop
select tmp."table-schema", tmp."table-name", trim(both '"' from pg_catalog.pg_get_indexdef(tmp.ci_oid, tmp.pos, false)) as "field-name"
from (select n.nspname as "table-schema", ct.relname as "table-name", ci.oid as ci_oid, (information_schema._pg_expandarray(i.indkey)).n as pos
      from pg_catalog.pg_class as ct
      inner join pg_catalog.pg_namespace as n on ct.relnamespace = n.oid
      inner join pg_catalog.pg_index as i on ct.oid = i.indrelid
      inner join pg_catalog.pg_class as ci on ci.oid = i.indexrelid
      where (pg_catalog.pg_get_expr(i.indpred, i.indrelid) is null) and n.nspname !~ '^information_schema|catalog_history|pg_' and (n.nspname in ($1))) as tmp
where tmp.pos = 1

-- == metabase: enum types
select nspname, typname from pg_type t join pg_namespace n on n.oid = t.typnamespace
where t.oid in (select distinct enumtypid from pg_enum e)

-- == metabase: privileges of the user
with table_privileges as (
  select null as role, t.schemaname as schema, t.objectname as table,
         pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'update') as update,
         pg_catalog.has_any_column_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'select') as select,
         pg_catalog.has_table_privilege(current_user, '"' || replace(t.schemaname, '"', '""') || '"' || '.' || '"' || replace(t.objectname, '"', '""') || '"', 'delete') as delete
  from (select schemaname, tablename as objectname from pg_catalog.pg_tables
        union select schemaname, viewname as objectname from pg_views
        union select schemaname, matviewname as objectname from pg_matviews) t
  where t.schemaname !~ '^pg_' and t.schemaname <> 'information_schema' and pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage'))
select t.* from table_privileges t where t.select or t.update or t.delete order by 2, 3

-- == metabase: a sample of rows
select "source"."substring" as "substring", "source"."id" as "id"
from (select "shop"."customers"."id" as "id", substring("shop"."customers"."name", 1, 1234) as "substring" from "shop"."customers") as "source"
limit 10000

-- == metabase: fingerprint of texts
select count(distinct "shop"."customers"."email") as "count", avg(char_length("shop"."customers"."name")) as "avg" from "shop"."customers"

-- == metabase: months in a zone
-- $1 = 100.5
select date_trunc('month', "shop"."customers"."created" at time zone 'Europe/Berlin') at time zone 'Europe/Berlin' as "created",
       (cast(date_trunc('week', (("shop"."customers"."created" + interval '1 day'))) as date) + interval '-1 day') as week,
       (((cast(extract(dow from "shop"."customers"."created") as integer) + 1 + 7 - 1) % 7) + 1) as day,
       cast(extract(quarter from "shop"."customers"."born") as integer) as quarter,
       floor((("shop"."customers"."balance" - 0.0) / 12.5)) * 12.5 + 0.0 as bin,
       percentile_cont(0.9) within group (order by "shop"."customers"."balance") as p90, count(*) as "count"
from "shop"."customers"
where "shop"."customers"."created" >= date_trunc('month', (now() + interval '-11 month')) and "shop"."customers"."created" < date_trunc('month', (now() + interval '1 month'))
  and ("shop"."customers"."balance" < cast($1 as numeric) or lower("shop"."customers"."name") like '%ann%')
group by 1, 2, 3, 4, 5 order by 1 asc

-- Grafana: public/app/plugins/datasource/grafana-postgresql-datasource/postgresMetaQuery.ts, pkg/tsdb/grafana-postgresql-datasource/macros.go

-- == grafana: version
select current_setting('server_version_num')::int / 100 as version

-- == grafana: the extension for times
select extversion from pg_extension where extname = 'timescaledb'

-- == grafana: schemas
select schema_name as "name" from information_schema.schemata
where schema_name not in ('information_schema', 'pg_catalog', 'pg_toast', '_timescaledb_cache', 'timescaledb_information')
order by schema_name

-- == grafana: tables
select case when quote_ident(table_schema) in (
         select case when trim(s[i]) = '"$user"' then user else trim(s[i]) end
         from generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1), array_upper(string_to_array(current_setting('search_path'), ','), 1)) as i,
              string_to_array(current_setting('search_path'), ',') s)
       then quote_ident(table_name) else quote_ident(table_schema) || '.' || quote_ident(table_name) end as "table"
from information_schema.tables
where quote_ident(table_schema) not in ('information_schema', 'pg_catalog', '_timescaledb_cache')
order by case when quote_ident(table_schema) in (
         select case when trim(s[i]) = '"$user"' then user else trim(s[i]) end
         from generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1), array_upper(string_to_array(current_setting('search_path'), ','), 1)) as i,
              string_to_array(current_setting('search_path'), ',') s) then 0 else 1 end, 1

-- == grafana: columns of a table in a schema
select quote_ident(column_name) as "column", data_type as "type" from information_schema.columns
where case when array_length(parse_ident('shop.customers'), 1) = 2
           then quote_ident(table_schema) = (parse_ident('shop.customers'))[1] and quote_ident(table_name) = (parse_ident('shop.customers'))[2]
           else quote_ident(table_name) = 'shop.customers' and quote_ident(table_schema) in ('public') end

-- == grafana: a series
select floor(extract(epoch from placed) / 300) * 300 as "time", state as metric, count(*) as value,
       extract(epoch from min(placed)) as "first"
from shop.orders where placed between '2026-01-01T00:00:00Z' and '2026-12-31T23:59:59.999Z' group by 1, 2 order by 1, 2

-- == grafana: a series, with gaps filled by the client
select (extract(epoch from created) / 86400)::bigint * 86400 as time, avg(balance) as "balance", created at time zone 'UTC' as ts
from shop.customers where extract(epoch from created) >= 1767225600 and extract(epoch from created) <= 1798761599 group by 1, 3 order by 1

-- == grafana: values of a variable
select distinct state as __value, upper(state) as __text from shop.orders where state ~* 'n|p' order by 1
