//! Looks words up.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rowferry_dialect::values::mysql::fulltext::{self, Documents, Found, Mode, Posting, Words};
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::{Connection as Bound, OptionalExtension as _, params};

use super::postings::{self, Noted};
use super::{FullText, exist, kept, texts};
use crate::backend::sqlite::connection::Connection;

/// Where so many of a list's postings are of rows that are there, all versions are read in one go.
const MANY: i64 = 8;

/// What a text finds in an index.
///
/// # Errors
/// `42601` for what is no search; `XX001` (MySQL's 1034) for an index whose words somebody has stopped keeping.
pub fn search(connection: Connection<'_>, index: &FullText, text: &str, mode: Mode) -> Result<Found> {
    let mut reader = Reader::open(connection.bound(), index).map_err(|error| failed(&error))?;
    let Some(reader) = &mut reader else { return Err(broken(index)) };
    fulltext::search(reader, text, mode)
}

/// Whether the words of an index are kept, as far as a search asks.
pub(super) fn is_kept(connection: &Bound, index: &FullText) -> rusqlite::Result<bool> {
    Ok(Reader::open(connection, index)?.is_some())
}

fn failed(error: &rusqlite::Error) -> Error {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) {
        return Error::new(Condition::QueryCanceled, "the search was interrupted");
    }
    Error::internal(format!("a full-text index could not be read: {error}"))
}

fn broken(index: &FullText) -> Error {
    let message = format!("Incorrect key file for table '{}'; try to repair it", index.table);
    Error::new(Condition::DataCorrupted, message)
        .with_mysql(1034, "HY000")
        .hint("Another program has changed the table in a way that its full-text index cannot follow: REPAIR TABLE makes that anew.")
}

/// An index as it is now, with the rows that nobody has taken in.
struct Reader<'c> {
    connection: &'c Bound,
    index: &'c FullText,
    words: Arc<Words>,
    count: u64,
    documents: i64,
    /// Some postings may be worth nothing.
    worn: bool,
    /// Rows that wait: what is known of them is not so any more.
    pending: HashMap<i64, bool>,
    /// Their words.
    waiting: BTreeMap<Vec<u8>, Vec<Posting>>,
    /// All rows with their versions, once there was a reason to read them.
    versions: Option<HashMap<i64, i64>>,
}

impl<'c> Reader<'c> {
    /// `None` where the words are not kept as they are to be.
    fn open(connection: &'c Bound, index: &'c FullText) -> rusqlite::Result<Option<Self>> {
        let state = match exist(connection)? {
            true => {
                let sql = "SELECT form, documents, dead FROM main.rowferry_fulltext WHERE oid = ?1";
                let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
                connection.query_row(sql, [index.oid], read).optional()?
            }
            false => None,
        };
        let Some((form, documents, dead)): Option<(String, i64, i64)> = state else { return Ok(None) };
        let [insert, update, delete] = FullText::triggers(index.oid);
        let sql = "SELECT count(*) FROM main.sqlite_schema WHERE type = 'trigger' AND name IN (?1, ?2, ?3)
                   AND tbl_name = ?4 COLLATE NOCASE";
        let triggers: i64 =
            connection.query_row(sql, params![insert, update, delete, index.table], |row| row.get(0))?;
        if triggers != 3 || form != index.form() {
            return Ok(None);
        }
        let mut reader = Self {
            connection,
            index,
            words: index.words(),
            count: 0,
            documents,
            worn: dead > 0,
            pending: HashMap::new(),
            waiting: BTreeMap::new(),
            versions: None,
        };
        reader.read_pending()?;
        if !reader.ends_alike()? {
            return Ok(None);
        }
        let of_pending: i64 = reader.pending.values().map(|known| -i64::from(*known)).sum();
        let waiting = reader.count as i64;
        reader.count = u64::try_from(documents + of_pending + waiting).unwrap_or_default();
        Ok(Some(reader))
    }

    /// Reads the rows that wait, and their words.
    fn read_pending(&mut self) -> rusqlite::Result<()> {
        let sql = "SELECT DISTINCT p.row, k.row IS NOT NULL FROM main.rowferry_fulltext_pending AS p
                   LEFT JOIN main.rowferry_fulltext_rows AS k ON k.oid = p.oid AND k.row = p.row
                   WHERE p.oid = ?1 ORDER BY p.row";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([self.index.oid])?;
        let mut texts_of = self.connection.prepare(&self.index.texts_sql())?;
        while let Some(row) = rows.next()? {
            let (number, known): (i64, bool) = (row.get(0)?, row.get(1)?);
            self.pending.insert(number, known);
            let columns = self.index.columns.len();
            let Some(found) = texts_of.query_row([number], |row| texts(row, columns)).optional()? else { continue };
            self.count += 1;
            for (word, count) in kept::counted(&self.words, &found) {
                self.waiting.entry(word).or_default().push(Posting { row: number, count });
            }
        }
        Ok(())
    }

