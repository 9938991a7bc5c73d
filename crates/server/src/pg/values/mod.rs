//! Values between their stored form and the wire, in both formats.
//!
//! A result's writers are chosen once; a row then costs a call for each value, straight from SQLite's memory into the
//! output.

mod array;
mod binary_in;
mod binary_out;
mod ranges;
mod rows;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::{self, Settings, ValueRef};
use rowferry_dialect::work;
use rowferry_engine::{Condition, Error, Prepared, Result, ResultColumn, Row, Session, Type};
use rowferry_wire_pg::Format;
use rowferry_wire_pg::messages::{MAX_COLUMNS, RowEncoder};

use super::report;

/// Writes one value's bytes, without the length in front.
pub(super) type Write = fn(&mut Vec<u8>, ValueRef<'_>, &Type, &Settings) -> Result<()>;

#[derive(Debug)]
struct Column {
    ty: Type,
    format: Format,
    write: Write,
}

/// Writes the rows of one result.
#[derive(Debug)]
pub(super) struct RowWriter {
    columns: Box<[Column]>,
    /// The message that describes the rows, for clients of UTF-8.
    described: OnceLock<Box<[u8]>>,
}

impl RowWriter {
    /// For a result's columns in the formats that the client wants: none for text, one for all, or one for each.
    pub(super) fn new(columns: &[ResultColumn], formats: &[Format]) -> Result<Self> {
        if columns.len() > MAX_COLUMNS {
            let message = format!("target lists can have at most {MAX_COLUMNS} entries");
            return Err(Error::new(Condition::TooManyColumns, message));
        }
        let columns = columns.iter().enumerate().map(|(index, column)| {
            let format = match formats {
                [] => Format::TEXT,
                [all] => *all,
                each => each.get(index).copied().unwrap_or(Format::TEXT),
            };
            Ok(Column { ty: column.ty.clone(), format, write: writer(&column.ty, format)? })
        });
        Ok(Self { columns: columns.collect::<Result<_>>()?, described: OnceLock::new() })
    }

    /// The one for a plan's rows, which stays with the plan where the client wants all columns alike.
    pub(super) fn of(plan: &Prepared, columns: &[ResultColumn], formats: &[Format]) -> Result<Arc<Self>> {
        let first = formats.first().copied().unwrap_or(Format::TEXT);
        let alike = formats.iter().all(|format| *format == first) && matches!(first, Format::TEXT | Format::BINARY);
        if !alike {
            return Self::new(columns, formats).map(Arc::new);
        }
        let binary = first == Format::BINARY;
        if let Some(kept) = plan.door_part(binary).and_then(|part| part.clone().downcast::<Self>().ok()) {
            return Ok(kept);
        }
        let writer = Arc::new(Self::new(columns, &[first])?);
        plan.keep_door_part(binary, writer.clone());
        Ok(writer)
    }

    /// The message that describes the rows, which `describe` makes at the first need.
    pub(super) fn described(&self, describe: impl FnOnce() -> Vec<u8>) -> &[u8] {
        self.described.get_or_init(|| describe().into_boxed_slice())
    }

    /// The number of columns.
    pub(super) fn len(&self) -> u16 {
        // At most MAX_COLUMNS.
        self.columns.len() as u16
    }

    /// The format of a column.
    pub(super) fn format(&self, column: usize) -> Format {
        self.columns.get(column).map_or(Format::TEXT, |column| column.format)
    }

    /// Writes a row. The error comes with the column that cannot be sent.
    #[inline]
    pub(super) fn write(
        &self,
        encoder: &mut RowEncoder<'_>,
        row: &Row<'_>,
        settings: &Settings,
    ) -> std::result::Result<(), (usize, Error)> {
        if settings.client_encoding.is_some() {
            return self.write_recoded(encoder, row, settings);
        }
        for (index, column) in self.columns.iter().enumerate() {
            match row.get(index) {
                ValueRef::Null => encoder.null(),
                value => encoder
                    .value_with(|out| {
                        work::reserve(out, length(value))?;
                        (column.write)(out, value, &column.ty, settings)
                    })
                    .map_err(|error| (index, error))?,
            }
        }
        Ok(())
    }
}

impl RowWriter {
    /// Writes a row for a client whose encoding is not UTF-8.
    fn write_recoded(
        &self,
        encoder: &mut RowEncoder<'_>,
        row: &Row<'_>,
        settings: &Settings,
    ) -> std::result::Result<(), (usize, Error)> {
        for (index, column) in self.columns.iter().enumerate() {
            match row.get(index) {
                ValueRef::Null => encoder.null(),
                value => encoder
                    .value_with(|out| {
                        work::reserve(out, length(value))?;
                        write_for_client(column.write, column.format, out, value, &column.ty, settings)
                    })
                    .map_err(|error| (index, error))?,
            }
        }
        Ok(())
    }
}

/// Writes a value: in text format in the client's encoding. What writes a binary format sees to its texts itself.
pub(super) fn write_for_client(
    write: Write,
    format: Format,
    out: &mut Vec<u8>,
    value: ValueRef<'_>,
    ty: &Type,
    settings: &Settings,
) -> Result<()> {
    let start = out.len();
    write(out, value, ty, settings)?;
    match settings.client_encoding {
        Some(encoding) if format == Format::TEXT => report::recode(out, start, encoding),
        _ => Ok(()),
    }
}

/// Bytes of a value as it is stored: as long, or longer, it is sent.
#[inline]
pub(super) fn length(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    }
}

