//! Tables that inherit from tables: what changes of the schema do beyond one table.

use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::heritage;
use rowferry_dialect::ir::{self, AlterTable, Query, Statement};
use rowferry_dialect::schema::{Relation, RelationKind};

use super::dependencies::Needed;
use super::{Changer, Done, cannot_drop, described};

impl Changer<'_> {
    /// ALTER TABLE of a table and of those that inherit from it.
    pub(super) fn alter_family(
        &self,
        table: &Arc<Relation>,
        actions: &[AlterTable],
        heirs: &[(Arc<Relation>, Vec<AlterTable>)],
    ) -> Done {
        self.alter_table(table, actions)?;
        for (heir, actions) in heirs {
            self.settle()?;
            let heir = self.current(heir.oid)?;
            self.alter_table(&heir, actions)?;
        }
        Ok(())
    }

    /// A table has got an heir: what SQLite itself shows of views over it would lack the heir's rows, so that these views
    /// stay in our tables alone.
    pub(super) fn has_heir(&self, parent: &Relation) -> Done {
        let schema = self.schema();
        let mut above = vec![parent.oid];
        let mut at = 0;
        while at < above.len() {
            if let Some(relation) = schema.relation_by_oid(above[at]) {
                let new: Vec<u32> = relation.parents().iter().copied().filter(|oid| !above.contains(oid)).collect();
                above.extend(new);
            }
            at += 1;
        }
        for oid in above {
            let Some(relation) = schema.relation_by_oid(oid) else { continue };
            for dependent in self.dependents(vec![Needed::relation(&schema, &relation)]) {
                if schema.details(dependent.view.oid).is_some_and(|details| details.native_view) {
                    self.drop_native_view(&dependent.view)?;
                }
                self.touch(dependent.view.database, dependent.view.oid);
            }
        }
        Ok(())
    }

    /// SQLite itself can keep no view of rows of a table that others inherit from: it would not learn of new heirs.
    pub(super) fn reads_family(&self, query: &Query) -> bool {
        let schema = self.schema();
        if schema.main.has_no_heirs() && schema.temp.has_no_heirs() {
            return false;
        }
        let tables = ir::table_locks(&Statement::Query(Box::new(query.clone())));
        tables.iter().any(|table| !schema.heirs(table.relation.oid).is_empty())
    }

    /// Those that inherit from what is to go, directly or not, each with what it depends on; an error without CASCADE.
    pub(super) fn heirs_to_drop(&self, going: &[Arc<Relation>], cascade: bool) -> Done<Vec<Arc<Relation>>> {
        let schema = self.schema();
        let mut found: Vec<(Arc<Relation>, String)> = Vec::new();
        let mut open: Vec<Arc<Relation>> = going.iter().rev().cloned().collect();
        while let Some(parent) = open.pop() {
            let known = |heir: &Arc<Relation>| {
                going.iter().any(|other| other.oid == heir.oid) || found.iter().any(|(other, _)| other.oid == heir.oid)
            };
            let heirs: Vec<_> = schema.heirs(parent.oid).into_iter().filter(|heir| !known(heir)).collect();
            // The eldest with all that inherit from it comes first.
            open.extend(heirs.iter().rev().cloned());
            found.extend(heirs.into_iter().map(|heir| (heir, described(&schema, &parent))));
        }
        if !cascade && !found.is_empty() {
            let object = going.first().map(|relation| described(&schema, relation)).unwrap_or_default();
            let names: Vec<_> = found.iter().map(|(heir, on)| (described(&schema, heir), on.clone())).collect();
            return Err(cannot_drop(&object, &names));
        }
        Ok(found.into_iter().map(|(heir, _)| heir).collect())
    }

    /// What a table names as its parents has an entry that keeps its object id.
    pub(super) fn enter_parents(&self, parents: &[Arc<Relation>], database: &str) -> Done {
        for parent in parents {
            if parent.database == database && matches!(parent.kind, RelationKind::Table) {
                self.entry(parent)?;
            }
            self.has_heir(parent)?;
        }
        Ok(())
    }

    /// The tables that a table names as its parents, in a text of the file's.
    pub(super) fn parents_in(&self, text: Option<&str>) -> Vec<Arc<Relation>> {
        let oids = heritage::Heritage::parents_of_text(text.unwrap_or_default());
        oids.into_iter().filter_map(|oid| self.schema().relation_by_oid(oid)).collect()
    }
}
