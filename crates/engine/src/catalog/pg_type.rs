//! `pg_type`: PostgreSQL's own types ([`super::fixed`]) and the file's.

use std::sync::Arc;

use rowferry_dialect::composite::row_type;
use rowferry_dialect::postgres::types;
use rowferry_dialect::{Schema as _, Type};
use rowferry_facts as facts;

use super::pg_attribute::collation_of;
use super::{Cell, Context, NULL, Row, Table, row};

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_type", rows), Table::pg_catalog("pg_enum", labels)];

/// The place of `typalign`.
const ALIGNMENT: usize = 22;

/// What of a row of `pg_type` is not the same for all.
#[derive(Default)]
struct Of {
    oid: u32,
    name: String,
    namespace: u32,
    owner: u32,
    length: i16,
    kind: &'static str,
    category: char,
    preferred: bool,
    element: u32,
    array: u32,
    collation: u32,
    not_null: bool,
    base: u32,
    modifier: i32,
    relation: u32,
    dimensions: i32,
    default: Option<String>,
    acl: Option<Cell>,
}

fn labels(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for ty in context.schema.user_types() {
        let labels = ty.labels().map(|labels| labels.all()).unwrap_or_default();
        rows.extend(labels.iter().map(|label| row![label.oid, ty.oid, f64::from(label.order), &label.text]));
    }
    rows
}

fn rows(context: &Context<'_>) -> Vec<Row> {
    let mut rows = super::fixed::extension_types(context);
    let rights = context.schema.rights();
    let of_relations = context.schema.user_relations().map(|relation| Arc::new(row_type(relation)));
    for ty in context.schema.user_types().into_iter().chain(of_relations) {
        let namespace = context.schema.namespace_oid(&ty.namespace);
        let told = Type::User(ty.clone());
        let known = || Of { namespace, owner: rights.owner(ty.kept_as()), modifier: -1, ..Of::default() };
        let mut shown = Of {
            oid: ty.oid,
            name: ty.name.clone(),
            length: types::typlen(&told),
            kind: "e",
            category: types::category(&told),
            array: ty.array_oid,
            acl: Some(super::pg_roles::shown_list(context.schema, &rights, ty.oid)),
            ..known()
        };
        let mut alignment = None;
        if let Some(composite) = ty.composite() {
            shown.kind = "c";
            shown.relation = composite.relation;
            shown.owner = if ty.is_row_type() { rights.owner(composite.relation) } else { shown.owner };
            alignment = Some("d");
        }
        if let Some(subtype) = ty.subtype() {
            shown.kind = if ty.range().is_some() { "r" } else { "m" };
            let fact = facts::Type::by_oid(types::oid(subtype.through_domains()));
            if subtype.is_row() || fact.is_some_and(|fact| fact.alignment == 'd') {
                alignment = Some("d");
            }
        }
        if let Some(domain) = ty.domain() {
            shown.kind = "d";
            shown.preferred = types::is_preferred(&domain.base);
            shown.base = types::oid(&domain.base);
            shown.modifier = types::typmod(&domain.base);
            shown.not_null = domain.not_null;
            shown.default = super::describe::domain_default(context.schema, domain);
            shown.collation = collation_of(&Type::User(ty.clone()));
            shown.dimensions = i32::from(matches!(domain.base, Type::Array(_)));
        }
        let (collation, owner) = (shown.collation, shown.owner);
        let mut own = of(shown);
        let mut array = of(Of {
            oid: ty.array_oid,
            name: ty.array_name(),
            length: -1,
            kind: "b",
            category: 'A',
            element: ty.oid,
            collation,
            owner,
            ..known()
        });
        if let Some(letter) = alignment {
            own[ALIGNMENT] = Cell::from(letter);
            array[ALIGNMENT] = Cell::from(letter);
        }
        rows.extend([own, array]);
    }
    rows
}

/// What reads, writes and walks the values of a type, in the order of `pg_type`.
struct Handlers {
    subscript: u32,
    input: u32,
    output: u32,
    receive: u32,
    send: u32,
    analyze: u32,
}

impl Handlers {
    fn of(ty: &Of) -> Self {
        let number = |name: &str| match facts::Function::named(name) {
            [function] => function.oid,
            _ => 0,
        };
        let family = |name: &str| Self {
            subscript: 0,
            input: number(&format!("{name}_in")),
            output: number(&format!("{name}_out")),
            receive: number(&format!("{name}_recv")),
            send: number(&format!("{name}_send")),
            analyze: number(&format!("{name}_typanalyze")),
        };
        match ty.kind {
            "d" => {
                // A domain is written as its base is.
                let base = match facts::Type::by_oid(ty.base) {
                    Some(base) => {
                        Self { output: base.output, send: base.send, analyze: base.analyze, ..family("domain") }
                    }
                    None => family(if ty.dimensions > 0 { "array" } else { "enum" }),
                };
                Self { subscript: 0, input: number("domain_in"), receive: number("domain_recv"), ..base }
            }
            "c" => family("record"),
            "r" => family("range"),
            "m" => family("multirange"),
            "e" => family("enum"),
            _ => Self { subscript: number("array_subscript_handler"), ..family("array") },
        }
    }
}

fn of(ty: Of) -> Row {
    let length = ty.length;
    let handlers = Handlers::of(&ty);
    row![
        ty.oid,
        ty.name,
        ty.namespace,
        ty.owner,
        length,
        length > 0 && length <= 8,
        ty.kind,
        ty.category.to_string(),
        ty.preferred,
        true,
        ",",
        ty.relation,
        handlers.subscript,
        ty.element,
        ty.array,
        handlers.input,
        handlers.output,
        handlers.receive,
        handlers.send,
        0,
        0,
        handlers.analyze,
        if length == 8 { "d" } else { "i" },
        match facts::Type::by_oid(ty.base) {
            // A domain is kept as its base is.
            Some(base) => base.storage.to_string(),
            None => if length > 0 { "p" } else { "x" }.to_owned(),
        },
        ty.not_null,
        ty.base,
        ty.modifier,
        ty.dimensions,
        ty.collation,
        ty.default.clone(),
        ty.default,
        ty.acl.unwrap_or(NULL),
    ]
}
