//! The table that INSERT, UPDATE or DELETE changes: named itself, or through a view whose rows are one table's.
//!
//! A view is changed as PostgreSQL does it by itself: the statement is bound to the table behind the view, the view's
//! columns standing for their expressions and its condition joining the statement's own.

use std::sync::Arc;

use pg_query::protobuf as pg;

use super::binder::{Binder, Entry};
use super::policies::{Secured, found_by};
use crate::access::Privileges;
use crate::ir::{
    Body, ColumnIndex, ColumnRef, Distinct, Expr, ExprKind, Family, From, GroupBy, Query, RelId, Routing, Select,
    TriggerEvent, TriggerLevel, TriggerTime, Value, ViewCheck, walk,
};
use crate::plan::Context;
use crate::schema::Schema;
use crate::schema::{CheckOption, Relation, RelationKind, ViewOptions};
use crate::{Condition, Error};

type Result<T, E = Error> = std::result::Result<T, E>;

/// What a statement does to its table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Change {
    Insert,
    Update,
    Delete,
}

impl Change {
    const fn words(self) -> &'static str {
        match self {
            Self::Insert => "insert into",
            Self::Update => "update",
            Self::Delete => "delete from",
        }
    }

    const fn event(self) -> TriggerEvent {
        match self {
            Self::Insert => TriggerEvent::Insert,
            Self::Update => TriggerEvent::Update,
            Self::Delete => TriggerEvent::Delete,
        }
    }

    const fn privileges(self) -> Privileges {
        match self {
            Self::Insert => Privileges::INSERT,
            Self::Update => Privileges::UPDATE,
            Self::Delete => Privileges::DELETE,
        }
    }

    /// What PostgreSQL suggests where a view cannot be changed by itself.
    const fn hint(self) -> &'static str {
        match self {
            Self::Insert => {
                "To enable inserting into the view, provide an INSTEAD OF INSERT trigger or an unconditional ON INSERT DO \
                 INSTEAD rule."
            }
            Self::Update => {
                "To enable updating the view, provide an INSTEAD OF UPDATE trigger or an unconditional ON UPDATE DO \
                 INSTEAD rule."
            }
            Self::Delete => {
                "To enable deleting from the view, provide an INSTEAD OF DELETE trigger or an unconditional ON DELETE DO \
                 INSTEAD rule."
            }
        }
    }
}

/// The table that a statement changes, and how the statement names its columns.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The table itself.
    pub(super) relation: Arc<Relation>,
    /// Its number in the statement.
    pub(super) id: RelId,
    /// The names in scope: the table's, or the view's.
    pub(super) entry: Entry,
    /// It is a view whose INSTEAD OF triggers take the rows: its query.
    pub(super) rows: Option<Box<From>>,
    /// Others inherit from the table, and their rows are meant, too.
    pub(super) family: Option<Box<Family>>,
    /// Where its rows go, where that has to be found out.
    pub(super) routing: Option<Box<Routing>>,
    /// Whose policies the table's rows are asked.
    pub(super) secured: Option<Secured>,
    /// Its rows are changed one after another, by MySQL's rules.
    pub(super) one_by_one: bool,
    /// It is changed for the rules of a relation.
    pub(super) spelled: bool,
    view: Option<View>,
}

/// The view through which a table is changed.
#[derive(Clone, Debug)]
struct View {
    relation: Arc<Relation>,
    /// For each of its columns the table's, if it is one; else which view's column on the way down is none.
    columns: Vec<Result<usize, Computed>>,
    filter: Option<Expr>,
    /// What the statement asks is asked of rows that the view shows, and of no others.
    barrier: bool,
    checks: Vec<ViewCheck>,
    /// Defaults that views give to columns of the table, by position; the outermost view's counts.
    defaults: Vec<(usize, String)>,
    /// The views between it and the table.
    between: Vec<Between>,
}

