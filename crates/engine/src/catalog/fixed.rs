//! Rows that every database has: PostgreSQL's own types, functions, operators and what belongs to them, from its facts.
//!
//! They are made at the first use of a table and shared by all sessions of the process; a table's own function adds what
//! is the file's.

use std::sync::{Arc, OnceLock};

use rowferry_dialect::Schema as _;
use rowferry_dialect::collation::{Collation, Order};
use rowferry_dialect::stored_aggregate::AggregatePart;
use rowferry_dialect::user_cast::{self, UserCast};
use rowferry_dialect::user_operator::UserOperator;
use rowferry_facts as facts;

use super::{Cell, NULL, OWNER, Row, Table, array, letter, row, text_array};
use crate::backend::{CatalogRows as Rows, UNICODE_VERSION};
use crate::schema::{PG_CATALOG, SessionSchema};

/// Tables whose rows are all fixed.
pub(super) const TABLES: &[Table] =
    &[
        Table::pg_catalog("pg_aggregate", |context| {
            let mut rows = members(context, |e, _| e.aggregates().iter().map(aggregate).collect());
            rows.extend(context.schema.stored_functions().filter_map(|function| {
                let part = function.definition.aggregate.as_deref()?;
                Some(stored_aggregate(context.schema, function.oid, part))
            }));
            rows
        }),
        Table::pg_catalog("pg_amop", nothing),
        Table::pg_catalog("pg_amproc", nothing),
        Table::pg_catalog("pg_conversion", nothing),
        Table::pg_catalog("pg_opfamily", |context| {
            members(context, |e, namespace| {
                e.operator_families().iter().map(|row| operator_family(row, namespace)).collect()
            })
        }),
        Table::pg_catalog("pg_range", super::user_ranges::rows),
        Table::pg_catalog("pg_am", |context| {
            members(context, |e, _| e.access_methods().iter().map(access_method).collect())
        }),
        Table::pg_catalog("pg_cast", |context| {
            let mut rows = members(context, |e, _| e.casts().iter().map(cast).collect());
            rows.extend(super::user_ranges::casts(context));
            rows.extend(context.schema.main.casts.iter().map(made_cast));
            rows
        }),
        Table::pg_catalog("pg_collation", made_collations),
        Table::pg_catalog("pg_opclass", |context| {
            members(context, |e, namespace| {
                e.operator_classes().iter().map(|row| operator_class(row, namespace)).collect()
            })
        }),
        Table::pg_catalog("pg_operator", |context| {
            let mut rows =
                members(context, |e, namespace| e.operators().iter().map(|row| operator(row, namespace)).collect());
            let rights = context.schema.rights();
            rows.extend(context.schema.main.operators.iter().map(|made| {
                made_operator(made, context.schema.namespace_oid(&made.namespace), rights.owner(made.oid))
            }));
            rows
        }),
    ];

/// Rows of what the file's extensions bring, each told the object id of its schema.
fn members(context: &super::Context<'_>, rows: impl Fn(&facts::Extension, u32) -> Vec<Row>) -> Vec<Row> {
    let extensions = context.schema.extensions().iter();
    extensions.flat_map(|e| rows(e.facts, context.schema.namespace_oid(&e.namespace))).collect()
}

/// Functions of the file's extensions.
pub(super) fn extension_functions(context: &super::Context<'_>) -> Vec<Row> {
    members(context, |e, namespace| e.functions().iter().map(|row| function(row, namespace)).collect())
}

/// Types of the file's extensions.
pub(super) fn extension_types(context: &super::Context<'_>) -> Vec<Row> {
    members(context, |e, namespace| e.types().iter().map(|row| ty(row, namespace)).collect())
}

/// What a table has besides its fixed rows.
fn nothing(_: &super::Context<'_>) -> Vec<Row> {
    Vec::new()
}

/// A table that begins with fixed rows.
struct Fixed {
    table: &'static str,
    make: fn() -> Vec<Row>,
    rows: OnceLock<Arc<Rows>>,
}

