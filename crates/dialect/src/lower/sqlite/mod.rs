//! The SQLite back end: IR in, SQLite's SQL and what to bind out.
//!
//! - Every base relation is aliased `r<id>`, every derived one too with columns `c0`, `c1`, …, so that names can neither
//!   clash nor be captured.
//! - A value of an exact decimal type comes in two representations (see [`Repr`]): the number that lies in a NUMERIC
//!   column, and canonical text. Comparisons with such a column stay comparisons of the bare column, so that indexes
//!   serve them; everything else computes on text.
//! - A conversion of a parameter happens when it is bound ([`ParamForm`]), that of a literal here, so that the usual
//!   statement calls no function per row.

mod apart;
mod call;
mod cast;
pub mod create_table;
pub mod ddl;
mod dml;
mod expr;
mod from;
mod fused;
mod grouping;
mod hashed;
mod in_order;
mod late;
mod lateral;
mod numbered;
mod ordered_set;
mod query;
mod range_frames;
mod rows;
mod rules;
pub mod said;
mod single;
pub mod spec;
pub mod types;
mod variables;
mod wide;
pub mod window_spec;
mod windowed;

use std::borrow::Cow;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

pub use cast::{ParamForm, native_decimal, no_frame_offset};
pub use expr::{GLOB_OF_LIKE, glob_of_like};
pub use hashed::{COLUMNS_OF_GROUPS, MOST as MOST_GROUPED, ROWS as HASHED, WHOLE as GATHERED};
pub use in_order::{FOUND, Ranged};
pub use rules::rules_words;
pub use windowed::NAME as WINDOWS;

use crate::collation::Collation;
use crate::ir::{CollateRole, ColumnIndex, ColumnRef, CteId, Expr, ExprKind, Query, RelId, Statement};
use crate::plan::Bound;
use crate::scalar::{Order, Scalar};
use crate::schema::Relation;
use crate::user_type::{Labels, UserType};
use crate::{Error, Result, Type};

/// What SQLite runs for a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// One statement in SQLite's SQL.
    pub sql: Arc<str>,
    /// What its parameters `?1`, `?2`, … are.
    pub params: Vec<ParamUse>,
    /// It needs nothing that the `sqlite3` shell has not got.
    pub native: bool,
    /// Object ids of the catalog relations that it reads: who runs it makes them known to SQLite before.
    pub catalogs: Vec<u32>,
    /// The same statement, which fetches rows of some tables in the order in which they lie. It is the faster one where
    /// this one would find them by ranges of an index.
    pub in_order: Option<Box<(Program, Vec<Ranged>)>>,
    /// Virtual tables stand in it. Those without a CREATE are tables of `main` for SQLite: it looks into the file for
    /// them.
    pub virtual_tables: bool,
    /// Tables of the file stand in it.
    pub tables: bool,
}

/// A parameter of the SQLite statement: which of the statement's own, and what becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamUse {
    /// The statement's parameter, from 0.
    pub param: usize,
    /// How its value is bound.
    pub form: ParamForm,
}

/// SQL of an expression that stands alone: in an index, a default, a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// SQLite's SQL.
    pub sql: String,
    /// It needs nothing that the `sqlite3` shell has not got.
    pub native: bool,
}

/// Lowers a query or a data-modifying statement.
///
/// # Errors
/// `0A000` for what SQLite cannot be told, and for statements that are not queries (the engine runs those itself).
pub fn lower(bound: &Bound) -> Result<Program> {
    match &bound.statement {
        Statement::Query(query) => lower_query(query),
        Statement::Dml(dml) => lower_dml(dml),
        _ => Err(Error::internal("only queries and data-modifying statements are lowered")),
    }
}

/// Lowers a query that is part of another statement (CREATE TABLE AS, DECLARE, COPY).
///
/// # Errors
/// As [`lower`].
pub fn lower_query(query: &Query) -> Result<Program> {
    let assignments = variables::count(query);
    let mut lowering = Lowering { assigns: assignments > 0, ..Lowering::default() };
    let (sql, _) = lowering.query(query, Naming::None)?;
    variables::check(assignments, &sql)?;
    let ranged = std::mem::take(&mut lowering.ranged);
    let mut program = lowering.program(sql);
    if !ranged.is_empty() {
        let mut lowering = Lowering { fetches_in_order: true, ..Lowering::default() };
        let (sql, _) = lowering.query(query, Naming::None)?;
        program.in_order = Some(Box::new((lowering.program(sql), ranged)));
    }
    Ok(program)
}

