//! Foreign keys that the engine keeps, as a file keeps them.
//!
//! A back end's own leads to one table and changes all of its columns. One to a partitioned table, or with an action that has
//! to move rows between partitions or to leave columns alone, is a fact about the table that refers.

use serde_json::{Value, json};

use crate::ir::ConstraintKind;
use crate::schema::{Disabled, ForeignKey, KeyRules, ReferentialAction, Relation};

/// The property of a constraint that stands for one.
pub const PROPERTY: &str = "constraint_foreign_key";

/// One as a property keeps it: columns by their names, tables by their object ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Columns of the table that refers.
    pub columns: Vec<String>,
    /// The table that is referred to.
    pub target: u32,
    /// Its columns.
    pub target_columns: Vec<String>,
    /// What it asks for, and when.
    pub rules: KeyRules,
    /// The columns to which SET NULL and SET DEFAULT of ON DELETE are confined.
    pub set_columns: Vec<String>,
    /// Its names at partitions, by their object ids.
    pub parts: Vec<(u32, String)>,
    /// Where nobody asks it.
    pub disabled: Disabled,
}

impl Stored {
    /// A new one of a table with these columns; `None` for another kind of constraint.
    pub fn of_constraint(kind: &ConstraintKind, names: &[&str], target: u32) -> Option<Self> {
        let ConstraintKind::ForeignKey(key) = kind else { return None };
        let named = |columns: &[usize]| columns.iter().map(|at| names[*at].to_owned()).collect();
        Some(Self {
            columns: named(&key.columns),
            target,
            target_columns: key.target_columns.clone(),
            rules: key.rules,
            set_columns: named(&key.set_columns),
            parts: Vec::new(),
            disabled: Disabled::default(),
        })
    }

    /// One that is there.
    pub fn of_key(key: &ForeignKey, table: &Relation, target: u32) -> Self {
        let named = |columns: &[usize]| columns.iter().map(|at| table.columns[*at].name.clone()).collect();
        Self {
            columns: named(&key.columns),
            target,
            target_columns: key.target_columns.clone(),
            rules: key.rules,
            set_columns: named(&key.set_columns),
            parts: key.parts.iter().map(|part| (part.partition, part.name.clone())).collect(),
            disabled: key.disabled,
        }
    }

    /// As a property keeps it.
    pub fn property(&self) -> String {
        json!({
            "columns": self.columns,
            "target": self.target,
            "target_columns": self.target_columns,
            "on_delete": self.rules.on_delete.letter(),
            "on_update": self.rules.on_update.letter(),
            "full": self.rules.full,
            "deferrable": self.rules.deferrable,
            "deferred": self.rules.deferred,
            "set_columns": self.set_columns,
            "parts": self.parts,
            "disabled_here": self.disabled.here,
            "disabled_there": self.disabled.there,
            "lent": self.disabled.lent,
        })
        .to_string()
    }

    /// Reads what [`Self::property`] has written; `None` for anything else.
    pub fn from_property(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let word = |name: &str| value.get(name)?.as_str();
        let says = |name: &str| value.get(name)?.as_bool();
        let words = |name: &str| -> Option<Vec<String>> {
            value.get(name)?.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
        };
        let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
        let part = |part: &Value| Some((number(part.get(0)?)?, part.get(1)?.as_str()?.to_owned()));
        let stored = Self {
            columns: words("columns")?,
            target: number(value.get("target")?)?,
            target_columns: words("target_columns")?,
            rules: KeyRules {
                on_delete: ReferentialAction::from_letter(word("on_delete")?),
                on_update: ReferentialAction::from_letter(word("on_update")?),
                full: says("full")?,
                deferrable: says("deferrable")?,
                deferred: says("deferred")?,
            },
            set_columns: words("set_columns")?,
            parts: value.get("parts")?.as_array()?.iter().map(part).collect::<Option<_>>()?,
            disabled: Disabled { here: says("disabled_here")?, there: says("disabled_there")?, lent: says("lent")? },
        };
        (!stored.columns.is_empty() && stored.columns.len() == stored.target_columns.len()).then_some(stored)
    }
}

#[cfg(test)]
mod tests {
    use super::Stored;
    use crate::schema::{Disabled, KeyRules, ReferentialAction};

    #[test]
    fn what_a_property_says_is_read_back() {
        let key = Stored {
            columns: vec!["a".to_owned(), "B \"b\"".to_owned()],
            target: 16_400,
            target_columns: vec!["x".to_owned(), "y".to_owned()],
            rules: KeyRules {
                on_delete: ReferentialAction::SetNull,
                on_update: ReferentialAction::Cascade,
                full: true,
                deferrable: true,
                deferred: false,
            },
            set_columns: vec!["a".to_owned()],
            parts: vec![(16_401, "t_a_fkey1".to_owned())],
            disabled: Disabled { here: true, ..Disabled::default() },
        };
        assert_eq!(Stored::from_property(&key.property()), Some(key));
    }

    #[test]
    fn what_somebody_has_damaged_is_none() {
        let short = r#"{"columns":["a"],"target":1,"target_columns":[],"on_delete":"a","on_update":"a","full":false,
                        "deferrable":false,"deferred":false,"set_columns":[],"parts":[],"disabled_here":false,
                        "disabled_there":false,"lent":false}"#;
        for text in ["", "{}", "[]", short] {
            assert_eq!(Stored::from_property(text), None, "{text}");
        }
    }
}
