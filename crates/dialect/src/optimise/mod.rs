//! The pass between a front end and a back end: the same statement in words that a back end answers faster.
//!
//! - `fold`: what is computed of constants alone is computed here, by the functions that would compute it later;
//! - `compare`: comparisons in the storage of the column, so that they cost nothing and an index serves them;
//! - `conditions`: what all members of an OR ask for stands before it;
//! - `early`: the right side of a join is grouped before it is joined;
//! - `flatten`: groups of a subquery's rows are groups of its tables' rows;
//! - `joins`: members of a join that refer to their left are members of one join with it.
//!
//! Nothing here changes an answer, nor an error: what cannot be computed stays where it is and fails when it is asked for,
//! if it is. [`Passes`] says what a session wants of it; without a word, everything.

mod compare;
mod conditions;
mod early;
mod flatten;
mod fold;
mod joins;

pub use conditions::{asked, implied};

use std::cell::Cell;

use crate::ir::{
    Body, CteBody, Dml, DmlAction, Expr, ExprKind, From, InsertSource, Query, Select, SortKey, Statement, walk,
};
use crate::{Result, budget};

/// What is done to make statements faster.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Passes {
    /// Statements are rewritten.
    pub rewrite: bool,
    /// Rows are grouped by hashing, and aggregates take expressions as a whole.
    pub hash: bool,
}

impl Default for Passes {
    fn default() -> Self {
        Self { rewrite: true, hash: true }
    }
}

impl Passes {
    /// Statements run as they were written.
    pub const NONE: Self = Self { rewrite: false, hash: false };
}

thread_local! {
    static PASSES: Cell<Passes> = const { Cell::new(Passes { rewrite: true, hash: true }) };
}

/// What the thread's compilation uses; the former again when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Chosen(Passes);

/// The thread compiles with these passes from now on.
pub fn choose(passes: Passes) -> Chosen {
    Chosen(PASSES.replace(passes))
}

impl Drop for Chosen {
    fn drop(&mut self) {
        PASSES.set(self.0);
    }
}

/// What the thread compiles with.
pub fn passes() -> Passes {
    PASSES.get()
}

/// Rewrites a statement. Utility statements without queries stay as they are.
///
/// # Errors
/// Those of the compilation's [`budget`].
pub fn statement(statement: &mut Statement) -> Result<()> {
    if !passes().rewrite {
        return Ok(());
    }
    match statement {
        Statement::Query(body) => query(body),
        Statement::Dml(body) => dml(body),
        Statement::Rewritten(rewritten) => {
            rewritten.parts.iter_mut().try_for_each(|part| self::statement(&mut part.statement))
        }
        Statement::CreateTableAs(table) => query(&mut table.query),
        Statement::Explain(explain) => self::statement(&mut explain.statement),
        Statement::DeclareCursor { query: body, .. } => query(body),
        Statement::Copy(copy) => copy.to.as_mut().map_or(Ok(()), query),
        _ => Ok(()),
    }
}

fn dml(dml: &mut Dml) -> Result<()> {
    for cte in &mut dml.ctes {
        if let CteBody::Query(body) = &mut cte.body {
            query(body)?;
        }
    }
    match &mut dml.action {
        DmlAction::Insert { source: InsertSource::Query(body), .. } => query(body),
        DmlAction::Insert { .. } => Ok(()),
        DmlAction::Update { filter, .. } | DmlAction::Delete { filter, .. } => match filter {
            Some(filter) => expr(filter),
            None => Ok(()),
        },
    }
}

fn query(body: &mut Query) -> Result<()> {
    budget::deeper(|| {
        for cte in &mut body.ctes {
            match &mut cte.body {
                CteBody::Query(inner) => query(inner)?,
                CteBody::Dml(inner) => dml(inner)?,
            }
        }
        match &mut body.body {
            Body::Select(inner) => select(inner, &mut body.order_by, body.limit.is_some())?,
            Body::Set { left, right, .. } => {
                query(left)?;
                query(right)?;
            }
            // Rows of constants are the ordinary case, and nothing is to be gained.
            Body::Values(_) => {}
        }
        body.order_by.iter_mut().try_for_each(|key| expr(&mut key.expr))
    })
}

fn select(select: &mut Select, order_by: &mut [SortKey], limited: bool) -> Result<()> {
    select.from = select.from.take().map(joins::without_parentheses);
    if let Some(inner) = &mut select.from {
        from(inner)?;
    }
    early::groups(select, order_by, limited);
    flatten::groups(select, order_by);
    for item in &mut select.items {
        expr(item)?;
    }
    if let Some(filter) = &mut select.filter {
        expr(filter)?;
        conditions::of_filter(filter);
    }
    if let Some(having) = &mut select.having {
        expr(having)?;
    }
    Ok(())
}

fn from(inner: &mut From) -> Result<()> {
    match inner {
        From::Relation { .. } | From::Kept { .. } | From::Cte { .. } => Ok(()),
        From::Query { query: body, .. } => query(body),
        From::Function { args, .. } => args.iter_mut().try_for_each(expr),
        From::Join { left, right, on, .. } => {
            from(left)?;
            from(right)?;
            on.as_mut().map_or(Ok(()), expr)
        }
    }
}

/// An expression from its parts upwards; queries within it are rewritten as a whole.
fn expr(whole: &mut Expr) -> Result<()> {
    budget::deeper(|| {
        let mut failure = Ok(());
        if let Some(body) = whole.kind.query_mut() {
            query(body)?;
        }
        match &mut whole.kind {
            // What stands beside a query; the query itself is done.
            ExprKind::InQuery { row, .. } => row.iter_mut().try_for_each(expr)?,
            ExprKind::Quantified { arg, .. } => expr(arg)?,
            kind if kind.query().is_some() => {}
            _ => walk::parts_mut(whole, &mut |part| {
                if failure.is_ok() {
                    failure = expr(part);
                }
                false
            }),
        }
        failure?;
        fold::constant(whole);
        compare::in_storage(whole);
        Ok(())
    })
}
