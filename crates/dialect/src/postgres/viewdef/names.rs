//! The names by which a printed query calls its relations and their columns.
//!
//! A relation goes by its alias, or by the name that it has today; where two would share a name, the later one gets a
//! number behind it. Columns go by the names that they have today too, unless the query gave them others or USING asks
//! for one name on both sides; then the relation shows a list of its columns' names. The order in which names are given is
//! PostgreSQL's, so that the same columns get the numbers: first those that USING merges, from the outermost join
//! inwards, then the relations', then those of joins that have a name of their own.

use std::collections::{HashMap, HashSet};

use super::first_of;
use crate::ir::{Expr, From, OutputColumn, RelId};
use crate::schema::Schema;

/// What binding notes for the printer.
#[derive(Debug, Default)]
pub(in super::super) struct Shown {
    /// The relations of FROM.
    pub(super) members: HashMap<RelId, Member>,
    /// Joins that are spelled as such, by the first relation of their right side.
    pub(super) joins: HashMap<RelId, Join>,
    /// Members of WITH whose columns are named behind their names.
    pub(super) named_columns: HashSet<crate::ir::CteId>,
    /// GROUP BY of several sets, by what its query yields.
    pub(super) groupings: HashMap<RelId, Grouping>,
    /// The same of the query whose GROUP BY was bound last.
    pub(super) last_grouping: Option<Grouping>,
    /// SEARCH and CYCLE of members of WITH.
    pub(super) added: HashMap<crate::ir::CteId, crate::postgres::search_cycle::Added>,
}

impl Shown {
    /// Relations go by the names that they and their columns have in another schema, in which none of their columns is gone.
    pub(super) fn told_by(&mut self, schema: &dyn Schema) {
        for member in self.members.values_mut() {
            let Some(relation) = member.relation.and_then(|oid| schema.relation_by_oid(oid)) else { continue };
            if member.alias.is_none() {
                member.name.clone_from(&relation.name);
            }
            for slot in &mut member.columns {
                if let Some(column) = slot.at.and_then(|at| relation.columns.get(at)) {
                    slot.now = Some(column.name.clone());
                }
            }
        }
    }
}

/// GROUP BY of several sets, as it was written.
#[derive(Debug)]
pub(in super::super) struct Grouping {
    /// GROUP BY DISTINCT.
    pub(super) distinct: bool,
    pub(super) shapes: Vec<GroupingShape>,
}

/// A part of it.
#[derive(Debug)]
pub(in super::super) enum GroupingShape {
    /// Keys, by their places.
    Keys(Vec<usize>),
    /// `ROLLUP(` and its kin.
    Of(&'static str, Vec<GroupingShape>),
}

/// A relation of FROM.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) kind: Kind,
    /// The relation, by its object id.
    pub(super) relation: Option<u32>,
    /// Alias, or its own name of today.
    pub(super) name: String,
    /// The names that an alias gives to its columns; `None` without an alias.
    pub(super) alias: Option<Vec<String>>,
    /// In the order in which the relation got them.
    pub(super) columns: Vec<Slot>,
    pub(super) only: bool,
    /// The function as it was called, where binding has made something else of it.
    pub(super) call: Option<Call>,
    /// TABLESAMPLE: which of its rows are there.
    pub(super) sample: Option<Sample>,
}

/// TABLESAMPLE as it was written.
#[derive(Debug)]
pub(in super::super) struct Sample {
    pub(in super::super) method: String,
    pub(in super::super) percent: Expr,
    pub(in super::super) seed: Option<Expr>,
}

/// What a member of FROM is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Relation,
    Query,
    Cte,
    Function,
}

/// A function in FROM.
#[derive(Debug)]
pub(in super::super) struct Call {
    pub(super) value: Called,
    pub(super) ordinality: bool,
    /// A column definition list.
    pub(super) defined: Option<Vec<OutputColumn>>,
}

