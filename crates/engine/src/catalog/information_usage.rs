//! What uses what, as `information_schema` tells it: views and constraints; and collations with their character sets.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::collation::Collation;
use rowferry_dialect::plan::Context as PlanContext;
use rowferry_dialect::postgres;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::uses::Dependency;

use super::information_schema::{catalog_keys, shown_relations};
use super::{Context, NULL, Row, Table, describe, information_routines, row};
use crate::schema::PG_CATALOG;

pub(super) const TABLES: &[Table] = &[
    Table::information_schema("character_sets", |context| {
        vec![row![NULL, NULL, "UTF8", "UCS", "UTF8", &context.database.name, NULL, NULL]]
    }),
    Table::information_schema("collation_character_set_applicability", |context| {
        let row = |of: &Arc<Collation>| row![&context.database.name, &of.namespace, &of.name, NULL, NULL, "UTF8"];
        all_collations(context).map(row).collect()
    }),
    Table::information_schema("collations", |context| {
        let row = |of: &Arc<Collation>| row![&context.database.name, &of.namespace, &of.name, "NO PAD"];
        all_collations(context).map(row).collect()
    }),
    Table::information_schema("check_constraint_routine_usage", check_routines),
    Table::information_schema("column_column_usage", computed_columns),
    Table::information_schema("constraint_table_usage", constraint_tables),
    Table::information_schema("information_schema_catalog_name", |context| vec![row![&context.database.name]]),
    Table::information_schema("routine_column_usage", routine_columns),
    Table::information_schema("routine_routine_usage", routine_routines),
    Table::information_schema("routine_sequence_usage", routine_sequences),
    Table::information_schema("routine_table_usage", routine_tables),
    Table::information_schema("view_column_usage", view_columns),
    Table::information_schema("view_routine_usage", view_routines),
    Table::information_schema("view_table_usage", view_tables),
];

/// Those that are built in, and those that users have made.
pub(super) fn all_collations<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<Collation>> {
    let made = context.schema.main.collations.iter().filter(|collation| !collation.is_built_in());
    Collation::all().iter().chain(made)
}

/// Columns that others are computed from.
fn computed_columns(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let rights = context.schema.rights();
    let mut rows = Vec::new();
    for relation in context.schema.user_relations().filter(|relation| rights.owns(relation.oid)) {
        for column in &relation.columns {
            let Some(generated) = &column.generated else { continue };
            let (schema, table) = (&relation.namespace, &relation.name);
            let of = describe::columns_of(context.schema, relation, &generated.text).into_iter();
            rows.extend(of.map(|at| row![catalog, schema, table, &relation.columns[at].name, &column.name]));
        }
    }
    rows
}

