//! Looks at the file itself, for `rowferry check` and `rowferry backup`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::values::{self, Settings, ValueRef};
use rowferry_dialect::{Condition, Error, Language, Result, Type};

use super::Session;
use super::fulltext::full_texts;
use super::sequences::Counter;
use crate::backend::{read_counter, store_counter};
use crate::schema::SequenceDetails;

/// Of how many rows with values that do not fit a column's type the identities are told.
const TOLD: usize = 10;

/// Something that is wrong with a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// What kind of thing.
    pub kind: FindingKind,
    /// The sentence for it.
    pub message: String,
    /// The table concerned.
    pub table: Option<String>,
    /// The column concerned.
    pub column: Option<String>,
    /// The first rows concerned.
    pub rowids: Vec<i64>,
    /// It has been put right.
    pub repaired: bool,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum FindingKind {
    /// Pages, records or indexes are not what they should be.
    Damage,
    /// A row refers to one that is not there.
    ForeignKey,
    /// Something that is declared is not in the file.
    Catalog,
    /// A value is none of its column's type.
    Value,
    /// A sequence would give a number that is taken.
    Sequence,
    /// A view, a trigger or a function cannot be used any more.
    Definition,
}

impl FindingKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Damage => "damage",
            Self::ForeignKey => "foreign key",
            Self::Catalog => "catalog",
            Self::Value => "value",
            Self::Sequence => "sequence",
            Self::Definition => "definition",
        }
    }
}

impl Finding {
    fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), table: None, column: None, rowids: Vec::new(), repaired: false }
    }

    fn of(mut self, table: &Relation) -> Self {
        self.table = Some(called(table));
        self
    }
}

/// Counts what has been looked at.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Looked {
    /// Tables.
    pub tables: usize,
    /// Values in them.
    pub values: u64,
}

impl Session {
    /// What is wrong with the file's pages, records and indexes, in the back end's words; empty when all is well.
    ///
    /// # Errors
    /// When the file cannot be read, and `57014` when the session is interrupted.
    pub fn integrity(&mut self) -> Result<Vec<String>> {
        let handle = self.handle()?;
        let guard = handle.lock();
        self.checked(guard.integrity())
    }

    /// Everything that is wrong with the file; `repair` puts right what can be without losing anything: indexes, and sequences
    /// behind their columns.
    ///
    /// # Errors
    /// When the session is interrupted (`57014`), or the file cannot be written to repair it.
    pub fn inspect(&mut self, repair: bool) -> Result<(Vec<Finding>, Looked)> {
        let mut found = Vec::new();
        let mut looked = Looked::default();
        self.find_damage(repair, &mut found)?;
        let schema = self.schema();
        let relations: Vec<Arc<Relation>> = schema.main.relations().cloned().collect();
        self.find_broken_keys(&relations, None, &mut found)?;
        self.find_orphans(&mut found)?;
        for table in relations.iter().filter(|relation| relation.keeps_rows()) {
            looked.tables += 1;
            self.find_misfits(table, &mut looked, &mut found)?;
            self.find_dead_triggers(table, &mut found)?;
            self.find_stale_words(table, repair, &mut found)?;
        }
        for sequence in schema.main.sequences() {
            self.find_late_sequence(&relations, sequence, repair, &mut found)?;
        }
        for view in relations.iter().filter(|relation| matches!(relation.kind, RelationKind::View { .. })) {
            self.find_dead_view(view, &mut found)?;
        }
        let handle = self.handle()?;
        for (name, why) in self.checked(handle.lock().dead_views())? {
            // Those that clients have made are looked at above.
            if !relations
                .iter()
                .any(|view| view.physical.name == name && matches!(view.kind, RelationKind::View { .. }))
            {
                let mut finding =
                    Finding::new(FindingKind::Definition, format!("view \"{name}\" cannot be used: {why}"));
                finding.table = Some(name);
                found.push(finding);
            }
        }
        Ok((found, looked))
    }

    /// What is wrong with one table: its pages and indexes, its foreign keys, its values, its triggers. `quick` looks neither at
    /// what indexes have of rows, nor at values.
    ///
    /// # Errors
    /// When the session is interrupted (`57014`).
    pub(super) fn inspect_table(&mut self, table: &Arc<Relation>, quick: bool) -> Result<Vec<Finding>> {
        let mut found = Vec::new();
        match self.on_handle(|handle| handle.integrity_of(table, quick)) {
            Err(error) if is_over(&error) => return Err(error),
            Err(error) => found.push(Finding::new(FindingKind::Damage, error.message.clone())),
            Ok(lines) => found.extend(lines.into_iter().map(|line| Finding::new(FindingKind::Damage, line))),
        }
        self.find_broken_keys(std::slice::from_ref(table), Some(table), &mut found)?;
        if !quick {
            self.find_misfits(table, &mut Looked::default(), &mut found)?;
        }
        self.find_dead_triggers(table, &mut found)?;
        if !quick {
            self.find_stale_words(table, false, &mut found)?;
        }
        Ok(found)
    }

