//! ALTER TABLE.
//!
//! A change reshapes the table where its rows stay as they lie (a default, a check, a foreign key), and has it written
//! anew otherwise: once for several actions that can wait for each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowferry_dialect::collation::{Collation, PROPERTY};
use rowferry_dialect::ir::{
    AlterTable, ColumnDefinition, ColumnIndex, Constraint, ConstraintKind, Expr, ExprKind, Part, Text, walk,
};
use rowferry_dialect::postgres::types;
use rowferry_dialect::schema::{Column, DroppedColumn, QualifiedName, Relation};
use rowferry_dialect::{Condition, Error, Language, Schema as _, Type};

use super::constraints::stands_alone;
use super::dependencies::Needed;
use super::positions::Positions;
use super::{Changer, Done, PartKind, cannot_drop, describe, described};
use crate::backend::{Failed, Form, NewColumn, Source, mentions, same_columns};

/// What several actions of one ALTER TABLE leave to be done together.
#[derive(Default)]
pub(super) struct Deferred {
    /// The table as it will be.
    form: Option<Form>,
    /// What columns are computed from that are not copied, by name.
    values: BTreeMap<String, Source>,
    /// Rows have to be written anew.
    rebuild: bool,
}

impl Changer<'_> {
    pub(super) fn alter_table(&self, table: &Arc<Relation>, actions: &[AlterTable]) -> Done {
        if !table.keeps_rows() {
            return Err(Error::unsupported(format!("ALTER of {}", describe(table))).into());
        }
        self.check_keys_to_be(table, actions)?;
        let mut positions = Positions::of(table);
        for (at, action) in actions.iter().enumerate() {
            if let AlterTable::SetType { column, .. } = action
                && actions[..at]
                    .iter()
                    .any(|other| matches!(other, AlterTable::SetType { column: c, .. } if c == column))
            {
                let name = &table.columns[*column].name;
                let message = format!("cannot alter type of column \"{name}\" twice");
                return Err(Error::new(Condition::FeatureNotSupported, message).into());
            }
            let waits = self.can_wait(action, table);
            if !waits || self.deferred.borrow().is_none() {
                // It counts on what earlier ones have made.
                self.write_deferred(table.oid)?;
                self.settle()?;
            }
            *self.deferred.borrow_mut() = if waits { Some(self.deferred.take().unwrap_or_default()) } else { None };
            let current = self.current(table.oid)?;
            let Some(action) = positions.bring(action, &current)? else { continue };
            self.check_rows_elsewhere(&current, &action)?;
            self.alter(&current, &action)?;
            self.touch(table.physical.database, table.oid);
        }
        self.write_deferred(table.oid)?;
        self.restore_checks(table.oid)?;
        self.restore_indexes(table.oid)?;
        let retyped = actions.iter().filter_map(|action| match action {
            AlterTable::SetType { column, .. } => Some(table.columns[*column].name.as_str()),
            _ => None,
        });
        self.recheck_keys(table.oid, &retyped.collect::<Vec<_>>())?;
        // Views that somebody else has made may be others now.
        let schema = self.schema();
        let views = if table.is_temporary() { &schema.temp } else { &schema.main };
        views.foreign_views().for_each(|view| self.touch(view.physical.database, view.oid));
        Ok(())
    }

    /// The table as the settled steps have left it.
    pub(super) fn current(&self, oid: u32) -> Done<Arc<Relation>> {
        let found = self.schema().relation_by_oid(oid);
        found.ok_or_else(|| Error::internal("the altered table has vanished").into())
    }

    /// True for an action that only changes the table's statement and what rows are made of, so that it can be done
    /// together with the next: several of them write the table anew once.
    fn can_wait(&self, action: &AlterTable, table: &Relation) -> bool {
        let deferred = self.deferred.borrow();
        let computed = |column: usize| {
            let name = &table.columns[column].name;
            deferred.as_ref().is_some_and(|deferred| deferred.values.contains_key(name))
        };
        match action {
            AlterTable::SetDefault { .. } => true,
            AlterTable::SetType { column, .. } | AlterTable::SetNotNull { column, .. } => !computed(*column),
            AlterTable::AddConstraint(constraint) => {
                let known = |form: &Form| form.has_constraint(&constraint.name);
                let ConstraintKind::Unique(columns) = &constraint.kind else { return false };
                let names = || columns.iter().map(|&at| table.columns[at].name.as_str());
                let known = |form: &Form| known(form) || form.has_key(names());
                !table.indexes.iter().any(|index| index.columns.iter().flatten().eq(columns))
                    && !deferred.as_ref().and_then(|deferred| deferred.form.as_ref()).is_some_and(known)
            }
            _ => false,
        }
    }

    /// Does what several actions have left to be done together.
    fn write_deferred(&self, oid: u32) -> Done {
        let Some(Deferred { form: Some(form), values, rebuild }) = self.deferred.take() else { return Ok(()) };
        let table = self.current(oid)?;
        if !rebuild {
            return self.edit(&table, &form);
        }
        let sources = table
            .columns
            .iter()
            .zip(same_columns(&table))
            .map(|(column, same)| values.get(&column.name).cloned().or(same));
        self.rebuild(&table, &form, sources.collect(), &[])
    }

    fn alter(&self, table: &Relation, action: &AlterTable) -> Done {
        match action {
            AlterTable::AddColumn { column, constraints, if_not_exists } => {
                self.add_column(table, column, constraints, *if_not_exists)
            }
            AlterTable::MoveColumn { column, before } => self.move_column(table, *column, *before),
            AlterTable::DropColumn { column, cascade } => self.drop_column(table, *column, *cascade),
            AlterTable::RenameColumn { column, to } => self.rename_column(table, *column, to),
            AlterTable::RenameTable(to) => self.rename_table(table, to),
            AlterTable::RenameConstraint { from, to } => self.rename_constraint(table, from, to),
            AlterTable::SetType { column, ty, collation, using } => {
                self.set_type(table, *column, (ty, collation.as_deref()), using)
            }
            AlterTable::SetNotNull { column, not_null } => self.set_not_null(table, *column, *not_null),
            AlterTable::SetRule { rule, state } => self.set_rule(table, rule, *state),
            AlterTable::SetTriggers { triggers, state, all, only } => {
                self.set_triggers(table, triggers, *state, (*all, *only))
            }
            AlterTable::SetDefault { column, default } => self.set_default(table, *column, default.as_ref()),
            AlterTable::DropExpression { column } => self.drop_expression(table, *column),
            AlterTable::AddIdentity { column, identity, sequence } => {
                self.add_identity(table, *column, identity, sequence)
            }
            AlterTable::SetIdentity { column, always, sequence, restart } => {
                self.set_identity(table, *column, *always, sequence.as_ref(), *restart)
            }
            AlterTable::DropIdentity { column } => self.drop_identity(table, *column),
            AlterTable::AddConstraint(constraint) => self.add_constraint(table, constraint),
            AlterTable::AddKeyUsing { constraint, index } => self.add_key_using(table, constraint, index),
            AlterTable::DropConstraint { name, if_exists, cascade } => {
                let lifted = self.lifted.borrow_mut().extract_if(.., |lifted| lifted.name == *name).count() > 0;
                if lifted {
                    return Ok(());
                }
                let known = table.indexes.iter().any(|index| index.constraint && index.name == *name)
                    || table.foreign_keys.iter().any(|key| key.name == *name)
                    || table.checks.iter().any(|check| check.name == *name)
                    || table.indexes.iter().any(|index| index.unique && index.name == *name);
                if !known {
                    let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
                    if *if_exists {
                        self.notice(Condition::SuccessfulCompletion, format!("{message}, skipping"));
                        return Ok(());
                    }
                    return Err(Error::new(Condition::UndefinedObject, message).into());
                }
                if table.primary_key().is_some_and(|key| key.name == *name) {
                    let shown = self.shown_constraint(table, name);
                    self.drop_dependents(&shown, vec![Needed::primary_key(table, shown.clone())], *cascade)?;
                }
                self.drop_keys_on_index(table, name, &self.shown_constraint(table, name), *cascade)?;
                self.drop_constraint(&*self.current(table.oid)?, name)
            }
            AlterTable::ValidateConstraint(name) => self.validate_constraint(table, name),
            AlterTable::DeferConstraint { name, deferrable, deferred } => {
                self.defer_constraint(table, name, *deferrable, *deferred)
            }
            AlterTable::SetProperty { part, name, value } => {
                let oid = self.entry(table)?;
                let part = match part {
                    Part::Table => "",
                    Part::Column(column) => &table.columns[*column].name,
                    Part::Index(index) => index,
                    Part::Constraint(constraint) => constraint,
                };
                if name == rowferry_dialect::heritage::INHERITS {
                    self.enter_parents(&self.parents_in(value.as_deref()), table.physical.database)?;
                }
                if part.is_empty() && name == "unlogged" {
                    self.check_logging(table, value.is_some())?;
                }
                self.set_property(table.physical.database, oid, part, name, value.as_deref())
            }
            AlterTable::SetSchema(namespace) => self.set_schema(table, namespace),
        }
    }

    fn shown_constraint(&self, table: &Relation, name: &str) -> String {
        format!("constraint {name} on {}", described(&self.schema(), table))
    }

    /// The table's form, to be changed.
    pub(super) fn form(&self, table: &Relation) -> Done<Form> {
        if let Some(form) = self.deferred.borrow().as_ref().and_then(|deferred| deferred.form.clone()) {
            return Ok(form);
        }
        self.store.form(table)
    }

    /// Gives the table another form; its rows must lie as they did.
    pub(super) fn edit(&self, table: &Relation, form: &Form) -> Done {
        if let Some(deferred) = self.deferred.borrow_mut().as_mut() {
            deferred.form = Some(form.clone());
            return Ok(());
        }
        self.store.reshape(table, form)
    }

    fn language(&self, table: &Relation) -> Language {
        if table.language == Language::Native { self.session.language() } else { table.language }
    }

    fn add_column(
        &self,
        table: &Relation,
        column: &ColumnDefinition,
        constraints: &[Constraint],
        if_not_exists: bool,
    ) -> Done {
        if table.column(&column.name).is_some() {
            let message = format!("column \"{}\" of relation \"{}\" already exists", column.name, table.name);
            if if_not_exists {
                self.notice(Condition::DuplicateColumn, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(Error::new(Condition::DuplicateColumn, message).into());
        }
        let position = table.columns.len();
        let names: Vec<&str> =
            table.columns.iter().map(|column| column.name.as_str()).chain([column.name.as_str()]).collect();
        let new = NewColumn::of(column, position, self.language(table), &names)?;
        let mut form = self.form(table)?;
        let oid = self.entry(table)?;
        let (record, needs_new_table) = (new.record.clone(), new.needs_new_table());
        form.add_column(new);
        let sequence = if record.sequence {
            let names = (table.name.as_str(), table.physical.name.as_str());
            let whole = self.sequence_of_column(names, column, table.physical.database, &table.namespace)?;
            self.tell_of_sequence("ALTER TABLE", &whole, &table.name, &column.name);
            Some(whole)
        } else {
            column.default.as_ref().and_then(|default| self.next_of(&default.expr))
        };
        if needs_new_table {
            let sources = same_columns(table).into_iter().chain([None]).collect();
            self.rebuild(table, &form, sources, &[])?;
        } else {
            let empty = sequence.is_none() && column.default.is_none() && column.generated.is_none();
            // Behind the change nobody would look any more: a column that is NOT NULL holds no NULL.
            if column.not_null && empty && !column.ty.is_domain() && self.store.has_rows(table)? {
                return Err(holds_nulls(table, &column.name).into());
            }
            self.edit(table, &form)?;
            // Numbers are given once the column is known to have them.
            if sequence.is_none()
                && let Some(default) = &column.default
            {
                self.store.fill(table, &column.name, &default.expr)?;
            }
            if sequence.is_none() && column.default.is_none() && column.generated.is_none() {
                self.fill_from_domain(table, column)?;
            }
            if let Some(generated) = &column.generated {
                self.store.compute(table, &column.name, generated, &names)?;
                if column.not_null {
                    self.check_not_null(table, &column.name)?;
                }
            }
        }
        self.record_column(table.physical.database, oid, &record, sequence.as_deref())?;
        if let Some(name) = &sequence {
            self.number_rows(table, &column.name, name)?;
        }
        if constraints.is_empty() {
            return Ok(());
        }
        constraints.iter().try_for_each(|constraint| {
            self.touch(table.physical.database, oid);
            self.settle()?;
            let current = self.current(oid)?;
            self.add_constraint(&current, constraint)
        })
    }

    /// Puts a column before another, which writes the table anew.
    fn move_column(&self, table: &Relation, column: usize, before: usize) -> Done {
        if !self.schema().heirs(table.oid).is_empty() || table.heritage.is_some() || table.partitioning.is_some() {
            return Err(
                Error::unsupported("ADD … BEFORE in a table that others inherit from, or that inherits,").into()
            );
        }
        let mut form = self.form(table)?;
        form.move_column(&table.columns[column].name, &table.columns[before].name);
        let mut sources = same_columns(table);
        let moved = sources.remove(column);
        sources.insert(if column < before { before - 1 } else { before }, moved);
        self.rebuild(table, &form, sources, &[])
    }

    /// Gives a new column's rows what its domain has for them, or asks it whether that may be NULL.
    fn fill_from_domain(&self, table: &Relation, column: &ColumnDefinition) -> Done {
        if let Some(value) = self.session.bind_domain_default(&column.ty, &self.schema())? {
            self.store.fill(table, &column.name, &value)?;
        }
        if column.not_null && column.ty.is_domain() {
            self.check_not_null(table, &column.name)?;
        }
        Ok(())
    }

    /// Gives a new column's rows their numbers.
    fn number_rows(&self, table: &Relation, column: &str, sequence: &str) -> Done {
        self.touch(table.physical.database, table.oid);
        self.settle()?;
        let schema = self.schema();
        let name = sequence.split_once('.').map(|(namespace, name)| QualifiedName::new(namespace, name));
        let details = name.and_then(|name| schema.sequence_details(&name));
        let details = details.ok_or_else(|| Error::internal("the sequence of a new column has vanished"))?;
        // Functions see the schema that the session shows them.
        let before = std::mem::replace(&mut *self.session.state.schema.write(), schema.clone());
        let done = self.store.number(table, column, details.sequence.oid);
        *self.session.state.schema.write() = before;
        done
    }

    pub(super) fn check_not_null(&self, table: &Relation, column: &str) -> Done {
        if self.store.holds_null(table, column)? {
            return Err(holds_nulls(table, column).into());
        }
        Ok(())
    }

    /// Whether an expression over a table's columns, kept as text, names one of them. What cannot be understood any more
    /// counts as naming it where the word stands.
    pub(super) fn names_column(&self, table: &Relation, text: &str, column: usize) -> bool {
        let Ok(expr) = self.session.bind_expression(text, table, &self.schema()) else {
            return mentions(text, &table.columns[column].name);
        };
        let mut found = false;
        walk::expr(&expr, &mut |part| {
            if let ExprKind::Column(reference) = &part.kind {
                found |= reference.column == ColumnIndex::At(column);
            }
            !found
        });
        found
    }

    /// The columns that are computed from one.
    fn computed_from<'t>(&self, table: &'t Relation, column: usize) -> Vec<&'t Column> {
        let uses = |other: &&Column| {
            let text = other.generated.as_ref().map(|generated| generated.text.as_str());
            text.is_some_and(|text| self.names_column(table, text, column))
        };
        table.columns.iter().filter(uses).collect()
    }

    /// Drops the columns that are computed from one that is to go, or refuses; true when there were some.
    fn drop_generated(&self, table: &Relation, column: usize, cascade: bool) -> Done<bool> {
        let name = &table.columns[column].name;
        let computed = self.computed_from(table, column);
        if computed.is_empty() {
            return Ok(false);
        }
        let of = described(&self.schema(), table);
        let shown = |name: &str| format!("column {name} of {of}");
        if !cascade {
            let needs: Vec<_> = computed.iter().map(|other| (shown(&other.name), shown(name))).collect();
            return Err(cannot_drop(&shown(name), &needs));
        }
        self.tell_cascade(&computed.iter().map(|other| shown(&other.name)).collect::<Vec<_>>());
        for other in computed {
            self.settle()?;
            let current = self.current(table.oid)?;
            let at = current.column(&other.name);
            let at = at.ok_or_else(|| Error::internal("the dropped column has vanished"))?;
            self.drop_column(&current, at, true)?;
            self.touch(table.physical.database, table.oid);
        }
        Ok(true)
    }

    /// Strikes the checks that the engine enforces and that name a column: nothing of them is in the table's form.
    fn drop_engine_checks(&self, table: &Relation, column: usize) -> Done {
        let schema = self.schema();
        let Some(details) = schema.details(table.oid) else { return Ok(()) };
        for check in &table.checks {
            let ours = details.engine_checks.iter().any(|(name, _)| *name == check.name);
            if ours && self.names_column(table, &check.text, column) {
                self.store.forget_constraint(table, &check.name)?;
                self.move_properties(table, PartKind::Constraint, &check.name, None)?;
            }
        }
        Ok(())
    }

    pub(super) fn drop_column(&self, table: &Relation, column: usize, cascade: bool) -> Done {
        let name = table.columns[column].name.clone();
        let schema = self.schema();
        let shown = format!("column {name} of {}", described(&schema, table));
        self.drop_dependents(&shown, vec![Needed::column(&schema, table, &name)], cascade)?;
        if self.drop_generated(table, column, cascade)? {
            self.settle()?;
            let current = self.current(table.oid)?;
            let column = current.column(&name).ok_or_else(|| Error::internal("the dropped column has vanished"))?;
            return self.drop_column(&current, column, cascade);
        }
        self.check_excluded_column(table, column, cascade)?;
        self.drop_keys_to_column(table, column, cascade)?;
        self.drop_triggers_of_column(table, column, cascade)?;
        self.drop_statistics_of_column(table, column)?;
        if self.session.language() == Language::Mysql {
            self.shorten_keys(&Arc::new(table.clone()), column)?;
            self.settle()?;
            return self.drop_shortened_column(&*self.current(table.oid)?, &name);
        }
        self.drop_column_with_its_keys(table, column)
    }

    /// The column goes, out of whose keys it has been taken.
    fn drop_shortened_column(&self, table: &Relation, name: &str) -> Done {
        let column = table.column(name).ok_or_else(|| Error::internal("the dropped column has vanished"))?;
        self.drop_column_with_its_keys(table, column)
    }

    /// The column goes with the keys and checks that name it.
    fn drop_column_with_its_keys(&self, table: &Relation, column: usize) -> Done {
        let name = table.columns[column].name.clone();
        self.drop_keys_of_column(table, column)?;
        self.drop_engine_checks(table, column)?;
        let properties = self.schema().details(table.oid).map(|details| details.properties.clone()).unwrap_or_default();
        let included = |index: &str| crate::catalog::describe::included(&properties, index);
        let mut dropped_indexes = Vec::new();
        for (at, index) in table.indexes.iter().enumerate() {
            let mentions = included(&index.name).contains(&name)
                || index.columns.contains(&Some(column))
                || index
                    .columns
                    .iter()
                    .zip(&index.keys)
                    .any(|(at, key)| at.is_none() && self.names_column(table, &key.text, column))
                || index.predicate.as_ref().is_some_and(|predicate| self.names_column(table, predicate, column));
            if mentions && stands_alone(index) {
                self.remove_index(table, at)?;
                dropped_indexes.push(index.name.clone());
            }
        }
        let mut form = self.form(table)?;
        if table.columns.len() == 1 {
            form.add_no_column();
            self.edit(table, &form)?;
        }
        if form.ties(&name) {
            form.remove_column(&name);
            let sources = form.same();
            self.rebuild(table, &form, sources, &dropped_indexes)?;
        } else {
            self.store.drop_column(table, &name)?;
        }
        if self.schema().details(table.oid).is_some_and(|details| details.recorded) {
            self.store.forget_column(table, &name)?;
            self.note_dropped(table, column)?;
            self.move_properties(table, PartKind::Column, &name, None)?;
            self.move_column_privileges(table, &name, None)?;
            let owned = self.store.sequences_owned_by(table, &name)?;
            owned.into_iter().try_for_each(|oid| self.forget(table.physical.database, oid))?;
        }
        if self.schema().users(table.oid).next().is_some() {
            // Those that went with the column are no longer among them.
            self.touch(table.physical.database, table.oid);
            self.settle()?;
            self.repin_column(table, &name, None)?;
        }
        Ok(())
    }

    /// The catalogs go on counting a column that is dropped.
    fn note_dropped(&self, table: &Relation, column: usize) -> Done {
        let ty = types::import(&table.columns[column].ty);
        let (number, modifier) = (table.number_of(column), types::typmod(&ty));
        let mut dropped = table.dropped.clone();
        dropped.push(DroppedColumn { number, ty: types::oid(&ty), modifier });
        let text = DroppedColumn::to_property(&dropped);
        self.set_property(table.physical.database, table.oid, "", DroppedColumn::PROPERTY, Some(&text))
    }

    fn set_type(
        &self,
        table: &Relation,
        column: usize,
        (ty, collation): (&Type, Option<&Collation>),
        using: &Expr,
    ) -> Done {
        let old = &table.columns[column];
        if let Some(computed) = self.computed_from(table, column).first() {
            let message = "cannot alter type of a column used by a generated column";
            let detail = format!("Column \"{}\" is used by generated column \"{}\".", old.name, computed.name);
            return Err(Error::new(Condition::FeatureNotSupported, message).detail(detail).into());
        }
        self.refuse_in_policies(table, &old.name)?;
        self.refuse_in_views(table, &old.name)?;
        self.lift_checks(table, column)?;
        self.lift_indexes(table, column)?;
        if old.identity.is_some() {
            self.retype_sequence(old, ty)?;
        }
        let language = self.language(table);
        let entry = self.entry(table)?;
        if old.collation.as_deref() != collation {
            let property = collation.map(Collation::property);
            self.set_property(table.physical.database, entry, &old.name, PROPERTY, property.as_deref())?;
        }
        let mut form = self.form(table)?;
        if old.row_identity && ty.is_integer() {
            self.store.record_type(table, column, ty, language)?;
            if widens(using, column, &old.ty, ty) {
                return Ok(());
            }
        } else {
            if !form.set_type(&old.name, ty, collation, language) {
                return Err(Error::internal("a column that its table's form does not have").into());
            }
            if old.row_identity {
                form.refuse_nulls(&old.name);
                self.store.forget_type(table, column)?;
            }
        }
        let mut sources = same_columns(table);
        if sources[column].is_some() {
            sources[column] = Some(self.store.source(table, using)?);
        }
        self.rebuild(table, &form, sources, &[])
    }

    fn set_not_null(&self, table: &Relation, column: usize, not_null: bool) -> Done {
        let name = &table.columns[column].name;
        if not_null {
            self.check_not_null(table, name)?;
        } else if table.primary_key().is_some_and(|key| key.columns.contains(&Some(column))) {
            return Err(Error::new(
                Condition::InvalidTableDefinition,
                format!("column \"{name}\" is in a primary key"),
            )
            .into());
        }
        let mut form = self.form(table)?;
        form.set_not_null(name, not_null);
        self.edit(table, &form)
    }

    pub(super) fn set_default(&self, table: &Relation, column: usize, default: Option<&Text>) -> Done {
        let name = &table.columns[column].name;
        self.entry(table)?;
        let mut form = self.form(table)?;
        form.set_default(name, default)?;
        self.edit(table, &form)?;
        let sequence = default.and_then(|default| self.next_of(&default.expr));
        let text = default.map(|default| default.text.as_str());
        self.store.record_default(table, column, text, sequence.as_deref())
    }

    fn drop_expression(&self, table: &Relation, column: usize) -> Done {
        let entry = self.entry(table)?;
        let old = &table.columns[column];
        let mut form = self.form(table)?;
        form.drop_expression(&old.name);
        // What the back end computes is written down once and for all.
        let sources = old.generated.as_ref().is_some_and(|generated| generated.native).then(|| {
            let mut sources = same_columns(table);
            sources[column] = Some(Source::same(&old.name));
            sources
        });
        if let Some(sources) = sources {
            self.rebuild(table, &form, sources, &[])?;
        }
        self.store.forget_generated(table.physical.database, entry, &old.name)
    }

    /// Makes the table anew in another form, with the rows that `sources` compute (`None`: not copied).
    pub(super) fn rebuild(
        &self,
        table: &Relation,
        form: &Form,
        sources: Vec<Option<Source>>,
        gone_indexes: &[String],
    ) -> Done {
        if let Some(deferred) = self.deferred.borrow_mut().as_mut() {
            let computed = form.with_sources(&sources).filter_map(|(column, source)| {
                Some((column.to_owned(), source.filter(|source| source.is_computed(column))?.clone()))
            });
            deferred.values.extend(computed);
            deferred.form = Some(form.clone());
            deferred.rebuild = true;
            return Ok(());
        }
        let rewritten = self.store.rewrite(table, form, &sources, gone_indexes);
        rewritten.map_err(|failed: Failed| self.refused_rows(failed, table, form))
    }
}

/// True where each number of the old type is the same one of the new.
fn widens(using: &Expr, column: usize, old: &Type, new: &Type) -> bool {
    let mut value = using;
    while let ExprKind::Cast { arg, .. } | ExprKind::Checked { arg, .. } = &value.kind {
        value = arg;
    }
    let itself = matches!(&value.kind, ExprKind::Column(read) if read.column == ColumnIndex::At(column));
    let ((least, most), (lower, upper)) = (crate::schema::integer_range(old), crate::schema::integer_range(new));
    itself && lower <= least && most <= upper
}

fn holds_nulls(table: &Relation, column: &str) -> Error {
    let message = format!("column \"{column}\" of relation \"{}\" contains null values", table.name);
    Error::new(Condition::NotNullViolation, message).table(table.namespace.clone(), table.name.clone()).column(column)
}
