//! The shell's own commands, which begin with a backslash.

use super::describe::Listing;

/// A command with its argument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Command {
    /// Lists the commands.
    Help,
    /// Ends the shell.
    Quit,
    /// Opens another database.
    Connect,
    /// Tells who and where.
    ConnectionInfo,
    /// Describes a table, or lists relations.
    Describe,
    /// Lists.
    List(Listing),
    /// Records instead of tables.
    Expanded,
    /// The form of answers.
    Format,
    /// What stands for NULL.
    Null,
    /// Shows how long statements take.
    Timing,
    /// Long answers go through a pager.
    Pager,
    /// Answers go to a file.
    Output,
    /// Runs a file.
    Include,
    /// Edits the statement before, and runs it.
    Edit,
    /// Runs the statement before once more.
    Again,
    /// Runs it again and again.
    Watch,
    /// What ends a statement.
    Delimiter,
    /// Prints a text.
    Echo,
    /// Lists what was typed.
    History,
    /// Runs a program.
    Shell,
}

/// A command's name, its argument, and what it does.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) command: Command,
    pub(super) argument: &'static str,
    pub(super) does: &'static str,
}

const fn entry(name: &'static str, command: Command, argument: &'static str, does: &'static str) -> Entry {
    Entry { name, command, argument, does }
}

/// All of them.
pub(super) const ALL: &[Entry] = &[
    entry("?", Command::Help, "", "this list"),
    entry("q", Command::Quit, "", "leave; so does Ctrl-D"),
    entry("c", Command::Connect, "[URL]", "open another database, or the same anew"),
    entry("conninfo", Command::ConnectionInfo, "", "who and where"),
    entry(
        "d",
        Command::Describe,
        "[NAME]",
        "describe a table or view; without a name list tables, views and sequences",
    ),
    entry("dt", Command::List(Listing::Tables), "[PATTERN]", "list tables; * and ? in patterns"),
    entry("dv", Command::List(Listing::Views), "[PATTERN]", "list views"),
    entry("di", Command::List(Listing::Indexes), "[PATTERN]", "list indexes"),
    entry("ds", Command::List(Listing::Sequences), "[PATTERN]", "list sequences"),
    entry("df", Command::List(Listing::Routines), "[PATTERN]", "list functions and procedures"),
    entry("dn", Command::List(Listing::Schemas), "[PATTERN]", "list schemas (Informix: owners)"),
    entry("du", Command::List(Listing::Users), "[PATTERN]", "list users and roles"),
    entry("l", Command::List(Listing::Databases), "[PATTERN]", "list databases"),
    entry("x", Command::Expanded, "[on|off|auto]", "records instead of tables; auto: where tables would not fit"),
    entry("format", Command::Format, "[FORM]", "table, json, ndjson, csv or markdown"),
    entry("null", Command::Null, "[TEXT]", "what stands for NULL"),
    entry("timing", Command::Timing, "[on|off]", "show how long statements take"),
    entry("pager", Command::Pager, "[on|off]", "long answers go through $ROWFERRY_PAGER, $PAGER or less"),
    entry("o", Command::Output, "[FILE]", "answers go to a file; without one, here again"),
    entry("i", Command::Include, "FILE", "run the statements and commands of a file"),
    entry("e", Command::Edit, "[FILE]", "edit the last statement (or a file) with $EDITOR and run it"),
    entry("g", Command::Again, "", "run the last statement once more"),
    entry("watch", Command::Watch, "[SECONDS]", "run it every 2 seconds until Ctrl-C"),
    entry("delimiter", Command::Delimiter, "TEXT", "what ends a statement; MySQL's DELIMITER is the same"),
    entry("echo", Command::Echo, "[TEXT]", "print a text"),
    entry("s", Command::History, "[FILE]", "what was typed; to a file with a name"),
    entry("!", Command::Shell, "[COMMAND]", "run a command of the system"),
];

/// The command of a line that begins with a backslash, and its argument.
///
/// # Errors
///
/// The name that none has.
pub(super) fn parse(line: &str) -> Result<(Command, &str), &str> {
    let line = line.trim().trim_start_matches('\\');
    // These need no blank behind them.
    for name in ["!", "?"] {
        if let Some(argument) = line.strip_prefix(name) {
            let command = if name == "!" { Command::Shell } else { Command::Help };
            return Ok((command, argument.trim()));
        }
    }
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // `\d+` and `\dtS` show here what `\d` and `\dt` do.
    let plain = name.trim_end_matches(['+', 'S']);
    let argument = argument.trim().trim_end_matches(';').trim_end();
    match ALL.iter().find(|entry| entry.name == name || entry.name == plain) {
        Some(entry) => Ok((entry.command, argument)),
        None => Err(name),
    }
}

/// The list for people.
pub(super) fn help() -> String {
    let shown = |entry: &Entry| format!("\\{} {}", entry.name, entry.argument);
    let width = ALL.iter().map(|entry| shown(entry).len()).max().unwrap_or_default();
    let lines: Vec<String> = ALL.iter().map(|entry| format!("  {:width$}  {}", shown(entry), entry.does)).collect();
    format!(
        "A statement ends with a semicolon; Ctrl-C gives it up, or stops it while it runs. Tab completes.\n{}\n",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_with_their_arguments() {
        assert_eq!(parse("\\d  orders ;"), Ok((Command::Describe, "orders")));
        assert_eq!(parse("\\d+"), Ok((Command::Describe, "")));
        assert_eq!(parse("\\dt it*"), Ok((Command::List(Listing::Tables), "it*")));
        assert_eq!(parse("\\!ls -l"), Ok((Command::Shell, "ls -l")));
        assert_eq!(parse("\\nosuch x"), Err("nosuch"));
        let mut names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
