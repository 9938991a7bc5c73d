//! Which row of the function table a call or operator means (PostgreSQL's chapter "Type Conversion").

use rowferry_facts as facts;

use super::absent::{self, Verdict};
use super::binder::Binder;
use super::bound;
use super::choice::{self, Choice};
use super::coerce::{as_it_lies, base, implicit, same, unvectored};
use super::expr::user_operators::Meant;
use super::from::json_records;
use super::types;
use crate::extension;
use crate::functions::{self, Function, FunctionKind, Said, TypeSpec, Volatility};
use crate::ir::{CastContext, Expr, ExprKind};
use crate::scalar::ranges;
use crate::user_type;
use crate::{Condition, Language, Result, Type};

/// A row with the types that its arguments take in one call.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) function: &'static Function,
    /// One for each argument; `Unknown` where the row takes anything as it is.
    pub(super) args: Vec<Type>,
    pub(super) result: Type,
}

/// Whether a value of one type becomes one of another without being asked.
pub(super) type Implicit<'a> = &'a dyn Fn(&Type, &Type) -> bool;

/// What a call may mean, as the choice among several sees it.
pub(super) trait Signature: Clone {
    /// The types that the arguments take.
    fn args(&self) -> &[Type];

    /// The type that an argument is declared with; `None` for a polymorphic one, which is never an exact match.
    fn declared(&self, index: usize) -> Option<&Type>;

    /// The category of a declared argument; `P` for a polymorphic one.
    fn category(&self, index: usize) -> char {
        self.declared(index).map_or('P', types::category)
    }

    /// The declared argument is its category's preferred type.
    fn prefers(&self, index: usize) -> bool {
        self.declared(index).is_some_and(types::is_preferred)
    }

    /// True when arguments of these types can be given.
    fn takes(&self, inputs: &[Type], becomes: Implicit<'_>) -> bool {
        self.args().iter().zip(inputs).all(|(arg, input)| *arg == Type::Unknown || becomes(input, arg))
    }

    /// How many known arguments match as `fits` says.
    fn count(&self, inputs: &[Type], fits: impl Fn(&Type, &Type) -> bool) -> usize {
        inputs
            .iter()
            .enumerate()
            .filter(|(index, input)| {
                **input != Type::Unknown && self.declared(*index).is_some_and(|declared| fits(declared, input))
            })
            .count()
    }
}

impl Signature for Candidate {
    fn args(&self) -> &[Type] {
        &self.args
    }

    fn declared(&self, index: usize) -> Option<&Type> {
        let spec = &self.function.args[index.min(self.function.args.len().saturating_sub(1))];
        match spec {
            TypeSpec::Is(_) | TypeSpec::ArrayOf(_) => self.args.get(index),
            TypeSpec::Any
            | TypeSpec::AnyRow
            | TypeSpec::AnyElement
            | TypeSpec::AnyEnum
            | TypeSpec::AnyArray
            | TypeSpec::AnyMultirange
            | TypeSpec::AnyRange
            | TypeSpec::SameAs(_) => None,
        }
    }

    fn takes(&self, inputs: &[Type], becomes: Implicit<'_>) -> bool {
        if self.function.args.iter().any(is_of_ranges) {
            return instantiate_of_ranges(self.function, inputs).is_some();
        }
        self.args.iter().zip(inputs).all(|(arg, input)| *arg == Type::Unknown || becomes(input, arg))
    }
}

/// A family whose constructors have some name.
struct Made {
    family: ranges::Family,
    of_ranges: bool,
    of_multiranges: bool,
}

/// Why no candidate could be chosen.
pub(super) enum Miss {
    /// None takes these arguments.
    None,
    /// Several do.
    Ambiguous,
}

/// The rows of a name that take so many arguments, with polymorphic types solved for `inputs`.
pub(super) fn candidates(name: &str, inputs: &[Type], wanted: impl Fn(FunctionKind) -> bool) -> Vec<Candidate> {
    functions::named(Language::Postgres, name)
        .filter(|row| wanted(row.kind))
        .filter_map(|row| instantiate(row, inputs))
        .collect()
}

