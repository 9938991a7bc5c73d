//! `syscolumns`.

use rowferry_dialect::informix::codes::type_code;
use rowferry_dialect::informix::type_from_words;

use super::{Cell, Row, Table, View, coltype, int, own, tabid, text};

pub(super) const TABLES: &[Table] = &[SYSCOLUMNS];

const SYSCOLUMNS: Table = Table {
    namespace: "informix",
    live: false,
    one: None,
    chunks: None,
    name: "syscolumns",
    columns: "colname varchar(128), tabid integer, colno smallint, coltype smallint, collength smallint, \
            colmin integer, colmax integer, extended_id integer, seclabelid integer, colattr smallint",
    rows: |context| rows(&View::of(context)),
};

fn rows(view: &View) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, table) in own().enumerate() {
        for (number, part) in table.columns.split(", ").enumerate() {
            let Some((name, words)) = part.split_once(' ') else { continue };
            let Ok(ty) = type_from_words(words) else { continue };
            let code = type_code(&ty, words.starts_with("serial"));
            rows.push(row(
                name,
                at as i64 + 1,
                number,
                (i64::from(code.code), i64::from(code.length), i64::from(code.extended_id)),
            ));
        }
    }
    for relation in &view.relations {
        for (number, column) in relation.columns.iter().enumerate() {
            rows.push(row(&column.name, tabid(relation), number, coltype(column)));
        }
    }
    rows
}

fn row(name: &str, table: i64, number: usize, (code, length, extended): (i64, i64, i64)) -> Row {
    vec![
        text(name),
        int(table),
        int(number as i64 + 1),
        int(code),
        int(length.min(i64::from(i16::MAX))),
        Cell::Null,
        Cell::Null,
        int(extended),
        int(0),
        int(0),
    ]
}
