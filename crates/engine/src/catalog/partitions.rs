//! `pg_partitioned_table`, and what functions say of partitioned tables and partitions.

use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::partition::{Bound, Edge, Key, Strategy, adopted_indexes};
use rowferry_dialect::postgres::types::format_type;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Schema, Type, heritage, postgres};
use rowferry_facts as facts;

use super::describe::expression;
use super::names::quote_ident;
use super::{Context, Row, Table, array, row};
use crate::schema::SessionSchema;

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_partitioned_table", rows)];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let schema = context.schema;
    let mut rows = Vec::new();
    for relation in schema.user_relations() {
        let Some(partitioning) = &relation.partitioning else { continue };
        let position = |key: &Key| key.column.as_deref().and_then(|name| relation.column(name));
        let types: Vec<Type> = partitioning.keys.iter().map(|key| key_type(schema, relation, key)).collect();
        let method = if partitioning.strategy == Strategy::Hash { 405 } else { 403 };
        let class = |(key, ty): (&Key, &Type)| {
            let input = rowferry_dialect::postgres::types::class_input(ty);
            let is_it = |class: &&facts::OperatorClass| match &key.opclass {
                Some(name) => class.name == *name,
                None => class.is_default && class.input == input,
            };
            let mut classes = facts::OperatorClass::all().iter().filter(|class| class.method == method);
            classes.find(is_it).map_or(0, |class| class.oid)
        };
        let collation = |(key, ty): (&Key, &Type)| {
            let named = key.collation.as_deref().and_then(|property| Collation::of_property(property, schema));
            let column = position(key).and_then(|at| relation.columns[at].collation.clone());
            named.or(column).map_or_else(|| super::pg_attribute::collation_of(ty), |collation| collation.oid)
        };
        let default = schema.heirs(relation.oid).into_iter().find(|child| child.bound() == Some(&Bound::Default));
        let expressions: Vec<String> = (partitioning.keys.iter())
            .filter(|key| key.column.is_none())
            .map(|key| expression(schema, relation, &key.text, false))
            .collect();
        rows.push(row![
            relation.oid,
            partitioning.strategy.letter(),
            partitioning.keys.len(),
            default.map_or(0, |default| default.oid),
            array(partitioning.keys.iter().map(|key| position(key).map_or(0, |at| relation.number_of(at)))),
            array(partitioning.keys.iter().zip(&types).map(class)),
            array(partitioning.keys.iter().zip(&types).map(collation)),
            (!expressions.is_empty()).then(|| expressions.join(", ")),
        ]);
    }
    rows
}

/// The types of the keys by whose hash a table's rows are parted; `None` for what is no such table.
pub fn hash_key_types(schema: &SessionSchema, relation: &Arc<Relation>) -> Option<Vec<Type>> {
    let partitioning = relation.partitioning.as_ref().filter(|known| known.strategy == Strategy::Hash)?;
    Some(partitioning.keys.iter().map(|key| key_type(schema, relation, key)).collect())
}

fn key_type(schema: &SessionSchema, relation: &Arc<Relation>, key: &Key) -> Type {
    match key.column.as_deref().and_then(|name| relation.column(name)) {
        Some(at) => relation.columns[at].ty.clone(),
        None => super::describe::type_of(schema, relation, &key.text).unwrap_or(Type::Text),
    }
}

/// Indexes of partitions with those of the parents that they are parts of, by object id.
pub(super) fn index_pairs(schema: &SessionSchema) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for relation in schema.user_relations().filter(|relation| relation.bound().is_some()) {
        for parent in heritage::parents(schema, relation) {
            let adopted = adopted_indexes(&parent, relation);
            let found = adopted.iter().zip(&parent.indexes);
            pairs.extend(found.filter_map(|(own, index)| Some((relation.indexes[(*own)?].oid, index.oid))));
        }
    }
    pairs
}

/// A key as PostgreSQL shows it.
fn shown_key(schema: &SessionSchema, relation: &Arc<Relation>, key: &Key) -> String {
    match &key.column {
        Some(name) => quote_ident(name),
        None => {
            let text = expression(schema, relation, &key.text, false);
            let bare = super::describe::is_call_of(schema, relation, &key.text);
            if bare { text } else { format!("({text})") }
        }
    }
}

