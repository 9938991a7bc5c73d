//! Keys and what tables promise.

use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::mysql::{INVISIBLE, PREFIX};
use rowferry_dialect::schema::{Index, Relation};

use super::{Context, DEF, Row, Table, database, key_name, of_schema, relations, row, shown, words};
use crate::catalog::describe::{self, target_columns};
use crate::catalog::{Cell, NULL, referenced_index};

const STATISTICS: &str = "TABLE_CATALOG text, TABLE_SCHEMA text, TABLE_NAME text, NON_UNIQUE int8, \
    INDEX_SCHEMA text, INDEX_NAME text, SEQ_IN_INDEX int8, COLUMN_NAME text, COLLATION text, CARDINALITY int8, \
    SUB_PART int8, PACKED text, NULLABLE text, INDEX_TYPE text, COMMENT text, INDEX_COMMENT text, IS_VISIBLE text, \
    EXPRESSION text";
/// The same with the row's place.
pub(super) const SHOWN_STATISTICS: &str = "TABLE_CATALOG text, TABLE_SCHEMA text, TABLE_NAME text, NON_UNIQUE int8, \
    INDEX_SCHEMA text, INDEX_NAME text, SEQ_IN_INDEX int8, COLUMN_NAME text, COLLATION text, CARDINALITY int8, \
    SUB_PART int8, PACKED text, NULLABLE text, INDEX_TYPE text, COMMENT text, INDEX_COMMENT text, IS_VISIBLE text, \
    EXPRESSION text, PLACE int8";

pub(super) const TABLES: &[Table] = &[
    of_schema("statistics", STATISTICS, statistics),
    of_schema(
        "table_constraints",
        "CONSTRAINT_CATALOG text, CONSTRAINT_SCHEMA text, CONSTRAINT_NAME text, TABLE_SCHEMA text, TABLE_NAME text, \
         CONSTRAINT_TYPE text, ENFORCED text",
        table_constraints,
    ),
    of_schema(
        "key_column_usage",
        "CONSTRAINT_CATALOG text, CONSTRAINT_SCHEMA text, CONSTRAINT_NAME text, TABLE_CATALOG text, \
         TABLE_SCHEMA text, TABLE_NAME text, COLUMN_NAME text, ORDINAL_POSITION int8, \
         POSITION_IN_UNIQUE_CONSTRAINT int8, REFERENCED_TABLE_SCHEMA text, REFERENCED_TABLE_NAME text, \
         REFERENCED_COLUMN_NAME text",
        key_column_usage,
    ),
    of_schema(
        "referential_constraints",
        "CONSTRAINT_CATALOG text, CONSTRAINT_SCHEMA text, CONSTRAINT_NAME text, UNIQUE_CONSTRAINT_CATALOG text, \
         UNIQUE_CONSTRAINT_SCHEMA text, UNIQUE_CONSTRAINT_NAME text, MATCH_OPTION text, UPDATE_RULE text, \
         DELETE_RULE text, TABLE_NAME text, REFERENCED_TABLE_NAME text",
        referential_constraints,
    ),
    of_schema(
        "check_constraints",
        "CONSTRAINT_CATALOG text, CONSTRAINT_SCHEMA text, CONSTRAINT_NAME text, CHECK_CLAUSE text",
        check_constraints,
    ),
];

/// The name of an index: that of a primary key is the word.
pub(super) fn index_name<'a>(relation: &Relation, index: &'a Index) -> &'a str {
    if index.primary { "PRIMARY" } else { key_name(relation, &index.name) }
}

/// The indexes of a table in MySQL's order: the primary key, unique ones without NULL, other unique ones, the others, those of words;
/// each as they were made.
pub(super) fn in_order(relation: &Relation) -> Vec<&Index> {
    let may_be_null = |index: &Index| {
        let of = |column: &Option<usize>| column.and_then(|at| relation.columns.get(at)).is_none_or(|it| !it.not_null);
        index.columns.iter().any(of)
    };
    let mut indexes: Vec<&Index> = relation.indexes.iter().collect();
    indexes.sort_by_key(|index| (!index.primary, !index.unique, index.unique && may_be_null(index), index.fulltext));
    indexes
}

/// Of how many of the first characters a part of a key was said to be.
pub(super) fn prefix(context: &Context<'_>, relation: &Relation, index: &Index, at: usize) -> Option<i64> {
    let properties = &context.schema.details(relation.oid)?.properties;
    properties.get(&index.name, &format!("{PREFIX}{}", at + 1))?.parse().ok()
}

/// A key is INVISIBLE.
pub(super) fn is_invisible(context: &Context<'_>, relation: &Relation, index: &Index) -> bool {
    context.schema.details(relation.oid).is_some_and(|details| details.properties.has(&index.name, INVISIBLE))
}

