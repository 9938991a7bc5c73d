//! Functions whose meaning or result depends on more than a row of the table can say.

use super::Binder;
use super::casts::plain;
use super::coerce::{call, words};
use super::expr::{Retyped, text_length};
use super::texts::sized;
use crate::informix::ast::{Call, Node, NodeKind};
use crate::informix::types::{LVARCHAR_MAX, YEAR_TO_FRACTION5, YEAR_TO_SECOND};
use crate::informix::values::encrypted::{Algorithm, HINT};
use crate::informix::values::string_length;
use crate::ir::{Expr, ExprKind, Value};
use crate::types::{Field, IntervalQualifier};
use crate::{Condition, Result, Type};

impl Binder<'_> {
    /// A call of such a function; `None` when the name is no such.
    pub(super) fn builtin(&mut self, node: &Call, at: usize) -> Result<Option<Expr>> {
        let full = Type::Datetime(YEAR_TO_FRACTION5);
        Ok(Some(match node.name.as_str() {
            "dbinfo" => self.dbinfo(&node.args, at)?,
            "date" => {
                let [arg] = self.plain_args(node, at)?;
                self.coerce(arg, &Type::Date, at)?
            }
            "to_char" => self.formatted(&node.args, at)?,
            "to_date" => match &node.args[..] {
                [text] => {
                    let text = plain(self.expr(text)?);
                    self.coerce(text, &full, at)?
                }
                [text, format] => {
                    let args = vec![self.assigned_text(text)?, self.assigned_text(format)?];
                    call("ifx_to_date", args, full)
                }
                _ => return Err(self.no_function(&node.name, at)),
            },
            "to_number" => match &node.args[..] {
                [text] => {
                    let text = plain(self.expr(text)?);
                    self.coerce(text, &super::numbers::FLOATING, at)?
                }
                [text, format] => {
                    let args = vec![self.assigned_text(text)?, self.assigned_text(format)?];
                    call("ifx_to_number", args, super::numbers::FLOATING)
                }
                _ => return Err(self.no_function(&node.name, at)),
            },
            "year" | "month" | "day" | "weekday" | "quarter" => {
                let [arg] = self.plain_args(node, at)?;
                let date = self.coerce(arg, &Type::Date, at)?;
                self.resolved(&node.name, vec![date], at)?
            }
            "round" | "trunc" => return self.round(node),
            "add_months" => {
                let [start, months] = self.plain_args(node, at)?;
                let months = self.coerce(months, &Type::Int4, at)?;
                let (start, ty) = self.moment(start, at)?;
                let type_words = words(&ty);
                let sum = call("ifx_add_months", vec![start, type_words, months], ty.clone());
                // Of a DATETIME of whatever fields it is one of all fields.
                if ty == Type::Date { sum } else { self.coerce(sum, &full, at)? }
            }
            "last_day" => {
                let [start] = self.plain_args(node, at)?;
                let (start, ty) = self.moment(start, at)?;
                let type_words = words(&ty);
                call("ifx_last_day", vec![start, type_words], ty)
            }
            "next_day" => {
                let [start, day] = self.plain_args(node, at)?;
                let day = self.as_text(day, at)?;
                let (start, ty) = self.moment(start, at)?;
                let type_words = words(&ty);
                call("ifx_next_day", vec![start, type_words, day], ty)
            }
            "months_between" => {
                let [left, right] = self.plain_args(node, at)?;
                let left = self.coerce(left, &full, at)?;
                let right = self.coerce(right, &full, at)?;
                call("ifx_months_between", vec![left, right], super::numbers::FLOATING)
            }
            // LENGTH counts bytes without trailing blanks, OCTET_LENGTH with them, CHAR_LENGTH characters with them.
            "length" | "len" => {
                let [arg] = self.plain_args(node, at)?;
                let name = if self.context.multibyte || arg.ty == Type::Byte { "length" } else { "ifx_length" };
                self.resolved(name, vec![arg], at)?
            }
            "octet_length" | "char_length" | "character_length" => {
                let [arg] = self.plain_args(node, at)?;
                let characters = node.name != "octet_length";
                match (self.context.multibyte, string_length(&arg.ty)) {
                    // As many blanks as bytes are left.
                    (true, Some(length)) if matches!(arg.ty, Type::Char(_) | Type::Nchar(_)) => {
                        let text = self.as_text(arg, at)?;
                        let length = Expr::integer(i64::from(length), Type::Int4);
                        let name = if characters { "ifx_char_length" } else { "ifx_octet_length" };
                        self.resolved(name, vec![text, length], at)?
                    }
                    (multibyte, _) => {
                        let arg = self.padded(arg, at)?;
                        let name = if characters || !multibyte { "char_length" } else { "octet_length" };
                        self.resolved(name, vec![arg], at)?
                    }
                }
            }
            "to_dsinterval" | "to_yminterval" => {
                let [text] = self.plain_args(node, at)?;
                let ty = if node.name == "to_dsinterval" { day_to_second() } else { year_to_month() };
                self.coerce(text, &ty, at)?
            }
            "numtodsinterval" | "numtoyminterval" => {
                let [count, unit] = self.plain_args(node, at)?;
                let days = node.name == "numtodsinterval";
                let count = self.coerce(count, &Type::Numeric(None), at)?;
                let unit = self.as_text(unit, at)?;
                let ty = if days { day_to_second() } else { year_to_month() };
                let type_words = words(&ty);
                call("ifx_number_to_interval", vec![count, unit, type_words], ty)
            }
            "encrypt_aes" => self.encrypted(node, Algorithm::Aes, at)?,
            "encrypt_tdes" => self.encrypted(node, Algorithm::TripleDes, at)?,
            "decrypt_char" | "decrypt_binary" => self.decrypted(node, at)?,
            "hex" => {
                let [number] = self.plain_args(node, at)?;
                let ty = if matches!(number.ty, Type::Int8 | Type::IfxInt8) { Type::Int8 } else { Type::Int4 };
                let number = self.coerce(number, &ty, at)?;
                self.resolved("hex", vec![number], at)?.retyped(Type::Varchar(Some(18)))
            }
            _ => return Ok(None),
        }))
    }

    /// `SET column[from, to] = value`: the column with that part replaced, by as many characters, blanks behind them if need
    /// be.
    pub(super) fn spliced(
        &mut self,
        column: &Node,
        (from, to): (u32, Option<u32>),
        value: &Node,
        at: usize,
    ) -> Result<Expr> {
        let whole = self.expr(column)?;
        let ty = whole.ty.clone();
        let whole = plain(whole);
        let last = to.unwrap_or(from);
        let length = match ty.without_distinct() {
            Type::Char(n) | Type::Nchar(n) | Type::Varchar(Some(n)) | Type::Nvarchar(n) | Type::Lvarchar(n) => *n,
            _ => return self.unsupported("SET of a part of a column that is no string", at),
        };
        if from == 0 || last < from || last > length {
            let message = "a subscript begins with 1, does not fall, and ends within the column";
            return Err(self.error(Condition::IllegalSubscript, message, at));
        }
        let value = self.assigned(value, &Type::Varchar(Some(last + 1 - from)))?;
        let part = self.as_text(value, at)?;
        let whole = self.as_text(whole, at)?;
        let places = [from, last].map(|place| Expr::integer(i64::from(place), Type::Int4));
        let [from, last] = places;
        let name = if self.context.multibyte { "ifx_spliced_bytes" } else { "ifx_spliced" };
        Ok(call(name, vec![whole, from, last, part], ty))
    }

    /// ENCRYPT_AES, ENCRYPT_TDES: `(data [, password [, hint]])`.
    fn encrypted(&mut self, node: &Call, algorithm: Algorithm, at: usize) -> Result<Expr> {
        let [data, rest @ ..] = &node.args[..] else { return Err(self.no_function(&node.name, at)) };
        if rest.len() > 2 {
            return Err(self.no_function(&node.name, at));
        }
        let password = self.text_or_null(rest.first())?;
        let hint = self.text_or_null(rest.get(1))?;
        // The session may have a hint.
        let longest = match rest.get(1).map(|hint| &hint.kind) {
            Some(NodeKind::String(hint)) if hint.is_empty() => None,
            Some(NodeKind::String(hint)) => Some(hint.len()),
            _ => Some(HINT),
        };
        let data = plain(self.expr(data)?);
        let size = text_length(&data).map(|length| algorithm.size(length as usize, longest));
        let size = size.and_then(|size| u32::try_from(size).ok());
        let (data, ty) = match data.ty.clone() {
            Type::Blob | Type::Clob => (data, Type::Blob),
            Type::Byte | Type::TextBlob | Type::Bytea => {
                return self.unsupported("encryption of BYTE and TEXT, for which BLOB and CLOB can be taken,", at);
            }
            Type::Char(_) | Type::Nchar(_) => {
                let ty = size.filter(|size| *size <= 32_767).map_or(Type::Lvarchar(LVARCHAR_MAX), Type::Char);
                (self.padded(data, at)?, ty)
            }
            _ => (self.as_text(data, at)?, sized(size).unwrap_or(Type::Lvarchar(LVARCHAR_MAX))),
        };
        self.effects.volatile = true;
        let name = match algorithm {
            Algorithm::Aes => "AES",
            Algorithm::TripleDes => "TDES",
        };
        Ok(call("ifx_encrypt", vec![data, password, hint, Expr::text(name)], ty))
    }

    /// DECRYPT_CHAR, DECRYPT_BINARY: `(data [, password])`. Of a string both yield a string.
    fn decrypted(&mut self, node: &Call, at: usize) -> Result<Expr> {
        let [data, rest @ ..] = &node.args[..] else { return Err(self.no_function(&node.name, at)) };
        if rest.len() > 1 {
            return Err(self.no_function(&node.name, at));
        }
        let password = self.text_or_null(rest.first())?;
        let data = plain(self.expr(data)?);
        let is_large = matches!(data.ty, Type::Blob | Type::Clob);
        let (data, ty) = match data.ty.clone() {
            _ if is_large && node.name == "decrypt_char" => (data, Type::Clob),
            _ if is_large => (data, Type::Blob),
            ty @ (Type::Char(_) | Type::Nchar(_) | Type::Varchar(Some(_)) | Type::Nvarchar(_) | Type::Lvarchar(_)) => {
                (self.as_text(data, at)?, ty)
            }
            _ => (self.as_text(data, at)?, Type::Lvarchar(LVARCHAR_MAX)),
        };
        self.effects.volatile = true;
        Ok(call("ifx_decrypt", vec![data, password], ty))
    }

    fn text_or_null(&mut self, node: Option<&Node>) -> Result<Expr> {
        match node {
            Some(node) => self.assigned_text(node),
            None => Ok(Expr::new(ExprKind::Literal(Value::Null), Type::Text)),
        }
    }

    fn assigned_text(&mut self, node: &Node) -> Result<Expr> {
        let expr = self.expr(node)?;
        self.as_text(expr, node.at)
    }

    /// A DATE or DATETIME, with its type; text is read as a DATETIME.
    fn moment(&mut self, expr: Expr, at: usize) -> Result<(Expr, Type)> {
        let ty = match &expr.ty {
            Type::Date | Type::Datetime(_) => expr.ty.clone(),
            Type::Unknown => Type::Date,
            _ => Type::Datetime(YEAR_TO_FRACTION5),
        };
        Ok((self.coerce(expr, &ty, at)?, ty))
    }

    /// TO_CHAR.
    fn formatted(&mut self, args: &[Node], at: usize) -> Result<Expr> {
        let (value, format) = match args {
            [value] => (value, None),
            [value, format] => (value, Some(format)),
            _ => return Err(self.no_function("to_char", at)),
        };
        let value = plain(self.expr(value)?);
        let Some(format) = format else {
            let text = self.as_text(value, at)?;
            return Ok(text.retyped(Type::Lvarchar(255)));
        };
        let mask = match &format.kind {
            NodeKind::String(mask) => Some(mask.clone()),
            _ => None,
        };
        let format = self.assigned_text(format)?;
        let ty = Type::Lvarchar(255);
        let about_time = mask.as_ref().is_none_or(|mask| mask.contains('%'));
        Ok(match &value.ty {
            Type::Date | Type::Datetime(_) | Type::Timestamp(_) | Type::TimestampTz(_) => {
                let value = self.coerce(value, &Type::Datetime(YEAR_TO_FRACTION5), at)?;
                call("ifx_to_char", vec![value, format], ty)
            }
            other if other.is_number() => {
                let value = self.coerce(value, &Type::Numeric(None), at)?;
                call("ifx_to_char_number", vec![value, format], ty)
            }
            other if (other.is_text() || *other == Type::Unknown) && about_time => {
                let value = self.coerce(value, &Type::Datetime(YEAR_TO_FRACTION5), at)?;
                call("ifx_to_char", vec![value, format], ty)
            }
            other if other.is_text() || *other == Type::Unknown => {
                let value = self.coerce(value, &super::numbers::FLOATING, at)?;
                let value = self.coerce(value, &Type::Numeric(None), at)?;
                call("ifx_to_char_number", vec![value, format], ty)
            }
            _ => return self.unsupported("TO_CHAR of this type", at),
        })
    }

    /// ROUND and TRUNC of a moment; those of numbers are rows of the table.
    fn round(&mut self, node: &Call) -> Result<Option<Expr>> {
        let Some(first) = node.args.first() else { return Ok(None) };
        let value = self.expr(first)?;
        if !matches!(value.ty, Type::Date | Type::Datetime(_)) {
            return Ok(None);
        }
        let unit = match node.args.get(1) {
            Some(unit) => self.assigned_text(unit)?,
            None => Expr::text("DD"),
        };
        let ty = value.ty.clone();
        let up = Expr::integer(i64::from(node.name == "round"), Type::Int4);
        let type_words = words(&ty);
        Ok(Some(call("ifx_round_moment", vec![value, type_words, unit, up], ty)))
    }

    /// `DBINFO('option' [, argument])`.
    fn dbinfo(&mut self, args: &[Node], at: usize) -> Result<Expr> {
        let Some(NodeKind::String(option)) = args.first().map(|node| &node.kind) else {
            return Err(self.no_function("dbinfo", at));
        };
        let text = |value: &str, length| {
            Expr::new(ExprKind::Literal(Value::Text(value.to_owned())), Type::Varchar(Some(length)))
        };
        Ok(match option.to_ascii_lowercase().as_str() {
            "version" => {
                let part = match args.get(1).map(|node| &node.kind) {
                    Some(NodeKind::String(part)) => part.as_str(),
                    _ => return Err(self.no_function("dbinfo", at)),
                };
                text(
                    match part {
                        "full" => crate::informix::VERSION,
                        "server-type" => "IBM Informix Dynamic Server",
                        "major" => "15",
                        "minor" => "0",
                        "level" => "1",
                        "os" => "U",
                        _ => return Err(self.no_function("dbinfo", at)),
                    },
                    100,
                )
            }
            "dbname" => text(&self.context.database.clone(), 128),
            "dbhostname" => text(&self.context.server.clone(), 255),
            // There is one space for everything: the file.
            "dbspace" => text("rootdbs", 128),
            "sqlca.sqlerrd1" | "serial8" | "bigserial" => {
                self.effects.volatile = true;
                call("ifx_last_serial", Vec::new(), Type::Int8)
                    .retyped(if option.eq_ignore_ascii_case("sqlca.sqlerrd1") { Type::Int4 } else { Type::Int8 })
            }
            "sessionid" => {
                self.effects.volatile = true;
                call("ifx_session", Vec::new(), Type::Int4)
            }
            "utc_current" => {
                self.effects.volatile = true;
                call("ifx_utc_current", Vec::new(), Type::Int4)
            }
            "utc_to_datetime" => {
                let Some(seconds) = args.get(1) else { return Err(self.no_function("dbinfo", at)) };
                let seconds = self.assigned(seconds, &Type::Int8)?;
                call("ifx_utc_to_datetime", vec![seconds], Type::Datetime(YEAR_TO_SECOND))
            }
            "get_tz" => {
                self.effects.volatile = true;
                call("ifx_time_zone", Vec::new(), Type::Varchar(Some(128)))
            }
            "coserverid" => Expr::integer(1, Type::Int4),
            "cdrsession" => Expr::integer(0, Type::Int4),
            "sqlca.sqlerrd2" => {
                self.effects.volatile = true;
                call("ifx_rows_processed", Vec::new(), Type::Int4)
            }
            _ => return Err(self.no_function("dbinfo", at)),
        })
    }
}

const fn day_to_second() -> Type {
    Type::QualifiedInterval(IntervalQualifier { first: Field::Day, precision: 9, last: Field::Fraction(5) })
}

const fn year_to_month() -> Type {
    Type::QualifiedInterval(IntervalQualifier { first: Field::Year, precision: 9, last: Field::Month })
}
