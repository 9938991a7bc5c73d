//! Queries.

use pg_query::protobuf::{
    self as pg, JoinType, LimitOption, LockClauseStrength, LockWaitPolicy, Node, SetOperation, SortByDir, SortByNulls,
    node::Node as N,
};
use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, GroupByWithModifier, Join, JoinConstraint, JoinOperator, LimitClause, LockType,
    NamedWindowExpr, NonBlock, ObjectName, OrderByExpr, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier, TableAlias, TableFactor, TableWithJoins,
    Value, ValueWithSpan, With,
};

use super::build::{NOWHERE, UNNAMED, boxed, list, node, select, select_of, star, target, word};
use super::expressions::name_parts;
use super::tree::Converter;
use crate::{Error, Result};

/// DISTINCT of columns as their groups, so that what is not selected can be sorted by: any of a group's values.
fn group_distinct(query: &mut pg::SelectStmt) {
    let column = |item: &Node| {
        let Some(N::ResTarget(item)) = &item.node else { return None };
        let value = item.val.as_deref()?;
        let Some(N::ColumnRef(column)) = &value.node else { return None };
        column.fields.iter().all(|field| matches!(field.node, Some(N::String(_)))).then(|| value.clone())
    };
    let is_plain = matches!(query.distinct_clause.as_slice(), [Node { node: None }])
        && query.group_clause.is_empty()
        && query.having_clause.is_none();
    if let Some(columns) = query.target_list.iter().map(column).collect::<Option<Vec<_>>>().filter(|_| is_plain) {
        query.group_clause = columns;
        query.distinct_clause.clear();
    }
}

pub(super) fn alias_of(alias: &TableAlias) -> pg::Alias {
    pg::Alias {
        aliasname: alias.name.value.clone(),
        colnames: alias.columns.iter().map(|column| word(column.name.value.clone())).collect(),
    }
}

