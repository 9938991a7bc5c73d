//! `rowferry changes`: committed changes of rows, as they come.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use rowferry_engine::Error;
use rowferry_engine::changes::{self, Change, Feed};

use crate::Failure;
use crate::stop::Stop;

/// Print committed changes of chosen tables as lines of JSON
///
/// Changes are kept in the file from --enable on, whoever makes them: clients of any door, routines, foreign
/// keys, the `sqlite3` shell. What is rolled back is never there. Each line is
///
///   {"position":7,"op":"update","schema":"public","table":"orders","key":{"id":3},
///    "before":{…},"after":{…},"transaction":14291232423937,"time":"2026-11-27T10:00:00.123456Z"}
///
/// Lines come in the order of the commits, those of a transaction together. Who has dealt with a line goes on
/// behind its position, in this process or another.
///
/// Examples:
///   rowferry changes app.db --enable orders --enable items
///   rowferry changes app.db                             all that is kept, then the end
///   rowferry changes app.db --from 7 --follow           what comes behind position 7, as it is committed
///   rowferry changes app.db --table orders --follow
///   rowferry changes app.db --status
///
/// The exit code is 1 when changes behind --from are no longer kept.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The SQLite file, which may be served
    source: PathBuf,

    /// Print changes of this table only; can be given more than once
    #[arg(long, value_name = "TABLE")]
    table: Vec<String>,

    /// Begin behind this position; 0 is the oldest change that is kept, `end` the newest that there is
    #[arg(long, value_name = "POSITION", default_value = "0", value_parser = parse_position)]
    from: Position,

    /// Go on with changes as they are committed, until SIGINT or SIGTERM
    #[arg(long)]
    follow: bool,

    /// Keep changes of this table from now on; can be given more than once
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["table", "follow", "from"])]
    enable: Vec<String>,

    /// How many changes are kept, of all tables together; older ones are forgotten [default: 1000000]
    #[arg(long, value_name = "COUNT", requires = "enable", value_parser = clap::value_parser!(u64).range(1..))]
    keep: Option<u64>,

    /// Keep changes of this table no more; can be given more than once
    #[arg(long, value_name = "TABLE", conflicts_with_all = ["table", "follow", "from", "enable"])]
    disable: Vec<String>,

    /// Forget changes up to this position, which everybody has dealt with
    #[arg(long, value_name = "POSITION", conflicts_with_all = ["table", "follow", "from", "enable", "disable"])]
    forget: Option<i64>,

    /// Print which tables' changes are kept, and from where to where, as a line of JSON
    #[arg(long, conflicts_with_all = ["table", "follow", "from", "enable", "disable", "forget"])]
    status: bool,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Position {
    Behind(i64),
    End,
}

fn parse_position(text: &str) -> Result<Position, String> {
    match text.parse() {
        Ok(position) if position >= 0 => Ok(Position::Behind(position)),
        _ if text == "end" => Ok(Position::End),
        _ => Err("a position is a number from 0 on, or `end`".to_owned()),
    }
}

/// Prints the changes, or says which are to be kept.
///
/// # Errors
/// When the file cannot be used, keeps no changes, or not those that were asked for.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = &arguments.source;
    if file.to_str().is_some_and(|text| text.contains("://")) {
        return Err(Failure::new(format!("`{}` is a URL: changes are read from the file", file.display()))
            .hint("run it on the server's machine, with the path of the file that is served"));
    }
    if !arguments.enable.is_empty() {
        changes::enable(file, &arguments.enable, arguments.keep).map_err(failure)?;
        return status(arguments);
    }
    if !arguments.disable.is_empty() {
        changes::disable(file, &arguments.disable).map_err(failure)?;
        return status(arguments);
    }
    if let Some(up_to) = arguments.forget {
        changes::forget(file, up_to).map_err(failure)?;
        return status(arguments);
    }
    if arguments.status {
        return status(arguments);
    }
    let mut feed = Feed::open(file).map_err(failure)?;
    check_tables(arguments, &mut feed)?;
    print(arguments, &mut feed)
}

