//! Conversions: which types follow from which, literals and parameters of unknown type, common types.

use rowferry_facts as facts;

use super::binder::Binder;
use super::types;
use crate::ir::{CastContext, Expr, ExprKind, Value};
use crate::scalar::{ranges, vectors};
use crate::schema::QualifiedName;
use crate::text_search::{self, Kind};
use crate::uses::{NamedInLiteral, NamedLabels};
use crate::values;
use crate::values::mysql::unsigned::is_wide;
use crate::{Condition, Error, Result, Type};

/// True for types that differ in modifiers at most, in PostgreSQL's eyes.
pub(super) fn same(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Char(_), Type::Char(_)) => true,
        (Type::Array(a), Type::Array(b)) => same(a, b),
        (a, b) => a.same_base(b),
    }
}

/// The type without its modifiers; of a domain, the type that it is over.
pub(super) fn base(ty: &Type) -> Type {
    match ty.through_domains() {
        Type::Char(_) => Type::Char(types::BLANK_PADDED_ANY),
        Type::Array(element) => Type::Array(Box::new(base(element))),
        ty => ty.base(),
    }
}

/// Values of a `char(n)` lie without the blanks that fill them, which its width tells; those of a `bpchar` lie with their own.
fn gains_blanks(from: &Type, to: &Type) -> bool {
    match (from.through_domains(), to.through_domains()) {
        (Type::Char(from), Type::Char(types::BLANK_PADDED_ANY)) => *from != types::BLANK_PADDED_ANY,
        (Type::Array(from), Type::Array(to)) => gains_blanks(from, to),
        _ => false,
    }
}

/// The least context in which `from` becomes `to`; `None` when it never does.
pub(super) fn cast_context(from: &Type, to: &Type) -> Option<CastContext> {
    use CastContext::{Assignment, Explicit, Implicit};
    let (from, to) = (from.through_domains(), to.through_domains());
    if same(from, to) || *from == Type::Unknown {
        return Some(Implicit);
    }
    match (from.is_row(), to.is_row()) {
        (true, true) => {
            let anonymous = matches!(from, Type::Record(_)) || matches!(to, Type::Record(_));
            return anonymous.then_some(Implicit);
        }
        (true, false) => return (types::category(to) == 'S').then_some(Assignment),
        (false, true) => return (types::category(from) == 'S').then_some(Explicit),
        (false, false) => {}
    }
    if let (Some(family), true) = (ranges::of_range(from), matches!(from, Type::User(_)))
        && *to == family.multirange
    {
        return Some(Explicit);
    }
    // An enum type, a range type and text become each other by way of the text.
    match (from, to) {
        (Type::User(_), to) => return to.is_text().then_some(Assignment),
        (from, Type::User(_)) => return from.is_text().then_some(Explicit),
        _ => {}
    }
    if let (Type::Array(from), Type::Array(to)) = (from, to) {
        return cast_context(from, to);
    }
    if let (Some(array), Type::Array(_)) = (vectors::array_of(from), to) {
        return cast_context(&array, to);
    }
    if matches!(to, Type::Void | Type::Unknown) || *from == Type::Void {
        return None;
    }
    let cast = facts::Cast::between(types::oid(from), types::oid(to));
    match cast.map(|cast| cast.context) {
        Some('i') => Some(Implicit),
        Some('a') => Some(Assignment),
        Some(_) => Some(Explicit),
        // By way of the text form.
        None if types::category(to) == 'S' => Some(Assignment),
        None if types::category(from) == 'S' => Some(Explicit),
        None => None,
    }
}

/// True for types whose literals mean something only when the statement runs: by the session's time zone.
fn depends_on_session(ty: &Type) -> bool {
    match ty {
        Type::TimestampTz(_) | Type::TimeTz(_) => true,
        Type::Scalar(..) => ranges::subtype(ty).is_some_and(|subtype| depends_on_session(&subtype.ty())),
        Type::Array(element) => depends_on_session(element) || matches!(**element, Type::Reg(_)),
        Type::User(user) => user
            .parts()
            .any(|part| depends_on_session(part) || matches!(part, Type::Reg(_)) || types::typmod(part) != -1),
        _ => false,
    }
}

/// True when `from` becomes `to` without being asked.
pub(super) fn implicit(from: &Type, to: &Type) -> bool {
    cast_context(from, to) == Some(CastContext::Implicit)
}

