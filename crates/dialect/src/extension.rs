//! Extensions that a file has: built-in modules behind CREATE EXTENSION.
//!
//! What an extension brings are facts ([`rowferry_facts::Extension`]): its members have their object ids in every file. A
//! file says which extensions it has, and in which schemas; before that none of their names means anything. How members
//! are carried out stands where it stands for PostgreSQL's own: types are rows of [`crate::scalar`], functions and operators
//! rows that [`crate::functions`] makes of the facts.

use std::sync::Arc;

use rowferry_facts as facts;

use crate::functions::{self, Function};
use crate::postgres::types;
use crate::scalar;
use crate::schema::Schema;
use crate::{Condition, Error, Type};

/// An extension that a file has.
#[derive(Clone, Debug, PartialEq)]
pub struct Installed {
    /// Object id of the extension itself, the file's own.
    pub oid: u32,
    /// The schema that its members are in.
    pub namespace: String,
    /// The version that was made.
    pub version: String,
    /// COMMENT ON EXTENSION.
    pub comment: Option<String>,
    /// What it brings.
    pub facts: &'static facts::Extension,
}

impl Installed {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.facts.name
    }

    /// Its type of a name, or the array type of one.
    pub fn ty(&self, name: &str) -> Option<Type> {
        let fact = self.facts.types().iter().find(|ty| ty.name == name)?;
        types::from_oid(fact.oid)
    }

    /// Its functions of a name that are carried out here.
    pub fn functions(&self, name: &str) -> impl Iterator<Item = &'static Function> {
        functions::of_extension(self.facts, name)
    }
}

/// PL/pgSQL is an extension in PostgreSQL, which every database has.
pub const PLPGSQL: &str = "plpgsql";

/// The extension that is told how often statements run.
pub const PG_STAT_STATEMENTS: &str = "pg_stat_statements";

/// What an extension is for, in few words: for `pg_available_extensions`.
pub fn purpose(name: &str) -> &'static str {
    match name {
        "bloom" => "indexes that are Bloom filters",
        "btree_gin" => "GIN indexes over plain types",
        "btree_gist" => "GiST indexes over plain types",
        "citext" => "text compared without case",
        "fuzzystrmatch" => "how alike words are and sound",
        "hstore" => "keys with texts in one value",
        PG_STAT_STATEMENTS => "how often statements have run, and for how long",
        "pg_trgm" => "how alike texts are, by groups of three letters",
        "pgcrypto" => "digests, password hashes, encryption",
        PLPGSQL => "the procedural language PL/pgSQL",
        "tablefunc" => "whole tables from functions, crosstab among them",
        "unaccent" => "text without accents",
        "uuid-ossp" => "making of UUIDs",
        _ => "",
    }
}

/// The installed extensions whose members a bare name, or one in a schema, can mean.
pub(crate) fn visible<'a>(
    schema: &'a dyn Schema,
    namespace: Option<&'a str>,
) -> impl Iterator<Item = &'a Arc<Installed>> {
    let all = schema.extensions().iter();
    all.filter(move |extension| match namespace {
        Some(namespace) => extension.namespace == namespace,
        None => schema.is_in_path(&extension.namespace),
    })
}

/// The type of an extension that a name means.
pub(crate) fn type_named(schema: &dyn Schema, namespace: Option<&str>, name: &str) -> Option<Type> {
    visible(schema, namespace).find_map(|extension| extension.ty(name))
}

/// The extension that a type comes from.
pub fn of_type(ty: &Type) -> Option<&'static facts::Extension> {
    match ty {
        Type::Scalar(scalar, _) => facts::Extension::of(scalar.oid),
        Type::Array(element) => of_type(element),
        _ => None,
    }
}

/// True for a type of an extension that has no operator of a name for its values, though indexes know their order.
pub(crate) fn lacks_operator(ty: &Type, name: &str) -> bool {
    let Type::Scalar(scalar, _) = ty else { return false };
    let Some(extension) = facts::Extension::of(scalar.oid) else { return false };
    !extension.operators().iter().any(|operator| operator.name == name && operator.left_type == scalar.oid)
}

/// What a column's declared type is where its extension is not there: text.
pub fn without_extensions(ty: &Type, installed: &[Arc<Installed>]) -> Type {
    match of_type(ty) {
        Some(facts) if !installed.iter().any(|extension| extension.facts == facts) => match ty {
            Type::Array(_) => Type::Array(Box::new(Type::Text)),
            _ => Type::Text,
        },
        _ => ty.clone(),
    }
}

/// The name with which a type of an extension is printed: with its schema where a bare one would not mean it.
pub fn shown(schema: &dyn Schema, oid: u32) -> Option<String> {
    let extension = schema.extensions().iter().find(|extension| extension.facts.block().contains(&oid))?;
    let fact = facts::Type::by_oid(oid)?;
    let (name, brackets) = match fact.category {
        'A' => (facts::Type::by_oid(fact.element)?.name, "[]"),
        _ => (fact.name, ""),
    };
    let name = crate::postgres::quote_ident(name);
    Some(match schema.is_in_path(&extension.namespace) {
        true => format!("{name}{brackets}"),
        false => format!("{}.{name}{brackets}", crate::postgres::quote_ident(&extension.namespace)),
    })
}

/// The error for an extension that is not here.
pub fn not_available(name: &str) -> Error {
    let message = format!("extension \"{name}\" is not available");
    Error::new(Condition::FeatureNotSupported, message)
        .detail("This server has its extensions built in, and this one is not among them.")
        .hint("SELECT name FROM pg_available_extensions says which there are.")
}

/// The type of an extension with a name, wherever it is installed: for declared words of a file.
pub(crate) fn declared(name: &str) -> Option<&'static scalar::Scalar> {
    scalar::of_extensions().find(|scalar| scalar.name == name)
}
