//! A change of rows taken apart: a query of what is to be done, and the statements that do it for one row.
//!
//! A statement that the back end runs as a whole gives nobody a chance to look at its rows. Where triggers want to, the query
//! is read to its end first, and then the rows are written one by one. MERGE and data-modifying members of WITH are of
//! the same kind.
//!
//! The statements of one row have the parameters of the whole one, and behind them those of [`RowParams`].

use super::{
    Arbiter, Body, ColumnIndex, ColumnRef, CompareOp, ConflictAction, Distinct, Dml, DmlAction, Expr, ExprKind, From,
    GroupBy, Guard, InsertSource, JoinKind, OnConflict, OutputColumn, Query, RelId, Select, SortKey, Value, walk,
};
use crate::schema::Relation;
use crate::{Error, Result, Type};

/// A change taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    /// What is to be done, a row for each row. INSERT: the new row, the extras. UPDATE: the identity, the old row, the new
    /// row, the extras. DELETE: the identity, the old row, the extras.
    pub rows: Query,
    /// INSERT of one row; it returns the identity and the row as written.
    pub insert: Option<Dml>,
    /// UPDATE of one row; it returns the identity and the row as written.
    pub update: Option<Dml>,
    /// DELETE of one row.
    pub delete: Option<Dml>,
    /// The row as it is now.
    pub now: Option<Query>,
    /// The row that stands in the way of an INSERT: its identity, the row, what it is to become, whether WHERE holds. Of
    /// MySQL's INSERT IGNORE: for each of [`Relation::keys_in_order`] whether the rows share it.
    pub conflict: Option<Query>,
    /// Its identity, and whether WHERE of DO UPDATE holds, where that is asked before the rest is computed.
    pub holds: Option<Query>,
    /// What RETURNING makes of a row.
    pub returning: Option<Query>,
    /// What the engine computes of a row that is to be written, in the order of its columns.
    pub computed: Option<Query>,
    /// Which guard does not let a row pass: [`Guards::inserted`](super::Guards), `updated`, `met`, `deleted`.
    pub guards: [Option<Query>; 4],
    /// Parameters of the statements of one row.
    pub params: Vec<Type>,
    /// Where the statements of one row find what.
    pub at: RowParams,
}

/// The parameters of a statement of one row, behind those of the whole statement: the identity, the row (new; old for a
/// DELETE), the extras.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RowParams {
    /// How many the whole statement has; none where no row needs them.
    pub outer: usize,
    /// How many columns the target has.
    pub columns: usize,
    /// How many values RETURNING takes from other relations.
    pub extras: usize,
}

impl RowParams {
    const fn row_identity(self) -> usize {
        self.outer
    }

    const fn column(self, at: usize) -> usize {
        self.outer + 1 + at
    }

    const fn extra(self, at: usize) -> usize {
        self.outer + 1 + self.columns + at
    }
}

/// Relations that stand in no statement of a front end.
const OUTPUT: RelId = RelId(u32::MAX);
const SOURCE: RelId = RelId(u32::MAX - 1);

