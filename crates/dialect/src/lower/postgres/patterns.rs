//! Regular expressions of MySQL's clients as PostgreSQL's, of those that match the same texts in both.
//!
//! Case is spelled out letter by letter, since each engine has a folding of its own; a class that is another one there, and
//! whatever looks around, has no translation.

use std::iter::Peekable;
use std::str::Chars;

/// White space, as Unicode has it.
const SPACES: &str = " \\t\\n\\v\\f\\r\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

/// A pattern that finds what `pattern` finds; `None` where there is none.
pub(super) fn pattern_of(pattern: &str, any_case: bool) -> Option<String> {
    let mut reader = Reader { rest: pattern.chars().peekable(), any_case, out: String::new(), depth: 0 };
    if pattern.is_empty() {
        return None;
    }
    reader.read()?;
    (reader.depth == 0).then_some(reader.out)
}

struct Reader<'p> {
    rest: Peekable<Chars<'p>>,
    any_case: bool,
    out: String,
    /// How many parentheses are open.
    depth: usize,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        // What a quantifier may stand behind.
        let mut atom = false;
        while let Some(letter) = self.rest.next() {
            match letter {
                '^' | '$' | '|' => {
                    self.out.push(letter);
                    atom = false;
                    continue;
                }
                '(' => {
                    self.out.push('(');
                    self.depth += 1;
                    if self.rest.next_if_eq(&'?').is_some() {
                        self.rest.next_if_eq(&':')?;
                        self.out.push_str("?:");
                    }
                    atom = false;
                    continue;
                }
                ')' => {
                    self.depth = self.depth.checked_sub(1)?;
                    self.out.push(')');
                }
                '*' | '+' | '?' | '{' => {
                    if !atom {
                        return None;
                    }
                    self.quantifier(letter)?;
                    atom = false;
                    continue;
                }
                '.' => self.out.push_str("[^\\n]"),
                '[' => self.class()?,
                '\\' => self.escaped()?,
                ']' | '}' => return None,
                letter => self.letter(letter)?,
            }
            atom = true;
        }
        Some(())
    }

    fn quantifier(&mut self, letter: char) -> Option<()> {
        self.out.push(letter);
        if letter == '{' {
            let mut bounds = String::new();
            loop {
                match self.rest.next()? {
                    '}' => break,
                    letter @ ('0'..='9' | ',') => bounds.push(letter),
                    _ => return None,
                }
            }
            let (least, most) = bounds.split_once(',').unwrap_or((&bounds, ""));
            let within = |bound: &str| bound.parse::<u32>().is_ok_and(|bound| bound <= 255);
            if !within(least) || !(most.is_empty() || within(most)) {
                return None;
            }
            self.out.push_str(&bounds);
            self.out.push('}');
        }
        // Which of several matches is found says nothing here.
        self.rest.next_if_eq(&'?');
        // Two quantifiers in a row mean something else in each.
        (!matches!(self.rest.peek(), Some('*' | '+' | '?' | '{'))).then_some(())
    }

    fn letter(&mut self, letter: char) -> Option<()> {
        match cases(letter, self.any_case)?.as_slice() {
            [one] => self.out.push_str(&plain(*one)),
            all => {
                self.out.push('[');
                self.out.extend(all.iter().map(|letter| plain(*letter)));
                self.out.push(']');
            }
        }
        Some(())
    }

    fn escaped(&mut self) -> Option<()> {
        match self.rest.next()? {
            'd' => self.out.push_str("[[:digit:]]"),
            'D' => self.out.push_str("[^[:digit:]]"),
            's' => self.out.push_str(&format!("[{SPACES}]")),
            'S' => self.out.push_str(&format!("[^{SPACES}]")),
            letter @ ('n' | 't' | 'r') => self.out.push_str(&format!("\\{letter}")),
            letter if letter.is_ascii_punctuation() => self.out.push_str(&plain(letter)),
            _ => return None,
        }
        Some(())
    }

    /// A set in brackets: letters, ranges of ASCII, digits and white space.
    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let letter = match self.rest.next()? {
                ']' if first => return None,
                ']' => break,
                '[' => return None,
                '\\' => match self.rest.next()? {
                    'd' => {
                        self.out.push_str("[:digit:]");
                        first = false;
                        continue;
                    }
                    's' => {
                        self.out.push_str(SPACES);
                        first = false;
                        continue;
                    }
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    letter if letter.is_ascii_punctuation() => letter,
                    _ => return None,
                },
                // They join sets in one of the two.
                letter @ ('&' | '~') if self.rest.peek() == Some(&letter) => return None,
                '-' if !first && self.rest.peek() != Some(&']') => return None,
                letter => letter,
            };
            first = false;
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('-') && ahead.peek().is_some_and(|next| *next != ']') {
                let last = ahead.next()?;
                let known = |letter: char| letter.is_ascii_alphanumeric();
                if !known(letter) || !known(last) || last < letter {
                    return None;
                }
                self.rest = ahead;
                for letter in letter..=last {
                    for letter in cases(letter, self.any_case)? {
                        self.out.push_str(&plain(letter));
                    }
                }
                continue;
            }
            for letter in cases(letter, self.any_case)? {
                self.out.push_str(&plain(letter));
            }
        }
        self.out.push(']');
        Some(())
    }
}

