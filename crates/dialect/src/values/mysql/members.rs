//! ENUM and SET: which of a type's members a value means.
//!
//! Source: MySQL 8.0 Reference Manual, 13.3.5 "The ENUM Type", 13.3.6 "The SET Type".

use super::folded_text;

/// The members of `enum('a','it''s')` or `set(…)`.
pub fn labels(words: &str) -> Vec<String> {
    let mut letters = words.chars().peekable();
    let mut found = Vec::new();
    while letters.any(|letter| letter == '\'') {
        let mut label = String::new();
        loop {
            match letters.next() {
                Some('\'') if letters.next_if_eq(&'\'').is_some() => label.push('\''),
                Some('\'') | None => break,
                Some(letter) => label.push(letter),
            }
        }
        found.push(label);
    }
    found
}

/// The place of a member, which is written in any case and may have blanks at its end.
fn place(labels: &[String], text: &str) -> Option<usize> {
    let text = text.trim_end_matches(' ');
    let exact = labels.iter().position(|label| label == text);
    exact.or_else(|| {
        let wanted = folded_text(text);
        labels.iter().position(|label| folded_text(label) == wanted)
    })
}

/// The member that a text means: its name, or its number. `None` for none of them.
pub fn enum_of_text<'l>(labels: &'l [String], text: &str) -> Option<&'l str> {
    if let Some(at) = place(labels, text) {
        return Some(&labels[at]);
    }
    enum_of_number(labels, text.trim().parse().ok()?)
}

/// The member of a number, which counts from 1.
pub fn enum_of_number(labels: &[String], number: i64) -> Option<&str> {
    let at = usize::try_from(number).ok()?.checked_sub(1)?;
    labels.get(at).map(String::as_str)
}

/// The number of a value: 0 for what is no member.
pub fn enum_number(labels: &[String], text: &str) -> i64 {
    place(labels, text).map_or(0, |at| at as i64 + 1)
}

/// The members that a text means, in their own order: their names with commas between, or their bits. `None` where one is
/// none of them.
pub fn set_of_text(labels: &[String], text: &str) -> Option<String> {
    let bits = match set_bits(labels, text) {
        Some(bits) => bits,
        None => text.trim().parse().ok()?,
    };
    set_of_number(labels, bits)
}

/// The members of bits.
pub fn set_of_number(labels: &[String], bits: u64) -> Option<String> {
    if labels.len() < 64 && bits >> labels.len() != 0 {
        return None;
    }
    let members = labels.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
    Some(members.map(|(_, label)| label.as_str()).collect::<Vec<_>>().join(","))
}

fn set_bits(labels: &[String], text: &str) -> Option<u64> {
    if text.is_empty() {
        return Some(0);
    }
    text.split(',').try_fold(0, |bits, member| Some(bits | 1 << place(labels, member)?))
}

/// The bits of a value.
pub fn set_number(labels: &[String], text: &str) -> u64 {
    set_bits(labels, text).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_name_and_by_number() {
        let enums = labels("enum('small','it''s','Ä')");
        assert_eq!(enums, ["small", "it's", "Ä"]);
        assert_eq!(enum_of_text(&enums, "SMALL  "), Some("small"));
        assert_eq!(enum_of_text(&enums, "2"), Some("it's"));
        assert_eq!([enum_of_text(&enums, "x"), enum_of_number(&enums, 0), enum_of_number(&enums, 4)], [None; 3]);
        assert_eq!([enum_number(&enums, "ä"), enum_number(&enums, "")], [3, 0]);
        let sets = labels("set('x','y','z')");
        assert_eq!(set_of_text(&sets, "z,X").as_deref(), Some("x,z"));
        assert_eq!(set_of_text(&sets, "6").as_deref(), Some("y,z"));
        assert_eq!(set_of_text(&sets, "").as_deref(), Some(""));
        assert_eq!([set_of_text(&sets, "x,q"), set_of_number(&sets, 8)], [None, None]);
        assert_eq!(set_number(&sets, "x,z"), 5);
    }
}
