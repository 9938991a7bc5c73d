//! Informix: its catalogs, cursors, rows that travel in groups.

use std::sync::Arc;

use rowferry_client::Url;
use rowferry_client::informix::{Column as Described, Config, Connection, Error};
use rowferry_wire::civil::{DAYS_TO_1899_12_31, days_from_civil};
use rowferry_wire_sqli::client::{Params, Prepared};
use rowferry_wire_sqli::messages::{Param, ParamValue};
use rowferry_wire_sqli::types::TimeUnit;
use rowferry_wire_sqli::values::{Base100, CellFormat, DateTime};
use rowferry_wire_sqli::{Qualifier, TypeCode};

use super::ddl::{Flavour, quoted};
use super::model::{Check, Column, Default, ForeignKey, Index, Key, Kind, Schema, Table, Type};
use super::peer::{Each, Peer, Trouble, transport};
use super::row::Row;
use crate::Failure;
use crate::stop::Stop;

/// What fits into a parameter of type CHAR.
const LONGEST_CHAR: usize = 32_767;

pub(super) struct Informix {
    connection: Connection,
    prepared: Option<Arc<Prepared>>,
    types: Vec<Type>,
    params: Params,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Transport(error) => transport(&error),
            Error::Protocol(rowferry_wire_sqli::client::Failure::Closed) => Self::Lost(error.to_string()),
            // The server shuts down, or a lock was not had: of another connection of ours, which goes on.
            Error::Server(ref server) if matches!(server.sqlcode, -25582 | -27001 | -25588) => {
                Self::Lost(error.to_string())
            }
            other => Failure::new(other.to_string()).into(),
        }
    }
}

impl Informix {
    pub(super) fn open(url: &Url, stop: &Stop) -> Result<Self, Trouble> {
        let config = Config::from_url(url)?.with_quoted_names();
        let mut connection = Connection::connect(&config)?;
        let stop = stop.clone();
        connection.set_keep_waiting(Box::new(move || !stop.asked()));
        let mut peer = Self { connection, prepared: None, types: Vec::new(), params: Params::default() };
        // Other connections of ours have long transactions; it is the longest time that can be said.
        peer.run("SET LOCK MODE TO WAIT 32767")?;
        Ok(peer)
    }

    fn tables(&mut self) -> Result<Vec<(String, Table)>, Trouble> {
        let sql = "SELECT tabid, tabname FROM systables WHERE tabid > 99 AND tabtype = 'T' ORDER BY tabname";
        let rows = self.ask(sql)?;
        let mut tables = Vec::new();
        for row in rows {
            let (id, name) = (cell(&row, 0).to_owned(), cell(&row, 1).to_owned());
            let mut table = Table { name, ..Table::default() };
            let sql = format!("SELECT * FROM {}", quoted(Kind::Informix, &table.name));
            let described = self.connection.describe(&sql)?;
            let defaults =
                self.ask(&format!("SELECT colno, type, default FROM sysdefaults WHERE tabid = {id} AND class = 'T'"))?;
            for (at, column) in described.iter().enumerate() {
                let name = String::from_utf8_lossy(&column.name).into_owned();
                let (ty, words) = type_of(column).unwrap_or_else(|what| {
                    table.refused = Some(format!("column {name} of {} is {what}, which is not copied", table.name));
                    (Type::Own, what)
                });
                let is_serial = matches!(column.code, TypeCode::SERIAL | TypeCode::SERIAL8 | TypeCode::BIGSERIAL);
                let mut value = is_serial.then_some(Default::Identity);
                let row = defaults.iter().find(|row| cell(row, 0).parse() == Ok(at + 1));
                if let Some(row) = row {
                    value = default_of(cell(row, 1), cell(row, 2), &ty);
                    if value.is_none() && cell(row, 1) != "N" {
                        table.left_out.push(format!("the default of column {name}: {}", cell(row, 2)));
                    }
                }
                table.columns.push(Column { name, ty, words, not_null: column.not_null, default: value });
            }
            self.constraints(&id, &mut table)?;
            tables.push((id, table));
        }
        Ok(tables)
    }