/// A view that stands behind another.
#[derive(Clone, Debug)]
struct Between {
    id: RelId,
    oid: u32,
    /// For each of its columns the table's, if it is one.
    columns: Vec<Option<usize>>,
}

/// A view's column that is computed, so that nothing can be stored in it.
#[derive(Clone, Debug)]
struct Computed {
    view: String,
    column: String,
    reason: &'static str,
}

impl Computed {
    fn error(&self, change: Change) -> Error {
        let message = format!("cannot {} column \"{}\" of view \"{}\"", change.words(), self.column, self.view);
        Error::new(Condition::FeatureNotSupported, message).detail(self.reason)
    }
}

/// The columns that an INSERT without a list gives values to.
pub(super) struct InOrder {
    /// The table's columns.
    pub(super) positions: Vec<usize>,
    /// What is wrong with giving a value to one more.
    pub(super) beyond: Option<Error>,
}

impl Target {
    /// Where rows go that a trigger may take to another partition before they are written.
    pub(super) fn moved_by_triggers(&self) -> Option<Box<Routing>> {
        let asks =
            |leaf: &Arc<Relation>| leaf.has_trigger(TriggerTime::Before, TriggerLevel::Row, TriggerEvent::Update);
        self.routing.clone().filter(|routing| self.relation.is_partitioned() && routing.members.iter().any(asks))
    }

    /// A table named itself.
    pub(super) fn table(relation: Arc<Relation>, id: RelId) -> Self {
        let entry = Entry::of_relation(&relation, id, None);
        Self {
            relation,
            id,
            entry,
            rows: None,
            family: None,
            routing: None,
            secured: None,
            one_by_one: false,
            spelled: false,
            view: None,
        }
    }

    /// The table's columns in the order in which an INSERT without a list gives them.
    pub(super) fn in_order(&self) -> InOrder {
        let Some(view) = &self.view else {
            return InOrder { positions: (0..self.relation.columns.len()).collect(), beyond: None };
        };
        let mut positions = Vec::with_capacity(view.columns.len());
        for column in &view.columns {
            let beyond = match column {
                Ok(at) if positions.contains(at) => Some(self.assigned_twice(*at)),
                Ok(at) => {
                    positions.push(*at);
                    None
                }
                Err(computed) => Some(computed.error(Change::Insert)),
            };
            if beyond.is_some() {
                return InOrder { positions, beyond };
            }
        }
        InOrder { positions, beyond: None }
    }

    /// Two of a view's columns are the same column of the table.
    pub(super) fn assigned_twice(&self, position: usize) -> Error {
        let name = &self.relation.columns[position].name;
        Error::new(Condition::SyntaxError, format!("multiple assignments to same column \"{name}\""))
    }

    /// The statement's condition together with the view's, and with that of policies. `again` is a number for the table
    /// where it has to be named once more.
    pub(super) fn filtered(&self, filter: Option<Expr>, policies: Option<Expr>, again: RelId) -> Option<Expr> {
        let barrier = policies.is_some() || self.view.as_ref().is_some_and(|view| view.barrier);
        // The rows of a family are of several tables.
        let asked = filter.as_ref().filter(|_| barrier && self.family.is_none());
        let found = asked.and_then(|asked| found_by(asked, self.id, &self.relation, again));
        let seen = match &self.view {
            None => filter,
            Some(view) if view.barrier => in_turn(view.filter.clone(), filter),
            Some(view) => both(view.filter.clone(), filter),
        };
        both(found, in_turn(policies, seen))
    }

    /// The table or view that the statement names.
    pub(super) fn named(&self) -> &Relation {
        self.view.as_ref().map_or(&self.relation, |view| &view.relation)
    }

    /// Somebody sees rows that are inserted before they are written.
    pub(super) fn shows_rows(&self) -> bool {
        self.one_by_one
            || self.spelled
            || self.secured.is_some()
            || self.routing.is_some()
            || self.relation.takes_rows(TriggerEvent::Insert)
    }

