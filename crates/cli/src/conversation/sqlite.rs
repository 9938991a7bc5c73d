//! A SQLite file, asked in PostgreSQL's SQL through the same engine that `serve` uses.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::DataType;
use rowferry_dialect::ir::Value;
use rowferry_dialect::types::Field;
use rowferry_dialect::user_type::UserKind;
use rowferry_dialect::values::{self, DateStyle, Settings};
use rowferry_engine::{
    Command, Cursor, Database, Error, Journal, Language, Options, Outcome, Prepared, ResultColumn, Session,
    SessionOptions, TransactionStatus, Type, ValueRef,
};

use super::typed::{self, Rows, Value as Cell};
use super::{Answers, Canceller, Column, Conversation, Dialect, Done, Kind, Transaction, caret};
use crate::Failure;

/// An open file.
pub(super) struct Open {
    path: PathBuf,
    name: String,
    session: Session,
}

impl Open {
    pub(super) fn file(path: &Path) -> Result<Self, Failure> {
        // A look at a file leaves it as it is.
        let options = Options { journal: Journal::Keep, ..Options::default() };
        let database = Database::open(path, options).map_err(|error| failure(&error, ""))?;
        let mut options = SessionOptions::new("rowferry", Language::Postgres);
        options.application_name = "rowferry".into();
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self { path: path.to_owned(), name, session: database.session(options) })
    }

    fn run(&mut self, sql: &str, answers: &mut dyn Answers) -> Result<(), Failure> {
        let fail = |error: Error| failure(&error, sql);
        let statements = self.session.parse(sql).map_err(fail)?;
        for statement in &statements {
            // Several statements are one transaction, as in PostgreSQL: all of them or none.
            self.session.begin_implicit();
            let prepared = self.session.prepare_parsed(statement, &[]).map_err(fail)?;
            if !prepared.bound.params.is_empty() {
                return Err(
                    Failure::new("the statement has parameters").hint("give their values: --param VALUE for each")
                );
            }
            self.execute(&prepared, &[], sql, answers)?;
        }
        self.session.end_implicit().map_err(fail)
    }

    fn run_with(&mut self, sql: &str, values: &[Option<&str>], answers: &mut dyn Answers) -> Result<(), Failure> {
        let (prepared, values) = self.prepare_with(sql, values)?;
        self.execute(&prepared, &values, sql, answers)?;
        self.session.end_implicit().map_err(|error| failure(&error, sql))
    }

    /// One statement, and the values of its parameters as those of their types.
    fn prepare_with(&mut self, sql: &str, values: &[Option<&str>]) -> Result<(Arc<Prepared>, Vec<Value>), Failure> {
        let fail = |error: Error| failure(&error, sql);
        let statements = self.session.parse(sql).map_err(fail)?;
        let [statement] = statements.as_slice() else {
            return Err(Failure::new("values are given to one statement, and here are several, or none"));
        };
        self.session.begin_implicit();
        let prepared = self.session.prepare_parsed(statement, &[]).map_err(fail)?;
        let types = &prepared.bound.params;
        if types.len() != values.len() {
            let (wants, given) = (types.len(), values.len());
            return Err(Failure::new(format!("the statement has {wants} parameters, and {given} values are given")));
        }
        let settings = self.session.settings();
        let read = |(value, ty): (&Option<&str>, &Type)| match value {
            Some(text) => values::input(text, ty, &settings).map_err(fail),
            None => Ok(Value::Null),
        };
        let values = values.iter().zip(types).map(read).collect::<Result<Vec<_>, _>>()?;
        drop(settings);
        Ok((prepared, values))
    }

    fn run_typed(&mut self, sql: &str, values: &[Option<&str>], rows: &mut dyn Rows) -> Result<(), Failure> {
        let fail = |error: Error| failure(&error, sql);
        let (prepared, values) = self.prepare_with(sql, values)?;
        if prepared.bound.columns.is_empty() {
            return Err(typed::no_rows());
        }
        match self.session.execute(&prepared, &values).map_err(fail)? {
            Outcome::Rows(mut cursor) => {
                // What a value's text is must not hang on settings.
                let mut settings = Settings::clone(&self.session.settings());
                (settings.date_style, settings.bytea_hex) = (DateStyle::Iso, true);
                settings.extra_float_digits = 1;
                hand_on(&mut cursor, &settings, sql, rows)?;
            }
            Outcome::Done { .. } => return Err(typed::no_rows()),
        }
        for notice in self.session.drain_notices() {
            rows.notice(&format!("notice: {}", notice.message))?;
        }
        self.session.end_implicit().map_err(fail)
    }

    fn execute(
        &mut self,
        prepared: &Arc<Prepared>,
        values: &[Value],
        sql: &str,
        answers: &mut dyn Answers,
    ) -> Result<(), Failure> {
        match self.session.execute(prepared, values).map_err(|error| failure(&error, sql))? {
            Outcome::Rows(mut cursor) => show(&mut cursor, &self.session.settings(), sql, answers)?,
            Outcome::Done { command, rows } => answers.done(&match command {
                Command::Utility(words) => Done::words(words),
                _ => Done::changed(rows),
            })?,
        }
        for notice in self.session.drain_notices() {
            answers.notice(&format!("notice: {}", notice.message))?;
        }
        Ok(())
    }
}

