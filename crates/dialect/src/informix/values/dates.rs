//! How a session writes dates as text: what the client's DBDATE or GL_DATE says.

use super::convert;
use super::datetime::in_this_century;
use crate::ir::Value;
use crate::{Condition, Error, Result, Type};

/// A part of a date.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Day,
    Month,
    /// In two digits, or in four.
    Year {
        whole: bool,
    },
}

/// The form of dates in text. Without one, dates are written as `2026-01-31` and read as that or as `01/31/2026`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DateFormat {
    parts: [Part; 3],
    /// Between the parts.
    separator: Option<char>,
}

impl DateFormat {
    /// What DBDATE says: `DMY4/`, `Y4MD-`, `MDY20`; `None` for what is none, eras among them.
    pub fn of_dbdate(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text.chars().peekable();
        while let Some(letter) = rest.next_if(|c| c.is_ascii_alphabetic()) {
            parts.push(match letter.to_ascii_uppercase() {
                'D' => Part::Day,
                'M' => Part::Month,
                'Y' => match rest.next()? {
                    '2' => Part::Year { whole: false },
                    '4' => Part::Year { whole: true },
                    _ => return None,
                },
                _ => return None,
            });
        }
        let separator = match rest.next() {
            None => Some('/'),
            Some('0') => None,
            Some(sign @ ('/' | '-' | '.')) => Some(sign),
            Some(_) => return None,
        };
        Self::of(&parts, separator).filter(|_| rest.next().is_none())
    }

    /// What GL_DATE says, as far as it is of numbers alone: `%d.%m.%Y`.
    pub fn of_gl_date(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut separators = Vec::new();
        let mut rest = text.chars();
        while let Some(sign) = rest.next() {
            if sign != '%' {
                separators.push(sign);
                continue;
            }
            parts.push(match rest.next()? {
                'd' => Part::Day,
                'm' => Part::Month,
                'y' => Part::Year { whole: false },
                'Y' => Part::Year { whole: true },
                _ => return None,
            });
            if parts.len() - 1 != separators.len() && !(separators.is_empty()) {
                return None;
            }
        }
        let separator = match separators.as_slice() {
            [] => None,
            [one, other] if one == other && ['/', '-', '.'].contains(one) => Some(*one),
            _ => return None,
        };
        Self::of(&parts, separator)
    }

    fn of(parts: &[Part], separator: Option<char>) -> Option<Self> {
        let parts: [Part; 3] = parts.try_into().ok()?;
        let has = |wanted: fn(&Part) -> bool| parts.iter().filter(|part| wanted(part)).count() == 1;
        let whole = has(|part| *part == Part::Day)
            && has(|part| *part == Part::Month)
            && has(|part| matches!(part, Part::Year { .. }));
        whole.then_some(Self { parts, separator })
    }

    /// The form in DBDATE's words.
    pub fn words(self) -> String {
        let part = |part: Part| match part {
            Part::Day => "D",
            Part::Month => "M",
            Part::Year { whole: true } => "Y4",
            Part::Year { whole: false } => "Y2",
        };
        let parts: String = self.parts.into_iter().map(part).collect();
        format!("{parts}{}", self.separator.unwrap_or('0'))
    }

    /// What is written and read so without a form, too.
    pub fn is_usual(self) -> bool {
        self.parts == [Part::Year { whole: true }, Part::Month, Part::Day] && self.separator == Some('-')
    }

    /// A date in this form as `2026-01-31`. One whose year comes first in four digits is that already.
    ///
    /// # Errors
    /// `22007` (-1218) for what is no date of this form. Whether there is such a day is not looked at.
    pub fn read(self, text: &str) -> Result<String> {
        let invalid = || Error::new(Condition::InvalidDateText, format!("\"{text}\" is not a date"));
        let trimmed = text.trim();
        let mut found: Vec<&str> = trimmed.split(['-', '/', '.']).collect();
        if let ([digits], None) = (found.as_slice(), self.separator) {
            let digits = *digits;
            let mut rest = digits;
            found.clear();
            for part in self.parts {
                let width = if part == (Part::Year { whole: true }) && digits.len() == 8 { 4 } else { 2 };
                let cut = rest.get(..width).ok_or_else(invalid)?;
                found.push(cut);
                rest = &rest[width..];
            }
            if !rest.is_empty() {
                return Err(invalid());
            }
        }
        let [first, second, third] = found[..] else { return Err(invalid()) };
        if first.len() == 4 {
            return Ok(format!("{first}-{second}-{third}"));
        }
        let (mut year, mut month, mut day) = ("", "", "");
        for (part, text) in self.parts.into_iter().zip([first, second, third]) {
            *match part {
                Part::Day => &mut day,
                Part::Month => &mut month,
                Part::Year { .. } => &mut year,
            } = text;
        }
        if [year, month, day].iter().any(|part| part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err(invalid());
        }
        let year: i32 = year.parse().map_err(|_| invalid())?;
        let year = if found[self.year()].len() <= 2 { in_this_century(year) } else { year };
        Ok(format!("{year:04}-{month}-{day}"))
    }

