//! Rules: a change of a relation that has some becomes other statements, as PostgreSQL's rewriter has it.
//!
//! A rule's statement is bound with `old` and `new` as relations around it. Then the change joins it: its rows stand beside
//! what the statement reads, its conditions hold there, too, columns of `old` are those of the changed relation, and those
//! of `new` are the expressions that the change gives them. What has several mentions is computed several times; so it is
//! in PostgreSQL.
//!
//! | | runs | with |
//! |---|---|---|
//! | DO ALSO | the statement, and the change | the change's conditions and the rule's |
//! | DO INSTEAD | the statement | the same |
//! | … WHERE | the statement, and the change | the change where the rule's condition does not hold |
//!
//! An INSERT goes before the statements of its rules; an UPDATE or DELETE behind them, or there would be no old rows left.
//! What comes of it is a change like any other, for the rules of its own relation.

use std::rc::Rc;
use std::sync::Arc;

use pg_query::protobuf::{self as pg, node::Node as N};

use super::binder::{Binder, Clause, Entry, Scope};
use super::target::{Target, both};
use crate::ir::trigger::{NEW_ROW, OLD_ROW};
use crate::ir::{
    Body, CastContext, ColumnIndex, ColumnRef, Cte, CteBody, Dml, DmlAction, Expr, ExprKind, From, InsertSource,
    JoinKind, OutputColumn, Query, RelId, Rewritten, RewrittenPart, Select, Statement, TriggerEvent, walk,
};
use crate::plan::ResultColumn;
use crate::schema::{QualifiedName, Relation, RelationKind, Rule};
use crate::{Condition, Error, Result};

/// A change that is bound for the rules of its relation, or because of those of another: DEFAULT is spelled out, and what an
/// INSERT leaves out is added when the change has joined it. A change of a relation with rules that is bound without this is
/// refused: whoever binds it knows nothing of them.
#[derive(Debug, Default)]
pub(super) struct Ruled {
    /// A view is a relation like any other.
    views_too: bool,
    /// The change that has asked for it.
    join: Option<Rc<Join>>,
    /// What has been changed.
    target: Option<Target>,
}

/// A change that joins a statement of one of its rules.
#[derive(Debug)]
struct Join {
    /// The changed relation's rows.
    old: RelId,
    /// For each of its columns what the change gives it; none where the back end alone knows.
    new: Vec<Option<Expr>>,
    /// The rows that are changed or inserted; none where there is one, or where none are asked for.
    from: Option<From>,
    /// The conditions of the change and of the rule.
    filter: Option<Expr>,
    /// The change's WITH.
    ctes: Vec<Cte>,
}

/// A change on its way.
struct Change {
    dml: Dml,
    columns: Vec<ResultColumn>,
    /// INSERT: the columns that have values, and these.
    given: Vec<(usize, Expr)>,
    /// The rows beside the changed relation; those of an INSERT.
    beside: Option<From>,
    filter: Option<Expr>,
}

/// Where a statement comes from.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Origin {
    Change,
    Also,
    Instead,
    /// DO INSTEAD with a condition.
    InsteadWhere,
}

struct Product {
    part: RewrittenPart,
    event: Option<TriggerEvent>,
    origin: Origin,
}

/// The table that a change names, and what it does.
fn changed(node: &N) -> Option<(&pg::RangeVar, TriggerEvent)> {
    Some(match node {
        N::InsertStmt(insert) => (insert.relation.as_ref()?, TriggerEvent::Insert),
        N::UpdateStmt(update) => (update.relation.as_ref()?, TriggerEvent::Update),
        N::DeleteStmt(delete) => (delete.relation.as_ref()?, TriggerEvent::Delete),
        _ => return None,
    })
}