/// Lowers a query whose rows are kept, to be read by other parts of its statement: decimals are texts.
///
/// # Errors
/// As [`lower`].
pub fn lower_kept_query(query: &Query) -> Result<Program> {
    let assignments = variables::count(query);
    let mut lowering = Lowering { assigns: assignments > 0, ..Lowering::default() };
    let (mut sql, reprs) = lowering.query(query, Naming::Positions)?;
    variables::check(assignments, &sql)?;
    if reprs.contains(&Repr::Native) {
        let columns: Vec<String> = (reprs.iter().zip(&query.columns).enumerate())
            .map(|(at, (repr, column))| {
                lowering.decimal_text(Sql { sql: format!("c{at}"), repr: *repr }, &column.ty).sql
            })
            .collect();
        sql = format!("SELECT {} FROM ({sql})", columns.join(", "));
    }
    Ok(lowering.program(sql))
}

/// Lowers a change whose RETURNING is kept as [`lower_kept_query`] says.
///
/// # Errors
/// As [`lower`].
pub fn lower_kept_dml(dml: &crate::ir::Dml) -> Result<Program> {
    let assignments = variables::count_in_change(dml);
    let mut lowering = Lowering { kept: true, assigns: assignments > 0, ..Lowering::default() };
    let sql = lowering.dml(dml)?;
    variables::check(assignments, &sql)?;
    Ok(lowering.program(sql))
}

/// Lowers INSERT, UPDATE or DELETE that is part of another statement (COPY).
///
/// # Errors
/// As [`lower`].
pub fn lower_dml(dml: &crate::ir::Dml) -> Result<Program> {
    let assignments = variables::count_in_change(dml);
    let mut lowering = Lowering { assigns: assignments > 0, ..Lowering::default() };
    let sql = lowering.dml(dml)?;
    variables::check(assignments, &sql)?;
    Ok(lowering.program(sql))
}

/// Lowers a view's query; the SQL's columns have the query's own names.
///
/// # Errors
/// As [`lower`].
pub fn view(query: &Query) -> Result<Lowered> {
    let mut lowering = Lowering { unqualified: true, ..Lowering::default() };
    let (sql, _) = lowering.query(query, Naming::Output)?;
    let program = lowering.program(sql);
    if !program.params.is_empty() {
        return Err(Error::new(crate::Condition::UndefinedParameter, "views cannot have parameters"));
    }
    Ok(Lowered { sql: program.sql.as_ref().to_owned(), native: program.native })
}

/// Lowers an expression over one table (relation [`crate::ir::Text::TABLE`]), whose columns `column` spells.
///
/// # Errors
/// As [`lower`].
pub fn expression(expr: &Expr, column: &dyn Fn(ColumnRef) -> String) -> Result<Lowered> {
    let mut lowering = Lowering { spell: Some(column), unqualified: true, ..Lowering::default() };
    let sql = lowering.expr(expr)?.sql;
    let program = lowering.program(sql);
    if !program.params.is_empty() {
        return Err(Error::new(crate::Condition::UndefinedParameter, "there is no parameter here"));
    }
    Ok(Lowered { sql: program.sql.as_ref().to_owned(), native: program.native })
}

/// Lowers a key or the condition of an index over one table, whose columns `column` spells: as [`expression`], in words
/// that SQLite takes in an index, and with the collation under which it is compared.
///
/// # Errors
/// As [`lower`].
pub fn index_expression(expr: &Expr, column: &dyn Fn(ColumnRef) -> String) -> Result<(Lowered, Option<String>)> {
    let mut lowering = Lowering { spell: Some(column), unqualified: true, steady: true, ..Lowering::default() };
    let lowered = lowering.expr(expr)?;
    let order = collation_of(expr, lowered.repr).map(Cow::into_owned);
    let program = lowering.program(lowered.sql);
    if !program.params.is_empty() {
        return Err(Error::new(crate::Condition::UndefinedParameter, "there is no parameter here"));
    }
    Ok((Lowered { sql: program.sql.as_ref().to_owned(), native: program.native }, order))
}

/// An identifier in SQLite's quotes.
pub fn quote(name: &str) -> String {
    create_table::quote(name)
}

/// A string literal.
pub fn quote_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// How an exact decimal lies in an SQL value; `Plain` for every other type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Repr {
    /// Not a decimal.
    Plain,
    /// INTEGER or REAL from a NUMERIC column; digits behind the point come from the type's scale.
    Native,
    /// Canonical text with all its digits, compared under the `decimal` collation.
    Text,
}

/// SQL of an expression.
#[derive(Clone, Debug)]
struct Sql {
    sql: String,
    repr: Repr,
}

