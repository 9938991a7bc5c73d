//! Tables that inherit from tables: what changes of the schema do beyond one table.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::heritage;
use rowferry_dialect::ir::{self, AlterTable, Query, Statement};
use rowferry_dialect::schema::{Relation, RelationKind};

use super::dependencies::Needed;
use super::user_type::{User, describe_user};
use super::{Changer, Done, described};

/// A foreign key: its table, its name, and the object id of the table that it leads to.
pub(super) type KeyOf = (Arc<Relation>, String, u32);

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

    /// A table has got an heir: what others see of views over it would lack the heir's rows, so that these views
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
                self.touch(dependent.view.physical.database, dependent.view.oid);
            }
        }
        Ok(())
    }

    /// No view of rows of a table that others inherit from can be kept where others see it: it would not learn of new heirs.
    pub(super) fn reads_family(&self, query: &Query) -> bool {
        let schema = self.schema();
        if schema.main.has_no_heirs() && schema.temp.has_no_heirs() {
            return false;
        }
        let tables = ir::table_locks(&Statement::Query(Box::new(query.clone())));
        tables.iter().any(|table| table.relation.bound().is_some() || !schema.heirs(table.relation.oid).is_empty())
    }

    /// What is to go, with all that inherit from it.
    pub(super) fn with_heirs(&self, named: &[Arc<Relation>]) -> Vec<Arc<Relation>> {
        let schema = self.schema();
        let mut going = named.to_vec();
        let mut at = 0;
        while at < going.len() {
            for heir in schema.heirs(going[at].oid) {
                if !going.iter().any(|other| other.oid == heir.oid) {
                    going.push(heir);
                }
            }
            at += 1;
        }
        going
    }

    /// Heirs, views and foreign keys that depend on what is to go, in the order in which PostgreSQL tells of them, each with
    /// what it depends on.
    pub(super) fn dependents_in_order(&self, named: &[Arc<Relation>], keys: &[KeyOf]) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut seen: BTreeSet<u32> = named.iter().map(|relation| relation.oid).collect();
        for relation in named {
            self.find_dependents(relation, keys, &mut seen, &mut found);
        }
        found.reverse();
        found
    }

    /// The youngest first, and what depends on something before it.
    pub(super) fn find_dependents(
        &self,
        on: &Arc<Relation>,
        keys: &[KeyOf],
        seen: &mut BTreeSet<u32>,
        found: &mut Vec<(String, String)>,
    ) {
        let schema = self.schema();
        let mut below = schema.heirs(on.oid);
        below.extend(schema.users(on.oid).map(|(view, _)| view.clone()));
        // A foreign key is about as old as the table that refers, which is all that is known of its age.
        let keys_of = keys.iter().rev().filter(|(.., target)| *target == on.oid);
        let mut all: Vec<(u32, std::result::Result<Arc<Relation>, &KeyOf>)> = (below.into_iter())
            .map(|relation| (relation.oid, Ok(relation)))
            .chain(keys_of.map(|key| (key.0.oid, Err(key))))
            .collect();
        all.sort_by_key(|(oid, _)| std::cmp::Reverse(*oid));
        for (_, one) in all {
            let relation = match one {
                Ok(relation) => relation,
                Err((child, key, _)) => {
                    found.push((format!("constraint {key} on {}", described(&schema, child)), described(&schema, on)));
                    continue;
                }
            };
            if seen.insert(relation.oid) {
                self.find_dependents(&relation, keys, seen, found);
                if relation.bound().is_some() {
                    // A partition goes with its table, and nobody tells of it.
                    continue;
                }
                found.push((described(&schema, &relation), described(&schema, on)));
            }
        }
        // The type of its rows is as old as the relation.
        for (user, of) in self.users_of_rows(std::slice::from_ref(on)).into_iter().rev() {
            if let User::Function(function) = &user
                && seen.insert(function.oid)
            {
                found.push((describe_user(&schema, &user), of));
            }
        }
    }

    /// What a table names as its parents has an entry that keeps its object id.
    pub(super) fn enter_parents(&self, parents: &[Arc<Relation>], database: &str) -> Done {
        for parent in parents {
            if parent.physical.database == database && matches!(parent.kind, RelationKind::Table) {
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
