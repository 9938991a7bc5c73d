//! Expressions.

use std::sync::Arc;

use super::query::{Query, RelId};
use crate::collation::Collation;
use crate::functions::Function;
use crate::user_type::UserType;
use crate::{Type, budget};

/// An expression with its type; what is made of them is counted against the statement's [`budget`].
#[derive(Debug, PartialEq)]
pub struct Expr {
    /// What is computed.
    pub kind: ExprKind,
    /// The type of the result.
    pub ty: Type,
}

/// A constant in its canonical stored form (see [`crate::values`]); the type stands in the [`Expr`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// Integers, booleans (0, 1), oids.
    Integer(i64),
    /// Floats.
    Real(f64),
    /// Text, and everything that is stored as text: decimals, dates, JSON, …
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// A parameter of the statement, counted from 0.
    Param(usize),
    /// A column of a relation in scope.
    Column(ColumnRef),
    /// A function or operator on rows' values, from the one table.
    Call {
        /// The table's row.
        function: &'static Function,
        /// Already of the types that the row asks for.
        args: Vec<Expr>,
    },
    /// A conversion from the argument's type to this expression's, modifiers included.
    Cast {
        /// The value.
        arg: Box<Expr>,
        /// Which rules apply (PostgreSQL truncates on an explicit cast where an assignment fails).
        context: CastContext,
    },
    /// A value that becomes one of a type with domains in it: it must hold what they ask.
    Checked {
        /// The value; already of the type without its domains.
        arg: Box<Expr>,
        /// What is asked.
        rules: Arc<Rules>,
        /// Whether the user has asked for the conversion.
        context: CastContext,
    },
    /// What the domains in a type ask, told to a function that makes values of it.
    Rules(Arc<Rules>),
    /// An aggregate function.
    Aggregate(Box<Aggregate>),
    /// A window function, or an aggregate over a window.
    Window(Box<WindowCall>),
    /// `left op right` on operands of one type.
    Compare {
        /// The operator.
        op: CompareOp,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// IS [NOT] DISTINCT FROM on operands of one type.
    Distinct {
        /// IS NOT DISTINCT FROM.
        negated: bool,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// All must hold; at least two.
    And(Vec<Expr>),
    /// One must hold; at least two.
    Or(Vec<Expr>),
    /// Logical negation.
    Not(Box<Expr>),
    /// IS [NOT] NULL.
    IsNull {
        /// The value.
        arg: Box<Expr>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// IS [NOT] TRUE, FALSE, UNKNOWN (`test` is `None` for UNKNOWN).
    IsTruth {
        /// The value.
        arg: Box<Expr>,
        /// Which truth value is asked for.
        test: Option<bool>,
        /// IS NOT.
        negated: bool,
    },
    /// LIKE, ILIKE, MATCHES.
    Like {
        /// Whose pattern language.
        kind: LikeKind,
        /// NOT LIKE.
        negated: bool,
        /// The text.
        text: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character; `None` is the dialect's default (backslash in both).
        escape: Option<Box<Expr>>,
    },
    /// `arg [NOT] IN (list)`, all of one type.
    InList {
        /// The value.
        arg: Box<Expr>,
        /// NOT IN.
        negated: bool,
        /// The candidates; at least one.
        list: Vec<Expr>,
    },
    /// CASE WHEN condition THEN result …; a simple CASE has been rewritten to comparisons.
    Case {
        /// Conditions and results.
        branches: Vec<(Expr, Expr)>,
        /// The result when no condition holds; NULL if absent.
        otherwise: Option<Box<Expr>>,
    },
    /// The first that is not NULL.
    Coalesce(Vec<Expr>),
    /// NULL if both are equal, else the first.
    NullIf(Box<Expr>, Box<Expr>),
    /// The greatest that is not NULL.
    Greatest(Vec<Expr>),
    /// The least that is not NULL.
    Least(Vec<Expr>),
    /// A query that yields one row and one column.
    Scalar(Box<Query>),
    /// EXISTS.
    Exists(Box<Query>),
    /// `row [NOT] IN (query)`; the row has as many members as the query has columns.
    InQuery {
        /// The values.
        row: Vec<Expr>,
        /// NOT IN.
        negated: bool,
        /// The query.
        query: Box<Query>,
    },
    /// `arg op ANY|ALL (query)`.
    Quantified {
        /// The operator.
        op: CompareOp,
        /// ALL; else ANY.
        all: bool,
        /// The value.
        arg: Box<Expr>,
        /// The query, of one column.
        query: Box<Query>,
    },
    /// `arg op ANY|ALL (array)`.
    QuantifiedArray {
        /// The operator.
        op: CompareOp,
        /// ALL; else ANY.
        all: bool,
        /// The value.
        arg: Box<Expr>,
        /// The array, of the value's type.
        array: Box<Expr>,
    },
    /// An array from a query of one column.
    ArrayQuery(Box<Query>),
    /// ROW(…).
    Row(Vec<Expr>),
    /// ARRAY[…].
    Array(Vec<Expr>),
    /// COLLATE.
    Collate {
        /// The value.
        arg: Box<Expr>,
        /// How it is to be ordered.
        collation: Arc<Collation>,
        /// How it comes to stand here.
        role: CollateRole,
        /// Where it stands in the statement's text.
        place: Place,
    },
    /// The column's default, as a whole value in INSERT or SET.
    Default,
    /// The number of a row in a column that numbers itself, as a whole value in INSERT: what is given, or the next number
    /// where that is nothing, NULL or 0. A number that is given moves those that come behind it.
    Numbered {
        /// What is given.
        given: Option<Box<Expr>>,
        /// The sequence that numbers the column, where it is one and not the back end itself.
        sequence: Option<u32>,
    },
}

/// Where a part stands in the statement's text, -1 where it does not: parts that differ in nothing else are the same.
#[derive(Clone, Copy, Debug)]
pub struct Place(pub i32);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What a [`ExprKind::Collate`] is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CollateRole {
    /// The user's: what it means for the comparisons around it is not known yet.
    Written,
    /// The user's, and what compares the value has been told.
    Obeyed {
        /// The value is a column's that has another order by itself.
        against_column: bool,
    },
    /// An operand's: the comparison that it stands in works under this collation.
    Operand {
        /// Texts of different bytes differ here; those of the column that the value is may be equal by themselves.
        against_column: bool,
    },
}

impl ExprKind {
    /// The query that the expression holds.
    pub fn query(&self) -> Option<&Query> {
        match self {
            Self::Scalar(query)
            | Self::Exists(query)
            | Self::ArrayQuery(query)
            | Self::InQuery { query, .. }
            | Self::Quantified { query, .. } => Some(query),
            _ => None,
        }
    }

    /// The query that the expression holds, to be changed.
    pub fn query_mut(&mut self) -> Option<&mut Query> {
        match self {
            Self::Scalar(query)
            | Self::Exists(query)
            | Self::ArrayQuery(query)
            | Self::InQuery { query, .. }
            | Self::Quantified { query, .. } => Some(query),
            _ => None,
        }
    }
}

/// What domains ask of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// What is asked of each member, when the value is an array; it is asked first.
    pub members: Option<Box<Rules>>,
    /// What is asked of the fields at some places, when the value is a row; it is asked before what is asked of the whole.
    pub fields: Vec<(usize, Rules)>,
    /// What is asked of the bounds, when the value is a range or multirange: of that type, and asked before the whole.
    pub bounds: Option<(Type, Box<Rules>)>,
    /// What is asked of the whole, when it is of a domain.
    pub domain: Option<DomainRules>,
}

/// What a domain and those below it ask.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainRules {
    /// The domain.
    pub domain: Arc<UserType>,
    /// NULL is no value of it.
    pub not_null: bool,
    /// CHECKs by name, those of the domains below first. The value stands in them as column 0 of
    /// [`Text::TABLE`](super::Text::TABLE).
    pub checks: Vec<(String, Expr)>,
}