    /// The statement goes through a view.
    pub(super) fn is_view(&self) -> bool {
        self.view.is_some()
    }

    /// What the views on the way ask of a row that is stored.
    pub(super) fn checks(&self) -> Vec<ViewCheck> {
        self.view.as_ref().map(|view| view.checks.clone()).unwrap_or_default()
    }

    /// The default that a view gives to a column of the table.
    pub(super) fn view_default(&self, position: usize) -> Option<&str> {
        let defaults = &self.view.as_ref()?.defaults;
        defaults.iter().find(|(at, _)| *at == position).map(|(_, text)| text.as_str())
    }

    /// UPDATE sets a column of a view to DEFAULT: NULL, unless the view itself has a default for it.
    pub(super) fn default_is_null(&self, position: usize) -> bool {
        self.view.is_some() && self.view_default(position).is_none()
    }

    /// The names of a row that is proposed for insertion, numbered `excluded`.
    pub(super) fn excluded(&self, excluded: RelId) -> Entry {
        let mut entry = match &self.view {
            None => Entry::of_relation(&self.relation, excluded, Some("excluded")),
            Some(_) => {
                let mut entry = self.entry.clone();
                entry.name = "excluded".to_owned();
                entry.schema = None;
                for column in &mut entry.columns {
                    walk::expr_mut(&mut column.expr, &mut |expr| {
                        if let ExprKind::Column(column) = &mut expr.kind
                            && column.relation == self.id
                        {
                            column.relation = excluded;
                        }
                        true
                    });
                }
                entry
            }
        };
        entry.unqualified = false;
        entry
    }
}

