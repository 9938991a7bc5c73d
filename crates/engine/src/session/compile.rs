//! From text to plan: the front end of the session's language, then the back end.

use std::sync::Arc;

use rowferry_dialect::access::Needs;
use rowferry_dialect::ir::{
    self, AlterTable, Ddl, DmlAction, Maintenance, ObjectKind, Part, PolicyChange, RelationLocks, RoutineKind,
    Statement, TableLock, Transaction, TriggerChange,
};
use rowferry_dialect::pins::Pins;
use rowferry_dialect::plan::{Bound, Command, Effects, ResultColumn};
use rowferry_dialect::schema::{Relation, RelationKind, Schema};
use rowferry_dialect::{Condition, Error, Language, Result, Type, informix, postgres, work};

use super::Session;
use super::triggers::Firing;
use crate::backend::{Backend as _, InUse, Program, Yield};
use crate::memory;
use crate::plans::{PlanKey, next_id};
use crate::routines::direct::{self, Direct};

/// One statement of a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    text: Arc<str>,
    offset: u32,
    source: Source,
    /// About how many bytes of memory it takes.
    size: usize,
}

#[derive(Clone, Debug)]
enum Source {
    /// Informix SQL.
    Informix(Box<informix::Statement>),
    /// PostgreSQL's SQL.
    Postgres(postgres::Parsed),
    /// The same inside a function, whose variables it sees.
    Inside(Box<postgres::Parsed>, Arc<postgres::routine::Variables>),
    /// The back end's own words, which need no front end: statements of our own.
    Native(Arc<Native>),
}

/// A statement in the back end's own words.
#[derive(Debug)]
struct Native {
    params: Vec<Type>,
    columns: Vec<ResultColumn>,
    effects: Effects,
    command: Command,
}

/// A compiled statement, shared through the database's plan cache.
#[derive(Debug)]
pub struct Prepared {
    /// What the front end made of it: parameters, result columns, effects.
    pub bound: Bound,
    /// The word for its completion.
    pub command: Command,
    /// It runs in parts, by programs that are made when it runs.
    pub(crate) in_parts: bool,
    /// What the back end is to run, when it is to run something.
    pub(crate) program: Option<Program>,
    /// The tables and rows that it uses.
    pub(crate) uses: Uses,
    /// For whom it was made; for anybody where that does not matter.
    pub(crate) made_for: Option<MadeFor>,
    /// What triggers have to do with it.
    pub(crate) triggers: Option<Arc<Firing>>,
    /// Under this number sessions keep the back end's statement.
    pub(crate) id: u64,
    /// How it is run when it calls functions of users.
    pub(crate) direct: Option<Direct>,
    /// What it was made from, to make it anew.
    pub(crate) parsed: Parsed,
    pub(crate) declared: Vec<Option<Type>>,
    /// About how many bytes of memory it takes.
    pub(crate) size: usize,
}

/// What a plan's meaning hangs on besides the schema: whose rights it has, and where names without a schema are found.
#[derive(Clone, Debug)]
pub(crate) struct MadeFor {
    user: Arc<str>,
    search_path: Arc<[String]>,
}

/// What a statement locks, and what it changes.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Tables, with the locks that it takes on them.
    pub tables: Vec<TableLock>,
    /// What it drops.
    pub named: Option<RelationLocks>,
    /// Tables whose rows it locks by FOR UPDATE and its kin.
    pub rows: Vec<u32>,
    /// It changes keys.
    pub changes_keys: bool,
    /// Tables of which it changes rows that nobody tells one by one.
    pub whole: Vec<u32>,
    /// What it changes is temporary.
    pub temporary: bool,
    /// Sequences that number the rows that it inserts.
    pub numbering: Vec<u32>,
    /// The table that it numbers rows of by hand.
    pub by_hand: Option<u32>,
}

impl Uses {
    pub fn of(statement: &Statement) -> Self {
        Self {
            tables: ir::table_locks(statement),
            named: ir::named_locks(statement),
            rows: ir::row_locks(statement),
            changes_keys: ir::changes_keys(statement),
            whole: ir::changes_whole(statement),
            temporary: super::temporary::changes_temporary(statement),
            numbering: ir::numbering(statement),
            by_hand: ir::numbered_by_hand(statement),
        }
    }
}

impl Parsed {
    /// The statement's own text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many characters stand before it in the whole text; error positions count from the whole text's beginning.
    pub fn offset(&self) -> u32 {
        self.offset
    }

    /// A statement inside a routine; its text means something there only, so its plan is shared with nobody.
    pub(crate) fn of_routine(statement: informix::Statement) -> Self {
        let (text, offset) = (statement.text().into(), statement.offset().max(1));
        Self { text, offset, source: Source::Informix(Box::new(statement)), size: 0 }
    }

