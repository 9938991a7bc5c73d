//! Types and defaults in MySQL's words.

use std::sync::Arc;

use rowferry_dialect::Type;
use rowferry_dialect::mysql::types::{RENEWED, zerofill};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::user_type::UserKind;

use super::Context;
use crate::catalog::describe;

/// A type: `int`, `int unsigned`.
pub(super) struct Words {
    /// Its name alone, as `DATA_TYPE` has it.
    pub(super) data: String,
    /// The whole, as `COLUMN_TYPE` has it.
    pub(super) column: String,
}

impl Words {
    pub(super) fn of(ty: &Type) -> Self {
        let column = column_type(ty);
        let end = column.find(['(', ' ']).unwrap_or(column.len());
        Self { data: column[..end].to_owned(), column }
    }

    fn numbers(&self) -> Vec<i64> {
        if matches!(self.data.as_str(), "enum" | "set") {
            return Vec::new();
        }
        let inner =
            self.column.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inner, _)| inner);
        inner.split(',').filter_map(|number| number.trim().parse().ok()).collect()
    }

    /// True for texts.
    pub(super) fn is_text(&self) -> bool {
        matches!(
            self.data.as_str(),
            "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "enum" | "set"
        )
    }

    /// Characters and bytes at most.
    pub(super) fn lengths(&self) -> Option<(i64, i64)> {
        let first = self.numbers().first().copied();
        Some(match self.data.as_str() {
            "char" | "varchar" => (first.unwrap_or(1), first.unwrap_or(1) * 4),
            "binary" | "varbinary" => (first.unwrap_or(1), first.unwrap_or(1)),
            "tinytext" | "tinyblob" => (255, 255),
            "text" | "blob" => (65_535, 65_535),
            "mediumtext" | "mediumblob" => (16_777_215, 16_777_215),
            "longtext" | "longblob" => (4_294_967_295, 4_294_967_295),
            "enum" | "set" => {
                let inner = self.column.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
                let labels: Vec<i64> =
                    inner.split("','").map(|label| label.trim_matches('\'').chars().count() as i64).collect();
                let length = match self.data.as_str() {
                    "enum" => labels.iter().copied().max().unwrap_or(0),
                    _ => labels.iter().sum::<i64>() + labels.len() as i64 - 1,
                };
                (length, length * 4)
            }
            _ => return None,
        })
    }

    /// Digits, and those behind the point.
    pub(super) fn digits(&self) -> Option<(i64, Option<i64>)> {
        let unsigned = self.column.ends_with("unsigned");
        let numbers = self.numbers();
        Some(match self.data.as_str() {
            "tinyint" => (3, Some(0)),
            "smallint" => (5, Some(0)),
            "mediumint" => (7, Some(0)),
            "int" => (10, Some(0)),
            "bigint" => (if unsigned { 20 } else { 19 }, Some(0)),
            "decimal" => (numbers.first().copied().unwrap_or(10), Some(numbers.get(1).copied().unwrap_or(0))),
            "float" | "double" if !numbers.is_empty() => (numbers[0], numbers.get(1).copied()),
            "float" => (12, None),
            "double" => (22, None),
            "bit" => (numbers.first().copied().unwrap_or(1), None),
            _ => return None,
        })
    }

    /// Digits of the second's fraction.
    pub(super) fn fraction(&self) -> Option<i64> {
        match self.data.as_str() {
            "datetime" | "timestamp" | "time" => Some(self.numbers().first().copied().unwrap_or(0)),
            _ => None,
        }
    }
}

/// A column has ON UPDATE CURRENT_TIMESTAMP, with so many digits.
pub(super) fn renewal(ty: &Type) -> Option<String> {
    match ty {
        Type::User(user) if user.namespace == super::MYSQL => {
            let words = user.name.strip_suffix(RENEWED)?;
            let digits = words.find('(').map_or("", |at| &words[at..]);
            Some(format!("on update CURRENT_TIMESTAMP{digits}"))
        }
        _ => None,
    }
}

fn column_type(ty: &Type) -> String {
    let fraction = |name: &str, digits: Option<u8>| match digits {
        Some(0) => name.to_owned(),
        digits => format!("{name}({})", digits.unwrap_or(6)),
    };
    match ty {
        Type::User(user) if user.namespace == super::MYSQL => {
            user.name.strip_suffix(RENEWED).unwrap_or(&user.name).to_owned()
        }
        Type::User(user) => match &user.kind {
            UserKind::Domain(domain) => column_type(&domain.base),
            _ => match ty.labels() {
                Some(labels) => {
                    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
                    let labels: Vec<String> = labels.all().iter().map(|label| quoted(&label.text)).collect();
                    format!("enum({})", labels.join(","))
                }
                None => "longtext".to_owned(),
            },
        },
        Type::Bool => "tinyint(1)".to_owned(),
        Type::Int2 => "smallint".to_owned(),
        Type::Int4 => "int".to_owned(),
        Type::Int8 | Type::IfxInt8 | Type::Oid | Type::Reg(_) => "bigint".to_owned(),
        Type::Float4 => "float".to_owned(),
        Type::Float8 => "double".to_owned(),
        Type::Numeric(Some(modifier)) | Type::Money(modifier) => {
            format!("decimal({},{})", modifier.precision.min(65), modifier.scale.clamp(0, 30))
        }
        Type::Numeric(None) | Type::FloatingDecimal(_) => "decimal(65,30)".to_owned(),
        Type::Varchar(Some(length)) | Type::Nvarchar(length) | Type::Lvarchar(length) => format!("varchar({length})"),
        Type::Char(length) | Type::Nchar(length) => format!("char({length})"),
        Type::Text => "text".to_owned(),
        Type::Name => "varchar(64)".to_owned(),
        Type::Uuid => "char(36)".to_owned(),
        Type::Bytea => "blob".to_owned(),
        Type::Byte | Type::Blob => "longblob".to_owned(),
        Type::Date => "date".to_owned(),
        Type::Time(digits) | Type::TimeTz(digits) => fraction("time", *digits),
        Type::Interval(_) => "time".to_owned(),
        Type::Timestamp(digits) => fraction("datetime", *digits),
        Type::TimestampTz(digits) => fraction("timestamp", *digits),
        Type::Json | Type::Jsonb => "json".to_owned(),
        _ => "longtext".to_owned(),
    }
}

