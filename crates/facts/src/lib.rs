//! What PostgreSQL 15 says of itself in its catalogs, as data.
//!
//! `tools/postgres_facts.py` writes `data/*.tsv` from a running PostgreSQL and checks them. Here they are tables of structs,
//! read at their first use and shared by the process. Names of fields are ours; each says which column it is. An object id
//! of 0 is none. What is implemented of it is not told here.

mod classes;
mod extensions;
mod functions;
mod operators;
mod read;
mod relations;
mod settings;
mod standard;
mod types;
mod unaccent;

pub use classes::{AccessMethod, FamilyFunction, FamilyOperator, OperatorClass, OperatorFamily};
pub use extensions::Extension;
pub use functions::{Aggregate, Function, Language};
pub use operators::{Cast, Operator};
pub use relations::{CatalogForeignKey, Collation, Column, Conversion, Index, Keyword, Relation};
pub use settings::Setting;
pub use standard::{StandardFeature, StandardPart, StandardSize};
pub use types::{Range, Type};
pub use unaccent::unaccented;

use std::collections::HashMap;
use std::hash::Hash;

/// The row with an object id, in a table that is in their order.
fn by_oid<T>(all: &'static [T], oid: u32, of: impl Fn(&T) -> u32) -> Option<&'static T> {
    all.binary_search_by_key(&oid, of).ok().and_then(|at| all.get(at))
}

/// Rows by a key that several may have.
fn index<K: Eq + Hash, T>(all: &'static [T], key: impl Fn(&'static T) -> K) -> HashMap<K, Vec<&'static T>> {
    let mut index: HashMap<K, Vec<&'static T>> = HashMap::new();
    for row in all {
        index.entry(key(row)).or_default().push(row);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! heads {
        ($($table:ident),*) => {$(
            assert_eq!($table::head(), $table::FIELDS, stringify!($table));
            assert!(!$table::all().is_empty());
        )*};
    }

    #[test]
    fn the_fields_are_the_columns_of_the_files() {
        heads!(AccessMethod, FamilyFunction, FamilyOperator, OperatorClass, OperatorFamily);
        heads!(Aggregate, Function, Language, Cast, Operator, Collation, Column, Conversion, Relation, Range, Type);
        heads!(Index, Keyword, CatalogForeignKey);
        heads!(StandardFeature, StandardPart, StandardSize);
        heads!(Extension, Setting);
    }

    #[test]
    fn what_is_referred_to_is_there() {
        let type_exists = |oid| oid == 0 || Type::by_oid(oid).is_some();
        let function_exists = |oid| oid == 0 || Function::by_oid(oid).is_some();
        for ty in Type::all() {
            assert!(type_exists(ty.element) && type_exists(ty.array), "{ty:?}");
            assert!([ty.input, ty.output, ty.receive, ty.send].into_iter().all(function_exists), "{ty:?}");
        }
        for function in Function::all() {
            assert!(
                type_exists(function.result) && function.arguments.iter().all(|oid| type_exists(*oid)),
                "{function:?}"
            );
            assert!(
                [0, function.all_arguments.len().max(function.arguments.len())].contains(&function.modes.len()),
                "{function:?}"
            );
        }
        for operator in Operator::all() {
            let types = [operator.left_type, operator.right_type, operator.result];
            assert!(types.into_iter().all(type_exists) && function_exists(operator.function), "{operator:?}");
            for other in [operator.commutator, operator.negator] {
                assert!(other == 0 || Operator::by_oid(other).is_some(), "{operator:?}");
            }
        }
        for cast in Cast::all() {
            assert!(type_exists(cast.source) && type_exists(cast.target) && function_exists(cast.function), "{cast:?}");
        }
        for aggregate in Aggregate::all() {
            let function = Function::by_oid(aggregate.function).unwrap();
            assert_eq!(function.kind, 'a', "{function:?}");
        }
        for class in OperatorClass::all() {
            assert!(OperatorFamily::by_oid(class.family).is_some() && type_exists(class.input), "{class:?}");
        }
        for row in FamilyOperator::all() {
            assert!(Operator::by_oid(row.operator).is_some(), "{row:?}");
        }
        for row in FamilyFunction::all() {
            assert!(function_exists(row.function), "{row:?}");
        }
    }

    #[test]
    fn rows_are_found() {
        assert_eq!(Type::by_oid(23).unwrap().name, "int4");
        assert_eq!(Type::named("timestamptz").unwrap().oid, 1184);
        assert_eq!(Type::by_oid(0), None);
        assert_eq!(Function::by_oid(2803).unwrap().name, "count");
        let lower: Vec<_> = Function::named("lower").iter().map(|function| &*function.arguments).collect();
        assert_eq!(lower, [&[25][..], &[3831], &[4537]]);
        assert!(Function::named("no_such").is_empty());
        assert_eq!(Operator::named("=").iter().filter(|operator| operator.left_type == 23).count(), 3);
        assert_eq!(Cast::between(23, 25), None, "integers become texts by their output function");
        assert_eq!(Cast::between(20, 23).unwrap().context, 'a');
        assert_eq!(Relation::named("pg_catalog", "pg_class").unwrap().oid, 1259);
        assert!(Relation::all().iter().all(|row| Relation::named(row.schema, row.name) == Some(row)));
        assert_eq!(Relation::named("informix", "pg_class"), None);
        let index = Index::by_oid(2662).unwrap();
        assert_eq!((index.name, index.relation, &*index.columns), ("pg_class_oid_index", "pg_class", &[1][..]));
        assert_eq!(
            Relation::columns("pg_catalog", "pg_am").iter().map(|column| column.name).collect::<Vec<_>>(),
            ["oid", "amname", "amhandler", "amtype"]
        );
    }
}
