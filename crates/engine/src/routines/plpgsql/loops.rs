//! LOOP, WHILE, FOR, FOREACH, CASE.

use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::plpgsql::{Rows, Sql, Step, Target};
use rowferry_dialect::values::array::{self, Array};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::frame::{Flow, Frame};
use super::statements::{in_statement, in_statement_text, next_row, shape_of_cursor};
use super::variables::Slot;
use super::variables::taken_apart;
use crate::routines::running::Place;
use crate::routines::stored::Shape;
use crate::session::Outcome;

/// What a loop does after a round.
enum Round {
    Again,
    Over,
    Leave(Flow),
}

impl Frame<'_, '_> {
    /// One round of a loop.
    fn round(&mut self, body: &[Step], label: Option<&str>) -> Result<Round> {
        self.check_interrupt()?;
        let ours = |name: &Option<String>| name.as_deref().is_none_or(|name| label == Some(name));
        Ok(match self.steps(body)? {
            Flow::Next => Round::Again,
            Flow::Exit(name) if ours(&name) => Round::Over,
            Flow::Continue(name) if ours(&name) => Round::Again,
            other => Round::Leave(other),
        })
    }

    /// Rounds of a loop as long as there is something for one; whether there was a first, and what comes behind.
    fn rounds(
        &mut self,
        label: Option<&str>,
        body: &[Step],
        mut next: impl FnMut(&mut Self) -> Result<bool>,
    ) -> Result<(bool, Flow)> {
        let mut found = false;
        while next(self)? {
            found = true;
            match self.round(body, label)? {
                Round::Again => {}
                Round::Over => break,
                Round::Leave(flow) => return Ok((found, flow)),
            }
        }
        Ok((found, Flow::Next))
    }

    /// LOOP, WHILE.
    pub(super) fn plain_loop(
        &mut self,
        label: Option<&str>,
        condition: Option<&Sql>,
        body: &[Step],
        place: Place,
    ) -> Result<Flow> {
        let (_, flow) = self.rounds(label, body, |frame| {
            frame.at(place);
            condition.map_or(Ok(true), |condition| frame.is_true(condition))
        })?;
        Ok(flow)
    }

    /// CASE.
    pub(super) fn case(
        &mut self,
        subject: Option<&(usize, Sql)>,
        branches: &[(Sql, Vec<Step>)],
        otherwise: Option<&[Step]>,
    ) -> Result<Flow> {
        if let Some((slot, value)) = subject {
            let (value, ty) = self.evaluate(value)?;
            let ty = if ty == Type::Unknown { Type::Text } else { ty };
            self.slots[*slot] = Slot::Value { ty, value };
        }
        for (condition, steps) in branches {
            if self.is_true(condition)? {
                return self.steps(steps);
            }
        }
        match otherwise {
            Some(steps) => self.steps(steps),
            None if self.is_mysql() => {
                let message = "Case not found for CASE statement";
                Err(Error::new(Condition::CaseNotFound, message).with_mysql(1339, "20000"))
            }
            None => {
                Err(Error::new(Condition::CaseNotFound, "case not found").hint("CASE statement is missing ELSE part."))
            }
        }
    }

