//! Full-text indexes of MySQL's: what they are, when the words of written rows are taken in, and what a search finds.

use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::schema::{Index, Relation};
use rowferry_dialect::values::mysql::fulltext::{Found, Mode};
use rowferry_dialect::{Error, Result};

use super::Session;
use super::state::State;
use crate::backend::fulltext::{FullText, search};
use crate::backend::{Connection, Guard, errors};
use crate::schema::SessionSchema;

/// Searches that a session remembers: one statement may ask for some, in several of its clauses.
const REMEMBERED: usize = 8;

/// What a search has found, and for which state of the file.
#[derive(Debug)]
pub struct Remembered {
    index: u32,
    mode: Mode,
    text: String,
    at: (u32, u64),
    found: Arc<Found>,
}

/// What the back end must know of an index.
pub fn full_text(table: &Relation, index: &Index) -> Option<FullText> {
    let columns: Vec<usize> = index.columns.iter().flatten().copied().filter(|at| *at < table.columns.len()).collect();
    let first = table.columns.get(*columns.first()?)?;
    Some(FullText {
        oid: index.oid,
        table: table.physical.name.clone(),
        columns: columns.iter().map(|at| table.columns[*at].name.clone()).collect(),
        identity: FullText::identity_beside(table.columns.iter().map(|column| column.name.as_str()))?,
        collation: Some(first.collation.as_ref().unwrap_or_else(|| Collation::mysql_default()).clone()),
    })
}

fn full_text_by_oid(schema: &SessionSchema, oid: u32) -> Option<FullText> {
    let (table, at) = schema.index_by_oid(oid)?;
    Some(&table.indexes[at]).filter(|index| index.fulltext).and_then(|index| full_text(table, index))
}

/// The full-text indexes of a table.
pub fn full_texts(table: &Relation) -> impl Iterator<Item = (&Index, FullText)> {
    let indexes = table.indexes.iter().filter(|index| index.fulltext);
    indexes.filter_map(|index| Some((index, full_text(table, index)?)))
}

impl Session {
    /// Takes in the words of what the transaction has written, before it commits.
    pub(super) fn take_in_words(&self, guard: &Guard<'_>) -> Result<()> {
        let taken = guard.take_in_words(|oid| full_text_by_oid(&self.schema, oid));
        taken.map_err(|failure| errors::translate(&failure, &self.interrupter, None))
    }
}

impl State {
    /// What a text finds in a full-text index.
    pub fn search_words(&self, connection: Connection<'_>, index: u32, mode: Mode, text: &str) -> Result<Arc<Found>> {
        let at = connection.version();
        let mut remembered = self.searches.lock();
        let is_it =
            |known: &Remembered| known.index == index && known.mode == mode && known.text == text && known.at == at;
        if let Some(known) = remembered.iter().find(|known| is_it(known)) {
            return Ok(Arc::clone(&known.found));
        }
        let described = full_text_by_oid(&self.schema.read(), index);
        let described = described.ok_or_else(|| Error::internal(format!("a full-text index {index} that is none")))?;
        let found = Arc::new(search(connection, &described, text, mode)?);
        if remembered.len() >= REMEMBERED {
            remembered.remove(0);
        }
        remembered.push(Remembered { index, mode, text: text.to_owned(), at, found: Arc::clone(&found) });
        Ok(found)
    }
}
