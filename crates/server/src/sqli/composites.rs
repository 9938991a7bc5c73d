//! Rows and collections as objects: the form in which IBM's JDBC driver binds a `java.util.List`, and reads a column as one.

use rowferry_dialect::informix::values::composite::{self, Member, Shape};
use rowferry_dialect::ir::Value;
use rowferry_engine::{Condition, Error, Result, ResultColumn, Type, ValueRef};
use rowferry_wire_sqli::values::composite::Node as CompositeNode;
use rowferry_wire_sqli::values::composite::{decode as decode_composite, encode as encode_composite};
use rowferry_wire_sqli::values::{Cell, CellFormat};
use rowferry_wire_sqli::{Qualifier, TypeCode};

use rowferry_dialect::informix::codes::{datetime_qualifier, interval_qualifier};

use super::text::CodeSet;
use super::values::{RowContext, WireColumn, encode_cell, stored_date};

/// Whether a type's values can be sent so: composites within composites cannot.
pub(super) fn is_flat(words: &str) -> bool {
    match Shape::of(words) {
        Some(Shape::Row(fields)) => !fields.iter().any(|(_, ty)| matches!(ty, Type::Composite(_))),
        Some(Shape::Collection { element, .. }) => !matches!(element, Type::Composite(_)),
        None => false,
    }
}

/// A stored row or collection, or NULL, with its description.
pub(super) fn encode(words: &str, value: ValueRef<'_>, context: &mut RowContext<'_>) -> Result<Vec<u8>> {
    let broken = || Error::new(Condition::DataException, format!("a value is no {words}"));
    let (kind, fields) = match Shape::of(words).ok_or_else(broken)? {
        Shape::Row(fields) => (TypeCode::ROW, fields),
        Shape::Collection { kind, element, .. } => {
            let kind = match kind.as_str() {
                "SET" => TypeCode::SET,
                "MULTISET" => TypeCode::MULTISET,
                _ => TypeCode::LIST,
            };
            (kind, vec![(String::new(), element)])
        }
    };
    let members = match value {
        ValueRef::Null => None,
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| broken())?;
            Some(composite::members(text).ok_or_else(broken)?.1)
        }
        _ => return Err(broken()),
    };
    let mut columns = Vec::with_capacity(fields.len());
    let mut nodes = Vec::with_capacity(fields.len());
    for (at, (name, ty)) in fields.iter().enumerate() {
        let place = |members: &Vec<Member>| match kind {
            TypeCode::ROW => members.get(at).into_iter().cloned().collect(),
            _ => members.clone(),
        };
        let longest = members.as_ref().map(place).unwrap_or_default().iter().map(length).max().unwrap_or(0);
        let result = ResultColumn {
            name: name.clone(),
            ty: ty.clone(),
            origin: None,
            not_null: false,
            identity: false,
            listed: None,
        };
        let column = WireColumn::new(&result, context.code_set, context.widths)?;
        nodes.push(node(&column, name, longest, context.code_set)?);
        columns.push(column);
    }
    let formats = nodes.iter().map(CompositeNode::format).collect::<std::result::Result<Vec<_>, _>>();
    let formats = formats.map_err(|error| Error::unsupported(format!("{error} in {words}")))?;
    let cells = match members {
        None => None,
        Some(members) => {
            let mut cells = Vec::with_capacity(members.len());
            for (at, member) in members.iter().enumerate() {
                let at = if kind == TypeCode::ROW { at } else { 0 };
                let (column, format) = columns.get(at).zip(formats.get(at)).ok_or_else(broken)?;
                let stored = composite::value(member, &column.shown)?;
                let mut cell = Vec::new();
                encode_cell(column, *format, stored_ref(&stored), context, &mut cell)?;
                cells.push(cell);
            }
            Some(cells)
        }
    };
    let mut out = Vec::new();
    encode_composite(kind, &nodes, cells.as_deref(), &mut out)
        .map_err(|error| Error::unsupported(format!("{error} in {words}")))?;
    Ok(out)
}

/// At most so many bytes, in any code set.
fn length(member: &Member) -> usize {
    match member {
        Member::Quoted(text) | Member::Bare(text) | Member::Composite(text) => text.len(),
        Member::Null => 0,
    }
}

