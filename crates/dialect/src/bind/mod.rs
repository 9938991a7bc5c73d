//! What SQL asks of a statement in any dialect, said once over the IR.
//!
//! A front end finds what names mean and decides types by rules of its own. Whether what has come out is allowed is asked here; the
//! words in which a refusal is told are again its own.

pub(crate) mod grouping;
pub(crate) mod insert;
pub(crate) mod inside;
pub mod names;
pub(crate) mod query;
pub(crate) mod scope;
pub(crate) mod set_operation;
pub(crate) mod view;
