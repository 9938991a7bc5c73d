//! MERGE: one statement of PostgreSQL's, over the rows that say what is to be done.

use super::{Lowering, is_users, missing, quote};
use crate::Result;
use crate::ir::{Again, Dml, DmlAction, InsertSource, Merge};

/// What the rows are called that say what is to be done.
const PLAN: &str = "plan";

impl Lowering<'_> {
    /// The rows' first column tells a row of the target from the others, their second which action is meant.
    pub(super) fn merge(&mut self, merge: &Merge) -> Result<String> {
        let Some(target) = merge.actions.first().map(|action| &action.target) else {
            return Err(missing("MERGE without an action"));
        };
        if merge.again == Again::Passed || merge.actions.iter().any(|action| action.target.oid != target.oid) {
            return Err(missing("a change of several tables"));
        }
        is_users(target)?;
        self.names_rows = true;
        let columns: Vec<String> = (0..merge.rows.columns.len()).map(|at| format!("c{at}")).collect();
        let rows = self.query(&merge.rows)?;
        self.row = Some(PLAN.to_owned());
        let mut out = format!(
            "WITH {PLAN} ({}) AS MATERIALIZED ({rows}) MERGE INTO ONLY {} AS merged USING {PLAN} ON {} = {PLAN}.c0",
            columns.join(", "),
            quote(&target.name),
            super::identity("merged"),
        );
        for (at, action) in merge.actions.iter().enumerate() {
            out.push_str(&self.merge_action(at, action)?);
        }
        self.row = None;
        Ok(out)
    }

    fn merge_action(&mut self, at: usize, action: &Dml) -> Result<String> {
        if action.guards.is_some() || !action.checks.is_empty() || !action.returning.is_empty() || action.view.is_some()
        {
            return Err(missing("a MERGE that is watched"));
        }
        let names = |at: &usize| quote(&action.target.columns[*at].name);
        Ok(match &action.action {
            DmlAction::Insert { columns, source: InsertSource::Values(rows), on_conflict: None } => {
                let [row] = rows.as_slice() else { return Err(missing("a MERGE of several rows")) };
                let columns: Vec<String> = columns.iter().map(names).collect();
                let values = self.new_row(&action.target, &action.action, row)?;
                let columns = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
                format!(" WHEN NOT MATCHED AND {PLAN}.c1 = {at} THEN INSERT{columns} VALUES {values}")
            }
            DmlAction::Update { assignments, from: None, current_of: None, .. } => {
                let set = self.assignments(assignments, action)?;
                format!(" WHEN MATCHED AND {PLAN}.c1 = {at} THEN UPDATE SET {set}")
            }
            DmlAction::Delete { using: None, current_of: None, .. } => {
                format!(" WHEN MATCHED AND {PLAN}.c1 = {at} THEN DELETE")
            }
            _ => return Err(missing("this action of MERGE")),
        })
    }
}