    /// A table's keys, or its indexes that no constraint has made: name, kind, columns.
    fn keys(&mut self, id: &str, constraints: Option<&str>) -> Result<Vec<Index>, Trouble> {
        let parts: Vec<String> = (1..=16).map(|part| format!("i.part{part}")).collect();
        let parts = parts.join(", ");
        let sql = match constraints {
            Some(kind) => format!(
                "SELECT c.constrname, c.constrtype, {parts} FROM sysconstraints c, sysindexes i \
                 WHERE c.idxname = i.idxname AND i.tabid = c.tabid AND c.tabid = {id} AND c.constrtype = '{kind}' \
                 ORDER BY c.constrname"
            ),
            None => format!(
                "SELECT i.idxname, i.idxtype, {parts} FROM sysindexes i WHERE i.tabid = {id} AND i.idxname NOT IN \
                 (SELECT c.idxname FROM sysconstraints c WHERE c.tabid = {id} AND c.idxname IS NOT NULL) ORDER BY i.idxname"
            ),
        };
        let rows = self.ask(&sql)?;
        let column = |part: &Option<String>| {
            let number: i32 = part.as_deref()?.trim().parse().ok()?;
            Some((usize::try_from(number.unsigned_abs()).ok()?.checked_sub(1)?, number < 0))
        };
        Ok(rows
            .iter()
            .map(|row| Index {
                name: cell(row, 0).to_owned(),
                columns: row.iter().skip(2).map_while(column).collect(),
                unique: cell(row, 1) == "U",
            })
            .collect())
    }

    fn constraints(&mut self, id: &str, table: &mut Table) -> Result<(), Trouble> {
        let key = |index: Index| Key { name: index.name, columns: index.columns.iter().map(|(at, _)| *at).collect() };
        table.primary = self.keys(id, Some("P"))?.into_iter().next().map(key);
        table.uniques = self.keys(id, Some("U"))?.into_iter().map(key).collect();
        let count = table.columns.len();
        table.indexes = self.keys(id, None)?;
        table.indexes.retain(|index| !index.columns.is_empty() && index.columns.iter().all(|(at, _)| *at < count));
        let foreign = self.keys(id, Some("R"))?;
        let sql = format!(
            "SELECT c.constrname, t.tabname, r.delrule, t.tabid, r.primary FROM sysconstraints c, sysreferences r, systables t \
             WHERE r.constrid = c.constrid AND t.tabid = r.ptabid AND c.tabid = {id} ORDER BY c.constrname"
        );
        for row in self.ask(&sql)? {
            let Some(index) = foreign.iter().find(|index| index.name == cell(&row, 0)) else { continue };
            // The key that is referred to, by the names of its columns.
            let target = cell(&row, 3);
            let names =
                self.ask(&format!("SELECT colno, colname FROM syscolumns WHERE tabid = {target} ORDER BY colno"))?;
            let parts: Vec<String> = (1..=16).map(|part| format!("i.part{part}")).collect();
            let parts = self.ask(&format!(
                "SELECT {} FROM sysconstraints c, sysindexes i WHERE c.idxname = i.idxname AND i.tabid = c.tabid \
                 AND c.constrid = {}",
                parts.join(", "),
                cell(&row, 4)
            ))?;
            let target_columns = parts
                .first()
                .map(|parts| {
                    parts
                        .iter()
                        .filter_map(|part| part.as_deref()?.trim().parse::<i64>().ok().filter(|number| *number != 0))
                        .filter_map(|number| {
                            let number = number.unsigned_abs().to_string();
                            names.iter().find(|row| cell(row, 0) == number).map(|row| cell(row, 1).to_owned())
                        })
                        .collect()
                })
                .unwrap_or_default();
            table.foreign.push(ForeignKey {
                name: index.name.clone(),
                columns: index.columns.iter().map(|(at, _)| *at).collect(),
                target: cell(&row, 1).to_owned(),
                target_columns,
                on_delete: if cell(&row, 2) == "C" { "CASCADE".into() } else { String::new() },
                on_update: String::new(),
            });
        }
        let sql = format!(
            "SELECT c.constrname, k.seqno, k.checktext FROM sysconstraints c, syschecks k \
             WHERE k.constrid = c.constrid AND k.type = 'T' AND c.tabid = {id} ORDER BY c.constrname, k.seqno"
        );
        for row in self.connection.query(&sql)?.rows {
            let (name, piece) = (cell(&row, 0).to_owned(), row.get(2).and_then(Option::as_deref).unwrap_or_default());
            match table.checks.last_mut() {
                Some(check) if check.name == name => check.words.push_str(piece),
                _ => table.checks.push(Check { name, words: piece.to_owned() }),
            }
        }
        Ok(())
    }
}

