//! CREATE TRIGGER: lists of actions, each a routine whose variables are columns of the old and the new row.

use std::collections::HashMap;

use super::{Block, Expression, Names, OfRow, Routine, RowNames, Step, StepKind, TypeRef, Variable};
use crate::informix::ast::{Ast, CreateTrigger};
use crate::informix::lexer::TokenKind;
use crate::informix::parser::Parser;
use crate::ir::TriggerEvent;
use crate::schema::{QualifiedName, TriggerPart};
use crate::{Condition, Error, Result, Type};

/// A parsed CREATE TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerDefinition {
    /// Its name.
    pub name: String,
    /// INSTEAD OF, at a view.
    pub instead: bool,
    /// What it waits for.
    pub event: TriggerEvent,
    /// UPDATE OF: the columns, and where they stand in the text.
    pub columns: Vec<(String, usize)>,
    /// REFERENCING OLD AS.
    pub old: Option<String>,
    /// REFERENCING NEW AS.
    pub new: Option<String>,
    /// Its lists of actions, in the order in which they run.
    pub parts: Vec<(TriggerPart, Routine)>,
    /// An action of FOR EACH ROW gives columns of the new row values, so it runs before the row is written.
    pub sets_row: bool,
    /// Where the first action stands in the text: what is before is the head.
    pub actions_at: usize,
}

impl TriggerDefinition {
    /// The actions of a part.
    pub fn part(&self, wanted: TriggerPart) -> Option<&Routine> {
        self.parts.iter().find(|(part, _)| *part == wanted).map(|(_, routine)| routine)
    }
}

/// Parses the text of a trigger that was created before.
///
/// # Errors
/// `42601`; a stored text has been parsed once, so only a file that somebody else has changed fails.
pub fn parse_trigger(definition: &str) -> Result<TriggerDefinition> {
    match crate::informix::parse(definition)?.pop().map(|statement| statement.ast) {
        Some(Ast::CreateTrigger(create)) => Ok(create.trigger),
        _ => Err(Error::new(Condition::SyntaxError, "CREATE TRIGGER is expected")),
    }
}

/// What becomes of the text of a trigger whose table changes.
#[derive(Clone, Copy, Debug)]
pub enum TriggerEdit<'n> {
    /// A column of the table has another name: in UPDATE OF, behind the names of the old and the new row, and where an
    /// action puts a value into it.
    RenameColumn(&'n str, &'n str),
    /// A column is no more: in UPDATE OF, where others are left.
    DropColumn(&'n str),
    /// The table has another name.
    RenameTable(&'n str),
}

/// The text of a trigger after such a change. What its actions name otherwise stays, as with servers: an action that
/// names what is no more fails when it runs.
///
/// # Errors
/// `42601` for a text that is no trigger.
pub fn edited_trigger(definition: &str, edit: TriggerEdit<'_>) -> Result<String> {
    let trigger = parse_trigger(definition)?;
    let tokens = crate::informix::lexer::tokens(definition)?;
    let name_of = |at: usize| match tokens.get(at).map(|token| &token.kind) {
        Some(TokenKind::Word(name) | TokenKind::Quoted(name)) => Some(name.as_str()),
        _ => None,
    };
    let is_sign = |at: usize, sign: &str| matches!(tokens.get(at).map(|token| &token.kind), Some(TokenKind::Sign(found)) if *found == sign);
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    match edit {
        TriggerEdit::RenameColumn(from, to) => {
            let correlated = |at: usize| {
                let name = name_of(at);
                name.is_some() && (name == trigger.old.as_deref() || name == trigger.new.as_deref())
            };
            let mut receives = false;
            for (at, token) in tokens.iter().enumerate() {
                match &token.kind {
                    TokenKind::Word(word) if word == "into" => receives = at > 0 && name_of(at - 1) != Some("insert"),
                    TokenKind::Sign(",") => {}
                    TokenKind::Word(_) | TokenKind::Quoted(_) if name_of(at) == Some(from) => {
                        let of_row = at >= 2 && is_sign(at - 1, ".") && correlated(at - 2);
                        let waited_for = trigger.columns.iter().any(|(_, place)| *place == token.start);
                        if of_row || waited_for || receives {
                            edits.push((token.start..token.end, written(to)));
                        }
                    }
                    // The list of columns that a value goes into ends where something else than names and commas stands.
                    TokenKind::Word(_) | TokenKind::Quoted(_) if receives => {}
                    _ => receives = false,
                }
            }
        }
        TriggerEdit::DropColumn(name) => {
            if let Some(gone) = trigger.columns.iter().find(|(column, _)| column == name)
                && let Some(at) = tokens.iter().position(|token| token.start == gone.1)
            {
                // With the comma behind it, or before it when it is the last.
                let (first, last) = if is_sign(at + 1, ",") { (at, at + 1) } else { (at.saturating_sub(1), at) };
                let end = tokens.get(last + 1).map_or(tokens[last].end, |next| next.start);
                edits.push((tokens[first].start..end, if first == at { String::new() } else { " ".to_owned() }));
            }
        }
        TriggerEdit::RenameTable(to) => {
            if let Some(on) = (0..tokens.len()).find(|at| name_of(*at) == Some("on")) {
                let mut at = on + 1;
                while is_sign(at + 1, ".") || is_sign(at + 1, ":") || is_sign(at + 1, "@") {
                    at += 2;
                }
                edits.push((tokens[at].start..tokens[at].end, written(to)));
            }
        }
    }
    let mut text = definition.to_owned();
    for (range, name) in edits.into_iter().rev() {
        text.replace_range(range, &name);
    }
    parse_trigger(&text)?;
    Ok(text)
}

/// A name as a text has it.
fn written(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit();
    if name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("\"{name}\"")
    }
}

