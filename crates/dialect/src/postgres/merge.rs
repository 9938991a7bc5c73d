//! MERGE.

use pg_query::protobuf::{self as pg, CmdType, MergeMatchKind, Node, node::Node as N};

use super::binder::{Binder, Clause, Entry, Scope};
use super::target::{Change, Target};
use crate::access::Privileges;
use crate::ir::{Dml, DmlAction, Expr, InsertSource, Merge, MergeClause};
use crate::schema::{PolicyCommand, RelationKind};
use crate::{Condition, Error, Language, Result};

impl Binder<'_> {
    pub(super) fn merge(&mut self, merge: &pg::MergeStmt) -> Result<Merge> {
        self.effects.writes = true;
        self.effects.reads = true;
        let visible = self.ctes.len();
        let result = self.merge_with(merge);
        self.ctes.truncate(visible);
        result
    }

    fn merge_with(&mut self, merge: &pg::MergeStmt) -> Result<Merge> {
        if merge.returning_clause.is_some() {
            return Err(self.unsupported("RETURNING of MERGE", -1));
        }
        self.check_clauses(merge)?;
        let ctes = match &merge.with_clause {
            Some(with) if with.recursive => {
                let message = "WITH RECURSIVE is not supported for MERGE statement";
                return Err(crate::Error::new(Condition::SyntaxError, message));
            }
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let mark = self.needs.mark();
        let target = self.merge_target(merge)?;
        // The actions say what is needed.
        self.needs.change(mark, target.id, Privileges::NONE);
        let Some(source) = merge.source_relation.as_deref() else { return Err(Error::internal("MERGE of nothing")) };
        let (from, source_entries) = self.bind_from(std::slice::from_ref(source))?;
        let Some(from) = from else { return Err(Error::internal("MERGE of nothing")) };
        if source_entries.iter().any(|entry| entry.name == target.entry.name) {
            return Err(Error::new(
                Condition::DuplicateAlias,
                format!("name \"{}\" specified more than once", target.entry.name),
            )
            .detail("The name is used both as MERGE target table and data source."));
        }
        let mut both = vec![target.entry.clone()];
        both.extend(source_entries.iter().cloned());
        let scope = Scope { entries: both.clone(), clause: Clause::Join, ..Scope::default() };
        let condition = self.merge_condition(merge.join_condition.as_deref(), scope, "MERGE")?;
        let mut clauses = Vec::with_capacity(merge.merge_when_clauses.len());
        for node in &merge.merge_when_clauses {
            let Some(N::MergeWhenClause(when)) = &node.node else { continue };
            clauses.push(self.when_clause(when, &target, &both, &source_entries)?);
        }
        let visible = self.changeable_rows(&target, PolicyCommand::Select)?;
        let Target { relation, id, mut family, .. } = target;
        let visible = match &mut family {
            // What is hidden of a family meets nothing.
            Some(family) if visible.is_some() => {
                family.rows = self.visible_family(id, &relation, family.rows.clone())?;
                None
            }
            _ => visible,
        };
        Ok(Merge {
            ctes,
            target: relation,
            id,
            family,
            visible,
            source: from,
            on: condition,
            clauses,
            language: Language::Postgres,
        })
    }

    /// What can be said of the clauses before anything is bound.
    fn check_clauses(&self, merge: &pg::MergeStmt) -> Result<()> {
        let mut unconditional = [false; 2];
        for node in &merge.merge_when_clauses {
            let Some(N::MergeWhenClause(when)) = &node.node else { continue };
            if when.match_kind() == MergeMatchKind::MergeWhenNotMatchedBySource {
                return Err(self.unsupported("WHEN NOT MATCHED BY SOURCE", -1));
            }
            let place = usize::from(when.match_kind() == MergeMatchKind::MergeWhenMatched);
            if unconditional[place] {
                return Err(Error::new(
                    Condition::SyntaxError,
                    "unreachable WHEN clause specified after unconditional WHEN clause",
                ));
            }
            unconditional[place] = when.condition.is_none();
        }
        Ok(())
    }

    fn merge_target(&mut self, merge: &pg::MergeStmt) -> Result<Target> {
        if let Some(range) = &merge.relation {
            let relation = self.relation(range)?;
            let kind = match relation.kind {
                RelationKind::Table => None,
                RelationKind::Catalog => None,
                RelationKind::View { .. } | RelationKind::NativeView => Some("views"),
                RelationKind::MaterializedView { .. } => Some("materialized views"),
                RelationKind::Sequence { .. } => Some("sequences"),
            };
            if let Some(kind) = kind {
                let message = format!("cannot execute MERGE on relation \"{}\"", relation.name);
                return Err(Error::new(Condition::FeatureNotSupported, message)
                    .detail(format!("This operation is not supported for {kind}.")));
            }
            if !relation.rules.is_empty() {
                let message = format!("cannot execute MERGE on relation \"{}\"", relation.name);
                return Err(Error::new(Condition::FeatureNotSupported, message)
                    .detail("MERGE is not supported for relations with rules."));
            }
        }
        self.target(merge.relation.as_ref(), Change::Update)
    }

    fn merge_condition(&mut self, node: Option<&Node>, scope: Scope, words: &str) -> Result<Option<Expr>> {
        let Some(node) = node else { return Ok(None) };
        let (condition, _) = self.with_scope(scope, |binder| {
            let (condition, at) = binder.placed(node)?;
            binder.condition(condition, words, at)
        })?;
        Ok(Some(condition))
    }

    fn when_clause(
        &mut self,
        when: &pg::MergeWhenClause,
        target: &Target,
        both: &[Entry],
        source: &[Entry],
    ) -> Result<MergeClause> {
        let matched = when.match_kind() == MergeMatchKind::MergeWhenMatched;
        let entries = if matched { both } else { source };
        let out_of_reach = if matched { Vec::new() } else { vec![target.entry.clone()] };
        let scope = Scope { entries: entries.to_vec(), clause: Clause::Where, out_of_reach, ..Scope::default() };
        let condition = self.merge_condition(when.condition.as_deref(), scope, "WHEN")?;
        let action = match when.command_type() {
            CmdType::CmdUpdate => {
                self.needs.require(target.id, Privileges::UPDATE);
                let scope = Scope { entries: both.to_vec(), clause: Clause::Update, ..Scope::default() };
                let (assignments, _) =
                    self.with_scope(scope, |binder| binder.assignments(&when.target_list, target, Change::Update))?;
                Some(DmlAction::Update { assignments, from: None, filter: None, current_of: None })
            }
            CmdType::CmdDelete => {
                self.needs.require(target.id, Privileges::DELETE);
                Some(DmlAction::Delete { using: None, filter: None, current_of: None })
            }
            CmdType::CmdInsert => Some(self.merged_insert(when, target, source)?),
            _ => None,
        };
        let change = action.map(|action| self.merged_change(action, matched, target)).transpose()?;
        Ok(MergeClause { matched, condition, change })
    }

    /// A clause's action on the target.
    fn merged_change(&mut self, action: DmlAction, matched: bool, target: &Target) -> Result<Dml> {
        let command = match &action {
            DmlAction::Update { .. } => PolicyCommand::Update,
            DmlAction::Delete { .. } => PolicyCommand::Delete,
            DmlAction::Insert { .. } => PolicyCommand::Insert,
        };
        let guards = self.merge_guards(target, command)?;
        let routing = match &action {
            DmlAction::Insert { .. } => target.routing.clone(),
            DmlAction::Update { assignments, .. } => {
                self.moving(target, assignments, false)?.or_else(|| target.moved_by_triggers())
            }
            DmlAction::Delete { .. } => None,
        };
        Ok(Dml {
            family: target.family.clone().filter(|_| matched),
            routing,
            heir: None,
            ctes: Vec::new(),
            target: target.relation.clone(),
            id: target.id,
            action,
            view: None,
            checks: Vec::new(),
            guards,
            one_by_one: None,
            returning: Vec::new(),
            columns: Vec::new(),
        })
    }

    fn merged_insert(&mut self, when: &pg::MergeWhenClause, target: &Target, source: &[Entry]) -> Result<DmlAction> {
        let mut columns = self.insert_columns(&when.target_list, target)?;
        self.needs.require(target.id, Privileges::INSERT);
        self.change_columns(target, columns.list.iter().map(|(position, _)| *position), true);
        let overriding = when.r#override();
        let bound = if when.values.is_empty() {
            columns.list.clear();
            InsertSource::Defaults
        } else {
            let list = pg::List { items: when.values.clone() };
            let values =
                pg::SelectStmt { values_lists: vec![Node { node: Some(N::List(list)) }], ..pg::SelectStmt::default() };
            let out_of_reach = vec![target.entry.clone()];
            let scope = Scope { entries: source.to_vec(), clause: Clause::Values, out_of_reach, ..Scope::default() };
            self.with_scope(scope, |binder| binder.insert_values(target, &values, &mut columns, overriding))?.0
        };
        let mut positions = columns.list.iter().map(|(position, _)| *position).collect();
        let source = self.add_defaults(target, &mut positions, bound)?;
        Ok(DmlAction::Insert { columns: positions, source, on_conflict: None })
    }
}
