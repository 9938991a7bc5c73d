//! FOR UPDATE and its kin: which rows of which tables a query locks.

use pg_query::protobuf::{self as pg, LockClauseStrength, LockWaitPolicy, SelectStmt, node::Node as N};

use super::binder::{Binder, BoundQuery, Entry};
use crate::access::Privileges;
use crate::ir::{
    Body, ColumnRef, Distinct, ExprKind, From, GroupBy, JoinKind, LockMode, LockWait, Query, RelId, RowLock, Select,
    row_locks_of, walk,
};
use crate::schema::RelationKind;
use crate::{Condition, Error, Result};

/// What a locking clause asks for.
#[derive(Clone, Copy)]
struct Wish {
    mode: LockMode,
    wait: LockWait,
    words: &'static str,
}

impl Wish {
    fn of(clause: &pg::LockingClause) -> Self {
        let (mode, words) = match clause.strength() {
            LockClauseStrength::LcsForkeyshare => (LockMode::AccessShare, "FOR KEY SHARE"),
            LockClauseStrength::LcsForshare => (LockMode::RowShare, "FOR SHARE"),
            LockClauseStrength::LcsFornokeyupdate => (LockMode::Exclusive, "FOR NO KEY UPDATE"),
            _ => (LockMode::AccessExclusive, "FOR UPDATE"),
        };
        let wait = match clause.wait_policy() {
            LockWaitPolicy::LockWaitSkip => LockWait::Skip,
            LockWaitPolicy::LockWaitError => LockWait::Fail,
            _ => LockWait::Block,
        };
        Self { mode, wait, words }
    }
}

