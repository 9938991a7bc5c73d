//! Changes of the schema.

use std::sync::Arc;

use super::access::{AccessChange, RoleSpec};
use super::expr::Expr;
use super::query::{Query, RelId};
use super::trigger::{ChangeTrigger, TriggerState};
use crate::collation::Collation;
use crate::schema::{KeyRules, QualifiedName, Relation};
use crate::{Condition, Language, Type};

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
    /// CREATE ROW TYPE, CREATE DISTINCT TYPE.
    CreateType(CreateType),
    /// DROP TYPE.
    DropType {
        /// The type's object id.
        oid: u32,
    },
    /// CREATE, ALTER, DROP and COMMENT ON POLICY.
    Policy(Box<super::policy::ChangePolicy>),
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

/// CREATE FUNCTION, CREATE PROCEDURE in SPL.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRoutine {
    /// Name.
    pub name: String,
    /// Name and base types of its parameters.
    pub signature: String,
    /// SPECIFIC.
    pub specific: Option<String>,
    /// The statement's text.
    pub definition: String,
    /// OR REPLACE.
    pub or_replace: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
}

/// CREATE FUNCTION, CREATE PROCEDURE in PostgreSQL's way.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateFunction {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Name and types of its input parameters.
    pub signature: String,
    /// What the file keeps of it: its canonical text.
    pub text: String,
    /// The function that it takes the place of.
    pub replaces: Option<u32>,
    /// What it makes.
    pub kind: RoutineKind,
    /// LEAKPROOF.
    pub leakproof: bool,
    /// Variables of its body that hide others: what becomes of them is the session's to say.
    pub shadows: Vec<crate::Error>,
    /// SET … FROM CURRENT: settings that it gets the session's values of.
    pub current: Vec<String>,
}

/// What CREATE FUNCTION and its kin make.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RoutineKind {
    /// A function.
    Function,
    /// A procedure.
    Procedure,
    /// An aggregate.
    Aggregate,
}

/// ALTER FUNCTION and its kin: the function with its new text.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterFunction {
    /// Its object id.
    pub function: u32,
    /// Its namespace from now on.
    pub namespace: String,
    /// Its name from now on.
    pub name: String,
    /// Its signature from now on.
    pub signature: String,
    /// Its canonical text from now on.
    pub text: String,
    /// It becomes LEAKPROOF.
    pub leakproof: bool,
    /// SET … FROM CURRENT: settings that it gets the session's values of.
    pub current: Vec<String>,
    /// The completion tag.
    pub tag: &'static str,
}

/// CREATE ROW TYPE, CREATE DISTINCT TYPE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateType {
    /// Name.
    pub name: String,
    /// It names a row.
    pub is_row: bool,
    /// The row, or the source type, in Informix's words.
    pub words: String,
}

/// DROP FUNCTION, DROP PROCEDURE.
#[derive(Clone, Debug, PartialEq)]
pub struct DropRoutine {
    /// The routine's object id.
    pub oid: u32,
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Name; the schema is decided.
    pub name: QualifiedName,
    /// CREATE TEMP TABLE.
    pub temporary: bool,
    /// ON COMMIT.
    pub on_commit: OnCommit,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The language of the texts below.
    pub language: Language,
    /// Columns.
    pub columns: Vec<ColumnDefinition>,
    /// Constraints, those written at a column included.
    pub constraints: Vec<Constraint>,
    /// Facts that change no row, each as part (a column's name, or nothing), name and value.
    pub properties: Vec<(String, String, String)>,
    /// Tables of which it takes more than columns and constraints.
    pub likes: Vec<Like>,
    /// Tables that it inherits from.
    pub parents: Vec<Arc<Relation>>,
    /// It is a partition of its one parent.
    pub partition: Option<Box<NewPartition>>,
}

/// A table becomes a partition of another.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPartition {
    /// The partitioned table.
    pub parent: Arc<Relation>,
    /// Which of its rows the partition is to have.
    pub bound: BoundExprs,
    /// Where the values stand in the statement.
    pub places: Vec<Option<u32>>,
}

