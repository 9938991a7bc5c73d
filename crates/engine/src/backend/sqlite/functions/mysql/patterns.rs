//! Regular expressions, of any case unless something else is said.
//!
//! MySQL's are ICU's. Those that `regex-automata` reads find what ICU finds; the others (they look around, or refer to
//! groups) are read by PostgreSQL's rules, whose letters for them are the same.

use std::sync::Arc;

use regex_automata::Input;
use regex_automata::meta::{self, Regex};
use regex_automata::util::{captures::Captures, syntax};
use rowferry_dialect::{Condition, Error, Result, work};

use super::super::call::{boolean, integer, text};
use super::super::{Call, Row};
use super::strings::length;

pub(in super::super) const ROWS: &[Row] = &[
    // (text, pattern, kind of match)
    Row::new("rf_mysql_regexp", 2, |call| {
        let pattern = pattern(call, 2)?;
        boolean(pattern.find(call.text(0)?, 0)?.is_some())
    })
    .optional(1),
    // (text, pattern, place, which, 1 for the place behind it, kind of match)
    Row::new("rf_mysql_regexp_instr", 2, |call| {
        let all = call.text(0)?;
        let behind = call.len() > 4 && call.boolean(4)?;
        let found = nth(call, &*pattern(call, 5)?, 2, 3)?;
        integer(found.map_or(0, |(start, end)| length(&all[..if behind { end } else { start }]) + 1))
    })
    .optional(4),
    Row::new("rf_mysql_regexp_substr", 2, |call| {
        let found = nth(call, &*pattern(call, 4)?, 2, 3)?;
        super::maybe(found, |(start, end)| text(&call.text(0)?[start..end]))
    })
    .optional(3),
    // (text, pattern, replacement, place, which or 0 for all, kind of match)
    Row::new("rf_mysql_regexp_replace", 3, |call| {
        let (all, replacement) = (call.text(0)?, call.text(2)?);
        let which = if call.len() > 4 { call.integer(4)? } else { 0 };
        let pattern = pattern(call, 5)?;
        let mut from = start(call, all, 3)?;
        let mut out = String::new();
        work::append_text(&mut out, &all[..from])?;
        let mut number = 0;
        while from <= all.len() {
            let Some(groups) = pattern.groups(all, from)? else { break };
            let (begin, end) = groups[0].unwrap_or((from, from));
            number += 1;
            work::append_text(&mut out, &all[from..begin])?;
            if which == 0 || which == number {
                append_replacement(&mut out, all, replacement, &groups)?;
            } else {
                work::append_text(&mut out, &all[begin..end])?;
            }
            from = end;
            if begin == end {
                let Some(letter) = all[from..].chars().next() else {
                    from = all.len() + 1;
                    break;
                };
                out.push(letter);
                from += letter.len_utf8();
            }
            if which == number {
                break;
            }
        }
        work::append_text(&mut out, all.get(from..).unwrap_or_default())?;
        text(out)
    })
    .optional(3),
];

/// The bounds of a match and of its groups.
type Groups = Vec<Option<(usize, usize)>>;

/// A pattern made ready.
#[derive(Debug)]
enum Pattern {
    Swift(Regex),
    /// One that needs to look around: a text and flags for the other engine.
    Other(String, String),
}

impl Pattern {
    fn read(pattern: &str, kind: &str) -> Result<Self> {
        let (mut any_case, mut lines, mut dot) = (true, false, false);
        for letter in kind.chars() {
            match letter {
                'c' => any_case = false,
                'i' => any_case = true,
                'm' => lines = true,
                'n' => dot = true,
                'u' => {}
                _ => return Err(Error::new(Condition::InvalidParameterValue, "Incorrect arguments to regexp_like")),
            }
        }
        if pattern.is_empty() {
            let message = "Illegal argument to a regular expression.";
            return Err(Error::new(Condition::InvalidRegularExpression, message));
        }
        let rules = syntax::Config::new().case_insensitive(any_case).multi_line(lines).dot_matches_new_line(dot);
        let config = meta::Config::new().nfa_size_limit(Some(4 << 20)).onepass(false).backtrack(false);
        match Regex::builder().syntax(rules).configure(config).build(pattern) {
            Ok(regex) => Ok(Self::Swift(regex)),
            Err(_) => {
                let flags = format!("{}{}", if any_case { "i" } else { "" }, if lines { "n" } else { "" });
                let written = pattern.replace("\\b", "\\y").replace("\\B", "\\Y");
                super::super::regex::compiled(&written, &flags)
                    .map_err(|error| Error::new(Condition::InvalidRegularExpression, error.message.clone()))?;
                Ok(Self::Other(written, flags))
            }
        }
    }

