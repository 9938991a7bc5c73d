//! A table's statement, taken apart, changed and put together again.

use rowferry_dialect::collation::Collation;
use rowferry_dialect::ir::{ColumnDefinition, Constraint, ConstraintKind, Text};
use rowferry_dialect::lower::sqlite::create_table::{
    EditableColumn, EditableConstraint, EditableTable, Kind, TableText, quote,
};
use rowferry_dialect::lower::sqlite::{ddl, types};
use rowferry_dialect::schema::{Column, QualifiedName, Relation};
use rowferry_dialect::{Error, Language, Result, Type};

use super::super::statement::Failure;
use super::{CheckRecord, ColumnRecord};

/// What a table is to be: columns and constraints, to be changed one by one.
#[derive(Clone, Debug)]
pub struct Form(EditableTable);

/// What a column's rows are made of when its table is written anew.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Source(pub(super) String);

/// A column to be added.
#[derive(Debug)]
pub struct NewColumn {
    column: EditableColumn,
    /// What is to be remembered about it.
    pub record: ColumnRecord,
}

impl Source {
    /// A column as it is.
    pub fn same(name: &str) -> Self {
        Self(quote(name))
    }

    /// True when the column is not copied as it is.
    pub fn is_computed(&self, name: &str) -> bool {
        *self != Self::same(name)
    }
}

impl NewColumn {
    /// A column for a table that then has columns of these names.
    ///
    /// # Errors
    /// What an expression cannot be lowered for.
    pub fn of(column: &ColumnDefinition, position: usize, language: Language, names: &[&str]) -> Result<Self> {
        let statement = ddl::column_definition(column, position, language, false, None, names)?;
        let parsed = TableText::parse(&format!("CREATE TABLE t ({})", statement.sql));
        let column = parsed.map(|parsed| parsed.edit()).and_then(|mut parsed| parsed.columns.pop());
        let column = column.ok_or_else(|| Error::internal("a column that cannot be read back"))?;
        Ok(Self { column, record: statement.record })
    }

    /// True when the table has to be written anew for it: SQLite adds no column that it computes and stores.
    pub fn needs_new_table(&self) -> bool {
        self.column.constraints.iter().any(|constraint| constraint.kind == Kind::Generated)
    }
}

/// Each column's rows as they are; those that are computed are not copied.
pub fn same_columns(table: &Relation) -> Vec<Option<Source>> {
    let is_stored = |column: &Column| column.generated.is_none() || column.is_computed();
    table.columns.iter().map(|column| is_stored(column).then(|| Source::same(&column.name))).collect()
}

impl Form {
    pub(super) fn parse(sql: &str) -> Option<Self> {
        TableText::parse(sql).map(|text| Self(text.edit()))
    }

    pub(super) fn to_sql(&self, name: &str) -> String {
        self.0.to_sql(name)
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.columns.iter().map(|column| column.name.as_str())
    }