/// Takes a change apart; `params` are the types of the whole statement's parameters, `computed` what the engine computes of
/// each row, in the order of its columns, over columns of the relation [`super::Text::TABLE`].
///
/// # Errors
/// `0A000` for what cannot be done row by row.
pub fn apart(dml: &Dml, params: &[Type], computed: &[Expr]) -> Result<Apart> {
    let target = &dml.target;
    if target.without_identity {
        return Err(Error::unsupported("a row trigger or a policy on a table without rowid"));
    }
    let extras = extras(dml);
    let ignores = dml.one_by_one.as_ref().is_some_and(|rule| rule.ignores);
    let inserts = matches!(dml.action, DmlAction::Insert { .. });
    // A row that is only written knows nothing of the statement's parameters, of which there may be some for each row.
    let alone = ignores && inserts && dml.returning.is_empty() && dml.checks.is_empty() && dml.guards.is_none();
    let outer = if alone { 0 } else { params.len() };
    let at = RowParams { outer, columns: target.columns.len(), extras: extras.len() };
    let mut types = params[..outer].to_vec();
    types.push(Type::Int8);
    types.extend(target.columns.iter().map(|column| column.ty.clone()));
    types.extend(extras.iter().map(|(_, ty)| ty.clone()));
    let rows = rows(dml, &extras)?;
    let writes = target.is_table();
    let replaces = dml.one_by_one.as_ref().is_some_and(|rule| rule.replaces);
    let conflict = match &dml.action {
        DmlAction::Insert { on_conflict: Some(_), .. } if ignores => shared_keys(dml, at),
        DmlAction::Insert { on_conflict: Some(conflict), .. } => conflict_query(dml, conflict, at)?,
        _ => None,
    };
    let updates = matches!(dml.action, DmlAction::Update { .. }) || (conflict.is_some() && !replaces && !ignores);
    let deletes = matches!(dml.action, DmlAction::Delete { .. }) || replaces;
    Ok(Apart {
        rows,
        insert: (writes && inserts).then(|| insert_row(dml, at, ignores && conflict.is_none())),
        update: (writes && updates).then(|| update_row(dml, at)),
        delete: (writes && deletes).then(|| change(dml, delete_action(dml, at), Vec::new())),
        now: writes.then(|| row_now(dml, at)),
        holds: None,
        conflict,
        returning: (!dml.returning.is_empty()).then(|| returning(dml, &extras, at)),
        computed: (!computed.is_empty()).then(|| computed_of_row(computed, at)),
        guards: guards(dml, at),
        params: types,
        at,
    })
}

impl Apart {
    /// WHERE of DO UPDATE is asked by a query of its own, so that what a row is to become is not computed in vain.
    #[must_use]
    pub fn asking_where_first(mut self) -> Self {
        if let Some(conflict) = &mut self.conflict
            && let Body::Select(all) = &mut conflict.body
            && let [identity, .., holds] = all.items.as_mut_slice()
        {
            let truth = Expr::new(ExprKind::Literal(Value::Integer(1)), Type::Bool);
            let items = vec![identity.clone(), std::mem::replace(holds, truth)];
            let asked = select(items, all.from.clone(), all.filter.clone());
            self.holds = Some(Query { ctes: conflict.ctes.clone(), ..asked });
        }
        self
    }
}

impl Apart {
    /// Whether MySQL changes a row is a condition of the rows that are read; here it stands behind each of them instead. False
    /// where nothing asks that.
    pub fn asks_behind_rows(&mut self) -> bool {
        let Body::Select(select) = &mut self.rows.body else { return false };
        let asks =
            |part: &Expr| matches!(&part.kind, ExprKind::Call { function, .. } if function.name == "mysql_changes");
        let asked = match &mut select.filter {
            Some(filter) if asks(filter) => select.filter.take(),
            Some(Expr { kind: ExprKind::And(members), .. }) => {
                let found = members.iter().position(asks).map(|at| members.remove(at));
                if let [_] = members.as_slice() {
                    select.filter = members.pop();
                }
                found
            }
            _ => None,
        };
        let Some(asked) = asked else { return false };
        self.rows.columns.push(OutputColumn { name: "?column?".to_owned(), ty: asked.ty.clone() });
        select.items.push(asked);
        true
    }
}

