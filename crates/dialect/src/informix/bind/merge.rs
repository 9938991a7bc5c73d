//! MERGE.

use super::Binder;
use super::scope::{Scope, Visible};
use crate::access::Privileges;
use crate::informix::ast::{InsertSource, Merge};
use crate::ir::{
    self, ColumnIndex, ColumnRef, CompareOp, Dml, DmlAction, Expr, ExprKind, From, JoinKind, OutputColumn, RelId,
};
use crate::{Result, Type};

impl Binder<'_> {
    pub(super) fn merge(&mut self, merge: &Merge) -> Result<ir::Statement> {
        let target = self.target(&merge.table)?;
        if target.without_identity {
            return self.unsupported("MERGE into a table without rowids", merge.table.at);
        }
        self.scopes.push(Scope::default());
        let source = self.source(&merge.source)?;
        let source_scope = self.scopes.last().cloned().unwrap_or_default();
        let target_id = self.ids.relation();
        self.need(target_id, &target, Privileges::SELECT);
        let shown = merge.alias.clone().unwrap_or_else(|| merge.table.name.clone());
        self.show(Visible::of_table(target_id, shown, &target, Some(target.clone())));
        let condition = self.condition(&merge.condition)?;
        let rowid = Expr::new(
            ExprKind::Column(ColumnRef { relation: target_id, column: ColumnIndex::RowIdentity }),
            Type::Int8,
        );
        let number = |at: i64| Expr::integer(at, Type::Int8);
        // The second says which action it is: those for rows with a match come first.
        let missing = Expr::new(ExprKind::IsNull { arg: Box::new(rowid.clone()), negated: false }, Type::Bool);
        let first = i64::from(merge.update.is_some() || merge.delete);
        let matching = if first == 1 { number(0) } else { Expr::null(Type::Int8) };
        let inserted = if merge.insert.is_some() { number(first) } else { Expr::null(Type::Int8) };
        let action = ExprKind::Case { branches: vec![(missing, inserted)], otherwise: Some(Box::new(matching)) };
        let mut rows = Rows {
            items: vec![rowid.clone(), Expr::new(action, Type::Int8)],
            columns: vec![column("rowid", &Type::Int8), column("action", &Type::Int8)],
        };
        let changed: RelId = self.ids.relation();
        let matched = if let Some(set) = &merge.update {
            let mut assignments = Vec::new();
            for (position, value) in self.assignments(&target, set)? {
                if !matches!(value.kind, ExprKind::Default) {
                    assignments.push((position, rows.add(value, &rowid, false)));
                } else {
                    assignments.push((position, value));
                }
            }
            let filter = Some(self.same_row(changed)?);
            let action = DmlAction::Update { assignments, from: None, filter, current_of: None };
            self.needs.require(target_id, Privileges::UPDATE);
            self.change_columns(target_id, &target, &action);
            Some(action)
        } else if merge.delete {
            self.needs.require(target_id, Privileges::DELETE);
            Some(DmlAction::Delete { using: None, filter: Some(self.same_row(changed)?), current_of: None })
        } else {
            None
        };
        // A row that is to be inserted has nothing to do with the target's rows.
        self.scopes.pop();
        self.scopes.push(source_scope);
        let unmatched = match &merge.insert {
            Some((names, values)) => {
                let source = InsertSource::Values(vec![values.clone()]);
                let action = self.insert(&target, names, &source, merge.table.at)?;
                self.needs.require(target_id, Privileges::INSERT);
                self.change_columns(target_id, &target, &action);
                let DmlAction::Insert { columns, source: ir::InsertSource::Values(bound), on_conflict } = action else {
                    return Err(crate::Error::internal("an INSERT of MERGE without values"));
                };
                let row = bound.into_iter().flatten().map(|value| match value.kind {
                    ExprKind::Default => value,
                    _ => rows.add(value, &rowid, true),
                });
                let source = ir::InsertSource::Values(vec![row.collect()]);
                Some(DmlAction::Insert { columns, source, on_conflict })
            }
            None => None,
        };
        self.scopes.pop();
        let joined = From::Join {
            kind: if unmatched.is_some() { JoinKind::Left } else { JoinKind::Inner },
            left: Box::new(source),
            right: Box::new(From::Relation { id: target_id, relation: target.clone(), filter: None }),
            on: Some(condition),
        };
        let mut query = self.query_of(rows.items, rows.columns);
        if let ir::Body::Select(select) = &mut query.body {
            select.from = Some(joined);
        }
        let dml = |action| Dml {
            family: None,
            routing: None,
            heir: false,
            checks: Vec::new(),
            guards: None,
            ctes: Vec::new(),
            target: target.clone(),
            id: changed,
            view: None,
            action,
            returning: Vec::new(),
            columns: Vec::new(),
        };
        let actions = matched.into_iter().chain(unmatched).map(dml).collect();
        let merge = ir::Merge { rows: query, actions, again: ir::Again::Refused(Self::LANGUAGE) };
        Ok(ir::Statement::Merge(Box::new(merge)))
    }

    /// The row whose rowid the first parameter is.
    fn same_row(&mut self, relation: RelId) -> Result<Expr> {
        let own = Expr::new(ExprKind::Column(ColumnRef { relation, column: ColumnIndex::RowIdentity }), Type::Int8);
        self.compare(CompareOp::Equal, own, Expr::new(ExprKind::Param(0), Type::Int8), 0)
    }
}

/// The columns of MERGE's query.
struct Rows {
    items: Vec<Expr>,
    columns: Vec<OutputColumn>,
}

impl Rows {
    /// Adds a value that is computed for rows with (or without) a match only; the parameter that brings it.
    fn add(&mut self, value: Expr, rowid: &Expr, unmatched: bool) -> Expr {
        let ty = value.ty.clone();
        let test = ExprKind::IsNull { arg: Box::new(rowid.clone()), negated: !unmatched };
        let branches = vec![(Expr::new(test, Type::Bool), value)];
        self.items.push(Expr::new(ExprKind::Case { branches, otherwise: None }, ty.clone()));
        self.columns.push(column("value", &ty));
        Expr::new(ExprKind::Param(self.items.len() - 1), ty)
    }
}

fn column(name: &str, ty: &Type) -> OutputColumn {
    OutputColumn { name: name.to_owned(), ty: ty.clone() }
}
