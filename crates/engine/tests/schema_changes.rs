//! What a change of the schema does to the objects beside the one that it names.

#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "files are what is tested")]

mod support;

use support::{Ask, Fixture, informix, postgres};

#[test]
fn a_view_over_a_synonym_does_not_hinder_changes_of_other_tables() {
    let fixture = Fixture::new();
    let mut session = informix(&fixture.open());
    session.run("create table a (x int, y int)");
    session.run("insert into a values (1, 2)");
    session.run("create synonym s for a");
    session.run("create sequence numbers");
    session.run("create view v as select x from s");
    session.run("create table other (p int, c int)");
    session.run("alter table other drop c");
    session.run("rename column other.p to q");
    session.run("rename table other to another");
    session.run("drop table another");
    assert_eq!(session.run("select x from v"), ["1"]);
}

#[test]
fn a_view_over_catalogs_does_not_hinder_changes_of_tables_and_can_be_dropped() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = informix(&database);
    session.run("create view names as select tabname from systables where tabid >= 100");
    session.run("create view monitored as select name from sysmaster:sysdatabases");
    session.run("create table other (p int, c int)");
    let mut postgres = postgres(&database);
    postgres.run("create view relations as select relname from pg_class where relname = 'other'");
    for session in [&mut session, &mut postgres] {
        session.run("create table mine (p int, c int)");
        session.run("alter table mine drop c");
        session.run("alter table mine add d int");
        session.run("drop table mine");
    }
    session.run("rename column other.p to q");
    session.run("rename table other to another");
    postgres.run("alter table another rename to other");
    assert_eq!(postgres.run("select relname from relations"), ["other"]);
    assert_eq!(session.run("select tabname from names where tabname = 'other'"), ["other"]);
    session.run("drop view names");
    session.run("drop view monitored");
    postgres.run("drop view relations");
    assert_eq!(postgres.run("select count(*) from pg_views where schemaname = 'public'"), ["0"]);
}

#[test]
fn a_view_over_a_temporary_table_is_temporary_or_refused() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create temp table t (x int)");
    session.run("insert into t values (1)");
    session.run("create view v as select x from t");
    session.run("create view w as select x + 1 as y from v");
    assert_eq!(session.run("select x from pg_temp.v"), ["1"]);
    assert_eq!(session.run("select y from w"), ["2"]);
    assert_eq!(postgres(&database).fails("select x from v"), "42P01");
    assert_eq!(session.fails("create view public.u as select x from t"), "42P16");
    session.run("create table other (a int, b int)");
    session.run("alter table other drop b");
    assert_eq!(session.fails("drop table t"), "2BP01");
    session.run("drop table t cascade");
    assert_eq!(session.fails("select y from w"), "42P01");

    let mut informix = informix(&database);
    informix.run("create temp table t (x int)");
    let refused = informix.error("create view v as select x from t");
    assert_eq!(refused.message, "a view over a temporary table is not supported");
}

#[test]
fn dropping_names_what_depends_on_what_and_takes_nothing_else() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table t (a int primary key, b int, c int)");
    session.run("create table u (a int, b int)");
    session.run("create view on_t as select a, b from t");
    session.run("create view on_view as select a from on_t");
    session.run("create view on_u as select a from u");
    session.run("create table child (t int references t)");
    let refused = session.error("drop table t");
    assert_eq!(refused.condition().sqlstate(), "2BP01");
    assert_eq!(
        refused.detail.as_deref(),
        Some(
            "view on_t depends on table t\nview on_view depends on view on_t\nconstraint child_t_fkey on table child \
             depends on table t"
        )
    );
    let refused = session.error("alter table t drop b");
    assert_eq!(
        refused.detail.as_deref(),
        Some("view on_t depends on column b of table t\nview on_view depends on view on_t")
    );
    session.run("alter table t drop c");
    session.run("alter table u drop b cascade");
    session.run("alter table t drop b cascade");
    let views = "select viewname from pg_views where schemaname = 'public' order by 1";
    assert_eq!(session.run(views), ["on_u"]);
    session.run("drop table t cascade");
    assert_eq!(session.run("select conname from pg_constraint where conrelid = 'child'::regclass"), [""; 0]);
    assert_eq!(session.run(views), ["on_u"]);
}

#[test]
fn a_replaced_view_keeps_what_depends_on_it() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table t (a int, b int)");
    session.run("create table u (a int)");
    session.run("insert into t values (1, 2)");
    session.run("create view v as select a from t");
    session.run("create view w as select a from v");
    let oid = session.run("select 'v'::regclass::oid");
    session.run("create or replace view v as select b as a, a as more from t");
    assert_eq!(session.run("select 'v'::regclass::oid"), oid);
    assert_eq!(session.run("select a from w"), ["2"]);
    assert_eq!(session.fails("drop view v"), "2BP01");
    session.run("drop table u");
    session.run("drop view v cascade");
    assert_eq!(session.fails("select a from w"), "42P01");
}

