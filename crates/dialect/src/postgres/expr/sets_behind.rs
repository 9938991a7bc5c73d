//! Set-returning functions in the select list of a query that groups rows, or looks at them through windows: what they
//! are told comes from the groups and windows, so that they stand in a query around these.

use crate::ir::walk;
use crate::ir::{Body, ColumnRef, Distinct, Expr, ExprKind, From, GroupBy, OutputColumn, Query, RelId, Select};
use crate::postgres::binder::Binder;
use crate::postgres::select::{chosen_before, of_items};
use crate::{Error, Result, Type};

impl Binder<'_> {
    /// Lets set-returning functions stand behind the groups and windows of a query, or before them where it groups by
    /// what they return.
    pub(in crate::postgres) fn set_returning_behind(&mut self, query: &mut Query, functions: Vec<From>) -> Result<()> {
        let Body::Select(select) = &mut query.body else { return Err(Error::internal("sets of rows in no SELECT")) };
        let (before, behind) = parted(select, functions);
        if !before.is_empty() {
            select.from = self.with_set_returning(select.from.take(), before)?;
        }
        if behind.is_empty() {
            return Ok(());
        }
        let mut behind = behind;
        let (mut choice, mut choice_order) = (Distinct::All, Vec::new());
        if chosen_before(query.output, &query.order_by, select, &behind) {
            choice_order.clone_from(&query.order_by);
            for key in &mut choice_order {
                key.expr = of_items(&key.expr, query.output, &select.items);
            }
            choice = std::mem::replace(&mut select.distinct, Distinct::All);
        }
        let mut held = Held { id: self.ids.relation(), sets: ids(&behind), parts: Vec::new() };
        let distinct = match &mut select.distinct {
            Distinct::On(keys) => keys.as_mut_slice(),
            Distinct::All | Distinct::Rows => &mut [],
        };
        let output = query.output;
        let sorted = query.order_by.iter_mut().map(|key| &mut key.expr).filter(|key| !is_of(key, output));
        for expr in select.items.iter_mut().chain(distinct).chain(sorted) {
            held.split(expr)?;
        }
        for function in &mut behind {
            if let From::Function { args, .. } = function {
                args.iter_mut().try_for_each(|arg| held.split(arg))?;
            }
        }
        if held.parts.is_empty() {
            held.parts.push(Expr::integer(1, Type::Int4));
        }
        let column = |part: &Expr| OutputColumn { name: "value".to_owned(), ty: part.ty.clone() };
        let columns = held.parts.iter().map(column).collect();
        let inner = Select {
            distinct: choice,
            items: held.parts,
            from: select.from.take(),
            filter: select.filter.take(),
            group_by: std::mem::replace(&mut select.group_by, GroupBy::None),
            having: select.having.take(),
        };
        let mut rows = Query::of(Body::Select(Box::new(inner)), columns, self.ids.relation());
        rows.order_by = choice_order;
        select.from = Some(From::Query { id: held.id, query: Box::new(rows), lateral: false });
        self.join_set_returning(query, behind)
    }
}

/// The functions by whose rows the query groups, with those that they are made of; and the others.
fn parted(select: &Select, functions: Vec<From>) -> (Vec<From>, Vec<From>) {
    let (GroupBy::Keys(keys) | GroupBy::Sets { keys, .. }) = &select.group_by else { return (Vec::new(), functions) };
    let mut wanted = Vec::new();
    for key in keys {
        note_relations(key, &mut wanted);
    }
    // Those that another is made of were bound before it.
    for function in functions.iter().rev() {
        if let From::Function { id, args, .. } = function
            && wanted.contains(id)
        {
            args.iter().for_each(|arg| note_relations(arg, &mut wanted));
        }
    }
    functions.into_iter().partition(|function| matches!(function, From::Function { id, .. } if wanted.contains(id)))
}

fn note_relations(expr: &Expr, relations: &mut Vec<RelId>) {
    walk::expr(expr, &mut |part| {
        if let ExprKind::Column(column) = part.kind {
            relations.push(column.relation);
        }
        true
    });
}

fn ids(functions: &[From]) -> Vec<RelId> {
    let id = |function: &From| match function {
        From::Function { id, .. } => Some(*id),
        _ => None,
    };
    functions.iter().filter_map(id).collect()
}

fn is_of(expr: &Expr, relation: RelId) -> bool {
    match &expr.kind {
        ExprKind::Column(ColumnRef { relation: its, .. }) => *its == relation,
        ExprKind::Collate { arg, .. } => is_of(arg, relation),
        _ => false,
    }
}

/// What is computed of groups and windows for the query around them.
struct Held {
    id: RelId,
    sets: Vec<RelId>,
    parts: Vec<Expr>,
}

impl Held {
    /// Puts columns in the place of all that is not made of a set's rows.
    fn split(&mut self, expr: &mut Expr) -> Result<()> {
        if !self.is_of_set(expr) {
            if !matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Rules(_)) {
                self.hold(expr);
            }
            return Ok(());
        }
        match &expr.kind {
            ExprKind::Column(_) => Ok(()),
            ExprKind::Aggregate(_) | ExprKind::Window(_) => {
                Err(Error::unsupported("a set-returning function within an aggregate or a window"))
            }
            kind if kind.query().is_some() => {
                Err(Error::unsupported("a set-returning function in a subquery of a grouped query"))
            }
            _ => {
                let mut result = Ok(());
                walk::parts_mut(expr, &mut |part| {
                    if result.is_ok() {
                        result = self.split(part);
                    }
                    false
                });
                result
            }
        }
    }

    fn is_of_set(&self, expr: &Expr) -> bool {
        let mut found = false;
        walk::expr(expr, &mut |part| {
            found |= matches!(part.kind, ExprKind::Column(column) if self.sets.contains(&column.relation));
            !found
        });
        found
    }

    fn hold(&mut self, expr: &mut Expr) {
        // Two calls of a volatile function are two values.
        let known = matches!(expr.kind, ExprKind::Column(_)).then(|| self.parts.iter().position(|part| part == expr));
        let at = known.flatten().unwrap_or_else(|| {
            self.parts.push(expr.clone());
            self.parts.len() - 1
        });
        *expr = Expr::column(self.id, at, expr.ty.clone());
    }
}
