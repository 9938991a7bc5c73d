//! A session whose tables are another server's: its statements there, and its transaction on both sides.

use std::borrow::Cow;
use std::sync::Arc;

use rowferry_dialect::ir::in_turn::late_over;
use rowferry_dialect::ir::{
    Body, ChangeTrigger, ColumnIndex, ConflictAction, CreateTableAs, CteBody, Ddl, Distinct, Dml, DmlAction, ExprKind,
    From, GroupBy, OutputColumn, Select, Statement as Ir, TriggerChange, TriggerEvent, TriggerLevel, TriggerState,
    TriggerTime, Value, build, walk,
};
use rowferry_dialect::lower::postgres::{self, Said};
use rowferry_dialect::plan::{Bound, Effects};
use rowferry_dialect::schema::{Relation, Trigger};
use rowferry_dialect::values::Settings;
use rowferry_dialect::{Condition, Error, Language, Result, Schema, Type, informix};

use super::execute::command_words;
use super::parsed::Parsed;
use super::state::Told as Number;
use super::transaction::Block;
use super::triggers::{self, Firing};
use super::{Outcome, Prepared, Session};
use crate::backend::{Backend as _, InUse};
use crate::cursor::Cursor;
use crate::routines::direct::Item;
use crate::spool::{Spool, SpoolReader};
use crate::upstream::{Begun, Kind, Late, Line, Modes, Request, Rows, Speaker, There, Within, keys_are_asked};

/// How a statement is run there.
pub(super) enum Way {
    /// As one.
    Whole(Arc<There>),
    /// As one, with calls of triggers around it.
    Around(Arc<There>, Arc<Firing>),
    /// Row by row.
    ByRows(Arc<Firing>),
}

/// Whether a change is made there row by row.
#[derive(Clone, Copy, Eq, PartialEq)]
enum ByRows {
    Never,
    /// No trigger looks at rows; some are told of the statement.
    Around,
    /// Where it cannot be said as one.
    Perhaps,
    Always,
}

/// What a session has set there, and of what settings here that was made.
pub type Told = Option<(Arc<Settings>, std::time::Duration, Arc<str>)>;

impl Session {
    /// The line to the server that has the tables, where there is one.
    pub(super) fn line(&self) -> Option<&Arc<Line>> {
        self.state.line.as_ref()
    }

    /// How a statement runs there; `None` for one that stays here.
    ///
    /// # Errors
    /// `0A000` for what the server cannot be told.
    pub(super) fn plan_upstream(&self, bound: &Bound, parsed: &Parsed) -> Result<Option<Arc<There>>> {
        if let Some((counted, limited)) = counted_rows(bound)
            && let Some(mut there) = self.plan_there(&limited, parsed)?
        {
            // Where it counts it reads the same tables.
            let counts = self.plan_there(&counted, parsed)?.map(Arc::new);
            there.counts = counts.map(|counts| Arc::new(self.prepared_upstream(counted, Some(counts), parsed, &[])));
            return Ok(Some(Arc::new(there)));
        }
        Ok(self.plan_there(bound, parsed)?.map(Arc::new))
    }

    fn plan_there(&self, bound: &Bound, parsed: &Parsed) -> Result<Option<There>> {
        let Some(behind) = self.database.shared.behind.get().filter(|_| self.line().is_some()) else {
            return Ok(None);
        };
        let speaker =
            Speaker { mysql: self.language() == Language::Mysql, counts_found: self.state.mysql.lock().counts_found() };
        let mut there = match behind.plan(bound, &self.schema, speaker) {
            Ok(Some(there)) => there,
            Ok(None) => return Ok(None),
            Err(error) if error.condition() == Condition::FeatureNotSupported => {
                let said = |bound: &Bound| behind.plan(bound, &self.schema, speaker).is_ok();
                let Some((inner, items)) = late_items(bound, &self.schema, said) else { return Err(error) };
                let Some(mut there) = behind.plan(&inner, &self.schema, speaker).map_err(|_| error)? else {
                    return Ok(None);
                };
                let Ir::Query(query) = &inner.statement else { return Ok(None) };
                let columns = query.columns.iter().map(|column| column.ty.clone()).collect();
                let part = |bound: Bound| Ok(Arc::new(Prepared::of_part(InUse::lower(&bound)?, bound, parsed)));
                there.late = Some(Late { columns, items: Item::prepared(items, part)? });
                there
            }
            Err(error) => return Err(error),
        };
        if !there.said.asked.is_empty() {
            let asked = Bound {
                statement: Ir::Query(Box::new(build::select(there.said.asked.clone(), Vec::new(), None, None))),
                params: bound.params.clone(),
                columns: Vec::new(),
                needs: Default::default(),
                inside: Vec::new(),
                notices: Vec::new(),
                ..bound.clone()
            };
            there.asked = Some(Arc::new(Prepared::of_part(InUse::lower(&asked)?, asked, parsed)));
        }
        Ok(Some(there))
    }

