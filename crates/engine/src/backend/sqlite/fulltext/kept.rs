//! What keeps the words of an index: its triggers, and who takes in what they have noted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use rowferry_dialect::lower::sqlite::create_table::quote;
use rowferry_dialect::values::mysql::fulltext::words;
use rusqlite::{Connection, OptionalExtension as _, Result, params};

use super::postings::{self, Noted};
use super::{FullText, OPERATIONS, TABLES, content, exist, texts};
use crate::backend::Done;
use crate::backend::sqlite::handle::Handle;
use crate::backend::sqlite::statement::Failure;
use crate::backend::sqlite::store::Store;

/// Bytes from which on a list goes on in another part.
const PART: usize = 2_000;

/// Postings that are gathered before they are written.
const AT_ONCE: usize = 500_000;

/// An index is made anew when this many times its documents have been noted again.
const WORN: i64 = 3;

/// An index that is never made anew for its few documents.
const FEW: i64 = 1_000;

impl Store<'_> {
    /// Makes the tables of full-text indexes, where they are not there.
    pub fn prepare_fulltext(&self) -> Done {
        Ok(self.bare().execute_batch(TABLES)?)
    }

    /// The indexes whose words are kept, with what they are kept by; `None` in a file that never had any.
    pub fn kept_fulltext(&self) -> Done<Option<Vec<(u32, String)>>> {
        if !exist(self.bare())? {
            return Ok(None);
        }
        let mut statement = self.bare().prepare_cached("SELECT oid, form FROM main.rowferry_fulltext")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Some(rows.collect::<Result<_>>()?))
    }

    /// What an index is kept by.
    pub fn fulltext_form(index: &FullText) -> String {
        index.form()
    }

    /// Keeps the words of an index from now on, with those of the rows that are there.
    pub fn keep_fulltext(&self, index: &FullText) -> Done {
        Ok(keep(self.bare(), index)?)
    }

    /// Keeps them no more.
    pub fn forget_fulltext(&self, oid: u32) -> Done {
        Ok(forget(self.bare(), oid)?)
    }

    /// Drops a trigger that notes rows.
    pub fn drop_fulltext_trigger(&self, name: &str) -> Done {
        Ok(self.bare().execute_batch(&format!("DROP TRIGGER IF EXISTS main.{}", quote(name)))?)
    }
}

impl Handle {
    /// Takes in the words of all rows anew.
    pub fn keep_words(&self, index: &FullText) -> std::result::Result<(), Failure> {
        Ok(keep(self.bare(), index)?)
    }

    /// Whether the words that are kept are those of the rows.
    pub fn has_words(&self, index: &FullText) -> std::result::Result<bool, Failure> {
        Ok(super::search::is_kept(self.bare(), index)? && has_rows(self.bare(), index)?)
    }

    /// Takes in the words of the rows that are noted, before a commit. `index` tells of an index by its object id.
    pub fn take_in_words(&self, index: impl Fn(u32) -> Option<FullText>) -> std::result::Result<(), Failure> {
        if self.take_pending() {
            take_in(self.bare(), index)?;
        }
        Ok(())
    }
}

/// What an index is, and how its words are kept now.
#[derive(Clone, Copy, Debug)]
struct State {
    documents: i64,
    dead: i64,
    version: i64,
}

fn state(connection: &Connection, oid: u32) -> Result<Option<State>> {
    let sql = "SELECT documents, dead, version FROM main.rowferry_fulltext WHERE oid = ?1";
    let read = |row: &rusqlite::Row<'_>| Ok(State { documents: row.get(0)?, dead: row.get(1)?, version: row.get(2)? });
    connection.prepare_cached(sql)?.query_row([oid], read).optional()
}

fn forget(connection: &Connection, oid: u32) -> Result<()> {
    for table in ["rowferry_fulltext", "rowferry_fulltext_rows", "rowferry_fulltext_words", super::PENDING] {
        connection.execute(&format!("DELETE FROM main.{table} WHERE oid = ?1"), [oid])?;
    }
    Ok(())
}

