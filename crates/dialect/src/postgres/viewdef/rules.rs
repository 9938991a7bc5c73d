//! A rule as PostgreSQL prints it: `pg_get_ruledef`. What a rule asks and does is kept as it is printed, each relation in
//! its schema.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use super::bodies::{has_lines_in_quotes, types_of_today};
use super::names::{Kind, Level, Member, Shown, Slot};
use super::{UNSEEN, World, ctes_of};
use crate::Result;
use crate::ir::trigger::{NEW_ROW, OLD_ROW};
use crate::ir::{DmlAction, From, JoinKind, RelId, Statement};
use crate::plan::Context;
use crate::postgres::binder::{Binder, Clause, Scope};
use crate::postgres::parse::{self, Parsed};
use crate::postgres::policies::OffPath;
use crate::postgres::rules;
use crate::postgres::words::quote_ident as quote;
use crate::schema::{QualifiedName, Relation, Rule, Schema};
use crate::uses::{Dependency, Uses};
use crate::values::Settings;

/// A rule's definition; `None` when a part of it has no printed form. A name in its schema tells its relation, unless it is
/// to be `pretty` and can be found without.
pub fn rule_definition(
    rule: &Rule,
    relation: &Arc<Relation>,
    schema: &dyn Schema,
    context: &Context,
    settings: &Settings,
    pretty: bool,
) -> Option<String> {
    let place = Place { relation, names: &OffPath(schema), told: schema, context };
    let on = match pretty {
        true if schema
            .relation(&QualifiedName::bare(&relation.name))
            .is_some_and(|found| found.oid == relation.oid) =>
        {
            quote(&relation.name)
        }
        _ => format!("{}.{}", quote(&relation.namespace), quote(&relation.name)),
    };
    let mut text = format!("CREATE RULE {} AS\n    ON {} TO {on}", quote(&rule.name), rule.event.words());
    if let Some(condition) = &rule.condition {
        write!(text, "\n   WHERE {}", place.condition(condition, Some(settings), pretty)?).ok()?;
    }
    text.push_str(if rule.instead { " DO INSTEAD " } else { " DO " });
    let actions: Vec<String> =
        rule.actions.iter().map(|action| place.action(action, Some(settings), pretty)).collect::<Option<_>>()?;
    match actions.as_slice() {
        [] => text.push_str("NOTHING;"),
        [action] => {
            if action.starts_with('\n') {
                text.truncate(text.trim_end().len());
            }
            write!(text, "{action};").ok()?;
        }
        several => {
            text.push('(');
            several.iter().for_each(|action| {
                text.push_str(action);
                text.push_str(";\n");
            });
            text.push_str(");");
        }
    }
    Some(text)
}

/// A condition of a rule as it is kept.
pub(in crate::postgres) fn kept_condition(
    text: &str,
    relation: &Arc<Relation>,
    (names, told): (&dyn Schema, &dyn Schema),
    context: &Context,
) -> Option<String> {
    let kept = Place { relation, names, told, context }.condition(text, None, false)?;
    // It is read as it is kept.
    Place { relation, names: told, told, context }.condition(&kept, None, false)?;
    Some(kept)
}

/// A statement of a rule as it is kept.
pub(in crate::postgres) fn kept_action(
    text: &str,
    relation: &Arc<Relation>,
    (names, told): (&dyn Schema, &dyn Schema),
    context: &Context,
) -> Option<String> {
    let kept = Place { relation, names, told, context }.action(text, None, false)?.trim_start().to_owned();
    Place { relation, names: told, told, context }.action(&kept, None, false)?;
    Some(kept)
}

/// A rule after a change of names: what it names is found by the schema of before, and told as it is called now. `None` when
/// that cannot be told.
pub fn renamed_rule(
    rule: &Rule,
    relation: &Arc<Relation>,
    (before, now): (&dyn Schema, &dyn Schema),
    context: &Context,
) -> Option<Rule> {
    let (names, told) = (&OffPath(before), &OffPath(now));
    let place = Place { relation, names, told, context };
    let mut renamed = rule.clone();
    if let Some(condition) = &mut renamed.condition {
        *condition = place.condition(condition, None, false)?;
    }
    for action in &mut renamed.actions {
        *action = place.action(action, None, false)?.trim_start().to_owned();
    }
    let relation = now.relation_by_oid(relation.oid)?;
    let mut needs = rule_uses(&renamed, &relation, told, context).ok()?;
    needs.remove(&(relation.oid, None));
    renamed.needs = needs.into_iter().collect();
    Some(renamed)
}

/// What a rule names, its own relation among them.
///
/// # Errors
/// As for its statements, where they cannot be bound.
pub fn rule_uses(
    rule: &Rule,
    relation: &Arc<Relation>,
    schema: &dyn Schema,
    context: &Context,
) -> Result<BTreeSet<Dependency>> {
    let mut all = BTreeSet::new();
    let mut add = |binder: &mut Binder<'_>| {
        let uses = binder.uses.take().unwrap_or_default();
        all.extend(uses.dependencies());
        all.extend(uses.literals.iter().map(|named| (named.oid, None)));
        uses
    };
    if let Some(condition) = &rule.condition {
        let mut binder = Binder::detached(schema, context);
        binder.uses = Some(Uses::of_rows(relation, &[OLD_ROW, NEW_ROW]));
        let entries = rules::rows(relation);
        binder.stored(condition, crate::Language::Postgres, entries, Clause::Where)?;
        add(&mut binder);
    }
    let mut changed = BTreeSet::new();
    for action in &rule.actions {
        let parsed = rules::parsed(rule, action)?;
        let mut binder = binder_for(&parsed, relation, schema, context);
        binder.uses = Some(Uses::of_rows(relation, &[OLD_ROW, NEW_ROW]));
        let statement = binder.as_kept(&*parsed.tree()?)?;
        let uses = add(&mut binder);
        let Statement::Dml(dml) = &statement else { continue };
        let column = |at: &usize| (dml.target.oid, Some(dml.target.columns[*at].name.clone()));
        changed.insert((dml.target.oid, None));
        let own = uses.columns.iter().filter(|named| named.id == dml.id && named.position < dml.target.columns.len());
        changed.extend(own.map(|named| column(&named.position)));
        match &dml.action {
            DmlAction::Insert { columns, .. } => changed.extend(columns.iter().map(column)),
            DmlAction::Update { assignments, .. } => changed.extend(assignments.iter().map(|(at, _)| column(at))),
            DmlAction::Delete { .. } => {}
        }
    }
    all.extend(changed);
    Ok(all)
}

