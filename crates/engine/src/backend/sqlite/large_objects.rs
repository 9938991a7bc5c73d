//! Large objects in a file: whose they are, and their bytes in pages.
//!
//! As in PostgreSQL, an object has gaps where nothing was written, and its size is the end of its last page; so a short last
//! page, an empty one even, says how long an object is.

use rowferry_dialect::access::{Acl, ObjectClass};
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::{OptionalExtension as _, params};

use super::connection::Connection;
use super::errors::translate;
use super::statement::Failure;
use crate::catalog::{Cell, Row};
use crate::interrupt::Interrupter;
use crate::large_objects::PAGE_BYTES;

/// Bits of a page's key that number it in its object; the object's id stands above.
const PAGE_BITS: u32 = 31;

/// The greatest size of an object: what PostgreSQL allows.
pub const MAX_BYTES: i64 = i32::MAX as i64 * PAGE_BYTES as i64;

/// The most that is read of an object at once: what a value can hold here.
const MAX_READ: i64 = 1_000_000_000;

/// The first object id that is given away, as in PostgreSQL.
const FIRST_OID: u32 = super::schema::metadata::FIRST_OID;

/// Rows that a catalog reads at once.
const CHUNK: i64 = 256;

/// The tables; they are made with the first object.
///
/// - `rowferry_large_objects`: each object with its owner, what is granted on it, and the comment on it;
/// - `rowferry_large_object_pages`: its bytes, `PAGE_BYTES` at a time. `page` is the object's id times 2^31, plus the number
///   of the page.
const TABLES: &str = "CREATE TABLE main.rowferry_large_objects (
    oid INTEGER PRIMARY KEY AUTOINCREMENT,
    owner INTEGER NOT NULL,
    privileges TEXT,
    comment TEXT
);
CREATE TABLE main.rowferry_large_object_pages (
    page INTEGER PRIMARY KEY,
    data BLOB NOT NULL
);
";

/// What is known of an object beside its bytes.
#[derive(Clone, Debug)]
pub struct LargeObject {
    /// Its owner.
    pub owner: u32,
    /// What has been granted on it; what it was born with where nothing has.
    pub privileges: Acl,
    /// The same as it stands in the catalog: nothing where nothing was granted.
    pub stored: Option<Acl>,
    /// What was said of it.
    pub comment: Option<String>,
}

/// The large objects of a file, through a handle that a statement may be running on.
#[derive(Clone, Copy)]
pub struct LargeObjects<'c> {
    connection: &'c rusqlite::Connection,
    interrupter: &'c Interrupter,
}

impl<'c> LargeObjects<'c> {
    pub fn new(connection: Connection<'c>, interrupter: &'c Interrupter) -> Self {
        Self { connection: connection.bound(), interrupter }
    }

