//! Triggers: who is to be told of a change, and when.
//!
//! The back end knows nothing of our triggers. A change of a table that has some is compiled with a [`Firing`]: statement
//! triggers run around the statement; where a trigger looks at rows, the change is taken apart ([`rows`]) and its rows are
//! written one by one. What fires AFTER waits in the statement's queue until everything is written, or, for a deferred
//! constraint trigger, in the session's until COMMIT.
//!
//! Foreign keys that the back end cannot keep are triggers, too ([`foreign_keys`]).
//!
//! A change of a table without triggers, and without children whose rows a foreign key would change under a trigger's
//! eyes, has no [`Firing`] and takes no notice of any of this.

mod calls;
mod cascade;
mod deferred;
mod exclusion;
mod foreign_keys;
mod plan;
mod queue;
mod rows;
mod statement;
mod there;
mod transition;

pub(super) use calls::canonical_value;
pub(super) use deferred::Asked;
pub use deferred::Deferred;
pub use foreign_keys::KeyStatement;
pub(super) use foreign_keys::{Referential, only};
pub(crate) use plan::Firing;
pub(super) use plan::{Told, events, is_carried_on};
pub(super) use queue::{Changes, Event, order};
pub(super) use there::default_there;
