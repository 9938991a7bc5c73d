//! What MySQL calls the failures that the binder and the engine tell in PostgreSQL's words: one row a message.
//!
//! A condition alone has MySQL's number, too ([`crate::Condition`]); a row stands here where MySQL tells apart what
//! PostgreSQL has one condition for, or where its words are known. Source: MySQL 8.0 Error Message Reference.

use crate::{Condition, Error};

/// A message, and what MySQL says instead.
struct Row {
    /// PostgreSQL's words; `*` stands for anything.
    told: &'static str,
    code: u16,
    sqlstate: &'static str,
    /// MySQL's words: `{0}` is what the first `*` stood for.
    words: &'static str,
}

const fn row(told: &'static str, code: u16, sqlstate: &'static str, words: &'static str) -> Row {
    Row { told, code, sqlstate, words }
}

const GROUP_FUNCTION: &str = "Invalid use of group function";
const OPERAND: &str = "Operand should contain 1 column(s)";
const NOT_UPDATABLE: &str = "The target table {0} of the UPDATE is not updatable";

/// The rows. The first that fits is meant.
const ROWS: &[Row] = &[
    row("table \"*\" does not exist, skipping", 1051, "42S02", "Unknown table '{0}'"),
    row("view \"*\" does not exist, skipping", 1051, "42S02", "Unknown table '{0}'"),
    row("relation \"*\" does not exist, skipping", 1051, "42S02", "Unknown table '{0}'"),
    row("relation \"*\" already exists, skipping", 1050, "42S01", "Table '{0}' already exists"),
    row("schema \"*\" does not exist, skipping", 1008, "HY000", "Can't drop database '{0}'; database doesn't exist"),
    row("schema \"*\" already exists, skipping", 1007, "HY000", "Can't create database '{0}'; database exists"),
    row(
        "BIGINT UNSIGNED value is out of range in '*'",
        1690,
        "22003",
        "BIGINT UNSIGNED value is out of range in '{0}'",
    ),
    row(
        "ON CONFLICT DO UPDATE command cannot affect row a second time",
        1235,
        "42000",
        "This version of MySQL doesn't yet support 'rows of one statement that have a key in common'",
    ),
    row("subquery must return only one column", 1241, "21000", OPERAND),
    row("subquery has too many columns", 1241, "21000", OPERAND),
    row("subquery has too few columns", 1241, "21000", OPERAND),
    row(
        "each * query must have the same number of columns",
        1222,
        "21000",
        "The used SELECT statements have a different number of columns",
    ),
    row(
        "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
        3065,
        "HY000",
        "Expression of ORDER BY clause is not in SELECT list; this is incompatible with DISTINCT",
    ),
    row("aggregate functions are not allowed in *", 1111, "HY000", GROUP_FUNCTION),
    row("aggregate function calls cannot be nested", 1111, "HY000", GROUP_FUNCTION),
    row(
        "Incorrect parameter count in the call to native function '*'",
        1582,
        "42000",
        "Incorrect parameter count in the call to native function '{0}'",
    ),
    row("cannot insert into view \"*\"", 1471, "HY000", "The target table {0} of the INSERT is not insertable-into"),
    row("cannot update view \"*\"", 1288, "HY000", NOT_UPDATABLE),
    row("cannot delete from view \"*\"", 1288, "HY000", "The target table {0} of the DELETE is not updatable"),
    row("cannot insert into column \"*\" of view \"*\"", 1348, "HY000", "Column '{0}' is not updatable"),
    row("cannot update column \"*\" of view \"*\"", 1348, "HY000", "Column '{0}' is not updatable"),
    // A server's own words; of a file the key is told.
    row(
        "cannot truncate a table referenced in a foreign key constraint",
        1701,
        "42000",
        "Cannot truncate a table referenced in a foreign key constraint",
    ),
    row("multiple primary keys for table \"*\" are not allowed", 1068, "42000", "Multiple primary key defined"),
    row("column \"*\" named in key does not exist", 1072, "42000", "Key column '{0}' doesn't exist in table"),
    row("column \"*\" appears twice in primary key constraint", 1060, "42S21", "Duplicate column name '{0}'"),
    row("relation \"*.*\" already exists", 1061, "42000", "Duplicate key name '{1}'"),
    row(
        "CREATE VIEW specifies more column names than columns",
        1353,
        "HY000",
        "View's SELECT and view's field list have different column counts",
    ),
    row("table \"*\" does not exist", 1051, "42S02", "Unknown table '{0}'"),
    row("missing FROM-clause entry for table \"*\"", 1051, "42S02", "Unknown table '{0}'"),
    row("view \"*\" does not exist", 1051, "42S02", "Unknown table '{0}'"),
    row(
        "cannot drop table * because other objects depend on it",
        3730,
        "HY000",
        "Cannot drop table '{0}' referenced by a foreign key constraint or a view",
    ),
    row("\"*\" is not a view", 1347, "HY000", "'{0}' is not VIEW"),
    row("\"*\" is not a table", 1347, "HY000", "'{0}' is not BASE TABLE"),
    row("schema \"*\" already exists", 1007, "HY000", "Can't create database '{0}'; database exists"),
    row("schema \"*\" does not exist", 1049, "42000", "Unknown database '{0}'"),
    row(
        "number of referencing and referenced columns for foreign key disagree",
        1239,
        "42000",
        "Incorrect foreign key definition: Key reference and table reference don't match",
    ),
    row(
        "there is no unique constraint matching given keys for referenced table \"*\"",
        1822,
        "HY000",
        "Failed to add the foreign key constraint. Missing unique key for the constraint in the referenced table '{0}'",
    ),
    row(
        "could not obtain lock on row in relation \"*\"",
        3572,
        "HY000",
        "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.",
    ),
    row("savepoint \"*\" does not exist", 1305, "42000", "SAVEPOINT {0} does not exist"),
    row(
        "more than one row returned by a subquery used as an expression",
        1242,
        "21000",
        "Subquery returns more than 1 row",
    ),
    row("new row violates check option for view \"*\"", 1369, "HY000", "CHECK OPTION failed '{0}'"),
    row(
        "column * must appear in the GROUP BY clause or be used in an aggregate function",
        1055,
        "42000",
        "Expression of SELECT list is not in GROUP BY clause and contains nonaggregated column '{0}' which is not \
         functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by",
    ),
    row("ORDER BY position * is not in select list", 1054, "42S22", "Unknown column '{0}' in 'order clause'"),
    row("GROUP BY position * is not in select list", 1054, "42S22", "Unknown column '{0}' in 'group statement'"),
    row("collation \"*\" for encoding \"*\" does not exist", 1273, "HY000", "Unknown collation: '{0}'"),
    row(
        "cannot insert a non-DEFAULT value into column \"*\"",
        3105,
        "HY000",
        "The value specified for generated column '{0}' is not allowed.",
    ),
    row(
        "canceling statement due to statement timeout",
        3024,
        "HY000",
        "Query execution was interrupted, maximum statement execution time exceeded",
    ),
    row("table name \"*\" specified more than once", 1066, "42000", "Not unique table/alias: '{0}'"),
];

