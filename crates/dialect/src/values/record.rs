//! Rows: PostgreSQL's text (`(1,two,)`) outside, JSON text inside.
//!
//! A row of a type with a name is a JSON array of its fields in the form of an array's members. One without a name says
//! first what its fields are, as a JSON array of names and types, and in the next line what they hold.

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::Value as Json;

use super::{Settings, ValueRef, array, input, json, misfit, write as write_value};
use crate::composite::{Field, live};
use crate::ir::Value;
use crate::user_type::{fields_from_told, told_fields_of, type_from_told};
use crate::{Condition, Error, Result, Type, work};

/// A row taken apart.
#[derive(Debug)]
pub struct Row<'t> {
    fields: Fields<'t>,
    members: Vec<Json>,
}

#[derive(Debug)]
enum Fields<'t> {
    OfType(&'t [Field]),
    OfRow(Arc<Told>),
}

/// What a row says of itself.
#[derive(Debug)]
struct Told {
    /// The type with a name that it was of before it became one without.
    named: Option<Type>,
    fields: Vec<Field>,
}

impl<'t> Row<'t> {
    /// Takes a stored row of a type apart.
    ///
    /// # Errors
    /// `XX001` for a text that is no row.
    pub fn read(stored: &[u8], ty: &'t Type) -> Result<Self> {
        let corrupt = || misfit(ValueRef::Text(stored), ty);
        let (fields, stored) = match ty.through_domains() {
            Type::Record(_) => {
                let at = stored.iter().position(|byte| *byte == b'\n').ok_or_else(corrupt)?;
                (Fields::OfRow(known_fields(&stored[..at]).ok_or_else(corrupt)?), &stored[at + 1..])
            }
            ty => (Fields::OfType(ty.row_fields().ok_or_else(corrupt)?), stored),
        };
        let Ok(Json::Array(members)) = json::read(stored)? else { return Err(corrupt()) };
        Ok(Self { fields, members })
    }

    /// All fields, those among them that are gone.
    pub fn fields(&self) -> &[Field] {
        match &self.fields {
            Fields::OfType(fields) => fields,
            Fields::OfRow(told) => &told.fields,
        }
    }

    /// The type with a name that a row of none was of.
    pub fn named(&self) -> Option<&Type> {
        match &self.fields {
            Fields::OfType(_) => None,
            Fields::OfRow(told) => told.named.as_ref(),
        }
    }

    /// What the field at a place holds.
    ///
    /// # Errors
    /// `XX001` for what is no value of its type.
    pub fn value(&self, at: usize) -> Result<Value> {
        let (Some(field), Some(member)) = (self.fields().get(at), self.members.get(at)) else {
            return Ok(Value::Null);
        };
        let text = || ValueRef::Text(member.as_str().unwrap_or_default().as_bytes()).to_value();
        array::from_json(member, &field.ty).ok_or_else(|| misfit(text().as_ref(), &field.ty))
    }

    /// The fields that are there, with what they hold.
    ///
    /// # Errors
    /// `XX001` for what is no value of its field's type.
    pub fn live(&self) -> Result<Vec<(&Field, Value)>> {
        live(self.fields()).map(|(at, field)| Ok((field, self.value(at)?))).collect()
    }
}

/// What the field of a type at a place of a stored row of a type with a name holds.
///
/// # Errors
/// `XX001` for what is no row, or no value of the type.
pub fn member(stored: &[u8], at: usize, ty: &Type) -> Result<Value> {
    let Ok(Json::Array(members)) = json::read(stored)? else { return Err(misfit(ValueRef::Text(stored), ty)) };
    let Some(member) = members.get(at) else { return Ok(Value::Null) };
    array::from_json(member, ty).ok_or_else(|| misfit(ValueRef::Text(stored), ty))
}

/// The fields that some words tell.
type KnownFields = (Box<[u8]>, Arc<Told>);

thread_local! {
    /// The fields of the row that was read last: rows of one result have them in common.
    static LAST: RefCell<Option<KnownFields>> = const { RefCell::new(None) };
}

fn known_fields(words: &[u8]) -> Option<Arc<Told>> {
    LAST.with(|last| {
        let mut last = last.borrow_mut();
        match &*last {
            Some((known, told)) if **known == *words => Some(told.clone()),
            _ => {
                let text = std::str::from_utf8(words).ok()?;
                let named = type_from_told(text);
                let fields = match &named {
                    Some(ty) => live(ty.row_fields()?).map(|(_, field)| field.clone()).collect(),
                    None => fields_from_told(text)?,
                };
                let told = Arc::new(Told { named, fields });
                *last = Some((words.into(), told.clone()));
                Some(told)
            }
        }
    })
}

/// The stored form of a row whose fields, dropped ones among them, hold these values.
pub fn stored<'v>(values: impl IntoIterator<Item = ValueRef<'v>>) -> Result<String> {
    let mut out = String::new();
    push(&mut out, values)?;
    Ok(out)
}

