//! Calls that a query does not make from within: the back end runs the query for the arguments, and the functions run when it
//! has ended.
//!
//! A function may do what no statement can do inside another (change the schema, go back to a savepoint of a write) and
//! may change the very table that the query reads. So a call that stands as a whole item of the select list, or as the
//! only member of FROM, is taken out of its query: its arguments become the query's columns, or a query of their own.

use std::sync::Arc;

use rowferry_dialect::functions::Volatility;
use rowferry_dialect::ir::in_turn::{late, waits};
use rowferry_dialect::ir::{self, Body, Distinct, Expr, ExprKind, From, OutputColumn, Query, Statement, Value};
use rowferry_dialect::plan::Bound;
use rowferry_dialect::stored_calls::{Callee, ROWS, callee, callee_of, writes};
use rowferry_dialect::{Result, Schema, Type};

use super::borrowed;
use super::stored::Returned;
use crate::session::in_turn::RowsPlan;
use crate::session::{Outcome, Prepared, Session};
use crate::spool::{Spool, SpoolReader};

/// The name of the rows that such a call has returned.
const RESULT: &str = "stored result rows";

/// How a query with calls is run.
#[derive(Debug)]
pub(crate) enum Direct {
    /// Each row of a query has the arguments of calls.
    Items {
        /// The query.
        inner: Arc<Prepared>,
        /// What becomes of its columns.
        items: Vec<Item<Arc<Prepared>>>,
    },
    /// The call yields the rows of a query.
    Rows {
        /// A query of one row for the arguments; `None` when there are none.
        args: Option<Arc<Prepared>>,
        /// The function.
        call: Callee,
        /// The query of its rows, whose last parameter is their number.
        outer: Arc<Prepared>,
    },
    /// The rows are computed one by one, when all that they are made of has been read.
    InTurn(RowsPlan),
}

/// A column of the result.
#[derive(Debug)]
pub(crate) enum Item<Q> {
    /// The next column of the query.
    Column,
    /// A call with so many columns for arguments.
    Call(Callee, usize),
    /// A query of one value, whose last parameters are so many columns: what the calls before have done is seen in it.
    Late(Q, usize),
}

impl Item<Bound> {
    /// A query of one value over `read`, which are columns of what stands in the place of the statement `of`.
    pub(crate) fn late(query: Query, read: &[Expr], of: &Bound) -> Self {
        let types = read.iter().map(|expr| expr.ty.clone());
        let bound = Bound {
            statement: Statement::Query(Box::new(query)),
            params: of.params.iter().cloned().chain(types).collect(),
            columns: Vec::new(),
            notices: Vec::new(),
            ..of.clone()
        };
        Self::Late(bound, read.len())
    }

    /// Items whose queries are prepared.
    pub(crate) fn prepared(
        items: Vec<Self>,
        mut part: impl FnMut(Bound) -> Result<Arc<Prepared>>,
    ) -> Result<Vec<Item<Arc<Prepared>>>> {
        let item = |item| {
            Ok(match item {
                Self::Column => Item::Column,
                Self::Call(callee, count) => Item::Call(callee, count),
                Self::Late(query, count) => Item::Late(part(query)?, count),
            })
        };
        items.into_iter().map(item).collect()
    }
}

/// The parts of a query whose calls are made outside it.
#[expect(clippy::large_enum_variant, reason = "it lives as long as the statement is compiled")]
pub(crate) enum Split {
    Items(Bound, Vec<Item<Bound>>),
    Rows(Option<Bound>, Callee, Bound),
}

