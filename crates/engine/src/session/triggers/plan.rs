//! What a compiled change has to do with triggers.

use std::sync::Arc;

use rowferry_dialect::ir::apart::{self, RowParams};
use rowferry_dialect::ir::{
    ConflictAction, CteBody, Dml, DmlAction, Expr, Guards, Heir, LockMode, LockWait, OnConflict, ReferentialChange,
    RowLock, Statement, TriggerEvent, TriggerLevel, TriggerState, TriggerTime,
};
use rowferry_dialect::plan::{Bound, Context};
use rowferry_dialect::postgres::bind_generated;
use rowferry_dialect::schema::{Relation, Trigger};
use rowferry_dialect::stored_calls::change_writes;
use rowferry_dialect::{Error, Language, Result, Type, heritage};

use super::super::compile::Prepared;
use super::super::in_turn::RowsPlan;
use super::super::parsed::Parsed;
use super::foreign_keys;
use super::there::Written;
use crate::backend::{Backend as _, InUse};
use crate::schema::SessionSchema;

/// What a change has to do with triggers.
#[derive(Debug)]
pub(crate) struct Firing {
    /// The statement's events: an INSERT with DO UPDATE has two.
    pub events: Vec<TriggerEvent>,
    /// The statement names a table that this one inherits from: its own statement triggers are not told, and the rows
    /// are those of that table's.
    pub heir: Option<Heir>,
    /// The columns that SET names.
    pub assigned: Vec<usize>,
    /// Foreign keys of the engine that lead to the table.
    pub referred: Vec<Arc<Trigger>>,
    /// The change taken apart, where rows are looked at.
    pub steps: Option<Steps>,
    /// A row that a constraint refuses is passed over, with a warning: IGNORE of MySQL's.
    pub ignores: bool,
    /// What stands in a row's way goes: REPLACE of MySQL's.
    pub replaces: bool,
    /// The rows are those of a server behind.
    pub there: bool,
}

/// A change taken apart, each part ready to run.
#[derive(Debug)]
pub(crate) struct Steps {
    /// Where the statements of one row find their parameters.
    pub at: RowParams,
    /// What is to be done.
    pub rows: RowsPlan,
    pub insert: Option<Arc<Prepared>>,
    pub update: Option<Arc<Prepared>>,
    pub delete: Option<Arc<Prepared>>,
    pub now: Option<Arc<Prepared>>,
    pub conflict: Option<Arc<Prepared>>,
    /// The same, only as far as WHERE: where functions that may write would do more than they should.
    pub holds: Option<Arc<Prepared>>,
    pub returning: Option<Arc<Prepared>>,
    pub computed: Option<Arc<Prepared>>,
    /// What policies ask of rows, and with what they refuse.
    pub guards: Option<Asking>,
    /// The triggers of each EXCLUDE for whose sake ON CONFLICT DO NOTHING leaves a row out.
    pub avoids: Vec<Arc<Trigger>>,
    /// Foreign keys change rows of other tables that have triggers.
    pub cascades: bool,
    /// The back end must not look at foreign keys before all rows are written.
    pub defers_keys: bool,
    /// Behind each row stands whether it is to be changed at all.
    pub asks_changes: bool,
    /// What is written of a row of a server behind: the columns that somebody has given a value.
    pub written: Option<Written>,
    /// What asks a server behind for the next number of a table's rows.
    pub number: Option<Arc<Prepared>>,
}

/// What policies ask of rows: queries of the place of the first condition that does not hold.
#[derive(Debug)]
pub(crate) struct Asking {
    pub guards: Box<Guards>,
    pub inserted: Option<Arc<Prepared>>,
    pub updated: Option<Arc<Prepared>>,
    pub met: Option<Arc<Prepared>>,
    pub deleted: Option<Arc<Prepared>>,
}

/// What is known of a server behind, and of who speaks to it.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    /// Whose rules hold.
    pub language: Language,
    /// A column has a default there which is not known here.
    pub has_default: &'a dyn Fn(&Relation, usize) -> bool,
}

impl Firing {
    /// Of COPY FROM into a table whose rows go elsewhere: of who is told of the whole.
    pub(super) fn of_copied() -> Self {
        let events = vec![TriggerEvent::Insert];
        let (ignores, replaces) = (false, false);
        let assigned = Vec::new();
        Self { events, heir: None, assigned, referred: Vec::new(), steps: None, ignores, replaces, there: false }
    }

