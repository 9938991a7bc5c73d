//! Functions that return rows: eponymous virtual tables with the columns `c0`, `c1`, …, `ordinality`, and one hidden
//! column for each argument.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Error, Result};
use rusqlite::vtab::{
    Context as ColumnContext, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection,
    VTabCursor,
};
use rusqlite::{Connection, ffi};

use super::call::borrowed;
use super::rows_sources::Arguments;
use super::{Context, Output, raise};

/// What a call yields, row by row; it is pulled, so that a long series costs no memory.
pub(super) type Source = Box<dyn Iterator<Item = Result<Vec<Value>>>>;

/// A function that returns rows.
pub(super) struct Rows {
    /// Its name in SQLite.
    pub(super) name: &'static CStr,
    /// Columns of its result.
    pub(super) columns: usize,
    /// Greatest number of arguments.
    pub(super) arguments: usize,
    /// Rows that a call is taken to have when joins are put in order.
    pub(super) expected: i64,
    /// Starts a call.
    pub(super) open: fn(&Arguments<'_>) -> Result<Source>,
}

impl Rows {
    /// A function whose rows have so many columns, and so many arguments at most.
    pub(super) const fn new(
        name: &'static CStr,
        columns: usize,
        arguments: usize,
        open: fn(&Arguments<'_>) -> Result<Source>,
    ) -> Self {
        Self { name, columns, arguments, expected: 100, open }
    }

    /// Its rows are the parts of one value: few, where an order of joins is chosen.
    pub(super) const fn of_one_value(self) -> Self {
        Self { expected: 10, ..self }
    }
}

/// What a module is told at registration.
struct Aux {
    rows: &'static Rows,
    context: Arc<Context>,
}

/// Makes a function known to a connection.
pub(super) fn register(connection: &Connection, rows: &'static Rows, context: &Arc<Context>) -> rusqlite::Result<()> {
    const MODULE: Module<'_, Table> = Module::eponymous_only_module();
    connection.create_module(rows.name, &MODULE, Some(Aux { rows, context: Arc::clone(context) }))
}

#[repr(C)]
struct Table {
    base: ffi::sqlite3_vtab,
    rows: &'static Rows,
    context: Arc<Context>,
}

// SAFETY: `Table` is `repr(C)` with `sqlite3_vtab` first, as the trait asks.
unsafe impl<'vtab> VTab<'vtab> for Table {
    type Aux = Aux;
    type Cursor = Cursor<'vtab>;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Aux>,
        _module_name: &[u8],
        _database_name: &[u8],
        _table_name: &[u8],
        _args: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        let Some(aux) = aux else { return Err(raise(Error::internal("a row source without its description"))) };
        db.config(VTabConfig::Innocuous)?;
        let mut columns: Vec<String> = (0..aux.rows.columns).map(|at| format!("c{at}")).collect();
        columns.push("ordinality".to_owned());
        columns.extend((0..aux.rows.arguments).map(|at| format!("a{at} hidden")));
        let declaration = CString::new(format!("CREATE TABLE x({})", columns.join(", ")))?;
        let base = ffi::sqlite3_vtab::default();
        Ok((Cow::Owned(declaration), Self { base, rows: aux.rows, context: Arc::clone(&aux.context) }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        let first = self.rows.columns + 1;
        let mut places = vec![None; self.rows.arguments];
        let mut numbered = false;
        for (at, constraint) in info.constraints().enumerate() {
            let column = usize::try_from(constraint.column()).unwrap_or(usize::MAX);
            if column < first || column == usize::MAX {
                numbered |= column == self.rows.columns
                    && constraint.is_usable()
                    && constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ;
                continue;
            }
            if !constraint.is_usable() {
                // An argument that is not known yet: another order of the joins will do.
                return Ok(false);
            }
            if constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ {
                places[column - first] = Some(at);
            }
        }
        // A call gives the first of them, however many there may be: their number says which.
        let mut count = 0;
        for at in places.into_iter().map_while(|at| at) {
            count += 1;
            let mut usage = info.constraint_usage(at);
            usage.set_argv_index(count);
            usage.set_omit(true);
        }
        info.set_idx_num(count);
        let rows = self.rows.expected;
        info.set_estimated_cost(10.0 + rows as f64);
        info.set_estimated_rows(if numbered { 1 } else { rows });
        Ok(true)
    }

    fn open(&'vtab mut self) -> rusqlite::Result<Cursor<'vtab>> {
        Ok(Cursor {
            base: ffi::sqlite3_vtab_cursor::default(),
            rows: self.rows,
            context: Arc::clone(&self.context),
            source: None,
            row: None,
            position: 0,
            table: PhantomData,
        })
    }
}

#[repr(C)]
struct Cursor<'vtab> {
    base: ffi::sqlite3_vtab_cursor,
    rows: &'static Rows,
    context: Arc<Context>,
    source: Option<Source>,
    row: Option<Vec<Value>>,
    position: i64,
    table: PhantomData<&'vtab Table>,
}

// SAFETY: `Cursor` is `repr(C)` with `sqlite3_vtab_cursor` first, as the trait asks.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, idx_num: c_int, _idx_str: Option<&str>, args: &Filters<'_>) -> rusqlite::Result<()> {
        let mut given = Vec::with_capacity(self.rows.arguments);
        given.extend(
            args.iter().take(usize::try_from(idx_num).unwrap_or(0)).map(|value| Some(borrowed(value).to_value())),
        );
        given.resize(self.rows.arguments, None);
        self.position = 0;
        let arguments = Arguments { given: &given, context: &self.context };
        self.source = Some((self.rows.open)(&arguments).map_err(raise)?);
        self.next()
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.position += 1;
        self.row = match self.source.as_mut().and_then(Iterator::next) {
            Some(row) => Some(row.map_err(raise)?),
            None => None,
        };
        Ok(())
    }

    fn eof(&self) -> bool {
        self.row.is_none()
    }

    fn column(&self, context: &mut ColumnContext, column: c_int) -> rusqlite::Result<()> {
        let at = usize::try_from(column).unwrap_or(usize::MAX);
        if at == self.rows.columns {
            return context.set_result(self.position);
        }
        match self.row.as_ref().and_then(|row| row.get(at)) {
            Some(value) => context.set_result(Output(value.clone())),
            None => context.set_result(rusqlite::types::Null),
        }
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.position)
    }
}
