//! `tsquery`: words joined by operators.

use std::cmp::Ordering;

use super::token::{Manner, Reader, is_operator, quote};
use super::vector::{MAX_POSITION, MAX_WORD};
use crate::stack::deeper;
use crate::{Condition, Error, Result};

/// A word or an operator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Item {
    /// A word.
    Word {
        /// The word.
        word: String,
        /// The weights that it may have, a bit each from `D` on; 0 for any.
        weights: u8,
        /// Words that begin with it count, too.
        prefix: bool,
    },
    /// `!`
    Not,
    /// `&`
    And,
    /// `|`
    Or,
    /// `<n>`
    Phrase(u16),
    /// A word that is left out; not in a finished query.
    Stop,
}

impl Item {
    /// How many operands it has.
    pub const fn operands(&self) -> usize {
        match self {
            Self::Word { .. } | Self::Stop => 0,
            Self::Not => 1,
            Self::And | Self::Or | Self::Phrase(_) => 2,
        }
    }

    const fn priority(&self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Phrase(_) => 3,
            Self::Not | Self::Word { .. } | Self::Stop => 4,
        }
    }

    /// PostgreSQL's number of an operator.
    const fn code(&self) -> u8 {
        match self {
            Self::Not => 1,
            Self::And => 2,
            Self::Or => 3,
            Self::Phrase(_) => 4,
            Self::Word { .. } | Self::Stop => 0,
        }
    }
}

/// A query. Each operator stands before its operands, of which the right one comes first, as on the wire.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Query {
    items: Vec<Item>,
    /// For each item, where what belongs to it ends.
    ends: Vec<usize>,
}

/// What a word of a query's text becomes.
pub type Push<'a> = &'a mut dyn FnMut(&mut Vec<Item>, &str, u8, bool) -> Result<()>;

/// How a query's text is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// With operators.
    Standard,
    /// The whole text is words.
    Plain,
    /// As people write to search engines.
    Web,
}

impl Query {
    /// A query from items of which each operator stands behind its operands; words that were left out are taken away.
    ///
    /// # Errors
    /// `XX000` for what is none, `54000` for a query that is too large.
    pub fn from_postfix(items: Vec<Item>) -> Result<Self> {
        let mut items = if items.contains(&Item::Stop) { without_stops(items)? } else { items };
        items.reverse();
        Self::from_prefix(items).ok_or_else(|| Error::internal("malformed tsquery: operand not found"))
    }

    /// A query from items of which each operator stands before its operands, the right one first.
    fn from_prefix(items: Vec<Item>) -> Option<Self> {
        let mut ends = vec![0; items.len()];
        let mut starts: Vec<usize> = Vec::new();
        for (at, item) in items.iter().enumerate().rev() {
            let mut end = at + 1;
            for _ in 0..item.operands() {
                end = ends[starts.pop()?];
            }
            ends[at] = end;
            starts.push(at);
        }
        (starts.len() <= 1).then_some(Self { items, ends })
    }

    /// Its items, each operator before its operands, the right one first.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// True for a query of no words.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Where the left operand of an operator begins.
    pub fn left(&self, at: usize) -> usize {
        self.ends[at + 1]
    }

    /// The items with operators behind their operands.
    pub fn postfix(&self) -> Vec<Item> {
        self.items.iter().rev().cloned().collect()
    }

