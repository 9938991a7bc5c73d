//! One item of a list of privileges as its text: what the type `aclitem` reads and compares.

use crate::{Condition, Error, Result};

/// The letters of all privileges, in PostgreSQL's order, with their words.
pub const LETTERS: [(char, &str); 14] = [
    ('a', "INSERT"),
    ('r', "SELECT"),
    ('w', "UPDATE"),
    ('d', "DELETE"),
    ('D', "TRUNCATE"),
    ('x', "REFERENCES"),
    ('t', "TRIGGER"),
    ('X', "EXECUTE"),
    ('U', "USAGE"),
    ('C', "CREATE"),
    ('T', "TEMPORARY"),
    ('c', "CONNECT"),
    ('s', "SET"),
    ('A', "ALTER SYSTEM"),
];

/// An item by its parts; names as they are, empty for PUBLIC.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ItemText {
    /// Who has the privileges.
    pub grantee: String,
    /// Who gave them.
    pub grantor: String,
    /// Which of [`LETTERS`], as a bit for each.
    pub privileges: u16,
    /// Those that may be given on.
    pub grantable: u16,
}

impl ItemText {
    /// Reads a text.
    ///
    /// # Errors
    /// `22P02`; `0A000` for one that leaves the grantor out.
    pub fn read(text: &str) -> Result<Self> {
        let malformed = |message: String| Error::new(Condition::InvalidTextRepresentation, message);
        let (mut grantee, mut rest) = name(text)?;
        if !rest.starts_with('=') {
            if !matches!(grantee.as_str(), "group" | "user") {
                return Err(malformed(format!("unrecognized key word: \"{grantee}\""))
                    .hint("ACL key word must be \"group\" or \"user\"."));
            }
            (grantee, rest) = name(rest)?;
            if grantee.is_empty() {
                return Err(
                    malformed("missing name".to_owned()).hint("A name must follow the \"group\" or \"user\" key word.")
                );
            }
        }
        let rest = rest.strip_prefix('=').ok_or_else(|| malformed("missing \"=\" sign".to_owned()))?;
        let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '*').unwrap_or(rest.len());
        let (letters, rest) = rest.split_at(end);
        let (privileges, grantable) = bits(letters)?;
        let Some(rest) = rest.strip_prefix('/') else {
            return Err(Error::unsupported("an aclitem without its grantor"));
        };
        let (grantor, rest) = name(rest)?;
        if grantor.is_empty() {
            return Err(malformed("a name must follow the \"/\" sign".to_owned()));
        }
        if !rest.trim().is_empty() {
            return Err(malformed("extra garbage at the end of the ACL specification".to_owned()));
        }
        Ok(Self { grantee, grantor, privileges, grantable })
    }

    /// The text of it.
    pub fn text(&self) -> String {
        let mut text = quoted(&self.grantee);
        text.push('=');
        for (at, (letter, _)) in LETTERS.iter().enumerate() {
            if self.privileges >> at & 1 == 1 {
                text.push(*letter);
                if self.grantable >> at & 1 == 1 {
                    text.push('*');
                }
            }
        }
        text.push('/');
        text.push_str(&quoted(&self.grantor));
        text
    }

    /// True when another item of the same two roles has nothing that this one has not.
    pub fn contains(&self, other: &Self) -> bool {
        self.grantee == other.grantee
            && self.grantor == other.grantor
            && self.privileges & other.privileges == other.privileges
            && self.grantable & other.grantable == other.grantable
    }
}

/// The bit of a privilege's word.
pub fn bit_of_word(word: &str) -> Option<u16> {
    let word = if word == "TEMP" { "TEMPORARY" } else { word };
    LETTERS.iter().position(|(_, known)| *known == word).map(|at| 1 << at)
}

/// The canonical text of an item.
///
/// # Errors
/// Those of [`ItemText::read`].
pub(crate) fn read_item(text: &str) -> Result<String> {
    ItemText::read(text).map(|item| item.text())
}

fn bits(letters: &str) -> Result<(u16, u16)> {
    let (mut privileges, mut grantable, mut last) = (0, 0, 0);
    for letter in letters.chars() {
        if letter == '*' {
            grantable |= last;
            continue;
        }
        let at = LETTERS.iter().position(|(known, _)| *known == letter).ok_or_else(|| {
            let message = "invalid mode character: must be one of \"arwdDxtXUCTcsA\"";
            Error::new(Condition::InvalidTextRepresentation, message)
        })?;
        last = 1 << at;
        privileges |= last;
    }
    Ok((privileges, grantable))
}

/// A role's name, in quotes perhaps, behind blanks; and what follows.
fn name(text: &str) -> Result<(String, &str)> {
    const LONGEST: usize = 63;
    let text = text.trim_start();
    let mut name = String::new();
    let mut quoted = false;
    let mut chars = text.char_indices().peekable();
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        if c == '"' {
            if quoted && chars.next_if(|(_, next)| *next == '"').is_some() {
                name.push('"');
            } else {
                quoted = !quoted;
            }
        } else if quoted || c.is_alphanumeric() || c == '_' {
            name.push(c);
        } else {
            end = at;
            break;
        }
        if name.len() > LONGEST {
            let message = "identifier too long";
            let detail = "Identifier must be less than 64 characters.";
            return Err(Error::new(Condition::NameTooLong, message).detail(detail));
        }
    }
    Ok((name, text[end..].trim_start()))
}

fn quoted(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