const fn fixed(table: &'static str, make: fn() -> Vec<Row>) -> Fixed {
    Fixed { table, make, rows: OnceLock::new() }
}

static FIXED: [Fixed; 19] = [
    fixed("pg_aggregate", aggregates),
    fixed("pg_am", access_methods),
    fixed("pg_amop", family_operators),
    fixed("pg_amproc", family_functions),
    fixed("pg_class", super::system_indexes::classes),
    fixed("pg_constraint", || {
        let mut rows = super::system_indexes::constraints();
        rows.extend(super::standard_types::constraints());
        rows
    }),
    fixed("pg_index", super::system_indexes::indexes),
    fixed("pg_indexes", super::system_indexes::shown),
    fixed("pg_attribute", super::pg_attribute::fixed),
    fixed("pg_cast", casts),
    fixed("pg_collation", collations),
    fixed("pg_conversion", conversions),
    fixed("pg_language", languages),
    fixed("pg_opclass", operator_classes),
    fixed("pg_operator", operators),
    fixed("pg_opfamily", operator_families),
    fixed("pg_proc", functions),
    fixed("pg_range", ranges),
    fixed("pg_type", types),
];

/// The rows with which a table begins.
pub fn rows(table: &Table) -> Option<&'static Arc<Rows>> {
    if table.namespace != PG_CATALOG {
        return None;
    }
    let fixed = FIXED.iter().find(|fixed| fixed.table == table.name)?;
    Some(fixed.rows.get_or_init(|| Arc::new(Rows::new((fixed.make)()))))
}

/// The namespace of all of them.
const NAMESPACE: u32 = 11;

/// A list that is NULL when it has no members.
fn list<T, C: Into<Cell>>(members: &[T], make: impl Fn(&[T]) -> C) -> Cell {
    if members.is_empty() { NULL } else { make(members).into() }
}

fn access_methods() -> Vec<Row> {
    facts::AccessMethod::all().iter().map(access_method).collect()
}

fn access_method(method: &facts::AccessMethod) -> Row {
    row![method.oid, method.name, method.handler, letter(method.kind)]
}

fn aggregates() -> Vec<Row> {
    facts::Aggregate::all().iter().map(aggregate).collect()
}

fn aggregate(row: &facts::Aggregate) -> Row {
    row![
        row.function,
        letter(row.kind),
        row.direct_arguments,
        row.transition,
        row.finish,
        row.combine,
        row.serialize,
        row.deserialize,
        row.moving_transition,
        row.moving_inverse,
        row.moving_finish,
        row.finish_extra,
        row.moving_finish_extra,
        letter(row.finish_modify),
        letter(row.moving_finish_modify),
        row.sort_operator,
        row.state,
        row.state_space,
        row.moving_state,
        row.moving_state_space,
        row.has_initial.then_some(row.initial),
        row.has_moving_initial.then_some(row.moving_initial),
    ]
}

/// An aggregate that users have made.
fn stored_aggregate(schema: &SessionSchema, oid: u32, part: &AggregatePart) -> Row {
    row![
        oid,
        part.kind.letter(),
        part.direct,
        part.transition,
        part.finish,
        part.combine,
        part.serialize,
        part.deserialize,
        part.moving_transition,
        part.moving_inverse,
        part.moving_finish,
        part.finish_extra,
        part.moving_finish_extra,
        part.finish_modify.letter(),
        part.moving_finish_modify.letter(),
        part.sort_operator,
        part.state.oid(schema),
        i64::from(part.state_space),
        part.moving_state.as_ref().map_or(0, |state| state.oid(schema)),
        i64::from(part.moving_state_space),
        part.initial.clone(),
        part.moving_initial.clone(),
    ]
}

fn casts() -> Vec<Row> {
    facts::Cast::all().iter().map(cast).collect()
}

fn cast(cast: &facts::Cast) -> Row {
    row![cast.oid, cast.source, cast.target, cast.function, letter(cast.context), letter(cast.method)]
}

