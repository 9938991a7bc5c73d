//! CREATE TABLE (LIKE …): comments, indexes and facts that go with a copied definition.

use rowferry_dialect::Schema as _;
use rowferry_dialect::ir::{CreateIndex, IndexKeyDefinition, Like, Text};
use rowferry_dialect::postgres::{Unnamed, postgres_name, quote_ident as quote};
use rowferry_dialect::schema::{Index, QualifiedName, Relation};

use super::{Changer, Done};
use crate::schema::NULLS_ALIKE;

/// What an index takes along.
const COPIED: &[&str] = &[
    "index_collation ",
    rowferry_dialect::exclusion::PROPERTY,
    "index_derived ",
    "index_include",
    rowferry_dialect::mysql::INVISIBLE,
    "index_method",
    "index_nulls ",
    NULLS_ALIKE,
    "index_opclass ",
    "index_option ",
    "index_options",
    rowferry_dialect::mysql::PREFIX,
];

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
                let made = if index.constraint && index.exclusion.is_none() {
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
        let mut words = Vec::with_capacity(index.keys.len());
        let mut texts = Vec::with_capacity(index.keys.len());
        let whole = std::sync::Arc::new(source.clone());
        for (at, (key, column)) in index.keys.iter().zip(&index.columns).enumerate() {
            let name = column.map(|at| source.columns[at].name.as_str());
            words.push(crate::catalog::describe::index_column(&schema, &whole, index, at).0);
            texts.push((key.descending, name.map_or_else(|| key.text.clone(), quote)));
        }
        let taken = |name: &str| {
            schema.index(&QualifiedName::new(table.namespace.clone(), name)).is_some()
                || self.collision(&table.namespace, name).is_some()
        };
        let named = |what| postgres_name(what, &table.name, words.iter().map(String::as_str), taken);
        let name = match index.exclusion {
            Some(_) => named(Unnamed::Exclusion),
            // MySQL's keys are called as they were, of the new table.
            None => match index.name.strip_prefix(source.name.as_str()).and_then(|rest| rest.strip_prefix('.')) {
                Some(own) if !taken(&format!("{}.{own}", table.name)) => format!("{}.{own}", table.name),
                _ => named(Unnamed::Index),
            },
        };
        let properties = details.properties.all();
        let properties = properties
            .filter(|(part, name, _)| *part == index.name && COPIED.iter().any(|prefix| name.starts_with(prefix)))
            .map(|(_, name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        self.create_index(&self.index_of(
            table,
            (&name, index.unique),
            &texts,
            index.predicate.as_deref(),
            properties,
        )?)?;
        self.touch(table.physical.database, table.oid);
        self.settle()?;
        Ok(Some(name))
    }

    /// An index of a table, from the texts of its keys, each with whether it is descending, and of its condition.
    pub(super) fn index_of(
        &self,
        table: &std::sync::Arc<Relation>,
        (name, unique): (&str, bool),
        keys: &[(bool, String)],
        predicate: Option<&str>,
        properties: Vec<(String, String)>,
    ) -> Done<CreateIndex> {
        let schema = self.schema();
        let bound = |text: &str| -> Done<Text> {
            Ok(Text { text: text.to_owned(), expr: self.session.bind_expression(text, table, &schema)? })
        };
        let keys =
            keys.iter().map(|(descending, text)| Ok(IndexKeyDefinition { key: bound(text)?, descending: *descending }));
        Ok(CreateIndex {
            name: name.to_owned(),
            table: table.clone(),
            unique,
            nulls_alike: properties.iter().any(|(name, _)| name == NULLS_ALIKE),
            if_not_exists: false,
            lenient: !unique,
            keys: keys.collect::<Done<Vec<_>>>()?,
            predicate: predicate.map(bound).transpose()?,
            concurrently: false,
            only: false,
            properties,
        })
    }
}