    /// `None` for a change of which no trigger is to be told.
    pub fn of(dml: &Dml, bound: &Bound, parsed: &Parsed, schema: &SessionSchema) -> Result<Option<Self>> {
        // The members of a family are told of one by one.
        if dml.family.is_some() || dml.routing.is_some() {
            return Ok(None);
        }
        // Its parts are told of one by one.
        if dml.ctes.iter().any(|cte| matches!(cte.body, CteBody::Dml(_))) {
            if dml.view.is_some() {
                return Err(Error::unsupported("a data-modifying WITH before a change that INSTEAD OF triggers make"));
            }
            return Ok(None);
        }
        let updates = updates(dml);
        let event = event(dml);
        let rule = dml.one_by_one.as_deref();
        let (ignores, replaces) = rule.map_or((false, false), |rule| (rule.ignores, rule.replaces));
        let events = events(dml);
        let cascades = events.iter().any(|event| is_seen_below(schema, &dml.target, *event, &mut Vec::new()));
        let guarded = dml.guards.is_some();
        let assigned: Vec<usize> = updates.map(|set| set.iter().map(|(at, _)| *at).collect()).unwrap_or_default();
        let referred = foreign_keys::referred(schema, &dml.target, &events);
        let is_referred = event == TriggerEvent::Delete && !referred.is_empty()
            || foreign_keys::touches(schema, &dml.target, &referred, &assigned);
        let calls = bound.effects.calls_writers && !dml.target.without_identity && change_writes(dml, schema);
        let seen_above = |heir: &Heir| events.iter().any(|event| heir.head.shows_rows(heir.event(*event)));
        // One row in the place of one that nobody refers to is changed where it lies.
        let keys = || dml.target.indexes.iter().filter(|index| index.unique).count();
        let in_turn = match rule {
            Some(rule) if rule.replaces => keys() > 1 || schema.children(&dml.target).next().is_some(),
            rule => rule.is_some(),
        };
        let by_rows = cascades
            || in_turn
            || guarded
            || meets_to_part(dml, schema)
            || calls
            || is_referred
            || dml.heir.as_ref().is_some_and(seen_above)
            || dml.view.is_some()
            || events.iter().any(|event| dml.target.takes_rows(*event));
        let whole = dml.heir.is_none() && events.iter().any(|event| has_statement_trigger(&dml.target, *event));
        if !by_rows && !whole {
            return Ok(None);
        }
        let steps = if by_rows { Some(Steps::of(dml, bound, parsed, schema, cascades)?) } else { None };
        let heir = dml.heir.clone();
        Ok(Some(Self { events, assigned, referred, steps, heir, ignores, replaces, there: false }))
    }

    /// Of a change that a server behind makes as a whole, and of which statement triggers are told.
    pub fn around(dml: &Dml) -> Self {
        let assigned = updates(dml).map(|set| set.iter().map(|(at, _)| *at).collect()).unwrap_or_default();
        let (heir, referred, steps, ignores, replaces) = (None, Vec::new(), None, false, false);
        Self { events: events(dml), heir, assigned, referred, steps, ignores, replaces, there: true }
    }