/// What is called.
#[derive(Debug)]
pub(in super::super) enum Called {
    /// A built-in function of rows.
    Rows(&'static crate::functions::Function, Vec<Expr>),
    /// Several such functions side by side.
    Unnest(Vec<Expr>),
    /// A function of one row, or one of users.
    Value(Expr),
    /// ROWS FROM.
    Together(Vec<Call>),
}

/// A column of a relation.
#[derive(Debug)]
pub(super) struct Slot {
    /// The name by which the query's text knows it.
    pub(super) bound: String,
    /// Its own name today; `None` once it has been dropped.
    pub(super) now: Option<String>,
    /// Its position for the binder.
    pub(super) at: Option<usize>,
    /// It came after the query was written.
    pub(super) new: bool,
}

/// A join.
#[derive(Debug)]
pub(super) struct Join {
    /// Its columns are columns of this.
    pub(super) id: RelId,
    /// Columns of USING, as the text names them.
    pub(super) using: Vec<String>,
    pub(super) alias: Option<(String, Vec<String>)>,
    pub(super) using_alias: Option<String>,
    /// A merged column is neither side's.
    pub(super) dangerous: bool,
}

/// The names of a relation's or join's columns.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// In the order of the slots; `None` for those that are gone.
    pub(super) names: Vec<Option<String>>,
    /// All that it would have today, with whether they are new.
    today: Vec<(String, bool)>,
    /// They are listed behind the name.
    pub(super) listed: bool,
    /// Names that joins around merge by.
    reserved: Vec<String>,
    /// USING, by today's names.
    pub(super) using: Vec<String>,
    /// Of a join: where each column comes from on the left and on the right.
    sources: Vec<(Option<usize>, Option<usize>)>,
    /// Which of them the binder can mean, by its positions.
    positions: Vec<Option<usize>>,
}

impl Columns {
    /// All names of today, for a list.
    pub(super) fn list(&self) -> impl Iterator<Item = &str> {
        self.today.iter().map(|(name, _)| name.as_str())
    }

    /// The name of the column at one of the binder's positions.
    pub(super) fn at(&self, position: usize) -> Option<&str> {
        let slot = self.positions.iter().position(|known| *known == Some(position))?;
        self.names.get(slot)?.as_deref()
    }
}

/// What the relations of one query level are called.
#[derive(Debug, Default)]
pub(super) struct Level {
    pub(super) names: HashMap<RelId, String>,
    pub(super) columns: HashMap<RelId, Columns>,
}

impl Level {
    /// Gives names to the members of a FROM that nobody around has taken.
    pub(super) fn of(from: &From, shown: &Shown, taken: &dyn Fn(&str) -> bool) -> Self {
        let mut giving = Giving { shown, level: Self::default(), unique: false, using: Vec::new(), order: Vec::new() };
        giving.collect(from);
        giving.name_relations(taken);
        giving.unique = giving.is_dangerous(from);
        giving.prepare(from);
        giving.name_using(from, &[]);
        for (id, _) in giving.order.clone() {
            if let Some(member) = shown.members.get(&id) {
                giving.name_columns(id, member);
            }
        }
        giving.name_joins(from);
        giving.level
    }
}

struct Giving<'a> {
    shown: &'a Shown,
    level: Level,
    /// Names that USING merges by are unique in the whole level.
    unique: bool,
    using: Vec<String>,
    /// Relations and named joins in the order in which they get names, with the names that they would like.
    order: Vec<(RelId, String)>,
}

/// The sides of a join that is spelled as one.
fn sides<'f>(from: &'f From, shown: &Shown) -> Option<(&'f From, &'f From, RelId)> {
    let From::Join { left, right, .. } = from else { return None };
    shown.joins.get(&first_of(right)).map(|_| (&**left, &**right, first_of(right)))
}

