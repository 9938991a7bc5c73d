//! Names bound, types decided.

mod access;
mod call;
mod casts;
mod coerce;
mod ddl;
mod dml;
mod expr;
mod functions;
mod hierarchy;
mod merge;
mod numbers;
mod outer;
mod query;
mod routine;
mod scope;
mod set_operation;
#[cfg(test)]
mod tests;
mod texts;
mod through_view;
mod trigger;
mod with;

use super::Statement;
use super::ast::{Ast, ObjectName};
use super::lexer::position;
use super::parser::{DELIMITED, Parser};
use crate::access::{Needs, Privileges};
use crate::bind::inside::{Inside, Misplaced};
use crate::bind::view::Views;
use crate::informix::values::DateFormat;
use crate::ir::{self, CteId, Expr, Ids, OutputColumn, RelId, SetVariable, Text, Transaction, TransactionModes};
use crate::plan::{Bound, Effects, ResultColumn};
use crate::schema::{QualifiedName, Relation};
use crate::uses::Uses;
use crate::{Condition, Error, Language, Result, Schema, Type};
use scope::Scope;
use std::sync::Arc;

/// What a statement's meaning depends on besides the schema.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// What USER says.
    pub user: String,
    /// The open database.
    pub database: String,
    /// The database of names that say none, where that is another one: whose statement changes a table of this one.
    pub asked_from: Option<String>,
    /// What DBSERVERNAME and SITENAME say.
    pub server: String,
    /// A character may have several bytes, and strings are as long as their bytes: the client's code set is UTF-8.
    pub multibyte: bool,
    /// The form of dates in text, where the client has said so.
    pub dates: Option<DateFormat>,
    /// What has no effect here is refused, and not passed over.
    pub strict: bool,
}

pub(super) struct Binder<'a> {
    schema: &'a dyn Schema,
    context: &'a Context,
    text: &'a str,
    /// Quotes of the text delimit names.
    delimited: bool,
    ids: Ids,
    params: Vec<Option<Type>>,
    /// Innermost last.
    scopes: Vec<Scope>,
    ctes: Vec<(String, CteId, Vec<OutputColumn>)>,
    /// Hierarchical queries whose clauses are being bound, innermost last.
    hierarchies: Vec<hierarchy::Hierarchy>,
    /// What stands behind PRIOR in the condition that is being bound.
    prior: Vec<super::ast::Node>,
    /// What is being bound was bound before: what it names is known.
    again: bool,
    /// Relations named since somebody last looked, for old outer joins.
    touched: Vec<RelId>,
    effects: Effects,
    notices: Vec<Error>,
    /// What may stand in the clause being bound.
    place: Place,
    /// Views being expanded, to stop at one that contains itself.
    views: Vec<u32>,
    /// The views that are named, by the numbers of their queries.
    shown_views: Vec<(ir::RelId, Arc<Relation>)>,
    /// The statement is INSERT, UPDATE or DELETE: the routines that it calls change nothing themselves.
    changes_data: bool,
    /// What the text itself names, when somebody wants to know.
    uses: Option<Uses>,
    /// What the statement does with its relations.
    needs: Needs,
}

/// Binds a parsed statement against the schema.
///
/// `params` are types that somebody has declared for the first parameters; Informix clients declare none, so that each
/// is typed by its place.
///
/// # Errors
/// -206, -217 and so on for names that do not exist, -201 for a parameter whose type no place decides, conversion errors
/// for literals that do not fit, each with its position.
pub fn bind(parsed: &Statement, schema: &dyn Schema, context: &Context, params: &[Option<Type>]) -> Result<Bound> {
    let mut declared = params.to_vec();
    declared.resize(parsed.params.max(params.len()), None);
    let mut binder = Binder::new(schema, context, &parsed.text, declared);
    binder.delimited = parsed.delimited;
    for what in &parsed.idle {
        binder.without_effect(what)?;
    }
    let (statement, columns) = binder.statement(&parsed.ast)?;
    let params = binder.params.into_iter().map(|ty| ty.unwrap_or(Type::Lvarchar(super::types::LVARCHAR_MAX))).collect();
    let needs = if matches!(statement, ir::Statement::Ddl(_)) { Needs::default() } else { binder.needs };
    Ok(Bound {
        inside: Vec::new(),
        statement,
        params,
        columns,
        effects: binder.effects,
        generation: schema.generation(),
        needs,
        notices: binder.notices,
    })
}

