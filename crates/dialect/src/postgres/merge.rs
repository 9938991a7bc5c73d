//! MERGE.
//!
//! The source is joined with the target; a CASE over the WHEN clauses says what is to be done about each row, and the
//! values that a clause stores are computed for the rows that it is about.

use pg_query::protobuf::{self as pg, CmdType, MergeMatchKind, Node, node::Node as N};

use super::binder::{Binder, Clause, Entry, Scope};
use super::target::{Change, Target, barrier};
use crate::access::Privileges;
use crate::ir::by_rows::{row_identity, same_row, select};
use crate::ir::{
    self, Again, CompareOp, Dml, DmlAction, Expr, ExprKind, From, Hidden, InsertSource, JoinKind, Merge, RelId, family,
    walk,
};
use crate::schema::{PolicyCommand, RelationKind};
use crate::{Condition, Error, Language, Result, Type};

/// A WHEN clause as it is bound.
struct When {
    matched: bool,
    condition: Option<Expr>,
    action: Option<DmlAction>,
}

impl Binder<'_> {
    pub(super) fn merge(&mut self, merge: &pg::MergeStmt) -> Result<Merge> {
        self.effects.writes = true;
        self.effects.reads = true;
        let visible = self.ctes.len();
        let result = self.merge_with(merge);
        self.ctes.truncate(visible);
        result
    }

    fn merge_with(&mut self, merge: &pg::MergeStmt) -> Result<Merge> {
        if merge.returning_clause.is_some() {
            return Err(self.unsupported("RETURNING of MERGE", -1));
        }
        self.check_clauses(merge)?;
        let ctes = match &merge.with_clause {
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let mark = self.needs.mark();
        let target = self.merge_target(merge)?;
        // The actions say what is needed.
        self.needs.change(mark, target.id, Privileges::NONE);
        let Some(source) = merge.source_relation.as_deref() else { return Err(Error::internal("MERGE of nothing")) };
        let (from, source_entries) = self.bind_from(std::slice::from_ref(source))?;
        let Some(from) = from else { return Err(Error::internal("MERGE of nothing")) };
        if source_entries.iter().any(|entry| entry.name == target.entry.name) {
            return Err(Error::new(
                Condition::DuplicateAlias,
                format!("name \"{}\" specified more than once", target.entry.name),
            )
            .detail("The name is used both as MERGE target table and data source."));
        }
        let mut both = vec![target.entry.clone()];
        both.extend(source_entries.iter().cloned());
        let scope = Scope { entries: both.clone(), clause: Clause::Join, ..Scope::default() };
        let condition = self.merge_condition(merge.join_condition.as_deref(), scope, "MERGE")?;
        let mut clauses = Vec::with_capacity(merge.merge_when_clauses.len());
        for node in &merge.merge_when_clauses {
            let Some(N::MergeWhenClause(when)) = &node.node else { continue };
            clauses.push(self.when_clause(when, &target, &both, &source_entries)?);
        }
        assemble(ctes, target, from, condition, clauses, self)
    }

    /// What can be said of the clauses before anything is bound.
    fn check_clauses(&self, merge: &pg::MergeStmt) -> Result<()> {
        let mut unconditional = [false; 2];
        for node in &merge.merge_when_clauses {
            let Some(N::MergeWhenClause(when)) = &node.node else { continue };
            if when.match_kind() == MergeMatchKind::MergeWhenNotMatchedBySource {
                return Err(self.unsupported("WHEN NOT MATCHED BY SOURCE", -1));
            }
            let place = usize::from(when.match_kind() == MergeMatchKind::MergeWhenMatched);
            if unconditional[place] {
                return Err(Error::new(
                    Condition::SyntaxError,
                    "unreachable WHEN clause specified after unconditional WHEN clause",
                ));
            }
            unconditional[place] = when.condition.is_none();
        }
        Ok(())
    }

    fn merge_target(&mut self, merge: &pg::MergeStmt) -> Result<Target> {
        if let Some(range) = &merge.relation {
            let relation = self.relation(range)?;
            let kind = match relation.kind {
                RelationKind::Table if relation.without_identity => {
                    return Err(self.unsupported("MERGE into a table without rowids", range.location));
                }
                RelationKind::Table => None,
                RelationKind::Catalog => None,
                RelationKind::View { .. } | RelationKind::NativeView => Some("views"),
                RelationKind::MaterializedView { .. } => Some("materialized views"),
                RelationKind::Sequence { .. } => Some("sequences"),
            };
            if let Some(kind) = kind {
                let message = format!("cannot execute MERGE on relation \"{}\"", relation.name);
                return Err(Error::new(Condition::FeatureNotSupported, message)
                    .detail(format!("This operation is not supported for {kind}.")));
            }
        }
        self.target(merge.relation.as_ref(), Change::Update)
    }

    fn merge_condition(&mut self, node: Option<&Node>, scope: Scope, words: &str) -> Result<Option<Expr>> {
        let Some(node) = node else { return Ok(None) };
        let (condition, _) = self.with_scope(scope, |binder| {
            let (condition, at) = binder.placed(node)?;
            binder.condition(condition, words, at)
        })?;
        Ok(Some(condition))
    }

    fn when_clause(
        &mut self,
        when: &pg::MergeWhenClause,
        target: &Target,
        both: &[Entry],
        source: &[Entry],
    ) -> Result<When> {
        let matched = when.match_kind() == MergeMatchKind::MergeWhenMatched;
        let entries = if matched { both } else { source };
        let out_of_reach = if matched { Vec::new() } else { vec![target.entry.clone()] };
        let scope = Scope { entries: entries.to_vec(), clause: Clause::Where, out_of_reach, ..Scope::default() };
        let condition = self.merge_condition(when.condition.as_deref(), scope, "WHEN")?;
        let action = match when.command_type() {
            CmdType::CmdUpdate => {
                self.needs.require(target.id, Privileges::UPDATE);
                let scope = Scope { entries: both.to_vec(), clause: Clause::Update, ..Scope::default() };
                let (assignments, _) =
                    self.with_scope(scope, |binder| binder.assignments(&when.target_list, target, Change::Update))?;
                Some(DmlAction::Update { assignments, from: None, filter: None, current_of: None })
            }
            CmdType::CmdDelete => {
                self.needs.require(target.id, Privileges::DELETE);
                Some(DmlAction::Delete { using: None, filter: None, current_of: None })
            }
            CmdType::CmdInsert => Some(self.merged_insert(when, target, source)?),
            _ => None,
        };
        Ok(When { matched, condition, action })
    }

    fn merged_insert(&mut self, when: &pg::MergeWhenClause, target: &Target, source: &[Entry]) -> Result<DmlAction> {
        let mut columns = self.insert_columns(&when.target_list, target)?;
        self.needs.require(target.id, Privileges::INSERT);
        self.change_columns(target, columns.list.iter().map(|(position, _)| *position), true);
        let overriding = when.r#override();
        let bound = if when.values.is_empty() {
            columns.list.clear();
            InsertSource::Defaults
        } else {
            let list = pg::List { items: when.values.clone() };
            let values =
                pg::SelectStmt { values_lists: vec![Node { node: Some(N::List(list)) }], ..pg::SelectStmt::default() };
            let out_of_reach = vec![target.entry.clone()];
            let scope = Scope { entries: source.to_vec(), clause: Clause::Values, out_of_reach, ..Scope::default() };
            self.with_scope(scope, |binder| binder.insert_values(target, &values, &mut columns, overriding))?.0
        };
        let mut positions = columns.list.iter().map(|(position, _)| *position).collect();
        let source = self.add_defaults(target, &mut positions, bound)?;
        Ok(DmlAction::Insert { columns: positions, source, on_conflict: None })
    }
}