/// `pg_get_partkeydef`.
pub fn key_definition(schema: &SessionSchema, relation: u32) -> Option<String> {
    let relation = schema.relation_by_oid(relation)?;
    let mut partitioning = (**relation.partitioning.as_ref()?).clone();
    for key in &mut partitioning.keys {
        key.text = shown_key(schema, &relation, key);
        if let Some(collation) = key.collation.take().and_then(|named| Collation::of_property(&named, schema)) {
            key.text.push_str(&format!(" COLLATE {}", collation.shown_in(schema)));
        }
    }
    Some(partitioning.to_string())
}

/// `pg_get_partition_constraintdef`: what the rows of a partition are, by all tables above it.
pub fn constraint(schema: &SessionSchema, relation: u32) -> Option<String> {
    let partition = schema.relation_by_oid(relation)?;
    let mut chain = vec![partition.clone()];
    while let Some(parent) = heritage::parents(schema, &chain[chain.len() - 1]).into_iter().next() {
        chain.push(parent);
    }
    let mut parts = Vec::new();
    for pair in chain.windows(2).rev() {
        parts.extend(conditions(schema, &pair[1], &pair[0])?);
    }
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(format!("({})", parts.join(" AND "))),
    }
}

/// What a partition's bound asks, each in parentheses where need be; `None` where that cannot be said.
fn conditions(schema: &SessionSchema, parent: &Arc<Relation>, partition: &Arc<Relation>) -> Option<Vec<String>> {
    let partitioning = parent.partitioning.as_ref()?;
    let shown = |key: &Key| match &key.column {
        Some(name) => quote_ident(name),
        None => expression(schema, parent, &key.text, false),
    };
    let keys: Vec<String> = partitioning.keys.iter().map(shown).collect();
    let types: Vec<Type> = partitioning.keys.iter().map(|key| key_type(schema, parent, key)).collect();
    let bound = partition.bound()?;
    let not_null = |keys: &[String]| keys.iter().map(|key| format!("({key} IS NOT NULL)")).collect::<Vec<_>>();
    Some(match bound {
        Bound::Hash { modulus, remainder } => {
            vec![format!(
                "satisfies_hash_partition('{}'::oid, {modulus}, {remainder}, {})",
                parent.oid,
                keys.join(", ")
            )]
        }
        Bound::List(values) => listed(&keys[0], &types[0], values),
        Bound::Range { from, to } => {
            let mut parts = not_null(&keys);
            parts.extend(ranged(&keys, &types, from, to));
            parts
        }
        Bound::Default => {
            let siblings = schema.heirs(parent.oid).into_iter().filter(|sibling| sibling.oid != partition.oid);
            let bounds: Vec<Bound> = siblings.filter_map(|sibling| sibling.bound().cloned()).collect();
            let of_others = match partitioning.strategy {
                Strategy::List => {
                    let values = bounds.iter().flat_map(|bound| match bound {
                        Bound::List(values) => values.clone(),
                        _ => Vec::new(),
                    });
                    let values: Vec<Option<String>> = values.collect();
                    if values.is_empty() {
                        return Some(Vec::new());
                    }
                    listed(&keys[0], &types[0], &values)
                }
                _ => {
                    let ranges: Vec<String> = (bounds.iter())
                        .filter_map(|bound| match bound {
                            Bound::Range { from, to } => Some(all_of(ranged(&keys, &types, from, to))),
                            _ => None,
                        })
                        .collect();
                    let mut parts = not_null(&keys);
                    match ranges.len() {
                        0 => return Some(Vec::new()),
                        1 => parts.extend(ranges),
                        _ => parts.push(format!("({})", ranges.join(" OR "))),
                    }
                    parts
                }
            };
            vec![format!("(NOT {})", all_of(of_others))]
        }
    })
}

fn all_of(mut parts: Vec<String>) -> String {
    if parts.len() == 1 { parts.remove(0) } else { format!("({})", parts.join(" AND ")) }
}

/// A constant as PostgreSQL prints it in an expression.
fn constant(text: &str, ty: &Type) -> String {
    if postgres::is_plain_literal(ty, text) {
        return text.to_owned();
    }
    format!("'{}'::{}", text.replace('\'', "''"), format_type(ty))
}