/// A bound whose values have to be computed; they have the types of the keys.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundExprs {
    /// DEFAULT.
    Default,
    /// WITH (MODULUS, REMAINDER).
    Hash(u32, u32),
    /// IN.
    List(Vec<Expr>),
    /// FROM … TO.
    Range(Vec<EdgeExpr>, Vec<EdgeExpr>),
}

/// A value of an edge of a range.
#[derive(Clone, Debug, PartialEq)]
pub enum EdgeExpr {
    /// MINVALUE.
    Min,
    /// A value.
    Value(Expr),
    /// MAXVALUE.
    Max,
}

/// ALTER TABLE … ATTACH PARTITION, DETACH PARTITION.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangePartition {
    /// The partitioned table.
    pub parent: Arc<Relation>,
    /// The partition, that is or is to be.
    pub partition: Arc<Relation>,
    /// Which rows it is to have; `None` takes it away.
    pub attached: Option<Box<NewPartition>>,
    /// CONCURRENTLY: what is taken away keeps its rows by a check.
    pub concurrently: bool,
}

/// LIKE: what a new table takes of another beyond the columns and constraints that its definition spells out.
#[derive(Clone, Debug, PartialEq)]
pub struct Like {
    /// The other table.
    pub source: Arc<Relation>,
    /// INCLUDING COMMENTS.
    pub comments: bool,
    /// INCLUDING INDEXES: those that no constraint stands for.
    pub indexes: bool,
    /// Facts about columns that go with them, by their names.
    pub properties: Vec<&'static str>,
}

/// What becomes of a temporary table when a transaction commits.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnCommit {
    /// It stays as it is.
    #[default]
    PreserveRows,
    /// It is emptied.
    DeleteRows,
    /// It goes.
    Drop,
}

/// A column to be.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// NOT NULL.
    pub not_null: bool,
    /// DEFAULT.
    pub default: Option<Text>,
    /// Informix's SERIAL, GENERATED AS IDENTITY.
    pub identity: Option<IdentityDefinition>,
    /// The sequence that is made for the column: PostgreSQL's serial, and behind an identity. A name without schema is
    /// the user's (`SEQUENCE NAME`), an empty one is to be found.
    pub sequence: Option<CreateSequence>,
    /// GENERATED ALWAYS AS (…) STORED.
    pub generated: Option<Text>,
    /// COLLATE; `None` is the type's own.
    pub collation: Option<Arc<Collation>>,
}

impl ColumnDefinition {
    /// The columns of a table that a query's rows make; the first of them get the names that are given, the query's, too.
    ///
    /// # Errors
    /// `42601` for too many names, `42701` for two columns of a name.
    pub fn of_query(query: &mut super::Query, names: &[String]) -> crate::Result<Vec<Self>> {
        if names.len() > query.columns.len() {
            return Err(crate::Error::new(Condition::SyntaxError, "too many column names were specified"));
        }
        for (column, name) in query.columns.iter_mut().zip(names) {
            column.name.clone_from(name);
        }
        let mut columns: Vec<Self> = Vec::with_capacity(query.columns.len());
        for column in &query.columns {
            if columns.iter().any(|known| known.name == column.name) {
                let message = format!("column \"{}\" specified more than once", column.name);
                return Err(crate::Error::new(Condition::DuplicateColumn, message));
            }
            columns.push(Self {
                name: column.name.clone(),
                ty: column.ty.clone(),
                not_null: false,
                default: None,
                identity: None,
                sequence: None,
                generated: None,
                collation: None,
            });
        }
        Ok(columns)
    }
}

/// Numbers to be given.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityDefinition {
    /// GENERATED ALWAYS.
    pub always: bool,
    /// Informix SERIAL rules.
    pub zero_is_next: bool,
    /// The first number.
    pub start: i64,
    /// The step.
    pub increment: i64,
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

/// A table constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name; always decided (PostgreSQL's default names, such as `orders_pkey`).
    pub name: String,
    /// The user gave the name.
    pub named: bool,
    /// What it demands.
    pub kind: ConstraintKind,
    /// How it is kept.
    pub options: ConstraintOptions,
}

/// How a constraint is kept.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ConstraintOptions {
    /// NOT VALID: rows that are there already are not looked at.
    pub not_valid: bool,
    /// NO INHERIT, of a check.
    pub no_inherit: bool,
}

