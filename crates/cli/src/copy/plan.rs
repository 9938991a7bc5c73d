//! What is going to be copied, and as what.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ddl::{is_first_of_key, loses_default};
use super::model::{Column, Default, Kind, Schema, Table, Type};
use super::types::{Becomes, becomes, limits};
use super::{Arguments, IfExists};
use crate::Failure;

/// What happens to a table on the target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Action {
    /// It is made.
    Create,
    /// It is there, and goes before it is made.
    Replace,
    /// It is there, and gets the rows.
    Fill,
    /// It is there, and loses its rows before it gets others.
    Refill,
}

impl Action {
    pub(super) const fn makes(self) -> bool {
        matches!(self, Self::Create | Self::Replace)
    }

    const fn words(self, to: Kind) -> &'static str {
        match self {
            Self::Create => "made",
            Self::Replace if matches!(to, Kind::MySql) => "dropped and made again",
            Self::Replace => "dropped, with views and foreign keys that need it, and made again",
            Self::Fill => "is there and gets the rows",
            Self::Refill => "is there and loses its rows first",
        }
    }
}

/// A table on its way.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub table: Table,
    pub action: Action,
    /// What each of the table's columns becomes.
    pub becomes: Vec<Becomes>,
    /// The names of the target's columns.
    pub names: Vec<String>,
    pub left_out: Vec<String>,
    /// Places of the steps whose rows must be there before.
    pub waits: Vec<usize>,
    /// CHECKs in the target's words.
    pub checks: Vec<String>,
    /// The target's columns that number their rows.
    pub numbered: Vec<String>,
}

impl Step {
    /// The keys, indexes and checks that are made, counted by what they are.
    fn keys(&self) -> Vec<(&'static str, usize)> {
        if !self.action.makes() {
            return Vec::new();
        }
        let table = &self.table;
        let counts = [
            ("primary key", usize::from(table.primary.is_some())),
            ("unique keys", table.uniques.len()),
            ("indexes", table.indexes.len()),
            ("foreign keys", table.foreign.len()),
            ("checks", self.checks.len()),
        ];
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    pub(super) fn types(&self) -> Vec<Type> {
        self.table.columns.iter().map(|column| column.ty.clone()).collect()
    }
}

pub(super) struct Plan {
    pub from: Kind,
    pub to: Kind,
    pub steps: Vec<Step>,
    pub skipped: Vec<String>,
    /// Patterns of `--exclude` that name no table.
    pub unused: Vec<String>,
    pub others: Vec<(String, String)>,
}

/// True when a name is one of a pattern's, in which `*` is any letters and `?` any letter.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    fn inner(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', rest)) => (0..=name.len()).any(|at| inner(rest, &name[at..])),
            Some(('?', rest)) => !name.is_empty() && inner(rest, &name[1..]),
            Some((letter, rest)) => name.first() == Some(letter) && inner(rest, &name[1..]),
        }
    }
    inner(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
}

impl Plan {
    /// Decides. `existed` has the names of the tables that were on the target when the copy began.
    pub(super) fn make(
        arguments: &Arguments,
        (from, source): (Kind, Schema),
        (to, target): (Kind, &Schema),
        existed: &BTreeSet<String>,
        filled: &dyn Fn(&str) -> Result<bool, Failure>,
    ) -> Result<Self, Failure> {
        let mut skipped = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
        let known = |pattern: &String| source.tables.iter().any(|table| matches(pattern, &table.name));
        let excluded = arguments.exclude.iter().filter(|pattern| !known(pattern)).cloned().collect();
        let mut unused: BTreeSet<&str> = arguments.tables.iter().map(String::as_str).collect();
        let chosen: Vec<Table> = source
            .tables
            .into_iter()
            .filter(|table| {
                arguments.tables.iter().for_each(|pattern| {
                    if matches(pattern, &table.name) {
                        unused.remove(pattern.as_str());
                    }
                });
                (arguments.tables.is_empty() || arguments.tables.iter().any(|pattern| matches(pattern, &table.name)))
                    && !arguments.exclude.iter().any(|pattern| matches(pattern, &table.name))
            })
            .collect();
        if let Some(pattern) = unused.first() {
            return Err(
                Failure::new(format!("no table is named `{pattern}`")).hint("`*` and `?` stand for any letters")
            );
        }
        let mut in_the_way = Vec::new();
        for table in chosen {
            if let Some(why) = table.refused {
                return Err(Failure::new(why).hint(format!("leave it out: --exclude {}", table.name)));
            }
            let there = existed.contains(&table.name);
            let action = match (there, arguments.if_exists) {
                (false, _) if arguments.data_only => {
                    return Err(Failure::new(format!("table {} is not on the target", table.name))
                        .hint("without --data-only it is made"));
                }
                (false, _) => Action::Create,
                (true, IfExists::Skip) => {
                    skipped.push(table.name);
                    continue;
                }
                (true, IfExists::Replace) if arguments.data_only => Action::Refill,
                (true, IfExists::Replace) => Action::Replace,
                (true, IfExists::Append) => Action::Fill,
                (true, IfExists::Fail) if arguments.data_only && !filled(&table.name)? => Action::Fill,
                (true, IfExists::Fail) => {
                    in_the_way.push(table.name);
                    continue;
                }
            };
            let there = target.tables.iter().find(|known| known.name == table.name);
            steps.push(step(from, to, table, action, there)?);
        }
        if !in_the_way.is_empty() {
            let what = if arguments.data_only { "have rows" } else { "are there" };
            return Err(Failure::new(format!("on the target {what} already: {}", in_the_way.join(", ")))
                .hint("say what to do with them: --if-exists append, replace or skip"));
        }
        let mut plan = Self { from, to, steps, skipped, unused: excluded, others: source.others };
        plan.name_keys();
        plan.join();
        Ok(plan)
    }

