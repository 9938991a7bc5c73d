//! The row that ON CONFLICT DO UPDATE meets, noted while its condition is computed: nobody else is told of one that the
//! condition lets be.

use super::{Expr, ExprKind, OnConflict, walk};
use crate::Type;
use crate::functions::internal;
use crate::scalar::numbers;

const NOTE: &str = "note the met row";
const LOCKER: &str = "locker of the met row";

/// A condition of DO UPDATE that notes the row, of this identity, before it is computed; as it is where it does already.
fn noting(filter: Option<Expr>, row_identity: Expr) -> Expr {
    let note = Expr::new(ExprKind::Call { function: internal(NOTE), args: vec![row_identity] }, Type::Bool);
    match filter {
        None => note,
        Some(filter) if calls(&filter, NOTE) => filter,
        // An AND would leave it to the back end which side it computes first.
        Some(filter) => Expr::new(ExprKind::Case { branches: vec![(note, filter)], otherwise: None }, Type::Bool),
    }
}

/// `xmax` of a row that an INSERT returns: the transaction that has locked the row which it has met, or 0.
pub fn locker() -> Expr {
    Expr::new(ExprKind::Call { function: internal(LOCKER), args: Vec::new() }, Type::Scalar(&numbers::XID, None))
}

/// True where RETURNING asks whether a row was met.
pub fn is_asked(returning: &[Expr]) -> bool {
    returning.iter().any(|item| calls(item, LOCKER))
}

/// Lets the condition of DO UPDATE note the row.
pub fn note_in(conflict: &mut OnConflict, row_identity: Expr) {
    if let super::ConflictAction::Update { filter, .. } = &mut conflict.action {
        *filter = Some(noting(filter.take(), row_identity));
    }
}

fn calls(expr: &Expr, name: &str) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= matches!(&part.kind, ExprKind::Call { function, .. } if function.name == name);
        !found
    });
    found
}
