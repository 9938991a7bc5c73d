//! INSERT, UPDATE, DELETE.

use std::sync::Arc;

use super::ddl::pads_in_keys;
use super::query::is_default;
use super::{Lowering, is_users, missing, named, quote, sequence_of};
use crate::Result;
use crate::ir::{
    Body, ConflictAction, CteBody, Dml, DmlAction, Expr, ExprKind, InsertSource, OnConflict, Query, Value, next_of,
};
use crate::schema::{Column, Relation};

/// What stands in the error there when a view with CHECK OPTION does not show a row that was stored through it: a text that is no
/// number. The view's name follows in quotes, then digits.
pub const NOT_SHOWN: &str = "new row violates check option for view ";

impl Lowering<'_> {
    pub(super) fn dml(&mut self, dml: &Dml) -> Result<String> {
        is_users(&dml.target)?;
        for (part, there) in [
            ("a change of a family of tables", dml.family.is_some()),
            ("a view that its triggers change", dml.view.is_some()),
            ("a policy", dml.guards.is_some()),
        ] {
            if there {
                return Err(missing(part));
            }
        }
        if self.manner.mysql {
            self.one_by_one(dml)?;
            self.changes = !matches!(dml.action, DmlAction::Insert { .. });
        }
        let mut out = self.ctes(&dml.ctes)?;
        let alias = self.enter(dml.id, &dml.target);
        let table = format!("{} AS {alias}", named(&dml.target));
        match &dml.action {
            DmlAction::Insert { columns, source, on_conflict } => {
                out.push_str(&format!("INSERT INTO {table}"));
                let columns = &spelled_out(&dml.target, columns, source);
                if !columns.is_empty() {
                    let names: Vec<String> = columns.iter().map(|at| quote(&dml.target.columns[*at].name)).collect();
                    out.push_str(&format!(" ({})", names.join(", ")));
                }
                match source {
                    InsertSource::Values(rows) => {
                        let rows: Result<Vec<String>> =
                            rows.iter().map(|row| self.new_row(&dml.target, &dml.action, row)).collect();
                        out.push_str(&format!(" VALUES {}", rows?.join(", ")));
                    }
                    InsertSource::Query(query) => {
                        let rows = self.new_rows(&dml.target, columns, query)?;
                        out.push_str(&format!(" {rows}"));
                    }
                    InsertSource::Defaults => out.push_str(" DEFAULT VALUES"),
                }
                if let Some(conflict) = on_conflict {
                    out.push_str(&self.on_conflict(conflict, dml)?);
                }
            }
            DmlAction::Update { assignments, from, filter, current_of } => {
                // Which row it is stands in its condition.
                if current_of.is_some() && !self.names_rows {
                    return Err(missing("WHERE CURRENT OF"));
                }
                let from = match from {
                    Some(from) => format!(" FROM {}", self.from(from)?),
                    None => String::new(),
                };
                let set = self.assignments(assignments, dml)?;
                out.push_str(&format!("UPDATE {}{table} SET {set}{from}", self.only()));
                self.filter(filter.as_ref(), &mut out)?;
            }
            DmlAction::Delete { using, filter, current_of } => {
                // Which row it is stands in its condition.
                if current_of.is_some() && !self.names_rows {
                    return Err(missing("WHERE CURRENT OF"));
                }
                out.push_str(&format!("DELETE FROM {}{table}", self.only()));
                if let Some(using) = using {
                    out.push_str(&format!(" USING {}", self.from(using)?));
                }
                self.filter(filter.as_ref(), &mut out)?;
            }
        }
        let checked = self.checked(dml)?;
        if let (Some(checked), true, [first, rest @ ..]) = (&checked, self.known.is_some(), dml.returning.as_slice()) {
            // Written row by row: what is returned first is where the row lies.
            let mut items = vec![format!("CASE WHEN {checked} = 0 THEN {} END", self.expr(first)?)];
            for item in rest {
                items.push(self.expr(item)?);
            }
            out.push_str(&format!(" RETURNING {}", items.join(", ")));
            return Ok(out);
        }
        match (checked, self.may_check) {
            (Some(_), false) => return Err(missing("WITH CHECK OPTION")),
            (checked, _) => self.row_checked = checked,
        }
        if !dml.returning.is_empty() {
            out.push_str(&format!(" RETURNING {}", self.exprs(&dml.returning)?));
        }
        Ok(out)
    }

    /// What is asked of each row when it has been stored: 0, or it fails, with words that say which view does not show it.
    fn checked(&mut self, dml: &Dml) -> Result<Option<String>> {
        if dml.checks.is_empty() {
            return Ok(None);
        }
        let mut branches = String::new();
        for check in &dml.checks {
            let condition = self.expr(&check.condition)?;
            let failed = super::text(&format!("{NOT_SHOWN}\"{}\"", check.view));
            branches.push_str(&format!(
                " WHEN ({condition}) IS NOT TRUE THEN ({failed} || pg_backend_pid()::text)::integer"
            ));
        }
        Ok(Some(format!("(CASE{branches} ELSE 0 END)")))
    }

    /// A change of several tables, one of them the statement's and the others members of its WITH, as a query of how many rows
    /// it has changed.
    pub(super) fn changes_of_several(&mut self, dml: &Dml) -> Result<String> {
        let mut counts = Vec::new();
        let mut members = Vec::new();
        for (at, cte) in dml.ctes.iter().enumerate() {
            let CteBody::Dml(beside) = &cte.body else {
                self.changes = true;
                members.push(self.cte(cte)?);
                continue;
            };
            members.push(format!("beside{at} AS ({} RETURNING 1)", self.dml(beside)?));
            counts.push(format!("(SELECT count(*) FROM beside{at})"));
        }
        let own = Dml { ctes: Vec::new(), ..dml.clone() };
        members.push(format!("own AS ({} RETURNING 1)", self.dml(&own)?));
        counts.push("(SELECT count(*) FROM own)".to_owned());
        Ok(format!("WITH {} SELECT {} AS c0", members.join(", "), counts.join(" + ")))
    }

    fn filter(&mut self, filter: Option<&Expr>, out: &mut String) -> Result<()> {
        if let Some(filter) = filter {
            out.push_str(&format!(" WHERE {}", self.expr(filter)?));
        }
        Ok(())
    }

    /// A row to be inserted.
    pub(super) fn new_row(&mut self, target: &Relation, action: &DmlAction, row: &[Expr]) -> Result<String> {
        let DmlAction::Insert { columns, .. } = action else { return Err(missing("a row of no INSERT")) };
        let mut values = Vec::with_capacity(row.len());
        for (at, value) in row.iter().enumerate() {
            let column = &target.columns[columns.get(at).map_or(at, |position| *position)];
            values.push(match &value.kind {
                ExprKind::Numbered { given, .. } if given.as_deref().is_none_or(is_zero) => "DEFAULT".to_owned(),
                ExprKind::Numbered { given, .. } => {
                    let given = given.as_deref().map(|value| self.expr(value)).transpose()?;
                    numbered(target, column, given.as_deref(), true)
                }
                _ if column.identity.is_some() && next_of(value).is_some() => "DEFAULT".to_owned(),
                // Where a zero is a number like others.
                _ if self.manner.mysql && column.identity.is_some() && !is_default(value) => {
                    let given = self.expr(value)?;
                    numbered(target, column, Some(&given), false)
                }
                _ => self.expr(value)?,
            });
        }
        Ok(format!("({})", values.join(", ")))
    }

    /// The rows of a query to be inserted. They are numbered behind it: as they come, one after the other.
    fn new_rows(&mut self, target: &Relation, columns: &[usize], query: &Query) -> Result<String> {
        let mut query = query.clone();
        let mut own = vec![None; query.columns.len()];
        if let Body::Select(select) = &mut query.body {
            for (at, item) in select.items.iter_mut().enumerate() {
                let column = columns.get(at).map_or(at, |position| *position);
                let is_plain = !matches!(item.kind, ExprKind::Numbered { .. });
                if is_plain && self.manner.mysql && target.columns[column].identity.is_some() {
                    own[at] = Some((column, false));
                }
                if let ExprKind::Numbered { given, .. } = &mut item.kind {
                    own[at] = Some((column, true));
                    *item = given.take().map_or_else(|| Expr::null(item.ty.clone()), |given| *given);
                }
            }
        }
        let rows = self.query(&query)?;
        if own.iter().all(Option::is_none) {
            return Ok(rows);
        }
        let places: Vec<String> = (0..query.columns.len()).map(|at| format!("c{at}")).collect();
        let values = places.iter().zip(own).map(|(place, own)| match own {
            Some((column, zero)) => numbered(target, &target.columns[column], Some(&format!("given.{place}")), zero),
            None => format!("given.{place}"),
        });
        let values: Vec<String> = values.collect();
        Ok(format!("SELECT {} FROM ({rows}) AS given ({})", values.join(", "), places.join(", ")))
    }

    pub(super) fn assignments(&mut self, assignments: &[(usize, Expr)], dml: &Dml) -> Result<String> {
        let mut words = Vec::with_capacity(assignments.len());
        for (at, value) in assignments {
            let value = match said_number(value) {
                // What is said is what the column becomes.
                Some(number) if self.manner.mysql && self.number_said.is_none() => {
                    self.number_said = Some(*at);
                    format!("({})::{}", self.expr(number)?, super::type_words(&value.ty)?)
                }
                _ if is_default(value) => "DEFAULT".to_owned(),
                _ => self.expr(value)?,
            };
            words.push(format!("{} = {value}", quote(&dml.target.columns[*at].name)));
        }
        Ok(words.join(", "))
    }

    fn on_conflict(&mut self, conflict: &OnConflict, dml: &Dml) -> Result<String> {
        let arbiter = match &conflict.arbiter {
            None if self.manner.mysql && !matches!(conflict.action, ConflictAction::Nothing) => self.arbiter(dml)?,
            None => String::new(),
            Some(arbiter) => {
                let index = &dml.target.indexes[arbiter.index];
                let columns: Option<Vec<usize>> = index.columns.iter().copied().collect();
                let (Some(columns), None) = (columns, &index.predicate) else {
                    return Err(missing("this index as an arbiter"));
                };
                format!(" ({})", keys_of(&dml.target, &columns))
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

impl Lowering<'_> {
    /// What MySQL does row by row, where PostgreSQL does the same for all of them.
    fn one_by_one(&mut self, dml: &Dml) -> Result<()> {
        let Some(rule) = &dml.one_by_one else { return self.note_rows(dml, false) };
        if !rule.order.is_empty() {
            return Err(missing("an UPDATE whose ORDER BY decides which keys are free"));
        }
        match &dml.action {
            DmlAction::Insert { .. } if rule.replaces => {
                // Who refers to a row that is replaced loses it, or stands in the way.
                if self.known.is_some_and(|known| known.is_referred_to(&dml.target)) {
                    return Err(missing("REPLACE of rows to which foreign keys refer"));
                }
                self.note_rows(dml, true)
            }
            DmlAction::Insert { .. } => Ok(()),
            _ if rule.ignores => Err(missing("UPDATE IGNORE and DELETE IGNORE")),
            _ => Ok(()),
        }
    }

    /// Rows that stay as they are count where they are told.
    fn note_rows(&mut self, dml: &Dml, replaces: bool) -> Result<()> {
        let DmlAction::Insert { source, on_conflict: Some(conflict), .. } = &dml.action else { return Ok(()) };
        if matches!(conflict.action, ConflictAction::Nothing) || !replaces && !self.manner.counts_found {
            return Ok(());
        }
        match source {
            InsertSource::Values(rows) => self.rows_told = Some(rows.len()),
            InsertSource::Defaults => self.rows_told = Some(1),
            InsertSource::Query(_) => return Err(missing("a query's rows, some of which are there already,")),
        }
        Ok(())
    }

    /// The only key that a row can have in common with one that is there.
    fn arbiter(&self, dml: &Dml) -> Result<String> {
        let DmlAction::Insert { columns, source, .. } = &dml.action else { return Err(missing("a row of no INSERT")) };
        // A number that the column gives itself is no other row's.
        let is_fresh = |column: usize| {
            let Some(at) = columns.iter().position(|known| *known == column) else { return !columns.is_empty() };
            let asks = |value: &Expr| match &value.kind {
                ExprKind::Numbered { given, .. } => given.as_deref().is_none_or(is_zero),
                _ => next_of(value).is_some(),
            };
            matches!(source, InsertSource::Values(rows) if rows.iter().all(|row| row.get(at).is_none_or(asks)))
        };
        let numbers = |column: usize| dml.target.columns[column].identity.is_some() && is_fresh(column);
        let mut keys =
            dml.target.indexes.iter().filter(|index| {
                index.unique && !matches!(index.columns.as_slice(), [Some(column)] if numbers(*column))
            });
        let (Some(key), None) = (keys.next(), keys.next()) else {
            return Err(missing("ON DUPLICATE KEY UPDATE and REPLACE where several keys may be in the way"));
        };
        let columns: Option<Vec<usize>> = key.columns.iter().copied().collect();
        let (Some(columns), None) = (columns, &key.predicate) else {
            return Err(missing("this index as an arbiter"));
        };
        Ok(format!(" ({})", keys_of(&dml.target, &columns)))
    }
}

/// The columns of a key, as it has them.
fn keys_of(target: &Relation, columns: &[usize]) -> String {
    let key = |at: &usize| {
        let column = &target.columns[*at];
        let name = quote(&column.name);
        if pads_in_keys(&column.ty, column.collation.as_deref()) { format!("rtrim({name}, ' ')") } else { name }
    };
    columns.iter().map(key).collect::<Vec<String>>().join(", ")
}

/// The columns of an INSERT that names none: they may stand in another order there.
pub(super) fn spelled_out(target: &Relation, columns: &[usize], source: &InsertSource) -> Vec<usize> {
    let given = match source {
        InsertSource::Values(rows) => rows.first().map_or(0, Vec::len),
        InsertSource::Query(query) => query.columns.len(),
        InsertSource::Defaults => 0,
    };
    if columns.is_empty() { (0..given.min(target.columns.len())).collect() } else { columns.to_vec() }
}

/// What `LAST_INSERT_ID(n)` says, where a column is assigned that.
pub(super) fn said_number(value: &Expr) -> Option<&Expr> {
    match &value.kind {
        ExprKind::Call { function, args } if function.name == "last_insert_id" => args.first(),
        ExprKind::Cast { arg, .. } | ExprKind::Checked { arg, .. } if arg.ty.is_integer() => said_number(arg),
        _ => None,
    }
}

/// A number that stands for the next one.
fn is_zero(given: &Expr) -> bool {
    matches!(given.kind, ExprKind::Literal(Value::Integer(0) | Value::Null))
}

/// What leaves tables as TRUNCATE does, where no foreign key looks: numbers begin anew.
pub fn emptied(tables: &[Arc<Relation>]) -> String {
    let mut words = Vec::new();
    for table in tables {
        words.push(format!("DELETE FROM {}", named(table)));
        for column in table.columns.iter().filter(|column| column.identity.is_some()) {
            let sequence = sequence_of(table, &column.name);
            let first = format!("SELECT seqstart FROM pg_sequence WHERE seqrelid = {sequence}");
            words.push(format!("SELECT setval({sequence}, ({first}), false)"));
        }
    }
    words.join("; ")
}

/// The number of a row: the next one, or one that others come behind. A zero asks for the next one, too, as `zero` says.
fn numbered(target: &Relation, column: &Column, given: Option<&str>, zero: bool) -> String {
    let sequence = sequence_of(target, &column.name);
    let Some(given) = given else { return format!("nextval({sequence})") };
    let asks = if zero { "coalesce(v, 0) = 0" } else { "v IS NULL" };
    let last = format!(
        "coalesce(pg_sequence_last_value({sequence}), (SELECT seqstart - 1 FROM pg_sequence WHERE seqrelid = {sequence}))"
    );
    format!(
        "(SELECT CASE WHEN {asks} THEN nextval({sequence}) WHEN v > {last} THEN setval({sequence}, v) ELSE v END \
         FROM (SELECT {given}) AS value (v))"
    )
}
