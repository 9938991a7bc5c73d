//! Queries.

use super::expr::sortable;
use super::scope::{Scope, Visible};
use super::set_operation::{Sides, bound_query};
use super::{Binder, Found, Place};
use crate::access::Privileges;
use crate::bind::grouping::{self, has_aggregate};
use crate::bind::query::{BoundQuery, computed, outputs};
use crate::bind::set_operation::{self, SetOperation};
use crate::bind::view;
use crate::informix::ast::{Body, Node, NodeKind, OrderKey, Query, Select, Source};
use crate::informix::types::type_words;
use crate::informix::values::composite::Shape;
use crate::ir::{self, ColumnIndex, Distinct, Expr, ExprKind, From, GroupBy, JoinKind, OutputColumn, RelId, SortKey};
use crate::plan::ResultColumn;
use crate::schema::RelationKind;
use crate::uses::{NamedColumn, NamedRelation, Star};
use crate::{Condition, Language, Result, Type, budget};

/// A bound SELECT and what is known of its columns.
struct Bound {
    body: ir::Body,
    columns: Vec<ResultColumn>,
    /// The result as a relation.
    output: RelId,
    /// Sort keys may be expressions over the FROM clause (not in a set operation).
    scope: Option<Scope>,
    items: Vec<Expr>,
    grouped: bool,
}