pub(super) const fn rank(context: CastContext) -> u8 {
    match context {
        CastContext::Implicit => 0,
        CastContext::Assignment => 1,
        CastContext::Explicit => 2,
    }
}

/// A vector as the array that it is; anything else as it stands.
pub(super) fn unvectored(expr: Expr) -> Expr {
    match vectors::array_of(&expr.ty) {
        Some(array) => convert(expr, &array, CastContext::Implicit),
        None => expr,
    }
}

/// Arguments of a function: vectors are arrays to all but those functions that are there for vectors, or for any type.
pub(super) fn unvectored_for(name: &str, args: Vec<(Expr, i32)>) -> Vec<(Expr, i32)> {
    const ANY: u32 = 2_276;
    if !args.iter().any(|(arg, _)| vectors::array_of(&arg.ty).is_some()) {
        return args;
    }
    let takes = |fact: &&facts::Function| {
        fact.arguments.iter().any(|oid| [types::INT2VECTOR, types::OIDVECTOR, ANY].contains(oid))
    };
    if facts::Function::named(name).iter().any(takes) {
        return args;
    }
    args.into_iter().map(|(arg, at)| (unvectored(arg), at)).collect()
}

impl Binder<'_> {
    /// Converts an expression to a type, or says why not; `location` is the expression's.
    pub(super) fn coerce(&mut self, expr: Expr, to: &Type, context: CastContext, location: i32) -> Result<Expr> {
        match self.try_coerce(expr, to, context, location)? {
            Ok(expr) => Ok(expr),
            Err(expr) => Err(self.error(
                Condition::CannotCoerce,
                format!("cannot cast type {} to {}", types::words(&expr.ty), types::words(to)),
                location,
            )),
        }
    }

    /// Converts an expression to a type; gives it back when the context does not allow it.
    pub(super) fn try_coerce(
        &mut self,
        expr: Expr,
        to: &Type,
        context: CastContext,
        location: i32,
    ) -> Result<Result<Expr, Expr>> {
        if expr.ty == *to {
            return Ok(Ok(expr));
        }
        if to.has_domain() {
            return self.try_coerce_to_domain(expr, to, context, location);
        }
        self.try_coerce_plainly(expr, to, context, location)
    }

    /// The same without asking what domains in the type ask.
    pub(super) fn try_coerce_plainly(
        &mut self,
        expr: Expr,
        to: &Type,
        context: CastContext,
        location: i32,
    ) -> Result<Result<Expr, Expr>> {
        if expr.ty == *to {
            return Ok(Ok(expr));
        }
        if expr.ty == Type::Unknown {
            return self.decide_plainly(expr, to, context, location).map(Ok);
        }
        if !self.is_mysql() && self.shown.is_none() && is_wide(&expr.ty) {
            let by_text = to.is_decimal() || to.is_text();
            let name = if by_text { "numeric of what is wide" } else { "bigint of what is wide" };
            let ty = if by_text { Type::Numeric(None) } else { Type::Int8 };
            let kind = ExprKind::Call { function: crate::functions::internal(name), args: vec![expr] };
            return self.try_coerce_plainly(Expr::new(kind, ty), to, context, location);
        }
        // ARRAY[…] of undecided or narrower members takes the type asked for member by member.
        if let (ExprKind::Array(members), Type::Array(element)) = (&expr.kind, to)
            && self.context_of_members(&expr.ty, to).is_some_and(|least| rank(least) <= rank(context))
        {
            let members = members.clone();
            let mut converted = Vec::with_capacity(members.len());
            for member in members {
                // A member that is an array is one more dimension.
                let wanted = if matches!(member.ty, Type::Array(_)) { to } else { element };
                converted.push(self.coerce(member, wanted, context, location)?);
            }
            return Ok(Ok(Expr::new(ExprKind::Array(converted), to.clone())));
        }
        if let (ExprKind::Row(_), Type::Record(_), Type::User(_)) = (&expr.kind, &expr.ty, to)
            && to.is_row()
        {
            let ExprKind::Row(members) = expr.kind else { return Err(crate::Error::internal("a row that is none")) };
            return self.row_as(members, to, context, location).map(Ok);
        }
        if self.is_mysql() && (converts_otherwise(&expr.ty, to) || is_wide(&expr.ty)) {
            return self.mysql_converted(expr, to, context, location).map(Ok);
        }
        if same(&expr.ty, to) {
            // Only modifiers differ. Without any, the value is of the type as it stands; who asks for that by name gets a
            // value that promises no length any more.
            let forgets = context == CastContext::Explicit && types::typmod(&expr.ty) != -1 && !expr.ty.is_domain();
            return Ok(Ok(if types::typmod(to) == -1 && !forgets && !gains_blanks(&expr.ty, to) {
                expr
            } else {
                Expr::new(ExprKind::Cast { arg: Box::new(expr), context }, to.clone())
            }));
        }
        // Only a row whose members are told becomes one of a type; any other has its form when the statement runs.
        if matches!(expr.ty, Type::Record(_)) && to.is_row() && !matches!(to, Type::Record(_)) && is_told_late(&expr) {
            let message = format!("cannot cast type record to {}", types::words(to));
            return Err(self.error(Condition::CannotCoerce, message, location));
        }
        let (expr, by_users) = match self.try_user_cast(expr, to, context, location)? {
            Ok(made) => return Ok(Ok(made)),
            Err(expr) => {
                let by_users = self.user_cast(&expr.ty, to).is_some();
                (expr, by_users)
            }
        };
        match cast_context(&expr.ty, to).filter(|_| !by_users) {
            Some(least) if rank(least) <= rank(context) => match vectors::array_of(&expr.ty) {
                // By way of the array that it is.
                Some(array) if matches!(to, Type::Array(_)) && array != *to => {
                    let array = convert(expr, &array, CastContext::Implicit);
                    Ok(Ok(convert(array, to, context)))
                }
                _ => Ok(Ok(convert(expr, to, context))),
            },
            _ if self.is_mysql() => self.mysql_converted(expr, to, context, location).map(Ok),
            _ => Ok(Err(expr)),
        }
    }

    /// Gives a literal, NULL or parameter of unknown type the type that its context asks for.
    pub(super) fn decide(&mut self, expr: Expr, to: &Type, context: CastContext, location: i32) -> Result<Expr> {
        if *to == Type::Unknown {
            return Ok(expr);
        }
        if to.has_domain() {
            return match self.try_coerce_to_domain(expr, to, context, location)? {
                Ok(expr) => Ok(expr),
                Err(_) => Err(crate::Error::internal("an undecided value becomes of any type")),
            };
        }
        self.decide_plainly(expr, to, context, location)
    }

    /// The same without asking what domains in the type ask.
    pub(super) fn decide_plainly(
        &mut self,
        expr: Expr,
        to: &Type,
        context: CastContext,
        location: i32,
    ) -> Result<Expr> {
        if self.is_mysql()
            && let Some(read) = self.mysql_unset(&expr, to, location)?
        {
            return self.coerce(read, to, context, location);
        }
        match expr.kind {
            ExprKind::Literal(Value::Null) => Ok(Expr::null(to.clone())),
            ExprKind::Literal(Value::Text(text)) if self.is_mysql() && *to == Type::Bytea => {
                Ok(Expr::new(ExprKind::Literal(Value::Blob(text.into_bytes())), Type::Bytea))
            }
            ExprKind::Literal(Value::Text(text)) if self.is_mysql() => self.mysql_literal(&text, to, context, location),
            ExprKind::Literal(Value::Text(text)) => self.literal(&text, to, context, location),
            // A text is read as a document when the statement runs.
            ExprKind::Param(_) if self.is_mysql() && *to == Type::Json => {
                let text = self.decide_plainly(expr, &Type::Text, CastContext::Implicit, location)?;
                self.coerce(text, to, context, location)
            }
            ExprKind::Param(index) => {
                let wanted = base(to);
                match &self.params[index] {
                    None => self.params[index] = Some(wanted.clone()),
                    Some(known) if same(known, &wanted) => {}
                    Some(known) if self.is_mysql() => {
                        let param = Expr::new(ExprKind::Param(index), known.clone());
                        return self.coerce(param, to, context, location);
                    }
                    Some(known) if implicit(known, &wanted) => {
                        let param = Expr::new(ExprKind::Param(index), known.clone());
                        return Ok(convert(param, to, context));
                    }
                    Some(known) => {
                        let (known, number) = (types::words(known), index + 1);
                        return Err(self
                            .error(
                                Condition::AmbiguousParameter,
                                format!("inconsistent types deduced for parameter ${number}"),
                                location,
                            )
                            .detail(format!("{known} versus {}", types::words(&wanted))));
                    }
                }
                let param = Expr::new(ExprKind::Param(index), wanted);
                Ok(if types::typmod(to) == -1 {
                    param
                } else {
                    Expr::new(ExprKind::Cast { arg: Box::new(param), context }, to.clone())
                })
            }
            // A subquery's column of unknown type and its like: by way of text.
            kind => Ok(Expr::new(
                ExprKind::Cast { arg: Box::new(Expr::new(kind, Type::Text)), context: CastContext::Explicit },
                to.clone(),
            )),
        }
    }

    /// A quoted constant as a value of a type.
    pub(super) fn literal(&mut self, text: &str, to: &Type, context: CastContext, location: i32) -> Result<Expr> {
        let asis = || Expr::new(ExprKind::Literal(Value::Text(text.to_owned())), Type::Text);
        let cast = || Expr::new(ExprKind::Cast { arg: Box::new(asis()), context: CastContext::Explicit }, to.clone());
        match to {
            Type::Text | Type::Varchar(None) => {
                Ok(Expr::new(ExprKind::Literal(Value::Text(text.to_owned())), to.clone()))
            }
            // Lengths: an explicit cast cuts, an assignment refuses; both at run time, with the column's name.
            Type::Varchar(_) | Type::Char(_) => {
                Ok(Expr::new(ExprKind::Cast { arg: Box::new(asis()), context }, to.clone()))
            }
            // Depend on the session's time zone, or on objects that may be renamed.
            ty if depends_on_session(ty) => {
                self.check_moment(text, ty, location)?;
                Ok(cast())
            }
            // Members that are too long are cut off, or refused.
            Type::Array(element) if types::typmod(element) != -1 => {
                Ok(Expr::new(ExprKind::Cast { arg: Box::new(asis()), context }, to.clone()))
            }
            Type::Reg(_) => self.object_literal(text, to, location),
            // Its roles must be there when the statement runs.
            Type::Scalar(scalar, _) if **scalar == vectors::ACLITEM => {
                values::input(text, to, &values::Settings::default()).map_err(|error| self.at(error, location))?;
                let function = crate::functions::internal("item of known roles");
                Ok(Expr::new(ExprKind::Call { function, args: vec![asis()] }, to.clone()))
            }
            // The fields say how it is read.
            ty if types::typmod(ty) != -1 && !matches!(ty, Type::Interval(_)) => {
                let whole = self.literal(text, &base(ty), context, location)?;
                Ok(Expr::new(ExprKind::Cast { arg: Box::new(whole), context }, ty.clone()))
            }
            ty => match values::input(text, ty, &self.literal_style().into()) {
                Ok(value) => {
                    self.note_labels(text, ty, location);
                    self.check_stored_literal(text, ty, &value, location)?;
                    Ok(Expr::new(ExprKind::Literal(value), ty.clone()))
                }
                // `now`, `today` and their kin are decided when the statement runs.
                Err(error) if error.condition() == Condition::FeatureNotSupported => Ok(cast()),
                Err(error) => Err(self.at(error, location)),
            },
        }
    }

    /// A time with a zone is read when the statement runs; but what is none in any zone is refused where it stands.
    fn check_moment(&self, text: &str, ty: &Type, location: i32) -> Result<()> {
        if !matches!(base(ty), Type::TimestampTz(_) | Type::TimeTz(_)) {
            return Ok(());
        }
        match values::input(text, &base(ty), &self.literal_style().into()) {
            // `now` and its kin, and the ends of the range, where the zone decides.
            Err(error)
                if error.condition() == Condition::FeatureNotSupported
                    || error.message.starts_with("timestamp out of range") =>
            {
                Ok(())
            }
            Err(error) => Err(self.at(error, location)),
            Ok(_) => Ok(()),
        }
    }

    /// A literal of a view, a default or a check is read again from its text, by sessions of another style: it must not
    /// mean something else there.
    fn check_stored_literal(&self, text: &str, ty: &Type, value: &Value, location: i32) -> Result<()> {
        let style = values::LiteralStyle { backslashes_escape: false, ..self.literal_style() };
        if style == values::LiteralStyle::default() || !self.is_stored() {
            return Ok(());
        }
        match values::input(text, ty, &values::Settings::default()) {
            Ok(same) if same == *value => Ok(()),
            _ => Err(self
                .unsupported(
                    format!("the literal '{text}', read by the session's style, in a stored definition"),
                    location,
                )
                .hint("Write dates in ISO 8601 and intervals with a sign at each field.")),
        }
    }

    /// Notes where a literal names labels of an enum type.
    fn note_labels(&mut self, text: &str, ty: &Type, location: i32) {
        let of_enum = |ty: &Type| matches!(ty, Type::User(user) if user.labels().is_some());
        let named = match ty {
            Type::Array(element) => of_enum(element),
            ty => of_enum(ty),
        };
        if let (true, Ok(place)) = (named, usize::try_from(location)) {
            let (ty, text) = (ty.clone(), text.to_owned());
            self.note(|uses| uses.labels.push(NamedLabels { place, ty, text }));
        }
    }

    /// Notes where a literal names a relation.
    fn note_literal(&mut self, name: &QualifiedName, oid: u32, namespace: &str, location: i32) {
        if let Ok(place) = usize::try_from(location)
            && !matches!(namespace, "pg_catalog" | "pg_temp")
        {
            let (namespace, qualified) = (namespace.to_owned(), name.schema.is_some());
            let name = name.name.clone();
            self.note(|uses| uses.literals.push(NamedInLiteral { place, oid, namespace, name, qualified }));
        }
    }

    /// A name in quotes as an object identifier: looked up now, since a plan is renewed when the schema changes.
    fn object_literal(&mut self, text: &str, to: &Type, location: i32) -> Result<Expr> {
        use crate::types::Reg;
        if let Ok(number) = text.trim().parse::<u32>() {
            return Ok(Expr::integer(i64::from(number), to.clone()));
        }
        if text.trim() == "-" {
            return Ok(Expr::integer(0, to.clone()));
        }
        match to {
            Type::Reg(Reg::Class) => {
                let name = super::names::qualified(text)
                    .ok_or_else(|| self.error(Condition::InvalidName, "invalid name syntax".to_owned(), location))?;
                self.check_schema(&name, location)?;
                if let Some(relation) = self.schema.relation(&name) {
                    self.note_literal(&name, relation.oid, &relation.namespace, location);
                    return Ok(Expr::integer(i64::from(relation.oid), to.clone()));
                }
                if let Some(sequence) = self.schema.sequence(&name) {
                    self.note_literal(&name, sequence.oid, &sequence.namespace, location);
                    return Ok(Expr::integer(i64::from(sequence.oid), to.clone()));
                }
                if let Some((relation, index)) = self.schema.index(&name) {
                    let oid = relation.indexes[index].oid;
                    self.note_literal(&name, oid, &relation.namespace, location);
                    return Ok(Expr::integer(i64::from(oid), to.clone()));
                }
                if let Some(ty) = self.schema.user_type(&name)
                    && let Some(composite) = ty.composite().filter(|_| !ty.is_row_type())
                {
                    self.note_literal(&name, ty.oid, &ty.namespace, location);
                    return Ok(Expr::integer(i64::from(composite.relation), to.clone()));
                }
                let of_catalogs = matches!(name.schema.as_deref(), None | Some("pg_catalog"));
                let mut indexes = facts::Index::all().iter().filter(|_| of_catalogs);
                if let Some(index) = indexes.find(|index| index.name == name.name) {
                    return Ok(Expr::integer(i64::from(index.oid), to.clone()));
                }
                Err(self.error(Condition::UndefinedTable, format!("relation \"{name}\" does not exist"), location))
            }
            Type::Reg(Reg::Type) => {
                let oid = super::regtype::oid_in(self.schema, text).map_err(|error| self.at(error, location))?;
                Ok(Expr::integer(i64::from(oid), to.clone()))
            }
            Type::Reg(reg @ (Reg::Config | Reg::Dictionary)) => {
                let kind = if *reg == Reg::Dictionary { Kind::Dictionary } else { Kind::Configuration };
                if let Ok(oid) = text.trim().parse::<u32>() {
                    return Ok(Expr::integer(i64::from(oid), to.clone()));
                }
                let found = text_search::named(self.schema, kind, text).map_err(|error| self.at(error, location))?;
                if !found.is_built_in() {
                    self.note(|uses| {
                        uses.routines.insert(found.oid);
                    });
                }
                Ok(Expr::integer(i64::from(found.oid), to.clone()))
            }
            Type::Reg(reg @ (Reg::Proc | Reg::Procedure | Reg::Oper | Reg::Operator)) => {
                let oid = super::regproc::oid(self.schema, *reg, text).map_err(|error| self.at(error, location))?;
                Ok(Expr::integer(i64::from(oid), to.clone()))
            }
            _ => Ok(Expr::new(
                ExprKind::Cast { arg: Box::new(Expr::text(text)), context: CastContext::Explicit },
                to.clone(),
            )),
        }
    }

    /// A value of any type as it is assigned to a column.
    pub(super) fn assign(&mut self, value: Expr, column: &str, to: &Type, place: i32) -> Result<Expr> {
        let from = types::words(&value.ty);
        let coerced = self.try_coerce(value, to, CastContext::Assignment, place);
        // MySQL tells of which column a value is none.
        let told = |error: Error| match self.is_mysql() && error.column.is_none() {
            true => crate::mysql::told::of_column(error, column, to),
            false => error,
        };
        coerced.map_err(told)?.map_err(|_| {
            self.error(
                Condition::DatatypeMismatch,
                format!("column \"{column}\" is of type {} but expression is of type {from}", types::words(to)),
                place,
            )
            .hint("You will need to rewrite or cast the expression.")
        })
    }

    /// The type that several expressions have in common, by the rules of UNION, CASE and related constructs; `what` is
    /// the construct's name for messages.
    pub(super) fn common_type(&self, members: &[(&Type, i32)], what: &str) -> Result<Type> {
        if self.is_mysql() {
            return Ok(self.mysql_common_type(members));
        }
        let mut common: Option<&Type> = None;
        for (ty, location) in members {
            if **ty == Type::Unknown {
                continue;
            }
            let Some(current) = common else {
                common = Some(ty);
                continue;
            };
            if same(current, ty) {
                continue;
            }
            if types::category(current) != types::category(ty) {
                return Err(self.error(
                    Condition::DatatypeMismatch,
                    format!("{what} types {} and {} cannot be matched", types::words(current), types::words(ty)),
                    *location,
                ));
            }
            if !types::is_preferred(current) && self.becomes(current, ty) && !self.becomes(ty, current) {
                common = Some(ty);
            }
        }
        let Some(common) = common else { return Ok(Type::Text) };
        // A length is kept when all have it; a literal that takes the type has none.
        let alike = members.iter().all(|(ty, _)| **ty == *common);
        Ok(if alike { common.clone() } else { base(common) })
    }

    /// Converts members to their common type.
    pub(super) fn unify(&mut self, members: Vec<(Expr, i32)>, what: &str) -> Result<(Vec<Expr>, Type)> {
        let members = if self.is_mysql() { members.into_iter().map(of_text).collect() } else { members };
        let kinds: Vec<_> = members.iter().map(|(expr, location)| (&expr.ty, *location)).collect();
        let ty = self.common_type(&kinds, what)?;
        let mut converted = Vec::with_capacity(members.len());
        for (expr, location) in members {
            let from = types::words(&expr.ty);
            let Ok(expr) = self.try_coerce(expr, &ty, CastContext::Implicit, location)? else {
                return Err(self.error(
                    Condition::CannotCoerce,
                    format!("{what} could not convert type {from} to {}", types::words(&ty)),
                    location,
                ));
            };
            converted.push(expr);
        }
        Ok((converted, ty))
    }

    /// A condition: boolean, or an error that names the place (`argument of WHERE must be type boolean, not type …`).
    pub(super) fn condition(&mut self, expr: Expr, what: &str, location: i32) -> Result<Expr> {
        if self.is_mysql() {
            return self.mysql_condition(expr, location);
        }
        let from = types::words(&expr.ty);
        self.try_coerce(expr, &Type::Bool, CastContext::Implicit, location)?.map_err(|_| {
            self.error(
                Condition::DatatypeMismatch,
                format!("argument of {what} must be type boolean, not type {from}"),
                location,
            )
        })
    }

    /// True for a parameter whose type its place does not tell; it is remembered.
    pub(super) fn leaves_open(&mut self, expr: &Expr, location: i32) -> bool {
        match expr.kind {
            ExprKind::Param(index)
                if expr.ty == Type::Unknown && self.params.get(index).is_some_and(Option::is_none) =>
            {
                self.open_params.push((index, location));
                true
            }
            _ => false,
        }
    }

    /// Fails where a parameter stands whose type its place does not tell.
    pub(super) fn check_open_params(&self) -> Result<()> {
        // MySQL's parameters are of the types of what is given.
        if self.is_mysql() {
            return Ok(());
        }
        if let Some((index, location)) = self.open_params.first() {
            let message = format!("could not determine data type of parameter ${}", index + 1);
            return Err(match self.params[*index] {
                None => Error::new(Condition::IndeterminateDatatype, message),
                Some(_) => self.error(Condition::AmbiguousParameter, message, *location),
            });
        }
        if let Some(index) = self.untold_param() {
            let message = format!("could not determine data type of parameter ${}", index + 1);
            return Err(Error::new(Condition::IndeterminateDatatype, message));
        }
        Ok(())
    }

    /// An expression whose type nothing decides is text.
    pub(super) fn settle(&mut self, expr: Expr, location: i32) -> Result<Expr> {
        if expr.ty == Type::Unknown {
            self.decide(expr, &Type::Text, CastContext::Implicit, location)
        } else if let ExprKind::Row(members) = expr.kind {
            self.settled_row(members, expr.ty, location)
        } else {
            Ok(expr)
        }
    }
}

