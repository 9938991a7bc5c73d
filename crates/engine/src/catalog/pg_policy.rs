//! `pg_policy` and `pg_policies`.

use std::sync::Arc;

use rowferry_dialect::access::PUBLIC;
use rowferry_dialect::schema::{Policy, Relation};

use super::{Context, Row, Table, array, describe, row, text_array};
use crate::schema::SessionSchema;

pub(super) const TABLES: &[Table] =
    &[Table::pg_catalog("pg_policies", shown), Table::pg_catalog("pg_policy", policies)];

/// A condition as PostgreSQL prints it.
fn condition(schema: &SessionSchema, table: &Arc<Relation>, text: Option<&str>) -> Option<String> {
    text.map(|text| describe::expression(schema, table, text, false))
}

fn policies(context: &Context<'_>) -> Vec<Row> {
    let schema = context.schema;
    let row = |(table, policy): (&Arc<Relation>, &Arc<Policy>)| {
        row![
            policy.oid,
            &policy.name,
            table.oid,
            policy.command.letter(),
            policy.permissive,
            array(policy.roles.iter()),
            condition(schema, table, policy.using.as_deref()),
            condition(schema, table, policy.check.as_deref()),
        ]
    };
    // In the order in which they were made.
    let mut all: Vec<_> = schema.policies().collect();
    all.sort_by_key(|(_, policy)| policy.oid);
    all.into_iter().map(row).collect()
}

fn shown(context: &Context<'_>) -> Vec<Row> {
    let schema = context.schema;
    let row = |(table, policy): (&Arc<Relation>, &Arc<Policy>)| {
        let name = |role: &u32| if *role == PUBLIC { Some("public".to_owned()) } else { schema.role_name(*role) };
        let mut roles: Vec<String> = policy.roles.iter().filter_map(name).collect();
        roles.sort();
        row![
            &table.namespace,
            &table.name,
            &policy.name,
            if policy.permissive { "PERMISSIVE" } else { "RESTRICTIVE" },
            text_array(roles.iter().map(String::as_str)),
            policy.command.word(),
            condition(schema, table, policy.using.as_deref()),
            condition(schema, table, policy.check.as_deref()),
        ]
    };
    schema.policies().map(row).collect()
}

/// COMMENT ON POLICY.
pub fn comment(schema: &SessionSchema, oid: u32) -> Option<String> {
    schema.policies().find(|(_, policy)| policy.oid == oid)?.1.comment.clone()
}