impl Apart {
    /// Rows are numbered where they are written, and not as they are read. `zero_is_next` says that a 0 asks for the next number
    /// there, too.
    pub fn leave_numbers(&mut self, zero_is_next: bool) {
        let leave = |value: &mut Expr| {
            let ty = value.ty.clone();
            *value = match &mut value.kind {
                ExprKind::Numbered { given: Some(given), .. } => {
                    let zero = Box::new(Expr::new(ExprKind::Literal(Value::Integer(0)), given.ty.clone()));
                    let given = std::mem::replace(given, Box::new(Expr::null(ty.clone())));
                    Expr::new(ExprKind::NullIf(given, zero), ty)
                }
                ExprKind::Numbered { given: None, .. } => Expr::null(ty),
                _ => return,
            };
        };
        match &mut self.rows.body {
            Body::Select(select) => select.items.iter_mut().for_each(leave),
            Body::Values(rows) => rows.iter_mut().flatten().for_each(leave),
            _ => {}
        }
        let Some(Dml { target, action: DmlAction::Insert { columns, source, .. }, .. }) = &mut self.insert else {
            return;
        };
        let InsertSource::Values(rows) = source else { return };
        for value in rows.iter_mut().flat_map(|row| row.iter_mut().zip(columns.iter())) {
            let (value, at) = value;
            if zero_is_next && target.columns[*at].identity.is_some() {
                let given = std::mem::replace(value, Expr::null(value.ty.clone()));
                let ty = given.ty.clone();
                *value = Expr::new(ExprKind::Numbered { given: Some(Box::new(given)), sequence: None }, ty);
            }
        }
    }
}

impl Apart {
    /// The rows of an INSERT of a query are that query's, with the columns of the table, and not those of a query around it: what
    /// stands in its select list may be worked out behind it.
    pub fn read_source(&mut self, dml: &Dml) {
        let DmlAction::Insert { columns, source: InsertSource::Query(source), .. } = &dml.action else { return };
        let mut rows = (**source).clone();
        let Body::Select(select) = &mut rows.body else { return };
        let given = std::mem::take(&mut select.items);
        for (position, column) in dml.target.columns.iter().enumerate() {
            let place = columns.iter().position(|at| *at == position);
            let item = place.and_then(|place| given.get(place).cloned());
            select.items.push(item.unwrap_or_else(|| Expr::null(column.ty.clone())));
        }
        let named = select.items.iter().zip(&dml.target.columns);
        rows.columns =
            named.map(|(item, column)| OutputColumn { name: column.name.clone(), ty: item.ty.clone() }).collect();
        let output = rows.output;
        for key in &mut rows.order_by {
            walk::expr_mut(&mut key.expr, &mut |part| {
                if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = &mut part.kind
                    && *relation == output
                    && let Some(position) = columns.get(*at)
                {
                    *at = *position;
                }
                true
            });
        }
        while pull_up(&mut rows) {}
        self.rows = rows;
    }
}

/// Makes the derived table that a query reads, and nothing else, part of it; false where that is not the same.
fn pull_up(rows: &mut Query) -> bool {
    let Body::Select(select) = &mut rows.body else { return false };
    let plain = |select: &Select| {
        select.distinct == Distinct::All && select.group_by == GroupBy::None && select.having.is_none()
    };
    let Some(From::Query { id, query, lateral: false }) = &select.from else { return false };
    let (id, Body::Select(inner)) = (*id, &query.body) else { return false };
    let whole = query.ctes.is_empty() && query.limit.is_none() && query.offset.is_none() && query.locking.is_empty();
    if !plain(select) || !plain(inner) || !whole || select.filter.is_some() || !rows.order_by.is_empty() {
        return false;
    }
    let of = |column: &ColumnRef, relation: RelId| match column.column {
        ColumnIndex::At(at) if column.relation == relation => inner.items.get(at),
        _ => None,
    };
    // What is computed is computed once.
    let mut used = vec![0_u32; inner.items.len()];
    for item in &select.items {
        walk::expr(item, &mut |part| {
            if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(at) }) = &part.kind
                && *relation == id
                && let Some(used) = used.get_mut(*at)
            {
                *used += 1;
            }
            true
        });
    }
    if used.iter().any(|used| *used > 1) {
        return false;
    }
    let put = |expr: &mut Expr, relation: RelId| {
        walk::expr_mut(expr, &mut |part| {
            let ExprKind::Column(column) = &part.kind else { return true };
            let Some(item) = of(column, relation) else { return true };
            *part = item.clone();
            false
        });
    };
    let mut items = select.items.clone();
    items.iter_mut().for_each(|item| put(item, id));
    let mut order = query.order_by.clone();
    order.iter_mut().for_each(|key| put(&mut key.expr, query.output));
    let (from, filter) = (inner.from.clone(), inner.filter.clone());
    (select.items, select.from, select.filter) = (items, from, filter);
    rows.order_by = order;
    true
}

