//! Rows as records: a line for each column.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::{Style, visible};
use crate::conversation::Column;

/// Writes rows, of which so many stand before the first.
pub(super) fn write(
    out: &mut impl Write,
    style: &Style,
    columns: &[Column],
    rows: &[Vec<Option<String>>],
    before: u64,
) -> io::Result<()> {
    let names: Vec<String> = columns.iter().map(|column| visible(&column.name).replace('\n', " ")).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or_default();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| cell.as_deref().map_or_else(|| style.null().to_owned(), visible)).collect())
        .collect();
    let lines = rows.iter().flatten().flat_map(|cell| cell.lines());
    let widest = lines.map(|line| line.width()).max().unwrap_or_default();
    let line = (width + 3 + widest).min(style.width.unwrap_or(80));
    for (number, cells) in (before + 1..).zip(&rows) {
        let heading = format!("─[ {number} ]");
        writeln!(out, "{heading}{}", "─".repeat(line.saturating_sub(heading.width())))?;
        for (name, cell) in names.iter().zip(cells) {
            let mut name = name.as_str();
            let mut lines = cell.split('\n');
            let mut next = lines.next();
            while let Some(text) = next {
                let indent = width - name.width();
                writeln!(out, "{:indent$}{name} │ {text}", "")?;
                (name, next) = ("", lines.next());
            }
        }
    }
    Ok(())
}
