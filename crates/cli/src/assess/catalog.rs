//! The schema of an Informix server, out of its catalog, as a script.
//!
//! What the catalog keeps in the words of its maker (views, routines, triggers, checks) is taken so; tables are written from
//! the descriptions of their columns. Source: IBM's "Guide to SQL: Reference", the system catalog tables.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rowferry_client::{Url, informix};
use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::values::CellFormat;

use crate::Failure;

type Row = Vec<Option<String>>;

/// Reads the schema of the database that the URL names.
pub(super) fn schema(url: &str) -> Result<String, Failure> {
    let url = Url::parse(url).map_err(|error| Failure::new(error.to_string()))?;
    let fail = |error: informix::Error| Failure::new(error.to_string());
    let config = informix::Config::from_url(&url).map_err(fail)?;
    let mut catalog = Catalog { connection: informix::Connection::connect(&config).map_err(fail)? };
    let mut script = String::new();
    catalog.sequences(&mut script)?;
    let tables = catalog.tables()?;
    for table in &tables {
        catalog.table(table, &mut script)?;
    }
    for table in &tables {
        catalog.foreign_keys(table, &mut script)?;
    }
    catalog.routines(&mut script)?;
    catalog.views(&mut script)?;
    catalog.triggers(&mut script)?;
    catalog.connection.close().map_err(fail)?;
    Ok(script)
}

struct Catalog {
    connection: informix::Connection,
}

struct Table {
    id: String,
    name: String,
    /// Names of the columns, by their numbers from 1.
    columns: Vec<String>,
}

impl Catalog {
    fn ask(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        self.answer(sql).map(|result| result.rows)
    }

    fn answer(&mut self, sql: &str) -> Result<informix::QueryResult, Failure> {
        let result = self.connection.query(sql);
        result.map_err(|error| Failure::new(format!("cannot read the catalog: {error}")).hint(sql.to_owned()))
    }

    fn sequences(&mut self, script: &mut String) -> Result<(), Failure> {
        let sql = "SELECT t.tabname, s.start_val, s.inc_val, s.min_val, s.max_val, s.cycle FROM syssequences s, systables t \
                   WHERE s.tabid = t.tabid ORDER BY t.tabname";
        for row in self.ask(sql)? {
            let [name, start, step, least, most, cycle] = fields(&row);
            let _ = writeln!(
                script,
                "CREATE SEQUENCE {} START WITH {start} INCREMENT BY {step} MINVALUE {least} MAXVALUE {most}{};",
                quoted(name),
                if matches!(cycle, "1" | "Y") { " CYCLE" } else { "" }
            );
        }
        Ok(())
    }

    fn tables(&mut self) -> Result<Vec<Table>, Failure> {
        let sql = "SELECT t.tabid, t.tabname, c.colname FROM systables t, syscolumns c \
                   WHERE c.tabid = t.tabid AND t.tabid > 99 AND t.tabtype = 'T' ORDER BY t.tabid, c.colno";
        let mut tables: Vec<Table> = Vec::new();
        for row in self.ask(sql)? {
            let [id, name, column] = fields(&row);
            if tables.last().is_none_or(|table| table.id != id) {
                tables.push(Table { id: id.to_owned(), name: name.to_owned(), columns: Vec::new() });
            }
            tables.last_mut().expect("just pushed").columns.push(column.to_owned());
        }
        Ok(tables)
    }

