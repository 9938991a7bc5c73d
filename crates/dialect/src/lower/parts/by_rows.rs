//! Changes taken apart: what rows are to become is decided by a query, each row is changed by a statement of its own.
//!
//! So a change can be decided on one state of the database and made in another, and what it returns can name relations
//! that a back end's RETURNING does not see.

use super::returning::Reads;
use super::{Again, ByRows, returning};
use crate::ir::build::{row_identity, same_row, select};
use crate::ir::{
    Body, ConflictAction, Cte, CteBody, Dml, DmlAction, Expr, ExprKind, From, Hidden, InsertSource, JoinKind,
    OnConflict, OutputColumn, Query, RelId, Routing, Statement, Value, family, met, walk,
};
use crate::{Error, Result, Type};

/// The source of an INSERT.
const SOURCE: RelId = RelId(u32::MAX - 1);

/// True for a statement that has to run in parts where rows are changed by statements about one table and RETURNING sees
/// that table alone: members of its WITH change rows, its RETURNING names other relations than the changed
/// one, or it is a MERGE.
pub fn runs_in_parts(statement: &Statement) -> bool {
    let changes = |ctes: &[Cte]| ctes.iter().any(|cte| matches!(cte.body, CteBody::Dml(_)));
    match statement {
        Statement::Query(query) => changes(&query.ctes),
        Statement::Dml(dml) => {
            dml.family.is_some()
                || dml.routing.is_some()
                || changes(&dml.ctes)
                || returns_others(dml)
                || returning::reads_changed(dml)
                || may_meet_itself(dml)
        }
        Statement::Merge(_) => true,
        _ => false,
    }
}

/// An INSERT of several rows whose ON CONFLICT updates: none of them may meet a row of the same statement.
fn may_meet_itself(dml: &Dml) -> bool {
    match &dml.action {
        DmlAction::Insert { source, on_conflict: Some(conflict), .. } => {
            let several = match source {
                InsertSource::Values(rows) => rows.len() > 1,
                InsertSource::Query(_) => true,
                InsertSource::Defaults => false,
            };
            let postgres = dml.target.language != crate::Language::Informix;
            several && postgres && updates(conflict) && !dml.target.without_identity && dml.target.triggers.is_empty()
        }
        _ => false,
    }
}

fn updates(conflict: &OnConflict) -> bool {
    matches!(conflict.action, ConflictAction::Update { .. })
}

fn has_condition(conflict: &OnConflict) -> bool {
    matches!(conflict.action, ConflictAction::Update { filter: Some(_), .. })
}

fn returns_others(dml: &Dml) -> bool {
    let others = match &dml.action {
        DmlAction::Update { from: Some(from), .. } | DmlAction::Delete { using: Some(from), .. } => from.relations(),
        _ => return false,
    };
    let mut found = false;
    for item in &dml.returning {
        walk::expr(item, &mut |expr| {
            found |= matches!(expr.kind, ExprKind::Column(column) if others.contains(&column.relation));
            !found
        });
    }
    found
}

/// What a query computes for the actions: one column for each value.
struct Given {
    items: Vec<Expr>,
}

impl Given {
    /// The row to be changed, and the one action.
    fn new(row_identity: Expr) -> Self {
        Self { items: vec![row_identity, Expr::integer(0, Type::Int8)] }
    }

    /// The row of the changed table, and the action; there is one for each member of a family.
    fn of_target(dml: &Dml) -> Self {
        match &dml.family {
            None => Self::new(row_identity(dml.id)),
            Some(_) => Self {
                items: vec![Hidden::RowIdentity.of(dml.id, &dml.target), Hidden::Member.of(dml.id, &dml.target)],
            },
        }
    }

    /// The parameter that brings a value to the action.
    fn add(&mut self, value: Expr) -> Expr {
        let ty = value.ty.clone();
        let at = self.items.iter().position(|known| *known == value).unwrap_or_else(|| {
            self.items.push(value);
            self.items.len() - 1
        });
        Expr::new(ExprKind::Param(at), ty)
    }

