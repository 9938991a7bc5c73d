//! ALTER TABLE … RENAME, and the texts in which the old name stands.

use rowferry_dialect::composite::row_type_oid;
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::{Condition, Error, Language};

use super::constraints::stands_alone;
use super::dependencies::Needed;
use super::new_names::NewNames;
use super::{Changer, Done, PartKind};
use crate::backend::Fact;
use crate::schema::physical_name;

impl Changer<'_> {
    pub(super) fn rename_column(&self, table: &Relation, column: usize, to: &str) -> Done {
        if table.column(to).is_some_and(|other| other != column) {
            return Err(Error::new(
                Condition::DuplicateColumn,
                format!("column \"{to}\" of relation \"{}\" already exists", table.name),
            )
            .into());
        }
        let from = &table.columns[column].name;
        let row = row_type_oid(table.oid);
        self.refuse_named_field(table, row, from)?;
        let policies = self.rewritten_policies(table, Some(column), to)?;
        // Those who ask it of the table's rows, `(x).b`, do so by its new name.
        let fields = self.rename_in_texts(&NewNames::field(row, from, to))?;
        self.settle()?;
        let views = self.rewritten_views(table, Some(column), to)?;
        self.rename_in_expressions(table, column, to)?;
        self.rename_in_triggers(table, column, to)?;
        self.touch(table.physical.database, table.oid);
        for child in self.schema().children(table) {
            self.touch(child.physical.database, child.oid);
        }
        self.rename_in_keys(table, from, to)?;
        self.store.rename_column(table, from, to)?;
        if self.schema().details(table.oid).is_some_and(|details| details.recorded) {
            self.store.rename_recorded_column(table, from, to)?;
            self.move_column_privileges(table, from, Some(to))?;
            self.store.rename_owned_sequences(table, from, to)?;
            self.move_properties(table, PartKind::Column, from, Some(to))?;
            self.rename_included(table, from, to)?;
            self.rename_partition_key(table, column, to)?;
            self.rename_in_statistics(table, column, to)?;
        }
        self.rewrite_policies(policies)?;
        self.rewrite_views(table, views)?;
        self.check_renamed(&fields)?;
        if fields.is_empty() { Ok(()) } else { self.check_renamed_field(from) }
    }

    /// PARTITION BY names columns.
    fn rename_partition_key(&self, table: &Relation, column: usize, to: &str) -> Done {
        let Some(partitioning) = &table.partitioning else { return Ok(()) };
        let from = &table.columns[column].name;
        let mut renamed = (**partitioning).clone();
        for key in &mut renamed.keys {
            match &mut key.column {
                Some(name) if name == from => {
                    to.clone_into(name);
                    key.text = rowferry_dialect::postgres::quote_ident(to);
                }
                Some(_) => {}
                None => {
                    let mut after = table.clone();
                    to.clone_into(&mut after.columns[column].name);
                    if self.session.bind_expression(&key.text, &after, &self.schema()).is_err() {
                        let what = format!("renaming the column \"{from}\", which a partition key's expression names");
                        return Err(Error::unsupported(what).into());
                    }
                }
            }
        }
        let oid = self.entry(table)?;
        let text = renamed.to_string();
        self.set_property(table.physical.database, oid, "", rowferry_dialect::partition::PARTITION_BY, Some(&text))
    }

    /// INCLUDE names columns.
    fn rename_included(&self, table: &Relation, from: &str, to: &str) -> Done {
        let Some(details) = self.schema().details(table.oid).cloned() else { return Ok(()) };
        for (part, name, _) in details.properties.all().filter(|(_, name, _)| *name == "index_include") {
            let names = crate::catalog::describe::included(&details.properties, part);
            let renamed: Vec<&str> = names.iter().map(|name| if name == from { to } else { name }).collect();
            let list = serde_json::Value::from(renamed).to_string();
            self.set_property(table.physical.database, table.oid, part, name, Some(&list))?;
        }
        Ok(())
    }

    pub(super) fn rename_table(&self, table: &Relation, to: &str) -> Done {
        self.is_free(&table.namespace, to, false)?;
        let views = self.rewritten_views(table, None, to)?;
        let policies = self.rewritten_policies(table, None, to)?;
        let mut names = NewNames::of(table.oid, &table.name, &table.namespace, Some(to));
        names.add(row_type_oid(table.oid), &table.namespace, Some(to));
        let renamed = self.rename_in_texts(&names)?;
        for child in self.schema().children(table) {
            self.touch(child.physical.database, child.oid);
        }
        let oid = self.entry(table)?;
        let physical = physical_name(&table.namespace, to);
        self.rename_rows_in_functions(table, &table.namespace, to)?;
        self.rename_table_in_triggers(table, to)?;
        self.store.rename_table(table, &physical)?;
        self.store.rename_entry(table.physical.database, oid, to, &physical)?;
        self.store.move_owned_sequences(table, &physical)?;
        self.rename_synonyms_target(table, &QualifiedName::new(table.namespace.clone(), to))?;
        self.rewrite_policies(policies)?;
        self.rewrite_views(table, views)?;
        self.rename_own_keys(table, to)?;
        self.check_renamed(&renamed)
    }

    /// Keys of MySQL's are called by their table's name and their own.
    fn rename_own_keys(&self, table: &Relation, to: &str) -> Done {
        for index in &table.indexes {
            let own = index.name.strip_prefix(table.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
            if let Some(own) = own.filter(|_| stands_alone(index)) {
                self.settle()?;
                let current = self.current(table.oid)?;
                self.rename_index(&current, &index.name, &format!("{to}.{own}"), &table.namespace)?;
            }
        }
        if table.language != Language::Mysql {
            return Ok(());
        }
        // So are its foreign keys and checks that nobody has named, or as MySQL names them.
        let keys = table.foreign_keys.iter().map(|key| &key.name);
        for name in keys.chain(table.checks.iter().map(|check| &check.name)) {
            let made = name
                .strip_prefix(table.name.as_str())
                .filter(|rest| rest.starts_with("_ibfk_") || rest.starts_with("_chk_"));
            if let Some(rest) = made {
                self.settle()?;
                let current = self.current(table.oid)?;
                self.rename_constraint(&current, name, &format!("{to}{rest}"))?;
            }
        }
        Ok(())
    }

    /// ALTER TABLE … SET SCHEMA: its indexes and the sequences of its columns go with it.
    pub(super) fn set_schema(&self, table: &Relation, namespace: &str) -> Done {
        if table.namespace == namespace {
            return Ok(());
        }
        let schema = self.schema();
        let mut names =
            NewNames::of(table.oid, &table.name, namespace, None).moving(row_type_oid(table.oid), namespace);
        for index in &table.indexes {
            names.add_along(index.oid, &index.name, namespace);
        }
        for details in schema.sequences_of(table.oid).filter(|details| details.rowid_of.is_none()) {
            names.add_along(details.sequence.oid, &details.sequence.name, namespace);
        }
        let renamed = self.rename_in_texts(&names)?;
        self.settle()?;
        self.place_table(&*self.current(table.oid)?, namespace)?;
        self.check_renamed(&renamed)
    }

    /// A table is in another schema from now on, with what goes along.
    pub(super) fn place_table(&self, table: &Relation, namespace: &str) -> Done {
        let schema = self.schema();
        self.pin_views(table)?;
        for dependent in self.dependents(vec![Needed::relation(&schema, table)]) {
            self.touch(dependent.view.physical.database, dependent.view.oid);
        }
        if schema.users(table.oid).any(|(view, _)| view.language == Language::Informix) {
            return Err(Error::unsupported(format!("SET SCHEMA of table \"{}\", which views use,", table.name)).into());
        }
        let owned: Vec<_> =
            schema.sequences_of(table.oid).filter(|details| details.rowid_of.is_none()).cloned().collect();
        let moved = std::iter::once(&table.name)
            .chain(table.indexes.iter().map(|index| &index.name))
            .chain(owned.iter().map(|details| &details.sequence.name));
        for moved in moved {
            if self.collision(namespace, moved).is_some() {
                let message = format!("relation \"{moved}\" already exists in schema \"{namespace}\"");
                return Err(Error::new(Condition::DuplicateTable, message).into());
            }
        }
        let oid = self.entry(table)?;
        for child in schema.children(table) {
            self.touch(child.physical.database, child.oid);
        }
        let database = table.physical.database;
        let physical = physical_name(namespace, &table.name);
        self.rename_rows_in_functions(table, namespace, &table.name)?;
        self.store.rename_table(table, &physical)?;
        self.store.move_entry(database, oid, namespace, &physical)?;
        for details in &owned {
            self.store.change_entry(database, details.sequence.oid, Fact::Namespace, Some(namespace))?;
            self.touch(database, details.sequence.oid);
            let moved = format!("{namespace}.{}", details.sequence.name);
            let before = format!("{}.{}", table.namespace, details.sequence.name);
            self.store.rename_numbering_of(table, &before, &moved)?;
        }
        self.store.move_owned_sequences(table, &physical)?;
        self.touch(database, oid);
        self.settle()?;
        // Stored names of indexes are unique in the whole file.
        for index in table.indexes.iter().filter(|index| stands_alone(index)) {
            let current = self.current(oid)?;
            self.rename_index(&current, &index.name, &index.name, namespace)?;
        }
        self.rename_synonyms_target(table, &QualifiedName::new(namespace, table.name.clone()))
    }

    /// Informix's synonyms go on to stand for the table.
    fn rename_synonyms_target(&self, table: &Relation, to: &QualifiedName) -> Done {
        let schema = self.schema();
        for synonym in schema.main.synonyms.iter().filter(|synonym| {
            synonym.elsewhere.is_none()
                && synonym.target.name == table.name
                && synonym.target.schema.as_deref() == Some(&*table.namespace)
        }) {
            self.store.change_entry("main", synonym.oid, Fact::Definition, Some(&to.to_string()))?;
            self.touch("main", synonym.oid);
        }
        Ok(())
    }

    pub(super) fn rename_constraint(&self, table: &Relation, from: &str, to: &str) -> Done {
        if table.indexes.iter().any(|index| index.name == from && stands_alone(index) && index.constraint) {
            self.is_free(&table.namespace, to, false)?;
            return self.rename_index(table, from, to, &table.namespace);
        }
        let mut form = self.form(table)?;
        let mut found = form.rename_constraint(from, to);
        if found {
            self.edit(table, &form)?;
        }
        let recorded = self.schema().details(table.oid).is_some_and(|details| details.recorded);
        if recorded {
            found |= self.store.rename_recorded_constraint(table, from, to)?;
            self.move_properties(table, PartKind::Constraint, from, Some(to))?;
            self.move_properties(table, PartKind::Index, from, Some(to))?;
            found |= table.foreign_keys.iter().any(|key| key.by_engine && key.name == from);
        }
        if found {
            return Ok(());
        }
        Err(Error::new(
            Condition::UndefinedObject,
            format!("constraint \"{from}\" for table \"{}\" does not exist", table.name),
        )
        .into())
    }

    /// A column's new name in the table's checks, generated columns and index expressions, as our tables keep them.
    fn rename_in_expressions(&self, table: &Relation, column: usize, to: &str) -> Done {
        let schema = self.schema();
        let Some(details) = schema.details(table.oid).filter(|details| details.recorded) else { return Ok(()) };
        let database = table.physical.database;
        let rewritten = |text: &str| self.session.renamed_in_expression(text, table, column, to, &schema);
        let mut renamed = table.clone();
        to.clone_into(&mut renamed.columns[column].name);
        for check in &table.checks {
            let text = rewritten(&check.text)?;
            let ours = details.engine_checks.iter().any(|(name, _)| *name == check.name);
            let enforced = ours.then(|| self.session.bind_expression(&text, &renamed, &schema)).transpose()?;
            self.store.rewrite_check(&renamed, &check.name, &text, enforced.as_ref())?;
        }
        for other in &table.columns {
            let Some(generated) = &other.generated else { continue };
            self.store.rewrite_generated(table, &other.name, &rewritten(&generated.text)?)?;
        }
        for index in &table.indexes {
            for (at, key) in index.keys.iter().enumerate().filter(|(at, _)| index.columns[*at].is_none()) {
                self.store.rewrite_index_key(database, index.oid, at, &rewritten(&key.text)?)?;
            }
            if let Some(predicate) = &index.predicate {
                self.store.rewrite_predicate(database, index.oid, &rewritten(predicate)?)?;
            }
        }
        Ok(())
    }
}
