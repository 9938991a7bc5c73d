//! EXCEPTION: a block with handlers is a savepoint, to which an error that is handled goes back.

use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::plpgsql::{Block, Handlers, Trapped};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::frame::{Flow, Frame};
use super::variables::Slot;
use crate::routines::running::Place;

impl Frame<'_, '_> {
    /// Runs a block that handles errors.
    pub(super) fn guarded(&mut self, block: &Block, handlers: &Handlers) -> Result<Flow> {
        self.place = match self.place {
            Place::Step(line, _) => Place::Step(line, "statement block"),
            _ => Place::During("during statement block entry"),
        };
        self.session.begin_subtransaction()?;
        let result = self.declare(block).and_then(|()| self.steps(&block.steps));
        let error = match result {
            Ok(flow) => {
                self.session.end_subtransaction()?;
                return Ok(flow);
            }
            Err(error) => error,
        };
        let place = self.place;
        self.session.undo_subtransaction()?;
        if ends_everything(&error) {
            return Err(error);
        }
        let handler =
            handlers.handlers.iter().find(|handler| handler.conditions.iter().any(|trapped| traps(trapped, &error)));
        let Some(handler) = handler else {
            self.place = place;
            return Err(error);
        };
        if error.condition() == Condition::QueryCanceled {
            self.session.interrupter().go_on();
        }
        let error = self.located(error, place);
        let text = |value: String| Slot::Value { ty: Type::Text, value: Value::Text(value) };
        self.slots[handlers.sqlstate] = text(error.sqlstate().to_owned());
        self.slots[handlers.sqlerrm] = text(error.message.clone());
        let outer = self.caught.replace((error, place));
        let result = self.steps(&handler.steps);
        self.caught = outer;
        result
    }

    /// An error with the line of this function in its context, as GET STACKED DIAGNOSTICS tells it.
    fn located(&self, mut error: Error, place: Place) -> Error {
        let line = self.context_line(place);
        error.context = Some(match error.context.take() {
            Some(inner) => format!("{inner}\n{line}"),
            None => line,
        });
        error
    }
}

/// What no handler traps.
fn ends_everything(error: &Error) -> bool {
    matches!(error.condition(), Condition::AdminShutdown | Condition::TransactionTimeout | Condition::ConnectionFailure)
}

fn traps(trapped: &Trapped, error: &Error) -> bool {
    let code = error.sqlstate();
    match trapped {
        Trapped::Others => !matches!(code, "57014" | "P0004"),
        Trapped::State(wanted) if wanted.ends_with("000") => code.starts_with(&wanted[..2]),
        Trapped::State(wanted) => code == wanted,
    }
}