    /// Puts parameters in the place of what the action does not know: the statement's own parameters, and columns of
    /// other relations.
    fn bring(&mut self, expr: &mut Expr, others: &[RelId]) {
        walk::expr_mut(expr, &mut |part| {
            let foreign = match part.kind {
                ExprKind::Param(_) => true,
                ExprKind::Column(column) => others.contains(&column.relation),
                _ => false,
            };
            if foreign {
                *part = self.add(part.clone());
            }
            !foreign
        });
    }

    /// The same for an expression of ON CONFLICT over those rows: what it asks of the table that is changed is asked before the
    /// first row is, and brought, too.
    ///
    /// # Errors
    /// `0A000` where the row that is met has a say in what is asked.
    fn bring_of_conflict(&mut self, expr: &mut Expr, dml: &Dml, rows: &[RelId]) -> Result<()> {
        let changed = returning::changed(dml);
        let mut result = Ok(());
        walk::expr_mut(expr, &mut |part| {
            let mut reads_changed = false;
            if let Some(query) = part.kind.query() {
                Reads::of(&dml.ctes).query(query, &mut |relation| reads_changed |= changed.contains(&relation.oid));
            }
            let is_of_row =
                |part: &Expr| matches!(part.kind, ExprKind::Column(column) if rows.contains(&column.relation));
            if reads_changed && walk::any(part, is_of_row) {
                let what = "a subquery of ON CONFLICT over the table that is changed, which names the row that is met,";
                result = Err(Error::unsupported(what));
                return false;
            }
            let foreign = reads_changed || matches!(part.kind, ExprKind::Param(_));
            if foreign {
                *part = self.add(part.clone());
            }
            !foreign
        });
        result
    }

    fn query(self, ctes: Vec<Cte>, from: Option<From>, filter: Option<Expr>) -> Query {
        select(self.items, ctes, from, filter)
    }
}

