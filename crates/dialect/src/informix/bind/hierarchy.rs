//! CONNECT BY: a recursive query that goes down before it goes on, and what may be asked of its rows.
//!
//! The rows of the FROM clause are bound thrice: as those that START WITH finds (the roots), as those that are found
//! below a row (the children), and, where it is asked whether a row has any, once more. What a row takes with it from
//! those above it (LEVEL, CONNECT_BY_ROOT, SYS_CONNECT_BY_PATH) is a column of the recursive query.

use super::Binder;
use super::coerce::call;
use super::expr::sortable;
use super::query::all_of;
use super::scope::{Scope, Visible};
use crate::informix::ast::{Body, Connect, Item, Node, NodeKind, OrderKey, Query, Select, Source};
use crate::informix::types::LVARCHAR_MAX;
use crate::ir::{self, Cte, CteBody, CteId, Expr, ExprKind, From, OutputColumn, RelId, SortKey};
use crate::{Condition, Error, Result, Type};

/// A hierarchical query whose clauses are being bound.
pub(super) struct Hierarchy {
    connect: Connect,
    source: Source,
    /// The rows, as the other clauses name them.
    id: RelId,
    cte: CteId,
    /// The row above, as the step names it.
    parent: RelId,
    root: From,
    roots: Scope,
    start: Option<Expr>,
    child: From,
    children: Scope,
    condition: Expr,
    /// What stands behind PRIOR: rows that are alike in it have the same rows below them.
    prior: Vec<Node>,
    /// The columns of the recursive query, of a root and of a child: those of FROM, LEVEL, what else is taken along.
    columns: Vec<Carried>,
    /// Where LEVEL is among them.
    level: usize,
    /// Where the keys of the rows above are; nowhere without PRIOR, whose condition asks nothing of them.
    above: Option<usize>,
    /// What the other clauses see of it, by position.
    shown: Vec<Shown>,
    /// ORDER SIBLINGS BY, by columns.
    siblings: Vec<(usize, bool, bool)>,
}

/// A column of the recursive query.
struct Carried {
    kind: Kind,
    name: String,
    root: Expr,
    child: Expr,
}

/// Why a column is in the recursive query.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Own,
    Root,
    Path,
    Sibling,
}

/// A column that the other clauses see.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Shown {
    /// This one of the recursive query.
    Column(usize),
    Leaf,
    Cycle,
}

impl Hierarchy {
    fn outputs(&self) -> Vec<OutputColumn> {
        let outputs = self.columns.iter().map(|column| (&column.name, &column.root.ty));
        outputs.map(|(name, ty)| OutputColumn { name: name.clone(), ty: ty.clone() }).collect()
    }

    /// True when the other clauses see each column where it is.
    fn in_place(&self) -> bool {
        self.shown.iter().enumerate().all(|(at, shown)| *shown == Shown::Column(at))
    }

    /// The position of something that the other clauses ask for.
    fn show(&mut self, asked: Shown) -> usize {
        self.shown.iter().position(|shown| *shown == asked).unwrap_or_else(|| {
            self.shown.push(asked);
            self.shown.len() - 1
        })
    }
}

