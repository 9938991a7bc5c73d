//! `information_schema`: the standard's view of the same things.

use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerTime};
use rowferry_dialect::postgres::types;
use rowferry_dialect::schema::{CheckOption, ReferentialAction, RelationKind};
use rowferry_dialect::{Schema as _, Type};

use super::describe::{self, target_columns};
use super::names::NAMESPACES;
use super::{Context, NULL, Row, Table, row};
use crate::schema::{INFORMIX, PG_TEMP};

/// Bits of what can be done to a relation's rows.
const INSERT: i32 = 1 << 3;
const UPDATE_AND_DELETE: i32 = (1 << 2) | (1 << 4);

pub(super) const TABLES: &[Table] = &[
    Table::information_schema("schemata", schemata),
    Table::information_schema("tables", tables),
    Table::information_schema("columns", columns),
    Table::information_schema("views", views),
    Table::information_schema("table_constraints", table_constraints),
    Table::information_schema("key_column_usage", key_column_usage),
    Table::information_schema("constraint_column_usage", constraint_column_usage),
    Table::information_schema("referential_constraints", referential_constraints),
    Table::information_schema("check_constraints", check_constraints),
    Table::information_schema("sequences", sequences),
    Table::information_schema("routines", |_| Vec::new()),
];

fn yes(truth: bool) -> &'static str {
    if truth { "YES" } else { "NO" }
}

fn schemata(context: &Context<'_>) -> Vec<Row> {
    let fixed = NAMESPACES.iter().map(|(_, name)| *name).filter(|name| !matches!(*name, INFORMIX | PG_TEMP));
    let made = context.schema.main.namespaces.iter().map(|namespace| namespace.name.as_str());
    let rights = context.schema.rights();
    fixed
        .chain(made)
        .map(|name| {
            let owner = super::pg_roles::owner_name(context.schema, &rights, context.schema.namespace_oid(name));
            row![&context.database.name, name, owner, NULL, NULL, NULL, NULL]
        })
        .collect()
}

fn is_view(kind: &RelationKind) -> bool {
    matches!(kind, RelationKind::View { .. } | RelationKind::NativeView)
}

fn tables(context: &Context<'_>) -> Vec<Row> {
    let users = context.schema.user_relations();
    users
        .chain(super::relations())
        .filter(|relation| relation.namespace != INFORMIX)
        .map(|relation| {
            let kind = if is_view(&relation.kind) {
                "VIEW"
            } else if relation.namespace == PG_TEMP {
                "LOCAL TEMPORARY"
            } else {
                "BASE TABLE"
            };
            let insertable = yes(describe::updatable(context.schema, relation).events & INSERT != 0);
            row![
                &context.database.name,
                &relation.namespace,
                &relation.name,
                kind,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                insertable,
                "NO",
                NULL
            ]
        })
        .collect()
}

/// `bit`, whose length is told as that of a text.
const BIT: u32 = 1_560;
/// `bit varying`
const VARBIT: u32 = 1_562;