/// A table whose changes are not kept would be waited for in vain.
fn check_tables(arguments: &Arguments, feed: &mut Feed) -> Result<(), Failure> {
    let kept = feed.status().map_err(failure)?.tables;
    for name in &arguments.table {
        if !kept.iter().any(|(schema, table)| is(name, schema, table)) {
            return Err(Failure::new(format!("changes of table \"{name}\" are not kept"))
                .hint(format!("begin with: rowferry changes {} --enable {name}", arguments.source.display())));
        }
    }
    Ok(())
}

/// Whether a name of the command line is a table's.
fn is(name: &str, schema: &str, table: &str) -> bool {
    (schema == "public" && name == table)
        || name.strip_prefix(schema).and_then(|rest| rest.strip_prefix('.')) == Some(table)
}

fn print(arguments: &Arguments, feed: &mut Feed) -> Result<(), Failure> {
    let stop = Stop::watch()?;
    let wanted = |schema: &str, table: &str| {
        arguments.table.is_empty() || arguments.table.iter().any(|name| is(name, schema, table))
    };
    let mut after = match arguments.from {
        Position::Behind(position) => position,
        Position::End => feed.newest().map_err(failure)?,
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    while !stop.asked() {
        // Asked before what there is is read: what is committed in between is news at the next turn.
        let news = feed.has_news().map_err(failure)?;
        while news && !stop.asked() {
            let before = after;
            for change in feed.read(&mut after, &wanted).map_err(failure)? {
                writeln!(out, "{}", line(&change))?;
            }
            if after == before {
                break;
            }
        }
        out.flush()?;
        if !arguments.follow {
            break;
        }
        stop.pause();
    }
    Ok(())
}

fn line(change: &Change) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut line = format!("{{\"position\":{},\"op\":\"{}\"", change.position, change.operation.word());
    if let Some(schema) = &change.schema {
        line.push_str(&format!(",\"schema\":{}", quoted(schema)));
    }
    line.push_str(&format!(",\"table\":{},\"key\":{}", quoted(&change.table), change.key));
    for (name, row) in [("before", &change.before), ("after", &change.after)] {
        line.push_str(&format!(",\"{name}\":{}", row.as_deref().unwrap_or("null")));
    }
    match change.transaction {
        Some(number) => line.push_str(&format!(",\"transaction\":{number}")),
        None => line.push_str(",\"transaction\":null"),
    }
    line.push_str(&format!(",\"time\":{}", quoted(&change.time)));
    if change.damaged {
        line.push_str(",\"damaged\":true");
    }
    line.push('}');
    line
}

fn status(arguments: &Arguments) -> Result<(), Failure> {
    let status = Feed::open(&arguments.source).and_then(|mut feed| feed.status()).map_err(failure)?;
    let tables: Vec<String> = status
        .tables
        .iter()
        .map(|(schema, table)| if schema.is_empty() { table.clone() } else { format!("{schema}.{table}") })
        .collect();
    let told = serde_json::json!({
        "tables": tables,
        "oldest": status.oldest,
        "newest": status.newest,
        "keep": status.kept,
    });
    println!("{told}");
    Ok(())
}

fn failure(error: Error) -> Failure {
    Failure::of(error.message.clone(), error.hint.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_two_names() {
        assert!(is("orders", "public", "orders") && is("public.orders", "public", "orders"));
        assert!(is("sales.orders", "sales", "orders") && !is("orders", "sales", "orders"));
    }

    #[test]
    fn positions_are_numbers_or_the_end() {
        assert_eq!(parse_position("7"), Ok(Position::Behind(7)));
        assert_eq!(parse_position("end"), Ok(Position::End));
        assert!(parse_position("-1").is_err() && parse_position("x").is_err());
    }
}