impl Relation {
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.kind, crate::schema::RelationKind::Table)
    }
}

fn own(relation: RelId, column: ColumnIndex, ty: Type) -> Expr {
    Expr::new(ExprKind::Column(ColumnRef { relation, column }), ty)
}

fn param(at: usize, ty: Type) -> Expr {
    Expr::new(ExprKind::Param(at), ty)
}

fn equal(left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::new(ExprKind::Compare { op: CompareOp::Equal, left, right }, Type::Bool)
}

/// The columns of other relations that RETURNING names.
fn extras(dml: &Dml) -> Vec<(ColumnRef, Type)> {
    let others = match &dml.action {
        DmlAction::Update { from, .. } => from.as_ref(),
        DmlAction::Delete { using, .. } => using.as_ref(),
        DmlAction::Insert { .. } => None,
    };
    let ids = others.map(From::relations).unwrap_or_default();
    let mut found: Vec<(ColumnRef, Type)> = Vec::new();
    for item in &dml.returning {
        walk::expr(item, &mut |expr| {
            if let ExprKind::Column(column) = expr.kind
                && ids.contains(&column.relation)
                && !found.iter().any(|(known, _)| *known == column)
            {
                found.push((column, expr.ty.clone()));
            }
            true
        });
    }
    found
}

fn select(items: Vec<Expr>, from: Option<From>, filter: Option<Expr>) -> Query {
    let columns = items.iter().map(|item| OutputColumn { name: "?column?".to_owned(), ty: item.ty.clone() }).collect();
    let select = Select { distinct: Distinct::All, items, from, filter, group_by: GroupBy::None, having: None };
    Query::of(Body::Select(Box::new(select)), columns, OUTPUT)
}

/// The target as a member of FROM.
fn scanned(dml: &Dml, others: Option<&From>) -> From {
    let target = match &dml.view {
        Some(view) => (**view).clone(),
        None => From::Relation { id: dml.id, relation: dml.target.clone(), filter: None },
    };
    match others {
        Some(others) => {
            From::Join { kind: JoinKind::Inner, left: Box::new(target), right: Box::new(others.clone()), on: None }
        }
        None => target,
    }
}

/// The identity and the columns of the target's row.
fn old_row(dml: &Dml) -> Vec<Expr> {
    let row_identity = match &dml.view {
        Some(_) => Expr::null(Type::Int8),
        None => own(dml.id, ColumnIndex::RowIdentity, Type::Int8),
    };
    std::iter::once(row_identity).chain(whole_row(dml)).collect()
}

fn whole_row(dml: &Dml) -> impl Iterator<Item = Expr> + '_ {
    let columns = dml.target.columns.iter().enumerate();
    columns.map(|(at, column)| own(dml.id, ColumnIndex::At(at), column.ty.clone()))
}

/// The row with some columns assigned; a generated column is empty until it is written.
fn assigned_row<'a>(dml: &'a Dml, assignments: &'a [(usize, Expr)]) -> impl Iterator<Item = Expr> + 'a {
    whole_row(dml).enumerate().map(move |(at, old)| {
        let assigned = assignments.iter().find(|(position, _)| *position == at).map(|(_, value)| value.clone());
        match assigned {
            Some(value) => value,
            None if dml.target.columns[at].generated.is_some() => Expr::null(old.ty),
            None => old,
        }
    })
}