/// The same for numbers that no column was given: arithmetic, which is done in BIGINT and DOUBLE.
const OF_ARITHMETIC: &[Row] = &[
    row("bigint out of range", 1690, "22003", "BIGINT value is out of range"),
    row("value out of range: overflow", 1690, "22003", "DOUBLE value is out of range"),
];

/// What the `*` of a pattern stand for in a text; `None` where it is another.
fn captures<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut parts = pattern.split('*');
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut found = Vec::new();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let at = match (part.is_empty(), parts.peek()) {
            (true, None) => rest.len(),
            (false, None) => {
                rest.len().checked_sub(part.len()).filter(|at| rest.ends_with(part) && rest.is_char_boundary(*at))?
            }
            _ => rest.find(part)?,
        };
        found.push(&rest[..at]);
        rest = &rest[at + part.len()..];
    }
    rest.is_empty().then_some(found)
}

/// MySQL's number, SQLSTATE and words for a failure, where a row has them.
pub fn told(error: &Error) -> Option<(u16, &'static str, String)> {
    if error.mysql.is_some() {
        return None;
    }
    let out_of_range = matches!(
        error.condition(),
        Condition::NumericValueOutOfRange
            | Condition::IntegerOutOfRange
            | Condition::SmallintOutOfRange
            | Condition::BigintOutOfRange
    );
    if let Some(words) = of_detail(error) {
        return Some(words);
    }
    // DROP TABLE of a view finds no table.
    let hints_at_view = error.hint.as_deref().is_some_and(|hint| hint.contains("DROP VIEW"));
    if let Some(found) = captures("\"*\" is not a table", &error.message).filter(|_| hints_at_view) {
        return Some((1051, "42S02", format!("Unknown table '{}'", found[0])));
    }
    let arithmetic: &[Row] = if out_of_range && error.column.is_none() { OF_ARITHMETIC } else { &[] };
    let (row, found) =
        arithmetic.iter().chain(ROWS).find_map(|row| Some((row, captures(row.told, &error.message)?)))?;
    let mut words = row.words.to_owned();
    for (at, value) in found.iter().enumerate() {
        words = words.replace(&format!("{{{at}}}"), value.trim_matches('"'));
    }
    Some((row.code, row.sqlstate, words))
}

