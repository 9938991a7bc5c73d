//! Statements that run in parts: those whose WITH changes rows, MERGE, and changes whose RETURNING names other relations
//! than the changed one.
//!
//! Every part sees the database as it was before the statement. What a change is to do is decided by a query that is
//! read to the end ([`Backend::by_rows`](crate::backend::Backend::by_rows)), and then done row by row. When a part reads a table that an earlier part has
//! changed, the changes are undone, the part's query runs, and what had been decided is done again. A part meets what
//! others return as rows that the session keeps under a number.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;

use rowferry_dialect::ir::in_turn::{InTurn, in_turn};
use rowferry_dialect::ir::routing::in_leaf;
use rowferry_dialect::ir::{self, Body, Cte, CteBody, CteId, Dml, DmlAction, From, Query, Statement as Ir, Value};
use rowferry_dialect::lower::parts::ByRows;
use rowferry_dialect::schema::Relation;
use rowferry_dialect::{Condition, Error, Language, Result, Schema as _, Type, budget, optimise};

use super::applied::There;
use super::execute::{RENEWALS, RunError, command_words};
use super::routing::Step;
use super::transaction::Block;
use super::{Outcome, Prepared, Session};
use crate::backend::{Backend as _, InUse, Point, Yield, errors};
use crate::memory::Charge;
use crate::spool::{Spool, SpoolReader};

pub(super) type Done<T> = std::result::Result<T, RunError>;

/// Rows that parts of a statement leave for others.
#[derive(Debug, Default)]
pub struct Kept {
    rows: Vec<Vec<Value>>,
    _charge: Charge,
}

impl Kept {
    /// A row's values.
    pub fn row(&self, at: usize) -> Option<&Vec<Value>> {
        self.rows.get(at)
    }

    /// Adds the row at which a reader stands.
    fn add(&mut self, reader: &SpoolReader) -> Result<()> {
        let row: Vec<Value> = (0..reader.columns()).map(|at| reader.column(at).to_value()).collect();
        let bytes: usize = row.iter().map(|value| size_of::<Value>() + payload(value)).sum();
        self._charge.grow(bytes)?;
        self.rows.push(row);
        Ok(())
    }

    /// All of them.
    pub(super) fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }
}

/// What a session keeps while its statements run, by number.
#[derive(Debug, Default)]
pub struct AllKept {
    next: u32,
    rows: HashMap<u32, Arc<Kept>>,
}

impl AllKept {
    /// Rows by their number.
    pub fn get(&self, number: u32) -> Option<Arc<Kept>> {
        self.rows.get(&number).cloned()
    }

    fn reserve(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next
    }
}

/// What has been decided: the rows, and for each of the actions its plan.
pub(super) struct Decided {
    pub(super) rows: Kept,
    pub(super) actions: Vec<Arc<Prepared>>,
    /// What is done, in this order.
    pub(super) steps: Vec<Step>,
    pub(super) by_rows: Arc<ByRows>,
    /// What the rows return is kept for other parts.
    pub(super) kept: bool,
}

/// How many plans of its parts a statement keeps at most: one that changes more tables than that makes the others' anew.
const KEPT_PLANS: usize = 64;

/// The parts of a change without WITH, kept with its plan.
#[derive(Debug)]
pub(crate) struct KeptParts {
    by_rows: Arc<ByRows>,
    plans: Mutex<HashMap<Part, Arc<Prepared>>>,
}

/// Which of a change's parts.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Part {
    /// The query of its rows.
    Rows,
    /// What is done with a row.
    Action(usize),
    /// The same in a leaf.
    Leaf(usize, u32, There),
}

/// What a statement has done.
pub(super) struct Ran {
    pub(super) returned: Spool,
    pub(super) changed: u64,
}

/// One run of a statement in parts.
pub(super) struct Run<'a> {
    plan: &'a Arc<Prepared>,
    params: &'a [Value],
    /// Members of WITH whose rows are kept, with their numbers.
    kept: HashMap<CteId, u32>,
    /// Members that stay members of the part that names them.
    inline: Vec<Cte>,
    decided: Vec<Decided>,
    changed_tables: HashSet<u32>,
    /// The parts are those of every run of the statement: no number of rows that are kept for this one stands in them.
    keeps: bool,
    /// Rows that a part has changed: none of them is changed again.
    pub(super) touched: HashSet<(u32, i64)>,
}

