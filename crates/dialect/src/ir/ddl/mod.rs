//! Changes of the schema.

mod alter;
mod constraint;
mod routine;
mod table;

use std::sync::Arc;

pub use self::alter::{AlterTable, Part};
pub use self::constraint::{Constraint, ConstraintKind, ConstraintOptions, Exclusion, ForeignKeyDefinition};
pub use self::routine::{
    AlterFunction, CreateAggregate, CreateFunction, CreateInformixCast, CreateRoutine, CreateType, DropRoutine,
    RoutineKind,
};
pub use self::table::{
    BoundExprs, ChangePartition, ColumnDefinition, CreateTable, EdgeExpr, IdentityDefinition, Like, NewPartition,
    OnCommit,
};
use super::access::{AccessChange, RoleSpec};
use super::expr::Expr;
use super::query::{Query, RelId};
use super::trigger::ChangeTrigger;
use crate::schema::{QualifiedName, Relation};
use crate::{Language, Type};

/// A change of the schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Ddl {
    /// CREATE TABLE.
    CreateTable(CreateTable),
    /// ATTACH PARTITION, DETACH PARTITION.
    Partition(ChangePartition),
    /// CREATE INDEX.
    CreateIndex(CreateIndex),
    /// CREATE VIEW.
    CreateView(CreateView),
    /// ALTER VIEW.
    AlterView {
        /// The view.
        view: Arc<Relation>,
        /// What changes.
        actions: Vec<AlterView>,
        /// The word for its completion: views can be altered as tables, too.
        tag: &'static str,
    },
    /// CREATE SEQUENCE.
    CreateSequence(CreateSequence),
    /// ALTER SEQUENCE: the sequence with its new parameters.
    AlterSequence {
        /// The parameters; the name is the sequence's own.
        sequence: CreateSequence,
        /// What it yields next; `None` leaves it where it is.
        restart: Option<i64>,
    },
    /// CREATE SYNONYM.
    CreateSynonym {
        /// The name; the schema is decided.
        name: QualifiedName,
        /// What it stands for.
        target: QualifiedName,
        /// The other database in which that is.
        elsewhere: Option<String>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// SET SCHEMA of a sequence or view.
    SetSchema {
        /// What kind of object.
        kind: ObjectKind,
        /// Its name, resolved.
        name: QualifiedName,
        /// The schema that it is to be in.
        to: String,
        /// What the statement is called.
        tag: &'static str,
    },
    /// RENAME of an index, sequence or schema.
    Rename {
        /// What kind of object.
        kind: ObjectKind,
        /// Its name, resolved.
        name: QualifiedName,
        /// Its new name, in the same schema.
        to: String,
        /// What the statement is called.
        tag: &'static str,
    },
    /// CREATE SCHEMA.
    CreateSchema {
        /// The name.
        name: String,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// AUTHORIZATION.
        owner: Option<RoleSpec>,
        /// The statements that make what it is made with, in their order.
        elements: Vec<String>,
    },
    /// Roles, owners, privileges.
    Access {
        /// The change.
        change: Box<AccessChange>,
        /// Its completion tag.
        tag: &'static str,
    },
    /// ALTER TABLE.
    AlterTable {
        /// The table.
        table: Arc<Relation>,
        /// The changes, in order.
        actions: Vec<AlterTable>,
        /// What becomes of those that inherit from it, parents before their children.
        heirs: Vec<(Arc<Relation>, Vec<AlterTable>)>,
    },
    /// DROP.
    Drop(Drop),
    /// TRUNCATE.
    Truncate {
        /// The tables.
        tables: Vec<Arc<Relation>>,
        /// RESTART IDENTITY.
        restart_identity: bool,
        /// CASCADE.
        cascade: bool,
    },
    /// CREATE FUNCTION, CREATE PROCEDURE.
    CreateRoutine(CreateRoutine),
    /// DROP FUNCTION, DROP PROCEDURE.
    DropRoutine(DropRoutine),
    /// CREATE FUNCTION, CREATE PROCEDURE in PostgreSQL's way.
    CreateFunction(CreateFunction),
    /// ALTER FUNCTION and its kin.
    AlterFunction(AlterFunction),
    /// DROP FUNCTION and its kin in PostgreSQL's way.
    DropFunctions {
        /// Their object ids.
        functions: Vec<u32>,
        /// CASCADE.
        cascade: bool,
        /// The completion tag.
        tag: &'static str,
    },
    /// A change of types that users make in PostgreSQL's way.
    UserType(super::UserTypeChange),
    /// CREATE, ALTER, DROP and COMMENT ON EXTENSION.
    Extension(super::ExtensionChange),
    /// CREATE, ALTER, DROP and COMMENT ON COLLATION.
    Collation(super::CollationChange),
    /// CREATE, ALTER, DROP and COMMENT ON OPERATOR.
    Operator(super::OperatorChange),
    /// CREATE, DROP and COMMENT ON CAST.
    Cast(super::CastChange),
    /// CREATE, ALTER, DROP and COMMENT ON STATISTICS.
    Statistics(super::StatisticsChange),
    /// CREATE, ALTER, DROP and COMMENT ON TEXT SEARCH CONFIGURATION and DICTIONARY.
    Search(super::SearchChange),
    /// CREATE AGGREGATE in Informix's SQL.
    CreateAggregate(CreateAggregate),
    /// DROP AGGREGATE in Informix's SQL.
    DropAggregate {
        /// The aggregate's object id.
        oid: u32,
    },
    /// CREATE CAST in Informix's SQL.
    CreateInformixCast(CreateInformixCast),
    /// DROP CAST in Informix's SQL.
    DropInformixCast {
        /// The cast's object id.
        oid: u32,
    },
    /// CREATE ROW TYPE, CREATE DISTINCT TYPE.
    CreateType(CreateType),
    /// DROP TYPE.
    DropType {
        /// The type's object id.
        oid: u32,
    },
    /// CREATE, ALTER, DROP and COMMENT ON POLICY.
    Policy(Box<super::policy::ChangePolicy>),
    /// CREATE, ALTER, DROP and COMMENT ON RULE.
    Rule(Box<super::rule::ChangeRule>),
    /// CREATE, ALTER, DROP and COMMENT ON TRIGGER.
    Trigger(ChangeTrigger),
    /// COMMENT ON.
    Comment {
        /// The table or view.
        relation: Arc<Relation>,
        /// Its column, by position.
        column: Option<usize>,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// COMMENT ON CONSTRAINT, COMMENT ON INDEX.
    CommentPart {
        /// The table.
        relation: Arc<Relation>,
        /// The constraint or index.
        part: String,
        /// It is an index.
        index: bool,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// COMMENT ON SCHEMA, FUNCTION, PROCEDURE, ROUTINE, CONSTRAINT … ON DOMAIN.
    CommentObject {
        /// The object id; a schema is known by its name.
        oid: Option<u32>,
        /// What it is: `schema`, `function`, `domain constraint`.
        kind: &'static str,
        /// Its name, for messages.
        name: String,
        /// The type that it belongs to, whose owner it has.
        owner: Option<(u32, String)>,
        /// The text; `None` removes it.
        text: Option<String>,
    },
    /// COMMENT ON SEQUENCE.
    CommentSequence {
        /// Its name, resolved.
        name: QualifiedName,
        /// The text; `None` removes it.
        text: Option<String>,
    },
}

/// An expression both as written and as bound; columns of the table have the relation id [`Text::TABLE`].
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// As the user wrote it (or as the dialect prints it), for the catalogs.
    pub text: String,
    /// As bound, cast to the type that its place asks for.
    pub expr: Expr,
}

impl Text {
    /// The relation id of the table under definition, in bound expressions.
    pub const TABLE: RelId = RelId(0);
}

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// Name; always decided.
    pub name: String,
    /// The table.
    pub table: Arc<Relation>,
    /// UNIQUE.
    pub unique: bool,
    /// NULLS NOT DISTINCT.
    pub nulls_alike: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// An expression that the back end cannot compute by itself is kept as the column that it is of: the index is there, and
    /// speeds up less.
    pub lenient: bool,
    /// The keys.
    pub keys: Vec<IndexKeyDefinition>,
    /// WHERE.
    pub predicate: Option<Text>,
    /// CONCURRENTLY: not in a transaction block.
    pub concurrently: bool,
    /// ON ONLY: the partitions that are there get none.
    pub only: bool,
    /// What the catalogs show of it beyond its keys: INCLUDE, operator classes, where NULLs stand, ….
    pub properties: Vec<(String, String)>,
}