/// Says where a value lies that cannot be sent: in which row of the result, from 1, and in which of the file.
pub(super) fn place(
    error: Error,
    session: &Session,
    row: u64,
    column: &ResultColumn,
    format: Format,
    settings: &Settings,
) -> Error {
    if error.detail.is_some() || error.condition() == Condition::UntranslatableCharacter {
        return error;
    }
    let mut detail = format!("In row {row} of the result, column \"{}\".", column.name);
    let fits = |value: ValueRef<'_>| {
        let write = writer(&column.ty, format);
        value == ValueRef::Null || write.is_ok_and(|write| write(&mut Vec::new(), value, &column.ty, settings).is_ok())
    };
    match session.find_misfit(column, fits) {
        Some(place) => {
            detail.push_str(&format!(" The first such value lies in {place}."));
            place.name_in(error).detail(detail)
        }
        None => error.detail(detail).column(column.name.clone()),
    }
}

/// What writes values of a type in a format.
pub(super) fn writer(ty: &Type, format: Format) -> Result<Write> {
    match format {
        Format::TEXT => Ok(text_writer(ty)),
        Format::BINARY => binary_out::writer(ty),
        _ => Err(unsupported_format(format)),
    }
}

fn text_writer(ty: &Type) -> Write {
    match ty {
        // What is stored as it is printed needs no look at the type.
        Type::Text | Type::Varchar(_) | Type::Name | Type::Uuid | Type::Json | Type::Jsonb | Type::Unknown => {
            |out, value, ty, settings| match value {
                ValueRef::Text(bytes) => {
                    out.extend_from_slice(values::text::clean(bytes)?);
                    Ok(())
                }
                other => values::write(out, other, ty, settings),
            }
        }
        // Most of what is sent is of these, in the storage class of its type.
        Type::Int2 | Type::Int4 | Type::Int8 => |out, value, ty, settings| match value {
            ValueRef::Integer(value) => {
                values::integer::write(out, value);
                Ok(())
            }
            other => values::write(out, other, ty, settings),
        },
        Type::Numeric(_) => |out, value, ty, _| values::decimal::write(out, value, ty),
        Type::Date => |out, value, ty, settings| match value {
            ValueRef::Text(bytes) => values::date::write(out, bytes, settings),
            other => values::write(out, other, ty, settings),
        },
        Type::Timestamp(_) => |out, value, ty, settings| match value {
            ValueRef::Text(bytes) => values::timestamp::write(out, bytes, settings),
            other => values::write(out, other, ty, settings),
        },
        _ => values::write,
    }
}

/// Reads a parameter, counted from 1, into the stored form of its type.
pub(super) fn read(bytes: &[u8], ty: &Type, format: Format, settings: &Settings, number: usize) -> Result<Value> {
    work::room(bytes.len())?;
    match format {
        Format::TEXT => values::input(&report::text(bytes, settings.client_encoding)?, ty, settings),
        Format::BINARY => binary_in::read(bytes, ty, settings).map_err(|error| match error.condition() {
            Condition::InvalidBinaryRepresentation => {
                let message = format!("incorrect binary data format in bind parameter {number}");
                Error::new(Condition::InvalidBinaryRepresentation, message).detail(error.message.clone())
            }
            _ => error,
        }),
        other => Err(unsupported_format(other)),
    }
}

/// [`read`] of a text into a place whose room is used again.
pub(super) fn read_text(bytes: &[u8], ty: &Type, settings: &Settings, place: &mut Value) -> Result<()> {
    work::room(bytes.len())?;
    values::input_into(place, &report::text(bytes, settings.client_encoding)?, ty, settings)
}

/// The same of bytes that are known to be a text.
pub(super) fn read_str(text: &str, ty: &Type, settings: &Settings, place: &mut Value) -> Result<()> {
    work::room(text.len())?;
    values::input_into(place, text, ty, settings)
}

fn unsupported_format(format: Format) -> Error {
    Error::new(Condition::InvalidParameterValue, format!("unsupported format code: {}", format.0))
}

/// The binary form of a stored value whose storage class is not its type's (files written by others have those):
/// through its text, which says whether it is one at all.
fn canonical(value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<Value> {
    let mut text = Vec::new();
    values::write(&mut text, value, ty, settings)?;
    let text = std::str::from_utf8(&text).map_err(|_| values::misfit(value, ty))?;
    values::input(text, ty, settings).map_err(|_| values::misfit(value, ty))
}
