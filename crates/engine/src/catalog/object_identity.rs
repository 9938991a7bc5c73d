//! Any object by its names: `pg_identify_object` and `pg_identify_object_as_address`.

use rowferry_dialect::postgres::types;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::text_search::Kind;
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::{Error, Result, Schema as _, Type};
use rowferry_facts as facts;

use super::describe::constraint_oid;
use super::names::{class_name, composite_of, namespace_name, quote_ident};
use super::object_names::{self, rule_oid};
use super::pg_attribute::default_oid;
use crate::schema::{PG_CATALOG, SessionSchema};

/// An object by its names; those of one that is not there are empty.
#[derive(Debug, Default)]
pub struct Identity {
    /// What it is, in words.
    pub kind: String,
    /// The schema that it is in.
    pub schema: Option<String>,
    /// Its name, where no other object of the schema can have it.
    pub name: Option<String>,
    /// All of it in one text, which no other object of the kind has.
    pub identity: Option<String>,
    /// The same apart, as `pg_get_object_address` takes it: names, and what types or names stand behind them.
    pub address: Option<(Vec<String>, Vec<String>)>,
}

impl Identity {
    fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), ..Self::default() }
    }

    /// One that is in no schema.
    fn alone(kind: &str, name: &str) -> Self {
        let quoted = Some(quote_ident(name));
        let address = Some((vec![name.to_owned()], Vec::new()));
        Self { name: quoted.clone(), identity: quoted, address, ..Self::new(kind) }
    }

    /// One that is in a schema; `unique` where its name is alone there.
    fn within(kind: &str, namespace: &str, name: &str, unique: bool) -> Self {
        Self {
            schema: Some(quote_ident(namespace)),
            name: unique.then(|| quote_ident(name)),
            identity: Some(format!("{}.{}", quote_ident(namespace), quote_ident(name))),
            address: Some((vec![namespace.to_owned(), name.to_owned()], Vec::new())),
            ..Self::new(kind)
        }
    }

    /// A part of a relation.
    fn on(kind: &str, relation: &Relation, name: &str) -> Self {
        let at = format!("{}.{}", quote_ident(&relation.namespace), quote_ident(&relation.name));
        let names = [&relation.namespace, &relation.name, name].map(str::to_owned);
        Self {
            identity: Some(format!("{} on {at}", quote_ident(name))),
            address: Some((names.into(), Vec::new())),
            ..Self::new(kind)
        }
    }
}

