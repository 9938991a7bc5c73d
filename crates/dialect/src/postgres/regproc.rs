//! Functions and operators by name: what `regproc`, `regprocedure`, `regoper` and `regoperator` read and print.

use std::sync::Arc;

use rowferry_facts as facts;

use super::{names, regtype, routine, words};
use crate::schema::QualifiedName;
use crate::stored_function::StoredFunction;
use crate::types::Reg;
use crate::user_operator::UserOperator;
use crate::{Condition, Error, Result, Schema, extension};

const PG_CATALOG: &str = "pg_catalog";

/// The name to print for a function or operator; `None` when there is none.
pub fn name(schema: &dyn Schema, reg: Reg, oid: u32) -> Option<String> {
    match reg {
        Reg::Oper | Reg::Operator => match schema.operator_by_oid(oid) {
            Some(made) => Some(made_operator_name(schema, reg, &made)),
            None if reg == Reg::Oper => facts::Operator::by_oid(oid).map(|fact| operator_name(schema, fact)),
            None => facts::Operator::by_oid(oid).map(operator_signature),
        },
        Reg::Proc | Reg::Procedure => match facts::Function::by_oid(oid) {
            Some(fact) => Some(builtin_name(schema, reg, fact)),
            None => stored_name(schema, reg, oid),
        },
        Reg::Class | Reg::Collation | Reg::Config | Reg::Dictionary | Reg::Namespace | Reg::Role | Reg::Type => None,
    }
}

/// The function or operator that a text names.
///
/// Errors: `UndefinedFunction`, `AmbiguousFunction`, and those of texts that are no names.
pub fn oid(schema: &dyn Schema, reg: Reg, text: &str) -> Result<u32> {
    match reg {
        Reg::Proc => function_oid(schema, text),
        Reg::Procedure => procedure_oid(schema, text),
        Reg::Oper => {
            let made = made_operators(schema, text.trim());
            let mut found =
                operators(text.trim()).iter().map(|fact| fact.oid).chain(made.iter().map(|operator| operator.oid));
            match (found.next(), found.next()) {
                (Some(only), None) => Ok(only),
                (None, _) => Err(no_operator(text)),
                (Some(_), Some(_)) => {
                    let message = format!("more than one operator named {text}");
                    Err(Error::new(Condition::AmbiguousFunction, message))
                }
            }
        }
        Reg::Operator => operator_oid(schema, text),
        Reg::Class | Reg::Collation | Reg::Config | Reg::Dictionary | Reg::Namespace | Reg::Role | Reg::Type => {
            Err(Error::internal("not a name of a function"))
        }
    }
}

/// A function of PostgreSQL's own, bare where the name finds it and as regproc where it finds nothing else.
fn builtin_name(schema: &dyn Schema, reg: Reg, fact: &facts::Function) -> String {
    let name = words::quote_ident(fact.name);
    if reg == Reg::Procedure {
        let shown = |oid: &u32| regtype::shown_in(schema, *oid, None);
        let types: Vec<String> = fact.arguments.iter().filter_map(shown).collect();
        return format!("{name}({})", types.join(","));
    }
    let bare = QualifiedName::bare(fact.name.to_owned());
    let only = facts::Function::named(fact.name).len() + of_extensions(schema, &bare).len() == 1
        && schema.functions(&bare).is_empty();
    let namespace = of_extension(schema, fact.oid).map_or(PG_CATALOG, |extension| &extension.namespace);
    if only { name } else { format!("{}.{name}", words::quote_ident(namespace)) }
}

/// The extension that brings a function.
fn of_extension(schema: &dyn Schema, oid: u32) -> Option<&extension::Installed> {
    let mut all = schema.extensions().iter();
    all.find(|extension| extension.facts.block().contains(&oid)).map(|extension| &**extension)
}

/// The functions that a name means among those of extensions.
fn of_extensions(schema: &dyn Schema, name: &QualifiedName) -> Vec<&'static facts::Function> {
    let visible = extension::visible(schema, name.schema.as_deref());
    let functions = visible.flat_map(|extension| extension.facts.functions());
    functions.filter(|fact| fact.name == name.name).collect()
}