#[test]
fn columns_that_a_table_gets_later_are_none_of_its_views() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create table t (a int, b int)");
    session.run("create table u (a int, c int)");
    session.run("insert into t values (1, 2)");
    session.run("insert into u values (1, 3)");
    session.run("create view v as select * from t");
    session.run("create view w as select t.*, u.* from t, u as u(x)");
    session.run("create view j as select * from t join u using (a)");
    informix(&database).run("create view i as select t.*, c from t, u where t.a = u.a and u.c = 3");
    session.run("alter table t add z int default 9");
    assert_eq!(session.run("select * from v"), ["1|2"]);
    assert_eq!(session.run("select * from w"), ["1|2|1|3"]);
    assert_eq!(session.run("select * from j"), ["1|2|3"]);
    assert_eq!(informix(&database).run("select b, c from i"), ["2|3"]);
}

#[test]
fn names_change_under_views() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create table t (a int, b int)");
    session.run("insert into t values (1, 2)");
    session.run("create view v as select a, t.b, (select max(b) from t as other) as most from t where b > 0");
    session.run("create view w as select a from v");
    let mut informix = informix(&database);
    informix.run("create synonym s for t");
    informix.run("create view i as select a, t.b c from t where t.b > 0");
    informix.run("create view k as select a from s");
    session.run("alter table t rename to renamed");
    informix.run("rename column renamed.b to second");
    assert_eq!(session.run("select a, b, most from v"), ["1|2|2"]);
    assert_eq!(session.run("select a from w"), ["1"]);
    assert_eq!(informix.run("select a, c from i"), ["1|2"]);
    assert_eq!(informix.run("select a from k"), ["1"]);
    assert_eq!(session.fails("alter table renamed drop second"), "2BP01");
    // As SQLite alone sees it.
    let seen: i64 = fixture.outside().query_row("SELECT most FROM v", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn a_columns_new_name_stands_in_every_text_of_its_table() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run(
        "create table t (a int check (a > 0), b text check (b ~ '^x'), c text generated always as (b || '!') stored)",
    );
    session.run("create index on_both on t ((b || 'x')) where a > 5");
    session.run("alter table t rename a to first");
    session.run("alter table t rename b to second");
    session.run("insert into t (first, second) values (10, 'x')");
    assert_eq!(session.fails("insert into t (first, second) values (10, 'y')"), "23514");
    assert_eq!(session.fails("insert into t (first, second) values (0, 'x')"), "23514");
    assert_eq!(session.run("select first, second, c from t"), ["10|x|x!"]);
    let checks = "select pg_get_constraintdef(oid) from pg_constraint where conrelid = 't'::regclass order by 1";
    let checks = session.run(checks).join("\n");
    assert!(checks.contains("first > 0") && checks.contains("second ~"), "{checks}");
    let index = session.run("select pg_get_indexdef('on_both'::regclass)").join("");
    assert!(index.contains("second ||") && index.contains("first > 5"), "{index}");
}

#[test]
fn a_dropped_column_takes_only_the_indexes_and_checks_that_mention_it() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session
        .run("create table t (name text check (name <> 'me'), me text, c text generated always as (me || '!') stored)");
    session.run("create index on_name on t ((name || 'some'))");
    session.run("create index part on t (name) where me > '1'");
    let refused = session.error("alter table t drop me");
    assert_eq!(refused.detail.as_deref(), Some("column c of table t depends on column me of table t"));
    session.run("alter table t drop me cascade");
    assert_eq!(session.run("select indexname from pg_indexes where tablename = 't'"), ["on_name"]);
    assert_eq!(session.fails("insert into t values ('me')"), "23514");
    let columns = "select attname from pg_attribute where attrelid = 't'::regclass and attnum > 0 and not attisdropped";
    assert_eq!(session.run(columns), ["name"]);
}

#[test]
fn several_actions_of_one_alter_write_the_table_once() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table t (a int, b int, c text, d int)");
    session.run("insert into t values (1, 2, '3', 4)");
    session.run(
        "alter table t alter a type bigint, alter b type text using 'b' || b::text, alter c type int using c::int + d,
         alter d set default 9, alter d set not null, add constraint one unique (a)",
    );
    session.run("insert into t (a, b, c) values (5, 'x', 6)");
    assert_eq!(session.run("select * from t order by a"), ["1|b2|7|4", "5|x|6|9"]);
    assert_eq!(session.fails("insert into t values (5, 'x', 6, 7)"), "23505");
    assert_eq!(session.fails("insert into t values (7, 'x', 6, null)"), "23502");
    assert_eq!(session.fails("alter table t add constraint two unique (c), add constraint two unique (d)"), "42710");
    let types =
        "select format_type(atttypid, atttypmod) from pg_attribute where attrelid = 't'::regclass and attnum > 0";
    assert_eq!(session.run(types), ["bigint", "text", "integer", "integer"]);
}

