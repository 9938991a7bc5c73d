//! From statement to plan: the front end of the session's language, then the back end.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use rowferry_dialect::access::Needs;
use rowferry_dialect::ir::{self, Copy, Query, RelationLocks, Statement, TableLock};
use rowferry_dialect::optimise::{self, Passes};
use rowferry_dialect::plan::{Bound, Command, Effects, ResultColumn};
use rowferry_dialect::postgres::Normalized;
use rowferry_dialect::stored_calls::statement_writes;
use rowferry_dialect::{Condition, Error, Language, Result, Schema as _, Type, budget, postgres};

use super::Session;
use super::command::command;
use super::in_turn::RowsPlan;
use super::parsed::{Native, Parsed, Source, of_postgres, weigh};
use super::triggers::Firing;
use super::upstream::Way;
use crate::backend::{Backend as _, InUse, Program, Yield};
use crate::memory;
use crate::plans::{PlanKey, next_id};
use crate::routines::direct::{self, Direct};
use crate::schema::Reached;
use crate::session::door_parts::DoorParts;
use crate::session::parts::KeptParts;
use crate::statistics::Reads;

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
    /// The other databases that it reads.
    pub(crate) elsewhere: Vec<Reached>,
    /// It changes a table of another database: the plan there.
    pub(crate) there: Option<Arc<Prepared>>,
    /// It runs on the server behind.
    pub(crate) upstream: Option<Arc<crate::upstream::There>>,
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
    /// What is counted when it runs.
    pub(crate) counting: Counting,
    /// Rules have made these of it.
    pub(crate) rewritten: Vec<Arc<Prepared>>,
    /// The parts that it runs in, once it has run.
    pub(crate) kept_parts: OnceLock<KeptParts>,
    /// What the door keeps with it.
    pub(crate) door_parts: DoorParts,
}

/// What is counted of a plan.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    reads: OnceLock<Arc<Reads>>,
    /// What a client has sent, where the plan is of that text with its literals lifted.
    written: OnceLock<Arc<str>>,
    normalized: OnceLock<(Normalized, i64)>,
}

/// What a plan's meaning hangs on besides the schema: whose rights it has, and where names without a schema are found.
#[derive(Clone, Debug)]
pub(crate) struct MadeFor {
    user: Arc<str>,
    search_path: Arc<[String]>,
}

impl MadeFor {
    pub(super) fn of(user: &Arc<str>, search_path: &Arc<[String]>) -> Self {
        Self { user: user.clone(), search_path: search_path.clone() }
    }
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
    /// It reads materialised views.
    pub materialized: bool,
    /// Sequences that number the rows that it inserts.
    pub numbering: Vec<u32>,
    /// The table that it numbers rows of by hand.
    pub by_hand: Option<u32>,
}

