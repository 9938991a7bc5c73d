//! Schemas, tables, columns, views, triggers, routines.

use std::sync::Arc;

use rowferry_dialect::ir::{TriggerEvent, TriggerTime};
use rowferry_dialect::mysql::routine::{self, Routine};
use rowferry_dialect::mysql::variables::DEFAULT_MODES;
use rowferry_dialect::schema::{CheckOption, Relation, RelationKind, Trigger};
use rowferry_dialect::stored_function::{ParamMode, RoutineLanguage, StoredFunction, TypeRef};

use super::keys::{SHOWN_STATISTICS, shown_statistics};
use super::types::{Default, Words, default, renewal};
use super::{
    CHARSET, COLLATION, Context, DEF, Row, Table, database, databases, is_virtual, of_schema, own_tables, relations,
    row, shown, table_collation, words, yes,
};
use crate::catalog::{Cell, NULL, columns_of, describe, is_view};

pub(super) const TABLES: &[Table] = &[
    of_schema(
        "schemata",
        "CATALOG_NAME text, SCHEMA_NAME text, DEFAULT_CHARACTER_SET_NAME text, DEFAULT_COLLATION_NAME text, \
         SQL_PATH text, DEFAULT_ENCRYPTION text",
        |context| {
            let row = |(name, _): (String, _)| row![DEF, name, CHARSET, COLLATION, NULL, "NO"];
            databases(context).into_iter().map(row).collect()
        },
    ),
    of_schema(
        "tables",
        "TABLE_CATALOG text, TABLE_SCHEMA text, TABLE_NAME text, TABLE_TYPE text, ENGINE text, VERSION int8, \
         ROW_FORMAT text, TABLE_ROWS int8, AVG_ROW_LENGTH int8, DATA_LENGTH int8, MAX_DATA_LENGTH int8, \
         INDEX_LENGTH int8, DATA_FREE int8, AUTO_INCREMENT int8, CREATE_TIME timestamp, UPDATE_TIME timestamp, \
         CHECK_TIME timestamp, TABLE_COLLATION text, CHECKSUM int8, CREATE_OPTIONS text, TABLE_COMMENT text",
        tables,
    ),
    of_schema("columns", COLUMNS, columns),
    of_schema(
        "views",
        "TABLE_CATALOG text, TABLE_SCHEMA text, TABLE_NAME text, VIEW_DEFINITION text, CHECK_OPTION text, \
         IS_UPDATABLE text, DEFINER text, SECURITY_TYPE text, CHARACTER_SET_CLIENT text, COLLATION_CONNECTION text",
        views,
    ),
    of_schema(
        "triggers",
        "TRIGGER_CATALOG text, TRIGGER_SCHEMA text, TRIGGER_NAME text, EVENT_MANIPULATION text, \
         EVENT_OBJECT_CATALOG text, EVENT_OBJECT_SCHEMA text, EVENT_OBJECT_TABLE text, ACTION_ORDER int8, \
         ACTION_CONDITION text, ACTION_STATEMENT text, ACTION_ORIENTATION text, ACTION_TIMING text, \
         ACTION_REFERENCE_OLD_TABLE text, ACTION_REFERENCE_NEW_TABLE text, ACTION_REFERENCE_OLD_ROW text, \
         ACTION_REFERENCE_NEW_ROW text, CREATED timestamp, SQL_MODE text, DEFINER text, CHARACTER_SET_CLIENT text, \
         COLLATION_CONNECTION text, DATABASE_COLLATION text",
        triggers,
    ),
    of_schema(
        "routines",
        "SPECIFIC_NAME text, ROUTINE_CATALOG text, ROUTINE_SCHEMA text, ROUTINE_NAME text, ROUTINE_TYPE text, \
         DATA_TYPE text, CHARACTER_MAXIMUM_LENGTH int8, CHARACTER_OCTET_LENGTH int8, NUMERIC_PRECISION int8, \
         NUMERIC_SCALE int8, DATETIME_PRECISION int8, CHARACTER_SET_NAME text, COLLATION_NAME text, \
         DTD_IDENTIFIER text, ROUTINE_BODY text, ROUTINE_DEFINITION text, EXTERNAL_NAME text, \
         EXTERNAL_LANGUAGE text, PARAMETER_STYLE text, IS_DETERMINISTIC text, SQL_DATA_ACCESS text, SQL_PATH text, \
         SECURITY_TYPE text, CREATED timestamp, LAST_ALTERED timestamp, SQL_MODE text, ROUTINE_COMMENT text, \
         DEFINER text, CHARACTER_SET_CLIENT text, COLLATION_CONNECTION text, DATABASE_COLLATION text",
        routines,
    ),
    of_schema(
        "parameters",
        "SPECIFIC_CATALOG text, SPECIFIC_SCHEMA text, SPECIFIC_NAME text, ORDINAL_POSITION int8, \
         PARAMETER_MODE text, PARAMETER_NAME text, DATA_TYPE text, CHARACTER_MAXIMUM_LENGTH int8, \
         CHARACTER_OCTET_LENGTH int8, NUMERIC_PRECISION int8, NUMERIC_SCALE int8, DATETIME_PRECISION int8, \
         CHARACTER_SET_NAME text, COLLATION_NAME text, DTD_IDENTIFIER text, ROUTINE_TYPE text",
        parameters,
    ),
    of_schema("rowferry_columns", COLUMNS, shown_columns),
    of_schema("rowferry_statistics", SHOWN_STATISTICS, shown_statistics),
];