impl Giving<'_> {
    fn join(&self, from: &From) -> Option<&Join> {
        sides(from, self.shown).and_then(|(_, _, key)| self.shown.joins.get(&key))
    }

    /// What a relation or join is kept under.
    fn key(&self, from: &From) -> RelId {
        self.join(from).map_or_else(|| first_of(from), |join| join.id)
    }

    fn collect(&mut self, from: &From) {
        if let From::Join { left, right, .. } = from {
            self.collect(left);
            self.collect(right);
            if let Some(Join { id, alias: Some((name, _)), .. }) = self.join(from) {
                let named = (*id, name.clone());
                self.order.push(named);
            }
            return;
        }
        let id = first_of(from);
        if let Some(member) = self.shown.members.get(&id) {
            self.order.push((id, member.name.clone()));
        }
    }

    fn name_relations(&mut self, taken: &dyn Fn(&str) -> bool) {
        let mut own: HashSet<String> = HashSet::new();
        for (id, wanted) in &self.order {
            if wanted.is_empty() {
                continue;
            }
            let mut name = wanted.clone();
            let mut number = 0;
            while own.contains(&name) || taken(&name) {
                number += 1;
                name = format!("{wanted}_{number}");
            }
            own.insert(name.clone());
            self.level.names.insert(*id, name);
        }
    }

    fn is_dangerous(&self, from: &From) -> bool {
        let From::Join { left, right, .. } = from else { return false };
        let own = self.join(from).is_some_and(|join| join.alias.is_none() && join.dangerous);
        own || self.is_dangerous(left) || self.is_dangerous(right)
    }

    /// Makes room for names, and finds where the columns of joins come from; tells the columns as the text names them.
    fn prepare(&mut self, from: &From) -> Vec<(String, bool)> {
        let Some((left, right, key)) = sides(from, self.shown) else {
            if let From::Join { left, right, .. } = from {
                self.prepare(left);
                self.prepare(right);
                return Vec::new();
            }
            let id = first_of(from);
            let slots = self.shown.members.get(&id).map_or(&[][..], |member| member.columns.as_slice());
            let columns = Columns {
                names: vec![None; slots.len()],
                positions: slots.iter().map(|slot| slot.at).collect(),
                ..Columns::default()
            };
            self.level.columns.insert(id, columns);
            let old = slots.iter().filter(|slot| !slot.new);
            return old.map(|slot| (slot.bound.clone(), slot.now.is_some())).collect();
        };
        let (left, right) = (self.prepare(left), self.prepare(right));
        let join = &self.shown.joins[&key];
        let find = |side: &[(String, bool)], name: &str| side.iter().position(|(bound, live)| *live && bound == name);
        let mut sources = Vec::new();
        let mut columns = Vec::new();
        for name in &join.using {
            sources.push((find(&left, name), find(&right, name)));
            columns.push((name.clone(), true));
        }
        let merged = sources.clone();
        for (at, column) in left.iter().enumerate().filter(|(at, _)| !merged.iter().any(|(l, _)| *l == Some(*at))) {
            sources.push((Some(at), None));
            columns.push(column.clone());
        }
        for (at, column) in right.iter().enumerate().filter(|(at, _)| !merged.iter().any(|(_, r)| *r == Some(*at))) {
            sources.push((None, Some(at)));
            columns.push(column.clone());
        }
        let mut live = 0;
        let positions = columns.iter().map(|(_, is_live)| {
            live += usize::from(*is_live);
            is_live.then(|| live - 1)
        });
        let own =
            Columns { names: vec![None; columns.len()], positions: positions.collect(), sources, ..Columns::default() };
        self.level.columns.insert(join.id, own);
        if let Some((_, given)) = &join.alias {
            for (column, name) in columns.iter_mut().zip(given) {
                column.0.clone_from(name);
            }
        }
        columns
    }

    fn columns(&mut self, id: RelId) -> &mut Columns {
        self.level.columns.entry(id).or_default()
    }

    fn set(&mut self, id: RelId, at: Option<usize>, name: &str) {
        if let Some(place) = at.and_then(|at| self.columns(id).names.get_mut(at)) {
            *place = Some(name.to_owned());
        }
    }

    /// A name that the columns of a relation, and the joins around, leave free.
    fn free(&self, id: RelId, wanted: &str) -> String {
        let own = self.level.columns.get(&id);
        let is_free = |name: &str| {
            !self.using.iter().any(|known| known == name)
                && own.is_none_or(|own| {
                    !own.names.iter().flatten().any(|known| known == name)
                        && !own.today.iter().any(|(known, _)| known == name)
                        && !own.reserved.iter().any(|known| known == name)
                })
        };
        let mut name = wanted.to_owned();
        let mut number = 0;
        while !is_free(&name) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    }

    /// Gives names to what USING merges, and hands them down to both sides.
    fn name_using(&mut self, from: &From, around: &[String]) {
        let Some((left, right, key)) = sides(from, self.shown) else {
            if let From::Join { left, right, .. } = from {
                self.name_using(left, around);
                self.name_using(right, around);
            }
            return;
        };
        let join = &self.shown.joins[&key];
        let (left_id, right_id) = (self.key(left), self.key(right));
        let sources = self.columns(join.id).sources.clone();
        if join.alias.is_none() {
            for (at, (l, r)) in sources.iter().enumerate() {
                if let Some(name) = self.columns(join.id).names[at].clone() {
                    self.set(left_id, *l, &name);
                    self.set(right_id, *r, &name);
                }
            }
        }
        let mut around = around.to_vec();
        for (at, bound) in join.using.iter().enumerate() {
            let name = match self.columns(join.id).names[at].clone() {
                Some(name) => name,
                None => {
                    let given = join.alias.as_ref().and_then(|(_, given)| given.get(at));
                    let name = self.free(join.id, given.unwrap_or(bound));
                    if self.unique {
                        self.using.push(name.clone());
                    }
                    self.set(join.id, Some(at), &name);
                    name
                }
            };
            let (l, r) = sources[at];
            self.set(left_id, l, &name);
            self.set(right_id, r, &name);
            self.columns(join.id).using.push(name.clone());
            around.push(name);
        }
        self.columns(left_id).reserved.clone_from(&around);
        self.columns(right_id).reserved.clone_from(&around);
        self.name_using(left, &around);
        self.name_using(right, &around);
    }

    fn name_columns(&mut self, id: RelId, member: &Member) {
        let mut changed = false;
        for (at, slot) in member.columns.iter().enumerate() {
            let Some(now) = &slot.now else { continue };
            let name = match self.columns(id).names[at].clone() {
                Some(name) => name,
                None => {
                    let given = member.alias.as_ref().and_then(|given| given.get(at));
                    let name = self.free(id, given.unwrap_or(now));
                    self.set(id, Some(at), &name);
                    name
                }
            };
            changed |= name != *now;
            self.columns(id).today.push((name, slot.new));
        }
        self.columns(id).listed = match member.kind {
            Kind::Relation => changed,
            Kind::Function => true,
            Kind::Query | Kind::Cte => changed || member.alias.as_ref().is_some_and(|given| !given.is_empty()),
        };
    }

    /// Gives names to the columns of joins, from the innermost outwards.
    fn name_joins(&mut self, from: &From) {
        if let From::Join { left, right, .. } = from {
            self.name_joins(left);
            self.name_joins(right);
        }
        let Some((left, right, key)) = sides(from, self.shown) else { return };
        let join = &self.shown.joins[&key];
        let (left, right) = (self.key(left), self.key(right));
        let own = self.columns(join.id);
        let (sources, merged) = (own.sources.clone(), own.using.len());
        let mut changed = false;
        for (at, (l, r)) in sources.iter().enumerate().skip(merged) {
            let (side, place) = if l.is_some() { (left, *l) } else { (right, *r) };
            let real = place.and_then(|place| self.columns(side).names.get(place).cloned().flatten());
            let Some(real) = real else {
                self.columns(join.id).names[at] = None;
                continue;
            };
            let Some((_, given)) = &join.alias else {
                self.set(join.id, Some(at), &real);
                continue;
            };
            if self.columns(join.id).names[at].is_none() {
                let name = self.free(join.id, given.get(at).unwrap_or(&real));
                self.set(join.id, Some(at), &name);
            }
            changed |= self.columns(join.id).names[at].as_ref() != Some(&real);
        }
        for at in 0..merged {
            let name = self.columns(join.id).names[at].clone().unwrap_or_default();
            self.columns(join.id).today.push((name, false));
        }
        changed |= self.list_side(join, left, &sources[merged..], merged, true);
        changed |= self.list_side(join, right, &sources[merged..], merged, false);
        self.columns(join.id).listed = join.alias.is_some() && changed;
    }

    /// The columns that a join has from one side today, behind those that it merges; tells whether one has another name.
    fn list_side(
        &mut self,
        join: &Join,
        side: RelId,
        sources: &[(Option<usize>, Option<usize>)],
        merged: usize,
        left: bool,
    ) -> bool {
        let today = self.columns(side).today.clone();
        let old: Vec<usize> = {
            let names = &self.columns(side).names;
            (0..names.len()).filter(|at| names[*at].is_some()).collect()
        };
        let mut old = old.into_iter();
        let mut changed = false;
        for (child, new) in today {
            if new {
                let name = if join.alias.is_some() { self.free(join.id, &child) } else { child.clone() };
                changed |= name != child;
                self.columns(join.id).today.push((name, true));
                continue;
            }
            let Some(place) = old.next() else { continue };
            let of_side = |source: &(Option<usize>, Option<usize>)| if left { source.0 } else { source.1 };
            // What is merged stands in front.
            let Some(at) = sources.iter().position(|source| of_side(source) == Some(place)) else { continue };
            let name = self.columns(join.id).names[merged + at].clone().unwrap_or(child);
            self.columns(join.id).today.push((name, false));
        }
        changed
    }
}
