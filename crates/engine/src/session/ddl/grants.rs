//! GRANT and REVOKE of privileges, and ALTER DEFAULT PRIVILEGES.

use std::collections::BTreeMap;

use rowferry_dialect::access::acl::GrantChange;
use rowferry_dialect::access::{Acl, DATABASE, ObjectClass, PUBLIC, Privileges, denied_as, relation_words};
use rowferry_dialect::ir::{Grant, GrantTargets, RoleSpec};
use rowferry_dialect::schema::{QualifiedName, RelationKind};
use rowferry_dialect::{Condition, Error, Schema as _};

use super::function::database_of;
use super::owners::Object;
use super::{Changer, Done};

/// What is granted of one object: on the whole, and by column.
struct Wishes {
    whole: Privileges,
    columns: BTreeMap<String, Privileges>,
    /// ALL.
    all: bool,
}

impl Changer<'_> {
    /// The object of a class and name.
    pub(super) fn object(&self, class: ObjectClass, name: &QualifiedName) -> Done<Object> {
        let schema = self.schema();
        let object = |class, oid, database, kind, name: &str, namespace: &str| Object {
            class,
            oid,
            database,
            kind,
            name: name.to_owned(),
            namespace: if namespace.is_empty() { 0 } else { schema.namespace_oid(namespace) },
        };
        match class {
            ObjectClass::Schema => match schema.namespace_oid(&name.name) {
                0 => {
                    let message = format!("schema \"{}\" does not exist", name.name);
                    Err(Error::new(Condition::InvalidSchemaName, message).into())
                }
                oid => Ok(object(class, oid, "main", "schema", &name.name, "")),
            },
            ObjectClass::Database if name.name == self.session.database.name() => {
                Ok(object(class, DATABASE, "main", "database", &name.name, ""))
            }
            ObjectClass::Database => {
                let message = format!("database \"{}\" does not exist", name.name);
                Err(Error::new(Condition::InvalidCatalogName, message).into())
            }
            ObjectClass::Type => match schema.user_type(name) {
                Some(ty) => Ok(object(class, ty.oid, "main", "type", &ty.name, &ty.namespace)),
                None => {
                    let message = format!("type \"{name}\" does not exist");
                    Err(Error::new(Condition::UndefinedObject, message).into())
                }
            },
            // A routine in SPL, which is in no schema of its own.
            ObjectClass::Routine if name.schema.is_none() => {
                match schema.main.routines.iter().find(|routine| routine.signature == name.name) {
                    Some(found) => Ok(object(class, found.oid, "main", "function", &found.name, "")),
                    None => {
                        let message = format!("function {name} does not exist");
                        Err(Error::new(Condition::UndefinedFunction, message).into())
                    }
                }
            }
            ObjectClass::Routine => {
                let of_name = |function: &&std::sync::Arc<rowferry_dialect::stored_function::StoredFunction>| {
                    name.schema.as_deref() == Some(&*function.namespace) && function.signature() == name.name
                };
                match schema.stored_functions().find(of_name) {
                    Some(f) => Ok(object(class, f.oid, database_of(f), "function", &f.name, &f.namespace)),
                    None => {
                        let message = format!("function {name} does not exist");
                        Err(Error::new(Condition::UndefinedFunction, message).into())
                    }
                }
            }
            _ => {
                (&schema as &dyn rowferry_dialect::Schema).check_usage(name)?;
                let relation = schema.relation(name);
                let relation = relation.filter(|r| !matches!(r.kind, RelationKind::Sequence { .. }));
                if let Some(relation) = relation {
                    if class == ObjectClass::Sequence {
                        return Err(wrong_kind(&relation.name, "a sequence").into());
                    }
                    let (class, kind) = (ObjectClass::Relation, relation_words(&relation));
                    return Ok(object(
                        class,
                        relation.oid,
                        relation.physical.database,
                        kind,
                        &relation.name,
                        &relation.namespace,
                    ));
                }
                if let Some(details) = schema.sequence_details(name) {
                    let found = &details.sequence;
                    let class = ObjectClass::Sequence;
                    return Ok(object(class, found.oid, details.database, "sequence", &found.name, &found.namespace));
                }
                if let Some((relation, at)) = schema.index(name) {
                    return Err(wrong_kind_of_index(&relation.indexes[at].name).into());
                }
                let message = format!("relation \"{name}\" does not exist");
                Err(Error::new(Condition::UndefinedTable, message).into())
            }
        }
    }

    /// GRANT and REVOKE.
    pub(super) fn grant(&self, grant: &Grant) -> Done {
        self.check_grantor(grant)?;
        let objects = self.granted_objects(grant)?;
        let grantees = self.grantees(&grant.grantees)?;
        check_privileges(grant)?;
        for object in objects {
            self.grant_on(grant, &object, &grantees)?;
            self.settle()?;
        }
        Ok(())
    }

    pub(super) fn check_grantor(&self, grant: &Grant) -> Done {
        match &grant.grantor {
            Some(grantor) if self.role(grantor)? != self.rights().role() => {
                Err(Error::new(Condition::FeatureNotSupported, "grantor must be current user").into())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn grantees(&self, specs: &[RoleSpec]) -> Done<Vec<u32>> {
        let grantee = |spec: &RoleSpec| if *spec == RoleSpec::Public { Ok(PUBLIC) } else { self.role(spec) };
        specs.iter().map(grantee).collect()
    }

    fn granted_objects(&self, grant: &Grant) -> Done<Vec<Object>> {
        let schemas = match &grant.targets {
            GrantTargets::Named(names) => return names.iter().map(|name| self.object(grant.class, name)).collect(),
            GrantTargets::AllIn(schemas) => schemas,
            GrantTargets::Defaults => return Ok(Vec::new()),
        };
        let mut objects = Vec::new();
        for name in schemas {
            self.object(ObjectClass::Schema, &QualifiedName::bare(name.clone()))?;
            let schema = self.schema();
            let names: Vec<String> = match grant.class {
                ObjectClass::Relation => {
                    let relations = schema.user_relations().filter(|relation| relation.namespace == *name);
                    relations.map(|relation| relation.name.clone()).collect()
                }
                ObjectClass::Sequence => {
                    let sequences = schema.sequences().filter(|details| details.sequence.namespace == *name);
                    sequences.map(|details| details.sequence.name.clone()).collect()
                }
                ObjectClass::Routine => {
                    let functions = schema.stored_functions().filter(|function| {
                        let wanted = grant.procedures.is_none_or(|wanted| wanted == function.definition.procedure);
                        wanted && *function.namespace == **name
                    });
                    functions.map(|function| function.signature()).collect()
                }
                _ => return Err(Error::unsupported("GRANT ON ALL of these IN SCHEMA").into()),
            };
            for object in names {
                objects.push(self.object(grant.class, &QualifiedName::new(name.clone(), object))?);
            }
        }
        Ok(objects)
    }

    fn grant_on(&self, grant: &Grant, object: &Object, grantees: &[u32]) -> Done {
        let mut wishes = wishes_of(grant, object.class);
        let valid = Privileges::all_of(object.class);
        if object.class == ObjectClass::Sequence
            && grant.class == ObjectClass::Relation
            && !valid.contains(wishes.whole)
        {
            let message = format!("sequence \"{}\" only supports USAGE, SELECT, and UPDATE privileges", object.name);
            self.notice(Condition::Warning, message);
            wishes.whole = wishes.whole & valid;
        }
        if let Some((_, word)) = wishes.whole.without(valid).each().next() {
            let kind = if object.class == ObjectClass::Relation { "table" } else { object.kind };
            return Err(invalid_privilege(word, kind).into());
        }
        let relation =
            (object.class == ObjectClass::Relation).then(|| self.schema().relation_by_oid(object.oid)).flatten();
        if !grant.grant
            && let Some(relation) = &relation
        {
            // What is taken from the whole is taken from its columns, too.
            let of_columns = wishes.whole & Privileges::all_of(ObjectClass::Column);
            let rights = self.rights();
            for column in relation.columns.iter().filter(|c| rights.column_list(object.oid, &c.name).is_some()) {
                let wish = wishes.columns.entry(column.name.clone()).or_default();
                *wish = *wish | of_columns;
            }
        }
        if let Some(relation) = &relation {
            let missing = wishes.columns.keys().find(|name| !relation.columns.iter().any(|c| c.name == **name));
            if let Some(name) = missing {
                let message = format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
                return Err(Error::new(Condition::UndefinedColumn, message).into());
            }
            if relation.kind != rowferry_dialect::schema::RelationKind::Catalog {
                self.entry(relation)?;
            }
        }
        if !wishes.whole.is_empty() {
            self.grant_whole(grant, object, &wishes, grantees)?;
        }
        for (column, privileges) in &wishes.columns {
            if !privileges.is_empty() {
                self.grant_column(grant, object, column, *privileges, wishes.all, grantees)?;
            }
        }
        Ok(())
    }

    fn grant_whole(&self, grant: &Grant, object: &Object, wishes: &Wishes, grantees: &[u32]) -> Done {
        let rights = self.rights();
        let owner = rights.owner(object.oid);
        let mut list = rights.list(object.class, object.oid);
        let (grantor, may) = list.best_grantor(&rights.roles, rights.role(), owner, wishes.whole);
        let held = list.held_by(&rights.roles, grantor, owner, object.class);
        let nothing = held.0.is_empty() && held.1.is_empty();
        if may.is_empty() && nothing {
            return Err(denied_as(Condition::NoGrantOption, object.kind, &object.name).into());
        }
        self.tell_partial(grant.grant, wishes.all, wishes.whole, may, &format!("\"{}\"", object.name));
        list.change(&change_of(grant, grantees, may, grantor, owner))?;
        self.write_list(object.database, object.oid, "", Some(&list))
    }

    fn grant_column(
        &self,
        grant: &Grant,
        object: &Object,
        column: &str,
        wanted: Privileges,
        all: bool,
        grantees: &[u32],
    ) -> Done {
        let rights = self.rights();
        let owner = rights.owner(object.oid);
        let mut list = rights.column_list(object.oid, column).cloned().unwrap_or_default();
        // Who may grant on the table may grant on its columns.
        let mut merged = rights.list(object.class, object.oid);
        merged.0.extend(list.0.iter().copied());
        let (grantor, may) = merged.best_grantor(&rights.roles, rights.role(), owner, wanted);
        let held = merged.held_by(&rights.roles, grantor, owner, ObjectClass::Relation);
        let columns = Privileges::all_of(ObjectClass::Column);
        if may.is_empty() && !(held.0 | held.1).overlaps(columns) {
            let message = format!("permission denied for column \"{column}\" of relation \"{}\"", object.name);
            return Err(Error::new(Condition::NoGrantOption, message).into());
        }
        let shown = format!("column \"{column}\" of relation \"{}\"", object.name);
        self.tell_partial(grant.grant, all, wanted, may, &shown);
        list.change(&change_of(grant, grantees, may, grantor, owner))?;
        let list = Some(&list).filter(|list| !list.0.is_empty());
        self.write_list(object.database, object.oid, column, list)
    }

    /// Warns when less is granted or revoked than was wished.
    pub(super) fn tell_partial(&self, grant: bool, all: bool, wanted: Privileges, may: Privileges, shown: &str) {
        let (condition, words) = match grant {
            true => (Condition::PrivilegeNotGranted, "were granted"),
            false => (Condition::PrivilegeNotRevoked, "could be revoked"),
        };
        if may.is_empty() {
            self.notice(condition, format!("no privileges {words} for {shown}"));
        } else if !all && may != wanted {
            self.notice(condition, format!("not all privileges {words} for {shown}"));
        }
    }

    /// ALTER DEFAULT PRIVILEGES.
    pub(super) fn default_privileges(&self, roles: &[RoleSpec], schemas: &[String], grant: &Grant) -> Done {
        let grantees = self.grantees(&grant.grantees)?;
        check_privileges(grant)?;
        let rights = self.rights();
        let roles = match roles {
            [] => vec![rights.role()],
            roles => roles.iter().map(|role| self.role(role)).collect::<Done<Vec<u32>>>()?,
        };
        if grant.class == ObjectClass::Schema && !schemas.is_empty() {
            let message = "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS";
            return Err(Error::new(Condition::InvalidGrantOperation, message).into());
        }
        for role in roles {
            self.check_member(&rights, role)?;
            if schemas.is_empty() {
                self.set_default_privileges(role, 0, grant, &grantees)?;
            }
            for schema in schemas {
                let schema = self.object(ObjectClass::Schema, &QualifiedName::bare(schema.clone()))?;
                self.set_default_privileges(role, schema.oid, grant, &grantees)?;
            }
        }
        Ok(())
    }

    fn set_default_privileges(&self, role: u32, namespace: u32, grant: &Grant, grantees: &[u32]) -> Done {
        let rights = self.rights();
        let born = if namespace == 0 { Acl::of_new(grant.class, role) } else { Acl::default() };
        let known = rights
            .main
            .defaults
            .iter()
            .find(|default| default.role == role && default.namespace == namespace && default.class == grant.class);
        let mut list = known.map_or_else(|| born.clone(), |known| known.acl.clone());
        list.change(&change_of(grant, grantees, wishes_of(grant, grant.class).whole, role, role))?;
        let other = (!list.same_as(&born)).then_some(&list);
        self.store.write_default_list(known.map(|known| known.oid), role, namespace, grant.class, other)?;
        self.touch_access("main");
        self.settle()
    }
}

/// What a GRANT or REVOKE changes in an object's list: `privileges` to or from `grantees`, in the name of `grantor`.
pub(super) fn change_of(
    grant: &Grant,
    grantees: &[u32],
    privileges: Privileges,
    grantor: u32,
    owner: u32,
) -> GrantChange {
    GrantChange {
        grant: grant.grant,
        grant_option: grant.grant_option,
        cascade: grant.cascade,
        grantees: grantees.to_vec(),
        privileges,
        grantor,
        owner,
    }
}

/// What a statement wishes of an object of a class.
fn wishes_of(grant: &Grant, class: ObjectClass) -> Wishes {
    let all = grant.privileges.is_empty();
    let mut wishes = Wishes { whole: Privileges::NONE, columns: BTreeMap::new(), all };
    for column in &grant.all_of_columns {
        wishes.columns.insert(column.clone(), Privileges::all_of(ObjectClass::Column));
    }
    if all && grant.all_of_columns.is_empty() {
        wishes.whole = Privileges::all_of(class);
    }
    for (privilege, columns) in &grant.privileges {
        if columns.is_empty() {
            wishes.whole = wishes.whole | *privilege;
        }
        for column in columns {
            let wish = wishes.columns.entry(column.clone()).or_default();
            *wish = *wish | *privilege;
        }
    }
    wishes
}

/// Privileges that objects of the statement's class cannot have.
fn check_privileges(grant: &Grant) -> Result<(), Error> {
    let (valid, kind) = match grant.class {
        // What is called a table may be a sequence.
        ObjectClass::Relation => {
            (Privileges::all_of(grant.class) | Privileges::all_of(ObjectClass::Sequence), "relation")
        }
        ObjectClass::Sequence => (Privileges::all_of(grant.class), "sequence"),
        ObjectClass::Database => (Privileges::all_of(grant.class), "database"),
        ObjectClass::Schema => (Privileges::all_of(grant.class), "schema"),
        ObjectClass::Routine => {
            let kind = match grant.procedures {
                Some(true) => "procedure",
                Some(false) => "function",
                None => "routine",
            };
            (Privileges::all_of(grant.class), kind)
        }
        other => (Privileges::all_of(other), "type"),
    };
    for (privilege, columns) in &grant.privileges {
        let word = privilege.each().next().map_or("", |(_, word)| word);
        if !columns.is_empty() {
            if grant.class != ObjectClass::Relation {
                let message = "column privileges are only valid for relations";
                return Err(Error::new(Condition::InvalidGrantOperation, message));
            }
            if !Privileges::all_of(ObjectClass::Column).contains(*privilege) {
                return Err(invalid_privilege(word, "column"));
            }
        } else if !valid.contains(*privilege) {
            return Err(invalid_privilege(word, kind));
        }
    }
    Ok(())
}

pub(super) fn invalid_privilege(word: &str, kind: &str) -> Error {
    let word = if word == "TEMPORARY" { "TEMP" } else { word };
    Error::new(Condition::InvalidGrantOperation, format!("invalid privilege type {word} for {kind}"))
}

fn wrong_kind(name: &str, wanted: &str) -> Error {
    Error::new(Condition::WrongObjectType, format!("\"{name}\" is not {wanted}"))
}

fn wrong_kind_of_index(name: &str) -> Error {
    Error::new(Condition::WrongObjectType, format!("\"{name}\" is an index"))
}
