//! What a statement answers, as JSON: values as texts, so that nothing of them is lost on the way.

use std::io;
use std::time::{Duration, Instant};

use rowferry_client::legible;
use rowferry_client::postgres::{Answers, Connection, Error};
use rowferry_wire_pg::messages::{FieldDescription, Notice};
use serde_json::{Value, json};

/// The longest value that is told whole, in bytes, and how much of a longer one.
const LONGEST_VALUE: usize = 64 * 1024;
const BEGINNING: usize = 1024;

/// How many bytes of values there are in an answer; what comes behind them is told by its length.
const MOST: usize = 8 * 1024 * 1024;

/// How many remarks of the server are told.
const MOST_NOTICES: usize = 50;

/// Takes an answer.
#[derive(Default)]
pub(crate) struct Taken {
    columns: Vec<Value>,
    rows: Vec<Value>,
    bytes: usize,
    tag: String,
    notices: Vec<Value>,
    copies: bool,
}

impl Answers for Taken {
    fn columns(&mut self, columns: &[FieldDescription<'_>]) -> io::Result<()> {
        let column = |column: &FieldDescription<'_>| json!({ "name": column.name, "type": column.type_oid });
        self.columns = columns.iter().map(column).collect();
        Ok(())
    }

    fn row(&mut self, cells: &mut dyn Iterator<Item = Option<&[u8]>>) -> io::Result<()> {
        let mut row = Vec::with_capacity(self.columns.len());
        for cell in cells {
            let Some(bytes) = cell else {
                row.push(Value::Null);
                continue;
            };
            let (text, _) = legible(bytes.to_vec());
            row.push(match text.len() {
                length if length <= LONGEST_VALUE && self.bytes + length <= MOST => Value::from(&*text),
                length if self.bytes <= MOST => json!({ "start": beginning(&text), "length": length }),
                length => json!({ "start": "", "length": length }),
            });
            self.bytes += text.len().min(LONGEST_VALUE);
        }
        self.rows.push(row.into());
        Ok(())
    }

    fn complete(&mut self, tag: &str) -> io::Result<()> {
        tag.clone_into(&mut self.tag);
        Ok(())
    }

    fn copy_data(&mut self, _: &[u8]) -> io::Result<()> {
        self.copies = true;
        Ok(())
    }

    fn notice(&mut self, notice: &Notice<'_>) -> io::Result<()> {
        if self.notices.len() < MOST_NOTICES {
            self.notices.push(format!("{}: {}", notice.severity.as_str(), notice.message).into());
        }
        Ok(())
    }
}

fn beginning(text: &str) -> &str {
    let end = (0..=BEGINNING.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

/// Runs one statement in a transaction of its own, which reads only unless `writes`.
///
/// # Errors
/// As those of the connection.
pub(crate) fn run(
    connection: &mut Connection,
    sql: &str,
    parameters: &[Option<&str>],
    most: u32,
    writes: bool,
    longest: Duration,
) -> Result<Value, Error> {
    let begun = Instant::now();
    // Anew each time: what a statement before has set may have been committed.
    let begin = if writes { "BEGIN" } else { "BEGIN READ ONLY" };
    connection
        .query(&format!("{begin}; SET LOCAL statement_timeout = {}", longest.as_millis()), &mut Taken::default())?;
    let mut taken = Taken::default();
    let ended = connection.execute(sql, parameters, most, &mut taken);
    let end = if writes && ended.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let settled = match &ended {
        Ok(_) | Err(Error::Server(_)) => connection.query(end, &mut Taken::default()),
        // There is nobody to tell.
        Err(_) => Ok(()),
    };
    let more = ended?;
    settled?;
    if taken.copies {
        taken.notices.push("the data of a COPY are not shown here".into());
    }
    Ok(json!({
        "columns": taken.columns, "rows": taken.rows, "more": more, "tag": taken.tag, "notices": taken.notices,
        "milliseconds": u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}

/// An error of the server, for the page.
pub(crate) fn error(notice: &Notice<'_>) -> Value {
    json!({ "error": {
        "message": notice.message, "sqlstate": notice.sqlstate, "detail": notice.detail, "hint": notice.hint,
        "position": notice.position,
    } })
}

#[cfg(test)]
mod tests {
    use rowferry_wire_pg::messages::Severity;

    use super::*;

    fn taken(rows: &[&[Option<&[u8]>]]) -> Vec<Value> {
        let mut taken = Taken::default();
        for row in rows {
            taken.row(&mut row.iter().copied()).unwrap();
        }
        taken.rows
    }

    #[test]
    fn values_are_texts_and_null_is_null() {
        assert_eq!(taken(&[&[Some(b"1.10"), None, Some(b"")]]), [json!(["1.10", null, ""])]);
    }

    #[test]
    fn a_long_value_is_told_by_its_beginning_and_its_length() {
        let long = "x".repeat(LONGEST_VALUE);
        assert_eq!(taken(&[&[Some(long.as_bytes())]]), [json!([long])]);
        let longer = format!("{long}x");
        let told = json!({ "start": "x".repeat(BEGINNING), "length": LONGEST_VALUE + 1 });
        assert_eq!(taken(&[&[Some(longer.as_bytes())]]), [json!([told])]);
        // No letter is cut through its middle.
        let odd = format!("x{}", "é".repeat(LONGEST_VALUE));
        let rows = taken(&[&[Some(odd.as_bytes())]]);
        assert_eq!(rows[0][0]["start"].as_str().map(str::len), Some(BEGINNING - 1));
    }

    #[test]
    fn behind_the_most_that_is_told_there_are_lengths_alone() {
        let long = "x".repeat(LONGEST_VALUE);
        let row: &[Option<&[u8]>] = &[Some(long.as_bytes())];
        let rows = taken(&vec![row; MOST / LONGEST_VALUE + 2]);
        let (last, whole) = rows.split_last().unwrap();
        assert!(whole[..MOST / LONGEST_VALUE].iter().all(|row| row[0].is_string()));
        assert_eq!(whole[MOST / LONGEST_VALUE][0]["start"].as_str().map(str::len), Some(BEGINNING));
        assert_eq!(last[0], json!({ "start": "", "length": LONGEST_VALUE }));
    }

    #[test]
    fn a_bound_of_remarks_is_kept() {
        let mut taken = Taken::default();
        let notice = Notice::new(Severity::Warning, "01000", "a remark");
        for _ in 0..=MOST_NOTICES {
            taken.notice(&notice).unwrap();
        }
        assert_eq!(taken.notices.len(), MOST_NOTICES);
    }
}
