//! Any object by the names that [`object_identity`](super::object_identity) gives it: `pg_get_object_address`.

use rowferry_dialect::postgres::{regtype, types};
use rowferry_dialect::schema::{QualifiedName, Relation, RelationKind};
use rowferry_dialect::types::Reg;
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type};
use rowferry_facts as facts;
use std::sync::Arc;

use super::describe::constraint_oid;
use super::names::{self, class_oid, quote_ident};
use super::object_names::{self, rule_oid};
use super::pg_attribute::default_oid;
use crate::backend::{Connection, LargeObjects};
use crate::database::Shared;
use crate::databases::Siblings;
use crate::schema::{PG_CATALOG, SessionSchema};
use crate::session::state::State;

/// A catalog's object id, an object's own, and the number of a column.
pub type Address = (u32, u32, i32);

const CLASS: u32 = 1_259;
const TYPE: u32 = 1_247;
const CONSTRAINT: u32 = 2_606;

/// Who looks.
pub struct Finder<'a> {
    /// The session.
    pub state: &'a State,
    /// Its database.
    pub database: &'a Shared,
    /// What the session runs on.
    pub connection: Connection<'a>,
}

/// What PostgreSQL has words for and does not find by them.
const WITHOUT_ADDRESS: [&str; 8] = [
    "composite type",
    "composite type column",
    "index column",
    "materialized view column",
    "sequence column",
    "toast table",
    "toast table column",
    "view column",
];

/// What is never there, since nobody can make it here.
const NEVER: [&str; 5] = ["event trigger", "foreign-data wrapper", "publication", "server", "subscription"];

