//! What `has_table_privilege` and its kin answer.

use rowferry_dialect::access::{BOOTSTRAP, DATABASE, ObjectClass, PUBLIC, Privileges, Rights, is_open};
use rowferry_dialect::schema::{QualifiedName, Relation};
use rowferry_dialect::{Condition, Error, Result, Schema as _};

use super::state::State;
use crate::Database;
use crate::catalog::names;
use crate::databases::Siblings;
use crate::functions::{Named, Question};
use crate::schema::SessionSchema;

/// One of the privileges asked for: alone, or with the right to grant it.
struct Wish {
    privilege: Privileges,
    grantable: bool,
}

impl State {
    /// Whether a role has one of some privileges; `None` when the object is not there.
    pub fn has_privilege(&self, question: &Question<'_>) -> Result<Option<bool>> {
        let schema = self.schema();
        let rights = schema.rights();
        let role = match &question.role {
            None => rights.role(),
            Some(role) => role_of(&schema, role, true)?,
        };
        if question.class == ObjectClass::Column {
            return has_column_privilege(&schema, &rights, role, question);
        }
        if question.class == ObjectClass::Database
            && let Some(other) = self.other_database(question)?
        {
            let wishes = wishes(question.words, question.class, question.class)?;
            let (held, grantable) = held_of_database(&other, schema.role_name(role).as_deref());
            return Ok(Some(wishes.iter().any(|wish| wish.is_met(held, grantable))));
        }
        let Some((class, oid)) = object(self, &schema, question)? else {
            // What is asked must make sense, of whatever it is asked.
            wishes(question.words, question.class, question.class)?;
            return Ok(None);
        };
        let wishes = wishes(question.words, class, question.class)?;
        let (held, grantable) = match schema.relation_by_oid(oid) {
            Some(relation) if class == ObjectClass::Relation => held_of_relation(&rights, role, &relation),
            _ => rights.held_by(role, class, oid),
        };
        Ok(Some(wishes.iter().any(|wish| wish.is_met(held, grantable))))
    }

    /// The database of the server that is asked about, unless it is the session's own or none.
    fn other_database(&self, question: &Question<'_>) -> Result<Option<Database>> {
        let Some(own) = self.database.upgrade() else { return Ok(None) };
        let Some(all) = own.siblings.get().and_then(Siblings::databases) else { return Ok(None) };
        let is_asked = |name: &str| match &question.object {
            Named::Number(oid) => i64::from(all.oid(name)) == *oid,
            Named::Name(asked) => asked == name,
        };
        let found = all.list().into_iter().find(|(name, _)| is_asked(name) && *name != own.name);
        found.map(|(name, _)| all.open(&name)).transpose()
    }

    /// Whether policies of a table concern the current role.
    pub fn has_row_security(&self, relation: &Named) -> Result<bool> {
        let schema = self.schema();
        let found = match relation {
            Named::Number(oid) => schema.relation_by_oid(u32::try_from(*oid).unwrap_or_default()),
            Named::Name(name) => {
                let name = split(name)?;
                let missing = || Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist"));
                Some(schema.relation(&name).ok_or_else(missing)?)
            }
        };
        let rights = schema.rights();
        Ok(found.is_some_and(|relation| rights.is_secured(rights.role(), &relation)))
    }

