//! `point`, `line`, `lseg`, `box`, `path`, `polygon`, `circle`: read, printed, sent, converted.
//!
//! Stored as PostgreSQL prints them with all digits. None has an order that a key could use; their comparisons are
//! functions, and most of them loose.

use super::{Casts, Modifiers, Order, Scalar, malformed, stored_text};
use crate::ir::Value;
use crate::types::Storage;
use crate::values::geometry::text::{self, Shape};
use crate::values::geometry::{Circle, Line, Path, Point, Polygon, Rect, Segment};
use crate::values::{Settings, ValueRef};
use crate::{Condition, Error, Result, Type};

/// The rows.
pub(super) static ROWS: &[&Scalar] = &[&POINT, &LINE, &LSEG, &BOX, &PATH, &POLYGON, &CIRCLE];

type Input = fn(&str, &Settings) -> Result<Value>;
type Output = fn(&mut Vec<u8>, ValueRef<'_>, &Settings) -> Result<()>;
type Receive = fn(&[u8]) -> Result<Value>;
type Send = fn(&mut Vec<u8>, ValueRef<'_>) -> Result<()>;

type Into = fn(&Value, &Type) -> Option<Result<Value>>;

const fn shape(
    name: &'static str,
    oid: u32,
    into: Into,
    input: Input,
    output: Output,
    receive: Receive,
    send: Send,
) -> Scalar {
    Scalar {
        name,
        words: name,
        oid,
        // A box has commas of its own.
        delimiter: if oid == 603 { ';' } else { ',' },
        storage: Storage::Text,
        order: Order::None,
        modifiers: Modifiers::None,
        casts: Casts { from: |_, _, _| None, into },
        input,
        output,
        receive,
        send,
    }
}

/// Stores a shape.
fn stored(shape: &impl Shape) -> Result<Value> {
    Ok(Value::Text(shape.print()))
}

/// Prints a stored shape, with fewer digits than it has where the session wants that.
fn print<S: Shape>(
    out: &mut Vec<u8>,
    value: ValueRef<'_>,
    settings: &Settings,
    read: fn(&str) -> Result<S>,
) -> Result<()> {
    let stored = stored_text(value)?;
    if settings.extra_float_digits > 0 {
        out.extend_from_slice(stored.as_bytes());
    } else {
        read(stored)?.write(out, settings);
    }
    Ok(())
}

/// A point: `(x,y)`.
pub static POINT: Scalar = shape(
    "point",
    600,
    |value, to| into(value, to, text::point, |point, to| (to == "box").then(|| stored(&Rect::between(point, point)))),
    |given, _| stored(&text::point(given)?),
    |out, value, settings| print(out, value, settings, text::point),
    |bytes| {
        let [x, y] = floats(bytes, "point")?;
        stored(&Point::new(x, y))
    },
    |out, value| {
        put_points(out, &[text::point(stored_text(value)?)?]);
        Ok(())
    },
);

/// An infinite line, `{A,B,C}` of Ax + By + C = 0.
pub static LINE: Scalar = shape(
    "line",
    628,
    |_, _| None,
    |given, _| stored(&text::line(given)?),
    |out, value, settings| print(out, value, settings, text::line),
    |bytes| {
        let [a, b, c] = floats(bytes, "line")?;
        if a == 0.0 && b == 0.0 {
            return Err(Error::new(
                Condition::InvalidBinaryRepresentation,
                "invalid line specification: A and B cannot both be zero",
            ));
        }
        stored(&Line { a, b, c })
    },
    |out, value| {
        let line = text::line(stored_text(value)?)?;
        put(out, &[line.a, line.b, line.c]);
        Ok(())
    },
);

/// A line between two points.
pub static LSEG: Scalar = shape(
    "lseg",
    601,
    |value, to| into(value, to, text::segment, |segment, to| (to == "point").then(|| stored(&segment.middle()?))),
    |given, _| stored(&text::segment(given)?),
    |out, value, settings| print(out, value, settings, text::segment),
    |bytes| {
        let [a, b, c, d] = floats(bytes, "lseg")?;
        stored(&Segment::new(Point::new(a, b), Point::new(c, d)))
    },
    |out, value| {
        let segment = text::segment(stored_text(value)?)?;
        put_points(out, &[segment.start, segment.end]);
        Ok(())
    },
);

/// A rectangle, told by its upper right and lower left corners.
pub static BOX: Scalar = shape(
    "box",
    603,
    |value, to| {
        into(value, to, text::rect, |rect, to| match to {
            "point" => Some(rect.center().and_then(|point| stored(&point))),
            "lseg" => Some(stored(&rect.diagonal())),
            "polygon" => Some(stored(&Polygon::from(rect))),
            "circle" => Some(Circle::around(rect).and_then(|circle| stored(&circle))),
            _ => None,
        })
    },
    |given, _| stored(&text::rect(given)?),
    |out, value, settings| print(out, value, settings, text::rect),
    |bytes| {
        let [a, b, c, d] = floats(bytes, "box")?;
        stored(&Rect::between(Point::new(a, b), Point::new(c, d)))
    },
    |out, value| {
        let rect = text::rect(stored_text(value)?)?;
        put_points(out, &[rect.high, rect.low]);
        Ok(())
    },
);

/// Points one after the other, open or closed.
pub static PATH: Scalar = shape(
    "path",
    602,
    |value, to| into(value, to, text::path, |path, to| (to == "polygon").then(|| stored(&path.into_polygon()?))),
    |given, _| stored(&text::path(given)?),
    |out, value, settings| print(out, value, settings, text::path),
    |bytes| {
        let (closed, rest) = bytes.split_first().ok_or_else(|| malformed("path"))?;
        stored(&Path { open: *closed == 0, points: counted(rest, "path")? })
    },
    |out, value| {
        let path = text::path(stored_text(value)?)?;
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
    |value, to| {
        into(value, to, text::polygon, |polygon, to| match to {
            "point" => Some(polygon.circle().and_then(|circle| stored(&circle.center))),
            "path" => Some(stored(&polygon.into_path())),
            "box" => Some(stored(&polygon.bounds())),
            "circle" => Some(polygon.circle().and_then(|circle| stored(&circle))),
            _ => None,
        })
    },
    |given, _| stored(&text::polygon(given)?),
    |out, value, settings| print(out, value, settings, text::polygon),
    |bytes| stored(&Polygon { points: counted(bytes, "polygon")? }),
    |out, value| {
        let points = text::polygon(stored_text(value)?)?.points;
        out.extend_from_slice(&(points.len() as u32).to_be_bytes());
        put_points(out, &points);
        Ok(())
    },
);

/// A circle: `<(x,y),r>`.
pub static CIRCLE: Scalar = shape(
    "circle",
    718,
    |value, to| {
        into(value, to, text::circle, |circle, to| match to {
            "point" => Some(stored(&circle.center)),
            "box" => Some(circle.inner_rect().and_then(|rect| stored(&rect))),
            "polygon" => Some(circle.polygon(Circle::SIDES).and_then(|polygon| stored(&polygon))),
            _ => None,
        })
    },
    |given, _| stored(&text::circle(given)?),
    |out, value, settings| print(out, value, settings, text::circle),
    |bytes| {
        let [x, y, radius] = floats(bytes, "circle")?;
        if radius < 0.0 {
            return Err(Error::new(
                Condition::InvalidBinaryRepresentation,
                "invalid radius in external \"circle\" value",
            ));
        }
        stored(&Circle { center: Point::new(x, y), radius })
    },
    |out, value| {
        let circle = text::circle(stored_text(value)?)?;
        put(out, &[circle.center.x, circle.center.y, circle.radius]);
        Ok(())
    },
);

/// A conversion of a stored shape into another type: `make` says into which there is one.
fn into<S>(
    value: &Value,
    to: &Type,
    read: fn(&str) -> Result<S>,
    make: impl FnOnce(S, &str) -> Option<Result<Value>>,
) -> Option<Result<Value>> {
    let (Value::Text(text), Type::Scalar(to, _)) = (value, to) else { return None };
    match read(text) {
        Ok(shape) => make(shape, to.name),
        Err(error) => Some(Err(error)),
    }
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
    let point = |bytes| floats(bytes, name).map(|[x, y]| Point::new(x, y));
    points.chunks_exact(16).map(point).collect()
}

fn put(out: &mut Vec<u8>, numbers: &[f64]) {
    for number in numbers {
        out.extend_from_slice(&number.to_be_bytes());
    }
}

fn put_points(out: &mut Vec<u8>, points: &[Point]) {
    for point in points {
        put(out, &[point.x, point.y]);
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
