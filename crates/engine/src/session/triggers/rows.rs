//! A change row by row.
//!
//! | for each row | INSERT | UPDATE | DELETE |
//! |---|---|---|---|
//! | BEFORE triggers | may change it, or drop it | the same | may keep it |
//! | policies | are asked of it as it then is | the same; of the row in the way of an INSERT, too | of MERGE: of the row |
//! | the row | is written, or meets a row in its way: DO UPDATE goes on as an UPDATE | is written | goes |
//! | noted for the end | the row as written | both, as they were and are | the row as it was |
//! | RETURNING | of the row as written | the same | of the row as it was |
//!
//! All rows are known before the first is written. What a BEFORE trigger has done to a row that is still to come is not
//! overwritten: that is an error, as in PostgreSQL.

use std::sync::Arc;

use rowferry_dialect::ir::{Guard, TriggerEvent, TriggerLevel, TriggerTime, Value};
use rowferry_dialect::schema::{Column, Relation};
use rowferry_dialect::values::{self, Settings};
use rowferry_dialect::{Condition, Error, Language, Result, heritage};

use super::super::state::Met;
use super::super::{Prepared, Session};
use super::calls::{canonical, canonical_value};
use super::plan::{Asking, Firing, Steps};
use super::queue::{Changes, Row};
use crate::backend::Handle;
use crate::spool::SpoolReader;

/// What one run has at hand for each of its rows.
struct Run<'a> {
    firing: &'a Firing,
    steps: &'a Steps,
    /// The statement's own parameters, where its rows need them.
    params: &'a [Value],
    settings: Arc<Settings>,
    /// The table that the statement names, where rows move between its partitions.
    head: Option<&'a Arc<Relation>>,
    /// What ON CONFLICT has met of the row that is written.
    met: Met,
    /// A row that is to move.
    moved: Option<Row>,
    /// Rows that are to go when all BEFORE triggers have been asked: foreign keys take others along.
    going: Vec<(i64, Row, Vec<Value>)>,
}

/// A row that has been written.
struct Written {
    rowid: Value,
    row: Row,
}

impl Session {
    /// Makes a change row by row.
    pub(in super::super) fn change_by_rows(
        &mut self,
        firing: &Firing,
        params: &[Value],
        changes: &mut Changes,
    ) -> Result<()> {
        self.change_each(firing, params, changes, None).map(drop)
    }

    /// Makes a change of rows that may have to move to other partitions of a table: yields one that has to.
    pub(in super::super) fn change_within(
        &mut self,
        firing: &Firing,
        params: &[Value],
        changes: &mut Changes,
        head: &Arc<Relation>,
    ) -> Result<Option<Row>> {
        self.change_each(firing, params, changes, Some(head))
    }

    fn change_each(
        &mut self,
        firing: &Firing,
        params: &[Value],
        changes: &mut Changes,
        head: Option<&Arc<Relation>>,
    ) -> Result<Option<Row>> {
        let Some(steps) = &firing.steps else { return Err(Error::internal("a change that was not taken apart")) };
        let of_row = if steps.at.outer == 0 { &[] } else { params };
        if of_row.len() != steps.at.outer {
            return Err(Error::internal(format!("{} parameters for {}", params.len(), steps.at.outer)));
        }
        let settings = self.state.settings();
        let (met, going) = (Met::Nobody, Vec::new());
        let mut run = Run { firing, steps, params: of_row, settings, head, met, moved: None, going };
        let deferring = steps.defers_keys && self.defer_keys()?;
        let mut coming = self.rows_to_come(&steps.rows, params)?;
        let in_turn = coming.is_in_turn();
        loop {
            let before = if in_turn { self.total_changes()? } else { 0 };
            let Some(row) = self.next_to_come(&mut coming)? else { break };
            changes.meddled |= in_turn && self.total_changes()? != before;
            if self.interrupter.must_stop() {
                return Err(self.interrupter.error());
            }
            let done = match firing.events[0] {
                TriggerEvent::Insert => self.insert_row(&mut run, changes, row),
                TriggerEvent::Update => self.update_row(&mut run, changes, row, 0, false),
                _ => self.delete_row(&mut run, changes, row),
            };
            match done {
                Err(error) if firing.ignores && refuses_row(&error) => self.pass_over(&error),
                done => done?,
            }
        }
        for (rowid, old, extras) in std::mem::take(&mut run.going) {
            // A foreign key of the table to itself may have taken it already.
            if self.row_now(&run, changes, rowid)?.is_some() {
                self.write_delete(&run, changes, rowid, &old, &extras)?;
            }
        }
        if deferring {
            self.check_deferred_keys(&changes.relation)?;
        }
        Ok(run.moved)
    }

