//! Reads PostgreSQL's pattern language: advanced regular expressions, and the extended ones that they grew from.

use regex_syntax::hir::ClassUnicode;
use rowferry_dialect::{Condition, Error, Result, work};

use super::part::{Look, Part, Preference};
use super::sets;

/// How a pattern is to be read, by the letters of its flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) any_case: bool,
    /// `.` and `[^…]` take newlines.
    pub(super) takes_newline: bool,
    /// `^` and `$` know lines.
    pub(super) lines: bool,
    expanded: bool,
    flavour: Flavour,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Flavour {
    Advanced,
    Extended,
    Basic,
    Literal,
}

impl Default for Options {
    fn default() -> Self {
        // A newline is a character like any other unless a flag says otherwise.
        Self { any_case: false, takes_newline: true, lines: false, expanded: false, flavour: Flavour::Advanced }
    }
}

impl Options {
    /// The letter of a flag; false for one that is none. `g` is the callers' business.
    pub(super) fn set(&mut self, flag: char) -> bool {
        match flag {
            'i' => self.any_case = true,
            'c' => self.any_case = false,
            'n' | 'm' => (self.takes_newline, self.lines) = (false, true),
            'p' => (self.takes_newline, self.lines) = (false, false),
            'w' => (self.takes_newline, self.lines) = (true, true),
            's' => (self.takes_newline, self.lines) = (true, false),
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'q' => self.flavour = Flavour::Literal,
            'e' => self.flavour = Flavour::Extended,
            'b' => self.flavour = Flavour::Basic,
            _ => return false,
        }
        true
    }
}

/// What is read.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) root: Part,
    pub(super) groups: usize,
    pub(super) any_case: bool,
}

/// The greatest number in `{m,n}`.
const MOST_TURNS: u32 = 255;
/// The deepest nesting of parentheses.
const DEEPEST: usize = 500;
/// The most groups.
const MOST_GROUPS: usize = 1_000;
/// The most that references may repeat: each holds a copy of its group, so that groups of references grow without bound.
const MOST_COPIED: usize = 100_000;
/// No character has a greater code.
const GREATEST_CODE: u32 = 0x7fff_fffe;

fn invalid(what: &str) -> Error {
    Error::new(Condition::InvalidRegularExpression, format!("invalid regular expression: {what}"))
}

fn bad_escape() -> Error {
    invalid("invalid escape \\ sequence")
}

fn bad_operand() -> Error {
    invalid("quantifier operand invalid")
}

fn bad_reference() -> Error {
    invalid("invalid backreference number")
}

fn bad_brackets() -> Error {
    invalid("brackets [] not balanced")
}

fn bad_parentheses() -> Error {
    invalid("parentheses () not balanced")
}

/// The expression has more states than can be worked with.
pub(super) fn too_complex() -> Error {
    invalid("regular expression is too complex")
}

/// Reads a pattern.
///
/// # Errors
/// `2201B`.
pub(super) fn read(pattern: &str, mut options: Options) -> Result<Pattern> {
    let mut rest = pattern;
    if options.flavour != Flavour::Literal
        && options.flavour != Flavour::Basic
        && let Some(directed) = rest.strip_prefix("***")
    {
        match directed.chars().next() {
            Some('=') => options.flavour = Flavour::Literal,
            Some(':') => options.flavour = Flavour::Advanced,
            _ => return Err(bad_operand()),
        }
        rest = &directed[1..];
    }
    if options.flavour == Flavour::Advanced
        && let Some(embedded) = rest.strip_prefix("(?")
        && embedded.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        let end = embedded.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(embedded.len());
        if embedded[..end].chars().any(|flag| !options.set(flag)) || !embedded[end..].starts_with(')') {
            return Err(invalid("invalid embedded option"));
        }
        rest = &embedded[end + 1..];
    }
    if options.flavour == Flavour::Basic {
        return Err(Error::unsupported("a basic regular expression"));
    }
    let mut reader = Reader { rest, options, groups: Vec::new(), depth: 0, copied: 0 };
    let root = if options.flavour == Flavour::Literal {
        Part::Concat(rest.chars().map(|c| reader.literal(c)).collect())
    } else {
        reader.alternation(true, false)?
    };
    Ok(Pattern { root, groups: reader.groups.len(), any_case: reader.options.any_case })
}

struct Reader<'a> {
    rest: &'a str,
    options: Options,
    /// What each group is made of; `None` while it is open.
    groups: Vec<Option<Part>>,
    depth: usize,
    /// The size of what references repeat, all together.
    copied: usize,
}

/// An atom, and whether a quantifier may follow.
enum Atom {
    Quantifiable(Part),
    Constraint(Part),
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Goes past so many bytes, which are whole characters.
    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    fn is_advanced(&self) -> bool {
        self.options.flavour == Flavour::Advanced
    }

