//! Tables that others inherit from, as statements name them: with all their heirs, unless ONLY is said.

use std::sync::Arc;

use super::binder::{Binder, Entry};
use crate::Result;
use crate::heritage;
use crate::ir::{self, Family, From, RelId, family};
use crate::schema::{Relation, RelationKind};

impl Binder<'_> {
    /// A table and its heirs, when there are any and ONLY is not said.
    pub(super) fn heirs_too(&self, relation: &Arc<Relation>, all: bool) -> Option<Vec<Arc<Relation>>> {
        if !all || relation.kind != RelationKind::Table {
            return None;
        }
        let members = heritage::family(self.schema, relation);
        (members.len() > 1).then_some(members)
    }

    /// The tables that a statement means by one: the table alone, or with its heirs.
    pub(super) fn meant(&self, relation: Arc<Relation>, all: bool) -> Vec<Arc<Relation>> {
        self.heirs_too(&relation, all).unwrap_or_else(|| vec![relation])
    }

    /// The rows of a table and its heirs as a member of FROM.
    pub(super) fn family_table(&mut self, members: &[Arc<Relation>], alias: Option<&str>) -> Result<(From, Entry)> {
        let head = &members[0];
        let id = self.ids.relation();
        // What is reached through the head needs its privileges alone.
        self.need(id, head, crate::access::Privileges::SELECT);
        let rows = self.family_rows(members, id, false)?;
        let rows = self.visible_family(id, head, rows)?;
        Ok((rows, Entry::of_relation(head, id, alias)))
    }

    /// The rows of a table and its heirs that are to be changed.
    pub(super) fn changed_family(&mut self, members: Vec<Arc<Relation>>, id: RelId) -> Result<Box<Family>> {
        let rows = self.family_rows(&members, id, true)?;
        Ok(Box::new(Family { members, rows }))
    }

    fn family_rows(&mut self, members: &[Arc<Relation>], id: RelId, changed: bool) -> Result<From> {
        let rows = family::rows(members, &mut self.ids, changed)?;
        self.families.insert(id, members[0].clone());
        Ok(From::Query { id, query: Box::new(rows), lateral: false })
    }

    /// `tableoid` of a relation in scope: that of each row where several tables stand behind it.
    pub(super) fn table_of_row(&self, id: RelId, relation: &Relation) -> ir::Expr {
        match self.families.get(&id) {
            Some(head) => ir::Hidden::Table.of(id, head),
            None => ir::Expr::integer(i64::from(relation.oid), crate::Type::Oid),
        }
    }
}
