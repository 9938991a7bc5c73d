//! Constraints of a table: ADD, DROP, VALIDATE and ALTER CONSTRAINT, and the rows that stand in their way.

use rowferry_dialect::ir::{ColumnIndex, Constraint, ConstraintKind, Expr, Value};
use rowferry_dialect::lower::sqlite::create_table::{EditableConstraint, EditableTable, Kind, quote};
use rowferry_dialect::lower::sqlite::{self, ddl as lowered};
use rowferry_dialect::schema::{ForeignKey, Relation};
use rowferry_dialect::{Condition, Error, values};
use rusqlite::params;

use super::alter::same_columns;
use super::{Changer, Done, Failed, PartKind};
use crate::schema::{NO_INHERIT, NOT_VALID};

impl Changer<'_> {
    pub(super) fn add_constraint(&self, table: &Relation, constraint: &Constraint) -> Done {
        self.check_constraint_name(table, constraint)?;
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let (sql, check) = lowered::constraint(constraint, &names, &|name| self.target_name(name))?;
        let mut text = self.text(table)?;
        if let Some(sql) = sql {
            let kind = kind_of(&constraint.kind);
            let columns = match &constraint.kind {
                ConstraintKind::PrimaryKey(columns) | ConstraintKind::Unique(columns) => {
                    columns.iter().map(|&at| names[at].to_lowercase()).collect()
                }
                _ => Vec::new(),
            };
            let new = EditableConstraint { name: Some(constraint.name.clone()), kind, text: sql, columns };
            text.constraints.push(new);
        }
        let valid = !constraint.options.not_valid;
        match &constraint.kind {
            ConstraintKind::PrimaryKey(columns) => {
                if table.primary_key().is_some() {
                    let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
                    return Err(Error::new(Condition::InvalidTableDefinition, message).into());
                }
                for &column in columns {
                    self.check_not_null(table, names[column])?;
                    refuse_nulls(&mut text, names[column]);
                }
                self.rebuild(table, &text, same_columns(table), &[])
            }
            ConstraintKind::Unique(_) => self.rebuild(table, &text, same_columns(table), &[]),
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
                self.edit(table, &text)
            }
            ConstraintKind::ForeignKey { .. } => {
                self.entry(table)?;
                self.note_options(table, constraint)?;
                self.edit(table, &text)?;
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
        let taken = table.checks.iter().any(|check| check.name == *name)
            || table.foreign_keys.iter().any(|key| key.name == *name)
            || table.indexes.iter().any(|index| index.constraint && index.name == *name);
        if taken {
            let message = format!("constraint \"{name}\" for relation \"{}\" already exists", table.name);
            return Err(Error::new(Condition::DuplicateObject, message).into());
        }
        // A key's index is a relation among the others.
        if matches!(constraint.kind, ConstraintKind::PrimaryKey(_) | ConstraintKind::Unique(_)) {
            self.is_free(&table.namespace, name, false)?;
        }
        Ok(())
    }

    /// Notes what SQLite's words for a constraint do not say.
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
        let changed = Constraint {
            name: name.to_owned(),
            named: true,
            kind: ConstraintKind::ForeignKey {
                columns: key.columns.clone(),
                target: key.target.clone(),
                target_columns: key.target_columns.clone(),
                on_delete: key.on_delete,
                on_update: key.on_update,
                full: key.full,
                deferrable: deferrable || deferred,
                deferred,
            },
            options: Default::default(),
        };
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let (sql, _) = lowered::constraint(&changed, &names, &|name| self.target_name(name))?;
        let mut text = self.text(table)?;
        let columns: Vec<String> = key.columns.iter().map(|&at| table.columns[at].name.to_lowercase()).collect();
        let is_it = |constraint: &EditableConstraint| {
            constraint.name.as_deref() == Some(name)
                || (constraint.name.is_none() && constraint.kind == Kind::ForeignKey && constraint.columns == columns)
        };
        text.columns.iter_mut().for_each(|column| column.constraints.retain(|constraint| !is_it(constraint)));
        text.constraints.retain(|constraint| !is_it(constraint));
        text.constraints.push(EditableConstraint {
            name: Some(name.to_owned()),
            kind: Kind::ForeignKey,
            text: sql.unwrap_or_default(),
            columns,
        });
        self.edit(table, &text)
    }

    /// Refuses rows that a check refuses.
    pub(super) fn validate_check(&self, table: &Relation, name: &str, condition: &Expr) -> Done {
        let test = sqlite::expression(condition, &|reference| match reference.column {
            ColumnIndex::At(position) => quote(&table.columns[position].name),
            ColumnIndex::RowIdentity => "rowid".to_owned(),
        })?;
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {} WHERE NOT ({}))", self.table_sql(table), test.sql);
        if self.connection.query_row(&sql, [], |row| row.get(0))? {
            return Err(violated_by_some_row(table, name).into());
        }
        Ok(())
    }

    /// Refuses rows whose key is not in the table that a foreign key leads to.
    fn validate_key(&self, table: &Relation, at: usize) -> Done {
        let key = &table.foreign_keys[at];
        let schema = self.schema();
        let id = schema.details(table.oid).and_then(|details| details.foreign_key_ids.get(at).copied());
        let sql = format!(
            "SELECT rowid FROM {0}.pragma_foreign_key_check(?1, '{0}') WHERE fkid = ?2 LIMIT 1",
            table.physical.database
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query(params![table.physical.name, id])?;
        if let Some(row) = rows.next()? {
            let rowid: Option<i64> = row.get(0)?;
            let values = rowid.and_then(|rowid| self.values_of(table, &key.columns, &format!("rowid = {rowid}")));
            return Err(not_present(table, key, values.as_deref()).into());
        }
        if key.full && key.columns.len() > 1 {
            let nulls: Vec<String> =
                key.columns.iter().map(|&at| format!("({} IS NULL)", quote(&table.columns[at].name))).collect();
            let sum = nulls.join(" + ");
            let sql = format!(
                "SELECT EXISTS (SELECT 1 FROM {} WHERE {sum} NOT IN (0, {}))",
                self.table_sql(table),
                nulls.len()
            );
            if self.connection.query_row(&sql, [], |row| row.get(0))? {
                return Err(mixed_nulls(table, key).into());
            }
        }
        Ok(())
    }

    /// Columns of the first row of a table that a condition finds, as PostgreSQL shows them; `None` where it cannot.
    fn values_of(&self, table: &Relation, columns: &[usize], condition: &str) -> Option<String> {
        values_of(self.connection, &self.session.settings(), table, columns, condition)
    }

    /// SQLite's refusal to copy rows into a table of this statement, in PostgreSQL's words where a key is the reason.
    pub(super) fn refused_rows(&self, failed: Failed, table: &Relation, text: &EditableTable) -> Failed {
        let Failed::Storage(failure) = &failed else { return failed };
        let Some(listed) = failure.message.strip_prefix("UNIQUE constraint failed: ") else { return failed };
        let names: Vec<String> =
            listed.split(", ").filter_map(|part| part.rsplit_once('.')).map(|(_, name)| name.to_lowercase()).collect();
        let at_columns = text.columns.iter().flat_map(|column| &column.constraints);
        let key = at_columns.chain(&text.constraints).find(|constraint| {
            matches!(constraint.kind, Kind::PrimaryKey | Kind::Unique) && constraint.columns == names
        });
        let columns: Option<Vec<usize>> = names.iter().map(|name| table.column(name)).collect();
        match (key.and_then(|key| key.name.clone()), columns) {
            (Some(name), Some(columns)) => self.duplicates(failed, table, &name, &columns),
            _ => failed,
        }
    }

    /// SQLite's refusal of a unique key that rows already violate, in PostgreSQL's words; other failures as they are.
    pub(super) fn duplicates(&self, failed: Failed, table: &Relation, name: &str, columns: &[usize]) -> Failed {
        use libsqlite3_sys as ffi;
        let unique = matches!(&failed, Failed::Storage(failure) if matches!(
            failure.code,
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID
        ));
        if !unique {
            return failed;
        }
        let names: Vec<String> = columns.iter().map(|&at| quote(&table.columns[at].name)).collect();
        let given: Vec<String> = names.iter().map(|name| format!("{name} IS NOT NULL")).collect();
        let condition = format!("{} GROUP BY {} HAVING count(*) > 1 LIMIT 1", given.join(" AND "), names.join(", "));
        let values = self.values_of(table, columns, &condition);
        let shown: Vec<&str> = columns.iter().map(|&at| table.columns[at].name.as_str()).collect();
        let error = Error::new(Condition::UniqueViolation, format!("could not create unique index \"{name}\""))
            .table(table.namespace.clone(), table.name.clone())
            .constraint(name);
        let error = match values {
            Some(values) => error.detail(format!("Key ({})=({values}) is duplicated.", shown.join(", "))),
            None => error,
        };
        error.into()
    }

    /// Drops a constraint that is there.
    pub(super) fn drop_constraint(&self, table: &Relation, name: &str) -> Done {
        self.touch(table.physical.database, table.oid);
        if let Some(at) = table.indexes.iter().position(|index| index.name == name && !index.constraint) {
            return self.drop_index(table, at);
        }
        let recorded = self.schema().details(table.oid).is_some_and(|details| details.recorded);
        if recorded {
            let sql =
                format!("DELETE FROM {}.rowferry_constraints WHERE oid = ?1 AND name = ?2", table.physical.database);
            self.connection.execute(&sql, params![table.oid, name])?;
            self.move_properties(table, PartKind::Constraint, name, None)?;
            self.move_properties(table, PartKind::Index, name, None)?;
        }
        let mut text = self.text(table)?;
        let index = table.indexes.iter().find(|index| index.name == name);
        let columns: Option<Vec<String>> =
            index.map(|index| index.keys.iter().map(|key| key.text.to_lowercase()).collect());
        let foreign = table.foreign_keys.iter().find(|key| key.name == name);
        let foreign: Option<Vec<String>> =
            foreign.map(|key| key.columns.iter().map(|&column| table.columns[column].name.to_lowercase()).collect());
        // A name of ours may stand for a constraint without one.
        let is_it = |constraint: &EditableConstraint| {
            constraint.name.as_deref() == Some(name)
                || (constraint.name.is_none()
                    && match constraint.kind {
                        Kind::PrimaryKey => index.is_some_and(|index| index.primary),
                        Kind::Unique => {
                            index.is_some_and(|index| !index.primary) && Some(&constraint.columns) == columns.as_ref()
                        }
                        Kind::ForeignKey => Some(&constraint.columns) == foreign.as_ref(),
                        _ => false,
                    })
        };
        let mut keeps_rows = true;
        let mut drop_from = |constraints: &mut Vec<EditableConstraint>| {
            constraints.retain(|constraint| {
                let drop = is_it(constraint);
                keeps_rows &= !(drop && matches!(constraint.kind, Kind::PrimaryKey | Kind::Unique));
                !drop
            });
        };
        text.columns.iter_mut().for_each(|column| drop_from(&mut column.constraints));
        drop_from(&mut text.constraints);
        if keeps_rows { self.edit(table, &text) } else { self.rebuild(table, &text, same_columns(table), &[]) }
    }
}