    /// Reads a text.
    ///
    /// # Errors
    /// `42601`, `22023`, `54000`
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text, Style::Standard, &mut |items, word, weights, prefix| {
            items.push(Item::Word { word: word.to_owned(), weights, prefix });
            Ok(())
        })
    }

    /// Reads a text in some style; `push` says what its words become.
    ///
    /// # Errors
    /// As [`Query::parse`], and those of `push`.
    pub fn read(text: &str, style: Style, push: Push<'_>) -> Result<Self> {
        let manner = if style == Style::Web { Manner::Web } else { Manner::Query };
        let mut parser = Parser { reader: Reader::new(text, manner), items: Vec::new(), first: true, operand: true };
        match style {
            Style::Standard => parser.standard(push, 0)?,
            Style::Plain if text.is_empty() => {}
            Style::Plain => push(&mut parser.items, text, 0, false)?,
            Style::Web => parser.web(push)?,
        }
        Self::from_postfix(parser.items)
    }

    /// Its text.
    ///
    /// # Errors
    /// `53200`
    pub fn print(&self) -> Result<String> {
        let mut out = String::new();
        if !self.items.is_empty() {
            self.print_item(&mut out, 0, 0, false)?;
        }
        Ok(out)
    }

    fn print_item(&self, out: &mut String, at: usize, around: u8, right_of_phrase: bool) -> Result<()> {
        let item = &self.items[at];
        let priority = item.priority();
        if let Item::Word { word, weights, prefix } = item {
            print_word(out, word, *weights, *prefix);
            return Ok(());
        }
        let enclosed = priority < around || (matches!(item, Item::Phrase(_)) && right_of_phrase);
        if *item == Item::Not {
            out.push_str(if enclosed { "( !" } else { "!" });
            deeper(|| self.print_item(out, at + 1, priority, false))?;
        } else {
            if enclosed {
                out.push_str("( ");
            }
            deeper(|| self.print_item(out, self.left(at), priority, false))?;
            match item {
                Item::And => out.push_str(" & "),
                Item::Or => out.push_str(" | "),
                Item::Phrase(1) => out.push_str(" <-> "),
                Item::Phrase(distance) => out.push_str(&format!(" <{distance}> ")),
                Item::Word { .. } | Item::Not | Item::Stop => {}
            }
            deeper(|| self.print_item(out, at + 1, priority, matches!(item, Item::Phrase(_))))?;
        }
        if enclosed {
            out.push_str(" )");
        }
        Ok(())
    }

    /// The part that an index can be asked for, as `querytree` shows it: without what is negated. `None` when that is
    /// everything.
    pub fn without_negations(&self) -> Result<Option<Self>> {
        let mut kept: Vec<Option<Vec<Item>>> = Vec::new();
        for item in self.items.iter().rev() {
            let parts = match item {
                Item::Not => {
                    kept.pop();
                    None
                }
                Item::Word { .. } | Item::Stop => Some(vec![item.clone()]),
                Item::And | Item::Or | Item::Phrase(_) => {
                    let (right, left) = (kept.pop().flatten(), kept.pop().flatten());
                    match (left, right) {
                        (Some(mut left), Some(right)) => {
                            left.extend(right);
                            left.push(item.clone());
                            Some(left)
                        }
                        _ if *item == Item::Or => None,
                        (one, other) => one.or(other),
                    }
                }
            };
            kept.push(parts);
        }
        kept.pop().flatten().map(Self::from_postfix).transpose()
    }

    /// The order of PostgreSQL, which has no meaning; weights are not looked at.
    pub fn compare(&self, other: &Self) -> Ordering {
        let bytes = |query: &Self| -> usize {
            let words = query.items.iter().map(|item| match item {
                Item::Word { word, .. } => word.len() + 1,
                _ => 0,
            });
            words.sum()
        };
        (self.items.len().cmp(&other.items.len())).then_with(|| bytes(self).cmp(&bytes(other))).then_with(|| {
            match (self.items.is_empty(), other.items.is_empty()) {
                (false, false) => self.compare_items(0, other, 0).unwrap_or(Ordering::Equal),
                _ => Ordering::Equal,
            }
        })
    }

    fn compare_items(&self, at: usize, other: &Self, there: usize) -> Result<Ordering> {
        let (one, two) = (&self.items[at], &other.items[there]);
        Ok(match (one, two) {
            (Item::Word { word, .. }, Item::Word { word: second, .. }) => compare_words(word, second),
            (Item::Word { .. }, _) => Ordering::Greater,
            (_, Item::Word { .. }) => Ordering::Less,
            _ => {
                let mut order = two.code().cmp(&one.code());
                if order.is_eq() {
                    order = deeper(|| self.compare_items(at + 1, other, there + 1))?;
                }
                if order.is_eq() && one.operands() == 2 {
                    order = deeper(|| self.compare_items(self.left(at), other, other.left(there)))?;
                }
                match (one, two) {
                    (Item::Phrase(distance), Item::Phrase(second)) if order.is_eq() => second.cmp(distance),
                    _ => order,
                }
            }
        })
    }

    /// Reads PostgreSQL's binary form.
    ///
    /// # Errors
    /// `22P03`
    pub fn receive(bytes: &[u8]) -> Result<Self> {
        let wrong = |what: &str| Error::new(Condition::InvalidBinaryRepresentation, format!("invalid tsquery: {what}"));
        let short = || wrong("too short");
        let (count, mut rest) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
        let mut items = Vec::new();
        for _ in 0..u32::from_be_bytes(*count) {
            match *rest {
                [1, weights, prefix, ref word @ ..] => {
                    let end = word.iter().position(|byte| *byte == 0).ok_or_else(short)?;
                    if weights > 15 {
                        return Err(wrong("invalid weight bitmap"));
                    }
                    let text = std::str::from_utf8(&word[..end]).map_err(|_| wrong("a word is no text"))?;
                    if text.len() >= MAX_WORD {
                        return Err(wrong("operand too long"));
                    }
                    items.push(Item::Word { word: text.to_owned(), weights, prefix: prefix != 0 });
                    rest = &word[end + 1..];
                }
                [2, code, ref behind @ ..] => {
                    rest = behind;
                    items.push(match code {
                        1 => Item::Not,
                        2 => Item::And,
                        3 => Item::Or,
                        4 => {
                            let (distance, behind) = behind.split_first_chunk::<2>().ok_or_else(short)?;
                            rest = behind;
                            Item::Phrase(u16::from_be_bytes(*distance))
                        }
                        other => return Err(wrong(&format!("unrecognized operator type {other}"))),
                    });
                }
                [] => return Err(short()),
                _ => return Err(wrong("unrecognized item type")),
            }
        }
        if !rest.is_empty() {
            return Err(wrong("bytes are left over"));
        }
        Self::from_prefix(items).ok_or_else(|| wrong("operand not found"))
    }

    /// Writes PostgreSQL's binary form.
    pub fn send(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.items.len() as u32).to_be_bytes());
        for item in &self.items {
            match item {
                Item::Word { word, weights, prefix } => {
                    out.extend_from_slice(&[1, *weights, u8::from(*prefix)]);
                    out.extend_from_slice(word.as_bytes());
                    out.push(0);
                }
                operator => {
                    out.extend_from_slice(&[2, operator.code()]);
                    if let Item::Phrase(distance) = operator {
                        out.extend_from_slice(&distance.to_be_bytes());
                    }
                }
            }
        }
    }
}

