//! FOR, FOREACH, LOOP, WHILE.

use rowferry_dialect::informix::spl::{Block, Expression, ForValue, LoopName, Sql};
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::interpreter::{Flow, Frame, Stop};
use crate::session::Outcome;

/// What a loop does after a round.
enum Round<'r> {
    Again,
    Over,
    Leave(Flow<'r>),
}

impl<'r> Frame<'_, 'r> {
    /// One round of a loop.
    fn round(&mut self, body: &'r Block, label: Option<&str>, kind: &'static str) -> Result<Round<'r>, Stop> {
        let ours = |name: &Option<LoopName>| match name {
            None => true,
            Some(LoopName::Kind(wanted)) => *wanted == kind,
            Some(LoopName::Label(wanted)) => label == Some(wanted.as_str()),
        };
        self.check_interrupt()?;
        Ok(match self.block(body)? {
            Flow::Next => Round::Again,
            Flow::Exit(name) if ours(&name) => Round::Over,
            Flow::Continue(name) if ours(&name) => Round::Again,
            other => Round::Leave(other),
        })
    }

    pub(super) fn plain_loop(
        &mut self,
        label: Option<&str>,
        condition: Option<&'r Expression>,
        word: &'static str,
        body: &'r Block,
    ) -> Result<Flow<'r>, Stop> {
        loop {
            if let Some(condition) = condition
                && !self.is_true(condition)?
            {
                return Ok(Flow::Next);
            }
            match self.round(body, label, word)? {
                Round::Again => {}
                Round::Over => return Ok(Flow::Next),
                Round::Leave(flow) => return Ok(flow),
            }
        }
    }

    pub(super) fn for_loop(
        &mut self,
        label: Option<&str>,
        variable: usize,
        values: &'r [ForValue],
        body: &'r Block,
    ) -> Result<Flow<'r>, Stop> {
        for value in values {
            let (first, last, step) = match value {
                ForValue::One(value) => {
                    let (value, ty) = self.evaluate(value)?;
                    self.assign(variable, &value, &ty)?;
                    match self.round(body, label, "for")? {
                        Round::Again => continue,
                        Round::Over => return Ok(Flow::Next),
                        Round::Leave(flow) => return Ok(flow),
                    }
                }
                ForValue::Range(first, last, step) => (first, last, step),
            };
            let null = || Error::new(Condition::NullValueNotAllowed, "a bound of FOR is NULL");
            let first = self.integer(first)?.ok_or_else(null)?;
            let last = self.integer(last)?.ok_or_else(null)?;
            let step = match step {
                Some(step) => self.integer(step)?.ok_or_else(null)?,
                // Without STEP a range is counted in its own direction.
                None if last < first => -1,
                None => 1,
            };
            if step == 0 {
                return Err(Error::new(Condition::InvalidParameterValue, "STEP of FOR is zero").into());
            }
            let mut at = first;
            while if step > 0 { at <= last } else { at >= last } {
                self.assign(variable, &Value::Integer(at), &Type::Int8)?;
                match self.round(body, label, "for")? {
                    Round::Again => {}
                    Round::Over => return Ok(Flow::Next),
                    Round::Leave(flow) => return Ok(flow),
                }
                let Some(next) = at.checked_add(step) else { break };
                at = next;
            }
        }
        Ok(Flow::Next)
    }

    pub(super) fn foreach(
        &mut self,
        label: Option<&str>,
        rows: &'r Sql,
        into: &'r [usize],
        place: Option<usize>,
        body: &'r Block,
    ) -> Result<Flow<'r>, Stop> {
        let Outcome::Rows(mut cursor) = self.execute(rows)? else { return Ok(Flow::Next) };
        let types: Vec<Type> = cursor.columns().iter().map(|column| column.ty.clone()).collect();
        let targets: Vec<usize> = into.iter().copied().chain(place).collect();
        super::statements::check_count(targets.len(), types.len())?;
        let mut count = 0;
        loop {
            let Some(row) = cursor.next()? else { break };
            let values: Vec<Value> = (0..row.len()).map(|at| row.get(at).to_value()).collect();
            drop(row);
            count += 1;
            for ((slot, value), ty) in targets.iter().zip(&values).zip(&types) {
                self.assign(*slot, value, ty)?;
            }
            match self.round(body, label, "foreach")? {
                Round::Again => {}
                Round::Over => break,
                Round::Leave(flow) => return Ok(flow),
            }
        }
        self.processed(count);
        Ok(Flow::Next)
    }
}