impl Finder<'_> {
    /// The object of a kind that names, and what stands behind them, mean.
    ///
    /// # Errors
    /// `22023` for what is no kind of objects or has not so many names; otherwise what is said where the object is named in
    /// a statement.
    pub fn find(&self, kind: &str, names: &[String], behind: &[String]) -> Result<Address> {
        if WITHOUT_ADDRESS.contains(&kind) {
            return Err(invalid(format!("unsupported object type \"{kind}\"")));
        }
        check_lengths(kind, names, behind)?;
        let schema = &self.state.schema();
        let reg = |catalog: u32, reg: Reg, text: &str| Ok((catalog, names::oid(self.state, reg, text)?, 0));
        let quoted = || names.iter().map(|name| quote_ident(name)).collect::<Vec<_>>().join(".");
        let one = || names.first().map_or("", String::as_str);
        let types = |texts: &[String]| texts.iter().map(|text| ty(schema, text)).collect::<Result<Vec<_>>>();
        match kind {
            "table" | "index" | "sequence" | "view" | "materialized view" | "foreign table" => {
                Ok((CLASS, self.relation_of_kind(kind, names)?, 0))
            }
            "table column" | "foreign table column" => column(schema, names),
            "aggregate" | "function" | "procedure" => self.routine(kind, names, &types(behind)?),
            "type" => Ok((TYPE, ty(schema, one())?.0, 0)),
            "cast" => {
                let (source, target) = (ty(schema, one())?, ty(schema, &behind[0])?);
                let mut made = schema.main.casts.iter();
                let of_users =
                    made.find(|made| (made.definition.source, made.definition.target) == (source.0, target.0));
                let built_in = facts::Cast::between(source.0, target.0).map(|cast| cast.oid);
                let cast = of_users.map(|made| made.oid).or(built_in);
                let missing = || format!("cast from type {} to type {} does not exist", source.1, target.1);
                found(2_605, cast, missing)
            }
            "collation" => reg(3_456, Reg::Collation, &quoted()),
            "conversion" => {
                let name = qualified(schema, names)?;
                let inside = name.schema.as_deref().is_none_or(|schema| schema == PG_CATALOG);
                let mut all = facts::Conversion::all().iter().filter(|_| inside);
                let oid = all.find(|conversion| conversion.name == name.name).map(|conversion| conversion.oid);
                found(2_607, oid, || format!("conversion \"{name}\" does not exist"))
            }
            "language" => {
                let all = facts::Language::all().iter().map(|language| language.oid);
                let mut all = all.chain([super::pg_proc::PLPGSQL]);
                let oid = all.find(|oid| object_names::language(*oid) == Some(one()));
                found(2_612, oid, || format!("language \"{}\" does not exist", one()))
            }
            "large object" => {
                let oid: u32 = one().trim().parse().map_err(|_| {
                    let message = format!("invalid input syntax for type oid: \"{}\"", one());
                    Error::new(Condition::InvalidTextRepresentation, message)
                })?;
                let object = LargeObjects::new(self.connection, &self.state.interrupter).find(oid)?;
                found(2_613, object.map(|_| oid), || format!("large object {oid} does not exist"))
            }
            "operator" => self.operator(names, &types(behind)?),
            "operator class" | "operator family" => of_method(schema, kind, names),
            "operator of access method" | "function of access method" => member(schema, kind, names, behind),
            "table constraint" | "default value" | "rule" | "trigger" | "policy" => part(schema, kind, names),
            "domain constraint" => domain_constraint(schema, one(), &behind[0]),
            "schema" => reg(2_615, Reg::Namespace, &quoted()),
            "role" => reg(1_260, Reg::Role, &quoted()),
            "database" => self.named_database(one()),
            "tablespace" => {
                let mut all = object_names::TABLESPACES.iter();
                let oid = all.find(|(_, name)| *name == one()).map(|(oid, _)| *oid);
                found(1_213, oid, || format!("tablespace \"{}\" does not exist", one()))
            }
            "extension" => {
                let oid = match one() {
                    "plpgsql" => Some(super::pg_extension::OF_PLPGSQL.0),
                    name => schema.extensions().iter().find(|known| known.name() == name).map(|known| known.oid),
                };
                found(3_079, oid, || format!("extension \"{}\" does not exist", one()))
            }
            "access method" => Ok((2_601, method(one())?, 0)),
            "text search parser" | "text search template" => of_search(schema, kind, names),
            "text search dictionary" => reg(3_600, Reg::Dictionary, &quoted()),
            "text search configuration" => reg(3_602, Reg::Config, &quoted()),
            "statistics object" => {
                let name = qualified(schema, names)?;
                let object = schema.statistics_object(&name).map(|object| object.oid);
                found(3_381, object, || format!("statistics object \"{name}\" does not exist"))
            }
            "transform" => {
                let (ty, language) = (ty(schema, one())?, &behind[0]);
                self.find("language", std::slice::from_ref(language), &[])?;
                found(3_576, None, || format!("transform for type {} language \"{language}\" does not exist", ty.1))
            }
            "user mapping" => {
                let message =
                    || format!("user mapping for user \"{}\" on server \"{}\" does not exist", one(), behind[0]);
                found(1_418, None, message)
            }
            "publication relation" | "publication namespace" => {
                found(0, None, || format!("publication \"{}\" does not exist", behind[0]))
            }
            "parameter ACL" => found(6_243, None, || format!("parameter ACL \"{}\" does not exist", one())),
            "default acl" => default_privileges(schema, names, &behind[0]),
            never if NEVER.contains(&never) => found(0, None, || format!("{never} \"{}\" does not exist", one())),
            _ => Err(invalid(format!("unrecognized object type \"{kind}\""))),
        }
    }

    fn relation_of_kind(&self, kind: &str, names: &[String]) -> Result<u32> {
        let schema = &self.state.schema();
        let name = relation_name(schema, names)?;
        let oid = class_oid(schema, &name).ok_or_else(|| no_relation(&name))?;
        let relation = schema.relation_by_oid(oid);
        let is = match (&relation, kind) {
            (None, "sequence") => schema.sequence_by_oid(oid).is_some(),
            (None, "index") => schema.sequence_by_oid(oid).is_none() && names::composite_of(schema, oid).is_none(),
            (None, _) => false,
            (Some(relation), "table") => matches!(relation.kind, RelationKind::Table | RelationKind::Catalog),
            (Some(relation), "view") => matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView),
            (Some(relation), "materialized view") => matches!(relation.kind, RelationKind::MaterializedView { .. }),
            (Some(relation), "sequence") => matches!(relation.kind, RelationKind::Sequence { .. }),
            (Some(_), _) => false,
        };
        if is {
            return Ok(oid);
        }
        let article = if kind == "index" { "an" } else { "a" };
        let message = format!("\"{}\" is not {article} {kind}", name.name);
        Err(Error::new(Condition::WrongObjectType, message))
    }

    fn routine(&self, kind: &str, names: &[String], types: &[(u32, String)]) -> Result<Address> {
        let schema = &self.state.schema();
        let name: Vec<String> = names.iter().map(|name| quote_ident(name)).collect();
        let shown: Vec<&str> = types.iter().map(|(_, shown)| shown.as_str()).collect();
        let signature = format!("{}({})", name.join("."), shown.join(", "));
        let oid = names::oid(self.state, Reg::Procedure, &signature).map_err(|error| match error.condition() {
            Condition::UndefinedFunction => {
                let shown = format!("{}({})", names.join("."), shown.join(", "));
                Error::new(Condition::UndefinedFunction, format!("{kind} {shown} does not exist"))
            }
            _ => error,
        })?;
        let (aggregate, procedure) = match facts::Function::by_oid(oid) {
            Some(fact) => (fact.kind == 'a', fact.kind == 'p'),
            None => schema.function_by_oid(oid).map_or((false, false), |function| {
                (function.definition.aggregate.is_some(), function.definition.procedure)
            }),
        };
        let shown = format!("{}({})", names.join("."), shown.join(", "));
        let wrong = |message: String| Err(Error::new(Condition::WrongObjectType, message));
        match kind {
            "aggregate" if !aggregate => wrong(format!("function {shown} is not an aggregate")),
            "procedure" if !procedure => wrong(format!("{shown} is not a procedure")),
            "function" if procedure => wrong(format!("{shown} is not a function")),
            _ => Ok((1_255, oid, 0)),
        }
    }

    fn operator(&self, names: &[String], types: &[(u32, String)]) -> Result<Address> {
        let mut name: Vec<String> = names.iter().map(|name| quote_ident(name)).collect();
        if let (Some(last), Some(sign)) = (name.last_mut(), names.last()) {
            last.clone_from(sign);
        }
        let text = format!("{}({},{})", name.join("."), types[0].1, types[1].1);
        let oid = names::oid(self.state, Reg::Operator, &text).map_err(|error| match error.condition() {
            Condition::UndefinedFunction => {
                let shown = format!("{} {} {}", types[0].1, names.join("."), types[1].1);
                Error::new(Condition::UndefinedFunction, format!("operator does not exist: {shown}"))
            }
            _ => error,
        })?;
        Ok((2_617, oid, 0))
    }

    fn named_database(&self, name: &str) -> Result<Address> {
        if self.database.name == name {
            return Ok((1_262, self.database.oid(), 0));
        }
        let others = self.database.siblings.get().and_then(Siblings::databases);
        match others.filter(|all| all.list().into_iter().any(|(known, _)| known == name)) {
            Some(all) => Ok((1_262, all.oid(name), 0)),
            None => Err(Error::new(Condition::InvalidCatalogName, format!("database \"{name}\" does not exist"))),
        }
    }
}