/// A key of an index to be.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexKeyDefinition {
    /// The expression; a plain column is a column expression of [`Text::TABLE`].
    pub key: Text,
    /// DESC.
    pub descending: bool,
}

/// CREATE VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// Name; the schema is decided.
    pub name: QualifiedName,
    /// CREATE TEMP VIEW.
    pub temporary: bool,
    /// OR REPLACE.
    pub replace: bool,
    /// The language of `text`.
    pub language: Language,
    /// The defining query as written.
    pub text: String,
    /// As bound; its columns have the view's names.
    pub query: Query,
    /// WITH (…), and WITH CHECK OPTION.
    pub options: crate::schema::ViewOptions,
    /// The collations of its columns, where they are not those of the types.
    pub collations: Vec<Option<std::sync::Arc<crate::collation::Collation>>>,
}

/// CREATE SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSequence {
    /// Name; the schema is decided.
    pub name: QualifiedName,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Type of its values.
    pub ty: Type,
    /// First value.
    pub start: i64,
    /// Step.
    pub increment: i64,
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// How many numbers a session takes at a time.
    pub cache: i64,
    /// Begin again behind the last.
    pub cycle: bool,
    /// OWNED BY: the table and its column, or nobody; `None` leaves it as it is.
    pub owner: Option<Option<(Arc<Relation>, usize)>>,
}

/// A change of a view.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterView {
    /// ALTER COLUMN SET DEFAULT; `None` drops it.
    Default {
        /// The column's position.
        column: usize,
        /// What an INSERT through the view stores that leaves the column out.
        default: Option<Text>,
    },
    /// SET (…), RESET (…): what its options are after it.
    Options(crate::schema::ViewOptions),
    /// RENAME TO.
    Rename(String),
    /// RENAME COLUMN.
    RenameColumn {
        /// The column's position.
        column: usize,
        /// Its new name.
        to: String,
    },
}

/// DROP.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    /// What kind of object.
    pub kind: ObjectKind,
    /// The names, resolved; those that IF EXISTS lets pass are left out.
    pub names: Vec<QualifiedName>,
    /// CONCURRENTLY: not in a transaction block.
    pub concurrently: bool,
    /// CASCADE.
    pub cascade: bool,
}

/// A kind of object.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ObjectKind {
    /// An index.
    Index,
    /// A materialised view.
    MaterializedView,
    /// A schema.
    Schema,
    /// A sequence.
    Sequence,
    /// Another name for a table, view or sequence.
    Synonym,
    /// A table.
    Table,
    /// A view.
    View,
}