    /// The same of a change whose rows are a server's behind, and that is made there row by row: `part` makes a
    /// plan of what is done there. Its foreign keys are that server's.
    ///
    /// # Errors
    /// `0A000` for what cannot be done so.
    pub fn there(
        dml: &Dml,
        bound: &Bound,
        parsed: &Parsed,
        schema: &SessionSchema,
        behind: &Told<'_>,
        part: &mut dyn FnMut(Bound) -> Result<Arc<Prepared>>,
    ) -> Result<Self> {
        let with_changes = dml.ctes.iter().any(|cte| matches!(cte.body, CteBody::Dml(_)));
        if with_changes || dml.family.is_some() || dml.routing.is_some() || dml.guards.is_some() {
            return Err(Error::unsupported("this change, row by row, in front of a PostgreSQL server"));
        }
        let rule = dml.one_by_one.as_deref();
        let (ignores, replaces) = rule.map_or((false, false), |rule| (rule.ignores, rule.replaces));
        let (updates, event, events) = (updates(dml), event(dml), events(dml));
        // What such a column has is known once the row is written.
        let computed = |at: &Option<usize>| at.is_none_or(|at| dml.target.columns[at].generated.is_some());
        let looks_for_others = ignores || replaces || updates.is_some() && event == TriggerEvent::Insert;
        if looks_for_others && dml.target.indexes.iter().any(|key| key.unique && key.columns.iter().any(computed)) {
            let message = "IGNORE, REPLACE and an upsert by several keys of a table with a key over what is computed";
            return Err(Error::unsupported(format!("{message}, in front of a PostgreSQL server")));
        }
        // A row is known by its place, which is another one once a foreign key has changed it.
        if (events.len() > 1 || event != TriggerEvent::Insert) && changes_itself(schema, &dml.target) {
            let message = "a change, row by row, of a table whose foreign keys change its own rows";
            return Err(Error::unsupported(format!("{message}, in front of a PostgreSQL server")));
        }
        let assigned: Vec<usize> = updates.map(|set| set.iter().map(|(at, _)| *at).collect()).unwrap_or_default();
        let steps = Some(Steps::there(dml, bound, parsed, behind, &assigned, part)?);
        let (heir, referred) = (None, Vec::new());
        Ok(Self { events, assigned, referred, steps, heir, ignores, replaces, there: true })
    }
}

/// Foreign keys carry a change of a row of the table to others of its rows.
fn changes_itself(schema: &SessionSchema, table: &Arc<Relation>) -> bool {
    let (mut seen, mut next) = (Vec::new(), vec![table.clone()]);
    while let Some(parent) = next.pop() {
        for child in schema.children(&parent) {
            let carries = child.foreign_keys.iter().any(|key| {
                leads_to(key, &parent) && (key.rules.on_delete.changes_rows() || key.rules.on_update.changes_rows())
            });
            if carries && child.oid == table.oid {
                return true;
            }
            if carries && !seen.contains(&child.oid) {
                seen.push(child.oid);
                next.push(child.clone());
            }
        }
    }
    false
}

impl Steps {
    fn of(dml: &Dml, bound: &Bound, parsed: &Parsed, schema: &SessionSchema, cascades: bool) -> Result<Self> {
        let mut apart = apart::apart(dml, &bound.params, &computed(&dml.target, schema)?)?;
        if bound.effects.calls_writers {
            apart = apart.asking_where_first();
        }
        let part = |statement: Statement, params: &[Type]| {
            let bound =
                Bound { statement, params: params.to_vec(), columns: Vec::new(), notices: Vec::new(), ..bound.clone() };
            Ok(Arc::new(Prepared::of_part(InUse::lower(&bound)?, bound, parsed)))
        };
        let rows = match RowsPlan::in_turn(&apart.rows, bound, parsed, schema)? {
            Some(rows) => rows,
            None => RowsPlan::AtOnce(part(Statement::Query(Box::new(apart.rows)), &bound.params)?),
        };
        let query = |query: Option<rowferry_dialect::ir::Query>| {
            query.map(|query| part(Statement::Query(Box::new(query)), &apart.params)).transpose()
        };
        let change = |dml: Option<Dml>| dml.map(|dml| part(Statement::Dml(Box::new(dml)), &apart.params)).transpose();
        // A key is looked at when all rows are written: where the table refers to itself, or others refer to it.
        let refers_to_itself = dml.target.foreign_keys.iter().any(|key| leads_to(key, &dml.target));
        let is_referred_to = || schema.children(&dml.target).next().is_some();
        Ok(Self {
            at: apart.at,
            rows,
            insert: change(apart.insert)?,
            update: change(apart.update)?,
            delete: change(apart.delete)?,
            now: query(apart.now)?,
            holds: query(apart.holds)?,
            conflict: query(apart.conflict)?,
            returning: query(apart.returning)?,
            computed: query(apart.computed)?,
            guards: match &dml.guards {
                Some(guards) => {
                    let [inserted, updated, met, deleted] = apart.guards;
                    Some(Asking {
                        guards: guards.clone(),
                        inserted: query(inserted)?,
                        updated: query(updated)?,
                        met: query(met)?,
                        deleted: query(deleted)?,
                    })
                }
                None => None,
            },
            avoids: avoids(dml),
            cascades,
            asks_changes: false,
            written: None,
            number: None,
            // MySQL asks of each row, and passes over the one that is refused.
            defers_keys: !dml.one_by_one.as_ref().is_some_and(|rule| rule.ignores || rule.replaces)
                && (refers_to_itself || event(dml) != TriggerEvent::Insert && is_referred_to()),
        })
    }
}