    /// How a statement is run there; `None` for one that is not.
    ///
    /// # Errors
    /// `0A000` for what can be done in no way.
    pub(super) fn way_upstream(&self, bound: &mut Bound, parsed: &Parsed) -> Result<Option<Way>> {
        if self.line().is_none() {
            return Ok(None);
        }
        // The server makes the rows, in its own order.
        if bound.effects.reads && parsed.postgres().is_some_and(|statement| statement.assignments() > 0) {
            return Err(Error::unsupported("setting variables (:=) for rows of a PostgreSQL server"));
        }
        let rows = self.rows_upstream(bound)?;
        let refused = match rows {
            ByRows::Always => None,
            _ => match self.plan_upstream(bound, parsed) {
                Err(error) if rows != ByRows::Never && error.condition() == Condition::FeatureNotSupported => {
                    Some(error)
                }
                done => {
                    let Some(there) = done? else { return Ok(None) };
                    return Ok(Some(match &bound.statement {
                        Ir::Dml(dml) if rows == ByRows::Around => Way::Around(there, Arc::new(Firing::around(dml))),
                        _ => Way::Whole(there),
                    }));
                }
            },
        };
        let Ir::Dml(dml) = &bound.statement else { return Err(Error::internal("rows of no change")) };
        let behind = self.database.shared.behind.get();
        let has_default =
            |relation: &Relation, at: usize| behind.is_some_and(|behind| behind.has_own_default(relation, at));
        let mut there = as_there(dml);
        without_defaults(&mut there, &has_default)?;
        bound.statement = Ir::Dml(Box::new(there));
        let Ir::Dml(dml) = &bound.statement else { return Err(Error::internal("rows of no change")) };
        let told = triggers::Told { language: self.language(), has_default: &has_default };
        let mut part = |bound: Bound| self.part_there(bound, parsed);
        match Firing::there(dml, bound, parsed, &self.schema, &told, &mut part) {
            Ok(mut firing) => {
                if let Some(steps) = &mut firing.steps {
                    steps.number = self.number_there(dml, bound, parsed).map(Arc::new);
                }
                Ok(Some(Way::ByRows(Arc::new(firing))))
            }
            // What the whole was refused for says more.
            Err(error) => Err(refused.unwrap_or(error)),
        }
    }

    /// A part of a change that is made there row by row, ready to run.
    ///
    /// # Errors
    /// `0A000` for what the server cannot be told.
    pub(super) fn part_there(&self, bound: Bound, parsed: &Parsed) -> Result<Arc<Prepared>> {
        Ok(Arc::new(match self.plan_upstream(&bound, parsed)? {
            Some(there) => self.prepared_upstream(bound, Some(there), parsed, &[]),
            None => Prepared::of_part(InUse::lower(&bound)?, bound, parsed),
        }))
    }

    /// What asks for the next number of a table's rows, where triggers of Informix's see a row before it is written: its number
    /// is in it then.
    fn number_there(&self, dml: &Dml, bound: &Bound, parsed: &Parsed) -> Option<Prepared> {
        let asked = self.language() == Language::Informix
            && dml.target.has_trigger(TriggerTime::Before, TriggerLevel::Row, TriggerEvent::Insert);
        let column = dml.target.columns.iter().find(|column| asked && column.identity.is_some())?;
        let said = Said::of(postgres::next_number(&dml.target, &column.name));
        let there = There { said, kind: Kind::Query, asked: None, late: None, counts: None };
        let number = build::select(vec![rowferry_dialect::ir::Expr::null(Type::Int8)], Vec::new(), None, None);
        let bound = Bound {
            statement: Ir::Query(Box::new(number)),
            params: Vec::new(),
            columns: Vec::new(),
            inside: Vec::new(),
            notices: Vec::new(),
            ..bound.clone()
        };
        Some(self.prepared_upstream(bound, Some(Arc::new(there)), parsed, &[]))
    }