fn invalid(message: String) -> Error {
    Error::new(Condition::InvalidParameterValue, message)
}

fn found(catalog: u32, oid: Option<u32>, missing: impl Fn() -> String) -> Result<Address> {
    oid.map(|oid| (catalog, oid, 0)).ok_or_else(|| Error::new(Condition::UndefinedObject, missing()))
}

fn no_relation(name: &QualifiedName) -> Error {
    Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist"))
}

/// How many names there must be, and how many texts behind them.
fn check_lengths(kind: &str, names: &[String], behind: &[String]) -> Result<()> {
    let alone = matches!(
        kind,
        "access method"
            | "cast"
            | "database"
            | "domain constraint"
            | "event trigger"
            | "extension"
            | "foreign-data wrapper"
            | "language"
            | "large object"
            | "parameter ACL"
            | "publication"
            | "publication namespace"
            | "role"
            | "schema"
            | "server"
            | "subscription"
            | "tablespace"
            | "transform"
            | "type"
            | "user mapping"
    );
    let least = match kind {
        "operator class" | "operator family" => 2,
        "operator of access method" | "function of access method" => 3,
        _ => 1,
    };
    if alone && names.len() != 1 {
        return Err(invalid("name list length must be exactly 1".to_owned()));
    }
    if names.len() < least {
        return Err(invalid(format!("name list length must be at least {least}")));
    }
    let wanted = match kind {
        "cast"
        | "default acl"
        | "domain constraint"
        | "publication namespace"
        | "publication relation"
        | "transform"
        | "user mapping" => 1,
        "operator" | "operator of access method" | "function of access method" => 2,
        _ => return Ok(()),
    };
    match behind.len() == wanted {
        true => Ok(()),
        false => Err(invalid(format!("argument list length must be exactly {wanted}"))),
    }
}

/// The object id of the type that a text names, and how PostgreSQL shows it.
fn ty(schema: &SessionSchema, words: &str) -> Result<(u32, String)> {
    let oid = regtype::oid_in(schema, words)?;
    Ok((oid, regtype::shown_in(schema, oid, None).unwrap_or_else(|| words.to_owned())))
}