/// A column of a relation in scope.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ColumnRef {
    /// Which relation of the statement.
    pub relation: RelId,
    /// Which of its columns, from 0.
    pub column: ColumnIndex,
}

/// A column's place.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ColumnIndex {
    /// By position.
    At(usize),
    /// What tells a stored row from all others of its table, an integer: Informix's `rowid`, PostgreSQL's `ctid`. Each
    /// back end means its own by it.
    RowIdentity,
}

/// Which rules a conversion follows.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CastContext {
    /// Inserted by the binder between types of one family; cannot lose anything.
    Implicit,
    /// Into a column: over-long text is an error unless the excess is blank.
    Assignment,
    /// Asked for by the user.
    Explicit,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CompareOp {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A pattern language.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LikeKind {
    /// `%` and `_`, case-sensitive.
    Like,
    /// `%` and `_`, any case.
    ILike,
    /// Informix MATCHES: `*`, `?`, `[a-z]`, `[^…]`.
    Matches,
}

/// A call of an aggregate function.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// The table's row; its kind is aggregate.
    pub function: &'static Function,
    /// Arguments; empty for `count(*)`, and for those WITHIN GROUP, whose are the keys of the order.
    pub args: Vec<Expr>,
    /// The direct arguments of one WITHIN GROUP: they are the same for the whole group.
    pub direct: Vec<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY inside the call, or WITHIN GROUP.
    pub order_by: Vec<SortKey>,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
}

/// A call over a window.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCall {
    /// The table's row: a window function or an aggregate.
    pub function: &'static Function,
    /// Arguments.
    pub args: Vec<Expr>,
    /// FILTER (WHERE …), for aggregates.
    pub filter: Option<Expr>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<SortKey>,
    /// The frame; `None` is the standard's default.
    pub frame: Option<Frame>,
}

