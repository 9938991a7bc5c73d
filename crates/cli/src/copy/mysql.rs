//! MySQL and MariaDB: the information schema, SELECT as text, INSERT of many rows.

use std::collections::BTreeMap;

use rowferry_client::Url;
use rowferry_client::mysql::{Config, Connection, Error};

use super::ddl::{Flavour, literal, quoted};
use super::model::{Check, Column, Default, ForeignKey, Index, Key, Kind, Schema, Table, Type};
use super::peer::{Each, Peer, Trouble, told, transport};
use super::postgres::to_hex;
use super::row::Row;
use crate::Failure;
use crate::stop::Stop;

/// An INSERT has about so many bytes, or as many as the server takes.
const PIECE: usize = 1024 * 1024;

pub(super) struct MySql {
    connection: Connection,
    is_mariadb: bool,
    /// Bytes of an INSERT.
    piece: usize,
    /// `INSERT INTO … VALUES `.
    head: Vec<u8>,
    types: Vec<Type>,
    insert: Vec<u8>,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Transport(error) => transport(&error),
            Error::Protocol(rowferry_wire_mysql::client::Failure::Closed) => Self::Lost(error.to_string()),
            Error::Server(error) => {
                let message = format!("{} ({}, SQLSTATE {})", error.message, error.code, error.sqlstate);
                // The server shuts down; the session was killed.
                // Or of those that hinder each other one goes back, and can go again.
                if matches!(error.code, 1053 | 1927 | 1152 | 1205 | 1213) {
                    Self::Lost(message)
                } else {
                    Failure::new(message).into()
                }
            }
            other => Failure::new(other.to_string()).into(),
        }
    }
}

impl MySql {
    pub(super) fn open(url: &Url, stop: &Stop) -> Result<Self, Trouble> {
        if url.database.is_empty() {
            return Err(Failure::new("the URL names no database").hint("write mysql://user@host/database").into());
        }
        let config = Config::from_url(url)?;
        let mut connection = Connection::connect(&config)?;
        let stop = stop.clone();
        connection.set_keep_waiting(Box::new(move || !stop.asked()));
        let is_mariadb = connection.server_version().contains("MariaDB");
        let mut peer =
            Self { connection, is_mariadb, piece: PIECE, head: Vec::new(), types: Vec::new(), insert: Vec::new() };
        // What does not fit is an error, zero is a number, and foreign keys are looked at when they are made.
        peer.run(
            "SET NAMES utf8mb4, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION', \
             SESSION time_zone = '+00:00', SESSION foreign_key_checks = 0, \
             SESSION net_write_timeout = 3600, SESSION wait_timeout = 86400",
        )?;
        let most = peer.ask("SELECT @@max_allowed_packet")?;
        let most: usize = cell(&most[0], 0).parse().unwrap_or(PIECE);
        peer.piece = PIECE.min(most / 2);
        Ok(peer)
    }

    fn flush(&mut self) -> Result<(), Trouble> {
        if self.insert.len() > self.head.len() {
            self.connection.query_rows::<Trouble>(&self.insert, |_| Ok(()))?;
        }
        self.insert.clear();
        Ok(())
    }