/// What a constraint demands.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// PRIMARY KEY, columns by position.
    PrimaryKey(Vec<usize>),
    /// UNIQUE, columns by position.
    Unique(Vec<usize>),
    /// UNIQUE … DEFERRABLE, or a primary key of the kind: rows that share a key may stand beside each other until the
    /// statement, or the transaction, ends.
    DeferrableUnique {
        /// Columns by position.
        columns: Vec<usize>,
        /// INITIALLY DEFERRED.
        deferred: bool,
        /// PRIMARY KEY.
        primary: bool,
    },
    /// UNIQUE NULLS NOT DISTINCT, columns by position.
    UniqueNullsAlike(Vec<usize>),
    /// EXCLUDE.
    Exclusion(Box<Exclusion>),
    /// CHECK.
    Check(Text),
    /// FOREIGN KEY.
    ForeignKey(Box<ForeignKeyDefinition>),
}

/// FOREIGN KEY.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKeyDefinition {
    /// Columns here, by position.
    pub columns: Vec<usize>,
    /// The table referenced (perhaps the one under definition).
    pub target: QualifiedName,
    /// The columns referenced, by name; decided.
    pub target_columns: Vec<String>,
    /// What it asks for, and when.
    pub rules: KeyRules,
    /// The engine keeps it, not the back end.
    pub by_engine: bool,
    /// The columns, by position, to which SET NULL and SET DEFAULT of ON DELETE are confined; empty is all.
    pub set_columns: Vec<usize>,
}

/// EXCLUDE.
#[derive(Clone, Debug, PartialEq)]
pub struct Exclusion {
    /// The keys.
    pub keys: Vec<IndexKeyDefinition>,
    /// WHERE.
    pub predicate: Option<Text>,
    /// How keys are compared, and when.
    pub rule: crate::exclusion::Exclusion,
    /// What the catalogs show of its index beyond its keys.
    pub properties: Vec<(String, String)>,
}

impl ConstraintKind {
    /// The columns of a primary key, by position.
    pub fn primary_key(&self) -> Option<&[usize]> {
        match self {
            Self::PrimaryKey(columns) | Self::DeferrableUnique { columns, primary: true, .. } => Some(columns),
            _ => None,
        }
    }

    /// The columns of a plain PRIMARY KEY or UNIQUE, by position.
    pub fn key(&self) -> Option<&[usize]> {
        match self {
            Self::PrimaryKey(columns) | Self::Unique(columns) => Some(columns),
            _ => None,
        }
    }

    /// True of two keys that ask the same of the same columns, be one of them the primary key or not.
    pub fn is_same_key(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::UniqueNullsAlike(columns), Self::UniqueNullsAlike(others)) => columns == others,
            (
                Self::DeferrableUnique { columns, deferred, .. },
                Self::DeferrableUnique { columns: others, deferred: waits, .. },
            ) => (columns, deferred) == (others, waits),
            _ => self.key().is_some() && self.key() == other.key(),
        }
    }

    /// A key as another, whose index this is, of these columns.
    pub fn of_index(index: &crate::schema::Index, columns: Vec<usize>) -> Self {
        match index.deferrability() {
            Some(deferred) => Self::DeferrableUnique { columns, deferred, primary: index.primary },
            None if index.primary => Self::PrimaryKey(columns),
            None if index.nulls_alike => Self::UniqueNullsAlike(columns),
            None => Self::Unique(columns),
        }
    }

    /// A foreign key as another, of these columns.
    pub fn of_key(key: &crate::schema::ForeignKey, columns: Vec<usize>) -> Self {
        let place = |at: &usize| key.columns.iter().position(|own| own == at).map(|place| columns[place]);
        Self::ForeignKey(Box::new(ForeignKeyDefinition {
            by_engine: key.by_engine,
            set_columns: key.set_columns.iter().filter_map(place).collect(),
            columns,
            target: key.target.clone(),
            target_columns: key.target_columns.clone(),
            rules: key.rules,
        }))
    }
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

