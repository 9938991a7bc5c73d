//! The functions that run in a session: where each is, for the CONTEXT of messages.

use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::Result;
use rowferry_dialect::postgres::plpgsql::Sql;
use rowferry_dialect::stored_function::StoredFunction;

use super::plpgsql::statement_line;
use crate::session::Session;

/// Where a function in PL/pgSQL is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// At a step: its line, its words.
    Step(u32, &'static str),
    /// Before its first or behind its last.
    During(&'static str),
    /// At a declaration's line.
    Declaration(u32),
    /// Nowhere that could be named.
    Nowhere,
}

impl Place {
    /// Its line of CONTEXT.
    pub(super) fn line(self, session: &Session, function: &StoredFunction) -> String {
        let name =
            if function.oid == 0 { "inline_code_block".to_owned() } else { session.function_signature(function) };
        match self {
            Self::Step(line, words) => format!("PL/pgSQL function {name} line {line} at {words}"),
            Self::Declaration(line) => {
                format!("PL/pgSQL function {name} line {line} during statement block local variable initialization")
            }
            Self::During(words) => format!("PL/pgSQL function {name} {words}"),
            Self::Nowhere => format!("PL/pgSQL function {name}"),
        }
    }
}

/// A function that runs.
#[derive(Debug)]
enum Running {
    /// In PL/pgSQL: where it is, and the statement that it runs there.
    Plpgsql(Arc<StoredFunction>, Place, Option<Sql>),
    /// In SQL: its name, and the number of its statement.
    Sql(Arc<StoredFunction>, usize),
    /// No function: a statement that a foreign key runs.
    Statement(String),
}

/// The functions that run, outermost first.
#[derive(Debug, Default)]
pub(super) struct RunningFunctions(Mutex<Vec<Running>>);

impl RunningFunctions {
    /// A function in PL/pgSQL begins.
    pub(super) fn enter(&self, function: &Arc<StoredFunction>) {
        self.0.lock().push(Running::Plpgsql(function.clone(), Place::Nowhere, None));
    }

    /// A function in SQL begins.
    pub(super) fn enter_sql(&self, function: &Arc<StoredFunction>) {
        self.0.lock().push(Running::Sql(function.clone(), 1));
    }

    /// A statement of a foreign key begins.
    pub(super) fn enter_statement(&self, text: String) {
        self.0.lock().push(Running::Statement(text));
    }

    /// How often a function runs.
    pub(super) fn depth_of(&self, oid: u32) -> usize {
        let is = |running: &&Running| matches!(running, Running::Plpgsql(function, ..) if function.oid == oid);
        self.0.lock().iter().filter(is).count()
    }

    /// The innermost function has ended.
    pub(super) fn leave(&self) {
        self.0.lock().pop();
    }

    /// The innermost function is here.
    pub(super) fn at(&self, here: Place) {
        if let Some(Running::Plpgsql(_, place, _)) = self.0.lock().last_mut() {
            *place = here;
        }
    }

    /// The innermost function runs a statement; `None` for an expression that needs none.
    pub(super) fn runs(&self, sql: Option<Sql>) {
        if let Some(Running::Plpgsql(_, _, statement)) = self.0.lock().last_mut() {
            *statement = sql;
        }
    }

    /// The innermost function, which is in SQL, is at its next statement.
    pub(super) fn at_statement(&self, number: usize) {
        if let Some(Running::Sql(_, at)) = self.0.lock().last_mut() {
            *at = number;
        }
    }

    /// All of it as CONTEXT says it: the innermost first, without the statement that this one runs.
    pub(super) fn context(&self, session: &Session) -> String {
        let mut lines = Vec::new();
        for (depth, running) in self.0.lock().iter().rev().enumerate() {
            match running {
                Running::Plpgsql(function, place, statement) => {
                    lines.extend(statement.as_ref().filter(|_| depth > 0).map(statement_line));
                    lines.push(place.line(session, function));
                }
                Running::Sql(function, at) => lines.push(sql_line(&function.name, *at)),
                Running::Statement(text) => lines.push(own_line(text)),
            }
        }
        lines.join("\n")
    }
}

/// A line of CONTEXT for a statement of a foreign key.
fn own_line(text: &str) -> String {
    format!("SQL statement \"{text}\"")
}

impl Session {
    /// Runs what a foreign key does; what is said meanwhile, and what goes wrong, tells the statement.
    pub(crate) fn as_statement_of_key<T>(
        &mut self,
        text: String,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.routine_state().running.enter_statement(text.clone());
        let result = run(self);
        self.routine_state().running.leave();
        result.map_err(|mut error| {
            let line = own_line(&text);
            error.context = Some(error.context.take().map_or_else(|| line.clone(), |inner| format!("{inner}\n{line}")));
            error
        })
    }
}

/// A line of CONTEXT for a statement of a function in SQL.
pub(super) fn sql_line(name: &str, statement: usize) -> String {
    format!("SQL function \"{name}\" statement {statement}")
}