    /// The last row is the one that is known to be the last: rows that have got other numbers, as a text of the whole file that is
    /// read back gives them, are found out by that.
    fn ends_alike(&self) -> rusqlite::Result<bool> {
        let sql = format!(
            "SELECT max({}) FROM main.{}",
            self.index.identity,
            rowferry_dialect::lower::sqlite::create_table::quote(&self.index.table)
        );
        let last: Option<i64> = self.connection.query_row(&sql, [], |row| row.get(0))?;
        if last.is_some_and(|last| self.pending.contains_key(&last)) {
            return Ok(true);
        }
        let sql = "SELECT row FROM main.rowferry_fulltext_rows WHERE oid = ?1 ORDER BY row DESC";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([self.index.oid])?;
        while let Some(row) = rows.next()? {
            let known: i64 = row.get(0)?;
            if !self.pending.contains_key(&known) {
                return Ok(Some(known) == last);
            }
        }
        Ok(last.is_none())
    }

    /// The postings of lists that are of rows as they are now.
    fn current(&mut self, noted: Vec<Noted>) -> rusqlite::Result<Vec<Posting>> {
        let mut found = Vec::with_capacity(noted.len());
        if self.worn && self.versions.is_none() && noted.len() as i64 > self.documents / MANY {
            let mut statement =
                self.connection.prepare("SELECT row, version FROM main.rowferry_fulltext_rows WHERE oid = ?1")?;
            let rows = statement.query_map([self.index.oid], |row| Ok((row.get(0)?, row.get(1)?)))?;
            self.versions = Some(rows.collect::<rusqlite::Result<_>>()?);
        }
        let find = "SELECT version FROM main.rowferry_fulltext_rows WHERE oid = ?1 AND row = ?2";
        let mut find = self.connection.prepare_cached(find)?;
        for Noted { row, version, count } in noted {
            if self.pending.contains_key(&row) {
                continue;
            }
            let is_current = match &self.versions {
                _ if !self.worn => true,
                Some(versions) => versions.get(&row) == Some(&version),
                None => {
                    let now: Option<i64> = find.query_row(params![self.index.oid, row], |row| row.get(0)).optional()?;
                    now == Some(version)
                }
            };
            if is_current {
                found.push(Posting { row, count });
            }
        }
        Ok(found)
    }

    /// The lists of words whose keys begin so, or are so, by key.
    fn lists(
        &mut self,
        from: &[u8],
        whole: bool,
        is_it: impl Fn(&[u8]) -> bool,
    ) -> rusqlite::Result<BTreeMap<Vec<u8>, Vec<Posting>>> {
        // What is longer stands behind it.
        let ends = |word: &[u8]| if whole { word != from } else { !word.starts_with(from) };
        let mut noted: BTreeMap<Vec<u8>, Vec<Noted>> = BTreeMap::new();
        let sql = "SELECT word, postings FROM main.rowferry_fulltext_words WHERE oid = ?1 AND word >= ?2
                   ORDER BY word, part";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.index.oid, from])?;
        while let Some(row) = rows.next()? {
            let word = row.get_ref(0)?.as_blob()?;
            if ends(word) {
                break;
            }
            if !is_it(word) {
                continue;
            }
            let list = noted.entry(word.to_vec()).or_default();
            if postings::decode(row.get_ref(1)?.as_blob()?, list).is_none() {
                return Err(rusqlite::Error::InvalidQuery);
            }
        }
        drop(rows);
        drop(statement);
        let mut found = BTreeMap::new();
        for (word, list) in noted {
            found.insert(word, self.current(list)?);
        }
        for (word, list) in self.waiting.range(from.to_vec()..).take_while(|(word, _)| !ends(word)) {
            if is_it(word) {
                found.entry(word.clone()).or_default().extend(list.iter().copied());
            }
        }
        Ok(found)
    }
}

impl Documents for Reader<'_> {
    fn words(&self) -> &Words {
        &self.words
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.count)
    }

    fn with_word(&mut self, word: &str) -> Result<Vec<Posting>> {
        let (whole, spelled) = (self.words.whole(word), self.words.is_spelled());
        let lists = self.lists(&whole, !spelled, |_| true).map_err(|error| failed(&error))?;
        let mut found: Vec<Posting> = Vec::new();
        // Where a row has several spellings of one word, it has the word as often as all of them.
        let mut places: HashMap<i64, usize> = HashMap::new();
        let several = lists.len() > 1;
        for posting in lists.into_values().flatten() {
            match places.get(&posting.row).filter(|_| several) {
                Some(at) => found[*at].count += posting.count,
                None => {
                    if several {
                        places.insert(posting.row, found.len());
                    }
                    found.push(posting);
                }
            }
        }
        Ok(found)
    }

    fn with_beginning(&mut self, beginning: &str) -> Result<Vec<Vec<Posting>>> {
        let words = Arc::clone(&self.words);
        let lists = self.lists(&self.words.beginning(beginning), false, |key| words.begins(key, beginning));
        Ok(lists.map_err(|error| failed(&error))?.into_values().collect())
    }

    fn texts(&mut self, row: i64) -> Result<Vec<String>> {
        let columns = self.index.columns.len();
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare_cached(&self.index.texts_sql())?;
            let found = statement.query_row([row], |row| texts(row, columns)).optional()?;
            Ok(found.unwrap_or_default().into_iter().flatten().collect())
        };
        read().map_err(|error| failed(&error))
    }
}
