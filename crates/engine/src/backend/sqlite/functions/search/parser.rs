//! The default parser: a text becomes tokens, each of one of 23 types.
//!
//! A machine of states that can try a way and come back. A state's rules are asked in turn; a rule is a test and what
//! follows it: `word` goes to that state, `.` stays, `?word` goes there and comes back to the next rule where that way
//! gives up, which is `^`. `=type` ends a token, `=type/word` goes on in a state. `+` before a state forgets the last
//! way back; behind a token's type `~` does, and `!` forgets all of them. `@word` goes to a state without taking the
//! character, `*` keeps what was read on a way and comes back. What is in the rules is what PostgreSQL's parser takes.

use std::collections::HashMap;
use std::sync::LazyLock;

use rowferry_dialect::text_search::TOKENS as TYPES;
use rowferry_dialect::{Result, work};

/// Numbers of types that others ask for.
pub(super) mod kind {
    pub(in super::super) const URL: u8 = 5;
    pub(in super::super) const HOST: u8 = 6;
    pub(in super::super) const SFLOAT: u8 = 7;
    pub(in super::super) const VERSION: u8 = 8;
    pub(in super::super) const BLANK: u8 = 12;
    pub(in super::super) const TAG: u8 = 13;
    pub(in super::super) const PROTOCOL: u8 = 14;
    pub(in super::super) const NUMHWORD: u8 = 15;
    pub(in super::super) const ASCIIHWORD: u8 = 16;
    pub(in super::super) const HWORD: u8 = 17;
    pub(in super::super) const URL_PATH: u8 = 18;
    pub(in super::super) const FLOAT: u8 = 20;
    pub(in super::super) const INT: u8 = 21;
    pub(in super::super) const UINT: u8 = 22;
    pub(in super::super) const ENTITY: u8 = 23;
}

