//! From a parsed statement to a bound one.

use std::sync::Arc;

use pg_query::protobuf::node::Node as N;

use super::binder::{Binder, BoundQuery};
use super::parse::Parsed;
use crate::access::Needs;
use crate::ir::{self, Body, ExprKind, Statement, walk};
use crate::no_schema::NoSchema;
use crate::pins::Pins;
use crate::plan::{Bound, Context, Effects, ResultColumn};
use crate::schema::{Relation, RelationKind, Schema};
use crate::uses::NewName;
use crate::{Condition, Error, Result, Type};

/// Binds a statement: names to relations and columns, types by PostgreSQL's rules.
///
/// `params` are the types that the client declared for `$1`, `$2`, …; the others follow from where they stand, and are
/// text where nothing decides.
pub fn bind(parsed: &Parsed, schema: &dyn Schema, context: &Context, params: &[Option<Type>]) -> Result<Bound> {
    let mut binder = Binder::new(parsed, schema, context, params);
    if let Some(bound) = of_accounts(parsed, schema) {
        return Ok(bound);
    }
    binder.notices.extend(std::iter::repeat_with(assignment_warning).take(parsed.assignments()));
    let tree = parsed.tree()?;
    let (mut statement, mut columns) = match binder.statement(&tree) {
        Ok(bound) => bound,
        Err(mut error) => {
            error.notices = std::mem::take(&mut binder.notices);
            return Err(error);
        }
    };
    binder.check_open_params()?;
    if let Statement::Ddl(ddl) = &statement {
        // A definition reads nothing, and what a change of the schema needs is asked when it is made; but for the types that
        // it names, and the function behind an operator.
        let calls = match ddl.as_ref() {
            ir::Ddl::Operator(_) => std::mem::take(&mut binder.needs.functions),
            _ => Default::default(),
        };
        let types = std::mem::take(&mut binder.needs.types);
        binder.needs = Needs { types, functions: calls, ..Needs::default() };
    }
    let params: Vec<Type> = binder.params.iter().map(|param| param.clone().unwrap_or(Type::Text)).collect();
    // What stayed open is text.
    walk::statement_mut(&mut statement, &mut |expr| {
        if expr.ty == Type::Unknown {
            expr.ty = match expr.kind {
                ExprKind::Param(index) => params[index].clone(),
                _ => Type::Text,
            };
        }
        true
    });
    binder.derive_collations(&mut statement)?;
    // What is kept of a definition is PostgreSQL's text, which has none.
    if binder.has_nul && binder.effects.schema {
        return Err(binder.unsupported("a NUL in the text of a definition", -1));
    }
    number_origins(&mut columns, schema);
    if binder.is_mysql() {
        binder.name_default_database(&mut columns);
    }
    Ok(Bound {
        statement,
        params,
        columns,
        effects: binder.effects,
        generation: schema.generation(),
        needs: binder.needs,
        inside: Vec::new(),
        notices: binder.notices,
    })
}

/// What MySQL says of each of the user's variables that is set in an expression.
fn assignment_warning() -> Error {
    let message = "Setting user variables within expressions is deprecated and will be removed in a future release. \
                   Consider alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'.";
    Error::new(Condition::Warning, message).with_mysql(1287, "HY000")
}

/// A change of MySQL's accounts, in which there is nothing to be bound; `None` for other statements.
pub(super) fn of_accounts(parsed: &Parsed, schema: &dyn Schema) -> Option<Bound> {
    let Some(crate::mysql::Control::Account(change)) = parsed.control() else { return None };
    let change = Box::new(ir::AccessChange::Account((**change).clone()));
    Some(Bound {
        statement: Statement::Ddl(Box::new(ir::Ddl::Access { change, tag: "ACCOUNT" })),
        params: Vec::new(),
        columns: Vec::new(),
        effects: Effects { writes: true, schema: true, ..Effects::default() },
        generation: schema.generation(),
        needs: Needs::default(),
        inside: Vec::new(),
        notices: Vec::new(),
    })
}

/// The error of a definition: PostgreSQL does not say where a table stands that is to be changed and is not there.
fn unplaced(node: &N, mut error: crate::Error) -> crate::Error {
    let changes = matches!(
        node,
        N::AlterTableStmt(_)
            | N::RenameStmt(_)
            | N::TruncateStmt(_)
            | N::IndexStmt(_)
            | N::AlterObjectSchemaStmt(_)
            | N::CommentStmt(_)
    );
    if changes && error.condition() == Condition::UndefinedTable && error.message.starts_with("relation ") {
        error.position = None;
    }
    error
}

