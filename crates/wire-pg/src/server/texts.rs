//! Texts as the client wants them.

use std::convert::Infallible;

use crate::messages::{Notice, Severity};

/// Writes texts, which are UTF-8, in the encoding that the client wants.
pub trait Texts {
    /// Why a text cannot be written.
    type Error;

    /// True when the client wants UTF-8.
    fn are_utf8(&self) -> bool;

    /// Appends a text.
    ///
    /// # Errors
    /// For a character that the client's encoding does not have; what was appended is given up.
    fn put(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// What the client is told in the place of an error or a notice that cannot be written.
    fn told(error: &Self::Error, severity: Severity) -> Notice<'static>;
}

/// Texts are written as they are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Utf8;

impl Texts for Utf8 {
    type Error = Infallible;

    fn are_utf8(&self) -> bool {
        true
    }

    fn put(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Infallible> {
        out.extend_from_slice(text);
        Ok(())
    }

    fn told(error: &Infallible, _: Severity) -> Notice<'static> {
        match *error {}
    }
}
