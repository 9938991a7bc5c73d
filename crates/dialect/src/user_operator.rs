//! Operators that users have made: a name between types, behind which a function stands.

use serde_json::{Value, json};

/// What an operator is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Definition {
    /// Object id of the left operand's type; 0 for an operator before its operand.
    pub left: u32,
    /// Object id of the right operand's type.
    pub right: u32,
    /// Object id of the result's type; 0 while nobody has defined it.
    pub result: u32,
    /// Object id of the function; 0 for one that others have named before it was there.
    pub function: u32,
    /// Object id of the operator that takes the operands the other way round, or 0.
    pub commutator: u32,
    /// Object id of the operator that says the contrary, or 0.
    pub negator: u32,
    /// RESTRICT: object id of the function that guesses how many rows it lets through, or 0. Nobody asks it.
    pub restriction: u32,
    /// JOIN: the same for joins.
    pub join: u32,
    /// HASHES.
    pub hashes: bool,
    /// MERGES.
    pub merges: bool,
}

/// An operator that users have made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserOperator {
    /// Object id.
    pub oid: u32,
    /// Its schema.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub definition: Definition,
}

impl Definition {
    /// As it is kept.
    pub fn to_text(&self) -> String {
        json!({
            "left": self.left, "right": self.right, "result": self.result, "function": self.function,
            "commutator": self.commutator, "negator": self.negator, "restrict": self.restriction, "join": self.join,
            "hashes": self.hashes, "merges": self.merges,
        })
        .to_string()
    }

    /// From what is kept; `None` for what is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(text).ok()?;
        let number = |name: &str| u32::try_from(json.get(name)?.as_u64()?).ok();
        let truth = |name: &str| json.get(name)?.as_bool();
        Some(Self {
            left: number("left")?,
            right: number("right")?,
            result: number("result")?,
            function: number("function")?,
            commutator: number("commutator")?,
            negator: number("negator")?,
            restriction: number("restrict")?,
            join: number("join")?,
            hashes: truth("hashes")?,
            merges: truth("merges")?,
        })
    }

    /// Nobody has said what it does.
    pub const fn is_shell(&self) -> bool {
        self.function == 0
    }

    /// The name of its entry, which tells it from others of its schema.
    pub fn entry(&self, name: &str) -> String {
        format!("{name}({},{})", self.left, self.right)
    }
}

impl UserOperator {
    /// From an entry; `None` for what is none.
    pub fn from_entry(oid: u32, namespace: &str, entry: &str, definition: &str) -> Option<Self> {
        let (name, _) = entry.split_once('(')?;
        let definition = Definition::from_text(definition)?;
        Some(Self { oid, namespace: namespace.to_owned(), name: name.to_owned(), definition })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_survive_their_text() {
        let definition = Definition {
            left: 23,
            right: 16_400,
            result: 16,
            function: 16_500,
            commutator: 16_501,
            hashes: true,
            ..Definition::default()
        };
        let kept = UserOperator::from_entry(7, "public", &definition.entry("==="), &definition.to_text());
        let kept = kept.expect("an operator");
        assert_eq!((kept.name.as_str(), &kept.definition), ("===", &definition));
        assert_eq!(Definition::from_text("{}"), None);
    }
}
