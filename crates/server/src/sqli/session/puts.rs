//! Insert cursors: an INSERT that is opened takes rows in the encoding in which rows come from queries.

use rowferry_dialect::informix::codes::{datetime_qualifier, interval_qualifier};
use rowferry_dialect::informix::types::LVARCHAR_MAX;
use rowferry_dialect::informix::values::date_from_days;
use rowferry_dialect::ir::Value;
use rowferry_engine::{Condition, Error, Outcome, Result, Type};
use rowferry_wire_sqli::messages::{Done, PutInsert, ServerMessage};
use rowferry_wire_sqli::values::{Cell, CellFormat, decode_row};

use super::{Commands, Obeyed};
use crate::sqli::objects::Objects;
use crate::sqli::text::CodeSet;
use crate::sqli::values::Bound;

impl Commands {
    /// Opens an INSERT.
    pub(super) fn open_insert(&mut self) -> Obeyed {
        let statement = self.statement()?;
        if let Some(prepared) = &statement.prepared
            && prepared.bound.params.is_empty()
        {
            return Err(Error::new(Condition::InvalidCursorDefinition, "an insert cursor needs parameters").into());
        }
        statement.putting = Some(0);
        Ok(())
    }

    /// Stores a row. It is stored at once, so that its failure is told where it happened.
    pub(super) fn put(&mut self, put: &PutInsert<'_>) -> Obeyed {
        let code_set = self.code_set;
        let current = self.current;
        let Some(statement) = self.statements.get(current) else { return Err(Self::not_open()) };
        if statement.putting.is_none() {
            return Err(Self::not_open());
        }
        let Some(formats) = statement.requested.clone() else {
            return Err(Error::new(Condition::ProtocolViolation, "rows are put before it is said how they look").into());
        };
        let cells = decode_row(&formats, put.tuple)
            .map_err(|error| Error::new(Condition::ProtocolViolation, format!("a row that was put: {error}")))?;
        let types = statement.prepared.as_ref().map(|prepared| prepared.bound.params.clone()).unwrap_or_default();
        let objects = &self.objects;
        let bound = cells
            .iter()
            .zip(formats.iter())
            .zip(&types)
            .map(|((cell, format), ty)| value_of(cell, *format, ty, code_set, objects))
            .collect::<Result<Vec<_>>>()?;
        statement.bound = bound;
        let (prepared, values) = self.arguments()?;
        let stored = match self.session()?.execute(&prepared, &values)? {
            Outcome::Done { rows, .. } => rows,
            Outcome::Rows(cursor) => cursor.rows_affected(),
        };
        let statement = self.statement()?;
        statement.putting = statement.putting.map(|before| before.saturating_add(stored));
        Ok(())
    }

    /// Says how many rows were stored since the last time, if any were put.
    pub(super) fn flush_puts(&mut self) {
        let current = self.current;
        let Some(statement) = self.statements.get(current) else { return };
        let Some(rows) = statement.putting.filter(|rows| *rows > 0) else { return };
        statement.putting = Some(0);
        self.send(&ServerMessage::Done(Done { rows: i64::try_from(rows).unwrap_or(i64::MAX), ..Done::default() }));
    }
}

/// A cell as a bound value.
fn value_of(cell: &Cell<'_>, format: CellFormat, ty: &Type, code_set: CodeSet, objects: &Objects) -> Result<Bound> {
    let unreadable = || Error::new(Condition::InvalidBinaryRepresentation, "a value that was put cannot be read");
    let (value, ty) = match (cell, format) {
        (Cell::Null, _) => (Value::Null, Type::Unknown),
        (Cell::Int(number), _) => (Value::Integer(*number), Type::Int8),
        (Cell::Float(number), _) => (Value::Real(*number), Type::Float8),
        (Cell::SmallFloat(number), _) => (Value::Real((*number).into()), Type::Float4),
        (Cell::Decimal(number), _) => (Value::Text(number.to_text(None)), Type::Numeric(None)),
        (Cell::Date(days), _) => {
            let (year, month, day) = date_from_days(i64::from(*days));
            if !(1..=9999).contains(&year) {
                return Err(Error::new(Condition::InvalidYear, "the date is out of range"));
            }
            (Value::Text(format!("{year:04}-{month:02}-{day:02}")), Type::Date)
        }
        (Cell::DateTime(moment), CellFormat::DateTime(qualifier)) => (
            Value::Text(moment.to_text(qualifier)),
            Type::Datetime(datetime_qualifier(i32::from(qualifier.0)).ok_or_else(unreadable)?),
        ),
        (Cell::Interval(span), CellFormat::Interval(qualifier)) => (
            Value::Text(span.to_text(qualifier)),
            Type::QualifiedInterval(interval_qualifier(i32::from(qualifier.0)).ok_or_else(unreadable)?),
        ),
        (Cell::Boolean(flag), _) => (Value::Integer((*flag).into()), Type::Bool),
        (Cell::Text(bytes), _) => (Value::Text(code_set.decode(bytes)?), Type::Lvarchar(LVARCHAR_MAX)),
        (Cell::Opaque(locator), CellFormat::LocatorRaw) => {
            let bytes = objects.by_locator(locator)?;
            if *ty == Type::Clob {
                (Value::Text(code_set.decode(&bytes)?), Type::Clob)
            } else {
                (Value::Blob(bytes), Type::Blob)
            }
        }
        (Cell::SimpleLob(_), _) => return Err(Error::unsupported("BYTE and TEXT in an insert cursor")),
        _ => return Err(unreadable()),
    };
    Ok(Bound { value, ty, awaits_data: false })
}
