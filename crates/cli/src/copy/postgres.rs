//! PostgreSQL, and SQLite files through our own door: its catalogs, SELECT as text, COPY.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use rowferry_client::Url;
use rowferry_client::postgres::{Answers, Config, Connection, Error};
use rowferry_wire_pg::messages::{FieldDescription, Notice};

use super::ddl::{Flavour, literal, quoted};
use super::model::{Check, Column, Default, ForeignKey, Index, Key, Kind, Schema, Table, Type};
use super::peer::{Each, Peer, Trouble, told, transport};
use super::row::Row;
use crate::Failure;
use crate::stop::Stop;

/// Data of a COPY go out in pieces of about so many bytes.
const PIECE: usize = 256 * 1024;

pub(super) struct Postgres {
    connection: Connection,
    types: Vec<Type>,
    piece: Vec<u8>,
}

fn trouble(error: Error) -> Trouble {
    match error {
        Error::Transport(error) => transport(&error),
        Error::Protocol(failure) => match failure {
            rowferry_wire_pg::client::Failure::Closed => Trouble::Lost(failure.to_string()),
            rowferry_wire_pg::client::Failure::Refused(notice) => {
                let failure = Failure::new(format!("{} (SQLSTATE {})", notice.message, notice.sqlstate));
                // The server shuts down, or starts.
                if notice.sqlstate.starts_with("57P") { Trouble::Lost(failure.message) } else { failure.into() }
            }
            other => Failure::new(other.to_string()).into(),
        },
        Error::Server(notice) => {
            let mut message = format!("{} (SQLSTATE {})", notice.message, notice.sqlstate);
            for more in [&notice.detail, &notice.context].into_iter().flatten() {
                let _ = write!(message, "\n{more}");
            }
            // Of those that hinder each other one goes back, and can go again.
            if matches!(&*notice.sqlstate, "40001" | "40P01") {
                return Trouble::Lost(message);
            }
            Failure { hint: notice.hint.as_deref().map(str::to_owned), ..Failure::new(message) }.into()
        }
        other => Failure::new(other.to_string()).into(),
    }
}

impl Postgres {
    pub(super) fn open(url: &Url, stop: &Stop) -> Result<Self, Trouble> {
        let config = Config::from_url(url).map_err(trouble)?;
        let mut connection = Connection::connect(&config).map_err(trouble)?;
        let stop = stop.clone();
        connection.set_keep_waiting(Box::new(move || !stop.asked()));
        let mut peer = Self { connection, types: Vec::new(), piece: Vec::new() };
        // What a value's text is must not hang on who connects.
        for setting in [
            "DateStyle = 'ISO, YMD'",
            "TimeZone = 'UTC'",
            "IntervalStyle = 'postgres'",
            "extra_float_digits = 3",
            "bytea_output = 'hex'",
            "client_min_messages = 'error'",
            "statement_timeout = 0",
            // Rows that policies hide are an error, and not left out.
            "row_security = off",
            "standard_conforming_strings = on",
        ] {
            peer.run(&format!("SET {setting}"))?;
        }
        Ok(peer)
    }

    /// Begins a transaction that reads one snapshot, however long it has nothing to do meanwhile.
    fn begin_reading(&mut self) -> Result<(), Trouble> {
        // Which of them there are hangs on the server's version.
        self.run(
            "SELECT set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN \
             ('idle_in_transaction_session_timeout', 'transaction_timeout', 'idle_session_timeout', 'lock_timeout')",
        )?;
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }
}

/// Rows for somebody who may stop.
struct Reading<'a, 'b> {
    types: &'a [Type],
    row: Row,
    scratch: Vec<u8>,
    each: Each<'b>,
    trouble: Option<Trouble>,
}