/// The column whose first characters a part of a unique key is.
pub(super) fn prefixed(context: &Context<'_>, relation: &Arc<Relation>, index: &Index, at: usize) -> Option<String> {
    let words = words::key(context, relation, index, at);
    let (name, _) = words.strip_prefix("left(`")?.rsplit_once("`,")?;
    Some(name.replace("``", "`"))
}

fn statistics(context: &Context<'_>) -> Vec<Row> {
    statistics_of(context, relations(context))
}

/// The same with temporary tables, which SHOW alone tells of, and the places of its rows.
pub(super) fn shown_statistics(context: &Context<'_>) -> Vec<Row> {
    let rows = statistics_of(context, shown(context));
    let placed = |(at, mut row): (usize, Row)| {
        row.extend(row![at]);
        row
    };
    rows.into_iter().enumerate().map(placed).collect()
}

fn statistics_of<'a>(context: &'a Context<'_>, relations: impl Iterator<Item = &'a Arc<Relation>>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations {
        let namespace = database(context, &relation.namespace);
        for index in in_order(relation) {
            for (at, column) in index.columns.iter().enumerate() {
                let prefix = prefix(context, relation, index, at);
                let column = column.and_then(|column| relation.columns.get(column));
                let column = column.map(|column| (column.name.clone(), column.not_null)).or_else(|| {
                    let name = prefix.as_ref().and_then(|_| prefixed(context, relation, index, at))?;
                    let at = relation.column(&name)?;
                    Some((name, relation.columns[at].not_null))
                });
                let expression = column.is_none().then(|| words::key(context, relation, index, at));
                rows.push(row![
                    DEF,
                    namespace,
                    &relation.name,
                    i64::from(!index.unique),
                    namespace,
                    index_name(relation, index),
                    at + 1,
                    column.as_ref().map(|(name, _)| name),
                    match index.keys.get(at).is_some_and(|key| key.descending) {
                        _ if index.fulltext => NULL,
                        true => Cell::from("D"),
                        false => Cell::from("A"),
                    },
                    // Nobody has counted.
                    NULL,
                    prefix,
                    NULL,
                    if column.is_some_and(|(_, not_null)| not_null) { "" } else { "YES" },
                    if index.fulltext { "FULLTEXT" } else { "BTREE" },
                    "",
                    describe::part_comment(context.schema, index.oid).unwrap_or_default(),
                    if is_invisible(context, relation, index) { "NO" } else { "YES" },
                    expression,
                ]);
            }
        }
    }
    rows
}

fn table_constraints(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations(context) {
        let namespace = database(context, &relation.namespace);
        let mut push = |name: &str, kind: &str| {
            rows.push(row![DEF, namespace, name, namespace, &relation.name, kind, "YES"]);
        };
        for index in relation.indexes.iter().filter(|index| index.unique) {
            push(index_name(relation, index), if index.primary { "PRIMARY KEY" } else { "UNIQUE" });
        }
        for key in &relation.foreign_keys {
            push(&key.name, "FOREIGN KEY");
        }
        for check in relation.told_checks() {
            push(&check.name, "CHECK");
        }
    }
    rows
}

fn key_column_usage(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations(context) {
        let namespace = database(context, &relation.namespace);
        for index in relation.indexes.iter().filter(|index| index.unique) {
            for (at, column) in index.columns.iter().flatten().enumerate() {
                let Some(column) = relation.columns.get(*column) else { continue };
                let name = index_name(relation, index);
                rows.push(row![
                    DEF,
                    namespace,
                    name,
                    DEF,
                    namespace,
                    &relation.name,
                    &column.name,
                    at + 1,
                    NULL,
                    NULL,
                    NULL,
                    NULL
                ]);
            }
        }
        for key in &relation.foreign_keys {
            let Some(target) = context.schema.relation(&key.target) else { continue };
            let targets = target_columns(&target, key);
            for (at, (column, wanted)) in key.columns.iter().zip(targets).enumerate() {
                rows.push(row![
                    DEF,
                    namespace,
                    &key.name,
                    DEF,
                    namespace,
                    &relation.name,
                    &relation.columns[*column].name,
                    at + 1,
                    at + 1,
                    database(context, &target.namespace),
                    &target.name,
                    &target.columns[wanted].name,
                ]);
            }
        }
    }
    rows
}

fn referential_constraints(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations(context) {
        let namespace = database(context, &relation.namespace);
        for key in &relation.foreign_keys {
            let Some(target) = context.schema.relation(&key.target) else { continue };
            let index = referenced_index(&target, key).map(|index| index_name(&target, index).to_owned());
            rows.push(row![
                DEF,
                namespace,
                &key.name,
                DEF,
                database(context, &target.namespace),
                index,
                "NONE",
                key.rules.on_update.words(),
                key.rules.on_delete.words(),
                &relation.name,
                &target.name,
            ]);
        }
    }
    rows
}

fn check_constraints(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations(context) {
        for check in relation.told_checks() {
            let clause = words::check(context, relation, check);
            rows.push(row![DEF, database(context, &relation.namespace), &check.name, clause]);
        }
    }
    rows
}
