//! Set operations by Informix's rules.

use super::Binder;
use crate::bind::query::{BoundQuery, Conversions};
use crate::bind::set_operation::{self, Pair, Rules, SetOperation};
use crate::ir::{self, CastContext, Expr, Ids};
use crate::plan::ResultColumn;
use crate::{Condition, Error, Result, Type};

/// The sides of a set operation.
pub(super) struct Sides<'s, 'a> {
    pub binder: &'s mut Binder<'a>,
    /// Where the right side stands.
    pub at: usize,
    /// The right side names what both sides make, and so has to stand where it stands.
    pub recursive: bool,
}

impl Sides<'_, '_> {
    /// Both sides as one query.
    pub fn united(mut self, operation: SetOperation, left: BoundQuery, right: BoundQuery) -> Result<BoundQuery> {
        let types = set_operation::common_types(&self, operation, &left, &right)?;
        set_operation::united(&mut self, operation, left, right, types)
    }
}

impl Conversions for Sides<'_, '_> {
    fn ids(&mut self) -> &mut Ids {
        &mut self.binder.ids
    }

    fn convert(&mut self, value: Expr, to: &Type, _: CastContext, _: i32) -> Result<Expr> {
        self.binder.coerce(value, to, 0)
    }

    /// Texts become longer, and numbers are told more exactly; a float may be that of several decimals, and an interval
    /// loses the fields that the other has not.
    fn keeps_apart(&self, from: &Type, to: &Type) -> bool {
        if self.recursive {
            return true;
        }
        let float = |ty: &Type| matches!(ty, Type::Float4 | Type::Float8);
        from.is_text() || !(float(to) && !float(from) || matches!(to, Type::QualifiedInterval(_)))
    }

    fn is_same_type(&self, a: &Type, b: &Type) -> bool {
        a == b
    }
}

impl Rules for Sides<'_, '_> {
    fn widths_differ(&self, _: SetOperation, _: &BoundQuery) -> Error {
        let message = "the queries of a UNION have different numbers of columns";
        self.binder.error(Condition::UnionColumnCount, message, self.at)
    }

    fn common_type(&self, _: SetOperation, Pair { left, right, index }: Pair<'_>) -> Result<Type> {
        union_type(&left.columns[index].ty, &right.columns[index].ty).ok_or_else(|| {
            let message = "corresponding columns of a UNION have incompatible types";
            self.binder.error(Condition::UnionTypes, message, self.at)
        })
    }

    fn check_comparable(&self, _: &Type, _: i32) -> Result<()> {
        Ok(())
    }

    fn is_not_null(&self, left: &ResultColumn, right: &ResultColumn) -> bool {
        left.not_null && right.not_null
    }
}

/// A bound query, whose columns have no places.
pub(super) fn bound_query((query, columns): (ir::Query, Vec<ResultColumn>)) -> BoundQuery {
    BoundQuery { query, columns, places: Vec::new() }
}

/// The type of a UNION's column.
fn union_type(left: &Type, right: &Type) -> Option<Type> {
    if left == right {
        return Some(left.clone());
    }
    if left.distinct().is_some() || right.distinct().is_some() {
        return super::coerce::common(left, right);
    }
    let length = |ty: &Type| match ty {
        Type::Char(n) | Type::Nchar(n) | Type::Varchar(Some(n)) | Type::Nvarchar(n) | Type::Lvarchar(n) => Some(*n),
        _ => None,
    };
    if left.is_text() && right.is_text() {
        return Some(match (length(left), length(right)) {
            (Some(a), Some(b)) => match (left, right) {
                (Type::Char(_), Type::Char(_)) => Type::Char(a.max(b)),
                _ if a.max(b) <= 255 => Type::Varchar(Some(a.max(b))),
                _ => Type::Lvarchar(a.max(b)),
            },
            _ => Type::Text,
        });
    }
    let number = |ty: &Type| ty.is_number();
    if left.is_text() != right.is_text() || number(left) != number(right) {
        return None;
    }
    super::coerce::common(left, right)
}
