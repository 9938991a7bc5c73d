//! Rules: the statements that make and change them, and a change that they have made into others.

use std::sync::Arc;

use super::statement::Statement;
use super::trigger::TriggerEvent;
use crate::plan::ResultColumn;
use crate::schema::{Relation, Rule};

/// A change of a relation's rules.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleChange {
    /// CREATE RULE; a rule of that name gives way to it.
    Create(Rule),
    /// DROP RULE.
    Drop(Arc<Rule>),
    /// ALTER RULE … RENAME TO.
    Rename(Arc<Rule>, String),
    /// COMMENT ON RULE; `None` removes it.
    Comment(Arc<Rule>, Option<String>),
}

/// A change of a relation's rules, and the relation.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRule {
    /// The table or view.
    pub relation: Arc<Relation>,
    /// The change.
    pub change: RuleChange,
}

/// A change that rules have made into other statements, which run one after another: each sees what those before it have
/// done.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewritten {
    /// The change that the user has asked for: INSERT, UPDATE or DELETE.
    pub event: TriggerEvent,
    /// The statements; none where nothing is to be done.
    pub parts: Vec<RewrittenPart>,
    /// The one whose rows are counted and returned.
    pub tells: Option<usize>,
}

/// One of the statements: a change or a query, of which nobody sees the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RewrittenPart {
    /// The statement.
    pub statement: Statement,
    /// The columns of its rows.
    pub columns: Vec<ResultColumn>,
}
