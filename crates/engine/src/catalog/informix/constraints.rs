//! Indexes and constraints.

use rowferry_dialect::informix::shown;
use rowferry_dialect::schema::{Index, ReferentialAction, Relation};

use super::{Cell, Row, Table, View, int, tabid, text};

pub(super) const TABLES: &[Table] = &[SYSINDICES, SYSINDEXES, SYSCONSTRAINTS, SYSREFERENCES, SYSCHECKS];

/// How many columns an index of Informix can have in these tables.
const PARTS: usize = 16;

const SYSINDEXES: Table = Table {
    namespace: "informix",
    live: false,
    one: None,
    chunks: None,
    name: "sysindexes",
    columns: "idxname varchar(128), owner char(32), tabid integer, idxtype char(1), clustered char(1), \
            part1 smallint, part2 smallint, part3 smallint, part4 smallint, part5 smallint, part6 smallint, \
            part7 smallint, part8 smallint, part9 smallint, part10 smallint, part11 smallint, part12 smallint, \
            part13 smallint, part14 smallint, part15 smallint, part16 smallint, levels smallint, leaves float, \
            nunique float, clust float, idxflags integer",
    rows: |context| index_rows(&View::of(context)),
};

const SYSINDICES: Table = Table {
    namespace: "informix",
    live: false,
    one: None,
    chunks: None,
    name: "sysindices",
    columns: "idxname varchar(128), owner char(32), tabid integer, idxtype char(1), clustered char(1), \
            levels smallint, leaves float, nunique float, clust float, nrows float, indexkeys lvarchar(2048), \
            amid integer, amparam lvarchar(8192)",
    rows: |context| {
        let view = &View::of(context);
        indexes(view)
            .into_iter()
            .map(|index| {
                let keys: Vec<String> =
                    index.parts.into_iter().filter(|part| *part != 0).map(|part| part.to_string()).collect();
                vec![
                    text(index.name),
                    text(view.owner(index.relation.oid)),
                    int(tabid(index.relation)),
                    text(kind(index.unique)),
                    text(""),
                    int(1),
                    Cell::Real(1.0),
                    Cell::Real(0.0),
                    Cell::Real(0.0),
                    Cell::Real(0.0),
                    text(keys.join(",")),
                    int(1),
                    text(""),
                ]
            })
            .collect()
    },
};

/// An index as these tables show it.
struct Shown<'a> {
    relation: &'a Relation,
    name: &'a str,
    unique: bool,
    /// Column numbers, from 1, negative when descending; 0 for what is not there, or is an expression.
    parts: [i64; PARTS],
}

/// Every index, and one for each foreign key: Informix has one behind it, and joins the constraint to it by name.
fn indexes(view: &View) -> Vec<Shown<'_>> {
    let mut shown = Vec::new();
    for relation in &view.relations {
        for index in relation.ordinary_indexes() {
            shown.push(Shown { relation, name: &index.name, unique: index.unique, parts: parts(index) });
        }
        for key in &relation.foreign_keys {
            if relation.indexes.iter().any(|index| index.name == key.name) {
                continue;
            }
            let mut parts = [0; PARTS];
            for (part, column) in parts.iter_mut().zip(&key.columns) {
                *part = *column as i64 + 1;
            }
            shown.push(Shown { relation, name: &key.name, unique: false, parts });
        }
    }
    shown
}

const fn kind(unique: bool) -> &'static str {
    if unique { "U" } else { "D" }
}

fn parts(index: &Index) -> [i64; PARTS] {
    let mut parts = [0; PARTS];
    for (at, part) in parts.iter_mut().enumerate() {
        if let Some(Some(column)) = index.columns.get(at) {
            let number = *column as i64 + 1;
            *part = if index.keys.get(at).is_some_and(|key| key.descending) { -number } else { number };
        }
    }
    parts
}

fn index_rows(view: &View) -> Vec<Row> {
    indexes(view)
        .into_iter()
        .map(|index| {
            let mut row = vec![
                text(index.name),
                text(view.owner(index.relation.oid)),
                int(tabid(index.relation)),
                text(kind(index.unique)),
                text(""),
            ];
            row.extend(index.parts.map(int));
            row.extend([int(1), Cell::Real(1.0), Cell::Real(0.0), Cell::Real(0.0), int(0)]);
            row
        })
        .collect()
}

const SYSCONSTRAINTS: Table = Table {
    namespace: "informix",
    live: false,
    one: None,
    chunks: None,
    name: "sysconstraints",
    columns: "constrid serial, constrname varchar(128), owner char(32), tabid integer, constrtype char(1), \
            idxname varchar(128), collation char(32)",
    rows: |context| {
        let view = &View::of(context);
        let mut rows = Vec::new();
        let mut add = |id: u32, name: &str, relation: &Relation, kind: &str, index: &str| {
            rows.push(vec![
                int(id.into()),
                text(name),
                text(view.owner(relation.oid)),
                int(tabid(relation)),
                text(kind),
                text(index),
                text("en_US.819"),
            ]);
        };
        for relation in &view.relations {
            for index in
                relation.indexes.iter().filter(|index| (index.constraint || index.primary) && index.exclusion.is_none())
            {
                add(index.oid, &index.name, relation, if index.primary { "P" } else { "U" }, &index.name);
            }
            for key in &relation.foreign_keys {
                add(key.oid, &key.name, relation, "R", &key.name);
            }
            for check in relation.told_checks() {
                add(check.oid, &check.name, relation, "C", "");
            }
        }
        rows
    },
};

const SYSREFERENCES: Table = Table {
    namespace: "informix",
    live: false,
    one: None,
    chunks: None,
    name: "sysreferences",
    columns: "constrid integer, primary integer, ptabid integer, updrule char(1), delrule char(1), \
            matchtype char(1), pendant char(1)",
    rows: |context| {
        let view = &View::of(context);
        let mut rows = Vec::new();
        for key in view.relations.iter().flat_map(|relation| &relation.foreign_keys) {
            let parent = view.relations.iter().find(|relation| relation.name.eq_ignore_ascii_case(&key.target.name));
            let Some(parent) = parent else { continue };
            let referenced = parent.indexes.iter().find(|index| {
                index.unique
                    && (key.target_columns.is_empty() && index.primary
                        || index.columns.len() == key.target_columns.len()
                            && index.columns.iter().zip(&key.target_columns).all(|(at, name)| {
                                at.is_some_and(|at| parent.columns[at].name.eq_ignore_ascii_case(name))
                            }))
            });
            let rule = if key.rules.on_delete == ReferentialAction::Cascade { "C" } else { "R" };
            rows.push(vec![
                int(key.oid.into()),
                int(referenced.map_or(0, |index| index.oid.into())),
                int(tabid(parent)),
                text("R"),
                text(rule),
                text("N"),
                text("N"),
            ]);
        }
        rows
    },
};

/// Characters of a check's text in one row.
const CHECK_WIDTH: usize = 32;

const SYSCHECKS: Table = Table {
    namespace: "informix",
    live: false,
    one: None,
    chunks: None,
    name: "syschecks",
    columns: "constrid integer, type char(1), seqno smallint, checktext char(32)",
    rows: |context| {
        let view = &View::of(context);
        let mut rows = Vec::new();
        for check in view.relations.iter().flat_map(|relation| relation.told_checks()) {
            for (number, part) in super::others::pieces(shown(&check.text), CHECK_WIDTH).into_iter().enumerate() {
                rows.push(vec![int(check.oid.into()), text("T"), int(number as i64), text(part)]);
            }
        }
        rows
    },
};
