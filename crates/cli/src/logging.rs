//! Where log lines go, and how many: `tracing` to standard error, so that standard output stays for answers.

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// The form of a log line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum LogFormat {
    /// A line for people.
    #[default]
    Text,
    /// A JSON object a line, for programs.
    Json,
}

/// Options of every subcommand.
#[derive(Args, Debug)]
pub struct Arguments {
    /// What to log: error, warn, info, debug, trace, or a filter such as `info,rowferry_server=debug`
    ///
    /// Statements are logged from `debug` on; at `info` there is one line per connection and per error.
    #[arg(long = "log", global = true, env = "ROWFERRY_LOG", default_value = "info", value_name = "FILTER")]
    filter: String,

    /// The form of log lines
    #[arg(long, global = true, value_enum, default_value_t)]
    log_format: LogFormat,
}

/// Starts logging. Only the first call in a process has an effect.
pub fn start(arguments: &Arguments) {
    let filter = EnvFilter::try_new(&arguments.filter).unwrap_or_else(|error| {
        eprintln!("rowferry: --log: {error}; logging at info");
        EnvFilter::new("info")
    });
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let _ = match arguments.log_format {
        LogFormat::Text => builder.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}
