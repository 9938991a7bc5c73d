//! Which collation each comparison of a statement works under, by PostgreSQL's rules: an expression's collation is
//! named by COLLATE (explicit), or that of its columns and types (implicit); two explicit ones that differ are an error
//! where they meet, two implicit ones where somebody must know.
//!
//! The walk is made for statements that name a collation, or a table with a column that has one of its own; in all
//! others everything is compared by its bytes. What is compared under another order than its type's gets
//! an [`ExprKind::Collate`] of the role [`CollateRole::Operand`] around it, which the lowering obeys.

use std::collections::HashMap;
use std::sync::Arc;

use super::binder::Binder;
use crate::collation::Collation;
use crate::functions::{Function, FunctionKind};
use crate::ir::{
    Aggregate, Body, CollateRole, ColumnDefinition, ColumnIndex, ColumnRef, ConflictAction, CreateTableAs, CteBody,
    CteId, Distinct, Dml, DmlAction, Expr, ExprKind, From, GroupBy, InsertSource, LikeKind, OutputColumn, Place, Query,
    RelId, SetOp, SortKey, Statement, Text, WindowCall,
};
use crate::{Condition, Error, Result, Type};

type Named = Arc<Collation>;

/// How an expression came by its collation.
#[derive(Clone, Debug)]
enum Derived {
    /// It has none, or none that could be told.
    None,
    /// From columns or types.
    Implicit(Named),
    /// From columns or types that differ.
    Conflict(Named, Named),
    /// By COLLATE, which stands at this place.
    Explicit(Named, i32),
}

impl Derived {
    fn strength(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Implicit(_) => 1,
            Self::Conflict(..) => 2,
            Self::Explicit(..) => 3,
        }
    }

    /// The one that works.
    fn known(&self) -> Option<&Named> {
        match self {
            Self::Implicit(collation) | Self::Explicit(collation, _) => Some(collation),
            Self::None | Self::Conflict(..) => None,
        }
    }

    /// What an expression has whose value is passed on by a query: nobody sees any more how it was named.
    fn passed_on(self) -> Self {
        match self {
            Self::Explicit(collation, _) => Self::Implicit(collation),
            Self::Conflict(..) => Self::None,
            other => other,
        }
    }
}

/// What has been learnt on the way.
struct Walk<'b, 'a> {
    binder: &'b Binder<'a>,
    /// The collations of relations' columns.
    relations: HashMap<RelId, Vec<Derived>>,
    ctes: HashMap<CteId, Vec<Derived>>,
    /// The member of WITH whose body comes next and refers to itself.
    recursive: Option<(CteId, String)>,
    /// What the back end keeps: a column need not be told its own order there, so that nothing but its declaration is
    /// needed to check it.
    is_definition: bool,
}

