//! Constraints of a table: ADD, DROP, VALIDATE and ALTER CONSTRAINT, and the rows that stand in their way.

use std::sync::Arc;

use rowferry_dialect::ir::{
    Constraint, ConstraintKind, CreateIndex, Expr, ForeignKeyDefinition, IndexKeyDefinition, Text, Value,
};
use rowferry_dialect::schema::{ForeignKey, Index, KeyRules, Relation};
use rowferry_dialect::{Condition, Error, values};

use super::{Changer, Done, Failed, PartKind};
use crate::backend::{Form, same_columns};
use crate::catalog::describe;
use crate::schema::{DEFERRABLE, NO_INHERIT, NOT_VALID, NULLS_ALIKE, PRIMARY, TWIN};

impl Changer<'_> {
    pub(super) fn add_constraint(&self, table: &Relation, constraint: &Constraint) -> Done {
        self.check_constraint_name(table, constraint)?;
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let mut form = self.form(table)?;
        if let ConstraintKind::Unique(columns) = &constraint.kind
            && form.has_key(columns.iter().map(|&at| names[at]))
        {
            return self.add_twin(table, &constraint.name, columns);
        }
        let check = form.add_constraint(constraint, &names, &|name| self.target_name(name))?;
        let valid = !constraint.options.not_valid;
        if constraint.kind.primary_key().is_some() && table.primary_key().is_some() {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
            return Err(Error::new(Condition::InvalidTableDefinition, message).into());
        }
        match &constraint.kind {
            ConstraintKind::PrimaryKey(columns) => {
                for &column in columns {
                    self.check_not_null(table, names[column])?;
                    form.refuse_nulls(names[column]);
                }
                self.rebuild(table, &form, same_columns(table), &[])
            }
            ConstraintKind::Unique(_) => self.rebuild(table, &form, same_columns(table), &[]),
            ConstraintKind::UniqueNullsAlike(columns) => self.add_key_of_nulls(table, &constraint.name, columns),
            ConstraintKind::DeferrableUnique { columns, deferred, primary } => {
                for &column in columns.iter().filter(|_| *primary) {
                    self.check_not_null(table, names[column])?;
                    form.refuse_nulls(names[column]);
                }
                if *primary {
                    self.edit(table, &form)?;
                    self.touch(table.physical.database, table.oid);
                    self.settle()?;
                }
                let current = self.current(table.oid)?;
                self.add_deferrable_key(&current, &constraint.name, columns, *deferred, *primary)
            }
            ConstraintKind::Exclusion(exclusion) => self.add_exclusion(table, &constraint.name, exclusion),
            ConstraintKind::Check(condition) => {
                if valid {
                    self.validate_check(table, &constraint.name, &condition.expr)?;
                }
                let oid = self.entry(table)?;
                self.note_options(table, constraint)?;
                if let Some(check) = &check {
                    self.record_check(table.physical.database, oid, check)?;
                    if check.sql.is_some() {
                        return Ok(());
                    }
                }
                self.edit(table, &form)
            }
            ConstraintKind::ForeignKey(key) => {
                self.entry(table)?;
                self.note_options(table, constraint)?;
                if key.by_engine {
                    self.note_key(table.oid, constraint)?;
                } else {
                    self.edit(table, &form)?;
                }
                if !valid {
                    return Ok(());
                }
                self.touch(table.physical.database, table.oid);
                self.settle()?;
                let current = self.current(table.oid)?;
                match current.foreign_keys.iter().position(|key| key.name == constraint.name) {
                    Some(at) => self.validate_key(&current, at),
                    None => Err(Error::internal("a foreign key that cannot be read back").into()),
                }
            }
        }
    }

    fn check_constraint_name(&self, table: &Relation, constraint: &Constraint) -> Done {
        let name = &constraint.name;
        if matches!(constraint.kind, ConstraintKind::Exclusion(_)) {
            self.is_free(&table.namespace, name, false)?;
        }
        let taken = table.checks.iter().any(|check| check.name == *name)
            || table.foreign_keys.iter().any(|key| key.name == *name)
            || table.indexes.iter().any(|index| index.constraint && index.name == *name);
        if taken {
            let message = format!("constraint \"{name}\" for relation \"{}\" already exists", table.name);
            return Err(Error::new(Condition::DuplicateObject, message).into());
        }
        // A key's index is a relation among the others.
        if matches!(
            constraint.kind,
            ConstraintKind::PrimaryKey(_)
                | ConstraintKind::Unique(_)
                | ConstraintKind::DeferrableUnique { .. }
                | ConstraintKind::UniqueNullsAlike(_)
        ) {
            self.is_free(&table.namespace, name, false)?;
        }
        Ok(())
    }

    /// Notes what a table's form does not say of a constraint.
    pub(super) fn note_options(&self, table: &Relation, constraint: &Constraint) -> Done {
        let options = constraint.options;
        for (property, given) in [(NOT_VALID, options.not_valid), (NO_INHERIT, options.no_inherit)] {
            if given {
                self.set_property(table.physical.database, table.oid, &constraint.name, property, Some("true"))?;
            }
        }
        Ok(())
    }

    /// VALIDATE CONSTRAINT.
    /// A key takes the place of an index, with what is noted about that.
    pub(super) fn add_key_using(&self, table: &Relation, constraint: &Constraint, index: &str) -> Done {
        let at = table.indexes.iter().position(|known| known.name == index && !known.constraint);
        let at = at.ok_or_else(|| Error::internal("the index of a new key has vanished"))?;
        let schema = self.schema();
        let noted = schema.details(table.oid).into_iter().flat_map(|details| details.properties.all());
        let noted: Vec<(String, String)> = noted
            .filter(|(part, name, _)| *part == index && name.starts_with("index_"))
            .map(|(_, name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        self.drop_index(table, at)?;
        self.settle()?;
        let current = self.current(table.oid)?;
        self.add_constraint(&current, constraint)?;
        let oid = self.entry(table)?;
        noted.iter().try_for_each(|(name, value)| {
            self.set_property(table.physical.database, oid, &constraint.name, name, Some(value))
        })
    }

    pub(super) fn validate_constraint(&self, table: &Relation, name: &str) -> Done {
        if let Some(check) = table.checks.iter().find(|check| check.name == *name) {
            if check.valid {
                return Ok(());
            }
            let condition = self.session.bind_expression(&check.text, table, &self.schema())?;
            self.validate_check(table, name, &condition)?;
        } else if let Some(at) = table.foreign_keys.iter().position(|key| key.name == *name) {
            if table.foreign_keys[at].valid {
                return Ok(());
            }
            self.validate_key(table, at)?;
        } else if table.indexes.iter().any(|index| index.constraint && index.name == *name) {
            let message = format!(
                "constraint \"{name}\" of relation \"{}\" is not a foreign key or check constraint",
                table.name
            );
            return Err(Error::new(Condition::WrongObjectType, message).into());
        } else {
            return Err(no_constraint(table, name).into());
        }
        self.set_property(table.physical.database, table.oid, name, NOT_VALID, None)
    }

    /// ALTER CONSTRAINT: a foreign key's words for when it is checked.
    pub(super) fn defer_constraint(&self, table: &Relation, name: &str, deferrable: bool, deferred: bool) -> Done {
        let Some(key) = table.foreign_keys.iter().find(|key| key.name == *name) else {
            let known = table.checks.iter().any(|check| check.name == *name)
                || table.indexes.iter().any(|index| index.constraint && index.name == *name);
            if !known {
                return Err(no_constraint(table, name).into());
            }
            let message =
                format!("constraint \"{name}\" of relation \"{}\" is not a foreign key constraint", table.name);
            return Err(Error::new(Condition::WrongObjectType, message).into());
        };
        if self.schema().is_parents_key(table, key) {
            return Err(self.derived_constraint(table, key).into());
        }
        self.defer_key(table, key, deferrable, deferred)?;
        self.touch(table.physical.database, table.oid);
        for oid in self.schema().adopted_keys(table, key) {
            self.settle()?;
            if let Some((part, key)) = self.schema().foreign_key(oid) {
                self.defer_key(&part, &key, deferrable, deferred)?;
                self.touch(part.physical.database, part.oid);
            }
        }
        Ok(())
    }

    /// A foreign key's words for when it is checked, in its table alone.
    fn defer_key(&self, table: &Relation, key: &ForeignKey, deferrable: bool, deferred: bool) -> Done {
        if key.by_engine {
            return self.defer_key_by_engine(table, key, deferrable, deferred);
        }
        let changed = Constraint {
            name: key.name.clone(),
            named: true,
            kind: ConstraintKind::ForeignKey(Box::new(ForeignKeyDefinition {
                columns: key.columns.clone(),
                target: key.target.clone(),
                target_columns: key.target_columns.clone(),
                rules: KeyRules { deferrable: deferrable || deferred, deferred, ..key.rules },
                by_engine: false,
                set_columns: Vec::new(),
            })),
            options: Default::default(),
        };
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let mut form = self.form(table)?;
        form.replace_key(&changed, &names, &key.columns, &|name| self.target_name(name))?;
        self.edit(table, &form)
    }

    /// Refuses rows that a check refuses.
    pub(super) fn validate_check(&self, table: &Relation, name: &str, condition: &Expr) -> Done {
        if self.store.refuses(table, condition)? {
            return Err(violated_by_some_row(table, name).into());
        }
        Ok(())
    }

    /// Refuses rows whose key is not in the table that a foreign key leads to.
    pub(super) fn validate_key(&self, table: &Relation, at: usize) -> Done {
        let key = &table.foreign_keys[at];
        if key.by_engine {
            return self.validate_key_by_engine(&Arc::new(table.clone()), key);
        }
        let schema = self.schema();
        let id = schema.details(table.oid).and_then(|details| details.foreign_key_ids.get(at).copied());
        if let Some(identity) = self.store.orphan(table, id)? {
            let values = identity.and_then(|identity| self.store.row_of(table, &key.columns, identity));
            let values = values.and_then(|values| shown(&values, table, &key.columns, &self.session.settings()));
            return Err(not_present(table, key, values.as_deref()).into());
        }
        if key.rules.full && key.columns.len() > 1 && self.store.mixes_nulls(table, &key.columns)? {
            return Err(mixed_nulls(table, key).into());
        }
        Ok(())
    }

    /// A refusal to copy rows into a table of this form, in PostgreSQL's words where a key is the reason.
    pub(super) fn refused_rows(&self, failed: Failed, table: &Relation, form: &Form) -> Failed {
        let Failed::Storage(failure) = &failed else { return failed };
        let Some((key, names)) = form.broken_key(failure) else { return failed };
        let columns: Option<Vec<usize>> = names.iter().map(|name| table.column(name)).collect();
        match (key, columns) {
            (Some(name), Some(columns)) => self.duplicates(failed, table, name, &columns),
            _ => failed,
        }
    }

    /// The refusal of a unique index that rows already violate, in PostgreSQL's words; other failures as they are.
    pub(super) fn duplicate_keys(&self, failed: Failed, index: &CreateIndex) -> Failed {
        if !matches!(&failed, Failed::Storage(failure) if failure.breaks_unique_key()) {
            return failed;
        }
        let table = &index.table;
        let error = Error::new(Condition::UniqueViolation, format!("could not create unique index \"{}\"", index.name))
            .table(table.namespace.clone(), table.name.clone())
            .constraint(index.name.as_str());
        let (schema, settings) = (self.schema(), self.session.settings());
        let detail = || {
            let keys = index.keys.iter().map(|key| &key.key.expr);
            let values = self.store.shared_keys(index)?;
            let name =
                |key: &IndexKeyDefinition| describe::key_text(&schema, table, &key.key.expr, &key.key.text, true);
            let names: Vec<String> = index.keys.iter().map(name).collect();
            let show = |(key, value): (&Expr, &Value)| match value {
                Value::Null => Some("null".to_owned()),
                value => values::output(value, &key.ty, &settings).ok(),
            };
            let shown = keys.zip(&values).map(show).collect::<Option<Vec<_>>>()?;
            Some(format!("Key ({})=({}) is duplicated.", names.join(", "), shown.join(", ")))
        };
        match detail() {
            Some(detail) => error.detail(detail).into(),
            None => error.into(),
        }
    }

    /// The refusal of a unique key that rows already violate, in PostgreSQL's words; other failures as they are.
    pub(super) fn duplicates(&self, failed: Failed, table: &Relation, name: &str, columns: &[usize]) -> Failed {
        if !matches!(&failed, Failed::Storage(failure) if failure.breaks_unique_key()) {
            return failed;
        }
        self.duplicated(table, name, columns, &self.store.shared_by_rows(table, columns).unwrap_or_default()).into()
    }

    fn duplicated(&self, table: &Relation, name: &str, columns: &[usize], values: &[Value]) -> Error {
        let known = (!values.is_empty()).then_some(values);
        let values = known.and_then(|values| self::shown(values, table, columns, &self.session.settings()));
        let shown: Vec<&str> = columns.iter().map(|&at| table.columns[at].name.as_str()).collect();
        let error = Error::new(Condition::UniqueViolation, format!("could not create unique index \"{name}\""))
            .table(table.namespace.clone(), table.name.clone())
            .constraint(name);
        match values {
            Some(values) => error.detail(format!("Key ({})=({values}) is duplicated.", shown.join(", "))),
            None => error,
        }
    }

    /// An index that lets rows be alike; [`Session`] looks for such rows when it is time.
    pub(super) fn add_deferrable_key(
        &self,
        table: &Relation,
        name: &str,
        columns: &[usize],
        deferred: bool,
        primary: bool,
    ) -> Done {
        if let Some(values) = self.store.shared_by_rows(table, columns) {
            return Err(self.duplicated(table, name, columns, &values).into());
        }
        let word = if deferred { "deferred" } else { "immediate" };
        let mut index = index_of_key(table, name, columns, (DEFERRABLE, word));
        if primary {
            index.properties.push((PRIMARY.to_owned(), "true".to_owned()));
        }
        self.create_index(&index)
    }

    /// UNIQUE NULLS NOT DISTINCT.
    pub(super) fn add_key_of_nulls(&self, table: &Relation, name: &str, columns: &[usize]) -> Done {
        let index = index_of_key(table, name, columns, (NULLS_ALIKE, "constraint"));
        self.create_index(&CreateIndex { unique: true, nulls_alike: true, ..index })
    }

    /// UNIQUE of the columns of another key.
    pub(super) fn add_twin(&self, table: &Relation, name: &str, columns: &[usize]) -> Done {
        let index = index_of_key(table, name, columns, (TWIN, "true"));
        self.create_index(&CreateIndex { unique: true, ..index })
    }

    /// Drops a constraint that is there.
    pub(super) fn drop_constraint(&self, table: &Relation, name: &str) -> Done {
        self.touch(table.physical.database, table.oid);
        if let Some(at) = table.indexes.iter().position(|index| index.name == name && stands_alone(index)) {
            // Those of partitions go by their own names.
            return self.remove_own_index(table, at);
        }
        if self.drop_key_by_engine(table, name)? {
            return Ok(());
        }
        let recorded = self.schema().details(table.oid).is_some_and(|details| details.recorded);
        if recorded {
            self.store.forget_constraint(table, name)?;
            self.move_properties(table, PartKind::Constraint, name, None)?;
            self.move_properties(table, PartKind::Index, name, None)?;
        }
        let mut form = self.form(table)?;
        let keeps_rows = form.drop_constraint(table, name);
        // What waits for COMMIT goes with the table in which a key was broken.
        let waits = self.handle.has_open_keys() && table.foreign_keys.iter().any(|key| key.name == name);
        if keeps_rows && !waits {
            self.edit(table, &form)
        } else {
            self.rebuild(table, &form, same_columns(table), &[])
        }
    }
}

/// Values of columns as PostgreSQL shows them; `None` where it cannot.
pub(in crate::session) fn shown(
    values: &[Value],
    table: &Relation,
    columns: &[usize],
    settings: &values::Settings,
) -> Option<String> {
    let show = |(value, &at): (&Value, &usize)| match value {
        Value::Null => Some("null".to_owned()),
        value => values::output(value, &table.columns[at].ty, settings).ok(),
    };
    let shown: Option<Vec<String>> = values.iter().zip(columns).map(show).collect();
    Some(shown?.join(", "))
}

fn no_constraint(table: &Relation, name: &str) -> Error {
    let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
    Error::new(Condition::UndefinedObject, message)
}

fn violated_by_some_row(table: &Relation, name: &str) -> Error {
    let message = format!("check constraint \"{name}\" of relation \"{}\" is violated by some row", table.name);
    Error::new(Condition::CheckViolation, message).table(table.namespace.clone(), table.name.clone()).constraint(name)
}

fn key_violated(table: &Relation, key: &ForeignKey) -> Error {
    let message =
        format!("insert or update on table \"{}\" violates foreign key constraint \"{}\"", table.name, key.name);
    Error::new(Condition::ForeignKeyViolation, message)
        .table(table.namespace.clone(), table.name.clone())
        .constraint(key.name.clone())
}

/// A row whose key is not in the table that a foreign key leads to.
pub(in crate::session) fn not_present(table: &Relation, key: &ForeignKey, values: Option<&str>) -> Error {
    let error = key_violated(table, key);
    let Some(values) = values else { return error };
    let names: Vec<&str> = key.columns.iter().map(|&at| table.columns[at].name.as_str()).collect();
    error.detail(format!("Key ({})=({values}) is not present in table \"{}\".", names.join(", "), key.target.name))
}

/// A row of which MATCH FULL wants all columns, or none.
pub(crate) fn mixed_nulls(table: &Relation, key: &ForeignKey) -> Error {
    key_violated(table, key).detail("MATCH FULL does not allow mixing of null and nonnull key values.")
}

/// True for an index that is no part of its table's own form.
pub(super) const fn stands_alone(index: &Index) -> bool {
    index.stands_alone()
}

/// The index that stands for a key of a table where its own form has none.
fn index_of_key(table: &Relation, name: &str, columns: &[usize], (property, value): (&str, &str)) -> CreateIndex {
    let key = |at: &usize| {
        let ty = table.columns[*at].ty.clone();
        let text = Text { text: table.columns[*at].name.clone(), expr: Expr::column(Text::TABLE, *at, ty) };
        IndexKeyDefinition { key: text, descending: false }
    };
    CreateIndex {
        name: name.to_owned(),
        table: Arc::new(table.clone()),
        unique: false,
        nulls_alike: false,
        if_not_exists: false,
        lenient: false,
        keys: columns.iter().map(key).collect(),
        predicate: None,
        concurrently: false,
        // Partitions have keys of their own.
        only: true,
        properties: vec![(property.to_owned(), value.to_owned())],
    }
}
