//! `point`, `line`, `lseg`, `box`, `path`, `polygon`, `circle`: read, printed, sent.
//!
//! Stored as PostgreSQL prints them with all digits. None has an order that a key could use.

use super::{Casts, Modifiers, Order, Scalar, as_stored, malformed, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::{Settings, ValueRef, float, invalid_syntax};
use crate::{Condition, Error, Result};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&POINT, &LINE, &LSEG, &BOX, &PATH, &POLYGON, &CIRCLE];

type Input = fn(&str, &Settings) -> Result<Value>;
type Receive = fn(&[u8]) -> Result<Value>;
type Send = fn(&mut Vec<u8>, ValueRef<'_>) -> Result<()>;

const fn shape(name: &'static str, oid: u32, input: Input, receive: Receive, send: Send) -> Scalar {
    Scalar {
        name,
        words: name,
        oid,
        // A box has commas of its own.
        delimiter: if oid == 603 { ';' } else { ',' },
        storage: Storage::Text,
        order: Order::None,
        modifiers: Modifiers::None,
        casts: Casts::TEXT,
        input,
        output: as_stored,
        receive,
        send,
    }
}

/// A point: `(x,y)`.
pub static POINT: Scalar = shape(
    "point",
    600,
    |text, _| Ok(Value::Text(print_point(parse_point(text)?))),
    |bytes| Ok(Value::Text(print_point(floats::<2>(bytes, "point")?))),
    |out, value| {
        put(out, &parse_point(stored_text(value)?)?);
        Ok(())
    },
);

/// An infinite line, `{A,B,C}` of Ax + By + C = 0.
pub static LINE: Scalar = shape(
    "line",
    628,
    |text, _| Ok(Value::Text(print_line(parse_line(text)?))),
    |bytes| {
        let line = floats::<3>(bytes, "line")?;
        if line[0] == 0.0 && line[1] == 0.0 {
            return Err(Error::new(
                Condition::InvalidBinaryRepresentation,
                "invalid line specification: A and B cannot both be zero",
            ));
        }
        Ok(Value::Text(print_line(line)))
    },
    |out, value| {
        put(out, &parse_line(stored_text(value)?)?);
        Ok(())
    },
);

/// A line between two points.
pub static LSEG: Scalar = shape(
    "lseg",
    601,
    |text, _| Ok(Value::Text(print_points("[", &pair(text, "lseg", true)?, "]"))),
    |bytes| {
        let [a, b, c, d] = floats(bytes, "lseg")?;
        Ok(Value::Text(print_points("[", &[[a, b], [c, d]], "]")))
    },
    |out, value| {
        put_points(out, &pair(stored_text(value)?, "lseg", true)?);
        Ok(())
    },
);

/// A rectangle, told by its upper right and lower left corners.
pub static BOX: Scalar = shape(
    "box",
    603,
    |text, _| Ok(Value::Text(print_points("", &corners(pair(text, "box", false)?), ""))),
    |bytes| {
        let [a, b, c, d] = floats(bytes, "box")?;
        Ok(Value::Text(print_points("", &corners([[a, b], [c, d]]), "")))
    },
    |out, value| {
        put_points(out, &pair(stored_text(value)?, "box", false)?);
        Ok(())
    },
);

/// Points one after the other, open or closed.
pub static PATH: Scalar = shape(
    "path",
    602,
    |text, _| Ok(Value::Text(parse_path(text)?.print())),
    |bytes| {
        let wrong = || malformed("path");
        let (closed, rest) = bytes.split_first().ok_or_else(wrong)?;
        let points = counted(rest, "path")?;
        Ok(Value::Text(Path { open: *closed == 0, points }.print()))
    },
    |out, value| {
        let path = parse_path(stored_text(value)?)?;
        out.push(u8::from(!path.open));
        out.extend_from_slice(&(path.points.len() as u32).to_be_bytes());
        put_points(out, &path.points);
        Ok(())
    },
);

/// A closed figure.
pub static POLYGON: Scalar = shape(
    "polygon",
    604,
    |text, _| Ok(Value::Text(print_points("(", &parse_polygon(text)?, ")"))),
    |bytes| Ok(Value::Text(print_points("(", &counted(bytes, "polygon")?, ")"))),
    |out, value| {
        let points = parse_polygon(stored_text(value)?)?;
        out.extend_from_slice(&(points.len() as u32).to_be_bytes());
        put_points(out, &points);
        Ok(())
    },
);

/// A circle: `<(x,y),r>`.
pub static CIRCLE: Scalar = shape(
    "circle",
    718,
    |text, _| Ok(Value::Text(print_circle(parse_circle(text)?))),
    |bytes| {
        let circle = floats::<3>(bytes, "circle")?;
        if circle[2] < 0.0 {
            return Err(Error::new(
                Condition::InvalidBinaryRepresentation,
                "invalid radius in external \"circle\" value",
            ));
        }
        Ok(Value::Text(print_circle(circle)))
    },
    |out, value| {
        put(out, &parse_circle(stored_text(value)?)?);
        Ok(())
    },
);

type Point = [f64; 2];

struct Path {
    open: bool,
    points: Vec<Point>,
}

impl Path {
    fn print(&self) -> String {
        if self.open { print_points("[", &self.points, "]") } else { print_points("(", &self.points, ")") }
    }
}

/// A text that is read from its beginning.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        let mut cursor = Self { rest: text };
        cursor.skip();
        cursor
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    }

    /// Takes a character, and the blanks behind it.
    fn take(&mut self, wanted: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(wanted)?;
        self.skip();
        Some(())
    }

    fn number(&mut self) -> Option<f64> {
        let end = self.rest.find([',', ')', ']', '>', '}', '(', ' ', '\t', '\n', '\r']).unwrap_or(self.rest.len());
        let number = float::parse8(&self.rest[..end]).ok()?;
        self.rest = &self.rest[end..];
        self.skip();
        Some(number)
    }

    /// Two numbers, in parentheses or bare.
    fn point(&mut self) -> Option<Point> {
        let enclosed = self.take('(').is_some();
        let x = self.number()?;
        self.take(',')?;
        let y = self.number()?;
        if enclosed {
            self.take(')')?;
        }
        Some([x, y])
    }

    /// So many points, with or without marks around them; true when the mark is a bracket, which only some shapes have.
    fn points(&mut self, count: usize, may_be_open: bool) -> Option<(bool, Vec<Point>)> {
        let open = self.rest.starts_with('[');
        if open && !may_be_open {
            return None;
        }
        let mut depth = 0;
        if open {
            self.take('[')?;
            depth = 1;
        } else if self.rest.starts_with('(') {
            let mut inside = *self;
            inside.take('(')?;
            // A parenthesis of its own, unless it is the first point's.
            if inside.rest.starts_with('(') || self.rest.rfind('(') == Some(0) {
                *self = inside;
                depth = 1;
            }
        }
        let mut points = Vec::with_capacity(count.min(self.rest.len()));
        for _ in 0..count {
            points.push(self.point()?);
            let _ = self.take(',');
        }
        if depth > 0 {
            match self.rest.chars().next()? {
                ')' => self.take(')')?,
                ']' if open => self.take(']')?,
                _ => return None,
            }
        }
        Some((open, points))
    }

    fn end(self) -> Option<()> {
        self.rest.is_empty().then_some(())
    }
}

