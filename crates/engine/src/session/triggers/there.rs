//! What is written of a row of a server behind: the columns that somebody has given a value, and no others.
//!
//! A column that nobody names keeps what that server has in it, which may be more than its type here can say, and gets the
//! default that it has there. Which columns those are is known before the first row comes, but for what BEFORE triggers do.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::ir::apart::Apart;
use rowferry_dialect::ir::{
    Dml, DmlAction, ExprKind, InsertSource, Statement, TriggerEvent, TriggerLevel, TriggerTime,
};
use rowferry_dialect::plan::Bound;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Error, Result};

use super::super::parsed::Parsed;
use super::super::{Prepared, Session};
use super::plan::Steps;
use super::queue::Row;

/// Statements of one row, by the columns that they write.
#[derive(Debug)]
pub(crate) struct Written {
    /// Those that write every column.
    insert: Option<Dml>,
    update: Option<Dml>,
    /// The columns that an INSERT gives values.
    given: Vec<usize>,
    /// What the statements of one row are bound with.
    bound: Bound,
    parsed: Parsed,
    /// Those that triggers have made necessary.
    plans: Mutex<HashMap<Columns, Arc<Prepared>>>,
}

/// What is done to a row, and the columns that it writes.
type Columns = (TriggerEvent, Vec<usize>);

impl Written {
    /// `has_default` says of a column that it has a default there which is not known here.
    ///
    /// # Errors
    /// `0A000` where such a default would have to be known.
    pub fn of(
        dml: &Dml,
        bound: &Bound,
        parsed: &Parsed,
        apart: &Apart,
        has_default: &dyn Fn(&Relation, usize) -> bool,
    ) -> Result<Self> {
        let given = given_by(dml, has_default)?;
        let target = &dml.target;
        let left_out = |at: usize| !given.contains(&at) && has_default(target, at);
        if matches!(dml.action, DmlAction::Insert { .. })
            && target.has_trigger(TriggerTime::Before, TriggerLevel::Row, TriggerEvent::Insert)
            && (0..target.columns.len()).any(left_out)
        {
            return Err(default_there());
        }
        let bound = Bound {
            statement: Statement::Nothing { tag: "" },
            params: apart.params.clone(),
            columns: Vec::new(),
            inside: Vec::new(),
            notices: Vec::new(),
            ..bound.clone()
        };
        let (insert, update) = (apart.insert.clone(), apart.update.clone());
        Ok(Self { insert, update, given, bound, parsed: parsed.clone(), plans: Mutex::default() })
    }

    /// What writes a new row that no trigger changes.
    pub fn inserted(&self) -> Option<Dml> {
        self.insert.as_ref().map(|insert| narrowed(insert, &self.given))
    }

    /// What writes an old row that no trigger changes.
    pub fn updated(&self, assigned: &[usize]) -> Option<Dml> {
        self.update.as_ref().map(|update| narrowed(update, assigned))
    }
}

/// The columns that an INSERT gives values.
fn given_by(dml: &Dml, has_default: &dyn Fn(&Relation, usize) -> bool) -> Result<Vec<usize>> {
    let DmlAction::Insert { columns, source, .. } = &dml.action else { return Ok(Vec::new()) };
    let InsertSource::Values(rows) = source else { return Ok(columns.clone()) };
    let mut given = Vec::with_capacity(columns.len());
    for (place, at) in columns.iter().enumerate() {
        let is_default = |row: &Vec<_>| row.get(place).is_none_or(is_default);
        if rows.iter().all(is_default) {
            continue;
        }
        if rows.iter().any(is_default) && has_default(&dml.target, *at) {
            return Err(default_there());
        }
        given.push(*at);
    }
    Ok(given)
}

fn is_default(value: &rowferry_dialect::ir::Expr) -> bool {
    matches!(value.kind, ExprKind::Default)
}

pub(in super::super) fn default_there() -> Error {
    let message =
        "a default that only the PostgreSQL server knows, where rows go there one by one and it is to be known before";
    Error::unsupported(message).hint("Name the column, with a value.")
}

/// A statement of one row that writes these columns alone.
fn narrowed(dml: &Dml, written: &[usize]) -> Dml {
    let mut dml = dml.clone();
    match &mut dml.action {
        DmlAction::Insert { columns, source, .. } => {
            if let InsertSource::Values(rows) = source {
                for row in rows.iter_mut() {
                    let all = std::mem::take(row).into_iter().zip(columns.iter());
                    *row = all.filter(|(_, at)| written.contains(at)).map(|(value, _)| value).collect();
                }
            }
            columns.retain(|at| written.contains(at));
            if columns.is_empty() {
                *source = InsertSource::Defaults;
            }
        }
        DmlAction::Update { assignments, .. } => assignments.retain(|(at, _)| written.contains(at)),
        DmlAction::Delete { .. } => {}
    }
    dml
}

impl Session {
    /// The statement that writes a row of a server behind which triggers have made another than it was; `None` where the usual
    /// one does.
    pub(super) fn row_plan_there(
        &self,
        steps: &Steps,
        event: TriggerEvent,
        assigned: &[usize],
        before: &Row,
        after: &Row,
    ) -> Result<Option<Arc<Prepared>>> {
        let Some(written) = &steps.written else { return Ok(None) };
        let (usual, whole) = match event {
            TriggerEvent::Insert => (written.given.as_slice(), &written.insert),
            _ => (assigned, &written.update),
        };
        let changed = (0..after.len()).filter(|at| before.get(*at) != after.get(*at));
        let mut columns: Vec<usize> = changed.filter(|at| !usual.contains(at)).collect();
        let Some(whole) = whole.as_ref().filter(|_| !columns.is_empty()) else { return Ok(None) };
        columns.extend(usual);
        columns.sort_unstable();
        let key = (event, columns);
        if let Some(known) = written.plans.lock().get(&key).cloned() {
            return Ok(Some(known));
        }
        let statement = Statement::Dml(Box::new(narrowed(whole, &key.1)));
        let plan = self.part_there(Bound { statement, ..written.bound.clone() }, &written.parsed)?;
        written.plans.lock().insert(key, plan.clone());
        Ok(Some(plan))
    }
}
