//! A view's query as PostgreSQL prints it: `pg_get_viewdef`.
//!
//! The text that is kept is bound anew, and what it means is printed: columns with their relations' names, literals with
//! their types, a clause to a line. What has no printed form here is shown as it is kept.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

mod bodies;
mod members;
mod names;
mod notes;
mod rules;

use super::binder::{Binder, Entry};
use super::print::{self, Names};
use super::search_cycle::Added;
use super::words::quote_ident as quote;
use crate::functions;
use crate::ir::{
    Aggregate, Body, ColumnIndex, ColumnRef, CteBody, CteId, Distinct, Expr, ExprKind, Frame, FrameBound, FrameExclude,
    FrameUnit, From, GroupBy, OutputColumn, Query, RelId, Select, SetOp, SortKey, WindowCall,
};
use crate::plan::Context;
use crate::schema::{QualifiedName, Relation, Schema};
use crate::stored_aggregate::Plan;
use crate::types::Reg;
use crate::values::Settings;

pub(in crate::postgres) use bodies::kept_body;
pub use bodies::{body_uses, function_body, renamed_body};
pub(super) use names::{Called, GroupingShape, Sample, Shown};
pub(in crate::postgres) use rules::{kept_action, kept_condition};
pub use rules::{renamed_rule, rule_definition, rule_uses};

/// The first relation of a FROM.
fn first_of(from: &From) -> RelId {
    match from {
        From::Relation { id, .. }
        | From::Query { id, .. }
        | From::Cte { id, .. }
        | From::Kept { id, .. }
        | From::Function { id, .. } => *id,
        From::Join { left, .. } => first_of(left),
    }
}

/// The definition of a view; `None` when a part of it has no printed form.
///
/// Constants are printed by the settings. A line goes on to the column `wrap` before the next member of a list has one of
/// its own; 0 gives each its own, and below 0 none has.
pub fn view_definition(
    view: &Arc<Relation>,
    schema: &dyn Schema,
    context: &Context,
    settings: &Settings,
    pretty: bool,
    wrap: i32,
) -> Option<String> {
    let (definition, pins) = view.definition()?;
    let mut binder = Binder::detached(schema, context);
    binder.shown = Some(Shown::default());
    let bound = binder.definition_query(&view.name, (definition, view.language), Some(pins)).ok()?;
    let mut query = bound.query;
    for (column, declared) in query.columns.iter_mut().zip(&view.columns) {
        column.name.clone_from(&declared.name);
    }
    let (shown, views) = (binder.shown.take()?, std::mem::take(&mut binder.views_behind));
    let world = World {
        shown,
        own: None,
        settings: Some(settings),
        views,
        schema,
        ctes: ctes_of(&query),
        wrap,
        level: RefCell::default(),
        levels: RefCell::default(),
        beside: RefCell::default(),
        params: None,
        pretty: false,
    };
    // PostgreSQL keeps a view as a rule, which has these two around its query.
    world.levels.borrow_mut().push(["old", "new"].map(str::to_owned).into());
    let text = world.query(&query, pretty, &Titles { columns: Some(&query.columns), always: true })?;
    Some(text + ";")
}

/// An expression over a relation as PostgreSQL prints it, with what queries it has; `None` when a part of it has no printed
/// form.
pub fn policy_expression(
    text: &str,
    relation: &Arc<Relation>,
    schema: &dyn Schema,
    context: &Context,
    pretty: bool,
) -> Option<String> {
    let mut binder = Binder::detached(schema, context);
    let entry = Entry::of_relation(relation, crate::ir::Text::TABLE, None);
    binder.shown = Some(Shown::default());
    let expr = binder.stored(text, crate::Language::Postgres, vec![entry], super::binder::Clause::Policy).ok()?;
    let mut ctes = HashMap::new();
    crate::ir::walk::expr(&expr, &mut |part| {
        match &part.kind {
            ExprKind::Scalar(query) | ExprKind::Exists(query) | ExprKind::ArrayQuery(query) => {
                ctes.extend(ctes_of(query))
            }
            ExprKind::InQuery { query, .. } | ExprKind::Quantified { query, .. } => ctes.extend(ctes_of(query)),
            _ => {}
        }
        true
    });
    let (shown, views) = (binder.shown.take()?, std::mem::take(&mut binder.views_behind));
    let (level, levels) = (RefCell::default(), RefCell::default());
    let (own, settings, params) = (Some(&**relation), None, None);
    let world = World {
        shown,
        own,
        settings,
        views,
        schema,
        ctes,
        wrap: 0,
        level,
        levels,
        beside: RefCell::default(),
        params,
        pretty,
    };
    world.expr(&expr, pretty)
}