impl Binder<'_> {
    /// Locking clauses of what is no plain SELECT: there are no rows of tables to be locked.
    pub(super) fn refuse_locking(&self, select: &SelectStmt, what: &str) -> Result<()> {
        match clauses(select).next() {
            Some(clause) => Err(not_allowed(&Wish::of(clause), what)),
            None => Ok(()),
        }
    }

    /// Locking clauses of a SELECT whose FROM has these entries.
    pub(super) fn row_locks(&mut self, select: &SelectStmt, bound: &mut BoundQuery, entries: &[Entry]) -> Result<()> {
        if self.secured_families && clauses(select).next().is_some() {
            return Err(self.unsupported("row locks beside a table with policies that others inherit from", -1));
        }
        for clause in clauses(select) {
            let wish = Wish::of(clause);
            let Body::Select(body) = &mut bound.query.body else {
                return Err(not_allowed(&wish, "UNION/INTERSECT/EXCEPT"));
            };
            // MySQL locks what it reads, whatever becomes of it.
            let whole = match check_body(body, &wish) {
                Err(_) if self.is_mysql() && wish.wait == LockWait::Block => true,
                checked => checked.map(|()| false)?,
            };
            let mut locks = Vec::new();
            if clause.locked_rels.is_empty()
                && let Some(from) = &mut body.from
            {
                self.lock_all(from, &wish, &mut locks)?;
            }
            for node in &clause.locked_rels {
                let Some(N::RangeVar(range)) = &node.node else { continue };
                self.lock_named(range, &wish, body, entries, &mut locks)?;
            }
            // MySQL's locks pass over rows that are not there.
            if let Some(from) = body.from.as_ref().filter(|_| !self.is_mysql()) {
                check_nullable(from, &wish, &locks)?;
            }
            for lock in locks {
                let lock = RowLock { whole, ..lock };
                match bound.query.locking.iter_mut().find(|known| known.id == lock.id) {
                    // Two clauses for one table: the stronger, and the less patient.
                    Some(known) => {
                        known.mode = known.mode.max(lock.mode);
                        known.wait = known.wait.max(lock.wait);
                    }
                    None => bound.query.locking.push(lock),
                }
            }
        }
        if !bound.query.locking.is_empty() || clauses(select).next().is_some() {
            let mut locked = Vec::new();
            ids_of_locked(&bound.query, &mut locked);
            locked.iter().for_each(|id| self.needs.require(*id, Privileges::UPDATE));
            if !self.secured_relations.is_empty()
                && let Body::Select(body) = &mut bound.query.body
                && let Some(from) = &mut body.from
            {
                self.lockable_rows(from, &locked)?;
            }
        }
        Ok(())
    }

    /// `OF name`.
    fn lock_named(
        &self,
        range: &pg::RangeVar,
        wish: &Wish,
        body: &mut Select,
        entries: &[Entry],
        locks: &mut Vec<RowLock>,
    ) -> Result<()> {
        let words = wish.words;
        if !range.schemaname.is_empty() || !range.catalogname.is_empty() {
            let message = format!("{words} must specify unqualified relation names");
            return Err(self.error(Condition::SyntaxError, message, range.location));
        }
        let Some(entry) = entries.iter().find(|entry| entry.name == range.relname && entry.qualified) else {
            let message = format!("relation \"{}\" in {words} clause not found in FROM clause", range.relname);
            return Err(self.error(Condition::UndefinedTable, message, range.location));
        };
        let id = entry.relation.as_ref().map(|(id, _)| *id).or_else(|| entry.columns.first().and_then(relation_of));
        let found = id.and_then(|id| body.from.as_mut().and_then(|from| find(from, id)));
        match found {
            Some(from @ (From::Relation { .. } | From::Query { .. })) => self.lock_all(from, wish, locks),
            Some(From::Function { .. }) => Err(self.cannot_apply(wish, "a function", range.location)),
            Some(From::Cte { .. }) => Err(self.cannot_apply(wish, "a WITH query", range.location)),
            _ => Err(self.cannot_apply(wish, "a join", range.location)),
        }
    }

    /// Locks all tables of a FROM clause, those inside its subqueries (and so in views) included.
    fn lock_all(&self, from: &mut From, wish: &Wish, locks: &mut Vec<RowLock>) -> Result<()> {
        match from {
            From::Relation { relation, .. } if relation.kind == RelationKind::Table => {
                locks.extend(row_locks_of(Some(from), wish.mode, wish.wait));
                Ok(())
            }
            // In MySQL a derived table has locks of its own, or none; a view is what it reads.
            From::Query { id, .. } if self.is_mysql() && !self.views_behind.contains_key(id) => Ok(()),
            From::Query { id, query, .. } => {
                if self.families.contains_key(id) {
                    self.lock_members(query, wish)
                } else {
                    self.lock_inside(query, wish)
                }
            }
            From::Join { left, right, .. } => {
                self.lock_all(left, wish, locks)?;
                self.lock_all(right, wish, locks)
            }
            From::Relation { relation, .. } if relation.is_materialized() => {
                let message = format!("cannot lock rows in materialized view \"{}\"", relation.name);
                Err(crate::Error::new(Condition::WrongObjectType, message))
            }
            From::Relation { .. } | From::Cte { .. } | From::Kept { .. } | From::Function { .. } => Ok(()),
        }
    }

    /// Each row of a family is one of a member's.
    fn lock_members(&self, query: &mut Query, wish: &Wish) -> Result<()> {
        match &mut query.body {
            Body::Set { left, right, .. } => {
                self.lock_members(left, wish)?;
                self.lock_members(right, wish)
            }
            _ => self.lock_inside(query, wish),
        }
    }

    fn lock_inside(&self, query: &mut Query, wish: &Wish) -> Result<()> {
        let Body::Select(select) = &mut query.body else {
            return Err(not_allowed(wish, "UNION/INTERSECT/EXCEPT"));
        };
        check_body(select, wish)?;
        let mut locks = Vec::new();
        if let Some(from) = &mut select.from {
            self.lock_all(from, wish, &mut locks)?;
            if !self.is_mysql() {
                check_nullable(from, wish, &locks)?;
            }
        }
        query.locking.extend(locks);
        Ok(())
    }

    fn cannot_apply(&self, wish: &Wish, what: &str, location: i32) -> Error {
        let message = format!("{} cannot be applied to {what}", wish.words);
        self.error(Condition::FeatureNotSupported, message, location)
    }
}

