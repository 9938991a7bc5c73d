//! What MySQL's changes of rows mean beyond PostgreSQL's: assignments are seen by those behind them, rows that stay as they
//! are do not count as changed, and the tables of a join are changed as the join finds them.

use pg_query::protobuf::{self as pg, Node, OnConflictAction, node::Node as N};

use super::super::binder::Binder;
use super::super::coerce::base;
use super::super::target::Target;
use super::Clips;
use super::classes::{Class, class, own_words};
use crate::functions::Function;
use crate::ir::{
    CastContext, ColumnIndex, ColumnRef, Cte, CteBody, Expr, ExprKind, OneByOne, RelId, SortKey, TriggerEvent, Value,
    walk,
};
use crate::schema::{Column, Relation};
use crate::{Condition, Error, Result, Type};

/// Why rows are compared with what they become: what is counted depends on it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::postgres) enum Counted {
    /// UPDATE.
    Update = 0,
    /// ON DUPLICATE KEY UPDATE: a row that is changed counts twice.
    Duplicate = 1,
    /// REPLACE: so does one that is replaced, and one that stays as it is counts once.
    Replace = 2,
    /// The second of two tables that are changed at once: each counts beside those of the first.
    Beside = 3,
}

/// What MySQL's front end says of rows that are changed one after another. It stands among the options of RETURNING, which
/// MySQL has not.
#[derive(Default)]
pub(in crate::postgres) struct Said<'n> {
    /// IGNORE.
    pub(in crate::postgres) ignores: bool,
    /// PARTITION: the names of those whose rows are changed.
    pub(in crate::postgres) partitions: &'n [Node],
    /// ORDER BY of an UPDATE.
    order: &'n [Node],
}

impl<'n> Said<'n> {
    pub(in crate::postgres) fn of(clause: Option<&'n pg::ReturningClause>) -> Self {
        let mut said = Self::default();
        for option in clause.map(|clause| clause.options.as_slice()).unwrap_or_default() {
            let Some(N::DefElem(option)) = &option.node else { continue };
            said.ignores |= option.defname == crate::mysql::IGNORE;
            if let Some(N::List(items)) = option.arg.as_deref().and_then(|arg| arg.node.as_ref()) {
                match option.defname == crate::mysql::PARTITIONS {
                    true => said.partitions = &items.items,
                    false => said.order = &items.items,
                }
            }
        }
        said
    }
}

/// How many columns one call compares.
const PAIRS: usize = 40;

/// Functions that warn of a value, by how their names begin; their last argument says where it is, and nothing for silence.
const WARNING: [&str; 2] = ["mysql_fitting_", "mysql_warned_of_"];

/// The function that counts rows by what becomes of them; its first argument says how.
const COUNTING: &str = "mysql_changes";

/// The function that is told which row an upsert has met, and which number the new row was to have.
pub const MEETING: &str = "mysql_met";

/// The mode of a call that counts nothing.
const COMPARED: i64 = -1;

/// What the query of a join is called of which tables are changed.
pub(super) const CHANGES: &str = "_changes";

/// One of several tables that a statement changes, behind the first.
pub(in crate::postgres) fn is_beside(update: &pg::UpdateStmt) -> bool {
    let reads_changes = |node: &Node| matches!(&node.node, Some(N::RangeVar(range)) if range.relname == CHANGES);
    update.with_clause.is_none() && update.from_clause.iter().any(reads_changes)
}

/// The same value, of which nobody is warned: it is computed beside the one that is stored.
fn without_warnings(value: &Expr) -> Expr {
    let mut value = value.clone();
    walk::expr_mut(&mut value, &mut |part| {
        quieten(part);
        true
    });
    value
}

/// Makes a call of MySQL's that counts or warns one that only answers.
pub fn quieten(expr: &mut Expr) {
    let ExprKind::Call { function, args } = &mut expr.kind else { return };
    if function.name == COUNTING {
        if let Some(mode) = args.first_mut() {
            *mode = Expr::integer(COMPARED, Type::Int8);
        }
    } else if function.name == MEETING {
        *expr = Expr::new(ExprKind::Literal(Value::Integer(1)), Type::Bool);
    } else if WARNING.iter().any(|prefix| function.name.starts_with(prefix))
        && let Some(place) = args.last_mut()
    {
        *place = Expr::text("");
    }
}

/// A call of these that only answers, and always the same.
pub fn is_quiet(function: &Function, args: &[Expr]) -> bool {
    let is = |arg: Option<&Expr>, wanted: Value| arg.is_some_and(|arg| arg.kind == ExprKind::Literal(wanted));
    match function.name {
        COUNTING => is(args.first(), Value::Integer(COMPARED)),
        name => WARNING.iter().any(|prefix| name.starts_with(prefix)) && is(args.last(), Value::Text(String::new())),
    }
}

