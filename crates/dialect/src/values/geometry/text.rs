//! Shapes as texts.

use super::number::loose;
use super::{Circle, Line, Path, Point, Polygon, Rect, Segment};
use crate::values::{Settings, float, invalid_syntax};
use crate::{Condition, Error, Result};

/// Why a text is not a shape.
enum Fault {
    /// It is not written as one.
    Syntax,
    /// One of its numbers is too large or too small, say.
    Number(Error),
}

type Read<T> = std::result::Result<T, Fault>;

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

    /// Takes a character, and the blanks behind it, if it is there.
    fn has(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                self.skip();
                true
            }
            None => false,
        }
    }

    /// Takes a character that must be there.
    fn take(&mut self, wanted: char) -> Read<()> {
        if self.has(wanted) { Ok(()) } else { Err(Fault::Syntax) }
    }

    fn number(&mut self) -> Read<f64> {
        let end = self.rest.find([',', ')', ']', '>', '}', '(', ' ', '\t', '\n', '\r']).unwrap_or(self.rest.len());
        let number = float::parse8(&self.rest[..end]).map_err(|error| match error.condition {
            Condition::NumericValueOutOfRange => Fault::Number(error),
            _ => Fault::Syntax,
        })?;
        self.rest = &self.rest[end..];
        self.skip();
        Ok(number)
    }

    /// Two numbers, in parentheses or bare.
    fn point(&mut self) -> Read<Point> {
        let enclosed = self.has('(');
        let x = self.number()?;
        self.take(',')?;
        let y = self.number()?;
        if enclosed {
            self.take(')')?;
        }
        Ok(Point::new(x, y))
    }

    /// So many points, with or without marks around them; true when the mark is a bracket, which only some shapes have.
    fn points(&mut self, count: usize, may_be_open: bool) -> Read<(bool, Vec<Point>)> {
        let open = self.rest.starts_with('[');
        let mut enclosed = open;
        if open {
            if !may_be_open {
                return Err(Fault::Syntax);
            }
            self.take('[')?;
        } else if self.rest.starts_with('(') {
            let mut inside = *self;
            inside.take('(')?;
            // A parenthesis of its own, unless it is the first point's.
            if inside.rest.starts_with('(') || self.rest.rfind('(') == Some(0) {
                *self = inside;
                enclosed = true;
            }
        }
        let mut points = Vec::with_capacity(count.min(self.rest.len()));
        for _ in 0..count {
            points.push(self.point()?);
            self.has(',');
        }
        if enclosed && !(self.has(')') || (open && self.has(']'))) {
            return Err(Fault::Syntax);
        }
        Ok((open, points))
    }

    fn end(self) -> Read<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(Fault::Syntax) }
    }
}

/// Reads a whole text.
fn whole<T>(name: &'static str, text: &str, read: impl FnOnce(&mut Cursor<'_>) -> Read<T>) -> Result<T> {
    let mut cursor = Cursor::new(text);
    let read = read(&mut cursor).and_then(|shape| cursor.end().map(|()| shape));
    read.map_err(|fault| match fault {
        Fault::Syntax => invalid_syntax(name, text),
        Fault::Number(error) => error,
    })
}

/// Reads a point.
///
/// # Errors
/// `22P02`, `22003`, as for all of these.
pub fn point(text: &str) -> Result<Point> {
    whole("point", text, |cursor| cursor.point())
}

fn pair(text: &str, name: &'static str, may_be_open: bool) -> Result<[Point; 2]> {
    let (_, points) = whole(name, text, |cursor| cursor.points(2, may_be_open))?;
    <[Point; 2]>::try_from(points).map_err(|_| invalid_syntax(name, text))
}

/// Reads a segment.
///
/// # Errors
/// `22P02`, `22003`
pub fn segment(text: &str) -> Result<Segment> {
    let [start, end] = pair(text, "lseg", true)?;
    Ok(Segment { start, end })
}

/// Reads a rectangle, given by any two opposite corners.
///
/// # Errors
/// `22P02`, `22003`
pub fn rect(text: &str) -> Result<Rect> {
    let [one, other] = pair(text, "box", false)?;
    Ok(Rect::between(one, other))
}

/// How many points a text of numbers and commas has.
fn count_points(name: &'static str, text: &str) -> Result<usize> {
    let commas = text.matches(',').count();
    if commas % 2 == 1 { Ok(commas.div_ceil(2)) } else { Err(invalid_syntax(name, text)) }
}

