//! `rowferry completions SHELL`: what a shell completes of our command line.

use std::io::Write as _;

use clap::Args;
use clap_complete::Shell;

use crate::Failure;

/// Print what makes a shell complete commands and options
///
/// Examples:
///   rowferry completions bash > ~/.local/share/bash-completion/completions/rowferry
///   rowferry completions zsh > ~/.zfunc/_rowferry       with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
///   rowferry completions fish > ~/.config/fish/completions/rowferry.fish
///   rowferry completions powershell >> $PROFILE
///
/// A package of the system has them in their places already.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The shell that shall complete
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script for the shell.
///
/// # Errors
///
/// Fails when standard output is closed.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Result<(), Failure> {
    let name = command.get_name().to_owned();
    // The generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&script)?;
    stdout.flush()?;
    Ok(())
}