/// A row's signature for a call; `None` when the number of arguments or the polymorphic types do not fit.
pub(super) fn instantiate(function: &'static Function, inputs: &[Type]) -> Option<Candidate> {
    let declared = function.args.len();
    let fits = if function.variadic {
        inputs.len() >= declared - function.optional.min(declared)
    } else {
        inputs.len() <= declared && inputs.len() + function.optional >= declared
    };
    if !fits {
        return None;
    }
    let spec = |index: usize| &function.args[index.min(declared.saturating_sub(1))];
    if function.args.iter().any(is_of_ranges) {
        return instantiate_of_ranges(function, inputs);
    }
    let no_row = |(at, input): (usize, &Type)| *input != Type::Unknown && !input.is_row() && takes_rows(function, at);
    if inputs.iter().enumerate().any(no_row) {
        return None;
    }
    // What AnyElement stands for: members of one common type.
    let mut element: Option<Type> = None;
    let mut polymorphic = false;
    for (index, input) in inputs.iter().enumerate() {
        let found = match (spec(index), input) {
            (TypeSpec::AnyElement, ty) => {
                polymorphic = true;
                if *ty == Type::Unknown { None } else { Some(standing(ty)) }
            }
            (TypeSpec::AnyEnum, Type::Unknown) => {
                polymorphic = true;
                None
            }
            (TypeSpec::AnyEnum, ty) => {
                polymorphic = true;
                ty.labels()?;
                Some(base(ty))
            }
            (TypeSpec::AnyArray, Type::Array(ty)) => {
                polymorphic = true;
                if **ty == Type::Unknown { None } else { Some(standing(ty)) }
            }
            (TypeSpec::AnyArray, Type::Unknown) => {
                polymorphic = true;
                None
            }
            (TypeSpec::AnyArray, _) => return None,
            (TypeSpec::AnyRow, ty) if !ty.through_domains().is_row() => return None,
            _ => None,
        };
        if let Some(found) = found {
            element = match element {
                None => Some(found),
                Some(current) if current == found => Some(current),
                Some(current) => Some(in_common(base(&current), base(&found))?),
            };
        }
    }
    // An enum type follows from nothing but a value of it.
    if element.is_none() && function.args.contains(&TypeSpec::AnyEnum) {
        return None;
    }
    // An array is no element of another's: `'{1}'::int[] || $1` joins two arrays, and puts none before another.
    let takes = |wanted: &TypeSpec| function.args.contains(wanted);
    if matches!(element, Some(Type::Array(_))) && takes(&TypeSpec::AnyElement) && takes(&TypeSpec::AnyArray) {
        return None;
    }
    let element = match element {
        Some(element) => element,
        None if polymorphic => Type::Text,
        None => Type::Unknown,
    };
    // An array of arrays is an array of more dimensions, of the same type.
    let array = || match &element {
        Type::Array(_) => element.clone(),
        element => Type::Array(Box::new(element.clone())),
    };
    let args: Vec<Type> = inputs
        .iter()
        .enumerate()
        .map(|(index, input)| match spec(index) {
            TypeSpec::Is(ty) => ty.clone(),
            TypeSpec::Any if *input == Type::Unknown => Type::Text,
            TypeSpec::Any | TypeSpec::AnyRow => Type::Unknown,
            TypeSpec::AnyElement | TypeSpec::AnyEnum => element.clone(),
            TypeSpec::AnyArray => array(),
            TypeSpec::ArrayOf(ty) => Type::Array(Box::new(ty.clone())),
            TypeSpec::SameAs(_) | TypeSpec::AnyMultirange | TypeSpec::AnyRange => input.clone(),
        })
        .collect();
    if function.kind == FunctionKind::Operator
        && inputs.iter().enumerate().any(|(index, input)| {
            matches!(spec(index), TypeSpec::Any) && matches!(input, Type::Array(_) | Type::Unknown)
        })
    {
        return None;
    }
    let result = match &function.result {
        TypeSpec::Is(ty) => ty.clone(),
        TypeSpec::AnyElement | TypeSpec::AnyEnum => element.clone(),
        TypeSpec::AnyArray => array(),
        TypeSpec::ArrayOf(ty) => Type::Array(Box::new(ty.clone())),
        TypeSpec::SameAs(index) => inputs.get(*index).cloned().unwrap_or(Type::Text),
        TypeSpec::Any | TypeSpec::AnyRow | TypeSpec::AnyMultirange | TypeSpec::AnyRange => Type::Text,
    };
    Some(Candidate { function, args, result })
}

