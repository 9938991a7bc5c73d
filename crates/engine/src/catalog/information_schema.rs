//! `information_schema`: the standard's view of the same things.

use std::sync::Arc;

use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerTime};
use rowferry_dialect::postgres::types;
use rowferry_dialect::schema::{CheckOption, ForeignKey, Index, Relation, RelationKind};
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Schema as _, Type};
use rowferry_facts as facts;

use super::describe::{self, target_columns};
use super::information_types::{self, Measures, Names, standard_type};
use super::names::NAMESPACES;
use super::pg_attribute::collation_of;
use super::{Context, NULL, Row, Table, row};
use crate::schema::{INFORMATION_SCHEMA, INFORMIX, PG_CATALOG, PG_TEMP};

/// Bits of what can be done to a relation's rows.
const INSERT: i32 = 1 << 3;
const UPDATE_AND_DELETE: i32 = (1 << 2) | (1 << 4);

pub(super) const TABLES: &[Table] = &[
    Table::information_schema("schemata", schemata),
    Table::information_schema("tables", tables),
    Table::information_schema("columns", columns),
    Table::information_schema("views", views),
    Table::information_schema("table_constraints", table_constraints),
    Table::information_schema("key_column_usage", key_column_usage),
    Table::information_schema("constraint_column_usage", constraint_column_usage),
    Table::information_schema("referential_constraints", referential_constraints),
    Table::information_schema("check_constraints", check_constraints),
    Table::information_schema("sequences", sequences),
];

pub(super) fn yes(truth: bool) -> &'static str {
    if truth { "YES" } else { "NO" }
}

fn schemata(context: &Context<'_>) -> Vec<Row> {
    let fixed = NAMESPACES.iter().map(|(_, name)| *name).filter(|name| !matches!(*name, INFORMIX | PG_TEMP));
    let made = context.schema.main.namespaces.iter().map(|namespace| namespace.name.as_str());
    let rights = context.schema.rights();
    fixed
        .chain(made)
        .map(|name| {
            let owner = super::pg_roles::owner_name(context.schema, &rights, context.schema.namespace_oid(name));
            row![&context.database.name, name, owner, NULL, NULL, NULL, NULL]
        })
        .collect()
}

fn is_view(kind: &RelationKind) -> bool {
    matches!(kind, RelationKind::View { .. } | RelationKind::NativeView)
}

/// Users' relations and PostgreSQL's own.
pub(super) fn shown_relations<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Arc<Relation>> {
    let catalogs = super::relations();
    let catalogs = catalogs.filter(|relation| [PG_CATALOG, INFORMATION_SCHEMA].contains(&relation.namespace.as_str()));
    // The standard knows no materialised views.
    context.schema.user_relations().filter(|relation| !relation.is_materialized()).chain(catalogs)
}

/// The keys of PostgreSQL's own tables.
pub(super) fn catalog_keys() -> impl Iterator<Item = &'static facts::Index> {
    facts::Index::all().iter().filter(|index| index.is_constraint)
}

/// The names of the columns of a key of PostgreSQL's own.
fn key_columns(key: &facts::Index) -> impl Iterator<Item = &'static str> {
    let columns = facts::Relation::columns(PG_CATALOG, key.relation);
    key.columns.iter().filter_map(|number| Some(columns.get(*number as usize - 1)?.name))
}

/// Columns of tables that are never NULL, with the names that the standard has for their constraints.
fn not_null<'a>(context: &'a Context<'_>) -> impl Iterator<Item = (&'a Arc<Relation>, &'a str, String)> {
    let tables = shown_relations(context).filter(|relation| !super::is_view(relation));
    tables.flat_map(|relation| {
        let namespace = super::names::namespace_oid(context.schema, &relation.namespace);
        let columns = relation.columns.iter().enumerate().filter(|(_, column)| column.not_null);
        columns.map(move |(at, column)| {
            (
                relation,
                column.name.as_str(),
                format!("{namespace}_{}_{}_not_null", relation.oid, relation.number_of(at)),
            )
        })
    })
}