    /// Whether a statement is run there row by row.
    ///
    /// # Errors
    /// `0A000` for a change of a table whose triggers would not be asked.
    fn rows_upstream(&self, bound: &Bound) -> Result<ByRows> {
        let asked = |trigger: &Arc<Trigger>| trigger.is_of_door() && trigger.state != TriggerState::Disabled;
        let (dml, events) = match &bound.statement {
            Ir::Dml(dml) => (dml, triggers::events(dml)),
            Ir::Merge(merge)
                if merge.clauses.iter().filter_map(|clause| clause.change.as_ref()).any(|change| {
                    let events = triggers::events(change);
                    let due = |trigger: &Arc<Trigger>| events.iter().any(|event| trigger.waits_for(*event));
                    merge.target.triggers.iter().any(|trigger| asked(trigger) && due(trigger))
                }) =>
            {
                return Err(Error::unsupported("MERGE into a table with triggers, in front of a PostgreSQL server"));
            }
            _ => return Ok(ByRows::Never),
        };
        let beside = dml.ctes.iter().filter_map(|cte| match &cte.body {
            CteBody::Dml(beside) => Some(&beside.target),
            CteBody::Query(_) => None,
        });
        if beside.flat_map(|target| &target.triggers).any(asked) {
            return Err(Error::unsupported("changing several tables with triggers in front of a PostgreSQL server"));
        }
        let due = || {
            let of_event = |trigger: &&Arc<Trigger>| events.iter().any(|event| trigger.waits_for(*event));
            dml.target.triggers.iter().filter(|trigger| asked(trigger)).filter(of_event)
        };
        let by_mysql = self.language() == Language::Mysql;
        if due().any(|trigger| trigger.mysql_body().is_some() != by_mysql) {
            return Err(triggers_of_others(by_mysql));
        }
        // Foreign keys there change rows, and tell nobody here.
        if events.iter().any(|event| triggers::is_carried_on(&self.schema, &dml.target, *event, &mut Vec::new())) {
            let message = "a change that foreign keys carry to tables with triggers, in front of a PostgreSQL server";
            return Err(Error::unsupported(message));
        }
        // Rows that triggers look at, and those of which each that is refused is told of.
        let looks = due().any(|trigger| trigger.level == TriggerLevel::Row);
        Ok(match &dml.one_by_one {
            _ if looks => ByRows::Always,
            Some(rule) if rule.ignores && by_mysql => ByRows::Always,
            _ if due().next().is_some() => ByRows::Around,
            _ if by_mysql => ByRows::Perhaps,
            _ => ByRows::Never,
        })
    }

    /// Makes a change there of which triggers are told, or row by row.
    pub(super) fn change_upstream_by_rows(
        &mut self,
        plan: &Arc<Prepared>,
        firing: &Firing,
        params: &[Value],
    ) -> Result<Outcome> {
        if self.is_read_only() {
            let message = format!("cannot execute {} in a read-only transaction", command_words(plan.command));
            return Err(Error::new(Condition::ReadOnlySqlTransaction, message));
        }
        self.check_needs(plan)?;
        self.transaction.used = true;
        let change = |session: &mut Self| {
            let done = session.change_under_triggers(plan, firing, params)?;
            if done.1 == 0 && informix::current_of(&plan.bound).is_some() {
                return Err(no_current_row());
            }
            Ok(done)
        };
        let (_, rows) = if self.transaction.block != Block::None {
            // All of it or nothing.
            self.begin_subtransaction()?;
            match change(self) {
                Ok(done) => {
                    self.end_subtransaction()?;
                    done
                }
                Err(error) => {
                    // What the server has undone as a whole has no savepoint any more.
                    self.undo_subtransaction().ok();
                    return Err(error);
                }
            }
        } else if self.inner {
            // A statement of a routine's that is a transaction by itself.
            let done = self.as_part_of_transaction(change);
            let Some(line) = self.line().cloned() else { return Err(Error::internal("no line to the server behind")) };
            match done {
                Ok(done) => {
                    line.commit()?;
                    done
                }
                Err(error) => {
                    line.roll_back();
                    return Err(error);
                }
            }
        } else {
            self.as_one_transaction(change)?
        };
        Ok(Outcome::Done { command: plan.command, rows })
    }

    /// Runs a change there, of whose rows nobody here is told: how many it has changed, and the number of the last of them.
    pub(super) fn change_whole_upstream(
        &mut self,
        plan: &Prepared,
        there: &Arc<There>,
        params: &[Value],
    ) -> Result<(u64, Option<i64>)> {
        match self.begin_upstream(plan, there, params)? {
            (_, Begun::Done { rows, number, .. }) => Ok((rows, number)),
            (_, Begun::Rows { .. }) => Err(Error::internal("a change under triggers that returns rows")),
        }
    }

    /// Runs a part of a statement there to its end.
    pub(super) fn part_upstream(
        &mut self,
        part: &Prepared,
        there: &Arc<There>,
        params: &[Value],
    ) -> Result<SpoolReader> {
        match self.begin_upstream(part, there, params)? {
            (line, Begun::Rows { readers, ticket }) => {
                let mut rows = Rows::new(line, ticket, readers);
                let mut spool = Spool::new(rows.columns());
                while rows.advance()? {
                    spool.push((0..rows.columns()).map(|at| rows.column(at)))?;
                }
                let reader = spool.into_reader()?;
                match &there.late {
                    Some(late) => self.call_items(reader, &late.items, params)?.into_reader(),
                    None => Ok(reader),
                }
            }
            (_, Begun::Done { .. }) => Spool::new(0).into_reader(),
        }
    }