/// A candidate that was chosen by what domains are made of, with the domains themselves in the place of its polymorphic
/// types.
pub(super) fn of_domains<'t>(candidate: Candidate, given: impl Iterator<Item = &'t Type>) -> Candidate {
    let polymorphic = |spec: &TypeSpec| matches!(spec, TypeSpec::AnyElement | TypeSpec::AnyArray);
    if !candidate.function.args.iter().any(polymorphic) {
        return candidate;
    }
    let given: Vec<Type> = given.map(standing).collect();
    let is_domain = |ty: &Type| match ty {
        Type::Array(element) => element.is_domain(),
        ty => ty.is_domain(),
    };
    if !given.iter().any(is_domain) {
        return candidate;
    }
    instantiate(candidate.function, &given).unwrap_or(candidate)
}

/// What a polymorphic type stands for where a value of this type is given: a domain itself, but what one over arrays is
/// made of; no modifiers.
pub(super) fn standing(ty: &Type) -> Type {
    match ty {
        Type::Array(element) => Type::Array(Box::new(standing(element))),
        ty if ty.is_domain() && !matches!(ty.through_domains(), Type::Array(_)) => ty.clone(),
        ty => base(ty),
    }
}

/// The one of two types that the other becomes by itself.
fn in_common(current: Type, found: Type) -> Option<Type> {
    if same(&current, &found) || implicit(&found, &current) {
        return Some(current);
    }
    implicit(&current, &found).then_some(found)
}

/// The type without modifiers, domains as they are.
pub(super) fn unmodified(ty: &Type) -> Type {
    match ty {
        Type::Array(element) => Type::Array(Box::new(unmodified(element))),
        ty if ty.is_domain() => ty.clone(),
        ty => base(ty),
    }
}

/// An operator between operands of types, as messages say it.
fn shown_operator(name: &str, given: &[Type]) -> String {
    let words = |ty: &Type| match unmodified(ty) {
        Type::Unknown => "unknown".to_owned(),
        ty => types::words(&ty),
    };
    match given {
        [operand] => format!("{name} {}", words(operand)),
        [left, right] => format!("{} {name} {}", words(left), words(right)),
        _ => name.to_owned(),
    }
}

/// An operator whose polymorphic operands become one type by themselves: `integer[] || bigint`. PostgreSQL declares those
/// with `anycompatible`; all others take what is of one type already.
fn brings_together(function: &Function) -> bool {
    function.name == "||"
}

/// What a range or multirange is declared over.
fn subtype_of(ty: &Type) -> Option<Type> {
    match ty {
        Type::User(user) => user.subtype().map(|subtype| unmodified(subtype)),
        ty => ranges::of_range(ty).or_else(|| ranges::of_multirange(ty)).map(|family| family.subtype.ty()),
    }
}

/// The polymorphic operands of an operator are of one type, a domain being none but itself.
fn of_one_type(function: &Function, given: &[Type]) -> bool {
    let member = |(spec, ty): (&TypeSpec, &Type)| match (spec, ty.through_domains()) {
        (TypeSpec::AnyArray, Type::Array(element)) => Some(unmodified(element)),
        (TypeSpec::AnyRange | TypeSpec::AnyMultirange, ty) => subtype_of(ty),
        (TypeSpec::AnyElement, Type::Unknown) => None,
        (TypeSpec::AnyElement, _) => Some(unmodified(ty)),
        _ => None,
    };
    let mut members = function.args.iter().zip(given).filter_map(member);
    let Some(first) = members.next() else { return true };
    let alike = |ty: &Type| same(ty, &first) || matches!((ty, &first), (Type::Record(_), Type::Record(_)));
    members.all(|ty| alike(&ty))
}

/// A range or multirange of any type.
const fn is_of_ranges(spec: &TypeSpec) -> bool {
    matches!(spec, TypeSpec::AnyMultirange | TypeSpec::AnyRange)
}

