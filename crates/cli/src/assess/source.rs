//! What is assessed: files, standard input, and servers that tell their schema.

use std::io::Read as _;

use rowferry_dialect::{informix, postgres};

use super::{Dialect, log};
use crate::Failure;

/// Statements, and where they come from.
pub(super) struct Source {
    pub name: String,
    pub dialect: Dialect,
    pub statements: Vec<Statement>,
    /// Commands to psql, which are none to a server, and the lines on which they stand.
    pub commands: Vec<(usize, String)>,
    /// It is a log: a statement's lines are those of the log.
    pub is_log: bool,
}

/// A statement, and the line on which it begins.
#[derive(Debug)]
pub(super) struct Statement {
    pub text: String,
    pub line: usize,
    /// Other lines with the same statement.
    pub again: Vec<usize>,
}

/// Reads what is to be assessed.
pub(super) fn read(place: &str, dialect: Option<Dialect>) -> Result<Source, Failure> {
    if let Some((scheme, _)) = place.split_once("://") {
        let (told, text) = match scheme {
            "postgres" | "postgresql" => (Dialect::Postgres, told_by_pg_dump(place)?),
            "informix" | "gbase8s" => (Dialect::Informix, super::catalog::schema(place)?),
            other => {
                return Err(Failure::new(format!("the schema of `{other}://` cannot be read"))
                    .hint("use a file, postgresql:// or informix://"));
            }
        };
        if dialect.is_some_and(|dialect| dialect != told) {
            return Err(Failure::new(format!(
                "--dialect does not fit: {scheme}:// tells its schema in {}'s SQL",
                told.name()
            )));
        }
        return Ok(of_text(without_password(place), told, &text));
    }
    let (name, bytes) = if place == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
        ("standard input".to_owned(), bytes)
    } else {
        let bytes = std::fs::read(place).map_err(|error| Failure::new(format!("cannot read {place}: {error}")))?;
        (place.to_owned(), bytes)
    };
    if bytes.starts_with(b"PGDMP") {
        return Err(Failure::new(format!("{name} is a dump in pg_dump's custom format"))
            .hint("make a script of it: pg_restore --schema-only --file schema.sql DUMP"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        Failure::new(format!("{name} is not UTF-8: byte {} of it", error.utf8_error().valid_up_to() + 1))
            .hint("convert it first: iconv -f ISO-8859-1 -t UTF-8")
    })?;
    Ok(of_text(name, dialect.unwrap_or(Dialect::Postgres), &text))
}

fn of_text(name: String, dialect: Dialect, text: &str) -> Source {
    let mut source = Source { name, dialect, statements: Vec::new(), commands: Vec::new(), is_log: log::is_log(text) };
    if source.is_log && dialect == Dialect::Postgres {
        source.statements = log::statements(text);
        return source;
    }
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut statement = |range: std::ops::Range<usize>| Statement {
        line: lines.line_of(range.start),
        text: text[range].to_owned(),
        again: Vec::new(),
    };
    match dialect {
        Dialect::Postgres => {
            for piece in postgres::split(text) {
                match piece {
                    postgres::Piece::Statement(range) => source.statements.push(statement(range)),
                    postgres::Piece::Command(range) => {
                        let command = statement(range);
                        source.commands.push((command.line, command.text));
                    }
                    postgres::Piece::Rows(_) => {}
                }
            }
        }
        // What cannot even be cut is one statement, whose error says where.
        Dialect::Informix => match informix::split(text) {
            Ok(ranges) => source.statements.extend(ranges.into_iter().map(statement)),
            Err(_) => source.statements.push(statement(0..text.len())),
        },
    }
    source
}

/// Counts lines as it goes.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn line_of(&mut self, at: usize) -> usize {
        self.line += self.text[self.at..at].matches('\n').count();
        self.at = at;
        self.line
    }
}

/// The schema as PostgreSQL's own program writes it.
fn told_by_pg_dump(url: &str) -> Result<String, Failure> {
    let command = ["--schema-only", "--no-owner", "--dbname", url];
    let output = std::process::Command::new("pg_dump").args(command).output().map_err(|error| {
        Failure::new(format!("cannot run pg_dump: {error}"))
            .hint("install PostgreSQL's client programs, or give a file that pg_dump --schema-only has made")
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::new(format!("pg_dump cannot tell the schema: {said}")));
    }
    String::from_utf8(output.stdout).map_err(|_| Failure::new("what pg_dump wrote is not UTF-8"))
}

/// What may be shown of a URL.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    match rest.rsplit_once('@') {
        Some((login, place)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{place}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_file() {
        let source = of_text("x".into(), Dialect::Postgres, "\\set x\nselect 1;\n\n  select\n2; select 3");
        let lines: Vec<_> =
            source.statements.iter().map(|statement| (statement.line, statement.text.as_str())).collect();
        assert_eq!(lines, [(2, "select 1"), (4, "select\n2"), (5, "select 3")]);
        assert_eq!(source.commands, [(1, "\\set x".to_owned())]);
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_password("informix://a:b@c@host:1/d"), "informix://a@host:1/d");
        assert_eq!(without_password("postgresql:///d"), "postgresql:///d");
    }
}
