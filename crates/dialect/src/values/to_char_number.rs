//! `to_char` and `to_number` for numbers: PostgreSQL's template patterns.

use super::to_char::ordinal_suffix;
use super::{Decimal, decimal_math};
use crate::types::NumericModifier;
use crate::{Condition, Error, Result, Type, work};

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    /// `9`
    Nine,
    /// `0`
    Zero,
    /// `.` or `D`.
    Point,
    /// `,` or `G`; in reading `G` looks at its own text only.
    Group,
    /// `MI`.
    Minus,
    /// `PL`.
    Plus,
    /// `SG`.
    Either,
    /// `L`.
    Currency,
    /// `TH`, `th`.
    Ordinal { upper: bool },
    /// `RN`, `rn`: where a Roman number stands.
    Roman { upper: bool },
    /// Text as it is.
    Literal(char),
}

/// Where `S` puts the sign.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Anchor {
    #[default]
    None,
    Before,
    Behind,
}

/// A template taken apart.
#[derive(Clone, Default)]
struct Template {
    pieces: Vec<Piece>,
    /// `FM`: no blanks nor zeros to fill.
    bare: bool,
    roman: bool,
    exponent: bool,
    /// `V` was there, and so many digits behind it: the number is multiplied by that power of ten.
    shift: Option<usize>,
    whole: usize,
    fraction: usize,
    point: bool,
    /// The place of the first `0` before the point, from 0.
    first_zero: Option<usize>,
    /// How many digits stand up to the last `0`.
    zero_end: usize,
    sign: Anchor,
    /// Digits before the `S`.
    before_sign: usize,
    minus: bool,
    plus: bool,
    angles: bool,
    blank: bool,
}

fn template_error(message: &str) -> Error {
    Error::new(Condition::SyntaxError, message.to_owned())
}

