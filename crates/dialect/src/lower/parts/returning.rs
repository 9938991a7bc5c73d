//! RETURNING whose subqueries read what the statement changes: they see the rows as they were before it, which not
//! every back end's RETURNING does. Such a change becomes a member of WITH, and what it returns a query over that.

use crate::ir::build::select;
use crate::ir::{
    Body, ColumnIndex, ColumnRef, Cte, CteBody, CteId, Dml, DmlAction, Expr, ExprKind, From, OutputColumn, Query,
    RelId, walk,
};
use crate::schema::Relation;

/// The rows that the change returns, in the query over them.
const RETURNED: RelId = RelId(u32::MAX - 2);
/// The change as a member of WITH.
const CHANGE: CteId = CteId(u32::MAX);

/// True for a change whose RETURNING reads rows that it may have changed.
pub fn reads_changed(dml: &Dml) -> bool {
    if !dml.target.is_table() {
        return false;
    }
    let changed = changed(dml);
    // Foreign keys may take the change to any other table; triggers would be told twice of one that is not read.
    let anywhere = dml.target.triggers.is_empty();
    let mut found = false;
    for item in &dml.returning {
        walk::expr(item, &mut |part| {
            if let Some(query) = part.kind.query() {
                Reads::of(&dml.ctes).query(query, &mut |relation| found |= anywhere || changed.contains(&relation.oid));
            }
            !found
        });
    }
    found
}

/// The tables whose rows a change changes itself.
pub(super) fn changed(dml: &Dml) -> Vec<u32> {
    let members = dml.family.iter().flat_map(|family| &family.members);
    let leaves = dml.routing.iter().flat_map(|routing| &routing.members);
    members.chain(leaves).map(|member| member.oid).chain(std::iter::once(dml.target.oid)).collect()
}

/// The change with RETURNING of columns only, as a member of WITH, and the query of what it was to return.
pub fn apart(dml: &Dml) -> (Cte, Query) {
    let mut own = match &dml.action {
        DmlAction::Update { from: Some(from), .. } | DmlAction::Delete { using: Some(from), .. } => from.relations(),
        _ => Vec::new(),
    };
    own.push(dml.id);
    let mut change = dml.clone();
    let mut items = std::mem::take(&mut change.returning);
    change.ctes = Vec::new();
    for item in &mut items {
        walk::expr_mut(item, &mut |part| {
            let ExprKind::Column(column) = part.kind else { return true };
            if own.contains(&column.relation) {
                let at = change.returning.iter().position(|known| known == part).unwrap_or_else(|| {
                    change.returning.push(part.clone());
                    change.returning.len() - 1
                });
                part.kind = ExprKind::Column(ColumnRef { relation: RETURNED, column: ColumnIndex::At(at) });
            }
            false
        });
    }
    if change.returning.is_empty() {
        change.returning.push(Expr::integer(1, crate::Type::Int4));
    }
    let named = |item: &Expr| OutputColumn { name: "value".to_owned(), ty: item.ty.clone() };
    let columns: Vec<OutputColumn> = change.returning.iter().map(named).collect();
    change.columns.clone_from(&columns);
    let from = From::Cte { id: RETURNED, cte: CHANGE, columns: columns.clone() };
    let mut query = select(items, Vec::new(), Some(from), None);
    query.columns.clone_from(&dml.columns);
    let body = CteBody::Dml(Box::new(change));
    let cte = Cte { name: "returning".to_owned(), id: CHANGE, recursive: false, materialized: None, body, columns };
    (cte, query)
}

/// The relations that queries read, those of their subqueries and of the members of WITH that they name included.
pub(super) struct Reads<'a> {
    ctes: &'a [Cte],
    /// Members that have been looked at.
    seen: Vec<CteId>,
}

impl<'a> Reads<'a> {
    pub(super) fn of(ctes: &'a [Cte]) -> Self {
        Self { ctes, seen: Vec::new() }
    }

    pub(super) fn query(&mut self, query: &Query, visit: &mut dyn FnMut(&Relation)) {
        for cte in &query.ctes {
            if let CteBody::Query(query) = &cte.body {
                self.query(query, visit);
            }
        }
        match &query.body {
            Body::Select(select) => select.from.iter().for_each(|from| self.member(from, visit)),
            Body::Set { left, right, .. } => {
                self.query(left, visit);
                self.query(right, visit);
            }
            Body::Values(_) => {}
        }
        walk::query(query, &mut |expr| {
            if let Some(query) = expr.kind.query() {
                self.query(query, visit);
            }
            true
        });
    }

    fn member(&mut self, from: &From, visit: &mut dyn FnMut(&Relation)) {
        match from {
            From::Relation { relation, .. } => visit(relation),
            From::Query { query, .. } => self.query(query, visit),
            From::Join { left, right, .. } => {
                self.member(left, visit);
                self.member(right, visit);
            }
            From::Cte { cte, .. } if !self.seen.contains(cte) => {
                self.seen.push(*cte);
                let ctes = self.ctes;
                if let Some(Cte { body: CteBody::Query(query), .. }) = ctes.iter().find(|known| known.id == *cte) {
                    self.query(query, visit);
                }
            }
            From::Cte { .. } | From::Kept { .. } | From::Function { .. } => {}
        }
    }
}
