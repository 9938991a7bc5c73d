//! The text of an array, cut into braces and members.
//!
//! The whole text is looked at before any member is read, so that a malformed array is reported as such and not by what
//! its first half may hold.

use super::array::{Array, Dimension, MAX_DIMENSIONS, too_deep};
use super::datetime_fields::is_blank;
use crate::{Condition, Error, Result, work};

/// A part of an array's text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Piece {
    /// `{`
    Open,
    /// `}`
    Close,
    /// A member without its quotes and escapes.
    Member(String),
    /// NULL, unquoted.
    Null,
}

/// What came last.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Nothing,
    Opened,
    Member,
    Quoted,
    QuoteClosed,
    MemberDelimited,
    Closed,
    ClosedDelimited,
}

fn malformed(text: &str, detail: impl Into<String>) -> Error {
    Error::new(Condition::InvalidTextRepresentation, format!("malformed array literal: \"{text}\""))
        .detail(detail.into())
}

/// The bounds in front of an array (`[1:3][0:1]=`), and the text from its first brace on.
pub(super) fn bounds(text: &str) -> Result<(Vec<Dimension>, &str)> {
    let skip = |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_ascii() && is_blank(c as u8)).len();
    let mut rest = &text[skip(text)..];
    let mut bounds = Vec::new();
    while let Some(inside) = rest.strip_prefix('[') {
        if bounds.len() == MAX_DIMENSIONS {
            return Err(too_deep(bounds.len() + 1));
        }
        let number =
            |text: &'_ str| text.find(|c: char| !c.is_ascii_digit() && c != '-' && c != '+').unwrap_or(text.len());
        let end = number(inside);
        if end == 0 {
            return Err(malformed(text, "\"[\" must introduce explicitly-specified array dimensions."));
        }
        let (mut lower, mut upper, mut behind) = (1_i64, inside[..end].parse::<i64>().unwrap_or(0), &inside[end..]);
        if let Some(second) = behind.strip_prefix(':') {
            let end = number(second);
            if end == 0 {
                return Err(malformed(text, "Missing array dimension value."));
            }
            (lower, upper, behind) = (upper, second[..end].parse().unwrap_or(0), &second[end..]);
        }
        behind = behind.strip_prefix(']').ok_or_else(|| malformed(text, "Missing \"]\" after array dimensions."))?;
        if upper < lower {
            return Err(Error::new(Condition::IllegalSubscript, "upper bound cannot be less than lower bound"));
        }
        let too_large = || Error::new(Condition::NumericValueOutOfRange, "array bound is out of integer range");
        let lower = i32::try_from(lower).map_err(|_| too_large())?;
        let length = usize::try_from(i64::from(i32::try_from(upper).map_err(|_| too_large())?) - i64::from(lower) + 1);
        bounds.push(Dimension { lower, length: length.unwrap_or(0) });
        Array::check_size(&bounds)?;
        rest = &behind[skip(behind)..];
    }
    if !bounds.is_empty() {
        rest = rest.strip_prefix('=').ok_or_else(|| malformed(text, "Missing \"=\" after array dimensions."))?;
        rest = &rest[skip(rest)..];
    }
    match (rest.starts_with('{'), bounds.is_empty()) {
        (true, _) => Ok((bounds, rest)),
        (false, true) => Err(malformed(text, "Array value must start with \"{\" or dimension information.")),
        (false, false) => Err(malformed(text, "Array contents must start with \"{\".")),
    }
}

/// Compares the bounds that were written with the members that follow.
pub(super) fn check_bounds(text: &str, bounds: &[Dimension], pieces: &[Piece]) -> Result<()> {
    // Every dimension's first array has as many members as the others.
    let mut lengths = Vec::new();
    for depth in 1..=pieces.iter().take_while(|piece| **piece == Piece::Open).count() {
        let (mut level, mut count) = (0, 0_usize);
        for piece in pieces {
            match piece {
                Piece::Open => {
                    count += usize::from(level == depth);
                    level += 1;
                }
                Piece::Close if level == depth => break,
                Piece::Close => level -= 1,
                Piece::Member(_) | Piece::Null => count += usize::from(level == depth),
            }
        }
        lengths.push(count);
    }
    if !bounds.iter().map(|dimension| dimension.length).eq(lengths) {
        return Err(malformed(text, "Specified array dimensions do not match array contents."));
    }
    Ok(())
}

