//! Rows as a table for people, as JSON or CSV for programs. Rows stream: no form keeps more than a page of them.

use std::collections::HashSet;
use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// How many rows share one table: widths are found by looking at all of them.
const PAGE: usize = 1_000;

/// The form of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// Comma-separated values, RFC 4180.
    Csv,
    /// A JSON array with an object per row.
    Json,
    /// A drawn table.
    Table,
}

/// What a column holds, as far as printing goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `true` and `false` in JSON; the text is `t`, `true` or `1`, or anything else for false.
    Boolean,
    /// To the right in tables, bare in JSON.
    Number,
    /// To the left in tables, quoted in JSON.
    Text,
}

/// A column of an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Column {
    /// As the database names it.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// Takes the rows of an answer, one at a time, and writes them in its form.
pub struct Printer<W: Write> {
    format: Format,
    /// Whether lines may be fitted to the terminal.
    fit: bool,
    out: W,
    columns: Vec<Column>,
    page: Vec<Vec<Option<String>>>,
    rows: u64,
    answers: u64,
}

impl<W: Write> Printer<W> {
    /// A printer that writes to `out`; `fit` says that `out` is a terminal, whose width tables then keep.
    pub fn new(format: Format, out: W, fit: bool) -> Self {
        Self { format, fit, out, columns: Vec::new(), page: Vec::new(), rows: 0, answers: 0 }
    }

    /// Begins an answer with these columns. Several answers follow each other, as after several statements.
    pub fn begin(&mut self, mut columns: Vec<Column>) -> io::Result<()> {
        self.end()?;
        self.answers += 1;
        self.rows = 0;
        match self.format {
            Format::Csv => {
                let names = columns.iter().map(|column| csv_field(&column.name)).collect::<Vec<_>>();
                write!(self.out, "{}\r\n", names.join(","))?;
            }
            Format::Json => {
                make_distinct(&mut columns);
                self.out.write_all(b"[")?;
            }
            Format::Table => {}
        }
        self.columns = columns;
        Ok(())
    }

    /// Adds a row; `None` is NULL. A row has as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<Option<String>>) -> io::Result<()> {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows += 1;
        match self.format {
            Format::Csv => {
                // NULL is an empty field, the empty string a quoted one, as in PostgreSQL's COPY.
                let fields = cells.iter().map(|cell| match cell.as_deref() {
                    None => String::new(),
                    Some("") => "\"\"".to_owned(),
                    Some(text) => csv_field(text),
                });
                let line = fields.collect::<Vec<_>>().join(",");
                write!(self.out, "{line}\r\n")
            }
            Format::Json => {
                let object =
                    self.columns.iter().zip(cells).map(|(column, cell)| (column.name.clone(), json(column, cell)));
                self.out.write_all(if self.rows == 1 { b"\n " } else { b",\n " })?;
                serde_json::to_writer(&mut self.out, &object.collect::<serde_json::Map<_, _>>())?;
                Ok(())
            }
            Format::Table => {
                self.page.push(cells);
                if self.page.len() == PAGE { self.draw() } else { Ok(()) }
            }
        }
    }

    /// Ends the answer that was begun last, if any.
    pub fn end(&mut self) -> io::Result<()> {
        if self.answers == 0 || (self.columns.is_empty() && self.rows == 0) {
            return Ok(());
        }
        match self.format {
            Format::Csv => {}
            Format::Json => self.out.write_all(if self.rows == 0 { b"]\n" } else { b"\n]\n" })?,
            Format::Table => {
                if !self.page.is_empty() || self.rows == 0 {
                    self.draw()?;
                }
                writeln!(self.out, "{} row{}", self.rows, if self.rows == 1 { "" } else { "s" })?;
            }
        }
        self.columns.clear();
        self.rows = 0;
        self.out.flush()
    }

    /// Reports what a statement without rows did: a line for people; programs see the exit code.
    pub fn done(&mut self, what: &str) -> io::Result<()> {
        self.end()?;
        if self.format == Format::Table {
            writeln!(self.out, "{what}")?;
        }
        self.out.flush()
    }

    /// Writes bytes as they are: the data of a COPY has a form of its own.
    pub fn raw(&mut self, data: &[u8]) -> io::Result<()> {
        self.out.write_all(data)
    }

    fn draw(&mut self) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_content_arrangement(if self.fit {
            ContentArrangement::Dynamic
        } else {
            ContentArrangement::Disabled
        });
        table.set_header(self.columns.iter().map(|column| Cell::new(visible(&column.name))));
        for row in self.page.drain(..) {
            table.add_row(
                row.into_iter().map(|cell| Cell::new(cell.map_or_else(|| "NULL".into(), |text| visible(&text)))),
            );
        }
        for (drawn, column) in table.column_iter_mut().zip(&self.columns) {
            if column.kind == Kind::Number {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
        writeln!(self.out, "{table}")
    }
}

