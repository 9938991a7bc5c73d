//! Frames of RANGE with offsets over keys that are no integers, which SQLite cannot add to, and frames with offsets that are
//! computed: SQLite takes no calls and no subqueries for them.
//!
//! The rows become a member of WITH with the number of each row, of its peers and of its partition, and with the values at
//! which its frame begins and ends. What is computed over a frame is then a subquery over the rows between these.

use crate::functions::{self, Function, FunctionKind, TypeSpec};
use crate::ir::{
    Aggregate, Body, CompareOp, Cte, CteBody, CteId, Distinct, Expr, ExprKind, Frame, FrameBound, FrameExclude,
    FrameUnit, From, GroupBy, OutputColumn, Query, RelId, Select, SortKey, Value, WindowCall, walk,
};
use crate::{Error, Language, Result, Type};

/// Relations that are made here have numbers beyond those of the binder, and of others who make some.
const FIRST: u32 = 7 << 29;

/// The query with such frames spelled out; `None` if it has none.
pub(super) fn expanded(query: &Query) -> Result<Option<Query>> {
    let Body::Select(select) = &query.body else { return Ok(None) };
    let sorted = query.order_by.iter().map(|key| &key.expr);
    if !select.items.iter().chain(sorted).any(has_frame) {
        return Ok(None);
    }
    let first = FIRST | query.output.0 << 6;
    let mut rows = Rows { id: RelId(first), cte: CteId(first), next: first, parts: Vec::new(), readers: Vec::new() };
    let mut outer = (**select).clone();
    let mut order_by = query.order_by.clone();
    let distinct = match &mut outer.distinct {
        Distinct::On(keys) => keys.as_mut_slice(),
        Distinct::All | Distinct::Rows => &mut [],
    };
    let sorted = order_by.iter_mut().map(|key| &mut key.expr).filter(|key| !is_of(key, query.output));
    for expr in outer.items.iter_mut().chain(distinct).chain(sorted) {
        rows.split(expr)?;
    }
    let column = |(at, part): (usize, &Expr)| OutputColumn { name: format!("c{at}"), ty: part.ty.clone() };
    let columns: Vec<OutputColumn> = rows.parts.iter().enumerate().map(column).collect();
    for expr in outer.items.iter_mut().chain(order_by.iter_mut().map(|key| &mut key.expr)) {
        walk::expr_mut(expr, &mut |part| {
            if let ExprKind::Scalar(query) = &mut part.kind
                && let Body::Select(select) = &mut query.body
                && let Some(From::Cte { id, columns: known, .. }) = &mut select.from
                && rows.readers.contains(id)
            {
                known.clone_from(&columns);
            }
            true
        });
    }
    let (id, cte) = (rows.id, rows.cte);
    let body = Body::Select(Box::new(Select { distinct: Distinct::All, items: rows.parts, ..(**select).clone() }));
    let inner = Query::of(body, columns.clone(), RelId(first + 63));
    outer.from = Some(From::Cte { id, cte, columns: columns.clone() });
    (outer.filter, outer.group_by, outer.having) = (None, GroupBy::None, None);
    let mut whole = Query { body: Body::Select(Box::new(outer)), order_by, ..query.clone() };
    whole.ctes.push(Cte {
        name: "rows of frames".to_owned(),
        id: cte,
        recursive: false,
        materialized: Some(true),
        body: CteBody::Query(Box::new(inner)),
        columns,
    });
    Ok(Some(whole))
}

/// True for a select list with such frames.
pub(super) fn are_in(select: &Select) -> bool {
    select.items.iter().any(has_frame)
}

/// A frame that is to be spelled out.
fn spelled(window: &WindowCall) -> Option<&Frame> {
    window.frame.as_ref().filter(|frame| frame.limits.is_some() || !frame.has_plain_offsets())
}

/// What a nested query computes over windows is its own.
fn has_frame(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= matches!(&part.kind, ExprKind::Window(window) if spelled(window).is_some());
        !found && part.kind.query().is_none()
    });
    found
}