    /// Whether a role is a member of another, or has its privileges.
    pub fn has_role(&self, member: Option<Named>, role: &Named, words: &str) -> Result<Option<bool>> {
        let schema = self.schema();
        let rights = schema.rights();
        let member = match &member {
            None => rights.role(),
            Some(member) => role_of(&schema, member, false)?,
        };
        let role = role_of(&schema, role, false)?;
        let roles = &rights.roles;
        for word in words.split(',') {
            let met = match word.trim().to_ascii_uppercase().as_str() {
                "USAGE" => roles.has_privileges_of(member, role),
                "MEMBER" => roles.is_member(member, role),
                "USAGE WITH GRANT OPTION"
                | "USAGE WITH ADMIN OPTION"
                | "MEMBER WITH GRANT OPTION"
                | "MEMBER WITH ADMIN OPTION" => roles.is_admin(member, role),
                _ => return Err(unrecognized(word)),
            };
            if met {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// Whether a role (`None`: the current one) is a superuser.
    pub fn is_superuser(&self, role: Option<&Named>) -> Result<bool> {
        let schema = self.schema();
        let rights = schema.rights();
        let role = match role {
            None => rights.role(),
            Some(role) => role_of(&schema, role, true)?,
        };
        Ok(rights.roles.is_superuser(role))
    }

    /// COMMENT ON DATABASE, of the session's own.
    pub fn database_comment(&self, oid: u32) -> Option<String> {
        let own = self.database.upgrade().is_some_and(|own| own.oid() == oid);
        self.schema.read().main.roles.database().comment.clone().filter(|_| own)
    }

    /// COMMENT ON ROLE.
    pub fn role_comment(&self, oid: u32) -> Option<String> {
        self.schema.read().main.roles.get(oid)?.comment.clone()
    }
}

impl Wish {
    fn is_met(&self, held: Privileges, grantable: Privileges) -> bool {
        if self.grantable { grantable.contains(self.privilege) } else { held.contains(self.privilege) }
    }
}

fn role_of(schema: &SessionSchema, role: &Named, public: bool) -> Result<u32> {
    match role {
        Named::Number(oid) => Ok(u32::try_from(*oid).unwrap_or(u32::MAX)),
        Named::Name(name) if public && name == "public" => Ok(PUBLIC),
        Named::Name(name) => schema
            .role_oid(name)
            .ok_or_else(|| Error::new(Condition::UndefinedObject, format!("role \"{name}\" does not exist"))),
    }
}

/// What a role, known by its name, has of another database.
fn held_of_database(database: &Database, role: Option<&str>) -> (Privileges, Privileges) {
    let there = database.shared.current();
    let rights = Rights { roles: there.roles.clone(), main: there.grants.clone(), ..Rights::default() };
    let role = match role {
        _ if there.roles.is_simple() => BOOTSTRAP,
        role => role.and_then(|name| there.roles.oid(name)).unwrap_or(PUBLIC),
    };
    rights.held_by(role, ObjectClass::Database, DATABASE)
}

fn unrecognized(word: &str) -> Error {
    Error::new(Condition::InvalidParameterValue, format!("unrecognized privilege type: \"{}\"", word.trim()))
}

/// The privileges of a list such as `SELECT, UPDATE WITH GRANT OPTION`.
fn wishes(words: &str, class: ObjectClass, asked: ObjectClass) -> Result<Vec<Wish>> {
    let valid = Privileges::all_of(asked);
    let wish = |word: &str| {
        let upper = word.trim().to_ascii_uppercase();
        let (name, grantable) = match upper.strip_suffix(" WITH GRANT OPTION") {
            Some(name) => (name.trim_end(), true),
            None => (upper.as_str(), false),
        };
        // A privilege of old that nobody has any more.
        if name == "RULE" && class == ObjectClass::Relation {
            return Ok(None);
        }
        let privilege =
            Privileges::of_word(name).filter(|one| valid.contains(*one)).ok_or_else(|| unrecognized(word))?;
        Ok(Some(Wish { privilege, grantable }))
    };
    words.split(',').map(wish).filter_map(Result::transpose).collect()
}

fn split(name: &str) -> Result<QualifiedName> {
    rowferry_dialect::postgres::qualified_name(name)
        .ok_or_else(|| Error::new(Condition::InvalidName, format!("invalid name syntax: \"{name}\"")))
}

/// The object that is asked about: a relation may be a sequence.
fn object(state: &State, schema: &SessionSchema, question: &Question<'_>) -> Result<Option<(ObjectClass, u32)>> {
    use rowferry_dialect::types::Reg;
    let number = |number: i64| u32::try_from(number).unwrap_or_default();
    match question.class {
        ObjectClass::Relation | ObjectClass::Sequence => {
            let oid = match &question.object {
                Named::Number(oid) => number(*oid),
                Named::Name(name) => names::oid(state, Reg::Class, &relation_name(name)?)?,
            };
            if schema.sequence_by_oid(oid).is_some() {
                return Ok(Some((ObjectClass::Sequence, oid)));
            }
            let Some(relation) = schema.relation_by_oid(oid) else { return Ok(None) };
            if question.class == ObjectClass::Sequence {
                let message = format!("\"{}\" is not a sequence", relation.name);
                return Err(Error::new(Condition::WrongObjectType, message));
            }
            Ok(Some((ObjectClass::Relation, oid)))
        }
        ObjectClass::Schema => match &question.object {
            Named::Number(oid) => {
                Ok(names::namespace_name(schema, number(*oid)).map(|_| (question.class, number(*oid))))
            }
            Named::Name(name) => match schema.namespace_oid(name) {
                0 => Err(Error::new(Condition::InvalidSchemaName, format!("schema \"{name}\" does not exist"))),
                oid => Ok(Some((question.class, oid))),
            },
        },
        ObjectClass::Database => match &question.object {
            Named::Number(oid) => {
                let own = state.database.upgrade().map(|own| own.oid());
                Ok((own == Some(number(*oid))).then_some((question.class, DATABASE)))
            }
            Named::Name(name) if *name == state.database_name => Ok(Some((question.class, DATABASE))),
            Named::Name(name) => {
                Err(Error::new(Condition::InvalidCatalogName, format!("database \"{name}\" does not exist")))
            }
        },
        // Built-in functions, types and languages are everybody's; users' keep their lists by their object ids.
        class => Ok(Some((
            class,
            match &question.object {
                Named::Number(oid) if is_missing(class, number(*oid)) => return Ok(None),
                Named::Number(oid) => number(*oid),
                Named::Name(name) => match class {
                    ObjectClass::Type => member_type(schema, names::oid(state, Reg::Type, name)?),
                    ObjectClass::Routine => names::oid(state, Reg::Procedure, name)?,
                    _ => 0,
                },
            },
        ))),
    }
}

/// An array has the privileges of its members' type.
fn member_type(schema: &SessionSchema, oid: u32) -> u32 {
    let array = schema.main.user_types.iter().find(|ty| ty.array_oid == oid);
    array.map_or(oid, |ty| ty.oid)
}

/// True for a number of PostgreSQL's own that it has given to nothing of the class.
fn is_missing(class: ObjectClass, oid: u32) -> bool {
    const OF_INITDB: u32 = 10_000;
    oid < OF_INITDB
        && match class {
            ObjectClass::Routine => rowferry_facts::Function::by_oid(oid).is_none(),
            ObjectClass::Type => rowferry_facts::Type::by_oid(oid).is_none(),
            _ => false,
        }
}

fn relation_name(name: &str) -> Result<String> {
    split(name).map(|name| match &name.schema {
        Some(schema) => format!("{}.{}", names::quote_ident(schema), names::quote_ident(&name.name)),
        None => names::quote_ident(&name.name),
    })
}

fn has_column_privilege(
    schema: &SessionSchema,
    rights: &Rights,
    role: u32,
    question: &Question<'_>,
) -> Result<Option<bool>> {
    let relation = match &question.object {
        Named::Number(oid) => schema.relation_by_oid(u32::try_from(*oid).unwrap_or_default()),
        Named::Name(name) => {
            let name = split(name)?;
            let missing = || Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist"));
            Some(schema.relation(&name).ok_or_else(missing)?)
        }
    };
    let column = match (&question.column, &relation) {
        (None, _) => None,
        (Some(Named::Number(number)), Some(relation)) => {
            let Some(at) = relation.column_numbered(*number) else { return Ok(None) };
            Some(at)
        }
        (Some(Named::Name(name)), Some(relation)) => Some(position(relation, name)?),
        (Some(_), None) => return Ok(None),
    };
    let wishes = wishes(question.words, ObjectClass::Relation, ObjectClass::Column)?;
    let Some(relation) = relation else { return Ok(None) };
    let (held, grantable) = held_of_relation(rights, role, &relation);
    if wishes.iter().any(|wish| wish.is_met(held, grantable)) {
        return Ok(Some(true));
    }
    let columns = match column {
        Some(at) => &relation.columns[at..=at],
        None => &relation.columns[..],
    };
    Ok(Some(columns.iter().any(|column| {
        let (held, grantable) = rights.column_held_by(role, relation.oid, &column.name);
        wishes.iter().any(|wish| wish.is_met(held, grantable))
    })))
}

/// What is held on a relation: catalogs that keep no secrets are everybody's to read.
fn held_of_relation(rights: &Rights, role: u32, relation: &Relation) -> (Privileges, Privileges) {
    let (held, grantable) = rights.held_by(role, ObjectClass::Relation, relation.oid);
    let open = is_open(relation);
    (if open { held | Privileges::SELECT } else { held }, grantable)
}

fn position(relation: &Relation, name: &str) -> Result<usize> {
    relation.columns.iter().position(|column| column.name == name).ok_or_else(|| {
        let message = format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
        Error::new(Condition::UndefinedColumn, message)
    })
}
