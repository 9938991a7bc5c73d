//! CREATE, ALTER and DROP of the objects of CREATE STATISTICS, which go with their tables and columns.

use rowferry_dialect::Language;
use rowferry_dialect::ir::StatisticsChange;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::statistics::{Definition, StatisticsObject};

use super::{Changer, Done};
use crate::backend::Fact;
use crate::schema::PUBLIC;

impl Changer<'_> {
    pub(super) fn change_statistics(&self, change: &StatisticsChange) -> Done {
        match change {
            StatisticsChange::Create { name, table, definition } => {
                // The table is known by its entry's number.
                let definition = Definition { table: self.entry(table)?, ..definition.clone() };
                let namespace = name.schema.as_deref().unwrap_or(PUBLIC);
                let text = definition.to_text();
                self.record("main", "statistics", namespace, &name.name, None, Language::Postgres, Some(&text))?;
            }
            StatisticsChange::Alter { object, definition } => self.redefine_statistics(object, definition)?,
            StatisticsChange::Move { object, to } => {
                self.store.change_entry("main", object.oid, Fact::Name, Some(&to.name))?;
                self.store.change_entry("main", object.oid, Fact::Namespace, to.schema.as_deref())?;
                self.touch("main", object.oid);
            }
            StatisticsChange::Comment { object, text } => {
                self.store.change_entry("main", object.oid, Fact::Comment, text.as_deref())?;
                self.touch("main", object.oid);
            }
            StatisticsChange::Drop(objects) => {
                objects.iter().try_for_each(|object| self.forget("main", object.oid))?;
            }
        }
        self.bump()
    }

    pub(super) fn redefine_statistics(&self, object: &StatisticsObject, definition: &Definition) -> Done {
        self.store.change_entry("main", object.oid, Fact::Definition, Some(&definition.to_text()))?;
        self.touch("main", object.oid);
        Ok(())
    }

    /// A table is gone, and its objects with it.
    pub(super) fn drop_statistics_of(&self, table: &Relation) -> Done {
        let schema = self.schema();
        let mut objects = schema.main.statistics.iter().filter(|object| object.definition.table == table.oid);
        objects.try_for_each(|object| self.forget("main", object.oid))
    }

    /// A column goes, and with it the objects that name it.
    pub(super) fn drop_statistics_of_column(&self, table: &Relation, column: usize) -> Done {
        let schema = self.schema();
        let name = &table.columns[column].name;
        for object in schema.main.statistics.iter().filter(|object| object.definition.table == table.oid) {
            let Definition { columns, expressions, .. } = &object.definition;
            if columns.contains(name) || expressions.iter().any(|text| self.names_column(table, text, column)) {
                self.forget("main", object.oid)?;
            }
        }
        Ok(())
    }

    /// A column has another name.
    pub(super) fn rename_in_statistics(&self, table: &Relation, column: usize, to: &str) -> Done {
        let schema = self.schema();
        let from = &table.columns[column].name;
        for object in schema.main.statistics.iter().filter(|object| object.definition.table == table.oid) {
            let mut definition = object.definition.clone();
            for name in definition.columns.iter_mut().filter(|name| *name == from) {
                to.clone_into(name);
            }
            for text in &mut definition.expressions {
                if self.names_column(table, text, column) {
                    *text = self.session.renamed_in_expression(text, table, column, to, &schema)?;
                }
            }
            if definition != object.definition {
                self.redefine_statistics(object, &definition)?;
            }
        }
        Ok(())
    }
}