impl Steps {
    fn there(
        dml: &Dml,
        bound: &Bound,
        parsed: &Parsed,
        behind: &Told<'_>,
        assigned: &[usize],
        part: &mut dyn FnMut(Bound) -> Result<Arc<Prepared>>,
    ) -> Result<Self> {
        let mut apart = apart::apart(dml, &bound.params, &[])?;
        // What a row becomes may be worked out here, and then that is compared here, too.
        let asks_changes = matches!(dml.action, DmlAction::Update { .. }) && apart.asks_behind_rows();
        apart.read_source(dml);
        apart.leave_numbers(behind.language == Language::Informix);
        // Who changes a row by its place sees to it that it stays there.
        let lock = || RowLock {
            whole: false,
            id: dml.id,
            relation: dml.target.clone(),
            mode: LockMode::AccessExclusive,
            wait: LockWait::Block,
        };
        if !matches!(dml.action, DmlAction::Insert { .. }) && dml.view.is_none() {
            apart.rows.locking.push(lock());
        }
        let ignores = dml.one_by_one.as_ref().is_some_and(|rule| rule.ignores);
        if let Some(conflict) = apart.conflict.as_mut().filter(|_| !ignores) {
            conflict.locking.push(lock());
        }
        let mut of = |statement: Statement, params: &[Type]| {
            part(Bound {
                statement,
                params: params.to_vec(),
                columns: Vec::new(),
                inside: Vec::new(),
                notices: Vec::new(),
                ..bound.clone()
            })
        };
        let query = |query: rowferry_dialect::ir::Query| Statement::Query(Box::new(query));
        let change = |dml: Dml| Statement::Dml(Box::new(dml));
        let written = Written::of(dml, bound, parsed, &apart, behind.has_default)?;
        let rows = RowsPlan::AtOnce(of(query(apart.rows), &bound.params)?);
        let mut each = |statement: Option<Statement>| statement.map(|one| of(one, &apart.params)).transpose();
        Ok(Self {
            at: apart.at,
            rows,
            insert: each(written.inserted().map(change))?,
            update: each(written.updated(assigned).map(change))?,
            delete: each(apart.delete.map(change))?,
            now: None,
            holds: None,
            conflict: each(apart.conflict.map(query))?,
            returning: each(apart.returning.map(query))?,
            computed: None,
            guards: None,
            avoids: Vec::new(),
            cascades: false,
            defers_keys: false,
            asks_changes,
            written: Some(written),
            number: None,
        })
    }
}

/// What ON CONFLICT DO NOTHING asks before a row is written: the EXCLUDE that it names, or every one.
fn avoids(dml: &Dml) -> Vec<Arc<Trigger>> {
    let DmlAction::Insert { on_conflict: Some(OnConflict { arbiter, action: ConflictAction::Nothing, .. }), .. } =
        &dml.action
    else {
        return Vec::new();
    };
    let meant = |trigger: &&Arc<Trigger>| match (super::exclusion::index_of(&dml.target, trigger), arbiter) {
        (Some((index, _)), Some(arbiter)) => dml.target.indexes[arbiter.index].name == index.name,
        (found, None) => found.is_some(),
        (None, Some(_)) => false,
    };
    dml.target.triggers.iter().filter(meant).cloned().collect()
}

/// ON CONFLICT DO UPDATE of a partition sets what its rows are parted by: whether a row stays is asked of each.
fn meets_to_part(dml: &Dml, schema: &SessionSchema) -> bool {
    match &dml.action {
        DmlAction::Insert { on_conflict: Some(_), .. } => {
            let set = |at: usize| updates(dml).is_some_and(|set| set.iter().any(|(position, _)| *position == at));
            heritage::parts_by(schema, &dml.target, &set)
        }
        _ => false,
    }
}

