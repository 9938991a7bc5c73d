//! JSON and BSON values: documents as servers read them (keys may stand without quotes, strings in single ones), what
//! the `BSON_` functions find in them and how BSON_UPDATE changes them.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use crate::{Condition, Error, Result, work};

/// A document or a value inside of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// `null`
    Null,
    /// `true`, `false`
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Double(f64),
    /// A string.
    Text(String),
    /// `[…]`
    Array(Vec<Document>),
    /// `{…}`; keys in their order.
    Object(Vec<(String, Document)>),
}

/// How deep documents may nest.
const MAX_DEPTH: usize = 200;

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// `InvalidTextRepresentation` for what is none.
    pub fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader { chars: text.chars().peekable(), depth: 0 };
        let document = reader.value()?;
        reader.blanks();
        if reader.chars.peek().is_some() { Err(invalid()) } else { Ok(document) }
    }

    /// What stands in a field: `a.b.0` is the first member of the array `b` inside of `a`.
    pub fn field(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |inside, name| match inside {
            Self::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            Self::Array(members) => name.parse::<usize>().ok().and_then(|at| members.get(at)),
            _ => None,
        })
    }

    /// How many bytes it takes as BSON.
    pub fn size(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Boolean(_) => 1,
            Self::Integer(number) if i32::try_from(*number).is_ok() => 4,
            Self::Integer(_) | Self::Double(_) => 8,
            Self::Text(text) => 4 + text.len() + 1,
            Self::Array(members) => {
                let keys = (0..members.len()).map(|at| at.to_string().len());
                5 + members.iter().zip(keys).map(|(member, key)| 2 + key + member.size()).sum::<usize>()
            }
            Self::Object(members) => match &members[..] {
                [(key, Self::Text(_))] if key == "$oid" => 12,
                [(key, _)] if key == "$date" || key == "$numberLong" => 8,
                _ => 5 + members.iter().map(|(key, member)| 2 + key.len() + member.size()).sum::<usize>(),
            },
        }
    }

    /// The document after the operations of another, each of them once, in their order.
    ///
    /// # Errors
    /// `BsonOperator` for one that is not known; `DatatypeMismatch` where one does not fit what is there.
    pub fn updated(mut self, operations: &Self) -> Result<Self> {
        let Self::Object(operations) = operations else { return Err(invalid()) };
        for (operator, fields) in operations {
            let Self::Object(fields) = fields else { return Err(invalid()) };
            for (path, operand) in fields {
                work::step(work::STRIDE / 64)?;
                self.change(operator, path, operand)?;
            }
        }
        Ok(self)
    }

    fn change(&mut self, operator: &str, path: &str, operand: &Self) -> Result<()> {
        match operator {
            "$set" => *self.place(path)? = operand.clone(),
            "$unset" => self.remove(path),
            "$inc" => {
                let place = self.place(path)?;
                *place = match (&*place, operand) {
                    (Self::Null, Self::Integer(_) | Self::Double(_)) => operand.clone(),
                    (Self::Integer(a), Self::Integer(b)) => {
                        Self::Integer(a.checked_add(*b).ok_or_else(|| does_not_fit(operator, path))?)
                    }
                    (Self::Integer(a), Self::Double(b)) => Self::Double(*a as f64 + b),
                    (Self::Double(a), Self::Integer(b)) => Self::Double(a + *b as f64),
                    (Self::Double(a), Self::Double(b)) => Self::Double(a + b),
                    _ => return Err(does_not_fit(operator, path)),
                };
            }
            "$push" | "$addToSet" => {
                let (members, modifiers) = match operand {
                    Self::Object(modifiers) if modifiers.iter().any(|(key, _)| key == "$each") => {
                        let each = modifiers.iter().find(|(key, _)| key == "$each").map(|(_, each)| each);
                        let Some(Self::Array(each)) = each else { return Err(does_not_fit(operator, path)) };
                        (each.clone(), &modifiers[..])
                    }
                    other => (vec![other.clone()], &[][..]),
                };
                let array = self.array(operator, path)?;
                let mut at = array.len();
                for (key, modifier) in modifiers {
                    match (key.as_str(), modifier) {
                        ("$each" | "$slice", _) => {}
                        ("$position", Self::Integer(place)) if operator == "$push" => {
                            at = usize::try_from(*place).unwrap_or(0).min(array.len());
                        }
                        _ => return Err(unknown(key)),
                    }
                }
                for member in members {
                    if operator == "$addToSet" && array.contains(&member) {
                        continue;
                    }
                    array.insert(at, member);
                    at += 1;
                }
                if let Some((_, Self::Integer(slice))) = modifiers.iter().find(|(key, _)| key == "$slice") {
                    let keep = usize::try_from(slice.unsigned_abs()).unwrap_or(usize::MAX).min(array.len());
                    if *slice < 0 {
                        array.drain(..array.len() - keep);
                    } else {
                        array.truncate(keep);
                    }
                }
            }
            "$pop" => {
                let array = self.array(operator, path)?;
                match operand {
                    Self::Integer(-1) if !array.is_empty() => drop(array.remove(0)),
                    Self::Integer(1) => drop(array.pop()),
                    Self::Integer(-1) => {}
                    _ => return Err(does_not_fit(operator, path)),
                }
            }
            "$pullAll" => {
                let Self::Array(gone) = operand else { return Err(does_not_fit(operator, path)) };
                self.array(operator, path)?.retain(|member| !gone.contains(member));
            }
            _ => return Err(unknown(operator)),
        }
        Ok(())
    }

    /// What stands in a field, which is made where there is none.
    fn place(&mut self, path: &str) -> Result<&mut Self> {
        let mut inside = self;
        for name in path.split('.') {
            if *inside == Self::Null {
                *inside = Self::Object(Vec::new());
            }
            inside = match inside {
                Self::Object(members) => {
                    let at = members.iter().position(|(key, _)| key == name).unwrap_or_else(|| {
                        members.push((name.to_owned(), Self::Null));
                        members.len() - 1
                    });
                    &mut members[at].1
                }
                Self::Array(members) => {
                    let at = name.parse::<usize>().ok().filter(|at| *at <= members.len());
                    let at = at.ok_or_else(|| does_not_fit("$set", path))?;
                    if at == members.len() {
                        members.push(Self::Null);
                    }
                    &mut members[at]
                }
                _ => return Err(does_not_fit("$set", path)),
            };
        }
        Ok(inside)
    }

    fn array(&mut self, operator: &str, path: &str) -> Result<&mut Vec<Self>> {
        let place = self.place(path)?;
        if *place == Self::Null {
            *place = Self::Array(Vec::new());
        }
        match place {
            Self::Array(members) => Ok(members),
            _ => Err(does_not_fit(operator, path)),
        }
    }

    fn remove(&mut self, path: &str) {
        let (above, name) = path.rsplit_once('.').map_or((None, path), |(above, name)| (Some(above), name));
        if above.is_some_and(|above| self.field(above).is_none()) {
            return;
        }
        let inside = match above {
            Some(above) => self.place(above).ok(),
            None => Some(self),
        };
        match inside {
            Some(Self::Object(members)) => members.retain(|(key, _)| key != name),
            Some(Self::Array(members)) => {
                if let Some(member) = name.parse::<usize>().ok().and_then(|at| members.get_mut(at)) {
                    *member = Self::Null;
                }
            }
            _ => {}
        }
    }
}

