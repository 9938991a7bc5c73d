//! ALTER TABLE of a table that inherits, or that others inherit from.
//!
//! What a command does to a column or a check of a table it does to those that inherit them; a column or a check that has
//! been inherited can be changed through the parents alone. A column goes from an heir when no other parent has it and the
//! heir does not declare it itself.

mod constraints;

use std::collections::BTreeSet;
use std::sync::Arc;

use pg_query::protobuf::{self as pg, AlterTableType, node::Node as N};

use super::super::binder::{Binder, Clause};
use super::table::Draft;
use crate::heritage::{self, Heritage, INHERITED_CHECK, INHERITED_COLUMN, INHERITS};
use crate::ir::{AlterTable, ColumnDefinition, ConstraintKind, Ddl, Part, Statement, Text};
use crate::schema::Relation;
use crate::{Condition, Error, Result, Schema};

/// The tables that one ALTER TABLE changes: the named one, and those that inherit from it.
pub(super) struct Members {
    all: Vec<Member>,
    /// ONLY is not said.
    recurse: bool,
    /// Columns whose default the statement drops, which it does before anything else.
    without_default: BTreeSet<String>,
}

struct Member {
    table: Arc<Relation>,
    draft: Draft,
    actions: Vec<AlterTable>,
    /// Columns that the statement has dropped.
    gone: BTreeSet<String>,
    /// Checks that the statement has dropped.
    gone_checks: BTreeSet<String>,
    /// Checks that the statement has added, and whether children get them.
    new_checks: Vec<(String, Text, bool)>,
}

impl Member {
    fn has_column(&self, name: &str) -> bool {
        !self.gone.contains(name) && self.draft.columns.iter().any(|column| column.name == name)
    }

    /// True for a check that children get.
    fn gives_check(&self, name: &str) -> bool {
        let old = self.table.check(name).is_some_and(|check| !check.no_inherit && !self.gone_checks.contains(name));
        old || self.new_checks.iter().any(|(known, _, inherited)| known == name && *inherited)
    }

    fn set(&mut self, part: Part, name: &str, value: Option<String>) {
        self.actions.push(AlterTable::SetProperty { part, name: name.to_owned(), value });
    }

    fn column(&self, name: &str) -> Result<usize> {
        let found = self.draft.columns.iter().position(|column| column.name == name);
        found.ok_or_else(|| Error::internal(format!("\"{}\" lacks the inherited column \"{name}\"", self.table.name)))
    }
}

impl Members {
    pub(super) fn of(schema: &dyn Schema, table: &Arc<Relation>, recurse: bool) -> Self {
        let all = heritage::family(schema, table).into_iter().map(|table| Member {
            draft: Binder::draft_of(&table),
            table,
            actions: Vec::new(),
            gone: BTreeSet::new(),
            gone_checks: BTreeSet::new(),
            new_checks: Vec::new(),
        });
        Self { all: all.collect(), recurse, without_default: BTreeSet::new() }
    }

    /// Notes whose defaults go.
    pub(super) fn drop_defaults<'c>(&mut self, commands: impl Iterator<Item = &'c pg::AlterTableCmd>) {
        let dropping = |command: &&pg::AlterTableCmd| {
            command.subtype() == AlterTableType::AtColumnDefault && command.def.is_none()
        };
        self.without_default = commands.filter(dropping).map(|command| command.name.clone()).collect();
    }

    /// The statement that does it all.
    pub(super) fn statement(self) -> Statement {
        let mut all = self.all.into_iter().map(|member| (member.table, member.actions));
        let Some((table, actions)) = all.next() else { return Statement::Nothing { tag: "ALTER TABLE" } };
        let heirs: Vec<_> = all.filter(|(_, actions)| !actions.is_empty()).collect();
        if actions.is_empty() && heirs.is_empty() {
            return Statement::Nothing { tag: "ALTER TABLE" };
        }
        Statement::Ddl(Box::new(Ddl::AlterTable { table, actions, heirs }))
    }

    /// Those that inherit directly from one.
    fn children(&self, at: usize) -> Vec<usize> {
        let parent = self.all[at].table.oid;
        let inherits = |at: &usize| self.all[*at].table.parents().contains(&parent);
        (0..self.all.len()).filter(inherits).collect()
    }

    fn alone(&self) -> bool {
        self.all.len() == 1 && self.all[0].table.heritage.is_none() && !self.all[0].table.is_partitioned()
    }

    /// How many parents of a member have a column, as far as the statement has come.
    fn times_inherited(&self, schema: &dyn Schema, at: usize, column: &str) -> usize {
        let has = |parent: &&u32| match self.all.iter().find(|member| member.table.oid == **parent) {
            Some(member) => member.has_column(column),
            None => {
                schema.relation_by_oid(**parent).is_some_and(|parent| parent.columns.iter().any(|c| c.name == column))
            }
        };
        self.all[at].table.parents().iter().filter(has).count()
    }

    /// The same of a check.
    fn check_times_inherited(&self, schema: &dyn Schema, at: usize, check: &str) -> usize {
        let has = |parent: &&u32| match self.all.iter().find(|member| member.table.oid == **parent) {
            Some(member) => member.gives_check(check),
            None => schema
                .relation_by_oid(**parent)
                .is_some_and(|parent| parent.check(check).is_some_and(|check| !check.no_inherit)),
        };
        self.all[at].table.parents().iter().filter(has).count()
    }
}