/// One that users have made.
fn made_cast(made: &UserCast) -> Row {
    let cast = made.definition;
    let (context, method) = (user_cast::letter(cast.context), cast.method.letter());
    row![made.oid, cast.source, cast.target, cast.method.function(), letter(context), letter(method)]
}

/// One that users have made.
fn made_operator(made: &UserOperator, namespace: u32, owner: u32) -> Row {
    let row = &made.definition;
    row![
        made.oid,
        made.name.as_str(),
        namespace,
        owner,
        letter(if row.left == 0 { 'l' } else { 'b' }),
        row.merges,
        row.hashes,
        row.left,
        row.right,
        row.result,
        row.commutator,
        row.negator,
        row.function,
        row.restriction,
        row.join,
    ]
}

/// Those that users have made.
fn made_collations(context: &super::Context<'_>) -> Vec<Row> {
    let rights = context.schema.rights();
    let collations = context.schema.main.collations.iter();
    let rows = collations.filter_map(|known| {
        let made = known.made.as_ref()?;
        let namespace = context.schema.namespace_oid(&known.namespace);
        let owner = rights.owner(known.oid);
        let encoding = if made.provider == 'c' { 6 } else { -1 };
        let (collate, ctype) = (made.collate.as_deref(), made.ctype.as_deref());
        let version = (made.provider == 'i').then_some(UNICODE_VERSION);
        let (name, provider, deterministic) = (&*known.name, letter(made.provider), made.deterministic);
        let locale = made.locale.as_deref();
        Some(row![
            known.oid,
            name,
            namespace,
            owner,
            provider,
            deterministic,
            encoding,
            collate,
            ctype,
            locale,
            version
        ])
    });
    rows.collect()
}

fn collations() -> Vec<Row> {
    let collation = |row: &Arc<Collation>| {
        let text = |text: &'static str| (!text.is_empty()).then(|| text.to_owned());
        let (provider, encoding, collate, ctype) = match facts::Collation::all().iter().find(|fact| fact.oid == row.oid)
        {
            Some(fact) => (letter(fact.provider), fact.encoding, text(fact.collate), text(fact.ctype)),
            // Those that initdb adds.
            None if row.is_unicode() => (letter('i'), -1, None, None),
            None => {
                let locale = if row.name == "ucs_basic" { "C" } else { row.name.as_str() };
                (letter('c'), 6, Some(locale.to_owned()), Some(locale.to_owned()))
            }
        };
        let (locale, version) = match &row.order {
            Order::Unicode(locale) => (Some(locale.clone()), Some(UNICODE_VERSION)),
            Order::Bytes => (None, None),
        };
        row![row.oid, &*row.name, NAMESPACE, OWNER, provider, true, encoding, collate, ctype, locale, version]
    };
    Collation::all().iter().map(collation).collect()
}

fn conversions() -> Vec<Row> {
    let conversion = |row: &facts::Conversion| {
        let encoding = |name| rowferry_encodings::Encoding::find(name).map_or(-1, rowferry_encodings::Encoding::number);
        let (from, to) = (encoding(row.source), encoding(row.target));
        row![row.oid, row.name, NAMESPACE, OWNER, from, to, row.function, row.is_default]
    };
    facts::Conversion::all().iter().map(conversion).collect()
}

fn languages() -> Vec<Row> {
    let language =
        |row: &facts::Language| row![row.oid, row.name, OWNER, row.procedural, row.trusted, 0, 0, row.validator, NULL];
    facts::Language::all().iter().map(language).collect()
}

fn operator_families() -> Vec<Row> {
    facts::OperatorFamily::all().iter().map(|row| operator_family(row, NAMESPACE)).collect()
}

fn operator_family(family: &facts::OperatorFamily, namespace: u32) -> Row {
    row![family.oid, family.method, family.name, namespace, OWNER]
}

