//! The extension module `rowferry._core`; the only crate that names PyO3.

#![allow(missing_docs)]

mod cli;

use pyo3::prelude::*;

/// The Rust core of rowferry. Private: use the public modules instead.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cli::main, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
