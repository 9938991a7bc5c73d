//! CREATE FUNCTION as a definition.

use pg_query::protobuf::{self as pg, FunctionParameterMode as Mode, Node, node::Node as N};

use super::types::{type_ref, unmodified};
use crate::functions::Volatility;
use crate::postgres::{names, raw};
use crate::schema::QualifiedName;
use crate::stored_function::{Definition, Parallel, Param, ParamMode, Polymorphic, RoutineLanguage, TypeRef};
use crate::{Condition, Error, Result, Type};

/// A definition with its name.
pub(super) struct Read {
    pub(super) name: QualifiedName,
    pub(super) definition: Definition,
    /// Settings that get the session's values.
    pub(super) current: Vec<String>,
}

/// The function that a stored text makes: its name, its namespace and its definition.
///
/// # Errors
/// `XX001` for a text that is none.
pub fn from_text(text: &str) -> Result<(QualifiedName, Definition)> {
    let damaged = || Error::new(Condition::DataCorrupted, "the definition of a function cannot be read");
    let statements = raw::parse(text).map_err(|_| damaged())?;
    let create = match statements.first().map(|statement| &*statement.tree) {
        Some(N::CreateFunctionStmt(create)) => create,
        Some(N::DefineStmt(define)) => return super::aggregate_text::aggregate_from(define).ok_or_else(damaged),
        _ => return Err(damaged()),
    };
    let mut read = read(create)?;
    // Defaults are kept as they are shown, which is not how the parser's printer spells them.
    let given: Vec<&mut String> =
        read.definition.params.iter_mut().filter_map(|param| param.default.as_mut()).collect();
    if !given.is_empty() {
        let kept = defaults_in(text);
        if kept.len() == given.len() {
            given.into_iter().zip(kept).for_each(|(default, text)| text.clone_into(default));
        }
    }
    Ok((read.name, read.definition))
}

/// The defaults of parameters in a stored text, as they stand there.
fn defaults_in(text: &str) -> Vec<&str> {
    let Ok(scanned) = pg_query::scan(text) else { return Vec::new() };
    let mut found = Vec::new();
    let (mut depth, mut begins) = (0_u32, None);
    for token in &scanned.tokens {
        let (Ok(start), Ok(end)) = (usize::try_from(token.start), usize::try_from(token.end)) else { continue };
        let ends = matches!(token.token(), pg::Token::Ascii41 | pg::Token::Ascii44) && depth == 1;
        if ends && let Some(begins) = begins.take() {
            found.extend(text.get(begins..start).map(str::trim));
        }
        match token.token() {
            pg::Token::Ascii40 | pg::Token::Ascii91 => depth += 1,
            pg::Token::Ascii41 | pg::Token::Ascii93 => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            pg::Token::Default if depth == 1 => begins = Some(end),
            _ => {}
        }
    }
    found
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidFunctionDefinition, message)
}

/// What a statement says.
pub(super) fn read(create: &pg::CreateFunctionStmt) -> Result<Read> {
    let parts = names::strings(&create.funcname);
    let name = match parts.as_slice() {
        [name] => QualifiedName::bare(*name),
        [.., schema, name] => QualifiedName::new(*schema, *name),
        [] => return Err(Error::internal("a function without a name")),
    };
    let procedure = create.is_procedure;
    let options = Options::of(&create.options, procedure)?;
    // MySQL's parameters and results are of so many digits or letters.
    let modified = options.language.as_deref() == Some("mysql");
    let params = parameters(&create.parameters, procedure, modified)?;
    let (returns, set) = result(create, &params, modified)?;
    let mut returned = Vec::new();
    let (source, sql_body) = match (&options.source, create.sql_body.as_deref()) {
        (Some(_), Some(_)) => return Err(invalid("duplicate function body specified")),
        (Some(source), None) => (source.clone(), false),
        (None, Some(body)) => (sql_text(body, &mut returned)?, true),
        (None, None) => return Err(invalid("no function body specified")),
    };
    let language = match options.language.as_deref() {
        None if sql_body => RoutineLanguage::Sql,
        None => return Err(invalid("no language specified")),
        Some(name) => language(name)?,
    };
    if sql_body && language != RoutineLanguage::Sql {
        return Err(invalid("inline SQL function body only valid for language SQL"));
    }
    let definition = Definition {
        procedure,
        params,
        returns,
        set,
        language,
        source,
        sql_body,
        returned,
        volatility: options.volatility,
        strict: options.strict,
        definer: options.definer,
        leakproof: options.leakproof,
        parallel: options.parallel,
        cost: options.cost,
        rows: options.rows,
        settings: options.settings,
        aggregate: None,
    };
    check(&definition)?;
    Ok(Read { name, definition, current: options.current })
}

