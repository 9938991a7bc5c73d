//! Statements in the words of each kind of database.

use std::fmt::Write as _;

use super::model::{Column, Default, ForeignKey, Index, Key, Kind, Table, Type};
use super::types::Becomes;

/// A name as it must be written.
pub(super) fn quoted(kind: Kind, name: &str) -> String {
    match kind {
        Kind::MySql => format!("`{}`", name.replace('`', "``")),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// The table that is read, in the words of its own kind.
pub(super) fn rows_of(kind: Kind, table: &Table) -> String {
    format!("{}{}", if table.has_heirs { "ONLY " } else { "" }, quoted(kind, &table.name))
}

pub(super) fn quoted_all(kind: Kind, names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(kind, name)).collect();
    names.join(", ")
}

/// A text as it must be written.
pub(super) fn literal(kind: Kind, text: &str) -> String {
    match kind {
        Kind::MySql => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

/// A value of a key as it must be written. Its text is that of its neutral type; of bytes, hexadecimal digits.
pub(super) fn key_literal(kind: Kind, ty: &Type, text: &str) -> String {
    match (kind, ty) {
        (_, Type::Int(_) | Type::Decimal(_)) => text.to_owned(),
        (Kind::MySql, Type::Bool) => (if text == "t" { "1" } else { "0" }).into(),
        (Kind::MySql, Type::Bytes) => format!("x'{text}'"),
        (Kind::MySql | Kind::Informix, Type::TimestampTz(_)) => literal(kind, text.strip_suffix("+00").unwrap_or(text)),
        (_, Type::Bytes) => literal(kind, &format!("\\x{text}")),
        _ => literal(kind, text),
    }
}

/// A default in the target's words; nothing where it cannot be said there.
fn default(kind: Kind, column: &Column, becomes: &Becomes, value: &Default) -> Option<String> {
    // Texts of any length have no constants there, only expressions.
    let long = matches!(becomes.stored, Type::Text | Type::Json | Type::Bytes);
    if kind == Kind::Informix && long {
        return None;
    }
    Some(match value {
        Default::Identity => return None,
        Default::Now => match (kind, &becomes.stored) {
            (Kind::Sqlite | Kind::Postgres, _) => "CURRENT_TIMESTAMP".into(),
            (Kind::MySql, Type::Timestamp(0)) => "CURRENT_TIMESTAMP".into(),
            (Kind::MySql, Type::Timestamp(digits) | Type::TimestampTz(digits)) => {
                format!("CURRENT_TIMESTAMP({digits})")
            }
            (Kind::MySql, _) => return None,
            (Kind::Informix, Type::Timestamp(_) | Type::Time(_)) => becomes.words.replacen("DATETIME", "CURRENT", 1),
            (Kind::Informix, _) => return None,
        },
        Default::Today => match kind {
            Kind::Sqlite | Kind::Postgres => "CURRENT_DATE".into(),
            Kind::MySql => "(CURRENT_DATE)".into(),
            Kind::Informix => "TODAY".into(),
        },
        Default::Number(number) if column.ty == Type::Bool => {
            return default(kind, column, becomes, &Default::Bool(number != "0"));
        }
        Default::Text(text) if column.ty == Type::Bool => {
            return default(kind, column, becomes, &Default::Bool(matches!(text.as_str(), "t" | "true" | "1")));
        }
        Default::Number(number) => number.clone(),
        Default::Text(text) if kind == Kind::MySql && long => format!("({})", literal(kind, text)),
        Default::Text(text) => literal(kind, text),
        Default::Bool(value) => match (kind, value) {
            (Kind::Sqlite | Kind::Postgres, true) => "true".into(),
            (Kind::Sqlite | Kind::Postgres, false) => "false".into(),
            (Kind::MySql, true) => "1".into(),
            (Kind::MySql, false) => "0".into(),
            (Kind::Informix, true) => "'t'".into(),
            (Kind::Informix, false) => "'f'".into(),
        },
    })
}

/// True when the default of a column is not made on the target.
pub(super) fn loses_default(kind: Kind, column: &Column, becomes: &Becomes) -> bool {
    match &column.default {
        None | Some(Default::Identity) => false,
        Some(value) => default(kind, column, becomes, value).is_none(),
    }
}

/// What else the target's tables are told, by what its server is.
#[derive(Clone, Debug, std::default::Default)]
pub(super) struct Flavour {
    /// Behind the parenthesis of CREATE TABLE.
    pub table_options: String,
}

pub(super) fn create_table(
    kind: Kind,
    flavour: &Flavour,
    table: &Table,
    becomes: &[Becomes],
    checks: &[String],
) -> String {
    let mut parts = Vec::new();
    for (column, becomes) in table.columns.iter().zip(becomes) {
        let mut part = format!("{} {}", quoted(kind, &column.name), becomes.words);
        let identity = column.default == Some(Default::Identity);
        if let Some(value) = column.default.as_ref().and_then(|value| default(kind, column, becomes, value)) {
            let _ = write!(part, " DEFAULT {value}");
        }
        let in_primary = |key: &Key| key.columns.iter().any(|&at| table.columns[at].name == column.name);
        if (column.not_null || table.primary.as_ref().is_some_and(in_primary)) && !(kind == Kind::Informix && identity)
        {
            part.push_str(" NOT NULL");
        }
        match kind {
            Kind::Sqlite | Kind::Postgres if identity => part.push_str(" GENERATED BY DEFAULT AS IDENTITY"),
            Kind::MySql if identity && is_first_of_key(table, &column.name) => part.push_str(" AUTO_INCREMENT"),
            _ => {}
        }
        parts.push(part);
    }
    if let Some(key) = &table.primary {
        let columns = quoted_all(kind, &table.names(&key.columns));
        parts.push(match kind {
            Kind::Sqlite | Kind::Postgres if !key.name.is_empty() => {
                format!("CONSTRAINT {} PRIMARY KEY ({columns})", quoted(kind, &key.name))
            }
            _ => format!("PRIMARY KEY ({columns})"),
        });
    }
    parts.extend(checks.iter().cloned());
    let options = &flavour.table_options;
    format!("CREATE TABLE {} (\n    {}\n){options}", quoted(kind, &table.name), parts.join(",\n    "))
}

/// MySQL numbers a column that begins a key, and no other.
pub(super) fn is_first_of_key(table: &Table, column: &str) -> bool {
    table.primary.as_ref().and_then(|key| key.columns.first()).is_some_and(|&at| table.columns[at].name == column)
}

pub(super) fn add_unique(kind: Kind, table: &Table, key: &Key) -> String {
    let (name, columns) = (quoted(kind, &key.name), quoted_all(kind, &table.names(&key.columns)));
    let table = quoted(kind, &table.name);
    match kind {
        Kind::Informix => format!("ALTER TABLE {table} ADD CONSTRAINT UNIQUE ({columns}) CONSTRAINT {name}"),
        _ => format!("ALTER TABLE {table} ADD CONSTRAINT {name} UNIQUE ({columns})"),
    }
}

pub(super) fn create_index(kind: Kind, table: &Table, index: &Index) -> String {
    let columns: Vec<String> = index
        .columns
        .iter()
        .map(|&(at, down)| format!("{}{}", quoted(kind, &table.columns[at].name), if down { " DESC" } else { "" }))
        .collect();
    let unique = if index.unique { "UNIQUE " } else { "" };
    let (name, table) = (quoted(kind, &index.name), quoted(kind, &table.name));
    format!("CREATE {unique}INDEX {name} ON {table} ({})", columns.join(", "))
}

pub(super) fn add_foreign(kind: Kind, table: &Table, foreign: &ForeignKey) -> String {
    let (columns, name) = (quoted_all(kind, &table.names(&foreign.columns)), quoted(kind, &foreign.name));
    let names: Vec<&str> = foreign.target_columns.iter().map(String::as_str).collect();
    let mut references = format!("REFERENCES {} ({})", quoted(kind, &foreign.target), quoted_all(kind, &names));
    for (action, what) in [("DELETE", &foreign.on_delete), ("UPDATE", &foreign.on_update)] {
        // Informix knows one of them.
        let known = kind != Kind::Informix || (action == "DELETE" && what == "CASCADE");
        let known = known && !(kind == Kind::MySql && what == "SET DEFAULT");
        if !what.is_empty() && known {
            let _ = write!(references, " ON {action} {what}");
        }
    }
    let table = quoted(kind, &table.name);
    match kind {
        Kind::Informix => {
            format!("ALTER TABLE {table} ADD CONSTRAINT FOREIGN KEY ({columns}) {references} CONSTRAINT {name}")
        }
        _ => format!("ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) {references}"),
    }
}

pub(super) fn drop_table(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Sqlite | Kind::Postgres => format!("DROP TABLE {} CASCADE", quoted(kind, name)),
        _ => format!("DROP TABLE {}", quoted(kind, name)),
    }
}

/// The columns of a table to read, as expressions.
pub(super) fn selected(kind: Kind, columns: &[(&str, &Type)]) -> String {
    let columns: Vec<String> = columns
        .iter()
        .map(|(name, stored)| match (kind, stored) {
            // It is printed with six digits.
            (Kind::MySql, Type::Float4) => format!("{} * 1e0", quoted(kind, name)),
            _ => quoted(kind, name),
        })
        .collect();
    columns.join(", ")
}
