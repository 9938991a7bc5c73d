//! `jsonpath`: the paths of SQL/JSON, read and printed. The engine runs them.
//!
//! A value is stored as PostgreSQL prints it.

mod read;

use std::fmt::{self, Write};

use super::{Decimal, json};

pub use read::{CheckPattern, check_patterns_with, parse};

/// A path with its mode.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Structural errors are errors.
    pub strict: bool,
    /// What it is.
    pub root: Expr,
}

/// An expression or a predicate.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A start and the steps from there.
    Steps(Box<Expr>, Vec<Step>),
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number.
    Number(Decimal),
    /// A string.
    String(String),
    /// `$name`
    Variable(String),
    /// `$`
    Root,
    /// `@`
    Current,
    /// `last`
    Last,
    /// `+a`, `-a`
    Sign {
        /// Minus.
        minus: bool,
        /// The operand.
        arg: Box<Expr>,
    },
    /// `a + b` and its like.
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    /// `a == b` and its like.
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// `a && b`
    And(Box<Expr>, Box<Expr>),
    /// `a || b`
    Or(Box<Expr>, Box<Expr>),
    /// `!(a)`
    Not(Box<Expr>),
    /// `(a) is unknown`
    IsUnknown(Box<Expr>),
    /// `exists (a)`
    Exists(Box<Expr>),
    /// `a starts with "b"`
    StartsWith(Box<Expr>, Box<Expr>),
    /// `a like_regex "pattern" flag "flags"`
    LikeRegex {
        /// The text.
        text: Box<Expr>,
        /// The pattern.
        pattern: String,
        /// Letters of `ismxq`, in that order.
        flags: String,
    },
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.key`
    Key(String),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyElement,
    /// `[1, 2 to last]`
    Elements(Vec<(Expr, Option<Expr>)>),
    /// `.**{first to last}`; `None` is `last`.
    Any(Option<u32>, Option<u32>),
    /// `?(predicate)`
    Filter(Expr),
    /// `.method()`
    Method(Method),
    /// `.datetime(template)`
    Datetime(Option<String>),
}

/// A method without arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// The magnitude.
    Abs,
    /// The least whole number that is not less.
    Ceiling,
    /// As a float.
    Double,
    /// The greatest whole number that is not greater.
    Floor,
    /// The members of an object as objects.
    KeyValue,
    /// How many elements.
    Size,
    /// What it is.
    Type,
}

impl Method {
    /// The method's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Ceiling => "ceiling",
            Self::Double => "double",
            Self::Floor => "floor",
            Self::KeyValue => "keyvalue",
            Self::Size => "size",
            Self::Type => "type",
        }
    }
}

/// An operator between numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl Arithmetic {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

impl Expr {
    /// How tightly the outermost operator binds.
    fn priority(&self) -> u8 {
        match self {
            Self::Or(..) => 0,
            Self::And(..) => 1,
            Self::Compare(..) | Self::StartsWith(..) => 2,
            Self::Arithmetic(Arithmetic::Add | Arithmetic::Subtract, ..) => 3,
            Self::Arithmetic(..) => 4,
            Self::Sign { .. } => 5,
            // A path is as tight as what it starts from.
            Self::Steps(start, _) => start.priority(),
            _ => 6,
        }
    }

    /// True for what is true or false.
    fn is_predicate(&self) -> bool {
        matches!(
            self,
            Self::Compare(..)
                | Self::And(..)
                | Self::Or(..)
                | Self::Not(_)
                | Self::IsUnknown(_)
                | Self::Exists(_)
                | Self::StartsWith(..)
                | Self::LikeRegex { .. }
        )
    }

    fn operand(&self, f: &mut fmt::Formatter<'_>, arg: &Self) -> fmt::Result {
        arg.print(f, arg.priority() <= self.priority())
    }

    fn binary(&self, f: &mut fmt::Formatter<'_>, left: &Self, sign: &str, right: &Self, whole: bool) -> fmt::Result {
        if whole {
            f.write_char('(')?;
        }
        self.operand(f, left)?;
        write!(f, " {sign} ")?;
        self.operand(f, right)?;
        if whole { f.write_char(')') } else { Ok(()) }
    }

    /// Prints it, with parentheses around an operator if they are wanted.
    fn print(&self, f: &mut fmt::Formatter<'_>, brackets: bool) -> fmt::Result {
        match self {
            Self::Steps(start, steps) => {
                match &**start {
                    Self::Number(number) => write!(f, "({number})")?,
                    start => start.print(f, brackets)?,
                }
                steps.iter().try_for_each(|step| step.print(f))
            }
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::String(text) => f.write_str(&quoted(text)),
            Self::Variable(name) => write!(f, "${}", quoted(name)),
            Self::Root => f.write_char('$'),
            Self::Current => f.write_char('@'),
            Self::Last => f.write_str("last"),
            Self::Sign { minus, arg } => {
                let sign = if *minus { '-' } else { '+' };
                if brackets {
                    f.write_char('(')?;
                }
                f.write_char(sign)?;
                self.operand(f, arg)?;
                if brackets { f.write_char(')') } else { Ok(()) }
            }
            Self::Arithmetic(op, left, right) => self.binary(f, left, op.sign(), right, brackets),
            Self::Compare(op, left, right) => self.binary(f, left, op.sign(), right, brackets),
            Self::And(left, right) => self.binary(f, left, "&&", right, brackets),
            Self::Or(left, right) => self.binary(f, left, "||", right, brackets),
            Self::StartsWith(left, right) => self.binary(f, left, "starts with", right, brackets),
            Self::Not(arg) => {
                f.write_str("!(")?;
                arg.print(f, false)?;
                f.write_char(')')
            }
            Self::IsUnknown(arg) => {
                f.write_char('(')?;
                arg.print(f, false)?;
                f.write_str(") is unknown")
            }
            Self::Exists(arg) => {
                f.write_str("exists (")?;
                arg.print(f, false)?;
                f.write_char(')')
            }
            Self::LikeRegex { text, pattern, flags } => {
                if brackets {
                    f.write_char('(')?;
                }
                self.operand(f, text)?;
                write!(f, " like_regex {}", quoted(pattern))?;
                if !flags.is_empty() {
                    write!(f, " flag \"{flags}\"")?;
                }
                if brackets { f.write_char(')') } else { Ok(()) }
            }
        }
    }
}

impl Step {
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, ".{}", quoted(key)),
            Self::AnyKey => f.write_str(".*"),
            Self::AnyElement => f.write_str("[*]"),
            Self::Elements(elements) => {
                f.write_char('[')?;
                for (at, (from, to)) in elements.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    from.print(f, false)?;
                    if let Some(to) = to {
                        f.write_str(" to ")?;
                        to.print(f, false)?;
                    }
                }
                f.write_char(']')
            }
            Self::Any(Some(0), None) => f.write_str(".**"),
            Self::Any(None, None) => f.write_str(".**{last}"),
            Self::Any(Some(first), Some(last)) if first == last => write!(f, ".**{{{first}}}"),
            Self::Any(None, Some(last)) => write!(f, ".**{{last to {last}}}"),
            Self::Any(Some(first), None) => write!(f, ".**{{{first} to last}}"),
            Self::Any(Some(first), Some(last)) => write!(f, ".**{{{first} to {last}}}"),
            Self::Filter(predicate) => {
                f.write_str("?(")?;
                predicate.print(f, false)?;
                f.write_char(')')
            }
            Self::Method(method) => write!(f, ".{}()", method.name()),
            Self::Datetime(None) => f.write_str(".datetime()"),
            Self::Datetime(Some(template)) => write!(f, ".datetime({})", quoted(template)),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.strict {
            f.write_str("strict ")?;
        }
        self.root.print(f, true)
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    json::quote(&mut out, text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Condition;

    #[test]
    fn prints_as_postgres() {
        for (text, printed) in [
            ("$.a[*] ? (@.b > 1).c", "$.\"a\"[*]?(@.\"b\" > 1).\"c\""),
            ("strict $[0, 2 to last]", "strict $[0,2 to last]"),
            ("lax $.**{2 to 5}.type()", "$.**{2 to 5}.type()"),
            ("$.a + 1 * -2", "($.\"a\" + 1 * -2)"),
            ("(1 + 2) * 3", "((1 + 2) * 3)"),
            (
                "$ ? (!(@ == 1) || exists(@.x) && (@ < 2) is unknown)",
                "$?(!(@ == 1) || exists (@.\"x\") && (@ < 2) is unknown)",
            ),
            ("$ ? (@ like_regex \"^a\" flag \"is\")", "$?(@ like_regex \"^a\" flag \"is\")"),
            ("$ ? (@ starts with $x)", "$?(@ starts with $\"x\")"),
            ("1.5.abs()", "(1.5).abs()"),
            ("(1.5).abs()", "(1.5).abs()"),
            ("$.abs", "$.\"abs\""),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), printed, "{text}");
        }
    }

    #[test]
    fn nesting_has_a_bound() {
        // A session's stack.
        let thread = std::thread::Builder::new().stack_size(16 * 1024 * 1024);
        thread.spawn(check_nesting).unwrap().join().unwrap();
    }

    fn check_nesting() {
        let nested = |open: &str, inner: &str, close: &str, turns: usize| {
            format!("{}{inner}{}", open.repeat(turns), close.repeat(turns))
        };
        for turns in [100, 100_000] {
            for path in [
                format!("$ ? ({})", nested("!(", "@ == 1", ")", turns)),
                nested("1 + ", "1", "", turns),
                nested("-", "$", "", turns),
                nested("$?(exists(", "$", "))", turns),
                format!("$ ? ({})", nested("@ == 1 || ", "@ == 2", "", turns)),
                nested("$[", "0", "]", turns),
            ] {
                let read = parse(&path).map(|path| path.to_string().len()).map_err(|error| error.condition);
                assert_eq!(read.is_ok(), turns == 100, "{}", &path[..20]);
                assert!(read.is_ok() || read == Err(Condition::StatementTooComplex), "{}", &path[..20]);
            }
        }
    }
}