fn is_of(key: &Expr, output: RelId) -> bool {
    match &key.kind {
        ExprKind::Column(column) => column.relation == output,
        ExprKind::Collate { arg, .. } => is_of(arg, output),
        _ => false,
    }
}

fn function(name: &str, kind: FunctionKind) -> Result<&'static Function> {
    functions::named(Language::Postgres, name)
        .find(|function| function.kind == kind)
        .ok_or_else(|| Error::internal(format!("no function {name}")))
}

/// Of two integers.
fn difference() -> Result<&'static Function> {
    functions::named(Language::Postgres, "-")
        .find(|function| function.args.len() == 2 && function.args.iter().all(|spec| *spec == TypeSpec::Is(Type::Int8)))
        .ok_or_else(|| Error::internal("no difference of integers"))
}

fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
    Expr::new(ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) }, Type::Bool)
}

fn is_null(arg: Expr) -> Expr {
    Expr::new(ExprKind::IsNull { arg: Box::new(arg), negated: false }, Type::Bool)
}

fn nan(ty: &Type) -> Expr {
    let value = if ty.is_decimal() { Value::Text("NaN".to_owned()) } else { Value::Real(f64::NAN) };
    Expr::new(ExprKind::Literal(value), ty.clone())
}

/// The rows that frames are parts of.
struct Rows {
    id: RelId,
    cte: CteId,
    next: u32,
    parts: Vec<Expr>,
    /// The relations of the subqueries that read them.
    readers: Vec<RelId>,
}

/// A column of the rows.
#[derive(Clone)]
struct Held {
    at: usize,
    ty: Type,
}

impl Held {
    fn of(&self, relation: RelId) -> Expr {
        Expr::column(relation, self.at, self.ty.clone())
    }
}

impl Rows {
    fn hold(&mut self, expr: Expr) -> Held {
        let ty = expr.ty.clone();
        self.parts.push(expr);
        Held { at: self.parts.len() - 1, ty }
    }

