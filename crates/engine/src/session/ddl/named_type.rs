//! CREATE ROW TYPE, CREATE DISTINCT TYPE, and CREATE AGGREGATE in Informix's SQL: the words are kept.

use rowferry_dialect::Language;
use rowferry_dialect::ir::{CreateAggregate, CreateType};

use super::{Changer, Done};
use crate::schema::PUBLIC;

impl Changer<'_> {
    pub(super) fn create_type(&self, create: &CreateType) -> Done {
        let kind = if create.is_row { "row type" } else { "distinct type" };
        self.record("main", kind, PUBLIC, &create.name, None, Language::Informix, Some(create.words.as_str()))?;
        self.bump()
    }

    pub(super) fn create_informix_aggregate(&self, create: &CreateAggregate) -> Done {
        let words = Some(create.words.as_str());
        self.record("main", "informix aggregate", PUBLIC, &create.name, None, Language::Informix, words)?;
        self.bump()
    }

    pub(super) fn drop_type(&self, oid: u32) -> Done {
        self.forget("main", oid)?;
        self.bump()
    }
}