impl Binder<'_> {
    /// Binds START WITH and CONNECT BY over a FROM clause; what yields the rows comes with [`Binder::climbed`].
    pub(super) fn hierarchy(&mut self, connect: &Connect, sources: &[Source]) -> Result<From> {
        let source = match sources {
            [source @ (Source::Table { .. } | Source::Query { .. } | Source::Expression { .. })] => source,
            _ => {
                return self.unsupported(
                    "CONNECT BY over several tables (a derived table of their join can stand in FROM)",
                    connect.at,
                );
            }
        };
        let (id, cte, parent) = (self.ids.relation(), self.ids.cte(), self.ids.relation());
        let own = self.scopes.pop().unwrap_or_default();
        let (root, mut roots) = self.source_alone(source)?;
        roots.level = Some(Expr::integer(1, Type::Int4));
        let rows = roots.relations.first().cloned().ok_or_else(|| Error::internal("a FROM clause without a table"))?;
        let again = std::mem::replace(&mut self.again, true);
        let (child, mut children) = self.source_alone(source)?;
        self.again = again;
        for visible in &mut children.relations {
            visible.behind = rows.behind;
        }
        let level = rows.columns.len();
        let above = |id| Visible { id, relation: None, ..rows.clone() };
        children.prior = Some(Box::new(Scope { relations: vec![above(parent)], ..Scope::default() }));
        let one = Expr::integer(1, Type::Int4);
        let next = self.resolved("+", vec![Expr::column(parent, level, Type::Int4), one.clone()], connect.at)?;
        children.level = Some(next.clone());

        let start = match &connect.start {
            Some(start) => Some(self.within(&roots, |binder| binder.condition(start))?),
            None => None,
        };
        let outside = std::mem::take(&mut self.prior);
        let condition = self.within(&children, |binder| binder.condition(&connect.condition))?;
        let prior = std::mem::replace(&mut self.prior, outside);

        let mut columns = Vec::new();
        for (at, column) in rows.columns.iter().enumerate() {
            let of = |scope: &Scope| Expr::column(scope.relations[0].id, at, column.ty.clone());
            columns.push(Carried {
                kind: Kind::Own,
                name: column.name.clone(),
                root: of(&roots),
                child: of(&children),
            });
        }
        columns.push(Carried { kind: Kind::Own, name: "level".to_owned(), root: one, child: next });
        let mut hierarchy = Hierarchy {
            connect: connect.clone(),
            source: source.clone(),
            id,
            cte,
            parent,
            root,
            roots,
            start,
            child,
            children,
            condition,
            prior,
            columns,
            level,
            above: None,
            shown: (0..=level).map(Shown::Column).collect(),
            siblings: Vec::new(),
        };
        if !hierarchy.prior.is_empty() {
            let none = Expr::new(ExprKind::Literal(ir::Value::Text(String::new())), Type::Text);
            let root = self.key("ifx_connect_path", none, &hierarchy.roots, &hierarchy.prior, Type::Text)?;
            hierarchy.above = Some(level + 1);
            let before = Expr::column(parent, level + 1, Type::Text);
            let child = self.key("ifx_connect_path", before, &hierarchy.children, &hierarchy.prior, Type::Text)?;
            hierarchy.columns.push(Carried { kind: Kind::Own, name: "above".to_owned(), root, child });
        }
        let mut own = own;
        own.level = Some(Expr::column(id, level, Type::Int4));
        own.hierarchy = Some(self.hierarchies.len());
        own.relations.push(above(id));
        self.scopes.push(own);
        self.hierarchies.push(hierarchy);
        Ok(From::Cte { id, cte, columns: Vec::new() })
    }

    /// The table of a FROM clause and a scope of it alone.
    fn source_alone(&mut self, source: &Source) -> Result<(From, Scope)> {
        self.scopes.push(Scope::default());
        let from = self.source(source);
        let scope = self.scopes.pop().unwrap_or_default();
        Ok((from?, scope))
    }

    /// Binds something inside of a scope, where no aggregate can stand.
    fn within<T>(&mut self, scope: &Scope, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let place = std::mem::take(&mut self.place);
        self.scopes.push(scope.clone());
        let bound = bind(self);
        self.scopes.pop();
        self.place = place;
        bound
    }

    /// A function over the keys of the rows above and the row's own.
    fn key(&mut self, name: &'static str, above: Expr, scope: &Scope, prior: &[Node], ty: Type) -> Result<Expr> {
        let mut args = vec![above];
        let again = std::mem::replace(&mut self.again, true);
        for node in prior {
            args.push(self.within(scope, |binder| {
                let value = binder.expr(node)?;
                binder.decided(value, node.at)
            })?);
        }
        self.again = again;
        Ok(call(name, args, ty))
    }

    /// What stands behind PRIOR.
    pub(super) fn prior(&mut self, operand: &Node, at: usize) -> Result<Expr> {
        let Some(above) = self.scopes.iter().rev().find_map(|scope| scope.prior.clone()) else {
            return Err(self.error(Condition::SyntaxError, "PRIOR stands in CONNECT BY alone", at));
        };
        if !self.prior.contains(operand) {
            self.prior.push(operand.clone());
        }
        self.within(&above, |binder| {
            let value = binder.expr(operand)?;
            binder.decided(value, at)
        })
    }

    /// LEVEL, CONNECT_BY_ISLEAF or CONNECT_BY_ISCYCLE of a scope's rows; `None` for other names.
    pub(super) fn pseudo_column(&mut self, depth: usize, name: &str, at: usize) -> Result<Option<Expr>> {
        if name == "level" {
            return Ok(self.scopes[depth].level.clone());
        }
        let asked = match name {
            "connect_by_isleaf" => Shown::Leaf,
            "connect_by_iscycle" => Shown::Cycle,
            _ => return Ok(None),
        };
        let Some(number) = self.scopes[depth].hierarchy else { return Ok(None) };
        if asked == Shown::Cycle && !self.hierarchies[number].connect.nocycle {
            return Err(self.error(Condition::SyntaxError, "CONNECT_BY_ISCYCLE needs CONNECT BY NOCYCLE", at));
        }
        let hierarchy = &mut self.hierarchies[number];
        let position = hierarchy.show(asked);
        Ok(Some(Expr::column(hierarchy.id, position, Type::Int4)))
    }

    /// CONNECT_BY_ROOT.
    pub(super) fn of_root(&mut self, operand: &Node, at: usize) -> Result<Expr> {
        self.carried("CONNECT_BY_ROOT", at, |binder, hierarchy, column| {
            let root = binder.within(&hierarchy.roots, |binder| {
                let value = binder.expr(operand)?;
                binder.decided(value, at)
            })?;
            let ty = root.ty.clone();
            Ok(Carried {
                kind: Kind::Root,
                name: String::new(),
                root,
                child: Expr::column(hierarchy.parent, column, ty),
            })
        })
    }

    /// `SYS_CONNECT_BY_PATH(value, separator)`
    pub(super) fn path_of_values(&mut self, args: &[Node], at: usize) -> Result<Expr> {
        let [value, separator @ Node { kind: NodeKind::String(_), .. }] = args else {
            return Err(self.no_function("sys_connect_by_path", at));
        };
        let joined = Node {
            kind: NodeKind::Arithmetic("||", Box::new(separator.clone()), Box::new(value.clone())),
            at: value.at,
        };
        let ty = Type::Lvarchar(LVARCHAR_MAX);
        self.carried("SYS_CONNECT_BY_PATH", at, |binder, hierarchy, column| {
            let root = binder.within(&hierarchy.roots, |binder| {
                let part = binder.expr(&joined)?;
                binder.coerce(part, &ty, at)
            })?;
            let again = std::mem::replace(&mut binder.again, true);
            let part = binder.within(&hierarchy.children, |binder| {
                let part = binder.expr(&joined)?;
                binder.coerce(part, &ty, at)
            });
            binder.again = again;
            let child = binder.resolved("||", vec![Expr::column(hierarchy.parent, column, ty.clone()), part?], at)?;
            let child = binder.coerce(child, &ty, at)?;
            Ok(Carried { kind: Kind::Path, name: String::new(), root, child })
        })
    }

    /// A column that rows take along; one for all that ask for the same.
    fn carried(
        &mut self,
        what: &str,
        at: usize,
        bind: impl FnOnce(&mut Self, &Hierarchy, usize) -> Result<Carried>,
    ) -> Result<Expr> {
        let number = self.scopes.iter().rev().find_map(|scope| scope.hierarchy);
        if number.is_none_or(|number| number + 1 != self.hierarchies.len()) {
            let message = format!("{what} stands in the select list or ORDER BY of a query with CONNECT BY");
            return Err(self.error(Condition::SyntaxError, message, at));
        }
        // What is bound inside is no part of this query's own clauses.
        let own = self.scopes.pop().unwrap_or_default();
        let Some(mut hierarchy) = self.hierarchies.pop() else { return Err(Error::internal("no hierarchy is open")) };
        let column = hierarchy.columns.len();
        let bound = bind(self, &hierarchy, column);
        self.scopes.push(own);
        let shown = bound.map(|carried| {
            let alike = |other: &Carried| other.kind == carried.kind && other.root == carried.root;
            let column = hierarchy.columns.iter().position(alike).unwrap_or_else(|| {
                hierarchy.columns.push(carried);
                column
            });
            let position = hierarchy.show(Shown::Column(column));
            Expr::column(hierarchy.id, position, hierarchy.columns[column].root.ty.clone())
        });
        self.hierarchies.push(hierarchy);
        shown
    }

    /// ORDER SIBLINGS BY of the query whose hierarchy is the one of this number.
    pub(super) fn order_siblings(&mut self, query: &Query, number: usize) -> Result<()> {
        let select = match &query.body {
            Body::Select(select) if self.hierarchies.len() == number + 1 => select,
            _ => return Err(self.error(Condition::SyntaxError, "ORDER SIBLINGS BY needs CONNECT BY", query.at)),
        };
        if select.distinct || !select.group_by.is_empty() || select.having.is_some() {
            return self.unsupported("ORDER SIBLINGS BY of rows that are brought together", query.at);
        }
        let Some(mut hierarchy) = self.hierarchies.pop() else { return Ok(()) };
        for key in &query.order_by {
            let node = self.sibling_key(key, select)?;
            let root = self.within(&hierarchy.roots, |binder| binder.expr(node))?;
            let root = sortable(self.decided(root, node.at)?);
            let again = std::mem::replace(&mut self.again, true);
            let child = self.within(&hierarchy.children, |binder| binder.expr(node));
            self.again = again;
            let child = sortable(self.decided(child?, node.at)?);
            let nulls_first = key.nulls_first.unwrap_or(!key.descending);
            hierarchy.siblings.push((hierarchy.columns.len(), key.descending, nulls_first));
            hierarchy.columns.push(Carried { kind: Kind::Sibling, name: String::new(), root, child });
        }
        self.hierarchies.push(hierarchy);
        Ok(())
    }

    /// What a key of ORDER SIBLINGS BY sorts by: a place in the select list and a name that it gives count.
    fn sibling_key<'n>(&self, key: &'n OrderKey, select: &'n Select) -> Result<&'n Node> {
        match &key.expr.kind {
            NodeKind::Number(digits) => {
                let at = digits.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
                at.and_then(|at| select.items.get(at)).map(|item| &item.expr).ok_or_else(|| {
                    self.error(Condition::InvalidColumnNumber, "ORDER BY has no such column", key.expr.at)
                })
            }
            NodeKind::Name(names) => {
                let alias = |item: &&Item| match (&item.alias, &names[..]) {
                    (Some(alias), [name]) => alias.eq_ignore_ascii_case(name),
                    _ => false,
                };
                Ok(select.items.iter().find(alias).map_or(&key.expr, |item| &item.expr))
            }
            _ => Ok(&key.expr),
        }
    }

    /// The recursive query, and what the FROM clause is in its stead, when all clauses have been bound.
    pub(super) fn climbed(&mut self, hierarchy: Hierarchy) -> Result<(Cte, From)> {
        let outputs = hierarchy.outputs();
        let (mut root_items, mut child_items) = (Vec::new(), Vec::new());
        for column in &hierarchy.columns {
            root_items.push(column.root.clone());
            child_items.push(column.child.clone());
        }
        let from = if hierarchy.in_place() {
            From::Cte { id: hierarchy.id, cte: hierarchy.cte, columns: outputs.clone() }
        } else {
            self.asked_below(&hierarchy, &outputs)?
        };
        let mut roots = ir::Select::of(root_items, Some(hierarchy.root));
        roots.filter = hierarchy.start;
        let parents = From::Cte { id: hierarchy.parent, cte: hierarchy.cte, columns: outputs.clone() };
        let mut conditions = vec![hierarchy.condition];
        if let (true, Some(above)) = (hierarchy.connect.nocycle, hierarchy.above) {
            let above = Expr::column(hierarchy.parent, above, Type::Text);
            let met = self.key("ifx_on_path", above, &hierarchy.children, &hierarchy.prior, Type::Bool)?;
            conditions.push(Expr::new(ExprKind::Not(Box::new(met)), Type::Bool));
        }
        let joined = From::Join {
            kind: ir::JoinKind::Inner,
            left: Box::new(parents),
            right: Box::new(hierarchy.child),
            on: all_of(conditions),
        };
        let mut query_of = |select| {
            let body = ir::Body::Select(Box::new(select));
            Box::new(ir::Query::of(body, outputs.clone(), self.ids.relation()))
        };
        let (left, right) = (query_of(roots), query_of(ir::Select::of(child_items, Some(joined))));
        let body = ir::Body::Set { op: ir::SetOp::Union, all: true, left, right };
        let mut query = ir::Query::of(body, outputs.clone(), self.ids.relation());
        // Of the rows that wait those come first that are farthest down: they are siblings.
        let mut keys = vec![(hierarchy.level, true, false)];
        keys.extend(hierarchy.siblings);
        for (column, descending, nulls_first) in keys {
            let expr = Expr::column(query.output, column, outputs[column].ty.clone());
            query.order_by.push(SortKey { expr, descending, nulls_first });
        }
        let cte = Cte {
            name: "hierarchy".to_owned(),
            id: hierarchy.cte,
            recursive: true,
            materialized: None,
            body: CteBody::Query(Box::new(query)),
            columns: outputs,
        };
        Ok((cte, from))
    }

    /// The rows with what is known of them only by a look at those below.
    fn asked_below(&mut self, hierarchy: &Hierarchy, outputs: &[OutputColumn]) -> Result<From> {
        let inner = self.ids.relation();
        let rows = hierarchy.roots.relations.first().ok_or_else(|| Error::internal("a FROM clause without a table"))?;
        let mut items = Vec::new();
        let mut columns = Vec::new();
        let again = std::mem::replace(&mut self.again, true);
        for shown in &hierarchy.shown {
            let (name, item) = match *shown {
                Shown::Column(at) => (outputs[at].name.as_str(), Expr::column(inner, at, outputs[at].ty.clone())),
                Shown::Leaf => ("connect_by_isleaf", self.below(hierarchy, rows, inner, false)?),
                Shown::Cycle => ("connect_by_iscycle", self.below(hierarchy, rows, inner, true)?),
            };
            columns.push(OutputColumn { name: name.to_owned(), ty: item.ty.clone() });
            items.push(item);
        }
        self.again = again;
        let from = From::Cte { id: inner, cte: hierarchy.cte, columns: outputs.to_vec() };
        let body = ir::Body::Select(Box::new(ir::Select::of(items, Some(from))));
        let query = Box::new(ir::Query::of(body, columns, self.ids.relation()));
        Ok(From::Query { id: hierarchy.id, query, lateral: false })
    }

    /// 1 where a row has one below it that stands above it, too (`cycle`), or has none other than such.
    fn below(&mut self, hierarchy: &Hierarchy, rows: &Visible, row: RelId, cycle: bool) -> Result<Expr> {
        let (child, mut children) = self.source_alone(&hierarchy.source)?;
        let above = Visible { id: row, relation: None, ..rows.clone() };
        children.prior = Some(Box::new(Scope { relations: vec![above], ..Scope::default() }));
        let level = Expr::column(row, hierarchy.level, Type::Int4);
        let one = Expr::integer(1, Type::Int4);
        children.level = Some(self.resolved("+", vec![level, one.clone()], hierarchy.connect.at)?);
        let mut conditions = vec![self.within(&children, |binder| binder.condition(&hierarchy.connect.condition))?];
        match hierarchy.above {
            Some(above) if hierarchy.connect.nocycle => {
                let above = Expr::column(row, above, Type::Text);
                let met = self.key("ifx_on_path", above, &children, &hierarchy.prior, Type::Bool)?;
                conditions.push(if cycle { met } else { Expr::new(ExprKind::Not(Box::new(met)), Type::Bool) });
            }
            // Nothing is asked of the rows above.
            _ if cycle => return Ok(Expr::integer(0, Type::Int4)),
            _ => {}
        }
        let mut select = ir::Select::of(vec![one.clone()], Some(child));
        select.filter = all_of(conditions);
        let columns = vec![OutputColumn { name: String::new(), ty: Type::Int4 }];
        let query = ir::Query::of(ir::Body::Select(Box::new(select)), columns, self.ids.relation());
        let exists = Expr::new(ExprKind::Exists(Box::new(query)), Type::Bool);
        let zero = Expr::integer(0, Type::Int4);
        let (then, otherwise) = if cycle { (one, zero) } else { (zero, one) };
        let case = ExprKind::Case { branches: vec![(exists, then)], otherwise: Some(Box::new(otherwise)) };
        Ok(Expr::new(case, Type::Int4))
    }
}
