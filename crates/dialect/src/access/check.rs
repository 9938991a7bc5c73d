//! What a plan needs to be allowed, and whether it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ObjectClass, Privileges, Rights};
use crate::ir::RelId;
use crate::schema::{Relation, RelationKind};
use crate::stored_function::StoredFunction;
use crate::{Condition, Error, Result, Type};

/// What a statement does with one relation.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// The relation's number in the statement.
    pub id: RelId,
    /// The relation.
    pub relation: Arc<Relation>,
    /// The view behind which it stands: that view's owner needs the privileges, and not the user.
    pub behind: Option<u32>,
    /// The statement changes it.
    pub target: bool,
    /// The role whose policies are part of the statement; none where no policies concern it.
    pub secured: Option<u32>,
    /// The privileges.
    pub privileges: Privileges,
    /// Columns that are read; with none, any column will do.
    pub read: BTreeSet<usize>,
    /// Columns that are inserted.
    pub inserted: BTreeSet<usize>,
    /// Columns that are updated.
    pub updated: BTreeSet<usize>,
}

/// What a statement does with all of its relations, in the order in which that is checked, and which functions it calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    /// Relations.
    pub relations: Vec<Need>,
    /// Functions of users by object id, with the word for their kind and their name.
    pub functions: BTreeMap<u32, (&'static str, String)>,
    /// Types of users that a definition names, by object id, with what messages call them.
    pub types: BTreeMap<u32, String>,
}

/// Catalogs that hold secrets: superusers only read them.
const SECRET: &[&str] = &[
    "_pg_foreign_data_wrappers",
    "_pg_foreign_servers",
    "_pg_foreign_table_columns",
    "_pg_foreign_tables",
    "_pg_user_mappings",
    "pg_authid",
    "pg_backend_memory_contexts",
    "pg_config",
    "pg_file_settings",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_largeobject",
    "pg_replication_origin_status",
    "pg_shadow",
    "pg_shmem_allocations",
    "pg_statistic",
    "pg_statistic_ext_data",
    "pg_user_mapping",
    "sql_parts",
    "transforms",
];

/// Whether everybody may read a relation: then nothing has to be noted.
pub fn is_open(relation: &Relation) -> bool {
    relation.kind == RelationKind::Catalog && !SECRET.contains(&relation.name.as_str())
}

impl Needs {
    /// Nothing is used that not everybody may use.
    pub fn is_empty(&self) -> bool {
        self.relations.is_empty() && self.functions.is_empty() && self.types.is_empty()
    }

    /// Notes that a relation is used.
    pub fn add(&mut self, id: RelId, relation: &Arc<Relation>, behind: Option<u32>, privileges: Privileges) {
        if is_open(relation) {
            return;
        }
        self.relations.push(Need {
            id,
            relation: relation.clone(),
            behind,
            target: false,
            secured: None,
            privileges,
            read: BTreeSet::new(),
            inserted: BTreeSet::new(),
            updated: BTreeSet::new(),
        });
    }

    /// Notes that a function of users is called, whoever has written the call: also one in a view.
    pub fn call(&mut self, function: &StoredFunction) {
        let definition = &function.definition;
        let kind = match (definition.procedure, definition.aggregate.is_some()) {
            (true, _) => "procedure",
            (_, true) => "aggregate",
            (false, false) => "function",
        };
        self.functions.entry(function.oid).or_insert_with(|| (kind, function.name.clone()));
    }

    /// Notes that something is defined by a type: USAGE on it is asked for. An array has the privileges of its members' type.
    pub fn declare(&mut self, ty: &Type) {
        match ty {
            Type::Array(element) => self.declare(element),
            Type::User(user) if !user.is_row_type() => {
                self.types.entry(user.oid).or_insert_with(|| crate::postgres::types::words(ty));
            }
            _ => {}
        }
    }

    /// How many have been noted: a mark for [`Self::number`].
    pub fn mark(&self) -> usize {
        self.relations.len()
    }

    /// The number of what was noted at a mark is known now.
    pub fn number(&mut self, mark: usize, id: RelId) {
        if let Some(need) = self.relations.get_mut(mark) {
            need.id = id;
        }
    }

    /// Notes that a role's policies for a relation are part of the statement.
    pub fn secure(&mut self, id: RelId, oid: u32, role: u32) {
        for need in self.relations.iter_mut().filter(|need| need.id == id && need.relation.oid == oid) {
            need.secured = Some(role);
        }
    }

