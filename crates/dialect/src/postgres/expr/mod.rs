//! Expressions: constants, casts, logic, CASE and its kin. Operators, calls, columns and subqueries have files of their
//! own.

pub(super) mod calls;
pub(super) mod columns;
mod groups;
mod in_step;
mod levels;
pub(super) mod operators;
pub(super) mod rows;
pub(super) mod set_returning;
mod sets_behind;
mod subqueries;
mod subscripts;
pub(super) mod user_operators;
mod windows;

use pg_query::protobuf::{
    self as pg, BoolExprType, BoolTestType, MinMaxOp, Node, NullTestType, SqlValueFunctionOp, TypeName, a_const,
    node::Node as N,
};

use super::binder::Binder;
use super::{names, types};
use crate::extension;
use crate::ir::{CastContext, CompareOp, Expr, ExprKind, Value};
use crate::scalar::bits::BIT;
use crate::scalar::vectors;
use crate::schema::QualifiedName;
use crate::{Condition, Language, Result, Type, functions};

/// The place where an expression begins, as PostgreSQL's `exprLocation` tells it; -1 when unknown.
pub(super) fn location(node: &Node) -> i32 {
    fn leftmost(a: i32, b: i32) -> i32 {
        match (a, b) {
            (a, b) if a < 0 => b,
            (a, b) if b < 0 => a,
            (a, b) => a.min(b),
        }
    }
    let of = |node: &Option<Box<Node>>| node.as_deref().map_or(-1, location);
    let Some(node) = &node.node else { return -1 };
    match node {
        N::AConst(constant) => constant.location,
        N::ColumnRef(column) => column.location,
        N::ParamRef(param) => param.location,
        N::AExpr(expr) => leftmost(of(&expr.lexpr), expr.location),
        N::TypeCast(cast) => {
            leftmost(of(&cast.arg), leftmost(cast.type_name.as_ref().map_or(-1, |ty| ty.location), cast.location))
        }
        N::CollateClause(collate) => leftmost(of(&collate.arg), collate.location),
        N::FuncCall(call) => call.location,
        N::AIndirection(indirection) => of(&indirection.arg),
        N::AArrayExpr(array) => array.location,
        N::ResTarget(target) => target.location,
        N::SubLink(link) => leftmost(of(&link.testexpr), link.location),
        N::BoolExpr(expr) => leftmost(expr.args.first().map_or(-1, location), expr.location),
        N::NullTest(test) => leftmost(of(&test.arg), test.location),
        N::BooleanTest(test) => leftmost(of(&test.arg), test.location),
        N::CaseExpr(case) => case.location,
        N::CoalesceExpr(expr) => expr.location,
        N::MinMaxExpr(expr) => expr.location,
        N::RowExpr(row) => row.location,
        N::SqlvalueFunction(function) => function.location,
        N::SetToDefault(default) => default.location,
        N::NamedArgExpr(arg) => leftmost(arg.location, of(&arg.arg)),
        N::GroupingFunc(function) => function.location,
        N::XmlExpr(expr) => expr.location,
        N::SortBy(sort) => of(&sort.node),
        N::List(list) => list.items.first().map_or(-1, location),
        N::JsonObjectConstructor(expr) => expr.location,
        N::JsonArrayConstructor(expr) => expr.location,
        N::JsonFuncExpr(expr) => expr.location,
        N::JsonIsPredicate(expr) => expr.location,
        N::RangeVar(range) => range.location,
        _ => -1,
    }
}

