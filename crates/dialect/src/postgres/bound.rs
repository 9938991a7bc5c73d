//! Which row of our function table carries out a function or operator of PostgreSQL's catalog.
//!
//! A row of `pg_proc` is known by its name and the types of its arguments, so these join it with a row of ours. Where
//! ours takes more than PostgreSQL's (one row for all arrays, where PostgreSQL has several), it is found by resolving
//! a call with PostgreSQL's own types.

use std::collections::HashMap;
use std::sync::LazyLock;

use rowferry_facts as facts;

use super::coerce::{cast_context, implicit, same};
use super::expr::operators;
use super::resolve::{self, Candidate};
use super::types;
use crate::functions::{self, Function, FunctionKind, TypeSpec};
use crate::scalar::ranges;
use crate::{Language, Type};

/// The object id of `record`.
const RECORD: u32 = 2_249;

/// How an operator is carried out.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A comparison in a type that both operands take.
    Comparison,
    /// LIKE and its kin.
    Pattern,
    /// A row of the function table.
    Function(&'static Function),
}

/// What carries out a function of PostgreSQL in a call with so many arguments; `None` when it is not here.
pub fn function(fact: &facts::Function, given: usize) -> Option<&'static Function> {
    let rows = || functions::named(Language::Postgres, fact.name).filter(|row| is_of_kind(row.kind, fact));
    if let Some(exact) = rows().find(|row| has_signature(row, fact, given, is_declared)) {
        return Some(exact);
    }
    // A row of any element takes arrays, too.
    let wider = |spec: &TypeSpec, oid: u32| {
        is_declared(spec, oid) || (*spec == TypeSpec::AnyElement && is_declared(&TypeSpec::AnyArray, oid))
    };
    if let Some(wider) = rows().find(|row| has_signature(row, fact, given, wider)) {
        return Some(wider);
    }
    let inputs: Vec<Type> = fact.arguments.iter().map(|oid| types::from_oid(*oid)).collect::<Option<_>>()?;
    if fact.variadic != 0 {
        return None;
    }
    let found = resolve::choose(
        resolve::candidates(fact.name, &inputs, |kind| is_of_kind(kind, fact)),
        &inputs,
        false,
        &implicit,
    );
    found.ok().filter(|candidate| takes_as_they_are(candidate, &inputs)).map(|candidate| candidate.function)
}

/// True when a function of PostgreSQL can be called: a row carries it out, it is a cast in call form (`float8(x)`), or it
/// stands behind an operator that is here.
pub fn is_here(fact: &facts::Function) -> bool {
    function(fact, fact.arguments.len()).is_some()
        || super::ddl::trigger::BUILT_IN.contains(&fact.oid)
        || is_cast(fact)
        || behind(fact).is_some_and(|fact| operator(fact).is_some())
}

/// The operator that a function stands behind (`jsonb_contains` behind `@>`): a call of it is that operator.
pub fn behind(function: &facts::Function) -> Option<&'static facts::Operator> {
    static OPERATORS: LazyLock<HashMap<u32, &'static facts::Operator>> =
        LazyLock::new(|| facts::Operator::all().iter().map(|operator| (operator.function, operator)).collect());
    OPERATORS.get(&function.oid).copied()
}

fn is_cast(fact: &facts::Function) -> bool {
    let ([from], Ok(to)) = (&*fact.arguments, types::named(fact.name, &[])) else { return false };
    let from = types::from_oid(*from);
    types::oid(&to) == fact.result && from.is_some_and(|from| cast_context(&from, &to).is_some())
}

/// What carries out an operator of PostgreSQL; `None` when it is not here.
pub fn operator(fact: &facts::Operator) -> Option<Operation> {
    let any_enum = |oid: u32| facts::Type::by_oid(oid).is_some_and(|ty| ty.name == "anyenum");
    if any_enum(fact.left_type) && any_enum(fact.right_type) {
        return operators::comparison(fact.name).map(|_| Operation::Comparison);
    }
    let operand = |oid: u32| if oid == 0 { None } else { Some(stand_in(oid)) };
    let inputs: Vec<Type> =
        [operand(fact.left_type), operand(fact.right_type)].into_iter().flatten().collect::<Option<_>>()?;
    if let [left, right] = inputs.as_slice() {
        let text = |ty: &Type| implicit(ty, &Type::Text);
        let of_bytes = inputs == [Type::Bytea, Type::Bytea] && matches!(fact.name, "~~" | "!~~");
        if operators::is_pattern(fact.name) && (of_bytes || (text(left) && text(right))) {
            return Some(Operation::Pattern);
        }
        if operators::comparison(fact.name).is_some() && operators::comparison_type(left, right).is_some() {
            return Some(Operation::Comparison);
        }
    }
    let of_operators = |kind| kind == FunctionKind::Operator;
    let found =
        resolve::choose(resolve::candidates(fact.name, &inputs, of_operators), &inputs, true, &implicit).ok()?;
    let fits = |(arg, input): (&Type, &Type)| arg.is_number() && input.is_number() && implicit(input, arg);
    let promoted = found.args.iter().zip(&inputs).all(fits);
    (promoted || takes_as_they_are(&found, &inputs)).then_some(Operation::Function(found.function))
}

