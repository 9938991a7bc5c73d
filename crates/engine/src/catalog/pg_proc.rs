//! `pg_proc`: PostgreSQL's own functions ([`super::fixed`]), those of later versions that are here, and the file's.

use rowferry_dialect::Language;
use rowferry_dialect::Type;
use rowferry_dialect::functions::{self, Function, FunctionKind, TypeSpec, Volatility};
use rowferry_dialect::postgres::types;
use rowferry_dialect::stored_function::{Parallel, ParamMode, Polymorphic, RoutineLanguage, StoredFunction, TypeRef};

use super::{Context, NULL, OWNER, Row, Table, array, names, row, text_array};
use crate::schema::SessionSchema;
use crate::schema::metadata::derived_oid;

/// The object id of PL/pgSQL.
pub(super) const PLPGSQL: u32 = 13_500;

/// The functions behind PL/pgSQL, which everybody has besides PostgreSQL's own: object id, name, argument (0: none),
/// result.
pub(super) const PLPGSQL_HANDLERS: [(u32, &str, u32, u32); 3] = [
    (13_501, "plpgsql_call_handler", 0, 2_280),
    (13_502, "plpgsql_inline_handler", 2_281, 2_278),
    (13_503, "plpgsql_validator", 26, 2_278),
];

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_proc", procedures)];

fn type_oid(spec: &TypeSpec) -> u32 {
    match spec {
        TypeSpec::Is(ty) => types::oid(&types::import(ty)),
        TypeSpec::ArrayOf(ty) => types::oid(&types::import(&rowferry_dialect::Type::Array(Box::new(ty.clone())))),
        TypeSpec::Any => 2_276,
        TypeSpec::AnyArray => 2_277,
        TypeSpec::AnyRange => 3_831,
        TypeSpec::AnyMultirange => 4_537,
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
    let mut rows = super::fixed::extension_functions(context);
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

/// The object id of the language of the server's own functions, which aggregates are said to be in.
const INTERNAL_LANGUAGE: u32 = 12;

/// A function that users have made.
fn stored(schema: &SessionSchema, function: &StoredFunction) -> Row {
    let definition = &function.definition;
    let aggregate = definition.aggregate.is_some();
    let inputs: Vec<u32> = definition.inputs().map(|param| param.ty.oid(schema)).collect();
    let params = &definition.params;
    let plain = params.iter().all(|param| param.mode == ParamMode::In);
    let named = params.iter().any(|param| !param.name.is_empty());
    let variadic = params.iter().find(|param| param.mode == ParamMode::Variadic);
    let variadic = variadic.map_or(0, |param| match &param.ty {
        TypeRef::Is(Type::Array(element)) => types::oid(element),
        TypeRef::Any(any) if any.is_compatible() => TypeRef::Any(Polymorphic::Compatible).oid(schema),
        TypeRef::Any(_) => TypeRef::Any(Polymorphic::Element).oid(schema),
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
        if aggregate { INTERNAL_LANGUAGE } else { language(definition.language) },
        number(&definition.cost, if aggregate { 1.0 } else { 100.0 }),
        if definition.set { number(&definition.rows, 1_000.0) } else { 0.0 },
        variadic,
        0,
        match (definition.procedure, aggregate) {
            (true, _) => "p",
            (_, true) => "a",
            (false, false) => "f",
        },
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
        match (definition.sql_body, aggregate) {
            (_, true) => "aggregate_dummy",
            (true, _) => "",
            (false, false) => definition.source.as_str(),
        },
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

/// A function without anything special, in C or the server's own language.
struct Plain<'a> {
    oid: u32,
    name: &'a str,
    language: u32,
    variadic: u32,
    kind: &'a str,
    strict: bool,
    set: bool,
    volatility: Volatility,
    optional: usize,
    args: &'a [u32],
    result: u32,
}

impl Plain<'_> {
    fn row(&self) -> Row {
        row![
            self.oid,
            self.name,
            11,
            OWNER,
            self.language,
            1.0,
            if self.set { 1_000.0 } else { 0.0 },
            self.variadic,
            0,
            self.kind,
            false,
            false,
            self.strict,
            self.set,
            volatility(self.volatility),
            "s",
            self.args.len(),
            self.optional,
            self.result,
            array(self.args),
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            self.name,
            NULL,
            NULL,
            NULL,
            NULL,
        ]
    }
}

/// Functions that PostgreSQL 15 has under no name: they are of later versions, or ours. PL/pgSQL's stand before them.
pub(super) fn newer() -> Vec<Row> {
    let handlers = PLPGSQL_HANDLERS.iter().map(|(oid, name, argument, result)| {
        let args = if *argument == 0 { &[] } else { std::slice::from_ref(argument) };
        let strict = !args.is_empty();
        let plain = Plain {
            oid: *oid,
            name,
            language: 13,
            variadic: 0,
            kind: "f",
            strict,
            set: false,
            volatility: Volatility::Volatile,
            optional: 0,
            args,
            result: *result,
        };
        plain.row()
    });
    let mut seen = std::collections::HashSet::new();
    let newer = of_postgres()
        .filter(|function| function.kind != FunctionKind::Operator)
        .filter(|function| rowferry_facts::Function::named(function.name).is_empty())
        .filter_map(|function| {
            let args = signature(function);
            if !seen.insert((function.name, args.clone())) {
                return None;
            }
            let oid = 1_000_000 + derived_oid("function", function.name, &[&array(&args)]) % 1_000_000_000;
            let plain = Plain {
                oid,
                name: function.name,
                language: 12,
                variadic: if function.variadic { 2_276 } else { 0 },
                kind: match function.kind {
                    FunctionKind::Aggregate => "a",
                    FunctionKind::Window => "w",
                    _ => "f",
                },
                strict: function.strict,
                set: function.kind == FunctionKind::SetReturning,
                volatility: function.volatility,
                optional: function.optional,
                args: &args,
                result: type_oid(&function.result),
            };
            Some(plain.row())
        });
    handlers.chain(newer).collect()
}