    /// The place of a text for a statement that nobody has written.
    pub(crate) fn of_nothing(name: &str) -> Self {
        let native = Native {
            params: Vec::new(),
            columns: Vec::new(),
            effects: Effects::default(),
            command: Command::Utility(""),
        };
        Self { text: name.into(), offset: 0, source: Source::Native(Arc::new(native)), size: 0 }
    }

    /// A statement inside a function of PostgreSQL's way; its plan is shared with nobody.
    pub(crate) fn inside(statement: postgres::Parsed, variables: Arc<postgres::routine::Variables>) -> Self {
        Self {
            text: statement.text().into(),
            offset: 1,
            source: Source::Inside(Box::new(statement), variables),
            size: 0,
        }
    }

    /// The text that it came in, with what stands around it: what PostgreSQL shows of cursors and statements.
    pub(crate) fn whole_text(&self) -> Arc<str> {
        match &self.source {
            Source::Postgres(statement) => statement.whole().clone(),
            _ => self.text.clone(),
        }
    }

    pub(crate) fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// What the Informix parser knows about it; `None` in other languages.
    pub fn informix(&self) -> Option<&informix::Statement> {
        match &self.source {
            Source::Informix(statement) => Some(statement),
            _ => None,
        }
    }
}

impl Prepared {
    /// True when it yields rows, be they without columns.
    pub fn returns_rows(&self) -> bool {
        matches!(self.bound.statement, Statement::Query(_)) || !self.bound.columns.is_empty()
    }

    /// It is what this user gets, who finds names along this path.
    fn is_for(&self, user: &Arc<str>, search_path: &Arc<[String]>) -> bool {
        self.made_for.as_ref().is_none_or(|made| {
            (Arc::ptr_eq(&made.user, user) || made.user == *user)
                && (Arc::ptr_eq(&made.search_path, search_path) || made.search_path == *search_path)
        })
    }

    /// The back end's words, for messages about our own mistakes and for EXPLAIN.
    pub(crate) fn sql(&self) -> Option<&str> {
        self.program.as_ref().map(|program| program.sql.as_str())
    }
}

impl Session {
    /// Splits a text into its statements; none for an empty text.
    pub fn parse(&mut self, sql: &str) -> Result<Vec<Parsed>> {
        self.supervised(|session| {
            weigh(sql)?;
            match session.respelled(sql)? {
                Some((respelled, rules)) => of_postgres(|| respelled.parse(rules)),
                None => parse(sql, session.language),
            }
        })
    }

    /// A text whose strings mean something else in this session than to the parser, as the parser reads it the same.
    fn respelled(&mut self, sql: &str) -> Result<Option<(postgres::Respelled, postgres::StringRules)>> {
        let rules = self.settings().strings;
        if rules.is_usual() || self.language != Language::Postgres {
            return Ok(None);
        }
        let mut respelled = postgres::respell(sql, rules)?;
        self.state.notices.lock().append(&mut respelled.warnings);
        Ok(Some((respelled, rules)))
    }

    /// Compiles a statement, or finds it in the plan cache; `None` for an empty text.
    ///
    /// `param_types` are the types that the client has declared for the first parameters; `None` leaves one open.
    ///
    /// # Errors
    /// `42601` for more than one statement, and whatever the front end has to say.
    pub fn prepare(&mut self, sql: &str, param_types: &[Option<Type>]) -> Result<Option<Arc<Prepared>>> {
        self.refresh_schema();
        let respelled = self.respelled(sql)?;
        let key = self.plan_key(respelled.as_ref().map_or(sql, |(respelled, _)| &respelled.text).into(), param_types);
        if let Some(plan) = self.database.shared.plans.get(&key) {
            self.check_unaffected(&plan)?;
            return Ok(Some(plan));
        }
        let prepared = self.supervised(|session| {
            weigh(sql)?;
            let mut statements = match &respelled {
                Some((respelled, rules)) => of_postgres(|| respelled.parse(*rules))?,
                None => parse(sql, session.language)?,
            };
            match statements.len() {
                0 => Ok(None),
                1 => session.compile(&statements.remove(0), param_types, Some(key)).map(Some),
                _ => {
                    let message = "cannot insert multiple commands into a prepared statement";
                    Err(Error::new(Condition::SyntaxError, message))
                }
            }
        })?;
        if let Some(plan) = &prepared {
            self.check_unaffected(plan)?;
        }
        Ok(prepared)
    }