fn keep(connection: &Connection, index: &FullText) -> Result<()> {
    connection.execute_batch(TABLES)?;
    forget(connection, index.oid)?;
    let sql = "INSERT INTO main.rowferry_fulltext VALUES (?1, ?2, 0, 0, 0)";
    connection.execute(sql, params![index.oid, index.form()])?;
    for (name, operation) in FullText::triggers(index.oid).into_iter().zip(OPERATIONS) {
        let wanted = trigger(index, &name, operation);
        let find = "SELECT sql FROM main.sqlite_schema WHERE type = 'trigger' AND name = ?1";
        let there: Option<String> = connection.query_row(find, [&name], |row| row.get(0)).optional()?;
        // SQLite keeps it without its database.
        if there.is_some_and(|there| wanted.replacen("main.", "", 1) == there) {
            continue;
        }
        connection.execute_batch(&format!("DROP TRIGGER IF EXISTS main.{}", quote(&name)))?;
        connection.execute_batch(&wanted)?;
    }
    let sql = format!("SELECT {0} FROM main.{1} ORDER BY {0}", index.identity, quote(&index.table));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut taken = Taken::new(connection, index)?;
    while let Some(row) = rows.next()? {
        taken.row(row.get(0)?)?;
    }
    taken.end()
}

/// All rows are noted with the texts that they have, but for those that wait.
fn has_rows(connection: &Connection, index: &FullText) -> Result<bool> {
    let columns: Vec<String> =
        index.columns.iter().map(|column| format!("CAST(t.{} AS TEXT)", quote(column))).collect();
    let sql = format!(
        "SELECT {}, k.content FROM main.{} AS t
         LEFT JOIN main.rowferry_fulltext_rows AS k ON k.oid = ?1 AND k.row = t.{identity}
         WHERE t.{identity} NOT IN (SELECT row FROM main.rowferry_fulltext_pending WHERE oid = ?1)",
        columns.join(", "),
        quote(&index.table),
        identity = index.identity
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([index.oid])?;
    while let Some(row) = rows.next()? {
        let known: Option<i64> = row.get(columns.len())?;
        if known != Some(content(&texts(row, columns.len())?)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The statement of a trigger. It names no column, so that nothing that becomes of one concerns it.
fn trigger(index: &FullText, name: &str, operation: &str) -> String {
    let FullText { oid, identity, .. } = index;
    let note = |of: &str| format!("INSERT INTO {} VALUES ({oid}, {of}.{identity});", super::PENDING);
    let notes = match operation {
        "insert" => note("NEW"),
        "delete" => note("OLD"),
        _ => format!(
            "{} INSERT INTO {} SELECT {oid}, OLD.{identity} WHERE OLD.{identity} <> NEW.{identity};",
            note("NEW"),
            super::PENDING
        ),
    };
    format!("CREATE TRIGGER main.{} AFTER {operation} ON {} BEGIN {notes} END", quote(name), quote(&index.table))
}

fn take_in(connection: &Connection, index: impl Fn(u32) -> Option<FullText>) -> Result<()> {
    let sql = "SELECT DISTINCT oid, row FROM main.rowferry_fulltext_pending ORDER BY oid, row";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut noted: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        noted.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    drop(rows);
    drop(statement);
    for (oid, rows) in noted {
        let Some(index) = index(oid) else { continue };
        let Some(state) = state(connection, oid)? else { continue };
        if state.dead > FEW && state.dead > state.documents.saturating_mul(WORN) {
            keep(connection, &index)?;
            continue;
        }
        let mut taken = Taken::new(connection, &index)?;
        for row in rows {
            taken.row(row)?;
        }
        taken.end()?;
    }
    connection.execute("DELETE FROM main.rowferry_fulltext_pending", [])?;
    Ok(())
}

/// Rows whose words are being taken in.
struct Taken<'c> {
    connection: &'c Connection,
    index: &'c FullText,
    words: Arc<words::Words>,
    texts_sql: String,
    state: State,
    /// By word: the rows that have it, and how often.
    gathered: HashMap<Vec<u8>, Vec<(i64, u32)>>,
    postings: usize,
    /// Rows that have had words before.
    again: HashSet<i64>,
}

impl<'c> Taken<'c> {
    fn new(connection: &'c Connection, index: &'c FullText) -> Result<Self> {
        let mut state = state(connection, index.oid)?.unwrap_or(State { documents: 0, dead: 0, version: 0 });
        state.version += 1;
        Ok(Self {
            connection,
            index,
            words: index.words(),
            texts_sql: index.texts_sql(),
            state,
            gathered: HashMap::new(),
            postings: 0,
            again: HashSet::new(),
        })
    }

    fn row(&mut self, row: i64) -> Result<()> {
        let columns = self.index.columns.len();
        let mut statement = self.connection.prepare_cached(&self.texts_sql)?;
        let now = statement.query_row([row], |found| texts(found, columns)).optional()?;
        let find = "SELECT content FROM main.rowferry_fulltext_rows WHERE oid = ?1 AND row = ?2";
        let mut statement = self.connection.prepare_cached(find)?;
        let before: Option<i64> = statement.query_row(params![self.index.oid, row], |found| found.get(0)).optional()?;
        let content = now.as_deref().map(content);
        if before == content {
            return Ok(());
        }
        if before.is_some() {
            self.state.dead += 1;
            self.again.insert(row);
        }
        self.state.documents += i64::from(now.is_some()) - i64::from(before.is_some());
        let Some(now) = now else {
            let sql = "DELETE FROM main.rowferry_fulltext_rows WHERE oid = ?1 AND row = ?2";
            self.connection.prepare_cached(sql)?.execute(params![self.index.oid, row])?;
            return Ok(());
        };
        let sql = "INSERT INTO main.rowferry_fulltext_rows VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (oid, row) DO UPDATE SET version = excluded.version, content = excluded.content";
        self.connection.prepare_cached(sql)?.execute(params![self.index.oid, row, self.state.version, content])?;
        for (word, count) in counted(&self.words, &now) {
            self.gathered.entry(word).or_default().push((row, count));
            self.postings += 1;
        }
        if self.postings >= AT_ONCE { self.write() } else { Ok(()) }
    }

    /// Writes what has been gathered, word by word in their order.
    fn write(&mut self) -> Result<()> {
        self.postings = 0;
        let mut gathered: Vec<_> = std::mem::take(&mut self.gathered).into_iter().collect();
        gathered.sort_unstable();
        let oid = self.index.oid;
        let find = "SELECT part, postings FROM main.rowferry_fulltext_words WHERE oid = ?1 AND word = ?2
                    ORDER BY part DESC LIMIT 1";
        let mut find = self.connection.prepare_cached(find)?;
        let put = "INSERT INTO main.rowferry_fulltext_words VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (oid, word, part) DO UPDATE SET postings = excluded.postings";
        let mut put = self.connection.prepare_cached(put)?;
        for (word, rows) in gathered {
            let last: Option<(i64, Vec<u8>)> =
                find.query_row(params![oid, word], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let mut list = Vec::new();
            let mut part = match last {
                None => 1,
                Some((part, bytes)) if bytes.len() >= PART || postings::decode(&bytes, &mut list).is_none() => {
                    list.clear();
                    part + 1
                }
                Some((part, _)) => part,
            };
            // What such a row has had before is worth nothing.
            list.retain(|noted| noted.version == self.state.version || !self.again.contains(&noted.row));
            list.extend(rows.into_iter().map(|(row, count)| Noted { row, version: self.state.version, count }));
            let mut rest = list.as_slice();
            // A posting takes four bytes or a few more.
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(PART / 3));
                put.execute(params![oid, word, part, postings::encode(now)])?;
                (part, rest) = (part + 1, later);
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        self.write()?;
        let State { documents, dead, version } = self.state;
        let sql = "UPDATE main.rowferry_fulltext SET documents = ?2, dead = ?3, version = ?4 WHERE oid = ?1";
        self.connection.prepare_cached(sql)?.execute(params![self.index.oid, documents, dead, version])?;
        Ok(())
    }
}

/// The words of texts that are kept, each with how often it is there.
pub(super) fn counted(words: &words::Words, texts: &[Option<String>]) -> HashMap<Vec<u8>, u32> {
    let mut counts = HashMap::new();
    for word in texts.iter().flatten().flat_map(|text| words::of(text)).filter(|word| words.keeps(word)) {
        *counts.entry(words.kept(word)).or_insert(0) += 1;
    }
    counts
}
