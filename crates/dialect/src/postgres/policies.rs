//! Row-level security: the policies of a table become conditions of the statement.
//!
//! | a statement | rows that are there | asked of a row, or the statement fails |
//! |---|---|---|
//! | reads the table | USING of SELECT | |
//! | locks its rows | and of UPDATE | |
//! | inserts | | WITH CHECK of INSERT; USING of SELECT, where it reads columns |
//! | … ON CONFLICT DO UPDATE | | the row in the way: USING of UPDATE and SELECT; the new one: as an UPDATE |
//! | updates | USING of UPDATE; of SELECT, where it reads columns | WITH CHECK of UPDATE; USING of SELECT |
//! | deletes | USING of DELETE; of SELECT, where it reads columns | |
//! | merges | USING of SELECT | the row met: USING of the action's command; the new one as above |
//!
//! "SELECT" stands for policies FOR SELECT and FOR ALL. Of the permissive policies that concern the role one must hold, of
//! the restrictive ones all; without a permissive one nothing does. WITH CHECK that is not given is USING.
//!
//! What the conditions name is bound with the rights of whoever is asked: the user, or the owner of the view behind which
//! the table stands.

use std::sync::Arc;

use super::binder::{Binder, Clause, Entry, Scope};
use super::raw;
use super::target::Target;
use crate::access::{Privileges, Rights};
use crate::collation::Collation;
use crate::ir::build::{row_identity, select};
use crate::ir::{
    Body, ColumnIndex, ColumnRef, CompareOp, Expr, ExprKind, From, Guard, GuardedRow, Guards, RelId, walk,
};
use crate::schema::{NamedType, Policy, PolicyCommand, QualifiedName, Relation, Routine, Schema, Sequence};
use crate::stored_function::StoredFunction;
use crate::text_search::{Kind, SearchObject};
use crate::uses::Uses;
use crate::{Condition, Error, Language, Result, Type};

/// Whose policies a statement is asked.
#[derive(Clone, Debug)]
pub(super) struct Secured {
    role: u32,
    /// The views that stand before the table.
    views: Vec<u32>,
}

/// Which of its two conditions a policy is asked.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Asked {
    Using,
    /// WITH CHECK, or else USING.
    Check,
}

impl Asked {
    fn text(self, policy: &Policy) -> Option<&str> {
        let check = policy.check.as_deref().filter(|_| self == Self::Check);
        check.or(policy.using.as_deref())
    }
}