    /// The place of the year.
    fn year(self) -> usize {
        self.parts.iter().position(|part| matches!(part, Part::Year { .. })).unwrap_or_default()
    }

    /// A date of the stored form, `2026-01-31`, in this one.
    pub fn shown(self, date: &str) -> String {
        let mut stored = date.splitn(3, '-');
        let (year, month, day) =
            (stored.next().unwrap_or_default(), stored.next().unwrap_or_default(), stored.next().unwrap_or_default());
        let part = |part: &Part| match part {
            Part::Day => day,
            Part::Month => month,
            Part::Year { whole: true } => year,
            Part::Year { whole: false } => year.get(year.len().saturating_sub(2)..).unwrap_or(year),
        };
        let parts: Vec<&str> = self.parts.iter().map(part).collect();
        parts.join(&self.separator.map(String::from).unwrap_or_default())
    }
}

/// As [`convert`], in a session whose dates have a form of its own.
///
/// # Errors
/// Those of [`convert`].
pub fn convert_dated(value: &Value, from: &Type, to: &Type, dates: Option<DateFormat>) -> Result<Value> {
    match (value, dates) {
        (Value::Text(text), Some(dates)) if *to == Type::Date && (from.is_text() || *from == Type::Unknown) => {
            convert(&Value::Text(dates.read(text)?), from, to)
        }
        (Value::Text(date), Some(dates)) if *from == Type::Date && to.is_text() => {
            convert(&Value::Text(dates.shown(date)), &Type::Text, to)
        }
        _ => convert(value, from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_and_told() {
        for words in ["DMY4/", "Y4MD-", "MDY2.", "Y2DM-", "DMY40"] {
            assert_eq!(DateFormat::of_dbdate(words).unwrap().words(), words);
        }
        assert_eq!(DateFormat::of_dbdate("dmy4").unwrap().words(), "DMY4/");
        for words in ["", "DMY", "DDY4/", "DMY4/x", "GY2MD.", "DMY4:"] {
            assert_eq!(DateFormat::of_dbdate(words), None, "{words}");
        }
        assert_eq!(DateFormat::of_gl_date("%d.%m.%Y").unwrap().words(), "DMY4.");
        assert_eq!(DateFormat::of_gl_date("%y%m%d").unwrap().words(), "Y2MD0");
        for words in ["%B %d, %Y", "%d.%m-%Y", "%d/%m", "%d./%m%Y"] {
            assert_eq!(DateFormat::of_gl_date(words), None, "{words}");
        }
        assert!(DateFormat::of_dbdate("Y4MD-").unwrap().is_usual());
    }

    #[test]
    fn dates_are_read_and_written_in_their_form() {
        for (words, text, read, shown) in [
            ("DMY4/", "5/3/2024", "2024-3-5", "05/03/2024"),
            ("DMY4.", "05.03.24", "2024-03-05", "05.03.2024"),
            ("MDY2/", "03/05/1999", "1999-03-05", "03/05/24"),
            ("DMY40", "05032024", "2024-03-05", "05032024"),
            ("DMY20", "050324", "2024-03-05", "050324"),
            ("Y2MD-", "24-03-05", "2024-03-05", "24-03-05"),
            // Which part the year is, is plain here.
            ("DMY4/", "2024-03-05", "2024-03-05", "05/03/2024"),
        ] {
            let format = DateFormat::of_dbdate(words).unwrap();
            assert_eq!(format.read(text).unwrap(), read, "{words}");
            assert_eq!(format.shown("2024-03-05"), shown, "{words}");
        }
        let format = DateFormat::of_dbdate("DMY4/").unwrap();
        for text in ["", "5/3", "5/3/2024/1", "a/3/2024", "5//2024"] {
            assert_eq!(format.read(text).unwrap_err().condition(), Condition::InvalidDateText, "{text}");
        }
    }
}