    fn columns(&mut self, schema: &mut Schema, places: &BTreeMap<String, usize>) -> Result<(), Trouble> {
        // MariaDB keeps JSON as text with a check.
        let mut documents = Vec::new();
        if self.is_mariadb {
            let sql = "SELECT TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS \
                       WHERE CONSTRAINT_SCHEMA = DATABASE() AND CHECK_CLAUSE LIKE 'json\\_valid(%'";
            for row in self.ask(sql)? {
                documents.push((cell(&row, 0).to_owned(), cell(&row, 1).replace('`', "")));
            }
        }
        let sql = "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, \
                   CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, GENERATION_EXPRESSION, \
                   COLUMN_COMMENT \
                   FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION";
        for row in self.ask(sql)? {
            let Some(&at) = places.get(cell(&row, 0)) else { continue };
            let table = &mut schema.tables[at];
            let name = cell(&row, 1).to_owned();
            let (data, words, extra) = (cell(&row, 2), cell(&row, 3), cell(&row, 6));
            let number = |at: usize| cell(&row, at).parse::<u32>().unwrap_or(0);
            let unsigned = words.contains("unsigned");
            let is_document = documents.contains(&(table.name.clone(), format!("json_valid({name})")));
            let ty = match data.to_ascii_lowercase().as_str() {
                "tinyint" if words.starts_with("tinyint(1)") && !unsigned => Type::Bool,
                "tinyint" | "year" => Type::Int(2),
                "smallint" if !unsigned => Type::Int(2),
                "smallint" | "mediumint" => Type::Int(4),
                "int" | "integer" if !unsigned => Type::Int(4),
                "int" | "integer" => Type::Int(8),
                "bigint" if !unsigned => Type::Int(8),
                "bigint" => Type::Decimal(Some((20, 0))),
                "decimal" => Type::Decimal(Some((number(8), number(9)))),
                "float" => Type::Float4,
                "double" => Type::Float8,
                "char" => Type::Char(number(7)),
                "varchar" => Type::VarChar(number(7)),
                "longtext" if is_document => Type::Json,
                "tinytext" | "text" | "mediumtext" | "longtext" => Type::Text,
                "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" | "bit" => Type::Bytes,
                "date" => Type::Date,
                "time" => Type::Time(number(10) as u8),
                "datetime" => Type::Timestamp(number(10) as u8),
                "timestamp" => Type::TimestampTz(number(10) as u8),
                "json" => Type::Json,
                "uuid" => Type::Uuid,
                "enum" | "set" | "inet4" | "inet6" => Type::Own,
                other => {
                    table.refused = Some(format!("column {name} of {} is {other}, which is not copied", table.name));
                    Type::Own
                }
            };
            let is_generated = !cell(&row, 11).is_empty();
            if is_generated {
                table.left_out.push(format!("how column {name} is generated: its values are copied"));
            }
            let mut value = None;
            if extra.contains("auto_increment") {
                value = Some(Default::Identity);
            } else if let (Some(expression), false) = (row[5].as_deref(), is_generated) {
                value = self.default_of(expression, extra, &ty);
                if value.is_none() && !expression.eq_ignore_ascii_case("null") {
                    table.left_out.push(format!("the default of column {name}: {expression}"));
                }
            }
            if extra.contains("on update") {
                table.left_out.push(format!("ON UPDATE of column {name}"));
            }
            if !cell(&row, 12).is_empty() {
                table.left_out.push(format!("the comment on column {name}"));
            }
            let not_null = cell(&row, 4) == "NO";
            let words = if is_document { "json".into() } else { words.to_owned() };
            table.columns.push(Column { name, ty, words, not_null, default: value });
        }
        Ok(())
    }

    /// MariaDB shows defaults as expressions, MySQL constants as their text.
    fn default_of(&self, expression: &str, extra: &str, ty: &Type) -> Option<Default> {
        let lower = expression.to_ascii_lowercase();
        if lower.starts_with("current_timestamp") || lower.starts_with("now(") {
            return Some(Default::Now);
        }
        if matches!(lower.trim_matches(['(', ')']), "curdate" | "current_date") {
            return Some(Default::Today);
        }
        let is_expression =
            if self.is_mariadb { !expression.starts_with('\'') } else { extra.contains("DEFAULT_GENERATED") };
        let is_number = super::values::plain_decimal(expression).is_some();
        match ty {
            Type::Bool | Type::Int(_) | Type::Decimal(_) | Type::Float4 | Type::Float8 if is_number => {
                Some(Default::Number(expression.to_owned()))
            }
            _ if is_expression => None,
            _ if self.is_mariadb => {
                let inner = expression.strip_prefix('\'')?.strip_suffix('\'')?;
                Some(Default::Text(inner.replace("''", "'").replace("\\\\", "\\")))
            }
            Type::Bytes => None,
            _ => Some(Default::Text(expression.to_owned())),
        }
    }

