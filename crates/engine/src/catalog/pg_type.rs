//! `pg_type`, `pg_range`, `pg_enum`: types.

use rowferry_dialect::Type;
use rowferry_dialect::postgres::types;

use super::pg_attribute::collation_of;
use super::{Context, NULL, OWNER, Row, Table, row};
use crate::schema::PG_CATALOG;

pub(super) const TABLES: &[Table] = &[Table {
    namespace: PG_CATALOG,
    name: "pg_type",
    oid: 1_247,
    columns: "oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval bool, typtype char, \
        typcategory char, typispreferred bool, typisdefined bool, typdelim char, typrelid oid, typsubscript regproc, \
        typelem oid, typarray oid, typinput regproc, typoutput regproc, typreceive regproc, typsend regproc, \
        typmodin regproc, typmodout regproc, typanalyze regproc, typalign char, typstorage char, typnotnull bool, \
        typbasetype oid, typtypmod int4, typndims int4, typcollation oid, typdefaultbin text, typdefault text, \
        typacl text[]",
    rows,
    live: false,
}];

fn rows(_context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for ty in types::rows() {
        let collation = match &ty.ty {
            Type::Name => 950,
            text if collation_of(text) != 0 => 100,
            _ => 0,
        };
        let kind =
            if ty.category == 'P' || matches!(ty.ty, Type::Record | Type::Void | Type::Unknown) { "p" } else { "b" };
        rows.push(of(ty.oid, ty.name, ty.length, kind, ty.category, ty.preferred, 0, ty.array_oid, collation));
        if ty.array_oid != 0 {
            let name = format!("_{}", ty.name);
            rows.push(of(ty.array_oid, &name, -1, "b", 'A', false, ty.oid, 0, collation));
        }
    }
    rows
}

#[allow(clippy::too_many_arguments, reason = "a row of a wide table")]
fn of(
    oid: u32,
    name: &str,
    length: i16,
    kind: &str,
    category: char,
    preferred: bool,
    element: u32,
    array: u32,
    collation: u32,
) -> Row {
    row![
        oid,
        name,
        11,
        OWNER,
        length,
        length > 0 && length <= 8,
        kind,
        category.to_string(),
        preferred,
        true,
        ",",
        0,
        0,
        element,
        array,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        if length == 8 { "d" } else { "i" },
        if length > 0 { "p" } else { "x" },
        false,
        0,
        -1,
        0,
        collation,
        NULL,
        NULL,
        NULL,
    ]
}