/// An object by its catalog's object id, its own and the number of a column.
///
/// # Errors
/// `XX000` for what is no catalog of objects.
pub fn identify(schema: &SessionSchema, catalog: u32, oid: u32, column: i32) -> Result<Identity> {
    let (kind, found) = match catalog {
        1_259 => return Ok(class(schema, oid, column)),
        1_255 => ("routine", routine(schema, oid)),
        1_247 => ("type", ty(schema, oid)),
        1_260 => ("role", schema.role_name(oid).map(|name| Identity::alone("role", &name))),
        1_213 => ("tablespace", object_names::tablespace(oid).map(|name| Identity::alone("tablespace", name))),
        2_601 => {
            let method = object_names::method(oid);
            ("access method", method.map(|name| Identity::alone("access method", name)))
        }
        2_604 => ("default value", default(schema, oid)),
        2_605 => ("cast", cast(schema, oid)),
        2_606 => ("constraint", constraint(schema, oid)),
        2_607 => {
            let found = facts::Conversion::all().iter().find(|row| row.oid == oid);
            ("conversion", found.map(|row| Identity::within("conversion", PG_CATALOG, row.name, true)))
        }
        2_612 => ("language", object_names::language(oid).map(|name| Identity::alone("language", name))),
        2_615 => ("schema", namespace_name(schema, oid).map(|name| Identity::alone("schema", &name))),
        2_616 => {
            let found = facts::OperatorClass::all().iter().find(|row| row.oid == oid);
            ("operator class", found.and_then(|row| of_method(schema, "operator class", oid, row.name, row.method)))
        }
        2_617 => ("operator", operator(schema, oid)),
        2_618 => {
            let made = schema.rules().find(|(_, rule)| rule.oid == oid);
            let made = made.map(|(relation, rule)| Identity::on("rule", relation, &rule.name));
            let view = || schema.user_relations().find(|relation| rule_oid(relation.oid) == oid);
            ("rule", made.or_else(|| view().map(|view| Identity::on("rule", view, "_RETURN"))))
        }
        2_620 => {
            let found = super::pg_trigger::all(schema).find(|(_, trigger)| trigger.oid == oid);
            ("trigger", found.map(|(relation, trigger)| Identity::on("trigger", relation, &trigger.name)))
        }
        2_753 => {
            let found = facts::OperatorFamily::all().iter().find(|row| row.oid == oid);
            ("operator family", found.and_then(|row| of_method(schema, "operator family", oid, row.name, row.method)))
        }
        3_079 => ("extension", object_names::extension(schema, oid).map(|name| Identity::alone("extension", &name))),
        3_256 => {
            let found = schema.policies().find(|(_, policy)| policy.oid == oid);
            ("policy", found.map(|(relation, policy)| Identity::on("policy", relation, &policy.name)))
        }
        3_381 => {
            let found = schema.main.statistics.iter().find(|object| object.oid == oid);
            let within = |object: &std::sync::Arc<rowferry_dialect::statistics::StatisticsObject>| {
                Identity::within("statistics object", &object.namespace, &object.name, true)
            };
            ("statistics object", found.map(within))
        }
        3_456 => {
            let made = schema.main.collations.iter().find(|made| made.oid == oid).cloned();
            let found = made.or_else(|| rowferry_dialect::collation::Collation::by_oid(oid).cloned());
            ("collation", found.map(|found| Identity::within("collation", &found.namespace, &found.name, true)))
        }
        3_600 => ("text search dictionary", search(schema, Kind::Dictionary, "text search dictionary", oid)),
        3_602 => ("text search configuration", search(schema, Kind::Configuration, "text search configuration", oid)),
        3_601 | 3_764 => {
            let kind = if catalog == 3_601 { "text search parser" } else { "text search template" };
            let name = super::pg_ts::name(catalog, oid);
            (kind, name.map(|name| Identity::within(kind, PG_CATALOG, name, true)))
        }
        catalog => return Err(Error::internal(format!("unrecognized object class: {catalog}"))),
    };
    Ok(found.unwrap_or_else(|| Identity::new(kind)))
}

fn class(schema: &SessionSchema, oid: u32, column: i32) -> Identity {
    let relation = schema.relation_by_oid(oid);
    let kind = match &relation {
        _ if schema.sequence_by_oid(oid).is_some() => "sequence",
        Some(relation) if super::is_view(relation) => "view",
        Some(relation) => rowferry_dialect::access::relation_words(relation),
        None if composite_of(schema, oid).is_some() => "composite type",
        None if class_name(schema, oid).is_some() => "index",
        None => "relation",
    };
    let of_column = |kind: &str| if column == 0 { kind.to_owned() } else { format!("{kind} column") };
    let Some((namespace, name)) = class_name(schema, oid) else {
        return Identity::new("relation");
    };
    let mut found = Identity::within(kind, &namespace, &name, true);
    found.kind = of_column(kind);
    if column == 0 {
        return found;
    }
    let fields = composite_of(schema, oid);
    let at = usize::try_from(column - 1).ok();
    let of_relation = relation.as_ref().and_then(|relation| {
        let at = relation.column_numbered(column.into())?;
        Some(relation.columns[at].name.clone())
    });
    let of_type = || Some(fields?.composite()?.fields.get(at?)?.name.to_string());
    match (of_relation.or_else(of_type), found.identity.as_mut(), found.address.as_mut()) {
        (Some(column), Some(identity), Some((names, _))) => {
            identity.push('.');
            identity.push_str(&quote_ident(&column));
            names.push(column);
            found
        }
        _ => Identity::new(found.kind),
    }
}

