//! PostgreSQL's regular expressions, on `fancy-regex`.
//!
//! The pattern language is nearly the same. What differs is translated: `\m`, `\M`, `\y`, `\Y`, `\Z`, `[[:<:]]`,
//! `[[:>:]]`, the `***:` and `***=` prefixes and the letters of embedded options. Where a match begins is
//! `fancy-regex`'s to say; how far it reaches and where its groups lie is [`regex_extent`](super::regex_extent)'s, since
//! PostgreSQL takes the longest of several. Expressions with back-references or look-around keep the first that works.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use fancy_regex::{Regex, RegexBuilder};
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, work};

use super::call::{boolean, integer, text};
use super::regex_extent::{self, Extent, Span};
use super::strings::texts;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_regex_match", 3, |call| {
        refuse_global("regexp_like", call.text(2)?)?;
        let regex = compiled(call.text(1)?, call.text(2)?)?;
        boolean(regex.first.is_match(call.text(0)?).map_err(failed)?)
    }),
    Row::new("rf_regex_substring", 2, substring),
    Row::new("rf_regexp_replace", 3, replace).optional(1),
    Row::new("rf_regexp_match", 2, first_match).optional(1),
    Row::new("rf_regexp_count", 2, |call| {
        let regex = compiled(call.text(1)?, "")?;
        let mut count = 0_i64;
        regex.each(call.text(0)?, |_| {
            count += 1;
            Ok(true)
        })?;
        integer(count)
    }),
    Row::new("rf_regexp_split_to_array", 2, |call| {
        refuse_global("regexp_split_to_array", flags(call, 2)?)?;
        let parts = split(call.text(0)?, call.text(1)?, flags(call, 2)?)?;
        text(texts(parts.into_iter().map(Some))?)
    })
    .optional(1),
];

/// What a match counts as work, beside its bytes.
const MATCH: usize = 64;
/// How many compiled patterns a thread keeps.
const KEPT: usize = 32;
/// Steps after which a pattern that backtracks is given up.
const BACKTRACKS: usize = 1_000_000;

type Kept = VecDeque<((String, String), Rc<Pattern>)>;

/// A compiled pattern.
pub(super) struct Pattern {
    /// Finds where a match begins; its own end is that of the first alternative that works.
    first: Regex,
    /// Says where the match ends, if that can be another place.
    extent: Option<Extent>,
}

/// A match within a subject.
pub(super) struct Found<'a> {
    subject: &'a str,
    /// The whole, and the groups.
    spans: Vec<Option<Span>>,
}

impl<'a> Found<'a> {
    fn whole(&self) -> Span {
        self.spans[0].unwrap_or_default()
    }

    fn group(&self, at: usize) -> Option<&'a str> {
        self.spans.get(at).copied().flatten().map(|(start, end)| &self.subject[start..end])
    }
}

impl Pattern {
    /// The first match that begins at a place or behind it.
    fn find<'a>(&self, subject: &'a str, from: usize) -> Result<Option<Found<'a>>> {
        let Some(captures) = self.first.captures_from_pos(subject, from).map_err(failed)? else { return Ok(None) };
        let all = || captures.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect();
        let mut spans: Vec<Option<Span>> = all();
        if let (Some(extent), Some(Some((start, _)))) = (&self.extent, spans.first())
            && let Some(end) = extent.end(subject, *start)?
        {
            spans = extent.spans(subject, *start, end)?;
        }
        Ok(Some(Found { subject, spans }))
    }

    /// Every match, one after the other; behind an empty one the search goes on one character farther.
    fn each<'a>(&self, subject: &'a str, mut take: impl FnMut(&Found<'a>) -> Result<bool>) -> Result<()> {
        let mut from = 0;
        while from <= subject.len() {
            let Some(found) = self.find(subject, from)? else { return Ok(()) };
            let (start, end) = found.whole();
            work::step(end - start + MATCH)?;
            if !take(&found)? {
                return Ok(());
            }
            from = if start == end { end + subject[end..].chars().next().map_or(1, char::len_utf8) } else { end };
        }
        Ok(())
    }
}

thread_local! {
    static COMPILED: RefCell<Kept> = const { RefCell::new(VecDeque::new()) };
}

fn flags<'a>(call: &'a Call<'_>, at: usize) -> Result<&'a str> {
    if at < call.len() { call.text(at) } else { Ok("") }
}

/// The compiled pattern, from the thread's store if it was used lately. `g` is the callers' business.
pub(super) fn compiled(pattern: &str, flags: &str) -> Result<Rc<Pattern>> {
    let found = COMPILED.with(|kept| {
        kept.borrow().iter().find(|((p, f), _)| p == pattern && f == flags).map(|(_, regex)| Rc::clone(regex))
    });
    if let Some(regex) = found {
        return Ok(regex);
    }
    let regex = Rc::new(compile(pattern, flags)?);
    COMPILED.with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(((pattern.to_owned(), flags.to_owned()), Rc::clone(&regex)));
    });
    Ok(regex)
}

