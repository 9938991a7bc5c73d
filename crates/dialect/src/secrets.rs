//! Passwords in statements, which must not stand in a log.

use std::borrow::Cow;

/// What stands in the place of a password.
const MASK: &str = "'***'";

/// A statement's text with every literal behind the word PASSWORD (or IDENTIFIED BY) masked: what may be logged and shown
/// to others.
///
/// It reads tokens, not statements: what is logged need not be valid, and then least of all may it be shown. A literal
/// that does not end is masked to the text's end.
pub fn mask_secrets(sql: &str) -> Cow<'_, str> {
    let mut scan =
        Scan { text: sql, at: 0, masked: String::new(), copied: 0, expected: false, identified: false, named: false };
    scan.run();
    if scan.masked.is_empty() {
        return Cow::Borrowed(sql);
    }
    scan.masked.push_str(&sql[scan.copied..]);
    Cow::Owned(scan.masked)
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    masked: String,
    /// Up to where the text has been copied to `masked`.
    copied: usize,
    /// A literal that comes now is a password.
    expected: bool,
    /// IDENTIFIED has been read, and BY, AS or USING may follow, the name of a plugin before it.
    identified: bool,
    /// PASSWORD FOR has been read: the password follows behind `=`.
    named: bool,
}

impl Scan<'_> {
    fn run(&mut self) {
        while let Some(&byte) = self.rest().first() {
            let begin = self.at;
            match byte {
                b'-' if self.rest().starts_with(b"--") => self.skip_to("\n", 2),
                b'/' if self.rest().starts_with(b"/*") => self.skip_to("*/", 2),
                b'\'' | b'"' => {
                    let escapes = begin > 0 && matches!(self.text.as_bytes()[begin - 1], b'e' | b'E');
                    self.skip_quoted(byte, escapes && byte == b'\'');
                    self.literal(begin, None);
                }
                b'$' => match dollar_tag(&self.text[begin..]) {
                    Some(tag) => {
                        let inner = begin + tag.len();
                        let end = self.text[inner..].find(tag).map_or(self.text.len(), |found| inner + found);
                        self.at = (end + tag.len()).min(self.text.len());
                        self.literal(begin, Some((inner, end)));
                    }
                    None => self.other(1),
                },
                _ if is_word(byte) => {
                    let length = self.rest().iter().take_while(|byte| is_word(**byte)).count();
                    self.at += length;
                    self.word(begin);
                }
                b'=' if self.named => {
                    self.at += 1;
                    (self.named, self.expected) = (false, true);
                }
                // `PASSWORD('…')`.
                b'(' if self.expected => self.at += 1,
                // `PASSWORD = '…'`, `password => '…'`, `U&'…'`.
                b'=' | b'>' | b'&' | b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                _ => self.other(1),
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn other(&mut self, length: usize) {
        self.at += length;
        self.expected = false;
        self.identified = false;
    }

    fn skip_to(&mut self, end: &str, from: usize) {
        let found = self.text.as_bytes()[self.at + from..].windows(end.len()).position(|bytes| bytes == end.as_bytes());
        self.at = found.map_or(self.text.len(), |found| self.at + from + found + end.len());
    }

    fn skip_quoted(&mut self, quote: u8, escapes: bool) {
        self.at += 1;
        while let Some(&byte) = self.rest().first() {
            self.at += 1;
            match byte {
                b'\\' if escapes => self.at = (self.at + 1).min(self.text.len()),
                _ if byte != quote => {}
                // Doubled, it stands for itself.
                _ if self.rest().first() == Some(&quote) => self.at += 1,
                _ => return,
            }
        }
    }

    /// What comes may end one of several things that are expected.
    fn unexpected(&mut self) {
        // A plugin's name.
        let identified = self.identified;
        self.other(0);
        self.identified = identified;
    }

    /// A literal from `begin` to here; `inner` is the text of one in dollar quotes, which may be statements.
    fn literal(&mut self, begin: usize, inner: Option<(usize, usize)>) {
        let (from, to, mask) = match inner {
            _ if self.expected => (begin, self.at, Cow::Borrowed(MASK)),
            Some((from, to)) => match mask_secrets(&self.text[from..to]) {
                Cow::Owned(mask) => (from, to, Cow::Owned(mask)),
                Cow::Borrowed(_) => return self.other(0),
            },
            None => return self.unexpected(),
        };
        self.masked.push_str(&self.text[self.copied..from]);
        self.masked.push_str(&mask);
        self.copied = to;
        self.other(0);
    }

    fn word(&mut self, begin: usize) {
        let word = &self.text[begin..self.at];
        let prefixes_literal = word.len() == 1 && matches!(self.rest(), [b'\'', ..] | [b'&', b'\'', ..]);
        if prefixes_literal {
            return;
        }
        let is = |wanted: &str| word.eq_ignore_ascii_case(wanted);
        self.named = self.named || (self.expected && is("for"));
        let begins_secret = ["by", "as", "using"].iter().any(|word| is(word));
        self.expected = is("password") || (self.identified && begins_secret);
        self.identified = is("identified") || (self.identified && !begins_secret);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// `$$` or `$name$` at the beginning of a text.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 1;
    let name = &text.as_bytes()[1..end];
    (name.iter().all(|byte| is_word(*byte)) && !name.first().is_some_and(u8::is_ascii_digit)).then(|| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_masked_however_they_are_written() {
        for (sql, shown) in [
            ("create user ada password 'pen'", "create user ada password '***'"),
            (
                "ALTER ROLE \"a b\" WITH LOGIN PASSWORD 'it''s' VALID UNTIL 'x'",
                "ALTER ROLE \"a b\" WITH LOGIN PASSWORD '***' VALID UNTIL 'x'",
            ),
            ("create role r encrypted password e'a\\'b'", "create role r encrypted password e'***'"),
            ("create role r password U&'x' ", "create role r password U&'***' "),
            ("create role r password $$x$$, y", "create role r password '***', y"),
            ("create role r password/* c */\n-- d\n'x'", "create role r password/* c */\n-- d\n'***'"),
            ("set encryption password \"x y\" with hint 'h'", "set encryption password '***' with hint 'h'"),
            ("create user a identified by 'x'", "create user a identified by '***'"),
            (
                "create user 'a'@'%' identified with 'mysql_native_password' by 'x', b identified with y as 'z'",
                "create user 'a'@'%' identified with 'mysql_native_password' by '***', b identified with y as '***'",
            ),
            ("set password for 'a'@'%' = 'x'", "set password for 'a'@'%' = '***'"),
            ("set password = password('x')", "set password = password('***')"),
            ("do $a$ begin alter user b password 'x'; end $a$", "do $a$ begin alter user b password '***'; end $a$"),
            ("alter user a password 'never ends", "alter user a password '***'"),
            (
                "create user mapping for u server s options (password 'x', user 'u')",
                "create user mapping for u server s options (password '***', user 'u')",
            ),
            ("select * from t where password = 'x' and a = 'b'", "select * from t where password = '***' and a = 'b'"),
        ] {
            assert_eq!(mask_secrets(sql), shown, "{sql}");
        }
    }

    #[test]
    fn everything_else_is_as_it_was() {
        for sql in [
            "",
            "'",
            "$",
            "$1",
            "$x",
            "--",
            "/*",
            "\\",
            "e'\\",
            "select 'password', 'x'",
            "select password, 'x' from t",
            "select $1 || $2",
            "-- password 'x'",
            "select \"password\" 'x'",
            "sélect 'ü' password",
            "select $ä$ü$ä$",
        ] {
            assert!(matches!(mask_secrets(sql), Cow::Borrowed(_)), "{sql}");
        }
    }
}