/// Text that cannot move the cursor or ring the bell: what a database holds is not to be trusted with a terminal.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn json(column: &Column, cell: Option<String>) -> serde_json::Value {
    let Some(text) = cell else { return serde_json::Value::Null };
    match column.kind {
        Kind::Boolean => serde_json::Value::Bool(matches!(text.as_str(), "t" | "true" | "1")),
        // Every digit is kept. NaN and Infinity are no JSON numbers and stay text.
        Kind::Number => match text.parse::<serde_json::Number>() {
            Ok(number) => serde_json::Value::Number(number),
            Err(_) => serde_json::Value::String(text),
        },
        Kind::Text => serde_json::Value::String(text),
    }
}

/// Two columns of one name would be one member of a JSON object: the second becomes `name_2`.
fn make_distinct(columns: &mut [Column]) {
    let mut taken: HashSet<String> = HashSet::new();
    for column in columns {
        let mut name = column.name.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{}_{number}", column.name);
            number += 1;
        }
        column.name = name;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(format: Format, columns: &[(&str, Kind)], rows: &[&[Option<&str>]]) -> String {
        let mut out = Vec::new();
        let mut printer = Printer::new(format, &mut out, false);
        let columns = columns.iter().map(|(name, kind)| Column { name: (*name).into(), kind: *kind });
        printer.begin(columns.collect()).unwrap();
        for row in rows {
            printer.row(row.iter().map(|cell| cell.map(str::to_owned)).collect()).unwrap();
        }
        printer.end().unwrap();
        String::from_utf8(out).unwrap()
    }

    const COLUMNS: &[(&str, Kind)] = &[("id", Kind::Number), ("name", Kind::Text), ("open", Kind::Boolean)];

    #[test]
    fn table_aligns_numbers_right_and_counts_rows() {
        let drawn = print(Format::Table, COLUMNS, &[&[Some("7"), Some("Ada"), Some("t")], &[Some("1234"), None, None]]);
        let expected = "\
┌──────┬──────┬──────┐
│   id ┆ name ┆ open │
╞══════╪══════╪══════╡
│    7 ┆ Ada  ┆ t    │
│ 1234 ┆ NULL ┆ NULL │
└──────┴──────┴──────┘
2 rows
";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn table_cannot_control_the_terminal() {
        let drawn = print(Format::Table, &[("a\x07", Kind::Text)], &[&[Some("\x1b[2Jx")]]);
        assert!(!drawn.contains(['\x1b', '\x07']), "{drawn:?}");
    }

    #[test]
    fn empty_answer_still_shows_its_columns() {
        assert!(print(Format::Table, COLUMNS, &[]).contains("name"));
        assert_eq!(print(Format::Json, COLUMNS, &[]), "[]\n");
        assert_eq!(print(Format::Csv, COLUMNS, &[]), "id,name,open\r\n");
    }

    #[test]
    fn json_keeps_every_digit_and_both_columns_of_one_name() {
        let columns = &[("n", Kind::Number), ("n", Kind::Number), ("b", Kind::Boolean), ("t", Kind::Text)];
        let row: &[Option<&str>] = &[Some("123456789012345678901234567890.10"), Some("NaN"), Some("f"), None];
        let parsed: serde_json::Value = serde_json::from_str(&print(Format::Json, columns, &[row, row])).unwrap();
        let expected = r#"{"n":123456789012345678901234567890.10,"n_2":"NaN","b":false,"t":null}"#;
        assert_eq!(parsed[0].to_string(), expected);
        assert_eq!(parsed.as_array().unwrap().len(), 2);
    }

    #[test]
    fn csv_quotes_what_must_be_quoted() {
        let columns = &[("a", Kind::Text), ("b", Kind::Text), ("c", Kind::Text)];
        let text = print(Format::Csv, columns, &[&[Some("x,\"y\"\n"), None, Some("")]]);
        assert_eq!(text, "a,b,c\r\n\"x,\"\"y\"\"\n\",,\"\"\r\n");
    }
}
