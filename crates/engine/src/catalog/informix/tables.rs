//! `systables`.

use super::{Cell, OWNER, Row, Table, View, coltype, int, is_view, own, tabid, text};
use crate::catalog::columns_of;

pub(super) const TABLES: &[Table] = &[SYSTABLES];

const SYSTABLES: Table = Table {
    namespace: "informix",
    live: false,
    one: None,
    chunks: None,
    name: "systables",
    columns: "tabname varchar(128), owner char(32), partnum integer, tabid serial, rowsize smallint, \
            ncols smallint, nindexes smallint, nrows float, created date, version integer, tabtype char(1), \
            locklevel char(1), npused float, fextsize integer, nextsize integer, flags smallint, \
            site varchar(128), dbname varchar(128), type_xid integer, am_id integer, pagesize integer, \
            ustlowts datetime year to fraction(5), secpolicyid integer, protgranularity char(1), \
            statchange smallint, statlevel char(1)",
    rows: |context| rows(&View::of(context)),
};

/// What the locale's rows say of the database.
const LOCALE: &str = "en_US.819";
/// Numbers of the rows that describe the database itself, behind the catalog's own tables.
const SPECIAL: [(&str, i64); 3] = [(" GL_COLLATE", 90), (" GL_CTYPE", 91), (" VERSION", 92)];

struct Entry<'a> {
    name: &'a str,
    id: i64,
    kind: &'static str,
    columns: usize,
    indexes: usize,
    width: i64,
    site: &'static str,
    owner: &'a str,
}

fn rows(view: &View) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, table) in own().enumerate() {
        rows.push(row(Entry {
            name: table.name,
            id: at as i64 + 1,
            kind: "T",
            columns: columns_of(table).len(),
            indexes: 0,
            width: 0,
            site: "",
            owner: OWNER,
        }));
    }
    for (name, id) in SPECIAL {
        let site = if name.starts_with(" GL") { LOCALE } else { "" };
        rows.push(row(Entry { name, id, kind: "", columns: 0, indexes: 0, width: 0, site, owner: OWNER }));
    }
    let named = |name, id: u32, kind| {
        row(Entry { name, id: i64::from(id), kind, columns: 0, indexes: 0, width: 0, site: "", owner: view.owner(id) })
    };
    rows.extend(view.synonyms.iter().map(|synonym| named(&synonym.name, synonym.oid, "S")));
    // Those behind columns are no objects of their own to Informix.
    rows.extend(
        view.sequences
            .iter()
            .filter(|sequence| view.free_sequences.contains(&sequence.oid))
            .map(|sequence| named(&sequence.name, sequence.oid, "Q")),
    );
    for relation in &view.relations {
        rows.push(row(Entry {
            name: &relation.name,
            id: tabid(relation),
            kind: if is_view(relation) { "V" } else { "T" },
            columns: relation.columns.len(),
            indexes: relation.ordinary_indexes().count(),
            width: relation.columns.iter().map(|column| coltype(column).1 & 0xff).sum(),
            site: "",
            owner: view.owner(relation.oid),
        }));
    }
    rows
}

fn row(entry: Entry<'_>) -> Row {
    vec![
        text(entry.name),
        text(entry.owner),
        int(0x0010_0000 + entry.id),
        int(entry.id),
        int(entry.width.min(i64::from(i16::MAX))),
        int(entry.columns as i64),
        int(entry.indexes as i64),
        // Nobody has counted; a number other than 0 would be read as an estimate.
        Cell::Real(0.0),
        text("2026-01-01"),
        int(65_536 + entry.id),
        text(entry.kind),
        text("R"),
        Cell::Real(0.0),
        int(16),
        int(16),
        int(0),
        text(entry.site),
        text(""),
        int(0),
        int(0),
        int(4_096),
        Cell::Null,
        int(0),
        text(""),
        int(0),
        text("A"),
    ]
}
