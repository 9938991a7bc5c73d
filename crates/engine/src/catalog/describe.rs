//! Definitions as PostgreSQL prints them: `pg_get_indexdef`, `pg_get_constraintdef`, `pg_get_viewdef`.

use std::sync::Arc;

use rowferry_dialect::schema::{ForeignKey, Index, QualifiedName, ReferentialAction, Relation, RelationKind};
use rowferry_dialect::{Result, Schema as _, postgres};
use rusqlite::Connection;

use super::names::quote_ident;
use crate::schema::{PUBLIC, SessionSchema};
use crate::session::state::State;
use crate::statement::Failure;

/// `schema.name`, each quoted where need be.
fn qualified(namespace: &str, name: &str) -> String {
    format!("{}.{}", quote_ident(namespace), quote_ident(name))
}

/// A key of an index: a column's name, or an expression in parentheses.
pub fn index_key(relation: &Relation, index: &Index, at: usize) -> String {
    match index.columns.get(at).copied().flatten() {
        Some(column) => quote_ident(&relation.columns[column].name),
        None => {
            let text = index.keys.get(at).map_or("", |key| key.text.trim());
            // A call of a function stands bare.
            let call = text.ends_with(')')
                && text
                    .split('(')
                    .next()
                    .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'));
            if call || (text.starts_with('(') && text.ends_with(')')) { text.to_owned() } else { format!("({text})") }
        }
    }
}

/// CREATE INDEX of an index, or one of its keys when `column` is above 0.
pub fn index(schema: &SessionSchema, oid: u32, column: i32) -> Option<String> {
    let (relation, index) = schema
        .user_relations()
        .find_map(|relation| relation.indexes.iter().find(|index| index.oid == oid).map(|index| (relation, index)))?;
    if let Ok(column @ 1..) = usize::try_from(column) {
        return (column <= index.keys.len()).then(|| index_key(relation, index, column - 1));
    }
    Some(create_index(relation, index))
}

/// CREATE INDEX of an index.
pub fn create_index(relation: &Relation, index: &Index) -> String {
    let keys: Vec<String> = (0..index.keys.len())
        .map(|at| {
            let direction = if index.keys[at].descending { " DESC" } else { "" };
            format!("{}{direction}", index_key(relation, index, at))
        })
        .collect();
    let unique = if index.unique { "UNIQUE " } else { "" };
    let predicate = index.predicate.as_ref().map_or_else(String::new, |text| format!(" WHERE ({text})"));
    format!(
        "CREATE {unique}INDEX {} ON {} USING btree ({}){predicate}",
        quote_ident(&index.name),
        qualified(&relation.namespace, &relation.name),
        keys.join(", ")
    )
}

/// A constraint's definition.
pub fn constraint(schema: &SessionSchema, oid: u32) -> Option<String> {
    schema.user_relations().find_map(|relation| {
        let unique = relation.indexes.iter().find(|index| index.constraint && constraint_oid(index) == oid);
        let check =
            || relation.checks.iter().find(|check| check.oid == oid).map(|check| format!("CHECK (({}))", check.text));
        let key =
            || relation.foreign_keys.iter().find(|key| key.oid == oid).map(|key| foreign_key(schema, relation, key));
        unique.map(|index| unique_constraint(relation, index)).or_else(check).or_else(key)
    })
}

/// The object id of the constraint behind a constraint's index: another than the index's own.
pub fn constraint_oid(index: &Index) -> u32 {
    crate::schema::metadata::derived_oid("unique", "", &[&index.oid.to_string()])
}

/// PRIMARY KEY (…), UNIQUE (…).
pub fn unique_constraint(relation: &Relation, index: &Index) -> String {
    let keys: Vec<String> = (0..index.keys.len()).map(|at| index_key(relation, index, at)).collect();
    format!("{} ({})", if index.primary { "PRIMARY KEY" } else { "UNIQUE" }, keys.join(", "))
}

/// The columns that a foreign key refers to, by position in the table that it refers to.
pub fn target_columns(target: &Relation, key: &ForeignKey) -> Vec<usize> {
    if key.target_columns.is_empty() {
        return target.primary_key().map(|index| index.columns.iter().flatten().copied().collect()).unwrap_or_default();
    }
    key.target_columns.iter().filter_map(|name| target.column(name)).collect()
}

