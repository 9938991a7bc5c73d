//! WHERE CURRENT OF: a cursor's rows are known by the rows of tables that they are made of, which its query yields behind
//! its own columns.

use crate::functions;
use crate::ir::{
    Body, ColumnIndex, ColumnRef, Distinct, DmlAction, Expr, ExprKind, From, GroupBy, OutputColumn, Query, RelId,
    Statement, walk,
};
use crate::plan::Bound;
use crate::schema::{Relation, RelationKind};
use crate::{Condition, Error, Result, Type};

/// The tables of whose rows a cursor's rows are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Positions {
    /// Their object ids, in the order of the columns behind the query's own.
    tables: Vec<u32>,
    /// They are those of FOR UPDATE or its kin.
    locking: bool,
}

impl Positions {
    /// Where among the columns behind a row's own the row of a table is.
    ///
    /// # Errors
    /// `24000` for a cursor by which this table cannot be changed.
    pub fn of(&self, cursor: &str, table: &Relation) -> Result<usize> {
        let name = &table.name;
        let state = |message| Err(Error::new(Condition::InvalidCursorState, message));
        let mut found = self.tables.iter().enumerate().filter(|(_, oid)| **oid == table.oid).map(|(at, _)| at);
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (None, _) if self.locking => {
                state(format!("cursor \"{cursor}\" does not have a FOR UPDATE/SHARE reference to table \"{name}\""))
            }
            (Some(_), Some(_)) if self.locking => {
                state(format!("cursor \"{cursor}\" has multiple FOR UPDATE/SHARE references to table \"{name}\""))
            }
            _ => state(format!("cursor \"{cursor}\" is not a simply updatable scan of table \"{name}\"")),
        }
    }
}

/// A cursor's query with the places of its tables' rows behind its columns.
pub fn with_positions(query: &Query) -> (Query, Positions) {
    let mut query = query.clone();
    let locking = !query.locking.is_empty();
    let Body::Select(select) = &mut query.body else { return (query, Positions { tables: Vec::new(), locking }) };
    let mut aggregated = select.having.is_some() || select.group_by != GroupBy::None;
    for item in &select.items {
        walk::expr(item, &mut |part| {
            aggregated |= matches!(part.kind, ExprKind::Aggregate(_) | ExprKind::Window(_));
            !aggregated
        });
    }
    let kept = |relation: &Relation| relation.kind == RelationKind::Table && !relation.without_identity;
    let tables: Vec<(RelId, u32)> = match &select.from {
        Some(_) if aggregated || select.distinct != Distinct::All => Vec::new(),
        Some(_) if locking => {
            let locks = query.locking.iter().filter(|lock| kept(&lock.relation));
            locks.map(|lock| (lock.id, lock.relation.oid)).collect()
        }
        Some(From::Relation { id, relation, .. }) if kept(relation) => vec![(*id, relation.oid)],
        _ => Vec::new(),
    };
    for (id, _) in &tables {
        let rowid = ColumnRef { relation: *id, column: ColumnIndex::RowIdentity };
        select.items.push(Expr::new(ExprKind::Column(rowid), Type::Int8));
        query.columns.push(OutputColumn { name: "rowid".to_owned(), ty: Type::Int8 });
    }
    (query, Positions { tables: tables.into_iter().map(|(_, oid)| oid).collect(), locking })
}

/// How a statement names a cursor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CursorName<'a> {
    /// By its name.
    Is(&'a str),
    /// By a variable of a function: the parameter that it is.
    In(usize),
}

/// The cursor whose row an UPDATE or DELETE is about, with the table.
pub fn current_of(bound: &Bound) -> Option<(CursorName<'_>, &Relation)> {
    let Statement::Dml(dml) = &bound.statement else { return None };
    let (cursor, filter) = match &dml.action {
        DmlAction::Update { current_of, filter, .. } | DmlAction::Delete { current_of, filter, .. } => {
            (current_of.as_deref()?, filter)
        }
        DmlAction::Insert { .. } => return None,
    };
    let mut name = CursorName::Is(cursor);
    if let Some(filter) = filter {
        walk::expr(filter, &mut |part| {
            if let ExprKind::Call { function, args } = &part.kind
                && function.is(functions::internal("row of the cursor"))
                && let [Expr { kind: ExprKind::Param(index), .. }] = args.as_slice()
            {
                name = CursorName::In(*index);
            }
            true
        });
    }
    Some((name, &dml.target))
}