/// A type's name with its schema, but for those that SQL has words for.
fn type_identity(schema: &SessionSchema, oid: u32) -> Option<String> {
    const WORDS: [&str; 16] = [
        "bit",
        "bool",
        "bpchar",
        "float4",
        "float8",
        "int2",
        "int4",
        "int8",
        "interval",
        "numeric",
        "time",
        "timestamp",
        "timestamptz",
        "timetz",
        "varbit",
        "varchar",
    ];
    if let Some(ty) = facts::Type::by_oid(oid) {
        let element = facts::Type::by_oid(ty.element).filter(|element| element.array == oid);
        return match element {
            Some(element) => Some(format!("{}[]", type_identity(schema, element.oid)?)),
            None if WORDS.contains(&ty.name) => types::named(ty.name, &[]).ok().map(|ty| types::words(&ty)),
            None => Some(format!("{}.{}", quote_ident(&type_namespace(schema, oid)), quote_ident(ty.name))),
        };
    }
    let (ty, array) = users(schema, oid)?;
    let name = format!("{}.{}", quote_ident(&ty.namespace), quote_ident(&ty.name));
    Some(if array { format!("{name}[]") } else { name })
}

/// A type that users have made, and whether an object id is that of its array.
fn users(schema: &SessionSchema, oid: u32) -> Option<(std::sync::Arc<UserType>, bool)> {
    if let Some(ty) = schema.user_type_by_oid(oid) {
        return Some((ty, false));
    }
    match types::of_oid(oid, schema)? {
        Type::Array(element) => match *element {
            Type::User(ty) => Some((ty, true)),
            _ => None,
        },
        _ => None,
    }
}

/// The schema of a type of PostgreSQL's or of an extension's.
fn type_namespace(schema: &SessionSchema, oid: u32) -> String {
    of_extension(schema, oid).unwrap_or_else(|| PG_CATALOG.to_owned())
}

/// The schema of the extension that brings an object.
fn of_extension(schema: &SessionSchema, oid: u32) -> Option<String> {
    let found = schema.extensions().iter().find(|extension| extension.facts.block().contains(&oid))?;
    Some(found.namespace.clone())
}

fn ty(schema: &SessionSchema, oid: u32) -> Option<Identity> {
    let identity = type_identity(schema, oid)?;
    let (namespace, name) = match facts::Type::by_oid(oid) {
        Some(ty) => (type_namespace(schema, oid), ty.name.to_owned()),
        None => {
            let (ty, array) = users(schema, oid)?;
            (ty.namespace.clone(), if array { format!("_{}", ty.name) } else { ty.name.clone() })
        }
    };
    Some(Identity {
        schema: Some(quote_ident(&namespace)),
        name: Some(quote_ident(&name)),
        address: Some((vec![identity.clone()], Vec::new())),
        identity: Some(identity),
        ..Identity::new("type")
    })
}

/// A name with its arguments.
fn called(kind: &str, namespace: &str, name: &str, arguments: Vec<String>) -> Identity {
    let shown = format!("{}.{}({})", quote_ident(namespace), quote_ident(name), arguments.join(","));
    Identity {
        schema: Some(quote_ident(namespace)),
        identity: Some(shown),
        address: Some((vec![namespace.to_owned(), name.to_owned()], arguments)),
        ..Identity::new(kind)
    }
}

fn routine(schema: &SessionSchema, oid: u32) -> Option<Identity> {
    let word = |aggregate: bool, procedure: bool| match (aggregate, procedure) {
        (true, _) => "aggregate",
        (_, true) => "procedure",
        _ => "function",
    };
    if let Some(fact) = facts::Function::by_oid(oid) {
        let namespace = of_extension(schema, oid).unwrap_or_else(|| PG_CATALOG.to_owned());
        let arguments: Option<_> = fact.arguments.iter().map(|oid| type_identity(schema, *oid)).collect();
        return Some(called(word(fact.kind == 'a', fact.kind == 'p'), &namespace, fact.name, arguments?));
    }
    let function = schema.function_by_oid(oid)?;
    let definition = &function.definition;
    let arguments: Option<_> = definition.inputs().map(|param| type_identity(schema, param.ty.oid(schema))).collect();
    let kind = word(definition.aggregate.is_some(), definition.procedure);
    Some(called(kind, &function.namespace, &function.name, arguments?))
}