fn kind_of(kind: &ConstraintKind) -> Kind {
    match kind {
        ConstraintKind::PrimaryKey(_) => Kind::PrimaryKey,
        ConstraintKind::Unique(_) => Kind::Unique,
        ConstraintKind::Check(_) => Kind::Check,
        ConstraintKind::ForeignKey { .. } => Kind::ForeignKey,
    }
}

fn refuse_nulls(text: &mut EditableTable, column: &str) {
    if let Some(edited) = text.column_mut(column)
        && !edited.constraints.iter().any(|constraint| constraint.kind == Kind::NotNull)
    {
        let text = "NOT NULL".into();
        edited.constraints.push(EditableConstraint { name: None, kind: Kind::NotNull, text, columns: Vec::new() });
    }
}

/// Columns of the first row of a table that a condition finds, as PostgreSQL shows them; `None` where it cannot.
pub(in crate::session) fn values_of(
    connection: &rusqlite::Connection,
    settings: &values::Settings,
    table: &Relation,
    columns: &[usize],
    condition: &str,
) -> Option<String> {
    let names: Vec<String> = columns.iter().map(|&at| quote(&table.columns[at].name)).collect();
    let from = format!("{}.{}", table.physical.database, quote(&table.physical.name));
    let sql = format!("SELECT {} FROM {from} WHERE {condition}", names.join(", "));
    let mut statement = connection.prepare(&sql).ok()?;
    let mut rows = statement.query([]).ok()?;
    let row = rows.next().ok()??;
    let mut shown = Vec::with_capacity(columns.len());
    for (place, &at) in columns.iter().enumerate() {
        let value = stored(row.get_ref(place).ok()?);
        shown.push(match value {
            Value::Null => "null".to_owned(),
            value => values::output(&value, &table.columns[at].ty, settings).ok()?,
        });
    }
    Some(shown.join(", "))
}

fn stored(value: rusqlite::types::ValueRef<'_>) -> Value {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
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