/// The same where part of what MySQL says is in the detail: which key keeps a table, and which columns a key cannot join.
fn of_detail(error: &Error) -> Option<(u16, &'static str, String)> {
    let detail = error.detail.as_deref()?;
    if let Some(found) = captures("foreign key constraint \"*\" cannot be implemented", &error.message) {
        let columns = captures("Key columns \"*\" and \"*\" are of incompatible types: *", detail)?;
        let words = format!(
            "Referencing column '{}' and referenced column '{}' in foreign key constraint '{}' are incompatible.",
            columns[0], columns[1], found[0]
        );
        return Some((3780, "HY000", words));
    }
    let found = captures("cannot drop table * because other objects depend on it", &error.message)?;
    let mut lines = detail.lines();
    let key = lines.find_map(|line| captures("constraint * on table * depends on table *", line))?;
    let words = format!(
        "Cannot drop table '{}' referenced by a foreign key constraint '{}' on table '{}'.",
        found[0], key[0], key[1]
    );
    Some((3730, "HY000", words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_in_mysqls_words() {
        let told_of = |condition, message: &str| told(&Error::new(condition, message));
        assert_eq!(
            told_of(Condition::DuplicateTable, "relation \"t.by_a\" already exists"),
            Some((1061, "42000", "Duplicate key name 'by_a'".to_owned()))
        );
        assert_eq!(told_of(Condition::DuplicateTable, "relation \"t\" already exists"), None);
        let locked = "could not obtain lock on row in relation \"t\"";
        assert_eq!(told_of(Condition::LockNotAvailable, locked).map(|told| told.0), Some(3572));
        assert_eq!(told_of(Condition::LockNotAvailable, "canceling statement due to lock timeout"), None);
        assert_eq!(
            told_of(Condition::GroupingError, "aggregate functions are not allowed in WHERE").map(|told| told.0),
            Some(1111)
        );
        let overflow = Error::new(Condition::BigintOutOfRange, "bigint out of range");
        assert_eq!(told(&overflow).map(|told| told.0), Some(1690));
        assert_eq!(told(&overflow.clone().column("a")), None);
        assert_eq!(told(&overflow.with_mysql(1264, "22003")), None);
    }

    #[test]
    fn what_keeps_a_table_is_in_the_detail() {
        let kept =
            Error::new(Condition::DependentObjectsStillExist, "cannot drop table p because other objects depend on it");
        let by_key = kept.clone().detail("view v depends on table p\nconstraint k on table c depends on table p");
        let words = "Cannot drop table 'p' referenced by a foreign key constraint 'k' on table 'c'.";
        assert_eq!(told(&by_key), Some((3730, "HY000", words.to_owned())));
        let by_view = told(&kept.detail("view v depends on table p")).unwrap();
        assert_eq!(by_view.2, "Cannot drop table 'p' referenced by a foreign key constraint or a view");
        let unlike = Error::new(Condition::DatatypeMismatch, "foreign key constraint \"k\" cannot be implemented")
            .detail("Key columns \"a\" and \"id\" are of incompatible types: text and integer.");
        assert_eq!(told(&unlike).map(|told| told.0), Some(3780));
    }

    #[test]
    fn rows_are_well_formed() {
        for row in ROWS.iter().chain(OF_ARITHMETIC) {
            assert_eq!(row.sqlstate.len(), 5, "{}", row.told);
            assert!(row.code >= 1000, "{}", row.told);
            let highest = row.told.matches('*').count();
            assert!((highest..highest + 3).all(|at| !row.words.contains(&format!("{{{at}}}"))), "{}", row.told);
        }
    }
}
