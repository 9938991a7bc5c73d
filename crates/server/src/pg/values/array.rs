//! Arrays in binary format. Through PostgreSQL's text form of arrays, so that how they are stored is known in one place
//! only.

use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::types as pg_types;
use rowferry_dialect::values::array::{Array, from_json, plain_integers, push_element};
use rowferry_dialect::values::{self, Settings, ValueRef};
use rowferry_dialect::work;
use rowferry_engine::{Condition, Error, Result, Type};
use rowferry_wire::Reader;

use super::binary_in::{self, malformed};
use super::binary_out;

/// PostgreSQL's limit.
const MAX_DIMENSIONS: usize = 6;

/// Elements and, per dimension, how many there are and the lower bound; without any, all are 1.
#[derive(Debug, Default, PartialEq)]
struct Elements {
    dimensions: Vec<usize>,
    lower: Vec<i32>,
    values: Vec<Option<String>>,
}

/// Writes an array.
pub(super) fn write(out: &mut Vec<u8>, value: ValueRef<'_>, ty: &Type, settings: &Settings) -> Result<()> {
    let Type::Array(element) = ty else { return Err(values::misfit(value, ty)) };
    if let ValueRef::Text(stored) = value
        && let Some(members) = plain_integers(stored, element)?
    {
        write_integers(out, &members, element);
        return Ok(());
    }
    let mut text = Vec::new();
    values::write(&mut text, value, ty, settings)?;
    let elements = std::str::from_utf8(&text)
        .ok()
        .and_then(|text| parse(text, element.delimiter()))
        .ok_or_else(|| values::misfit(value, ty))?;
    let write_element = binary_out::writer(element)?;
    // The text of a row that has no type of its own does not say what its fields are; its stored form does.
    let rows = match (&**element, value) {
        (Type::Record(_), ValueRef::Text(stored)) => Some(Array::read(stored)?.members),
        _ => None,
    };
    let word = |out: &mut Vec<u8>, number: usize| out.extend_from_slice(&(number as u32).to_be_bytes());
    word(out, elements.dimensions.len());
    word(out, usize::from(elements.values.iter().any(Option::is_none)));
    out.extend_from_slice(&pg_types::oid(element).to_be_bytes());
    for (at, count) in elements.dimensions.iter().enumerate() {
        word(out, *count);
        out.extend_from_slice(&elements.lower.get(at).copied().unwrap_or(1).to_be_bytes());
    }
    for (at, item) in elements.values.iter().enumerate() {
        match item {
            None => out.extend_from_slice(&(-1i32).to_be_bytes()),
            Some(text) => {
                let stored = match &rows {
                    None => values::input(text, element, settings)?,
                    Some(rows) => {
                        rows.get(at).and_then(|row| from_json(row, element)).ok_or_else(|| values::misfit(value, ty))?
                    }
                };
                let at = out.len();
                word(out, 0);
                write_element(out, stored.as_ref(), element, settings)?;
                let length = (out.len() - at - 4) as u32;
                out[at..at + 4].copy_from_slice(&length.to_be_bytes());
            }
        }
    }
    Ok(())
}

/// Writes members of one dimension without their text in between.
fn write_integers(out: &mut Vec<u8>, members: &[Option<i64>], element: &Type) {
    let word = |out: &mut Vec<u8>, number: usize| out.extend_from_slice(&(number as u32).to_be_bytes());
    let width = match element {
        Type::Int2 => 2,
        Type::Int4 => 4,
        _ => 8,
    };
    out.reserve(20 + members.len() * (4 + width));
    word(out, usize::from(!members.is_empty()));
    word(out, usize::from(members.iter().any(Option::is_none)));
    out.extend_from_slice(&pg_types::oid(element).to_be_bytes());
    if !members.is_empty() {
        word(out, members.len());
        word(out, 1);
    }
    for member in members {
        match member {
            Some(value) => {
                word(out, width);
                out.extend_from_slice(&value.to_be_bytes()[8 - width..]);
            }
            None => out.extend_from_slice(&(-1i32).to_be_bytes()),
        }
    }
}