/// A column's default.
pub(super) enum Default {
    /// A literal, without its quotes.
    Literal(String),
    /// An expression.
    Expression(String),
}

/// The default of a column as MySQL tells it.
pub(super) fn default(context: &Context<'_>, relation: &Arc<Relation>, at: usize) -> Option<Default> {
    let column = &relation.columns[at];
    if column.generated.is_some() || column.numbers_itself() {
        return None;
    }
    let text = describe::default_expression(context.schema, relation, at)?;
    let bare = without_casts(&text);
    let upper = bare.to_ascii_uppercase();
    let words = Words::of(&column.ty);
    let scale = match words.data.as_str() {
        "decimal" => words.digits().and_then(|(_, scale)| scale),
        "time" | "datetime" | "timestamp" => words.fraction(),
        _ => None,
    };
    if let (Some(digits), Ok(number)) = (zerofill(&words.column), bare.trim_matches(['(', ')', '\'']).parse::<u64>()) {
        return Some(Default::Literal(format!("{number:0digits$}")));
    }
    let in_column = |value: String| scale.map_or_else(|| value.clone(), |scale| with_digits(&value, scale));
    if upper == "NULL" || upper.starts_with("NEXTVAL(") {
        return None;
    }
    if let Some(literal) = bare.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Some(Default::Literal(in_column(literal.replace("''", "'"))));
    }
    match upper.as_str() {
        "TRUE" => return Some(Default::Literal("1".to_owned())),
        "FALSE" => return Some(Default::Literal("0".to_owned())),
        _ => {}
    }
    let is_number = bare.trim_start_matches(['-', '(']).trim_end_matches(')').parse::<f64>().is_ok();
    if is_number {
        return Some(Default::Literal(in_column(bare.trim_matches(['(', ')']).to_owned())));
    }
    let clock = ["CURRENT_TIMESTAMP", "NOW(", "LOCALTIMESTAMP", "STATEMENT_TIMESTAMP", "RF_MYSQL_NOW"];
    if clock.iter().any(|word| upper.contains(word)) {
        let digits = Words::of(&column.ty).fraction().unwrap_or(0);
        return Some(Default::Expression(match digits {
            0 => "CURRENT_TIMESTAMP".to_owned(),
            digits => format!("CURRENT_TIMESTAMP({digits})"),
        }));
    }
    Some(Default::Expression(super::words::default(context, relation, at).unwrap_or(bare)))
}

/// A decimal with as many digits behind the point as its column has.
fn with_digits(number: &str, scale: i64) -> String {
    let (whole, behind) = number.split_once('.').unwrap_or((number, ""));
    let scale = usize::try_from(scale).unwrap_or(0);
    // What was given with more was rounded, or has an exponent.
    if behind.len() > scale || number.contains(['e', 'E']) {
        return number.to_owned();
    }
    if scale == 0 { whole.to_owned() } else { format!("{whole}.{behind:0<scale$}") }
}

/// A literal without the conversions behind it and the parentheses around it: `('a'::text)::varchar(3)`.
fn without_casts(text: &str) -> String {
    let mut text = text.trim();
    loop {
        let before = text;
        if let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'))
            && !inner.contains(['(', ')'])
        {
            text = inner.trim();
        }
        // The last of the marks that is in no literal.
        let mut quoted = false;
        let mut depth = 0;
        let mut mark = None;
        for (at, letter) in text.char_indices() {
            match letter {
                '\'' => quoted = !quoted,
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth -= 1,
                ':' if !quoted && depth == 0 && text[at..].starts_with("::") => {
                    mark.get_or_insert(at);
                }
                _ => {}
            }
        }
        if let Some(at) = mark {
            text = text[..at].trim();
        }
        if text == before {
            return text.to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_in_words_of_mysql() {
        for (ty, wanted) in [
            (Type::Int4, "int"),
            (Type::Varchar(Some(20)), "varchar(20)"),
            (Type::Timestamp(Some(0)), "datetime"),
            (Type::Timestamp(Some(3)), "datetime(3)"),
            (Type::Bool, "tinyint(1)"),
        ] {
            assert_eq!(Words::of(&ty).column, wanted);
        }
        let unsigned = Words { data: "bigint".into(), column: "bigint unsigned".into() };
        assert_eq!(unsigned.digits(), Some((20, Some(0))));
        let labels = Words { data: "enum".into(), column: "enum('a','bcd')".into() };
        assert_eq!(labels.lengths(), Some((3, 12)));
    }

    #[test]
    fn decimals_have_the_digits_of_their_columns() {
        let told = [("0", 6), ("-1.5", 2), ("3", 0), ("1.25", 1)].map(|(number, scale)| with_digits(number, scale));
        assert_eq!(told, ["0.000000", "-1.50", "3", "1.25"]);
    }

    #[test]
    fn defaults_lose_their_casts() {
        assert_eq!(without_casts("'abc'::text"), "'abc'");
        assert_eq!(without_casts("('a::b'::text)::character varying(3)"), "'a::b'");
        assert_eq!(without_casts("0"), "0");
    }
}