impl Session {
    /// Runs a statement that the back end is not told as a whole.
    pub(super) fn run_in_parts(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        self.open_write(command_words(prepared.command))?;
        self.on_handle(|handle| handle.set_point(Point::Parts))?;
        let before = self.state.kept.lock().rows.len();
        // The triggers of its parts belong to it, those that are told at the end too.
        let result = self.as_part_of_transaction(|session| {
            let mut again = false;
            session.with_renewals(prepared, params, |session, plan| {
                // What was changed before the schema turned out to be another is undone, and done again.
                if std::mem::replace(&mut again, true) {
                    session.on_handle(|handle| handle.go_back_to(Point::Parts))?;
                }
                session.run_whole(plan, params)
            })
        });
        debug_assert!(self.state.kept.lock().rows.len() >= before);
        let lost = !self.handle()?.lock().is_in_transaction();
        let result = result.and_then(|ran| if lost { Ok(ran) } else { self.check_now().map(|()| ran) });
        if result.is_err() && !lost {
            self.on_handle(|handle| handle.go_back_to(Point::Parts))?;
        }
        if !lost {
            self.on_handle(|handle| handle.forget_point(Point::Parts))?;
        }
        let (plan, Ran { returned, changed }) = result?;
        self.settle_rows(&plan, false, true)?;
        self.note_waiting_keys(&plan, changed);
        if plan.returns_rows() {
            let rows = returned.rows();
            let is_query = matches!(plan.bound.statement, Ir::Query(_));
            return self.rows_done(&plan, returned, if is_query { 0 } else { changed.max(rows) });
        }
        if self.transaction.block == Block::None {
            self.end_commit()?;
        }
        Ok(Outcome::Done { command: plan.command, rows: changed })
    }

    /// All parts are one statement for triggers, to which rows may come that are not there yet.
    fn run_whole(&mut self, plan: &Arc<Prepared>, params: &[Value]) -> Done<Ran> {
        if self.copies_into_parts() {
            return self.run_parts(plan, params);
        }
        self.as_statement(plan, |session| session.telling_at_the_end(|session| session.run_parts(plan, params)))
    }

    pub(super) fn run_parts(&mut self, plan: &Arc<Prepared>, params: &[Value]) -> Done<Ran> {
        let mut run = Run {
            plan,
            params,
            kept: HashMap::new(),
            inline: Vec::new(),
            decided: Vec::new(),
            changed_tables: HashSet::new(),
            keeps: false,
            touched: HashSet::new(),
        };
        let result = self.run_members(&mut run);
        let mut kept = self.state.kept.lock();
        for number in run.kept.values() {
            kept.rows.remove(number);
        }
        result
    }

    fn run_members(&mut self, run: &mut Run<'_>) -> Done<Ran> {
        let mut statement = run.plan.bound.statement.clone();
        let ctes = match &mut statement {
            Ir::Query(query) => std::mem::take(&mut query.ctes),
            Ir::Dml(dml) => std::mem::take(&mut dml.ctes),
            Ir::Merge(merge) => std::mem::take(&mut merge.ctes),
            _ => return Err(Error::internal("a statement that has no parts").into()),
        };
        let mut ctes = ctes;
        if let Ir::Dml(dml) = &statement
            && let Some((change, query)) = InUse::returned_apart(dml)
        {
            ctes.push(change);
            statement = Ir::Query(Box::new(query));
        }
        run.keeps = ctes.is_empty() && matches!(statement, Ir::Dml(_) | Ir::Merge(_));
        if run.keeps {
            return self.run_main(run, statement);
        }
        let actions = named_by_actions(&ctes, &statement)?;
        let members = members(ctes, &statement, &actions);
        // What nobody asks for comes last.
        let (first, last): (Vec<Member>, Vec<Member>) = members.into_iter().partition(|member| member.reached);
        for member in first {
            self.run_member(run, member)?;
        }
        let ran = self.run_main(run, statement)?;
        for member in last {
            self.run_member(run, member)?;
        }
        Ok(ran)
    }

