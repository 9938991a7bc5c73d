//! `pg_tables`, `pg_views`, `pg_matviews`, `pg_description`: views over the other catalogs, and comments.

use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::values::Settings;

use super::{Context, NULL, Row, Table, describe, row};
use crate::schema::SessionSchema;

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_tables", tables),
    Table::pg_catalog("pg_views", views),
    Table::pg_catalog("pg_matviews", materialized_views),
    Table::pg_catalog("pg_description", descriptions),
];

fn tables(context: &Context<'_>) -> Vec<Row> {
    let rights = context.schema.rights();
    let owner = |oid| super::pg_roles::owner_name(context.schema, &rights, oid);
    let of_users = context.schema.user_relations().map(|relation| (relation, owner(relation.oid)));
    of_users
        .chain(super::postgres_relations().map(|relation| (relation, "postgres".to_owned())))
        .filter(|(relation, _)| matches!(relation.kind, RelationKind::Table | RelationKind::Catalog))
        .filter(|(relation, _)| !super::is_view(relation))
        .map(|(relation, owner)| {
            let triggers = !relation.triggers.is_empty()
                || context.schema.details(relation.oid).is_some_and(|details| !details.triggers.is_empty());
            let secured = relation.security.as_ref().is_some_and(|security| security.enabled);
            let of_catalog = relation.namespace == crate::schema::PG_CATALOG;
            let indexed =
                !relation.indexes.is_empty() || (of_catalog && super::system_indexes::has_some(&relation.name));
            let rules = !relation.rules.is_empty();
            row![&relation.namespace, &relation.name, owner, NULL, indexed, rules, triggers, secured]
        })
        .collect()
}

fn views(context: &Context<'_>) -> Vec<Row> {
    let views = context.schema.user_relations();
    let rights = context.schema.rights();
    let views = views.filter(|relation| matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView));
    // The queries of PostgreSQL's own views are its own text.
    let own = super::postgres_relations().filter(|relation| super::is_view(relation));
    let row = |view: &Arc<Relation>| row![&view.namespace, &view.name, "postgres", NULL];
    let mut rows: Vec<Row> = own.map(row).collect();
    rows.extend(views.map(|relation| {
        let owner = super::pg_roles::owner_name(context.schema, &rights, relation.oid);
        let definition = describe::view(context.schema, relation.oid, &Settings::default(), false, 0);
        row![&relation.namespace, &relation.name, owner, definition]
    }));
    rows
}

fn materialized_views(context: &Context<'_>) -> Vec<Row> {
    let rights = context.schema.rights();
    let views = context.schema.user_relations().filter_map(|relation| match relation.kind {
        RelationKind::MaterializedView { populated, .. } => Some((relation, populated)),
        _ => None,
    });
    views
        .map(|(relation, populated)| {
            let owner = super::pg_roles::owner_name(context.schema, &rights, relation.oid);
            let definition = describe::view(context.schema, relation.oid, &Settings::default(), false, 0);
            let indexed = !relation.indexes.is_empty();
            row![&relation.namespace, &relation.name, owner, NULL, indexed, populated, definition]
        })
        .collect()
}

/// What is said of an object that nobody has commented on: pg_dump tells of another comment on the schema `public`.
pub fn default_comment(schema: &SessionSchema, object: u32) -> Option<&'static str> {
    let untouched = || schema.main.comments.iter().all(|(oid, _)| *oid != object);
    (object == super::pg_namespace::PUBLIC && untouched()).then_some("standard public schema")
}

fn descriptions(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        let Some(details) = context.schema.details(relation.oid) else { continue };
        if let Some(comment) = &details.comment {
            rows.push(row![relation.oid, 1_259, 0, comment]);
        }
        for (column, comment) in &details.column_comments {
            rows.push(row![relation.oid, 1_259, relation.number_of(*column), comment]);
        }
    }
    for details in context.schema.sequences() {
        if let Some(comment) = &details.comment {
            rows.push(row![details.sequence.oid, 1_259, 0, comment]);
        }
    }
    for ty in context.schema.user_types() {
        if let Some(comment) = &ty.comment {
            rows.push(row![ty.oid, 1_247, 0, comment]);
        }
        let Some(composite) = ty.composite().filter(|_| !ty.is_row_type()) else { continue };
        for (at, field) in composite.live() {
            if let Some(comment) = &field.comment {
                rows.push(row![composite.relation, 1_259, at as i32 + 1, comment]);
            }
        }
    }
    rows.extend(super::pg_extension::comments(context));
    if let Some(comment) = default_comment(context.schema, super::pg_namespace::PUBLIC) {
        rows.push(row![super::pg_namespace::PUBLIC, 2_615, 0, comment]);
    }
    for (oid, (kind, comment)) in context.schema.main.comments.iter() {
        let catalog = match kind.as_str() {
            "schema" => 2_615,
            "collation" => 3_456,
            "domain constraint" => 2_606,
            "search dictionary" => 3_600,
            "statistics" => 3_381,
            "search configuration" => 3_602,
            "cast" => 2_605,
            "operator" => 2_617,
            "language" => 2_612,
            "access method" => 2_601,
            "conversion" => 2_607,
            "operator class" => 2_616,
            "operator family" => 2_753,
            _ => 1_255,
        };
        rows.push(row![*oid, catalog, 0, comment]);
    }
    let parts = describe::part_comments(context.schema).into_iter();
    rows.extend(parts.map(|(oid, catalog, comment)| row![oid, catalog, 0, comment]));
    let triggers = super::pg_trigger::all(context.schema);
    rows.extend(triggers.filter_map(|(_, trigger)| Some(row![trigger.oid, 2_620, 0, trigger.comment.as_ref()?])));
    let policies = context.schema.policies();
    let policies = policies.filter_map(|(_, policy)| Some((policy.oid, policy.comment.as_ref()?)));
    rows.extend(policies.map(|(oid, comment)| row![oid, 3_256, 0, comment]));
    let rules = context.schema.rules().filter_map(|(_, rule)| Some((rule.oid, rule.comment.as_ref()?)));
    rows.extend(rules.map(|(oid, comment)| row![oid, 2_618, 0, comment]));
    rows
}
