//! `rowferry query URL SQL`: ask any database that we can reach, and show the answer to people or programs.

use std::io::{BufWriter, IsTerminal as _, Read as _, Write};
use std::path::PathBuf;

use clap::Args;

use crate::Failure;
use crate::conversation::{self, Answers as _, Conversation};
use crate::output::{ColumnWriter, Columnar, Expanded, Form, Format, Printer, Style, Whole};
use crate::shell::is_one_statement;

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

    /// The form of the answer; by default the one that the ending of -o's file says, else a table
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<Form>,

    /// The same as --format json: one array with an object per row
    #[arg(long, conflicts_with_all = ["format", "csv"], help_heading = "Output")]
    json: bool,

    /// The same as --format csv
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    csv: bool,

    #[command(flatten)]
    look: Look,

    /// Write the answer to this file instead of standard output; it is whole, or is not there
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// How tables look.
#[derive(Args, Debug)]
pub(crate) struct Look {
    /// Tables as records, a line for each column: always, or `auto` where they would not fit the terminal
    #[arg(short = 'x', long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "on",
          value_name = "WHEN", help_heading = "Output")]
    pub(crate) expanded: Option<Expanded>,

    /// What stands for NULL in tables
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(crate) null: Option<String>,
}

impl Arguments {
    fn form(&self) -> Form {
        let extension = || self.output.as_ref()?.extension()?.to_str().and_then(Form::of_extension);
        match (self.json, self.csv) {
            (true, _) => Form::Text(Format::Json),
            (_, true) => Form::Text(Format::Csv),
            _ => self.format.or_else(extension).unwrap_or(Form::Text(Format::Table)),
        }
    }
}

/// Asks the question and prints the answer.
///
/// # Errors
///
/// Fails when the database cannot be reached, refuses the statement, or the answer cannot be written.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let form = arguments.form();
    let sql = text(arguments)?;
    let Some(path) = &arguments.output else {
        let stdout = std::io::stdout();
        return match form {
            Form::Columnar(_) if stdout.is_terminal() => {
                Err(Failure::new("the answer would be bytes, which a terminal cannot show")
                    .hint("write it to a file: -o PATH")
                    .usage())
            }
            Form::Columnar(form) => write(arguments, &sql, form, Box::new(stdout)),
            Form::Text(format) => {
                let width = stdout.is_terminal().then(terminal_width);
                show(arguments, &sql, format, width, stdout.lock())
            }
        };
    };
    let (whole, file) = Whole::create(path)?;
    match form {
        Form::Columnar(form) => write(arguments, &sql, form, Box::new(file))?,
        Form::Text(format) => show(arguments, &sql, format, None, file)?,
    }
    whole.finish()
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

/// Writes what the statements answer as text.
fn show(
    arguments: &Arguments,
    sql: &str,
    format: Format,
    width: Option<usize>,
    out: impl Write,
) -> Result<(), Failure> {
    let look = &arguments.look;
    let expanded = look.expanded.unwrap_or(Expanded::Off);
    let style = Style { format, expanded, width, null: look.null.clone() };
    let values = values(arguments)?;
    let mut conversation = conversation::open(&arguments.url)?;
    let mut printer = Printer::new(style, BufWriter::new(out));
    if values.is_empty() {
        conversation.ask(sql, &mut printer)?;
    } else {
        conversation.ask_with(sql, &values, &mut printer)?;
    }
    printer.end()?;
    conversation.close()
}

/// Writes what one statement answers by columns.
fn write(arguments: &Arguments, sql: &str, form: Columnar, out: Box<dyn Write + Send>) -> Result<(), Failure> {
    for (given, option) in
        [(arguments.look.expanded.is_some(), "--expanded"), (arguments.look.null.is_some(), "--null")]
    {
        if given {
            return Err(Failure::new(format!("{option} is for tables, and this form has none")).usage());
        }
    }
    let values = values(arguments)?;
    let mut conversation: Box<dyn Conversation> = conversation::open(&arguments.url)?;
    if !is_one_statement(conversation.sql(), sql) {
        return Err(Failure::new("a file of this form holds the rows of one statement, and here are several, or none"));
    }
    conversation.read(sql, &values, &mut ColumnWriter::new(form, Box::new(BufWriter::new(out))))?;
    conversation.close()
}

/// The values of the parameters.
fn values(arguments: &Arguments) -> Result<Vec<Option<&str>>, Failure> {
    if arguments.params.len() > MOST_PARAMETERS {
        return Err(Failure::new(format!("no statement has more than {MOST_PARAMETERS} parameters")).usage());
    }
    let null = arguments.param_null.as_deref();
    Ok(arguments.params.iter().map(|value| Some(value.as_str()).filter(|_| null != Some(value))).collect())
}
