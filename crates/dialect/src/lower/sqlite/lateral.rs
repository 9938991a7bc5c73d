//! Members of FROM that refer to relations on their left.
//!
//! SQLite lets nothing in FROM do so but the arguments of a table-valued function. So the rows of such a member are
//! packed into one value by a subquery, which sees what is on its left as every subquery in an expression does, and a
//! function takes them apart again: every value as it was, in the order in which they came.

use super::{Lowering, Naming, Repr, Source, quote, stored_repr};
use crate::ir::{ExprKind, From, Query, RelId, walk};
use crate::{Error, Result};

/// Columns of the function that most queries can do with; SQLite reads its declaration once for each connection.
const NARROW: usize = 64;
/// Arguments of a function of SQLite's.
const WIDEST: usize = 1_000;

impl Lowering<'_> {
    /// The relations that stand in the FROM clause at hand already.
    fn siblings(&self) -> &[RelId] {
        &self.order[self.from_start..]
    }

    fn sees_siblings(&self, visit: impl FnOnce(&mut dyn FnMut(&crate::ir::Expr) -> bool)) -> bool {
        let siblings = self.siblings();
        let mut found = false;
        if !siblings.is_empty() {
            visit(&mut |expr| {
                found |= matches!(expr.kind, ExprKind::Column(column) if siblings.contains(&column.relation));
                !found
            });
        }
        found
    }

    /// True for a query that refers to relations on its left.
    pub(super) fn query_sees_siblings(&self, query: &Query) -> bool {
        self.sees_siblings(|visit| walk::query(query, visit))
    }

    /// True for a join in parentheses that refers to relations outside of them.
    pub(super) fn join_sees_siblings(&self, from: &From) -> bool {
        self.sees_siblings(|visit| walk::from(from, visit))
    }

    /// A query that refers to relations on its left.
    pub(super) fn lateral_query(&mut self, id: RelId, query: &Query) -> Result<String> {
        let (sql, reprs) = self.query(query, Naming::Positions)?;
        let packed = self.packed(&sql, reprs.len())?;
        let alias = self.define_derived(id, reprs, None);
        Ok(format!("{packed} AS {alias}"))
    }

    /// A join in parentheses that refers to relations outside of them: SQLite makes a subquery of it.
    pub(super) fn lateral_join(&mut self, join: &From) -> Result<String> {
        let sql = self.own_from(join)?;
        let relations = join.relations();
        let mut columns = Vec::new();
        let alias = format!("j{}", relations.first().map_or(0, |id| id.0));
        for id in relations {
            let first = columns.len();
            let Some(source) = self.sources.get(&id) else { continue };
            let (reprs, row_identity, ordinality) = match source {
                Source::Table { qualifier, relation } => {
                    columns
                        .extend(relation.columns.iter().map(|column| format!("{qualifier}.{}", quote(&column.name))));
                    let reprs = (0..relation.columns.len()).map(|at| stored_repr(relation, at)).collect();
                    let row_identity = (!relation.without_identity).then(|| {
                        columns.push(format!("{qualifier}.rowid"));
                        columns.len() - 1
                    });
                    (reprs, row_identity, None)
                }
                Source::Derived { qualifier, reprs, ordinality } => {
                    columns.extend((0..reprs.len()).map(|at| match *ordinality == Some(at) {
                        true => format!("{qualifier}.ordinality"),
                        false => format!("{qualifier}.c{at}"),
                    }));
                    (reprs.clone(), None, *ordinality)
                }
                Source::Packed { qualifier, reprs, first, row_identity } => {
                    columns.extend((0..reprs.len()).map(|at| format!("{qualifier}.c{}", first + at)));
                    let row_identity = row_identity.map(|at| {
                        columns.push(format!("{qualifier}.c{at}"));
                        columns.len() - 1
                    });
                    (reprs.clone(), row_identity, None)
                }
            };
            let mut reprs: Vec<Repr> = reprs;
            if let Some(at) = ordinality {
                reprs[at] = Repr::Plain;
            }
            self.sources.insert(id, Source::Packed { qualifier: alias.clone(), reprs, first, row_identity });
        }
        let named: Vec<String> = columns.iter().enumerate().map(|(at, column)| format!("{column} AS c{at}")).collect();
        let named = if named.is_empty() { "NULL".to_owned() } else { named.join(", ") };
        let packed = self.packed(&format!("SELECT {named} FROM {sql}"), columns.len())?;
        Ok(format!("{packed} AS {alias}"))
    }

    /// The rows of a query, whose columns are `c0`, `c1`, …, by way of one value.
    fn packed(&mut self, sql: &str, columns: usize) -> Result<String> {
        if columns > WIDEST {
            return Err(Error::unsupported(format!("a LATERAL subquery of more than {WIDEST} columns")));
        }
        let function = if columns > NARROW { "rf_lateral_wide" } else { "rf_lateral" };
        let mut columns: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
        if columns.is_empty() {
            columns.push("NULL".to_owned());
        }
        self.needs_row_function();
        Ok(format!("{function}((SELECT rf_pack({}) FROM ({sql})))", columns.join(", ")))
    }
}
