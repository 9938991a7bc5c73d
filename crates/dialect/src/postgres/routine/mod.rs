//! Functions and procedures of users: CREATE FUNCTION and its kin, calls, and the SQL inside them.
//!
//! - `types`: types as a function names them; `read`: CREATE FUNCTION as a definition; `print`: a definition as CREATE
//!   FUNCTION; `define`: the statements that make, change and drop functions;
//! - `call`: which function a call means, and what becomes of the call;
//! - `aggregate`: CREATE AGGREGATE; `aggregate_text`: its canonical text; `aggregate_call`: calls of aggregates;
//!   `support`: the functions behind them;
//! - `body`: a statement inside a function, with variables for names; `inline`: calls that become the function's expression.

mod aggregate;
mod aggregate_call;
mod aggregate_text;
mod body;
mod call;
mod define;
mod inline;
mod print;
mod read;
pub mod sql_language;
mod support;
mod types;

pub(super) use body::VariableLevels;
pub(super) use body::binder_inside;
pub use body::{VariableEntry, VariableScope, Variables, bind_inside};
pub use call::arguments_of as call_arguments;
pub(super) use call::{Called, is_no_argument};
pub use inline::inline;
pub use print::{definition_text, definition_with};
pub use read::{from_text, quoted_offset};
pub use types::type_from_text;
pub(crate) use types::type_ref as type_of_name;