impl fmt::Display for Document {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Boolean(value) => write!(out, "{value}"),
            Self::Integer(number) => write!(out, "{number}"),
            Self::Double(number) if number.fract() == 0.0 && number.abs() < 1e15 => write!(out, "{number:.1}"),
            Self::Double(number) => write!(out, "{number}"),
            Self::Text(text) => quoted(out, text),
            Self::Array(members) => {
                out.write_str("[")?;
                for (at, member) in members.iter().enumerate() {
                    out.write_str(if at == 0 { "" } else { "," })?;
                    member.fmt(out)?;
                }
                out.write_str("]")
            }
            Self::Object(members) => {
                out.write_str("{")?;
                for (at, (key, member)) in members.iter().enumerate() {
                    out.write_str(if at == 0 { "" } else { "," })?;
                    quoted(out, key)?;
                    out.write_str(":")?;
                    member.fmt(out)?;
                }
                out.write_str("}")
            }
        }
    }
}

fn quoted(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if c < ' ' => write!(out, "\\u{:04x}", c as u32)?,
            c => write!(out, "{c}")?,
        }
    }
    out.write_str("\"")
}

fn invalid() -> Error {
    Error::new(Condition::InvalidTextRepresentation, "a text is no JSON document")
}

fn unknown(operator: &str) -> Error {
    let message = format!("the server does not support the specified UPDATE operation on JSON documents ({operator})");
    Error::new(Condition::BsonOperator, message)
}