impl Template {
    fn parse(template: &str) -> Result<Self> {
        let mut parsed = Self::default();
        let mut rest = template;
        while let Some(c) = rest.chars().next() {
            if let Some(word) = WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
                parsed.add(word.1)?;
                rest = &rest[word.0.len()..];
                continue;
            }
            let mut length = c.len_utf8();
            match c {
                '"' => {
                    let mut quoted = rest[1..].char_indices();
                    length = rest.len();
                    while let Some((at, c)) = quoted.next() {
                        match c {
                            '"' => {
                                length = at + 2;
                                break;
                            }
                            '\\' => parsed.literal(quoted.next().map_or('\\', |(_, c)| c))?,
                            c => parsed.literal(c)?,
                        }
                    }
                }
                '\\' if rest[1..].starts_with('"') => {
                    parsed.literal('"')?;
                    length = 2;
                }
                c => parsed.literal(c)?,
            }
            rest = &rest[length..];
        }
        Ok(parsed)
    }

    fn literal(&mut self, c: char) -> Result<()> {
        work::step(1)?;
        self.pieces.push(Piece::Literal(c));
        Ok(())
    }

    fn add(&mut self, word: Word) -> Result<()> {
        if self.exponent {
            return Err(template_error(if word == Word::Exponent {
                "cannot use \"EEEE\" twice"
            } else {
                "\"EEEE\" must be the last pattern used"
            }));
        }
        match word {
            Word::Bare => self.bare = true,
            Word::Blank => self.blank |= self.whole == 0 && self.fraction == 0 && self.first_zero.is_none(),
            Word::Shift if self.point => {
                return Err(template_error("cannot use \"V\" and decimal point together"));
            }
            Word::Shift => self.shift = Some(self.shift.unwrap_or(0)),
            Word::Angles if self.sign != Anchor::None || self.plus || self.minus => {
                return Err(template_error("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together"));
            }
            Word::Angles => self.angles = true,
            Word::Sign => return self.add_sign(),
            Word::Exponent => {
                let other = self.bare || self.blank || self.sign != Anchor::None || self.angles || self.minus;
                if other || self.plus || self.roman || self.shift.is_some() {
                    return Err(template_error("\"EEEE\" is incompatible with other formats")
                        .detail("\"EEEE\" may only be used together with digit and decimal point patterns."));
                }
                self.exponent = true;
            }
            Word::Ignored => {}
            Word::Piece(piece) => return self.add_piece(piece),
        }
        Ok(())
    }

    fn add_sign(&mut self) -> Result<()> {
        if self.sign != Anchor::None {
            return Err(template_error("cannot use \"S\" twice"));
        }
        if self.plus || self.minus || self.angles {
            return Err(template_error("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
        }
        if self.point {
            self.sign = Anchor::Behind;
        } else {
            (self.sign, self.before_sign) = (Anchor::Before, self.whole);
        }
        Ok(())
    }

    fn add_piece(&mut self, piece: Piece) -> Result<()> {
        match piece {
            Piece::Nine | Piece::Zero if self.angles => {
                let digit = if piece == Piece::Nine { '9' } else { '0' };
                return Err(template_error(&format!("\"{digit}\" must be ahead of \"PR\"")));
            }
            Piece::Nine => match &mut self.shift {
                Some(shift) => *shift += 1,
                None if self.point => self.fraction += 1,
                None => self.whole += 1,
            },
            Piece::Zero => {
                if self.first_zero.is_none() && !self.point {
                    self.first_zero = Some(self.whole);
                }
                *(if self.point { &mut self.fraction } else { &mut self.whole }) += 1;
                self.zero_end = self.whole + self.fraction;
            }
            Piece::Point if self.point => return Err(template_error("multiple decimal points")),
            Piece::Point if self.shift.is_some() => {
                return Err(template_error("cannot use \"V\" and decimal point together"));
            }
            Piece::Point => self.point = true,
            Piece::Minus | Piece::Plus | Piece::Either if self.sign != Anchor::None => {
                let name = match piece {
                    Piece::Minus => "MI",
                    Piece::Plus => "PL",
                    _ => "SG",
                };
                return Err(template_error(&format!("cannot use \"S\" and \"{name}\" together")));
            }
            Piece::Minus => self.minus = true,
            Piece::Plus => self.plus = true,
            Piece::Either => (self.minus, self.plus) = (true, true),
            Piece::Roman { .. } => self.roman = true,
            Piece::Group | Piece::Currency | Piece::Ordinal { .. } | Piece::Literal(_) => {}
        }
        self.pieces.push(piece);
        Ok(())
    }
}

/// What a word of a template means.
#[derive(Clone, Copy, PartialEq)]
enum Word {
    Bare,
    Blank,
    Shift,
    Angles,
    Sign,
    Exponent,
    Ignored,
    Piece(Piece),
}

/// The words as they are written, longer before shorter.
const WORDS: &[(&str, Word)] = &[
    ("EEEE", Word::Exponent),
    ("eeee", Word::Exponent),
    ("FM", Word::Bare),
    ("fm", Word::Bare),
    ("MI", Word::Piece(Piece::Minus)),
    ("mi", Word::Piece(Piece::Minus)),
    ("PL", Word::Piece(Piece::Plus)),
    ("pl", Word::Piece(Piece::Plus)),
    ("PR", Word::Angles),
    ("pr", Word::Angles),
    ("RN", Word::Piece(Piece::Roman { upper: true })),
    ("rn", Word::Piece(Piece::Roman { upper: false })),
    ("SG", Word::Piece(Piece::Either)),
    ("sg", Word::Piece(Piece::Either)),
    ("SP", Word::Ignored),
    ("sp", Word::Ignored),
    ("TH", Word::Piece(Piece::Ordinal { upper: true })),
    ("th", Word::Piece(Piece::Ordinal { upper: false })),
    (",", Word::Piece(Piece::Group)),
    (".", Word::Piece(Piece::Point)),
    ("0", Word::Piece(Piece::Zero)),
    ("9", Word::Piece(Piece::Nine)),
    ("B", Word::Blank),
    ("b", Word::Blank),
    ("C", Word::Ignored),
    ("c", Word::Ignored),
    ("D", Word::Piece(Piece::Point)),
    ("d", Word::Piece(Piece::Point)),
    ("G", Word::Piece(Piece::Group)),
    ("g", Word::Piece(Piece::Group)),
    ("L", Word::Piece(Piece::Currency)),
    ("l", Word::Piece(Piece::Currency)),
    ("S", Word::Sign),
    ("s", Word::Sign),
    ("V", Word::Shift),
    ("v", Word::Shift),
];

/// A number in the form of a template.
pub fn format(value: &Decimal, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.roman {
        return Ok(filled(&template, &roman(value), false, 0));
    }
    if template.exponent {
        return Ok(match value.finite() {
            Some(_) => scientific(value, template.fraction),
            None => unfit_exponent(&template),
        });
    }
    let shifted = match template.shift {
        None | Some(0) => value.clone(),
        Some(shift) => value.mul(&Decimal::parse(&format!("1e{shift}"))?)?,
    };
    template.whole += template.shift.unwrap_or(0);
    let text = shifted.rounded(template.fraction as i64).to_string();
    Ok(placed(&template, &text))
}

/// A float in the form of a template; `digits` is how many its type holds.
pub fn format_float(value: f64, digits: usize, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.roman {
        return Ok(filled(&template, &roman(&Decimal::from_f64(value.round_ties_even())), false, 0));
    }
    if template.exponent {
        if !value.is_finite() {
            return Ok(unfit_exponent(&template));
        }
        let text = format!("{value:.*e}", template.fraction);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i64 = exponent.parse().unwrap_or(0);
        return Ok(exponential(mantissa, exponent));
    }
    let value = value * 10_f64.powi(template.shift.unwrap_or(0) as i32);
    template.whole += template.shift.unwrap_or(0);
    let shown = |digits: usize| {
        if value.is_nan() {
            "NaN".to_owned()
        } else if value.is_infinite() {
            (if value > 0.0 { "Infinity" } else { "-Infinity" }).to_owned()
        } else {
            format!("{value:.digits$}")
        }
    };
    let whole = shown(0).trim_start_matches('-').len();
    // Digits that the type does not hold are not shown.
    template.fraction = template.fraction.min(digits.saturating_sub(whole));
    Ok(placed(&template, &shown(template.fraction)))
}

/// A rounded number laid into a template.
fn placed(template: &Template, text: &str) -> String {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let whole = digits.find('.').unwrap_or(digits.len());
    if whole > template.whole {
        let unfit = format!("{}.{}", "#".repeat(template.whole), "#".repeat(template.fraction));
        return filled(template, &unfit, negative, 0);
    }
    filled(template, digits, negative, template.whole - whole)
}

/// The state of laying a number into a template.
struct Filling<'a> {
    template: &'a Template,
    /// The digits, without a sign.
    number: &'a [u8],
    /// The next of them.
    next: usize,
    negative: bool,
    /// Places of the template before the first digit.
    spaces: usize,
    /// Where the sign stands.
    sign: Anchor,
    angles: bool,
    sign_done: bool,
    /// A digit has been written.
    within: bool,
    /// The place of the template.
    place: usize,
    /// With `FM`, the last character of the number that counts.
    last: Option<usize>,
    /// How many places there are.
    count: i64,
    out: String,
    /// The number ended before its template: nothing follows.
    ended: bool,
}