fn parse_point(text: &str) -> Result<Point> {
    let read = || {
        let mut cursor = Cursor::new(text);
        let point = cursor.point()?;
        cursor.end().map(|()| point)
    };
    read().ok_or_else(|| invalid_syntax("point", text))
}

fn pair(text: &str, name: &'static str, may_be_open: bool) -> Result<[Point; 2]> {
    let read = || {
        let mut cursor = Cursor::new(text);
        let (_, points) = cursor.points(2, may_be_open)?;
        cursor.end()?;
        <[Point; 2]>::try_from(points).ok()
    };
    read().ok_or_else(|| invalid_syntax(name, text))
}

/// The upper right corner, and the lower left.
fn corners([a, b]: [Point; 2]) -> [Point; 2] {
    let high = [if a[0] < b[0] { b[0] } else { a[0] }, if a[1] < b[1] { b[1] } else { a[1] }];
    let low = [if a[0] < b[0] { a[0] } else { b[0] }, if a[1] < b[1] { a[1] } else { b[1] }];
    [high, low]
}

/// How many points a text of numbers and commas has.
fn count_points(text: &str) -> Option<usize> {
    let commas = text.matches(',').count();
    (commas % 2 == 1).then_some(commas.div_ceil(2))
}

fn parse_path(text: &str) -> Result<Path> {
    let read = || {
        let count = count_points(text)?;
        let mut cursor = Cursor::new(text);
        let (open, points) = cursor.points(count, true)?;
        cursor.end().map(|()| Path { open, points })
    };
    read().ok_or_else(|| invalid_syntax("path", text))
}