/// Where a relation's columns come from.
enum Source {
    /// A table: columns by their own names behind the qualifier.
    Table { qualifier: String, relation: Arc<Relation> },
    /// A subquery, CTE or function: columns `c<n>`.
    Derived { qualifier: String, reprs: Vec<Repr>, ordinality: Option<usize> },
    /// A relation of a join whose rows are packed: columns `c<n>`, from `first` on, and the row's identity.
    Packed { qualifier: String, reprs: Vec<Repr>, first: usize, row_identity: Option<usize> },
}

/// How a query's columns are named in the SQL.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Naming {
    /// `c0`, `c1`, …: the query is used by another.
    Positions,
    /// The query's own names: a view.
    Output,
    /// Not at all: clients are told names apart.
    None,
}

/// The state of one lowering.
#[derive(Default)]
struct Lowering<'a> {
    sources: HashMap<RelId, Source>,
    ctes: HashMap<CteId, Vec<Repr>>,
    /// Relations in the order of their definition; those from `from_start` on belong to the FROM clause at hand.
    order: Vec<RelId>,
    from_start: usize,
    nullable: HashSet<RelId>,
    params: Vec<ParamUse>,
    foreign: bool,
    catalogs: Vec<u32>,
    virtual_tables: bool,
    tables: bool,
    unqualified: bool,
    /// What RETURNING yields is kept for other parts of the statement.
    kept: bool,
    spell: Option<&'a dyn Fn(ColumnRef) -> String>,
    /// What `spell` spells is no column of a table: decimals are texts.
    spelled_texts: bool,
    /// It stands in an index: functions of users, which are IMMUTABLE there, are called by the name under which SQLite is
    /// told so.
    steady: bool,
    /// It stands where it may not be asked for: nothing of it is computed before the statement runs.
    perhaps: bool,
    /// What yields the groups of a query, and how its columns lie there.
    groups: HashMap<CteId, (String, Vec<Repr>)>,
    /// How many queries have been looked at for groups.
    grouped: u32,
    /// Only some rows of the query at hand are asked for.
    some_groups: bool,
    /// Columns of the query at hand that conditions around it name, each condition no other query's.
    some_columns: HashSet<usize>,
    /// The same of members of WITH, and of FROM.
    cte_columns: HashMap<CteId, HashSet<usize>>,
    asked_columns: HashMap<RelId, HashSet<usize>>,
    /// Windows are SQLite's.
    plain_windows: bool,
    /// Relations whose columns are those of `rf_groups`.
    of_groups: HashSet<RelId>,
    /// Tables that may be read in the order of their rows.
    ranged: Vec<in_order::Ranged>,
    /// They are.
    fetches_in_order: bool,
    /// Members of WITH, and of FROM, of which only some rows are asked for.
    asked_ctes: HashSet<CteId>,
    asked: HashSet<RelId>,
    /// MySQL's: the statement sets variables of the user's.
    assigns: bool,
    /// Subqueries that must stay subqueries.
    fenced: HashMap<RelId, apart::Fence>,
}