    /// IGNORE: a row that is refused is told of, and not changed.
    fn pass_over(&self, refused: &Error) {
        let told = rowferry_dialect::mysql::told::told(refused);
        let warning = Error::new(Condition::Warning, told.message).with_mysql(told.code, "HY000");
        self.state.notices.lock().push(warning);
    }

    /// The same of a row whose key is there: which key that is.
    fn pass_over_duplicate(&mut self, run: &Run<'_>, relation: &Relation, new: &Row, params: &[Value]) -> Result<()> {
        let Some(conflict) = &run.steps.conflict else {
            return Err(Error::internal("a row that is not there and not refused"));
        };
        let mut found = self.run_part(conflict, params)?;
        let mut first = usize::MAX;
        while found.advance()? {
            let shared = (0..found.columns()).find(|at| found.column(*at).to_value() == Value::Integer(1));
            first = first.min(shared.unwrap_or(usize::MAX));
        }
        let index = match relation.keys_in_order().get(first).map(|at| &relation.indexes[*at]) {
            Some(index) => index,
            // Somebody has taken the other row away meanwhile.
            None if run.firing.there => match relation.keys_in_order().first().map(|at| &relation.indexes[*at]) {
                Some(index) => index,
                None => return Ok(()),
            },
            None => return Err(Error::internal("a key that no row has")),
        };
        let mut shown = Vec::with_capacity(index.columns.len());
        for at in index.columns.iter().flatten() {
            shown.push(values::output(&new[*at], &relation.columns[*at].ty, &run.settings)?);
        }
        let message = format!("duplicate key value violates unique constraint \"{}\"", index.name);
        let refused = Error::new(Condition::UniqueViolation, message)
            .table(relation.namespace.clone(), relation.name.clone())
            .constraint(index.name.clone())
            .detail(format!("Key ()=({}) already exists.", shown.join(", ")));
        self.pass_over(&refused);
        Ok(())
    }