/// The text of a cell without the blanks of CHAR; empty for NULL.
fn cell(row: &[Option<String>], at: usize) -> &str {
    row.get(at).and_then(Option::as_deref).unwrap_or_default().trim()
}

/// What a column is, and its type in Informix's words.
fn type_of(column: &Described) -> Result<(Type, String), String> {
    let words = if column.type_name == b"lvarchar" && column.encoded_length > 0 {
        format!("LVARCHAR({})", column.encoded_length)
    } else {
        column.type_words()
    };
    let ty = match column.format {
        CellFormat::SmallInt => Type::Int(2),
        CellFormat::Integer => Type::Int(4),
        CellFormat::BigInt | CellFormat::Int8 => Type::Int(8),
        CellFormat::Float => Type::Float8,
        CellFormat::SmallFloat => Type::Float4,
        CellFormat::Decimal { precision, scale: Some(scale) } => {
            Type::Decimal(Some((u32::from(precision), u32::from(scale))))
        }
        CellFormat::Decimal { scale: None, .. } => Type::Decimal(None),
        CellFormat::Date => Type::Date,
        CellFormat::DateTime(qualifier) => moment(qualifier),
        CellFormat::Interval(_) => Type::Own,
        CellFormat::Char(width) => Type::Char(width as u32),
        CellFormat::VarChar(most) => Type::VarChar(u32::from(most)),
        CellFormat::BooleanText | CellFormat::BooleanBinary => Type::Bool,
        CellFormat::SimpleLob(_) if column.code == TypeCode::TEXT => Type::Text,
        CellFormat::SimpleLob(_) => Type::Bytes,
        CellFormat::LongText => match column.type_name.as_slice() {
            b"lvarchar" if column.encoded_length > 0 => Type::VarChar(column.encoded_length as u32),
            b"json" => Type::Json,
            _ => Type::Own,
        },
        CellFormat::Opaque | CellFormat::LocatorHex | CellFormat::LocatorRaw | CellFormat::Described => {
            return Err(words);
        }
    };
    Ok((ty, words))
}

fn moment(qualifier: Qualifier) -> Type {
    let (first, last) = (qualifier.first(), qualifier.last());
    match first {
        TimeUnit::YEAR if last == TimeUnit::DAY => Type::Date,
        TimeUnit::YEAR if last.0 >= TimeUnit::SECOND.0 => Type::Timestamp(qualifier.fraction_digits()),
        TimeUnit::HOUR if last.0 >= TimeUnit::SECOND.0 => Type::Time(qualifier.fraction_digits()),
        _ => Type::Own,
    }
}

