//! Answers for people and programs. Rows stream: no form keeps more than a page of them.

mod columnar;
mod columns;
mod records;
mod spelled;
mod table;
mod whole;

use std::collections::HashSet;
use std::io::{self, Write};

use rowferry_client::legible;

use crate::conversation::{Answers, Column, Done, Kind};

pub use columnar::{ColumnWriter, Columnar};
pub use whole::Whole;

/// How many rows are looked at together: widths are found by looking at all of them.
const PAGE: usize = 1_000;

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum Format {
    /// A drawn table
    #[default]
    Table,
    /// One JSON array with an object per row
    Json,
    /// A JSON object per line
    Ndjson,
    /// Comma-separated values, RFC 4180
    Csv,
    /// A table in Markdown
    Markdown,
}

/// The form of an answer that is not only to be shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// Text.
    Text(Format),
    /// Columns with types.
    Columnar(Columnar),
}

impl Form {
    /// The form of files whose names end so; nothing where an ending says nothing.
    pub fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "json" => Self::Text(Format::Json),
            "ndjson" | "jsonl" => Self::Text(Format::Ndjson),
            "csv" => Self::Text(Format::Csv),
            "md" => Self::Text(Format::Markdown),
            "parquet" => Self::Columnar(Columnar::Parquet),
            "arrow" | "feather" => Self::Columnar(Columnar::Arrow),
            _ => return None,
        })
    }
}

impl clap::ValueEnum for Form {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Text(Format::Table),
            Self::Text(Format::Json),
            Self::Text(Format::Ndjson),
            Self::Text(Format::Csv),
            Self::Text(Format::Markdown),
            Self::Columnar(Columnar::Parquet),
            Self::Columnar(Columnar::Arrow),
        ]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        use clap::builder::PossibleValue;
        match self {
            Self::Text(format) => format.to_possible_value(),
            Self::Columnar(Columnar::Parquet) => {
                Some(PossibleValue::new("parquet").help("Parquet, with the types of the columns; bytes, not text"))
            }
            Self::Columnar(Columnar::Arrow) => {
                Some(PossibleValue::new("arrow").help("Arrow's file format, which is Feather 2, too; bytes, not text"))
            }
        }
    }
}

/// Whether a row is shown as lines of names and values.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub enum Expanded {
    /// Rows are lines of a table
    #[default]
    Off,
    /// Each row is a record, with a line per column
    On,
    /// Records where the table would not fit the terminal
    Auto,
}

/// How answers look.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Their form.
    pub format: Format,
    /// For tables: records instead.
    pub expanded: Expanded,
    /// The terminal's columns, to which tables are fitted; `None` leaves them as wide as they are.
    pub width: Option<usize>,
    /// What stands for NULL in tables; `NULL` where it is not given.
    pub null: Option<String>,
}

impl Style {
    fn null(&self) -> &str {
        self.null.as_deref().unwrap_or("NULL")
    }
}

/// Takes the rows of an answer, one at a time, and writes them in its form.
pub struct Printer<W: Write> {
    style: Style,
    out: W,
    columns: Vec<Column>,
    page: Vec<Vec<Option<String>>>,
    drawn: table::Drawn,
    rows: u64,
    open: bool,
    /// Values that are not wholly text.
    illegible: u64,
}

impl<W: Write> Printer<W> {
    /// A printer that writes to `out`.
    pub fn new(style: Style, out: W) -> Self {
        Self {
            style,
            out,
            columns: Vec::new(),
            page: Vec::new(),
            drawn: table::Drawn::default(),
            rows: 0,
            open: false,
            illegible: 0,
        }
    }

    /// Where it writes.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// A value as text.
    fn text(&mut self, bytes: Vec<u8>) -> String {
        let (text, is_text) = legible(bytes);
        self.illegible += u64::from(!is_text);
        text
    }

    fn draw(&mut self, last: bool) -> io::Result<()> {
        let rows = std::mem::take(&mut self.page);
        let first = self.rows - rows.len() as u64;
        if self.drawn.is_begun() || !self.is_expanded(&rows) {
            return self.drawn.page(&mut self.out, &self.style, &self.columns, rows, last);
        }
        records::write(&mut self.out, &self.style, &self.columns, &rows, first)
    }

    fn is_expanded(&self, rows: &[Vec<Option<String>>]) -> bool {
        match self.style.expanded {
            Expanded::Off => false,
            Expanded::On => true,
            Expanded::Auto => !table::fits(&self.style, &self.columns, rows),
        }
    }
}

