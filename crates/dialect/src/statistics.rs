//! Objects of CREATE STATISTICS: kept and told, without effect on any answer.

use serde_json::{Value, json};

/// What an object of CREATE STATISTICS asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Object id of the table.
    pub table: u32,
    /// `stxkind`: `d`, `f`, `m`, `e`.
    pub kinds: Vec<char>,
    /// Names of columns, in the order of the table's.
    pub columns: Vec<String>,
    /// Texts of expressions.
    pub expressions: Vec<String>,
    /// `stxstattarget`: -1 for the default.
    pub target: i32,
}

/// An object of CREATE STATISTICS.
#[derive(Clone, Debug, PartialEq)]
pub struct StatisticsObject {
    /// Object id.
    pub oid: u32,
    /// Its schema.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it asks for.
    pub definition: Definition,
}

/// The kinds that can be asked for by name.
pub const KINDS: [(&str, char); 3] = [("ndistinct", 'd'), ("dependencies", 'f'), ("mcv", 'm')];

impl Definition {
    /// As it is kept.
    pub fn to_text(&self) -> String {
        let kinds: String = self.kinds.iter().collect();
        let (columns, expressions) = (&self.columns, &self.expressions);
        json!({
            "table": self.table, "kinds": kinds, "columns": columns, "expressions": expressions, "target": self.target
        })
        .to_string()
    }

    /// From what is kept; `None` for what is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(text).ok()?;
        let words = |name: &str| -> Option<Vec<String>> {
            json.get(name)?.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
        };
        Some(Self {
            table: json.get("table")?.as_u64()?.try_into().ok()?,
            kinds: json.get("kinds")?.as_str()?.chars().collect(),
            columns: words("columns")?,
            expressions: words("expressions")?,
            target: json.get("target")?.as_i64()?.try_into().ok()?,
        })
    }

    /// The kinds as a definition names them; empty where they need not be named.
    pub fn kind_words(&self) -> Vec<&'static str> {
        let named: Vec<&str> =
            KINDS.iter().filter(|(_, letter)| self.kinds.contains(letter)).map(|(word, _)| *word).collect();
        let single = self.columns.len() + self.expressions.len() < 2;
        if single || named.len() == KINDS.len() { Vec::new() } else { named }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_survive_their_text() {
        let all = Definition {
            table: 16_400,
            kinds: vec!['d', 'f', 'm', 'e'],
            columns: vec!["a".into(), "odd \"name\"".into()],
            expressions: vec!["(b + 1)".into()],
            target: -1,
        };
        assert_eq!(Definition::from_text(&all.to_text()), Some(all.clone()));
        assert_eq!(all.kind_words(), [""; 0]);
        let some = Definition { kinds: vec!['f', 'm'], ..all };
        assert_eq!(some.kind_words(), ["dependencies", "mcv"]);
        assert_eq!(Definition::from_text("{}"), None);
        assert_eq!(Definition::from_text("x"), None);
    }
}
