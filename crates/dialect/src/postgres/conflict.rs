//! ON CONFLICT: which unique index is meant, and what becomes of a row that is there already.

use pg_query::protobuf::{self as pg, Node, OnConflictAction, node::Node as N};

use super::binder::{Binder, Clause, Entry, Scope};
use super::mysql::changes::Counted;
use super::target::{Change, Target};
use crate::access::Privileges;
use crate::ir::{self, Arbiter, ConflictAction, Expr, ExprKind, OnConflict, walk};
use crate::plan::ResultColumn;
use crate::schema::{Column, Index, Relation};
use crate::{Condition, Result, Type};

impl Binder<'_> {
    /// A query whose first row is refused: ON CONFLICT means a constraint that may wait.
    pub(super) fn refusing(&mut self, query: ir::Query, relation: &Relation, waits: &Index) -> Box<ir::Query> {
        let columns: Vec<ResultColumn> = query
            .columns
            .iter()
            .map(|column| super::binder::computed(column.name.clone(), column.ty.clone()))
            .collect();
        let bound = super::binder::BoundQuery { query, columns, places: Vec::new() };
        let mut bound = bound.wrapped(&mut self.ids);
        if let ir::Body::Select(select) = &mut bound.query.body {
            let function = crate::functions::internal("refuse a deferrable arbiter");
            let args = [&relation.namespace, &waits.name].map(|name| Expr::text(name.clone())).to_vec();
            select.filter = Some(Expr::new(ExprKind::Call { function, args }, Type::Bool));
        }
        self.effects.volatile = true;
        Box::new(bound.query)
    }

    /// Each column as the proposed row has it.
    fn replaced(&self, target: &Target) -> Vec<Node> {
        let column = |column: &Column| {
            let field = |name: &str| Node { node: Some(N::String(pg::String { sval: name.to_owned() })) };
            let fields = vec![field("excluded"), field(&column.name)];
            let value = Node { node: Some(N::ColumnRef(pg::ColumnRef { fields, location: -1 })) };
            let target = pg::ResTarget {
                name: column.name.clone(),
                val: Some(Box::new(value)),
                location: -1,
                ..Default::default()
            };
            Node { node: Some(N::ResTarget(Box::new(target))) }
        };
        let columns = target.relation.columns.iter().filter(|column| column.generated.is_none());
        columns.map(column).collect()
    }

    /// ON CONFLICT; with the index that it means where its constraint may wait, which refuses every row.
    pub(super) fn on_conflict(
        &mut self,
        clause: &pg::OnConflictClause,
        target: &Target,
    ) -> Result<(Option<OnConflict>, Option<Index>)> {
        let update = match clause.action() {
            OnConflictAction::OnconflictUpdate => true,
            OnConflictAction::OnconflictNothing => false,
            _ => return Ok((None, None)),
        };
        let (arbiter, waits) = match clause.infer.as_deref() {
            Some(infer) => match self.arbiter(infer, target, update)? {
                Ok(arbiter) => (Some(arbiter), None),
                Err(waits) => (None, Some(waits)),
            },
            None if update && self.is_mysql() => (None, None),
            None if update => {
                return Err(self
                    .error(
                        Condition::SyntaxError,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name",
                        clause.location,
                    )
                    .hint("For example, ON CONFLICT (column_name)."));
            }
            // Without an arbiter every key is meant, and none of them may wait.
            None => (None, target.relation.indexes.iter().find(|index| index.deferrability().is_some()).cloned()),
        };
        if !update {
            let nothing = OnConflict { arbiter, in_turn: Vec::new(), action: ConflictAction::Nothing };
            return Ok((Some(nothing), waits));
        }
        self.needs.require(target.id, Privileges::UPDATE);
        let excluded = self.ids.relation();
        let proposed = target.excluded(excluded);
        let scope = Scope { entries: vec![target.entry.clone(), proposed], clause: Clause::Update, ..Scope::default() };
        let ((assignments, filter), _) = self.with_scope(scope, |binder| {
            let all;
            let assigned = match clause.target_list.as_slice() {
                // REPLACE puts the whole row in the place of the one that was there.
                [] if binder.is_mysql() => {
                    all = binder.replaced(target);
                    &all
                }
                assigned => assigned,
            };
            let assignments = binder.assignments(assigned, target, Change::Insert)?;
            let filter = match clause.where_clause.as_deref() {
                Some(node) => Some(binder.within(Clause::Where, |binder| {
                    let (filter, at) = binder.placed(node)?;
                    binder.condition(filter, "WHERE", at)
                })?),
                None if binder.is_mysql() && !target.is_view() && !assignments.is_empty() => {
                    let replaces = clause.target_list.is_empty();
                    let counted = if replaces { Counted::Replace } else { Counted::Duplicate };
                    let changes = binder.changes_row(target, &assignments, counted)?;
                    Some(if replaces { changes } else { binder.meets_numbered(target, excluded, changes)? })
                }
                None => None,
            };
            Ok((assignments, filter))
        })?;
        let replaces = clause.target_list.is_empty();
        let in_turn = if arbiter.is_none() { self.mysql_keys_in_turn(&target.relation, replaces)? } else { Vec::new() };
        let action = ConflictAction::Update { excluded, assignments, filter };
        Ok((Some(OnConflict { arbiter, in_turn, action }), waits))
    }

    /// A table's keys in MySQL's order, where there are several; the only one, too, where REPLACE looks at each row.
    fn mysql_keys_in_turn(&mut self, relation: &std::sync::Arc<Relation>, replaces: bool) -> Result<Vec<Arbiter>> {
        match relation.keys_in_order() {
            keys if keys.len() < 2 && !replaces => Ok(Vec::new()),
            keys => keys.into_iter().map(|at| self.index_exprs(at, relation)).collect(),
        }
    }

    /// The unique index that ON CONFLICT (…) means, or the one that is meant and may wait.
    fn arbiter(
        &mut self,
        infer: &pg::InferClause,
        target: &Target,
        update: bool,
    ) -> Result<std::result::Result<Arbiter, Index>> {
        if !infer.conname.is_empty() {
            return self.named_arbiter(infer, target, update);
        }
        let relation = &target.relation;
        let mut wanted: Vec<usize> = Vec::new();
        let mut expressions: Vec<Expr> = Vec::new();
        for node in &infer.index_elems {
            let Some(N::IndexElem(element)) = &node.node else { continue };
            if let Some(expr) = element.expr.as_deref().filter(|_| element.name.is_empty()) {
                expressions.push(self.inferred(expr, target)?);
            } else if !element.name.is_empty() {
                wanted.push(self.target_column(target, &element.name, Change::Insert, infer.location).map_err(
                    |_| {
                        self.error(
                            Condition::UndefinedColumn,
                            format!("column \"{}\" does not exist", element.name),
                            infer.location,
                        )
                    },
                )?);
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        self.read_target(target, wanted.iter().copied());
        let predicate = match infer.where_clause.as_deref() {
            Some(node) => Some(self.inferred(node, target)?),
            None => None,
        };
        for at in 0..relation.indexes.len() {
            let index = &relation.indexes[at];
            let mut columns: Vec<usize> = index.columns.iter().flatten().copied().collect();
            columns.sort_unstable();
            columns.dedup();
            // One made with ON ONLY counts when every partition has its part.
            let whole = || !relation.is_partitioned() || crate::partition::is_whole(self.schema, relation, at);
            if !index.unique || columns != wanted || !whole() {
                continue;
            }
            let Ok(arbiter) = self.index_exprs(at, relation) else { continue };
            let of_index = |expr: &&Expr| !matches!(expr.kind, ExprKind::Column(_));
            let own: Vec<&Expr> = arbiter.keys.iter().filter(of_index).collect();
            let same = own.iter().all(|key| expressions.contains(key))
                && expressions.iter().all(|expression| own.contains(&expression));
            if same && arbiter.predicate.as_ref().is_none_or(|condition| implies(predicate.as_ref(), condition)) {
                return Ok(Ok(arbiter));
            }
        }
        let waits = |index: &&crate::schema::Index| {
            let mut columns: Vec<usize> = index.columns.iter().flatten().copied().collect();
            columns.sort_unstable();
            index.deferred.is_some() && columns == wanted && expressions.is_empty()
        };
        if let Some(index) = relation.indexes.iter().find(waits) {
            return Ok(Err(index.clone()));
        }
        Err(self.error(
            Condition::InvalidColumnReference,
            "there is no unique or exclusion constraint matching the ON CONFLICT specification",
            -1,
        ))
    }

    /// ON CONFLICT ON CONSTRAINT.
    fn named_arbiter(
        &mut self,
        infer: &pg::InferClause,
        target: &Target,
        update: bool,
    ) -> Result<std::result::Result<Arbiter, Index>> {
        let relation = &target.relation;
        let is_arbiter = |index: &crate::schema::Index| index.is_key() || index.exclusion.is_some();
        let named = |index: &crate::schema::Index| index.name == infer.conname && is_arbiter(index) && index.constraint;
        let Some(at) = relation.indexes.iter().position(named) else {
            return Err(self.error(
                Condition::UndefinedObject,
                format!("constraint \"{}\" for table \"{}\" does not exist", infer.conname, relation.name),
                infer.location,
            ));
        };
        let index = &relation.indexes[at];
        if update && index.exclusion.is_some() {
            let message = "ON CONFLICT DO UPDATE not supported with exclusion constraints";
            return Err(crate::Error::new(Condition::WrongObjectType, message));
        }
        if index.deferrability().is_some() {
            return Ok(Err(index.clone()));
        }
        let columns: Vec<usize> = relation.indexes[at].columns.iter().flatten().copied().collect();
        self.read_target(target, columns.into_iter());
        self.index_exprs(at, relation).map(Ok)
    }

    /// An expression of ON CONFLICT (…), over [`ir::Text::TABLE`].
    fn inferred(&mut self, node: &Node, target: &Target) -> Result<Expr> {
        let scope = Scope { entries: vec![target.entry.clone()], clause: Clause::Index, ..Scope::default() };
        let (mut expr, _) = self.with_scope(scope, |binder| binder.expr(node))?;
        walk::expr_mut(&mut expr, &mut |part| {
            if let ExprKind::Column(column) = &mut part.kind
                && column.relation == target.id
            {
                column.relation = ir::Text::TABLE;
            }
            true
        });
        self.derive_collations_of(&mut expr, &[(ir::Text::TABLE, target.relation.clone())])?;
        Ok(expr)
    }

    /// The keys of an index and its condition, bound.
    pub(super) fn index_exprs(&mut self, at: usize, relation: &std::sync::Arc<Relation>) -> Result<Arbiter> {
        let index = &relation.indexes[at];
        let mut bound = |text: &str| -> Result<Expr> {
            let entry = Entry::of_relation(relation, ir::Text::TABLE, None);
            let mut expr = self.stored(text, relation.language, vec![entry], Clause::Index)?;
            self.derive_collations_of(&mut expr, &[(ir::Text::TABLE, relation.clone())])?;
            Ok(expr)
        };
        let keys = index.columns.iter().zip(&index.keys).map(|(column, key)| match column {
            Some(at) => Ok(Expr::column(ir::Text::TABLE, *at, relation.columns[*at].ty.clone())),
            None => bound(&key.text),
        });
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let predicate = index.predicate.as_deref().map(bound).transpose()?;
        Ok(Arbiter { index: at, keys, predicate })
    }
}

/// Whether a condition holds wherever another does, as far as it is one of the parts of that.
fn implies(given: Option<&Expr>, condition: &Expr) -> bool {
    let parts = |expr: &Expr| match &expr.kind {
        ExprKind::And(members) => members.clone(),
        _ => vec![expr.clone()],
    };
    let given = given.map(parts).unwrap_or_default();
    parts(condition).iter().all(|part| given.contains(part))
}

/// A constraint that may wait decides on no row of ON CONFLICT.
pub fn deferrable_arbiter(relation: &Relation, index: &Index) -> crate::Error {
    crate::Error::new(
        Condition::ObjectNotInPrerequisiteState,
        "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters",
    )
    .table(relation.namespace.clone(), relation.name.clone())
    .constraint(index.name.clone())
}
