//! CREATE, DROP and COMMENT ON CAST.

use pg_query::protobuf::{self as pg, CoercionContext, Node, ObjectType, node::Node as N};
use rowferry_facts as facts;

use super::super::binder::Binder;
use super::super::regtype;
use crate::error::Severity;
use crate::ir::{CastChange, CastContext, Ddl, Statement};
use crate::stored_function::TypeRef;
use crate::user_cast::{Definition, Method, UserCast};
use crate::{Condition, Error, Result, Type};

/// Object ids of the types that a function of a cast takes behind its value: a modifier, and whether it was asked for.
const MODIFIER: u32 = 23;
const ASKED: u32 = 16;

fn change(change: CastChange) -> Statement {
    Statement::Ddl(Box::new(Ddl::Cast(change)))
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidObjectDefinition, message)
}

/// The function of a cast as CREATE CAST sees it.
struct Function {
    oid: u32,
    args: Vec<u32>,
    result: u32,
    set: bool,
    normal: bool,
}

/// True for types that are kept as the same text, so that a value of one is one of the other as it is.
fn is_kept_alike(source: &Type, target: &Type) -> bool {
    let text = |ty: &Type| matches!(ty, Type::Text | Type::Varchar(_) | Type::Json);
    text(source) && text(target)
}

/// The types of a cast as the statement has them.
fn as_written(node: Option<&Node>) -> (String, String) {
    let Some(N::List(list)) = node.and_then(|node| node.node.as_ref()) else { return Default::default() };
    let mut words = list.items.iter().map(|item| match &item.node {
        Some(N::TypeName(name)) => {
            let brackets = if name.array_bounds.is_empty() { "" } else { "[]" };
            format!("{}{brackets}", super::super::names::strings(&name.names).join("."))
        }
        _ => String::new(),
    });
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

impl Binder<'_> {
    /// The type of a cast, and its object id.
    fn type_of_cast(&mut self, name: Option<&pg::TypeName>, what: &str) -> Result<(u32, Option<Type>)> {
        let Some(name) = name else { return Err(Error::internal("a cast without a type")) };
        let oid = self.type_oid(name)?;
        if facts::Type::by_oid(oid).is_some_and(|fact| fact.kind == 'p') {
            let words = regtype::shown(oid, None).unwrap_or_else(|| oid.to_string());
            let message = format!("{what} data type {words} is a pseudo-type");
            return Err(Error::new(Condition::WrongObjectType, message));
        }
        let ty = super::super::types::of_oid(oid, self.schema);
        if ty.as_ref().is_some_and(Type::is_domain) {
            let message = format!("cast will be ignored because the {what} data type is a domain");
            self.notices.push(Error::new(Condition::WrongObjectType, message).with_severity(Severity::Warning));
        }
        Ok((oid, ty))
    }

    /// Whether a value of one type is one of the other as it is.
    fn is_as_it_is(&self, from: u32, to: u32) -> bool {
        let through = |oid| super::super::types::of_oid(oid, self.schema).map(|ty| ty.through_domains().clone());
        let from = through(from).map_or(from, |ty| super::super::types::oid(&ty));
        from == to
            || facts::Cast::between(from, to).is_some_and(|cast| cast.method == 'b' && cast.context == 'i')
            || self.schema.casts().iter().any(|cast| {
                let Definition { source, target, method, context } = cast.definition;
                (source, target, method, context) == (from, to, Method::AsItIs, CastContext::Implicit)
            })
    }

    fn function_of_cast(&mut self, named: &pg::ObjectWithArgs) -> Result<Function> {
        let parts = super::super::names::strings(&named.objname);
        let mut types = Vec::with_capacity(named.objargs.len());
        for arg in &named.objargs {
            let Some(N::TypeName(name)) = &arg.node else { continue };
            types.push(self.type_oid(name)?);
        }
        let builtin = matches!(parts.as_slice(), [_] | ["pg_catalog", _]).then(|| parts.last().copied()).flatten();
        let mut facts = builtin.map(facts::Function::named).unwrap_or_default().iter();
        if let Some(fact) = facts.find(|fact| !named.args_unspecified && *fact.arguments == *types) {
            let (oid, args, result) = (fact.oid, fact.arguments.to_vec(), fact.result);
            return Ok(Function { oid, args, result, set: fact.returns_set, normal: fact.kind == 'f' });
        }
        let node = Node { node: Some(N::ObjectWithArgs(named.clone())) };
        let Some(found) = self.named_function(&node, ObjectType::ObjectFunction, false)? else {
            return Err(Error::internal("a function went astray"));
        };
        let definition = &found.definition;
        Ok(Function {
            oid: found.oid,
            args: definition.inputs().map(|param| param.ty.oid(self.schema)).collect(),
            result: definition.returns.oid(self.schema),
            set: definition.set,
            normal: !definition.procedure && definition.aggregate.is_none() && definition.returns != TypeRef::Trigger,
        })
    }

    fn method_by_function(&mut self, named: &pg::ObjectWithArgs, source: u32, target: u32) -> Result<Method> {
        let Function { oid, args, result, set, normal } = self.function_of_cast(named)?;
        if args.is_empty() || args.len() > 3 {
            return Err(invalid("cast function must take one to three arguments"));
        }
        if !self.is_as_it_is(source, args[0]) {
            let message = "argument of cast function must match or be binary-coercible from source data type";
            return Err(invalid(message));
        }
        if args.get(1).is_some_and(|arg| *arg != MODIFIER) {
            return Err(invalid("second argument of cast function must be type integer"));
        }
        if args.get(2).is_some_and(|arg| *arg != ASKED) {
            return Err(invalid("third argument of cast function must be type boolean"));
        }
        if !self.is_as_it_is(result, target) {
            let message = "return data type of cast function must match or be binary-coercible to target data type";
            return Err(invalid(message));
        }
        if !normal {
            return Err(invalid("cast function must be a normal function"));
        }
        if set {
            return Err(invalid("cast function must not return a set"));
        }
        if source == target {
            if args.len() < 2 {
                return Err(invalid("source data type and target data type are the same"));
            }
            return Err(self.unsupported("a cast that applies the modifier of a type", -1));
        }
        Ok(Method::Function(oid))
    }

    /// WITHOUT FUNCTION.
    fn method_as_it_is(&self, source: &(u32, Option<Type>), target: &(u32, Option<Type>)) -> Result<Method> {
        if !self.schema.rights().is_superuser() {
            let message = "must be superuser to create a cast WITHOUT FUNCTION";
            return Err(Error::new(Condition::InsufficientPrivilege, message));
        }
        let types = [&source.1, &target.1];
        let known = types.into_iter().flatten();
        let physical = |ty: &Type| {
            let oid = super::super::types::oid(ty.through_domains());
            let fact = facts::Type::by_oid(oid).map(|fact| (fact.length, fact.by_value, fact.alignment));
            fact.unwrap_or(match ty.through_domains() {
                Type::User(user) if user.labels().is_some() => (4, true, 'i'),
                Type::User(user) if user.composite().is_some() => (-1, false, 'd'),
                _ => (-1, false, 'i'),
            })
        };
        let mut forms = known.clone().map(physical);
        if let (Some(source), Some(target)) = (forms.next(), forms.next())
            && source != target
        {
            return Err(invalid("source and target data types are not physically compatible"));
        }
        type Refused<'a> = (fn(&Type) -> bool, &'a str);
        let refused: [Refused<'_>; 4] = [
            (|ty| !ty.is_domain() && ty.is_row(), "composite data types are not binary-compatible"),
            (|ty| !ty.is_domain() && ty.labels().is_some(), "enum data types are not binary-compatible"),
            (|ty| matches!(ty, Type::Array(_)), "array data types are not binary-compatible"),
            (|ty| ty.is_domain(), "domain data types must not be marked binary-compatible"),
        ];
        for (is_such, message) in refused {
            if known.clone().any(is_such) {
                return Err(invalid(message));
            }
        }
        if source.0 == target.0 {
            return Err(invalid("source data type and target data type are the same"));
        }
        match (&source.1, &target.1) {
            (Some(source), Some(target)) if is_kept_alike(source, target) => Ok(Method::AsItIs),
            _ => Err(self.unsupported("a cast WITHOUT FUNCTION between types whose values are kept differently", -1)),
        }
    }

    /// CREATE CAST.
    pub(super) fn create_cast(&mut self, create: &pg::CreateCastStmt) -> Result<Statement> {
        let source = self.type_of_cast(create.sourcetype.as_ref(), "source")?;
        let target = self.type_of_cast(create.targettype.as_ref(), "target")?;
        [source.0, target.0].into_iter().for_each(|oid| self.declare_oid(oid));
        let method = match &create.func {
            Some(named) => self.method_by_function(named, source.0, target.0)?,
            None if create.inout => {
                if source.0 == target.0 {
                    return Err(invalid("source data type and target data type are the same"));
                }
                if matches!(source.1, Some(Type::Char(_))) {
                    return Err(self.unsupported("a cast WITH INOUT from character", -1));
                }
                Method::Text
            }
            None => self.method_as_it_is(&source, &target)?,
        };
        let context = match create.context() {
            CoercionContext::CoercionImplicit => CastContext::Implicit,
            CoercionContext::CoercionAssignment => CastContext::Assignment,
            _ => CastContext::Explicit,
        };
        let known =
            facts::Cast::between(source.0, target.0).is_some() || self.cast_between(source.0, target.0).is_some();
        let of_ranges = source.1.as_ref().zip(target.1.as_ref()).is_some_and(|(source, target)| {
            let family = crate::scalar::ranges::of_range(source);
            matches!(source, Type::User(_)) && family.is_some_and(|family| family.multirange == *target)
        });
        if known || of_ranges {
            let message = format!("cast from type {} already exists", self.shown_cast(source.0, target.0));
            return Err(Error::new(Condition::DuplicateObject, message));
        }
        Ok(change(CastChange::Create(Definition { source: source.0, target: target.0, method, context })))
    }

    /// `integer to text`.
    fn shown_cast(&self, source: u32, target: u32) -> String {
        let words = |oid: u32| regtype::shown_in(self.schema, oid, None).unwrap_or_else(|| oid.to_string());
        format!("{} to type {}", words(source), words(target))
    }

    /// The cast of users between two types, by their object ids.
    fn cast_between(&self, source: u32, target: u32) -> Option<UserCast> {
        let is_it = |cast: &&UserCast| (cast.definition.source, cast.definition.target) == (source, target);
        self.schema.casts().iter().find(is_it).copied()
    }

    /// The cast between two types that a statement names.
    fn named_cast(&mut self, node: Option<&Node>) -> Result<(u32, u32)> {
        let Some(N::List(list)) = node.and_then(|node| node.node.as_ref()) else {
            return Err(Error::internal("a cast without types"));
        };
        let mut types = Vec::with_capacity(2);
        for item in &list.items {
            let Some(N::TypeName(name)) = &item.node else { continue };
            types.push(self.type_oid(name)?);
        }
        match types.as_slice() {
            [source, target] => Ok((*source, *target)),
            _ => Err(Error::internal("a cast without two types")),
        }
    }

    fn own_cast(&self, (source, target): (u32, u32), doing: &str) -> Result<UserCast> {
        if let Some(cast) = self.cast_between(source, target) {
            return Ok(cast);
        }
        let shown = self.shown_cast(source, target);
        if facts::Cast::between(source, target).is_none() {
            let message = format!("cast from type {shown} does not exist");
            return Err(Error::new(Condition::UndefinedObject, message));
        }
        if doing == "DROP CAST" {
            let shown = shown.replace(" to type ", " to ");
            let message = format!("cannot drop cast from {shown} because it is required by the database system");
            return Err(Error::new(Condition::DependentObjectsStillExist, message));
        }
        Err(self.unsupported(format!("{doing} of a built-in cast"), -1))
    }

    pub(super) fn comment_on_cast(&mut self, comment: &pg::CommentStmt, text: Option<String>) -> Result<Ddl> {
        let types = self.named_cast(comment.object.as_deref())?;
        let cast = self.own_cast(types, "COMMENT ON CAST")?;
        Ok(Ddl::Cast(CastChange::Comment { cast, text }))
    }

    pub(super) fn drop_cast(&mut self, drop: &pg::DropStmt) -> Result<Statement> {
        let types = match self.named_cast(drop.objects.first()) {
            Err(error)
                if drop.missing_ok
                    && matches!(error.condition(), Condition::UndefinedObject | Condition::InvalidSchemaName) =>
            {
                self.remark(format!("{}, skipping", error.message));
                return Ok(Statement::Nothing { tag: "DROP CAST" });
            }
            types => types?,
        };
        let cast = match self.own_cast(types, "DROP CAST") {
            Err(error) if drop.missing_ok && error.condition() == Condition::UndefinedObject => {
                let (source, target) = as_written(drop.objects.first());
                self.remark(format!("cast from type {source} to type {target} does not exist, skipping"));
                return Ok(Statement::Nothing { tag: "DROP CAST" });
            }
            cast => cast?,
        };
        Ok(change(CastChange::Drop(cast)))
    }
}
