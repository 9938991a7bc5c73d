//! `pg_proc`, `pg_operator`, `pg_aggregate`: the function table, as PostgreSQL shows it.

use rowferry_dialect::Language;
use rowferry_dialect::functions::{self, Function, FunctionKind, TypeSpec, Volatility};
use rowferry_dialect::postgres::types;

use super::{Context, NULL, OWNER, Row, Table, array, row};
use crate::schema::PG_CATALOG;
use crate::schema::metadata::derived_oid;

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: PG_CATALOG,
        name: "pg_proc",
        oid: 1_255,
        columns: "oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost float4, prorows float4, \
            provariadic oid, prosupport regproc, prokind char, prosecdef bool, proleakproof bool, proisstrict bool, \
            proretset bool, provolatile char, proparallel char, pronargs int2, pronargdefaults int2, prorettype oid, \
            proargtypes oid[], proallargtypes oid[], proargmodes text[], proargnames text[], proargdefaults text, \
            protrftypes oid[], prosrc text, probin text, prosqlbody text, proconfig text[], proacl text[]",
        rows: procedures,
        live: false,
    },
    Table {
        namespace: PG_CATALOG,
        name: "pg_operator",
        oid: 2_617,
        columns: "oid oid, oprname name, oprnamespace oid, oprowner oid, oprkind char, oprcanmerge bool, \
            oprcanhash bool, oprleft oid, oprright oid, oprresult oid, oprcom oid, oprnegate oid, oprcode regproc, \
            oprrest regproc, oprjoin regproc",
        rows: operators,
        live: false,
    },
];

fn type_oid(spec: &TypeSpec) -> u32 {
    match spec {
        TypeSpec::Is(ty) => types::oid(&types::import(ty)),
        TypeSpec::ArrayOf(ty) => types::oid(&types::import(&rowferry_dialect::Type::Array(Box::new(ty.clone())))),
        TypeSpec::Any => 2_276,
        TypeSpec::AnyArray => 2_277,
        _ => 2_283,
    }
}

fn of_postgres() -> impl Iterator<Item = &'static Function> {
    functions::all().filter(|function| function.languages.contains(&Language::Postgres))
}

fn signature(function: &Function) -> Vec<u32> {
    function.args.iter().map(type_oid).collect()
}

fn procedures(_context: &Context<'_>) -> Vec<Row> {
    let mut seen = std::collections::HashSet::new();
    of_postgres()
        .filter(|function| function.kind != FunctionKind::Operator)
        .filter_map(|function| {
            let types = signature(function);
            let oid = 1_000_000 + derived_oid("function", function.name, &[&array(&types)]) % 1_000_000_000;
            if !seen.insert((function.name, types.clone())) {
                return None;
            }
            Some(row![
                oid,
                function.name,
                11,
                OWNER,
                12,
                1.0,
                0.0,
                if function.variadic { 2_276 } else { 0 },
                0,
                match function.kind {
                    FunctionKind::Aggregate => "a",
                    FunctionKind::Window => "w",
                    _ => "f",
                },
                false,
                false,
                function.strict,
                function.kind == FunctionKind::SetReturning,
                match function.volatility {
                    Volatility::Immutable => "i",
                    Volatility::Stable => "s",
                    Volatility::Volatile => "v",
                },
                "s",
                types.len(),
                function.optional,
                type_oid(&function.result),
                array(&types),
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                function.name,
                NULL,
                NULL,
                NULL,
                NULL,
            ])
        })
        .collect()
}

fn operators(_context: &Context<'_>) -> Vec<Row> {
    let mut seen = std::collections::HashSet::new();
    of_postgres()
        .filter(|function| function.kind == FunctionKind::Operator)
        .filter_map(|function| {
            let types = signature(function);
            if !seen.insert((function.name, types.clone())) {
                return None;
            }
            let (left, right) = match types.as_slice() {
                [right] => (0, *right),
                [left, right, ..] => (*left, *right),
                [] => (0, 0),
            };
            Some(row![
                2_000_000 + derived_oid("operator", function.name, &[&array(&types)]) % 1_000_000_000,
                function.name,
                11,
                OWNER,
                if left == 0 { "l" } else { "b" },
                false,
                false,
                left,
                right,
                type_oid(&function.result),
                0,
                0,
                0,
                0,
                0,
            ])
        })
        .collect()
}
