//! The text of a `jsonpath`, read.

use std::sync::OnceLock;

use super::{Arithmetic, Comparison, Expr, Method, Path, Step};
use crate::stack::{self, MAX_DEPTH};
use crate::values::Decimal;
use crate::{Condition, Error, Result, work};

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A word outside quotes, keywords too.
    Word(String),
    String(String),
    Variable(String),
    Number(String),
    /// A sign of one or two characters.
    Sign(&'static str),
    End,
}

/// A token and its text.
struct Placed<'a> {
    token: Token,
    text: &'a str,
}

const SIGNS: &[&str] = &[
    "&&", "||", "**", "<=", "==", "<>", "!=", ">=", "!", "<", ">", "?", "%", "$", ".", "[", "]", "{", "}", "(", ")",
    "|", "&", "=", "@", "#", ",", "*", ":", "-", "+", "/",
];

fn syntax(what: &str, near: &str) -> Error {
    let place = if near.is_empty() { "at end".to_owned() } else { format!("at or near \"{near}\"") };
    Error::new(Condition::SyntaxError, format!("{what} {place} of jsonpath input"))
}

fn is_word(c: char) -> bool {
    !matches!(
        c,
        '?' | '%'
            | '$'
            | '.'
            | '['
            | ']'
            | '{'
            | '}'
            | '('
            | ')'
            | '|'
            | '&'
            | '!'
            | '='
            | '<'
            | '>'
            | '@'
            | '#'
            | ','
            | '*'
            | ':'
            | '-'
            | '+'
            | '/'
            | '"'
            | ' '
            | '\t'
            | '\n'
            | '\r'
            | '\u{c}'
    )
}

/// Reads one escape behind a backslash; gives its bytes' length.
fn escape(rest: &str, out: &mut String) -> Result<usize> {
    let invalid = |what: &str| syntax(what, rest);
    let unicode = |digits: &str| u32::from_str_radix(digits, 16).ok();
    let Some(c) = rest.chars().next() else { return Err(syntax("unexpected end after backslash", "")) };
    let simple = match c {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        'x' => {
            let code =
                rest.get(1..3).and_then(unicode).ok_or_else(|| invalid("invalid hexadecimal character sequence"))?;
            out.push(char::from(code as u8));
            return Ok(3);
        }
        'u' => return unicode_escape(rest, out),
        other => other,
    };
    out.push(simple);
    Ok(c.len_utf8())
}

fn unicode_escape(rest: &str, out: &mut String) -> Result<usize> {
    let invalid = || syntax("invalid Unicode escape sequence", rest);
    let code_at = |at: usize| -> Option<(u32, usize)> {
        let body = rest.get(at..)?;
        let body = body.strip_prefix('u')?;
        match body.strip_prefix('{') {
            Some(braced) => {
                let (digits, _) = braced.split_once('}')?;
                (1..=6).contains(&digits.len()).then_some(())?;
                Some((u32::from_str_radix(digits, 16).ok()?, digits.len() + 3))
            }
            None => Some((u32::from_str_radix(body.get(..4)?, 16).ok()?, 5)),
        }
    };
    let (first, length) = code_at(0).ok_or_else(invalid)?;
    if first == 0 {
        return Err(Error::new(Condition::UntranslatableCharacter, "unsupported Unicode escape sequence")
            .detail("\\u0000 cannot be converted to text."));
    }
    let (code, length) = match first {
        0xd800..0xdc00 => {
            let second = rest[length..].strip_prefix('\\').and_then(|_| code_at(length + 1));
            match second {
                Some((low @ 0xdc00..0xe000, more)) => {
                    (0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00), length + 1 + more)
                }
                _ => {
                    return Err(Error::new(
                        Condition::InvalidTextRepresentation,
                        "invalid input syntax for type jsonpath",
                    )
                    .detail("Unicode low surrogate must follow a high surrogate."));
                }
            }
        }
        0xdc00..0xe000 => {
            return Err(Error::new(Condition::InvalidTextRepresentation, "invalid input syntax for type jsonpath")
                .detail("Unicode low surrogate must follow a high surrogate."));
        }
        code => (code, length),
    };
    out.push(char::from_u32(code).ok_or_else(invalid)?);
    Ok(length)
}

