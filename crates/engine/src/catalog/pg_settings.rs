//! `pg_settings`: the settings of [`crate::settings`] with the session's values.

use super::{Cell, Context, NULL, Row, Table, row, text_array};
use crate::session::variables::Variables;
use crate::settings::{self, Kind, SETTINGS, Setting, Unit};

pub(super) const TABLES: &[Table] = &[Table::pg_catalog("pg_settings", rows).live()];

fn rows(context: &Context<'_>) -> Vec<Row> {
    let variables = context.state.variables.read();
    let mut rows: Vec<(String, Row)> = SETTINGS
        .iter()
        .filter(|setting| !setting.hidden)
        .map(|setting| (setting.name.to_lowercase(), known(&variables, setting)))
        .chain(variables.custom().map(|name| (name.to_owned(), custom(&variables, name))))
        .collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn known(variables: &Variables, setting: &Setting) -> Row {
    let key = setting.name.to_lowercase();
    let number = |kept: &str| match setting.kind {
        Kind::Real(..) => kept.parse().map_or_else(|_| kept.to_owned(), settings::short),
        Kind::Octal(..) => settings::show(setting, kept),
        _ => kept.to_owned(),
    };
    let (kind, unit, range, allowed) = match &setting.kind {
        Kind::Bool => ("bool", Unit::None, None, None),
        Kind::Enum(allowed) => ("enum", Unit::None, None, Some(text_array(allowed.iter().copied()))),
        Kind::Integer(least, greatest, unit) => {
            ("integer", *unit, Some((least.to_string(), greatest.to_string())), None)
        }
        Kind::Octal(least, greatest) => ("integer", Unit::None, Some((least.to_string(), greatest.to_string())), None),
        Kind::Real(least, greatest, unit) => {
            ("real", *unit, Some((settings::short(*least), settings::short(*greatest))), None)
        }
        Kind::Text(_) => ("string", Unit::None, None, None),
    };
    let (least, greatest) = range.unzip();
    row![
        setting.name,
        number(variables.kept(&key).unwrap_or_default()),
        unit.word().map_or(NULL, Cell::from),
        category(setting.name),
        setting.meaning.words(),
        NULL,
        setting.context.word(),
        kind,
        variables.source(&key),
        least,
        greatest,
        allowed,
        setting.value,
        number(variables.reset_value(&key).unwrap_or_default()),
        NULL,
        NULL,
        false,
    ]
}

/// What a setting is about, as PostgreSQL 15 sorts them; two are of later versions.
fn category(name: &str) -> &'static str {
    match name {
        "scram_iterations" => "Connections and Authentication / Authentication",
        "transaction_timeout" => "Client Connection Defaults / Statement Behavior",
        name => rowferry_facts::Setting::named(name).map_or("Ungrouped", |setting| setting.category),
    }
}

fn custom(variables: &Variables, name: &str) -> Row {
    row![
        name,
        variables.kept(name).unwrap_or_default(),
        NULL,
        "Customized Options",
        "of the application",
        NULL,
        "user",
        "string",
        variables.source(name),
        NULL,
        NULL,
        NULL,
        NULL,
        variables.reset_value(name).unwrap_or_default(),
        NULL,
        NULL,
        false,
    ]
}
