use std::borrow::Cow;

use rowferry_wire::{Malformed, civil};

use super::{CollectionKind, CompositeType, ElementType, MAX_DEPTH};
use crate::Qualifier;
use crate::values::{Base100, DateTime, Interval};

/// A field of a row or an element of a collection.
#[derive(Clone, Debug, PartialEq)]
pub enum Element<'a> {
    /// NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// `FLOAT`.
    Float(f64),
    /// `SMALLFLOAT`.
    SmallFloat(f32),
    /// `DECIMAL`, `MONEY`: with so many digits after the point, unless they float.
    Decimal(Base100, Option<u8>),
    /// `DATE`: days since 1899-12-31.
    Date(i32),
    /// `DATETIME`.
    DateTime(DateTime, Qualifier),
    /// `INTERVAL`.
    Interval(Interval),
    /// `BOOLEAN`.
    Boolean(bool),
    /// Text in the code set of the client.
    Text(Cow<'a, [u8]>),
    /// A row, with what follows its type.
    Row(Vec<Self>, CompositeType, &'a [u8]),
    /// A collection.
    Collection(Vec<Self>, CompositeType, &'a [u8]),
}

const UNREADABLE: Malformed = Malformed::new("text of a row or collection");

impl CompositeType {
    /// Reads the text of a value of this type: [`Element::Row`] or [`Element::Collection`].
    pub fn parse<'a>(&self, text: &'a [u8]) -> Result<Element<'a>, Malformed> {
        let mut literal = Literal { text, at: 0 };
        let element = literal.composite(self, 0)?;
        literal.skip_blanks();
        if literal.at == text.len() { Ok(element) } else { Err(UNREADABLE) }
    }
}

struct Literal<'a> {
    text: &'a [u8],
    at: usize,
}

