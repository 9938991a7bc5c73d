//! The functions on regular expressions.

use std::rc::Rc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, work};

use super::super::call::{boolean, integer, text};
use super::super::strings::texts;
use super::super::{Call, Row};
use super::automaton::Run;
use super::{Found, Pattern, compiled, groups, refuse_global, split};

pub(in super::super) const ROWS: &[Row] = &[
    Row::new("rf_regex_match", 3, |call| {
        refuse_global("regexp_like", call.text(2)?)?;
        boolean(compiled(call.text(1)?, call.text(2)?)?.is_match(call.text(0)?, 0)?)
    }),
    Row::new("rf_regex_substring", 2, |call| substring(call.text(0)?, call.text(1)?)),
    Row::new("rf_similar_substring", 3, |call| substring(call.text(0)?, &similar(call.text(1)?, Some(call.text(2)?))?)),
    Row::new("rf_ifx_regex_match", 3, |call| {
        boolean(informix_pattern(call.text(1)?, call.integer(2)?)?.is_match(call.text(0)?, 0)?)
    }),
    Row::new("rf_ifx_regex_replace", 5, informix_replace),
    Row::new("rf_regexp_replace", 3, replace).optional(1),
    Row::new("rf_regexp_replace_from", 4, replace_from).optional(2),
    Row::new("rf_regexp_match", 2, first_match).optional(1),
    Row::new("rf_regexp_count", 2, count).optional(2),
    Row::new("rf_regexp_instr", 2, instr).optional(5),
    Row::new("rf_regexp_substr", 2, substr).optional(4),
    Row::new("rf_regexp_split_to_array", 2, |call| {
        refuse_global("regexp_split_to_array", flags(call, 2)?)?;
        let parts = split(call.text(0)?, call.text(1)?, flags(call, 2)?)?;
        text(texts(parts.into_iter().map(Some))?)
    })
    .optional(1),
    Row::new("rf_similar_escape", 1, |call| {
        let escape = if call.len() > 1 { Some(call.text(1)?) } else { None };
        text(similar(call.text(0)?, escape)?)
    })
    .optional(1),
];

/// A pattern by Informix's numbers of ways to read it: 0 basic, 1 extended, 2 and 3 the same of any case.
pub(in super::super) fn informix_pattern(pattern: &str, options: i64) -> Result<Rc<Pattern>> {
    match options {
        0 => compiled(&extended(pattern)?, ""),
        1 => compiled(pattern, "e"),
        2 => compiled(&extended(pattern)?, "i"),
        3 => compiled(pattern, "ei"),
        _ => Err(invalid_value("copts", options)),
    }
}

/// A basic regular expression, whose backslash makes metacharacters, as an advanced one, whose backslash unmakes them.
fn extended(basic: &str) -> Result<String> {
    let mut out = work::text(basic.len() + 8)?;
    let mut chars = basic.chars().peekable();
    // Where `^` is an anchor and `*` is none but itself.
    let mut begins = true;
    while let Some(c) = chars.next() {
        work::reserve_text(&mut out, 8)?;
        match c {
            '\\' => match chars.next() {
                Some(c @ ('(' | ')' | '{' | '}')) => {
                    out.push(c);
                    begins = c == '(';
                    continue;
                }
                Some(c) => out.extend(['\\', c]),
                None => out.push('\\'),
            },
            '[' => {
                out.push('[');
                out.extend(chars.next_if_eq(&'^'));
                out.extend(chars.next_if_eq(&']'));
                // Classes such as `[:digit:]` have brackets of their own.
                while let Some(c) = chars.next() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                    if c == '['
                        && let Some(kind) = chars.next_if(|c| matches!(c, ':' | '.' | '='))
                    {
                        out.push(kind);
                        while let Some(c) = chars.next() {
                            out.push(c);
                            if c == kind && chars.peek() == Some(&']') {
                                out.extend(chars.next());
                                break;
                            }
                        }
                    }
                }
            }
            '^' if begins => {
                out.push('^');
                continue;
            }
            '*' if begins => out.push_str("\\*"),
            '$' if chars.peek().is_none() => out.push('$'),
            '(' | ')' | '{' | '}' | '+' | '?' | '|' | '^' | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
        begins = false;
    }
    Ok(out)
}