impl Binder<'_> {
    /// Finds the table that a statement changes.
    pub(super) fn target(&mut self, range: Option<&pg::RangeVar>, change: Change) -> Result<Target> {
        let Some(range) = range else { return Err(Error::internal("a statement without its table")) };
        let relation = self.relation(range)?;
        self.check_rules(&relation, change.event())?;
        let spelled = self.spells_for_rules();
        let alias = range.alias.as_ref().map(|alias| alias.aliasname.as_str());
        match &relation.kind {
            RelationKind::Table => {
                let id = self.ids.relation();
                let mark = self.needs.mark();
                self.need(id, &relation, change.privileges());
                self.needs.change(mark, id, change.privileges());
                let secured = self.secured(id, &relation);
                let members = self.heirs_too(&relation, range.inh && change != Change::Insert);
                let routing = if change == Change::Delete { None } else { self.routing(&relation, id)? };
                let mut target = Target { secured, routing, spelled, ..Target::table(relation, id) };
                target.family = members.map(|members| self.changed_family(members, id)).transpose()?;
                if let Some(alias) = alias {
                    target.entry = Entry::of_relation(&target.relation, id, Some(alias));
                }
                Ok(target)
            }
            RelationKind::Sequence { .. } => {
                Err(self.error(Condition::WrongObjectType, format!("cannot change sequence \"{}\"", relation.name), -1))
            }
            RelationKind::View { .. } => self.view_target(relation, alias, change, range.location),
            RelationKind::MaterializedView { .. } => {
                let message = format!("cannot change materialized view \"{}\"", relation.name);
                Err(Error::new(Condition::WrongObjectType, message))
            }
            RelationKind::NativeView => Err(self.error(
                Condition::ObjectNotInPrerequisiteState,
                format!("cannot {} view \"{}\"", change.words(), relation.name),
                range.location,
            )),
            RelationKind::Catalog => Err(self.error(
                Condition::InsufficientPrivilege,
                format!("permission denied: \"{}\" is a system catalog", relation.name),
                range.location,
            )),
        }
    }

    fn view_target(&mut self, view: Arc<Relation>, alias: Option<&str>, change: Change, place: i32) -> Result<Target> {
        let mark = self.needs.mark();
        let (from, mut entry) = self.table(&view, alias, place)?;
        let event = change.event();
        let replaced = || view.rules_for(event).any(|rule| rule.instead && rule.condition.is_none());
        if self.views_as_relations()
            || view.has_trigger(TriggerTime::InsteadOf, TriggerLevel::Row, event)
            || self.shows_text() && replaced()
        {
            let From::Query { id, .. } = &from else { return Err(Error::internal("a view is a query")) };
            let id = *id;
            self.needs.change(mark, id, change.privileges());
            let (relation, rows) = (view, Some(Box::new(from)));
            let (family, routing, secured, view) = (None, None, None, None);
            let spelled = self.spells_for_rules();
            return Ok(Target {
                relation,
                id,
                entry,
                rows,
                family,
                routing,
                secured,
                one_by_one: false,
                spelled,
                view,
            });
        }
        let From::Query { query, .. } = from else { return Err(Error::internal("a view is a query")) };
        let rows = self.rows_of_a_table(&view, *query, change, false)?;
        self.check_rules_behind(&view, &rows.relation, event)?;
        self.needs.change(mark, rows.id, change.privileges());
        self.needs.change_behind(mark, rows.id, change.privileges());
        for (column, expr) in entry.columns.iter_mut().zip(rows.items) {
            column.expr = expr;
        }
        let view = View {
            relation: view,
            columns: rows.columns,
            filter: rows.filter,
            barrier: rows.barrier,
            checks: rows.checks,
            defaults: rows.defaults,
            between: rows.between,
        };
        let secured = self.secured_relations.remove(&rows.id);
        let members = self.heirs_too(&rows.relation, rows.all && change != Change::Insert);
        let family = members.map(|members| self.changed_family(members, rows.id)).transpose()?;
        let routing = if rows.taken.is_some() { None } else { self.routing(&rows.relation, rows.id)? };
        if rows.taken.is_some() && !view.checks.is_empty() {
            let what = "WITH CHECK OPTION of a view over one whose INSTEAD OF triggers take the rows";
            return Err(self.unsupported(what, place));
        }
        let view = Some(view);
        let one_by_one = false;
        Ok(Target {
            relation: rows.relation,
            id: rows.id,
            entry,
            rows: rows.taken,
            family,
            routing,
            secured,
            one_by_one,
            spelled: self.spells_for_rules(),
            view,
        })
    }

    /// Notes which of the table's columns a statement changes, for the check of privileges.
    pub(super) fn change_columns(&mut self, target: &Target, positions: impl Iterator<Item = usize>, insert: bool) {
        for position in positions {
            self.needs.change_column(target.id, (target.relation.oid, position), insert);
            let Some(view) = &target.view else { continue };
            if let Some(at) = view.columns.iter().position(|column| column.as_ref().ok() == Some(&position)) {
                self.needs.change_column(target.id, (view.relation.oid, at), insert);
            }
            for view in &view.between {
                if let Some(at) = view.columns.iter().position(|column| *column == Some(position)) {
                    self.needs.change_column(view.id, (view.oid, at), insert);
                }
            }
        }
    }

    /// Notes which of the table's columns a statement reads without naming them as values.
    pub(super) fn read_target(&mut self, target: &Target, positions: impl Iterator<Item = usize>) {
        for position in positions {
            let at = |view: &View| view.columns.iter().position(|column| column.as_ref().ok() == Some(&position));
            let read = match &target.view {
                None => Some((target.relation.oid, position)),
                Some(view) => at(view).map(|at| (view.relation.oid, at)),
            };
            if let Some(read) = read {
                self.needs.read(read, Some(target.id));
            }
        }
    }

    /// The table's column that a statement means by a name.
    pub(super) fn target_column(&self, target: &Target, name: &str, change: Change, place: i32) -> Result<usize> {
        let named = target.view.as_ref().map_or(&target.relation, |view| &view.relation);
        let position = named.column(name).ok_or_else(|| {
            self.error(
                Condition::UndefinedColumn,
                format!("column \"{name}\" of relation \"{}\" does not exist", named.name),
                place,
            )
        })?;
        let Some(view) = &target.view else { return Ok(position) };
        view.columns[position].as_ref().copied().map_err(|computed| computed.error(change))
    }

    /// Why a view of this query cannot be changed by itself, in PostgreSQL's words; what stands below it is not asked.
    pub(super) fn why_not_updatable(&self, query: &Query) -> Option<&'static str> {
        let select = match single_select(query.clone()) {
            Ok(select) => select,
            Err(reason) => return Some(reason),
        };
        if let Err(reason) = check_select(&select) {
            return Some(reason);
        }
        if select.from.as_ref().is_some_and(|from| self.is_sampled(from)) {
            return Some(SAMPLED);
        }
        let below = match &select.from {
            Some(From::Relation { id, relation, .. }) if relation.kind == RelationKind::Table => *id,
            Some(From::Query { id, lateral: false, .. })
                if self.views_behind.contains_key(id) || self.families.contains_key(id) =>
            {
                *id
            }
            _ => return Some("Views that do not select from a single table or view are not automatically updatable."),
        };
        let stored = select.items.iter().any(|item| self.stored_column(item, below).is_some());
        (!stored).then_some("Views that have no updatable columns are not automatically updatable.")
    }

    /// True for a table, or a family of them, of which TABLESAMPLE leaves some rows.
    fn is_sampled(&self, from: &From) -> bool {
        match from {
            From::Query { id, .. } if !self.families.contains_key(id) => false,
            From::Relation { .. } | From::Query { .. } => super::from::holds_sample(from),
            _ => false,
        }
    }

    /// The column that an expression is, if it is nothing else and one in which something can be stored: `tableoid` of a
    /// family's rows is none.
    fn stored_column(&self, item: &Expr, of: RelId) -> Option<usize> {
        let width = self.families.get(&of).map_or(usize::MAX, |head| head.columns.len());
        column_of(item, of).filter(|at| *at < width)
    }

    /// A view's query as rows of one table, through views of views. `cascaded` says that a view above asks for the
    /// conditions of those below it.
    fn rows_of_a_table(
        &mut self,
        view: &Arc<Relation>,
        mut query: Query,
        change: Change,
        cascaded: bool,
    ) -> Result<Rows> {
        let refused = |reason| not_updatable(view, change, reason);
        let options = options_of(view);
        let check = options.check();
        without_barrier(view, &mut query);
        let select = single_select(query).map_err(refused)?;
        check_select(&select).map_err(refused)?;
        if select.from.as_ref().is_some_and(|from| self.is_sampled(from)) {
            return Err(refused(SAMPLED));
        }
        let Select { mut items, mut filter, from, .. } = select;
        let own_columns = |items: &[Expr], below: RelId| -> Result<Vec<Option<usize>>> {
            let columns: Vec<Option<usize>> = items.iter().map(|item| self.stored_column(item, below)).collect();
            if change != Change::Delete && columns.iter().all(Option::is_none) {
                let reason = "Views that have no updatable columns are not automatically updatable.";
                return Err(not_updatable(view, change, reason));
            }
            Ok(columns)
        };
        let (rows, columns) = match from {
            Some(From::Relation { id, relation, .. }) if relation.kind == RelationKind::Table => {
                let columns = own_columns(&items, id)?;
                (Rows::of_table(relation, id, false), columns)
            }
            Some(From::Query { id, lateral: false, .. }) if self.families.contains_key(&id) => {
                let columns = own_columns(&items, id)?;
                (Rows::of_table(self.families[&id].clone(), id, true), columns)
            }
            Some(From::Query { id, query, lateral: false }) if self.views_behind.contains_key(&id) => {
                let columns = own_columns(&items, id)?;
                let inner = self.views_behind[&id].clone();
                self.check_rules_behind(view, &inner, change.event())?;
                let takes_rows = inner.has_trigger(TriggerTime::InsteadOf, TriggerLevel::Row, change.event());
                if takes_rows {
                    // No table is looked for behind a view that says itself what becomes of a row.
                    let taken = From::Query { id, query, lateral: false };
                    let mut rows = Rows::of_table(inner, id, false);
                    rows.taken = Some(Box::new(taken));
                    return self.rows_above(view, rows, (items, filter, columns), change, cascaded);
                }
                let below = cascaded || check == Some(CheckOption::Cascaded);
                let mut rows = self.rows_of_a_table(&inner, *query, change, below)?;
                items.iter_mut().chain(&mut filter).for_each(|expr| put_in_place(expr, id, &rows.items));
                let stored = rows.columns.iter().map(|column| column.as_ref().ok().copied()).collect();
                rows.between.push(Between { id, oid: inner.oid, columns: stored });
                (rows, columns)
            }
            _ => {
                let reason = "Views that do not select from a single table or view are not automatically updatable.";
                return Err(not_updatable(view, change, reason));
            }
        };
        self.rows_above(view, rows, (items, filter, columns), change, cascaded)
    }

    /// The rows of a view above those of a table, or of another view: its columns, its condition, and for each column which
    /// of those below it is.
    fn rows_above(
        &self,
        view: &Arc<Relation>,
        mut rows: Rows,
        (items, filter, columns): (Vec<Expr>, Option<Expr>, Vec<Option<usize>>),
        change: Change,
        cascaded: bool,
    ) -> Result<Rows> {
        let options = options_of(view);
        let check = options.check();
        rows.columns = (columns.into_iter().zip(&view.columns))
            .map(|(below, column)| match below {
                Some(at) => rows.columns[at].clone(),
                None => Err(Computed {
                    view: view.name.clone(),
                    column: column.name.clone(),
                    reason: "View columns that are not columns of their base relation are not updatable.",
                }),
            })
            .collect();
        for (column, base) in view.columns.iter().zip(&rows.columns) {
            match (&column.default, base) {
                (Some(default), Ok(base)) => {
                    rows.defaults.retain(|(at, _)| at != base);
                    rows.defaults.push((*base, default.text.clone()));
                }
                // A default is a value that is given to the column.
                (Some(_), Err(computed)) if change == Change::Insert => return Err(computed.error(change)),
                _ => {}
            }
        }
        if let Some(condition) = filter.clone().filter(|_| cascaded || check.is_some()) {
            rows.checks.push(ViewCheck { view: view.name.clone(), condition });
        }
        rows.barrier |= options.security_barrier();
        rows.items = items;
        rows.filter = both(rows.filter.take(), filter);
        Ok(rows)
    }
}

