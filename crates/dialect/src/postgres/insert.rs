//! INSERT: its columns, its rows, what stands in columns that it leaves out.

use pg_query::protobuf::{self as pg, Node, OverridingKind, SetOperation, node::Node as N};

use super::binder::{Binder, Clause, Locker, Scope, outputs};
use super::conflict::deferrable_arbiter;
use super::expr::location;
use super::target::{Change, Target};
use super::types;
use crate::bind::insert::{self, LeftOut, OwnValue, domain_default};
use crate::bind::query::converted;
use crate::ir::build::row_identity;
use crate::ir::{self, CastContext, ConflictAction, Dml, DmlAction, Expr, ExprKind, InsertSource, OnConflict};
use crate::plan::ResultColumn;
use crate::schema::{Column, Relation};
use crate::{Condition, Result, Type};

/// MySQL's: a column that is left out, may not be NULL and has no default.
fn lacks_value(positions: &[usize], at: usize, column: &Column) -> bool {
    !positions.contains(&at)
        && column.not_null
        && column.default.is_none()
        && column.identity.is_none()
        && column.generated.is_none()
        && domain_default(&column.ty).is_none()
}

/// The first of an ENUM's words is its default.
fn is_enum(column: &Column) -> bool {
    column.ty.is_domain() && types::format_type(&column.ty).contains("enum(")
}

/// MySQL's: a column that may not be NULL has a value or a default.
fn check_all_given(relation: &Relation, positions: &[usize]) -> Result<()> {
    match relation
        .columns
        .iter()
        .enumerate()
        .find(|(at, column)| lacks_value(positions, *at, column) && !is_enum(column))
    {
        None => Ok(()),
        Some((_, column)) => {
            let message = format!("Field '{}' doesn't have a default value", column.name);
            Err(crate::Error::new(Condition::NotNullViolation, message).with_mysql(1364, "HY000"))
        }
    }
}