fn current_of(cursor: Option<&String>, filter: Option<&Expr>) -> Result<()> {
    match cursor {
        Some(_) if filter.is_none() => Err(Error::unsupported("WHERE CURRENT OF")),
        _ => Ok(()),
    }
}

fn rows(dml: &Dml, extras: &[(ColumnRef, Type)]) -> Result<Query> {
    let extras = extras.iter().map(|(column, ty)| Expr::new(ExprKind::Column(*column), ty.clone()));
    let mut rows = match &dml.action {
        DmlAction::Insert { columns, source, .. } => inserted(dml, columns, source)?,
        DmlAction::Update { assignments, from, filter, current_of: cursor } => {
            current_of(cursor.as_ref(), filter.as_ref())?;
            let mut items = old_row(dml);
            items.extend(assigned_row(dml, assignments));
            items.extend(extras);
            select(items, Some(scanned(dml, from.as_ref())), filter.clone())
        }
        DmlAction::Delete { using, filter, current_of: cursor } => {
            current_of(cursor.as_ref(), filter.as_ref())?;
            let mut items = old_row(dml);
            items.extend(extras);
            select(items, Some(scanned(dml, using.as_ref())), filter.clone())
        }
    };
    rows.ctes.clone_from(&dml.ctes);
    if let Some(one_by_one) = &dml.one_by_one
        && !one_by_one.order.is_empty()
    {
        rows.order_by.clone_from(&one_by_one.order);
    }
    Ok(rows)
}

/// The rows of an INSERT with a value for each column.
fn inserted(dml: &Dml, columns: &[usize], source: &InsertSource) -> Result<Query> {
    let target = &dml.target;
    let full = |mut value: Box<dyn FnMut(usize) -> Expr + '_>| -> Result<Vec<Expr>> {
        let mut row = Vec::with_capacity(target.columns.len());
        for (position, column) in target.columns.iter().enumerate() {
            let given = columns.iter().position(|at| *at == position).map(&mut value);
            let given = given.filter(|value| !matches!(value.kind, ExprKind::Default));
            let is_known = column.default.is_none() || column.generated.is_some();
            match given {
                Some(value) => row.push(value),
                None if is_known || columns.contains(&position) && column.identity.is_some() => {
                    row.push(Expr::null(column.ty.clone()));
                }
                // The front end spells defaults out where triggers look at rows.
                None => return Err(Error::internal(format!("the default of column {} is not there", column.name))),
            }
        }
        Ok(row)
    };
    let mut outputs: Vec<OutputColumn> = Vec::with_capacity(target.columns.len());
    for column in &target.columns {
        outputs.push(OutputColumn { name: column.name.clone(), ty: column.ty.clone() });
    }
    match source {
        InsertSource::Defaults => Ok(select(full(Box::new(|_| Expr::null(Type::Unknown)))?, None, None)),
        InsertSource::Values(rows) => {
            let mut all = Vec::with_capacity(rows.len());
            for row in rows {
                all.push(full(Box::new(|place| row[place].clone()))?);
            }
            if all.len() == 1 {
                return Ok(select(all.swap_remove(0), None, None));
            }
            Ok(Query::of(Body::Values(all), outputs, OUTPUT))
        }
        InsertSource::Query(source) => {
            let types: Vec<Type> = source.columns.iter().map(|column| column.ty.clone()).collect();
            let items = full(Box::new(|place| own(SOURCE, ColumnIndex::At(place), types[place].clone())))?;
            let from = From::Query { id: SOURCE, query: source.clone(), lateral: false };
            Ok(select(items, Some(from), None))
        }
    }
}

