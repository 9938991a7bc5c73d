//! MERGE.

use std::sync::Arc;

use super::Binder;
use super::scope::{Scope, Visible};
use crate::Result;
use crate::access::Privileges;
use crate::informix::ast::{InsertSource, Merge};
use crate::ir::{self, Dml, DmlAction, MergeClause, RelId};
use crate::schema::Relation;

impl Binder<'_> {
    pub(super) fn merge(&mut self, merge: &Merge) -> Result<ir::Statement> {
        let target = self.target(&merge.table)?;
        self.scopes.push(Scope::default());
        let source = self.source(&merge.source)?;
        let source_scope = self.scopes.last().cloned().unwrap_or_default();
        let id = self.ids.relation();
        self.need(id, &target, Privileges::SELECT);
        let shown = merge.alias.clone().unwrap_or_else(|| merge.table.name.clone());
        self.show(Visible::of_table(id, shown, &target, Some(target.clone())));
        let condition = self.condition(&merge.condition)?;
        let mut clauses = Vec::with_capacity(2);
        if let Some(set) = &merge.update {
            let assignments = self.assignments(&target, set)?;
            let action = DmlAction::Update { assignments, from: None, filter: None, current_of: None };
            self.needs.require(id, Privileges::UPDATE);
            self.change_columns(id, &target, &action);
            clauses.push(clause(true, change(&target, id, action)));
        } else if merge.delete {
            self.needs.require(id, Privileges::DELETE);
            let action = DmlAction::Delete { using: None, filter: None, current_of: None };
            clauses.push(clause(true, change(&target, id, action)));
        }
        // A row that is to be inserted has nothing to do with the target's rows.
        self.scopes.pop();
        self.scopes.push(source_scope);
        if let Some((names, values)) = &merge.insert {
            let source = InsertSource::Values(vec![values.clone()]);
            let action = self.insert(&target, names, &source, merge.table.at)?;
            self.needs.require(id, Privileges::INSERT);
            self.change_columns(id, &target, &action);
            clauses.push(clause(false, change(&target, id, action)));
        }
        self.scopes.pop();
        Ok(ir::Statement::Merge(Box::new(ir::Merge {
            ctes: Vec::new(),
            target,
            id,
            family: None,
            visible: None,
            source,
            on: Some(condition),
            clauses,
            language: Self::LANGUAGE,
        })))
    }
}

fn clause(matched: bool, change: Dml) -> MergeClause {
    MergeClause { matched, condition: None, change: Some(change) }
}

fn change(target: &Arc<Relation>, id: RelId, action: DmlAction) -> Dml {
    Dml {
        family: None,
        routing: None,
        heir: None,
        checks: Vec::new(),
        guards: None,
        one_by_one: None,
        ctes: Vec::new(),
        target: target.clone(),
        id,
        view: None,
        action,
        returning: Vec::new(),
        columns: Vec::new(),
    }
}
