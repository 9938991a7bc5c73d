//! Statements in the server's log: `log_statement`, `log_duration`, `log_min_duration_statement` and `auto_explain`.
//!
//! The lines are PostgreSQL's, each statement of a text by itself. A statement that has failed has no duration; its error has a
//! line of its own.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rowferry_dialect::ir::{Ddl, Explain, ExplainFormat, Statement as Ir, Value};
use rowferry_dialect::{mask_secrets, values};

use super::state::State;
use super::{Prepared, Session};

/// Which statements are logged before they run (`log_statement`); each takes those before it along.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum LoggedStatements {
    /// None.
    #[default]
    None,
    /// Changes of the schema.
    Ddl,
    /// Changes of rows.
    Mod,
    /// All.
    All,
}

/// Whose plans are logged when they have run (`auto_explain.…`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explained {
    /// Those that took no less.
    pub least: Duration,
    /// How the plan is written.
    pub format: ExplainFormat,
    /// Schemas stand before names.
    pub verbose: bool,
    /// Those of functions, too.
    pub nested: bool,
}

/// What is logged of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Logged {
    /// `log_statement`.
    pub statements: LoggedStatements,
    /// `log_duration`.
    pub durations: bool,
    /// `log_min_duration_statement`; `None` is -1.
    pub least: Option<Duration>,
    /// `log_parameter_max_length`; `None` is -1.
    pub parameter: Option<usize>,
    /// `auto_explain.log_min_duration` and what goes with it; `None` is -1.
    pub explained: Option<Explained>,
}

impl Logged {
    /// Whether a statement must be looked at when it is over.
    pub(super) fn asks_for_times(&self, top: bool) -> bool {
        top && (self.durations || self.least.is_some())
            || self.explained.is_some_and(|explained| top || explained.nested)
    }

    /// Whether any statement is logged.
    pub(super) fn any(&self) -> bool {
        self.statements != LoggedStatements::None || self.asks_for_times(true)
    }
}

/// How many plans of statements inside functions wait to be logged; of more than these only the texts are.
const MOST_PLANS: usize = 1_000;

/// A statement that will be logged when it is over.
#[derive(Debug)]
pub(super) struct Line {
    logged: Logged,
    /// What came from the client: `statement`, or `execute` with names.
    what: Box<str>,
    text: Arc<str>,
    params: Vec<Value>,
    top: bool,
    /// It was logged when it began.
    told: bool,
}

/// A statement whose plan is to be logged.
#[derive(Debug)]
pub struct Slow {
    plan: Arc<Prepared>,
    text: Arc<str>,
    took: Duration,
    explained: Explained,
}

impl Session {
    /// Logs a statement that begins, where that is wanted, and says what is to be logged at its end. `source` is what the log
    /// calls one that came with a portal.
    pub(super) fn log_beginning(
        &self,
        prepared: &Arc<Prepared>,
        params: &[Value],
        text: Option<&Arc<str>>,
        source: Option<Box<str>>,
        top: bool,
    ) -> Option<Box<Line>> {
        let logged = self.wanted.logged;
        let told = top && logged.statements > LoggedStatements::None && self.is_logged(prepared, logged.statements);
        if !told && !logged.asks_for_times(top) {
            return None;
        }
        let text = text.cloned().unwrap_or_else(|| prepared.parsed.shared_text());
        // Literals that became parameters of a plan that other texts share are in the text.
        let params = if source.is_some() { params.to_vec() } else { Vec::new() };
        let what = source.unwrap_or_else(|| "statement".into());
        let line = Line { logged, what, text, params, top, told };
        if told {
            let message = format!("{}: {}", line.what, mask_secrets(&line.text));
            self.state.log(&message, &line.detail(prepared, &self.state));
        }
        Some(Box::new(line))
    }

    fn is_logged(&self, prepared: &Prepared, which: LoggedStatements) -> bool {
        let named;
        let mut statement = &prepared.bound.statement;
        if let Ir::ExecutePrepared { name, .. } = statement {
            let Ok(Some(plan)) = self.named_statement(name) else { return which == LoggedStatements::All };
            named = plan;
            statement = &named.bound.statement;
        }
        let explained = match statement {
            Ir::Explain(explain) if explain.analyze => &explain.statement,
            statement => statement,
        };
        let is = match explained {
            Ir::Ddl(ddl) if matches!(**ddl, Ddl::Truncate { .. }) => LoggedStatements::Mod,
            Ir::Ddl(_) | Ir::CreateTableAs(_) | Ir::CreateTableOfPrepared(_) | Ir::RefreshView(_) | Ir::Database(_) => {
                LoggedStatements::Ddl
            }
            Ir::Dml(_) | Ir::Merge(_) | Ir::Rewritten(_) => LoggedStatements::Mod,
            Ir::Copy(copy) if copy.from.is_some() => LoggedStatements::Mod,
            _ => LoggedStatements::All,
        };
        is <= which
    }

