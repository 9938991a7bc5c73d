//! CREATE AGGREGATE as options, and the canonical text of an aggregate, which names the functions behind it by their
//! object ids: these stay when a function gets another name.

use pg_query::protobuf::{self as pg, FunctionParameterMode as Mode, Node, node::Node as N};

use super::read::text;
use super::types::{type_ref, unmodified};
use crate::postgres::{names, quote_ident as quote};
use crate::schema::QualifiedName;
use crate::stored_aggregate::{AggregateKind, AggregatePart, Modify};
use crate::stored_function::{ANY, Definition, INTERNAL, Param, ParamMode, TypeRef};
use crate::stored_function::{Parallel, RoutineLanguage};
use crate::{Condition, Error, Result, Type};

/// The options of CREATE AGGREGATE by their present names; of one that is given twice the last counts.
pub(super) struct Options<'a>(Vec<(&'a str, Option<&'a Node>)>);

/// What options may be called, old names among them, and what they are called now.
const NAMES: [(&str, &str); 25] = [
    ("sfunc", "sfunc"),
    ("sfunc1", "sfunc"),
    ("finalfunc", "finalfunc"),
    ("combinefunc", "combinefunc"),
    ("serialfunc", "serialfunc"),
    ("deserialfunc", "deserialfunc"),
    ("msfunc", "msfunc"),
    ("minvfunc", "minvfunc"),
    ("mfinalfunc", "mfinalfunc"),
    ("finalfunc_extra", "finalfunc_extra"),
    ("mfinalfunc_extra", "mfinalfunc_extra"),
    ("finalfunc_modify", "finalfunc_modify"),
    ("mfinalfunc_modify", "mfinalfunc_modify"),
    ("sortop", "sortop"),
    ("basetype", "basetype"),
    ("hypothetical", "hypothetical"),
    ("stype", "stype"),
    ("stype1", "stype"),
    ("sspace", "sspace"),
    ("mstype", "mstype"),
    ("msspace", "msspace"),
    ("initcond", "initcond"),
    ("initcond1", "initcond"),
    ("minitcond", "minitcond"),
    ("parallel", "parallel"),
];

impl<'a> Options<'a> {
    /// The options, and the names that are none of any.
    pub(super) fn of(nodes: &'a [Node]) -> (Self, Vec<&'a str>) {
        let (mut options, mut unknown) = (Vec::with_capacity(nodes.len()), Vec::new());
        for node in nodes {
            let Some(N::DefElem(option)) = &node.node else { continue };
            match NAMES.iter().find(|(name, _)| *name == option.defname) {
                Some((_, name)) => options.push((*name, option.arg.as_deref())),
                None => unknown.push(option.defname.as_str()),
            }
        }
        (Self(options), unknown)
    }