    /// True when columns of a relation are read, or all of them may be.
    pub fn reads(&self, id: RelId, oid: u32) -> bool {
        let mut of_relation = self.relations.iter().filter(|need| need.id == id && need.relation.oid == oid);
        of_relation.any(|need| need.privileges.contains(Privileges::SELECT))
    }

    /// Notes that more is done with a relation.
    pub fn require(&mut self, id: RelId, privileges: Privileges) {
        for need in self.relations.iter_mut().filter(|need| need.id == id) {
            need.privileges = need.privileges | privileges;
        }
    }

    /// Notes that what was noted at a mark is changed.
    pub fn change(&mut self, mark: usize, id: RelId, privileges: Privileges) {
        if let Some(need) = self.relations.get_mut(mark) {
            need.id = id;
            need.target = true;
            need.privileges = privileges;
        }
    }

    /// Notes that views behind a view are changed, too, down to the table of this number.
    pub fn change_behind(&mut self, mark: usize, id: RelId, privileges: Privileges) {
        for need in self.relations.iter_mut().skip(mark + 1) {
            if need.id == id || matches!(need.relation.kind, RelationKind::View { .. }) {
                need.privileges = need.privileges | privileges;
            }
        }
    }

    /// Notes a column that an INSERT or an UPDATE changes.
    pub fn change_column(&mut self, id: RelId, column: (u32, usize), insert: bool) {
        let (oid, position) = column;
        if let Some(need) = self.relations.iter_mut().rfind(|need| need.id == id && need.relation.oid == oid) {
            if insert {
                need.inserted.insert(position)
            } else {
                need.updated.insert(position)
            };
        }
    }

    /// Notes that a column of a relation is read: `column` is a relation's object id and a position there, `id` the
    /// relation's number in the statement where it is a plain column.
    pub fn read(&mut self, column: (u32, usize), id: Option<RelId>) {
        let (oid, position) = column;
        let plain = id.and_then(|id| self.relations.iter().rposition(|need| need.id == id && need.relation.oid == oid));
        let changed = || self.relations.iter().rposition(|need| need.target && need.relation.oid == oid);
        let Some(at) = plain.or_else(changed) else { return };
        let need = &mut self.relations[at];
        need.privileges = need.privileges | Privileges::SELECT;
        need.read.insert(position);
    }

    /// Notes that a column of the relation of a number is read.
    pub fn read_of(&mut self, id: RelId, position: usize) {
        if let Some(need) = self.relations.iter_mut().rfind(|need| need.id == id) {
            need.privileges = need.privileges | Privileges::SELECT;
            need.read.insert(position);
        }
    }

    /// Refuses what the rights do not allow.
    ///
    /// # Errors
    /// `42501`.
    pub fn check(&self, rights: &Rights) -> Result<()> {
        let superuser = rights.is_superuser();
        for need in self.relations.iter().filter(|need| !need.relation.is_elsewhere()) {
            let role = match need.behind {
                None if superuser => continue,
                None => rights.role(),
                Some(view) => rights.owner(view),
            };
            if !need.is_met(rights, role) {
                return Err(need.denied(rights, role));
            }
        }
        for (oid, (kind, name)) in self.functions.iter().filter(|_| !superuser) {
            if !rights.held_by(rights.role(), ObjectClass::Routine, *oid).0.contains(Privileges::EXECUTE) {
                return Err(denied(kind, name));
            }
        }
        for (oid, name) in self.types.iter().filter(|_| !superuser) {
            if !rights.held_by(rights.role(), ObjectClass::Type, *oid).0.contains(Privileges::USAGE) {
                return Err(denied("type", name));
            }
        }
        self.check_policies(rights)
    }

    /// Refuses a statement that has not the policies which concern it: nobody ever sees by another role's.
    fn check_policies(&self, rights: &Rights) -> Result<()> {
        let secured = |need: &&Need| need.relation.security.is_some() && !need.relation.is_elsewhere();
        for need in self.relations.iter().filter(secured) {
            let role = need.behind.map_or_else(|| rights.role(), |view| rights.owner(view));
            if !rights.is_secured(role, &need.relation) || need.secured == Some(role) {
                continue;
            }
            return Err(match need.secured {
                Some(_) => Error::new(
                    Condition::SerializationFailure,
                    "could not serialize access due to a concurrent change of roles",
                ),
                None => Error::unsupported(format!(
                    "table \"{}\" in this statement, which knows nothing of its row-level security,",
                    need.relation.name
                )),
            });
        }
        Ok(())
    }

