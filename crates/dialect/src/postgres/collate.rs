//! Which collation each comparison of a statement works under, by PostgreSQL's rules: an expression's collation is
//! named by COLLATE (explicit), or that of its columns and types (implicit); two explicit ones that differ are an error
//! where they meet, two implicit ones where somebody must know.
//!
//! The walk is made for statements that name a collation, or a table with a column that has one of its own; in all
//! others everything is compared by its bytes. What is compared under another order than its type's gets
//! an [`ExprKind::Collate`] of the role [`CollateRole::Operand`] around it, which the lowering obeys.

mod checks;
mod statements;

use std::collections::HashMap;
use std::sync::Arc;

use self::checks::{check_call, check_deterministic, check_key, check_known, check_letters};
use super::binder::Binder;
use crate::collation::Collation;
use crate::functions::{self, Function};
use crate::ir::{
    Aggregate, CollateRole, ColumnDefinition, ColumnIndex, ColumnRef, CteId, Expr, ExprKind, LikeKind, OutputColumn,
    Place, Query, RelId, SortKey, Statement, Text, WindowCall,
};
use crate::stored_aggregate;
use crate::stored_calls::{VALUE, tell_collation};
use crate::{Condition, Error, Language, Result, Type};

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
        match self.working(derived).as_ref() {
            Some(collation)
                if !collation.deterministic || self.own_order(expr).is_some_and(|own| !own.deterministic) =>
            {
                self.apply(expr, derived, COMPARISON)
            }
            _ => Ok(()),
        }
    }

    /// The one that works: to MySQL the default is one of its own.
    fn working(&self, derived: &Derived) -> Option<Named> {
        match derived.known() {
            Some(known) if known.oid == Collation::DEFAULT && self.binder.is_mysql() => {
                Some(Collation::mysql_default().clone())
            }
            known => known.cloned(),
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
                // Of two of MySQL's the one of bytes wins.
                _ if self.binder.is_mysql() && !a.is_unicode() => Derived::Implicit(a),
                _ if self.binder.is_mysql() && !b.is_unicode() => Derived::Implicit(b),
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
            // Inside a function, a variable is in the collation of the call's arguments.
            ExprKind::Param(at) => match self.binder.variables.as_ref().and_then(|levels| levels.collation_of(*at)) {
                Some(collation) if Collation::of_type(&expr.ty).is_some() => {
                    return Ok(Derived::Implicit(collation.clone()));
                }
                _ => Derived::None,
            },
            ExprKind::Literal(_) | ExprKind::Rules(_) | ExprKind::Default => Derived::None,
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
                let derived = match (function.name, args.as_mut_slice()) {
                    (AGGREGATE_RESULT, [_, _, state, direct @ ..]) => {
                        // A state has no collation, but what it is made of.
                        let state = match &mut state.kind {
                            ExprKind::Aggregate(aggregate) => self.aggregate(aggregate)?,
                            ExprKind::Window(window) => self.window(window)?,
                            _ => self.expr(state)?,
                        };
                        let direct = self.all(direct)?;
                        self.merged(state, direct)?
                    }
                    _ => self.all(args.iter_mut().skip(told))?,
                };
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
                if !self.binder.is_mysql() {
                    check_call(function, args, &derived)?;
                } else if function.name == "mysql_like" && derived.known().is_some_and(|known| known.tells_case_apart())
                {
                    let by_bytes = crate::functions::named(crate::Language::Mysql, "mysql_like_binary").next();
                    if let (Some(by_bytes), ExprKind::Call { function, .. }) = (by_bytes, &mut expr.kind) {
                        *function = by_bytes;
                    }
                    return Ok(Derived::None);
                }
                if function.name == VALUE
                    && let Some(collation) = derived.known().filter(|collation| collation.is_unicode())
                {
                    tell_collation(args, collation.oid);
                }
                if let (AGGREGATE_RESULT, Some(collation)) = (function.name, unicode(&derived)) {
                    stored_aggregate::tell_collation(&mut args[0], collation.oid);
                }
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
            ExprKind::Numbered { given, .. } => {
                given.iter_mut().try_for_each(|given| self.expr(given).map(drop))?;
                Derived::None
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
                    match derived.known() {
                        Some(collation) if collation.knows_ascii_alone() && escape.is_none() => {
                            wrap(text, collation, None);
                        }
                        _ => check_letters(&derived, "ILIKE")?,
                    }
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
        let derived = self.all(aggregate.args.iter_mut().skip(plan_of(aggregate.function)))?;
        if let (AGGREGATE, Some(collation)) = (aggregate.function.name, unicode(&derived)) {
            stored_aggregate::tell_collation(&mut aggregate.args[0], collation.oid);
        }
        if aggregate.distinct
            && aggregate.function.name == "group_concat"
            && let Some(collation) = self.working(&derived).filter(|collation| !collation.deterministic)
            && let Some(unique) = functions::named(Language::Mysql, "mysql_group_concat_unique").next()
        {
            aggregate.function = unique;
            aggregate.distinct = false;
            aggregate.args.push(Expr::integer(i64::from(collation.oid), Type::Int8));
        }
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
        let derived = self.all(window.args.iter_mut().skip(plan_of(window.function)))?;
        if let (AGGREGATE, Some(collation)) = (window.function.name, unicode(&derived)) {
            stored_aggregate::tell_collation(&mut window.args[0], collation.oid);
        }
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
        let Some(collation) = self.working(derived) else { return Ok(()) };
        let collation = &collation;
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

/// The aggregates that users have made, and what makes their results of their states.
const AGGREGATE: &str = "stored aggregate";
const AGGREGATE_RESULT: &str = "stored aggregate result";

/// So many arguments tell how such an aggregate is computed.
fn plan_of(function: &Function) -> usize {
    if function.name == AGGREGATE { 2 } else { 0 }
}

/// The collation, where functions of users have to be told of it.
fn unicode(derived: &Derived) -> Option<&Collation> {
    derived.known().map(|collation| &**collation).filter(|collation| collation.is_unicode())
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
