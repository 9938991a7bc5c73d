//! Writes docs/guide/functions.md: every function and operator of PostgreSQL 15, and whether it is here.
//!
//! `cargo run -p rowferry-dialect --example functions_page [-- --check]`; with `--check` it only says whether the page is
//! as it would be written. `sections.tsv` tells in which section of chapter 9 PostgreSQL's manual describes a function.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::process::ExitCode;

use rowferry_dialect::postgres::bound;
use rowferry_facts as facts;

const SECTIONS: &str = include_str!("sections.tsv");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/functions.md");
const INTRODUCTION: &str = "\
# Functions and operators

<!-- Made by `cargo run -p rowferry-dialect --example functions_page`; `make lint` checks it. -->

Every function and operator that PostgreSQL 15 has in its catalog, by the section of chapter 9 of its manual, and whether the
PostgreSQL door has it. One that is not here fails with `0A000` and its name; what PostgreSQL does not have either fails with
`42883`, as there. Behind the sections stand what PostgreSQL uses inside: nobody misses these. Types are written as `pg_type`
has them (`int4` is `integer`, `bpchar` is `character`).
";

/// A function or operator with the types that it takes.
struct Entry {
    name: &'static str,
    arguments: String,
    here: bool,
}

/// Entries under a heading.
type Sections = BTreeMap<(usize, String), Vec<Entry>>;

fn main() -> ExitCode {
    let page = page();
    if std::env::args().any(|argument| argument == "--check") {
        if std::fs::read_to_string(PAGE).is_ok_and(|written| written == page) {
            return ExitCode::SUCCESS;
        }
        eprintln!("docs/guide/functions.md is stale: cargo run -p rowferry-dialect --example functions_page");
        return ExitCode::FAILURE;
    }
    match std::fs::write(PAGE, page) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{PAGE}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn page() -> String {
    let sections = sections();
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n| | in PostgreSQL | here |\n|---|---:|---:|\n");
    for ((_, title), entries) in &sections {
        let here = entries.iter().filter(|entry| entry.here).count();
        let _ = writeln!(page, "| {title} | {} | {here} |", entries.len());
    }
    for ((_, title), entries) in &sections {
        let _ = write!(page, "\n## {title}\n\n");
        let mut names: BTreeMap<&str, [Vec<&str>; 2]> = BTreeMap::new();
        for entry in entries {
            names.entry(entry.name).or_default()[usize::from(!entry.here)].push(&entry.arguments);
        }
        if entries.iter().all(|entry| !entry.here) {
            let names: Vec<String> = names.keys().map(|name| format!("`{name}`")).collect();
            let _ = writeln!(page, "None of these is here: {}.", names.join(", "));
            continue;
        }
        page.push_str("| | here | not here |\n|---|---|---|\n");
        for (name, [here, missing]) in names {
            let name = name.replace('|', "\\|");
            let _ = writeln!(page, "| `{name}` | {} | {} |", here.join(" "), missing.join(" "));
        }
    }
    page
}

fn sections() -> Sections {
    let mut of_name = HashMap::new();
    let mut titles = Vec::new();
    for (number, line) in SECTIONS.lines().enumerate() {
        let (title, names) = line.split_once('\t').unwrap_or((line, ""));
        titles.push(title.to_owned());
        of_name.extend(names.split(' ').map(|name| (name, number)));
    }
    let mut sections = Sections::new();
    let inside = Inside::new();
    for function in facts::Function::all() {
        let key = match of_name.get(function.name) {
            Some(number) => (*number, titles[*number].clone()),
            None => {
                let (number, title) = inside.kind(function);
                (2 * titles.len() + number, title.to_owned())
            }
        };
        let arguments = function.arguments.iter().map(|oid| type_name(*oid)).collect::<Vec<_>>().join(", ");
        let here = bound::is_here(function);
        let entry = Entry { name: function.name, arguments: format!("({arguments})"), here };
        sections.entry(key).or_default().push(entry);
    }
    for operator in facts::Operator::all() {
        let arguments = match operator.left_type {
            0 => type_name(operator.right_type),
            left => format!("{} · {}", type_name(left), type_name(operator.right_type)),
        };
        let here = bound::operator(operator).is_some();
        let entry = Entry { name: operator.name, arguments: format!("({arguments})"), here };
        sections.entry((titles.len(), "Operators".to_owned())).or_default().push(entry);
    }
    sections
}

fn type_name(oid: u32) -> String {
    let name = facts::Type::by_oid(oid).map_or("?", |ty| ty.name);
    match name.strip_prefix('_') {
        Some(element) => format!("{element}[]"),
        None => name.to_owned(),
    }
}

/// What functions that the manual's chapter does not describe are for.
struct Inside {
    of_types: HashSet<u32>,
    of_operators: HashSet<u32>,
    of_casts: HashSet<u32>,
    of_aggregates: HashSet<u32>,
    of_indexes: HashSet<u32>,
    of_conversions: HashSet<u32>,
    planner: HashSet<u32>,
}

impl Inside {
    fn new() -> Self {
        Self {
            of_types: (facts::Type::all().iter())
                .flat_map(|ty| [ty.input, ty.output, ty.receive, ty.send, ty.modifier_in, ty.modifier_out, ty.analyze])
                .chain(facts::Type::all().iter().map(|ty| ty.subscript))
                .chain(facts::Range::all().iter().flat_map(|range| [range.canonical, range.difference]))
                .collect(),
            of_operators: facts::Operator::all().iter().map(|operator| operator.function).collect(),
            of_casts: facts::Cast::all().iter().map(|cast| cast.function).collect(),
            of_aggregates: (facts::Aggregate::all().iter())
                .flat_map(|row| [row.transition, row.finish, row.combine, row.serialize, row.deserialize])
                .chain(
                    facts::Aggregate::all()
                        .iter()
                        .flat_map(|row| [row.moving_transition, row.moving_inverse, row.moving_finish]),
                )
                .collect(),
            of_indexes: (facts::FamilyFunction::all().iter().map(|row| row.function))
                .chain(facts::AccessMethod::all().iter().map(|method| method.handler))
                .collect(),
            of_conversions: facts::Conversion::all().iter().map(|row| row.function).collect(),
            planner: (facts::Operator::all().iter())
                .flat_map(|operator| [operator.restriction, operator.join])
                .chain(facts::Function::all().iter().map(|function| function.support))
                .collect(),
        }
    }

    fn kind(&self, function: &facts::Function) -> (usize, &'static str) {
        let oid = function.oid;
        let kinds = [
            (&self.of_casts, "Inside: casts in call form"),
            (&self.of_operators, "Inside: of operators"),
            (&self.of_types, "Inside: of types"),
            (&self.of_aggregates, "Inside: of aggregates"),
            (&self.of_indexes, "Inside: of indexes"),
            (&self.of_conversions, "Inside: of encodings"),
            (&self.planner, "Inside: of the planner"),
        ];
        let statistics = function.name.starts_with("pg_stat_");
        match kinds.iter().position(|(oids, _)| oids.contains(&oid)) {
            Some(at) => (at + 2, kinds[at].1),
            None if statistics => (1, "Statistics"),
            None => (0, "Others that the chapter does not list"),
        }
    }
}
