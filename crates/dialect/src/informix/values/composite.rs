//! Rows and collections: `ROW('Alice',30)`, `SET{'red','green'}`, as they are written, stored and sent.

use super::convert;
use crate::informix::types::{type_from_words, type_words};
use crate::ir::Value;
use crate::{Condition, Error, Result, Type};

/// Composites within composites: more are refused.
const MAX_DEPTH: usize = 32;

/// What a composite type is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Fields with names.
    Row(Vec<(String, Type)>),
    /// `SET`, `MULTISET` or `LIST`.
    Collection {
        /// The word.
        kind: String,
        /// The elements' type.
        element: Type,
        /// NULL is refused.
        not_null: bool,
    },
}

impl Shape {
    /// Of a composite type's words: `ROW(name varchar(50), age integer)`, `LIST(integer not null)`.
    pub fn of(words: &str) -> Option<Self> {
        let (kind, inner) = words.split_once('(')?;
        let inner = inner.strip_suffix(')')?;
        if kind == "ROW" {
            let field = |text: &str| {
                let (name, ty) = text.trim().split_once(' ')?;
                Some((name.to_owned(), type_from_words(ty).ok()?))
            };
            return split(inner, b'(', b')').into_iter().map(field).collect::<Option<_>>().map(Self::Row);
        }
        let (element, not_null) = match inner.strip_suffix(" not null") {
            Some(element) => (element, true),
            None => (inner, false),
        };
        Some(Self::Collection { kind: kind.to_owned(), element: type_from_words(element).ok()?, not_null })
    }

    /// A field's place, from 1, and its type.
    pub fn field(&self, name: &str) -> Option<(i64, Type)> {
        let Self::Row(fields) = self else { return None };
        let at = fields.iter().position(|(field, _)| field.eq_ignore_ascii_case(name))?;
        Some((at as i64 + 1, fields[at].1.clone()))
    }
}

/// Cuts at the commas outside of brackets.
fn split(text: &str, open: u8, close: u8) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth = depth.saturating_sub(1);
        } else if byte == b',' && depth == 0 {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

/// What stands between two commas.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Member {
    /// `NULL`.
    Null,
    /// In quotes, without them.
    Quoted(String),
    /// A number, a DATETIME or INTERVAL literal.
    Bare(String),
    /// A row or collection, whole.
    Composite(String),
}

/// The word in front of the brackets, and what stands in them. `None` when the text is no row or collection.
pub fn members(text: &str) -> Option<(String, Vec<Member>)> {
    let text = text.trim();
    let open = text.find(['(', '{'])?;
    let word = text[..open].trim_end().to_ascii_uppercase();
    let close = match (word.as_str(), text.as_bytes()[open]) {
        ("ROW", b'(') => ')',
        ("SET" | "MULTISET" | "LIST", b'{') => '}',
        _ => return None,
    };
    let mut rest = text[open + 1..].trim_start();
    let mut found = Vec::new();
    if let Some(after) = rest.strip_prefix(close) {
        return (after.trim().is_empty() && word != "ROW").then_some((word, found));
    }
    loop {
        let (member, after) = member(rest)?;
        found.push(member);
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start(),
            None => break,
        }
    }
    rest.strip_prefix(close).filter(|after| after.trim().is_empty()).map(|_| (word, found))
}

