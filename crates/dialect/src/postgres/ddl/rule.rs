//! CREATE, ALTER, DROP and COMMENT ON RULE; ENABLE and DISABLE RULE of tables.

use std::collections::BTreeSet;
use std::sync::Arc;

use pg_query::protobuf::{self as pg, CmdType, Node, SetOperation, node::Node as N};

use super::super::binder::{Binder, Clause, Scope};
use super::super::policies::OffPath;
use super::super::{names, raw, rules, types, viewdef};
use crate::access::{not_owner, relation_words};
use crate::ir::trigger::{NEW_ROW, OLD_ROW};
use crate::ir::{AlterTable, ChangeRule, Ddl, Dml, RuleChange, Statement, TriggerEvent, TriggerState};
use crate::schema::{QualifiedName, Relation, RelationKind, Rule};
use crate::uses::{Dependency, Uses};
use crate::{Condition, Error, Result};

impl Binder<'_> {
    pub(super) fn create_rule(&mut self, create: &pg::RuleStmt) -> Result<Statement> {
        let Some(range) = &create.relation else { return Err(Error::internal("a rule without its table")) };
        let relation = self.relation(range)?;
        check_place(&relation)?;
        self.check_owner(&relation, relation_words(&relation))?;
        let event = match create.event() {
            CmdType::CmdInsert => TriggerEvent::Insert,
            CmdType::CmdUpdate => TriggerEvent::Update,
            CmdType::CmdDelete => TriggerEvent::Delete,
            _ => return self.view_rule(create, &relation),
        };
        let mut rule = Rule {
            oid: 0,
            name: create.rulename.clone(),
            event,
            instead: create.instead,
            condition: None,
            actions: Vec::new(),
            state: TriggerState::Origin,
            comment: None,
            needs: Vec::new(),
        };
        let mut needs = BTreeSet::new();
        if let Some(node) = create.where_clause.as_deref() {
            rule.condition = Some(self.rule_condition_text(node, &relation, event)?);
        }
        let mut returns = false;
        for node in &create.actions {
            let Some(node) = &node.node else { continue };
            let statement = self.check_action(node, &relation, &rule)?;
            if let Statement::Dml(dml) = &statement
                && !dml.returning.is_empty()
            {
                check_returning(dml, &rule, &relation, returns)?;
                returns = true;
            }
            rule.actions.push(self.action_text(node, &relation)?);
        }
        if rule.name == Rule::RETURN {
            let message = format!("non-view rule for \"{}\" must not be named \"{}\"", relation.name, Rule::RETURN);
            return Err(invalid(message));
        }
        if rule.actions.is_empty() && !rule.instead {
            // Nothing is to be done besides: that is no rule.
            return Ok(Statement::Nothing { tag: "CREATE RULE" });
        }
        match relation.rule(&rule.name) {
            Some(_) if !create.replace => return Err(exists(&rule.name, &relation)),
            Some(known) => {
                rule.comment.clone_from(&known.comment);
                rule.state = known.state;
            }
            None => {}
        }
        needs.extend(viewdef::rule_uses(&rule, &relation, &OffPath(self.schema), self.context)?);
        needs.remove(&(relation.oid, None));
        if !relation.is_temporary() && self.names_temporary(&needs) {
            return Err(Error::unsupported("a rule that names something temporary, of a table that stays"));
        }
        rule.needs = needs.into_iter().collect();
        Ok(changed(relation, RuleChange::Create(rule)))
    }

    fn names_temporary(&self, needs: &BTreeSet<Dependency>) -> bool {
        needs.iter().any(|(oid, _)| self.schema.relation_by_oid(*oid).is_some_and(|relation| relation.is_temporary()))
    }

    /// ON SELECT: the rule behind a view.
    fn view_rule(&mut self, create: &pg::RuleStmt, relation: &Arc<Relation>) -> Result<Statement> {
        let gap = |message: &str| Err(Error::new(Condition::FeatureNotSupported, message).hint("Use views instead."));
        let action = create.actions.first().and_then(|node| node.node.as_ref());
        match (action, create.actions.len()) {
            (None, _) => return gap("INSTEAD NOTHING rules on SELECT are not implemented"),
            (_, 2..) => return gap("multiple actions for rules on SELECT are not implemented"),
            (Some(N::SelectStmt(_)), _) if create.instead => {}
            _ => return gap("rules on SELECT must have action INSTEAD SELECT"),
        }
        if create.where_clause.is_some() {
            let message = "event qualifications are not implemented for rules on SELECT";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        let is_view = matches!(relation.kind, RelationKind::View { .. } | RelationKind::NativeView);
        if is_view && !create.replace {
            let message = format!("\"{}\" is already a view", relation.name);
            return Err(Error::new(Condition::ObjectNotInPrerequisiteState, message));
        }
        if create.rulename != Rule::RETURN {
            let message = format!("view rule for \"{}\" must be named \"{}\"", relation.name, Rule::RETURN);
            return Err(invalid(message));
        }
        Err(Error::unsupported(match is_view {
            true => "another query for a view by CREATE OR REPLACE RULE; CREATE OR REPLACE VIEW is there, but this",
            false => "making a view of a table by a rule ON SELECT",
        }))
    }

    /// WHERE of a rule: checked, and as it is kept.
    fn rule_condition_text(&mut self, node: &Node, relation: &Arc<Relation>, event: TriggerEvent) -> Result<String> {
        let scope = Scope { entries: rules::rows(relation), clause: Clause::Where, ..Scope::default() };
        let stored = std::mem::replace(&mut self.stored, true);
        let bound = self.with_scope(scope, |binder| {
            let (condition, at) = binder.placed(node)?;
            binder.condition(condition, "WHERE", at)
        });
        self.stored = stored;
        let (condition, _) = bound?;
        check_rows(event, |row| rules::mentioned(&condition, row))?;
        let refused = || Error::unsupported("this condition of a rule");
        let text = raw::print_expression(node).ok_or_else(refused)?;
        let told = OffPath(self.schema);
        viewdef::kept_condition(&text, relation, (self.schema, &told), self.context).ok_or_else(refused)
    }

    /// What PostgreSQL asks of a rule's statement.
    fn check_action(&mut self, node: &N, relation: &Arc<Relation>, rule: &Rule) -> Result<Statement> {
        if let N::NotifyStmt(_) = node {
            if rule.condition.is_some() {
                let message = "rules with WHERE conditions can only have SELECT, INSERT, UPDATE, or DELETE actions";
                return Err(invalid(message));
            }
            return Ok(self.statement(node)?.0);
        }
        let (stored, uses) = (std::mem::replace(&mut self.stored, true), self.uses.replace(Uses::default()));
        let effects = self.effects;
        let scope = Scope { entries: rules::rows(relation), ..Scope::default() };
        let bound = self.with_scope(scope, |binder| binder.as_kept(node));
        self.effects = effects;
        self.stored = stored;
        self.uses = uses;
        let (statement, _) = bound?;
        let mentions = |row| rules::mentions(&statement, row);
        if is_set_operation(node) && (mentions(OLD_ROW) || mentions(NEW_ROW)) {
            let message = "UNION/INTERSECT/EXCEPT member statement cannot refer to other relations of same query level";
            return Err(Error::new(Condition::InvalidColumnReference, message));
        }
        check_rows(rule.event, mentions)?;
        if rule.condition.is_some() && is_set_operation(node) {
            let message = "conditional UNION/INTERSECT/EXCEPT statements are not implemented";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        if let Some(row) = rules::mentioned_in_with(&statement) {
            let row = if row == OLD_ROW { "OLD" } else { "NEW" };
            let message = format!("cannot refer to {row} within WITH query");
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        Ok(statement)
    }

    /// A rule's statement as it is kept: it means the same whatever the `search_path` is.
    fn action_text(&mut self, node: &N, relation: &Arc<Relation>) -> Result<String> {
        let refused = || Error::unsupported("this statement in a rule");
        let text = raw::print(node.clone()).ok_or_else(refused)?;
        if matches!(node, N::NotifyStmt(_)) {
            return Ok(text);
        }
        let told = OffPath(self.schema);
        viewdef::kept_action(&text, relation, (self.schema, &told), self.context).ok_or_else(refused)
    }

    /// DROP RULE name ON table.
    pub(super) fn drop_rule(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let nothing = Ok(Statement::Nothing { tag: "DROP RULE" });
        let Some(N::List(list)) = drop.objects.first().and_then(|node| node.node.as_ref()) else { return nothing };
        let (name, rule) = on_relation(&names::strings(&list.items));
        let Some(relation) = self.dropped_from(&name, drop.missing_ok)? else { return nothing };
        let Some(found) = relation.rule(&rule).cloned() else {
            if rule == Rule::RETURN && relation.definition().is_some() {
                let view = format!("{} {}", relation_words(&relation), relation.name);
                let message = format!("cannot drop rule {rule} on {view} because {view} requires it");
                return Err(Error::new(Condition::DependentObjectsStillExist, message)
                    .hint(format!("You can drop {view} instead.")));
            }
            if drop.missing_ok {
                self.remark(format!("rule \"{rule}\" for relation \"{name}\" does not exist, skipping"));
                return nothing;
            }
            return Err(missing(&rule, &relation));
        };
        // Nothing depends on a rule.
        self.check_owner(&relation, "relation")?;
        Ok(changed(relation, RuleChange::Drop(found)))
    }

    /// ALTER RULE name ON table RENAME TO.
    pub(super) fn rename_rule(&mut self, rename: &pg::RenameStmt) -> Result<Statement> {
        let Some(range) = &rename.relation else { return Err(Error::internal("a rule without its table")) };
        let relation = self.relation(range)?;
        check_place(&relation)?;
        self.check_owner(&relation, relation_words(&relation))?;
        let Some(rule) = relation.rule(&rename.subname).cloned() else {
            if rename.subname == Rule::RETURN && relation.definition().is_some() {
                return Err(invalid("renaming an ON SELECT rule is not allowed"));
            }
            return Err(missing(&rename.subname, &relation));
        };
        if relation.rule(&rename.newname).is_some() || rename.newname == Rule::RETURN && relation.definition().is_some()
        {
            return Err(exists(&rename.newname, &relation));
        }
        Ok(changed(relation, RuleChange::Rename(rule, rename.newname.clone())))
    }

    /// COMMENT ON RULE name ON table.
    pub(super) fn comment_on_rule(&mut self, parts: &[String], text: Option<String>) -> Result<Ddl> {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let (name, rule) = on_relation(&parts);
        let Some(relation) = self.schema.relation(&name) else {
            return Err(Error::new(Condition::UndefinedTable, format!("relation \"{name}\" does not exist")));
        };
        self.check_owner(&relation, "relation")?;
        let Some(rule) = relation.rule(&rule).cloned() else {
            if rule == Rule::RETURN && relation.definition().is_some() {
                return Err(Error::unsupported("COMMENT ON the rule of a view"));
            }
            return Err(missing(&rule, &relation));
        };
        Ok(Ddl::Rule(Box::new(ChangeRule { relation, change: RuleChange::Comment(rule, text) })))
    }

    fn check_owner(&self, relation: &Relation, words: &str) -> Result<()> {
        match self.schema.rights().owns(relation.oid) {
            true => Ok(()),
            false => Err(not_owner(words, &relation.name)),
        }
    }
}

/// ENABLE and DISABLE RULE; `None` for another action.
pub(super) fn state(command: &pg::AlterTableCmd, table: &Relation) -> Result<Option<AlterTable>> {
    use pg::AlterTableType as T;
    let state = match command.subtype() {
        T::AtEnableRule => TriggerState::Origin,
        T::AtEnableAlwaysRule => TriggerState::Always,
        T::AtEnableReplicaRule => TriggerState::Replica,
        T::AtDisableRule => TriggerState::Disabled,
        _ => return Ok(None),
    };
    let rule = table.rule(&command.name).cloned().ok_or_else(|| missing(&command.name, table))?;
    Ok(Some(AlterTable::SetRule { rule, state }))
}

/// A row that is inserted was not there before, and one that is deleted is none afterwards.
fn check_rows(event: TriggerEvent, mentions: impl Fn(crate::ir::RelId) -> bool) -> Result<()> {
    match event {
        TriggerEvent::Insert if mentions(OLD_ROW) => Err(invalid("ON INSERT rule cannot use OLD")),
        TriggerEvent::Delete if mentions(NEW_ROW) => Err(invalid("ON DELETE rule cannot use NEW")),
        _ => Ok(()),
    }
}

/// UNION, INTERSECT or EXCEPT, as a query or as that of an INSERT.
fn is_set_operation(node: &N) -> bool {
    let select = match node {
        N::SelectStmt(select) => Some(&**select),
        N::InsertStmt(insert) => match insert.select_stmt.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::SelectStmt(select)) => Some(&**select),
            _ => None,
        },
        _ => None,
    };
    select.is_some_and(|select| !matches!(select.op(), SetOperation::SetopNone | SetOperation::Undefined))
}

