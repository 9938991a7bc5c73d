//! The arguments of one call.

use std::borrow::Cow;

use libsqlite3_sys as ffi;
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::cast::float_of;
use rowferry_dialect::values::{Decimal, Settings, ValueRef};
use rowferry_dialect::{Condition, Error, Result};
use rusqlite::types::ValueRef as SqliteRef;

use super::Context;

/// A call of a function: its arguments and its session.
pub(crate) struct Call<'a> {
    raw: &'a rusqlite::functions::Context<'a>,
    context: &'a Context,
    /// How many of SQLite's arguments stand before those of the call.
    first: usize,
}

/// What is to be known of a call's arguments before it is made.
pub(super) struct Weight {
    /// One of them is NULL.
    pub(super) any_null: bool,
    /// Bytes of texts and blobs.
    pub(super) bytes: usize,
}

impl<'a> Call<'a> {
    pub(crate) fn new(raw: &'a rusqlite::functions::Context<'a>, context: &'a Context) -> Self {
        Self { raw, context, first: 0 }
    }

    /// The call without its first argument.
    pub(crate) fn rest(&self) -> Self {
        Self { raw: self.raw, context: self.context, first: self.first + 1 }
    }

    /// The session.
    pub(crate) fn context(&self) -> &'a Context {
        self.context
    }

    /// The handle that runs the call.
    pub(crate) fn handle(&self) -> Result<*mut ffi::sqlite3> {
        // SAFETY: a connection made from a handle does not close it; the pointer is good for the handle's own thread,
        // which runs this call.
        let handle = unsafe { self.raw.get_connection().map(|connection| connection.handle()) };
        handle.map_err(|error| Error::internal(format!("no connection: {error}")))
    }

    /// Zone, styles and the like.
    pub(crate) fn with_settings<T>(&self, use_them: impl FnOnce(&Settings) -> T) -> T {
        self.context.with_settings(use_them)
    }

    /// How many arguments there are.
    pub(crate) fn len(&self) -> usize {
        self.raw.len() - self.first
    }

    /// One look at all arguments.
    #[inline]
    pub(super) fn weigh(&self) -> Weight {
        let mut weight = Weight { any_null: false, bytes: 0 };
        for at in 0..self.len() {
            match self.raw.get_raw(self.first + at) {
                SqliteRef::Null => weight.any_null = true,
                SqliteRef::Text(bytes) | SqliteRef::Blob(bytes) => weight.bytes += bytes.len(),
                SqliteRef::Integer(_) | SqliteRef::Real(_) => {}
            }
        }
        weight
    }

    /// True if the argument is NULL, or not there.
    pub(crate) fn is_null(&self, at: usize) -> bool {
        self.first + at >= self.raw.len() || matches!(self.raw.get_raw(self.first + at), SqliteRef::Null)
    }

    /// Bytes of a text or blob argument; 0 for others.
    pub(crate) fn length(&self, at: usize) -> usize {
        match self.raw.get_raw(self.first + at) {
            SqliteRef::Text(bytes) | SqliteRef::Blob(bytes) => bytes.len(),
            SqliteRef::Null | SqliteRef::Integer(_) | SqliteRef::Real(_) => 0,
        }
    }

    /// The argument, borrowed.
    pub(crate) fn value(&self, at: usize) -> ValueRef<'_> {
        borrowed(self.raw.get_raw(self.first + at))
    }

    /// The argument, if it is there and is not NULL.
    pub(crate) fn given(&self, at: usize) -> Option<ValueRef<'_>> {
        if at >= self.len() || self.is_null(at) { None } else { Some(self.value(at)) }
    }

    /// The argument, owned.
    pub(crate) fn owned(&self, at: usize) -> Value {
        self.value(at).to_value()
    }

    /// An integer argument.
    pub(crate) fn integer(&self, at: usize) -> Result<i64> {
        match self.value(at) {
            ValueRef::Integer(value) => Ok(value),
            ValueRef::Real(value) if value.fract() == 0.0 && value.abs() < 9.2e18 => Ok(value as i64),
            other => Err(self.wrong(at, "an integer", other)),
        }
    }

    /// A boolean argument.
    pub(crate) fn boolean(&self, at: usize) -> Result<bool> {
        Ok(self.integer(at)? != 0)
    }

    /// A float argument; NaN travels as text.
    pub(crate) fn float(&self, at: usize) -> Result<f64> {
        match self.value(at) {
            ValueRef::Real(value) => Ok(value),
            ValueRef::Integer(value) => Ok(value as f64),
            other => float_of(&other.to_value()),
        }
    }

    /// A decimal argument: canonical text, or a native INTEGER or REAL.
    pub(crate) fn decimal(&self, at: usize) -> Result<Decimal> {
        Decimal::from_stored(self.value(at))
    }

    /// A text argument.
    pub(crate) fn text(&self, at: usize) -> Result<&str> {
        match self.raw.get_raw(self.first + at) {
            SqliteRef::Text(bytes) => std::str::from_utf8(bytes).map_err(|_| {
                Error::new(Condition::CharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
            }),
            other => Err(self.wrong(at, "text", borrowed(other))),
        }
    }

    /// The argument as SQLite's own functions take it: numbers in their text form.
    pub(crate) fn shown(&self, at: usize) -> Result<Cow<'_, str>> {
        match self.raw.get_raw(self.first + at) {
            SqliteRef::Text(_) => self.text(at).map(Cow::Borrowed),
            SqliteRef::Blob(bytes) => Ok(String::from_utf8_lossy(bytes)),
            SqliteRef::Integer(value) => Ok(Cow::Owned(value.to_string())),
            SqliteRef::Real(value) => Ok(Cow::Owned(native_real(value))),
            SqliteRef::Null => Ok(Cow::Borrowed("")),
        }
    }

    /// The bytes of a text or blob argument.
    pub(crate) fn bytes(&self, at: usize) -> Result<&[u8]> {
        match self.raw.get_raw(self.first + at) {
            SqliteRef::Text(bytes) | SqliteRef::Blob(bytes) => Ok(bytes),
            other => Err(self.wrong(at, "bytes", borrowed(other))),
        }
    }

    /// Something made from an argument once per place of the statement, as long as the argument stays a constant.
    pub(crate) fn prepared<T: Clone + Send + Sync + 'static>(
        &self,
        at: usize,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if at >= self.len() {
            return Err(Error::internal(format!("there is no argument {}", at + 1)));
        }
        let index = (self.first + at) as std::ffi::c_int;
        if let Ok(Some(made)) = self.raw.get_aux::<T>(index) {
            return Ok((*made).clone());
        }
        let made = make()?;
        // SQLite may refuse to keep it; then it is made again next time.
        let _ = self.raw.set_aux(index, made.clone());
        Ok(made)
    }

    fn wrong(&self, at: usize, wanted: &str, got: ValueRef<'_>) -> Error {
        Error::new(Condition::DataCorrupted, format!("argument {} is not {wanted}: {got:?}", at + 1))
    }
}

