//! INSERT, UPDATE, DELETE.

use std::sync::Arc;

use super::Binder;
use super::coerce::call;
use super::scope::{Scope, Visible};
use crate::access::Privileges;
use crate::bind::insert::{self, LeftOut, OwnValue};
use crate::informix::ast::{Assignment, Ast, InsertSource, Node, NodeKind, ObjectName, Query, Source};
use crate::ir::{self, Dml, DmlAction, Expr, ExprKind, RelId, TriggerEvent, TriggerLevel, TriggerTime};
use crate::schema::{Column, Relation, RelationKind};
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
            RelationKind::Table if relation.rules.iter().any(|rule| rule.is_asked()) => {
                self.unsupported("changing a table that has rules of PostgreSQL's", name.at)
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
        let added = insert::left_out(&target.columns, &columns, |_, column| self.missing(target, column))?;
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
                        self.check_takes_value(column, node.at)?;
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
                let types = found.iter().map(|found| &found.ty);
                self.rows_around((from, id), types, target, (&columns, &added), name.at)?
            }
            InsertSource::Query(query) => {
                let (bound, result) = self.query(query)?;
                if result.len() != columns.len() {
                    return Err(mismatch(self));
                }
                // The rows are converted in a query around the user's.
                let id = self.ids.relation();
                let from = ir::From::Query { id, query: Box::new(bound), lateral: false };
                let types = result.iter().map(|found| &found.ty);
                self.rows_around((from, id), types, target, (&columns, &added), query.at)?
            }
        };
        columns.extend(added.iter().map(|(position, _)| *position));
        Ok(DmlAction::Insert { columns, source, on_conflict: None })
    }

    /// A column that computes or always numbers itself, which only other dialects can make, takes no value.
    fn check_takes_value(&self, column: &Column, at: usize) -> Result<()> {
        let what = match OwnValue::of(column) {
            None => return Ok(()),
            Some(OwnValue::Generated) => "is computed",
            Some(OwnValue::Numbered) => "always numbers itself",
        };
        let message = format!("column ({}) {what} and takes no value", column.name);
        Err(self.error(Condition::GeneratedAlways, message, at).column(&*column.name))
    }

    /// A query of rows as a table takes them, with values for the columns that are left out.
    fn rows_around<'t>(
        &mut self,
        (from, id): (ir::From, RelId),
        types: impl Iterator<Item = &'t Type>,
        target: &Relation,
        (columns, added): (&[usize], &[(usize, Expr)]),
        at: usize,
    ) -> Result<ir::InsertSource> {
        let mut items = Vec::with_capacity(columns.len() + added.len());
        for (place, (&position, ty)) in columns.iter().zip(types).enumerate() {
            let column = &target.columns[position];
            self.check_takes_value(column, at)?;
            let value = self.value_for(Expr::column(id, place, ty.clone()), column, at)?;
            items.push(self.numbered(value, column)?);
        }
        items.extend(added.iter().map(|(_, value)| value.clone()));
        let positions = columns.iter().chain(added.iter().map(|(position, _)| position));
        let output = |column: &Column| ir::OutputColumn { name: column.name.clone(), ty: column.ty.clone() };
        let outputs = positions.map(|&position| output(&target.columns[position])).collect();
        let select = ir::Select::of(items, Some(from));
        let mut query = ir::Query::of(ir::Body::Select(Box::new(select)), outputs, self.ids.relation());
        insert::keep_order(&mut query, &mut self.ids);
        Ok(ir::InsertSource::Query(Box::new(query)))
    }

    /// A value for a column that numbers itself: in a SERIAL column 0 asks for the next number.
    fn numbered(&mut self, value: Expr, column: &Column) -> Result<Expr> {
        match &column.identity {
            Some(identity) if identity.zero_is_next => {
                Ok(insert::numbered(value, insert::sequence_of(self.schema, column)?))
            }
            _ => Ok(value),
        }
    }

    fn next_number(&mut self, column: &Column) -> Result<Option<Expr>> {
        let Some(sequence) = insert::sequence_of(self.schema, column)? else { return Ok(None) };
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
        // A trigger sees the row before it is written.
        let shown = target.takes_rows(ir::TriggerEvent::Insert) || target.takes_rows(ir::TriggerEvent::Update);
        let default = match LeftOut::of(column, shown) {
            LeftOut::ByItself => return Ok(None),
            LeftOut::Number => return self.next_number(column),
            LeftOut::Default(default) => default,
            LeftOut::OfDomain => {
                let context = crate::plan::Context { database: self.context.database.clone(), ..Default::default() };
                return crate::postgres::bind_domain_default(&column.ty, self.schema, &context);
            }
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
                    self.check_takes_value(column, *at)?;
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
            self.check_takes_value(&target.columns[position], *at)?;
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