impl Binder<'_> {
    /// Binds an expression.
    pub(super) fn expr(&mut self, node: &Node) -> Result<Expr> {
        self.nested(|binder| binder.expr_inner(node))
    }

    /// Binds an expression and keeps its place.
    pub(super) fn placed(&mut self, node: &Node) -> Result<(Expr, i32)> {
        Ok((self.expr(node)?, location(node)))
    }

    /// Binds the expression of an optional node that the grammar always gives.
    pub(super) fn required(&mut self, node: &Option<Box<Node>>) -> Result<(Expr, i32)> {
        match node.as_deref() {
            Some(node) => self.placed(node),
            None => Err(crate::Error::internal("the parse tree lacks an expression")),
        }
    }

    fn expr_inner(&mut self, node: &Node) -> Result<Expr> {
        let place = location(node);
        let Some(inner) = &node.node else { return Err(crate::Error::internal("the parse tree has an empty node")) };
        match inner {
            N::AConst(constant) => self.constant(constant),
            N::ColumnRef(column) => self.column_reference(column),
            N::ParamRef(param) => self.param(param.number, param.location),
            N::AExpr(expr) => self.operator_expression(expr),
            N::TypeCast(cast) => self.type_cast(cast),
            N::CollateClause(collate) => self.collate(collate),
            N::FuncCall(call) => self.function_call(call),
            N::AIndirection(indirection) => {
                if let (Some(N::FuncCall(call)), [Node { node: Some(N::String(field)) }]) =
                    (indirection.arg.as_deref().and_then(|node| node.node.as_ref()), indirection.indirection.as_slice())
                    && let Some(value) = self.field_of_call(call, &field.sval)?
                {
                    return Ok(value);
                }
                self.indirection(indirection)
            }
            N::AArrayExpr(array) => self.array(array, None),
            N::SubLink(link) => self.sublink(link),
            N::BoolExpr(expr) => self.logic(expr),
            N::NullTest(test) => {
                let (arg, at) = self.required(&test.arg)?;
                self.leaves_open(&arg, at);
                let negated = test.nulltesttype() == NullTestType::IsNotNull;
                if self.shown.is_some() {
                    return Ok(Expr::new(ExprKind::IsNull { arg: Box::new(arg), negated }, Type::Bool));
                }
                if let ExprKind::Row(members) = arg.kind {
                    let tests = members
                        .into_iter()
                        .map(|arg| Expr::new(ExprKind::IsNull { arg: Box::new(arg), negated }, Type::Bool))
                        .collect();
                    return Ok(all_of(tests));
                }
                if arg.ty.is_row() {
                    let name = if negated { "row is not null" } else { "row is null" };
                    let function = functions::internal(name);
                    return Ok(Expr::new(ExprKind::Call { function, args: vec![arg] }, Type::Bool));
                }
                Ok(Expr::new(ExprKind::IsNull { arg: Box::new(arg), negated }, Type::Bool))
            }
            N::BooleanTest(test) => {
                let (arg, at) = self.required(&test.arg)?;
                let (what, test, negated) = match test.booltesttype() {
                    BoolTestType::IsTrue => ("IS TRUE", Some(true), false),
                    BoolTestType::IsNotTrue => ("IS NOT TRUE", Some(true), true),
                    BoolTestType::IsFalse => ("IS FALSE", Some(false), false),
                    BoolTestType::IsNotFalse => ("IS NOT FALSE", Some(false), true),
                    BoolTestType::IsNotUnknown => ("IS NOT UNKNOWN", None, true),
                    BoolTestType::IsUnknown | BoolTestType::Undefined => ("IS UNKNOWN", None, false),
                };
                let arg = self.condition(arg, what, at)?;
                Ok(Expr::new(ExprKind::IsTruth { arg: Box::new(arg), test, negated }, Type::Bool))
            }
            N::CaseExpr(case) => self.of_one_value("CASE", |binder| binder.case(case)),
            N::CoalesceExpr(expr) => {
                let members = self.of_one_value("COALESCE", |binder| binder.placed_all(&expr.args))?;
                let (members, ty) = self.unify(members, "COALESCE")?;
                Ok(Expr::new(ExprKind::Coalesce(members), ty))
            }
            N::MinMaxExpr(expr) => {
                let least = expr.op() == MinMaxOp::IsLeast;
                let members = self.placed_all(&expr.args)?;
                let (members, ty) = self.unify(members, if least { "LEAST" } else { "GREATEST" })?;
                let kind = if least { ExprKind::Least(members) } else { ExprKind::Greatest(members) };
                Ok(Expr::new(kind, ty))
            }
            N::RowExpr(row) => {
                let members = self.row_members(&row.args)?;
                Ok(rows::nameless(members))
            }
            N::SqlvalueFunction(function) => self.value_function(function),
            N::SetToDefault(_) => {
                Err(self.error(Condition::SyntaxError, "DEFAULT is not allowed in this context", place))
            }
            N::NamedArgExpr(_) => Err(self.unsupported("a named argument here", place)),
            N::GroupingFunc(function) => self.grouping_of_keys(function),
            N::CurrentOfExpr(_) => Err(self.unsupported("WHERE CURRENT OF here", place)),
            N::XmlExpr(_) | N::XmlSerialize(_) => Err(self.unsupported("XML", place)),
            N::JsonObjectConstructor(_) | N::JsonArrayConstructor(_) | N::JsonArrayQueryConstructor(_) => {
                Err(self.unsupported("the SQL/JSON constructor", place))
            }
            N::JsonObjectAgg(_) | N::JsonArrayAgg(_) => Err(self.unsupported("the SQL/JSON aggregate", place)),
            N::JsonFuncExpr(_) | N::JsonParseExpr(_) | N::JsonScalarExpr(_) | N::JsonSerializeExpr(_) => {
                Err(self.unsupported("the SQL/JSON function", place))
            }
            N::JsonIsPredicate(_) => Err(self.unsupported("IS JSON", place)),
            N::MergeSupportFunc(_) => Err(self.unsupported("merge_action", place)),
            _ => Err(self.unsupported("this expression", place)),
        }
    }

    /// Binds each of a list and keeps the places.
    pub(super) fn placed_all(&mut self, nodes: &[Node]) -> Result<Vec<(Expr, i32)>> {
        nodes.iter().map(|node| self.placed(node)).collect()
    }

    fn constant(&mut self, constant: &pg::AConst) -> Result<Expr> {
        if constant.isnull {
            return Ok(Expr::null(Type::Unknown));
        }
        match &constant.val {
            None => Ok(Expr::null(Type::Unknown)),
            Some(a_const::Val::Ival(value)) => {
                let ty = if self.is_mysql() { Type::Int8 } else { Type::Int4 };
                Ok(Expr::integer(i64::from(value.ival), ty))
            }
            Some(a_const::Val::Boolval(value)) => Ok(Expr::bool(value.boolval)),
            Some(a_const::Val::Sval(value)) => {
                self.has_nul |= value.sval.contains('\0');
                Ok(Expr::new(ExprKind::Literal(Value::Text(value.sval.clone())), Type::Unknown))
            }
            Some(a_const::Val::Fval(value)) => {
                let digits = value.fval.replace('_', "");
                match whole_number(&digits) {
                    Some(value) if i32::try_from(value).is_ok() => Ok(Expr::integer(value, Type::Int4)),
                    Some(value) => Ok(Expr::integer(value, Type::Int8)),
                    None => self.literal(&digits, &Type::Numeric(None), CastContext::Explicit, constant.location),
                }
            }
            // The digits stand behind the letter of their base.
            Some(a_const::Val::Bsval(bits)) if self.is_mysql() => {
                let digits = bits.bsval.get(1..).unwrap_or_default();
                let bytes = match bits.bsval.starts_with('b') {
                    true => crate::values::mysql::bytes_of_bits(digits),
                    false => crate::values::mysql::bytes_of_digits(digits),
                };
                Ok(Expr::new(ExprKind::Literal(Value::Blob(bytes)), Type::Bytea))
            }
            Some(a_const::Val::Bsval(bits)) => {
                self.literal(&bits.bsval, &Type::Scalar(&BIT, None), CastContext::Explicit, constant.location)
            }
        }
    }

    fn type_cast(&mut self, cast: &pg::TypeCast) -> Result<Expr> {
        let Some(type_name) = &cast.type_name else {
            return Err(crate::Error::internal("the parse tree lacks a type"));
        };
        let to = self.resolve_type(type_name)?;
        let arg_node = cast.arg.as_deref();
        if let (Some(N::AArrayExpr(array)), Type::Array(element)) = (arg_node.and_then(|node| node.node.as_ref()), &to)
        {
            return self.array(array, Some(element));
        }
        if let (Some(N::AArrayExpr(array)), Some(Type::Array(element))) =
            (arg_node.and_then(|node| node.node.as_ref()), vectors::array_of(&to))
        {
            // No array becomes a vector, but one may be written as its members.
            let members = self.array(array, Some(&element))?;
            let function = functions::internal("members of a vector");
            let written =
                Expr::new(ExprKind::Call { function, args: vec![members, Expr::text(types::words(&to))] }, Type::Text);
            return self.coerce(written, &to, CastContext::Explicit, cast.location);
        }
        let (mut arg, at) = self.required(&cast.arg)?;
        let from = types::words(&arg.ty);
        if matches!(to, Type::Array(_)) && self.is_vector(&arg) {
            // As an array it still counts from 0.
            arg = self.bounds_from_zero(arg);
        }
        if to.is_text() && self.is_vector(&arg) {
            arg = joined_by_blanks(arg);
        }
        let at = if arg.ty.is_row() && cast.location >= 0 { cast.location } else { at };
        self.try_coerce(arg, &to, CastContext::Explicit, at)?.map_err(|_| {
            self.error(
                Condition::CannotCoerce,
                format!("cannot cast type {from} to {}", types::words(&to)),
                cast.location,
            )
        })
    }

    /// A vector of the catalogs as an array that counts from 0.
    pub(super) fn bounds_from_zero(&self, vector: Expr) -> Expr {
        let ty = vector.ty.clone();
        let function = functions::internal("counted from zero");
        Expr::new(ExprKind::Call { function, args: vec![vector] }, ty)
    }

    /// The type that a type name means, with modifiers and array bounds.
    pub(super) fn resolve_type(&mut self, name: &TypeName) -> Result<Type> {
        if name.setof || name.pct_type {
            return Err(self.unsupported("SETOF or %TYPE", name.location));
        }
        let (schema, word) = names::of_type(name);
        if let Some(schema) = schema {
            self.check_schema(&QualifiedName::new(schema, word), name.location)?;
        }
        if let Some(user) = self.user_type(schema, word) {
            self.note_extension_of_type(&user);
            self.collated |= crate::collation::Collation::is_within(&user);
            if let Some((oid, namespace)) = self.place_of_type(&user) {
                self.note_place(name.location, oid, &namespace);
            }
            if let Some(oid) = user.user_type_oid() {
                self.note(|uses| {
                    uses.types.insert(oid);
                });
            }
            if !name.typmods.is_empty() {
                let message = format!("type modifier is not allowed for type \"{word}\"");
                return Err(self.error(Condition::SyntaxError, message, name.location));
            }
            return Ok(if name.array_bounds.is_empty() { user } else { Type::Array(Box::new(user)) });
        }
        if !matches!(schema, None | Some("pg_catalog" | "information_schema")) {
            if let Some(missing) = schema.filter(|schema| !self.schema.has_namespace(schema)) {
                let message = format!("schema \"{missing}\" does not exist");
                return Err(self.error(Condition::InvalidSchemaName, message, name.location));
            }
            return Err(self.error(
                Condition::UndefinedObject,
                format!("type \"{}.{word}\" does not exist", schema.unwrap_or_default()),
                name.location,
            ));
        }
        let mut modifiers = Vec::new();
        for modifier in &name.typmods {
            match &modifier.node {
                Some(N::AConst(pg::AConst { val: Some(a_const::Val::Ival(value)), .. })) => {
                    modifiers.push(i64::from(value.ival));
                }
                _ => {
                    return Err(self.error(
                        Condition::InvalidParameterValue,
                        "type modifiers must be simple constants or identifiers",
                        name.location,
                    ));
                }
            }
        }
        if word == "record" {
            return Ok(if name.array_bounds.is_empty() { Type::RECORD } else { Type::Array(Box::new(Type::RECORD)) });
        }
        // The grammar writes `char` and `character` as bpchar(1), and `bpchar` without length as itself.
        let ty = types::named(word, &modifiers).map_err(|error| self.at(error, name.location))?;
        Ok(if name.array_bounds.is_empty() { ty } else { Type::Array(Box::new(ty)) })
    }

    /// A user's type, or the array type of one, by its name. PostgreSQL's own types come first when the name is bare.
    pub(super) fn user_type(&self, schema: Option<&str>, word: &str) -> Option<Type> {
        if schema.is_none() && types::is_known(word) {
            return None;
        }
        let find = |word: &str| {
            let name = QualifiedName { schema: schema.map(str::to_owned), name: word.to_owned() };
            self.schema.user_type(&name).map(Type::User).or_else(|| {
                let relation = self.schema.relation(&name).filter(|relation| relation.name == name.name)?;
                Some(Type::User(std::sync::Arc::new(crate::composite::row_type(&relation))))
            })
        };
        let of_extension = || extension::type_named(self.schema, schema, word);
        let array = || Some(Type::Array(Box::new(find(word.strip_prefix('_')?)?)));
        find(word).or_else(array).or_else(of_extension)
    }

    fn collate(&mut self, collate: &pg::CollateClause) -> Result<Expr> {
        let (arg, at) = self.required(&collate.arg)?;
        let arg = self.settle(arg, at)?;
        if crate::collation::Collation::of_type(&arg.ty).is_none() {
            return Err(self.error(
                Condition::DatatypeMismatch,
                format!("collations are not supported by type {}", types::words(&arg.ty)),
                collate.location,
            ));
        }
        let collation = self.collation(&collate.collname, collate.location)?;
        self.collated = true;
        let ty = arg.ty.clone();
        let role = crate::ir::CollateRole::Written;
        Ok(Expr::new(
            ExprKind::Collate { arg: Box::new(arg), collation, role, place: crate::ir::Place(collate.location) },
            ty,
        ))
    }

    /// The collation of a name in an expression, behind the word COLLATE at this place.
    pub(super) fn collation(
        &mut self,
        name: &[Node],
        location: i32,
    ) -> Result<std::sync::Arc<crate::collation::Collation>> {
        let found = self.collation_named(&names::strings(name), location)?;
        if !found.is_built_in() {
            self.note_place(location, found.oid, &found.namespace);
            self.note(|uses| {
                uses.collations.insert(found.oid);
            });
        }
        Ok(found)
    }

    /// The collation that COLLATE names for a column or field of a type, where it is not the type's own.
    pub(super) fn declared_collation(
        &mut self,
        clause: Option<&pg::CollateClause>,
        ty: &Type,
    ) -> Result<Option<std::sync::Arc<crate::collation::Collation>>> {
        let Some(clause) = clause else { return Ok(None) };
        self.check_collatable(ty, clause.location)?;
        let named = self.collation(&clause.collname, clause.location)?;
        Ok(Some(named).filter(|named| Some(named) != crate::collation::Collation::of_type(ty)))
    }

    /// The collation of a name.
    pub(super) fn collation_named(
        &self,
        parts: &[&str],
        location: i32,
    ) -> Result<std::sync::Arc<crate::collation::Collation>> {
        let built_in = |name| crate::collation::Collation::named(name).cloned();
        let found = match parts {
            [name] => built_in(name).or_else(|| self.schema.collation(&QualifiedName::bare(*name))),
            ["pg_catalog", name] => built_in(name),
            [schema, _] if !self.schema.has_namespace(schema) => {
                let message = format!("schema \"{schema}\" does not exist");
                return Err(self.error(Condition::InvalidSchemaName, message, location));
            }
            [schema, name] => self.schema.collation(&QualifiedName::new(*schema, *name)),
            _ => None,
        };
        found.ok_or_else(|| {
            let name = parts.join(".");
            let message = format!("collation \"{name}\" for encoding \"UTF8\" does not exist");
            self.error(Condition::UndefinedObject, message, location)
        })
    }

    fn logic(&mut self, expr: &pg::BoolExpr) -> Result<Expr> {
        let what = match expr.boolop() {
            BoolExprType::OrExpr => "OR",
            BoolExprType::NotExpr => "NOT",
            _ => "AND",
        };
        let mut args = Vec::with_capacity(expr.args.len());
        for node in &expr.args {
            let (arg, at) = self.placed(node)?;
            args.push(self.condition(arg, what, at)?);
        }
        Ok(match (what, args.len()) {
            ("NOT", _) => match args.pop() {
                Some(arg) => Expr::new(ExprKind::Not(Box::new(arg)), Type::Bool),
                None => return Err(crate::Error::internal("the parse tree lacks an operand")),
            },
            ("OR", _) => any_of(args),
            _ => all_of(args),
        })
    }

    /// Binds parts of a construct in which no function may return rows.
    fn of_one_value<T>(&mut self, construct: &'static str, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.scope().one_value_in.replace(construct);
        let bound = bind(self);
        self.scope().one_value_in = before;
        bound
    }

    fn case(&mut self, case: &pg::CaseExpr) -> Result<Expr> {
        let subject = match case.arg.as_deref() {
            Some(node) => {
                let (expr, at) = self.placed(node)?;
                Some((self.settle(expr, at)?, at))
            }
            None => None,
        };
        let mut conditions = Vec::new();
        let mut results = Vec::new();
        for node in &case.args {
            let Some(N::CaseWhen(when)) = &node.node else { continue };
            let (condition, at) = self.required(&when.expr)?;
            conditions.push(match &subject {
                Some(subject) => {
                    let (subject, value) = self.mysql_case_operands(subject.clone(), (condition, at))?;
                    self.compare(CompareOp::Equal, subject, value, when.location)?
                }
                None => self.condition(condition, "CASE/WHEN", at)?,
            });
            results.push(self.required(&when.result)?);
        }
        // PostgreSQL looks at ELSE first.
        let otherwise = match case.defresult.as_deref() {
            Some(node) => Some(self.placed(node)?),
            None => None,
        };
        let has_otherwise = otherwise.is_some();
        let members: Vec<_> = otherwise.into_iter().chain(results).collect();
        let (mut members, mut ty) = self.unify(members, "CASE")?;
        if !has_otherwise && !self.is_mysql() {
            // The NULL that is left has no length.
            ty = super::coerce::base(&ty);
            for member in &mut members {
                let bare = Expr::null(ty.clone());
                *member = self.coerce(std::mem::replace(member, bare), &ty, CastContext::Implicit, -1)?;
            }
        }
        let otherwise = has_otherwise.then(|| Box::new(members.remove(0)));
        let branches = conditions.into_iter().zip(members).collect();
        Ok(Expr::new(ExprKind::Case { branches, otherwise }, ty))
    }

    /// ARRAY[…]; members take `element` when the array is cast, their common type otherwise.
    pub(super) fn array(&mut self, array: &pg::AArrayExpr, element: Option<&Type>) -> Result<Expr> {
        let mut members = Vec::with_capacity(array.elements.len());
        let mut nested = false;
        for node in &array.elements {
            if let Some(N::AArrayExpr(inner)) = &node.node {
                nested = true;
                members.push((self.array(inner, element)?, location(node)));
            } else {
                let member = self.placed(node)?;
                nested |= matches!(member.0.ty, Type::Array(_));
                members.push(member);
            }
        }
        if let Some(element) = element {
            let whole = Type::Array(Box::new(element.clone()));
            let wanted = if nested { &whole } else { element };
            let mut converted = Vec::with_capacity(members.len());
            for (member, at) in members {
                converted.push(self.coerce(member, wanted, CastContext::Explicit, at)?);
            }
            return Ok(Expr::new(ExprKind::Array(converted), whole));
        }
        if members.is_empty() {
            return Err(self
                .error(Condition::IndeterminateDatatype, "cannot determine type of empty array", array.location)
                .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."));
        }
        let (members, ty) = self.unify(members, "ARRAY")?;
        let ty = if nested { ty } else { Type::Array(Box::new(ty)) };
        Ok(Expr::new(ExprKind::Array(members), ty))
    }

    fn value_function(&mut self, function: &pg::SqlValueFunction) -> Result<Expr> {
        use SqlValueFunctionOp as Op;
        let place = function.location;
        let (name, with_precision): (_, fn(Option<u8>) -> Type) = match function.op() {
            Op::SvfopCurrentDate => ("current_date", |_| Type::Date),
            Op::SvfopCurrentTime | Op::SvfopCurrentTimeN => ("current_time", Type::TimeTz),
            Op::SvfopCurrentTimestamp | Op::SvfopCurrentTimestampN => ("current_timestamp", Type::TimestampTz),
            Op::SvfopLocaltime | Op::SvfopLocaltimeN => ("localtime", Type::Time),
            Op::SvfopLocaltimestamp | Op::SvfopLocaltimestampN => ("localtimestamp", Type::Timestamp),
            Op::SvfopCurrentRole => ("current_role", |_| Type::Name),
            Op::SvfopCurrentUser => ("current_user", |_| Type::Name),
            Op::SvfopUser => ("user", |_| Type::Name),
            Op::SvfopSessionUser => ("session_user", |_| Type::Name),
            Op::SvfopCurrentCatalog => ("current_catalog", |_| Type::Name),
            Op::SvfopCurrentSchema => ("current_schema", |_| Type::Name),
            Op::SqlvalueFunctionOpUndefined => return Err(self.unsupported("this function", place)),
        };
        let value = self.call_named(name, Vec::new(), place)?;
        let precise = matches!(
            function.op(),
            Op::SvfopCurrentTimeN | Op::SvfopCurrentTimestampN | Op::SvfopLocaltimeN | Op::SvfopLocaltimestampN
        );
        if precise {
            let ty = with_precision(Some(function.typmod.clamp(0, 6) as u8));
            return self.coerce(value, &ty, CastContext::Explicit, place);
        }
        Ok(value)
    }
}

/// All conditions; the only one by itself.
pub(super) fn all_of(mut conditions: Vec<Expr>) -> Expr {
    match conditions.len() {
        0 => Expr::bool(true),
        1 => conditions.swap_remove(0),
        _ => Expr::new(ExprKind::And(conditions), Type::Bool),
    }
}

/// One of the conditions; the only one by itself.
pub(super) fn any_of(mut conditions: Vec<Expr>) -> Expr {
    match conditions.len() {
        0 => Expr::bool(false),
        1 => conditions.swap_remove(0),
        _ => Expr::new(ExprKind::Or(conditions), Type::Bool),
    }
}

/// A numeric token that is a 64-bit integer, in any of PostgreSQL's bases.
fn whole_number(token: &str) -> Option<i64> {
    let (sign, digits) = match token.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", token),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => (10, lower.as_str()),
    };
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

/// The members of an array of numbers as a text, as a vector of the catalogs is written.
fn joined_by_blanks(array: Expr) -> Expr {
    let function = functions::named(Language::Postgres, "array_to_string").next();
    let Some(function) = function else { return array };
    Expr::new(ExprKind::Call { function, args: vec![array, Expr::text(" ")] }, Type::Text)
}
