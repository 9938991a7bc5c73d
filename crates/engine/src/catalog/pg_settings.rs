//! `pg_settings`: the session's variables.

use super::{Context, NULL, Row, Table, row};
use crate::schema::PG_CATALOG;
use crate::session::variables::{VARIABLES, VariableKind};

pub(super) const TABLES: &[Table] = &[Table {
    namespace: PG_CATALOG,
    name: "pg_settings",
    oid: 0,
    columns: "name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, \
        vartype text, source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, \
        sourcefile text, sourceline int4, pending_restart bool",
    rows,
    live: true,
}];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let all = context.state.variables.read().all();
    all.into_iter()
        .map(|(name, value)| {
            let known = VARIABLES.iter().find(|variable| variable.name == name);
            let (kind, settable, allowed) = match known.map(|variable| &variable.kind) {
                Some(VariableKind::Bool) => ("bool", true, None),
                Some(VariableKind::Enum(allowed)) => ("enum", true, Some(super::text_array(allowed.iter().copied()))),
                Some(VariableKind::Integer(..) | VariableKind::Time) => ("integer", true, None),
                Some(VariableKind::Real) => ("real", true, None),
                Some(VariableKind::Internal) => ("string", false, None),
                _ => ("string", true, None),
            };
            let default = known.map(|variable| variable.default);
            row![
                name,
                &value,
                NULL,
                if known.is_some() { "Preset Options" } else { "Customized Options" },
                "",
                NULL,
                if settable { "user" } else { "internal" },
                kind,
                if default == Some(value.as_str()) { "default" } else { "session" },
                NULL,
                NULL,
                allowed,
                default,
                default,
                NULL,
                NULL,
                false,
            ]
        })
        .collect()
}