/// Takes the calls out of a query, if it has any that can be.
pub(crate) fn split(bound: &Bound, schema: &dyn Schema) -> Option<Split> {
    let Statement::Query(query) = &bound.statement else { return None };
    let Body::Select(select) = &query.body else { return None };
    if !matches!(select.distinct, Distinct::All) || !query.order_by.is_empty() {
        return rows_of(bound, query);
    }
    let wanted = |callee: &Callee| {
        select.from.is_none()
            || schema
                .function_by_oid(callee.oid)
                .is_none_or(|function| function.definition.volatility == Volatility::Volatile)
    };
    let calls = select.items.iter().any(|item| callee(item).is_some_and(|(callee, _)| wanted(&callee)));
    // What a function sets is seen by what stands beside it.
    let seen = || {
        select.items.iter().any(|item| writes(item, schema))
            && select.items.iter().any(waits)
            && !select.filter.as_ref().is_some_and(|filter| writes(filter, schema))
    };
    if !calls && !seen() {
        return rows_of(bound, query);
    }
    let mut inner = (**query).clone();
    let (mut exprs, mut columns, mut items) = (Vec::new(), Vec::new(), Vec::new());
    for (item, column) in select.items.iter().zip(&query.columns) {
        match callee(item) {
            Some((callee, args)) => {
                items.push(Item::Call(callee, args.len()));
                for arg in args {
                    exprs.push(arg.clone());
                    columns.push(OutputColumn { name: String::new(), ty: arg.ty.clone() });
                }
            }
            None => {
                match late(item, select, bound.params.len(), schema).filter(|_| waits(item) || writes(item, schema)) {
                    Some((query, read)) => {
                        items.push(Item::late(query, &read, bound));
                        for expr in read {
                            columns.push(OutputColumn { name: String::new(), ty: expr.ty.clone() });
                            exprs.push(expr);
                        }
                    }
                    None => {
                        items.push(Item::Column);
                        exprs.push(item.clone());
                        columns.push(column.clone());
                    }
                }
            }
        }
    }
    if exprs.is_empty() {
        // A query has a column.
        exprs.push(Expr::integer(1, Type::Int4));
        columns.push(OutputColumn { name: String::new(), ty: Type::Int4 });
    }
    let Body::Select(select) = &mut inner.body else { return None };
    select.items = exprs;
    inner.columns = columns;
    let statement = Statement::Query(Box::new(inner));
    Some(Split::Items(Bound { statement, columns: Vec::new(), notices: Vec::new(), ..bound.clone() }, items))
}

/// A query of the rows of one call.
fn rows_of(bound: &Bound, query: &Query) -> Option<Split> {
    let Body::Select(select) = &query.body else { return None };
    let Some(From::Function { id, function, args, columns, ordinality }) = &select.from else { return None };
    if function.name != ROWS {
        return None;
    }
    let (callee, args) = callee_of(args)?;
    let arguments = (!args.is_empty()).then(|| {
        let mut asked = query.clone();
        asked.columns = args.iter().map(|arg| OutputColumn { name: String::new(), ty: arg.ty.clone() }).collect();
        asked.order_by = Vec::new();
        (asked.limit, asked.offset) = (None, None);
        if let Body::Select(select) = &mut asked.body {
            select.items = args.to_vec();
            select.distinct = Distinct::All;
            (select.from, select.filter, select.having) = (None, None, None);
            select.group_by = ir::GroupBy::None;
        }
        let statement = Statement::Query(Box::new(asked));
        Bound { statement, columns: Vec::new(), notices: Vec::new(), ..bound.clone() }
    });
    let mut outer = query.clone();
    let number = Expr::new(ExprKind::Param(bound.params.len()), Type::Int8);
    if let Body::Select(select) = &mut outer.body {
        select.from = Some(From::Function {
            id: *id,
            function: rowferry_dialect::functions::stored_result_rows(),
            args: vec![number],
            columns: columns.clone(),
            ordinality: *ordinality,
        });
    }
    debug_assert_eq!(rowferry_dialect::functions::stored_result_rows().name, RESULT);
    let mut params = bound.params.clone();
    params.push(Type::Int8);
    let statement = Statement::Query(Box::new(outer));
    let outer = Bound { statement, params, notices: Vec::new(), ..bound.clone() };
    Some(Split::Rows(arguments, callee, outer))
}

impl Session {
    /// Runs a query whose calls are made outside it.
    pub(crate) fn run_direct(
        &mut self,
        prepared: &Arc<Prepared>,
        direct: &Direct,
        params: &[Value],
    ) -> Result<Outcome> {
        let mut shown = None;
        let run = |session: &mut Self| {
            let outcome = session.run_direct_parts(prepared, direct, params);
            shown = Some(session.settings());
            outcome
        };
        let mut outcome = self.as_one_transaction(run)?;
        // What functions have set for the transaction holds until its rows are shown.
        if let Outcome::Rows(cursor) = &mut outcome
            && let Some(shown) = shown.filter(|shown| !Arc::ptr_eq(shown, &self.settings()))
        {
            cursor.show_as(shown);
        }
        Ok(outcome)
    }