#[test]
fn informix_drops_what_depends_on_a_table_unless_told_otherwise() {
    let fixture = Fixture::new();
    let mut session = informix(&fixture.open());
    session.run("create table t (a int)");
    session.run("create view v as select a from t");
    assert_eq!(session.error("drop table t restrict").condition().sqlstate(), "2BP01");
    session.run("drop table t");
    assert_eq!(session.run("select count(*) from systables where tabname = 'v'"), ["0"]);
}

#[test]
fn views_of_an_older_file_get_their_dependencies_noted_once() {
    let fixture = Fixture::new();
    {
        let mut session = postgres(&fixture.open());
        session.run("create table t (a int, b int)");
        session.run("create table u (a int)");
        session.run("create view v as select a from t");
    }
    fixture
        .outside()
        .execute_batch(
            "DROP TABLE rowferry_dependencies;
             INSERT INTO rowferry_objects (kind, namespace, name, physical_name, language, definition)
             VALUES ('view', 'public', 'c', 'c', 'postgres', 'SELECT relname FROM pg_class');
             INSERT INTO rowferry_columns (oid, name, position, type)
             SELECT oid, 'relname', 0, 'name' FROM rowferry_objects WHERE name = 'c';
             CREATE VIEW c (relname) AS SELECT relname FROM \"pg_catalog.pg_class\";",
        )
        .unwrap();
    let mut session = postgres(&fixture.open());
    session.run("alter table u add b int");
    session.run("alter table u drop b");
    assert_eq!(session.fails("drop table t"), "2BP01");
    assert_eq!(session.fails("alter table t drop a"), "2BP01");
    session.run("alter table t drop b");
    session.run("drop table u");
    assert_eq!(session.run("select a from v"), [""; 0]);
    assert_eq!(session.run("select relname from c where relname = 't'"), ["t"]);
}

#[test]
fn a_savepoint_brings_the_schema_back() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table kept (a int)");
    session.run("begin");
    session.run("create table first (a int)");
    session.run("savepoint s");
    session.run("create table second (a int)");
    session.run("alter table kept add b int");
    session.run("savepoint inner_one");
    session.run("drop table first");
    session.run("rollback to s");
    session.run("insert into first values (1)");
    assert_eq!(session.fails("insert into second values (1)"), "42P01");
    session.run("rollback to s");
    session.run("alter table kept add c int");
    session.run("release s");
    session.run("commit");
    let tables = "select attname from pg_attribute where attrelid = 'kept'::regclass and attnum > 0 order by attnum";
    assert_eq!(session.run(tables), ["a", "c"]);
    assert_eq!(session.run("select count(*) from first"), ["0"]);
}

#[test]
fn a_change_of_the_schema_reads_what_it_has_touched_and_no_more() {
    fn migration(tables: usize) -> u64 {
        let fixture = Fixture::new();
        let mut session = postgres(&fixture.open());
        session.run("create table t0 (id int primary key)");
        let before = rowferry_engine::schema::rows_read();
        for number in 1..=tables {
            let parent = number - 1;
            let columns: Vec<String> = (0..20).map(|column| format!("c{column} varchar(20) not null")).collect();
            session.run(&format!(
                "create table t{number} (id int primary key, parent int references t{parent}, {})",
                columns.join(", ")
            ));
            session.run(&format!("create index t{number}_parent on t{number} (parent)"));
        }
        for number in 1..=tables {
            session.run(&format!("alter table t{number} add more int"));
        }
        rowferry_engine::schema::rows_read() - before
    }
    // As many rows for the hundredth table as for the tenth.
    let (few, many) = (migration(10), migration(100));
    assert!(many <= few * 11, "10 tables: {few} rows read, 100 tables: {many}");
}

#[test]
fn two_hundred_changes_of_one_table_read_each_as_much_as_the_first() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    let columns: Vec<String> = (0..50).map(|column| format!("c{column} int")).collect();
    session.run(&format!("create table wide ({})", columns.join(", ")));
    let mut read = Vec::new();
    for number in 0..200 {
        let before = rowferry_engine::schema::rows_read();
        session.run(&format!("alter table wide alter c{} set default {number}", number % 50));
        read.push(rowferry_engine::schema::rows_read() - before);
    }
    let most = read.iter().max().copied().unwrap_or_default();
    assert!(most < 400, "{read:?}");
}