    pub(super) fn get(&self, name: &str) -> Option<Option<&'a Node>> {
        self.0.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The name of a function or operator.
    pub(super) fn name(&self, name: &str) -> Result<Option<QualifiedName>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let parts = match value.and_then(|node| node.node.as_ref()) {
            Some(N::TypeName(ty)) => names::strings(&ty.names),
            Some(N::List(list)) => names::strings(&list.items),
            Some(N::String(text)) => vec![text.sval.as_str()],
            Some(_) => {
                let message = format!("argument of {name} must be a name");
                return Err(Error::new(Condition::SyntaxError, message));
            }
            None => return Err(needs(name, "parameter")),
        };
        Ok(match parts.as_slice() {
            [only] => Some(QualifiedName::bare(*only)),
            [.., schema, only] => Some(QualifiedName::new(*schema, *only)),
            [] => None,
        })
    }

    /// A type.
    pub(super) fn ty(&self, name: &str) -> Result<Option<TypeRef>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.and_then(|node| node.node.as_ref()) {
            Some(N::TypeName(ty)) if ty.setof => {
                let message = format!("type \"{}\" cannot be a set", names::strings(&ty.names).join("."));
                Err(Error::new(Condition::InvalidFunctionDefinition, message))
            }
            Some(N::TypeName(ty)) => aggregate_type(ty).map(Some),
            Some(N::String(text)) => super::types::type_from_text(&quote(&text.sval)).map(Some),
            Some(_) => Err(Error::new(Condition::SyntaxError, format!("argument of {name} must be a type name"))),
            None => Err(needs(name, "parameter")),
        }
    }

    pub(super) fn words(&self, name: &str) -> Result<Option<String>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.and_then(|node| node.node.as_ref()) {
            Some(N::TypeName(ty)) => Ok(Some(names::strings(&ty.names).join("."))),
            Some(N::List(list)) => Ok(Some(names::strings(&list.items).join("."))),
            Some(_) => Ok(Some(text(value))),
            None => Err(needs(name, "parameter")),
        }
    }

    pub(super) fn truth(&self, name: &str) -> Result<bool> {
        let Some(value) = self.get(name) else { return Ok(false) };
        if value.is_none() {
            return Ok(true);
        }
        match self.words(name)?.unwrap_or_default().to_ascii_lowercase().as_str() {
            "true" | "on" | "1" => Ok(true),
            "false" | "off" | "0" => Ok(false),
            _ => Err(Error::new(Condition::SyntaxError, format!("{name} requires a Boolean value"))),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<i32> {
        let Some(words) = self.words(name)? else { return Ok(0) };
        words.parse().map_err(|_| Error::new(Condition::SyntaxError, format!("{name} requires an integer value")))
    }

    pub(super) fn modify(&self, name: &str, kind: AggregateKind) -> Result<Modify> {
        match self.words(name)? {
            None if kind == AggregateKind::Normal => Ok(Modify::ReadOnly),
            None => Ok(Modify::ReadWrite),
            Some(word) => Modify::named(&word).ok_or_else(|| {
                let message = format!("parameter \"{name}\" must be READ_ONLY, SHAREABLE, or READ_WRITE");
                Error::new(Condition::SyntaxError, message)
            }),
        }
    }

    pub(super) fn parallel(&self) -> Result<Parallel> {
        match self.words("parallel")?.as_deref() {
            None | Some("unsafe") => Ok(Parallel::Unsafe),
            Some("restricted") => Ok(Parallel::Restricted),
            Some("safe") => Ok(Parallel::Safe),
            Some(_) => {
                let message = "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE";
                Err(Error::new(Condition::SyntaxError, message))
            }
        }
    }
}

fn needs(name: &str, what: &str) -> Error {
    Error::new(Condition::SyntaxError, format!("{name} requires a {what}"))
}

/// A type of an aggregate or of the functions behind it.
pub(super) fn aggregate_type(name: &pg::TypeName) -> Result<TypeRef> {
    match names::of_type(name) {
        (None | Some("pg_catalog"), "any") => Ok(TypeRef::Pseudo(ANY)),
        (None | Some("pg_catalog"), "internal") => Ok(TypeRef::Pseudo(INTERNAL)),
        _ => type_ref(name).map(unmodified),
    }
}

/// The parameters of an aggregate, and how many of them come before ORDER BY, if that is there.
pub(super) fn arguments(args: &[Node]) -> Result<(Vec<Param>, Option<usize>)> {
    let (list, direct) = match args {
        [list, direct] => (list, direct),
        _ => return Err(Error::internal("an aggregate without arguments")),
    };
    let direct = match &direct.node {
        Some(N::Integer(count)) => usize::try_from(count.ival).ok(),
        _ => None,
    };
    let nodes = match &list.node {
        Some(N::List(list)) => list.items.as_slice(),
        _ => &[],
    };
    let mut params: Vec<Param> = Vec::with_capacity(nodes.len());
    let invalid = |message: String| Error::new(Condition::InvalidFunctionDefinition, message);
    for node in nodes {
        let Some(N::FunctionParameter(parameter)) = &node.node else { continue };
        let Some(ty) = &parameter.arg_type else { return Err(Error::internal("a parameter without a type")) };
        if ty.setof {
            return Err(invalid("aggregates cannot accept set arguments".to_owned()));
        }
        let mode = match parameter.mode() {
            Mode::FuncParamVariadic => ParamMode::Variadic,
            Mode::FuncParamOut | Mode::FuncParamInout => {
                let message = "aggregates cannot have output arguments";
                return Err(Error::new(Condition::FeatureNotSupported, message));
            }
            _ => ParamMode::In,
        };
        let ty = aggregate_type(ty)?;
        if params.last().is_some_and(|last| last.mode == ParamMode::Variadic) {
            return Err(invalid("VARIADIC parameter must be the last input parameter".to_owned()));
        }
        let is_array = match &ty {
            TypeRef::Is(ty) => matches!(ty, Type::Array(_)),
            TypeRef::Any(any) => any.is_array(),
            TypeRef::Rows(_) | TypeRef::Pseudo(ANY) => true,
            _ => false,
        };
        if mode == ParamMode::Variadic && !is_array {
            return Err(invalid("VARIADIC parameter must be an array".to_owned()));
        }
        if !parameter.name.is_empty() && params.iter().any(|known| known.name == parameter.name) {
            return Err(invalid(format!("parameter name \"{}\" used more than once", parameter.name)));
        }
        params.push(Param { name: parameter.name.clone(), ty, mode, default: None });
    }
    Ok((params, direct))
}

impl Definition {
    /// An aggregate.
    pub(super) fn of_aggregate(params: Vec<Param>, returns: TypeRef, parallel: Parallel, part: AggregatePart) -> Self {
        Self {
            procedure: false,
            params,
            returns,
            set: false,
            language: RoutineLanguage::Sql,
            source: String::new(),
            sql_body: false,
            returned: Vec::new(),
            volatility: crate::functions::Volatility::Immutable,
            strict: false,
            definer: false,
            leakproof: false,
            parallel,
            cost: None,
            rows: None,
            settings: Vec::new(),
            aggregate: Some(std::sync::Arc::new(part)),
        }
    }
}

/// The name under which a canonical text keeps the type of the result.
const RESULT: &str = "result";

/// The canonical text of an aggregate.
pub(super) fn aggregate_text(namespace: &str, name: &str, definition: &Definition, part: &AggregatePart) -> String {
    let mut options = vec![
        format!("stype = {}", part.state.words()),
        format!("{RESULT} = {}", definition.returns.words()),
        format!("sspace = {}", part.state_space),
        format!("msspace = {}", part.moving_state_space),
        format!("finalfunc_modify = {}", part.finish_modify.word()),
        format!("mfinalfunc_modify = {}", part.moving_finish_modify.word()),
        format!("sortop = {}", part.sort_operator),
    ];
    for (option, oid) in functions(part) {
        options.push(format!("{option} = {oid}"));
    }
    if let Some(state) = &part.moving_state {
        options.push(format!("mstype = {}", state.words()));
    }
    let conditions = [("initcond", &part.initial), ("minitcond", &part.moving_initial)];
    for (option, value) in conditions {
        if let Some(value) = value {
            // The backslash is no escape in any setting.
            let escaped = value.replace('\\', "\\\\").replace('\'', "''");
            options.push(format!("{option} = E'{escaped}'"));
        }
    }
    let flags = [
        ("finalfunc_extra", part.finish_extra),
        ("mfinalfunc_extra", part.moving_finish_extra),
        ("hypothetical", part.kind == AggregateKind::HypotheticalSet),
    ];
    options.extend(flags.iter().filter(|(_, set)| *set).map(|(option, _)| (*option).to_owned()));
    match definition.parallel {
        Parallel::Unsafe => {}
        Parallel::Restricted => options.push("parallel = restricted".to_owned()),
        Parallel::Safe => options.push("parallel = safe".to_owned()),
    }
    let arguments = definition.arguments(false);
    let arguments = if arguments.is_empty() { "*" } else { &arguments };
    format!("CREATE AGGREGATE {}.{}({arguments}) ({})\n", quote(namespace), quote(name), options.join(", "))
}

fn functions(part: &AggregatePart) -> [(&'static str, u32); 8] {
    [
        ("sfunc", part.transition),
        ("finalfunc", part.finish),
        ("combinefunc", part.combine),
        ("serialfunc", part.serialize),
        ("deserialfunc", part.deserialize),
        ("msfunc", part.moving_transition),
        ("minvfunc", part.moving_inverse),
        ("mfinalfunc", part.moving_finish),
    ]
}

/// The inverse of [`aggregate_text`], parsed; `None` for any other statement.
pub(super) fn aggregate_from(define: &pg::DefineStmt) -> Option<(QualifiedName, Definition)> {
    let name = match names::strings(&define.defnames).as_slice() {
        [name] => QualifiedName::bare(*name),
        [.., schema, name] => QualifiedName::new(*schema, *name),
        [] => return None,
    };
    let (params, direct) = arguments(&define.args).ok()?;
    let (options, _) = Options::of(&define.definition);
    let oid = |option: &str| options.words(option).ok().flatten().and_then(|words| words.parse().ok()).unwrap_or(0);
    let kind = match direct {
        None => AggregateKind::Normal,
        Some(_) if options.has("hypothetical") => AggregateKind::HypotheticalSet,
        Some(_) => AggregateKind::OrderedSet,
    };
    let returns = define.definition.iter().find_map(|node| match &node.node {
        Some(N::DefElem(option)) if option.defname == RESULT => match &option.arg.as_deref()?.node {
            Some(N::TypeName(ty)) => aggregate_type(ty).ok(),
            _ => None,
        },
        _ => None,
    })?;
    let part = AggregatePart {
        kind,
        direct: direct.unwrap_or(0),
        transition: oid("sfunc"),
        finish: oid("finalfunc"),
        combine: oid("combinefunc"),
        serialize: oid("serialfunc"),
        deserialize: oid("deserialfunc"),
        moving_transition: oid("msfunc"),
        moving_inverse: oid("minvfunc"),
        moving_finish: oid("mfinalfunc"),
        finish_extra: options.truth("finalfunc_extra").ok()?,
        moving_finish_extra: options.truth("mfinalfunc_extra").ok()?,
        finish_modify: options.modify("finalfunc_modify", kind).ok()?,
        moving_finish_modify: options.modify("mfinalfunc_modify", kind).ok()?,
        sort_operator: oid("sortop"),
        state: options.ty("stype").ok()??,
        state_space: options.number("sspace").ok()?,
        moving_state: options.ty("mstype").ok()?,
        moving_state_space: options.number("msspace").ok()?,
        initial: options.words("initcond").ok()?,
        moving_initial: options.words("minitcond").ok()?,
    };
    let parallel = options.parallel().ok()?;
    Some((name, Definition::of_aggregate(params, returns, parallel, part)))
}