fn options_of(view: &Relation) -> ViewOptions {
    match &view.kind {
        RelationKind::View { options, .. } => options.clone(),
        _ => ViewOptions::default(),
    }
}

/// Takes the OFFSET away that keeps a `security_barrier` view's rows apart.
fn without_barrier(view: &Relation, query: &mut Query) {
    if options_of(view).security_barrier() && query.limit.is_none() && query.offset == Some(barrier()) {
        query.offset = None;
    }
}

/// The OFFSET that keeps a `security_barrier` view's rows apart.
pub(super) fn barrier() -> Expr {
    Expr::integer(0, crate::Type::Int8)
}

/// What a relation lets be done by itself: PostgreSQL's bits of events, and its columns in which something can be stored.
pub struct Updatable {
    /// 4 UPDATE, 8 INSERT, 16 DELETE.
    pub events: i32,
    /// For each column.
    pub columns: Vec<bool>,
}

const DELETE: i32 = 1 << 4;
const CHANGES: i32 = (1 << 2) | DELETE;
const ALL: i32 = (1 << 3) | CHANGES;

/// What the catalogs tell of a relation.
pub fn updatable(relation: &Arc<Relation>, schema: &dyn Schema, context: &Context) -> Updatable {
    let width = relation.columns.len();
    match relation.kind {
        RelationKind::Table => return Updatable { events: ALL, columns: vec![true; width] },
        RelationKind::View { .. } => {}
        _ => return Updatable { events: 0, columns: vec![false; width] },
    }
    let replaced = |event| relation.rules_for(event).any(|rule| rule.instead && rule.condition.is_none());
    let by_rules = [(TriggerEvent::Update, 1 << 2), (TriggerEvent::Insert, 1 << 3), (TriggerEvent::Delete, DELETE)];
    let by_rules = by_rules.into_iter().filter(|(event, _)| replaced(*event)).fold(0, |bits, (_, bit)| bits | bit);
    if by_rules == ALL {
        return Updatable { events: ALL, columns: vec![true; width] };
    }
    let Updatable { events, columns } = updatable_by_itself(relation, schema, context);
    let all = (events | by_rules) & CHANGES == CHANGES && by_rules & CHANGES != 0;
    Updatable { events: events | by_rules, columns: if all { vec![true; width] } else { columns } }
}