fn print_word(out: &mut String, word: &str, weights: u8, prefix: bool) {
    quote(out, word);
    if weights == 0 && !prefix {
        return;
    }
    out.push(':');
    if prefix {
        out.push('*');
    }
    for (bit, letter) in [(8, 'A'), (4, 'B'), (2, 'C'), (1, 'D')] {
        if weights & bit != 0 {
            out.push(letter);
        }
    }
}

/// Words by a check sum and then by their bytes; the greater check sum is first.
pub fn compare_words(one: &str, other: &str) -> Ordering {
    (checksum(other.as_bytes()).cmp(&checksum(one.as_bytes()))).then_with(|| one.cmp(other))
}

/// PostgreSQL's old check sum: the table of CRC-32 that goes by the lowest bits, used by the highest.
fn checksum(bytes: &[u8]) -> i32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0;
        while at < 256 {
            let mut value = at as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { (value >> 1) ^ 0xEDB8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[at] = value;
            at += 1;
        }
        table
    };
    let mut crc = u32::MAX;
    for byte in bytes {
        crc = TABLE[((crc >> 24) as u8 ^ byte) as usize] ^ (crc << 8);
    }
    !crc as i32
}

/// Takes out the words that were left out, with the operators that want them; what they leave between two words of a
/// phrase is added to the phrase's distance.
fn without_stops(items: Vec<Item>) -> Result<Vec<Item>> {
    /// What is left of an operand, and by how much it has moved its neighbours apart to its left and right.
    struct Part {
        items: Option<Vec<Item>>,
        left: u16,
        right: u16,
    }
    let mut parts: Vec<Part> = Vec::new();
    let malformed = || Error::internal("malformed tsquery: operand not found");
    for item in items {
        let part = match item.operands() {
            0 => Part { items: (item != Item::Stop).then(|| vec![item]), left: 0, right: 0 },
            1 => {
                let mut part = parts.pop().ok_or_else(malformed)?;
                if let Some(items) = &mut part.items {
                    items.push(item);
                }
                part
            }
            _ => {
                let (right, left) = (parts.pop().ok_or_else(malformed)?, parts.pop().ok_or_else(malformed)?);
                let distance = if let Item::Phrase(distance) = item { Some(distance) } else { None };
                match (left.items, right.items, distance) {
                    (None, None, Some(distance)) => {
                        let gone = left.left + distance + right.left;
                        Part { items: None, left: gone, right: gone }
                    }
                    (None, None, None) => {
                        let gone = left.left.max(right.left);
                        Part { items: None, left: gone, right: gone }
                    }
                    (None, items, Some(distance)) => {
                        Part { items, left: left.left + distance + right.left, right: right.right }
                    }
                    (None, items, None) => Part { items, left: right.left, right: right.right },
                    (items, None, Some(distance)) => {
                        Part { items, left: left.left, right: left.right + distance + right.right }
                    }
                    (items, None, None) => Part { items, left: left.left, right: left.right },
                    (Some(mut items), Some(more), distance) => {
                        items.extend(more);
                        match distance {
                            Some(distance) => {
                                items.push(Item::Phrase(distance + left.right + right.left));
                                Part { items: Some(items), left: left.left, right: right.right }
                            }
                            None => {
                                items.push(item);
                                Part { items: Some(items), left: 0, right: 0 }
                            }
                        }
                    }
                }
            }
        };
        parts.push(part);
    }
    Ok(parts.pop().and_then(|part| part.items).unwrap_or_default())
}