/// The language of a name.
fn language(name: &str) -> Result<RoutineLanguage> {
    match name {
        "mysql" => Ok(RoutineLanguage::Mysql),
        "plpgsql" => Ok(RoutineLanguage::Plpgsql),
        "sql" => Ok(RoutineLanguage::Sql),
        "c" | "internal" => Err(Error::unsupported(format!("a function in language \"{name}\""))),
        name => {
            let error = Error::new(Condition::UndefinedObject, format!("language \"{name}\" does not exist"));
            let known = matches!(name, "plperl" | "plperlu" | "pltcl" | "pltclu" | "plpython3u");
            Err(if known { error.hint("Use CREATE EXTENSION to load the language into the database.") } else { error })
        }
    }
}

/// A body in SQL's own grammar, as text; which of several statements are RETURN.
fn sql_text(body: &Node, returned: &mut Vec<usize>) -> Result<String> {
    let unreadable = || Error::unsupported("this body of a function");
    match &body.node {
        Some(N::ReturnStmt(statement)) => {
            let value = statement.returnval.as_deref().ok_or_else(unreadable)?;
            let text = raw::print_expression(value).ok_or_else(unreadable)?;
            Ok(format!("SELECT {text}"))
        }
        Some(N::List(list)) => {
            let Some(Node { node: Some(N::List(inner)) }) = list.items.first() else { return Ok(String::new()) };
            let mut texts = Vec::with_capacity(inner.items.len());
            for item in &inner.items {
                let text = match item.node.clone() {
                    Some(N::ReturnStmt(statement)) => {
                        let value = statement.returnval.as_deref().ok_or_else(unreadable)?;
                        returned.push(texts.len());
                        format!("SELECT {}", raw::print_expression(value).ok_or_else(unreadable)?)
                    }
                    Some(N::CreateStmt(_)) => {
                        let message = "CREATE TABLE is not yet supported in unquoted SQL function body";
                        return Err(Error::new(Condition::FeatureNotSupported, message));
                    }
                    Some(node) => raw::print(node).ok_or_else(unreadable)?,
                    None => continue,
                };
                // Every statement has its end, which tells BEGIN ATOMIC with one query from RETURN.
                texts.push(format!("{text};"));
            }
            Ok(texts.join("\n "))
        }
        _ => Err(unreadable()),
    }
}

fn parameters(nodes: &[Node], procedure: bool, modified: bool) -> Result<Vec<Param>> {
    let mut params: Vec<Param> = Vec::with_capacity(nodes.len());
    let (mut defaults, mut variadic) = (false, false);
    for node in nodes {
        let Some(N::FunctionParameter(parameter)) = &node.node else { continue };
        let Some(ty) = &parameter.arg_type else { return Err(Error::internal("a parameter without a type")) };
        if ty.setof {
            let kind = if procedure { "procedures" } else { "functions" };
            return Err(invalid(format!("{kind} cannot accept set arguments")));
        }
        if ty.pct_type {
            return Err(Error::unsupported("%TYPE of a parameter"));
        }
        let mode = match parameter.mode() {
            Mode::FuncParamOut => ParamMode::Out,
            Mode::FuncParamInout => ParamMode::InOut,
            Mode::FuncParamVariadic => ParamMode::Variadic,
            Mode::FuncParamTable => ParamMode::Table,
            _ => ParamMode::In,
        };
        let ty = type_ref(ty)?;
        let ty = if modified { ty } else { unmodified(ty) };
        if mode.is_input() {
            if variadic {
                return Err(invalid("VARIADIC parameter must be the last input parameter"));
            }
            if mode == ParamMode::Variadic {
                variadic = true;
                let is_array =
                    matches!(&ty, TypeRef::Is(Type::Array(_))) || matches!(&ty, TypeRef::Any(any) if any.is_array());
                if !is_array {
                    return Err(invalid("VARIADIC parameter must be an array"));
                }
            }
        } else if mode == ParamMode::Out && variadic && procedure {
            return Err(invalid("VARIADIC parameter must be the last parameter"));
        }
        // Of two parameters one way each, a name may be had by both.
        let only_in = |mode| matches!(mode, ParamMode::In | ParamMode::Variadic);
        let only_out = |mode| matches!(mode, ParamMode::Out | ParamMode::Table);
        let apart = |one, other| only_in(one) && only_out(other) || only_out(one) && only_in(other);
        let clash = !parameter.name.is_empty()
            && params.iter().any(|known| known.name == parameter.name && !apart(known.mode, mode));
        if clash {
            return Err(invalid(format!("parameter name \"{}\" used more than once", parameter.name)));
        }
        if mode == ParamMode::Out && defaults && procedure {
            return Err(invalid("procedure OUT parameters cannot appear after one with a default value"));
        }
        let default = match parameter.defexpr.as_deref() {
            None => {
                if mode.is_input() && defaults {
                    let message = "input parameters after one with a default value must also have defaults";
                    return Err(invalid(message));
                }
                None
            }
            Some(_) if !mode.is_input() => return Err(invalid("only input parameters can have default values")),
            Some(node) => {
                defaults = true;
                let text = raw::print_expression(node).ok_or_else(|| Error::unsupported("this default"))?;
                Some(text)
            }
        };
        params.push(Param { name: parameter.name.clone(), ty, mode, default });
    }
    if params.iter().filter(|param| param.mode.is_input()).count() > 100 {
        let kind = if procedure { "procedures" } else { "functions" };
        return Err(Error::new(Condition::TooManyArguments, format!("{kind} cannot have more than 100 arguments")));
    }
    Ok(params)
}