/// Text up to a closing quote, without it; the rest behind it.
fn string(text: &str) -> Result<(String, usize)> {
    let mut out = String::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        work::step(1)?;
        at += c.len_utf8();
        match c {
            '"' => return Ok((out, at)),
            '\\' => at += escape(&text[at..], &mut out)?,
            c => out.push(c),
        }
    }
    Err(syntax("unterminated quoted string", ""))
}

fn word(text: &str) -> Result<(String, usize)> {
    let mut out = String::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next().filter(|c| is_word(*c)) {
        work::step(1)?;
        at += c.len_utf8();
        if c == '\\' {
            at += escape(&text[at..], &mut out)?;
        } else if c != '/' {
            out.push(c);
        }
    }
    Ok((out, at))
}

/// The length of the number at the beginning.
fn number(text: &str) -> Result<usize> {
    let digits = |at: usize| text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = if text.starts_with('0') { 1 } else { digits(0) };
    let mut end = whole;
    if text[end..].starts_with('.') {
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent == 0 {
            return Err(syntax("trailing junk after numeric literal", &text[..end + 1 + sign]));
        }
        end += 1 + sign + exponent;
    }
    match text[end..].chars().next().filter(|c| is_word(*c)) {
        Some(junk) => Err(syntax("trailing junk after numeric literal", &text[..end + junk.len_utf8()])),
        None => Ok(end),
    }
}

fn tokens(text: &str) -> Result<Vec<Placed<'_>>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        work::step(1)?;
        let rest = &text[at..];
        if let Some(comment) = rest.strip_prefix("/*") {
            match comment.find("*/") {
                Some(end) => at += end + 4,
                None => return Err(syntax("unexpected end of comment", "")),
            }
            continue;
        }
        let c = rest.chars().next().unwrap_or(' ');
        if matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}') {
            at += 1;
            continue;
        }
        let behind = rest.get(1..).unwrap_or("");
        let digit_follows = behind.starts_with(|c: char| c.is_ascii_digit());
        let (token, length) = if c.is_ascii_digit() || c == '.' && digit_follows {
            let length = number(rest)?;
            (Token::Number(rest[..length].to_owned()), length)
        } else if c == '"' {
            let (content, length) = string(behind)?;
            (Token::String(content), length + 1)
        } else if c == '$' && behind.starts_with('"') {
            let (content, length) = string(&behind[1..])?;
            (Token::Variable(content), length + 2)
        } else if c == '$' && behind.starts_with(is_word) {
            let (content, length) = word(behind)?;
            (Token::Variable(content), length + 1)
        } else if is_word(c) {
            let (content, length) = word(rest)?;
            (Token::Word(content), length)
        } else {
            let sign =
                SIGNS.iter().find(|sign| rest.starts_with(**sign)).ok_or_else(|| syntax("syntax error", rest))?;
            (Token::Sign(sign), sign.len())
        };
        tokens.push(Placed { token, text: &rest[..length] });
        at += length;
    }
    tokens.push(Placed { token: Token::End, text: "" });
    Ok(tokens)
}

/// Reads a path.
///
/// # Errors
/// `42601` for a text that is none, `0A000` for flags that are not there, `2201B` for a pattern is left to the engine.
pub fn parse(text: &str) -> Result<Path> {
    let tokens = tokens(text)?;
    if tokens.len() == 1 {
        return Err(Error::new(
            Condition::InvalidTextRepresentation,
            format!("invalid input syntax for type jsonpath: \"{text}\""),
        ));
    }
    let mut parser = Parser { tokens, at: 0, filters: 0, subscripts: 0, depth: 0, nested: 0 };
    let strict = parser.keyword("strict");
    if !strict {
        parser.keyword("lax");
    }
    let root = parser.or()?;
    match parser.peek() {
        Token::End => Ok(Path { strict, root }),
        _ => Err(parser.unexpected()),
    }
}

fn bounded(depth: u32) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::new(Condition::StatementTooComplex, "stack depth limit exceeded"));
    }
    Ok(())
}

