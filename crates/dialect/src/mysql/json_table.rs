//! JSON_TABLE: a function whose columns a text tells.
//!
//! The parser's tree becomes a call of `mysql_json_table`, with the document and the columns as a JSON text; a view keeps that
//! call, and SHOW CREATE VIEW makes MySQL's words of it.

use pg_query::protobuf::{self as pg, Node, node::Node as N};
use serde_json::{Value as Json, json};
use sqlparser::ast::{
    DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, JsonTableColumn,
    JsonTableColumnErrorHandling as Handling, TableAlias, TimezoneInfo, Value as Literal, ValueWithSpan,
};

use super::build::{call, list, node, text};
use super::queries::alias_of;
use super::tree::Converter;
use super::types::exact;
use crate::values::mysql::json_table::{Table, Value};
use crate::{Condition, Error, Result};

/// The function that JSON_TABLE becomes.
pub const FUNCTION: &str = "mysql_json_table";

impl Converter<'_> {
    /// JSON_TABLE as a member of FROM.
    pub(super) fn json_table(
        &mut self,
        document: &Expr,
        path: &ValueWithSpan,
        columns: &[JsonTableColumn],
        alias: Option<&TableAlias>,
    ) -> Result<Node> {
        let Some(alias) = alias else {
            let message = "Every table function must have an alias";
            return Err(Error::new(Condition::SyntaxError, message).with_mysql(3667, "42000"));
        };
        let told = json!({ "path": string(path)?, "columns": told(columns)? }).to_string();
        // What cannot be read now is not kept either.
        Table::read(&told)?;
        let document = self.expression(document)?;
        let call = list(vec![call(FUNCTION, vec![document, text(told)]), Node { node: None }]);
        let functions = vec![call];
        let alias = Some(alias_of(alias));
        Ok(node(N::RangeFunction(pg::RangeFunction { lateral: true, functions, alias, ..Default::default() })))
    }
}

/// The function that JSON_VALUE with a type becomes, but for what it yields.
pub(super) const VALUE: &str = "mysql_json_value_";

impl Converter<'_> {
    /// JSON_VALUE with RETURNING, ON EMPTY or ON ERROR, as the grammar has read it: the value in its type.
    pub(super) fn json_value(&mut self, call_of: &Expr, ty: &DataType) -> Result<Node> {
        let Expr::Function(function) = call_of else { return Err(Error::internal("JSON_VALUE that is no call")) };
        let FunctionArguments::List(args) = &function.args else {
            return Err(Error::internal("JSON_VALUE without arguments"));
        };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(document)), FunctionArg::Unnamed(FunctionArgExpr::Expr(said))] =
            args.args.as_slice()
        else {
            return Err(Error::internal("JSON_VALUE without arguments"));
        };
        let Expr::Value(said) = said else { return Err(Error::internal("JSON_VALUE without a path")) };
        let mut said: Json = serde_json::from_str(&string(said)?).map_err(|_| Error::internal("JSON_VALUE's words"))?;
        let words = match ty {
            DataType::Signed | DataType::SignedInteger => "bigint".to_owned(),
            DataType::Unsigned | DataType::UnsignedInteger => "bigint unsigned".to_owned(),
            DataType::Char(None) | DataType::Character(None) => "longtext".to_owned(),
            DataType::Char(_)
            | DataType::Character(_)
            | DataType::Decimal(_)
            | DataType::Numeric(_)
            | DataType::Dec(_)
            | DataType::Float(_)
            | DataType::Double(_)
            | DataType::Real
            | DataType::Date
            | DataType::Time(..)
            | DataType::Datetime(_)
            | DataType::JSON
            | DataType::Custom(..) => words(ty)?,
            other => return Err(Error::unsupported(format!("JSON_VALUE … RETURNING {other}"))),
        };
        let of = Value::read(&said, &words)?;
        let yields = of.kind.result();
        said["type"] = Json::from(words);
        let document = self.expression(document)?;
        let value = call(&format!("{VALUE}{yields}"), vec![document, text(said.to_string())]);
        // A year is a number as it is.
        if matches!(ty, DataType::Custom(..)) { Ok(value) } else { self.converted(value, ty) }
    }
}

fn string(value: &ValueWithSpan) -> Result<String> {
    match &value.value {
        Literal::SingleQuotedString(text) | Literal::DoubleQuotedString(text) => Ok(text.clone()),
        other => Err(Error::syntax(format!("a path is a string, and not {other}"))),
    }
}