fn listed(key: &str, ty: &Type, values: &[Option<String>]) -> Vec<String> {
    let constants: Vec<String> = values.iter().flatten().map(|text| constant(text, ty)).collect();
    let equal = match constants.as_slice() {
        [] => None,
        [one] => Some(format!("({key} = {one})")),
        several => Some(format!("({key} = ANY (ARRAY[{}]))", several.join(", "))),
    };
    match (values.contains(&None), equal) {
        (true, Some(equal)) => vec![format!("(({key} IS NULL) OR {equal})")],
        (true, None) => vec![format!("({key} IS NULL)")],
        (false, equal) => std::iter::once(format!("({key} IS NOT NULL)")).chain(equal).collect(),
    }
}

/// The conditions of a range, without those that its keys are not NULL.
fn ranged(keys: &[String], types: &[Type], from: &[Edge], to: &[Edge]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut first = 0;
    let shown = |at: usize, sign: &str, edge: &Edge| match edge {
        Edge::Value(text) => Some(format!("({} {sign} {})", keys[at], constant(text, &types[at]))),
        Edge::Min | Edge::Max => None,
    };
    // Columns in which both edges agree.
    while first < keys.len() && from[first] == to[first] && matches!(from[first], Edge::Value(_)) {
        parts.extend(shown(first, "=", &from[first]));
        first += 1;
    }
    for (edges, strict, loose, open) in [(from, ">", ">=", Edge::Min), (to, "<", "<=", Edge::Max)] {
        let mut arms = Vec::new();
        for at in first..keys.len() {
            let next = edges.get(at + 1);
            let last = next.is_none_or(|next| !matches!(next, Edge::Value(_)));
            let sign = match next {
                // Up to the edge itself where nothing follows, or everything does.
                None if open == Edge::Min => loose,
                Some(next) if *next == open => loose,
                _ => strict,
            };
            let Some(own) = shown(at, sign, &edges[at]) else { break };
            let mut arm: Vec<String> = (first..at).filter_map(|at| shown(at, "=", &edges[at])).collect();
            arm.push(own);
            arms.push(all_of(arm));
            if last {
                break;
            }
        }
        match arms.len() {
            0 => {}
            1 => parts.extend(arms),
            _ => parts.push(format!("({})", arms.join(" OR "))),
        }
    }
    parts
}

/// A table with its partitions, or an index with its parts: object id, parent, whether it has none below it, level.
pub fn tree(schema: &dyn Schema, root: u32) -> Vec<(u32, Option<u32>, bool, i64)> {
    let Some(root) = schema.relation_by_oid(root) else { return Vec::new() };
    if !root.is_partitioned() && root.bound().is_none() {
        return Vec::new();
    }
    let above = heritage::parents(schema, &root).first().map(|parent| parent.oid);
    let mut found = vec![(root.oid, above, !root.is_partitioned(), 0)];
    let mut at = 0;
    while at < found.len() {
        let (oid, _, leaf, level) = found[at];
        if !leaf {
            let children = schema.heirs(oid).into_iter();
            found.extend(children.map(|child| (child.oid, Some(oid), !child.is_partitioned(), level + 1)));
        }
        at += 1;
    }
    found
}

/// A partition and the tables above it, up to the last; nothing for a table that is none and has none.
pub fn ancestors(schema: &dyn Schema, relation: u32) -> Vec<u32> {
    let Some(mut at) = schema.relation_by_oid(relation) else { return Vec::new() };
    if !at.is_partitioned() && at.bound().is_none() {
        return Vec::new();
    }
    let mut found = vec![at.oid];
    while at.bound().is_some() {
        let Some(parent) = heritage::parents(schema, &at).into_iter().next() else { break };
        found.push(parent.oid);
        at = parent;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_several_columns_are_said_as_postgresql_does() {
        let keys = ["a".to_owned(), "b".to_owned()];
        let types = [Type::Int4, Type::Int4];
        let value = |text: &str| Edge::Value(text.to_owned());
        let parts = ranged(&keys, &types, &[value("1"), value("2")], &[value("3"), value("4")]);
        assert_eq!(parts, ["((a > 1) OR ((a = 1) AND (b >= 2)))", "((a < 3) OR ((a = 3) AND (b < 4)))"]);
        let parts = ranged(&keys, &types, &[value("1"), Edge::Min], &[value("1"), Edge::Max]);
        assert_eq!(parts, ["(a = 1)"]);
        let parts = ranged(&keys, &types, &[Edge::Min, Edge::Min], &[value("1"), Edge::Min]);
        assert_eq!(parts, ["(a < 1)"]);
    }
}