    /// Values that are worked out here, for parameters there.
    fn ask_here(&mut self, there: &There, params: &[Value]) -> Result<Vec<Value>> {
        let Some(asked) = &there.asked else { return Ok(Vec::new()) };
        let Outcome::Rows(mut cursor) = self.run_query(asked, params)? else { return Ok(Vec::new()) };
        let row = cursor.next()?.ok_or_else(|| Error::internal("no values"))?;
        Ok((0..there.said.asked.len()).map(|at| row.get(at).to_value()).collect())
    }

    /// A plan of the schema that is there now.
    pub(super) fn renew_upstream(&mut self, prepared: &Arc<Prepared>) -> Result<Arc<Prepared>> {
        if self.transaction.block == Block::None
            && let Some(behind) = self.database.shared.behind.get()
            && behind.look(&self.database, false)?
        {
            self.refresh_schema();
        }
        self.renew(prepared)
    }

    /// Looks whether somebody has changed the schema there; true where it is another one now.
    pub(super) fn reload_upstream(&mut self) -> Result<bool> {
        let Some(behind) = self.database.shared.behind.get().filter(|_| self.line().is_some()) else {
            return Ok(false);
        };
        // What a transaction has changed is nobody else's yet.
        if self.transaction.schema_changed || !behind.look(&self.database, true)? {
            return Ok(false);
        }
        self.refresh_schema();
        Ok(true)
    }

    /// Where in the transaction a statement runs there.
    fn within(&self) -> Within {
        let in_block = self.transaction.block != Block::None;
        let modes = Modes { isolation: self.transaction.isolation, read_only: self.transaction.read_only };
        Within {
            transaction: in_block.then_some(modes),
            savepoints: self.line().map_or(0, |line| line.depth()),
            alone: self.language().undoes_statements(),
            unchecked: false,
        }
    }

    /// Whether a change is said so that no foreign key there looks at it, for `foreign_key_checks` is off.
    fn skips_keys(&self, statement: &Ir) -> Result<bool> {
        if self.language() != Language::Mysql || !self.state.variables.read().is_replica() {
            return Ok(false);
        }
        let Some(behind) = self.database.shared.behind.get() else { return Ok(false) };
        behind.skips_keys(statement, &self.schema)
    }

    /// What a foreign key there refuses although `foreign_key_checks` is off is refused for that.
    fn told_of_keys(&self, error: Error, unchecked: bool) -> Error {
        let asked =
            matches!(error.condition(), Condition::ForeignKeyViolation | Condition::ForeignKeyViolationByParent);
        match asked && !unchecked && self.language() == Language::Mysql && self.state.variables.read().is_replica() {
            true => keys_are_asked(&error.message),
            false => error,
        }
    }

    /// What is to be set there, as text of SQL.
    ///
    /// # Errors
    /// `0A000` for what cannot be set there.
    fn settings_there(&self) -> Result<Arc<str>> {
        let (settings, lock) = {
            let variables = self.state.variables.read();
            (variables.settings(), variables.lock_timeout())
        };
        let mut told = self.state.told_upstream.lock();
        if let Some((known, known_lock, text)) = &*told
            && Arc::ptr_eq(known, &settings)
            && *known_lock == lock
        {
            return Ok(text.clone());
        }
        let zone = match (settings.time_zone.iana_name(), settings.time_zone.to_fixed_offset()) {
            (Some(name), _) => format!("'{}'", name.replace('\'', "''")),
            // An interval, whose sign is that of the offset; as a text it would be the other one.
            (None, Ok(offset)) => format!("INTERVAL '{} seconds'", offset.seconds()),
            (None, Err(_)) => return Err(Error::unsupported("a time zone by rules of its own in front of PostgreSQL")),
        };
        let text: Arc<str> = format!("SET TIME ZONE {zone}; SET lock_timeout = {}", lock.as_millis()).into();
        *told = Some((settings, lock, text.clone()));
        Ok(text)
    }

