//! `rowferry query URL SQL`: ask any database that we can reach, and show the answer to people or programs.

mod informix;
mod mysql;
mod output;
mod postgres;
mod sqlite;

use std::io::{BufWriter, IsTerminal, Read, Write};
use std::path::Path;

use clap::Args;
use rowferry_client::Url;

use crate::Failure;

pub use output::{Column, Format, Kind, Printer};

/// Run SQL on a database and print what it answers
///
/// URL is one of
///
///   app.db, sqlite:///var/lib/app.db       a SQLite file, asked in PostgreSQL's SQL
///   postgresql://user:pw@host:5432/db      any server that speaks PostgreSQL's protocol
///   mysql://user:pw@host:3306/db           MySQL or MariaDB
///   informix://user:pw@host:9088/db        any server that speaks Informix's protocol
///   gbase8s://user:pw@host:9088/db?server=N  GBase 8s, which speaks it, too
///
/// SQL is a statement, or `-` to read it from standard input. Answers go to standard output as a table; with --json as
/// one JSON array of objects, with --csv as RFC 4180. Everything else goes to standard error. The exit code is 0 when
/// the statement was carried out, 1 when it was not, 2 when the arguments make no sense.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The database to ask
    url: String,

    /// The statement, or `-` to read it from standard input
    sql: String,

    /// Print one JSON array with an object per row
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print comma-separated values with a heading
    #[arg(long)]
    csv: bool,
}

/// Asks the question and prints the answer.
///
/// # Errors
///
/// Fails when the database cannot be reached, refuses the statement, or standard output is closed.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let sql = match arguments.sql.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::new(format!("cannot read SQL from standard input: {error}")))?;
            text
        }
        text => text.to_owned(),
    };
    let format = match (arguments.json, arguments.csv) {
        (true, _) => Format::Json,
        (_, true) => Format::Csv,
        _ => Format::Table,
    };
    let stdout = std::io::stdout();
    let fit = stdout.is_terminal();
    let mut printer = Printer::new(format, BufWriter::new(stdout.lock()), fit);
    ask(&arguments.url, &sql, &mut printer)?;
    printer.end()?;
    Ok(())
}

fn ask<W: Write>(place: &str, sql: &str, printer: &mut Printer<W>) -> Result<(), Failure> {
    let Some((scheme, path)) = place.split_once("://") else {
        return sqlite::ask(Path::new(place), sql, printer);
    };
    if scheme.eq_ignore_ascii_case("sqlite") {
        return sqlite::ask(Path::new(path), sql, printer);
    }
    let url = Url::parse(place).map_err(|error| Failure::new(error.to_string()))?;
    match url.scheme.as_str() {
        "informix" | "gbase8s" => informix::ask(&url, sql, printer),
        "mariadb" | "mysql" => mysql::ask(&url, sql, printer),
        "postgres" | "postgresql" => postgres::ask(&url, sql, printer),
        other => Err(Failure::new(format!("`{other}://` is not a kind of database that we know"))
            .hint("use a file name, sqlite://, postgresql://, mysql:// or informix://")),
    }
}

/// What a statement without rows did, in the words of people.
fn changed(rows: u64) -> String {
    format!("{rows} row{} changed", if rows == 1 { "" } else { "s" })
}

/// The line of `sql` that holds the character at `position`, counted from 1, with a mark under it.
fn caret(sql: &str, position: u32) -> String {
    let before: String = sql.chars().take(position.saturating_sub(1) as usize).collect();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = sql[line_start..].lines().next().unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let label = format!("line {number}: ");
    let indent = label.chars().count() + before[line_start..].chars().count();
    format!("\n{label}{line}\n{:indent$}^", "")
}

#[cfg(test)]
mod tests {
    use super::caret;

    #[test]
    fn caret_stands_under_the_character() {
        assert_eq!(caret("SELECT nosuch", 8), "\nline 1: SELECT nosuch\n               ^");
        assert_eq!(caret("SELECT 'ü',\n  nosuch", 15), "\nline 2:   nosuch\n          ^");
        // A position behind the end is the end.
        assert_eq!(caret("SELECT", 7), "\nline 1: SELECT\n              ^");
    }
}