/// Clients know a table's columns by the numbers that the catalogs have, which count those that have been dropped.
fn number_origins(columns: &mut [ResultColumn], schema: &dyn Schema) {
    let mut known: Option<Arc<Relation>> = None;
    for origin in columns.iter_mut().filter_map(|column| column.origin.as_mut()) {
        if known.as_ref().is_none_or(|known| known.oid != origin.0) {
            known = schema.relation_by_oid(origin.0);
        }
        if let Some(relation) = &known {
            origin.1 = relation.number_of(origin.1) - 1;
        }
    }
}

impl Binder<'_> {
    /// Binds any statement; the columns are those of its result.
    pub(super) fn statement(&mut self, node: &N) -> Result<(Statement, Vec<ResultColumn>)> {
        self.nested(|binder| binder.statement_inner(node))
    }

    fn statement_inner(&mut self, node: &N) -> Result<(Statement, Vec<ResultColumn>)> {
        let bare = |statement: Statement| Ok((statement, Vec::new()));
        if let Some((change, tag)) = self.access(node)? {
            self.effects.schema = true;
            self.effects.writes = true;
            return bare(Statement::Ddl(Box::new(ir::Ddl::Access { change: Box::new(change), tag })));
        }
        if let Some(found) = self.utility(node)? {
            return Ok(found);
        }
        match node {
            N::SelectStmt(select) if select.into_clause.is_some() => bare(self.select_into(select)?),
            N::SelectStmt(select) => {
                let bound = self.query(select, true)?;
                let bound = if self.is_mysql() { self.mysql_rows_shown(bound) } else { self.show_vectors(bound)? };
                Ok((Statement::Query(Box::new(bound.query)), bound.columns))
            }
            N::InsertStmt(_) | N::UpdateStmt(_) | N::DeleteStmt(_) => {
                let modes = self.mysql_modes();
                self.refuses_zero = self.is_mysql() && modes.strict && modes.division_by_zero;
                self.change(node)
            }
            N::MergeStmt(merge) => bare(Statement::Merge(Box::new(self.merge(merge)?))),
            N::CallStmt(call) => self.call_statement(call),
            N::DoStmt(block) => bare(self.do_block(block)?),
            _ => {
                let ddl = self.ddl(node).map_err(|error| unplaced(node, error))?;
                self.effects.schema = true;
                self.effects.writes = true;
                bare(ddl)
            }
        }
    }

    /// Clients see `int2vector` and `oidvector` of the catalogs as PostgreSQL's text, numbers with blanks between, and are
    /// told these types.
    fn show_vectors(&mut self, mut bound: BoundQuery) -> Result<BoundQuery> {
        if let Body::Select(select) = &mut bound.query.body {
            for (index, item) in select.items.iter_mut().enumerate() {
                let Some(ty) = bound.columns[index].origin.and_then(|origin| self.catalogs_own_type(origin)) else {
                    continue;
                };
                if !matches!(ty, Type::Array(_)) {
                    let value = std::mem::replace(item, ir::Expr::null(Type::Text));
                    *item = self.call_named("array_to_string", vec![(value, -1), (ir::Expr::text(" "), -1)], -1)?;
                }
                item.ty = ty.clone();
                bound.columns[index].ty = ty.clone();
                bound.query.columns[index].ty = ty;
            }
        }
        Ok(bound)
    }
}

/// A type from words as a user writes them (`character varying(20)`, `int[]`).
pub fn type_from_words(words: &str) -> Result<Type> {
    type_of_words(words, &NoSchema)
}

/// A type from words as a user writes them, users' own types among them.
///
/// # Errors
/// `42704` for one that does not exist, `0A000` for PostgreSQL's that are not there.
pub fn type_of_words(words: &str, schema: &dyn Schema) -> Result<Type> {
    let undefined = || crate::Error::new(Condition::UndefinedObject, format!("type \"{words}\" does not exist"));
    let name = super::regtype::type_name(words).ok_or_else(undefined)?;
    let context = Context::default();
    let mut binder = Binder::detached(schema, &context);
    binder.resolve_type(&name)
}