/// An integer that is to be compared as one, or chosen among its like: what MySQL calls BIGINT UNSIGNED lies so that the
/// file does it.
pub(super) fn as_it_lies(expr: Expr, wanted: &Type) -> Expr {
    if *wanted != Type::Int8 || !is_wide(&expr.ty) {
        return expr;
    }
    match expr.kind {
        // Who compares asks no more of it.
        ExprKind::Checked { arg, .. } if arg.ty == Type::Int8 => *arg,
        kind => Expr { kind, ty: Type::Int8 },
    }
}

/// To MySQL a string is a text, whatever stands beside it.
fn of_text((expr, at): (Expr, i32)) -> (Expr, i32) {
    match expr.kind {
        ExprKind::Literal(Value::Text(_)) if expr.ty == Type::Unknown => (Expr::new(expr.kind, Type::Text), at),
        _ => (expr, at),
    }
}

/// Conversions that PostgreSQL has as well, and MySQL makes in another way.
fn converts_otherwise(from: &Type, to: &Type) -> bool {
    let (from, to) = (from.through_domains(), to.through_domains());
    match (from, to) {
        (Type::Bool, _) | (_, Type::Bool) => from != to,
        (Type::Float4 | Type::Float8, to) => to.is_text(),
        (Type::Bytea, to) => to.is_text(),
        (from, Type::Bytea) => from.is_text(),
        (from, Type::Json) => *from != Type::Json,
        _ => false,
    }
}

