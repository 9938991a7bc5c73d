//! Files that others have made or change, schema changes, and what lies in a file that we made.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is tested")]

mod support;

use rowferry_engine::{Condition, Database, Options};
use support::{Ask, Fixture, informix, postgres};

#[test]
fn a_file_of_somebody_else_is_served() {
    let fixture = Fixture::new();
    fixture
        .outside()
        .execute_batch(
            "CREATE TABLE \"Odd Names\" (\"Primary\" INTEGER PRIMARY KEY, [select] TEXT DEFAULT 'x''y', mixed);
             CREATE TABLE kv (k TEXT PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID;
             CREATE TABLE child (id INTEGER PRIMARY KEY, k TEXT REFERENCES kv ON DELETE SET NULL, n INT CHECK (n > 0));
             CREATE VIEW pairs AS SELECT k, length(v) AS size FROM kv;
             CREATE INDEX child_k ON child (k COLLATE NOCASE, lower(k)) WHERE n > 1;
             CREATE VIRTUAL TABLE texts USING fts5(body);
             INSERT INTO \"Odd Names\" VALUES (1, 'a', 1), (2, 'b', 'two'), (3, NULL, x'03');
             INSERT INTO kv VALUES ('k', x'0102');
             INSERT INTO child VALUES (1, 'k', 5);",
        )
        .unwrap();
    let mut session = postgres(&fixture.open());
    let rows = session.run("select \"Primary\", \"select\", mixed from \"Odd Names\" where \"Primary\" < 3 order by 1");
    assert_eq!(rows, ["1|a|1", "2|b|two"]);
    assert_eq!(session.run("select k, size from pairs"), ["k|2"]);
    session.run("insert into \"Odd Names\" (\"select\") values ('c')");
    let returned = session.run("insert into \"Odd Names\" default values returning \"Primary\", \"select\"");
    assert_eq!(returned, ["5|x'y"]);
    assert_eq!(
        session.error("insert into child values (9, 'nobody', 1)").message,
        "insert or update on table \"child\" violates foreign key constraint \"child_k_fkey\""
    );
    assert_eq!(session.error("insert into child values (9, 'k', 0)").constraint.as_deref(), Some("child_n_check"));
    assert_eq!(session.error("insert into kv values ('k', '')").constraint.as_deref(), Some("kv_pkey"));
    assert_eq!(
        session.run("select tablename from pg_tables where schemaname = 'public' order by 1"),
        ["Odd Names", "child", "kv", "texts"]
    );
    // Nothing of ours has come into the file.
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'rowferry%'";
    let ours: i64 = fixture.outside().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(ours, 0);
}

#[test]
fn a_schema_changed_outside_is_noticed() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table t (a int)");
    session.run("insert into t values (1)");
    assert_eq!(session.run("select * from t"), ["1"]);
    let outside = fixture.outside();
    outside.execute_batch("ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'new'; CREATE TABLE u (x INTEGER);").unwrap();
    // A name that nobody knew makes the session look again; then the old text has its new meaning.
    session.run("insert into u values (7)");
    assert_eq!(session.run("select * from t"), ["1|new"]);
    assert_eq!(session.run("select * from u"), ["7"]);
    outside.execute_batch("DROP TABLE u; ALTER TABLE t RENAME COLUMN a TO c;").unwrap();
    assert_eq!(session.fails("select * from u"), "42P01");
    assert_eq!(session.fails("select a from t"), "42703");
    assert_eq!(session.run("select c from t"), ["1"]);
}

