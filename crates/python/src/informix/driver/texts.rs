//! What is known of the texts of statements that were run lately: whoever runs one again, runs it often.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use rowferry_client::informix;

use super::Encoding;
use crate::errors::{Class, error};

/// How many are remembered.
const MOST: usize = 16;
/// Longer texts are not: they would take memory for nothing.
const LONGEST: usize = 16 * 1024;

/// A text whose placeholders were found.
pub struct Text {
    source: Box<str>,
    /// The statement, each placeholder a `?`.
    pub statement: informix::Statement,
    /// Its text in the code set of the client.
    pub encoded: Vec<u8>,
}

/// See the module.
#[derive(Default)]
pub struct Texts {
    known: Vec<Arc<Text>>,
    /// The one that gives way next.
    oldest: usize,
}

impl Texts {
    /// What is known of the statement.
    ///
    /// # Errors
    /// `ProgrammingError` for placeholders of several styles, `DataError` for what the code set has not.
    pub fn of(&mut self, text: &Bound<'_, PyString>, encoding: &Encoding) -> PyResult<Arc<Text>> {
        let source = text.to_str()?;
        if let Some(known) = self.known.iter().find(|known| *known.source == *source) {
            return Ok(known.clone());
        }
        let statement = informix::parse(source)
            .map_err(|invalid| error(text.py(), Class::Programming, None, &invalid.to_string()))?;
        let mut encoded = Vec::new();
        if statement.params.is_empty() {
            encoding.encode(text, &mut encoded)?;
        } else {
            encoding.encode(&PyString::new(text.py(), &statement.sql), &mut encoded)?;
        }
        let found = Arc::new(Text { source: source.into(), statement, encoded });
        if source.len() <= LONGEST {
            if self.known.len() < MOST {
                self.known.push(found.clone());
            } else {
                self.known[self.oldest] = found.clone();
                self.oldest = (self.oldest + 1) % MOST;
            }
        }
        Ok(found)
    }
}
