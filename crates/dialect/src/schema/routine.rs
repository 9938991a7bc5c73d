//! Routines of the Informix door, and types that have a name there.

use std::sync::Arc;

use crate::Type;

/// An Informix ROW type with a name, or a DISTINCT type.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedType {
    /// Object id.
    pub oid: u32,
    /// Name as created.
    pub name: String,
    /// It names a row; a DISTINCT type otherwise.
    pub is_row: bool,
    /// The row, or the source type.
    pub ty: Type,
}

/// A routine that users have made: a function or procedure in SPL.
#[derive(Debug)]
pub struct Routine {
    /// Object id.
    pub oid: u32,
    /// Name; several routines may share it.
    pub name: String,
    /// Name and base types of its parameters; unique.
    pub signature: String,
    /// The whole CREATE statement.
    pub definition: String,
    parsed: std::sync::OnceLock<crate::Result<Arc<crate::informix::spl::Routine>>>,
}

impl Routine {
    /// A routine whose text has not been looked at yet.
    pub fn new(oid: u32, name: String, signature: String, definition: String) -> Self {
        Self { oid, name, signature, definition, parsed: std::sync::OnceLock::new() }
    }

    /// A routine that is a part of a text, parsed.
    pub fn of(
        oid: u32,
        name: String,
        signature: String,
        definition: String,
        parsed: crate::informix::spl::Routine,
    ) -> Self {
        Self { oid, name, signature, definition, parsed: std::sync::OnceLock::from(Ok(Arc::new(parsed))) }
    }

    /// Its text, parsed at the first need.
    ///
    /// # Errors
    /// `42601` for a text that somebody else has damaged.
    pub fn parsed(&self) -> crate::Result<&Arc<crate::informix::spl::Routine>> {
        let parsed = self.parsed.get_or_init(|| crate::informix::spl::parse(&self.definition).map(Arc::new));
        parsed.as_ref().map_err(Clone::clone)
    }
}

impl PartialEq for Routine {
    fn eq(&self, other: &Self) -> bool {
        self.oid == other.oid && self.definition == other.definition
    }
}
