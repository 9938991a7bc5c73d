//! `pg_depend`: what hangs on what. Objects of PostgreSQL's own hang on nothing, and nothing that hangs on them is told.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::composite::row_type;
use rowferry_dialect::postgres::{self, types};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::text_search::Kind;
use rowferry_dialect::types::Type;
use rowferry_dialect::uses::{Dependency, PRIMARY_KEY};
use rowferry_dialect::{Language, Schema as _};

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
const CAST: u32 = 2_605;
const ATTRDEF: u32 = 2_604;
const CONSTRAINT: u32 = 2_606;
const LANGUAGE: u32 = 2_612;
const NAMESPACE: u32 = 2_615;
const OPERATOR: u32 = 2_617;
const REWRITE: u32 = 2_618;
const TRIGGER: u32 = 2_620;
const EXTENSION: u32 = 3_079;
const POLICY: u32 = 3_256;
const COLLATION: u32 = 3_456;
const DICTIONARY: u32 = 3_600;
const CONFIGURATION: u32 = 3_602;
const DEFAULT_ACL: u32 = 826;

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
    of_small_objects(context, &mut rows);
    of_types(context, &mut rows);
    of_ranges(context, &mut rows);
    of_functions(context, &mut rows);
    of_triggers(context, &mut rows);
    for (relation, policy) in context.schema.policies() {
        rows.push(row![POLICY, policy.oid, 0, CLASS, relation.oid, 0, "a"]);
        on_all(context, (POLICY, policy.oid), &policy.needs, &mut rows);
    }
    for (relation, rule) in context.schema.rules() {
        rows.push(row![REWRITE, rule.oid, 0, CLASS, relation.oid, 0, "a"]);
        // Statements that name none of its columns hang on it as a whole.
        let names_column = rule.needs.iter().any(|(oid, column)| *oid == relation.oid && column.is_some());
        if !names_column && rule.actions.iter().any(|action| !action.starts_with("NOTIFY ")) {
            rows.push(row![REWRITE, rule.oid, 0, CLASS, relation.oid, 0, "n"]);
        }
        on_all(context, (REWRITE, rule.oid), &rule.needs, &mut rows);
    }
    let pairs = super::partitions::index_pairs(context.schema);
    for (own, parent) in pairs {
        let Some((partition, at)) = context.schema.index_by_oid(own) else { continue };
        rows.push(row![CLASS, own, 0, CLASS, parent, 0, "P"]);
        rows.push(row![CLASS, own, 0, CLASS, partition.oid, 0, "S"]);
        let index = &partition.indexes[at];
        if let Some((parted, at)) = context.schema.index_by_oid(parent).filter(|_| index.constraint) {
            let (own, parent) = (constraint_oid(index), constraint_oid(&parted.indexes[at]));
            rows.push(row![CONSTRAINT, own, 0, CONSTRAINT, parent, 0, "P"]);
            rows.push(row![CONSTRAINT, own, 0, CLASS, partition.oid, 0, "S"]);
        }
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

/// What an object needs that names these; the columns of a relation stand for the whole of it.
fn on_all<'a>(
    context: &Context<'_>,
    (catalog, object): (u32, u32),
    needs: impl IntoIterator<Item = &'a Dependency, IntoIter: Clone>,
    rows: &mut Vec<Row>,
) {
    let needs = needs.into_iter();
    for (oid, column) in needs.clone() {
        if column.is_none()
            && needs
                .clone()
                .any(|(other, column)| other == oid && column.as_deref().is_some_and(|name| name != PRIMARY_KEY))
        {
            continue;
        }
        let relation = context.schema.relation_by_oid(*oid);
        if column.as_deref() == Some(PRIMARY_KEY) {
            let key = relation.as_ref().and_then(|relation| relation.primary_key());
            rows.extend(key.map(|key| row![catalog, object, 0, CONSTRAINT, constraint_oid(key), 0, "n"]));
            continue;
        }
        let number = relation.as_ref().zip(column.as_deref()).and_then(|(relation, name)| relation.column(name));
        let number = number.zip(relation.as_ref()).map_or(0, |(at, relation)| relation.number_of(at));
        if relation.is_some() || context.schema.sequence_by_oid(*oid).is_some() {
            rows.push(row![catalog, object, 0, CLASS, *oid, number, "n"]);
        } else if context.schema.function_by_oid(*oid).is_some() {
            rows.push(row![catalog, object, 0, PROCEDURE, *oid, 0, "n"]);
        } else if context.schema.user_type_by_oid(*oid).is_some() {
            rows.push(row![catalog, object, 0, TYPE, *oid, 0, "n"]);
        } else if context.schema.main.collations.iter().any(|made| made.oid == *oid) {
            rows.push(row![catalog, object, 0, COLLATION, *oid, 0, "n"]);
        } else if context.schema.operator_by_oid(*oid).is_some() {
            rows.push(row![catalog, object, 0, OPERATOR, *oid, 0, "n"]);
        } else if context.schema.main.casts.iter().any(|cast| cast.oid == *oid) {
            rows.push(row![catalog, object, 0, CAST, *oid, 0, "n"]);
        } else if let Some(found) = context.schema.search_object_by_oid(*oid) {
            rows.push(row![catalog, object, 0, search_catalog(found.kind()), *oid, 0, "n"]);
        }
    }
}

