//! CREATE AGGREGATE: what PostgreSQL asks of an aggregate and of the functions behind it.

use pg_query::protobuf as pg;

use rowferry_facts as facts;

use super::aggregate_text::{Options, arguments};
use super::definition_text;
use super::support::{Found, is_coercible, settled};
use crate::error::Severity;
use crate::ir::{CreateFunction, Ddl};
use crate::postgres::binder::Binder;
use crate::postgres::names;
use crate::schema::QualifiedName;
use crate::stored_aggregate::{AggregateKind, AggregatePart, Modify};
use crate::stored_function::{ANY, Definition, INTERNAL, Param, ParamMode, StoredFunction, TypeRef};
use crate::{Condition, Error, Result, Type};

/// Functions have so many parameters at most, and the state is one of them.
const MOST_ARGUMENTS: usize = 99;

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidFunctionDefinition, message)
}

/// The functions of an aggregate, as far as they are found.
struct Functions {
    transition: Found,
    moving_transition: Option<Found>,
    moving_inverse: Option<Found>,
    finish: Option<Found>,
    moving_finish: Option<Found>,
    combine: Option<Found>,
    serialize: Option<Found>,
    deserialize: Option<Found>,
}

/// What of an aggregate its functions have to fit to.
struct Signature {
    kind: AggregateKind,
    args: Vec<TypeRef>,
    direct: usize,
    variadic: Option<TypeRef>,
    state: TypeRef,
    moving_state: Option<TypeRef>,
}

impl Signature {
    /// The types that a transition function takes behind a state of a type.
    fn transition_args(&self, state: &TypeRef) -> Vec<TypeRef> {
        let first = match self.kind {
            AggregateKind::Normal => 0,
            // Where VARIADIC covers both lists, its last one is what comes in.
            _ if self.direct >= self.args.len() => self.args.len().saturating_sub(1),
            _ => self.direct,
        };
        std::iter::once(state).chain(&self.args[first..]).cloned().collect()
    }

    /// The types that a final function takes behind a state of a type.
    fn finish_args(&self, state: &TypeRef, extra: bool) -> Vec<TypeRef> {
        let count = if extra { self.args.len() } else { self.direct };
        std::iter::once(state).chain(&self.args[..count]).cloned().collect()
    }

    fn variadic_any(&self) -> bool {
        self.variadic == Some(TypeRef::Pseudo(ANY))
    }
}

