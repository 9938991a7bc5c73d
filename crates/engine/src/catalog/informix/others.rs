//! Views, defaults, types, privileges, sequences; the databases.

use std::sync::Arc;

use rowferry_dialect::informix::casts::{InformixCast, Side};
use rowferry_dialect::informix::codes::type_code;
use rowferry_dialect::informix::values::composite::Shape;
use rowferry_dialect::informix::{Logging, shown, spl, type_from_words};
use rowferry_dialect::ir::TriggerEvent;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::{Schema as _, Type};

use super::{OWNER, Row, Table, View, int, tabid, text};

/// Characters of a view's text in one row.
const VIEW_WIDTH: usize = 64;
/// Characters of a trigger's text in one row.
const BODY_WIDTH: usize = 256;

/// Text in pieces of so many characters, as tables with narrow columns keep it.
pub(super) fn pieces(text: &str, width: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(width).map(|chunk| chunk.iter().collect()).collect()
}

pub(super) const TABLES: &[Table] = &[
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "sysviews",
        columns: "tabid integer, seqno smallint, viewtext char(64)",
        rows: |context| {
            let view = &View::of(context);
            let mut rows = Vec::new();
            for relation in &view.relations {
                let RelationKind::View { definition, options, .. } = &relation.kind else { continue };
                let check = if options.check().is_some() { " with check option" } else { "" };
                let definition = shown(definition);
                let names: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
                let (name, names) = (&relation.name, names.join(","));
                let owner = view.owner(relation.oid);
                let whole = format!("create view \"{owner}\".{name} ({names}) as {definition}{check} ;");
                for (number, part) in pieces(&whole, VIEW_WIDTH).into_iter().enumerate() {
                    rows.push(vec![int(tabid(relation)), int(number as i64), text(part)]);
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
        name: "sysdefaults",
        columns: "tabid integer, colno smallint, type char(1), default char(256), class char(1)",
        rows: |context| {
            let view = &View::of(context);
            let mut rows = Vec::new();
            for relation in &view.relations {
                for (at, column) in relation.columns.iter().enumerate() {
                    let Some(default) = &column.default else { continue };
                    let words = default.text.trim();
                    let kind = match words.to_ascii_lowercase().as_str() {
                        "today" => "T",
                        "user" => "U",
                        "sitename" | "dbservername" => "S",
                        other if other.starts_with("current") => "C",
                        _ => "L",
                    };
                    let literal = words.trim_matches('\'').replace("''", "'");
                    // Anything but text has its stored form and a word before it on a real server.
                    let shown = match (kind, type_code(&column.ty, false).code) {
                        ("L", 0 | 13 | 15 | 16 | 40) => literal,
                        ("L", _) => format!("AAAAAA {literal}"),
                        _ => String::new(),
                    };
                    rows.push(vec![int(tabid(relation)), int(at as i64 + 1), text(kind), text(shown), text("T")]);
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
        name: "systabauth",
        columns: "grantor char(32), grantee char(32), tabid integer, tabauth char(9)",
        rows: super::privileges::of_tables,
    },
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "sysxtdtypes",
        columns: "extended_id serial, mode char(1), owner char(32), name varchar(128), type smallint, align smallint, \
            maxlen integer, length integer, byvalue char(1), cannothash char(1), locator integer, \
            source integer",
        rows: |context| {
            let row = |id: i64, mode, name: &str, code: i64, align: i64, length: i64, source: i64| {
                let same = [text("f"), text("f"), int(0), int(source)];
                let own =
                    [int(id), text(mode), text(OWNER), text(name), int(code), int(align), int(length), int(length)];
                own.into_iter().chain(same).collect::<Vec<_>>()
            };
            let built = [
                row(1, "B", "lvarchar", 40, 1, 2_048, 0),
                row(5, "B", "boolean", 41, 1, 1, 0),
                row(10, "B", "blob", 41, 4, 72, 0),
                row(11, "B", "clob", 41, 4, 72, 0),
                row(25, "B", "json", 40, 1, 4_096, 0),
                row(26, "B", "bson", 40, 1, 4_096, 0),
            ];
            let named = rowferry_dialect::Schema::named_types(context.schema).into_iter().map(|ty| {
                let code = type_code(&ty.ty, false);
                let mode = if ty.is_row { "R" } else { "D" };
                let source = i64::from(code.source);
                row(ty.oid.into(), mode, &ty.name, code.code.into(), code.alignment.into(), code.length.into(), source)
            });
            built.into_iter().chain(named).collect()
        },
    },
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "syscasts",
        columns: "owner char(32), argument_type smallint, argument_xid integer, result_type smallint, \
                  result_xid integer, routine_name varchar(128), routine_owner char(32), class char(1)",
        rows: |context| {
            let types = context.schema.named_types();
            // What a type is known by: its code and its extended id.
            let side = |side: &Side| match side {
                Side::BuiltIn(name) => {
                    let code = type_from_words(name).map(|ty| type_code(&ty, false));
                    code.map_or((0, 0), |code| (i64::from(code.code), i64::from(code.extended_id)))
                }
                Side::Named(oid) => {
                    let code = types.iter().find(|ty| ty.oid == *oid).map(|ty| type_code(&ty.ty, false));
                    let word = code.map_or(0, |code| i64::from(code.code) | i64::from(code.flags));
                    (word, i64::from(*oid))
                }
            };
            let row = |cast: &InformixCast| {
                let definition = &cast.definition;
                let ((from, from_id), (to, to_id)) = (side(&definition.source), side(&definition.target));
                let routine = definition.function.as_deref();
                vec![
                    text(context.schema.informix_owner(cast.oid).unwrap_or_else(|| OWNER.to_owned())),
                    int(from),
                    int(from_id),
                    int(to),
                    int(to_id),
                    routine.map_or(crate::catalog::Cell::Null, text),
                    routine.map_or(crate::catalog::Cell::Null, |_| text(OWNER)),
                    text(if definition.implicit { "I" } else { "E" }),
                ]
            };
            context.schema.informix_casts().iter().map(row).collect()
        },
    },
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "sysattrtypes",
        columns: "extended_id integer, seqno smallint, levelno smallint, parent_no smallint, \
            fieldname varchar(128), fieldno smallint, type smallint, length smallint, xtd_type_id integer",
        rows: |context| {
            let mut rows = Vec::new();
            for named in rowferry_dialect::Schema::named_types(context.schema) {
                let Type::Composite(words) = &named.ty else { continue };
                let Some(Shape::Row(fields)) = Shape::of(words) else { continue };
                for (at, (name, ty)) in (1..).zip(&fields) {
                    let code = type_code(ty, false);
                    rows.push(vec![
                        int(named.oid.into()),
                        int(at),
                        int(1),
                        int(0),
                        text(name),
                        int(at),
                        int(code.code.into()),
                        int(code.length.into()),
                        int(code.extended_id.into()),
                    ]);
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
        name: "syssequences",
        columns: "seqid serial, tabid integer, start_val int8, inc_val int8, min_val int8, max_val int8, cycle char(1), \
                  restart_val int8, cache integer, order char(1)",
        rows: |context| {
            // A column's own sequence is none to users.
            let sequences = context.schema.sequences();
            sequences
                .filter(|details| details.owner.is_none() && details.rowid_of.is_none())
                .map(|details| {
                    vec![
                        int(details.sequence.oid.into()),
                        int(details.sequence.oid.into()),
                        int(details.start),
                        int(details.increment),
                        int(details.min),
                        int(details.max),
                        text(if details.cycle { "1" } else { "0" }),
                        crate::catalog::Cell::Null,
                        int(details.cache),
                        // Its numbers come in the order in which they are asked for.
                        text("1"),
                    ]
                })
                .collect()
        },
    },
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "systriggers",
        columns: "trigid serial, trigname varchar(128), owner char(32), tabid integer, event char(1), old varchar(128), \
                  new varchar(128), mode char(1), collation char(32)",
        rows: |context| {
            let row = |(relation, id, trigger): &Named| {
                let letter = match trigger.event {
                    TriggerEvent::Insert => "I",
                    TriggerEvent::Delete => "D",
                    TriggerEvent::Update | TriggerEvent::Truncate => "U",
                };
                let letter = if trigger.instead { letter.to_lowercase() } else { letter.to_owned() };
                let name = |name: &Option<String>| name.as_deref().map_or(super::super::Cell::Null, text);
                vec![
                    int((*id).into()),
                    text(&trigger.name),
                    text(OWNER),
                    int(tabid(relation)),
                    text(letter),
                    name(&trigger.old),
                    name(&trigger.new),
                    text("O"),
                    text("en_US.819"),
                ]
            };
            triggers(context).iter().map(|(named, _)| row(named)).collect()
        },
    },
    Table {
        namespace: "informix",
        live: false,
        one: None,
        chunks: None,
        name: "systrigbody",
        columns: "trigid integer, datakey char(1), seqno integer, data char(256)",
        rows: |context| {
            let mut rows = Vec::new();
            for ((_, id, trigger), whole) in triggers(context) {
                // D: the head; A: the actions.
                let (head, actions) = whole.split_at_checked(trigger.actions_at).unwrap_or((&whole, ""));
                for (key, whole) in [("D", head), ("A", shown(actions))] {
                    for (number, part) in pieces(whole, BODY_WIDTH).into_iter().enumerate() {
                        rows.push(vec![int(id.into()), text(key), int(number as i64), text(part)]);
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
        name: "sysusers",
        columns: "username char(32), usertype char(1), priority smallint, password char(16), defrole char(32)",
        rows: super::privileges::users,
    },
];

/// A trigger of Informix's kind: its table, the object id of its first part, what it is.
type Named = (Arc<Relation>, u32, spl::TriggerDefinition);

/// The triggers of Informix's kind, with their texts.
fn triggers(context: &super::super::Context<'_>) -> Vec<(Named, String)> {
    let mut found: Vec<(Named, String)> = Vec::new();
    for relation in context.schema.triggered() {
        for trigger in relation.named_triggers() {
            let Some(actions) = trigger.actions() else { continue };
            let Ok(definition) = spl::parse_trigger(actions.text) else { continue };
            // The first of its parts stands for all.
            if definition.parts.first().is_some_and(|(part, _)| part.word() == actions.part) {
                found.push(((relation.clone(), trigger.oid, definition), actions.text.to_owned()));
            }
        }
    }
    found.sort_by_key(|((_, id, _), _)| *id);
    found
}

pub(super) const SYSMASTER: &[Table] = &[Table {
    namespace: "sysmaster",
    live: true,
    one: None,
    chunks: None,
    name: "sysdatabases",
    columns: "name char(128), partnum integer, owner char(32), created date, is_logging integer, \
            is_buff_log integer, is_ansi integer, is_nls integer, is_case_insens integer, flags smallint",
    rows: |context| {
        let row = |name: &str, logging: Logging| {
            let logged = logging != Logging::None;
            vec![
                text(name),
                int(0x0010_0001),
                text(OWNER),
                text("2026-01-01"),
                int(logged.into()),
                int((logging == Logging::Buffered).into()),
                int((logging == Logging::Ansi).into()),
                int(0),
                int(0),
                int(logged.into()),
            ]
        };
        let others = context.database.siblings.get().map(crate::databases::Siblings::list).unwrap_or_default();
        let mut rows: Vec<Row> = vec![row("sysmaster", Logging::None)];
        if others.is_empty() {
            rows.push(row(&View::of(context).database, context.database.options.logging));
        }
        rows.extend(others.into_iter().map(|(name, logging)| row(&name, logging)));
        rows
    },
}];
