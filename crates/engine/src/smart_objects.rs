//! Informix's smart large objects: what SQL functions and the door of a session hand each other.
//!
//! `ifx_lo_open`, `lotofile`, `filetoblob` run inside a statement, but open objects and the client's files belong to the
//! conversation around it. A session is served by one thread, so the meeting place is the thread's own.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use rowferry_dialect::{Condition, Error, Result};

/// How many objects a session may have open.
const MAX_OPEN: usize = 1_024;

/// An open object and where it is read.
#[derive(Clone, Debug, Default)]
pub struct OpenObject {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where the next read or write begins.
    pub position: usize,
}

/// The objects and files of this thread's session.
#[derive(Debug, Default)]
pub struct SmartObjects {
    open: BTreeMap<i32, OpenObject>,
    /// Files of the client that were read for the running statement.
    files: HashMap<String, Vec<u8>>,
    /// The file that a function needs before its statement can go on.
    wanted: Option<String>,
    /// Files to be written at the client, in order.
    written: Vec<(String, Vec<u8>)>,
    /// Makes the names of written files unique.
    counter: u32,
    /// How the client writes text; in UTF-8 when nothing is said.
    client: Option<Box<dyn ClientText>>,
}

thread_local! {
    static OBJECTS: RefCell<SmartObjects> = RefCell::default();
}

/// Lets `use_them` at this thread's objects.
pub fn with<T>(use_them: impl FnOnce(&mut SmartObjects) -> T) -> T {
    OBJECTS.with(|objects| use_them(&mut objects.borrow_mut()))
}

/// Forgets this thread's objects and files: its session is over.
pub(crate) fn forget() {
    OBJECTS.with(|objects| drop(objects.take()));
}

impl SmartObjects {
    /// Opens an object; its number is the lowest that is free, from 1.
    pub fn open(&mut self, bytes: Vec<u8>) -> Result<i32> {
        if self.open.len() >= MAX_OPEN {
            return Err(Error::new(
                Condition::InsufficientResources,
                format!("more than {MAX_OPEN} open large objects"),
            ));
        }
        let number = (1..).find(|number| !self.open.contains_key(number)).unwrap_or(i32::MAX);
        self.open.insert(number, OpenObject { bytes, position: 0 });
        Ok(number)
    }

    /// An open object.
    pub fn get(&mut self, number: i32) -> Result<&mut OpenObject> {
        self.open
            .get_mut(&number)
            .ok_or_else(|| Error::new(Condition::InvalidLargeObject, format!("there is no open large object {number}")))
    }

    /// Closes an object and yields what it was.
    pub fn close(&mut self, number: i32) -> Result<OpenObject> {
        self.open
            .remove(&number)
            .ok_or_else(|| Error::new(Condition::InvalidLargeObject, format!("there is no open large object {number}")))
    }

    /// A file of the client's. When it has not been read yet, the statement fails, the door fetches it
    /// ([`SmartObjects::take_wanted`]) and runs the statement again.
    pub fn file(&mut self, name: &str) -> Result<Vec<u8>> {
        if let Some(bytes) = self.files.get(name) {
            return Ok(bytes.clone());
        }
        self.wanted = Some(name.to_owned());
        Err(Error::new(Condition::UndefinedFile, format!("the client's file {name} has not been read")))
    }

    /// The file that made the statement fail.
    pub fn take_wanted(&mut self) -> Option<String> {
        self.wanted.take()
    }

    /// Gives a file that was wanted.
    pub fn provide(&mut self, name: String, bytes: Vec<u8>) {
        self.files.insert(name, bytes);
    }

    /// The statement has ended: its files are forgotten.
    pub fn forget_files(&mut self) {
        self.files.clear();
    }

    /// Notes a file to be written at the client; yields the name that it gets.
    pub fn write_file(&mut self, name: &str, bytes: Vec<u8>) -> String {
        self.counter = self.counter.wrapping_add(1);
        // As on a real server, a name that ends in `!` is taken as it is.
        let name = match name.strip_suffix('!') {
            Some(exact) => exact.to_owned(),
            None => format!("{name}.{:016x}", self.counter),
        };
        self.written.push((name.clone(), bytes));
        name
    }

    /// The files that wait to be written.
    pub fn take_written(&mut self) -> Vec<(String, Vec<u8>)> {
        std::mem::take(&mut self.written)
    }

    /// A new session begins on this thread, whose client writes text so.
    pub fn reset(&mut self, client: Box<dyn ClientText>) {
        *self = Self { client: Some(client), ..Self::default() };
    }

    /// A client's file as text.
    pub fn file_text(&mut self, name: &str) -> Result<String> {
        let bytes = self.file(name)?;
        match &self.client {
            Some(client) => client.decode(&bytes),
            None => String::from_utf8(bytes).map_err(|_| {
                Error::new(Condition::CharacterNotInRepertoire, format!("the client's file {name} is not UTF-8"))
            }),
        }
    }

    /// Text as the client writes it into a file.
    pub fn client_text(&self, text: &str) -> Result<Vec<u8>> {
        self.client.as_ref().map_or_else(|| Ok(text.as_bytes().to_vec()), |client| client.encode(text))
    }
}

/// How a client writes text.
pub trait ClientText: std::fmt::Debug {
    /// The text that bytes of the client are.
    ///
    /// # Errors
    /// [`Condition::CharacterNotInRepertoire`] when they are none.
    fn decode(&self, bytes: &[u8]) -> Result<String>;

    /// Text as the client writes it.
    ///
    /// # Errors
    /// [`Condition::UntranslatableCharacter`] for characters that the client's code set lacks.
    fn encode(&self, text: &str) -> Result<Vec<u8>>;
}
