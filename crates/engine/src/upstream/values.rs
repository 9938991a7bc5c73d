//! Values on their way to and from the server behind: our stored forms on one side, PostgreSQL's texts on the other.

use rowferry_dialect::ir::{CastContext, Value};
use rowferry_dialect::postgres::types::{from_oid, import};
use rowferry_dialect::values::{self, Settings, ValueRef};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::RowBytes;

/// Reads a column.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    /// What the session awaits.
    ty: Type,
    way: Way,
    /// The type that it comes as is the one that is awaited.
    as_it_comes: bool,
    /// What it is where it is a float.
    float: Type,
}

/// How a column comes.
#[derive(Clone, Debug)]
enum Way {
    /// An integer of two, four or eight bytes.
    Integer,
    /// A float of four or eight bytes.
    Float,
    /// One byte.
    Bool,
    /// Bytes as they are.
    Bytes,
    /// A text that is stored as it comes.
    Plain,
    /// The text of a type.
    Text(Type),
    /// The text of what would have come in binary form.
    Told(Type),
}

impl Reader {
    /// For a column that is awaited as `ty` and comes as the type of this object id.
    pub fn new(ty: &Type, oid: u32) -> Self {
        // What MySQL's own types are over is what lies there.
        let ty = ty.through_domains();
        let told = from_oid(oid);
        let way = match (&told, ty.through_domains()) {
            (Some(Type::Int2 | Type::Int4 | Type::Int8), wanted) if wanted.is_integer() => Way::Integer,
            (Some(Type::Float4 | Type::Float8), Type::Float4 | Type::Float8) => Way::Float,
            (Some(Type::Bool), Type::Bool) => Way::Bool,
            (Some(Type::Bytea), Type::Byte | Type::Blob | Type::Bytea) => Way::Bytes,
            (
                Some(Type::Text | Type::Varchar(_)),
                Type::Text | Type::Varchar(_) | Type::Lvarchar(_) | Type::Nvarchar(_) | Type::TextBlob | Type::Clob,
            ) => Way::Plain,
            (Some(told), _) => Way::Text(told.clone()),
            // Its text is one for us as well.
            (None, _) => Way::Text(import(ty)),
        };
        // Modifiers are the server's to keep.
        let as_it_comes = matches!(
            (&way, ty),
            (Way::Text(Type::Numeric(_)), Type::Numeric(_))
                | (Way::Text(Type::Date), Type::Date)
                | (Way::Text(Type::Timestamp(_)), Type::Timestamp(None))
        );
        let float = if told == Some(Type::Float4) { Type::Float4 } else { Type::Float8 };
        Self { ty: ty.clone(), way, as_it_comes, float }
    }

    /// For the same column where all come as texts.
    pub fn of_text(&self) -> Self {
        let told = match self.way {
            Way::Integer => Type::Int8,
            Way::Float => self.float.clone(),
            Way::Bool => Type::Bool,
            Way::Bytes => Type::Bytea,
            Way::Plain | Way::Text(_) | Way::Told(_) => return self.clone(),
        };
        Self { way: Way::Told(told), ..self.clone() }
    }

    /// The format in which it is asked for: 1 is binary.
    pub fn format(&self) -> u16 {
        u16::from(matches!(self.way, Way::Integer | Way::Float | Way::Bool | Way::Bytes))
    }

    /// The column as a number, if it is one.
    pub fn number(&self, cell: &[u8]) -> Option<i64> {
        match self.read(cell).ok()? {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// The cell is a value as it comes.
    pub fn is_plain(&self, cell: &[u8]) -> bool {
        match self.way {
            Way::Plain | Way::Bytes => true,
            Way::Integer => matches!(cell.len(), 2 | 4 | 8),
            Way::Float => matches!(cell.len(), 4 | 8),
            Way::Bool => cell.len() == 1,
            // Most are stored as they come.
            Way::Text(Type::Numeric(_) | Type::Date | Type::Timestamp(_)) if self.as_it_comes => {
                std::str::from_utf8(cell).is_ok_and(|text| values::is_stored_form(text, &self.ty))
            }
            Way::Text(_) | Way::Told(_) => false,
        }
    }

    /// The value of a cell that is one as it comes.
    pub fn plain<'a>(&self, cell: &'a [u8]) -> ValueRef<'a> {
        match self.way {
            Way::Plain | Way::Text(_) | Way::Told(_) => ValueRef::Text(cell),
            Way::Bytes => ValueRef::Blob(cell),
            Way::Integer => integer(cell).map_or(ValueRef::Null, ValueRef::Integer),
            Way::Float => float(cell).map_or(ValueRef::Null, ValueRef::Real),
            Way::Bool => ValueRef::Integer(i64::from(cell != [0])),
        }
    }