const COLUMNS: &str = "TABLE_CATALOG text, TABLE_SCHEMA text, TABLE_NAME text, COLUMN_NAME text, \
    ORDINAL_POSITION int8, COLUMN_DEFAULT text, IS_NULLABLE text, DATA_TYPE text, CHARACTER_MAXIMUM_LENGTH int8, \
    CHARACTER_OCTET_LENGTH int8, NUMERIC_PRECISION int8, NUMERIC_SCALE int8, DATETIME_PRECISION int8, \
    CHARACTER_SET_NAME text, COLLATION_NAME text, COLUMN_TYPE text, COLUMN_KEY text, EXTRA text, PRIVILEGES text, \
    COLUMN_COMMENT text, GENERATION_EXPRESSION text, SRS_ID int8";

/// What everybody may do with a column.
const PRIVILEGES: &str = "select,insert,update,references";
/// Who has made everything.
pub(super) const DEFINER: &str = "root@localhost";

fn tables(context: &Context<'_>) -> Vec<Row> {
    let own = own_tables().map(|(database, name, _)| {
        let mut row = row![DEF, database, name, "SYSTEM VIEW", NULL, 10];
        row.resize(19, NULL);
        row.extend(row!["", ""]);
        row
    });
    let made = relations(context).map(|relation| {
        let comment = context.schema.details(relation.oid).and_then(|details| details.comment.clone());
        let (namespace, name) = (database(context, &relation.namespace), &relation.name);
        if is_view(relation) {
            let mut row = row![DEF, namespace, name, "VIEW"];
            row.resize(20, NULL);
            row.push(Cell::from("VIEW"));
            return row;
        }
        row![
            DEF,
            namespace,
            name,
            "BASE TABLE",
            "InnoDB",
            10,
            "Dynamic",
            // Nobody has counted.
            NULL,
            NULL,
            NULL,
            0,
            NULL,
            0,
            NULL,
            NULL,
            NULL,
            NULL,
            table_collation(context.schema.details(relation.oid)),
            NULL,
            if relation.partitions().is_some() { "partitioned" } else { "" },
            comment.unwrap_or_default(),
        ]
    });
    own.chain(made).collect()
}

/// `PRI`, `UNI` or `MUL`.
pub(super) fn key_of(relation: &Relation, at: usize) -> &'static str {
    let first = |index: &&rowferry_dialect::schema::Index| index.columns.first() == Some(&Some(at));
    if relation.primary_key().is_some_and(|key| key.columns.contains(&Some(at))) {
        "PRI"
    } else if relation.indexes.iter().filter(first).any(|index| index.unique && index.columns.len() == 1) {
        "UNI"
    } else if relation.indexes.iter().any(|index| first(&index)) {
        "MUL"
    } else {
        ""
    }
}

fn columns(context: &Context<'_>) -> Vec<Row> {
    columns_of_all(context, relations(context))
}

/// The same with temporary tables, which SHOW alone tells of.
fn shown_columns(context: &Context<'_>) -> Vec<Row> {
    columns_of_all(context, shown(context))
}