fn parse_polygon(text: &str) -> Result<Vec<Point>> {
    let read = || {
        let count = count_points(text)?;
        let mut cursor = Cursor::new(text);
        let (_, points) = cursor.points(count, false)?;
        cursor.end().map(|()| points)
    };
    read().ok_or_else(|| invalid_syntax("polygon", text))
}

fn parse_circle(text: &str) -> Result<[f64; 3]> {
    let read = || {
        let mut cursor = Cursor::new(text);
        let mut marks = Vec::new();
        if cursor.take('<').is_some() {
            marks.push('>');
        } else if cursor.rest.starts_with('(') {
            let mut inside = cursor;
            inside.take('(')?;
            if inside.rest.starts_with('(') {
                cursor = inside;
                marks.push(')');
            }
        }
        let [x, y] = cursor.point()?;
        cursor.take(',')?;
        let radius = cursor.number()?;
        for mark in marks {
            cursor.take(mark)?;
        }
        cursor.end()?;
        // A radius that is no number is one, too.
        (radius >= 0.0 || radius.is_nan()).then_some([x, y, radius])
    };
    read().ok_or_else(|| invalid_syntax("circle", text))
}

fn parse_line(text: &str) -> Result<[f64; 3]> {
    let wrong =
        |why: &str| Error::new(Condition::InvalidTextRepresentation, format!("invalid line specification: {why}"));
    let mut cursor = Cursor::new(text);
    if cursor.take('{').is_some() {
        let mut read = || {
            let a = cursor.number()?;
            cursor.take(',')?;
            let b = cursor.number()?;
            cursor.take(',')?;
            let c = cursor.number()?;
            cursor.take('}')?;
            cursor.end().map(|()| [a, b, c])
        };
        let line = read().ok_or_else(|| invalid_syntax("line", text))?;
        if line[0] == 0.0 && line[1] == 0.0 {
            return Err(wrong("A and B cannot both be zero"));
        }
        return Ok(line);
    }
    let [[x1, y1], [x2, y2]] = pair(text, "line", true)?;
    if x1 == x2 && y1 == y2 {
        return Err(wrong("must be two distinct points"));
    }
    Ok(if x1 == x2 {
        [-1.0, 0.0, x1]
    } else if y1 == y2 {
        [0.0, -1.0, y1]
    } else {
        let slope = (y2 - y1) / (x2 - x1);
        // No negative zero.
        [slope, -1.0, y1 - slope * x1 + 0.0]
    })
}

fn push_number(out: &mut String, number: f64) {
    let mut digits = Vec::new();
    float::write8(&mut digits, number, &Settings::default());
    out.push_str(&String::from_utf8_lossy(&digits));
}

fn push_numbers(out: &mut String, numbers: &[f64]) {
    for (at, number) in numbers.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        push_number(out, *number);
    }
}

fn print_point(point: Point) -> String {
    print_points("", &[point], "")
}

fn print_points(before: &str, points: &[Point], behind: &str) -> String {
    let mut out = before.to_owned();
    for (at, point) in points.iter().enumerate() {
        out.push_str(if at > 0 { ",(" } else { "(" });
        push_numbers(&mut out, point);
        out.push(')');
    }
    out.push_str(behind);
    out
}

fn print_line(line: [f64; 3]) -> String {
    let mut out = "{".to_owned();
    push_numbers(&mut out, &line);
    out.push('}');
    out
}

