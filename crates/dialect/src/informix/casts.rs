//! Casts of users in Informix's SQL: CREATE CAST, DROP CAST, the casts that come with a DISTINCT type, and which of them
//! makes a value of one type a value of another.
//!
//! A built-in type takes part in a cast without its length, precision or qualifier. Types of one kind, as all strings are,
//! stand for each other where no cast names the very type.

use serde_json::{Value as Json, json};

use super::ast::{Ast, ObjectName};
use super::bind::Binder;
use super::parser::Parser;
use super::types::{import, type_words};
use crate::ir::{self, CreateInformixCast, Ddl};
use crate::schema::Schema;
use crate::{Condition, Error, Result, Type};

/// One of the two types of a cast.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Side {
    /// A built-in type, by its name alone.
    BuiltIn(String),
    /// The object id of a DISTINCT type or a named ROW type.
    Named(u32),
}

/// What a cast is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Definition {
    /// The type that it takes.
    pub source: Side,
    /// The type that it makes.
    pub target: Side,
    /// It is done unasked.
    pub implicit: bool,
    /// WITH: the routine that does it; without one the value stays as it is.
    pub function: Option<String>,
}

/// A cast.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InformixCast {
    /// Object id.
    pub oid: u32,
    /// What it is.
    pub definition: Definition,
}

/// A cast for a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The cast.
    pub definition: Definition,
    /// What the value is taken for: the source of its DISTINCT type, where the cast is that one's.
    pub from: Type,
}

/// The name of a built-in type without its modifiers; a collection's own words.
fn name_of(ty: &Type) -> String {
    let words = type_words(ty);
    match import(ty) {
        Type::Composite(_) => words,
        _ => words.split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}

/// What built-in types of one kind have in common.
fn kind_of(name: &str) -> &str {
    match name {
        "CHAR" | "VARCHAR" | "NCHAR" | "NVARCHAR" | "LVARCHAR" => "a string",
        "SMALLINT" | "INTEGER" | "BIGINT" | "INT8" => "an integer",
        "DECIMAL" | "MONEY" => "a decimal",
        "FLOAT" | "SMALLFLOAT" => "a float",
        other => other,
    }
}

/// True for two built-in types of one kind.
pub(super) fn alike(a: &Type, b: &Type) -> bool {
    kind_of(&name_of(a)) == kind_of(&name_of(b))
}

/// A type's name as messages show it.
pub fn shown(ty: &Type) -> String {
    ty.distinct().map_or_else(|| type_words(ty), |user| user.name.clone())
}

impl Side {
    /// A type as a side of a cast.
    fn of(ty: &Type, schema: &dyn Schema) -> Self {
        match ty.distinct() {
            Some(user) => Self::Named(user.oid),
            None => row_name(ty, schema).map_or_else(|| Self::BuiltIn(name_of(ty)), Self::Named),
        }
    }

    /// Whether a type is this one, or one of the same kind.
    pub(super) fn takes(&self, ty: &Type, schema: &dyn Schema, exact: bool) -> bool {
        match self {
            Self::Named(oid) => match ty.distinct() {
                Some(user) => user.oid == *oid,
                // A row is known by its fields.
                None => {
                    matches!(ty, Type::Composite(_))
                        && schema.named_types().iter().any(|named| named.oid == *oid && named.is_row && named.ty == *ty)
                }
            },
            Self::BuiltIn(name) => {
                let own = name_of(ty);
                ty.distinct().is_none() && (own == *name || !exact && kind_of(&own) == kind_of(name))
            }
        }
    }

    fn to_json(&self) -> Json {
        match self {
            Self::BuiltIn(name) => json!(name),
            Self::Named(oid) => json!(oid),
        }
    }

    fn from_json(json: &Json) -> Option<Self> {
        match json {
            Json::String(name) => Some(Self::BuiltIn(name.clone())),
            other => Some(Self::Named(u32::try_from(other.as_u64()?).ok()?)),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::BuiltIn(name) => name.clone(),
            Self::Named(oid) => oid.to_string(),
        }
    }
}

/// The named ROW type with a row's fields.
fn row_name(ty: &Type, schema: &dyn Schema) -> Option<u32> {
    matches!(ty, Type::Composite(_)).then_some(())?;
    schema.named_types().iter().find(|named| named.is_row && named.ty == *ty).map(|named| named.oid)
}

impl Definition {
    /// As it is kept.
    pub fn to_text(&self) -> String {
        json!({
            "source": self.source.to_json(), "target": self.target.to_json(), "implicit": self.implicit,
            "function": self.function,
        })
        .to_string()
    }

    /// From what is kept; `None` for what is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let json: Json = serde_json::from_str(text).ok()?;
        Some(Self {
            source: Side::from_json(&json["source"])?,
            target: Side::from_json(&json["target"])?,
            implicit: json["implicit"].as_bool()?,
            function: json["function"].as_str().map(str::to_owned),
        })
    }

    /// The name of its entry, which tells it from others.
    pub fn entry(&self) -> String {
        format!("{} AS {}", self.source.words(), self.target.words())
    }

    /// The casts that come with a DISTINCT type: to its source type, and back.
    pub fn of_distinct(oid: u32, source: &Type, schema: &dyn Schema) -> [Self; 2] {
        let (own, source) = (Side::Named(oid), Side::of(source, schema));
        let cast = |source: &Side, target: &Side| Self {
            source: source.clone(),
            target: target.clone(),
            implicit: false,
            function: None,
        };
        [cast(&own, &source), cast(&source, &own)]
    }

    /// It names a type.
    pub fn names(&self, oid: u32) -> bool {
        [&self.source, &self.target].into_iter().any(|side| *side == Side::Named(oid))
    }
}

