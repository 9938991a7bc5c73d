//! Texts that a schema keeps: defaults, checks, index keys, conditions, views.
//!
//! They mean what they meant when they were made, whatever search path those have who come later (pg_dump's is empty). So
//! the functions, types and sequences that they name are kept with their schemas. Relations in FROM are found by what is
//! noted of them (see [`crate::pins`]).

use super::binder::{Binder, Clause, Entry};
use super::quote_ident as quote;
use crate::Result;
use crate::uses::Uses;

impl Binder<'_> {
    /// An expression over `entries` with what it names in its schemas.
    pub(super) fn in_schemas(&self, text: String, entries: Vec<Entry>, clause: Clause) -> String {
        self.in_schemas_by(text, |binder, text| binder.stored(text, binder.language, entries, clause).map(drop))
    }

    /// The same of what `bind` binds; a text that cannot be bound by itself stays as it is.
    pub(super) fn in_schemas_by(&self, text: String, bind: impl FnOnce(&mut Binder<'_>, &str) -> Result<()>) -> String {
        const BEFORE: &str = "SELECT ";
        let mut along = Binder::detached(self.path, self.context);
        along.follow(self.language);
        along.uses = Some(Uses::default());
        if bind(&mut along, &text).is_err() {
            return text;
        }
        let uses = along.uses.take().unwrap_or_default();
        let kept = uses.with_schemas_of_objects(&format!("{BEFORE}{text}"), &quote);
        kept.as_deref().and_then(|kept| kept.strip_prefix(BEFORE)).map(str::to_owned).unwrap_or(text)
    }

    /// A query with what it names in its schemas.
    pub(super) fn query_in_schemas(&self, text: String) -> String {
        let uses = super::bind::uses((&text, self.language), None, self.schema, self.context);
        uses.ok().and_then(|uses| uses.with_schemas_of_objects(&text, &quote)).unwrap_or(text)
    }
}