fn binder_for<'a>(
    parsed: &'a Parsed,
    relation: &Arc<Relation>,
    schema: &'a dyn Schema,
    context: &'a Context,
) -> Binder<'a> {
    let mut binder = Binder::new(parsed, schema, context, &[]);
    binder.asks_policies = false;
    binder.stored = true;
    binder.scopes.push(Scope { entries: rules::rows(relation), ..Scope::default() });
    binder
}

/// Where the texts of a rule stand.
struct Place<'a> {
    relation: &'a Arc<Relation>,
    /// What they name is found here,
    names: &'a dyn Schema,
    /// and told as this knows it.
    told: &'a dyn Schema,
    context: &'a Context,
}

impl Place<'_> {
    fn condition(&self, text: &str, settings: Option<&Settings>, pretty: bool) -> Option<String> {
        let mut binder = Binder::detached(self.names, self.context);
        binder.shown = Some(Shown::default());
        let entries = rules::rows(self.relation);
        let mut expr = binder.stored(text, crate::Language::Postgres, entries, Clause::Where).ok()?;
        crate::ir::walk::expr_mut(&mut expr, &mut |part| {
            types_of_today(part, self.told);
            true
        });
        let mut ctes = HashMap::new();
        crate::ir::walk::expr(&expr, &mut |part| {
            ctes.extend(part.kind.query().into_iter().flat_map(ctes_of));
            true
        });
        let (shown, views) = (binder.shown.take()?, std::mem::take(&mut binder.views_behind));
        let printed = self.world(shown, views, ctes, settings).expr(&expr, pretty)?;
        (!has_lines_in_quotes(&printed)).then_some(printed)
    }

    /// A statement, beginning with a blank.
    fn action(&self, text: &str, settings: Option<&Settings>, pretty: bool) -> Option<String> {
        let parsed = parse::parse(text).ok()?.pop()?;
        let tree = parsed.tree().ok()?;
        if matches!(&**tree, pg_query::protobuf::node::Node::NotifyStmt(_)) {
            return Some(format!("\n {text}"));
        }
        let mut binder = binder_for(&parsed, self.relation, self.names, self.context);
        binder.shown = Some(Shown::default());
        let mut statement = binder.as_kept(&tree).ok()?;
        crate::ir::walk::statement_mut(&mut statement, &mut |expr| {
            types_of_today(expr, self.told);
            true
        });
        let (shown, views) = (binder.shown.take()?, std::mem::take(&mut binder.views_behind));
        let ctes = match &statement {
            Statement::Query(query) => ctes_of(query),
            Statement::Dml(dml) if dml.ctes.is_empty() => HashMap::new(),
            _ => return None,
        };
        let mut world = self.world(shown, views, ctes, settings);
        world.pretty = pretty;
        let printed = match &statement {
            Statement::Query(query) => world.query(query, pretty, &UNSEEN)?,
            Statement::Dml(dml) => world.change(dml, &tree)?,
            _ => return None,
        };
        (!has_lines_in_quotes(&printed)).then_some(printed)
    }

    /// What things are called beside `old` and `new`.
    fn world<'w>(
        &'w self,
        mut shown: Shown,
        views: HashMap<RelId, Arc<Relation>>,
        ctes: HashMap<crate::ir::CteId, String>,
        settings: Option<&'w Settings>,
    ) -> World<'w> {
        let row = |id| From::Relation { id, relation: self.relation.clone(), filter: None };
        for (id, name) in [(OLD_ROW, "old"), (NEW_ROW, "new")] {
            let slot = |(at, column): (usize, &crate::schema::Column)| Slot {
                bound: column.name.clone(),
                now: Some(column.name.clone()),
                at: Some(at),
                new: false,
            };
            let member = Member {
                kind: Kind::Relation,
                relation: Some(self.relation.oid),
                name: name.to_owned(),
                alias: Some(Vec::new()),
                columns: self.relation.columns.iter().enumerate().map(slot).collect(),
                only: false,
                call: None,
                sample: None,
            };
            shown.members.insert(id, member);
        }
        shown.told_by(self.told);
        let both =
            From::Join { kind: JoinKind::Inner, left: Box::new(row(OLD_ROW)), right: Box::new(row(NEW_ROW)), on: None };
        let level = Level::of(&both, &shown, &|_| false);
        let names: HashSet<String> = level.names.values().cloned().collect();
        World {
            shown,
            own: None,
            settings,
            views,
            schema: self.told,
            ctes,
            wrap: 0,
            level: RefCell::new(level),
            levels: RefCell::new(vec![names]),
            beside: RefCell::default(),
            params: None,
            pretty: false,
        }
    }
}