/// A statement of one row.
fn change(dml: &Dml, action: DmlAction, returning: Vec<Expr>) -> Dml {
    let checks = if returning.is_empty() { Vec::new() } else { dml.checks.clone() };
    let columns =
        returning.iter().map(|item| OutputColumn { name: "?column?".to_owned(), ty: item.ty.clone() }).collect();
    Dml {
        ctes: Vec::new(),
        target: dml.target.clone(),
        id: dml.id,
        family: None,
        routing: None,
        heir: dml.heir.clone(),
        view: None,
        action,
        checks,
        guards: None,
        one_by_one: None,
        returning,
        columns,
    }
}

/// What is computed of a row that is given as parameters.
fn computed_of_row(computed: &[Expr], at: RowParams) -> Query {
    let mut items = computed.to_vec();
    for item in &mut items {
        walk::expr_mut(item, &mut |expr| {
            if let ExprKind::Column(ColumnRef { relation: super::Text::TABLE, column }) = expr.kind {
                expr.kind = ExprKind::Param(match column {
                    ColumnIndex::At(position) => at.column(position),
                    ColumnIndex::RowIdentity => at.row_identity(),
                });
            }
            true
        });
    }
    select(items, None, None)
}

/// The columns that are written, with their parameters.
fn written(dml: &Dml, at: RowParams) -> Vec<(usize, Expr)> {
    let is_written = |column: &crate::schema::Column| column.generated.is_none() || column.is_computed();
    let columns = dml.target.columns.iter().enumerate().filter(|(_, column)| is_written(column));
    columns.map(|(position, column)| (position, param(at.column(position), column.ty.clone()))).collect()
}

fn this_row(dml: &Dml, at: RowParams) -> Expr {
    equal(own(dml.id, ColumnIndex::RowIdentity, Type::Int8), param(at.row_identity(), Type::Int8))
}

/// `fails` says that a row in the way is an error.
fn insert_row(dml: &Dml, at: RowParams, fails: bool) -> Dml {
    let (columns, values) = written(dml, at).into_iter().unzip();
    let on_conflict = match &dml.action {
        DmlAction::Insert { on_conflict: Some(conflict), .. } if !fails => {
            let arbiter = conflict.arbiter.clone();
            Some(OnConflict { arbiter, in_turn: Vec::new(), action: ConflictAction::Nothing })
        }
        _ => None,
    };
    let action = DmlAction::Insert { columns, source: InsertSource::Values(vec![values]), on_conflict };
    change(dml, action, old_row(dml))
}

fn update_row(dml: &Dml, at: RowParams) -> Dml {
    let action = DmlAction::Update {
        assignments: written(dml, at),
        from: None,
        filter: Some(this_row(dml, at)),
        current_of: None,
    };
    change(dml, action, old_row(dml))
}

fn delete_action(dml: &Dml, at: RowParams) -> DmlAction {
    DmlAction::Delete { using: None, filter: Some(this_row(dml, at)), current_of: None }
}

fn row_now(dml: &Dml, at: RowParams) -> Query {
    select(old_row(dml), Some(scanned(dml, None)), Some(this_row(dml, at)))
}

