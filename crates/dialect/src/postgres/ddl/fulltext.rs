//! Full-text indexes of MySQL's.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, SortByDir, node::Node as N};

use super::super::binder::Binder;
use crate::collation::Collation;
use crate::ir::{CreateIndex, Ddl, Expr, IndexKeyDefinition, Statement, Text};
use crate::mysql::FULLTEXT;
use crate::mysql::types::own_words;
use crate::postgres::quote_ident as quote;
use crate::schema::{Column, Relation};
use crate::{Condition, Error, Result, Type};

/// What decides which words of a column are one.
fn collation(column: &Column) -> &Arc<Collation> {
    column.collation.as_ref().unwrap_or_else(|| Collation::mysql_default())
}

/// A column may be part of a full-text index: it holds texts.
///
/// # Errors
/// `42P17` (1283) where it does not.
pub(in crate::postgres) fn check_fulltext_type(name: &str, ty: &Type) -> Result<()> {
    if *ty == Type::Json {
        let message =
            format!("JSON column '{name}' supports indexing only via generated columns on a specified JSON path.");
        return Err(Error::new(Condition::InvalidObjectDefinition, message).with_mysql(3152, "42000"));
    }
    let words = own_words(ty).unwrap_or_default();
    let is_text = ty.through_domains().is_text() && !words.starts_with("enum") && !words.starts_with("set");
    if is_text { Ok(()) } else { Err(no_part(name)) }
}

/// A column hides the rowid, by which searches know rows.
pub(in crate::postgres) fn has_rowid_column(table: &Relation) -> bool {
    table.columns.iter().any(|column| column.name.eq_ignore_ascii_case("rowid"))
}

fn no_part(name: &str) -> Error {
    let message = format!("Column '{name}' cannot be part of FULLTEXT index");
    Error::new(Condition::InvalidObjectDefinition, message).with_mysql(1283, "HY000")
}

impl Binder<'_> {
    /// CREATE FULLTEXT INDEX.
    pub(super) fn create_fulltext(
        &mut self,
        index: &pg::IndexStmt,
        table: Arc<Relation>,
        said: Vec<(String, String)>,
    ) -> Result<Statement> {
        if table.physical.database == "temp" {
            let message = "Cannot create FULLTEXT index on temporary InnoDB table";
            return Err(Error::new(Condition::InvalidTableDefinition, message).with_mysql(1796, "HY000"));
        }
        if table.without_identity || table.is_partitioned() {
            return Err(Error::unsupported("a FULLTEXT key of a table without rowids, or of a partitioned one"));
        }
        if has_rowid_column(&table) {
            return Err(Error::unsupported("a FULLTEXT key of a table with a column called rowid"));
        }
        let mut keys: Vec<IndexKeyDefinition> = Vec::with_capacity(index.index_params.len());
        let mut first: Option<&Column> = None;
        for node in &index.index_params {
            let Some(N::IndexElem(element)) = &node.node else { continue };
            if element.name.is_empty() {
                let message = "Fulltext functional index is not supported.";
                return Err(Error::new(Condition::FeatureNotSupported, message).with_mysql(3759, "HY000"));
            }
            if element.ordering() != SortByDir::SortbyDefault {
                let message = "Incorrect usage of spatial/fulltext/hash index and explicit index order";
                return Err(Error::syntax(message).with_mysql(1221, "HY000"));
            }
            let Some(at) = table.column(&element.name) else {
                let message = format!("Key column '{}' doesn't exist in table", element.name);
                return Err(Error::new(Condition::UndefinedColumn, message).with_mysql(1072, "42000"));
            };
            let column = &table.columns[at];
            let text = quote(&column.name);
            if keys.iter().any(|key| key.key.text == text) {
                let message = format!("Duplicate column name '{}'", element.name);
                return Err(Error::new(Condition::DuplicateColumn, message).with_mysql(1060, "42S21"));
            }
            check_fulltext_type(&column.name, &column.ty)?;
            let first = *first.get_or_insert(column);
            if collation(first).name != collation(column).name {
                return Err(no_part(&column.name));
            }
            let expr = Expr::column(Text::TABLE, at, column.ty.clone());
            keys.push(IndexKeyDefinition { descending: false, key: Text { text, expr } });
        }
        Ok(Statement::Ddl(Box::new(Ddl::CreateIndex(CreateIndex {
            name: index.idxname.clone(),
            table,
            unique: false,
            nulls_alike: false,
            if_not_exists: index.if_not_exists,
            lenient: false,
            keys,
            // Its words lie elsewhere.
            predicate: Some(Text { text: "false".to_owned(), expr: Expr::bool(false) }),
            only: false,
            concurrently: false,
            properties: std::iter::once(("index_method".to_owned(), FULLTEXT.to_owned())).chain(said).collect(),
        }))))
    }
}
