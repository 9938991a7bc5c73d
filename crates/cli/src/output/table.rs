//! Drawn tables.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{Style, visible};
use crate::conversation::{Column, Kind};

/// No column is made narrower than this, lest nothing of it can be read: others are left out instead.
const NARROWEST: usize = 10;
/// What stands for what is left out.
const ELLIPSIS: &str = "…";
/// Blanks and line beside each column.
const AROUND: usize = 3;

/// A table that is drawn page by page.
#[derive(Default)]
pub(super) struct Drawn {
    /// What the first page has decided.
    layout: Option<Layout>,
}

/// The columns that are shown, and how wide each of them is.
struct Layout {
    shown: Vec<(usize, usize)>,
    /// Where columns are left out: before this one of those that are shown.
    gap: Option<usize>,
    /// Texts are cut to the widths.
    is_cut: bool,
}

impl Drawn {
    /// A page has been drawn.
    pub(super) fn is_begun(&self) -> bool {
        self.layout.is_some()
    }

    /// Draws a page.
    pub(super) fn page(
        &mut self,
        out: &mut impl Write,
        style: &Style,
        columns: &[Column],
        rows: Vec<Vec<Option<String>>>,
        last: bool,
    ) -> io::Result<()> {
        let is_first = self.layout.is_none();
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .map(|row| {
                row.into_iter()
                    .map(|cell| cell.map_or_else(|| style.null().to_owned(), |text| visible(&text)))
                    .collect()
            })
            .collect();
        let names: Vec<String> = columns.iter().map(|column| visible(&column.name)).collect();
        let layout = self.layout.get_or_insert_with(|| layout(style.width, &widths(&names, &rows)));
        if columns.is_empty() {
            return Ok(());
        }
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
        let line = |cells: &[String]| -> Vec<Cell> {
            let mut line: Vec<Cell> = (layout.shown.iter())
                .map(|(at, width)| Cell::new(if layout.is_cut { cut(&cells[*at], *width) } else { cells[*at].clone() }))
                .collect();
            if let Some(gap) = layout.gap {
                line.insert(gap, Cell::new(ELLIPSIS));
            }
            line
        };
        if is_first {
            table.set_header(line(&names));
        }
        for row in &rows {
            table.add_row(line(row));
        }
        let mut widths: Vec<(usize, bool)> =
            layout.shown.iter().map(|(at, width)| (*width, columns[*at].kind == Kind::Number)).collect();
        if let Some(gap) = layout.gap {
            widths.insert(gap, (1, false));
        }
        for (drawn, (width, right)) in table.column_iter_mut().zip(widths) {
            // With its padding; what comes later is wrapped where it is wider.
            let width = u16::try_from(width + 2).unwrap_or(u16::MAX);
            drawn.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
            if right {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
        // The lines above and below belong to the first page and the last.
        let drawn = if rows.is_empty() && !is_first { String::new() } else { table.to_string() };
        let mut lines: Vec<&str> = drawn.lines().collect();
        let below = lines.pop();
        let from = usize::from(!is_first).min(lines.len());
        for line in &lines[from..] {
            writeln!(out, "{line}")?;
        }
        if !last {
            return Ok(());
        }
        match below {
            Some(below) => writeln!(out, "{below}")?,
            None => writeln!(out, "{}", bottom(layout))?,
        }
        if layout.gap.is_some() {
            writeln!(out, "{} of {} columns; as records (-x) all are shown", layout.shown.len(), columns.len())?;
        }
        Ok(())
    }
}

/// The line below a table whose last page has no rows.
fn bottom(layout: &Layout) -> String {
    let mut widths: Vec<usize> = layout.shown.iter().map(|(_, width)| *width).collect();
    if let Some(gap) = layout.gap {
        widths.insert(gap, 1);
    }
    let lines: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
    format!("└{}┘", lines.join("┴"))
}

/// True for a table whose columns are all there in the terminal's width, none of them cut to few characters.
pub(super) fn fits(style: &Style, columns: &[Column], rows: &[Vec<Option<String>>]) -> bool {
    let Some(terminal) = style.width else { return true };
    let mut natural: Vec<usize> = columns.iter().map(|column| column.name.width()).collect();
    for row in rows {
        for (width, cell) in natural.iter_mut().zip(row) {
            *width = (*width).max(cell.as_deref().map_or(style.null().width(), widest));
        }
    }
    natural.iter().sum::<usize>() + 1 + AROUND * natural.len() <= terminal
}

fn widths(names: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<usize> = names.iter().map(|name| widest(name)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(widest(cell));
        }
    }
    widths
}

/// The width of a text's widest line.
fn widest(text: &str) -> usize {
    text.split('\n').map(|line| line.width()).max().unwrap_or_default()
}

/// How a table is fitted: wide columns are cut first, all to the same width; where that is too narrow to be read, columns of the
/// middle are left out.
fn layout(terminal: Option<usize>, natural: &[usize]) -> Layout {
    let whole = || natural.iter().copied().enumerate().collect();
    let Some(terminal) = terminal else { return Layout { shown: whole(), gap: None, is_cut: false } };
    let room = |columns: usize| terminal.saturating_sub(1 + AROUND * columns);
    if natural.iter().sum::<usize>() <= room(natural.len()) {
        return Layout { shown: whole(), gap: None, is_cut: false };
    }
    let capped = |cap: usize| natural.iter().map(|width| (*width).min(cap)).sum::<usize>();
    let widest = natural.iter().copied().max().unwrap_or_default();
    if let Some(cap) = (NARROWEST..=widest).rev().find(|cap| capped(*cap) <= room(natural.len())) {
        let shown = natural.iter().map(|width| (*width).min(cap)).enumerate().collect();
        return Layout { shown, gap: None, is_cut: true };
    }
    let width = |at: usize| natural[at].min(NARROWEST) + AROUND;
    let mut used = 1 + AROUND + ELLIPSIS.width();
    let (mut left, mut right) = (0, natural.len());
    // The first column and the last are shown, however narrow the terminal is; then two on the left for one on the right.
    for turn in 0.. {
        if left == right {
            break;
        }
        let on_right = turn % 3 == 1;
        let at = if on_right { right - 1 } else { left };
        if turn > 1 && used + width(at) > terminal {
            break;
        }
        used += width(at);
        if on_right { right -= 1 } else { left += 1 }
    }
    let shown: Vec<(usize, usize)> =
        (0..left).chain(right..natural.len()).map(|at| (at, natural[at].min(NARROWEST))).collect();
    let gap = (left < right).then_some(left);
    Layout { shown, gap, is_cut: true }
}

/// Each line of a text in so many columns, without its middle where it is longer.
fn cut(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| cut_line(line, width)).collect();
    lines.join("\n")
}

