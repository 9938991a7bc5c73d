//! MERGE: one statement of PostgreSQL's, as it is said.

use super::dml::spelled_out;
use super::{Lowering, is_users, missing, named, quote};
use crate::Result;
use crate::ir::{Dml, DmlAction, InsertSource, Merge};

impl Lowering<'_> {
    pub(super) fn merge(&mut self, merge: &Merge) -> Result<String> {
        is_users(&merge.target)?;
        if merge.family.is_some() {
            return Err(missing("a change of a family of tables"));
        }
        if merge.visible.is_some() {
            return Err(missing("a policy"));
        }
        let mut out = self.ctes(&merge.ctes)?;
        let alias = self.enter(merge.id, &merge.target);
        let source = self.from(&merge.source)?;
        let on = match &merge.on {
            Some(on) => self.expr(on)?,
            None => "true".to_owned(),
        };
        out.push_str(&format!("MERGE INTO {}{} AS {alias} USING {source} ON {on}", self.only(), named(&merge.target)));
        for clause in &merge.clauses {
            out.push_str(if clause.matched { " WHEN MATCHED" } else { " WHEN NOT MATCHED" });
            if let Some(condition) = &clause.condition {
                out.push_str(&format!(" AND {}", self.expr(condition)?));
            }
            match &clause.change {
                Some(change) => out.push_str(&format!(" THEN {}", self.merged(change)?)),
                None => out.push_str(" THEN DO NOTHING"),
            }
        }
        Ok(out)
    }

    /// What a clause does with the row that it is about.
    fn merged(&mut self, change: &Dml) -> Result<String> {
        if change.guards.is_some() || change.routing.is_some() {
            return Err(missing("a MERGE that is watched"));
        }
        let names = |at: &usize| quote(&change.target.columns[*at].name);
        Ok(match &change.action {
            DmlAction::Insert { columns, source: source @ InsertSource::Values(rows), on_conflict: None } => {
                let columns = spelled_out(&change.target, columns, source);
                let [row] = rows.as_slice() else { return Err(missing("a MERGE of several rows")) };
                let columns: Vec<String> = columns.iter().map(names).collect();
                let values = self.new_row(&change.target, &change.action, row)?;
                let columns = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
                format!("INSERT{columns} VALUES {values}")
            }
            DmlAction::Insert { source: InsertSource::Defaults, on_conflict: None, .. } => {
                "INSERT DEFAULT VALUES".to_owned()
            }
            DmlAction::Update { assignments, .. } => {
                format!("UPDATE SET {}", self.assignments(assignments, change)?)
            }
            DmlAction::Delete { .. } => "DELETE".to_owned(),
            DmlAction::Insert { .. } => return Err(missing("this action of MERGE")),
        })
    }
}