fn told(columns: &[JsonTableColumn]) -> Result<Vec<Json>> {
    let handling = |handling: Option<&Handling>| {
        Ok(match handling {
            None | Some(Handling::Null) => Json::Null,
            Some(Handling::Error) => Json::Bool(true),
            Some(Handling::Default(value)) => Json::from(string(value)?),
        })
    };
    let column = |column: &JsonTableColumn| {
        Ok(match column {
            JsonTableColumn::ForOrdinality(name) => json!({ "name": name.value, "ordinality": true }),
            JsonTableColumn::Nested(nested) => {
                json!({ "path": string(&nested.path)?, "columns": told(&nested.columns)? })
            }
            JsonTableColumn::Named(named) => {
                let mut made = json!({
                    "name": named.name.value, "path": string(&named.path)?, "type": words(&named.r#type)?,
                });
                if named.exists {
                    made["exists"] = Json::Bool(true);
                }
                for (key, said) in [("empty", &named.on_empty), ("error", &named.on_error)] {
                    if said.is_some() {
                        made[key] = handling(said.as_ref())?;
                    }
                }
                made
            }
        })
    };
    columns.iter().map(column).collect()
}

/// MySQL's words of a type.
fn words(ty: &DataType) -> Result<String> {
    use DataType as D;
    let digits = |digits: Option<u64>| digits.map_or_else(String::new, |digits| format!("({digits})"));
    let length = |of: Option<&sqlparser::ast::CharacterLength>| match of {
        Some(sqlparser::ast::CharacterLength::IntegerLength { length, .. }) => format!("({length})"),
        _ => String::new(),
    };
    Ok(match ty {
        D::Bool | D::Boolean | D::TinyInt(_) => "tinyint".to_owned(),
        D::TinyIntUnsigned(_) | D::UTinyInt => "tinyint unsigned".to_owned(),
        D::SmallInt(_) | D::Int2(_) => "smallint".to_owned(),
        D::SmallIntUnsigned(_) | D::Int2Unsigned(_) | D::USmallInt => "smallint unsigned".to_owned(),
        D::MediumInt(_) => "mediumint".to_owned(),
        D::MediumIntUnsigned(_) => "mediumint unsigned".to_owned(),
        D::Int(_) | D::Integer(_) | D::Int4(_) => "int".to_owned(),
        D::IntUnsigned(_) | D::IntegerUnsigned(_) | D::Int4Unsigned(_) => "int unsigned".to_owned(),
        D::BigInt(_) | D::Int8(_) => "bigint".to_owned(),
        D::BigIntUnsigned(_) | D::Int8Unsigned(_) | D::UBigInt => "bigint unsigned".to_owned(),
        D::Float(_) | D::Float4 => "float".to_owned(),
        D::Double(_) | D::DoublePrecision | D::Real | D::Float8 => "double".to_owned(),
        D::Decimal(of) | D::Numeric(of) | D::Dec(of) => {
            let (precision, scale) = exact(of);
            format!("decimal({precision},{scale})")
        }
        D::Char(of) | D::Character(of) => match length(of.as_ref()).as_str() {
            "" => "char(1)".to_owned(),
            length => format!("char{length}"),
        },
        D::Varchar(of) | D::CharacterVarying(of) | D::CharVarying(of) | D::Nvarchar(of) => {
            format!("varchar{}", length(of.as_ref()))
        }
        D::Text | D::TinyText | D::MediumText | D::LongText => ty.to_string().to_lowercase(),
        D::Date => "date".to_owned(),
        D::Time(fraction, TimezoneInfo::None) => format!("time{}", digits(*fraction)),
        D::Datetime(fraction) | D::Timestamp(fraction, TimezoneInfo::None) => format!("datetime{}", digits(*fraction)),
        D::JSON => "json".to_owned(),
        D::Custom(name, _) if name.to_string().eq_ignore_ascii_case("year") => "year".to_owned(),
        other => return Err(Error::unsupported(format!("JSON_TABLE with a column of the type {other}"))),
    })
}

/// JSON_TABLE in MySQL's words, behind the document.
pub(super) fn printed(told: &str, quoted: impl Fn(&str) -> String + Copy) -> Option<String> {
    let told: Json = serde_json::from_str(told).ok()?;
    Some(format!("{} columns ({})", literal(told.get("path")?.as_str()?), printed_columns(&told, quoted)?))
}

/// What stands behind the document of JSON_VALUE, in MySQL's words, and how many calls and casts a conversion to its type is.
pub(super) fn printed_value(told: &str) -> Option<(String, usize)> {
    let told: Json = serde_json::from_str(told).ok()?;
    let kept = told.get("type")?.as_str()?;
    let conversions = match kept.split('(').next()? {
        "year" => 0,
        "char" | "datetime" | "float" => 2,
        "decimal" => 3,
        _ => 1,
    };
    let ty = match kept {
        "bigint" => "signed",
        "bigint unsigned" => "unsigned",
        "longtext" => "char",
        other => other,
    };
    let mut out = format!("{} returning {ty}", literal(told.get("path")?.as_str()?));
    for key in ["empty", "error"] {
        match told.get(key) {
            None => continue,
            Some(Json::Null) => out.push_str(" null"),
            Some(Json::String(text)) => match serde_json::from_str(text).ok()? {
                Json::String(inner) => out.push_str(&format!(" default {}", literal(&inner))),
                _ => out.push_str(&format!(" default {text}")),
            },
            Some(_) => out.push_str(" error"),
        }
        out.push_str(&format!(" on {key}"));
    }
    Some((out, conversions))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn printed_columns(told: &Json, quoted: impl Fn(&str) -> String + Copy) -> Option<String> {
    let column = |column: &Json| {
        let word = |key: &str| column.get(key).and_then(Json::as_str);
        if column.get("columns").is_some() {
            return Some(format!(
                "nested path {} columns ({})",
                literal(word("path")?),
                printed_columns(column, quoted)?
            ));
        }
        let name = quoted(word("name")?);
        if column.get("ordinality").is_some() {
            return Some(format!("{name} for ordinality"));
        }
        let exists = if column.get("exists").is_some() { " exists" } else { "" };
        let mut out = format!("{name} {}{exists} path {}", word("type")?, literal(word("path")?));
        for key in ["empty", "error"] {
            match column.get(key) {
                None => continue,
                Some(Json::Null) => out.push_str(" null"),
                Some(Json::String(text)) => out.push_str(&format!(" default {}", literal(text))),
                Some(_) => out.push_str(" error"),
            }
            out.push_str(&format!(" on {key}"));
        }
        Some(out)
    };
    let columns: Option<Vec<String>> = told.get("columns")?.as_array()?.iter().map(column).collect();
    Some(columns?.join(", "))
}
