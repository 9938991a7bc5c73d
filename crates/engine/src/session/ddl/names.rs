//! Informix's synonyms, and changes of sequences' and indexes' names and parameters.

use rowferry_dialect::ir::ObjectKind;
use rowferry_dialect::schema::{QualifiedName, Relation, Schema as _};
use rowferry_dialect::{Error, Language};

use super::constraints::stands_alone;
use super::{Changer, Done, PartKind};
use crate::schema::{Synonym, physical_name};

impl Changer<'_> {
    /// CREATE SYNONYM: an entry of our own, of which nobody else knows.
    pub(super) fn create_synonym(
        &self,
        name: &QualifiedName,
        target: &QualifiedName,
        elsewhere: Option<&str>,
        if_not_exists: bool,
    ) -> Done {
        let (namespace, database, _) = self.place(name, false)?;
        if !self.is_free(&namespace, &name.name, if_not_exists)? {
            return Ok(());
        }
        let schema = target.schema.as_deref().unwrap_or(crate::schema::PUBLIC);
        let target = QualifiedName::new(schema, target.name.clone());
        let definition = Synonym::definition(elsewhere, &target);
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
        if !stands_alone(&relation.indexes[at]) {
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
        let new = physical_name(namespace, to);
        self.store.rename_index(relation, &physical, &new, index.unique)?;
        let recorded = self.store.move_index_entry(relation.physical.database, &physical, to, &new, namespace)?;
        if from != to {
            self.move_properties(relation, PartKind::Index, from, Some(to))?;
        }
        // A name that the stored one does not say needs an entry.
        if !recorded && new != to {
            self.record(relation.physical.database, "index", namespace, to, Some(&new), relation.language, None)?;
        }
        Ok(())
    }
}