/// State, then its rules. Tests are a character in quotes or a class; `_` is everything.
const RULES: &[(&str, &str)] = &[
    (
        "base",
        "end:. '<':?tag_first hidden:space ascii:ascii_word letter:word digit:uint '-':?sign '+':?sign '&':?entity_first '~':?tilde '/':?file_first '.':?path_dot _:space",
    ),
    ("num_word", "end:=numword alnum:. mark:. '@':?email '/':?file_first '.':?file_next '-':?num_hyphen _:=numword"),
    (
        "ascii_word",
        "end:=asciiword ascii:. '.':?domain_first '.':?file_next '-':?host_first '-':?ascii_hyphen '_':?host_first '@':?email ':':?protocol_first '/':?file_first digit:?host digit:num_word letter:word mark:word _:=asciiword",
    ),
    ("word", "end:=word letter:. mark:. digit:num_word '-':?word_hyphen _:=word"),
    (
        "uint",
        "end:=uint digit:. '.':?domain_first '.':?udecimal_first 'e':?mantissa_first 'E':?mantissa_first '-':?host_first '_':?host_first '@':?email ascii:?host letter:num_word mark:num_word '/':?file_first _:=uint",
    ),
    ("sign", "end:^ digit:+int _:^"),
    ("int", "end:=int digit:. '.':?decimal_first 'e':?mantissa_first 'E':?mantissa_first _:=int"),
    ("space", "end:=blank '<':=blank hidden:. '-':=blank '+':=blank '&':=blank '/':=blank other:. _:=blank"),
    ("udecimal_first", "end:^ digit:+udecimal _:^"),
    ("udecimal", "end:=float digit:. '.':?version_first 'e':?mantissa_first 'E':?mantissa_first _:=float"),
    ("decimal_first", "end:^ digit:+decimal _:^"),
    ("decimal", "end:=float digit:. '.':?signed_version 'e':?mantissa_first 'E':?mantissa_first _:=float"),
    ("signed_version", "end:^ digit#unsign:@signed_version_again _:^"),
    ("signed_version_again", "end:^ digit:=blank/uint! _:."),
    ("version_first", "end:^ digit:+version _:^"),
    ("version", "end:=version digit:. '.':?version_first _:=version"),
    ("mantissa_first", "end:^ digit:+mantissa '+':mantissa_sign '-':mantissa_sign _:^"),
    ("mantissa_sign", "end:^ digit:+mantissa _:^"),
    ("mantissa", "end:=sfloat digit:. _:=sfloat"),
    ("entity_first", "end:^ '#':entity_number_first ascii:entity ':':entity '_':entity _:^"),
    ("entity", "end:^ alnum:. ':':. '_':. '.':. '-':. ';':entity_end _:^"),
    ("entity_number_first", "end:^ 'x':entity_hex_first 'X':entity_hex_first digit:entity_number _:^"),
    ("entity_hex_first", "end:^ hex:entity_hex _:^"),
    ("entity_number", "end:^ digit:. ';':entity_end _:^"),
    ("entity_hex", "end:^ hex:. ';':entity_end _:^"),
    ("entity_end", "_:=entity~"),
    ("tag_first", "end:^ '/':?tag_close '!':?comment_first '?':?xml ascii:?tag_name ':':?tag_name '_':?tag_name _:^"),
    ("xml", "end:^ 'x':tag _:^"),
    ("tag_close", "end:^ ascii:tag_name _:^"),
    ("tag_name", "end:^ '/':tag_slash '>'#tag:tag_end blank#tag:tag alnum:. ':':. '_':. '.':. '-':. _:^"),
    ("tag_slash", "end:^ '>':tag_end _:^"),
    (
        "tag",
        "end:^ '>'#tag:tag_end '\'':tag_quoted '\"':tag_double_quoted ascii:. digit:. '=':. '-':. '_':. '#':. '/':. ':':. '.':. '&':. '?':. '%':. '~':. blank#tag:. _:^",
    ),
    ("tag_quoted", "end:^ '\\':?tag_backslash '\'':tag _:."),
    ("tag_double_quoted", "end:^ '\\':?tag_backslash '\"':tag _:."),
    ("tag_backslash", "end:^ _:*"),
    ("tag_end", "_:=tag!"),
    ("comment_first", "end:^ '-':comment_second 'D':tag 'd':tag _:^"),
    ("comment_second", "end:^ '-':comment _:^"),
    ("comment", "end:^ '-':comment_close_first _:."),
    ("comment_close_first", "end:^ '-':comment_close _:comment"),
    ("comment_close", "end:^ '-':. '>':tag_end _:comment"),
    ("domain_first", "end:^ ascii:domain_second digit:host _:^"),
    (
        "domain_second",
        "end:^ ascii:domain digit:?host '-':?host_first '_':?host_first '.':?domain_first '@':?email _:^",
    ),
    (
        "domain",
        "end:=host! ascii:. digit:?host ':':?port_first '-':?host_first '_':?host_first '.':?domain_first '@':?email digit:^ stop:=host/url_path_start! '/':?url _:=host!",
    ),
    ("port_first", "end:^ digit:port _:^"),
    ("port", "end:=host! digit:. stop:=host/url_path_start! '/':?url _:=host!"),
    ("host_first", "end:^ digit:host ascii:host _:^"),
    ("host", "end:^ digit:. ascii:. '@':?email '.':?domain_first '-':?host_first '_':?host_first _:^"),
    ("email", "stop:^ host:=email! _:^"),
    ("file_first", "end:^ ascii:file digit:file '.':path_first '_':file '~':?tilde _:^"),
    ("tilde", "end:^ ascii:file digit:file '_':file '/':file_first _:^"),
    ("path_first", "end:^ ascii:file digit:file '_':file '.':path_second '/':file_first _:^"),
    ("path_dot", "end:^ '.':path_second '/':file_first _:^"),
    ("path_second", "end:=file~ '/':?file_first '/':=file~ blank:=file~ _:^"),
    ("file", "end:=file ascii:. digit:. '.':?file_next '_':. '-':. '/':?file_first _:=file"),
    ("file_next", "end:^ ascii:+file digit:+file '_':+file _:^"),
    ("url_path_first", "end:^ urlchar:url_path _:^"),
    ("url_path_start", "_:url_path"),
    ("url_path", "end:=url_path urlchar:. _:=url_path"),
    ("url", "end:^ path#again_with_host:=url! _:^"),
    ("protocol_first", "end:^ '/':protocol_second _:^"),
    ("protocol_second", "end:^ '/':protocol_end _:^"),
    ("protocol_end", "_:=protocol!"),
    ("ascii_hyphen", "end:^ ascii:ascii_hword letter:hword digit:digit_hyphen _:^"),
    (
        "ascii_hword",
        "end#again:=asciihword/parts! ascii:. letter:hword mark:hword digit:num_hword '-':?ascii_hyphen _#again:=asciihword/parts!",
    ),
    ("word_hyphen", "end:^ letter:hword digit:digit_hyphen _:^"),
    ("hword", "end#again:=hword/parts! letter:. mark:. digit:num_hword '-':?word_hyphen _#again:=hword/parts!"),
    ("num_hyphen", "end:^ letter:num_hword digit:digit_hyphen _:^"),
    ("num_hword", "end#again:=numhword/parts! alnum:. mark:. '-':?num_hyphen _#again:=numhword/parts!"),
    ("digit_hyphen", "end:^ digit:. letter:num_hword mark:num_hword _:^"),
    ("parts", "end:@base ascii:ascii_part letter:word_part digit:?uint_part '-':?part_hyphen _:@base"),
    ("part_hyphen", "end:^ alnum:=blank/parts~ mark:=blank/parts~ _:^"),
    ("word_part", "end:=hword_part letter:. mark:. digit:num_part _:=hword_part/parts"),
    (
        "ascii_part",
        "end:=hword_asciipart ascii:. letter:word_part mark:word_part digit:num_part _:=hword_asciipart/parts",
    ),
    ("num_part", "end:=hword_numpart alnum:. mark:. _:=hword_numpart/parts"),
    ("uint_part", "end:^ digit:. letter:+num_part mark:+num_part _:^"),
];

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Test {
    Always,
    End,
    Is(char),
    Ascii,
    Letter,
    Digit,
    Alnum,
    NotAlnum,
    Hex,
    Blank,
    Mark,
    UrlCharacter,
    /// Inside of a script or a style sheet.
    Hidden,
    /// Only the host of a URL is wanted.
    Stop,
    /// A host follows.
    Host,
    /// The path of a URL follows.
    Path,
}

