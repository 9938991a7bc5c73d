//! `to_char` and `to_number` for numbers: PostgreSQL's template patterns.

use super::Decimal;
use super::to_char::ordinal_suffix;
use crate::{Condition, Error, Result};

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    /// `9` or `0`.
    Digit { zero: bool },
    /// `.` or `D`.
    Point,
    /// `,` or `G`.
    Group,
    /// `S`: a sign at this side of the number.
    Sign,
    /// `MI`.
    Minus,
    /// `PL`.
    Plus,
    /// `SG`.
    Either,
    /// `PR`.
    Angles,
    /// `L`.
    Currency,
    /// `TH`, `th`.
    Ordinal { upper: bool },
    /// Text as it is.
    Literal(char),
}

#[derive(Default)]
struct Template {
    pieces: Vec<Piece>,
    fill: bool,
    roman: Option<bool>,
    exponent: bool,
    /// Digits behind `V`: the number is multiplied by that power of ten.
    shift: usize,
    whole: usize,
    fraction: usize,
}

fn parse(template: &str) -> Result<Template> {
    let mut parsed = Template { fill: true, ..Template::default() };
    let mut behind_point = false;
    let mut behind_shift = false;
    let mut rest = template;
    let error = |message: &str| Error::new(Condition::SyntaxError, message.to_owned());
    while let Some(c) = rest.chars().next() {
        let two = rest.get(..2).map(str::to_ascii_uppercase);
        let mut length = c.len_utf8();
        match two.as_deref() {
            Some("FM") => {
                parsed.fill = false;
                rest = &rest[2..];
                continue;
            }
            Some("MI" | "PL" | "SG" | "PR" | "TH" | "RN") => {
                parsed.pieces.push(match two.as_deref() {
                    Some("MI") => Piece::Minus,
                    Some("PL") => Piece::Plus,
                    Some("SG") => Piece::Either,
                    Some("PR") => Piece::Angles,
                    Some("TH") => Piece::Ordinal { upper: c == 'T' },
                    _ => {
                        parsed.roman = Some(c == 'R');
                        rest = &rest[2..];
                        continue;
                    }
                });
                rest = &rest[2..];
                continue;
            }
            _ => {}
        }
        if rest.get(..4).is_some_and(|e| e.eq_ignore_ascii_case("EEEE")) {
            parsed.exponent = true;
            rest = &rest[4..];
            continue;
        }
        match c {
            '9' | '0' => {
                if behind_shift {
                    parsed.shift += 1;
                }
                if behind_point {
                    parsed.fraction += 1;
                } else {
                    parsed.whole += 1;
                }
                parsed.pieces.push(Piece::Digit { zero: c == '0' });
            }
            '.' | 'D' | 'd' => {
                if behind_point {
                    return Err(error("multiple decimal points"));
                }
                behind_point = true;
                parsed.pieces.push(Piece::Point);
            }
            ',' | 'G' | 'g' => parsed.pieces.push(Piece::Group),
            'S' | 's' => parsed.pieces.push(Piece::Sign),
            'L' | 'l' => parsed.pieces.push(Piece::Currency),
            'V' | 'v' => behind_shift = true,
            'B' | 'b' | 'C' | 'c' => {}
            '"' => {
                let quoted = &rest[1..];
                let end = quoted.find('"').unwrap_or(quoted.len());
                parsed.pieces.extend(quoted[..end].chars().map(Piece::Literal));
                length = (end + 2).min(rest.len());
            }
            c => parsed.pieces.push(Piece::Literal(c)),
        }
        rest = &rest[length..];
    }
    Ok(parsed)
}

/// A number in the form of a template.
pub fn format(value: &Decimal, template: &str) -> Result<String> {
    let parsed = parse(template)?;
    if let Some(upper) = parsed.roman {
        return Ok(roman(value, upper, parsed.fill));
    }
    if parsed.exponent {
        return Ok(scientific(value, &parsed));
    }
    let negative = value.signum() < 0;
    let shifted = match parsed.shift {
        0 => value.abs(),
        shift => value.abs().mul(&Decimal::parse(&format!("1e{shift}"))?)?,
    };
    let rounded = shifted.rounded(parsed.fraction as i64);
    let text = rounded.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fits = rounded.finite().is_some() && (whole == "0" || whole.len() <= parsed.whole);
    let has_point = parsed.pieces.contains(&Piece::Point);
    let whole = if whole == "0" && (has_point && parsed.fraction > 0 || parsed.whole == 0) { "" } else { whole };
    Ok(fill(&parsed, whole, fraction, negative, fits))
}