/// What an object needs by a text over a table, but for the table's own columns: those are told apart.
fn on_text(context: &Context<'_>, object: (u32, u32), (relation, text): (&Arc<Relation>, &str), rows: &mut Vec<Row>) {
    if relation.language == Language::Informix {
        return;
    }
    let context_of_text = rowferry_dialect::plan::Context::default();
    let Ok(uses) = postgres::uses_of_stored(text, relation, context.schema, &context_of_text) else { return };
    let needs = uses.dependencies();
    on_all(context, object, needs.iter().filter(|(oid, _)| *oid != relation.oid), rows);
}

fn search_catalog(kind: Kind) -> u32 {
    if kind == Kind::Dictionary { DICTIONARY } else { CONFIGURATION }
}

/// Collations, objects of text search, default privileges: each in its schema.
fn of_small_objects(context: &Context<'_>, rows: &mut Vec<Row>) {
    let schema = context.schema;
    for collation in schema.main.collations.iter() {
        let namespace = namespace_oid(schema, &collation.namespace);
        rows.push(row![COLLATION, collation.oid, 0, NAMESPACE, namespace, 0, "n"]);
    }
    for operator in schema.main.operators.iter() {
        let namespace = namespace_oid(schema, &operator.namespace);
        rows.push(row![OPERATOR, operator.oid, 0, NAMESPACE, namespace, 0, "n"]);
        let made = &operator.definition;
        let types: BTreeSet<u32> =
            [made.left, made.right, made.result].into_iter().filter(|oid| *oid >= FIRST).collect();
        rows.extend(types.into_iter().map(|on| row![OPERATOR, operator.oid, 0, TYPE, on, 0, "n"]));
        let function = (made.function >= FIRST).then_some(made.function);
        rows.extend(function.map(|on| row![OPERATOR, operator.oid, 0, PROCEDURE, on, 0, "n"]));
    }
    for cast in schema.main.casts.iter() {
        let made = cast.definition;
        let types = [made.source, made.target].into_iter().filter(|oid| *oid >= FIRST);
        rows.extend(types.map(|on| row![CAST, cast.oid, 0, TYPE, on, 0, "n"]));
        let function = Some(made.method.function()).filter(|oid| *oid >= FIRST);
        rows.extend(function.map(|on| row![CAST, cast.oid, 0, PROCEDURE, on, 0, "n"]));
    }
    for object in schema.main.search_objects.iter() {
        let namespace = namespace_oid(schema, &object.namespace);
        rows.push(row![search_catalog(object.kind()), object.oid, 0, NAMESPACE, namespace, 0, "n"]);
    }
    let defaults = schema.main.grants.defaults.iter().filter(|default| default.namespace != 0);
    rows.extend(defaults.map(|default| row![DEFAULT_ACL, default.oid, 0, NAMESPACE, default.namespace, 0, "a"]));
}