fn ctes_of(query: &Query) -> HashMap<CteId, String> {
    let mut found = HashMap::new();
    each_query(query, &mut |query| found.extend(query.ctes.iter().map(|cte| (cte.id, cte.name.clone()))));
    found
}

fn each_query(query: &Query, visit: &mut dyn FnMut(&Query)) {
    fn of_from(from: &From, visit: &mut dyn FnMut(&Query)) {
        match from {
            From::Query { query, .. } => each_query(query, visit),
            From::Join { left, right, .. } => {
                of_from(left, visit);
                of_from(right, visit);
            }
            _ => {}
        }
    }
    visit(query);
    for cte in &query.ctes {
        if let CteBody::Query(query) = &cte.body {
            each_query(query, visit);
        }
    }
    match &query.body {
        Body::Select(select) => {
            if let Some(from) = &select.from {
                of_from(from, visit);
            }
        }
        Body::Set { left, right, .. } => {
            each_query(left, visit);
            each_query(right, visit);
        }
        Body::Values(_) => {}
    }
}

/// What the parts of a query are called.
struct World<'a> {
    shown: Shown,
    /// The relation over which an expression stands that is no query.
    own: Option<&'a Relation>,
    settings: Option<&'a Settings>,
    views: HashMap<RelId, Arc<Relation>>,
    schema: &'a dyn Schema,
    ctes: HashMap<CteId, String>,
    /// How far a line may go on.
    wrap: i32,
    /// What relations and their columns are called, in all levels that have been met.
    level: RefCell<names::Level>,
    /// Names of the query levels around.
    levels: RefCell<Vec<HashSet<String>>>,
    /// The relations of the FROM that is being printed.
    beside: RefCell<Vec<RelId>>,
    /// It is a function's.
    params: Option<bodies::Params<'a>>,
    /// Changes are printed without needless parentheses.
    pretty: bool,
}

/// How result columns are called.
#[derive(Clone, Copy)]
struct Titles<'a> {
    /// By whoever stands around; else as the query says.
    columns: Option<&'a [OutputColumn]>,
    /// Even those that have no name of their own.
    always: bool,
}

/// A query's own names.
const OWN: Titles<'static> = Titles { columns: None, always: true };
/// Names of result columns that nobody sees.
const UNSEEN: Titles<'static> = Titles { columns: None, always: false };

/// PostgreSQL's indentation.
const STEP: i32 = 8;

/// A text that grows clause by clause.
#[derive(Default)]
struct Text {
    out: String,
    indent: i32,
}

impl Text {
    /// A word on a line of its own.
    fn line(&mut self, word: &str, before: i32, after: i32, plus: i32) {
        self.indent += before;
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
        let blanks = self.indent.max(0) + plus;
        self.out.extend(std::iter::repeat_n(' ', usize::try_from(blanks).unwrap_or(0)));
        self.out.push_str(word);
        self.indent = (self.indent + after).max(0);
    }

    fn clause(&mut self, word: &str, plus: i32) {
        self.line(word, -STEP, STEP, plus);
    }

    /// The next member of a list: on a line of its own where it does not fit, or where the one before it took several.
    fn member(&mut self, printed: &str, wrap: i32, after_several: bool) {
        if wrap >= 0 && !printed.starts_with('\n') {
            let begun = self.out.rfind('\n').map_or(0, |at| at + 1);
            let full = self.out.len() - begun + printed.len() > usize::try_from(wrap).unwrap_or(0);
            if full || after_several {
                self.line("", -STEP, STEP, 4);
            }
        }
        match wrap {
            // What is left as it is keeps even the blank at a line's end.
            ..0 => self.out.push_str(&printed.replace('\n', &self.margin())),
            _ => self.nested(printed),
        }
    }

    /// The next member of FROM, whose further lines stand where they should.
    fn member_as_is(&mut self, printed: &str, wrap: i32) {
        if wrap >= 0 {
            let begun = self.out.rfind('\n').map_or(0, |at| at + 1);
            if self.out.len() - begun + printed.len() > usize::try_from(wrap).unwrap_or(0) {
                self.line("", -STEP, STEP, 4);
            }
        }
        self.out.push_str(printed);
    }