impl Answers for Reading<'_, '_> {
    fn columns(&mut self, _: &[FieldDescription<'_>]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, cells: &mut dyn Iterator<Item = Option<&[u8]>>) -> io::Result<()> {
        self.row.clear();
        for (at, cell) in cells.enumerate() {
            match (cell, self.types.get(at)) {
                (Some(cell), Some(Type::Bytes)) => {
                    self.scratch.clear();
                    from_hex(cell.strip_prefix(b"\\x").unwrap_or(cell), &mut self.scratch);
                    self.row.push(Some(&self.scratch));
                }
                (cell, _) => self.row.push(cell),
            }
        }
        (self.each)(&self.row).map_err(|trouble| {
            self.trouble = Some(trouble);
            io::Error::other("stopped")
        })
    }

    fn complete(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn copy_data(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn notice(&mut self, _: &Notice<'_>) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn from_hex(digits: &[u8], out: &mut Vec<u8>) {
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    out.extend(digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])));
}

pub(super) fn to_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Appends a value of COPY's text format.
fn put_escaped(value: &[u8], out: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            _ => out.push(byte),
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // One that is lost needs none.
        let _ = self.connection.say_goodbye();
    }
}

impl Peer for Postgres {
    fn schema(&mut self) -> Result<Schema, Trouble> {
        Catalog { peer: self }.schema()
    }

    fn flavour(&mut self) -> Result<Flavour, Trouble> {
        Ok(Flavour::default())
    }

    fn identity(&mut self) -> Option<String> {
        told(self.ask("SELECT pg_postmaster_start_time(), current_database(), current_schema()"))
    }

    fn run(&mut self, sql: &str) -> Result<(), Trouble> {
        self.ask(sql).map(drop)
    }

    fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Trouble> {
        let mut rows = Vec::new();
        self.read(sql, &[], &mut |row| {
            rows.push(row.iter().map(|cell| cell.map(|text| String::from_utf8_lossy(text).into_owned())).collect());
            Ok(())
        })?;
        Ok(rows)
    }

    fn read(&mut self, sql: &str, types: &[Type], each: Each<'_>) -> Result<(), Trouble> {
        let mut reading = Reading { types, row: Row::default(), scratch: Vec::new(), each, trouble: None };
        let done = self.connection.query(sql, &mut reading);
        match (reading.trouble, done) {
            (Some(trouble), _) => Err(trouble),
            (None, done) => done.map_err(trouble),
        }
    }

    fn begin(&mut self, table: &str, columns: &[(String, Type)]) -> Result<(), Trouble> {
        self.run("BEGIN")?;
        self.types = columns.iter().map(|(_, ty)| ty.clone()).collect();
        self.piece.clear();
        let names: Vec<String> = columns.iter().map(|(name, _)| quoted(Kind::Postgres, name)).collect();
        let sql = format!("COPY {} ({}) FROM STDIN", quoted(Kind::Postgres, table), names.join(", "));
        self.connection.copy_in(&sql).map_err(trouble)
    }

