//! Reads the changes that are kept, in the order of their commits.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rowferry_dialect::ir::Value;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::values::{Settings, json, timestamp};
use rowferry_dialect::{Condition, Error, Result, Type};
use rusqlite::Connection;
use serde_json::Value as Json;

use super::{capture, failed};
use crate::backend::sqlite::backup::open_to_read;
use crate::backend::sqlite::functions::write_json;
use crate::schema::Snapshot;

/// How many changes are read at once: nothing of the file is held while they are passed on.
const AT_ONCE: i64 = 1_000;

/// What was done to a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// It is new.
    Insert,
    /// It is another one now.
    Update,
    /// It is gone.
    Delete,
}

impl Operation {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// A change of a row. Rows and keys are JSON objects, their values as `row_to_json` has them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// Its number: greater than that of every change that was committed before.
    pub position: i64,
    /// What was done.
    pub operation: Operation,
    /// The table's schema; `None` for a table that is no more.
    pub schema: Option<String>,
    /// The table.
    pub table: String,
    /// The row's key, as it was before: its primary key, or its rowid where it has none.
    pub key: String,
    /// The row before.
    pub before: Option<String>,
    /// The row after.
    pub after: Option<String>,
    /// The transaction's number; `None` where another program than ours has written.
    pub transaction: Option<i64>,
    /// When it was committed, in ISO 8601 and UTC; of a change by another program, when it was made.
    pub time: String,
    /// A text of the row is not UTF-8: what is wrong in it stands as U+FFFD.
    pub damaged: bool,
}

/// What a file keeps.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Status {
    /// The tables whose changes are kept: their schemas and names.
    pub tables: Vec<(String, String)>,
    /// The oldest change that is kept.
    pub oldest: Option<i64>,
    /// The newest; 0 when there has been none.
    pub newest: i64,
    /// How many are kept.
    pub kept: i64,
}

/// Reads a file's changes; who writes is not kept from it.
#[derive(Debug)]
pub struct Feed {
    path: PathBuf,
    connection: Connection,
    snapshot: Snapshot,
    id: (u64, u64),
    /// SQLite's number of the file's content when it was last looked at.
    seen: Option<i64>,
}

struct Kept {
    position: i64,
    operation: String,
    table: String,
    row_id: Option<i64>,
    changed_at: i64,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    xid: Option<i64>,
    committed_at: Option<i64>,
}

