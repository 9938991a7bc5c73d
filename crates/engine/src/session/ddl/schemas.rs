//! ALTER SCHEMA … RENAME TO, and SET SCHEMA of what is no table.

use rowferry_dialect::composite::row_type_oid;
use rowferry_dialect::postgres::routine::definition_text;
use rowferry_dialect::schema::{QualifiedName, Relation, RelationKind};
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::{Error, Schema as _};

use super::new_names::NewNames;
use super::{Changer, Done};
use crate::backend::Fact;
use crate::schema::SessionSchema;

impl Changer<'_> {
    /// ALTER SEQUENCE, ALTER VIEW … SET SCHEMA.
    pub(super) fn move_object(&self, name: &QualifiedName, namespace: &str) -> Done {
        let schema = self.schema();
        if let Some(view) = schema.relation(name).filter(|relation| relation.definition().is_some()) {
            return if view.namespace == namespace { Ok(()) } else { self.move_view(&view, namespace) };
        }
        match schema.sequence_details(name) {
            Some(details) if details.sequence.namespace == namespace => Ok(()),
            Some(details) => self.move_sequence(&details, namespace),
            None => Err(Error::internal("SET SCHEMA of what is gone").into()),
        }
    }

    /// Everything in a schema is in another one from now on, which is the same with another name.
    pub(super) fn rename_schema(&self, from: &str, to: &str) -> Done {
        let schema = self.schema();
        let Some(namespace) = schema.main.namespaces.iter().find(|namespace| namespace.name == from) else {
            return Err(Error::unsupported(format!("ALTER SCHEMA {from} RENAME")).into());
        };
        let renamed = self.rename_in_texts(&new_names(&schema, from, to))?;
        self.store.change_entry("main", namespace.oid, Fact::Name, Some(to))?;
        self.touch("main", namespace.oid);
        let relations: Vec<_> = schema.main.relations().filter(|relation| relation.namespace == from).collect();
        for relation in relations {
            self.settle()?;
            let now = self.current(relation.oid)?;
            match now.kind {
                RelationKind::View { .. } | RelationKind::NativeView => self.place_view(&now, to)?,
                _ => self.place_table(&now, to)?,
            }
        }
        self.settle()?;
        for details in self.schema().main.sequences().filter(|details| details.sequence.namespace == from) {
            self.place_sequence(details, to)?;
        }
        for ty in schema.user_types().iter().filter(|ty| ty.namespace == from && !ty.is_row_type()) {
            self.settle()?;
            let Some(ty) = self.schema().user_type_by_oid(ty.oid) else { continue };
            let moved = UserType { namespace: to.to_owned(), ..UserType::clone(&ty) };
            self.rename_in_functions(&moved)?;
            self.store_type(&moved)?;
        }
        self.settle()?;
        for function in self.schema().main.functions.iter().filter(|function| function.namespace == from) {
            let text = definition_text(to, &function.name, &function.definition);
            self.rewrite(function.oid, to, &function.signature(), &text)?;
        }
        let placed = schema.main.collations.iter().filter(|made| made.namespace == from).map(|made| made.oid);
        let searched = schema.main.search_objects.iter().filter(|made| made.namespace == from).map(|made| made.oid);
        let measured = schema.main.statistics.iter().filter(|made| made.namespace == from).map(|made| made.oid);
        let operators = schema.main.operators.iter().filter(|made| made.namespace == from).map(|made| made.oid);
        let extensions = schema.extensions().iter().filter(|made| made.namespace == from).map(|made| made.oid);
        for oid in placed.chain(searched).chain(measured).chain(operators).chain(extensions) {
            self.store.change_entry("main", oid, Fact::Namespace, Some(to))?;
            self.touch("main", oid);
        }
        self.check_renamed(&renamed)?;
        self.settle()?;
        self.bump()
    }
}

/// The new names of everything in a schema.
fn new_names(schema: &SessionSchema, from: &str, to: &str) -> NewNames {
    let mut names = NewNames::within(from);
    let mut add = |oid: u32| names.add(oid, to, None);
    let inside = |relation: &&std::sync::Arc<Relation>| relation.namespace == from;
    for relation in schema.main.relations().filter(inside) {
        add(relation.oid);
        add(row_type_oid(relation.oid));
        relation.indexes.iter().for_each(|index| add(index.oid));
    }
    let sequences = schema.main.sequences().filter(|details| details.sequence.namespace == from);
    sequences.for_each(|details| add(details.sequence.oid));
    schema.user_types().iter().filter(|ty| ty.namespace == from).for_each(|ty| add(ty.oid));
    schema.main.functions.iter().filter(|made| made.namespace == from).for_each(|made| add(made.oid));
    schema.main.collations.iter().filter(|made| made.namespace == from).for_each(|made| add(made.oid));
    schema.main.operators.iter().filter(|made| made.namespace == from).for_each(|made| add(made.oid));
    schema.extensions().iter().filter(|made| made.namespace == from).for_each(|made| add(made.oid));
    names
}
