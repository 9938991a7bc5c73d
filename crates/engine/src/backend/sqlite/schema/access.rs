//! Roles, owners and privileges in a file's own tables.

use std::collections::BTreeMap;

use rowferry_dialect::access::roles::DatabaseFacts;
use rowferry_dialect::access::{Acl, DATABASE, DefaultAcl, Grants, Membership, ObjectClass, Role, Roles};
use rusqlite::{Connection, Result};

/// The tables. They are made with the first role, the first owner who is not the bootstrap superuser, the first GRANT.
///
/// - `rowferry_roles`: what a role may do; its name and comment are in `rowferry_objects`;
/// - `rowferry_members`: who is a member of which role;
/// - `rowferry_privileges`: owners, and lists of what is granted, of an object or (with a name) of one of its columns;
/// - `rowferry_default_privileges`: what objects to come are born with.
///
/// Roles are numbered as PostgreSQL numbers them: 10 is the bootstrap superuser, 0 in a list is PUBLIC.
fn definitions(database: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {database}.rowferry_roles (
    oid INTEGER PRIMARY KEY,
    superuser INTEGER NOT NULL,
    inherit INTEGER NOT NULL,
    create_role INTEGER NOT NULL,
    create_db INTEGER NOT NULL,
    login INTEGER NOT NULL,
    replication INTEGER NOT NULL,
    bypass_rls INTEGER NOT NULL,
    connection_limit INTEGER NOT NULL,
    password TEXT,
    valid_until TEXT,
    config TEXT
);
CREATE TABLE IF NOT EXISTS {database}.rowferry_members (
    role INTEGER NOT NULL,
    member INTEGER NOT NULL,
    grantor INTEGER NOT NULL,
    admin INTEGER NOT NULL,
    PRIMARY KEY (role, member)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS {database}.rowferry_privileges (
    oid INTEGER NOT NULL,
    column_name TEXT NOT NULL,
    owner INTEGER,
    privileges TEXT,
    PRIMARY KEY (oid, column_name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS {database}.rowferry_default_privileges (
    oid INTEGER PRIMARY KEY,
    role INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    class TEXT NOT NULL,
    privileges TEXT NOT NULL,
    UNIQUE (role, namespace, class)
);
"
    )
}

/// True when the database has the tables.
pub fn exist(connection: &Connection, database: &str) -> Result<bool> {
    super::metadata::has_table(connection, database, "rowferry_privileges")
}

/// Makes the tables unless they are there.
pub fn create(connection: &Connection, database: &str) -> Result<()> {
    if exist(connection, database)? {
        return Ok(());
    }
    super::metadata::create(connection, database)?;
    connection.execute_batch(&definitions(database))
}

/// Reads the tables of a database.
pub fn load(connection: &Connection, database: &str) -> Result<(Roles, Grants)> {
    let facts = load_facts(connection, database)?;
    if !exist(connection, database)? {
        return Ok((Roles::default().of_database(facts), Grants::default()));
    }
    let grants = load_grants(connection, database)?;
    let roles = load_roles(connection, database)?;
    let sql = format!("SELECT role, member, grantor, admin FROM {database}.rowferry_members ORDER BY role, member");
    let memberships = connection
        .prepare_cached(&sql)?
        .query_map([], |row| {
            Ok(Membership { role: row.get(0)?, member: row.get(1)?, grantor: row.get(2)?, admin: row.get(3)? })
        })?
        .collect::<Result<Vec<_>>>()?;
    let roles = Roles::new(roles, memberships, &grants).of_database(facts);
    Ok((roles, grants))
}

/// What the file says of itself, among its small facts.
fn load_facts(connection: &Connection, database: &str) -> Result<DatabaseFacts> {
    let mut facts = DatabaseFacts::default();
    if !super::metadata::has_properties(connection, database)? {
        return Ok(facts);
    }
    let sql = format!("SELECT part, name, value FROM {database}.rowferry_properties WHERE oid = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([DATABASE])?;
    while let Some(row) = rows.next()? {
        let (part, name): (String, String) = (row.get(0)?, row.get(1)?);
        facts.take(&part, &name, row.get(2)?);
    }
    Ok(facts)
}

fn load_roles(connection: &Connection, database: &str) -> Result<Vec<Role>> {
    let sql = format!(
        "SELECT r.oid, o.name, r.superuser, r.inherit, r.create_role, r.create_db, r.login, r.replication, r.bypass_rls,
         r.connection_limit, r.password, r.valid_until, r.config, o.comment
         FROM {database}.rowferry_roles r JOIN {database}.rowferry_objects o ON o.oid = r.oid AND o.kind = 'role'"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], |row| {
        let config: Option<String> = row.get(12)?;
        let config: BTreeMap<String, String> = config
            .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
            .map(|value| {
                let pairs = value.as_object().cloned().unwrap_or_default().into_iter();
                pairs.filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
            })
            .unwrap_or_default();
        Ok(Role {
            oid: row.get(0)?,
            name: row.get(1)?,
            superuser: row.get(2)?,
            inherit: row.get(3)?,
            create_role: row.get(4)?,
            create_db: row.get(5)?,
            login: row.get(6)?,
            replication: row.get(7)?,
            bypass_rls: row.get(8)?,
            connection_limit: row.get(9)?,
            password: row.get(10)?,
            valid_until: row.get(11)?,
            config,
            comment: row.get(13)?,
        })
    })?;
    rows.collect()
}

fn load_grants(connection: &Connection, database: &str) -> Result<Grants> {
    let mut grants = Grants::default();
    let sql = format!("SELECT oid, column_name, owner, privileges FROM {database}.rowferry_privileges");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (oid, column, owner): (u32, String, Option<u32>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let list: Option<String> = row.get(3)?;
        // A list that somebody has damaged grants nothing.
        let list = list.map(|text| Acl::from_stored(&text).unwrap_or_default());
        if column.is_empty() {
            grants.owners.extend(owner.map(|owner| (oid, owner)));
            grants.lists.extend(list.map(|list| (oid, list)));
        } else {
            grants.columns.extend(list.map(|list| ((oid, column), list)));
        }
    }
    let sql = format!(
        "SELECT oid, role, namespace, class, privileges FROM {database}.rowferry_default_privileges ORDER BY oid"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (class, list): (String, String) = (row.get(3)?, row.get(4)?);
        let Some(class) = class.chars().next().and_then(ObjectClass::of_letter) else { continue };
        let acl = Acl::from_stored(&list).unwrap_or_default();
        grants.defaults.push(DefaultAcl { oid: row.get(0)?, role: row.get(1)?, namespace: row.get(2)?, class, acl });
    }
    Ok(grants)
}