#[test]
fn what_we_make_reads_well_in_the_shell() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run(
        "create table items (id serial primary key, name varchar(20) not null, price numeric(10,2) default 1.5, \
         weight numeric(30,5), done boolean default false, at timestamptz default now(), \
         constraint cheap check (price < 1000), unique (name, price))",
    );
    session.run("insert into items (name, weight) values ('pen', 12345678901234567890.12345)");
    session.run("create view pens as select id, name from items where name = 'pen'");
    let outside = fixture.outside();
    let sql: String =
        outside.query_row("SELECT sql FROM sqlite_schema WHERE name = 'items'", [], |row| row.get(0)).unwrap();
    for part in [
        "id INTEGER CONSTRAINT items_pkey PRIMARY KEY,",
        "name varchar(20) NOT NULL",
        "price numeric(10,2) DEFAULT",
        "weight numeric text(30,5) COLLATE decimal",
        "done boolean DEFAULT",
        "at timestamptz",
        "CONSTRAINT items_name_price_key UNIQUE (name, price)",
    ] {
        assert!(sql.contains(part), "{part} is not in {sql}");
    }
    let sql = "SELECT id, name, price, weight, done FROM items";
    let row: (i64, String, f64, String, i64) = outside
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .unwrap();
    assert_eq!(row, (1, "pen".into(), 1.5, "12345678901234567890.12345".into(), 0));
    let pens: i64 = outside.query_row("SELECT count(*) FROM pens", [], |row| row.get(0)).unwrap();
    assert_eq!(pens, 1);
    assert_eq!(session.run("select weight from items"), ["12345678901234567890.12345"]);
    assert_ne!(session.run("select at from items"), ["NULL"]);
}

#[test]
fn violations_say_what_they_violate() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table p (id int primary key, code text unique, n int constraint positive check (n > 0))");
    session.run("create table c (id int primary key, p int not null references p)");
    session.run("insert into p values (1, 'x', 1)");
    session.run("insert into c values (1, 1)");
    let error = session.error("insert into p values (1, 'y', 1)");
    assert_eq!(error.message, "duplicate key value violates unique constraint \"p_pkey\"");
    assert_eq!(error.detail.as_deref(), Some("Key (id)=(1) already exists."));
    assert_eq!(error.table.as_deref(), Some("p"));
    assert_eq!(session.error("insert into p values (2, 'x', 1)").constraint.as_deref(), Some("p_code_key"));
    let error = session.error("insert into p values (3, 'z', 0)");
    assert_eq!(error.message, "new row for relation \"p\" violates check constraint \"positive\"");
    let error = session.error("insert into c values (2, null)");
    assert_eq!(error.message, "null value in column \"p\" of relation \"c\" violates not-null constraint");
    assert_eq!(error.column.as_deref(), Some("p"));
    assert_eq!(session.fails("insert into c (p) values (1)"), "23502");
    let error = session.error("insert into c values (2, 9)");
    assert_eq!(error.message, "insert or update on table \"c\" violates foreign key constraint \"c_p_fkey\"");
    assert_eq!(error.detail.as_deref(), Some("Key (p)=(9) is not present in table \"p\"."));
    let error = session.error("delete from p");
    assert_eq!(
        error.message,
        "update or delete on table \"p\" violates foreign key constraint \"c_p_fkey\" on table \"c\""
    );
    assert_eq!(error.condition(), Condition::ForeignKeyViolationByParent);
}

#[test]
fn checks_that_sqlite_cannot_make_are_kept_by_the_engine() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table t (id int primary key, name text constraint shouts check (name ~ '^[A-Z]+$'))");
    let error = session.error("insert into t values (1, 'quiet')");
    assert_eq!(error.message, "new row for relation \"t\" violates check constraint \"shouts\"");
    assert_eq!(error.condition(), Condition::CheckViolation);
    session.run("insert into t values (1, 'LOUD'), (2, null)");
    assert_eq!(session.fails("update t set name = 'x' where id = 2"), "23514");
    session.run("begin");
    session.run("create table u (id int, name text check (name ~ 'a'))");
    session.run("rollback");
    assert_eq!(session.fails("insert into t values (3, 'quiet')"), "23514");
    // Others can still write to the file.
    fixture.outside().execute("INSERT INTO t VALUES (4, 'outside')", []).unwrap();
    session.run("alter table t drop constraint shouts");
    session.run("insert into t values (5, 'quiet')");
    assert_eq!(session.run("select count(*) from t"), ["4"]);
}