fn fill(parsed: &Template, whole: &str, fraction: &str, negative: bool, fits: bool) -> String {
    let explicit = parsed
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Sign | Piece::Minus | Piece::Plus | Piece::Either | Piece::Angles));
    // The first place that shows a digit: where the number begins or a `0` demands one.
    let first_zero = parsed
        .pieces
        .iter()
        .filter(|piece| matches!(piece, Piece::Digit { .. } | Piece::Point))
        .take_while(|piece| **piece != Piece::Point)
        .position(|piece| matches!(piece, Piece::Digit { zero: true }));
    let begin = if fits { parsed.whole - whole.len().min(parsed.whole) } else { 0 };
    let begin = first_zero.map_or(begin, |zero| zero.min(begin));
    // Without blanks, zeros that only `9` asks for at the end of the fraction go.
    let last_zero = parsed
        .pieces
        .iter()
        .skip_while(|piece| **piece != Piece::Point)
        .filter(|piece| matches!(piece, Piece::Digit { .. }))
        .enumerate()
        .filter(|(_, piece)| matches!(piece, Piece::Digit { zero: true }))
        .map(|(at, _)| at + 1)
        .last()
        .unwrap_or(0);
    let kept = if parsed.fill { parsed.fraction } else { fraction.trim_end_matches('0').len().max(last_zero) };
    let sign_first = parsed.pieces.iter().position(|piece| *piece == Piece::Sign).is_some_and(|sign| {
        parsed.pieces.iter().position(|piece| matches!(piece, Piece::Digit { .. })).is_none_or(|digit| sign < digit)
    });
    let angles = parsed.pieces.contains(&Piece::Angles);
    let lead = if angles {
        if negative { "<" } else { " " }
    } else if sign_first {
        if negative { "-" } else { "+" }
    } else if !explicit {
        if negative { "-" } else { " " }
    } else {
        ""
    };
    let lead = if parsed.fill || lead != " " { lead } else { "" };
    let mut out = String::new();
    let mut place = 0;
    let mut behind_point = false;
    let mut lead_shown = false;
    let show_lead = |out: &mut String, shown: &mut bool| {
        if !*shown {
            out.push_str(lead);
            *shown = true;
        }
    };
    for piece in &parsed.pieces {
        match piece {
            Piece::Digit { .. } if behind_point => {
                show_lead(&mut out, &mut lead_shown);
                if !fits {
                    out.push('#');
                } else if place < kept {
                    out.push(char::from(fraction.as_bytes().get(place).copied().unwrap_or(b'0')));
                }
                place += 1;
            }
            Piece::Digit { .. } => {
                if place >= begin {
                    show_lead(&mut out, &mut lead_shown);
                    let from_end = parsed.whole - place;
                    out.push(if !fits {
                        '#'
                    } else if from_end <= whole.len() {
                        char::from(whole.as_bytes()[whole.len() - from_end])
                    } else {
                        '0'
                    });
                } else if parsed.fill {
                    out.push(' ');
                }
                place += 1;
            }
            Piece::Point => {
                show_lead(&mut out, &mut lead_shown);
                behind_point = true;
                place = 0;
                if parsed.fill || kept > 0 || parsed.fraction == 0 {
                    out.push('.');
                } else {
                    // PostgreSQL keeps the point of `FM9.9` even when nothing follows.
                    out.push('.');
                }
            }
            Piece::Group if behind_point || place > begin => out.push(','),
            Piece::Group => {
                if parsed.fill {
                    out.push(' ');
                }
            }
            Piece::Sign if sign_first => {}
            Piece::Sign | Piece::Either => out.push(if negative { '-' } else { '+' }),
            Piece::Minus if negative => out.push('-'),
            Piece::Plus if !negative => out.push('+'),
            Piece::Minus | Piece::Plus => {
                if parsed.fill {
                    out.push(' ');
                }
            }
            Piece::Angles => {
                if negative {
                    out.push('>');
                } else if parsed.fill {
                    out.push(' ');
                }
            }
            Piece::Currency => out.push(' '),
            Piece::Ordinal { upper } => {
                if !negative && parsed.fraction == 0 {
                    let suffix = ordinal_suffix(whole);
                    out.push_str(&if *upper { suffix.to_uppercase() } else { suffix.to_owned() });
                }
            }
            Piece::Literal(c) => out.push(*c),
        }
    }
    out
}

