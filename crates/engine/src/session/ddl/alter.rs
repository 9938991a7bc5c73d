//! ALTER TABLE.
//!
//! Three ways, the cheapest that does it: SQLite's own ALTER TABLE; a changed statement in `sqlite_schema` where rows
//! stay as they lie (a default, a check, a foreign key, the words of a type); a new table with the old one's rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowferry_dialect::ir::{
    AlterTable, ColumnDefinition, ColumnIndex, Constraint, ConstraintKind, Expr, ExprKind, Part, Text, walk,
};
use rowferry_dialect::lower::sqlite::create_table::{
    EditableColumn, EditableConstraint, EditableTable, Kind, TableText, mentions, quote,
};
use rowferry_dialect::lower::sqlite::{self, ddl as lowered, types};
use rowferry_dialect::schema::{Column, QualifiedName, Relation, RelationKind};
use rowferry_dialect::{Condition, Error, Language, Schema as _, Type};
use rusqlite::params;

use super::dependencies::Needed;
use super::positions::Positions;
use super::{Changer, Done, PartKind, cannot_convert, cannot_drop, describe, described};

/// What several actions of one ALTER TABLE leave to be done together.
#[derive(Default)]
pub(super) struct Deferred {
    /// The table's statement as it will be.
    text: Option<EditableTable>,
    /// What columns are computed from that are not copied, by name.
    values: BTreeMap<String, String>,
    /// Rows have to be written anew.
    rebuild: bool,
}

