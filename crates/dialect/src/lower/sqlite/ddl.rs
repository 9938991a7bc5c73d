//! CREATE TABLE and CREATE INDEX in SQLite's words, and what has to be remembered beside them.
//!
//! What SQLite can express stands in its own statement, with the dialect's type words and the constraints' names, so
//! that the file makes sense in the `sqlite3` shell. The rest is a record for the metadata tables: texts in the author's
//! language, defaults and checks that need the engine, types that a rowid cannot show.

use std::fmt::Write as _;

use super::create_table::quote;
use super::types::{collation, words};
use super::{Lowered, expression, index_expression, named_collation};
use crate::ir::walk;
use crate::ir::{
    CollateRole, ColumnDefinition, ColumnIndex, ColumnRef, Constraint, ConstraintKind, CreateIndex, CreateTable, Expr,
    ExprKind, Text,
};
use crate::mysql::FULLTEXT;
use crate::schema::{QualifiedName, ReferentialAction};
use crate::types::{Storage, Type};
use crate::values::mysql::unsigned::is_wide;
use crate::{Language, Result};

/// A table to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatements {
    /// CREATE TABLE.
    pub sql: String,
    /// What is to be remembered about columns.
    pub columns: Vec<ColumnRecord>,
    /// What is to be remembered about checks.
    pub checks: Vec<CheckRecord>,
    /// The rowid numbers the table from another start than 1: the number before the first.
    pub rowid_before: Option<i64>,
}

/// What is to be remembered about a column; nothing, when all is empty.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ColumnRecord {
    /// Its name.
    pub name: String,
    /// Its position.
    pub position: usize,
    /// Type words where the declared ones do not say it.
    pub ty: Option<String>,
    /// DEFAULT as written.
    pub default_text: Option<String>,
    /// `always`, `by default` or `serial`.
    pub identity: Option<&'static str>,
    /// The column needs a sequence of its own.
    pub sequence: bool,
    /// GENERATED as written.
    pub generated: Option<String>,
}

/// What is to be remembered about a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CheckRecord {
    /// Its name.
    pub name: String,
    /// As written.
    pub text: String,
    /// Lowered on the row `NEW`, when the engine has to enforce it.
    pub sql: Option<String>,
}

/// A column with what belongs to it, ready to stand in CREATE TABLE or ALTER TABLE ADD COLUMN.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnStatement {
    /// The definition.
    pub sql: String,
    /// What is to be remembered.
    pub record: ColumnRecord,
}

/// Writes CREATE TABLE. `physical` is SQLite's name of the table, `target` gives that of a referenced one.
///
/// # Errors
/// What an expression cannot be lowered for.
pub fn create_table(
    table: &CreateTable,
    database: &str,
    physical: &str,
    target: &dyn Fn(&QualifiedName) -> String,
) -> Result<TableStatements> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let key = table.constraints.iter().find_map(|constraint| match &constraint.kind {
        ConstraintKind::PrimaryKey(columns) => Some((constraint, columns.as_slice())),
        _ => None,
    });
    let rowid = rowid_column(table, key.map(|(_, columns)| columns));
    let mut items = Vec::new();
    let mut columns = Vec::new();
    let mut rowid_before = None;
    for (position, column) in table.columns.iter().enumerate() {
        let in_key = key.is_some_and(|(_, columns)| columns.contains(&position));
        let alias = (rowid == Some(position)).then(|| key.map(|(constraint, _)| constraint.name.as_str()));
        let statement = column_definition(column, position, table.language, in_key, alias, &names)?;
        if alias.is_some()
            && let Some(identity) = column.identity.as_ref().filter(|identity| identity.zero_is_next)
            && identity.start != 1
        {
            rowid_before = Some(identity.start.saturating_sub(1));
        }
        items.push(statement.sql);
        columns.push(statement.record);
    }
    let mut checks = Vec::new();
    for constraint in &table.constraints {
        let is_alias = matches!(constraint.kind, ConstraintKind::PrimaryKey(_)) && rowid.is_some();
        if is_alias {
            continue;
        }
        let (sql, record) = self::constraint(constraint, &names, target)?;
        items.extend(sql);
        checks.extend(record);
    }
    if columns.is_empty() {
        items.insert(0, NO_COLUMN.to_owned());
    }
    let body: Vec<String> = items.iter().map(|item| format!("    {item}")).collect();
    let sql = format!("CREATE TABLE {database}.{} (\n{}\n)", quote(physical), body.join(",\n"));
    Ok(TableStatements { sql, columns, checks, rowid_before })
}