/// What `sysdefaults` says. What is no text has its stored form in front of the words.
fn default_of(kind: &str, value: &str, ty: &Type) -> Option<Default> {
    match kind {
        "C" => Some(Default::Now),
        "T" => Some(Default::Today),
        "L" => {
            let is_text = matches!(ty, Type::Char(_) | Type::VarChar(_) | Type::Own);
            let words = if is_text { value } else { value.split_once(' ').map_or(value, |(_, words)| words) };
            let is_number = !is_text && super::values::plain_decimal(words).is_some();
            Some(if is_number { Default::Number(words.to_owned()) } else { Default::Text(words.to_owned()) })
        }
        _ => None,
    }
}

impl Drop for Informix {
    fn drop(&mut self) {
        // One that is lost needs none.
        let _ = self.connection.say_goodbye();
    }
}

impl Peer for Informix {
    fn schema(&mut self) -> Result<Schema, Trouble> {
        let mut schema =
            Schema { tables: self.tables()?.into_iter().map(|(_, table)| table).collect(), others: Vec::new() };
        for (kind, sql) in [
            ("view", "SELECT tabname FROM systables WHERE tabid > 99 AND tabtype = 'V' ORDER BY tabname"),
            ("synonym", "SELECT tabname FROM systables WHERE tabid > 99 AND tabtype IN ('S', 'P') ORDER BY tabname"),
            ("sequence", "SELECT tabname FROM systables WHERE tabid > 99 AND tabtype = 'Q' ORDER BY tabname"),
            ("routine", "SELECT procname FROM sysprocedures WHERE mode IN ('O', 'D', 'R', 'T') ORDER BY procname"),
            ("trigger", "SELECT trigname FROM systriggers ORDER BY trigname"),
        ] {
            for row in self.ask(sql)? {
                schema.others.push((kind.into(), cell(&row, 0).to_owned()));
            }
        }
        Ok(schema)
    }

    fn flavour(&mut self) -> Result<Flavour, Trouble> {
        Ok(Flavour::default())
    }

    fn identity(&mut self) -> Option<String> {
        None
    }

    fn run(&mut self, sql: &str) -> Result<(), Trouble> {
        self.connection.query(sql)?;
        Ok(())
    }

    fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Trouble> {
        Ok(self.connection.query(sql)?.rows)
    }

    fn read(&mut self, sql: &str, _: &[Type], each: Each<'_>) -> Result<(), Trouble> {
        let mut row = Row::default();
        self.connection.query_rows(sql, |cells| {
            row.clear();
            cells.iter().for_each(|cell| row.push(*cell));
            each(&row)
        })?;
        Ok(())
    }

    fn begin(&mut self, table: &str, columns: &[(String, Type)]) -> Result<(), Trouble> {
        self.run("BEGIN WORK")?;
        self.types = columns.iter().map(|(_, ty)| ty.clone()).collect();
        let names: Vec<String> = columns.iter().map(|(name, _)| quoted(Kind::Informix, name)).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", quoted(Kind::Informix, table), names.join(", "));
        let count = u16::try_from(columns.len()).map_err(|_| Failure::new("too many columns"))?;
        self.prepared = Some(self.connection.begin_rows(&sql, count)?);
        Ok(())
    }