    fn table(&mut self, table: &Table, script: &mut String) -> Result<(), Failure> {
        let described = self
            .connection
            .query(&format!("SELECT FIRST 1 * FROM {}", quoted(&table.name)))
            .map_err(|error| Failure::new(format!("cannot read the columns of {}: {error}", table.name)))?
            .columns;
        let sql = format!("SELECT colno, type, default FROM sysdefaults WHERE tabid = {} AND class = 'T'", table.id);
        let defaults: BTreeMap<usize, String> = self
            .ask(&sql)?
            .iter()
            .filter_map(|row| {
                let [number, kind, value] = fields(row);
                let number: usize = number.parse().ok()?;
                Some((number, default(kind, value, described.get(number.checked_sub(1)?)?)?))
            })
            .collect();
        let mut parts: Vec<String> = Vec::new();
        for (at, column) in described.iter().enumerate() {
            let mut part = format!("{} {}", quoted(&String::from_utf8_lossy(&column.name)), type_of(column));
            if let Some(value) = defaults.get(&(at + 1)) {
                let _ = write!(part, " DEFAULT {value}");
            }
            if column.not_null && !is_serial(column) {
                part.push_str(" NOT NULL");
            }
            parts.push(part);
        }
        let keys = self.indexes(table, "constrtype IN ('P', 'U')", true)?;
        for key in &keys {
            let words = if key.kind == "P" { "PRIMARY KEY" } else { "UNIQUE" };
            parts.push(format!("{words} ({}) CONSTRAINT {}", key.columns.join(", "), quoted(&key.name)));
        }
        let sql = format!(
            "SELECT c.constrname, k.seqno, k.checktext FROM sysconstraints c, syschecks k \
             WHERE k.constrid = c.constrid AND k.type = 'T' AND c.tabid = {} ORDER BY c.constrname, k.seqno",
            table.id
        );
        for (name, text) in joined(self.answer(&sql)?) {
            parts.push(format!("CHECK ({}) CONSTRAINT {}", text.trim(), quoted(&name)));
        }
        let _ = writeln!(script, "CREATE TABLE {} (\n    {}\n);", quoted(&table.name), parts.join(",\n    "));
        for index in self.indexes(table, "", false)? {
            let unique = if index.kind == "U" { "UNIQUE " } else { "" };
            let columns = index.columns.join(", ");
            let _ = writeln!(
                script,
                "CREATE {unique}INDEX {} ON {} ({columns});",
                quoted(&index.name),
                quoted(&table.name)
            );
        }
        Ok(())
    }

    /// The table's keys, or its indexes that no constraint has made.
    fn indexes(&mut self, table: &Table, which: &str, keys: bool) -> Result<Vec<Index>, Failure> {
        let parts: Vec<String> = (1..=16).map(|part| format!("i.part{part}")).collect();
        let parts = parts.join(", ");
        let sql = if keys {
            format!(
                "SELECT c.constrname, c.constrtype, {parts} FROM sysconstraints c, sysindexes i \
                 WHERE c.idxname = i.idxname AND i.tabid = c.tabid AND c.tabid = {} AND c.{which} ORDER BY c.constrname",
                table.id
            )
        } else {
            format!(
                "SELECT i.idxname, i.idxtype, {parts} FROM sysindexes i WHERE i.tabid = {} AND i.idxname NOT IN \
                 (SELECT c.idxname FROM sysconstraints c WHERE c.tabid = {} AND c.idxname IS NOT NULL) ORDER BY i.idxname",
                table.id, table.id
            )
        };
        Ok(self.ask(&sql)?.iter().map(|row| Index::of(row, table)).collect())
    }

    fn foreign_keys(&mut self, table: &Table, script: &mut String) -> Result<(), Failure> {
        let keys = self.indexes(table, "constrtype = 'R'", true)?;
        let sql = format!(
            "SELECT c.constrname, t.tabname, r.delrule FROM sysconstraints c, sysreferences r, systables t \
             WHERE r.constrid = c.constrid AND t.tabid = r.ptabid AND c.tabid = {}",
            table.id
        );
        for row in self.ask(&sql)? {
            let [name, target, rule] = fields(&row);
            let Some(key) = keys.iter().find(|key| key.name == name) else { continue };
            let cascade = if rule == "C" { " ON DELETE CASCADE" } else { "" };
            let _ = writeln!(
                script,
                "ALTER TABLE {} ADD CONSTRAINT FOREIGN KEY ({}) REFERENCES {}{cascade} CONSTRAINT {};",
                quoted(&table.name),
                key.columns.join(", "),
                quoted(target),
                quoted(name)
            );
        }
        Ok(())
    }

    fn views(&mut self, script: &mut String) -> Result<(), Failure> {
        let sql = "SELECT t.tabname, v.seqno, v.viewtext FROM sysviews v, systables t \
                   WHERE v.tabid = t.tabid AND t.tabid > 99 ORDER BY t.tabid, v.seqno";
        self.texts(sql, script)
    }

    fn routines(&mut self, script: &mut String) -> Result<(), Failure> {
        // Capital letters are modes of users' routines; those of the system have others.
        let sql = "SELECT p.procid, b.seqno, b.data FROM sysprocedures p, sysprocbody b \
                   WHERE b.procid = p.procid AND b.datakey = 'T' AND p.mode IN ('O', 'D', 'R', 'T') ORDER BY p.procid, b.seqno";
        self.texts(sql, script)
    }