fn refused(message: String) -> Error {
    Error::new(Condition::InvalidTableDefinition, message)
}

impl Binder<'_> {
    /// What a command does to each of the tables.
    pub(super) fn alter_members(
        &mut self,
        command: &pg::AlterTableCmd,
        members: &mut Members,
        place: i32,
    ) -> Result<()> {
        self.refuse_typed(command.subtype(), &members.all[0].table)?;
        self.check_partitions(command, members)?;
        if command.subtype() == AlterTableType::AtDropExpression {
            self.check_drop_of_expression(command, members)?;
        }
        match command.subtype() {
            AlterTableType::AtAddInherit | AlterTableType::AtDropInherit => {
                return self.alter_parents(command, members);
            }
            _ if members.alone() => {}
            AlterTableType::AtAddColumn => return self.add_to_members(command, members, place),
            AlterTableType::AtDropColumn => return self.drop_from_members(command, members, place),
            AlterTableType::AtAlterColumnType => return self.retype_members(command, members, place),
            AlterTableType::AtAddConstraint => return self.constrain_members(command, members, place),
            AlterTableType::AtDropConstraint => return self.unconstrain_members(command, members, place),
            AlterTableType::AtValidateConstraint => return self.validate_members(command, members, place),
            AlterTableType::AtColumnDefault
            | AlterTableType::AtSetNotNull
            | AlterTableType::AtDropExpression
            | AlterTableType::AtDropNotNull
            | AlterTableType::AtSetStatistics
            | AlterTableType::AtSetStorage
                if members.recurse =>
            {
                return (0..members.all.len()).try_for_each(|at| self.alter_member(command, members, at, place));
            }
            _ => {}
        }
        self.alter_member(command, members, 0, place)?;
        if let Some(AlterTable::SetTriggers { only, .. }) = members.all[0].actions.last_mut() {
            *only = !members.recurse;
        }
        Ok(())
    }

    /// A column is computed as that of its parents is.
    fn check_drop_of_expression(&self, command: &pg::AlterTableCmd, members: &Members) -> Result<()> {
        if !members.recurse && !self.schema.heirs(members.all[0].table.oid).is_empty() {
            let message = "ALTER TABLE / DROP EXPRESSION must be applied to child tables too";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        if members.times_inherited(self.schema, 0, &command.name) > 0 {
            return Err(refused("cannot drop generation expression from inherited column".to_owned()));
        }
        Ok(())
    }

    /// What cannot be done to partitioned tables and to partitions.
    fn check_partitions(&self, command: &pg::AlterTableCmd, members: &Members) -> Result<()> {
        let (table, name) = (&members.all[0].table, command.name.as_str());
        let wrong = |message: &str| Err(Error::new(Condition::WrongObjectType, message));
        if table.bound().is_some() && command.subtype() == AlterTableType::AtAddColumn {
            return wrong("cannot add column to a partition");
        }
        if table.bound().is_some() && command.subtype() == AlterTableType::AtDropNotNull {
            let parents = heritage::parents(self.schema, table);
            let held = |parent: &Arc<Relation>| parent.columns.iter().any(|own| own.name == name && own.not_null);
            if parents.iter().any(held) {
                return Err(refused(format!("column \"{name}\" is marked NOT NULL in parent table")));
            }
        }
        let verb = match command.subtype() {
            AlterTableType::AtDropColumn => "drop",
            AlterTableType::AtAlterColumnType => "alter",
            _ => "",
        };
        let inherited = members.times_inherited(self.schema, 0, name) > 0;
        for member in members.all.iter().filter(|_| !verb.is_empty() && !inherited) {
            let Some(partitioning) = &member.table.partitioning else { continue };
            let named = partitioning.keys.iter().any(|key| match &key.column {
                Some(column) => column == name,
                None => super::super::names_column(&key.text, name),
            });
            if named {
                let message = format!(
                    "cannot {verb} column \"{name}\" because it is part of the partition key of relation \"{}\"",
                    member.table.name
                );
                return Err(refused(message));
            }
        }
        if !table.is_partitioned() || members.recurse || members.all.len() == 1 {
            return Ok(());
        }
        let message = match command.subtype() {
            AlterTableType::AtDropColumn => "cannot drop column from only the partitioned table when partitions exist",
            AlterTableType::AtSetNotNull => "constraint must be added to child tables too",
            AlterTableType::AtDropNotNull | AlterTableType::AtDropConstraint => {
                "cannot remove constraint from only the partitioned table when partitions exist"
            }
            AlterTableType::AtAddConstraint => {
                let def = command.def.as_deref().and_then(|node| node.node.as_ref());
                let Some(N::Constraint(constraint)) = def else { return Ok(()) };
                return self.check_only(constraint, table);
            }
            _ => return Ok(()),
        };
        Err(refused(message.to_owned()).hint("Do not specify the ONLY keyword."))
    }

    /// ADD CONSTRAINT of a partitioned table ONLY: keys, of which partitions have theirs or get them later, as dumps have it.
    fn check_only(&self, constraint: &pg::Constraint, table: &Relation) -> Result<()> {
        match constraint.contype() {
            pg::ConstrType::ConstrForeign => {
                let target = constraint.pktable.as_ref().map_or("", |range| &range.relname);
                let message = format!(
                    "cannot use ONLY for foreign key on partitioned table \"{}\" referencing relation \"{target}\"",
                    table.name
                );
                Err(Error::new(Condition::WrongObjectType, message))
            }
            pg::ConstrType::ConstrExclusion => {
                let message = "exclusion constraints are not supported on partitioned tables";
                Err(Error::new(Condition::FeatureNotSupported, message))
            }
            pg::ConstrType::ConstrCheck => Err(refused("constraint must be added to child tables too".to_owned())),
            pg::ConstrType::ConstrPrimary => {
                for name in super::super::names::strings(&constraint.keys) {
                    let open = |partition: &Arc<Relation>| {
                        partition.columns.iter().any(|column| column.name == name && !column.not_null)
                    };
                    if let Some(partition) = self.schema.heirs(table.oid).into_iter().find(open) {
                        let detail =
                            format!("Column \"{name}\" of relation \"{}\" is not already NOT NULL.", partition.name);
                        return Err(refused("constraint must be added to child tables too".to_owned())
                            .detail(detail)
                            .hint("Do not specify the ONLY keyword."));
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn alter_member(
        &mut self,
        command: &pg::AlterTableCmd,
        members: &mut Members,
        at: usize,
        place: i32,
    ) -> Result<()> {
        let member = &mut members.all[at];
        let table = member.table.clone();
        let actions = self.actions_of(command, &table, &mut member.draft, place)?;
        for action in &actions {
            if let AlterTable::SetType { column, ty, .. } = action
                && !members.without_default.contains(&command.name)
            {
                self.check_default_follows(&table.columns[*column], ty)?;
            }
        }
        members.all[at].actions.extend(actions);
        Ok(())
    }

    /// ADD COLUMN.
    fn add_to_members(&mut self, command: &pg::AlterTableCmd, members: &mut Members, place: i32) -> Result<()> {
        let before = members.all[0].actions.len();
        self.alter_member(command, members, 0, place)?;
        let added = members.all[0].actions[before..].iter().find_map(|action| match action {
            AlterTable::AddColumn { column, constraints, .. } => Some((column.clone(), constraints.clone())),
            _ => None,
        });
        let Some((column, constraints)) = added else { return Ok(()) };
        if let Some(partitioning) = members.all[0].table.partitioning.clone() {
            for constraint in &constraints {
                super::partition::check_constraint(constraint, &partitioning, &members.all[0].draft)?;
                if !matches!(constraint.kind, ConstraintKind::Check(_)) {
                    return Err(self.unsupported("ADD COLUMN with a key, of a partitioned table", place));
                }
            }
        }
        members.all[0].gone.remove(&column.name);
        let children = members.children(0);
        if children.is_empty() {
            return Ok(());
        }
        if !members.recurse {
            return Err(refused("column must be added to child tables too".to_owned()));
        }
        if column.identity.is_some() {
            let message = "cannot recursively add identity column to table that has child tables";
            return Err(refused(message.to_owned()));
        }
        if column.sequence.is_some() {
            return Err(self.unsupported("a serial column added to a table that others inherit from", place));
        }
        for child in children {
            self.add_to_member(&column, members, child)?;
        }
        for constraint in constraints.iter().filter(|constraint| !constraint.options.no_inherit) {
            let ConstraintKind::Check(text) = &constraint.kind else { continue };
            members.all[0].new_checks.push((constraint.name.clone(), text.clone(), true));
            for child in members.children(0) {
                self.add_check(members, child, constraint, true)?;
            }
        }
        Ok(())
    }

    fn add_to_member(&mut self, column: &ColumnDefinition, members: &mut Members, at: usize) -> Result<()> {
        let member = &members.all[at];
        let table = member.table.clone();
        if member.has_column(&column.name) {
            if member.draft.columns[member.column(&column.name)?].ty != column.ty {
                let message =
                    format!("child table \"{}\" has different type for column \"{}\"", table.name, column.name);
                return Err(Error::new(Condition::DatatypeMismatch, message));
            }
            self.remark(format!("merging definition of column \"{}\" for child \"{}\"", column.name, table.name));
            // It has been there, so that its children have it.
            return Ok(());
        }
        let mut own = column.clone();
        let member = &mut members.all[at];
        member.draft.columns.push(own.clone());
        if let Some(text) = &column.generated {
            let ty = Some((column.name.as_str(), &column.ty));
            member.draft.generated.push(own.name.clone());
            own.generated = Some(self.copied_text(&table, &text.text, &member.draft, Clause::Generated, ty)?);
        }
        member.gone.remove(&own.name);
        let position = member.draft.columns.len() - 1;
        member.actions.push(AlterTable::AddColumn { column: own, constraints: Vec::new(), if_not_exists: false });
        member.set(Part::Column(position), INHERITED_COLUMN, Some("true".to_owned()));
        members.children(at).into_iter().try_for_each(|child| self.add_to_member(column, members, child))
    }

    /// DROP COLUMN.
    fn drop_from_members(&mut self, command: &pg::AlterTableCmd, members: &mut Members, place: i32) -> Result<()> {
        let name = command.name.as_str();
        if members.times_inherited(self.schema, 0, name) > 0 && members.all[0].has_column(name) {
            return Err(refused(format!("cannot drop inherited column \"{name}\"")));
        }
        let before = members.all[0].actions.len();
        self.alter_member(command, members, 0, place)?;
        if members.all[0].actions.len() > before {
            members.all[0].gone.insert(name.to_owned());
            self.drop_below(command, members, 0, place)?;
        }
        Ok(())
    }

    /// The column of a member has gone: so it goes from those that have it for its sake alone.
    fn drop_below(&mut self, command: &pg::AlterTableCmd, members: &mut Members, at: usize, place: i32) -> Result<()> {
        let name = command.name.as_str();
        for child in members.children(at) {
            if !members.all[child].has_column(name) {
                continue;
            }
            if !members.recurse {
                let column = members.all[child].column(name)?;
                members.all[child].set(Part::Column(column), INHERITED_COLUMN, None);
            } else if !members.all[child].table.declares_column(name)
                && members.times_inherited(self.schema, child, name) == 0
            {
                self.alter_member(command, members, child, place)?;
                members.all[child].gone.insert(name.to_owned());
                self.drop_below(command, members, child, place)?;
            }
        }
        Ok(())
    }

    /// ALTER COLUMN TYPE.
    fn retype_members(&mut self, command: &pg::AlterTableCmd, members: &mut Members, place: i32) -> Result<()> {
        let name = command.name.as_str();
        if members.times_inherited(self.schema, 0, name) > 0 {
            return Err(refused(format!("cannot alter inherited column \"{name}\"")));
        }
        if !members.recurse && members.all.len() > 1 {
            return Err(refused(format!("type of inherited column \"{name}\" must be changed in child tables too")));
        }
        self.alter_member(command, members, 0, place)?;
        for at in 1..members.all.len() {
            let table = &members.all[at].table;
            let inside = members.all.iter().filter(|other| table.parents().contains(&other.table.oid)).count();
            if members.times_inherited(self.schema, at, name) > inside {
                let message = format!("cannot alter inherited column \"{name}\" of relation \"{}\"", table.name);
                return Err(refused(message));
            }
            self.alter_member(command, members, at, place)?;
        }
        Ok(())
    }

    /// INHERIT and NO INHERIT.
    fn alter_parents(&mut self, command: &pg::AlterTableCmd, members: &mut Members) -> Result<()> {
        let Some(N::RangeVar(range)) = command.def.as_deref().and_then(|node| node.node.as_ref()) else {
            return Err(Error::internal("INHERIT of nobody"));
        };
        let table = members.all[0].table.clone();
        let given = members.all[0].actions.iter().rev().find_map(|action| match action {
            AlterTable::SetProperty { part: Part::Table, name, value } if name == INHERITS => Some(value.clone()),
            _ => None,
        });
        let mut parents = match given {
            Some(text) => Heritage::parents_of_text(&text.unwrap_or_default()),
            None => table.parents().to_vec(),
        };
        let member = &mut members.all[0];
        if command.subtype() == AlterTableType::AtAddInherit {
            let parent = self.parent_table(range, table.is_temporary())?;
            if table.bound().is_some() {
                let message = "cannot change inheritance of a partition";
                return Err(Error::new(Condition::WrongObjectType, message));
            }
            if table.is_partitioned() {
                let message = "cannot change inheritance of partitioned table";
                return Err(Error::new(Condition::WrongObjectType, message));
            }
            super::inherit::check_plain_parent(&parent)?;
            let around = heritage::family(self.schema, &table);
            if around.iter().any(|heir| heir.oid == parent.oid) {
                return Err(Error::new(Condition::DuplicateTable, "circular inheritance not allowed")
                    .detail(format!("\"{}\" is already a child of \"{}\".", parent.name, table.name)));
            }
            if parents.contains(&parent.oid) {
                let message = format!("relation \"{}\" would be inherited from more than once", parent.name);
                return Err(Error::new(Condition::DuplicateTable, message));
            }
            self.check_child(&table, &member.draft, &parent)?;
            parents.push(parent.oid);
            member.set(Part::Table, INHERITS, Some(Heritage::parents_text(&parents)));
            return Ok(());
        }
        if table.bound().is_some() {
            return Err(Error::new(Condition::WrongObjectType, "cannot change inheritance of a partition"));
        }
        let parent = self.relation(range)?;
        if !parents.contains(&parent.oid) {
            let message = format!("relation \"{}\" is not a parent of relation \"{}\"", parent.name, table.name);
            return Err(Error::new(Condition::UndefinedTable, message));
        }
        parents.retain(|oid| *oid != parent.oid);
        let value = (!parents.is_empty()).then(|| Heritage::parents_text(&parents));
        // What nobody else gives is the table's own from now on.
        let left: Vec<Arc<Relation>> = parents.iter().filter_map(|oid| self.schema.relation_by_oid(*oid)).collect();
        let Some(heritage) = &table.heritage else { return Ok(()) };
        for name in &heritage.columns {
            if !left.iter().any(|other| other.columns.iter().any(|column| column.name == *name)) {
                let column = member.column(name)?;
                member.set(Part::Column(column), INHERITED_COLUMN, None);
            }
        }
        for name in &heritage.checks {
            if !left.iter().any(|other| other.check(name).is_some_and(|check| !check.no_inherit)) {
                member.set(Part::Constraint(name.clone()), INHERITED_CHECK, None);
            }
        }
        member.set(Part::Table, INHERITS, value);
        Ok(())
    }

    /// A table that is to inherit has what its parent has.
    pub(super) fn check_child(&mut self, child: &Arc<Relation>, draft: &Draft, parent: &Relation) -> Result<()> {
        if child.without_identity {
            return Err(self.unsupported("INHERIT of a table without rowids", -1));
        }
        if let Some(trigger) = child
            .triggers
            .iter()
            .find(|trigger| trigger.has_transition_tables() && trigger.level == crate::ir::TriggerLevel::Row)
        {
            let (becomes, of) = match parent.is_partitioned() {
                true => ("a partition", "on partitions"),
                false => ("an inheritance child", "in inheritance hierarchies"),
            };
            let (name, table) = (&trigger.name, &child.name);
            let message = format!("trigger \"{name}\" prevents table \"{table}\" from becoming {becomes}");
            return Err(Error::new(Condition::FeatureNotSupported, message)
                .detail(format!("ROW triggers with transition tables are not supported {of}.")));
        }
        let mismatch = |message: String| Error::new(Condition::DatatypeMismatch, message);
        for column in &parent.columns {
            let name = &column.name;
            let Some(at) = draft.columns.iter().position(|own| own.name == *name) else {
                return Err(mismatch(format!("child table is missing column \"{name}\"")));
            };
            if draft.columns[at].ty != column.ty {
                let message = format!("child table \"{}\" has different type for column \"{name}\"", child.name);
                return Err(mismatch(message));
            }
            if column.not_null && !draft.columns[at].not_null {
                return Err(mismatch(format!("column \"{name}\" in child table must be marked NOT NULL")));
            }
            let computed = child.columns.get(at).and_then(|own| own.generated.clone());
            match (&column.generated, computed) {
                (Some(_), None) => {
                    return Err(mismatch(format!("column \"{name}\" in child table must be a generated column")));
                }
                (Some(theirs), Some(own)) => {
                    let ty = Some((name.as_str(), &column.ty));
                    let theirs = self.copied_text(parent, &theirs.text, draft, Clause::Generated, ty)?;
                    if theirs.expr != self.copied_text(child, &own.text, draft, Clause::Generated, ty)?.expr {
                        let message =
                            format!("column \"{name}\" in child table has a conflicting generation expression");
                        return Err(mismatch(message));
                    }
                }
                (None, _) => {}
            }
        }
        for check in parent.checks.iter().filter(|check| !check.no_inherit) {
            let name = &check.name;
            let Some(own) = child.check(name) else {
                return Err(mismatch(format!("child table is missing constraint \"{name}\"")));
            };
            let theirs = self.copied_text(parent, &check.text, draft, Clause::Check, None)?;
            if theirs.expr != self.copied_text(child, &own.text, draft, Clause::Check, None)?.expr {
                let message =
                    format!("child table \"{}\" has different definition for check constraint \"{name}\"", child.name);
                return Err(mismatch(message));
            }
            let conflict = |what: &str| {
                let message =
                    format!("constraint \"{name}\" conflicts with {what} constraint on child table \"{}\"", child.name);
                Error::new(Condition::InvalidObjectDefinition, message)
            };
            if own.no_inherit {
                return Err(conflict("non-inherited"));
            }
            if check.valid && !own.valid {
                return Err(conflict("NOT VALID"));
            }
        }
        Ok(())
    }

    /// What renaming a column or a check does to those that inherit it.
    pub(super) fn renamed_in_heirs(
        &mut self,
        table: &Arc<Relation>,
        action: &AlterTable,
        recurse: bool,
    ) -> Result<Vec<(Arc<Relation>, Vec<AlterTable>)>> {
        let members = heritage::family(self.schema, table);
        let inside =
            |heir: &Relation| members.iter().filter(|member| recurse && heir.parents().contains(&member.oid)).count();
        let mut heirs = Vec::new();
        match action {
            AlterTable::RenameColumn { column, to } => {
                let name = &table.columns[*column].name;
                if !recurse && members.len() > 1 {
                    return Err(refused(format!("inherited column \"{name}\" must be renamed in child tables too")));
                }
                for (at, member) in members.iter().enumerate() {
                    if heritage::times_inherited(self.schema, member, name) > inside(member) {
                        return Err(refused(format!("cannot rename inherited column \"{name}\"")));
                    }
                    if at > 0 {
                        let column = self.altered_column(member, name)?;
                        if member.columns.iter().any(|known| known.name == *to) {
                            let message = format!("column \"{to}\" of relation \"{}\" already exists", member.name);
                            return Err(Error::new(Condition::DuplicateColumn, message));
                        }
                        heirs.push((member.clone(), vec![AlterTable::RenameColumn { column, to: to.clone() }]));
                    }
                }
            }
            AlterTable::RenameConstraint { from, to } => {
                let Some(check) = table.check(from) else { return Ok(heirs) };
                let given = !check.no_inherit;
                if given && !recurse && members.len() > 1 {
                    return Err(refused(format!(
                        "inherited constraint \"{from}\" must be renamed in child tables too"
                    )));
                }
                let members = members.iter().take(if given { members.len() } else { 1 });
                for (at, member) in members.enumerate() {
                    if heritage::check_times_inherited(self.schema, member, from) > inside(member) {
                        return Err(refused(format!("cannot rename inherited constraint \"{from}\"")));
                    }
                    if at > 0 {
                        let (from, to) = (from.clone(), to.clone());
                        heirs.push((member.clone(), vec![AlterTable::RenameConstraint { from, to }]));
                    }
                }
            }
            _ => {}
        }
        Ok(heirs)
    }
}
