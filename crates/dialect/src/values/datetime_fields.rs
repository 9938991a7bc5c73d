//! A date and time as text, cut into fields: where a number, a word or an offset begins and ends.
//!
//! What the fields mean is [`datetime_read`](super::datetime_read)'s business. Only ASCII blanks separate fields;
//! punctuation that belongs to no field separates them, too. Words come out in lower case.

/// What a field looks like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Digits, at most one point among or before them.
    Number,
    /// Digits with colons behind the first of them.
    Time,
    /// A date with separators, or a name with punctuation inside (a zone's).
    Date,
    /// A sign and digits: an offset.
    Offset,
    /// Letters.
    Word,
    /// A sign and letters.
    SignedWord,
}

/// One field of a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Field {
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// More fields than any date or interval has.
const MAX_FIELDS: usize = 25;

/// What C calls a blank.
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// A text without the ASCII blanks around it: what input functions skip, and nothing else.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii() && is_blank(c as u8))
}

/// [`trim`] at the beginning only.
pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii() && is_blank(c as u8))
}

/// Cuts a text into fields; `None` when it cannot be a date, time or interval. `is_word` knows the words that end
/// before a digit or `+` (others are names of zones such as `etc/gmt+3`).
pub(super) fn split(text: &str, is_word: impl Fn(&str) -> bool) -> Option<Vec<Field>> {
    let mut cutter = Cutter { bytes: text.as_bytes(), at: 0, text: String::new() };
    let mut fields = Vec::new();
    while let Some(byte) = cutter.peek() {
        if is_blank(byte) {
            cutter.at += 1;
            continue;
        }
        let kind = match byte {
            b'0'..=b'9' => cutter.number(),
            b'.' => {
                cutter.take();
                cutter.take_while(|b| b.is_ascii_digit());
                Kind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' => cutter.word(&is_word),
            b'+' | b'-' => cutter.signed()?,
            _ if byte.is_ascii_punctuation() => {
                cutter.at += 1;
                continue;
            }
            _ => return None,
        };
        if fields.len() == MAX_FIELDS {
            return None;
        }
        fields.push(Field { kind, text: std::mem::take(&mut cutter.text) });
    }
    Some(fields)
}

struct Cutter<'a> {
    bytes: &'a [u8],
    at: usize,
    text: String,
}

impl Cutter<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self) {
        if let Some(byte) = self.peek() {
            self.text.push(byte.to_ascii_lowercase() as char);
            self.at += 1;
        }
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.take();
        }
    }

    fn number(&mut self) -> Kind {
        self.take_while(|b| b.is_ascii_digit());
        match self.peek() {
            Some(b':') => {
                self.take_while(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'));
                Kind::Time
            }
            Some(separator @ (b'-' | b'/' | b'.')) => {
                self.take();
                if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    // A month's name may stand in the middle.
                    self.take_while(|b| b.is_ascii_alphanumeric() || b == separator);
                    return Kind::Date;
                }
                self.take_while(|b| b.is_ascii_digit());
                if self.peek() == Some(separator) {
                    self.take_while(|b| b.is_ascii_digit() || b == separator);
                    return Kind::Date;
                }
                if separator == b'.' { Kind::Number } else { Kind::Date }
            }
            _ => Kind::Number,
        }
    }

    fn word(&mut self, is_word: &impl Fn(&str) -> bool) -> Kind {
        self.take_while(|b| b.is_ascii_alphabetic());
        let goes_on = match self.peek() {
            Some(b'-' | b'/' | b'.') => true,
            Some(b'+' | b'0'..=b'9') => !is_word(&self.text),
            _ => false,
        };
        if !goes_on {
            return Kind::Word;
        }
        self.take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'/' | b'_' | b'.' | b':'));
        Kind::Date
    }

    fn signed(&mut self) -> Option<Kind> {
        self.take();
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
        match self.peek()? {
            b'0'..=b'9' => {
                self.take_while(|b| b.is_ascii_digit() || matches!(b, b':' | b'.' | b'-'));
                Some(Kind::Offset)
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                self.take_while(|b| b.is_ascii_alphabetic());
                Some(Kind::SignedWord)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_where_postgres_cuts() {
        let cut = |text: &str| -> Vec<(Kind, String)> {
            let fields = split(text, |word| word == "j").unwrap();
            fields.into_iter().map(|field| (field.kind, field.text)).collect()
        };
        let is = |kind, text: &str| (kind, text.to_owned());
        assert_eq!(
            cut("Wed 07 May 1997 17:32:01.5 PDT"),
            [
                is(Kind::Word, "wed"),
                is(Kind::Number, "07"),
                is(Kind::Word, "may"),
                is(Kind::Number, "1997"),
                is(Kind::Time, "17:32:01.5"),
                is(Kind::Word, "pdt")
            ]
        );
        assert_eq!(
            cut("2001.360 040506.7-08:00"),
            [is(Kind::Number, "2001.360"), is(Kind::Number, "040506.7"), is(Kind::Offset, "-08:00")]
        );
        assert_eq!(cut("8-May-2024 Etc/GMT+3"), [is(Kind::Date, "8-may-2024"), is(Kind::Date, "etc/gmt+3")]);
        assert_eq!(cut("J2451187 - infinity")[0], is(Kind::Word, "j"));
        assert_eq!(split("2024-01-01\u{a0}", |_| false), None);
        assert_eq!(split("2024-01-01 ä", |_| false), None);
    }

    #[test]
    fn only_ascii_blanks_are_trimmed() {
        assert_eq!(trim(" \t\n\u{b}\u{c}\r a b \r"), "a b");
        assert_eq!(trim("\u{a0}a\u{3000}"), "\u{a0}a\u{3000}");
        assert_eq!(trim("\u{85}"), "\u{85}");
    }
}