impl Binder<'_> {
    /// Works out the collations of a statement.
    ///
    /// # Errors
    /// `42P21`, `42P22` and what is not there in another order than that of bytes.
    pub(super) fn derive_collations(&self, statement: &mut Statement) -> Result<()> {
        if !self.collated {
            return Ok(());
        }
        Walk { binder: self, relations: HashMap::new(), ctes: HashMap::new(), recursive: None, is_definition: false }
            .statement(statement)
    }

    /// The collations of a view's columns, where they are not those of their types.
    pub(super) fn collations_of_view(&self, query: &Query) -> Result<Vec<Option<Named>>> {
        if !self.collated {
            return Ok(vec![None; query.columns.len()]);
        }
        let (relations, ctes) = (HashMap::new(), HashMap::new());
        let mut walk = Walk { binder: self, relations, ctes, recursive: None, is_definition: false };
        let derived = walk.query(&mut query.clone())?;
        let columns = query.columns.iter().zip(derived).map(|(column, derived)| {
            let own = Collation::of_type(&column.ty);
            match derived.known() {
                None if own.is_some() => Err(indeterminate(&format!("view column \"{}\"", column.name))),
                known => Ok(known.filter(|known| Some(*known) != own).cloned()),
            }
        });
        columns.collect()
    }

    /// The same for an expression over the columns of relations; the collation that it has.
    pub(super) fn derive_collations_of(
        &self,
        expr: &mut Expr,
        scopes: &[(RelId, Arc<crate::schema::Relation>)],
    ) -> Result<Option<Named>> {
        if !self.collated {
            return Ok(None);
        }
        let relations = scopes.iter().map(|(id, relation)| (*id, columns_of(relation))).collect();
        let derived =
            Walk { binder: self, relations, ctes: HashMap::new(), recursive: None, is_definition: false }.expr(expr)?;
        Ok(derived.known().cloned())
    }

    /// The same for a domain's CHECK, over a value of the base type, whose collation it has.
    pub(super) fn derive_collations_over_value(&self, expr: &mut Expr, base: &Type) -> Result<()> {
        if !self.collated && !Collation::is_within(base) {
            return Ok(());
        }
        let relations = HashMap::from([(Text::TABLE, vec![of_type(base)])]);
        Walk { binder: self, relations, ctes: HashMap::new(), recursive: None, is_definition: false }
            .expr(expr)
            .map(drop)
    }

    /// The same for an expression of a table that is being defined, over its columns.
    pub(super) fn derive_collations_over(&self, expr: &mut Expr, columns: &[ColumnDefinition]) -> Result<()> {
        if !self.collated && columns.iter().all(|column| column.collation.is_none()) {
            return Ok(());
        }
        let of = |column: &ColumnDefinition| match &column.collation {
            Some(collation) => Derived::Implicit(collation.clone()),
            None => of_type(&column.ty),
        };
        let relations = HashMap::from([(Text::TABLE, columns.iter().map(of).collect())]);
        Walk { binder: self, relations, ctes: HashMap::new(), recursive: None, is_definition: true }
            .expr(expr)
            .map(drop)
    }
}

fn columns_of(relation: &crate::schema::Relation) -> Vec<Derived> {
    let of = |column: &crate::schema::Column| match &column.collation {
        Some(collation) => Derived::Implicit(collation.clone()),
        None => of_type(&column.ty),
    };
    relation.columns.iter().map(of).collect()
}

fn of_type(ty: &Type) -> Derived {
    Collation::of_type(ty).map_or(Derived::None, |collation| Derived::Implicit(collation.clone()))
}

fn of_outputs(columns: &[OutputColumn]) -> Vec<Derived> {
    columns.iter().map(|column| of_type(&column.ty)).collect()
}

fn indeterminate(what: &str) -> Error {
    Error::new(Condition::IndeterminateCollation, format!("could not determine which collation to use for {what}"))
        .hint("Use the COLLATE clause to set the collation explicitly.")
}

fn mismatch(a: &Collation, b: &Collation) -> Error {
    let message = format!("collation mismatch between implicit collations \"{}\" and \"{}\"", a.name, b.name);
    Error::new(Condition::CollationMismatch, message)
        .hint("You can choose the collation by applying the COLLATE clause to one or both expressions.")
}

fn recursive_mismatch(name: &str, column: usize, first: &Collation, overall: &Collation) -> Error {
    let message = format!(
        "recursive query \"{name}\" column {column} has collation \"{}\" in non-recursive term but collation \"{}\" overall",
        first.name, overall.name
    );
    Error::new(Condition::CollationMismatch, message)
        .hint("Use the COLLATE clause to set the collation of the non-recursive term.")
}

const COMPARISON: &str = "string comparison";

