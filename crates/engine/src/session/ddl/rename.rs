//! ALTER TABLE … RENAME, and the texts in which the old name stands.

use rowferry_dialect::ir::ColumnIndex;
use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::lower::sqlite::{self};
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::{Condition, Error, Language};
use rusqlite::params;

use super::dependencies::Needed;
use super::{Changer, Done, PartKind};
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
        let views = self.rewritten_views(table, Some(column), to)?;
        self.rename_in_expressions(table, column, to)?;
        self.rename_in_triggers(table, column, to)?;
        let policies = self.rewritten_policies(table, Some(column), to)?;
        self.touch(table.physical.database, table.oid);
        for child in self.schema().children(table) {
            self.touch(child.physical.database, child.oid);
        }
        self.batch(&format!("ALTER TABLE {} RENAME COLUMN {} TO {}", self.table_sql(table), quote(from), quote(to)))?;
        if self.schema().details(table.oid).is_some_and(|details| details.recorded) {
            let database = table.physical.database;
            let sql = format!("UPDATE {database}.rowferry_columns SET name = ?1 WHERE oid = ?2 AND name = ?3");
            self.connection.execute(&sql, params![to, table.oid, from])?;
            self.move_column_privileges(table, from, Some(to))?;
            let sql = format!(
                "UPDATE {database}.rowferry_sequences SET owner_column = ?1 WHERE owner_table = ?2 AND owner_column = ?3"
            );
            self.connection.execute(&sql, params![to, table.physical.name, from])?;
            self.move_properties(table, PartKind::Column, from, Some(to))?;
            self.rename_included(table, from, to)?;
        }
        self.rewrite_policies(policies)?;
        self.rewrite_views(table, views)
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
        for child in self.schema().children(table) {
            self.touch(child.physical.database, child.oid);
        }
        let oid = self.entry(table)?;
        let physical = physical_name(&table.namespace, to);
        self.batch(&format!("ALTER TABLE {} RENAME TO {}", self.table_sql(table), quote(&physical)))?;
        let database = table.physical.database;
        let sql = format!("UPDATE {database}.rowferry_objects SET name = ?1, physical_name = ?2 WHERE oid = ?3");
        self.connection.execute(&sql, params![to, physical, oid])?;
        let sql = format!("UPDATE {database}.rowferry_sequences SET owner_table = ?1 WHERE owner_table = ?2");
        self.connection.execute(&sql, params![physical, table.physical.name])?;
        self.rename_synonyms_target(table, &QualifiedName::new(table.namespace.clone(), to))?;
        self.rewrite_policies(policies)?;
        self.rewrite_views(table, views)
    }

    /// ALTER TABLE … SET SCHEMA: its indexes and the sequences of its columns go with it.
    pub(super) fn set_schema(&self, table: &Relation, namespace: &str) -> Done {
        if table.namespace == namespace {
            return Ok(());
        }
        let schema = self.schema();
        self.pin_views(table)?;
        for dependent in self.dependents(vec![Needed::relation(&schema, table)]) {
            self.touch(dependent.view.physical.database, dependent.view.oid);
        }
        if schema.users(table.oid).any(|(view, _)| view.language == Language::Informix) {
            return Err(Error::unsupported(format!("SET SCHEMA of table \"{}\", which views use,", table.name)).into());
        }
        if self.policies_needing(&[Needed::relation(&schema, table)]).next().is_some() {
            let what = format!("SET SCHEMA of table \"{}\", which policies of other tables use,", table.name);
            return Err(Error::unsupported(what).into());
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
        self.batch(&format!("ALTER TABLE {} RENAME TO {}", self.table_sql(table), quote(&physical)))?;
        let sql = format!("UPDATE {database}.rowferry_objects SET namespace = ?1, physical_name = ?2 WHERE oid = ?3");
        self.connection.execute(&sql, params![namespace, physical, oid])?;
        let sql = format!("UPDATE {database}.rowferry_objects SET namespace = ?1 WHERE oid = ?2");
        for details in &owned {
            self.connection.execute(&sql, params![namespace, details.sequence.oid])?;
            self.touch(database, details.sequence.oid);
            let moved = format!("{namespace}.{}", details.sequence.name);
            let sql = format!("UPDATE {database}.rowferry_columns SET sequence = ?1 WHERE oid = ?2 AND sequence = ?3");
            let before = format!("{}.{}", table.namespace, details.sequence.name);
            self.connection.execute(&sql, params![moved, oid, before])?;
        }
        let sql = format!("UPDATE {database}.rowferry_sequences SET owner_table = ?1 WHERE owner_table = ?2");
        self.connection.execute(&sql, params![physical, table.physical.name])?;
        self.touch(database, oid);
        self.settle()?;
        // SQLite's names of indexes are unique in the whole file.
        for index in table.indexes.iter().filter(|index| !index.constraint) {
            let current = self.current(oid)?;
            self.rename_index(&current, &index.name, &index.name, namespace)?;
        }
        self.rename_synonyms_target(table, &QualifiedName::new(namespace, table.name.clone()))
    }

    /// Informix's synonyms go on to stand for the table.
    fn rename_synonyms_target(&self, table: &Relation, to: &QualifiedName) -> Done {
        let schema = self.schema();
        for synonym in schema.main.synonyms.iter().filter(|synonym| {
            synonym.target.name == table.name && synonym.target.schema.as_deref() == Some(&*table.namespace)
        }) {
            let definition = to.to_string();
            self.connection.execute(
                "UPDATE main.rowferry_objects SET definition = ?1 WHERE oid = ?2",
                params![definition, synonym.oid],
            )?;
            self.touch("main", synonym.oid);
        }
        Ok(())
    }

    pub(super) fn rename_constraint(&self, table: &Relation, from: &str, to: &str) -> Done {
        let mut text = self.text(table)?;
        let all =
            text.columns.iter_mut().flat_map(|column| column.constraints.iter_mut()).chain(text.constraints.iter_mut());
        let mut found = false;
        for constraint in all.filter(|constraint| constraint.name.as_deref() == Some(from)) {
            // Behind the word CONSTRAINT stands the name, and behind that what it demands.
            let name = quote(from);
            let rest = constraint.text["CONSTRAINT".len()..].trim_start();
            let rest = rest
                .strip_prefix(name.as_str())
                .unwrap_or_else(|| rest.strip_prefix(&format!("\"{}\"", from.replace('"', "\"\""))).unwrap_or(rest));
            constraint.text = format!("CONSTRAINT {} {}", quote(to), rest.trim_start());
            found = true;
        }
        if found {
            self.edit(table, &text)?;
        }
        let recorded = self.schema().details(table.oid).is_some_and(|details| details.recorded);
        if recorded {
            let sql = format!(
                "UPDATE {}.rowferry_constraints SET name = ?1 WHERE oid = ?2 AND name = ?3",
                table.physical.database
            );
            found |= self.connection.execute(&sql, params![to, table.oid, from])? > 0;
            self.move_properties(table, PartKind::Constraint, from, Some(to))?;
            self.move_properties(table, PartKind::Index, from, Some(to))?;
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
            let sql = if details.engine_checks.iter().any(|(name, _)| *name == check.name) {
                let expr = self.session.bind_expression(&text, &renamed, &schema)?;
                let lowered = sqlite::expression(&expr, &|reference| match reference.column {
                    ColumnIndex::At(at) => format!("NEW.{}", quote(&renamed.columns[at].name)),
                    ColumnIndex::RowIdentity => "NEW.rowid".to_owned(),
                })?;
                Some(lowered.sql)
            } else {
                None
            };
            let update =
                format!("UPDATE {database}.rowferry_constraints SET text = ?1, sql = ?2 WHERE oid = ?3 AND name = ?4");
            self.connection.execute(&update, params![text, sql, table.oid, check.name])?;
        }
        for other in &table.columns {
            let Some(generated) = &other.generated else { continue };
            let text = rewritten(&generated.text)?;
            let update = format!(
                "UPDATE {database}.rowferry_columns SET generated = ?1 WHERE oid = ?2 AND name = ?3 AND generated IS NOT NULL"
            );
            self.connection.execute(&update, params![text, table.oid, other.name])?;
        }
        for index in &table.indexes {
            for (at, key) in index.keys.iter().enumerate().filter(|(at, _)| index.columns[*at].is_none()) {
                let update =
                    format!("UPDATE {database}.rowferry_columns SET generated = ?1 WHERE oid = ?2 AND name = ?3");
                self.connection.execute(&update, params![rewritten(&key.text)?, index.oid, at.to_string()])?;
            }
            if let Some(predicate) = &index.predicate {
                let update = format!(
                    "UPDATE {database}.rowferry_objects SET definition = ?1 WHERE oid = ?2 AND definition IS NOT NULL"
                );
                self.connection.execute(&update, params![rewritten(predicate)?, index.oid])?;
            }
        }
        Ok(())
    }
}
