//! `pg_type`: PostgreSQL's own types ([`super::fixed`]) and the file's.

use super::{Context, Row, Table};
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

/// Types of users: there are none.
fn rows(_context: &Context<'_>) -> Vec<Row> {
    Vec::new()
}
