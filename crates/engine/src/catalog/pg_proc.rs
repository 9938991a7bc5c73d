//! `pg_proc`, `pg_operator`, `pg_aggregate`: the function table, as PostgreSQL shows it.

use rowferry_dialect::Language;
use rowferry_dialect::Type;
use rowferry_dialect::functions::{self, Function, FunctionKind, TypeSpec, Volatility};
use rowferry_dialect::postgres::types;
use rowferry_dialect::stored_function::{Parallel, ParamMode, RoutineLanguage, StoredFunction, TypeRef};

use super::{Context, NULL, OWNER, Row, Table, array, names, row, text_array};
use crate::schema::metadata::derived_oid;
use crate::schema::{PG_CATALOG, SessionSchema};

/// The object id of PL/pgSQL.
pub(super) const PLPGSQL: u32 = 13_500;

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

fn procedures(context: &Context<'_>) -> Vec<Row> {
    let mut rows = builtin();
    rows.extend(context.schema.main.functions.iter().map(|function| stored(context.schema, function)));
    rows
}

/// The object ids of the languages that functions are written in.
const fn language(language: RoutineLanguage) -> u32 {
    match language {
        RoutineLanguage::Sql => 14,
        RoutineLanguage::Plpgsql => PLPGSQL,
    }
}

/// A function that users have made.
fn stored(schema: &SessionSchema, function: &StoredFunction) -> Row {
    let definition = &function.definition;
    let inputs: Vec<u32> = definition.inputs().map(|param| param.ty.oid(schema)).collect();
    let params = &definition.params;
    let plain = params.iter().all(|param| param.mode == ParamMode::In);
    let named = params.iter().any(|param| !param.name.is_empty());
    let variadic = params.iter().find(|param| param.mode == ParamMode::Variadic);
    let variadic = variadic.map_or(0, |param| match &param.ty {
        TypeRef::Is(Type::Array(element)) => types::oid(element),
        _ => 2_276,
    });
    let defaults: Vec<&str> = definition.inputs().filter_map(|param| param.default.as_deref()).collect();
    let number =
        |text: &Option<String>, usual: f64| text.as_deref().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let settings = definition.settings.iter().map(|(name, values)| format!("{name}={}", values.join(", ")));
    let settings: Vec<String> = settings.collect();
    row![
        function.oid,
        function.name.as_str(),
        names::namespace_oid(schema, &function.namespace),
        OWNER,
        language(definition.language),
        number(&definition.cost, 100.0),
        if definition.set { number(&definition.rows, 1_000.0) } else { 0.0 },
        variadic,
        0,
        if definition.procedure { "p" } else { "f" },
        false,
        definition.leakproof,
        definition.strict,
        definition.set,
        volatility(definition.volatility),
        match definition.parallel {
            Parallel::Restricted => "r",
            Parallel::Safe => "s",
            Parallel::Unsafe => "u",
        },
        inputs.len(),
        defaults.len(),
        definition.returns.oid(schema),
        array(&inputs),
        (!plain).then(|| array(params.iter().map(|param| param.ty.oid(schema)).collect::<Vec<_>>())),
        (!plain).then(|| text_array(params.iter().map(|param| param.mode.letter()))),
        named.then(|| text_array(params.iter().map(|param| param.name.as_str()))),
        (!defaults.is_empty()).then(|| defaults.join(", ")),
        NULL,
        if definition.sql_body { "" } else { definition.source.as_str() },
        NULL,
        definition.sql_body.then(|| definition.source.clone()),
        (!settings.is_empty()).then(|| text_array(settings.iter().map(String::as_str))),
        NULL,
    ]
}

const fn volatility(volatility: Volatility) -> &'static str {
    match volatility {
        Volatility::Immutable => "i",
        Volatility::Stable => "s",
        Volatility::Volatile => "v",
    }
}

fn builtin() -> Vec<Row> {
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
                volatility(function.volatility),
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