    /// Runs a statement there.
    pub(super) fn run_upstream(
        &mut self,
        prepared: &Arc<Prepared>,
        there: &Arc<There>,
        params: &[Value],
    ) -> Result<Outcome> {
        if there.kind != Kind::Query && self.is_read_only() {
            let message = format!("cannot execute {} in a read-only transaction", command_words(prepared.command));
            return Err(Error::new(Condition::ReadOnlySqlTransaction, message));
        }
        self.check_needs(prepared)?;
        self.transaction.used = true;
        match there.kind {
            Kind::Query | Kind::Change => self.run_rows_upstream(prepared, there, params),
            Kind::Alone => {
                let unchecked = self.skips_keys(&prepared.bound.statement)?;
                let emptied = match &prepared.bound.statement {
                    // TRUNCATE there asks foreign keys whatever is set.
                    Ir::Ddl(ddl) if unchecked => match ddl.as_ref() {
                        Ddl::Truncate { tables, .. } => Some(postgres::emptied(tables)),
                        _ => None,
                    },
                    _ => None,
                };
                let within = Within { unchecked, ..self.within() };
                let done = self.command_within(emptied.as_deref().unwrap_or(&there.said.sql), within);
                let rows = done.map_err(|error| self.told_of_keys(error, unchecked))?;
                Ok(Outcome::Done { command: prepared.command, rows })
            }
            Kind::Both => {
                let done = self.run_utility(prepared, params)?;
                self.command_upstream(&there.said.sql)?;
                Ok(done)
            }
            Kind::Schema => self.as_one_transaction(|session| {
                let words = session.placed(prepared, there);
                if !words.is_empty() {
                    session.command_upstream(&words)?;
                }
                let done = session.run_ddl(prepared, params);
                if done.is_err() {
                    session.undo_upstream();
                }
                done
            }),
            Kind::TableOfQuery => self.as_one_transaction(|session| {
                let Ir::CreateTableAs(create) = &prepared.bound.statement else {
                    return Err(Error::internal("a table of a query without one"));
                };
                if !params.is_empty() {
                    let message = "INTO TEMP or CREATE TABLE AS with parameters in front of a PostgreSQL server";
                    return Err(Error::unsupported(message).hint("Make the table first, then INSERT … SELECT."));
                }
                let rows = session.command_upstream(&session.placed(prepared, there))?;
                let empty = CreateTableAs { no_data: true, ..(**create).clone() };
                match session.create_shadow(prepared, &empty) {
                    Ok(()) => Ok(Outcome::Done { command: prepared.command, rows }),
                    Err(error) => {
                        session.undo_upstream();
                        Err(error)
                    }
                }
            }),
        }
    }

    /// Runs a statement of rows there as far as its first answer.
    fn begin_upstream(
        &mut self,
        prepared: &Prepared,
        there: &Arc<There>,
        params: &[Value],
    ) -> Result<(Arc<Line>, Begun)> {
        let Some(line) = self.line().cloned() else { return Err(Error::internal("no line to the server behind")) };
        let columns: Vec<Type> = match &there.late {
            Some(late) => late.columns.clone(),
            None => match &prepared.bound.statement {
                // With what nobody is told of: the place of a row that is to be changed.
                Ir::Query(query) => query.columns.iter().map(|column| column.ty.clone()).collect(),
                Ir::Dml(dml) if !dml.columns.is_empty() => dml.columns.iter().map(|column| column.ty.clone()).collect(),
                _ => prepared.bound.columns.iter().map(|column| column.ty.clone()).collect(),
            },
        };
        let asked = self.ask_here(there, params)?;
        let told = &there.said.params;
        let plain =
            asked.is_empty() && told.len() == params.len() && told.iter().enumerate().all(|(at, told)| at == *told);
        let chosen: (Vec<Value>, Vec<Type>);
        let (params, types) = match plain {
            true => (params, prepared.bound.params.as_slice()),
            false => {
                let value = |at: &usize| {
                    let behind = at.wrapping_sub(params.len());
                    let value = params.get(*at).or_else(|| asked.get(behind)).cloned().unwrap_or(Value::Null);
                    let asked_for = || there.said.asked.get(behind).map(|expr| expr.ty.clone());
                    let ty = prepared.bound.params.get(*at).cloned().or_else(asked_for).unwrap_or(Type::Text);
                    (value, ty)
                };
                chosen = told.iter().map(value).unzip();
                (chosen.0.as_slice(), chosen.1.as_slice())
            }
        };
        let unchecked = self.skips_keys(&prepared.bound.statement)?;
        let request = Request {
            plan: prepared.id,
            there,
            params,
            types,
            columns: &columns,
            within: Within { unchecked, ..self.within() },
            writes: there.kind != Kind::Query,
            all_numbers: self.language() == Language::Mysql,
        };
        let settings = self.settings_there()?;
        let begun = line.run(&request, &settings);
        self.take_notices(&line);
        Ok((line, begun.map_err(|error| self.told_of_keys(told_of_range(error, prepared), unchecked))?))
    }