/// A name of an object in a schema that there is.
fn qualified(schema: &SessionSchema, names: &[String]) -> Result<QualifiedName> {
    let name = match names {
        [name] => QualifiedName::bare(name),
        [.., namespace, name] => QualifiedName { schema: Some(namespace.clone()), name: name.clone() },
        [] => return Err(invalid("name list length must be at least 1".to_owned())),
    };
    match name.schema.as_deref().filter(|namespace| !schema.has_namespace(namespace)) {
        Some(namespace) => {
            Err(Error::new(Condition::InvalidSchemaName, format!("schema \"{namespace}\" does not exist")))
        }
        None => Ok(name),
    }
}

fn relation_name(schema: &SessionSchema, names: &[String]) -> Result<QualifiedName> {
    if names.len() > 3 {
        let message = format!("improper relation name (too many dotted names): {}", names.join("."));
        return Err(Error::new(Condition::SyntaxError, message));
    }
    qualified(schema, names)
}

/// The relation that has a part, by all names but the part's own.
fn owner(schema: &SessionSchema, names: &[String]) -> Result<(Arc<Relation>, String)> {
    let Some((part, names)) = names.split_last() else {
        return Err(invalid("name list length must be at least 1".to_owned()));
    };
    let name = relation_name(schema, names)?;
    let relation = schema.relation(&name).ok_or_else(|| no_relation(&name))?;
    Ok((relation, part.clone()))
}

fn column(schema: &SessionSchema, names: &[String]) -> Result<Address> {
    if names.len() < 2 {
        return Err(Error::new(Condition::SyntaxError, "column name must be qualified"));
    }
    let (relation, name) = owner(schema, names)?;
    match relation.column(&name) {
        Some(at) => Ok((CLASS, relation.oid, i32::try_from(relation.number_of(at)).unwrap_or_default())),
        None => {
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
            Err(Error::new(Condition::UndefinedColumn, message))
        }
    }
}

/// What is on a relation.
fn part(schema: &SessionSchema, kind: &str, names: &[String]) -> Result<Address> {
    if names.len() < 2 {
        let message = if kind == "default value" {
            "column name must be qualified"
        } else {
            "must specify relation and object name"
        };
        return Err(Error::new(Condition::SyntaxError, message));
    }
    let (relation, name) = owner(schema, names)?;
    let on = &relation.name;
    match kind {
        "table constraint" => {
            let index = relation.indexes.iter().find(|index| index.constraint && index.name == name);
            let check = || relation.checks.iter().find(|check| check.name == name).map(|check| check.oid);
            let key = || relation.foreign_keys.iter().find(|key| key.name == name).map(|key| key.oid);
            let oid = index.map(constraint_oid).or_else(check).or_else(key);
            found(CONSTRAINT, oid, || format!("constraint \"{name}\" for table \"{on}\" does not exist"))
        }
        "default value" => {
            let column = relation.column(&name).filter(|at| {
                let column = &relation.columns[*at];
                column.default.is_some() || column.generated.is_some()
            });
            match column {
                Some(at) => Ok((2_604, default_oid(&relation, at), 0)),
                None => {
                    let message = format!("default value for column \"{name}\" of relation \"{on}\" does not exist");
                    Err(Error::new(Condition::UndefinedColumn, message))
                }
            }
        }
        "rule" => {
            let own = || (super::is_view(&relation) && name == "_RETURN").then(|| rule_oid(relation.oid));
            let oid = relation.rule(&name).map(|rule| rule.oid).or_else(own);
            found(2_618, oid, || format!("rule \"{name}\" for relation \"{on}\" does not exist"))
        }
        "trigger" => {
            let mut all = super::pg_trigger::all(schema).filter(|(table, _)| table.oid == relation.oid);
            let oid = all.find(|(_, trigger)| trigger.name == name).map(|(_, trigger)| trigger.oid);
            found(2_620, oid, || format!("trigger \"{name}\" for table \"{on}\" does not exist"))
        }
        _ => {
            let mut all = schema.policies().filter(|(table, _)| table.oid == relation.oid);
            let oid = all.find(|(_, policy)| policy.name == name).map(|(_, policy)| policy.oid);
            found(3_256, oid, || format!("policy \"{name}\" for table \"{on}\" does not exist"))
        }
    }
}

fn domain_constraint(schema: &SessionSchema, domain: &str, name: &str) -> Result<Address> {
    let (oid, shown) = ty(schema, domain)?;
    let user = match types::of_oid(oid, schema) {
        Some(Type::User(user)) if user.domain().is_some() => user,
        _ => return Err(Error::new(Condition::WrongObjectType, format!("\"{domain}\" is not a domain"))),
    };
    let checks = user.domain().map(|domain| domain.checks.as_slice()).unwrap_or_default();
    let check = checks.iter().find(|check| check.name == name).map(|check| check.oid);
    found(CONSTRAINT, check, || format!("constraint \"{name}\" for domain {shown} does not exist"))
}