    fn run_member(&mut self, run: &mut Run<'_>, member: Member) -> Done<()> {
        let Member { cte, owner, .. } = member;
        match (&cte.body, owner) {
            (CteBody::Query(_), Owner::Nobody) => {}
            (CteBody::Query(_), Owner::One) => run.inline.push(cte),
            (CteBody::Query(query), Owner::Several) => {
                let rows = self.read_part(run, query)?;
                self.keep(run, cte.id, rows);
            }
            (CteBody::Dml(dml), _) => {
                let ran = self.change_part(run, Arc::new(InUse::by_rows(dml)?), true)?;
                let rows = collect(ran.returned)?;
                self.keep(run, cte.id, rows);
            }
        }
        Ok(())
    }

    /// The statement that WITH stands before.
    fn run_main(&mut self, run: &mut Run<'_>, statement: Ir) -> Done<Ran> {
        match statement {
            Ir::Query(query) => {
                let plan = self.query_part(run, &query, false)?;
                self.on_the_old_state(run, &reads(&plan), |session, run| {
                    let statement = session.start(&plan, run.params)?;
                    Ok(Ran { returned: session.read_all_of(&plan, statement)?, changed: 0 })
                })
            }
            Ir::Dml(dml) => {
                let by_rows = run.by_rows(|| InUse::by_rows(&dml))?;
                self.change_part(run, by_rows, false)
            }
            Ir::Merge(merge) => {
                let by_rows = run.by_rows(|| InUse::merge_by_rows(&merge))?;
                self.change_part(run, by_rows, false)
            }
            _ => Err(Error::internal("a statement that has no parts").into()),
        }
    }

    /// Keeps what a member of WITH yields.
    fn keep(&mut self, run: &mut Run<'_>, cte: CteId, rows: Kept) {
        let mut all = self.state.kept.lock();
        let number = all.reserve();
        all.rows.insert(number, Arc::new(rows));
        run.kept.insert(cte, number);
    }

    fn query_part(&mut self, run: &Run<'_>, query: &Query, kept: bool) -> Result<Arc<Prepared>> {
        self.query_part_of(run, query, kept, &[])
    }

    /// A query of a part, with parameters of these types behind the statement's own.
    fn query_part_of(&mut self, run: &Run<'_>, query: &Query, kept: bool, more: &[Type]) -> Result<Arc<Prepared>> {
        let _budget = budget::begin(run.plan.size);
        let _passes = optimise::choose(self.passes());
        let mut query = query.clone();
        run.take_ctes(&mut query);
        let params = [run.plan.bound.params.as_slice(), more].concat();
        let program = InUse::lower_query(&query, if kept { Yield::Kept } else { Yield::Sent })?;
        self.part_of(Ir::Query(Box::new(query)), params, run.plan, program)
    }

    /// The rows of a query, read on the state before the statement.
    fn read_part(&mut self, run: &mut Run<'_>, query: &Query) -> Done<Kept> {
        let plan = self.query_part(run, query, true)?;
        self.read_rows(run, &plan)
    }

    fn read_rows(&mut self, run: &mut Run<'_>, plan: &Arc<Prepared>) -> Done<Kept> {
        self.on_the_old_state(run, &reads(plan), |session, run| {
            let statement = session.start(plan, run.params)?;
            let spool = match session.read_all_of(plan, statement) {
                // Somebody's other schema makes the whole anew; it may be that no more than what is kept here has expired.
                Err(RunError::Failed(failure)) if failure.is_stale() && !session.reload_if_changed()? => {
                    session.read_kept(plan, run.params)?
                }
                result => result?,
            };
            collect(spool).map_err(RunError::from)
        })
    }

    /// The rows of a change that are computed one by one, when all that they are made of has been read: those that functions
    /// which may write have a say in, and numbered ones of which triggers are told.
    fn rows_in_turn(&mut self, run: &mut Run<'_>, by_rows: &ByRows) -> Done<Option<(Kept, Vec<Arc<Prepared>>)>> {
        let bound = &run.plan.bound;
        if !bound.effects.calls_writers && !by_rows.actions.iter().any(tells_triggers) {
            return Ok(None);
        }
        let parted = in_turn(&by_rows.rows, bound.params.len(), &self.schema);
        let Some(InTurn { read, computed, types }) = parted else { return Ok(None) };
        let read = match read {
            Some(read) => self.read_part(run, &read)?,
            None => Kept { rows: vec![Vec::new()], ..Kept::default() },
        };
        let plans =
            computed.iter().map(|row| self.query_part_of(run, row, true, &types)).collect::<Result<Vec<_>>>()?;
        Ok(Some((read, plans)))
    }

