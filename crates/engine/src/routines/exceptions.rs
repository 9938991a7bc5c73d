//! RAISE EXCEPTION, ON EXCEPTION.

use rowferry_dialect::informix::spl::{Block, Expression, Handler};
use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result, Type};

use super::interpreter::{Flow, Frame, Stop};

impl<'r> Frame<'_, 'r> {
    /// Looks for a handler of an error among the blocks around, the innermost first, and runs it.
    ///
    /// A handler with RESUME yields the flow with which the step that failed has ended; one without ends its block.
    pub(super) fn handle(&mut self, error: Error) -> Result<Flow<'r>, Stop> {
        if matches!(error.condition(), Condition::QueryCanceled | Condition::AdminShutdown) {
            return Err(Stop::Unhandled(error));
        }
        let code = error.informix_code();
        for depth in (0..self.blocks.len()).rev() {
            let block: &'r Block = self.blocks[depth];
            // Of several handlers for a code the last counts.
            let found = block
                .handlers
                .iter()
                .rev()
                .find(|handler| handler.codes.is_empty() || handler.codes.contains(&i32::from(code)));
            let Some(handler) = found else { continue };
            // While a handler runs, it is the blocks around its own that are asked.
            let inner = self.blocks.split_off(depth);
            let flow = self.run_handler(handler, &error);
            self.blocks.extend(inner);
            return match flow? {
                Flow::Next if handler.resume => Ok(Flow::Next),
                Flow::Next => Err(Stop::Handled(depth)),
                other => Ok(other),
            };
        }
        Err(Stop::Unhandled(error))
    }

    fn run_handler(&mut self, handler: &'r Handler, error: &Error) -> Result<Flow<'r>, Stop> {
        let [sql, isam, text] = handler.into;
        if let Some(slot) = sql {
            self.assign(slot, &Value::Integer(error.informix_code().into()), &Type::Int4)?;
        }
        if let Some(slot) = isam {
            self.assign(slot, &Value::Integer(error.isam_code().into()), &Type::Int4)?;
        }
        if let Some(slot) = text {
            self.assign(slot, &Value::Text(token(error)), &Type::Text)?;
        }
        let outer = self.current.replace(error.clone());
        let flow = self.block(&handler.body);
        self.current = outer;
        // An error inside has been looked up already, beginning outside this block.
        flow
    }

    /// RAISE EXCEPTION code, isam, text.
    pub(super) fn raise(
        &mut self,
        code: &'r Expression,
        isam: Option<&'r Expression>,
        text: Option<&'r Expression>,
    ) -> Result<Error> {
        let number = |value: Option<i64>| value.and_then(|value| i16::try_from(value).ok());
        let code = self.integer(code)?;
        let Some(code) = number(code).filter(|code| *code != 0) else {
            return Err(Error::new(Condition::InvalidParameterValue, "RAISE EXCEPTION needs an error number"));
        };
        let isam = match isam {
            Some(isam) => number(self.integer(isam)?).unwrap_or(0),
            None => 0,
        };
        let text = match text {
            Some(text) => self.text(text)?.unwrap_or_default(),
            None => String::new(),
        };
        // An error that is raised again is what it was.
        if let Some(current) = &self.current
            && current.informix_code() == code
            && token(current) == text
        {
            return Ok(current.clone().codes(code, isam));
        }
        let condition = Condition::ALL.iter().copied().find(|condition| condition.informix_code() == code);
        let condition = match condition {
            // The generic ones come first in the table; -746 is RAISE EXCEPTION's own.
            Some(condition) if condition.informix_code() != -1 => condition,
            _ => Condition::RaiseException,
        };
        let error = Error::new(condition, text.clone()).codes(code, isam);
        Ok(if condition == Condition::RaiseException { error } else { error.column(text) })
    }
}

/// What Informix puts into the text of an error: a name, or the text of RAISE EXCEPTION.
fn token(error: &Error) -> String {
    if error.condition() == Condition::RaiseException {
        return error.message.clone();
    }
    [&error.column, &error.table, &error.constraint].into_iter().flatten().next().cloned().unwrap_or_default()
}
