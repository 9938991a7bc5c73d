//! Casts that users have made: what makes a value of one type a value of another, and when it is done unasked.

use serde_json::{Value, json};

use crate::ir::CastContext;

/// How a cast is carried out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// WITH FUNCTION: its object id.
    Function(u32),
    /// WITH INOUT: by way of the text.
    Text,
    /// WITHOUT FUNCTION: the value stays as it is.
    AsItIs,
}

impl Method {
    /// `castmethod`.
    pub const fn letter(self) -> char {
        match self {
            Self::Function(_) => 'f',
            Self::Text => 'i',
            Self::AsItIs => 'b',
        }
    }

    /// `castfunc`.
    pub const fn function(self) -> u32 {
        match self {
            Self::Function(oid) => oid,
            Self::Text | Self::AsItIs => 0,
        }
    }
}

/// What a cast is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Definition {
    /// Object id of the type that it takes.
    pub source: u32,
    /// Object id of the type that it makes.
    pub target: u32,
    /// How.
    pub method: Method,
    /// Where it is done unasked.
    pub context: CastContext,
}

/// A cast that users have made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UserCast {
    /// Object id.
    pub oid: u32,
    /// What it is.
    pub definition: Definition,
}

/// `castcontext`.
pub const fn letter(context: CastContext) -> char {
    match context {
        CastContext::Implicit => 'i',
        CastContext::Assignment => 'a',
        CastContext::Explicit => 'e',
    }
}

impl Definition {
    /// As it is kept.
    pub fn to_text(&self) -> String {
        json!({
            "source": self.source, "target": self.target, "function": self.method.function(),
            "method": self.method.letter().to_string(), "context": letter(self.context).to_string(),
        })
        .to_string()
    }

    /// From what is kept; `None` for what is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(text).ok()?;
        let number = |name: &str| u32::try_from(json.get(name)?.as_u64()?).ok();
        let method = match json.get("method")?.as_str()? {
            "f" => Method::Function(number("function")?),
            "i" => Method::Text,
            "b" => Method::AsItIs,
            _ => return None,
        };
        let context = match json.get("context")?.as_str()? {
            "i" => CastContext::Implicit,
            "a" => CastContext::Assignment,
            "e" => CastContext::Explicit,
            _ => return None,
        };
        Some(Self { source: number("source")?, target: number("target")?, method, context })
    }

    /// The name of its entry, which tells it from others.
    pub fn entry(&self) -> String {
        format!("{} AS {}", self.source, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_survive_their_text() {
        for method in [Method::Function(16_500), Method::Text, Method::AsItIs] {
            for context in [CastContext::Implicit, CastContext::Assignment, CastContext::Explicit] {
                let definition = Definition { source: 25, target: 16_400, method, context };
                assert_eq!(Definition::from_text(&definition.to_text()), Some(definition));
            }
        }
        assert_eq!(Definition::from_text("{}"), None);
    }
}
