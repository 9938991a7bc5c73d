//! Errors in MySQL's words: a number, an SQLSTATE, and the texts that clients look into.

use super::types::RANGE;

use crate::values::mysql::numbers;
use crate::{Condition, Error, Type};

/// An error as MySQL tells it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Told {
    /// Its number.
    pub code: u16,
    /// SQLSTATE.
    pub sqlstate: String,
    /// Its text.
    pub message: String,
}

/// What a client is told of an error.
pub fn told(error: &Error) -> Told {
    match of_type(error).or_else(|| of_text(error)).or_else(|| super::errors::told(error)) {
        Some((code, sqlstate, message)) => Told { code, sqlstate: sqlstate.into(), message },
        None => Told { code: error.mysql_code(), sqlstate: error.mysql_sqlstate().into(), message: message(error) },
    }
}

/// A text that is no value of its column.
fn of_text(error: &Error) -> Option<(u16, &'static str, String)> {
    let column = error.column.as_deref()?;
    let row = error.row.unwrap_or(1);
    let table = || error.table.as_deref().map_or_else(String::new, |table| format!("{table}."));
    if error.mysql_code() == 3140 && !error.message.contains(" in value for column ") {
        let message = format!("{} in value for column '{}{column}'.", error.message, table());
        return Some((3140, "22032", message));
    }
    if error.mysql.is_some() {
        // Of moments the value is told already.
        let of_moment = error.mysql_code() == 1292 && !error.message.contains(" for column ");
        return of_moment.then(|| (1292, "22007", format!("{} for column '{column}' at row {row}", error.message)));
    }
    if let (Some(kind), "22007" | "22008") = (error.data_type.as_deref(), error.condition().sqlstate()) {
        let value = quoted(&error.message)?;
        return Some((1292, "22007", format!("Incorrect {kind} value: '{value}' for column '{column}' at row {row}")));
    }
    let told = error.message.strip_prefix("invalid input syntax for type ")?;
    if told.starts_with("json") {
        let table = table();
        let message =
            format!("Invalid JSON text: \"Invalid value.\" at position 0 in value for column '{table}{column}'.");
        return Some((3140, "22032", message));
    }
    let (ty, value) = told.split_once(": ")?;
    let value = value.trim_matches('"');
    let ty = match ty {
        "smallint" | "integer" | "bigint" => "integer",
        // A text becomes an integer by way of a decimal.
        "numeric" if error.data_type.as_deref() == Some("integer") => "integer",
        "numeric" => "decimal",
        "real" => "FLOAT",
        "double precision" => "DOUBLE",
        other => other,
    };
    // A number and something behind it.
    if ty == "integer" && !numbers::prefix(value).is_empty() {
        return Some((1265, "01000", format!("Data truncated for column '{column}' at row {row}")));
    }
    Some((1366, "HY000", format!("Incorrect {ty} value: '{value}' for column '{column}' at row {row}")))
}

/// A value that is none of one of MySQL's own types: those are domains, whose check it has met.
fn of_type(error: &Error) -> Option<(u16, &'static str, String)> {
    let ty = error.data_type.as_deref()?;
    if error.condition() != Condition::CheckViolation || error.constraint.as_deref() != Some(RANGE) {
        return None;
    }
    let column = error.column.as_deref().map_or_else(String::new, |column| format!(" for column '{column}'"));
    let row = error.row.unwrap_or(1);
    let starts = |word: &str| ty.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    Some(if starts("enum") || starts("set") {
        (1265, "01000", format!("Data truncated{column} at row {row}"))
    } else if starts("bit")
        || starts("tiny") && (ty.ends_with("text") || ty.ends_with("blob"))
        || starts("binary")
        || starts("varbinary")
    {
        (1406, "22001", format!("Data too long{column} at row {row}"))
    } else {
        (1264, "22003", format!("Out of range value{column} at row {row}"))
    })
}

/// MySQL's words where its clients read them, and ours otherwise.
fn message(error: &Error) -> String {
    // Who has given it a number of MySQL's has given it MySQL's words.
    if error.mysql.is_some() {
        return error.message.clone();
    }
    let table = || error.table.as_deref();
    let column = || error.column.as_deref();
    let row = error.row.unwrap_or(1);
    let words = match error.condition() {
        Condition::UniqueViolation => duplicate(error),
        Condition::NotNullViolation => column().map(|column| format!("Column '{column}' cannot be null")),
        Condition::CheckViolation => {
            error.constraint.as_ref().map(|name| format!("Check constraint '{name}' is violated."))
        }
        Condition::ForeignKeyViolation => Some(foreign_key(error, "add or update a child row")),
        Condition::ForeignKeyViolationByParent | Condition::RestrictViolation => {
            Some(foreign_key(error, "delete or update a parent row"))
        }
        Condition::UndefinedTable => {
            let named = quoted(&error.message).or(table());
            named.map(|name| format!("Table '{name}' doesn't exist"))
        }
        Condition::UndefinedColumn => {
            quoted(&error.message).or(column()).map(|name| format!("Unknown column '{name}' in 'field list'"))
        }
        Condition::AmbiguousColumn => {
            quoted(&error.message).map(|name| format!("Column '{name}' in field list is ambiguous"))
        }
        Condition::DuplicateTable => {
            quoted(&error.message).or(table()).map(|name| format!("Table '{name}' already exists"))
        }
        Condition::DuplicateColumn => quoted(&error.message).map(|name| format!("Duplicate column name '{name}'")),
        Condition::SyntaxError if error.message.starts_with("You have an error") => None,
        Condition::SyntaxError | Condition::UnterminatedString => Some(format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the \
             right syntax to use{}",
            match quoted(&error.message) {
                Some(near) => format!(" near '{near}' at line 1"),
                None => format!(" ({})", error.message),
            }
        )),
        Condition::DivisionByZero => Some("Division by 0".into()),
        Condition::QueryCanceled => Some("Query execution was interrupted".into()),
        Condition::DeadlockDetected | Condition::SerializationFailure => {
            Some("Deadlock found when trying to get lock; try restarting transaction".into())
        }
        Condition::LockNotAvailable => Some("Lock wait timeout exceeded; try restarting transaction".into()),
        Condition::ReadOnlySqlTransaction => Some("Cannot execute statement in a READ ONLY transaction.".into()),
        Condition::StringDataRightTruncation => {
            column().map(|column| format!("Data too long for column '{column}' at row {row}"))
        }
        Condition::NumericValueOutOfRange
        | Condition::IntegerOutOfRange
        | Condition::SmallintOutOfRange
        | Condition::BigintOutOfRange => {
            column().map(|column| format!("Out of range value for column '{column}' at row {row}"))
        }
        Condition::UndefinedFunction => quoted(&error.message).map(|name| format!("FUNCTION {name} does not exist")),
        _ => None,
    };
    words.unwrap_or_else(|| match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    })
}

