//! What `information_schema` says of the SQL standard: features, parts, sizes, and how some of it is done here.

use rowferry_facts::{StandardFeature, StandardPart, StandardSize};

use super::information_schema::yes;
use super::{Cell, Context, NULL, Row, Table, row};
use crate::settings::SERVER_VERSION;

pub(super) const TABLES: &[Table] = &[
    Table::information_schema("sql_features", |_| {
        let row = |feature: &StandardFeature| {
            let StandardFeature { id, name, part, part_name, supported } = *feature;
            row![id, name, part, part_name, yes(supported), NULL, ""]
        };
        StandardFeature::all().iter().map(row).collect()
    }),
    Table::information_schema("sql_implementation_info", implementation),
    Table::information_schema("sql_parts", |_| {
        let row = |part: &StandardPart| row![part.number, part.name, yes(part.supported), NULL, ""];
        StandardPart::all().iter().map(row).collect()
    }),
    Table::information_schema("sql_sizing", |_| {
        let row = |size: &StandardSize| row![size.id, size.name, size.value.parse::<i64>().ok(), NULL];
        StandardSize::all().iter().map(row).collect()
    }),
];

/// The items of the standard's call level interface, with their numbers there.
fn implementation(_: &Context<'_>) -> Vec<Row> {
    let number = |id: &str, name: &str, value: i32| row![id, name, value, NULL, NULL];
    let text = |id: &str, name: &str, value: &str| row![id, name, NULL, value, NULL];
    vec![
        text("10003", "CATALOG NAME", "Y"),
        text("10004", "COLLATING SEQUENCE", "ucs_basic"),
        number("23", "CURSOR COMMIT BEHAVIOR", 1),
        text("2", "DATA SOURCE NAME", ""),
        text("17", "DBMS NAME", "PostgreSQL"),
        row!["18", "DBMS VERSION", NULL, Cell::from(format!("{SERVER_VERSION}.0000")), NULL],
        number("26", "DEFAULT TRANSACTION ISOLATION", 2),
        number("28", "IDENTIFIER CASE", 3),
        number("85", "NULL COLLATION", 0),
        text("13", "SERVER NAME", ""),
        text("94", "SPECIAL CHARACTERS", ""),
        number("46", "TRANSACTION CAPABLE", 2),
    ]
}