    fn keys(&mut self, schema: &mut Schema, places: &BTreeMap<String, usize>) -> Result<(), Trouble> {
        let sql = "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, COLLATION, SUB_PART, INDEX_TYPE \
                   FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() \
                   ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX";
        let mut found: Vec<(usize, Index, bool)> = Vec::new();
        for row in self.ask(sql)? {
            let Some(&at) = places.get(cell(&row, 0)) else { continue };
            let name = cell(&row, 1);
            if found.last().is_none_or(|(table, index, _)| *table != at || index.name != name) {
                let unique = cell(&row, 2) == "0";
                found.push((at, Index { name: name.to_owned(), columns: Vec::new(), unique }, true));
            }
            let Some((_, index, whole)) = found.last_mut() else { continue };
            match schema.tables[at].place(cell(&row, 3)) {
                Some(place) => index.columns.push((place, cell(&row, 4) == "D")),
                None => *whole = false,
            }
            // Of the beginnings of texts an index is made, not a key.
            *whole &= matches!(cell(&row, 6), "BTREE" | "HASH") && (cell(&row, 5).is_empty() || !index.unique);
        }
        for (at, index, whole) in found {
            let table = &mut schema.tables[at];
            let columns = || index.columns.iter().map(|(place, _)| *place).collect();
            if !whole {
                table
                    .left_out
                    .push(format!("index {}: it is of expressions, of parts, or of another method", index.name));
            } else if index.name == "PRIMARY" {
                table.primary = Some(Key { name: String::new(), columns: columns() });
            } else if index.unique {
                table.uniques.push(Key { name: index.name.clone(), columns: columns() });
            } else {
                table.indexes.push(index);
            }
        }
        let sql = "SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, \
                   r.DELETE_RULE, r.UPDATE_RULE FROM information_schema.KEY_COLUMN_USAGE k \
                   JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA \
                   AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME \
                   WHERE k.TABLE_SCHEMA = DATABASE() AND k.REFERENCED_TABLE_SCHEMA = DATABASE() \
                   ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION";
        for row in self.ask(sql)? {
            let Some(&at) = places.get(cell(&row, 0)) else { continue };
            let table = &mut schema.tables[at];
            let Some(place) = table.place(cell(&row, 2)) else { continue };
            let name = cell(&row, 1);
            let action =
                |rule: &str| if rule == "NO ACTION" || rule == "RESTRICT" { String::new() } else { rule.to_owned() };
            if table.foreign.last().is_none_or(|foreign| foreign.name != name) {
                table.foreign.push(ForeignKey {
                    name: name.to_owned(),
                    columns: Vec::new(),
                    target: cell(&row, 3).to_owned(),
                    target_columns: Vec::new(),
                    on_delete: action(cell(&row, 5)),
                    on_update: action(cell(&row, 6)),
                });
            }
            if let Some(foreign) = table.foreign.last_mut() {
                foreign.columns.push(place);
                foreign.target_columns.push(cell(&row, 4).to_owned());
            }
        }
        // The index that a foreign key needs is made with it.
        for table in &mut schema.tables {
            let keys: Vec<Vec<usize>> = table.foreign.iter().map(|foreign| foreign.columns.clone()).collect();
            table.indexes.retain(|index| {
                let columns: Vec<usize> = index.columns.iter().map(|(place, _)| *place).collect();
                !(keys.contains(&columns) && table.foreign.iter().any(|foreign| foreign.name == index.name))
            });
        }
        Ok(())
    }