/// ON CONFLICT DO UPDATE: the row in the way.
fn conflict_query(dml: &Dml, conflict: &OnConflict, at: RowParams) -> Result<Option<Query>> {
    let ConflictAction::Update { excluded, assignments, filter } = &conflict.action else { return Ok(None) };
    let same = match &conflict.arbiter {
        Some(arbiter) => {
            let mut same = Vec::with_capacity(arbiter.keys.len() + 1);
            for key in &arbiter.keys {
                let (stored, proposed) = (of_stored(key, dml.id), of_proposed(key, at));
                same.push(if dml.target.indexes[arbiter.index].nulls_alike {
                    let (left, right) = (Box::new(stored), Box::new(proposed));
                    Expr::new(ExprKind::Distinct { negated: true, left, right }, Type::Bool)
                } else {
                    equal(stored, proposed)
                });
            }
            same.extend(arbiter.predicate.as_ref().map(|predicate| of_stored(predicate, dml.id)));
            all_of(same)
        }
        None => any_of(ways_to_be_met(dml, conflict, at)?),
    };
    let proposed = |mut expr: Expr| {
        walk::expr_mut(&mut expr, &mut |expr| {
            if let ExprKind::Column(ColumnRef { relation, column: ColumnIndex::At(column) }) = expr.kind
                && relation == *excluded
            {
                expr.kind = ExprKind::Param(at.column(column));
            }
            true
        });
        expr
    };
    // The one row that is met is counted, and not each that is looked at.
    let asked = |filter: &Expr| {
        let mut filter = proposed(filter.clone());
        walk::expr_mut(&mut filter, &mut |part| {
            crate::postgres::quieten(part);
            true
        });
        filter
    };
    let mut items = old_row(dml);
    items.extend(assigned_row(dml, assignments).map(proposed));
    items.push(match filter {
        Some(filter) => asked(filter),
        None => Expr::new(ExprKind::Literal(Value::Integer(1)), Type::Bool),
    });
    let mut found = select(items, Some(scanned(dml, None)), Some(same));
    found.ctes.clone_from(&dml.ctes);
    // Of rows that share several keys MySQL changes the one of the first.
    if conflict.arbiter.is_none() {
        let ways = ways_to_be_met(dml, conflict, at)?;
        if ways.len() > 1 {
            let key = |expr| SortKey { expr, descending: true, nulls_first: false };
            found.order_by = ways.into_iter().map(key).collect();
        }
    }
    Ok(Some(found))
}

/// MySQL's INSERT IGNORE: which keys of the new row others have; `None` where that cannot be asked.
fn shared_keys(dml: &Dml, at: RowParams) -> Option<Query> {
    let ways = ways_to_be_alike(dml, at).ok()?;
    let any = any_of(ways.clone());
    Some(select(ways, Some(scanned(dml, None)), Some(any)))
}

/// For each unique key, those of what is computed, too, whether a row has the new one's.
fn ways_to_be_met(dml: &Dml, conflict: &OnConflict, at: RowParams) -> Result<Vec<Expr>> {
    if conflict.in_turn.is_empty() {
        return ways_to_be_alike(dml, at);
    }
    let alike = |key: &Expr| equal(of_stored(key, dml.id), of_proposed(key, at));
    let way = |arbiter: &Arbiter| all_of(arbiter.keys.iter().map(alike).collect());
    Ok(conflict.in_turn.iter().map(way).collect())
}

impl Relation {
    /// The places of its unique keys in the order in which MySQL looks at them: the primary one, those that know no NULL, the
    /// others; each as they were made. One that has all columns of the primary key is no key of its own: rows that are alike
    /// in it are alike in that one.
    pub fn keys_in_order(&self) -> Vec<usize> {
        let primary = self.indexes.iter().position(|index| index.primary);
        let says_more = |at: usize| {
            primary.is_none_or(|primary| {
                let own = &self.indexes[at].columns;
                at == primary || !self.indexes[primary].columns.iter().all(|column| own.contains(column))
            })
        };
        let is_key = |at: &usize| self.indexes[*at].unique && says_more(*at);
        let mut keys: Vec<usize> = (0..self.indexes.len()).filter(is_key).collect();
        keys.sort_by_key(|at| {
            let index = &self.indexes[*at];
            let known = index.columns.iter().all(|at| at.is_some_and(|at| self.columns[at].not_null));
            (!index.primary, !known, *at)
        });
        keys
    }
}

/// For each unique key whether a row has the new one's.
fn ways_to_be_alike(dml: &Dml, at: RowParams) -> Result<Vec<Expr>> {
    let mut ways = Vec::new();
    for index in dml.target.keys_in_order().into_iter().map(|at| &dml.target.indexes[at]) {
        let columns = index.columns.iter().copied().collect::<Option<Vec<usize>>>();
        let Some(columns) = columns.filter(|_| index.predicate.is_none()) else {
            return Err(Error::unsupported(
                "REPLACE, and ON DUPLICATE KEY UPDATE row by row, of a table with a unique key of what is computed",
            ));
        };
        let same = |column: usize| {
            let ty = dml.target.columns[column].ty.clone();
            equal(own(dml.id, ColumnIndex::At(column), ty.clone()), param(at.column(column), ty))
        };
        ways.push(all_of(columns.into_iter().map(same).collect()));
    }
    Ok(ways)
}