/// A function that users have made.
fn stored_name(schema: &dyn Schema, reg: Reg, oid: u32) -> Option<String> {
    let function = schema.function_by_oid(oid)?;
    let known = visible(schema, &QualifiedName::bare(function.name.clone()));
    // Bare where the name finds it, and as regproc where it finds nothing else.
    let bare = match reg {
        Reg::Proc => {
            facts::Function::named(&function.name).is_empty() && matches!(known.as_slice(), [only] if only.oid == oid)
        }
        _ => known.iter().any(|known| known.oid == oid),
    };
    let name = words::quote_ident(&function.name);
    let name = if bare { name } else { format!("{}.{name}", words::quote_ident(&function.namespace)) };
    Some(if reg == Reg::Proc { name } else { format!("{name}({})", function.definition.input_words()) })
}

/// Users' functions of a name, without those that one of a schema before theirs hides: it takes the same types.
fn visible(schema: &dyn Schema, name: &QualifiedName) -> Vec<Arc<StoredFunction>> {
    let mut found: Vec<Arc<StoredFunction>> = Vec::new();
    for function in schema.functions(name) {
        if !found.iter().any(|before| before.definition.input_words() == function.definition.input_words()) {
            found.push(function);
        }
    }
    found
}

/// PostgreSQL's own functions of a name, and those of extensions, where the name can mean them.
fn builtin(schema: &dyn Schema, name: &QualifiedName) -> Vec<&'static facts::Function> {
    let mut found = of_extensions(schema, name);
    if matches!(name.schema.as_deref(), None | Some(PG_CATALOG)) {
        found.extend(facts::Function::named(&name.name));
    }
    found
}

fn no_function(text: &str) -> Error {
    Error::new(Condition::UndefinedFunction, format!("function \"{text}\" does not exist"))
}

fn invalid_name() -> Error {
    Error::new(Condition::InvalidName, "invalid name syntax")
}

fn function_oid(schema: &dyn Schema, text: &str) -> Result<u32> {
    let name = names::qualified(text).ok_or_else(invalid_name)?;
    schema.check_usage(&name)?;
    let stored = visible(schema, &name);
    let mut found =
        builtin(schema, &name).into_iter().map(|fact| fact.oid).chain(stored.iter().map(|function| function.oid));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(no_function(text)),
        (Some(_), Some(_)) => {
            Err(Error::new(Condition::AmbiguousFunction, format!("more than one function named \"{text}\"")))
        }
    }
}

/// `name(type, …)` taken apart.
fn name_and_types(text: &str) -> Result<(&str, Vec<&str>)> {
    let expected =
        |what: &str| Error::new(Condition::InvalidTextRepresentation, format!("expected a {what} parenthesis"));
    let (name, types) = text.split_once('(').ok_or_else(|| expected("left"))?;
    let types = types.trim_end().strip_suffix(')').ok_or_else(|| expected("right"))?;
    Ok((name, types.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()))
}

fn procedure_oid(schema: &dyn Schema, text: &str) -> Result<u32> {
    let (name, types) = name_and_types(text)?;
    let name = names::qualified(name).ok_or_else(invalid_name)?;
    schema.check_usage(&name)?;
    let stored = schema.functions(&name);
    let builtin = builtin(schema, &name);
    if stored.is_empty() {
        let oids = types.iter().map(|words| regtype::oid_in(schema, words)).collect::<Result<Vec<u32>>>()?;
        let found = builtin.iter().find(|fact| *fact.arguments == *oids);
        return found.map(|fact| fact.oid).ok_or_else(|| no_function(text));
    }
    let oids: Option<Vec<u32>> = types.iter().map(|words| regtype::oid_in(schema, words).ok()).collect();
    if let Some(found) = oids.and_then(|oids| builtin.iter().find(|fact| *fact.arguments == *oids)) {
        return Ok(found.oid);
    }
    let mut words = Vec::with_capacity(types.len());
    for ty in types {
        words.push(routine::type_from_text(ty)?.words());
    }
    let words = words.join(",");
    let found = stored.iter().find(|function| function.definition.input_words() == words);
    found.map(|function| function.oid).ok_or_else(|| no_function(text))
}

fn operators(name: &str) -> &'static [&'static facts::Operator] {
    facts::Operator::named(name.strip_prefix("pg_catalog.").unwrap_or(name))
}