impl Binder<'_> {
    pub(super) fn insert(&mut self, insert: &pg::InsertStmt) -> Result<(Dml, Vec<ResultColumn>)> {
        let ctes = match &insert.with_clause {
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let mut target = self.target(insert.relation.as_ref(), Change::Insert)?;
        let relation = target.relation.clone();
        let one_by_one = self.mysql_one_by_one(insert, &target)?;
        target.one_by_one = one_by_one.is_some() || self.may_meet_several(insert, &target);
        let ignores = one_by_one.as_ref().is_some_and(|rule| rule.ignores);
        let mut columns = self.insert_columns(&insert.cols, &target)?;
        let overriding = insert.r#override();
        let select = match insert.select_stmt.as_deref().and_then(|node| node.node.as_ref()) {
            Some(N::SelectStmt(select)) => Some(select),
            _ => None,
        };
        let source = match select {
            None => {
                columns.list.clear();
                InsertSource::Defaults
            }
            Some(select) if is_plain_values(select) => self.insert_values(&target, select, &mut columns, overriding)?,
            Some(_) if columns.parts.iter().any(|part| !part.is_empty()) => {
                return Err(self.unsupported("assigning a query's values to parts of columns", -1));
            }
            Some(select) => self.insert_query(&relation, select, &mut columns, overriding)?,
        };
        let mut positions: Vec<usize> = columns.list.iter().map(|(position, _)| *position).collect();
        self.change_columns(&target, positions.iter().copied(), true);
        let (mut on_conflict, waits) = match &insert.on_conflict_clause {
            Some(clause) => self.on_conflict(clause, &target)?,
            None => (None, None),
        };
        let source = match (waits, source) {
            (None, source) => source,
            // No row is refused where none is proposed.
            (Some(waits), InsertSource::Query(query)) => {
                on_conflict = Some(OnConflict { arbiter: None, in_turn: Vec::new(), action: ConflictAction::Nothing });
                InsertSource::Query(self.refusing(*query, &relation, &waits))
            }
            (Some(waits), _) => return Err(deferrable_arbiter(&relation, &waits)),
        };
        let said = super::mysql::changes::Said::of(insert.returning_clause.as_ref().filter(|_| self.is_mysql()));
        let inside = self.mysql_changed_partitions(&said, target.id, &relation)?.map(|(_, inside)| inside);
        let checks = inside.into_iter().chain(target.checks()).collect();
        let routing = target.routing.clone();
        let updates = on_conflict.as_ref().is_some_and(|c| matches!(c.action, ConflictAction::Update { .. }));
        let scope = Scope {
            entries: vec![target.entry.clone()],
            clause: Clause::Returning,
            lockers: Some((target.id, if updates { Locker::OwnIfMet } else { Locker::Nobody })),
            ..Scope::default()
        };
        let (returning, results) = self.returning(insert.returning_clause.as_ref(), scope)?;
        if let Some(conflict) = on_conflict.as_mut().filter(|_| ir::met::is_asked(&returning)) {
            if relation.without_identity {
                return Err(self.unsupported("the system column \"xmax\" of a table without rowids", -1));
            }
            ir::met::note_in(conflict, row_identity(target.id));
        }
        let passes_over = !ignores && on_conflict.as_ref().is_some_and(|c| matches!(c.action, ConflictAction::Nothing));
        let mut source = source;
        if self.is_mysql() && !passes_over {
            match self.clips {
                Some(_) => source = self.with_implicit(&target, &mut positions, source)?,
                None => check_all_given(&target.relation, &positions)?,
            }
        }
        let source = match self.left_to_rules(&target) {
            true => source,
            false => self.add_defaults(&target, &mut positions, source)?,
        };
        let guards = self.insert_guards(&target, updates)?;
        let dml = Dml {
            family: None,
            routing,
            heir: None,
            ctes,
            target: relation,
            id: target.id,
            view: target.rows,
            action: DmlAction::Insert { columns: positions, source, on_conflict },
            checks,
            guards,
            one_by_one,
            returning,
            columns: outputs(&results),
        };
        if self.is_mysql() {
            self.check_not_read(&dml, insert.relation.as_ref().map_or("", |range| &range.relname), "INSERT")?;
        }
        Ok((dml, results))
    }

    /// The columns that an INSERT names, or those that it means without naming any.
    pub(super) fn insert_columns<'a>(&self, nodes: &'a [Node], target: &Target) -> Result<Given<'a>> {
        let mut named = Vec::with_capacity(nodes.len());
        let mut parts: Vec<&[Node]> = Vec::new();
        for node in nodes {
            let Some(N::ResTarget(column)) = &node.node else { continue };
            let position = self.target_column(target, &column.name, Change::Insert, column.location)?;
            // Several parts of one column may be given, but no part beside the whole.
            let given = named.iter().zip(&parts).find(|((name, _, _), _)| *name == column.name);
            let twice = given.is_some_and(|(_, part)| part.is_empty() || column.indirection.is_empty());
            parts.push(&column.indirection);
            if twice {
                if self.is_mysql() {
                    let message = format!("Column '{}' specified twice", column.name);
                    return Err(crate::Error::new(Condition::DuplicateColumn, message).with_mysql(1110, "42000"));
                }
                return Err(self.error(
                    Condition::DuplicateColumn,
                    format!("column \"{}\" specified more than once", column.name),
                    column.location,
                ));
            }
            if named.iter().any(|(name, known, _)| *known == position && *name != column.name) {
                return Err(target.assigned_twice(position));
            }
            named.push((column.name.clone(), position, column.location));
        }
        Ok(if named.is_empty() {
            let in_order = target.in_order();
            let list = in_order.positions.into_iter().map(|position| (position, -1)).collect();
            Given { list, parts, explicit: false, beyond: in_order.beyond }
        } else {
            let list = named.into_iter().map(|(_, position, place)| (position, place)).collect();
            Given { list, parts, explicit: true, beyond: None }
        })
    }

    /// Too many or too few values for the columns.
    fn check_width(&self, columns: &mut Given<'_>, width: usize, place: impl Fn(usize) -> i32) -> Result<()> {
        let Given { list: columns, explicit, beyond, .. } = columns;
        if self.is_mysql() && width != columns.len() {
            let error = self.error(Condition::SyntaxError, "Column count doesn't match value count at row 1", -1);
            return Err(error.with_mysql(1136, "21S01"));
        }
        if width > columns.len() {
            if let Some(error) = beyond.take() {
                return Err(error);
            }
            return Err(self.error(
                Condition::SyntaxError,
                "INSERT has more expressions than target columns",
                place(columns.len()),
            ));
        }
        if *explicit && width < columns.len() {
            return Err(self.error(
                Condition::SyntaxError,
                "INSERT has more target columns than expressions",
                columns[width].1,
            ));
        }
        columns.truncate(width);
        Ok(())
    }

    /// A column that numbers or computes itself takes no value from outside.
    fn check_given(column: &Column, overriding: OverridingKind) -> Result<()> {
        let refused = OwnValue::of(column);
        let overridden = refused == Some(OwnValue::Numbered) && overriding == OverridingKind::OverridingSystemValue;
        let Some(own) = refused.filter(|_| !overridden) else { return Ok(()) };
        let message = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
        let error = crate::Error::new(Condition::GeneratedAlways, message).detail(detail_of(own, column));
        Err(match own {
            OwnValue::Numbered => error.hint("Use OVERRIDING SYSTEM VALUE to override."),
            OwnValue::Generated => error,
        })
    }

    pub(super) fn insert_values(
        &mut self,
        target: &Target,
        select: &pg::SelectStmt,
        columns: &mut Given<'_>,
        overriding: OverridingKind,
    ) -> Result<InsertSource> {
        let relation = &*target.relation;
        if let Some(values_lists) = self.spread_values(&select.values_lists)? {
            let spread = pg::SelectStmt { values_lists, ..select.clone() };
            return self.insert_values(target, &spread, columns, overriding);
        }
        let mut rows = Vec::with_capacity(select.values_lists.len());
        let mut native = left_to_the_back_end(select);
        if target.shows_rows() {
            native.fill(false);
        }
        let mut width = None;
        for list in &select.values_lists {
            let Some(N::List(list)) = &list.node else { continue };
            match width {
                None => {
                    self.check_width(columns, list.items.len(), |index| list.items.get(index).map_or(-1, location))?;
                    width = Some(list.items.len());
                }
                Some(width) if width != list.items.len() && self.is_mysql() => {
                    let message = format!("Column count doesn't match value count at row {}", rows.len() + 1);
                    return Err(crate::Error::new(Condition::SyntaxError, message).with_mysql(1136, "21S01"));
                }
                Some(width) if width != list.items.len() => {
                    return Err(self.error(
                        Condition::SyntaxError,
                        "VALUES lists must all be the same length",
                        list.items.first().map_or(-1, location),
                    ));
                }
                Some(_) => {}
            }
            // MySQL's values see those left of them, and the defaults of the columns behind.
            let entries = if self.is_mysql() { vec![target.entry.clone()] } else { Vec::new() };
            let scope = Scope { clause: Clause::Values, entries, ..Scope::default() };
            let (row, _) = self.with_scope(scope, |binder| {
                let mut earlier_values: Vec<(usize, Expr, bool)> = Vec::new();
                let mut row: Vec<Expr> = Vec::with_capacity(list.items.len());
                // Where the value of each target stands: parts of one column share a place.
                let mut slots = Vec::with_capacity(list.items.len());
                for (at, (node, (position, named_at))) in list.items.iter().zip(columns.list.iter()).enumerate() {
                    let column = &relation.columns[*position];
                    let place = location(node);
                    if let Some(parts) = columns.parts.get(at).filter(|parts| !parts.is_empty()) {
                        if matches!(node.node, Some(N::SetToDefault(_))) {
                            return Err(binder.error(
                                Condition::FeatureNotSupported,
                                "cannot set an array element to DEFAULT",
                                *named_at,
                            ));
                        }
                        Self::check_given(column, overriding)?;
                        let value = binder.expr(node)?;
                        let before = columns.list[..at].iter().position(|(known, _)| known == position);
                        let slot = before.map(|first| slots[first]);
                        let whole = match slot.and_then(|slot: usize| row.get_mut(slot)) {
                            Some(earlier) => std::mem::replace(earlier, Expr::null(column.ty.clone())),
                            None => Expr::null(column.ty.clone()),
                        };
                        let at = (*named_at, place);
                        let whole = binder.part_assigned(whole, &column.name, parts, value, at)?;
                        match slot {
                            Some(slot) => row[slot] = whole,
                            None => row.push(whole),
                        }
                        slots.push(slot.unwrap_or(row.len() - 1));
                        continue;
                    }
                    slots.push(row.len());
                    let user_value = overriding == OverridingKind::OverridingUserValue && column.identity.is_some();
                    let passed_over = column.generated.is_some() && binder.context.passes_generated;
                    if matches!(node.node, Some(N::SetToDefault(_))) || user_value || passed_over {
                        let native = column.identity.is_some() || native.get(at).copied().unwrap_or(false);
                        row.push(binder.target_default(target, *position, native, place)?);
                    } else {
                        Self::check_given(column, overriding)?;
                        let outer = std::mem::take(&mut binder.effects.volatile);
                        let mut value = binder.expr(node)?;
                        let volatile = std::mem::replace(&mut binder.effects.volatile, outer);
                        binder.effects.volatile |= volatile;
                        if binder.is_mysql() {
                            binder.mysql_behind_values(&mut value, target, &mut earlier_values)?;
                        }
                        if let Some(clips) = &mut binder.clips {
                            clips.row = rows.len() + 1;
                        }
                        let value = binder.stored_value(value, column, place)?;
                        if binder.is_mysql() {
                            earlier_values.retain(|(known, _, _)| known != position);
                            earlier_values.push((*position, value.clone(), volatile));
                        }
                        row.push(binder.self_numbered(value, column)?);
                    }
                }
                Ok(row)
            })?;
            rows.push(row);
        }
        let mut seen = Vec::new();
        columns.list.retain(|(position, _)| {
            !seen.contains(position) && {
                seen.push(*position);
                true
            }
        });
        Ok(InsertSource::Values(rows))
    }

    /// A value for a column of MySQL's that numbers itself: 0 and NULL ask for the next number.
    fn self_numbered(&self, value: Expr, column: &Column) -> Result<Expr> {
        if !self.is_mysql()
            || !column.numbers_itself()
            || column.identity.as_ref().is_some_and(|identity| identity.always)
        {
            return Ok(value);
        }
        let sequence = insert::sequence_of(self.schema, column)?;
        if !self.mysql_modes().zero_is_a_number {
            return Ok(insert::numbered(value, sequence));
        }
        match value.kind {
            ExprKind::Literal(ir::Value::Null) => Ok(insert::numbered(value, sequence)),
            // With NO_AUTO_VALUE_ON_ZERO it is a number like any other.
            ExprKind::Literal(_) => Ok(value),
            _ if sequence.is_none() => Ok(value),
            _ => Err(self.unsupported("NO_AUTO_VALUE_ON_ZERO with what is no literal", -1)),
        }
    }

    fn insert_query(
        &mut self,
        relation: &Relation,
        select: &pg::SelectStmt,
        columns: &mut Given<'_>,
        overriding: OverridingKind,
    ) -> Result<InsertSource> {
        let mut bound = self.subquery(select, false)?;
        self.join_query(&mut bound.query)?;
        let places = bound.places.clone();
        self.check_width(columns, bound.columns.len(), |index| places.get(index).copied().unwrap_or(-1))?;
        let columns = &columns.list;
        let mut wanted = Vec::with_capacity(columns.len());
        for (index, ((position, _), result)) in columns.iter().zip(&bound.columns).enumerate() {
            let column = &relation.columns[*position];
            let place = places.get(index).copied().unwrap_or(-1);
            if overriding == OverridingKind::OverridingUserValue && column.identity.is_some() {
                wanted.push(result.ty.clone());
                continue;
            }
            Self::check_given(column, overriding)?;
            let ty = types::import(&column.ty);
            if self.clips.is_some() {
                wanted.push(result.ty.clone());
                continue;
            }
            if !self.assignable(&result.ty, &ty) {
                return Err(self
                    .error(
                        Condition::DatatypeMismatch,
                        format!(
                            "column \"{}\" is of type {} but expression is of type {}",
                            column.name,
                            types::words(&ty),
                            types::words(&result.ty)
                        ),
                        place,
                    )
                    .hint("You will need to rewrite or cast the expression."));
            }
            wanted.push(ty);
        }
        if self.clips.is_some() {
            return self.clipped_query(relation, bound, columns);
        }
        if self.shown.is_some() {
            // What is converted for the columns is the INSERT's affair, of which nothing is printed.
            return Ok(InsertSource::Query(Box::new(bound.query)));
        }
        let mut bound = converted(self, bound, &wanted, CastContext::Assignment, &[])?;
        if overriding == OverridingKind::OverridingUserValue {
            bound = self.with_own_numbers(relation, bound, columns, &mut wanted)?;
        }
        let declared: Vec<Type> = columns.iter().map(|(position, _)| relation.columns[*position].ty.clone()).collect();
        if declared != wanted {
            bound = bound.wrapped(&mut self.ids);
            if let crate::ir::Body::Select(select) = &mut bound.query.body {
                for ((item, column), ty) in select.items.iter_mut().zip(&mut bound.query.columns).zip(declared) {
                    *item = item.clone().cast(ty.clone(), CastContext::Assignment);
                    column.ty = ty;
                }
            }
        }
        Ok(InsertSource::Query(Box::new(bound.query)))
    }

    /// A query's rows as MySQL stores them where what does not fit becomes the nearest that does.
    fn clipped_query(
        &mut self,
        relation: &Relation,
        bound: super::binder::BoundQuery,
        columns: &[(usize, i32)],
    ) -> Result<InsertSource> {
        let mut bound = bound.wrapped(&mut self.ids);
        if let crate::ir::Body::Select(select) = &mut bound.query.body {
            let outputs = select.items.iter_mut().zip(&mut bound.query.columns);
            for ((item, output), (position, _)) in outputs.zip(columns) {
                let column = &relation.columns[*position];
                *item = self.stored_value(item.clone(), column, -1)?;
                output.ty = column.ty.clone();
            }
        }
        Ok(InsertSource::Query(Box::new(bound.query)))
    }

    /// The implicit values of columns that are left out and have no default, with a warning for each.
    fn with_implicit(
        &mut self,
        target: &Target,
        positions: &mut Vec<usize>,
        source: InsertSource,
    ) -> Result<InsertSource> {
        let given = &*positions;
        let implicit = insert::left_out(&target.relation.columns, given, |at, column| {
            if !lacks_value(given, at, column) {
                return Ok(None);
            }
            let Some(value) = self.mysql_implicit(column)? else { return Ok(None) };
            if !is_enum(column) {
                let message = format!("Field '{}' doesn't have a default value", column.name);
                self.notices.push(crate::Error::new(Condition::Warning, message).with_mysql(1364, "HY000"));
            }
            Ok(Some(value.cast(column.ty.clone(), CastContext::Assignment)))
        })?;
        if implicit.is_empty() {
            return Ok(source);
        }
        positions.extend(implicit.iter().map(|(at, _)| *at));
        Ok(insert::with_values(source, implicit.into_iter().map(|(_, value)| value).collect(), &mut self.ids))
    }

    /// OVERRIDING USER VALUE: the next numbers of identity columns in the place of what a query has for them.
    fn with_own_numbers(
        &mut self,
        relation: &Relation,
        bound: super::binder::BoundQuery,
        columns: &[(usize, i32)],
        types: &mut [Type],
    ) -> Result<super::binder::BoundQuery> {
        if columns.iter().all(|(position, _)| relation.columns[*position].identity.is_none()) {
            return Ok(bound);
        }
        let mut bound = bound.wrapped(&mut self.ids);
        for (at, (position, place)) in columns.iter().enumerate() {
            let column = &relation.columns[*position];
            let value = match &column.identity {
                None => continue,
                Some(identity) if identity.sequence.is_some() => {
                    self.default_value(relation, *position, false, *place)?
                }
                // The back end numbers what is NULL.
                Some(_) => Expr::null(column.ty.clone()),
            };
            if let crate::ir::Body::Select(select) = &mut bound.query.body {
                select.items[at] = value;
                bound.query.columns[at].ty = column.ty.clone();
                types[at] = column.ty.clone();
            }
        }
        Ok(bound)
    }

    /// Columns that were left out, where the back end does not know what to store.
    pub(super) fn add_defaults(
        &mut self,
        target: &Target,
        positions: &mut Vec<usize>,
        source: InsertSource,
    ) -> Result<InsertSource> {
        if self.shown.is_some() || self.uses.is_some() {
            // Nobody runs what is bound to be printed, or for its names.
            return Ok(source);
        }
        let mut added = self.defaults_left_out(target, positions)?;
        let mut source = source;
        if self.effects.calls_writers && !target.shows_rows() {
            // Such rows are written one by one, and the back end is not asked for parts of them.
            added = self.defaults_left_out(target, positions)?;
            self.spell_defaults(target, positions, &mut source)?;
        }
        if added.is_empty() {
            return Ok(source);
        }
        positions.extend(added.iter().map(|(position, _)| *position));
        Ok(insert::with_values(source, added.into_iter().map(|(_, value)| value).collect(), &mut self.ids))
    }

    /// The columns that an INSERT does not name, and what stands in them, where the back end does not know it by itself.
    pub(super) fn defaults_left_out(&mut self, target: &Target, positions: &[usize]) -> Result<Vec<(usize, Expr)>> {
        let relation = &*target.relation;
        // A trigger or a policy sees the row before it is written.
        let shown = target.shows_rows() || self.effects.calls_writers;
        insert::left_out(&relation.columns, positions, |position, column| {
            let ours = !matches!(LeftOut::of(column, shown), LeftOut::ByItself);
            // A leaf may have a default of its own, which does not count.
            let spelled = target.routing.is_some();
            if !ours && !spelled && target.view_default(position).is_none() {
                return Ok(None);
            }
            let value = self.target_default(target, position, !shown, -1)?;
            // In the rows of a query nothing can say so.
            let left = self.context.defaults_there && matches!(value.kind, ExprKind::Default);
            Ok((!left).then_some(value))
        })
    }

    /// DEFAULT in VALUES, where it had been left to the back end.
    fn spell_defaults(&mut self, target: &Target, positions: &[usize], source: &mut InsertSource) -> Result<()> {
        let InsertSource::Values(rows) = source else { return Ok(()) };
        for row in rows {
            for (value, position) in row.iter_mut().zip(positions) {
                let column = &target.relation.columns[*position];
                if matches!(value.kind, ExprKind::Default) && column.identity.is_none() && column.generated.is_none() {
                    *value = self.target_default(target, *position, false, -1)?;
                }
            }
        }
        Ok(())
    }
}