fn filled(template: &Template, number: &str, negative: bool, spaces: usize) -> String {
    let mut angles = template.angles;
    let mut sign = template.sign;
    let sign_done = if template.plus || template.minus {
        template.minus
    } else {
        angles &= negative || !template.bare;
        if sign == Anchor::Before && template.whole == template.before_sign {
            sign = Anchor::Behind;
        }
        !negative && template.bare && sign == Anchor::None
    };
    let mut last = None;
    if template.bare
        && template.point
        && let Some(point) = number.find('.')
    {
        let significant = number.bytes().rposition(|digit| digit != b'0').unwrap_or(point).max(point);
        let zero = if template.zero_end > spaces { (template.zero_end - spaces).min(number.len() - 1) } else { 0 };
        last = Some(significant.max(zero));
    }
    let count = (template.fraction + template.whole) as i64 - 1 + i64::from(!sign_done && spaces == 0);
    let mut filling = Filling {
        template,
        number: number.as_bytes(),
        next: 0,
        negative,
        spaces,
        sign,
        angles,
        sign_done,
        within: false,
        place: 0,
        last,
        count,
        out: String::new(),
        ended: false,
    };
    for piece in &template.pieces {
        if filling.ended {
            break;
        }
        filling.write(*piece, number);
    }
    filling.out
}

