//! Rows as values.

use super::cast::type_words;
use super::{Lowering, quote_text};
use crate::ir::{Expr, ExprKind, Value};
use crate::user_type::told_fields;
use crate::{Error, Result, Type};

/// The most fields of a row that are given to one call.
const MOST_FIELDS: usize = 90;

impl Lowering<'_> {
    /// ROW(…), of a type with a name or without.
    pub(super) fn row_value(&mut self, members: &[Expr], ty: &Type) -> Result<String> {
        self.needs_us();
        let mut values = self.texts(members)?;
        let rest = values.split_off(values.len().min(MOST_FIELDS));
        let mut sql = match ty {
            Type::Record(shape) => {
                let names = shape.fields().unwrap_or_default();
                let name = |at: usize| names.get(at).map_or_else(|| format!("f{}", at + 1), |field| field.name.clone());
                let names: Vec<String> = (0..members.len()).map(name).collect();
                let types = members.iter().map(|member| match &member.ty {
                    Type::Unknown => &Type::Text,
                    ty => ty,
                });
                values.insert(0, quote_text(&told_fields(names.iter().map(String::as_str).zip(types))));
                format!("rf_record({})", values.join(", "))
            }
            _ => format!("rf_row({})", values.join(", ")),
        };
        for more in rest.chunks(MOST_FIELDS) {
            sql = format!("rf_row_more({sql}, {})", more.join(", "));
        }
        Ok(sql)
    }

    /// The field of a row, told by its place.
    pub(super) fn field(&mut self, args: &[Expr], ty: &Type) -> Result<String> {
        let [row, Expr { kind: ExprKind::Literal(Value::Integer(at)), .. }] = args else {
            return Err(Error::internal("a field without a place"));
        };
        let value = self.expr(row)?.sql;
        self.needs_us();
        let words = type_words(ty);
        Ok(match &row.ty {
            Type::Record(_) => format!("rf_record_field({value}, {at}, {words})"),
            _ => format!("rf_field({value}, {at}, {words})"),
        })
    }

    /// Rows without a name are compared by what they say of themselves.
    pub(super) fn compare_records(&mut self, sign: &str, left: &Expr, right: &Expr) -> Result<String> {
        let (left, right) = (self.expr(left)?.sql, self.expr(right)?.sql);
        self.needs_us();
        Ok(match sign {
            "IS" => format!("(NOT rf_record_distinct({left}, {right}))"),
            "IS NOT" => format!("rf_record_distinct({left}, {right})"),
            "=" | "<>" => format!("(rf_record_equal({left}, {right}) {sign} 1)"),
            sign => format!("(rf_record_compare({left}, {right}) {sign} 0)"),
        })
    }
}
