//! The line that is typed: history, completion, and whether it is whole.

use std::borrow::Cow;
use std::path::PathBuf;

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};

use super::commands;
use super::statements::{Cut, cut};
use crate::Failure;
use crate::conversation::Dialect;

/// Lines that are kept.
const KEPT: usize = 10_000;

/// What is typed at the terminal.
pub(super) enum Typed {
    /// One or several statements, or a command.
    Text(String),
    /// Ctrl-C: what was typed is given up.
    Nothing,
    /// Ctrl-D.
    End,
}

/// The terminal's line.
pub(super) struct Line {
    editor: Editor<Words, DefaultHistory>,
    history: Option<PathBuf>,
}

impl Line {
    /// A line with the history of the sessions before.
    pub(super) fn new(sql: Dialect) -> Result<Self, Failure> {
        let cannot = |error: ReadlineError| Failure::new(format!("cannot use the terminal: {error}"));
        let config = Config::builder()
            .max_history_size(KEPT)
            .map_err(cannot)?
            .history_ignore_space(true)
            .completion_type(rustyline::CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).map_err(cannot)?;
        editor.set_helper(Some(Words::new(sql)));
        let history = history_file();
        if let Some(path) = &history {
            // There is none before the first session.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    /// Reads what is typed up to the end of a statement or command.
    pub(super) fn read(&mut self, prompt: &str) -> Result<Typed, Failure> {
        match self.editor.readline(prompt) {
            Ok(text) => {
                if !text.trim().is_empty() {
                    self.remember(text.trim());
                }
                Ok(Typed::Text(text))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Nothing),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(Failure::new(format!("cannot read from the terminal: {error}"))),
        }
    }

    /// Adds to the history; one that cannot be kept is no reason to stop.
    fn remember(&mut self, text: &str) {
        let _ = self.editor.add_history_entry(text);
        let Some(path) = &self.history else { return };
        if let Some(directory) = path.parent() {
            let _ = std::fs::create_dir_all(directory);
        }
        let _ = self.editor.append_history(path);
    }

    /// What was typed, the oldest first.
    pub(super) fn history(&self) -> Vec<String> {
        self.editor.history().iter().cloned().collect()
    }

    /// What is completed, and what ends a statement.
    pub(super) fn words(&mut self) -> Option<&mut Words> {
        self.editor.helper_mut()
    }
}

/// `$ROWFERRY_HISTORY`, else `rowferry/history` in the directory for what programs keep; an empty setting keeps none.
fn history_file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("ROWFERRY_HISTORY") {
        return (!path.is_empty()).then(|| path.into());
    }
    let state = std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let state = state.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?;
    Some(state.join("rowferry/history"))
}

/// A table or view with its columns.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

/// What is completed, and when a text is whole.
pub(super) struct Words {
    pub(super) sql: Dialect,
    pub(super) terminator: String,
    pub(super) tables: Vec<Table>,
    files: FilenameCompleter,
}

/// Words that statements begin with or are made of, in all three dialects.
const KEYWORDS: &[&str] = &[
    "ALTER",
    "AND",
    "AS",
    "ASC",
    "BEGIN",
    "BETWEEN",
    "BY",
    "CASE",
    "COMMIT",
    "COUNT",
    "CREATE",
    "DELETE",
    "DESC",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXISTS",
    "EXPLAIN",
    "FROM",
    "FUNCTION",
    "GRANT",
    "GROUP",
    "HAVING",
    "IN",
    "INDEX",
    "INNER",
    "INSERT",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "PRIMARY",
    "PROCEDURE",
    "REFERENCES",
    "REVOKE",
    "ROLLBACK",
    "SELECT",
    "SET",
    "TABLE",
    "THEN",
    "TRIGGER",
    "TRUNCATE",
    "UNION",
    "UNIQUE",
    "UPDATE",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
    "WITH",
];

impl Words {
    fn new(sql: Dialect) -> Self {
        let terminator = super::statements::TERMINATOR.to_owned();
        Self { sql, terminator, tables: Vec::new(), files: FilenameCompleter::new() }
    }

    /// A text that is sent as it is: a command, or statements that have all ended.
    fn is_whole(&self, text: &str) -> bool {
        let start = text.trim_start();
        if start.starts_with('\\') || (self.sql == Dialect::MySql && is_delimiter(start)) {
            return true;
        }
        let mut rest = text;
        loop {
            match cut(self.sql, rest, &self.terminator) {
                Cut::Statement(_, behind) => rest = behind,
                Cut::Nothing => return true,
                // `\g` and its kin may stand behind statements.
                Cut::Open(_) => return rest.trim_start().starts_with('\\'),
            }
        }
    }