    fn put(&mut self, row: &Row) -> Result<(), Trouble> {
        let Some(prepared) = &self.prepared else { return Ok(()) };
        self.params.clear();
        for (at, (value, ty)) in row.iter().zip(&self.types).enumerate() {
            let format = prepared.columns.get(at).map(|column| (column.format, column.code));
            let pushed = match value {
                None => self.params.push(&Param::NULL).map_err(|error| error.to_string()),
                Some(value) => push(&mut self.params, value, ty, format, self.connection.widths()),
            };
            pushed.map_err(|what| Failure::new(format!("a value cannot be sent to Informix: {what}")))?;
        }
        self.connection.put_row(&self.params)?;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Trouble> {
        self.prepared = None;
        self.connection.end_rows()?;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Trouble> {
        self.run("COMMIT WORK")
    }

    fn keep_moment(&mut self, _: &[&str]) -> Result<(), Trouble> {
        Err(Failure::new("Informix has no snapshots; its REPEATABLE READ keeps the rows' writers waiting").into())
    }

    fn share_moment(&mut self) -> Result<String, Trouble> {
        self.keep_moment(&[]).map(|()| String::new())
    }

    fn join_moment(&mut self, _: &str) -> Result<(), Trouble> {
        self.keep_moment(&[])
    }

    fn number_on(&mut self, _: &str, _: &str) -> Result<(), Trouble> {
        // A serial column counts on from what it is given.
        Ok(())
    }
}

/// Binds a value in the form of the column it goes into.
fn push(
    params: &mut Params,
    value: &[u8],
    ty: &Type,
    column: Option<(CellFormat, TypeCode)>,
    widths: rowferry_wire_sqli::Widths,
) -> Result<(), String> {
    let text = || std::str::from_utf8(value).map_err(|_| "no UTF-8".to_owned());
    let said = |error: rowferry_wire_sqli::TooLong| error.to_string();
    let misfit = |error: rowferry_wire_sqli::values::Misfit| error.to_string();
    let base100 = |params: &mut Params, code, precision, number: &Base100| {
        let mut bytes = Vec::with_capacity(20);
        number.encode_short(&mut bytes);
        params.push(&Param::new(code, precision, ParamValue::Base100(&bytes))).map_err(said)
    };
    match (column, ty) {
        (Some((CellFormat::SimpleLob(_), code)), _) => params.push_lob(code, value, widths).map_err(said),
        (_, Type::Bytes) => params.push_lob(TypeCode::BYTE, value, widths).map_err(said),
        (_, Type::Int(_)) => {
            let number: i64 = text()?.parse().map_err(|_| "no number")?;
            let param = match i32::try_from(number) {
                Ok(number) if number > i32::MIN => Param::new(TypeCode::INTEGER, 0x0a00, ParamValue::Integer(number)),
                _ if widths.bigserial => Param::new(TypeCode::BIGINT, 0x1300, ParamValue::BigInt(number)),
                _ => Param::new(TypeCode::INT8, 0x1300, ParamValue::Int8(number)),
            };
            params.push(&param).map_err(said)
        }
        (_, Type::Decimal(_)) => {
            let number = Base100::from_text(text()?, 32, None).map_err(misfit)?;
            base100(params, TypeCode::DECIMAL, 0x20ff, &number)
        }
        (_, Type::Float4 | Type::Float8) => {
            let number: f64 = text()?.parse().map_err(|_| "no number")?;
            params.push(&Param::new(TypeCode::FLOAT, 0, ParamValue::Float(number))).map_err(said)
        }
        (Some((CellFormat::Date, _)), Type::Date) => {
            let days = days_of(text()?).ok_or("no date")?;
            params.push(&Param::new(TypeCode::DATE, 0, ParamValue::Date(days))).map_err(said)
        }
        (Some((CellFormat::DateTime(qualifier), _)), _) => {
            let text = text()?;
            let text = text.strip_suffix("+00").unwrap_or(text);
            let moment = DateTime::from_text(text, qualifier).map_err(misfit)?;
            let number = moment.to_number(qualifier).map_err(misfit)?;
            base100(params, TypeCode::DATETIME, qualifier.0, &number)
        }
        _ if value.len() > LONGEST_CHAR => {
            params.push(&Param::new(TypeCode::LVARCHAR, 0, ParamValue::Opaque(value))).map_err(said)
        }
        _ => params.push(&Param::new(TypeCode::CHAR, 0, ParamValue::Text(value))).map_err(said),
    }
}

/// Days since 1899-12-31 of `YYYY-MM-DD`.
fn days_of(text: &str) -> Option<i32> {
    let mut parts = text.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    i32::try_from(days_from_civil(year, month, day) - DAYS_TO_1899_12_31).ok()
}