fn of_triggers(context: &Context<'_>, rows: &mut Vec<Row>) {
    for (relation, trigger) in super::pg_trigger::all(context.schema) {
        rows.push(row![TRIGGER, trigger.oid, 0, PROCEDURE, trigger.function, 0, "n"]);
        rows.push(row![TRIGGER, trigger.oid, 0, CLASS, relation.oid, 0, "a"]);
        let mut read: BTreeSet<usize> = trigger.columns.iter().copied().collect();
        let context_of_text = rowferry_dialect::plan::Context::default();
        let condition = trigger
            .condition
            .as_ref()
            .and_then(|text| postgres::trigger_condition_uses(text, relation, context.schema, &context_of_text).ok());
        if let Some(uses) = condition {
            read.extend((0..relation.columns.len()).filter(|at| uses.names_column(relation.oid, *at)));
            let needs = uses.dependencies();
            let others = needs.iter().filter(|(oid, _)| *oid != relation.oid);
            on_all(context, (TRIGGER, trigger.oid), others, rows);
        }
        rows.extend(
            read.into_iter().map(|at| row![TRIGGER, trigger.oid, 0, CLASS, relation.oid, relation.number_of(at), "n"]),
        );
        // The constraint that a constraint trigger is.
        let constraint = super::pg_trigger::constraint_oid(trigger);
        if constraint != 0 {
            rows.push(row![CONSTRAINT, constraint, 0, CLASS, relation.oid, 0, "a"]);
            rows.push(row![CONSTRAINT, constraint, 0, TRIGGER, trigger.oid, 0, "i"]);
        }
    }
}

/// What PostgreSQL makes with a range type goes with it.
fn of_ranges(context: &Context<'_>, rows: &mut Vec<Row>) {
    for ty in context.schema.user_types() {
        let Some(range) = ty.range() else { continue };
        let multirange = range.multirange.oid;
        rows.push(row![TYPE, multirange, 0, TYPE, ty.oid, 0, "i"]);
        rows.extend(users_type(&range.subtype).map(|on| row![TYPE, ty.oid, 0, TYPE, on, 0, "n"]));
        for (at, function) in range.constructors.oids.into_iter().enumerate() {
            let (made, (namespace, _)) = match at {
                0 | 1 => (ty.oid, &range.constructors.range),
                _ => (multirange, &range.constructors.multirange),
            };
            let namespace = namespace_oid(context.schema, namespace);
            rows.push(row![PROCEDURE, function, 0, NAMESPACE, namespace, 0, "n"]);
            rows.push(row![PROCEDURE, function, 0, TYPE, made, 0, "n"]);
            rows.push(row![PROCEDURE, function, 0, TYPE, made, 0, "i"]);
            let taken = [0, 0, 0, ty.oid, ty.array_oid][at];
            rows.extend((taken != 0).then(|| row![PROCEDURE, function, 0, TYPE, taken, 0, "n"]));
        }
        rows.push(row![CAST, range.cast, 0, PROCEDURE, range.constructors.oids[3], 0, "i"]);
        rows.push(row![CAST, range.cast, 0, TYPE, ty.oid, 0, "i"]);
        rows.push(row![CAST, range.cast, 0, TYPE, multirange, 0, "i"]);
    }
}

fn of_sequences(context: &Context<'_>, rows: &mut Vec<Row>) {
    for details in context.schema.sequences() {
        let namespace = namespace_oid(context.schema, &details.sequence.namespace);
        rows.push(row![CLASS, details.sequence.oid, 0, NAMESPACE, namespace, 0, "n"]);
        if let Some((table, column)) = details.owner {
            // A sequence that numbers an identity column is internal to it.
            let relation = context.schema.relation_by_oid(table);
            let owner = relation.as_ref().and_then(|relation| relation.columns.get(column));
            let kind = if owner.is_some_and(|column| column.identity.is_some()) { "i" } else { "a" };
            let number = relation.as_ref().map_or(column + 1, |relation| relation.number_of(column));
            rows.push(row![CLASS, details.sequence.oid, 0, CLASS, table, number, kind]);
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
                rows.push(row![CLASS, composite.relation, 0, TYPE, ty.oid, 0, "i"]);
                rows.push(row![TYPE, ty.oid, 0, NAMESPACE, namespace, 0, "n"]);
                for (at, field) in composite.fields.iter().enumerate() {
                    let on = users_type(&field.ty).filter(|_| !field.dropped);
                    rows.extend(on.map(|on| row![CLASS, composite.relation, at + 1, TYPE, on, 0, "n"]));
                    let named = field.collation.as_ref().filter(|named| !field.dropped && !named.is_built_in());
                    rows.extend(named.map(|on| row![CLASS, composite.relation, at + 1, COLLATION, on.oid, 0, "n"]));
                }
            }
            None => rows.push(row![TYPE, ty.oid, 0, NAMESPACE, namespace, 0, "n"]),
        }
        if let (None, users) = (ty.composite(), ty.collations()) {
            let users = users.into_iter().filter(|named| !named.is_built_in());
            rows.extend(users.map(|on| row![TYPE, ty.oid, 0, COLLATION, on.oid, 0, "n"]));
        }
        if let Some(domain) = ty.domain() {
            rows.extend(users_type(&domain.base).map(|on| row![TYPE, ty.oid, 0, TYPE, on, 0, "n"]));
            for check in &domain.checks {
                rows.push(row![CONSTRAINT, check.oid, 0, TYPE, ty.oid, 0, "a"]);
                let context_of_text = rowferry_dialect::plan::Context::default();
                let uses = postgres::uses_of_domain_check(&check.text, &domain.base, context.schema, &context_of_text);
                let needs = uses.map(|uses| uses.dependencies()).unwrap_or_default();
                on_all(context, (CONSTRAINT, check.oid), &needs, rows);
            }
            let default = domain.default.as_deref().and_then(|text| uses_of_default(context, text));
            on_all(context, (TYPE, ty.oid), &default.unwrap_or_default(), rows);
        }
    }
}

