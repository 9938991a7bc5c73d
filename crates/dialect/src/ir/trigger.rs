//! Triggers: when they fire, and the statements that make and change them.

use std::sync::Arc;

use super::RelId;
use crate::schema::{ForeignKey, ReferentialAction, Relation, Trigger};

/// The old row, in a trigger's WHEN.
pub const OLD_ROW: RelId = RelId(u32::MAX - 2);
/// The new row, in a trigger's WHEN.
pub const NEW_ROW: RelId = RelId(u32::MAX - 3);

/// When a trigger fires.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TriggerTime {
    /// Before the row is written, or the statement runs.
    Before,
    /// When the statement has written everything.
    After,
    /// In place of the change of a view.
    InsteadOf,
}

/// How often a trigger fires.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TriggerLevel {
    /// For each row.
    Row,
    /// Once for the statement.
    Statement,
}

/// What a trigger waits for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TriggerEvent {
    /// INSERT.
    Insert,
    /// DELETE.
    Delete,
    /// UPDATE.
    Update,
    /// TRUNCATE.
    Truncate,
}

impl TriggerTime {
    /// As SQL and `TG_WHEN` have it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Before => "BEFORE",
            Self::After => "AFTER",
            Self::InsteadOf => "INSTEAD OF",
        }
    }
}

impl TriggerLevel {
    /// As SQL and `TG_LEVEL` have it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Row => "ROW",
            Self::Statement => "STATEMENT",
        }
    }
}

impl TriggerEvent {
    /// All of them, in the order in which PostgreSQL lists a trigger's.
    pub const ALL: [Self; 4] = [Self::Insert, Self::Delete, Self::Update, Self::Truncate];

    /// As SQL and `TG_OP` have it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Truncate => "TRUNCATE",
        }
    }

    /// Its bit in `pg_trigger.tgtype` (and in the parser's tree).
    pub const fn bit(self) -> u8 {
        match self {
            Self::Insert => 4,
            Self::Delete => 8,
            Self::Update => 16,
            Self::Truncate => 32,
        }
    }
}

/// A change of a relation's triggers.
#[derive(Clone, Debug, PartialEq)]
pub enum TriggerChange {
    /// CREATE TRIGGER; a trigger of that name gives way to it, and those of partitions with OR REPLACE.
    Create {
        /// The trigger.
        trigger: Trigger,
        /// OR REPLACE.
        replace: bool,
    },
    /// CREATE and DROP TRIGGER of Informix: the triggers that stand for its lists of actions.
    Actions {
        /// Those that go.
        gone: Vec<Arc<Trigger>>,
        /// Those that come.
        made: Vec<Trigger>,
    },
    /// DROP TRIGGER.
    Drop(Arc<Trigger>),
    /// ALTER TRIGGER … RENAME TO.
    Rename(Arc<Trigger>, String),
    /// COMMENT ON TRIGGER; `None` removes it.
    Comment(Arc<Trigger>, Option<String>),
}

/// A change of a relation's triggers, and the relation.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeTrigger {
    /// The table or view.
    pub relation: Arc<Relation>,
    /// The change.
    pub change: TriggerChange,
}

/// When a trigger is allowed to fire (`pg_trigger.tgenabled`).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TriggerState {
    /// ENABLE ALWAYS: whatever `session_replication_role` says.
    Always,
    /// DISABLE.
    Disabled,
    /// ENABLE: unless `session_replication_role` is `replica`.
    Origin,
    /// ENABLE REPLICA: only when it is.
    Replica,
}

impl TriggerState {
    /// `tgenabled`.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Always => "A",
            Self::Disabled => "D",
            Self::Origin => "O",
            Self::Replica => "R",
        }
    }

    /// The state of a letter.
    pub fn from_letter(letter: &str) -> Option<Self> {
        [Self::Always, Self::Disabled, Self::Origin, Self::Replica].into_iter().find(|state| state.letter() == letter)
    }
}

/// What a foreign key does to the rows that refer to one that goes, or gets another key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReferentialChange {
    /// They go, too.
    Delete,
    /// They get the new key.
    Follow,
    /// Their key becomes NULL.
    SetNull,
    /// Their key becomes its default.
    SetDefault,
}

impl ReferentialChange {
    /// What a key does about an event of the table that it refers to; `None` when it changes nothing.
    pub fn of(key: &ForeignKey, event: TriggerEvent) -> Option<Self> {
        let action = match event {
            TriggerEvent::Delete => key.rules.on_delete,
            TriggerEvent::Update => key.rules.on_update,
            TriggerEvent::Insert | TriggerEvent::Truncate => return None,
        };
        match action {
            ReferentialAction::Cascade if event == TriggerEvent::Delete => Some(Self::Delete),
            ReferentialAction::Cascade => Some(Self::Follow),
            ReferentialAction::SetNull => Some(Self::SetNull),
            ReferentialAction::SetDefault => Some(Self::SetDefault),
            ReferentialAction::NoAction | ReferentialAction::Restrict => None,
        }
    }

    /// What the rows' own table sees of it.
    pub const fn event(self) -> TriggerEvent {
        match self {
            Self::Delete => TriggerEvent::Delete,
            Self::Follow | Self::SetNull | Self::SetDefault => TriggerEvent::Update,
        }
    }
}
