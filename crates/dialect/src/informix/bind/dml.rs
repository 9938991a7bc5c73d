//! INSERT, UPDATE, DELETE.

use std::sync::Arc;

use super::Binder;
use super::coerce::call;
use super::scope::{Scope, Visible};
use crate::access::Privileges;
use crate::informix::ast::{Assignment, Ast, InsertSource, Node, NodeKind, ObjectName, Query, Source};
use crate::ir::{self, Dml, DmlAction, Expr, ExprKind, RelId, TriggerEvent, TriggerLevel, TriggerTime, Value};
use crate::schema::{Column, ColumnDefault, Relation, RelationKind};
use crate::{Condition, Language, Result, Type};

/// A change of a table, or of a view whose triggers take the rows.
pub(super) fn statement(
    target: Arc<Relation>,
    id: RelId,
    view: Option<Box<ir::From>>,
    action: DmlAction,
    checks: Vec<ir::ViewCheck>,
) -> ir::Statement {
    ir::Statement::Dml(Box::new(Dml {
        family: None,
        routing: None,
        heir: None,
        ctes: Vec::new(),
        target,
        id,
        view,
        action,
        checks,
        guards: None,
        one_by_one: None,
        returning: Vec::new(),
        columns: Vec::new(),
    }))
}

impl Binder<'_> {
    pub(super) fn dml(&mut self, ast: &Ast) -> Result<ir::Statement> {
        if let Some(statement) = self.taken_change(ast)? {
            return Ok(statement);
        }
        if let Some(statement) = self.through_view(ast)? {
            return Ok(statement);
        }
        let (target, id, action) = match ast {
            Ast::Insert { table, columns, source } => {
                let target = self.target(table)?;
                let id = self.ids.relation();
                self.need(id, &target, Privileges::INSERT);
                let action = self.insert(&target, columns, source, table.at)?;
                self.change_columns(id, &target, &action);
                (target, id, action)
            }
            Ast::Update { table, alias, set, filter, current_of } => {
                let target = self.target(table)?;
                let id = self.open_target(&target, table, alias.as_deref());
                self.need(id, &target, Privileges::UPDATE);
                let assignments = self.assignments(&target, set)?;
                let filter = self.row_filter(filter.as_ref(), current_of.as_ref(), &target, id, table.at)?;
                let action = DmlAction::Update { assignments, from: None, filter, current_of: current_of.clone() };
                self.change_columns(id, &target, &action);
                (target, id, action)
            }
            Ast::Delete { table, alias, filter, current_of } => {
                let target = self.target(table)?;
                let id = self.open_target(&target, table, alias.as_deref());
                self.need(id, &target, Privileges::DELETE);
                let filter = self.row_filter(filter.as_ref(), current_of.as_ref(), &target, id, table.at)?;
                (target, id, DmlAction::Delete { using: None, filter, current_of: current_of.clone() })
            }
            _ => return Err(crate::Error::internal("not a data change")),
        };
        Ok(statement(target, id, None, action, Vec::new()))
    }

    /// A change of a view whose INSTEAD OF triggers take the rows; `None` for any other.
    fn taken_change(&mut self, ast: &Ast) -> Result<Option<ir::Statement>> {
        let (table, event) = match ast {
            Ast::Insert { table, .. } => (table, TriggerEvent::Insert),
            Ast::Update { table, current_of: None, .. } => (table, TriggerEvent::Update),
            Ast::Delete { table, current_of: None, .. } => (table, TriggerEvent::Delete),
            _ => return Ok(None),
        };
        let target = self.relation(table)?;
        let is_view = matches!(target.kind, RelationKind::View { .. });
        if !is_view || !target.has_trigger(TriggerTime::InsteadOf, TriggerLevel::Row, event) {
            return Ok(None);
        }
        let (rows, id, action) = match ast {
            Ast::Insert { columns, source, .. } => {
                let (rows, id) = self.open_view(table, None, Privileges::INSERT)?;
                // The statement's values do not see the view's rows.
                self.scopes.pop();
                (rows, id, self.insert(&target, columns, source, table.at)?)
            }
            Ast::Update { alias, set, filter, .. } => {
                let (rows, id) = self.open_view(table, alias.as_ref(), Privileges::UPDATE)?;
                let assignments = self.assignments(&target, set)?;
                let filter = self.filter(filter.as_ref())?;
                (rows, id, DmlAction::Update { assignments, from: None, filter, current_of: None })
            }
            Ast::Delete { alias, filter, .. } => {
                let (rows, id) = self.open_view(table, alias.as_ref(), Privileges::DELETE)?;
                let filter = self.filter(filter.as_ref())?;
                (rows, id, DmlAction::Delete { using: None, filter, current_of: None })
            }
            _ => return Ok(None),
        };
        self.change_columns(id, &target, &action);
        Ok(Some(statement(target, id, Some(rows), action, Vec::new())))
    }

    /// Notes which columns a change is about, for the check of privileges.
    pub(super) fn change_columns(&mut self, id: RelId, target: &Relation, action: &DmlAction) {
        let (columns, insert): (Vec<usize>, bool) = match action {
            DmlAction::Insert { columns, .. } => (columns.clone(), true),
            DmlAction::Update { assignments, .. } => (assignments.iter().map(|(at, _)| *at).collect(), false),
            DmlAction::Delete { .. } => return,
        };
        columns.into_iter().for_each(|at| self.needs.change_column(id, (target.oid, at), insert));
    }

    /// WHERE: a condition, or the row where a cursor stands, whose rowid becomes the last parameter. A routine says the place of
    /// its cursor's row by a condition.
    fn row_filter(
        &mut self,
        filter: Option<&Node>,
        cursor: Option<&String>,
        target: &Relation,
        id: RelId,
        at: usize,
    ) -> Result<Option<Expr>> {
        if cursor.is_none() || filter.is_some() {
            return self.filter(filter);
        }
        if target.without_identity {
            return self.unsupported("WHERE CURRENT OF in a table without rowid", at);
        }
        let rowid = ir::ColumnRef { relation: id, column: ir::ColumnIndex::RowIdentity };
        let left = Box::new(Expr::new(ExprKind::Column(rowid), Type::Int8));
        let right = Box::new(Expr::new(ExprKind::Param(self.params.len()), Type::Int8));
        self.params.push(Some(Type::Int8));
        Ok(Some(Expr::new(ExprKind::Compare { op: ir::CompareOp::Equal, left, right }, Type::Bool)))
    }

    fn filter(&mut self, filter: Option<&Node>) -> Result<Option<Expr>> {
        filter.map(|filter| self.condition(filter)).transpose()
    }

    /// The rows of a view that is changed, which are in scope then.
    fn open_view(
        &mut self,
        name: &ObjectName,
        alias: Option<&String>,
        privileges: Privileges,
    ) -> Result<(Box<ir::From>, RelId)> {
        let mark = self.needs.mark();
        self.scopes.push(Scope::default());
        let rows = self.source(&Source::Table { name: name.clone(), alias: alias.cloned() })?;
        let ir::From::Query { id, .. } = rows else { return Err(crate::Error::internal("a view is a query")) };
        self.needs.change(mark, id, privileges);
        Ok((Box::new(rows), id))
    }

    fn open_target(&mut self, target: &Arc<Relation>, name: &ObjectName, alias: Option<&str>) -> RelId {
        let id = self.ids.relation();
        let shown = alias.unwrap_or(&name.name).to_owned();
        let visible = Visible::of_table(id, shown, target, Some(target.clone()));
        self.scopes.push(Scope { relations: vec![visible], ..Scope::default() });
        id
    }

    pub(super) fn target(&mut self, name: &ObjectName) -> Result<Arc<Relation>> {
        let relation = self.relation(name)?;
        match relation.kind {
            RelationKind::Table if relation.bound().is_some() => {
                self.unsupported("changing a partition of PostgreSQL's", name.at)
            }
            RelationKind::Table => Ok(relation),
            RelationKind::View { .. }
            | RelationKind::NativeView
            | RelationKind::MaterializedView { .. }
            | RelationKind::Sequence { .. } => self.unsupported("changing a view", name.at),
            RelationKind::Catalog => Err(self.error(
                Condition::InsufficientPrivilege,
                format!("the catalog table {} cannot be changed", relation.name),
                name.at,
            )),
        }
    }

    /// The value of a node for a column.
    fn assigned_to(&mut self, node: &Node, column: &Column) -> Result<Expr> {
        let expr = self.expr(node)?;
        if matches!(expr.kind, ExprKind::Default) {
            return Ok(expr);
        }
        self.value_for(expr, column, node.at)
    }

    fn column(&self, table: &Relation, name: &str, at: usize) -> Result<usize> {
        table.column(name).ok_or_else(|| {
            self.error(Condition::UndefinedColumn, format!("column ({name}) not found in any table in the query"), at)
                .column(name)
        })
    }

    pub(super) fn insert(
        &mut self,
        target: &Relation,
        names: &[(String, usize)],
        source: &InsertSource,
        at: usize,
    ) -> Result<DmlAction> {
        let mut columns: Vec<usize> = Vec::new();
        if names.is_empty() {
            columns = (0..target.columns.len()).filter(|&at| target.columns[at].generated.is_none()).collect();
        }
        for (name, at) in names {
            let column = self.column(target, name, *at)?;
            if columns.contains(&column) {
                return Err(self.error(Condition::DuplicateColumn, format!("column ({name}) is named twice"), *at));
            }
            columns.push(column);
        }
        let mismatch = |binder: &Self| {
            binder.error(
                Condition::ColumnCountMismatch,
                "number of columns in INSERT does not match number of VALUES",
                at,
            )
        };
        // Columns that are left out and that the back end cannot fill by itself.
        let mut added = Vec::new();
        for (position, column) in target.columns.iter().enumerate() {
            if !columns.contains(&position)
                && column.generated.is_none()
                && let Some(value) = self.missing(target, column)?
            {
                added.push((position, value));
            }
        }
        let source = match source {
            InsertSource::Values(rows) => {
                let mut bound = Vec::new();
                for row in rows {
                    if row.len() != columns.len() {
                        return Err(mismatch(self));
                    }
                    let mut values = Vec::new();
                    for (node, &position) in row.iter().zip(&columns) {
                        let column = &target.columns[position];
                        if node.kind == NodeKind::Default {
                            values.push(match self.missing(target, column)? {
                                Some(value) => value,
                                None => Expr::new(ExprKind::Default, column.ty.clone()),
                            });
                            continue;
                        }
                        if matches!(column.ty, Type::Byte | Type::TextBlob)
                            && matches!(node.kind, NodeKind::String(_) | NodeKind::Number(_))
                        {
                            return Err(self.error(
                                Condition::BlobLiteral,
                                "a blob value must be supplied through a host variable",
                                node.at,
                            ));
                        }
                        let value = self.assigned_to(node, column)?;
                        values.push(self.numbered(value, column)?);
                    }
                    values.extend(added.iter().map(|(_, value)| value.clone()));
                    bound.push(values);
                }
                ir::InsertSource::Values(bound)
            }
            InsertSource::Routine { name, args } => {
                let Some((from, id, found)) = self.routine_rows(&name.name, args, name.at)? else {
                    let message = format!("routine ({}) cannot be resolved", name.name);
                    return Err(self.error(Condition::UndefinedFunction, message, name.at).column(&*name.name));
                };
                if found.len() != columns.len() {
                    return Err(mismatch(self));
                }
                let mut items = Vec::new();
                for (place, (&position, found)) in columns.iter().zip(&found).enumerate() {
                    let column = &target.columns[position];
                    let value = Expr::column(id, place, found.ty.clone());
                    let value = self.value_for(value, column, name.at)?;
                    items.push(self.numbered(value, column)?);
                }
                items.extend(added.iter().map(|(_, value)| value.clone()));
                let outputs = columns
                    .iter()
                    .copied()
                    .chain(added.iter().map(|(position, _)| *position))
                    .map(|position| ir::OutputColumn {
                        name: target.columns[position].name.clone(),
                        ty: target.columns[position].ty.clone(),
                    })
                    .collect();
                let mut query = self.query_of(items, outputs);
                if let ir::Body::Select(select) = &mut query.body {
                    select.from = Some(from);
                }
                ir::InsertSource::Query(Box::new(query))
            }
            InsertSource::Query(query) => {
                let (bound, result) = self.query(query)?;
                if result.len() != columns.len() {
                    return Err(mismatch(self));
                }
                // The rows are converted in a query around the user's.
                let id = self.ids.relation();
                let mut items = Vec::new();
                for (place, (&position, found)) in columns.iter().zip(&result).enumerate() {
                    let column = &target.columns[position];
                    let value = Expr::column(id, place, found.ty.clone());
                    let value = self.value_for(value, column, query.at)?;
                    items.push(self.numbered(value, column)?);
                }
                items.extend(added.iter().map(|(_, value)| value.clone()));
                let outputs = columns
                    .iter()
                    .copied()
                    .chain(added.iter().map(|(position, _)| *position))
                    .map(|position| ir::OutputColumn {
                        name: target.columns[position].name.clone(),
                        ty: target.columns[position].ty.clone(),
                    })
                    .collect();
                let mut outer = self.query_of(items, outputs);
                if let ir::Body::Select(select) = &mut outer.body {
                    select.from = Some(ir::From::Query { id, query: Box::new(bound), lateral: false });
                }
                ir::InsertSource::Query(Box::new(outer))
            }
        };
        columns.extend(added.iter().map(|(position, _)| *position));
        Ok(DmlAction::Insert { columns, source, on_conflict: None })
    }

    /// A value for a column that numbers itself: in a SERIAL column 0 asks for the next number.
    fn numbered(&mut self, value: Expr, column: &Column) -> Result<Expr> {
        let Some(identity) = &column.identity else { return Ok(value) };
        if !identity.zero_is_next {
            return Ok(value);
        }
        let sequence = self.sequence_of(column)?;
        let ty = value.ty.clone();
        let given = match value.kind {
            ExprKind::Literal(Value::Integer(0) | Value::Null) => None,
            _ => Some(Box::new(value)),
        };
        Ok(Expr::new(ExprKind::Numbered { given, sequence }, ty))
    }

    /// The sequence that numbers a column.
    fn sequence_of(&self, column: &Column) -> Result<Option<u32>> {
        let Some(name) = column.identity.as_ref().and_then(|identity| identity.sequence.as_ref()) else {
            return Ok(None);
        };
        match self.schema.sequence(name) {
            Some(sequence) => Ok(Some(sequence.oid)),
            None => Err(crate::Error::internal(format!("sequence {name} of column {} is gone", column.name))),
        }
    }

    fn next_number(&mut self, column: &Column) -> Result<Option<Expr>> {
        let Some(sequence) = self.sequence_of(column)? else { return Ok(None) };
        let oid = Expr::integer(sequence.into(), Type::Oid);
        Ok(Some(match &column.identity {
            Some(identity) if identity.zero_is_next => {
                Expr::new(ExprKind::Numbered { given: None, sequence: Some(sequence) }, column.ty.clone())
            }
            _ => Expr::new(call("ifx_nextval", vec![oid], Type::Int8).kind, column.ty.clone()),
        }))
    }

    /// What a column that is left out gets, when the back end does not give it by itself.
    fn missing(&mut self, target: &Relation, column: &Column) -> Result<Option<Expr>> {
        if column.identity.is_some() {
            return self.next_number(column);
        }
        // A trigger sees the row before it is written.
        let shown = target.takes_rows(ir::TriggerEvent::Insert) || target.takes_rows(ir::TriggerEvent::Update);
        let constrained = column.ty.is_constrained();
        let ours = |default: &&ColumnDefault| shown || !default.native || constrained;
        let Some(default) = column.default.as_ref().filter(ours) else {
            if column.default.is_some() || !column.ty.is_domain() {
                return Ok(None);
            }
            let context = crate::plan::Context { database: self.context.database.clone(), ..Default::default() };
            return crate::postgres::bind_domain_default(&column.ty, self.schema, &context);
        };
        if target.language != Language::Informix {
            let context = crate::plan::Context { database: self.context.database.clone(), ..Default::default() };
            self.effects.volatile = true;
            return crate::postgres::bind_default(&default.text, &column.ty, self.schema, &context).map(Some);
        }
        let expr = super::expression(&default.text, self.schema, self.context, target, Some(&column.ty))?;
        self.effects.volatile = true;
        Ok(Some(expr))
    }

    pub(super) fn assignments(&mut self, target: &Relation, set: &[Assignment]) -> Result<Vec<(usize, Expr)>> {
        let mut assignments: Vec<(usize, Expr)> = Vec::new();
        for assignment in set {
            if let ([NodeKind::Scalar(query)], 2..) = (
                &assignment.values.iter().map(|node| node.kind.clone()).collect::<Vec<_>>()[..],
                assignment.columns.len(),
            ) {
                self.assign_query(target, &assignment.columns, query, &mut assignments)?;
                continue;
            }
            if assignment.columns.len() != assignment.values.len() {
                let at = assignment.columns.first().map_or(0, |(_, at)| *at);
                return Err(self.error(
                    Condition::ColumnCountMismatch,
                    "SET has another number of values than columns",
                    at,
                ));
            }
            for ((name, at), node) in assignment.columns.iter().zip(&assignment.values) {
                let position = self.settable(target, name, *at, &assignments)?;
                let column = &target.columns[position];
                let value = if node.kind == NodeKind::Default {
                    match self.missing(target, column)? {
                        Some(value) => value,
                        None => Expr::new(ExprKind::Default, column.ty.clone()),
                    }
                } else {
                    self.assigned_to(node, column)?
                };
                assignments.push((position, value));
            }
        }
        Ok(assignments)
    }

    /// A column that SET may name.
    fn settable(&self, target: &Relation, name: &str, at: usize, set: &[(usize, Expr)]) -> Result<usize> {
        let position = self.column(target, name, at)?;
        if set.iter().any(|(other, _)| *other == position) {
            return Err(self.error(Condition::DuplicateColumn, format!("column ({name}) is set twice"), at));
        }
        if target.columns[position].identity.as_ref().is_some_and(|identity| identity.zero_is_next) {
            return Err(self.error(Condition::GeneratedAlways, "a SERIAL column cannot be updated", at));
        }
        Ok(position)
    }

    /// `(a, b) = (SELECT …)`: each column takes its own from a query of one row.
    fn assign_query(
        &mut self,
        target: &Relation,
        names: &[(String, usize)],
        query: &Query,
        assignments: &mut Vec<(usize, Expr)>,
    ) -> Result<()> {
        for (place, (name, at)) in names.iter().enumerate() {
            let position = self.settable(target, name, *at, assignments)?;
            let bound = self.subquery(query)?;
            if bound.columns.len() != names.len() {
                return Err(self.error(
                    Condition::ColumnCountMismatch,
                    "SET has another number of values than columns",
                    *at,
                ));
            }
            let id = self.ids.relation();
            let ty = bound.columns[place].ty.clone();
            let item = Expr::column(id, place, ty.clone());
            let outputs = vec![ir::OutputColumn { name: name.clone(), ty: ty.clone() }];
            let mut one = self.query_of(vec![item], outputs);
            if let ir::Body::Select(select) = &mut one.body {
                select.from = Some(ir::From::Query { id, query: Box::new(bound), lateral: false });
            }
            let value = Expr::new(ExprKind::Scalar(Box::new(one)), ty);
            assignments.push((position, self.value_for(value, &target.columns[position], *at)?));
        }
        Ok(())
    }
}
