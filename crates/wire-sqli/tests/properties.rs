//! Values come back from the wire as they went, of every type, alone and in rows; bytes and texts that are none are
//! refused, and never more than that happens.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rowferry_wire_sqli::types::TimeUnit;
use rowferry_wire_sqli::values::composite::{self, CompositeType, Element, Node};
use rowferry_wire_sqli::values::{Base100, Cell, CellFormat, DateTime, Interval, decode_row, encode_row};
use rowferry_wire_sqli::{CodeSet, Qualifier, TypeCode};

/// The same cases in every run: a pull request is never red by luck.
fn check<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    if let Err(failure) = TestRunner::new_with_rng(config, rng).run(strategy, test) {
        panic!("{failure}");
    }
}

const UNITS: [TimeUnit; 6] =
    [TimeUnit::YEAR, TimeUnit::MONTH, TimeUnit::DAY, TimeUnit::HOUR, TimeUnit::MINUTE, TimeUnit::SECOND];

/// Every qualifier of a DATETIME.
fn moments() -> Vec<Qualifier> {
    let mut found = Vec::new();
    for (at, &first) in UNITS.iter().enumerate() {
        found.extend(UNITS[at..].iter().map(|&last| Qualifier::datetime(first, last)));
        found.extend((1..=5).map(|digits| Qualifier::datetime(first, TimeUnit(10 + digits))));
    }
    found.extend((1..=5).map(|digits| Qualifier::datetime(TimeUnit::FRACTION, TimeUnit(10 + digits))));
    found
}

/// Every qualifier of an INTERVAL, with each precision of its first field.
fn spans() -> Vec<Qualifier> {
    let mut found = Vec::new();
    for precision in 1..=9 {
        for (first, last) in [(0, 0), (0, 2), (2, 2)] {
            found.push(Qualifier::interval(TimeUnit(first), precision, TimeUnit(last)));
        }
        for first in [4, 6, 8, 10] {
            for last in [4, 6, 8, 10, 11, 12, 13, 14, 15] {
                if last >= first {
                    found.push(Qualifier::interval(TimeUnit(first), precision, TimeUnit(last)));
                }
            }
        }
    }
    found.extend((1..=5).map(|digits| Qualifier::interval(TimeUnit::FRACTION, digits, TimeUnit(10 + digits))));
    found
}

/// A decimal column with a value in it.
fn decimal() -> impl Strategy<Value = (CellFormat, String)> {
    (1_u8..=32, any::<bool>()).prop_flat_map(|(precision, floats)| {
        let scale = if floats { Just(None).boxed() } else { (0..=precision).prop_map(Some).boxed() };
        (scale, "[0-9]{32}", any::<bool>()).prop_map(move |(scale, digits, negative)| {
            let digits = &digits[..usize::from(precision)];
            let (whole, fraction) = digits.split_at(usize::from(precision - scale.unwrap_or(0)));
            let sign = if negative { "-" } else { "" };
            (CellFormat::Decimal { precision, scale }, format!("{sign}{whole}.{fraction}"))
        })
    })
}

fn moment() -> impl Strategy<Value = (Qualifier, DateTime)> {
    let fields = (1_u16..=9999, 1_u8..=12, 1_u8..=28, 0_u8..=23, 0_u8..=59, 0_u8..=59, 0_u32..100_000);
    (proptest::sample::select(moments()), fields).prop_map(|(qualifier, fields)| {
        let (year, month, day, hour, minute, second, tens) = fields;
        let has = |unit: TimeUnit| qualifier.first().0 <= unit.0 && unit.0 <= qualifier.last().0;
        let unit = 10_u32.pow(6 - u32::from(qualifier.fraction_digits()));
        let micros = if qualifier.fraction_digits() > 0 { tens * 10 / unit * unit } else { 0 };
        let value = DateTime {
            year: if has(TimeUnit::YEAR) { year } else { 0 },
            month: if has(TimeUnit::MONTH) { month } else { 0 },
            day: if has(TimeUnit::DAY) { day } else { 0 },
            hour: if has(TimeUnit::HOUR) { hour } else { 0 },
            minute: if has(TimeUnit::MINUTE) { minute } else { 0 },
            second: if has(TimeUnit::SECOND) { second } else { 0 },
            micros,
        };
        (qualifier, value)
    })
}