fn member(text: &str) -> Option<(Member, &str)> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        let mut value = String::new();
        let mut rest = &text[1..];
        loop {
            let at = rest.find(quote)?;
            value.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            match rest.strip_prefix(quote) {
                Some(after) => {
                    value.push(quote);
                    rest = after;
                }
                None => return Some((Member::Quoted(value), rest)),
            }
        }
    }
    // Up to a comma or bracket that was not opened here; quotes hide both.
    let (mut depth, mut quoted, mut end) = (0_usize, None, text.len());
    for (at, c) in text.char_indices() {
        match (quoted, c) {
            (Some(quote), c) if c == quote => quoted = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quoted = Some(c),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') if depth > 0 => depth -= 1,
            (None, ',' | ')' | '}') if depth == 0 => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let (word, rest) = (text[..end].trim(), &text[end..]);
    let opens = |prefix: &str| word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let bracketed = word.find(['(', '{']).map(|at| word[..at].trim_end());
    Some(match bracketed {
        _ if word.is_empty() => return None,
        _ if word.eq_ignore_ascii_case("null") => (Member::Null, rest),
        Some(name) if !name.is_empty() && !opens("datetime") && !opens("interval") => {
            (Member::Composite(word.to_owned()), rest)
        }
        _ => (Member::Bare(word.to_owned()), rest),
    })
}

/// The text of a value as a value of a composite type: each member converted to its type, and printed.
///
/// # Errors
/// -9634 for text that is no value of that shape; whatever the conversion of a member says; -391 for NULL in a
/// collection whose elements are NOT NULL.
pub fn converted(text: &str, words: &str) -> Result<String> {
    composite(text, words, 0)
}

fn composite(text: &str, words: &str, depth: usize) -> Result<String> {
    let no_cast = || Error::new(Condition::CannotCoerce, format!("\"{text}\" is no value of the type {words}"));
    if depth > MAX_DEPTH {
        return Err(Error::new(Condition::StatementTooComplex, "rows and collections are nested too deeply"));
    }
    let (word, given) = members(text).ok_or_else(no_cast)?;
    match Shape::of(words).ok_or_else(no_cast)? {
        Shape::Row(fields) if word == "ROW" && fields.len() == given.len() => {
            let fields = given.iter().zip(&fields);
            let printed: Vec<_> = fields.map(|(member, (_, ty))| one(member, ty, depth)).collect::<Result<_>>()?;
            Ok(format!("ROW({})", printed.join(",")))
        }
        Shape::Collection { kind, element, not_null } if kind == word => {
            let mut printed: Vec<String> = Vec::with_capacity(given.len());
            let mut seen = std::collections::HashSet::new();
            for member in &given {
                if not_null && *member == Member::Null {
                    return Err(Error::new(
                        Condition::NotNullViolation,
                        format!("a {kind} of NOT NULL elements cannot hold NULL"),
                    ));
                }
                let member = one(member, &element, depth)?;
                if kind != "SET" || seen.insert(member.clone()) {
                    printed.push(member);
                }
            }
            Ok(format!("{kind}{{{}}}", printed.join(",")))
        }
        _ => Err(no_cast()),
    }
}

fn one(member: &Member, ty: &Type, depth: usize) -> Result<String> {
    match (member, ty) {
        (Member::Composite(text) | Member::Quoted(text), Type::Composite(words)) => composite(text, words, depth + 1),
        _ => printed(&value(member, ty)?, ty),
    }
}

/// A member as a stored value of its type, which is no composite one.
///
/// # Errors
/// -9634 for a composite member; whatever the conversion says.
pub fn value(member: &Member, ty: &Type) -> Result<Value> {
    let text = match member {
        Member::Null => return Ok(Value::Null),
        Member::Composite(text) => {
            return Err(Error::new(
                Condition::CannotCoerce,
                format!("there is no cast from {text} to {}", type_words(ty)),
            ));
        }
        Member::Quoted(text) => text,
        Member::Bare(text) => match literal(text) {
            Some((inside, from)) => return convert(&Value::Text(inside), &from, ty),
            None => text,
        },
    };
    convert(&Value::Text(text.clone()), &Type::Text, ty)
}

/// `DATETIME(2026-01-02) YEAR TO DAY`: what stands in the brackets, and its type.
fn literal(text: &str) -> Option<(String, Type)> {
    let (word, rest) = text.split_once('(')?;
    let (inside, qualifier) = rest.split_once(')')?;
    Some((inside.trim().to_owned(), type_from_words(&format!("{word}{qualifier}")).ok()?))
}

/// A stored value as a member: numbers bare, the rest in quotes.
pub fn printed(value: &Value, ty: &Type) -> Result<String> {
    if *value == Value::Null {
        return Ok("NULL".to_owned());
    }
    let Value::Text(text) = convert(value, ty, &Type::Text)? else {
        return Err(Error::internal("a member without text"));
    };
    let bare = ty.is_number() || ty.is_decimal() || matches!(ty, Type::Composite(_));
    Ok(if bare { text } else { format!("'{}'", text.replace('\'', "''")) })
}

/// A field, counted from 1, of a row's text; `None` for NULL.
pub fn field(row: &str, place: i64) -> Option<String> {
    let (_, members) = members(row)?;
    match members.into_iter().nth(usize::try_from(place).ok()?.checked_sub(1)?)? {
        Member::Null => None,
        Member::Quoted(text) | Member::Bare(text) | Member::Composite(text) => Some(text),
    }
}

/// How many elements a collection's text has; `None` when it is none.
pub fn cardinality(collection: &str) -> Option<i64> {
    members(collection).map(|(_, members)| members.len() as i64)
}

/// True if a collection's text holds an element, which is printed as [`printed`] does.
pub fn holds(collection: &str, element: &str) -> bool {
    let Some((_, members)) = members(collection) else { return false };
    let wanted = member(element).map(|(member, _)| member);
    wanted.is_some_and(|wanted| wanted != Member::Null && members.contains(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_shape_of_their_type() {
        let row = "ROW(name varchar(5), age integer, price decimal(8,2))";
        for (text, words, want) in [
            ("ROW('Alice', 30 , 1.5)", row, "ROW('Alice',30,1.50)"),
            ("row(\"O'Neil\",'7',NULL)", row, "ROW('O''Nei',7,NULL)"),
            ("SET{3, 1,3}", "SET(integer not null)", "SET{3,1}"),
            ("MULTISET{1,2,2}", "MULTISET(integer not null)", "MULTISET{1,2,2}"),
            ("LIST{}", "LIST(char(3) not null)", "LIST{}"),
            (
                "LIST{ROW(1,SET{'x}','y'})}",
                "LIST(ROW(a integer, b SET(varchar(9) not null)) not null)",
                "LIST{ROW(1,SET{'x}','y'})}",
            ),
            (
                "LIST{DATETIME(2026-01-02 03:04:05) YEAR TO SECOND,'2026-01-02 03:04'}",
                "LIST(datetime year to minute not null)",
                "LIST{'2026-01-02 03:04','2026-01-02 03:04'}",
            ),
            ("LIST{'2026-01-02'}", "LIST(date not null)", "LIST{'2026-01-02'}"),
            ("LIST{'t'}", "LIST(boolean)", "LIST{'t'}"),
        ] {
            assert_eq!(converted(text, words).unwrap(), want, "{text}");
            assert_eq!(converted(want, words).unwrap(), want, "{text}, once more");
        }
    }

    #[test]
    fn refuses_values_of_another_shape() {
        for (text, words, code) in [
            ("LIST{1}", "SET(integer not null)", -9634),
            ("LIST{'x'}", "LIST(integer not null)", -1213),
            ("LIST{NULL}", "LIST(integer not null)", -391),
            ("ROW(1)", "ROW(a integer, b integer)", -9634),
            ("ROW(1,2", "ROW(a integer, b integer)", -9634),
            ("LIST{1,}", "LIST(integer not null)", -9634),
            ("nonsense", "LIST(integer not null)", -9634),
            ("LIST{99999}", "LIST(smallint not null)", -1214),
            ("LIST{LIST{1}}", "LIST(integer not null)", -9634),
        ] {
            assert_eq!(converted(text, words).unwrap_err().condition().informix_code(), code, "{text}");
        }
    }

    #[test]
    fn members_can_be_asked_for() {
        assert_eq!(field("ROW('it''s, ok',30        )", 1).as_deref(), Some("it's, ok"));
        assert_eq!(field("ROW('it''s, ok',30        )", 2).as_deref(), Some("30"));
        assert_eq!(field("ROW('a',NULL)", 2), None);
        assert_eq!(field("ROW('a',ROW(1,2))", 2).as_deref(), Some("ROW(1,2)"));
        assert_eq!(cardinality("LIST{1,ROW('a,b',2),3}"), Some(3));
        assert_eq!(cardinality("SET{}"), Some(0));
        assert!(holds("SET{'red','it''s'}", "'it''s'"));
        assert!(holds("LIST{10,20}", "20"));
        assert!(!holds("LIST{10,20}", "2"));
        assert!(!holds("LIST{NULL}", "NULL"));
    }
}