fn tables(context: &Context<'_>) -> Vec<Row> {
    shown_relations(context)
        .map(|relation| {
            let kind = if super::is_view(relation) {
                "VIEW"
            } else if relation.namespace == PG_TEMP {
                "LOCAL TEMPORARY"
            } else {
                "BASE TABLE"
            };
            let insertable = yes(describe::updatable(context.schema, relation).events & INSERT != 0);
            row![
                &context.database.name,
                &relation.namespace,
                &relation.name,
                kind,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                insertable,
                "NO",
                NULL
            ]
        })
        .collect()
}

fn columns(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for relation in shown_relations(context) {
        let updatable = describe::updatable(context.schema, relation).columns;
        for (at, column) in relation.columns.iter().enumerate() {
            let ty = types::import(&column.ty);
            let standard = standard_type(relation, at);
            let domain = match &ty {
                Type::User(user) if user.domain().is_some() => Some((user.namespace.clone(), user.name.clone())),
                _ => {
                    let named = standard.filter(|name| super::standard_types::named(name).is_some());
                    named.map(|name| (INFORMATION_SCHEMA.to_owned(), name.to_owned()))
                }
            };
            let ty = ty.through_domains().clone();
            let names = Names::of_column(context.schema, &ty, standard);
            let Measures { length, octets, precision, radix, scale, digits, interval } = Measures::of(&ty);
            let own = column.collation.as_ref().map(|collation| collation.oid);
            let of_domain = standard.and_then(super::standard_types::named).map(|domain| domain.collation);
            let collation = own.or(of_domain).unwrap_or_else(|| collation_of(&ty));
            let [collation_catalog, collation_schema, collation_name] =
                information_types::collation(catalog, collation);
            let identity = column.identity.as_ref();
            let sequence = context
                .schema
                .sequences()
                .find(|details| identity.is_some() && details.owner == Some((relation.oid, at)));
            let default =
                describe::default_expression(context.schema, relation, at).filter(|_| column.generated.is_none());
            rows.push(row![
                catalog,
                &relation.namespace,
                &relation.name,
                &column.name,
                relation.number_of(at),
                default,
                yes(!column.not_null),
                names.words,
                length,
                octets,
                precision,
                radix,
                scale,
                digits,
                interval,
                NULL,
                NULL,
                NULL,
                NULL,
                collation_catalog,
                collation_schema,
                collation_name,
                domain.as_ref().map(|_| catalog),
                domain.as_ref().map(|(namespace, _)| namespace),
                domain.as_ref().map(|(_, name)| name),
                catalog,
                names.schema,
                names.name,
                NULL,
                NULL,
                NULL,
                NULL,
                relation.number_of(at).to_string(),
                "NO",
                yes(identity.is_some()),
                identity.map(|identity| if identity.always { "ALWAYS" } else { "BY DEFAULT" }),
                sequence.map(|details| details.start.to_string()),
                sequence.map(|details| details.increment.to_string()),
                sequence.map(|details| details.max.to_string()),
                sequence.map(|details| details.min.to_string()),
                sequence.map_or("NO", |details| yes(details.cycle)),
                if column.generated.is_some() { "ALWAYS" } else { "NEVER" },
                column.generated.as_ref().and_then(|_| describe::default_expression(context.schema, relation, at)),
                yes(updatable[at]),
            ]);
        }
    }
    rows
}

fn views(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    // The queries of PostgreSQL's own views are its own text.
    let row =
        |view: &Arc<Relation>| row![catalog, &view.namespace, &view.name, NULL, "NONE", "NO", "NO", "NO", "NO", "NO"];
    let mut rows: Vec<Row> = super::postgres_relations().filter(|view| super::is_view(view)).map(row).collect();
    let relations = context.schema.user_relations().filter(|relation| is_view(&relation.kind));
    rows.extend(relations.map(|relation| {
        let check = match &relation.kind {
            RelationKind::View { options, .. } => options.check(),
            _ => None,
        };
        let events = describe::updatable(context.schema, relation).events;
        let by_trigger = |event| yes(relation.has_trigger(TriggerTime::InsteadOf, TriggerLevel::Row, event));
        row![
            &context.database.name,
            &relation.namespace,
            &relation.name,
            describe::view(context.schema, relation.oid, &Settings::default(), false, 0),
            match check {
                None => "NONE",
                Some(CheckOption::Local) => "LOCAL",
                Some(CheckOption::Cascaded) => "CASCADED",
            },
            yes(events & UPDATE_AND_DELETE == UPDATE_AND_DELETE),
            yes(events & INSERT != 0),
            by_trigger(TriggerEvent::Update),
            by_trigger(TriggerEvent::Delete),
            by_trigger(TriggerEvent::Insert)
        ]
    }));
    rows
}