fn cut_line(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let kept = width.saturating_sub(ELLIPSIS.width());
    let taken = |characters: &mut dyn Iterator<Item = char>, room: usize| -> Vec<char> {
        let mut used = 0;
        characters
            .take_while(|character| {
                used += character.width().unwrap_or_default();
                used <= room
            })
            .collect()
    };
    let head = taken(&mut line.chars(), kept.div_ceil(2));
    let mut tail = taken(&mut line.chars().rev(), kept / 2);
    tail.reverse();
    let (head, tail): (String, String) = (head.into_iter().collect(), tail.into_iter().collect());
    format!("{head}{ELLIPSIS}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_in_their_middle() {
        assert_eq!(cut("abcdefghij", 10), "abcdefghij");
        assert_eq!(cut("abcdefghijk", 10), "abcde…hijk");
        assert_eq!(cut("short\nabcdefghijk", 10), "short\nabcde…hijk");
        // Characters may be two columns wide.
        assert!(cut("日本語日本語日本語", 10).width() <= 10);
        assert_eq!(cut("", 1), "");
    }

    #[test]
    fn wide_columns_are_cut_before_others_are_left_out() {
        let fitted = layout(Some(60), &[5, 100, 8, 40]);
        assert!(fitted.gap.is_none() && fitted.is_cut);
        assert_eq!(fitted.shown[0], (0, 5));
        assert!(fitted.shown.iter().map(|(_, width)| width + AROUND).sum::<usize>() < 60);
        let fitted = layout(Some(60), &[20; 18]);
        assert_eq!(fitted.gap, Some(fitted.shown.len() - 1));
        assert_eq!(fitted.shown.last().unwrap().0, 17);
        assert_eq!(layout(Some(3), &[20; 18]).shown.len(), 2);
    }
}
