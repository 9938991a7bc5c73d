//! Informix's error codes: what they say, and whose fault they are. One table for all drivers.

use rowferry_wire_sqli::client::SqlError;

/// The class of PEP 249 that an error belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A value does not fit.
    Data,
    /// Anything else that the database refuses.
    Database,
    /// A constraint would be violated.
    Integrity,
    /// Outside the program's control.
    Operational,
    /// The program is wrong.
    Programming,
    /// The database cannot do this.
    NotSupported,
}

use Kind::{Data, Database, Integrity, NotSupported, Operational, Programming};

/// Code, kind, text; `%s` stands for the token. Sorted by code, from -1 down.
#[rustfmt::skip]
const ERRORS: &[(i16, Kind, &str)] = &[
    (-201, Programming, "A syntax error has occurred."),
    (-202, Programming, "An illegal character has been found in the statement."),
    (-206, Programming, "The specified table (%s) is not in the database."),
    (-208, Operational, "Memory allocation failed during query processing."),
    (-211, Operational, "Cannot read system catalog (%s)."),
    (-213, Operational, "Statement interrupted by user."),
    (-217, Programming, "Column (%s) not found in any table in the query."),
    (-218, Programming, "Synonym (%s) not found."),
    (-223, Programming, "Duplicate table name (%s) in the FROM clause."),
    (-229, Operational, "Could not open or create a temporary file."),
    (-232, Programming, "A SERIAL column (%s) may not be updated."),
    (-234, Programming, "Cannot insert into virtual column (%s)."),
    (-235, Programming, "Character column size is too big."),
    (-236, Programming, "Number of columns in INSERT does not match number of VALUES."),
    (-239, Integrity, "Could not insert new row - duplicate value in a UNIQUE INDEX column (%s)."),
    (-242, Operational, "Could not open database table (%s)."),
    (-243, Operational, "Could not position within a table (%s)."),
    (-244, Operational, "Could not do a physical-order read to fetch next row."),
    (-245, Operational, "Could not position within a file via an index."),
    (-246, Operational, "Could not do an indexed read to get the next row."),
    (-247, Operational, "Rollforward database failed."),
    (-249, Programming, "A virtual column must have an explicit name."),
    (-251, Programming, "ORDER BY or GROUP BY column number is too big."),
    (-253, Programming, "Identifier length exceeds the maximum allowed by this version of the server."),
    (-254, Programming, "Too many or too few host variables given."),
    (-255, Operational, "Not in transaction."),
    (-256, Operational, "Transaction not available."),
    (-257, Operational, "System limit on maximum number of statements exceeded."),
    (-258, Operational, "System error - invalid statement id received by the server process."),
    (-259, Operational, "Cursor not open."),
    (-260, Operational, "Cannot execute a SELECT statement that is PREPAREd - must use cursor."),
    (-261, Operational, "Cannot create file for table (%s)."),
    (-262, Operational, "There is no current cursor."),
    (-263, Operational, "Could not lock row for UPDATE."),
    (-264, Operational, "Could not write to a temporary file."),
    (-266, Operational, "There is no current row for UPDATE/DELETE cursor."),
    (-267, Operational, "The cursor has been previously released and is unavailable."),
    (-268, Integrity, "Unique constraint (%s) violated."),
    (-269, Integrity, "Cannot add column (%s) that does not accept nulls."),
    (-271, Operational, "Could not insert new row into the table."),
    (-272, Programming, "No SELECT permission for %s."),
    (-273, Programming, "No UPDATE permission for %s."),
    (-274, Programming, "No DELETE permission for %s."),
    (-275, Programming, "No INSERT permission for %s."),
    (-277, Programming, "UPDATE table (%s) is not the same as the cursor table."),
    (-280, Operational, "A quoted string exceeds 256 bytes."),
    (-281, Operational, "Could not add index to a temporary table."),
    (-282, Programming, "Found a quote for which there is no matching quote."),
    (-283, Programming, "Found a non-terminated comment (\"{\" with no matching \"}\")."),
    (-284, Programming, "A subquery has returned not exactly one row."),
    (-285, Operational, "Invalid cursor received by the server."),
    (-286, Programming, "Default value for primary key column (%s) is NULL."),
    (-291, Integrity, "Cannot change lock mode of table."),
    (-292, Integrity, "An implied insert column (%s) does not accept NULLs."),
    (-293, Programming, "IS [NOT] NULL predicate may be used only with simple columns."),
    (-294, Programming, "The column (%s) must be in the GROUP BY list."),
    (-297, Programming, "Cannot find unique constraint or primary key on referenced table (%s)."),
    (-300, Programming, "There are too many GROUP BY columns."),
    (-302, Programming, "No GRANT option or illegal option on a multi-table view."),
    (-303, Programming, "Expression mixes columns with aggregates."),
    (-304, Programming, "HAVING can only have expressions with aggregates or columns in GROUP BY clause."),
    (-305, Programming, "Subscripted column (%s) is not of type CHAR, VARCHAR, TEXT nor BYTE."),
    (-306, Data, "Subscript out of range."),
    (-307, Data, "Illegal subscript."),
    (-308, Programming, "Corresponding column types must be compatible for each UNION query."),
    (-309, Programming, "ORDER BY column (%s) must be in SELECT list."),
    (-310, Programming, "Table (%s) already exists in database."),
    (-311, Operational, "Cannot open system catalog (%s)."),
    (-313, Programming, "Not owner of table."),
    (-314, Programming, "Table (%s) currently in use."),
    (-315, Programming, "No create index permission."),
    (-316, Programming, "Index (%s) already exists in database."),
    (-317, Programming, "Must have the same number of selected columns in each UNION element."),
    (-319, Programming, "Index does not exist in ISAM file."),
    (-321, Programming, "Cannot group by aggregate column."),
    (-323, Programming, "Cannot grant permission on temporary table."),
    (-324, Programming, "Ambiguous column (%s)."),
    (-325, Programming, "Filename must be specified with a full path name."),
    (-327, Operational, "Cannot unlock table (%s) within a transaction."),
    (-328, Programming, "Column (%s) already exists in table."),
    (-329, Operational, "Database not found or no system permission."),
    (-330, Operational, "Cannot create or rename the database."),
    (-332, Operational, "Cannot access audit trail name information."),
    (-346, Operational, "Could not update a row in the table."),
    (-347, Operational, "Could not open table (%s) for exclusive access."),
    (-348, Operational, "Could not read a row from the table (%s)."),
    (-349, Programming, "Database not selected yet."),
    (-350, Programming, "Index already exists on column (or on set of columns)."),
    (-352, Programming, "Column (%s) not found."),
    (-356, Programming, "Data types of the referencing and the referenced columns do not match."),
    (-360, Programming, "Cannot modify table or view used in subquery."),
    (-361, Data, "Column size too large."),
    (-362, Programming, "Can have only one column of a serial type."),
    (-363, Programming, "CURSOR not on SELECT statement."),
    (-365, Programming, "Cursor must be on simple SELECT for FOR UPDATE."),
    (-367, Programming, "Sums and averages cannot be computed for character columns."),
    (-371, Integrity, "Cannot create unique index on column with duplicate data."),
    (-377, Operational, "Must terminate transaction before closing database."),
    (-378, Operational, "Record currently locked by another user."),
    (-382, Operational, "Same number of columns must be specified for view and select clause."),
    (-385, Integrity, "The row would not be one of the view, which is WITH CHECK OPTION."),
    (-387, Operational, "No connect permission."),
    (-388, Programming, "No resource permission."),
    (-389, Programming, "No DBA permission."),
    (-391, Integrity, "Cannot insert a null into column (%s)."),
    (-392, Operational, "System error - unexpected null pointer encountered."),
    (-393, Programming, "A condition in the WHERE clause results in a two-sided outer join."),
    (-394, Programming, "View (%s) not found."),
    (-400, Programming, "Fetch attempted on unopen cursor."),
    (-404, Operational, "A cursor or statement is not available."),
    (-406, Operational, "Memory allocation failed."),
    (-408, Operational, "Invalid message type received from the sqlexec process."),
    (-410, Programming, "Prepare statement failed or was not executed."),
    (-415, Data, "Data conversion error."),
    (-425, Operational, "Database is currently opened by another user."),
    (-458, Operational, "Long transaction aborted."),
    (-507, Programming, "Cursor (%s) not found."),
    (-510, Operational, "The specified database (%s) does not exist."),
    (-513, NotSupported, "Statement not available with this database server."),
    (-517, Programming, "The total size of the index is too large or too many parts in index."),
    (-522, Programming, "Table (%s) not selected in query."),
    (-525, Integrity, "Failure to satisfy referential constraint (%s)."),
    (-526, NotSupported, "Updates are not allowed on a scroll cursor."),
    (-528, Data, "Maximum output rowsize exceeded."),
    (-530, Integrity, "Check constraint (%s) failed."),
    (-535, Operational, "Already in transaction."),
    (-536, Programming, "Number of columns in REFERENCES clause must be same as constrained columns."),
    (-548, Programming, "No REFERENCE privilege on the referenced column (%s)."),
    (-577, Programming, "A constraint of the same type already exists on the column set."),
    (-580, Programming, "Cannot grant or revoke permission."),
    (-595, Programming, "Invalid use of an aggregate in this context."),
    (-608, Programming, "Illegal attempt to convert Text/Byte blob type."),
    (-617, NotSupported, "A blob data type must be supplied within this context."),
    (-650, Programming, "The maximum size of a VARCHAR has been exceeded."),
    (-655, Programming, "RETURN value count does not match the declaration of the routine."),
    (-667, Programming, "Variable (%s) not declared."),
    (-668, Operational, "System command cannot be executed or it exited with a non-zero status."),
    (-673, Programming, "Routine (%s) already exists in database."),
    (-674, Programming, "Routine (%s) can not be resolved."),
    (-675, Programming, "Illegal SQL statement in an SPL routine."),
    (-684, Programming, "Function (%s) returns too many values."),
    (-685, Programming, "Function (%s) returns too few values."),
    (-686, Programming, "Function (%s) has returned more than one row."),
    (-690, Integrity, "Cannot read keys from referencing table (%s)."),
    (-691, Integrity, "Missing key in referenced table for referential constraint (%s)."),
    (-692, Integrity, "Key value for constraint (%s) is still being referenced."),
    (-696, Programming, "Variable (%s) has undefined value."),
    (-703, Integrity, "Primary key on table (%s) has a field with a null key value."),
    (-710, Operational, "Table (%s) has been dropped, altered, or renamed."),
    (-729, Programming, "The trigger has no triggered action."),
    (-730, Programming, "Cannot specify REFERENCING if the trigger does not have FOR EACH ROW."),
    (-743, Programming, "Object (%s) already exists in database."),
    (-745, Programming, "Trigger execution has failed."),
    (-746, Database, "%s"),
    (-748, Operational, "Routines or triggers call each other too deep."),
    (-758, NotSupported, "Cannot use this database statement within an explicit database connection."),
    (-759, NotSupported, "Cannot use this database (%s) here."),
    (-802, Operational, "Cannot open file for reading."),
    (-844, Programming, "The number of rows to take or to skip is not valid."),
    (-846, Data, "Number of values in load file is not equal to number of columns."),
    (-881, Data, "An argument of a string function is not valid."),
    (-908, Operational, "Attempt to connect to database server (%s) failed."),
    (-930, Operational, "Cannot connect to database server (%s)."),
    (-931, Operational, "Cannot locate service in the services file."),
    (-937, Operational, "The server has met an error of its own."),
    (-951, Operational, "Incorrect password or user is not known on the database server."),
    (-952, Operational, "User's password is not correct for the database server."),
    (-956, Operational, "Client host or user is not trusted by the server."),
    (-999, NotSupported, "Not implemented: %s."),
    (-1200, Data, "Number is too large for a DECIMAL data type."),
    (-1201, Data, "Number is too small for a DECIMAL data type."),
    (-1202, Data, "An attempt was made to divide by zero."),
    (-1204, Data, "Invalid year in date."),
    (-1205, Data, "Invalid month in date."),
    (-1206, Data, "Invalid day in date."),
    (-1207, Data, "Converted value does not fit into the allotted space."),
    (-1212, Data, "Date conversion format must contain a month, day, and year component."),
    (-1213, Data, "A character to numeric conversion process failed."),
    (-1214, Data, "Value too large to fit in a SMALLINT."),
    (-1215, Data, "Value exceeds limit of INTEGER precision."),
    (-1216, Data, "Illegal exponent in a number."),
    (-1218, Data, "String to date conversion error."),
    (-1226, Data, "Decimal or money value exceeds maximum precision."),
    (-1260, Data, "It is not possible to convert between the specified types."),
    (-1261, Data, "Too many digits in the first field of datetime or interval."),
    (-1262, Data, "Non-numeric character in datetime or interval."),
    (-1263, Data, "A field in a datetime or interval value is out of range."),
    (-1264, Data, "Extra characters at the end of a datetime or interval."),
    (-1265, Data, "Overflow occurred on a datetime or interval operation."),
    (-1266, Data, "Intervals or datetimes are incompatible for the operation."),
    (-1267, Data, "The result of a datetime computation is out of range."),
    (-1268, Data, "Invalid datetime or interval qualifier."),
    (-1276, Data, "A format has a conversion character that is not supported."),
    (-1277, Data, "Input does not match the format."),
    (-1279, Data, "Value exceeds string column length."),
    (-1284, Data, "Value will not fit in a BIGINT or INT8."),
    (-1820, NotSupported, "Host variable type or length has changed without reopening the cursor."),
    (-1829, Operational, "Cannot attach to the database server's shared memory."),
    (-8315, Data, "The sequence has reached the end of its values."),
    (-9628, NotSupported, "Type (%s) not found."),
    (-9632, Data, "Value does not match the type of column (%s)."),
    (-9633, Programming, "ALTER TABLE cannot modify the type of column (%s): no cast from the present one."),
    (-9634, NotSupported, "No cast from %s."),
    (-9637, Programming, "Cast function (%s) does not exist."),
    (-9659, NotSupported, "The operation is not there for values of this type."),
    (-9700, Programming, "Routine (%s) is ambiguous: more than one has this signature."),
    (-9791, Data, "Cannot convert the value to BOOLEAN."),
    (-9810, Operational, "The smart large object cannot be used."),
    (-9921, Programming, "The cast already exists in the database."),
    (-9922, Programming, "The cast does not exist in the database."),
    (-9923, Programming, "A cast between these types cannot be created."),
    (-11040, NotSupported, "The operation is not supported for this type."),
    (-23101, Operational, "Unable to load locale categories."),
    (-25580, Operational, "System error occurred in network function."),
    (-25582, Operational, "Network connection is broken."),
    (-25596, Operational, "The INFORMIXSERVER value is not listed in the sqlhosts file."),
    (-26005, Data, "The data is not encrypted, or not by this server."),
    (-26008, Data, "Decryption has failed: the password is wrong."),
    (-26079, Data, "CONNECT BY has found a loop."),
    (-27001, Operational, "Read error occurred during connection attempt."),
    (-27002, Operational, "No connections are allowed in quiescent mode."),
];