    /// Names of keys and indexes are a schema's, but on MySQL a table's.
    fn name_keys(&mut self) {
        let mut used: BTreeSet<String> = BTreeSet::new();
        for step in self.steps.iter_mut().filter(|step| step.action.makes()) {
            let table = &mut step.table;
            let name = table.name.clone();
            let mut name_it = |known: &mut String, columns: &[&str], what: &str| {
                if known.is_empty() || used.contains(&known.to_lowercase()) {
                    *known = format!("{name}_{}_{what}", columns.join("_"));
                }
                let plain: String = known.chars().take(60).collect();
                let mut unique = plain.clone();
                for number in 2.. {
                    if used.insert(unique.to_lowercase()) {
                        break;
                    }
                    unique = format!("{plain}{number}");
                }
                *known = unique;
            };
            let columns = table.columns.clone();
            let of = |places: &[usize]| places.iter().map(|&at| columns[at].name.as_str()).collect::<Vec<_>>();
            if let Some(key) = &mut table.primary
                && !key.name.is_empty()
            {
                name_it(&mut key.name, &[], "pkey");
            }
            for key in &mut table.uniques {
                name_it(&mut key.name, &of(&key.columns), "key");
            }
            for index in &mut table.indexes {
                let places: Vec<usize> = index.columns.iter().map(|(at, _)| *at).collect();
                name_it(&mut index.name, &of(&places), "idx");
            }
            for foreign in &mut table.foreign {
                name_it(&mut foreign.name, &of(&foreign.columns), "fkey");
            }
        }
    }

    /// Leaves foreign keys out whose table is not there, and has tables that have theirs already wait for others.
    fn join(&mut self) {
        let names: Vec<String> = self.steps.iter().map(|step| step.table.name.clone()).collect();
        for (at, step) in self.steps.iter_mut().enumerate() {
            if !step.action.makes() {
                step.waits = step
                    .table
                    .foreign
                    .iter()
                    .filter_map(|foreign| names.iter().position(|name| *name == foreign.target))
                    .filter(|&target| target != at)
                    .collect();
                continue;
            }
            let (kept, lost): (Vec<_>, Vec<_>) = std::mem::take(&mut step.table.foreign)
                .into_iter()
                .partition(|foreign| names.contains(&foreign.target) && !foreign.target_columns.is_empty());
            step.table.foreign = kept;
            for foreign in lost {
                step.left_out.push(format!("foreign key {}: table {} is not copied", foreign.name, foreign.target));
            }
        }
    }
}

