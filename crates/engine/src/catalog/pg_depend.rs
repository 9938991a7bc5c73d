//! `pg_depend`: what hangs on what. Objects of PostgreSQL's own hang on nothing, and nothing that hangs on them is told.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::composite::row_type;
use rowferry_dialect::postgres::types;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::types::Type;

use super::describe::{columns_of, constraint_oid, included, target_columns};
use super::names::namespace_oid;
use super::object_names::rule_oid;
use super::pg_attribute::default_oid;
use super::{Context, Row, Table, row};

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_depend", dependencies)];

// The catalogs that the objects are in.
const TYPE: u32 = 1_247;
const PROCEDURE: u32 = 1_255;
const CLASS: u32 = 1_259;
const ATTRDEF: u32 = 2_604;
const CONSTRAINT: u32 = 2_606;
const LANGUAGE: u32 = 2_612;
const NAMESPACE: u32 = 2_615;
const REWRITE: u32 = 2_618;
const TRIGGER: u32 = 2_620;
const EXTENSION: u32 = 3_079;
const POLICY: u32 = 3_256;

/// The first object id that is no part of PostgreSQL's own: what hangs on the others hangs on what is always there.
const FIRST: u32 = 16_384;

fn dependencies(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    of_sequences(context, &mut rows);
    rows.extend(super::pg_extension::dependencies(context));
    let members = super::pg_proc::PLPGSQL_HANDLERS.map(|oid| (PROCEDURE, oid)).into_iter();
    let members = members.chain([(LANGUAGE, super::pg_proc::PLPGSQL)]);
    let plpgsql = super::pg_extension::OF_PLPGSQL.0;
    rows.extend(members.map(|(catalog, oid)| row![catalog, oid, 0, EXTENSION, plpgsql, 0, "e"]));
    of_types(context, &mut rows);
    of_functions(context, &mut rows);
    for (relation, trigger) in super::pg_trigger::all(context.schema) {
        rows.push(row![TRIGGER, trigger.oid, 0, PROCEDURE, trigger.function, 0, "n"]);
        rows.push(row![TRIGGER, trigger.oid, 0, CLASS, relation.oid, 0, "a"]);
        let read = trigger.columns.iter().map(|at| row![TRIGGER, trigger.oid, 0, CLASS, relation.oid, at + 1, "n"]);
        rows.extend(read);
    }
    for (relation, policy) in context.schema.policies() {
        rows.push(row![POLICY, policy.oid, 0, CLASS, relation.oid, 0, "a"]);
    }
    for relation in context.schema.user_relations() {
        of_relation(context, relation, &mut rows);
        of_indexes(context, relation, &mut rows);
        of_constraints(context, relation, &mut rows);
        if super::is_view(relation) || relation.is_materialized() {
            of_view(context, relation, &mut rows);
        }
    }
    rows
}

fn of_sequences(context: &Context<'_>, rows: &mut Vec<Row>) {
    for details in context.schema.sequences() {
        let namespace = namespace_oid(context.schema, &details.sequence.namespace);
        rows.push(row![CLASS, details.sequence.oid, 0, NAMESPACE, namespace, 0, "n"]);
        if let Some((table, column)) = details.owner {
            // A sequence that numbers an identity column is internal to it.
            let identity = context
                .schema
                .relation_by_oid(table)
                .is_some_and(|relation| relation.columns.get(column).is_some_and(|column| column.identity.is_some()));
            let kind = if identity { "i" } else { "a" };
            rows.push(row![CLASS, details.sequence.oid, 0, CLASS, table, column + 1, kind]);
        }
    }
}

/// The object id of the type that a column or field is of, where it is users': arrays hang on the types of their members.
fn users_type(ty: &Type) -> Option<u32> {
    let oid = types::oid(&types::import(ty));
    (oid >= FIRST).then_some(oid)
}

fn of_types(context: &Context<'_>, rows: &mut Vec<Row>) {
    for ty in context.schema.user_types() {
        let namespace = namespace_oid(context.schema, &ty.namespace);
        rows.push(row![TYPE, ty.array_oid, 0, TYPE, ty.oid, 0, "i"]);
        match ty.composite() {
            Some(composite) => {
                rows.push(row![TYPE, ty.oid, 0, CLASS, composite.relation, 0, "i"]);
                rows.push(row![CLASS, composite.relation, 0, NAMESPACE, namespace, 0, "n"]);
                for (at, field) in composite.fields.iter().enumerate() {
                    let on = users_type(&field.ty).filter(|_| !field.dropped);
                    rows.extend(on.map(|on| row![CLASS, composite.relation, at + 1, TYPE, on, 0, "n"]));
                }
            }
            None => rows.push(row![TYPE, ty.oid, 0, NAMESPACE, namespace, 0, "n"]),
        }
        if let Some(domain) = ty.domain() {
            rows.extend(users_type(&domain.base).map(|on| row![TYPE, ty.oid, 0, TYPE, on, 0, "n"]));
            rows.extend(domain.checks.iter().map(|check| row![CONSTRAINT, check.oid, 0, TYPE, ty.oid, 0, "a"]));
        }
    }
}

fn of_functions(context: &Context<'_>, rows: &mut Vec<Row>) {
    for function in context.schema.main.functions.iter() {
        let namespace = namespace_oid(context.schema, &function.namespace);
        rows.push(row![PROCEDURE, function.oid, 0, NAMESPACE, namespace, 0, "n"]);
        if function.definition.language == rowferry_dialect::stored_function::RoutineLanguage::Plpgsql {
            rows.push(row![PROCEDURE, function.oid, 0, LANGUAGE, super::pg_proc::PLPGSQL, 0, "n"]);
        }
        let mut on: Vec<u32> = function.definition.types().filter_map(users_type).collect();
        on.dedup();
        rows.extend(on.into_iter().map(|on| row![PROCEDURE, function.oid, 0, TYPE, on, 0, "n"]));
    }
}

