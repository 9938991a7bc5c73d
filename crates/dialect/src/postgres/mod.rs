//! The PostgreSQL front end: PostgreSQL's own parser, then names and types by PostgreSQL's rules, into the IR.

pub mod types;
