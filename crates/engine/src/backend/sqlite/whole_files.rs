//! Files that become a database: begun with roles, copied.

use std::path::Path;

use rowferry_dialect::access::{BOOTSTRAP, DATABASE};
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::schema::{access, metadata};
use crate::database::Shared;

/// Pages that are copied between two looks at whether the copy is still wanted.
const PAGES_AT_ONCE: i32 = 1_000;

/// A new file with the roles of another.
pub fn begin(path: &Path, roles_of: &Shared) -> Result<()> {
    let begun = || -> rusqlite::Result<()> {
        let connection = Connection::open(path)?;
        if roles_of.current().roles.is_simple() {
            return Ok(());
        }
        connection.execute("ATTACH ?1 AS source", [roles_of.path.to_string_lossy()])?;
        connection.execute_batch("BEGIN")?;
        access::create(&connection, "main")?;
        connection.execute_batch(
            "INSERT INTO main.rowferry_objects SELECT * FROM source.rowferry_objects WHERE kind = 'role';
             INSERT INTO main.rowferry_roles SELECT * FROM source.rowferry_roles;
             INSERT INTO main.rowferry_members SELECT * FROM source.rowferry_members;
             COMMIT",
        )
    };
    begun().map_err(|error| failed(path, &error))
}

/// A file with all that another has committed.
pub fn copy(from: &Shared, path: &Path) -> Result<()> {
    let source = from.connect().map_err(|failure| from.open_error(&failure))?;
    let copied = || -> rusqlite::Result<()> {
        let mut target = Connection::open(path)?;
        let backup = Backup::new(&source.0, &mut target)?;
        backup.run_to_completion(PAGES_AT_ONCE, std::time::Duration::from_millis(5), None)
    };
    copied().map_err(|error| failed(path, &error))
}

/// What is said of a new file as a database: nothing of what its template says of itself.
pub fn note_facts(path: &Path, facts: &[(&str, Option<String>)]) -> Result<()> {
    let noted = || -> rusqlite::Result<()> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if metadata::has_properties(&connection, "main")? {
            connection.execute("DELETE FROM rowferry_properties WHERE oid = ?1", [DATABASE])?;
        }
        for (name, value) in facts {
            let Some(value) = value else { continue };
            metadata::create_properties(&connection, "main")?;
            let note = "INSERT INTO rowferry_properties (oid, part, name, value) VALUES (?1, '', ?2, ?3)";
            connection.execute(note, params![DATABASE, name, value])?;
        }
        Ok(())
    };
    noted().map_err(|error| failed(path, &error))
}

/// Makes a role the owner of a file's database; there is none to be where the file knows no roles.
pub fn give_to(path: &Path, role: &str) -> Result<()> {
    let given = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if !access::exist(&connection, "main")? {
            return Ok(true);
        }
        let find = "SELECT oid FROM rowferry_objects WHERE kind = 'role' AND name = ?1";
        let found: Option<u32> = connection.query_row(find, [role], |row| row.get(0)).optional()?;
        let Some(owner) = found else { return Ok(false) };
        let owner = (owner != BOOTSTRAP).then_some(owner);
        // What was granted on the template is not granted on the copy.
        connection.execute("DELETE FROM rowferry_privileges WHERE oid = ?1", [DATABASE])?;
        if let Some(owner) = owner {
            let give = "INSERT INTO rowferry_privileges (oid, column_name, owner) VALUES (?1, '', ?2)";
            connection.execute(give, params![DATABASE, owner])?;
        }
        Ok(true)
    };
    match given() {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message = format!("role \"{role}\" does not exist in the template database");
            Err(Error::new(Condition::UndefinedObject, message))
        }
        Err(error) => Err(failed(path, &error)),
    }
}

fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    Error::new(Condition::IoError, format!("could not write \"{}\": {error}", path.display()))
}