/// Reads an array.
pub(super) fn read(reader: &mut Reader<'_>, element: &Type, settings: &Settings) -> Result<Value> {
    let dimensions = reader.u32("array dimensions").map_err(malformed)? as usize;
    if dimensions > MAX_DIMENSIONS {
        return Err(Error::new(
            Condition::ProgramLimitExceeded,
            format!("number of array dimensions ({dimensions}) exceeds the maximum allowed ({MAX_DIMENSIONS})"),
        ));
    }
    reader.u32("array flags").map_err(malformed)?;
    let oid = reader.u32("array element type").map_err(malformed)?;
    if oid != pg_types::oid(element) {
        return Err(Error::new(
            Condition::DatatypeMismatch,
            format!("binary data has array element type {oid} instead of expected {}", pg_types::oid(element)),
        ));
    }
    let mut counts = Vec::with_capacity(dimensions);
    let mut text = String::new();
    let mut bounded = false;
    let mut total = usize::from(dimensions > 0);
    for _ in 0..dimensions {
        let count = reader.u32("array length").map_err(malformed)? as usize;
        let lower = reader.i32("array lower bound").map_err(malformed)?;
        bounded |= lower != 1;
        text.push_str(&format!("[{lower}:{}]", i64::from(lower) + count as i64 - 1));
        total = total
            .checked_mul(count)
            .ok_or_else(|| Error::new(Condition::ProgramLimitExceeded, "array size exceeds the maximum allowed"))?;
        counts.push(count);
    }
    // Four bytes at least for each element: a wrong count is found before anything is made of it.
    reader.fits(total, 4, "array elements").map_err(malformed)?;
    if dimensions <= 1 && !bounded && matches!(element, Type::Int2 | Type::Int4 | Type::Int8) {
        return read_integers(reader, total, element, settings);
    }
    let mut items = Vec::with_capacity(total);
    for _ in 0..total {
        items.push(match reader.i32("array element length").map_err(malformed)? {
            -1 => None,
            length => {
                let length = usize::try_from(length)
                    .map_err(|_| malformed(rowferry_wire::Malformed::new("array element length")))?;
                let bytes = reader.take(length, "array element").map_err(malformed)?;
                let value = binary_in::read(bytes, element, settings)?;
                Some(values::output(&value, element, settings)?)
            }
        });
    }
    if bounded && total > 0 {
        text.push('=');
    } else {
        text.clear();
    }
    if total == 0 {
        counts.clear();
    }
    print(&mut text, &counts, element.delimiter(), &mut items.into_iter());
    values::input(&text, &Type::Array(Box::new(element.clone())), settings)
}

/// Reads members of one dimension without their text in between.
fn read_integers(reader: &mut Reader<'_>, total: usize, element: &Type, settings: &Settings) -> Result<Value> {
    let mut stored = work::text(2 + total * 4)?;
    stored.push('[');
    for at in 0..total {
        if at > 0 {
            stored.push(',');
        }
        let member = match reader.i32("array element length").map_err(malformed)? {
            -1 => Value::Null,
            length => {
                let length = usize::try_from(length)
                    .map_err(|_| malformed(rowferry_wire::Malformed::new("array element length")))?;
                let bytes = reader.take(length, "array element").map_err(malformed)?;
                binary_in::read(bytes, element, settings)?
            }
        };
        push_element(&mut stored, member.as_ref(), element);
    }
    stored.push(']');
    Ok(Value::Text(stored))
}

/// Prints elements as an array literal.
fn print(text: &mut String, counts: &[usize], delimiter: char, items: &mut impl Iterator<Item = Option<String>>) {
    let Some((count, inner)) = counts.split_first() else {
        text.push_str("{}");
        return;
    };
    text.push('{');
    for index in 0..*count {
        if index > 0 {
            text.push(delimiter);
        }
        if !inner.is_empty() {
            print(text, inner, delimiter, items);
            continue;
        }
        match items.next().flatten() {
            None => text.push_str("NULL"),
            Some(item) => {
                text.push('"');
                for character in item.chars() {
                    if matches!(character, '"' | '\\') {
                        text.push('\\');
                    }
                    text.push(character);
                }
                text.push('"');
            }
        }
    }
    text.push('}');
}