/// What happens beside the change of state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Also {
    Nothing,
    /// A tag may begin or end a script.
    Tag,
    /// The token is read again, for its parts.
    Again,
    /// The same, and its host is one.
    AgainWithHost,
    /// What looked like a number with a sign is a version.
    Unsign,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Forget {
    None,
    Last,
    All,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Act {
    Go(Option<usize>, Forget),
    Try(usize),
    Back,
    Merge,
    Rerun(usize),
    Token(u8, usize, Forget),
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    test: Test,
    also: Also,
    act: Act,
}

static STATES: LazyLock<Vec<Vec<Rule>>> = LazyLock::new(|| {
    let numbers: HashMap<&str, usize> = RULES.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
    RULES.iter().map(|(_, rules)| rules.split(' ').map(|rule| read_rule(rule, &numbers)).collect()).collect()
});

const URL_PATH_FIRST: &str = "url_path_first";

fn state(name: &str) -> usize {
    RULES.iter().position(|(known, _)| *known == name).unwrap_or(0)
}

/// A rule from its text. The texts are constants; the tests read all of them.
fn read_rule(text: &str, numbers: &HashMap<&str, usize>) -> Rule {
    // A test may be a colon in quotes.
    let split = if text.starts_with('\'') { 3 + text[3..].find(':').unwrap_or(0) } else { text.find(':').unwrap_or(0) };
    let (test, act) = (&text[..split], &text[split + 1..]);
    let (test, also) = match test.strip_prefix('\'') {
        Some(_) => (&test[..3], test[3..].strip_prefix('#')),
        None => test.split_once('#').map_or((test, None), |(test, also)| (test, Some(also))),
    };
    let test = match test {
        "_" => Test::Always,
        "end" => Test::End,
        "ascii" => Test::Ascii,
        "letter" => Test::Letter,
        "digit" => Test::Digit,
        "alnum" => Test::Alnum,
        "other" => Test::NotAlnum,
        "hex" => Test::Hex,
        "blank" => Test::Blank,
        "mark" => Test::Mark,
        "urlchar" => Test::UrlCharacter,
        "hidden" => Test::Hidden,
        "stop" => Test::Stop,
        "host" => Test::Host,
        "path" => Test::Path,
        quoted => Test::Is(quoted.chars().nth(1).unwrap_or(' ')),
    };
    let also = match also {
        Some("tag") => Also::Tag,
        Some("again") => Also::Again,
        Some("again_with_host") => Also::AgainWithHost,
        Some("unsign") => Also::Unsign,
        _ => Also::Nothing,
    };
    let number = |name: &str| numbers.get(name).copied().unwrap_or(0);
    let act = match (act.chars().next(), act.get(1..).unwrap_or_default()) {
        (Some('.'), _) => Act::Go(None, Forget::None),
        (Some('^'), _) => Act::Back,
        (Some('*'), _) => Act::Merge,
        (Some('?'), name) => Act::Try(number(name)),
        (Some('+'), name) => Act::Go(Some(number(name)), Forget::Last),
        (Some('@'), name) => Act::Rerun(number(name)),
        (Some('='), token) => {
            let forget = match token.chars().last() {
                Some('~') => Forget::Last,
                Some('!') => Forget::All,
                _ => Forget::None,
            };
            let token = token.trim_end_matches(['~', '!']);
            let (name, next) = token.split_once('/').unwrap_or((token, "base"));
            let kind = TYPES.iter().position(|(known, _)| *known == name).map_or(0, |at| at + 1);
            Act::Token(kind as u8, number(next), forget)
        }
        _ => Act::Go(Some(number(act)), Forget::None),
    };
    Rule { test, also, act }
}

/// A place in the text, and how the machine stands there.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    /// Bytes of the token so far.
    length: usize,
    state: usize,
    /// The rule that is asked next, after a way that gave up.
    resume: Option<usize>,
}