/// What the text of a default needs.
fn uses_of_default(context: &Context<'_>, text: &str) -> Option<BTreeSet<Dependency>> {
    let context_of_text = rowferry_dialect::plan::Context::default();
    postgres::uses_of_default(text, None, context.schema, &context_of_text).ok().map(|uses| uses.dependencies())
}

fn of_functions(context: &Context<'_>, rows: &mut Vec<Row>) {
    for function in context.schema.stored_functions() {
        let namespace = namespace_oid(context.schema, &function.namespace);
        rows.push(row![PROCEDURE, function.oid, 0, NAMESPACE, namespace, 0, "n"]);
        if function.definition.language == rowferry_dialect::stored_function::RoutineLanguage::Plpgsql {
            rows.push(row![PROCEDURE, function.oid, 0, LANGUAGE, super::pg_proc::PLPGSQL, 0, "n"]);
        }
        let mut on: Vec<u32> = function.definition.types().filter_map(users_type).collect();
        on.extend(function.definition.rows().filter_map(|(array, name)| {
            let relation = context.schema.relation(name)?;
            let ty = row_type(&relation);
            Some(if array { ty.array_oid } else { ty.oid })
        }));
        on.dedup();
        rows.extend(on.into_iter().map(|on| row![PROCEDURE, function.oid, 0, TYPE, on, 0, "n"]));
        let uses = postgres::body_uses(function, context.schema, &rowferry_dialect::plan::Context::default());
        on_all(context, (PROCEDURE, function.oid), &uses, rows);
    }
}

/// A partition goes with its parent; an heir stays in its way. What rows are parted by cannot be dropped.
fn of_heritage(context: &Context<'_>, relation: &Arc<Relation>, rows: &mut Vec<Row>) {
    let kind = if relation.bound().is_some() { "a" } else { "n" };
    rows.extend(relation.parents().iter().map(|parent| row![CLASS, relation.oid, 0, CLASS, *parent, 0, kind]));
    let Some(partitioning) = &relation.partitioning else { return };
    let mut parted = BTreeSet::new();
    for key in &partitioning.keys {
        let named = key.collation.as_deref().and_then(|named| Collation::of_property(named, context.schema));
        let named = named.filter(|named| !named.is_built_in());
        rows.extend(named.map(|on| row![CLASS, relation.oid, 0, COLLATION, on.oid, 0, "n"]));
        match &key.column {
            Some(name) => parted.extend(relation.column(name)),
            None => {
                parted.extend(columns_of(context.schema, relation, &key.text));
                on_text(context, (CLASS, relation.oid), (relation, &key.text), rows);
            }
        }
    }
    rows.extend(
        parted.into_iter().map(|at| row![CLASS, relation.oid, relation.number_of(at), CLASS, relation.oid, 0, "i"]),
    );
}

