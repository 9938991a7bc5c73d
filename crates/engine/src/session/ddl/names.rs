//! Informix's synonyms, and changes of sequences' and indexes' names and parameters.

use rowferry_dialect::ir::ObjectKind;
use rowferry_dialect::schema::{QualifiedName, Relation, Schema as _};
use rowferry_dialect::{Error, Language};
use rusqlite::params;

use super::{Changer, Done, PartKind};
use crate::schema::physical_name;

impl Changer<'_> {
    /// CREATE SYNONYM: an entry of our own tables, which SQLite knows nothing of.
    pub(super) fn create_synonym(&self, name: &QualifiedName, target: &QualifiedName, if_not_exists: bool) -> Done {
        let (namespace, database, _) = self.place(name, false)?;
        if !self.is_free(&namespace, &name.name, if_not_exists)? {
            return Ok(());
        }
        let schema = target.schema.as_deref().unwrap_or(crate::schema::PUBLIC);
        let definition = format!("{schema}.{}", target.name);
        self.record(database, "synonym", &namespace, &name.name, None, Language::Informix, Some(&definition))?;
        Ok(())
    }

    /// RENAME SEQUENCE and RENAME INDEX.
    pub(super) fn rename_object(&self, kind: ObjectKind, name: &QualifiedName, to: &str) -> Done {
        if kind == ObjectKind::Sequence {
            let Some(details) = self.schema().sequence_details(name) else {
                return Err(Error::internal("RENAME of a sequence that is gone").into());
            };
            return self.rename_sequence(&details, to);
        }
        let Some((relation, at)) = self.schema().index(name) else {
            return Err(Error::internal("RENAME of an index that is gone").into());
        };
        let from = relation.indexes[at].name.clone();
        if relation.indexes[at].constraint {
            self.touch(relation.physical.database, relation.oid);
            self.is_free(&relation.namespace, to, false)?;
            self.entry(&relation)?;
            return self.rename_constraint(&relation, &from, to);
        }
        self.is_free(&relation.namespace, to, false)?;
        self.rename_index(&relation, &from, to, &relation.namespace)
    }

    /// Gives an index that stands for itself another name, or the place of the schema that its table has gone to.
    pub(super) fn rename_index(&self, relation: &Relation, from: &str, to: &str, namespace: &str) -> Done {
        let Some(at) = relation.indexes.iter().position(|index| index.name == from) else {
            return Err(Error::internal("RENAME of an index that is gone").into());
        };
        let index = &relation.indexes[at];
        self.touch(relation.physical.database, relation.oid);
        self.touch(relation.physical.database, index.oid);
        let physical = self
            .schema()
            .details(relation.oid)
            .and_then(|details| details.index_names.get(at).cloned())
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| physical_name(&relation.namespace, &index.name));
        let sql: String = self.connection.query_row(
            &format!("SELECT sql FROM {}.sqlite_schema WHERE type = 'index' AND name = ?1", relation.physical.database),
            [&physical],
            |row| row.get(0),
        )?;
        // SQLite keeps `CREATE [UNIQUE] INDEX name ON …`: the statement is made anew from ` ON ` on.
        let Some(on) = sql.find(" ON ") else {
            return Err(Error::internal("an index that cannot be read back").into());
        };
        let unique = if index.unique { "UNIQUE " } else { "" };
        let new = physical_name(namespace, to);
        let quote = rowferry_dialect::lower::sqlite::create_table::quote;
        self.batch(&format!("DROP INDEX {}.{}", relation.physical.database, quote(&physical)))?;
        self.batch(&format!("CREATE {unique}INDEX {}.{}{}", relation.physical.database, quote(&new), &sql[on..]))?;
        if crate::schema::metadata::exist(self.connection, relation.physical.database)? {
            let sql = format!(
                "UPDATE {}.rowferry_objects SET namespace = ?4, name = ?2, physical_name = ?3
                 WHERE kind = 'index' AND physical_name = ?1",
                relation.physical.database
            );
            self.connection.execute(&sql, params![physical, to, new, namespace])?;
        }
        if from != to {
            self.move_properties(relation, PartKind::Index, from, Some(to))?;
        }
        // A name that SQLite's own statement does not say needs an entry.
        let recorded = crate::schema::metadata::exist(self.connection, relation.physical.database)? && {
            let sql = format!(
                "SELECT EXISTS (SELECT 1 FROM {}.rowferry_objects WHERE kind = 'index' AND physical_name = ?1)",
                relation.physical.database
            );
            self.connection.query_row(&sql, [&new], |row| row.get(0))?
        };
        if !recorded && new != to {
            self.record(relation.physical.database, "index", namespace, to, Some(&new), relation.language, None)?;
        }
        Ok(())
    }
}