fn of_relation(context: &Context<'_>, relation: &Relation, rows: &mut Vec<Row>) {
    let namespace = namespace_oid(context.schema, &relation.namespace);
    rows.push(row![CLASS, relation.oid, 0, NAMESPACE, namespace, 0, "n"]);
    let ty = row_type(relation);
    rows.push(row![TYPE, ty.oid, 0, CLASS, relation.oid, 0, "i"]);
    rows.push(row![TYPE, ty.array_oid, 0, TYPE, ty.oid, 0, "i"]);
    for (at, column) in relation.columns.iter().enumerate() {
        rows.extend(users_type(&column.ty).map(|on| row![CLASS, relation.oid, at + 1, TYPE, on, 0, "n"]));
        if (column.default.is_some() && column.identity.is_none()) || column.generated.is_some() {
            rows.push(row![ATTRDEF, default_oid(relation.oid, at), 0, CLASS, relation.oid, at + 1, "a"]);
            let sequence = column.default.as_ref().and_then(|default| default.next_of.as_ref());
            if let Some(sequence) = sequence.and_then(|name| context.schema.sequence(name)) {
                rows.push(row![ATTRDEF, default_oid(relation.oid, at), 0, CLASS, sequence.oid, 0, "n"]);
            }
        }
    }
}

fn of_indexes(context: &Context<'_>, relation: &Arc<Relation>, rows: &mut Vec<Row>) {
    let properties = context.schema.details(relation.oid).map(|details| &details.properties);
    for index in &relation.indexes {
        if index.constraint {
            rows.push(row![CLASS, index.oid, 0, CONSTRAINT, constraint_oid(index), 0, "i"]);
        } else {
            let mut on: BTreeSet<usize> = index.columns.iter().flatten().copied().collect();
            let included = properties.map(|properties| included(properties, &index.name)).unwrap_or_default();
            on.extend(included.iter().filter_map(|name| relation.column(name)));
            for (key, column) in index.keys.iter().zip(&index.columns) {
                if column.is_none() {
                    on.extend(columns_of(context.schema, relation, &key.text));
                }
            }
            if let Some(predicate) = &index.predicate {
                on.extend(columns_of(context.schema, relation, predicate));
            }
            rows.extend(on.into_iter().map(|at| row![CLASS, index.oid, 0, CLASS, relation.oid, at + 1, "a"]));
        }
    }
}

fn of_constraints(context: &Context<'_>, relation: &Arc<Relation>, rows: &mut Vec<Row>) {
    let on_column = |oid: u32, column: usize| row![CONSTRAINT, oid, 0, CLASS, relation.oid, column + 1, "a"];
    for index in relation.indexes.iter().filter(|index| index.constraint) {
        rows.extend(index.columns.iter().flatten().map(|column| on_column(constraint_oid(index), *column)));
    }
    for check in &relation.checks {
        let columns = columns_of(context.schema, relation, &check.text);
        for column in columns {
            rows.push(on_column(check.oid, column));
            rows.push(row![CONSTRAINT, check.oid, 0, CLASS, relation.oid, column + 1, "n"]);
        }
    }
    for key in &relation.foreign_keys {
        rows.extend(key.columns.iter().map(|column| on_column(key.oid, *column)));
        let Some(target) = context.schema.relation(&key.target) else { continue };
        let columns = target_columns(&target, key);
        rows.extend(columns.iter().map(|column| row![CONSTRAINT, key.oid, 0, CLASS, target.oid, column + 1, "n"]));
        let wanted: Vec<Option<usize>> = columns.into_iter().map(Some).collect();
        let index = target.indexes.iter().find(|index| index.unique && index.columns == wanted);
        rows.extend(index.map(|index| row![CONSTRAINT, key.oid, 0, CLASS, index.oid, 0, "n"]));
    }
}

/// A view's rule is internal to it, and needs what the view's query names.
fn of_view(context: &Context<'_>, view: &Relation, rows: &mut Vec<Row>) {
    let rule = rule_oid(view.oid);
    rows.push(row![REWRITE, rule, 0, CLASS, view.oid, 0, "i"]);
    let needs = context.schema.details(view.oid).and_then(|details| details.needs.as_deref()).unwrap_or_default();
    for (oid, column) in needs {
        // Columns stand for the whole.
        if column.is_none() && needs.iter().any(|(other, column)| other == oid && column.is_some()) {
            continue;
        }
        let relation = context.schema.relation_by_oid(*oid);
        let number = relation.as_ref().zip(column.as_deref()).and_then(|(relation, name)| relation.column(name));
        let number = number.map_or(0, |at| at + 1);
        if relation.is_some() || context.schema.sequences().any(|details| details.sequence.oid == *oid) {
            rows.push(row![REWRITE, rule, 0, CLASS, *oid, number, "n"]);
        } else if context.schema.function_by_oid(*oid).is_some() {
            rows.push(row![REWRITE, rule, 0, PROCEDURE, *oid, 0, "n"]);
        } else if context.schema.user_type_by_oid(*oid).is_some() {
            rows.push(row![REWRITE, rule, 0, TYPE, *oid, 0, "n"]);
        }
    }
}