/// The same for a row that takes ranges. They are all of one family, and an element is its subtype as it is: none is
/// converted. What they are stays [`Type::Unknown`] while no argument tells.
fn instantiate_of_ranges(function: &'static Function, inputs: &[Type]) -> Option<Candidate> {
    let mut family = None;
    for (spec, input) in function.args.iter().zip(inputs).filter(|(spec, _)| is_of_ranges(spec)) {
        let found = match (spec, input) {
            (_, Type::Unknown) => continue,
            (TypeSpec::AnyRange, ty) => ranges::of_range(ty)?,
            (_, ty) => ranges::of_multirange(ty)?,
        };
        if family.as_ref().is_some_and(|known: &ranges::Family| known.range != found.range) {
            return None;
        }
        family = Some(found);
    }
    let of = |spec: &TypeSpec| match (spec, &family) {
        (TypeSpec::Is(ty), _) => ty.clone(),
        (TypeSpec::AnyElement, Some(family)) => family.subtype.ty(),
        (TypeSpec::AnyRange, Some(family)) => family.range.clone(),
        (TypeSpec::AnyMultirange, Some(family)) => family.multirange.clone(),
        _ => Type::Unknown,
    };
    let args: Vec<Type> = function.args.iter().map(of).collect();
    let is_element = |(spec, _): &(&TypeSpec, _)| **spec == TypeSpec::AnyElement;
    let mut elements = function.args.iter().zip(inputs).filter(is_element).map(|(_, input)| input);
    let fits = |input: &Type| match &family {
        Some(family) => *input == Type::Unknown || same(input, &base(&family.subtype.ty())),
        None => true,
    };
    elements.all(fits).then(|| Candidate { function, args, result: of(&function.result) })
}

/// Chooses among candidates by PostgreSQL's steps; `None` in `args` types means "as it is".
pub(super) fn choose<S: Signature>(
    all: Vec<S>,
    inputs: &[Type],
    operator: bool,
    becomes: Implicit<'_>,
) -> std::result::Result<S, Miss> {
    let exact = |candidate: &S, inputs: &[Type]| candidate.count(inputs, same) == inputs.len();
    if let Some(found) = all.iter().find(|candidate| exact(candidate, inputs)) {
        return Ok(found.clone());
    }
    // A binary operator with one operand of unknown type: first try the other's type for it.
    if operator && inputs.len() == 2 {
        let assumed = match (&inputs[0], &inputs[1]) {
            (Type::Unknown, known) if *known != Type::Unknown => Some(known),
            (known, Type::Unknown) if *known != Type::Unknown => Some(known),
            _ => None,
        };
        if let Some(known) = assumed
            && let Some(found) = all.iter().find(|candidate| exact(candidate, &[known.clone(), known.clone()]))
        {
            return Ok(found.clone());
        }
    }
    let mut left: Vec<S> = all.into_iter().filter(|candidate| candidate.takes(inputs, becomes)).collect();
    match left.len() {
        0 => return Err(Miss::None),
        1 => return left.pop().ok_or(Miss::None),
        _ => {}
    }
    keep_best(&mut left, |candidate| candidate.count(inputs, same));
    if left.len() == 1 {
        return left.pop().ok_or(Miss::None);
    }
    keep_best(&mut left, |candidate| {
        candidate.count(inputs, |declared, input| {
            same(declared, input)
                || (types::is_preferred(declared) && types::category(declared) == types::category(input))
        })
    });
    if left.len() == 1 {
        return left.pop().ok_or(Miss::None);
    }
    if !inputs.contains(&Type::Unknown) {
        return Err(Miss::Ambiguous);
    }
    if let Some(found) = by_category(&left, inputs) {
        return Ok(found);
    }
    // All known types alike: the unknown ones are that, too.
    let mut known = inputs.iter().filter(|ty| **ty != Type::Unknown);
    if let Some(first) = known.next()
        && known.all(|ty| same(ty, first))
    {
        let assumed = vec![first.clone(); inputs.len()];
        let mut fitting = left.iter().filter(|candidate| candidate.takes(&assumed, becomes));
        if let (Some(found), None) = (fitting.next(), fitting.next()) {
            return Ok(found.clone());
        }
    }
    Err(Miss::Ambiguous)
}

fn keep_best<S: Signature>(left: &mut Vec<S>, score: impl Fn(&S) -> usize) {
    let best = left.iter().map(&score).max().unwrap_or(0);
    left.retain(|candidate| score(candidate) == best);
}

/// Decides unknown arguments by the category that candidates agree on; text wins when any accepts it.
fn by_category<S: Signature>(left: &[S], inputs: &[Type]) -> Option<S> {
    let mut kept: Vec<&S> = left.iter().collect();
    let mut slots = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        if *input != Type::Unknown {
            continue;
        }
        let categories: Vec<char> = left.iter().map(|candidate| candidate.category(index)).collect();
        let category = if categories.contains(&'S') {
            'S'
        } else {
            let first = *categories.first()?;
            if categories.iter().any(|category| *category != first) {
                return None;
            }
            first
        };
        let preferred = left.iter().any(|candidate| candidate.category(index) == category && candidate.prefers(index));
        slots.push((index, category, preferred));
    }
    for (index, category, preferred) in slots {
        kept.retain(|candidate| candidate.category(index) == category && (!preferred || candidate.prefers(index)));
    }
    match kept.as_slice() {
        [found] => Some((*found).clone()),
        _ => None,
    }
}

