//! Queries.

use std::sync::Arc;

use super::expr::{Expr, SortKey};
use super::lock::RowLock;
use super::statement::Dml;
use crate::Type;
use crate::functions::Function;
use crate::schema::Relation;

/// A relation in a statement; unique in the whole statement.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RelId(pub u32);

/// A query with everything that stands around its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// WITH, in order; visible to the body and to later members.
    pub ctes: Vec<Cte>,
    /// What yields the rows.
    pub body: Body,
    /// ORDER BY. Keys of a set operation are columns of [`Query::output`].
    pub order_by: Vec<SortKey>,
    /// LIMIT; an `int8` expression; NULL is no limit.
    pub limit: Option<Expr>,
    /// OFFSET; an `int8` expression.
    pub offset: Option<Expr>,
    /// FETCH … WITH TIES.
    pub with_ties: bool,
    /// FOR UPDATE and its kin: rows of these relations are locked.
    pub locking: Vec<RowLock>,
    /// The columns that it yields.
    pub columns: Vec<OutputColumn>,
    /// The query's own result as a relation, for sort keys that name an output column.
    pub output: RelId,
}

impl Query {
    /// A query that is nothing but its body.
    pub const fn of(body: Body, columns: Vec<OutputColumn>, output: RelId) -> Self {
        Self {
            ctes: Vec::new(),
            body,
            order_by: Vec::new(),
            limit: None,
            offset: None,
            with_ties: false,
            locking: Vec::new(),
            columns,
            output,
        }
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputColumn {
    /// The name that clients see.
    pub name: String,
    /// Its type, never [`Type::Unknown`] at the top of a statement.
    pub ty: Type,
}

/// A member of WITH.
#[derive(Clone, Debug, PartialEq)]
pub struct Cte {
    /// Its name, for messages; references go by `id`.
    pub name: String,
    /// What [`From::Cte`] refers to.
    pub id: CteId,
    /// It refers to itself.
    pub recursive: bool,
    /// AS [NOT] MATERIALIZED.
    pub materialized: Option<bool>,
    /// What it computes.
    pub body: CteBody,
    /// Its columns.
    pub columns: Vec<OutputColumn>,
}

/// A member of WITH in a statement; unique in the whole statement.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CteId(pub u32);

/// What a member of WITH computes.
#[derive(Clone, Debug, PartialEq)]
pub enum CteBody {
    /// A query.
    Query(Box<Query>),
    /// A statement with RETURNING.
    Dml(Box<Dml>),
}

/// What yields a query's rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// SELECT.
    Select(Box<Select>),
    /// UNION, INTERSECT, EXCEPT; both sides have equally many columns of equal types.
    Set {
        /// Which.
        op: SetOp,
        /// ALL: duplicates stay.
        all: bool,
        /// Left side.
        left: Box<Query>,
        /// Right side.
        right: Box<Query>,
    },
    /// VALUES: rows of equal length and types.
    Values(Vec<Vec<Expr>>),
}

/// A set operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SetOp {
    /// EXCEPT.
    Except,
    /// INTERSECT.
    Intersect,
    /// UNION.
    Union,
}

/// A SELECT.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Which rows count as one.
    pub distinct: Distinct,
    /// What is computed; one for each of the query's columns.
    pub items: Vec<Expr>,
    /// FROM; `None` yields one row.
    pub from: Option<From>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub group_by: GroupBy,
    /// HAVING.
    pub having: Option<Expr>,
}

impl Select {
    /// A select list over all rows of FROM.
    pub const fn of(items: Vec<Expr>, from: Option<From>) -> Self {
        Self { distinct: Distinct::All, items, from, filter: None, group_by: GroupBy::None, having: None }
    }
}

/// DISTINCT.
#[derive(Clone, Debug, PartialEq)]
pub enum Distinct {
    /// All rows.
    All,
    /// Rows that are alike count once.
    Rows,
    /// DISTINCT ON: the first row (by ORDER BY) of each group.
    On(Vec<Expr>),
}

/// GROUP BY.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupBy {
    /// No grouping: aggregates, if there are any, make one row of all.
    None,
    /// One row for each distinct value of the keys.
    Keys(Vec<Expr>),
    /// GROUPING SETS, ROLLUP, CUBE: each set a list of positions in `keys`.
    Sets {
        /// All keys.
        keys: Vec<Expr>,
        /// The sets.
        sets: Vec<Vec<usize>>,
    },
}

impl GroupBy {
    /// Its keys, whatever sets they make.
    pub fn keys(&self) -> &[Expr] {
        match self {
            Self::None => &[],
            Self::Keys(keys) | Self::Sets { keys, .. } => keys,
        }
    }
}

/// A FROM clause.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// A table, native view or catalog table.
    Relation {
        /// Its id here.
        id: RelId,
        /// The relation.
        relation: Arc<Relation>,
        /// Which of its rows are there at all: asked before anything else that may be asked of a row.
        filter: Option<Box<Expr>>,
    },
    /// A subquery, or a view of ours that the front end has expanded.
    Query {
        /// Its id here.
        id: RelId,
        /// The query.
        query: Box<Query>,
        /// It may refer to relations on its left.
        lateral: bool,
    },
    /// Rows that the engine keeps while it runs a statement in parts.
    Kept {
        /// Its id here.
        id: RelId,
        /// Under this number they are kept.
        number: u32,
        /// Its columns.
        columns: Vec<OutputColumn>,
    },
    /// A member of WITH.
    Cte {
        /// Its id here.
        id: RelId,
        /// Which.
        cte: CteId,
        /// Its columns.
        columns: Vec<OutputColumn>,
    },
    /// A function that returns rows.
    Function {
        /// Its id here.
        id: RelId,
        /// The table's row; its kind is set-returning.
        function: &'static Function,
        /// Arguments; they may refer to relations on the left.
        args: Vec<Expr>,
        /// Its columns (the ordinality last, if asked for).
        columns: Vec<OutputColumn>,
        /// WITH ORDINALITY.
        ordinality: bool,
    },
    /// A join.
    Join {
        /// Which.
        kind: JoinKind,
        /// Left side.
        left: Box<From>,
        /// Right side.
        right: Box<From>,
        /// The condition; `None` for a cross join. USING and NATURAL are spelled out; their merged columns are
        /// expressions of the select list.
        on: Option<Expr>,
    },
}

impl From {
    /// The relations that stand side by side in it, not those inside its subqueries.
    pub fn relations(&self) -> Vec<RelId> {
        let (mut found, mut rest) = (Vec::new(), vec![self]);
        while let Some(from) = rest.pop() {
            match from {
                Self::Relation { id, .. }
                | Self::Query { id, .. }
                | Self::Cte { id, .. }
                | Self::Kept { id, .. }
                | Self::Function { id, .. } => found.push(*id),
                Self::Join { left, right, .. } => rest.extend([&**right, &**left]),
            }
        }
        found
    }
}

/// A join.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JoinKind {
    /// Every pair, or every pair for which the condition holds.
    Inner,
    /// And the left rows without a partner.
    Left,
    /// And the right rows without a partner.
    Right,
    /// And both.
    Full,
}

/// Numbers for a statement's relations and CTEs.
#[derive(Debug, Default)]
pub struct Ids {
    relations: u32,
    ctes: u32,
}

impl Ids {
    /// The next relation.
    pub fn relation(&mut self) -> RelId {
        self.relations += 1;
        RelId(self.relations)
    }

    /// The next CTE.
    pub fn cte(&mut self) -> CteId {
        self.ctes += 1;
        CteId(self.ctes)
    }
}
