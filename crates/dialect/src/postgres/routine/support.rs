//! The functions behind aggregates: which one a name with types means, where the types may be polymorphic themselves.

use rowferry_facts as facts;

use crate::postgres::binder::Binder;
use crate::postgres::coerce::implicit;
use crate::postgres::polymorphic::Standing;
use crate::postgres::types;
use crate::schema::QualifiedName;
use crate::stored_function::{ANY, Polymorphic, StoredFunction, TypeRef};
use crate::{Condition, Error, Result, Schema, Type};

/// A function that may stand behind an aggregate.
#[derive(Clone, Debug)]
pub(super) struct Support {
    pub(super) function: u32,
    /// Types of its input parameters as they are declared.
    params: Vec<TypeRef>,
    returns: TypeRef,
    set: bool,
    pub(super) strict: bool,
    /// Its last parameter is VARIADIC "any".
    variadic_any: bool,
}

/// One found: its result, and the types that its arguments take.
pub(super) struct Found {
    pub(super) support: Support,
    pub(super) returns: TypeRef,
}

impl Support {
    fn of_facts(fact: &facts::Function) -> Self {
        Self {
            function: fact.oid,
            params: fact.arguments.iter().map(|oid| type_of(*oid)).collect(),
            returns: type_of(fact.result),
            set: fact.returns_set,
            strict: fact.strict,
            variadic_any: fact.variadic == ANY,
        }
    }

    fn of_user(function: &StoredFunction, schema: &dyn Schema) -> Self {
        let definition = &function.definition;
        Self {
            function: function.oid,
            params: definition.inputs().map(|param| settled(&param.ty, schema)).collect(),
            returns: settled(&definition.returns, schema),
            set: definition.set,
            strict: definition.strict,
            variadic_any: false,
        }
    }

    /// The function with an object id.
    pub(super) fn by_oid(schema: &dyn Schema, oid: u32) -> Option<Self> {
        match facts::Function::by_oid(oid) {
            Some(fact) => Some(Self::of_facts(fact)),
            None => schema.function_by_oid(oid).map(|function| Self::of_user(&function, schema)),
        }
    }

    /// What its polymorphic types stand for in a call with these types; `None` where it has none, or does not take them.
    pub(super) fn standing(&self, given: &[Type]) -> Option<Standing> {
        let any = |(param, given)| match param {
            &TypeRef::Any(any) => Some((any, given)),
            _ => None,
        };
        let arguments: Vec<_> = self.params.iter().zip(given).filter_map(any).collect();
        if arguments.is_empty() { None } else { Standing::of(&arguments).ok() }
    }
}

/// A type by its object id.
fn type_of(oid: u32) -> TypeRef {
    match Polymorphic::of_oid(oid) {
        Some(any) => TypeRef::Any(any),
        None => match facts::Type::by_oid(oid) {
            Some(ty) if ty.kind == 'p' => TypeRef::Pseudo(oid),
            _ => types::from_oid(oid).map_or(TypeRef::Pseudo(oid), TypeRef::Is),
        },
    }
}

/// A type with the rows of tables looked up.
pub(super) fn settled(ty: &TypeRef, schema: &dyn Schema) -> TypeRef {
    match ty.looked_up(schema) {
        Ok(Some(found)) => TypeRef::Is(found),
        _ => ty.clone(),
    }
}

/// The type of an array's members.
fn member(ty: &TypeRef) -> Option<TypeRef> {
    match ty {
        TypeRef::Is(Type::Array(element)) => Some(TypeRef::Is((**element).clone())),
        TypeRef::Any(any) if any.is_array() => {
            Some(TypeRef::Any(if any.is_compatible() { Polymorphic::Compatible } else { Polymorphic::Element }))
        }
        _ => None,
    }
}

fn array_of(ty: &TypeRef) -> TypeRef {
    match ty {
        TypeRef::Is(Type::Array(_)) => ty.clone(),
        TypeRef::Is(ty) => TypeRef::Is(Type::Array(Box::new(ty.clone()))),
        TypeRef::Any(any) if any.is_compatible() => TypeRef::Any(Polymorphic::CompatibleArray),
        _ => TypeRef::Any(Polymorphic::Array),
    }
}

fn becomes(from: &TypeRef, to: &TypeRef) -> bool {
    from == to || matches!((from, to), (TypeRef::Is(from), TypeRef::Is(to)) if implicit(from, to))
}

/// What the polymorphic types of a function stand for: of those that must be of one type, and of those that are brought
/// to one.
#[derive(Default)]
struct Bound {
    exact: Option<TypeRef>,
    common: Option<TypeRef>,
    /// So many arguments are of just the declared type.
    alike: usize,
}

impl Bound {
    /// A declared type as it is in the call.
    fn settle(&self, declared: &TypeRef) -> TypeRef {
        let TypeRef::Any(any) = declared else { return declared.clone() };
        let bound = if any.is_compatible() { &self.common } else { &self.exact };
        match bound {
            Some(bound) if any.is_array() => array_of(bound),
            Some(bound) => bound.clone(),
            None => declared.clone(),
        }
    }