impl Binder<'_> {
    /// Binds INSERT, UPDATE or DELETE by the rules of what it changes.
    pub(super) fn change(&mut self, node: &N) -> Result<(Statement, Vec<ResultColumn>)> {
        let Some((relation, event)) = self.with_rules(node) else {
            let (dml, columns) = self.dml(node)?;
            return Ok((Statement::Dml(Box::new(dml)), columns));
        };
        let mut products = self.products(node, None, &relation, event, (Origin::Change, true))?;
        let instead = |product: &Product| product.origin != Origin::Also && product.event == Some(event);
        let tells = products
            .iter()
            .position(|product| product.origin == Origin::Change)
            .or_else(|| products.iter().rposition(instead));
        let columns = match tells {
            Some(at) => products[at].part.columns.clone(),
            None => Vec::new(),
        };
        if let ([_], Some(0)) = (products.as_slice(), tells)
            && let Some(product) = products.pop()
        {
            return Ok((product.part.statement, columns));
        }
        let parts = products.into_iter().map(|product| product.part).collect();
        Ok((Statement::Rewritten(Box::new(Rewritten { event, parts, tells })), columns))
    }

    /// The same in WITH, where it must be one change.
    pub(super) fn change_in_with(&mut self, node: &N) -> Result<(Dml, Vec<ResultColumn>)> {
        let Some((relation, event)) = self.with_rules(node) else { return self.dml(node) };
        let refused = |what: &str| {
            let message = format!("{what} rules are not supported for data-modifying statements in WITH");
            Err(Error::new(Condition::FeatureNotSupported, message))
        };
        let mut products = self.products(node, None, &relation, event, (Origin::Change, true))?;
        if products.len() > 1 {
            let origins = products.iter().map(|product| product.origin);
            let first = origins.into_iter().find(|origin| matches!(origin, Origin::Also | Origin::InsteadWhere));
            return refused(match first {
                Some(Origin::Also) => "DO ALSO",
                Some(_) => "conditional DO INSTEAD",
                None => "multi-statement DO INSTEAD",
            });
        }
        match products.pop() {
            Some(Product { part: RewrittenPart { statement: Statement::Dml(dml), columns }, .. }) => {
                Ok((*dml, columns))
            }
            None => refused("DO INSTEAD NOTHING"),
            Some(_) => Err(self.unsupported("a rule with a query for a change in WITH", -1)),
        }
    }

    /// The relation that a change names, where it has rules to be asked, and what it does.
    fn with_rules(&mut self, node: &N) -> Option<(Arc<Relation>, TriggerEvent)> {
        let (range, event) = changed(node)?;
        // By MySQL's rules it is refused where its target is found.
        if self.shows_text() || self.is_mysql() {
            return None;
        }
        let schema = (!range.schemaname.is_empty()).then(|| range.schemaname.clone());
        let relation = self.schema.relation(&QualifiedName { schema, name: range.relname.clone() })?;
        let asked = relation.rules_for(event).next().is_some();
        asked.then_some((relation, event))
    }

    /// Nobody runs what is bound to be printed, or for its names.
    pub(super) fn shows_text(&self) -> bool {
        self.shown.is_some() || self.uses.is_some()
    }

    /// The statements that a change becomes, in their order. Where it comes from, and whether somebody wants what it returns.
    fn products(
        &mut self,
        node: &N,
        join: Option<Rc<Join>>,
        relation: &Arc<Relation>,
        event: TriggerEvent,
        asked: (Origin, bool),
    ) -> Result<Vec<Product>> {
        if self.rules_of.contains(&(relation.oid, event)) {
            let message = format!("infinite recursion detected in rules for relation \"{}\"", relation.name);
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        self.rules_of.push((relation.oid, event));
        let products = self.nested(|binder| binder.products_of(node, join, relation, event, asked));
        self.rules_of.pop();
        products
    }

    fn products_of(
        &mut self,
        node: &N,
        join: Option<Rc<Join>>,
        relation: &Arc<Relation>,
        event: TriggerEvent,
        (origin, wanted): (Origin, bool),
    ) -> Result<Vec<Product>> {
        let rules: Vec<Arc<Rule>> = relation.rules_for(event).cloned().collect();
        let meets = matches!(node, N::InsertStmt(insert) if insert.on_conflict_clause.is_some());
        let updates = relation.rules_for(TriggerEvent::Update).next().is_some();
        if meets && (updates || rules.iter().any(|rule| !rule.actions.is_empty())) {
            let message = "INSERT with ON CONFLICT clause cannot be used with table that has INSERT or UPDATE rules";
            return Err(Error::new(Condition::FeatureNotSupported, message));
        }
        let mut change = self.bound_change(node, join.clone(), true)?;
        if !wanted {
            change.returns_nothing();
        }
        let replaced = rules.iter().any(|rule| rule.instead && rule.condition.is_none());
        let returns = !change.dml.returning.is_empty();
        let (mut products, mut left) = (Vec::new(), Vec::new());
        let mut returned = false;
        for rule in &rules {
            let condition = self.rule_condition(rule, relation)?;
            if rule.instead && condition.is_some() && !replaced {
                let mut condition = condition.clone();
                change.join(None, None).put_in(condition.iter_mut())?;
                left.extend(condition);
            }
            for text in &rule.actions {
                let mut made = self.action(rule, text, relation, &change, condition.as_ref())?;
                for product in &mut made {
                    let own = match &mut product.part.statement {
                        Statement::Dml(dml) => std::mem::take(&mut dml.returning),
                        _ => Vec::new(),
                    };
                    if own.is_empty() {
                        continue;
                    }
                    if let Statement::Dml(dml) = &mut product.part.statement {
                        returned = true;
                        dml.returning = change.returned_by(&own)?;
                        dml.columns.clone_from(&change.dml.columns);
                        product.part.columns.clone_from(&change.columns);
                    }
                }
                products.extend(made);
            }
        }
        if returns && !returned && (replaced || !left.is_empty()) {
            return Err(cannot_return(relation, event));
        }
        if replaced {
            check_with(node, &products)?;
            return Ok(products);
        }
        let own = self.own_change(node, join, relation, event, (change, wanted), left)?;
        let part = RewrittenPart { columns: own.1, statement: Statement::Dml(Box::new(own.0)) };
        let own = Product { part, event: Some(event), origin };
        match event {
            TriggerEvent::Insert => products.insert(0, own),
            _ => products.push(own),
        }
        check_with(node, &products)?;
        Ok(products)
    }

    /// The change itself, where the conditions of rules that replace it do not hold.
    fn own_change(
        &mut self,
        node: &N,
        join: Option<Rc<Join>>,
        relation: &Arc<Relation>,
        event: TriggerEvent,
        (mut change, wanted): (Change, bool),
        left: Vec<Expr>,
    ) -> Result<(Dml, Vec<ResultColumn>)> {
        use crate::ir::{TriggerLevel, TriggerTime};
        let is_view = matches!(relation.kind, RelationKind::View { .. });
        if is_view && !relation.has_trigger(TriggerTime::InsteadOf, TriggerLevel::Row, event) {
            if !left.is_empty() {
                return Err(super::target::not_updatable_by_rules(relation, event));
            }
            change = self.bound_change(node, join, false)?;
            if !wanted {
                change.returns_nothing();
            }
        }
        for condition in left {
            let kind = ExprKind::IsTruth { arg: Box::new(condition), test: Some(true), negated: true };
            change.filter = both(change.filter.take(), Some(Expr::new(kind, crate::Type::Bool)));
        }
        change.finished(self)
    }

    /// Binds a change that others are to be made of, or that has been made of another.
    fn bound_change(&mut self, node: &N, join: Option<Rc<Join>>, views_too: bool) -> Result<Change> {
        self.ruled = Some(Ruled { views_too, join: join.clone(), target: None });
        let bound = self.dml(node);
        let target = self.ruled.take().and_then(|ruled| ruled.target);
        let (dml, columns) = bound?;
        let mut change = Change::of(dml, columns, join.as_deref(), self)?;
        if let Some(target) = target {
            let given: Vec<usize> = change.given.iter().map(|(at, _)| *at).collect();
            change.given.extend(self.defaults_left_out(&target, &given)?);
        }
        Ok(change)
    }

    /// What a rule asks before it does anything.
    fn rule_condition(&mut self, rule: &Rule, relation: &Arc<Relation>) -> Result<Option<Expr>> {
        let Some(text) = &rule.condition else { return Ok(None) };
        self.by_rule(relation, |binder| {
            binder.stored(text, crate::Language::Postgres, rows(relation), Clause::Where).map(Some)
        })
    }

    /// The statements that one of a rule's becomes.
    fn action(
        &mut self,
        rule: &Rule,
        text: &str,
        relation: &Arc<Relation>,
        change: &Change,
        condition: Option<&Expr>,
    ) -> Result<Vec<Product>> {
        let origin = match (rule.instead, rule.condition.is_some()) {
            (false, _) => Origin::Also,
            (true, false) => Origin::Instead,
            (true, true) => Origin::InsteadWhere,
        };
        let wanted = rule.instead && !change.dml.returning.is_empty();
        let parsed = parsed(rule, text)?;
        let tree = parsed.tree()?;
        let event = changed(&tree).map(|(_, event)| event);
        self.by_rule(relation, |binder| {
            let scope = Scope { entries: rows(relation), ..Scope::default() };
            binder.scopes.push(scope);
            if let N::NotifyStmt(_) = &**tree {
                let (statement, columns) = binder.statement(&tree)?;
                return Ok(vec![Product { part: RewrittenPart { statement, columns }, event: None, origin }]);
            }
            // What it mentions says which rows of the change it is done for: that is seen when it has been bound.
            let probe = binder.as_kept(&tree)?;
            let mut join = change.join(Some(&probe), condition);
            let mut asked = condition.cloned();
            join.put_in(asked.iter_mut())?;
            join.filter = both(join.filter.take(), asked);
            if let N::SelectStmt(select) = &**tree {
                let mut bound = binder.query(select, true)?;
                join.add_to(&mut bound.query)?;
                bound.query.ctes.splice(0..0, join.ctes.iter().cloned());
                let mut statement = Statement::Query(Box::new(bound.query));
                join.put_in_statement(&mut statement)?;
                let part = RewrittenPart { statement, columns: bound.columns };
                return Ok(vec![Product { part, event: None, origin }]);
            }
            let join = Rc::new(join);
            if let (Some((target, event)), Some(_)) = (binder.with_rules(&tree), event) {
                return binder.products(&tree, Some(join), &target, event, (origin, wanted));
            }
            let mut made = binder.bound_change(&tree, Some(join), false)?;
            if !wanted {
                made.returns_nothing();
            }
            let (dml, columns) = made.finished(binder)?;
            let part = RewrittenPart { statement: Statement::Dml(Box::new(dml)), columns };
            Ok(vec![Product { part, event, origin }])
        })
    }

    /// Binds what a rule of a relation says: with the rights of the relation's owner, wherever the session looks for names.
    fn by_rule<T>(&mut self, relation: &Relation, bind: impl FnOnce(&mut Binder<'_>) -> Result<T>) -> Result<T> {
        let before = self.acts_for.replace(relation.oid);
        let views = std::mem::take(&mut self.views);
        let result = self.off_the_path(bind);
        self.views = views;
        self.acts_for = before;
        result
    }

    /// The change that has asked for the INSERT whose query has just been bound joins it there: before anything is done
    /// to the query's rows.
    pub(super) fn join_query(&mut self, query: &mut Query) -> Result<()> {
        match self.ruled.as_ref().and_then(|ruled| ruled.join.clone()) {
            Some(join) => join.add_to(query),
            None => Ok(()),
        }
    }

    /// True where what an INSERT leaves out is for rules to complete; the target is kept for them.
    pub(super) fn left_to_rules(&mut self, of: &Target) -> bool {
        match &mut self.ruled {
            Some(ruled) => {
                ruled.target = Some(of.clone());
                true
            }
            None => false,
        }
    }

    /// DEFAULT is spelled out for rules.
    pub(super) fn spells_for_rules(&self) -> bool {
        self.ruled.is_some() && !self.shows_text()
    }

    /// A view is bound as a relation like any other.
    pub(super) fn views_as_relations(&self) -> bool {
        self.ruled.as_ref().is_some_and(|ruled| ruled.views_too)
    }

    /// Refuses a change of a relation with rules, where they have not been asked.
    pub(super) fn check_rules(&self, relation: &Relation, event: TriggerEvent) -> Result<()> {
        if self.ruled.is_some() || self.shows_text() || relation.rules_for(event).next().is_none() {
            return Ok(());
        }
        Err(Error::unsupported(format!("this way to change \"{}\", which has rules,", relation.name)))
    }

    /// Refuses a change through a view of a relation that has rules: they would have to be asked once the view is gone.
    pub(super) fn check_rules_behind(&self, view: &Relation, behind: &Relation, event: TriggerEvent) -> Result<()> {
        if self.stored || self.shows_text() || behind.rules_for(event).next().is_none() {
            return Ok(());
        }
        let (view, behind) = (&view.name, &behind.name);
        Err(Error::unsupported(format!("a change through view \"{view}\" of \"{behind}\", which has rules,")))
    }

    /// Binds a statement of a rule as it is kept.
    pub(super) fn as_kept(&mut self, node: &N) -> Result<Statement> {
        if changed(node).is_none() {
            return Ok(self.statement(node)?.0);
        }
        self.ruled = Some(Ruled { views_too: true, ..Ruled::default() });
        let bound = self.dml(node);
        self.ruled = None;
        Ok(Statement::Dml(Box::new(bound?.0)))
    }
}

/// `old` and `new`, as a rule names them.
pub(super) fn rows(relation: &Arc<Relation>) -> Vec<Entry> {
    let row = |id, name| Entry { unqualified: false, ..Entry::of_relation(relation, id, Some(name)) };
    vec![row(OLD_ROW, "old"), row(NEW_ROW, "new")]
}

/// A statement of a rule, read from its text.
pub(super) fn parsed(rule: &Rule, text: &str) -> Result<super::Parsed> {
    let damaged = || {
        let message = format!("the statement of rule \"{}\" cannot be read: {text}", rule.name);
        Error::new(Condition::DataCorrupted, message)
    };
    let mut statements = super::parse::parse(text).map_err(|_| damaged())?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(damaged()),
    }
}

