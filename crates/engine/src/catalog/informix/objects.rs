//! What hangs on what: synonyms, views over tables, states of objects, columns of large objects, access methods.

use std::collections::BTreeSet;

use rowferry_dialect::ir::TriggerState;
use rowferry_dialect::ir::{Body, CteBody, Expr, ExprKind, From, Query, Statement, walk};
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::{Language, Type, informix, postgres};

use super::{Cell, Context, OWNER, Table, View, int, tabid, text};

macro_rules! tables {
    ($($name:literal, $columns:literal => $rows:expr;)*) => {
        &[$(Table {
            namespace: "informix",
            name: $name,
            columns: $columns,
            rows: $rows,
            live: false,
        one: None,
        chunks: None,
        },)*]
    };
}

#[rustfmt::skip]
pub(super) const TABLES: &[Table] = tables! {
    "syssyntable",
        "tabid integer, servername varchar(128), dbname varchar(128), owner char(32), tabname varchar(128), btabid integer"
        => |context| {
            let view = &View::of(context);
            view.synonyms
                .iter()
                .map(|synonym| {
                    let oid = int(synonym.oid.into());
                    if let Some(database) = &synonym.elsewhere {
                        let name = text(synonym.target.name.clone());
                        return vec![oid, Cell::Null, text(database.clone()), text(OWNER), name, Cell::Null];
                    }
                    let target = view.object(&synonym.target.name);
                    vec![oid, Cell::Null, Cell::Null, Cell::Null, Cell::Null, target.map_or(Cell::Null, int)]
                })
                .collect()
        };
    "sysdepend", "btabid integer, btype char(1), dtabid integer, dtype char(1)" => |context| {
        let mut rows = Vec::new();
        for relation in context.schema.user_relations() {
            for base in tables_of(context, relation) {
                rows.push(vec![int(base.into()), text("T"), int(tabid(relation)), text("V")]);
            }
        }
        rows
    };
    "syscoldepend", "constrid integer, tabid integer, colno smallint" => |context| {
        let mut rows = Vec::new();
        for relation in context.schema.user_relations() {
            for check in relation.told_checks() {
                for column in columns_of_check(context, relation, &check.text) {
                    rows.push(vec![int(check.oid.into()), int(tabid(relation)), int(column as i64 + 1)]);
                }
            }
        }
        rows
    };
    "sysobjstate", "objtype char(1), owner varchar(32), name varchar(128), tabid integer, state char(1)" => |context| {
        let view = &View::of(context);
        let mut rows = Vec::new();
        let mut named = std::collections::HashSet::new();
        for relation in &view.relations {
            for trigger in relation.named_triggers() {
                // Its parts are switched together.
                let Some(actions) = trigger.actions().filter(|actions| named.insert(actions.trigger.to_owned())) else {
                    continue;
                };
                let state = if trigger.state == TriggerState::Disabled { "D" } else { "E" };
                rows.push(vec![text("T"), text(view.owner(relation.oid)), text(actions.trigger), int(tabid(relation)), text(state)]);
            }
        }
        let mut add = |kind: &str, name: &str, relation: &Relation| {
            rows.push(vec![text(kind), text(view.owner(relation.oid)), text(name), int(tabid(relation)), text("E")]);
        };
        for relation in &view.relations {
            for index in relation.ordinary_indexes() {
                if index.constraint || index.primary {
                    add("C", &index.name, relation);
                }
                add("I", &index.name, relation);
            }
            for key in &relation.foreign_keys {
                add("C", &key.name, relation);
            }
            for check in relation.told_checks() {
                add("C", &check.name, relation);
            }
        }
        rows
    };
    "sysblobs", "spacename varchar(128), type char(1), tabid integer, colno smallint" => |context| {
        let view = &View::of(context);
        let mut rows = Vec::new();
        for relation in &view.relations {
            for (at, column) in relation.columns.iter().enumerate() {
                if matches!(column.ty, Type::Byte | Type::TextBlob) {
                    rows.push(vec![text("rootdbs"), text("M"), int(tabid(relation)), int(at as i64 + 1)]);
                }
            }
        }
        rows
    };
    "sysams",
        "am_name varchar(128), am_owner char(32), am_id serial, am_type char(1), am_sptype char(3), am_defopclass integer, \
         am_keyscan integer, am_unique integer, am_cluster integer, am_rowids integer, am_readwrite integer, am_parallel integer, \
         am_costfactor smallfloat, am_create integer, am_drop integer, am_open integer, am_close integer, am_insert integer, \
         am_delete integer, am_update integer, am_stats integer, am_scancost integer, am_check integer, am_beginscan integer, \
         am_endscan integer, am_rescan integer, am_getnext integer, am_getbyid integer, am_build integer, am_init integer, \
         am_truncate integer, am_expr_pushdown integer"
        => |_| {
            // Trees are the only access method.
            let mut row = vec![text("btree"), text(OWNER), int(1), text("S"), text("D"), int(1)];
            row.extend([1, 1, 0, 1, 1, 0].map(int));
            row.push(Cell::Real(1.0));
            row.extend([0; 19].map(int));
            vec![row]
        };
    "sysopclasses",
        "opclassname varchar(128), owner char(32), amid integer, opclassid serial, ops lvarchar(2048), support lvarchar(2048)"
        => |_| vec![vec![
            text("btree_ops"),
            text(OWNER),
            int(1),
            int(1),
            text("lessthan;lessthanorequal;equal;greaterthanorequal;greaterthan;"),
            text("compare;"),
        ]];
};