impl Uses {
    pub fn of(statement: &Statement) -> Self {
        // Nobody locks what he only reads in another database.
        let mut tables = ir::table_locks(statement);
        tables.retain(|table| !table.relation.is_elsewhere());
        tables.shrink_to_fit();
        Self {
            materialized: tables.iter().any(|table| table.relation.is_materialized()),
            tables,
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

impl Prepared {
    /// A query that nobody has written, with parameters of these types; `name` stands in the place of its text.
    pub(crate) fn of_query(query: Query, params: Vec<Type>, generation: u64, name: &str) -> Result<Self> {
        let bound = Bound {
            statement: Statement::Query(Box::new(query)),
            params,
            columns: Vec::new(),
            effects: Effects { reads: true, ..Effects::default() },
            generation,
            needs: Default::default(),
            inside: Vec::new(),
            notices: Vec::new(),
        };
        Ok(Self::of_part(InUse::lower(&bound)?, bound, &Parsed::of_nothing(name)))
    }

    /// A part of a statement, whose locks and needs are those of the whole one.
    pub(crate) fn of_part(program: Program, bound: Bound, parsed: &Parsed) -> Self {
        Self { program: Some(program), ..Self::of_nothing(bound, parsed) }
    }

    /// A plan that says nothing of how it is run.
    pub(super) fn of_nothing(bound: Bound, parsed: &Parsed) -> Self {
        Self {
            in_parts: false,
            program: None,
            bound,
            command: Command::Select,
            uses: Uses::default(),
            triggers: None,
            elsewhere: Vec::new(),
            there: None,
            upstream: None,
            made_for: None,
            direct: None,
            id: next_id(),
            parsed: parsed.clone(),
            declared: Vec::new(),
            size: 0,
            counting: Counting::default(),
            rewritten: Vec::new(),
            kept_parts: OnceLock::new(),
            door_parts: DoorParts::default(),
        }
    }

    /// What a session of another database does for this one.
    pub(super) fn of_part_there(
        there: Arc<Self>,
        bound: Bound,
        parsed: &Parsed,
        declared: &[Option<Type>],
        (elsewhere, made_for, command): (Vec<Reached>, MadeFor, Command),
    ) -> Self {
        Self {
            in_parts: false,
            program: None,
            bound,
            command,
            uses: Uses::default(),
            triggers: None,
            elsewhere,
            there: Some(there),
            upstream: None,
            made_for: Some(made_for),
            direct: None,
            id: next_id(),
            parsed: parsed.clone(),
            declared: declared.to_vec(),
            size: 0,
            counting: Counting::default(),
            rewritten: Vec::new(),
            kept_parts: OnceLock::new(),
            door_parts: DoorParts::default(),
        }
    }

    /// It changes rows of the server behind one by one, or with calls of triggers around.
    pub(crate) fn is_there_by_rows(&self) -> bool {
        self.triggers.as_ref().is_some_and(|firing| firing.there)
    }

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

    /// What it reads, for those who count.
    pub(crate) fn reads(&self, program: &Program) -> Arc<Reads> {
        self.counting.reads.get_or_init(|| Arc::new(Reads::of(&self.bound.statement, program))).clone()
    }

    /// The plan stands for texts such as this one, which differ from its own.
    pub(super) fn stands_for(&self, text: &str) {
        self.counting.written.get_or_init(|| text.into());
    }

    fn identified(&self) -> &(Normalized, i64) {
        self.counting.normalized.get_or_init(|| {
            let text = self.counting.written.get().map_or(self.parsed.text(), |text| &**text);
            let normalized = postgres::normalized(text);
            // The same words are another statement where they mean other tables.
            let mut hasher = DefaultHasher::new();
            normalized.fingerprint.hash(&mut hasher);
            if normalized.plannable {
                self.uses.tables.iter().for_each(|table| table.relation.oid.hash(&mut hasher));
            }
            let id = hasher.finish().max(1).cast_signed();
            (normalized, id)
        })
    }

    /// The statement without its constants.
    pub(crate) fn normalized(&self) -> &Normalized {
        &self.identified().0
    }

    /// The number by which it is known (`queryid`).
    pub(crate) fn query_id(&self) -> i64 {
        self.identified().1
    }

    /// The back end's words, for messages about our own mistakes and for EXPLAIN.
    pub(crate) fn sql(&self) -> Option<&str> {
        self.program.as_ref().map(|program| &*program.sql)
    }
}

impl Session {
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
        if let Some(plan) = self.database.shared.plans.get(&key).filter(|plan| self.is_true_elsewhere(plan)) {
            self.check_unaffected(&plan)?;
            self.state.tally.work.plan_found();
            return Ok(Some(plan));
        }
        let prepared = self.supervised(|session| {
            weigh(sql)?;
            let mut statements = match &respelled {
                Some((respelled, rules)) => of_postgres(|| respelled.parse(*rules))?,
                None => session.parse_own(sql)?,
            };
            match statements.len() {
                0 => Ok(None),
                1 => session.compile(&statements.remove(0), param_types, Some(key)).map(Some),
                _ if session.language == Language::Mysql => {
                    let near = statements[1].text().trim_start().replace('"', "'");
                    Err(Error::new(Condition::SyntaxError, format!("syntax error at or near \"{near}\"")))
                }
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
        // Those of another database's session mean something else to its own.
        let shared = parsed.offset == 0 && parsed.asked_from.is_none();
        let key = shared.then(|| self.plan_key(parsed.text.clone(), param_types));
        let known = key.as_ref().and_then(|key| self.database.shared.plans.get(key));
        if let Some(plan) = known.filter(|plan| self.is_true_elsewhere(plan)) {
            self.state.tally.work.plan_found();
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
        let mut statements = match variables.in_mysql {
            true => postgres::parse_mysql(text, self.database.name(), rowferry_dialect::mysql::Modes::default())?,
            false => postgres::parse(text)?,
        };
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
        let parsed = Parsed {
            text: sql.into(),
            offset: 0,
            source: Source::Native(Arc::new(native)),
            size: sql.len(),
            asked_from: None,
        };
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
                    listed: None,
                });
                (Statement::Query(Box::new(query.clone())), columns.collect())
            }
            (None, None) => return Err(Error::internal("a COPY without direction")),
        };
        let bound = Bound { statement, columns, ..prepared.bound.clone() };
        if copy.from.is_some() && prepared.bound.needs.relations.iter().any(|need| need.secured.is_some()) {
            return Err(Error::new(Condition::FeatureNotSupported, "COPY FROM not supported with row-level security")
                .hint("Use INSERT statements instead."));
        }
        let _budget = budget::begin(prepared.size);
        let plan = self.lower(bound, &prepared.parsed, &prepared.declared)?;
        // Before the client is asked for data, as in PostgreSQL.
        if copy.from.as_ref().is_some_and(|insert| !insert.target.is_temporary()) {
            self.may_write("COPY FROM")?;
        }
        Ok(Arc::new(plan))
    }

    /// Refuses FREEZE where others could see the table, or where an error would leave it.
    ///
    /// # Errors
    /// PostgreSQL's.
    pub fn check_freeze(&self, copy: &Copy) -> Result<()> {
        let Some(insert) = copy.from.as_ref().filter(|_| copy.options.freeze) else { return Ok(()) };
        if insert.target.is_partitioned() {
            let message = "cannot perform COPY FREEZE on a partitioned table";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        if self.transaction.fresh.contains(&(insert.target.oid, self.transaction.savepoints.len())) {
            return Ok(());
        }
        let message =
            "cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction";
        Err(Error::new(Condition::ObjectNotInPrerequisiteState, message))
    }

    pub(super) fn plan_key(&self, text: Arc<str>, param_types: &[Option<Type>]) -> PlanKey {
        PlanKey {
            text,
            language: self.language(),
            search_path: self.schema.search_path.clone(),
            generation: self.schema.generation(),
            user: self.user.clone(),
            literals: self.settings().literal_style(),
            told: match self.language() {
                Language::Informix => self.state.variables.read().told(),
                Language::Mysql => self.mysql_told(),
                _ => Arc::default(),
            },
            passes: self.passes(),
            params: param_types.to_vec(),
        }
    }

    /// Binds and lowers. A failure may be due to a schema that somebody else has changed: then it is tried once more.
    fn compile(&mut self, parsed: &Parsed, declared: &[Option<Type>], key: Option<PlanKey>) -> Result<Arc<Prepared>> {
        self.database.shared.statistics.plans_made.fetch_add(1, Ordering::Relaxed);
        let before = memory::mark();
        self.schema.neighbours.begin();
        if let Some(plan) = self.compile_there(parsed, declared)? {
            return Ok(plan);
        }
        let _budget = budget::begin(parsed.text.len());
        let bound = match self.bind(parsed, declared) {
            Err(error) if self.reload_if_changed()? || self.reload_elsewhere() || self.reload_upstream()? => {
                self.bind(parsed, declared).map_err(|_| error)
            }
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
        let _passes = optimise::choose(self.passes());
        optimise::statement(&mut bound.statement)?;
        let mut plan = self.lower(bound, parsed, declared)?;
        plan.size = memory::since(before);
        let plan = Arc::new(plan);
        if let Some(mut key) = key
            && !is_session_bound(&plan.bound.statement)
        {
            parsed.forget_tree();
            key.generation = self.schema.generation();
            self.database.shared.plans.insert(key, plan.clone());
        }
        Ok(plan)
    }

    /// Makes a plan anew if the schema has moved on since, or if it was made for another user or search path.
    pub(crate) fn renew(&mut self, plan: &Arc<Prepared>) -> Result<Arc<Prepared>> {
        let generation = self.schema.generation();
        let own = plan.bound.generation == generation && plan.is_for(&self.user, &self.schema.search_path);
        if own && self.is_true_elsewhere(plan) {
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
            | Statement::Rewritten(_)
            | Statement::CallRoutine(_)
            | Statement::CallProcedure(_) => self.renew(plan),
            // They meet the schema when they run.
            _ => Ok(plan.clone()),
        }
    }

    fn bind(&mut self, parsed: &Parsed, declared: &[Option<Type>]) -> Result<Bound> {
        self.bind_in(parsed, declared, &self.schema)
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
                listed: None,
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
            elsewhere: Vec::new(),
            there: None,
            upstream: None,
            made_for: None,
            id: next_id(),
            parsed: whole.parsed.clone(),
            declared: Vec::new(),
            size: 0,
            counting: Counting::default(),
            rewritten: Vec::new(),
            kept_parts: OnceLock::new(),
            door_parts: DoorParts::default(),
        }))
    }

    /// What the session wants to be done to make statements faster.
    pub(super) fn passes(&self) -> Passes {
        self.state.variables.read().passes()
    }

    /// The program of a statement, in the form that is the faster one over what the file holds.
    fn lowered(&mut self, bound: &Bound) -> Result<Program> {
        let program = InUse::lower(bound)?;
        // Files of other databases are there when it runs.
        if program.in_order.is_none() || !self.schema.neighbours.reached().is_empty() {
            return Ok(program);
        }
        let Ok(handle) = self.handle() else { return Ok(program) };
        let guard = handle.lock();
        Ok(match guard.make_known(&program.catalogs, &self.state) {
            Ok(()) => guard.faster(program),
            Err(_) => program,
        })
    }

    pub(super) fn lower(&mut self, bound: Bound, parsed: &Parsed, declared: &[Option<Type>]) -> Result<Prepared> {
        let mut bound = bound;
        if matches!(bound.statement, Statement::Rewritten(_)) {
            return self.lower_rewritten(bound, parsed, declared);
        }
        if self.schema.has_functions() && parsed.is_postgres() {
            postgres::routine::inline(&mut bound, &self.schema, &self.postgres_context());
        }
        match self.way_upstream(&mut bound, parsed)? {
            Some(Way::Whole(there)) => return Ok(self.prepared_upstream(bound, Some(there), parsed, declared)),
            Some(Way::Around(there, firing)) => {
                return Ok(Prepared {
                    triggers: Some(firing),
                    ..self.prepared_upstream(bound, Some(there), parsed, declared)
                });
            }
            Some(Way::ByRows(firing)) => {
                return Ok(Prepared {
                    triggers: Some(firing),
                    ..self.prepared_upstream(bound, None, parsed, declared)
                });
            }
            None => {}
        }
        let _passes = optimise::choose(self.passes());
        let triggers = match &bound.statement {
            Statement::Dml(dml) => Firing::of(dml, &bound, parsed, &self.schema)?.map(Arc::new),
            _ => None,
        };
        // Where triggers look at rows, RETURNING of other relations is no reason to do it otherwise.
        let by_rows = triggers.as_ref().is_some_and(|firing| firing.steps.is_some());
        let reads_changed = matches!(&bound.statement, Statement::Dml(dml) if InUse::returned_apart(dml).is_some());
        let by_rows = by_rows && !reads_changed;
        let in_parts = !by_rows && InUse::runs_in_parts(&bound.statement);
        let (program, command) = match (&parsed.source, &bound.statement) {
            // Its rows are written one by one.
            (_, Statement::Dml(_)) if by_rows => (None, command(&bound.statement)),
            (Source::Native(native), Statement::Nothing { .. }) => {
                (Some(InUse::native(&parsed.text, bound.params.len())), native.command)
            }
            (_, Statement::Merge(merge)) if in_parts => {
                // What cannot be taken apart is refused here already.
                InUse::merge_by_rows(merge)?;
                (None, command(&bound.statement))
            }
            (_, statement) if in_parts => (None, command(statement)),
            (_, Statement::Query(_) | Statement::Dml(_)) => (Some(self.lowered(&bound)?), command(&bound.statement)),
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
        let elsewhere = self.schema.neighbours.reached();
        let direct = self.direct(&mut bound, parsed, declared)?;
        bound.shrink();
        Ok(Prepared {
            in_parts,
            bound,
            direct,
            command,
            program,
            uses,
            elsewhere,
            there: None,
            upstream: None,
            made_for: Some(MadeFor::of(&self.user, &self.schema.search_path)),
            triggers,
            id: next_id(),
            parsed: parsed.clone(),
            declared: declared.to_vec(),
            size: 0,
            counting: Counting::default(),
            rewritten: Vec::new(),
            kept_parts: OnceLock::new(),
            door_parts: DoorParts::default(),
        })
    }
}

impl Session {
    /// The plan of a statement that the server behind runs as a whole.
    pub(super) fn prepared_upstream(
        &self,
        bound: Bound,
        there: Option<Arc<crate::upstream::There>>,
        parsed: &Parsed,
        declared: &[Option<Type>],
    ) -> Prepared {
        Prepared {
            command: command(&bound.statement),
            bound,
            in_parts: false,
            program: None,
            uses: Uses::default(),
            elsewhere: Vec::new(),
            there: None,
            upstream: there,
            made_for: Some(MadeFor::of(&self.user, &self.schema.search_path)),
            triggers: None,
            id: next_id(),
            direct: None,
            parsed: parsed.clone(),
            declared: declared.to_vec(),
            size: 0,
            counting: Counting::default(),
            rewritten: Vec::new(),
            kept_parts: OnceLock::new(),
            door_parts: DoorParts::default(),
        }
    }

    /// How a statement is run that calls functions of users; such a function may write, where it is called from within.
    fn direct(&mut self, bound: &mut Bound, parsed: &Parsed, declared: &[Option<Type>]) -> Result<Option<Direct>> {
        if !self.schema.has_functions() {
            return Ok(None);
        }
        let schema = self.schema.clone();
        let writes = |bound: &Bound| bound.effects.calls_writers && statement_writes(&bound.statement, &schema);
        let split = direct::split(bound, &schema);
        let Some(split) = split else {
            bound.effects.writes |= writes(bound);
            // What such functions do is not seen by the query that calls them.
            return match &bound.statement {
                Statement::Query(query)
                    if bound.effects.calls_writers
                        && query.locking.is_empty()
                        && !InUse::runs_in_parts(&bound.statement) =>
                {
                    Ok(RowsPlan::in_turn(query, bound, parsed, &schema)?.map(Direct::InTurn))
                }
                _ => Ok(None),
            };
        };
        let mut part = |mut bound: Bound| -> Result<Arc<Prepared>> {
            bound.effects.writes |= writes(&bound);
            let uses = Uses::of(&bound.statement);
            let declared = declared.to_vec();
            Ok(Arc::new(Prepared { uses, declared, ..Prepared::of_part(InUse::lower(&bound)?, bound, parsed) }))
        };
        Ok(Some(match split {
            direct::Split::Items(inner, items) => {
                Direct::Items { inner: part(inner)?, items: direct::Item::prepared(items, &mut part)? }
            }
            direct::Split::Rows(args, call, outer) => {
                Direct::Rows { args: args.map(&mut part).transpose()?, call, outer: part(outer)? }
            }
        }))
    }
}

/// Statements whose meaning depends on what the session has open.
fn is_session_bound(statement: &Statement) -> bool {
    matches!(statement, Statement::Fetch { .. } | Statement::ExecutePrepared { .. })
}
