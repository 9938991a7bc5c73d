//! CREATE, ALTER, DROP and COMMENT ON OPERATOR.

use std::sync::Arc;

use pg_query::protobuf::{self as pg, DropBehavior, Node, node::Node as N};
use rowferry_facts as facts;

use super::super::binder::Binder;
use super::super::{names, regtype};
use crate::error::Severity;
use crate::ir::{Ddl, OperatorChange, OtherOperator, Statement};
use crate::postgres::polymorphic::Polymorphic;
use crate::schema::QualifiedName;
use crate::user_operator::{Definition, UserOperator};
use crate::{Condition, Error, Result};

/// Object ids of `boolean`, of `double precision`, and of what functions that guess take.
const BOOL: u32 = 16;
const FLOAT8: u32 = 701;
const RESTRICTION: [u32; 4] = [2_281, 26, 2_281, 23];
const JOIN: [u32; 5] = [2_281, 26, 2_281, 21, 2_281];

fn change(change: OperatorChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Operator(change)))
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidFunctionDefinition, message)
}

/// An operator as a statement names it.
pub(in crate::postgres) struct NamedOperator {
    /// Its name.
    pub(in crate::postgres) name: QualifiedName,
    /// Object ids of its operands' types; the left one is 0 before its operand.
    pub(in crate::postgres) types: (u32, u32),
}

/// A qualified name from the strings of which it is made.
fn name_of(parts: &[&str]) -> QualifiedName {
    match parts {
        [.., schema, name] => QualifiedName::new(*schema, *name),
        [name] => QualifiedName::bare(*name),
        [] => QualifiedName::bare(""),
    }
}

/// The name in an option; `None` for NONE.
fn name_in(option: &pg::DefElem) -> Result<Option<QualifiedName>> {
    let parts = match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
        Some(N::TypeName(ty)) => names::strings(&ty.names),
        Some(N::List(list)) => names::strings(&list.items),
        Some(N::String(text)) if text.sval == "none" => return Ok(None),
        Some(N::String(text)) => vec![text.sval.as_str()],
        None => {
            let message = format!("{} requires a parameter", option.defname);
            return Err(Error::new(Condition::SyntaxError, message));
        }
        Some(_) => {
            let message = format!("argument of {} must be a name", option.defname);
            return Err(Error::new(Condition::SyntaxError, message));
        }
    };
    Ok(Some(name_of(&parts)))
}

/// HASHES, MERGES.
fn truth_of(option: &pg::DefElem) -> Result<bool> {
    let word = match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
        None => return Ok(true),
        Some(N::String(text)) => text.sval.to_ascii_lowercase(),
        Some(N::TypeName(ty)) => names::strings(&ty.names).join(".").to_ascii_lowercase(),
        Some(N::Integer(number)) => number.ival.to_string(),
        Some(N::Boolean(value)) => value.boolval.to_string(),
        Some(_) => String::new(),
    };
    match word.as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => {
            let message = format!("{} requires a Boolean value", option.defname);
            Err(Error::new(Condition::SyntaxError, message))
        }
    }
}

/// What CREATE OPERATOR says.
#[derive(Default)]
struct Options<'a> {
    left: Option<&'a pg::TypeName>,
    right: Option<&'a pg::TypeName>,
    function: Option<QualifiedName>,
    commutator: Option<QualifiedName>,
    negator: Option<QualifiedName>,
    restriction: Option<QualifiedName>,
    join: Option<QualifiedName>,
    hashes: bool,
    merges: bool,
    unknown: Vec<&'a str>,
}

impl<'a> Options<'a> {
    fn of(definition: &'a [Node]) -> Result<Self> {
        let mut options = Self::default();
        for node in definition {
            let Some(N::DefElem(option)) = &node.node else { continue };
            match option.defname.as_str() {
                "leftarg" => options.left = Some(type_in(option)?),
                "rightarg" => options.right = Some(type_in(option)?),
                "function" | "procedure" => options.function = name_in(option)?,
                "commutator" => options.commutator = name_in(option)?,
                "negator" => options.negator = name_in(option)?,
                "restrict" => options.restriction = name_in(option)?,
                "join" => options.join = name_in(option)?,
                "hashes" => options.hashes = truth_of(option)?,
                "merges" => options.merges = truth_of(option)?,
                // What older dumps say of it.
                "sort1" | "sort2" | "ltcmp" | "gtcmp" => options.merges = true,
                name => options.unknown.push(name),
            }
        }
        Ok(options)
    }