    /// Runs something on the state before the statement: what has been changed is undone, and done again.
    fn on_the_old_state<T>(
        &mut self,
        run: &mut Run<'_>,
        reads: &HashSet<u32>,
        work: impl FnOnce(&mut Self, &mut Run<'_>) -> Done<T>,
    ) -> Done<T> {
        if reads.is_disjoint(&run.changed_tables) {
            return work(self, run);
        }
        if run.plan.bound.effects.calls_writers {
            let what = "a WITH that reads what has been changed, beside functions that may write";
            return Err(Error::unsupported(what).into());
        }
        if run.decided.iter().flat_map(|decided| &decided.actions).any(|action| action.triggers.is_some()) {
            return Err(Error::unsupported("a WITH that reads what triggers have been told of").into());
        }
        self.on_handle(|handle| handle.go_back_to(Point::Parts))?;
        let result = work(self, run)?;
        run.touched.clear();
        let decided = std::mem::take(&mut run.decided);
        for change in &decided {
            self.apply(run, change)?;
        }
        run.decided = decided;
        Ok(result)
    }

    /// Decides on a change and makes it.
    fn change_part(&mut self, run: &mut Run<'_>, by_rows: Arc<ByRows>, kept: bool) -> Done<Ran> {
        let mut actions = Vec::with_capacity(by_rows.actions.len());
        for (at, dml) in by_rows.actions.iter().enumerate() {
            actions.push(run.part(Part::Action(at), || self.action(run, &by_rows, dml, kept))?);
        }
        refuse_with_triggers(&actions, kept)?;
        let in_turn = self.rows_in_turn(run, &by_rows)?;
        let rows = if in_turn.is_none() {
            let plan = run.part(Part::Rows, || Ok(self.query_part(run, &by_rows.rows, true)?))?;
            self.read_rows(run, &plan)?
        } else {
            Kept::default()
        };
        let mut decided = Decided { rows, actions, steps: Vec::new(), by_rows, kept };
        for at in 0..decided.rows.rows().len() {
            decided.steps.extend(self.route(&decided.by_rows, &decided.rows, at)?);
        }
        let ran = match in_turn {
            None => self.apply(run, &decided)?,
            Some((read, plans)) => {
                let mut applied = self.begin_to_apply(&decided)?;
                for row in read.rows() {
                    let params = [run.params, row].concat();
                    for plan in &plans {
                        let mut computed = self.compute_row(plan, &params)?;
                        while computed.advance()? {
                            decided.rows.add(&computed)?;
                            let at = decided.rows.rows().len() - 1;
                            let Some(step) = self.route(&decided.by_rows, &decided.rows, at)? else { continue };
                            self.apply_step(run, &mut applied, &decided, &step)?;
                            decided.steps.push(step);
                        }
                    }
                }
                self.end_of_applying(run, applied)?
            }
        };
        run.decided.push(decided);
        Ok(ran)
    }

    /// A statement of one row, ready to run.
    pub(super) fn action(&mut self, run: &Run<'_>, by_rows: &ByRows, dml: &Dml, kept: bool) -> Done<Arc<Prepared>> {
        let _budget = budget::begin(run.plan.size);
        let mut dml = match &dml.routing {
            // Of a partitioned table itself there is no row: its statement is there for triggers.
            Some(routing) if routing.tree.head.oid == dml.target.oid && dml.target.is_partitioned() => {
                in_leaf(dml, &dml.target)?
            }
            _ => dml.clone(),
        };
        dml.routing = None;
        run.refer_to_kept_in(&mut dml);
        let mut types: Vec<Type> = by_rows.rows.columns.iter().map(|column| column.ty.clone()).collect();
        if let Some(heir) = dml.heir.as_ref().filter(|heir| heir.moves)
            && matches!(dml.action, DmlAction::Insert { .. })
        {
            // The row that has moved stands behind what the query has for it.
            types.extend(heir.head.columns.iter().map(|column| column.ty.clone()));
        }
        let program = InUse::lower_change(&dml, if kept { Yield::Kept } else { Yield::Sent })?;
        Ok(self.part_of(Ir::Dml(Box::new(dml)), types, run.plan, program)?)
    }

    /// A table whose rows have changed, with those that foreign keys let change with it.
    pub(super) fn note_changed(&self, run: &mut Run<'_>, table: u32) {
        if !run.changed_tables.insert(table) {
            return;
        }
        if let Some(relation) = self.schema.relation_by_oid(table) {
            let children: Vec<u32> = self.schema.children(&relation).map(|child| child.oid).collect();
            children.into_iter().for_each(|child| self.note_changed(run, child));
        }
    }
}

impl Session {
    /// All rows of a plan that is kept. Its back end's statement may have expired meanwhile, by what another part has made or
    /// switched, or by foreign keys that change rows with generated columns: it has done nothing yet then, and is prepared anew.
    pub(super) fn read_kept(&mut self, plan: &Prepared, params: &[Value]) -> Done<Spool> {
        let mut left = RENEWALS;
        loop {
            let statement = self.start(plan, params)?;
            match self.read_all_of(plan, statement) {
                Err(RunError::Failed(failure)) if failure.is_stale() && left > 0 => left -= 1,
                result => return result,
            }
        }
    }

