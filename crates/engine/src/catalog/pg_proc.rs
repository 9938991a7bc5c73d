//! `pg_proc`: PostgreSQL's own functions ([`super::fixed`]), those of later versions that are here, and the file's.

use rowferry_dialect::Language;
use rowferry_dialect::Type;
use rowferry_dialect::functions::{self, Function, FunctionKind, TypeSpec, Volatility};
use rowferry_dialect::postgres::{regtype, types};
use rowferry_dialect::stored_function::{Parallel, ParamMode, Polymorphic, RoutineLanguage, StoredFunction, TypeRef};
use rowferry_dialect::types::Reg;

use super::{Context, NULL, OWNER, Row, Table, array, names, row, text_array};
use crate::schema::SessionSchema;
use crate::schema::metadata::derived_oid;

/// The object id of `information_schema`.
const INFORMATION_SCHEMA: u32 = 13_000;

/// The object id of PL/pgSQL.
pub(super) const PLPGSQL: u32 = rowferry_dialect::stored_function::PLPGSQL;

/// A function that initdb adds to those of PostgreSQL's sources, in C.
pub(super) struct Added {
    /// Its object id.
    pub oid: u32,
    /// Its name, which is its alone.
    pub name: &'static str,
    args: &'static [u32],
    result: u32,
    parallel: &'static str,
}

const fn added(oid: u32, name: &'static str, args: &'static [u32], result: u32, parallel: &'static str) -> Added {
    Added { oid, name, args, result, parallel }
}

/// What initdb adds: the functions behind the stemmer and behind PL/pgSQL, in this order.
pub(super) const ADDED: [Added; 5] = [
    added(13_148, "dsnowball_init", &[2_281], 2_281, "u"),
    added(13_149, "dsnowball_lexize", &[2_281, 2_281, 2_281, 2_281], 2_281, "u"),
    added(13_501, "plpgsql_call_handler", &[], 2_280, "u"),
    added(13_502, "plpgsql_inline_handler", &[2_281], 2_278, "u"),
    added(13_503, "plpgsql_validator", &[26], 2_278, "u"),
];

/// PL/pgSQL's call handler, inline handler and validator.
pub(super) const PLPGSQL_HANDLERS: [u32; 3] = [13_501, 13_502, 13_503];

/// The name of a function that initdb adds, as `regproc` or `regprocedure` prints it.
pub(super) fn added_name(reg: Reg, oid: u32) -> Option<String> {
    let added = ADDED.iter().find(|added| added.oid == oid)?;
    let types = || added.args.iter().filter_map(|ty| regtype::shown(*ty, None)).collect::<Vec<_>>().join(",");
    Some(if reg == Reg::Proc { added.name.to_owned() } else { format!("{}({})", added.name, types()) })
}

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_proc", procedures)];