    fn checked<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|error| translate(&Failure::from(error), self.interrupter, None))
    }

    /// True when the file has had any.
    fn exist(&self) -> Result<bool> {
        let sql = "SELECT 1 FROM main.sqlite_schema WHERE name = 'rowferry_large_objects'";
        self.checked(self.connection.prepare_cached(sql).and_then(|mut statement| statement.exists([])))
    }

    /// An object; `None` where there is none of this id.
    pub fn find(&self, oid: u32) -> Result<Option<LargeObject>> {
        if !self.exist()? {
            return Ok(None);
        }
        let sql = "SELECT owner, privileges, comment FROM main.rowferry_large_objects WHERE oid = ?1";
        let found = self.connection.prepare_cached(sql).and_then(|mut statement| {
            statement
                .query_row([oid], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?, row.get(2)?)))
                .optional()
        });
        Ok(self.checked(found)?.map(|(owner, list, comment)| {
            // A list that somebody has damaged grants nothing.
            let stored = list.map(|text| Acl::from_stored(&text).unwrap_or_default());
            let privileges = stored.clone().unwrap_or_else(|| Acl::of_new(ObjectClass::LargeObject, owner));
            LargeObject { owner, privileges, stored, comment }
        }))
    }

    /// A new, empty object; with 0 its id is chosen here.
    pub fn create(&self, oid: u32, owner: u32) -> Result<u32> {
        if !self.exist()? {
            self.checked(self.connection.execute_batch(TABLES))?;
        }
        let oid = if oid == 0 { self.next()? } else { oid };
        if self.find(oid)?.is_some() {
            let message = "duplicate key value violates unique constraint \"pg_largeobject_metadata_oid_index\"";
            return Err(Error::new(Condition::UniqueViolation, message)
                .detail(format!("Key (oid)=({oid}) already exists."))
                .table("pg_catalog", "pg_largeobject_metadata")
                .constraint("pg_largeobject_metadata_oid_index"));
        }
        let sql = "INSERT INTO main.rowferry_large_objects (oid, owner) VALUES (?1, ?2)";
        self.checked(self.connection.execute(sql, params![oid, owner]))?;
        Ok(oid)
    }

    /// An id that no object has had, as long as there are such; else one that none has.
    fn next(&self) -> Result<u32> {
        let last = "SELECT seq FROM main.sqlite_sequence WHERE name = 'rowferry_large_objects'";
        let last: Option<i64> = self.checked(self.connection.query_row(last, [], |row| row.get(0)).optional())?;
        let next = last.unwrap_or(0).saturating_add(1).max(FIRST_OID.into());
        if let Ok(next) = u32::try_from(next) {
            return Ok(next);
        }
        let gap = "SELECT candidate FROM (
            SELECT ?1 AS candidate UNION ALL SELECT oid + 1 FROM main.rowferry_large_objects WHERE oid >= ?1)
            WHERE NOT EXISTS (SELECT 1 FROM main.rowferry_large_objects WHERE oid = candidate) ORDER BY 1 LIMIT 1";
        let found = self.checked(self.connection.query_row(gap, [FIRST_OID], |row| row.get::<_, i64>(0)).optional())?;
        let full = || Error::new(Condition::ProgramLimitExceeded, "there is no object id left for a large object");
        found.and_then(|oid| u32::try_from(oid).ok()).ok_or_else(full)
    }

    /// The object and its bytes are gone; false when there was none.
    pub fn remove(&self, oid: u32) -> Result<bool> {
        if self.find(oid)?.is_none() {
            return Ok(false);
        }
        let pages = "DELETE FROM main.rowferry_large_object_pages WHERE page BETWEEN ?1 AND ?2";
        self.checked(self.connection.execute(pages, params![key(oid, 0), key(oid, LAST_PAGE)]))?;
        let object = "DELETE FROM main.rowferry_large_objects WHERE oid = ?1";
        self.checked(self.connection.execute(object, [oid]))?;
        Ok(true)
    }

    /// Another owner, with what is granted since then.
    pub fn set_owner(&self, oid: u32, owner: u32, privileges: Option<&Acl>) -> Result<()> {
        let sql = "UPDATE main.rowferry_large_objects SET owner = ?2, privileges = ?3 WHERE oid = ?1";
        self.checked(self.connection.execute(sql, params![oid, owner, privileges.map(Acl::stored)])).map(drop)
    }

    /// COMMENT ON LARGE OBJECT.
    pub fn set_comment(&self, oid: u32, comment: Option<&str>) -> Result<()> {
        let sql = "UPDATE main.rowferry_large_objects SET comment = ?2 WHERE oid = ?1";
        self.checked(self.connection.execute(sql, params![oid, comment])).map(drop)
    }

    /// How many objects a role owns, and the lists that name it.
    pub fn of_role(&self, role: u32) -> Result<Vec<(u32, LargeObject)>> {
        if !self.exist()? {
            return Ok(Vec::new());
        }
        // Lists name roles by number, amid others.
        let sql = "SELECT oid FROM main.rowferry_large_objects WHERE owner = ?1 OR privileges IS NOT NULL ORDER BY oid";
        let oids: rusqlite::Result<Vec<u32>> = self
            .connection
            .prepare(sql)
            .and_then(|mut statement| statement.query_map([role], |row| row.get(0))?.collect());
        let mut found = Vec::new();
        for oid in self.checked(oids)? {
            if let Some(object) = self.find(oid)?
                && (object.owner == role || object.privileges.roles().any(|named| named == role))
            {
                found.push((oid, object));
            }
        }
        Ok(found)
    }

    /// The size of an object, in bytes.
    pub fn size(&self, oid: u32) -> Result<i64> {
        if !self.exist()? {
            return Ok(0);
        }
        let sql = "SELECT page, length(data) FROM main.rowferry_large_object_pages WHERE page BETWEEN ?1 AND ?2
            ORDER BY page DESC LIMIT 1";
        let last = self.connection.prepare_cached(sql).and_then(|mut statement| {
            let range = params![key(oid, 0), key(oid, LAST_PAGE)];
            statement.query_row(range, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))).optional()
        });
        let Some((page, length)) = self.checked(last)? else { return Ok(0) };
        check_page(oid, number(page), length)?;
        Ok(number(page) * PAGE_BYTES as i64 + length)
    }

    /// Up to `length` bytes from a place on; nothing behind the end.
    ///
    /// # Errors
    /// `54000` for more than a value can hold.
    pub fn read(&self, oid: u32, offset: i64, length: i64) -> Result<Vec<u8>> {
        let length = length.min(self.size(oid)?.saturating_sub(offset)).max(0);
        if length > MAX_READ {
            return Err(Error::new(Condition::ProgramLimitExceeded, "large object read request is too large"));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        if bytes.is_empty() {
            return Ok(bytes);
        }
        let (first, last) = (offset / PAGE_BYTES as i64, (offset + length - 1) / PAGE_BYTES as i64);
        let sql = "SELECT page, data FROM main.rowferry_large_object_pages WHERE page BETWEEN ?1 AND ?2 ORDER BY page";
        let mut statement = self.checked(self.connection.prepare_cached(sql))?;
        let mut rows = self.checked(statement.query(params![key(oid, first), key(oid, last)]))?;
        while let Some(row) = self.checked(rows.next())? {
            let page = number(self.checked(row.get(0))?);
            let data = self.checked(row.get_ref(1))?;
            let data = data.as_bytes().map_err(|_| damaged(oid, page, -1))?;
            check_page(oid, page, data.len() as i64)?;
            // Where the page's bytes begin among those that are wanted; it may begin before them.
            let begin = page * PAGE_BYTES as i64 - offset;
            let skipped = usize::try_from(-begin).unwrap_or(0);
            let begin = usize::try_from(begin).unwrap_or(0);
            for (to, from) in bytes[begin..].iter_mut().zip(data.iter().skip(skipped)) {
                *to = *from;
            }
        }
        Ok(bytes)
    }

    /// Writes bytes at a place, which may be behind the end.
    ///
    /// # Errors
    /// `22023` when the object would be too long.
    pub fn write(&self, oid: u32, offset: i64, bytes: &[u8]) -> Result<()> {
        if offset.saturating_add(bytes.len() as i64) > MAX_BYTES {
            let message = format!("invalid large object write request size: {}", bytes.len());
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let (page, start) = (at / PAGE_BYTES as i64, (at % PAGE_BYTES as i64) as usize);
            let (now, later) = rest.split_at(rest.len().min(PAGE_BYTES - start));
            if now.len() == PAGE_BYTES {
                self.put(oid, page, now)?;
            } else {
                let mut data = self.page(oid, page)?.unwrap_or_default();
                data.resize(data.len().max(start + now.len()), 0);
                data[start..start + now.len()].copy_from_slice(now);
                self.put(oid, page, &data)?;
            }
            (at, rest) = (at + now.len() as i64, later);
        }
        Ok(())
    }

    /// Makes an object so long: shorter, or longer by a gap.
    pub fn truncate(&self, oid: u32, length: i64) -> Result<()> {
        let (page, end) = (length / PAGE_BYTES as i64, (length % PAGE_BYTES as i64) as usize);
        let mut data = self.page(oid, page)?.unwrap_or_default();
        data.resize(end, 0);
        let behind = "DELETE FROM main.rowferry_large_object_pages WHERE page BETWEEN ?1 AND ?2";
        if page < LAST_PAGE {
            self.checked(self.connection.execute(behind, params![key(oid, page + 1), key(oid, LAST_PAGE)]))?;
        }
        self.put(oid, page, &data)
    }

    fn page(&self, oid: u32, page: i64) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT data FROM main.rowferry_large_object_pages WHERE page = ?1";
        let found = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([key(oid, page)], |row| row.get::<_, Vec<u8>>(0)).optional());
        let found = self.checked(found)?;
        if let Some(data) = &found {
            check_page(oid, page, data.len() as i64)?;
        }
        Ok(found)
    }

    fn put(&self, oid: u32, page: i64, data: &[u8]) -> Result<()> {
        let sql = "INSERT INTO main.rowferry_large_object_pages (page, data) VALUES (?1, ?2)
            ON CONFLICT (page) DO UPDATE SET data = excluded.data";
        let done = self.connection.prepare_cached(sql).and_then(|mut put| put.execute(params![key(oid, page), data]));
        self.checked(done).map(drop)
    }

    /// Rows of `pg_largeobject`, of one object or all, behind a page: some at a time.
    pub fn pages(&self, only: Option<u32>, after: Option<(u32, i64)>) -> Result<Vec<Row>> {
        if !self.exist()? {
            return Ok(Vec::new());
        }
        let (first, last) = only.map_or((0, i64::MAX), |oid| (key(oid, 0), key(oid, LAST_PAGE)));
        let after = after.map_or(first, |(oid, page)| key(oid, page).saturating_add(1).max(first));
        let sql = "SELECT page, data FROM main.rowferry_large_object_pages WHERE page BETWEEN ?1 AND ?2
            ORDER BY page LIMIT ?3";
        let rows = self.connection.prepare_cached(sql).and_then(|mut statement| {
            let row = |row: &rusqlite::Row<'_>| {
                let (page, data): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
                Ok(vec![Cell::Integer(page >> PAGE_BITS), Cell::Integer(number(page)), Cell::from(data)])
            };
            statement.query_map(params![after, last, CHUNK], row)?.collect()
        });
        self.checked(rows)
    }

    /// The objects behind one, some at a time; one alone where it is asked for.
    pub fn objects(&self, only: Option<u32>, after: Option<u32>) -> Result<Vec<(u32, LargeObject)>> {
        if !self.exist()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT oid FROM main.rowferry_large_objects WHERE oid BETWEEN ?1 AND ?2 ORDER BY oid LIMIT ?3";
        let (first, last) = only.map_or((0, i64::MAX), |oid| (i64::from(oid), i64::from(oid)));
        let first = after.map_or(first, |oid| first.max(i64::from(oid) + 1));
        let oids: rusqlite::Result<Vec<u32>> = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_map(params![first, last, CHUNK], |row| row.get(0))?.collect());
        let mut found = Vec::new();
        for oid in self.checked(oids)? {
            found.extend(self.find(oid)?.map(|object| (oid, object)));
        }
        Ok(found)
    }
}

/// The number of the last page that an object can have.
const LAST_PAGE: i64 = (1 << PAGE_BITS) - 1;

fn key(oid: u32, page: i64) -> i64 {
    i64::from(oid) << PAGE_BITS | page & LAST_PAGE
}

fn number(key: i64) -> i64 {
    key & LAST_PAGE
}

fn check_page(oid: u32, page: i64, length: i64) -> Result<()> {
    if (0..=PAGE_BYTES as i64).contains(&length) { Ok(()) } else { Err(damaged(oid, page, length)) }
}

fn damaged(oid: u32, page: i64, length: i64) -> Error {
    let message = format!("pg_largeobject entry for OID {oid}, page {page} has invalid data field size {length}");
    Error::new(Condition::DataCorrupted, message)
}
