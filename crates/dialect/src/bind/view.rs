//! Views in FROM.

use std::sync::Arc;

use crate::access::Needs;
use crate::ir::{Ids, RelId};
use crate::schema::Relation;
use crate::{Error, Result};

/// A binder that finds views in FROM.
pub(crate) trait Views {
    /// The views on the way down.
    fn views(&mut self) -> &mut Vec<u32>;
    /// What the statement does with its relations.
    fn needs(&mut self) -> &mut Needs;
    /// The numbers of its relations.
    fn ids(&mut self) -> &mut Ids;
    /// Notes that a view is read, under a number that it has not got yet.
    fn reads_view(&mut self, view: &Arc<Relation>);
}

/// Binds the query behind a view, and numbers it; a view that contains itself is an error.
///
/// What stands in the query is asked of the view's owner, and the view itself of whoever names it.
pub(crate) fn expanded<B: Views, T>(
    binder: &mut B,
    view: &Arc<Relation>,
    contains_itself: impl FnOnce(&B) -> Error,
    bind: impl FnOnce(&mut B) -> Result<T>,
) -> Result<(RelId, T)> {
    if binder.views().contains(&view.oid) {
        return Err(contains_itself(binder));
    }
    let mark = binder.needs().mark();
    binder.reads_view(view);
    binder.views().push(view.oid);
    let bound = bind(binder);
    binder.views().pop();
    let bound = bound?;
    let id = binder.ids().relation();
    binder.needs().number(mark, id);
    Ok((id, bound))
}
