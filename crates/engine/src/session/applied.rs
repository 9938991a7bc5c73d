//! Changes that have been decided on, row by row: in the table that the statement names, or in those where its rows lie.

use std::collections::HashMap;
use std::sync::Arc;

use rowferry_dialect::ir::routing::{from_leaf, in_leaf};
use rowferry_dialect::ir::{Dml, DmlAction, Routing, Statement as Ir, Value};
use rowferry_dialect::lower::parts::Again;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Error, Language, Result};

use super::parts::{Decided, Done, Part, Ran, Run, again, met_again, returned_columns, target_of, tells_identity};
use super::routing::{Goes, Step};
use super::state::Met;
use super::triggers::{Changes, Event, order};
use super::{Prepared, Session};
use crate::spool::Spool;

/// What is done in a leaf.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum There {
    /// The statement's own action.
    Same,
    /// A row goes.
    Gone,
    /// A row comes from another leaf.
    Come,
}

/// A change that is being made.
pub(super) struct Applied {
    /// The decided actions, and behind them those in leaves.
    actions: Vec<Arc<Prepared>>,
    /// For each action what its triggers want to know: all rows of an action are one statement for them.
    batches: Vec<Option<Box<Changes>>>,
    /// The actions in leaves, by the action that they are made of.
    leaves: HashMap<(usize, u32, There), usize>,
    /// Calls that wait for the end, in the order of the rows.
    waiting: Vec<Event>,
    ran: Ran,
    /// How many columns it returns.
    width: usize,
}

impl Session {
    /// Makes a change.
    pub(super) fn apply(&mut self, run: &mut Run<'_>, decided: &Decided) -> Done<Ran> {
        let mut applied = self.begin_to_apply(decided)?;
        for step in &decided.steps {
            self.apply_step(run, &mut applied, decided, step)?;
        }
        self.end_of_applying(run, applied)
    }

    /// Begins to make a change, whose steps follow.
    pub(super) fn begin_to_apply(&mut self, decided: &Decided) -> Done<Applied> {
        let width = decided.actions.iter().map(|action| returned_columns(action)).max().unwrap_or(0);
        Ok(Applied {
            actions: decided.actions.clone(),
            batches: self.start_actions(decided)?,
            leaves: HashMap::new(),
            waiting: Vec::new(),
            ran: Ran { returned: Spool::new(width), changed: 0 },
            width,
        })
    }

    /// All steps of a change are done.
    pub(super) fn end_of_applying(&mut self, run: &mut Run<'_>, applied: Applied) -> Done<Ran> {
        let Applied { actions, batches, waiting, ran, .. } = applied;
        for action in &actions {
            self.note_changed(run, target_of(action));
        }
        let told = actions.iter().zip(batches);
        let told = told.filter_map(|(action, batch)| Some((&**action.triggers.as_ref()?, *batch?)));
        self.finish_actions(told, waiting)?;
        Ok(ran)
    }

    /// Tells the statement triggers of all actions what is about to begin.
    fn start_actions(&mut self, decided: &Decided) -> Result<Vec<Option<Box<Changes>>>> {
        let actions = &decided.actions;
        let mut batches: Vec<Option<Box<Changes>>> = actions.iter().map(|_| None).collect();
        let mut turns: Vec<usize> = (0..actions.len()).collect();
        turns.sort_by_key(|at| order(actions[*at].triggers.as_ref().and_then(|firing| firing.events.first())));
        for at in turns {
            if let Some(firing) = &actions[at].triggers {
                let mut changes = self.start_changes(&actions[at], firing)?;
                changes.merges = matches!(decided.by_rows.again, Again::Refused(_));
                batches[at] = Some(Box::new(changes));
            }
        }
        Ok(batches)
    }

    /// Does what has been decided on for one row.
    pub(super) fn apply_step(
        &mut self,
        run: &mut Run<'_>,
        applied: &mut Applied,
        decided: &Decided,
        step: &Step,
    ) -> Done<()> {
        let (row, Some(dml)) = (&decided.rows.rows()[step.row], decided.by_rows.actions.get(step.action)) else {
            return Err(Error::internal("a row without its action").into());
        };
        if let Value::Integer(rowid) = row[0]
            && !matches!(dml.action, DmlAction::Insert { .. })
            && !run.touched.insert((dml.target.oid, rowid))
        {
            match decided.by_rows.again {
                Again::Passed => return Ok(()),
                Again::Refused(language) => return Err(again(language).into()),
            }
        }
        match &step.goes {
            Goes::Here => {
                applied.ran.changed += self.apply_action(run, applied, step.action, row)?;
            }
            Goes::To(leaf) => {
                let at = self.action_in(run, applied, decided, step.action, There::Same, leaf)?;
                applied.ran.changed += self.apply_action(run, applied, at, row)?;
            }
            Goes::Away(leaf, new) => self.move_row(run, applied, decided, step.action, (row, new), Some(leaf))?,
            Goes::Asked => {
                let (changed, moved) = self.change_or_move(applied, decided, step.action, row)?;
                applied.ran.changed += changed;
                if let Some(new) = moved {
                    self.move_row(run, applied, decided, step.action, (row, &new), None)?;
                }
            }
        }
        Ok(())
    }