/// What stands between two commas.
enum Token<'a> {
    Quoted(Cow<'a, [u8]>),
    Bare(&'a str),
}

impl<'a> Literal<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    /// A word that a bracket follows: the word is consumed with the bracket.
    fn opening(&mut self, bracket: u8) -> Option<&'a str> {
        self.skip_blanks();
        let len = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, mut after) = (&self.text[self.at..self.at + len], self.at + len);
        while self.text.get(after) == Some(&b' ') {
            after += 1;
        }
        if len == 0 || self.text.get(after) != Some(&bracket) {
            return None;
        }
        self.at = after + 1;
        std::str::from_utf8(word).ok()
    }

    fn composite(&mut self, ty: &CompositeType, depth: usize) -> Result<Element<'a>, Malformed> {
        if depth > MAX_DEPTH {
            return Err(UNREADABLE);
        }
        self.skip_blanks();
        let start = self.at;
        match ty {
            CompositeType::Row(types) => {
                if !self.opening(b'(').is_some_and(|word| word.eq_ignore_ascii_case("row")) {
                    return Err(UNREADABLE);
                }
                let mut fields = Vec::new();
                loop {
                    let ty = match types {
                        Some(types) => &types.get(fields.len()).ok_or(UNREADABLE)?.1,
                        None => &ElementType::Untold,
                    };
                    fields.push(self.element(ty, depth)?);
                    if !self.eat(b',') {
                        break;
                    }
                }
                if !self.eat(b')') || types.as_ref().is_some_and(|types| types.len() != fields.len()) {
                    return Err(UNREADABLE);
                }
                Ok(Element::Row(fields, ty.clone(), &self.text[start..self.at]))
            }
            CompositeType::Collection(kind, element) => {
                if self.opening(b'{').and_then(CollectionKind::named) != Some(*kind) {
                    return Err(UNREADABLE);
                }
                let mut elements = Vec::new();
                if !self.eat(b'}') {
                    loop {
                        elements.push(self.element(element, depth)?);
                        if !self.eat(b',') {
                            break;
                        }
                    }
                    if !self.eat(b'}') {
                        return Err(UNREADABLE);
                    }
                }
                Ok(Element::Collection(elements, ty.clone(), &self.text[start..self.at]))
            }
        }
    }

    fn element(&mut self, ty: &ElementType, depth: usize) -> Result<Element<'a>, Malformed> {
        self.skip_blanks();
        if self.is_null() {
            self.at += 4;
            return Ok(Element::Null);
        }
        match ty {
            ElementType::Composite(ty) => return self.composite(ty, depth + 1),
            ElementType::Untold => {
                let before = self.at;
                let composite = if let Some(word) = self.opening(b'{') {
                    CollectionKind::named(word)
                        .map(|kind| CompositeType::Collection(kind, Box::new(ElementType::Untold)))
                } else if self.opening(b'(').is_some_and(|word| word.eq_ignore_ascii_case("row")) {
                    Some(CompositeType::Row(None))
                } else {
                    None
                };
                self.at = before;
                if let Some(ty) = composite {
                    return self.composite(&ty, depth + 1);
                }
            }
            _ => {}
        }
        let token = self.token()?;
        convert(token, ty).ok_or(UNREADABLE)
    }

    fn is_null(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"null"))
            && rest.get(4).is_none_or(|&byte| matches!(byte, b',' | b')' | b'}' | b' '))
    }

    fn token(&mut self) -> Result<Token<'a>, Malformed> {
        match self.peek() {
            Some(quote @ (b'\'' | b'"')) => {
                let start = self.at + 1;
                let mut end = start;
                let mut doubled = false;
                loop {
                    let len = self.text[end..].iter().position(|&byte| byte == quote).ok_or(UNREADABLE)?;
                    end += len;
                    if self.text.get(end + 1) != Some(&quote) {
                        break;
                    }
                    doubled = true;
                    end += 2;
                }
                self.at = end + 1;
                let inside = &self.text[start..end];
                Ok(Token::Quoted(if doubled {
                    let mut text = Vec::with_capacity(inside.len());
                    let mut bytes = inside.iter();
                    while let Some(&byte) = bytes.next() {
                        text.push(byte);
                        if byte == quote {
                            bytes.next();
                        }
                    }
                    Cow::Owned(text)
                } else {
                    Cow::Borrowed(inside)
                }))
            }
            _ => {
                // `DATETIME(2026-01-02) YEAR TO DAY`: what counts stands in the brackets, the type says the rest.
                let before = self.at;
                if let Some(word) = self.opening(b'(') {
                    if !word.eq_ignore_ascii_case("datetime") && !word.eq_ignore_ascii_case("interval") {
                        return Err(UNREADABLE);
                    }
                    let len = self.text[self.at..].iter().position(|&byte| byte == b')').ok_or(UNREADABLE)?;
                    let inside = &self.text[self.at..self.at + len];
                    self.at += len + 1;
                    self.bare();
                    // The brackets of `FRACTION(5)`.
                    if self.eat(b'(') {
                        self.bare();
                        if !self.eat(b')') {
                            return Err(UNREADABLE);
                        }
                    }
                    return std::str::from_utf8(inside).map(|text| Token::Bare(text.trim())).map_err(|_| UNREADABLE);
                }
                self.at = before;
                let text = self.bare();
                let text = std::str::from_utf8(text).map_err(|_| UNREADABLE)?.trim();
                if text.is_empty() { Err(UNREADABLE) } else { Ok(Token::Bare(text)) }
            }
        }
    }

    /// Up to the next sign that ends an element, without it.
    fn bare(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let len = rest
            .iter()
            .position(|byte| matches!(byte, b',' | b'(' | b')' | b'{' | b'}' | b'\'' | b'"'))
            .unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }
}

