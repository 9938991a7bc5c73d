//! `rowferry backup`: a consistent copy of a file, while it is served.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rowferry_engine::backup::{self, Copied, Progress};
use rowferry_engine::{Database, Error, Journal, Language, Options, SessionOptions};

use crate::Failure;
use crate::stop::Stop;

/// What lies beside a database that is open, or was when its program was killed.
const BESIDE: [&str; 4] = ["-wal", "-shm", "-journal", "-rowferry"];

/// Copy a SQLite file as it is at one moment, also while served
///
/// The copy is made beside DEST under another name, is checked (its pages, its indexes, the number of rows of each
/// table), is on disk, and only then gets its name: DEST is whole or is not there.
///
/// Examples:
///   rowferry backup app.db /backups/app-monday.db
///   rowferry backup app.db app.bak --force     replace the copy of yesterday
///   rowferry backup app.db app.bak --json      for programs
///
/// Nobody waits for the copy, unless the file has a rollback journal (--journal keep): then commits do. The
/// copy has the permissions of the file; one that holds roles is readable by its owner only.
/// To restore, stop the server and put the copy in the file's place.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The SQLite file; it may be served by this machine's `rowferry serve`, or be open in any program that uses SQLite
    source: PathBuf,

    /// The copy to make
    #[arg(value_name = "DEST")]
    destination: PathBuf,

    /// Replace DEST when it exists
    #[arg(long)]
    force: bool,

    /// Print what was done as a line of JSON, and no progress
    ///
    /// `{"source":…,"destination":…,"bytes":…,"tables":{"orders":5000,…},"seconds":…}`
    #[arg(long)]
    json: bool,
}

/// Makes the copy.
///
/// # Errors
/// When the source cannot be read, the copy cannot be written or is not what it should be. Then nothing is left.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let begun = Instant::now();
    check_places(arguments)?;
    let stop = Stop::watch()?;
    let partial = Partial::beside(&arguments.destination)?;
    let copied = copy(arguments, &partial, &stop)?;
    verify(&partial.0, &copied, &stop)?;
    backup::finish(&partial.0, &copied).map_err(|error| failure(&error))?;
    partial.name(arguments, copied.has_roles)?;
    tell(arguments, &copied, begun.elapsed())
}

/// Refuses what cannot be meant, before anything is read.
fn check_places(arguments: &Arguments) -> Result<(), Failure> {
    let (source, destination) = (&arguments.source, &arguments.destination);
    for place in [source, destination] {
        if place.to_str().is_some_and(|text| text.contains("://")) {
            return Err(Failure::new(format!("`{}` is a URL: a backup is made from file to file", place.display()))
                .hint("run it on the server's machine, with the path of the file that is served"));
        }
    }
    if destination.is_dir() {
        return Err(Failure::new(format!("`{}` is a directory", destination.display())).hint("name the copy, too"));
    }
    let same = |place: &Path| std::fs::canonicalize(place).ok();
    if same(source).is_some_and(|source| Some(source) == same(destination)) {
        return Err(Failure::new("the copy would replace its own source"));
    }
    if destination.exists() && !arguments.force {
        return Err(exists(destination));
    }
    // The log of another database would be written over the copy by whoever opens it.
    for suffix in BESIDE {
        let mut beside = destination.as_os_str().to_owned();
        beside.push(suffix);
        let beside = PathBuf::from(beside);
        if beside.exists() {
            return Err(Failure::new(format!(
                "`{}` exists: the database `{}` is open, or was when its program was killed",
                beside.display(),
                destination.display()
            ))
            .hint("choose another name for the copy, or stop who has it open"));
        }
    }
    Ok(())
}

fn exists(destination: &Path) -> Failure {
    Failure::new(format!("`{}` exists", destination.display())).hint("choose another name, or replace it with --force")
}

/// The copy before it has its name; removed when it never gets it.
struct Partial(PathBuf);

impl Partial {
    fn beside(destination: &Path) -> Result<Self, Failure> {
        crate::check_directory_of(destination)?;
        let name = destination.file_name().unwrap_or_default().to_string_lossy();
        let path = destination.with_file_name(format!(".{name}.{}.partial", std::process::id()));
        // Nobody else may read it, whatever it is going to hold.
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        made.map_err(|error| Failure::new(format!("cannot write `{}`: {error}", destination.display())))?;
        Ok(Self(path))
    }