    /// Compiles one statement of a text.
    pub fn prepare_parsed(&mut self, parsed: &Parsed, param_types: &[Option<Type>]) -> Result<Arc<Prepared>> {
        self.refresh_schema();
        // Error positions count from the beginning of the whole text, so only a text of its own can share plans.
        let key = (parsed.offset == 0).then(|| self.plan_key(parsed.text.clone(), param_types));
        if let Some(plan) = key.as_ref().and_then(|key| self.database.shared.plans.get(key)) {
            return Ok(plan);
        }
        self.supervised(|session| session.compile(parsed, param_types, key))
    }

    /// Compiles a statement inside a function; [`Bound::inside`] says which variables it needs.
    pub(crate) fn prepare_inside(
        &mut self,
        text: &str,
        variables: Arc<postgres::routine::Variables>,
    ) -> Result<Arc<Prepared>> {
        let mut statements = postgres::parse(text)?;
        if statements.len() != 1 {
            return Err(Error::new(Condition::SyntaxError, "a single statement is expected"));
        }
        let parsed = Parsed::inside(statements.remove(0), variables);
        self.prepare_parsed(&parsed, &[])
    }

    /// A statement in the back end's own words, parameters in order.
    #[doc(hidden)]
    pub fn prepare_native(
        &mut self,
        sql: &str,
        params: &[Type],
        columns: Vec<ResultColumn>,
        effects: Effects,
        command: Command,
    ) -> Result<Arc<Prepared>> {
        let native = Native { params: params.to_vec(), columns, effects, command };
        let parsed = Parsed { text: sql.into(), offset: 0, source: Source::Native(Arc::new(native)), size: sql.len() };
        self.refresh_schema();
        self.compile(&parsed, &[], None)
    }

    /// The plan of a COPY's query, or of its INSERT of one row, whose parameters are the columns.
    pub fn copy_plan(&mut self, prepared: &Arc<Prepared>) -> Result<Arc<Prepared>> {
        self.check_needs(prepared)?;
        let prepared = self.renew(prepared)?;
        let Statement::Copy(copy) = &prepared.bound.statement else {
            return Err(Error::internal("a plan of COPY was asked of another statement"));
        };
        let (statement, columns) = match (&copy.from, &copy.to) {
            (Some(insert), _) => (Statement::Dml(Box::new(insert.clone())), Vec::new()),
            (None, Some(query)) => {
                let origins = copy.origins.iter().copied().chain(std::iter::repeat(None));
                let columns = query.columns.iter().zip(origins).map(|(column, origin)| ResultColumn {
                    name: column.name.clone(),
                    ty: column.ty.clone(),
                    origin,
                    not_null: false,
                    identity: false,
                });
                (Statement::Query(Box::new(query.clone())), columns.collect())
            }
            (None, None) => return Err(Error::internal("a COPY without direction")),
        };
        let bound = Bound { statement, columns, ..prepared.bound.clone() };
        if copy.from.is_some() && prepared.bound.needs.0.iter().any(|need| need.secured.is_some()) {
            return Err(Error::new(Condition::FeatureNotSupported, "COPY FROM not supported with row-level security")
                .hint("Use INSERT statements instead."));
        }
        let plan = self.lower(bound, &prepared.parsed, &prepared.declared)?;
        Ok(Arc::new(plan))
    }

    fn plan_key(&self, text: Arc<str>, param_types: &[Option<Type>]) -> PlanKey {
        PlanKey {
            text,
            language: self.language(),
            search_path: self.schema.search_path.clone(),
            generation: self.schema.generation(),
            user: self.user.clone(),
            literals: self.settings().literal_style(),
            params: param_types.to_vec(),
        }
    }

    /// Binds and lowers. A failure may be due to a schema that somebody else has changed: then it is tried once more.
    fn compile(&mut self, parsed: &Parsed, declared: &[Option<Type>], key: Option<PlanKey>) -> Result<Arc<Prepared>> {
        let before = memory::mark();
        let bound = match self.bind(parsed, declared) {
            Err(error) if self.reload_if_changed()? => self.bind(parsed, declared).map_err(|_| error),
            other => other,
        };
        let mut bound = bound.map_err(|mut error| {
            self.state.notices.lock().append(&mut error.notices);
            error
        })?;
        // What these yield is what the session has under their name.
        match &bound.statement {
            Statement::Fetch { cursor, no_rows: false, .. } => bound.columns = self.columns_of_portal(cursor),
            Statement::ExecutePrepared { name, .. } => bound.columns = self.columns_of_statement(name),
            _ => {}
        }
        let mut plan = self.lower(bound, parsed, declared)?;
        plan.size = parsed.size + memory::since(before);
        let plan = Arc::new(plan);
        if let Some(mut key) = key
            && !is_session_bound(&plan.bound.statement)
        {
            key.generation = self.schema.generation();
            self.database.shared.plans.insert(key, plan.clone());
        }
        Ok(plan)
    }