impl Binder<'_> {
    /// A query as a statement of its own.
    pub fn top_query(&mut self, query: &Query) -> Result<(ir::Query, Vec<ResultColumn>)> {
        self.query(query)
    }

    /// A query inside an expression: names of the outer query are visible.
    pub fn subquery(&mut self, query: &Query) -> Result<ir::Query> {
        if query.into.is_some() {
            return Err(self.error(Condition::SyntaxError, "INTO cannot stand in a subquery", query.at));
        }
        Ok(self.query(query)?.0)
    }

    /// A query of one row without FROM.
    pub fn query_of(&mut self, items: Vec<Expr>, columns: Vec<OutputColumn>) -> ir::Query {
        let select = ir::Select::of(items, None);
        ir::Query::of(ir::Body::Select(Box::new(select)), columns, self.ids.relation())
    }

    pub(super) fn query(&mut self, query: &Query) -> Result<(ir::Query, Vec<ResultColumn>)> {
        let hierarchies = self.hierarchies.len();
        let bound = budget::deeper(|| self.query_here(query));
        self.hierarchies.truncate(hierarchies);
        bound
    }

    fn query_here(&mut self, query: &Query) -> Result<(ir::Query, Vec<ResultColumn>)> {
        let visible = self.ctes.len();
        let mut ctes = self.with(&query.ctes, query.at)?;
        let hierarchies = self.hierarchies.len();
        let mut bound = self.body(query)?;
        let order_by = if query.siblings {
            self.order_siblings(query, hierarchies)?;
            Vec::new()
        } else {
            self.order_by(&query.order_by, &bound)?
        };
        if let Some(hierarchy) = self.hierarchies.split_off(hierarchies).pop()
            && let ir::Body::Select(select) = &mut bound.body
        {
            let (cte, from) = self.climbed(hierarchy)?;
            ctes.push(cte);
            select.from = Some(from);
        }
        let limit = self.count(query.first.as_ref())?;
        let offset = self.count(query.skip.as_ref())?;
        self.ctes.truncate(visible);
        let locking = match &bound.body {
            ir::Body::Select(select) if query.for_update && !bound.grouped && select.distinct == Distinct::All => {
                ir::row_locks_of(select.from.as_ref(), ir::LockMode::AccessExclusive, ir::LockWait::Block)
            }
            _ => Vec::new(),
        };
        for (name, at) in &query.update_of {
            let shown = bound.scope.iter().flat_map(|scope| &scope.relations).flat_map(|shown| &shown.columns);
            if !shown.into_iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
                let message = format!("column ({name}) not found in any table in the query");
                return Err(self.error(Condition::UndefinedColumn, message, *at).column(name));
            }
        }
        let of_sides = matches!(bound.body, ir::Body::Set { .. });
        let bare = ir::Query::of(bound.body, outputs(&bound.columns), bound.output);
        let mut bound = bound_query((bare, bound.columns));
        if of_sides {
            bound = set_operation::sorted(bound, order_by, &mut self.ids)?;
        } else {
            bound.query.order_by = order_by;
        }
        let BoundQuery { query, columns, .. } = bound;
        Ok((ir::Query { ctes, limit, offset, locking, ..query }, columns))
    }

    fn count(&mut self, node: Option<&Node>) -> Result<Option<Expr>> {
        let Some(node) = node else { return Ok(None) };
        let expr = self.expr(node)?;
        Ok(Some(self.coerce(expr, &Type::Int8, node.at)?))
    }

    fn body(&mut self, query: &Query) -> Result<Bound> {
        match &query.body {
            Body::Select(select) => self.select(select),
            Body::Set { op, all, left, right } => {
                let operation = SetOperation { op: *op, all: *all };
                let left = bound_query(self.query(left)?);
                let (at, right) = (right.at, bound_query(self.query(right)?));
                let bound = Sides { binder: self, at, recursive: false }.united(operation, left, right)?;
                let BoundQuery { query, columns, .. } = bound;
                let output = query.output;
                Ok(Bound { body: query.body, columns, output, scope: None, items: Vec::new(), grouped: false })
            }
        }
    }

    fn select(&mut self, select: &Select) -> Result<Bound> {
        self.scopes.push(Scope::default());
        let place = std::mem::take(&mut self.place);
        let result = self.select_in_scope(select);
        self.place = place;
        let scope = self.scopes.pop();
        result.map(|mut bound| {
            bound.scope = scope;
            bound
        })
    }

    fn select_in_scope(&mut self, select: &Select) -> Result<Bound> {
        let mut joined: Option<From> = None;
        let mut outers = Vec::new();
        if let Some(connect) = &select.connect {
            joined = Some(self.hierarchy(connect, &select.from)?);
        }
        for source in select.from.iter().filter(|_| select.connect.is_none()) {
            if let Source::Outer(members) = source {
                outers.push(self.outer(members)?);
            } else {
                let from = self.source(source)?;
                joined = Some(cross(joined, from));
            }
        }
        let mut filters = Vec::new();
        for conjunct in conjuncts(select.filter.as_ref()) {
            self.touched.clear();
            let condition = self.condition(conjunct)?;
            // A condition about an outer table is a condition of its join.
            let touched = std::mem::take(&mut self.touched);
            let left = outers.iter_mut().try_fold(condition, |condition, outer| outer.take(condition, &touched));
            filters.extend(left);
        }
        for outer in outers {
            let Some(left) = joined.take() else {
                return Err(self.error(Condition::SyntaxError, "OUTER needs a table to preserve", 0));
            };
            joined = Some(outer.join(left));
        }

        let mut items = Vec::new();
        let mut columns = Vec::new();
        self.place = Place::RESULT;
        for item in &select.items {
            if let NodeKind::Star(table) = &item.expr.kind {
                self.star(table.as_deref(), item.expr.at, &mut items, &mut columns)?;
                continue;
            }
            let expr = self.expr(&item.expr)?;
            let expr = self.decided(expr, item.expr.at)?;
            let column = self.result_column(&item.expr, item.alias.as_deref(), &expr);
            items.push(expr);
            columns.push(column);
        }

        let mut keys = Vec::new();
        self.place = Place::default();
        for key in &select.group_by {
            let expr = match &key.kind {
                NodeKind::Number(digits) => {
                    let at = digits.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
                    at.and_then(|at| items.get(at).cloned()).ok_or_else(|| {
                        self.error(Condition::InvalidColumnNumber, "GROUP BY has no such column", key.at)
                    })?
                }
                // The name of a select item counts, too.
                NodeKind::Name(names) => match self.expr(key) {
                    Ok(expr) => expr,
                    Err(error) => match names[..] {
                        [ref name] => columns
                            .iter()
                            .position(|column| column.name.eq_ignore_ascii_case(name))
                            .map(|at| items[at].clone())
                            .ok_or(error)?,
                        _ => return Err(error),
                    },
                },
                _ => self.expr(key)?,
            };
            keys.push(expr);
        }
        self.place = Place::HAVING;
        let having = match &select.having {
            Some(having) => Some(self.condition(having)?),
            None => None,
        };
        let grouped = !keys.is_empty() || having.is_some() || items.iter().any(has_aggregate);
        if grouped {
            for item in &items {
                self.check_grouped(item, &keys, 0)?;
            }
            if let (Some(having), Some(written)) = (&having, &select.having) {
                self.check_grouped(having, &keys, written.at)?;
            }
        }
        let body = ir::Body::Select(Box::new(ir::Select {
            distinct: if select.distinct { Distinct::Rows } else { Distinct::All },
            items: items.clone(),
            from: joined,
            filter: all_of(filters),
            group_by: if keys.is_empty() { GroupBy::None } else { GroupBy::Keys(keys) },
            having,
        }));
        Ok(Bound { body, columns, output: self.ids.relation(), scope: None, items, grouped })
    }

    fn innermost(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn star(
        &mut self,
        table: Option<&str>,
        at: usize,
        items: &mut Vec<Expr>,
        columns: &mut Vec<ResultColumn>,
    ) -> Result<()> {
        let before = items.len();
        let relations = self.innermost().relations.clone();
        let mut star = Star { place: at, columns: Vec::new() };
        for visible in &relations {
            if table.is_some_and(|name| !visible.name.eq_ignore_ascii_case(name)) {
                continue;
            }
            self.note(|uses| {
                let qualifier = (!visible.name.is_empty()).then(|| visible.name.clone());
                for (position, column) in visible.columns.iter().enumerate() {
                    star.columns.push((qualifier.clone(), column.name.clone()));
                    uses.columns.push(NamedColumn { id: visible.behind, position, place: Some(at), whole: false });
                }
            });
            for (position, column) in visible.columns.iter().enumerate() {
                self.needs.read_of(visible.behind, position);
                items.push(Expr::column(visible.id, position, column.ty.clone()));
                columns.push(column.clone());
            }
        }
        self.note(|uses| uses.stars.push(star));
        if items.len() == before {
            return Err(match table {
                Some(table) => {
                    self.error(Condition::UndefinedTable, format!("table ({table}) is not in the FROM list"), at)
                }
                None => self.error(Condition::SyntaxError, "SELECT * needs a FROM clause", at),
            });
        }
        Ok(())
    }

    fn result_column(&mut self, node: &Node, alias: Option<&str>, expr: &Expr) -> ResultColumn {
        let mut column = ResultColumn {
            name: expression_name(node),
            ty: expr.ty.clone(),
            origin: None,
            not_null: false,
            identity: false,
            listed: None,
        };
        if let ExprKind::Column(reference) = &expr.kind
            && let ColumnIndex::At(position) = reference.column
        {
            let found = self
                .scopes
                .iter()
                .flat_map(|scope| &scope.relations)
                .find(|visible| visible.id == reference.relation)
                .and_then(|visible| visible.columns.get(position));
            if let Some(found) = found {
                column = found.clone();
                // One of a DISTINCT type may be told as of its source type.
                column.ty = expr.ty.clone();
            }
        }
        if let Some(alias) = alias {
            column.name = alias.to_owned();
        }
        column
    }

    fn note_relation(
        &mut self,
        id: RelId,
        relation: &std::sync::Arc<crate::schema::Relation>,
        at: usize,
        aliased: bool,
    ) {
        // What is in another database has no object id here.
        if relation.is_elsewhere() {
            return;
        }
        let named = NamedRelation { id, relation: relation.clone(), place: Some(at), aliased };
        self.note(|uses| uses.relations.push(named));
    }

    pub(super) fn source(&mut self, source: &Source) -> Result<From> {
        match source {
            Source::Table { name, alias } => {
                if name.owner.is_none()
                    && name.database.is_none()
                    && let Some((_, cte, columns)) =
                        self.ctes.iter().rev().find(|(cte, _, _)| *cte == name.name).cloned()
                {
                    let id = self.ids.relation();
                    let alias = alias.clone().unwrap_or_else(|| name.name.clone());
                    let visible = columns.iter().map(|column| computed(&*column.name, column.ty.clone())).collect();
                    self.show(Visible { id, name: alias, columns: visible, relation: None, behind: id });
                    return Ok(From::Cte { id, cte, columns });
                }
                let Found { relation, elsewhere } = self.found(name)?;
                let shown = alias.clone().unwrap_or_else(|| name.name.clone());
                if let RelationKind::View { definition, pins, .. } = &relation.kind {
                    let itself = |binder: &Self| {
                        let message = format!("view {} contains itself", relation.name);
                        binder.error(Condition::InvalidObjectDefinition, message, name.at)
                    };
                    let (id, query) = view::expanded(self, &relation, itself, |binder| {
                        let (database, schema) = match &elsewhere {
                            Some((database, schema)) => (database, &**schema),
                            None => (&binder.context.database, binder.schema),
                        };
                        let (ids, views, needs) = (&mut binder.ids, &mut binder.views, &mut binder.needs);
                        let query = match (relation.language, &elsewhere) {
                            (Language::Informix, None) => binder.view(definition),
                            (Language::Informix, Some(_)) => {
                                super::view_query(definition, schema, database, ids, views, needs)
                            }
                            (language, _) => crate::postgres::view_query(
                                (definition, language, pins),
                                schema,
                                database,
                                ids,
                                views,
                                needs,
                            ),
                        };
                        query.map_err(|error| error.detail(format!("in view {}", relation.name)))
                    })?;
                    self.shown_views.push((id, relation.clone()));
                    let mut visible = Visible::of_table(id, shown, &relation, None);
                    for (column, output) in visible.columns.iter_mut().zip(&query.columns) {
                        column.ty = output.ty.clone();
                    }
                    self.show(visible);
                    self.note_relation(id, &relation, name.at, alias.is_some());
                    return Ok(From::Query { id, query: Box::new(query), lateral: false });
                }
                let id = self.ids.relation();
                self.need(id, &relation, Privileges::SELECT);
                let visible = Visible::of_table(id, shown, &relation, Some(relation.clone()));
                self.show(visible);
                self.note_relation(id, &relation, name.at, alias.is_some());
                Ok(From::Relation { id, relation, filter: None })
            }
            Source::Query { query, alias, columns, lateral } => {
                // Tables of the same FROM are not visible inside, unless LATERAL says so.
                let outer = if *lateral { None } else { self.scopes.pop() };
                let bound = self.query(query);
                self.scopes.extend(outer);
                let (bound, mut result) = bound?;
                if !columns.is_empty() {
                    if columns.len() != result.len() {
                        return Err(self.error(
                            Condition::ColumnCountMismatch,
                            "the derived table has another number of columns",
                            query.at,
                        ));
                    }
                    for (column, name) in result.iter_mut().zip(columns) {
                        column.name.clone_from(name);
                    }
                }
                let id = self.ids.relation();
                let name = alias.clone().unwrap_or_default();
                self.show(Visible { id, name, columns: result, relation: None, behind: id });
                Ok(From::Query { id, query: Box::new(bound), lateral: *lateral })
            }
            Source::Expression { expr, alias, columns } => self.table_expression(expr, alias.as_deref(), columns),
            Source::Join { kind, left, right, on } => {
                let left = Box::new(self.source(left)?);
                let right = Box::new(self.source(right)?);
                let on = match on {
                    Some(on) => Some(self.condition(on)?),
                    None => None,
                };
                Ok(From::Join { kind: *kind, left, right, on })
            }
            Source::Outer(_) => self.unsupported("OUTER inside a join", 0),
        }
    }

    /// `TABLE(SET{1, 2})`: a row for each member.
    fn table_expression(&mut self, expr: &Node, alias: Option<&str>, names: &[String]) -> Result<From> {
        if let NodeKind::Call(call) = &expr.kind {
            let mut rows = None;
            if self.is_own_routine(call.database.as_deref()) {
                rows = self.routine_rows(&call.name, &call.args, expr.at)?;
            }
            if rows.is_none() {
                rows = self.builtin_rows(&call.name, &call.args, expr.at)?;
            }
            let Some((from, id, mut columns)) = rows else {
                let message = format!("routine ({}) cannot be resolved", call.name);
                return Err(self.error(Condition::UndefinedFunction, message, expr.at).column(&*call.name));
            };
            for (at, column) in columns.iter_mut().enumerate() {
                if let Some(name) = names.get(at) {
                    column.name.clone_from(name);
                } else if column.name == "(expression)" {
                    column.name = format!("unnamed_col_{}", at + 1);
                }
            }
            self.show_columns(id, alias, &columns);
            return Ok(from);
        }
        let NodeKind::Collection(_, members) = &expr.kind else {
            return self.members_of(expr, alias, names);
        };
        // The fields of rows are columns.
        let rows: Option<Vec<&[Node]>> = members
            .iter()
            .map(|member| match &member.kind {
                NodeKind::Row(fields) => Some(&**fields),
                _ => None,
            })
            .collect();
        let rows = match rows.filter(|rows| rows.windows(2).all(|pair| pair[0].len() == pair[1].len())) {
            Some(rows) if !rows.is_empty() => rows,
            _ => members.iter().map(std::slice::from_ref).collect(),
        };
        let width = rows.first().map_or(1, |row| row.len());
        let mut values: Vec<Vec<Expr>> = vec![Vec::with_capacity(width); rows.len()];
        let mut columns = Vec::with_capacity(width);
        for at in 0..width {
            let column = rows.iter().map(|row| self.expr(&row[at])).collect::<Result<Vec<_>>>()?;
            let (column, ty) = self.united(column, expr.at)?;
            values.iter_mut().zip(column).for_each(|(row, value)| row.push(value));
            let name = names.get(at).cloned().unwrap_or_else(|| format!("unnamed_col_{}", at + 1));
            columns.push(OutputColumn { name, ty });
        }
        let id = self.ids.relation();
        let query = ir::Query::of(ir::Body::Values(values), columns.clone(), self.ids.relation());
        self.show_columns(id, alias, &columns);
        Ok(From::Query { id, query: Box::new(query), lateral: false })
    }

    /// `TABLE(column)`: a row for each member of the collection that a column, a variable or a subquery has.
    fn members_of(&mut self, expr: &Node, alias: Option<&str>, names: &[String]) -> Result<From> {
        let collection = self.expr(expr)?;
        let shape = |ty: &Type| match ty {
            Type::Composite(words) => Shape::of(words),
            _ => None,
        };
        let Some(Shape::Collection { element, .. }) = shape(&collection.ty) else {
            return self.unsupported("TABLE(…) of other than a collection", expr.at);
        };
        let id = self.ids.relation();
        let name = names.first().cloned().unwrap_or_else(|| "unnamed_col_1".to_owned());
        let columns = vec![OutputColumn { name, ty: element.clone() }];
        let args = vec![collection, Expr::text(type_words(&element))];
        let function = super::coerce::row("ifx_members");
        let members = From::Function { id, function, args, columns: columns.clone(), ordinality: false };
        let Some(Shape::Row(fields)) = shape(&element) else {
            self.show_columns(id, alias, &columns);
            return Ok(members);
        };
        let row = Expr::column(id, 0, element);
        let (mut items, mut columns) = (Vec::with_capacity(fields.len()), Vec::with_capacity(fields.len()));
        for (at, (field, ty)) in fields.into_iter().enumerate() {
            let place = Expr::integer(at as i64 + 1, Type::Int4);
            let text = super::coerce::call("ifx_row_field", vec![row.clone(), place], Type::Text);
            items.push(self.coerce(text, &ty, expr.at)?);
            columns.push(OutputColumn { name: names.get(at).cloned().unwrap_or(field), ty });
        }
        let select = ir::Select::of(items, Some(members));
        let body = ir::Body::Select(Box::new(select));
        let query = ir::Query::of(body, columns.clone(), self.ids.relation());
        let id = self.ids.relation();
        self.show_columns(id, alias, &columns);
        Ok(From::Query { id, query: Box::new(query), lateral: true })
    }

    fn show_columns(&mut self, id: RelId, alias: Option<&str>, columns: &[OutputColumn]) {
        let columns = columns.iter().map(|column| computed(&*column.name, column.ty.clone())).collect();
        let name = alias.unwrap_or_default().to_owned();
        self.show(Visible { id, name, columns, relation: None, behind: id });
    }

    /// The relations of the innermost FROM so far.
    pub(super) fn visible_relations(&mut self) -> Vec<RelId> {
        self.innermost().relations.iter().map(|visible| visible.id).collect()
    }

    pub(super) fn show(&mut self, visible: Visible) {
        self.innermost().relations.push(visible);
    }

    /// A view's defining query, bound without the scopes of the query that names it.
    pub(super) fn view(&mut self, definition: &str) -> Result<ir::Query> {
        budget::given(definition);
        let query = crate::informix::parser::Parser::new(definition)?.whole_query()?;
        let scopes = std::mem::take(&mut self.scopes);
        let ctes = std::mem::take(&mut self.ctes);
        let bound = self.query(&query);
        self.scopes = scopes;
        self.ctes = ctes;
        Ok(bound?.0)
    }

    fn order_by(&mut self, keys: &[OrderKey], bound: &Bound) -> Result<Vec<SortKey>> {
        let output = bound.output;
        let mut sorted = Vec::new();
        for key in keys {
            let named = match &key.expr.kind {
                NodeKind::Number(digits) => Some(
                    digits
                        .parse::<usize>()
                        .ok()
                        .and_then(|at| at.checked_sub(1))
                        .filter(|at| *at < bound.columns.len())
                        .ok_or_else(|| {
                            self.error(Condition::InvalidColumnNumber, "ORDER BY has no such column", key.expr.at)
                        })?,
                ),
                NodeKind::Name(names) => {
                    let name = names.last().map(String::as_str).unwrap_or_default();
                    let matches = |column: &ResultColumn| column.name.eq_ignore_ascii_case(name);
                    if names.len() == 1 || bound.scope.is_none() {
                        bound.columns.iter().position(matches)
                    } else {
                        None
                    }
                }
                _ => None,
            };
            let expr = match (named, &bound.scope) {
                // An item that is not merely its column sorts by its own value.
                (Some(at), Some(_))
                    if matches!(bound.columns[at].ty.without_distinct(), Type::QualifiedInterval(_)) =>
                {
                    bound.items[at].clone()
                }
                (Some(at), _) => Expr::column(output, at, bound.columns[at].ty.clone()),
                (None, Some(scope)) => {
                    self.scopes.push(scope.clone());
                    let place = std::mem::replace(&mut self.place, Place::RESULT);
                    let expr = self.expr(&key.expr).and_then(|expr| self.sorted_by(expr, key, bound, output));
                    self.place = place;
                    self.scopes.pop();
                    expr?
                }
                (None, None) => {
                    return Err(self.error(
                        Condition::InvalidColumnReference,
                        "ORDER BY of a UNION names columns of its result",
                        key.expr.at,
                    ));
                }
            };
            sorted.push(SortKey {
                expr: sortable(expr),
                descending: key.descending,
                // NULL is the least value.
                nulls_first: key.nulls_first.unwrap_or(!key.descending),
            });
        }
        Ok(sorted)
    }

    /// A sort key that is no column of the result. Among groups it is one of a group's, and rows of which those that are alike
    /// count once have no others than those of the result.
    fn sorted_by(&mut self, expr: Expr, key: &OrderKey, bound: &Bound, output: RelId) -> Result<Expr> {
        let ir::Body::Select(select) = &bound.body else { return Ok(expr) };
        if bound.grouped || has_aggregate(&expr) {
            let keys = match &select.group_by {
                GroupBy::Keys(keys) => keys.as_slice(),
                _ => &[],
            };
            self.check_grouped(&expr, keys, key.expr.at)?;
            // An aggregate here makes one group of rows that nothing else groups.
            for item in bound.items.iter().filter(|_| !bound.grouped) {
                self.check_grouped(item, keys, 0)?;
            }
        }
        if select.distinct == Distinct::All {
            return Ok(expr);
        }
        match bound.items.iter().position(|item| *item == expr) {
            Some(at) => Ok(Expr::column(output, at, expr.ty)),
            None => Err(self.error(
                Condition::OrderByOutsideDistinct,
                "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                key.expr.at,
            )),
        }
    }

    /// An expression over groups names no column but those that a key gives.
    fn check_grouped(&mut self, expr: &Expr, keys: &[Expr], at: usize) -> Result<()> {
        let own = self.visible_relations();
        let found = grouping::check([expr], keys, &own, &|_| false);
        let Some((column, _)) = found.wrong else { return Ok(()) };
        let name = match (self.innermost().relations.iter().find(|shown| shown.id == column.relation), column.column) {
            (Some(shown), ColumnIndex::At(place)) => shown.columns.get(place).map(|column| column.name.clone()),
            _ => None,
        };
        let name = name.unwrap_or_else(|| "expression".to_owned());
        let message = format!("the column ({name}) must be in the GROUP BY list");
        Err(self.error(Condition::GroupingError, message, at))
    }
}