/// The same of a view without its rules and triggers: what stands below it says what can be done.
fn updatable_by_itself(relation: &Arc<Relation>, schema: &dyn Schema, context: &Context) -> Updatable {
    let nothing = Updatable { events: 0, columns: vec![false; relation.columns.len()] };
    let mut binder = Binder::detached(schema, context);
    let Ok((From::Query { mut query, .. }, _)) = binder.table(relation, None, -1) else { return nothing };
    without_barrier(relation, &mut query);
    let Ok(select) = single_select(*query) else { return nothing };
    if check_select(&select).is_err() || select.from.as_ref().is_some_and(|from| binder.is_sampled(from)) {
        return nothing;
    }
    let (below, inner) = match &select.from {
        Some(From::Relation { id, relation, .. }) if relation.kind == RelationKind::Table => (*id, relation.clone()),
        Some(From::Query { id, lateral: false, .. }) => {
            match binder.families.get(id).or_else(|| binder.views_behind.get(id)) {
                Some(inner) => (*id, inner.clone()),
                None => return nothing,
            }
        }
        _ => return nothing,
    };
    let inner = updatable(&inner, schema, context);
    let stores = |item: &Expr| binder.stored_column(item, below).is_some_and(|at| inner.columns.get(at) == Some(&true));
    let columns: Vec<bool> = select.items.iter().map(stores).collect();
    // What has no column to store in can be deleted from all the same; what is below a column is asked of the column alone.
    let any = select.items.iter().any(|item| binder.stored_column(item, below).is_some());
    Updatable { events: inner.events & if any { ALL } else { DELETE }, columns }
}

