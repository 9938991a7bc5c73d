//! A table together with those that inherit from it, as one relation.
//!
//! To read it is a query: the union of all its members' rows, in the columns of the table that heads it. To change it is a
//! query of rows and a statement for each member, see [`by_rows`](crate::lower::parts::by_rows).

use std::sync::Arc;

use super::build::select;
use super::{
    Body, ColumnIndex, ColumnRef, ConflictAction, Dml, DmlAction, Expr, ExprKind, From, Heir, Ids, OnConflict,
    OutputColumn, Query, RelId, SetOp, walk,
};
use crate::schema::Relation;
use crate::{Error, Result, Type};

/// A changed table with its heirs.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The table itself, and all that inherit from it.
    pub members: Vec<Arc<Relation>>,
    /// Their rows under the number of the changed table: its columns, and behind them [`Hidden`].
    pub rows: From,
}

/// What stands behind the columns in the rows of a family.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hidden {
    /// `tableoid`: which table the row is of.
    Table,
    /// The row's identity there.
    RowIdentity,
    /// Which of the members that is, from 0.
    Member,
}

impl Hidden {
    /// Its position, in the rows of a family of a table of so many columns.
    pub const fn position(self, width: usize) -> usize {
        width + self as usize
    }

    /// It as an expression over the rows of a family.
    pub fn of(self, rows: RelId, head: &Relation) -> Expr {
        let ty = if matches!(self, Self::Table) { Type::Oid } else { Type::Int8 };
        Expr::column(rows, self.position(head.columns.len()), ty)
    }
}

/// The position of one of the head's columns in a member.
fn column_in(member: &Relation, head: &Relation, at: usize) -> Result<usize> {
    let name = &head.columns[at].name;
    member.columns.iter().position(|column| column.name == *name).ok_or_else(|| {
        Error::internal(format!("\"{}\" inherits from \"{}\" and has no column \"{name}\"", member.name, head.name))
    })
}

/// The rows of a family, whose first member is its head. `changed` says that rows are to be changed: then they can be told
/// from each other.
///
/// # Errors
/// `0A000` for members without identities whose rows are to be changed.
pub fn rows(members: &[Arc<Relation>], ids: &mut Ids, changed: bool) -> Result<Query> {
    let mut union: Option<Query> = None;
    let head = members.first().ok_or_else(|| Error::internal("a family of nobody"))?;
    let alone = members.iter().all(|member| member.is_partitioned());
    for (number, member) in members.iter().enumerate() {
        // A partitioned table has no rows; without any leaf it stands for none.
        if member.is_partitioned() && !(alone && number == 0) {
            continue;
        }
        let id = ids.relation();
        let mut items = Vec::with_capacity(head.columns.len() + 3);
        let mut columns = Vec::with_capacity(head.columns.len() + 3);
        let mut add = |name: &str, item: Expr| {
            columns.push(OutputColumn { name: name.to_owned(), ty: item.ty.clone() });
            items.push(item);
        };
        for (at, column) in head.columns.iter().enumerate() {
            let place = column_in(member, head, at)?;
            let own = Expr::column(id, place, member.columns[place].ty.clone());
            add(&column.name, own.cast(column.ty.clone(), super::CastContext::Implicit));
        }
        add("tableoid", Expr::integer(i64::from(member.oid), Type::Oid));
        if changed {
            if member.without_identity {
                return Err(Error::unsupported("a change, over an inheritance parent, of a table without rowids"));
            }
            let row_identity = ExprKind::Column(ColumnRef { relation: id, column: ColumnIndex::RowIdentity });
            add("rowid", Expr::new(row_identity, Type::Int8));
            add("member", Expr::integer(i64::try_from(number).unwrap_or(i64::MAX), Type::Int8));
        }
        let mut query =
            select(items, Vec::new(), Some(From::Relation { id, relation: member.clone(), filter: None }), None);
        query.columns.clone_from(&columns);
        query.output = ids.relation();
        union = Some(match union {
            None => query,
            Some(before) => {
                let mut both = select(Vec::new(), Vec::new(), None, None);
                both.body = Body::Set { op: SetOp::Union, all: true, left: Box::new(before), right: Box::new(query) };
                both.columns = columns;
                both.output = ids.relation();
                both
            }
        });
    }
    union.ok_or_else(|| Error::internal("a family of nobody"))
}

