//! `pg_trigger`, `information_schema.triggers` and `triggered_update_columns`, and triggers as PostgreSQL prints them.

use std::collections::HashMap;
use std::sync::Arc;

use rowferry_dialect::Schema as _;
use rowferry_dialect::heritage;
use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerTime};
use rowferry_dialect::schema::{QualifiedName, Relation, Trigger};
use rowferry_dialect::types::Reg;

use super::names::quote_ident;
use super::{Context, NULL, Row, Table, array, row};
use crate::schema::SessionSchema;
use crate::schema::metadata::derived_oid;

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_trigger", triggers),
    Table::information_schema("triggers", information),
    Table::information_schema("triggered_update_columns", update_columns),
];

/// The bits of `tgtype` that are no event's.
const ROW: u8 = 1;
const BEFORE: u8 = 2;
const INSTEAD_OF: u8 = 64;

fn kind(trigger: &Trigger) -> u8 {
    let level = if trigger.level == TriggerLevel::Row { ROW } else { 0 };
    let time = match trigger.time {
        TriggerTime::Before => BEFORE,
        TriggerTime::After => 0,
        TriggerTime::InsteadOf => INSTEAD_OF,
    };
    trigger.events | level | time
}

/// The object id of the constraint that a constraint trigger is.
pub(super) fn constraint_oid(trigger: &Trigger) -> u32 {
    match trigger.constraint {
        Some(_) => derived_oid("constraint", "", &["trigger", &trigger.oid.to_string()]),
        None => 0,
    }
}

/// Every trigger with its relation.
pub fn all(schema: &SessionSchema) -> impl Iterator<Item = (&Arc<Relation>, &Arc<Trigger>)> {
    let relations = schema.main.triggered().chain(schema.temp.triggered());
    // Those of Informix's kind call no function; systriggers tells of them.
    relations.flat_map(|relation| {
        let own = relation.named_triggers().filter(|trigger| trigger.actions().is_none());
        own.map(move |trigger| (relation, trigger))
    })
}

fn triggers(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (relation, trigger) in all(context.schema) {
        let constraint = trigger.constraint;
        let args: Vec<u8> = trigger.args.iter().flat_map(|arg| arg.bytes().chain([0])).collect();
        let copied = match relation.bound() {
            Some(_) if trigger.level == TriggerLevel::Row => {
                let parents = heritage::parents(context.schema, relation);
                parents.first().and_then(|parent| parent.trigger(&trigger.name)).map_or(0, |whole| whole.oid)
            }
            _ => 0,
        };
        rows.push(row![
            trigger.oid,
            relation.oid,
            copied,
            &trigger.name,
            trigger.function,
            kind(trigger),
            trigger.state.letter(),
            false,
            constraint.map_or(0, |constraint| constraint.from),
            0,
            constraint_oid(trigger),
            constraint.is_some_and(|constraint| constraint.deferrable),
            constraint.is_some_and(|constraint| constraint.deferred),
            trigger.args.len(),
            array(trigger.columns.iter().map(|column| relation.number_of(*column))),
            args,
            trigger.condition.as_deref(),
            trigger.old_table.as_deref(),
            trigger.new_table.as_deref(),
        ]);
    }
    rows
}

fn information(context: &Context<'_>) -> Vec<Row> {
    let database = context.state.database_name.as_str();
    let mut rows = Vec::new();
    let mut orders: HashMap<(u32, u8, u8), i64> = HashMap::new();
    for (relation, trigger) in all(context.schema) {
        for event in trigger.each_event().filter(|event| *event != TriggerEvent::Truncate) {
            let order =
                orders.entry((relation.oid, event.bit(), kind(trigger) & (ROW | BEFORE | INSTEAD_OF))).or_default();
            *order += 1;
            rows.push(row![
                database,
                &relation.namespace,
                &trigger.name,
                event.words(),
                database,
                &relation.namespace,
                &relation.name,
                *order,
                trigger.condition.as_deref().map(|text| super::describe::trigger_condition(
                    context.schema,
                    relation,
                    text,
                    false
                )),
                execute(context.schema, trigger),
                trigger.level.words(),
                trigger.time.words(),
                trigger.old_table.as_deref(),
                trigger.new_table.as_deref(),
                NULL,
                NULL,
                NULL,
            ]);
        }
    }
    rows
}

