//! `rowferry query URL SQL`: ask any database that we can reach, and show the answer to people or programs.

use std::fs::File;
use std::io::{BufWriter, IsTerminal as _, Read as _, Write};
use std::path::PathBuf;

use clap::Args;

use crate::conversation::{self, Answers as _};
use crate::output::{Expanded, Format, Printer, Style};
use crate::{Failure, check_directory_of};

/// As many as each of the protocols can count.
const MOST_PARAMETERS: usize = 32_767;

/// Run SQL on a database and print what it answers
///
/// URL is one of
///
///   app.db, sqlite:///var/lib/app.db       a SQLite file, asked in PostgreSQL's SQL
///   postgresql://user:pw@host:5432/db      any server that speaks PostgreSQL's protocol
///   mysql://user:pw@host:3306/db           MySQL or MariaDB
///   informix://user:pw@host:9088/db        any server that speaks Informix's protocol
///   gbase8s://user:pw@host:9088/db?server=N  GBase 8s, which speaks it, too
///
/// SQL is a statement, or `-` to read it from standard input; -f reads it from a file. Answers go to standard output as a table, or
/// as --format says. Everything else goes to standard error. The exit code is 0 when the statement was carried out, 1
/// when it was not, 2 when the arguments make no sense.
///
/// A password that the URL does not have is taken from PGPASSWORD, PGPASSFILE or ~/.pgpass, from MYSQL_PWD or
/// ~/.my.cnf, else asked for at a terminal.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The database to ask
    url: String,

    /// The statement, or `-` to read it from standard input
    #[arg(required_unless_present = "file")]
    sql: Option<String>,

    /// Read the SQL from this file
    #[arg(short, long, value_name = "PATH", conflicts_with = "sql")]
    file: Option<PathBuf>,

    /// A value for the statement's next parameter: $1, $2, … in PostgreSQL's SQL, ? in that of MySQL and Informix
    ///
    /// It travels beside the statement and is never made a part of its text; the database takes it as the type that it finds.
    /// With values there is one statement.
    #[arg(short, long = "param", value_name = "VALUE", allow_hyphen_values = true)]
    params: Vec<String>,

    /// What is NULL as the value of a parameter
    #[arg(long, value_name = "TEXT", requires = "params")]
    param_null: Option<String>,

    #[command(flatten)]
    look: Look,

    /// Write the answer to this file instead of standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// How answers look.
#[derive(Args, Debug)]
pub(crate) struct Look {
    /// The form of the answer
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    format: Format,

    /// The same as --format json: one array with an object per row
    #[arg(long, conflicts_with_all = ["format", "csv"], help_heading = "Output")]
    json: bool,

    /// The same as --format csv
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    csv: bool,

    /// Tables as records, a line for each column: always, or `auto` where they would not fit the terminal
    #[arg(short = 'x', long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "on",
          value_name = "WHEN", help_heading = "Output")]
    expanded: Option<Expanded>,

    /// What stands for NULL in tables
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    null: Option<String>,
}

impl Look {
    /// The style for a place that is so many columns wide.
    pub(crate) fn style(&self, width: Option<usize>, expanded: Expanded) -> Style {
        let format = match (self.json, self.csv) {
            (true, _) => Format::Json,
            (_, true) => Format::Csv,
            _ => self.format,
        };
        Style { format, expanded: self.expanded.unwrap_or(expanded), width, null: self.null.clone() }
    }
}

/// Asks the question and prints the answer.
///
/// # Errors
///
/// Fails when the database cannot be reached, refuses the statement, or the answer cannot be written.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let sql = text(arguments)?;
    match &arguments.output {
        None => {
            let stdout = std::io::stdout();
            let width = stdout.is_terminal().then(terminal_width);
            ask(arguments, &sql, width, stdout.lock())
        }
        Some(path) => {
            check_directory_of(path)?;
            let file = File::create(path)
                .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", path.display())))?;
            ask(arguments, &sql, None, file)
        }
    }
}

/// The columns of the terminal.
pub(crate) fn terminal_width() -> usize {
    usize::from(console::Term::stdout().size().1)
}

fn text(arguments: &Arguments) -> Result<String, Failure> {
    if let Some(path) = &arguments.file {
        return std::fs::read_to_string(path)
            .map_err(|error| Failure::new(format!("cannot read SQL from `{}`: {error}", path.display())));
    }
    match arguments.sql.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::new(format!("cannot read SQL from standard input: {error}")))?;
            Ok(text)
        }
        sql => Ok(sql.unwrap_or_default().to_owned()),
    }
}

fn ask(arguments: &Arguments, sql: &str, width: Option<usize>, out: impl Write) -> Result<(), Failure> {
    let mut conversation = conversation::open(&arguments.url)?;
    let mut printer = Printer::new(arguments.look.style(width, Expanded::Off), BufWriter::new(out));
    if arguments.params.is_empty() {
        conversation.ask(sql, &mut printer)?;
    } else {
        let null = arguments.param_null.as_deref();
        let values: Vec<Option<&str>> =
            arguments.params.iter().map(|value| Some(value.as_str()).filter(|_| null != Some(value))).collect();
        if values.len() > MOST_PARAMETERS {
            return Err(Failure::new(format!("no statement has more than {MOST_PARAMETERS} parameters")).usage());
        }
        conversation.ask_with(sql, &values, &mut printer)?;
    }
    printer.end()?;
    conversation.close()
}