/// ISAM codes.
#[rustfmt::skip]
const ISAM: &[(i16, &str)] = &[
    (-100, "duplicate value for a record with unique key"),
    (-101, "file is not open"),
    (-102, "illegal argument to ISAM function"),
    (-104, "too many files open"),
    (-105, "bad isam file format"),
    (-106, "non-exclusive access"),
    (-107, "record is locked"),
    (-108, "key already exists"),
    (-111, "no record found"),
    (-112, "no current record"),
    (-113, "the file is locked"),
    (-121, "cannot write log record"),
    (-131, "no free disk space"),
    (-134, "no more locks"),
    (-136, "no more extents"),
    (-143, "deadlock detected"),
    (-144, "key value locked"),
    (-154, "lock time-out expired"),
    (-157, "interrupted ISAM call"),
];

fn row(code: i16) -> Option<&'static (i16, Kind, &'static str)> {
    ERRORS.iter().find(|row| row.0 == code)
}

/// Whose fault an SQL code is.
pub fn error_kind(code: i16) -> Kind {
    match row(code) {
        Some(row) => row.1,
        None if (-1299..=-1200).contains(&code) => Data,
        None => Database,
    }
}

/// The text of an SQL code with its token in place; `None` for codes that are not in the table.
pub fn error_text(code: i16, token: &str) -> Option<String> {
    let text = row(code)?.2;
    Some(match (text.contains("%s"), token) {
        (false, _) => text.to_owned(),
        (true, "") => text.replace(" (%s)", "").replace("%s", "it"),
        (true, token) => text.replace("%s", token),
    })
}

