//! Rules: rows of our own table, by which the compiler makes other statements of a change.

use rowferry_dialect::ir::{ChangeRule, RuleChange, TriggerState};
use rowferry_dialect::plan::Context;
use rowferry_dialect::schema::{Relation, Rule};
use rowferry_dialect::{Error, Schema as _, postgres};

use super::new_names::is_renamed;
use super::{Changer, Done};
use crate::schema::SessionSchema;
use crate::schema::metadata::derived_oid;

impl Changer<'_> {
    pub(super) fn change_rule(&self, change: &ChangeRule) -> Done {
        let relation = &*change.relation;
        self.entry(relation)?;
        match &change.change {
            RuleChange::Create(rule) => {
                let known = relation.rule(&rule.name);
                let oid = match (known, relation.is_temporary()) {
                    (Some(known), _) => known.oid,
                    (None, true) => {
                        derived_oid("rule", relation.physical.database, &[&relation.oid.to_string(), &rule.name])
                    }
                    // Later ones stand behind earlier ones in the catalog.
                    (None, false) => self.new_oid()?,
                };
                self.record_rule(relation, &Rule { oid, ..rule.clone() })?;
            }
            RuleChange::Drop(rule) => self.drop_rule(relation, rule)?,
            RuleChange::Rename(rule, to) => {
                self.drop_rule(relation, rule)?;
                self.record_rule(relation, &Rule { name: to.clone(), ..Rule::clone(rule) })?;
            }
            RuleChange::Comment(rule, text) => {
                self.record_rule(relation, &Rule { comment: text.clone(), ..Rule::clone(rule) })?;
            }
        }
        self.bump()
    }

    /// ENABLE RULE and its kin.
    pub(super) fn set_rule(&self, relation: &Relation, rule: &Rule, state: TriggerState) -> Done {
        self.record_rule(relation, &Rule { state, ..rule.clone() })?;
        self.bump()
    }

    fn record_rule(&self, relation: &Relation, rule: &Rule) -> Done {
        self.store.record_rule(relation, rule)?;
        self.touch(relation.physical.database, relation.oid);
        Ok(())
    }

    pub(super) fn drop_rule(&self, relation: &Relation, rule: &Rule) -> Done {
        self.store.forget_rule(relation, rule)?;
        self.touch(relation.physical.database, relation.oid);
        Ok(())
    }

    /// Rules name what they named before, as it is called now.
    pub(super) fn rename_in_rules(&self, before: &SessionSchema) -> Done {
        let now = self.schema();
        let context = Context::default();
        let mut changed = false;
        for (relation, rule) in before.rules() {
            let Some(today) = now.relation_by_oid(relation.oid) else { continue };
            if today.rule(&rule.name).is_none() {
                continue;
            }
            // Columns that come, go or change places keep their names.
            let relations = rule.needs.iter().map(|(oid, _)| *oid).chain([relation.oid]);
            if relations.into_iter().any(|oid| has_other_columns(before, &now, oid)) {
                continue;
            }
            match postgres::renamed_rule(rule, relation, (before, &now), &context) {
                Some(renamed) if renamed == **rule => {}
                Some(renamed) => {
                    self.record_rule(&today, &renamed)?;
                    changed = true;
                }
                None if rule.needs.iter().any(|(oid, column)| is_renamed(before, &now, *oid, column.as_deref())) => {
                    let what = format!("a new name of what rule \"{}\" names in this way", rule.name);
                    return Err(Error::unsupported(what).into());
                }
                None => {}
            }
        }
        if changed { self.bump() } else { Ok(()) }
    }
}

/// A relation has more or fewer columns than before, or the same in another order.
fn has_other_columns(before: &SessionSchema, now: &SessionSchema, oid: u32) -> bool {
    let (Some(before), Some(now)) = (before.relation_by_oid(oid), now.relation_by_oid(oid)) else { return false };
    let names = |relation: &Relation| relation.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let (mut before, mut now) = (names(&before), names(&now));
    if before == now {
        return false;
    }
    before.sort();
    now.sort();
    before.len() != now.len() || before == now
}
