//! Whether a name without schema finds an object: what the functions `pg_*_is_visible` say.

use rowferry_dialect::Schema as _;
use rowferry_dialect::collation::Collation;
use rowferry_dialect::schema::QualifiedName;
use rowferry_dialect::text_search::Kind;
use rowferry_facts as facts;

use super::names;
use crate::schema::SessionSchema;

/// Whether a name without schema finds an object of a kind; `None` where there is none.
///
/// PostgreSQL's own objects are in `pg_catalog`, which every search path begins with unless it says otherwise.
pub fn is_visible(schema: &SessionSchema, kind: &str, oid: u32) -> Option<bool> {
    match kind {
        "collation" => {
            let made = schema.main.collations.iter().any(|made| made.oid == oid);
            (made || Collation::by_oid(oid).is_some()).then(|| names::is_collation_visible(schema, oid))
        }
        "conversion" => facts::Conversion::all().iter().any(|row| row.oid == oid).then_some(true),
        "function" => function(schema, oid),
        "opclass" => facts::OperatorClass::all().iter().any(|row| row.oid == oid).then_some(true),
        "operator" => operator(schema, oid),
        "opfamily" => facts::OperatorFamily::all().iter().any(|row| row.oid == oid).then_some(true),
        "ts_config" => search(schema, Kind::Configuration, oid),
        "ts_dict" => search(schema, Kind::Dictionary, oid),
        "ts_parser" => (oid == super::pg_ts::PARSER).then_some(true),
        "ts_template" => super::pg_ts::is_template(oid).then_some(true),
        "type" => ty(schema, oid),
        _ => None,
    }
}

fn function(schema: &SessionSchema, oid: u32) -> Option<bool> {
    if let Some(function) = schema.function_by_oid(oid) {
        let name = QualifiedName::bare(function.name.clone());
        let words = function.definition.input_words();
        let first = schema.functions(&name).into_iter().find(|known| known.definition.input_words() == words);
        return Some(first.is_some_and(|first| first.oid == function.oid));
    }
    // What makes values of a user's range type.
    let mut types = schema.user_types().into_iter();
    let made = types.find_map(|ty| ty.range().and_then(|range| range.constructors.namespace_of(oid)));
    match made {
        Some(namespace) => Some(schema.is_in_path(&namespace)),
        None => names::function_name(schema, rowferry_dialect::types::Reg::Proc, oid).map(|_| true),
    }
}

fn operator(schema: &SessionSchema, oid: u32) -> Option<bool> {
    let Some(operator) = schema.operator_by_oid(oid) else { return facts::Operator::by_oid(oid).map(|_| true) };
    Some(rowferry_dialect::postgres::regproc::is_operator_visible(schema, &operator))
}

fn search(schema: &SessionSchema, kind: Kind, oid: u32) -> Option<bool> {
    let object = schema.search_object_by_oid(oid).filter(|object| object.kind() == kind)?;
    Some(object.is_visible(schema))
}

fn ty(schema: &SessionSchema, oid: u32) -> Option<bool> {
    let mut users = schema.user_types().into_iter();
    let found = users
        .find(|ty| [ty.oid, ty.array_oid].contains(&oid))
        .or_else(|| super::standard_types::by_oid(oid))
        .or_else(|| schema.user_type_by_oid(oid));
    match found {
        Some(ty) => {
            let found = schema.user_type(&QualifiedName::bare(ty.name.clone()));
            Some(found.is_some_and(|found| found.oid == ty.oid))
        }
        None => rowferry_dialect::postgres::regtype::shown_in(schema, oid, None).map(|_| true),
    }
}