#[test]
fn notices_tell_all_that_a_cascade_takes() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create schema s");
    session.run("create table s.t (a int primary key)");
    session.run("create view s.v as select a from s.t");
    session.run("create table child (t int references s.t)");
    session.run("drop schema s cascade");
    let notices = session.drain_notices();
    let told: Vec<String> = notices
        .iter()
        .map(|notice| format!("{}: {}", notice.message, notice.detail.as_deref().unwrap_or_default()))
        .collect();
    let whole = told.iter().find(|notice| notice.starts_with("drop cascades to 3 other objects: "));
    let whole = whole.unwrap_or_else(|| panic!("{told:?}"));
    for taken in ["table s.t", "view s.v", "constraint child_t_fkey on table child"] {
        assert!(whole.contains(&format!("drop cascades to {taken}")), "{taken}: {told:?}");
    }
}

#[test]
fn a_view_is_replaced_by_one_with_the_same_columns_and_more() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create view v as select 1 as a, 2 as b");
    let message = |session: &mut rowferry_engine::Session, sql: &str| session.error(sql).message.clone();
    assert_eq!(message(&mut session, "create or replace view v as select 1 as a"), "cannot drop columns from view");
    assert_eq!(
        message(&mut session, "create or replace view v as select 1 as x, 2 as b"),
        "cannot change name of view column \"a\" to \"x\""
    );
    assert_eq!(
        message(&mut session, "create or replace view v as select 1 as a, 2.5::numeric as b"),
        "cannot change data type of view column \"b\" from integer to numeric"
    );
    session.run("create or replace view v as select 1 as a, 2 as b, 3 as c");
}

#[test]
fn what_a_definition_cannot_have_is_refused() {
    let fixture = Fixture::new();
    let mut session = postgres(&fixture.open());
    session.run("create table t (a int)");
    assert_eq!(session.fails("alter table t add xmin int"), "42701");
    assert_eq!(session.fails("create table u (ctid int)"), "42701");
    assert_eq!(session.fails("create temp table public.u (a int)"), "42P16");
    assert_eq!(session.fails("create unlogged table pg_temp.u (a int)"), "42P16");
    assert_eq!(session.fails("create sequence s cache 0"), "22023");
    assert_eq!(session.fails("create table u (a int collate \"C\")"), "42804");
    session.run("insert into t values (1)");
    assert_eq!(session.fails("alter table t add b int not null"), "23502");
    session.run("alter table t add c text generated always as ('x') stored");
    session.run("alter table t add d text generated always as ('y') stored");
    assert_eq!(session.run("select * from t"), ["1|x|y"]);
}

#[test]
fn actions_behind_a_drop_mean_the_columns_that_they_name() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = postgres(&database);
    session.run("create table t (a int, b int, c int, d int)");
    session.run("insert into t values (1, 2, 3, 4)");
    session.run(
        "alter table t drop a, drop b, alter d type text using (c + d)::text, add unique (c),
         add e int check (e > d::int), add f int check (f > e)",
    );
    assert_eq!(session.run("select * from t"), ["3|7|NULL|NULL"]);
    assert_eq!(session.fails("insert into t values (3, 'x')"), "23505");
    assert_eq!(session.fails("insert into t values (5, '1', 1)"), "23514");
    assert_eq!(session.fails("insert into t values (5, '1', 2, 2)"), "23514");
    session.run("insert into t values (5, '1', 2, 3)");

    let mut informix = informix(&database);
    informix.run("create table u (a int, b int, c int, d int)");
    informix.run("insert into u values (1, 2, 3, 4)");
    informix.run("alter table u drop (a, b), add (x int unique, y int unique), modify d char(5)");
    informix.run("insert into u values (5, '6', 7, 8)");
    assert_eq!(informix.run("select c, y from u where y = 8"), ["5|8"]);
    assert_eq!(informix.fails("insert into u values (5, '6', 9, 8)"), "23505");
    assert_eq!(informix.fails("insert into u values (5, '6', 7, 9)"), "23505");
}

#[test]
fn an_integer_key_has_its_default() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let (mut ours, mut theirs) = (informix(&database), postgres(&database));
    ours.run("create table a (id int default 7 primary key, c char(1))");
    theirs.run("create table b (c text, id bigint default 2 + 3, primary key (id))");
    for session in [&mut ours, &mut theirs] {
        session.run("insert into a (c) values ('x')");
        session.run("insert into b (c) select 'y' from a");
        assert_eq!(session.run("select id from a"), ["7"]);
        assert_eq!(session.run("select id from b"), ["5"]);
        session.run("delete from a");
        session.run("delete from b");
    }
    theirs.run("insert into a default values");
    theirs.run("insert into b (id, c) values (default, 'z')");
    assert_eq!(theirs.run("select a.id, b.id from a, b"), ["7|5"]);
}