/// The cast that makes a value of one type a value of another: a DISTINCT type has those of its source type, too, but for
/// the ones that only give a built-in type another name.
pub fn find(schema: &dyn Schema, from: &Type, to: &Type, unasked: bool) -> Option<Found> {
    let casts = schema.informix_casts();
    if casts.is_empty() {
        return None;
    }
    let mut ty = from;
    let mut inherited = false;
    loop {
        for exact in [true, false] {
            let found = casts.iter().map(|cast| &cast.definition).find(|cast| {
                (cast.implicit || !unasked)
                    && !(inherited && cast.function.is_none() && matches!(cast.source, Side::BuiltIn(_)))
                    && cast.source.takes(ty, schema, exact)
                    && cast.target.takes(to, schema, exact)
            });
            if let Some(definition) = found {
                return Some(Found { definition: definition.clone(), from: ty.clone() });
            }
        }
        let user = ty.distinct()?;
        ty = &user.domain()?.base;
        inherited = true;
    }
}

/// The name of a type without its modifiers, as a message about casts shows it.
pub(super) fn shown_side(ty: &Type) -> String {
    ty.distinct().map_or_else(|| name_of(ty), |user| user.name.clone())
}

/// The error for types between which there is no cast.
pub fn no_cast(from: &Type, to: &Type) -> Error {
    let message = format!("no cast from {} to {}", shown_side(from), shown_side(to));
    Error::new(Condition::CannotCoerce, message)
}

impl Parser<'_> {
    /// `[IF NOT EXISTS] (source AS target [WITH function])`, behind CREATE CAST.
    pub(super) fn create_cast(&mut self, implicit: bool) -> Result<Ast> {
        let at = self.start();
        let if_not_exists = self.if_not_exists();
        self.expect_sign("(")?;
        let source = self.type_name()?.ty;
        self.expect_word("as")?;
        let target = self.type_name()?.ty;
        let function = if self.word("with") { Some(self.object_name()?) } else { None };
        self.expect_sign(")")?;
        Ok(Ast::CreateCast { source, target, implicit, function, if_not_exists, at })
    }

    /// `[IF EXISTS] (source AS target)`, behind DROP CAST.
    pub(super) fn drop_cast(&mut self) -> Result<Ast> {
        let at = self.start();
        let if_exists = self.if_exists();
        self.expect_sign("(")?;
        let source = self.type_name()?.ty;
        self.expect_word("as")?;
        let target = self.type_name()?.ty;
        self.expect_sign(")")?;
        Ok(Ast::DropCast { source, target, if_exists, at })
    }
}

/// CREATE CAST as it is written.
pub(super) struct NewCast<'a> {
    pub source: &'a Type,
    pub target: &'a Type,
    pub implicit: bool,
    pub function: Option<&'a ObjectName>,
    pub if_not_exists: bool,
    pub at: usize,
}

