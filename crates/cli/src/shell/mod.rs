//! `rowferry shell URL`: a conversation with any database that we can reach.

mod commands;
mod describe;
mod editor;
mod interrupts;
mod screen;
mod statements;

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use rowferry_client::legible;

use self::commands::Command;
use self::describe::Listing;
use self::editor::{Line, Table, Typed};
use self::interrupts::Interrupts;
use self::screen::Screen;
pub(crate) use self::statements::is_one_statement;
use self::statements::{Cut, Inside, TERMINATOR, cut};
use crate::conversation::{self, Answers, Column, Conversation, Dialect, Done, Transaction};
use crate::output::{Expanded, Format, Printer};
use crate::query::{Look, terminal_width};
use crate::{Failure, check_directory_of};

/// Talk with a database
///
/// URL is what `rowferry query` takes: a file, postgresql://, mysql://, informix:// or gbase8s://. Statements end with a
/// semicolon and may have several lines; Tab completes names; commands begin with a backslash, and \? lists them.
///
///   rowferry shell app.db
///   rowferry shell postgresql://ada@db.example:5432/shop
///   rowferry shell informix://informix:in4mix@127.0.0.1:9088/store < changes.sql
///
/// When standard input is no terminal its statements are run; the first that fails ends it with code 1, unless
/// --keep-going says otherwise.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The database
    url: String,

    /// Show how long statements take
    #[arg(long)]
    timing: bool,

    /// Show long answers as they come, without a pager
    #[arg(long)]
    no_pager: bool,

    /// Go on behind a statement that fails; the exit code is 1 nevertheless
    #[arg(long)]
    keep_going: bool,

    /// The form of answers
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    format: Format,

    /// The same as --format json: one array with an object per row
    #[arg(long, conflicts_with_all = ["format", "csv"], help_heading = "Output")]
    json: bool,

    /// The same as --format csv
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    csv: bool,

    #[command(flatten)]
    look: Look,
}

/// Talks until the user leaves; the exit code.
///
/// # Errors
///
/// Fails when the database cannot be reached or the terminal cannot be used.
pub fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let conversation = conversation::open(&arguments.url)?;
    let is_interactive = io::stdin().is_terminal() && io::stdout().is_terminal();
    let expanded = if is_interactive { Expanded::Auto } else { Expanded::Off };
    let mut shell = Shell {
        place: arguments.url.clone(),
        conversation,
        format: match (arguments.json, arguments.csv) {
            (true, _) => Format::Json,
            (_, true) => Format::Csv,
            _ => arguments.format,
        },
        expanded: arguments.look.expanded.unwrap_or(expanded),
        null: arguments.look.null.clone(),
        timing: arguments.timing,
        pager: is_interactive && !arguments.no_pager,
        file: None,
        terminator: TERMINATOR.to_owned(),
        last: String::new(),
        history: Vec::new(),
        interrupts: None,
        stale: true,
        over: false,
        failed: false,
        keep_going: is_interactive || arguments.keep_going,
    };
    if is_interactive {
        shell.talk()?
    } else {
        shell.run_lines(&mut io::stdin().lock())?
    }
    let code = u8::from(shell.failed && !is_interactive);
    if !shell.conversation.is_lost() {
        shell.conversation.close()?;
    }
    Ok(code)
}

struct Shell {
    place: String,
    conversation: Box<dyn Conversation>,
    format: Format,
    expanded: Expanded,
    null: Option<String>,
    timing: bool,
    pager: bool,
    file: Option<(PathBuf, File)>,
    terminator: String,
    /// The statement that was run last.
    last: String,
    /// What was typed, when it was last looked at.
    history: Vec<String>,
    /// At a terminal alone.
    interrupts: Option<Interrupts>,
    /// The names that are completed are not those of the database any more.
    stale: bool,
    /// The user leaves.
    over: bool,
    failed: bool,
    keep_going: bool,
}

/// How deep files may include others.
const DEEPEST: usize = 16;