/// Binds an expression that a schema keeps as text, over the columns of a relation (id [`ir::Text::TABLE`]).
///
/// Errors: as for any expression; `DataCorrupted` when the text is not an expression.
pub fn bind_stored(
    text: &str,
    relation: &std::sync::Arc<crate::schema::Relation>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<ir::Expr> {
    let mut binder = Binder::detached(schema, context);
    let entry = super::binder::Entry::of_relation(relation, ir::Text::TABLE, None);
    binder.collated = relation.columns.iter().any(|column| column.collation.is_some());
    let mut expr = binder.stored(text, relation.language, vec![entry], super::binder::Clause::Check)?;
    binder.derive_collations_of(&mut expr, &[(ir::Text::TABLE, relation.clone())])?;
    Ok(expr)
}

/// CREATE TABLE … AS EXECUTE with the query of its prepared statement, whose columns' collations the table has.
///
/// # Errors
/// `42601`, `42701` for names that do not fit; `42P22` for a column of no collation.
pub fn table_of_prepared(
    create: &ir::CreateTableOfPrepared,
    query: ir::Query,
    schema: &dyn Schema,
    context: &Context,
) -> Result<ir::CreateTableAs> {
    let mut statement = Statement::CreateTableAs(Box::new(create.of_query(query)?));
    let mut binder = Binder::detached(schema, context);
    binder.collated = true;
    binder.derive_collations(&mut statement)?;
    match statement {
        Statement::CreateTableAs(create) => Ok(*create),
        _ => Err(crate::Error::internal("a table of a query that is none")),
    }
}

/// Binds a column's default from its text, as a value of the column.
///
/// # Errors
/// As for any expression; `DataCorrupted` when the text is not an expression.
pub fn bind_default(text: &str, ty: &Type, schema: &dyn Schema, context: &Context) -> Result<ir::Expr> {
    let mut binder = Binder::detached(schema, context);
    let language = crate::Language::Postgres;
    let value = binder.stored(text, language, Vec::new(), super::binder::Clause::Default)?;
    let mut value = as_column(&mut binder, value, "default", ty)?;
    binder.derive_collations_of(&mut value, &[])?;
    Ok(value)
}

/// What the schema computes for a column, as a value of the column's type.
fn as_column(binder: &mut Binder<'_>, value: ir::Expr, what: &str, ty: &Type) -> Result<ir::Expr> {
    let told = super::types::import(ty);
    let value = binder.assign(value, what, &told, -1)?;
    Ok(value.cast(ty.clone(), ir::CastContext::Assignment))
}

/// What the text of a default names.
///
/// # Errors
/// As for any expression.
pub fn uses_of_default(
    text: &str,
    ty: Option<&Type>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<crate::uses::Uses> {
    let mut binder = Binder::detached(schema, context);
    binder.uses = Some(crate::uses::Uses::default());
    let value = binder.stored(text, crate::Language::Postgres, Vec::new(), super::binder::Clause::Default)?;
    // A constant alone is read as what it is a default of.
    if let (Type::Unknown, Some(ty), Some(quote)) = (&value.ty, ty, text.find('\'')) {
        let place = i32::try_from("SELECT ".len() + quote).unwrap_or(-1);
        binder.decide(value, ty, ir::CastContext::Assignment, place)?;
    }
    Ok(binder.uses.take().unwrap_or_default())
}

/// What the text of an expression over a table names: a check, an index's key or predicate, what a column is computed from.
///
/// # Errors
/// As for any expression.
pub fn uses_of_stored(
    text: &str,
    relation: &std::sync::Arc<crate::schema::Relation>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<crate::uses::Uses> {
    let mut binder = Binder::detached(schema, context);
    binder.uses = Some(crate::uses::Uses::of_table(relation));
    let entry = super::binder::Entry::of_relation(relation, ir::Text::TABLE, None);
    binder.stored(text, relation.language, vec![entry], super::binder::Clause::Check)?;
    Ok(binder.uses.take().unwrap_or_default())
}

/// Binds what a generated column is computed from, as a value of the column; columns have the relation id
/// [`ir::Text::TABLE`].
///
/// # Errors
/// As for any expression; `DataCorrupted` when the text is not an expression.
pub fn bind_generated(
    text: &str,
    ty: &Type,
    relation: &std::sync::Arc<crate::schema::Relation>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<ir::Expr> {
    let mut binder = Binder::detached(schema, context);
    // By its rules the value becomes one of the column, too.
    binder.language = relation.language;
    let entry = super::binder::Entry::of_relation(relation, ir::Text::TABLE, None);
    binder.collated = relation.columns.iter().any(|column| column.collation.is_some());
    let value = binder.stored(text, relation.language, vec![entry], super::binder::Clause::Generated)?;
    let rules = binder.follow(relation.language);
    let value = as_column(&mut binder, value, "generated", ty);
    binder.follow(rules);
    let mut value = value?;
    binder.derive_collations_of(&mut value, &[(ir::Text::TABLE, relation.clone())])?;
    Ok(value)
}

/// Binds a parameter's default, which sees nothing of the statement around, as a value of its type.
pub(super) fn bind_default_of(binder: &mut Binder<'_>, text: &str, ty: &Type) -> Result<ir::Expr> {
    let scopes = std::mem::take(&mut binder.scopes);
    let source = binder.source.take();
    let variables = binder.variables.take();
    let value = binder.stored(text, crate::Language::Postgres, Vec::new(), super::binder::Clause::Default);
    let value = value.and_then(|value| {
        let from = super::types::words(&value.ty);
        binder.try_coerce(value, ty, ir::CastContext::Assignment, -1)?.map_err(|_| {
            let message = format!("argument of DEFAULT must be type {}, not type {from}", super::types::words(ty));
            crate::Error::new(Condition::DatatypeMismatch, message)
        })
    });
    binder.scopes = scopes;
    binder.source = source;
    binder.variables = variables;
    value
}

/// An expression that a schema keeps as text, after a column of its relation has got another name; `None` when the text
/// names it in a way that cannot be changed.
///
/// # Errors
/// As for any expression.
pub fn renamed_in_expression(
    text: &str,
    relation: &std::sync::Arc<crate::schema::Relation>,
    column: usize,
    to: &str,
    schema: &dyn Schema,
    context: &Context,
) -> Result<Option<String>> {
    const BEFORE: &str = "SELECT ";
    let mut binder = Binder::detached(schema, context);
    binder.uses = Some(crate::uses::Uses::of_table(relation));
    let entry = super::binder::Entry::of_relation(relation, ir::Text::TABLE, None);
    binder.stored(text, relation.language, vec![entry], super::binder::Clause::Check)?;
    let uses = binder.uses.take().unwrap_or_default();
    let renamed = uses.with_column_renamed(&format!("{BEFORE}{text}"), relation.oid, column, to, &super::quote_ident);
    Ok(renamed.and_then(|text| text.strip_prefix(BEFORE).map(str::to_owned)))
}

/// Binds a trigger's WHEN from its text, over [`ir::trigger::OLD_ROW`] and [`ir::trigger::NEW_ROW`].
///
/// # Errors
/// As for any expression.
pub fn bind_trigger_condition(
    text: &str,
    relation: &std::sync::Arc<crate::schema::Relation>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<ir::Expr> {
    super::ddl::trigger::bind_condition(&mut Binder::detached(schema, context), text, relation)
}

/// True for the text of a comparison of whole rows, `old.* IS DISTINCT FROM new.*`, whose parts are not shown.
pub fn compares_rows(text: &str) -> bool {
    let is_row = |node: Option<&N>| match node {
        Some(N::ColumnRef(reference)) => {
            matches!(reference.fields.last(), Some(pg_query::protobuf::Node { node: Some(N::AStar(_)) }))
        }
        _ => false,
    };
    let side = |node: &Option<Box<pg_query::protobuf::Node>>| is_row(node.as_ref().and_then(|node| node.node.as_ref()));
    let Ok(statements) = super::raw::parse(&format!("SELECT {text}")) else { return false };
    let Some(N::SelectStmt(select)) = statements.first().map(|statement| &*statement.tree) else { return false };
    let Some(N::ResTarget(target)) = select.target_list.first().and_then(|node| node.node.as_ref()) else {
        return false;
    };
    match target.val.as_deref().and_then(|node| node.node.as_ref()) {
        Some(N::AExpr(compared)) => side(&compared.lexpr) && side(&compared.rexpr),
        _ => false,
    }
}

/// True for the text of a constant, a column or a call, which PostgreSQL prints without parentheses around it.
pub fn stands_alone(text: &str) -> bool {
    let alone = |node: Option<&N>| matches!(node, Some(N::AConst(_) | N::ColumnRef(_) | N::FuncCall(_)));
    let statements = super::raw::parse(&format!("SELECT {text}")).unwrap_or_default();
    statements.first().is_some_and(|statement| match &*statement.tree {
        N::SelectStmt(select) => match select.target_list.as_slice() {
            [pg_query::protobuf::Node { node: Some(N::ResTarget(target)) }] => {
                alone(target.val.as_deref().and_then(|value| value.node.as_ref()))
            }
            _ => false,
        },
        _ => false,
    })
}

/// What a trigger's WHEN names of its relation: the text after a column has got another name, or whether it names one.
///
/// # Errors
/// As for any expression.
pub fn trigger_condition_uses(
    text: &str,
    relation: &std::sync::Arc<crate::schema::Relation>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<crate::uses::Uses> {
    let mut binder = Binder::detached(schema, context);
    binder.uses = Some(crate::uses::Uses::of_rows(relation, &[ir::trigger::OLD_ROW, ir::trigger::NEW_ROW]));
    super::ddl::trigger::bind_condition(&mut binder, text, relation)?;
    let mut uses = binder.uses.take().unwrap_or_default();
    // Columns of `old.*` are named by nobody.
    uses.columns.retain(|column| column.place.is_some());
    Ok(uses)
}

/// What a policy's condition names.
///
/// # Errors
/// As for any expression.
pub fn policy_uses(
    text: &str,
    relation: &std::sync::Arc<crate::schema::Relation>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<crate::uses::Uses> {
    let mut binder = Binder::detached(schema, context);
    super::policies::uses_of_policy(&mut binder, text, relation)
}

/// The text of a view with its relations under the names that they have today; `None` where they cannot be told.
pub fn with_todays_names(
    (definition, language): (&str, crate::Language),
    pins: &Arc<Pins>,
    schema: &dyn Schema,
    context: &Context,
) -> Option<String> {
    let named = uses((definition, language), Some(pins), schema, context).ok()?;
    let of_users =
        named.relations.iter().filter(|named| named.place.is_some() && named.relation.kind != RelationKind::Catalog);
    let names = of_users.map(|named| {
        let relation = &named.relation;
        (relation.oid, NewName { namespace: relation.namespace.clone(), name: Some(relation.name.clone()) })
    });
    let edits = named.renaming(definition, &names.collect(), false, &super::quote_ident)?;
    Some(crate::uses::edited(definition, edits))
}

/// What the text of a view names.
///
/// # Errors
/// As for any query; `DataCorrupted` when the text is none.
pub fn uses(
    (definition, language): (&str, crate::Language),
    pins: Option<&Arc<Pins>>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<crate::uses::Uses> {
    let mut binder = Binder::detached(schema, context);
    binder.uses = Some(crate::uses::Uses::default());
    binder.definition_query("", (definition, language), pins)?;
    Ok(binder.uses.take().unwrap_or_default())
}

/// The query behind a view of ours, bound by itself.
///
/// # Errors
/// As for any query; `DataCorrupted` when the text is none.
pub fn view_body(
    definition: (&str, crate::Language),
    pins: &Arc<Pins>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<ir::Query> {
    Ok(Binder::detached(schema, context).definition_query("", definition, Some(pins))?.query)
}

/// The query behind a view made in PostgreSQL's SQL, bound for a statement of another dialect: `ids`, `views`
/// and `needs` are that statement's.
pub(crate) fn view_query(
    (definition, language, pins): (&str, crate::Language, &Arc<Pins>),
    schema: &dyn Schema,
    database: &str,
    ids: &mut ir::Ids,
    views: &mut Vec<u32>,
    needs: &mut Needs,
) -> Result<ir::Query> {
    let context = Context { user: String::new(), database: database.to_owned(), ..Context::default() };
    let mut binder = Binder::detached(schema, &context);
    binder.asks_policies = true;
    std::mem::swap(&mut binder.ids, ids);
    std::mem::swap(&mut binder.views, views);
    std::mem::swap(&mut binder.needs, needs);
    let bound = binder.definition_query("", (definition, language), Some(pins));
    std::mem::swap(&mut binder.ids, ids);
    std::mem::swap(&mut binder.views, views);
    std::mem::swap(&mut binder.needs, needs);
    Ok(bound?.query)
}
