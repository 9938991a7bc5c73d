//! INSERT, UPDATE, DELETE.

use pg_query::protobuf::{self as pg, Node, OnConflictAction, OverridingKind, SetOperation, node::Node as N};

use super::binder::{Binder, Clause, Entry, Scope, outputs};
use super::expr::location;
use super::target::{Change, Target};
use super::{raw, types};
use crate::access::Privileges;
use crate::ir::{CastContext, ConflictAction, Dml, DmlAction, Expr, ExprKind, InsertSource, OnConflict, TriggerEvent};
use crate::plan::ResultColumn;
use crate::schema::{Column, Relation};
use crate::{Condition, Language, Result, Type};

impl Binder<'_> {
    /// Binds a data-modifying statement; the columns are RETURNING's.
    pub(super) fn dml(&mut self, statement: &N) -> Result<(Dml, Vec<ResultColumn>)> {
        self.effects.writes = true;
        self.effects.reads = true;
        let visible = self.ctes.len();
        let result = match statement {
            N::InsertStmt(insert) => self.insert(insert),
            N::UpdateStmt(update) => self.update(update),
            N::DeleteStmt(delete) => self.delete(delete),
            _ => Err(crate::Error::internal("not a data-modifying statement")),
        };
        self.ctes.truncate(visible);
        result
    }

    /// A value as it is stored in a column.
    fn stored_value(&mut self, value: Expr, column: &Column, place: i32) -> Result<Expr> {
        let ty = types::import(&column.ty);
        let value = self.assign(value, &column.name, &ty, place)?;
        Ok(if ty == column.ty {
            value
        } else {
            Expr::new(ExprKind::Cast { arg: Box::new(value), context: CastContext::Assignment }, column.ty.clone())
        })
    }

    /// What DEFAULT means for a column. `native` allows leaving a native default to the back end.
    fn default_value(&mut self, relation: &Relation, position: usize, native: bool, place: i32) -> Result<Expr> {
        let column = &relation.columns[position];
        let by_itself = || Expr::new(ExprKind::Default, column.ty.clone());
        if column.generated.is_some() {
            return Ok(by_itself());
        }
        if let Some(identity) = &column.identity {
            return match &identity.sequence {
                Some(sequence) => self.next_number(sequence, column, place),
                None if native => Ok(by_itself()),
                None => Err(self.unsupported("SET an identity column to DEFAULT", place)),
            };
        }
        if let Some(sequence) = column.default.as_ref().and_then(|default| default.next_of.as_ref()) {
            return self.next_number(sequence, column, place);
        }
        match &column.default {
            Some(default) if default.native && native => Ok(by_itself()),
            Some(default) => {
                let text = default.text.clone();
                if relation.language == Language::Informix {
                    let context = crate::informix::Context {
                        user: self.context.user.clone(),
                        database: self.context.database.clone(),
                        server: String::new(),
                    };
                    self.effects.volatile = true;
                    return crate::informix::expression(&text, self.schema, &context, relation, Some(&column.ty));
                }
                let value = self.stored(&text, relation.language, Vec::new(), Clause::Default)?;
                self.stored_value(value, column, -1)
            }
            None => Ok(Expr::null(column.ty.clone())),
        }
    }

    /// What DEFAULT means for a column of the table that a statement changes, perhaps through a view.
    fn target_default(&mut self, target: &Target, position: usize, native: bool, place: i32) -> Result<Expr> {
        let column = &target.relation.columns[position];
        match target.view_default(position).filter(|_| column.generated.is_none()) {
            Some(text) => {
                let value = self.stored(text, Language::Postgres, Vec::new(), Clause::Default)?;
                self.stored_value(value, column, -1)
            }
            None => self.default_value(&target.relation, position, native, place),
        }
    }

    /// The next number of a column's sequence.
    fn next_number(&mut self, sequence: &crate::schema::QualifiedName, column: &Column, place: i32) -> Result<Expr> {
        let Some(found) = self.schema.sequence(sequence) else {
            let message = format!("relation \"{sequence}\" does not exist");
            return Err(self.error(Condition::UndefinedTable, message, place));
        };
        let regclass = Expr::integer(i64::from(found.oid), Type::Reg(crate::types::Reg::Class));
        let next = self.call_named("nextval", vec![(regclass, place)], place)?;
        self.stored_value(next, column, place)
    }

    /// Binds an expression that the database keeps as text.
    pub(super) fn stored(
        &mut self,
        text: &str,
        language: Language,
        entries: Vec<Entry>,
        clause: Clause,
    ) -> Result<Expr> {
        if language == Language::Informix {
            return Err(crate::Error::unsupported(format!("the Informix expression `{text}` here")));
        }
        let statements = raw::parse(&format!("SELECT {text}")).map_err(|error| {
            crate::Error::new(
                Condition::DataCorrupted,
                format!("the stored expression `{text}` cannot be read: {}", error.message),
            )
        })?;
        let value = statements.first().and_then(|statement| match &*statement.tree {
            N::SelectStmt(select) => match select.target_list.as_slice() {
                [Node { node: Some(N::ResTarget(target)) }] => target.val.as_deref(),
                _ => None,
            },
            _ => None,
        });
        let Some(value) = value else {
            return Err(crate::Error::new(
                Condition::DataCorrupted,
                format!("the stored expression `{text}` is not an expression"),
            ));
        };
        let source = self.source.take();
        let scopes = std::mem::take(&mut self.scopes);
        let scope = Scope { entries, clause, ..Scope::default() };
        let result = self.with_scope(scope, |binder| binder.expr(value));
        self.scopes = scopes;
        self.source = source;
        Ok(result?.0)
    }

    fn insert(&mut self, insert: &pg::InsertStmt) -> Result<(Dml, Vec<ResultColumn>)> {
        let ctes = match &insert.with_clause {
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let target = self.target(insert.relation.as_ref(), Change::Insert)?;
        let relation = target.relation.clone();
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
        let source = self.add_defaults(&target, &mut positions, source)?;
        let on_conflict = match &insert.on_conflict_clause {
            Some(clause) => self.on_conflict(clause, &target)?,
            None => None,
        };
        let checks = target.checks();
        let Target { id, entry, rows: view, .. } = target;
        let scope = Scope { entries: vec![entry], clause: Clause::Returning, ..Scope::default() };
        let (returning, results) = self.returning(insert.returning_clause.as_ref(), scope)?;
        let dml = Dml {
            ctes,
            target: relation,
            id,
            view,
            action: DmlAction::Insert { columns: positions, source, on_conflict },
            checks,
            returning,
            columns: outputs(&results),
        };
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
        let refuse = |detail: String| {
            crate::Error::new(
                Condition::GeneratedAlways,
                format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name),
            )
            .detail(detail)
        };
        if column.generated.is_some() {
            return Err(refuse(format!("Column \"{}\" is a generated column.", column.name)));
        }
        if column.identity.as_ref().is_some_and(|identity| identity.always)
            && overriding != OverridingKind::OverridingSystemValue
        {
            return Err(refuse(format!(
                "Column \"{}\" is an identity column defined as GENERATED ALWAYS.",
                column.name
            ))
            .hint("Use OVERRIDING SYSTEM VALUE to override."));
        }
        Ok(())
    }

    pub(super) fn insert_values(
        &mut self,
        target: &Target,
        select: &pg::SelectStmt,
        columns: &mut Given<'_>,
        overriding: OverridingKind,
    ) -> Result<InsertSource> {
        let relation = &*target.relation;
        let mut rows = Vec::with_capacity(select.values_lists.len());
        let mut native = left_to_the_back_end(select);
        if relation.takes_rows(TriggerEvent::Insert) {
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
                Some(width) if width != list.items.len() => {
                    return Err(self.error(
                        Condition::SyntaxError,
                        "VALUES lists must all be the same length",
                        list.items.first().map_or(-1, location),
                    ));
                }
                Some(_) => {}
            }
            let scope = Scope { clause: Clause::Values, ..Scope::default() };
            let (row, _) = self.with_scope(scope, |binder| {
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
                    if matches!(node.node, Some(N::SetToDefault(_))) || user_value {
                        let native = column.identity.is_some() || native.get(at).copied().unwrap_or(false);
                        row.push(binder.target_default(target, *position, native, place)?);
                    } else {
                        Self::check_given(column, overriding)?;
                        let value = binder.expr(node)?;
                        row.push(binder.stored_value(value, column, place)?);
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

    fn insert_query(
        &mut self,
        relation: &Relation,
        select: &pg::SelectStmt,
        columns: &mut Given<'_>,
        overriding: OverridingKind,
    ) -> Result<InsertSource> {
        let bound = self.subquery(select, false)?;
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
            if !Self::assignable(&result.ty, &ty) {
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
        let mut bound = self.coerce_columns(bound, &wanted, CastContext::Assignment, &[])?;
        if overriding == OverridingKind::OverridingUserValue {
            bound = self.with_own_numbers(relation, bound, columns, &mut wanted)?;
        }
        let declared: Vec<Type> = columns.iter().map(|(position, _)| relation.columns[*position].ty.clone()).collect();
        if declared != wanted {
            bound = self.wrap(bound);
            if let crate::ir::Body::Select(select) = &mut bound.query.body {
                for ((item, column), ty) in select.items.iter_mut().zip(&mut bound.query.columns).zip(declared) {
                    *item = item.clone().cast(ty.clone(), CastContext::Assignment);
                    column.ty = ty;
                }
            }
        }
        Ok(InsertSource::Query(Box::new(bound.query)))
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
        let mut bound = self.wrap(bound);
        for (at, (position, place)) in columns.iter().enumerate() {
            let column = &relation.columns[*position];
            let value = match &column.identity {
                None => continue,
                Some(identity) if identity.sequence.is_some() => {
                    self.default_value(relation, *position, false, *place)?
                }
                // SQLite's rowid numbers what is NULL.
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
        let relation = &*target.relation;
        // A trigger sees the row before it is written.
        let shown = relation.takes_rows(TriggerEvent::Insert);
        let mut added = Vec::new();
        for (position, column) in relation.columns.iter().enumerate() {
            if positions.contains(&position) || column.generated.is_some() {
                continue;
            }
            let ours = match (&column.identity, &column.default) {
                (Some(identity), _) => identity.sequence.is_some(),
                (None, Some(default)) => shown || !default.native,
                (None, None) => false,
            };
            if ours || target.view_default(position).is_some() {
                added.push((position, self.target_default(target, position, !shown, -1)?));
            }
        }
        if added.is_empty() {
            return Ok(source);
        }
        positions.extend(added.iter().map(|(position, _)| *position));
        let values: Vec<Expr> = added.into_iter().map(|(_, value)| value).collect();
        Ok(match source {
            InsertSource::Defaults => InsertSource::Values(vec![values]),
            InsertSource::Values(mut rows) => {
                for row in &mut rows {
                    row.extend(values.iter().cloned());
                }
                InsertSource::Values(rows)
            }
            InsertSource::Query(query) => {
                let columns: Vec<ResultColumn> = query
                    .columns
                    .iter()
                    .map(|column| super::binder::computed(column.name.clone(), column.ty.clone()))
                    .collect();
                let bound = super::binder::BoundQuery { query: *query, columns, places: Vec::new() };
                let mut bound = self.wrap(bound);
                self.keep_order(&mut bound.query);
                if let crate::ir::Body::Select(select) = &mut bound.query.body {
                    for value in values {
                        bound
                            .query
                            .columns
                            .push(crate::ir::OutputColumn { name: "?column?".to_owned(), ty: value.ty.clone() });
                        select.items.push(value);
                    }
                }
                InsertSource::Query(Box::new(bound.query))
            }
        })
    }

    /// Sequences number the rows of a sorted query in its order: they are sorted before anything is added to them.
    fn keep_order(&mut self, query: &mut crate::ir::Query) {
        use crate::ir::{Body, Cte, CteBody, From};
        let Body::Select(select) = &mut query.body else { return };
        match select.from.take() {
            Some(From::Query { id, query: sorted, lateral: false }) if !sorted.order_by.is_empty() => {
                let (cte, columns) = (self.ids.cte(), sorted.columns.clone());
                query.ctes.push(Cte {
                    name: "sorted".to_owned(),
                    id: cte,
                    recursive: false,
                    materialized: Some(true),
                    body: CteBody::Query(sorted),
                    columns: columns.clone(),
                });
                select.from = Some(From::Cte { id, cte, columns });
            }
            from => select.from = from,
        }
    }

    fn on_conflict(&mut self, clause: &pg::OnConflictClause, target: &Target) -> Result<Option<OnConflict>> {
        let update = match clause.action() {
            OnConflictAction::OnconflictUpdate => true,
            OnConflictAction::OnconflictNothing => false,
            _ => return Ok(None),
        };
        let index = match clause.infer.as_deref() {
            Some(infer) => Some(self.infer_index(infer, target)?),
            None if update => {
                return Err(self
                    .error(
                        Condition::SyntaxError,
                        "ON CONFLICT DO UPDATE requires inference specification or constraint name",
                        clause.location,
                    )
                    .hint("For example, ON CONFLICT (column_name)."));
            }
            None => None,
        };
        if !update {
            return Ok(Some(OnConflict { index, action: ConflictAction::Nothing }));
        }
        self.needs.require(target.id, Privileges::UPDATE);
        let excluded = self.ids.relation();
        let proposed = target.excluded(excluded);
        let scope = Scope { entries: vec![target.entry.clone(), proposed], clause: Clause::Update, ..Scope::default() };
        let ((assignments, filter), _) = self.with_scope(scope, |binder| {
            let assignments = binder.assignments(&clause.target_list, target, Change::Insert)?;
            let filter = match clause.where_clause.as_deref() {
                Some(node) => Some(binder.within(Clause::Where, |binder| {
                    let (filter, at) = binder.placed(node)?;
                    binder.condition(filter, "WHERE", at)
                })?),
                None => None,
            };
            Ok((assignments, filter))
        })?;
        Ok(Some(OnConflict { index, action: ConflictAction::Update { excluded, assignments, filter } }))
    }

    /// The unique index that ON CONFLICT (…) means.
    fn infer_index(&mut self, infer: &pg::InferClause, target: &Target) -> Result<usize> {
        let (relation, entry) = (&target.relation, &target.entry);
        if !infer.conname.is_empty() {
            let found = relation
                .indexes
                .iter()
                .position(|index| index.name == infer.conname && index.unique && index.constraint);
            if let Some(at) = found {
                let columns: Vec<usize> = relation.indexes[at].columns.iter().flatten().copied().collect();
                self.read_target(target, columns.into_iter());
            }
            return found.ok_or_else(|| {
                self.error(
                    Condition::UndefinedObject,
                    format!("constraint \"{}\" for table \"{}\" does not exist", infer.conname, relation.name),
                    infer.location,
                )
            });
        }
        let mut wanted: Vec<usize> = Vec::new();
        let mut expressions: Vec<String> = Vec::new();
        for node in &infer.index_elems {
            let Some(N::IndexElem(element)) = &node.node else { continue };
            if element.name.is_empty() {
                let Some(expr) = element.expr.as_deref() else { continue };
                let scope = Scope { entries: vec![entry.clone()], clause: Clause::Index, ..Scope::default() };
                self.with_scope(scope, |binder| binder.expr(expr))?;
                expressions.push(normal_text(&raw::print_expression(expr).unwrap_or_default()));
            } else {
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
        expressions.sort();
        let predicate = infer.where_clause.as_deref().and_then(raw::print_expression).map(|text| normal_text(&text));
        let found = relation.indexes.iter().position(|index| {
            let mut columns: Vec<usize> = index.columns.iter().flatten().copied().collect();
            columns.sort_unstable();
            let mut others: Vec<String> = index
                .columns
                .iter()
                .zip(&index.keys)
                .filter(|(column, _)| column.is_none())
                .map(|(_, key)| printed(&key.text))
                .collect();
            others.sort();
            let fits = match &index.predicate {
                None => true,
                Some(text) => predicate.as_deref() == Some(printed(text).as_str()),
            };
            index.unique && columns == wanted && others == expressions && fits
        });
        found.ok_or_else(|| {
            self.error(
                Condition::InvalidColumnReference,
                "there is no unique or exclusion constraint matching the ON CONFLICT specification",
                -1,
            )
        })
    }

    /// SET column = value, …
    pub(super) fn assignments(
        &mut self,
        nodes: &[Node],
        changed: &Target,
        change: Change,
    ) -> Result<Vec<(usize, Expr)>> {
        let relation = &*changed.relation;
        let mut assignments: Vec<(usize, Expr)> = Vec::with_capacity(nodes.len());
        let mut in_parts = Vec::new();
        for node in nodes {
            let Some(N::ResTarget(target)) = &node.node else { continue };
            let place = target.location;
            let position = self.target_column(changed, &target.name, change, place)?;
            let part = !target.indirection.is_empty();
            let earlier = assignments.iter().position(|(known, _)| *known == position);
            // Several parts of one column may be assigned, but no part beside the whole.
            if earlier.is_some() && !(part && in_parts.contains(&position)) {
                return Err(changed.assigned_twice(position));
            }
            let column = &relation.columns[position];
            let Some(node) = target.val.as_deref() else { continue };
            let node = match &node.node {
                // (a, b) = (x, y)
                Some(N::MultiAssignRef(multiple)) => match multiple.source.as_deref().map(|node| &node.node) {
                    Some(Some(N::RowExpr(row))) => {
                        if row.args.len() != multiple.ncolumns as usize {
                            return Err(self.error(
                                Condition::SyntaxError,
                                "number of columns does not match number of values",
                                place,
                            ));
                        }
                        match row.args.get((multiple.colno - 1).max(0) as usize) {
                            Some(node) => node,
                            None => return Err(crate::Error::internal("a row assignment lacks a value")),
                        }
                    }
                    Some(Some(N::SubLink(_))) => {
                        return Err(self.unsupported("assigning a row from a subquery", place));
                    }
                    Some(Some(_)) if multiple.ncolumns == 1 => match multiple.source.as_deref() {
                        Some(node) => node,
                        None => return Err(crate::Error::internal("a row assignment lacks its source")),
                    },
                    _ => {
                        return Err(self.error(
                            Condition::FeatureNotSupported,
                            "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression",
                            place,
                        ));
                    }
                },
                _ => node,
            };
            let is_default = matches!(node.node, Some(N::SetToDefault(_)));
            let computed = column.generated.is_some() || column.identity.as_ref().is_some_and(|i| i.always);
            if computed && !is_default {
                let detail = if column.generated.is_some() {
                    format!("Column \"{}\" is a generated column.", column.name)
                } else {
                    format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name)
                };
                return Err(self
                    .error(
                        Condition::GeneratedAlways,
                        format!("column \"{}\" can only be updated to DEFAULT", column.name),
                        place,
                    )
                    .detail(detail));
            }
            if is_default && column.generated.is_some() {
                continue;
            }
            if part {
                if is_default {
                    return Err(self.error(
                        Condition::FeatureNotSupported,
                        "cannot set an array element to DEFAULT",
                        place,
                    ));
                }
                in_parts.push(position);
                let value = self.expr(node)?;
                let whole = match earlier {
                    Some(earlier) => assignments.remove(earlier).1,
                    None => Expr::column(changed.id, position, column.ty.clone()),
                };
                let at = (place, location(node));
                let whole = self.part_assigned(whole, &column.name, &target.indirection, value, at)?;
                assignments.push((position, whole));
                continue;
            }
            let value = if is_default {
                self.target_default(changed, position, false, place)?
            } else {
                let value = self.expr(node)?;
                self.stored_value(value, column, location(node))?
            };
            assignments.push((position, value));
        }
        self.change_columns(changed, assignments.iter().map(|(position, _)| *position), false);
        Ok(assignments)
    }

    /// The statement's condition with that of the view that it goes through.
    fn filtered(&self, target: &Target, filter: Option<Expr>, by_cursor: bool) -> Result<Option<Expr>> {
        if by_cursor && target.is_view() {
            return Err(self.unsupported("WHERE CURRENT OF on a view", -1));
        }
        Ok(target.filtered(filter))
    }

    /// WHERE, or WHERE CURRENT OF a cursor.
    fn dml_filter(&mut self, node: Option<&Node>) -> Result<(Option<Expr>, Option<String>)> {
        match node.map(|node| (&node.node, node)) {
            None => Ok((None, None)),
            Some((Some(N::CurrentOfExpr(current)), _)) => Ok((None, Some(current.cursor_name.clone()))),
            Some((_, node)) => {
                let filter = self.within(Clause::Where, |binder| {
                    let (filter, at) = binder.placed(node)?;
                    binder.condition(filter, "WHERE", at)
                })?;
                Ok((Some(filter), None))
            }
        }
    }

    fn update(&mut self, update: &pg::UpdateStmt) -> Result<(Dml, Vec<ResultColumn>)> {
        let ctes = match &update.with_clause {
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let target = self.target(update.relation.as_ref(), Change::Update)?;
        let (from, others) = self.bind_from(&update.from_clause)?;
        let mut entries = vec![target.entry.clone()];
        let at = update.from_clause.first().cloned().unwrap_or_default();
        self.merge_entries(&mut entries, others, &at)?;
        let scope = Scope { entries, clause: Clause::Update, ..Scope::default() };
        let ((assignments, filter, current_of), scope) = self.with_scope(scope, |binder| {
            let assignments = binder.assignments(&update.target_list, &target, Change::Update)?;
            let (filter, current_of) = binder.dml_filter(update.where_clause.as_deref())?;
            Ok((assignments, filter, current_of))
        })?;
        let (returning, results) = self.returning(update.returning_clause.as_ref(), scope)?;
        let filter = self.filtered(&target, filter, current_of.is_some())?;
        let dml = Dml {
            ctes,
            checks: target.checks(),
            target: target.relation,
            id: target.id,
            view: target.rows,
            action: DmlAction::Update { assignments, from, filter, current_of },
            returning,
            columns: outputs(&results),
        };
        Ok((dml, results))
    }

    fn delete(&mut self, delete: &pg::DeleteStmt) -> Result<(Dml, Vec<ResultColumn>)> {
        let ctes = match &delete.with_clause {
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let target = self.target(delete.relation.as_ref(), Change::Delete)?;
        let (using, others) = self.bind_from(&delete.using_clause)?;
        let mut entries = vec![target.entry.clone()];
        let at = delete.using_clause.first().cloned().unwrap_or_default();
        self.merge_entries(&mut entries, others, &at)?;
        let scope = Scope { entries, clause: Clause::Where, ..Scope::default() };
        let ((filter, current_of), scope) =
            self.with_scope(scope, |binder| binder.dml_filter(delete.where_clause.as_deref()))?;
        let (returning, results) = self.returning(delete.returning_clause.as_ref(), scope)?;
        let filter = self.filtered(&target, filter, current_of.is_some())?;
        let dml = Dml {
            ctes,
            target: target.relation,
            id: target.id,
            view: target.rows,
            action: DmlAction::Delete { using, filter, current_of },
            checks: Vec::new(),
            returning,
            columns: outputs(&results),
        };
        Ok((dml, results))
    }

    fn returning(
        &mut self,
        clause: Option<&pg::ReturningClause>,
        mut scope: Scope,
    ) -> Result<(Vec<Expr>, Vec<ResultColumn>)> {
        let Some(clause) = clause else { return Ok((Vec::new(), Vec::new())) };
        if !clause.options.is_empty() {
            return Err(self.unsupported("RETURNING WITH", -1));
        }
        scope.clause = Clause::Returning;
        let (targets, _) = self.with_scope(scope, |binder| {
            let mut targets = binder.targets(&clause.exprs)?;
            for target in &mut targets {
                if target.expr.ty == Type::Unknown {
                    target.expr = binder.settle(target.expr.clone(), target.place)?;
                    target.column.ty = Type::Text;
                }
            }
            Ok(targets)
        })?;
        Ok(targets.into_iter().map(|target| (target.expr, target.column)).unzip())
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

/// An expression's text in one spelling, for comparison.
fn printed(text: &str) -> String {
    let statements = raw::parse(&format!("SELECT {text}")).ok();
    let value = statements.and_then(|statements| match &*statements.first()?.tree {
        N::SelectStmt(select) => match select.target_list.first()?.node.as_ref()? {
            N::ResTarget(target) => raw::print_expression(target.val.as_deref()?),
            _ => None,
        },
        _ => None,
    });
    normal_text(&value.unwrap_or_else(|| text.to_owned()))
}

/// Without the parentheses around the whole.
fn normal_text(text: &str) -> String {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        let mut depth = 0_i32;
        let balanced = inner.chars().all(|character| {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth >= 0
        });
        if !balanced {
            break;
        }
        text = inner.trim();
    }
    text.to_owned()
}
