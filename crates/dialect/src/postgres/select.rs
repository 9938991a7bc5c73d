//! Queries: SELECT, VALUES, set operations, with ORDER BY, LIMIT and DISTINCT.

use pg_query::protobuf::{
    self as pg, LimitOption, Node, SelectStmt, SetOperation, SortByDir, SortByNulls, a_const, node::Node as N,
};

use super::binder::{Binder, BoundQuery, Clause, Scope, computed, outputs};
use super::expr::{all_of, location};
use super::with::Within;
use super::{mysql, names, types};
use crate::bind::grouping::{contains, has_aggregate};
use crate::bind::query::Conversions;
use crate::bind::set_operation::{self, Pair};
use crate::ir::{
    self, Body, CastContext, ColumnIndex, ColumnRef, Distinct, Expr, ExprKind, From, GroupBy, Ids, Query, RelId,
    Select, SetOp, SortKey, walk,
};
use crate::mysql::UNNAMED;
use crate::plan::ResultColumn;
use crate::{Condition, Result, Type};

/// A bound item of a select list.
pub(super) struct Target {
    pub(super) expr: Expr,
    pub(super) column: ResultColumn,
    pub(super) place: i32,
}

/// Which clause looks up select-list items, for messages.
#[derive(Clone, Copy, Eq, PartialEq)]
enum ItemClause {
    DistinctOn,
    GroupBy,
    OrderBy,
}

impl ItemClause {
    const fn words(self) -> &'static str {
        match self {
            Self::DistinctOn => "DISTINCT ON",
            Self::GroupBy => "GROUP BY",
            Self::OrderBy => "ORDER BY",
        }
    }
}