    /// What an operator before its operand, or one that is no condition, cannot be.
    fn check(&self, binary: bool, result: u32) -> Result<()> {
        let wants = [
            (self.commutator.is_some(), "have commutators"),
            (self.join.is_some(), "have join selectivity"),
            (self.merges, "merge join"),
            (self.hashes, "hash"),
        ];
        if let Some((_, what)) = wants.iter().find(|(wanted, _)| *wanted && !binary) {
            return Err(invalid(format!("only binary operators can {what}")));
        }
        let wants = [
            (self.negator.is_some(), "have negators"),
            (self.restriction.is_some(), "have restriction selectivity"),
            (self.join.is_some(), "have join selectivity"),
            (self.merges, "merge join"),
            (self.hashes, "hash"),
        ];
        match wants.iter().find(|(wanted, _)| *wanted && result != BOOL) {
            Some((_, what)) => Err(invalid(format!("only boolean operators can {what}"))),
            None => Ok(()),
        }
    }
}

fn type_in(option: &pg::DefElem) -> Result<&pg::TypeName> {
    match option.arg.as_deref().and_then(|node| node.node.as_ref()) {
        Some(N::TypeName(ty)) if ty.setof => Err(invalid("SETOF type not allowed for operator argument")),
        Some(N::TypeName(ty)) => Ok(ty),
        _ => {
            let message = format!("argument of {} must be a type name", option.defname);
            Err(Error::new(Condition::SyntaxError, message))
        }
    }
}