    fn bind(&mut self, any: Polymorphic, given: &TypeRef) -> Option<()> {
        let found = match any {
            // A range type follows from an element of none of the functions that aggregates have.
            any if any.is_of_ranges() => return None,
            any if any.is_array() => member(given)?,
            Polymorphic::NonArray | Polymorphic::CompatibleNonArray if member(given).is_some() => return None,
            Polymorphic::Enum if !is_enum(given) => return None,
            _ => given.clone(),
        };
        let slot = if any.is_compatible() { &mut self.common } else { &mut self.exact };
        match slot {
            None => *slot = Some(found),
            Some(known) if *known == found => {}
            Some(known) if any.is_compatible() && becomes(&found, known) => {}
            Some(known) if any.is_compatible() && becomes(known, &found) => *slot = Some(found),
            Some(_) => return None,
        }
        Some(())
    }
}

fn is_enum(ty: &TypeRef) -> bool {
    match ty {
        TypeRef::Is(ty) => ty.labels().is_some(),
        TypeRef::Any(any) => *any == Polymorphic::Enum,
        _ => false,
    }
}

/// How a function takes arguments; `None` where it does not.
fn fit(params: &[TypeRef], given: &[TypeRef]) -> Option<Bound> {
    if params.len() != given.len() {
        return None;
    }
    let mut bound = Bound::default();
    for (declared, given) in params.iter().zip(given) {
        match declared {
            declared if declared == given && !matches!(declared, TypeRef::Any(_)) => bound.alike += 1,
            TypeRef::Pseudo(ANY) => {}
            TypeRef::Any(any) => bound.bind(*any, given)?,
            declared if becomes(given, declared) => {}
            _ => return None,
        }
    }
    Some(bound)
}

/// A value of one type is one of the other as it is.
pub(super) fn is_coercible(from: &TypeRef, to: &TypeRef) -> bool {
    let (TypeRef::Is(from), TypeRef::Is(to)) = (from, to) else {
        return from == to || *to == TypeRef::Pseudo(ANY) || matches!(to, TypeRef::Any(_));
    };
    let from = from.through_domains();
    let (source, target) = (types::oid(from), types::oid(to));
    from == to
        || source == target
        || facts::Cast::between(source, target).is_some_and(|cast| cast.method == 'b' && cast.context == 'i')
}

/// `name(type, type)` as messages have it.
fn shown(name: &str, given: &[TypeRef]) -> String {
    format!("{name}({})", given.iter().map(TypeRef::words).collect::<Vec<_>>().join(", "))
}

impl Binder<'_> {
    /// The function behind an aggregate that a name with these types means.
    pub(super) fn support(&self, name: &QualifiedName, given: &[TypeRef], variadic_any: bool) -> Result<Found> {
        let text = name.to_string();
        let given: Vec<TypeRef> = given.iter().map(|ty| settled(ty, self.schema)).collect();
        let missing =
            || Error::new(Condition::UndefinedFunction, format!("function {} does not exist", shown(&text, &given)));
        let mut candidates: Vec<Support> = Vec::new();
        if matches!(name.schema.as_deref(), None | Some("pg_catalog")) {
            let named = facts::Function::named(&name.name).iter().filter(|fact| fact.kind == 'f');
            candidates.extend(named.map(|fact| Support::of_facts(fact)));
        }
        let users = self.schema.functions(name);
        let plain = users.iter().filter(|user| !user.definition.procedure && user.definition.aggregate.is_none());
        candidates.extend(plain.map(|user| Support::of_user(user, self.schema)));
        let mut fitting: Vec<(Support, Bound)> = candidates
            .into_iter()
            .filter_map(|support| {
                let bound = fit(&support.params, &given)?;
                Some((support, bound))
            })
            .collect();
        let best = fitting.iter().map(|(_, bound)| bound.alike).max().unwrap_or(0);
        fitting.retain(|(_, bound)| bound.alike == best);
        // With several alike the call is ambiguous, which PostgreSQL does not tell from one that means nothing.
        if best < given.len() && fitting.len() > 1 {
            return Err(missing());
        }
        let Some((support, bound)) = fitting.into_iter().next() else { return Err(missing()) };
        let mismatch = |message: String| Error::new(Condition::DatatypeMismatch, message);
        if support.set {
            return Err(mismatch(format!("function {} returns a set", shown(&text, &given))));
        }
        if variadic_any && !support.variadic_any {
            let shown = shown(&text, &given);
            return Err(mismatch(format!("function {shown} must accept VARIADIC ANY to be used in this aggregate")));
        }
        let taken: Vec<TypeRef> = support.params.iter().map(|declared| bound.settle(declared)).collect();
        if given.iter().zip(&taken).any(|(given, taken)| !is_coercible(given, taken)) {
            let shown = shown(&text, &taken);
            return Err(mismatch(format!("function {shown} requires run-time type coercion")));
        }
        let returns = bound.settle(&support.returns);
        Ok(Found { support, returns })
    }
}
