//! MERGE taken apart.
//!
//! The source is joined with the target; a CASE over the WHEN clauses says what is to be done about each row, and the
//! values that a clause stores are computed for the rows that it is about.

use super::{Again, ByRows};
use crate::ir::build::{row_identity, same_row, select};
use crate::ir::{
    CompareOp, Dml, DmlAction, Expr, ExprKind, From, Hidden, InsertSource, JoinKind, Merge, MergeClause, RelId, family,
    walk,
};
use crate::{Error, Result, Type};

/// The query in which the choice is made, to the one around it.
const INNER: RelId = RelId(u32::MAX - 3);
/// Its result.
const CHOSEN: RelId = RelId(u32::MAX - 4);

/// What the query of rows computes before it is known which action a row needs.
struct Inner {
    items: Vec<Expr>,
    known: Vec<RelId>,
}

impl Inner {
    /// An expression over the joined relations as one over the query that computes their columns.
    fn lift(&mut self, mut expr: Expr) -> Expr {
        walk::expr_mut(&mut expr, &mut |part| {
            let own = matches!(part.kind, ExprKind::Column(column) if self.known.contains(&column.relation));
            if own {
                let at = self.items.iter().position(|item| item == part).unwrap_or_else(|| {
                    self.items.push(part.clone());
                    self.items.len() - 1
                });
                *part = Expr::column(INNER, at, part.ty.clone());
            }
            !own
        });
        expr
    }
}

/// The number of the action that a row of a member of the target's family needs; NULL when there is none.
fn choice(clauses: &[MergeClause], actions: &[Option<usize>], matched: bool, member: usize) -> Expr {
    let mut branches = Vec::new();
    let mut otherwise = Expr::null(Type::Int8);
    for (clause, action) in clauses.iter().zip(actions).filter(|(clause, _)| clause.matched == matched) {
        let chosen = action.map_or(Expr::null(Type::Int8), |first| number(first + member));
        match &clause.condition {
            Some(condition) => branches.push((condition.clone(), chosen)),
            None => {
                otherwise = chosen;
                break;
            }
        }
    }
    if branches.is_empty() {
        return otherwise;
    }
    Expr::new(ExprKind::Case { branches, otherwise: Some(Box::new(otherwise)) }, Type::Int8)
}

/// MERGE as a query of rows and a statement for each.
///
/// # Errors
/// `0A000` for a table whose rows have no identity.
pub fn merge_by_rows(merge: &Merge) -> Result<ByRows> {
    if merge.target.without_identity {
        return Err(Error::unsupported("MERGE into a table whose rows have no identity"));
    }
    let members = merge.family.as_ref().map_or(1, |family| family.members.len());
    let mut count = 0;
    // The number of each clause's action; where there is one for each member of a family, the first's.
    let numbers: Vec<Option<usize>> = (merge.clauses.iter())
        .map(|clause| {
            clause.change.as_ref().map(|_| {
                let first = count;
                count += if clause.matched { members } else { 1 };
                first
            })
        })
        .collect();
    let row = match &merge.family {
        Some(_) => Hidden::RowIdentity.of(merge.id, &merge.target),
        None => row_identity(merge.id),
    };
    let missing = ExprKind::IsNull { arg: Box::new(row.clone()), negated: false };
    let clauses = &merge.clauses;
    let mut branches = vec![(Expr::new(missing, Type::Bool), choice(clauses, &numbers, false, 0))];
    for member in 1..members {
        let of_member = compare(CompareOp::Equal, Hidden::Member.of(merge.id, &merge.target), number(member));
        branches.push((of_member, choice(clauses, &numbers, true, member)));
    }
    let otherwise = Some(Box::new(choice(clauses, &numbers, true, 0)));
    let action = Expr::new(ExprKind::Case { branches, otherwise }, Type::Int8);
    let mut known = vec![merge.id];
    known.extend(merge.source.relations());
    let chosen = Expr::column(INNER, 1, Type::Int8);
    let mut rows = Rows {
        items: vec![Expr::column(INNER, 0, Type::Int8), chosen.clone()],
        chosen,
        inner: Inner { items: vec![row, action], known },
    };
    let mut changes = Vec::with_capacity(clauses.len());
    for (clause, at) in clauses.iter().zip(numbers) {
        let (Some(change), Some(at)) = (&clause.change, at) else { continue };
        let several = if clause.matched { members } else { 1 };
        changes.push((clause, rows.bring(change, at, several)));
    }
    let mut actions = Vec::with_capacity(count);
    for (clause, mut change) in changes {
        if let Some(routing) = change.routing.take() {
            let moves = matches!(change.action, DmlAction::Update { .. });
            let width = rows.items.len();
            change.routing = Some(if moves { Box::new(routing.with_moved(&change, width)) } else { routing });
        }
        match &merge.family {
            Some(family) if clause.matched => {
                for member in &family.members {
                    actions.push(family::for_member(&change, member)?);
                }
            }
            _ => actions.push(change),
        }
    }
    let inserts = clauses.iter().any(|clause| !clause.matched && clause.change.is_some());
    let Rows { items, inner, .. } = rows;
    let mut below = select(inner.items, Vec::new(), Some(joined(merge, inserts)), None);
    below.output = CHOSEN;
    // The choice is made once for each row: nobody looks into a query that has an offset.
    below.offset = Some(number(0));
    let from = From::Query { id: INNER, query: Box::new(below), lateral: false };
    let rows = select(items, merge.ctes.clone(), Some(from), None);
    Ok(ByRows { rows, actions, again: Again::Refused(merge.language) })
}