/// WITH of a change that has become several.
fn check_with(node: &N, products: &[Product]) -> Result<()> {
    let with = match node {
        N::InsertStmt(insert) => &insert.with_clause,
        N::UpdateStmt(update) => &update.with_clause,
        N::DeleteStmt(delete) => &delete.with_clause,
        _ => &None,
    };
    if with.is_some() && products.len() > 1 {
        let message = "WITH cannot be used in a query that is rewritten by rules into multiple queries";
        return Err(Error::new(Condition::FeatureNotSupported, message));
    }
    Ok(())
}

fn cannot_return(relation: &Relation, event: TriggerEvent) -> Error {
    let word = event.words();
    let message = format!("cannot perform {word} RETURNING on relation \"{}\"", relation.name);
    Error::new(Condition::FeatureNotSupported, message)
        .hint(format!("You need an unconditional ON {word} DO INSTEAD rule with a RETURNING clause."))
}

/// Two lists of FROM beside each other.
fn beside(left: Option<From>, right: Option<From>) -> Option<From> {
    match (left, right) {
        (Some(left), Some(right)) => {
            Some(From::Join { kind: JoinKind::Inner, left: Box::new(left), right: Box::new(right), on: None })
        }
        (left, right) => left.or(right),
    }
}

/// The row of a change that a member of WITH mentions, in a statement of a rule.
pub(super) fn mentioned_in_with(statement: &Statement) -> Option<RelId> {
    let ctes = match statement {
        Statement::Query(query) => &query.ctes,
        Statement::Dml(dml) => &dml.ctes,
        _ => return None,
    };
    let within = |row: RelId| {
        ctes.iter().any(|cte| {
            let mut found = false;
            let mut visit = |expr: &Expr| {
                found |= is_of(expr, row);
                !found
            };
            match &cte.body {
                CteBody::Query(query) => walk::query(query, &mut visit),
                CteBody::Dml(dml) => walk::dml(dml, &mut visit),
            }
            found
        })
    };
    [OLD_ROW, NEW_ROW].into_iter().find(|row| within(*row))
}

