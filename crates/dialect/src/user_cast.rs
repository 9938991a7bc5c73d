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
        self.kept(false)
    }

    /// As it is kept once it was dropped, for expressions that are stored and go on converting by it.
    pub fn to_text_of_dropped(&self) -> String {
        self.kept(true)
    }

    fn kept(&self, dropped: bool) -> String {
        let mut kept = json!({
            "source": self.source, "target": self.target, "function": self.method.function(),
            "method": self.method.letter().to_string(), "context": letter(self.context).to_string(),
        });
        if dropped {
            kept["dropped"] = true.into();
        }
        kept.to_string()
    }

    /// Whether what is kept is a cast that was dropped.
    pub fn is_dropped(text: &str) -> bool {
        serde_json::from_str::<Value>(text).is_ok_and(|json| json["dropped"] == true)
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

    /// The name of its entry once it was dropped: there can be another between the same types then.
    pub fn entry_of_dropped(&self, oid: u32) -> String {
        format!("{} ({oid})", self.entry())
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
                for (text, dropped) in [(definition.to_text(), false), (definition.to_text_of_dropped(), true)] {
                    assert_eq!(Definition::from_text(&text), Some(definition));
                    assert_eq!(Definition::is_dropped(&text), dropped);
                }
            }
        }
        assert_eq!(Definition::from_text("{}"), None);
    }
}
