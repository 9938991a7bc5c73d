//! What domains ask of values: `rf_checked(value, words)` gives the value back, or fails.
//!
//! The words are those of [`rowferry_dialect::lower::sqlite::rules_words`]. CHECKs are SQL over the value, prepared once
//! for each place of a statement.

use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::ir::Value;
use rowferry_dialect::user_type::subtype_from_words;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::values::range::{Subtype, text};
use rowferry_dialect::{Condition, Error, Result, work};
use serde_json::Value as Json;

use super::{Call, Row, arrays, take_error};
use crate::backend::{Failure, Statement, Step};

pub(super) const ROWS: &[Row] = &[
    // SQLite asks it for no value of a row that there is not.
    Row::new("rf_checked", 2, checked).lenient().volatile(),
    Row::new("rf_checked_steady", 2, checked).lenient(),
];

/// Rules that have been read, with the statements that carry them out.
pub(crate) struct Checker {
    members: Option<Box<Checker>>,
    fields: Vec<(usize, Checker)>,
    bounds: Option<(Subtype, Box<Checker>)>,
    domain: Option<Domain>,
}

/// The same without statements that it keeps between values, so that it may live longer than any connection.
pub(crate) struct OnceChecker(Checker);

impl OnceChecker {
    /// Fails where a value does not hold what is asked.
    ///
    /// # Safety
    /// `db` is open and is used under its lock by this thread.
    pub(crate) unsafe fn check(&self, db: *mut libsqlite3_sys::sqlite3, value: &Value) -> Result<()> {
        // SAFETY: the caller's promise; no statement is kept.
        unsafe { self.0.check(db, value) }
    }
}

struct Domain {
    name: String,
    schema: String,
    domain: String,
    bytes: bool,
    not_null: bool,
    names: Vec<String>,
    sql: Option<String>,
    /// Prepared when it is first needed; taken out while it runs.
    statement: Mutex<Option<Statement>>,
    /// It is prepared anew for each value.
    once: bool,
}

fn checked(call: &Call<'_>) -> Result<Value> {
    let checker = call.prepared(1, || Checker::read(call.text(1)?).map(Arc::new))?;
    let value = call.owned(0);
    // SAFETY: functions are called while their handle steps a statement, under the handle's lock, by this thread; what
    // SQLite keeps for a place of a statement goes with the statement, before the handle is closed.
    unsafe { checker.check(call.handle()?, &value) }?;
    Ok(value)
}

impl Checker {
    /// Rules from their words.
    pub(crate) fn read(words: &str) -> Result<Self> {
        let json = serde_json::from_str(words).ok();
        json.and_then(|json| Self::of(&json)).ok_or_else(|| Error::internal("the words of rules cannot be read"))
    }

    fn of(words: &Json) -> Option<Self> {
        let members = match &words["members"] {
            Json::Null => None,
            members => Some(Box::new(Self::of(members)?)),
        };
        let text = |key: &str| words[key].as_str().map(str::to_owned);
        let domain = match text("name") {
            None => None,
            Some(name) => Some(Domain {
                name,
                schema: text("schema")?,
                domain: text("domain")?,
                bytes: words["bytes"].as_bool()?,
                not_null: words["not_null"].as_bool()?,
                names: words["names"]
                    .as_array()?
                    .iter()
                    .map(|name| name.as_str().map(str::to_owned))
                    .collect::<Option<_>>()?,
                sql: text("sql"),
                statement: Mutex::new(None),
                once: false,
            }),
        };
        let field = |words: &Json| Some((usize::try_from(words[0].as_u64()?).ok()?, Self::of(&words[1])?));
        let fields = match &words["fields"] {
            Json::Array(fields) => fields.iter().map(field).collect::<Option<_>>()?,
            _ => Vec::new(),
        };
        let bounds = match &words["bounds"] {
            Json::Null => None,
            bounds => {
                let subtype = subtype_from_words(words["subtype"].as_str()?)?;
                Some((Subtype::Other(Arc::new(subtype)), Box::new(Self::of(bounds)?)))
            }
        };
        Some(Self { members, fields, bounds, domain })
    }

    /// The same rules, keeping no statement: the checker may live longer than its handle.
    pub(crate) fn once(self) -> OnceChecker {
        OnceChecker(self.keeping_nothing())
    }

    fn keeping_nothing(mut self) -> Self {
        if let Some(domain) = &mut self.domain {
            domain.once = true;
        }
        self.members = self.members.map(|members| Box::new(members.keeping_nothing()));
        self.bounds = self.bounds.map(|(subtype, bounds)| (subtype, Box::new(bounds.keeping_nothing())));
        self.fields = self.fields.into_iter().map(|(at, field)| (at, field.keeping_nothing())).collect();
        self
    }

