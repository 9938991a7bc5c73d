//! Functions and operators of extensions: rows made from the facts.
//!
//! A fact is bound by its source's name (`prosrc`), as PostgreSQL binds it to a function in C; one in SQL has none and is
//! bound by its name and the number of its arguments. What stands in no list here is in the catalogs, and a call of it is
//! refused by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use rowferry_facts as facts;

use super::{Function, FunctionKind, Said, TypeSpec, Volatility};
use crate::postgres::types;
use crate::{Language, Type};

mod citext;
mod hstore;
mod others;

/// How functions are carried out, by the names of their sources.
type Bindings = &'static [(&'static str, Said)];

/// The modules, one file each.
static MODULES: &[(&str, Bindings)] = &[
    ("bloom", others::NOTHING),
    ("btree_gin", others::NOTHING),
    ("btree_gist", others::NOTHING),
    ("citext", citext::BINDINGS),
    ("fuzzystrmatch", others::FUZZYSTRMATCH),
    ("hstore", hstore::BINDINGS),
    ("pg_stat_statements", others::PG_STAT_STATEMENTS),
    ("pg_trgm", others::PG_TRGM),
    ("pgcrypto", others::PGCRYPTO),
    ("tablefunc", others::TABLEFUNC),
    ("unaccent", others::UNACCENT),
    ("uuid-ossp", others::UUID_OSSP),
];

/// What the engine has under the name of the source.
macro_rules! same {
    ($($source:literal),* $(,)?) => { &[$(($source, $crate::functions::Said::Module($source))),*] };
}
use same;

/// An extension's rows by name, those of operators among them.
type Rows = HashMap<&'static str, Vec<Function>>;

static ROWS: LazyLock<HashMap<&'static str, Rows>> =
    LazyLock::new(|| facts::Extension::all().iter().map(|extension| (extension.name, rows(extension))).collect());

/// An extension's rows of a name.
pub fn of_extension(extension: &facts::Extension, name: &str) -> impl Iterator<Item = &'static Function> + use<> {
    ROWS.get(extension.name).and_then(|rows| rows.get(name)).into_iter().flatten()
}

/// Every row of every extension.
pub fn of_extensions() -> impl Iterator<Item = &'static Function> {
    ROWS.values().flat_map(HashMap::values).flatten()
}

/// The columns of what an extension's function returns, where it has several.
pub fn columns(function: &Function) -> Option<Vec<(&'static str, Type)>> {
    let Said::Module(source) = function.said else { return None };
    let mut all = facts::Function::of_extensions().iter();
    let fact = all.find(|fact| fact.source == source && fact.name == function.name && !fact.modes.is_empty())?;
    let parts = fact.modes.iter().zip(&fact.names).zip(&fact.all_arguments);
    let out = parts.filter(|((mode, _), _)| **mode == 'o');
    Some(out.filter_map(|((_, name), oid)| Some((*name, types::from_oid(*oid)?))).collect())
}

/// The sources of functions that must know what a row's fields are.
const OF_RECORDS: Bindings = &[
    ("hstore_from_record", Said::Special("hstore_from_record")),
    ("hstore_populate_record", Said::Special("hstore_populate_record")),
];

/// The sources of functions that are told, before their arguments, which columns their rows have.
const TOLD: [&str; 4] = ["connectby_text", "connectby_text_serial", "crosstab", "crosstab_hash"];

/// A function that is told which columns its rows have.
pub fn is_told_columns(function: &Function) -> bool {
    matches!(function.said, Said::Module(source) if TOLD.contains(&source))
}

/// A function of this name may be told its columns.
pub fn told_columns_by_name(name: &str) -> bool {
    name == "connectby" || name.starts_with("crosstab")
}

/// The columns of a function that is told them, where its name decides: `crosstab3` has three categories.
pub fn columns_by_name(name: &str) -> Option<Vec<(String, Type)>> {
    let count: usize = name.strip_prefix("crosstab").filter(|count| !count.is_empty())?.parse().ok()?;
    let categories = (1..=count).map(|at| (format!("category_{at}"), Type::Text));
    Some(std::iter::once(("row_name".to_owned(), Type::Text)).chain(categories).collect())
}