impl Binder<'_> {
    /// The object id of a type that an operator or cast names, pseudo-types among them.
    pub(super) fn type_oid(&mut self, name: &pg::TypeName) -> Result<u32> {
        let (schema, word) = names::of_type(name);
        if matches!(schema, None | Some("pg_catalog")) && name.array_bounds.is_empty() {
            if let Some(any) = Polymorphic::named(word) {
                return Ok(any.oid());
            }
            if let Some(pseudo) = facts::Type::named(word).filter(|fact| fact.kind == 'p') {
                return Ok(pseudo.oid);
            }
        }
        let ty = self.resolve_type(name)?;
        Ok(super::super::types::oid(&ty))
    }

    /// Notes that something is defined by a type.
    pub(super) fn declare_oid(&mut self, oid: u32) {
        if let Some(ty) = super::super::types::of_oid(oid, self.schema) {
            self.needs.declare(&ty);
        }
    }

    /// The function of a name that takes just these types, with the type of its result.
    pub(super) fn exact_function(&self, name: &QualifiedName, types: &[u32]) -> Result<(u32, u32)> {
        if matches!(name.schema.as_deref(), None | Some("pg_catalog")) {
            let mut named = facts::Function::named(&name.name).iter();
            if let Some(fact) = named.find(|fact| *fact.arguments == *types) {
                return Ok((fact.oid, fact.result));
            }
        }
        let takes = |function: &&Arc<crate::stored_function::StoredFunction>| {
            function.definition.inputs().map(|param| param.ty.oid(self.schema)).eq(types.iter().copied())
        };
        if let Some(found) = self.schema.functions(name).iter().find(takes) {
            return Ok((found.oid, found.definition.returns.oid(self.schema)));
        }
        let words: Vec<String> = types
            .iter()
            .map(|oid| regtype::shown_in(self.schema, *oid, None).unwrap_or_else(|| oid.to_string()))
            .collect();
        let message = format!("function {name}({}) does not exist", words.join(", "));
        Err(Error::new(Condition::UndefinedFunction, message))
    }

    /// RESTRICT and JOIN: functions of PostgreSQL's that guess; nobody asks them here.
    fn estimator(&self, name: Option<&QualifiedName>, join: bool) -> Result<u32> {
        let Some(name) = name else { return Ok(0) };
        let found = match join {
            true => self
                .exact_function(name, &JOIN)
                .or_else(|error| self.exact_function(name, &JOIN[..4]).map_err(|_| error))?,
            false => self.exact_function(name, &RESTRICTION)?,
        };
        if found.1 != FLOAT8 {
            let what = if join { "join" } else { "restriction" };
            let message = format!("{what} estimator function {name} must return type double precision");
            return Err(Error::new(Condition::InvalidObjectDefinition, message));
        }
        Ok(found.0)
    }

    /// CREATE OPERATOR.
    pub(super) fn create_operator(&mut self, define: &pg::DefineStmt) -> Result<Statement> {
        let name = name_of(&names::strings(&define.defnames));
        let namespace = self.function_namespace(&name)?;
        let options = Options::of(&define.definition)?;
        for unknown in &options.unknown {
            let warning =
                Error::new(Condition::SyntaxError, format!("operator attribute \"{unknown}\" not recognized"));
            self.notices.push(warning.with_severity(Severity::Warning));
        }
        let Some(function) = &options.function else { return Err(invalid("operator function must be specified")) };
        let left = options.left.map(|ty| self.type_oid(ty)).transpose()?.unwrap_or(0);
        let Some(right) = options.right else {
            return Err(match options.left {
                None => invalid("operator argument types must be specified"),
                Some(_) => invalid("operator right argument type must be specified")
                    .detail("Postfix operators are not supported."),
            });
        };
        let right = self.type_oid(right)?;
        let types: Vec<u32> = [left, right].into_iter().filter(|oid| *oid != 0).collect();
        let (function, result) = self.exact_function(function, &types)?;
        if let Some(function) = self.schema.function_by_oid(function) {
            self.needs.call(&function);
        }
        [left, right, result].into_iter().for_each(|oid| self.declare_oid(oid));
        let restriction = self.estimator(options.restriction.as_ref(), false)?;
        let join = self.estimator(options.join.as_ref(), true)?;
        let name = QualifiedName::new(namespace, name.name);
        options.check(left != 0, result)?;
        let known = self.operator_in(&name, (left, right));
        if known.as_ref().is_some_and(|known| !known.definition.is_shell()) {
            let message = format!("operator {} already exists", name.name);
            return Err(Error::new(Condition::DuplicateFunction, message));
        }
        let kin = |other: &Option<QualifiedName>, types, commutes| {
            let Some(other) = other else { return Ok(None) };
            self.other_operator(other, types, (&name, (left, right)), commutes).map(Some)
        };
        let commutator = kin(&options.commutator, (right, left), true)?;
        let negator = kin(&options.negator, (left, right), false)?;
        let (hashes, merges) = (options.hashes, options.merges);
        let kept =
            Definition { left, right, result, function, restriction, join, hashes, merges, ..Definition::default() };
        let shell = known.map(|known| known.oid);
        Ok(change(OperatorChange::Create { name, definition: kept, commutator, negator, shell }))
    }

    /// The commutator or negator that CREATE OPERATOR names.
    fn other_operator(
        &self,
        name: &QualifiedName,
        types: (u32, u32),
        (own, own_types): (&QualifiedName, (u32, u32)),
        commutes: bool,
    ) -> Result<OtherOperator> {
        let found = self.find_operator(name, types);
        let is_own =
            |namespace: &str| name.name == own.name && types == own_types && own.schema.as_deref() == Some(namespace);
        match found {
            // The place that was kept for this one.
            Some(FoundOperator::User(found)) if is_own(&found.namespace) => {}
            Some(found) => return Ok(OtherOperator::Known(found.oid())),
            None => {}
        }
        let namespace = self.function_namespace(name)?;
        if is_own(&namespace) {
            return match commutes {
                true => Ok(OtherOperator::Itself),
                false => Err(invalid("operator cannot be its own negator or sort operator")),
            };
        }
        let name = QualifiedName::new(namespace, name.name.clone());
        Ok(OtherOperator::Shell { name, left: types.0, right: types.1 })
    }

    /// The operator of users of a name in its schema, between these types.
    fn operator_in(&self, name: &QualifiedName, types: (u32, u32)) -> Option<Arc<UserOperator>> {
        let is_it = |known: &Arc<UserOperator>| (known.definition.left, known.definition.right) == types;
        self.schema.operators(name).into_iter().find(is_it)
    }

    /// The operator that a name means between just these types.
    fn find_operator(&self, name: &QualifiedName, types: (u32, u32)) -> Option<FoundOperator> {
        if matches!(name.schema.as_deref(), None | Some("pg_catalog")) {
            let mut named = facts::Operator::named(&name.name).iter();
            if let Some(fact) = named.find(|fact| (fact.left_type, fact.right_type) == types) {
                return Some(FoundOperator::BuiltIn(fact.oid));
            }
        }
        self.operator_in(name, types).map(FoundOperator::User)
    }

    /// An operator as ALTER, DROP and COMMENT name it.
    pub(in crate::postgres) fn named_operator(&mut self, node: Option<&Node>) -> Result<NamedOperator> {
        match node.and_then(|node| node.node.as_ref()) {
            Some(N::ObjectWithArgs(object)) => self.operator_of(object),
            _ => Err(Error::internal("an operator without a name")),
        }
    }

    fn operator_of(&mut self, object: &pg::ObjectWithArgs) -> Result<NamedOperator> {
        let name = name_of(&names::strings(&object.objname));
        let mut types = Vec::with_capacity(2);
        for arg in &object.objargs {
            types.push(match &arg.node {
                Some(N::TypeName(ty)) => self.type_oid(ty)?,
                _ => 0,
            });
        }
        match types.as_slice() {
            [left, right] => Ok(NamedOperator { name, types: (*left, *right) }),
            _ => Err(Error::internal("an operator without operands")),
        }
    }

    /// The operator of users that a statement changes.
    fn own_operator(&self, named: &NamedOperator, doing: &str) -> Result<Arc<UserOperator>> {
        match self.find_operator(&named.name, named.types) {
            Some(FoundOperator::User(operator)) => Ok(operator),
            Some(FoundOperator::BuiltIn(_)) if doing == "DROP" => {
                let name = &named.name;
                let (left, right) = named.types;
                let words = |oid| regtype::shown(oid, None).unwrap_or_else(|| "NONE".to_owned());
                let shown = format!("operator {}({},{})", name.name, words(left), words(right));
                let message = format!("cannot drop {shown} because it is required by the database system");
                Err(Error::new(Condition::DependentObjectsStillExist, message))
            }
            Some(FoundOperator::BuiltIn(_)) => Err(self.unsupported(format!("{doing} of a built-in operator"), -1)),
            None if named.types.1 == 0 => {
                Err(Error::new(Condition::SyntaxError, "postfix operators are not supported"))
            }
            None => {
                let message = format!("operator does not exist: {}", self.shown_operator(named));
                Err(Error::new(Condition::UndefinedFunction, message))
            }
        }
    }

    fn shown_operator(&self, named: &NamedOperator) -> String {
        let words = |oid: u32| regtype::shown_in(self.schema, oid, None).unwrap_or_else(|| oid.to_string());
        let (left, right) = named.types;
        match left {
            0 => format!("{} {}", named.name, words(right)),
            left => format!("{} {} {}", words(left), named.name, words(right)),
        }
    }

    /// The operator whose owner ALTER … OWNER TO changes.
    pub(in crate::postgres) fn owned_operator(&mut self, alter: &pg::AlterOwnerStmt) -> Result<Arc<UserOperator>> {
        let named = self.named_operator(alter.object.as_deref())?;
        self.own_operator(&named, "ALTER OPERATOR … OWNER TO")
    }

    /// ALTER OPERATOR … SET.
    pub(super) fn alter_operator(&mut self, alter: &pg::AlterOperatorStmt) -> Result<Statement> {
        let Some(object) = &alter.opername else { return Err(Error::internal("an operator without a name")) };
        let named = self.operator_of(object)?;
        let operator = self.own_operator(&named, "ALTER OPERATOR")?;
        let mut definition = operator.definition.clone();
        let syntax = |message: String| Error::new(Condition::SyntaxError, message);
        for node in &alter.options {
            let Some(N::DefElem(option)) = &node.node else { continue };
            let none = option.arg.is_none();
            let name = if none { None } else { name_in(option)? };
            match option.defname.as_str() {
                "restrict" => {
                    definition.restriction = self.estimator(name.as_ref(), false)?;
                    if definition.restriction != 0 && definition.result != BOOL {
                        return Err(invalid("only boolean operators can have restriction selectivity"));
                    }
                }
                "join" => {
                    definition.join = self.estimator(name.as_ref(), true)?;
                    if definition.join != 0 && definition.left == 0 {
                        return Err(invalid("only binary operators can have join selectivity"));
                    }
                    if definition.join != 0 && definition.result != BOOL {
                        return Err(invalid("only boolean operators can have join selectivity"));
                    }
                }
                name @ ("leftarg" | "rightarg" | "function" | "procedure" | "commutator" | "negator" | "hashes"
                | "merges") => return Err(syntax(format!("operator attribute \"{name}\" cannot be changed"))),
                name => return Err(syntax(format!("operator attribute \"{name}\" not recognized"))),
            }
        }
        Ok(change(OperatorChange::Alter { operator, definition }))
    }

    /// ALTER OPERATOR … SET SCHEMA.
    pub(super) fn move_operator(&mut self, alter: &pg::AlterObjectSchemaStmt) -> Result<Statement> {
        let named = self.named_operator(alter.object.as_deref())?;
        let operator = self.own_operator(&named, "ALTER OPERATOR … SET SCHEMA")?;
        let to = self.function_namespace(&QualifiedName::new(alter.newschema.clone(), operator.name.clone()))?;
        if to == operator.namespace {
            return Ok(Statement::Nothing { tag: "ALTER OPERATOR" });
        }
        if self.operator_in(&QualifiedName::new(to.clone(), operator.name.clone()), named.types).is_some() {
            let message = format!("operator {} already exists", operator.name);
            return Err(Error::new(Condition::DuplicateFunction, message));
        }
        Ok(change(OperatorChange::Move { operator, to }))
    }

    pub(super) fn comment_on_operator(&mut self, comment: &pg::CommentStmt, text: Option<String>) -> Result<Ddl> {
        let named = self.named_operator(comment.object.as_deref())?;
        let operator = self.own_operator(&named, "COMMENT ON OPERATOR")?;
        Ok(Ddl::Operator(OperatorChange::Comment { operator, text }))
    }

    pub(super) fn drop_operators(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let mut operators: Vec<Arc<UserOperator>> = Vec::new();
        for node in &drop.objects {
            let named = match self.named_operator(Some(node)) {
                Err(error)
                    if drop.missing_ok
                        && matches!(error.condition(), Condition::UndefinedObject | Condition::InvalidSchemaName) =>
                {
                    self.remark(format!("{}, skipping", error.message));
                    continue;
                }
                named => named?,
            };
            let missing = self.find_operator(&named.name, named.types).is_none();
            if missing && drop.missing_ok {
                match &named.name.schema {
                    Some(schema) if !self.schema.has_namespace(schema) => {
                        self.remark(format!("schema \"{schema}\" does not exist, skipping"));
                    }
                    _ => self.remark(format!("operator {} does not exist, skipping", named.name)),
                }
                continue;
            }
            let operator = self.own_operator(&named, "DROP")?;
            if !operators.contains(&operator) {
                operators.push(operator);
            }
        }
        if operators.is_empty() {
            return Ok(Statement::Nothing { tag: "DROP OPERATOR" });
        }
        let cascade = drop.behavior() == DropBehavior::DropCascade;
        Ok(change(OperatorChange::Drop { operators, cascade }))
    }
}

/// An operator that a name means.
enum FoundOperator {
    BuiltIn(u32),
    User(Arc<UserOperator>),
}

impl FoundOperator {
    fn oid(&self) -> u32 {
        match self {
            Self::BuiltIn(oid) => *oid,
            Self::User(operator) => operator.oid,
        }
    }
}
