//! What tables and views that this door has made keep, in MySQL's words; others' are told in their own.

use std::sync::Arc;

use rowferry_dialect::mysql::print::{self, Place, Today};
use rowferry_dialect::pins::PinnedColumn;
use rowferry_dialect::schema::{Check, Index, Relation};
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Language, Schema as _};

use super::Context;
use crate::catalog::describe;

/// An expression as the file keeps it; `None` where another door has made it, or MySQL has no words for it.
pub(super) fn own(context: &Context<'_>, relation: &Relation, kept: &str) -> Option<String> {
    if relation.language != Language::Mysql {
        return None;
    }
    let place = Place { database: &context.database.name, namespace: &relation.namespace, relation: &|_| None };
    print::expression(kept, place)
}

/// The query of a view, as a client may read it again in the view's database.
pub(super) fn view(context: &Context<'_>, relation: &Relation) -> String {
    own_view(context, relation).unwrap_or_else(|| {
        let query = describe::view(context.schema, relation.oid, &Settings::default(), false, 0).unwrap_or_default();
        query.trim().trim_end_matches(';').to_owned()
    })
}

fn own_view(context: &Context<'_>, relation: &Relation) -> Option<String> {
    let (definition, pins) = relation.definition().filter(|_| relation.language == Language::Mysql)?;
    let today = |at: usize| {
        let pin = pins.at(at)?;
        let named = context.schema.relation_by_oid(pin.oid)?;
        let known = |column: &PinnedColumn| Some((column.name.clone(), column.now.clone()?));
        // What the query does not speak of may be called anything.
        let is_renamed = pin
            .columns
            .iter()
            .any(|column| column.now.as_ref() != Some(&column.name) && speaks_of(definition, &column.name));
        let renamed = if is_renamed { pin.columns.iter().filter_map(known).collect() } else { Vec::new() };
        Some(Today { namespace: named.namespace.clone(), name: named.name.clone(), renamed })
    };
    let place = Place { database: &context.database.name, namespace: &relation.namespace, relation: &today };
    print::query(definition, place)
}

/// A query may name a column: its name stands in it as a word, or NATURAL, which names columns silently.
fn speaks_of(query: &str, column: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_word =
        |(at, word): (usize, &str)| !query[..at].ends_with(is_part) && !query[at + word.len()..].starts_with(is_part);
    query.match_indices(&column.replace('"', "\"\"")).any(is_word) || query.contains("NATURAL")
}

/// The names that a view gives its columns, where its query calls them otherwise.
pub(super) fn view_columns(relation: &Relation) -> Option<Vec<&str>> {
    let definition = relation.definition().filter(|_| relation.language == Language::Mysql);
    let named = definition.and_then(|(definition, _)| print::columns(definition));
    let own: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
    named.is_none_or(|named| named != own).then_some(own)
}

/// What a generated column is.
pub(super) fn generated(context: &Context<'_>, relation: &Arc<Relation>, at: usize) -> Option<String> {
    let kept = relation.columns[at].generated.as_ref()?;
    own(context, relation, &kept.text).or_else(|| describe::default_expression(context.schema, relation, at))
}

/// What a check asks.
pub(super) fn check(context: &Context<'_>, relation: &Arc<Relation>, check: &Check) -> String {
    own(context, relation, &check.text).unwrap_or_else(|| {
        let clause = describe::check_constraint(context.schema, relation, check, false);
        let inner = clause.strip_prefix("CHECK (").and_then(|rest| rest.rsplit_once(')'));
        inner.map_or_else(|| clause.clone(), |(inner, _)| inner.to_owned())
    })
}

/// An expression that is a key.
pub(super) fn key(context: &Context<'_>, relation: &Arc<Relation>, index: &Index, at: usize) -> String {
    let kept = index.keys.get(at).map_or("", |key| key.text.trim());
    own(context, relation, kept).unwrap_or_else(|| describe::index_key(context.schema, relation, index, at, false))
}

/// A default that is no literal.
pub(super) fn default(context: &Context<'_>, relation: &Relation, at: usize) -> Option<String> {
    own(context, relation, &relation.columns[at].default.as_ref()?.text)
}