impl Feed {
    /// Opens a file's changes.
    ///
    /// # Errors
    /// `58P01`, `XX001` and `58030` for a file that is not there, no database, or cannot be read; `55000` for one that keeps no
    /// changes.
    pub fn open(path: &Path) -> Result<Self> {
        crate::backend::check_file(path, &crate::Options::default())?;
        crate::backend::file_watch::check_log(path)?;
        let fail = |error: rusqlite::Error| failed(path, &error);
        let connection = open_to_read(path).map_err(fail)?;
        if !capture::exists(&connection).map_err(fail)? {
            let message = format!("\"{}\" keeps no changes", path.display());
            return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message)
                .hint("Begin with: rowferry changes FILE --enable TABLE"));
        }
        let id = id_of(path)?;
        let mut feed = Self { path: path.to_owned(), connection, snapshot: Snapshot::default(), id, seen: None };
        feed.in_snapshot(|_| Ok(()))?;
        Ok(feed)
    }

    /// What the file keeps.
    ///
    /// # Errors
    /// As [`Feed::open`].
    pub fn status(&mut self) -> Result<Status> {
        self.in_snapshot(|feed| {
            let fail = |error: rusqlite::Error| failed(&feed.path, &error);
            let captured = capture::captured(&feed.connection).map_err(fail)?;
            let mut tables: Vec<_> = captured.iter().map(|name| feed.name_of(name)).collect();
            tables.sort();
            // Apart: asked for both at once, SQLite reads the whole table.
            let sql = "SELECT (SELECT min(position) FROM rowferry_changes),
                              coalesce((SELECT max(position) FROM rowferry_changes), 0),
                              (SELECT kept FROM rowferry_change_limits)";
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Status { tables, oldest: row.get(0)?, newest: row.get(1)?, kept: row.get(2)? })
            };
            feed.connection.query_row(sql, [], row).map_err(fail)
        })
    }

    /// Whether something was committed since this was last asked. A file that was replaced is an error, as for a server.
    ///
    /// # Errors
    /// `58030` when the file is not the one that was opened.
    pub fn has_news(&mut self) -> Result<bool> {
        if id_of(&self.path)? != self.id {
            let message = format!("another file has taken the place of \"{}\"", self.path.display());
            return Err(Error::new(Condition::IoError, message));
        }
        let version = self.connection.query_row("PRAGMA data_version", [], |row| row.get(0));
        let version = version.map_err(|error| failed(&self.path, &error))?;
        Ok(self.seen.replace(version) != Some(version))
    }

    /// The changes behind a position, some at a time; none when there are no more. Those of other tables than the `wanted`
    /// ones are left out; `after` moves on nevertheless.
    ///
    /// # Errors
    /// `22023` for a position behind which changes are no longer kept, or that the file has not reached; else as
    /// [`Feed::open`].
    pub fn read(&mut self, after: &mut i64, wanted: &dyn Fn(&str, &str) -> bool) -> Result<Vec<Change>> {
        let from = *after;
        let kept = self.in_snapshot(|feed| feed.kept(from))?;
        if let Some(last) = kept.last() {
            *after = last.position;
        }
        let mut changes = Vec::new();
        for kept in kept {
            let (schema, table) = self.name_of(&kept.table);
            if wanted(&schema, &table) {
                changes.push(self.change(kept)?);
            }
        }
        Ok(changes)
    }

    /// The position of the newest change; 0 when there has been none.
    pub fn newest(&mut self) -> Result<i64> {
        self.status().map(|status| status.newest)
    }

    /// Reads one state of the file, with the schema of that state.
    fn in_snapshot<T>(&mut self, read: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let path = self.path.clone();
        let fail = |error: rusqlite::Error| failed(&path, &error);
        self.connection.execute_batch("BEGIN").map_err(fail)?;
        let cookie = self.connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0));
        let result = cookie.map_err(fail).and_then(|cookie| {
            if cookie != self.snapshot.cookie || self.seen.is_none() {
                self.snapshot = crate::backend::sqlite::schema::load(&self.connection, "main").map_err(fail)?;
            }
            read(self)
        });
        self.connection.execute_batch("COMMIT").map_err(fail)?;
        result
    }

    fn kept(&self, after: i64) -> Result<Vec<Kept>> {
        let fail = |error: rusqlite::Error| failed(&self.path, &error);
        let bounds =
            "SELECT (SELECT min(position) FROM rowferry_changes), (SELECT max(position) FROM rowferry_changes)";
        let bounds = self.connection.query_row(bounds, [], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fail)?;
        let (oldest, newest): (Option<i64>, Option<i64>) = bounds;
        let invalid = |message| Err(Error::new(Condition::InvalidParameterValue, message));
        if oldest.is_some_and(|oldest| after.saturating_add(1) < oldest) && after > 0 {
            let oldest = oldest.unwrap_or_default();
            return invalid(format!(
                "changes behind position {after} are no longer kept: the oldest has position {oldest}"
            ));
        }
        if after > newest.unwrap_or_default() {
            let newest = newest.unwrap_or_default();
            return invalid(format!("there is no position {after}: the newest change has position {newest}"));
        }
        let sql = "SELECT c.position, c.operation, c.table_name, c.row_id, c.changed_at, CAST(c.before AS BLOB),
                          CAST(c.after AS BLOB), t.xid, t.committed_at
                   FROM rowferry_changes AS c LEFT JOIN rowferry_change_commits AS t
                        ON t.last = (SELECT min(last) FROM rowferry_change_commits WHERE last >= c.position)
                           AND t.first <= c.position
                   WHERE c.position > ?1 ORDER BY c.position LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(fail)?;
        let rows = statement.query_map([after, AT_ONCE], |row| {
            Ok(Kept {
                position: row.get(0)?,
                operation: row.get(1)?,
                table: row.get(2)?,
                row_id: row.get(3)?,
                changed_at: row.get(4)?,
                before: row.get(5)?,
                after: row.get(6)?,
                xid: row.get(7)?,
                committed_at: row.get(8)?,
            })
        });
        rows.and_then(Iterator::collect).map_err(fail)
    }

    /// The schema and the name of a table, which may be no more.
    fn name_of(&self, physical: &str) -> (String, String) {
        match self.snapshot.relation_by_physical_name(physical) {
            Some(table) => (table.namespace.clone(), table.name.clone()),
            None => (String::new(), physical.to_owned()),
        }
    }

    fn change(&self, kept: Kept) -> Result<Change> {
        let table = self.snapshot.relation_by_physical_name(&kept.table).map(|table| &**table);
        let (schema, name) = self.name_of(&kept.table);
        let operation = match kept.operation.as_str() {
            "insert" => Operation::Insert,
            "update" => Operation::Update,
            "delete" => Operation::Delete,
            other => return Err(corrupt(kept.position, &format!("operation \"{other}\""))),
        };
        let mut damaged = false;
        let mut row = |bytes: Option<Vec<u8>>| -> Result<Option<Row>> {
            let Some(bytes) = bytes else { return Ok(None) };
            let text = String::from_utf8_lossy(&bytes);
            damaged |= matches!(text, std::borrow::Cow::Owned(_));
            Row::read(&text).map(Some).ok_or_else(|| corrupt(kept.position, "a row that is no JSON"))
        };
        let (before, after) = (row(kept.before)?, row(kept.after)?);
        let known = before.as_ref().or(after.as_ref());
        let key = known.map_or_else(|| "{}".to_owned(), |row| row.key(table, kept.row_id));
        let written = |row: Option<Row>| row.map(|row| row.written(table));
        let time = kept.committed_at.unwrap_or(kept.changed_at.saturating_mul(1_000));
        Ok(Change {
            position: kept.position,
            operation,
            schema: Some(schema).filter(|schema| !schema.is_empty()),
            table: name,
            key,
            before: written(before),
            after: written(after),
            transaction: kept.xid,
            time: iso(time),
            damaged,
        })
    }
}