    /// Goes past comments, and past blanks of the expanded syntax.
    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            if self.options.expanded {
                while self.peek().is_some_and(char::is_whitespace) {
                    self.next();
                }
                if self.peek() == Some('#') {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                    continue;
                }
            }
            if self.is_advanced() && self.rest.starts_with("(?#") {
                while let Some(c) = self.next() {
                    work::step(1)?;
                    if c == ')' {
                        break;
                    }
                }
                continue;
            }
            return Ok(());
        }
    }

    fn literal(&self, c: char) -> Part {
        let mut class = sets::range(c, c);
        if self.options.any_case {
            sets::both_cases(&mut class);
        }
        Part::Set(sets::ranges(&class))
    }

    /// Branches up to the end or to a closing parenthesis. Groups within a constraint are none.
    fn alternation(&mut self, outermost: bool, in_constraint: bool) -> Result<Part> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_complex());
        }
        let mut branches = Vec::new();
        loop {
            branches.push(self.branch(in_constraint)?);
            if !self.eat('|') {
                break;
            }
        }
        match (self.peek(), outermost) {
            (None, true) => {}
            (Some(')'), false) => {
                self.next();
            }
            _ => return Err(bad_parentheses()),
        }
        self.depth -= 1;
        Ok(if branches.len() == 1 { branches.remove(0) } else { Part::Alternation(branches) })
    }

    fn branch(&mut self, in_constraint: bool) -> Result<Part> {
        let mut parts = Vec::new();
        loop {
            work::step(8)?;
            self.skip_blanks()?;
            if matches!(self.peek(), None | Some('|' | ')')) {
                break;
            }
            match self.atom(in_constraint)? {
                Atom::Constraint(part) => {
                    self.skip_blanks()?;
                    if self.at_quantifier() {
                        return Err(bad_operand());
                    }
                    parts.push(part);
                }
                Atom::Quantifiable(part) => parts.push(self.quantified(part)?),
            }
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Part::Concat(parts) })
    }

    fn at_quantifier(&self) -> bool {
        match self.peek() {
            Some('*' | '+' | '?') => true,
            Some('{') => self.rest[1..].starts_with(|c: char| c.is_ascii_digit()),
            _ => false,
        }
    }

    fn quantified(&mut self, part: Part) -> Result<Part> {
        self.skip_blanks()?;
        if !self.at_quantifier() {
            return Ok(part);
        }
        let (least, most, exact) = match self.next() {
            Some('*') => (0, None, false),
            Some('+') => (1, None, false),
            Some('?') => (0, Some(1), false),
            _ => self.bound()?,
        };
        let lazy = self.is_advanced() && self.eat('?');
        self.skip_blanks()?;
        if self.at_quantifier() {
            return Err(bad_operand());
        }
        let prefers = match (exact, lazy) {
            (true, _) => None,
            (false, true) => Some(Preference::Shortest),
            (false, false) => Some(Preference::Longest),
        };
        if (least, most) == (1, Some(1)) && prefers.is_none() {
            return Ok(part);
        }
        Ok(Part::Repeat { inner: Box::new(part), least, most, prefers })
    }

    /// `m}`, `m,}` or `m,n}`, and whether it is the first.
    fn bound(&mut self) -> Result<(u32, Option<u32>, bool)> {
        let wrong = || invalid("invalid repetition count(s)");
        let least = self.number()?.ok_or_else(wrong)?;
        let (most, exact) = if self.eat(',') { (self.number()?, false) } else { (Some(least), true) };
        match self.next() {
            Some('}') => {}
            None => return Err(invalid("braces {} not balanced")),
            Some(_) => return Err(wrong()),
        }
        if most.is_some_and(|most| most < least) {
            return Err(wrong());
        }
        Ok((least, most, exact))
    }

    fn number(&mut self) -> Result<Option<u32>> {
        let mut number: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.next();
            let value = number.unwrap_or(0) * 10 + digit;
            if value > MOST_TURNS {
                return Err(invalid("invalid repetition count(s)"));
            }
            number = Some(value);
        }
        Ok(number)
    }

    fn atom(&mut self, in_constraint: bool) -> Result<Atom> {
        let lines = self.options.lines;
        if self.at_quantifier() {
            return Err(bad_operand());
        }
        let Some(c) = self.next() else { return Err(Error::internal("an atom behind the end")) };
        Ok(match c {
            '^' => Atom::Constraint(Part::Look(if lines { Look::LineStart } else { Look::Start })),
            '$' => Atom::Constraint(Part::Look(if lines { Look::LineEnd } else { Look::End })),
            '.' => {
                let mut class = sets::range('\0', char::MAX);
                if !self.options.takes_newline {
                    class.difference(&sets::range('\n', '\n'));
                }
                Atom::Quantifiable(Part::Set(sets::ranges(&class)))
            }
            '(' => return self.parenthesis(in_constraint),
            '[' => {
                for (word, look) in [("[:<:]]", Look::WordStart), ("[:>:]]", Look::WordEnd)] {
                    if self.rest.starts_with(word) {
                        self.skip(word.len());
                        return Ok(Atom::Constraint(Part::Look(look)));
                    }
                }
                Atom::Quantifiable(Part::Set(self.bracket()?))
            }
            '\\' => return self.escape(in_constraint),
            c => Atom::Quantifiable(self.literal(c)),
        })
    }

    fn parenthesis(&mut self, in_constraint: bool) -> Result<Atom> {
        if self.is_advanced() && self.peek() == Some('?') {
            let rest = self.rest;
            let around = [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)];
            if let Some((word, ahead, negated)) = around.into_iter().find(|(word, ..)| rest.starts_with(word)) {
                self.skip(word.len());
                let inner = Box::new(self.alternation(false, true)?);
                return Ok(Atom::Constraint(Part::Around { ahead, negated, inner }));
            }
            if !rest.starts_with("?:") {
                return Err(bad_operand());
            }
            self.skip(2);
            let inner = self.alternation(false, in_constraint)?;
            return Ok(Atom::Quantifiable(Part::Group(None, Box::new(inner))));
        }
        if in_constraint {
            let inner = self.alternation(false, true)?;
            return Ok(Atom::Quantifiable(Part::Group(None, Box::new(inner))));
        }
        let at = self.groups.len();
        if at == MOST_GROUPS {
            return Err(too_complex());
        }
        self.groups.push(None);
        let inner = self.alternation(false, false)?;
        self.groups[at] = Some(inner.plain());
        Ok(Atom::Quantifiable(Part::Group(Some(at + 1), Box::new(inner))))
    }

    fn escape(&mut self, in_constraint: bool) -> Result<Atom> {
        if !self.is_advanced() {
            let c = self.next().ok_or_else(bad_escape)?;
            return Ok(Atom::Quantifiable(self.literal(c)));
        }
        let look = match self.peek() {
            Some('A') => Some(Look::Start),
            Some('Z') => Some(Look::End),
            Some('m') => Some(Look::WordStart),
            Some('M') => Some(Look::WordEnd),
            Some('y') => Some(Look::Boundary),
            Some('Y') => Some(Look::NotBoundary),
            _ => None,
        };
        if let Some(look) = look {
            self.next();
            return Ok(Atom::Constraint(Part::Look(look)));
        }
        if let Some(first @ '1'..='9') = self.peek() {
            let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number: usize = self.rest[..digits].parse().unwrap_or(usize::MAX);
            // More digits than one are a reference only to a group that is there already, and octal digits otherwise.
            if digits == 1 || number <= self.groups.len() {
                self.skip(digits);
                if in_constraint {
                    return Err(bad_reference());
                }
                let known = self.groups.get(number - 1).and_then(Option::as_ref).ok_or_else(bad_reference)?;
                self.copied += known.size();
                if self.copied > MOST_COPIED {
                    return Err(too_complex());
                }
                let known = known.clone();
                return Ok(Atom::Quantifiable(Part::Back(number, Box::new(known))));
            }
            if !first.is_digit(8) {
                return Err(bad_escape());
            }
        }
        if let Some(class) = self.class_escape() {
            return Ok(Atom::Quantifiable(Part::Set(sets::ranges(&class))));
        }
        Ok(Atom::Quantifiable(match self.character_escape()? {
            Some(c) => self.literal(c),
            // No text has such a character.
            None => Part::Set(Vec::new()),
        }))
    }

    /// `\d`, `\s`, `\w` and their opposites.
    fn class_escape(&mut self) -> Option<ClassUnicode> {
        let letter = self.peek()?;
        let name = match letter.to_ascii_lowercase() {
            'd' => "digit",
            's' => "space",
            'w' => "word",
            _ => return None,
        };
        self.next();
        let mut class = sets::class(name, false)?;
        if letter.is_ascii_uppercase() {
            class.negate();
        }
        Some(class)
    }

    /// A character behind a backslash; `None` for a code that none has.
    fn character_escape(&mut self) -> Result<Option<char>> {
        let c = self.next().ok_or_else(bad_escape)?;
        if !c.is_ascii_alphanumeric() {
            return Ok(Some(c));
        }
        let code = match c {
            'a' => 7,
            'b' => 8,
            'B' => u32::from('\\'),
            'c' => {
                let control = self.next().ok_or_else(bad_escape)?;
                u32::from(control) & 0o37
            }
            'e' => 0x1b,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            'u' => self.digits(16, 4, 4)?,
            'U' => self.digits(16, 8, 8)?,
            'x' => self.digits(16, 1, 255)?,
            '0'..='7' => {
                let first = c.to_digit(8).unwrap_or(0);
                let mut code = first;
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
                    // Three digits may say more than a byte holds.
                    if code * 8 + digit > 0o377 {
                        break;
                    }
                    self.next();
                    code = code * 8 + digit;
                }
                code
            }
            _ => return Err(bad_escape()),
        };
        if code > GREATEST_CODE {
            return Err(bad_escape());
        }
        Ok(char::from_u32(code))
    }

    fn digits(&mut self, radix: u32, least: usize, most: usize) -> Result<u32> {
        let (mut code, mut count) = (0_u32, 0);
        while count < most
            && let Some(digit) = self.peek().and_then(|c| c.to_digit(radix))
        {
            self.next();
            // Whatever goes beyond the greatest code stays beyond it.
            code = code.checked_mul(radix).and_then(|code| code.checked_add(digit)).unwrap_or(u32::MAX);
            count += 1;
        }
        if count < least { Err(bad_escape()) } else { Ok(code) }
    }

    /// A bracket expression, behind its opening.
    fn bracket(&mut self) -> Result<Vec<(char, char)>> {
        let negated = self.eat('^');
        let mut class = ClassUnicode::empty();
        let mut classes = ClassUnicode::empty();
        let mut first = true;
        loop {
            work::step(8)?;
            let c = self.peek().ok_or_else(bad_brackets)?;
            if c == ']' && !first {
                self.next();
                break;
            }
            first = false;
            if let Some(named) = self.class_in_bracket()? {
                classes.union(&named);
                if self.peek() == Some('-') && !self.rest.starts_with("-]") {
                    return Err(invalid("invalid character range"));
                }
                continue;
            }
            if c == '-' && !self.rest.starts_with("-]") && !class.ranges().is_empty() {
                // A hyphen stands for itself first and last only, or as the end of a range.
                return Err(invalid("invalid character range"));
            }
            let low = self.bracket_character()?;
            let mut high = low;
            if self.peek() == Some('-') && !self.rest.starts_with("-]") {
                self.next();
                if self.class_in_bracket()?.is_some() {
                    return Err(invalid("invalid character range"));
                }
                if self.peek().is_none() {
                    return Err(bad_brackets());
                }
                high = self.bracket_character()?;
                if self.peek() == Some('-') && !self.rest.starts_with("-]") {
                    return Err(invalid("invalid character range"));
                }
            }
            if low > high {
                return Err(invalid("invalid character range"));
            }
            if let (Some(low), Some(high)) = (low, high) {
                class.push(regex_syntax::hir::ClassUnicodeRange::new(low, high));
            }
        }
        if self.options.any_case {
            sets::both_cases(&mut class);
        }
        class.union(&classes);
        if negated {
            class.negate();
            if !self.options.takes_newline {
                class.difference(&sets::range('\n', '\n'));
            }
        }
        Ok(sets::ranges(&class))
    }

    /// `[:alpha:]` or `\d` within brackets.
    fn class_in_bracket(&mut self) -> Result<Option<ClassUnicode>> {
        let rest = self.rest;
        if let Some(named) = rest.strip_prefix("[:") {
            let end = named.find(":]").ok_or_else(bad_brackets)?;
            let any_case = self.options.any_case;
            let class = sets::class(&named[..end], any_case).ok_or_else(|| invalid("invalid character class"))?;
            self.skip(end + 4);
            return Ok(Some(class));
        }
        let mut chars = rest.chars();
        if self.is_advanced()
            && chars.next() == Some('\\')
            && chars.next().is_some_and(|c| matches!(c, 'd' | 'D' | 's' | 'S' | 'w' | 'W'))
        {
            self.next();
            return Ok(self.class_escape());
        }
        Ok(None)
    }

    /// One character within brackets: itself, `[.x.]`, `[=x=]` or an escape.
    fn bracket_character(&mut self) -> Result<Option<char>> {
        let rest = self.rest;
        for (open, close) in [("[.", ".]"), ("[=", "=]")] {
            if let Some(named) = rest.strip_prefix(open) {
                // The element may be the very character that closes.
                let skipped = named.chars().next().map_or(0, char::len_utf8);
                let end = named[skipped..].find(close).ok_or_else(bad_brackets)? + skipped;
                let c = sets::element(&named[..end]).ok_or_else(|| invalid("invalid collating element"))?;
                self.skip(end + 4);
                return Ok(Some(c));
            }
        }
        match self.next().ok_or_else(bad_brackets)? {
            '\\' if self.is_advanced() => self.character_escape(),
            c => Ok(Some(c)),
        }
    }
}