impl Conversation for Open {
    fn ask(&mut self, sql: &str, answers: &mut dyn Answers) -> Result<(), Failure> {
        let result = self.run(sql, answers);
        if result.is_err() {
            self.session.fail();
        }
        result
    }

    fn ask_with(&mut self, sql: &str, values: &[Option<&str>], answers: &mut dyn Answers) -> Result<(), Failure> {
        let result = self.run_with(sql, values, answers);
        if result.is_err() {
            self.session.fail();
        }
        result
    }

    fn read(&mut self, sql: &str, values: &[Option<&str>], rows: &mut dyn Rows) -> Result<(), Failure> {
        let result = self.run_typed(sql, values, rows);
        if result.is_err() {
            self.session.fail();
        }
        result
    }

    fn sql(&self) -> Dialect {
        Dialect::Postgres
    }

    fn whom(&self) -> String {
        format!("the SQLite file {}, in PostgreSQL's SQL", self.path.display())
    }

    fn database(&self) -> &str {
        &self.name
    }

    fn transaction(&self) -> Transaction {
        match self.session.transaction_status() {
            TransactionStatus::Idle => Transaction::None,
            TransactionStatus::Active => Transaction::Open,
            TransactionStatus::Failed => Transaction::Failed,
        }
    }

    fn canceller(&self) -> Option<Canceller> {
        let interrupter = self.session.interrupter();
        Some(Box::new(move || interrupter.interrupt()))
    }

    fn is_lost(&self) -> bool {
        false
    }

    fn close(self: Box<Self>) -> Result<(), Failure> {
        Ok(())
    }
}

fn show(cursor: &mut Cursor, settings: &Settings, sql: &str, answers: &mut dyn Answers) -> Result<(), Failure> {
    let types: Vec<Type> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
    answers.begin(cursor.columns().iter().map(column).collect())?;
    while let Some(row) = cursor.next().map_err(|error| failure(&error, sql))? {
        let shown = |(index, ty): (usize, &Type)| text(ty, row.get(index), settings);
        answers.row(types.iter().enumerate().map(shown).collect())?;
    }
    Ok(answers.end()?)
}

/// The rows as values.
fn hand_on(cursor: &mut Cursor, settings: &Settings, sql: &str, rows: &mut dyn Rows) -> Result<(), Failure> {
    let types: Vec<Type> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
    let fields = cursor.columns().iter().map(|column| typed::column(&column.name, data_type(&column.ty)));
    let fields: Vec<_> = fields.collect();
    let forms: Vec<DataType> = fields.iter().map(|field| field.data_type().clone()).collect();
    rows.begin(fields)?;
    let mut spelled = Vec::new();
    while let Some(row) = cursor.next().map_err(|error| failure(&error, sql))? {
        spelled.clear();
        // Texts lie one behind the other; where each does is known before they are borrowed.
        let mut places = Vec::with_capacity(types.len());
        for (at, (ty, form)) in types.iter().zip(&forms).enumerate() {
            places.push(place(row.get(at), ty, form, settings, &mut spelled));
        }
        let cells = places.into_iter().enumerate().map(|(at, place)| match (place, row.get(at)) {
            (Placed::Spelled(start, end), _) => Cell::Spelled(&spelled[start..end]),
            (Placed::Itself, ValueRef::Integer(number)) => Cell::Int(number),
            (Placed::Itself, ValueRef::Blob(bytes) | ValueRef::Text(bytes)) => Cell::Bytes(bytes),
            (Placed::Itself, _) => Cell::Null,
            (Placed::Wrong(why), _) => Cell::Wrong(why),
        });
        rows.row(&cells.collect::<Vec<_>>())?;
    }
    Ok(rows.end()?)
}

/// What a stored value becomes.
enum Placed {
    Itself,
    /// A text, from here to there.
    Spelled(usize, usize),
    Wrong(String),
}

fn place(value: ValueRef<'_>, ty: &Type, form: &DataType, settings: &Settings, spelled: &mut Vec<u8>) -> Placed {
    match (value, form) {
        (ValueRef::Null, _) => return Placed::Itself,
        (ValueRef::Integer(_), DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::UInt32) => {
            return Placed::Itself;
        }
        (ValueRef::Blob(_) | ValueRef::Text(_), DataType::Binary) => return Placed::Itself,
        _ => {}
    }
    let start = spelled.len();
    match values::write(spelled, value, ty, settings) {
        Ok(()) => Placed::Spelled(start, spelled.len()),
        Err(error) => {
            spelled.truncate(start);
            Placed::Wrong(error.message.to_string())
        }
    }
}

