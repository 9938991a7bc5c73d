//! The PostgreSQL back end: IR in, PostgreSQL's SQL out.
//!
//! It is the seam's proof: what a front end has bound must mean the same to a back end that shares nothing with the first.
//! Tests run every recorded statement on both. A server in front of a PostgreSQL runs its clients' statements through it.
//!
//! - It reads the logical half of the schema alone: names, types, keys; never [`crate::schema::Physical`].
//! - Relations are called `r<id>`, the columns of derived ones `c0`, `c1`, …, so that names neither clash nor are captured.
//! - Every constant and parameter says its type, so that PostgreSQL chooses the operators and functions that were bound.
//! - What PostgreSQL cannot say is `0A000`, with the name of it.

mod alter;
mod ddl;
mod dml;
mod expr;
mod functions;
mod merge;
mod mysql;
mod patterns;
mod query;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::collation::Collation;
use crate::ir::{
    ColumnIndex, ColumnRef, ConflictAction, CteBody, CteId, Ddl, DmlAction, Expr, ExprKind, InsertSource, Maintenance,
    ObjectKind, OnConflict, Query, RelId, Statement, Text, Transaction, TransactionModes, Value,
};
use crate::plan::Bound;
use crate::postgres::types::format_type;
use crate::schema::{QualifiedName, Relation};
use crate::{Condition, Error, Result, Type};

/// How statements are said to a server that has tables of its own.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Manner {
    /// A table is read with those that inherit from it, and with its partitions, which nobody above knows of.
    pub with_heirs: bool,
    /// Texts are ordered by their code points, which the database itself does otherwise.
    pub by_code_points: bool,
    /// Foreign keys may be checked at the end of the transaction, as Informix's may, each of them.
    pub defers_keys: bool,
    /// Rows may be told apart by where they lie: their numbers are that server's.
    pub shows_places: bool,
    /// What MySQL's rules need is there, in the schema [`SCHEMA`].
    pub installed: bool,
    /// The statement is MySQL's.
    pub mysql: bool,
    /// Rows that an UPDATE finds count, whether or not it changes them.
    pub counts_found: bool,
}

/// What is known of a server's tables.
pub trait Known {
    /// The name of a sequence by its object id here.
    fn sequence(&self, oid: u32) -> Option<QualifiedName>;
    /// Where a row of it lies tells it from all others: not of a table that lies in several places.
    fn has_places(&self, relation: &Relation) -> bool;
    /// A routine that is kept here answers alike whenever it is called with the same arguments, as it was declared.
    fn answers_alike(&self, routine: u32) -> bool;
    /// Some of its columns have defaults there which are not known here.
    fn hides_defaults(&self, relation: &Relation) -> bool;
    /// Foreign keys refer to it.
    fn is_referred_to(&self, relation: &Relation) -> bool;
}

/// A statement as it is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// PostgreSQL's SQL.
    pub sql: String,
    /// It returns the numbers that its rows have been given, and nothing that was asked for.
    pub returns_numbers: bool,
    /// It returns, last, of each row whether it was there before.
    pub returns_fates: bool,
    /// It returns, before that, of each row that it changes the number that LAST_INSERT_ID is told.
    pub returns_said: bool,
    /// It returns, before that, of each row what is asked of it, which fails or is nothing.
    pub returns_checks: bool,
    /// It returns one row, which says how many it has changed in all of its tables.
    pub returns_count: bool,
    /// So many rows are told; those that it does not write are there already as they were to be.
    pub rows_told: Option<usize>,
    /// What PostgreSQL cannot work out and no row decides: these values are parameters behind the statement's own.
    pub asked: Vec<Expr>,
    /// Which of the statement's own parameters and of those behind them are `$1`, `$2`, …: what stands nowhere is not told.
    pub params: Vec<usize>,
}

impl Said {
    /// A statement without parameters, which returns what it was asked for.
    pub fn of(sql: String) -> Self {
        Self {
            sql,
            returns_numbers: false,
            returns_fates: false,
            returns_said: false,
            returns_checks: false,
            returns_count: false,
            rows_told: None,
            asked: Vec::new(),
            params: Vec::new(),
        }
    }

    /// How many columns it returns that nobody has asked for.
    pub fn told_columns(&self) -> usize {
        let told =
            [self.returns_numbers, self.returns_said, self.returns_checks, self.returns_fates, self.returns_count];
        told.into_iter().map(usize::from).sum()
    }
}