/// A view with rules that are asked of some rows alone.
pub(super) fn not_updatable_by_rules(view: &Relation, event: TriggerEvent) -> Error {
    let change = match event {
        TriggerEvent::Insert => Change::Insert,
        TriggerEvent::Update => Change::Update,
        TriggerEvent::Delete | TriggerEvent::Truncate => Change::Delete,
    };
    not_updatable(view, change, "Views with conditional DO INSTEAD rules are not automatically updatable.")
}

fn not_updatable(view: &Relation, change: Change, reason: &str) -> Error {
    Error::new(Condition::ObjectNotInPrerequisiteState, format!("cannot {} view \"{}\"", change.words(), view.name))
        .detail(reason)
        .hint(change.hint())
}

/// Why a view of some of a table's rows cannot be changed.
const SAMPLED: &str = "Views containing TABLESAMPLE are not automatically updatable.";

/// A view's rows, each of which is a row of one table.
struct Rows {
    relation: Arc<Relation>,
    id: RelId,
    /// The rows of those that inherit from it, too.
    all: bool,
    /// What the view's columns are of the table's row.
    items: Vec<Expr>,
    columns: Vec<Result<usize, Computed>>,
    filter: Option<Expr>,
    barrier: bool,
    checks: Vec<ViewCheck>,
    defaults: Vec<(usize, String)>,
    between: Vec<Between>,
    /// `relation` is a view whose INSTEAD OF triggers take the rows: its query.
    taken: Option<Box<From>>,
}