/// The column that SQLite's table has where PostgreSQL's has none: a table of SQLite's cannot be without any. It holds
/// nothing but NULL, and nobody is shown it.
pub const NO_COLUMN: &str = "rowferry_no_column";

/// The column that can be SQLite's rowid: the only one of a primary key, if it holds integers; an Informix SERIAL also
/// without a key.
fn rowid_column(table: &CreateTable, key: Option<&[usize]>) -> Option<usize> {
    // What goes beyond 63 bits is no rowid; what counts on from 1 does not come there.
    let is_narrow = |column: &ColumnDefinition| column.identity.is_some() || !is_wide(&column.ty);
    let is_integer = |position: &usize| {
        table.columns.get(*position).is_some_and(|column| column.ty.is_integer() && is_narrow(column))
    };
    match key {
        Some([position]) => Some(*position).filter(is_integer),
        Some(_) => None,
        None => {
            let serial = |column: &ColumnDefinition| {
                column.identity.as_ref().is_some_and(|identity| identity.zero_is_next && identity.increment == 1)
            };
            table.columns.iter().position(serial).filter(is_integer)
        }
    }
}

/// Writes a column. `alias` says that it is the rowid, with the name of its primary key.
///
/// # Errors
/// As [`create_table`].
pub fn column_definition(
    column: &ColumnDefinition,
    position: usize,
    language: Language,
    in_key: bool,
    alias: Option<Option<&str>>,
    names: &[&str],
) -> Result<ColumnStatement> {
    let mut record = ColumnRecord { name: column.name.clone(), position, ..ColumnRecord::default() };
    let declared = words(&column.ty, language);
    let mut sql = quote(&column.name);
    if let Some(key) = alias {
        sql.push_str(" INTEGER");
        if declared != "integer" {
            record.ty = Some(declared);
        }
        if let Some(key) = key {
            let _ = write!(sql, " CONSTRAINT {}", quote(key));
        }
        sql.push_str(" PRIMARY KEY");
        // PostgreSQL's numbers come from a sequence: then the shell counts on from the greatest, and files stay simple.
        if column.identity.as_ref().is_some_and(|identity| identity.zero_is_next && identity.increment == 1) {
            sql.push_str(" AUTOINCREMENT");
        }
    } else {
        let _ = write!(sql, " {declared}");
        if let Some(order) = column_order(&column.ty, column.collation.as_deref()) {
            let _ = write!(sql, " COLLATE {order}");
        }
        if column.not_null || in_key {
            sql.push_str(" NOT NULL");
        }
    }
    if let Some(identity) = &column.identity {
        record.identity = Some(match (identity.zero_is_next, identity.always) {
            (true, _) => "serial",
            (false, true) => "always",
            (false, false) => "by default",
        });
        record.sequence = alias.is_none() || identity.increment != 1;
    }
    record.sequence |= column.sequence.is_some();
    if let Some(default) = &column.default {
        record.default_text = Some(default.text.clone());
        if let Some(native) = native_default(default)? {
            let _ = write!(sql, " DEFAULT {native}");
        }
    }
    if let Some(generated) = &column.generated {
        let lowered = over_columns(generated, names, "")?;
        record.generated = Some(generated.text.clone());
        // What needs one of our functions is computed by the engine, and the file has an ordinary column.
        if lowered.native {
            let _ = write!(sql, " GENERATED ALWAYS AS ({}) STORED", lowered.sql);
        }
    }
    Ok(ColumnStatement { sql, record })
}

/// A default as SQLite takes it, if it needs nothing else.
///
/// # Errors
/// What the expression cannot be lowered for.
pub fn native_default(default: &Text) -> Result<Option<String>> {
    let lowered = expression(&default.expr, &|_| String::new())?;
    if !lowered.native {
        return Ok(None);
    }
    let is_literal = matches!(default.expr.kind, ExprKind::Literal(_));
    let bare = is_literal && !lowered.sql.contains('(') && !lowered.sql.starts_with(|c: char| c.is_alphabetic());
    let null = lowered.sql.eq_ignore_ascii_case("null");
    Ok(Some(if bare || null { lowered.sql } else { format!("({})", lowered.sql) }))
}