/// So many matches replaced, or all of them; `&` and `\\0` are the match, `\\1` to `\\9` its groups.
fn informix_replace(call: &Call<'_>) -> Result<Value> {
    let limit = at_least(0, "limit", call.integer(3)?)?;
    let options = call.integer(4)?;
    let regex = informix_pattern(call.text(1)?, options)?;
    let (subject, replacement) = (call.text(0)?, call.text(2)?);
    let basic = options % 2 == 0;
    let mut out = work::text(subject.len())?;
    let (mut last, mut number) = (0, 0);
    regex.each(subject, 0, |found| {
        number += 1;
        let (start, end) = found.whole();
        work::append_text(&mut out, &subject[last..start])?;
        work::reserve_text(&mut out, replacement.len())?;
        let mut chars = replacement.chars();
        while let Some(c) = chars.next() {
            // In a basic one the backslash makes the metacharacter, in an extended one it takes the meaning away.
            let escaped = if c == '\\' { chars.next() } else { None };
            match (c, escaped) {
                (_, Some(digit)) if digit.is_ascii_digit() => {
                    let group = digit.to_digit(10).unwrap_or(0) as usize;
                    work::append_text(&mut out, found.group(group).unwrap_or_default())?;
                }
                ('&', None) if !basic => work::append_text(&mut out, &subject[start..end])?,
                (_, Some('&')) if basic => work::append_text(&mut out, &subject[start..end])?,
                (_, Some(other)) => out.push(other),
                (c, None) => out.push(c),
            }
        }
        last = end;
        Ok(limit == 0 || number < limit)
    })?;
    work::append_text(&mut out, &subject[last..])?;
    text(out)
}

fn flags<'a>(call: &'a Call<'_>, at: usize) -> Result<&'a str> {
    if at < call.len() { call.text(at) } else { Ok("") }
}

/// An integer argument, or what it is when it is left out.
fn number(call: &Call<'_>, at: usize, otherwise: i64) -> Result<i64> {
    if at < call.len() { call.integer(at) } else { Ok(otherwise) }
}

fn invalid_value(parameter: &str, value: i64) -> Error {
    let message = format!("invalid value for parameter \"{parameter}\": {value}");
    Error::new(Condition::InvalidParameterValue, message)
}

/// An integer argument that must not be less than something.
fn at_least(least: i64, parameter: &str, value: i64) -> Result<usize> {
    if value < least { Err(invalid_value(parameter, value)) } else { Ok(usize::try_from(value).unwrap_or(usize::MAX)) }
}

/// Where the character of a number begins, counted from 1; `None` beyond the end.
fn place(subject: &str, number: usize) -> Option<usize> {
    if number == 1 {
        return Some(0);
    }
    subject.char_indices().map(|(at, _)| at).chain([subject.len()]).nth(number - 1)
}

/// The match of a number, counted from 1.
fn nth<'a>(call: &'a Call<'_>, flags: &str, from: usize, number: usize) -> Result<Option<Found<'a>>> {
    let subject = call.text(0)?;
    let regex = compiled(call.text(1)?, flags)?;
    let Some(from) = place(subject, from) else { return Ok(None) };
    let (mut left, mut last) = (number, None);
    regex.each(subject, from, |found| {
        left -= 1;
        if left == 0 {
            last = Some(found.clone());
        }
        Ok(left > 0)
    })?;
    Ok(last)
}

fn substring(subject: &str, pattern: &str) -> Result<Value> {
    let regex = compiled(pattern, "")?;
    let run = Run::new(&regex.program, subject);
    let Some(found) = regex.find(&run, 0)? else { return Ok(Value::Null) };
    let group = found.group(usize::from(found.spans.len() > 1));
    Ok(group.map_or(Value::Null, |group| Value::Text(group.to_owned())))
}

fn first_match(call: &Call<'_>) -> Result<Value> {
    let flags = flags(call, 2)?;
    refuse_global("regexp_match", flags).map_err(|error| error.hint("Use the regexp_matches function instead."))?;
    let regex = compiled(call.text(1)?, flags)?;
    let run = Run::new(&regex.program, call.text(0)?);
    match regex.find(&run, 0)? {
        Some(found) => text(texts(groups(&found).into_iter())?),
        None => Ok(Value::Null),
    }
}

/// `regexp_count(text, pattern[, start[, flags]])`
fn count(call: &Call<'_>) -> Result<Value> {
    let from = at_least(1, "start", number(call, 2, 1)?)?;
    let flags = flags(call, 3)?;
    refuse_global("regexp_count", flags)?;
    let subject = call.text(0)?;
    let regex = compiled(call.text(1)?, flags)?;
    let mut count = 0_i64;
    if let Some(from) = place(subject, from) {
        regex.each(subject, from, |_| {
            count += 1;
            Ok(true)
        })?;
    }
    integer(count)
}