fn convert<'a>(token: Token<'a>, ty: &ElementType) -> Option<Element<'a>> {
    let quoted = match token {
        Token::Quoted(text) => match ty {
            ElementType::Text | ElementType::Untold => return Some(Element::Text(text)),
            ElementType::Char => {
                let len = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
                return Some(Element::Text(match text {
                    Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..len]),
                    Cow::Owned(mut bytes) => {
                        bytes.truncate(len);
                        Cow::Owned(bytes)
                    }
                }));
            }
            _ => text,
        },
        Token::Bare(text) => Cow::Borrowed(text.as_bytes()),
    };
    let text = std::str::from_utf8(&quoted).ok()?.trim();
    let floating = |text: &str| Base100::from_text(text, 32, None).ok();
    Some(match *ty {
        ElementType::Integer => Element::Int(text.parse().ok()?),
        ElementType::Float => Element::Float(text.parse().ok().filter(|_| is_number(text))?),
        ElementType::SmallFloat => Element::SmallFloat(text.parse().ok().filter(|_| is_number(text))?),
        ElementType::Decimal { precision, scale } => {
            let digits = text.strip_prefix('$').unwrap_or(text);
            let number = match scale {
                Some(scale) => Base100::from_text(digits, precision.min(32), Some(scale.min(32))).ok()?,
                None => floating(digits)?,
            };
            Element::Decimal(number, scale)
        }
        ElementType::Boolean => match text {
            "t" | "T" => Element::Boolean(true),
            "f" | "F" => Element::Boolean(false),
            _ => return None,
        },
        ElementType::Date => Element::Date(date(text)?),
        ElementType::DateTime(qualifier) => Element::DateTime(DateTime::from_text(text, qualifier).ok()?, qualifier),
        ElementType::Interval(qualifier) => Element::Interval(Interval::from_text(text, qualifier).ok()?),
        // Words of a type that writes its values without quotes.
        ElementType::Char | ElementType::Text => Element::Text(Cow::Owned(text.as_bytes().to_vec())),
        ElementType::Untold if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => match text.parse() {
            Ok(number) => Element::Int(number),
            Err(_) => Element::Decimal(floating(text)?, None),
        },
        ElementType::Untold => match floating(text) {
            Some(number) => Element::Decimal(number, None),
            None => Element::Text(Cow::Owned(text.as_bytes().to_vec())),
        },
        ElementType::Composite(_) => return None,
    })
}

/// Rust also reads `inf`, `nan` and `infinity`, which are no numbers here.
fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'))
}