struct Parser<'a> {
    tokens: Vec<Placed<'a>>,
    at: usize,
    /// How many filters are open: `@` means something within one.
    filters: usize,
    /// How many subscripts are open: `last` means something within one.
    subscripts: usize,
    /// How deep the expression is that was read last.
    depth: u32,
    /// What is open.
    nested: u32,
}

/// What refuses a text that is no regular expression: the engine has these.
static PATTERNS: OnceLock<CheckPattern> = OnceLock::new();

/// Looks at a pattern of `like_regex` and its flags.
pub type CheckPattern = fn(&str, &str) -> Result<()>;

/// Says who looks at patterns; the first that is said counts.
pub fn check_patterns_with(check: CheckPattern) {
    PATTERNS.get_or_init(|| check);
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |placed| &placed.token)
    }

    fn unexpected(&self) -> Error {
        syntax("syntax error", self.tokens.get(self.at).map_or("", |placed| placed.text))
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(found) if *found == sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(word) if word.eq_ignore_ascii_case(keyword));
        self.at += usize::from(found);
        found
    }

    /// What was read last becomes an operand, beside one that is so deep.
    fn above(&mut self, other: u32) -> Result<()> {
        self.depth = self.depth.max(other) + 1;
        bounded(self.depth)
    }

    /// Reads what stands within something.
    fn within(&mut self, read: impl FnOnce(&mut Self) -> Result<Expr>) -> Result<Expr> {
        self.nested += 1;
        bounded(self.nested)?;
        let expr = stack::deeper(|| read(self));
        self.nested -= 1;
        expr
    }

    fn predicate(&self, expr: Expr) -> Result<Expr> {
        if expr.is_predicate() { Ok(expr) } else { Err(self.unexpected()) }
    }

    fn value(&self, expr: Expr) -> Result<Expr> {
        if expr.is_predicate() { Err(self.unexpected()) } else { Ok(expr) }
    }

    fn or(&mut self) -> Result<Expr> {
        self.within(|parser| {
            let mut left = parser.and()?;
            while matches!(parser.peek(), Token::Sign("||")) {
                left = parser.predicate(left)?;
                parser.at += 1;
                let depth = parser.depth;
                let right = parser.and()?;
                parser.above(depth)?;
                left = Expr::Or(Box::new(left), Box::new(parser.predicate(right)?));
            }
            Ok(left)
        })
    }

    fn and(&mut self) -> Result<Expr> {
        let mut left = self.test()?;
        while matches!(self.peek(), Token::Sign("&&")) {
            left = self.predicate(left)?;
            self.at += 1;
            let depth = self.depth;
            let right = self.test()?;
            self.above(depth)?;
            left = Expr::And(Box::new(left), Box::new(self.predicate(right)?));
        }
        Ok(left)
    }

    fn test(&mut self) -> Result<Expr> {
        if self.sign("!") {
            let arg = match self.peek() {
                Token::Sign("(") => {
                    self.at += 1;
                    let arg = self.or()?;
                    self.expect(")")?;
                    self.predicate(arg)?
                }
                Token::Word(word) if word.eq_ignore_ascii_case("exists") => self.exists()?,
                _ => return Err(self.unexpected()),
            };
            self.above(0)?;
            return Ok(Expr::Not(Box::new(arg)));
        }
        if matches!(self.peek(), Token::Word(word) if word.eq_ignore_ascii_case("exists")) {
            return self.exists();
        }
        let left = self.sum()?;
        let comparison = match self.peek() {
            Token::Sign("==") => Some(Comparison::Equal),
            Token::Sign("!=" | "<>") => Some(Comparison::NotEqual),
            Token::Sign("<") => Some(Comparison::Less),
            Token::Sign("<=") => Some(Comparison::LessOrEqual),
            Token::Sign(">") => Some(Comparison::Greater),
            Token::Sign(">=") => Some(Comparison::GreaterOrEqual),
            _ => None,
        };
        if let Some(comparison) = comparison {
            let left = self.value(left)?;
            self.at += 1;
            let depth = self.depth;
            let right = self.sum()?;
            self.above(depth)?;
            return Ok(Expr::Compare(comparison, Box::new(left), Box::new(self.value(right)?)));
        }
        if !left.is_predicate() && self.keyword("starts") {
            if !self.keyword("with") {
                return Err(self.unexpected());
            }
            let initial = match self.peek().clone() {
                Token::String(text) => Expr::String(text),
                Token::Variable(name) => Expr::Variable(name),
                _ => return Err(self.unexpected()),
            };
            self.at += 1;
            self.above(0)?;
            return Ok(Expr::StartsWith(Box::new(left), Box::new(initial)));
        }
        if !left.is_predicate() && self.keyword("like_regex") {
            return self.like_regex(left);
        }
        Ok(left)
    }

    fn exists(&mut self) -> Result<Expr> {
        self.at += 1;
        self.expect("(")?;
        let arg = self.or()?;
        let arg = self.value(arg)?;
        self.expect(")")?;
        self.above(0)?;
        Ok(Expr::Exists(Box::new(arg)))
    }

    fn like_regex(&mut self, text: Expr) -> Result<Expr> {
        let Token::String(pattern) = self.peek().clone() else { return Err(self.unexpected()) };
        self.at += 1;
        let mut flags = String::new();
        if self.keyword("flag") {
            let Token::String(given) = self.peek().clone() else { return Err(self.unexpected()) };
            self.at += 1;
            if let Some(other) = given.chars().find(|flag| !"ismxq".contains(*flag)) {
                return Err(Error::new(Condition::SyntaxError, "invalid input syntax for type jsonpath")
                    .detail(format!("Unrecognized flag character \"{other}\" in LIKE_REGEX predicate.")));
            }
            flags = "ismxq".chars().filter(|flag| given.contains(*flag)).collect();
        }
        if flags.contains('x') && !flags.contains('q') {
            return Err(Error::new(
                Condition::FeatureNotSupported,
                "XQuery \"x\" flag (expanded regular expressions) is not implemented",
            ));
        }
        if let Some(check) = PATTERNS.get() {
            check(&pattern, &flags)?;
        }
        self.above(0)?;
        Ok(Expr::LikeRegex { text: Box::new(text), pattern, flags })
    }

    fn sum(&mut self) -> Result<Expr> {
        let mut left = self.product()?;
        loop {
            let op = match self.peek() {
                Token::Sign("+") => Arithmetic::Add,
                Token::Sign("-") => Arithmetic::Subtract,
                _ => return Ok(left),
            };
            left = self.value(left)?;
            self.at += 1;
            let depth = self.depth;
            let right = self.product()?;
            self.above(depth)?;
            left = Expr::Arithmetic(op, Box::new(left), Box::new(self.value(right)?));
        }
    }

    fn product(&mut self) -> Result<Expr> {
        let mut left = self.signed()?;
        loop {
            let op = match self.peek() {
                Token::Sign("*") => Arithmetic::Multiply,
                Token::Sign("/") => Arithmetic::Divide,
                Token::Sign("%") => Arithmetic::Modulo,
                _ => return Ok(left),
            };
            left = self.value(left)?;
            self.at += 1;
            let depth = self.depth;
            let right = self.signed()?;
            self.above(depth)?;
            left = Expr::Arithmetic(op, Box::new(left), Box::new(self.value(right)?));
        }
    }

    fn signed(&mut self) -> Result<Expr> {
        let minus = self.sign("-");
        if !minus && !self.sign("+") {
            return self.path();
        }
        let arg = self.within(Self::signed)?;
        self.above(0)?;
        Ok(match self.value(arg)? {
            // The sign of a number belongs to it.
            Expr::Number(number) => Expr::Number(if minus { number.neg() } else { number }),
            arg => Expr::Sign { minus, arg: Box::new(arg) },
        })
    }

    fn path(&mut self) -> Result<Expr> {
        let start = self.start()?;
        let mut steps = Vec::new();
        let mut deepest = self.depth;
        while let Some(step) = self.step()? {
            deepest = deepest.max(self.depth);
            steps.push(step);
        }
        self.depth = deepest;
        if !steps.is_empty() {
            self.above(0)?;
            return Ok(Expr::Steps(Box::new(start), steps));
        }
        if start.is_predicate() && self.keyword("is") {
            if !self.keyword("unknown") {
                return Err(self.unexpected());
            }
            self.above(0)?;
            return Ok(Expr::IsUnknown(Box::new(start)));
        }
        Ok(start)
    }

    fn start(&mut self) -> Result<Expr> {
        self.depth = 1;
        let start = match self.peek().clone() {
            Token::Sign("$") => Expr::Root,
            Token::Sign("@") => {
                if self.filters == 0 {
                    return Err(Error::new(Condition::SyntaxError, "@ is not allowed in root expressions"));
                }
                Expr::Current
            }
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.or()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::String(text) => Expr::String(text),
            Token::Variable(name) => Expr::Variable(name),
            Token::Number(text) => Expr::Number(Decimal::parse(&text)?),
            Token::Word(word) => match word.as_str() {
                "null" => Expr::Null,
                "true" => Expr::Bool(true),
                "false" => Expr::Bool(false),
                word if word.eq_ignore_ascii_case("last") => {
                    if self.subscripts == 0 {
                        return Err(Error::new(Condition::SyntaxError, "LAST is allowed only in array subscripts"));
                    }
                    Expr::Last
                }
                _ => return Err(self.unexpected()),
            },
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(start)
    }

    fn step(&mut self) -> Result<Option<Step>> {
        if self.sign(".") {
            return self.member().map(Some);
        }
        if self.sign("[") {
            if self.sign("*") {
                self.expect("]")?;
                return Ok(Some(Step::AnyElement));
            }
            self.subscripts += 1;
            let mut elements = Vec::new();
            let mut deepest = self.depth;
            loop {
                let from = self.subscript()?;
                deepest = deepest.max(self.depth);
                let to = if self.keyword("to") { Some(self.subscript()?) } else { None };
                deepest = deepest.max(self.depth);
                elements.push((from, to));
                if !self.sign(",") {
                    break;
                }
            }
            self.subscripts -= 1;
            self.depth = deepest;
            self.expect("]")?;
            return Ok(Some(Step::Elements(elements)));
        }
        if self.sign("?") {
            self.expect("(")?;
            self.filters += 1;
            let predicate = self.or()?;
            let predicate = self.predicate(predicate)?;
            self.filters -= 1;
            self.expect(")")?;
            return Ok(Some(Step::Filter(predicate)));
        }
        Ok(None)
    }

    fn subscript(&mut self) -> Result<Expr> {
        let subscript = self.within(Self::sum)?;
        self.value(subscript)
    }

    fn member(&mut self) -> Result<Step> {
        let token = self.peek().clone();
        match token {
            Token::Sign("*") => {
                self.at += 1;
                Ok(Step::AnyKey)
            }
            Token::Sign("**") => {
                self.at += 1;
                if !self.sign("{") {
                    return Ok(Step::Any(Some(0), None));
                }
                let first = self.level()?;
                let last = if self.keyword("to") { self.level()? } else { first };
                self.expect("}")?;
                Ok(Step::Any(first, last))
            }
            Token::String(key) => {
                self.at += 1;
                Ok(Step::Key(key))
            }
            Token::Word(word) => {
                self.at += 1;
                if !matches!(self.peek(), Token::Sign("(")) {
                    return Ok(Step::Key(word));
                }
                self.method(&word)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn level(&mut self) -> Result<Option<u32>> {
        if self.keyword("last") {
            return Ok(None);
        }
        match self.peek().clone() {
            Token::Number(text) => {
                let level = text.parse::<u32>().map_err(|_| self.unexpected())?;
                self.at += 1;
                Ok(Some(level))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn method(&mut self, name: &str) -> Result<Step> {
        const METHODS: [Method; 7] =
            [Method::Abs, Method::Ceiling, Method::Double, Method::Floor, Method::KeyValue, Method::Size, Method::Type];
        let datetime = name.eq_ignore_ascii_case("datetime");
        let method = METHODS.into_iter().find(|method| method.name().eq_ignore_ascii_case(name));
        if !datetime && method.is_none() {
            return Err(self.unexpected());
        }
        self.expect("(")?;
        let template = match self.peek().clone() {
            Token::String(template) if datetime => {
                self.at += 1;
                Some(template)
            }
            _ => None,
        };
        self.expect(")")?;
        Ok(method.map_or(Step::Datetime(template), Step::Method))
    }
}
