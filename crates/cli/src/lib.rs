//! The rowferry command line.
//!
//! A library, so that the Python console script and the plain program are the same code: both call [`run`]. Each
//! subcommand lives in a module of its own, with an `Arguments` struct (what `--help` teaches) and a function `run`.
//!
//! Exit codes: 0 done, 1 it failed (the reason is on standard error), 2 the arguments make no sense; `assess`, `check` and `doctor` have a fourth.

// The command line is the outside world: it reads files, the environment and clocks.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

pub mod assess;
pub mod backup;
pub mod changes;
pub mod check;
pub mod completions;
mod conversation;
pub mod copy;
pub mod demo;
pub mod doctor;
mod lifeline;
mod limits;
pub mod logging;
pub mod man;
mod output;
pub mod password;
pub mod query;
pub mod serve;
mod service;
pub mod shell;
mod signals;
mod stop;

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser, Subcommand};

/// Counts what sessions use, so that one of them cannot take what the others need.
#[global_allocator]
static ALLOCATOR: rowferry_engine::memory::CountingAllocator = rowferry_engine::memory::CountingAllocator;

/// Wires for SQLite: serve a file to clients of PostgreSQL, Informix and MySQL, and ask questions of any of them.
#[derive(Debug, Parser)]
#[command(
    name = "rowferry",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Each command teaches by examples: rowferry serve --help"
)]
struct CommandLine {
    #[command(flatten)]
    logging: logging::Arguments,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Assess(assess::Arguments),
    Backup(backup::Arguments),
    Changes(changes::Arguments),
    Check(check::Arguments),
    Completions(completions::Arguments),
    Copy(Box<copy::Arguments>),
    Demo(demo::Arguments),
    Doctor(doctor::Arguments),
    Man(man::Arguments),
    Password(password::Arguments),
    Query(query::Arguments),
    Serve(Box<serve::Arguments>),
    Shell(shell::Arguments),
}

/// Runs the command line `args`, the first of which is the program's name, and returns the exit code.
///
/// Never exits the process, so that a caller (the Python console script) may clean up.
pub fn run<I, A>(args: I) -> u8
where
    I: IntoIterator<Item = A>,
    A: Into<OsString> + Clone,
{
    let line = match CommandLine::try_parse_from(args) {
        Ok(line) => line,
        Err(error) => {
            // Help and version come this way, too; clap knows which stream and which code each deserves.
            let _ = error.print();
            if let Some(hint) = hint_of(&error) {
                eprintln!("hint: {hint}");
            }
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let logging = if matches!(line.command, Command::Copy(_)) { line.logging.quieter() } else { line.logging };
    logging::start(&logging);
    let outcome = match line.command {
        Command::Assess(arguments) => return assess::run(&arguments).unwrap_or_else(report),
        Command::Backup(arguments) => backup::run(&arguments),
        Command::Changes(arguments) => changes::run(&arguments),
        Command::Check(arguments) => return check::run(&arguments).unwrap_or_else(report),
        Command::Completions(arguments) => completions::run(&arguments, CommandLine::command()),
        Command::Copy(arguments) => copy::run(&arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Doctor(arguments) => return doctor::run(&arguments).unwrap_or_else(report),
        Command::Man(arguments) => man::run(&arguments, CommandLine::command()),
        Command::Password(arguments) => password::run(&arguments),
        Command::Serve(arguments) => serve::run(*arguments),
        Command::Query(arguments) => query::run(&arguments),
        Command::Shell(arguments) => return shell::run(&arguments).unwrap_or_else(report),
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => report(failure),
    }
}

/// Advice on arguments that make no sense, beyond what clap says of them.
fn hint_of(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    match (error.kind(), error.get(ContextKind::InvalidSubcommand), error.get(ContextKind::InvalidArg)) {
        // A database where a command belongs.
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word)), _)
            if word.contains("://") || std::path::Path::new(word).is_file() =>
        {
            let serve =
                if word.contains("://") { String::new() } else { format!(", `rowferry serve {word}` serves it") };
            Some(format!("`rowferry shell {word}` talks with it, `rowferry query {word} SQL` asks it{serve}"))
        }
        (ErrorKind::MissingRequiredArgument, _, Some(ContextValue::Strings(missing)))
            if missing.iter().any(|argument| argument == "<SQL>") =>
        {
            Some("give the question, `-` for standard input, or talk with it: rowferry shell URL".to_owned())
        }
        _ => None,
    }
}

/// Says why a subcommand has failed; the exit code for it.
fn report(failure: Failure) -> u8 {
    if failure.kind == FailureKind::ReaderGone {
        return 0;
    }
    eprintln!("rowferry: {failure}");
    if let Some(hint) = &failure.hint {
        eprintln!("hint: {hint}");
    }
    if failure.kind == FailureKind::Usage { 2 } else { 1 }
}

/// What a failure is to whoever called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FailureKind {
    /// It was tried, and failed.
    Failed,
    /// The arguments make no sense.
    Usage,
    /// `rowferry query … | head`: whoever read has all that was wanted, and wants to hear of nothing.
    ReaderGone,
}

/// Why a subcommand could not do its work, in a sentence for people.
#[derive(Debug)]
pub struct Failure {
    /// What went wrong.
    pub message: String,
    /// What to do about it, when that is known.
    pub hint: Option<String>,
    kind: FailureKind,
}

impl Failure {
    /// A failure without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(message.into(), None)
    }

    /// A failure with the advice that there is.
    pub fn of(message: String, hint: Option<String>) -> Self {
        Self { message, hint, kind: FailureKind::Failed }
    }

    /// The same failure, as one of the arguments.
    #[must_use]
    fn usage(self) -> Self {
        Self { kind: FailureKind::Usage, ..self }
    }

    /// The same failure with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Writing to standard output failed: the reader has gone, or the disk is full.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::BrokenPipe => FailureKind::ReaderGone,
            _ => FailureKind::Failed,
        };
        Self { kind, ..Self::new(format!("cannot write the answer: {error}")) }
    }
}

/// A file can be made in its directory, which is nobody's to make but the user's.
fn check_directory_of(path: &std::path::Path) -> Result<(), Failure> {
    let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) else { return Ok(()) };
    if directory.is_dir() {
        return Ok(());
    }
    let what = if directory.exists() { "is no directory" } else { "does not exist" };
    let shown = directory.display();
    let hint =
        if directory.exists() { "choose another place".to_owned() } else { format!("make it: mkdir -p {shown}") };
    Err(Failure::new(format!("cannot write `{}`: the directory `{shown}` {what}", path.display())).hint(hint))
}