/// Routines that checks of tables call.
fn check_routines(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let rights = context.schema.rights();
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for check in relation.told_checks() {
            for oid in describe::routines_of(context.schema, relation, &check.text) {
                let Some(function) = context.schema.function_by_oid(oid).filter(|_| rights.owns(oid)) else { continue };
                let specific = information_routines::specific(&function.name, oid);
                let (schema, name) = (&relation.namespace, &check.name);
                let row = row![catalog, schema, name, catalog, &function.namespace, specific];
                // What a table inherits is told once.
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
    }
    rows
}

/// Keys by the tables that they are on, foreign keys by those that they refer to.
fn constraint_tables(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for key in catalog_keys() {
        rows.push(row![catalog, PG_CATALOG, key.relation, catalog, PG_CATALOG, key.name]);
    }
    for relation in context.schema.user_relations() {
        let schema = &relation.namespace;
        let keys = relation.indexes.iter().filter(|index| index.constraint && index.exclusion.is_none());
        rows.extend(keys.map(|index| row![catalog, schema, &relation.name, catalog, schema, &index.name]));
        for key in &relation.foreign_keys {
            let Some(target) = context.schema.relation(&key.target) else { continue };
            rows.push(row![catalog, &target.namespace, &target.name, catalog, schema, &key.name]);
        }
    }
    rows
}

/// Views, each with a relation that it reads and the columns of it.
fn view_uses(context: &Context<'_>, mut found: impl FnMut([&str; 4], Option<&str>)) {
    let rights = context.schema.rights();
    for target in shown_relations(context) {
        if !rights.owns(target.oid) {
            continue;
        }
        // The standard knows no materialised views.
        for (view, needs) in context.schema.users(target.oid).filter(|(view, _)| !view.is_materialized()) {
            let names = [view.namespace.as_str(), &view.name, &target.namespace, &target.name];
            let of_target = needs.iter().filter(|(oid, _)| *oid == target.oid);
            of_target.for_each(|(_, column)| found(names, column.as_deref()));
        }
    }
}

fn view_tables(context: &Context<'_>) -> Vec<Row> {
    let mut pairs = BTreeSet::new();
    view_uses(context, |names, _| {
        pairs.insert(names.map(str::to_owned));
    });
    let catalog = &context.database.name;
    pairs.into_iter().map(|[schema, view, of, table]| row![catalog, schema, view, catalog, of, table]).collect()
}

fn view_columns(context: &Context<'_>) -> Vec<Row> {
    let mut uses = BTreeSet::new();
    view_uses(context, |names, column| {
        uses.extend(column.map(|column| (names.map(str::to_owned), column.to_owned())));
    });
    let catalog = &context.database.name;
    let row = |([schema, view, of, table], column): ([String; 4], String)| {
        row![catalog, schema, view, catalog, of, table, column]
    };
    uses.into_iter().map(row).collect()
}

/// A row for what a function's defaults, or its body in SQL's own grammar, name, where it is something to tell: the
/// function's own columns, and those of what is named.
fn body_uses(context: &Context<'_>, named: impl Fn(&Dependency) -> Option<Row>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for function in context.schema.stored_functions() {
        let uses = postgres::body_uses(function, context.schema, &PlanContext::default());
        let specific = information_routines::specific(&function.name, function.oid);
        let (schema, name) = (&function.namespace, &function.name);
        let own = row![catalog, schema, specific, catalog, schema, name, catalog];
        rows.extend(uses.iter().filter_map(&named).map(|named| [own.as_slice(), &named].concat()));
    }
    rows
}

/// A table of the user's that is named.
fn own_table(context: &Context<'_>, oid: u32) -> Option<Arc<Relation>> {
    let table = context.schema.relation_by_oid(oid).filter(|_| context.schema.rights().owns(oid))?;
    (!matches!(table.kind, RelationKind::Sequence { .. })).then_some(table)
}

fn routine_columns(context: &Context<'_>) -> Vec<Row> {
    body_uses(context, |(oid, column)| {
        let (table, column) = own_table(context, *oid).zip(column.as_ref())?;
        Some(row![&table.namespace, &table.name, column])
    })
}

fn routine_tables(context: &Context<'_>) -> Vec<Row> {
    body_uses(context, |(oid, column)| {
        let table = own_table(context, *oid).filter(|_| column.is_none())?;
        Some(row![&table.namespace, &table.name])
    })
}

fn routine_sequences(context: &Context<'_>) -> Vec<Row> {
    body_uses(context, |(oid, _)| {
        let details = context.schema.sequence_by_oid(*oid).filter(|_| context.schema.rights().owns(*oid))?;
        Some(row![&details.sequence.namespace, &details.sequence.name])
    })
}

fn routine_routines(context: &Context<'_>) -> Vec<Row> {
    let mut rows = body_uses(context, |(oid, _)| {
        let called = context.schema.function_by_oid(*oid).filter(|_| context.schema.rights().owns(*oid))?;
        Some(row![&called.namespace, information_routines::specific(&called.name, called.oid)])
    });
    // Of the function itself it has the specific name alone.
    rows.iter_mut().for_each(|row| drop(row.drain(3..6)));
    rows
}

fn view_routines(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for routine in information_routines::all(context, &context.schema.rights()) {
        let views: BTreeSet<(&str, &str)> =
            context.schema.users(routine.oid).map(|(view, _)| (view.namespace.as_str(), view.name.as_str())).collect();
        let row =
            |(schema, view): (&str, &str)| row![catalog, schema, view, catalog, &routine.schema, routine.specific()];
        rows.extend(views.into_iter().map(row));
    }
    rows
}