impl Binder<'_> {
    /// Binds a query below the statement. `settle` makes text of columns that nothing has decided.
    pub(super) fn subquery(&mut self, select: &SelectStmt, settle: bool) -> Result<BoundQuery> {
        self.nested(|binder| binder.query(select, settle))
    }

    /// Binds a query.
    pub(super) fn query(&mut self, select: &SelectStmt, settle: bool) -> Result<BoundQuery> {
        if let Some(into) = &select.into_clause {
            let place = into.rel.as_ref().map_or(-1, |rel| rel.location);
            return Err(self.error(Condition::SyntaxError, "SELECT ... INTO is not allowed here", place));
        }
        let visible = self.ctes.len();
        let ctes = match &select.with_clause {
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let mut bound = match select.op() {
            SetOperation::SetopNone | SetOperation::Undefined if !select.values_lists.is_empty() => {
                self.values(select, settle)?
            }
            SetOperation::SetopNone | SetOperation::Undefined => self.select(select, settle)?,
            op => self.set_operation(select, op)?,
        };
        bound.query.ctes = ctes;
        self.limits(select, &mut bound.query)?;
        match &bound.query.body {
            Body::Set { .. } => self.refuse_locking(select, "UNION/INTERSECT/EXCEPT")?,
            Body::Values(_) => self.refuse_locking(select, "VALUES")?,
            Body::Select(_) => {}
        }
        self.ctes.truncate(visible);
        Ok(bound)
    }

    pub(super) fn limits(&mut self, select: &SelectStmt, query: &mut Query) -> Result<()> {
        query.with_ties = select.limit_option() == LimitOption::WithTies;
        if query.with_ties && query.order_by.is_empty() {
            return Err(self.error(
                Condition::SyntaxError,
                "WITH TIES cannot be specified without ORDER BY clause",
                -1,
            ));
        }
        let bind = |binder: &mut Self, node: &Node, what: &str| -> Result<Expr> {
            let scope = Scope { clause: Clause::Limit, ..Scope::default() };
            let ((expr, at), _) = binder.with_scope(scope, |binder| binder.placed(node))?;
            let from = types::words(&expr.ty);
            binder.try_coerce(expr, &Type::Int8, CastContext::Assignment, at)?.map_err(|_| {
                binder.error(
                    Condition::DatatypeMismatch,
                    format!("argument of {what} must be type bigint, not type {from}"),
                    at,
                )
            })
        };
        if let Some(node) = select.limit_count.as_deref() {
            if query.with_ties && matches!(&node.node, Some(N::AConst(constant)) if constant.isnull) {
                let message = "row count cannot be null in FETCH FIRST ... WITH TIES clause";
                return Err(crate::Error::new(Condition::InvalidRowCountInLimit, message));
            }
            let limit = bind(self, node, "LIMIT")?;
            // LIMIT ALL is LIMIT NULL.
            query.limit = (limit != Expr::null(Type::Int8)).then_some(limit);
        }
        if let Some(node) = select.limit_offset.as_deref() {
            query.offset = Some(bind(self, node, "OFFSET")?);
        }
        Ok(())
    }

    fn values(&mut self, select: &SelectStmt, settle: bool) -> Result<BoundQuery> {
        if let Some(values_lists) = self.spread_values(&select.values_lists)? {
            return self.values(&SelectStmt { values_lists, ..select.clone() }, settle);
        }
        let scope = Scope { clause: Clause::Values, ..Scope::default() };
        let (rows, _) = self.with_scope(scope, |binder| binder.value_rows(&select.values_lists))?;
        let width = rows.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(width);
        let mut table: Vec<Vec<Expr>> = rows.iter().map(|row| Vec::with_capacity(row.len())).collect();
        let places = rows.first().map(|row| row.iter().map(|(_, at)| *at).collect()).unwrap_or_default();
        for index in 0..width {
            let members: Vec<(Expr, i32)> = rows.iter().map(|row| row[index].clone()).collect();
            let undecided = members.iter().all(|(member, _)| member.ty == Type::Unknown);
            let (members, ty) = if undecided && !settle {
                (members.into_iter().map(|(member, _)| member).collect(), Type::Unknown)
            } else {
                self.unify(members, "VALUES")?
            };
            for (row, member) in table.iter_mut().zip(members) {
                row.push(member);
            }
            columns.push(computed(format!("column{}", index + 1), ty));
        }
        let output = self.ids.relation();
        let mut query = Query::of(Body::Values(table), outputs(&columns), output);
        query.order_by = self.output_order(select, &columns, output, "VALUES")?;
        Ok(BoundQuery { query, columns, places })
    }

    /// Rows of VALUES, all of one length.
    pub(super) fn value_rows(&mut self, lists: &[Node]) -> Result<Vec<Vec<(Expr, i32)>>> {
        let mut rows: Vec<Vec<(Expr, i32)>> = Vec::with_capacity(lists.len());
        for list in lists {
            let Some(N::List(list)) = &list.node else { continue };
            if let Some(first) = rows.first()
                && first.len() != list.items.len()
            {
                let place = list.items.first().map_or(-1, location);
                return Err(self.error(Condition::SyntaxError, "VALUES lists must all be the same length", place));
            }
            rows.push(self.placed_all(&list.items)?);
        }
        Ok(rows)
    }

    fn set_operation(&mut self, select: &SelectStmt, op: SetOperation) -> Result<BoundQuery> {
        let op = match op {
            SetOperation::SetopIntersect => SetOp::Intersect,
            SetOperation::SetopExcept => SetOp::Except,
            _ => SetOp::Union,
        };
        let (Some(left), Some(right)) = (&select.larg, &select.rarg) else {
            return Err(crate::Error::internal("a set operation without sides"));
        };
        let (in_left, in_right) = match op {
            SetOp::Intersect if select.all => (Some(Within::Intersect), Some(Within::Intersect)),
            SetOp::Except => (select.all.then_some(Within::Except), Some(Within::Except)),
            _ => (None, None),
        };
        let mut side = |select: &SelectStmt, within: Option<Within>| match within {
            Some(within) => self.not_itself(within, |binder| binder.subquery(select, false)),
            None => self.subquery(select, false),
        };
        let (mut bound_left, mut bound_right) = (side(left, in_left)?, side(right, in_right)?);
        for (part, bound) in [(left, &mut bound_left), (right, &mut bound_right)] {
            // How relevant rows are says nothing here.
            if part.sort_clause.is_empty() && bound.query.limit.is_none() && matches!(bound.query.body, Body::Select(_))
            {
                bound.query.order_by.clear();
            }
        }
        let (left, right) = (bound_left, bound_right);
        self.combine(select, op, left, right)
    }

    /// Values of the type can be told apart: MySQL does so with documents.
    fn tells_apart(&self, ty: &Type) -> bool {
        ty.is_comparable() || self.is_mysql() && *ty == Type::Json
    }

    /// Refuses values of which nobody can say whether they are alike.
    fn check_told_apart(&self, ty: &Type, place: i32) -> Result<()> {
        if self.tells_apart(ty) {
            return Ok(());
        }
        let message = format!("could not identify an equality operator for type {}", types::words(ty));
        Err(self.error(Condition::UndefinedFunction, message, place))
    }

    /// Both sides of a set operation in their common types.
    pub(super) fn combine(
        &mut self,
        select: &SelectStmt,
        op: SetOp,
        left: BoundQuery,
        right: BoundQuery,
    ) -> Result<BoundQuery> {
        let operation = set_operation::SetOperation { op, all: select.all };
        let types = set_operation::common_types(self, operation, &left, &right)?;
        let bound = set_operation::united(self, operation, left, right, types)?;
        let keys = self.output_order(select, &bound.columns, bound.query.output, "UNION/INTERSECT/EXCEPT")?;
        set_operation::sorted(bound, keys, &mut self.ids)
    }

    /// ORDER BY over results only: names and positions.
    fn output_order(
        &mut self,
        select: &SelectStmt,
        columns: &[ResultColumn],
        output: RelId,
        what: &str,
    ) -> Result<Vec<SortKey>> {
        let mut keys = Vec::with_capacity(select.sort_clause.len());
        for node in &select.sort_clause {
            let Some(N::SortBy(sort)) = &node.node else { continue };
            let Some(value) = sort.node.as_deref() else { continue };
            let place = location(value);
            let index = match self.item_position(value, columns.len(), ItemClause::OrderBy)? {
                Some(index) => index,
                None => {
                    let name = match &value.node {
                        Some(N::ColumnRef(reference)) => match names::strings(&reference.fields).as_slice() {
                            [name] => Some((*name).to_owned()),
                            _ => None,
                        },
                        _ => None,
                    };
                    match name {
                        Some(name) => match columns.iter().position(|column| column.name == name) {
                            Some(index) => index,
                            None => {
                                return Err(self.error(
                                    Condition::UndefinedColumn,
                                    format!("column \"{name}\" does not exist"),
                                    place,
                                ));
                            }
                        },
                        None => {
                            return Err(self
                                .error(
                                    Condition::FeatureNotSupported,
                                    format!("invalid {what} ORDER BY clause"),
                                    place,
                                )
                                .detail("Only result column names can be used, not expressions or functions.")
                                .hint(
                                    "Add the expression/function to every SELECT, or move the UNION into a FROM clause.",
                                ));
                        }
                    }
                }
            };
            let expr = Expr::column(output, index, columns[index].ty.clone());
            keys.push(self.sort_key(sort, expr, place)?);
        }
        Ok(keys)
    }

    /// Direction and place of NULLs of a sort key.
    pub(super) fn sort_key(&mut self, sort: &pg::SortBy, expr: Expr, place: i32) -> Result<SortKey> {
        let expr = if self.is_mysql() { self.mysql_sorted(expr, place)? } else { expr };
        if !expr.ty.is_ordered() {
            return Err(self
                .error(
                    Condition::UndefinedFunction,
                    format!("could not identify an ordering operator for type {}", types::words(&expr.ty)),
                    place,
                )
                .hint("Use an explicit ordering operator or modify the query."));
        }
        let descending = match sort.sortby_dir() {
            SortByDir::SortbyDesc => true,
            SortByDir::SortbyUsing => match names::strings(&sort.use_op).last() {
                Some(&"<") => false,
                Some(&">") => true,
                _ => return Err(self.unsupported("ORDER BY USING this operator", place)),
            },
            _ => false,
        };
        let nulls_first = match sort.sortby_nulls() {
            SortByNulls::SortbyNullsFirst => true,
            SortByNulls::SortbyNullsLast => false,
            _ => descending,
        };
        Ok(SortKey { expr, descending, nulls_first })
    }

    /// The select-list position that an integer constant in ORDER BY or GROUP BY means.
    fn item_position(&self, node: &Node, width: usize, clause: ItemClause) -> Result<Option<usize>> {
        let Some(N::AConst(constant)) = &node.node else { return Ok(None) };
        match &constant.val {
            Some(a_const::Val::Ival(value)) => {
                let index = usize::try_from(value.ival).ok().and_then(|value| value.checked_sub(1));
                match index {
                    Some(index) if index < width => Ok(Some(index)),
                    _ => Err(self.error(
                        Condition::InvalidColumnReference,
                        format!("{} position {} is not in select list", clause.words(), value.ival),
                        constant.location,
                    )),
                }
            }
            _ if clause == ItemClause::GroupBy && constant.isnull => Ok(None),
            _ => Err(self.error(
                Condition::SyntaxError,
                format!("non-integer constant in {}", clause.words()),
                constant.location,
            )),
        }
    }

    fn select(&mut self, select: &SelectStmt, settle: bool) -> Result<BoundQuery> {
        let (from, entries) = self.bind_from(&select.from_clause)?;
        let mut scope = Scope { entries, ..Scope::default() };
        for node in &select.window_clause {
            if let Some(N::WindowDef(window)) = &node.node {
                if scope.windows.iter().any(|(name, _)| *name == window.name) {
                    return Err(self.error(
                        Condition::WindowingError,
                        format!("window \"{}\" is already defined", window.name),
                        window.location,
                    ));
                }
                scope.windows.push((window.name.clone(), (**window).clone()));
            }
        }
        let output = self.ids.relation();
        let ((mut bound, group_by), scope) =
            self.with_scope(scope, |binder| binder.select_parts(select, settle, from, output))?;
        if !scope.set_returning.is_empty() {
            self.refuse_locking(select, "set-returning functions in the target list")?;
        }
        self.row_locks(select, &mut bound, &scope.entries)?;
        if scope.aggregates {
            self.refuse_aggregates_of_itself(&bound.query)?;
        }
        // Set-returning functions of the select list join what stands in FROM.
        if !scope.set_returning.is_empty()
            && let Body::Select(body) = &bound.query.body
        {
            let grouped = scope.aggregates || !matches!(group_by, GroupBy::None) || body.having.is_some();
            // A query that is to be printed says what it returns, not how.
            let chosen = chosen_before(bound.query.output, &bound.query.order_by, body, &scope.set_returning);
            if (grouped || scope.windowed || chosen) && self.shown.is_none() {
                self.set_returning_behind(&mut bound.query, scope.set_returning)?;
            } else {
                self.join_set_returning(&mut bound.query, scope.set_returning)?;
            }
        }
        Ok(bound)
    }

    fn select_parts(
        &mut self,
        select: &SelectStmt,
        settle: bool,
        from: Option<From>,
        output: RelId,
    ) -> Result<(BoundQuery, GroupBy)> {
        let filter = match select.where_clause.as_deref() {
            Some(node) => Some(self.within(Clause::Where, |binder| {
                let (filter, at) = binder.placed(node)?;
                binder.condition(filter, "WHERE", at)
            })?),
            None => None,
        };
        self.scope().allow_set_returning = true;
        let mut targets = self.within(Clause::Select, |binder| binder.targets(&select.target_list))?;
        self.scope().allow_set_returning = false;
        if settle {
            for target in &mut targets {
                if target.expr.ty == Type::Unknown {
                    target.expr = self.settle(target.expr.clone(), target.place)?;
                    target.column.ty = Type::Text;
                } else if let ExprKind::Row(members) = &target.expr.kind {
                    for member in members {
                        self.leaves_open(member, target.place);
                    }
                }
            }
        }
        self.scope().allow_set_returning = true;
        let group_by = self.within(Clause::GroupBy, |binder| binder.group_by(select, &targets))?;
        self.note_grouped(output);
        self.scope().allow_set_returning = false;
        let group_keys = group_by.keys();
        targets.iter_mut().for_each(|target| ir::unify(&mut target.expr, group_keys));
        if self.is_mysql() {
            let outputs = targets.iter().map(|target| (target.column.name.clone(), target.expr.clone())).collect();
            self.scope().outputs = outputs;
        }
        let mut having = match select.having_clause.as_deref() {
            Some(node) => Some(self.within(Clause::Having, |binder| {
                let (filter, at) = binder.placed(node)?;
                binder.condition(filter, "HAVING", at)
            })?),
            None => None,
        };
        // HAVING of rows that nothing groups is one more condition of theirs.
        let mut filter = filter;
        if self.is_mysql() && matches!(group_by, GroupBy::None) && !self.scope().aggregates {
            filter = match (filter, having.take()) {
                (Some(filter), Some(having)) => Some(all_of(vec![filter, having])),
                (filter, having) => filter.or(having),
            };
        }
        if self.is_mysql() {
            filter = filter.map(|filter| self.mysql_narrowed(filter)).transpose()?;
        }
        having.iter_mut().for_each(|having| ir::unify(having, group_keys));
        let plain_distinct = matches!(select.distinct_clause.as_slice(), [Node { node: None }]);
        let mut order_by = Vec::with_capacity(select.sort_clause.len());
        for node in &select.sort_clause {
            let Some(N::SortBy(sort)) = &node.node else { continue };
            let Some(value) = sort.node.as_deref() else { continue };
            let place = location(value);
            self.scope().allow_set_returning = true;
            let found = self.within(Clause::OrderBy, |binder| binder.item(value, &targets, ItemClause::OrderBy));
            self.scope().allow_set_returning = false;
            let found = found?;
            let expr = match found {
                // What is sorted by something else than what is shown.
                Item::Target(index) if self.is_mysql() && mysql::sorts_otherwise(&targets[index].expr.ty) => {
                    targets[index].expr.clone()
                }
                Item::Target(index) => Expr::column(output, index, targets[index].expr.ty.clone()),
                Item::Other(expr) if plain_distinct => {
                    let mut read = None;
                    walk::expr(&expr, &mut |part| {
                        if let ExprKind::Column(column) = &part.kind {
                            read = read.or(Some(*column));
                        }
                        true
                    });
                    if let Some(column) = read.filter(|_| self.is_mysql()) {
                        let message = format!(
                            "Expression #{} of ORDER BY clause is not in SELECT list, references column '{}' which is not in \
                             SELECT list; this is incompatible with DISTINCT",
                            order_by.len() + 1,
                            self.column_of_database(&column)
                        );
                        let error = self.error(Condition::InvalidColumnReference, message, place);
                        return Err(error.with_mysql(3065, "HY000"));
                    }
                    return Err(self.error(
                        Condition::InvalidColumnReference,
                        "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                        place,
                    ));
                }
                Item::Other(mut expr) => {
                    ir::unify(&mut expr, group_keys);
                    expr
                }
            };
            order_by.push(self.sort_key(sort, expr, place)?);
        }
        if self.is_mysql() && order_by.is_empty() && select.distinct_clause.is_empty() {
            order_by = self.rolled_up(&group_by)?;
        }
        let distinct = if select.distinct_clause.is_empty() {
            Distinct::All
        } else if plain_distinct {
            for target in &targets {
                self.check_told_apart(&target.expr.ty, target.place)?;
            }
            Distinct::Rows
        } else {
            let mut keys = Vec::with_capacity(select.distinct_clause.len());
            for node in &select.distinct_clause {
                let found =
                    self.within(Clause::Select, |binder| binder.item(node, &targets, ItemClause::DistinctOn))?;
                keys.push(match found {
                    Item::Target(index) => targets[index].expr.clone(),
                    Item::Other(expr) => expr,
                });
            }
            let leading = order_by.iter().take(keys.len()).all(|key| match &key.expr.kind {
                ExprKind::Column(column) if column.relation == output => match column.column {
                    ColumnIndex::At(index) => keys.contains(&targets[index].expr),
                    ColumnIndex::RowIdentity => false,
                },
                _ => keys.contains(&key.expr),
            });
            if !leading {
                return Err(self.error(
                    Condition::InvalidColumnReference,
                    "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                    select.distinct_clause.first().map_or(-1, location),
                ));
            }
            Distinct::On(keys)
        };
        let grouped = self.scope().aggregates || !matches!(group_by, GroupBy::None) || having.is_some();
        if grouped {
            let behind = self.arguments_of_sets(group_keys);
            let exprs = targets.iter().map(|target| &target.expr);
            let exprs = exprs.chain(&having).chain(order_by.iter().map(|key| &key.expr)).chain(&behind);
            let listed = targets.len();
            let sorted = listed + usize::from(having.is_some());
            self.check_grouping(exprs, (listed, sorted), &group_by, from.as_ref())?;
        }
        let by_relevance = self.is_mysql() && !grouped && order_by.is_empty() && select.distinct_clause.is_empty();
        if let Some(filter) = filter.as_ref().filter(|_| by_relevance) {
            order_by = Self::mysql_by_relevance(filter);
        }
        let places = targets.iter().map(|target| target.place).collect();
        let (items, mut columns): (Vec<Expr>, Vec<ResultColumn>) =
            targets.into_iter().map(|target| (target.expr, target.column)).unzip();
        if self.is_mysql() && matches!(group_by, GroupBy::Sets { .. }) {
            // A key that a row is not grouped by is NULL there.
            for (column, item) in columns.iter_mut().zip(&items) {
                column.not_null &= matches!(item.kind, ExprKind::Aggregate(_));
            }
        }
        let mut from = from;
        if !self.secured_relations.is_empty() {
            super::policies::push_down(filter.as_ref(), from.as_mut());
        }
        self.prune(from.as_mut(), filter.as_ref())?;
        let body = Body::Select(Box::new(Select { distinct, items, from, filter, group_by: group_by.clone(), having }));
        let mut query = Query::of(body, outputs(&columns), output);
        query.order_by = order_by;
        Ok((BoundQuery { query, columns, places }, group_by))
    }

    /// Binds a select list or RETURNING list, stars spread out.
    pub(super) fn targets(&mut self, nodes: &[Node]) -> Result<Vec<Target>> {
        let mut targets = Vec::with_capacity(nodes.len());
        for node in nodes {
            let Some(N::ResTarget(target)) = &node.node else { continue };
            let Some(value) = target.val.as_deref() else { continue };
            match &value.node {
                Some(N::ColumnRef(reference))
                    if reference.fields.iter().any(|field| matches!(field.node, Some(N::AStar(_)))) =>
                {
                    for column in self.star(reference)? {
                        let listed = self.mysql_listed(&column);
                        let not_null = self.is_column_certain(&column);
                        targets.push(Target {
                            column: ResultColumn {
                                name: column.name,
                                ty: column.expr.ty.clone(),
                                origin: column.origin,
                                not_null,
                                identity: column.identity,
                                listed,
                            },
                            expr: column.expr,
                            place: reference.location,
                        });
                    }
                }
                Some(N::AIndirection(indirection))
                    if indirection.indirection.iter().any(|part| matches!(part.node, Some(N::AStar(_)))) =>
                {
                    let place = location(value);
                    let Some((row, at)) = self.spread_value(value)? else {
                        return Err(self.unsupported("this indirection", place));
                    };
                    for column in self.fields_of(row, at)? {
                        let result = computed(column.name, column.expr.ty.clone());
                        targets.push(Target { column: result, expr: column.expr, place });
                    }
                }
                inner => {
                    let place = location(value);
                    // An empty text is called as it is written, too.
                    let is_written = self.is_mysql() && target.location == UNNAMED;
                    let nameless = target.name.is_empty() && !is_written;
                    let name = if nameless { names::column(value) } else { target.name.clone() };
                    if let Some(N::ColumnRef(reference)) = inner {
                        let column = self.column_entry(reference)?;
                        let unnamed = self.is_mysql() && target.location == UNNAMED && self.source.is_some();
                        let name =
                            if unnamed && self.is_called_by_its_own(&column) { column.name.clone() } else { name };
                        let listed = self.mysql_listed(&column);
                        let not_null = self.is_column_certain(&column);
                        targets.push(Target {
                            column: ResultColumn {
                                name,
                                ty: column.expr.ty.clone(),
                                origin: column.origin,
                                not_null,
                                identity: column.identity,
                                listed,
                            },
                            expr: column.expr,
                            place,
                        });
                    } else {
                        let expr = self.expr(value)?;
                        let not_null = self.is_mysql() && self.mysql_never_null(&expr);
                        let column = ResultColumn { not_null, ..computed(name, expr.ty.clone()) };
                        targets.push(Target { column, expr, place });
                    }
                }
            }
        }
        Ok(targets)
    }

    /// What an item of ORDER BY, GROUP BY or DISTINCT ON means: an item of the select list, or an expression.
    fn item(&mut self, node: &Node, targets: &[Target], clause: ItemClause) -> Result<Item> {
        if let Some(index) = self.item_position(node, targets.len(), clause)? {
            return Ok(Item::Target(index));
        }
        if let Some(N::ColumnRef(reference)) = &node.node
            && let [name] = names::strings(&reference.fields).as_slice()
        {
            // GROUP BY prefers a column of FROM, the others an item of the list.
            let is_input = clause == ItemClause::GroupBy
                && self
                    .scope()
                    .entries
                    .iter()
                    .filter(|entry| entry.unqualified)
                    .any(|entry| entry.columns.iter().any(|column| column.name == **name));
            if !is_input {
                let mut found: Option<usize> = None;
                for (index, target) in targets.iter().enumerate() {
                    if target.column.name != **name {
                        continue;
                    }
                    match found {
                        None => found = Some(index),
                        Some(first) if targets[first].expr == target.expr => {}
                        Some(_) => {
                            return Err(self.error(
                                Condition::AmbiguousColumn,
                                format!("{} \"{name}\" is ambiguous", clause.words()),
                                reference.location,
                            ));
                        }
                    }
                }
                if let Some(index) = found {
                    return Ok(Item::Target(index));
                }
            }
        }
        let (expr, at) = self.placed(node)?;
        let expr = self.settle(expr, at)?;
        match targets.iter().position(|target| ir::alike(&target.expr, &expr)) {
            Some(index) => Ok(Item::Target(index)),
            None => Ok(Item::Other(expr)),
        }
    }

    /// The expression of an item of GROUP BY.
    pub(super) fn group_item(&mut self, node: &Node, targets: &[Target]) -> Result<Expr> {
        let expr = match self.item(node, targets, ItemClause::GroupBy)? {
            Item::Target(index) => {
                let target = &targets[index];
                if has_aggregate(&target.expr) {
                    return Err(self.error(
                        Condition::GroupingError,
                        "aggregate functions are not allowed in GROUP BY",
                        target.place,
                    ));
                }
                if contains(&target.expr, |part| matches!(part, ExprKind::Window(_))) {
                    let message = "window functions are not allowed in GROUP BY";
                    return Err(self.error(Condition::WindowingError, message, target.place));
                }
                target.expr.clone()
            }
            Item::Other(expr) => expr,
        };
        self.check_told_apart(&expr.ty, location(node))?;
        Ok(expr)
    }

    /// True when a value of one type can be assigned to a column of another.
    pub(super) fn assignable(&self, from: &Type, to: &Type) -> bool {
        self.is_mysql()
            || matches!(self.context_of_cast(from, to), Some(CastContext::Implicit | CastContext::Assignment))
    }
}