/// The members of a row show when the statement runs: a subquery's value, and what chooses among rows.
const fn is_told_late(row: &Expr) -> bool {
    matches!(row.kind, ExprKind::Scalar(_) | ExprKind::Case { .. } | ExprKind::Coalesce(_))
}

/// A conversion that is known to exist; constants are converted at once where that cannot fail.
fn convert(expr: Expr, to: &Type, context: CastContext) -> Expr {
    if let ExprKind::Literal(value) = &expr.kind
        && types::typmod(to) == -1
    {
        match (value, to) {
            (Value::Null, ty) => return Expr::null(ty.clone()),
            (Value::Integer(value), Type::Int4 | Type::Int8 | Type::Oid)
                if expr.ty.is_integer() && (*to == Type::Int8 || (0..=i64::from(i32::MAX)).contains(value)) =>
            {
                return Expr::integer(*value, to.clone());
            }
            (Value::Integer(value), Type::Int2) if expr.ty.is_integer() && i16::try_from(*value).is_ok() => {
                return Expr::integer(*value, Type::Int2);
            }
            (Value::Integer(value), Type::Numeric(None)) if expr.ty.is_integer() => {
                return Expr::new(ExprKind::Literal(Value::Text(value.to_string())), to.clone());
            }
            (Value::Integer(value), Type::Float8) if expr.ty.is_integer() && value.unsigned_abs() < 1 << 53 => {
                return Expr::new(ExprKind::Literal(Value::Real(*value as f64)), to.clone());
            }
            (Value::Text(digits), Type::Float8) if expr.ty.is_decimal() => {
                if let Ok(value) = digits.parse::<f64>()
                    && value.is_finite()
                {
                    return Expr::new(ExprKind::Literal(Value::Real(value)), to.clone());
                }
            }
            _ => {}
        }
    }
    Expr::new(ExprKind::Cast { arg: Box::new(expr), context }, to.clone())
}
