//! `pg_ts_*`: the parser, the templates, dictionaries and configurations of text search that are here.

use rowferry_dialect::values::search::{CONFIGURATIONS, DICTIONARIES};
use rowferry_facts as facts;

use super::{NULL, OWNER, Row, Table, row};

pub(super) const TABLES: &[Table] = &[
    Table::pg_catalog("pg_ts_parser", |_| parsers()),
    Table::pg_catalog("pg_ts_template", |_| templates()),
    Table::pg_catalog("pg_ts_dict", |_| dictionaries()),
    Table::pg_catalog("pg_ts_config", |_| configurations()),
    Table::pg_catalog("pg_ts_config_map", |_| tokens()),
];

/// The schema of all of them.
const NAMESPACE: u32 = 11;

/// The parser `default`.
const PARSER: u32 = 3_722;

/// The templates behind our dictionaries: object id, name, and the functions that start and ask one.
const TEMPLATES: [(u32, &str, &str, &str); 2] =
    [(3_727, "simple", "dsimple_init", "dsimple_lexize"), (SNOWBALL, "snowball", "dsnowball_init", "dsnowball_lexize")];
const SNOWBALL: u32 = 13_150;

/// The kinds of words that a configuration gives to its stemmer: plain ones, those with hyphens, and their parts.
const STEMMED: [i32; 6] = [1, 2, 10, 11, 16, 17];

/// The kinds of token in which nothing is searched: tags, blanks, protocols and the like.
const NOT_SEARCHED: [i32; 4] = [12, 13, 14, 23];

/// How many kinds of token the parser tells apart.
const KINDS: i32 = 23;

/// The object id of a function that has no namesake.
fn function(name: &str) -> u32 {
    let added = super::pg_proc::ADDED.iter().find(|added| added.name == name).map(|added| added.oid);
    added.or_else(|| facts::Function::named(name).first().map(|fact| fact.oid)).unwrap_or_default()
}

fn parsers() -> Vec<Row> {
    let [start, next, end, headline, kinds] =
        ["prsd_start", "prsd_nexttoken", "prsd_end", "prsd_headline", "prsd_lextype"].map(function);
    vec![row![PARSER, "default", NAMESPACE, start, next, end, headline, kinds]]
}

fn templates() -> Vec<Row> {
    let row =
        |(oid, name, start, ask): (u32, &'static str, _, _)| row![oid, name, NAMESPACE, function(start), function(ask)];
    TEMPLATES.into_iter().map(row).collect()
}

fn dictionaries() -> Vec<Row> {
    let row = |(oid, name): &(u32, &'static str)| match name.strip_suffix("_stem") {
        Some(language) => {
            let options = format!("language = '{language}', stopwords = '{language}'");
            row![*oid, *name, NAMESPACE, OWNER, SNOWBALL, options]
        }
        None => row![*oid, *name, NAMESPACE, OWNER, TEMPLATES[0].0, NULL],
    };
    DICTIONARIES.iter().map(row).collect()
}

fn configurations() -> Vec<Row> {
    CONFIGURATIONS.iter().map(|(oid, name)| row![*oid, *name, NAMESPACE, OWNER, PARSER]).collect()
}

/// Which dictionary a configuration asks about each kind of token.
fn tokens() -> Vec<Row> {
    let mut rows = Vec::new();
    let simple = DICTIONARIES[0].0;
    for (configuration, name) in CONFIGURATIONS {
        let stemmer = DICTIONARIES.iter().find(|(_, known)| known.strip_suffix("_stem") == Some(*name));
        for kind in (1..=KINDS).filter(|kind| !NOT_SEARCHED.contains(kind)) {
            let dictionary = stemmer.filter(|_| STEMMED.contains(&kind)).map_or(simple, |(oid, _)| *oid);
            rows.push(row![*configuration, kind, 1, dictionary]);
        }
    }
    rows
}
