//! The parse tree of an Informix statement: names not yet resolved, types not yet known.

use crate::Type;
use crate::ir::{CompareOp, LikeKind};
use crate::schema::ReferentialAction;
use crate::types::{IntervalQualifier, Qualifier};

/// A name with what stands before it: `database@server:owner.name`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ObjectName {
    pub database: Option<String>,
    /// The server that is said to have the database.
    pub server: Option<String>,
    pub owner: Option<String>,
    pub name: String,
    pub at: usize,
}

/// An expression and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub kind: NodeKind,
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum NodeKind {
    Null,
    Number(String),
    String(String),
    /// Counted from 0 in the statement.
    Param(usize),
    /// `a`, `t.a`, `o.t.a`, `r.field`.
    Name(Vec<String>),
    /// `*`, `t.*`
    Star(Option<String>),
    Call(Box<Call>),
    Cast(Box<Node>, TypeName),
    Negate(Box<Node>),
    Arithmetic(&'static str, Box<Node>, Box<Node>),
    Compare(CompareOp, Box<Node>, Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    IsNull {
        arg: Box<Node>,
        negated: bool,
    },
    Between {
        arg: Box<Node>,
        low: Box<Node>,
        high: Box<Node>,
        negated: bool,
    },
    InList {
        arg: Box<Node>,
        list: Vec<Node>,
        negated: bool,
    },
    InQuery {
        row: Vec<Node>,
        query: Box<Query>,
        negated: bool,
    },
    Exists(Box<Query>),
    Like {
        kind: LikeKind,
        text: Box<Node>,
        pattern: Box<Node>,
        escape: Option<Box<Node>>,
        negated: bool,
    },
    Quantified {
        op: CompareOp,
        all: bool,
        arg: Box<Node>,
        query: Box<Query>,
    },
    Case {
        operand: Option<Box<Node>>,
        branches: Vec<(Node, Node)>,
        otherwise: Option<Box<Node>>,
    },
    Scalar(Box<Query>),
    /// CURRENT, SYSDATE.
    Current(Option<Qualifier>),
    Today,
    User,
    Sitename,
    /// CURRENT_ROLE; otherwise DEFAULT_ROLE.
    Role {
        current: bool,
    },
    DatetimeLiteral(String, Qualifier),
    IntervalLiteral(String, IntervalQualifier),
    /// `n UNITS DAY`
    Units(Box<Node>, IntervalQualifier),
    Extend(Box<Node>, Option<Qualifier>),
    Trim {
        side: TrimSide,
        characters: Option<Box<Node>>,
        text: Box<Node>,
    },
    /// `col[from, to]`
    /// `variable.field` of a routine's variable that may be a row, and the name that it is otherwise.
    Field {
        row: Box<Node>,
        names: Vec<String>,
    },
    Slice {
        arg: Box<Node>,
        from: u32,
        to: Option<u32>,
    },
    /// What a column becomes by `SET col[from, to] = value`.
    Spliced {
        column: Box<Node>,
        from: u32,
        to: Option<u32>,
        value: Box<Node>,
    },
    Row(Vec<Node>),
    Collection(&'static str, Vec<Node>),
    /// DEFAULT as a value.
    Default,
    /// `name = value` as a routine's argument.
    Named(String, Box<Node>),
    /// PRIOR: of the row above, in CONNECT BY.
    Prior(Box<Node>),
    /// CONNECT_BY_ROOT: of the row at the top.
    Root(Box<Node>),
}

/// A function call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    /// The database whose routine it is, where the call names one.
    pub database: Option<String>,
    pub name: String,
    pub args: Vec<Node>,
    /// `count(*)`
    pub star: bool,
    pub distinct: bool,
    /// IGNORE NULLS.
    pub ignore_nulls: bool,
    pub over: Option<Over>,
}

impl Call {
    /// The plain call of a function.
    pub(super) fn of(name: String, args: Vec<Node>) -> Self {
        Self { database: None, name, args, star: false, distinct: false, ignore_nulls: false, over: None }
    }
}

/// OVER (…).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Over {
    pub partition_by: Vec<Node>,
    pub order_by: Vec<OrderKey>,
    pub frame: Option<Frame>,
}

/// ROWS or RANGE of an OLAP window.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    pub rows: bool,
    pub start: Bound,
    pub end: Bound,
}