impl Rows {
    /// All of a table's, or of a view's that stands for one.
    fn of_table(relation: Arc<Relation>, id: RelId, all: bool) -> Self {
        let columns = (0..relation.columns.len()).map(Ok).collect();
        Self {
            relation,
            id,
            all,
            items: Vec::new(),
            columns,
            filter: None,
            barrier: false,
            checks: Vec::new(),
            defaults: Vec::new(),
            between: Vec::new(),
            taken: None,
        }
    }
}

/// The column that an expression is, if it is nothing else.
pub(crate) fn column_of(item: &Expr, of: RelId) -> Option<usize> {
    match item.kind {
        ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) if relation == of => Some(at),
        _ => None,
    }
}

/// The SELECT of a view's query, unless it is more; else why the view cannot be changed, in PostgreSQL's words.
pub(crate) fn single_select(query: Query) -> std::result::Result<Select, &'static str> {
    if !query.ctes.is_empty() {
        return Err("Views containing WITH are not automatically updatable.");
    }
    if query.limit.is_some() || query.offset.is_some() {
        return Err("Views containing LIMIT or OFFSET are not automatically updatable.");
    }
    match query.body {
        Body::Select(select) => Ok(*select),
        Body::Set { .. } => Err("Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable."),
        Body::Values(_) => Err("Views that do not select from a single table or view are not automatically updatable."),
    }
}

pub(crate) fn check_select(select: &Select) -> std::result::Result<(), &'static str> {
    if !matches!(select.distinct, Distinct::All) {
        return Err("Views containing DISTINCT are not automatically updatable.");
    }
    if !matches!(select.group_by, GroupBy::None) {
        return Err("Views containing GROUP BY are not automatically updatable.");
    }
    if select.having.is_some() {
        return Err("Views containing HAVING are not automatically updatable.");
    }
    let mut reason = None;
    for item in &select.items {
        walk::expr(item, &mut |expr| {
            match expr.kind {
                ExprKind::Aggregate(_) => {
                    reason.get_or_insert("Views that return aggregate functions are not automatically updatable.");
                }
                ExprKind::Window(_) => {
                    reason.get_or_insert("Views that return window functions are not automatically updatable.");
                }
                _ => {}
            }
            !matches!(expr.kind, ExprKind::Scalar(_) | ExprKind::Exists(_) | ExprKind::ArrayQuery(_))
        });
    }
    reason.map_or(Ok(()), Err)
}

/// Puts a derived table's items in the place of its columns.
pub(crate) fn put_in_place(expr: &mut Expr, derived: RelId, items: &[Expr]) {
    walk::expr_mut(expr, &mut |expr| {
        if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = expr.kind
            && relation == derived
            && let Some(item) = items.get(at)
        {
            *expr = item.clone();
            return false;
        }
        true
    });
}

/// Both, the second asked only where the first holds: only a CASE keeps an order.
fn in_turn(first: Option<Expr>, second: Option<Expr>) -> Option<Expr> {
    match (first, second) {
        (Some(first), Some(second)) => {
            let otherwise = Some(Box::new(Expr::new(ExprKind::Literal(Value::Integer(0)), crate::Type::Bool)));
            let kind = ExprKind::Case { branches: vec![(first, second)], otherwise };
            Some(Expr::new(kind, crate::Type::Bool))
        }
        (first, second) => first.or(second),
    }
}

pub(crate) fn both(first: Option<Expr>, second: Option<Expr>) -> Option<Expr> {
    match (first, second) {
        (Some(first), Some(second)) => Some(Expr::new(ExprKind::And(vec![first, second]), crate::Type::Bool)),
        (first, second) => first.or(second),
    }
}