impl<W: Write> Answers for Printer<W> {
    fn begin(&mut self, mut columns: Vec<Column>) -> io::Result<()> {
        self.end()?;
        (self.rows, self.open, self.drawn) = (0, true, table::Drawn::default());
        match self.style.format {
            Format::Csv => {
                let names = columns.iter().map(|column| csv_field(&column.name)).collect::<Vec<_>>();
                write!(self.out, "{}\r\n", names.join(","))?;
            }
            Format::Json => {
                make_distinct(&mut columns);
                self.out.write_all(b"[")?;
            }
            Format::Ndjson => make_distinct(&mut columns),
            Format::Markdown => {
                let names: Vec<String> = columns.iter().map(|column| markdown_cell(&column.name)).collect();
                let lines = columns.iter().map(|column| if column.kind == Kind::Number { "---:" } else { "---" });
                writeln!(self.out, "| {} |", names.join(" | "))?;
                writeln!(self.out, "| {} |", lines.collect::<Vec<_>>().join(" | "))?;
            }
            Format::Table => {}
        }
        self.columns = columns;
        Ok(())
    }

    fn row(&mut self, cells: Vec<Option<Vec<u8>>>) -> io::Result<()> {
        let cells: Vec<Option<String>> = cells.into_iter().map(|cell| cell.map(|bytes| self.text(bytes))).collect();
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows += 1;
        match self.style.format {
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
            Format::Json | Format::Ndjson => {
                let object =
                    self.columns.iter().zip(cells).map(|(column, cell)| (column.name.clone(), json(column, cell)));
                let object = object.collect::<serde_json::Map<_, _>>();
                if self.style.format == Format::Json {
                    self.out.write_all(if self.rows == 1 { b"\n " } else { b",\n " })?;
                    serde_json::to_writer(&mut self.out, &object)?;
                } else {
                    serde_json::to_writer(&mut self.out, &object)?;
                    self.out.write_all(b"\n")?;
                }
                Ok(())
            }
            Format::Markdown => {
                let cells: Vec<String> =
                    cells.into_iter().map(|cell| markdown_cell(cell.as_deref().unwrap_or(self.style.null()))).collect();
                writeln!(self.out, "| {} |", cells.join(" | "))
            }
            Format::Table => {
                self.page.push(cells);
                if self.page.len() == PAGE { self.draw(false) } else { Ok(()) }
            }
        }
    }

    fn end(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.open) {
            return Ok(());
        }
        match self.style.format {
            Format::Csv | Format::Ndjson | Format::Markdown => {}
            Format::Json => self.out.write_all(if self.rows == 0 { b"]\n" } else { b"\n]\n" })?,
            Format::Table => {
                self.draw(true)?;
                writeln!(self.out, "{} row{}", self.rows, if self.rows == 1 { "" } else { "s" })?;
            }
        }
        self.columns.clear();
        self.out.flush()?;
        match std::mem::take(&mut self.illegible) {
            0 => Ok(()),
            1 => self.notice("WARNING: a value is not in UTF-8: its other bytes are shown as \\xE4"),
            many => {
                self.notice(&format!("WARNING: {many} values are not in UTF-8: their other bytes are shown as \\xE4"))
            }
        }
    }

    /// A line for people, an object for programs that read JSON; rows alone stand in the other forms.
    fn done(&mut self, what: &Done) -> io::Result<()> {
        self.end()?;
        match self.style.format {
            Format::Table => writeln!(self.out, "{}", what.words)?,
            Format::Json => {
                let object = serde_json::json!({"done": what.words, "rows": what.rows});
                writeln!(self.out, "{object}")?;
            }
            Format::Csv | Format::Ndjson | Format::Markdown => {}
        }
        self.out.flush()
    }

    fn raw(&mut self, data: &[u8]) -> io::Result<()> {
        self.out.write_all(data)
    }

    fn notice(&mut self, text: &str) -> io::Result<()> {
        eprintln!("{}", visible(text));
        Ok(())
    }
}

/// Text that cannot move the cursor or ring the bell: what a database holds is not to be trusted with a terminal.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn markdown_cell(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('|', "\\|").replace('\n', "<br>")
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
    make_names_distinct(columns.iter_mut().map(|column| &mut column.name));
}