/// A statement in PostgreSQL's SQL; its parameters are `$1`, `$2`, ….
///
/// # Errors
/// `0A000` for what PostgreSQL cannot be told.
pub fn lower(bound: &Bound) -> Result<String> {
    said(bound, Manner::default(), None).map(|said| said.sql)
}

/// The same to a server behind ours; an INSERT that numbers its rows returns the numbers.
///
/// # Errors
/// As [`lower`].
pub fn lower_for(bound: &Bound, manner: Manner, known: &dyn Known) -> Result<Said> {
    said(bound, manner, Some(known))
}

fn said(bound: &Bound, manner: Manner, known: Option<&dyn Known>) -> Result<Said> {
    let numbers = known.is_some();
    let names_rows = manner.shows_places;
    // Utility statements have no parameters.
    let may_ask = matches!(bound.statement, Statement::Query(_) | Statement::Dml(_) | Statement::Merge(_));
    let asked = (numbers && may_ask).then(Vec::new);
    let has_rows = match &bound.statement {
        Statement::Dml(dml) => {
            !matches!(dml.action, DmlAction::Insert { source: InsertSource::Values(_) | InsertSource::Defaults, .. })
        }
        statement => !crate::ir::named_relations(statement).is_empty(),
    };
    let mut lowering =
        Lowering { params: &bound.params, manner, names_rows, known, has_rows, asked, ..Lowering::default() };
    let counted = match &bound.statement {
        Statement::Dml(dml) if manner.mysql && numbers && dml.returning.is_empty() => dml.ctes.as_slice(),
        _ => &[],
    };
    let returns_count = counted.iter().any(|cte| matches!(cte.body, CteBody::Dml(_)));
    if returns_count && let Statement::Dml(dml) = &bound.statement {
        let sql = lowering.changes_of_several(dml)?;
        let asked = lowering.asked.unwrap_or_default();
        let params = lowering.told;
        let (returns_numbers, returns_fates, returns_said) = (false, false, false);
        return Ok(Said {
            sql,
            returns_numbers,
            returns_fates,
            returns_said,
            returns_checks: false,
            returns_count,
            rows_told: None,
            asked,
            params,
        });
    }
    lowering.may_check = matches!(&bound.statement, Statement::Dml(dml) if numbers && dml.returning.is_empty());
    let mut sql = lowering.statement(&bound.statement)?;
    let mut returns_checks = false;
    let (mut returns_numbers, mut returns_fates, mut returns_said) = (false, false, false);
    if let Statement::Dml(dml) = &bound.statement
        && numbers
        && dml.returning.is_empty()
    {
        let on_conflict = match &dml.action {
            DmlAction::Insert { on_conflict, .. } => on_conflict.as_ref(),
            _ => None,
        };
        let mut returned = Vec::new();
        if let (DmlAction::Insert { .. }, Some(column)) =
            (&dml.action, dml.target.columns.iter().find(|column| column.identity.is_some()))
        {
            returned.push(format!("r{}.{}", dml.id.0, quote(&column.name)));
            returns_numbers = true;
        }
        if let Some(column) = lowering.number_said {
            returned.push(format!("(r{}.{})::bigint", dml.id.0, quote(&dml.target.columns[column].name)));
            returns_said = true;
        }
        if let Some(checked) = lowering.row_checked.take() {
            returned.push(checked);
            returns_checks = true;
        }
        let updates = |conflict: &OnConflict| matches!(conflict.action, ConflictAction::Update { .. });
        if manner.mysql && on_conflict.is_some_and(updates) {
            // A row that was there has been locked by this statement.
            returned.push(format!("(r{}.xmax::text <> '0')::integer", dml.id.0));
            returns_fates = true;
        }
        if !returned.is_empty() {
            sql.push_str(&format!(" RETURNING {}", returned.join(", ")));
        }
    }
    let asked = lowering.asked.unwrap_or_default();
    let (rows_told, params) = (lowering.rows_told, lowering.told);
    Ok(Said {
        sql,
        returns_numbers,
        returns_fates,
        returns_said,
        returns_checks,
        returns_count,
        rows_told,
        asked,
        params,
    })
}

