//! Routines: who they are, their text, their parameters and values, who may call them.

use std::sync::Arc;

use rowferry_dialect::informix::codes::type_code;
use rowferry_dialect::informix::shown;
use rowferry_dialect::informix::spl::{self, Mode};
use rowferry_dialect::schema::Routine;
use rowferry_dialect::{Schema as _, Type};

use super::others::pieces;
use super::{OWNER, Table, int, text};
use crate::catalog::{Cell, Context};

/// Characters of a routine's text in one row.
const BODY_WIDTH: usize = 256;

type Found = (i64, Arc<Routine>, Arc<spl::Routine>);

/// Routines that can be read, with their numbers.
fn routines(context: &Context<'_>) -> Vec<Found> {
    let all = context.schema.all_routines().into_iter();
    all.filter_map(|routine| {
        let parsed = routine.parsed().ok()?.clone();
        Some((i64::from(routine.oid), routine, parsed))
    })
    .collect()
}

/// `sysproccolumns.paramattr` of what a routine takes and returns.
fn attribute(mode: Mode) -> i64 {
    match mode {
        Mode::In => 1,
        Mode::InOut => 2,
        Mode::Out => 4,
    }
}

/// `sysproccolumns.paramattr` of the values of a function that returns one, and several.
const RETURNED: i64 = 5;
const RETURNED_MANY: i64 = 3;

fn bool_cell(value: bool) -> Cell {
    int(i64::from(value))
}

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "sysprocedures",
        columns: "procname varchar(128), owner char(32), procid serial, mode char(1), retsize integer, symsize integer, \
                  datasize integer, codesize integer, numargs integer, isproc char(1), specificname varchar(128), \
                  externalname varchar(255), paramstyle char(1), langid integer, paramtypes lvarchar(2048), variant boolean, \
                  client boolean, handlesnulls boolean, percallcost integer, commutator varchar(128), negator varchar(128), \
                  selfunc varchar(128), internal boolean, class char(18), stack integer, parallelizable boolean, \
                  costfunc varchar(128), selconst smallfloat, procflags integer, collation char(32), iterator boolean, \
                  type integer",
        rows: |context| {
            let mut rows = Vec::new();
            for (id, routine, parsed) in routines(context) {
                let types = parsed.param_types(context.schema).unwrap_or_default();
                let words: Vec<String> = types.iter().map(spl::base_words).collect();
                rows.push(vec![
                    text(&*routine.name),
                    text(context.schema.informix_owner(routine.oid).unwrap_or_else(|| OWNER.to_owned())),
                    int(id),
                    // O: of an owner; D: of the database's administrator.
                    text(if parsed.dba { "D" } else { "O" }),
                    int(0),
                    int(0),
                    int(0),
                    int(routine.definition.len() as i64),
                    int(parsed.params.len() as i64),
                    text(if parsed.function { "f" } else { "t" }),
                    parsed.specific.as_deref().map_or(Cell::Null, text),
                    Cell::Null,
                    text("I"),
                    // SPL in sysroutinelangs.
                    int(2),
                    text(words.join(",")),
                    bool_cell(!parsed.not_variant),
                    bool_cell(false),
                    bool_cell(true),
                    int(0),
                    Cell::Null,
                    Cell::Null,
                    Cell::Null,
                    bool_cell(false),
                    Cell::Null,
                    int(0),
                    bool_cell(false),
                    Cell::Null,
                    Cell::Real(0.0),
                    int(0),
                    text("en_US.819"),
                    bool_cell(parsed.iterator),
                    int(0),
                ]);
            }
            rows
        },
    },
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "sysprocbody",
        columns: "procid integer, datakey char(1), seqno integer, data char(256)",
        rows: |context| {
            let mut rows = Vec::new();
            for (id, routine, parsed) in routines(context) {
                // D: DOCUMENT; T: the text.
                let document = parsed.document.join("\n");
                for (key, whole) in [("D", document.as_str()), ("T", shown(&routine.definition))] {
                    for (number, part) in pieces(whole, BODY_WIDTH).into_iter().enumerate() {
                        rows.push(vec![int(id), text(key), int(number as i64 + 1), text(part)]);
                    }
                }
            }
            rows
        },
    },
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "sysproccolumns",
        columns: "procid integer, paramid integer, paramname varchar(128), paramtype smallint, paramlen smallint, \
                  paramxid integer, paramattr integer",
        rows: |context| {
            let mut rows = Vec::new();
            for (id, _, parsed) in routines(context) {
                let row = |at: usize, name: Option<&str>, ty: &Type, attribute: i64| {
                    let code = type_code(ty, false);
                    vec![
                        int(id),
                        int(at as i64 + 1),
                        name.map_or(Cell::Null, text),
                        int(i64::from(code.code) | i64::from(code.flags)),
                        int(code.length.into()),
                        int(code.extended_id.into()),
                        int(attribute),
                    ]
                };
                let types = parsed.param_types(context.schema).unwrap_or_default();
                for (at, (param, ty)) in parsed.params.iter().zip(&types).enumerate() {
                    rows.push(row(at, Some(param.name.as_str()), ty, attribute(param.mode)));
                }
                let returned = if parsed.returns.len() > 1 { RETURNED_MANY } else { RETURNED };
                let columns = parsed.result_columns(context.schema).unwrap_or_default();
                for (at, (column, (_, ty))) in parsed.returns.iter().zip(&columns).enumerate() {
                    rows.push(row(types.len() + at, column.name.as_deref(), ty, returned));
                }
            }
            rows
        },
    },
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "sysprocauth",
        columns: "grantor char(32), grantee char(32), procid integer, procauth char(1)",
        rows: |context| {
            let routines = routines(context);
            super::privileges::of_routines(context, routines.iter().map(|(id, routine, _)| (*id, routine.oid)))
        },
    },
];

/// `sysaggregates`
pub(super) fn aggregates(context: &Context<'_>) -> Vec<super::Row> {
    let row = |aggregate: &Arc<rowferry_dialect::informix::aggregates::UserAggregate>| {
        let parts = &aggregate.parts;
        let name = |name: &Option<String>| name.as_deref().map_or(Cell::Null, text);
        vec![
            text(&*aggregate.name),
            text(context.schema.informix_owner(aggregate.oid).unwrap_or_else(|| OWNER.to_owned())),
            int(aggregate.oid.into()),
            name(&parts.init),
            text(&*parts.iter),
            text(&*parts.combine),
            name(&parts.finish),
            Cell::Integer(parts.handles_nulls.into()),
        ]
    };
    context.schema.main.aggregates.iter().map(row).collect()
}