fn span() -> impl Strategy<Value = (Qualifier, Interval)> {
    (proptest::sample::select(spans()), any::<u64>(), any::<bool>(), 0_u32..100_000).prop_map(
        |(qualifier, size, negative, tens)| {
            let first = qualifier.first();
            let limit = 10_u64.pow(u32::from(qualifier.first_digits()));
            if qualifier.is_year_month() {
                let months = match (first, qualifier.last()) {
                    (TimeUnit::YEAR, TimeUnit::YEAR) => size % limit * 12,
                    (TimeUnit::YEAR, _) => size % (limit * 12),
                    _ => size % limit,
                };
                return (qualifier, Interval::YearMonth(if negative { -(months as i64) } else { months as i64 }));
            }
            let seconds_in = |unit: TimeUnit| match unit.0 {
                4 => 86_400,
                6 => 3_600,
                8 => 60,
                _ => 1,
            };
            let seconds = if first == TimeUnit::FRACTION { 0 } else { size % (limit * seconds_in(first)) };
            let seconds = seconds / seconds_in(qualifier.last()) * seconds_in(qualifier.last());
            let unit = 10_u32.pow(6 - u32::from(qualifier.fraction_digits()));
            let micros = if qualifier.fraction_digits() > 0 { tens * 10 / unit * unit } else { 0 };
            let negative = negative && (seconds > 0 || micros > 0);
            (qualifier, Interval::DayTime { negative, seconds, micros })
        },
    )
}

/// A column with a value for it, which the cell borrows.
#[derive(Clone, Debug)]
enum Held {
    Null,
    Int(i64),
    Float(f64),
    Decimal(Base100),
    Date(i32),
    Moment(DateTime),
    Span(Interval),
    Boolean(bool),
    Text(Vec<u8>),
    Opaque(Vec<u8>),
}

impl Held {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Null,
            Self::Int(value) => Cell::Int(*value),
            Self::Float(value) => Cell::Float(*value),
            Self::Decimal(value) => Cell::Decimal(*value),
            Self::Date(value) => Cell::Date(*value),
            Self::Moment(value) => Cell::DateTime(*value),
            Self::Span(value) => Cell::Interval(*value),
            Self::Boolean(value) => Cell::Boolean(*value),
            Self::Text(value) => Cell::Text(value),
            Self::Opaque(value) => Cell::Opaque(value),
        }
    }
}

fn column() -> impl Strategy<Value = (CellFormat, Held)> {
    let bytes = || proptest::collection::vec(1_u8.., 0..40);
    let value = prop_oneof![
        (-32_767_i64..=32_767).prop_map(|value| (CellFormat::SmallInt, Held::Int(value))),
        (-2_147_483_647_i64..=2_147_483_647).prop_map(|value| (CellFormat::Integer, Held::Int(value))),
        (i64::MIN + 1..=i64::MAX).prop_map(|value| (CellFormat::BigInt, Held::Int(value))),
        (i64::MIN + 1..=i64::MAX).prop_map(|value| (CellFormat::Int8, Held::Int(value))),
        proptest::num::f64::NORMAL.prop_map(|value| (CellFormat::Float, Held::Float(value))),
        decimal().prop_map(|(format, text)| {
            let CellFormat::Decimal { precision, scale } = format else { unreachable!() };
            (format, Held::Decimal(Base100::from_text(&text, precision, scale).unwrap()))
        }),
        (i32::MIN + 1..=i32::MAX).prop_map(|days| (CellFormat::Date, Held::Date(days))),
        moment().prop_map(|(qualifier, value)| (CellFormat::DateTime(qualifier), Held::Moment(value))),
        span().prop_map(|(qualifier, value)| (CellFormat::Interval(qualifier), Held::Span(value))),
        any::<bool>().prop_map(|flag| (CellFormat::BooleanText, Held::Boolean(flag))),
        any::<bool>().prop_map(|flag| (CellFormat::BooleanBinary, Held::Boolean(flag))),
        bytes().prop_map(|bytes| (CellFormat::VarChar(255), Held::Text(bytes))),
        bytes().prop_map(|bytes| (CellFormat::LongText, Held::Text(bytes))),
        bytes().prop_map(|bytes| (CellFormat::Opaque, Held::Opaque(bytes))),
        bytes().prop_map(|mut bytes| {
            bytes.push(b'x');
            (CellFormat::Char(bytes.len()), Held::Text(bytes))
        }),
    ];
    (value, 0_u8..8).prop_map(|((format, held), dice)| (format, if dice == 0 { Held::Null } else { held }))
}