/// What the engine computes of each row that it writes.
fn computed(target: &Arc<Relation>, schema: &SessionSchema) -> Result<Vec<Expr>> {
    let columns = target.columns.iter().filter(|column| column.is_computed());
    columns
        .filter_map(|column| Some((column, column.generated.as_ref()?)))
        .map(|(column, generated)| bind_generated(&generated.text, &column.ty, target, schema, &Context::default()))
        .collect()
}

/// Everything that a statement may do to rows of its table.
pub(in super::super) fn events(dml: &Dml) -> Vec<TriggerEvent> {
    let event = event(dml);
    if dml.one_by_one.as_ref().is_some_and(|rule| rule.replaces) {
        vec![TriggerEvent::Insert, TriggerEvent::Delete]
    } else if updates(dml).is_some() && event == TriggerEvent::Insert {
        vec![TriggerEvent::Insert, TriggerEvent::Update]
    } else {
        vec![event]
    }
}

/// What a statement does first of all.
fn event(dml: &Dml) -> TriggerEvent {
    match dml.action {
        DmlAction::Insert { .. } => TriggerEvent::Insert,
        DmlAction::Update { .. } => TriggerEvent::Update,
        DmlAction::Delete { .. } => TriggerEvent::Delete,
    }
}

/// SET.
fn updates(dml: &Dml) -> Option<&[(usize, rowferry_dialect::ir::Expr)]> {
    match &dml.action {
        DmlAction::Update { assignments, .. } => Some(assignments),
        DmlAction::Insert { on_conflict: Some(conflict), .. } => match &conflict.action {
            ConflictAction::Update { assignments, .. } => Some(assignments),
            ConflictAction::Nothing => None,
        },
        _ => None,
    }
}

fn has_statement_trigger(relation: &Relation, event: TriggerEvent) -> bool {
    [TriggerTime::Before, TriggerTime::After]
        .into_iter()
        .any(|time| relation.has_trigger(time, TriggerLevel::Statement, event))
}

/// True when a foreign key's action would change rows under a trigger's eyes.
pub(super) fn is_seen_below(
    schema: &SessionSchema,
    parent: &Relation,
    event: TriggerEvent,
    seen: &mut Vec<(u32, TriggerEvent)>,
) -> bool {
    let snapshot = if parent.is_temporary() { &schema.temp } else { &schema.main };
    if snapshot.has_no_triggers() || event == TriggerEvent::Insert || seen.contains(&(parent.oid, event)) {
        return false;
    }
    seen.push((parent.oid, event));
    snapshot.children(parent).any(|child| {
        child.foreign_keys.iter().filter(|key| leads_to(key, parent)).any(|key| {
            let Some(follows) = ReferentialChange::of(key, event) else { return false };
            let event = follows.event();
            // What foreign keys do MySQL's triggers are not told of.
            child.is_told_by_keys(event)
                || has_statement_trigger(child, event)
                || !foreign_keys::referred(schema, child, &[event]).is_empty()
                || is_seen_below(schema, child, event, seen)
        })
    })
}

/// True when a server behind changes rows of tables with triggers of Informix's, by foreign keys, and nobody here is told.
/// Triggers in MySQL's language are never told of what those do.
pub(in super::super) fn is_carried_on(
    schema: &SessionSchema,
    parent: &Arc<Relation>,
    event: TriggerEvent,
    seen: &mut Vec<(u32, TriggerEvent)>,
) -> bool {
    if event == TriggerEvent::Insert || seen.contains(&(parent.oid, event)) {
        return false;
    }
    seen.push((parent.oid, event));
    schema.children(parent).any(|child| {
        let keys = child.foreign_keys.iter().filter(|key| leads_to(key, parent));
        keys.filter_map(|key| ReferentialChange::of(key, event)).any(|follows| {
            let event = follows.event();
            let is_told = |trigger: &Arc<Trigger>| {
                trigger.actions().is_some() && trigger.waits_for(event) && trigger.state != TriggerState::Disabled
            };
            child.triggers.iter().any(is_told) || is_carried_on(schema, child, event, seen)
        })
    })
}

/// True when a foreign key of the back end's refers to a table.
pub(super) fn leads_to(key: &rowferry_dialect::schema::ForeignKey, parent: &Relation) -> bool {
    !key.by_engine
        && key.target.name == parent.name
        && key.target.schema.as_deref().is_none_or(|namespace| namespace == parent.namespace)
}
