//! Which value of a change did not fit its column, and in which row: MySQL's clients are told both.
//!
//! The back end says neither. The change is undone when it has failed, so that its values can be asked for again, one by one,
//! until one fails alike.

use rowferry_dialect::ir::{
    Body, Dml, DmlAction, Expr, ExprKind, From, InsertSource, OutputColumn, Query, RelId, Select, Statement, Value,
    walk,
};
use rowferry_dialect::mysql::told;
use rowferry_dialect::{Condition, Error, Language, Type, postgres};

use super::broken_keys::is_plain;
use super::{Prepared, Session};

/// Where more values than these may be the one nobody is told which it was: asking takes longer than changing.
const MOST_ASKED: usize = 10_000;

impl Session {
    /// The error of a value that does not fit its column, with the column and the row where they can be found out.
    pub(super) fn with_unfitting(&mut self, error: Error, plan: &Prepared, params: &[Value]) -> Error {
        let Statement::Dml(dml) = &plan.bound.statement else { return error };
        if self.language != Language::Mysql || error.column.is_some() || !is_unfitting(&error) {
            return error;
        }
        match self.unfitting(dml, &plan.bound.params, params, &error) {
            Some((at, row)) => {
                let column = &dml.target.columns[at];
                let error = error.table(&dml.target.namespace, &dml.target.name);
                told::of_column(error, &column.name, &column.ty).row(row)
            }
            None => error,
        }
    }

    fn unfitting(&mut self, dml: &Dml, types: &[Type], params: &[Value], error: &Error) -> Option<(usize, usize)> {
        match &dml.action {
            DmlAction::Insert { columns, source, .. } => {
                let rows = match source {
                    InsertSource::Values(rows) => rows,
                    InsertSource::Query(query) => match &query.body {
                        Body::Values(rows) => rows,
                        _ => return None,
                    },
                    InsertSource::Defaults => return None,
                };
                let mut asked = 0;
                for (row, values) in rows.iter().enumerate() {
                    for (value, at) in values.iter().zip(columns) {
                        // As it stands it is of the column's type.
                        if matches!(value.kind, ExprKind::Literal(_)) || !is_plain(value) {
                            continue;
                        }
                        asked += 1;
                        if asked > MOST_ASKED {
                            return None;
                        }
                        if self.fails_alike(value, None, types, params, error) {
                            return Some((*at, row + 1));
                        }
                    }
                }
                None
            }
            DmlAction::Update { assignments, from: None, filter, current_of: None } => {
                let mut filter = filter.clone();
                filter.iter_mut().for_each(|filter| {
                    walk::expr_mut(filter, &mut |part| {
                        postgres::quieten(part);
                        true
                    });
                });
                let filter = filter.filter(is_plain);
                let from = From::Relation { id: dml.id, relation: dml.target.clone(), filter: None };
                let from = Some((from, filter));
                let fails =
                    |session: &mut Self, value: &Expr| session.fails_alike(value, from.as_ref(), types, params, error);
                let (at, _) = assignments.iter().find(|(_, value)| is_plain(value) && fails(self, value))?;
                Some((*at, 1))
            }
            _ => None,
        }
    }

    /// Whether asking for this value fails in the same way.
    fn fails_alike(
        &mut self,
        value: &Expr,
        from: Option<&(From, Option<Expr>)>,
        types: &[Type],
        params: &[Value],
        error: &Error,
    ) -> bool {
        let columns = vec![OutputColumn { name: "value".to_owned(), ty: value.ty.clone() }];
        let mut select = Select::of(vec![value.clone()], from.map(|(from, _)| from.clone()));
        select.filter = from.and_then(|(_, filter)| filter.clone());
        let query = Query::of(Body::Select(Box::new(select)), columns, RelId(u32::MAX));
        let read = |session: &mut Self| {
            let mut rows = session.rows_of(query, types, params)?;
            while rows.advance()? {}
            Ok::<(), Error>(())
        };
        read(self).is_err_and(|again| again.condition() == error.condition())
    }
}

/// A value that is none of its column's type, or too long, or too large.
fn is_unfitting(error: &Error) -> bool {
    matches!(error.condition().sqlstate(), "22001" | "22003" | "22007" | "22008" | "22P02")
        || error.condition() == Condition::CheckViolation && error.data_type.is_some()
}