/// A window frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// ROWS, RANGE or GROUPS.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends.
    pub end: FrameBound,
    /// EXCLUDE.
    pub exclude: FrameExclude,
    /// The values at which it begins and ends, where offsets are added to a key that is no integer, or are no plain ones.
    pub limits: Option<Box<FrameLimits>>,
}

/// The values between which the keys of a frame's rows lie.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameLimits {
    /// The key, of a type that compares with the others.
    pub key: Expr,
    /// The current row's key with the offset at which the frame begins.
    pub start: Option<Expr>,
    /// The current row's key with the offset at which the frame ends.
    pub end: Option<Expr>,
}

/// What a frame counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameUnit {
    /// Groups of peers.
    Groups,
    /// Values.
    Range,
    /// Rows.
    Rows,
}

/// A frame's bound.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    /// The partition's first row.
    UnboundedPreceding,
    /// So far before.
    Preceding(Box<Expr>),
    /// Here.
    CurrentRow,
    /// So far behind.
    Following(Box<Expr>),
    /// The partition's last row.
    UnboundedFollowing,
}

/// An offset that is a constant, a parameter, or + - * of such integers: one that is told in the window's own text.
pub fn is_plain_offset(offset: &Expr) -> bool {
    match &uncast_offset(offset).kind {
        ExprKind::Literal(value) => *value != Value::Null,
        ExprKind::Param(_) => true,
        ExprKind::Call { function, args } => {
            let whole = |arg: &Expr| arg.ty.is_integer() && is_plain_offset(arg);
            matches!(function.name, "+" | "-" | "*") && args.iter().all(whole)
        }
        _ => false,
    }
}

/// An offset without the conversions around it that change nothing of it.
pub fn uncast_offset(offset: &Expr) -> &Expr {
    match &offset.kind {
        ExprKind::Cast { arg, .. }
            if arg.ty.is_integer() || matches!(arg.kind, ExprKind::Literal(_) | ExprKind::Param(_)) =>
        {
            uncast_offset(arg)
        }
        _ => offset,
    }
}

impl FrameBound {
    /// The offset, and whether it leads to what stands before.
    pub fn offset(&self) -> Option<(&Expr, bool)> {
        match self {
            Self::Preceding(offset) => Some((offset, true)),
            Self::Following(offset) => Some((offset, false)),
            _ => None,
        }
    }
}

impl Frame {
    /// Its offsets are told in the window's own text.
    pub fn has_plain_offsets(&self) -> bool {
        [&self.start, &self.end].into_iter().filter_map(FrameBound::offset).all(|(offset, _)| is_plain_offset(offset))
    }
}

/// What a frame leaves out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum FrameExclude {
    /// Nothing.
    #[default]
    NoOthers,
    /// The current row.
    CurrentRow,
    /// The current row and its peers.
    Group,
    /// Its peers.
    Ties,
}

/// A key to sort by.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// The value.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
    /// Where NULLs go, always decided: PostgreSQL's default is last in ascending order, Informix's first.
    pub nulls_first: bool,
}

impl Clone for Expr {
    fn clone(&self) -> Self {
        Self::new(self.kind.clone(), self.ty.clone())
    }
}

impl Expr {
    /// An expression of a type.
    pub fn new(kind: ExprKind, ty: Type) -> Self {
        budget::made(1);
        Self { kind, ty }
    }

    /// NULL of a type.
    pub fn null(ty: Type) -> Self {
        Self::new(ExprKind::Literal(Value::Null), ty)
    }

    /// A boolean constant.
    pub fn bool(value: bool) -> Self {
        Self::new(ExprKind::Literal(Value::Integer(i64::from(value))), Type::Bool)
    }

    /// A text constant.
    pub fn text(value: impl Into<String>) -> Self {
        Self::new(ExprKind::Literal(Value::Text(value.into())), Type::Text)
    }

    /// An integer constant of an integer type.
    pub fn integer(value: i64, ty: Type) -> Self {
        Self::new(ExprKind::Literal(Value::Integer(value)), ty)
    }

    /// A column of a relation.
    pub fn column(relation: RelId, column: usize, ty: Type) -> Self {
        Self::new(ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(column) }), ty)
    }

    /// `array[index]`
    pub fn element(array: Self, index: Self, ty: Type) -> Self {
        let function = crate::functions::Subscripts::Element.function();
        Self::new(ExprKind::Call { function, args: vec![array, index] }, ty)
    }

    /// This value converted to `ty`; itself when it is of that type already.
    pub fn cast(self, ty: Type, context: CastContext) -> Self {
        if self.ty == ty { self } else { Self::new(ExprKind::Cast { arg: Box::new(self), context }, ty) }
    }
}

impl CompareOp {
    /// The operator that holds exactly when this one, with its operands exchanged, holds.
    pub const fn commuted(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::NotEqual => Self::NotEqual,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    /// The operator that holds exactly when this one does not (NULLs apart).
    pub const fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// The operator's sign, the same in every SQL.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}