fn columns_of_all<'a>(context: &'a Context<'_>, relations: impl Iterator<Item = &'a Arc<Relation>>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (database, name, table) in own_tables() {
        for (at, column) in columns_of(table).into_iter().enumerate() {
            let words = Words::of(&column.ty);
            rows.push(column_row(Shown {
                database,
                table: &name,
                column: column.name,
                place: at + 1,
                default: None,
                nullable: true,
                words: &words,
                key: "",
                extra: String::new(),
                comment: String::new(),
                generated: String::new(),
                collation: None,
            }));
        }
    }
    for relation in relations {
        let details = context.schema.details(relation.oid);
        for (at, column) in relation.columns.iter().enumerate() {
            let words = Words::of(&column.ty);
            let default = default(context, relation, at);
            let generated = words::generated(context, relation, at);
            let extra = if column.numbers_itself() {
                "auto_increment"
            } else if generated.is_some() {
                if is_virtual(details, &column.name) { "VIRTUAL GENERATED" } else { "STORED GENERATED" }
            } else if matches!(default, Some(Default::Expression(_))) {
                "DEFAULT_GENERATED"
            } else {
                ""
            };
            rows.push(column_row(Shown {
                database: database(context, &relation.namespace),
                table: &relation.name,
                column: &column.name,
                place: at + 1,
                default: default.map(|default| match default {
                    Default::Literal(text) | Default::Expression(text) => text,
                }),
                nullable: !column.not_null,
                words: &words,
                key: key_of(relation, at),
                extra: match renewal(&column.ty) {
                    Some(renewal) if extra.is_empty() => renewal,
                    Some(renewal) => format!("{extra} {renewal}"),
                    None => extra.to_owned(),
                },
                comment: details.and_then(|details| details.column_comments.get(&at).cloned()).unwrap_or_default(),
                generated: generated.unwrap_or_default(),
                collation: column.collation.as_ref().map(|collation| &*collation.name),
            }));
        }
    }
    rows
}

/// A column as it is told.
struct Shown<'a> {
    database: &'a str,
    table: &'a str,
    column: &'a str,
    place: usize,
    default: Option<String>,
    nullable: bool,
    words: &'a Words,
    key: &'a str,
    extra: String,
    comment: String,
    generated: String,
    collation: Option<&'a str>,
}

fn column_row(shown: Shown<'_>) -> Row {
    let lengths = shown.words.lengths();
    let digits = shown.words.digits();
    let is_text = shown.words.is_text();
    row![
        DEF,
        shown.database,
        shown.table,
        shown.column,
        shown.place,
        shown.default,
        yes(shown.nullable),
        &shown.words.data,
        lengths.map(|(characters, _)| characters),
        lengths.map(|(_, bytes)| bytes),
        digits.map(|(digits, _)| digits),
        digits.and_then(|(_, scale)| scale),
        shown.words.fraction(),
        is_text.then_some(CHARSET),
        is_text.then_some(shown.collation.unwrap_or(COLLATION)),
        &shown.words.column,
        shown.key,
        shown.extra,
        PRIVILEGES,
        shown.comment,
        shown.generated,
        NULL,
    ]
}

fn views(context: &Context<'_>) -> Vec<Row> {
    relations(context)
        .filter(|relation| is_view(relation))
        .map(|relation| {
            let check = match &relation.kind {
                RelationKind::View { options, .. } => options.check(),
                _ => None,
            };
            let events = describe::updatable(context.schema, relation).events;
            row![
                DEF,
                database(context, &relation.namespace),
                &relation.name,
                words::view(context, relation),
                match check {
                    None => "NONE",
                    Some(CheckOption::Local) => "LOCAL",
                    Some(CheckOption::Cascaded) => "CASCADED",
                },
                yes(events != 0),
                DEFINER,
                "DEFINER",
                CHARSET,
                COLLATION,
            ]
        })
        .collect()
}

