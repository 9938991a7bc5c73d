//! CREATE TABLE (LIKE …): comments, indexes and facts that go with a copied definition.

use rowferry_dialect::Schema as _;
use rowferry_dialect::ir::{CreateIndex, Expr, IndexKeyDefinition, Like, Text};
use rowferry_dialect::postgres::{index_name, quote};
use rowferry_dialect::schema::{Index, QualifiedName, Relation};

use super::{Changer, Done};

/// What an index takes along.
const COPIED: &[&str] =
    &["index_collation ", "index_include", "index_method", "index_nulls ", "index_opclass ", "index_option "];

impl Changer<'_> {
    /// Copies what LIKE asks for to the new table of an object id.
    pub(super) fn copy_like(&self, like: &Like, database: &'static str, oid: u32) -> Done {
        let source = &like.source;
        let details = self.schema().details(source.oid).cloned().unwrap_or_default();
        for (part, name, value) in details.properties.all().filter(|(_, name, _)| like.properties.contains(name)) {
            self.set_property(database, oid, part, name, Some(value))?;
        }
        self.settle()?;
        let table = self.current(oid)?;
        if like.comments {
            for (at, comment) in &details.column_comments {
                let column = table.column(&source.columns[*at].name);
                self.comment(&table, column, Some(comment))?;
            }
            for (part, name, value) in details.properties.all().filter(|(_, name, _)| *name == "constraint_comment") {
                let known = table.checks.iter().any(|check| check.name == *part);
                if known {
                    self.set_property(database, oid, part, name, Some(value))?;
                }
            }
        }
        if like.indexes {
            for index in &source.indexes {
                let made = if index.constraint {
                    self.copied_key(&table, source, index)
                } else {
                    self.copy_index(&table, source, index)?
                };
                let of_index = details
                    .properties
                    .all()
                    .filter(|(part, name, _)| *part == index.name && like.comments && *name == "index_comment");
                if let Some(made) = made {
                    for (_, name, value) in of_index {
                        self.set_property(database, oid, &made, name, Some(value))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The key that stands for the other table's.
    fn copied_key(&self, table: &Relation, source: &Relation, index: &Index) -> Option<String> {
        let names = |relation: &Relation, index: &Index| -> Vec<String> {
            index.columns.iter().flatten().map(|at| relation.columns[*at].name.clone()).collect()
        };
        let wanted = names(source, index);
        let found = table.indexes.iter().find(|other| other.primary == index.primary && names(table, other) == wanted);
        found.map(|index| index.name.clone())
    }

    /// An index with the same keys on the new table; its name.
    pub(super) fn copy_index(
        &self,
        table: &std::sync::Arc<Relation>,
        source: &Relation,
        index: &Index,
    ) -> Done<Option<String>> {
        let schema = self.schema();
        let details = schema.details(source.oid).cloned().unwrap_or_default();
        let mut keys = Vec::with_capacity(index.keys.len());
        let mut words = Vec::with_capacity(index.keys.len());
        for (key, column) in index.keys.iter().zip(&index.columns) {
            let key_text = match column.and_then(|at| table.column(&source.columns[at].name)) {
                Some(at) => {
                    let column = &table.columns[at];
                    words.push(column.name.clone());
                    Text { text: quote(&column.name), expr: Expr::column(Text::TABLE, at, column.ty.clone()) }
                }
                None => {
                    words.push("expr".to_owned());
                    let expr = self.session.bind_expression(&key.text, table, &schema)?;
                    Text { text: key.text.clone(), expr }
                }
            };
            keys.push(IndexKeyDefinition { key: key_text, descending: key.descending });
        }
        let predicate = match &index.predicate {
            Some(text) => Some(Text { text: text.clone(), expr: self.session.bind_expression(text, table, &schema)? }),
            None => None,
        };
        let name = index_name(&table.name, &words, |name| {
            schema.index(&QualifiedName::new(table.namespace.clone(), name)).is_some()
                || self.collision(&table.namespace, name).is_some()
        });
        self.create_index(&CreateIndex {
            name: name.clone(),
            table: table.clone(),
            unique: index.unique,
            if_not_exists: false,
            lenient: !index.unique,
            keys,
            predicate,
            concurrently: false,
            properties: details
                .properties
                .all()
                .filter(|(part, name, _)| *part == index.name && COPIED.iter().any(|prefix| name.starts_with(prefix)))
                .map(|(_, name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        })?;
        self.touch(table.physical.database, table.oid);
        self.settle()?;
        Ok(Some(name))
    }
}
