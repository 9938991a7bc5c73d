//! Where answers of a shell go: the terminal, through a pager where they are longer than that, or a file.

use std::io::{self, ErrorKind, Stdout, Write};
use std::process::{Child, Command, Stdio};

/// The terminal: shows short answers as they are, and hands long ones to a pager.
pub(super) struct Screen {
    out: Stdout,
    /// So many lines are short; `None` shows everything as it comes.
    height: Option<usize>,
    /// What was written while it was not known whether it is long.
    held: Vec<u8>,
    lines: usize,
    pager: Option<Child>,
}

impl Screen {
    /// A screen that pages what is longer than `height` lines.
    pub(super) fn new(height: Option<usize>) -> Self {
        Self { out: io::stdout(), height, held: Vec::new(), lines: 0, pager: None }
    }

    /// Everything has been written: shows it, and waits for the pager's reader.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        match self.pager.take() {
            Some(mut pager) => {
                drop(pager.stdin.take());
                pager.wait().map(drop)
            }
            None => {
                let held = std::mem::take(&mut self.held);
                self.out.write_all(&held)?;
                self.out.flush()
            }
        }
    }

    /// Begins to page. Where there is no pager, everything is shown as it comes.
    fn page(&mut self) -> io::Result<()> {
        self.height = None;
        let held = std::mem::take(&mut self.held);
        match pager() {
            Some(pager) => {
                self.pager = Some(pager);
                self.send(&held)
            }
            None => self.out.write_all(&held),
        }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(input) = self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) else { return Ok(()) };
        match input.write_all(bytes) {
            // Its reader has seen enough: what is still to come is read, and shown to nobody.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                if let Some(pager) = &mut self.pager {
                    pager.stdin = None;
                }
                Ok(())
            }
            result => result,
        }
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.height {
            _ if self.pager.is_some() => self.send(bytes)?,
            None => self.out.write_all(bytes)?,
            Some(height) => {
                self.lines += bytes.iter().filter(|byte| **byte == b'\n').count();
                self.held.extend_from_slice(bytes);
                if self.lines >= height {
                    self.page()?;
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.height.is_none() && self.pager.is_none() { self.out.flush() } else { Ok(()) }
    }
}

/// The pager of the user's choice: `$ROWFERRY_PAGER`, `$PAGER`, else `less`. An empty setting is none.
fn pager() -> Option<Child> {
    let chosen = ["ROWFERRY_PAGER", "PAGER"].iter().find_map(|name| std::env::var(name).ok());
    let command = match chosen {
        Some(command) if command.trim().is_empty() => return None,
        Some(command) => command,
        None if is_there("less") => "less -RX".to_owned(),
        None => return None,
    };
    Command::new("/bin/sh").arg("-c").arg(command).stdin(Stdio::piped()).spawn().ok()
}

/// A program of this name would be found.
fn is_there(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