    fn insert_row(&mut self, run: &mut Run<'_>, changes: &mut Changes, rows: &SpoolReader) -> Result<()> {
        run.met = Met::Nobody;
        let relation = changes.relation.clone();
        let new: Row = Arc::new(canonical(rows, 0, &relation, &run.settings)?);
        let (event, assigned) = (TriggerEvent::Insert, &run.firing.assigned);
        let Some(insert) = &run.steps.insert else {
            return self.instead(run, changes, event, None, Some(new), Vec::new());
        };
        let given = new.clone();
        let new = match &run.steps.number {
            Some(number) => self.numbered_there(number, &relation, new)?,
            None => self.numbered(&relation, new, changes.spare.take())?,
        };
        let numbered = !Arc::ptr_eq(&given, &new);
        if numbered && self.language() == Language::Mysql {
            changes.spare = number_of(&relation, &new);
        }
        let asked = self.ask(changes, TriggerTime::Before, event, assigned, None, Some(new))?;
        let Some(Some(new)) = asked else { return Ok(()) };
        if relation.has_trigger(TriggerTime::Before, TriggerLevel::Row, event) && relation.bound().is_some() {
            let _ = self.place_of(&relation, &new)??;
        }
        let new = self.with_computed(run, &relation, Value::Null, new)?;
        let own = self.row_plan_there(run.steps, event, &[], &given, &new)?;
        let insert = own.as_deref().unwrap_or(insert);
        let params = self.row_params(run, Value::Null, &new, &[]);
        self.ask_policies(run, &params, |asking| (&asking.inserted, &asking.guards.inserted))?;
        for trigger in &run.steps.avoids {
            if self.would_be_excluded(&relation, trigger, &new)? {
                return Ok(());
            }
        }
        let mut written = self.write_part(insert, &params, &relation, &new, &run.settings)?;
        if !written.advance()? {
            if run.firing.ignores {
                return self.pass_over_duplicate(run, &relation, &new, &params);
            }
            if !run.firing.replaces {
                return self.conflict(run, changes, &params);
            }
            self.make_room(run, changes, &params)?;
            written = self.write_part(insert, &params, &relation, &new, &run.settings)?;
            if !written.advance()? {
                return Err(Error::internal("something stands in the way of a row that takes its place"));
            }
        }
        changes.spare = None;
        let written = read_back(&written, changes, run)?;
        let own = |column: &Column| column.identity.is_some();
        if let Some(at) = relation.columns.iter().position(own).filter(|_| run.firing.there) {
            let asked = matches!(given[at], Value::Null | Value::Integer(0));
            if let Value::Integer(number) = written.row[at]
                // MySQL's clients are told of the first that numbered itself.
                && !(changes.first_numbered && self.language() == Language::Mysql)
            {
                changes.last_rowid = Some(number);
                changes.first_numbered |= asked;
            }
        } else if let Value::Integer(rowid) = written.rowid {
            // MySQL's clients are told of the first that numbered itself.
            if !(changes.first_numbered && self.language() == Language::Mysql) {
                changes.last_rowid = Some(rowid);
                changes.first_numbered |= numbered;
            }
            changes.written.insert(rowid);
        }
        self.note_row(run.firing, changes, event, None, Some(written.row.clone()), &written.rowid)?;
        self.yield_row(run, changes, written.rowid, &written.row, &[])
    }

    /// Writes a row; one that must not be there is shown.
    fn write_part(
        &mut self,
        part: &Prepared,
        params: &[Value],
        relation: &Relation,
        row: &[Value],
        settings: &Settings,
    ) -> Result<SpoolReader> {
        self.run_part(part, params).map_err(|error| {
            let refused = matches!(error.condition(), Condition::NotNullViolation | Condition::CheckViolation);
            // What the back end would compute nobody has computed yet.
            let known = relation.columns.iter().all(|column| column.generated.is_none() || column.is_computed());
            if !refused || !known || error.detail.is_some() || error.data_type.is_some() {
                return error;
            }
            let shown = row.iter().zip(&relation.columns).map(|(value, column)| match value {
                Value::Null => Ok("null".to_owned()),
                value => values::output(value, &column.ty, settings),
            });
            match shown.collect::<Result<Vec<_>>>() {
                Ok(shown) => error.failing_row(shown),
                Err(_) => error,
            }
        })
    }

    /// A row that is to be written, with what the engine computes of it.
    fn with_computed(&mut self, run: &Run<'_>, relation: &Relation, rowid: Value, row: Row) -> Result<Row> {
        let Some(computed) = &run.steps.computed else { return Ok(row) };
        let params = self.row_params(run, rowid, &row, &[]);
        let mut found = self.run_part(computed, &params)?;
        if !found.advance()? {
            return Err(Error::internal("columns that could not be computed"));
        }
        let mut row = Vec::clone(&row);
        let places = (0..row.len()).filter(|at| relation.columns[*at].is_computed());
        for (column, at) in places.enumerate() {
            let value = found.column(column).to_value();
            row[at] = canonical_value(value, &relation.columns[at].ty, &run.settings)?;
        }
        Ok(Arc::new(row))
    }

