//! The walk over statements and queries.

use super::checks::{check_call, check_key};
use super::{
    Derived, Named, Walk, arrays, columns_of, is_array_of_blank_padded, mismatch, of_outputs, recursive_mismatch,
    result, wrap,
};
use crate::collation::Collation;
use crate::ir::{
    Body, CollateRole, ConflictAction, CreateTableAs, CteBody, Distinct, Dml, DmlAction, Expr, ExprKind, From, GroupBy,
    InsertSource, Merge, OutputColumn, Query, SetOp, SortKey, Statement,
};
use crate::postgres::types;
use crate::stored_calls::{ROWS, tell_collation};
use crate::{Condition, Error, Result, Type};

impl Walk<'_, '_> {
    pub(super) fn statement(&mut self, statement: &mut Statement) -> Result<()> {
        match statement {
            Statement::Query(query) | Statement::DeclareCursor { query, .. } => self.query(query).map(drop),
            Statement::Dml(dml) => self.dml(dml).map(drop),
            Statement::RefreshView(refresh) => match &mut refresh.query {
                Some(query) => self.query(query).map(drop),
                None => Ok(()),
            },
            Statement::CreateTableAs(table) => {
                let columns = self.query(&mut table.query)?;
                let undecided = |(column, derived): &(&OutputColumn, &Derived)| {
                    Collation::of_type(&column.ty).is_some() && derived.known().is_none()
                };
                match table.query.columns.iter().zip(&columns).find(undecided) {
                    Some((column, _)) => {
                        let (name, ty) = (&column.name, types::words(&column.ty));
                        let message =
                            format!("no collation was derived for column \"{name}\" with collatable type {ty}");
                        Err(Error::new(Condition::IndeterminateCollation, message)
                            .hint("Use the COLLATE clause to set the collation explicitly."))
                    }
                    None => {
                        let CreateTableAs { table, .. } = &mut **table;
                        for (column, derived) in table.columns.iter_mut().zip(&columns) {
                            let own = Collation::of_type(&column.ty);
                            let told =
                                |named: &&Named| Some(*named) != own || Collation::of_domain(&column.ty).is_some();
                            column.collation = derived.known().filter(told).cloned();
                            if let Some(named) = &column.collation {
                                let property = crate::collation::PROPERTY.to_owned();
                                table.properties.push((column.name.clone(), property, named.property()));
                            }
                        }
                        Ok(())
                    }
                }
            }
            Statement::Rewritten(rewritten) => {
                rewritten.parts.iter_mut().try_for_each(|part| self.statement(&mut part.statement))
            }
            Statement::Explain(explain) => self.statement(&mut explain.statement),
            Statement::Merge(merge) => self.merge(merge),
            Statement::CallProcedure(call) => {
                let Some(query) = &mut call.args else { return Ok(()) };
                let mut derived = Derived::None;
                for arg in self.query(query)? {
                    derived = self.merged(derived, arg)?;
                }
                if let Some(collation) = derived.known().filter(|collation| collation.is_unicode()) {
                    call.standing = Some(call.standing.take().unwrap_or_default().in_collation(collation.oid));
                }
                Ok(())
            }
            Statement::Copy(copy) => {
                copy.to.as_mut().map_or(Ok(()), |query| self.query(query).map(drop))?;
                copy.from.as_mut().map_or(Ok(()), |dml| self.dml(dml).map(drop))
            }
            _ => Ok(()),
        }
    }

    fn merge(&mut self, merge: &mut Merge) -> Result<()> {
        for cte in &mut merge.ctes {
            let columns = self.cte_body(&mut cte.body)?;
            self.ctes.insert(cte.id, columns);
        }
        self.relations.insert(merge.id, columns_of(&merge.target));
        if let Some(family) = &mut merge.family {
            self.from(&mut family.rows)?;
        }
        self.from(&mut merge.source)?;
        let mut conditions = merge.visible.iter_mut().chain(&mut merge.on);
        conditions.try_for_each(|condition| self.expr(condition).map(drop))?;
        for clause in &mut merge.clauses {
            clause.condition.iter_mut().try_for_each(|condition| self.expr(condition).map(drop))?;
            clause.change.iter_mut().try_for_each(|dml| self.dml(dml).map(drop))?;
        }
        Ok(())
    }

    pub(super) fn cte_body(&mut self, body: &mut CteBody) -> Result<Vec<Derived>> {
        match body {
            CteBody::Query(query) => self.query(query),
            CteBody::Dml(dml) => self.dml(dml),
        }
    }