impl Binder<'_> {
    /// Whose policies concern what is done to a table here; `None` where none do.
    pub(super) fn secured(&mut self, id: RelId, relation: &Relation) -> Option<Secured> {
        if relation.security.is_none() || !self.asks_policies || self.stored {
            return None;
        }
        let rights = self.schema.rights();
        let view = self.stands_behind();
        let role = view.map_or_else(|| rights.role(), |view| rights.owner(view));
        if !rights.is_secured(role, relation) {
            return None;
        }
        self.needs.secure(id, relation.oid, role);
        Some(Secured { role, views: self.views.clone() })
    }

    /// The condition under which a row of a table that is read is there at all.
    pub(super) fn visible_rows(&mut self, id: RelId, relation: &Arc<Relation>) -> Result<Option<Box<Expr>>> {
        let Some(secured) = self.secured(id, relation) else { return Ok(None) };
        let conditions = self.shown(&secured, id, relation, PolicyCommand::Select)?;
        self.secured_relations.insert(id, secured);
        Ok(Some(Box::new(all_of(conditions))))
    }

    /// The rows of a table and those that inherit from it which are there at all: the table's own policies are asked.
    pub(super) fn visible_family(&mut self, id: RelId, head: &Arc<Relation>, rows: From) -> Result<From> {
        let Some(secured) = self.secured(id, head) else { return Ok(rows) };
        let From::Query { query, .. } = rows else { return Err(Error::internal("a family that is no query")) };
        let inner = self.ids.relation();
        let condition = all_of(self.shown(&secured, inner, head, PolicyCommand::Select)?);
        let columns = query.columns.clone();
        let items = columns.iter().enumerate().map(|(at, column)| Expr::column(inner, at, column.ty.clone())).collect();
        let mut shown =
            select(items, Vec::new(), Some(From::Query { id: inner, query, lateral: false }), Some(condition));
        shown.columns = columns;
        shown.output = self.ids.relation();
        shown.offset = Some(super::target::barrier());
        self.secured_families = true;
        // A change through a view must know.
        self.secured_relations.insert(id, secured);
        Ok(From::Query { id, query: Box::new(shown), lateral: false })
    }

    /// Rows that are locked must be such as may be updated.
    pub(super) fn lockable_rows(&mut self, from: &mut From, locked: &[RelId]) -> Result<()> {
        match from {
            From::Relation { id, relation, filter: Some(filter) } if locked.contains(id) => {
                let Some(secured) = self.secured_relations.get(id).cloned() else { return Ok(()) };
                let mut conditions = self.shown(&secured, *id, relation, PolicyCommand::Update)?;
                conditions.push(std::mem::replace(filter, Expr::bool(false)));
                **filter = all_of(conditions);
                Ok(())
            }
            From::Join { left, right, .. } => {
                self.lockable_rows(left, locked)?;
                self.lockable_rows(right, locked)
            }
            From::Query { query, .. } => match &mut query.body {
                Body::Select(select) => match &mut select.from {
                    Some(from) => self.lockable_rows(from, locked),
                    None => Ok(()),
                },
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// The condition under which a row of the table that is changed is there for the change.
    pub(super) fn changeable_rows(&mut self, target: &Target, command: PolicyCommand) -> Result<Option<Expr>> {
        let Some(secured) = target.secured.clone() else { return Ok(None) };
        let (id, relation) = (target.id, &target.relation);
        let mut conditions = Vec::new();
        if command != PolicyCommand::Select {
            conditions = self.shown(&secured, id, relation, command)?;
        }
        if self.reads(target) {
            conditions.extend(self.shown(&secured, id, relation, PolicyCommand::Select)?);
        }
        Ok(Some(all_of(conditions)))
    }

    /// What policies ask of the rows of an INSERT, which may update what it meets.
    pub(super) fn insert_guards(&mut self, target: &Target, updates: bool) -> Result<Option<Box<Guards>>> {
        use PolicyCommand::{Insert, Select, Update};
        let Some(secured) = target.secured.clone() else { return Ok(None) };
        let reads = self.reads(target);
        let new = GuardedRow::New;
        let mut guards = Guards { table: target.relation.name.clone(), ..Guards::default() };
        guards.inserted = self.guards(&secured, target, Insert, Asked::Check, new)?;
        if reads {
            guards.inserted.extend(self.guards(&secured, target, Select, Asked::Using, new)?);
        }
        if updates {
            guards.met = self.guards(&secured, target, Update, Asked::Using, GuardedRow::InTheWay)?;
            guards.updated = self.guards(&secured, target, Update, Asked::Check, new)?;
            if reads {
                guards.met.extend(self.guards(&secured, target, Select, Asked::Using, GuardedRow::InTheWay)?);
                guards.updated.extend(self.guards(&secured, target, Select, Asked::Using, new)?);
            }
        }
        Ok(Some(Box::new(guards)))
    }

    /// What policies ask of the rows of an UPDATE.
    pub(super) fn update_guards(&mut self, target: &Target) -> Result<Option<Box<Guards>>> {
        use PolicyCommand::{Select, Update};
        let Some(secured) = target.secured.clone() else { return Ok(None) };
        let mut updated = self.guards(&secured, target, Update, Asked::Check, GuardedRow::New)?;
        if self.reads(target) {
            updated.extend(self.guards(&secured, target, Select, Asked::Using, GuardedRow::New)?);
        }
        Ok(Some(Box::new(Guards { table: target.relation.name.clone(), updated, ..Guards::default() })))
    }

    /// What policies ask of the rows of one of MERGE's actions.
    pub(super) fn merge_guards(&mut self, target: &Target, command: PolicyCommand) -> Result<Option<Box<Guards>>> {
        let Some(secured) = target.secured.clone() else { return Ok(None) };
        let met = GuardedRow::Target;
        let guards = match command {
            PolicyCommand::Update => {
                let mut guards = self.update_guards(target)?.unwrap_or_default();
                guards.met = self.guards(&secured, target, command, Asked::Using, met)?;
                guards
            }
            PolicyCommand::Delete => {
                let deleted = self.guards(&secured, target, command, Asked::Using, met)?;
                Box::new(Guards { deleted, ..Guards::default() })
            }
            _ => {
                let inserted = self.guards(&secured, target, command, Asked::Check, GuardedRow::New)?;
                Box::new(Guards { inserted, ..Guards::default() })
            }
        };
        Ok(Some(Box::new(Guards { table: target.relation.name.clone(), ..*guards })))
    }

    /// True where a statement reads columns of the table that it changes, as it names it.
    fn reads(&self, target: &Target) -> bool {
        self.needs.reads(target.id, target.named().oid)
    }

    /// The conditions that show rows: those of restrictive policies, then that of the permissive ones.
    fn shown(
        &mut self,
        secured: &Secured,
        id: RelId,
        relation: &Arc<Relation>,
        command: PolicyCommand,
    ) -> Result<Vec<Expr>> {
        let rights = self.schema.rights();
        let permissive = self.conditions(secured, id, relation, command, Asked::Using, true, &rights)?;
        if permissive.is_empty() {
            return Ok(vec![Expr::bool(false)]);
        }
        let restrictive = self.conditions(secured, id, relation, command, Asked::Using, false, &rights)?;
        let mut all: Vec<Expr> = restrictive.into_iter().map(|(_, condition)| condition).collect();
        all.push(any_of(permissive.into_iter().map(|(_, condition)| condition).collect()));
        Ok(all)
    }

    /// The conditions that are asked of rows: that of the permissive policies, then those of restrictive ones.
    fn guards(
        &mut self,
        secured: &Secured,
        target: &Target,
        command: PolicyCommand,
        asked: Asked,
        row: GuardedRow,
    ) -> Result<Vec<Guard>> {
        let (id, relation) = (target.id, &target.relation);
        let rights = self.schema.rights();
        let permissive = self.conditions(secured, id, relation, command, asked, true, &rights)?;
        if permissive.is_empty() {
            return Ok(vec![Guard { policy: None, row, condition: Expr::bool(false) }]);
        }
        let condition = any_of(permissive.into_iter().map(|(_, condition)| condition).collect());
        let mut guards = vec![Guard { policy: None, row, condition }];
        let restrictive = self.conditions(secured, id, relation, command, asked, false, &rights)?;
        guards.extend(restrictive.into_iter().map(|(name, condition)| Guard { policy: Some(name), row, condition }));
        if row == GuardedRow::New {
            for guard in &mut guards {
                self.compute_generated(&mut guard.condition, id, relation)?;
            }
        }
        Ok(guards)
    }

    #[expect(clippy::too_many_arguments, reason = "who, what of which table, which policies")]
    fn conditions(
        &mut self,
        secured: &Secured,
        id: RelId,
        relation: &Arc<Relation>,
        command: PolicyCommand,
        asked: Asked,
        permissive: bool,
        rights: &crate::access::Rights,
    ) -> Result<Vec<(String, Expr)>> {
        let views = std::mem::replace(&mut self.views, secured.views.clone());
        let policies = rights.policies_of(secured.role, relation, command, permissive);
        let conditions = policies
            .filter_map(|policy| Some((policy, asked.text(policy)?)))
            .map(|(policy, text)| Ok((policy.name.clone(), self.policy_condition(text, id, relation)?)));
        let conditions = conditions.collect::<Result<Vec<_>>>();
        self.views = views;
        conditions
    }

    /// A policy's condition over a table's row.
    fn policy_condition(&mut self, text: &str, id: RelId, relation: &Arc<Relation>) -> Result<Expr> {
        // A policy that reads its own table without a query of its own does not go round in circles; one that is met for the
        // third time does.
        let known = self.policies_of.iter().filter(|oid| **oid == relation.oid).count();
        if known > 1 {
            return Err(endless(relation));
        }
        self.policies_of.push(relation.oid);
        let result = self.off_the_path(|binder| {
            let entry = unnoted(Entry::of_relation(relation, id, None));
            binder.stored(text, Language::Postgres, vec![entry], Clause::Policy)
        });
        self.policies_of.pop();
        let condition = result?;
        if known > 0 && has_query(&condition) {
            return Err(endless(relation));
        }
        Ok(condition)
    }

    /// Binds what sees nothing of the statement: neither its WITH, nor variables around it, nor where it looks for names.
    pub(super) fn off_the_path<T>(&mut self, bind: impl FnOnce(&mut Binder<'_>) -> Result<T>) -> Result<T> {
        let schema = OffPath(self.path);
        let mut inner = Binder::detached(&schema, self.context);
        inner.path = self.path;
        inner.asks_policies = true;
        inner.depth = self.depth;
        inner.acts_for = self.acts_for;
        inner.effects = self.effects;
        swap_what_goes_on(self, &mut inner);
        let result = inner.nested(bind);
        swap_what_goes_on(self, &mut inner);
        self.effects = inner.effects;
        result
    }

    /// A column that the back end generates has no value before the row is written: its expression stands in its place.
    fn compute_generated(&mut self, condition: &mut Expr, id: RelId, relation: &Arc<Relation>) -> Result<()> {
        let mut result = Ok(());
        let computed = |binder: &mut Self, at: usize| -> Result<Option<Expr>> {
            let column = &relation.columns[at];
            let Some(generated) = column.generated.as_ref().filter(|_| !column.is_computed()) else { return Ok(None) };
            let variables = binder.variables.take();
            let entry = unnoted(Entry::of_relation(relation, id, None));
            let value = binder.stored(&generated.text, relation.language, vec![entry], Clause::Generated);
            let rules = binder.follow(relation.language);
            let value = value.and_then(|value| in_its_type(binder, value, column));
            binder.follow(rules);
            binder.variables = variables;
            value.map(Some)
        };
        walk::expr_mut(condition, &mut |part| {
            if let ExprKind::Column(ColumnRef { relation: of, column: ColumnIndex::At(at) }) = part.kind
                && of == id
                && result.is_ok()
            {
                match computed(self, at) {
                    Ok(Some(value)) => *part = value,
                    Ok(None) => {}
                    Err(error) => result = Err(error),
                }
                return false;
            }
            true
        });
        result
    }

    /// The text of a policy's condition, checked; what it names.
    pub(super) fn policy_text(
        &mut self,
        node: &pg_query::protobuf::Node,
        relation: &Arc<Relation>,
    ) -> Result<(String, std::collections::BTreeSet<crate::uses::Dependency>)> {
        let id = crate::ir::Text::TABLE;
        let uses = self.uses.replace(Uses::of_table(relation));
        let entries = vec![Entry::of_relation(relation, id, None)];
        let scope = Scope { entries, clause: Clause::Policy, ..Scope::default() };
        let stored = std::mem::replace(&mut self.stored, true);
        let bound = self.with_scope(scope, |binder| {
            let (condition, at) = binder.placed(node)?;
            binder.condition(condition, "POLICY", at)
        });
        self.stored = stored;
        let uses = std::mem::replace(&mut self.uses, uses).unwrap_or_default();
        bound?;
        let text = raw::print_expression(node).ok_or_else(|| Error::unsupported("this expression in a policy"))?;
        let text = self.with_schemas(&text, relation)?;
        // The table itself is no reason that keeps it.
        let needs = uses.dependencies().into_iter().filter(|need| *need != (relation.oid, None)).collect();
        Ok((text, needs))
    }

    /// The text with every relation that it names in its schema: it means the same whatever the search path is.
    fn with_schemas(&mut self, text: &str, relation: &Arc<Relation>) -> Result<String> {
        let mut along = Binder::detached(self.path, self.context);
        let before = uses_of_policy(&mut along, text, relation)?;
        let qualified = before.with_schemas(&format!("SELECT {text}"), &super::quote_ident);
        let text = qualified.as_deref().and_then(|text| text.strip_prefix("SELECT ")).map(str::to_owned);
        let refused = || Error::unsupported("a policy that names something in this way");
        let text = text.ok_or_else(refused)?;
        let schema = OffPath(self.path);
        let mut off = Binder::detached(&schema, self.context);
        off.path = self.path;
        let after = uses_of_policy(&mut off, &text, relation)?;
        if after.means_the_same(&before) { Ok(text) } else { Err(refused()) }
    }
}

/// What the text of a policy's condition names.
pub(super) fn uses_of_policy(binder: &mut Binder<'_>, text: &str, relation: &Arc<Relation>) -> Result<Uses> {
    binder.uses = Some(Uses::of_table(relation));
    let entry = Entry::of_relation(relation, crate::ir::Text::TABLE, None);
    binder.stored(text, Language::Postgres, vec![entry], Clause::Policy)?;
    Ok(binder.uses.take().unwrap_or_default())
}

/// A schema in which nothing of users is found without the name of its schema: what a policy means is for nobody to change
/// by another search path.
pub(super) struct OffPath<'a>(pub(super) &'a dyn Schema);

impl Schema for OffPath<'_> {
    fn generation(&self) -> u64 {
        self.0.generation()
    }

    fn relation(&self, name: &QualifiedName) -> Option<Arc<Relation>> {
        match &name.schema {
            Some(_) => self.0.relation(name),
            None => self.0.relation(&QualifiedName::new("pg_catalog", name.name.clone())),
        }
    }

    fn relation_by_oid(&self, oid: u32) -> Option<Arc<Relation>> {
        self.0.relation_by_oid(oid)
    }

    fn class_name(&self, oid: u32) -> Option<(String, String)> {
        self.0.class_name(oid)
    }

    fn has_namespace(&self, name: &str) -> bool {
        self.0.has_namespace(name)
    }

    fn rights(&self) -> Rights {
        self.0.rights()
    }

    /// Whoever made the policy was asked.
    fn may(&self, _: &str, _: Privileges) -> bool {
        true
    }

    fn creation_namespace(&self) -> Option<String> {
        None
    }

    fn sequence(&self, name: &QualifiedName) -> Option<Arc<Sequence>> {
        name.schema.as_ref().and_then(|_| self.0.sequence(name))
    }

    fn synonym(&self, name: &QualifiedName) -> Option<QualifiedName> {
        name.schema.as_ref().and_then(|_| self.0.synonym(name))
    }

    fn sequence_definition(&self, name: &QualifiedName) -> Option<crate::ir::CreateSequence> {
        name.schema.as_ref().and_then(|_| self.0.sequence_definition(name))
    }

    fn index(&self, name: &QualifiedName) -> Option<(Arc<Relation>, usize)> {
        name.schema.as_ref().and_then(|_| self.0.index(name))
    }

    fn routines(&self, name: &str) -> Vec<Arc<Routine>> {
        self.0.routines(name)
    }

    fn functions(&self, name: &QualifiedName) -> Vec<Arc<StoredFunction>> {
        name.schema.as_ref().map(|_| self.0.functions(name)).unwrap_or_default()
    }

    fn function_by_oid(&self, oid: u32) -> Option<Arc<StoredFunction>> {
        self.0.function_by_oid(oid)
    }

    fn triggered(&self) -> Vec<Arc<Relation>> {
        self.0.triggered()
    }

    fn all_routines(&self) -> Vec<Arc<Routine>> {
        self.0.all_routines()
    }

    fn heirs(&self, oid: u32) -> Vec<Arc<Relation>> {
        self.0.heirs(oid)
    }

    fn user_type(&self, name: &QualifiedName) -> Option<Arc<crate::user_type::UserType>> {
        name.schema.as_ref().and_then(|_| self.0.user_type(name))
    }

    fn user_type_by_oid(&self, oid: u32) -> Option<Arc<crate::user_type::UserType>> {
        self.0.user_type_by_oid(oid)
    }

    fn extensions(&self) -> &[Arc<crate::extension::Installed>] {
        self.0.extensions()
    }

    fn collation(&self, name: &QualifiedName) -> Option<Arc<crate::collation::Collation>> {
        name.schema.as_ref().and_then(|_| self.0.collation(name))
    }

    fn statistics_object(&self, name: &QualifiedName) -> Option<Arc<crate::statistics::StatisticsObject>> {
        self.0.statistics_object(name)
    }

    fn operators(&self, name: &QualifiedName) -> Vec<Arc<crate::user_operator::UserOperator>> {
        name.schema.as_ref().map(|_| self.0.operators(name)).unwrap_or_default()
    }

    fn operator_by_oid(&self, oid: u32) -> Option<Arc<crate::user_operator::UserOperator>> {
        self.0.operator_by_oid(oid)
    }

    fn casts(&self) -> &[crate::user_cast::UserCast] {
        self.0.casts()
    }

    fn dropped_casts(&self) -> &[crate::user_cast::UserCast] {
        self.0.dropped_casts()
    }

    fn search_object(&self, kind: Kind, name: &QualifiedName) -> Option<Arc<SearchObject>> {
        match &name.schema {
            Some(_) => self.0.search_object(kind, name),
            None => self.0.search_object(kind, &QualifiedName::new("pg_catalog", name.name.clone())),
        }
    }

    fn collation_by_oid(&self, oid: u32) -> Option<Arc<Collation>> {
        self.0.collation_by_oid(oid)
    }

    fn search_object_by_oid(&self, oid: u32) -> Option<Arc<SearchObject>> {
        self.0.search_object_by_oid(oid)
    }

    fn is_in_path(&self, namespace: &str) -> bool {
        self.0.is_in_path(namespace)
    }

    fn user_types(&self) -> Vec<Arc<crate::user_type::UserType>> {
        self.0.user_types()
    }

    fn named_type(&self, name: &str) -> Option<Arc<NamedType>> {
        self.0.named_type(name)
    }

    fn informix_casts(&self) -> &[crate::informix::casts::InformixCast] {
        self.0.informix_casts()
    }

    fn named_types(&self) -> Vec<Arc<NamedType>> {
        self.0.named_types()
    }
}

/// What a statement and the policies in it have in common.
fn swap_what_goes_on(one: &mut Binder<'_>, other: &mut Binder<'_>) {
    std::mem::swap(&mut one.ids, &mut other.ids);
    std::mem::swap(&mut one.views, &mut other.views);
    std::mem::swap(&mut one.views_behind, &mut other.views_behind);
    std::mem::swap(&mut one.needs, &mut other.needs);
    std::mem::swap(&mut one.notices, &mut other.notices);
    std::mem::swap(&mut one.policies_of, &mut other.policies_of);
    std::mem::swap(&mut one.rules_of, &mut other.rules_of);
    std::mem::swap(&mut one.families, &mut other.families);
    std::mem::swap(&mut one.secured_relations, &mut other.secured_relations);
}

/// A generated column's value in its type.
fn in_its_type(binder: &mut Binder<'_>, value: Expr, column: &crate::schema::Column) -> Result<Expr> {
    let told = super::types::import(&column.ty);
    let value = binder.assign(value, &column.name, &told, -1)?;
    Ok(value.cast(column.ty.clone(), crate::ir::CastContext::Assignment))
}

/// Names whose use is nobody's affair: no privilege is needed for what a policy looks at in its own table.
fn unnoted(mut entry: Entry) -> Entry {
    entry.columns.iter_mut().for_each(|column| column.origin = None);
    entry
}

fn endless(relation: &Relation) -> Error {
    let message = format!("infinite recursion detected in policy for relation \"{}\"", relation.name);
    Error::new(Condition::InvalidObjectDefinition, message)
}

fn has_query(expr: &Expr) -> bool {
    let mut found = false;
    walk::expr(expr, &mut |part| {
        found |= part.kind.query().is_some();
        !found
    });
    found
}

fn all_of(mut conditions: Vec<Expr>) -> Expr {
    match conditions.len() {
        0 => Expr::bool(true),
        1 => conditions.swap_remove(0),
        _ => Expr::new(ExprKind::And(conditions), Type::Bool),
    }
}

fn any_of(mut conditions: Vec<Expr>) -> Expr {
    match conditions.len() {
        1 => conditions.swap_remove(0),
        _ => Expr::new(ExprKind::Or(conditions), Type::Bool),
    }
}

/// Brings to tables with policies those conditions of a query that tell nobody anything, so that their indexes can be used.
pub(super) fn push_down(filter: Option<&Expr>, from: Option<&mut From>) {
    let (Some(filter), Some(from)) = (filter, from) else { return };
    let conditions = match &filter.kind {
        ExprKind::And(members) => members.as_slice(),
        _ => std::slice::from_ref(filter),
    };
    for condition in conditions {
        if let Some(id) = tells_nothing(condition) {
            add_to(from, id, condition);
        }
    }
}

fn add_to(from: &mut From, wanted: RelId, condition: &Expr) {
    match from {
        From::Relation { id, filter: Some(filter), .. } if *id == wanted => {
            let policies = std::mem::replace(&mut **filter, Expr::bool(false));
            **filter = all_of(vec![policies, condition.clone()]);
        }
        From::Join { left, right, .. } => {
            add_to(left, wanted, condition);
            add_to(right, wanted, condition);
        }
        _ => {}
    }
}

/// Finds rows of a table by what tells nobody anything, so that an index can be used: the statement's condition stands
/// behind that of policies, in a CASE, where no index is seen. (Beside the CASE it must not stand: a planner would put the
/// constant of `a = 1` into the CASE, and ask it of rows with another `a`.)
pub(super) fn found_by(asked: &Expr, of: RelId, relation: &Arc<Relation>, again: RelId) -> Option<Expr> {
    let conditions = match &asked.kind {
        ExprKind::And(members) => members.as_slice(),
        _ => std::slice::from_ref(asked),
    };
    let equal = |condition: &&Expr| {
        matches!(&condition.kind, ExprKind::Compare { op: CompareOp::Equal, .. })
            && tells_nothing(condition) == Some(of)
    };
    let mut found: Vec<Expr> = conditions.iter().filter(equal).cloned().collect();
    if found.is_empty() || relation.without_identity {
        return None;
    }
    for condition in &mut found {
        walk::expr_mut(condition, &mut |part| {
            if let ExprKind::Column(column) = &mut part.kind {
                column.relation = again;
            }
            true
        });
    }
    let rows = From::Relation { id: again, relation: relation.clone(), filter: None };
    let query = select(vec![row_identity(again)], Vec::new(), Some(rows), Some(all_of(found)));
    let kind = ExprKind::InQuery { row: vec![row_identity(of)], negated: false, query: Box::new(query) };
    Some(Expr::new(kind, Type::Bool))
}

/// The one relation of which a comparison of its column with a constant asks something: such a comparison neither fails
/// nor tells anybody what it has seen.
fn tells_nothing(condition: &Expr) -> Option<RelId> {
    let ExprKind::Compare { op, left, right } = &condition.kind else { return None };
    if *op == CompareOp::NotEqual {
        return None;
    }
    let plain = |ty: &Type| {
        matches!(
            ty,
            Type::Bool | Type::Int2 | Type::Int4 | Type::Int8 | Type::Text | Type::Name | Type::Oid | Type::Uuid
        )
    };
    let of_column = |expr: &Expr| match expr.kind {
        ExprKind::Column(ColumnRef { relation, .. }) if plain(&expr.ty) => Some(relation),
        _ => None,
    };
    let constant = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_)) && plain(&expr.ty);
    match (of_column(left), of_column(right)) {
        (Some(id), None) if constant(right) => Some(id),
        (None, Some(id)) if constant(left) => Some(id),
        _ => None,
    }
}
