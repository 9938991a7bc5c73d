//! Constraints of a table and of those that inherit from it.

use pg_query::protobuf::{self as pg, node::Node as N};

use super::super::super::binder::{Binder, Clause};
use super::super::inherit::already_there;
use super::{Member, Members, refused};
use crate::heritage::{self, INHERITED_CHECK};
use crate::ir::{AlterTable, Constraint, ConstraintKind, Part};
use crate::schema::{Check, Relation};
use crate::{Condition, Error, Result};

impl Binder<'_> {
    /// ADD CONSTRAINT.
    pub(super) fn constrain_members(
        &mut self,
        command: &pg::AlterTableCmd,
        members: &mut Members,
        place: i32,
    ) -> Result<()> {
        let Some(N::Constraint(constraint)) = command.def.as_deref().and_then(|node| node.node.as_ref()) else {
            return self.alter_member(command, members, 0, place);
        };
        if constraint.contype() != pg::ConstrType::ConstrCheck {
            if members.all[0].table.is_partitioned() {
                return self.constrain_partitions(command, members, place);
            }
            return self.alter_member(command, members, 0, place);
        }
        if constraint.is_no_inherit && members.all[0].table.is_partitioned() {
            let message =
                format!("cannot add NO INHERIT constraint to partitioned table \"{}\"", members.all[0].table.name);
            return Err(refused(message));
        }
        let before = members.all[0].draft.constraints.len();
        self.table_constraint(constraint, &mut members.all[0].draft)?;
        let Some(bound) = members.all[0].draft.constraints.get(before).cloned() else { return Ok(()) };
        self.add_check(members, 0, &bound, false)
    }

    /// Adds a check to a member and to those that inherit from it. `from_parent` says that a parent has got it before.
    pub(super) fn add_check(
        &mut self,
        members: &mut Members,
        at: usize,
        constraint: &Constraint,
        from_parent: bool,
    ) -> Result<()> {
        let ConstraintKind::Check(text) = &constraint.kind else { return Ok(()) };
        let table = members.all[at].table.clone();
        let member = &members.all[at];
        let text = match from_parent {
            true => self.copied_text(&table, &text.text, &member.draft, Clause::Check, None)?,
            false => text.clone(),
        };
        let name = &constraint.name;
        let old = table.check(name).filter(|_| !member.gone_checks.contains(name)).cloned();
        let new = member.new_checks.iter().find(|(known, ..)| known == name).map(|(_, text, _)| text.clone());
        if let Some(known) = new {
            if !from_parent || known.expr != text.expr {
                return Err(already_there(name, &table.name));
            }
            self.remark(format!("merging constraint \"{name}\" with inherited definition"));
            return Ok(());
        }
        if let Some(old) = old {
            let known = self.copied_text(&table, &old.text, &members.all[at].draft, Clause::Check, None)?;
            let inherited = members.check_times_inherited(self.schema, at, name) > 0;
            check_merge(&table, &old, constraint, known.expr == text.expr, inherited, from_parent)?;
            self.remark(format!("merging constraint \"{name}\" with inherited definition"));
            if !from_parent {
                members.all[at].set(Part::Constraint(name.clone()), INHERITED_CHECK, None);
            }
            return Ok(());
        }
        let member = &mut members.all[at];
        let others = table.indexes.iter().map(|index| (&index.name, index.constraint));
        let mut others = others.chain(table.foreign_keys.iter().map(|key| (&key.name, true)));
        if others.any(|(known, constraint)| constraint && known == name) {
            return Err(already_there(name, &table.name));
        }
        member.draft.taken.push(name.clone());
        member.new_checks.push((name.clone(), text.clone(), !constraint.options.no_inherit));
        let kind = ConstraintKind::Check(text);
        member.actions.push(AlterTable::AddConstraint(Constraint { kind, ..constraint.clone() }));
        if from_parent {
            member.set(Part::Constraint(name.clone()), INHERITED_CHECK, Some("true".to_owned()));
        }
        let children = members.children(at);
        if constraint.options.no_inherit || children.is_empty() {
            return Ok(());
        }
        if !members.recurse {
            return Err(refused("constraint must be added to child tables too".to_owned()));
        }
        children.into_iter().try_for_each(|child| self.add_check(members, child, constraint, true))
    }

    /// DROP CONSTRAINT.
    pub(super) fn unconstrain_members(
        &mut self,
        command: &pg::AlterTableCmd,
        members: &mut Members,
        place: i32,
    ) -> Result<()> {
        let name = command.name.as_str();
        if members.check_times_inherited(self.schema, 0, name) > 0 && members.all[0].table.check(name).is_some() {
            let table = &members.all[0].table.name;
            return Err(refused(format!("cannot drop inherited constraint \"{name}\" of relation \"{table}\"")));
        }
        let table = members.all[0].table.clone();
        if self.is_parents_constraint(&table, name) {
            return Err(refused(format!("cannot drop inherited constraint \"{name}\" of relation \"{}\"", table.name)));
        }
        if table.is_partitioned() && table.check(name).is_none() {
            return self.unconstrain_partitions(command, members, place);
        }
        let given = members.all[0].gives_check(name);
        let before = members.all[0].actions.len();
        self.alter_member(command, members, 0, place)?;
        if given && members.all[0].actions.len() > before {
            members.all[0].gone_checks.insert(name.to_owned());
            members.all[0].new_checks.retain(|(known, ..)| known != name);
            self.unconstrain_below(command, members, 0, place)?;
        }
        Ok(())
    }

    fn unconstrain_below(
        &mut self,
        command: &pg::AlterTableCmd,
        members: &mut Members,
        at: usize,
        place: i32,
    ) -> Result<()> {
        let name = command.name.as_str();
        for child in members.children(at) {
            if !members.all[child].gives_check(name) {
                continue;
            }
            if !members.recurse {
                members.all[child].set(Part::Constraint(name.to_owned()), INHERITED_CHECK, None);
            } else if !members.all[child].table.declares_check(name)
                && members.check_times_inherited(self.schema, child, name) == 0
            {
                self.alter_member(command, members, child, place)?;
                members.all[child].gone_checks.insert(name.to_owned());
                self.unconstrain_below(command, members, child, place)?;
            }
        }
        Ok(())
    }

    /// VALIDATE CONSTRAINT.
    pub(super) fn validate_members(
        &mut self,
        command: &pg::AlterTableCmd,
        members: &mut Members,
        place: i32,
    ) -> Result<()> {
        let name = command.name.as_str();
        let given = |member: &Member| member.table.check(name).is_some_and(|check| !check.no_inherit && !check.valid);
        if !given(&members.all[0]) {
            return self.alter_member(command, members, 0, place);
        }
        if !members.recurse && members.all.len() > 1 {
            return Err(refused("constraint must be validated on child tables too".to_owned()));
        }
        for at in 0..members.all.len() {
            if given(&members.all[at]) {
                self.alter_member(command, members, at, place)?;
            }
        }
        Ok(())
    }

    /// A key or a foreign key of a partitioned table is one of each partition.
    fn constrain_partitions(&mut self, command: &pg::AlterTableCmd, members: &mut Members, place: i32) -> Result<()> {
        let Some(N::Constraint(constraint)) = command.def.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(Error::internal("a constraint of a partitioned table"));
        };
        self.refuse_exclusion(constraint)?;
        if !constraint.indexname.is_empty() {
            let message = "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        let is_key = constraint.contype() != pg::ConstrType::ConstrForeign;
        let mut of_partitions = (**constraint).clone();
        if is_key {
            of_partitions.conname.clear();
        }
        // ONLY: partitions have theirs, or get them later.
        let count = if members.recurse { members.all.len() } else { 1 };
        for at in 0..count {
            let table = members.all[at].table.clone();
            if at > 0 && is_key {
                // A key that is there already is the new one's part, if it is no part of another.
                let above = members.all[..at].iter().find(|other| table.parents().contains(&other.table.oid));
                let taken = above.map(|above| crate::partition::adopted_indexes(&above.table, &table));
                if has_key(&table, constraint, &taken.unwrap_or_default()) {
                    continue;
                }
            }
            // A partition's own foreign key that is like the new one is its part of that.
            let new = members.all[0].actions.iter().rev().find(|action| is_foreign_key(action));
            if at > 0
                && let Some(AlterTable::AddConstraint(new)) = new
                && has_foreign_key(&table, &members.all[0].table, &new.kind)
            {
                continue;
            }
            let (before, given) = (members.all[at].draft.constraints.len(), members.all[at].actions.len());
            let def = Some(Box::new(pg::Node { node: Some(N::Constraint(Box::new(of_partitions.clone()))) }));
            let own = pg::AlterTableCmd { def, ..command.clone() };
            self.alter_member(if at == 0 { command } else { &own }, members, at, place)?;
            let kept = members.all[0].actions.iter().any(is_by_engine);
            if let Some(AlterTable::AddConstraint(added)) = members.all[at].actions.get_mut(given)
                && let ConstraintKind::ForeignKey(key) = &mut added.kind
            {
                key.by_engine |= kept;
            }
            let draft = &members.all[at].draft;
            if let Some(partitioning) = &table.partitioning {
                let added = members.all[at].actions[given..].iter().find_map(|action| match action {
                    AlterTable::AddConstraint(constraint) => Some(constraint),
                    _ => None,
                });
                if let Some(added) = added.or(draft.constraints.get(before)) {
                    super::super::partition::check_constraint(added, partitioning, draft)?;
                }
            }
            if at == 0 && !is_key {
                let added = members.all[0].actions[given..].iter().find_map(|action| match action {
                    AlterTable::AddConstraint(constraint) => Some(constraint.name.clone()),
                    _ => None,
                });
                let free = |name: &String| {
                    !members
                        .all
                        .iter()
                        .any(|member| member.draft.taken[..].contains(name) && member.table.oid != table.oid)
                };
                of_partitions.conname = added.filter(free).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// A key or a foreign key of a partitioned table goes from each partition.
    fn unconstrain_partitions(&mut self, command: &pg::AlterTableCmd, members: &mut Members, place: i32) -> Result<()> {
        let mut names = vec![Some(command.name.clone())];
        for at in 1..members.all.len() {
            let table = members.all[at].table.clone();
            let above = members.all[..at].iter().position(|other| table.parents().contains(&other.table.oid));
            let of_parent = above.and_then(|above| Some((&members.all[above].table, names[above].as_deref()?)));
            names.push(of_parent.and_then(|(parent, name)| {
                if let Some(index) = parent.indexes.iter().position(|index| index.constraint && index.name == name) {
                    let own = crate::partition::adopted_indexes(parent, &table)[index]?;
                    return Some(table.indexes[own].name.clone());
                }
                let key = parent.foreign_keys.iter().find(|key| key.name == name)?;
                crate::partition::adopted_key(parent, key, &table).map(|key| key.name.clone())
            }));
        }
        for (at, name) in names.into_iter().enumerate() {
            let Some(name) = name else { continue };
            self.alter_member(&pg::AlterTableCmd { name, ..command.clone() }, members, at, place)?;
        }
        Ok(())
    }

    /// A constraint that a partition has for its parent's sake.
    pub(super) fn is_parents_constraint(&self, table: &Relation, name: &str) -> bool {
        table.bound().is_some()
            && heritage::parents(self.schema, table).iter().any(|parent| {
                let index = table.indexes.iter().position(|index| index.constraint && index.name == name);
                let key = |own: &crate::schema::ForeignKey| {
                    crate::partition::adopted_key(parent, own, table).is_some_and(|key| key.name == name)
                };
                index.is_some_and(|at| crate::partition::parent_of_index(parent, table, at).is_some())
                    || parent.foreign_keys.iter().any(key)
            })
    }
}

fn is_foreign_key(action: &AlterTable) -> bool {
    let AlterTable::AddConstraint(added) = action else { return false };
    matches!(added.kind, ConstraintKind::ForeignKey(_))
}

/// A partition has a foreign key like one that its table is to have.
fn has_foreign_key(partition: &Relation, parent: &Relation, new: &ConstraintKind) -> bool {
    let names = |relation: &Relation, columns: &[usize]| -> Vec<String> {
        columns.iter().map(|at| relation.columns[*at].name.clone()).collect()
    };
    let ConstraintKind::ForeignKey(key) = new else { return false };
    partition.foreign_keys.iter().any(|own| {
        names(partition, &own.columns) == names(parent, &key.columns)
            && names(partition, &own.set_columns) == names(parent, &key.set_columns)
            && (&own.target, &own.target_columns) == (&key.target, &key.target_columns)
            && (own.rules.on_delete, own.rules.on_update, own.rules.full)
                == (key.rules.on_delete, key.rules.on_update, key.rules.full)
            && (own.rules.deferrable, own.rules.deferred, own.by_engine)
                == (key.rules.deferrable, key.rules.deferred, key.by_engine)
            && own.valid
    })
}

/// An action that adds a foreign key which the engine keeps.
fn is_by_engine(action: &AlterTable) -> bool {
    let AlterTable::AddConstraint(added) = action else { return false };
    matches!(&added.kind, ConstraintKind::ForeignKey(key) if key.by_engine)
}

/// Whether a check may be added where there is one of its name.
fn check_merge(
    table: &Relation,
    old: &Check,
    new: &Constraint,
    same: bool,
    inherited: bool,
    from_parent: bool,
) -> Result<()> {
    let name = &new.name;
    if !same || !from_parent && table.declares_check(name) {
        return Err(already_there(name, &table.name));
    }
    let conflict = |what: &str| {
        let message = format!("constraint \"{name}\" conflicts with {what} constraint on relation \"{}\"", table.name);
        Err(Error::new(Condition::InvalidObjectDefinition, message))
    };
    if old.no_inherit {
        return conflict("non-inherited");
    }
    if inherited && new.options.no_inherit {
        return conflict("inherited");
    }
    if !new.options.not_valid && !old.valid {
        return conflict("NOT VALID");
    }
    Ok(())
}

/// A table has a key over the columns that a constraint names.
fn has_key(table: &Relation, constraint: &pg::Constraint, taken: &[Option<usize>]) -> bool {
    let wanted: Option<Vec<Option<usize>>> =
        super::super::names::strings(&constraint.keys).into_iter().map(|name| table.column(name).map(Some)).collect();
    let primary = constraint.contype() == pg::ConstrType::ConstrPrimary;
    table.indexes.iter().enumerate().any(|(at, index)| {
        index.constraint
            && !taken.contains(&Some(at))
            && index.primary == primary
            && index.is_key()
            && index.nulls_alike == constraint.nulls_not_distinct
            && Some(&index.columns) == wanted.as_ref()
    })
}