    /// The end of a line with what the next one begins with.
    fn margin(&self) -> String {
        format!("\n{}", " ".repeat(usize::try_from(self.indent.max(0)).unwrap_or(0)))
    }

    /// A text whose further lines keep their distance.
    fn nested(&mut self, text: &str) {
        let margin = self.margin();
        if text.starts_with('\n') {
            self.out.truncate(self.out.trim_end_matches(' ').len());
        }
        self.out.push_str(&text.replace('\n', &margin));
    }
}

/// What carries the state of users' aggregates.
const STORED_AGGREGATE: &str = "stored aggregate";

impl Names for World<'_> {
    fn settings(&self) -> Option<&Settings> {
        self.settings
    }

    fn column(&self, column: ColumnRef) -> Option<String> {
        // Outside of all queries an expression over one relation names its columns alone.
        if let Some(own) = self.own.filter(|_| column.relation == crate::ir::Text::TABLE) {
            let ColumnIndex::At(at) = column.column else { return None };
            let name = quote(&own.columns.get(at)?.name);
            let alone = self.levels.borrow().is_empty();
            return Some(if alone { name } else { format!("{}.{name}", quote(&own.name)) });
        }
        let name = quote(&self.column_name(column)?);
        let called = self.called(column.relation);
        Some(called.map_or_else(|| name.clone(), |called| format!("{}.{name}", quote(&called))))
    }

    fn row(&self, members: &[Expr]) -> Option<String> {
        let first = super::expr::columns::column_of(members.first()?)?.relation;
        let place = |member: &Expr| match super::expr::columns::column_of(member)? {
            ColumnRef { relation, column: ColumnIndex::At(at) } if relation == first => Some(at),
            _ => None,
        };
        let places = members.iter().map(place).collect::<Option<Vec<usize>>>()?;
        if let Some(own) = self.own.filter(|_| first == crate::ir::Text::TABLE) {
            let all: Vec<usize> = (0..own.columns.len()).collect();
            return (places == all).then(|| format!("{}.*", quote(&own.name)));
        }
        let member = self.shown.members.get(&first)?;
        let all: Vec<usize> = member.columns.iter().filter_map(|slot| slot.at).collect();
        (places == all).then(|| Some(format!("{}.*", quote(&self.called(first)?))))?
    }

    fn type_words(&self, ty: &crate::Type) -> String {
        super::regtype::words_in(self.schema, ty)
    }

    fn collation(&self, collation: &crate::collation::Collation) -> String {
        collation.shown_in(self.schema)
    }

    fn object(&self, reg: Reg, oid: u32) -> Option<String> {
        match reg {
            Reg::Class => {
                let (namespace, name) = self.schema.class_name(oid)?;
                let bare = QualifiedName::bare(name.clone());
                let visible = self.schema.relation(&bare).map(|found| found.oid);
                let visible = visible.or_else(|| self.schema.sequence(&bare).map(|found| found.oid));
                let visible =
                    visible.or_else(|| self.schema.index(&bare).map(|(relation, at)| relation.indexes[at].oid));
                let name = quote(&name);
                Some(if visible == Some(oid) { name } else { format!("{}.{name}", quote(&namespace)) })
            }
            Reg::Type => super::regtype::shown_in(self.schema, oid, None),
            Reg::Oper | Reg::Operator | Reg::Proc | Reg::Procedure => super::regproc::name(self.schema, reg, oid),
            Reg::Config | Reg::Dictionary => {
                self.schema.search_object_by_oid(oid).map(|object| object.shown(self.schema))
            }
            Reg::Collation => {
                let own = crate::collation::Collation::by_oid(oid)?;
                Some(quote(&own.name))
            }
            Reg::Namespace | Reg::Role => None,
        }
    }

    fn routine(&self, oid: u32) -> Option<String> {
        let function = self.schema.function_by_oid(oid)?;
        let found = self.schema.functions(&QualifiedName::bare(function.name.clone()));
        Some(if found.iter().any(|found| found.namespace == function.namespace) {
            quote(&function.name)
        } else {
            format!("{}.{}", quote(&function.namespace), quote(&function.name))
        })
    }

    fn operator(&self, oid: u32) -> Option<String> {
        super::regproc::operator_sign(self.schema, oid)
    }

    fn other(&self, expr: &Expr, pretty: bool) -> Option<String> {
        match &expr.kind {
            ExprKind::Param(at) => {
                let alone = self.levels.borrow().iter().all(HashSet::is_empty);
                self.params.as_ref()?.shown(*at, alone)
            }
            ExprKind::Aggregate(aggregate) => self.aggregate(aggregate, pretty),
            ExprKind::Window(call) => self.window(call, pretty),
            ExprKind::Scalar(query) => Some(format!("({})", self.query(query, pretty, &UNSEEN)?)),
            ExprKind::ArrayQuery(query) => Some(format!("ARRAY({})", self.query(query, pretty, &UNSEEN)?)),
            ExprKind::Exists(query) => Some(format!("(EXISTS ({}))", self.query(query, pretty, &UNSEEN)?)),
            ExprKind::InQuery { row, negated, query } => {
                let arg = match row.as_slice() {
                    [arg] => self.expr(arg, pretty)?,
                    row => format!("({})", self.exprs(row, pretty)?),
                };
                let test = format!("({arg} IN ({}))", self.query(query, pretty, &UNSEEN)?);
                Some(if *negated { format!("(NOT {test})") } else { test })
            }
            ExprKind::Quantified { op, all, arg, query } => {
                let word = if *all { "ALL" } else { "ANY" };
                let arg = match &arg.kind {
                    ExprKind::Row(row) if query.columns.len() > 1 => format!("({})", self.exprs(row, pretty)?),
                    _ => self.expr(arg, pretty)?,
                };
                Some(format!("({arg} {} {word} ({}))", op.sign(), self.query(query, pretty, &UNSEEN)?))
            }
            ExprKind::Compare { op, left, right } => {
                let (ExprKind::Row(members), ExprKind::Scalar(query)) = (&left.kind, &right.kind) else { return None };
                let (row, query) = (self.exprs(members, pretty)?, self.query(query, pretty, &UNSEEN)?);
                let row = if members.len() == 1 { row } else { format!("({row})") };
                Some(format!("({row} {} ({query}))", op.sign()))
            }
            _ => None,
        }
    }
}