    /// REPLACE: the rows that have a key of the new one go.
    fn make_room(&mut self, run: &mut Run<'_>, changes: &mut Changes, params: &[Value]) -> Result<()> {
        let (Some(conflict), relation) = (&run.steps.conflict, changes.relation.clone()) else {
            return Err(Error::internal("REPLACE without what stands in its way"));
        };
        let before = self.state.mysql.lock().beside();
        let mut found = self.run_part(conflict, params)?;
        let mut rows = Vec::new();
        while found.advance()? {
            let Value::Integer(rowid) = found.column(0).to_value() else {
                return Err(Error::internal("a row without rowid"));
            };
            let old: Row = Arc::new(canonical(&found, 1, &relation, &run.settings)?);
            rows.push((rowid, old));
        }
        // Each counts, whether it is another row or not.
        self.state.mysql.lock().set_beside(before + rows.len() as u64);
        for (rowid, old) in rows {
            if self.ask(changes, TriggerTime::Before, TriggerEvent::Delete, &[], Some(&old), None)?.is_none() {
                continue;
            }
            self.write_delete(run, changes, rowid, &old, &[])?;
            changes.changed -= 1;
        }
        Ok(())
    }

    /// ON CONFLICT.
    fn conflict(&mut self, run: &mut Run<'_>, changes: &mut Changes, params: &[Value]) -> Result<()> {
        let Some(conflict) = &run.steps.conflict else { return Ok(()) };
        if let Some(holds) = &run.steps.holds {
            let found = self.row_in_the_way(holds, changes, params)?;
            if found.column(1).to_value() != Value::Integer(1) {
                return Ok(());
            }
        }
        let found = self.row_in_the_way(conflict, changes, params)?;
        if let Value::Integer(rowid) = found.column(0).to_value() {
            run.met = Met::Row(Some(rowid));
        }
        if run.steps.guards.is_some() {
            // Before WHERE is, as PostgreSQL does.
            let old: Row = Arc::new(canonical(&found, 1, &changes.relation, &run.settings)?);
            self.ask_of_met(run, &old, &[])?;
        }
        let width = changes.relation.columns.len();
        let holds = run.steps.holds.is_some() || found.column(1 + 2 * width).to_value() == Value::Integer(1);
        if self.language() == Language::Mysql {
            let mut state = self.state.mysql.lock();
            // A row that is changed counts twice, one that was found may count.
            let beside = state.beside() + u64::from(holds || state.counts_found());
            state.set_beside(beside);
        }
        if !holds {
            return Ok(());
        }
        self.update_row(run, changes, &found, 0, true)
    }

    /// The row that stands in the way of an INSERT, which must not be one that the statement itself has written.
    fn row_in_the_way(&mut self, query: &Prepared, changes: &Changes, params: &[Value]) -> Result<SpoolReader> {
        let mut found = self.run_part(query, params)?;
        if !found.advance()? {
            if self.line().is_some() {
                let message = "the row that stood in the way is not there any more, or not seen";
                return Err(Error::new(Condition::SerializationFailure, message).hint("Try it again."));
            }
            return Err(Error::internal("nothing stands in the way of a row that could not be inserted"));
        }
        if let Value::Integer(rowid) = found.column(0).to_value()
            && changes.written.contains(&rowid)
            // MySQL changes it as often as it is met.
            && self.language() != Language::Mysql
        {
            let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
            let hint = "Ensure that no rows proposed for insertion within the same command have duplicate constrained \
                        values.";
            return Err(Error::new(Condition::CardinalityViolation, message).hint(hint));
        }
        Ok(found)
    }