    fn put(&mut self, row: &Row) -> Result<(), Trouble> {
        for (at, (value, ty)) in row.iter().zip(&self.types).enumerate() {
            if at > 0 {
                self.piece.push(b'\t');
            }
            match (value, ty) {
                (None, _) => self.piece.extend(b"\\N"),
                (Some(bytes), Type::Bytes) => {
                    self.piece.extend(b"\\\\x");
                    to_hex(bytes, &mut self.piece);
                }
                (Some(text), _) => put_escaped(text, &mut self.piece),
            }
        }
        self.piece.push(b'\n');
        if self.piece.len() >= PIECE {
            self.connection.put_copy_data(&self.piece).map_err(trouble)?;
            self.piece.clear();
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Trouble> {
        self.connection.put_copy_data(&self.piece).map_err(trouble)?;
        self.piece.clear();
        self.connection.end_copy().map_err(trouble)
    }

    fn commit(&mut self) -> Result<(), Trouble> {
        self.run("COMMIT")
    }

    fn keep_moment(&mut self, tables: &[&str]) -> Result<(), Trouble> {
        self.begin_reading()?;
        // Before the snapshot is taken: what TRUNCATE and ALTER TABLE do to a table is seen through any snapshot.
        let names: Vec<String> = tables.iter().map(|table| quoted(Kind::Postgres, table)).collect();
        if let Some(first) = names.first() {
            self.run(&format!("LOCK TABLE {} IN ACCESS SHARE MODE", names.join(", ")))?;
            self.run(&format!("SELECT 1 FROM {first} LIMIT 1"))?;
        }
        Ok(())
    }

    fn share_moment(&mut self) -> Result<String, Trouble> {
        let name = self.ask("SELECT pg_catalog.pg_export_snapshot()")?;
        Ok(name.first().map(|row| cell(row, 0)).unwrap_or_default().to_owned())
    }

    fn join_moment(&mut self, name: &str) -> Result<(), Trouble> {
        self.begin_reading()?;
        self.run(&format!("SET TRANSACTION SNAPSHOT {}", literal(Kind::Postgres, name)))
    }

    fn number_on(&mut self, table: &str, column: &str) -> Result<(), Trouble> {
        let (table, name) = (quoted(Kind::Postgres, table), quoted(Kind::Postgres, column));
        let (of, column) = (literal(Kind::Postgres, &table), literal(Kind::Postgres, column));
        let Some(sequence) = told(self.ask(&format!("SELECT pg_get_serial_sequence({of}, {column})")))
            .filter(|sequence| !sequence.is_empty())
        else {
            return Ok(());
        };
        // It may be further on than the rows that are left.
        self.run(&format!(
            "SELECT setval({}, m) FROM (SELECT max({name}) AS m FROM {table}) AS g WHERE m >= (SELECT last_value FROM {sequence})",
            literal(Kind::Postgres, &sequence),
        ))
    }
}

/// Reads the catalogs.
struct Catalog<'a> {
    peer: &'a mut Postgres,
}

/// The text of a cell; empty for NULL.
fn cell(row: &[Option<String>], at: usize) -> &str {
    row.get(at).and_then(Option::as_deref).unwrap_or_default()
}

/// Numbers of an array or an int2vector.
fn numbers(text: &str) -> Vec<i64> {
    text.trim_matches(['{', '}']).split([',', ' ']).filter_map(|word| word.parse().ok()).collect()
}

impl Catalog<'_> {
    fn schema(&mut self) -> Result<Schema, Trouble> {
        let mut schema = Schema::default();
        // Those that a plain name finds. Partitions are their table's rows.
        let sql = "SELECT c.oid, c.relname, c.relkind, c.relispartition, \
                   EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) FROM pg_catalog.pg_class c \
                   JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND pg_catalog.pg_table_is_visible(c.oid) \
                   AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND c.relpersistence <> 't' \
                   ORDER BY c.relname";
        let mut oids = BTreeMap::new();
        for row in self.peer.ask(sql)? {
            let (oid, name, kind) = (cell(&row, 0).to_owned(), cell(&row, 1).to_owned(), cell(&row, 2));
            match kind {
                "r" | "p" if cell(&row, 3) != "t" => {
                    oids.insert(oid, schema.tables.len());
                    let mut table = Table { name, ..Table::default() };
                    if kind == "p" {
                        table.left_out.push("its partitions: their rows are copied into one table".into());
                    } else if cell(&row, 4) == "t" {
                        table.has_heirs = true;
                        table.left_out.push("that others inherit from it: each table has its own rows".into());
                    }
                    schema.tables.push(table);
                }
                "r" | "p" => {}
                "v" => schema.others.push(("view".into(), name)),
                "m" => schema.others.push(("materialised view".into(), name)),
                "f" => schema.others.push(("foreign table".into(), name)),
                _ => schema.others.push(("sequence".into(), name)),
            }
        }
        let mut numbers = vec![BTreeMap::new(); schema.tables.len()];
        self.columns(&mut schema, &oids, &mut numbers)?;
        self.constraints(&mut schema, &oids, &numbers)?;
        self.indexes(&mut schema, &oids, &numbers)?;
        self.comments(&mut schema, &oids, &numbers)?;
        self.others(&mut schema)?;
        // Sequences of serial columns are made with them.
        let owned: Vec<String> = self
            .peer
            .ask(
                "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_depend d ON d.objid = c.oid \
                 WHERE c.relkind = 'S' AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0",
            )?
            .iter()
            .map(|row| cell(row, 0).to_owned())
            .collect();
        schema.others.retain(|(kind, name)| kind != "sequence" || !owned.contains(name));
        Ok(schema)
    }