/// A change as a query of rows and a statement for each. Members of WITH that it names must be among its own.
///
/// # Errors
/// `0A000` for what cannot be taken apart.
pub fn by_rows(dml: &Dml) -> Result<ByRows> {
    if dml.target.without_identity && !matches!(dml.action, DmlAction::Insert { .. }) {
        return Err(Error::unsupported("a change in parts of a table whose rows have no identity"));
    }
    let mut action = dml.clone();
    action.ctes = Vec::new();
    // The rows of an INSERT that leave other columns to their defaults than the first does.
    let mut others = Vec::new();
    let rows = match &mut action.action {
        DmlAction::Insert { columns, source, on_conflict } => {
            let (mut given, from) = insert_rows(source, &mut others)?;
            if let Some(routing) = &mut action.routing {
                if !others.is_empty() {
                    return Err(Error::unsupported("DEFAULT beside other values in an INSERT into partitions"));
                }
                route_inserted(routing, dml.id, columns, source, &mut given)?;
            }
            if let Some(conflict) = on_conflict
                && let ConflictAction::Update { excluded, assignments, filter } = &mut conflict.action
            {
                let rows = [dml.id, *excluded];
                for expr in assignments.iter_mut().map(|(_, value)| value).chain(filter) {
                    given.bring_of_conflict(expr, dml, &rows)?;
                }
            }
            if let Some(conflict) = on_conflict.as_mut().filter(|conflict| has_condition(conflict))
                && !dml.target.without_identity
            {
                // A row that its condition lets be must not be one that the statement has proposed, either.
                met::note_in(conflict, row_identity(dml.id));
            }
            action.returning.iter_mut().for_each(|item| given.bring(item, &[]));
            if on_conflict.as_ref().is_some_and(updates) && !dml.target.without_identity {
                // Behind what the user asks for: which row it is, so that it is not changed again.
                action.returning.push(row_identity(dml.id));
            }
            given.query(dml.ctes.clone(), from, None)
        }
        DmlAction::Update { assignments, from, filter, current_of } => {
            refuse_cursor(current_of.as_ref(), filter.as_ref())?;
            let mut given = Given::of_target(dml);
            if let Some(routing) = &mut action.routing {
                let set = assignments.clone();
                let value = |at: usize| match set.iter().find(|(position, _)| *position == at) {
                    Some((_, value)) => value.clone(),
                    None => Expr::column(dml.id, at, dml.target.columns[at].ty.clone()),
                };
                routing.bring(dml.id, &value, &mut |value| given.add(value));
            }
            for (_, value) in assignments.iter_mut().filter(|(_, value)| !matches!(value.kind, ExprKind::Default)) {
                *value = given.add(value.clone());
            }
            let (from, asked) = (from.take(), filter.replace(same_row(dml.id)));
            bring_all(&mut given, &mut action.returning, from.as_ref());
            given.query(dml.ctes.clone(), Some(beside(dml, from)), asked)
        }
        DmlAction::Delete { using, filter, current_of } => {
            refuse_cursor(current_of.as_ref(), filter.as_ref())?;
            let mut given = Given::of_target(dml);
            let (from, asked) = (using.take(), filter.replace(same_row(dml.id)));
            bring_all(&mut given, &mut action.returning, from.as_ref());
            given.query(dml.ctes.clone(), Some(beside(dml, from)), asked)
        }
    };
    if let Some(routing) = action.routing.take() {
        let moves = matches!(dml.action, DmlAction::Update { .. });
        action.routing = Some(if moves { Box::new(routing.with_moved(&action, rows.columns.len())) } else { routing });
    }
    let actions = match &dml.family {
        None => {
            let like = |row: Vec<Expr>| {
                let mut action = action.clone();
                if let DmlAction::Insert { source, .. } = &mut action.action {
                    *source = InsertSource::Values(vec![row]);
                }
                action
            };
            let others: Vec<Dml> = others.into_iter().map(like).collect();
            std::iter::once(action).chain(others).collect()
        }
        Some(family) => {
            family.members.iter().map(|member| family::for_member(&action, member)).collect::<Result<_>>()?
        }
    };
    Ok(ByRows { rows, actions, again: Again::Passed })
}

/// Where the rows of an INSERT go; `source` is one row of parameters.
fn route_inserted(
    routing: &mut Routing,
    id: RelId,
    columns: &[usize],
    source: &InsertSource,
    given: &mut Given,
) -> Result<()> {
    let row = match source {
        InsertSource::Values(rows) => rows.first().cloned().unwrap_or_default(),
        InsertSource::Defaults => Vec::new(),
        InsertSource::Query(_) => return Err(Error::internal("the rows of an INSERT are not taken apart")),
    };
    let items = given.items.clone();
    let head = routing.tree.head.clone();
    let value = |at: usize| {
        let placed = columns.iter().position(|column| *column == at).and_then(|place| row.get(place));
        match placed.map(|value| &value.kind) {
            Some(ExprKind::Param(number)) => items[*number].clone(),
            _ => Expr::null(head.columns[at].ty.clone()),
        }
    };
    routing.bring(id, &value, &mut |value| given.add(value));
    Ok(())
}

fn refuse_cursor(cursor: Option<&String>, filter: Option<&Expr>) -> Result<()> {
    match cursor {
        Some(_) if filter.is_none() => Err(Error::unsupported("WHERE CURRENT OF in this statement")),
        _ => Ok(()),
    }
}

fn bring_all(given: &mut Given, returning: &mut [Expr], from: Option<&From>) {
    let others = from.map(From::relations).unwrap_or_default();
    returning.iter_mut().for_each(|item| given.bring(item, &others));
}