    fn run_rows_upstream(&mut self, prepared: &Arc<Prepared>, there: &Arc<There>, params: &[Value]) -> Result<Outcome> {
        let own = params;
        if let Some(counts) = there.counts.clone() {
            let mut counted = self.run_part(&counts, params)?;
            if counted.advance()?
                && let Value::Integer(rows) = counted.column(0).to_value()
            {
                self.state.mysql.lock().calculate(rows);
            }
        }
        let (line, begun) = self.begin_upstream(prepared, there, params)?;
        match begun {
            Begun::Rows { readers, ticket } => {
                let mut rows = Rows::new(line, ticket, readers);
                if there.kind == Kind::Query && there.late.is_none() {
                    return Ok(Outcome::Rows(Cursor::upstream(rows, prepared.clone(), self.interrupter.clone())));
                }
                let mut spool = Spool::new(rows.columns());
                while rows.advance()? {
                    spool.push((0..rows.columns()).map(|at| rows.column(at)))?;
                }
                let changed = spool.rows();
                let reader = spool.into_reader()?;
                if let Some(late) = &there.late {
                    let rows = self.call_items(reader, &late.items, own)?;
                    return self.rows(prepared, rows);
                }
                let cursor = Cursor::spooled(reader, prepared.clone(), self.interrupter.clone(), changed);
                Ok(Outcome::Rows(cursor))
            }
            Begun::Done { rows: 0, .. } if informix::current_of(&prepared.bound).is_some() => Err(no_current_row()),
            Begun::Done { rows, numbers, updated, told, .. } if self.language() == Language::Mysql => {
                let unwritten = there.said.rows_told.map_or(0, |told| (told as u64).saturating_sub(rows));
                let mut state = self.state.mysql.lock();
                let beside = state.beside() + updated + unwritten;
                state.set_beside(beside);
                drop(state);
                self.note_numbers(prepared, own, &numbers);
                if let Some(told) = told {
                    let mut sequences = self.state.sequences.lock();
                    (sequences.serial, sequences.told) = (Some(told), Some(Number::Said(told)));
                }
                Ok(Outcome::Done { command: prepared.command, rows })
            }
            Begun::Done { rows, number, .. } => {
                if let (Some(number), Ir::Dml(dml)) = (number, &prepared.bound.statement) {
                    self.note_serial(dml.target.oid, number);
                }
                Ok(Outcome::Done { command: prepared.command, rows })
            }
        }
    }

    /// What the server has remarked is for the client.
    fn take_notices(&self, line: &Line) {
        let notices = line.drain_notices();
        if !notices.is_empty() {
            self.state.notices.lock().extend(notices);
        }
    }

    /// What makes a table there, and puts it where it belongs in a cluster.
    fn placed<'a>(&self, prepared: &Prepared, there: &'a There) -> Cow<'a, str> {
        let behind = self.database.shared.behind.get();
        match behind.and_then(|behind| behind.placing(&prepared.bound.statement)) {
            Some(words) => Cow::Owned(format!("{}; {words}", there.said.sql)),
            None => Cow::Borrowed(&there.said.sql),
        }
    }

    /// Runs a statement without rows or parameters there; how many rows it was about.
    fn command_upstream(&mut self, words: &str) -> Result<u64> {
        self.command_within(words, self.within())
    }

    fn command_within(&mut self, words: &str, within: Within) -> Result<u64> {
        let Some(line) = self.line().cloned() else { return Err(Error::internal("no line to the server behind")) };
        let done = line.command(words, within, &self.settings_there()?);
        self.take_notices(&line);
        done
    }

    /// What a statement has done there is undone, since it has failed here. What cannot be undone is lost with the
    /// transaction, which says so.
    fn undo_upstream(&self) {
        if let Some(line) = self.line()
            && self.language().undoes_statements()
        {
            line.undo_statement();
        }
    }

    /// Makes a table here without its rows, which are there.
    fn create_shadow(&mut self, prepared: &Arc<Prepared>, create: &CreateTableAs) -> Result<()> {
        self.open_change(prepared, "CREATE TABLE AS")?;
        self.drop_checks()?;
        self.create_filled(create, &[]).map(|_| ())
    }

    /// A statement outside of a transaction is over: what routines in it have begun there ends with it.
    pub(super) fn settle_upstream(&mut self, result: Result<Outcome>) -> Result<Outcome> {
        if self.inner || self.transaction.block != Block::None {
            return result;
        }
        let Some(line) = self.line().filter(|line| line.is_begun()).cloned() else { return result };
        match result {
            Ok(mut outcome) => {
                if let Outcome::Rows(cursor) = &mut outcome {
                    cursor.read_ahead()?;
                }
                line.commit()?;
                Ok(outcome)
            }
            Err(error) => {
                line.roll_back();
                Err(error)
            }
        }
    }

    /// What was changed there is so from now on.
    pub(super) fn commit_upstream(&mut self) -> Result<()> {
        match self.line() {
            Some(line) if !self.inner => line.commit(),
            _ => Ok(()),
        }
    }

    /// Nothing of it stays.
    pub(super) fn roll_back_upstream(&mut self) {
        if let Some(line) = self.line()
            && !self.inner
        {
            line.roll_back();
        }
    }
}