impl Converter<'_> {
    /// A table by its name.
    pub(super) fn range_var(&self, name: &ObjectName) -> Result<pg::RangeVar> {
        let mut parts = self.relation_parts(name)?;
        let relname = parts.pop().unwrap_or_default();
        let schemaname = parts.pop().unwrap_or_default();
        if !parts.is_empty() {
            return Err(Error::syntax(format!("the name {name} has too many parts")));
        }
        Ok(pg::RangeVar {
            schemaname,
            relname,
            inh: true,
            relpersistence: "p".to_owned(),
            location: NOWHERE,
            ..Default::default()
        })
    }

    pub(super) fn query(&mut self, query: &Query) -> Result<pg::SelectStmt> {
        self.deeper(|converter| converter.query_inner(query))
    }

    fn query_inner(&mut self, query: &Query) -> Result<pg::SelectStmt> {
        let mut body = self.set_expression(&query.body)?;
        let has_own = body.with_clause.is_some()
            || !body.sort_clause.is_empty()
            || body.limit_count.is_some()
            || body.limit_offset.is_some();
        let adds = query.with.is_some() || query.order_by.is_some() || query.limit_clause.is_some();
        if (has_own && adds) || (body.op() != SetOperation::SetopNone && sorts_by_expressions(query)) {
            // (SELECT … LIMIT 1) ORDER BY …: what is inside is a table, and so is a union that is sorted by expressions.
            let inside = std::mem::replace(&mut body, select());
            body.target_list = vec![target("", star(Vec::new()))];
            body.from_clause = vec![derived(
                inside,
                false,
                pg::Alias { aliasname: super::PARENTHESIZED.to_owned(), colnames: Vec::new() },
            )];
        }
        if let Some(with) = &query.with {
            body.with_clause = Some(self.with_clause(with)?);
        }
        if let Some(order) = &query.order_by {
            let OrderByKind::Expressions(keys) = &order.kind else {
                return Err(Error::unsupported("ORDER BY ALL"));
            };
            body.sort_clause = self.sort_keys(keys)?;
            if !self.modes.full_group_by {
                group_distinct(&mut body);
            }
        }
        match &query.limit_clause {
            None => {}
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                body.limit_count = limit.as_ref().map(|limit| self.limit(limit)).transpose()?.map(Box::new);
                body.limit_offset = offset.as_ref().map(|offset| self.limit(&offset.value)).transpose()?.map(Box::new);
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                body.limit_offset = boxed(self.limit(offset)?);
                body.limit_count = boxed(self.limit(limit)?);
            }
        }
        if body.limit_count.is_some() || body.limit_offset.is_some() {
            // Without it nobody would print a limit that is there.
            body.limit_option = LimitOption::Count as i32;
        }
        for lock in &query.locks {
            let strength = match lock.lock_type {
                LockType::Share => LockClauseStrength::LcsForshare,
                LockType::Update => LockClauseStrength::LcsForupdate,
            };
            let wait = match lock.nonblock {
                Some(NonBlock::Nowait) => LockWaitPolicy::LockWaitError,
                Some(NonBlock::SkipLocked) => LockWaitPolicy::LockWaitSkip,
                None => LockWaitPolicy::LockWaitBlock,
            };
            let locked_rels = match &lock.of {
                Some(name) => vec![node(N::RangeVar(self.range_var(name)?))],
                None => Vec::new(),
            };
            body.locking_clause.push(node(N::LockingClause(pg::LockingClause {
                locked_rels,
                strength: strength as i32,
                wait_policy: wait as i32,
            })));
        }
        Ok(body)
    }

    pub(super) fn with_clause(&mut self, with: &With) -> Result<pg::WithClause> {
        let member = |converter: &mut Self, cte: &sqlparser::ast::Cte| -> Result<Node> {
            Ok(node(N::CommonTableExpr(Box::new(pg::CommonTableExpr {
                ctename: cte.alias.name.value.clone(),
                aliascolnames: cte.alias.columns.iter().map(|column| word(column.name.value.clone())).collect(),
                ctematerialized: pg::CteMaterialize::Default as i32,
                ctequery: boxed(select_of(converter.query(&cte.query)?)),
                location: NOWHERE,
                ..Default::default()
            }))))
        };
        let ctes = with.cte_tables.iter().map(|cte| member(self, cte)).collect::<Result<_>>()?;
        Ok(pg::WithClause { ctes, recursive: with.recursive, location: NOWHERE })
    }

    /// A number, a parameter or a variable of a routine; MySQL's largest number means without a limit.
    fn limit(&mut self, limit: &Expr) -> Result<Node> {
        let is_one = match limit {
            Expr::Value(value) => matches!(value.value, Value::Number(..) | Value::Placeholder(_)),
            Expr::Identifier(ident) => !ident.value.starts_with('@'),
            _ => false,
        };
        if !is_one {
            return Err(Error::syntax(format!("\"{limit}\"")));
        }
        if let Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) = limit
            && digits.parse::<u64>().is_ok_and(|value| value > i64::MAX as u64)
        {
            return Ok(super::build::number(&i64::MAX.to_string()));
        }
        self.expression(limit)
    }

    fn set_expression(&mut self, body: &SetExpr) -> Result<pg::SelectStmt> {
        self.deeper(|converter| converter.set_expression_inner(body))
    }

    fn set_expression_inner(&mut self, body: &SetExpr) -> Result<pg::SelectStmt> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let op = match op {
                    SetOperator::Union => SetOperation::SetopUnion,
                    SetOperator::Intersect => SetOperation::SetopIntersect,
                    SetOperator::Except | SetOperator::Minus => SetOperation::SetopExcept,
                };
                let (left, right) = (self.set_expression(left)?, self.set_expression(right)?);
                Ok(pg::SelectStmt {
                    op: op as i32,
                    all: matches!(set_quantifier, SetQuantifier::All),
                    larg: Some(Box::new(left)),
                    rarg: Some(Box::new(right)),
                    ..select()
                })
            }
            SetExpr::Values(values) => {
                let row = |converter: &mut Self, row: &[Expr]| Ok(list(converter.expressions(row)?));
                let values_lists = values.rows.iter().map(|members| row(self, members)).collect::<Result<_>>()?;
                Ok(pg::SelectStmt { values_lists, ..select() })
            }
            SetExpr::Table(table) => {
                let name = |part: &Option<String>| part.clone().unwrap_or_default();
                let relation = pg::RangeVar {
                    schemaname: name(&table.schema_name.as_ref().map(ToString::to_string)),
                    relname: name(&table.table_name.as_ref().map(ToString::to_string)),
                    inh: true,
                    relpersistence: "p".to_owned(),
                    location: NOWHERE,
                    ..Default::default()
                };
                Ok(pg::SelectStmt {
                    target_list: vec![target("", star(Vec::new()))],
                    from_clause: vec![node(N::RangeVar(relation))],
                    ..select()
                })
            }
            // UPDATE and DELETE behind WITH are statements; nothing else may be a change.
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Err(Error::syntax(format!("a query, not \"{body}\"")))
            }
        }
    }

    fn select(&mut self, query: &Select) -> Result<pg::SelectStmt> {
        if query.into.is_some() {
            return Err(Error::unsupported("SELECT … INTO"));
        }
        if query.select_modifiers.as_ref().is_some_and(|modifiers| modifiers.sql_calc_found_rows) {
            self.counts_found = true;
        }
        let names = self.take_names();
        let mut made = select();
        if let Some(Distinct::Distinct) = query.distinct {
            made.distinct_clause = vec![Node { node: None }];
        }
        for (at, item) in query.projection.iter().enumerate() {
            made.target_list.push(self.select_item(item, names.as_ref().and_then(|names| names.get(at)))?);
        }
        made.from_clause = self.tables(&query.from)?;
        made.where_clause = self.optional(query.selection.as_ref())?;
        match &query.group_by {
            GroupByExpr::Expressions(keys, modifiers) => {
                let keys = self.expressions(keys)?;
                made.group_clause = match modifiers.as_slice() {
                    [] => keys,
                    [GroupByWithModifier::Rollup] => vec![node(N::GroupingSet(pg::GroupingSet {
                        kind: pg::GroupingSetKind::GroupingSetRollup as i32,
                        content: keys,
                        location: NOWHERE,
                    }))],
                    _ => return Err(Error::unsupported("this GROUP BY")),
                };
            }
            GroupByExpr::All(_) => return Err(Error::unsupported("GROUP BY ALL")),
        }
        made.having_clause = self.optional(query.having.as_ref())?;
        for window in &query.named_window {
            let mut definition = match &window.1 {
                NamedWindowExpr::WindowSpec(spec) => self.window_spec(spec)?,
                NamedWindowExpr::NamedWindow(_) => return Err(Error::unsupported("a window named twice")),
            };
            definition.name = window.0.value.clone();
            made.window_clause.push(node(N::WindowDef(Box::new(definition))));
        }
        Ok(made)
    }

    pub(super) fn optional(&mut self, expr: Option<&Expr>) -> Result<Option<Box<Node>>> {
        Ok(expr.map(|expr| self.expression(expr)).transpose()?.map(Box::new))
    }

    /// What is selected; without a name of its own it is called as it is written.
    fn select_item(&mut self, item: &SelectItem, written: Option<&String>) -> Result<Node> {
        Ok(match item {
            SelectItem::UnnamedExpr(expr) => {
                let mut named = expr;
                // Brackets say nothing.
                while let Expr::Nested(inner) = named
                    && matches!(**inner, Expr::Nested(_) | Expr::Identifier(_) | Expr::CompoundIdentifier(_))
                {
                    named = inner;
                }
                // Nor does a text's character set.
                if let Expr::Prefixed { value, .. } = named
                    && matches!(&**value, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(_), .. }))
                {
                    named = value;
                }
                let name = match named {
                    Expr::Identifier(ident) if !ident.value.starts_with('@') => ident.value.clone(),
                    Expr::CompoundIdentifier(parts) if !parts[0].value.starts_with('@') => {
                        parts.last().map(|part| part.value.clone()).unwrap_or_default()
                    }
                    Expr::Value(ValueWithSpan {
                        value: Value::SingleQuotedString(text) | Value::DoubleQuotedString(text),
                        ..
                    }) => text.trim_start().to_owned(),
                    Expr::Value(ValueWithSpan { value: Value::Null, .. }) => "NULL".to_owned(),
                    Expr::Value(ValueWithSpan { value: Value::NationalStringLiteral(text), .. }) => text.clone(),
                    expr => written.cloned().unwrap_or_else(|| expr.to_string()),
                };
                let mut made = target(name, self.expression(expr)?);
                if let Some(N::ResTarget(target)) = &mut made.node {
                    target.location = UNNAMED;
                }
                made
            }
            SelectItem::ExprWithAlias { expr, alias } => target(alias.value.clone(), self.expression(expr)?),
            SelectItem::Wildcard(_) => target("", star(Vec::new())),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                target("", star(name_parts(name)?))
            }
            other => return Err(Error::unsupported(format!("{other} in a list of columns"))),
        })
    }

    pub(super) fn sort_keys(&mut self, keys: &[OrderByExpr]) -> Result<Vec<Node>> {
        // ORDER BY NULL asks for no order.
        let is_null = |key: &&OrderByExpr| matches!(&key.expr, Expr::Value(ValueWithSpan { value: Value::Null, .. }));
        keys.iter().filter(|key| !is_null(key)).map(|key| self.sort_key(key)).collect()
    }

    /// NULLs are the least of values.
    fn sort_key(&mut self, key: &OrderByExpr) -> Result<Node> {
        let descends = key.options.sort.as_ref().is_some_and(|sort| matches!(sort, sqlparser::ast::OrderBySort::Desc));
        let (dir, nulls) = match descends {
            true => (SortByDir::SortbyDesc, SortByNulls::SortbyNullsLast),
            false => (SortByDir::SortbyAsc, SortByNulls::SortbyNullsFirst),
        };
        Ok(node(N::SortBy(Box::new(pg::SortBy {
            node: boxed(self.expression(&key.expr)?),
            sortby_dir: dir as i32,
            sortby_nulls: nulls as i32,
            use_op: Vec::new(),
            location: NOWHERE,
        }))))
    }

    pub(super) fn tables(&mut self, from: &[TableWithJoins]) -> Result<Vec<Node>> {
        // DUAL is no table.
        let is_dual = |table: &TableWithJoins| {
            table.joins.is_empty()
                && matches!(&table.relation, TableFactor::Table { name, .. }
                    if name.to_string().eq_ignore_ascii_case("dual"))
        };
        from.iter().filter(|table| !is_dual(table)).map(|table| self.joined(table)).collect()
    }

    pub(super) fn joined(&mut self, table: &TableWithJoins) -> Result<Node> {
        let mut left = self.table(&table.relation)?;
        for join in &table.joins {
            left = self.join(left, join)?;
        }
        Ok(left)
    }

    fn join(&mut self, left: Node, join: &Join) -> Result<Node> {
        let (kind, constraint) = match &join.join_operator {
            JoinOperator::Join(constraint)
            | JoinOperator::Inner(constraint)
            | JoinOperator::CrossJoin(constraint)
            | JoinOperator::StraightJoin(constraint) => (JoinType::JoinInner, constraint),
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (JoinType::JoinLeft, constraint),
            JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => (JoinType::JoinRight, constraint),
            _ => return Err(Error::unsupported("this kind of join")),
        };
        let right = self.table(&join.relation)?;
        let mut made =
            pg::JoinExpr { jointype: kind as i32, larg: boxed(left), rarg: boxed(right), ..Default::default() };
        match constraint {
            JoinConstraint::On(condition) => made.quals = boxed(self.expression(condition)?),
            JoinConstraint::Using(columns) => {
                for column in columns {
                    made.using_clause.extend(name_parts(column)?.pop().map(word));
                }
            }
            JoinConstraint::Natural => made.is_natural = true,
            JoinConstraint::None if kind == JoinType::JoinInner => {}
            JoinConstraint::None => return Err(Error::syntax("an outer join wants ON or USING")),
            JoinConstraint::UsingAlias(..) => return Err(Error::unsupported("a name for USING")),
        }
        Ok(node(N::JoinExpr(Box::new(made))))
    }

    pub(super) fn table(&mut self, table: &TableFactor) -> Result<Node> {
        match table {
            TableFactor::Table { name, alias, args: None, partitions, .. } => {
                let alias = alias.as_ref().map(alias_of);
                let table = node(N::RangeVar(pg::RangeVar { alias, ..self.range_var(name)? }));
                if partitions.is_empty() {
                    return Ok(table);
                }
                let partitions: Vec<String> = partitions.iter().map(|name| name.value.clone()).collect();
                Ok(super::partitions::sampled(table, &partitions))
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                let query = self.query(subquery)?;
                let Some(alias) = alias else {
                    let message = "Every derived table must have its own alias";
                    return Err(Error::new(crate::Condition::SyntaxError, message).with_mysql(1248, "42000"));
                };
                Ok(derived(query, *lateral, alias_of(alias)))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let inner = self.joined(table_with_joins)?;
                match (alias, inner) {
                    (None, inner) => Ok(inner),
                    (Some(_), _) => Err(Error::unsupported("a name for a join")),
                }
            }
            TableFactor::JsonTable { json_expr, json_path, columns, alias } => {
                self.json_table(json_expr, json_path, columns, alias.as_ref())
            }
            other => Err(Error::unsupported(format!("{other} in FROM"))),
        }
    }
}

/// A query in FROM.
/// ORDER BY has more than names and positions.
fn sorts_by_expressions(query: &Query) -> bool {
    match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(keys)) => {
            keys.iter().any(|key| !matches!(key.expr, Expr::Identifier(_) | Expr::Value(_)))
        }
        _ => false,
    }
}

pub(super) fn derived(query: pg::SelectStmt, lateral: bool, alias: pg::Alias) -> Node {
    let subquery = boxed(select_of(query));
    node(N::RangeSubselect(Box::new(pg::RangeSubselect { lateral, subquery, alias: Some(alias) })))
}
