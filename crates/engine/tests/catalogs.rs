//! Catalogs through the ordinary compiler, by the queries that real tools send.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is tested")]

mod support;

use rowferry_engine::Session;
use support::{Ask, Fixture, informix, postgres};

fn store() -> (Fixture, Session) {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    for sql in [
        "create table customers (id serial primary key, name varchar(40) not null, email text unique)",
        "create table orders (id bigint primary key, customer int not null references customers on delete cascade, \
         total numeric(10,2) not null default 0 check (total >= 0), at timestamptz default now())",
        "create index orders_customer on orders (customer, at desc)",
        "create unique index on customers (lower(name)) where email is not null",
        "create view big as select id, total from orders where total > 100",
        "comment on table orders is 'what was ordered'",
        "comment on column orders.total is 'in euro'",
    ] {
        if let Err(error) = session.ask(sql) {
            // An index on `lower` needs SQLite's to be PostgreSQL's.
            assert!(sql.contains("lower("), "{sql}: {error:?}");
            session.fail();
        }
    }
    (fixture, session)
}

#[test]
fn every_catalog_can_be_read() {
    let (_fixture, mut session) = store();
    assert!(rowferry_engine::catalog::relations().count() > 80);
    for relation in rowferry_engine::catalog::relations() {
        // Informix's and MySQL's are seen by their own sessions alone.
        if relation.namespace != "informix" && !relation.namespace.starts_with("mysql_") {
            session.run(&format!("select * from {}.{}", relation.namespace, relation.name));
        }
    }
}

#[test]
fn psql_lists_tables() {
    let (_fixture, mut session) = store();
    let rows = session.run(
        "SELECT n.nspname as \"Schema\", c.relname as \"Name\",
           CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view'
             WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' WHEN 't' THEN 'TOAST table' WHEN 'f' THEN 'foreign table'
             WHEN 'p' THEN 'partitioned table' WHEN 'I' THEN 'partitioned index' END as \"Type\",
           pg_catalog.pg_get_userbyid(c.relowner) as \"Owner\"
         FROM pg_catalog.pg_class c
              LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
              LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
         WHERE c.relkind IN ('r','p','v','m','S','f','')
               AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema'
               AND pg_catalog.pg_table_is_visible(c.oid)
         ORDER BY 1,2",
    );
    assert_eq!(
        rows,
        [
            "public|big|view|ada",
            "public|customers|table|ada",
            "public|customers_id_seq|sequence|ada",
            "public|orders|table|ada",
        ]
    );
}

