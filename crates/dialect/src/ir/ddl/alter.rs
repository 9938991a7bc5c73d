//! Changes of tables.

use std::sync::Arc;

use super::super::expr::Expr;
use super::super::trigger::TriggerState;
use super::{ColumnDefinition, Constraint, CreateSequence, IdentityDefinition, Text};
use crate::Type;

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
    /// ENABLE and DISABLE RULE.
    SetRule {
        /// The rule.
        rule: Arc<crate::schema::Rule>,
        /// Whether it is asked from now on.
        state: crate::ir::TriggerState,
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