/// Reads an array literal as PostgreSQL prints it; `None` when it is none.
fn parse(text: &str, delimiter: char) -> Option<Elements> {
    let mut elements = Elements::default();
    if text == "{}" {
        return Some(elements);
    }
    let text = match text.strip_prefix('[') {
        None => text,
        Some(bounds) => {
            let (bounds, members) = bounds.split_once("]=")?;
            for bound in bounds.split("][") {
                elements.lower.push(bound.split_once(':')?.0.parse().ok()?);
            }
            members
        }
    };
    let mut characters = text.chars().peekable();
    let count = parse_level(&mut characters, 0, delimiter, &mut elements)?;
    if characters.next().is_some() {
        return None;
    }
    elements.dimensions[0] = count;
    Some(elements)
}

fn parse_level(
    characters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    depth: usize,
    delimiter: char,
    elements: &mut Elements,
) -> Option<usize> {
    if depth >= MAX_DIMENSIONS || characters.next() != Some('{') {
        return None;
    }
    if elements.dimensions.len() == depth {
        elements.dimensions.push(0);
    }
    let mut count = 0;
    loop {
        count += 1;
        match characters.peek()? {
            '{' => {
                let inner = parse_level(characters, depth + 1, delimiter, elements)?;
                elements.dimensions[depth + 1] = inner;
            }
            '"' => {
                characters.next();
                let mut item = String::new();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => item.push(characters.next()?),
                        other => item.push(other),
                    }
                }
                elements.values.push(Some(item));
            }
            _ => {
                let mut item = String::new();
                while let Some(character) = characters.next_if(|character| *character != delimiter && *character != '}')
                {
                    match character {
                        '\\' => item.push(characters.next()?),
                        other => item.push(other),
                    }
                }
                elements.values.push(Some(item).filter(|item| item != "NULL"));
            }
        }
        match characters.next()? {
            c if c == delimiter => {}
            '}' => return Some(count),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read() {
        let read = |text: &str| parse(text, ',').map(|elements| (elements.dimensions, elements.values));
        assert_eq!(parse("[0:1][-2:-2]={{1},{2}}", ',').unwrap().lower, [0, -2]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("{}"), Some((vec![], vec![])));
        assert_eq!(read("{1,NULL,\"NULL\"}"), Some((vec![3], vec![some("1"), None, some("NULL")])));
        assert_eq!(
            read(r#"{{"a\"b",c d},{"\\",""}}"#),
            Some((vec![2, 2], vec![some("a\"b"), some("c d"), some("\\"), some("")]))
        );
        for text in ["", "{", "{1", "{1,", "1", "{1}}", "{\"a}", "{{{{{{{1}}}}}}}"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn integers_are_read_as_their_literal_is() {
        let settings = Settings::default();
        let literal = |members: &[Option<i32>]| {
            let members = members.iter().map(|member| member.map_or_else(|| "NULL".to_owned(), |it| it.to_string()));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        for members in [vec![], vec![Some(i32::MIN)], vec![Some(1), None, Some(-20), Some(i32::MAX)], vec![None; 3]] {
            let mut sent = Vec::new();
            let count = u32::from(!members.is_empty());
            for word in [count, 1, pg_types::oid(&Type::Int4)] {
                sent.extend_from_slice(&word.to_be_bytes());
            }
            if count > 0 {
                sent.extend_from_slice(&(members.len() as u32).to_be_bytes());
                sent.extend_from_slice(&1u32.to_be_bytes());
            }
            for member in &members {
                sent.extend_from_slice(&member.map_or(-1i32, |_| 4).to_be_bytes());
                sent.extend(member.iter().flat_map(|it| it.to_be_bytes()));
            }
            let ty = Type::Array(Box::new(Type::Int4));
            let told = values::input(&literal(&members), &ty, &settings).unwrap();
            assert_eq!(read(&mut Reader::new(&sent), &Type::Int4, &settings).unwrap(), told);
        }
    }

    #[test]
    fn printing_is_the_inverse_of_reading() {
        let items = vec![Some("a\"b\\c".to_owned()), None, Some(String::new()), Some("{,}".to_owned())];
        let mut text = String::new();
        print(&mut text, &[2, 2], ',', &mut items.clone().into_iter());
        assert_eq!(parse(&text, ','), Some(Elements { dimensions: vec![2, 2], lower: vec![], values: items }));
        let mut text = String::new();
        print(&mut text, &[], ',', &mut std::iter::empty());
        assert_eq!(text, "{}");
    }
}