    /// Logs the plans of statements that took long. To be called when the session has nothing else to do.
    pub(super) fn log_plans(&mut self) {
        if !self.state.has_slow.swap(false, Ordering::AcqRel) {
            return;
        }
        let slow = std::mem::take(&mut *self.state.slow.lock());
        for slow in slow {
            let explain = Explain {
                analyze: false,
                verbose: slow.explained.verbose,
                timing: false,
                summary: false,
                format: slow.explained.format,
                statement: slow.plan.bound.statement.clone(),
                columns: slow.plan.bound.columns.clone(),
            };
            let query = mask_secrets(&slow.text);
            let plan = match self.explained(&slow.plan, &explain, &query) {
                Ok(plan) => plan,
                Err(error) => format!("Query Text: {query}\nno plan: {}", error.message),
            };
            let message = format!("duration: {:.3} ms  plan:\n{plan}", slow.took.as_secs_f64() * 1_000.0);
            self.state.log(&message, "");
        }
    }
}

impl Line {
    /// The statement has run to its end.
    pub(super) fn end(self, plan: &Arc<Prepared>, state: &State, took: Duration) {
        let milliseconds = took.as_secs_f64() * 1_000.0;
        let logged = &self.logged;
        if self.top {
            let long = logged.least.is_some_and(|least| took >= least);
            if long && !self.told {
                let message = format!("duration: {milliseconds:.3} ms  {}: {}", self.what, mask_secrets(&self.text));
                state.log(&message, &self.detail(plan, state));
            } else if long || logged.durations {
                state.log(&format!("duration: {milliseconds:.3} ms"), "");
            }
        }
        let plannable = matches!(plan.bound.statement, Ir::Query(_) | Ir::Dml(_) | Ir::Merge(_) | Ir::CreateTableAs(_));
        if let Some(explained) = logged.explained
            && plannable
            && took >= explained.least
            && (self.top || explained.nested)
        {
            let mut slow = state.slow.lock();
            if self.top || slow.len() < MOST_PLANS {
                slow.push(Slow { plan: plan.clone(), text: self.text, took, explained });
                state.has_slow.store(true, Ordering::Release);
            } else {
                drop(slow);
                let query = mask_secrets(&self.text);
                let message =
                    format!("duration: {milliseconds:.3} ms  plan:\nQuery Text: {query}\nno plan: {MOST_PLANS} wait");
                state.log(&message, "");
            }
        }
    }

    /// The parameters, as PostgreSQL writes them.
    fn detail(&self, plan: &Prepared, state: &State) -> String {
        if self.params.is_empty() || self.logged.parameter == Some(0) {
            return String::new();
        }
        let settings = state.settings();
        let mut detail = "parameters: ".to_owned();
        for (at, (value, ty)) in self.params.iter().zip(&plan.bound.params).enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let _ = write!(detail, "{comma}${} = ", at + 1);
            if *value == Value::Null {
                detail.push_str("NULL");
                continue;
            }
            let text = values::output(value, ty, &settings).unwrap_or_else(|_| "?".to_owned());
            let end = self
                .logged
                .parameter
                .filter(|most| *most < text.len())
                .map(|most| (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
            let (text, more) = end.map_or((text.as_str(), ""), |end| (&text[..end], "..."));
            let _ = write!(detail, "'{}{more}'", text.replace('\'', "''"));
        }
        detail
    }
}

impl State {
    /// A line of the log that says whose it is.
    pub(super) fn log(&self, message: &str, detail: &str) {
        let application = self.variables.read().get("application_name").unwrap_or_default();
        let (pid, user, database) = (self.pid, self.user.as_str(), self.database_name.as_str());
        if detail.is_empty() {
            tracing::info!(pid, user, database, application, "{message}");
        } else {
            tracing::info!(pid, user, database, application, detail, "{message}");
        }
    }
}
