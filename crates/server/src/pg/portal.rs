//! Prepared statements and portals, by name.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_engine::{Condition, Cursor, Error, Prepared};

use super::values::RowWriter;

/// The most prepared statements, and the most portals, that one session may hold.
const MAX_NAMED: usize = 10_000;

/// A prepared statement; `None` when its text held none.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) prepared: Option<Arc<Prepared>>,
}

/// A statement with its parameters.
#[derive(Debug)]
pub(super) struct Portal {
    pub(super) prepared: Option<Arc<Prepared>>,
    pub(super) params: Vec<Value>,
    pub(super) writer: Rc<RowWriter>,
    pub(super) state: PortalState,
}

/// How far a portal is.
#[derive(Debug)]
pub(super) enum PortalState {
    /// Not run yet.
    Ready,
    /// Its row limit was reached; so many rows have been sent since the first.
    Suspended(Cursor),
    /// Run to its end.
    Done,
}

/// Things by name; the empty name is the unnamed one, which is replaced without a word.
#[derive(Debug)]
pub(super) struct Named<T> {
    unnamed: Option<T>,
    named: HashMap<Box<[u8]>, T>,
    kind: Kind,
}

/// What the things are, for messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Prepared statements.
    Statement,
    /// Portals.
    Portal,
}

impl<T> Named<T> {
    pub(super) fn new(kind: Kind) -> Self {
        Self { unnamed: None, named: HashMap::new(), kind }
    }

    /// True when `name` can be given to a new thing.
    pub(super) fn check_free(&self, name: &[u8]) -> Result<(), Error> {
        if name.is_empty() {
            return Ok(());
        }
        let shown = String::from_utf8_lossy(name);
        if self.named.contains_key(name) {
            return Err(match self.kind {
                Kind::Statement => Error::new(
                    Condition::DuplicatePreparedStatement,
                    format!("prepared statement \"{shown}\" already exists"),
                ),
                Kind::Portal => Error::new(Condition::DuplicateCursor, format!("cursor \"{shown}\" already exists")),
            });
        }
        if self.named.len() >= MAX_NAMED {
            let what = match self.kind {
                Kind::Statement => "prepared statements",
                Kind::Portal => "portals",
            };
            return Err(Error::new(
                Condition::ProgramLimitExceeded,
                format!("a session cannot hold more than {MAX_NAMED} {what}"),
            )
            .hint("Close those that are not needed any more."));
        }
        Ok(())
    }

    /// Keeps a thing under a name that [`check_free`](Named::check_free) allowed.
    pub(super) fn insert(&mut self, name: &[u8], thing: T) {
        if name.is_empty() {
            self.unnamed = Some(thing);
        } else {
            self.named.insert(name.into(), thing);
        }
    }

    pub(super) fn get_mut(&mut self, name: &[u8]) -> Result<&mut T, Error> {
        let found = if name.is_empty() { self.unnamed.as_mut() } else { self.named.get_mut(name) };
        found.ok_or_else(|| {
            let shown = String::from_utf8_lossy(name);
            match (self.kind, name.is_empty()) {
                (Kind::Statement, true) => {
                    Error::new(Condition::InvalidSqlStatementName, "unnamed prepared statement does not exist")
                }
                (Kind::Statement, false) => Error::new(
                    Condition::InvalidSqlStatementName,
                    format!("prepared statement \"{shown}\" does not exist"),
                ),
                (Kind::Portal, _) => {
                    Error::new(Condition::InvalidCursorName, format!("portal \"{shown}\" does not exist"))
                }
            }
        })
    }

    /// Forgets a thing; true when there was one.
    pub(super) fn remove(&mut self, name: &[u8]) -> bool {
        if name.is_empty() { self.unnamed.take().is_some() } else { self.named.remove(name).is_some() }
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.unnamed = None;
        self.named.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_unnamed_is_replaced() {
        let mut things = Named::new(Kind::Statement);
        assert_eq!(things.get_mut(b"").unwrap_err().condition(), Condition::InvalidSqlStatementName);
        things.insert(b"", 1);
        things.check_free(b"").unwrap();
        things.insert(b"", 2);
        assert_eq!(things.get_mut(b""), Ok(&mut 2));
        things.insert(b"a", 3);
        assert_eq!(things.check_free(b"a").unwrap_err().condition(), Condition::DuplicatePreparedStatement);
        assert!(things.remove(b"a"));
        assert!(!things.remove(b"a"));
        things.check_free(b"a").unwrap();
        things.clear();
        assert!(things.get_mut(b"").is_err());
    }

    #[test]
    fn one_thing_beyond_the_limit_is_refused() {
        let mut things = Named::new(Kind::Portal);
        for number in 0..MAX_NAMED {
            let name = number.to_string();
            things.check_free(name.as_bytes()).unwrap();
            things.insert(name.as_bytes(), ());
        }
        assert_eq!(things.check_free(b"x").unwrap_err().condition(), Condition::ProgramLimitExceeded);
        things.check_free(b"").unwrap();
    }
}