/// A query with SQL_CALC_FOUND_ROWS: the one that counts, and the one that has its LIMIT.
fn counted_rows(bound: &Bound) -> Option<(Bound, Bound)> {
    let Ir::Query(query) = &bound.statement else { return None };
    let ExprKind::Call { function, args } = &query.limit.as_ref()?.kind else { return None };
    let ("mysql_set_found_rows", [count, limit]) = (function.name, args.as_slice()) else { return None };
    let mut counted = None;
    walk::expr(count, &mut |part| {
        if let (ExprKind::Scalar(query), None) = (&part.kind, &counted) {
            counted = Some(query.clone());
        }
        counted.is_none()
    });
    let mut counted = counted?;
    if let Body::Select(select) = &mut counted.body
        && let Some(From::Query { query, .. }) = &mut select.from
        && query.limit.is_none()
        && query.offset.is_none()
        && let Body::Select(all) = &mut query.body
        && matches!(all.distinct, Distinct::All)
        && !makes_one_group(all)
    {
        // What the rows are is of no matter.
        all.items = vec![rowferry_dialect::ir::Expr::integer(1, Type::Int4)];
        query.columns = vec![OutputColumn { name: String::new(), ty: Type::Int4 }];
        query.order_by.clear();
    }
    let of = |query| Bound { statement: Ir::Query(query), ..bound.clone() };
    let limited = rowferry_dialect::ir::Query { limit: Some(limit.clone()), ..(**query).clone() };
    Some((of(counted), of(Box::new(limited))))
}

/// A query whose aggregates, or HAVING, make one row of all.
fn makes_one_group(select: &Select) -> bool {
    let is_aggregate = |part: &rowferry_dialect::ir::Expr| matches!(part.kind, ExprKind::Aggregate(_));
    let mut found = select.having.is_some();
    for item in &select.items {
        walk::expr(item, &mut |part| {
            found |= is_aggregate(part);
            !found
        });
    }
    found && select.group_by == GroupBy::None
}

/// A change with its table as it is there: its keys, and what is computed of its rows, are that server's.
fn as_there(dml: &Dml) -> Dml {
    let mut dml = dml.clone();
    let mut target = (*dml.target).clone();
    target.triggers.retain(|trigger| trigger.is_of_door());
    for column in &mut target.columns {
        if let Some(generated) = &mut column.generated {
            generated.native = true;
        }
    }
    dml.target = Arc::new(target);
    dml
}

/// A column that is assigned its default, where rows are changed one by one: NULL where it has none.
///
/// # Errors
/// `0A000` for one that only the server knows.
fn without_defaults(dml: &mut Dml, has_default: &dyn Fn(&Relation, usize) -> bool) -> Result<()> {
    let target = dml.target.clone();
    let assignments = match &mut dml.action {
        DmlAction::Update { assignments, .. } => assignments,
        DmlAction::Insert { on_conflict: Some(conflict), .. } => match &mut conflict.action {
            ConflictAction::Update { assignments, .. } => assignments,
            ConflictAction::Nothing => return Ok(()),
        },
        _ => return Ok(()),
    };
    for (at, value) in assignments.iter_mut().filter(|(_, value)| matches!(value.kind, ExprKind::Default)) {
        let column = &target.columns[*at];
        if column.generated.is_some() || column.identity.is_some() {
            continue;
        }
        if has_default(&target, *at) {
            return Err(triggers::default_there());
        }
        *value = rowferry_dialect::ir::Expr::null(column.ty.clone());
    }
    Ok(())
}

fn triggers_of_others(by_mysql: bool) -> Error {
    let (theirs, own) = if by_mysql { ("Informix", "MySQL") } else { ("MySQL", "Informix") };
    Error::unsupported(format!(
        "a change by a client of {own}'s of a table with triggers in {theirs}'s language, in front of a PostgreSQL server,"
    ))
    .hint(format!("Change it as a client of {theirs}'s."))
}

/// The place of a row is another one once it has been changed.
fn no_current_row() -> Error {
    Error::new(Condition::NoCurrentRow, "the cursor's row has been changed or deleted since it was fetched")
}