/// The tables behind a view.
fn tables_of(context: &Context<'_>, relation: &Relation) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let RelationKind::View { definition, pins, .. } = &relation.kind else { return found };
    let database = context.database.name.clone();
    let query = match relation.language {
        Language::Informix => {
            let caller = informix::Context { database, ..Default::default() };
            let bound = informix::parse(definition)
                .ok()
                .and_then(|statements| informix::bind(statements.first()?, context.schema, &caller, &[]).ok());
            bound.and_then(|bound| match bound.statement {
                Statement::Query(query) => Some(*query),
                _ => None,
            })
        }
        language => {
            let caller = rowferry_dialect::plan::Context { database, ..Default::default() };
            postgres::view_body((definition, language), pins, context.schema, &caller).ok()
        }
    };
    if let Some(query) = query {
        of_query(&query, &mut found);
    }
    found
}

fn of_query(query: &Query, found: &mut BTreeSet<u32>) {
    for cte in &query.ctes {
        if let CteBody::Query(query) = &cte.body {
            of_query(query, found);
        }
    }
    match &query.body {
        Body::Select(select) => {
            if let Some(from) = &select.from {
                of_from(from, found);
            }
            for expr in select.items.iter().chain(&select.filter).chain(&select.having) {
                of_expr(expr, found);
            }
        }
        Body::Set { left, right, .. } => {
            of_query(left, found);
            of_query(right, found);
        }
        Body::Values(_) => {}
    }
}

fn of_from(from: &From, found: &mut BTreeSet<u32>) {
    match from {
        From::Relation { relation, .. } => {
            found.insert(relation.oid);
        }
        From::Query { query, .. } => of_query(query, found),
        From::Join { left, right, .. } => {
            of_from(left, found);
            of_from(right, found);
        }
        From::Cte { .. } | From::Kept { .. } | From::Function { .. } => {}
    }
}

fn of_expr(expr: &Expr, found: &mut BTreeSet<u32>) {
    walk::expr(expr, &mut |part| {
        if let Some(query) = part.kind.query() {
            of_query(query, found);
        }
        true
    });
}

/// The columns that a check names, when it can be read.
fn columns_of_check(context: &Context<'_>, relation: &Relation, check: &str) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    if relation.language != Language::Informix {
        return found;
    }
    let caller = informix::Context { database: context.database.name.clone(), ..Default::default() };
    if let Ok(expr) = informix::expression(check, context.schema, &caller, relation, None) {
        walk::expr(&expr, &mut |part| {
            if let ExprKind::Column(column) = &part.kind
                && let rowferry_dialect::ir::ColumnIndex::At(at) = column.column
            {
                found.insert(at);
            }
            true
        });
    }
    found
}
