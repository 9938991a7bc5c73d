//! Rows of catalogs that have been made, for all sessions of a database that see the same.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rowferry_dialect::Schema as _;
use rowferry_dialect::access::Identity;

use super::Table;
use crate::backend::CatalogRows as Rows;
use crate::schema::SessionSchema;
use crate::session::state::State;

/// What rows depend on, of a table that is not `live`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reader {
    generation: u64,
    path: Arc<[String]>,
    user: Arc<str>,
    identity: Identity,
    database: String,
}

impl Reader {
    /// Who reads, and which schema.
    pub fn new(schema: &SessionSchema, state: &State) -> Self {
        Self {
            generation: schema.generation(),
            path: schema.search_path.clone(),
            user: schema.user.clone(),
            identity: schema.identity,
            database: state.database_name.clone(),
        }
    }
}

/// Rows by table and reader.
#[derive(Debug, Default)]
pub struct Cache {
    tables: Mutex<HashMap<usize, Vec<Made>>>,
}

#[derive(Debug)]
struct Made {
    reader: Reader,
    rows: Option<Arc<Rows>>,
    look_ups: u32,
}

/// How many readers of a table are kept: a schema that changes leaves its rows behind.
const READERS: usize = 4;

/// After so many look-ups of single relations the whole table is worth making.
const LOOK_UPS: u32 = 50;

impl Cache {
    /// The rows of a table for a reader, if they have been made.
    pub fn get(&self, table: &'static Table, reader: &Reader) -> Option<Arc<Rows>> {
        let tables = self.tables.lock();
        let made = tables.get(&std::ptr::from_ref(table).addr())?;
        made.iter().find(|made| made.reader == *reader)?.rows.clone()
    }

    /// Keeps them.
    pub fn put(&self, table: &'static Table, reader: &Reader, rows: Arc<Rows>) {
        self.of_reader(table, reader, |made| made.rows = Some(rows));
    }

    /// True when a look-up of one relation should not make the whole table yet.
    pub fn is_rarely_asked(&self, table: &'static Table, reader: &Reader) -> bool {
        self.of_reader(table, reader, |made| {
            made.look_ups += 1;
            made.look_ups <= LOOK_UPS
        })
    }

    fn of_reader<T>(&self, table: &'static Table, reader: &Reader, change: impl FnOnce(&mut Made) -> T) -> T {
        let mut tables = self.tables.lock();
        let made = tables.entry(std::ptr::from_ref(table).addr()).or_default();
        let at = made.iter().position(|made| made.reader == *reader).unwrap_or_else(|| {
            if made.len() == READERS {
                made.remove(0);
            }
            made.push(Made { reader: reader.clone(), rows: None, look_ups: 0 });
            made.len() - 1
        });
        change(&mut made[at])
    }
}