    fn find_damage(&mut self, repair: bool, found: &mut Vec<Finding>) -> Result<()> {
        let damage = |line: &str| Finding::new(FindingKind::Damage, line);
        let before = self.damage()?;
        if before.is_empty() || !repair {
            found.extend(before.iter().map(|line| damage(line)));
            return Ok(());
        }
        let handle = self.handle()?;
        match self.checked(handle.lock().reindex_all()) {
            Err(error) if is_over(&error) => return Err(error),
            // What is too damaged for it is said by the next look.
            _ => {}
        }
        let after = self.damage()?;
        found.extend(before.iter().map(|line| Finding { repaired: !after.contains(line), ..damage(line) }));
        found.extend(after.iter().filter(|line| !before.contains(line)).map(|line| damage(line)));
        Ok(())
    }

    /// As [`Self::integrity`], with a sentence about what keeps the back end from looking.
    fn damage(&mut self) -> Result<Vec<String>> {
        match self.integrity() {
            Err(error) if is_over(&error) => Err(error),
            // An order or a function of an index is not known, or all is lost.
            Err(error) => Ok(vec![error.message.clone()]),
            found => found,
        }
    }

    /// Rows whose foreign keys lead nowhere: of one table, or of all.
    fn find_broken_keys(
        &mut self,
        relations: &[Arc<Relation>],
        only: Option<&Relation>,
        found: &mut Vec<Finding>,
    ) -> Result<()> {
        let handle = self.handle()?;
        let (database, table) =
            only.map_or(("main", None), |table| (table.physical.database, Some(&*table.physical.name)));
        let broken = match self.checked(handle.lock().broken_keys(database, table)) {
            Ok(broken) => broken,
            Err(error) if is_over(&error) => return Err(error),
            Err(error) => {
                found.push(Finding::new(FindingKind::ForeignKey, error.message.clone()));
                return Ok(());
            }
        };
        let mut by_key: BTreeMap<(String, i64), Vec<i64>> = BTreeMap::new();
        for (table, key, rowid) in broken {
            by_key.entry((table, key)).or_default().extend(rowid);
        }
        for ((name, _), rowids) in by_key {
            let table = relations.iter().find(|relation| relation.physical.name == name);
            let shown = table.map_or_else(|| name.clone(), |table| called(table));
            let message = format!("{} of table \"{shown}\" refer to rows that are not there", rows(rowids.len()));
            let mut finding = Finding::new(FindingKind::ForeignKey, message);
            finding.table = Some(shown);
            finding.rowids = rowids.into_iter().take(TOLD).collect();
            found.push(finding);
        }
        Ok(())
    }

    fn find_orphans(&mut self, found: &mut Vec<Finding>) -> Result<()> {
        let handle = self.handle()?;
        let orphans = self.checked(handle.lock().orphans())?;
        found.extend(orphans.into_iter().map(|orphan| {
            let message = format!("{} \"{}\" is declared, and is not in the file", orphan.kind, orphan.name);
            Finding::new(FindingKind::Catalog, message)
        }));
        Ok(())
    }

    fn find_misfits(&mut self, table: &Arc<Relation>, looked: &mut Looked, found: &mut Vec<Finding>) -> Result<()> {
        let settings = Settings::default();
        let mut misfits: BTreeMap<usize, (usize, Vec<i64>)> = BTreeMap::new();
        let mut out = Vec::new();
        let handle = self.handle()?;
        let read = handle.lock().each_value(table, &mut |rowid, at, value| {
            looked.values += 1;
            if !fits(value, &table.columns[at].ty, &settings, &mut out) {
                let (count, rowids) = misfits.entry(at).or_default();
                *count += 1;
                if rowids.len() < TOLD {
                    rowids.extend(rowid);
                }
            }
        });
        match self.checked(read) {
            Ok(()) => {}
            Err(error) if is_over(&error) => return Err(error),
            Err(error) => {
                let message = format!("table \"{}\" cannot be read: {}", called(table), error.message);
                found.push(Finding::new(FindingKind::Damage, message).of(table));
            }
        }
        for (at, (count, rowids)) in misfits {
            let column = &table.columns[at];
            let words = rowferry_dialect::postgres::types::words(&column.ty);
            let message = format!(
                "{} of table \"{}\" have a value in column \"{}\" that is none of type {words}",
                rows(count),
                called(table),
                column.name
            );
            let mut finding = Finding::new(FindingKind::Value, message).of(table);
            finding.column = Some(column.name.clone());
            finding.rowids = rowids;
            found.push(finding);
        }
        Ok(())
    }

