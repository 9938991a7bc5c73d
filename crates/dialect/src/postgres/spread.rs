//! `row.*` in VALUES: the columns that it covers, by their names.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::binder::{Binder, Clause, Scope};
use crate::Result;

impl Binder<'_> {
    /// VALUES with `row.*` spread out; `None` where there is none.
    pub(super) fn spread_values(&mut self, lists: &[Node]) -> Result<Option<Vec<Node>>> {
        if !lists.iter().any(|list| items(list).iter().any(is_star)) {
            return Ok(None);
        }
        let mut spread = Vec::with_capacity(lists.len());
        for list in lists {
            let scope = Scope { clause: Clause::Values, ..Scope::default() };
            let (members, _) = self.with_scope(scope, |binder| binder.spread_items(items(list)))?;
            spread.push(Node { node: Some(N::List(pg::List { items: members })) });
        }
        Ok(Some(spread))
    }

    fn spread_items(&mut self, items: &[Node]) -> Result<Vec<Node>> {
        let mut members = Vec::with_capacity(items.len());
        for item in items {
            match &item.node {
                _ if !is_star(item) => members.push(item.clone()),
                Some(N::ColumnRef(reference)) => {
                    let columns = self.star(reference)?;
                    members.extend(columns.into_iter().map(|column| reference_of(reference, column.name)));
                }
                Some(N::AIndirection(indirection)) => {
                    let Some((row, at)) = self.spread_value(item)? else { continue };
                    let fields = self.fields_of(row, at)?;
                    members.extend(fields.into_iter().map(|field| field_of(indirection, field.name)));
                }
                _ => {}
            }
        }
        Ok(members)
    }
}

fn items(list: &Node) -> &[Node] {
    match &list.node {
        Some(N::List(list)) => &list.items,
        _ => &[],
    }
}

/// `row.*`, `(value).*`.
pub(super) fn is_star(node: &Node) -> bool {
    let last = match &node.node {
        Some(N::ColumnRef(reference)) => reference.fields.last(),
        Some(N::AIndirection(indirection)) => indirection.indirection.last(),
        _ => None,
    };
    matches!(last, Some(Node { node: Some(N::AStar(_)) }))
}

/// A column in place of `row.*`.
fn reference_of(star: &pg::ColumnRef, name: String) -> Node {
    let mut reference = star.clone();
    reference.fields.pop();
    reference.fields.push(Node { node: Some(N::String(pg::String { sval: name })) });
    Node { node: Some(N::ColumnRef(reference)) }
}

/// A field in place of `(value).*`.
fn field_of(star: &pg::AIndirection, name: String) -> Node {
    let mut indirection = star.clone();
    indirection.indirection.pop();
    indirection.indirection.push(Node { node: Some(N::String(pg::String { sval: name })) });
    Node { node: Some(N::AIndirection(Box::new(indirection))) }
}