/// FOREIGN KEY (…) REFERENCES ….
pub fn foreign_key(schema: &SessionSchema, relation: &Relation, key: &ForeignKey) -> String {
    let columns: Vec<String> = key.columns.iter().map(|&column| quote_ident(&relation.columns[column].name)).collect();
    let target = schema.relation(&key.target);
    let targets: Vec<String> = match &target {
        Some(target) => {
            target_columns(target, key).into_iter().map(|column| quote_ident(&target.columns[column].name)).collect()
        }
        None => key.target_columns.iter().map(|name| quote_ident(name)).collect(),
    };
    let bare = target.as_ref().is_some_and(|target| {
        schema.relation(&QualifiedName::bare(target.name.clone())).is_some_and(|found| found.oid == target.oid)
    });
    let name = quote_ident(&key.target.name);
    let name =
        if bare { name } else { format!("{}.{name}", quote_ident(key.target.schema.as_deref().unwrap_or(PUBLIC))) };
    let mut text = format!("FOREIGN KEY ({}) REFERENCES {name}({})", columns.join(", "), targets.join(", "));
    for (event, action) in [("UPDATE", key.on_update), ("DELETE", key.on_delete)] {
        let words = match action {
            ReferentialAction::NoAction => continue,
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
            ReferentialAction::SetDefault => "SET DEFAULT",
        };
        text.push_str(&format!(" ON {event} {words}"));
    }
    if key.deferred {
        text.push_str(" DEFERRABLE INITIALLY DEFERRED");
    }
    text
}

/// What can be done to a relation by itself.
pub fn updatable(schema: &SessionSchema, relation: &Arc<Relation>) -> postgres::Updatable {
    postgres::updatable(relation, schema, &rowferry_dialect::plan::Context::default())
}

/// A view's query.
pub fn view(schema: &SessionSchema, oid: u32) -> Option<String> {
    let relation = schema.relation_by_oid(oid)?;
    match &relation.kind {
        RelationKind::View { definition, .. } => Some(format!(" {};", definition.trim().trim_end_matches(';'))),
        // Somebody else's: what stands behind AS in SQLite's statement.
        RelationKind::NativeView => schema.details(oid)?.sql.clone(),
        RelationKind::Table | RelationKind::Catalog | RelationKind::Sequence { .. } => None,
    }
}

/// Bytes of a relation, with or without its indexes, of its indexes alone, or of the whole database.
pub fn size(state: &State, connection: &Connection, oid: u32, indexes: Option<bool>) -> Result<i64> {
    let failed = |error: rusqlite::Error| crate::errors::translate(&Failure::from(error), &state.interrupter, None);
    if oid == 0 {
        let sql = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        return connection.query_row(sql, [], |row| row.get(0)).map_err(failed);
    }
    let schema = state.schema.read();
    let (relation, only) = match schema.relation_by_oid(oid) {
        Some(relation) => (relation, None),
        None => {
            let found = schema.user_relations().find_map(|relation| {
                let at = relation.indexes.iter().position(|index| index.oid == oid)?;
                Some((relation.clone(), Some(at)))
            });
            match found {
                Some(found) => found,
                // Sequences and whatever else has an entry in `pg_class` but no pages of its own.
                None => return Ok(0),
            }
        }
    };
    let names = schema.details(relation.oid).map(|details| details.index_names.clone()).unwrap_or_default();
    let wanted: Vec<&str> = match (only, indexes) {
        (Some(at), _) => names.get(at).map(String::as_str).into_iter().collect(),
        (None, None) => names.iter().map(String::as_str).collect(),
        (None, Some(true)) => names.iter().map(String::as_str).chain([relation.physical_name.as_str()]).collect(),
        (None, Some(false)) => vec![relation.physical_name.as_str()],
    };
    let mut bytes = 0;
    let sql = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = ?1 AND aggregate = TRUE";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    for name in wanted.into_iter().filter(|name| !name.is_empty()) {
        bytes += statement.query_row([name], |row| row.get::<_, i64>(0)).map_err(failed)?;
    }
    Ok(bytes)
}