/// True where a statement mentions a row of the change that has asked for it.
pub(super) fn mentions(statement: &Statement, row: RelId) -> bool {
    let mut found = false;
    walk::statement(statement, &mut |expr| {
        found |= is_of(expr, row);
        !found
    });
    found
}

/// The same of an expression.
pub(super) fn mentioned(whole: &Expr, row: RelId) -> bool {
    walk::any(whole, |part| is_of(part, row))
}

fn is_of(expr: &Expr, row: RelId) -> bool {
    matches!(expr.kind, ExprKind::Column(ColumnRef { relation, .. }) if relation == row)
}

impl Join {
    /// Puts what the change means in the place of `old` and `new`.
    fn put_in<'e>(&self, exprs: impl Iterator<Item = &'e mut Expr>) -> Result<()> {
        let mut result = Ok(());
        exprs.for_each(|expr| walk::expr_mut(expr, &mut |part| self.put(part, &mut result)));
        result
    }

    fn put_in_statement(&self, statement: &mut Statement) -> Result<()> {
        let mut result = Ok(());
        walk::statement_mut(statement, &mut |part| self.put(part, &mut result));
        result
    }

    fn put(&self, part: &mut Expr, result: &mut Result<()>) -> bool {
        let ExprKind::Column(column) = &mut part.kind else { return true };
        if column.relation == OLD_ROW {
            column.relation = self.old;
        } else if column.relation == NEW_ROW {
            let value = match column.column {
                ColumnIndex::At(at) => self.new.get(at).and_then(Option::as_ref),
                ColumnIndex::RowIdentity => None,
            };
            match value {
                Some(value) => *part = value.clone(),
                None => *result = Err(Error::unsupported("what the back end alone gives a row, as NEW of a rule,")),
            }
        }
        false
    }

    /// The change joins a query of a rule.
    fn add_to(&self, query: &mut Query) -> Result<()> {
        if self.from.is_none() && self.filter.is_none() {
            return Ok(());
        }
        match &mut query.body {
            Body::Select(select) => {
                select.from = beside(self.from.clone(), select.from.take());
                select.filter = both(self.filter.clone(), select.filter.take());
                Ok(())
            }
            Body::Set { .. } => {
                let message = "conditional UNION/INTERSECT/EXCEPT statements are not implemented";
                Err(Error::new(Condition::FeatureNotSupported, message))
            }
            Body::Values(_) => Err(Error::unsupported("sorted VALUES in a rule")),
        }
    }
}

