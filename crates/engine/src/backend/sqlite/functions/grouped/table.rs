//! `rf_groups`: the rows of groups, their keys first and then their aggregates, as the columns `c0`, `c1`, …; and the same values once
//! more as columns of integers, `i0`, `i1`, …, and of texts, `t0`, `t1`, … ([`COLUMNS_OF_GROUPS`]).

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::lower::sqlite::spec::Spec;
use rowferry_dialect::lower::sqlite::{COLUMNS_OF_GROUPS, MOST_GROUPED};
use rowferry_dialect::{Error, Result};
use rusqlite::types::ValueRef;
use rusqlite::vtab::{
    Context as ColumnContext, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection,
    VTabCursor,
};
use rusqlite::{Connection, ffi};

use super::super::{Output, raise};
use super::groups::{Finished, Groups, Walk};
use super::kept;

/// Makes the function known to a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    const MODULE: Module<'_, Table> = Module::eponymous_only_module();
    connection.create_module(c"rf_groups", &MODULE, None)
}

/// The hidden column, behind all others: what the function is asked about.
const ARGUMENT: usize = COLUMNS_OF_GROUPS.len() * MOST_GROUPED;

#[repr(C)]
struct Table {
    base: ffi::sqlite3_vtab,
}

// SAFETY: `Table` is `repr(C)` with `sqlite3_vtab` first, as the trait asks.
unsafe impl<'vtab> VTab<'vtab> for Table {
    type Aux = ();
    type Cursor = Cursor<'vtab>;

    fn connect(
        db: &mut VTabConnection,
        _aux: Option<&()>,
        _module_name: &[u8],
        _database_name: &[u8],
        _table_name: &[u8],
        _args: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        db.config(VTabConfig::Innocuous)?;
        let mut columns: Vec<String> = (0..MOST_GROUPED)
            .flat_map(|at| COLUMNS_OF_GROUPS.iter().map(move |(letter, ty)| format!("{letter}{at}{ty}")))
            .collect();
        columns.push("groups hidden".to_owned());
        let declaration = CString::new(format!("CREATE TABLE x({})", columns.join(", ")))?;
        Ok((Cow::Owned(declaration), Self { base: ffi::sqlite3_vtab::default() }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        let mut place = None;
        for (at, constraint) in info.constraints().enumerate() {
            if usize::try_from(constraint.column()) != Ok(ARGUMENT) {
                continue;
            }
            if !constraint.is_usable() {
                return Ok(false);
            }
            if constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ {
                place = Some(at);
            }
        }
        if let Some(at) = place {
            let mut usage = info.constraint_usage(at);
            usage.set_argv_index(1);
            usage.set_omit(true);
        }
        info.set_estimated_cost(1000.0);
        info.set_estimated_rows(1000);
        Ok(true)
    }

    fn open(&'vtab mut self) -> rusqlite::Result<Cursor<'vtab>> {
        Ok(Cursor {
            base: ffi::sqlite3_vtab_cursor::default(),
            groups: None,
            row: Vec::new(),
            there: false,
            position: 0,
            table: PhantomData,
        })
    }
}

/// The number in a value of `rf_group`.
fn number(value: ValueRef<'_>) -> Option<u64> {
    match value {
        ValueRef::Blob(bytes) => bytes.try_into().ok().map(u64::from_le_bytes),
        _ => None,
    }
}

/// The groups that an argument speaks of: by their number, or, where there was no row, by what would have been done with one.
fn found(value: Option<ValueRef<'_>>) -> Result<Option<Arc<Finished>>> {
    match value {
        Some(ValueRef::Text(told)) => {
            let spec = std::str::from_utf8(told).ok().and_then(Spec::read);
            let spec = spec.ok_or_else(|| Error::internal("groups of what is not told"))?;
            Groups::of_nothing(spec).map(|groups| Some(Arc::new(groups)))
        }
        value => Ok(value.and_then(number).and_then(kept::find)),
    }
}

#[repr(C)]
struct Cursor<'vtab> {
    base: ffi::sqlite3_vtab_cursor,
    groups: Option<(Arc<Finished>, Walk)>,
    row: Vec<Value>,
    there: bool,
    position: i64,
    table: PhantomData<&'vtab Table>,
}

impl Cursor<'_> {
    fn leave(&mut self) {
        if let Some((groups, walk)) = self.groups.take() {
            groups.end(walk);
        }
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

// SAFETY: `Cursor` is `repr(C)` with `sqlite3_vtab_cursor` first, as the trait asks.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, _idx_num: c_int, _idx_str: Option<&str>, args: &Filters<'_>) -> rusqlite::Result<()> {
        self.leave();
        self.position = 0;
        self.groups = match args.len() {
            0 => None,
            _ => match found(args.iter().next()).map_err(raise)? {
                Some(groups) => {
                    let walk = groups.begin().map_err(raise)?;
                    Some((groups, walk))
                }
                None => None,
            },
        };
        self.next()
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.position += 1;
        self.there = match &mut self.groups {
            Some((groups, walk)) => groups.next(walk, &mut self.row).map_err(raise)?,
            None => false,
        };
        Ok(())
    }

    fn eof(&self) -> bool {
        !self.there
    }

    fn column(&self, context: &mut ColumnContext, column: c_int) -> rusqlite::Result<()> {
        match usize::try_from(column).ok().and_then(|at| self.row.get(at / COLUMNS_OF_GROUPS.len())) {
            Some(value) => context.set_result(Output(value.clone())),
            None => context.set_result(rusqlite::types::Null),
        }
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.position)
    }
}