fn operator_classes() -> Vec<Row> {
    facts::OperatorClass::all().iter().map(|row| operator_class(row, NAMESPACE)).collect()
}

fn operator_class(row: &facts::OperatorClass, namespace: u32) -> Row {
    row![row.oid, row.method, row.name, namespace, OWNER, row.family, row.input, row.is_default, row.key]
}

fn family_operators() -> Vec<Row> {
    let operator = |row: &facts::FamilyOperator| {
        let purpose = letter(row.purpose);
        row![
            row.oid,
            row.family,
            row.left_type,
            row.right_type,
            row.strategy,
            purpose,
            row.operator,
            row.method,
            row.sort_family
        ]
    };
    facts::FamilyOperator::all().iter().map(operator).collect()
}

fn family_functions() -> Vec<Row> {
    let rows = facts::FamilyFunction::all().iter();
    rows.map(|row| row![row.oid, row.family, row.left_type, row.right_type, row.number, row.function]).collect()
}

fn operators() -> Vec<Row> {
    facts::Operator::all().iter().map(|row| operator(row, NAMESPACE)).collect()
}

fn operator(row: &facts::Operator, namespace: u32) -> Row {
    row![
        row.oid,
        row.name,
        namespace,
        OWNER,
        letter(row.kind),
        row.can_merge,
        row.can_hash,
        row.left_type,
        row.right_type,
        row.result,
        row.commutator,
        row.negator,
        row.function,
        row.restriction,
        row.join,
    ]
}

pub(super) fn functions() -> Vec<Row> {
    let mut rows: Vec<Row> = facts::Function::all().iter().map(|row| function(row, NAMESPACE)).collect();
    rows.extend(super::pg_proc::newer());
    rows
}

fn function(row: &facts::Function, namespace: u32) -> Row {
    let language = facts::Language::all().iter().find(|language| language.name == row.language);
    let letters = |modes: &[char]| {
        let words: Vec<String> = modes.iter().map(ToString::to_string).collect();
        text_array(words.iter().map(String::as_str))
    };
    row![
        row.oid,
        row.name,
        namespace,
        OWNER,
        language.map_or(0, |language| language.oid),
        f64::from(row.cost),
        f64::from(row.rows),
        row.variadic,
        row.support,
        letter(row.kind),
        false,
        row.leakproof,
        row.strict,
        row.returns_set,
        letter(row.volatility),
        letter(row.parallel),
        row.arguments.len(),
        row.defaults,
        row.result,
        array(row.arguments.iter()),
        list(&row.all_arguments, |types| array(types)),
        list(&row.modes, letters),
        list(&row.names, |names| text_array(names.iter().copied())),
        (!row.default_values.is_empty()).then_some(row.default_values),
        NULL,
        row.source,
        NULL,
        NULL,
        NULL,
        NULL,
    ]
}

fn ranges() -> Vec<Row> {
    let range = |row: &facts::Range| {
        row![row.range, row.subtype, row.multirange, row.collation, row.operator_class, row.canonical, row.difference]
    };
    facts::Range::all().iter().map(range).collect()
}

fn types() -> Vec<Row> {
    facts::Type::all().iter().map(|row| ty(row, NAMESPACE)).chain(super::standard_types::rows()).collect()
}

fn ty(row: &facts::Type, namespace: u32) -> Row {
    let relation = super::relation(PG_CATALOG, row.relation).map_or(0, |relation| relation.oid);
    row![
        row.oid,
        row.name,
        namespace,
        OWNER,
        row.length,
        row.by_value,
        letter(row.kind),
        letter(row.category),
        row.preferred,
        true,
        letter(row.delimiter),
        relation,
        row.subscript,
        row.element,
        row.array,
        row.input,
        row.output,
        row.receive,
        row.send,
        row.modifier_in,
        row.modifier_out,
        row.analyze,
        letter(row.alignment),
        letter(row.storage),
        false,
        0,
        -1,
        0,
        row.collation,
        NULL,
        NULL,
        NULL,
    ]
}
