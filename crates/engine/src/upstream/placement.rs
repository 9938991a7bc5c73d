//! Where tables lie whose server is a cluster (Citus): each is placed when a client makes it.

use std::collections::BTreeMap;
use std::fmt;

use rowferry_dialect::schema::QualifiedName;

/// Where the rows of a table lie.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Placement {
    /// Spread over the nodes by what this column has.
    Distributed(String),
    /// A copy of the whole on each node.
    Reference,
    /// On the node that is spoken to, as any table.
    Local,
}

/// The placements of tables, by name.
#[derive(Clone, Debug, Default)]
pub struct Placements(BTreeMap<String, Placement>);

/// What is wrong with the words for a placement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Misplaced(String);

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Placements {
    /// Reads `TABLE=distributed:COLUMN`, `TABLE=reference`, `TABLE=local`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn add(&mut self, words: &str) -> Result<(), Misplaced> {
        let (table, place) = words.split_once('=').unwrap_or((words, ""));
        let placement = match place.split_once(':') {
            Some(("distributed", column)) if !column.is_empty() => Placement::Distributed(column.to_owned()),
            None if place == "reference" => Placement::Reference,
            None if place == "local" => Placement::Local,
            _ => {
                let forms = "TABLE=distributed:COLUMN, TABLE=reference or TABLE=local";
                return Err(Misplaced(format!("\"{words}\" is none of {forms}")));
            }
        };
        if table.is_empty() {
            return Err(Misplaced(format!("\"{words}\" names no table")));
        }
        match self.0.insert(table.to_owned(), placement) {
            Some(_) => Err(Misplaced(format!("table \"{table}\" is placed twice"))),
            None => Ok(()),
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What places a new table, as a text of SQL; `None` where it stays as it was made.
    pub(crate) fn words(&self, table: &QualifiedName) -> Option<String> {
        let call = |function: &str, column: Option<&str>| {
            let parts = table.schema.iter().chain([&table.name]);
            let name = literal(&parts.map(|part| identifier(part)).collect::<Vec<_>>().join("."));
            let column = column.map_or_else(String::new, |column| format!(", {}", literal(column)));
            // IF NOT EXISTS may have met one that is placed.
            format!(
                "SELECT {function}({name}::regclass{column}) \
                 WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = {name}::regclass)"
            )
        };
        match self.0.get(&table.name)? {
            Placement::Distributed(column) => Some(call("create_distributed_table", Some(column))),
            Placement::Reference => Some(call("create_reference_table", None)),
            Placement::Local => None,
        }
    }
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    // Whatever standard_conforming_strings is.
    if quoted.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(words: &str) -> Result<Placements, Misplaced> {
        let mut placements = Placements::default();
        placements.add(words).map(|()| placements)
    }

    #[test]
    fn words_are_read_or_what_is_wrong_with_them_is_said() {
        for wrong in ["orders", "orders=", "orders=distributed", "orders=distributed:", "orders=here", "=reference"] {
            assert!(placed(wrong).is_err(), "{wrong}");
        }
        let mut twice = placed("country=reference").unwrap();
        assert_eq!(twice.add("country=local").unwrap_err().to_string(), "table \"country\" is placed twice");
    }

    #[test]
    fn names_are_names_whatever_is_in_them() {
        let table = QualifiedName::new("public", "o'\"x");
        let words = placed("o'\"x=distributed:a'b\\c").unwrap().words(&table).unwrap();
        assert!(
            words.starts_with(
                "SELECT create_distributed_table('\"public\".\"o''\"\"x\"'::regclass, E'a''b\\\\c') WHERE"
            )
        );
        let other = QualifiedName::new("public", "other");
        assert_eq!(placed("orders=distributed:id").unwrap().words(&other), None);
        assert_eq!(placed("other=local").unwrap().words(&other), None);
    }
}
