//! Policies: rows of our own table, which the compiler makes conditions of statements.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowferry_dialect::access::PUBLIC;
use rowferry_dialect::composite::row_type_oid;
use rowferry_dialect::ir::{ChangePolicy, PolicyChange, PolicyParts, RoleSpec};
use rowferry_dialect::schema::{Policy, Relation, Rule};
use rowferry_dialect::uses::{Dependency, edited};
use rowferry_dialect::{Condition, Error, postgres};

use super::dependencies::Needed;
use super::{Changer, Done, cannot_drop, describe, described};
use crate::schema::metadata::derived_oid;

/// A policy or a rule that cannot stay without something.
pub(super) struct PolicyUser {
    pub table: Arc<Relation>,
    what: Attached,
    /// What it needs, as messages call it.
    pub on: String,
    /// Itself, as messages call it.
    pub shown: String,
}

/// What that is.
enum Attached {
    Policy(Arc<Policy>),
    Rule(Arc<Rule>),
}

impl Changer<'_> {
    pub(super) fn change_policy(&self, change: &ChangePolicy) -> Done {
        let table = &*change.table;
        self.entry(table)?;
        match &change.change {
            PolicyChange::Create { name, permissive, command, parts } => {
                // Later ones stand behind earlier ones in the catalog.
                let oid = match table.is_temporary() {
                    true => derived_oid("policy", table.physical.database, &[&table.oid.to_string(), name]),
                    false => self.new_oid()?,
                };
                let mut policy = Policy {
                    oid,
                    name: name.clone(),
                    permissive: *permissive,
                    command: *command,
                    roles: vec![PUBLIC],
                    using: None,
                    check: None,
                    comment: None,
                    needs: Vec::new(),
                };
                self.take_over(&mut policy, parts, table)?;
                self.record_policy(table, &policy)?;
            }
            PolicyChange::Alter(known, parts) => {
                let mut policy = Policy::clone(known);
                self.take_over(&mut policy, parts, table)?;
                self.record_policy(table, &policy)?;
            }
            PolicyChange::Drop(policy) => self.drop_policy(table, policy)?,
            PolicyChange::Rename(policy, to) => {
                self.drop_policy(table, policy)?;
                self.record_policy(table, &Policy { name: to.clone(), ..Policy::clone(policy) })?;
            }
            PolicyChange::Comment(policy, text) => {
                self.record_policy(table, &Policy { comment: text.clone(), ..Policy::clone(policy) })?;
            }
        }
        self.bump()
    }

    /// What a statement says of a policy.
    fn take_over(&self, policy: &mut Policy, parts: &PolicyParts, table: &Relation) -> Done {
        if let Some(roles) = &parts.roles {
            let role = |spec: &RoleSpec| if *spec == RoleSpec::Public { Ok(PUBLIC) } else { self.role(spec) };
            policy.roles = roles.iter().map(role).collect::<Done<Vec<u32>>>()?;
            if policy.roles.is_empty() {
                policy.roles.push(PUBLIC);
            }
        }
        let mut needs: BTreeSet<Dependency> = BTreeSet::new();
        for (part, known) in [(&parts.using, &mut policy.using), (&parts.check, &mut policy.check)] {
            match (part, &*known) {
                (Some((text, names)), _) => {
                    *known = Some(text.clone());
                    needs.extend(names.iter().cloned());
                }
                (None, Some(text)) => needs.extend(self.needs_of_policy(text, table)?),
                (None, None) => {}
            }
        }
        policy.needs = needs.into_iter().collect();
        Ok(())
    }

    /// What a condition names, its own table as a whole left out.
    fn needs_of_policy(&self, text: &str, table: &Relation) -> Done<Vec<Dependency>> {
        let uses = self.policy_uses(text, table)?;
        Ok(uses.dependencies().into_iter().filter(|need| *need != (table.oid, None)).collect())
    }

    fn policy_uses(&self, text: &str, table: &Relation) -> Done<rowferry_dialect::uses::Uses> {
        let table = Arc::new(table.clone());
        Ok(postgres::policy_uses(text, &table, &self.schema(), &self.session.text_context())?)
    }

    pub(super) fn record_policy(&self, table: &Relation, policy: &Policy) -> Done {
        self.store.record_policy(table, policy)?;
        self.touch(table.physical.database, table.oid);
        Ok(())
    }

    pub(super) fn drop_policy(&self, table: &Relation, policy: &Policy) -> Done {
        self.store.forget_policy(table, policy)?;
        self.touch(table.physical.database, table.oid);
        Ok(())
    }

    /// The policies and rules that name something, but for those of the table itself where the whole of it is meant.
    pub(super) fn policies_needing(&self, needed: &[Needed]) -> impl Iterator<Item = PolicyUser> {
        let schema = self.schema();
        let mut found = Vec::new();
        for (table, policy) in schema.policies() {
            if let Some(on) = needed.iter().find(|on| on.is_among(&policy.needs)) {
                let shown = format!("policy {} on {}", policy.name, described(&schema, table));
                let on = on.shown().to_owned();
                found.push(PolicyUser { table: table.clone(), what: Attached::Policy(policy.clone()), on, shown });
            }
        }
        for (table, rule) in schema.rules() {
            if let Some(on) = needed.iter().find(|on| on.is_among(&rule.needs)) {
                let shown = format!("rule {} on {}", rule.name, described(&schema, table));
                let on = on.shown().to_owned();
                found.push(PolicyUser { table: table.clone(), what: Attached::Rule(rule.clone()), on, shown });
            }
        }
        found.into_iter()
    }

    pub(super) fn drop_policies(&self, policies: &[PolicyUser]) -> Done {
        policies.iter().try_for_each(|user| match &user.what {
            Attached::Policy(policy) => self.drop_policy(&user.table, policy),
            Attached::Rule(rule) => self.drop_rule(&user.table, rule),
        })
    }

    /// Policies that call a function; DROP FUNCTION takes them along with CASCADE alone.
    pub(super) fn drop_policies_of_function(&self, function: u32, shown: &str, cascade: bool) -> Done {
        let users: Vec<PolicyUser> = self.policies_needing(&[Needed::function(function, shown)]).collect();
        if users.is_empty() {
            return Ok(());
        }
        if !cascade {
            let lines: Vec<(String, String)> =
                users.iter().map(|user| (user.shown.clone(), shown.to_owned())).collect();
            return Err(cannot_drop(shown, &lines));
        }
        self.tell_cascade(&users.iter().map(|user| user.shown.clone()).collect::<Vec<_>>());
        self.drop_policies(&users)
    }

    /// The type of a column that a policy or a rule names stays what it is.
    pub(super) fn refuse_in_policies(&self, table: &Relation, column: &str) -> Done {
        match self.policies_needing(&[Needed::column(&self.schema(), table, column)]).next() {
            None => Ok(()),
            Some(user) => {
                let message = match user.what {
                    Attached::Policy(_) => "cannot alter type of a column used in a policy definition",
                    Attached::Rule(_) => "cannot alter type of a column used by a view or rule",
                };
                let detail = format!("{} depends on column \"{column}\"", user.shown);
                Err(Error::new(Condition::FeatureNotSupported, message).detail(detail).into())
            }
        }
    }

    /// DROP OWNED takes roles from the policies that are for them; a policy for nobody else goes.
    pub(super) fn take_from_policies(&self, roles: &[u32]) -> Done {
        let schema = self.schema();
        for (table, policy) in schema.policies() {
            let left: Vec<u32> = policy.roles.iter().copied().filter(|role| !roles.contains(role)).collect();
            if left.len() == policy.roles.len() {
                continue;
            }
            if left.is_empty() {
                self.drop_policy(table, policy)?;
            } else {
                self.record_policy(table, &Policy { roles: left, ..Policy::clone(policy) })?;
            }
        }
        Ok(())
    }

    /// Policies with their texts after a relation or one of its columns has got another name.
    pub(super) fn rewritten_policies(
        &self,
        relation: &Relation,
        column: Option<usize>,
        to: &str,
    ) -> Done<Vec<(Arc<Relation>, Policy)>> {
        const BEFORE: &str = "SELECT ";
        let schema = self.schema();
        let mut rewritten = Vec::new();
        for (table, policy) in schema.policies() {
            let own = table.oid == relation.oid;
            if !own && !policy.needs.iter().any(|(oid, _)| *oid == relation.oid) {
                continue;
            }
            let mut renamed = Policy::clone(policy);
            for text in [&mut renamed.using, &mut renamed.check].into_iter().flatten() {
                let uses = self.policy_uses(text, table)?;
                let whole = format!("{BEFORE}{text}");
                let quote = &postgres::quote_ident;
                let changed = match column {
                    Some(at) => {
                        let field = (row_type_oid(relation.oid), relation.columns[at].name.as_str(), to);
                        let fields = uses.renaming_field(&whole, field, quote);
                        let renamed = uses.with_column_renamed(&whole, relation.oid, at, to, quote);
                        match fields {
                            Some(fields) if fields.is_empty() => renamed,
                            // Both at once would be changes of two texts.
                            Some(fields) if renamed.as_ref() == Some(&whole) => Some(edited(&whole, fields)),
                            _ => None,
                        }
                    }
                    None if own => Some(uses.with_own_table_renamed(&whole, to, quote)),
                    None => uses.with_relation_renamed(&whole, relation.oid, to, quote),
                };
                let Some(changed) = changed.as_deref().and_then(|text| text.strip_prefix(BEFORE)) else {
                    let what = format!("RENAME of what policy {} on {} uses in this way", policy.name, describe(table));
                    return Err(Error::unsupported(what).into());
                };
                changed.clone_into(text);
            }
            if let Some(at) = column {
                let from = &relation.columns[at].name;
                for (oid, name) in &mut renamed.needs {
                    if *oid == relation.oid && name.as_deref() == Some(from) {
                        *name = Some(to.to_owned());
                    }
                }
            }
            rewritten.push((table.clone(), renamed));
        }
        Ok(rewritten)
    }

    /// Gives policies their new texts.
    pub(super) fn rewrite_policies(&self, policies: Vec<(Arc<Relation>, Policy)>) -> Done {
        policies.iter().try_for_each(|(table, policy)| self.record_policy(table, policy))
    }
}