/// A statement over one row of the head, about one of the members.
///
/// # Errors
/// Internal ones: a member lacks a column.
pub fn for_member(dml: &Dml, member: &Arc<Relation>) -> Result<Dml> {
    let head = dml.target.clone();
    let places: Vec<usize> = (0..head.columns.len()).map(|at| column_in(member, &head, at)).collect::<Result<_>>()?;
    let mut own = dml.clone();
    own.family = None;
    if let DmlAction::Insert { columns, on_conflict, .. } = &mut own.action {
        columns.iter_mut().for_each(|at| *at = places[*at]);
        if let Some(conflict) = on_conflict {
            own_conflict(conflict, &head, member, &places)?;
        }
    }
    let excluded = match &own.action {
        DmlAction::Insert { on_conflict: Some(conflict), .. } => match &conflict.action {
            ConflictAction::Update { excluded, .. } => Some(*excluded),
            ConflictAction::Nothing => None,
        },
        _ => None,
    };
    if own.heir.is_none() && member.oid != head.oid {
        own.heir = Some(Heir { head: head.clone(), moves: false });
    }
    own.target = member.clone();
    if let DmlAction::Update { assignments, .. } = &mut own.action {
        assignments.iter_mut().for_each(|(at, _)| *at = places[*at]);
    }
    walk::dml_mut(&mut own, &mut |expr| {
        if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = expr.kind
            && (relation == dml.id || Some(relation) == excluded)
        {
            match places.get(at) {
                Some(place) => {
                    let (wanted, held) = (expr.ty.clone(), member.columns[*place].ty.clone());
                    *expr = Expr::column(relation, *place, held).cast(wanted, super::CastContext::Implicit);
                }
                None => *expr = Expr::integer(i64::from(member.oid), Type::Oid),
            }
            return false;
        }
        true
    });
    Ok(own)
}

/// ON CONFLICT in a member: the same columns, the index over the same ones.
fn own_conflict(conflict: &mut OnConflict, head: &Relation, member: &Relation, places: &[usize]) -> Result<()> {
    if let ConflictAction::Update { assignments, .. } = &mut conflict.action {
        assignments.iter_mut().for_each(|(at, _)| *at = places[*at]);
    }
    let Some(arbiter) = &mut conflict.arbiter else { return Ok(()) };
    let Some(index) = head.indexes.get(arbiter.index) else {
        return Err(Error::internal("an index that there is not"));
    };
    let wanted: Vec<Option<usize>> = index.columns.iter().map(|column| column.map(|at| places[at])).collect();
    let texts = |index: &crate::schema::Index| -> Vec<String> {
        let keys = index.keys.iter().zip(&index.columns);
        keys.filter(|(_, column)| column.is_none()).map(|(key, _)| key.text.clone()).collect()
    };
    let same = |own: &crate::schema::Index| {
        own.unique && own.columns == wanted && own.predicate == index.predicate && texts(own) == texts(index)
    };
    let Some(own) = member.indexes.iter().position(same) else {
        let message = format!("ON CONFLICT by an index that \"{}\" has in another form", member.name);
        return Err(Error::unsupported(message));
    };
    arbiter.index = own;
    for expr in arbiter.keys.iter_mut().chain(&mut arbiter.predicate) {
        walk::expr_mut(expr, &mut |part| {
            if let ExprKind::Column(ColumnRef { column: ColumnIndex::At(at), .. }) = &mut part.kind {
                *at = places[*at];
            }
            true
        });
    }
    Ok(())
}