impl Filling<'_> {
    fn push(&mut self, c: char) {
        self.out.push(c);
    }

    fn write(&mut self, piece: Piece, number: &str) {
        let bare = self.template.bare;
        let or_blank = |shown: bool, c: char| if shown { Some(c) } else { (!bare).then_some(' ') };
        let shown = match piece {
            Piece::Nine | Piece::Zero | Piece::Point if !self.template.roman => return self.digit(piece),
            Piece::Nine | Piece::Zero | Piece::Point => None,
            Piece::Group => or_blank(self.within, ','),
            Piece::Minus => or_blank(self.negative, '-'),
            Piece::Plus => or_blank(!self.negative, '+'),
            Piece::Either => Some(if self.negative { '-' } else { '+' }),
            Piece::Currency => Some(' '),
            Piece::Ordinal { upper } => {
                if !self.template.roman && !self.negative && !self.template.point && !number.starts_with('#') {
                    let suffix = ordinal_suffix(number);
                    self.out.push_str(&if upper { suffix.to_uppercase() } else { suffix.to_owned() });
                }
                None
            }
            Piece::Roman { upper } => {
                let text = if upper { number.to_owned() } else { number.to_lowercase() };
                self.out.push_str(&if bare { text } else { format!("{text:>15}") });
                None
            }
            Piece::Literal(c) => Some(c),
        };
        self.out.extend(shown);
    }

    /// The number is 0 before its point, and nothing asks for that digit.
    fn bare_zero(&self) -> bool {
        let zero = self.template.first_zero.is_some();
        !zero && self.next == 0 && self.number.first() == Some(&b'0') && self.template.fraction != 0
    }

    fn ends_at_point(&self) -> bool {
        self.last.is_some_and(|last| self.number.get(last) == Some(&b'.'))
    }

    fn write_sign(&mut self) {
        match self.sign {
            Anchor::Before => self.push(if self.negative { '-' } else { '+' }),
            Anchor::Behind => return,
            Anchor::None if self.angles => self.push(if self.negative { '<' } else { ' ' }),
            Anchor::None if self.negative => self.push('-'),
            Anchor::None if self.template.bare => {}
            Anchor::None => self.push(' '),
        }
        self.sign_done = true;
    }

    fn digit(&mut self, piece: Piece) {
        self.within = false;
        let zero_here = self.template.first_zero.is_some_and(|zero| zero == self.place);
        if !self.sign_done && (self.place >= self.spaces || zero_here) && (!self.bare_zero() || self.ends_at_point()) {
            self.write_sign();
        }
        if self.place < self.spaces {
            if self.template.first_zero.is_some_and(|zero| zero <= self.place) {
                self.push('0');
                self.within = true;
            } else if !self.template.bare {
                self.push(' ');
            }
        } else {
            self.number_at(piece);
        }
        let end = match self.last {
            Some(last) if last == self.next => self.place as i64,
            _ => self.count + i64::from(self.spaces > 0) + i64::from(self.template.point),
        };
        if self.place as i64 + 1 == end {
            if self.sign_done && self.angles {
                self.push(if self.negative { '>' } else { ' ' });
            } else if self.sign == Anchor::Behind {
                self.push(if self.negative { '-' } else { '+' });
            }
        }
        self.place += 1;
    }

    /// Writes the next character of the number, if it is to be seen.
    fn number_at(&mut self, piece: Piece) {
        match self.number.get(self.next).copied() {
            Some(b'.') => self.push('.'),
            _ if self.last.is_some_and(|last| self.next > last) && piece != Piece::Zero => {}
            _ if self.bare_zero() => {
                if !self.template.bare {
                    self.push(' ');
                } else if self.ends_at_point() {
                    self.push('0');
                }
            }
            Some(digit) => {
                self.push(char::from(digit));
                self.within = true;
            }
            None => self.ended = true,
        }
        if self.next < self.number.len() {
            self.next += 1;
        }
    }
}

/// What stands for a number that `EEEE` cannot show.
fn unfit_exponent(template: &Template) -> String {
    let mut text = vec![b'#'; template.whole + template.fraction + 6];
    text[0] = b' ';
    text[template.whole + 1] = b'.';
    String::from_utf8(text).unwrap_or_default()
}

fn scientific(value: &Decimal, fraction: usize) -> String {
    let exponent = value.finite().map_or(0, |number| number.exponent());
    let text = value.to_string();
    let sign = if text.starts_with('-') { "-" } else { "" };
    let digits: String = text.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').collect();
    // The digits that are shown, and one that decides how they are rounded.
    let digits = digits.get(..fraction + 2).unwrap_or(&digits);
    let (first, others) = digits.split_at(digits.len().min(1));
    let first = if first.is_empty() { "0" } else { first };
    // A mantissa that rounds up to ten stays one, as in PostgreSQL.
    let mantissa = Decimal::parse(&format!("{sign}{first}.{others}0")).unwrap_or(Decimal::ZERO);
    let mantissa = mantissa.rounded(fraction as i64);
    exponential(&mantissa.to_string(), exponent)
}

fn exponential(mantissa: &str, exponent: i64) -> String {
    let lead = if mantissa.starts_with('-') { "" } else { " " };
    format!("{lead}{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn roman(value: &Decimal) -> String {
    let number = value.rounded(0).to_integer(&crate::Type::Int8).unwrap_or(0);
    if (1..=3_999).contains(&number) {
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
    }
}

/// The state of reading a number by a template.
struct Reading<'a> {
    template: &'a Template,
    text: &'a [u8],
    at: usize,
    sign: Option<u8>,
    digits: String,
    whole: usize,
    fraction: usize,
    point: bool,
}

