//! What data-modifying statements share; UPDATE and DELETE. INSERT is [`super::insert`].

use pg_query::protobuf::{self as pg, Node, node::Node as N};

use super::binder::{Binder, Clause, Entry, Locker, Scope, outputs};
use super::expr::location;
use super::mysql::Clips;
use super::mysql::changes::{Counted, Said, called, is_beside};
use super::search_cycle::is_volatile;
use super::spread::is_star;
use super::target::{Change, Target};
use super::{raw, types};
use crate::bind::insert::{OwnValue, domain_default};
use crate::ir::{CastContext, ColumnIndex, CompareOp, Dml, DmlAction, Expr, ExprKind, OneByOne, Routing};
use crate::plan::ResultColumn;
use crate::schema::{Column, PolicyCommand, Relation};
use crate::{Condition, Language, Result, Type};

impl Binder<'_> {
    /// Binds a data-modifying statement; the columns are RETURNING's.
    pub(super) fn dml(&mut self, statement: &N) -> Result<(Dml, Vec<ResultColumn>)> {
        self.effects.writes = true;
        self.effects.reads = true;
        let visible = self.ctes.len();
        let clips = self.mysql_clips(statement);
        let clips = std::mem::replace(&mut self.clips, clips);
        let result = match statement {
            N::InsertStmt(insert) => self.insert(insert),
            N::UpdateStmt(update) => self.update(update),
            N::DeleteStmt(delete) => self.delete(delete),
            _ => Err(crate::Error::internal("not a data-modifying statement")),
        };
        self.ctes.truncate(visible);
        self.clips = clips;
        // Of documents MySQL tells the table, too.
        let table = match statement {
            N::InsertStmt(insert) => insert.relation.as_ref(),
            N::UpdateStmt(update) => update.relation.as_ref(),
            _ => None,
        };
        match table {
            Some(table) => result.map_err(|error| match error.mysql_code() == 3140 && error.table.is_none() {
                true => error.table(table.schemaname.as_str(), table.relname.as_str()),
                false => error,
            }),
            None => result,
        }
    }

    /// A value as it is stored in a column.
    pub(super) fn stored_value(&mut self, value: Expr, column: &Column, place: i32) -> Result<Expr> {
        let ty = types::import(&column.ty);
        let clips = self.clips;
        // What warns is called once a row, and yields the same for the same.
        let volatile = self.effects.volatile;
        let value = match clips {
            Some(clips) => self.mysql_fitting(value, column, clips, place)?,
            None => value,
        };
        let value = self.assign(value, &column.name, &ty, place)?;
        let value = match clips {
            Some(Clips { nulls: true, .. }) => self.mysql_not_null(value, column)?,
            _ => value,
        };
        self.effects.volatile = volatile;
        Ok(if ty == column.ty {
            value
        } else {
            Expr::new(ExprKind::Cast { arg: Box::new(value), context: CastContext::Assignment }, column.ty.clone())
        })
    }

    /// What DEFAULT means for a column. `native` allows leaving a native default to the back end.
    pub(super) fn default_value(
        &mut self,
        relation: &Relation,
        position: usize,
        native: bool,
        place: i32,
    ) -> Result<Expr> {
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
            Some(default) if default.native && native && !column.ty.is_constrained() => Ok(by_itself()),
            Some(default) => {
                let text = default.text.clone();
                if relation.language == Language::Informix {
                    let context = crate::informix::Context {
                        user: self.context.user.clone(),
                        database: self.context.database.clone(),
                        ..crate::informix::Context::default()
                    };
                    self.effects.volatile = true;
                    return crate::informix::expression(&text, self.schema, &context, relation, Some(&column.ty));
                }
                let value = self.stored(&text, relation.language, Vec::new(), Clause::Default)?;
                self.stored_value(value, column, -1)
            }
            None => match domain_default(&column.ty).map(str::to_owned) {
                Some(text) => {
                    let value = self.stored(&text, Language::Postgres, Vec::new(), Clause::Default)?;
                    self.stored_value(value, column, -1)
                }
                // It may be one that nobody here knows of; where there is none it is NULL there, too.
                None if self.context.defaults_there => Ok(by_itself()),
                None if column.ty.has_domain() => self.stored_value(Expr::null(Type::Unknown), column, -1),
                None => Ok(Expr::null(column.ty.clone())),
            },
        }
    }

    /// What DEFAULT means for a column of the table that a statement changes, perhaps through a view.
    pub(super) fn target_default(
        &mut self,
        target: &Target,
        position: usize,
        native: bool,
        place: i32,
    ) -> Result<Expr> {
        let column = &target.relation.columns[position];
        match target.view_default(position).filter(|_| column.generated.is_none()) {
            Some(text) => {
                let value = self.stored(text, Language::Postgres, Vec::new(), Clause::Default)?;
                self.stored_value(value, column, -1)
            }
            None => match self.first_of_enum(column) {
                Some(first) => self.stored_value(first, column, place),
                None => self.default_value(&target.relation, position, native, place),
            },
        }
    }

    /// MySQL's: the first of an ENUM's words is the default of a column that may not be NULL and has no other.
    fn first_of_enum(&self, column: &Column) -> Option<Expr> {
        let has_own = column.default.is_some() || column.identity.is_some() || column.generated.is_some();
        match super::mysql::position_function(&column.ty) {
            Some(("mysql_enum_number", words)) if self.is_mysql() && column.not_null && !has_own => {
                crate::values::mysql::members::labels(words).into_iter().next().map(Expr::text)
            }
            _ => None,
        }
    }

    /// The next number of a column's sequence.
    fn next_number(&mut self, sequence: &crate::schema::QualifiedName, column: &Column, place: i32) -> Result<Expr> {
        let Some(found) = self.schema.sequence(sequence) else {
            let message = format!("relation \"{sequence}\" does not exist");
            return Err(self.error(Condition::UndefinedTable, message, place));
        };
        let regclass = Expr::integer(i64::from(found.oid), Type::Reg(crate::types::Reg::Class));
        let mut next = self.call_named("nextval", vec![(regclass, place)], place)?;
        // Numbers of the sequence's type need no conversion into a column that holds them all.
        let ty = types::import(&column.ty);
        if holds_all(&ty, &found.ty) {
            next.ty = ty;
        }
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
        self.stored_node(value, language, entries, clause)
    }

    /// The same of its tree.
    pub(super) fn stored_node(
        &mut self,
        value: &Node,
        language: Language,
        entries: Vec<Entry>,
        clause: Clause,
    ) -> Result<Expr> {
        let source = self.source.take();
        let scopes = std::mem::take(&mut self.scopes);
        let rules = self.follow(language);
        let scope = Scope { entries, clause, ..Scope::default() };
        let result = self.with_scope(scope, |binder| binder.expr(value));
        self.follow(rules);
        self.scopes = scopes;
        self.source = source;
        Ok(result?.0)
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
        // MySQL's assignments see those left of them; whether each is another value at each call.
        let mut earlier_values: Vec<(usize, Expr, bool)> = Vec::new();
        for node in nodes {
            let Some(N::ResTarget(target)) = &node.node else { continue };
            let place = target.location;
            let position = self.target_column(changed, &target.name, change, place)?;
            let part = !target.indirection.is_empty();
            let earlier = assignments.iter().position(|(known, _)| *known == position);
            // Several parts of one column may be assigned, but no part beside the whole.
            // MySQL's later assignment reads what the earlier one has set, and takes its place.
            if earlier.is_some() && !(part && in_parts.contains(&position)) && !self.is_mysql() {
                return Err(changed.assigned_twice(position));
            }
            let column = &relation.columns[position];
            let Some(node) = target.val.as_deref() else { continue };
            let mut bound = None;
            let node = match &node.node {
                // (a, b) = (x, y)
                Some(N::MultiAssignRef(multiple)) => match multiple.source.as_deref().map(|node| &node.node) {
                    Some(Some(N::RowExpr(row))) if row.args.iter().any(is_star) => {
                        let mut members = self.row_members(&row.args)?;
                        if members.len() != multiple.ncolumns as usize {
                            return Err(self.error(
                                Condition::SyntaxError,
                                "number of columns does not match number of values",
                                place,
                            ));
                        }
                        bound = Some((members.swap_remove((multiple.colno - 1).max(0) as usize), row.location));
                        node
                    }
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
                    Some(Some(N::SubLink(link))) if link.sub_link_type() == pg::SubLinkType::ExprSublink => {
                        let at = (multiple.colno - 1).max(0) as usize;
                        bound = Some(self.column_of_row(link, at, multiple.ncolumns as usize, place)?);
                        node
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
            let says_default = matches!(node.node, Some(N::SetToDefault(_)));
            let is_default = says_default && !changed.default_is_null(position);
            if let Some(own) = OwnValue::of(column).filter(|_| !is_default) {
                let detail = super::insert::detail_of(own, column);
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
                if says_default {
                    return Err(self.error(
                        Condition::FeatureNotSupported,
                        "cannot set an array element to DEFAULT",
                        place,
                    ));
                }
                in_parts.push(position);
                let (value, at) = match bound {
                    Some((value, at)) => (value, at),
                    None => (self.expr(node)?, location(node)),
                };
                let whole = match earlier {
                    Some(earlier) => assignments.remove(earlier).1,
                    None => Expr::column(changed.id, position, column.ty.clone()),
                };
                let at = (place, at);
                let whole = self.part_assigned(whole, &column.name, &target.indirection, value, at)?;
                assignments.push((position, whole));
                continue;
            }
            let value = if is_default {
                let value = self.target_default(changed, position, false, place)?;
                if self.is_mysql() {
                    earlier_values.retain(|(known, ..)| *known != position);
                    // A server's own default is known to that server alone.
                    let unknown = is_volatile(&value) || matches!(value.kind, ExprKind::Default);
                    earlier_values.push((position, value.clone(), unknown));
                }
                value
            } else if says_default {
                self.stored_value(Expr::null(Type::Unknown), column, place)?
            } else if let Some((value, at)) = bound {
                self.stored_value(value, column, at)?
            } else if self.is_mysql() {
                let outer = std::mem::take(&mut self.effects.volatile);
                let mut value = self.expr(node)?;
                let volatile = std::mem::replace(&mut self.effects.volatile, outer);
                self.effects.volatile |= volatile;
                self.behind(&mut value, changed, &earlier_values)?;
                let value = self.stored_value(value, column, location(node))?;
                earlier_values.retain(|(known, ..)| *known != position);
                earlier_values.push((position, value.clone(), volatile));
                value
            } else {
                let value = self.expr(node)?;
                self.stored_value(value, column, location(node))?
            };
            if let Some(earlier) = earlier {
                assignments.remove(earlier);
            }
            assignments.push((position, value));
        }
        self.change_columns(changed, assignments.iter().map(|(position, _)| *position), false);
        if self.is_mysql() {
            self.mysql_renewed(changed.id, relation, &mut assignments)?;
        }
        Ok(assignments)
    }

    /// The statement's condition with that of the view that it goes through.
    fn filtered(
        &mut self,
        target: &Target,
        command: PolicyCommand,
        filter: Option<Expr>,
        cursor: Option<&str>,
    ) -> Result<Option<Expr>> {
        if cursor.is_some() && target.is_view() {
            let message = "WHERE CURRENT OF on a view is not implemented";
            return Err(crate::Error::new(Condition::FeatureNotSupported, message));
        }
        if let Some(cursor) = cursor {
            if target.family.is_some() {
                return Err(self.unsupported("WHERE CURRENT OF on a table that others inherit from", -1));
            }
            if target.relation.without_identity {
                return Err(self.unsupported("WHERE CURRENT OF in a table without rowid", -1));
            }
            // The engine knows the row when the statement runs; in a function by the name that a variable holds.
            let row = crate::ir::ColumnRef { relation: target.id, column: crate::ir::ColumnIndex::RowIdentity };
            let row = Expr::new(ExprKind::Column(row), Type::Int8);
            let function = crate::functions::internal("row of the cursor");
            let args = self.cursor_variable(cursor).into_iter().collect();
            let wanted = Expr::new(ExprKind::Call { function, args }, Type::Int8);
            let same = self.compare(CompareOp::Equal, (row, -1), (wanted, -1), -1)?;
            let policies = self.changeable_rows(target, command)?;
            return Ok(target.filtered(Some(same), policies, target.id));
        }
        let policies = self.changeable_rows(target, command)?;
        let again = self.ids.relation();
        Ok(target.filtered(filter, policies, again))
    }

    /// WHERE, or WHERE CURRENT OF a cursor.
    fn dml_filter(&mut self, node: Option<&Node>) -> Result<(Option<Expr>, Option<String>)> {
        match node.map(|node| (&node.node, node)) {
            None => Ok((None, None)),
            Some((Some(N::CurrentOfExpr(current)), _)) => Ok((None, Some(current.cursor_name.clone()))),
            Some((_, node)) => {
                let filter = self.within(Clause::Where, |binder| {
                    let (filter, at) = binder.placed(node)?;
                    let filter = binder.condition(filter, "WHERE", at)?;
                    if binder.is_mysql() { binder.mysql_narrowed(filter) } else { Ok(filter) }
                })?;
                Ok((Some(filter), None))
            }
        }
    }

    fn update(&mut self, update: &pg::UpdateStmt) -> Result<(Dml, Vec<ResultColumn>)> {
        if update.relation.is_none() && self.is_mysql() {
            let update = self.joined_update(update)?;
            return self.update(&update);
        }
        let said = Said::of(update.returning_clause.as_ref());
        let ctes = match &update.with_clause {
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let target = self.target(update.relation.as_ref(), Change::Update)?;
        if self.is_mysql() {
            self.check_changed_once(&ctes, &target.relation)?;
        }
        let (from, others) = self.bind_beside(&target.entry, &update.from_clause)?;
        let mut entries = vec![target.entry.clone()];
        let at = update.from_clause.first().cloned().unwrap_or_default();
        self.merge_entries(&mut entries, others, &at)?;
        let scope = Scope { entries, clause: Clause::Update, ..Scope::default() };
        let ((assignments, filter, current_of, order), scope) = self.with_scope(scope, |binder| {
            let outer = std::mem::take(&mut binder.effects.volatile);
            let assignments = binder.assignments(&update.target_list, &target, Change::Update)?;
            let volatile = std::mem::replace(&mut binder.effects.volatile, outer);
            binder.effects.volatile |= volatile;
            let (mut filter, current_of) = binder.dml_filter(update.where_clause.as_deref())?;
            // What is another value at each call changes each row.
            if binder.is_mysql() && !volatile && !target.is_view() {
                let counted = if is_beside(update) { Counted::Beside } else { Counted::Update };
                let changes = binder.changes_row(&target, &assignments, counted)?;
                filter = Some(match filter {
                    Some(filter) => Expr::new(ExprKind::And(vec![filter, changes]), Type::Bool),
                    None => changes,
                });
            }
            let order = binder.within(Clause::OrderBy, |binder| binder.mysql_order(&said))?;
            Ok((assignments, filter, current_of, order))
        })?;
        let moves = |(at, _): &(usize, Expr)| target.relation.columns[*at].row_identity;
        if current_of.is_some() && assignments.iter().any(moves) {
            return Err(self.unsupported("WHERE CURRENT OF in an UPDATE of the primary key", -1));
        }
        let (returning, results) = self.returning(update.returning_clause.as_ref(), scope)?;
        // Which row is changed first matters to keys alone.
        let is_assigned = |at: &usize| assignments.iter().any(|(assigned, _)| assigned == at);
        let mut keys = target.relation.indexes.iter().filter(|index| index.unique);
        let sorts = !order.is_empty() && keys.any(|index| index.columns.iter().flatten().any(is_assigned));
        let order = if sorts { order } else { Vec::new() };
        let one_by_one = self.one_by_one(&target, OneByOne { order, ignores: said.ignores, replaces: false })?;
        let parts = self.mysql_changed_partitions(&said, target.id, &target.relation)?;
        let (within, inside) = parts.unzip();
        let filter = within.into_iter().chain(filter).reduce(|a, b| Expr::new(ExprKind::And(vec![a, b]), Type::Bool));
        let filter = self.filtered(&target, PolicyCommand::Update, filter, current_of.as_deref())?;
        let guards = self.update_guards(&target)?;
        let routing = self.moving(&target, &assignments, current_of.is_some())?;
        let routing = routing.or_else(|| target.moved_by_triggers().filter(|_| current_of.is_none()));
        let mut target = target;
        self.prune(target.family.as_mut().map(|family| &mut family.rows), filter.as_ref())?;
        let dml = Dml {
            ctes,
            checks: inside.into_iter().chain(target.checks()).collect(),
            family: target.family,
            routing,
            heir: None,
            guards,
            target: target.relation,
            id: target.id,
            view: target.rows,
            action: DmlAction::Update { assignments, from, filter, current_of },
            one_by_one,
            returning,
            columns: outputs(&results),
        };
        if self.is_mysql() {
            self.check_not_read(&dml, update.relation.as_ref().map_or("", called), "UPDATE")?;
        }
        Ok((dml, results))
    }

    /// Where an UPDATE takes rows, where it can change by what they are parted.
    pub(super) fn moving(&self, target: &Target, set: &[(usize, Expr)], cursor: bool) -> Result<Option<Box<Routing>>> {
        let Some(routing) = &target.routing else { return Ok(None) };
        let mut moves = false;
        for key in &routing.keys {
            crate::ir::walk::expr(key, &mut |part| {
                if let ExprKind::Column(column) = part.kind
                    && column.relation == target.id
                {
                    moves |= set.iter().any(|(at, _)| column.column == ColumnIndex::At(*at));
                }
                true
            });
        }
        if moves && cursor {
            return Err(self.unsupported("WHERE CURRENT OF in an UPDATE of a partition key", -1));
        }
        Ok(moves.then(|| routing.clone()))
    }

    fn delete(&mut self, delete: &pg::DeleteStmt) -> Result<(Dml, Vec<ResultColumn>)> {
        let ctes = match &delete.with_clause {
            Some(with) => self.with_clause(with)?,
            None => Vec::new(),
        };
        let target = self.target(delete.relation.as_ref(), Change::Delete)?;
        let (using, others) = self.bind_beside(&target.entry, &delete.using_clause)?;
        let mut entries = vec![target.entry.clone()];
        let at = delete.using_clause.first().cloned().unwrap_or_default();
        self.merge_entries(&mut entries, others, &at)?;
        let scope = Scope { entries, clause: Clause::Where, ..Scope::default() };
        let ((filter, current_of), scope) =
            self.with_scope(scope, |binder| binder.dml_filter(delete.where_clause.as_deref()))?;
        let scope = Scope { lockers: Some((target.id, Locker::Own)), ..scope };
        let (returning, results) = self.returning(delete.returning_clause.as_ref(), scope)?;
        let said = Said::of(delete.returning_clause.as_ref());
        let ignores = said.ignores;
        let one_by_one = self.one_by_one(&target, OneByOne { ignores, ..OneByOne::default() })?;
        let within = self.mysql_changed_partitions(&said, target.id, &target.relation)?.map(|(within, _)| within);
        let filter = within.into_iter().chain(filter).reduce(|a, b| Expr::new(ExprKind::And(vec![a, b]), Type::Bool));
        let filter = self.filtered(&target, PolicyCommand::Delete, filter, current_of.as_deref())?;
        let mut target = target;
        self.prune(target.family.as_mut().map(|family| &mut family.rows), filter.as_ref())?;
        let dml = Dml {
            family: target.family,
            routing: None,
            heir: None,
            ctes,
            target: target.relation,
            id: target.id,
            view: target.rows,
            action: DmlAction::Delete { using, filter, current_of },
            checks: Vec::new(),
            guards: None,
            one_by_one,
            returning,
            columns: outputs(&results),
        };
        if self.is_mysql() {
            self.check_not_read(&dml, delete.relation.as_ref().map_or("", called), "DELETE")?;
        }
        Ok((dml, results))
    }

    pub(super) fn returning(
        &mut self,
        clause: Option<&pg::ReturningClause>,
        mut scope: Scope,
    ) -> Result<(Vec<Expr>, Vec<ResultColumn>)> {
        // MySQL has no RETURNING, but something to say in its place.
        let Some(clause) = clause.filter(|_| !self.is_mysql()) else { return Ok((Vec::new(), Vec::new())) };
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

/// True if each number of a type is one of another type.
fn holds_all(ty: &Type, given: &Type) -> bool {
    match given {
        Type::Int2 => matches!(ty, Type::Int2 | Type::Int4 | Type::Int8),
        Type::Int4 => matches!(ty, Type::Int4 | Type::Int8),
        _ => matches!((given, ty), (Type::Int8, Type::Int8)),
    }
}
