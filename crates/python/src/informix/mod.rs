//! The Informix driver's half in Rust: `rowferry._core.informix`.
//!
//! [`driver`] holds the conversations, without colour; [`blocking`] and [`aio`] are the classes that hold its two pumps, whose
//! [`commands`] stand once. [`columns`] and [`values`] turn cells into Python objects and back.

mod aio;
mod arrow;
mod blocking;
mod columns;
mod commands;
mod composites;
mod driver;
mod files;
mod result;
mod routines;
mod settings;
mod text;
mod values;

use pyo3::prelude::*;

/// Adds the submodule `informix` to `parent`.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "informix")?;
    module.add_class::<arrow::RowsToArrow>()?;
    module.add_class::<aio::AsyncWire>()?;
    module.add_class::<blocking::Wire>()?;
    module.add_class::<result::QueryResult>()?;
    module.add_function(wrap_pyfunction!(text::codec_of_code_set, &module)?)?;
    module.add_function(wrap_pyfunction!(composites::parse_composite, &module)?)?;
    parent.add_submodule(&module)?;
    parent.py().import("sys")?.getattr("modules")?.set_item("rowferry._core.informix", module)
}