    fn find(&self, all: &str, from: usize) -> Result<Option<(usize, usize)>> {
        work::step(all.len() - from)?;
        match self {
            Self::Swift(regex) => {
                Ok(regex.find(Input::new(all).range(from..)).map(|found| (found.start(), found.end())))
            }
            Self::Other(..) => Ok(self.groups(all, from)?.and_then(|groups| groups[0])),
        }
    }

    fn groups(&self, all: &str, from: usize) -> Result<Option<Groups>> {
        work::step(all.len() - from)?;
        match self {
            Self::Swift(regex) => {
                let mut captures: Captures = regex.create_captures();
                regex.captures(Input::new(all).range(from..), &mut captures);
                let groups =
                    (0..captures.group_len()).map(|at| captures.get_group(at).map(|span| (span.start, span.end)));
                Ok(captures.is_match().then(|| groups.collect()))
            }
            Self::Other(pattern, flags) => {
                let regex = super::super::regex::compiled(pattern, flags)?;
                let found = super::super::regex::all_matches(&regex, all, false)?;
                let found = found.into_iter().find(|found| found.whole().0 >= from);
                Ok(found.map(|found| found.spans()))
            }
        }
    }
}

/// The pattern of a call, with its kind of match at a place.
fn pattern(call: &Call<'_>, kind: usize) -> Result<Arc<Pattern>> {
    let kind = if call.len() > kind { call.text(kind)? } else { "" };
    call.prepared(1, || Pattern::read(call.text(1)?, kind).map(Arc::new))
}

/// The byte at which a search begins: the character at a place from 1.
fn start(call: &Call<'_>, all: &str, at: usize) -> Result<usize> {
    let place = if call.len() > at { call.integer(at)? } else { 1 };
    let out = || Error::new(Condition::InvalidParameterValue, "Index out of bounds in regular expression search.");
    let place = usize::try_from(place - 1).map_err(|_| out())?;
    if place == 0 {
        return Ok(0);
    }
    let mut places = all.char_indices().map(|(at, _)| at).chain([all.len()]);
    places.nth(place).ok_or_else(out)
}

/// The match of a number, which the call says.
fn nth(call: &Call<'_>, pattern: &Pattern, place: usize, number: usize) -> Result<Option<(usize, usize)>> {
    let all = call.text(0)?;
    let mut from = start(call, all, place)?;
    let number = if call.len() > number { call.integer(number)?.max(1) } else { 1 };
    let mut found = None;
    for _ in 0..number {
        if from > all.len() {
            return Ok(None);
        }
        found = pattern.find(all, from)?;
        let Some((begin, end)) = found else { return Ok(None) };
        from = end;
        if begin == end {
            from += all[end..].chars().next().map_or(1, char::len_utf8);
        }
    }
    Ok(found)
}

/// A replacement with `$1` for a group; what stands behind a backslash stands for itself.
fn append_replacement(out: &mut String, all: &str, replacement: &str, groups: &Groups) -> Result<()> {
    let mut letters = replacement.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            '$' => {
                let Some(mut number) = letters.peek().and_then(|digit| digit.to_digit(10)) else {
                    return Err(Error::new(
                        Condition::InvalidRegularExpression,
                        "A capture group has an invalid name.",
                    ));
                };
                letters.next();
                while let Some(digit) = letters.peek().and_then(|digit| digit.to_digit(10)) {
                    if (number * 10 + digit) as usize >= groups.len() {
                        break;
                    }
                    number = number * 10 + digit;
                    letters.next();
                }
                let Some(group) = groups.get(number as usize) else {
                    let message = "Index out of bounds in regular expression search.";
                    return Err(Error::new(Condition::InvalidParameterValue, message));
                };
                if let Some((start, end)) = group {
                    work::append_text(out, &all[*start..*end])?;
                }
            }
            letter => out.push(letter),
        }
    }
    Ok(())
}