    pub(super) fn change_row(&mut self, action: &Arc<Prepared>, row: &[Value]) -> Done<Spool> {
        let result = self.read_kept(action, row);
        match result {
            // The failure is this row's.
            Err(RunError::Failed(failure)) if !errors::blames_schema(&failure) => {
                Err(self.translate(&failure, action, row).into())
            }
            result => result,
        }
    }
}

/// Behind what the user asks for it returns which row it is: INSERT with ON CONFLICT DO UPDATE.
pub(super) fn tells_identity(action: &Prepared) -> bool {
    matches!(&action.bound.statement, Ir::Dml(dml) if dml.returning.len() > dml.columns.len())
}

/// Triggers are told of the rows that it changes, wherever they go.
fn tells_triggers(dml: &Dml) -> bool {
    let told = |table: &Arc<Relation>| table.triggers.iter().any(|trigger| trigger.level == ir::TriggerLevel::Row);
    told(&dml.target) || dml.routing.as_ref().is_some_and(|routing| routing.members.iter().any(told))
}

/// What triggers cannot be told of yet.
fn refuse_with_triggers(actions: &[Arc<Prepared>], kept: bool) -> Result<()> {
    let mut told = actions.iter().filter(|action| action.triggers.is_some());
    let decimals = |action: &Prepared| action.bound.columns.iter().any(|column| column.ty.is_decimal());
    if kept && told.any(|action| decimals(action)) {
        return Err(Error::unsupported("RETURNING of numeric in a WITH that changes a table with triggers"));
    }
    Ok(())
}

/// How many columns of RETURNING an action yields.
pub(super) fn returned_columns(action: &Prepared) -> usize {
    match &action.bound.statement {
        Ir::Dml(dml) => dml.columns.len(),
        _ => 0,
    }
}

pub(super) fn target_of(action: &Prepared) -> u32 {
    match &action.bound.statement {
        Ir::Dml(dml) => dml.target.oid,
        _ => 0,
    }
}

pub(super) fn met_again() -> Error {
    Error::new(Condition::CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time")
        .hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
}

pub(super) fn again(language: Language) -> Error {
    match language {
        Language::Informix => {
            Error::new(Condition::TwoMatchingRows, "more than one row of the source matches a row of the target")
        }
        _ => Error::new(Condition::CardinalityViolation, "MERGE command cannot affect row a second time")
            .hint("Ensure that not more than one source row matches any one target row."),
    }
}

fn collect(spool: Spool) -> Result<Kept> {
    let mut reader = spool.into_reader()?;
    let mut kept = Kept::default();
    while reader.advance()? {
        kept.add(&reader)?;
    }
    Ok(kept)
}

fn payload(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        _ => 0,
    }
}

impl Run<'_> {
    /// A change as a query of rows and what is done with each.
    fn by_rows(&self, make: impl FnOnce() -> Result<ByRows>) -> Result<Arc<ByRows>> {
        if !self.keeps {
            return make().map(Arc::new);
        }
        if let Some(kept) = self.plan.kept_parts.get() {
            return Ok(kept.by_rows.clone());
        }
        let by_rows = Arc::new(make()?);
        let parts = KeptParts { by_rows: by_rows.clone(), plans: Mutex::default() };
        // Another session may have been faster, with the same parts.
        let _ = self.plan.kept_parts.set(parts);
        Ok(by_rows)
    }