/// What ALTER DEFAULT PRIVILEGES says of a role's objects of a class, in one schema or in any.
fn default_privileges(schema: &SessionSchema, names: &[String], letter: &str) -> Result<Address> {
    let words = match letter {
        "r" => "tables",
        "S" => "sequences",
        "f" => "functions",
        "T" => "types",
        "n" => "schemas",
        letter => {
            let message = format!("unrecognized default ACL object type \"{letter}\"");
            let hint = "Valid object types are \"r\", \"S\", \"f\", \"T\", \"n\".";
            return Err(Error::new(Condition::InvalidParameterValue, message).hint(hint));
        }
    };
    let role = schema.role_oid(&names[0]);
    let namespace = names.get(1).map_or(0, |name| names::namespace_oid(schema, name));
    let mut all = schema.main.grants.defaults.iter();
    let known = all.find(|default| {
        let own = default.class.letter().to_string();
        Some(default.role) == role && default.namespace == namespace && own.eq_ignore_ascii_case(letter)
    });
    found(826, known.map(|default| default.oid), || {
        let inside = names.get(1).map(|name| format!(" in schema \"{name}\"")).unwrap_or_default();
        format!("default ACL for user \"{}\"{inside} on {words} does not exist", names[0])
    })
}

fn method(name: &str) -> Result<u32> {
    let found = facts::AccessMethod::all_known().find(|method| method.name == name).map(|method| method.oid);
    let missing = || Error::new(Condition::UndefinedObject, format!("access method \"{name}\" does not exist"));
    found.ok_or_else(missing)
}

/// A class or family of operators, by its access method's name and its own.
fn of_method(schema: &SessionSchema, kind: &str, names: &[String]) -> Result<Address> {
    let (of, own) = (&names[0], &names[1..]);
    let method = method(of)?;
    let name = qualified(schema, own)?;
    let inside = name.schema.as_deref().is_none_or(|schema| schema == PG_CATALOG);
    let (catalog, oid) = if kind == "operator class" {
        let mut all = facts::OperatorClass::all().iter().filter(|class| inside && class.method == method);
        (2_616, all.find(|class| class.name == name.name).map(|class| class.oid))
    } else {
        let mut all = facts::OperatorFamily::all().iter().filter(|family| inside && family.method == method);
        (2_753, all.find(|family| family.name == name.name).map(|family| family.oid))
    };
    found(catalog, oid, || format!("{kind} \"{name}\" does not exist for access method \"{of}\""))
}

/// A member of a family of operators, by the family's names and its own number.
fn member(schema: &SessionSchema, kind: &str, names: &[String], behind: &[String]) -> Result<Address> {
    let Some((number, family)) = names.split_last() else { return Err(Error::internal("a member without a number")) };
    let (_, family_oid, _) = of_method(schema, "operator family", family)?;
    let sides = (ty(schema, &behind[0])?.0, ty(schema, &behind[1])?.0);
    let number: u32 = number.trim().parse().map_err(|_| {
        let message = format!("invalid input syntax for type integer: \"{number}\"");
        Error::new(Condition::InvalidTextRepresentation, message)
    })?;
    let (catalog, word, oid) = if kind == "operator of access method" {
        let mut all = facts::FamilyOperator::all().iter().filter(|row| row.family == family_oid);
        let found = all.find(|row| (row.left_type, row.right_type, row.strategy) == (sides.0, sides.1, number));
        (2_602, "operator", found.map(|row| row.oid))
    } else {
        let mut all = facts::FamilyFunction::all().iter().filter(|row| row.family == family_oid);
        let found = all.find(|row| (row.left_type, row.right_type, row.number) == (sides.0, sides.1, number));
        (2_603, "function", found.map(|row| row.oid))
    };
    found(catalog, oid, || {
        let (of, own) = (&family[0], family[1..].join("."));
        let (left, right) = (&behind[0], &behind[1]);
        format!("{word} {number} ({left}, {right}) of operator family {own} for access method {of} does not exist")
    })
}

/// The parser of text search, and the templates.
fn of_search(schema: &SessionSchema, kind: &str, names: &[String]) -> Result<Address> {
    let name = qualified(schema, names)?;
    let inside = name.schema.as_deref().is_none_or(|schema| schema == PG_CATALOG);
    let catalog = if kind == "text search parser" { 3_601 } else { 3_764 };
    let oid = super::pg_ts::oid(catalog, &name.name).filter(|_| inside);
    found(catalog, oid, || format!("{kind} \"{name}\" does not exist"))
}