/// Writes a table constraint, or what is to be remembered of a check that SQLite cannot enforce.
///
/// # Errors
/// What an expression cannot be lowered for.
pub fn constraint(
    constraint: &Constraint,
    names: &[&str],
    target: &dyn Fn(&QualifiedName) -> String,
) -> Result<(Option<String>, Option<CheckRecord>)> {
    let prefix = format!("CONSTRAINT {} ", quote(&constraint.name));
    let list = |columns: &[usize]| {
        let names: Vec<String> =
            columns.iter().map(|&column| quote(names.get(column).copied().unwrap_or_default())).collect();
        names.join(", ")
    };
    Ok(match &constraint.kind {
        ConstraintKind::PrimaryKey(columns) => (Some(format!("{prefix}PRIMARY KEY ({})", list(columns))), None),
        ConstraintKind::Unique(columns) => (Some(format!("{prefix}UNIQUE ({})", list(columns))), None),
        ConstraintKind::ForeignKey(key) if key.by_engine => (None, None),
        // The engine asks an index that is no key for SQLite.
        ConstraintKind::DeferrableUnique { .. }
        | ConstraintKind::UniqueNullsAlike(_)
        | ConstraintKind::Exclusion(_) => (None, None),
        ConstraintKind::Check(check) => {
            let lowered = over_columns(check, names, "")?;
            let record = |sql| CheckRecord { name: constraint.name.clone(), text: check.text.clone(), sql };
            if lowered.native {
                (Some(format!("{prefix}CHECK ({})", lowered.sql)), Some(record(None)))
            } else {
                (None, Some(record(Some(over_columns(check, names, "NEW.")?.sql))))
            }
        }
        ConstraintKind::ForeignKey(key) => {
            let targets: Vec<String> = key.target_columns.iter().map(|name| quote(name)).collect();
            let mut sql = format!(
                "{prefix}FOREIGN KEY ({}) REFERENCES {} ({})",
                list(&key.columns),
                quote(&target(&key.target)),
                targets.join(", ")
            );
            for (event, action) in [("DELETE", key.rules.on_delete), ("UPDATE", key.rules.on_update)] {
                if let Some(words) = action_words(action) {
                    let _ = write!(sql, " ON {event} {words}");
                }
            }
            if key.rules.full {
                sql.push_str(" MATCH FULL");
            }
            sql.push_str(match (key.rules.deferrable, key.rules.deferred) {
                (_, true) => " DEFERRABLE INITIALLY DEFERRED",
                (true, false) => " DEFERRABLE INITIALLY IMMEDIATE",
                (false, false) => "",
            });
            // SQLite takes MATCH FULL and does MATCH SIMPLE: what is missing stands in a check of the same name.
            if let ([first, others @ ..], true) = (key.columns.as_slice(), key.rules.full)
                && !others.is_empty()
            {
                let null = |column: &usize| format!("({} IS NULL)", list(&[*column]));
                let alike: Vec<String> =
                    others.iter().map(|other| format!("{} = {}", null(first), null(other))).collect();
                let _ = write!(sql, " {prefix}CHECK ({})", alike.join(" AND "));
            }
            (Some(sql), None)
        }
    })
}

fn action_words(action: ReferentialAction) -> Option<&'static str> {
    match action {
        ReferentialAction::NoAction => None,
        ReferentialAction::Restrict => Some("RESTRICT"),
        ReferentialAction::Cascade => Some("CASCADE"),
        ReferentialAction::SetNull => Some("SET NULL"),
        ReferentialAction::SetDefault => Some("SET DEFAULT"),
    }
}

/// An expression over the columns of a table, each spelt with a prefix.
///
/// # Errors
/// What it cannot be lowered for.
pub fn over_columns(text: &Text, names: &[&str], prefix: &str) -> Result<Lowered> {
    expression(&text.expr, &|column: ColumnRef| match column.column {
        ColumnIndex::At(position) => format!("{prefix}{}", quote(names.get(position).copied().unwrap_or_default())),
        ColumnIndex::RowIdentity => format!("{prefix}rowid"),
    })
}

/// An index to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexStatements {
    /// CREATE INDEX.
    pub sql: String,
    /// Keys as written.
    pub keys: Vec<String>,
    /// The condition as written.
    pub predicate: Option<String>,
}