/// A row as it was kept: its columns' stored values.
struct Row(Vec<(String, Value)>);

impl Row {
    fn read(text: &str) -> Option<Self> {
        let objects = match serde_json::from_str(text).ok()? {
            Json::Array(objects) => objects,
            object => vec![object],
        };
        let mut values = Vec::new();
        for object in objects {
            let Json::Object(members) = object else { return None };
            for (name, member) in members {
                values.push((name, stored(&member)?));
            }
        }
        Some(Self(values))
    }

    /// The columns that tell the row from others, as an object.
    fn key(&self, table: Option<&Relation>, row_id: Option<i64>) -> String {
        let primary =
            table.and_then(|table| table.indexes.iter().find(|index| index.primary).map(|index| (table, index)));
        let mut out = String::from("{");
        match primary {
            Some((table, index)) => {
                for column in index.columns.iter().flatten().filter_map(|at| table.columns.get(*at)) {
                    let value = self.0.iter().find(|(name, _)| *name == column.name).map(|(_, value)| value);
                    member(&mut out, &column.name, value.unwrap_or(&Value::Null), &column.ty);
                }
            }
            None => member(&mut out, "rowid", &row_id.map_or(Value::Null, Value::Integer), &Type::Int8),
        }
        out.push('}');
        out
    }

    fn written(&self, table: Option<&Relation>) -> String {
        let mut out = String::from("{");
        for (name, value) in &self.0 {
            let column = table.and_then(|table| table.columns.iter().find(|column| column.name == *name));
            member(&mut out, name, value, column.map_or(&Type::Text, |column| &column.ty));
        }
        out.push('}');
        out
    }
}

/// Appends a member. A value that its column's type does not allow, as SQLite's files may hold, stands as it is stored.
fn member(out: &mut String, name: &str, value: &Value, ty: &Type) {
    if out.len() > 1 {
        out.push(',');
    }
    json::quote(out, name);
    out.push(':');
    let at = out.len();
    let written = write_json(out, value, ty, &Settings::default());
    // Such a text stands as it was stored, which may have been done by anybody.
    let is_valid = || !matches!(ty, Type::Json | Type::Jsonb) || serde_json::from_str::<Json>(&out[at..]).is_ok();
    if written.is_ok() && is_valid() {
        return;
    }
    out.truncate(at);
    let plain = match value {
        Value::Null => Json::Null,
        Value::Integer(number) => (*number).into(),
        Value::Real(number) => {
            serde_json::Number::from_f64(*number).map_or_else(|| number.to_string().into(), Json::Number)
        }
        Value::Text(text) => text.as_str().into(),
        Value::Blob(bytes) => {
            format!("\\x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()).into()
        }
    };
    out.push_str(&plain.to_string());
}

/// A value as triggers have written it down.
fn stored(member: &Json) -> Option<Value> {
    Some(match member {
        Json::Null => Value::Null,
        Json::Number(number) => Value::Integer(number.as_i64()?),
        Json::String(text) => Value::Text(text.clone()),
        Json::Object(one) => match one.iter().next()? {
            (kind, Json::String(digits)) if kind == "real" => Value::Real(digits.parse().ok()?),
            (kind, Json::String(digits)) if kind == "blob" => Value::Blob(bytes(digits)?),
            _ => return None,
        },
        Json::Bool(_) | Json::Array(_) => return None,
    })
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Microseconds since 1970 as ISO 8601.
fn iso(micros: i64) -> String {
    let text = timestamp::to_stored(micros).unwrap_or_default();
    format!("{}Z", text.replacen(' ', "T", 1))
}

fn corrupt(position: i64, what: &str) -> Error {
    Error::new(Condition::DataCorrupted, format!("the change at position {position} has {what}"))
}

fn id_of(path: &Path) -> Result<(u64, u64)> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok((metadata.dev(), metadata.ino())),
        Err(error) => Err(Error::new(Condition::IoError, format!("\"{}\": {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_values_come_back_exactly() {
        let row = Row::read(
            r#"[{"a":1,"b":"x\u0000y","c":{"real":"0.10000000000000001"},"d":{"blob":"00FF"}},{"e":null,"f":{"real":"-Inf"}}]"#,
        );
        let values: Vec<Value> = row.unwrap().0.into_iter().map(|(_, value)| value).collect();
        assert_eq!(
            values,
            [
                Value::Integer(1),
                Value::Text("x\0y".into()),
                Value::Real(0.1),
                Value::Blob(vec![0, 255]),
                Value::Null,
                Value::Real(f64::NEG_INFINITY)
            ]
        );
        assert!(Row::read("[1]").is_none() && Row::read("{\"a\":true}").is_none());
    }

    #[test]
    fn times_are_iso_8601() {
        assert_eq!(iso(1_700_000_000_123_456), "2023-11-14T22:13:20.123456Z");
    }
}