    fn triggers(&mut self, script: &mut String) -> Result<(), Failure> {
        // The head of each before its actions.
        let sql = "SELECT t.trigname, CASE WHEN b.datakey = 'D' THEN 0 ELSE 1 END * 10000 + b.seqno, b.data \
                   FROM systriggers t, systrigbody b WHERE b.trigid = t.trigid AND b.datakey IN ('A', 'D') ORDER BY 1, 2";
        self.texts(sql, script)
    }

    /// Statements that the catalog keeps in pieces.
    fn texts(&mut self, sql: &str, script: &mut String) -> Result<(), Failure> {
        for (_, text) in joined(self.answer(sql)?) {
            let text = text.trim().trim_end_matches(';');
            let _ = writeln!(script, "{text};");
        }
        Ok(())
    }
}

struct Index {
    name: String,
    kind: String,
    columns: Vec<String>,
}

impl Index {
    /// Of its name, its kind and the numbers of its columns, negative ones for a descending order.
    fn of(row: &Row, table: &Table) -> Self {
        let [name, kind] = fields(row);
        let column = |part: &Option<String>| {
            let number: i32 = part.as_deref()?.trim().parse().ok()?;
            let name = table.columns.get(usize::try_from(number.unsigned_abs()).ok()?.checked_sub(1)?)?;
            Some(format!("{}{}", quoted(name), if number < 0 { " DESC" } else { "" }))
        };
        let columns = row.iter().skip(2).map_while(column).collect();
        Self { name: name.to_owned(), kind: kind.to_owned(), columns }
    }
}

/// The first cells of a row, without the blanks of CHAR; empty for NULL.
fn fields<const N: usize>(row: &Row) -> [&str; N] {
    std::array::from_fn(|at| row.get(at).and_then(Option::as_deref).unwrap_or_default().trim())
}

/// Texts whose pieces are rows of a name, a number and a piece, in order. A gap in the numbers begins a new line.
fn joined(result: informix::QueryResult) -> Vec<(String, String)> {
    // Blanks at the end of a piece are part of the text, unless nothing comes behind them.
    let width = match result.columns.get(2).map(|column| column.format) {
        Some(CellFormat::Char(width)) => width,
        _ => 0,
    };
    let mut texts: Vec<(String, String)> = Vec::new();
    let (mut last, mut missing) = (0, 0);
    for row in &result.rows {
        let piece = row.get(2).and_then(Option::as_deref).unwrap_or_default();
        let [name, number] = fields(row);
        let number: i64 = number.parse().unwrap_or(0);
        match texts.last_mut() {
            Some((known, text)) if known == name => {
                if number == last + 1 {
                    text.extend(std::iter::repeat_n(' ', missing));
                } else {
                    text.push('\n');
                }
                text.push_str(piece);
            }
            _ => texts.push((name.to_owned(), piece.to_owned())),
        }
        last = number;
        missing = width.saturating_sub(piece.chars().count());
    }
    texts
}

/// A name as it must be written: in quotes where it is no plain word.
fn quoted(name: &str) -> String {
    let plain = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn is_serial(column: &informix::Column) -> bool {
    matches!(column.code, TypeCode::SERIAL | TypeCode::SERIAL8 | TypeCode::BIGSERIAL)
}

fn is_text(column: &informix::Column) -> bool {
    matches!(
        column.code,
        TypeCode::CHAR | TypeCode::VARCHAR | TypeCode::NCHAR | TypeCode::NVARCHAR | TypeCode::LVARCHAR
    ) || column.type_name == b"lvarchar"
}

fn type_of(column: &informix::Column) -> String {
    if column.type_name == b"lvarchar" && column.encoded_length > 0 {
        return format!("LVARCHAR({})", column.encoded_length);
    }
    column.type_words()
}

/// A default in SQL's words. What is no text has its stored form in front of the words.
fn default(kind: &str, value: &str, column: &informix::Column) -> Option<String> {
    let is_text = is_text(column);
    Some(match kind {
        "C" => column.type_words().replace("DATETIME", "CURRENT"),
        "D" => "SYSDATE".into(),
        "N" => "NULL".into(),
        "S" => "DBSERVERNAME".into(),
        "T" => "TODAY".into(),
        "U" => "USER".into(),
        "L" => {
            let words = if is_text { value } else { value.split_once(' ').map_or(value, |(_, words)| words) };
            let is_number = !is_text && words.parse::<f64>().is_ok();
            if is_number { words.to_owned() } else { format!("'{}'", words.replace('\'', "''")) }
        }
        _ => return None,
    })
}