impl Parser<'_> {
    /// What follows CREATE [OR REPLACE]; `start` is where CREATE stands.
    pub fn create_trigger(&mut self, start: usize, or_replace: bool) -> Result<Ast> {
        self.expect_word("trigger")?;
        if self.spl.is_some() {
            let message = "a trigger cannot be created within a routine";
            return Err(self.error_at(Condition::RoutineStatement, message, start));
        }
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        let instead = self.words(&["instead", "of"]);
        let event = if self.word("insert") {
            TriggerEvent::Insert
        } else if self.word("delete") {
            TriggerEvent::Delete
        } else if self.word("update") {
            TriggerEvent::Update
        } else if self.is_word("select") {
            return Err(self.unsupported("a trigger on SELECT"));
        } else {
            return Err(self.unexpected());
        };
        let columns =
            if event == TriggerEvent::Update && self.word("of") { self.list(Self::name_at)? } else { Vec::new() };
        self.expect_word("on")?;
        let table = self.object_name()?;
        let place = QualifiedName { schema: table.owner.clone(), name: table.name.clone() };
        let mut rows = RowNames { table: place, old: None, new: None, sets_row: false, event, instead };
        self.correlations(event, &mut rows)?;
        let rows_named = rows.old.is_some() || rows.new.is_some();
        let mut trigger = TriggerDefinition {
            name: name.name,
            instead,
            event,
            columns,
            old: rows.old.clone(),
            new: rows.new.clone(),
            parts: Vec::new(),
            sets_row: false,
            actions_at: self.start() - start,
        };
        if !instead && self.word("before") {
            trigger.parts.push((TriggerPart::Before, self.actions(None)?.0));
        }
        if self.words(&["for", "each", "row"]) {
            let (routine, sets_row) = self.actions(Some(rows))?;
            trigger.sets_row = sets_row;
            trigger.parts.push((TriggerPart::EachRow, routine));
        }
        if !instead && self.word("after") {
            trigger.parts.push((TriggerPart::After, self.actions(None)?.0));
        }
        if (rows_named || instead) && trigger.part(TriggerPart::EachRow).is_none() {
            let message = "REFERENCING and INSTEAD OF need FOR EACH ROW";
            return Err(self.error_at(Condition::TriggerWithoutRow, message, name.at));
        }
        if trigger.parts.is_empty() {
            return Err(self.error_at(Condition::TriggerWithoutAction, "the trigger has no action", name.at));
        }
        if instead && trigger.sets_row {
            return Err(self.unsupported("EXECUTE FUNCTION … INTO columns of a view"));
        }
        let text = (start, self.end());
        let disabled = self.word("disabled");
        if !disabled {
            self.word("enabled");
        }
        let at = name.at;
        Ok(Ast::CreateTrigger(Box::new(CreateTrigger {
            trigger,
            table,
            or_replace,
            if_not_exists,
            disabled,
            text,
            at,
        })))
    }

    /// `REFERENCING OLD AS a NEW AS b`, of which there is what the event has.
    fn correlations(&mut self, event: TriggerEvent, rows: &mut RowNames) -> Result<()> {
        if !self.word("referencing") {
            return Ok(());
        }
        self.row_names(Some(event), rows)
    }

    /// `OLD AS a NEW AS b`, in any order; of a trigger's routine, which may be called for any event, both.
    pub(super) fn row_names(&mut self, event: Option<TriggerEvent>, rows: &mut RowNames) -> Result<()> {
        loop {
            let at = self.start();
            let (which, missing) = if rows.old.is_none() && self.word("old") {
                (&mut rows.old, event == Some(TriggerEvent::Insert))
            } else if rows.new.is_none() && self.word("new") {
                (&mut rows.new, event == Some(TriggerEvent::Delete))
            } else {
                break;
            };
            if missing {
                let message = "the row that REFERENCING names does not exist for this event";
                return Err(self.error_at(Condition::SyntaxError, message, at));
            }
            self.word("as");
            *which = Some(self.name()?);
        }
        if rows.old.is_none() && rows.new.is_none() { Err(self.unexpected()) } else { Ok(()) }
    }

    /// `[WHEN (condition)] (action, …), …`; with whether one gives the new row values.
    fn actions(&mut self, rows: Option<RowNames>) -> Result<(Routine, bool)> {
        self.spl = Some(Box::new(Names { text: self.text.into(), actions: true, rows, ..Names::default() }));
        self.names().scopes.push(HashMap::new());
        let body = self.action_lists();
        let names = *self.spl.take().expect("it was put there");
        let sets_row = names.rows.is_some_and(|rows| rows.sets_row);
        let routine = Routine {
            name: String::new(),
            owner: None,
            specific: None,
            function: false,
            dba: false,
            not_variant: false,
            params: Vec::new(),
            returns: Vec::new(),
            variables: names.variables,
            sqlcode: None,
            of_table: None,
            body: body?,
            statements: names.statements,
            document: Vec::new(),
            writes: names.writes,
            iterator: false,
            calls: names.calls,
        };
        Ok((routine, sets_row))
    }

    fn action_lists(&mut self) -> Result<Block> {
        let mut block = Block::default();
        loop {
            let line = self.line();
            let condition: Option<Expression> = if self.word("when") {
                self.expect_sign("(")?;
                let condition = self.value()?;
                self.expect_sign(")")?;
                Some(condition)
            } else {
                None
            };
            self.expect_sign("(")?;
            let mut steps = Vec::new();
            loop {
                let line = self.line();
                steps.push(Step { label: None, kind: self.action()?, line });
                if !self.sign(",") {
                    break;
                }
            }
            self.expect_sign(")")?;
            match condition {
                Some(condition) => {
                    let branches = vec![(condition, Block { steps, ..Block::default() })];
                    block.steps.push(Step { label: None, kind: StepKind::If { branches, otherwise: None }, line });
                }
                None => block.steps.extend(steps),
            }
            if !self.sign(",") {
                return Ok(block);
            }
        }
    }

    fn action(&mut self) -> Result<StepKind> {
        let TokenKind::Word(word) = self.peek().clone() else { return Err(self.unexpected()) };
        if !matches!(word.as_str(), "insert" | "update" | "delete" | "execute") || self.is_word_at(1, "immediate") {
            return Err(self.unexpected());
        }
        let step = self.step(None)?;
        let at = self.start();
        if self.words(&["with", "trigger", "references"]) {
            let Some(rows) = &mut self.names().rows else {
                let message = "WITH TRIGGER REFERENCES needs FOR EACH ROW";
                return Err(self.error_at(Condition::SyntaxError, message, at));
            };
            // What the routine does to the new row is its own affair.
            rows.sets_row |= rows.event != TriggerEvent::Delete && !rows.instead;
        }
        Ok(step)
    }

    /// True where the comma that stands here is followed by a trigger's next action.
    pub fn before_action(&self) -> bool {
        let next = |first: &str, second: &[&str]| {
            self.is_word_at(1, first) && second.iter().any(|word| self.is_word_at(2, word))
        };
        self.spl.as_ref().is_some_and(|names| names.actions)
            && (next("insert", &["into"])
                || next("delete", &["from"])
                || next("execute", &["function", "procedure"])
                // A column may have that name.
                || self.is_word_at(1, "update") && !self.is_sign_at(2, "="))
    }

    /// The variable of `old.column` or `new.column`, by the names that REFERENCING gives them.
    pub fn row_variable(&mut self, row: &str, column: &str) -> Option<usize> {
        let rows = self.spl.as_deref()?.rows.as_ref()?;
        let new = rows.new.as_deref() == Some(row);
        if !new && rows.old.as_deref() != Some(row) {
            return None;
        }
        self.column_of_row(new, column)
    }

    /// The variable of a column of the new row that an action gives a value.
    pub(super) fn row_target(&mut self, row: Option<&str>, column: &str) -> Option<usize> {
        let rows = self.spl.as_deref_mut()?.rows.as_mut()?;
        if row.is_some_and(|row| rows.new.as_deref() != Some(row)) {
            return None;
        }
        rows.sets_row = true;
        self.column_of_row(true, column)
    }

    /// The variable of INSERTING, UPDATING or DELETING, in a trigger's routine.
    pub fn event_variable(&mut self, word: &str) -> Option<usize> {
        let event = match word {
            "inserting" => TriggerEvent::Insert,
            "updating" => TriggerEvent::Update,
            "deleting" => TriggerEvent::Delete,
            _ => return None,
        };
        self.spl.as_deref()?.rows.as_ref()?;
        self.of_row(OfRow::Event(event), word.to_owned(), TypeRef::Is(Type::Bool))
    }

    fn column_of_row(&mut self, new: bool, column: &str) -> Option<usize> {
        let table = self.spl.as_deref()?.rows.as_ref()?.table.clone();
        let ty = TypeRef::Like { table, column: column.to_owned() };
        let (name, row) = if new {
            (format!("new.{column}"), OfRow::New(column.to_owned()))
        } else {
            (format!("old.{column}"), OfRow::Old(column.to_owned()))
        };
        self.of_row(row, name, ty)
    }

    fn of_row(&mut self, row: OfRow, name: String, ty: TypeRef) -> Option<usize> {
        let names = self.spl.as_deref_mut()?;
        let row = Some(row);
        if let Some(known) = names.variables.iter().position(|variable| variable.row == row) {
            return Some(known);
        }
        names.variables.push(Variable { name, ty, global: None, row });
        Some(names.variables.len() - 1)
    }
}
