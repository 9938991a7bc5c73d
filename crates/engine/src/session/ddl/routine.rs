//! CREATE FUNCTION, CREATE PROCEDURE: the text is kept, and parsed when it is called.

use rowferry_dialect::ir::CreateRoutine;
use rowferry_dialect::{Condition, Error, Language};

use super::{Changer, Done};
use crate::schema::PUBLIC;

impl Changer<'_> {
    pub(super) fn create_routine(&self, routine: &CreateRoutine) -> Done {
        // Its entry is called by its signature, whose parenthesis ends the name.
        if routine.name.contains('(') {
            return Err(Error::unsupported("a routine with a parenthesis in its name").into());
        }
        let schema = self.schema();
        let known = &schema.main.routines;
        let same = known.iter().find(|other| other.signature == routine.signature);
        if let Some(specific) = &routine.specific
            && known.iter().any(|other| {
                other.signature != routine.signature
                    && other.parsed().is_ok_and(|parsed| parsed.specific.as_ref() == Some(specific))
            })
        {
            return Err(exists(specific).into());
        }
        if let Some(same) = same {
            if routine.if_not_exists {
                return Ok(());
            }
            if !routine.or_replace {
                return Err(exists(&routine.name).into());
            }
            self.forget("main", same.oid)?;
        }
        let definition = Some(routine.definition.as_str());
        self.record("main", "routine", PUBLIC, &routine.signature, None, Language::Informix, definition)?;
        self.bump()
    }

    pub(super) fn drop_routine(&self, oid: u32) -> Done {
        self.forget("main", oid)?;
        self.bump()
    }

    /// Lets other handles, of other processes too, see that the schema is another.
    pub(super) fn bump(&self) -> Done {
        self.store.announce()
    }
}

fn exists(name: &str) -> Error {
    let message = format!("routine ({name}) already exists in the database");
    Error::new(Condition::DuplicateFunction, message).column(name)
}