impl Binder<'_> {
    /// CREATE AGGREGATE.
    pub(in crate::postgres) fn create_aggregate(&mut self, define: &pg::DefineStmt) -> Result<Ddl> {
        let name = match names::strings(&define.defnames).as_slice() {
            [name] => QualifiedName::bare(*name),
            [.., schema, name] => QualifiedName::new(*schema, *name),
            [] => return Err(Error::internal("an aggregate without a name")),
        };
        let namespace = self.function_namespace(&name)?;
        let (options, unknown) = Options::of(&define.definition);
        let (mut params, direct) = if define.oldstyle { (Vec::new(), None) } else { arguments(&define.args)? };
        let mut kind = if direct.is_some() { AggregateKind::OrderedSet } else { AggregateKind::Normal };
        if options.truth("hypothetical")? {
            if kind == AggregateKind::Normal {
                return Err(invalid("only ordered-set aggregates can be hypothetical"));
            }
            kind = AggregateKind::HypotheticalSet;
        }
        for name in unknown {
            let warning = Error::new(Condition::SyntaxError, format!("aggregate attribute \"{name}\" not recognized"));
            self.notices.push(warning.with_severity(Severity::Warning));
        }
        let state = options.ty("stype")?.ok_or_else(|| invalid("aggregate stype must be specified"))?;
        check_required(&options)?;
        if define.oldstyle {
            params = old_parameters(&options)?;
        } else if options.has("basetype") {
            return Err(invalid("basetype is redundant with aggregate input type specification"));
        }
        for param in &mut params {
            param.ty = self.known_type(&param.ty)?;
        }
        let state = self.known_type(&state)?;
        let moving_state = options.ty("mstype")?.map(|ty| self.known_type(&ty)).transpose()?;
        check_state(&state)?;
        check_serialization(&options, &state)?;
        moving_state.iter().try_for_each(check_state)?;
        let parallel = options.parallel()?;
        let part = AggregatePart {
            kind,
            direct: direct.unwrap_or(0),
            transition: 0,
            finish: 0,
            combine: 0,
            serialize: 0,
            deserialize: 0,
            moving_transition: 0,
            moving_inverse: 0,
            moving_finish: 0,
            finish_extra: options.truth("finalfunc_extra")?,
            moving_finish_extra: options.truth("mfinalfunc_extra")?,
            finish_modify: options.modify("finalfunc_modify", kind)?,
            moving_finish_modify: options.modify("mfinalfunc_modify", kind)?,
            sort_operator: 0,
            state,
            state_space: options.number("sspace")?,
            moving_state,
            moving_state_space: options.number("msspace")?,
            initial: options.words("initcond")?,
            moving_initial: options.words("minitcond")?,
        };
        self.check_initial(&part)?;
        let (part, returns) = self.with_functions(part, &params, &options)?;
        let definition = Definition::of_aggregate(params, returns, parallel, part);
        definition.types().for_each(|ty| self.needs.declare(ty));
        self.aggregate_as(namespace, name.name, definition, define.replace)
    }

    /// The statement that makes or replaces an aggregate.
    fn aggregate_as(&mut self, namespace: String, name: String, definition: Definition, replace: bool) -> Result<Ddl> {
        let function = StoredFunction::new(0, namespace, name, self.context.user.clone(), definition)
            .knowing(std::sync::Arc::new(self.schema.user_types()));
        let known = self.same_signature(&function);
        if let Some(known) = &known {
            check_replaced(known, &function, replace)?;
        }
        self.check_computable(&function)?;
        Ok(Ddl::CreateFunction(CreateFunction {
            current: Vec::new(),
            signature: function.signature(),
            text: definition_text(&function.namespace, &function.name, &function.definition),
            namespace: function.namespace,
            name: function.name,
            replaces: known.map(|known| known.oid),
            kind: crate::ir::RoutineKind::Aggregate,
            leakproof: false,
            shadows: Vec::new(),
        }))
    }

    /// A type with users' types looked up.
    fn known_type(&self, ty: &TypeRef) -> Result<TypeRef> {
        let types = self.schema.user_types();
        let found = |name: &QualifiedName| {
            self.schema.user_type(name).map(Type::User).or_else(|| crate::user_type::named(&types, name, ""))
        };
        let known = match ty {
            TypeRef::Row(name) => found(name).map(TypeRef::Is),
            TypeRef::Rows(name) => found(name).map(|ty| TypeRef::Is(Type::Array(Box::new(ty)))),
            _ => None,
        };
        let known = known.unwrap_or_else(|| ty.clone());
        known.relation(self.schema)?;
        Ok(known)
    }

    /// What a state begins with must be a value of its type.
    fn check_initial(&mut self, part: &AggregatePart) -> Result<()> {
        let states = [(&part.initial, Some(&part.state)), (&part.moving_initial, part.moving_state.as_ref())];
        for (value, ty) in states {
            let (Some(value), Some(ty)) = (value, ty) else { continue };
            let TypeRef::Is(ty) = settled(ty, self.schema) else { continue };
            self.initial_value(value, &ty)?;
        }
        Ok(())
    }

    /// What a state begins with.
    pub(super) fn initial_value(&mut self, value: &str, ty: &Type) -> Result<crate::ir::Expr> {
        let escaped = value.replace('\\', "\\\\").replace('\'', "''");
        crate::postgres::bind_default_of(self, &format!("E'{escaped}'"), ty)
    }

    /// The aggregate with its functions, and the type of its result.
    fn with_functions(
        &self,
        mut part: AggregatePart,
        params: &[Param],
        options: &Options<'_>,
    ) -> Result<(AggregatePart, TypeRef)> {
        if params.len() > MOST_ARGUMENTS {
            let message = format!("aggregates cannot have more than {MOST_ARGUMENTS} arguments");
            return Err(Error::new(Condition::TooManyArguments, message));
        }
        let settle = |ty: &TypeRef| settled(ty, self.schema);
        let variadic = params.last().filter(|param| param.mode == ParamMode::Variadic).map(|param| settle(&param.ty));
        let signature = Signature {
            kind: part.kind,
            args: params.iter().map(|param| settle(&param.ty)).collect(),
            direct: part.direct,
            variadic,
            state: settle(&part.state),
            moving_state: part.moving_state.as_ref().map(settle),
        };
        check_signature(&signature)?;
        let functions = self.functions_of(&signature, &part, options)?;
        let returns = functions.finish.as_ref().map_or(&signature.state, |found| &found.returns).clone();
        check_result(&returns, &signature, &functions)?;
        let found = |found: &Option<Found>| found.as_ref().map_or(0, |found| found.support.function);
        part.transition = functions.transition.support.function;
        part.finish = found(&functions.finish);
        part.combine = found(&functions.combine);
        part.serialize = found(&functions.serialize);
        part.deserialize = found(&functions.deserialize);
        part.moving_transition = found(&functions.moving_transition);
        part.moving_inverse = found(&functions.moving_inverse);
        part.moving_finish = found(&functions.moving_finish);
        if let Some(name) = options.name("sortop")? {
            let [arg] = signature.args.as_slice() else {
                return Err(invalid("sort operator can only be specified for single-argument aggregates"));
            };
            part.sort_operator = sort_operator(&name, arg.oid(self.schema), &arg.words())?;
        }
        Ok((part, returns))
    }

    fn functions_of(&self, signature: &Signature, part: &AggregatePart, options: &Options<'_>) -> Result<Functions> {
        let variadic = signature.variadic_any();
        let look = |option: &str, given: &[TypeRef], variadic: bool| -> Result<Option<(QualifiedName, Found)>> {
            let Some(name) = options.name(option)? else { return Ok(None) };
            let found = self.support(&name, given, variadic)?;
            Ok(Some((name, found)))
        };
        let of_state = |option: &str, words: &str, given: &[TypeRef], variadic: bool| -> Result<Option<Found>> {
            let Some((name, found)) = look(option, given, variadic)? else { return Ok(None) };
            match found.returns.is(&given[0]) {
                true => Ok(Some(found)),
                false => Err(wrong_return(words, &name, &given[0])),
            }
        };
        let args = signature.transition_args(&signature.state);
        let transition = of_state("sfunc", "transition", &args, variadic)?;
        let transition = transition.ok_or_else(|| Error::internal("an aggregate without a transition function"))?;
        check_first(&transition, &part.initial, signature, &signature.state)?;
        let (mut moving_transition, mut moving_inverse) = (None, None);
        if let Some(state) = &signature.moving_state {
            let args = signature.transition_args(state);
            if let Some(found) = of_state("msfunc", "transition", &args, variadic)? {
                check_first(&found, &part.moving_initial, signature, state)?;
                let inverse = of_state("minvfunc", "inverse transition", &args, variadic)?;
                if inverse.as_ref().is_some_and(|inverse| inverse.support.strict != found.support.strict) {
                    let message = "strictness of aggregate's forward and inverse transition functions must match";
                    return Err(invalid(message));
                }
                (moving_transition, moving_inverse) = (Some(found), inverse);
            }
        }
        let finish_of = |option: &str, state: &TypeRef, extra: bool| -> Result<Option<Found>> {
            let args = signature.finish_args(state, extra);
            let variadic = variadic && (extra || signature.direct >= signature.args.len());
            let found = look(option, &args, variadic)?.map(|(_, found)| found);
            if extra && found.as_ref().is_some_and(|found| found.support.strict) {
                return Err(invalid("final function with extra arguments must not be declared STRICT"));
            }
            Ok(found)
        };
        let finish = finish_of("finalfunc", &signature.state, part.finish_extra)?;
        let state = &signature.state;
        let combine = of_state("combinefunc", "combine", &[state.clone(), state.clone()], false)?;
        let internal = TypeRef::Pseudo(INTERNAL);
        if *state == internal && combine.as_ref().is_some_and(|found| found.support.strict) {
            let words = state.words();
            return Err(invalid(format!("combine function with transition type {words} must not be declared STRICT")));
        }
        let bytes = TypeRef::Is(Type::Bytea);
        let serialize = look("serialfunc", std::slice::from_ref(&internal), false)?;
        if let Some((name, found)) = &serialize
            && found.returns != bytes
        {
            return Err(wrong_return("serialization", name, &bytes));
        }
        let deserialize = look("deserialfunc", &[bytes, internal.clone()], false)?;
        if let Some((name, found)) = &deserialize
            && found.returns != internal
        {
            return Err(wrong_return("deserialization", name, &internal));
        }
        let moving_finish = match &signature.moving_state {
            Some(state) => finish_of("mfinalfunc", state, part.moving_finish_extra)?,
            None => None,
        };
        let (serialize, deserialize) = (serialize.map(|(_, found)| found), deserialize.map(|(_, found)| found));
        Ok(Functions {
            transition,
            moving_transition,
            moving_inverse,
            finish,
            moving_finish,
            combine,
            serialize,
            deserialize,
        })
    }

    /// What PostgreSQL makes, but nothing here can compute.
    fn check_computable(&self, function: &StoredFunction) -> Result<()> {
        let Some(part) = &function.definition.aggregate else { return Ok(()) };
        let internal = part.states().any(|state| *state == TypeRef::Pseudo(INTERNAL));
        if internal && super::aggregate_call::builtin_of(function, self.schema).is_none() {
            let what = "an aggregate with a state of type internal whose functions are not those of a built-in one";
            return Err(Error::unsupported(what));
        }
        Ok(())
    }
}