impl Lowering<'_> {
    /// Lowers what may not be asked for: a branch of CASE, a later member of COALESCE.
    fn perhaps<T>(&mut self, lower: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.perhaps, true);
        let lowered = lower(self);
        self.perhaps = before;
        lowered
    }

    fn program(self, sql: String) -> Program {
        let Self { mut params, foreign, catalogs, virtual_tables, tables, .. } = self;
        let virtual_tables = virtual_tables || !catalogs.is_empty();
        // Programs are kept as long as their plans are.
        params.shrink_to_fit();
        Program { sql: sql.into(), params, native: !foreign, virtual_tables, tables, catalogs, in_order: None }
    }

    /// Notes that the SQL reads a catalog, which is there while we serve the file.
    fn reads_catalog(&mut self, relation: &Relation) {
        self.needs_us();
        if !self.catalogs.contains(&relation.oid) {
            self.catalogs.push(relation.oid);
        }
    }

    /// Notes that a function of ours stands in a FROM clause.
    fn needs_row_function(&mut self) {
        self.needs_us();
        self.virtual_tables = true;
    }

    /// Notes that the SQL needs a function or collation of ours.
    fn needs_us(&mut self) {
        self.foreign = true;
    }

    fn param(&mut self, param: usize, form: ParamForm) -> String {
        let wanted = ParamUse { param, form };
        let place = self.params.iter().position(|known| *known == wanted).unwrap_or_else(|| {
            self.params.push(wanted);
            self.params.len() - 1
        });
        format!("?{}", place + 1)
    }

    fn column(&self, column: ColumnRef, ty: &Type) -> Result<Sql> {
        if let Some(spell) = self.spell
            && column.relation == crate::ir::Text::TABLE
        {
            let native = ty.storage() == crate::types::Storage::NativeDecimal && !self.spelled_texts;
            let repr = if native { Repr::Native } else { repr_of(ty) };
            return Ok(Sql { sql: spell(column), repr });
        }
        let source = self
            .sources
            .get(&column.relation)
            .ok_or_else(|| Error::internal(format!("relation {} is not in scope", column.relation.0)))?;
        match (source, column.column) {
            (Source::Table { qualifier, relation }, ColumnIndex::At(at)) => {
                let definition = relation.columns.get(at).ok_or_else(|| Error::internal("no such column"))?;
                Ok(Sql { sql: format!("{qualifier}.{}", quote(&definition.name)), repr: stored_repr(relation, at) })
            }
            (Source::Table { qualifier, relation }, ColumnIndex::RowIdentity) => {
                if relation.without_identity {
                    return Err(Error::unsupported(format!(
                        "the row identifier of \"{}\", a table without rowid,",
                        relation.name
                    )));
                }
                Ok(Sql { sql: format!("{qualifier}.rowid"), repr: Repr::Plain })
            }
            (Source::Derived { qualifier, reprs, ordinality }, ColumnIndex::At(at)) => {
                if *ordinality == Some(at) {
                    return Ok(Sql { sql: format!("{qualifier}.ordinality"), repr: Repr::Plain });
                }
                let repr = *reprs.get(at).ok_or_else(|| Error::internal("no such column"))?;
                if self.of_groups.contains(&column.relation) {
                    return Ok(Sql { sql: format!("{qualifier}.{}", hashed::column_of_groups(at, ty)), repr });
                }
                Ok(Sql { sql: format!("{qualifier}.c{at}"), repr })
            }
            (Source::Packed { qualifier, reprs, first, .. }, ColumnIndex::At(at)) => {
                let repr = *reprs.get(at).ok_or_else(|| Error::internal("no such column"))?;
                Ok(Sql { sql: format!("{qualifier}.c{}", first + at), repr })
            }
            (Source::Packed { qualifier, row_identity: Some(at), .. }, ColumnIndex::RowIdentity) => {
                Ok(Sql { sql: format!("{qualifier}.c{at}"), repr: Repr::Plain })
            }
            (Source::Derived { .. } | Source::Packed { .. }, ColumnIndex::RowIdentity) => {
                Err(Error::unsupported("the row identifier of a row that is not a table's"))
            }
        }
    }
}

/// The representation of computed values of a type.
fn repr_of(ty: &Type) -> Repr {
    if ty.is_decimal() { Repr::Text } else { Repr::Plain }
}

/// The representation of a stored column.
fn stored_repr(relation: &Relation, at: usize) -> Repr {
    let ty = &relation.columns[at].ty;
    if !ty.is_decimal() {
        Repr::Plain
    } else if relation.language == crate::Language::Native || ty.storage() == crate::types::Storage::NativeDecimal {
        // In somebody else's file a decimal of any width lies in a NUMERIC column.
        Repr::Native
    } else {
        Repr::Text
    }
}

/// The collation under which values of a type are compared, unless bytes do; in quotes where it is no plain word.
fn collation(ty: &Type, repr: Repr) -> Option<Cow<'static, str>> {
    let plain = match ty.through_domains() {
        _ if repr == Repr::Text => "decimal",
        Type::Interval(_) | Type::QualifiedInterval(_) => "rf_interval",
        Type::TimeTz(_) => "rf_timetz",
        Type::Jsonb => "rf_jsonb",
        // Only MySQL compares documents that lie as they were written.
        Type::Json => "rf_mysql_json",
        Type::Char(0) => types::BLANKS_ASIDE,
        Type::Scalar(scalar, _) => scalar.collation()?,
        Type::Record(_) => "rf_record",
        ty @ Type::User(_) if ty.is_row() => return row_collation(ROW_COLLATION, ty),
        Type::User(user) if user.subtype().is_some() => return range_collation(RANGE_COLLATION, user),
        Type::User(user) => return Some(labels_collation(ENUM_COLLATION, user.labels()?)),
        Type::Array(element) => match element.through_domains() {
            element if element.is_decimal() => "rf_array_decimal",
            Type::Interval(_) | Type::QualifiedInterval(_) => "rf_array_interval",
            Type::TimeTz(_) => "rf_array_timetz",
            Type::Jsonb => "rf_array_jsonb",
            Type::Char(0) => "rf_array_bpchar",
            Type::Scalar(Scalar { order: Order::By { of_arrays, .. }, .. }, _) => of_arrays,
            Type::Record(_) => "rf_array_record",
            ty @ Type::User(_) if ty.is_row() => return row_collation(ROW_ARRAY_COLLATION, ty),
            Type::User(user) if user.subtype().is_some() => return range_collation(RANGE_ARRAY_COLLATION, user),
            Type::User(user) => match user.labels() {
                Some(labels) => return Some(labels_collation(ENUM_ARRAY_COLLATION, labels)),
                None => "rf_array",
            },
            _ => "rf_array",
        },
        _ => return None,
    };
    Some(Cow::Borrowed(plain))
}

