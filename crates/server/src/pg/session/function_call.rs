//! The function call message, by which libpq's `lo_…` functions speak.

use rowferry_dialect::ir::Value;
use rowferry_engine::{Condition, Error, Outcome, ValueRef};
use rowferry_wire_pg::Format;
use rowferry_wire_pg::messages::FunctionCall;

use super::{Began, Commands, client_params, values};
use crate::Ending;
use crate::kit::Failure;

impl Commands<'_> {
    /// Calls a function by its number; the answer ends as that of a simple query does.
    pub(super) fn call_function(&mut self, call: &FunctionCall<'_>) -> Result<Began, Ending> {
        match self.run_function(call) {
            Ok(()) => {}
            Err(Failure::Error(error)) => self.failed(&error),
            Err(Failure::End(ending)) => return Err(ending),
        }
        self.end_query()
    }

    fn run_function(&mut self, call: &FunctionCall<'_>) -> Result<(), Failure> {
        let called = self.session.called_function(call.function)?;
        check_counts(call, called.types.len())?;
        let parsed = self.session.parse(&called.text)?;
        let no_result = || Error::internal("a call of a function is one query");
        let statement = parsed.first().ok_or_else(no_result)?;
        let prepared = self.session.prepare_parsed(statement, &called.types);
        let prepared = self.unless_aborted(prepared)?;
        let settings = self.session.settings();
        let mut params = Vec::with_capacity(called.types.len());
        for (index, (ty, value)) in client_params(&prepared).iter().zip(call.arguments.iter()).enumerate() {
            let format = call.argument_formats.of(index).unwrap_or(Format::TEXT);
            params.push(match value {
                None => Value::Null,
                Some(bytes) => values::read(bytes, ty, format, &settings, index + 1)
                    .map_err(|error| of_argument(error, index + 1))?,
            });
        }
        let Outcome::Rows(mut cursor) = self.session.execute(&prepared, &params)? else {
            return Err(no_result().into());
        };
        let ty = cursor.columns().first().ok_or_else(no_result)?.ty.clone();
        let write = values::writer(&ty, call.result_format)?;
        let mut result = None;
        if let Some(row) = cursor.next()? {
            let value = row.get(0);
            if !matches!(value, ValueRef::Null) {
                let bytes = result.insert(Vec::new());
                values::write_for_client(write, call.result_format, bytes, value, &ty, &settings)?;
            }
        }
        drop(cursor);
        self.end_implicit()?;
        self.follow_encoding();
        self.send_notices();
        self.wire.server.function_result(result.as_deref());
        Ok(())
    }
}

/// What cannot be read is an argument here, and no parameter of Bind.
fn of_argument(error: Error, number: usize) -> Error {
    match error.condition() {
        Condition::InvalidBinaryRepresentation => {
            let message = format!("incorrect binary data format in function argument {number}");
            let told = Error::new(Condition::InvalidBinaryRepresentation, message);
            match &error.detail {
                Some(detail) => told.detail(detail.clone()),
                None => told,
            }
        }
        _ => error,
    }
}

/// A call gives as many arguments as the function takes, and as many formats as there are things to give one.
fn check_counts(call: &FunctionCall<'_>, wanted: usize) -> Result<(), Error> {
    let violation = |message: String| Err(Error::new(Condition::ProtocolViolation, message));
    let (given, formats) = (call.arguments.len(), call.argument_formats.len());
    if given != wanted {
        return violation(format!("function call message contains {given} arguments but function requires {wanted}"));
    }
    if formats > 1 && formats != given {
        return violation(format!("function call message contains {formats} argument formats but {given} arguments"));
    }
    Ok(())
}