fn wrong_return(words: &str, name: &QualifiedName, wanted: &TypeRef) -> Error {
    let message = format!("return type of {words} function {name} is not {}", wanted.words());
    Error::new(Condition::DatatypeMismatch, message)
}

/// What must be said, and what must not be said without something else.
fn check_required(options: &Options<'_>) -> Result<()> {
    if options.name("sfunc")?.is_none() {
        return Err(invalid("aggregate sfunc must be specified"));
    }
    if options.has("mstype") {
        let missing = ["msfunc", "minvfunc"].into_iter().find(|option| !options.has(option));
        return missing.map_or(Ok(()), |option| {
            Err(invalid(format!("aggregate {option} must be specified when mstype is specified")))
        });
    }
    let given = ["msfunc", "minvfunc", "mfinalfunc", "msspace", "minitcond"];
    match given.into_iter().find(|option| options.has(option)) {
        Some(option) => Err(invalid(format!("aggregate {option} must not be specified without mstype"))),
        None => Ok(()),
    }
}

fn check_serialization(options: &Options<'_>, state: &TypeRef) -> Result<()> {
    let (serialize, deserialize) = (options.has("serialfunc"), options.has("deserialfunc"));
    if serialize && deserialize && *state != TypeRef::Pseudo(INTERNAL) {
        let message =
            "serialization functions may be specified only when the aggregate transition data type is internal";
        return Err(invalid(message));
    }
    if serialize != deserialize {
        return Err(invalid("must specify both or neither of serialization and deserialization functions"));
    }
    Ok(())
}