    /// A statement that changes rows: the collations of what it returns.
    pub(super) fn dml(&mut self, dml: &mut Dml) -> Result<Vec<Derived>> {
        for cte in &mut dml.ctes {
            let columns = self.cte_body(&mut cte.body)?;
            self.ctes.insert(cte.id, columns);
        }
        self.relations.insert(dml.id, columns_of(&dml.target));
        if let Some(view) = &mut dml.view {
            self.from(view)?;
        }
        match &mut dml.action {
            DmlAction::Insert { source, on_conflict, .. } => {
                match source {
                    InsertSource::Values(rows) => {
                        rows.iter_mut().flatten().try_for_each(|value| self.expr(value).map(drop))?;
                    }
                    InsertSource::Query(query) => drop(self.query(query)?),
                    InsertSource::Defaults => {}
                }
                if let Some(conflict) = on_conflict
                    && let ConflictAction::Update { assignments, filter, .. } = &mut conflict.action
                {
                    assignments.iter_mut().try_for_each(|(_, value)| self.expr(value).map(drop))?;
                    filter.iter_mut().try_for_each(|filter| self.expr(filter).map(drop))?;
                }
            }
            DmlAction::Update { assignments, from, filter, .. } => {
                from.iter_mut().try_for_each(|from| self.from(from))?;
                assignments.iter_mut().try_for_each(|(_, value)| self.expr(value).map(drop))?;
                filter.iter_mut().try_for_each(|filter| self.expr(filter).map(drop))?;
            }
            DmlAction::Delete { using, filter, .. } => {
                using.iter_mut().try_for_each(|from| self.from(from))?;
                filter.iter_mut().try_for_each(|filter| self.expr(filter).map(drop))?;
            }
        }
        dml.checks.iter_mut().try_for_each(|check| self.expr(&mut check.condition).map(drop))?;
        if let Some(one_by_one) = &mut dml.one_by_one {
            one_by_one.order.iter_mut().try_for_each(|key| self.expr(&mut key.expr).map(drop))?;
        }
        if let Some(guards) = &mut dml.guards {
            let all = guards.inserted.iter_mut().chain(&mut guards.updated).chain(&mut guards.met);
            all.chain(&mut guards.deleted).try_for_each(|guard| self.expr(&mut guard.condition).map(drop))?;
        }
        dml.returning.iter_mut().map(|item| Ok(self.expr(item)?.passed_on())).collect()
    }

    /// A query: the collations of its columns, for those who see no more of it.
    pub(super) fn query(&mut self, query: &mut Query) -> Result<Vec<Derived>> {
        Ok(self.columns(query)?.into_iter().map(Derived::passed_on).collect())
    }

    /// The same as it is written: a set operation sees COLLATE in its members.
    pub(super) fn columns(&mut self, query: &mut Query) -> Result<Vec<Derived>> {
        for cte in &mut query.ctes {
            // Inside itself it has those of its types.
            self.ctes.insert(cte.id, of_outputs(&cte.columns));
            self.recursive = cte.recursive.then(|| (cte.id, cte.name.clone()));
            let columns = self.cte_body(&mut cte.body)?;
            self.ctes.insert(cte.id, columns);
        }
        let columns = match &mut query.body {
            Body::Select(select) => {
                if let Some(from) = &mut select.from {
                    self.from(from)?;
                }
                select.filter.iter_mut().try_for_each(|filter| self.expr(filter).map(drop))?;
                match &mut select.group_by {
                    GroupBy::None => {}
                    GroupBy::Keys(keys) | GroupBy::Sets { keys, .. } => {
                        keys.iter_mut().try_for_each(|key| self.alike(key))?;
                    }
                }
                let items = select.items.iter_mut().map(|item| self.expr(item)).collect::<Result<Vec<_>>>()?;
                select.having.iter_mut().try_for_each(|having| self.expr(having).map(drop))?;
                if matches!(select.distinct, Distinct::Rows) {
                    items.iter().try_for_each(check_key)?;
                    for (item, derived) in select.items.iter_mut().zip(&items) {
                        self.tell_apart(item, derived)?;
                    }
                }
                self.relations.insert(query.output, items.clone());
                if let Distinct::On(keys) = &mut select.distinct {
                    keys.iter_mut().try_for_each(|key| self.key(key))?;
                }
                items
            }
            Body::Set { op, all, left, right } => {
                let both = self.set(*op, *all, left, right)?;
                self.relations.insert(query.output, both.clone());
                both
            }
            Body::Values(rows) => {
                let mut columns = vec![Derived::None; query.columns.len()];
                for row in rows {
                    for (column, value) in columns.iter_mut().zip(row) {
                        let value = self.expr(value)?;
                        *column = self.merged(std::mem::replace(column, Derived::None), value)?;
                    }
                }
                self.relations.insert(query.output, columns.clone());
                columns
            }
        };
        let distinct = matches!(&query.body, Body::Select(select) if !matches!(select.distinct, Distinct::All));
        if !distinct && !matches!(query.body, Body::Set { .. }) {
            self.apart(&mut query.order_by);
        }
        query.order_by.iter_mut().try_for_each(|key| self.sort_key(key))?;
        Ok(columns)
    }

