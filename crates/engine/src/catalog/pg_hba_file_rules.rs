//! `pg_hba_file_rules`: the lines of the server's file of rules, as it is now.

use super::{Cell, Context, NULL, Row, Table, row, text_array};
use crate::host_rules::HostRule;

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_hba_file_rules", rows).live()];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let Some(database) = context.state.database.upgrade() else { return Vec::new() };
    let rules = database.host_rules.get().map(|rules| (rules.0)()).unwrap_or_default();
    rules.into_iter().map(line).collect()
}

fn line(rule: HostRule) -> Row {
    let is_right = rule.error.is_none();
    let names = |names: &[String]| match is_right {
        true => Cell::from(text_array(names.iter().map(String::as_str))),
        false => NULL,
    };
    row![
        i64::try_from(rule.line).unwrap_or_default(),
        rule.kind,
        names(&rule.databases),
        names(&rule.users),
        rule.address,
        rule.netmask,
        rule.method,
        NULL,
        rule.error,
    ]
}
