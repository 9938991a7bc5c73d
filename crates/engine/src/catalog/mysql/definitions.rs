//! What SHOW CREATE prints: MySQL's definitions of tables and views.

use std::fmt::Write as _;
use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::mysql::print::{literal as text, quoted};
use rowferry_dialect::mysql::{LateKey, routine};
use rowferry_dialect::schema::{CheckOption, Column, Relation, RelationKind};
use rowferry_dialect::stored_function::RoutineLanguage;

use super::keys::{in_order, index_name, is_invisible, prefix, prefixed};
use super::partitions;
use super::tables::DEFINER;
use super::types::{Default, Words, default, renewal};
use super::{
    CHARSET, COLLATION, Context, Row, Table, database, databases, is_virtual, of_schema, row, shown, table_collation,
    words,
};
use crate::catalog::{describe, is_view};

/// The name of the table that nobody is told of but by SHOW CREATE.
pub(super) const NAME: &str = "rowferry_definitions";

pub(super) const TABLES: &[Table] = &[of_schema(
    NAME,
    "OBJECT_TYPE text, OBJECT_SCHEMA text, OBJECT_NAME text, DEFINITION text, CHARACTER_SET_CLIENT text, \
     COLLATION_CONNECTION text",
    rows,
)];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = databases(context)
        .into_iter()
        .map(|(name, _)| {
            let definition = format!(
                "CREATE DATABASE {} /*!40100 DEFAULT CHARACTER SET {CHARSET} COLLATE {COLLATION} */",
                quoted(&name)
            );
            row!["DATABASE", &name, &name, definition, CHARSET, COLLATION]
        })
        .collect();
    for relation in shown(context) {
        let (kind, definition) = match is_view(relation) {
            true => ("VIEW", view(context, relation)),
            false => ("TABLE", table(context, relation)),
        };
        let namespace = database(context, &relation.namespace);
        rows.push(row![kind, namespace, &relation.name, definition, CHARSET, COLLATION]);
        for trigger in relation.named_triggers() {
            let definition = match trigger.mysql_body() {
                Some((text, _)) => Some(text.to_owned()),
                None => crate::catalog::pg_trigger::definition(context.schema, trigger.oid, true),
            };
            rows.push(row!["TRIGGER", namespace, &trigger.name, definition, CHARSET, COLLATION]);
        }
    }
    for function in context.schema.stored_functions() {
        let kind = if function.definition.procedure { "PROCEDURE" } else { "FUNCTION" };
        let own = (function.definition.language == RoutineLanguage::Mysql)
            .then(|| routine::read(&function.definition.source).ok())
            .flatten();
        rows.push(row![
            kind,
            database(context, &function.namespace),
            own.as_ref().map_or(&function.name, |own| &own.name),
            &function.definition.source,
            CHARSET,
            COLLATION,
        ]);
    }
    rows
}

fn names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    all.map(quoted).collect::<Vec<_>>().join(",")
}

fn view(context: &Context<'_>, relation: &Relation) -> String {
    let columns = words::view_columns(relation);
    let columns = columns.map_or_else(String::new, |columns| format!(" ({})", names(columns.into_iter())));
    let check = match &relation.kind {
        RelationKind::View { options, .. } => options.check(),
        _ => None,
    };
    format!(
        "CREATE ALGORITHM=UNDEFINED DEFINER={} SQL SECURITY DEFINER VIEW {}{columns} AS {}{}",
        DEFINER.split('@').map(quoted).collect::<Vec<_>>().join("@"),
        quoted(&relation.name),
        words::view(context, relation),
        match check {
            None => "",
            Some(CheckOption::Local) => " WITH LOCAL CHECK OPTION",
            Some(CheckOption::Cascaded) => " WITH CASCADED CHECK OPTION",
        }
    )
}