/// The stored form of a row without a name; `fields` are words that [`told_fields`] has made.
pub fn stored_record<'v>(fields: &str, values: impl IntoIterator<Item = ValueRef<'v>>) -> Result<String> {
    let mut out = work::text(fields.len() + 16)?;
    out.push_str(fields);
    out.push('\n');
    push(&mut out, values)?;
    Ok(out)
}

fn push<'v>(out: &mut String, values: impl IntoIterator<Item = ValueRef<'v>>) -> Result<()> {
    out.push('[');
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let bytes = match value {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
            _ => 0,
        };
        work::step(bytes + 1)?;
        work::reserve_text(out, bytes + 4)?;
        push_member(out, value);
    }
    out.push(']');
    Ok(())
}

/// A value by itself says enough to be kept: its type is told with the row.
fn push_member(out: &mut String, value: ValueRef<'_>) {
    let class = match value {
        ValueRef::Integer(_) => Type::Int8,
        ValueRef::Real(_) => Type::Float8,
        ValueRef::Blob(_) => Type::Bytea,
        ValueRef::Text(_) | ValueRef::Null => Type::Text,
    };
    array::push_element(out, value, &class);
}

/// Reads PostgreSQL's text of a row of a type with a name.
///
/// # Errors
/// `22P02` for a text that is no row, and what the fields' types raise.
pub fn parse(text: &str, ty: &Type, settings: &Settings) -> Result<String> {
    let Some(fields) = ty.row_fields().filter(|_| !matches!(ty, Type::Record(_))) else {
        let message = "input of anonymous composite types is not implemented";
        return Err(Error::new(Condition::FeatureNotSupported, message));
    };
    let malformed = |detail: &str| {
        let message = format!("malformed record literal: \"{text}\"");
        Error::new(Condition::InvalidTextRepresentation, message).detail(detail)
    };
    let mut reader = text.trim_start_matches(is_space).chars().peekable();
    if reader.next() != Some('(') {
        return Err(malformed("Missing left parenthesis."));
    }
    let mut values = Vec::with_capacity(fields.len());
    let mut first = true;
    for field in fields {
        if field.dropped {
            values.push(Value::Null);
            continue;
        }
        if !first && reader.next_if_eq(&',').is_none() {
            return Err(malformed("Too few columns."));
        }
        first = false;
        if matches!(reader.peek(), Some(',' | ')')) {
            values.push(Value::Null);
            continue;
        }
        let part = part(&mut reader).ok_or_else(|| malformed("Unexpected end of input."))?;
        values.push(input(&part, &field.ty, settings)?);
    }
    match reader.next() {
        Some(')') => {}
        _ => return Err(malformed("Too many columns.")),
    }
    if reader.any(|character| !is_space(character)) {
        return Err(malformed("Junk after right parenthesis."));
    }
    stored(values.iter().map(Value::as_ref))
}

/// A field's text up to the comma or parenthesis behind it; `None` when the text ends before.
fn part(reader: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut part = String::new();
    let mut quoted = false;
    while quoted || !matches!(reader.peek(), Some(',' | ')')) {
        match reader.next()? {
            '\\' => part.push(reader.next()?),
            '"' if !quoted => quoted = true,
            '"' if reader.next_if_eq(&'"').is_some() => part.push('"'),
            '"' => quoted = false,
            character => part.push(character),
        }
    }
    Some(part)
}

fn is_space(character: char) -> bool {
    character.is_ascii_whitespace() || character == '\u{b}'
}

/// Appends a stored row as PostgreSQL prints it.
///
/// # Errors
/// `XX001` for what is no row of the type.
pub fn write(out: &mut Vec<u8>, stored: &[u8], ty: &Type, settings: &Settings) -> Result<()> {
    let row = Row::read(stored, ty)?;
    out.push(b'(');
    let mut shown = Vec::new();
    for (at, (field, value)) in row.live()?.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        if value == Value::Null {
            continue;
        }
        shown.clear();
        write_value(&mut shown, value.as_ref(), &field.ty, settings)?;
        work::reserve(out, shown.len() * 2 + 2)?;
        write_part(out, &shown);
    }
    out.push(b')');
    Ok(())
}

/// A field's text, in quotes where it could be misread.
fn write_part(out: &mut Vec<u8>, shown: &[u8]) {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | b'(' | b')' | b',' | b'\x0b') || byte.is_ascii_whitespace();
    if !shown.is_empty() && !shown.iter().any(special) {
        out.extend_from_slice(shown);
        return;
    }
    out.push(b'"');
    for byte in shown {
        if matches!(byte, b'"' | b'\\') {
            out.push(*byte);
        }
        out.push(*byte);
    }
    out.push(b'"');
}