    /// An UPDATE of a row; `conflicting` says that an INSERT has met it.
    fn update_row(
        &mut self,
        run: &mut Run<'_>,
        changes: &mut Changes,
        rows: &SpoolReader,
        from: usize,
        conflicting: bool,
    ) -> Result<()> {
        let relation = changes.relation.clone();
        let width = relation.columns.len();
        let old: Row = Arc::new(canonical(rows, from + 1, &relation, &run.settings)?);
        let new: Row = Arc::new(canonical(rows, from + 1 + width, &relation, &run.settings)?);
        let (event, assigned) = (TriggerEvent::Update, &run.firing.assigned);
        let extras = extras(rows, from + 1 + 2 * width, if conflicting { 0 } else { run.steps.at.extras });
        let Some(update) = &run.steps.update else {
            return self.instead(run, changes, event, Some(old), Some(new), extras);
        };
        let Value::Integer(rowid) = rows.column(from).to_value() else {
            return Err(Error::internal("a row without rowid"));
        };
        let asked = from + 1 + 2 * width + run.steps.at.extras;
        if run.steps.asks_changes && !conflicting && rows.column(asked).to_value() != Value::Integer(1) {
            return Ok(());
        }
        // A row that several rows of FROM meet is changed once.
        if !changes.written.insert(rowid) && !conflicting {
            return Ok(());
        }
        if !conflicting {
            self.ask_of_met(run, &old, &extras)?;
        }
        let coming = new.clone();
        let asked = self.ask(changes, TriggerTime::Before, event, assigned, Some(&old), Some(new))?;
        let Some(Some(new)) = asked else { return Ok(()) };
        let own = self.row_plan_there(run.steps, event, assigned, &coming, &new)?;
        let update = own.as_ref().unwrap_or(update);
        if !self.is_untouched(run, changes, rowid, &old, "updated")? {
            return Ok(());
        }
        if self.is_parted(&relation, &old, &new) && !self.stays(run, &relation, &new, conflicting)? {
            run.moved = Some(new);
            return Ok(());
        }
        let new = self.with_computed(run, &relation, Value::Integer(rowid), new)?;
        let params = self.row_params(run, Value::Integer(rowid), &new, &extras);
        self.ask_policies(run, &params, |asking| (&asking.updated, &asking.guards.updated))?;
        if run.steps.cascades {
            self.cascade(changes, event, &old, Some(&new))?;
        }
        let mut written = self.write_part(update, &params, &relation, &new, &run.settings)?;
        if !written.advance()? {
            if run.firing.there {
                let message = "a row that a trigger has changed before it was changed itself";
                return Err(Error::unsupported(format!("{message}, in front of a PostgreSQL server")));
            }
            return Ok(());
        }
        let written = read_back(&written, changes, run)?;
        if let Value::Integer(rowid) = written.rowid {
            changes.written.insert(rowid);
        }
        let own = |column: &Column| column.identity.is_some();
        // MySQL's clients are told of the row that an upsert has met.
        if conflicting
            && (run.firing.there || self.language() == Language::Mysql)
            && !changes.first_numbered
            && let Some(at) = relation.columns.iter().position(own)
            && let Value::Integer(number) = written.row[at]
        {
            changes.last_rowid = Some(number);
        }
        self.note_row(run.firing, changes, event, Some(old), Some(written.row.clone()), &written.rowid)?;
        self.yield_row(run, changes, written.rowid, &written.row, &extras)
    }

    fn delete_row(&mut self, run: &mut Run<'_>, changes: &mut Changes, rows: &SpoolReader) -> Result<()> {
        let relation = changes.relation.clone();
        let old: Row = Arc::new(canonical(rows, 1, &relation, &run.settings)?);
        let (event, assigned) = (TriggerEvent::Delete, &run.firing.assigned);
        let extras = extras(rows, 1 + relation.columns.len(), run.steps.at.extras);
        if run.steps.delete.is_none() {
            return self.instead(run, changes, event, Some(old), None, extras);
        }
        let Value::Integer(rowid) = rows.column(0).to_value() else {
            return Err(Error::internal("a row without rowid"));
        };
        if !changes.written.insert(rowid) {
            return Ok(());
        }
        if run.steps.guards.is_some() {
            let params = self.row_params(run, Value::Integer(rowid), &old, &extras);
            self.ask_policies(run, &params, |asking| (&asking.deleted, &asking.guards.deleted))?;
        }
        if self.ask(changes, TriggerTime::Before, event, assigned, Some(&old), None)?.is_none() {
            return Ok(());
        }
        if !self.is_untouched(run, changes, rowid, &old, "deleted")? {
            return Ok(());
        }
        if run.steps.cascades {
            run.going.push((rowid, old, extras));
            return Ok(());
        }
        self.write_delete(run, changes, rowid, &old, &extras)
    }

    fn write_delete(
        &mut self,
        run: &Run<'_>,
        changes: &mut Changes,
        rowid: i64,
        old: &Row,
        extras: &[Value],
    ) -> Result<()> {
        let Some(delete) = &run.steps.delete else { return Err(Error::internal("a DELETE without its statement")) };
        if run.steps.cascades {
            self.cascade(changes, TriggerEvent::Delete, old, None)?;
        }
        let params = self.row_params(run, Value::Integer(rowid), old, extras);
        self.run_part(delete, &params)?;
        self.note_row(run.firing, changes, TriggerEvent::Delete, Some(old.clone()), None, &Value::Null)?;
        self.yield_row(run, changes, Value::Integer(rowid), old, extras)
    }