    /// The plan of a part, as an earlier run of the statement has made it.
    pub(super) fn part(&self, part: Part, make: impl FnOnce() -> Done<Arc<Prepared>>) -> Done<Arc<Prepared>> {
        let Some(kept) = self.plan.kept_parts.get().filter(|_| self.keeps) else { return make() };
        if let Some(plan) = kept.plans.lock().get(&part) {
            return Ok(plan.clone());
        }
        let plan = make()?;
        let mut plans = kept.plans.lock();
        if plans.len() < KEPT_PLANS {
            plans.insert(part, plan.clone());
        }
        Ok(plan)
    }

    /// Gives a part the members of WITH that are its own, and the numbers of the others.
    fn take_ctes(&self, query: &mut Query) {
        let mut ctes = self.inline.clone();
        for cte in &mut ctes {
            if let CteBody::Query(query) = &mut cte.body {
                self.refer_to_kept(query);
            }
        }
        ctes.append(&mut query.ctes);
        self.refer_to_kept(query);
        query.ctes = ctes;
    }

    fn refer_to_kept(&self, query: &mut Query) {
        each_from(query, &mut |from| {
            if let From::Cte { id, cte, columns } = from
                && let Some(number) = self.kept.get(cte)
            {
                *from = From::Kept { id: *id, number: *number, columns: std::mem::take(columns) };
            }
        });
    }

    fn refer_to_kept_in(&self, dml: &mut Dml) {
        ir::walk::dml_mut(dml, &mut |expr| {
            if let Some(query) = expr.kind.query_mut() {
                self.refer_to_kept(query);
            }
            true
        });
    }
}

/// Visits every member of FROM of a query, those of its subqueries included.
fn each_from(query: &mut Query, visit: &mut dyn FnMut(&mut From)) {
    for cte in &mut query.ctes {
        if let CteBody::Query(query) = &mut cte.body {
            each_from(query, visit);
        }
    }
    match &mut query.body {
        Body::Select(select) => {
            if let Some(from) = &mut select.from {
                each_member(from, visit);
            }
        }
        Body::Set { left, right, .. } => {
            each_from(left, visit);
            each_from(right, visit);
        }
        Body::Values(_) => {}
    }
    ir::walk::query_mut(query, &mut |expr| match expr.kind.query_mut() {
        Some(query) => {
            each_from(query, visit);
            false
        }
        None => true,
    });
}

fn each_member(from: &mut From, visit: &mut dyn FnMut(&mut From)) {
    visit(from);
    match from {
        From::Query { query, .. } => each_from(query, visit),
        From::Join { left, right, .. } => {
            each_member(left, visit);
            each_member(right, visit);
        }
        From::Relation { .. } | From::Cte { .. } | From::Kept { .. } | From::Function { .. } => {}
    }
}

/// The tables that a part reads.
fn reads(plan: &Prepared) -> HashSet<u32> {
    let mut tables = HashSet::new();
    if let Ir::Query(query) = &plan.bound.statement {
        each_from(&mut (**query).clone(), &mut |from| {
            if let From::Relation { relation, .. } = from {
                tables.insert(relation.oid);
            }
        });
    }
    tables
}

/// A member of WITH.
struct Member {
    cte: Cte,
    owner: Owner,
    /// The statement itself asks for it, perhaps through others.
    reached: bool,
}

/// Which parts name a member of WITH.
enum Owner {
    Nobody,
    One,
    /// Or one that asks for it once for each row.
    Several,
}

