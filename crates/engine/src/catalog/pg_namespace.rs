//! `pg_namespace`: schemas.

use rowferry_dialect::access::ObjectClass;

use super::names::{NAMESPACES, acl_name};
use super::pg_roles::{list, shown_list};
use super::{Context, OWNER, Row, Table, row, text_array};
use crate::schema::{INFORMIX, PG_TEMP};

pub(super) const TABLES: &[Table] =
    &[Table::pg_catalog("pg_namespace", rows), Table::pg_catalog("pg_init_privs", born_with)];

/// The schemas whose privileges a new database says.
const CATALOG: u32 = 11;
pub(super) const PUBLIC: u32 = 2_200;

/// What was granted on the schemas before anybody granted something: pg_dump tells what has come since.
fn born_with(context: &Context<'_>) -> Vec<Row> {
    let name = |role: u32| acl_name(&context.schema.role_name(role).unwrap_or_else(|| role.to_string()));
    let row = |(schema, owner): (u32, u32)| {
        let owner = name(owner);
        let items = [format!("{owner}=UC/{owner}"), format!("=U/{owner}")];
        row![schema, 2_615, 0, "i", text_array(items.iter().map(String::as_str))]
    };
    [(CATALOG, OWNER), (PUBLIC, DATABASE_OWNER)].into_iter().map(row).collect()
}

/// The role `pg_database_owner`.
const DATABASE_OWNER: u32 = 6_171;

fn rows(context: &Context<'_>) -> Vec<Row> {
    let fixed = NAMESPACES.iter().map(|(oid, name)| (*oid, *name));
    let made = context.schema.main.namespaces.iter().map(|namespace| (namespace.oid, namespace.name.as_str()));
    let rights = context.schema.rights();
    let acl = |oid| match oid {
        // What everybody may do in the catalogs is said there, too.
        CATALOG | PUBLIC | 13_000 => list(context.schema, &rights.list(ObjectClass::Schema, oid)),
        oid => shown_list(context.schema, &rights, oid),
    };
    fixed
        // Informix's catalogs are for Informix's clients, temporary objects for those who have some.
        .filter(|(_, name)| *name != INFORMIX && (*name != PG_TEMP || !context.schema.temp.is_empty()))
        .chain(made)
        .map(|(oid, name)| row![oid, name, rights.owner(oid), acl(oid)])
        .collect()
}