impl Conversions for Binder<'_> {
    fn ids(&mut self) -> &mut Ids {
        &mut self.ids
    }

    fn convert(&mut self, value: Expr, to: &Type, context: CastContext, place: i32) -> Result<Expr> {
        self.coerce(value, to, context, place)
    }

    /// What is undecided has no value yet.
    fn keeps_apart(&self, from: &Type, _: &Type) -> bool {
        *from == Type::Unknown
    }

    fn is_same_type(&self, a: &Type, b: &Type) -> bool {
        super::coerce::same(a, b)
    }
}

impl set_operation::Rules for Binder<'_> {
    fn widths_differ(&self, operation: set_operation::SetOperation, right: &BoundQuery) -> crate::Error {
        let message = format!("each {} query must have the same number of columns", operation.words());
        self.error(Condition::SyntaxError, message, right.place(0))
    }

    fn common_type(&self, operation: set_operation::SetOperation, pair: Pair<'_>) -> Result<Type> {
        let Pair { left, right, index } = pair;
        let places = (left.place(index), right.place(index));
        if self.is_mysql() {
            let (left, right) = (self.mysql_column_type(left, index), self.mysql_column_type(right, index));
            return Ok(self.mysql_common_type(&[(&left, places.0), (&right, places.1)]));
        }
        let (left, right) = (&left.columns[index].ty, &right.columns[index].ty);
        Binder::common_type(self, &[(left, places.0), (right, places.1)], operation.words())
    }

    fn check_comparable(&self, ty: &Type, place: i32) -> Result<()> {
        self.check_told_apart(ty, place)
    }

    fn is_not_null(&self, left: &ResultColumn, right: &ResultColumn) -> bool {
        self.is_mysql() && left.not_null && right.not_null
    }
}

/// An item of ORDER BY and its like.
enum Item {
    /// The select list's item at a position.
    Target(usize),
    /// Something else.
    Other(Expr),
}

/// DISTINCT ON chooses rows before functions in the select list make several of each, unless rows are ordered by those.
pub(super) fn chosen_before(output: RelId, order_by: &[SortKey], select: &Select, functions: &[From]) -> bool {
    let ids: Vec<RelId> = functions.iter().flat_map(From::relations).collect();
    let of_functions = |key: &Expr| {
        let mut found = false;
        walk::expr(key, &mut |part| {
            found |= matches!(&part.kind, ExprKind::Column(column) if ids.contains(&column.relation));
            !found
        });
        found
    };
    matches!(select.distinct, Distinct::On(_))
        && !order_by.is_empty()
        && !order_by.iter().any(|key| of_functions(&of_items(&key.expr, output, &select.items)))
}

/// A sort key in which items of the select list stand for themselves.
pub(super) fn of_items(key: &Expr, output: RelId, items: &[Expr]) -> Expr {
    let mut key = key.clone();
    walk::expr_mut(&mut key, &mut |part| match part.kind {
        ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if relation == output => {
            *part = items[at].clone();
            false
        }
        _ => true,
    });
    key
}