fn compile(pattern: &str, flags: &str) -> Result<Pattern> {
    let mut options = Options::default();
    for flag in flags.chars() {
        options.set(flag)?;
    }
    let mut rest = pattern;
    if let Some(literal) = rest.strip_prefix("***=") {
        options.literal = true;
        rest = literal;
    } else {
        rest = rest.strip_prefix("***:").unwrap_or(rest);
        if let Some(embedded) = rest.strip_prefix("(?")
            && let Some(end) = embedded.find(')')
            && end > 0
            && embedded[..end].bytes().all(|b| b.is_ascii_lowercase())
        {
            for flag in embedded[..end].chars() {
                options.set(flag)?;
            }
            rest = &embedded[end + 1..];
        }
    }
    let translated = if options.literal {
        fancy_regex::escape(rest).into_owned()
    } else {
        translate(rest, r"\b(?=\w)", r"\b(?<=\w)")
    };
    // The same without look-around, which words would need otherwise.
    let regular = if options.literal { translated.clone() } else { translate(rest, r"\b{start}", r"\b{end}") };
    let extent = Extent::of(
        &regular,
        regex_extent::Syntax {
            any_case: options.any_case,
            dot_takes_newline: options.dot_takes_newline,
            lines: options.lines,
            expanded: options.expanded,
        },
    );
    let mut prefix = String::new();
    if options.any_case {
        prefix.push('i');
    }
    if options.dot_takes_newline {
        prefix.push('s');
    }
    if options.lines {
        prefix.push('m');
    }
    if options.expanded {
        prefix.push('x');
    }
    let full = if prefix.is_empty() { translated } else { format!("(?{prefix}){translated}") };
    let first = RegexBuilder::new(&full).backtrack_limit(BACKTRACKS).build().map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or("").trim().trim_start_matches("error: ").to_owned();
        Error::new(Condition::InvalidRegularExpression, format!("invalid regular expression: {reason}"))
    })?;
    Ok(Pattern { first, extent })
}

struct Options {
    any_case: bool,
    dot_takes_newline: bool,
    lines: bool,
    expanded: bool,
    literal: bool,
}

impl Default for Options {
    fn default() -> Self {
        // A newline is a character like any other unless `n`, `m`, `p` or `w` says otherwise.
        Self { any_case: false, dot_takes_newline: true, lines: false, expanded: false, literal: false }
    }
}

impl Options {
    fn set(&mut self, flag: char) -> Result<()> {
        match flag {
            'i' => self.any_case = true,
            'c' => self.any_case = false,
            'n' | 'm' => (self.dot_takes_newline, self.lines) = (false, true),
            'p' => (self.dot_takes_newline, self.lines) = (false, false),
            'w' => (self.dot_takes_newline, self.lines) = (true, true),
            's' => (self.dot_takes_newline, self.lines) = (true, false),
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'q' => self.literal = true,
            'g' | 'e' | 'b' => {}
            other => {
                let message = format!("invalid regular expression option: \"{other}\"");
                return Err(Error::new(Condition::InvalidParameterValue, message));
            }
        }
        Ok(())
    }
}

/// PostgreSQL's pattern language in `fancy-regex`'s words; `start` and `end` are what stands for a word's.
fn translate(pattern: &str, start: &str, end: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut in_set = false;
    let mut rest = pattern;
    while let Some(c) = chars.next() {
        if !in_set && (rest.starts_with("[[:<:]]") || rest.starts_with("[[:>:]]")) {
            out.push_str(if rest.starts_with("[[:<:]]") { start } else { end });
            rest = &rest[7..];
            chars = rest.chars().peekable();
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let Some(escaped) = chars.next() else {
                    out.push_str("\\\\");
                    break;
                };
                rest = &rest[escaped.len_utf8()..];
                match escaped {
                    'm' if !in_set => out.push_str(start),
                    'M' if !in_set => out.push_str(end),
                    'y' if !in_set => out.push_str(r"\b"),
                    'Y' if !in_set => out.push_str(r"\B"),
                    'Z' if !in_set => out.push_str(r"\z"),
                    // A backspace and a backslash; words end at `\y` and `\M`.
                    'b' => out.push_str(r"\x08"),
                    'B' => out.push_str(r"\\"),
                    c => {
                        out.push('\\');
                        out.push(c);
                    }
                }
            }
            '[' if !in_set => {
                in_set = true;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    chars.next();
                    rest = &rest[1..];
                    out.push('^');
                }
                // A bracket first in a set stands for itself.
                if chars.peek() == Some(&']') {
                    chars.next();
                    rest = &rest[1..];
                    out.push_str("\\]");
                }
            }
            '[' if rest.starts_with(':') => {
                // A class such as `[:alpha:]` stays whole.
                let end = rest.find(":]").map_or(rest.len(), |end| end + 2);
                out.push('[');
                out.push_str(&rest[..end]);
                rest = &rest[end..];
                chars = rest.chars().peekable();
            }
            // Set operations of the Rust syntax are plain characters here.
            '[' | '&' | '~' if in_set => {
                out.push('\\');
                out.push(c);
            }
            ']' if in_set => {
                in_set = false;
                out.push(']');
            }
            c => out.push(c),
        }
    }
    out
}