    /// Brings it to the disk and gives it its name, at once and whole.
    fn name(self, arguments: &Arguments, private: bool) -> Result<(), Failure> {
        let destination = &arguments.destination;
        let fail = |error: std::io::Error| Failure::new(format!("cannot write `{}`: {error}", destination.display()));
        let mode = std::fs::metadata(&arguments.source).map_err(fail)?.permissions().mode() & 0o777;
        let mode = if private { mode & 0o600 } else { mode };
        std::fs::set_permissions(&self.0, Permissions::from_mode(mode | 0o400)).map_err(fail)?;
        File::open(&self.0).and_then(|file| file.sync_all()).map_err(fail)?;
        if arguments.force {
            std::fs::rename(&self.0, destination).map_err(fail)?;
        } else {
            // Unlike a rename, it fails when somebody else was there first.
            std::fs::hard_link(&self.0, destination).map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => exists(destination),
                _ => fail(error),
            })?;
        }
        let parent = destination.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all()).map_err(fail)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Renamed, it is no longer there.
        let _ = std::fs::remove_file(&self.0);
        for suffix in BESIDE {
            let mut beside = self.0.as_os_str().to_owned();
            beside.push(suffix);
            let _ = std::fs::remove_file(beside);
        }
    }
}

fn copy(arguments: &Arguments, partial: &Partial, stop: &Stop) -> Result<Copied, Failure> {
    let bar = bar(arguments.json);
    let mut go_on = |progress: Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        !stop.asked()
    };
    let copied = backup::copy(&arguments.source, &partial.0, &mut go_on).map_err(|error| failure(&error));
    bar.finish_and_clear();
    copied
}

/// How far it is, how fast, and how long it will take; on a terminal only.
fn bar(json: bool) -> ProgressBar {
    let target = if json { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style = ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
    ProgressBar::with_draw_target(Some(0), target).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Looks at the copy as the engine does, which knows the orders and functions that its indexes may be in.
fn verify(path: &Path, copied: &Copied, stop: &Stop) -> Result<(), Failure> {
    backup::compare(path, copied).map_err(|error| failure(&error))?;
    let options = Options { journal: Journal::Keep, read_only: true, ..Options::default() };
    let database = Database::open(path, options).map_err(|error| failure(&error))?;
    let mut session = database.session(SessionOptions::new("rowferry", Language::Postgres));
    let _interrupts = stop.interrupts(session.interrupter())?;
    let found = session.integrity().map_err(|error| failure(&error))?;
    match found.as_slice() {
        [] => Ok(()),
        [first, rest @ ..] => Err(Failure::new(match rest.len() {
            0 => format!("the copy is damaged, as the source must be: {first}"),
            more => format!("the copy is damaged, as the source must be: {first} (and {more} more)"),
        })
        .hint("`rowferry check` says what is wrong with the source")),
    }
}

fn tell(arguments: &Arguments, copied: &Copied, took: Duration) -> Result<(), Failure> {
    // Those that somebody has made: SQLite's own, and ours, are compared as well.
    let own = |name: &str| name.starts_with("sqlite_") || name.starts_with("rowferry_");
    let tables: Vec<_> = copied.tables.iter().filter(|(name, _)| !own(name)).collect();
    let rows: u64 = tables.iter().map(|(_, rows)| rows).sum();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let tables: serde_json::Map<_, _> = tables.iter().map(|(name, rows)| (name.clone(), (*rows).into())).collect();
        let told = serde_json::json!({
            "source": arguments.source.display().to_string(),
            "destination": arguments.destination.display().to_string(),
            "bytes": copied.bytes,
            "tables": tables,
            "seconds": (took.as_secs_f64() * 1_000.0).round() / 1_000.0,
        });
        writeln!(out, "{told}")?;
    } else {
        let (destination, bytes) = (arguments.destination.display(), indicatif::BinaryBytes(copied.bytes));
        let (tables, seconds) = (tables.len(), took.as_secs_f64());
        writeln!(out, "{destination}: {bytes}, {tables} tables, {rows} rows, in {seconds:.1} s; checked")?;
    }
    out.flush()?;
    Ok(())
}

fn failure(error: &Error) -> Failure {
    let mut message = error.message.clone();
    if let Some(detail) = &error.detail {
        message.push('\n');
        message.push_str(detail);
    }
    Failure::of(message, error.hint.clone())
}