#[test]
fn drops_look_at_what_depends() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table p (id int primary key)");
    session.run("create table c (id int primary key, p int references p)");
    session.run("create view v as select id from p");
    session.run("create view w as select id from v");
    assert_eq!(session.error("drop table p").condition(), Condition::DependentObjectsStillExist);
    assert_eq!(session.error("drop view v").condition(), Condition::DependentObjectsStillExist);
    assert_eq!(session.error("drop table nothing").condition(), Condition::UndefinedTable);
    session.run("drop table if exists nothing");
    session.run("insert into p values (1)");
    session.run("insert into c values (1, 1)");
    session.run("drop table p cascade");
    assert_eq!(session.fails("select * from w"), "42P01");
    session.run("insert into c values (2, 99)");
    session.run("drop table c");
    assert_eq!(session.run("select count(*) from pg_class where relnamespace = 'public'::regnamespace"), ["0"]);
}

#[test]
fn tables_are_altered_with_their_rows() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table p (id int primary key, name text)");
    session.run("create table c (id int primary key, p int references p on delete cascade)");
    session.run("create index p_name on p (name)");
    session.run("insert into p values (1, '10'), (2, '20')");
    session.run("insert into c values (1, 1), (2, 2)");
    session.run("alter table p add column n int not null default 7");
    session.run("alter table p add column note text default 'none', add constraint high check (n > 5)");
    assert_eq!(session.run("select * from p order by id"), ["1|10|7|none", "2|20|7|none"]);
    assert_eq!(session.fails("insert into p values (3, '30', 1, '')"), "23514");
    assert_eq!(session.fails("alter table p add column x int not null"), "23502");
    session.run("alter table p alter column name type int using name::int");
    assert_eq!(session.run("select name + 1 from p order by id"), ["11", "21"]);
    // The children are still there: the parent was exchanged, not dropped.
    assert_eq!(session.run("select count(*) from c"), ["2"]);
    assert_eq!(session.run("select indexname from pg_indexes where tablename = 'p' order by 1"), ["p_name", "p_pkey"]);
    session.run("alter table p drop constraint high");
    session.run("alter table p alter column n drop not null, alter column n set default 9");
    session.run("insert into p (id, name) values (3, 30)");
    assert_eq!(session.run("select n from p where id = 3"), ["9"]);
    session.run("alter table p drop column note, drop column name");
    session.run("alter table p rename column n to number");
    session.run("alter table p rename to parents");
    assert_eq!(session.run("select id, number from parents order by id"), ["1|7", "2|7", "3|9"]);
    session.run("delete from parents where id = 1");
    assert_eq!(session.run("select id from c"), ["2"]);
    session.run("alter table c drop constraint c_pkey");
    session.run("insert into c values (2, 2)");
    assert_eq!(session.fails("alter table c add primary key (id)"), "23505");
    session.run("begin");
    session.run("alter table parents add column z int");
    session.run("rollback");
    assert_eq!(session.fails("select z from parents"), "42703");
}

#[test]
fn numbers_are_given_once() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table t (id serial primary key, n bigint generated always as identity, x text)");
    assert_eq!(session.run("insert into t (x) values ('a'), ('b') returning id, n"), ["1|1", "2|2"]);
    session.run("delete from t");
    assert_eq!(session.run("insert into t (x) values ('c') returning id"), ["3"]);
    assert_eq!(session.run("select pg_get_serial_sequence('t', 'id')"), ["public.t_id_seq"]);
    session.run("create sequence s start 10 increment 5 maxvalue 20 cycle");
    assert_eq!(session.fails("select currval('s')"), "55000");
    session.run("begin");
    assert_eq!(session.run("select nextval('s')"), ["10"]);
    session.run("rollback");
    assert_eq!(session.run("select nextval('s')"), ["15"]);
    assert_eq!(session.run("select nextval('s')"), ["20"]);
    assert_eq!(session.run("select nextval('s')"), ["1"]);
    assert_eq!(session.run("select setval('s', 12)"), ["12"]);
    assert_eq!(session.run("select nextval('s')"), ["17"]);
    session.run("select setval('t_id_seq', 100)");
    assert_eq!(session.run("insert into t (x) values ('d') returning id"), ["101"]);
    session.run("truncate t restart identity");
    assert_eq!(session.run("insert into t (x) values ('e') returning id, n"), ["1|1"]);
}