/// A bound of a window's frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bound {
    UnboundedPreceding,
    Preceding(Box<Node>),
    CurrentRow,
    Following(Box<Node>),
    UnboundedFollowing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TrimSide {
    Both,
    Leading,
    Trailing,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TypeName {
    pub ty: Type,
    /// SERIAL and its kin: the first number.
    pub serial: Option<i64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct OrderKey {
    pub expr: Node,
    pub descending: bool,
    pub nulls_first: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    pub ctes: Vec<Cte>,
    pub body: Body,
    pub order_by: Vec<OrderKey>,
    /// ORDER SIBLINGS BY.
    pub siblings: bool,
    pub skip: Option<Node>,
    pub first: Option<Node>,
    pub for_update: bool,
    /// The columns that are to be changed, where it says so.
    pub update_of: Vec<(String, usize)>,
    /// INTO TEMP.
    pub into: Option<Into>,
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Into {
    pub name: String,
    pub temporary: bool,
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cte {
    pub name: String,
    pub columns: Vec<String>,
    pub query: Query,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Select(Box<Select>),
    Set { op: crate::ir::SetOp, all: bool, left: Box<Query>, right: Box<Query> },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Select {
    pub distinct: bool,
    pub items: Vec<Item>,
    pub from: Vec<Source>,
    pub filter: Option<Node>,
    pub connect: Option<Connect>,
    pub group_by: Vec<Node>,
    pub having: Option<Node>,
}

/// START WITH … CONNECT BY ….
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Connect {
    /// START WITH.
    pub start: Option<Node>,
    pub nocycle: bool,
    pub condition: Node,
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub expr: Node,
    pub alias: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    Table {
        name: ObjectName,
        alias: Option<String>,
    },
    Query {
        query: Box<Query>,
        alias: Option<String>,
        columns: Vec<String>,
        /// Tables before it in FROM are visible inside.
        lateral: bool,
    },
    /// `TABLE(SET{…})` and `TABLE(function(…))`
    Expression {
        expr: Node,
        alias: Option<String>,
        columns: Vec<String>,
    },
    Join {
        kind: crate::ir::JoinKind,
        left: Box<Source>,
        right: Box<Source>,
        on: Option<Node>,
    },
    /// `OUTER t`, `OUTER (t, u)`: the old outer join; its condition stands in WHERE.
    Outer(Vec<Source>),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ast {
    Query(Box<Query>),
    Insert {
        table: ObjectName,
        columns: Vec<(String, usize)>,
        source: InsertSource,
    },
    Update {
        table: ObjectName,
        alias: Option<String>,
        set: Vec<Assignment>,
        filter: Option<Node>,
        current_of: Option<String>,
    },
    Delete {
        table: ObjectName,
        alias: Option<String>,
        filter: Option<Node>,
        current_of: Option<String>,
    },
    CreateTable(Box<CreateTable>),
    CreateIndex {
        name: ObjectName,
        table: ObjectName,
        unique: bool,
        if_not_exists: bool,
        keys: Vec<(Node, bool)>,
        /// Where each key's expression ends.
        ends: Vec<usize>,
    },
    CreateView {
        /// WITH CHECK OPTION.
        checked: bool,
        name: ObjectName,
        columns: Vec<String>,
        query: Box<Query>,
        text: (usize, usize),
        if_not_exists: bool,
    },
    CreateSequence {
        name: ObjectName,
        if_not_exists: bool,
        options: SequenceOptions,
    },
    AlterSequence {
        name: ObjectName,
        options: SequenceOptions,
    },
    CreateSynonym {
        name: ObjectName,
        target: ObjectName,
        if_not_exists: bool,
    },
    Merge(Box<Merge>),
    RenameOther {
        kind: Renamed,
        name: ObjectName,
        to: String,
    },
    AlterTable {
        table: ObjectName,
        actions: Vec<Alter>,
    },
    RenameTable {
        table: ObjectName,
        to: String,
    },
    RenameColumn {
        table: ObjectName,
        column: (String, usize),
        to: String,
    },
    Drop {
        kind: DropKind,
        name: ObjectName,
        if_exists: bool,
        cascade: bool,
    },
    Truncate(ObjectName),
    Begin,
    Commit,
    Rollback(Option<String>),
    Savepoint(String),
    ReleaseSavepoint(String),
    SetIsolation(crate::ir::Isolation),
    SetTransaction(crate::ir::TransactionModes),
    SetLockMode(Option<i64>),
    /// SET ROLE: NONE, DEFAULT or a name.
    SetRole {
        name: Option<String>,
        default: bool,
    },
    /// SET of something else that changes nothing here.
    SetOther {
        statement: i16,
        tag: &'static str,
    },
    LockTable(ObjectName, bool),
    UnlockTable(ObjectName),
    Database {
        name: String,
    },
    CloseDatabase,
    CreateDatabase {
        name: String,
        logging: super::Logging,
        if_not_exists: bool,
    },
    DropDatabase {
        name: String,
        if_exists: bool,
    },
    Execute {
        name: ObjectName,
        args: Vec<Node>,
    },
    CreateRoutine(Box<CreateRoutine>),
    CreateTrigger(Box<CreateTrigger>),
    SetTriggers {
        /// FOR: all of it.
        table: Option<ObjectName>,
        names: Vec<ObjectName>,
        disabled: bool,
    },
    DropTrigger {
        name: ObjectName,
        if_exists: bool,
    },
    CreateType {
        name: ObjectName,
        /// ROW TYPE; DISTINCT TYPE otherwise.
        is_row: bool,
        ty: Type,
        if_not_exists: bool,
    },
    /// CREATE [IMPLICIT|EXPLICIT] CAST
    CreateCast {
        source: Type,
        target: Type,
        implicit: bool,
        /// WITH
        function: Option<ObjectName>,
        if_not_exists: bool,
        at: usize,
    },
    /// DROP CAST
    DropCast {
        source: Type,
        target: Type,
        if_exists: bool,
        at: usize,
    },
    /// CREATE AGGREGATE
    CreateAggregate {
        name: ObjectName,
        parts: super::aggregates::Parts,
        if_not_exists: bool,
    },
    /// DROP AGGREGATE
    DropAggregate {
        name: ObjectName,
        if_exists: bool,
    },
    DropType {
        name: ObjectName,
        if_exists: bool,
    },
    DropRoutine {
        name: ObjectName,
        /// FUNCTION (`Some(true)`), PROCEDURE (`Some(false)`) or ROUTINE.
        function: Option<bool>,
        /// SPECIFIC: the name is the routine's specific one.
        specific: bool,
        /// Its parameters' types.
        signature: Option<Vec<Type>>,
        if_exists: bool,
    },
    /// SET CONSTRAINTS, of some or of all.
    SetConstraints {
        /// None is ALL.
        names: Vec<ObjectName>,
        deferred: bool,
    },
    /// SET ENCRYPTION PASSWORD.
    SetEncryption {
        password: String,
        hint: String,
        at: usize,
    },
    /// UPDATE STATISTICS, of a table or of all.
    UpdateStatistics(Option<ObjectName>),
    /// GRANT, REVOKE.
    Access(Box<Access>),
    /// CREATE ROLE, DROP ROLE; `lenient` with IF (NOT) EXISTS.
    Role {
        create: bool,
        name: String,
        lenient: bool,
    },
    /// CREATE USER, ALTER USER, DROP USER, RENAME USER.
    User {
        name: String,
        change: UserChange,
    },
    /// Correct, and nothing to do: ALTER FRAGMENT, SET DEBUG FILE, …
    Nothing {
        statement: i16,
        tag: &'static str,
    },
}

/// What becomes of a user.
#[derive(Clone, Debug, PartialEq)]
pub enum UserChange {
    /// CREATE USER.
    Create { password: Option<String>, locked: bool },
    /// ALTER USER: a password, or none any more; an account that is locked or unlocked.
    Alter { password: Option<Option<String>>, locked: Option<bool> },
    /// DROP USER.
    Drop,
    /// RENAME USER … TO this name.
    Rename(String),
}

/// What GRANT and REVOKE say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Access {
    /// GRANT; REVOKE otherwise.
    pub grant: bool,
    pub what: Granted,
    /// To whom, from whom.
    pub grantees: Vec<String>,
    pub grant_option: bool,
    pub restrict: bool,
    /// AS.
    pub grantor: Option<String>,
}

/// What is granted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Granted {
    #[default]
    Connect,
    Resource,
    Dba,
    Roles(Vec<String>),
    /// The role that a session of the grantee begins with; none when it is taken away.
    DefaultRole(Option<String>),
    /// On a table, view or sequence; no privileges are ALL.
    Table {
        privileges: Vec<(crate::access::Privileges, Vec<String>)>,
        table: ObjectName,
    },
    Routine {
        name: ObjectName,
        function: Option<bool>,
        specific: bool,
        signature: Option<Vec<Type>>,
    },
    /// What has no counterpart here, in words.
    Other(&'static str),
}

/// What CREATE and ALTER SEQUENCE say; what is not said stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SequenceOptions {
    pub start: Option<i64>,
    /// RESTART, perhaps WITH a number.
    pub restart: Option<Option<i64>>,
    pub increment: Option<i64>,
    pub min: Option<i64>,
    pub max: Option<i64>,
    pub cycle: Option<bool>,
}

/// What RENAME renames besides tables and columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Renamed {
    Constraint,
    Index,
    Sequence,
}

/// MERGE.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Merge {
    pub table: ObjectName,
    pub alias: Option<String>,
    pub source: Source,
    pub condition: Node,
    pub update: Option<Vec<Assignment>>,
    pub delete: bool,
    pub insert: Option<MergeInsert>,
}

/// The columns, with their places in the text, and the values of a row that MERGE inserts.
pub(super) type MergeInsert = (Vec<(String, usize)>, Vec<Node>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum InsertSource {
    Values(Vec<Vec<Node>>),
    Query(Box<Query>),
    /// EXECUTE FUNCTION.
    Routine {
        name: ObjectName,
        args: Vec<Node>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Assignment {
    pub columns: Vec<(String, usize)>,
    pub values: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CreateTable {
    pub name: ObjectName,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub columns: Vec<Column>,
    pub constraints: Vec<TableConstraint>,
    pub query: Option<Query>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub name: String,
    pub ty: TypeName,
    pub default: Option<(Node, (usize, usize))>,
    pub not_null: bool,
    pub constraints: Vec<TableConstraint>,
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct TableConstraint {
    pub name: Option<String>,
    pub kind: ConstraintKind,
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConstraintKind {
    PrimaryKey(Vec<String>),
    Unique(Vec<String>),
    Check(Node, (usize, usize)),
    ForeignKey { columns: Vec<String>, target: ObjectName, target_columns: Vec<String>, on_delete: ReferentialAction },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Alter {
    /// ADD, perhaps BEFORE a column.
    Add(Column, Option<(String, usize)>),
    Drop(Vec<(String, usize)>),
    Modify(Column),
    AddConstraint {
        constraint: TableConstraint,
        if_not_exists: bool,
    },
    DropConstraint {
        name: String,
        if_exists: bool,
    },
    /// LOCK MODE, NEXT SIZE and other storage matters.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DropKind {
    Index,
    Sequence,
    Synonym,
    Table,
    View,
}

/// CREATE TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CreateTrigger {
    pub trigger: super::spl::TriggerDefinition,
    pub table: ObjectName,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub disabled: bool,
    pub text: (usize, usize),
    pub at: usize,
}

/// CREATE FUNCTION / PROCEDURE.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CreateRoutine {
    pub routine: super::spl::Routine,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub text: (usize, usize),
    pub at: usize,
}
