//! The typed relational IR: what a statement means, in no dialect's words.
//!
//! Every relation of a statement's FROM clauses has a [`RelId`] of its own, unique in the whole statement, so that a
//! column reference needs no scopes: a correlated subquery just names an outer relation's id. Every expression has a
//! type; there are no silent conversions, only [`ExprKind::Cast`]. Names that results show are in
//! [`OutputColumn`]s.

pub mod access;
pub mod account;
mod alike;
pub mod apart;
pub mod build;
mod collation;
pub mod ddl;
pub mod expr;
mod extension;
pub mod family;
pub mod in_turn;
pub mod lock;
pub mod merge;
pub mod met;
mod operator;
pub mod policy;
pub mod query;
pub mod routing;
mod rule;
pub mod statement;
mod statistics;
pub mod tables;
mod text_search;
pub mod trigger;
mod user_type;
pub mod walk;

pub use access::*;
pub use account::*;
pub use alike::{alike, unify};
pub use collation::*;
pub use ddl::*;
pub use expr::*;
pub use extension::*;
pub use family::{Family, Hidden};
pub use lock::*;
pub use merge::{Merge, MergeClause};
pub use operator::*;
pub use policy::*;
pub use query::*;
pub use routing::Routing;
pub use rule::*;
pub use statement::*;
pub use statistics::*;
pub use tables::{
    Named, RelationLocks, TableLock, asks_sequences, changes_keys, changes_whole, named_locks, named_relations,
    next_of, numbered_by_hand, numbering, row_locks, table_locks,
};
pub use text_search::*;
pub use trigger::*;
pub use user_type::*;
