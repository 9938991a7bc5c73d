//! SQLite's failures in the words of the dialects.

use std::borrow::Cow;

use libsqlite3_sys as ffi;
use rowferry_dialect::functions::Volatility;
use rowferry_dialect::ir::{ColumnIndex, ColumnRef, DmlAction, Expr, ExprKind, InsertSource, Statement, Value, walk};
use rowferry_dialect::plan::{Bound, Context};
use rowferry_dialect::postgres;
use rowferry_dialect::schema::{Column, Index, Relation};
use rowferry_dialect::values::mysql::unsigned::is_wide;
use rowferry_dialect::values::{self, Settings};
use rowferry_dialect::{Condition, Error, Language, Schema as _};

use super::statement::Failure;
use crate::catalog::describe;
use crate::functions;
use crate::interrupt::Interrupter;
use crate::locks::lock_timeout;
use crate::memory;
use crate::schema::SessionSchema;
use crate::session::Prepared;

/// Forgets an error that a function raised earlier and nobody asked for.
pub fn clear() {
    functions::take_error();
    memory::take_refusal();
}

/// A failure of a running statement.
pub fn translate(failure: &Failure, interrupter: &Interrupter, plan: Option<&Prepared>) -> Error {
    let raised = functions::take_error();
    let error = |condition| Error::new(condition, failure.message.clone());
    match failure.primary() {
        ffi::SQLITE_INTERRUPT => interrupter.error(),
        ffi::SQLITE_BUSY if failure.code == ffi::SQLITE_BUSY_SNAPSHOT => serialization_failure(),
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED if interrupter.must_stop() => interrupter.error(),
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => lock_timeout(),
        ffi::SQLITE_READONLY if failure.code == ffi::SQLITE_READONLY_DBMOVED => {
            Error::new(Condition::IoError, "the database file has been deleted, moved or replaced while it is served")
        }
        ffi::SQLITE_READONLY => {
            Error::new(Condition::ReadOnlySqlTransaction, "cannot write: the database is open for reading only")
        }
        ffi::SQLITE_FULL => error(Condition::DiskFull),
        ffi::SQLITE_IOERR => error(Condition::IoError),
        ffi::SQLITE_NOMEM => memory::exhausted(),
        ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB => error(Condition::DataCorrupted),
        ffi::SQLITE_TOOBIG => {
            Error::new(Condition::ProgramLimitExceeded, "value or statement too long").detail(failure.message.clone())
        }
        ffi::SQLITE_CONSTRAINT if failure.code == ffi::SQLITE_CONSTRAINT_TRIGGER => {
            raised.unwrap_or_else(|| error(Condition::RaiseException))
        }
        ffi::SQLITE_CONSTRAINT => error(Condition::IntegrityConstraintViolation),
        // A function that asked SQLite for a value and did not get it.
        ffi::SQLITE_ERROR if raised.is_none() && memory::take_refusal() => memory::exhausted(),
        ffi::SQLITE_ERROR => raised.unwrap_or_else(|| by_message(failure, plan)),
        _ => raised.unwrap_or_else(|| error(Condition::InternalError)),
    }
}

/// SQLite has one code for everything that is wrong with a statement; its words are fixed in its source.
fn by_message(failure: &Failure, plan: Option<&Prepared>) -> Error {
    let message = failure.message.as_str();
    let new = |condition, text: String| Error::new(condition, text);
    if let Some(name) = message.strip_prefix("no such table: ") {
        return new(Condition::UndefinedTable, format!("relation \"{}\" does not exist", plain(name)));
    }
    if let Some(name) = message.strip_prefix("no such column: ") {
        return new(Condition::UndefinedColumn, format!("column {name} does not exist"));
    }
    if let Some(name) = message.strip_prefix("no such function: ") {
        return new(Condition::UndefinedFunction, format!("function {name} does not exist"));
    }
    if message == "integer overflow" {
        return new(Condition::NumericValueOutOfRange, "bigint out of range".into());
    }
    if message.starts_with("too many ") || message.contains("tree is too large") || message == "parser stack overflow" {
        return new(Condition::StatementTooComplex, "statement too complex".into()).detail(message);
    }
    if let Some((condition, text)) = of_windows(message) {
        return new(condition, text.into());
    }
    if message.starts_with("malformed JSON") {
        return new(Condition::InvalidTextRepresentation, "invalid input syntax for type json".into());
    }
    // What remains should not happen: the statement that we made is wrong.
    let error = Error::internal(format!("SQLite: {message}"));
    match plan.and_then(|plan| plan.sql()) {
        Some(sql) => error.detail(sql.to_owned()),
        None => error,
    }
}

