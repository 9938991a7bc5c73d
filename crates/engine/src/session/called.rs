//! Functions that clients call by their number, without SQL.

use rowferry_dialect::postgres::{quote_ident as quote, types};
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type};
use rowferry_facts as facts;

use super::Session;

/// A call of a function as a query, whose parameters are the arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct CalledFunction {
    /// The query.
    pub text: String,
    /// The arguments' types.
    pub types: Vec<Option<Type>>,
}

impl Session {
    /// The function with an object id, to be called with its arguments as they are.
    ///
    /// # Errors
    /// `42883` when there is none; `0A000` for one that returns rows, and for one that users have made.
    pub fn called_function(&self, oid: u32) -> Result<CalledFunction> {
        let Some(fact) = facts::Function::by_oid(oid) else {
            return Err(match self.schema.function_by_oid(oid) {
                Some(_) => Error::unsupported("a call of a user's function by the function call message"),
                None => Error::new(Condition::UndefinedFunction, format!("function with OID {oid} does not exist")),
            });
        };
        if fact.kind != 'f' || fact.returns_set {
            let message = format!("cannot call function \"{}\" via fastpath interface", fact.name);
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        let types = fact.arguments.iter().map(|oid| types::from_oid(*oid).filter(|ty| *ty != Type::Unknown));
        let marks: Vec<String> = (1..=fact.arguments.len()).map(|number| format!("${number}")).collect();
        let text = format!("SELECT pg_catalog.{}({})", quote(fact.name), marks.join(", "));
        Ok(CalledFunction { text, types: types.collect() })
    }
}