/// Reads a path.
///
/// # Errors
/// `22P02`, `22003`
pub fn path(text: &str) -> Result<Path> {
    let count = count_points("path", text)?;
    let (open, points) = whole("path", text, |cursor| cursor.points(count, true))?;
    Ok(Path { open, points })
}

/// Reads a polygon.
///
/// # Errors
/// `22P02`, `22003`
pub fn polygon(text: &str) -> Result<Polygon> {
    let count = count_points("polygon", text)?;
    let (_, points) = whole("polygon", text, |cursor| cursor.points(count, false))?;
    Ok(Polygon { points })
}

/// Reads a circle.
///
/// # Errors
/// `22P02`, `22003`
pub fn circle(text: &str) -> Result<Circle> {
    whole("circle", text, |cursor| {
        let mut mark = None;
        if cursor.has('<') {
            mark = Some('>');
        } else if cursor.rest.starts_with('(') {
            let mut inside = *cursor;
            inside.take('(')?;
            if inside.rest.starts_with('(') {
                *cursor = inside;
                mark = Some(')');
            }
        }
        let center = cursor.point()?;
        cursor.has(',');
        let radius = cursor.number()?;
        if let Some(mark) = mark
            && !cursor.has(mark)
        {
            cursor.take(')')?;
        }
        // A radius that is no number is one, too.
        if radius < 0.0 { Err(Fault::Syntax) } else { Ok(Circle { center, radius }) }
    })
}

/// Reads a line: three numbers in braces, or two points.
///
/// # Errors
/// `22P02`, `22003`
pub fn line(text: &str) -> Result<Line> {
    let wrong =
        |why: &str| Error::new(Condition::InvalidTextRepresentation, format!("invalid line specification: {why}"));
    if Cursor::new(text).has('{') {
        let line = whole("line", text, |cursor| {
            cursor.take('{')?;
            let a = cursor.number()?;
            cursor.take(',')?;
            let b = cursor.number()?;
            cursor.take(',')?;
            let c = cursor.number()?;
            cursor.take('}')?;
            Ok(Line { a, b, c })
        })?;
        if loose::zero(line.a) && loose::zero(line.b) {
            return Err(wrong("A and B cannot both be zero"));
        }
        return Ok(line);
    }
    let [one, other] = pair(text, "line", true)?;
    if one.same(other) {
        return Err(wrong("must be two distinct points"));
    }
    Line::of_slope(one, one.slope(other)?)
}

/// A shape that has a text.
pub trait Shape {
    /// Appends its text.
    fn write(&self, out: &mut Vec<u8>, settings: &Settings);

    /// Its text with all digits, as it is stored.
    fn print(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out, &Settings::default());
        String::from_utf8_lossy(&out).into_owned()
    }
}

fn write_numbers(out: &mut Vec<u8>, numbers: &[f64], settings: &Settings) {
    for (at, number) in numbers.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        float::write8(out, *number, settings);
    }
}

fn write_points(out: &mut Vec<u8>, points: &[Point], settings: &Settings) {
    for (at, point) in points.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        point.write(out, settings);
    }
}

impl Shape for Point {
    fn write(&self, out: &mut Vec<u8>, settings: &Settings) {
        out.push(b'(');
        write_numbers(out, &[self.x, self.y], settings);
        out.push(b')');
    }
}

impl Shape for Segment {
    fn write(&self, out: &mut Vec<u8>, settings: &Settings) {
        out.push(b'[');
        write_points(out, &[self.start, self.end], settings);
        out.push(b']');
    }
}

impl Shape for Line {
    fn write(&self, out: &mut Vec<u8>, settings: &Settings) {
        out.push(b'{');
        write_numbers(out, &[self.a, self.b, self.c], settings);
        out.push(b'}');
    }
}

impl Shape for Rect {
    fn write(&self, out: &mut Vec<u8>, settings: &Settings) {
        write_points(out, &[self.high, self.low], settings);
    }
}

impl Shape for Path {
    fn write(&self, out: &mut Vec<u8>, settings: &Settings) {
        out.push(if self.open { b'[' } else { b'(' });
        write_points(out, &self.points, settings);
        out.push(if self.open { b']' } else { b')' });
    }
}

impl Shape for Polygon {
    fn write(&self, out: &mut Vec<u8>, settings: &Settings) {
        out.push(b'(');
        write_points(out, &self.points, settings);
        out.push(b')');
    }
}

impl Shape for Circle {
    fn write(&self, out: &mut Vec<u8>, settings: &Settings) {
        out.push(b'<');
        self.center.write(out, settings);
        out.push(b',');
        float::write8(out, self.radius, settings);
        out.push(b'>');
    }
}
