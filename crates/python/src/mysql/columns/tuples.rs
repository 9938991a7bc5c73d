//! Rows as tuples, by the shortest way: one loop for each protocol, with the decoders of the usual types inside it.
//! Whatever is unusual goes the way of `text_cell` and `binary_cell`.

use rowferry_wire_mysql::messages::resultset::{BinaryRow, DateTime, TextRow};
use rowferry_wire_mysql::types::BinaryForm;

use super::{Decoder, Kind, Plan, RowError};
use crate::cells::{self, NewTuple};
use crate::mysql::days::Days;

/// A usual type of the binary protocol: what a column is, and how it is cut out.
#[derive(Clone, Copy, Debug)]
pub enum Usual {
    Date,
    DateTime,
    Decimal {
        decimals: u8,
    },
    Double,
    Int1,
    Int2,
    Int4,
    Int8,
    Text,
    /// None of these.
    Other,
}

impl Usual {
    pub(super) const fn of(kind: &Kind, form: BinaryForm) -> Self {
        match (kind, form) {
            (Kind::Date, BinaryForm::Temporal) => Self::Date,
            (Kind::DateTime { .. }, BinaryForm::Temporal) => Self::DateTime,
            (Kind::Decimal { decimals }, BinaryForm::Bytes) => Self::Decimal { decimals: *decimals },
            (Kind::Double, BinaryForm::Fixed(8)) => Self::Double,
            (Kind::Int, BinaryForm::Fixed(1)) => Self::Int1,
            (Kind::Int, BinaryForm::Fixed(2)) => Self::Int2,
            (Kind::Int, BinaryForm::Fixed(4)) => Self::Int4,
            (Kind::Int, BinaryForm::Fixed(8)) => Self::Int8,
            (Kind::Text, BinaryForm::Bytes) => Self::Text,
            _ => Self::Other,
        }
    }
}

impl Plan {
    /// A row of the text protocol.
    pub fn text_tuple(&self, payload: &[u8], days: &mut Days) -> Result<cells::Object, RowError> {
        let mut row = NewTuple::new(self.decoders.len(), self.atomic).ok_or(RowError::Raised)?;
        let mut cells = TextRow::new(payload);
        for decoder in &self.decoders {
            let object = match cells.cell()? {
                None => cells::none(),
                Some(text) => match &decoder.kind {
                    Kind::Date => match super::parse_date(text) {
                        Some(value) => self.day(value, || text.to_vec(), days),
                        None => self.no_date(text),
                    },
                    Kind::DateTime { .. } => match super::parse_datetime(text) {
                        Some(value) => self.datetime(value, || text.to_vec()),
                        None => self.no_date(text),
                    },
                    Kind::Decimal { decimals } => cells::scaled_decimal(text, *decimals),
                    Kind::Int => match super::parse_int(text) {
                        Some(value) => cells::int(value),
                        None => self.number_by_python(text),
                    },
                    Kind::Text => cells::text(text),
                    kind => self.text_cell(kind, text),
                },
            };
            row.push(object).ok_or(RowError::Raised)?;
        }
        cells.finish()?;
        Ok(row.finish())
    }

    /// A row of the binary protocol.
    pub fn binary_tuple(&self, payload: &[u8], days: &mut Days) -> Result<cells::Object, RowError> {
        let mut row = NewTuple::new(self.decoders.len(), self.atomic).ok_or(RowError::Raised)?;
        let mut cells = BinaryRow::new(payload, self.decoders.len())?;
        let has_nulls = cells.has_nulls();
        for (at, decoder) in self.decoders.iter().enumerate() {
            let object = if has_nulls && cells.is_null(at) {
                cells::none()
            } else {
                match decoder.usual {
                    Usual::Date => {
                        let value = DateTime::decode(cells.temporal()?)?;
                        self.day(value, || super::date_text(value), days)
                    }
                    Usual::DateTime => {
                        let value = DateTime::decode(cells.temporal()?)?;
                        self.datetime(value, || self.spelled_datetime(decoder, value))
                    }
                    Usual::Decimal { decimals } => cells::scaled_decimal(cells.string()?, decimals),
                    Usual::Double => cells::float(f64::from_le_bytes(cells.fixed()?)),
                    Usual::Int1 => cells::int(i64::from(i8::from_le_bytes(cells.fixed()?))),
                    Usual::Int2 => cells::int(i64::from(i16::from_le_bytes(cells.fixed()?))),
                    Usual::Int4 => cells::int(i64::from(i32::from_le_bytes(cells.fixed()?))),
                    Usual::Int8 => cells::int(i64::from_le_bytes(cells.fixed()?)),
                    Usual::Text => cells::text(cells.string()?),
                    Usual::Other => self.binary_cell(&decoder.kind, decoder.form, cells.value(decoder.form)?)?,
                }
            };
            row.push(object).ok_or(RowError::Raised)?;
        }
        cells.finish()?;
        Ok(row.finish())
    }

    /// A day, which many rows may share.
    #[inline]
    fn day(&self, value: DateTime, text: impl FnOnce() -> Vec<u8>, days: &mut Days) -> cells::Object {
        if super::is_date(value) { days.object(value.year, value.month, value.day) } else { self.no_date(&text()) }
    }

    #[cold]
    fn spelled_datetime(&self, decoder: &Decoder, value: DateTime) -> Vec<u8> {
        match decoder.kind {
            Kind::DateTime { decimals } => super::datetime_text(value, decimals),
            _ => super::date_text(value),
        }
    }
}
