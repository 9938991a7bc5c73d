//! What PostgreSQL counts while it works (`pg_stat_…`, `pg_statio_…`). Nothing is counted here, as with `track_counts` off
//! there, which is what the setting says: whatever can be counted is told, with counts of 0.

use std::sync::Arc;

use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_facts as facts;

use super::{Cell, Context, NULL, Row, Table, row};
use crate::database::Shared;
use crate::databases::Siblings;
use crate::schema::{INFORMATION_SCHEMA, PG_CATALOG};

/// Of which schemas a view tells.
#[derive(Clone, Copy)]
enum Of {
    All,
    System,
    Users,
}

impl Of {
    fn tells(self, relation: &Relation) -> bool {
        let system = [PG_CATALOG, INFORMATION_SCHEMA].contains(&relation.namespace.as_str());
        match self {
            Self::All => true,
            Self::System => system,
            Self::Users => !system,
        }
    }
}

macro_rules! views {
    ($($make:ident($name:literal, $of:ident)),* $(,)?) => {
        &[$(Table::pg_catalog($name, |context| $make(context, $name, Of::$of)),)*
            Table::pg_catalog("pg_stat_archiver", |_| vec![counted("pg_stat_archiver", Row::new())]),
            Table::pg_catalog("pg_stat_bgwriter", |_| vec![counted("pg_stat_bgwriter", Row::new())]),
            Table::pg_catalog("pg_stat_database", databases).live(),
            Table::pg_catalog("pg_stat_wal", |_| vec![counted("pg_stat_wal", Row::new())]),
        ]
    };
}

pub(super) const TABLES: &[Table] = views![
    tables("pg_stat_all_tables", All),
    tables("pg_stat_sys_tables", System),
    tables("pg_stat_user_tables", Users),
    tables("pg_stat_xact_all_tables", All),
    tables("pg_stat_xact_sys_tables", System),
    tables("pg_stat_xact_user_tables", Users),
    tables("pg_statio_all_tables", All),
    tables("pg_statio_sys_tables", System),
    tables("pg_statio_user_tables", Users),
    indexes("pg_stat_all_indexes", All),
    indexes("pg_stat_sys_indexes", System),
    indexes("pg_stat_user_indexes", Users),
    indexes("pg_statio_all_indexes", All),
    indexes("pg_statio_sys_indexes", System),
    indexes("pg_statio_user_indexes", Users),
    sequences("pg_statio_all_sequences", All),
    sequences("pg_statio_user_sequences", Users),
];

/// A row that begins so; what has been counted is 0, what has not happened has no time.
fn counted(view: &str, mut row: Row) -> Row {
    let rest = facts::Relation::columns(PG_CATALOG, view).iter().skip(row.len());
    let none = |column: &&facts::Column| matches!(column.type_name, "timestamptz" | "text");
    row.extend(rest.map(|column| if none(column) { NULL } else { Cell::Integer(0) }));
    row
}

/// Tables, the catalogs among them, and materialised views.
fn counted_relations<'a>(context: &'a Context<'_>, of: Of) -> impl Iterator<Item = &'a Arc<Relation>> {
    let relations = super::postgres_relations().chain(context.schema.user_relations());
    relations.filter(move |relation| {
        let stored = matches!(relation.kind, RelationKind::Table | RelationKind::Catalog) && !super::is_view(relation);
        (stored || relation.is_materialized()) && of.tells(relation)
    })
}

fn tables(context: &Context<'_>, view: &str, of: Of) -> Vec<Row> {
    let columns = facts::Relation::columns(PG_CATALOG, view);
    let io = view.starts_with("pg_statio");
    // A partitioned table has no pages of its own.
    let relations = counted_relations(context, of).filter(|relation| !(io && relation.is_partitioned()));
    relations
        .map(|relation| {
            let mut row = counted(view, row![relation.oid, &relation.namespace, &relation.name]);
            let indexed = !relation.indexes.is_empty() || catalog_indexes(relation).next().is_some();
            for (cell, column) in row.iter_mut().zip(columns) {
                let of_index = column.name.starts_with("idx_") && !indexed;
                // Long values stay in the table here.
                if of_index || column.name.starts_with("toast_") || column.name.starts_with("tidx_") {
                    *cell = NULL;
                }
            }
            row
        })
        .collect()
}

fn catalog_indexes(relation: &Relation) -> impl Iterator<Item = &'static facts::Index> {
    let name = (relation.namespace == PG_CATALOG).then(|| relation.name.clone());
    facts::Index::all().iter().filter(move |index| name.as_deref() == Some(index.relation))
}

fn indexes(context: &Context<'_>, view: &str, of: Of) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in counted_relations(context, of).filter(|relation| !relation.is_partitioned()) {
        let own = relation.indexes.iter().map(|index| (index.oid, index.name.as_str()));
        for (oid, name) in own.chain(catalog_indexes(relation).map(|index| (index.oid, index.name))) {
            rows.push(counted(view, row![relation.oid, oid, &relation.namespace, &relation.name, name]));
        }
    }
    rows
}

/// Sequences are users'.
fn sequences(context: &Context<'_>, view: &str, _: Of) -> Vec<Row> {
    let sequences = context.schema.sequences().map(|details| &details.sequence);
    sequences.map(|sequence| counted(view, row![sequence.oid, &sequence.namespace, &sequence.name])).collect()
}

/// The databases of the server, and a row for what belongs to none.
fn databases(context: &Context<'_>) -> Vec<Row> {
    const VIEW: &str = "pg_stat_database";
    let sessions = |oid: u32| {
        let neighbours = context.database.neighbours();
        let here = neighbours.iter().find(|database: &&Arc<Shared>| database.oid() == oid);
        here.map_or(0, |database| database.sessions().len())
    };
    let mut rows = vec![counted(VIEW, row![0, NULL, 0])];
    let mut push = |oid: u32, name: &str| rows.push(counted(VIEW, row![oid, name, sessions(oid)]));
    push(context.database.oid(), &context.database.name);
    if let Some(all) = context.database.siblings.get().and_then(Siblings::databases) {
        for (name, _) in all.list().into_iter().filter(|(name, _)| *name != context.database.name) {
            push(all.oid(&name), &name);
        }
    }
    rows
}