    /// Refuses what policies would take rows from, where `row_security` is off.
    ///
    /// # Errors
    /// `42501`.
    pub fn check_unaffected(&self, rights: &Rights) -> Result<()> {
        match self.relations.iter().find_map(|need| Some((need, need.secured?))) {
            Some((need, role)) => {
                let owner = rights.roles.has_privileges_of(role, rights.owner(need.relation.oid));
                Err(super::would_be_affected(&need.relation, owner))
            }
            None => Ok(()),
        }
    }
}

impl Need {
    /// Refuses what a role may not do with a relation of another database: `relation` is what it is called there, `rights`
    /// are those there.
    ///
    /// # Errors
    /// `42501`; `0A000` for a table whose policies have a say.
    pub fn check_elsewhere(&self, relation: &Arc<Relation>, rights: &Rights, role: u32) -> Result<()> {
        let there = Self { relation: relation.clone(), behind: None, ..self.clone() };
        if !there.is_met(rights, role) {
            return Err(there.denied(rights, role));
        }
        if relation.security.is_some() && rights.is_secured(role, relation) {
            return Err(Error::unsupported(format!(
                "table \"{}\" of another database, which has row-level security,",
                relation.name
            )));
        }
        Ok(())
    }

    /// The refusal, which says what is missing where a language tells that apart.
    fn denied(&self, rights: &Rights, role: u32) -> Error {
        let missing = self.privileges.without(rights.held_by(role, ObjectClass::Relation, self.relation.oid).0);
        let told_apart = [
            (Privileges::UPDATE, Condition::NoUpdatePermission),
            (Privileges::DELETE, Condition::NoDeletePermission),
            (Privileges::INSERT, Condition::NoInsertPermission),
        ];
        let found = told_apart.into_iter().find(|(privilege, _)| missing.contains(*privilege));
        let condition = found.map_or(Condition::InsufficientPrivilege, |(_, condition)| condition);
        denied_as(condition, relation_words(&self.relation), &self.relation.name)
    }

    fn is_met(&self, rights: &Rights, role: u32) -> bool {
        if rights.roles.is_superuser(role) {
            return true;
        }
        if self.relation.kind == RelationKind::Catalog {
            return false;
        }
        let class = match self.relation.kind {
            RelationKind::Sequence { .. } => ObjectClass::Sequence,
            _ => ObjectClass::Relation,
        };
        let (held, _) = rights.held_by(role, class, self.relation.oid);
        let missing = self.privileges.without(held);
        if missing.is_empty() {
            return true;
        }
        let of_columns = [
            (Privileges::SELECT, &self.read),
            (Privileges::INSERT, &self.inserted),
            (Privileges::UPDATE, &self.updated),
        ];
        let all = of_columns.iter().fold(Privileges::NONE, |all, (one, _)| all | *one);
        if !all.contains(missing) {
            return false;
        }
        let holds = |position: usize, privilege: Privileges| {
            let column = &self.relation.columns[position];
            rights.column_held_by(role, self.relation.oid, &column.name).0.contains(privilege)
        };
        of_columns.into_iter().filter(|(privilege, _)| missing.contains(*privilege)).all(|(privilege, columns)| {
            if columns.is_empty() {
                (0..self.relation.columns.len()).any(|position| holds(position, privilege))
            } else {
                columns.iter().all(|position| holds(*position, privilege))
            }
        })
    }
}

/// The view whose owner needs the privileges on what stands behind the last of some views; none where that is the user,
/// too: with `security_invoker`, whatever leads there.
pub fn behind(schema: &dyn crate::Schema, views: &[u32]) -> Option<u32> {
    let view = *views.last()?;
    match &schema.relation_by_oid(view)?.kind {
        RelationKind::View { options, .. } if options.security_invoker() => None,
        _ => Some(view),
    }
}

/// What messages call a relation.
pub fn relation_words(relation: &Relation) -> &'static str {
    match relation.kind {
        RelationKind::Table | RelationKind::Catalog => "table",
        RelationKind::View { .. } | RelationKind::NativeView => "view",
        RelationKind::MaterializedView { .. } => "materialized view",
        RelationKind::Sequence { .. } => "sequence",
    }
}

/// `permission denied for table t`.
pub fn denied(kind: &str, name: &str) -> Error {
    denied_as(Condition::InsufficientPrivilege, kind, name)
}

/// The same under the condition that says what is not allowed.
pub fn denied_as(condition: Condition, kind: &str, name: &str) -> Error {
    Error::new(condition, format!("permission denied for {kind} {name}"))
}

/// `must be owner of table t`.
pub fn not_owner(kind: &str, name: &str) -> Error {
    Error::new(Condition::NotTheOwner, format!("must be owner of {kind} {name}"))
}
