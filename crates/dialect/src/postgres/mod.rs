//! The PostgreSQL front end: PostgreSQL's own parser, then names and types by PostgreSQL's rules, into the IR.
//!
//! - `raw`, `parse`: the text, by libpg_query;
//! - `binder`: the state of binding one statement; `bind`: which statement it is;
//! - `select`, `grouping`, `from`: queries; `dml`, `merge`, `target`: changes of rows; `ddl`: changes of the schema; `utility`: the rest;
//! - `rules`: what rules make of a change; `access`: roles and privileges;
//! - `maintenance`: VACUUM and its kin; `clauses`: clauses about storage; `refused`: statements that are not there;
//! - `expr`: expressions; `resolve`: which function or operator a call means; `choice`: which one PostgreSQL would choose; `coerce`: conversions;
//! - [`bound`]: what carries out a function or operator of PostgreSQL's catalog;
//! - [`routine`]: functions of users; [`plpgsql`]: the language of their bodies;
//! - `mysql`: what MySQL's rules are where they are others, its routines among them;
//! - [`print`]: expressions as PostgreSQL shows them; `words`: identifiers likewise;
//! - [`regtype`], [`regproc`]: types, functions and operators by their names;
//! - [`types`]: names, object ids and modifiers of types.

mod absent;
mod access;
mod bind;
mod binder;
pub mod bound;
mod choice;
mod clauses;
mod coerce;
mod collate;
mod conflict;
mod copy;
mod database;
mod ddl;
mod dml;
mod domains;
mod exclusion;
mod expr;
mod family;
mod from;
mod grouping;
mod insert;
mod kept;
mod lift;
mod locking;
mod maintenance;
mod merge;
pub(crate) mod mysql;
mod names;
mod normalize;
mod parse;
mod partitions;
pub mod plpgsql;
mod policies;
pub mod polymorphic;
mod position;
pub mod print;
mod prune;
mod raw;
mod refused;
pub mod regproc;
pub mod regtype;
mod resolve;
pub mod routine;
mod rules;
mod search_cycle;
mod select;
mod spelling;
mod split;
mod spread;
mod target;
pub mod types;
mod user_casts;
mod utility;
mod viewdef;
mod with;
pub(crate) mod words;

use bind::bind_default_of;
pub(crate) use bind::view_query;
/// Which views can be changed, and what that means for the table behind them: for both front ends.
pub(crate) mod changed_views {
    pub(crate) use super::target::{both, check_select, column_of, put_in_place, single_select};
}

pub use crate::bind::names::{Unnamed, postgres_name};
pub use bind::{
    bind, bind_default, bind_generated, bind_stored, bind_trigger_condition, compares_rows, policy_uses,
    renamed_in_expression, stands_alone, table_of_prepared, trigger_condition_uses, type_from_words, type_of_words,
    uses, uses_of_default, uses_of_stored, view_body, with_todays_names,
};
pub use conflict::deferrable_arbiter;
pub use ddl::foreign_key::{check_key_types, key_moves_rows};
pub(crate) use ddl::immutable::converts_immutably;
pub use ddl::mysql_partitions::partitioning as mysql_partitioning;
pub use ddl::sequence::next_text;
pub(crate) use ddl::{FOR_FOREIGN_KEY, NAMED_BY_COLUMN};
pub use domains::{asks_field, bind_domain_check, bind_domain_default, reads_field, rules_of, uses_of_domain_check};
pub use exclusion::{Against, exclusion_query, operator_oid};
pub(crate) use lift::{LONGEST as LONGEST_LIFTED, Spelling, number_kind};
pub use lift::{Lifted, Literal, LiteralKind, Place as LiteralPlace, Shape, lifted, shape};
pub use mysql::changes::{MEETING, is_quiet, quieten};
pub use normalize::{Normalized, normalized};
pub use parse::{Parsed, parse, parse_mysql};
use partitions::names_column;
pub use partitions::{bind_partition, bind_routing, is_plain_literal, partitioning};
pub use position::{CursorName, Positions, current_of, with_positions};
pub use spelling::{Respelled, StringRules, depends_on_rules, respell};
pub use split::{Piece, split};
pub use target::{Updatable, updatable};
pub use user_casts::user_cast;
pub use viewdef::{
    body_uses, function_body, policy_expression, renamed_body, renamed_rule, rule_definition, rule_uses,
    view_definition,
};
pub use words::{quote_ident, quote_literal};

/// What is seen in the tree of a text, which is one statement; `None` for any other text.
pub(crate) fn with_tree<T>(text: &str, look: impl FnOnce(&pg_query::protobuf::node::Node) -> T) -> Option<T> {
    match raw::parse(text).ok()?.as_slice() {
        [statement] => Some(look(&statement.tree)),
        _ => None,
    }
}

/// What a file keeps of a statement.
#[cfg(test)]
pub(crate) fn printed(tree: pg_query::protobuf::node::Node) -> Option<String> {
    raw::print(tree)
}

/// A name that may tell its schema, out of a text.
pub fn qualified_name(text: &str) -> Option<crate::schema::QualifiedName> {
    names::qualified(text)
}