/// The parameter of the old syntax.
fn old_parameters(options: &Options<'_>) -> Result<Vec<Param>> {
    let Some(words) = options.words("basetype")? else {
        return Err(invalid("aggregate input type must be specified"));
    };
    if words.eq_ignore_ascii_case("any") {
        return Ok(Vec::new());
    }
    let ty = options.ty("basetype")?.ok_or_else(|| invalid("aggregate input type must be specified"))?;
    Ok(vec![Param { name: String::new(), ty, mode: ParamMode::In, default: None }])
}

/// A state is of a type of values, or of what stands for one.
fn check_state(state: &TypeRef) -> Result<()> {
    match state {
        TypeRef::Is(Type::Void | Type::Record(_)) | TypeRef::Trigger | TypeRef::EventTrigger => {}
        TypeRef::Pseudo(oid) if *oid != INTERNAL => {}
        _ => return Ok(()),
    }
    Err(invalid(format!("aggregate transition data type cannot be {}", state.words())))
}

/// What a polymorphic type stands for must follow from an argument.
fn check_polymorphic(ty: &TypeRef, args: &[TypeRef]) -> Option<String> {
    let TypeRef::Any(any) = ty else { return None };
    let alike = |arg: &TypeRef| matches!(arg, TypeRef::Any(arg) if super::read::tells(*arg, *any));
    (!args.iter().any(alike)).then(|| super::read::needs_input(*any))
}