    /// Fails where a value does not hold what is asked.
    ///
    /// # Safety
    /// `db` is open, is used under its lock by this thread, and stays open longer than this checker, unless that keeps no
    /// statement.
    pub(crate) unsafe fn check(&self, db: *mut libsqlite3_sys::sqlite3, value: &Value) -> Result<()> {
        if let (Some(members), Value::Text(text)) = (&self.members, value) {
            for member in &arrays::parse(text)?.members {
                work::step(1)?;
                // SAFETY: the caller's promise.
                unsafe { members.check_member(db, member) }?;
            }
        }
        if let (false, Value::Text(text)) = (self.fields.is_empty(), value) {
            let row: Vec<Json> = serde_json::from_str(text)
                .map_err(|_| Error::new(Condition::DataCorrupted, format!("stored value \"{text}\" is not a row")))?;
            for (at, rules) in &self.fields {
                // A row that is older than the field holds nothing there.
                if let Some(field) = row.get(*at) {
                    // SAFETY: the caller's promise.
                    unsafe { rules.check_member(db, field) }?;
                }
            }
        }
        if let (Some((subtype, rules)), Value::Text(text)) = (&self.bounds, value) {
            for range in text::from_stored(text, subtype)? {
                work::step(1)?;
                for point in [&range.lower.point, &range.upper.point].into_iter().flatten() {
                    // SAFETY: the caller's promise.
                    unsafe { rules.check(db, &subtype.stored(point)?) }?;
                }
            }
        }
        match &self.domain {
            // SAFETY: the caller's promise.
            Some(domain) => unsafe { domain.check(db, value) },
            None => Ok(()),
        }
    }

    /// The same for a value as it lies in an array or a row.
    ///
    /// # Safety
    /// As for [`Checker::check`].
    unsafe fn check_member(&self, db: *mut libsqlite3_sys::sqlite3, member: &Json) -> Result<()> {
        let bytes = self.domain.as_ref().is_some_and(|domain| domain.bytes);
        let value = if bytes { arrays::bytes_value(member) } else { arrays::value(member) };
        // SAFETY: the caller's promise.
        unsafe { self.check(db, &value) }
    }
}

impl Domain {
    unsafe fn check(&self, db: *mut libsqlite3_sys::sqlite3, value: &Value) -> Result<()> {
        if self.not_null && *value == Value::Null {
            let message = format!("domain {} does not allow null values", self.name);
            return Err(self.about(Error::new(Condition::NotNullViolation, message)));
        }
        let Some(sql) = &self.sql else { return Ok(()) };
        // SAFETY: the caller's promise.
        let violated = unsafe { self.first_violated(db, sql, value) }?;
        let Some(name) = violated.and_then(|at| self.names.get(at)) else { return Ok(()) };
        let message = format!("value for domain {} violates check constraint \"{name}\"", self.name);
        Err(self.about(Error::new(Condition::CheckViolation, message)).constraint(name))
    }

    /// An error with the domain in its fields.
    fn about(&self, mut error: Error) -> Error {
        error.schema = Some(self.schema.clone());
        error.data_type(&self.domain)
    }

    unsafe fn first_violated(
        &self,
        db: *mut libsqlite3_sys::sqlite3,
        sql: &str,
        value: &Value,
    ) -> Result<Option<usize>> {
        let mut statement = match self.statement.lock().take() {
            Some(statement) => statement,
            // SAFETY: the caller's promise.
            None => unsafe { Statement::prepare(db, sql) }.map_err(failed)?,
        };
        statement.bind(1, value).map_err(failed)?;
        // What has failed is not used again.
        let found = match statement.step().map_err(failed)? {
            Step::Row => match statement.column(0) {
                ValueRef::Integer(at) => usize::try_from(at).ok(),
                _ => None,
            },
            Step::Done => None,
        };
        statement.reset().map_err(failed)?;
        if !self.once {
            *self.statement.lock() = Some(statement);
        }
        Ok(found)
    }
}

/// What a check raised, or what SQLite says.
fn failed(failure: Failure) -> Error {
    if failure.primary() == libsqlite3_sys::SQLITE_INTERRUPT {
        let canceled = || Error::new(Condition::QueryCanceled, "canceling statement due to user request");
        return work::check().err().unwrap_or_else(canceled);
    }
    take_error().unwrap_or_else(|| Error::internal(format!("SQLite: {}", failure.message)))
}
