//! Where log lines go, and how many: `tracing` to standard error, so that standard output stays for answers.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

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

/// What is logged by default.
const DEFAULT: &str = "info";

/// Options of every subcommand.
#[derive(Args, Debug)]
#[command(next_help_heading = "Logging")]
pub struct Arguments {
    /// What to log: error, warn, info, debug, trace, or a filter such as `info,rowferry_server=debug`
    ///
    /// Statements are logged from `debug` on; at `info` there is one line per connection and per error.
    #[arg(long = "log", global = true, env = "ROWFERRY_LOG", default_value = DEFAULT, value_name = "FILTER")]
    filter: String,

    /// The form of log lines
    #[arg(long, global = true, value_enum, default_value_t)]
    log_format: LogFormat,
}

impl Arguments {
    /// For a subcommand that talks to a door of its own, whose sessions are nobody's business: errors, unless more is asked for.
    #[must_use]
    pub fn quieter(mut self) -> Self {
        if self.filter == DEFAULT {
            "error".clone_into(&mut self.filter);
        }
        self
    }
}

/// Starts logging. Only the first call in a process has an effect.
pub fn start(arguments: &Arguments) {
    let filter = EnvFilter::try_new(&arguments.filter).unwrap_or_else(|error| {
        eprintln!("rowferry: --log: {error}; logging at info");
        EnvFilter::new("info")
    });
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| OneLine(io::stderr())).with_target(false);
    let _ = match arguments.log_format {
        LogFormat::Text => builder.with_ansi(io::stderr().is_terminal()).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}

/// Keeps an event to one line, whatever its texts hold: clients choose names and statements, and must not be able to write
/// lines of their own.
struct OneLine<W>(W);

impl<W: Write> Write for OneLine<W> {
    /// One event, as the subscriber formats it: with a line's end of its own.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0.write_all(&one_line(event)).map(|()| event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// An event with its control characters escaped, but for the last line's end and colours.
fn one_line(event: &[u8]) -> Cow<'_, [u8]> {
    let body = event.strip_suffix(b"\n").unwrap_or(event);
    if !body.iter().any(|byte| byte.is_ascii_control() || *byte >= 0x80) {
        return Cow::Borrowed(event);
    }
    let text = String::from_utf8_lossy(body);
    let mut line = String::with_capacity(event.len() + 16);
    let mut rest = &*text;
    while let Some(character) = rest.chars().next() {
        let colour = colour_length(rest);
        if colour > 0 {
            line.push_str(&rest[..colour]);
            rest = &rest[colour..];
            continue;
        }
        match character {
            // Line and paragraph separators end a line for some programs.
            '\u{2028}' | '\u{2029}' => line.extend(character.escape_unicode()),
            _ if character.is_control() => line.extend(character.escape_default()),
            _ => line.push(character),
        }
        rest = &rest[character.len_utf8()..];
    }
    if body.len() < event.len() {
        line.push('\n');
    }
    Cow::Owned(line.into_bytes())
}

/// The length of the colour code at the beginning of a text: `ESC [ digits and semicolons m`.
fn colour_length(text: &str) -> usize {
    let Some(code) = text.strip_prefix("\x1b[") else { return 0 };
    match code.find(|c: char| !c.is_ascii_digit() && c != ';') {
        Some(end) if code[end..].starts_with('m') => 2 + end + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        for (event, shown) in [
            ("plain\n", "plain\n"),
            ("a\nb\r\n", "a\\nb\\r\n"),
            ("a\0\x07\x1b]0;title\x07", "a\\u{0}\\u{7}\\u{1b}]0;title\\u{7}"),
            ("\x1b[2m12:00\x1b[0m \x1b[1;31mERROR\x1b[0m\n", "\x1b[2m12:00\x1b[0m \x1b[1;31mERROR\x1b[0m\n"),
            ("\x1b[2J\n", "\\u{1b}[2J\n"),
            ("ünï\u{85}x\u{2028}y\n", "ünï\\u{85}x\\u{2028}y\n"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&one_line(event.as_bytes())), shown, "{event:?}");
        }
    }
}