    /// Puts columns of the rows, and subqueries over them, in the place of what is computed of the query's.
    fn split(&mut self, expr: &mut Expr) -> Result<()> {
        if let ExprKind::Window(window) = &expr.kind
            && spelled(window).is_some()
        {
            let window = (**window).clone();
            *expr = self.framed(window, expr.ty.clone())?;
            return Ok(());
        }
        if !has_frame(expr) {
            if !matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Rules(_)) {
                let ty = expr.ty.clone();
                let whole = std::mem::replace(expr, Expr::null(ty));
                *expr = self.hold(whole).of(self.id);
            }
            return Ok(());
        }
        let mut result = Ok(());
        walk::parts_mut(expr, &mut |part| {
            if result.is_ok() {
                result = self.split(part);
            }
            false
        });
        result
    }

    /// A number that a window function gives each row.
    fn numbered(&mut self, name: &str, partition_by: &[Expr], order_by: &[SortKey]) -> Result<Held> {
        let call = WindowCall {
            function: function(name, FunctionKind::Window)?,
            args: Vec::new(),
            filter: None,
            partition_by: partition_by.to_vec(),
            order_by: order_by.to_vec(),
            frame: None,
        };
        Ok(self.hold(Expr::new(ExprKind::Window(Box::new(call)), Type::Int8)))
    }

    /// What is computed over a frame, as a subquery over its rows.
    fn framed(&mut self, mut window: WindowCall, ty: Type) -> Result<Expr> {
        let of_frame = matches!(window.function.name, "first_value" | "last_value" | "nth_value");
        if window.function.kind != FunctionKind::Aggregate && !of_frame {
            // It counts the partition's rows, whatever the frame.
            window.frame = None;
            return Ok(self.hold(Expr::new(ExprKind::Window(Box::new(window)), ty)).of(self.id));
        }
        self.next += 1;
        let reader = RelId(self.next);
        self.readers.push(reader);
        let number = self.numbered("row_number", &window.partition_by, &window.order_by)?;
        let condition = self.condition(&window, reader, &number)?;
        let args = window.args.iter().cloned().map(|arg| match arg.kind {
            ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Rules(_) => arg,
            _ => self.hold(arg).of(reader),
        });
        let args: Vec<Expr> = args.collect();
        let filter = window.filter.take().map(|filter| self.hold(filter).of(reader));
        let by_number = |descending| SortKey { expr: number.of(reader), descending, nulls_first: false };
        let column = OutputColumn { name: "value".to_owned(), ty: ty.clone() };
        let mut query = Query::of(Body::Values(Vec::new()), vec![column], RelId(self.next + 32));
        let item = if of_frame {
            query.order_by = vec![by_number(window.function.name == "last_value")];
            query.limit = Some(Expr::integer(1, Type::Int8));
            query.offset = nth(&window)?;
            let mut args = args;
            args.swap_remove(0)
        } else {
            let order_by = if is_of_any_order(window.function) { Vec::new() } else { vec![by_number(false)] };
            let call =
                Aggregate { function: window.function, args, direct: Vec::new(), distinct: false, order_by, filter };
            Expr::new(ExprKind::Aggregate(Box::new(call)), ty.clone())
        };
        query.body = Body::Select(Box::new(Select {
            distinct: Distinct::All,
            items: vec![item],
            from: Some(From::Cte { id: reader, cte: self.cte, columns: Vec::new() }),
            filter: Some(condition),
            group_by: GroupBy::None,
            having: None,
        }));
        Ok(Expr::new(ExprKind::Scalar(Box::new(query)), ty))
    }

    /// Whether a row stands in the frame of another.
    fn condition(&mut self, window: &WindowCall, reader: RelId, number: &Held) -> Result<Expr> {
        let Some(frame) = spelled(window) else { return Err(Error::internal("a frame without its limits")) };
        let mut conditions = Vec::new();
        if !window.partition_by.is_empty() {
            let by = |expr: &Expr| SortKey { expr: expr.clone(), descending: false, nulls_first: false };
            let keys: Vec<SortKey> = window.partition_by.iter().map(by).collect();
            let partition = self.numbered("dense_rank", &[], &keys)?;
            conditions.push(compare(CompareOp::Equal, partition.of(reader), partition.of(self.id)));
        }
        let peers = self.numbered("rank", &window.partition_by, &window.order_by)?;
        match frame.unit {
            FrameUnit::Range => self.within_values(window, frame, reader, &peers, &mut conditions)?,
            FrameUnit::Rows => self.within_count(frame, reader, &number.clone(), &mut conditions)?,
            FrameUnit::Groups => {
                let groups = self.numbered("dense_rank", &window.partition_by, &window.order_by)?;
                self.within_count(frame, reader, &groups, &mut conditions)?;
            }
        }
        let same = |held: &Held, op| compare(op, held.of(reader), held.of(self.id));
        match frame.exclude {
            FrameExclude::NoOthers => {}
            FrameExclude::CurrentRow => conditions.push(same(number, CompareOp::NotEqual)),
            FrameExclude::Group => conditions.push(same(&peers, CompareOp::NotEqual)),
            FrameExclude::Ties => {
                let either = vec![same(&peers, CompareOp::NotEqual), same(number, CompareOp::Equal)];
                conditions.push(Expr::new(ExprKind::Or(either), Type::Bool));
            }
        }
        Ok(match conditions.len() {
            0 => Expr::bool(true),
            1 => conditions.swap_remove(0),
            _ => Expr::new(ExprKind::And(conditions), Type::Bool),
        })
    }

    /// A row's number, or that of its peers, is so far from the current one's.
    fn within_count(&mut self, frame: &Frame, reader: RelId, number: &Held, conditions: &mut Vec<Expr>) -> Result<()> {
        for (bound, ending) in [(&frame.start, false), (&frame.end, true)] {
            let within = if ending { CompareOp::LessOrEqual } else { CompareOp::GreaterOrEqual };
            conditions.push(match bound {
                FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => continue,
                FrameBound::CurrentRow => compare(within, number.of(reader), number.of(self.id)),
                FrameBound::Preceding(offset) | FrameBound::Following(offset) => {
                    let checked = ExprKind::Call {
                        function: crate::functions::internal("frame offset"),
                        args: vec![(**offset).clone(), Expr::text("rows"), Expr::bool(ending)],
                    };
                    let offset = self.hold(Expr::new(checked, Type::Int8));
                    let before = matches!(bound, FrameBound::Preceding(_));
                    let (from, to) = if before { (reader, self.id) } else { (self.id, reader) };
                    let far = ExprKind::Call { function: difference()?, args: vec![number.of(to), number.of(from)] };
                    let within = if before { within.commuted() } else { within };
                    compare(within, Expr::new(far, Type::Int8), offset.of(self.id))
                }
            });
        }
        Ok(())
    }

    /// A row's key stands between the values at which the current one's frame begins and ends.
    fn within_values(
        &mut self,
        window: &WindowCall,
        frame: &Frame,
        reader: RelId,
        peers: &Held,
        conditions: &mut Vec<Expr>,
    ) -> Result<()> {
        let (Some(limits), [sort]) = (frame.limits.as_deref(), window.order_by.as_slice()) else {
            return Err(Error::internal("a frame without its limits"));
        };
        let key = self.hold(limits.key.clone());
        for (bound, limit, ending) in [(&frame.start, &limits.start, false), (&frame.end, &limits.end, true)] {
            let within = if ending { CompareOp::LessOrEqual } else { CompareOp::GreaterOrEqual };
            let among_peers = compare(within, peers.of(reader), peers.of(self.id));
            match (bound, limit) {
                (FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing, _) => {}
                (FrameBound::CurrentRow, _) => conditions.push(among_peers),
                (_, Some(limit)) => {
                    let limit = self.hold(limit.clone());
                    let by_value = if sort.descending { within.commuted() } else { within };
                    let test = self.by_value(by_value, &key, &limit, reader);
                    // NULLs stand at one end.
                    let nulls = Expr::bool(sort.nulls_first == ending);
                    let branches = vec![(is_null(key.of(self.id)), among_peers), (is_null(key.of(reader)), nulls)];
                    let otherwise = Some(Box::new(test));
                    conditions.push(Expr::new(ExprKind::Case { branches, otherwise }, Type::Bool));
                }
                (_, None) => return Err(Error::internal("a frame without one of its limits")),
            }
        }
        Ok(())
    }

    /// A row's key on the right side of a limit.
    fn by_value(&self, op: CompareOp, key: &Held, limit: &Held, reader: RelId) -> Expr {
        let test = compare(op, key.of(reader), limit.of(self.id));
        if !key.ty.is_decimal() && !matches!(key.ty, Type::Float8) {
            return test;
        }
        // An infinite offset from an infinite key leads to no limit: all numbers lie within it, and NaN beyond the numbers.
        let nowhere = Expr::new(
            ExprKind::And(vec![
                compare(CompareOp::Equal, limit.of(self.id), nan(&limit.ty)),
                compare(CompareOp::NotEqual, key.of(self.id), nan(&key.ty)),
            ]),
            Type::Bool,
        );
        let within = match op {
            CompareOp::LessOrEqual => compare(CompareOp::NotEqual, key.of(reader), nan(&key.ty)),
            _ => Expr::bool(true),
        };
        let otherwise = Some(Box::new(test));
        Expr::new(ExprKind::Case { branches: vec![(nowhere, within)], otherwise }, Type::Bool)
    }
}

/// What nth_value leaves out.
fn nth(window: &WindowCall) -> Result<Option<Expr>> {
    if window.function.name != "nth_value" {
        return Ok(None);
    }
    match window.args.get(1).map(|arg| &arg.kind) {
        Some(ExprKind::Literal(Value::Integer(number))) if *number > 0 => {
            Ok(Some(Expr::integer(number - 1, Type::Int8)))
        }
        _ => Err(Error::unsupported("nth_value of a computed number over a RANGE with an offset")),
    }
}

fn is_of_any_order(function: &Function) -> bool {
    matches!(function.name, "count" | "sum" | "avg" | "min" | "max" | "bool_and" | "bool_or" | "every")
}