impl Changer<'_> {
    pub(super) fn alter_table(&self, table: &Arc<Relation>, actions: &[AlterTable]) -> Done {
        if !matches!(table.kind, RelationKind::Table) {
            return Err(Error::unsupported(format!("ALTER of {}", describe(table))).into());
        }
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
                let known = |text: &EditableTable| {
                    text.constraints.iter().any(|other| other.name.as_deref() == Some(&*constraint.name))
                };
                matches!(constraint.kind, ConstraintKind::Unique(_))
                    && !deferred.as_ref().and_then(|deferred| deferred.text.as_ref()).is_some_and(known)
            }
            _ => false,
        }
    }

    /// Does what several actions have left to be done together.
    fn write_deferred(&self, oid: u32) -> Done {
        let Some(Deferred { text: Some(text), values, rebuild }) = self.deferred.take() else { return Ok(()) };
        let table = self.current(oid)?;
        if !rebuild {
            return self.edit(&table, &text);
        }
        let sources = table
            .columns
            .iter()
            .zip(same_columns(&table))
            .map(|(column, same)| values.get(&column.name).cloned().or(same));
        self.rebuild(&table, &text, sources.collect(), &[])
    }

    fn alter(&self, table: &Relation, action: &AlterTable) -> Done {
        match action {
            AlterTable::AddColumn { column, constraints, if_not_exists } => {
                self.add_column(table, column, constraints, *if_not_exists)
            }
            AlterTable::DropColumn { column, cascade } => self.drop_column(table, *column, *cascade),
            AlterTable::RenameColumn { column, to } => self.rename_column(table, *column, to),
            AlterTable::RenameTable(to) => self.rename_table(table, to),
            AlterTable::RenameConstraint { from, to } => self.rename_constraint(table, from, to),
            AlterTable::SetType { column, ty, using } => self.set_type(table, *column, ty, using),
            AlterTable::SetNotNull { column, not_null } => self.set_not_null(table, *column, *not_null),
            AlterTable::SetTriggers { triggers, state, all } => self.set_triggers(table, triggers, *state, *all),
            AlterTable::SetDefault { column, default } => self.set_default(table, *column, default.as_ref()),
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
                let _ = cascade;
                self.drop_constraint(table, name)
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
                self.set_property(table.physical.database, oid, part, name, value.as_deref())
            }
            AlterTable::SetSchema(namespace) => self.set_schema(table, namespace),
        }
    }

    /// The table's statement, taken apart.
    pub(super) fn text(&self, table: &Relation) -> Done<EditableTable> {
        if let Some(text) = self.deferred.borrow().as_ref().and_then(|deferred| deferred.text.clone()) {
            return Ok(text);
        }
        let sql: String = self.connection.query_row(
            &format!("SELECT sql FROM {}.sqlite_schema WHERE type = 'table' AND name = ?1", table.physical.database),
            [&table.physical.name],
            |row| row.get(0),
        )?;
        let text = TableText::parse(&sql).ok_or_else(|| {
            Error::unsupported(format!("ALTER TABLE of \"{}\", which is no ordinary table", table.name))
        })?;
        Ok(text.edit())
    }

    /// Puts a changed statement in the place of the table's; its rows must lie as they did.
    pub(super) fn edit(&self, table: &Relation, text: &EditableTable) -> Done {
        if let Some(deferred) = self.deferred.borrow_mut().as_mut() {
            deferred.text = Some(text.clone());
            return Ok(());
        }
        let database = table.physical.database;
        let cookie: i64 =
            self.connection.query_row(&format!("PRAGMA {database}.schema_version"), [], |row| row.get(0))?;
        self.batch("PRAGMA writable_schema = ON")?;
        let changed = self.connection.execute(
            &format!("UPDATE {database}.sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2"),
            params![text.to_sql(&table.physical.name), table.physical.name],
        );
        let bumped = self.connection.execute_batch(&format!("PRAGMA {database}.schema_version = {}", cookie + 1));
        self.batch("PRAGMA writable_schema = RESET")?;
        changed?;
        bumped?;
        Ok(())
    }

    fn language(&self, table: &Relation) -> Language {
        if table.language == Language::Native { self.session.language() } else { table.language }
    }

    pub(super) fn table_sql(&self, table: &Relation) -> String {
        format!("{}.{}", table.physical.database, quote(&table.physical.name))
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
        let statement = lowered::column_definition(column, position, self.language(table), false, None, &names)?;
        let mut text = self.text(table)?;
        let parsed = TableText::parse(&format!("CREATE TABLE t ({})", statement.sql));
        let added = parsed.map(|parsed| parsed.edit()).and_then(|mut parsed| parsed.columns.pop());
        let added = added.ok_or_else(|| Error::internal("a column that cannot be read back"))?;
        // What stands for no column at all makes place for the first.
        text.columns.retain(|column| column.name != lowered::NO_COLUMN);
        let oid = self.entry(table)?;
        let record = statement.record;
        let sequence = if record.sequence {
            let names = (table.name.as_str(), table.physical.name.as_str());
            let whole = self.sequence_of_column(names, column, table.physical.database, &table.namespace)?;
            self.tell_of_sequence("ALTER TABLE", &whole, &table.name, &column.name);
            Some(whole)
        } else {
            column.default.as_ref().and_then(|default| self.next_of(&default.expr))
        };
        if added.constraints.iter().any(|constraint| constraint.kind == Kind::Generated) {
            // SQLite adds no stored column, a new table has one.
            text.columns.push(added);
            let sources = same_columns(table).into_iter().chain([None]).collect();
            self.rebuild(table, &text, sources, &[])?;
        } else {
            // SQLite's own ADD COLUMN would read its whole schema once more and knows fewer constraints.
            let empty = sequence.is_none() && column.default.is_none() && column.generated.is_none();
            if column.not_null && empty && !column.ty.is_domain() {
                // Behind the change SQLite would not even look: a column that is NOT NULL holds no NULL.
                let sql = format!("SELECT EXISTS (SELECT 1 FROM {})", self.table_sql(table));
                if self.connection.query_row(&sql, [], |row| row.get(0))? {
                    return Err(holds_nulls(table, &column.name).into());
                }
            }
            text.columns.push(added);
            self.edit(table, &text)?;
            // Numbers are given once the column is known to have them.
            if sequence.is_none()
                && let Some(default) = &column.default
            {
                let value = sqlite::expression(&default.expr, &|_| String::new())?.sql;
                self.batch(&format!("UPDATE {} SET {} = {value}", self.table_sql(table), quote(&column.name)))?;
            }
            if sequence.is_none() && column.default.is_none() && column.generated.is_none() {
                self.fill_from_domain(table, column)?;
            }
            if let Some(generated) = &column.generated {
                let value = lowered::over_columns(generated, &names, "")?.sql;
                self.batch(&format!("UPDATE {} SET {} = {value}", self.table_sql(table), quote(&column.name)))?;
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

    /// Gives a new column's rows what its domain has for them, or asks it whether that may be NULL.
    fn fill_from_domain(&self, table: &Relation, column: &ColumnDefinition) -> Done {
        if let Some(value) = self.session.bind_domain_default(&column.ty, &self.schema())? {
            let value = sqlite::expression(&value, &|_| String::new())?.sql;
            self.batch(&format!("UPDATE {} SET {} = {value}", self.table_sql(table), quote(&column.name)))?;
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
        let sql =
            format!("UPDATE {} SET {} = rf_nextval({})", self.table_sql(table), quote(column), details.sequence.oid);
        let done = self.batch(&sql);
        *self.session.state.schema.write() = before;
        done
    }

    pub(super) fn check_not_null(&self, table: &Relation, column: &str) -> Done {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {} WHERE {} IS NULL)", self.table_sql(table), quote(column));
        if self.connection.query_row(&sql, [], |row| row.get(0))? {
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

    /// Strikes the checks that need more than SQLite has and name a column: they stand in our tables alone.
    fn drop_engine_checks(&self, table: &Relation, column: usize) -> Done {
        let schema = self.schema();
        let Some(details) = schema.details(table.oid) else { return Ok(()) };
        for check in &table.checks {
            let ours = details.engine_checks.iter().any(|(name, _)| *name == check.name);
            if ours && self.names_column(table, &check.text, column) {
                let sql = format!(
                    "DELETE FROM {}.rowferry_constraints WHERE oid = ?1 AND name = ?2",
                    table.physical.database
                );
                self.connection.execute(&sql, params![table.oid, check.name])?;
                self.move_properties(table, PartKind::Constraint, &check.name, None)?;
            }
        }
        Ok(())
    }

    fn drop_column(&self, table: &Relation, column: usize, cascade: bool) -> Done {
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
        self.drop_triggers_of_column(table, column, cascade)?;
        self.drop_engine_checks(table, column)?;
        let lower = name.to_lowercase();
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
            if mentions && !index.constraint {
                self.drop_index(table, at)?;
                dropped_indexes.push(index.name.clone());
            }
        }
        let mut text = self.text(table)?;
        if table.columns.len() == 1 {
            text.columns.extend(no_column());
            self.edit(table, &text)?;
        }
        let concerned = |constraint: &EditableConstraint| constraint.columns.contains(&lower);
        let tied = text.constraints.iter().any(concerned)
            || text.columns.iter().any(|other| {
                other.constraints.iter().any(|constraint| {
                    let own = other.name.eq_ignore_ascii_case(&name);
                    let ties =
                        matches!(constraint.kind, Kind::PrimaryKey | Kind::Unique | Kind::ForeignKey | Kind::Check);
                    (own && ties) || (!own && constraint.columns.contains(&lower))
                })
            });
        if tied {
            text.columns.retain(|other| !other.name.eq_ignore_ascii_case(&name));
            text.constraints.retain(|constraint| !concerned(constraint));
            let sources = text.columns.iter().map(|column| Some(quote(&column.name))).collect();
            self.rebuild(table, &text, sources, &dropped_indexes)?;
        } else {
            self.batch(&format!("ALTER TABLE {} DROP COLUMN {}", self.table_sql(table), quote(&name)))?;
        }
        if self.schema().details(table.oid).is_some_and(|details| details.recorded) {
            let database = table.physical.database;
            let sql = format!("DELETE FROM {database}.rowferry_columns WHERE oid = ?1 AND name = ?2");
            self.connection.execute(&sql, params![table.oid, name])?;
            self.move_properties(table, PartKind::Column, &name, None)?;
            self.move_column_privileges(table, &name, None)?;
            let sql =
                format!("SELECT oid FROM {database}.rowferry_sequences WHERE owner_table = ?1 AND owner_column = ?2");
            let owned: Vec<u32> = self
                .connection
                .prepare(&sql)?
                .query_map(params![table.physical.name, name], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            owned.into_iter().try_for_each(|oid| self.forget(database, oid))?;
        }
        if self.schema().users(table.oid).next().is_some() {
            // Those that went with the column are no longer among them.
            self.touch(table.physical.database, table.oid);
            self.settle()?;
            self.repin_column(table, &name, None)?;
        }
        Ok(())
    }

    fn set_type(&self, table: &Relation, column: usize, ty: &Type, using: &Expr) -> Done {
        let old = &table.columns[column];
        if let Some(computed) = self.computed_from(table, column).first() {
            let message = "cannot alter type of a column used by a generated column";
            let detail = format!("Column \"{}\" is used by generated column \"{}\".", old.name, computed.name);
            return Err(Error::new(Condition::FeatureNotSupported, message).detail(detail).into());
        }
        self.refuse_in_policies(table, &old.name)?;
        self.lift_checks(table, column)?;
        if old.identity.is_some() {
            self.retype_sequence(old, ty)?;
        }
        let language = self.language(table);
        let words = types::words(ty, language);
        let oid = self.entry(table)?;
        if old.row_identity {
            if !ty.is_integer() {
                return Err(cannot_convert(&old.name, &old.ty, ty).into());
            }
            let record = lowered::ColumnRecord {
                name: old.name.clone(),
                position: column,
                ty: Some(words),
                ..Default::default()
            };
            let database = table.physical.database;
            let sql = format!("SELECT count(*) FROM {database}.rowferry_columns WHERE oid = ?1 AND name = ?2");
            let known: i64 = self.connection.query_row(&sql, params![oid, old.name], |row| row.get(0))?;
            if known == 0 {
                return self.record_column(database, oid, &record, None);
            }
            let sql = format!("UPDATE {database}.rowferry_columns SET type = ?1 WHERE oid = ?2 AND name = ?3");
            self.connection.execute(&sql, params![record.ty, oid, old.name])?;
            return Ok(());
        }
        let mut text = self.text(table)?;
        let Some(edited) = text.column_mut(&old.name) else {
            return Err(Error::internal("a column that its table's statement does not have").into());
        };
        edited.type_words = words;
        edited.constraints.retain(|constraint| constraint.kind != Kind::Collate);
        if let Some(collation) = types::collation(ty) {
            let text = format!("COLLATE {collation}");
            edited
                .constraints
                .insert(0, EditableConstraint { name: None, kind: Kind::Collate, text, columns: Vec::new() });
        }
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let value = sqlite::expression(using, &|reference| match reference.column {
            ColumnIndex::At(position) => quote(names.get(position).copied().unwrap_or_default()),
            ColumnIndex::RowIdentity => "rowid".to_owned(),
        })?;
        let sources = table
            .columns
            .iter()
            .enumerate()
            .map(|(at, other)| {
                if other.generated.is_some() && !other.is_computed() {
                    None
                } else if at == column {
                    Some(value.sql.clone())
                } else {
                    Some(quote(&other.name))
                }
            })
            .collect();
        self.rebuild(table, &text, sources, &[])
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
        let mut text = self.text(table)?;
        if let Some(edited) = text.column_mut(name) {
            edited.constraints.retain(|constraint| constraint.kind != Kind::NotNull);
            if not_null {
                let constraint = EditableConstraint {
                    name: None,
                    kind: Kind::NotNull,
                    text: "NOT NULL".into(),
                    columns: Vec::new(),
                };
                edited.constraints.push(constraint);
            }
        }
        self.edit(table, &text)
    }

    fn set_default(&self, table: &Relation, column: usize, default: Option<&Text>) -> Done {
        let name = &table.columns[column].name;
        let oid = self.entry(table)?;
        let mut text = self.text(table)?;
        let native = default.map(lowered::native_default).transpose()?.flatten();
        if let Some(edited) = text.column_mut(name) {
            edited.constraints.retain(|constraint| constraint.kind != Kind::Default);
            if let Some(value) = native {
                let text = format!("DEFAULT {value}");
                edited.constraints.push(EditableConstraint {
                    name: None,
                    kind: Kind::Default,
                    text,
                    columns: Vec::new(),
                });
            }
        }
        self.edit(table, &text)?;
        let sql = format!(
            "INSERT INTO {}.rowferry_columns (oid, name, position, default_text, sequence) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET default_text = excluded.default_text, sequence = excluded.sequence",
            table.physical.database
        );
        let sequence = default.and_then(|default| self.next_of(&default.expr));
        let text = default.map(|default| &default.text);
        self.connection.execute(&sql, params![oid, name, column as i64, text, sequence])?;
        Ok(())
    }

    /// Makes the table anew from a changed statement, with the rows that `sources` compute (`None`: not copied).
    ///
    /// The new table gets the old one's name by exchanging their names in `sqlite_schema`: dropping the old table under
    /// its own name would act on the foreign keys that lead to it.
    pub(super) fn rebuild(
        &self,
        table: &Relation,
        text: &EditableTable,
        sources: Vec<Option<String>>,
        gone_indexes: &[String],
    ) -> Done {
        if let Some(deferred) = self.deferred.borrow_mut().as_mut() {
            let computed = text.columns.iter().zip(sources).filter_map(|(column, source)| {
                Some((column.name.clone(), source.filter(|source| *source != quote(&column.name))?))
            });
            deferred.values.extend(computed);
            deferred.text = Some(text.clone());
            deferred.rebuild = true;
            return Ok(());
        }
        const NEW: &str = "rowferry_new";
        const OLD: &str = "rowferry_old";
        let database = table.physical.database;
        let name = &table.physical.name;
        let mut kept: Vec<String> = Vec::new();
        {
            let sql = format!(
                "SELECT type, name, sql FROM {database}.sqlite_schema
                 WHERE tbl_name = ?1 AND type IN ('index', 'trigger') AND sql IS NOT NULL"
            );
            let mut statement = self.connection.prepare(&sql)?;
            let mut rows = statement.query([name])?;
            let mut drops = Vec::new();
            while let Some(row) = rows.next()? {
                let (kind, object, sql): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
                drops.push(format!("DROP {kind} {database}.{}", quote(&object)));
                if !gone_indexes.contains(&object) {
                    kept.push(sql);
                }
            }
            drop(rows);
            drop(statement);
            drops.iter().try_for_each(|sql| self.batch(sql))?;
        }
        let create = text.to_sql(NEW).replacen("CREATE TABLE ", &format!("CREATE TABLE {database}."), 1);
        self.batch(&create)?;
        let (targets, values): (Vec<String>, Vec<String>) = text
            .columns
            .iter()
            .zip(&sources)
            .filter_map(|(column, source)| Some((quote(&column.name), source.clone()?)))
            .unzip();
        // The rowid is part of what a table is: Informix programs and cursors remember it.
        let rowid = !table.without_identity && !table.columns.iter().any(|column| column.row_identity);
        let (first_target, first_value) = if rowid { ("rowid, ", "rowid, ") } else { ("", "") };
        let copy = self.batch(&format!(
            "INSERT INTO {database}.{NEW} ({first_target}{}) SELECT {first_value}{} FROM {}",
            targets.join(", "),
            values.join(", "),
            self.table_sql(table)
        ));
        copy.map_err(|failed| self.refused_rows(failed, table, text))?;
        let cookie: i64 =
            self.connection.query_row(&format!("PRAGMA {database}.schema_version"), [], |row| row.get(0))?;
        let old_text = self.text(table)?;
        self.batch("PRAGMA writable_schema = ON")?;
        let exchanged = (|| -> rusqlite::Result<()> {
            let rename = |from: &str, to: &str, sql: &str| -> rusqlite::Result<()> {
                self.connection.execute(
                    &format!(
                        "UPDATE {database}.sqlite_schema SET name = ?2, tbl_name = ?2, sql = ?3
                         WHERE type = 'table' AND name = ?1"
                    ),
                    params![from, to, sql],
                )?;
                self.connection.execute(
                    &format!(
                        "UPDATE {database}.sqlite_schema SET tbl_name = ?2,
                         name = 'sqlite_autoindex_' || ?2 || substr(name, length('sqlite_autoindex_' || ?1) + 1)
                         WHERE type = 'index' AND tbl_name = ?1"
                    ),
                    params![from, to],
                )?;
                Ok(())
            };
            rename(name, OLD, &old_text.to_sql(OLD))?;
            rename(NEW, name, &text.to_sql(name))?;
            self.connection.execute_batch(&format!("PRAGMA {database}.schema_version = {}", cookie + 1))
        })();
        self.batch("PRAGMA writable_schema = RESET")?;
        exchanged?;
        if super::table_exists(self.connection, database, "sqlite_sequence")? {
            self.connection.execute(&format!("DELETE FROM {database}.sqlite_sequence WHERE name = '{NEW}'"), [])?;
        }
        // What the old table counts by would go with it.
        self.batch(&format!("DROP TABLE {database}.{OLD}"))?;
        kept.iter().try_for_each(|sql| {
            let sql = if database == "temp" { with_temp(sql) } else { sql.clone() };
            self.batch(&sql)
        })
    }
}

/// `sqlite_schema` keeps statements without their database.
fn with_temp(sql: &str) -> String {
    for (plain, temporary) in [
        ("CREATE INDEX ", "CREATE INDEX temp."),
        ("CREATE UNIQUE INDEX ", "CREATE UNIQUE INDEX temp."),
        ("CREATE TRIGGER ", "CREATE TEMP TRIGGER "),
    ] {
        if let Some(rest) = sql.strip_prefix(plain) {
            return format!("{temporary}{rest}");
        }
    }
    sql.to_owned()
}

fn holds_nulls(table: &Relation, column: &str) -> Error {
    let message = format!("column \"{column}\" of relation \"{}\" contains null values", table.name);
    Error::new(Condition::NotNullViolation, message).table(table.namespace.clone(), table.name.clone()).column(column)
}

/// What a table has that has no column.
fn no_column() -> Option<EditableColumn> {
    let table = TableText::parse(&format!("CREATE TABLE t ({})", lowered::NO_COLUMN))?;
    table.edit().columns.pop()
}

pub(super) fn same_columns(table: &Relation) -> Vec<Option<String>> {
    let is_stored = |column: &Column| column.generated.is_none() || column.is_computed();
    table.columns.iter().map(|column| is_stored(column).then(|| quote(&column.name))).collect()
}