    fn checks(&mut self, schema: &mut Schema, places: &BTreeMap<String, usize>) -> Result<(), Trouble> {
        let sql = if self.is_mariadb {
            "SELECT TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS \
             WHERE CONSTRAINT_SCHEMA = DATABASE() AND CHECK_CLAUSE NOT LIKE 'json\\_valid(%'"
        } else {
            "SELECT t.TABLE_NAME, c.CONSTRAINT_NAME, c.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS c \
             JOIN information_schema.TABLE_CONSTRAINTS t ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA \
             AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME WHERE c.CONSTRAINT_SCHEMA = DATABASE()"
        };
        for row in self.ask(sql)? {
            let Some(&at) = places.get(cell(&row, 0)) else { continue };
            let check = Check { name: cell(&row, 1).to_owned(), words: cell(&row, 2).to_owned() };
            schema.tables[at].checks.push(check);
        }
        Ok(())
    }
}

/// The text of a cell; empty for NULL.
fn cell(row: &[Option<String>], at: usize) -> &str {
    row.get(at).and_then(Option::as_deref).unwrap_or_default()
}

impl Drop for MySql {
    fn drop(&mut self) {
        // One that is lost needs none.
        let _ = self.connection.say_goodbye();
    }
}

impl Peer for MySql {
    fn schema(&mut self) -> Result<Schema, Trouble> {
        let mut schema = Schema::default();
        let mut places = BTreeMap::new();
        let sql = "SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
                   ORDER BY TABLE_NAME";
        for row in self.ask(sql)? {
            let name = cell(&row, 0).to_owned();
            match cell(&row, 1) {
                "BASE TABLE" => {
                    places.insert(name.clone(), schema.tables.len());
                    let mut table = Table { name, ..Table::default() };
                    if !cell(&row, 2).is_empty() {
                        table.left_out.push("its comment".into());
                    }
                    schema.tables.push(table);
                }
                "SEQUENCE" => schema.others.push(("sequence".into(), name)),
                _ => schema.others.push(("view".into(), name)),
            }
        }
        self.columns(&mut schema, &places)?;
        self.keys(&mut schema, &places)?;
        self.checks(&mut schema, &places)?;
        for (kind, sql) in [
            ("routine", "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()"),
            ("trigger", "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()"),
            ("event", "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE()"),
        ] {
            for row in self.ask(sql)? {
                schema.others.push((kind.into(), cell(&row, 0).to_owned()));
            }
        }
        Ok(schema)
    }

    fn flavour(&mut self) -> Result<Flavour, Trouble> {
        // Texts are equal when all of their letters are, as elsewhere, blanks at the end included.
        let collation = if self.is_mariadb { "utf8mb4_nopad_bin" } else { "utf8mb4_0900_bin" };
        let table_options = format!(" ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE {collation}");
        Ok(Flavour { table_options })
    }

    fn identity(&mut self) -> Option<String> {
        told(self.ask("SELECT @@hostname, @@port, @@datadir, DATABASE()"))
    }

    fn run(&mut self, sql: &str) -> Result<(), Trouble> {
        self.connection.query_rows::<Trouble>(sql.as_bytes(), |_| Ok(())).map(drop)
    }

    fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Trouble> {
        let mut rows = Vec::new();
        self.connection.query_rows::<Trouble>(sql.as_bytes(), |cells| {
            rows.push(cells.iter().map(|cell| cell.map(|text| String::from_utf8_lossy(text).into_owned())).collect());
            Ok(())
        })?;
        Ok(rows)
    }

    fn read(&mut self, sql: &str, _: &[Type], each: Each<'_>) -> Result<(), Trouble> {
        let mut row = Row::default();
        self.connection.query_rows(sql.as_bytes(), |cells| {
            row.clear();
            cells.iter().for_each(|cell| row.push(*cell));
            each(&row)
        })?;
        Ok(())
    }