    /// What could stand where the word before `at` stands.
    fn candidates(&self, before: &str, word: &str) -> Vec<String> {
        let fits = |name: &&str| name.to_lowercase().starts_with(&word.to_lowercase());
        let typed = &before[..before.len() - word.len()];
        if let Some(table) = typed.strip_suffix('.') {
            let named = self.named(typed, last_word(table));
            return named
                .into_iter()
                .flat_map(|table| &table.columns)
                .map(String::as_str)
                .filter(fits)
                .map(quoted(self.sql))
                .collect();
        }
        let previous = last_word(typed.trim_end()).to_lowercase();
        let tables = self.tables.iter().map(|table| table.name.as_str()).filter(fits).map(quoted(self.sql));
        if matches!(
            previous.as_str(),
            "from" | "join" | "into" | "update" | "table" | "view" | "truncate" | "references"
        ) {
            return tables.collect();
        }
        let mut found: Vec<String> = (self.tables.iter())
            .filter(|table| mentions(before, &table.name))
            .flat_map(|table| &table.columns)
            .map(String::as_str)
            .filter(fits)
            .map(quoted(self.sql))
            .chain(tables)
            .collect();
        if !word.is_empty() {
            let lower = word.chars().all(|c| !c.is_uppercase());
            let keywords = KEYWORDS.iter().copied().filter(fits);
            found.extend(keywords.map(|keyword| if lower { keyword.to_lowercase() } else { keyword.to_owned() }));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The table of a name or alias.
    fn named(&self, text: &str, name: &str) -> Option<&Table> {
        let by_name = |name: &str| self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
        by_name(name).or_else(|| {
            // `… item i` and `… item AS i`.
            let words: Vec<&str> =
                text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
            words
                .windows(2)
                .filter(|pair| pair[1].eq_ignore_ascii_case(name))
                .find_map(|pair| by_name(pair[0]))
                .or_else(|| {
                    let aliased =
                        words.windows(3).filter(|three| three[1].eq_ignore_ascii_case("as") && three[2] == name);
                    aliased.into_iter().find_map(|three| by_name(three[0]))
                })
        })
    }
}

fn is_delimiter(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("delimiter"))
}

/// A name as a statement has it.
fn quoted(sql: Dialect) -> impl Fn(&str) -> String {
    move |name| {
        let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        match sql {
            Dialect::MySql if !name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                format!("`{}`", name.replace('`', "``"))
            }
            Dialect::Postgres if !plain => format!("\"{}\"", name.replace('"', "\"\"")),
            _ => name.to_owned(),
        }
    }
}

fn last_word(text: &str) -> &str {
    let start = text
        .rfind(|c: char| !c.is_alphanumeric() && c != '_')
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    &text[start..]
}

fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word.eq_ignore_ascii_case(name))
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, context: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..at];
        let pair = |text: String| Pair { display: text.clone(), replacement: text };
        if let Some(command) = before.trim_start().strip_prefix('\\') {
            let Some((name, _)) = command.split_once(char::is_whitespace) else {
                let start = at - command.len();
                let names = commands::ALL.iter().map(|entry| entry.name).filter(|name| name.starts_with(command));
                return Ok((start, names.map(|name| pair(name.to_owned())).collect()));
            };
            if matches!(name, "i" | "o" | "e" | "s") {
                return self.files.complete(line, at, context);
            }
            let word = last_word(before);
            let tables = self.tables.iter().map(|table| table.name.clone()).filter(|name| name.starts_with(word));
            return Ok((at - word.len(), tables.map(pair).collect()));
        }
        let word = last_word(before);
        Ok((at - word.len(), self.candidates(before, word).into_iter().map(pair).collect()))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if self.is_whole(context.input()) { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Borrowed(line)
    }
}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(sql: Dialect) -> Words {
        let table = |name: &str, columns: &[&str]| Table {
            name: name.into(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        };
        let mut words = Words::new(sql);
        words.tables = vec![table("item", &["id", "price"]), table("Item Line", &["item", "amount"])];
        words
    }

    fn complete(sql: Dialect, before: &str) -> Vec<String> {
        words(sql).candidates(before, last_word(before))
    }

    #[test]
    fn names_are_completed_where_they_can_stand() {
        assert_eq!(complete(Dialect::Postgres, "select * from it"), ["item", "\"Item Line\""]);
        assert_eq!(complete(Dialect::MySql, "select * from it"), ["item", "`Item Line`"]);
        assert_eq!(complete(Dialect::Postgres, "select * from item i where i."), ["id", "price"]);
        assert_eq!(complete(Dialect::Postgres, "select * from item as i where i.p"), ["price"]);
        assert_eq!(complete(Dialect::Postgres, "select * from item where pri"), ["price", "primary"]);
        assert_eq!(complete(Dialect::Postgres, "SEL"), ["SELECT"]);
    }

    #[test]
    fn a_text_is_whole_when_its_statements_have_ended() {
        let words = words(Dialect::Postgres);
        assert!(words.is_whole("select 1;") && words.is_whole("\\d item") && words.is_whole("  "));
        assert!(words.is_whole("select 1; \\g"));
        assert!(!words.is_whole("select 1") && !words.is_whole("select 1; select '") && !words.is_whole("select $$;"));
    }
}