    /// Makes a plan anew if the schema has moved on since, or if it was made for another user or search path.
    pub(crate) fn renew(&mut self, plan: &Arc<Prepared>) -> Result<Arc<Prepared>> {
        let generation = self.schema.generation();
        if plan.bound.generation == generation && plan.is_for(&self.user, &self.schema.search_path) {
            return Ok(plan.clone());
        }
        let renewed = self.prepare_parsed(&plan.parsed, &plan.declared)?;
        let same = renewed.bound.columns.len() == plan.bound.columns.len()
            && renewed.bound.columns.iter().zip(&plan.bound.columns).all(|(a, b)| a.ty == b.ty)
            && renewed.bound.params == plan.bound.params
            && renewed.bound.inside == plan.bound.inside;
        if same { Ok(renewed) } else { Err(Error::stale_plan()) }
    }

    /// The plan that a statement prepared earlier has now.
    ///
    /// # Errors
    /// `0A000` (`cached plan must not change result type`) when the schema has changed so that its columns or parameters
    /// are others, and what the front end says when it cannot be compiled any more.
    pub fn revalidate(&mut self, plan: &Arc<Prepared>) -> Result<Arc<Prepared>> {
        self.refresh_schema();
        match &plan.bound.statement {
            Statement::Query(_)
            | Statement::Dml(_)
            | Statement::Merge(_)
            | Statement::CallRoutine(_)
            | Statement::CallProcedure(_) => self.renew(plan),
            // They meet the schema when they run.
            _ => Ok(plan.clone()),
        }
    }

    fn bind(&mut self, parsed: &Parsed, declared: &[Option<Type>]) -> Result<Bound> {
        self.bind_in(parsed, declared, &self.schema)
    }

    fn bind_in(&self, parsed: &Parsed, declared: &[Option<Type>], schema: &dyn Schema) -> Result<Bound> {
        match &parsed.source {
            Source::Postgres(statement) => postgres::bind(statement, schema, &self.postgres_context(), declared),
            Source::Inside(statement, variables) => {
                let context = self.postgres_context();
                postgres::routine::bind_inside(statement, schema, &context, variables)
            }
            Source::Informix(statement) => informix::bind(statement, schema, &self.informix_context(), declared),
            Source::Native(native) => Ok(Bound {
                inside: Vec::new(),
                statement: Statement::Nothing { tag: "" },
                params: native.params.clone(),
                columns: native.columns.clone(),
                effects: native.effects,
                generation: schema.generation(),
                needs: Needs::default(),
                notices: Vec::new(),
            }),
        }
    }

    /// What a view's text names.
    pub(super) fn uses(
        &self,
        definition: &str,
        pins: Option<&Arc<Pins>>,
        language: Language,
        schema: &dyn Schema,
    ) -> Result<rowferry_dialect::uses::Uses> {
        match language {
            Language::Informix => informix::uses(definition, schema, &self.informix_context()),
            Language::Postgres | Language::Native => postgres::uses(definition, pins, schema, &self.postgres_context()),
        }
    }

    /// A stored expression over a table's columns with another name for one of them.
    pub(super) fn renamed_in_expression(
        &self,
        text: &str,
        table: &Relation,
        column: usize,
        to: &str,
        schema: &dyn Schema,
    ) -> Result<String> {
        let table = Arc::new(table.clone());
        let renamed = match table.language {
            Language::Informix => {
                informix::renamed_in_expression(text, &table, column, to, schema, &self.informix_context())
            }
            Language::Postgres | Language::Native => {
                postgres::renamed_in_expression(text, &table, column, to, schema, &self.postgres_context())
            }
        }?;
        renamed.ok_or_else(|| Error::unsupported(format!("RENAME of a column that the expression {text} uses,")))
    }

    /// A stored expression over a table's columns.
    pub(super) fn bind_expression(
        &self,
        text: &str,
        table: &Relation,
        schema: &dyn Schema,
    ) -> Result<rowferry_dialect::ir::Expr> {
        match table.language {
            Language::Informix => informix::expression(text, schema, &self.informix_context(), table, None),
            Language::Postgres | Language::Native => {
                postgres::bind_stored(text, &Arc::new(table.clone()), schema, &self.postgres_context())
            }
        }
    }

