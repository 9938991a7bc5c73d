//! `pg_type`: PostgreSQL's own types ([`super::fixed`]) and the file's.

use std::sync::Arc;

use rowferry_dialect::composite::row_type;
use rowferry_dialect::postgres::types;
use rowferry_dialect::{Schema as _, Type};

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
        let known = || Of { namespace, owner: rights.owner(ty.oid), modifier: -1, ..Of::default() };
        let mut shown = Of {
            oid: ty.oid,
            name: ty.name.clone(),
            length: types::typlen(&told),
            kind: "e",
            category: types::category(&told),
            array: ty.array_oid,
            ..known()
        };
        let mut alignment = None;
        if let Some(composite) = ty.composite() {
            shown.kind = "c";
            shown.relation = composite.relation;
            shown.owner = if ty.is_row_type() { rights.owner(composite.relation) } else { shown.owner };
            alignment = Some("d");
        }
        if let Some(domain) = ty.domain() {
            shown.kind = "d";
            shown.preferred = types::is_preferred(&domain.base);
            shown.base = types::oid(&domain.base);
            shown.modifier = types::typmod(&domain.base);
            shown.not_null = domain.not_null;
            shown.default = super::describe::domain_default(context.schema, domain);
            shown.collation = collation_of(&domain.base);
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

fn of(ty: Of) -> Row {
    let length = ty.length;
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
        0,
        ty.element,
        ty.array,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        if length == 8 { "d" } else { "i" },
        if length > 0 { "p" } else { "x" },
        ty.not_null,
        ty.base,
        ty.modifier,
        ty.dimensions,
        ty.collation,
        NULL,
        ty.default,
        NULL,
    ]
}
