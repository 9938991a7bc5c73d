//! `rowferry man`: what `--help` says, as pages for `man`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_mangen::Man;

use crate::Failure;

/// Write the manual as pages for man
///
/// Examples:
///   rowferry man --output ~/.local/share/man/man1    a page for each command: man rowferry-serve
///   rowferry man | man -l -                          the page of `rowferry` itself, to read at once
///
/// A package of the system has them in their places already.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Write rowferry.1, rowferry-serve.1 and so on into this directory, which is made when it is not there
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
}

/// Writes the pages, or prints the one of the program.
///
/// # Errors
///
/// Fails when the directory cannot be written, or standard output is closed.
pub fn run(arguments: &Arguments, command: clap::Command) -> Result<(), Failure> {
    // It has no page of its own, and shall not be named as if it had.
    let command = command.disable_help_subcommand(true);
    match &arguments.output {
        Some(directory) => {
            let failed = |error: std::io::Error| {
                Failure::new(format!("cannot write the manual into `{}`: {error}", directory.display()))
            };
            std::fs::create_dir_all(directory).map_err(failed)?;
            clap_mangen::generate_to(command, directory).map_err(failed)
        }
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(&page)?;
            Ok(stdout.flush()?)
        }
    }
}