    /// A domain's CHECK, over its value.
    pub(super) fn bind_domain_check(&self, text: &str, base: &Type, schema: &dyn Schema) -> Result<ir::Expr> {
        postgres::bind_domain_check(text, base, schema, &self.postgres_context())
    }

    /// What stands in a column of a type that nothing is said of, where that is not simply NULL.
    pub(super) fn bind_domain_default(&self, ty: &Type, schema: &dyn Schema) -> Result<Option<ir::Expr>> {
        postgres::bind_domain_default(ty, schema, &self.postgres_context())
    }

    /// WHEN of a trigger.
    pub(super) fn bind_trigger_condition(&self, text: &str, relation: &Arc<Relation>) -> Result<ir::Expr> {
        postgres::bind_trigger_condition(text, relation, &self.schema, &self.postgres_context())
    }

    /// WHEN of a trigger, after a column of its relation has got another name.
    pub(super) fn renamed_in_condition(
        &self,
        text: &str,
        relation: &Relation,
        column: usize,
        to: &str,
        schema: &dyn Schema,
    ) -> Result<String> {
        const BEFORE: &str = "SELECT ";
        let relation = Arc::new(relation.clone());
        let uses = postgres::trigger_condition_uses(text, &relation, schema, &self.postgres_context())?;
        let whole = format!("{BEFORE}{text}");
        let renamed = uses.with_column_renamed(&whole, relation.oid, column, to, &postgres::quote);
        let renamed = renamed.and_then(|text| text.strip_prefix(BEFORE).map(str::to_owned));
        renamed.ok_or_else(|| Error::unsupported(format!("RENAME of a column that the condition {text} uses,")))
    }

    /// True when the WHEN of a trigger names a column of its relation.
    pub(super) fn condition_names(
        &self,
        text: &str,
        relation: &Relation,
        column: usize,
        schema: &dyn Schema,
    ) -> Result<bool> {
        let relation = Arc::new(relation.clone());
        let uses = postgres::trigger_condition_uses(text, &relation, schema, &self.postgres_context())?;
        Ok(uses.names_column(relation.oid, column))
    }

    pub(super) fn postgres_context(&self) -> rowferry_dialect::plan::Context {
        rowferry_dialect::plan::Context {
            user: self.user.to_string(),
            database: self.database.name().to_owned(),
            asks_policies: true,
            literals: self.settings().literal_style(),
        }
    }

    /// How a text is looked at that is kept: for what it is, whoever asks.
    pub(super) fn text_context(&self) -> rowferry_dialect::plan::Context {
        rowferry_dialect::plan::Context { asks_policies: false, ..self.postgres_context() }
    }

    fn informix_context(&self) -> informix::Context {
        let variables = self.state.variables.read();
        informix::Context {
            user: self.user.to_string(),
            database: variables.get("informix.database").unwrap_or_else(|| self.database.name().to_owned()),
            server: variables.get("informix.server").unwrap_or_else(|| "informix".to_owned()),
        }
    }

    /// The query behind a view of ours, bound against a schema.
    pub(super) fn bind_view(&self, view: &Relation, schema: &dyn Schema) -> Result<ir::Query> {
        let RelationKind::View { definition, pins, .. } = &view.kind else {
            return Err(Error::internal("a view without a query"));
        };
        if view.language != Language::Informix {
            return postgres::view_body(definition, pins, schema, &self.postgres_context());
        }
        let statements = parse(definition, view.language)?;
        let [statement] = statements.as_slice() else {
            return Err(Error::internal("a view of more than one statement"));
        };
        match self.bind_in(statement, &[], schema)?.statement {
            Statement::Query(query) => Ok(*query),
            _ => Err(Error::internal("a view of something else than a query")),
        }
    }

    /// The plan of a part of a statement.
    pub(super) fn part_of(
        &self,
        statement: Statement,
        params: Vec<Type>,
        whole: &Prepared,
        program: Program,
    ) -> Result<Arc<Prepared>> {
        let command = command(&statement);
        let columns = match &statement {
            Statement::Dml(dml) => dml.columns.as_slice(),
            _ => &[],
        };
        let columns = (columns.iter())
            .map(|column| ResultColumn {
                name: column.name.clone(),
                ty: column.ty.clone(),
                origin: None,
                not_null: false,
                identity: false,
            })
            .collect();
        let bound = Bound {
            statement,
            params,
            columns,
            effects: whole.bound.effects,
            generation: whole.bound.generation,
            needs: Needs::default(),
            inside: Vec::new(),
            notices: Vec::new(),
        };
        let triggers = match &bound.statement {
            Statement::Dml(dml) => Firing::of(dml, &bound, &whole.parsed, &self.schema)?.map(Arc::new),
            _ => None,
        };
        Ok(Arc::new(Prepared {
            bound,
            command,
            in_parts: false,
            direct: None,
            triggers,
            program: Some(program),
            uses: Uses::default(),
            made_for: None,
            id: next_id(),
            parsed: whole.parsed.clone(),
            declared: Vec::new(),
            size: 0,
        }))
    }

