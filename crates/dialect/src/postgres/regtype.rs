//! Types by the words that name them, also those whose values are not here: what `regtype` reads and prints.

use pg_query::protobuf::{self as pg, node::Node as N};
use rowferry_facts as facts;

use super::{names, raw, types, words};
use crate::schema::QualifiedName;
use crate::types::Type;
use crate::{Condition, Error, Result, Schema, composite, extension};

/// The name that words like `double precision` or `pg_catalog.int4[]` are; `None` when they are no type's name.
pub(super) fn type_name(words: &str) -> Option<pg::TypeName> {
    let statements = raw::parse(&format!("SELECT NULL::{words}")).ok()?;
    let N::SelectStmt(select) = &*statements.first()?.tree else { return None };
    let N::ResTarget(target) = select.target_list.first()?.node.clone()? else { return None };
    let N::TypeCast(cast) = target.val?.node? else { return None };
    cast.type_name
}

/// The object id of PostgreSQL's type that words name.
///
/// Errors: `UndefinedObject`.
pub fn oid(words: &str) -> Result<u32> {
    let undefined = || Error::new(Condition::UndefinedObject, format!("type \"{words}\" does not exist"));
    let name = type_name(words).ok_or_else(undefined)?;
    let found = match names::strings(&name.names).as_slice() {
        [name] | ["pg_catalog", name] => facts::Type::named(name),
        _ => None,
    };
    let found = found.ok_or_else(undefined)?;
    match (name.array_bounds.is_empty(), found.array) {
        (true, _) => Ok(found.oid),
        (false, 0) => Err(undefined()),
        (false, array) => Ok(array),
    }
}

/// As [`oid`], users' own types among them.
///
/// # Errors
/// `42704`.
pub fn oid_in(schema: &dyn Schema, words: &str) -> Result<u32> {
    let written = type_name(words).map(|name| QualifiedName::new(names::of_type(&name).0.unwrap_or_default(), ""));
    if let Some(written) = written.filter(|written| written.schema.as_deref() != Some("")) {
        schema.check_usage(&written)?;
    }
    let user = || super::type_of_words(words, schema).ok();
    let user = || user().filter(|ty| ty.has_user_type() || extension::of_type(ty).is_some());
    oid(words).or_else(|error| user().map(|ty| types::oid(&ty)).ok_or(error))
}

/// As [`shown`], users' own types among them.
pub fn shown_in(schema: &dyn Schema, oid: u32, modifier: Option<i32>) -> Option<String> {
    if facts::Extension::has(oid) {
        return extension::shown(schema, oid);
    }
    shown(oid, modifier).or_else(|| Some(user_type_shown(schema, &types::of_oid(oid, schema)?)))
}

/// A user's type or an array of it, with its schema where its bare name means another type or none.
fn user_type_shown(schema: &dyn Schema, ty: &Type) -> String {
    match ty {
        Type::Array(element) => format!("{}[]", user_type_shown(schema, element)),
        Type::User(user) => {
            let name = QualifiedName::bare(&user.name);
            let made = schema.user_type(&name).map(|found| found.oid);
            let found = made.or_else(|| schema.relation(&name).map(|relation| composite::row_type_oid(relation.oid)));
            if user.namespace.is_empty() || found == Some(user.oid) {
                return words::quote_ident(&user.name);
            }
            format!("{}.{}", words::quote_ident(&user.namespace), words::quote_ident(&user.name))
        }
        ty => types::format_type(ty),
    }
}

/// A type with its modifier; those of users and of extensions with their schemas where bare names would not mean them.
pub fn words_in(schema: &dyn Schema, ty: &Type) -> String {
    match ty {
        Type::User(_) => user_type_shown(schema, ty),
        Type::Array(element) if ty.has_user_type() || extension::of_type(ty).is_some() => {
            format!("{}[]", words_in(schema, element))
        }
        ty if extension::of_type(ty).is_some() => {
            extension::shown(schema, types::oid(ty)).unwrap_or_else(|| types::format_type(ty))
        }
        ty => types::format_type(ty),
    }
}

/// How PostgreSQL prints a type of its own, with a modifier (-1: none): `format_type`. `None` for an object id that it does
/// not have.
pub fn shown(oid: u32, modifier: Option<i32>) -> Option<String> {
    let row = facts::Type::by_oid(oid)?;
    // The vectors of the catalogs are types of their own.
    if row.category == 'A' && row.element != 0 && row.storage != 'p' {
        return Some(format!("{}[]", shown(row.element, modifier)?));
    }
    if row.category != 'A'
        && let Some(ty) = types::from_oid(oid)
    {
        return Some(match modifier {
            Some(modifier) => types::format_type(&types::with_typmod(&ty, modifier)),
            // Without any modifier the type's name by the standard is asked for.
            None => types::words(&ty),
        });
    }
    Some(match row.name {
        "varbit" => "bit varying".to_owned(),
        "bit" => "bit".to_owned(),
        name => words::quote_ident(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_as_it_is_printed() {
        for row in facts::Type::all() {
            let shown = shown(row.oid, None).unwrap();
            assert_eq!(oid(&shown).ok(), Some(row.oid), "{shown}");
        }
    }

    #[test]
    fn types_print_as_postgresql_prints_them() {
        let shown = |oid, modifier| shown(oid, modifier).unwrap();
        assert_eq!((shown(1007, None).as_str(), shown(22, None).as_str()), ("integer[]", "int2vector"));
        assert_eq!((shown(869, Some(-1)).as_str(), shown(1041, None).as_str()), ("inet", "inet[]"));
        assert_eq!((shown(18, None).as_str(), shown(1562, None).as_str()), ("\"char\"", "bit varying"));
        assert_eq!(
            (shown(1015, Some(9)).as_str(), shown(1042, None).as_str()),
            ("character varying(5)[]", "character")
        );
        assert_eq!(oid("no_such_type").unwrap_err().condition(), Condition::UndefinedObject);
    }
}
