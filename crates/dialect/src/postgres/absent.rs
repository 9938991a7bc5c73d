//! What PostgreSQL has and is not here: to be told apart from what nobody has.

use rowferry_facts as facts;

use super::types;
use crate::Type;

/// The type of a literal that has none yet.
const UNKNOWN: u32 = 705;

/// True when PostgreSQL has a function that takes arguments of these types.
pub fn function(name: &str, inputs: &[Type]) -> bool {
    let given: Vec<u32> = inputs.iter().map(oid).collect();
    facts::Function::named(name).iter().any(|function| takes(function, &given))
}

/// True when PostgreSQL has an operator that takes operands of these types.
pub fn operator(name: &str, inputs: &[Type]) -> bool {
    facts::Operator::named(name).iter().any(|operator| match inputs {
        [operand] => operator.left_type == 0 && accepts(operator.right_type, oid(operand)),
        [left, right] => {
            let (wanted, given) = ([operator.left_type, operator.right_type], [oid(left), oid(right)]);
            accepts(wanted[0], given[0]) && accepts(wanted[1], given[1]) && ranges_agree(&wanted, &given)
        }
        _ => false,
    })
}

fn oid(ty: &Type) -> u32 {
    if *ty == Type::Unknown { UNKNOWN } else { types::oid(ty) }
}

fn takes(function: &facts::Function, given: &[u32]) -> bool {
    let parameters = &function.arguments;
    let least = parameters.len().saturating_sub(function.defaults as usize);
    if (least..=parameters.len()).contains(&given.len()) {
        return parameters.iter().zip(given).all(|(wanted, given)| accepts(*wanted, *given))
            && ranges_agree(parameters, given);
    }
    // The last parameter is the array that the rest becomes.
    let Some((_, single)) = parameters.split_last().filter(|_| function.variadic != 0) else { return false };
    given.len() > single.len()
        && single.iter().zip(given).all(|(wanted, given)| accepts(*wanted, *given))
        && given.iter().skip(single.len()).all(|given| accepts(function.variadic, *given))
}

/// True when a value of one type can be given where another is wanted, without being told to.
fn accepts(wanted: u32, given: u32) -> bool {
    wanted == given
        || (given == UNKNOWN && wanted != 0)
        || is_one_of(wanted, given)
        || facts::Cast::between(given, wanted).is_some_and(|cast| cast.context == 'i')
}

/// True unless ranges of several families stand beside each other, or elements of another type than the ranges have.
fn ranges_agree(wanted: &[u32], given: &[u32]) -> bool {
    let name = |oid: u32| facts::Type::by_oid(oid).map_or("", |ty| ty.name);
    let of = |wanted: u32, given: u32| match name(wanted) {
        "anyrange" => facts::Range::all().iter().find(|range| range.range == given),
        "anymultirange" => facts::Range::all().iter().find(|range| range.multirange == given),
        _ => None,
    };
    let Some(family) = wanted.iter().zip(given).find_map(|(wanted, given)| of(*wanted, *given)) else { return true };
    wanted.iter().zip(given).filter(|(_, given)| **given != UNKNOWN).all(|(wanted, given)| match name(*wanted) {
        "anyelement" => *given == family.subtype,
        "anyrange" => *given == family.range,
        "anymultirange" => *given == family.multirange,
        _ => true,
    })
}

/// True for a pseudo-type and a type that it stands for.
fn is_one_of(pseudo: u32, given: u32) -> bool {
    let Some(pseudo) = facts::Type::by_oid(pseudo).filter(|ty| ty.kind == 'p') else { return false };
    let given = facts::Type::by_oid(given);
    let kind = given.map_or('b', |ty| ty.kind);
    let is_array = given.is_some_and(|ty| ty.category == 'A');
    match pseudo.name {
        "any" | "anyelement" | "anycompatible" => true,
        "anynonarray" | "anycompatiblenonarray" => !is_array,
        "anyarray" | "anycompatiblearray" => is_array,
        "anyenum" => kind == 'e',
        "anyrange" | "anycompatiblerange" => kind == 'r',
        "anymultirange" | "anycompatiblemultirange" => kind == 'm',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_postgresql_are_known_by_their_arguments() {
        assert!(function("ts_headline", &[Type::Unknown, Type::Unknown]));
        assert!(function("numrange", &[Type::Int4, Type::Int4]), "integers become numerics by themselves");
        assert!(function("concat_ws", &[Type::Text, Type::Int4, Type::Bool]), "any number of arguments");
        assert!(function("jsonb_path_query", &[Type::Jsonb, Type::Unknown]), "two of four arguments");
        assert!(function("array_length", &[Type::Array(Box::new(Type::Text)), Type::Int4]));
        assert!(!function("array_length", &[Type::Text, Type::Int4]));
        assert!(!function("lower", &[Type::Int4]), "no integer becomes a text by itself");
        assert!(!function("lower", &[Type::Text, Type::Text]));
        assert!(!function("no_such_function", &[]));
    }

    #[test]
    fn operators_of_postgresql_are_known_by_their_operands() {
        let int4range = || types::from_oid(3904).unwrap();
        assert!(operator("@>", &[int4range(), Type::Int4]));
        assert!(!operator("@>", &[int4range(), Type::Int8]), "an element is of the range's own type");
        assert!(!operator("&&", &[int4range(), types::from_oid(3926).unwrap()]));
        assert!(operator("<->", &[Type::Unknown, Type::Unknown]));
        assert!(operator("@-@", &[Type::Unknown]));
        assert!(!operator("<->", &[Type::Int4, Type::Int4]));
        assert!(!operator("<=>", &[Type::Int4, Type::Int4]));
        assert!(!operator("+", &[Type::Bool, Type::Bool]));
    }
}