impl Change {
    /// A bound change, joined by the one that has asked for it.
    fn of(mut dml: Dml, columns: Vec<ResultColumn>, join: Option<&Join>, binder: &mut Binder<'_>) -> Result<Self> {
        if let Some(join) = join {
            let mut result = Ok(());
            walk::dml_mut(&mut dml, &mut |part| join.put(part, &mut result));
            result?;
            dml.ctes.splice(0..0, join.ctes.iter().cloned());
        }
        let (from, condition) = join.map_or((None, None), |join| (join.from.clone(), join.filter.clone()));
        let mut given = Vec::new();
        let mut filter = condition;
        let rows;
        match &mut dml.action {
            DmlAction::Insert { columns, source, .. } => {
                let positions = std::mem::take(columns);
                match std::mem::replace(source, InsertSource::Defaults) {
                    InsertSource::Defaults => rows = from,
                    InsertSource::Values(mut list) if list.len() == 1 => {
                        rows = from;
                        given.extend(positions.into_iter().zip(list.pop().unwrap_or_default()));
                    }
                    InsertSource::Values(list) => {
                        let id = binder.ids.relation();
                        let types: Vec<_> = list.first().into_iter().flatten().map(|value| value.ty.clone()).collect();
                        given.extend(positions.into_iter().zip(columns_of(id, &types)));
                        let named = |(at, ty): (usize, &crate::Type)| OutputColumn {
                            name: format!("column{}", at + 1),
                            ty: ty.clone(),
                        };
                        let outputs = types.iter().enumerate().map(named).collect();
                        let query = Query::of(Body::Values(list), outputs, binder.ids.relation());
                        let list = From::Query { id, query: Box::new(query), lateral: from.is_some() };
                        rows = beside(from, Some(list));
                    }
                    // The change has joined it where it was bound.
                    InsertSource::Query(query) => {
                        let id = binder.ids.relation();
                        let types: Vec<_> = query.columns.iter().map(|column| column.ty.clone()).collect();
                        given.extend(positions.into_iter().zip(columns_of(id, &types)));
                        rows = Some(From::Query { id, query, lateral: false });
                        filter = None;
                    }
                }
            }
            DmlAction::Update { from: own, filter: asked, current_of, .. }
            | DmlAction::Delete { using: own, filter: asked, current_of } => {
                if current_of.is_some() {
                    return Err(Error::unsupported("WHERE CURRENT OF for a relation with rules"));
                }
                rows = beside(from, own.take());
                filter = both(filter, asked.take());
            }
        }
        // What is computed takes no value.
        given.retain(|(_, value): &(usize, Expr)| !matches!(value.kind, ExprKind::Default));
        Ok(Self { dml, columns, given, beside: rows, filter })
    }