    pub(super) fn lower(&mut self, bound: Bound, parsed: &Parsed, declared: &[Option<Type>]) -> Result<Prepared> {
        let triggers = match &bound.statement {
            Statement::Dml(dml) => Firing::of(dml, &bound, parsed, &self.schema)?.map(Arc::new),
            _ => None,
        };
        // Where triggers look at rows, RETURNING of other relations is no reason to do it otherwise.
        let by_rows = triggers.as_ref().is_some_and(|firing| firing.steps.is_some());
        let in_parts = !by_rows && ir::by_rows::runs_in_parts(&bound.statement);
        let (program, command) = match (&parsed.source, &bound.statement) {
            // Its rows are written one by one.
            (_, Statement::Dml(_)) if by_rows => (None, command(&bound.statement)),
            (Source::Native(native), Statement::Nothing { .. }) => {
                (Some(InUse::native(&parsed.text, bound.params.len())), native.command)
            }
            (_, statement) if in_parts => (None, command(statement)),
            (_, Statement::Query(_) | Statement::Dml(_)) => (Some(InUse::lower(&bound)?), command(&bound.statement)),
            (_, Statement::CallProcedure(call)) => {
                let args = call.args.as_deref().map(|args| InUse::lower_query(args, Yield::Sent)).transpose()?;
                (args, command(&bound.statement))
            }
            (_, Statement::CallRoutine(call)) => {
                let args = call.args.as_deref().map(|args| InUse::lower_query(args, Yield::Sent)).transpose()?;
                (args, command(&bound.statement))
            }
            (_, statement) => (None, command(statement)),
        };
        let uses = Uses::of(&bound.statement);
        let mut bound = bound;
        let direct = self.direct(&mut bound, parsed, declared)?;
        Ok(Prepared {
            in_parts,
            bound,
            direct,
            command,
            program,
            uses,
            made_for: Some(MadeFor { user: self.user.clone(), search_path: self.schema.search_path.clone() }),
            triggers,
            id: next_id(),
            parsed: parsed.clone(),
            declared: declared.to_vec(),
            size: 0,
        })
    }
}

impl Session {
    /// How a statement is run that calls functions of users; such a function may write, where it is called from within.
    fn direct(&mut self, bound: &mut Bound, parsed: &Parsed, declared: &[Option<Type>]) -> Result<Option<Direct>> {
        if self.schema.main.functions.is_empty() {
            return Ok(None);
        }
        let schema = self.schema.clone();
        let split = direct::split(bound, &schema);
        let Some(split) = split else {
            bound.effects.writes |= direct::writes_within(&bound.statement, &schema);
            return Ok(None);
        };
        let mut part = |mut bound: Bound| -> Result<Arc<Prepared>> {
            bound.effects.writes |= direct::writes_within(&bound.statement, &schema);
            let uses = Uses::of(&bound.statement);
            Ok(Arc::new(Prepared {
                made_for: None,
                program: Some(InUse::lower(&bound)?),
                command: Command::Select,
                direct: None,
                in_parts: false,
                triggers: None,
                uses,
                id: next_id(),
                parsed: parsed.clone(),
                declared: declared.to_vec(),
                size: 0,
                bound,
            }))
        };
        Ok(Some(match split {
            direct::Split::Items(inner, items) => Direct::Items { inner: part(inner)?, items },
            direct::Split::Rows(args, call, outer) => {
                Direct::Rows { args: args.map(&mut part).transpose()?, call, outer: part(outer)? }
            }
        }))
    }
}