fn check_signature(signature: &Signature) -> Result<()> {
    for ty in signature.args.iter().chain([&signature.state]).chain(&signature.moving_state) {
        if let TypeRef::Any(any) = ty
            && any.is_of_ranges()
        {
            return Err(Error::unsupported(format!("an aggregate of type \"{}\"", any.name())));
        }
    }
    for state in std::iter::once(&signature.state).chain(&signature.moving_state) {
        if let Some(detail) = check_polymorphic(state, &signature.args) {
            return Err(invalid("cannot determine transition data type").detail(detail));
        }
    }
    if signature.kind == AggregateKind::Normal {
        return Ok(());
    }
    if signature.variadic.is_some() && !signature.variadic_any() {
        let message = "a variadic ordered-set aggregate must use VARIADIC type ANY";
        return Err(Error::new(Condition::FeatureNotSupported, message));
    }
    let (direct, sorted) = signature.args.split_at(signature.direct.min(signature.args.len()));
    let matching = || direct.len() >= sorted.len() && direct[direct.len() - sorted.len()..] == *sorted;
    if signature.kind == AggregateKind::HypotheticalSet
        && !sorted.is_empty()
        && (signature.variadic.is_some() || !matching())
    {
        let message = "a hypothetical-set aggregate must have direct arguments matching its aggregated arguments";
        return Err(invalid(message));
    }
    Ok(())
}

/// A strict transition function without an initial value begins with the first input.
fn check_first(found: &Found, initial: &Option<String>, signature: &Signature, state: &TypeRef) -> Result<()> {
    let fits = signature.args.first().is_some_and(|first| is_coercible(first, state));
    if !found.support.strict || initial.is_some() || fits {
        return Ok(());
    }
    Err(invalid(
        "must not omit initial value when transition function is strict and transition type is not compatible with \
         input type",
    ))
}

fn check_result(returns: &TypeRef, signature: &Signature, functions: &Functions) -> Result<()> {
    if let Some(detail) = check_polymorphic(returns, &signature.args) {
        return Err(Error::new(Condition::DatatypeMismatch, "cannot determine result data type").detail(detail));
    }
    let internal = TypeRef::Pseudo(INTERNAL);
    if *returns == internal && !signature.args.contains(&internal) {
        return Err(invalid("unsafe use of pseudo-type \"internal\"")
            .detail("A function returning internal must have at least one internal argument."));
    }
    let Some(state) = &signature.moving_state else { return Ok(()) };
    let moving = functions.moving_finish.as_ref().map_or(state, |found| &found.returns);
    if !moving.is(returns) {
        return Err(invalid(format!(
            "moving-aggregate implementation returns type {}, but plain implementation returns type {}",
            moving.words(),
            returns.words()
        )));
    }
    Ok(())
}

fn sort_operator(name: &QualifiedName, ty: u32, words: &str) -> Result<u32> {
    let found = facts::Operator::named(&name.name).iter().find(|row| (row.left_type, row.right_type) == (ty, ty));
    found.map(|row| row.oid).ok_or_else(|| {
        let message = format!("operator does not exist: {words} {name} {words}");
        Error::new(Condition::UndefinedFunction, message)
    })
}

fn check_replaced(known: &StoredFunction, new: &StoredFunction, replace: bool) -> Result<()> {
    if !replace {
        let message = format!("function \"{}\" already exists with same argument types", new.name);
        return Err(Error::new(Condition::DuplicateFunction, message));
    }
    let wrong_kind = |words: &str| {
        let detail = format!("\"{}\" is {words}.", known.name);
        Err(Error::new(Condition::WrongObjectType, "cannot change routine kind").detail(detail))
    };
    let (Some(old), Some(now)) = (&known.definition.aggregate, &new.definition.aggregate) else {
        return wrong_kind(&format!("a {}", known.definition.kind()));
    };
    if !known.definition.returns.is(&new.definition.returns) {
        let hint = format!("Use DROP AGGREGATE {} first.", known.shown_signature());
        return Err(invalid("cannot change return type of existing function").hint(hint));
    }
    for (old, now) in known.definition.inputs().zip(new.definition.inputs()) {
        if !old.name.is_empty() && old.name != now.name {
            let hint = format!("Use DROP AGGREGATE {} first.", known.shown_signature());
            return Err(invalid(format!("cannot change name of input parameter \"{}\"", old.name)).hint(hint));
        }
    }
    if old.kind != now.kind {
        return wrong_kind(old.kind.words());
    }
    if old.direct != now.direct {
        let message = "cannot change number of direct arguments of an aggregate function";
        return Err(invalid(message));
    }
    Ok(())
}

/// A final function that leaves a state of no use keeps an aggregate out of windows.
pub(super) fn is_for_windows(part: &AggregatePart, moving: bool) -> bool {
    let modify = if moving { part.moving_finish_modify } else { part.finish_modify };
    modify != Modify::ReadWrite
}