pub(super) fn cross(left: Option<From>, right: From) -> From {
    match left {
        None => right,
        Some(left) => From::Join { kind: JoinKind::Inner, left: Box::new(left), right: Box::new(right), on: None },
    }
}

pub(super) fn all_of(mut conditions: Vec<Expr>) -> Option<Expr> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(Expr::new(ExprKind::And(conditions), Type::Bool)),
    }
}

fn conjuncts(filter: Option<&Node>) -> Vec<&Node> {
    match filter {
        None => Vec::new(),
        Some(Node { kind: NodeKind::And(members), .. }) => {
            members.iter().flat_map(|member| conjuncts(Some(member))).collect()
        }
        Some(other) => vec![other],
    }
}

/// The name that Informix gives a column that is an expression.
fn expression_name(node: &Node) -> String {
    match &node.kind {
        NodeKind::Name(names) => names.last().cloned().unwrap_or_default(),
        NodeKind::Null
        | NodeKind::Number(_)
        | NodeKind::String(_)
        | NodeKind::DatetimeLiteral(..)
        | NodeKind::IntervalLiteral(..) => "(constant)".into(),
        NodeKind::Call(call) if call.star => format!("({}(*))", call.name),
        NodeKind::Call(call)
            if matches!(
                call.name.as_str(),
                "count" | "sum" | "avg" | "min" | "max" | "range" | "stdev" | "variance"
            ) =>
        {
            format!("({})", call.name)
        }
        NodeKind::Cast(arg, _) | NodeKind::Slice { arg, .. } => match &arg.kind {
            NodeKind::Name(_) => expression_name(arg),
            _ => "(expression)".into(),
        },
        _ => "(expression)".into(),
    }
}
