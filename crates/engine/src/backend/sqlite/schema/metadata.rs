//! The tables in a file that keep what SQLite cannot say.
//!
//! They are made at the first need: a file that is only read stays as it was. A table without an entry was made by
//! somebody else. What SQLite's own schema says always wins over what stands here, because anybody may change it.

use rusqlite::{Connection, OptionalExtension as _, Result};

/// The first object id given to a user's object, as in PostgreSQL.
pub const FIRST_OID: u32 = 16_384;

/// The tables, for a database (`main`, `temp`).
///
/// - `rowferry_objects`: tables, views, indexes, sequences and schemas made through us, and those with a comment;
///   routines, each under its signature, with the text of its CREATE;
/// - `rowferry_columns`: of a view all its columns, of a table those about which there is something to say;
/// - `rowferry_constraints`: the text of checks in the author's language, and those that the engine enforces;
/// - `rowferry_sequences`: their state;
/// - `rowferry_dependencies`: what a view needs, by object id: relations, their columns (`target_column`), routines,
///   sequences. A view without rows has been made by an older version; one that needs nothing has a row with target 0;
/// - `rowferry_properties`: small facts about a relation, each under a name: of the relation itself (`part` is empty), of
///   one of its columns (`part` is the column), of a constraint or an index (`part` is its name, and the property's name
///   begins with `constraint_` or `index_`). `pins` of a view says what the names in its text stand for, see
///   [`rowferry_dialect::pins`]. It is made when the first fact comes;
/// - `rowferry_triggers`: triggers by the object id of their relation, with SQL's words for what they wait for. `events`
///   are in blanks, `columns` (of UPDATE OF) and `arguments` are JSON arrays, `checked` says when a constraint trigger
///   fires (`immediate`, `deferrable`, `deferred`). It is made with the first trigger;
/// - `rowferry_rules`: rules by the object id of their relation. `event` is SQL's word, `enabled` the letter of `pg_rewrite`,
///   `actions` a JSON array of texts, which name relations in their schemas, `needs` one of what the texts name. It is made
///   with the first rule;
/// - `rowferry_policies`: policies by the object id of their table, which a property of the table says to be asked. `roles` is
///   a JSON array of object ids, 0 for PUBLIC; `needs` is one of what the conditions name: object id and column. It is made
///   with the first policy.
fn definitions(database: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {database}.rowferry_objects (
    oid INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    physical_name TEXT,
    language TEXT NOT NULL,
    definition TEXT,
    comment TEXT,
    UNIQUE (kind, namespace, name)
);
CREATE TABLE IF NOT EXISTS {database}.rowferry_columns (
    oid INTEGER NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    type TEXT,
    default_text TEXT,
    identity TEXT,
    sequence TEXT,
    generated TEXT,
    comment TEXT,
    PRIMARY KEY (oid, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS {database}.rowferry_constraints (
    oid INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT,
    sql TEXT,
    comment TEXT,
    PRIMARY KEY (oid, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS {database}.rowferry_sequences (
    oid INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    start INTEGER NOT NULL,
    increment INTEGER NOT NULL,
    min INTEGER NOT NULL,
    max INTEGER NOT NULL,
    cycle INTEGER NOT NULL,
    last_value INTEGER NOT NULL,
    is_called INTEGER NOT NULL,
    owner_table TEXT,
    owner_column TEXT,
    cache INTEGER NOT NULL DEFAULT 1,
    stamp INTEGER NOT NULL DEFAULT 0
);
{}",
        dependencies(database)
    )
}

fn dependencies(database: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {database}.rowferry_dependencies (
    oid INTEGER NOT NULL,
    target INTEGER NOT NULL,
    target_column TEXT NOT NULL,
    PRIMARY KEY (oid, target, target_column)
) WITHOUT ROWID;
"
    )
}

fn properties(database: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {database}.rowferry_properties (
    oid INTEGER NOT NULL,
    part TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (oid, part, name)
) WITHOUT ROWID;
"
    )
}

fn triggers(database: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {database}.rowferry_triggers (
    oid INTEGER NOT NULL,
    name TEXT NOT NULL,
    trigger_oid INTEGER NOT NULL,
    function INTEGER NOT NULL,
    time TEXT NOT NULL,
    level TEXT NOT NULL,
    events TEXT NOT NULL,
    columns TEXT,
    condition TEXT,
    arguments TEXT,
    old_table TEXT,
    new_table TEXT,
    checked TEXT,
    referenced INTEGER,
    enabled TEXT NOT NULL,
    comment TEXT,
    PRIMARY KEY (oid, name)
) WITHOUT ROWID;
"
    )
}

fn rules(database: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {database}.rowferry_rules (
    oid INTEGER NOT NULL,
    name TEXT NOT NULL,
    rule_oid INTEGER NOT NULL,
    event TEXT NOT NULL,
    instead INTEGER NOT NULL,
    condition TEXT,
    actions TEXT NOT NULL,
    enabled TEXT NOT NULL,
    needs TEXT NOT NULL,
    comment TEXT,
    PRIMARY KEY (oid, name)
) WITHOUT ROWID;
"
    )
}

fn policies(database: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {database}.rowferry_policies (
    oid INTEGER NOT NULL,
    name TEXT NOT NULL,
    policy_oid INTEGER NOT NULL,
    permissive INTEGER NOT NULL,
    command TEXT NOT NULL,
    roles TEXT NOT NULL,
    using_text TEXT,
    check_text TEXT,
    needs TEXT NOT NULL,
    comment TEXT,
    PRIMARY KEY (oid, name)
) WITHOUT ROWID;
"
    )
}

