//! Sets of characters: classes by name, collating elements, upper and lower case.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::part::Set;

/// A class of characters, as `[:alpha:]` names it.
pub(super) fn class(name: &str, any_case: bool) -> Option<ClassUnicode> {
    let name = match name {
        "upper" | "lower" if any_case => "alpha",
        name => name,
    };
    let of = |pattern: &str| unicode(pattern);
    Some(match name {
        "alnum" => of(r"[\p{Alphabetic}\p{Nd}]"),
        "alpha" => of(r"\p{Alphabetic}"),
        "ascii" => of(r"[\x00-\x7f]"),
        "blank" => of(r"[\t \u{1680}\u{2000}-\u{2006}\u{2008}-\u{200a}\u{205f}\u{3000}]"),
        "cntrl" => of(r"\p{Cc}"),
        "digit" => of("[0-9]"),
        "graph" => of(r"[^\p{Z}\p{C}]"),
        "lower" => of(r"\p{Lowercase}"),
        "print" => of(r"[[^\p{Z}\p{C}] ]"),
        "punct" => of(r"[[^\p{Z}\p{C}]--[\p{Alphabetic}\p{Nd}]]"),
        "space" => space(),
        "upper" => of(r"\p{Uppercase}"),
        "word" => word().clone(),
        "xdigit" => of("[0-9A-Fa-f]"),
        _ => return None,
    })
}

fn space() -> ClassUnicode {
    unicode(r"[\t-\r \u{1680}\u{2000}-\u{2006}\u{2008}-\u{200a}\u{2028}\u{2029}\u{205f}\u{3000}]")
}

fn word() -> &'static ClassUnicode {
    static WORD: OnceLock<ClassUnicode> = OnceLock::new();
    WORD.get_or_init(|| unicode(r"[\p{Alphabetic}\p{Nd}_]"))
}

/// True for what words are made of.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { c.is_alphanumeric() }
}

/// A class in the words of `regex-syntax`, which knows Unicode's tables.
fn unicode(pattern: &str) -> ClassUnicode {
    let parsed = regex_syntax::Parser::new().parse(pattern);
    match parsed.map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => ClassUnicode::empty(),
    }
}

/// A range of characters.
pub(super) fn range(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

/// The same characters in both cases. A character has at most one other of each.
pub(super) fn both_cases(class: &mut ClassUnicode) {
    let mut more = Vec::new();
    for range in class.iter() {
        for c in range.start()..=range.end() {
            for other in [lower(c), upper(c)] {
                if other != c {
                    more.push(ClassUnicodeRange::new(other, other));
                }
            }
        }
    }
    class.union(&ClassUnicode::new(more));
}

/// The ranges of a class.
pub(super) fn ranges(class: &ClassUnicode) -> Set {
    class.iter().map(|range| (range.start(), range.end())).collect()
}

/// The small letter, where there is one.
pub(super) fn lower(c: char) -> char {
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) => small,
        _ => c,
    }
}

fn upper(c: char) -> char {
    let mut capital = c.to_uppercase();
    match (capital.next(), capital.next()) {
        (Some(capital), None) => capital,
        _ => c,
    }
}

/// A collating element: a character by itself, or by its name in POSIX's portable character set.
pub(super) fn element(name: &str) -> Option<char> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(c);
    }
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c)
}

const NAMES: &[(&str, char)] = &[
    ("NUL", '\0'),
    ("SOH", '\x01'),
    ("STX", '\x02'),
    ("ETX", '\x03'),
    ("EOT", '\x04'),
    ("ENQ", '\x05'),
    ("ACK", '\x06'),
    ("BEL", '\x07'),
    ("alert", '\x07'),
    ("BS", '\x08'),
    ("backspace", '\x08'),
    ("HT", '\t'),
    ("tab", '\t'),
    ("LF", '\n'),
    ("newline", '\n'),
    ("VT", '\x0b'),
    ("vertical-tab", '\x0b'),
    ("FF", '\x0c'),
    ("form-feed", '\x0c'),
    ("CR", '\r'),
    ("carriage-return", '\r'),
    ("SO", '\x0e'),
    ("SI", '\x0f'),
    ("DLE", '\x10'),
    ("DC1", '\x11'),
    ("DC2", '\x12'),
    ("DC3", '\x13'),
    ("DC4", '\x14'),
    ("NAK", '\x15'),
    ("SYN", '\x16'),
    ("ETB", '\x17'),
    ("CAN", '\x18'),
    ("EM", '\x19'),
    ("SUB", '\x1a'),
    ("ESC", '\x1b'),
    ("IS4", '\x1c'),
    ("FS", '\x1c'),
    ("IS3", '\x1d'),
    ("GS", '\x1d'),
    ("IS2", '\x1e'),
    ("RS", '\x1e'),
    ("IS1", '\x1f'),
    ("US", '\x1f'),
    ("space", ' '),
    ("exclamation-mark", '!'),
    ("quotation-mark", '"'),
    ("number-sign", '#'),
    ("dollar-sign", '$'),
    ("percent-sign", '%'),
    ("ampersand", '&'),
    ("apostrophe", '\''),
    ("left-parenthesis", '('),
    ("right-parenthesis", ')'),
    ("asterisk", '*'),
    ("plus-sign", '+'),
    ("comma", ','),
    ("hyphen", '-'),
    ("hyphen-minus", '-'),
    ("period", '.'),
    ("full-stop", '.'),
    ("slash", '/'),
    ("solidus", '/'),
    ("zero", '0'),
    ("one", '1'),
    ("two", '2'),
    ("three", '3'),
    ("four", '4'),
    ("five", '5'),
    ("six", '6'),
    ("seven", '7'),
    ("eight", '8'),
    ("nine", '9'),
    ("colon", ':'),
    ("semicolon", ';'),
    ("less-than-sign", '<'),
    ("equals-sign", '='),
    ("greater-than-sign", '>'),
    ("question-mark", '?'),
    ("commercial-at", '@'),
    ("left-square-bracket", '['),
    ("backslash", '\\'),
    ("reverse-solidus", '\\'),
    ("right-square-bracket", ']'),
    ("circumflex", '^'),
    ("circumflex-accent", '^'),
    ("underscore", '_'),
    ("low-line", '_'),
    ("grave-accent", '`'),
    ("left-brace", '{'),
    ("left-curly-bracket", '{'),
    ("vertical-line", '|'),
    ("right-brace", '}'),
    ("right-curly-bracket", '}'),
    ("tilde", '~'),
    ("DEL", '\x7f'),
];
