//! What binding notes while it binds a query that is to be printed.

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::super::binder::{Binder, Entry};
use super::super::{expr::columns::column_of, names};
use super::first_of;
use super::names::{Call, Called, Grouping, GroupingShape, Join, Kind, Member, Sample, Slot};
use crate::ir::{Expr, From, OutputColumn, RelId};
use crate::postgres::search_cycle::Added;
use crate::schema::Relation;

impl Binder<'_> {
    /// Notes how a member of FROM is called.
    pub(in super::super) fn note_shown(&mut self, node: &Node, from: &From, entries: &[Entry]) {
        let ([entry], Some(_)) = (entries, &self.shown) else { return };
        let (kind, alias, only) = match &node.node {
            Some(N::RangeVar(range)) if matches!(from, From::Cte { .. }) => (Kind::Cte, range.alias.as_ref(), false),
            Some(N::RangeVar(range)) => (Kind::Relation, range.alias.as_ref(), !range.inh),
            Some(N::RangeSubselect(subselect)) => (Kind::Query, subselect.alias.as_ref(), false),
            Some(N::RangeFunction(function)) => (Kind::Function, function.alias.as_ref(), false),
            _ => return,
        };
        let id = first_of(from);
        let given: Option<Vec<String>> =
            alias.map(|alias| names::strings(&alias.colnames).into_iter().map(str::to_owned).collect());
        let relation = match from {
            From::Relation { relation, .. } => Some(relation.clone()),
            From::Query { id, .. } => self.views_behind.get(id).cloned(),
            _ => None,
        };
        let member = match (kind, relation, &node.node) {
            (Kind::Relation, Some(relation), Some(N::RangeVar(range))) => {
                let columns = self.slots(&relation, range.location, given.as_deref().unwrap_or_default());
                let name = alias.map_or(&relation.name, |alias| &alias.aliasname).clone();
                let relation = Some(relation.oid);
                Member { kind, relation, name, alias: given, columns, only, call: None, sample: None }
            }
            _ => {
                let slot = |(at, name): (usize, &String)| Slot {
                    bound: name.clone(),
                    now: Some(name.clone()),
                    at: Some(at),
                    new: false,
                };
                let names: Vec<String> = entry.columns.iter().map(|column| column.name.clone()).collect();
                let columns = names.iter().enumerate().map(slot).collect();
                let unnamed = kind == Kind::Query && alias.is_none();
                let name = if unnamed { "unnamed_subquery".to_owned() } else { entry.name.clone() };
                Member { kind, relation: None, name, alias: given, columns, only, call: None, sample: None }
            }
        };
        if let Some(shown) = &mut self.shown {
            let call = shown.members.remove(&id).and_then(|noted| noted.call);
            shown.members.insert(id, Member { call, ..member });
        }
    }

    /// Notes a table of which some rows are there.
    pub(in super::super) fn note_sample(&mut self, table: &Node, from: &From, entries: &[Entry], sample: Sample) {
        self.note_shown(table, from, entries);
        let Some(shown) = &mut self.shown else { return };
        if let Some(member) = shown.members.get_mut(&first_of(from)) {
            member.sample = Some(sample);
        }
    }

    /// The columns of a relation: those that it had when the text was written, and those that came later.
    fn slots(&self, relation: &Relation, place: i32, given: &[String]) -> Vec<Slot> {
        let bound = |at: usize, name: &str| given.get(at).map_or(name, String::as_str).to_owned();
        let Some(pin) = self.pinned(place).filter(|pin| pin.oid == relation.oid) else {
            let slot = |(at, name): (usize, &String)| Slot {
                bound: bound(at, name),
                now: Some(name.clone()),
                at: Some(at),
                new: false,
            };
            let names: Vec<String> = relation.columns.iter().map(|column| column.name.clone()).collect();
            return names.iter().enumerate().map(slot).collect();
        };
        let mut slots = Vec::new();
        for (at, pinned) in pin.columns.iter().enumerate() {
            let place = relation.columns.iter().position(|known| Some(&known.name) == pinned.now.as_ref());
            let now = pinned.now.clone().filter(|_| place.is_some());
            slots.push(Slot { bound: bound(at, &pinned.name), now, at: place, new: false });
        }
        for (at, column) in relation.columns.iter().enumerate() {
            if !slots.iter().any(|slot| slot.now.as_ref() == Some(&column.name)) {
                let name = column.name.clone();
                slots.push(Slot { bound: name.clone(), now: Some(name), at: Some(at), new: true });
            }
        }
        slots
    }

    /// Notes a function in FROM as it was called.
    pub(in super::super) fn note_call(
        &mut self,
        from: &From,
        value: impl FnOnce() -> Called,
        ordinality: bool,
        defined: Option<&[OutputColumn]>,
    ) {
        let Some(shown) = &mut self.shown else { return };
        let call = Call { value: value(), ordinality, defined: defined.map(<[OutputColumn]>::to_vec) };
        let member = Member {
            kind: Kind::Function,
            relation: None,
            name: String::new(),
            alias: None,
            columns: Vec::new(),
            only: false,
            call: Some(call),
            sample: None,
        };
        shown.members.insert(first_of(from), member);
    }

    /// What was noted of a function that is one of several.
    pub(in super::super) fn take_call(&mut self, from: &From) -> Option<Call> {
        self.shown.as_mut()?.members.remove(&first_of(from))?.call
    }

    /// Notes a join that is spelled as one. What it merges into a value of its own, and all that has its name, become
    /// columns of it: nobody runs what is bound to be printed.
    pub(in super::super) fn note_join(
        &mut self,
        join: &pg::JoinExpr,
        right: &From,
        using: Option<&[String]>,
        merged: Option<&mut Entry>,
    ) {
        if self.shown.is_none() {
            return;
        }
        let id = self.ids.relation();
        let using = using.unwrap_or_default().to_vec();
        let mut dangerous = false;
        if let Some(merged) = merged {
            for (at, column) in merged.columns.iter_mut().enumerate().take(using.len()) {
                if column_of(&column.expr).is_none() {
                    dangerous = true;
                    column.expr = Expr::column(id, at, column.expr.ty.clone());
                }
            }
        }
        let given = |alias: &pg::Alias| names::strings(&alias.colnames).into_iter().map(str::to_owned).collect();
        let noted = Join {
            id,
            using,
            alias: join.alias.as_ref().map(|alias| (alias.aliasname.clone(), given(alias))),
            using_alias: join.join_using_alias.as_ref().map(|alias| alias.aliasname.clone()),
            dangerous,
        };
        if let Some(shown) = &mut self.shown {
            shown.joins.insert(first_of(right), noted);
        }
    }

    /// Makes all that a join's alias names columns of the join.
    pub(in super::super) fn note_join_columns(&self, right: &From, entry: &mut Entry) {
        let Some(join) = self.shown.as_ref().and_then(|shown| shown.joins.get(&first_of(right))) else { return };
        for (at, column) in entry.columns.iter_mut().enumerate() {
            column.expr = Expr::column(join.id, at, column.expr.ty.clone());
        }
    }

    /// Notes how a GROUP BY of several sets is written; its query is told apart later.
    pub(in super::super) fn note_grouping(&mut self, distinct: bool, shapes: Vec<GroupingShape>) {
        if let Some(shown) = &mut self.shown {
            shown.last_grouping = Some(Grouping { distinct, shapes });
        }
    }

    /// Tells of which query the GROUP BY is that was bound last.
    pub(in super::super) fn note_grouped(&mut self, output: RelId) {
        if let Some(shown) = &mut self.shown
            && let Some(grouping) = shown.last_grouping.take()
        {
            shown.groupings.insert(output, grouping);
        }
    }

    /// Notes the SEARCH and CYCLE of a member of WITH.
    pub(in super::super) fn note_added_columns(&mut self, cte: crate::ir::CteId, added: Added) {
        if let Some(shown) = &mut self.shown {
            shown.added.insert(cte, added);
        }
    }

    /// Notes a member of WITH whose columns have names of their own.
    pub(in super::super) fn note_named_columns(&mut self, cte: crate::ir::CteId) {
        if let Some(shown) = &mut self.shown {
            shown.named_columns.insert(cte);
        }
    }
}
