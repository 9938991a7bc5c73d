//! Informix SQL through a session, with the answers that IBM documents.
//!
//! A case file is one database: statements, each ended by a line `----` and followed by its answer up to an empty line.
//! A query's answer is a line of its columns (`name TYPE`, joined by ` | `) and a line for each row, values as a cast to
//! text shows them; another statement's answer is `OK`, or the number of rows it changed; a failure is
//! `ERROR <SQLCODE> <message>`. Lines that begin with `#` say where an answer is documented.
//!
//! `ROWFERRY_CASES=write cargo test -p rowferry-engine --test informix` writes what is answered now beside the cases
//! (`*.actual`), to be read before it is believed.

mod support;

use std::fmt::Write as _;
use std::path::Path;

use rowferry_dialect::informix::type_words;
use rowferry_engine::{Options, Session};
use support::answers::{answer, run};
use support::cases::check_cases;
use support::{Fixture, informix};

fn check(name: &str) {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = informix(&database);
    check_cases("informix", name, |sql| answer(&mut session, sql));
}

macro_rules! files {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

files! { queries, expressions, functions, changes, definitions, errors, catalogs, triggers, views, hierarchies, windows, documents, alterations, manual, encryption, parts, aggregates, distinct, casts, grouping, set_operations }

/// Every table of the catalog and of sysmaster, with its columns, against one committed table.
#[test]
fn system_tables_have_their_columns() {
    let mut found = String::new();
    let mut count = 0;
    for relation in rowferry_engine::catalog::relations() {
        if !matches!(relation.namespace.as_str(), "informix" | "sysmaster") {
            continue;
        }
        count += 1;
        writeln!(found, "{}:{}", relation.namespace, relation.name).unwrap();
        for column in &relation.columns {
            let serial = if column.identity.is_some() { "SERIAL".to_owned() } else { type_words(&column.ty) };
            writeln!(found, "    {} {serial}", column.name).unwrap();
        }
    }
    assert!(count >= 85, "{count} system tables");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/informix/system_tables.list");
    if std::env::var_os("ROWFERRY_CASES").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap());
    // They can be read, and syscolumns says of each what a SELECT describes.
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = informix(&database);
    for relation in rowferry_engine::catalog::relations() {
        let columns = match relation.namespace.as_str() {
            "informix" => run(&mut session, &format!("select * from {}", relation.name)),
            "sysmaster" => run(&mut session, &format!("select * from sysmaster:{}", relation.name)),
            _ => continue,
        };
        let columns = columns.unwrap_or_else(|error| panic!("{}: {error:?}", relation.name));
        assert_eq!(columns.lines().next().unwrap().split(" | ").count(), relation.columns.len(), "{}", relation.name);
        if relation.namespace == "informix" {
            let sql = format!(
                "select colname from syscolumns c, systables t where c.tabid = t.tabid and t.tabname = '{}' order by colno",
                relation.name
            );
            let told = run(&mut session, &sql).unwrap();
            let names: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(told.lines().skip(1).collect::<Vec<_>>(), names, "{}", relation.name);
        }
    }
}

/// Sessions share plans: one whose client counts bytes must not get what was made for one that counts characters, nor one
/// that asked for another server its name.
#[test]
fn sessions_that_were_told_other_things_do_not_share_plans() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut characters = informix(&database);
    characters.begin_with("informix.server", "first");
    let mut bytes = informix(&database);
    bytes.begin_with("informix.server", "second");
    bytes.begin_with("informix.database", "sysmaster");
    bytes.begin_with(rowferry_dialect::informix::MULTIBYTE, "y");
    answer(&mut characters, "create table texts (a varchar(4))");
    for (sql, of_characters, of_bytes) in [
        ("select trim(dbservername) from systables where tabid = 1", "first", "second"),
        ("select dbinfo('dbname') from systables where tabid = 1", "store", "sysmaster"),
        ("select length('äöü') from systables where tabid = 1", "3", "6"),
        ("select cast('äöüß' as varchar(4)) from systables where tabid = 1", "äöüß", "äö"),
    ] {
        for (session, expected) in [(&mut characters, of_characters), (&mut bytes, of_bytes)] {
            assert_eq!(answer(session, sql).lines().nth(1), Some(expected), "{sql}");
        }
    }
    for counts_bytes in [true, false, true] {
        let (session, expected) = if counts_bytes { (&mut bytes, "äö") } else { (&mut characters, "äöüß") };
        answer(session, "insert into texts values ('äöüß')");
        let found = answer(session, "select a from texts");
        assert_eq!(found.lines().nth(1), Some(expected));
        answer(session, "delete from texts");
    }
}