/// The word with which a statement's completion is reported.
fn command(statement: &Statement) -> Command {
    let words = match statement {
        Statement::Query(_) => return Command::Select,
        Statement::Dml(dml) => {
            return match dml.action {
                DmlAction::Insert { .. } => Command::Insert,
                DmlAction::Update { .. } => Command::Update,
                DmlAction::Delete { .. } => Command::Delete,
            };
        }
        Statement::CreateTableAs(create) if create.no_data => "CREATE TABLE AS",
        Statement::CreateTableAs(_) => return Command::Select,
        // Informix counts rows as an UPDATE's.
        Statement::Merge(merge) => {
            return match merge.again {
                ir::Again::Refused(Language::Informix) => Command::Update,
                _ => Command::Merge,
            };
        }
        Statement::Copy(_) => return Command::Copy,
        Statement::Fetch { no_rows: true, .. } => return Command::Move,
        Statement::Fetch { .. } => return Command::Fetch,
        Statement::Ddl(ddl) => match &**ddl {
            Ddl::CreateTable(_) => "CREATE TABLE",
            Ddl::CreateIndex(_) => "CREATE INDEX",
            Ddl::CreateView(_) => "CREATE VIEW",
            Ddl::CreateSequence(_) => "CREATE SEQUENCE",
            Ddl::CreateSchema { .. } => "CREATE SCHEMA",
            Ddl::CreateSynonym { .. } => "CREATE SYNONYM",
            Ddl::AlterSequence { .. } => "ALTER SEQUENCE",
            Ddl::Rename { tag, .. } => tag,
            Ddl::AlterTable { actions, .. }
                if actions
                    .iter()
                    .all(|action| matches!(action, AlterTable::SetProperty { part: Part::Index(_), .. })) =>
            {
                "ALTER INDEX"
            }
            Ddl::AlterTable { .. } => "ALTER TABLE",
            Ddl::AlterView { tag, .. } => tag,
            Ddl::Access { tag, .. } => tag,
            Ddl::Truncate { .. } => "TRUNCATE TABLE",
            Ddl::Policy(change) => match change.change {
                PolicyChange::Create { .. } => "CREATE POLICY",
                PolicyChange::Alter(..) | PolicyChange::Rename(..) => "ALTER POLICY",
                PolicyChange::Drop(_) => "DROP POLICY",
                PolicyChange::Comment(..) => "COMMENT",
            },
            Ddl::Trigger(change) => match change.change {
                TriggerChange::Create(_) => "CREATE TRIGGER",
                TriggerChange::Drop(_) => "DROP TRIGGER",
                TriggerChange::Rename(..) => "ALTER TRIGGER",
                TriggerChange::Comment(..) => "COMMENT",
            },
            Ddl::Comment { .. } | Ddl::CommentPart { .. } | Ddl::CommentObject { .. } | Ddl::CommentSequence { .. } => {
                "COMMENT"
            }
            Ddl::CreateRoutine(_) => "CREATE FUNCTION",
            Ddl::DropRoutine(_) => "DROP FUNCTION",
            Ddl::CreateFunction(create) => match create.kind {
                RoutineKind::Function => "CREATE FUNCTION",
                RoutineKind::Procedure => "CREATE PROCEDURE",
                RoutineKind::Aggregate => "CREATE AGGREGATE",
            },
            Ddl::AlterFunction(alter) => alter.tag,
            Ddl::DropFunctions { tag, .. } => tag,
            Ddl::UserType(change) => change.tag(),
            Ddl::Extension(change) => change.tag(),
            Ddl::Collation(change) => change.tag(),
            Ddl::CreateType(_) => "CREATE TYPE",
            Ddl::DropType { .. } => "DROP TYPE",
            Ddl::Drop(drop) => match drop.kind {
                ObjectKind::Index => "DROP INDEX",
                ObjectKind::Schema => "DROP SCHEMA",
                ObjectKind::Sequence => "DROP SEQUENCE",
                ObjectKind::Synonym => "DROP SYNONYM",
                ObjectKind::Table => "DROP TABLE",
                ObjectKind::View => "DROP VIEW",
            },
        },
        Statement::Transaction(transaction) => match transaction {
            Transaction::Begin(_) => "BEGIN",
            Transaction::Start(_) => "START TRANSACTION",
            Transaction::Commit { .. } => "COMMIT",
            Transaction::Rollback { .. } | Transaction::RollbackTo(_) => "ROLLBACK",
            Transaction::Savepoint(_) => "SAVEPOINT",
            Transaction::Release(_) => "RELEASE",
            Transaction::SetModes { .. } => "SET",
        },
        Statement::Set(set) if set.reset => "RESET",
        Statement::Set(_) => "SET",
        Statement::Show(_) => "SHOW",
        Statement::Explain(_) => "EXPLAIN",
        Statement::Prepare { .. } => "PREPARE",
        Statement::ExecutePrepared { .. } => "EXECUTE",
        Statement::Deallocate(None) => "DEALLOCATE ALL",
        Statement::Deallocate(_) => "DEALLOCATE",
        Statement::DeclareCursor { .. } => "DECLARE CURSOR",
        Statement::CloseCursor(None) => "CLOSE CURSOR ALL",
        Statement::CloseCursor(_) => "CLOSE CURSOR",
        Statement::Discard(rowferry_dialect::ir::Discard::All) => "DISCARD ALL",
        Statement::Discard(rowferry_dialect::ir::Discard::Plans) => "DISCARD PLANS",
        Statement::Discard(rowferry_dialect::ir::Discard::Sequences) => "DISCARD SEQUENCES",
        Statement::Discard(rowferry_dialect::ir::Discard::Temp) => "DISCARD TEMP",
        Statement::Notify(rowferry_dialect::ir::Notify::Listen(_)) => "LISTEN",
        Statement::Notify(rowferry_dialect::ir::Notify::Unlisten(_)) => "UNLISTEN",
        Statement::Notify(rowferry_dialect::ir::Notify::Notify(..)) => "NOTIFY",
        Statement::CallRoutine(_) => "EXECUTE FUNCTION",
        Statement::CallProcedure(_) => "CALL",
        Statement::Do(_) => "DO",
        Statement::Lock(_) => "LOCK TABLE",
        Statement::Maintain(Maintenance::Analyze { .. }) => "ANALYZE",
        Statement::Maintain(Maintenance::Checkpoint) => "CHECKPOINT",
        Statement::Maintain(Maintenance::Reindex { .. }) => "REINDEX",
        Statement::Maintain(Maintenance::Vacuum { .. }) => "VACUUM",
        Statement::SetConstraints { .. } => "SET CONSTRAINTS",
        Statement::Nothing { tag } => tag,
    };
    Command::Utility(words)
}

