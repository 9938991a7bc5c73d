//! `pg_hba_file_rules` and `pg_ident_file_mappings`: the lines of the server's files of rules and of user name maps, as
//! they are now.

use super::{Cell, Context, NULL, Row, Table, row, text_array};
use crate::host_rules::{HostRule, NameMapping};

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_hba_file_rules", rows).live(),
    Table::pg_catalog("pg_ident_file_mappings", mappings).live(),
];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let Some(database) = context.state.database.upgrade() else { return Vec::new() };
    let rules = database.host_rules.get().map(|rules| (rules.0)()).unwrap_or_default();
    rules.into_iter().map(line).collect()
}

fn mappings(context: &Context<'_>) -> Vec<Row> {
    let Some(database) = context.state.database.upgrade() else { return Vec::new() };
    let mappings = database.name_mappings.get().map(|mappings| (mappings.0)()).unwrap_or_default();
    mappings.into_iter().map(mapping).collect()
}

fn mapping(mapping: NameMapping) -> Row {
    let [map, system, user] = mapping.names.map_or([NULL, NULL, NULL], |names| names.map(Cell::from));
    row![i64::try_from(mapping.line).unwrap_or_default(), map, system, user, mapping.error]
}

fn line(rule: HostRule) -> Row {
    let is_right = rule.error.is_none();
    let names = |names: &[String]| match is_right {
        true => Cell::from(text_array(names.iter().map(String::as_str))),
        false => NULL,
    };
    let options = if rule.options.is_empty() { NULL } else { names(&rule.options) };
    row![
        i64::try_from(rule.line).unwrap_or_default(),
        rule.kind,
        names(&rule.databases),
        names(&rule.users),
        rule.address,
        rule.netmask,
        rule.method,
        options,
        rule.error,
    ]
}