/// A type that can stand where a pseudo-type is declared; `None` for types that are not here.
fn stand_in(oid: u32) -> Option<Type> {
    match facts::Type::by_oid(oid)?.name {
        "anyarray" | "anycompatiblearray" => Some(Type::Array(Box::new(Type::Int4))),
        "anyelement" | "anynonarray" | "anycompatible" | "anycompatiblenonarray" => Some(Type::Int4),
        "anyrange" => Some(Type::Scalar(&ranges::INT4RANGE, None)),
        "anymultirange" => Some(Type::Scalar(&ranges::INT4MULTIRANGE, None)),
        _ => types::from_oid(oid),
    }
}

fn is_of_kind(kind: FunctionKind, fact: &facts::Function) -> bool {
    match kind {
        FunctionKind::Aggregate => fact.kind == 'a',
        FunctionKind::Window => fact.kind == 'w',
        // A function of one row of several columns yields it as one of a set of rows does.
        FunctionKind::SetReturning => fact.kind == 'f' && (fact.returns_set || fact.result == RECORD),
        FunctionKind::Scalar => fact.kind == 'f' && !fact.returns_set,
        FunctionKind::Operator => false,
    }
}

/// True for a row that takes a call of a function with so many arguments.
fn has_signature(
    row: &Function,
    fact: &facts::Function,
    given: usize,
    declares: impl Fn(&TypeSpec, u32) -> bool,
) -> bool {
    let declared = &fact.arguments;
    if row.variadic != (fact.variadic != 0) {
        return false;
    }
    let fits = if row.variadic {
        row.args.len() == declared.len()
    } else {
        given <= declared.len() && (row.args.len() - row.optional..=row.args.len()).contains(&given)
    };
    let compared = if row.variadic { declared.len() } else { given };
    let last = row.args.len().wrapping_sub(1);
    fits && row.args.iter().zip(declared).take(compared).enumerate().all(|(index, (spec, oid))| {
        let oid = if row.variadic && index == last { fact.variadic } else { *oid };
        declares(spec, oid)
    })
}

fn is_declared(spec: &TypeSpec, oid: u32) -> bool {
    let name = || facts::Type::by_oid(oid).map_or("", |ty| ty.name);
    match spec {
        TypeSpec::Is(ty) => types::oid(ty) == oid,
        TypeSpec::ArrayOf(element) => types::row_of(element).is_some_and(|row| row.array_oid == oid),
        TypeSpec::Any => name() == "any",
        TypeSpec::AnyRow => name() == "record",
        TypeSpec::AnyElement => {
            matches!(name(), "anyelement" | "anynonarray" | "anycompatible" | "anycompatiblenonarray")
        }
        TypeSpec::AnyEnum => name() == "anyenum",
        TypeSpec::AnyArray => matches!(name(), "anyarray" | "anycompatiblearray"),
        TypeSpec::AnyMultirange => name() == "anymultirange",
        TypeSpec::AnyRange => name() == "anyrange",
        TypeSpec::SameAs(_) => false,
    }
}

/// True when no argument must be converted: only types of the same values count, as `varchar` for `text`.
fn takes_as_they_are(candidate: &Candidate, inputs: &[Type]) -> bool {
    candidate.args.iter().zip(inputs).all(|(arg, input)| {
        *arg == Type::Unknown || same(arg, input) || {
            let method = facts::Cast::between(types::oid(input), types::oid(arg)).map(|cast| cast.method);
            method == Some('b')
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(name: &str, arguments: &[u32]) -> bool {
        let fact = facts::Function::named(name).iter().find(|fact| *fact.arguments == *arguments).unwrap();
        is_here(fact)
    }

    #[test]
    fn functions_are_known_by_their_arguments() {
        assert!(here("lower", &[25]));
        assert!(here("suppress_redundant_updates_trigger", &[]), "called by triggers only");
        assert!(here("json_build_object", &[2276]), "any number of any type");
        assert!(here("array_agg", &[2776]) && here("count", &[2276]) && here("count", &[]));
        assert!(here("jsonb_path_exists", &[3802, 4072, 3802, 16]), "with defaults");
        assert!(here("lower", &[3831]) && here("range_agg", &[4537]), "of a range");
        assert!(
            here("lag", &[2283]) && here("lag", &[2283, 23]) && here("lag", &[5077, 23, 5077]),
            "one row for three"
        );
        assert!(!here("xmlcomment", &[25]), "of a type that is not here");
        assert!(here("int4pl", &[23, 23]) && here("jsonb_contains", &[3802, 3802]), "behind operators");
        assert!(here("float8", &[23]) && !here("xml", &[25]), "casts in call form");
    }

    #[test]
    fn operators_are_known_by_their_operands() {
        let here = |name: &str, left: u32, right: u32| {
            let facts = facts::Operator::named(name);
            operator(facts.iter().find(|fact| (fact.left_type, fact.right_type) == (left, right)).unwrap()).is_some()
        };
        assert!(here("=", 23, 20) && here("<", 1082, 1114) && here("=", 2277, 2277));
        assert!(here("+", 21, 23) && here("*", 23, 20), "numbers become the wider one");
        assert!(here("~~", 25, 25) && here("+", 21, 21) && here("@", 0, 1700));
        assert!(here("<->", 600, 600) && here("=", 628, 628));
    }
}