fn table_constraints(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for key in catalog_keys() {
        let (kind, nulls) = if key.is_primary { ("PRIMARY KEY", None) } else { ("UNIQUE", Some("YES")) };
        let (schema, table) = (PG_CATALOG, key.relation);
        rows.push(row![catalog, schema, key.name, catalog, schema, table, kind, "NO", "NO", "YES", nulls]);
    }
    for (relation, _, name) in not_null(context) {
        let (schema, table) = (&relation.namespace, &relation.name);
        rows.push(row![catalog, schema, name, catalog, schema, table, "CHECK", "NO", "NO", "YES", NULL]);
    }
    for relation in context.schema.user_relations() {
        let mut push = |name: &str, kind: &str, deferred: Option<bool>| {
            let nulls = (kind == "UNIQUE").then_some("YES");
            rows.push(row![
                catalog,
                &relation.namespace,
                name,
                catalog,
                &relation.namespace,
                &relation.name,
                kind,
                yes(deferred.is_some()),
                yes(deferred == Some(true)),
                "YES",
                nulls
            ]);
        };
        for index in relation.indexes.iter().filter(|index| index.constraint && index.exclusion.is_none()) {
            push(&index.name, if index.primary { "PRIMARY KEY" } else { "UNIQUE" }, index.deferred);
        }
        for check in relation.told_checks() {
            push(&check.name, "CHECK", None);
        }
        for key in &relation.foreign_keys {
            push(&key.name, "FOREIGN KEY", key.rules.deferrable.then_some(key.rules.deferred));
        }
    }
    rows
}

fn key_column_usage(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for key in catalog_keys() {
        let (schema, table) = (PG_CATALOG, key.relation);
        rows.extend(
            key_columns(key)
                .enumerate()
                .map(|(at, column)| row![catalog, schema, key.name, catalog, schema, table, column, at + 1, NULL]),
        );
    }
    for relation in context.schema.user_relations() {
        let mut push = |name: &str, column: usize, at: usize, place: Option<usize>| {
            rows.push(row![
                catalog,
                &relation.namespace,
                name,
                catalog,
                &relation.namespace,
                &relation.name,
                &relation.columns[column].name,
                at + 1,
                place
            ]);
        };
        for index in relation.indexes.iter().filter(|index| index.constraint && index.exclusion.is_none()) {
            index.columns.iter().flatten().enumerate().for_each(|(at, &column)| push(&index.name, column, at, None));
        }
        for key in &relation.foreign_keys {
            let places = places(context, key);
            let place = |at: usize| Some(places.get(at).copied().unwrap_or(at) + 1);
            key.columns.iter().enumerate().for_each(|(at, &column)| push(&key.name, column, at, place(at)));
        }
    }
    rows
}

fn constraint_column_usage(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for key in catalog_keys() {
        let (schema, table) = (PG_CATALOG, key.relation);
        rows.extend(key_columns(key).map(|column| row![catalog, schema, table, column, catalog, schema, key.name]));
    }
    for relation in context.schema.user_relations() {
        let (schema, table) = (&relation.namespace, &relation.name);
        for check in relation.told_checks() {
            let columns = describe::columns_of(context.schema, relation, &check.text).into_iter();
            rows.extend(columns.map(|column| {
                row![catalog, schema, table, &relation.columns[column].name, catalog, schema, &check.name]
            }));
        }
        for index in relation.indexes.iter().filter(|index| index.constraint && index.exclusion.is_none()) {
            for &column in index.columns.iter().flatten() {
                rows.push(row![
                    catalog,
                    &relation.namespace,
                    &relation.name,
                    &relation.columns[column].name,
                    catalog,
                    &relation.namespace,
                    &index.name
                ]);
            }
        }
        for key in &relation.foreign_keys {
            let Some(target) = context.schema.relation(&key.target) else { continue };
            for column in target_columns(&target, key) {
                rows.push(row![
                    catalog,
                    &target.namespace,
                    &target.name,
                    &target.columns[column].name,
                    catalog,
                    &relation.namespace,
                    &key.name
                ]);
            }
        }
    }
    rows
}