impl Binder<'_> {
    /// CREATE CAST.
    pub(super) fn create_cast(&mut self, new: &NewCast<'_>) -> Result<ir::Statement> {
        let source = self.named_type(new.source, new.at)?;
        let target = self.named_type(new.target, new.at)?;
        let (from, to) = (Side::of(&source, self.schema()), Side::of(&target, self.schema()));
        let wrong = |message: &str| Err(self.error(Condition::IncompatibleCast, message, new.at));
        for side in [&from, &to] {
            if matches!(side, Side::BuiltIn(name) if name.contains('(')) {
                return wrong("a collection or a row without a name has no casts of users");
            }
        }
        if from == to {
            return wrong("a cast is between two types");
        }
        if matches!((&from, &to), (Side::BuiltIn(_), Side::BuiltIn(_))) {
            return wrong("a cast of users cannot be between two built-in types");
        }
        if self.cast_between(&from, &to).is_some() {
            if new.if_not_exists {
                return Ok(ir::Statement::Nothing { tag: "CREATE CAST" });
            }
            let message = format!("there is a cast from {} to {} already", shown(&source), shown(&target));
            return Err(self.error(Condition::DuplicateCast, message, new.at));
        }
        let function = new.function.map(|function| function.name.clone());
        let definition = Definition { source: from, target: to, implicit: new.implicit, function };
        match new.function {
            Some(function) => {
                let found = self.placed(self.cast_routine(&function.name, &definition), function.at)?;
                if !definition.target.takes(&found.returns, self.schema(), false) {
                    let message = format!(
                        "the routine ({}) returns {}, not {}",
                        function.name,
                        shown(&found.returns),
                        shown(&target)
                    );
                    return Err(self.error(Condition::IncompatibleCast, message, function.at));
                }
            }
            None if !alike(source.without_distinct(), target.without_distinct())
                || name_of(source.without_distinct()) != name_of(target.without_distinct()) =>
            {
                return wrong("types whose values lie differently need a cast WITH a function");
            }
            None => {}
        }
        self.changes_schema();
        let create = CreateInformixCast { name: definition.entry(), words: definition.to_text() };
        Ok(ir::Statement::Ddl(Box::new(Ddl::CreateInformixCast(create))))
    }

    /// DROP CAST.
    pub(super) fn drop_cast(
        &mut self,
        source: &Type,
        target: &Type,
        if_exists: bool,
        at: usize,
    ) -> Result<ir::Statement> {
        let found = match (self.named_type(source, at), self.named_type(target, at)) {
            (Ok(source), Ok(target)) => {
                let (from, to) = (Side::of(&source, self.schema()), Side::of(&target, self.schema()));
                self.cast_between(&from, &to)
            }
            (Err(_), _) | (_, Err(_)) if if_exists => None,
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        match found {
            Some(oid) => {
                self.changes_schema();
                Ok(ir::Statement::Ddl(Box::new(Ddl::DropInformixCast { oid })))
            }
            None if if_exists => Ok(ir::Statement::Nothing { tag: "DROP CAST" }),
            None => Err(self.error(Condition::UndefinedCast, "the cast does not exist in the database", at)),
        }
    }

    fn cast_between(&self, source: &Side, target: &Side) -> Option<u32> {
        let casts = self.schema().informix_casts();
        let found = casts.iter().find(|cast| cast.definition.source == *source && cast.definition.target == *target);
        found.map(|cast| cast.oid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cast_survives_its_text() {
        for function in [None, Some("to_dollar".to_owned())] {
            for implicit in [false, true] {
                let (source, target) = (Side::BuiltIn("DECIMAL".to_owned()), Side::Named(16_400));
                let definition = Definition { source, target, implicit, function: function.clone() };
                assert_eq!(Definition::from_text(&definition.to_text()), Some(definition.clone()));
                assert_eq!(definition.entry(), "DECIMAL AS 16400");
            }
        }
        assert_eq!(Definition::from_text("{}"), None);
    }

    #[test]
    fn modifiers_do_not_tell_built_in_types_apart() {
        let of = |words: &str| name_of(&super::super::type_from_words(words).unwrap());
        assert_eq!(of("DECIMAL(8,2)"), of("DECIMAL"));
        assert_eq!(of("DATETIME YEAR TO DAY"), of("DATETIME HOUR TO SECOND"));
        assert_ne!(of("MONEY"), of("DECIMAL"));
        assert_eq!(kind_of(&of("VARCHAR(5)")), kind_of(&of("CHAR(3)")));
    }
}