/// A text on its way to tokens.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    places: Vec<Place>,
    hidden: bool,
    want_host: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, places: vec![Place { at: 0, length: 0, state: 0, resume: None }], hidden: false, want_host: false }
    }

    fn place(&mut self) -> &mut Place {
        if self.places.is_empty() {
            self.places.push(Place { at: self.text.len(), length: 0, state: 0, resume: None });
        }
        let last = self.places.len() - 1;
        &mut self.places[last]
    }

    /// The next token: its type and its text.
    pub(super) fn next(&mut self) -> Result<Option<(u8, &'a str)>> {
        work::check()?;
        let start = self.place().at;
        if start >= self.text.len() {
            return Ok(None);
        }
        self.place().resume = None;
        loop {
            let place = *self.place();
            let next = self.text[place.at..].chars().next();
            let rules = &STATES[place.state];
            let mut number = place.resume.take_next();
            self.place().resume = None;
            let rule = loop {
                let Some(rule) = rules.get(number) else { return Ok(None) };
                if self.holds(rule.test, next)? {
                    break *rule;
                }
                number += 1;
            };
            self.special(rule.also, start);
            let mut token = None;
            match rule.act {
                Act::Back => {
                    self.places.pop();
                    continue;
                }
                Act::Try(state) => {
                    self.place().resume = Some(number + 1);
                    let tried = Place { state, resume: None, ..*self.place() };
                    self.places.push(tried);
                }
                Act::Go(state, forget) => {
                    self.forget(forget);
                    if let Some(state) = state {
                        self.place().state = state;
                    }
                }
                Act::Merge => {
                    if let Some(read) = self.places.pop() {
                        let place = self.place();
                        (place.at, place.length, place.resume) = (read.at, read.length, None);
                    }
                }
                Act::Rerun(state) => {
                    self.place().state = state;
                    continue;
                }
                Act::Token(kind, state, forget) => {
                    let length = std::mem::take(&mut self.place().length);
                    self.forget(forget);
                    self.place().state = state;
                    token = Some((kind, &self.text[start..start + length]));
                }
            }
            if token.is_some() {
                return Ok(token);
            }
            let width = next.map_or(0, char::len_utf8);
            if width == 0 {
                return Ok(None);
            }
            let place = self.place();
            place.at += width;
            place.length += width;
        }
    }

    fn forget(&mut self, forget: Forget) {
        let count = self.places.len();
        match forget {
            Forget::None => {}
            Forget::Last if count > 1 => drop(self.places.remove(count - 2)),
            Forget::Last => {}
            Forget::All => drop(self.places.drain(..count.saturating_sub(1))),
        }
    }

    fn special(&mut self, also: Also, start: usize) {
        let place = *self.place();
        match also {
            Also::Nothing => {}
            Also::Tag => {
                let token = self.text.get(start..start + place.length).unwrap_or_default();
                match token.to_ascii_lowercase().as_str() {
                    "</script" | "</style" => self.hidden = false,
                    "<script" | "<style" => self.hidden = true,
                    _ => {}
                }
            }
            Also::Again => self.place().at -= place.length,
            Also::AgainWithHost => {
                self.want_host = true;
                self.place().at -= place.length;
            }
            Also::Unsign => {
                self.place().at -= place.length;
                self.place().length = 0;
            }
        }
    }

    fn holds(&mut self, test: Test, next: Option<char>) -> Result<bool> {
        let of = |test: fn(char) -> bool| next.is_some_and(test);
        Ok(match test {
            Test::Always => true,
            Test::End => next.is_none(),
            Test::Is(wanted) => next == Some(wanted),
            Test::Ascii => of(|c| c.is_ascii_alphabetic()),
            Test::Letter => of(char::is_alphabetic),
            Test::Digit => of(|c| c.is_ascii_digit()),
            Test::Alnum => of(is_alnum),
            Test::NotAlnum => !of(is_alnum),
            Test::Hex => of(|c| c.is_ascii_hexdigit()),
            Test::Blank => of(char::is_whitespace),
            Test::Mark => of(is_mark),
            Test::UrlCharacter => {
                of(|c| ('!'..='~').contains(&c) && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}'))
            }
            Test::Hidden => self.hidden,
            Test::Stop => std::mem::take(&mut self.want_host),
            Test::Host => self.ahead(kind::HOST)?,
            Test::Path => self.ahead(kind::URL_PATH)?,
        })
    }

    /// Whether a token of a type follows; it is then taken.
    fn ahead(&mut self, wanted: u8) -> Result<bool> {
        let place = *self.place();
        let mut inner = Tokens::new(&self.text[place.at..]);
        if wanted == kind::HOST {
            inner.want_host = true;
        } else {
            let first = Place { state: state(URL_PATH_FIRST), ..*inner.place() };
            inner.places.push(first);
        }
        let found = rowferry_dialect::stack::deeper(|| inner.next())?;
        Ok(match found {
            Some((kind, token)) if kind == wanted => {
                let place = self.place();
                place.at += token.len();
                place.length += token.len();
                true
            }
            _ => false,
        })
    }
}