/// A row of one type as a row of another: field by field in their order, or by their names where both are rows of tables.
///
/// # Errors
/// `42846` for another number of fields, and what the conversions raise.
pub fn convert(
    stored_row: &[u8],
    from: &Type,
    to: &Type,
    each: &dyn Fn(&Value, &Type, &Type) -> Result<Value>,
) -> Result<String> {
    let row = Row::read(stored_row, from)?;
    let values = row.live()?;
    if let Type::Record(_) = to {
        let from = from.through_domains();
        return match from {
            Type::Record(_) => Ok(String::from_utf8_lossy(stored_row).into_owned()),
            _ => stored_record(&told_fields_of(from), values.iter().map(|(_, value)| value.as_ref())),
        };
    }
    let fields = to.row_fields().unwrap_or_default();
    let by_name = [from, to].into_iter().all(|ty| matches!(ty, Type::User(user) if user.is_row_type()));
    let wanted = live(fields).count();
    if !by_name && wanted != values.len() {
        let message = format!("cannot cast type {} to {}", super::shown_name(from), super::shown_name(to));
        let detail = if values.len() < wanted { "Input has too few columns." } else { "Input has too many columns." };
        return Err(Error::new(Condition::CannotCoerce, message).detail(detail));
    }
    let mut given = values.iter();
    let mut made = Vec::with_capacity(fields.len());
    for field in fields {
        let found = match (field.dropped, by_name) {
            (true, _) => None,
            (false, false) => given.next(),
            (false, true) => values.iter().find(|(known, _)| known.name == field.name),
        };
        made.push(match found {
            Some((_, Value::Null)) | None => Value::Null,
            Some((known, value)) => each(value, &known.ty, &field.ty)?,
        });
    }
    stored(made.iter().map(Value::as_ref))
}

/// The stored row with another value at a place; of a row that is NULL all other fields are.
pub fn replaced(stored_row: Option<&[u8]>, count: usize, at: usize, value: ValueRef<'_>) -> Result<String> {
    let mut members = match stored_row.map(json::read).transpose()? {
        Some(Ok(Json::Array(members))) => members,
        Some(_) => return Err(misfit(ValueRef::Text(stored_row.unwrap_or_default()), &Type::RECORD)),
        None => Vec::new(),
    };
    members.resize(members.len().max(count), Json::Null);
    let mut out = "[".to_owned();
    for (place, member) in members.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        match member {
            _ if place == at => push_member(&mut out, value),
            Json::String(text) => json::quote_long(&mut out, text)?,
            other => out.push_str(&other.to_string()),
        }
    }
    out.push(']');
    Ok(out)
}

/// True when a row counts as NULL, or as not NULL: all of its fields do.
pub fn all_null(stored_row: &[u8], ty: &Type, null: bool) -> Result<bool> {
    let row = Row::read(stored_row, ty)?;
    Ok(live(row.fields()).all(|(at, _)| row.members.get(at).unwrap_or(&Json::Null).is_null() == null))
}

/// A row whose fields are given in their text form; `None` is NULL.
pub fn output<'t>(fields: impl IntoIterator<Item = Option<&'t str>>) -> String {
    let mut out = vec![b'('];
    for (at, field) in fields.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        if let Some(field) = field {
            write_part(&mut out, field.as_bytes());
        }
    }
    out.push(b')');
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Type {
        Type::Record(crate::composite::Shape::of(vec![Field::new("a", Type::Int4), Field::new("b", Type::Text)]))
    }

    #[test]
    fn fields_are_quoted_where_they_could_be_misread() {
        let fields = [Some("1"), None, Some(""), Some("a b"), Some("a,b"), Some(r#"say "x\y""#), Some("é")];
        assert_eq!(output(fields), r#"(1,,"","a b","a,b","say ""x\\y""",é)"#);
        assert_eq!(output([]), "()");
        assert_eq!(output([None]), "()");
    }

    #[test]
    fn a_row_without_a_name_says_what_it_is() {
        let told = crate::user_type::told_fields([("a", &Type::Int4), ("b", &Type::Text)]);
        let stored = stored_record(&told, [ValueRef::Integer(1), ValueRef::Text(b"x \"y")]).unwrap();
        let mut out = Vec::new();
        write(&mut out, stored.as_bytes(), &pair(), &Settings::default()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), r#"(1,"x ""y")"#);
        let error = parse("(1,2)", &pair(), &Settings::default()).unwrap_err();
        assert_eq!(error.condition(), Condition::FeatureNotSupported);
        assert_eq!(Row::read(b"(1,2)", &pair()).unwrap_err().condition(), Condition::DataCorrupted);
    }

    #[test]
    fn a_field_gets_another_value() {
        assert_eq!(replaced(None, 2, 1, ValueRef::Integer(5)).unwrap(), "[null,5]");
        assert_eq!(replaced(Some(b"[1,\"a\"]"), 3, 0, ValueRef::Text(b"q")).unwrap(), "[\"q\",\"a\",null]");
    }
}