fn no_operator(text: &str) -> Error {
    Error::new(Condition::UndefinedFunction, format!("operator does not exist: {text}"))
}

/// Users' operators of a name.
fn made_operators(schema: &dyn Schema, text: &str) -> Vec<Arc<UserOperator>> {
    let name = match text.rsplit_once('.') {
        Some((namespace, name)) => {
            let namespace = names::qualified(namespace).map_or_else(|| namespace.to_owned(), |name| name.name);
            QualifiedName::new(namespace, name)
        }
        None => QualifiedName::bare(text),
    };
    schema.operators(&name)
}

/// True where a name without its schema means an operator, between operands of its types.
pub fn is_operator_visible(schema: &dyn Schema, operator: &UserOperator) -> bool {
    let types = |of: &UserOperator| (of.definition.left, of.definition.right);
    let facts = facts::Operator::named(&operator.name).iter();
    let hidden = facts.into_iter().any(|fact| (fact.left_type, fact.right_type) == types(operator));
    let same = schema.operators(&QualifiedName::bare(operator.name.clone()));
    let first = same.iter().find(|known| types(known) == types(operator));
    !hidden && first.is_some_and(|first| first.oid == operator.oid)
}

/// A users' operator as the printer of expressions has it.
pub fn operator_sign(schema: &dyn Schema, oid: u32) -> Option<String> {
    let operator = schema.operator_by_oid(oid)?;
    Some(match is_operator_visible(schema, &operator) {
        true => operator.name.clone(),
        false => format!("OPERATOR({}.{})", words::quote_ident(&operator.namespace), operator.name),
    })
}

fn made_operator_name(schema: &dyn Schema, reg: Reg, operator: &UserOperator) -> String {
    let qualified = || format!("{}.{}", words::quote_ident(&operator.namespace), operator.name);
    if reg == Reg::Oper {
        let others = schema.operators(&QualifiedName::bare(operator.name.clone()));
        let only = facts::Operator::named(&operator.name).is_empty()
            && matches!(others.as_slice(), [only] if only.oid == operator.oid);
        return if only { operator.name.clone() } else { qualified() };
    }
    let name = if is_operator_visible(schema, operator) { operator.name.clone() } else { qualified() };
    let words = |oid: u32| regtype::shown_in(schema, oid, None).unwrap_or_else(|| "NONE".to_owned());
    format!("{name}({},{})", words(operator.definition.left), words(operator.definition.right))
}

fn operator_name(schema: &dyn Schema, operator: &facts::Operator) -> String {
    let only = facts::Operator::named(operator.name).len() == 1
        && schema.operators(&QualifiedName::bare(operator.name)).is_empty();
    if only { operator.name.to_owned() } else { format!("{PG_CATALOG}.{}", operator.name) }
}

pub(super) fn operator_signature(operator: &facts::Operator) -> String {
    let words = |oid: u32| regtype::shown(oid, None).unwrap_or_else(|| "NONE".to_owned());
    format!("{}({},{})", operator.name, words(operator.left_type), words(operator.right_type))
}

fn operator_oid(schema: &dyn Schema, text: &str) -> Result<u32> {
    let (name, types) = name_and_types(text)?;
    let operand = |words: &str| if words.eq_ignore_ascii_case("none") { Ok(0) } else { regtype::oid_in(schema, words) };
    let (left, right) = match types.as_slice() {
        [left, right] => (operand(left)?, operand(right)?),
        [_] => {
            return Err(Error::new(Condition::UndefinedParameter, "missing argument")
                .hint("Use NONE to denote the missing argument of a unary operator."));
        }
        [] => {
            let hint = "Provide two argument types for operator.";
            return Err(Error::new(Condition::UndefinedParameter, "missing argument").hint(hint));
        }
        _ => {
            return Err(Error::new(Condition::TooManyArguments, "too many arguments")
                .hint("Provide two argument types for operator."));
        }
    };
    let found = operators(name.trim()).iter().find(|row| (row.left_type, row.right_type) == (left, right));
    let made = || {
        let made = made_operators(schema, name.trim());
        let found = made.iter().find(|row| (row.definition.left, row.definition.right) == (left, right));
        found.map(|operator| operator.oid)
    };
    found.map(|operator| operator.oid).or_else(made).ok_or_else(|| no_operator(text))
}