fn data_type(ty: &Type) -> DataType {
    match ty {
        Type::Bool => DataType::Boolean,
        Type::Int2 => DataType::Int16,
        Type::Int4 => DataType::Int32,
        Type::Int8 | Type::IfxInt8 => DataType::Int64,
        Type::Oid => DataType::UInt32,
        Type::Float4 => DataType::Float32,
        Type::Float8 => DataType::Float64,
        Type::Numeric(Some(modifier)) | Type::Money(modifier) => {
            typed::decimal(i64::from(modifier.precision), i64::from(modifier.scale))
        }
        Type::Bytea | Type::Byte | Type::Blob => DataType::Binary,
        Type::Date => DataType::Date32,
        Type::Time(_) => typed::time(),
        Type::Timestamp(_) => typed::timestamp(),
        Type::TimestampTz(_) => typed::moment(),
        // Fields that begin elsewhere are no day of a year.
        Type::Datetime(qualifier) => match (qualifier.first, qualifier.last) {
            (Field::Year, Field::Day) => DataType::Date32,
            (Field::Year, last) if last >= Field::Hour => typed::timestamp(),
            (Field::Hour, _) => typed::time(),
            _ => DataType::Utf8,
        },
        Type::Array(element) => match data_type(element) {
            DataType::List(_) => DataType::Utf8,
            DataType::Utf8 if !is_plain_text(element) => DataType::Utf8,
            element => typed::list(element),
        },
        Type::User(user) => match &user.kind {
            UserKind::Domain(domain) => data_type(&domain.base),
            _ => DataType::Utf8,
        },
        _ => DataType::Utf8,
    }
}

/// Types that are text by nature, whose arrays are lists here and at servers alike.
fn is_plain_text(ty: &Type) -> bool {
    matches!(ty, Type::Text | Type::Varchar(_) | Type::Char(_) | Type::Name | Type::Uuid | Type::Json | Type::Jsonb)
        || matches!(ty, Type::Numeric(None))
}

fn column(column: &ResultColumn) -> Column {
    let kind = match column.ty {
        Type::Bool => Kind::Boolean,
        Type::Int2
        | Type::Int4
        | Type::Int8
        | Type::Oid
        | Type::Float4
        | Type::Float8
        | Type::Numeric(_)
        | Type::FloatingDecimal(_)
        | Type::Money(_) => Kind::Number,
        _ => Kind::Text,
    };
    Column { name: column.name.clone(), kind }
}

/// A value as the door's text protocol writes it; one that is no value of its column's type, as somebody else's file may hold, as
/// it is.
fn text(ty: &Type, value: ValueRef<'_>, settings: &Settings) -> Option<Vec<u8>> {
    if value == ValueRef::Null {
        return None;
    }
    let mut out = Vec::new();
    if values::write(&mut out, value, ty, settings).is_ok() {
        return Some(out);
    }
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(number) => number.to_string().into_bytes(),
        ValueRef::Real(number) => number.to_string().into_bytes(),
        ValueRef::Text(bytes) => bytes.to_vec(),
        ValueRef::Blob(bytes) => {
            let digits = bytes.iter().fold("\\x".to_owned(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
            digits.into_bytes()
        }
    })
}

fn failure(error: &Error, sql: &str) -> Failure {
    let mut message = format!("{} (SQLSTATE {})", error.message, error.condition().sqlstate());
    if let Some(detail) = &error.detail {
        let _ = write!(message, "\n{detail}");
    }
    if let Some(position) = error.position {
        message.push_str(&caret(sql, position));
    }
    Failure::of(message, error.hint.clone())
}

#[cfg(test)]
mod tests {
    use rowferry_dialect::types::NumericModifier;

    use super::*;

    #[test]
    fn values_are_shown_as_the_door_writes_them() {
        let settings = Settings::default();
        let shown =
            |ty: &Type, value: ValueRef<'_>| text(ty, value, &settings).map(|text| String::from_utf8(text).unwrap());
        let price = Type::Numeric(Some(NumericModifier { precision: 10, scale: 2 }));
        assert_eq!(shown(&price, ValueRef::Real(12.5)).as_deref(), Some("12.50"));
        assert_eq!(shown(&price, ValueRef::Integer(-3)).as_deref(), Some("-3.00"));
        assert_eq!(shown(&Type::Bool, ValueRef::Integer(1)).as_deref(), Some("t"));
        assert_eq!(shown(&Type::Bytea, ValueRef::Blob(b"\x00\xff")).as_deref(), Some("\\x00ff"));
        assert_eq!(shown(&Type::Text, ValueRef::Null), None);
        // What somebody else's file holds.
        assert_eq!(shown(&Type::Int4, ValueRef::Text(b"seven")).as_deref(), Some("seven"));
    }
}