#[test]
fn psql_describes_a_table() {
    let (_fixture, mut session) = store();
    let oid = session.run(
        "SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
         LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relname OPERATOR(pg_catalog.~) '^(orders)$' COLLATE pg_catalog.default
           AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3",
    );
    assert_eq!(oid.len(), 1);
    let oid = oid[0].split('|').next().unwrap().to_owned();
    let columns = session.run(&format!(
        "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
           (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
            WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
           a.attnotnull,
           (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
            WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation,
           a.attidentity, a.attgenerated
         FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = '{oid}' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
    ));
    let columns: Vec<&str> = columns.iter().map(|line| line.rsplitn(4, '|').last().unwrap()).collect();
    assert_eq!(columns[0], "id|bigint|NULL|1");
    assert_eq!(columns[1], "customer|integer|NULL|1");
    assert_eq!(columns[2], "total|numeric(10,2)|0|1");
    assert!(columns[3].starts_with("at|timestamp with time zone|now()|0"), "{}", columns[3]);
    let indexes = session.run(&format!(
        "SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid,
           pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid, true), contype,
           condeferrable, condeferred, i.indisreplident, c2.reltablespace
         FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
           LEFT JOIN pg_catalog.pg_constraint con
             ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
         WHERE c.oid = '{oid}' AND c.oid = i.indrelid AND i.indexrelid = c2.oid
         ORDER BY i.indisprimary DESC, c2.relname"
    ));
    assert_eq!(
        indexes,
        [
            "orders_pkey|1|1|0|1|CREATE UNIQUE INDEX orders_pkey ON public.orders USING btree (id)|PRIMARY KEY (id)|p|0|0|0|0",
            "orders_customer|0|0|0|1|CREATE INDEX orders_customer ON public.orders USING btree (customer, at DESC)|NULL|NULL|NULL|NULL|0|0",
        ]
    );
    let keys = session.run(&format!(
        "SELECT true as sametable, conname, pg_catalog.pg_get_constraintdef(r.oid, true) as condef,
           conrelid::pg_catalog.regclass AS ontable
         FROM pg_catalog.pg_constraint r
         WHERE r.conrelid = '{oid}' AND r.contype = 'f' AND conparentid = 0 ORDER BY conname"
    ));
    assert_eq!(keys.len(), 1);
    assert!(keys[0].contains("orders_customer_fkey|FOREIGN KEY (customer) REFERENCES customers(id) ON DELETE CASCADE"));
    let checks = session.run(&format!(
        "SELECT r.conname, pg_catalog.pg_get_constraintdef(r.oid, true) FROM pg_catalog.pg_constraint r
         WHERE r.conrelid = '{oid}' AND r.contype = 'c' ORDER BY 1"
    ));
    assert_eq!(checks.len(), 1, "{checks:?}");
    assert!(checks[0].starts_with("orders_total_check|CHECK ("), "{checks:?}");
    let comments = session.run("select obj_description('orders'::regclass), col_description('orders'::regclass, 3)");
    assert_eq!(comments, ["what was ordered|in euro"]);
}

#[test]
fn information_schema_tells_the_same() {
    let (_fixture, mut session) = store();
    let rows = session.run(
        "select column_name, data_type, is_nullable, character_maximum_length, numeric_precision, is_identity
         from information_schema.columns where table_name = 'customers' order by ordinal_position",
    );
    assert_eq!(
        rows,
        ["id|integer|NO|NULL|32|NO", "name|character varying|NO|40|NULL|NO", "email|text|YES|NULL|NULL|NO"]
    );
    let rows = session.run(
        "select tc.constraint_type, kcu.column_name, ccu.table_name, ccu.column_name
         from information_schema.table_constraints tc
         join information_schema.key_column_usage kcu on tc.constraint_name = kcu.constraint_name
         join information_schema.constraint_column_usage ccu on ccu.constraint_name = tc.constraint_name
         where tc.table_name = 'orders' order by 1, 2",
    );
    assert_eq!(rows, ["FOREIGN KEY|customer|customers|id", "PRIMARY KEY|id|orders|id"]);
}

#[test]
fn sessions_are_listed_while_they_live() {
    let (fixture, mut session) = store();
    let _ = fixture;
    let count = "select count(*) from pg_stat_activity";
    assert_eq!(session.run(count), ["1"]);
    let other = informix(session.database());
    assert_eq!(session.run(count), ["2"]);
    drop(other);
    assert_eq!(session.run(count), ["1"]);
}

#[test]
fn object_ids_stay() {
    let (fixture, mut session) = store();
    let query = "select 'orders'::regclass::oid, 'orders_pkey'::regclass::oid, 'big'::regclass::oid";
    let before = session.run(query);
    drop(session);
    let mut session = postgres(&fixture.open());
    assert_eq!(session.run(query), before);
    session.run("drop view big");
    session.run("alter table orders rename to purchases");
    assert_eq!(session.run("select 'purchases'::regclass::oid").join(""), before[0].split('|').next().unwrap());
}

#[test]
fn a_kept_statement_on_a_catalog_survives_changes_by_others() {
    for speak in [postgres, informix] {
        let fixture = Fixture::new();
        let database = fixture.open();
        let (mut first, mut second) = (speak(&database), speak(&database));
        let sql = if first.language() == rowferry_engine::Language::Informix {
            "select tabname from systables where tabid >= 100 and tabtype = 'T' order by 1"
        } else {
            "select relname from pg_class where relkind = 'r' and oid > 16383 order by 1"
        };
        first.run("create table a (x int)");
        let plan = second.prepare(sql, &[]).unwrap().unwrap();
        for (number, name) in ["b", "c", "d"].into_iter().enumerate() {
            let rowferry_engine::Outcome::Rows(mut cursor) = second.execute(&plan, &[]).unwrap() else { panic!() };
            let mut rows = 0;
            while cursor.next().unwrap().is_some() {
                rows += 1;
            }
            drop(cursor);
            assert_eq!(rows, number + 1);
            first.run(&format!("create table {name} (x int)"));
        }
    }
}

/// So many tables that sessions which ask for none of them leave the file alone.
fn many() -> (Fixture, rowferry_engine::Database) {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("begin");
    for number in 0..110 {
        session.run(&format!("create table many_{number} (id int primary key, word text)"));
    }
    session.run("commit");
    (fixture, database)
}

#[test]
fn catalogs_of_many_tables_show_what_others_have_changed() {
    let (fixture, database) = many();
    let count = "select count(*) from pg_class where relname ~ '^many_' and relkind = 'r'";
    let mut session = postgres(&database);
    assert_eq!(session.run("select 1 + 1"), ["2"]);
    assert_eq!(session.run(count), ["110"]);
    let mut other = postgres(&database);
    other.run("create table many_more (id int)");
    assert_eq!(session.run(count), ["111"]);
    fixture.outside().execute_batch("CREATE TABLE many_outside (id int)").unwrap();
    assert_eq!(session.run(count), ["112"]);
    assert_eq!(
        session.run("select attname from pg_attribute where attrelid = 'many_outside'::regclass and attnum > 0"),
        ["id"]
    );
    assert_eq!(session.run("select count(*) from many_1"), ["0"]);
    fixture.outside().execute_batch("DROP TABLE many_outside").unwrap();
    assert_eq!(session.run(count), ["111"]);
}

#[test]
fn catalogs_of_many_tables_are_those_of_the_transaction() {
    let (_fixture, database) = many();
    let count = "select count(*) from pg_class where relname ~ '^(many|own)_' and relkind = 'r'";
    let mut session = postgres(&database);
    session.run("begin");
    assert_eq!(session.run(count), ["110"]);
    session.run("create table own_one (id int)");
    session.run("create temp table own_two (id int)");
    assert_eq!(session.run(count), ["112"]);
    session.run("savepoint s");
    session.run("drop table own_one");
    assert_eq!(session.run(count), ["111"]);
    session.run("rollback");
    assert_eq!(session.run(count), ["110"]);
    session.run("create function own(oid) returns text language sql as 'select relname from pg_class where oid = $1'");
    assert_eq!(session.run("select own(oid) from pg_class where relname = 'many_7'"), ["many_7"]);
}

#[test]
fn a_cursor_over_catalogs_of_many_tables_outlives_what_comes_between() {
    let (_fixture, database) = many();
    let mut session = postgres(&database);
    session.run("begin");
    session.run("declare c cursor for select relname from pg_class where relname ~ '^many_1[0-9]*$' order by 1");
    assert_eq!(session.run("fetch 2 from c"), ["many_1", "many_10"]);
    session.run("insert into many_1 values (1, 'a')");
    session.run("create table many_1000 (id int)");
    assert_eq!(session.run("fetch 2 from c"), ["many_100", "many_101"]);
    session.run("commit");
    assert_eq!(session.run("select word from many_1"), ["a"]);
    assert_eq!(session.fails("fetch 1 from c"), "34000");
}

#[test]
fn an_expression_for_one_whole_word_is_that_word() {
    let (_fixture, mut session) = store();
    session.run("create table words (id int, word text collate \"C\", padded char(5))");
    session.run("insert into words values (1, 'Ab', 'ab'), (2, 'ab', 'ab'), (3, 'xab', 'abc'), (4, null, null)");
    assert_eq!(session.run("select id from words where word ~ '^(ab)$'"), ["2"]);
    assert_eq!(session.run("select id from words where word ~ '^ab$'"), ["2"]);
    assert_eq!(session.run("select id from words where padded ~ '^ab$'"), [""; 0]);
    assert_eq!(session.run("select id, word ~ '^ab$' from words order by id"), ["1|0", "2|1", "3|0", "4|NULL"]);
    assert_eq!(
        session.run("select relname from pg_class where relname ~ '^(orders)$' collate \"default\""),
        ["orders"]
    );
}