    /// The columns, each with what its rows are made of.
    pub fn with_sources<'f>(
        &'f self,
        sources: &'f [Option<Source>],
    ) -> impl Iterator<Item = (&'f str, Option<&'f Source>)> {
        self.columns().zip(sources.iter().map(Option::as_ref))
    }

    /// Every column as it is.
    pub fn same(&self) -> Vec<Option<Source>> {
        self.columns().map(|name| Some(Source::same(name))).collect()
    }

    /// True when a constraint of the table has this name.
    pub fn has_constraint(&self, name: &str) -> bool {
        self.0.constraints.iter().any(|constraint| constraint.name.as_deref() == Some(name))
    }

    /// True when a PRIMARY KEY or UNIQUE of the table is one of these columns, in this order.
    pub fn has_key<'a>(&self, columns: impl Iterator<Item = &'a str>) -> bool {
        let columns: Vec<String> = columns.map(str::to_lowercase).collect();
        let at_columns = self.0.columns.iter().flat_map(|column| &column.constraints);
        at_columns.chain(&self.0.constraints).any(|constraint| {
            matches!(constraint.kind, Kind::PrimaryKey | Kind::Unique) && constraint.columns == columns
        })
    }

    /// Adds a column behind the others.
    pub fn add_column(&mut self, new: NewColumn) {
        // What stands for no column at all makes place for the first.
        self.0.columns.retain(|column| column.name != ddl::NO_COLUMN);
        self.0.columns.push(new.column);
    }

    /// Adds what a table has that has no column.
    pub fn add_no_column(&mut self) {
        let table = TableText::parse(&format!("CREATE TABLE t ({})", ddl::NO_COLUMN));
        self.0.columns.extend(table.and_then(|table| table.edit().columns.pop()));
    }

    /// True when a key or a check names a column, which then cannot go by itself.
    pub fn ties(&self, name: &str) -> bool {
        let lower = name.to_lowercase();
        self.0.constraints.iter().any(|constraint| constraint.columns.contains(&lower))
            || self.0.columns.iter().any(|other| {
                let own = other.name.eq_ignore_ascii_case(name);
                other.constraints.iter().any(|constraint| {
                    let ties =
                        matches!(constraint.kind, Kind::PrimaryKey | Kind::Unique | Kind::ForeignKey | Kind::Check);
                    (own && ties) || (!own && constraint.columns.contains(&lower))
                })
            })
    }

    /// Puts a column before another.
    pub fn move_column(&mut self, name: &str, before: &str) {
        let place = |form: &Self, name: &str| form.columns().position(|other| other.eq_ignore_ascii_case(name));
        if let (Some(from), Some(_)) = (place(self, name), place(self, before)) {
            let column = self.0.columns.remove(from);
            let to = place(self, before).unwrap_or(self.0.columns.len());
            self.0.columns.insert(to, column);
        }
    }

    /// Takes a column out, with the constraints of the table that name it.
    pub fn remove_column(&mut self, name: &str) {
        let lower = name.to_lowercase();
        self.0.columns.retain(|other| !other.name.eq_ignore_ascii_case(name));
        self.0.constraints.retain(|constraint| !constraint.columns.contains(&lower));
    }

    /// Gives a column another type; false where there is no such column.
    pub fn set_type(&mut self, name: &str, ty: &Type, named: Option<&Collation>, language: Language) -> bool {
        let Some(edited) = self.0.column_mut(name) else { return false };
        edited.type_words = types::words(ty, language);
        // Only an integer can be the row's number.
        if !ty.is_integer()
            && let Some(key) = edited.constraints.iter_mut().find(|constraint| constraint.kind == Kind::PrimaryKey)
        {
            key.text = without_counter(&key.text);
        }
        edited.constraints.retain(|constraint| constraint.kind != Kind::Collate);
        if let Some(order) = ddl::column_order(ty, named) {
            edited.constraints.insert(0, plain(Kind::Collate, format!("COLLATE {order}")));
        }
        true
    }

    /// Has a column refuse NULL, or not.
    pub fn set_not_null(&mut self, name: &str, not_null: bool) {
        let Some(edited) = self.0.column_mut(name) else { return };
        edited.constraints.retain(|constraint| constraint.kind != Kind::NotNull);
        if not_null {
            edited.constraints.push(plain(Kind::NotNull, "NOT NULL".to_owned()));
        }
    }

    /// A column is computed no more.
    pub fn drop_expression(&mut self, name: &str) {
        if let Some(edited) = self.0.column_mut(name) {
            edited.constraints.retain(|constraint| constraint.kind != Kind::Generated);
        }
    }

    /// Has a column refuse NULL, if it does not already.
    pub fn refuse_nulls(&mut self, name: &str) {
        if let Some(edited) = self.0.column_mut(name)
            && !edited.constraints.iter().any(|constraint| constraint.kind == Kind::NotNull)
        {
            edited.constraints.push(plain(Kind::NotNull, "NOT NULL".to_owned()));
        }
    }

    /// Gives a column a default, as far as SQLite can give it.
    ///
    /// # Errors
    /// What the expression cannot be lowered for.
    pub fn set_default(&mut self, name: &str, default: Option<&Text>) -> Result<()> {
        let native = default.map(ddl::native_default).transpose()?.flatten();
        if let Some(edited) = self.0.column_mut(name) {
            edited.constraints.retain(|constraint| constraint.kind != Kind::Default);
            if let Some(value) = native {
                edited.constraints.push(plain(Kind::Default, format!("DEFAULT {value}")));
            }
        }
        Ok(())
    }

    /// Adds a constraint, or tells what is to be remembered of one that only the engine can enforce. `target` gives the
    /// stored name of a table.
    ///
    /// # Errors
    /// What an expression cannot be lowered for.
    pub fn add_constraint(
        &mut self,
        constraint: &Constraint,
        names: &[&str],
        target: &dyn Fn(&QualifiedName) -> String,
    ) -> Result<Option<CheckRecord>> {
        let (sql, check) = ddl::constraint(constraint, names, target)?;
        if let Some(text) = sql {
            let columns = match &constraint.kind {
                ConstraintKind::PrimaryKey(columns) | ConstraintKind::Unique(columns) => {
                    columns.iter().map(|&at| names[at].to_lowercase()).collect()
                }
                _ => Vec::new(),
            };
            let (name, kind) = (Some(constraint.name.clone()), kind_of(&constraint.kind));
            self.0.constraints.push(EditableConstraint { name, kind, text, columns });
        }
        Ok(check)
    }

    /// Puts a foreign key in the place of the one of its name or, where that has none, of its columns.
    ///
    /// # Errors
    /// As [`Self::add_constraint`].
    pub fn replace_key(
        &mut self,
        key: &Constraint,
        names: &[&str],
        columns: &[usize],
        target: &dyn Fn(&QualifiedName) -> String,
    ) -> Result<()> {
        let (sql, _) = ddl::constraint(key, names, target)?;
        let columns: Vec<String> = columns.iter().map(|&at| names[at].to_lowercase()).collect();
        let is_it = |constraint: &EditableConstraint| {
            constraint.name.as_ref() == Some(&key.name)
                || (constraint.name.is_none() && constraint.kind == Kind::ForeignKey && constraint.columns == columns)
        };
        self.0.columns.iter_mut().for_each(|column| column.constraints.retain(|constraint| !is_it(constraint)));
        self.0.constraints.retain(|constraint| !is_it(constraint));
        self.0.constraints.push(EditableConstraint {
            name: Some(key.name.clone()),
            kind: Kind::ForeignKey,
            text: sql.unwrap_or_default(),
            columns,
        });
        Ok(())
    }

    /// Takes out the constraint of a name; false when rows lie otherwise without it, so that the table must be written anew.
    pub fn drop_constraint(&mut self, table: &Relation, name: &str) -> bool {
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
        self.0.columns.iter_mut().for_each(|column| drop_from(&mut column.constraints));
        drop_from(&mut self.0.constraints);
        keeps_rows
    }

    /// Gives a constraint another name; false where none has the old one.
    pub fn rename_constraint(&mut self, from: &str, to: &str) -> bool {
        let at_columns = self.0.columns.iter_mut().flat_map(|column| column.constraints.iter_mut());
        let all = at_columns.chain(self.0.constraints.iter_mut());
        let mut found = false;
        for constraint in all.filter(|constraint| constraint.name.as_deref() == Some(from)) {
            // Behind the word CONSTRAINT stands the name, and behind that what it demands.
            let name = quote(from);
            let rest = constraint.text["CONSTRAINT".len()..].trim_start();
            let rest = rest
                .strip_prefix(name.as_str())
                .unwrap_or_else(|| rest.strip_prefix(&format!("\"{}\"", from.replace('"', "\"\""))).unwrap_or(rest));
            constraint.text = format!("CONSTRAINT {} {}", quote(to), rest.trim_start());
            found = true;
        }
        found
    }

    /// The key that a failure is about: its name, where it has one, and the names of its columns in lower case.
    pub fn broken_key(&self, failure: &Failure) -> Option<(Option<&str>, Vec<String>)> {
        let listed = failure.message.strip_prefix("UNIQUE constraint failed: ")?;
        let names: Vec<String> =
            listed.split(", ").filter_map(|part| part.rsplit_once('.')).map(|(_, name)| name.to_lowercase()).collect();
        let at_columns = self.0.columns.iter().flat_map(|column| &column.constraints);
        let key = at_columns.chain(&self.0.constraints).find(|constraint| {
            matches!(constraint.kind, Kind::PrimaryKey | Kind::Unique) && constraint.columns == names
        });
        Some((key.and_then(|key| key.name.as_deref()), names))
    }
}

/// PRIMARY KEY without AUTOINCREMENT.
fn without_counter(key: &str) -> String {
    const COUNTER: &str = "AUTOINCREMENT";
    match key.to_ascii_uppercase().rfind(COUNTER) {
        Some(at) => format!("{}{}", key[..at].trim_end(), &key[at + COUNTER.len()..]),
        None => key.to_owned(),
    }
}

fn plain(kind: Kind, text: String) -> EditableConstraint {
    EditableConstraint { name: None, kind, text, columns: Vec::new() }
}

fn kind_of(kind: &ConstraintKind) -> Kind {
    match kind {
        ConstraintKind::PrimaryKey(_) => Kind::PrimaryKey,
        ConstraintKind::Unique(_)
        | ConstraintKind::DeferrableUnique { .. }
        | ConstraintKind::UniqueNullsAlike(_)
        | ConstraintKind::Exclusion(_) => Kind::Unique,
        ConstraintKind::Check(_) => Kind::Check,
        ConstraintKind::ForeignKey(_) => Kind::ForeignKey,
    }
}
