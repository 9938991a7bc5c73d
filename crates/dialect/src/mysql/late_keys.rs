//! Foreign keys whose table is not there yet. Without `foreign_key_checks` MySQL takes them, as every dump needs that names its
//! tables by the alphabet: they are kept with their table as what was said, and made when the other table comes.

use super::print::quoted;

/// A foreign key that waits for its table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LateKey {
    /// The schema of the table that it waits for.
    pub namespace: String,
    /// That table.
    pub table: String,
    /// Its definition up to the table's name: `CONSTRAINT … REFERENCES`.
    pub before: String,
    /// And behind it.
    pub behind: String,
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(quoted).collect::<Vec<_>>().join(", ")
}

impl LateKey {
    /// The property of a constraint that is one.
    pub const PROPERTY: &str = "mysql_late_key";

    /// A key by its name, its columns, what they refer to and what is done ON DELETE and ON UPDATE.
    pub fn new<'n>(
        name: &str,
        columns: impl Iterator<Item = &'n str>,
        (namespace, table): (&str, &str),
        referred: impl Iterator<Item = &'n str>,
        (on_delete, on_update): (&str, &str),
    ) -> Self {
        let mut behind = format!(" ({})", list(referred));
        for (event, action) in [("DELETE", on_delete), ("UPDATE", on_update)] {
            if action != "NO ACTION" {
                behind.push_str(&format!(" ON {event} {action}"));
            }
        }
        Self {
            namespace: namespace.to_owned(),
            table: table.to_owned(),
            before: format!("CONSTRAINT {} FOREIGN KEY ({}) REFERENCES ", quoted(name), list(columns)),
            behind,
        }
    }

    /// As it is kept.
    pub fn to_property(&self) -> String {
        serde_json::Value::from(vec![
            self.namespace.as_str(),
            self.table.as_str(),
            self.before.as_str(),
            self.behind.as_str(),
        ])
        .to_string()
    }

    /// The inverse of [`Self::to_property`].
    pub fn of_property(text: &str) -> Option<Self> {
        let parts: Vec<String> = serde_json::from_str(text).ok()?;
        let [namespace, table, before, behind] = <[String; 4]>::try_from(parts).ok()?;
        Some(Self { namespace, table, before, behind })
    }

    /// Its definition in a table of a schema.
    pub fn definition(&self, namespace: &str) -> String {
        let place = match self.namespace == namespace {
            true => quoted(&self.table),
            false => format!("{}.{}", quoted(&self.namespace), quoted(&self.table)),
        };
        format!("{}{place}{}", self.before, self.behind)
    }

    /// The statement that makes it.
    pub fn statement(&self, namespace: &str, table: &str) -> String {
        let place = format!("{}.{}", quoted(&self.namespace), quoted(&self.table));
        format!("ALTER TABLE {}.{} ADD {}{place}{}", quoted(namespace), quoted(table), self.before, self.behind)
    }

    /// The statement that drops a key of this name.
    pub fn dropped(namespace: &str, table: &str, name: &str) -> String {
        format!("ALTER TABLE {}.{} DROP FOREIGN KEY {}", quoted(namespace), quoted(table), quoted(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_kept_as_it_was_said() {
        let key =
            LateKey::new("k`1", ["a", "b"].into_iter(), ("s", "t"), ["x", "y"].into_iter(), ("CASCADE", "NO ACTION"));
        assert_eq!(LateKey::of_property(&key.to_property()), Some(key.clone()));
        assert_eq!(
            key.statement("n", "c"),
            "ALTER TABLE `n`.`c` ADD CONSTRAINT `k``1` FOREIGN KEY (`a`, `b`) REFERENCES `s`.`t` (`x`, `y`) ON DELETE CASCADE"
        );
        assert_eq!(
            key.definition("s"),
            "CONSTRAINT `k``1` FOREIGN KEY (`a`, `b`) REFERENCES `t` (`x`, `y`) ON DELETE CASCADE"
        );
        assert_eq!(LateKey::of_property("[]"), None);
    }
}