    /// Takes a row from its leaf to another one, which may have to be found yet.
    fn move_row(
        &mut self,
        run: &mut Run<'_>,
        applied: &mut Applied,
        decided: &Decided,
        action: usize,
        (row, new): (&[Value], &Arc<Vec<Value>>),
        leaf: Option<&Arc<Relation>>,
    ) -> Done<()> {
        let (dml, routing) = routed(decided, action)?;
        let told = self.hears_of_moves(&routing.tree.head, &dml.target);
        let (from, head) = (dml.target.clone(), routing.tree.head.clone());
        let gone = self.action_in(run, applied, decided, action, There::Gone, &from)?;
        if told {
            self.begin_move(&from, &head)?;
        }
        let changed = self.apply_action(run, applied, gone, row);
        let mut moved = if told { self.end_move(&from, &head, new) } else { Vec::new() };
        if changed? == 0 {
            // A trigger has kept the row where it is.
            return Ok(());
        }
        let leaf = match leaf {
            Some(leaf) => leaf.clone(),
            None => self.place_of(&head, new)??,
        };
        let come = self.action_in(run, applied, decided, action, There::Come, &leaf)?;
        let row = [row, new].concat();
        applied.ran.changed += self.apply_action(run, applied, come, &row)?;
        applied.waiting.append(&mut moved);
        Ok(())
    }

    /// An UPDATE of a row whose triggers are asked first; where they, or the statement, have made one of it that
    /// belongs elsewhere: the row in the columns of the table that the statement names.
    fn change_or_move(
        &mut self,
        applied: &mut Applied,
        decided: &Decided,
        at: usize,
        row: &[Value],
    ) -> Done<(u64, Option<Arc<Vec<Value>>>)> {
        let (dml, routing) = routed(decided, at)?;
        let (from, head) = (dml.target.clone(), routing.tree.head.clone());
        let action = applied.actions[at].clone();
        let (Some(firing), Some(mut changes)) = (&action.triggers, applied.batches[at].take()) else {
            return Err(Error::internal("a change whose triggers nobody knows").into());
        };
        let before = changes.changed;
        let moved = self.as_part_of_transaction(|session| session.change_within(firing, row, &mut changes, &head));
        let changed = changes.changed - before;
        Self::hand_over(&mut changes, &mut applied.waiting, &mut applied.ran.returned)?;
        applied.batches[at] = Some(changes);
        Ok((changed, moved?.map(|new| super::routing::in_columns_of(&head, &from, &new))))
    }

    /// The action in a leaf.
    fn action_in(
        &mut self,
        run: &Run<'_>,
        applied: &mut Applied,
        decided: &Decided,
        action: usize,
        there: There,
        leaf: &Arc<Relation>,
    ) -> Done<usize> {
        let key = (action, leaf.oid, there);
        if let Some(known) = applied.leaves.get(&key) {
            return Ok(*known);
        }
        let (dml, routing) = routed(decided, action)?;
        let made = run.part(Part::Leaf(action, leaf.oid, there), || {
            let made = match there {
                There::Same => in_leaf(dml, leaf)?,
                There::Gone => from_leaf(dml, leaf)?,
                There::Come => match &routing.moved {
                    Some(moved) => in_leaf(moved, leaf)?,
                    None => return Err(Error::internal("a row that moves and never comes").into()),
                },
            };
            self.action(run, &decided.by_rows, &made, decided.kept)
        })?;
        applied.batches.push(match &made.triggers {
            Some(firing) => Some(Box::new(self.start_changes(&made, firing)?)),
            None => None,
        });
        applied.actions.push(made);
        applied.leaves.insert(key, applied.actions.len() - 1);
        Ok(applied.actions.len() - 1)
    }

    /// Runs an action for a row; how many rows that has changed.
    fn apply_action(&mut self, run: &mut Run<'_>, applied: &mut Applied, at: usize, row: &[Value]) -> Done<u64> {
        let Some(action) = applied.actions.get(at).cloned() else {
            return Err(Error::internal("a row without its action").into());
        };
        if let Some(firing) = &action.triggers {
            let outer = std::mem::replace(&mut self.batch, applied.batches[at].take());
            let result = self.change_under_triggers(&action, firing, row);
            applied.batches[at] = std::mem::replace(&mut self.batch, outer);
            let changed = result?.1;
            if let Some(changes) = &mut applied.batches[at] {
                Self::hand_over(changes, &mut applied.waiting, &mut applied.ran.returned)?;
            }
            return Ok(changed);
        }
        let width = applied.width;
        // MySQL changes a row as often as those that come meet it.
        let once = self.language() != Language::Mysql
            || !matches!(&action.bound.statement, Ir::Dml(dml) if matches!(dml.action, DmlAction::Insert { .. }));
        let (rows, met) = self.noting_met(|session| session.change_row(&action, row));
        let rows = rows?;
        if let Met::Row(Some(rowid)) = met
            && run.touched.contains(&(target_of(&action), rowid))
            && once
        {
            return Err(met_again().into());
        }
        let changed = self.handle()?.lock().changes();
        self.remember_serial(&action)?;
        let mut rows = rows.into_reader()?;
        while rows.columns() > 0 && rows.advance()? {
            if tells_identity(&action)
                && let Value::Integer(rowid) = rows.column(width).to_value()
                && !run.touched.insert((target_of(&action), rowid))
                && once
            {
                return Err(met_again().into());
            }
            // What moves is returned where it comes to.
            if width > 0 && rows.columns() >= width {
                applied.ran.returned.push((0..width).map(|at| rows.column(at)))?;
            }
        }
        Ok(changed)
    }
}

/// A decided action whose rows have their places.
fn routed(decided: &Decided, action: usize) -> Result<(&Dml, &Routing)> {
    let dml = decided.by_rows.actions.get(action);
    let found = dml.and_then(|dml| Some((dml, dml.routing.as_deref()?)));
    found.ok_or_else(|| Error::internal("a row whose place nobody knows"))
}