/// Which relations have rules.
fn check_place(relation: &Relation) -> Result<()> {
    match relation.kind {
        RelationKind::Table | RelationKind::View { .. } => Ok(()),
        RelationKind::Catalog => {
            let message = format!("permission denied: \"{}\" is a system catalog", relation.name);
            Err(Error::new(Condition::InsufficientPrivilege, message))
        }
        RelationKind::MaterializedView { .. } => {
            let message = "rules on materialized views are not supported";
            Err(Error::new(Condition::FeatureNotSupported, message))
        }
        RelationKind::NativeView => Err(Error::unsupported("a rule on a view that was not made here")),
        RelationKind::Sequence { .. } => {
            let message = format!("relation \"{}\" cannot have rules", relation.name);
            let detail = "This operation is not supported for sequences.";
            Err(Error::new(Condition::WrongObjectType, message).detail(detail))
        }
    }
}

/// RETURNING in a rule yields the columns of its relation.
fn check_returning(dml: &Dml, rule: &Rule, relation: &Relation, twice: bool) -> Result<()> {
    let gap = |message: &str| Err(Error::new(Condition::FeatureNotSupported, message));
    if twice {
        return gap("cannot have multiple RETURNING lists in a rule");
    }
    if rule.condition.is_some() {
        return gap("RETURNING lists are not supported in conditional rules");
    }
    if !rule.instead {
        return gap("RETURNING lists are not supported in non-INSTEAD rules");
    }
    for (at, given) in dml.columns.iter().enumerate() {
        let Some(column) = relation.columns.get(at) else {
            return Err(invalid("RETURNING list has too many entries"));
        };
        let wanted = types::import(&column.ty);
        if types::oid(&given.ty) != types::oid(&wanted) {
            let message =
                format!("RETURNING list's entry {} has different type from column \"{}\"", at + 1, column.name);
            let (given, wanted) = (types::words(&given.ty), types::words(&wanted));
            return Err(invalid(message)
                .detail(format!("RETURNING list entry has type {given}, but column has type {wanted}.")));
        }
    }
    match dml.columns.len() < relation.columns.len() {
        true => Err(invalid("RETURNING list has too few entries")),
        false => Ok(()),
    }
}

fn changed(relation: Arc<Relation>, change: RuleChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Rule(Box::new(ChangeRule { relation, change }))))
}

/// A relation's name and the rule's, which stands last.
fn on_relation(parts: &[&str]) -> (QualifiedName, String) {
    match parts {
        [.., schema, relation, name] => (QualifiedName::new(*schema, *relation), (*name).to_owned()),
        [relation, name] => (QualifiedName::bare(*relation), (*name).to_owned()),
        _ => (QualifiedName::bare(""), String::new()),
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidObjectDefinition, message)
}

fn missing(name: &str, relation: &Relation) -> Error {
    let message = format!("rule \"{name}\" for relation \"{}\" does not exist", relation.name);
    Error::new(Condition::UndefinedObject, message)
}

fn exists(name: &str, relation: &Relation) -> Error {
    let message = format!("rule \"{name}\" for relation \"{}\" already exists", relation.name);
    Error::new(Condition::DuplicateObject, message)
}