fn does_not_fit(operator: &str, path: &str) -> Error {
    Error::new(Condition::DatatypeMismatch, format!("{operator} does not fit what stands in the field \"{path}\""))
}

/// A text as it is read.
struct Reader<'t> {
    chars: Peekable<Chars<'t>>,
    depth: usize,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
    }

    fn sign(&mut self, sign: char) -> bool {
        self.blanks();
        self.chars.next_if_eq(&sign).is_some()
    }

    fn value(&mut self) -> Result<Document> {
        work::step(8)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(invalid());
        }
        self.blanks();
        let value = match self.chars.peek() {
            Some('{') => self.object()?,
            Some('[') => {
                self.chars.next();
                Document::Array(self.members(']', Self::value)?)
            }
            Some('"' | '\'') => Document::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            _ => self.word()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Members with commas between, up to a sign.
    fn members<T>(&mut self, end: char, mut member: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut members = Vec::new();
        if self.sign(end) {
            return Ok(members);
        }
        loop {
            members.push(member(self)?);
            if self.sign(end) {
                return Ok(members);
            }
            if !self.sign(',') {
                return Err(invalid());
            }
        }
    }

    fn object(&mut self) -> Result<Document> {
        self.chars.next();
        let members = self.members('}', |reader| {
            reader.blanks();
            let key = match reader.chars.peek() {
                Some('"' | '\'') => reader.string()?,
                _ => reader.name()?,
            };
            if reader.sign(':') { Ok((key, reader.value()?)) } else { Err(invalid()) }
        })?;
        Ok(Document::Object(members))
    }

    /// A key without quotes.
    fn name(&mut self) -> Result<String> {
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')) {
            name.push(c);
        }
        if name.is_empty() { Err(invalid()) } else { Ok(name) }
    }

    fn string(&mut self) -> Result<String> {
        let quote = self.chars.next();
        let mut text = String::new();
        loop {
            let c = self.chars.next().ok_or_else(invalid)?;
            if Some(c) == quote {
                work::step(text.len())?;
                return Ok(text);
            }
            if c != '\\' {
                text.push(c);
                continue;
            }
            text.push(match self.chars.next().ok_or_else(invalid)? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => {
                    let high = self.code()?;
                    let code = if (0xd800..0xdc00).contains(&high) {
                        if self.chars.next() != Some('\\') || self.chars.next() != Some('u') {
                            return Err(invalid());
                        }
                        let low = self.code()?.checked_sub(0xdc00).filter(|low| *low < 0x400).ok_or_else(invalid)?;
                        0x1_0000 + ((high - 0xd800) << 10) + low
                    } else {
                        high
                    };
                    char::from_u32(code).filter(|c| *c != '\0').ok_or_else(invalid)?
                }
                other => other,
            });
        }
    }

    /// Four hexadecimal digits.
    fn code(&mut self) -> Result<u32> {
        (0..4).try_fold(0, |code, _| {
            let digit = self.chars.next().and_then(|c| c.to_digit(16)).ok_or_else(invalid)?;
            Ok(code * 16 + digit)
        })
    }

    fn number(&mut self) -> Result<Document> {
        let mut digits = String::new();
        while let Some(c) = self.chars.next_if(|c| matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')) {
            digits.push(c);
        }
        if let Ok(number) = digits.parse() {
            return Ok(Document::Integer(number));
        }
        match digits.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Document::Double(number)),
            _ => Err(invalid()),
        }
    }

    /// `true`, `ISODate("…")` and the like.
    fn word(&mut self) -> Result<Document> {
        let word = self.name()?;
        let key = match word.as_str() {
            "true" => return Ok(Document::Boolean(true)),
            "false" => return Ok(Document::Boolean(false)),
            "null" => return Ok(Document::Null),
            "ISODate" => "$date",
            "ObjectId" => "$oid",
            "NumberLong" => "$numberLong",
            _ => return Err(invalid()),
        };
        if !self.sign('(') {
            return Err(invalid());
        }
        let value = self.value()?;
        if self.sign(')') { Ok(Document::Object(vec![(key.to_owned(), value)])) } else { Err(invalid()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Document {
        Document::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }

    #[test]
    fn documents_are_read_as_servers_read_them() {
        for (text, printed) in [
            ("{id:100,name:\"Joe\"}", "{\"id\":100,\"name\":\"Joe\"}"),
            ("{ 'a' : [1, 2.5, {}], b: null }", "{\"a\":[1,2.5,{}],\"b\":null}"),
            ("\"\\u00e9\\ud83d\\ude00\\n\"", "\"é😀\\n\""),
            ("{d:ISODate(\"2013-05-18T00:33:14.000Z\")}", "{\"d\":{\"$date\":\"2013-05-18T00:33:14.000Z\"}}"),
        ] {
            assert_eq!(read(text).to_string(), printed);
        }
        for text in ["", "{", "{a}", "{a:1,}", "[1 2]", "'a", "nothing", "{a:1}}", "\"\\ud83d\"", "1e999"] {
            assert!(Document::parse(text).is_err(), "{text}");
        }
        assert!(Document::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn fields_are_found_and_measured() {
        let document = read("{id:100,name:\"Joe\",in:{a:[1,2,3000000000]}}");
        assert_eq!(document.field("in.a.1"), Some(&Document::Integer(2)));
        assert_eq!(document.field("in.b"), None);
        assert_eq!(document.field("name").map(Document::size), Some(8));
        assert_eq!(read("{id:100,name:\"Joe\"}").size(), 27);
    }

    #[test]
    fn documents_are_updated() {
        for (before, operations, after) in [
            ("{a:1}", "{$set:{b:2,'c.d':3}}", "{\"a\":1,\"b\":2,\"c\":{\"d\":3}}"),
            ("{a:1,b:2}", "{$unset:{a:''}, $inc:{b:1}}", "{\"b\":3}"),
            ("{a:[1]}", "{$push:{a:2}}", "{\"a\":[1,2]}"),
            ("{a:[1]}", "{$push:{a:{$each:[2,3],$position:0,$slice:2}}}", "{\"a\":[2,3]}"),
            ("{a:[1]}", "{$addToSet:{a:{$each:[1,2]}}}", "{\"a\":[1,2]}"),
            ("{a:[1,2,3,1]}", "{$pop:{a:1}, $pullAll:{a:[2]}}", "{\"a\":[1,3]}"),
        ] {
            assert_eq!(read(before).updated(&read(operations)).unwrap().to_string(), after);
        }
        assert!(read("{a:'x'}").updated(&read("{$inc:{a:1}}")).is_err());
        assert!(read("{a:1}").updated(&read("{$rename:{a:'b'}}")).is_err());
    }
}