/// A candidate, unless PostgreSQL would call another function that is not here, or could not choose: ours of the name are
/// not all of its.
fn confirmed(found: Candidate, name: &str, inputs: &[Type]) -> std::result::Result<Candidate, Miss> {
    let exact = found.args.iter().zip(inputs).all(|(arg, input)| *arg != Type::Unknown && same(arg, input));
    if exact && found.count(inputs, same) == inputs.len() {
        return Ok(found);
    }
    match choice::function(name, &absent::oids(inputs), |_| true) {
        Choice::Several => Err(Miss::Ambiguous),
        // Numbers become one another without loss of meaning: a wider function of ours answers as theirs.
        Choice::One(fact) if bound::function(fact, inputs.len()).is_none() && !inputs.iter().any(Type::is_number) => {
            Err(Miss::None)
        }
        _ => Ok(found),
    }
}

/// Types of arguments in a message.
pub(super) fn signature(args: &[Type]) -> String {
    args.iter()
        .map(|ty| if *ty == Type::Unknown { "unknown".to_owned() } else { types::words(ty) })
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether PostgreSQL's function of the name takes rows alone where ours takes what it is given.
fn takes_rows(function: &Function, at: usize) -> bool {
    const RECORD: u32 = 2_249;
    if function.args.get(at) != Some(&TypeSpec::Any) {
        return false;
    }
    let mut taken = facts::Function::named(function.name).iter().filter_map(|fact| fact.arguments.get(at)).peekable();
    taken.peek().is_some() && taken.all(|ty| *ty == RECORD)
}

/// Whether a function takes an argument of any type whatever, so that nothing follows from it about a parameter.
fn takes_anything(function: &Function, at: usize) -> bool {
    const ANY: u32 = 2_276;
    if function.args.get(at).or(function.args.last()) != Some(&TypeSpec::Any) {
        return false;
    }
    let known = facts::Function::named(function.name);
    let taken = |fact: &&facts::Function| {
        fact.arguments.get(at).or(if fact.variadic == 0 { None } else { fact.arguments.last() }).copied()
    };
    let mut taken = known.iter().filter_map(taken).peekable();
    taken.peek().is_some() && taken.all(|ty| ty == ANY)
}

impl Binder<'_> {
    /// Finds the function that a call means.
    pub(super) fn find_function(
        &self,
        name: &str,
        inputs: &[Type],
        wanted: impl Fn(FunctionKind) -> bool,
    ) -> std::result::Result<Candidate, Miss> {
        self.find_function_in(None, name, inputs, wanted)
    }

    /// The same, of an extension in a schema when one is named.
    pub(super) fn find_function_in(
        &self,
        namespace: Option<&str>,
        name: &str,
        inputs: &[Type],
        wanted: impl Fn(FunctionKind) -> bool,
    ) -> std::result::Result<Candidate, Miss> {
        let mut all = self.extension_candidates(namespace, name, inputs, &wanted);
        all.extend(self.range_constructors(namespace, name, inputs));
        let of_others = !all.is_empty();
        if namespace.is_none() {
            all.extend(candidates(name, inputs, wanted));
        }
        let by_users = inputs.iter().any(|input| self.has_casts_from(input));
        let found = choose(all, inputs, false, &|from, to| self.becomes(from, to))?;
        // With functions of extensions or types beside them PostgreSQL's own are not all that it chooses among.
        if of_others || by_users { Ok(found) } else { confirmed(found, name, inputs) }
    }

    /// The rows of a name that the file's extensions bring.
    pub(super) fn extension_candidates(
        &self,
        namespace: Option<&str>,
        name: &str,
        inputs: &[Type],
        wanted: impl Fn(FunctionKind) -> bool,
    ) -> Vec<Candidate> {
        // Nearly every file has none.
        if self.schema.extensions().is_empty() {
            return Vec::new();
        }
        let rows = extension::visible(self.schema, namespace).flat_map(|extension| extension.functions(name));
        rows.filter(|row| wanted(row.kind)).filter_map(|row| instantiate(row, inputs)).collect()
    }

    /// Notes that what is bound needs the extension that a type comes from.
    pub(super) fn note_extension_of_type(&mut self, ty: &Type) {
        let Some(facts) = extension::of_type(ty) else { return };
        let oid = self.schema.extensions().iter().find(|extension| extension.facts == facts).map(|found| found.oid);
        self.note(|uses| uses.types.extend(oid));
    }

    /// The object id and the schema of a type that users have made, or of the extension that has brought it.
    pub(super) fn place_of_type(&self, ty: &Type) -> Option<(u32, String)> {
        match ty {
            Type::Array(element) => self.place_of_type(element),
            Type::User(user) => Some((user.oid, user.namespace.clone())).filter(|(_, namespace)| !namespace.is_empty()),
            ty => {
                let facts = extension::of_type(ty)?;
                let mut all = self.schema.extensions().iter();
                all.find(|extension| extension.facts == facts).map(|found| (found.oid, found.namespace.clone()))
            }
        }
    }

    /// Notes where a function of an extension is called.
    pub(super) fn note_call_of_extension(&mut self, called: &Expr, location: i32) {
        let ExprKind::Call { function, .. } = &called.kind else { return };
        let mut all = self.schema.extensions().iter();
        let found = all.find(|extension| extension.functions(function.name).any(|row| std::ptr::eq(row, *function)));
        if let Some((oid, namespace)) = found.map(|extension| (extension.oid, extension.namespace.clone())) {
            self.note_place(location, oid, &namespace);
        }
    }

    /// Notes that what is bound needs the extension that a function comes from.
    fn note_extension_of_function(&mut self, function: &'static Function) {
        let mut all = self.schema.extensions().iter();
        let found = all.find(|extension| extension.functions(function.name).any(|row| row.is(function)));
        let oid = found.map(|extension| extension.oid);
        self.note(|uses| uses.types.extend(oid));
    }

    /// True when a visible extension has a function or operator of a name that is not carried out here.
    fn is_absent_of_extension(&self, name: &str, count: usize) -> bool {
        extension::visible(self.schema, None).any(|extension| {
            let mut functions = extension.facts.functions().iter();
            let function = functions.any(|fact| fact.name == name && fact.arguments.len() == count);
            let known = extension.functions(name).any(|row| row.args.len() == count);
            (function || extension.facts.operators().iter().any(|operator| operator.name == name)) && !known
        })
    }

    /// Finds the function that a call with VARIADIC before its last argument means.
    pub(super) fn find_variadic(
        &self,
        namespace: Option<&str>,
        name: &str,
        inputs: &[Type],
    ) -> std::result::Result<Candidate, Miss> {
        let mut all = self.variadic_constructors(namespace, name, inputs);
        if namespace.is_none() {
            all.extend(functions::called_variadic(name).filter_map(|row| instantiate(row, inputs)));
        }
        choose(all, inputs, false, &|from, to| self.becomes(from, to))
    }

    /// The range types of users whose constructors, or those of whose multirange types, can be called by a name.
    fn ranges_made_by(&self, namespace: Option<&str>, name: &str) -> Vec<Made> {
        let mut found = Vec::new();
        for ty in self.schema.user_types() {
            let Some(range) = ty.range() else { continue };
            let called = |(schema, known): &(String, String)| {
                known == name && namespace.map_or_else(|| self.schema.is_in_path(schema), |wanted| wanted == schema)
            };
            let (of_ranges, of_multiranges) =
                (called(&range.constructors.range), called(&range.constructors.multirange));
            if of_ranges || of_multiranges {
                found.push(Made { family: user_type::family(&ty), of_ranges, of_multiranges });
            }
        }
        found
    }

    /// The functions of a name that make values of users' range types.
    pub(super) fn range_constructors(&self, namespace: Option<&str>, name: &str, inputs: &[Type]) -> Vec<Candidate> {
        let mut found = Vec::new();
        for Made { family, of_ranges, of_multiranges } in self.ranges_made_by(namespace, name) {
            if of_ranges && matches!(inputs.len(), 2 | 3) {
                let subtype = family.subtype.ty();
                let mut args = vec![subtype.clone(), subtype, Type::Text];
                args.truncate(inputs.len());
                found.push(Candidate {
                    function: functions::internal("range of a user"),
                    args,
                    result: family.range.clone(),
                });
            }
            if of_multiranges {
                let (function, args) = (functions::internal("multirange of a user"), vec![family.range; inputs.len()]);
                found.push(Candidate { function, args, result: family.multirange });
            }
        }
        found
    }

    fn variadic_constructors(&self, namespace: Option<&str>, name: &str, inputs: &[Type]) -> Vec<Candidate> {
        let made = self.ranges_made_by(namespace, name).into_iter();
        let made = made.filter(|made| made.of_multiranges && inputs.len() == 1);
        made.map(|Made { family, .. }| {
            let args = vec![Type::Array(Box::new(family.range))];
            Candidate {
                function: functions::internal("multirange of a user by array"),
                args,
                result: family.multirange,
            }
        })
        .collect()
    }

    /// True when a name in a schema is that of a constructor of a range or multirange type.
    pub(super) fn makes_ranges(&self, namespace: &str, name: &str) -> bool {
        !self.ranges_made_by(Some(namespace), name).is_empty()
    }

    /// An operator that stands in the function table, applied to its operands.
    pub(super) fn operator(&mut self, name: &str, operands: Vec<(Expr, i32)>, location: i32) -> Result<Expr> {
        match self.meant_by_operator(name, operands, location)? {
            Meant::Value(value) => Ok(value),
            Meant::BuiltIn(operands) => self.built_in_operator(name, operands, location),
        }
    }

    /// The same of PostgreSQL's own and of extensions.
    pub(super) fn built_in_operator(&mut self, name: &str, operands: Vec<(Expr, i32)>, location: i32) -> Result<Expr> {
        let operands: Vec<(Expr, i32)> = operands.into_iter().map(|(operand, at)| (unvectored(operand), at)).collect();
        let inputs: Vec<Type> = operands.iter().map(|(expr, _)| base(&expr.ty)).collect();
        let wanted = |kind| kind == FunctionKind::Operator;
        let mut all = self.extension_candidates(None, name, &inputs, wanted);
        all.extend(candidates(name, &inputs, wanted));
        let given = || operands.iter().map(|(expr, _)| expr.ty.clone()).collect::<Vec<Type>>();
        match choose(all, &inputs, true, &implicit) {
            Ok(candidate) if !brings_together(candidate.function) && !of_one_type(candidate.function, &given()) => {
                Err(self.operator_missed(name, &given(), location, Miss::None))
            }
            Ok(candidate) => self.call(candidate, operands),
            Err(miss) => Err(self.no_operator(name, &given(), location, miss)),
        }
    }

    /// The error for an operator that does not exist for operands of these types.
    pub(super) fn no_operator(&self, name: &str, given: &[Type], location: i32, miss: Miss) -> crate::Error {
        let inputs: Vec<Type> = given.iter().map(base).collect();
        let miss = match (miss, absent::operator(name, &inputs)) {
            (Miss::None, Verdict::Has) => {
                return self.unsupported(format!("operator {}", shown_operator(name, given)), location);
            }
            (Miss::None, Verdict::Ambiguous) => Miss::Ambiguous,
            (miss, _) => miss,
        };
        self.operator_missed(name, given, location, miss)
    }

    /// The same where PostgreSQL has none either, or several.
    pub(super) fn operator_missed(&self, name: &str, given: &[Type], location: i32, miss: Miss) -> crate::Error {
        let shown = shown_operator(name, given);
        let (condition, message, hint) = match miss {
            Miss::None => (
                Condition::UndefinedFunction,
                format!("operator does not exist: {shown}"),
                if given.len() == 1 {
                    "No operator matches the given name and argument type. You might need to add an explicit type cast."
                } else {
                    "No operator matches the given name and argument types. You might need to add explicit type casts."
                },
            ),
            Miss::Ambiguous => (
                Condition::AmbiguousFunction,
                format!("operator is not unique: {shown}"),
                "Could not choose a best candidate operator. You might need to add explicit type casts.",
            ),
        };
        self.error(condition, message, location).hint(hint)
    }

    /// Arguments converted to what a candidate takes.
    pub(super) fn arguments(&mut self, candidate: &Candidate, args: Vec<(Expr, i32)>) -> Result<Vec<Expr>> {
        if candidate.function.args.iter().any(is_of_ranges) && candidate.args.contains(&Type::Unknown) {
            return Err(self.error(
                Condition::DatatypeMismatch,
                "could not determine polymorphic type because input has type unknown",
                args.first().map_or(-1, |(_, place)| *place),
            ));
        }
        self.note_extension_of_function(candidate.function);
        // The query that it runs may read anything.
        self.effects.reads |= functions::runs_a_query(candidate.function);
        match candidate.function.volatility {
            Volatility::Immutable => {}
            Volatility::Stable | Volatility::Volatile => self.effects.volatile = true,
        }
        self.effects.writes |= candidate.function.writes;
        let mut converted = Vec::with_capacity(args.len());
        for (at, ((arg, location), ty)) in args.into_iter().zip(&candidate.args).enumerate() {
            let anything = arg.ty == Type::Unknown && takes_anything(candidate.function, at);
            converted.push(if anything && self.leaves_open(&arg, location) {
                arg
            } else if *ty == Type::Unknown {
                let arg = self.settle(arg, location)?;
                let shows = candidate.function.kind == FunctionKind::Scalar && matches!(arg.ty, Type::Char(_));
                let blanks = Type::Char(types::BLANK_PADDED_ANY);
                if shows { self.coerce(arg, &blanks, CastContext::Implicit, location)? } else { arg }
            } else {
                // The least and the greatest are found where they lie.
                let chooses = matches!(candidate.function.name, "min" | "max");
                let arg = if chooses { as_it_lies(arg, ty) } else { arg };
                self.coerce(arg, ty, CastContext::Implicit, location)?
            });
        }
        Ok(converted)
    }

    /// A call of a candidate.
    pub(super) fn call(&mut self, candidate: Candidate, args: Vec<(Expr, i32)>) -> Result<Expr> {
        // What it makes of JSON must hold what the domains in the row's type ask.
        let row = args.first().map(|(row, _)| row.ty.clone());
        let makes = json_records::makes_records(candidate.function.name)
            || candidate.function.said == Said::Special("hstore_populate_record");
        let row = row.filter(|row| makes && row.is_constrained());
        let candidate = of_domains(candidate, args.iter().map(|(arg, _)| &arg.ty));
        let args = self.arguments(&candidate, args)?;
        let Candidate { function, result, .. } = candidate;
        if let Some(row) = row {
            let made = Expr::new(ExprKind::Call { function, args }, row.without_domains());
            return self.checked(made, &row, CastContext::Implicit);
        }
        Ok(Expr::new(ExprKind::Call { function, args }, result))
    }

    /// A call of a function by name, for constructs that the grammar spells otherwise.
    pub(super) fn call_named(&mut self, name: &str, args: Vec<(Expr, i32)>, location: i32) -> Result<Expr> {
        let inputs: Vec<Type> = args.iter().map(|(expr, _)| base(&expr.ty)).collect();
        match self.find_function(name, &inputs, |kind| kind == FunctionKind::Scalar) {
            Ok(candidate) => self.call(candidate, args),
            Err(miss) => Err(self.no_function(name, &inputs, location, miss)),
        }
    }

    /// The error for a function that does not exist for these arguments.
    pub(super) fn no_function(&self, name: &str, inputs: &[Type], location: i32, miss: Miss) -> crate::Error {
        let shown = format!("{name}({})", signature(inputs));
        let miss = match (miss, absent::function(name, inputs)) {
            (Miss::None, _) if self.is_absent_of_extension(name, inputs.len()) => {
                return self.unsupported(format!("function {shown}"), location);
            }
            (Miss::None, Verdict::Has) => return self.unsupported(format!("function {shown}"), location),
            (Miss::None, Verdict::Ambiguous) => Miss::Ambiguous,
            (miss, _) => miss,
        };
        self.undefined_function(name, inputs, location, miss)
    }

    /// The error for a function that PostgreSQL does not have for these arguments either.
    pub(super) fn undefined_function(&self, name: &str, inputs: &[Type], location: i32, miss: Miss) -> crate::Error {
        let shown = format!("{name}({})", signature(inputs));
        match miss {
            Miss::None => {
                self.error(Condition::UndefinedFunction, format!("function {shown} does not exist"), location).hint(
                    "No function matches the given name and argument types. You might need to add explicit type casts.",
                )
            }
            Miss::Ambiguous => self
                .error(Condition::AmbiguousFunction, format!("function {shown} is not unique"), location)
                .hint("Could not choose a best candidate function. You might need to add explicit type casts."),
        }
    }
}