impl Shell {
    /// At a terminal.
    fn talk(&mut self) -> Result<(), Failure> {
        self.interrupts = Some(Interrupts::watch()?);
        let mut line = Line::new(self.conversation.sql())?;
        println!("rowferry {}, {}", env!("CARGO_PKG_VERSION"), self.conversation.whom());
        println!("\\? lists the commands, \\q leaves.");
        while !self.over {
            if self.stale && self.conversation.transaction() == Transaction::None {
                self.stale = false;
                let tables = self.names();
                if let Some(words) = line.words() {
                    (words.tables, words.sql) = (tables, self.conversation.sql());
                }
            }
            if let Some(words) = line.words() {
                words.terminator.clone_from(&self.terminator);
            }
            match line.read(&self.prompt())? {
                Typed::Text(text) => {
                    self.history = line.history();
                    self.take(&text, 0);
                }
                Typed::Nothing => {}
                Typed::End => {
                    println!("\\q");
                    break;
                }
            }
        }
        Ok(())
    }

    fn prompt(&self) -> String {
        let mark = match self.conversation.transaction() {
            Transaction::None => "",
            Transaction::Open => "*",
            Transaction::Failed => "!",
        };
        let database = self.conversation.database();
        format!("{}={mark}> ", if database.is_empty() { "(none)" } else { database })
    }

    /// Without a terminal: statement by statement, each as soon as it is whole.
    fn run_lines(&mut self, lines: &mut dyn io::BufRead) -> Result<(), Failure> {
        let mut pending = String::new();
        let mut line = String::new();
        while !self.must_stop() {
            line.clear();
            let count = lines
                .read_line(&mut line)
                .map_err(|error| Failure::new(format!("cannot read from standard input: {error}")))?;
            if count == 0 {
                break;
            }
            pending.push_str(&line);
            // Nothing can end in any other line.
            let is_command = pending.len() == line.len() && self.is_command(&line);
            if is_command || line.contains(&*self.terminator) || line.to_ascii_lowercase().contains("end") {
                pending = self.take_whole(&pending, 0);
            }
        }
        if !self.must_stop() {
            self.take(&pending, 0);
        }
        Ok(())
    }

    fn must_stop(&self) -> bool {
        self.over || (self.failed && !self.keep_going)
    }

    fn is_command(&self, text: &str) -> bool {
        let text = text.trim_start();
        text.starts_with('\\') || self.new_terminator(text).is_some()
    }