/// A real as SQLite itself makes a text of it.
fn native_real(value: f64) -> String {
    let mut buffer = [0_u8; 64];
    // SAFETY: the buffer is as long as is said, and the format takes one double.
    unsafe {
        let length = buffer.len() as std::ffi::c_int;
        ffi::sqlite3_snprintf(length, buffer.as_mut_ptr().cast(), c"%!.15g".as_ptr(), value);
    }
    std::ffi::CStr::from_bytes_until_nul(&buffer).unwrap_or_default().to_string_lossy().into_owned()
}

/// SQLite's borrowed value as ours.
pub(crate) fn borrowed(value: SqliteRef<'_>) -> ValueRef<'_> {
    match value {
        SqliteRef::Null => ValueRef::Null,
        SqliteRef::Integer(value) => ValueRef::Integer(value),
        SqliteRef::Real(value) => ValueRef::Real(value),
        SqliteRef::Text(bytes) => ValueRef::Text(bytes),
        SqliteRef::Blob(bytes) => ValueRef::Blob(bytes),
    }
}

/// A text result.
pub(crate) fn text(value: impl Into<String>) -> Result<Value> {
    Ok(Value::Text(value.into()))
}

/// An integer result.
pub(crate) fn integer(value: impl Into<i64>) -> Result<Value> {
    Ok(Value::Integer(value.into()))
}

/// A boolean result.
pub(crate) fn boolean(value: bool) -> Result<Value> {
    Ok(Value::Integer(i64::from(value)))
}

/// A decimal result.
pub(crate) fn decimal(value: &Decimal) -> Result<Value> {
    Ok(Value::Text(value.to_string()))
}