/// What it returns, and whether that is a set.
fn result(create: &pg::CreateFunctionStmt, params: &[Param], modified: bool) -> Result<(TypeRef, bool)> {
    let outputs: Vec<&Param> = params.iter().filter(|param| param.mode.is_output()).collect();
    let of_outputs = match outputs.as_slice() {
        [] => None,
        [one] if !create.is_procedure => Some(one.ty.clone()),
        _ => Some(TypeRef::Is(Type::RECORD)),
    };
    if create.is_procedure {
        return Ok((of_outputs.unwrap_or(TypeRef::Is(Type::Void)), false));
    }
    let Some(ty) = &create.return_type else {
        return match of_outputs {
            Some(ty) => Ok((ty, false)),
            None => Err(invalid("function result type must be specified")),
        };
    };
    if ty.pct_type {
        return Err(Error::unsupported("%TYPE of a result"));
    }
    let is_table = params.iter().any(|param| param.mode == ParamMode::Table);
    if is_table {
        return Ok((of_outputs.unwrap_or(TypeRef::Is(Type::RECORD)), true));
    }
    let returns = type_ref(ty)?;
    let returns = if modified { returns } else { unmodified(returns) };
    if let Some(wanted) = of_outputs
        && wanted != returns
    {
        let message = format!("function result type must be {} because of OUT parameters", wanted.words());
        return Err(invalid(message));
    }
    Ok((returns, ty.setof))
}

/// What holds for any definition.
fn check(definition: &Definition) -> Result<()> {
    check_polymorphic(definition)?;
    if definition.language == RoutineLanguage::Plpgsql {
        if definition.returns == TypeRef::Trigger && definition.inputs().next().is_some() {
            return Err(invalid("trigger functions cannot have declared arguments")
                .hint("The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead."));
        }
    } else if definition.returns == TypeRef::Trigger {
        return Err(invalid("SQL functions cannot return type trigger"));
    }
    if definition.returns == TypeRef::EventTrigger {
        return Err(Error::unsupported("a function for event triggers"));
    }
    for param in definition.inputs() {
        if matches!(param.ty, TypeRef::Trigger | TypeRef::EventTrigger | TypeRef::Is(Type::Void)) {
            let what = if definition.language == RoutineLanguage::Sql { "SQL" } else { "PL/pgSQL" };
            return Err(invalid(format!("{what} functions cannot accept type {}", param.ty.words())));
        }
        if definition.language == RoutineLanguage::Sql
            && let TypeRef::Is(ty) = &param.ty
            && matches!(if let Type::Array(element) = ty { &**element } else { ty }, Type::Record(_))
        {
            return Err(invalid(format!("SQL functions cannot have arguments of type {}", param.ty.words())));
        }
    }
    if definition.rows.is_some() && !definition.set {
        let message = "ROWS is not applicable when function does not return a set";
        return Err(Error::new(Condition::InvalidParameterValue, message));
    }
    Ok(())
}

