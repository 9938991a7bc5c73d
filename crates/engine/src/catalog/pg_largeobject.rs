//! `pg_largeobject` and `pg_largeobject_metadata`: read from the file some rows at a time, since there may be many.

use rowferry_dialect::Result;

use super::names::acl_name;
use super::{Cell, Chunk, Context, Row, Table, row, text_array};
use crate::backend::LargeObjects;

pub(super) const TABLES: &[Table] =
    &[Table::in_chunks("pg_largeobject", "loid", pages), Table::in_chunks("pg_largeobject_metadata", "oid", metadata)];

fn number(row: &Row, at: usize) -> i64 {
    match row.get(at) {
        Some(Cell::Integer(number)) => *number,
        _ => 0,
    }
}

/// Which object is asked for; `Some(None)` for one that cannot be.
fn asked(chunk: &Chunk<'_>) -> Option<Option<u32>> {
    chunk.key.map(|key| u32::try_from(key).ok())
}

fn pages(_: &Context<'_>, objects: LargeObjects<'_>, chunk: &Chunk<'_>) -> Result<Vec<Row>> {
    let Some(only) = asked(chunk).map_or(Some(None), |oid| oid.map(Some)) else { return Ok(Vec::new()) };
    let after = chunk.after.map(|row| (u32::try_from(number(row, 0)).unwrap_or(u32::MAX), number(row, 1)));
    objects.pages(only, after)
}

fn metadata(context: &Context<'_>, objects: LargeObjects<'_>, chunk: &Chunk<'_>) -> Result<Vec<Row>> {
    let Some(only) = asked(chunk).map_or(Some(None), |oid| oid.map(Some)) else { return Ok(Vec::new()) };
    let after = chunk.after.map(|row| u32::try_from(number(row, 0)).unwrap_or(u32::MAX));
    let name = |role: u32| acl_name(&context.schema.role_name(role).unwrap_or_else(|| role.to_string()));
    let found = objects.objects(only, after)?;
    Ok(found
        .into_iter()
        .map(|(oid, object)| {
            let items = object.stored.map(|list| list.texts(name));
            let items = items.map(|items| text_array(items.iter().map(String::as_str)));
            row![oid, object.owner, items]
        })
        .collect())
}