fn columns(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    let users = context.schema.user_relations();
    for relation in users.chain(super::relations()).filter(|relation| relation.namespace != INFORMIX) {
        let updatable = describe::updatable(context.schema, relation).columns;
        for (at, column) in relation.columns.iter().enumerate() {
            let ty = types::import(&column.ty);
            let domain = match &ty {
                Type::User(user) if user.domain().is_some() => Some(user.clone()),
                _ => None,
            };
            let ty = ty.through_domains().clone();
            let mut udt_schema = "pg_catalog".to_owned();
            let (words, name) = match &ty {
                Type::User(user) => {
                    udt_schema.clone_from(&user.namespace);
                    ("USER-DEFINED", user.name.clone())
                }
                Type::Array(element) if element.has_user_type() => {
                    let Type::User(user) = &**element else { continue };
                    udt_schema.clone_from(&user.namespace);
                    ("ARRAY", user.array_name())
                }
                Type::Array(element) => {
                    ("ARRAY", types::row_of(element).map_or("_text".to_owned(), |row| format!("_{}", row.name)))
                }
                ty => types::row_of(ty).map_or(("text", "text".to_owned()), |row| (row.words, row.name.to_owned())),
            };
            let length = match &ty {
                Type::Varchar(length) => *length,
                Type::Char(length) => Some(*length),
                Type::Scalar(_, length) if matches!(types::oid(&ty), BIT | VARBIT) => *length,
                _ => None,
            };
            let (precision, radix, scale) = match &ty {
                Type::Int2 => (Some(16), Some(2), Some(0)),
                Type::Int4 => (Some(32), Some(2), Some(0)),
                Type::Int8 => (Some(64), Some(2), Some(0)),
                Type::Float4 => (Some(24), Some(2), None),
                Type::Float8 => (Some(53), Some(2), None),
                Type::Numeric(Some(modifier)) => {
                    (Some(i64::from(modifier.precision)), Some(10), Some(i64::from(modifier.scale)))
                }
                Type::Numeric(None) => (None, Some(10), None),
                _ => (None, None, None),
            };
            let digits = match &ty {
                Type::Date => Some(0),
                Type::Time(digits) | Type::TimeTz(digits) | Type::Timestamp(digits) | Type::TimestampTz(digits) => {
                    Some(digits.map_or(6, i64::from))
                }
                Type::Interval(modifier) => Some(modifier.and_then(|one| one.digits).map_or(6, i64::from)),
                _ => None,
            };
            let octets = length.map(|length| i64::from(length) * 4).or(ty.is_text().then_some(1_073_741_824));
            let identity = column.identity.as_ref();
            let sequence = context
                .schema
                .sequences()
                .find(|details| identity.is_some() && details.owner == Some((relation.oid, at)));
            let default =
                describe::default_expression(context.schema, relation, at).filter(|_| column.generated.is_none());
            rows.push(row![
                catalog,
                &relation.namespace,
                &relation.name,
                &column.name,
                at + 1,
                default,
                yes(!column.not_null),
                words,
                length,
                octets,
                precision,
                radix,
                scale,
                digits,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                domain.as_ref().map(|_| catalog),
                domain.as_ref().map(|domain| &domain.namespace),
                domain.as_ref().map(|domain| &domain.name),
                catalog,
                udt_schema,
                name,
                NULL,
                NULL,
                NULL,
                NULL,
                (at + 1).to_string(),
                "NO",
                yes(identity.is_some()),
                identity.map(|identity| if identity.always { "ALWAYS" } else { "BY DEFAULT" }),
                sequence.map(|details| details.start.to_string()),
                sequence.map(|details| details.increment.to_string()),
                sequence.map(|details| details.max.to_string()),
                sequence.map(|details| details.min.to_string()),
                sequence.map_or("NO", |details| yes(details.cycle)),
                if column.generated.is_some() { "ALWAYS" } else { "NEVER" },
                column.generated.as_ref().and_then(|_| describe::default_expression(context.schema, relation, at)),
                yes(updatable[at]),
            ]);
        }
    }
    rows
}

fn views(context: &Context<'_>) -> Vec<Row> {
    let relations = context.schema.user_relations();
    relations
        .filter(|relation| is_view(&relation.kind))
        .map(|relation| {
            let check = match &relation.kind {
                RelationKind::View { options, .. } => options.check(),
                _ => None,
            };
            let events = describe::updatable(context.schema, relation).events;
            let by_trigger = |event| yes(relation.has_trigger(TriggerTime::InsteadOf, TriggerLevel::Row, event));
            row![
                &context.database.name,
                &relation.namespace,
                &relation.name,
                describe::view(context.schema, relation.oid, false),
                match check {
                    None => "NONE",
                    Some(CheckOption::Local) => "LOCAL",
                    Some(CheckOption::Cascaded) => "CASCADED",
                },
                yes(events & UPDATE_AND_DELETE == UPDATE_AND_DELETE),
                yes(events & INSERT != 0),
                by_trigger(TriggerEvent::Update),
                by_trigger(TriggerEvent::Delete),
                by_trigger(TriggerEvent::Insert)
            ]
        })
        .collect()
}