fn table(context: &Context<'_>, relation: &Arc<Relation>) -> String {
    let schema = context.schema;
    let details = schema.details(relation.oid);
    let mut parts = Vec::new();
    for (at, column) in relation.columns.iter().enumerate() {
        let words = Words::of(&column.ty);
        let mut part = format!("{} {}", quoted(&column.name), words.column);
        if let Some(collation) = column.collation.as_ref().filter(|_| words.is_text()) {
            if collation.name != table_collation(details) {
                let _ = write!(part, " CHARACTER SET {} COLLATE {}", charset_of(&collation.name), collation.name);
            } else if collation.name != COLLATION {
                let _ = write!(part, " COLLATE {}", collation.name);
            }
        }
        if column.generated.is_some() {
            let expression = words::generated(context, relation, at).unwrap_or_default();
            let kept = if is_virtual(details, &column.name) { "VIRTUAL" } else { "STORED" };
            let _ = write!(part, " GENERATED ALWAYS AS ({expression}) {kept}");
        }
        if column.not_null {
            part.push_str(" NOT NULL");
        } else if words.data == "timestamp" {
            part.push_str(" NULL");
        }
        match default(context, relation, at) {
            Some(Default::Literal(value)) => {
                let _ = write!(part, " DEFAULT {}", text(&value));
            }
            Some(Default::Expression(expression)) if expression.starts_with("CURRENT_TIMESTAMP") => {
                let _ = write!(part, " DEFAULT {expression}");
            }
            Some(Default::Expression(expression)) => {
                let _ = write!(part, " DEFAULT ({expression})");
            }
            None if column.numbers_itself() => part.push_str(" AUTO_INCREMENT"),
            None if !column.not_null && column.generated.is_none() && takes_default(&words) => {
                part.push_str(" DEFAULT NULL");
            }
            None => {}
        }
        if let Some(renewal) = renewal(&column.ty) {
            let _ = write!(part, " {}", renewal.replace("on update", "ON UPDATE"));
        }
        if let Some(comment) = details.and_then(|details| details.column_comments.get(&at)) {
            let _ = write!(part, " COMMENT {}", text(comment));
        }
        parts.push(part);
    }
    for index in in_order(relation) {
        let columns: Vec<String> = index
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let prefix = prefix(context, relation, index, at);
                let named = column.and_then(|column| relation.columns.get(column)).map(|column| column.name.clone());
                let named = named.or_else(|| prefix.and_then(|_| prefixed(context, relation, index, at)));
                let key = match (named, prefix) {
                    (Some(name), Some(length)) => format!("{}({length})", quoted(&name)),
                    (Some(name), None) => quoted(&name),
                    (None, _) => format!("({})", words::key(context, relation, index, at)),
                };
                let descends = index.keys.get(at).is_some_and(|key| key.descending);
                if descends { format!("{key} DESC") } else { key }
            })
            .collect();
        let columns = columns.join(",");
        let mut part = match (index.primary, index.unique) {
            (true, _) => format!("PRIMARY KEY ({columns})"),
            (false, unique) => {
                let kind = match unique {
                    true => "UNIQUE KEY",
                    false if index.fulltext => "FULLTEXT KEY",
                    false => "KEY",
                };
                format!("{kind} {} ({columns})", quoted(index_name(relation, index)))
            }
        };
        if let Some(comment) = describe::part_comment(schema, index.oid) {
            let _ = write!(part, " COMMENT {}", text(&comment));
        }
        if is_invisible(context, relation, index) {
            part.push_str(" /*!80000 INVISIBLE */");
        }
        parts.push(part);
    }
    // InnoDB has them by their names.
    let mut keys: Vec<_> = relation.foreign_keys.iter().collect();
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    for key in keys {
        let Some(target) = schema.relation(&key.target) else { continue };
        let from = names(key.columns.iter().map(|at| relation.columns[*at].name.as_str()));
        let to = describe::target_columns(&target, key);
        let to = names(to.iter().map(|at| target.columns[*at].name.as_str()));
        let place = match target.namespace == relation.namespace {
            true => quoted(&target.name),
            false => format!("{}.{}", quoted(database(context, &target.namespace)), quoted(&target.name)),
        };
        let mut part = format!("CONSTRAINT {} FOREIGN KEY ({from}) REFERENCES {place} ({to})", quoted(&key.name));
        for (event, action) in [("DELETE", key.rules.on_delete.words()), ("UPDATE", key.rules.on_update.words())] {
            if action != "NO ACTION" {
                let _ = write!(part, " ON {event} {action}");
            }
        }
        parts.push(part);
    }
    // Those that wait for their tables.
    let properties = details.into_iter().flat_map(|details| details.properties.all());
    let late = properties.filter(|(_, name, _)| *name == LateKey::PROPERTY);
    parts.extend(late.filter_map(|(_, _, value)| Some(LateKey::of_property(value)?.definition(&relation.namespace))));
    for check in relation.told_checks() {
        let clause = words::check(context, relation, check);
        parts.push(format!("CONSTRAINT {} CHECK ({clause})", quoted(&check.name)));
    }
    let kind = if relation.is_temporary() { "TEMPORARY TABLE" } else { "TABLE" };
    let mut out = format!("CREATE {kind} {} (\n  {}\n)", quoted(&relation.name), parts.join(",\n  "));
    let collation = table_collation(details);
    out.push_str(" ENGINE=InnoDB");
    if let Some(next) = next_number(context, relation).filter(|next| *next > 1) {
        let _ = write!(out, " AUTO_INCREMENT={next}");
    }
    let _ = write!(out, " DEFAULT CHARSET={} COLLATE={collation}", charset_of(collation));
    if let Some(comment) = details.and_then(|details| details.comment.as_deref()) {
        let _ = write!(out, " COMMENT={}", text(comment));
    }
    if let Some(partitions) = partitions::shown(context, relation) {
        out.push_str(&partitions);
    }
    out
}

/// The number that a table's next row has.
fn next_number(context: &Context<'_>, relation: &Relation) -> Option<i64> {
    let at = relation.columns.iter().position(Column::numbers_itself)?;
    let details = context.schema.sequences().find(|details| details.owner == Some((relation.oid, at)))?;
    context.state.next_value(details)
}

/// The character set that a collation is one of.
fn charset_of(collation: &str) -> &str {
    collation.split('_').next().unwrap_or(CHARSET)
}

/// Texts and bytes without end have no default that is told.
fn takes_default(words: &Words) -> bool {
    !(words.data.ends_with("text") || words.data.ends_with("blob"))
}