/// What a polymorphic result stands for must follow from an argument of its family; a range type, from one of ranges.
fn check_polymorphic(definition: &Definition) -> Result<()> {
    let any = |ty: &TypeRef| match ty {
        TypeRef::Any(any) => Some(*any),
        _ => None,
    };
    let inputs: Vec<Polymorphic> = definition.inputs().filter_map(|param| any(&param.ty)).collect();
    let results = definition.outputs().map(|param| &param.ty).chain([&definition.returns]);
    for result in results.filter_map(any) {
        if !inputs.iter().any(|input| tells(*input, result)) {
            return Err(invalid("cannot determine result data type").detail(needs_input(result)));
        }
    }
    if definition.sql_body && !inputs.is_empty() {
        return Err(invalid("SQL function with unquoted function body cannot have polymorphic arguments"));
    }
    Ok(())
}

/// A polymorphic argument tells what another type of its family stands for; a range type follows from one of ranges alone.
pub(super) fn tells(input: Polymorphic, result: Polymorphic) -> bool {
    input.is_compatible() == result.is_compatible() && (input.is_of_ranges() || !result.is_of_ranges())
}

/// The arguments of which one must be there, so that a polymorphic type stands for something.
pub(super) fn needs_input(result: Polymorphic) -> String {
    let family = match (result.is_of_ranges(), result.is_compatible()) {
        (true, true) => "anycompatiblerange or anycompatiblemultirange",
        (true, false) => "anyrange or anymultirange",
        (false, true) => {
            "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange"
        }
        (false, false) => "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange",
    };
    format!("A result of type {} requires at least one input of type {family}.", result.name())
}

/// What stands behind the parameters and the result.
struct Options {
    source: Option<String>,
    language: Option<String>,
    volatility: Volatility,
    strict: bool,
    definer: bool,
    leakproof: bool,
    parallel: Parallel,
    cost: Option<String>,
    rows: Option<String>,
    settings: Vec<(String, Vec<String>)>,
    /// FROM CURRENT.
    current: Vec<String>,
    /// AS has several items, as for C.
    several: bool,
}

impl Options {
    fn of(nodes: &[Node], procedure: bool) -> Result<Self> {
        let mut options = Self {
            source: None,
            language: None,
            volatility: Volatility::Volatile,
            strict: false,
            definer: false,
            leakproof: false,
            parallel: Parallel::Unsafe,
            cost: None,
            rows: None,
            settings: Vec::new(),
            current: Vec::new(),
            several: false,
        };
        let mut seen: Vec<&str> = Vec::new();
        for node in nodes {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let name = option.defname.as_str();
            if name != "set" && seen.contains(&name) {
                return Err(Error::new(Condition::SyntaxError, "conflicting or redundant options"));
            }
            seen.push(name);
            if procedure && !matches!(name, "as" | "language" | "set" | "security" | "transform") {
                return Err(invalid("invalid attribute in procedure definition"));
            }
            options.take(name, option.arg.as_deref())?;
        }
        if let Some(language) = options.language.as_deref().filter(|_| options.several) {
            self::language(language)?;
            return Err(invalid(format!("only one AS item needed for language \"{language}\"")));
        }
        Ok(options)
    }

    fn take(&mut self, name: &str, arg: Option<&Node>) -> Result<()> {
        match name {
            "as" => {
                let Some(N::List(list)) = arg.and_then(|arg| arg.node.as_ref()) else {
                    return Err(Error::internal("AS without a text"));
                };
                match names::strings(&list.items).as_slice() {
                    [source] => self.source = Some((*source).to_owned()),
                    _ => self.several = true,
                }
            }
            "language" => self.language = Some(text(arg).to_lowercase()),
            "volatility" => {
                self.volatility = match text(arg).as_str() {
                    "immutable" => Volatility::Immutable,
                    "stable" => Volatility::Stable,
                    _ => Volatility::Volatile,
                };
            }
            "strict" => self.strict = truth(arg),
            "leakproof" => self.leakproof = truth(arg),
            "security" => self.definer = truth(arg),
            "parallel" => {
                self.parallel = match text(arg).to_lowercase().as_str() {
                    "safe" => Parallel::Safe,
                    "restricted" => Parallel::Restricted,
                    "unsafe" => Parallel::Unsafe,
                    _ => {
                        let message = "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE";
                        return Err(Error::new(Condition::SyntaxError, message));
                    }
                };
            }
            "cost" | "rows" => {
                let number = text(arg);
                if number.parse::<f64>().is_ok_and(|number| number <= 0.0) {
                    let message = format!("{} must be positive", name.to_uppercase());
                    return Err(Error::new(Condition::InvalidParameterValue, message));
                }
                *(if name == "cost" { &mut self.cost } else { &mut self.rows }) = Some(number);
            }
            "set" => self.setting(arg)?,
            "window" => return Err(Error::unsupported("a window function of users")),
            "support" => return Err(Error::unsupported("SUPPORT")),
            "transform" => return Err(Error::unsupported("TRANSFORM")),
            other => return Err(Error::unsupported(format!("the attribute {other} of a function"))),
        }
        Ok(())
    }