fn failed(error: fancy_regex::Error) -> Error {
    Error::new(Condition::InvalidRegularExpression, format!("regular expression failed: {error}"))
}

/// Every match.
pub(super) fn all_matches<'a>(regex: &Pattern, subject: &'a str, only_one: bool) -> Result<Vec<Found<'a>>> {
    let mut all = Vec::new();
    regex.each(subject, |found| {
        all.push(Found { subject, spans: found.spans.clone() });
        Ok(!only_one)
    })?;
    Ok(all)
}

/// The groups of a match as an array's members; the whole match if there are none.
pub(super) fn groups<'a>(found: &Found<'a>) -> Vec<Option<&'a str>> {
    let first = usize::from(found.spans.len() > 1);
    (first..found.spans.len()).map(|at| found.group(at)).collect()
}

fn substring(call: &Call<'_>) -> Result<Value> {
    let regex = compiled(call.text(1)?, "")?;
    let Some(found) = regex.find(call.text(0)?, 0)? else { return Ok(Value::Null) };
    let group = found.group(usize::from(found.spans.len() > 1));
    Ok(group.map_or(Value::Null, |group| Value::Text(group.to_owned())))
}

/// True if a text matches a pattern anywhere.
pub(super) fn is_match(text: &str, pattern: &str, flags: &str) -> Result<bool> {
    compiled(pattern, flags)?.first.is_match(text).map_err(failed)
}

/// Functions that find one match, or all of them, take no `g`.
pub(super) fn refuse_global(function: &str, flags: &str) -> Result<()> {
    if !flags.contains('g') {
        return Ok(());
    }
    let message = format!("{function}() does not support the \"global\" option");
    Err(Error::new(Condition::InvalidParameterValue, message))
}

fn first_match(call: &Call<'_>) -> Result<Value> {
    let flags = flags(call, 2)?;
    if flags.contains('g') {
        return Err(Error::new(
            Condition::InvalidParameterValue,
            "regexp_match() does not support the \"global\" option",
        )
        .hint("Use the regexp_matches function instead."));
    }
    let regex = compiled(call.text(1)?, flags)?;
    match regex.find(call.text(0)?, 0)? {
        Some(found) => text(texts(groups(&found).into_iter())?),
        None => Ok(Value::Null),
    }
}

fn replace(call: &Call<'_>) -> Result<Value> {
    let flags = flags(call, 3)?;
    let regex = compiled(call.text(1)?, flags)?;
    let (subject, replacement) = (call.text(0)?, call.text(2)?);
    let global = flags.contains('g');
    let mut out = work::text(subject.len())?;
    let mut last = 0;
    regex.each(subject, |found| {
        let (start, end) = found.whole();
        work::append_text(&mut out, &subject[last..start])?;
        expand(&mut out, replacement, found)?;
        last = end;
        Ok(global)
    })?;
    work::append_text(&mut out, &subject[last..])?;
    text(out)
}

/// `\1` to `\9` are groups, `\&` is the match, `\\` a backslash.
fn expand(out: &mut String, replacement: &str, found: &Found<'_>) -> Result<()> {
    work::reserve_text(out, replacement.len())?;
    let mut chars = replacement.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(digit @ '1'..='9') => {
                let group = digit.to_digit(10).and_then(|at| found.group(at as usize));
                work::append_text(out, group.unwrap_or_default())?;
            }
            Some('&') => work::append_text(out, found.group(0).unwrap_or_default())?,
            Some('\\') | None => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    Ok(())
}

/// The parts between matches; an empty match at an end or beside another separates nothing.
pub(super) fn split<'a>(subject: &'a str, pattern: &str, flags: &str) -> Result<Vec<&'a str>> {
    let regex = compiled(pattern, flags)?;
    let mut parts = Vec::new();
    let (mut last, mut before) = (0, 0);
    regex.each(subject, |found| {
        let (start, end) = found.whole();
        if start < subject.len() && end > before {
            parts.push(&subject[last..start]);
            last = end;
        }
        before = end;
        Ok(true)
    })?;
    parts.push(&subject[last..]);
    Ok(parts)
}