fn of_relation(context: &Context<'_>, relation: &Arc<Relation>, rows: &mut Vec<Row>) {
    let namespace = namespace_oid(context.schema, &relation.namespace);
    rows.push(row![CLASS, relation.oid, 0, NAMESPACE, namespace, 0, "n"]);
    let ty = row_type(relation);
    rows.push(row![TYPE, ty.oid, 0, CLASS, relation.oid, 0, "i"]);
    rows.push(row![TYPE, ty.array_oid, 0, TYPE, ty.oid, 0, "i"]);
    of_heritage(context, relation, rows);
    for (at, column) in relation.columns.iter().enumerate() {
        let number = relation.number_of(at);
        rows.extend(users_type(&column.ty).map(|on| row![CLASS, relation.oid, number, TYPE, on, 0, "n"]));
        let collation = column.collation.as_ref().filter(|collation| !collation.is_built_in());
        rows.extend(collation.map(|on| row![CLASS, relation.oid, number, COLLATION, on.oid, 0, "n"]));
        let default = (ATTRDEF, default_oid(relation, at));
        if let Some(generated) = &column.generated {
            rows.push(row![default.0, default.1, 0, CLASS, relation.oid, number, "i"]);
            let read = columns_of(context.schema, relation, &generated.text).into_iter();
            rows.extend(
                read.map(|column| row![default.0, default.1, 0, CLASS, relation.oid, relation.number_of(column), "n"]),
            );
            on_text(context, default, (relation, &generated.text), rows);
        } else if let Some(value) = column.default.as_ref().filter(|_| column.identity.is_none()) {
            rows.push(row![default.0, default.1, 0, CLASS, relation.oid, number, "a"]);
            match value.next_of.as_ref().and_then(|name| context.schema.sequence(name)) {
                Some(sequence) => rows.push(row![default.0, default.1, 0, CLASS, sequence.oid, 0, "n"]),
                None if relation.language == Language::Informix => {}
                None => {
                    let needs = uses_of_default(context, &value.text).unwrap_or_default();
                    on_all(context, default, &needs, rows);
                }
            }
        }
    }
}

fn of_indexes(context: &Context<'_>, relation: &Arc<Relation>, rows: &mut Vec<Row>) {
    let properties = context.schema.details(relation.oid).map(|details| &details.properties);
    for index in relation.ordinary_indexes() {
        if index.constraint {
            rows.push(row![CLASS, index.oid, 0, CONSTRAINT, constraint_oid(index), 0, "i"]);
        } else {
            let mut on: BTreeSet<usize> = index.columns.iter().flatten().copied().collect();
            for (at, column) in index.columns.iter().enumerate() {
                let named = properties.and_then(|all| super::pg_index::key_collation(all, &index.name, at));
                let named = named.and_then(|named| Collation::of_property(named, context.schema));
                let column = column.and_then(|at| relation.columns[at].collation.clone());
                let users = named.or(column).filter(|collation| !collation.is_built_in());
                rows.extend(users.map(|on| row![CLASS, index.oid, 0, COLLATION, on.oid, 0, "n"]));
            }
            let included = properties.map(|properties| included(properties, &index.name)).unwrap_or_default();
            on.extend(included.iter().filter_map(|name| relation.column(name)));
            for (key, column) in index.keys.iter().zip(&index.columns) {
                if column.is_none() {
                    on.extend(columns_of(context.schema, relation, &key.text));
                    on_text(context, (CLASS, index.oid), (relation, &key.text), rows);
                }
            }
            if let Some(predicate) = &index.predicate {
                on.extend(columns_of(context.schema, relation, predicate));
                on_text(context, (CLASS, index.oid), (relation, predicate), rows);
            }
            rows.extend(
                on.into_iter().map(|at| row![CLASS, index.oid, 0, CLASS, relation.oid, relation.number_of(at), "a"]),
            );
        }
    }
}

fn of_constraints(context: &Context<'_>, relation: &Arc<Relation>, rows: &mut Vec<Row>) {
    rows.extend(relation.of_type().map(|ty| row![CLASS, relation.oid, 0, TYPE, ty, 0, "n"]));
    let on_column =
        |oid: u32, column: usize| row![CONSTRAINT, oid, 0, CLASS, relation.oid, relation.number_of(column), "a"];
    for index in relation.indexes.iter().filter(|index| index.constraint) {
        rows.extend(index.columns.iter().flatten().map(|column| on_column(constraint_oid(index), *column)));
    }
    for check in relation.told_checks() {
        let columns = columns_of(context.schema, relation, &check.text);
        for column in columns {
            rows.push(on_column(check.oid, column));
            rows.push(row![CONSTRAINT, check.oid, 0, CLASS, relation.oid, relation.number_of(column), "n"]);
        }
        on_text(context, (CONSTRAINT, check.oid), (relation, &check.text), rows);
    }
    for key in &relation.foreign_keys {
        rows.extend(key.columns.iter().map(|column| on_column(key.oid, *column)));
        let Some(target) = context.schema.relation(&key.target) else { continue };
        let columns = target_columns(&target, key);
        rows.extend(
            columns
                .iter()
                .map(|column| row![CONSTRAINT, key.oid, 0, CLASS, target.oid, target.number_of(*column), "n"]),
        );
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
    rows.push(row![REWRITE, rule, 0, CLASS, view.oid, 0, "n"]);
    on_all(context, (REWRITE, rule), needs, rows);
}
