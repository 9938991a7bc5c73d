//! The rows of a change that functions of users, or sequences, have a say in: each is computed when its turn has come, see
//! [`ir::in_turn`](rowferry_dialect::ir::in_turn).

use std::sync::Arc;

use rowferry_dialect::ir::in_turn::{InTurn, in_turn};
use rowferry_dialect::ir::{Query, Statement, Value};
use rowferry_dialect::plan::Bound;
use rowferry_dialect::{Result, Type};

use super::parsed::Parsed;
use super::{Prepared, Session};
use crate::backend::{Backend as _, InUse, Yield};
use crate::routines::direct::{self, Direct, Item, Split};
use crate::schema::SessionSchema;
use crate::spool::SpoolReader;

/// How a change finds its rows.
#[derive(Debug)]
pub(crate) enum RowsPlan {
    /// One query yields them all before anything is written.
    AtOnce(Arc<Prepared>),
    /// One query reads what they are made of, and each is computed when its turn has come.
    InTurn {
        /// What is read; nothing where the statement's parameters are enough.
        read: Option<Arc<Prepared>>,
        /// What is computed of each row read, one after the other.
        computed: Vec<Arc<Prepared>>,
    },
}

/// The rows of a change that are still to come.
pub(crate) struct Coming<'p> {
    plan: &'p RowsPlan,
    /// What has been read; the rows themselves where they are not computed.
    read: Option<SpoolReader>,
    /// Which of the row's queries is next.
    next: usize,
    /// The statement's parameters, and behind them what has been read for a row.
    params: Vec<Value>,
    /// The statement's own.
    outer: usize,
    row: Option<SpoolReader>,
}

impl RowsPlan {
    /// The plan of rows that call functions which may write, or take numbers of sequences; `None` where they do not, or cannot
    /// be parted so.
    pub(super) fn in_turn(
        query: &Query,
        bound: &Bound,
        parsed: &Parsed,
        schema: &SessionSchema,
    ) -> Result<Option<Self>> {
        let Some(InTurn { read, computed, types }) = in_turn(query, bound.params.len(), schema) else {
            return Ok(None);
        };
        let of_query = |query: Query, params: &[Type]| Bound {
            statement: Statement::Query(Box::new(query)),
            params: params.to_vec(),
            columns: Vec::new(),
            notices: Vec::new(),
            ..bound.clone()
        };
        let read = match read {
            Some(read) => {
                let program = InUse::lower_query(&read, Yield::Kept)?;
                Some(Arc::new(Prepared::of_part(program, of_query(read, &bound.params), parsed)))
            }
            None => None,
        };
        let params = [bound.params.as_slice(), &types].concat();
        let mut plans = Vec::with_capacity(computed.len());
        for row in computed {
            let row = of_query(row, &params);
            // A call that is a whole value runs outside every statement, and may do whatever one may.
            let direct = match direct::split(&row, schema) {
                Some(Split::Items(inner, items)) => {
                    let part = |part: Bound| Ok(Arc::new(Prepared::of_part(InUse::lower(&part)?, part, parsed)));
                    Some(Direct::Items { inner: part(inner)?, items: Item::prepared(items, part)? })
                }
                _ => None,
            };
            plans.push(Arc::new(Prepared { direct, ..Prepared::of_part(InUse::lower(&row)?, row, parsed) }));
        }
        Ok(Some(Self::InTurn { read, computed: plans }))
    }
}

impl Session {
    /// Begins with the rows of a change: everything is read that is read before something is written.
    pub(crate) fn rows_to_come<'p>(&mut self, plan: &'p RowsPlan, params: &[Value]) -> Result<Coming<'p>> {
        let read = match plan {
            RowsPlan::AtOnce(rows) | RowsPlan::InTurn { read: Some(rows), .. } => Some(self.run_part(rows, params)?),
            RowsPlan::InTurn { read: None, .. } => None,
        };
        let next = match plan {
            // A row is to be read first.
            RowsPlan::InTurn { read: Some(_), computed } => computed.len(),
            _ => 0,
        };
        Ok(Coming { plan, read, next, params: params.to_vec(), outer: params.len(), row: None })
    }

    /// The next row.
    pub(crate) fn next_to_come<'c>(&mut self, coming: &'c mut Coming<'_>) -> Result<Option<&'c SpoolReader>> {
        let computed = match coming.plan {
            RowsPlan::AtOnce(_) => {
                let Some(rows) = &mut coming.read else { return Ok(None) };
                return Ok(if rows.advance()? { Some(rows) } else { None });
            }
            RowsPlan::InTurn { computed, .. } => computed,
        };
        loop {
            if coming.next == computed.len() {
                let Some(read) = &mut coming.read else { return Ok(None) };
                if !read.advance()? {
                    return Ok(None);
                }
                coming.params.truncate(coming.outer);
                coming.params.extend((0..read.columns()).map(|at| read.column(at).to_value()));
                coming.next = 0;
            }
            let Some(query) = computed.get(coming.next) else { return Ok(None) };
            coming.next += 1;
            let mut row = self.compute_row(query, &coming.params)?;
            if row.advance()? {
                return Ok(Some(coming.row.insert(row)));
            }
        }
    }

    /// Computes a row of a change; what its functions make due is told when their own statements end.
    pub(crate) fn compute_row(&mut self, query: &Prepared, params: &[Value]) -> Result<SpoolReader> {
        let outer = std::mem::take(&mut self.referential);
        let result = match &query.direct {
            // A part, not a statement: what the calls of the rows before have defined does not make it another one.
            Some(Direct::Items { inner, items }) => (self.run_part(inner, params))
                .and_then(|read| self.call_items(read, items, params))
                .and_then(crate::spool::Spool::into_reader),
            _ => self.run_part(query, params),
        };
        self.referential = outer;
        result
    }
}

impl Coming<'_> {
    /// Its rows are computed in turn, by functions that may change anything meanwhile.
    pub(super) fn is_in_turn(&self) -> bool {
        matches!(self.plan, RowsPlan::InTurn { .. })
    }
}
