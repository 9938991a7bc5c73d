//! Visits of every expression of a statement, in reading order, nested queries included.
//!
//! A visitor is called for an expression before its parts and answers whether to go on into them.

use super::{
    Body, ConflictAction, CteBody, Distinct, Dml, DmlAction, Expr, ExprKind, FrameBound, From, GroupBy, InsertSource,
    Query, SortKey, Statement,
};

macro_rules! walkers {
    ($statement:ident, $dml:ident, $query:ident, $expr:ident, $parts:ident, $from:ident, $iter:ident, $deref:ident
        $(, $mutable:tt)?) => {
        /// Visits every expression of a statement. Utility statements have none.
        pub fn $statement(statement: &$($mutable)? Statement, visit: &mut dyn FnMut(&$($mutable)? Expr) -> bool) {
            match statement {
                Statement::Query(query) => $query(query, visit),
                Statement::Dml(dml) => $dml(dml, visit),
                Statement::CreateTableAs(table) => $query(&$($mutable)? table.query, visit),
                Statement::RefreshView(refresh) => {
                    if let Some(query) = &$($mutable)? refresh.query {
                        $query(query, visit);
                    }
                }
                Statement::Merge(merge) => {
                    for cte in merge.ctes.$iter() {
                        match &$($mutable)? cte.body {
                            CteBody::Query(query) => $query(query, visit),
                            CteBody::Dml(dml) => $dml(dml, visit),
                        }
                    }
                    if let Some(family) = &$($mutable)? merge.family {
                        $from(&$($mutable)? family.rows, visit);
                    }
                    $from(&$($mutable)? merge.source, visit);
                    for condition in merge.visible.$iter().chain(merge.on.$iter()) {
                        $expr(condition, visit);
                    }
                    for clause in merge.clauses.$iter() {
                        for condition in clause.condition.$iter() {
                            $expr(condition, visit);
                        }
                        for dml in clause.change.$iter() {
                            $dml(dml, visit);
                        }
                    }
                }
                Statement::Rewritten(rewritten) => {
                    for part in rewritten.parts.$iter() {
                        $statement(&$($mutable)? part.statement, visit);
                    }
                }
                Statement::Explain(explain) => $statement(&$($mutable)? explain.statement, visit),
                Statement::DeclareCursor { query, .. } => $query(query, visit),
                Statement::CallProcedure(call) => {
                    if let Some(query) = &$($mutable)? call.args {
                        $query(query, visit);
                    }
                }
                Statement::Copy(copy) => {
                    if let Some(query) = &$($mutable)? copy.to {
                        $query(query, visit);
                    }
                    if let Some(dml) = &$($mutable)? copy.from {
                        $dml(dml, visit);
                    }
                }
                _ => {}
            }
        }

        /// Visits every expression of an INSERT, UPDATE or DELETE.
        pub fn $dml(dml: &$($mutable)? Dml, visit: &mut dyn FnMut(&$($mutable)? Expr) -> bool) {
            for cte in dml.ctes.$iter() {
                match &$($mutable)? cte.body {
                    CteBody::Query(query) => $query(query, visit),
                    CteBody::Dml(dml) => $dml(dml, visit),
                }
            }
            if let Some(view) = &$($mutable)? dml.view {
                $from(view, visit);
            }
            match &$($mutable)? dml.action {
                DmlAction::Insert { source, on_conflict, .. } => {
                    match source {
                        InsertSource::Values(rows) => {
                            for value in rows.$iter().flatten() {
                                $expr(value, visit);
                            }
                        }
                        InsertSource::Query(query) => $query(query, visit),
                        InsertSource::Defaults => {}
                    }
                    if let Some(conflict) = on_conflict
                        && let ConflictAction::Update { assignments, filter, .. } = &$($mutable)? conflict.action
                    {
                        for (_, value) in assignments.$iter() {
                            $expr(value, visit);
                        }
                        for filter in filter.$iter() {
                            $expr(filter, visit);
                        }
                    }
                }
                DmlAction::Update { assignments, from, filter, .. } => {
                    for (_, value) in assignments.$iter() {
                        $expr(value, visit);
                    }
                    for from in from.$iter() {
                        $from(from, visit);
                    }
                    for filter in filter.$iter() {
                        $expr(filter, visit);
                    }
                }
                DmlAction::Delete { using, filter, .. } => {
                    for from in using.$iter() {
                        $from(from, visit);
                    }
                    for filter in filter.$iter() {
                        $expr(filter, visit);
                    }
                }
            }
            for check in dml.checks.$iter() {
                $expr(&$($mutable)? check.condition, visit);
            }
            for one_by_one in dml.one_by_one.$iter() {
                for key in one_by_one.order.$iter() {
                    $expr(&$($mutable)? key.expr, visit);
                }
            }
            for guards in dml.guards.$iter() {
                for guard in guards.inserted.$iter() {
                    $expr(&$($mutable)? guard.condition, visit);
                }
                for guard in guards.updated.$iter() {
                    $expr(&$($mutable)? guard.condition, visit);
                }
                for guard in guards.met.$iter() {
                    $expr(&$($mutable)? guard.condition, visit);
                }
                for guard in guards.deleted.$iter() {
                    $expr(&$($mutable)? guard.condition, visit);
                }
            }
            for item in dml.returning.$iter() {
                $expr(item, visit);
            }
        }

        /// Visits every expression of a query.
        pub fn $query(query: &$($mutable)? Query, visit: &mut dyn FnMut(&$($mutable)? Expr) -> bool) {
            for cte in query.ctes.$iter() {
                match &$($mutable)? cte.body {
                    CteBody::Query(query) => $query(query, visit),
                    CteBody::Dml(dml) => $dml(dml, visit),
                }
            }
            match &$($mutable)? query.body {
                Body::Select(select) => {
                    if let Distinct::On(keys) = &$($mutable)? select.distinct {
                        for key in keys.$iter() {
                            $expr(key, visit);
                        }
                    }
                    for item in select.items.$iter() {
                        $expr(item, visit);
                    }
                    for from in select.from.$iter() {
                        $from(from, visit);
                    }
                    for filter in select.filter.$iter() {
                        $expr(filter, visit);
                    }
                    match &$($mutable)? select.group_by {
                        GroupBy::None => {}
                        GroupBy::Keys(keys) | GroupBy::Sets { keys, .. } => {
                            for key in keys.$iter() {
                                $expr(key, visit);
                            }
                        }
                    }
                    for having in select.having.$iter() {
                        $expr(having, visit);
                    }
                }
                Body::Set { left, right, .. } => {
                    $query(left, visit);
                    $query(right, visit);
                }
                Body::Values(rows) => {
                    for value in rows.$iter().flatten() {
                        $expr(value, visit);
                    }
                }
            }
            for key in query.order_by.$iter() {
                $expr(&$($mutable)? key.expr, visit);
            }
            for limit in query.limit.$iter() {
                $expr(limit, visit);
            }
            for offset in query.offset.$iter() {
                $expr(offset, visit);
            }
        }

        /// Visits every expression of a FROM clause.
        pub fn $from(from: &$($mutable)? From, visit: &mut dyn FnMut(&$($mutable)? Expr) -> bool) {
            match from {
                From::Cte { .. } | From::Kept { .. } => {}
                From::Relation { filter, .. } => {
                    for filter in filter.$iter() {
                        $expr(filter, visit);
                    }
                }
                From::Query { query, .. } => $query(query, visit),
                From::Function { args, .. } => {
                    for arg in args.$iter() {
                        $expr(arg, visit);
                    }
                }
                From::Join { left, right, on, .. } => {
                    $from(left, visit);
                    $from(right, visit);
                    for on in on.$iter() {
                        $expr(on, visit);
                    }
                }
            }
        }

        /// Visits an expression and its parts.
        pub fn $expr(expr: &$($mutable)? Expr, visit: &mut dyn FnMut(&$($mutable)? Expr) -> bool) {
            if visit(expr) {
                $parts(expr, visit);
            }
        }

        /// Visits the parts of an expression, but not itself.
        pub fn $parts(expr: &$($mutable)? Expr, visit: &mut dyn FnMut(&$($mutable)? Expr) -> bool) {
            match &$($mutable)? expr.kind {
                ExprKind::Literal(_)
                | ExprKind::Param(_)
                | ExprKind::Column(_)
                | ExprKind::Rules(_)
                | ExprKind::Default => {}
                ExprKind::Numbered { given, .. } => {
                    for given in given.$iter() {
                        $expr(given, visit);
                    }
                }
                ExprKind::Call { args, .. }
                | ExprKind::And(args)
                | ExprKind::Or(args)
                | ExprKind::Coalesce(args)
                | ExprKind::Greatest(args)
                | ExprKind::Least(args)
                | ExprKind::Row(args)
                | ExprKind::Array(args) => {
                    for arg in args.$iter() {
                        $expr(arg, visit);
                    }
                }
                ExprKind::Cast { arg, .. }
                | ExprKind::Checked { arg, .. }
                | ExprKind::Not(arg)
                | ExprKind::IsNull { arg, .. }
                | ExprKind::Collate { arg, .. }
                | ExprKind::IsTruth { arg, .. } => $expr(arg, visit),
                ExprKind::Aggregate(aggregate) => {
                    let aggregate = aggregate.$deref();
                    for arg in aggregate.args.$iter() {
                        $expr(arg, visit);
                    }
                    for arg in aggregate.direct.$iter() {
                        $expr(arg, visit);
                    }
                    for SortKey { expr, .. } in aggregate.order_by.$iter() {
                        $expr(expr, visit);
                    }
                    for filter in aggregate.filter.$iter() {
                        $expr(filter, visit);
                    }
                }
                ExprKind::Window(window) => {
                    let window = window.$deref();
                    for arg in window.args.$iter() {
                        $expr(arg, visit);
                    }
                    for filter in window.filter.$iter() {
                        $expr(filter, visit);
                    }
                    for key in window.partition_by.$iter() {
                        $expr(key, visit);
                    }
                    for SortKey { expr, .. } in window.order_by.$iter() {
                        $expr(expr, visit);
                    }
                    if let Some(frame) = &$($mutable)? window.frame {
                        for bound in [&$($mutable)? frame.start, &$($mutable)? frame.end] {
                            if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                                $expr(offset, visit);
                            }
                        }
                        for limits in frame.limits.$iter() {
                            let limits = limits.$deref();
                            $expr(&$($mutable)? limits.key, visit);
                            for limit in limits.start.$iter() {
                                $expr(limit, visit);
                            }
                            for limit in limits.end.$iter() {
                                $expr(limit, visit);
                            }
                        }
                    }
                }
                ExprKind::Compare { left, right, .. }
                | ExprKind::Distinct { left, right, .. }
                | ExprKind::NullIf(left, right) => {
                    $expr(left, visit);
                    $expr(right, visit);
                }
                ExprKind::Like { text, pattern, escape, .. } => {
                    $expr(text, visit);
                    $expr(pattern, visit);
                    for escape in escape.$iter() {
                        $expr(escape, visit);
                    }
                }
                ExprKind::InList { arg, list, .. } => {
                    $expr(arg, visit);
                    for member in list.$iter() {
                        $expr(member, visit);
                    }
                }
                ExprKind::Case { branches, otherwise } => {
                    for (condition, result) in branches.$iter() {
                        $expr(condition, visit);
                        $expr(result, visit);
                    }
                    for otherwise in otherwise.$iter() {
                        $expr(otherwise, visit);
                    }
                }
                ExprKind::Scalar(query) | ExprKind::Exists(query) | ExprKind::ArrayQuery(query) => $query(query, visit),
                ExprKind::InQuery { row, query, .. } => {
                    for member in row.$iter() {
                        $expr(member, visit);
                    }
                    $query(query, visit);
                }
                ExprKind::Quantified { arg, query, .. } => {
                    $expr(arg, visit);
                    $query(query, visit);
                }
                ExprKind::QuantifiedArray { arg, array, .. } => {
                    $expr(arg, visit);
                    $expr(array, visit);
                }
            }
        }
    };
}

walkers!(statement, dml, query, expr, parts, from, iter, as_ref);
walkers!(statement_mut, dml_mut, query_mut, expr_mut, parts_mut, from_mut, iter_mut, as_mut, mut);

/// True when an expression or some part of it, subqueries included, is such a one.
pub fn any(whole: &Expr, is_it: impl Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    expr(whole, &mut |part| {
        found |= is_it(part);
        !found
    });
    found
}

/// True when an expression names a column, of whatever relation.
pub fn names_column(whole: &Expr) -> bool {
    any(whole, |part| matches!(part.kind, ExprKind::Column(_)))
}
