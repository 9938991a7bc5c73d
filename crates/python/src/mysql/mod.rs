//! The MySQL driver's half in Rust: `rowferry._core.mysql`.
//!
//! [`driver`] holds the conversations, without colour; [`blocking`] and [`aio`] are the classes that hold its two pumps, whose
//! [`commands`] stand once. [`columns`] and [`values`] turn cells into Python objects and back.

mod aio;
mod arrow;
mod batch;
mod binlog;
mod blocking;
mod columns;
mod commands;
mod days;
mod driver;
mod local_file;
mod result;
mod settings;
mod spelling;
mod values;

use pyo3::prelude::*;

/// Adds the submodule `mysql` to `parent`.
pub fn register(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "mysql")?;
    module.add_class::<aio::AsyncWire>()?;
    module.add_class::<blocking::Wire>()?;
    module.add_class::<result::Prepared>()?;
    module.add_class::<result::QueryResult>()?;
    module.add_class::<arrow::RowsToArrow>()?;
    module.add_class::<binlog::BinlogReader>()?;
    module.add_class::<binlog::BinlogRows>()?;
    module.add_class::<binlog::BinlogToArrow>()?;
    module.add_class::<binlog::PyGtidPosition>()?;
    module.add_class::<binlog::PyGtidSet>()?;
    module.add_function(wrap_pyfunction!(binlog::event_types, &module)?)?;
    module.add_function(wrap_pyfunction!(binlog::normalise_gtids, &module)?)?;
    module.add_function(wrap_pyfunction!(values::decimal_from_text, &module)?)?;
    module.add_function(wrap_pyfunction!(values::escape_bytes, &module)?)?;
    module.add_function(wrap_pyfunction!(values::tab_separated, &module)?)?;
    parent.add_submodule(&module)?;
    parent.py().import("sys")?.getattr("modules")?.set_item("rowferry._core.mysql", module)
}