/// The whole message for an error of the server: `-268: Unique constraint (u1) violated. ISAM -100: duplicate value …`.
pub fn message(error: &SqlError) -> String {
    let token = String::from_utf8_lossy(&error.token);
    let mut message = match error_text(error.sqlcode, &token) {
        Some(text) => format!("{}: {text}", error.sqlcode),
        None if token.is_empty() => format!("{}: Informix error.", error.sqlcode),
        None => format!("{}: Informix error ({token}).", error.sqlcode),
    };
    if error.isam != 0 {
        message.push_str(&format!(" ISAM {}", error.isam));
        if let Some((_, text)) = ISAM.iter().find(|row| row.0 == error.isam) {
            message.push_str(": ");
            message.push_str(text);
        }
        message.push('.');
    }
    if error.offset > 0 {
        message.push_str(&format!(" At position {}.", error.offset));
    }
    if let Some(row) = error.row {
        message.push_str(&format!(" In row {row} of the batch (from 0); those before it were executed."));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_code_twice() {
        assert!(ERRORS.windows(2).all(|pair| pair[0].0 > pair[1].0));
        assert!(ISAM.windows(2).all(|pair| pair[0].0 > pair[1].0));
        assert!(ERRORS.len() > 100);
    }

    #[test]
    fn messages_name_everything_that_is_known() {
        let error = SqlError { sqlcode: -268, isam: -100, offset: 0, token: b"informix.u1".to_vec(), row: Some(3) };
        let want = "-268: Unique constraint (informix.u1) violated. ISAM -100: duplicate value for a record with \
                    unique key. In row 3 of the batch (from 0); those before it were executed.";
        assert_eq!(message(&error), want);
        let error = SqlError { sqlcode: -201, offset: 8, ..SqlError::default() };
        assert_eq!(message(&error), "-201: A syntax error has occurred. At position 8.");
        assert_eq!(error_text(-206, "").unwrap(), "The specified table is not in the database.");
        assert_eq!(error_kind(-1299), Kind::Data);
        assert_eq!(error_kind(-9999), Kind::Database);
    }
}
