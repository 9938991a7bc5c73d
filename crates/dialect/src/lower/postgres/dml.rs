//! INSERT, UPDATE, DELETE.

use super::query::is_default;
use super::{Lowering, is_users, missing, quote};
use crate::Result;
use crate::ir::{ConflictAction, Dml, DmlAction, Expr, InsertSource, OnConflict};

impl Lowering<'_> {
    pub(super) fn dml(&mut self, dml: &Dml) -> Result<String> {
        is_users(&dml.target)?;
        for (part, there) in [
            ("a change of a family of tables", dml.family.is_some()),
            ("a view that its triggers change", dml.view.is_some()),
            ("WITH CHECK OPTION", !dml.checks.is_empty()),
            ("a policy", dml.guards.is_some()),
        ] {
            if there {
                return Err(missing(part));
            }
        }
        let mut out = self.ctes(&dml.ctes)?;
        let alias = self.enter(dml.id, &dml.target);
        let table = format!("{} AS {alias}", quote(&dml.target.name));
        match &dml.action {
            DmlAction::Insert { columns, source, on_conflict } => {
                // Zero and NULL are the next number, and any other moves it.
                if dml.target.columns.iter().any(|column| column.identity.as_ref().is_some_and(|own| own.zero_is_next))
                {
                    return Err(missing("SERIAL"));
                }
                out.push_str(&format!("INSERT INTO {table}"));
                if !columns.is_empty() {
                    let names: Vec<String> = columns.iter().map(|at| quote(&dml.target.columns[*at].name)).collect();
                    out.push_str(&format!(" ({})", names.join(", ")));
                }
                match source {
                    InsertSource::Values(rows) => {
                        let rows: Result<Vec<String>> = rows.iter().map(|row| self.row_of_values(row)).collect();
                        out.push_str(&format!(" VALUES {}", rows?.join(", ")));
                    }
                    InsertSource::Query(query) => out.push_str(&format!(" {}", self.query(query)?)),
                    InsertSource::Defaults => out.push_str(" DEFAULT VALUES"),
                }
                if let Some(conflict) = on_conflict {
                    out.push_str(&self.on_conflict(conflict, dml)?);
                }
            }
            DmlAction::Update { assignments, from, filter, current_of } => {
                if current_of.is_some() {
                    return Err(missing("WHERE CURRENT OF"));
                }
                let from = match from {
                    Some(from) => format!(" FROM {}", self.from(from)?),
                    None => String::new(),
                };
                let set = self.assignments(assignments, dml)?;
                out.push_str(&format!("UPDATE ONLY {table} SET {set}{from}"));
                self.filter(filter.as_ref(), &mut out)?;
            }
            DmlAction::Delete { using, filter, current_of } => {
                if current_of.is_some() {
                    return Err(missing("WHERE CURRENT OF"));
                }
                out.push_str(&format!("DELETE FROM ONLY {table}"));
                if let Some(using) = using {
                    out.push_str(&format!(" USING {}", self.from(using)?));
                }
                self.filter(filter.as_ref(), &mut out)?;
            }
        }
        if !dml.returning.is_empty() {
            out.push_str(&format!(" RETURNING {}", self.exprs(&dml.returning)?));
        }
        Ok(out)
    }

    fn filter(&mut self, filter: Option<&Expr>, out: &mut String) -> Result<()> {
        if let Some(filter) = filter {
            out.push_str(&format!(" WHERE {}", self.expr(filter)?));
        }
        Ok(())
    }

    fn assignments(&mut self, assignments: &[(usize, Expr)], dml: &Dml) -> Result<String> {
        let mut words = Vec::with_capacity(assignments.len());
        for (at, value) in assignments {
            let value = if is_default(value) { "DEFAULT".to_owned() } else { self.expr(value)? };
            words.push(format!("{} = {value}", quote(&dml.target.columns[*at].name)));
        }
        Ok(words.join(", "))
    }

    fn on_conflict(&mut self, conflict: &OnConflict, dml: &Dml) -> Result<String> {
        let arbiter = match conflict.index {
            None => String::new(),
            Some(at) => {
                let index = &dml.target.indexes[at];
                let columns: Option<Vec<usize>> = index.columns.iter().copied().collect();
                let (Some(columns), None) = (columns, &index.predicate) else {
                    return Err(missing("this index as an arbiter"));
                };
                let names: Vec<String> = columns.iter().map(|at| quote(&dml.target.columns[*at].name)).collect();
                format!(" ({})", names.join(", "))
            }
        };
        Ok(match &conflict.action {
            ConflictAction::Nothing => format!(" ON CONFLICT{arbiter} DO NOTHING"),
            ConflictAction::Update { excluded, assignments, filter } => {
                self.enter_as(*excluded, &dml.target, "excluded".to_owned());
                let set = self.assignments(assignments, dml)?;
                let mut out = format!(" ON CONFLICT{arbiter} DO UPDATE SET {set}");
                self.filter(filter.as_ref(), &mut out)?;
                out
            }
        })
    }
}
