//! The PostgreSQL back end: IR in, PostgreSQL's SQL out.
//!
//! It is the seam's proof: what a front end has bound must mean the same to a back end that shares nothing with the first.
//! So far tests alone use it, which run every statement on both.
//!
//! - It reads the logical half of the schema alone: names, types, keys; never [`crate::schema::Physical`].
//! - Relations are called `r<id>`, the columns of derived ones `c0`, `c1`, …, so that names neither clash nor are captured.
//! - Every constant and parameter says its type, so that PostgreSQL chooses the operators and functions that were bound.
//! - What PostgreSQL cannot say is `0A000`, with the name of it.

mod ddl;
mod dml;
mod expr;
mod functions;
mod query;

use std::collections::HashMap;

use crate::ir::{ColumnIndex, ColumnRef, Ddl, Expr, Query, RelId, Statement};
use crate::plan::Bound;
use crate::postgres::types::format_type;
use crate::schema::Relation;
use crate::{Error, Result, Type};

/// A statement in PostgreSQL's SQL; its parameters are `$1`, `$2`, ….
///
/// # Errors
/// `0A000` for what PostgreSQL cannot be told.
pub fn lower(bound: &Bound) -> Result<String> {
    let mut lowering = Lowering { params: &bound.params, ..Lowering::default() };
    match &bound.statement {
        Statement::Query(query) => lowering.query(query),
        Statement::Dml(dml) => lowering.dml(dml),
        Statement::CreateTableAs(create) => {
            let name = quote(&create.table.name.name);
            let columns: Vec<String> = create.table.columns.iter().map(|column| quote(&column.name)).collect();
            let data = if create.no_data { " WITH NO DATA" } else { "" };
            let query = lowering.query(&create.query)?;
            let temporary = if create.table.temporary { "TEMPORARY " } else { "" };
            let kind = if create.definition.is_some() { "MATERIALIZED VIEW" } else { "TABLE" };
            Ok(format!("CREATE {temporary}{kind} {name} ({}) AS {query}{data}", columns.join(", ")))
        }
        Statement::RefreshView(refresh) => {
            let concurrently = if refresh.concurrently { "CONCURRENTLY " } else { "" };
            let data = if refresh.query.is_none() { " WITH NO DATA" } else { "" };
            Ok(format!("REFRESH MATERIALIZED VIEW {concurrently}{}{data}", quote(&refresh.view.name)))
        }
        Statement::Ddl(ddl) => lowering.ddl(ddl),
        _ => Err(missing("this statement")),
    }
}

/// True for statements that change nothing which the lowering of later ones does not hold itself: views are spelled out
/// where they are used.
pub fn is_spelled_out(statement: &Statement) -> bool {
    matches!(statement, Statement::Ddl(ddl) if matches!(&**ddl, Ddl::CreateView(_) | Ddl::CreateSynonym { .. }))
}

/// A table as the schema knows it, to hold the same rows: columns, of the types nearest to theirs, and unique keys.
pub fn table(relation: &Relation) -> String {
    let mut members = Vec::new();
    for column in &relation.columns {
        let not_null = if column.not_null { " NOT NULL" } else { "" };
        members.push(format!("{} {}{not_null}", quote(&column.name), format_type(&column.ty)));
    }
    for index in relation.indexes.iter().filter(|index| index.unique && index.predicate.is_none()) {
        let columns: Option<Vec<usize>> = index.columns.iter().copied().collect();
        if let Some(columns) = columns {
            let names: Vec<String> = columns.iter().map(|at| quote(&relation.columns[*at].name)).collect();
            members.push(format!("UNIQUE ({})", names.join(", ")));
        }
    }
    format!("CREATE TABLE {} ({})", quote(&relation.name), members.join(", "))
}

/// A row of texts for a table that [`table`] has made.
pub fn row(relation: &Relation, values: &[Option<String>]) -> String {
    let values: Vec<String> =
        values.iter().map(|value| value.as_deref().map_or_else(|| "NULL".to_owned(), text)).collect();
    format!("INSERT INTO {} VALUES ({})", quote(&relation.name), values.join(", "))
}

fn missing(what: &str) -> Error {
    Error::unsupported(format!("{what} on a PostgreSQL back end"))
}

/// A name as PostgreSQL reads it.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as PostgreSQL reads it, whatever `standard_conforming_strings` says.
fn text(value: &str) -> String {
    let doubled = value.replace('\'', "''");
    if doubled.contains('\\') { format!("E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

/// A type in PostgreSQL's words.
fn type_words(ty: &Type) -> Result<String> {
    match ty {
        // They have fields that PostgreSQL's types cannot leave out.
        Type::Datetime(_) if crate::postgres::types::import(ty) == Type::Text => {
            Err(missing("DATETIME of these fields"))
        }
        Type::QualifiedInterval(_) => Err(missing("INTERVAL with fields")),
        Type::Composite(_) => Err(missing("a collection")),
        Type::User(user) => Ok(user.shown()),
        Type::Void => Ok("void".to_owned()),
        Type::Record(_) => Ok("record".to_owned()),
        Type::Unknown => Ok("unknown".to_owned()),
        ty => Ok(format_type(ty)),
    }
}

#[derive(Default)]
struct Lowering<'a> {
    params: &'a [Type],
    /// What the columns of a relation are called, where that is not by their place.
    names: HashMap<RelId, Named>,
    /// Results by whose place keys are sorted, and what stands there.
    outputs: HashMap<RelId, Vec<Expr>>,
}

/// A relation by its own names.
struct Named {
    alias: String,
    columns: Vec<String>,
}

impl Lowering<'_> {
    /// A table comes into scope.
    fn enter(&mut self, id: RelId, relation: &Relation) -> String {
        let alias = format!("r{}", id.0);
        self.enter_as(id, relation, alias.clone());
        alias
    }

    fn enter_as(&mut self, id: RelId, relation: &Relation, alias: String) {
        let columns = relation.columns.iter().map(|column| quote(&column.name)).collect();
        self.names.insert(id, Named { alias, columns });
    }

    fn column(&mut self, column: ColumnRef) -> Result<String> {
        let ColumnIndex::At(at) = column.column else { return Err(missing("a row's identity")) };
        if let Some(items) = self.outputs.get(&column.relation) {
            let item = items.get(at).cloned().ok_or_else(|| Error::internal("a sort key without its column"))?;
            return self.expr(&item);
        }
        Ok(match self.names.get(&column.relation) {
            Some(named) => {
                let name = named.columns.get(at).ok_or_else(|| missing("a hidden column"))?;
                if named.alias.is_empty() { name.clone() } else { format!("{}.{name}", named.alias) }
            }
            None => format!("r{}.c{at}", column.relation.0),
        })
    }

    /// A query in parentheses.
    fn nested(&mut self, query: &Query) -> Result<String> {
        Ok(format!("({})", self.query(query)?))
    }
}

/// Tables of the catalogs hold other rows there.
fn is_users(relation: &Relation) -> Result<()> {
    if relation.oid < 16_384 {
        return Err(missing("a table of the catalogs"));
    }
    Ok(())
}