impl World<'_> {
    fn expr(&self, expr: &Expr, pretty: bool) -> Option<String> {
        print::expression(expr, self, pretty)
    }

    fn arguments(&self, exprs: &[Expr], pretty: bool) -> Option<String> {
        let texts: Option<Vec<String>> = exprs.iter().map(|expr| print::argument(expr, self, pretty)).collect();
        Some(print::joined(&texts?))
    }

    fn exprs(&self, exprs: &[Expr], pretty: bool) -> Option<String> {
        let texts: Option<Vec<String>> = exprs.iter().map(|expr| self.expr(expr, pretty)).collect();
        Some(print::joined(&texts?))
    }

    /// What rows are grouped by, or told apart.
    fn group_keys(&self, keys: &[Expr], pretty: bool) -> Option<String> {
        let texts: Option<Vec<String>> = keys.iter().map(|key| print::key(key, self, pretty)).collect();
        Some(print::joined(&texts?))
    }

    /// The name by which a relation's columns are called; a join without a name has none.
    fn called(&self, id: RelId) -> Option<String> {
        self.level.borrow().names.get(&id).cloned()
    }

    /// A column's name, alone.
    fn column_name(&self, column: ColumnRef) -> Option<String> {
        let ColumnIndex::At(at) = column.column else { return None };
        let level = self.level.borrow();
        level.columns.get(&column.relation)?.at(at).map(str::to_owned)
    }

    /// Gives the relations of a query names that no query around it has taken.
    fn enter(&self, query: &Query) {
        let from = match &query.body {
            Body::Select(select) => select.from.as_ref(),
            Body::Set { .. } | Body::Values(_) => None,
        };
        let taken = |name: &str| self.levels.borrow().iter().any(|level| level.contains(name));
        let level = from.map(|from| names::Level::of(from, &self.shown, &taken)).unwrap_or_default();
        let names = level.names.values().cloned().collect();
        self.level.borrow_mut().names.extend(level.names);
        self.level.borrow_mut().columns.extend(level.columns);
        self.levels.borrow_mut().push(names);
    }

    /// A relation as it is called now.
    fn today(&self, relation: &Arc<Relation>) -> Arc<Relation> {
        self.schema.relation_by_oid(relation.oid).unwrap_or_else(|| relation.clone())
    }

    fn relation_name(&self, relation: &Arc<Relation>) -> String {
        let relation = self.today(relation);
        let visible = self.schema.relation(&QualifiedName::bare(relation.name.clone()));
        if visible.is_some_and(|found| found.oid == relation.oid) {
            quote(&relation.name)
        } else {
            format!("{}.{}", quote(&relation.namespace), quote(&relation.name))
        }
    }

    /// Name, arguments and number of written sort keys of a call of a user's aggregate.
    fn stored_aggregate<'e>(&self, args: &'e [Expr]) -> Option<(String, &'e [Expr], usize)> {
        let [Expr { kind: ExprKind::Literal(crate::ir::Value::Text(plan)), .. }, _, args @ ..] = args else {
            return None;
        };
        let plan = Plan::from_text(plan)?;
        Some((self.routine(plan.aggregate)?, args, plan.keys?))
    }

    fn aggregate(&self, aggregate: &Aggregate, pretty: bool) -> Option<String> {
        let (mut name, mut args) = (quote(aggregate.function.name), aggregate.args.as_slice());
        let mut order_by = aggregate.order_by.as_slice();
        if aggregate.function.name == STORED_AGGREGATE {
            let keys;
            (name, args, keys) = self.stored_aggregate(args)?;
            order_by = order_by.get(..keys)?;
        }
        let mut text = format!("{name}(");
        if functions::is_within_group(aggregate.function) {
            text.push_str(&self.arguments(&aggregate.direct, pretty)?);
            write!(text, ") WITHIN GROUP (ORDER BY {})", self.keys(&aggregate.order_by, None, pretty)?).ok()?;
            if let Some(filter) = &aggregate.filter {
                write!(text, " FILTER (WHERE {})", self.expr(filter, pretty)?).ok()?;
            }
            return Some(text);
        }
        if aggregate.distinct {
            text.push_str("DISTINCT ");
        }
        text.push_str(&if args.is_empty() { "*".to_owned() } else { self.arguments(args, pretty)? });
        if !order_by.is_empty() {
            text.push_str(" ORDER BY ");
            text.push_str(&self.keys(order_by, None, pretty)?);
        }
        text.push(')');
        if let Some(filter) = &aggregate.filter {
            write!(text, " FILTER (WHERE {})", self.expr(filter, pretty)?).ok()?;
        }
        Some(text)
    }

    fn window(&self, call: &WindowCall, pretty: bool) -> Option<String> {
        let of_aggregate = call.function.kind == crate::functions::FunctionKind::Aggregate;
        let (mut name, mut args) = (quote(call.function.name), call.args.as_slice());
        if call.function.name == STORED_AGGREGATE {
            (name, args, _) = self.stored_aggregate(args)?;
        }
        let star = args.is_empty() && of_aggregate;
        let args = if star { "*".to_owned() } else { self.exprs(args, pretty)? };
        let mut text = format!("{name}({args})");
        if let Some(filter) = &call.filter {
            write!(text, " FILTER (WHERE {})", self.expr(filter, pretty)?).ok()?;
        }
        let mut parts = Vec::new();
        if !call.partition_by.is_empty() {
            parts.push(format!("PARTITION BY {}", self.group_keys(&call.partition_by, pretty)?));
        }
        if !call.order_by.is_empty() {
            parts.push(format!("ORDER BY {}", self.keys(&call.order_by, None, pretty)?));
        }
        if let Some(frame) = &call.frame {
            parts.push(self.frame(frame, pretty)?);
        }
        write!(text, " OVER ({})", parts.join(" ")).ok()?;
        Some(text)
    }

    fn frame(&self, frame: &Frame, pretty: bool) -> Option<String> {
        let unit = match frame.unit {
            FrameUnit::Groups => "GROUPS",
            FrameUnit::Range => "RANGE",
            FrameUnit::Rows => "ROWS",
        };
        let bound = |bound: &FrameBound| -> Option<String> {
            Some(match bound {
                FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
                FrameBound::Preceding(by) => format!("{} PRECEDING", self.expr(by, pretty)?),
                FrameBound::CurrentRow => "CURRENT ROW".to_owned(),
                FrameBound::Following(by) => format!("{} FOLLOWING", self.expr(by, pretty)?),
                FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
            })
        };
        let exclude = match frame.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
            FrameExclude::Group => " EXCLUDE GROUP",
            FrameExclude::Ties => " EXCLUDE TIES",
        };
        Some(format!("{unit} BETWEEN {} AND {}{exclude}", bound(&frame.start)?, bound(&frame.end)?))
    }

    /// Sort keys; those that name a result column are printed as what it is, or by its number.
    fn keys(&self, keys: &[SortKey], query: Option<&Query>, pretty: bool) -> Option<String> {
        let mut texts = Vec::with_capacity(keys.len());
        for key in keys {
            let result = match (key.expr.kind.clone(), query) {
                (ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }), Some(query))
                    if relation == query.output =>
                {
                    Some((at, query))
                }
                _ => None,
            };
            let mut text = match result {
                Some((at, Query { body: Body::Select(select), .. })) => {
                    print::key(select.items.get(at)?, self, pretty)?
                }
                Some((at, _)) => (at + 1).to_string(),
                None => print::key(&key.expr, self, pretty)?,
            };
            text.push_str(match (key.descending, key.nulls_first) {
                (false, false) => "",
                (false, true) => " NULLS FIRST",
                (true, true) => " DESC",
                (true, false) => " DESC NULLS LAST",
            });
            texts.push(text);
        }
        Some(print::joined(&texts))
    }

    /// A query, beginning with a blank.
    fn query(&self, query: &Query, pretty: bool, titles: &Titles<'_>) -> Option<String> {
        self.enter(query);
        let text = self.named_query(query, pretty, titles);
        self.levels.borrow_mut().pop();
        text
    }

    fn named_query(&self, query: &Query, pretty: bool, titles: &Titles<'_>) -> Option<String> {
        let mut text = Text::default();
        self.with(query, pretty, &mut text)?;
        match &query.body {
            Body::Select(select) => self.select(query, select, pretty, titles, &mut text)?,
            Body::Values(rows) => {
                text.indent += STEP;
                let rows = self.rows(rows, pretty)?;
                let titles = titles.columns.unwrap_or_default().iter().enumerate();
                let titled: Vec<_> = titles.map(|(at, column)| (format!("column{}", at + 1), &column.name)).collect();
                if titled.iter().all(|(own, title)| own == *title) {
                    write!(text.out, " {rows}").ok()?;
                } else {
                    text.out.push_str(" SELECT");
                    for (at, (own, title)) in titled.iter().enumerate() {
                        text.out.push_str(if at == 0 { " " } else { ", " });
                        if at > 0 {
                            text.line("", -STEP, STEP, 4);
                        }
                        write!(text.out, "\"*VALUES*\".{own}").ok()?;
                        if own != *title {
                            write!(text.out, " AS {}", quote(title)).ok()?;
                        }
                    }
                    text.clause(" FROM ", 2);
                    write!(text.out, "({rows}) \"*VALUES*\"").ok()?;
                }
            }
            Body::Set { .. } => {
                self.set(query, pretty, titles, &mut text)?;
            }
        }
        if !query.order_by.is_empty() {
            text.clause(" ORDER BY ", 1);
            let keys = self.keys(&query.order_by, Some(query), pretty)?;
            text.nested(&keys);
        }
        if let Some(offset) = &query.offset {
            text.clause(" OFFSET ", 0);
            text.nested(&self.expr(offset, pretty)?);
        }
        if let Some(limit) = &query.limit {
            let count = self.expr(limit, pretty)?;
            if query.with_ties {
                text.clause(" FETCH FIRST ", 0);
                write!(text.out, "({count}) ROWS WITH TIES").ok()?;
            } else {
                text.clause(" LIMIT ", 0);
                let all = matches!(limit.kind, ExprKind::Literal(crate::ir::Value::Null));
                text.nested(if all { "ALL" } else { &count });
            }
        }
        if !query.locking.is_empty() {
            return None;
        }
        Some(text.out)
    }

    /// `VALUES (…), (…)`
    fn rows(&self, rows: &[Vec<Expr>], pretty: bool) -> Option<String> {
        let row = |row: &Vec<Expr>| {
            let values: Option<Vec<String>> = row.iter().map(|value| self.expr(value, pretty)).collect();
            Some(format!("({})", values?.join(",")))
        };
        let rows: Option<Vec<String>> = rows.iter().map(row).collect();
        Some(format!("VALUES {}", rows?.join(", ")))
    }

    fn with(&self, query: &Query, pretty: bool, text: &mut Text) -> Option<()> {
        if query.ctes.is_empty() {
            return Some(());
        }
        text.indent += STEP;
        let recursive = query.ctes.iter().any(|cte| cte.recursive);
        text.out.push_str(if recursive { " WITH RECURSIVE " } else { " WITH " });
        for (at, cte) in query.ctes.iter().enumerate() {
            if at > 0 {
                text.out.push_str(", ");
            }
            text.out.push_str(&quote(&cte.name));
            if self.shown.named_columns.contains(&cte.id) {
                let count = match &cte.body {
                    CteBody::Query(body) => body.columns.len(),
                    CteBody::Dml(_) => cte.columns.len(),
                };
                let columns: Vec<String> = cte.columns[..count].iter().map(|column| quote(&column.name)).collect();
                write!(text.out, "({})", columns.join(", ")).ok()?;
            }
            text.out.push_str(match cte.materialized {
                None => " AS (",
                Some(true) => " AS MATERIALIZED (",
                Some(false) => " AS NOT MATERIALIZED (",
            });
            let CteBody::Query(body) = &cte.body else { return None };
            text.line("", 0, 0, 0);
            let body = self.query(body, pretty, &OWN)?;
            text.nested(&body);
            text.line(")", 0, 0, 0);
            if let Some(added) = self.shown.added.get(&cte.id) {
                self.added_columns(added, pretty, text)?;
            }
        }
        text.line("", -STEP, 0, 0);
        Some(())
    }

    /// SEARCH and CYCLE behind a member of WITH.
    fn added_columns(&self, added: &Added, pretty: bool, text: &mut Text) -> Option<()> {
        let list = |names: &[String]| names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
        if let Some(search) = &added.search {
            let which = if search.breadth { "BREADTH" } else { "DEPTH" };
            let (columns, sequence) = (list(&search.columns), quote(&search.sequence));
            write!(text.out, " SEARCH {which} FIRST BY {columns} SET {sequence}").ok()?;
        }
        if let Some(cycle) = &added.cycle {
            write!(text.out, " CYCLE {} SET {}", list(&cycle.columns), quote(&cycle.mark)).ok()?;
            if cycle.value != Expr::bool(true) || cycle.default != Expr::bool(false) {
                let (value, default) = (self.expr(&cycle.value, pretty)?, self.expr(&cycle.default, pretty)?);
                write!(text.out, " TO {value} DEFAULT {default}").ok()?;
            }
            write!(text.out, " USING {}", quote(&cycle.path)).ok()?;
        }
        Some(())
    }

    fn select(&self, query: &Query, select: &Select, pretty: bool, titles: &Titles<'_>, text: &mut Text) -> Option<()> {
        text.indent += STEP;
        text.out.push_str(" SELECT");
        match &select.distinct {
            Distinct::All => {}
            Distinct::Rows => text.out.push_str(" DISTINCT"),
            Distinct::On(keys) => {
                write!(text.out, " DISTINCT ON ({})", self.group_keys(keys, pretty)?).ok()?;
            }
        }
        let columns = titles.columns.unwrap_or(&query.columns);
        self.targets(columns, &select.items, pretty, titles.always, text)?;
        if let Some(from) = &select.from {
            text.clause(" FROM ", 2);
            self.members(from, pretty, text)?;
        }
        if let Some(filter) = &select.filter {
            text.clause(" WHERE ", 1);
            text.nested(&self.expr(filter, pretty)?);
        }
        match &select.group_by {
            GroupBy::None => {}
            GroupBy::Keys(keys) => {
                text.clause(" GROUP BY ", 1);
                text.nested(&self.group_keys(keys, pretty)?);
            }
            GroupBy::Sets { keys, .. } => {
                let grouping = self.shown.groupings.get(&query.output)?;
                text.clause(if grouping.distinct { " GROUP BY DISTINCT " } else { " GROUP BY " }, 1);
                let shapes: Option<Vec<String>> =
                    grouping.shapes.iter().map(|shape| self.grouping(shape, keys, true, pretty)).collect();
                text.nested(&shapes?.join(", "));
            }
        }
        if let Some(having) = &select.having {
            text.clause(" HAVING ", 0);
            text.nested(&self.expr(having, pretty)?);
        }
        Some(())
    }

    /// A part of a GROUP BY of several sets; a key alone has no parentheses where it is not `bare`.
    fn grouping(&self, shape: &GroupingShape, keys: &[Expr], bare: bool, pretty: bool) -> Option<String> {
        match shape {
            GroupingShape::Keys(places) => {
                let members: Option<Vec<Expr>> = places.iter().map(|at| keys.get(*at).cloned()).collect();
                let members = self.group_keys(&members?, pretty)?;
                Some(if bare && places.len() == 1 { members } else { format!("({members})") })
            }
            GroupingShape::Of(word, inner) => {
                // The members of ROLLUP and CUBE are keys, those of GROUPING SETS are sets.
                let bare = *word != "GROUPING SETS (";
                let inner: Option<Vec<String>> =
                    inner.iter().map(|shape| self.grouping(shape, keys, bare, pretty)).collect();
                Some(format!("{word}{})", inner?.join(", ")))
            }
        }
    }

    fn targets(
        &self,
        columns: &[OutputColumn],
        items: &[Expr],
        pretty: bool,
        always: bool,
        text: &mut Text,
    ) -> Option<()> {
        let mut several = false;
        for (at, (item, column)) in items.iter().zip(columns).enumerate() {
            let mut printed = self.expr(item, pretty)?;
            // By itself it would be each of its columns.
            if let ExprKind::Row(members) = &item.kind
                && self.row(members).is_some()
            {
                write!(printed, "::{}", self.type_words(&item.ty)).ok()?;
            }
            let own = super::expr::columns::column_of(item).and_then(|column| self.column_name(column));
            let nameless = own.is_none() && !always && column.name == "?column?";
            if own.as_ref() != Some(&column.name) && !nameless {
                write!(printed, " AS {}", quote(&column.name)).ok()?;
            }
            text.out.push_str(if at == 0 { " " } else { ", " });
            match at {
                0 => text.nested(&printed),
                _ => text.member(&printed, self.wrap, several),
            }
            several = printed.trim_start_matches('\n').contains('\n');
        }
        Some(())
    }

    /// UNION and its kin; operations inside of others stand in parentheses unless they continue the one to the left.
    fn set(&self, query: &Query, pretty: bool, titles: &Titles<'_>, text: &mut Text) -> Option<()> {
        let Body::Set { op, all, left, right } = &query.body else { return None };
        let inside = |side: &Query| match &side.body {
            Body::Set { op, all, .. } if is_plain(side) => Some((*op, *all)),
            _ => None,
        };
        let same = inside(left).is_none_or(|own| own == (*op, *all));
        if same {
            self.side(left, pretty, titles, text)?;
            text.line("", 0, 0, 0);
        } else {
            text.out.push('(');
            text.line("", STEP, 0, 0);
            self.side(left, pretty, titles, text)?;
            text.line(") ", -STEP, 0, 0);
        }
        text.out.push_str(match op {
            SetOp::Union => "UNION ",
            SetOp::Intersect => "INTERSECT ",
            SetOp::Except => "EXCEPT ",
        });
        if *all {
            text.out.push_str("ALL ");
        }
        let unseen = Titles { always: false, ..*titles };
        if inside(right).is_none() {
            text.line("", 0, 0, 0);
            return self.side(right, pretty, &unseen, text);
        }
        text.out.push('(');
        text.line("", STEP, 0, 0);
        self.side(right, pretty, &unseen, text)?;
        text.indent -= STEP;
        text.line(")", 0, 0, 0);
        Some(())
    }

    /// A side of a set operation.
    fn side(&self, side: &Query, pretty: bool, titles: &Titles<'_>, text: &mut Text) -> Option<()> {
        if is_plain(side) {
            if matches!(side.body, Body::Set { .. }) {
                return self.set(side, pretty, titles, text);
            }
            let side = self.query(side, pretty, titles)?;
            text.nested(&side);
            return Some(());
        }
        let side = self.query(side, pretty, titles)?;
        text.nested(&format!("({side})"));
        Some(())
    }
}

/// A query without anything around its body.
fn is_plain(query: &Query) -> bool {
    query.ctes.is_empty() && query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none()
}
