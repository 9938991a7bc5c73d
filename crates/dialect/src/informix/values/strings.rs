//! Functions of strings that no back end brings.

use crate::{Condition, Error, Result};

/// `SUBSTRING_INDEX`: what stands before the `count`th delimiter, or behind it when counted from the end.
pub fn substring_index(text: &str, delimiter: &str, count: i64) -> String {
    if delimiter.is_empty() || count == 0 {
        return String::new();
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if count > 0 {
        match text.match_indices(delimiter).nth(wanted - 1) {
            Some((at, _)) => text[..at].to_owned(),
            None => text.to_owned(),
        }
    } else {
        match text.rmatch_indices(delimiter).nth(wanted - 1) {
            Some((at, found)) => text[at + found.len()..].to_owned(),
            None => text.to_owned(),
        }
    }
}

/// `INSTR`: where the `count`th occurrence begins, in characters from 1, looked for from `start` on, or from there
/// backwards when `start` is negative; 0 for nowhere.
pub fn instr(text: &str, part: &str, start: i64, count: i64) -> i64 {
    if part.is_empty() || start == 0 || count < 1 {
        return 0;
    }
    let characters: Vec<char> = text.chars().collect();
    let part: Vec<char> = part.chars().collect();
    let found = |at: usize| characters.get(at..).is_some_and(|rest| rest.starts_with(&part));
    let length = characters.len() as i64;
    let nth = usize::try_from(count - 1).unwrap_or(usize::MAX);
    let place = if start > 0 {
        (usize::try_from(start - 1).unwrap_or(usize::MAX)..characters.len()).filter(|at| found(*at)).nth(nth)
    } else {
        let last = length + start;
        if last < 0 {
            return 0;
        }
        (0..=last as usize).rev().filter(|at| found(*at)).nth(nth)
    };
    place.map_or(0, |at| at as i64 + 1)
}

/// `SET text[first, last] = part`: blanks where the text does not reach that far, and where the part does not fill its
/// places.
pub fn spliced(text: &str, first: i64, last: i64, part: &str) -> String {
    let place = |number: i64| usize::try_from(number).unwrap_or(0);
    let (before, width) = (place(first - 1), place(last - first + 1));
    let filled = |text: &mut dyn Iterator<Item = char>, count: usize| -> String {
        text.chain(std::iter::repeat(' ')).take(count).collect()
    };
    let rest: String = text.chars().skip(before + width).collect();
    filled(&mut text.chars(), before) + &filled(&mut part.chars(), width) + &rest
}

/// The last boundary of characters up to a place of a text.
pub fn boundary_before(text: &str, place: usize) -> usize {
    (0..=place.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Some bytes of a text; blanks stand where half a character would.
pub fn part(text: &str, from: usize, length: usize) -> String {
    let (from, to) = (from.min(text.len()), from.saturating_add(length).min(text.len()));
    let first = (from..=to).find(|at| text.is_char_boundary(*at)).unwrap_or(to);
    let last = boundary_before(text, to).max(first);
    if !text.is_char_boundary(first) {
        return " ".repeat(to - from);
    }
    let blanks = |count: usize| " ".repeat(count);
    blanks(first - from) + &text[first..last] + &blanks(to - last)
}

/// As [`spliced`], with places that are bytes.
pub fn spliced_bytes(text: &str, first: i64, last: i64, given: &str) -> String {
    let place = |number: i64| usize::try_from(number).unwrap_or(0);
    let (before, width) = (place(first - 1), place(last - first + 1));
    let filled = |text: String, length: usize| {
        let blanks = length.saturating_sub(text.len());
        text + &" ".repeat(blanks)
    };
    filled(part(text, 0, before), before)
        + &filled(part(given, 0, width), width)
        + &part(text, before.saturating_add(width), usize::MAX / 2)
}

/// `FORMAT_UNITS`: a number of a unit (`P` is a page of 2 kilobytes), or one that brings its unit along, in the largest
/// unit of which it has at least one, with three digits.
///
/// # Errors
/// `InvalidParameterValue` for a unit that is not known, `InvalidTextRepresentation` for what is no number.
pub fn format_units(number: &str, unit: &str) -> Result<String> {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let number = number.trim();
    let digits = number.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(number.len());
    let (number, own) = number.split_at(digits);
    let unit = if own.trim().is_empty() { unit } else { own }.trim().to_ascii_uppercase();
    let factor = match unit.as_str() {
        "P" => 2_048.0,
        "B" | "" => 1.0,
        other => {
            let known = |name: &&str| *name == other || name.strip_suffix('B') == Some(other);
            let place = UNITS.iter().position(known).ok_or_else(|| {
                Error::new(Condition::InvalidParameterValue, format!("{other} is no unit of FORMAT_UNITS"))
            })?;
            1_024_f64.powi(place as i32)
        }
    };
    let number: f64 = number.trim().parse().map_err(|_| {
        Error::new(Condition::InvalidTextRepresentation, format!("\"{number}\" is no number of FORMAT_UNITS"))
    })?;
    let mut size = number * factor;
    let mut place = 0;
    while size.abs() >= 1_024.0 && place + 1 < UNITS.len() {
        size /= 1_024.0;
        place += 1;
    }
    let decimals = match size.abs() {
        _ if place == 0 => 0,
        size if size < 10.0 => 2,
        size if size < 100.0 => 1,
        _ => 0,
    };
    Ok(format!("{size:.decimals$} {}", UNITS[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found() {
        assert_eq!(substring_index("www.ibm.com", ".", 2), "www.ibm");
        assert_eq!(substring_index("www.ibm.com", ".", -2), "ibm.com");
        assert_eq!(substring_index("www.ibm.com", ".", 9), "www.ibm.com");
        assert_eq!(spliced("abcdef", 2, 4, "XY"), "aXY ef");
        assert_eq!(spliced("a", 3, 4, "XYZ"), "a XY");
        assert_eq!((part("äöü", 0, 3), part("äöü", 1, 3), part("äöü", 4, 9)), ("ä ".into(), " ö".into(), "ü".into()));
        assert_eq!(spliced_bytes("äöü", 2, 3, "x"), " x  ü");
        assert_eq!(instr("banana", "an", 1, 1), 2);
        assert_eq!(instr("banana", "an", 3, 1), 4);
        assert_eq!(instr("banana", "a", 1, 3), 6);
        assert_eq!(instr("banana", "a", -1, 1), 6);
        assert_eq!(instr("banana", "a", -2, 1), 4);
        assert_eq!(instr("banana", "x", 1, 1), 0);
        assert_eq!(format_units("1024 M", "B").unwrap(), "1.00 GB");
        assert_eq!(format_units("60000", "P").unwrap(), "117 MB");
        assert_eq!(format_units("100", "b").unwrap(), "100 B");
        assert!(format_units("100", "x").is_err());
    }
}