/// The index that a foreign key refers to, whose columns may stand in another order.
pub fn referenced_index<'a>(target: &'a Relation, key: &ForeignKey) -> Option<&'a Index> {
    let wanted = target_columns(target, key);
    let is_of = |index: &&Index| {
        let same = index.columns.len() == wanted.len();
        index.unique && same && wanted.iter().all(|column| index.columns.contains(&Some(*column)))
    };
    let exact = |index: &&Index| is_of(index) && index.columns.iter().flatten().eq(&wanted);
    target.indexes.iter().find(exact).or_else(|| target.indexes.iter().find(is_of))
}

/// The place of each column of a foreign key's target in the index that it refers to.
fn places(context: &Context<'_>, key: &ForeignKey) -> Vec<usize> {
    let Some(target) = context.schema.relation(&key.target) else { return Vec::new() };
    let Some(index) = referenced_index(&target, key) else { return Vec::new() };
    let place = |column: usize| index.columns.iter().position(|other| *other == Some(column));
    target_columns(&target, key).into_iter().filter_map(place).collect()
}

fn referential_constraints(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for key in &relation.foreign_keys {
            let unique = context.schema.relation(&key.target).and_then(|target| {
                let index = referenced_index(&target, key)?;
                Some((target.namespace.clone(), index.name.clone()))
            });
            let (namespace, name) = unique.unzip();
            rows.push(row![
                catalog,
                &relation.namespace,
                &key.name,
                catalog,
                namespace,
                name,
                if key.rules.full { "FULL" } else { "NONE" },
                key.rules.on_update.words(),
                key.rules.on_delete.words()
            ]);
        }
    }
    rows
}

fn check_constraints(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let schema = context.schema;
    // Behind the word CHECK.
    let clause = |oid| describe::constraint(schema, oid, false)?.strip_prefix("CHECK ").map(str::to_owned);
    let mut rows: Vec<Row> = not_null(context)
        .map(|(relation, column, name)| row![catalog, &relation.namespace, name, format!("{column} IS NOT NULL")])
        .collect();
    for check in super::standard_types::all().iter().filter_map(|domain| domain.check.as_ref()) {
        rows.push(row![catalog, INFORMATION_SCHEMA, check.name, clause(check.oid)]);
    }
    for ty in schema.user_types() {
        let checks = ty.domain().map(|domain| domain.checks.as_slice()).unwrap_or_default().iter();
        rows.extend(checks.map(|check| row![catalog, &ty.namespace, &check.name, clause(check.oid)]));
    }
    for relation in schema.user_relations() {
        rows.extend(relation.told_checks().map(|check| {
            let text = describe::check_constraint(schema, relation, check, false);
            row![catalog, &relation.namespace, &check.name, text.strip_prefix("CHECK ").unwrap_or(&text)]
        }));
    }
    // What a table inherits is told once.
    let mut seen: Vec<Row> = Vec::with_capacity(rows.len());
    rows.retain(|row| {
        let first = seen.iter().all(|other| other != row);
        if first {
            seen.push(row.clone());
        }
        first
    });
    rows
}

fn sequences(context: &Context<'_>) -> Vec<Row> {
    // What is behind an identity column is the column's own affair.
    let internal = |details: &crate::schema::SequenceDetails| {
        details.owner.is_some_and(|(table, column)| {
            let relation = context.schema.relation_by_oid(table);
            relation.is_some_and(|relation| relation.columns.get(column).is_some_and(|c| c.identity.is_some()))
        })
    };
    let sequences = context.schema.sequences().filter(|details| !internal(details));
    sequences
        .map(|details| {
            let (words, bits) = match details.sequence.ty {
                Type::Int2 => ("smallint", 16),
                Type::Int4 => ("integer", 32),
                _ => ("bigint", 64),
            };
            row![
                &context.database.name,
                &details.sequence.namespace,
                &details.sequence.name,
                words,
                bits,
                2,
                0,
                details.start.to_string(),
                details.min.to_string(),
                details.max.to_string(),
                details.increment.to_string(),
                yes(details.cycle)
            ]
        })
        .collect()
}