/// True when the database has a table of this name.
///
/// A file's is looked up among the names that SQLite knows, and is not sought in a list with a row for each table; it finds
/// out itself when what it knows is old. Beside temporary tables the file may not be looked at, and there are few.
pub(super) fn has_table(connection: &Connection, database: &str, table: &str) -> Result<bool> {
    if database == "temp" {
        let sql = format!("SELECT 1 FROM temp.sqlite_schema WHERE name = '{table}'");
        return connection.prepare_cached(&sql)?.exists([]);
    }
    let sql = format!("SELECT 1 FROM {database}.{table} LIMIT 0");
    match connection.prepare_cached(&sql).and_then(|mut statement| statement.exists([])) {
        Ok(_) => Ok(true),
        Err(error) if error.to_string().starts_with("no such table") => Ok(false),
        Err(error) => Err(error),
    }
}

/// True when the file has the table of policies, which is made when there is one.
pub fn has_policies(connection: &Connection, database: &str) -> Result<bool> {
    has_table(connection, database, "rowferry_policies")
}

/// Makes the table of policies unless it is there.
pub fn create_policies(connection: &Connection, database: &str) -> Result<()> {
    if has_policies(connection, database)? {
        return Ok(());
    }
    connection.execute_batch(&policies(database))
}

/// True when the file has the table of rules, which is made when there is one.
pub fn has_rules(connection: &Connection, database: &str) -> Result<bool> {
    has_table(connection, database, "rowferry_rules")
}

/// Makes the table of rules unless it is there.
pub fn create_rules(connection: &Connection, database: &str) -> Result<()> {
    if has_rules(connection, database)? {
        return Ok(());
    }
    connection.execute_batch(&rules(database))
}

/// True when the file has the table of triggers, which is made when there is one.
pub fn has_triggers(connection: &Connection, database: &str) -> Result<bool> {
    has_table(connection, database, "rowferry_triggers")
}

/// Makes the table of triggers unless it is there.
pub fn create_triggers(connection: &Connection, database: &str) -> Result<()> {
    if has_triggers(connection, database)? {
        return Ok(());
    }
    connection.execute_batch(&triggers(database))
}

/// How names begin that belong to the storage.
pub const RESERVED: [&str; 2] = ["sqlite_", "rowferry_"];

/// True for the names of these tables (and of SQLite's own), which users are not shown.
pub fn is_internal(name: &str) -> bool {
    let starts = |prefix: &str| name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    RESERVED.into_iter().any(starts)
}

/// True when the file has the tables.
pub fn exist(connection: &Connection, database: &str) -> Result<bool> {
    has_table(connection, database, "rowferry_objects")
}

/// True when the file has the table of dependencies, which older versions did not make.
pub fn has_dependencies(connection: &Connection, database: &str) -> Result<bool> {
    has_table(connection, database, "rowferry_dependencies")
}

/// True when the file's table of sequences has the columns that older versions did not make.
pub fn has_stamps(connection: &Connection, database: &str) -> Result<bool> {
    // SQLite's function that lists columns is a table of `main`, whose state may not be looked at.
    let sql = format!("SELECT sql FROM {database}.sqlite_schema WHERE name = 'rowferry_sequences'");
    let text: Option<String> = connection.prepare_cached(&sql)?.query_row([], |row| row.get(0)).optional()?;
    let table = text.as_deref().and_then(rowferry_dialect::lower::sqlite::create_table::TableText::parse);
    Ok(table.is_some_and(|table| table.column("stamp").is_some()))
}

/// Adds to the table of sequences what older versions did not have.
pub fn create_stamps(connection: &Connection, database: &str) -> Result<()> {
    if has_stamps(connection, database)? {
        return Ok(());
    }
    connection.execute_batch(&format!(
        "ALTER TABLE {database}.rowferry_sequences ADD COLUMN cache INTEGER NOT NULL DEFAULT 1;
         ALTER TABLE {database}.rowferry_sequences ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0"
    ))
}

/// Makes the table of dependencies unless it is there.
pub fn create_dependencies(connection: &Connection, database: &str) -> Result<()> {
    if has_dependencies(connection, database)? {
        return Ok(());
    }
    connection.execute_batch(&dependencies(database))
}

/// True when the file has the table of properties, which is made when there is one.
pub fn has_properties(connection: &Connection, database: &str) -> Result<bool> {
    has_table(connection, database, "rowferry_properties")
}

/// Makes the table of properties unless it is there.
pub fn create_properties(connection: &Connection, database: &str) -> Result<()> {
    if has_properties(connection, database)? {
        return Ok(());
    }
    connection.execute_batch(&properties(database))
}

/// Makes the tables unless they are there.
pub fn create(connection: &Connection, database: &str) -> Result<()> {
    if exist(connection, database)? {
        return Ok(());
    }
    connection.execute_batch(&definitions(database))?;
    connection.execute(
        &format!("INSERT OR IGNORE INTO {database}.sqlite_sequence (name, seq) VALUES ('rowferry_objects', ?1)"),
        [first_oid(database) - 1],
    )?;
    Ok(())
}

/// Temporary objects count elsewhere, so that they never share an id with the file's.
fn first_oid(database: &str) -> u32 {
    if database == "temp" { 0x3000_0000 } else { FIRST_OID }
}

/// An object id for what has no entry: a number that depends on nothing but its name, far from those that are counted.
pub fn derived_oid(kind: &str, database: &str, parts: &[&str]) -> u32 {
    // FNV-1a.
    let mut hash: u32 = 0x811c_9dc5;
    let mut eat = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    };
    eat(kind);
    eat(database);
    parts.iter().for_each(|part| eat(part));
    0x4000_0000 | (hash & 0x3fff_ffff)
}