#[test]
fn temporary_tables_are_the_sessions_own() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let (mut one, mut two) = (postgres(&database), postgres(&database));
    one.run("create table t (a int)");
    one.run("create temp table t (b text)");
    one.run("insert into t values ('mine')");
    assert_eq!(one.run("select b from t"), ["mine"]);
    assert_eq!(one.run("select count(*) from public.t"), ["0"]);
    assert_eq!(two.run("select count(a) from t"), ["0"]);
    one.run("discard temp");
    assert_eq!(one.run("select count(a) from t"), ["0"]);
    one.run("create table copy as select 1 as x, 'two'::text as y");
    assert_eq!(two.run("select * from copy"), ["1|two"]);
}

#[test]
fn schemas_are_prefixes_in_the_file() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    assert_eq!(session.fails("create table sales.orders (id int)"), "3F000");
    session.run("create schema sales");
    session.run("create table sales.orders (id int primary key)");
    session.run("create table orders (id text)");
    session.run("insert into sales.orders values (5)");
    assert_eq!(session.run("select id from sales.orders"), ["5"]);
    assert_eq!(session.run("select count(*) from orders"), ["0"]);
    session.run("set search_path = sales, public");
    assert_eq!(session.run("select id from orders"), ["5"]);
    assert_eq!(session.fails("drop schema sales"), "2BP01");
    session.run("drop schema sales cascade");
    assert_eq!(session.run("select count(*) from orders"), ["0"]);
}

#[test]
fn informix_serials_number_themselves() {
    let fixture = Fixture::new();
    let mut session = informix(&fixture.open());
    session.run("create table t (id serial not null, name char(10), price decimal(8,2))");
    session.run("insert into t values (0, 'a', 1.5)");
    assert_eq!(session.last_serial(), Some(1));
    session.run("insert into t (name) values ('b')");
    assert_eq!(session.last_serial(), Some(2));
    assert_eq!(session.run("select id from t order by id"), ["1", "2"]);
}

#[test]
fn what_is_no_database_is_refused() {
    let fixture = Fixture::new();
    let open = |options| Database::open(&fixture.path, options).map(|_| ()).map_err(|error| error.condition());
    assert_eq!(open(Options::default()), Err(Condition::UndefinedFile));
    std::fs::write(&fixture.path, b"certainly no database, but long enough for a header").unwrap();
    assert_eq!(open(Options::default()), Err(Condition::DataCorrupted));
    assert_eq!(open(Options { create: true, ..Options::default() }), Err(Condition::DataCorrupted));
    let directory = Database::open(fixture.directory.path(), Options::default());
    assert_eq!(directory.unwrap_err().condition(), Condition::IoError);
    // The file is untouched.
    assert!(std::fs::read(&fixture.path).unwrap().starts_with(b"certainly"));
}

#[test]
fn a_database_in_memory_is_shared_and_then_gone() {
    let database = Database::memory("scratch", Options::default()).unwrap();
    let path = database.path().to_path_buf();
    let (mut one, mut two) = (postgres(&database), postgres(&database));
    one.run("create table t (a int)");
    one.run("begin");
    one.run("insert into t values (1)");
    assert_eq!(two.run("select count(*) from t"), ["0"]);
    one.run("commit");
    assert_eq!(two.run("select count(*) from t"), ["1"]);
    assert!(path.exists());
    drop((one, two, database));
    assert!(!path.exists());
}
