//! The command line, for the console script.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Run the `rowferry` command with `argv`, whose first item is the program's name, and return its exit code.
///
/// Releases the GIL. Signals keep the dispositions that the caller has set: `rowferry.__main__` restores the system's, so
/// that Ctrl-C works as in a plain program.
#[pyfunction]
pub fn main(py: Python<'_>, argv: Vec<OsString>) -> u8 {
    py.detach(|| rowferry_cli::run(argv))
}
