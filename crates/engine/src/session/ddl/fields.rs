//! What is computed from an attribute of a composite type, and stands in the way of its end.

use std::sync::Arc;

use rowferry_dialect::postgres::{asks_field, reads_field};
use rowferry_dialect::schema::Relation;
use rowferry_dialect::user_type::UserType;
use rowferry_dialect::{Error, Language, postgres};

use super::dependencies::Needed;
use super::{Changer, Done, cannot_drop, described};

/// Something of a table that is computed from an attribute.
enum Part {
    Check(String),
    Column(String),
    Index(String),
}

impl Changer<'_> {
    /// Checks, generated columns, indexes and views that ask an attribute are reasons to keep it, or go with it.
    pub(super) fn drop_users_of_field(&self, ty: &UserType, at: usize, cascade: bool) -> Done {
        let schema = self.schema();
        let field = ty.composite().map(|composite| composite.fields[at].name.as_str()).unwrap_or_default();
        let shown = format!("column {field} of composite type {}", ty.shown());
        let (mut parts, mut views, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for relation in schema.user_relations().filter(|relation| relation.language == Language::Postgres) {
            let is_view = !relation.keeps_rows() || relation.is_materialized();
            let asks = || {
                let (text, pins) = relation.definition()?;
                let uses = self.session.uses(text, Some(pins), relation.language, &schema).ok()?;
                Some(uses.names_field(text, ty.oid, field))
            };
            let reads = || self.session.bind_view(relation, &schema).is_ok_and(|query| reads_field(&query, ty, at));
            if is_view && (asks() == Some(true) || reads()) {
                views.push(relation.clone());
            } else if relation.keeps_rows() {
                for (part, line) in self.parts_asking(relation, ty, at) {
                    lines.push((line, shown.clone()));
                    parts.push((relation.oid, part));
                }
            }
        }
        let context = self.session.text_context();
        let (mut others, mut triggers, mut policies) = (Vec::new(), Vec::new(), Vec::new());
        for relation in schema.user_relations().filter(|relation| relation.language == Language::Postgres) {
            for trigger in relation.named_triggers() {
                let uses = |text: &String| postgres::trigger_condition_uses(text, relation, &schema, &context).ok();
                if trigger.condition.as_ref().and_then(uses).is_some_and(|uses| uses.names_field("", ty.oid, field)) {
                    others.push(format!("trigger {} on {}", trigger.name, described(&schema, relation)));
                    triggers.push((relation.clone(), trigger.clone()));
                }
            }
            for policy in relation.policies() {
                let uses = |text: &String| postgres::policy_uses(text, relation, &schema, &context).ok();
                let mut texts = [&policy.using, &policy.check].into_iter().flatten();
                if texts.any(|text| uses(text).is_some_and(|uses| uses.names_field("", ty.oid, field))) {
                    others.push(format!("policy {} on {}", policy.name, described(&schema, relation)));
                    policies.push((relation.clone(), policy.clone()));
                }
            }
        }
        for view in &views {
            let under = views
                .iter()
                .find(|other| other.oid != view.oid && schema.users(other.oid).any(|(user, _)| user.oid == view.oid));
            let on = under.map_or_else(|| shown.clone(), |other| described(&schema, other));
            lines.push((described(&schema, view), on));
        }
        let (more, bodies, _) = self.users_of(views.iter().map(|view| Needed::relation(&schema, view)).collect());
        for line in self.listed(&more, &bodies) {
            if !lines.iter().any(|(known, _)| *known == line.0) {
                lines.push(line);
            }
        }
        lines.extend(others.into_iter().map(|line| (line, shown.clone())));
        if lines.is_empty() {
            return Ok(());
        }
        if !cascade {
            return Err(cannot_drop(&shown, &lines));
        }
        self.tell_cascade(&lines.into_iter().map(|(line, _)| line).collect::<Vec<_>>());
        self.drop_bodies(&bodies)?;
        self.drop_triggers(triggers.iter().map(|(relation, trigger)| (&**relation, &**trigger)))?;
        policies.iter().try_for_each(|(table, policy)| self.drop_policy(table, policy))?;
        more.iter().try_for_each(|dependent| self.drop_view(&dependent.view))?;
        let stays = |view: &&Arc<Relation>| !more.iter().any(|dependent| dependent.view.oid == view.oid);
        views.iter().rev().filter(stays).try_for_each(|view| self.drop_view(view))?;
        for (table, part) in parts {
            self.settle()?;
            let table = self.current(table)?;
            match part {
                Part::Check(name) => self.drop_constraint(&table, &name)?,
                Part::Column(name) => {
                    let at = table.column(&name).ok_or_else(|| Error::internal("the dropped column has vanished"))?;
                    self.drop_column(&table, at, true)?;
                }
                Part::Index(name) => {
                    if let Some(at) = table.indexes.iter().position(|index| index.name == name) {
                        self.remove_index(&table, at)?;
                    }
                }
            }
            self.touch(table.physical.database, table.oid);
        }
        self.settle()
    }

    /// What of a table asks an attribute, each with how messages call it.
    fn parts_asking(&self, table: &Arc<Relation>, ty: &UserType, at: usize) -> Vec<(Part, String)> {
        let schema = self.schema();
        let of = described(&schema, table);
        let asks = |text: &str| {
            let bound = self.session.bind_expression(text, table, &schema);
            bound.is_ok_and(|expr| asks_field(&expr, ty, at))
        };
        let mut found = Vec::new();
        for check in table.checks.iter().filter(|check| asks(&check.text)) {
            found.push((Part::Check(check.name.clone()), format!("constraint {} on {of}", check.name)));
        }
        for column in &table.columns {
            if column.generated.as_ref().is_some_and(|generated| asks(&generated.text)) {
                found.push((Part::Column(column.name.clone()), format!("column {} of {of}", column.name)));
            }
        }
        for index in &table.indexes {
            let mut texts =
                index.columns.iter().zip(&index.keys).filter(|(own, _)| own.is_none()).map(|(_, key)| &key.text);
            if texts.any(|text| asks(text)) || index.predicate.as_ref().is_some_and(|text| asks(text)) {
                found.push((Part::Index(index.name.clone()), format!("index {}", index.name)));
            }
        }
        found
    }
}