fn update_columns(context: &Context<'_>) -> Vec<Row> {
    let database = context.state.database_name.as_str();
    let mut rows = Vec::new();
    for (relation, trigger) in all(context.schema) {
        for column in &trigger.columns {
            let name = &relation.columns[*column].name;
            let (namespace, table) = (&relation.namespace, &relation.name);
            rows.push(row![database, namespace, &trigger.name, database, namespace, table, name]);
        }
    }
    rows
}

/// EXECUTE FUNCTION of a trigger.
fn execute(schema: &SessionSchema, trigger: &Trigger) -> String {
    let args: Vec<String> = trigger.args.iter().map(|arg| quote_literal(arg)).collect();
    format!("EXECUTE FUNCTION {}({})", function_name(schema, trigger.function), args.join(", "))
}

fn quote_literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

fn function_name(schema: &SessionSchema, oid: u32) -> String {
    let Some(function) = schema.function_by_oid(oid) else {
        return super::names::function_name(schema, Reg::Proc, oid).unwrap_or_default();
    };
    let name = quote_ident(&function.name);
    let found = schema.functions(&QualifiedName::bare(function.name.clone()));
    let visible = found.iter().any(|found| found.oid == oid);
    if visible { name } else { format!("{}.{name}", quote_ident(&function.namespace)) }
}

/// COMMENT ON TRIGGER.
pub fn comment(schema: &SessionSchema, oid: u32) -> Option<String> {
    all(schema).find(|(_, trigger)| trigger.oid == oid)?.1.comment.clone()
}

/// CREATE TRIGGER of a trigger; `pretty` leaves out the schema of a table that is found without.
pub fn definition(schema: &SessionSchema, oid: u32, pretty: bool) -> Option<String> {
    let (relation, trigger) = all(schema).find(|(_, trigger)| trigger.oid == oid)?;
    let mut events = Vec::new();
    for event in trigger.each_event() {
        let columns: Vec<String> =
            trigger.columns.iter().map(|column| quote_ident(&relation.columns[*column].name)).collect();
        events.push(if event == TriggerEvent::Update && !columns.is_empty() {
            format!("UPDATE OF {}", columns.join(", "))
        } else {
            event.words().to_owned()
        });
    }
    let constraint = if trigger.constraint.is_some() { "CONSTRAINT " } else { "" };
    let mut text = format!(
        "CREATE {constraint}TRIGGER {} {} {} ON {} ",
        quote_ident(&trigger.name),
        trigger.time.words(),
        events.join(" OR "),
        relation_name(schema, relation, pretty)
    );
    if let Some(constraint) = trigger.constraint {
        if let Some(from) = schema.relation_by_oid(constraint.from) {
            text.push_str(&format!("FROM {} ", relation_name(schema, &from, true)));
        }
        text.push_str(if constraint.deferrable { "DEFERRABLE " } else { "NOT DEFERRABLE " });
        text.push_str(if constraint.deferred { "INITIALLY DEFERRED " } else { "INITIALLY IMMEDIATE " });
    }
    if trigger.has_transition_tables() {
        text.push_str("REFERENCING ");
        for (word, name) in [("OLD", &trigger.old_table), ("NEW", &trigger.new_table)] {
            if let Some(name) = name {
                text.push_str(&format!("{word} TABLE AS {} ", quote_ident(name)));
            }
        }
    }
    text.push_str(&format!("FOR EACH {} ", trigger.level.words()));
    if let Some(condition) = &trigger.condition {
        let condition = super::describe::trigger_condition(schema, relation, condition, pretty);
        text.push_str(&format!("WHEN ({condition}) "));
    }
    text.push_str(&execute(schema, trigger));
    Some(text)
}

fn relation_name(schema: &SessionSchema, relation: &Relation, bare: bool) -> String {
    let name = quote_ident(&relation.name);
    let visible = || {
        let found = schema.relation(&QualifiedName::bare(relation.name.clone()));
        found.is_some_and(|found| found.oid == relation.oid)
    };
    if bare && visible() { name } else { format!("{}.{name}", quote_ident(&relation.namespace)) }
}
