//! MySQL's rules, where they differ from PostgreSQL's: any value becomes any other, numbers and texts are compared as
//! numbers, a condition is a number that is not zero, functions are MySQL's own.
//!
//! - `classes`: what values are to these rules; `calls`, `arithmetic`, `comparisons`, `conversions`: what is made of them;
//! - `fulltext`: MATCH … AGAINST;
//! - [`numbers`]: digits behind the point, and numbers without a sign; `nulls`: what is never NULL;
//! - [`changes`]: assignments, and which rows count as changed; `read_back`: what may not read the table that is changed;
//! - [`routine`]: routines and triggers in MySQL's language.
//!
//! Source: MySQL 8.0 Reference Manual, 14.3 "Type Conversion in Expression Evaluation", 14.4 "Operators", 13.2.15.

mod arithmetic;
mod calls;
pub(super) mod changes;
mod classes;
mod comparisons;
mod conversions;
mod fulltext;
mod nulls;
pub(super) mod numbers;
mod read_back;
pub(crate) mod routine;

pub(super) use self::classes::{is_fitted, own_words, position_function, sorts_otherwise};
use super::binder::{Binder, Clause, Entry, EntryColumn};
use super::expr::columns::column_of;
use crate::ir::Expr;
use crate::mysql::show::DEFAULT_DATABASE;
use crate::plan::{Listed, ResultColumn};
use crate::schema::RelationKind;
use crate::{Condition, Language};

/// Values that do not fit their columns become the nearest that do, with warnings: without strict modes, and by IGNORE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clips {
    /// NULL becomes the column's implicit value where none may be.
    pub(super) nulls: bool,
    /// The number of the row, from 1.
    pub(super) row: usize,
}

/// Where MySQL's `information_schema` lies.
const INFORMATION_SCHEMA: &str = "mysql_information_schema";

/// An expression with its place.
pub(super) type Placed = (Expr, i32);

impl Binder<'_> {
    /// What is bound follows MySQL's rules.
    pub(super) fn is_mysql(&self) -> bool {
        self.language == Language::Mysql
    }

    /// The member of a FROM list that a column is of.
    fn mysql_entry(&self, column: &EntryColumn) -> Option<&Entry> {
        let of = column_of(&column.expr)?.relation;
        let is_of = |column: &EntryColumn| column_of(&column.expr).is_some_and(|column| column.relation == of);
        let mut entries = self.scopes.iter().rev().flat_map(|scope| &scope.entries);
        entries.find(|entry| entry.qualified && entry.columns.iter().any(is_of))
    }

    /// What a column is in its FROM list, for clients that are told; `None` where the table's own names say it.
    pub(super) fn mysql_listed(&self, column: &EntryColumn) -> Option<Box<Listed>> {
        if !self.is_mysql() {
            return None;
        }
        let entry = self.mysql_entry(column)?;
        let own = entry.relation.as_ref().is_some_and(|(_, relation)| relation.name == entry.name);
        (!own).then(|| Box::new(Listed { table: entry.name.clone(), column: column.name.clone() }))
    }

    /// A column of a view, or of a subquery, is called as it is there, however a query spells it; a table's is called as it
    /// is spelled. What `information_schema` has are views.
    pub(super) fn is_called_by_its_own(&self, column: &EntryColumn) -> bool {
        self.mysql_entry(column).is_some_and(|entry| match &entry.relation {
            Some((_, relation)) if relation.kind == RelationKind::Catalog => relation.namespace == INFORMATION_SCHEMA,
            Some((_, relation)) => relation.kind != RelationKind::Table,
            None => true,
        })
    }

    /// The default database in the names of columns that tell it.
    pub(super) fn name_default_database(&self, columns: &mut [ResultColumn]) {
        for column in columns.iter_mut().filter(|column| column.name.contains(DEFAULT_DATABASE)) {
            let namespace = self.schema.creation_namespace();
            let database = self.database_shown(namespace.as_deref().unwrap_or("public"));
            column.name = column.name.replace(DEFAULT_DATABASE, &database);
        }
    }

    /// MySQL's clients name a database that is not there.
    pub(super) fn is_mysql_unknown(&self, schema: &str) -> bool {
        let is_own = ["mysql", "performance_schema", "sys"].iter().any(|own| schema.eq_ignore_ascii_case(own));
        self.is_mysql() && !is_own && !self.schema.has_namespace(schema)
    }

    /// A name with its database, where one is said.
    pub(super) fn mysql_table_shown(&self, name: &crate::schema::QualifiedName) -> String {
        match name.schema.as_deref() {
            // The file's own is called as the file.
            Some("public") => format!("{}.{}", self.context.database, name.name),
            Some(database) => format!("{database}.{}", name.name),
            None => name.name.clone(),
        }
    }

    /// What `sql_mode` says of the statement.
    pub(super) fn mysql_modes(&self) -> crate::mysql::Modes {
        self.source.map(super::parse::Parsed::modes).unwrap_or_default()
    }

    /// There is no column of this name where an expression looks for it.
    pub(super) fn mysql_unknown_column(&self, name: &str) -> crate::Error {
        let message = format!("Unknown column '{name}' in '{}'", self.mysql_clause());
        crate::Error::new(Condition::UndefinedColumn, message).with_mysql(1054, "42S22")
    }

    /// There are several.
    pub(super) fn mysql_ambiguous_column(&self, name: &str) -> crate::Error {
        let message = format!("Column '{name}' in {} is ambiguous", self.mysql_clause());
        crate::Error::new(Condition::AmbiguousColumn, message).with_mysql(1052, "23000")
    }

    /// What MySQL calls the clause that is being bound.
    fn mysql_clause(&self) -> &'static str {
        match self.scopes.last().map(|scope| scope.clause) {
            Some(Clause::Where) => "where clause",
            Some(Clause::Join) => "on clause",
            Some(Clause::GroupBy) => "group statement",
            Some(Clause::Having) => "having clause",
            Some(Clause::OrderBy) => "order clause",
            Some(Clause::Check) => "check constraint",
            Some(Clause::Generated) => "generated column function",
            _ => "field list",
        }
    }
}
