use pyo3::prelude::*;
use rowferry_wire_mysql::client::Event;

use super::{Operation, Shared, Step, out_of_place, refused};

/// From the server's greeting to its OK.
pub struct Login;

impl Operation for Login {
    fn event(&mut self, py: Python<'_>, event: Event<'_>, shared: &mut Shared) -> PyResult<Option<Step>> {
        match event {
            Event::Connected => Ok(Some(Step::Done(py.None()))),
            Event::Error(error) => Err(refused(py, &error, shared)),
            event => Err(out_of_place(py, &event)),
        }
    }
}