    /// The columns of a set operation.
    pub(super) fn set(&mut self, op: SetOp, all: bool, left: &mut Query, right: &mut Query) -> Result<Vec<Derived>> {
        let compares = !all || op != SetOp::Union;
        let recursive = self.recursive.take();
        let lefts = self.columns(left)?;
        if let Some((id, _)) = &recursive {
            self.ctes.insert(*id, lefts.iter().cloned().map(Derived::passed_on).collect());
        }
        let rights = self.columns(right)?;
        let first: Vec<Option<Named>> = lefts.iter().map(|left| left.known().cloned()).collect();
        let mut both = Vec::with_capacity(lefts.len());
        for (at, (one, other)) in lefts.into_iter().zip(rights).enumerate() {
            let derived = self.merged(one, other)?;
            if let (Some((_, name)), Some(first), Some(overall)) = (&recursive, &first[at], derived.known())
                && first != overall
            {
                return Err(recursive_mismatch(name, at + 1, first, overall));
            }
            match &derived {
                Derived::Conflict(a, b) if compares => return Err(mismatch(a, b)),
                Derived::Implicit(collation) | Derived::Explicit(collation, _) => {
                    let by_order = compares && !collation.deterministic;
                    if by_order && all {
                        let what = "INTERSECT ALL or EXCEPT ALL in a nondeterministic collation";
                        return Err(Error::unsupported(what));
                    }
                    self.order_first_member(left, at, collation, by_order)?;
                }
                Derived::Conflict(..) | Derived::None => {}
            }
            both.push(derived.passed_on());
        }
        Ok(both)
    }

    /// The back end compares the rows of all members in the order of the first one's columns.
    pub(super) fn order_first_member(
        &self,
        query: &mut Query,
        at: usize,
        collation: &Named,
        by_order: bool,
    ) -> Result<()> {
        match &mut query.body {
            Body::Set { left, .. } => self.order_first_member(left, at, collation, by_order),
            Body::Select(select) => {
                let Some(item) = select.items.get_mut(at) else { return Ok(()) };
                let own = self.own_order(item);
                if !by_order && own.as_ref().is_none_or(|own| own == collation) {
                    return Ok(());
                }
                match &item.kind {
                    ExprKind::Collate { collation: known, role: CollateRole::Operand { .. }, .. } => {
                        if known == collation {
                            return Ok(());
                        }
                        Err(Error::unsupported("set operations in different collations, one in the other"))
                    }
                    _ if is_array_of_blank_padded(&item.ty) => Err(arrays(collation)),
                    _ => {
                        wrap(item, collation, own.as_ref());
                        Ok(())
                    }
                }
            }
            Body::Values(_) if by_order => {
                Err(Error::unsupported("VALUES in UNION, INTERSECT or EXCEPT in a nondeterministic collation"))
            }
            Body::Values(_) => Ok(()),
        }
    }

    pub(super) fn from(&mut self, from: &mut From) -> Result<()> {
        match from {
            From::Relation { id, relation, filter } => {
                self.relations.insert(*id, columns_of(relation));
                filter.iter_mut().try_for_each(|filter| self.expr(filter).map(drop))
            }
            From::Query { id, query, .. } => {
                let columns = self.query(query)?;
                self.relations.insert(*id, columns);
                Ok(())
            }
            From::Kept { id, columns, .. } => {
                self.relations.insert(*id, of_outputs(columns));
                Ok(())
            }
            From::Cte { id, cte, columns } => {
                let columns = self.ctes.get(cte).cloned().unwrap_or_else(|| of_outputs(columns));
                self.relations.insert(*id, columns);
                Ok(())
            }
            From::Function { id, function, args, columns, .. } => {
                let function = *function;
                let mut derived = Derived::None;
                for arg in args.iter_mut() {
                    let arg = self.expr(arg)?;
                    derived = self.merged(derived, arg)?;
                }
                check_call(function, args, &derived)?;
                if function.name == ROWS
                    && let Some(collation) = derived.known().filter(|collation| collation.is_unicode())
                {
                    tell_collation(args, collation.oid);
                }
                let of = |column: &OutputColumn| result(derived.clone(), &column.ty).passed_on();
                self.relations.insert(*id, columns.iter().map(of).collect());
                Ok(())
            }
            From::Join { left, right, on, .. } => {
                self.from(left)?;
                self.from(right)?;
                on.iter_mut().try_for_each(|on| self.expr(on).map(drop))
            }
        }
    }

    /// Rows of which a member stands in another order than that of bytes are ordered member by member. A row without a
    /// name does not say the collations of its members.
    pub(super) fn apart(&self, keys: &mut Vec<SortKey>) {
        while let Some(at) = keys.iter().position(|key| self.ordered_member(&key.expr).is_some()) {
            let key = keys.remove(at);
            let ExprKind::Row(members) = key.expr.kind else { return };
            // A NULL in a row is greater than all values.
            let apart = members.into_iter().map(|expr| SortKey { expr, nulls_first: key.descending, ..key });
            keys.splice(at..at, apart.collect::<Vec<_>>());
        }
    }

    /// The collation of a member of a row without a name that stands in another order than that of bytes.
    pub(super) fn ordered_member(&self, expr: &Expr) -> Option<Named> {
        let ExprKind::Row(members) = &expr.kind else { return None };
        if expr.ty != Type::RECORD {
            return None;
        }
        members.iter().find_map(|member| match &member.kind {
            ExprKind::Collate { collation, .. } if collation.is_unicode() => Some(collation.clone()),
            _ => self.own_order(member).or_else(|| self.ordered_member(member)),
        })
    }
}