/// Longer texts are weighed before they are parsed.
const LONG: usize = 64 * 1024;

/// What the parser's trees take of memory for each token, in bytes, and how often it copies the text: measured with
/// lists of numbers, of rows and of statements.
const BYTES_A_TOKEN: usize = 1_000;
const COPIES: usize = 4;

/// An error when there is no room for what a parser makes of a text: the parser itself does not ask.
fn weigh(sql: &str) -> Result<()> {
    if sql.len() < LONG {
        return Ok(());
    }
    let (mut tokens, mut quote, mut in_word) = (0_usize, None, false);
    for chunk in sql.as_bytes().chunks(work::STRIDE) {
        work::step(chunk.len())?;
        for &byte in chunk {
            let word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
            match quote {
                Some(open) if byte == open => quote = None,
                Some(_) => {}
                None => {
                    tokens += usize::from(if word { !in_word } else { !byte.is_ascii_whitespace() });
                    quote = Some(byte).filter(|byte| matches!(byte, b'\'' | b'"'));
                }
            }
            in_word = word;
        }
    }
    work::room_to_work(tokens.saturating_mul(BYTES_A_TOKEN).saturating_add(sql.len().saturating_mul(COPIES)))
}

/// Splits a text by a language's own parser.
fn parse(sql: &str, language: Language) -> Result<Vec<Parsed>> {
    match language {
        Language::Postgres => of_postgres(|| postgres::parse(sql)),
        Language::Informix => weighed(|| {
            let statements = informix::parse(sql)?.into_iter().map(|statement| Parsed {
                text: statement.text().into(),
                offset: statement.offset(),
                source: Source::Informix(Box::new(statement)),
                size: 0,
            });
            Ok(statements.collect())
        }),
        Language::Native => Err(Error::unsupported("the back end's own SQL")),
    }
}

/// Statements of one text of PostgreSQL's.
fn of_postgres(parse: impl FnOnce() -> Result<Vec<postgres::Parsed>>) -> Result<Vec<Parsed>> {
    weighed(|| {
        // Statements come in the order of the text: characters are counted once.
        let (mut bytes, mut characters) = (0, 0);
        let offset = |statement: &postgres::Parsed| {
            let start = statement.range().start;
            characters += statement.whole()[bytes..start].chars().count() as u32;
            bytes = start;
            characters
        };
        let statements = parse()?;
        let offsets: Vec<u32> = statements.iter().map(offset).collect();
        let both = statements.into_iter().zip(offsets);
        let parsed = both.map(|(statement, offset)| Parsed {
            text: statement.text().into(),
            offset,
            source: Source::Postgres(statement),
            size: 0,
        });
        Ok(parsed.collect())
    })
}

/// Statements that know how much memory each takes.
fn weighed(parse: impl FnOnce() -> Result<Vec<Parsed>>) -> Result<Vec<Parsed>> {
    let before = memory::mark();
    let mut parsed = parse()?;
    let size = memory::since(before) / parsed.len().max(1);
    parsed.iter_mut().for_each(|statement| statement.size = size);
    Ok(parsed)
}

/// Statements whose meaning depends on what the session has open.
fn is_session_bound(statement: &Statement) -> bool {
    matches!(statement, Statement::Fetch { .. } | Statement::ExecutePrepared { .. })
}