/// A DISTINCT type of an earlier version is its source type under another name, and so are its columns, until it is made
/// again.
#[test]
fn distinct_types_of_earlier_versions_are_names_of_their_source_types() {
    let fixture = Fixture::new();
    {
        let database = fixture.open();
        let mut session = informix(&database);
        run(&mut session, "create table t (a decimal(8,2))").unwrap();
        run(&mut session, "create distinct type dollar as decimal(8,2)").unwrap();
    }
    let outside = fixture.outside();
    let changed = outside
        .execute("UPDATE rowferry_objects SET definition = 'DECIMAL(8,2)' WHERE kind = 'distinct type'", [])
        .unwrap();
    assert_eq!(changed, 1);
    assert_eq!(outside.execute("DELETE FROM rowferry_objects WHERE kind = 'informix cast'", []).unwrap(), 2);
    drop(outside);
    let database = fixture.open();
    let mut session = informix(&database);
    run(&mut session, "create table u (a dollar)").unwrap();
    run(&mut session, "insert into u values (12.5)").unwrap();
    let of_both = "select u.a, 1.5::dollar from u where u.a > (select count(*) from t)";
    assert_eq!(run(&mut session, of_both).unwrap(), "a DECIMAL(8,2) | (expression) DECIMAL(8,2)\n12.50|1.50\n");
    let told = "select mode, type, source from sysxtdtypes where name = 'dollar'";
    assert!(run(&mut session, told).unwrap().ends_with("D|5|0\n"));
    run(&mut session, "drop type dollar restrict").unwrap();
    run(&mut session, "create distinct type dollar as decimal(8,2)").unwrap();
    run(&mut session, "alter table u modify (a dollar)").unwrap();
    assert_eq!(run(&mut session, "select a from u").unwrap(), "a dollar\n12.50\n");
    let error = run(&mut session, "insert into u values (12.5)").unwrap_err();
    assert_eq!(error.informix_code(), -9632);
    drop(session);
    drop(database);
    // It is what it was when the file is opened again.
    let mut session = informix(&fixture.open());
    assert_eq!(
        run(&mut session, "select a, a::decimal(8,2) from u").unwrap(),
        "a dollar | a DECIMAL(8,2)\n12.50|12.50\n"
    );
}

/// PostgreSQL's clients see a domain, and what they do to it is a part of it.
#[test]
fn a_distinct_type_is_a_domain_to_clients_of_postgresql() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut session = informix(&database);
    run(&mut session, "create distinct type dollar as decimal(8,2)").unwrap();
    run(&mut session, "create table t (id int, a dollar)").unwrap();
    run(&mut session, "insert into t values (1, 12.5::decimal::dollar)").unwrap();
    let mut other = support::postgres(&database);
    let ask = |session: &mut Session, sql: &str| support::ask_with(session, sql, &[]);
    assert_eq!(
        ask(&mut other, "select a::text, (a + 1)::text, pg_typeof(a)::text from t").unwrap(),
        ["12.50|13.50|dollar"]
    );
    ask(&mut other, "insert into t values (2, 3)").unwrap();
    assert_eq!(
        ask(&mut other, "select typtype::text, typname from pg_type where typname = 'dollar'").unwrap(),
        ["d|dollar"]
    );
    ask(&mut other, "alter domain dollar add constraint positive check (value > 0)").unwrap();
    let error = run(&mut session, "insert into t values (3, (0 - 1)::decimal::dollar)").unwrap_err();
    assert_eq!(error.informix_code(), -530);
    assert_eq!(run(&mut session, "select a from t where a < 10::decimal::dollar").unwrap(), "a dollar\n3.00\n");
    ask(&mut other, "drop table t").unwrap();
    ask(&mut other, "drop domain dollar").unwrap();
    let error = run(&mut session, "create table t (a dollar)").unwrap_err();
    assert_eq!(error.informix_code(), -9628);
    run(&mut session, "create distinct type dollar as int").unwrap();
    assert!(run(&mut session, "select 1::dollar from systables where tabid = 1").is_ok());
}