fn any_of(mut ways: Vec<Expr>) -> Expr {
    match ways.len() {
        // Without a key nothing is alike.
        0 => Expr::new(ExprKind::Literal(Value::Integer(0)), Type::Bool),
        1 => ways.swap_remove(0),
        _ => Expr::new(ExprKind::Or(ways), Type::Bool),
    }
}

fn all_of(mut conditions: Vec<Expr>) -> Expr {
    match conditions.len() {
        1 => conditions.swap_remove(0),
        _ => Expr::new(ExprKind::And(conditions), Type::Bool),
    }
}

/// A key of an index, of a row that is stored.
fn of_stored(key: &Expr, table: RelId) -> Expr {
    let mut key = key.clone();
    walk::expr_mut(&mut key, &mut |part| {
        if let ExprKind::Column(column) = &mut part.kind {
            column.relation = table;
        }
        true
    });
    key
}

/// A key of an index, of a row that is given as parameters.
fn of_proposed(key: &Expr, at: RowParams) -> Expr {
    let mut key = key.clone();
    walk::expr_mut(&mut key, &mut |part| {
        if let ExprKind::Column(ColumnRef { column: ColumnIndex::At(column), .. }) = part.kind {
            part.kind = ExprKind::Param(at.column(column));
        }
        true
    });
    key
}

/// For each kind of guards the query that yields the place of the first one that does not hold, or NULL.
fn guards(dml: &Dml, at: RowParams) -> [Option<Query>; 4] {
    let Some(guards) = &dml.guards else { return [None, None, None, None] };
    let query = |guards: &[Guard]| {
        if guards.is_empty() {
            return None;
        }
        let mut branches = Vec::with_capacity(guards.len());
        for (place, guard) in guards.iter().enumerate() {
            let mut condition = guard.condition.clone();
            given_row(&mut condition, dml, &[], at);
            let failed = ExprKind::IsTruth { arg: Box::new(condition), test: Some(true), negated: true };
            let place = Expr::new(ExprKind::Literal(Value::Integer(place as i64)), Type::Int8);
            branches.push((Expr::new(failed, Type::Bool), place));
        }
        let first = Expr::new(ExprKind::Case { branches, otherwise: None }, Type::Int8);
        Some(select(vec![first], None, None))
    };
    [query(&guards.inserted), query(&guards.updated), query(&guards.met), query(&guards.deleted)]
}

/// Puts parameters in the place of the columns of a row, and of those of other relations.
fn given_row(expr: &mut Expr, dml: &Dml, extras: &[(ColumnRef, Type)], at: RowParams) {
    walk::expr_mut(expr, &mut |expr| {
        if let ExprKind::Column(column) = expr.kind {
            let extra = extras.iter().position(|(known, _)| *known == column);
            if let Some(extra) = extra {
                expr.kind = ExprKind::Param(at.extra(extra));
            } else if column.relation == dml.id {
                expr.kind = ExprKind::Param(match column.column {
                    ColumnIndex::At(position) => at.column(position),
                    ColumnIndex::RowIdentity => at.row_identity(),
                });
            }
        }
        true
    });
}

/// RETURNING of a row that is given as parameters.
fn returning(dml: &Dml, extras: &[(ColumnRef, Type)], at: RowParams) -> Query {
    let mut items = dml.returning.clone();
    items.iter_mut().for_each(|item| given_row(item, dml, extras, at));
    let mut returned = select(items, None, None);
    returned.ctes.clone_from(&dml.ctes);
    returned
}
