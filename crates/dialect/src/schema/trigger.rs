//! Triggers of a table, and when they fire.

use crate::ir::{TriggerEvent, TriggerLevel, TriggerState, TriggerTime};

/// A trigger of ours: the back end knows nothing of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// Object id.
    pub oid: u32,
    /// Name; unique among the relation's.
    pub name: String,
    /// The function's object id.
    pub function: u32,
    /// When it fires.
    pub time: TriggerTime,
    /// How often.
    pub level: TriggerLevel,
    /// [`TriggerEvent::bit`]s of what it waits for.
    pub events: u8,
    /// UPDATE OF: columns by position; empty is any.
    pub columns: Vec<usize>,
    /// WHEN: the condition's text, in PostgreSQL's SQL.
    pub condition: Option<String>,
    /// The function's arguments.
    pub args: Vec<String>,
    /// REFERENCING OLD TABLE.
    pub old_table: Option<String>,
    /// REFERENCING NEW TABLE.
    pub new_table: Option<String>,
    /// It is a constraint trigger.
    pub constraint: Option<ConstraintTrigger>,
    /// When it is allowed to fire.
    pub state: TriggerState,
    /// COMMENT ON TRIGGER.
    pub comment: Option<String>,
    /// No function is called, and nobody is told of the trigger: it stands for a constraint.
    pub key: Option<TriggerKey>,
}

/// The constraint that a trigger stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum TriggerKey {
    /// A deferrable key or an EXCLUDE, by the name of its index: rows are looked for that it does not let stand beside
    /// each other.
    Index(String),
    /// A foreign key by its object id, at the table that refers: whether there is what a row refers to.
    Refers(u32),
    /// A foreign key by its object id, at a table that is referred to: what becomes of the rows that refer to a row.
    Referred(u32),
}

impl TriggerKey {
    /// The index that it stands for.
    pub fn index(&self) -> Option<&str> {
        match self {
            Self::Index(name) => Some(name),
            Self::Refers(_) | Self::Referred(_) => None,
        }
    }
}

/// What a constraint trigger has more than others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ConstraintTrigger {
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// FROM: another table, for the catalogs alone.
    pub from: u32,
}

/// One of the lists of actions of an Informix trigger.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TriggerPart {
    /// BEFORE: once, before the statement.
    Before,
    /// FOR EACH ROW.
    EachRow,
    /// AFTER: once, behind the statement.
    After,
}

impl TriggerPart {
    /// As it is stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::EachRow => "each row",
            Self::After => "after",
        }
    }

    /// The name under which the part of a trigger is kept.
    pub fn name_of(self, trigger: &str) -> String {
        format!("{trigger} {}", self.word())
    }
}

/// What a part of an Informix trigger does.
#[derive(Clone, Copy, Debug)]
pub struct TriggerActions<'a> {
    /// The trigger's name.
    pub trigger: &'a str,
    /// [`TriggerPart::word`].
    pub part: &'a str,
    /// The whole CREATE TRIGGER.
    pub text: &'a str,
}

impl Trigger {
    /// The function of a part of an Informix trigger: an object id of the system's that no function has.
    pub const ACTIONS: u32 = 1;

    /// The actions of a trigger that was made in Informix's way.
    pub fn actions(&self) -> Option<TriggerActions<'_>> {
        match (self.function, self.args.as_slice()) {
            (Self::ACTIONS, [trigger, part, text]) => Some(TriggerActions { trigger, part, text }),
            _ => None,
        }
    }

    /// The function of a trigger in MySQL's language: an object id of the system's that no function has.
    pub const MYSQL: u32 = 2;

    /// The body of a trigger that was made in MySQL's way: its whole CREATE TRIGGER, and its place among those of its event.
    pub fn mysql_body(&self) -> Option<(&str, u32)> {
        match (self.function, self.args.as_slice()) {
            (Self::MYSQL, [text, place, ..]) => Some((text, place.parse().unwrap_or(0))),
            _ => None,
        }
    }

    /// It is in a language whose programs come in by a door of ours, and not PostgreSQL's.
    pub fn is_of_door(&self) -> bool {
        self.actions().is_some() || self.mysql_body().is_some()
    }

    /// What triggers of a table are sorted by: those in MySQL's language have places, the others fire by name.
    pub fn rank(&self) -> (u32, &str) {
        (self.mysql_body().map_or(0, |(_, place)| place), &self.name)
    }

    /// Its function is PostgreSQL's own.
    pub fn calls_built_in(&self) -> bool {
        self.function < 16_384
    }

    /// True when it waits for an event.
    pub const fn waits_for(&self, event: TriggerEvent) -> bool {
        self.events & event.bit() != 0
    }

    /// The events that it waits for, in the order in which PostgreSQL lists them.
    pub fn each_event(&self) -> impl Iterator<Item = TriggerEvent> + '_ {
        TriggerEvent::ALL.into_iter().filter(|event| self.waits_for(*event))
    }

    /// It wants the statement's rows as tables.
    pub const fn has_transition_tables(&self) -> bool {
        self.old_table.is_some() || self.new_table.is_some()
    }
}