/// The rows of the source with those of the target that they meet.
fn joined(merge: &Merge, unmatched: bool) -> From {
    let target = match &merge.family {
        Some(family) => family.rows.clone(),
        None => {
            let filter = merge.visible.clone().map(Box::new);
            From::Relation { id: merge.id, relation: merge.target.clone(), filter }
        }
    };
    From::Join {
        kind: if unmatched { JoinKind::Left } else { JoinKind::Inner },
        left: Box::new(merge.source.clone()),
        right: Box::new(target),
        on: merge.on.clone(),
    }
}

/// The columns of the query of rows.
struct Rows {
    items: Vec<Expr>,
    /// The one that says which action is meant.
    chosen: Expr,
    inner: Inner,
}

impl Rows {
    /// Adds a value of some of the actions, computed for those rows only that it is for; the parameter that brings it.
    fn given(&mut self, value: Expr, first: usize, several: usize) -> Expr {
        let ty = value.ty.clone();
        let test = if several == 1 {
            compare(CompareOp::Equal, self.chosen.clone(), number(first))
        } else {
            let from = compare(CompareOp::GreaterOrEqual, self.chosen.clone(), number(first));
            let to = compare(CompareOp::Less, self.chosen.clone(), number(first + several));
            Expr::new(ExprKind::And(vec![from, to]), Type::Bool)
        };
        let branches = vec![(test, self.inner.lift(value))];
        self.items.push(Expr::new(ExprKind::Case { branches, otherwise: None }, ty.clone()));
        Expr::new(ExprKind::Param(self.items.len() - 1), ty)
    }

    /// A clause's change as one of a row of the query.
    fn bring(&mut self, change: &Dml, first: usize, several: usize) -> Dml {
        let mut dml = change.clone();
        dml.family = None;
        let mut routing = dml.routing.take();
        if let Some(routing) = &mut routing {
            routing.bring(dml.id, &written(change), &mut |value| self.given(value, first, several));
        }
        let said = |value: &&mut Expr| !matches!(value.kind, ExprKind::Default);
        match &mut dml.action {
            DmlAction::Update { assignments, filter, .. } => {
                *filter = Some(same_row(dml.id));
                for value in assignments.iter_mut().map(|(_, value)| value).filter(said) {
                    *value = self.given(value.clone(), first, several);
                }
            }
            DmlAction::Delete { filter, .. } => *filter = Some(same_row(dml.id)),
            DmlAction::Insert { source: InsertSource::Values(rows), .. } => {
                for value in rows.iter_mut().flatten().filter(said) {
                    *value = self.given(value.clone(), first, several);
                }
            }
            DmlAction::Insert { .. } => {}
        }
        dml.routing = routing;
        dml
    }
}

/// The columns of the row that a change writes.
fn written(change: &Dml) -> Box<dyn Fn(usize) -> Expr + '_> {
    let ty = |at: usize| change.target.columns[at].ty.clone();
    match &change.action {
        DmlAction::Insert { columns, source: InsertSource::Values(rows), .. } => Box::new(move |at| {
            let placed = columns.iter().position(|column| *column == at);
            let value = placed.and_then(|place| rows.first()?.get(place));
            match value.filter(|value| !matches!(value.kind, ExprKind::Default)) {
                Some(value) => value.clone(),
                None => Expr::null(ty(at)),
            }
        }),
        DmlAction::Update { assignments, .. } => Box::new(move |at| {
            let assigned = assignments.iter().find(|(column, _)| *column == at);
            assigned.map_or_else(|| Expr::column(change.id, at, ty(at)), |(_, value)| value.clone())
        }),
        _ => Box::new(move |at| Expr::null(ty(at))),
    }
}

fn number(at: usize) -> Expr {
    Expr::integer(i64::try_from(at).unwrap_or(i64::MAX), Type::Int8)
}

fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
    Expr::new(ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) }, Type::Bool)
}
