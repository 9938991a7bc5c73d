//! Full-text indexes, brought in line with the schema behind a change of it.

use std::sync::Arc;

use rowferry_dialect::schema::Relation;

use super::Changer;
use crate::backend::fulltext::FullText;
use crate::backend::{Done, Store};
use crate::session::fulltext::full_texts;

impl Changer<'_> {
    /// Keeps the words of those that are new, whose columns are others, or whose table has been made anew; of those that are gone
    /// no more.
    pub(super) fn settle_fulltext(&self) -> Done {
        if self.only_temporary {
            return Ok(());
        }
        let Some(kept) = self.store.kept_fulltext()? else { return Ok(()) };
        let schema = self.schema();
        let mut there = Vec::new();
        for table in schema.main.relations() {
            let noted = schema.details(table.oid).map(|details| details.triggers.as_slice()).unwrap_or_default();
            let of_table: Vec<FullText> = full_texts(table).map(|(_, index)| index).collect();
            let left_over = noted.iter().map(|(name, _)| name).filter(|name| {
                FullText::of_trigger(name).is_some_and(|oid| of_table.iter().all(|index| index.oid != oid))
            });
            let mut changed = false;
            for name in left_over {
                self.store.drop_fulltext_trigger(name)?;
                changed = true;
            }
            for index in of_table {
                let form = Store::fulltext_form(&index);
                let has_triggers =
                    FullText::triggers(index.oid).iter().all(|name| noted.iter().any(|(has, _)| has == name));
                if !has_triggers || !kept.contains(&(index.oid, form)) {
                    self.store.keep_fulltext(&index)?;
                    changed = true;
                }
                there.push(index.oid);
            }
            if changed {
                self.touch_table(table);
            }
        }
        for (oid, _) in kept.into_iter().filter(|(oid, _)| !there.contains(oid)) {
            self.store.forget_fulltext(oid)?;
        }
        self.settle()
    }

    fn touch_table(&self, table: &Arc<Relation>) {
        self.touch(table.physical.database, table.oid);
    }
}