impl Lowering<'_> {
    fn statement(&mut self, statement: &Statement) -> Result<String> {
        let lowering = self;
        match statement {
            Statement::Query(query) => lowering.query(query),
            Statement::Dml(dml) => lowering.dml(dml),
            Statement::CreateTableAs(create) => {
                fits(&create.table.name.name)?;
                create.table.columns.iter().try_for_each(|column| fits(&column.name))?;
                let name = name_of(&create.table.name);
                let columns: Vec<String> = create.table.columns.iter().map(|column| quote(&column.name)).collect();
                let data = if create.no_data { " WITH NO DATA" } else { "" };
                let query = lowering.query(&create.query)?;
                let temporary = if create.table.temporary { "TEMPORARY " } else { "" };
                let kind = if create.definition.is_some() { "MATERIALIZED VIEW" } else { "TABLE" };
                let unless = if create.table.if_not_exists { "IF NOT EXISTS " } else { "" };
                let range = |column: &crate::ir::ColumnDefinition| {
                    let condition = mysql::range(&column.ty, &quote(&column.name))?;
                    let constraint = quote(&mysql::range_name(&column.name));
                    Some(format!("ALTER TABLE {name} ADD CONSTRAINT {constraint} CHECK ({condition})"))
                };
                let ranges: Vec<String> = create.table.columns.iter().filter_map(range).collect();
                if !ranges.is_empty() && create.definition.is_none() {
                    if create.table.if_not_exists {
                        return Err(missing("IF NOT EXISTS of a table of a query with columns of MySQL's own types"));
                    }
                    let (columns, ranges) = (columns.join(", "), ranges.join("; "));
                    let fill = if create.no_data { String::new() } else { format!("; INSERT INTO {name} {query}") };
                    return Ok(format!(
                        "CREATE {temporary}TABLE {name} ({columns}) AS {query} WITH NO DATA; {ranges}{fill}"
                    ));
                }
                Ok(format!("CREATE {temporary}{kind} {unless}{name} ({}) AS {query}{data}", columns.join(", ")))
            }
            Statement::RefreshView(refresh) => {
                let concurrently = if refresh.concurrently { "CONCURRENTLY " } else { "" };
                let data = if refresh.query.is_none() { " WITH NO DATA" } else { "" };
                Ok(format!("REFRESH MATERIALIZED VIEW {concurrently}{}{data}", named(&refresh.view)))
            }
            Statement::Ddl(ddl) => lowering.ddl(ddl),
            Statement::Merge(merge) => lowering.merge(merge),
            Statement::Transaction(transaction) => command(transaction),
            Statement::Lock(lock) if lowering.known.is_some() => {
                let tables: Vec<String> = lock.relations.iter().map(|table| named(table)).collect();
                let nowait = if lock.nowait { " NOWAIT" } else { "" };
                Ok(format!("LOCK TABLE {} IN {} MODE{nowait}", tables.join(", "), lock.mode.words()))
            }
            Statement::SetConstraints { names, deferred } if lowering.known.is_some() => {
                let names: Vec<String> = names.iter().map(name_of).collect();
                let names = if names.is_empty() { "ALL".to_owned() } else { names.join(", ") };
                Ok(format!("SET CONSTRAINTS {names} {}", if *deferred { "DEFERRED" } else { "IMMEDIATE" }))
            }
            Statement::Maintain(Maintenance::Analyze { tables, all, .. }) if lowering.known.is_some() => {
                let tables: Vec<String> = tables.iter().map(|table| named(table)).collect();
                Ok(if *all { "ANALYZE".to_owned() } else { format!("ANALYZE {}", tables.join(", ")) })
            }
            _ => Err(missing("this statement")),
        }
    }
}

/// True for statements that change nothing which the lowering of later ones does not hold itself: views are spelled out
/// where they are used.
pub fn is_spelled_out(statement: &Statement) -> bool {
    match statement {
        Statement::Ddl(ddl) => match &**ddl {
            Ddl::CreateView(_) | Ddl::CreateSynonym { .. } => true,
            Ddl::Drop(drop) => drop.names.is_empty() || matches!(drop.kind, ObjectKind::View | ObjectKind::Synonym),
            _ => false,
        },
        // What IF EXISTS lets pass is not told either.
        Statement::Nothing { .. } => true,
        _ => false,
    }
}