    fn setting(&mut self, arg: Option<&Node>) -> Result<()> {
        let Some(N::VariableSetStmt(set)) = arg.and_then(|arg| arg.node.as_ref()) else {
            return Err(Error::internal("SET without a variable"));
        };
        let name = set.name.to_lowercase();
        self.settings.retain(|(known, _)| *known != name);
        self.current.retain(|known| *known != name);
        match set.kind() {
            pg::VariableSetKind::VarSetCurrent => self.current.push(name),
            pg::VariableSetKind::VarSetValue => {
                let values = set.args.iter().map(|node| text(Some(node))).collect();
                self.settings.push((name, values));
            }
            _ => return Err(Error::unsupported("this SET of a function")),
        }
        Ok(())
    }
}

/// The text of an option's value.
pub(super) fn text(arg: Option<&Node>) -> String {
    match arg.and_then(|arg| arg.node.as_ref()) {
        Some(N::String(text)) => text.sval.clone(),
        Some(N::Integer(number)) => number.ival.to_string(),
        Some(N::Float(number)) => number.fval.clone(),
        Some(N::AConst(constant)) => match &constant.val {
            Some(pg::a_const::Val::Sval(text)) => text.sval.clone(),
            Some(pg::a_const::Val::Ival(number)) => number.ival.to_string(),
            Some(pg::a_const::Val::Fval(number)) => number.fval.clone(),
            Some(pg::a_const::Val::Boolval(value)) => if value.boolval { "on" } else { "off" }.to_owned(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn truth(arg: Option<&Node>) -> bool {
    match arg.and_then(|arg| arg.node.as_ref()) {
        Some(N::Boolean(value)) => value.boolval,
        Some(N::Integer(value)) => value.ival != 0,
        _ => true,
    }
}

/// Where the content of the quoted body begins in a statement's text, if it stands there as it is.
pub fn quoted_offset(statement: &str, source: &str) -> Option<usize> {
    let mut found = statement.match_indices(source).map(|(at, _)| at);
    let first = found.next()?;
    // A short body may be found elsewhere first.
    Some(found.last().filter(|_| source.len() < 16).unwrap_or(first))
}

/// A definition after ALTER FUNCTION.
pub(super) fn changed(definition: &Definition, actions: &[Node]) -> Result<(Definition, Vec<String>)> {
    let (mut changed, mut current) = (definition.clone(), Vec::new());
    for node in actions {
        let Some(N::DefElem(option)) = &node.node else { continue };
        let arg = option.arg.as_deref();
        if definition.procedure && !matches!(option.defname.as_str(), "set" | "security") {
            return Err(invalid("invalid attribute in procedure definition"));
        }
        if option.defname == "set"
            && let Some(N::VariableSetStmt(set)) = arg.and_then(|arg| arg.node.as_ref())
        {
            match set.kind() {
                pg::VariableSetKind::VarReset | pg::VariableSetKind::VarSetDefault => {
                    changed.settings.retain(|(known, _)| *known != set.name.to_lowercase());
                    current.retain(|known| *known != set.name.to_lowercase());
                    continue;
                }
                pg::VariableSetKind::VarResetAll => {
                    changed.settings.clear();
                    current.clear();
                    continue;
                }
                _ => {}
            }
        }
        let mut options = Options::of(&[], definition.procedure)?;
        options.settings = std::mem::take(&mut changed.settings);
        options.current = std::mem::take(&mut current);
        options.take(&option.defname, arg)?;
        (changed.settings, current) = (options.settings, options.current);
        match option.defname.as_str() {
            "volatility" => changed.volatility = options.volatility,
            "strict" => changed.strict = options.strict,
            "security" => changed.definer = options.definer,
            "leakproof" => changed.leakproof = options.leakproof,
            "parallel" => changed.parallel = options.parallel,
            "cost" => changed.cost = options.cost,
            "rows" => changed.rows = options.rows,
            _ => {}
        }
    }
    check(&changed)?;
    Ok((changed, current))
}
