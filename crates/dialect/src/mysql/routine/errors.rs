//! What may be wrong with a routine, in MySQL's words.

use crate::{Condition, Error};

/// An error of MySQL's own number.
pub(super) fn own(code: u16, sqlstate: &'static str, message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidFunctionDefinition, message).with_mysql(code, sqlstate)
}

/// `1303`.
pub(super) fn within_routine(kind: &str) -> Error {
    own(1303, "2F003", format!("Can't create a {kind} from within another stored routine"))
}

/// `1308`.
pub(super) fn no_label(word: &str, label: &str) -> Error {
    own(1308, "42000", format!("{word} with no matching label: {label}"))
}

/// `1309`.
pub(super) fn redefined_label(label: &str) -> Error {
    own(1309, "42000", format!("Redefining label {label}"))
}

/// `1310`.
pub(super) fn unmatched_end(label: &str) -> Error {
    own(1310, "42000", format!("End-label {label} without match"))
}

/// `1313`.
pub(super) fn return_outside() -> Error {
    own(1313, "42000", "RETURN is only allowed in a FUNCTION")
}

/// `1314`.
pub(super) fn not_in_routines(what: &str) -> Error {
    own(1314, "0A000", format!("{what} is not allowed in stored procedures"))
}

/// `1319`.
pub(super) fn no_condition(name: &str) -> Error {
    own(1319, "42000", format!("Undefined CONDITION: {name}"))
}

/// `1320`.
pub(super) fn no_return(name: &str) -> Error {
    own(1320, "42000", format!("No RETURN found in FUNCTION {name}"))
}

/// `1322`.
pub(super) fn cursor_of_no_query() -> Error {
    own(1322, "42000", "Cursor statement must be a SELECT")
}

/// `1323`.
pub(super) fn cursor_with_into() -> Error {
    own(1323, "42000", "Cursor SELECT must not have INTO")
}

/// `1324`.
pub(super) fn no_cursor(name: &str) -> Error {
    own(1324, "42000", format!("Undefined CURSOR: {name}"))
}

/// `1327`.
pub(super) fn no_variable(name: &str) -> Error {
    own(1327, "42000", format!("Undeclared variable: {name}"))
}

/// `1330` to `1333`: what has been declared before.
pub(super) fn duplicate(what: &str, name: &str) -> Error {
    let code = match what {
        "parameter" => 1330,
        "variable" => 1331,
        "condition" => 1332,
        _ => 1333,
    };
    own(code, "42000", format!("Duplicate {what}: {name}"))
}

/// `1336`.
pub(super) fn dynamic_sql() -> Error {
    own(1336, "0A000", "Dynamic SQL is not allowed in stored function or trigger")
}

/// `1337`.
pub(super) fn variable_too_late() -> Error {
    own(1337, "42000", "Variable or condition declaration after cursor or handler declaration")
}

/// `1338`.
pub(super) fn cursor_too_late() -> Error {
    own(1338, "42000", "Cursor declaration after handler declaration")
}

/// `1357`.
pub(super) fn changes_routine(kind: &str) -> Error {
    own(1357, "HY000", format!("Can't drop or alter a {kind} from within another stored routine"))
}

/// `1362`.
pub(super) fn fixed_row(row: &str, time: &str) -> Error {
    own(1362, "HY000", format!("Updating of {row} row is not allowed in {time}trigger"))
}

/// `1363`.
pub(super) fn no_row(row: &str, event: &str) -> Error {
    own(1363, "HY000", format!("There is no {row} row in on {event} trigger"))
}

/// `1407`.
pub(super) fn bad_sqlstate(state: &str) -> Error {
    own(1407, "42000", format!("Bad SQLSTATE: '{state}'"))
}

/// `1413`.
pub(super) fn duplicate_handler() -> Error {
    own(1413, "42000", "Duplicate handler declared in the same block")
}

/// `1415`.
pub(super) fn result_set(kind: &str) -> Error {
    own(1415, "0A000", format!("Not allowed to return a result set from a {kind}"))
}

/// `1422`.
pub(super) fn commits() -> Error {
    own(1422, "HY000", "Explicit or implicit commit is not allowed in stored function or trigger.")
}

/// `1641`.
pub(super) fn duplicate_item(item: &str) -> Error {
    own(1641, "42000", format!("Duplicate condition information item '{item}'"))
}

/// `1646`.
pub(super) fn condition_without_sqlstate() -> Error {
    own(1646, "HY000", "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE")
}