    fn begin(&mut self, table: &str, columns: &[(String, Type)]) -> Result<(), Trouble> {
        let engine = self.ask(&format!(
            "SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {}",
            literal(Kind::MySql, table)
        ))?;
        if let Some(engine) = engine.first().map(|row| cell(row, 0)).filter(|engine| *engine != "InnoDB") {
            return Err(Failure::new(format!("table {table} is kept by {engine}, which has no transactions")).into());
        }
        self.run("START TRANSACTION")?;
        let names: Vec<String> = columns.iter().map(|(name, _)| quoted(Kind::MySql, name)).collect();
        self.head = format!("INSERT INTO {} ({}) VALUES ", quoted(Kind::MySql, table), names.join(", ")).into_bytes();
        self.types = columns.iter().map(|(_, ty)| ty.clone()).collect();
        self.insert.clear();
        Ok(())
    }

    fn put(&mut self, row: &Row) -> Result<(), Trouble> {
        if self.insert.is_empty() {
            self.insert.extend_from_slice(&self.head);
        } else {
            self.insert.push(b',');
        }
        let out = &mut self.insert;
        out.push(b'(');
        for (at, (value, ty)) in row.iter().zip(&self.types).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            match (value, ty) {
                (None, _) => out.extend(b"NULL"),
                (Some(value), Type::Bool) => out.push(if value == b"t" { b'1' } else { b'0' }),
                (Some(value), Type::Float4) => put_float(value, out),
                (Some(value), Type::Int(_) | Type::Decimal(_) | Type::Float8) => out.extend(value),
                (Some(bytes), Type::Bytes) => {
                    out.extend(b"x'");
                    to_hex(bytes, out);
                    out.push(b'\'');
                }
                (Some(value), Type::TimestampTz(_)) => {
                    put_text(value.strip_suffix(b"+00").unwrap_or(value), out);
                }
                (Some(value), _) => put_text(value, out),
            }
        }
        out.push(b')');
        if out.len() >= self.piece { self.flush() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), Trouble> {
        self.flush()
    }

    fn commit(&mut self) -> Result<(), Trouble> {
        self.run("COMMIT")
    }

    fn keep_moment(&mut self, tables: &[&str]) -> Result<(), Trouble> {
        let engines = self.ask(
            "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME",
        )?;
        let others: Vec<String> = engines
            .iter()
            .filter(|row| tables.contains(&cell(row, 0)) && !cell(row, 1).eq_ignore_ascii_case("InnoDB"))
            .map(|row| format!("table {} is kept by {}", cell(row, 0), cell(row, 1)))
            .collect();
        if !others.is_empty() {
            return Err(Failure::new(format!("{}, and snapshots are InnoDB's", others.join(", "))).into());
        }
        self.run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        self.run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")?;
        // What has been read keeps its definition until the end; a table that has got another one since is refused here.
        for table in tables {
            self.run(&format!("SELECT 1 FROM {} LIMIT 1", quoted(Kind::MySql, table)))?;
        }
        Ok(())
    }

    fn share_moment(&mut self) -> Result<String, Trouble> {
        Err(Failure::new("connections to MySQL share no snapshot").into())
    }

    fn join_moment(&mut self, _: &str) -> Result<(), Trouble> {
        self.share_moment().map(drop)
    }

    fn number_on(&mut self, _: &str, _: &str) -> Result<(), Trouble> {
        // InnoDB counts on from what it is given.
        Ok(())
    }
}

/// With the digits of a double: rounded to those that tell it from its neighbours, the greatest one is out of range.
fn put_float(text: &[u8], out: &mut Vec<u8>) {
    match std::str::from_utf8(text).ok().and_then(|text| text.parse::<f32>().ok()) {
        Some(number) => out.extend(format!("{:e}", f64::from(number)).as_bytes()),
        None => out.extend(text),
    }
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    for &byte in text {
        match byte {
            b'\'' => out.extend(b"\\'"),
            b'\\' => out.extend(b"\\\\"),
            0 => out.extend(b"\\0"),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
}