/// What is wrong with a number that a window is told, in PostgreSQL's words.
fn of_windows(message: &str) -> Option<(Condition, &'static str)> {
    use Condition::{InvalidArgumentForNthValue, InvalidArgumentForNtile, InvalidPrecedingOrFollowingSize};
    Some(match message {
        "argument of ntile must be a positive integer" => {
            (InvalidArgumentForNtile, "argument of ntile must be greater than zero")
        }
        "second argument to nth_value must be a positive integer" => {
            (InvalidArgumentForNthValue, "argument of nth_value must be greater than zero")
        }
        "frame starting offset must be a non-negative integer" => {
            (InvalidPrecedingOrFollowingSize, "frame starting offset must not be negative")
        }
        "frame ending offset must be a non-negative integer" => {
            (InvalidPrecedingOrFollowingSize, "frame ending offset must not be negative")
        }
        "frame starting offset must be a non-negative number" | "frame ending offset must be a non-negative number" => {
            (InvalidPrecedingOrFollowingSize, "invalid preceding or following size in window function")
        }
        _ => return None,
    })
}

fn plain(name: &str) -> &str {
    name.strip_prefix("main.").or_else(|| name.strip_prefix("temp.")).unwrap_or(name)
}

/// A write on a snapshot that others have overtaken.
pub fn serialization_failure() -> Error {
    Error::new(Condition::SerializationFailure, "could not serialize access due to concurrent update")
        .hint("The transaction might succeed if retried.")
}

/// True for failures that a schema changed by somebody else explains.
pub fn blames_schema(failure: &Failure) -> bool {
    failure.primary() == ffi::SQLITE_SCHEMA
        || (failure.primary() == ffi::SQLITE_ERROR
            && ["no such table", "no such column", "table ", "has no column named"]
                .iter()
                .any(|words| failure.message.contains(words)))
}

/// A statement that violates a constraint: which, and with what.
pub struct Violation<'a> {
    /// SQLite's failure.
    pub failure: &'a Failure,
    /// The schema, to find names.
    pub schema: &'a SessionSchema,
    /// The statement.
    pub bound: &'a Bound,
    /// Its parameters.
    pub params: &'a [Value],
    /// How values are printed.
    pub settings: &'a Settings,
    /// The number that a sequence has last given to the session.
    pub last_number: &'a dyn Fn(u32) -> Option<i64>,
    /// The value of an expression without columns.
    pub evaluate: &'a dyn Fn(&Expr) -> Option<Value>,
}