/// The changed table with what stands beside it.
fn beside(dml: &Dml, others: Option<From>) -> From {
    let target = match &dml.family {
        None => From::Relation { id: dml.id, relation: dml.target.clone(), filter: None },
        Some(family) => family.rows.clone(),
    };
    match others {
        None => target,
        Some(others) => From::Join { kind: JoinKind::Inner, left: Box::new(target), right: Box::new(others), on: None },
    }
}

/// The rows of an INSERT; its source becomes one row of parameters. Rows that leave other columns to their defaults are `others`,
/// rows of parameters for actions of their own.
fn insert_rows(source: &mut InsertSource, others: &mut Vec<Vec<Expr>>) -> Result<(Given, Option<From>)> {
    let mut given = Given::new(Expr::null(Type::Int8));
    let query = match source {
        InsertSource::Defaults => return Ok((given, None)),
        InsertSource::Query(query) => (**query).clone(),
        InsertSource::Values(rows) => {
            let is_left = |value: &Expr| matches!(value.kind, ExprKind::Default);
            let width = rows.first().map_or(0, Vec::len);
            let spelled: Vec<usize> = (0..width).filter(|at| !rows.iter().all(|row| is_left(&row[*at]))).collect();
            let type_at = |at: usize| {
                let value = rows.iter().map(|row| &row[at]).find(|value| !is_left(value));
                value.map_or(Type::Int8, |value| value.ty.clone())
            };
            let types: Vec<Type> = spelled.iter().map(|at| type_at(*at)).collect();
            let params: Vec<Expr> = (types.iter().enumerate())
                .map(|(place, ty)| given.add(Expr::column(SOURCE, place, ty.clone())))
                .collect();
            let mut actions: Vec<Vec<Expr>> = Vec::new();
            let mut values = Vec::with_capacity(rows.len());
            let mut numbers = Vec::with_capacity(rows.len());
            for row in rows.iter() {
                let mut action = row.clone();
                let mut given_values = Vec::with_capacity(spelled.len() + 1);
                for (place, at) in spelled.iter().enumerate() {
                    if is_left(&row[*at]) {
                        given_values.push(Expr::null(types[place].clone()));
                    } else {
                        action[*at] = params[place].clone();
                        given_values.push(row[*at].clone());
                    }
                }
                let number = actions.iter().position(|known| *known == action).unwrap_or_else(|| {
                    actions.push(action);
                    actions.len() - 1
                });
                numbers.push(number);
                values.push(given_values);
            }
            let mut types = types;
            if actions.len() > 1 {
                given.items[1] = Expr::column(SOURCE, types.len(), Type::Int8);
                types.push(Type::Int8);
                for (row, number) in values.iter_mut().zip(numbers) {
                    row.push(Expr::integer(i64::try_from(number).unwrap_or(0), Type::Int8));
                }
            }
            let mut actions = actions.into_iter();
            *source = InsertSource::Values(actions.next().into_iter().collect());
            others.extend(actions);
            if spelled.is_empty() {
                // As many rows of nothing but defaults.
                let row = vec![Expr::new(ExprKind::Literal(Value::Null), Type::Int8)];
                return Ok((given, Some(derived(vec![row; values.len()], vec![Type::Int8]))));
            }
            return Ok((given, Some(derived(values, types))));
        }
    };
    let row = (query.columns.iter().enumerate())
        .map(|(at, column)| given.add(Expr::column(SOURCE, at, column.ty.clone())))
        .collect();
    *source = InsertSource::Values(vec![row]);
    Ok((given, Some(From::Query { id: SOURCE, query: Box::new(query), lateral: false })))
}

fn derived(rows: Vec<Vec<Expr>>, types: Vec<Type>) -> From {
    let mut query = select(Vec::new(), Vec::new(), None, None);
    query.columns = types.into_iter().map(|ty| OutputColumn { name: "value".to_owned(), ty }).collect();
    query.body = Body::Values(rows);
    query.output = RelId(u32::MAX - 2);
    From::Query { id: SOURCE, query: Box::new(query), lateral: false }
}