    fn columns(
        &mut self,
        schema: &mut Schema,
        oids: &BTreeMap<String, usize>,
        numbers: &mut [BTreeMap<i64, usize>],
    ) -> Result<(), Trouble> {
        let sql = "SELECT a.attrelid, a.attnum, a.attname, a.attnotnull, a.attidentity, a.attgenerated, \
                   pg_catalog.pg_get_expr(d.adbin, d.adrelid), t.typname, t.typtype, \
                   pg_catalog.format_type(a.atttypid, a.atttypmod), a.atttypmod, n.nspname, b.typname, \
                   pg_catalog.format_type(t.typbasetype, t.typtypmod), t.typtypmod, e.typtype, en.nspname \
                   FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
                   JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
                   JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace \
                   LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype \
                   LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A' \
                   LEFT JOIN pg_catalog.pg_namespace en ON en.oid = e.typnamespace \
                   LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
                   WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p') \
                   AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY a.attrelid, a.attnum";
        for row in self.peer.ask(sql)? {
            let Some(&at) = oids.get(cell(&row, 0)) else { continue };
            let table = &mut schema.tables[at];
            let number: i64 = cell(&row, 1).parse().unwrap_or(0);
            let modifier = |at: usize| cell(&row, at).parse::<i64>().unwrap_or(-1);
            let name = cell(&row, 2).to_owned();
            let is_built_in =
                cell(&row, 11) == "pg_catalog" && !matches!(cell(&row, 16), s if !s.is_empty() && s != "pg_catalog");
            let (ty, words) = match cell(&row, 8) {
                "b" if is_built_in => (type_of(cell(&row, 7), modifier(10)), cell(&row, 9).to_owned()),
                "d" => {
                    table.left_out.push(format!("the domain of column {name}: it becomes its base type"));
                    (type_of(cell(&row, 12), modifier(14)), cell(&row, 13).to_owned())
                }
                // Ranges are built in, or they are not.
                "r" | "m" if is_built_in => (Type::Own, cell(&row, 9).to_owned()),
                _ => {
                    table.left_out.push(format!("the type {} of column {name}: it becomes text", cell(&row, 9)));
                    (Type::Own, String::new())
                }
            };
            let expression = cell(&row, 6);
            let mut value = None;
            if !cell(&row, 5).is_empty() {
                table.left_out.push(format!("how column {name} is generated: its values are copied"));
            } else if !cell(&row, 4).is_empty() || expression.starts_with("nextval(") {
                value = Some(Default::Identity);
            } else if !expression.is_empty() {
                value = default_of(expression);
                if value.is_none() && !expression.starts_with("NULL::") && expression != "NULL" {
                    table.left_out.push(format!("the default of column {name}: {expression}"));
                }
            }
            numbers[at].insert(number, table.columns.len());
            table.columns.push(Column { name, ty, words, not_null: cell(&row, 3) == "t", default: value });
        }
        Ok(())
    }

    fn constraints(
        &mut self,
        schema: &mut Schema,
        oids: &BTreeMap<String, usize>,
        places: &[BTreeMap<i64, usize>],
    ) -> Result<(), Trouble> {
        let sql = "SELECT c.conrelid, c.conname, c.contype, c.conkey, c.confrelid, c.confkey, c.confdeltype, \
                   c.confupdtype, pg_catalog.pg_get_constraintdef(c.oid) FROM pg_catalog.pg_constraint c \
                   WHERE c.contype IN ('p', 'u', 'f', 'c', 'x') ORDER BY c.conrelid, c.conname";
        for row in self.peer.ask(sql)? {
            let Some(&at) = oids.get(cell(&row, 0)) else { continue };
            let name = cell(&row, 1).to_owned();
            let columns: Vec<usize> =
                numbers(cell(&row, 3)).iter().filter_map(|number| places[at].get(number).copied()).collect();
            let action = |code: &str| match code {
                "c" => "CASCADE",
                "n" => "SET NULL",
                "r" => "RESTRICT",
                "d" => "SET DEFAULT",
                _ => "",
            };
            match cell(&row, 2) {
                "p" => schema.tables[at].primary = Some(Key { name, columns }),
                "u" => schema.tables[at].uniques.push(Key { name, columns }),
                "f" => {
                    let Some(&target) = oids.get(cell(&row, 4)) else {
                        schema.tables[at].left_out.push(format!("foreign key {name}: its table is not here"));
                        continue;
                    };
                    let names = numbers(cell(&row, 5))
                        .iter()
                        .filter_map(|number| places[target].get(number))
                        .map(|&place| schema.tables[target].columns[place].name.clone())
                        .collect();
                    let foreign = ForeignKey {
                        name,
                        columns,
                        target: schema.tables[target].name.clone(),
                        target_columns: names,
                        on_delete: action(cell(&row, 6)).into(),
                        on_update: action(cell(&row, 7)).into(),
                    };
                    schema.tables[at].foreign.push(foreign);
                }
                "c" => {
                    let words = cell(&row, 8);
                    let words = words.strip_prefix("CHECK (").and_then(|words| words.rsplit_once(')')).map(|(w, _)| w);
                    schema.tables[at].checks.push(Check { name, words: words.unwrap_or_default().to_owned() });
                }
                _ => schema.tables[at].left_out.push(format!("exclusion constraint {name}")),
            }
        }
        Ok(())
    }