impl Walk<'_, '_> {
    fn statement(&mut self, statement: &mut Statement) -> Result<()> {
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
                        let (name, ty) = (&column.name, super::types::words(&column.ty));
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
            Statement::Explain(explain) => self.statement(&mut explain.statement),
            Statement::Merge(merge) => {
                self.query(&mut merge.rows)?;
                merge.actions.iter_mut().try_for_each(|dml| self.dml(dml).map(drop))
            }
            Statement::CallProcedure(call) => call.args.as_mut().map_or(Ok(()), |query| self.query(query).map(drop)),
            Statement::Copy(copy) => {
                copy.to.as_mut().map_or(Ok(()), |query| self.query(query).map(drop))?;
                copy.from.as_mut().map_or(Ok(()), |dml| self.dml(dml).map(drop))
            }
            _ => Ok(()),
        }
    }

    fn cte_body(&mut self, body: &mut CteBody) -> Result<Vec<Derived>> {
        match body {
            CteBody::Query(query) => self.query(query),
            CteBody::Dml(dml) => self.dml(dml),
        }
    }

    /// A statement that changes rows: the collations of what it returns.
    fn dml(&mut self, dml: &mut Dml) -> Result<Vec<Derived>> {
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
        if let Some(guards) = &mut dml.guards {
            let all = guards.inserted.iter_mut().chain(&mut guards.updated).chain(&mut guards.met);
            all.chain(&mut guards.deleted).try_for_each(|guard| self.expr(&mut guard.condition).map(drop))?;
        }
        dml.returning.iter_mut().map(|item| Ok(self.expr(item)?.passed_on())).collect()
    }

    /// A query: the collations of its columns, for those who see no more of it.
    fn query(&mut self, query: &mut Query) -> Result<Vec<Derived>> {
        Ok(self.columns(query)?.into_iter().map(Derived::passed_on).collect())
    }

    /// The same as it is written: a set operation sees COLLATE in its members.
    fn columns(&mut self, query: &mut Query) -> Result<Vec<Derived>> {
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
    fn set(&mut self, op: SetOp, all: bool, left: &mut Query, right: &mut Query) -> Result<Vec<Derived>> {
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
    fn order_first_member(&self, query: &mut Query, at: usize, collation: &Named, by_order: bool) -> Result<()> {
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

    fn from(&mut self, from: &mut From) -> Result<()> {
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
    fn apart(&self, keys: &mut Vec<SortKey>) {
        while let Some(at) = keys.iter().position(|key| self.ordered_member(&key.expr).is_some()) {
            let key = keys.remove(at);
            let ExprKind::Row(members) = key.expr.kind else { return };
            // A NULL in a row is greater than all values.
            let apart = members.into_iter().map(|expr| SortKey { expr, nulls_first: key.descending, ..key });
            keys.splice(at..at, apart.collect::<Vec<_>>());
        }
    }

    /// The collation of a member of a row without a name that stands in another order than that of bytes.
    fn ordered_member(&self, expr: &Expr) -> Option<Named> {
        let ExprKind::Row(members) = &expr.kind else { return None };
        if expr.ty != Type::RECORD {
            return None;
        }
        members.iter().find_map(|member| match &member.kind {
            ExprKind::Collate { collation, .. } if collation.is_unicode() => Some(collation.clone()),
            _ => self.own_order(member).or_else(|| self.ordered_member(member)),
        })
    }

    fn sort_key(&mut self, key: &mut SortKey) -> Result<()> {
        self.key(&mut key.expr)
    }

    /// What rows are ordered by.
    fn key(&mut self, expr: &mut Expr) -> Result<()> {
        let derived = self.expr(expr)?;
        check_key(&derived)?;
        self.apply(expr, &derived, COMPARISON)
    }

    /// What rows are grouped by.
    fn alike(&mut self, expr: &mut Expr) -> Result<()> {
        let derived = self.expr(expr)?;
        check_key(&derived)?;
        self.tell_apart(expr, &derived)
    }

    /// What must only be told apart: texts of different bytes are different, but where the collation is not deterministic.
    fn tell_apart(&self, expr: &mut Expr, derived: &Derived) -> Result<()> {
        match derived.known() {
            Some(collation)
                if !collation.deterministic || self.own_order(expr).is_some_and(|own| !own.deterministic) =>
            {
                self.apply(expr, derived, COMPARISON)
            }
            _ => Ok(()),
        }
    }

    /// Two expressions where they meet.
    fn merged(&self, left: Derived, right: Derived) -> Result<Derived> {
        Ok(match (left, right) {
            (Derived::Explicit(a, _), Derived::Explicit(b, at)) if a != b => {
                let message =
                    format!("collation mismatch between explicit collations \"{}\" and \"{}\"", a.name, b.name);
                return Err(self.binder.error(Condition::CollationMismatch, message, at));
            }
            (Derived::Implicit(a), Derived::Implicit(b)) if a != b => match (a.oid, b.oid) {
                (Collation::DEFAULT, _) => Derived::Implicit(b),
                (_, Collation::DEFAULT) => Derived::Implicit(a),
                _ => Derived::Conflict(a, b),
            },
            (left, right) => {
                if left.strength() >= right.strength() {
                    left
                } else {
                    right
                }
            }
        })
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e mut Expr>) -> Result<Derived> {
        let mut derived = Derived::None;
        for expr in exprs {
            let next = self.expr(expr)?;
            derived = self.merged(derived, next)?;
        }
        Ok(derived)
    }

    /// The collation that an expression has, after what it compares inside has been given its own.
    fn expr(&mut self, expr: &mut Expr) -> Result<Derived> {
        let derived = match &mut expr.kind {
            ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Rules(_) | ExprKind::Default => Derived::None,
            ExprKind::Column(column) => return Ok(self.column(*column, &expr.ty)),
            ExprKind::Collate { arg, collation, role, place } => {
                let inner = self.expr(arg)?;
                // A part that is met twice.
                if matches!(role, CollateRole::Operand { .. }) {
                    return Ok(inner);
                }
                let against_column = self.own_order(arg).is_some_and(|own| own != *collation);
                *role = CollateRole::Obeyed { against_column };
                return Ok(Derived::Explicit(collation.clone(), place.0));
            }
            ExprKind::Call { function, args } => {
                let function = *function;
                // What tells which function it is, is no argument of it.
                let told = if function.name == "stored function" { 2 } else { 0 };
                let derived = self.all(args.iter_mut().skip(told))?;
                if function.name == "field"
                    && let Some(field) = field_collation(args)
                {
                    return Ok(Derived::Implicit(field));
                }
                if function.name == "pg_collation_for" {
                    let ty = &args[0].ty;
                    if *ty != Type::Unknown && Collation::of_type(ty).is_none() {
                        let message = format!("collations are not supported by type {}", super::types::words(ty));
                        return Err(Error::new(Condition::DatatypeMismatch, message));
                    }
                    let name = derived.known().map(|collation| super::words::quote_ident(&collation.name));
                    *expr = name.map_or_else(|| Expr::null(Type::Text), Expr::text);
                    return Ok(of_type(&Type::Text));
                }
                check_call(function, args, &derived)?;
                if let ("lower" | "upper" | "initcap", Some(collation)) = (function.name, derived.known())
                    && (collation.knows_ascii_alone() || collation.is_unicode())
                {
                    args.iter_mut().for_each(|arg| wrap(arg, collation, None));
                }
                derived
            }
            ExprKind::Cast { arg, .. } | ExprKind::Checked { arg, .. } => {
                let inner = self.expr(arg)?;
                // A domain that names a collation is in it, whatever it is made of.
                match (&expr.ty, Collation::of_type(&expr.ty)) {
                    (Type::User(_), Some(own)) if own.oid != Collation::DEFAULT => Derived::Implicit(own.clone()),
                    _ => inner,
                }
            }
            ExprKind::Aggregate(aggregate) => self.aggregate(aggregate)?,
            ExprKind::Window(window) => self.window(window)?,
            ExprKind::Compare { left, right, .. }
            | ExprKind::Distinct { left, right, .. }
            | ExprKind::NullIf(left, right) => self.compare(left, right)?,
            ExprKind::And(members) | ExprKind::Or(members) => {
                members.iter_mut().try_for_each(|member| self.expr(member).map(drop))?;
                Derived::None
            }
            ExprKind::Not(arg) | ExprKind::IsNull { arg, .. } | ExprKind::IsTruth { arg, .. } => {
                self.expr(arg)?;
                Derived::None
            }
            ExprKind::Like { kind, text, pattern, escape, .. } => {
                let derived = self.all([&mut **text, &mut **pattern])?;
                escape.iter_mut().try_for_each(|escape| self.expr(escape).map(drop))?;
                let what = if *kind == LikeKind::ILike { "ILIKE" } else { "LIKE" };
                check_known(&text.ty, &derived, what)?;
                check_deterministic(&derived, what)?;
                if *kind == LikeKind::ILike {
                    check_letters(&derived, "ILIKE")?;
                }
                derived
            }
            ExprKind::InList { arg, list, .. } => {
                let derived = self.all(std::iter::once(&mut **arg).chain(list.iter_mut()))?;
                self.apply(arg, &derived, COMPARISON)?;
                derived
            }
            ExprKind::Case { branches, otherwise } => {
                for (condition, _) in branches.iter_mut() {
                    self.expr(condition)?;
                }
                self.all(branches.iter_mut().map(|(_, value)| value).chain(otherwise.as_deref_mut()))?
            }
            ExprKind::Coalesce(members) | ExprKind::Row(members) | ExprKind::Array(members) => {
                self.all(members.iter_mut())?
            }
            ExprKind::Greatest(members) | ExprKind::Least(members) => {
                let derived = self.all(members.iter_mut())?;
                members.iter_mut().try_for_each(|member| self.apply(member, &derived, COMPARISON))?;
                derived
            }
            ExprKind::Scalar(query) | ExprKind::ArrayQuery(query) => {
                self.query(query)?.into_iter().next().unwrap_or(Derived::None)
            }
            ExprKind::Exists(query) => {
                self.query(query)?;
                Derived::None
            }
            ExprKind::InQuery { row, query, .. } => {
                let columns = self.query(query)?;
                for (member, column) in row.iter_mut().zip(columns) {
                    let derived = self.expr(member)?;
                    let beside = column.known().filter(|one| one.is_unicode()).cloned();
                    let derived = self.merged(derived, column)?;
                    self.apply_beside(member, &derived, COMPARISON, beside)?;
                }
                Derived::None
            }
            ExprKind::Quantified { arg, query, .. } => {
                let column = self.query(query)?.into_iter().next().unwrap_or(Derived::None);
                let derived = self.expr(arg)?;
                let beside = column.known().filter(|one| one.is_unicode()).cloned();
                let derived = self.merged(derived, column)?;
                self.apply_beside(arg, &derived, COMPARISON, beside)?;
                Derived::None
            }
            ExprKind::QuantifiedArray { arg, array, .. } => {
                let derived = self.all([&mut **arg, &mut **array])?;
                self.apply(arg, &derived, COMPARISON)?;
                derived
            }
        };
        Ok(result(derived, &expr.ty))
    }

    fn column(&self, column: ColumnRef, ty: &Type) -> Derived {
        let known = match column.column {
            ColumnIndex::At(at) => self.relations.get(&column.relation).and_then(|columns| columns.get(at)),
            ColumnIndex::RowIdentity => None,
        };
        known.cloned().unwrap_or_else(|| of_type(ty))
    }

    fn compare(&mut self, left: &mut Expr, right: &mut Expr) -> Result<Derived> {
        if let (ExprKind::Row(lefts), ExprKind::Row(rights)) = (&mut left.kind, &mut right.kind) {
            lefts.iter_mut().zip(rights).try_for_each(|(left, right)| self.compare(left, right).map(drop))?;
            return Ok(Derived::None);
        }
        let derived = self.all([&mut *left, &mut *right])?;
        let beside = self.own_order(right);
        self.apply_beside(left, &derived, COMPARISON, beside)?;
        Ok(derived)
    }

    fn aggregate(&mut self, aggregate: &mut Aggregate) -> Result<Derived> {
        let derived = self.all(&mut aggregate.args)?;
        if aggregate.distinct {
            aggregate.args.iter().try_for_each(|arg| check_known(&arg.ty, &derived, COMPARISON))?;
            match &mut aggregate.args[..] {
                [arg] => self.tell_apart(arg, &derived)?,
                _ if derived.known().is_some_and(|collation| !collation.deterministic) => {
                    let what = format!("{}(DISTINCT …) in a nondeterministic collation", aggregate.function.name);
                    return Err(Error::unsupported(what));
                }
                _ => {}
            }
        }
        aggregate.order_by.iter_mut().try_for_each(|key| self.sort_key(key))?;
        aggregate.filter.iter_mut().try_for_each(|filter| self.expr(filter).map(drop))?;
        if matches!(aggregate.function.name, "max" | "min") {
            aggregate.args.iter_mut().try_for_each(|arg| self.apply(arg, &derived, COMPARISON))?;
        }
        Ok(derived)
    }

    fn window(&mut self, window: &mut WindowCall) -> Result<Derived> {
        let derived = self.all(&mut window.args)?;
        window.filter.iter_mut().try_for_each(|filter| self.expr(filter).map(drop))?;
        window.partition_by.iter_mut().try_for_each(|key| self.alike(key))?;
        window.order_by.iter_mut().try_for_each(|key| self.sort_key(key))?;
        if matches!(window.function.name, "max" | "min") {
            window.args.iter_mut().try_for_each(|arg| self.apply(arg, &derived, COMPARISON))?;
        }
        Ok(derived)
    }

    /// Makes an operand compare under what was derived.
    fn apply(&self, expr: &mut Expr, derived: &Derived, what: &str) -> Result<()> {
        self.apply_beside(expr, derived, what, None)
    }

    /// The same for the left one of two, of which the other may have an order of its own.
    fn apply_beside(&self, expr: &mut Expr, derived: &Derived, what: &str, beside: Option<Named>) -> Result<()> {
        check_known(&expr.ty, derived, what)?;
        if let Some(collation) = self.ordered_member(expr) {
            let what = format!("comparing a row with a text in the collation \"{}\"", collation.name);
            return Err(Error::unsupported(what));
        }
        let Some(collation) = derived.known() else { return Ok(()) };
        let orders = [self.own_order(expr), beside];
        if Collation::of_type(&expr.ty).is_none() || !(collation.is_unicode() || orders.iter().any(Option::is_some)) {
            return Ok(());
        }
        if is_array_of_blank_padded(&expr.ty) && collation.is_unicode() {
            return Err(arrays(collation));
        }
        if self.is_definition && matches!(expr.kind, ExprKind::Column(_)) && orders[0].as_ref() == Some(collation) {
            return Ok(());
        }
        let own = orders.iter().flatten().find(|own| !own.deterministic);
        wrap(expr, collation, own);
        Ok(())
    }

    /// The order in which the back end compares a column, unless it is told another.
    fn own_order(&self, expr: &Expr) -> Option<Named> {
        match &expr.kind {
            ExprKind::Collate { collation, role: CollateRole::Obeyed { against_column: true }, .. } => {
                Some(collation).filter(|collation| collation.is_unicode()).cloned()
            }
            ExprKind::Collate { arg, .. } | ExprKind::Cast { arg, .. } => self.own_order(arg),
            ExprKind::Column(column) => {
                self.column(*column, &expr.ty).known().filter(|collation| collation.is_unicode()).cloned()
            }
            _ => None,
        }
    }
}

/// Where blanks at the end of members do not count.
fn is_array_of_blank_padded(ty: &Type) -> bool {
    matches!(ty.through_domains(), Type::Array(element) if matches!(element.through_domains(), Type::Char(_)))
}

fn arrays(collation: &Collation) -> Error {
    Error::unsupported(format!("comparing arrays of char(n) in the collation \"{}\"", collation.name))
}

/// Says under which collation an operand is compared that has another order of its own, or none.
fn wrap(expr: &mut Expr, collation: &Named, own: Option<&Named>) {
    let against_column = collation.deterministic && own.is_some_and(|own| !own.deterministic);
    let arg = std::mem::replace(expr, Expr::null(Type::Text));
    let (ty, collation) = (arg.ty.clone(), collation.clone());
    let role = CollateRole::Operand { against_column };
    let kind = ExprKind::Collate { arg: Box::new(arg), collation, role, place: Place(-1) };
    *expr = Expr::new(kind, ty);
}

/// The collation that a row type's definition says of a field that is taken out of a row.
fn field_collation(args: &[Expr]) -> Option<Named> {
    let [row, Expr { kind: ExprKind::Literal(crate::ir::Value::Integer(at)), .. }] = args else { return None };
    row.ty.row_fields()?.get(usize::try_from(*at).ok()?)?.collation.clone()
}

/// What a function of arguments with a collation has.
fn result(derived: Derived, ty: &Type) -> Derived {
    match (Collation::of_type(ty), derived) {
        (None, _) => Derived::None,
        (Some(own), Derived::None) => Derived::Implicit(own.clone()),
        (Some(_), derived) => derived,
    }
}

/// Rows cannot be ordered or grouped by what has two.
fn check_key(derived: &Derived) -> Result<()> {
    match derived {
        Derived::Conflict(a, b) => Err(mismatch(a, b)),
        _ => Ok(()),
    }
}

fn check_known(ty: &Type, derived: &Derived, what: &str) -> Result<()> {
    if derived.known().is_none() && Collation::of_type(ty).is_some() { Err(indeterminate(what)) } else { Ok(()) }
}

/// Refuses what is there for the order of bytes alone.
fn check_bytes(derived: &Derived, what: &str) -> Result<()> {
    match derived.known() {
        Some(collation) if collation.is_unicode() => {
            Err(Error::unsupported(format!("{what} in the collation \"{}\"", collation.name)))
        }
        _ => Ok(()),
    }
}

/// Refuses what would have to know other capital letters than the database's own collation does.
fn check_letters(derived: &Derived, what: &str) -> Result<()> {
    match derived.known() {
        Some(collation) if collation.knows_ascii_alone() || collation.has_letters_of_its_own() => {
            Err(Error::unsupported(format!("{what} in the collation \"{}\"", collation.name)))
        }
        _ => Ok(()),
    }
}

/// Refuses what looks into texts where texts of different bytes are equal.
fn check_deterministic(derived: &Derived, what: &str) -> Result<()> {
    match derived.known() {
        Some(collation) if !collation.deterministic => {
            let message = format!("nondeterministic collations are not supported for {what}");
            Err(Error::new(Condition::FeatureNotSupported, message))
        }
        _ => Ok(()),
    }
}

/// Functions whose answer hangs on the collation.
fn check_call(function: &'static Function, args: &[Expr], derived: &Derived) -> Result<()> {
    let Some(text) = args.iter().find(|arg| Collation::of_type(&arg.ty).is_some()) else { return Ok(()) };
    let name = function.name;
    match name {
        "lower" | "upper" => {
            check_known(&text.ty, derived, &format!("{name}() function"))?;
            match derived.known() {
                Some(collation) if collation.has_letters_of_its_own() => check_bytes(derived, &format!("{name}()")),
                _ => Ok(()),
            }
        }
        "initcap" => {
            check_known(&text.ty, derived, &format!("{name}() function"))?;
            check_bytes(derived, &format!("{name}()"))
        }
        "~*" | "!~*" => {
            check_known(&text.ty, derived, "regular expression")?;
            check_deterministic(derived, "regular expressions")?;
            check_letters(derived, "a regular expression without regard to case")
        }
        "~" | "!~" => {
            check_known(&text.ty, derived, "regular expression")?;
            check_deterministic(derived, "regular expressions")
        }
        _ if name.starts_with("regexp_") || name == "substring" && args.len() > 1 && args[1].ty.is_text() => {
            check_known(&text.ty, derived, "regular expression")?;
            check_deterministic(derived, "regular expressions")
        }
        "strpos" | "position" | "replace" | "split_part" | "starts_with" | "^@" | "string_to_array" => {
            check_known(&text.ty, derived, "string searching")?;
            check_deterministic(derived, "substring searches")
        }
        // Members are told apart by their bytes; only an order would differ.
        _ if function.kind == FunctionKind::Operator
            && matches!(name, "<" | "<=" | ">" | ">=")
            && derived.known().is_some_and(|collation| collation.is_unicode()) =>
        {
            check_bytes(derived, &format!("the operator {name}"))
        }
        // What stands inside would have to be compared in this order.
        _ if name.starts_with("stored") => check_bytes(derived, "a function of a text"),
        "@>" | "<@" | "&&" | "array_contains" | "array_contained" | "array_overlaps" | "array_position"
        | "array_positions" | "array_remove" | "array_replace"
            if derived.known().is_some_and(|collation| !collation.deterministic) =>
        {
            Err(Error::unsupported(format!("{name} of arrays in a nondeterministic collation")))
        }
        "width_bucket" | "array_sort" => check_bytes(derived, &format!("{name}()")),
        _ => Ok(()),
    }
}
