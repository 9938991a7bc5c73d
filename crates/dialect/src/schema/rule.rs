//! Rules: what a change of a relation does besides, or instead.

use crate::ir::{TriggerEvent, TriggerState};

/// A rule of a table or view. The rule behind a view's rows, `_RETURN`, is the view itself and none of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Object id.
    pub oid: u32,
    /// Name; unique among the relation's.
    pub name: String,
    /// The change that it is about: INSERT, UPDATE or DELETE.
    pub event: TriggerEvent,
    /// DO INSTEAD; DO ALSO otherwise.
    pub instead: bool,
    /// WHERE: the condition's text, over `old` and `new`.
    pub condition: Option<String>,
    /// What is done: the texts of statements over `old` and `new`. None is NOTHING.
    pub actions: Vec<String>,
    /// Whether it is asked.
    pub state: TriggerState,
    /// COMMENT ON RULE.
    pub comment: Option<String>,
    /// What its texts name.
    pub needs: Vec<crate::uses::Dependency>,
}

impl Rule {
    /// The name of the rule behind a view's rows.
    pub const RETURN: &str = "_RETURN";

    /// True when sessions ask it.
    pub fn is_asked(&self) -> bool {
        matches!(self.state, TriggerState::Origin | TriggerState::Always)
    }

    /// The digit of `pg_rewrite.ev_type`.
    pub const fn digit(&self) -> &'static str {
        match self.event {
            TriggerEvent::Update => "2",
            TriggerEvent::Insert => "3",
            TriggerEvent::Delete | TriggerEvent::Truncate => "4",
        }
    }
}