    /// A row of a view, which its INSTEAD OF triggers take.
    fn instead(
        &mut self,
        run: &Run<'_>,
        changes: &mut Changes,
        event: TriggerEvent,
        old: Option<Row>,
        new: Option<Row>,
        extras: Vec<Value>,
    ) -> Result<()> {
        let asked = self.ask(changes, TriggerTime::InsteadOf, event, &run.firing.assigned, old.as_ref(), new)?;
        let Some(new) = asked else { return Ok(()) };
        let Some(row) = new.or(old) else { return Ok(()) };
        self.yield_row(run, changes, Value::Null, &row, &extras)
    }

    /// Refuses to update a row that ON CONFLICT or MERGE has met, where policies do not show it.
    fn ask_of_met(&mut self, run: &Run<'_>, old: &Row, extras: &[Value]) -> Result<()> {
        if run.steps.guards.is_none() {
            return Ok(());
        }
        let params = self.row_params(run, Value::Null, old, extras);
        self.ask_policies(run, &params, |asking| (&asking.met, &asking.guards.met))
    }

    /// Refuses a row that policies do not let pass.
    fn ask_policies(
        &mut self,
        run: &Run<'_>,
        params: &[Value],
        which: impl for<'g> FnOnce(&'g Asking) -> (&'g Option<Arc<Prepared>>, &'g Vec<Guard>),
    ) -> Result<()> {
        let Some(asking) = &run.steps.guards else { return Ok(()) };
        let (Some(query), guards) = which(asking) else { return Ok(()) };
        let mut failed = self.run_part(query, params)?;
        if !failed.advance()? {
            return Err(Error::internal("policies that say nothing"));
        }
        match failed.column(0).to_value() {
            Value::Null => Ok(()),
            place => {
                let place = if let Value::Integer(place) = place { usize::try_from(place).ok() } else { None };
                let guard = place.and_then(|place| guards.get(place));
                let guard = guard.ok_or_else(|| Error::internal("a policy that there is not"))?;
                Err(guard.error(&asking.guards.table))
            }
        }
    }

    /// Asks the triggers that come before the change of a row; `None` when it is not to be changed.
    fn ask(
        &mut self,
        changes: &mut Changes,
        time: TriggerTime,
        event: TriggerEvent,
        assigned: &[usize],
        old: Option<&Row>,
        new: Option<Row>,
    ) -> Result<Option<Option<Row>>> {
        let relation = changes.relation.clone();
        if !relation.triggers.iter().any(|trigger| trigger.time == time) {
            return Ok(Some(new));
        }
        let before = self.total_changes()?;
        let asked = self.before_row(&relation, time, event, assigned, old, new)?;
        changes.meddled |= self.total_changes()? != before;
        changes.kept += u64::from(asked.is_none());
        Ok(asked)
    }

    /// Whether two rows may belong to different partitions.
    pub(super) fn is_parted(&self, partition: &Arc<Relation>, before: &Row, after: &Row) -> bool {
        heritage::parts_by(&self.schema, partition, &|at| before.get(at) != after.get(at))
    }

    /// Whether a row still belongs to its table; false where it is to move to another partition.
    fn stays(&mut self, run: &Run<'_>, relation: &Arc<Relation>, new: &Row, conflicting: bool) -> Result<bool> {
        let fits = self.place_of(relation, new)?;
        if conflicting && fits.is_err() {
            return Err(Error::new(Condition::FeatureNotSupported, "invalid ON UPDATE specification")
                .detail("The result tuple would appear in a different partition than the original tuple."));
        }
        match (run.head, fits) {
            (_, Ok(_)) => Ok(true),
            (Some(_), Err(_)) => Ok(false),
            (None, Err(error)) => Err(error),
        }
    }

    /// False for a row that is gone; an error for one that a trigger has changed meanwhile.
    fn is_untouched(&mut self, run: &Run<'_>, changes: &Changes, rowid: i64, old: &Row, what: &str) -> Result<bool> {
        if !changes.meddled {
            return Ok(true);
        }
        let now = self.row_now(run, changes, rowid)?;
        if now.as_ref() == Some(old) {
            return Ok(true);
        }
        let message = format!(
            "tuple to be {} was already modified by an operation triggered by the current command",
            if changes.merges { "updated or deleted" } else { what }
        );
        let hint = "Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.";
        Err(Error::new(Condition::TriggeredDataChangeViolation, message).hint(hint))
    }

    fn row_now(&mut self, run: &Run<'_>, changes: &Changes, rowid: i64) -> Result<Option<Row>> {
        let Some(now) = &run.steps.now else { return Ok(None) };
        let mut params = run.params.to_vec();
        params.push(Value::Integer(rowid));
        params.resize(run.steps.at.outer + 1 + run.steps.at.columns + run.steps.at.extras, Value::Null);
        let mut found = self.run_part(now, &params)?;
        Ok(if found.advance()? {
            Some(Arc::new(canonical(&found, 1, &changes.relation, &run.settings)?))
        } else {
            None
        })
    }

    /// A rowid that numbers itself has its number before the triggers see the row.
    fn numbered(&mut self, relation: &rowferry_dialect::schema::Relation, new: Row, spare: Option<i64>) -> Result<Row> {
        // A server behind numbers its rows itself.
        if self.line().is_some() {
            return Ok(new);
        }
        let numbered = relation.columns.iter().position(|column| {
            column.row_identity && column.identity.as_ref().is_some_and(|identity| identity.sequence.is_none())
        });
        let Some(at) = numbered.filter(|at| new[*at] == Value::Null) else { return Ok(new) };
        let next = match spare {
            Some(spare) => spare,
            None => self.next_identity(relation)?,
        };
        let mut row = (*new).clone();
        row[at] = Value::Integer(next);
        Ok(Arc::new(row))
    }

    /// The same of a row of a server behind, which gives the number.
    fn numbered_there(&mut self, number: &Prepared, relation: &Relation, new: Row) -> Result<Row> {
        let own = relation.columns.iter().position(|column| column.identity.is_some());
        let Some(at) = own.filter(|at| matches!(new[*at], Value::Null | Value::Integer(0))) else { return Ok(new) };
        let mut found = self.run_part(number, &[])?;
        if !found.advance()? {
            return Err(Error::internal("a sequence without a next number"));
        }
        let mut row = (*new).clone();
        row[at] = found.column(0).to_value();
        Ok(Arc::new(row))
    }

    fn row_params(&self, run: &Run<'_>, rowid: Value, row: &Row, extras: &[Value]) -> Vec<Value> {
        let at = run.steps.at;
        let mut params = Vec::with_capacity(at.outer + 1 + at.columns + at.extras);
        params.extend(run.params.iter().cloned());
        params.push(rowid);
        params.extend(row.iter().cloned());
        params.extend(extras.iter().cloned());
        params.resize(at.outer + 1 + at.columns + at.extras, Value::Null);
        params
    }

    /// Counts a row, and keeps what RETURNING makes of it.
    fn yield_row(
        &mut self,
        run: &Run<'_>,
        changes: &mut Changes,
        rowid: Value,
        row: &Row,
        extras: &[Value],
    ) -> Result<()> {
        changes.changed += 1;
        let Some(returning) = &run.steps.returning else { return Ok(()) };
        let params = self.row_params(run, rowid, row, extras);
        let (found, _) = self.noting_met(|session| {
            *session.state.met.lock() = run.met;
            session.run_part(returning, &params)
        });
        let mut found = found?;
        while found.advance()? {
            changes.returned.push((0..found.columns()).map(|at| found.column(at)))?;
        }
        Ok(())
    }
}

