//! Partitions of tables: `information_schema.PARTITIONS`, and what SHOW CREATE TABLE tells of them.

use std::fmt::Write as _;
use std::sync::Arc;

use rowferry_dialect::mysql::partitioning;
use rowferry_dialect::mysql::print::{literal, quoted};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::values::mysql::partitions::{Bound, Method, Part, Partitioning};

use super::server::is_reserved;
use super::{Context, DEF, Row, Table, database, of_schema, relations, row, words};
use crate::catalog::{NULL, is_view};

pub(super) const TABLES: &[Table] = &[of_schema(
    "partitions",
    "TABLE_CATALOG text, TABLE_SCHEMA text, TABLE_NAME text, PARTITION_NAME text, SUBPARTITION_NAME text, \
     PARTITION_ORDINAL_POSITION int8, SUBPARTITION_ORDINAL_POSITION int8, PARTITION_METHOD text, \
     SUBPARTITION_METHOD text, PARTITION_EXPRESSION text, SUBPARTITION_EXPRESSION text, \
     PARTITION_DESCRIPTION text, TABLE_ROWS int8, AVG_ROW_LENGTH int8, DATA_LENGTH int8, MAX_DATA_LENGTH int8, \
     INDEX_LENGTH int8, DATA_FREE int8, CREATE_TIME timestamp, UPDATE_TIME timestamp, CHECK_TIME timestamp, \
     CHECKSUM int8, PARTITION_COMMENT text, NODEGROUP text, TABLESPACE_NAME text",
    rows,
)];

/// How a table is parted, and by what in MySQL's words.
fn parted(context: &Context<'_>, relation: &Relation) -> Option<(Partitioning, Vec<String>)> {
    let (of, by) = partitioning(&relation.partitions()?.text)?;
    let told = by.iter().map(|kept| words::own(context, relation, kept).unwrap_or_else(|| kept.clone()));
    Some((of, told.collect()))
}

fn rows(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations(context).filter(|relation| !is_view(relation)) {
        let named = || row![DEF, database(context, &relation.namespace), &relation.name];
        let Some((of, by)) = parted(context, relation) else {
            let mut row = named();
            row.resize(22, NULL);
            row.extend(row!["", "", NULL]);
            rows.push(row);
            continue;
        };
        let method = method(&of);
        for (at, part) in of.parts.iter().enumerate() {
            let mut row = named();
            row.extend(row![
                &part.name,
                NULL,
                at + 1,
                NULL,
                &method,
                NULL,
                (!of.of_key).then(|| by.join(",")),
                NULL,
                of.method.has_values().then(|| values(&of, part)),
            ]);
            // Nobody has counted.
            row.resize(22, NULL);
            row.extend(row![&part.comment, "default", NULL]);
            rows.push(row);
        }
    }
    rows
}

/// A text as MySQL tells it here.
fn text(of: &str) -> String {
    let told = literal(of);
    format!("'{}'", told[1..told.len() - 1].replace("''", "\\'"))
}

fn method(of: &Partitioning) -> String {
    let linear = if of.linear { "LINEAR " } else { "" };
    let columns = if of.columns { " COLUMNS" } else { "" };
    format!("{linear}{}{columns}", of.method.word())
}

fn bound(bound: &Bound) -> String {
    match bound {
        Bound::Null => "NULL".to_owned(),
        Bound::Most => "MAXVALUE".to_owned(),
        Bound::Number(number) => number.to_string(),
        Bound::Text(of) => text(of),
    }
}

/// The values of a part, without the parentheses around them all.
fn values(of: &Partitioning, part: &Part) -> String {
    let several = of.method == Method::List && of.kinds.len() > 1;
    let row = |row: &Vec<Bound>| {
        let told = row.iter().map(bound).collect::<Vec<_>>().join(",");
        if several { format!("({told})") } else { told }
    };
    part.values.iter().map(row).collect::<Vec<_>>().join(",")
}

/// A name that MySQL quotes where it must.
fn name(of: &str) -> String {
    let plain = of.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$')
        && !of.bytes().all(|byte| byte.is_ascii_digit())
        && !is_reserved(of);
    if plain { of.to_owned() } else { quoted(of) }
}

/// What stands behind a table's options in SHOW CREATE TABLE.
pub(super) fn shown(context: &Context<'_>, relation: &Arc<Relation>) -> Option<String> {
    let (of, by) = parted(context, relation)?;
    let is_listed = of.columns || of.method == Method::Key;
    let by = match (of.of_key, is_listed) {
        (true, _) => String::new(),
        (false, true) => by.iter().map(|column| name(&unquoted(column))).collect::<Vec<_>>().join(","),
        (false, false) => by.join(","),
    };
    let version = if of.columns { "50500" } else { "50100" };
    let linear = if of.linear { "LINEAR " } else { "" };
    let (columns, blank) = if of.columns { ("  COLUMNS", "") } else { ("", " ") };
    let mut out = format!("\n/*!{version} PARTITION BY {linear}{}{columns}{blank}({by})", of.method.word());
    if of.named {
        let part = |part: &Part| {
            let mut told = format!("PARTITION {}", name(&part.name));
            match of.method {
                Method::Range if !of.columns && part.values == [[Bound::Most]] => {
                    told.push_str(" VALUES LESS THAN MAXVALUE")
                }
                Method::Range => {
                    let _ = write!(told, " VALUES LESS THAN ({})", values(&of, part));
                }
                Method::List => {
                    let _ = write!(told, " VALUES IN ({})", values(&of, part));
                }
                Method::Hash | Method::Key => {}
            }
            if !part.comment.is_empty() {
                let _ = write!(told, " COMMENT = {}", text(&part.comment));
            }
            told + " ENGINE = InnoDB"
        };
        let _ = write!(out, "\n({})", of.parts.iter().map(part).collect::<Vec<_>>().join(",\n "));
    } else if of.counted {
        let _ = write!(out, "\nPARTITIONS {}", of.parts.len());
    }
    Some(out + " */")
}

/// A name without its quotes.
fn unquoted(name: &str) -> String {
    match name.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        Some(inner) => inner.replace("``", "`"),
        None => name.to_owned(),
    }
}