fn operator(schema: &SessionSchema, oid: u32) -> Option<Identity> {
    let (namespace, name, left_type, right_type) = match schema.operator_by_oid(oid) {
        Some(made) => (made.namespace.clone(), made.name.clone(), made.definition.left, made.definition.right),
        None => {
            let fact = facts::Operator::by_oid(oid)?;
            let namespace = of_extension(schema, oid).unwrap_or_else(|| PG_CATALOG.to_owned());
            (namespace, fact.name.to_owned(), fact.left_type, fact.right_type)
        }
    };
    let shown = |oid: u32| if oid == 0 { Some("NONE".to_owned()) } else { type_identity(schema, oid) };
    let (left, right) = (shown(left_type)?, shown(right_type)?);
    let identity = format!("{}.{name}({left},{right})", quote_ident(&namespace));
    let sides = [(left_type, left), (right_type, right)];
    let arguments = sides.into_iter().filter(|(oid, _)| *oid != 0).map(|(_, side)| side).collect();
    Some(Identity {
        schema: Some(quote_ident(&namespace)),
        identity: Some(identity),
        address: Some((vec![namespace, name], arguments)),
        ..Identity::new("operator")
    })
}

/// A class or family of operators.
fn of_method(schema: &SessionSchema, kind: &str, oid: u32, name: &str, method: u32) -> Option<Identity> {
    let namespace = of_extension(schema, oid).unwrap_or_else(|| PG_CATALOG.to_owned());
    let method = object_names::method(method)?;
    let found = Identity::within(kind, &namespace, name, true);
    Some(Identity {
        identity: found.identity.map(|identity| format!("{identity} USING {}", quote_ident(method))),
        address: Some((vec![method.to_owned(), namespace, name.to_owned()], Vec::new())),
        ..found
    })
}

fn search(schema: &SessionSchema, wanted: Kind, kind: &str, oid: u32) -> Option<Identity> {
    let object = schema.search_object_by_oid(oid).filter(|object| object.kind() == wanted)?;
    Some(Identity::within(kind, &object.namespace, &object.name, true))
}

fn default(schema: &SessionSchema, oid: u32) -> Option<Identity> {
    schema.user_relations().find_map(|relation| {
        let at = (0..relation.columns.len()).find(|at| default_oid(relation, *at) == oid)?;
        let names = [&relation.namespace, &relation.name, &relation.columns[at].name].map(Clone::clone);
        let shown: Vec<String> = names.iter().map(|name| quote_ident(name)).collect();
        let identity = Some(format!("for {}", shown.join(".")));
        Some(Identity { identity, address: Some((names.into(), Vec::new())), ..Identity::new("default value") })
    })
}

fn cast(schema: &SessionSchema, oid: u32) -> Option<Identity> {
    let (source, target) = object_names::types_of_cast(schema, oid)?;
    let (source, target) = (type_identity(schema, source)?, type_identity(schema, target)?);
    let identity = Some(format!("({source} AS {target})"));
    Some(Identity { identity, address: Some((vec![source], vec![target])), ..Identity::new("cast") })
}

fn constraint(schema: &SessionSchema, oid: u32) -> Option<Identity> {
    let of_relation = schema.relations_with_part(oid).find_map(|relation| {
        let index = relation.indexes.iter().find(|index| index.constraint && constraint_oid(index) == oid);
        let check = || relation.checks.iter().find(|check| check.oid == oid).map(|check| &check.name);
        let key = || relation.foreign_keys.iter().find_map(|key| key.name_of(oid));
        let name = index.map(|index| &index.name).or_else(check).or_else(key)?;
        let schema = Some(quote_ident(&relation.namespace));
        Some(Identity { schema, ..Identity::on("table constraint", relation, name) })
    });
    of_relation.or_else(|| {
        schema.user_types().iter().find_map(|ty| {
            let check = ty.domain()?.checks.iter().find(|check| check.oid == oid)?;
            let domain = type_identity(schema, ty.oid)?;
            Some(Identity {
                schema: Some(quote_ident(&ty.namespace)),
                identity: Some(format!("{} on {domain}", quote_ident(&check.name))),
                address: Some((vec![domain], vec![check.name.clone()])),
                ..Identity::new("domain constraint")
            })
        })
    })
}
