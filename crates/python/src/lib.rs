//! The extension module `rowferry._core`; the only crate that names PyO3.
//!
//! [`gil`] is the one door through which the GIL is released, [`cells`] builds objects from values, [`errors`] raises
//! the classes of `rowferry.exceptions`, [`space`] is what event loops read into, [`direct`] the way past them;
//! [`pump`] moves the bytes of every protocol; each driver has a folder.

// This crate is the outside world: it connects sockets on behalf of Python.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]
// The stub `_core.pyi` is the documentation of what Python sees; everything else is private to this crate.
#![allow(missing_docs)]

mod arrow;
mod cells;
#[cfg(feature = "command-line")]
mod cli;
mod collector;
mod decimal;
mod direct;
mod errors;
mod forks;
mod gil;
mod informix;
mod moments;
mod mysql;
mod pump;
mod space;
mod turns;

use pyo3::prelude::*;

/// The Rust core of rowferry. Private: use the public modules instead.
// PyO3 would declare that the module needs no GIL. Much is written for that already, but no free-threaded interpreter
// has run our tests: until one has, importing us turns the GIL on.
#[pymodule(gil_used = true)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    #[cfg(feature = "command-line")]
    module.add_function(wrap_pyfunction!(cli::main, module)?)?;
    cells::import(module.py())?;
    collector::import(module.py())?;
    forks::watch(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("decimals_are_direct", decimal::is_direct())?;
    module.add("moments_are_direct", moments::is_direct())?;
    arrow::register(module)?;
    informix::register(module)?;
    mysql::register(module)
}
