//! Constants, with the types that they were given.

use super::Printer;
use crate::Type;
use crate::ir::{Expr, ExprKind, Value};
use crate::postgres::types::typmod;
use crate::values::{self, Settings};

/// A constant that a length is applied to: PostgreSQL shows it as one of the type itself.
pub(super) fn constant_of<'e>(arg: &'e Expr, ty: &Type) -> Option<&'e Value> {
    match (&arg.kind, ty) {
        (ExprKind::Literal(value), Type::Varchar(_) | Type::Char(_) | Type::Array(_)) if arg.ty == Type::Text => {
            Some(value)
        }
        (ExprKind::Literal(value), _) if arg.ty.same_base(ty) && typmod(&arg.ty) == -1 => Some(value),
        _ => None,
    }
}

impl Printer<'_> {
    /// A constant in quotes with a type behind it.
    pub(super) fn labelled(&mut self, value: &Value, words: &str) -> Option<()> {
        match value {
            Value::Null => self.out.push_str("NULL"),
            Value::Text(text) => self.quoted(text),
            Value::Integer(value) => self.out.push_str(&format!("'{value}'")),
            Value::Real(_) | Value::Blob(_) => return None,
        }
        self.out.push_str(&format!("::{words}"));
        Some(())
    }

    /// A constant. What was written as a number without a point shows the conversion that it takes.
    pub(super) fn literal(&mut self, value: &Value, ty: &Type, implicit: bool) -> Option<()> {
        let words = self.names.type_words(ty);
        match (value, ty) {
            // What nothing has decided yet.
            (Value::Null, Type::Unknown) => self.out.push_str("NULL"),
            (Value::Text(text), Type::Unknown) => self.quoted(text),
            (Value::Null, _) => self.out.push_str(&format!("NULL::{words}")),
            (Value::Integer(value), Type::Bool) => self.out.push_str(if *value == 0 { "false" } else { "true" }),
            (Value::Integer(value), Type::Int2 | Type::Int4 | Type::Int8) => {
                let narrow = i32::try_from(*value).is_ok();
                match (*value >= 0, narrow) {
                    (true, true) => self.out.push_str(&value.to_string()),
                    (_, true) => self.out.push_str(&format!("'{value}'::integer")),
                    (_, false) => self.out.push_str(&format!("'{value}'::bigint")),
                }
            }
            (Value::Integer(value), Type::Reg(reg)) => {
                let oid = u32::try_from(*value).ok()?;
                let name = self.names.object(*reg, oid)?;
                self.quoted(&name);
                self.out.push_str(&format!("::{words}"));
            }
            (Value::Real(number), Type::Float8) => {
                let text = values::output(value, ty, &Settings::default()).ok()?;
                if *number < 0.0 || !number.is_finite() {
                    self.out.push_str(&format!("'{text}'::{words}"));
                } else {
                    self.converted(&text, &words, implicit);
                }
            }
            (Value::Text(digits), Type::Numeric(_)) => {
                let plain = digits.starts_with(|c: char| c.is_ascii_digit());
                match (plain, digits.contains(['.', 'e', 'E'])) {
                    (true, true) => self.out.push_str(digits),
                    (true, false) => self.converted(digits, &words, implicit),
                    (false, _) => self.out.push_str(&format!("'{digits}'::{words}")),
                }
            }
            (value, ty) => {
                let usual = Settings::default();
                let text = values::output(value, ty, self.names.settings().unwrap_or(&usual)).ok()?;
                self.quoted(&text);
                self.out.push_str(&format!("::{words}"));
            }
        }
        Some(())
    }

    /// A text as a literal, as the session would read it: never one with E in front.
    pub(super) fn quoted(&mut self, text: &str) {
        let doubled = text.replace('\'', "''");
        let standard = self.names.settings().is_none_or(|settings| settings.strings.standard);
        let doubled = if standard { doubled } else { doubled.replace('\\', "\\\\") };
        self.out.push_str(&format!("'{doubled}'"));
    }

    /// A number of another type than its digits alone would have.
    pub(super) fn converted(&mut self, digits: &str, words: &str, implicit: bool) {
        if !implicit {
            self.out.push_str(digits);
        } else if self.pretty {
            self.out.push_str(&format!("{digits}::{words}"));
        } else {
            self.out.push_str(&format!("({digits})::{words}"));
        }
    }
}
