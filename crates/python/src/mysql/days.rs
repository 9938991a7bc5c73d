//! Days of a result as objects: rows share them, as the same days come again and again.

use pyo3::ffi;
use pyo3::prelude::*;

use crate::cells::Object;
use crate::moments;

/// A day and its object.
type Entry = Option<(u32, Py<PyAny>)>;

/// The days that were met, each in the one place where it can be: eleven years of them side by side.
#[derive(Default)]
pub struct Days {
    entries: Vec<Entry>,
    /// Days that were made before it was worth while to keep any.
    alone: usize,
}

/// A power of two.
const PLACES: usize = 4096;

/// Results with fewer days than this keep none: the places cost more than they save.
const FEW: usize = 256;

impl Days {
    /// The object of a day that the calendar has: a new reference, or null with an exception set.
    #[inline]
    pub fn object(&mut self, year: u16, month: u8, day: u8) -> Object {
        if self.entries.is_empty() {
            if self.alone < FEW {
                self.alone += 1;
                return moments::date(year, month, day);
            }
            self.entries.resize_with(PLACES, || None);
        }
        let number = (u32::from(year) * 12 + u32::from(month)) * 31 + u32::from(day);
        let entry = &mut self.entries[number as usize % PLACES];
        match entry {
            Some((known, object)) if *known == number => {
                let object = object.as_ptr();
                // SAFETY: a live object; the new reference is the caller's.
                unsafe { ffi::Py_INCREF(object) };
                object
            }
            entry => {
                let object = moments::date(year, month, day);
                if !object.is_null() {
                    // SAFETY: a live object, whose reference here is a second one; cells are built with the GIL held.
                    *entry =
                        Some((number, unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), object).unbind() }));
                }
                object
            }
        }
    }
}