/// An error that is about a row, and which IGNORE passes over.
fn refuses_row(error: &Error) -> bool {
    matches!(
        error.condition(),
        Condition::UniqueViolation
            | Condition::NotNullViolation
            | Condition::CheckViolation
            | Condition::ForeignKeyViolation
            | Condition::ForeignKeyViolationByParent
            | Condition::RestrictViolation
            | Condition::WithCheckOptionViolation
    )
}

/// A row as it has been written.
fn read_back(reader: &SpoolReader, changes: &Changes, run: &Run<'_>) -> Result<Written> {
    let row = Arc::new(canonical(reader, 1, &changes.relation, &run.settings)?);
    Ok(Written { rowid: reader.column(0).to_value(), row })
}

fn extras(reader: &SpoolReader, from: usize, count: usize) -> Vec<Value> {
    (0..count).map(|at| reader.column(from + at).to_value()).collect()
}

impl Session {
    /// The identity that the back end would give to the next row.
    fn next_identity(&mut self, relation: &Relation) -> Result<i64> {
        let handle = self.handle()?;
        // AUTOINCREMENT gives no number twice.
        let counts = self
            .schema
            .details(relation.oid)
            .and_then(|details| details.sql.as_deref())
            .is_some_and(|sql| sql.to_ascii_uppercase().contains("AUTOINCREMENT"));
        let last = handle.lock().last_identity(relation, counts);
        self.checked(last)?
            .checked_add(1)
            .ok_or_else(|| Error::new(Condition::NumericValueOutOfRange, "the table's rows have used up their numbers"))
    }