#[test]
fn decimals_come_back_with_all_their_digits() {
    check(&decimal(), |(format, text)| {
        let CellFormat::Decimal { precision, scale } = format else { unreachable!() };
        let number = Base100::from_text(&text, precision, scale).unwrap();
        let mut out = Vec::new();
        format.encode(&Cell::Decimal(number), &mut out).unwrap();
        prop_assert_eq!(Some(out.len()), format.fixed_width());
        let back = Base100::decode(&out).unwrap().unwrap();
        prop_assert_eq!(back, number);
        prop_assert_eq!(Base100::from_text(&back.to_text(scale), precision, scale).unwrap(), number);
        if let Some(scale) = scale {
            let digits: String = text.chars().filter(|&c| c != '.').collect();
            prop_assert_eq!(back.unscaled(scale), digits.parse::<i128>().ok());
        }
        Ok(())
    });
}

#[test]
fn moments_and_spans_come_back_from_wire_and_text() {
    check(&moment(), |(qualifier, value)| {
        let mut out = Vec::new();
        value.encode(qualifier, &mut out).unwrap();
        prop_assert_eq!(out.len(), qualifier.width());
        // Year 1 to 9999 are the only numbers that cannot be NULL; midnight of a time of day is zero, not NULL.
        prop_assert_eq!(DateTime::decode(&out, qualifier).unwrap(), Some(value));
        prop_assert_eq!(DateTime::from_text(&value.to_text(qualifier), qualifier), Ok(value));
        Ok(())
    });
    check(&span(), |(qualifier, value)| {
        let mut out = Vec::new();
        value.encode(qualifier, &mut out).unwrap();
        prop_assert_eq!(out.len(), qualifier.width());
        prop_assert_eq!(Interval::decode(&out, qualifier).unwrap(), Some(value));
        prop_assert_eq!(Interval::from_text(&value.to_text(qualifier), qualifier), Ok(value));
        Ok(())
    });
}

#[test]
fn rows_are_consumed_to_the_byte_whatever_stands_beside_whatever() {
    check(&proptest::collection::vec(column(), 1..12), |columns| {
        let (formats, held): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let cells: Vec<_> = held.iter().map(Held::cell).collect();
        let mut row = Vec::new();
        encode_row(&formats, &cells, &mut row).unwrap();
        prop_assert_eq!(decode_row(&formats, &row).unwrap(), cells);
        for cut in 0..row.len() {
            prop_assert!(decode_row(&formats, &row[..cut]).is_err(), "cut at {}", cut);
        }
        row.push(0);
        prop_assert!(decode_row(&formats, &row).is_err());
        Ok(())
    });
}

#[test]
fn any_bytes_are_a_row_or_refused() {
    let formats = proptest::collection::vec(column().prop_map(|(format, _)| format), 1..6);
    check(&(formats, proptest::collection::vec(any::<u8>(), 0..60)), |(formats, bytes)| {
        if let Ok(cells) = decode_row(&formats, &bytes) {
            prop_assert_eq!(cells.len(), formats.len());
        }
        Ok(())
    });
}