/// The other database whose table a statement changes; none where it changes nothing, or what is here.
///
/// # Errors
/// Those of a database that cannot be reached.
pub fn changes_elsewhere(parsed: &Statement, schema: &dyn Schema, context: &Context) -> Result<Option<String>> {
    let table = match &parsed.ast {
        Ast::Insert { table, .. } | Ast::Update { table, .. } | Ast::Delete { table, .. } => table,
        Ast::Merge(merge) => &merge.table,
        _ => return Ok(None),
    };
    let binder = Binder::new(schema, context, &parsed.text, Vec::new());
    let found = binder.placed(binder.look_up(table), table.at)?;
    Ok(found.and_then(|found| found.elsewhere).map(|(database, _)| database))
}

/// Binds an expression over a table's columns (a default, a check, an index key) from its text.
///
/// Columns have the relation id [`Text::TABLE`]; the result is of type `target` when one is given.
pub fn expression(
    text: &str,
    schema: &dyn Schema,
    context: &Context,
    table: &Relation,
    target: Option<&Type>,
) -> Result<Expr> {
    let node = Parser::new(text)?.whole_expression()?;
    let mut binder = Binder::new(schema, context, text, Vec::new());
    binder.scopes.push(Scope::of_table(Text::TABLE, table));
    match target {
        Some(target) => binder.default_of(&node, target),
        None => binder.expr(&node),
    }
}

/// The query behind a view made in Informix SQL, bound for a statement of another dialect: `ids`, `views` and `needs` are
/// that statement's.
pub(crate) fn view_query(
    definition: &str,
    schema: &dyn Schema,
    database: &str,
    ids: &mut Ids,
    views: &mut Vec<u32>,
    needs: &mut Needs,
) -> Result<ir::Query> {
    let context = Context { database: database.to_owned(), ..Context::default() };
    let mut binder = Binder::new(schema, &context, definition, Vec::new());
    std::mem::swap(&mut binder.ids, ids);
    std::mem::swap(&mut binder.views, views);
    std::mem::swap(&mut binder.needs, needs);
    let query = binder.view(definition);
    std::mem::swap(&mut binder.ids, ids);
    std::mem::swap(&mut binder.views, views);
    std::mem::swap(&mut binder.needs, needs);
    query
}

/// An expression that a schema keeps as text, after a column of its table has got another name; `None` when the text
/// names it in a way that cannot be changed.
///
/// # Errors
/// As for any expression.
pub fn renamed_in_expression(
    text: &str,
    table: &Arc<Relation>,
    column: usize,
    to: &str,
    schema: &dyn Schema,
    context: &Context,
) -> Result<Option<String>> {
    let node = Parser::new(text)?.whole_expression()?;
    let mut binder = Binder::new(schema, context, text, Vec::new());
    binder.uses = Some(Uses::of_table(table));
    binder.scopes.push(Scope::of_table(Text::TABLE, table));
    // A check is a condition, the others are values.
    binder.expr(&node).or_else(|_| binder.condition(&node))?;
    let uses = binder.uses.take().unwrap_or_default();
    Ok(uses.with_column_renamed(text, table.oid, column, to, &|name| name.to_owned()))
}

/// What the text of a view names.
///
/// # Errors
/// As for any query.
pub fn uses(definition: &str, schema: &dyn Schema, context: &Context) -> Result<Uses> {
    let mut binder = Binder::new(schema, context, definition, Vec::new());
    binder.uses = Some(Uses::default());
    binder.view(definition)?;
    Ok(binder.uses.take().unwrap_or_default())
}