/// A letter that stands for itself.
fn plain(letter: char) -> String {
    match letter {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        letter if letter.is_ascii_punctuation() => format!("\\{letter}"),
        letter => letter.to_string(),
    }
}

/// The letters that are this one where case says nothing; `None` where that is more than a pair of two.
fn cases(letter: char, any_case: bool) -> Option<Vec<char>> {
    if letter.is_control() && !matches!(letter, '\n' | '\t' | '\r') {
        return None;
    }
    if !any_case {
        return Some(vec![letter]);
    }
    match letter {
        'k' | 'K' => return Some(vec!['k', 'K', '\u{212a}']),
        's' | 'S' => return Some(vec!['s', 'S', '\u{17f}']),
        letter if letter.is_ascii_alphabetic() => {
            return Some(vec![letter.to_ascii_lowercase(), letter.to_ascii_uppercase()]);
        }
        letter if letter.is_ascii() => return Some(vec![letter]),
        // They have third forms, or are written with two letters in the other case.
        'å' | 'Å' | 'µ' | 'ß' | 'ſ' | 'ı' | 'İ' | 'ŉ' | 'ǰ' => return None,
        _ => {}
    }
    let (mut low, mut high) = (letter.to_lowercase(), letter.to_uppercase());
    let (Some(low), None, Some(high), None) = (low.next(), low.next(), high.next(), high.next()) else { return None };
    match (low, high) {
        (low, high) if low == high && !letter.is_alphabetic() => Some(vec![letter]),
        // Latin and Cyrillic letters of two forms.
        (low, high) if low != high && matches!(letter, '\u{c0}'..='\u{17e}' | '\u{410}'..='\u{44f}') => {
            Some(vec![low, high])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::pattern_of;

    #[test]
    fn patterns_that_mean_the_same() {
        for (ours, theirs) in [
            ("^a.c$", "^[aA][^\\n][cC]$"),
            ("(ab|x)+?", "([aA][bB]|[xX])+"),
            ("[^a-c_]{2,}", "[^aAbBcC\\_]{2,}"),
            (
                "\\d+\\.\\s*",
                "[[:digit:]]+\\.[ \\t\\n\\v\\f\\r\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*",
            ),
            ("é-1", "[éÉ]\\-1"),
            ("[-+.]", "[\\-\\+\\.]"),
            ("k", "[kK\u{212a}]"),
        ] {
            assert_eq!(pattern_of(ours, true).as_deref(), Some(theirs), "{ours}");
        }
        assert_eq!(pattern_of("Ab[c-d]", false).as_deref(), Some("Ab[cd]"));
    }

    #[test]
    fn patterns_that_do_not() {
        for pattern in [
            "",
            "\\w",
            "\\bx",
            "(?=a)",
            "[[:alpha:]]",
            "a**",
            "a++",
            "*a",
            "a{300}",
            "a{",
            "(",
            ")",
            "[a",
            "ß",
            "σ",
            "(?i)a",
            "\\1",
        ] {
            assert_eq!(pattern_of(pattern, true), None, "{pattern}");
        }
    }
}