/// The columns that an INSERT gives values to, with their places in its text.
pub(super) struct Given<'a> {
    pub(super) list: Vec<(usize, i32)>,
    /// Subscripts behind them, for those in a list of the statement's own.
    parts: Vec<&'a [Node]>,
    /// They stand in a list of the statement's own.
    explicit: bool,
    /// What is wrong with a value for one more.
    beyond: Option<crate::Error>,
}

/// Why a column takes no value, in PostgreSQL's words.
pub(super) fn detail_of(own: OwnValue, column: &Column) -> String {
    match own {
        OwnValue::Generated => format!("Column \"{}\" is a generated column.", column.name),
        OwnValue::Numbered => {
            format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name)
        }
    }
}

/// VALUES and nothing around it.
fn is_plain_values(select: &pg::SelectStmt) -> bool {
    !select.values_lists.is_empty()
        && matches!(select.op(), SetOperation::SetopNone | SetOperation::Undefined)
        && select.with_clause.is_none()
        && select.sort_clause.is_empty()
        && select.limit_count.is_none()
        && select.limit_offset.is_none()
        && select.locking_clause.is_empty()
}

/// For each column of VALUES: it says DEFAULT in every row, so that the back end can leave the column out.
fn left_to_the_back_end(select: &pg::SelectStmt) -> Vec<bool> {
    let is_default = |node: &Node| matches!(node.node, Some(N::SetToDefault(_)));
    let rows: Vec<_> = (select.values_lists.iter())
        .filter_map(|list| match &list.node {
            Some(N::List(list)) => Some(&list.items),
            _ => None,
        })
        .collect();
    let width = rows.first().map_or(0, |row| row.len());
    // Several rows need a column that is spelled out.
    let spelled = rows.len() > 1 && rows.iter().all(|row| row.iter().all(is_default));
    (0..width).map(|at| !spelled && rows.iter().all(|row| row.get(at).is_some_and(is_default))).collect()
}