/// A text on its way to a query.
struct Parser<'a> {
    reader: Reader<'a>,
    items: Vec<Item>,
    /// Nothing has been read but blanks.
    first: bool,
    /// An operand comes next, not an operator.
    operand: bool,
}

impl Parser<'_> {
    fn operators_down_to(&mut self, waiting: &mut Vec<Item>, next: &Item) {
        while let Some(top) = waiting.last() {
            // A negation takes its operand from its right.
            let waits =
                if *next == Item::Not { next.priority() >= top.priority() } else { next.priority() > top.priority() };
            if waits {
                break;
            }
            self.items.extend(waiting.pop());
        }
    }

    fn finish(&mut self, waiting: Vec<Item>) {
        self.items.extend(waiting.into_iter().rev());
    }

    fn operator(&mut self, waiting: &mut Vec<Item>, operator: Item) -> Result<()> {
        /// As many operators of PostgreSQL's can wait.
        const MOST: usize = 32;
        self.operators_down_to(waiting, &operator);
        if waiting.len() == MOST {
            return Err(Error::internal("tsquery stack too small"));
        }
        waiting.push(operator);
        self.operand = true;
        self.first = false;
        Ok(())
    }

    /// The text up to its end, or up to a parenthesis that ends this part.
    fn standard(&mut self, push: Push<'_>, depth: usize) -> Result<()> {
        let mut waiting = Vec::new();
        loop {
            let next = self.reader.peek();
            if self.operand {
                match next {
                    Some('!') => {
                        self.reader.advance();
                        self.operator(&mut waiting, Item::Not)?;
                    }
                    Some('(') => {
                        self.reader.advance();
                        self.first = false;
                        deeper(|| self.standard(push, depth + 1))?;
                    }
                    Some(':') => return Err(self.reader.syntax_error()),
                    Some(c) if c.is_whitespace() => self.reader.advance(),
                    _ => {
                        let Some((word, _)) = self.reader.word()? else {
                            if self.first {
                                return Ok(());
                            }
                            let message = format!("no operand in tsquery: \"{}\"", self.reader.whole);
                            return Err(Error::new(Condition::SyntaxError, message));
                        };
                        let (weights, prefix) = self.modifiers();
                        if word.len() >= MAX_WORD {
                            let message = format!("word is too long in tsquery: \"{}\"", self.reader.whole);
                            return Err(Error::new(Condition::ProgramLimitExceeded, message));
                        }
                        push(&mut self.items, &word, weights, prefix)?;
                        self.operand = false;
                        self.first = false;
                    }
                }
                continue;
            }
            match next {
                Some('&') => {
                    self.reader.advance();
                    self.operator(&mut waiting, Item::And)?;
                }
                Some('|') => {
                    self.reader.advance();
                    self.operator(&mut waiting, Item::Or)?;
                }
                Some('<') => {
                    let distance = self.distance()?;
                    self.operator(&mut waiting, Item::Phrase(distance))?;
                }
                Some(')') if depth > 0 => {
                    self.reader.advance();
                    self.finish(waiting);
                    return Ok(());
                }
                None if depth == 0 => {
                    self.finish(waiting);
                    return Ok(());
                }
                Some(c) if c.is_whitespace() => self.reader.advance(),
                _ => return Err(self.reader.syntax_error()),
            }
        }
    }

    /// `:*AB` behind a word.
    fn modifiers(&mut self) -> (u8, bool) {
        let (mut weights, mut prefix) = (0, false);
        if self.reader.peek() != Some(':') {
            return (weights, prefix);
        }
        self.reader.advance();
        while let Some(c) = self.reader.peek() {
            match c {
                'a' | 'A' => weights |= 8,
                'b' | 'B' => weights |= 4,
                'c' | 'C' => weights |= 2,
                'd' | 'D' => weights |= 1,
                '*' => prefix = true,
                _ => break,
            }
            self.reader.advance();
        }
        (weights, prefix)
    }

    /// `<->`, `<3>`
    fn distance(&mut self) -> Result<u16> {
        self.reader.advance();
        let digits = self.reader.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (distance, width) = if self.reader.rest.starts_with('-') {
            (1, 1)
        } else if digits > 0 {
            let number = self.reader.rest[..digits].parse().ok().filter(|number| *number <= MAX_POSITION);
            (number.ok_or_else(distance_out_of_range)?, digits)
        } else {
            return Err(self.reader.syntax_error());
        };
        match self.reader.rest[width..].strip_prefix('>') {
            Some(rest) => self.reader.rest = rest,
            None => return Err(self.reader.syntax_error()),
        }
        Ok(distance as u16)
    }

    fn web(&mut self, push: Push<'_>) -> Result<()> {
        let mut waiting = Vec::new();
        loop {
            let Some(next) = self.reader.peek() else {
                if self.operand && !self.first {
                    self.items.push(Item::Stop);
                }
                self.finish(waiting);
                return Ok(());
            };
            if next.is_whitespace() {
                self.reader.advance();
            } else if !self.operand {
                if self.or_follows() {
                    self.reader.rest = &self.reader.rest[2..];
                    self.operator(&mut waiting, Item::Or)?;
                } else if is_operator(next) {
                    self.reader.advance();
                } else {
                    self.operator(&mut waiting, Item::And)?;
                }
            } else if next == '-' {
                self.reader.advance();
                self.operator(&mut waiting, Item::Not)?;
            } else if next == '"' {
                self.reader.advance();
                let end = self.reader.rest.find('"').unwrap_or(self.reader.rest.len());
                let quoted = &self.reader.rest[..end];
                push(&mut self.items, quoted, 0, false)?;
                self.reader.rest = self.reader.rest[end..].strip_prefix('"').unwrap_or("");
                self.operand = false;
                self.first = false;
            } else if is_operator(next) {
                self.reader.advance();
                self.first = false;
            } else {
                let Some((word, _)) = self.reader.word()? else { continue };
                push(&mut self.items, &word, 0, false)?;
                self.operand = false;
                self.first = false;
            }
        }
    }

    /// True where the word `or` stands by itself and something follows.
    fn or_follows(&self) -> bool {
        let rest = self.reader.rest;
        let Some((word, rest)) = rest.split_at_checked(2) else { return false };
        let mut behind = rest.chars();
        let Some(next) = behind.next() else { return false };
        word.eq_ignore_ascii_case("or")
            && !(matches!(next, '-' | '_') || next.is_alphanumeric())
            && behind.any(|c| !c.is_whitespace())
    }
}

/// The error for a distance that no phrase can have.
pub fn distance_out_of_range() -> Error {
    let message =
        format!("distance in phrase operator must be an integer value between zero and {MAX_POSITION} inclusive");
    Error::new(Condition::InvalidParameterValue, message)
}