    fn indexes(
        &mut self,
        schema: &mut Schema,
        oids: &BTreeMap<String, usize>,
        places: &[BTreeMap<i64, usize>],
    ) -> Result<(), Trouble> {
        let sql = "SELECT i.indrelid, c.relname, i.indisunique, i.indkey, i.indoption, \
                   i.indpred IS NULL AND i.indexprs IS NULL, i.indnkeyatts, a.amname FROM pg_catalog.pg_index i \
                   JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_am a ON a.oid = c.relam \
                   WHERE NOT i.indisprimary AND NOT EXISTS \
                   (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')) \
                   ORDER BY i.indrelid, c.relname";
        for row in self.peer.ask(sql)? {
            let Some(&at) = oids.get(cell(&row, 0)) else { continue };
            let table = &mut schema.tables[at];
            let name = cell(&row, 1).to_owned();
            let keys = numbers(cell(&row, 3));
            let count = cell(&row, 6).parse().unwrap_or(keys.len());
            let columns: Option<Vec<(usize, bool)>> = keys
                .iter()
                .zip(numbers(cell(&row, 4)))
                .take(count)
                .map(|(number, option)| Some((*places[at].get(number)?, option & 1 == 1)))
                .collect();
            match columns {
                Some(columns) if cell(&row, 5) == "t" && matches!(cell(&row, 7), "btree" | "hash") => {
                    table.indexes.push(Index { name, columns, unique: cell(&row, 2) == "t" });
                }
                _ => table
                    .left_out
                    .push(format!("index {name}: it is of expressions, of some rows, or of another method")),
            }
        }
        Ok(())
    }

    fn comments(
        &mut self,
        schema: &mut Schema,
        oids: &BTreeMap<String, usize>,
        places: &[BTreeMap<i64, usize>],
    ) -> Result<(), Trouble> {
        let sql = "SELECT d.objoid, d.objsubid FROM pg_catalog.pg_description d \
                   WHERE d.classoid = 'pg_catalog.pg_class'::regclass ORDER BY d.objoid, d.objsubid";
        for row in self.peer.ask(sql)? {
            let Some(&at) = oids.get(cell(&row, 0)) else { continue };
            let table = &mut schema.tables[at];
            let place = cell(&row, 1).parse().ok().and_then(|number: i64| places[at].get(&number));
            table.left_out.push(match place {
                Some(&place) => format!("the comment on column {}", table.columns[place].name),
                None => "its comment".into(),
            });
        }
        Ok(())
    }

    fn others(&mut self, schema: &mut Schema) -> Result<(), Trouble> {
        for (kind, sql) in [
            (
                "routine",
                "SELECT DISTINCT p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
                 WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND pg_catalog.pg_function_is_visible(p.oid) \
                 AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') ORDER BY 1",
            ),
            ("trigger", "SELECT t.tgname FROM pg_catalog.pg_trigger t WHERE NOT t.tgisinternal ORDER BY 1"),
            (
                "schema with its tables",
                "SELECT DISTINCT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
                 WHERE c.relkind IN ('r', 'p') AND NOT pg_catalog.pg_table_is_visible(c.oid) AND c.relpersistence <> 't' \
                 AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') ORDER BY 1",
            ),
        ] {
            for row in self.peer.ask(sql)? {
                schema.others.push((kind.into(), cell(&row, 0).to_owned()));
            }
        }
        Ok(())
    }
}