/// A change of a table.
#[allow(clippy::large_enum_variant, reason = "a statement has a handful")]
#[derive(Clone, Debug, PartialEq)]
pub enum AlterTable {
    /// A column goes to the place before another.
    MoveColumn {
        /// Which.
        column: usize,
        /// Before this one.
        before: usize,
    },
    /// ADD COLUMN.
    AddColumn {
        /// The column.
        column: ColumnDefinition,
        /// Constraints written at it; its position is the number of columns before.
        constraints: Vec<Constraint>,
        /// IF NOT EXISTS.
        if_not_exists: bool,
    },
    /// DROP COLUMN. As everywhere here, positions count the columns that the table had before the statement, and behind
    /// them those that its earlier actions add.
    DropColumn {
        /// The column.
        column: usize,
        /// CASCADE.
        cascade: bool,
    },
    /// RENAME COLUMN.
    RenameColumn {
        /// The column.
        column: usize,
        /// Its new name.
        to: String,
    },
    /// RENAME TO.
    RenameTable(String),
    /// RENAME CONSTRAINT.
    RenameConstraint {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// ALTER COLUMN … TYPE.
    SetType {
        /// The column.
        column: usize,
        /// Its new type.
        ty: Type,
        /// Its new collation, where it is not the type's own.
        collation: Option<std::sync::Arc<crate::collation::Collation>>,
        /// How its values follow; columns are of [`Text::TABLE`].
        using: Expr,
    },
    /// ALTER COLUMN … SET / DROP NOT NULL.
    SetNotNull {
        /// The column.
        column: usize,
        /// SET.
        not_null: bool,
    },
    /// ALTER COLUMN … SET / DROP DEFAULT.
    SetDefault {
        /// The column.
        column: usize,
        /// The default; `None` drops it.
        default: Option<Text>,
    },
    /// ALTER COLUMN … DROP EXPRESSION: the column keeps the values that it has.
    DropExpression {
        /// The column.
        column: usize,
    },
    /// ENABLE and DISABLE TRIGGER.
    SetTriggers {
        /// These.
        triggers: Vec<Arc<crate::schema::Trigger>>,
        /// From now on.
        state: TriggerState,
        /// ALL: those by which PostgreSQL keeps foreign keys, too.
        all: bool,
        /// ONLY: those of partitions stay as they are.
        only: bool,
    },
    /// ALTER COLUMN … ADD GENERATED AS IDENTITY.
    AddIdentity {
        /// The column.
        column: usize,
        /// How it numbers.
        identity: IdentityDefinition,
        /// The sequence to be made.
        sequence: CreateSequence,
    },
    /// ALTER COLUMN … SET GENERATED, SET of sequence options, RESTART.
    SetIdentity {
        /// The column.
        column: usize,
        /// GENERATED ALWAYS; `None` leaves it as it is.
        always: Option<bool>,
        /// The sequence with its new parameters.
        sequence: Option<CreateSequence>,
        /// What it yields next.
        restart: Option<i64>,
    },
    /// ALTER COLUMN … DROP IDENTITY.
    DropIdentity {
        /// The column.
        column: usize,
    },
    /// ADD CONSTRAINT.
    AddConstraint(Constraint),
    /// ADD CONSTRAINT … USING INDEX: a key, and the index whose place it takes.
    AddKeyUsing {
        /// The key.
        constraint: Constraint,
        /// The index.
        index: String,
    },
    /// DROP CONSTRAINT.
    DropConstraint {
        /// The name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
        /// CASCADE.
        cascade: bool,
    },
    /// VALIDATE CONSTRAINT.
    ValidateConstraint(String),
    /// ALTER CONSTRAINT: when a foreign key is checked.
    DeferConstraint {
        /// The foreign key.
        name: String,
        /// DEFERRABLE.
        deferrable: bool,
        /// INITIALLY DEFERRED.
        deferred: bool,
    },
    /// A fact about the table or a part of it that changes no row: SET STATISTICS, SET STORAGE, storage parameters, ….
    SetProperty {
        /// What it is about.
        part: Part,
        /// The fact's name.
        name: String,
        /// The fact; `None` strikes it.
        value: Option<String>,
    },
    /// SET SCHEMA.
    SetSchema(String),
}

/// What a property is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Part {
    /// The table itself.
    Table,
    /// A column.
    Column(usize),
    /// A constraint, by its name.
    Constraint(String),
    /// An index, by its name.
    Index(String),
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