fn rows(extension: &facts::Extension) -> Rows {
    let mut rows = Rows::new();
    let Some((_, bindings)) = MODULES.iter().find(|(name, _)| *name == extension.name) else { return rows };
    for fact in extension.functions() {
        let kind = match fact.kind {
            'a' => FunctionKind::Aggregate,
            _ if fact.returns_set => FunctionKind::SetReturning,
            _ => FunctionKind::Scalar,
        };
        if let Some(row) = row(bindings, fact, fact.name, kind, &fact.arguments) {
            rows.entry(fact.name).or_default().push(row);
        }
    }
    for operator in extension.operators() {
        let operands: Vec<u32> =
            [operator.left_type, operator.right_type].into_iter().filter(|oid| *oid != 0).collect();
        let Some(fact) = facts::Function::by_oid(operator.function) else { continue };
        if let Some(row) = row(bindings, fact, operator.name, FunctionKind::Operator, &operands) {
            rows.entry(operator.name).or_default().push(row);
        }
    }
    rows
}

fn row(
    bindings: Bindings,
    fact: &'static facts::Function,
    name: &'static str,
    kind: FunctionKind,
    arguments: &[u32],
) -> Option<Function> {
    let by_name;
    let key = match (fact.source, fact.kind) {
        ("", _) | (_, 'a') => {
            by_name = format!("{}/{}", fact.name, fact.arguments.len());
            by_name.as_str()
        }
        (source, _) => source,
    };
    let (_, said) = bindings.iter().chain(OF_RECORDS).find(|(source, _)| *source == key)?;
    // Rows live as long as the process.
    let args: Vec<TypeSpec> = arguments.iter().map(|oid| spec(*oid)).collect::<Option<_>>()?;
    Some(Function {
        name,
        languages: &[Language::Postgres],
        kind,
        args: args.leak(),
        optional: fact.defaults as usize,
        variadic: false,
        result: if TOLD.contains(&fact.source) { TypeSpec::Is(Type::RECORD) } else { spec(fact.result)? },
        strict: fact.strict,
        volatility: match fact.volatility {
            'i' => Volatility::Immutable,
            's' => Volatility::Stable,
            _ => Volatility::Volatile,
        },
        writes: false,
        said: *said,
    })
}

/// A type of a signature; `None` for one that is not here.
fn spec(oid: u32) -> Option<TypeSpec> {
    const RECORD: u32 = 2_249;
    const ANYELEMENT: u32 = 2_283;
    const REGDICTIONARY: u32 = 3_769;
    Some(match oid {
        RECORD => TypeSpec::Is(Type::RECORD),
        ANYELEMENT => TypeSpec::AnyElement,
        // A dictionary is told by its name: there is one.
        REGDICTIONARY => TypeSpec::Is(Type::Text),
        oid => match types::from_oid(oid)? {
            Type::Array(element) => TypeSpec::ArrayOf(*element),
            ty => TypeSpec::Is(ty),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binding_is_of_a_function() {
        for (name, bindings) in MODULES {
            let extension = facts::Extension::named(name).unwrap();
            for (source, _) in *bindings {
                let bound = |fact: &&facts::Function| {
                    fact.source == *source || format!("{}/{}", fact.name, fact.arguments.len()) == *source
                };
                assert!(extension.functions().iter().any(|fact| bound(&fact)), "{name} {source}");
            }
        }
    }

    #[test]
    fn operators_are_rows_of_their_functions() {
        let hstore = facts::Extension::named("hstore").unwrap();
        let mut arrows = of_extension(hstore, "->");
        let first = arrows.next().unwrap();
        assert_eq!((first.kind, first.said), (FunctionKind::Operator, Said::Module("hstore_fetchval")));
        assert_eq!(arrows.count(), 1);
    }
}
