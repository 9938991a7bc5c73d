//! Types as a function names them.

use pg_query::protobuf::{TypeName, a_const, node::Node as N};

use crate::postgres::{coerce, names, regtype, types};
use crate::schema::QualifiedName;
use crate::stored_function::{Polymorphic, TypeRef};
use crate::{Condition, Error, Result, Type};

/// The type of a name, modifiers included. What is no type of values is the row of a table, which nobody looks for yet.
pub(crate) fn type_ref(name: &TypeName) -> Result<TypeRef> {
    let (schema, word) = names::of_type(name);
    let array = !name.array_bounds.is_empty();
    let plain = matches!(schema, None | Some("pg_catalog"));
    if plain && !array {
        if let Some(any) = Polymorphic::named(word) {
            return Ok(TypeRef::Any(any));
        }
        match word {
            "record" => return Ok(TypeRef::Is(Type::RECORD)),
            "void" => return Ok(TypeRef::Is(Type::Void)),
            "trigger" => return Ok(TypeRef::Trigger),
            "event_trigger" => return Ok(TypeRef::EventTrigger),
            "any" | "internal" | "cstring" | "language_handler" => {
                return Err(Error::unsupported(format!("type \"{word}\"")));
            }
            _ => {}
        }
    }
    if plain {
        match types::named(word, &modifiers(name)?) {
            Ok(ty) => return Ok(TypeRef::Is(if array { Type::Array(Box::new(ty)) } else { ty })),
            Err(error) if error.condition() == Condition::UndefinedObject => {}
            Err(error) => return Err(error),
        }
    }
    let name = QualifiedName { schema: schema.map(str::to_owned), name: word.to_owned() };
    Ok(if array { TypeRef::Rows(name) } else { TypeRef::Row(name) })
}

fn modifiers(name: &TypeName) -> Result<Vec<i64>> {
    let constant = |node: &pg_query::protobuf::Node| match &node.node {
        Some(N::AConst(constant)) => match &constant.val {
            Some(a_const::Val::Ival(value)) => Some(i64::from(value.ival)),
            _ => None,
        },
        _ => None,
    };
    name.typmods
        .iter()
        .map(|node| {
            constant(node).ok_or_else(|| {
                let message = "type modifiers must be simple constants or identifiers";
                Error::new(Condition::InvalidParameterValue, message)
            })
        })
        .collect()
}

/// The type without its modifiers, which parameters and results do not have.
pub(super) fn unmodified(ty: TypeRef) -> TypeRef {
    match ty {
        TypeRef::Is(ty) => TypeRef::Is(coerce::base(&ty)),
        other => other,
    }
}

/// The type of a text, as DECLARE has it.
///
/// # Errors
/// `42601` for a text that is no type, `0A000` for PostgreSQL's types that are not there.
pub fn type_from_text(words: &str) -> Result<TypeRef> {
    let syntax = || Error::new(Condition::SyntaxError, format!("syntax error at or near \"{words}\""));
    let name = regtype::type_name(words).ok_or_else(syntax)?;
    type_ref(&name)
}
