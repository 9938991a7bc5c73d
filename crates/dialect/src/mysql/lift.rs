//! Texts without their literals: what `postgres::lift` is for, over MySQL's spelling of strings and comments.

use std::borrow::Cow;

use crate::postgres::{LONGEST_LIFTED, LiteralKind, Shape, Spelling, number_kind};

/// What a string's inside stands for: a quote twice is one, and a backslash says something of the character behind it.
pub(super) fn unescaped(inside: &str, quote: char) -> Cow<'_, str> {
    if !inside.contains(['\\', quote]) {
        return Cow::Borrowed(inside);
    }
    let mut text = String::with_capacity(inside.len());
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            if letter == quote {
                letters.next();
            }
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('0') => text.push('\0'),
            Some('b') => text.push('\u{8}'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('Z') => text.push('\u{1a}'),
            // For LIKE, whose patterns have them so.
            Some(wildcard @ ('%' | '_')) => text.extend(['\\', wildcard]),
            Some(other) => text.push(other),
            None => text.push('\\'),
        }
    }
    Cow::Owned(text)
}

/// What a string with its quotes stands for.
pub(crate) fn content(literal: &str) -> Option<Cow<'_, str>> {
    let quote = literal.chars().next()?;
    let inside = literal.get(1..literal.len().checked_sub(1)?)?;
    Some(unescaped(inside, quote))
}

/// The shape of a text; `None` for texts that are no query or change of rows, have parameters or comments that may mean
/// something, or are long.
pub fn shape(sql: &str) -> Option<Shape> {
    if sql.len() > LONGEST_LIFTED || !may_have_shape(sql) {
        return None;
    }
    let bytes = sql.as_bytes();
    let mut shape = Shape::new(sql, Spelling::Mysql);
    let (mut at, mut ended) = (0, false);
    // A string just before; a word before one that makes it something else.
    let (mut behind_string, mut introduced) = (false, false);
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if ended {
            return None;
        }
        let (was_string, was_introduced) = (behind_string, introduced);
        (behind_string, introduced) = (false, false);
        match byte {
            b'\'' | b'"' => {
                // Strings side by side are one.
                if was_string {
                    return None;
                }
                let end = string_end(bytes, at)?;
                if !was_introduced {
                    shape.push(sql, at..end, LiteralKind::String)?;
                }
                behind_string = true;
                at = end;
            }
            b'0'..=b'9' => {
                let end = number_end(bytes, at);
                if bytes.get(end).copied().is_some_and(is_word) {
                    // `0x1f`, and names that begin with digits.
                    at = word_end(bytes, end);
                } else {
                    if let Some(kind) = number_kind(&sql[at..end]) {
                        shape.push(sql, at..end, kind)?;
                    }
                    at = end;
                }
            }
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => return None,
            b'`' => at += 2 + bytes[at + 1..].iter().position(|byte| *byte == b'`')?,
            b'#' | b'?' => return None,
            b'-' if bytes[at..].starts_with(b"--") => return None,
            b'@' if bytes.get(at + 1).is_some_and(|next| matches!(next, b'\'' | b'"')) => return None,
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                if matches!(bytes.get(at + 2), Some(b'!' | b'+' | b'M')) {
                    return None;
                }
                at += 4 + bytes[at + 2..].windows(2).position(|window| window == b"*/")?;
                behind_string = was_string;
                introduced = was_introduced;
            }
            b';' => {
                ended = true;
                at += 1;
            }
            _ if is_word(byte) => {
                let end = word_end(bytes, at);
                let is_prefix = matches!(&bytes[at..end], [b'x' | b'X' | b'b' | b'B' | b'n' | b'N']);
                introduced = byte == b'_' || (is_prefix && bytes.get(end).is_some_and(|next| *next == b'\''));
                at = end;
            }
            _ => at += 1,
        }
    }
    Some(shape.ended(sql))
}

/// A quick look at the first word.
fn may_have_shape(sql: &str) -> bool {
    let text = sql.trim_start().as_bytes();
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    [&b"select"[..], b"insert", b"update", b"delete", b"with", b"replace"].into_iter().any(begins)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

fn word_end(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|byte| is_word(**byte)).count()
}

/// Behind a number, which may have a point and an exponent.
fn number_end(bytes: &[u8], from: usize) -> usize {
    let digits =
        |from: usize| from + bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(from);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let behind = digits(signed);
        if behind > signed {
            end = behind;
        }
    }
    end
}

/// Behind a string.
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let quote = bytes[from];
    let mut at = from + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            byte if byte == quote => {
                if bytes.get(at + 1) != Some(&quote) {
                    return Some(at + 1);
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_stand_for_what_mysql_says() {
        for (literal, text) in [
            ("'plain'", "plain"),
            ("'it''s'", "it's"),
            (r"'it\'s'", "it's"),
            (r#""a ""b"" 'c'""#, r#"a "b" 'c'"#),
            (r"'\a\f\v\0\Z\n\\'", "afv\0\u{1a}\n\\"),
            (r"'100\% \_'", r"100\% \_"),
            ("'ä\\ö'", "äö"),
        ] {
            assert_eq!(content(literal).unwrap(), text, "{literal}");
        }
    }

    #[test]
    fn a_shape_has_the_literals_that_may_be_values() {
        let found = |sql: &str| {
            let shape = shape(sql)?;
            Some(shape.literals.iter().map(|literal| sql[literal.range.clone()].to_owned()).collect::<Vec<_>>())
        };
        for (sql, literals) in [
            ("SELECT a FROM t WHERE b = 'x' AND c = -5", &["'x'", "5"][..]),
            ("select `a 'b' 1` from t1 where 2a = 1.5e3 and x1 = 3.", &["1.5e3", "3."]),
            (r#"insert into t values ("a\"b", 'c\'d', X'41', _utf8mb4 'e', 0x41, b'1');"#, &[r#""a\"b""#, r"'c\'d'"]),
            ("select /* 'no' 1 */ 1", &["1"]),
            ("update t set a = @x + 1, b = @y1", &["1"]),
        ] {
            assert_eq!(
                found(sql).as_deref(),
                Some(&*literals.iter().map(ToString::to_string).collect::<Vec<_>>()),
                "{sql}"
            );
        }
        for sql in [
            "select ?",
            "select 'a' 'b'",
            "select 1; select 2",
            "select 1 # 2",
            "select 1 -- 2",
            "select /*! 1 */ 2",
            "select .5",
            "set @a = 1",
            "select 'open",
            "select @'a'",
        ] {
            assert_eq!(found(sql), None, "{sql}");
        }
    }
}
