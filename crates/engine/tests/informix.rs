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

files! { queries, expressions, functions, changes, definitions, errors, catalogs, triggers, views, hierarchies, windows, documents, alterations, manual, encryption, parts, aggregates }

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
