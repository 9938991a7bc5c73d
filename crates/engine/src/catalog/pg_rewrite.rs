//! `pg_rewrite` and `pg_rules`; `pg_get_ruledef`.

use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::plan::Context as PlanContext;
use rowferry_dialect::postgres::{self, quote_ident};
use rowferry_dialect::schema::{QualifiedName, Relation, RelationKind, Rule};
use rowferry_dialect::values::Settings;

use super::object_names::rule_oid;
use super::{Context, Row, Table, describe, row};
use crate::schema::SessionSchema;

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_rewrite", rewrite), Table::pg_catalog("pg_rules", rules)];

/// Views, which PostgreSQL keeps as rules.
fn views(schema: &SessionSchema) -> impl Iterator<Item = &Arc<Relation>> {
    let is_view = |relation: &&Arc<Relation>| {
        matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView) || relation.is_materialized()
    };
    schema.user_relations().filter(is_view)
}

fn rewrite(context: &Context<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = views(context.schema)
        .map(|view| row![rule_oid(view.oid), Rule::RETURN, view.oid, "1", "O", true, "<>", "<>"])
        .collect();
    let row = |(relation, rule): (&Arc<Relation>, &Arc<Rule>)| {
        row![rule.oid, &rule.name, relation.oid, rule.digit(), rule.state.letter(), rule.instead, "<>", "<>"]
    };
    rows.extend(context.schema.rules().map(row));
    rows
}

fn rules(context: &Context<'_>) -> Vec<Row> {
    let schema = context.schema;
    let row = |(relation, rule): (&Arc<Relation>, &Arc<Rule>)| {
        let definition = printed(schema, relation, rule, &Settings::default(), false);
        row![&relation.namespace, &relation.name, &rule.name, definition]
    };
    schema.rules().map(row).collect()
}

/// A rule's definition, or that of the rule behind a view.
pub fn definition(schema: &SessionSchema, oid: u32, settings: &Settings, pretty: bool) -> Option<String> {
    if let Some((relation, rule)) = schema.rules().find(|(_, rule)| rule.oid == oid) {
        return Some(printed(schema, relation, rule, settings, pretty));
    }
    let view = views(schema).find(|view| rule_oid(view.oid) == oid)?;
    let query = describe::view(schema, view.oid, settings, pretty, 0)?;
    let (name, on) = (quote_ident(Rule::RETURN), called(schema, view, pretty));
    Some(format!("CREATE RULE {name} AS\n    ON SELECT TO {on} DO INSTEAD {query}"))
}

/// Its name; without its schema where it is to be pretty and can be found so.
fn called(schema: &SessionSchema, relation: &Relation, pretty: bool) -> String {
    let found = || schema.relation(&QualifiedName::bare(&relation.name));
    if pretty && found().is_some_and(|found| found.oid == relation.oid) {
        return quote_ident(&relation.name);
    }
    format!("{}.{}", quote_ident(&relation.namespace), quote_ident(&relation.name))
}

/// What has no printed form is shown as it is kept.
fn printed(schema: &SessionSchema, relation: &Arc<Relation>, rule: &Rule, settings: &Settings, pretty: bool) -> String {
    let context = PlanContext::default();
    let found = postgres::rule_definition(rule, relation, schema, &context, settings, pretty);
    found.unwrap_or_else(|| {
        let condition = rule.condition.as_ref().map(|text| format!("\n   WHERE {text}")).unwrap_or_default();
        let instead = if rule.instead { "INSTEAD " } else { "" };
        let actions = match rule.actions.as_slice() {
            [] => "NOTHING".to_owned(),
            actions => format!("({})", actions.join("; ")),
        };
        let (name, on) = (quote_ident(&rule.name), called(schema, relation, pretty));
        format!("CREATE RULE {name} AS\n    ON {} TO {on}{condition} DO {instead}{actions};", rule.event.words())
    })
}

/// COMMENT ON RULE.
pub fn comment(schema: &SessionSchema, oid: u32) -> Option<String> {
    schema.rules().find(|(_, rule)| rule.oid == oid)?.1.comment.clone()
}