/// Writes CREATE INDEX.
///
/// # Errors
/// What an expression cannot be lowered for.
pub fn create_index(index: &CreateIndex, physical: &str) -> Result<IndexStatements> {
    let names: Vec<&str> = index.table.columns.iter().map(|column| column.name.as_str()).collect();
    let mut keys = Vec::with_capacity(index.keys.len());
    let is_of_words = index.properties.iter().any(|(name, value)| name == "index_method" && value == FULLTEXT);
    for key in &index.keys {
        if let Some(column) = first_column(&key.key.expr).filter(|_| is_of_words) {
            // It holds nothing: a shell that does not know the column's order may write to the table.
            keys.push(format!("{} COLLATE BINARY", quote(names[column])));
            continue;
        }
        let mut lowered = index_key(&key.key.expr, &names)?;
        if index.nulls_alike {
            lowered = lowered.with_null(&key.key.expr.ty);
        }
        let sql = match first_column(&key.key.expr) {
            Some(column) if index.lenient && !lowered.native => quote(names[column]),
            _ => match &lowered.order {
                Some(order) => format!("{} COLLATE {order}", lowered.sql),
                None => lowered.sql,
            },
        };
        keys.push(if key.descending { format!("{sql} DESC") } else { sql });
    }
    let mut sql = format!(
        "CREATE {}INDEX {}.{} ON {} ({})",
        if index.unique { "UNIQUE " } else { "" },
        index.table.physical.database,
        quote(physical),
        quote(&index.table.physical.name),
        keys.join(", ")
    );
    if let Some(predicate) = &index.predicate {
        let lowered = index_key(&predicate.expr, &names)?;
        // One of all rows serves as well where it says nothing about them.
        if lowered.native || !index.lenient {
            let _ = write!(sql, " WHERE {}", lowered.sql);
        }
    }
    Ok(IndexStatements {
        sql,
        keys: index.keys.iter().map(|key| key.key.text.clone()).collect(),
        predicate: index.predicate.as_ref().map(|predicate| predicate.text.clone()),
    })
}

/// The first column that an expression names.
fn first_column(expr: &crate::ir::Expr) -> Option<usize> {
    let mut found = None;
    walk::expr(expr, &mut |part| {
        if let ExprKind::Column(column) = &part.kind
            && let ColumnIndex::At(position) = column.column
        {
            found.get_or_insert(position);
        }
        found.is_none()
    });
    found
}

/// A key of an index, or its condition.
pub struct IndexKey {
    /// As SQLite is told it, without its collation.
    pub sql: String,
    /// The collation under which keys are compared, where it is not that of the column itself.
    pub order: Option<String>,
    /// SQLite can compute it without us.
    pub native: bool,
    /// The collation of the type, which a column has by itself.
    of_type: Option<String>,
}

/// What stands before a key in an index in which NULLs are alike.
pub const NULLS_ALIKE: &str = "ifnull(";

impl IndexKey {
    /// The key with a value in the place of NULL that no value of its type is: a blob, or a text among blobs.
    #[must_use]
    pub fn with_null(self, ty: &Type) -> Self {
        let null = if ty.storage() == Storage::Blob { "''" } else { "x''" };
        let order = self.order.or_else(|| self.of_type.clone());
        Self { sql: format!("{NULLS_ALIKE}{}, {null})", self.sql), order, ..self }
    }
}

/// Writes a key of an index of a table whose columns have these names, or its condition.
///
/// # Errors
/// What the expression cannot be lowered for.
pub fn index_key(key: &Expr, names: &[&str]) -> Result<IndexKey> {
    // A collation that the key has been given stands behind it.
    let (expr, given) = match &key.kind {
        ExprKind::Collate { arg, collation, role: CollateRole::Operand { .. }, .. } => {
            (&**arg, Some(named_collation(collation, &arg.ty)))
        }
        _ => (key, None),
    };
    let (lowered, order) = index_expression(expr, &|column: ColumnRef| match column.column {
        ColumnIndex::At(position) => quote(names.get(position).copied().unwrap_or_default()),
        ColumnIndex::RowIdentity => "rowid".to_owned(),
    })?;
    let is_column = matches!(expr.kind, ExprKind::Column(_));
    let of_type = order.clone();
    let order = given.or_else(|| order.filter(|_| !is_column));
    let sql = if is_column { lowered.sql } else { format!("({})", lowered.sql) };
    Ok(IndexKey { sql, order, native: lowered.native, of_type })
}

/// What a column says behind COLLATE, by its type and its own collation.
pub fn column_order(ty: &Type, named: Option<&crate::collation::Collation>) -> Option<String> {
    let own = collation(ty).map(str::to_owned);
    own.or_else(|| named.filter(|named| named.is_unicode()).map(|named| named_collation(named, ty)))
}

/// True when values of both types lie alike in a column, so that a change from one to the other changes words only.
pub fn same_storage(from: &Type, to: &Type) -> bool {
    from.storage() == to.storage()
        && collation(from) == collation(to)
        && (from.same_base(to)
            || (from.is_integer() && to.is_integer())
            || (from.is_text() && to.is_text())
            || (matches!(from, Type::Float4 | Type::Float8) && matches!(to, Type::Float4 | Type::Float8)))
}