/// A built-in type by its name in `pg_type` and its modifier.
fn type_of(name: &str, modifier: i64) -> Type {
    let digits = || if modifier < 0 { 6 } else { modifier.min(6) as u8 };
    let length = || u32::try_from(modifier - 4).ok();
    match name {
        "bool" => Type::Bool,
        "int2" => Type::Int(2),
        "int4" => Type::Int(4),
        "int8" | "oid" => Type::Int(8),
        "numeric" if modifier < 4 => Type::Decimal(None),
        "numeric" => {
            let precision = ((modifier - 4) >> 16) & 0xffff;
            // Eleven bits with a sign.
            let scale = (((modifier - 4) & 0x7ff) ^ 0x400) - 0x400;
            let precision = if scale < 0 { precision - scale } else { precision.max(scale) };
            Type::Decimal(Some((precision as u32, scale.max(0) as u32)))
        }
        "float4" => Type::Float4,
        "float8" => Type::Float8,
        "bpchar" => length().map_or(Type::Text, Type::Char),
        "varchar" => length().map_or(Type::Text, Type::VarChar),
        "text" | "name" => Type::Text,
        "bytea" => Type::Bytes,
        "date" => Type::Date,
        "time" => Type::Time(digits()),
        "timestamp" => Type::Timestamp(digits()),
        "timestamptz" => Type::TimestampTz(digits()),
        "uuid" => Type::Uuid,
        "json" | "jsonb" => Type::Json,
        _ => Type::Own,
    }
}

/// A default that every kind can say.
fn default_of(expression: &str) -> Option<Default> {
    let mut words = expression.trim();
    while let Some(inner) = words.strip_prefix('(').and_then(|words| words.strip_suffix(')')) {
        words = inner;
    }
    match words.to_ascii_lowercase().as_str() {
        "current_timestamp" | "now()" | "localtimestamp" | "transaction_timestamp()" => return Some(Default::Now),
        "current_date" => return Some(Default::Today),
        "true" => return Some(Default::Bool(true)),
        "false" => return Some(Default::Bool(false)),
        _ => {}
    }
    if let Some(rest) = words.strip_prefix('\'') {
        let mut text = String::new();
        let mut letters = rest.chars().peekable();
        loop {
            match letters.next()? {
                '\'' if letters.peek() == Some(&'\'') => text.extend(letters.next()),
                '\'' => break,
                letter => text.push(letter),
            }
        }
        let behind: String = letters.collect();
        let cast = behind.strip_prefix("::").unwrap_or(&behind);
        let plain = cast.chars().all(|letter| letter.is_ascii_alphanumeric() || " _(),\"".contains(letter));
        // Dates such as 'now' mean something when they are read.
        return (plain && !text.eq_ignore_ascii_case("now")).then_some(Default::Text(text));
    }
    let number = words.split_once("::").map_or(words, |(number, _)| number).trim_matches(['(', ')']);
    super::values::plain_decimal(number).map(|_| Default::Number(number.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_with_their_modifiers() {
        assert_eq!(type_of("numeric", (10 << 16 | 2) + 4), Type::Decimal(Some((10, 2))));
        assert_eq!(type_of("numeric", (3 << 16 | (-2i64 & 0x7ff)) + 4), Type::Decimal(Some((5, 0))));
        assert_eq!(type_of("varchar", 16), Type::VarChar(12));
        assert_eq!(type_of("time", 3), Type::Time(3));
        assert_eq!(type_of("inet", -1), Type::Own);
    }

    #[test]
    fn defaults_are_constants_or_the_moment() {
        for (expression, value) in [
            ("'it''s'::character varying", Some(Default::Text("it's".into()))),
            ("'-1'::integer", Some(Default::Text("-1".into()))),
            ("(-1.5)", Some(Default::Number("-1.5".into()))),
            ("0", Some(Default::Number("0".into()))),
            ("now()", Some(Default::Now)),
            ("CURRENT_DATE", Some(Default::Today)),
            ("true", Some(Default::Bool(true))),
            ("lower('x'::text)", None),
            ("('a'::text || 'b'::text)", None),
        ] {
            assert_eq!(default_of(expression), value, "{expression}");
        }
    }
}
