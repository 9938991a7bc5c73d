//! Full-text indexes: what is kept of the words of a table's texts, and by whom.
//!
//! In SQLite's schema such an index is an ordinary one over its columns that holds no row (`WHERE false`): so it has a name, goes with
//! its table, and follows when a column gets another name. Its words lie in tables of ours.
//!
//! | table                       | a row                                                                                  |
//! |-----------------------------|----------------------------------------------------------------------------------------|
//! | `rowferry_fulltext`         | an index: in which form its words are kept, how many documents there are, the last version |
//! | `rowferry_fulltext_rows`    | a document: the row, the version in which its words were noted last, a number of its texts |
//! | `rowferry_fulltext_words`   | a part of the list of documents with one word                                          |
//! | `rowferry_fulltext_pending` | a row that has been written since its words were noted                                  |
//!
//! Triggers of SQLite's own note in `rowferry_fulltext_pending` which rows are written: in the same transaction, whoever writes, and
//! without any function of ours. A session of ours that has noted some takes their words in as it commits ([`kept`]); whoever searches
//! looks at the texts of those that nobody has taken in yet ([`search`]). So a search sees every row as it is now.
//!
//! A posting is a row with the version in which it was noted. A row that is noted again gets a new version, by which its old postings
//! are known to be worth nothing; they go when the list is next written, or when the index is made anew.

mod kept;
mod postings;
mod search;

use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::values::mysql::fulltext::Words;
use rusqlite::{Connection, Result};

pub use search::search;

/// Where rows wait whose words have not been taken in: a session's handle looks whether its transaction has noted some.
pub(super) const PENDING: &str = "rowferry_fulltext_pending";

/// How triggers are named: this, the index's object id, the operation.
const TRIGGER: &str = "rowferry_fulltext_";

const OPERATIONS: [&str; 3] = ["insert", "update", "delete"];

/// The tables.
const TABLES: &str = "CREATE TABLE IF NOT EXISTS main.rowferry_fulltext (
    oid INTEGER PRIMARY KEY,
    form TEXT NOT NULL,
    documents INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    version INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS main.rowferry_fulltext_rows (
    oid INTEGER NOT NULL,
    row INTEGER NOT NULL,
    version INTEGER NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (oid, row)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.rowferry_fulltext_words (
    oid INTEGER NOT NULL,
    word BLOB NOT NULL,
    part INTEGER NOT NULL,
    postings BLOB NOT NULL,
    PRIMARY KEY (oid, word, part)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.rowferry_fulltext_pending (oid INTEGER NOT NULL, row INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS main.rowferry_fulltext_waiting ON rowferry_fulltext_pending (oid, row)";

/// A full-text index.
#[derive(Clone, Debug)]
pub struct FullText {
    /// Its object id.
    pub oid: u32,
    /// SQLite's name of its table.
    pub table: String,
    /// SQLite's names of its columns.
    pub columns: Vec<String>,
    /// By what name the table's rows tell their rowid.
    pub identity: &'static str,
    /// What decides which words are one.
    pub collation: Option<Arc<Collation>>,
}

impl FullText {
    /// The name of the rowid of a table with these columns: the first that is not theirs.
    pub fn identity_beside<'c>(columns: impl Iterator<Item = &'c str> + Clone) -> Option<&'static str> {
        let free = |name: &&str| !columns.clone().any(|column| column.eq_ignore_ascii_case(name));
        ["rowid", "_rowid_", "oid"].into_iter().find(free)
    }

    /// The names of the triggers that note its rows.
    pub fn triggers(oid: u32) -> [String; 3] {
        OPERATIONS.map(|operation| format!("{TRIGGER}{oid}_{operation}"))
    }

    /// Whether a trigger notes rows of an index, and of which.
    pub fn of_trigger(name: &str) -> Option<u32> {
        name.strip_prefix(TRIGGER)?.split_once('_')?.0.parse().ok()
    }

    fn words(&self) -> Arc<Words> {
        Words::under(self.collation.as_ref())
    }

    /// How its words are kept: what was kept in another form is of no use.
    fn form(&self) -> String {
        format!("{} ({}) by {}", self.words().form(), self.columns.join(", "), self.identity)
    }

    /// Reads the texts of a row.
    fn texts_sql(&self) -> String {
        let columns: Vec<String> =
            self.columns.iter().map(|column| format!("CAST({} AS TEXT)", quote(column))).collect();
        format!("SELECT {} FROM main.{} WHERE {} = ?1", columns.join(", "), quote(&self.table), self.identity)
    }
}

/// True when the file has full-text indexes, or has had some.
fn exist(connection: &Connection) -> Result<bool> {
    connection.table_exists(Some("main"), "rowferry_fulltext")
}

/// The texts of a row that a statement of [`FullText::texts_sql`] has found.
fn texts(row: &rusqlite::Row<'_>, columns: usize) -> Result<Vec<Option<String>>> {
    (0..columns)
        .map(|at| {
            Ok(match row.get_ref(at)? {
                rusqlite::types::ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                _ => None,
            })
        })
        .collect()
}

/// A number of texts, which others hardly have.
fn content(texts: &[Option<String>]) -> i64 {
    // FNV-1a, with a byte between texts that no text has.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut feed = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for text in texts {
        match text {
            Some(text) => text.bytes().for_each(&mut feed),
            None => feed(0xfe),
        }
        feed(0xff);
    }
    hash.cast_signed()
}