/// `Duplicate entry 'x' for key 't.k'`: the values are told in the detail, `Key (a, b)=(1, 2) already exists.`
fn duplicate(error: &Error) -> Option<String> {
    let values = error.detail.as_deref().and_then(|detail| {
        let (_, values) = detail.split_once(")=(")?;
        values.rsplit_once(')').map(|(values, _)| values.replace(", ", "-"))
    });
    let constraint = error.constraint.as_deref()?;
    let table = error.table.as_deref();
    let key = match table {
        // As MySQL calls it, whatever the file does.
        Some(table) if constraint == format!("{table}_pkey") => "PRIMARY",
        // Keys of MySQL's own are called so in the file already.
        Some(table) => constraint.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')).unwrap_or(constraint),
        None => constraint,
    };
    let place = table.map_or_else(|| key.to_owned(), |table| format!("{table}.{key}"));
    Some(format!("Duplicate entry '{}' for key '{place}'", values.unwrap_or_default()))
}

fn foreign_key(error: &Error, what: &str) -> String {
    let constraint = error.constraint.as_deref().unwrap_or_default();
    let table = error.table.as_deref().unwrap_or_default();
    format!("Cannot {what}: a foreign key constraint fails (`{table}`, CONSTRAINT `{constraint}`)")
}

/// An error about a value that is none of its column's type, with what is told of the column.
pub fn of_column(error: Error, column: &str, ty: &Type) -> Error {
    let kind = match ty.through_domains() {
        Type::Date => Some("date"),
        Type::Timestamp(_) | Type::TimestampTz(_) => Some("datetime"),
        Type::Time(_) | Type::Interval(_) => Some("time"),
        ty if ty.is_integer() => Some("integer"),
        _ => None,
    };
    let error = error.column(column);
    match kind {
        Some(kind) if error.data_type.is_none() => error.data_type(kind),
        _ => error,
    }
}

/// What stands between the first double quotes of a message.
fn quoted(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once('"')?;
    rest.split_once('"').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(error: Error) -> (u16, String, String) {
        let told = super::told(&error);
        (told.code, told.sqlstate, told.message)
    }

    #[test]
    fn what_clients_look_into_is_in_mysqls_words() {
        let unique =
            Error::new(Condition::UniqueViolation, "duplicate key value violates unique constraint \"t_pkey\"")
                .detail("Key (a, b)=(1, x) already exists.")
                .table("public", "t")
                .constraint("t_pkey");
        assert_eq!(told(unique), (1062, "23000".into(), "Duplicate entry '1-x' for key 't.PRIMARY'".into()));
        let key = Error::new(Condition::UniqueViolation, "x").table("public", "t").constraint("t.name");
        assert_eq!(told(key).2, "Duplicate entry '' for key 't.name'");
        let missing = Error::new(Condition::UndefinedTable, "relation \"db.t\" does not exist");
        assert_eq!(told(missing), (1146, "42S02".into(), "Table 'db.t' doesn't exist".into()));
        let column = Error::new(Condition::UndefinedColumn, "column \"x\" does not exist");
        assert_eq!(told(column), (1054, "42S22".into(), "Unknown column 'x' in 'field list'".into()));
        let null = Error::new(Condition::NotNullViolation, "null value in column \"c\"").column("c");
        assert_eq!(told(null), (1048, "23000".into(), "Column 'c' cannot be null".into()));
        let (code, state, text) = told(Error::new(Condition::SyntaxError, "syntax error at or near \"selec\""));
        assert_eq!((code, state.as_str()), (1064, "42000"));
        assert!(text.starts_with("You have an error in your SQL syntax;") && text.ends_with("near 'selec' at line 1"));
    }

    #[test]
    fn what_is_no_value_of_a_type_is_told_by_the_type() {
        let of = |ty: &str| {
            let error = Error::new(Condition::CheckViolation, "value for domain").constraint(RANGE).data_type(ty);
            told(error.column("c")).0
        };
        assert_eq!([of("int unsigned"), of("enum('a')"), of("tinytext"), of("varbinary(3)")], [1264, 1265, 1406, 1406]);
        let own = Error::new(Condition::CheckViolation, "x").constraint("c1");
        assert_eq!(told(own), (3819, "HY000".into(), "Check constraint 'c1' is violated.".into()));
    }
}