/// Columns of tables of PostgreSQL's that compute or always number themselves take no value from Informix's clients either.
#[test]
fn computed_columns_of_other_dialects_take_no_value() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut other = support::postgres(&database);
    let columns = "a int, b int generated always as (a * 2) stored, id int generated always as identity";
    support::ask_with(&mut other, &format!("create table t ({columns})"), &[]).unwrap();
    let mut session = informix(&database);
    run(&mut session, "insert into t (a) values (1)").unwrap();
    run(&mut session, "insert into t (a, b) values (2, default)").unwrap();
    for refused in [
        "insert into t (a, b) values (3, 5)",
        "insert into t (a, id) values (3, 50)",
        "insert into t values (3, 50)",
        "insert into t (a, id) select a, a from t",
        "update t set b = 7",
        "update t set (a, id) = (8, 77)",
        "update t set (b, a) = (select a, a from t where a = 1)",
    ] {
        let error = run(&mut session, refused).unwrap_err();
        assert_eq!(error.informix_code(), -232, "{refused}: {error}");
    }
    run(&mut session, "update t set a = 5 where a = 2").unwrap();
    assert_eq!(
        run(&mut session, "select a, b, id from t order by id").unwrap(),
        "a INTEGER | b INTEGER | id INTEGER\n1|2|1\n5|10|2\n"
    );
}

/// What a statement says and what has no effect is a remark, or refused where the server was told to take nothing of the kind.
#[test]
fn what_has_no_effect_is_told_or_refused() {
    let statements = [
        (
            "create table a (k int) in dbs1 extent size 16 next size 8 lock mode page",
            &["IN dbspace", "EXTENT SIZE", "LOCK MODE PAGE"][..],
        ),
        ("create table b (k int) fragment by round robin in d1, d2", &["FRAGMENT BY"]),
        ("create index i on t (k) using rtree fillfactor 80 in dbs2", &["USING", "FILLFACTOR", "IN dbspace"]),
        ("set explain on", &["SET EXPLAIN"]),
        ("set pdqpriority 50", &["SET"]),
        ("grant select on t to public", &["GRANT, as every user may do everything,"]),
        ("create role clerks", &["CREATE ROLE, as every user may do everything,"]),
        ("create cluster index by_k on t (k)", &["CLUSTER"]),
        // These say what is so here, too.
        ("create table c (k int) lock mode row", &[]),
        ("create index j on c (k) using btree", &[]),
        ("select * from c into temp d with no log", &[]),
        ("set lock mode to wait", &[]),
    ];
    for strict in [false, true] {
        let fixture = Fixture::new();
        let database = fixture.open_with(Options { create: true, strict, ..Options::default() });
        let mut session = informix(&database);
        run(&mut session, "create table t (k int)").unwrap();
        for (sql, idle) in statements {
            match run(&mut session, sql) {
                Ok(_) => {
                    assert!(!strict || idle.is_empty(), "{sql}");
                    let told: Vec<String> = idle.iter().map(|what| format!("{what} has no effect here")).collect();
                    let remarks: Vec<String> =
                        session.drain_notices().into_iter().map(|told| told.message.clone()).collect();
                    assert_eq!(remarks, told, "{sql}");
                }
                Err(error) => {
                    assert!(strict && !idle.is_empty(), "{sql}: {error:?}");
                    let refused = format!("{}, which has no effect here, is not supported", idle[0]);
                    assert_eq!((error.condition().sqlstate(), error.message.clone()), ("0A000", refused), "{sql}");
                }
            }
        }
    }
}