/// The day of `2026-01-02`, or of `01/02/2026` where the server's DBDATE says so.
fn date(text: &str) -> Option<i32> {
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    let [first, second, third] = parts.as_slice() else { return None };
    let (year, month, day) = if first.len() == 4 { (first, second, third) } else { (third, first, second) };
    if year.len() != 4 || month.len() > 2 || day.len() > 2 {
        return None;
    }
    let (year, month, day): (i64, u8, u8) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 || day > civil::days_in_month(year, month)
    {
        return None;
    }
    i32::try_from(civil::days_from_civil(year, i64::from(month), i64::from(day)) - civil::DAYS_TO_1899_12_31).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed<'a>(ty: &str, text: &'a str) -> Result<Vec<Element<'a>>, Malformed> {
        match CompositeType::from_text(ty).unwrap().parse(text.as_bytes())? {
            Element::Row(members, ..) | Element::Collection(members, ..) => Ok(members),
            other => panic!("{other:?}"),
        }
    }

    fn text(text: &str) -> Element<'_> {
        Element::Text(Cow::Borrowed(text.as_bytes()))
    }

    #[test]
    fn reads_what_servers_print() {
        let row = "ROW(name varchar(50), age integer)";
        assert_eq!(parsed(row, "ROW('Alice',30         )").unwrap(), [text("Alice"), Element::Int(30)]);
        assert_eq!(parsed(row, "ROW('O''Neil, ''x''' ,-7 )").unwrap(), [text("O'Neil, 'x'"), Element::Int(-7)]);
        assert_eq!(parsed(row, "ROW(NULL,NULL)").unwrap(), [Element::Null, Element::Null]);
        assert_eq!(parsed(row, "ROW('NULL',0)").unwrap(), [text("NULL"), Element::Int(0)]);
        assert_eq!(parsed(row, "row('',1)").unwrap(), [text(""), Element::Int(1)]);
        let list = parsed("LIST(integer not null)", "LIST{10         ,20         ,30         }").unwrap();
        assert_eq!(list, [Element::Int(10), Element::Int(20), Element::Int(30)]);
        assert_eq!(parsed("SET(char(5) not null)", "SET{}").unwrap(), []);
        assert_eq!(parsed("SET(char(5) not null)", "SET{'a    ','  b''  '}").unwrap(), [text("a"), text("  b'")]);
    }

    #[test]
    fn reads_every_type_of_element() {
        let ty = "ROW(a smallfloat, b float, c decimal(8,2), d decimal(16), e boolean, f date, \
                  g datetime year to minute, h interval day(3) to second, i interval year to month, j money(8,2))";
        let members =
            parsed(ty, "ROW(1.5,-2.5E-3,12.5,1E+30,'t','2026-02-28','2026-01-02 03:04','  3 01:01:01',' 1-02',$12.30)")
                .unwrap();
        assert_eq!(members[0], Element::SmallFloat(1.5));
        assert_eq!(members[1], Element::Float(-0.0025));
        let Element::Decimal(number, scale) = members[2] else { panic!() };
        assert_eq!(number.to_text(scale), "12.50");
        assert_eq!(members[4], Element::Boolean(true));
        assert_eq!(members[5], Element::Date(46_080));
        assert_eq!(members[8], Element::Interval(Interval::YearMonth(14)));
        let dates = parsed("LIST(date not null)", "LIST{'2026-02-28',02/28/2026}").unwrap();
        assert_eq!(dates, [Element::Date(46_080), Element::Date(46_080)]);
        let moments = "LIST{DATETIME(2026-01-02 03:04) YEAR TO MINUTE,'2026-01-02 03:04'}";
        let moments = parsed("LIST(datetime year to minute not null)", moments).unwrap();
        assert_eq!(moments[0], moments[1]);
    }

    #[test]
    fn nests_and_reads_what_is_not_told() {
        let ty = "LIST(ROW(a integer, b SET(varchar(9) not null)) not null)";
        let members = parsed(ty, "LIST{ROW(1,SET{'x','}'}),ROW(2,SET{})}").unwrap();
        let Element::Row(fields, _, source) = &members[0] else { panic!() };
        assert_eq!(*source, b"ROW(1,SET{'x','}'})");
        let Element::Collection(elements, ..) = &fields[1] else { panic!() };
        assert_eq!(elements[1], text("}"));
        let untold = CompositeType::Row(None);
        let Element::Row(fields, ..) = untold.parse(b"ROW('a',30    ,1.50,LIST{1},ROW(NULL))").unwrap() else {
            panic!()
        };
        assert_eq!(fields[1], Element::Int(30));
        assert!(matches!(&fields[2], Element::Decimal(number, None) if number.to_text(None) == "1.5"));
        assert!(matches!(&fields[3], Element::Collection(members, ..) if members[..] == [Element::Int(1)]));
        assert!(matches!(&fields[4], Element::Row(members, ..) if members[..] == [Element::Null]));
    }

    #[test]
    fn refuses_what_is_no_such_value() {
        let row = "ROW(name varchar(50), age integer)";
        for text in [
            "",
            "ROW",
            "ROW(",
            "ROW()",
            "ROW('a')",
            "ROW('a',1,2)",
            "ROW('a',x)",
            "ROW('a',1",
            "ROW('a,1)",
            "ROW('a',1) x",
            "LIST{'a',1}",
            "ROW('a',99999999999999999999)",
            "ROW('a',)",
            "ROW(,1)",
            "ROW('a',1.5)",
        ] {
            assert!(parsed(row, text).is_err(), "{text}");
        }
        for (ty, text) in [
            ("LIST(date not null)", "LIST{'2026-02-29'}"),
            ("LIST(boolean not null)", "LIST{'x'}"),
            ("LIST(float not null)", "LIST{inf}"),
            ("SET(integer not null)", "MULTISET{1}"),
            ("LIST(integer not null)", "LIST{1,}"),
        ] {
            assert!(parsed(ty, text).is_err(), "{text}");
        }
        let deep = format!("{}1{}", "LIST{".repeat(100), "}".repeat(100));
        let untold = CompositeType::Collection(CollectionKind::List, Box::new(ElementType::Untold));
        assert!(untold.parse(deep.as_bytes()).is_err());
    }
}