    fn run_direct_parts(&mut self, prepared: &Arc<Prepared>, direct: &Direct, params: &[Value]) -> Result<Outcome> {
        let session = self;
        match direct {
            Direct::Items { inner, items } => {
                if items.iter().any(|item| matches!(item, Item::Late(query, _) if query.bound.effects.writes)) {
                    session.open_for_writers()?;
                }
                let outcome = session.run_query(inner, params)?;
                let read = session.read_ahead(outcome)?.into_reader()?;
                let rows = session.call_items(read, items, params)?;
                session.rows(prepared, rows)
            }
            Direct::InTurn(plan) => {
                session.open_for_writers()?;
                let mut rows = Spool::new(prepared.bound.columns.len());
                let mut coming = session.rows_to_come(plan, params)?;
                while let Some(row) = session.next_to_come(&mut coming)? {
                    rows.push((0..row.columns()).map(|at| row.column(at)))?;
                }
                session.rows(prepared, rows)
            }
            Direct::Rows { args, call, outer } => {
                let values = match args {
                    Some(args) => session.first_row(args, params)?,
                    None => Vec::new(),
                };
                let Some(returned) = session.call_directly(call, values)? else {
                    return Err(rowferry_dialect::Error::internal("the function has been dropped meanwhile"));
                };
                session.check_columns(outer, &returned)?;
                let number = session.keep_result(returned)?;
                let mut params = params.to_vec();
                params.push(Value::Integer(number));
                // The function may have changed the schema: the query of its rows is made for what there is now.
                let renewed = session.renew(prepared)?;
                let outer = match &renewed.direct {
                    Some(Direct::Rows { outer, .. }) => outer,
                    _ => outer,
                };
                let result = session.run_query(outer, &params).and_then(|outcome| session.read_ahead(outcome));
                session.routine_state().results.lock().remove(&number);
                let rows = result?;
                session.rows(prepared, rows)
            }
        }
    }

    /// A row source of any columns must have those that the query was told of.
    fn check_columns(&self, outer: &Prepared, returned: &Returned) -> Result<()> {
        let Statement::Query(query) = &outer.bound.statement else { return Ok(()) };
        let Body::Select(select) = &query.body else { return Ok(()) };
        let Some(From::Function { columns, ordinality, .. }) = &select.from else { return Ok(()) };
        let expected = &columns[..columns.len() - usize::from(*ordinality)];
        super::plpgsql::check_record(&returned.types, expected.iter().map(|column| &column.ty))
    }

    fn call_directly(&mut self, call: &Callee, args: Vec<Value>) -> Result<Option<Returned>> {
        let Some(function) = self.schema().function_by_oid(call.oid) else { return Ok(None) };
        let standing = call.standing.as_deref().map(super::stored::standing).transpose()?;
        self.run_stored(&function, standing, args).map(Some)
    }

    fn first_row(&mut self, plan: &Arc<Prepared>, params: &[Value]) -> Result<Vec<Value>> {
        let outcome = self.run_query(plan, params)?;
        let mut reader = self.read_ahead(outcome)?.into_reader()?;
        reader.advance()?;
        Ok((0..reader.columns()).map(|at| reader.column(at).to_value()).collect())
    }

    /// All rows of an outcome.
    pub(super) fn read_ahead(&mut self, outcome: Outcome) -> Result<Spool> {
        let Outcome::Rows(mut cursor) = outcome else { return Ok(Spool::new(0)) };
        let mut spool: Option<Spool> = None;
        while let Some(row) = cursor.next()? {
            let spool = spool.get_or_insert_with(|| Spool::new(row.len()));
            spool.push((0..row.len()).map(|at| row.get(at)))?;
        }
        Ok(spool.unwrap_or_else(|| Spool::new(cursor.columns().len())))
    }

    /// The items of each row, of what has been read for them.
    pub(crate) fn call_items(
        &mut self,
        mut reader: SpoolReader,
        items: &[Item<Arc<Prepared>>],
        params: &[Value],
    ) -> Result<Spool> {
        let mut rows = Spool::new(items.len());
        while reader.advance()? {
            let mut columns = (0..reader.columns()).map(|at| reader.column(at).to_value());
            let mut row = Vec::with_capacity(items.len());
            for item in items {
                row.push(match item {
                    Item::Column => columns.next().unwrap_or(Value::Null),
                    Item::Call(call, count) => {
                        let args = columns.by_ref().take(*count).collect();
                        let Some(function) = self.schema().function_by_oid(call.oid) else {
                            return Err(rowferry_dialect::Error::internal("the function has been dropped meanwhile"));
                        };
                        let standing = call.standing.as_deref().map(super::stored::standing).transpose()?;
                        let returned = self.run_stored(&function, standing, args)?;
                        self.one_value(&function, returned)?
                    }
                    Item::Late(query, count) => {
                        let params: Vec<Value> = params.iter().cloned().chain(columns.by_ref().take(*count)).collect();
                        self.renew_settings();
                        let mut value = self.compute_row(query, &params)?;
                        if value.advance()? { value.column(0).to_value() } else { Value::Null }
                    }
                });
            }
            rows.push(row.iter().map(borrowed))?;
        }
        Ok(rows)
    }

    /// Keeps rows for a query of this session to read; their number.
    fn keep_result(&mut self, returned: Returned) -> Result<i64> {
        let reader = returned.rows.into_reader()?;
        let mut results = self.routine_state().results.lock();
        let number = results.keys().max().copied().unwrap_or(0) + 1;
        results.insert(number, reader);
        Ok(number)
    }
}