    /// FOR over numbers.
    pub(super) fn for_numbers(
        &mut self,
        label: Option<&str>,
        variable: usize,
        bounds: &(Sql, Sql, Option<Sql>),
        reverse: bool,
        body: &[Step],
    ) -> Result<Flow> {
        let (from, to, by) = bounds;
        let first = self.bound(from, "lower bound of FOR loop cannot be null")?;
        let last = self.bound(to, "upper bound of FOR loop cannot be null")?;
        let step = match by {
            Some(by) => self.bound(by, "BY value of FOR loop cannot be null")?,
            None => 1,
        };
        if step <= 0 {
            let message = "BY value of FOR loop must be greater than zero";
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        let mut upcoming = Some(first);
        let (found, flow) = self.rounds(label, body, |frame| {
            let Some(at) = upcoming.filter(|at| if reverse { *at >= last } else { *at <= last }) else {
                return Ok(false);
            };
            frame.slots[variable] = Slot::Value { ty: Type::Int4, value: Value::Integer(at) };
            let next = if reverse { at.checked_sub(step) } else { at.checked_add(step) };
            // The variable is an integer of 32 bits.
            upcoming = next.filter(|next| i32::try_from(*next).is_ok());
            Ok(true)
        })?;
        self.set_found(found);
        Ok(flow)
    }

    fn bound(&mut self, sql: &Sql, null: &str) -> Result<i64> {
        match self.evaluate_as(sql, &Type::Int4)? {
            Some(Value::Integer(value)) => Ok(value),
            _ => Err(Error::new(Condition::NullValueNotAllowed, null)),
        }
    }

    /// FOR over rows.
    pub(super) fn for_rows(
        &mut self,
        label: Option<&str>,
        target: &Target,
        rows: &Rows,
        body: &[Step],
    ) -> Result<Flow> {
        if let Rows::Cursor(cursor, args) = rows {
            return self.for_cursor(label, target, *cursor, args, body);
        }
        let (outcome, text) = match rows {
            Rows::Query(sql) => (self.execute(sql)?, None),
            Rows::Dynamic(dynamic) => {
                let (outcome, text) = self.run_dynamic(dynamic)?;
                (outcome, Some(text))
            }
            Rows::Cursor(..) => return Ok(Flow::Next),
        };
        let Outcome::Rows(mut cursor) = outcome else {
            return Err(Error::new(Condition::InvalidCursorDefinition, "cannot open query as cursor"));
        };
        let shape = shape_of_cursor(&cursor);
        let _changes = cursor.is_of_change().then(|| self.session.shared_state().routines.loop_over_changes());
        let place = self.place;
        let (found, flow) = self.rounds(label, body, |frame| {
            frame.at(place);
            let row = next_row(&mut cursor).map_err(|error| match (rows, &text) {
                (Rows::Query(sql), _) => in_statement(error, sql),
                (_, Some(text)) => in_statement_text(error, text),
                _ => error,
            })?;
            let Some(row) = row else { return Ok(false) };
            frame.assign_target(target, &shape, Some(row))?;
            Ok(true)
        })?;
        if !found {
            self.assign_target(target, &shape, None)?;
        }
        self.set_found(found);
        Ok(flow)
    }

    /// FOR over a cursor.
    fn for_cursor(
        &mut self,
        label: Option<&str>,
        target: &Target,
        cursor: usize,
        args: &[(usize, Sql)],
        body: &[Step],
    ) -> Result<Flow> {
        let name = self.open_bound(cursor, args)?;
        self.session.pin_cursor(&name);
        let place = self.place;
        let result = self.rounds(label, body, |frame| {
            frame.at(place);
            let (shape, row) = frame.fetch_one(&name)?;
            let Some(row) = row else { return Ok(false) };
            frame.assign_target(target, &shape, Some(row))?;
            Ok(true)
        });
        let closed = self.session.close_named_cursor(&name);
        let (found, flow) = result?;
        closed?;
        self.set_found(found);
        Ok(flow)
    }

    /// The variable of FOREACH holds arrays where SLICE says so, and nowhere else.
    fn check_loop_variable(&self, target: &Target, slices: bool) -> Result<()> {
        let holds_arrays = match target {
            Target::Places(places) => match places.as_slice() {
                [place] if place.field.is_none() && place.subscripts.is_empty() => {
                    matches!(self.slot_type(place.variable).through_domains(), Type::Array(_))
                }
                _ => false,
            },
            Target::Row(_) => false,
        };
        let message = match (slices, holds_arrays) {
            (true, false) => "FOREACH ... SLICE loop variable must be of an array type",
            (false, true) => "FOREACH loop variable must not be of an array type",
            _ => return Ok(()),
        };
        Err(Error::new(Condition::DatatypeMismatch, message))
    }

    /// FOREACH.
    pub(super) fn for_each(
        &mut self,
        label: Option<&str>,
        target: &Target,
        slice: u32,
        sql: &Sql,
        body: &[Step],
    ) -> Result<Flow> {
        let (value, ty) = self.evaluate(sql)?;
        if value == Value::Null {
            let message = "FOREACH expression must not be null";
            return Err(Error::new(Condition::NullValueNotAllowed, message));
        }
        let Type::Array(element) = &ty else {
            let words = rowferry_dialect::postgres::types::words(&ty);
            let message = format!("FOREACH expression must yield an array, not type {words}");
            return Err(Error::new(Condition::DatatypeMismatch, message));
        };
        let Value::Text(stored) = &value else { return Err(Error::internal("an array that is no text")) };
        let array = Array::read(stored.as_bytes())?;
        let slice = slice as usize;
        let depth = array.dimensions.len();
        if slice > depth {
            let message = format!("slice dimension ({slice}) is out of the valid range 0..{depth}");
            return Err(Error::new(Condition::ArraySubscriptError, message));
        }
        self.check_loop_variable(target, slice > 0)?;
        let mut members = Vec::new();
        if slice > 0 {
            let inner = &array.dimensions[depth - slice..];
            let length = inner.iter().map(|dimension| dimension.length).product::<usize>().max(1);
            for part in array.members.chunks(length) {
                members.push(Value::Text(Array::with_bounds(inner.to_vec(), part.to_vec()).stored()?));
            }
        } else {
            let value = |member: &serde_json::Value| array::from_json(member, element).unwrap_or(Value::Null);
            members.extend(array.members.iter().map(value));
        }
        let of_member = if slice > 0 { ty.clone() } else { (**element).clone() };
        let shape = Shape::from([(String::new(), of_member)]);
        let mut members = members.into_iter();
        let (found, flow) = self.rounds(label, body, |frame| {
            let Some(member) = members.next() else { return Ok(false) };
            match target {
                Target::Row(slot) if element.is_row() => frame.assign_row(*slot, taken_apart(&member, element)?)?,
                // A member's fields each go to a variable.
                Target::Places(places) if places.len() > 1 && slice == 0 && element.is_row() => {
                    match taken_apart(&member, element)? {
                        Some((shape, values)) => frame.assign_target(target, &shape, Some(values))?,
                        None => frame.assign_target(target, &shape, None)?,
                    }
                }
                target => frame.assign_target(target, &shape, Some(vec![member]))?,
            }
            Ok(true)
        })?;
        self.set_found(found);
        Ok(flow)
    }
}