/// The columns that Informix describes for a statement without a result: an INSERT's target columns, an UPDATE's SET
/// columns. A query's and a routine's are in [`Bound::columns`].
pub fn described(bound: &Bound) -> Vec<ResultColumn> {
    let ir::Statement::Dml(dml) = &bound.statement else { return bound.columns.clone() };
    let columns: Vec<usize> = match &dml.action {
        ir::DmlAction::Insert { columns, .. } => columns.clone(),
        ir::DmlAction::Update { assignments, .. } => assignments.iter().map(|(column, _)| *column).collect(),
        ir::DmlAction::Delete { .. } => Vec::new(),
    };
    columns
        .into_iter()
        .filter_map(|at| {
            let column = dml.target.columns.get(at)?;
            Some(ResultColumn {
                name: column.name.clone(),
                ty: column.ty.clone(),
                origin: Some((dml.target.oid, at)),
                not_null: column.not_null,
                identity: column.identity.is_some(),
                listed: None,
            })
        })
        .collect()
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The clause has aggregates.
    aggregates: bool,
    /// The clause has window functions.
    windows: bool,
    inside: Inside,
}

impl Place {
    /// The select list, and ORDER BY.
    const RESULT: Self = Self { aggregates: true, windows: true, inside: Inside { aggregate: false, window: false } };
    const HAVING: Self = Self { windows: false, ..Self::RESULT };
}

/// A relation, and where it is.
struct Found {
    relation: Arc<Relation>,
    /// The other database that it belongs to.
    elsewhere: Option<(String, Arc<dyn Schema>)>,
}

/// Finds a relation by its own name.
fn by_name(schema: &dyn Schema, name: &ObjectName) -> Option<Arc<Relation>> {
    let find = |owner: Option<&str>| {
        schema.relation(&QualifiedName { schema: owner.map(str::to_owned), name: name.name.clone() })
    };
    // Every user sees one set of tables, as in a database that is not in ANSI mode; an owner who is named has to be right.
    let of = |owner: &str| {
        find(None).filter(|found| found.namespace.eq_ignore_ascii_case(owner) || schema.is_owned_by(found.oid, owner))
    };
    match name.owner.as_deref() {
        Some(owner @ "informix") => find(Some(owner)).or_else(|| of(owner)),
        Some(owner) => of(owner).or_else(|| find(Some(owner))),
        None => find(None).or_else(|| find(Some("informix"))),
    }
}

impl Views for Binder<'_> {
    fn views(&mut self) -> &mut Vec<u32> {
        &mut self.views
    }

    fn needs(&mut self) -> &mut Needs {
        &mut self.needs
    }

    fn ids(&mut self) -> &mut Ids {
        &mut self.ids
    }

    fn reads_view(&mut self, view: &Arc<Relation>) {
        self.need(ir::Text::TABLE, view, Privileges::SELECT);
    }
}