fn make_names_distinct<'a>(names: impl Iterator<Item = &'a mut String>) {
    let mut taken: HashSet<String> = HashSet::new();
    for name in names {
        let mut distinct = name.clone();
        let mut number = 2;
        while !taken.insert(distinct.clone()) {
            distinct = format!("{name}_{number}");
            number += 1;
        }
        *name = distinct;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn styled(style: Style, columns: &[(&str, Kind)], rows: &[&[Option<&str>]]) -> String {
        let mut out = Vec::new();
        let mut printer = Printer::new(style, &mut out);
        let columns = columns.iter().map(|(name, kind)| Column { name: (*name).into(), kind: *kind });
        printer.begin(columns.collect()).unwrap();
        for row in rows {
            printer.row(row.iter().map(|cell| cell.map(|text| text.as_bytes().to_vec())).collect()).unwrap();
        }
        printer.end().unwrap();
        String::from_utf8(out).unwrap()
    }

    fn print(format: Format, columns: &[(&str, Kind)], rows: &[&[Option<&str>]]) -> String {
        styled(Style { format, ..Style::default() }, columns, rows)
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
    fn a_long_table_has_one_heading() {
        let rows: Vec<[Option<&str>; 1]> = vec![[Some("x")]; 2 * PAGE + 1];
        let rows: Vec<&[Option<&str>]> = rows.iter().map(|row| &row[..]).collect();
        let drawn = print(Format::Table, &[("a", Kind::Text)], &rows);
        assert_eq!(drawn.lines().filter(|line| line.contains("│ a │")).count(), 1);
        assert_eq!(drawn.lines().filter(|line| line.contains("│ x │")).count(), rows.len());
        assert_eq!(drawn.lines().count(), rows.len() + 5);
        let whole = print(Format::Table, &[("a", Kind::Text)], &rows[..PAGE]);
        assert_eq!(whole.lines().count(), PAGE + 5);
    }

    #[test]
    fn a_wide_table_is_fitted_by_leaving_out_the_middle() {
        let style = |expanded| Style { width: Some(40), expanded, ..Style::default() };
        let long = "abcdefghijklmnopqrstuvwxyz0123456789";
        let drawn =
            styled(style(Expanded::Off), &[("id", Kind::Number), ("text", Kind::Text)], &[&[Some("1"), Some(long)]]);
        assert!(drawn.lines().all(|line| line.chars().count() <= 40), "{drawn}");
        assert!(drawn.contains("abc") && drawn.contains("…") && drawn.contains("789"), "{drawn}");
        let names: Vec<String> = (0..18).map(|at| format!("column_{at}")).collect();
        let columns: Vec<(&str, Kind)> = names.iter().map(|name| (name.as_str(), Kind::Text)).collect();
        let row = vec![Some("some value"); 18];
        let drawn = styled(style(Expanded::Off), &columns, &[&row]);
        assert!(drawn.lines().all(|line| line.chars().count() <= 60), "{drawn}");
        assert!(drawn.contains("column_0") && drawn.contains("column_17") && !drawn.contains("column_8"), "{drawn}");
        assert!(drawn.contains("of 18 columns"), "{drawn}");
        // As records all of them are there.
        let drawn = styled(style(Expanded::Auto), &columns, &[&row]);
        assert!(names.iter().all(|name| drawn.contains(name)), "{drawn}");
    }

    #[test]
    fn records_have_a_line_for_each_column() {
        let style = Style { expanded: Expanded::On, ..Style::default() };
        let drawn = styled(style, COLUMNS, &[&[Some("7"), Some("Ada\nLovelace"), None], &[Some("8"), None, Some("t")]]);
        let expected = "\
─[ 1 ]─────────
  id │ 7
name │ Ada
     │ Lovelace
open │ NULL
─[ 2 ]─────────
  id │ 8
name │ NULL
open │ t
2 rows
";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn table_cannot_control_the_terminal() {
        for format in [Format::Table, Format::Markdown] {
            let drawn = print(format, &[("a\x07", Kind::Text)], &[&[Some("\x1b[2Jx")]]);
            assert!(!drawn.contains(['\x1b', '\x07']), "{drawn:?}");
        }
    }

    #[test]
    fn empty_answer_still_shows_its_columns() {
        assert!(print(Format::Table, COLUMNS, &[]).contains("name"));
        assert_eq!(print(Format::Json, COLUMNS, &[]), "[]\n");
        assert_eq!(print(Format::Csv, COLUMNS, &[]), "id,name,open\r\n");
        assert_eq!(print(Format::Ndjson, COLUMNS, &[]), "");
        assert_eq!(print(Format::Markdown, COLUMNS, &[]), "| id | name | open |\n| ---: | --- | --- |\n");
    }

    #[test]
    fn json_keeps_every_digit_and_both_columns_of_one_name() {
        let columns = &[("n", Kind::Number), ("n", Kind::Number), ("b", Kind::Boolean), ("t", Kind::Text)];
        let row: &[Option<&str>] = &[Some("123456789012345678901234567890.10"), Some("NaN"), Some("f"), None];
        let parsed: serde_json::Value = serde_json::from_str(&print(Format::Json, columns, &[row, row])).unwrap();
        let expected = r#"{"n":123456789012345678901234567890.10,"n_2":"NaN","b":false,"t":null}"#;
        assert_eq!(parsed[0].to_string(), expected);
        assert_eq!(parsed.as_array().unwrap().len(), 2);
        assert_eq!(print(Format::Ndjson, columns, &[row, row]), format!("{expected}\n{expected}\n"));
    }

    #[test]
    fn csv_quotes_what_must_be_quoted() {
        let columns = &[("a", Kind::Text), ("b", Kind::Text), ("c", Kind::Text)];
        let text = print(Format::Csv, columns, &[&[Some("x,\"y\"\n"), None, Some("")]]);
        assert_eq!(text, "a,b,c\r\n\"x,\"\"y\"\"\n\",,\"\"\r\n");
        let text = print(Format::Markdown, columns, &[&[Some("a|b"), None, Some("x\ny")]]);
        assert!(text.ends_with("| a\\|b | NULL | x<br>y |\n"), "{text}");
    }
}