fn scientific(value: &Decimal, parsed: &Template) -> String {
    let Some(number) = value.finite() else { return "#".repeat(parsed.whole + parsed.fraction + 5) };
    let mut exponent = number.exponent();
    let power = |exponent: i64| Decimal::parse(&format!("1e{}", -exponent)).unwrap_or(Decimal::ZERO);
    let mut mantissa = value.mul(&power(exponent)).unwrap_or(Decimal::ZERO).rounded(parsed.fraction as i64);
    if mantissa.finite().is_some_and(|mantissa| mantissa.exponent() > 0) {
        exponent += 1;
        mantissa = value.mul(&power(exponent)).unwrap_or(Decimal::ZERO).rounded(parsed.fraction as i64);
    }
    let lead = if value.signum() >= 0 && parsed.fill { " " } else { "" };
    format!("{lead}{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn roman(value: &Decimal, upper: bool, fill: bool) -> String {
    let number = value.rounded(0).to_integer(&crate::Type::Int8).unwrap_or(0);
    let text = if (1..=3_999).contains(&number) {
        let mut rest = number;
        let mut text = String::new();
        for (size, digits) in [
            (1_000, "M"),
            (900, "CM"),
            (500, "D"),
            (400, "CD"),
            (100, "C"),
            (90, "XC"),
            (50, "L"),
            (40, "XL"),
            (10, "X"),
            (9, "IX"),
            (5, "V"),
            (4, "IV"),
            (1, "I"),
        ] {
            while rest >= size {
                text.push_str(digits);
                rest -= size;
            }
        }
        text
    } else {
        "#".repeat(15)
    };
    let text = if upper { text } else { text.to_lowercase() };
    if fill { format!("{text:>15}") } else { text }
}

/// Reads a number by a template (`to_number`).
pub fn read(text: &str, template: &str) -> Result<Decimal> {
    let parsed = parse(template)?;
    let mut digits = String::new();
    let mut negative = false;
    let mut point = false;
    for c in text.chars() {
        match c {
            '0'..='9' => digits.push(c),
            '.' if !point => {
                point = true;
                digits.push('.');
            }
            '-' | '<' => negative = true,
            _ => {}
        }
    }
    if !digits.bytes().any(|b| b.is_ascii_digit()) {
        return Err(super::invalid_syntax("numeric", text.trim_matches(' ')));
    }
    let value = Decimal::parse(&digits)?;
    let value = if parsed.fraction == 0 && !point { value } else { value.rounded(parsed.fraction as i64) };
    Ok(if negative { value.neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_postgres() {
        // Answers of PostgreSQL 15.
        for (value, template, shown) in [
            ("123.45", "999.99", " 123.45"),
            ("-5", "999", "  -5"),
            ("0", "999", "   0"),
            ("0.5", "9.9", "  .5"),
            ("0.5", "0.9", " 0.5"),
            ("0.5", "FM990.99", "0.5"),
            ("1234567.891", "9,999,999.99", " 1,234,567.89"),
            ("1234", "9,999,999", "     1,234"),
            ("12345", "999", " ###"),
            ("12.3", "FM999.99", "12.3"),
            ("12", "FM999.00", "12.00"),
            ("-12", "S999", " -12"),
            ("12", "S999", " +12"),
            ("-12", "999S", " 12-"),
            ("-12", "999MI", " 12-"),
            ("12", "999MI", " 12 "),
            ("-12", "999PR", " <12>"),
            ("42", "00000", " 00042"),
            ("485", "FMRN", "CDLXXXV"),
            ("482", "999th", " 482nd"),
            ("12.45", "99V9", " 125"),
            ("1234.5", "9.99EEEE", " 1.23e+03"),
            ("3.8", "\"Value: \"9", "Value:  4"),
        ] {
            assert_eq!(format(&Decimal::parse(value).unwrap(), template).unwrap(), shown, "{value} {template}");
        }
    }

    #[test]
    fn reads_by_template() {
        for (text, template, value) in
            [("12,454.8-", "99G999D9S", "-12454.8"), ("$1,234.50", "L9,999.99", "1234.50"), (" 42", "999", "42")]
        {
            assert_eq!(read(text, template).unwrap().to_string(), value);
        }
        assert_eq!(read("x", "9").unwrap_err().condition().sqlstate(), "22P02");
    }
}