/// What the query of rows computes before it is known which action a row needs.
struct Inner {
    id: RelId,
    items: Vec<Expr>,
    known: Vec<RelId>,
}

impl Inner {
    /// An expression over the joined relations as one over the query that computes their columns.
    fn lift(&mut self, mut expr: Expr) -> Expr {
        walk::expr_mut(&mut expr, &mut |part| {
            let own = matches!(part.kind, ExprKind::Column(column) if self.known.contains(&column.relation));
            if own {
                let at = self.items.iter().position(|item| item == part).unwrap_or_else(|| {
                    self.items.push(part.clone());
                    self.items.len() - 1
                });
                *part = Expr::column(self.id, at, part.ty.clone());
            }
            !own
        });
        expr
    }
}

fn number(at: usize) -> Expr {
    Expr::integer(i64::try_from(at).unwrap_or(i64::MAX), Type::Int8)
}

/// The number of the action that a row of a member of the target's family needs; NULL when there is none.
fn choice(clauses: &[When], actions: &[Option<usize>], matched: bool, member: usize) -> Expr {
    let mut branches = Vec::new();
    let mut otherwise = Expr::null(Type::Int8);
    for (when, action) in clauses.iter().zip(actions).filter(|(when, _)| when.matched == matched) {
        let chosen = action.map_or(Expr::null(Type::Int8), |first| number(first + member));
        match &when.condition {
            Some(condition) => branches.push((condition.clone(), chosen)),
            None => {
                otherwise = chosen;
                break;
            }
        }
    }
    if branches.is_empty() {
        return otherwise;
    }
    Expr::new(ExprKind::Case { branches, otherwise: Some(Box::new(otherwise)) }, Type::Int8)
}