fn word(text: &str) -> Node {
    Node { node: Some(N::String(pg::String { sval: text.to_owned() })) }
}

fn column(parts: &[&str]) -> Node {
    let fields = parts.iter().map(|part| word(part)).collect();
    Node { node: Some(N::ColumnRef(pg::ColumnRef { fields, location: -1 })) }
}

fn result(name: &str, val: Node) -> Node {
    Node {
        node: Some(N::ResTarget(Box::new(pg::ResTarget {
            name: name.to_owned(),
            val: Some(Box::new(val)),
            location: -1,
            ..Default::default()
        }))),
    }
}

/// The tables of a join.
fn tables_of<'n>(node: &'n Node, found: &mut Vec<&'n pg::RangeVar>) {
    match &node.node {
        Some(N::RangeVar(range)) => found.push(range),
        Some(N::JoinExpr(join)) => {
            [&join.larg, &join.rarg].into_iter().flatten().for_each(|side| tables_of(side, found));
        }
        _ => {}
    }
}

/// What a statement calls a table.
pub(in crate::postgres) fn called(range: &pg::RangeVar) -> &str {
    range.alias.as_ref().map_or(&range.relname, |alias| &alias.aliasname)
}

impl Binder<'_> {
    /// What becomes of values that do not fit, in a change of MySQL's.
    pub(in crate::postgres) fn mysql_clips(&self, statement: &N) -> Option<Clips> {
        if !self.is_mysql() {
            return None;
        }
        let (ignores, nulls) = match statement {
            N::InsertStmt(insert) => {
                let clause = insert.on_conflict_clause.as_ref();
                let ignores = clause.is_some_and(|clause| clause.action() == OnConflictAction::OnconflictNothing);
                let one = match insert.select_stmt.as_deref().and_then(|node| node.node.as_ref()) {
                    Some(N::SelectStmt(select)) => select.values_lists.len() == 1,
                    _ => true,
                };
                (ignores, !one)
            }
            N::UpdateStmt(update) => (Said::of(update.returning_clause.as_ref()).ignores, true),
            _ => return None,
        };
        (ignores || !self.mysql_modes().strict).then_some(Clips { nulls: nulls || ignores, row: 1 })
    }

    /// ORDER BY of an UPDATE.
    pub(in crate::postgres) fn mysql_order(&mut self, said: &Said<'_>) -> Result<Vec<SortKey>> {
        let mut keys = Vec::with_capacity(said.order.len());
        for node in said.order {
            let Some(N::SortBy(sort)) = &node.node else { continue };
            let Some(value) = sort.node.as_deref() else { continue };
            let (value, at) = self.placed(value)?;
            let value = self.settle(value, at)?;
            keys.push(self.sort_key(sort, value, at)?);
        }
        Ok(keys)
    }

    /// The rule of INSERT IGNORE and of REPLACE.
    pub(in crate::postgres) fn mysql_one_by_one(
        &self,
        insert: &pg::InsertStmt,
        target: &Target,
    ) -> Result<Option<Box<OneByOne>>> {
        let Some(clause) = insert.on_conflict_clause.as_ref().filter(|_| self.is_mysql() && !target.is_view()) else {
            return Ok(None);
        };
        let rule = match clause.action() {
            OnConflictAction::OnconflictNothing => OneByOne { ignores: true, ..OneByOne::default() },
            OnConflictAction::OnconflictUpdate if clause.target_list.is_empty() => {
                OneByOne { replaces: true, ..OneByOne::default() }
            }
            _ => return Ok(None),
        };
        match target.relation.without_identity {
            true => Ok(None),
            false => self.one_by_one(target, rule),
        }
    }

    /// Of two changes of one row that a statement makes at once a back end keeps one.
    ///
    /// # Errors
    /// `0A000` for a table that is changed under several names.
    pub(in crate::postgres) fn check_changed_once(&self, ctes: &[Cte], target: &Relation) -> Result<()> {
        let mut known = vec![target.oid];
        for cte in ctes {
            let CteBody::Dml(beside) = &cte.body else { continue };
            if known.contains(&beside.target.oid) {
                return Err(self.unsupported("UPDATE of one table under several names", -1));
            }
            known.push(beside.target.oid);
        }
        Ok(())
    }

    /// ON DUPLICATE KEY UPDATE may meet rows by several keys, or rows that triggers want to see: a back end may have to look at
    /// each.
    pub(in crate::postgres) fn may_meet_several(&self, insert: &pg::InsertStmt, target: &Target) -> bool {
        self.is_mysql()
            && insert.on_conflict_clause.as_ref().is_some_and(|clause| {
                clause.action() == OnConflictAction::OnconflictUpdate && !clause.target_list.is_empty()
            })
            && (target.relation.takes_rows(TriggerEvent::Update)
                || target.relation.indexes.iter().filter(|index| index.unique).nth(1).is_some())
    }

    /// The rule of a change whose rows come one after another; `None` where it does not matter.
    ///
    /// # Errors
    /// `0A000` for rows that cannot come so.
    pub(in crate::postgres) fn one_by_one(&self, target: &Target, rule: OneByOne) -> Result<Option<Box<OneByOne>>> {
        if rule == OneByOne::default() {
            return Ok(None);
        }
        if target.relation.without_identity {
            return Err(self.unsupported("IGNORE, REPLACE and an ORDER BY of keys in a table without rowids", -1));
        }
        Ok(Some(Box::new(rule)))
    }

    /// ON UPDATE CURRENT_TIMESTAMP: columns that are not assigned are told the time, where what is assigned changes the row.
    pub(in crate::postgres) fn mysql_renewed(
        &mut self,
        id: RelId,
        relation: &Relation,
        assignments: &mut Vec<(usize, Expr)>,
    ) -> Result<()> {
        let is_renewed =
            |column: &Column| own_words(&column.ty).is_some_and(|words| words.ends_with(crate::mysql::types::RENEWED));
        let assigned = |at: usize| assignments.iter().any(|(known, _)| *known == at);
        let renewed: Vec<usize> =
            (0..relation.columns.len()).filter(|at| is_renewed(&relation.columns[*at]) && !assigned(*at)).collect();
        if renewed.is_empty() {
            return Ok(());
        }
        let mut same = Vec::with_capacity(assignments.len());
        for (position, value) in assignments.iter() {
            let value = match &value.kind {
                ExprKind::Checked { arg, .. } => (**arg).clone(),
                ExprKind::Default if relation.columns[*position].generated.is_some() => continue,
                ExprKind::Default => {
                    // What it becomes is known when it is stored.
                    same.push(Expr::bool(false));
                    continue;
                }
                _ => value.clone(),
            };
            let mut sides = Vec::with_capacity(2);
            for side in [Expr::column(id, *position, relation.columns[*position].ty.clone()), value] {
                // Letters of another case are a change.
                let by_bytes = matches!(class(&side.ty), Class::Text | Class::Other | Class::Bytes);
                let plain = if by_bytes { Type::Bytea } else { base(&side.ty.without_domains()) };
                sides.push(match by_bytes {
                    true => self.mysql_call_of("mysql_to_bytes", vec![(side, -1)])?,
                    false => self.coerce(side, &plain, CastContext::Implicit, -1)?,
                });
            }
            let (Some(right), Some(left)) = (sides.pop(), sides.pop()) else { continue };
            let (left, right) = (Box::new(left), Box::new(right));
            same.push(Expr::new(ExprKind::Distinct { negated: true, left, right }, Type::Bool));
        }
        let unchanged = super::super::expr::all_of(same);
        // That the time is another one each time changes no row whose values stay.
        let volatile = self.effects.volatile;
        for at in renewed {
            let column = &relation.columns[at];
            let digits = match column.ty.through_domains() {
                Type::Timestamp(digits) | Type::TimestampTz(digits) => i64::from(digits.unwrap_or(0)),
                _ => 0,
            };
            let now = self.mysql_call_of("now", vec![(Expr::integer(digits, Type::Int8), -1)])?;
            let now = self.assign(now, &column.name, &column.ty, -1)?;
            let kept = Expr::column(id, at, column.ty.clone());
            let otherwise = Some(Box::new(now));
            let value = ExprKind::Case { branches: vec![(unchanged.clone(), kept)], otherwise };
            assignments.push((at, Expr::new(value, column.ty.clone())));
        }
        self.effects.volatile = volatile;
        Ok(())
    }

    /// A value that is assigned behind others: the columns that those have assigned are what they are by then.
    ///
    /// # Errors
    /// `0A000` where it reads what is another at each call.
    pub(in crate::postgres) fn behind(
        &self,
        value: &mut Expr,
        changed: &Target,
        earlier: &[(usize, Expr, bool)],
    ) -> Result<()> {
        let mut volatile = false;
        walk::expr_mut(value, &mut |part| {
            if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = &part.kind
                && *relation == changed.id
                && let Some((_, value, is_volatile)) = earlier.iter().find(|(known, _, _)| known == at)
            {
                volatile |= is_volatile;
                *part = value.clone();
                // Its own columns are the row's as it was.
                return false;
            }
            true
        });
        match volatile {
            true => Err(self.unsupported("an assignment that reads another one's value, which is never the same,", -1)),
            false => Ok(()),
        }
    }

    /// A value of an INSERT that reads columns: those that were given theirs left of it have it, the others their defaults.
    pub(in crate::postgres) fn mysql_behind_values(
        &mut self,
        value: &mut Expr,
        target: &Target,
        earlier: &mut Vec<(usize, Expr, bool)>,
    ) -> Result<()> {
        let mut read = Vec::new();
        walk::expr_mut(value, &mut |part| {
            if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = &part.kind
                && *relation == target.id
            {
                read.push(*at);
            }
            true
        });
        for at in read {
            if earlier.iter().any(|(known, _, _)| *known == at) {
                continue;
            }
            let column = &target.relation.columns[at];
            let default = match &column.default {
                // What numbers itself has no number yet.
                _ if column.numbers_itself() => Expr::integer(0, column.ty.clone()),
                None if column.not_null && column.generated.is_none() => match self.mysql_implicit(column)? {
                    Some(implicit) => implicit,
                    None => self.target_default(target, at, false, -1)?,
                },
                _ => self.target_default(target, at, false, -1)?,
            };
            earlier.push((at, default, false));
        }
        self.behind(value, target, earlier)
    }

    /// True for a row that the assignments change: a condition that counts.
    pub(in crate::postgres) fn changes_row(
        &mut self,
        changed: &Target,
        assignments: &[(usize, Expr)],
        counted: Counted,
    ) -> Result<Expr> {
        // What a column becomes by DEFAULT is compared, too.
        let mut values = Vec::with_capacity(assignments.len());
        for (at, value) in assignments {
            let column = &changed.relation.columns[*at];
            let is_own = column.generated.is_some() || column.identity.is_some();
            values.push(match value.kind {
                ExprKind::Default if !is_own => (*at, self.target_default(changed, *at, false, -1)?),
                _ => (*at, value.clone()),
            });
        }
        let assignments = values.as_slice();
        let mut calls = Vec::new();
        let no = Expr::new(ExprKind::Literal(Value::Integer(0)), Type::Bool);
        // Each column alone, where one call does not compare them all: only the last one counts.
        let mut parts = assignments.chunks(PAIRS).peekable();
        let compared = |at: usize, value: &Expr| {
            [(Expr::column(changed.id, at, changed.relation.columns[at].ty.clone()), -1), (without_warnings(value), -1)]
        };
        while let Some(part) = parts.next() {
            let mode = if parts.peek().is_some() { COMPARED } else { counted as i64 };
            let mut args = vec![(Expr::integer(mode, Type::Int8), -1)];
            args.extend(calls.pop().map(|before: Expr| [(before, -1), (no.clone(), -1)]).into_iter().flatten());
            args.extend(part.iter().flat_map(|(at, value)| compared(*at, value)));
            calls.push(self.mysql_call_of(COUNTING, args)?);
        }
        calls.pop().ok_or_else(|| Error::internal("a change without assignments"))
    }

    /// The condition of an upsert, which tells the row that it has met where rows number themselves: LAST_INSERT_ID() is of
    /// those that are new.
    pub(in crate::postgres) fn meets_numbered(
        &mut self,
        target: &Target,
        excluded: RelId,
        changes: Expr,
    ) -> Result<Expr> {
        let numbers = |column: &Column| column.row_identity && column.identity.is_some();
        let Some(at) = target.relation.columns.iter().position(numbers) else { return Ok(changes) };
        let ty = &target.relation.columns[at].ty;
        let number = |of: RelId| (Expr::column(of, at, ty.clone()), -1);
        let met = self.mysql_call_of(MEETING, vec![number(target.id), number(excluded)])?;
        Ok(Expr::new(ExprKind::And(vec![met, changes]), Type::Bool))
    }

    /// UPDATE of joined tables: what each of those that it assigns to becomes is read first, by a query over the join; then
    /// its rows are changed by their places.
    pub(in crate::postgres) fn joined_update(&mut self, update: &pg::UpdateStmt) -> Result<pg::UpdateStmt> {
        let mut tables = Vec::new();
        update.from_clause.iter().for_each(|node| tables_of(node, &mut tables));
        // The tables that are assigned to, each with its assignments.
        let mut groups: Vec<(&pg::RangeVar, Vec<(&str, &Node)>)> = Vec::new();
        for node in &update.target_list {
            let Some(N::ResTarget(target)) = &node.node else { continue };
            let qualifier = target.indirection.first().and_then(|part| match &part.node {
                Some(N::String(name)) => Some(name.sval.as_str()),
                _ => None,
            });
            let owner = match qualifier {
                Some(name) => tables.iter().find(|range| called(range).eq_ignore_ascii_case(name)),
                None => tables
                    .iter()
                    .find(|range| self.relation(range).is_ok_and(|relation| relation.column(&target.name).is_some())),
            };
            let (Some(owner), Some(value)) = (owner, target.val.as_deref()) else {
                let shown = match qualifier {
                    Some(table) => format!("{table}.{}", target.name),
                    None => target.name.clone(),
                };
                let message = format!("Unknown column '{shown}' in 'field list'");
                return Err(Error::new(Condition::UndefinedColumn, message).with_mysql(1054, "42S22"));
            };
            match groups.iter_mut().find(|(range, _)| called(range) == called(owner)) {
                Some((_, group)) => group.push((&target.name, value)),
                None => groups.push((owner, vec![(&target.name, value)])),
            }
        }
        let mut targets = Vec::new();
        let mut updates = Vec::new();
        for (number, (range, group)) in groups.iter().enumerate() {
            let place = format!("place{number}");
            targets.push(result(&place, column(&[called(range), "ctid"])));
            let mut assigned = Vec::new();
            for (at, (name, value)) in group.iter().enumerate() {
                if matches!(value.node, Some(N::SetToDefault(_))) {
                    assigned.push(result(name, (*value).clone()));
                    continue;
                }
                let said = format!("value{number}_{at}");
                targets.push(result(&said, (*value).clone()));
                assigned.push(result(name, column(&[CHANGES, &said])));
            }
            let same = pg::AExpr {
                kind: pg::AExprKind::AexprOp as i32,
                name: vec![word("=")],
                lexpr: Some(Box::new(column(&[called(range), "ctid"]))),
                rexpr: Some(Box::new(column(&[CHANGES, &place]))),
                location: -1,
                ..Default::default()
            };
            updates.push(pg::UpdateStmt {
                relation: Some((*range).clone()),
                target_list: assigned,
                where_clause: Some(Box::new(Node { node: Some(N::AExpr(Box::new(same))) })),
                returning_clause: update.returning_clause.clone(),
                ..Default::default()
            });
        }
        let query = pg::SelectStmt {
            target_list: targets,
            from_clause: update.from_clause.clone(),
            where_clause: update.where_clause.clone(),
            with_clause: update.with_clause.clone(),
            sort_clause: Said::of(update.returning_clause.as_ref()).order.to_vec(),
            limit_option: pg::LimitOption::Default as i32,
            op: pg::SetOperation::SetopNone as i32,
            ..Default::default()
        };
        let query = Node { node: Some(N::SelectStmt(Box::new(query))) };
        let mut updates = updates.into_iter();
        let Some(mut first) = updates.next() else { return Err(Error::internal("UPDATE without assignments")) };
        let alias = pg::Alias { aliasname: CHANGES.to_owned(), colnames: Vec::new() };
        if updates.len() > 0 && Said::of(update.returning_clause.as_ref()).ignores {
            return Err(self.unsupported("UPDATE IGNORE of several tables", -1));
        }
        if updates.len() == 0 {
            first.from_clause = vec![Node {
                node: Some(N::RangeSubselect(Box::new(pg::RangeSubselect {
                    lateral: false,
                    subquery: Some(Box::new(query)),
                    alias: Some(alias),
                }))),
            }];
            return Ok(first);
        }
        // All is read before anything is changed.
        let read = || {
            vec![Node {
                node: Some(N::RangeVar(pg::RangeVar {
                    relname: CHANGES.to_owned(),
                    inh: true,
                    relpersistence: "p".to_owned(),
                    location: -1,
                    ..Default::default()
                })),
            }]
        };
        let member = |name: String, query: Node| Node {
            node: Some(N::CommonTableExpr(Box::new(pg::CommonTableExpr {
                ctename: name,
                ctematerialized: pg::CteMaterialize::Always as i32,
                ctequery: Some(Box::new(query)),
                location: -1,
                ..Default::default()
            }))),
        };
        let mut ctes = vec![member(CHANGES.to_owned(), query)];
        for (number, other) in updates.enumerate() {
            let other = pg::UpdateStmt { from_clause: read(), ..other };
            ctes.push(member(format!("_beside{number}"), Node { node: Some(N::UpdateStmt(Box::new(other))) }));
        }
        first.from_clause = read();
        first.with_clause = Some(pg::WithClause { ctes, recursive: false, location: -1 });
        Ok(first)
    }
}
