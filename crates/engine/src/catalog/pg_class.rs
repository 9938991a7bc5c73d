//! `pg_class`: relations, indexes and sequences; with `pg_am` and `pg_attrdef`'s parents.

use rowferry_dialect::Schema as _;
use rowferry_dialect::composite::row_type_oid;
use rowferry_dialect::partition::PARTITION_BOUND;
use rowferry_dialect::schema::{Relation, RelationKind};

use super::describe;
use super::names::namespace_oid;
use super::pg_roles::shown_list;
use super::{Cell, Context, NULL, OWNER, Row, Table, row, text_array};
use crate::schema::{PG_TEMP, Properties, SessionSchema};

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_class", rows)];

/// What differs from one class to the other.
struct Class<'a> {
    oid: u32,
    name: &'a str,
    namespace: u32,
    temporary: bool,
    kind: &'a str,
    columns: usize,
    checks: usize,
    indexed: bool,
    rules: bool,
    triggers: bool,
    /// Row-level security: enabled, forced.
    secured: (bool, bool),
    options: Option<String>,
    owner: u32,
    acl: Cell,
}

fn rows(context: &Context<'_>) -> Vec<Row> {
    let schema = context.schema;
    let rights = schema.rights();
    let owned = |class: Class<'_>, oid: u32| {
        let acl = shown_list(schema, &rights, oid);
        self::class(&Class { owner: rights.owner(oid), acl, ..class })
    };
    let mut rows = Vec::new();
    let none = Properties::default();
    for relation in super::postgres_relations() {
        let mut of_catalog = of_relation(relation, namespace_oid(schema, &relation.namespace), false);
        of_catalog.indexed =
            relation.namespace == crate::schema::PG_CATALOG && super::system_indexes::has_some(&relation.name);
        let mut row = owned(of_catalog, relation.oid);
        row[REPLICA_IDENTITY] = Cell::Word("n");
        rows.push(row);
    }
    let pairs = super::partitions::index_pairs(schema);
    for relation in schema.user_relations() {
        let namespace = namespace_oid(schema, &relation.namespace);
        // PostgreSQL keeps foreign keys by triggers on both tables; psql looks for foreign keys only where it sees some.
        let referenced = schema.children(relation).next().is_some();
        let triggers = referenced
            || !relation.foreign_keys.is_empty()
            || !relation.triggers.is_empty()
            || schema.details(relation.oid).is_some_and(|details| !details.triggers.is_empty());
        let properties = schema.details(relation.oid).map_or(&none, |details| &details.properties);
        let mut row = owned(of_relation(relation, namespace, triggers), relation.oid);
        row[ROW_TYPE] = Cell::from(row_type_oid(relation.oid));
        row[HAS_SUBCLASS] = Cell::from(!schema.heirs(relation.oid).is_empty());
        if let Some(bound) = properties.get("", PARTITION_BOUND) {
            row[IS_PARTITION] = Cell::from(true);
            row[BOUND] = Cell::from(bound);
        }
        if let Some(ty) = relation.of_type() {
            row[OF_TYPE] = Cell::from(ty);
        }
        if properties.has("", "unlogged") {
            row[PERSISTENCE] = Cell::from("u");
        }
        if let Some(word) = properties.get("", "replica_identity") {
            row[REPLICA_IDENTITY] = Cell::from(&word[..1]);
        }
        if let RelationKind::MaterializedView { populated, .. } = relation.kind {
            row[POPULATED] = Cell::from(populated);
        }
        show_options(&mut row, properties, "", "option ");
        rows.push(row);
        for index in relation.ordinary_indexes() {
            let mut row = class(&Class {
                oid: index.oid,
                name: &index.name,
                namespace,
                temporary: relation.namespace == PG_TEMP,
                kind: if relation.is_partitioned() { "I" } else { "i" },
                columns: index.keys.len(),
                checks: 0,
                indexed: false,
                rules: false,
                triggers: false,
                secured: (false, false),
                options: None,
                owner: rights.owner(relation.oid),
                acl: NULL,
            });
            if properties.has("", "unlogged") {
                row[PERSISTENCE] = Cell::from("u");
            }
            row[HAS_SUBCLASS] = Cell::from(relation.is_partitioned() && !schema.heirs(relation.oid).is_empty());
            row[IS_PARTITION] = Cell::from(pairs.iter().any(|(own, _)| *own == index.oid));
            // A page and no rows, as an index has that nobody has analyzed.
            (row[PAGES], row[TUPLES]) = (Cell::Integer(1), Cell::Real(0.0));
            if let Some(method) = properties.get(&index.name, "index_method") {
                let mut methods = rowferry_facts::AccessMethod::all_known();
                if let Some(method) = methods.find(|known| known.name == method) {
                    row[ACCESS_METHOD] = Cell::from(method.oid);
                }
            }
            show_options(&mut row, properties, &index.name, "index_option ");
            rows.push(row);
        }
    }
    for ty in schema.user_types() {
        let Some(composite) = ty.composite() else { continue };
        let mut row = class(&Class {
            oid: composite.relation,
            name: &ty.name,
            namespace: namespace_oid(schema, &ty.namespace),
            temporary: false,
            kind: "c",
            columns: composite.fields.len(),
            checks: 0,
            indexed: false,
            rules: false,
            triggers: false,
            secured: (false, false),
            options: None,
            owner: rights.owner(ty.oid),
            acl: NULL,
        });
        row[ROW_TYPE] = Cell::from(ty.oid);
        row[FILE] = Cell::from(0_i64);
        rows.push(row);
    }
    for details in schema.sequences() {
        let of_sequence = Class {
            oid: details.sequence.oid,
            name: &details.sequence.name,
            namespace: namespace_oid(schema, &details.sequence.namespace),
            temporary: details.database == "temp",
            kind: "S",
            columns: 3,
            checks: 0,
            indexed: false,
            rules: false,
            triggers: false,
            secured: (false, false),
            options: None,
            owner: OWNER,
            acl: NULL,
        };
        let mut row = owned(of_sequence, details.sequence.oid);
        // A sequence is as durable as the table whose column it numbers.
        let table = details.owner.and_then(|(table, _)| schema.details(table));
        if table.is_some_and(|table| table.properties.has("", "unlogged")) {
            row[PERSISTENCE] = Cell::from("u");
        }
        rows.push(row);
    }
    rows
}

