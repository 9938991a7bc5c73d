//! Objects' entries: which there are, under which names, with which texts.

use rowferry_dialect::Language;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::user_type::UserType;
use rusqlite::{OptionalExtension as _, params};

use super::Store;
use crate::backend::Done;
use crate::backend::sqlite::schema::metadata;

/// What an object's entry says when it is made.
#[derive(Debug)]
pub struct Entry<'a> {
    /// What the object is.
    pub kind: &'a str,
    /// Its schema; empty where it is in none.
    pub namespace: &'a str,
    /// Its name, or signature.
    pub name: &'a str,
    /// What is stored under another name than its own.
    pub physical: Option<&'a str>,
    /// In whose words the definition is.
    pub language: Language,
    /// Its text.
    pub definition: Option<&'a str>,
}

/// A fact that an entry has about every kind of object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fact {
    /// What is said of it.
    Comment,
    /// Its text.
    Definition,
    /// Its name, or signature.
    Name,
    /// Its schema.
    Namespace,
}

impl Fact {
    fn column(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Definition => "definition",
            Self::Name => "name",
            Self::Namespace => "namespace",
        }
    }
}

impl Store<'_> {
    /// The object that has an entry under this name: left over where somebody has dropped it behind our back.
    pub fn entry_of(&self, database: &str, kind: &str, namespace: &str, name: &str) -> Done<Option<u32>> {
        metadata::create(self.handle.bound(), database)?;
        let sql =
            format!("SELECT oid FROM {database}.rowferry_objects WHERE kind = ?1 AND namespace = ?2 AND name = ?3");
        let mut statement = self.handle.bound().prepare_cached(&sql)?;
        Ok(statement.query_row([kind, namespace, name], |row| row.get(0)).optional()?)
    }

    /// Makes an entry; tells its object id.
    pub fn record(&self, database: &str, entry: &Entry<'_>) -> Done<u32> {
        let sql = format!(
            "INSERT INTO {database}.rowferry_objects (kind, namespace, name, physical_name, language, definition)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        );
        let Entry { kind, namespace, name, physical, language, definition } = entry;
        self.execute(&sql, params![kind, namespace, name, physical, language.name(), definition])?;
        Ok(self.handle.bound().last_insert_rowid() as u32)
    }

    /// Makes an entry for a relation that somebody else has made; its object id stays what it was.
    pub fn adopt(&self, relation: &Relation) -> Done {
        let database = relation.physical.database;
        metadata::create(self.handle.bound(), database)?;
        let kind = if matches!(relation.kind, RelationKind::Table) { "table" } else { "view" };
        let sql = format!(
            "INSERT OR IGNORE INTO {database}.rowferry_objects (oid, kind, namespace, name, physical_name, language)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        );
        let Relation { oid, namespace, name, physical, language, .. } = relation;
        self.execute(&sql, params![oid, kind, namespace, name, physical.name, language.name()])?;
        // Counting must not go on from an id that was derived from a name.
        let sql = format!(
            "UPDATE {database}.sqlite_sequence SET seq = (SELECT coalesce(max(oid), ?1) FROM {database}.rowferry_objects
             WHERE oid < ?2) WHERE name = 'rowferry_objects'"
        );
        self.execute(&sql, params![metadata::FIRST_OID - 1, 0x4000_0000])?;
        Ok(())
    }

    /// Forgets an object with all that is kept of it, its privileges apart.
    pub fn forget(&self, database: &str, oid: u32) -> Done {
        if !metadata::exist(self.handle.bound(), database)? {
            return Ok(());
        }
        let needs = metadata::has_dependencies(self.handle.bound(), database)?.then_some("dependencies");
        let properties = metadata::has_properties(self.handle.bound(), database)?.then_some("properties");
        let triggers = metadata::has_triggers(self.handle.bound(), database)?.then_some("triggers");
        let policies = metadata::has_policies(self.handle.bound(), database)?.then_some("policies");
        let rules = metadata::has_rules(self.handle.bound(), database)?.then_some("rules");
        let more = needs.into_iter().chain(properties).chain(triggers).chain(policies).chain(rules);
        for table in ["objects", "columns", "constraints", "sequences"].into_iter().chain(more) {
            self.execute(&format!("DELETE FROM {database}.rowferry_{table} WHERE oid = ?1"), [oid])?;
        }
        Ok(())
    }

    /// Forgets everything that is kept of temporary objects.
    pub fn forget_temporary(&self) -> Done {
        if metadata::exist(self.handle.bound(), "temp")? {
            self.batch(
                "DELETE FROM temp.rowferry_objects; DELETE FROM temp.rowferry_columns;
                 DELETE FROM temp.rowferry_constraints; DELETE FROM temp.rowferry_sequences;
                 DELETE FROM temp.rowferry_dependencies",
            )?;
        }
        if metadata::has_properties(self.handle.bound(), "temp")? {
            self.batch("DELETE FROM temp.rowferry_properties")?;
        }
        if metadata::has_triggers(self.handle.bound(), "temp")? {
            self.batch("DELETE FROM temp.rowferry_triggers")?;
        }
        if metadata::has_policies(self.handle.bound(), "temp")? {
            self.batch("DELETE FROM temp.rowferry_policies")?;
        }
        if metadata::has_rules(self.handle.bound(), "temp")? {
            self.batch("DELETE FROM temp.rowferry_rules")?;
        }
        Ok(())
    }

    /// An object id that nothing has or will have.
    pub fn new_oid(&self) -> Done<u32> {
        let sql = "UPDATE main.sqlite_sequence SET seq = seq + 1 WHERE name = 'rowferry_objects' RETURNING seq";
        Ok(self.handle.bound().prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// Writes one fact about an object.
    pub fn change_entry(&self, database: &str, oid: u32, fact: Fact, value: Option<&str>) -> Done {
        let sql = format!("UPDATE {database}.rowferry_objects SET {} = ?2 WHERE oid = ?1", fact.column());
        self.execute(&sql, params![oid, value])?;
        Ok(())
    }

    /// Gives a relation's entry another name and stored name.
    pub fn rename_entry(&self, database: &str, oid: u32, name: &str, physical: &str) -> Done {
        let sql = format!("UPDATE {database}.rowferry_objects SET name = ?1, physical_name = ?2 WHERE oid = ?3");
        self.execute(&sql, params![name, physical, oid])?;
        Ok(())
    }

    /// Gives a relation's entry another schema and stored name.
    pub fn move_entry(&self, database: &str, oid: u32, namespace: &str, physical: &str) -> Done {
        let sql = format!("UPDATE {database}.rowferry_objects SET namespace = ?1, physical_name = ?2 WHERE oid = ?3");
        self.execute(&sql, params![namespace, physical, oid])?;
        Ok(())
    }

    /// Gives the entry of an index, which is known by its stored name, another name and place; false where there is none.
    pub fn move_index_entry(&self, database: &str, from: &str, name: &str, to: &str, namespace: &str) -> Done<bool> {
        if !metadata::exist(self.handle.bound(), database)? {
            return Ok(false);
        }
        let sql = format!(
            "UPDATE {database}.rowferry_objects SET namespace = ?4, name = ?2, physical_name = ?3
             WHERE kind = 'index' AND physical_name = ?1"
        );
        Ok(self.execute(&sql, params![from, name, to, namespace])? > 0)
    }

    /// Writes a function's place, signature and text.
    pub fn rewrite_function(&self, database: &str, oid: u32, namespace: &str, signature: &str, text: &str) -> Done {
        let sql =
            format!("UPDATE {database}.rowferry_objects SET namespace = ?2, name = ?3, definition = ?4 WHERE oid = ?1");
        self.execute(&sql, params![oid, namespace, signature, text])?;
        Ok(())
    }

    /// Writes a type's place, name, definition and comment.
    pub fn rewrite_type(&self, ty: &UserType) -> Done {
        let sql = "UPDATE main.rowferry_objects SET namespace = ?2, name = ?3, definition = ?4, comment = ?5
                   WHERE oid = ?1";
        self.execute(sql, params![ty.oid, ty.namespace, ty.name, ty.definition(), ty.comment])?;
        Ok(())
    }

    /// Writes what is said of an object, which may be one that everybody has and that is in no entry of its own.
    pub fn comment_object(&self, oid: u32, kind: &str, text: Option<&str>) -> Done {
        metadata::create(self.handle.bound(), "main")?;
        let sql = "INSERT INTO main.rowferry_objects (oid, kind, namespace, name, language, comment)
                   VALUES (?2, 'comment', ?3, ?2, '', ?1) ON CONFLICT (oid) DO UPDATE SET comment = ?1";
        self.execute(sql, params![text, oid, kind])?;
        Ok(())
    }
}