/// How the driver knows the column's type inside of a composite. Text is VARCHAR there: it does not read LVARCHAR.
fn node(column: &WireColumn, name: &str, longest: usize, code_set: CodeSet) -> Result<CompositeNode> {
    let described = column.description();
    let (code, length) = match column.format {
        CellFormat::Char(_) | CellFormat::VarChar(_) | CellFormat::LongText if longest <= 255 => {
            (TypeCode::VARCHAR, 255)
        }
        CellFormat::Char(_) | CellFormat::VarChar(_) | CellFormat::LongText => {
            return Err(Error::unsupported(
                "a text of more than 255 bytes in a row or collection that is read as an object",
            ));
        }
        CellFormat::BooleanText | CellFormat::BooleanBinary => (TypeCode::BOOLEAN, 1),
        _ => {
            let length = u16::try_from(described.encoded_length);
            (TypeCode(described.type_word as u8), length.map_err(|_| Error::internal("length of a field's type"))?)
        }
    };
    Ok(CompositeNode { name: code_set.encode(name.as_bytes())?.into_owned(), code, length })
}

fn stored_ref(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Integer(number) => ValueRef::Integer(*number),
        Value::Real(number) => ValueRef::Real(*number),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
        Value::Blob(bytes) => ValueRef::Blob(bytes),
    }
}

/// What a client has bound: the word of its type, and the literal without the word, `{4,5}` or `(7,'a')`.
pub(super) fn literal(bytes: &[u8], code_set: CodeSet) -> Result<(&'static str, String)> {
    let malformed = |error: rowferry_wire_sqli::DecodeError| match error {
        rowferry_wire_sqli::DecodeError::Unsupported(what) => Error::unsupported(what),
        other => Error::new(Condition::InvalidBinaryRepresentation, format!("a bound row or collection: {other}")),
    };
    let described = decode_composite(bytes).map_err(malformed)?;
    let (word, open, close) = match described.kind {
        TypeCode::ROW => ("ROW", '(', ')'),
        TypeCode::SET => ("SET", '{', '}'),
        TypeCode::MULTISET => ("MULTISET", '{', '}'),
        _ => ("LIST", '{', '}'),
    };
    // An empty list comes as NULL does; NULL itself is bound without a value.
    let cells = described.cells.unwrap_or_default();
    let mut members = Vec::with_capacity(cells.len());
    let is_row = described.kind == TypeCode::ROW;
    for (at, cell) in cells.iter().enumerate() {
        let cell = match cell {
            // The driver pads the texts of a row's fields.
            Cell::Text(text) if is_row => Cell::Text(text.trim_ascii_end()),
            other => *other,
        };
        members.push(printed(&cell, described.nodes[if is_row { at } else { 0 }].length, code_set)?);
    }
    Ok((word, format!("{open}{}{close}", members.join(","))))
}

fn printed(cell: &Cell<'_>, length: u16, code_set: CodeSet) -> Result<String> {
    let (value, ty) = match cell {
        Cell::Null => return Ok("NULL".to_owned()),
        Cell::Int(number) => (Value::Integer(*number), Type::Int8),
        Cell::Float(number) => (Value::Real(*number), Type::Float8),
        Cell::SmallFloat(number) => (Value::Real(f64::from(*number)), Type::Float4),
        Cell::Decimal(number) => (Value::Text(number.to_text(None)), Type::Numeric(None)),
        Cell::Date(days) => (Value::Text(stored_date(*days)?), Type::Date),
        Cell::DateTime(moment) => {
            let ty = datetime_qualifier(i32::from(length)).map(Type::Datetime);
            (Value::Text(moment.to_text(Qualifier(length))), ty.ok_or_else(|| Error::internal("qualifier"))?)
        }
        Cell::Interval(span) => {
            let ty = interval_qualifier(i32::from(length)).map(Type::QualifiedInterval);
            (Value::Text(span.to_text(Qualifier(length))), ty.ok_or_else(|| Error::internal("qualifier"))?)
        }
        Cell::Boolean(flag) => (Value::Integer(i64::from(*flag)), Type::Bool),
        Cell::Text(text) => (Value::Text(code_set.decode(text)?), Type::Text),
        Cell::Opaque(_) | Cell::SimpleLob(_) => {
            return Err(Error::unsupported("a large object in a row or collection that is bound as an object"));
        }
    };
    composite::printed(&value, &ty)
}