/// The number of a relation's, a sequence's or an index's own storage; `None` for what has none.
pub fn filenode(schema: &SessionSchema, oid: u32) -> Option<u32> {
    if let Some(relation) = schema.relation_by_oid(oid) {
        return (!super::is_view(&relation) && !relation.is_partitioned()).then_some(oid);
    }
    if let Some((relation, _)) = schema.index_by_oid(oid) {
        return (!relation.is_partitioned()).then_some(oid);
    }
    (schema.sequence_by_oid(oid).is_some() || rowferry_facts::Index::by_oid(oid).is_some()).then_some(oid)
}

/// Places of columns that row types decide.
const ROW_TYPE: usize = 3;
const OF_TYPE: usize = 4;
const FILE: usize = 7;
/// Places of columns that ALTER TABLE changes.
const ACCESS_METHOD: usize = 6;
const PAGES: usize = 9;
const TUPLES: usize = 10;
const PERSISTENCE: usize = 15;
const HAS_SUBCLASS: usize = 21;
const POPULATED: usize = 24;
const REPLICA_IDENTITY: usize = 25;
const OPTIONS: usize = 31;
/// Places of columns that partitions have.
const IS_PARTITION: usize = 26;
const BOUND: usize = 32;

fn show_options(row: &mut Row, properties: &Properties, part: &str, prefix: &str) {
    let options = describe::options(properties, part, prefix);
    if !options.is_empty() {
        row[OPTIONS] = Cell::from(text_array(options.iter().map(String::as_str)));
    }
}

fn of_relation(relation: &Relation, namespace: u32, triggers: bool) -> Class<'_> {
    let is_view = super::is_view(relation);
    Class {
        oid: relation.oid,
        name: &relation.name,
        namespace,
        temporary: relation.namespace == PG_TEMP,
        kind: match is_view {
            true => "v",
            false if relation.is_materialized() => "m",
            false if relation.is_partitioned() => "p",
            false => "r",
        },
        columns: relation.columns.len() + relation.dropped.len(),
        checks: relation.told_checks().count(),
        indexed: relation.ordinary_indexes().next().is_some(),
        rules: is_view || relation.is_materialized() || !relation.rules.is_empty(),
        triggers,
        secured: relation.security.as_ref().map_or((false, false), |security| (security.enabled, security.forced)),
        options: options(relation),
        owner: OWNER,
        acl: NULL,
    }
}

/// A view's options as an array.
fn options(relation: &Relation) -> Option<String> {
    let RelationKind::View { options, .. } = &relation.kind else { return None };
    let texts: Vec<String> = options.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!texts.is_empty()).then(|| super::text_array(texts.iter().map(String::as_str)))
}

fn class(class: &Class<'_>) -> Row {
    let access = match class.kind {
        "r" | "m" => 2_u32,
        "i" | "I" => 403,
        _ => 0,
    };
    row![
        class.oid,
        class.name,
        class.namespace,
        0,
        0,
        class.owner,
        access,
        if matches!(class.kind, "p" | "I" | "v") { 0 } else { class.oid },
        0,
        0,
        -1.0,
        0,
        0,
        class.indexed,
        false,
        if class.temporary { "t" } else { "p" },
        class.kind,
        class.columns,
        class.checks,
        class.rules,
        class.triggers,
        false,
        class.secured.0,
        class.secured.1,
        true,
        if matches!(class.kind, "r" | "m" | "p") { "d" } else { "n" },
        false,
        0,
        0,
        0,
        class.acl.clone(),
        class.options.as_deref(),
        NULL,
    ]
}