fn print_circle([x, y, radius]: [f64; 3]) -> String {
    let mut out = format!("<{},", print_point([x, y]));
    push_number(&mut out, radius);
    out.push('>');
    out
}

/// So many floats, and nothing else.
fn floats<const N: usize>(bytes: &[u8], name: &str) -> Result<[f64; N]> {
    let numbers: Vec<f64> =
        bytes.chunks_exact(8).map(|eight| f64::from_be_bytes(eight.try_into().unwrap_or_default())).collect();
    if bytes.len() == N * 8 { numbers.try_into().map_err(|_| malformed(name)) } else { Err(malformed(name)) }
}

/// A number of points, and so many.
fn counted(bytes: &[u8], name: &str) -> Result<Vec<Point>> {
    let (count, points) = bytes.split_first_chunk::<4>().ok_or_else(|| malformed(name))?;
    let count = u32::from_be_bytes(*count) as usize;
    if count == 0 || !points.len().is_multiple_of(16) || points.len() / 16 != count {
        return Err(malformed(name));
    }
    points.chunks_exact(16).map(|point| floats::<2>(point, name)).collect()
}

fn put(out: &mut Vec<u8>, numbers: &[f64]) {
    for number in numbers {
        out.extend_from_slice(&number.to_be_bytes());
    }
}

fn put_points(out: &mut Vec<u8>, points: &[Point]) {
    for point in points {
        put(out, point);
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_trip::{check, refuses};
    use super::*;

    /// Recorded from PostgreSQL 15.
    #[test]
    fn shapes_are_read_and_printed_as_postgresql_does() {
        check(&POINT, &[("1,2", "(1,2)"), (" ( 1 , 2 ) ", "(1,2)"), ("(1e300,-0)", "(1e+300,-0)")]);
        for form in ["1,2,3,4", "((1,2),(3,4))", "[(1,2),(3,4)]", "(1,2),(3,4)", "[1,2,3,4]"] {
            check(&LSEG, &[(form, "[(1,2),(3,4)]")]);
        }
        check(&BOX, &[("1,2,3,4", "(3,4),(1,2)"), ("((5,1),(2,7))", "(5,7),(2,1)")]);
        for form in ["1,2,3,4", "((1,2),(3,4))", "(1,2),(3,4)", "(1,2,3,4)"] {
            check(&PATH, &[(form, "((1,2),(3,4))")]);
            check(&POLYGON, &[(form, "((1,2),(3,4))")]);
        }
        check(&PATH, &[("[1,2]", "[(1,2)]"), ("[(1,2),(3,4))", "[(1,2),(3,4)]")]);
        for form in ["<(1,2),3>", "((1,2),3)", "(1,2),3", "1,2,3", "<1,2,3>"] {
            check(&CIRCLE, &[(form, "<(1,2),3>")]);
        }
        check(
            &LINE,
            &[
                ("{ 1 , 2,3 }", "{1,2,3}"),
                ("[(1,2),(3,4)]", "{1,-1,1}"),
                ("(0,0),(6,6)", "{1,-1,0}"),
                ("1,2,1,5", "{-1,0,1}"),
                ("1,2,3,2", "{0,-1,2}"),
            ],
        );
    }

    #[test]
    fn what_is_no_shape_is_refused() {
        let cases: &[(&Scalar, &[&str])] = &[
            (&POINT, &["", "(1,2", "1,2)", "(1,2,3)", "(1,2) x"]),
            (&LSEG, &["(1,2),(3,4"]),
            (&PATH, &["", "[]", "(1,2),3"]),
            (&POLYGON, &["", "((1,2),(3,4)", "[(1,2)]"]),
            (&CIRCLE, &["<(1,2),-3>", "1,2", "(1,2,3)"]),
            (&LINE, &["{1,2}", "x"]),
        ];
        for (scalar, texts) in cases {
            for text in *texts {
                refuses(scalar, &[(text, &format!("invalid input syntax for type {}: \"{text}\"", scalar.name))]);
            }
        }
        refuses(&LINE, &[("{0,0,1}", "invalid line specification: A and B cannot both be zero")]);
        refuses(&LINE, &[("(1,1),(1,1)", "invalid line specification: must be two distinct points")]);
    }
}
