//! `rowferry assess`: what of a schema, a script or a log of statements works here, and what does not.

mod catalog;
mod judge;
mod log;
mod report;
mod source;

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rowferry_engine::Language;

use crate::Failure;
use crate::stop::Stop;

/// The exit code when something is refused, or could not be understood.
const NOT_ALL: u8 = 3;

/// Say what of a schema, a script or a log works here, and what not
///
/// SOURCE is one of
///
///   schema.sql, -                       a dump, migrations, routines; `-` is standard input
///   postgresql.log                      a log of PostgreSQL's with its `log_statement`
///   postgresql://user:pw@host:5432/db   the schema of a server, as pg_dump tells it
///   informix://user:pw@host:9088/db     the schema of an Informix server, out of its catalog
///
/// Definitions and settings are carried out in an empty database that is gone afterwards,
/// so that what follows finds them; queries of tables, changes, calls, and what hangs on a
/// transaction are compiled, and not run. Of each statement the answer is one of
///
///   works      it is carried out as there
///   differs    it is accepted, and a notice says what is left out
///   refused    by name: this is not there
///   missing    it names something that the source has not defined before
///   wrong      it could not be understood
///
/// The exit code is 0 when everything works or differs, 3 when something does not, 1 when
/// the source could not be read.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The file, or the server's URL
    source: String,

    /// What defines the tables that the source names, in a file or on a server; not assessed itself
    ///
    /// A log of statements needs it.
    #[arg(long, value_name = "SOURCE")]
    schema: Option<String>,

    /// Whose SQL it is; of a URL, its server's
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,

    /// The form of the answer
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Write it to a file, not to standard output
    #[arg(short, long)]
    output: Option<PathBuf>,
}

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Dialect {
    /// PostgreSQL's
    Postgres,
    /// Informix's, with its stored procedures
    Informix,
}

impl Dialect {
    const fn language(self) -> Language {
        match self {
            Self::Postgres => Language::Postgres,
            Self::Informix => Language::Informix,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Informix => "Informix",
        }
    }
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// A page
    Html,
}

/// Assesses the source; the exit code.
///
/// # Errors
/// When the source cannot be read, or the answer not be written.
pub fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let stop = Stop::watch()?;
    let source = source::read(&arguments.source, arguments.dialect)?;
    let schema = match &arguments.schema {
        Some(place) => source::read(place, Some(source.dialect))?.statements,
        None => Vec::new(),
    };
    let judged = judge::judge(&schema, &source, &stop)?;
    let written = match arguments.format {
        Format::Text => report::text(&source, &judged),
        Format::Json => report::json(&source, &judged),
        Format::Html => report::html(&source, &judged),
    };
    match &arguments.output {
        Some(path) => std::fs::write(path, written)
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?,
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(written.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(if judged.all_works() { 0 } else { NOT_ALL })
}