/// Reads a number by a template (`to_number`); `None` for an empty template, of which nothing can be said.
pub fn read(text: &str, template: &str) -> Result<Option<Decimal>> {
    let template = Template::parse(template)?;
    if template.pieces.is_empty() {
        return Ok(None);
    }
    if template.roman {
        return Err(Error::new(Condition::FeatureNotSupported, "\"RN\" not supported for input"));
    }
    if template.exponent {
        return Err(Error::new(Condition::FeatureNotSupported, "\"EEEE\" not supported for input"));
    }
    let mut reading = Reading {
        template: &template,
        text: text.as_bytes(),
        at: 0,
        sign: None,
        digits: String::new(),
        whole: 0,
        fraction: 0,
        point: false,
    };
    for piece in &template.pieces {
        work::step(1)?;
        if reading.at >= reading.text.len() {
            break;
        }
        reading.take(*piece);
    }
    let digits = reading.digits.trim_end_matches('.');
    if digits.is_empty() {
        let sign = reading.sign.map_or(" ", |sign| if sign == b'-' { "-" } else { "+" });
        return Err(super::invalid_syntax("numeric", sign));
    }
    let mut value = Decimal::parse(digits)?.rounded(reading.fraction as i64);
    let shift = template.shift.unwrap_or(0);
    let precision = template.whole + shift + reading.fraction;
    if precision <= 1_000 {
        let modifier = NumericModifier { precision: precision as u16, scale: reading.fraction as i16 };
        value = value.constrained(&Type::Numeric(Some(modifier)))?;
    }
    if shift > 0 {
        value = value.mul(&decimal_math::power(&Decimal::from_i64(10), &Decimal::from_i64(-(shift as i64)))?)?;
    }
    Ok(Some(if reading.sign == Some(b'-') { value.neg() } else { value }))
}

impl Reading<'_> {
    fn here(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Nine | Piece::Zero | Piece::Point => {
                self.number_part(piece);
                self.at += 1;
            }
            Piece::Group => {
                // A separator is taken where it stands; without one, the template goes on.
                if !self.template.bare && self.here() == Some(b',') {
                    self.at += 1;
                }
            }
            Piece::Ordinal { .. } => self.skip(2),
            Piece::Currency | Piece::Minus | Piece::Plus | Piece::Either => self.skip(1),
            Piece::Literal(_) => self.pass(),
            Piece::Roman { .. } => {}
        }
    }

    /// Passes so many characters, but none that may belong to a number.
    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            match self.here() {
                None | Some(b'0'..=b'9' | b'.' | b',' | b'+' | b'-') => return,
                Some(_) => self.pass(),
            }
        }
    }

    /// Passes one character.
    fn pass(&mut self) {
        self.at += 1;
        while self.here().is_some_and(|byte| byte & 0xc0 == 0x80) {
            self.at += 1;
        }
    }

    /// Reads a sign, if one stands here; another is tried at the place of the next digit.
    fn number_part(&mut self, piece: Piece) {
        if self.here() == Some(b' ') {
            self.at += 1;
        }
        if self.sign.is_none() && piece != Piece::Point && self.whole + self.fraction == 0 {
            let angle = self.template.angles && self.here() == Some(b'<');
            match self.here() {
                Some(b'-' | b'+') => {
                    self.sign = self.here();
                    self.at += 1;
                }
                Some(_) if angle => {
                    self.sign = Some(b'-');
                    self.at += 1;
                }
                _ => {}
            }
        }
        let mut read = false;
        match self.here() {
            None => return,
            Some(digit) if digit.is_ascii_digit() => {
                if self.point && self.fraction == self.template.fraction {
                    return;
                }
                self.digits.push(char::from(digit));
                *(if self.point { &mut self.fraction } else { &mut self.whole }) += 1;
                read = true;
            }
            Some(b'.') if self.template.point && !self.point => {
                self.digits.push('.');
                self.point = true;
                read = true;
            }
            Some(_) => {}
        }
        if self.sign.is_some() || self.whole + self.fraction == 0 {
            return;
        }
        // A sign behind the number.
        if self.template.sign != Anchor::None {
            let behind = self.text.get(self.at + 1).copied();
            if read && let Some(sign @ (b'-' | b'+')) = behind {
                self.sign = Some(sign);
                self.at += 1;
            }
        } else if !read && (self.template.plus || self.template.minus) && matches!(self.here(), Some(b'-' | b'+')) {
            self.sign = self.here();
        }
    }
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
            assert_eq!(read(text, template).unwrap().unwrap().to_string(), value);
        }
        assert_eq!(read("x", "9").unwrap_err().condition().sqlstate(), "22P02");
    }
}