    /// The stored form of a cell.
    pub fn read(&self, cell: &[u8]) -> Result<Value> {
        if self.is_plain(cell) {
            return Ok(self.plain(cell).to_value());
        }
        let (Way::Text(told) | Way::Told(told)) = &self.way else {
            return Err(Error::new(Condition::DataCorrupted, "a value of the server behind has another length"));
        };
        let text = std::str::from_utf8(cell)
            .map_err(|_| Error::new(Condition::CharacterNotInRepertoire, "a text of the server behind is not UTF-8"))?;
        let settings = Settings::default();
        if let Way::Told(told) = &self.way {
            return values::input(text, told, &settings);
        }
        let others = match self.ty {
            Type::QualifiedInterval(_) => true,
            // As it is written, where PostgreSQL has no such fields.
            Type::Datetime(_) => import(&self.ty) != Type::Text,
            _ => false,
        };
        if *told == self.ty || import(&self.ty) == *told && !others {
            return values::input(text, &self.ty, &settings);
        }
        let value = values::input(text, told, &settings)?;
        if let (Type::Datetime(_), true) = (&self.ty, others) {
            return rowferry_dialect::informix::values::convert(&value, told, &self.ty);
        }
        values::cast(&value, told, &self.ty, CastContext::Assignment, &settings)
    }
}

/// A row's values in their stored forms.
pub(crate) fn read_row(readers: &[Reader], row: &RowBytes, values: &mut Vec<Value>) -> Result<()> {
    values.clear();
    for (at, reader) in readers.iter().enumerate() {
        values.push(match row.cell(at) {
            Some(cell) => reader.read(cell)?,
            None => Value::Null,
        });
    }
    Ok(())
}

/// A parameter as a text of PostgreSQL's; `None` is NULL.
pub(crate) fn parameter(value: &Value, ty: &Type, settings: &Settings) -> Result<Option<Vec<u8>>> {
    if matches!(value, Value::Null) {
        return Ok(None);
    }
    let ty = ty.through_domains();
    let told = import(ty);
    let mut out = Vec::new();
    match (ty, value) {
        // Its fields are units there.
        (Type::QualifiedInterval(_), value) => {
            let value = values::cast(value, ty, &told, CastContext::Implicit, settings)?;
            values::write(&mut out, value.as_ref(), &told, settings)?;
        }
        (Type::Date | Type::Timestamp(_) | Type::TimestampTz(_), Value::Text(text)) if has_zero_part(text) => {
            return Err(Error::unsupported("a date of which a part is zero, in front of a PostgreSQL server"));
        }
        // Blanks at the end say nothing, and a width has been seen to.
        (Type::Char(_) | Type::Nchar(_), Value::Text(text)) => out.extend_from_slice(text.as_bytes()),
        (_, value) => values::write(&mut out, value.as_ref(), &told, settings)?,
    }
    if out.contains(&0) {
        return Err(Error::new(
            Condition::CharacterNotInRepertoire,
            "the server behind takes no text with the character NUL",
        ));
    }
    Ok(Some(out))
}

/// MySQL's `0000-00-00` and its kin.
fn has_zero_part(text: &str) -> bool {
    let mut parts = text.get(..10).unwrap_or(text).split('-');
    parts.next().is_some_and(|year| year == "0000") || parts.any(|part| part == "00")
}

fn integer(cell: &[u8]) -> Option<i64> {
    Some(match cell.len() {
        2 => i64::from(i16::from_be_bytes(cell.try_into().ok()?)),
        4 => i64::from(i32::from_be_bytes(cell.try_into().ok()?)),
        8 => i64::from_be_bytes(cell.try_into().ok()?),
        _ => return None,
    })
}

fn float(cell: &[u8]) -> Option<f64> {
    Some(match cell.len() {
        4 => f64::from(f32::from_be_bytes(cell.try_into().ok()?)),
        8 => f64::from_be_bytes(cell.try_into().ok()?),
        _ => return None,
    })
}