impl Violation<'_> {
    /// The error, or `None` when the failure is no violation of a constraint.
    pub fn error(&self) -> Option<Error> {
        let message = self.failure.message.as_str();
        match self.failure.code {
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
                Some(self.unique(message.strip_prefix("UNIQUE constraint failed: ").unwrap_or(message)))
            }
            ffi::SQLITE_CONSTRAINT_NOTNULL => {
                let (table, column) = message.strip_prefix("NOT NULL constraint failed: ")?.rsplit_once('.')?;
                let relation = self.relation(table)?;
                Some(self.with_row(not_null_violation(&relation, column), &relation))
            }
            ffi::SQLITE_CONSTRAINT_CHECK => {
                let name = message.strip_prefix("CHECK constraint failed: ").unwrap_or(message);
                let relation = self.target()?;
                if let Some(key) = relation.foreign_keys.iter().find(|key| key.rules.full && key.name == name) {
                    return Some(crate::session::mixed_nulls(&relation, key));
                }
                // An unnamed check is reported by its text.
                let found = relation.checks.iter().find(|check| check.name == name || check.text == name);
                let error = check_violation(&relation, found.map_or(name, |check| check.name.as_str()));
                Some(self.with_row(error, &relation))
            }
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => Some(self.foreign_key()),
            ffi::SQLITE_MISMATCH => {
                // The rowid takes integers and NULL only, and values are of their column's type here.
                let relation = self.target()?;
                let column = relation.columns.iter().find(|column| column.row_identity)?;
                // NULL is given a number there.
                let inserts = matches!(&self.bound.statement, Statement::Dml(dml) if matches!(dml.action, DmlAction::Insert { .. }));
                if inserts && is_wide(&column.ty) {
                    let error = Error::new(Condition::BigintOutOfRange, "bigint out of range");
                    return Some(error.table(&relation.namespace, &relation.name).column(&column.name));
                }
                let column = column.name.clone();
                Some(self.with_row(not_null_violation(&relation, &column), &relation))
            }
            // SQLite says it without its code when the statement has yielded rows before.
            _ if message == "FOREIGN KEY constraint failed" => Some(self.foreign_key()),
            _ => None,
        }
    }

    /// The error with the row that failed, where the statement says all of it.
    fn with_row(&self, error: Error, relation: &Relation) -> Error {
        match self.failing_row(relation) {
            Some(row) => error.failing_row(row),
            None => error,
        }
    }

    /// The same where a function of ours has refused the row.
    pub fn refused(&self, error: Error) -> Error {
        let about_row = matches!(error.condition, Condition::CheckViolation | Condition::NotNullViolation);
        let about_row = about_row && error.detail.is_none();
        match self.target().filter(|target| about_row && error.table.as_deref() == Some(target.name.as_str())) {
            Some(target) => self.with_row(error.table(target.namespace.clone(), target.name.clone()), &target),
            None => error,
        }
    }

    /// The values of the only row of an INSERT, as PostgreSQL shows a failing row; `None` where a value or a default cannot
    /// be told again.
    fn failing_row(&self, relation: &Relation) -> Option<Vec<String>> {
        let Statement::Dml(dml) = &self.bound.statement else { return None };
        let DmlAction::Insert { columns, source: InsertSource::Values(rows), .. } = &dml.action else { return None };
        let [row] = rows.as_slice() else { return None };
        if dml.target.oid != relation.oid {
            return None;
        }
        let mut values = Vec::with_capacity(relation.columns.len());
        for (at, column) in relation.columns.iter().enumerate() {
            let given = columns.iter().position(|target| *target == at).map(|place| row.get(place));
            values.push(match given {
                Some(None) => return None,
                Some(Some(value)) if !matches!(value.kind, ExprKind::Default) => self.told_again(value)?,
                _ => self.default_of(relation, column)?,
            });
        }
        Some(row_text(relation, &values, self.settings))
    }

    /// What a column has that the statement gives nothing.
    fn default_of(&self, relation: &Relation, column: &Column) -> Option<Value> {
        if column.identity.is_some() || column.generated.is_some() {
            return None;
        }
        let Some(default) = &column.default else { return Some(Value::Null) };
        if relation.language == Language::Informix {
            return None;
        }
        let bound = postgres::bind_default(&default.text, &column.ty, self.schema, &Context::default()).ok()?;
        self.told_again(&bound)
    }

    /// The value of an expression without columns: a sequence's number is the last that was given, and what is another at
    /// each call is not asked again.
    fn told_again(&self, expr: &Expr) -> Option<Value> {
        if let ExprKind::Literal(value) = &expr.kind {
            return Some(value.clone());
        }
        let mut expr = expr.clone();
        let mut known = true;
        walk::expr_mut(&mut expr, &mut |part| {
            let value = match &part.kind {
                ExprKind::Param(index) => self.params.get(*index).cloned(),
                ExprKind::Call { function, .. } if function.name == "nextval" => self.value(part).map(Cow::into_owned),
                ExprKind::Call { function, .. } if function.volatility != Volatility::Volatile => return known,
                ExprKind::Call { .. } | ExprKind::Column(_) | ExprKind::Default => None,
                kind if kind.query().is_some() => None,
                _ => return known,
            };
            match value {
                Some(value) => part.kind = ExprKind::Literal(value),
                None => known = false,
            }
            false
        });
        if !known {
            return None;
        }
        (self.evaluate)(&expr)
    }

    fn target(&self) -> Option<std::sync::Arc<Relation>> {
        match &self.bound.statement {
            Statement::Dml(dml) => Some(dml.target.clone()),
            _ => None,
        }
    }

    fn relation(&self, physical_name: &str) -> Option<std::sync::Arc<Relation>> {
        let target = self.target().filter(|relation| relation.physical.name.eq_ignore_ascii_case(physical_name));
        target.or_else(|| {
            let snapshots = [&self.schema.temp, &self.schema.main];
            snapshots.into_iter().find_map(|snapshot| snapshot.relation_by_physical_name(physical_name)).cloned()
        })
    }

    /// `columns` as SQLite lists them: `t.a, t.b`, or `index 'name'`.
    fn unique(&self, columns: &str) -> Error {
        let parts: Vec<(&str, &str)> = columns.split(", ").filter_map(|part| part.rsplit_once('.')).collect();
        let by_index = columns.strip_prefix("index '").map(|name| name.trim_end_matches('\''));
        // A name of an index may have a point, too.
        let relation = match parts.first().filter(|_| by_index.is_none()) {
            Some((table, _)) => self.relation(table),
            None => self.target(),
        };
        let Some(relation) = relation else {
            return Error::new(Condition::UniqueViolation, "duplicate key value violates unique constraint");
        };
        let names: Vec<&str> = parts.iter().map(|(_, column)| *column).collect();
        let index_names = self.schema.details(relation.oid).map(|details| details.index_names.as_slice());
        let index = relation.indexes.iter().enumerate().find(|(at, index)| match by_index {
            Some(name) => index_names.and_then(|names| names.get(*at)).is_some_and(|known| known == name),
            None => {
                index.unique
                    && index.keys.len() == names.len()
                    && index.keys.iter().zip(&names).all(|(key, name)| key.text.eq_ignore_ascii_case(name))
            }
        });
        let Some((_, index)) = index else {
            return Error::new(
                Condition::UniqueViolation,
                format!("duplicate key value in table \"{}\"", relation.name),
            )
            .table(relation.namespace.clone(), relation.name.clone());
        };
        let error = Error::new(
            Condition::UniqueViolation,
            format!("duplicate key value violates unique constraint \"{}\"", index.name),
        )
        .table(relation.namespace.clone(), relation.name.clone())
        .constraint(index.name.clone());
        match self.key(&relation, index) {
            Some((names, values)) => error.detail(format!("Key ({names})=({values}) already exists.")),
            None => error,
        }
    }

    /// An index's keys and their values in the row to be inserted, when there is one row and it says them.
    fn key(&self, relation: &std::sync::Arc<Relation>, index: &Index) -> Option<(String, String)> {
        if let Some(columns) = index.columns.iter().copied().collect::<Option<Vec<usize>>>() {
            let names: Vec<&str> = index.keys.iter().map(|key| key.text.as_str()).collect();
            if index.nulls_alike {
                let shown = columns.iter().map(|at| match self.given(relation, *at)? {
                    Value::Null => Some("null".to_owned()),
                    value => values::output(&value, &relation.columns[*at].ty, self.settings).ok(),
                });
                return Some((names.join(", "), shown.collect::<Option<Vec<_>>>()?.join(", ")));
            }
            return Some((names.join(", "), self.row_values(relation, &columns)?));
        }
        let keys = describe::index_exprs(self.schema, relation, index)?;
        let names = (0..keys.len()).map(|at| describe::index_key(self.schema, relation, index, at, true));
        let names: Vec<String> = names.collect();
        let values = keys.into_iter().map(|key| self.computed(relation, key)).collect::<Option<Vec<_>>>()?;
        Some((names.join(", "), values.join(", ")))
    }

    /// An expression over the columns of the row to be inserted, as it is shown.
    fn computed(&self, relation: &Relation, mut expr: Expr) -> Option<String> {
        let mut known = true;
        walk::expr_mut(&mut expr, &mut |part| {
            if let ExprKind::Column(ColumnRef { column: ColumnIndex::At(at), .. }) = part.kind {
                match self.given(relation, at) {
                    Some(value) => part.kind = ExprKind::Literal(value),
                    None => known = false,
                }
            }
            known
        });
        let value = known.then(|| (self.evaluate)(&expr))??;
        values::output(&value, &expr.ty, self.settings).ok()
    }

    /// What the statement gives a column, if that is one value.
    fn given(&self, relation: &Relation, column: usize) -> Option<Value> {
        let Statement::Dml(dml) = &self.bound.statement else { return None };
        if dml.target.oid != relation.oid {
            return None;
        }
        let value = match &dml.action {
            DmlAction::Insert { columns: targets, source: InsertSource::Values(rows), .. } if rows.len() == 1 => {
                match targets.iter().position(|target| *target == column) {
                    Some(place) => rows[0].get(place)?,
                    None if relation.columns[column].default.is_none() => return Some(Value::Null),
                    None => return None,
                }
            }
            DmlAction::Update { assignments, .. } => {
                assignments.iter().find(|(target, _)| *target == column).map(|(_, value)| value)?
            }
            _ => return None,
        };
        self.value(value).map(Cow::into_owned)
    }

    fn row_values<'r>(&'r self, relation: &Relation, columns: &[usize]) -> Option<String> {
        let Statement::Dml(dml) = &self.bound.statement else { return None };
        if dml.target.oid != relation.oid {
            return None;
        }
        let value_of: Box<dyn Fn(usize) -> Option<&'r Expr> + 'r> = match &dml.action {
            DmlAction::Insert { columns: targets, source: InsertSource::Values(rows), .. } if rows.len() == 1 => {
                Box::new(move |column| rows[0].get(targets.iter().position(|target| *target == column)?))
            }
            DmlAction::Update { assignments, .. } => {
                Box::new(move |column| assignments.iter().find(|(target, _)| *target == column).map(|(_, value)| value))
            }
            _ => return None,
        };
        let mut texts = Vec::with_capacity(columns.len());
        for &column in columns {
            let value = self.value(value_of(column)?)?;
            if *value == Value::Null {
                return None;
            }
            texts.push(values::output(&value, &relation.columns[column].ty, self.settings).ok()?);
        }
        Some(texts.join(", "))
    }

    /// The value of an expression that is a literal, a parameter or a sequence's number, under whatever casts.
    fn value<'v>(&'v self, expr: &'v Expr) -> Option<Cow<'v, Value>> {
        match &expr.kind {
            ExprKind::Literal(value) => Some(Cow::Borrowed(value)),
            ExprKind::Param(index) => self.params.get(*index).map(Cow::Borrowed),
            ExprKind::Cast { arg, .. } | ExprKind::Checked { arg, .. } => self.value(arg),
            ExprKind::Call { function, args } if function.name == "nextval" => match args.first()?.kind {
                ExprKind::Literal(Value::Integer(oid)) => {
                    (self.last_number)(u32::try_from(oid).ok()?).map(|number| Cow::Owned(Value::Integer(number)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// SQLite does not say which foreign key; the statement's table and its direction mostly do.
    fn foreign_key(&self) -> Error {
        let Some(target) = self.target() else {
            return Error::new(Condition::ForeignKeyViolation, "foreign key constraint violated");
        };
        let inserts = matches!(&self.bound.statement, Statement::Dml(dml)
            if matches!(dml.action, DmlAction::Insert { .. }));
        let deletes = matches!(&self.bound.statement, Statement::Dml(dml)
            if matches!(dml.action, DmlAction::Delete { .. }));
        let assigned: Option<Vec<usize>> = match &self.bound.statement {
            Statement::Dml(dml) => match &dml.action {
                DmlAction::Update { assignments, .. } => Some(assignments.iter().map(|(column, _)| *column).collect()),
                _ => None,
            },
            _ => None,
        };
        let touched = |columns: &[usize]| match &assigned {
            Some(assigned) => columns.iter().any(|column| assigned.contains(column)),
            None => true,
        };
        let native = target.foreign_keys.iter().filter(|key| !key.by_engine);
        let outgoing: Vec<_> = if deletes { Vec::new() } else { native.filter(|key| touched(&key.columns)).collect() };
        // A key of which a column is NULL is not violated.
        let given: Vec<_> =
            outgoing.iter().copied().filter(|key| self.row_values(&target, &key.columns).is_some()).collect();
        let outgoing = if given.is_empty() { outgoing } else { given };
        if inserts || !outgoing.is_empty() {
            let error = Error::new(
                Condition::ForeignKeyViolation,
                match outgoing.as_slice() {
                    [key] => format!(
                        "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
                        target.name, key.name
                    ),
                    _ => format!("insert or update on table \"{}\" violates foreign key constraint", target.name),
                },
            )
            .table(target.namespace.clone(), target.name.clone());
            let [key] = outgoing.as_slice() else { return error };
            let error = error.constraint(key.name.clone());
            let names: Vec<&str> = key.columns.iter().map(|&column| target.columns[column].name.as_str()).collect();
            return match self.row_values(&target, &key.columns) {
                Some(values) => error.detail(format!(
                    "Key ({})=({values}) is not present in table \"{}\".",
                    names.join(", "),
                    key.target.name
                )),
                None => error,
            };
        }
        let incoming: Vec<_> = self
            .schema
            .children(&target)
            .flat_map(|relation| relation.foreign_keys.iter().map(move |key| (relation, key)))
            .filter(|(_, key)| {
                !key.by_engine && self.schema.relation(&key.target).is_some_and(|parent| parent.oid == target.oid)
            })
            .collect();
        let error = Error::new(
            Condition::ForeignKeyViolationByParent,
            match incoming.as_slice() {
                [(child, key)] => format!(
                    "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
                    target.name, key.name, child.name
                ),
                _ => format!("update or delete on table \"{}\" violates foreign key constraint", target.name),
            },
        );
        match incoming.as_slice() {
            [(child, key)] => error.table(child.namespace.clone(), child.name.clone()).constraint(key.name.clone()),
            _ => error.table(target.namespace.clone(), target.name.clone()),
        }
    }
}

/// A row as messages about it show it: values in their text form, long ones cut.
pub fn row_text(relation: &Relation, row: &[Value], settings: &values::Settings) -> Vec<String> {
    const LONGEST: usize = 64;
    let mut texts = Vec::with_capacity(row.len());
    for (value, column) in row.iter().zip(&relation.columns) {
        let mut text = match value {
            Value::Null => "null".to_owned(),
            value => values::output(value, &column.ty, settings).map(|text| text.to_string()).unwrap_or_default(),
        };
        if text.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
            text.push_str("...");
        }
        texts.push(text);
    }
    texts
}

/// A NULL where there must be none.
pub fn not_null_violation(relation: &Relation, column: &str) -> Error {
    Error::new(
        Condition::NotNullViolation,
        format!("null value in column \"{column}\" of relation \"{}\" violates not-null constraint", relation.name),
    )
    .table(relation.namespace.clone(), relation.name.clone())
    .column(column)
}

/// A row that a check refuses.
pub fn check_violation(relation: &Relation, constraint: &str) -> Error {
    Error::new(
        Condition::CheckViolation,
        format!("new row for relation \"{}\" violates check constraint \"{constraint}\"", relation.name),
    )
    .table(relation.namespace.clone(), relation.name.clone())
    .constraint(constraint)
}
/// SQLite's failure of a change of the schema, in the user's words.
pub fn of_change(failure: &Failure, interrupter: &Interrupter) -> Error {
    let message = failure.message.as_str();
    let new = Error::new;
    match failure.code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
            return new(Condition::UniqueViolation, "could not create unique index".to_owned()).detail(message);
        }
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            let column = message.rsplit('.').next().unwrap_or_default();
            return new(Condition::NotNullViolation, format!("column \"{column}\" contains null values"))
                .column(column);
        }
        ffi::SQLITE_CONSTRAINT_CHECK => {
            let name = message.rsplit(": ").next().unwrap_or_default();
            return new(Condition::CheckViolation, format!("check constraint \"{name}\" is violated by some row"))
                .constraint(name);
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
            return new(Condition::ForeignKeyViolation, "foreign key constraint is violated by some row".to_owned());
        }
        _ => {}
    }
    if let Some(name) = message.strip_prefix("duplicate column name: ") {
        return new(Condition::DuplicateColumn, format!("column \"{name}\" specified more than once"));
    }
    if message.contains("already exists") || message.contains("already another table or index") {
        return new(Condition::DuplicateTable, message.to_owned());
    }
    translate(failure, interrupter, None)
}