impl Session {
    /// A trigger that a table has had, which is made anew here since the one there is another.
    ///
    /// # Errors
    /// Those of the file.
    pub(crate) fn put_trigger(&mut self, relation: Arc<Relation>, trigger: &Trigger) -> Result<()> {
        let Some(plan) = self.prepare("SELECT 1", &[])? else { return Err(Error::internal("no statement")) };
        let change = TriggerChange::Create { trigger: trigger.clone(), replace: false };
        let effects = Effects { writes: true, schema: true, ..plan.bound.effects };
        let statement = Ir::Ddl(Box::new(Ddl::Trigger(ChangeTrigger { relation, change })));
        let bound = Bound { statement, columns: Vec::new(), effects, ..plan.bound.clone() };
        let prepared = Arc::new(self.prepared_upstream(bound, None, &plan.parsed, &[]));
        self.execute(&prepared, &[]).map(drop)
    }
}

/// The CHECK there of a column of one of MySQL's own types is that of the type.
fn told_of_range(mut error: Error, prepared: &Prepared) -> Error {
    let Ir::Dml(dml) = &prepared.bound.statement else { return error };
    let range = rowferry_dialect::mysql::types::RANGE;
    if let Some(told) = error.constraint.clone()
        && let Some(name) = whole_name(&dml.target, &told)
    {
        error.message = error.message.replace(&told, &name);
        error.constraint = Some(name);
    }
    let column = error.constraint.as_deref().and_then(|name| name.strip_suffix(range)?.strip_suffix('.'));
    if error.condition() == Condition::CheckViolation
        && let Some(column) = column.and_then(|name| dml.target.columns.iter().find(|column| column.name == name))
        && let Type::User(user) = &column.ty
    {
        error.message = format!("value for domain {} violates check constraint \"{range}\"", user.shown());
        error.constraint = Some(range.to_owned());
        error.data_type = Some(user.name.clone());
    }
    error
}

/// What a key or a constraint is called here, where its name is too long there.
fn whole_name(target: &Relation, told: &str) -> Option<String> {
    let keys = target.indexes.iter().map(|key| key.name.clone());
    let others = target.foreign_keys.iter().map(|key| key.name.clone());
    let checks = target.checks.iter().map(|check| check.name.clone());
    let ranges =
        target.columns.iter().map(|column| format!("{}.{}", column.name, rowferry_dialect::mysql::types::RANGE));
    let mut names = keys.chain(others).chain(checks).chain(ranges);
    names.find(|name| name != told && postgres::short_name(name) == told)
}

/// A query whose items that the server cannot be told are computed here, out of columns that it returns: what it is asked,
/// and what becomes of that. `None` where that is not enough.
fn late_items(bound: &Bound, schema: &dyn Schema, said: impl Fn(&Bound) -> bool) -> Option<(Bound, Vec<Item<Bound>>)> {
    let Ir::Query(query) = &bound.statement else { return None };
    let Body::Select(select) = &query.body else { return None };
    let mut inner = (**query).clone();
    let alone = |at: usize| {
        let mut one = (**query).clone();
        one.order_by.clear();
        one.columns = vec![query.columns[at].clone()];
        if let Body::Select(own) = &mut one.body {
            own.items = vec![select.items[at].clone()];
        }
        Bound { statement: Ir::Query(Box::new(one)), ..bound.clone() }
    };
    let (mut exprs, mut columns, mut items) = (Vec::new(), Vec::new(), Vec::new());
    let mut places = Vec::with_capacity(select.items.len());
    for (at, item) in select.items.iter().enumerate() {
        if said(&alone(at)) {
            places.push(Some(exprs.len()));
            items.push(Item::Column);
            exprs.push(item.clone());
            columns.push(query.columns[at].clone());
            continue;
        }
        places.push(None);
        let (query, read) = late_over(item, select, bound.params.len(), schema)?;
        items.push(Item::late(query, &read, bound));
        for expr in read {
            columns.push(OutputColumn { name: String::new(), ty: expr.ty.clone() });
            exprs.push(expr);
        }
    }
    // Keys that name columns of the result name them where they are now.
    let mut moved = true;
    for key in &mut inner.order_by {
        walk::expr_mut(&mut key.expr, &mut |part| {
            if let ExprKind::Column(column) = &mut part.kind
                && column.relation == query.output
                && let ColumnIndex::At(at) = column.column
            {
                match places.get(at).copied().flatten() {
                    Some(place) => column.column = ColumnIndex::At(place),
                    None => moved = false,
                }
            }
            true
        });
    }
    if !moved {
        return None;
    }
    if exprs.is_empty() {
        exprs.push(rowferry_dialect::ir::Expr::integer(1, Type::Int4));
        columns.push(OutputColumn { name: String::new(), ty: Type::Int4 });
    }
    if let Body::Select(own) = &mut inner.body {
        own.items = exprs;
    }
    inner.columns = columns;
    let statement = Ir::Query(Box::new(inner));
    Some((Bound { statement, columns: Vec::new(), notices: Vec::new(), ..bound.clone() }, items))
}