fn table_constraints(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        let mut push = |name: &str, kind: &str, deferred: bool| {
            let nulls = (kind == "UNIQUE").then_some("YES");
            rows.push(row![
                catalog,
                &relation.namespace,
                name,
                catalog,
                &relation.namespace,
                &relation.name,
                kind,
                yes(deferred),
                yes(deferred),
                "YES",
                nulls
            ]);
        };
        for index in relation.indexes.iter().filter(|index| index.constraint) {
            push(&index.name, if index.primary { "PRIMARY KEY" } else { "UNIQUE" }, false);
        }
        for check in &relation.checks {
            push(&check.name, "CHECK", false);
        }
        for key in &relation.foreign_keys {
            push(&key.name, "FOREIGN KEY", key.deferred);
        }
    }
    rows
}

fn key_column_usage(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        let mut push = |name: &str, column: usize, at: usize, place: Option<usize>| {
            rows.push(row![
                catalog,
                &relation.namespace,
                name,
                catalog,
                &relation.namespace,
                &relation.name,
                &relation.columns[column].name,
                at + 1,
                place
            ]);
        };
        for index in relation.indexes.iter().filter(|index| index.constraint) {
            index.columns.iter().flatten().enumerate().for_each(|(at, &column)| push(&index.name, column, at, None));
        }
        for key in &relation.foreign_keys {
            key.columns.iter().enumerate().for_each(|(at, &column)| push(&key.name, column, at, Some(at + 1)));
        }
    }
    rows
}

fn constraint_column_usage(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for index in relation.indexes.iter().filter(|index| index.constraint) {
            for &column in index.columns.iter().flatten() {
                rows.push(row![
                    catalog,
                    &relation.namespace,
                    &relation.name,
                    &relation.columns[column].name,
                    catalog,
                    &relation.namespace,
                    &index.name
                ]);
            }
        }
        for key in &relation.foreign_keys {
            let Some(target) = context.schema.relation(&key.target) else { continue };
            for column in target_columns(&target, key) {
                rows.push(row![
                    catalog,
                    &target.namespace,
                    &target.name,
                    &target.columns[column].name,
                    catalog,
                    &relation.namespace,
                    &key.name
                ]);
            }
        }
    }
    rows
}

fn rule(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "NO ACTION",
        ReferentialAction::Restrict => "RESTRICT",
        ReferentialAction::Cascade => "CASCADE",
        ReferentialAction::SetNull => "SET NULL",
        ReferentialAction::SetDefault => "SET DEFAULT",
    }
}

fn referential_constraints(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for key in &relation.foreign_keys {
            let unique = context.schema.relation(&key.target).and_then(|target| {
                let wanted: Vec<Option<usize>> = target_columns(&target, key).into_iter().map(Some).collect();
                let index = target.indexes.iter().find(|index| index.unique && index.columns == wanted)?;
                Some((target.namespace.clone(), index.name.clone()))
            });
            let (namespace, name) = unique.unzip();
            rows.push(row![
                catalog,
                &relation.namespace,
                &key.name,
                catalog,
                namespace,
                name,
                "NONE",
                rule(key.on_update),
                rule(key.on_delete)
            ]);
        }
    }
    rows
}

fn check_constraints(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in context.schema.user_relations() {
        for check in &relation.checks {
            rows.push(row![&context.database.name, &relation.namespace, &check.name, format!("({})", check.text)]);
        }
    }
    rows
}

fn sequences(context: &Context<'_>) -> Vec<Row> {
    // What is behind an identity column is the column's own affair.
    let internal = |details: &crate::schema::SequenceDetails| {
        details.owner.is_some_and(|(table, column)| {
            let relation = context.schema.relation_by_oid(table);
            relation.is_some_and(|relation| relation.columns.get(column).is_some_and(|c| c.identity.is_some()))
        })
    };
    let sequences = context.schema.sequences().filter(|details| !internal(details));
    sequences
        .map(|details| {
            let (words, bits) = match details.sequence.ty {
                Type::Int2 => ("smallint", 16),
                Type::Int4 => ("integer", 32),
                _ => ("bigint", 64),
            };
            row![
                &context.database.name,
                &details.sequence.namespace,
                &details.sequence.name,
                words,
                bits,
                2,
                0,
                details.start.to_string(),
                details.min.to_string(),
                details.max.to_string(),
                details.increment.to_string(),
                yes(details.cycle)
            ]
        })
        .collect()
}