fn type_oid(spec: &TypeSpec) -> u32 {
    match spec {
        TypeSpec::Is(ty) => types::oid(&types::import(ty)),
        TypeSpec::ArrayOf(ty) => types::oid(&types::import(&rowferry_dialect::Type::Array(Box::new(ty.clone())))),
        TypeSpec::Any => 2_276,
        TypeSpec::AnyRow => 2_249,
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

pub(super) fn procedures(context: &Context<'_>) -> Vec<Row> {
    let mut rows = super::fixed::extension_functions(context);
    rows.extend(super::user_ranges::constructors(context));
    rows.extend(context.schema.stored_functions().map(|function| stored(context.schema, function)));
    rows
}

/// The object ids of the languages that functions are written in.
const fn language(language: RoutineLanguage) -> u32 {
    match language {
        RoutineLanguage::Mysql => MYSQL_LANGUAGE,
        RoutineLanguage::Sql => 14,
        RoutineLanguage::Plpgsql => PLPGSQL,
    }
}

/// The object id of MySQL's language, which is there where routines are in it.
pub(super) const MYSQL_LANGUAGE: u32 = 13_590;

/// The object id of the language of the server's own functions, which aggregates are said to be in.
const INTERNAL_LANGUAGE: u32 = 12;

/// A function that users have made.
fn stored(schema: &SessionSchema, function: &StoredFunction) -> Row {
    let definition = &function.definition;
    let aggregate = definition.aggregate.is_some();
    let rights = schema.rights();
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
    let known = |name: &str| crate::settings::find(name).map_or(name.to_owned(), |setting| setting.name.to_owned());
    let settings = definition.settings.iter().map(|(name, values)| format!("{}={}", known(name), values.join(", ")));
    let settings: Vec<String> = settings.collect();
    row![
        function.oid,
        function.name.as_str(),
        names::namespace_oid(schema, &function.namespace),
        rights.owner(function.oid),
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
        definition.definer,
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
        super::pg_roles::shown_list(schema, &rights, function.oid),
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
pub(super) struct Plain<'a> {
    pub(super) oid: u32,
    pub(super) name: &'a str,
    pub(super) namespace: u32,
    pub(super) language: u32,
    pub(super) source: &'a str,
    pub(super) variadic: u32,
    pub(super) kind: &'a str,
    pub(super) strict: bool,
    pub(super) set: bool,
    pub(super) volatility: Volatility,
    pub(super) parallel: &'a str,
    pub(super) optional: usize,
    pub(super) args: &'a [u32],
    pub(super) result: u32,
}

impl Plain<'_> {
    /// An immutable function of the server's own, in `pg_catalog`.
    pub(super) const INTERNAL: Self = Self {
        oid: 0,
        name: "",
        namespace: 11,
        language: 12,
        source: "",
        variadic: 0,
        kind: "f",
        strict: true,
        set: false,
        volatility: Volatility::Immutable,
        parallel: "s",
        optional: 0,
        args: &[],
        result: 0,
    };

    pub(super) fn row(&self) -> Row {
        row![
            self.oid,
            self.name,
            self.namespace,
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
            self.parallel,
            self.args.len(),
            self.optional,
            self.result,
            array(self.args),
            NULL,
            (self.variadic != 0 && self.args.len() == 1).then(|| text_array(["v"])),
            NULL,
            NULL,
            NULL,
            self.source,
            NULL,
            NULL,
            NULL,
            NULL,
        ]
    }
}

fn is_reserved(word: &str) -> bool {
    rowferry_facts::Keyword::all().iter().any(|keyword| keyword.word == word && keyword.category == 'R')
}

/// Functions that PostgreSQL 15 has under no name: they are of later versions, or ours. PL/pgSQL's stand before them.
pub(super) fn newer() -> Vec<Row> {
    let handlers = ADDED.iter().map(|added| {
        let plain = Plain {
            oid: added.oid,
            name: added.name,
            source: added.name,
            language: 13,
            strict: !added.args.is_empty(),
            volatility: Volatility::Volatile,
            parallel: added.parallel,
            args: added.args,
            result: added.result,
            ..Plain::INTERNAL
        };
        plain.row()
    });
    let mut seen = std::collections::HashSet::new();
    let newer = of_postgres()
        .filter(|function| function.kind != FunctionKind::Operator)
        .filter(|function| rowferry_facts::Function::named(function.name).is_empty())
        // What the grammar calls by a word of its own (`current_date`) is no function by name.
        .filter(|function| !is_reserved(function.name))
        .filter_map(|function| {
            let args = signature(function);
            if !seen.insert((function.name, args.clone())) {
                return None;
            }
            let oid = 1_000_000 + derived_oid("function", function.name, &[&array(&args)]) % 1_000_000_000;
            let (namespace, name) = match function.name.split_once('.') {
                Some((crate::schema::INFORMATION_SCHEMA, name)) => (INFORMATION_SCHEMA, name),
                _ => (Plain::INTERNAL.namespace, function.name),
            };
            let plain = Plain {
                oid,
                name,
                namespace,
                source: name,
                variadic: if function.variadic { 2_276 } else { 0 },
                kind: match function.kind {
                    FunctionKind::Aggregate => "a",
                    FunctionKind::Window => "w",
                    _ => "f",
                },
                strict: function.strict,
                set: function.kind == FunctionKind::SetReturning,
                volatility: function.volatility,
                parallel: "s",
                optional: function.optional,
                args: &args,
                result: type_oid(&function.result),
                ..Plain::INTERNAL
            };
            Some(plain.row())
        });
    handlers.chain(newer).collect()
}
