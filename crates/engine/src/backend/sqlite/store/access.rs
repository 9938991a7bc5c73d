//! Roles, owners and privileges.

use rowferry_dialect::access::{Acl, BOOTSTRAP, DATABASE, ObjectClass, Role};
use rusqlite::params;

use super::Store;
use crate::backend::Done;
use crate::backend::sqlite::schema::{access, metadata};

/// What is kept of an object's owner and privileges: object, column, owner, list.
pub type PrivilegeRow = (u32, String, Option<u32>, Option<String>);

impl Store<'_> {
    /// Makes room for roles and privileges.
    pub fn keep_access(&self, database: &str) -> Done {
        Ok(access::create(self.handle.bound(), database)?)
    }

    /// Writes a role as it is to be.
    pub fn write_role(&self, role: &Role) -> Done {
        let config = (!role.config.is_empty()).then(|| serde_json::json!(role.config).to_string());
        self.execute(
            "INSERT OR REPLACE INTO main.rowferry_roles VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                role.oid,
                role.superuser,
                role.inherit,
                role.create_role,
                role.create_db,
                role.login,
                role.replication,
                role.bypass_rls,
                role.connection_limit,
                role.password,
                role.valid_until,
                config
            ],
        )?;
        Ok(())
    }

    /// Gives the bootstrap superuser an entry under a name.
    pub fn name_bootstrap(&self, name: &str) -> Done {
        let sql = "INSERT INTO main.rowferry_objects (oid, kind, namespace, name, language)
                   VALUES (?1, 'role', '', ?2, 'postgres') ON CONFLICT DO UPDATE SET name = excluded.name";
        self.execute(sql, params![BOOTSTRAP, name])?;
        Ok(())
    }

    /// A role is gone, and what it was a member of, and its members.
    pub fn forget_role(&self, oid: u32) -> Done {
        self.execute("DELETE FROM main.rowferry_roles WHERE oid = ?1", [oid])?;
        self.execute("DELETE FROM main.rowferry_members WHERE role = ?1 OR member = ?1", [oid])?;
        if metadata::has_properties(self.handle.bound(), "main")? {
            let sql = "DELETE FROM main.rowferry_properties WHERE oid = ?1 AND part = ?2";
            self.execute(sql, params![DATABASE, oid.to_string()])?;
        }
        Ok(())
    }

    /// Makes a role a member of another.
    pub fn write_member(&self, role: u32, member: u32, grantor: u32, admin: bool) -> Done {
        let sql = "INSERT OR REPLACE INTO main.rowferry_members VALUES (?1, ?2, ?3, ?4)";
        self.execute(sql, params![role, member, grantor, admin])?;
        Ok(())
    }

    /// Takes a membership back, or only the right to give it on; false where there is none.
    pub fn remove_member(&self, role: u32, member: u32, admin_only: bool) -> Done<bool> {
        let sql = if admin_only {
            "UPDATE main.rowferry_members SET admin = 0 WHERE role = ?1 AND member = ?2"
        } else {
            "DELETE FROM main.rowferry_members WHERE role = ?1 AND member = ?2"
        };
        Ok(self.execute(sql, [role, member])? > 0)
    }

    /// Writes whose an object is.
    pub fn write_owner(&self, database: &str, oid: u32, owner: u32) -> Done {
        access::create(self.handle.bound(), database)?;
        let sql = format!(
            "INSERT INTO {database}.rowferry_privileges (oid, column_name, owner) VALUES (?1, '', ?2)
             ON CONFLICT DO UPDATE SET owner = excluded.owner"
        );
        self.execute(&sql, [oid, owner])?;
        Ok(())
    }

    /// Keeps what is granted on an object or column; `None` is what it was born with.
    pub fn write_list(&self, database: &str, oid: u32, column: &str, list: Option<&Acl>) -> Done {
        access::create(self.handle.bound(), database)?;
        let sql = format!(
            "INSERT INTO {database}.rowferry_privileges (oid, column_name, privileges) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET privileges = excluded.privileges"
        );
        self.execute(&sql, params![oid, column, list.map(Acl::stored)])?;
        let sql = format!(
            "DELETE FROM {database}.rowferry_privileges WHERE oid = ?1 AND owner IS NULL AND privileges IS NULL"
        );
        self.execute(&sql, [oid])?;
        Ok(())
    }

    /// Forgets an object's owner and what is granted on it; false where nothing is kept of it.
    pub fn forget_privileges(&self, database: &str, oid: u32) -> Done<bool> {
        let sql = format!("DELETE FROM {database}.rowferry_privileges WHERE oid = ?1");
        Ok(access::exist(self.handle.bound(), database)? && self.execute(&sql, [oid])? > 0)
    }

    /// What is granted on a column goes with its name, or (`None`) with it; false where nothing is.
    pub fn move_column_privileges(&self, database: &str, oid: u32, from: &str, to: Option<&str>) -> Done<bool> {
        if !access::exist(self.handle.bound(), database)? {
            return Ok(false);
        }
        let changed = match to {
            Some(to) => {
                let sql = format!(
                    "UPDATE {database}.rowferry_privileges SET column_name = ?3 WHERE oid = ?1 AND column_name = ?2"
                );
                self.execute(&sql, params![oid, from, to])?
            }
            None => {
                let sql = format!("DELETE FROM {database}.rowferry_privileges WHERE oid = ?1 AND column_name = ?2");
                self.execute(&sql, params![oid, from])?
            }
        };
        Ok(changed > 0)
    }

    /// What is kept of an object's owner and privileges.
    pub fn privilege_rows(&self, database: &str, oid: u32) -> Done<Vec<PrivilegeRow>> {
        if !access::exist(self.handle.bound(), database)? {
            return Ok(Vec::new());
        }
        let sql =
            format!("SELECT oid, column_name, owner, privileges FROM {database}.rowferry_privileges WHERE oid = ?1");
        let mut statement = self.handle.bound().prepare_cached(&sql)?;
        let rows = statement.query_map([oid], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Gives an object back what was kept of it.
    pub fn put_privilege_row(&self, database: &str, (oid, column, owner, list): &PrivilegeRow) -> Done {
        let sql = format!("INSERT INTO {database}.rowferry_privileges VALUES (?1, ?2, ?3, ?4)");
        self.execute(&sql, params![oid, column, owner, list])?;
        Ok(())
    }

    /// Writes what a role's objects of a class are born with in a schema (0: in any); `None` is what all are.
    pub fn write_default_list(
        &self,
        known: Option<u32>,
        role: u32,
        namespace: u32,
        class: ObjectClass,
        list: Option<&Acl>,
    ) -> Done {
        let class = class.letter().to_string();
        let sql = "DELETE FROM main.rowferry_default_privileges WHERE role = ?1 AND namespace = ?2 AND class = ?3";
        self.execute(sql, params![role, namespace, class])?;
        if let Some(list) = list {
            let sql = "INSERT INTO main.rowferry_default_privileges (oid, role, namespace, class, privileges)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            self.execute(sql, params![known, role, namespace, class, list.stored()])?;
        }
        Ok(())
    }

    /// Writes a list that objects are born with anew.
    pub fn change_default_list(&self, oid: u32, list: &Acl) -> Done {
        let sql = "UPDATE main.rowferry_default_privileges SET privileges = ?2 WHERE oid = ?1";
        self.execute(sql, params![oid, list.stored()])?;
        Ok(())
    }

    /// Forgets what a role's objects are born with.
    pub fn forget_default_lists_of(&self, role: u32) -> Done {
        self.execute("DELETE FROM main.rowferry_default_privileges WHERE role = ?1", [role])?;
        Ok(())
    }

    /// Forgets what objects of a schema are born with; false where nothing is kept of it.
    pub fn forget_default_lists_in(&self, namespace: u32) -> Done<bool> {
        let sql = "DELETE FROM main.rowferry_default_privileges WHERE namespace = ?1";
        Ok(access::exist(self.handle.bound(), "main")? && self.execute(sql, [namespace])? > 0)
    }
}