    fn find_dead_triggers(&mut self, table: &Arc<Relation>, found: &mut Vec<Finding>) -> Result<()> {
        let functions = self.schema.main.functions.clone();
        let gone = |oid: u32| oid >= FIRST_USER && !functions.iter().any(|function| function.oid == oid);
        for trigger in table.triggers.iter().filter(|trigger| trigger.function != 0 && gone(trigger.function)) {
            let message =
                format!("trigger \"{}\" of table \"{}\" calls a function that is gone", trigger.name, called(table));
            found.push(Finding::new(FindingKind::Definition, message).of(table));
        }
        let handle = self.handle()?;
        if let Some(why) = handle.lock().cannot_write(table) {
            let message = format!("table \"{}\" cannot be written: {why}", called(table));
            found.push(Finding::new(FindingKind::Definition, message).of(table));
        }
        Ok(())
    }

    /// Full-text indexes whose words are not those of the rows.
    fn find_stale_words(&mut self, table: &Arc<Relation>, repair: bool, found: &mut Vec<Finding>) -> Result<()> {
        for (index, words) in full_texts(table) {
            if self.on_handle(|handle| handle.has_words(&words))? {
                continue;
            }
            let message =
                format!("index \"{}\" of table \"{}\" has not the words of its rows", index.name, called(table));
            let mut finding = Finding::new(FindingKind::Damage, message).of(table);
            if repair {
                self.for_each_table("REPAIR", std::slice::from_ref(table), |handle, _| handle.keep_words(&words))?;
                finding.repaired = true;
            }
            found.push(finding);
        }
        Ok(())
    }

    fn find_late_sequence(
        &mut self,
        relations: &[Arc<Relation>],
        details: &Arc<SequenceDetails>,
        repair: bool,
        found: &mut Vec<Finding>,
    ) -> Result<()> {
        // Those that number rowids look for themselves.
        if details.rowid_of.is_some() || details.numbers_rowids_of.is_some() || details.cycle {
            return Ok(());
        }
        let owner = details.owner.and_then(|(oid, at)| Some((relations.iter().find(|table| table.oid == oid)?, at)));
        let Some((table, at)) = owner else { return Ok(()) };
        let column = &table.columns[at].name;
        let handle = self.handle()?;
        let guard = handle.lock();
        let counter = self.checked(read_counter(guard.connection(), details))?;
        let Some((greatest, least)) = self.checked(guard.bounds(table, column))? else { return Ok(()) };
        let next = if counter.called { counter.last.saturating_add(details.increment) } else { counter.last };
        let (last, is_late) = if details.increment > 0 { (greatest, next <= greatest) } else { (least, next >= least) };
        if !is_late || last < details.min || last > details.max {
            return Ok(());
        }
        let name = &details.sequence.name;
        let message = format!(
            "sequence \"{name}\" goes on with {next}, and column \"{column}\" of table \"{}\" has {last} already",
            called(table)
        );
        let mut finding = Finding::new(FindingKind::Sequence, message).of(table);
        finding.column = Some(column.clone());
        if repair {
            self.checked(guard.prepare_to_write())?;
            self.checked(store_counter(guard.connection(), details, Counter::at(last, true, i64::MIN)))?;
            finding.repaired = true;
        }
        found.push(finding);
        Ok(())
    }

    fn find_dead_view(&mut self, view: &Arc<Relation>, found: &mut Vec<Finding>) -> Result<()> {
        if view.language != Language::Postgres {
            return Ok(());
        }
        let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        match self.prepare(&format!("SELECT * FROM {}.{}", quote(&view.namespace), quote(&view.name)), &[]) {
            Ok(_) => Ok(()),
            Err(error) if is_over(&error) => Err(error),
            // Whoever may not read it has bound it all the same.
            Err(error) if error.condition() == Condition::InsufficientPrivilege => Ok(()),
            Err(error) => {
                let message = format!("view \"{}\" cannot be used: {}", called(view), error.message);
                found.push(Finding::new(FindingKind::Definition, message).of(view));
                Ok(())
            }
        }
    }
}

/// Object ids of users' own begin here.
const FIRST_USER: u32 = 16_384;

/// What a session cannot go on after.
fn is_over(error: &Error) -> bool {
    matches!(
        error.condition(),
        Condition::QueryCanceled | Condition::AdminShutdown | Condition::OutOfMemory | Condition::LockNotAvailable
    )
}

/// Whether a stored value is one of a type: it can be printed, and read again under the type's limits.
fn fits(value: ValueRef<'_>, ty: &Type, settings: &Settings, out: &mut Vec<u8>) -> bool {
    if value == ValueRef::Null {
        return true;
    }
    out.clear();
    if values::write(out, value, ty, settings).is_err() {
        return false;
    }
    // Names of objects, and rows without a type, cannot be read without the schema.
    if matches!(ty, Type::Reg(_) | Type::Record(_) | Type::Unknown) {
        return true;
    }
    std::str::from_utf8(out).is_ok_and(|text| values::input(text, ty, settings).is_ok())
}

fn called(relation: &Relation) -> String {
    match relation.namespace.as_str() {
        crate::schema::PUBLIC => relation.name.clone(),
        namespace => format!("{namespace}.{}", relation.name),
    }
}

fn rows(count: usize) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}