/// A collection or row with its type, nested at most three times.
fn literal() -> impl Strategy<Value = (String, String)> {
    let leaf = prop_oneof![
        (any::<i64>()).prop_map(|number| ("bigint".to_owned(), number.to_string())),
        "[a-z'{}(), ]{0,8}".prop_map(|text| ("varchar(20)".to_owned(), format!("'{}'", text.replace('\'', "''")))),
        Just(("integer".to_owned(), "NULL".to_owned())),
        Just(("date".to_owned(), "'2026-02-28'".to_owned())),
        Just(("decimal(8,2)".to_owned(), "-12.50      ".to_owned())),
        Just(("datetime hour to minute".to_owned(), "'23:59'".to_owned())),
    ];
    let nested = leaf.prop_recursive(3, 24, 4, |inner| {
        let row = proptest::collection::vec(inner.clone(), 1..4).prop_map(|fields| {
            let types: Vec<_> = fields.iter().enumerate().map(|(at, (ty, _))| format!("f{at} {ty}")).collect();
            let values: Vec<_> = fields.iter().map(|(_, value)| value.as_str()).collect();
            (format!("ROW({})", types.join(", ")), format!("ROW({})", values.join(",")))
        });
        let list = (inner, 0_usize..4).prop_map(|((ty, value), count)| {
            (format!("LIST({ty} not null)"), format!("LIST{{{}}}", vec![value; count].join(",")))
        });
        prop_oneof![row, list]
    });
    nested.prop_map(|(ty, value)| (format!("ROW(x {ty})"), format!("ROW({value})")))
}

fn members(element: &Element<'_>) -> usize {
    match element {
        Element::Row(inner, ..) | Element::Collection(inner, ..) => 1 + inner.iter().map(members).sum::<usize>(),
        _ => 1,
    }
}

#[test]
fn rows_and_collections_are_read_however_deep() {
    check(&literal(), |(ty, text)| {
        let ty = CompositeType::from_text(&ty).map_err(|_| TestCaseError::fail("type"))?;
        let element = ty.parse(text.as_bytes()).map_err(|_| TestCaseError::fail(format!("{ty:?} {text}")))?;
        prop_assert!(members(&element) >= 2);
        let untold = CompositeType::Row(None);
        let told = untold.parse(text.as_bytes()).map_err(|_| TestCaseError::fail(text.clone()))?;
        prop_assert_eq!(members(&told), members(&element));
        for cut in 0..text.len() {
            prop_assert!(ty.parse(&text.as_bytes()[..cut]).is_err(), "cut at {}", cut);
        }
        Ok(())
    });
    check(&("[ROWLISTrow(){}', a-z0-9]{0,40}", proptest::collection::vec(any::<u8>(), 0..60)), |(ty, bytes)| {
        let ty = CompositeType::described(TypeCode::ROW, &ty);
        let _ = ty.parse(&bytes);
        let _ = CompositeType::Row(None).parse(&bytes);
        Ok(())
    });
}

#[test]
fn text_comes_back_from_its_code_set_or_is_refused() {
    let names = ["8859-1", "8859-2", "8859-5", "8859-7", "8859-15", "1250", "1251", "1252", "858", "utf8"];
    check(&(proptest::sample::select(names.to_vec()), ".{0,20}"), |(name, text)| {
        let set = CodeSet::named(name).unwrap();
        let mut bytes = Vec::new();
        if set.encode(&text, &mut bytes).is_ok() {
            let mut back = Vec::new();
            prop_assert_eq!(set.decode(&bytes, &mut back), Ok(()));
            prop_assert_eq!(String::from_utf8(back).unwrap(), text);
        } else {
            prop_assert!(bytes.is_empty());
        }
        Ok(())
    });
}

#[test]
fn a_described_row_with_other_bytes_is_refused_or_read() {
    let node = |name: &str, code, length| Node { name: name.into(), code, length };
    let nodes = [node("a", TypeCode::INTEGER, 4), node("b", TypeCode::VARCHAR, 9), node("c", TypeCode::DATE, 4)];
    let mut good = Vec::new();
    let cells = [vec![0, 0, 0, 5], vec![2, b's', b't'], vec![0, 0, 0, 1]];
    composite::encode(TypeCode::ROW, &nodes, Some(&cells), &mut good).unwrap();
    let changes = proptest::collection::vec((0..good.len(), any::<u8>()), 1..6);
    check(&(changes, 0..good.len()), |(changes, cut)| {
        let mut bytes = good.clone();
        changes.into_iter().for_each(|(at, byte)| bytes[at] = byte);
        let _ = composite::decode(&bytes);
        prop_assert!(composite::decode(&bytes[..cut]).is_err());
        Ok(())
    });
}