/// The members that statements of one row name, in RETURNING and ON CONFLICT: their rows are made once, and not once for each row.
fn named_by_actions(ctes: &[Cte], main: &Ir) -> Result<HashSet<CteId>> {
    let mut named = HashSet::new();
    let mut note = |by_rows: ByRows| {
        for mut action in by_rows.actions {
            ir::walk::dml_mut(&mut action, &mut |expr| {
                if let Some(query) = expr.kind.query_mut() {
                    each_from(query, &mut |from| {
                        if let From::Cte { cte, .. } = from {
                            named.insert(*cte);
                        }
                    });
                }
                true
            });
        }
    };
    match main {
        Ir::Dml(dml) => note(InUse::by_rows(dml)?),
        Ir::Merge(merge) => note(InUse::merge_by_rows(merge)?),
        _ => {}
    }
    for cte in ctes {
        if let CteBody::Dml(dml) = &cte.body {
            note(InUse::by_rows(dml)?);
        }
    }
    Ok(named)
}

/// The members, and for each which parts name it: those that are part of another one stand for that other.
fn members(ctes: Vec<Cte>, main: &Ir, by_actions: &HashSet<CteId>) -> Vec<Member> {
    const MAIN: usize = usize::MAX;
    let mut named: Vec<HashSet<usize>> = vec![HashSet::new(); ctes.len()];
    let place = |id: CteId| ctes.iter().position(|cte| cte.id == id);
    let note = |from: &From, part: usize, named: &mut Vec<HashSet<usize>>| {
        if let From::Cte { cte, .. } = from
            && let Some(at) = place(*cte)
            && at != part
        {
            named[at].insert(part);
        }
    };
    for_statement(main, &mut |from| note(from, MAIN, &mut named));
    for (at, cte) in ctes.iter().enumerate() {
        match &cte.body {
            CteBody::Query(query) => {
                for_statement(&Ir::Query(query.clone()), &mut |from| note(from, at, &mut named));
            }
            CteBody::Dml(dml) => for_statement(&Ir::Dml(dml.clone()), &mut |from| note(from, at, &mut named)),
        }
    }
    let mut owners: Vec<Owner> = Vec::with_capacity(ctes.len());
    let mut parts: Vec<HashSet<usize>> = vec![HashSet::new(); ctes.len()];
    for at in (0..ctes.len()).rev() {
        let mut all = HashSet::new();
        for part in &named[at] {
            match ctes.get(*part) {
                Some(Cte { body: CteBody::Query(_), .. }) if *part > at => all.extend(parts[*part].iter().copied()),
                _ => {
                    all.insert(*part);
                }
            }
        }
        let kept = all.len() > 1 || by_actions.contains(&ctes[at].id);
        owners.push(match all.len() {
            _ if kept => Owner::Several,
            0 => Owner::Nobody,
            _ => Owner::One,
        });
        if kept && matches!(ctes[at].body, CteBody::Query(_)) {
            all = HashSet::from([at]);
        }
        parts[at] = all;
    }
    owners.reverse();
    let mut reached = vec![false; ctes.len()];
    for at in (0..ctes.len()).rev() {
        reached[at] = named[at].iter().any(|part| *part == MAIN || reached[*part]);
    }
    let all = ctes.into_iter().zip(owners).zip(reached);
    all.map(|((cte, owner), reached)| Member { cte, owner, reached }).collect()
}

fn for_statement(statement: &Ir, visit: &mut dyn FnMut(&From)) {
    let mut statement = statement.clone();
    let mut each = |from: &mut From| visit(from);
    if let Ir::Merge(merge) = &mut statement {
        each_member(&mut merge.source, &mut each);
        ir::walk::statement_mut(&mut statement, &mut |expr| match expr.kind.query_mut() {
            Some(query) => {
                each_from(query, &mut each);
                false
            }
            None => true,
        });
        return;
    }
    match &mut statement {
        Ir::Query(query) => each_from(query, &mut each),
        Ir::Dml(dml) => {
            match &mut dml.action {
                DmlAction::Insert { source: ir::InsertSource::Query(query), .. } => each_from(query, &mut each),
                DmlAction::Update { from: Some(from), .. } | DmlAction::Delete { using: Some(from), .. } => {
                    each_member(from, &mut each);
                }
                _ => {}
            }
            ir::walk::dml_mut(dml, &mut |expr| match expr.kind.query_mut() {
                Some(query) => {
                    each_from(query, &mut each);
                    false
                }
                None => true,
            });
        }
        _ => {}
    }
}
