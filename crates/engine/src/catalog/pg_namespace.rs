//! `pg_namespace`: schemas.

use rowferry_dialect::access::ObjectClass;

use super::names::NAMESPACES;
use super::pg_roles::{list, shown_list};
use super::{Context, Row, Table, row};
use crate::schema::{INFORMIX, PG_TEMP};

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_namespace", rows)];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let fixed = NAMESPACES.iter().map(|(oid, name)| (*oid, *name));
    let made = context.schema.main.namespaces.iter().map(|namespace| (namespace.oid, namespace.name.as_str()));
    let rights = context.schema.rights();
    let acl = |oid| match oid {
        // What everybody may do in the catalogs is said there, too.
        11 | 2_200 | 13_000 => list(context.schema, &rights.list(ObjectClass::Schema, oid)),
        oid => shown_list(context.schema, &rights, oid),
    };
    fixed
        // Informix's catalogs are for Informix's clients, temporary objects for those who have some.
        .filter(|(_, name)| *name != INFORMIX && (*name != PG_TEMP || !context.schema.temp.is_empty()))
        .chain(made)
        .map(|(oid, name)| row![oid, name, rights.owner(oid), acl(oid)])
        .collect()
}