/// The number of the rule to begin with.
trait Resume {
    fn take_next(self) -> usize;
}

impl Resume for Option<usize> {
    fn take_next(self) -> usize {
        self.unwrap_or(0)
    }
}

fn is_alnum(c: char) -> bool {
    c.is_alphabetic() || c.is_ascii_digit()
}

/// Characters that take no room of their own: they do not end a word.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}'
        | '\u{5c4}'..='\u{5c5}' | '\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}' | '\u{6e7}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}'
        | '\u{93c}' | '\u{94d}' | '\u{9bc}' | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}' | '\u{acd}'
        | '\u{b3c}' | '\u{b4d}' | '\u{bcd}' | '\u{c4d}' | '\u{cbc}' | '\u{ccd}' | '\u{d4d}' | '\u{dca}'
        | '\u{e47}'..='\u{e4e}' | '\u{ec8}'..='\u{ecd}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{200b}'..='\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<(&'static str, String)> {
        let mut tokens = Tokens::new(text);
        let mut found = Vec::new();
        while let Some((kind, token)) = tokens.next().unwrap() {
            found.push((TYPES[usize::from(kind) - 1].0, token.to_owned()));
        }
        found
    }

    #[test]
    fn every_rule_names_states_and_types_that_are_there() {
        for (name, rules) in RULES {
            for rule in rules.split(' ') {
                let act = rule.rsplit(':').next().unwrap_or_default().trim_start_matches(['?', '+', '@']);
                if act.starts_with('=') {
                    let token = act.trim_start_matches('=').trim_end_matches(['~', '!']);
                    let (kind, next) = token.split_once('/').unwrap_or((token, "base"));
                    assert!(TYPES.iter().any(|(known, _)| *known == kind), "{name}: {rule}");
                    assert!(RULES.iter().any(|(known, _)| *known == next), "{name}: {rule}");
                } else if !matches!(act, "." | "^" | "*") {
                    assert!(RULES.iter().any(|(known, _)| *known == act), "{name}: {rule}");
                }
            }
        }
    }

    /// Recorded from PostgreSQL 15.
    #[test]
    fn a_text_is_parsed_as_by_postgresql() {
        let named = |found: Vec<(&str, String)>| {
            let parts = found.iter().filter(|(kind, _)| *kind != "blank").map(|(kind, text)| format!("{kind}:{text}"));
            parts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            named(parsed("http://www.com/?a=1 me@x.org foo-bar-2b <br/> -1.5e3 1.2.3 /usr/x.y &amp; naïve")),
            "protocol:http:// url:www.com/?a=1 host:www.com url_path:/?a=1 email:me@x.org numhword:foo-bar-2b \
             hword_asciipart:foo hword_asciipart:bar hword_numpart:2b tag:<br/> sfloat:-1.5e3 version:1.2.3 \
             file:/usr/x.y entity:&amp; word:naïve"
        );
    }
}