    /// The word behind MySQL's DELIMITER.
    fn new_terminator<'t>(&self, line: &'t str) -> Option<&'t str> {
        let (word, rest) = line.split_once([' ', '\t'])?;
        (self.conversation.sql() == Dialect::MySql && word.eq_ignore_ascii_case("delimiter")).then(|| rest.trim())
    }

    /// Runs commands and statements, the last of which need not end with a terminator.
    fn take(&mut self, text: &str, depth: usize) {
        let rest = self.take_whole(text, depth);
        if !self.must_stop() && matches!(cut(self.conversation.sql(), &rest, &self.terminator), Cut::Open(_)) {
            self.statement(rest.trim());
        }
    }

    /// Runs the commands and statements that are whole; what is left.
    fn take_whole(&mut self, text: &str, depth: usize) -> String {
        let mut rest = text;
        while !self.must_stop() {
            let start = rest.trim_start();
            if self.is_command(start) {
                let (line, behind) = start.split_once('\n').unwrap_or((start, ""));
                match self.new_terminator(line) {
                    Some(terminator) => self.delimiter(terminator),
                    None => self.command(line, depth),
                }
                rest = behind;
                continue;
            }
            match cut(self.conversation.sql(), start, &self.terminator) {
                Cut::Statement(statement, behind) => {
                    self.statement(statement);
                    rest = behind;
                }
                Cut::Nothing => return String::new(),
                Cut::Open(
                    Inside::Statement | Inside::Parentheses | Inside::Comment | Inside::Quotes(_) | Inside::Body,
                ) => {
                    return start.to_owned();
                }
            }
        }
        String::new()
    }

    fn statement(&mut self, sql: &str) {
        sql.clone_into(&mut self.last);
        let first = sql.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
        if matches!(first.as_str(), "create" | "alter" | "drop" | "rename" | "use" | "database" | "set") {
            self.stale = true;
        }
        let started = Instant::now();
        let result = self.ask(sql);
        let took = started.elapsed();
        if let Err(failure) = result {
            self.complain(&failure);
        }
        if self.timing {
            self.say(&format!("{:.3} ms", took.as_secs_f64() * 1000.0));
        }
        if self.conversation.is_lost() {
            self.reconnect();
        }
    }

    /// Runs SQL and shows what it answers.
    fn ask(&mut self, sql: &str) -> Result<(), Failure> {
        let canceller = self.interrupts.as_ref().and_then(|_| self.conversation.canceller());
        let interrupts = self.interrupts.clone();
        self.shown(|conversation, printer| {
            let mut work = || conversation.ask(sql, printer);
            match &interrupts {
                Some(interrupts) => interrupts.during(canceller, work),
                None => work(),
            }
        })
    }

    /// Lets something be printed where answers go.
    fn shown(
        &mut self,
        print: impl FnOnce(&mut dyn Conversation, &mut Shown<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let is_terminal = self.file.is_none() && io::stdout().is_terminal();
        let width = is_terminal.then(terminal_width);
        let style =
            crate::output::Style { format: self.format, expanded: self.expanded, width, null: self.null.clone() };
        let conversation = &mut *self.conversation;
        if let Some((path, file)) = &mut self.file {
            let mut printer = Printer::new(style, Box::new(io::BufWriter::new(file)) as Box<dyn Write + '_>);
            let result = print(conversation, &mut printer);
            printer
                .end()
                .and_then(|()| printer.out().flush())
                .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", path.display())))?;
            return result;
        }
        let height = (self.pager && is_terminal).then(|| usize::from(console::Term::stdout().size().0).max(2) - 1);
        let mut screen = Screen::new(height);
        let mut printer = Printer::new(style, Box::new(&mut screen) as Box<dyn Write + '_>);
        let result = print(conversation, &mut printer);
        let ended = printer.end();
        drop(printer);
        screen.finish()?;
        ended?;
        result
    }

    /// A remark that is no answer: programs get answers alone on standard output.
    fn say(&self, text: &str) {
        if self.interrupts.is_some() { println!("{text}") } else { eprintln!("{text}") }
    }

    fn complain(&mut self, failure: &Failure) {
        self.failed = true;
        eprintln!("error: {failure}");
        if let Some(hint) = &failure.hint {
            eprintln!("hint: {hint}");
        }
    }

    /// The connection is gone: another one, as the user would make it.
    fn reconnect(&mut self) {
        match conversation::open(&self.place) {
            Ok(conversation) => {
                self.conversation = conversation;
                eprintln!("The connection was lost. There is a new one; what was not committed is gone.");
            }
            Err(failure) => {
                self.complain(&failure);
                eprintln!("The connection is lost; \\c tries again.");
            }
        }
    }

    fn names(&mut self) -> Vec<Table> {
        let mut gathered = Gathered::default();
        let query = describe::names(self.conversation.sql());
        // Without names there is nothing to complete, and nothing to say.
        if self.conversation.ask(query, &mut gathered).is_err() {
            return Vec::new();
        }
        let mut tables: Vec<Table> = Vec::new();
        for row in gathered.rows {
            let mut cells = row.into_iter().flatten();
            let (Some(table), Some(column)) = (cells.next(), cells.next()) else { continue };
            match tables.last_mut().filter(|last| last.name == table) {
                Some(last) => last.columns.push(column),
                None => tables.push(Table { name: table, columns: vec![column] }),
            }
        }
        tables
    }

    fn command(&mut self, line: &str, depth: usize) {
        let result = match commands::parse(line) {
            Ok((command, argument)) => self.run_command(command, argument, depth),
            Err(name) => Err(Failure::new(format!("\\{name} is no command")).hint("\\? lists the commands")),
        };
        if let Err(failure) = result {
            self.complain(&failure);
        }
    }

    fn run_command(&mut self, command: Command, argument: &str, depth: usize) -> Result<(), Failure> {
        match command {
            Command::Help => return self.shown(|_, printer| Ok(printer.raw(commands::help().as_bytes())?)),
            Command::Quit => self.over = true,
            Command::Connect => {
                let place = if argument.is_empty() { self.place.clone() } else { argument.to_owned() };
                self.conversation = conversation::open(&place)?;
                (self.place, self.stale) = (place, true);
                self.say(&self.conversation.whom());
            }
            Command::ConnectionInfo => {
                let told = format!("{}, database {}\n", self.conversation.whom(), self.conversation.database());
                return self.shown(|_, printer| Ok(printer.raw(told.as_bytes())?));
            }
            Command::Describe if argument.is_empty() => return self.list(Listing::Relations, None),
            Command::Describe if argument.contains(['*', '?']) => return self.list(Listing::Relations, Some(argument)),
            Command::Describe => return self.describe(argument),
            Command::List(what) => return self.list(what, Some(argument).filter(|pattern| !pattern.is_empty())),
            Command::Expanded => {
                self.expanded = match argument {
                    "" if self.expanded == Expanded::On => Expanded::Off,
                    "" => Expanded::On,
                    word => chosen(word)?,
                };
                self.say(&format!("Records instead of tables: {}.", word_of(self.expanded)));
            }
            Command::Format => {
                if !argument.is_empty() {
                    self.format = chosen(argument)?;
                }
                self.say(&format!("Answers are shown as {}.", word_of(self.format)));
            }
            Command::Null => {
                self.null = (!argument.is_empty()).then(|| argument.trim_matches('\'').to_owned());
                self.say(&format!("NULL is shown as \"{}\".", self.null.as_deref().unwrap_or("NULL")));
            }
            Command::Timing => {
                self.timing = switched(argument, self.timing)?;
                self.say(&format!("Timing is {}.", on_or_off(self.timing)));
            }
            Command::Pager => {
                self.pager = switched(argument, self.pager)?;
                self.say(&format!("The pager is {}.", on_or_off(self.pager)));
            }
            Command::Output => {
                self.file = None;
                if !argument.is_empty() {
                    let path = PathBuf::from(argument);
                    check_directory_of(&path)?;
                    let file = File::create(&path).map_err(|error| cannot("write", &path, &error))?;
                    self.file = Some((path, file));
                }
            }
            Command::Include => {
                if depth == DEEPEST {
                    return Err(Failure::new("files include each other without end"));
                }
                let path = Path::new(argument);
                let text = std::fs::read_to_string(path).map_err(|error| cannot("read", path, &error))?;
                self.take(&text, depth + 1);
            }
            Command::Edit => {
                let text = if argument.is_empty() { edited(&self.last)? } else { edited_file(Path::new(argument))? };
                self.take(&text, depth);
            }
            Command::Again => {
                let last = self.last_statement()?;
                self.statement(&last);
            }
            Command::Watch => return self.watch(argument),
            Command::Delimiter => self.delimiter(argument),
            Command::Echo => return self.shown(|_, printer| Ok(printer.raw(format!("{argument}\n").as_bytes())?)),
            Command::History => {
                let text: String = self.history.iter().map(|line| format!("{line}\n")).collect();
                if argument.is_empty() {
                    return self.shown(|_, printer| Ok(printer.raw(text.as_bytes())?));
                }
                let path = Path::new(argument);
                std::fs::write(path, text).map_err(|error| cannot("write", path, &error))?;
            }
            Command::Shell => {
                let shell = std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".into());
                let mut program = std::process::Command::new(shell);
                if !argument.is_empty() {
                    program.arg("-c").arg(argument);
                }
                program.status().map_err(|error| Failure::new(format!("cannot run a shell: {error}")))?;
            }
        }
        Ok(())
    }

    fn last_statement(&self) -> Result<String, Failure> {
        if self.last.is_empty() {
            return Err(Failure::new("there is no statement yet"));
        }
        Ok(self.last.clone())
    }

    fn delimiter(&mut self, text: &str) {
        if text.is_empty() || text.contains('\\') {
            self.complain(&Failure::new("a terminator is a word or sign without backslashes, such as // or ;"));
        } else {
            text.clone_into(&mut self.terminator);
        }
    }

    fn watch(&mut self, seconds: &str) -> Result<(), Failure> {
        let Some(interrupts) = self.interrupts.clone() else {
            return Err(Failure::new("\\watch is for a terminal, where Ctrl-C ends it"));
        };
        let seconds = match seconds {
            "" => 2.0,
            text => match text.parse::<f64>() {
                Ok(seconds) if seconds > 0.0 && seconds < 1e6 => seconds,
                _ => return Err(Failure::new(format!("`{text}` is no number of seconds"))),
            },
        };
        let last = self.last_statement()?;
        let (failed, pager) = (self.failed, std::mem::take(&mut self.pager));
        self.failed = false;
        while !self.failed {
            self.statement(&last);
            if !interrupts.wait(Duration::from_secs_f64(seconds)) {
                break;
            }
        }
        (self.failed, self.pager) = (self.failed || failed, pager);
        Ok(())
    }

    fn list(&mut self, what: Listing, pattern: Option<&str>) -> Result<(), Failure> {
        self.ask(&describe::listing(self.conversation.sql(), what, pattern))
    }

    fn describe(&mut self, name: &str) -> Result<(), Failure> {
        let queries = describe::table(self.conversation.sql(), name);
        self.shown(|conversation, printer| {
            for (at, (heading, query)) in queries.into_iter().enumerate() {
                let mut gathered = Gathered::default();
                conversation.ask(&query, &mut gathered)?;
                if gathered.rows.is_empty() {
                    if at == 0 {
                        return Err(Failure::new(format!("there is no table or view \"{name}\""))
                            .hint("\\d lists what there is"));
                    }
                    continue;
                }
                printer.raw(format!("{heading}\n").as_bytes())?;
                printer.begin(gathered.columns)?;
                for row in gathered.rows {
                    printer.row(row.into_iter().map(|cell| cell.map(String::into_bytes)).collect())?;
                }
                printer.end()?;
            }
            Ok(())
        })
    }
}

/// What answers are printed by.
type Shown<'a> = Printer<Box<dyn Write + 'a>>;

/// Keeps an answer's rows.
#[derive(Default)]
struct Gathered {
    columns: Vec<Column>,
    rows: Vec<Vec<Option<String>>>,
}

impl Answers for Gathered {
    fn begin(&mut self, columns: Vec<Column>) -> io::Result<()> {
        self.columns = columns;
        Ok(())
    }

    fn row(&mut self, cells: Vec<Option<Vec<u8>>>) -> io::Result<()> {
        self.rows.push(cells.into_iter().map(|cell| cell.map(|bytes| legible(bytes).0)).collect());
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn done(&mut self, _: &Done) -> io::Result<()> {
        Ok(())
    }

    fn raw(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn notice(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot {what} `{}`: {error}", path.display()))
}

/// The value of a word.
fn chosen<T: clap::ValueEnum>(word: &str) -> Result<T, Failure> {
    T::from_str(word, true).map_err(|_| {
        let words: Vec<String> = T::value_variants().iter().map(|value| word_of(value.clone())).collect();
        Failure::new(format!("`{word}` is none of {}", words.join(", ")))
    })
}

fn word_of<T: clap::ValueEnum>(value: T) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// A switch's state from now on.
fn switched(word: &str, before: bool) -> Result<bool, Failure> {
    match word {
        "" => Ok(!before),
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(Failure::new(format!("`{other}` is neither on nor off"))),
    }
}

fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// A text as the user's editor leaves it.
fn edited(text: &str) -> Result<String, Failure> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let path = std::env::temp_dir().join(format!("rowferry-{}.sql", std::process::id()));
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let mut file = made.map_err(|error| cannot("write", &path, &error))?;
    let written = writeln!(file, "{text}{}", if text.is_empty() { "" } else { TERMINATOR });
    let result = written.map_err(|error| cannot("write", &path, &error)).and_then(|()| edited_file(&path));
    let _ = std::fs::remove_file(&path);
    result
}

/// A file's text when the user's editor has ended.
fn edited_file(path: &Path) -> Result<String, Failure> {
    let set = |name: &&str| std::env::var(name).ok().filter(|editor| !editor.is_empty());
    let editor = ["VISUAL", "EDITOR"].iter().find_map(set).unwrap_or_else(|| "vi".into());
    // The editor may be set with arguments.
    let status = std::process::Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("edit")
        .arg(path)
        .status()
        .map_err(|error| Failure::new(format!("cannot run `{editor}`: {error}")))?;
    if !status.success() {
        return Err(Failure::new(format!("`{editor}` has failed, and nothing is run")));
    }
    std::fs::read_to_string(path).map_err(|error| cannot("read", path, &error))
}
