//! `rowferry check`: what is wrong with a file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use rowferry_engine::{
    Condition, Database, Error, Finding, FindingKind, Journal, Language, Looked, Options, SessionOptions, backup,
};

use crate::Failure;
use crate::stop::Stop;

/// The exit code when something is wrong with the file.
const WRONG: u8 = 3;

/// Look a SQLite file through, and say what is wrong with it
///
/// Looked at are: pages, records and indexes; foreign keys; whether every value is one of its column's
/// declared type; whether what is declared of tables and indexes is in the file; sequences behind their
/// columns; views and triggers that name what is gone; files that were left beside it.
///
/// Nothing is written without --repair, which makes damaged indexes anew and sets sequences behind the
/// greatest number; nothing else can be put right without losing something. The file may be served meanwhile;
/// repair it when nobody has it open.
///
/// The exit code is 0 when nothing is wrong, or all of it was repaired; 3 when something is wrong; 1 when the file
/// could not be looked through.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The SQLite file
    file: PathBuf,

    /// Put right what can be without losing anything
    #[arg(long)]
    repair: bool,

    /// Print one JSON object
    ///
    /// `{"file":…,"tables":4,"values":19834,"findings":[{"kind":"value","message":…,"table":…,"column":…,
    /// "rowids":[…],"repaired":false}],"beside":[{"path":…,"what":…}]}`
    #[arg(long)]
    json: bool,
}

/// Looks the file through; the exit code.
///
/// # Errors
/// When it cannot be read, or the look was interrupted.
pub fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let stop = Stop::watch()?;
    let beside = beside(&arguments.file);
    let (findings, looked) = match look(arguments, &stop) {
        Ok(found) => found,
        // A file that is too damaged to be opened is what this is for.
        Err(error) if error.condition() == Condition::DataCorrupted => (vec![unreadable(&error)], Looked::default()),
        Err(error) => return Err(Failure::of(error.message.clone(), error.hint.clone())),
    };
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", json(arguments, &findings, looked, &beside))?,
        false => print(&mut out, arguments, &findings, looked, &beside)?,
    }
    out.flush()?;
    Ok(if findings.iter().all(|finding| finding.repaired) { 0 } else { WRONG })
}

fn look(arguments: &Arguments, stop: &Stop) -> Result<(Vec<Finding>, Looked), Error> {
    let file = &arguments.file;
    let had_log = with_suffix(file, "-wal").exists();
    let options = Options { journal: Journal::Keep, read_only: !arguments.repair, ..Options::default() };
    let database = Database::open(file, options)?;
    let mut session = database.session(SessionOptions::new("rowferry", Language::Postgres));
    let guard = stop.interrupts(session.interrupter()).map_err(|failure| Error::internal(failure.message))?;
    let found = session.inspect(arguments.repair);
    drop((guard, session, database));
    if !had_log {
        backup::leave_nothing_beside(file);
    }
    found
}

fn unreadable(error: &Error) -> Finding {
    Finding {
        kind: FindingKind::Damage,
        message: error.message.clone(),
        table: None,
        column: None,
        rowids: Vec::new(),
        repaired: false,
    }
}

/// A file that was left beside the database, and what it is.
struct Beside {
    path: PathBuf,
    what: &'static str,
}

/// What lies there although nobody needs it any more, or somebody should look at it.
fn beside(file: &Path) -> Vec<Beside> {
    let mut found = Vec::new();
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let entry_name = entry.file_name().to_string_lossy().into_owned();
        let what = match entry_name.strip_prefix(&name) {
            Some(rest) if rest.starts_with("-wal.replaced-") => {
                "the log of a database that was replaced while it was served: what was committed last may be in it alone"
            }
            Some("-rowferry") if !with_suffix(file, "-wal").exists() => {
                "a note of a server that was killed, about a log that is no more: it can be removed"
            }
            Some("-journal") => "a rollback journal: a program writes, or was killed while it did",
            _ if entry_name.starts_with(&format!(".{name}.")) && entry_name.ends_with(".partial") => {
                "a backup that was not finished: it can be removed"
            }
            _ => continue,
        };
        found.push(Beside { path: entry.path(), what });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn json(arguments: &Arguments, findings: &[Finding], looked: Looked, beside: &[Beside]) -> serde_json::Value {
    let findings = findings.iter().map(|finding| {
        serde_json::json!({
            "kind": finding.kind.word(),
            "message": finding.message,
            "table": finding.table,
            "column": finding.column,
            "rowids": finding.rowids,
            "repaired": finding.repaired,
        })
    });
    let beside =
        beside.iter().map(|file| serde_json::json!({"path": file.path.display().to_string(), "what": file.what}));
    serde_json::json!({
        "file": arguments.file.display().to_string(),
        "tables": looked.tables,
        "values": looked.values,
        "findings": findings.collect::<Vec<_>>(),
        "beside": beside.collect::<Vec<_>>(),
    })
}

fn print(
    out: &mut impl std::io::Write,
    arguments: &Arguments,
    findings: &[Finding],
    looked: Looked,
    beside: &[Beside],
) -> std::io::Result<()> {
    for finding in findings {
        let repaired = if finding.repaired { " (repaired)" } else { "" };
        write!(out, "{}: {}{repaired}", finding.kind.word(), finding.message)?;
        if !finding.rowids.is_empty() {
            let rowids: Vec<String> = finding.rowids.iter().map(i64::to_string).collect();
            write!(out, "\n  rowids: {}", rowids.join(", "))?;
        }
        writeln!(out)?;
    }
    for file in beside {
        writeln!(out, "beside: {}: {}", file.path.display(), file.what)?;
    }
    let (shown, Looked { tables, values }) = (arguments.file.display(), looked);
    match findings.len() {
        0 => writeln!(out, "{shown}: {tables} tables, {values} values: nothing is wrong"),
        count => writeln!(
            out,
            "{shown}: {tables} tables, {values} values: {count} finding{}",
            if count == 1 { "" } else { "s" }
        ),
    }
}