/// A table as the schema knows it, to hold the same rows: columns, of the types nearest to theirs, and unique keys.
pub fn table(relation: &Relation) -> String {
    let mut members = Vec::new();
    for column in &relation.columns {
        let not_null = if column.not_null { " NOT NULL" } else { "" };
        let numbered = if column.identity.is_some() { " GENERATED BY DEFAULT AS IDENTITY" } else { "" };
        let words = if column.ty.distinct().is_some() { column.ty.through_domains() } else { &column.ty };
        members.push(format!("{} {}{numbered}{not_null}", quote(&column.name), format_type(words)));
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

/// Statements by which a table that [`row`] has filled goes on numbering behind its greatest number.
pub fn numbers(relation: &Relation) -> Vec<String> {
    let numbered = relation.columns.iter().filter(|column| column.identity.is_some());
    let table = quote(&relation.name);
    numbered
        .map(|column| {
            let (sequence, name) = (sequence_of(relation, &column.name), quote(&column.name));
            format!("SELECT setval({sequence}, max({name})) FROM {table} HAVING max({name}) > 0")
        })
        .collect()
}

/// What makes a column go on numbering behind its greatest number.
fn behind_greatest(relation: &Relation, table: &str, column: &str) -> String {
    let table = qualified(&relation.namespace, table);
    let (sequence, name) = (format!("pg_get_serial_sequence({}, {})", text(&table), text(column)), quote(column));
    format!("SELECT setval({sequence}, max({name})) FROM {table} HAVING max({name}) > 0")
}

/// What makes a column number from here on, behind its greatest number.
fn number_from(relation: &Relation, table: &str, column: &str, next: i64) -> String {
    let table = qualified(&relation.namespace, table);
    let (sequence, name) = (format!("pg_get_serial_sequence({}, {})", text(&table), text(column)), quote(column));
    format!("SELECT setval({sequence}, greatest({next}, coalesce(max({name}), 0) + 1), false) FROM {table}")
}

/// The query of the number that a column gives to the next row.
pub fn next_number(relation: &Relation, column: &str) -> String {
    format!("SELECT nextval({}) AS c0", sequence_of(relation, column))
}

/// The sequence that numbers a column.
fn sequence_of(relation: &Relation, column: &str) -> String {
    format!("pg_get_serial_sequence({}, {})::regclass", text(&named(relation)), text(column))
}

/// What tells a row from the others: its place in the file, as a number.
fn identity(alias: &str) -> String {
    let place = format!("({alias}.ctid::text::point)");
    format!("({place}[0]::bigint * 65536 + {place}[1]::bigint)")
}

/// BEGIN and its kin.
fn command(transaction: &Transaction) -> Result<String> {
    let plain = |modes: &TransactionModes| *modes == TransactionModes::default();
    Ok(match transaction {
        Transaction::Begin(modes) | Transaction::Start(modes) if plain(modes) => "BEGIN".to_owned(),
        Transaction::Commit { chain: false } => "COMMIT".to_owned(),
        Transaction::Rollback { chain: false } => "ROLLBACK".to_owned(),
        Transaction::Savepoint(name) => format!("SAVEPOINT {}", quote(name)),
        Transaction::Release(name) => format!("RELEASE SAVEPOINT {}", quote(name)),
        Transaction::RollbackTo(name) => format!("ROLLBACK TO SAVEPOINT {}", quote(name)),
        _ => return Err(missing("modes of a transaction")),
    })
}

fn missing(what: &str) -> Error {
    Error::unsupported(format!("{what} on a PostgreSQL back end"))
}

/// A relation's name as PostgreSQL reads it. Names of the schema `public` are found without it, as are temporary ones.
fn named(relation: &Relation) -> String {
    qualified(&relation.namespace, &relation.name)
}

/// The same of one that may not be there yet.
fn qualified(namespace: &str, name: &str) -> String {
    match namespace {
        "" | "public" | "pg_temp" | "informix" => quote(name),
        other => format!("{}.{}", quote(other), quote(name)),
    }
}

/// A name in a schema.
fn name_of(name: &QualifiedName) -> String {
    qualified(name.schema.as_deref().unwrap_or_default(), &name.name)
}

/// A name as PostgreSQL reads it.
fn quote(name: &str) -> String {
    format!("\"{}\"", short_name(name).replace('"', "\"\""))
}

/// The longest name that PostgreSQL has, in bytes.
const NAME: usize = 63;

/// What a key or a constraint is called there: of a name that is too long its beginning, and a number of the whole.
pub fn short_name(name: &str) -> Cow<'_, str> {
    if name.len() <= NAME {
        return Cow::Borrowed(name);
    }
    // FNV-1a, which is the same everywhere and at all times.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let end = format!("~{hash:016x}");
    let mut at = NAME - end.len();
    while !name.is_char_boundary(at) {
        at -= 1;
    }
    Cow::Owned(format!("{}{end}", &name[..at]))
}

/// A table and its columns are known by the names that they have there.
fn fits(name: &str) -> Result<()> {
    if name.len() <= NAME { Ok(()) } else { Err(missing("a name of more than 63 bytes")) }
}

/// A text as PostgreSQL reads it, whatever `standard_conforming_strings` says.
fn text(value: &str) -> String {
    let doubled = value.replace('\'', "''");
    if doubled.contains('\\') { format!("E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

/// What a column of a type is declared as there, in PostgreSQL's own words for it; `None` where it cannot be.
pub fn declared_type(ty: &Type) -> Option<String> {
    type_words(ty).ok()
}

/// A type in PostgreSQL's words.
fn type_words(ty: &Type) -> Result<String> {
    match ty {
        // They have fields that PostgreSQL's types cannot leave out.
        // They are kept, ordered and compared as they are written; PostgreSQL has no such fields to compute with.
        Type::Datetime(_) if crate::postgres::types::import(ty) == Type::Text => Ok("text".to_owned()),
        Type::QualifiedInterval(_) => Ok("interval".to_owned()),
        // As they are written.
        Type::Composite(_) => Ok("text".to_owned()),
        // MySQL's own types lie as what they are over; what their values must hold is a CHECK of the column.
        ty if mysql::own_words(ty).is_some() => type_words(ty.through_domains()),
        // Informix's DISTINCT types are kept beside the server.
        Type::User(user) if user.is_distinct() => type_words(ty.through_domains()),
        Type::User(user) => Ok(user.shown()),
        Type::Void => Ok("void".to_owned()),
        Type::Record(_) => Ok("record".to_owned()),
        Type::Unknown => Ok("unknown".to_owned()),
        ty => Ok(format_type(ty)),
    }
}

pub use dml::{NOT_SHOWN, emptied};
pub use expr::{LOOP, NO_DAY, NO_ROOM};
pub use mysql::{SCHEMA, VERSION, collation_there, declared_collation, installation};

#[derive(Default)]
struct Lowering<'a> {
    params: &'a [Type],
    manner: Manner,
    known: Option<&'a dyn Known>,
    /// What it computes it may compute for many rows.
    has_rows: bool,
    /// The parameters that stand somewhere, in the order in which they come, for a server.
    told: Vec<usize>,
    /// What is to be worked out elsewhere, where that can be.
    asked: Option<Vec<Expr>>,
    /// What the columns of a relation are called, where that is not by their place.
    names: HashMap<RelId, Named>,
    /// Results by whose place keys are sorted, and what stands there.
    outputs: HashMap<RelId, Vec<Expr>>,
    /// The statement tells rows from each other by itself, and shows nobody how.
    names_rows: bool,
    /// What the rows of a group have in common by its key, and not by its bytes: one of them stands for it. Where rows of
    /// several groups are told together, the key that says whose.
    common: Vec<(Expr, Option<String>)>,
    /// Rows are read to be changed.
    changes: bool,
    /// Rows may be asked about when they have been stored: nothing else is returned.
    may_check: bool,
    /// What is asked of them.
    row_checked: Option<String>,
    /// Recursive queries whose rows come in an order of their own.
    climbs: Vec<CteId>,
    /// The column that is assigned what LAST_INSERT_ID is told.
    number_said: Option<usize>,
    /// How many rows are told, where that counts.
    rows_told: Option<usize>,
}

/// A relation by its own names.
struct Named {
    alias: String,
    columns: Vec<String>,
    /// The collations that they are declared with.
    collations: Vec<Option<Arc<Collation>>>,
    /// What tells a row from the others whatever becomes of it.
    key: Option<String>,
    /// Where its rows lie says nothing.
    placeless: bool,
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
        let placeless = self.known.is_some_and(|known| !known.has_places(relation));
        let key = relation.indexes.iter().find(|index| index.primary && index.predicate.is_none()).and_then(|index| {
            let name = |at: &Option<usize>| {
                let column = &relation.columns[(*at)?];
                let by = column.collation.as_deref().is_some_and(mysql::pads);
                Some(format!("{alias}.{}{}", quote(&column.name), if by { " COLLATE \"C\"" } else { "" }))
            };
            index.columns.iter().map(name).collect::<Option<Vec<String>>>()
        });
        let key = key.map(|columns| match columns.as_slice() {
            [column] => column.clone(),
            columns => format!("ROW({})", columns.join(", ")),
        });
        let collations = relation.columns.iter().map(|column| column.collation.clone()).collect();
        self.names.insert(id, Named { alias, columns, collations, key, placeless });
    }

    fn column(&mut self, column: ColumnRef) -> Result<String> {
        let ColumnIndex::At(at) = column.column else {
            return match self.names.get(&column.relation) {
                Some(named) if named.placeless => Ok("NULL::bigint".to_owned()),
                Some(named) if self.names_rows => Ok(identity(&named.alias)),
                _ => Err(missing("a row's identity")),
            };
        };
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

    /// The columns of a table that is defined.
    fn enter_columns(&mut self, columns: Vec<String>, collations: Vec<Option<Arc<Collation>>>) {
        self.names
            .insert(Text::TABLE, Named { alias: String::new(), columns, collations, key: None, placeless: false });
    }

    /// A column that is declared with this collation.
    fn is_declared(&self, expr: &Expr, collation: &Collation) -> bool {
        let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = &expr.kind else { return false };
        let named = self.names.get(relation).and_then(|named| named.collations.get(*at)?.as_deref());
        named.is_some_and(|declared| declared.oid == collation.oid)
    }

    /// A value that PostgreSQL cannot work out: it is told, where no row decides it.
    fn ask(&mut self, expr: &Expr, error: Error) -> Result<String> {
        let (Some(asked), Condition::FeatureNotSupported) = (&mut self.asked, error.condition()) else {
            return Err(error);
        };
        let hangs_on_rows = |part: &Expr| {
            !matches!(
                part.kind,
                ExprKind::Literal(_)
                    | ExprKind::Param(_)
                    | ExprKind::Call { .. }
                    | ExprKind::Cast { .. }
                    | ExprKind::Compare { .. }
                    | ExprKind::Distinct { .. }
                    | ExprKind::And(_)
                    | ExprKind::Or(_)
                    | ExprKind::Not(_)
                    | ExprKind::IsNull { .. }
                    | ExprKind::IsTruth { .. }
                    | ExprKind::Like { .. }
                    | ExprKind::InList { .. }
                    | ExprKind::Case { .. }
                    | ExprKind::Coalesce(_)
                    | ExprKind::NullIf(..)
                    | ExprKind::Greatest(_)
                    | ExprKind::Least(_)
                    | ExprKind::Row(_)
                    | ExprKind::Array(_)
            )
        };
        let Ok(words) = type_words(&expr.ty) else { return Err(error) };
        if crate::ir::walk::any(expr, hangs_on_rows) {
            return Err(error);
        }
        let known = self.known;
        let varies = |part: &Expr| {
            functions::routine(part).is_some_and(|oid| !known.is_some_and(|known| known.answers_alike(oid)))
        };
        if self.has_rows && crate::ir::walk::any(expr, mysql::varies) {
            return Err(error);
        }
        if self.has_rows && crate::ir::walk::any(expr, varies) {
            let message = "a routine that is to be called for each row, outside of the select list";
            return Err(missing(message).hint("Declare it WITH (NOT VARIANT) where it answers alike each time."));
        }
        let at = self.params.len() + asked.len();
        asked.push(expr.clone());
        Ok(format!("{}::{words}", self.parameter(at)))
    }

    /// A parameter, by its number among the statement's own and those behind them.
    fn parameter(&mut self, at: usize) -> String {
        if self.known.is_none() {
            return format!("${}", at + 1);
        }
        let place = self.told.iter().position(|told| *told == at).unwrap_or_else(|| {
            self.told.push(at);
            self.told.len() - 1
        });
        format!("${}", place + 1)
    }

    /// The name of the sequence that a function is asked about, as a value; `None` where nobody knows it.
    fn sequence(&self, args: &[Expr]) -> Option<String> {
        let ExprKind::Literal(Value::Integer(oid)) = &args.first()?.kind else { return None };
        let name = self.known?.sequence(u32::try_from(*oid).ok()?)?;
        Some(format!("{}::regclass", text(&name_of(&name))))
    }

    /// What stands before the name of a table that is read or changed.
    fn only(&self) -> &'static str {
        if self.manner.with_heirs { "" } else { "ONLY " }
    }

    /// What stands behind an expression by which rows are ordered.
    fn order_of(&self, ty: &Type) -> &'static str {
        if self.manner.by_code_points && !self.manner.mysql && ty.is_text() { " COLLATE \"C\"" } else { "" }
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
