//! `pg_constraint`: keys, foreign keys and checks.

use std::sync::Arc;

use rowferry_dialect::exclusion::Exclusion;
use rowferry_dialect::partition::{adopted_key, parent_of_index};
use rowferry_dialect::postgres::operator_oid;
use rowferry_dialect::schema::{ForeignKey, Index, KeyPart, Relation};
use rowferry_dialect::{Schema as _, heritage};

use super::describe::{columns_of, constraint_oid, domain_check, expression, index_column, target_columns};
use super::names::namespace_oid;
use super::{Cell, Context, NULL, Row, Table, array, row};
use crate::schema::SessionSchema;

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_constraint", constraints)];

/// What differs from one constraint to the other.
#[derive(Default)]
struct Constraint<'a> {
    oid: u32,
    name: &'a str,
    namespace: u32,
    kind: &'a str,
    deferrable: bool,
    deferred: bool,
    not_valid: bool,
    /// A parent has given it, and the table does not declare it itself.
    foreign: bool,
    /// How many parents have given it.
    times_inherited: usize,
    inherits: bool,
    full: bool,
    relation: u32,
    domain: u32,
    index: u32,
    target: u32,
    on_update: &'a str,
    on_delete: &'a str,
    columns: Vec<usize>,
    target_columns: Option<Vec<usize>>,
    set_columns: Vec<usize>,
    text: Option<String>,
    /// EXCLUDE: its keys as `conkey` has them, and its operators.
    exclusion: Option<(Vec<usize>, Vec<u32>)>,
    /// The constraint of the parent that it is a part of.
    parent: u32,
}

fn constraints(context: &Context<'_>) -> Vec<Row> {
    let schema = context.schema;
    let mut rows = Vec::new();
    for ty in schema.user_types() {
        let Some(domain) = ty.domain() else { continue };
        let namespace = namespace_oid(schema, &ty.namespace);
        rows.extend(domain.checks.iter().map(|check| {
            constraint(Constraint {
                oid: check.oid,
                name: &check.name,
                namespace,
                kind: "c",
                not_valid: !check.valid,
                domain: ty.oid,
                inherits: true,
                text: Some(domain_check(schema, &domain.base, &check.text, false)),
                ..Constraint::default()
            })
        }));
    }
    for relation in schema.user_relations() {
        let namespace = namespace_oid(schema, &relation.namespace);
        let parents = if relation.bound().is_some() { heritage::parents(schema, relation) } else { Vec::new() };
        for (at, index) in relation.indexes.iter().enumerate().filter(|(_, index)| index.constraint) {
            let parent =
                parents.first().and_then(|parent| parent_of_index(parent, relation, at).map(|at| &parent.indexes[at]));
            rows.push(constraint(Constraint {
                oid: constraint_oid(index),
                name: &index.name,
                namespace,
                kind: match (index.primary, &index.exclusion) {
                    (true, _) => "p",
                    (false, Some(_)) => "x",
                    (false, None) => "u",
                },
                deferrable: index.deferrability().is_some(),
                deferred: index.deferrability() == Some(true),
                relation: relation.oid,
                index: index.oid,
                foreign: parent.is_some(),
                parent: parent.map_or(0, constraint_oid),
                times_inherited: usize::from(parent.is_some()),
                inherits: parent.is_some(),
                columns: index.columns.iter().flatten().map(|at| relation.number_of(*at)).collect(),
                exclusion: index.exclusion.as_ref().map(|exclusion| excluded(schema, relation, index, exclusion)),
                ..Constraint::default()
            }));
        }
        for check in relation.told_checks() {
            rows.push(constraint(Constraint {
                oid: check.oid,
                name: &check.name,
                namespace,
                kind: "c",
                relation: relation.oid,
                not_valid: !check.valid,
                foreign: !relation.declares_check(&check.name),
                times_inherited: heritage::check_times_inherited(schema, relation, &check.name),
                inherits: !check.no_inherit,
                columns: numbers(relation, &columns_of(schema, relation, &check.text)),
                text: Some(expression(schema, relation, &check.text, false)),
                ..Constraint::default()
            }));
        }
        for trigger in relation.named_triggers().filter(|trigger| trigger.constraint.is_some()) {
            let deferrable = trigger.constraint.is_some_and(|constraint| constraint.deferrable);
            let deferred = trigger.constraint.is_some_and(|constraint| constraint.deferred);
            rows.push(constraint(Constraint {
                oid: super::pg_trigger::constraint_oid(trigger),
                name: &trigger.name,
                namespace,
                kind: "t",
                deferrable,
                deferred,
                relation: relation.oid,
                ..Constraint::default()
            }));
        }
        for key in &relation.foreign_keys {
            let target = schema.relation(&key.target);
            let columns = target.as_ref().map(|target| target_columns(target, key)).unwrap_or_default();
            let index = target.as_ref().and_then(|target| {
                let wanted: Vec<Option<usize>> = columns.iter().copied().map(Some).collect();
                target.indexes.iter().find(|index| index.unique && index.columns == wanted).map(|index| index.oid)
            });
            let parent = parents.first().and_then(|parent| {
                let is_own = |of: &&ForeignKey| adopted_key(parent, of, relation).is_some_and(|own| own.oid == key.oid);
                parent.foreign_keys.iter().find(is_own)
            });
            rows.push(constraint(Constraint {
                foreign: parent.is_some(),
                parent: parent.map_or(0, |parent| parent.oid),
                times_inherited: usize::from(parent.is_some()),
                inherits: parent.is_some(),
                oid: key.oid,
                name: &key.name,
                namespace,
                kind: "f",
                deferrable: key.rules.deferrable,
                deferred: key.rules.deferred,
                not_valid: !key.valid,
                full: key.rules.full,
                relation: relation.oid,
                index: index.unwrap_or(0),
                target: target.as_ref().map_or(0, |target| target.oid),
                on_update: key.rules.on_update.letter(),
                on_delete: key.rules.on_delete.letter(),
                columns: numbers(relation, &key.columns),
                set_columns: numbers(relation, &key.set_columns),
                target_columns: Some(target.as_ref().map(|target| numbers(target, &columns)).unwrap_or_default()),
                ..Constraint::default()
            }));
            rows.extend(key.parts.iter().filter_map(|part| key_part(schema, relation, key, part)));
        }
    }
    rows
}