fn clauses(select: &SelectStmt) -> impl Iterator<Item = &pg::LockingClause> {
    select.locking_clause.iter().filter_map(|node| match &node.node {
        Some(N::LockingClause(clause)) => Some(clause),
        _ => None,
    })
}

fn not_allowed(wish: &Wish, what: &str) -> Error {
    Error::new(Condition::FeatureNotSupported, format!("{} is not allowed with {what}", wish.words))
}

/// Rows that are made of several of a table's cannot be locked.
fn check_body(select: &Select, wish: &Wish) -> Result<()> {
    if !matches!(select.distinct, Distinct::All) {
        return Err(not_allowed(wish, "DISTINCT clause"));
    }
    if !matches!(select.group_by, GroupBy::None) {
        return Err(not_allowed(wish, "GROUP BY clause"));
    }
    if select.having.is_some() {
        return Err(not_allowed(wish, "HAVING clause"));
    }
    let (mut aggregates, mut windows) = (false, false);
    for item in &select.items {
        walk::expr(item, &mut |expr| {
            aggregates |= matches!(expr.kind, ExprKind::Aggregate(_));
            windows |= matches!(expr.kind, ExprKind::Window(_));
            // What stands in a subquery is its own.
            !matches!(expr.kind, ExprKind::Scalar(_) | ExprKind::Exists(_) | ExprKind::ArrayQuery(_))
        });
    }
    if aggregates {
        return Err(not_allowed(wish, "aggregate functions"));
    }
    if windows {
        return Err(not_allowed(wish, "window functions"));
    }
    Ok(())
}

/// A row that an outer join has filled up with NULLs is nobody's row.
fn check_nullable(from: &From, wish: &Wish, locks: &[RowLock]) -> Result<()> {
    let From::Join { kind, left, right, .. } = from else { return Ok(()) };
    let mut nullable: Vec<&From> = Vec::new();
    if matches!(kind, JoinKind::Left | JoinKind::Full) {
        nullable.push(right);
    }
    if matches!(kind, JoinKind::Right | JoinKind::Full) {
        nullable.push(left);
    }
    for side in nullable {
        let tables = row_locks_of(Some(side), wish.mode, wish.wait);
        if tables.iter().any(|table| locks.iter().any(|lock| lock.id == table.id)) {
            let message = format!("{} cannot be applied to the nullable side of an outer join", wish.words);
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
    }
    check_nullable(left, wish, locks)?;
    check_nullable(right, wish, locks)
}

/// The relations of a query whose rows are locked, views through which they are reached included; whether there are any.
fn ids_of_locked(query: &Query, ids: &mut Vec<RelId>) -> bool {
    fn inside(from: &From, ids: &mut Vec<RelId>) -> bool {
        match from {
            From::Query { id, query, .. } if ids_of_locked(query, ids) => {
                ids.push(*id);
                true
            }
            From::Join { left, right, .. } => inside(left, ids) | inside(right, ids),
            _ => false,
        }
    }
    ids.extend(query.locking.iter().map(|lock| lock.id));
    let deeper = match &query.body {
        Body::Select(select) => select.from.as_ref().is_some_and(|from| inside(from, ids)),
        Body::Set { left, right, .. } => ids_of_locked(left, ids) | ids_of_locked(right, ids),
        Body::Values(_) => false,
    };
    deeper || !query.locking.is_empty()
}

/// The member of a FROM clause that has this id.
fn find(from: &mut From, wanted: RelId) -> Option<&mut From> {
    let here = match from {
        From::Relation { id, .. }
        | From::Query { id, .. }
        | From::Cte { id, .. }
        | From::Kept { id, .. }
        | From::Function { id, .. } => *id == wanted,
        From::Join { .. } => false,
    };
    if here {
        return Some(from);
    }
    match from {
        From::Join { left, right, .. } => match find(left, wanted) {
            Some(found) => Some(found),
            None => find(right, wanted),
        },
        _ => None,
    }
}

fn relation_of(column: &super::binder::EntryColumn) -> Option<RelId> {
    match column.expr.kind {
        ExprKind::Column(ColumnRef { relation, .. }) => Some(relation),
        _ => None,
    }
}