    /// Nobody wants its rows.
    fn returns_nothing(&mut self) {
        self.dml.returning.clear();
        self.dml.columns.clear();
        self.columns.clear();
    }

    /// The change as it joins a statement of one of its rules, or the rule's condition.
    fn join(&self, statement: Option<&Statement>, condition: Option<&Expr>) -> Join {
        let dml = &self.dml;
        let mentions = |row| {
            statement.is_some_and(|statement| mentions(statement, row))
                || condition.is_some_and(|condition| mentioned(condition, row))
        };
        let (new, own) = match &dml.action {
            DmlAction::Insert { .. } => {
                let value = |(at, column): (usize, &crate::schema::Column)| {
                    let given = self.given.iter().find(|(known, _)| *known == at);
                    let left_out = || column.identity.is_none().then(|| Expr::null(column.ty.clone()));
                    given.map_or_else(left_out, |(_, value)| Some(value.clone()))
                };
                (dml.target.columns.iter().enumerate().map(value).collect(), None)
            }
            action => {
                let assigned = |at: usize| match action {
                    DmlAction::Update { assignments, .. } => assignments.iter().find(|(known, _)| *known == at),
                    _ => None,
                };
                let value = |(at, column): (usize, &crate::schema::Column)| match assigned(at) {
                    Some((_, value)) => Some(value.clone()),
                    None => Some(Expr::column(dml.id, at, column.ty.clone())),
                };
                let new = dml.target.columns.iter().enumerate().map(value).collect();
                // A statement that asks for no row of it is done once.
                let asked = self.filter.as_ref().is_some_and(|filter| mentioned(filter, dml.id));
                let updates = matches!(action, DmlAction::Update { .. });
                let wanted = asked || mentions(OLD_ROW) || updates && mentions(NEW_ROW);
                (new, wanted.then(|| self.own_rows()))
            }
        };
        let from = beside(own, self.beside.clone());
        Join { old: dml.id, new, from, filter: self.filter.clone(), ctes: dml.ctes.clone() }
    }

