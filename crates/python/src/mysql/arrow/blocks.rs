//! A block's cells into a column, one loop for each kind of column.

use std::ffi::CString;

use arrow_array::types::ArrowPrimitiveType;
use rowferry_wire::Malformed;
use rowferry_wire_mysql::messages::resultset::DateTime;

use super::cells::{Cell, Cells};
use super::exact::{POWERS, precision_and_scale, unscaled};
use super::{NO_DECIMAL, NO_INTEGER, NO_UTF8, Slot, Wrong, bits, no_date, number};
use crate::arrow::column::{Bytes, Column, Fixed};
use crate::mysql::columns::ZeroDates;
use crate::mysql::spelling::{fixed, parse_int};

impl Slot {
    /// Appends the cells of a block.
    pub fn push_cells(
        &mut self,
        cells: Cells<'_>,
        binary: bool,
        zero_dates: ZeroDates,
        encoding: Option<&CString>,
    ) -> Result<(), Wrong> {
        let bits_as_number = self.bits;
        let encoded = self.encoded;
        match &mut self.column {
            Column::Int8(column) if binary => fill(column, cells, |cell| Ok(i8::from_le_bytes(fixed(cell.body())?))),
            Column::Int16(column) if binary => fill(column, cells, |cell| Ok(i16::from_le_bytes(fixed(cell.body())?))),
            Column::Int32(column) if binary => fill(column, cells, |cell| Ok(i32::from_le_bytes(fixed(cell.body())?))),
            Column::Int64(column) if binary => fill(column, cells, |cell| Ok(i64::from_le_bytes(fixed(cell.body())?))),
            Column::UInt8(column) if binary => fill(column, cells, |cell| Ok(u8::from_le_bytes(fixed(cell.body())?))),
            Column::UInt16(column) if binary => fill(column, cells, |cell| Ok(u16::from_le_bytes(fixed(cell.body())?))),
            Column::UInt32(column) if binary => fill(column, cells, |cell| Ok(u32::from_le_bytes(fixed(cell.body())?))),
            Column::UInt64(column) if binary && !bits_as_number => {
                fill(column, cells, |cell| Ok(u64::from_le_bytes(fixed(cell.body())?)))
            }
            Column::Float64(column) if binary => {
                fill(column, cells, |cell| Ok(f64::from_le_bytes(fixed(cell.body())?)))
            }
            Column::Int8(column) => fill(column, cells, |cell| narrow(signed(cell)?)),
            Column::Int16(column) => fill(column, cells, |cell| narrow(signed(cell)?)),
            Column::Int32(column) => fill(column, cells, |cell| narrow(signed(cell)?)),
            Column::Int64(column) => fill(column, cells, signed),
            Column::UInt8(column) => fill(column, cells, |cell| narrow(unsigned(cell)?)),
            Column::UInt16(column) => fill(column, cells, |cell| narrow(unsigned(cell)?)),
            Column::UInt32(column) => fill(column, cells, |cell| narrow(unsigned(cell)?)),
            Column::UInt64(column) if bits_as_number => fill(column, cells, |cell| bits(cell.body())),
            Column::UInt64(column) => fill(column, cells, unsigned),
            Column::Float64(column) => fill(column, cells, double),
            Column::Decimal(column, data_type) => {
                let (precision, scale) = precision_and_scale(data_type);
                let exact = &*data_type;
                fill(column, cells, |cell| match short_decimal(cell, precision, scale) {
                    Some(value) => Ok(i128::from(value)),
                    None => unscaled(cell.body(), exact).ok_or(NO_DECIMAL),
                })
            }
            Column::Date(column) if binary => {
                fill_dates(column, cells, zero_dates, true, |cell| DateTime::decode(cell.body()).map(super::unix_day))
            }
            Column::Date(column) => fill_dates(column, cells, zero_dates, false, |cell| Ok(day(cell))),
            Column::Timestamp(column, _) if binary => fill_dates(column, cells, zero_dates, true, |cell| {
                DateTime::decode(cell.body()).map(super::unix_moment)
            }),
            Column::Timestamp(column, _) => fill_dates(column, cells, zero_dates, false, |cell| Ok(moment(cell))),
            Column::Text(column) if !encoded => fill_text(column, cells),
            Column::Binary(column) => {
                fill_bytes(column, cells);
                Ok(())
            }
            // What is rarer goes cell by cell.
            _ => {
                for cell in cells.iter() {
                    match cell {
                        None => self.column.push_null(),
                        Some(cell) if binary => self.push_binary(cell.body(), zero_dates, encoding)?,
                        Some(cell) => self.push_text(cell.body(), zero_dates, encoding)?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// Appends what `read` makes of each cell.
#[inline]
fn fill<T: ArrowPrimitiveType>(
    column: &mut Fixed<T>,
    cells: Cells<'_>,
    read: impl Fn(Cell<'_>) -> Result<T::Native, Wrong>,
) -> Result<(), Wrong> {
    let (values, nulls) = column.parts();
    values.reserve(cells.len());
    if cells.has_null() {
        for cell in cells.iter() {
            match cell {
                None => {
                    values.push(T::Native::default());
                    nulls.append_null();
                }
                Some(cell) => {
                    values.push(read(cell)?);
                    nulls.append_non_null();
                }
            }
        }
    } else {
        for cell in cells.iter().flatten() {
            values.push(read(cell)?);
        }
        nulls.append_n_non_nulls(cells.len());
    }
    Ok(())
}

/// The same for days and moments; what no calendar has is as the caller chose.
#[inline]
fn fill_dates<T: ArrowPrimitiveType>(
    column: &mut Fixed<T>,
    cells: Cells<'_>,
    zero_dates: ZeroDates,
    binary: bool,
    read: impl Fn(Cell<'_>) -> Result<Option<T::Native>, Malformed>,
) -> Result<(), Wrong> {
    let (values, nulls) = column.parts();
    values.reserve(cells.len());
    for cell in cells.iter() {
        let value = match cell {
            None => None,
            Some(cell) => match read(cell)? {
                None => no_date(cell.body(), binary, zero_dates).map(|()| None)?,
                known => known,
            },
        };
        match value {
            Some(value) => {
                values.push(value);
                nulls.append_non_null();
            }
            None => {
                values.push(T::Native::default());
                nulls.append_null();
            }
        }
    }
    Ok(())
}

fn fill_bytes(column: &mut Bytes, cells: Cells<'_>) {
    if cells.has_null() {
        column.reserve(cells.total());
        for cell in cells.iter() {
            match cell {
                Some(cell) => column.push(cell.body()),
                None => column.push_null(),
            }
        }
    } else {
        column.extend(cells.total(), cells.iter().flatten().map(Cell::body));
    }
}

fn fill_text(column: &mut Bytes, cells: Cells<'_>) -> Result<(), Wrong> {
    let before = column.len();
    fill_bytes(column, cells);
    // Asked of all at once; the whole need not be UTF-8 because its parts are, nor the other way round.
    if !column.is_ascii_from(before) && cells.iter().flatten().any(|cell| std::str::from_utf8(cell.body()).is_err()) {
        return Err(NO_UTF8);
    }
    Ok(())
}

#[inline]
fn narrow<F, T: TryFrom<F>>(value: F) -> Result<T, Wrong> {
    value.try_into().map_err(|_| NO_INTEGER)
}

#[inline]
fn signed(cell: Cell<'_>) -> Result<i64, Wrong> {
    let body = cell.body();
    let value = match body.first() {
        Some(b'-') if body.len() > 1 => cell.skip(1).digits().and_then(|value| i64::try_from(value).ok()).map(|it| -it),
        Some(_) => cell.digits().and_then(|value| i64::try_from(value).ok()),
        None => None,
    };
    match value {
        Some(value) => Ok(value),
        None => parse_int(body).ok_or(NO_INTEGER),
    }
}

#[inline]
fn unsigned(cell: Cell<'_>) -> Result<u64, Wrong> {
    match cell.digits() {
        Some(value) if cell.len() > 0 => Ok(value),
        _ => number(cell.body()).map_err(|_| NO_INTEGER),
    }
}

/// `[-]digits.digits` of at most 15 digits is the quotient of two exact numbers, which is rounded once, as it should be.
#[inline]
fn double(cell: Cell<'_>) -> Result<f64, Wrong> {
    const MOST: usize = 15;
    let body = cell.body();
    let negative = body.first() == Some(&b'-');
    let rest = cell.skip(usize::from(negative));
    let point = rest.body().iter().position(|&byte| byte == b'.').unwrap_or(rest.len());
    let (whole, fraction) = (rest.first(point), rest.skip(point + 1));
    let count = whole.len() + fraction.len();
    if (1..=MOST).contains(&count)
        && let (Some(high), Some(low)) = (whole.digits(), fraction.digits())
    {
        let scale = POWERS[fraction.len()];
        let value = (high * scale + low) as f64 / scale as f64;
        return Ok(if negative { -value } else { value });
    }
    number(body)
}

/// `[-]digits.digits` with exactly `scale` behind the point, of at most 18 digits.
#[inline]
fn short_decimal(cell: Cell<'_>, precision: u8, scale: i8) -> Option<i64> {
    let scale = scale as usize;
    let body = cell.body();
    let negative = body.first() == Some(&b'-');
    let rest = cell.skip(usize::from(negative));
    let behind = if scale > 0 { scale + 1 } else { 0 };
    let point = rest.len().checked_sub(behind)?;
    if scale > 0 && rest.body().get(point) != Some(&b'.') {
        return None;
    }
    let (whole, fraction) = (rest.first(point), rest.skip(point + 1));
    if whole.len() + scale > 18 || whole.len() + scale > usize::from(precision) + 1 || whole.len() == 0 {
        return None;
    }
    let value = (whole.digits()? * POWERS[scale] + fraction.digits()?) as i64;
    // A zero in front of the point is none of the column's digits.
    if value as u64 >= POWERS[usize::from(precision).min(18)] && precision < 19 {
        return None;
    }
    Some(if negative { -value } else { value })
}

const DATE: u64 = u64::from_le_bytes(*b"0000-00-");
const TIME: u64 = u64::from_le_bytes(*b"00:00:00");
/// Where these have digits.
const DATE_DIGITS: u64 = u64::from_le_bytes([0x0f, 0x0f, 0x0f, 0x0f, 0, 0x0f, 0x0f, 0]);
const TIME_DIGITS: u64 = u64::from_le_bytes([0x0f, 0x0f, 0, 0x0f, 0x0f, 0, 0x0f, 0x0f]);

/// The digits of eight bytes that look like `shape`, whose zeros stand for digits.
#[inline]
fn shaped(bytes: &[u8; 8], shape: u64, digits: u64) -> Option<[u8; 8]> {
    let bytes = u64::from_le_bytes(*bytes) ^ shape;
    // No bits but those of digits, and no digit above 9.
    let fits = bytes & !digits == 0 && bytes.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0 == 0;
    fits.then(|| bytes.to_le_bytes())
}

/// Days since 1970 of `YYYY-MM-DD`; `None` when the calendar has no such day.
#[inline]
fn days(body: &[u8]) -> Option<i32> {
    let [y1, y2, y3, y4, _, m1, m2, _] = shaped(body.first_chunk()?, DATE, DATE_DIGITS)?;
    let &[_, _, _, _, _, _, _, _, d1, d2] = body.first_chunk()?;
    let (d1, d2) = (d1.wrapping_sub(b'0'), d2.wrapping_sub(b'0'));
    if d1 > 3 || d2 > 9 {
        return None;
    }
    let year = i32::from(y1) * 1000 + i32::from(y2) * 100 + i32::from(y3) * 10 + i32::from(y4);
    let (month, day) = (i32::from(m1 * 10 + m2), i32::from(d1 * 10 + d2));
    if year == 0 || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    if day > 28 && day > i32::from(rowferry_wire::civil::days_in_month(i64::from(year), month as u8)) {
        return None;
    }
    // Years begin in March, so that the leap day is a year's last; in 32 bits, which the years of four digits fit.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469)
}

#[inline]
fn day(cell: Cell<'_>) -> Option<i32> {
    if cell.len() == 10 { days(cell.body()) } else { None }
}

/// Microseconds since 1970 of `YYYY-MM-DD HH:MM:SS[.ffffff]`.
#[inline]
fn moment(cell: Cell<'_>) -> Option<i64> {
    let body = cell.body();
    let time = body.get(11..19)?.first_chunk()?;
    let [h1, h2, _, m1, m2, _, s1, s2] = shaped(time, TIME, TIME_DIGITS)?;
    let (hour, minute, second) = (h1 * 10 + h2, m1 * 10 + m2, s1 * 10 + s2);
    if hour > 23 || minute > 59 || second > 59 || !matches!(body[10], b' ' | b'T') {
        return None;
    }
    let behind = cell.skip(19);
    let micros = match behind.len() {
        0 => 0,
        len @ 2..=7 if body[19] == b'.' => (behind.skip(1).digits()? * POWERS[7 - len]) as i64,
        _ => return None,
    };
    let seconds = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
    Some((i64::from(days(body)?) * 86_400 + seconds) * 1_000_000 + micros)
}