impl<'a> Binder<'a> {
    /// The database as the statement sees it.
    pub(super) fn schema(&self) -> &'a dyn Schema {
        self.schema
    }

    /// The statement changes the schema.
    pub(super) fn changes_schema(&mut self) {
        self.effects.writes = true;
        self.effects.schema = true;
    }

    fn new(schema: &'a dyn Schema, context: &'a Context, text: &'a str, params: Vec<Option<Type>>) -> Self {
        Self {
            schema,
            context,
            text,
            delimited: false,
            ids: Ids::default(),
            params,
            scopes: Vec::new(),
            ctes: Vec::new(),
            hierarchies: Vec::new(),
            prior: Vec::new(),
            again: false,
            touched: Vec::new(),
            effects: Effects::default(),
            notices: Vec::new(),
            views: Vec::new(),
            shown_views: Vec::new(),
            place: Place::default(),
            changes_data: false,
            uses: None,
            needs: Needs::default(),
        }
    }

    /// Refuses an aggregate, or what is computed over a window, where it cannot stand.
    fn check_stands(&self, windowed: bool, at: usize) -> Result<()> {
        let Place { aggregates, windows, inside } = self.place;
        let found = if windowed { inside.window_here(windows) } else { inside.aggregate_here(aggregates) };
        found.map_err(|misplaced| match misplaced {
            Misplaced::Aggregate | Misplaced::NestedAggregate => {
                self.error(Condition::MisplacedAggregate, "an aggregate cannot stand here", at)
            }
            Misplaced::NestedWindow => self.error(Condition::WindowingError, "OLAP functions cannot be nested", at),
            Misplaced::Window | Misplaced::WindowInAggregate => {
                self.error(Condition::WindowingError, "an OLAP function cannot stand here", at)
            }
        })
    }

    /// Binds what stands in the arguments of an aggregate, or of what is computed over a window.
    fn inside_call<T>(&mut self, windowed: bool, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let place = self.place;
        self.place.inside = place.inside.of_call(windowed);
        let bound = bind(self);
        self.place = place;
        bound
    }

    /// A part of the text that is kept, which says how its quotes are to be read.
    fn kept(&self, (start, end): (usize, usize)) -> String {
        let text = self.text[start..end].trim();
        match self.delimited && text.contains('"') {
            true => format!("{text}{DELIMITED}"),
            false => text.to_owned(),
        }
    }

    /// Notes that a relation is used, for the check of privileges.
    fn need(&mut self, id: RelId, relation: &Arc<Relation>, privileges: Privileges) {
        let behind = crate::access::behind(self.schema, &self.views);
        self.needs.add(id, relation, behind, privileges);
    }

    /// Notes what the text names; nothing of what stands behind a view.
    fn note(&mut self, add: impl FnOnce(&mut Uses)) {
        if self.views.is_empty()
            && !self.again
            && let Some(uses) = &mut self.uses
        {
            add(uses);
        }
    }

    pub(super) fn error(&self, condition: Condition, message: impl Into<String>, at: usize) -> Error {
        Error::new(condition, message).at(position(self.text, at))
    }

    /// The statement says what has no effect here: a remark, or an error where nothing of the kind is to be taken.
    pub(super) fn without_effect(&mut self, what: &str) -> Result<()> {
        if self.context.strict {
            let hint = "The server was started with --compat strict; with --compat lenient it is passed over.";
            return Err(Error::unsupported(format!("{what}, which has no effect here,")).hint(hint));
        }
        self.notices.push(Error::new(Condition::Warning, format!("{what} has no effect here")));
        Ok(())
    }

    pub(super) fn placed<T>(&self, result: Result<T>, at: usize) -> Result<T> {
        result.map_err(|error| error.at(position(self.text, at)))
    }

    fn unsupported<T>(&self, feature: &str, at: usize) -> Result<T> {
        Err(Error::unsupported(feature).at(position(self.text, at)))
    }

    /// Finds a table, view or catalog table of the open database.
    fn relation(&self, name: &ObjectName) -> Result<Arc<Relation>> {
        let found = self.found(name)?;
        match found.elsewhere {
            None => Ok(found.relation),
            Some((database, _)) => {
                self.unsupported(&format!("this statement about a table of another database ({database})"), name.at)
            }
        }
    }

    /// Finds what a query may read, in the open database or in another one.
    fn found(&self, name: &ObjectName) -> Result<Found> {
        let found = self.placed(self.look_up(name), name.at)?;
        if found.as_ref().is_some_and(|found| found.relation.is_partitioned()) {
            return Err(Error::unsupported("a partitioned table of PostgreSQL's"));
        }
        found.ok_or_else(|| {
            self.error(
                Condition::UndefinedTable,
                format!("the specified table ({}) is not in the database", name.name),
                name.at,
            )
            .table(name.owner.clone().unwrap_or_default(), name.name.clone())
        })
    }

    /// A relation of the open database.
    fn find_relation(&self, name: &ObjectName) -> Option<Arc<Relation>> {
        let found = self.look_up(name).ok()??;
        found.elsewhere.is_none().then_some(found.relation)
    }

    /// Refuses the name of another server.
    fn check_server(&self, name: &ObjectName) -> Result<()> {
        const CANNOT_CONNECT: i16 = -908;
        match &name.server {
            Some(server) if !server.eq_ignore_ascii_case(&self.context.server) => Err(Error::new(
                Condition::ConnectionFailure,
                format!("the server {server} cannot be reached from here: this one is {}", self.context.server),
            )
            .codes(CANNOT_CONNECT, 0)),
            _ => Ok(()),
        }
    }

    /// The database that a name is of.
    fn database_of<'n>(&'n self, name: &'n ObjectName) -> &'n str {
        self.database_or_own(name.database.as_deref())
    }

    /// The database that is named, or that of names that say none.
    fn database_or_own<'n>(&'n self, named: Option<&'n str>) -> &'n str {
        // A view's text speaks of its own database.
        let asked_from = self.context.asked_from.as_deref().filter(|_| self.views.is_empty());
        named.or(asked_from).unwrap_or(&self.context.database)
    }

    /// The routines of users that a call means are those of the open database. Those of others cannot be called, and the
    /// built-in ones are there in each.
    fn is_own_routine(&self, database: Option<&str>) -> bool {
        self.database_or_own(database) == self.context.database
    }

    fn look_up(&self, name: &ObjectName) -> Result<Option<Found>> {
        self.check_server(name)?;
        let database = self.database_of(name);
        if database == "sysmaster" {
            let catalog = QualifiedName::new("sysmaster", name.name.clone());
            if let Some(relation) = self.schema.relation(&catalog) {
                return Ok(Some(Found { relation, elsewhere: None }));
            }
        }
        let own = database == "sysmaster" || database == self.context.database;
        let elsewhere = match own {
            true => None,
            false => Some((database.to_owned(), self.schema.neighbour(database)?)),
        };
        let schema = elsewhere.as_ref().map_or(self.schema, |(_, schema)| &**schema);
        let synonym = QualifiedName::bare(name.name.clone());
        let by_synonym = || schema.relation(&schema.synonym(&synonym)?);
        if let Some(relation) = by_name(schema, name).or_else(by_synonym) {
            let elsewhere = elsewhere.filter(|_| relation.is_elsewhere());
            return Ok(Some(Found { relation, elsewhere }));
        }
        let Some((database, target)) = schema.synonym_elsewhere(&synonym) else { return Ok(None) };
        if database == self.context.database {
            let relation = self.schema.relation(&target);
            return Ok(relation.map(|relation| Found { relation, elsewhere: None }));
        }
        let schema = self.schema.neighbour(&database)?;
        let relation = schema.relation(&target);
        Ok(relation.map(|relation| Found { relation, elsewhere: Some((database, schema)) }))
    }

    fn statement(&mut self, ast: &Ast) -> Result<(ir::Statement, Vec<ResultColumn>)> {
        use ir::Statement as S;
        let statement = match ast {
            Ast::Query(query) if query.into.is_some() => self.select_into(query)?,
            Ast::Query(query) => {
                self.effects.reads = true;
                let (mut query, columns) = self.top_query(query)?;
                if !query.locking.is_empty() {
                    super::position::add(&mut query);
                }
                return Ok((S::Query(Box::new(query)), columns));
            }
            Ast::Insert { .. } | Ast::Update { .. } | Ast::Delete { .. } => {
                self.effects.reads = true;
                self.effects.writes = true;
                self.changes_data = true;
                self.dml(ast)?
            }
            Ast::Merge(merge) => {
                self.effects.reads = true;
                self.effects.writes = true;
                self.merge(merge)?
            }
            Ast::Execute { name, args } => {
                self.effects.reads = true;
                return self.execute_routine(name, args);
            }
            Ast::Begin => self.transaction(Transaction::Begin(TransactionModes::default())),
            Ast::Commit => self.transaction(Transaction::Commit { chain: false }),
            Ast::Rollback(None) => self.transaction(Transaction::Rollback { chain: false }),
            Ast::Rollback(Some(name)) => self.transaction(Transaction::RollbackTo(name.clone())),
            Ast::Savepoint(name) => self.transaction(Transaction::Savepoint(name.clone())),
            Ast::ReleaseSavepoint(name) => self.transaction(Transaction::Release(name.clone())),
            Ast::SetIsolation(isolation) => self.transaction(Transaction::SetModes {
                session: true,
                modes: TransactionModes { isolation: Some(*isolation), ..TransactionModes::default() },
            }),
            Ast::SetTransaction(modes) => self.transaction(Transaction::SetModes { session: false, modes: *modes }),
            Ast::SetLockMode(seconds) => S::Set(SetVariable {
                name: Some("lock_timeout".into()),
                // The engine's variable counts milliseconds, and zero is for ever.
                values: Some(vec![match seconds {
                    None => "0".into(),
                    Some(0) => "1".into(),
                    Some(seconds) => seconds.saturating_mul(1_000).to_string(),
                }]),
                reset: false,
                local: false,
            }),
            Ast::SetEncryption { password, hint, at } => {
                let wrong = |message: &str| self.error(Condition::InvalidParameterValue, message, *at);
                if !(6..=128).contains(&password.len()) {
                    return Err(wrong("a password has 6 to 128 bytes"));
                }
                if hint.len() > super::values::encrypted::HINT {
                    return Err(wrong("a hint has up to 32 bytes"));
                }
                S::Set(SetVariable {
                    name: Some("informix.encryption_password".into()),
                    values: Some(vec![format!("{}\n{hint}{password}", hint.len())]),
                    reset: false,
                    local: false,
                })
            }
            Ast::SetConstraints { names, deferred } => S::SetConstraints {
                names: names.iter().map(|name| QualifiedName::bare(name.name.clone())).collect(),
                deferred: *deferred,
            },
            Ast::UpdateStatistics(table) => {
                let tables = table.as_ref().map(|name| self.relation(name)).transpose()?;
                let (tables, skipped) = (tables.into_iter().collect::<Vec<_>>(), Vec::new());
                S::Maintain(ir::Maintenance::Analyze { all: tables.is_empty(), tables, skipped })
            }
            Ast::Access(access) => self.access(access)?,
            Ast::Role { create, name, lenient } => self.role_change(*create, name, *lenient)?,
            Ast::User { name, change } => self.user_change(name, change),
            Ast::SetRole { name, default } => self.set_role(name.as_deref(), *default)?,
            Ast::SetOther { tag, .. } | Ast::Nothing { tag, .. } => S::Nothing { tag },
            // Who only reads sees what was committed last and asks for no lock, so EXCLUSIVE is not in its way.
            Ast::LockTable(name, exclusive) => S::Lock(ir::LockTable {
                relations: vec![self.relation(name)?],
                mode: if *exclusive { ir::LockMode::Exclusive } else { ir::LockMode::Share },
                nowait: false,
            }),
            Ast::UnlockTable(name) => {
                self.relation(name)?;
                S::Nothing { tag: "UNLOCK TABLE" }
            }
            Ast::CreateTable(_)
            | Ast::CreateIndex { .. }
            | Ast::CreateView { .. }
            | Ast::CreateSequence { .. }
            | Ast::CreateSynonym { .. }
            | Ast::AlterSequence { .. }
            | Ast::RenameOther { .. }
            | Ast::AlterTable { .. }
            | Ast::RenameTable { .. }
            | Ast::RenameColumn { .. }
            | Ast::Drop { .. }
            | Ast::Truncate(_) => {
                self.effects.writes = true;
                self.effects.schema = true;
                self.ddl(ast)?
            }
            Ast::CreateType { name, is_row, ty, if_not_exists } => {
                self.create_type(name, *is_row, ty, *if_not_exists)?
            }
            Ast::DropType { name, if_exists } => self.drop_type(name, *if_exists)?,
            Ast::CreateCast { source, target, implicit, function, if_not_exists, at } => {
                self.create_cast(&crate::informix::casts::NewCast {
                    source,
                    target,
                    implicit: *implicit,
                    function: function.as_ref(),
                    if_not_exists: *if_not_exists,
                    at: *at,
                })?
            }
            Ast::DropCast { source, target, if_exists, at } => self.drop_cast(source, target, *if_exists, *at)?,
            Ast::CreateAggregate { name, parts, if_not_exists } => {
                self.create_aggregate(name, parts, *if_not_exists)?
            }
            Ast::DropAggregate { name, if_exists } => self.drop_aggregate(name, *if_exists)?,
            Ast::CreateRoutine(create) => self.create_routine(create)?,
            Ast::CreateTrigger(create) => self.create_trigger(create)?,
            Ast::SetTriggers { table, names, disabled } => self.set_triggers(table.as_ref(), names, *disabled)?,
            Ast::DropTrigger { name, if_exists } => self.drop_trigger(name, *if_exists)?,
            Ast::DropRoutine { name, function, specific, signature, if_exists } => {
                self.drop_routine(name, *function, *specific, signature.as_deref(), *if_exists)?
            }
            Ast::Database { .. } | Ast::CloseDatabase | Ast::CreateDatabase { .. } | Ast::DropDatabase { .. } => {
                return Err(Error::unsupported("this statement outside an Informix connection"));
            }
        };
        Ok((statement, Vec::new()))
    }

    fn transaction(&mut self, transaction: Transaction) -> ir::Statement {
        self.effects.transaction = true;
        ir::Statement::Transaction(transaction)
    }

    /// The language in which this front end's texts are recorded.
    const LANGUAGE: Language = Language::Informix;
}