fn assemble(
    ctes: Vec<ir::Cte>,
    target: Target,
    source: From,
    condition: Option<Expr>,
    clauses: Vec<When>,
    binder: &mut Binder<'_>,
) -> Result<Merge> {
    let members = target.family.as_ref().map_or(1, |family| family.members.len());
    let mut count = 0;
    // The number of each clause's action; where there is one for each member of a family, the first's.
    let actions: Vec<Option<usize>> = (clauses.iter())
        .map(|when| {
            when.action.as_ref().map(|_| {
                let first = count;
                count += if when.matched { members } else { 1 };
                first
            })
        })
        .collect();
    let row = match &target.family {
        Some(_) => Hidden::RowIdentity.of(target.id, &target.relation),
        None => row_identity(target.id),
    };
    let missing = ExprKind::IsNull { arg: Box::new(row.clone()), negated: false };
    let mut branches = vec![(Expr::new(missing, Type::Bool), choice(&clauses, &actions, false, 0))];
    for member in 1..members {
        let of_member = compare(CompareOp::Equal, Hidden::Member.of(target.id, &target.relation), number(member));
        branches.push((of_member, choice(&clauses, &actions, true, member)));
    }
    let otherwise = Some(Box::new(choice(&clauses, &actions, true, 0)));
    let action = Expr::new(ExprKind::Case { branches, otherwise }, Type::Int8);
    let mut known = vec![target.id];
    known.extend(source.relations());
    let mut inner = Inner { id: binder.ids.relation(), items: vec![row, action], known };
    let chosen = Expr::column(inner.id, 1, Type::Int8);
    let mut items = vec![Expr::column(inner.id, 0, Type::Int8), chosen.clone()];
    // A value is computed for those rows only that it is for.
    let mut given = |value: Expr, first: usize, several: usize, inner: &mut Inner| -> Expr {
        let ty = value.ty.clone();
        let test = if several == 1 {
            compare(CompareOp::Equal, chosen.clone(), number(first))
        } else {
            let from = compare(CompareOp::GreaterOrEqual, chosen.clone(), number(first));
            let to = compare(CompareOp::Less, chosen.clone(), number(first + several));
            Expr::new(ExprKind::And(vec![from, to]), Type::Bool)
        };
        let branches = vec![(test, inner.lift(value))];
        items.push(Expr::new(ExprKind::Case { branches, otherwise: None }, ty.clone()));
        Expr::new(ExprKind::Param(items.len() - 1), ty)
    };
    let inserts = clauses.iter().any(|when| !when.matched && when.action.is_some());
    let mut done = Vec::with_capacity(count);
    for (when, at) in clauses.into_iter().zip(actions) {
        let (Some(mut action), Some(at)) = (when.action, at) else { continue };
        let command = match &action {
            DmlAction::Update { .. } => PolicyCommand::Update,
            DmlAction::Delete { .. } => PolicyCommand::Delete,
            DmlAction::Insert { .. } => PolicyCommand::Insert,
        };
        let guards = binder.merge_guards(&target, command)?;
        let mut routing = match &action {
            DmlAction::Insert { .. } => target.routing.clone(),
            DmlAction::Update { assignments, .. } => binder.moving(&target, assignments, false)?,
            DmlAction::Delete { .. } => None,
        };
        if let Some(routing) = &mut routing {
            let value = written(&action, &target);
            let several = if when.matched { members } else { 1 };
            routing.bring(target.id, &value, &mut |value| given(value, at, several, &mut inner));
        }
        match &mut action {
            DmlAction::Update { assignments, filter, .. } => {
                *filter = Some(same_row(target.id));
                for (_, value) in assignments.iter_mut().filter(|(_, value)| !matches!(value.kind, ExprKind::Default)) {
                    *value = given(value.clone(), at, members, &mut inner);
                }
            }
            DmlAction::Delete { filter, .. } => *filter = Some(same_row(target.id)),
            DmlAction::Insert { source: InsertSource::Values(rows), .. } => {
                for value in rows.iter_mut().flatten().filter(|value| !matches!(value.kind, ExprKind::Default)) {
                    *value = given(value.clone(), at, 1, &mut inner);
                }
            }
            DmlAction::Insert { .. } => {}
        }
        let moves = matches!(action, DmlAction::Update { .. });
        let mut dml = Dml {
            family: None,
            routing: None,
            heir: false,
            ctes: Vec::new(),
            target: target.relation.clone(),
            id: target.id,
            action,
            view: None,
            checks: Vec::new(),
            guards,
            returning: Vec::new(),
            columns: Vec::new(),
        };
        dml.routing = match routing {
            Some(routing) if moves => Some(Box::new(routing.with_moved(&dml))),
            routing => routing,
        };
        match &target.family {
            Some(family) if when.matched => {
                for member in &family.members {
                    done.push(family::for_member(&dml, member)?);
                }
            }
            _ => done.push(dml),
        }
    }
    let visible = binder.changeable_rows(&target, PolicyCommand::Select)?.map(Box::new);
    let rows_of_target = match target.family {
        Some(family) => family.rows,
        None => From::Relation { id: target.id, relation: target.relation.clone(), filter: visible },
    };
    let joined = From::Join {
        kind: if inserts { JoinKind::Left } else { JoinKind::Inner },
        left: Box::new(source),
        right: Box::new(rows_of_target),
        on: condition,
    };
    let mut below = select(inner.items, Vec::new(), Some(joined), None);
    below.output = binder.ids.relation();
    // The choice is made once for each row.
    below.offset = Some(barrier());
    let from = From::Query { id: inner.id, query: Box::new(below), lateral: false };
    let mut rows = select(items, ctes, Some(from), None);
    rows.output = binder.ids.relation();
    Ok(Merge { rows, actions: done, again: Again::Refused(Language::Postgres) })
}

/// The columns of the row that an action writes.
fn written<'a>(action: &'a DmlAction, target: &'a Target) -> Box<dyn Fn(usize) -> Expr + 'a> {
    let ty = |at: usize| target.relation.columns[at].ty.clone();
    match action {
        DmlAction::Insert { columns, source: InsertSource::Values(rows), .. } => Box::new(move |at| {
            let placed = columns.iter().position(|column| *column == at);
            let value = placed.and_then(|place| rows.first()?.get(place));
            match value.filter(|value| !matches!(value.kind, ExprKind::Default)) {
                Some(value) => value.clone(),
                None => Expr::null(ty(at)),
            }
        }),
        DmlAction::Update { assignments, .. } => Box::new(move |at| {
            let assigned = assignments.iter().find(|(column, _)| *column == at);
            assigned.map_or_else(|| Expr::column(target.id, at, ty(at)), |(_, value)| value.clone())
        }),
        _ => Box::new(move |at| Expr::null(ty(at))),
    }
}

fn compare(op: CompareOp, left: Expr, right: Expr) -> Expr {
    Expr::new(ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) }, Type::Bool)
}
