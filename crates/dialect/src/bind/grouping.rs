//! Which columns may stand beside aggregates, and in ORDER BY of DISTINCT.

use crate::functions::internal;
use crate::ir::{CastContext, ColumnRef, Expr, ExprKind, RelId, walk};

/// What was found in the expressions of a query whose rows are grouped.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The first column that no key gives, and whether it stands in a subquery.
    pub wrong: Option<(ColumnRef, bool)>,
    /// Which of the expressions that column stands in.
    pub place: usize,
    /// Direct arguments of aggregates, which are the same for the whole group.
    pub direct: Vec<Expr>,
    /// An argument of GROUPING is no key.
    pub foreign: bool,
}

/// Looks for columns of the relations `own` that none of `keys` gives; `follows` says of a column that it hangs on them
/// nevertheless (a primary key among them).
pub(crate) fn check<'e>(
    exprs: impl IntoIterator<Item = &'e Expr>,
    keys: &[Expr],
    own: &[RelId],
    follows: &dyn Fn(&ColumnRef) -> bool,
) -> Found {
    let mut search = Search { keys, own, follows, found: Found::default() };
    for (place, expr) in exprs.into_iter().enumerate() {
        walk::expr(expr, &mut |part| search.enters(part, false));
        if search.found.wrong.is_some() {
            search.found.place = place;
            break;
        }
    }
    search.found
}

/// True when an aggregate of this level stands in an expression.
pub(crate) fn has_aggregate(expr: &Expr) -> bool {
    contains(expr, |part| matches!(part, ExprKind::Aggregate(_)))
}

/// True if the expression has such a part, subqueries aside.
pub(crate) fn contains(expr: &Expr, wanted: fn(&ExprKind) -> bool) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= wanted(&part.kind);
        !found && !matches!(part.kind, ExprKind::Scalar(_) | ExprKind::Exists(_) | ExprKind::ArrayQuery(_))
    });
    found
}

struct Search<'a> {
    keys: &'a [Expr],
    own: &'a [RelId],
    follows: &'a dyn Fn(&ColumnRef) -> bool,
    found: Found,
}

impl Search<'_> {
    /// Looks at a part of an expression, and says whether to go on into it.
    fn enters(&mut self, part: &Expr, inside: bool) -> bool {
        if self.found.wrong.is_some() || self.keys.contains(part) {
            return false;
        }
        match &part.kind {
            // A direct argument is the same for the whole group.
            ExprKind::Aggregate(aggregate) => {
                self.found.direct.extend(aggregate.direct.iter().cloned());
                false
            }
            ExprKind::Call { function, args } if function.is(internal("grouping of keys")) => {
                self.found.foreign |= args.iter().any(|arg| !self.keys.contains(arg));
                false
            }
            ExprKind::Column(column) => {
                let known = |key: &Expr| is_column(key, column);
                if self.own.contains(&column.relation) && !self.keys.iter().any(known) && !(self.follows)(column) {
                    self.found.wrong = Some((*column, inside));
                }
                false
            }
            kind => match kind.query() {
                Some(query) if !inside => {
                    walk::query(query, &mut |part| self.enters(part, true));
                    let found = self.found.wrong.take();
                    // What is compared with the query stands before it.
                    walk::parts(part, &mut |part| self.enters(part, false));
                    if self.found.wrong.map(|(column, _)| column) == found.map(|(column, _)| column) {
                        self.found.wrong = found;
                    }
                    false
                }
                _ => true,
            },
        }
    }
}

/// True for a column, bare or under an implicit conversion.
pub(crate) fn is_column(expr: &Expr, column: &ColumnRef) -> bool {
    match &expr.kind {
        ExprKind::Column(found) => found == column,
        ExprKind::Cast { arg, context: CastContext::Implicit } => is_column(arg, column),
        _ => false,
    }
}