/// What the names of collations of Unicode's orders begin with; the version of the orders and a locale follow. The engine
/// makes such a collation when SQLite asks for it. An index is only used by a build with the orders that it was made in:
/// another finds no such collation.
pub const UNICODE_COLLATION: &str = "rf_unicode ";
/// The same of arrays of texts.
pub const UNICODE_ARRAY_COLLATION: &str = "rf_array_unicode ";
pub use crate::collation::unicode::VERSION as UNICODE_VERSION;

/// SQLite's name of a collation for values of a type, in quotes.
fn named_collation(collation: &Collation, ty: &Type) -> String {
    let of_arrays = matches!(ty.through_domains(), Type::Array(_));
    match &collation.order {
        crate::collation::Order::Bytes if of_arrays => "rf_array".to_owned(),
        crate::collation::Order::Bytes => "BINARY".to_owned(),
        crate::collation::Order::Unicode(locale) => {
            let mark = if collation.deterministic { "" } else { crate::collation::unicode::EQUAL };
            let kind = if of_arrays { UNICODE_ARRAY_COLLATION } else { UNICODE_COLLATION };
            quote(&format!("{kind}{UNICODE_VERSION} {mark}{locale}"))
        }
    }
}

/// The collation under which an expression is compared where it stands.
fn collation_of(expr: &Expr, repr: Repr) -> Option<Cow<'static, str>> {
    match &expr.kind {
        ExprKind::Collate { collation, role: CollateRole::Operand { .. }, .. } => {
            Some(named_collation(collation, &expr.ty).into())
        }
        _ => collation(&expr.ty, repr),
    }
}

/// As [`collation_of`] where only equality is asked for: texts of different bytes differ in every order.
fn equality_collation_of(expr: &Expr, repr: Repr) -> Option<Cow<'static, str>> {
    match &expr.kind {
        ExprKind::Collate { collation, role: CollateRole::Operand { against_column }, .. }
            if !collation.deterministic || *against_column =>
        {
            Some(named_collation(collation, &expr.ty).into())
        }
        ExprKind::Collate { role: CollateRole::Operand { .. }, .. } if *expr.ty.through_domains() != Type::Char(0) => {
            None
        }
        _ => equality_collation(&expr.ty, repr),
    }
}

/// The collation under which values of a type are equal, unless bytes tell: labels do, so that indexes serve.
fn equality_collation(ty: &Type, repr: Repr) -> Option<Cow<'static, str>> {
    if ty.through_domains().labels().is_some() { None } else { collation(ty, repr) }
}

/// What the names of collations of enum types begin with. The labels follow in their order, as a JSON array: the engine
/// makes such a collation when SQLite asks for it, knowing nothing but the name, and none ever changes its meaning.
pub const ENUM_COLLATION: &str = "rf_enum ";
/// The same for arrays of enum types.
pub const ENUM_ARRAY_COLLATION: &str = "rf_array_enum ";

/// What the names of collations of row types begin with. The type follows, with its definition.
pub const ROW_COLLATION: &str = "rf_row ";
/// The same for arrays of rows.
pub const ROW_ARRAY_COLLATION: &str = "rf_array_row ";

/// What the names of collations of users' range and multirange types begin with. What the ranges are of follows, as
/// functions are told of it: a name keeps its meaning whatever the range type is called.
pub const RANGE_COLLATION: &str = "rf_range ";
/// The same for arrays of ranges.
pub const RANGE_ARRAY_COLLATION: &str = "rf_array_range ";

fn range_collation(kind: &str, user: &UserType) -> Option<Cow<'static, str>> {
    Some(Cow::Owned(quote(&format!("{kind}{}", crate::user_type::subtype_words(&*user.ordered_subtype()?)))))
}

fn row_collation(kind: &str, ty: &Type) -> Option<Cow<'static, str>> {
    Some(Cow::Owned(quote(&format!("{kind}{}", crate::user_type::told(ty)?))))
}

fn labels_collation(kind: &str, labels: &Labels) -> Cow<'static, str> {
    Cow::Owned(quote(&format!("{kind}{}", labels.texts())))
}