/// `regexp_instr(text, pattern[, start[, N[, end[, flags[, group]]]]])`
fn instr(call: &Call<'_>) -> Result<Value> {
    let from = at_least(1, "start", number(call, 2, 1)?)?;
    let which = at_least(1, "n", number(call, 3, 1)?)?;
    let end = number(call, 4, 0)?;
    if !matches!(end, 0 | 1) {
        return Err(invalid_value("endoption", end));
    }
    let flags = flags(call, 5)?;
    let group = at_least(0, "subexpr", number(call, 6, 0)?)?;
    refuse_global("regexp_instr", flags)?;
    let Some(found) = nth(call, flags, from, which)? else { return integer(0) };
    let Some((first, last)) = found.span(group) else { return integer(0) };
    let at = if end == 1 { last } else { first };
    integer(found.subject[..at].chars().count() as i64 + 1)
}

/// `regexp_substr(text, pattern[, start[, N[, flags[, group]]]])`
fn substr(call: &Call<'_>) -> Result<Value> {
    let from = at_least(1, "start", number(call, 2, 1)?)?;
    let which = at_least(1, "n", number(call, 3, 1)?)?;
    let flags = flags(call, 4)?;
    let group = at_least(0, "subexpr", number(call, 5, 0)?)?;
    refuse_global("regexp_substr", flags)?;
    let found = nth(call, flags, from, which)?;
    let part = found.as_ref().and_then(|found| found.group(group));
    Ok(part.map_or(Value::Null, |part| Value::Text(part.to_owned())))
}

/// `regexp_replace(text, pattern, replacement[, flags])`
fn replace(call: &Call<'_>) -> Result<Value> {
    let flags = flags(call, 3)?;
    if let Some(digit) = flags.chars().next().filter(char::is_ascii_digit) {
        let message = format!("invalid regular expression option: \"{digit}\"");
        let hint = "If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.";
        return Err(Error::new(Condition::InvalidParameterValue, message).hint(hint));
    }
    let which = if flags.contains('g') { None } else { Some(1) };
    replaced(call, flags, 1, which)
}

/// `regexp_replace(text, pattern, replacement, start[, N[, flags]])`
fn replace_from(call: &Call<'_>) -> Result<Value> {
    let from = at_least(1, "start", call.integer(3)?)?;
    let which = at_least(0, "n", number(call, 4, 1)?)?;
    replaced(call, flags(call, 5)?, from, Some(which).filter(|which| *which > 0))
}

/// The match of a number replaced, or all of them.
fn replaced(call: &Call<'_>, flags: &str, from: usize, which: Option<usize>) -> Result<Value> {
    let regex = compiled(call.text(1)?, flags)?;
    let (subject, replacement) = (call.text(0)?, call.text(2)?);
    let mut out = work::text(subject.len())?;
    let (mut last, mut number) = (0, 0);
    if let Some(from) = place(subject, from) {
        regex.each(subject, from, |found| {
            number += 1;
            if which.is_some_and(|which| number < which) {
                return Ok(true);
            }
            let (start, end) = found.whole();
            work::append_text(&mut out, &subject[last..start])?;
            expand(&mut out, replacement, found)?;
            last = end;
            Ok(which.is_none())
        })?;
    }
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

/// SQL's own pattern language (SIMILAR TO) in that of regular expressions.
fn similar(pattern: &str, escape: Option<&str>) -> Result<String> {
    let escape = match escape {
        None => Some('\\'),
        Some(escape) => {
            let mut chars = escape.chars();
            let first = chars.next();
            if chars.next().is_some() {
                return Err(Error::new(Condition::InvalidEscapeSequence, "invalid escape string")
                    .hint("Escape string must be empty or one character."));
            }
            first
        }
    };
    let mut out = work::text(pattern.len() + 16)?;
    out.push_str("^(?:");
    let (mut separators, mut in_brackets) = (0, false);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        work::step(1)?;
        work::reserve_text(&mut out, 16)?;
        if Some(c) == escape {
            match chars.next() {
                // What substring() returns stands between two of these.
                Some('"') if !in_brackets => {
                    match separators {
                        0 => out.push_str("){1,1}?("),
                        1 => out.push_str("){1,1}(?:"),
                        _ => {
                            let message =
                                "SQL regular expression may not contain more than two escape-double-quote separators";
                            return Err(Error::new(Condition::InvalidUseOfEscapeCharacter, message));
                        }
                    }
                    separators += 1;
                }
                Some(escaped) => {
                    out.push('\\');
                    out.push(escaped);
                }
                None => {}
            }
            continue;
        }
        match c {
            c if in_brackets => {
                if c == '\\' {
                    out.push('\\');
                }
                out.push(c);
                in_brackets = c != ']';
            }
            '[' => {
                out.push(c);
                in_brackets = true;
            }
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            // Parentheses group, and remember nothing.
            '(' => out.push_str("(?:"),
            '\\' | '.' | '^' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push_str(")$");
    Ok(out)
}