fn triggers(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations(context) {
        let namespace = database(context, &relation.namespace);
        for trigger in relation.named_triggers() {
            for (event, word) in
                [(TriggerEvent::Insert, "INSERT"), (TriggerEvent::Update, "UPDATE"), (TriggerEvent::Delete, "DELETE")]
            {
                if !trigger.waits_for(event) {
                    continue;
                }
                let time = match trigger.time {
                    TriggerTime::Before => "BEFORE",
                    TriggerTime::After => "AFTER",
                    TriggerTime::InsteadOf => "INSTEAD OF",
                };
                // Of MySQL's own the body is told, and their place among those of their time and event.
                let body = trigger.mysql_body().and_then(|(text, _)| routine::read(text).ok());
                let alike = |other: &&Arc<Trigger>| other.time == trigger.time && other.waits_for(event);
                let place = relation.named_triggers().filter(alike).position(|other| other.oid == trigger.oid);
                let (statement, definer) = match &body {
                    Some(body) => (body.body.clone(), body.definer.clone()),
                    None => (
                        crate::catalog::pg_trigger::definition(context.schema, trigger.oid, true).unwrap_or_default(),
                        None,
                    ),
                };
                rows.push(row![
                    DEF,
                    namespace,
                    &trigger.name,
                    word,
                    DEF,
                    namespace,
                    &relation.name,
                    place.unwrap_or(0) + 1,
                    NULL,
                    statement,
                    "ROW",
                    time,
                    NULL,
                    NULL,
                    "OLD",
                    "NEW",
                    NULL,
                    DEFAULT_MODES,
                    definer.unwrap_or_else(|| DEFINER.to_owned()),
                    CHARSET,
                    COLLATION,
                    COLLATION,
                ]);
            }
        }
    }
    rows
}

/// What a routine in MySQL's language says of itself.
fn told(function: &StoredFunction) -> Option<Routine> {
    (function.definition.language == RoutineLanguage::Mysql).then(|| routine::read(&function.definition.source).ok())?
}

/// A type in nine columns, from DATA_TYPE to DTD_IDENTIFIER.
fn type_columns(ty: Option<&TypeRef>) -> Row {
    let Some(ty) = ty else {
        let mut row = row![""];
        row.resize(9, NULL);
        return row;
    };
    let words = match ty {
        TypeRef::Is(ty) => Words::of(ty),
        other => Words { data: other.words(), column: other.words() },
    };
    let (lengths, digits, is_text) = (words.lengths(), words.digits(), words.is_text());
    row![
        &words.data,
        lengths.map(|(characters, _)| characters),
        lengths.map(|(_, bytes)| bytes),
        digits.map(|(digits, _)| digits),
        digits.and_then(|(_, scale)| scale),
        words.fraction(),
        is_text.then_some(CHARSET),
        is_text.then_some(COLLATION),
        &words.column,
    ]
}

const fn kind_of(function: &StoredFunction) -> &'static str {
    if function.definition.procedure { "PROCEDURE" } else { "FUNCTION" }
}

fn routines(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for function in context.schema.stored_functions() {
        let own = told(function);
        let name = own.as_ref().map_or(&function.name, |own| &own.name);
        let of = own.as_ref().map(|own| own.characteristics.clone()).unwrap_or_default();
        let mut row = row![name, DEF, database(context, &function.namespace), name, kind_of(function)];
        let returns = (!function.definition.procedure).then_some(&function.definition.returns);
        row.extend(type_columns(returns));
        row.extend(row![
            "SQL",
            own.as_ref().map_or(&function.definition.source, |own| &own.body),
            NULL,
            "SQL",
            "SQL",
            yes(of.deterministic),
            of.data.words(),
            NULL,
            if of.invoker { "INVOKER" } else { "DEFINER" },
            NULL,
            NULL,
            DEFAULT_MODES,
            of.comment.unwrap_or_default(),
            own.as_ref().and_then(|own| own.definer.clone()).unwrap_or_else(|| DEFINER.to_owned()),
            CHARSET,
            COLLATION,
            COLLATION,
        ]);
        rows.push(row);
    }
    rows
}

fn parameters(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for function in context.schema.stored_functions() {
        let own = told(function);
        let name = own.as_ref().map_or(&function.name, |own| &own.name);
        let namespace = database(context, &function.namespace);
        let mut add = |place: usize, mode: Option<&str>, param: Option<&str>, ty: &TypeRef| {
            let mut row = row![DEF, namespace, name, place, mode, param];
            row.extend(type_columns(Some(ty)));
            row.push(Cell::from(kind_of(function)));
            rows.push(row);
        };
        if !function.definition.procedure {
            // What a function returns stands before its parameters.
            add(0, None, None, &function.definition.returns);
        }
        for (at, param) in function.definition.params.iter().enumerate() {
            let mode = match param.mode {
                ParamMode::Out => "OUT",
                ParamMode::InOut => "INOUT",
                _ => "IN",
            };
            let written = own.as_ref().and_then(|own| own.params.get(at)).map_or(&param.name, |param| &param.name);
            add(at + 1, Some(mode), Some(written), &param.ty);
        }
    }
    rows
}
