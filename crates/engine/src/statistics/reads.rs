//! What a plan's statement reads, by which ways.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rowferry_dialect::ir::{Named, RelId, Statement, named_relations};
use rowferry_dialect::schema::{Relation, RelationKind};

use super::{IndexCounts, TableCounts};
use crate::backend::{Handle, Operation, PlanIndex, PlanStep, Program, Target};

/// What a plan's statement reads. Which ways the back end takes is asked when somebody wants to know, once.
#[derive(Debug)]
pub struct Reads {
    sql: Arc<str>,
    /// Catalogs that the back end must know to say so.
    pub catalogs: Box<[u32]>,
    relations: Box<[(RelId, Arc<Relation>)]>,
    ways: OnceLock<Ways>,
}

/// A way to rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The table.
    pub table: u32,
    /// How.
    pub by: By,
    /// All of it is read.
    through: bool,
}

/// How a way finds rows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum By {
    /// It reads the table.
    Table,
    /// It looks them up in an index.
    Index(u32),
    /// It looks them up in an index of a key, and the back end's name for it does not say of which.
    SomeKey,
}

/// The ways of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ways {
    ways: Vec<Way>,
    /// Only one of all things that it reads is read through: the back end's steps are that one's.
    alone: bool,
}

impl Reads {
    /// What a statement reads that is run by a program.
    pub fn of(statement: &Statement, program: &Program) -> Self {
        let relations = named_relations(statement).into_iter().filter_map(|(id, named)| match named {
            Named::Relation(relation) if relation.kind != RelationKind::Catalog => Some((id, relation)),
            _ => None,
        });
        Self {
            sql: program.sql.clone(),
            catalogs: program.catalogs.as_slice().into(),
            relations: relations.collect(),
            ways: OnceLock::new(),
        }
    }

    /// It reads tables.
    pub fn is_of_tables(&self) -> bool {
        !self.relations.is_empty()
    }

    /// The ways, asked now where nobody has asked before; none where the handle cannot say.
    pub fn ways(&self, handle: &Handle) -> Ways {
        if let Some(ways) = self.ways.get() {
            return ways.clone();
        }
        match handle.steps_of(&self.sql) {
            Ok(steps) => self.ways.get_or_init(|| self.read(&steps)).clone(),
            Err(_) => Ways::default(),
        }
    }

    fn read(&self, steps: &[PlanStep]) -> Ways {
        let (mut ways, mut through) = (Vec::new(), 0);
        for step in steps {
            let Operation::Read { of, by } = &step.operation else { continue };
            let is_through = by.as_ref().is_none_or(|way| way.condition.is_none());
            through += usize::from(is_through);
            let Target::Relation(id) = of else { continue };
            let Some((_, table)) = self.relations.iter().find(|(known, _)| known == id) else { continue };
            let by = match by.as_ref().map(|way| &way.index) {
                None | Some(PlanIndex::Automatic) => By::Table,
                Some(PlanIndex::Named(name)) => index_of(table, name),
                Some(PlanIndex::Row) => match key_of(table) {
                    Some(key) => By::Index(key),
                    // By their numbers alone, as a TID scan, which PostgreSQL does not count either.
                    None => continue,
                },
                Some(PlanIndex::Function) => continue,
            };
            ways.push(Way { table: table.oid, by, through: is_through });
        }
        Ways { ways, alone: through == 1 }
    }
}

/// The index that stands for the rows' own numbers.
fn key_of(table: &Relation) -> Option<u32> {
    let is_key = table.columns.iter().any(|column| column.row_identity);
    table.indexes.iter().find(|index| is_key && index.primary).map(|index| index.oid)
}

/// The index of a name in the file; those of keys have names that the back end gives them.
fn index_of(table: &Relation, name: &str) -> By {
    if let Some(index) = table.indexes.iter().find(|index| index.name == name) {
        return By::Index(index.oid);
    }
    let key = key_of(table);
    let mut keys = table.indexes.iter().filter(|index| index.constraint && key != Some(index.oid));
    match (keys.next(), keys.next()) {
        (Some(index), None) => By::Index(index.oid),
        _ => By::SomeKey,
    }
}

impl Way {
    /// Counts scans, and the rows that they have read where that is known.
    pub fn count(
        &self,
        scans: u64,
        rows: Option<u64>,
        tables: &mut HashMap<u32, TableCounts>,
        indexes: &mut HashMap<u32, IndexCounts>,
    ) {
        let table = tables.entry(self.table).or_default();
        match self.by {
            By::Table => {
                table.seq_scans += scans;
                table.seq_rows += rows.unwrap_or(0);
            }
            By::SomeKey => table.idx_scans += scans,
            By::Index(oid) => {
                table.idx_scans += scans;
                indexes.entry(oid).or_default().add(scans, rows);
            }
        }
    }
}

impl Ways {
    /// Tells each way with the rows that were read by it; `None` where nobody knows.
    pub fn count(&self, runs: u64, steps: u64, mut each: impl FnMut(&Way, Option<u64>)) {
        for way in &self.ways {
            // From the first row on each step leads to one more.
            let rows = if steps == 0 { 0 } else { steps + runs };
            each(way, (self.alone && way.through).then_some(rows));
        }
    }
}