    /// The changed relation as one that is read.
    fn own_rows(&self) -> From {
        let dml = &self.dml;
        match (&dml.view, &dml.family) {
            (Some(view), _) => (**view).clone(),
            (None, Some(family)) => family.rows.clone(),
            (None, None) => From::Relation { id: dml.id, relation: dml.target.clone(), filter: None },
        }
    }

    /// RETURNING of the change, of what the statement in its place returns.
    fn returned_by(&self, own: &[Expr]) -> Result<Vec<Expr>> {
        let mut returning = self.dml.returning.clone();
        let mut result = Ok(());
        for item in &mut returning {
            walk::expr_mut(item, &mut |part| {
                let ExprKind::Column(column) = part.kind else { return true };
                if column.relation != self.dml.id {
                    return true;
                }
                let value = match column.column {
                    ColumnIndex::At(at) => own.get(at),
                    ColumnIndex::RowIdentity => None,
                };
                match value {
                    Some(value) => *part = value.clone().cast(part.ty.clone(), CastContext::Implicit),
                    None => {
                        result = Err(Error::unsupported("a system column in RETURNING of a relation with rules"));
                    }
                }
                false
            });
        }
        result.map(|()| returning)
    }

    /// The statement that it has become.
    fn finished(self, binder: &mut Binder<'_>) -> Result<(Dml, Vec<ResultColumn>)> {
        let Self { mut dml, columns, given, beside, filter } = self;
        match &mut dml.action {
            DmlAction::Insert { columns, source, .. } => {
                let (positions, values): (Vec<usize>, Vec<Expr>) = given.into_iter().unzip();
                *columns = positions;
                *source = match (beside, filter) {
                    (None, None) if values.is_empty() => InsertSource::Defaults,
                    (None, None) => InsertSource::Values(vec![values]),
                    (Some(From::Query { id, query, lateral: false }), None) if are_columns_of(&values, id, &query) => {
                        InsertSource::Query(query)
                    }
                    _ if values.is_empty() => {
                        return Err(Error::unsupported("a rule that inserts rows without any values"));
                    }
                    (beside, filter) => {
                        let named = |value: &Expr| OutputColumn { name: "?column?".to_owned(), ty: value.ty.clone() };
                        let outputs = values.iter().map(named).collect();
                        let select = Select { filter, ..Select::of(values, beside) };
                        let output = binder.ids.relation();
                        let mut query = Query::of(Body::Select(Box::new(select)), outputs, output);
                        crate::bind::insert::keep_order(&mut query, &mut binder.ids);
                        InsertSource::Query(Box::new(query))
                    }
                };
            }
            DmlAction::Update { from: own, filter: asked, .. }
            | DmlAction::Delete { using: own, filter: asked, .. } => {
                *own = beside;
                *asked = filter;
            }
        }
        Ok((dml, columns))
    }
}

/// The columns of a relation that has so many, of these types.
fn columns_of(id: RelId, types: &[crate::Type]) -> Vec<Expr> {
    types.iter().enumerate().map(|(at, ty)| Expr::column(id, at, ty.clone())).collect()
}

/// The values are the columns of a query, in their order, and nothing besides.
fn are_columns_of(values: &[Expr], id: RelId, query: &Query) -> bool {
    values.len() == query.columns.len()
        && values.iter().enumerate().all(|(at, value)| super::target::column_of(value, id) == Some(at))
}