/// A foreign key as a constraint of a partition of the table that it leads to.
fn key_part(schema: &SessionSchema, relation: &Relation, key: &ForeignKey, part: &KeyPart) -> Option<Row> {
    let target = schema.relation_by_oid(part.partition)?;
    let above = target.parents().first()?;
    let parent = key.parts.iter().find(|part| part.partition == *above).map_or(key.oid, |part| part.oid);
    let columns = target_columns(&target, key);
    let wanted: Vec<Option<usize>> = columns.iter().copied().map(Some).collect();
    let index = target.indexes.iter().find(|index| index.unique && index.columns == wanted);
    Some(constraint(Constraint {
        oid: part.oid,
        name: &part.name,
        namespace: namespace_oid(schema, &relation.namespace),
        kind: "f",
        deferrable: key.rules.deferrable,
        deferred: key.rules.deferred,
        not_valid: !key.valid,
        foreign: true,
        times_inherited: 1,
        inherits: true,
        full: key.rules.full,
        relation: relation.oid,
        index: index.map_or(0, |index| index.oid),
        target: target.oid,
        on_update: key.rules.on_update.letter(),
        on_delete: key.rules.on_delete.letter(),
        columns: numbers(relation, &key.columns),
        target_columns: Some(numbers(&target, &columns)),
        set_columns: numbers(relation, &key.set_columns),
        parent,
        ..Constraint::default()
    }))
}

/// Columns by number.
fn numbers(relation: &Relation, columns: &[usize]) -> Vec<usize> {
    columns.iter().map(|at| relation.number_of(*at)).collect()
}

fn constraint(constraint: Constraint<'_>) -> Row {
    let numbers = |columns: &[usize]| array(columns.iter().copied());
    let foreign = constraint.kind == "f";
    let operators = || foreign.then(|| array(constraint.columns.iter().map(|_| 96)));
    row![
        constraint.oid,
        constraint.name,
        constraint.namespace,
        constraint.kind,
        constraint.deferrable || constraint.deferred,
        constraint.deferred,
        !constraint.not_valid,
        constraint.relation,
        constraint.domain,
        constraint.index,
        constraint.parent,
        constraint.target,
        if foreign { constraint.on_update } else { " " },
        if foreign { constraint.on_delete } else { " " },
        match (foreign, constraint.full) {
            (false, _) => " ",
            (true, false) => "s",
            (true, true) => "f",
        },
        !constraint.foreign,
        constraint.times_inherited,
        !constraint.inherits,
        match &constraint.exclusion {
            Some((keys, _)) => Cell::from(array(keys.iter().copied())),
            None if constraint.columns.is_empty() => NULL,
            None => Cell::from(numbers(&constraint.columns)),
        },
        constraint.target_columns.as_deref().map(numbers),
        operators(),
        operators(),
        operators(),
        (!constraint.set_columns.is_empty()).then(|| numbers(&constraint.set_columns)),
        constraint.exclusion.as_ref().map(|(_, operators)| array(operators.iter().copied())),
        constraint.text,
    ]
}

/// The keys and the operators of an EXCLUDE; a key that is an expression is 0.
fn excluded(
    schema: &SessionSchema,
    relation: &Arc<Relation>,
    index: &Index,
    exclusion: &Exclusion,
) -> (Vec<usize>, Vec<u32>) {
    let keys = index.columns.iter().map(|column| column.map_or(0, |column| relation.number_of(column)));
    let operators = exclusion.operators.iter().enumerate().map(|(at, name)| {
        let (_, ty) = index_column(schema, relation, index, at);
        operator_oid(name, &ty)
    });
    (keys.collect(), operators.collect())
}