fn step(from: Kind, to: Kind, mut table: Table, action: Action, there: Option<&Table>) -> Result<Step, Failure> {
    let refused = |column: &Column, why: String| {
        Failure::new(format!("column {} of {}: {why}", column.name, table.name))
            .hint(format!("leave the table out: --exclude {}", table.name))
    };
    let mut left_out = table.left_out.clone();
    let mut all = Vec::new();
    let mut names = Vec::new();
    let mut numbered = Vec::new();
    if let (false, Some(there)) = (action.makes(), there) {
        for column in &table.columns {
            let found = there.columns.iter().find(|known| known.name == column.name);
            let found =
                found.or_else(|| there.columns.iter().find(|known| known.name.eq_ignore_ascii_case(&column.name)));
            let found = found.ok_or_else(|| refused(column, "the target's table has no such column".into()))?;
            let mut fit = limits(to, &found.ty);
            fit.not_zero = to == Kind::Informix && found.default == Some(Default::Identity);
            let words = if found.words.is_empty() { found.ty.to_string() } else { found.words.clone() };
            all.push(Becomes { words, stored: found.ty.clone(), fit, note: None });
            if found.default == Some(Default::Identity) {
                numbered.push(found.name.clone());
            }
            names.push(found.name.clone());
        }
        table.foreign.clone_from(&there.foreign);
        return Ok(Step {
            table,
            action,
            becomes: all,
            names,
            left_out: Vec::new(),
            waits: Vec::new(),
            checks: Vec::new(),
            numbered,
        });
    }
    let keyed: BTreeSet<usize> = table
        .primary
        .iter()
        .flat_map(|key| &key.columns)
        .chain(table.uniques.iter().flat_map(|key| &key.columns))
        .chain(table.foreign.iter().flat_map(|foreign| &foreign.columns))
        .copied()
        .chain(
            table.indexes.iter().filter(|index| index.unique).flat_map(|index| index.columns.iter().map(|(at, _)| *at)),
        )
        .collect();
    for (at, column) in table.columns.iter().enumerate() {
        let what = becomes(from, to, column, keyed.contains(&at)).map_err(|why| refused(column, why))?;
        if loses_default(to, column, &what) {
            left_out.push(format!("the default of column {}", column.name));
        }
        if to == Kind::MySql && column.default == Some(Default::Identity) && !is_first_of_key(&table, &column.name) {
            left_out.push(format!("that column {} numbers itself: it does not begin the primary key", column.name));
        }
        if column.default == Some(Default::Identity) {
            numbered.push(column.name.clone());
        }
        all.push(what);
        names.push(column.name.clone());
    }
    // An index cannot be of values of any length there.
    let long = |at: usize| matches!(all[at].stored, Type::Text | Type::Bytes | Type::Json);
    if matches!(to, Kind::MySql | Kind::Informix) {
        let (kept, lost): (Vec<_>, Vec<_>) = std::mem::take(&mut table.indexes)
            .into_iter()
            .partition(|index| !index.columns.iter().any(|(at, _)| long(*at)));
        table.indexes = kept;
        left_out.extend(lost.into_iter().map(|index| format!("index {}: of values of any length", index.name)));
    }
    let mut checks = Vec::new();
    for check in &table.checks {
        match super::checks::translate(from, to, check, &table, &all) {
            Some(words) => checks.push(words),
            None => left_out.push(format!("check {}: {}", check.name, check.words)),
        }
    }
    Ok(Step { table, action, becomes: all, names, left_out, waits: Vec::new(), checks, numbered })
}

impl Plan {
    /// For people.
    pub(super) fn text(&self, from: &str, to: &str) -> String {
        let mut out = format!("from {} {from}\nto   {} {to}\n", self.from.name(), self.to.name());
        for step in &self.steps {
            let _ = writeln!(out, "{} ({})", step.table.name, step.action.words(self.to));
            let width = step.table.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
            for (column, becomes) in step.table.columns.iter().zip(&step.becomes) {
                let there = if column.words.is_empty() { column.ty.to_string() } else { column.words.clone() };
                let _ = write!(out, "  {:width$}  {there}", column.name);
                if there != becomes.words {
                    let _ = write!(out, " → {}", becomes.words);
                }
                if let Some(note) = &becomes.note {
                    let _ = write!(out, "   ({note})");
                }
                out.push('\n');
            }
            let keys = step.keys();
            if !keys.is_empty() {
                let keys: Vec<String> = keys.iter().map(|(what, count)| format!("{what}: {count}")).collect();
                let _ = writeln!(out, "  {}", keys.join(", "));
            }
            for what in &step.left_out {
                let _ = writeln!(out, "  not copied: {what}");
            }
        }
        if !self.skipped.is_empty() {
            let _ = writeln!(out, "left alone, they are there: {}", self.skipped.join(", "));
        }
        for (kind, name) in &self.others {
            let _ = writeln!(out, "not copied: {kind} {name}");
        }
        for pattern in &self.unused {
            let _ = writeln!(out, "--exclude {pattern} is the name of no table");
        }
        // Names are a stranger's.
        crate::output::visible(&out)
    }

    /// For programs.
    pub(super) fn json(&self) -> serde_json::Value {
        let keys = |step: &Step| -> serde_json::Map<String, serde_json::Value> {
            step.keys().into_iter().map(|(what, count)| (what.to_owned(), count.into())).collect()
        };
        let tables: Vec<_> = self
            .steps
            .iter()
            .map(|step| {
                let columns: Vec<_> = step
                    .table
                    .columns
                    .iter()
                    .zip(&step.becomes)
                    .map(|(column, becomes)| {
                        serde_json::json!({
                            "name": column.name,
                            "from": if column.words.is_empty() { column.ty.to_string() } else { column.words.clone() },
                            "to": becomes.words,
                            "note": becomes.note,
                        })
                    })
                    .collect();
                serde_json::json!({
                    "name": step.table.name,
                    "action": step.action.words(self.to),
                    "columns": columns,
                    "made": keys(step),
                    "not_copied": step.left_out,
                })
            })
            .collect();
        let others: Vec<_> = self.others.iter().map(|(kind, name)| format!("{kind} {name}")).collect();
        serde_json::json!({ "tables": tables, "skipped": self.skipped, "not_copied": others })
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_name_tables() {
        assert!(matches("order*", "orders") && matches("*", "") && matches("o?d*s", "orders"));
        assert!(!matches("order", "orders") && !matches("Order*", "orders"));
    }
}