/// Cuts an array from its first brace on, and checks that all arrays of a level have one length. The delimiter stands
/// between members.
pub(super) fn split(text: &str, delimiter: char) -> Result<Vec<Piece>> {
    let mut cutter =
        Cutter { text, pieces: Vec::new(), state: State::Nothing, levels: Vec::new(), lengths: Vec::new() };
    let mut member = Member::default();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if cutter.state == State::Quoted {
            match c {
                '"' => {
                    cutter.state = State::QuoteClosed;
                    member.significant = member.text.len();
                }
                '\\' => member.escaped(chars.next().ok_or_else(|| cutter.error("Unexpected end of input."))?.1),
                c => member.text.push(c),
            }
            continue;
        }
        match c {
            '\\' => {
                if !matches!(cutter.state, State::Opened | State::Member | State::MemberDelimited) {
                    return Err(cutter.unexpected('\\'));
                }
                cutter.state = State::Member;
                member.escaped(chars.next().ok_or_else(|| cutter.error("Unexpected end of input."))?.1);
            }
            '"' => {
                if !matches!(cutter.state, State::Opened | State::MemberDelimited) {
                    return Err(cutter.error("Unexpected array element."));
                }
                cutter.state = State::Quoted;
                member.quoted = true;
            }
            '{' => cutter.open()?,
            '}' => {
                if cutter.close(&mut member)? {
                    let junk = text[at + 1..].bytes().any(|b| !is_blank(b));
                    return if junk { Err(cutter.error("Junk after closing right brace.")) } else { cutter.finish() };
                }
            }
            c if c == delimiter => cutter.delimit(&mut member, c)?,
            c if c.is_ascii() && is_blank(c as u8) => {
                if cutter.state == State::Member {
                    member.text.push(c);
                }
            }
            c => {
                if !matches!(cutter.state, State::Opened | State::Member | State::MemberDelimited) {
                    return Err(cutter.error("Unexpected array element."));
                }
                cutter.state = State::Member;
                member.text.push(c);
                member.significant = member.text.len();
            }
        }
    }
    Err(cutter.error("Unexpected end of input."))
}

#[derive(Default)]
struct Member {
    text: String,
    /// Up to here blanks count.
    significant: usize,
    /// With quotes or an escape it is not NULL.
    quoted: bool,
}

impl Member {
    fn escaped(&mut self, c: char) {
        self.text.push(c);
        self.significant = self.text.len();
        self.quoted = true;
    }

    fn take(&mut self) -> Piece {
        let Self { mut text, significant, quoted } = std::mem::take(self);
        text.truncate(significant);
        if !quoted && text.eq_ignore_ascii_case("null") { Piece::Null } else { Piece::Member(text) }
    }
}

struct Cutter<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
    state: State,
    /// Members so far of each array that is open.
    levels: Vec<usize>,
    /// The length of the arrays of each level, once one is complete.
    lengths: Vec<Option<usize>>,
}

impl Cutter<'_> {
    fn error(&self, detail: &str) -> Error {
        malformed(self.text, detail)
    }

    fn unexpected(&self, c: char) -> Error {
        malformed(self.text, format!("Unexpected \"{c}\" character."))
    }

    fn open(&mut self) -> Result<()> {
        if !matches!(self.state, State::Nothing | State::Opened | State::ClosedDelimited) {
            return Err(self.unexpected('{'));
        }
        if self.levels.len() == MAX_DIMENSIONS {
            return Err(too_deep(self.levels.len() + 1));
        }
        self.state = State::Opened;
        self.levels.push(1);
        if self.lengths.len() < self.levels.len() {
            self.lengths.push(None);
        }
        self.pieces.push(Piece::Open);
        Ok(())
    }

    fn push(&mut self, member: &mut Member) -> Result<()> {
        work::step(member.text.len() + 16)?;
        self.pieces.push(member.take());
        Ok(())
    }

    /// Ends an array; true when it was the outermost.
    fn close(&mut self, member: &mut Member) -> Result<bool> {
        let empty = self.levels.len() == 1 && self.state == State::Opened;
        if !matches!(self.state, State::Member | State::QuoteClosed | State::Closed) && !empty {
            return Err(self.unexpected('}'));
        }
        if matches!(self.state, State::Member | State::QuoteClosed) {
            self.push(member)?;
        }
        self.state = State::Closed;
        let Some(length) = self.levels.pop() else { return Err(self.unexpected('}')) };
        let expected = self.lengths[self.levels.len()].get_or_insert(length);
        if *expected != length {
            return Err(self.error("Multidimensional arrays must have sub-arrays with matching dimensions."));
        }
        self.pieces.push(Piece::Close);
        Ok(self.levels.is_empty())
    }

    fn delimit(&mut self, member: &mut Member, delimiter: char) -> Result<()> {
        match self.state {
            State::Member | State::QuoteClosed => {
                self.push(member)?;
                self.state = State::MemberDelimited;
            }
            State::Closed => self.state = State::ClosedDelimited,
            _ => return Err(self.unexpected(delimiter)),
        }
        if let Some(length) = self.levels.last_mut() {
            *length += 1;
        }
        Ok(())
    }

    /// Members stand in the innermost dimension only.
    fn finish(self) -> Result<Vec<Piece>> {
        let (mut level, depth) = (0, self.lengths.len());
        for piece in &self.pieces {
            match piece {
                Piece::Open => level += 1,
                Piece::Close => level -= 1,
                Piece::Member(_) | Piece::Null if level != depth => {
                    return Err(self.error("Multidimensional arrays must have sub-arrays with matching dimensions."));
                }
                Piece::Member(_) | Piece::Null => {}
            }
        }
        Ok(self.pieces)
    }
}