    /// Lets foreign keys be looked at when the statement has written all its rows; false when they wait anyway.
    fn defer_keys(&mut self) -> Result<bool> {
        let handle = self.handle()?;
        let guard = handle.lock();
        let on = guard.defers_keys();
        if self.checked(on)? {
            return Ok(false);
        }
        self.checked(guard.let_keys_wait(true))?;
        Ok(true)
    }

    /// Looks at the foreign keys of a statement that is done; those that wait for COMMIT go on waiting.
    fn check_deferred_keys(&mut self, changed: &Relation) -> Result<()> {
        let handle = self.handle()?;
        let guard = handle.lock();
        if guard.has_open_keys() {
            for (relation, at, rowid) in self.checked(self.broken_keys(&guard))? {
                let (relation, key) = (&relation, &relation.foreign_keys[at]);
                if !key.valid || self.transaction.checking.waits(key) {
                    continue;
                }
                if relation.oid == changed.oid {
                    return Err(self.deferred_violation(&guard));
                }
                let message = format!(
                    "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
                    changed.name, key.name, relation.name
                );
                let error = Error::new(Condition::ForeignKeyViolationByParent, message)
                    .table(relation.namespace.clone(), relation.name.clone())
                    .constraint(key.name.clone());
                let shown = rowid.and_then(|rowid| shown_key(&guard, relation, key, rowid, &self.state.settings()));
                let names = crate::catalog::describe::target_columns(changed, key);
                let names: Vec<&str> = names.iter().map(|at| changed.columns[*at].name.as_str()).collect();
                return Err(match shown {
                    Some(values) => error.detail(format!(
                        "Key ({})=({values}) is still referenced from table \"{}\".",
                        names.join(", "),
                        relation.name
                    )),
                    None => error,
                });
            }
        }
        self.checked(guard.let_keys_wait(false))
    }
}

/// The key of a row that refers to another.
fn shown_key(
    handle: &Handle,
    relation: &Relation,
    key: &rowferry_dialect::schema::ForeignKey,
    rowid: i64,
    settings: &Settings,
) -> Option<String> {
    let values = handle.row_of(relation, &key.columns, rowid)?;
    let mut shown = Vec::with_capacity(values.len());
    for (value, at) in values.into_iter().zip(&key.columns) {
        if value == Value::Null {
            return None;
        }
        shown.push(values::output(&value, &relation.columns[*at].ty, settings).ok()?);
    }
    Some(shown.join(", "))
}

/// The number that a row of a table that numbers its rows has.
fn number_of(relation: &Relation, row: &Row) -> Option<i64> {
    let at = relation.columns.iter().position(|column| column.row_identity && column.identity.is_some())?;
    match row[at] {
        Value::Integer(number) => Some(number),
        _ => None,
    }
}
