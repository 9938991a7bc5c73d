//! Operators that users have made: which one is meant, among those and PostgreSQL's own, and what becomes of it.

use std::sync::Arc;

use rowferry_facts as facts;

use super::super::absent;
use super::super::binder::Binder;
use super::super::coerce::base;
use super::super::polymorphic::{Polymorphic, Standing};
use super::super::resolve::{Implicit, Miss, Signature, choose};
use super::super::types;
use crate::functions;
use crate::ir::{CastContext, Expr, ExprKind};
use crate::schema::QualifiedName;
use crate::user_operator::UserOperator;
use crate::uses::NamedObject;
use crate::{Condition, Result, Type};

/// What becomes of an operator.
pub(in super::super) enum Meant {
    /// It was one of users.
    Value(Expr),
    /// It is one of PostgreSQL's own, over these operands.
    BuiltIn(Vec<(Expr, i32)>),
}

/// What an operator may mean.
#[derive(Clone)]
enum Of {
    BuiltIn,
    User(Arc<UserOperator>),
}

/// The same with the types that its operands take.
#[derive(Clone)]
struct Candidate {
    of: Of,
    args: Vec<Type>,
    polymorphic: Vec<bool>,
}

impl Signature for Candidate {
    fn args(&self) -> &[Type] {
        &self.args
    }

    fn declared(&self, index: usize) -> Option<&Type> {
        if self.polymorphic.get(index).copied().unwrap_or(true) { None } else { self.args.get(index) }
    }
}

impl Binder<'_> {
    /// An operator between types, by their object ids, as it takes operands; `None` where its polymorphic types do not.
    fn operator_candidate(&self, of: Of, declared: &[u32], inputs: &[Type]) -> Option<Candidate> {
        if declared.len() != inputs.len() {
            return None;
        }
        let any: Vec<Option<Polymorphic>> = declared.iter().map(|oid| Polymorphic::of_oid(*oid)).collect();
        let arguments: Vec<(Polymorphic, &Type)> =
            any.iter().zip(inputs).filter_map(|(any, input)| Some(((*any)?, input))).collect();
        let standing = if arguments.is_empty() { None } else { Some(Standing::of(&arguments).ok()?) };
        let mut args = Vec::with_capacity(declared.len());
        for (oid, any) in declared.iter().zip(&any) {
            args.push(match (any, &standing) {
                (Some(any), Some(standing)) => standing.settled(*any),
                _ => types::of_oid(*oid, self.schema)?,
            });
        }
        Some(Candidate { of, args, polymorphic: any.iter().map(Option::is_some).collect() })
    }

    /// True when operators of users, or casts of theirs, have a say in what an operator over these operands means.
    pub(super) fn asks_users(&self, name: &str, operands: &[&Type]) -> bool {
        self.operator_schema.is_some()
            || !self.schema.operators(&self.operator_name(name)).is_empty()
            || operands.iter().any(|ty| self.has_casts_from(ty))
    }

    /// True for a schema in which an extension has operators.
    pub(super) fn is_schema_of_extension(&self, schema: &str) -> bool {
        crate::extension::visible(self.schema, Some(schema)).any(|extension| !extension.facts.operators().is_empty())
    }

    fn operator_name(&self, name: &str) -> QualifiedName {
        QualifiedName { schema: self.operator_schema.clone(), name: name.to_owned() }
    }

    /// What an operator over operands means, users' operators and casts among what it may.
    pub(in super::super) fn meant_by_operator(
        &mut self,
        name: &str,
        operands: Vec<(Expr, i32)>,
        place: i32,
    ) -> Result<Meant> {
        let full = self.operator_name(name);
        let schema = self.operator_schema.take();
        if schema.as_deref() == Some("pg_catalog") {
            return Ok(Meant::BuiltIn(operands));
        }
        let users = self.schema.operators(&full);
        if let Some(schema) = &schema {
            if !self.schema.has_namespace(schema) {
                let message = format!("schema \"{schema}\" does not exist");
                return Err(self.error(Condition::InvalidSchemaName, message, place));
            }
            if users.is_empty() && self.is_schema_of_extension(schema) {
                return Ok(Meant::BuiltIn(operands));
            }
        } else if users.is_empty() && !operands.iter().any(|(operand, _)| self.has_casts_from(&operand.ty)) {
            return Ok(Meant::BuiltIn(operands));
        }
        // What is declared with just these types, domains among them.
        let exact: Vec<u32> = absent::oids(&operands.iter().map(|(operand, _)| operand.ty.clone()).collect::<Vec<_>>());
        let declared = |user: &UserOperator| match user.definition.left {
            0 => vec![user.definition.right],
            left => vec![left, user.definition.right],
        };
        let inputs: Vec<Type> = operands.iter().map(|(operand, _)| base(&operand.ty)).collect();
        let mut candidates = Vec::new();
        if schema.is_none() {
            let wanted = if inputs.len() == 1 { 'l' } else { 'b' };
            for fact in facts::Operator::named(name).iter().filter(|fact| fact.kind == wanted) {
                let types = [fact.left_type, fact.right_type].into_iter().filter(|oid| *oid != 0).collect::<Vec<_>>();
                if let Some(found) = self.operator_candidate(Of::BuiltIn, &types, &inputs) {
                    candidates.push((types, found));
                }
            }
        }
        for user in users {
            let types = declared(&user);
            // Of two alike the first in the search path counts, PostgreSQL's own before all.
            if candidates.iter().any(|(known, _)| *known == types) {
                continue;
            }
            if types == exact {
                return self.call_operator(&user, operands, place).map(Meant::Value);
            }
            if let Some(found) = self.operator_candidate(Of::User(user), &types, &inputs) {
                candidates.push((types, found));
            }
        }
        let candidates = candidates.into_iter().map(|(_, candidate)| candidate).collect();
        let becomes = |from: &Type, to: &Type| self.becomes(from, to);
        let becomes: Implicit<'_> = &becomes;
        match choose(candidates, &inputs, true, becomes) {
            Ok(Candidate { of: Of::User(user), .. }) => self.call_operator(&user, operands, place).map(Meant::Value),
            Ok(candidate) => {
                let mut converted = Vec::with_capacity(operands.len());
                for ((operand, at), (index, arg)) in operands.into_iter().zip(candidate.args.iter().enumerate()) {
                    let by_users = !candidate.polymorphic[index] && self.user_cast(&operand.ty, arg).is_some();
                    converted.push(match by_users {
                        true => (self.coerce(operand, arg, CastContext::Implicit, at)?, at),
                        false => (operand, at),
                    });
                }
                Ok(Meant::BuiltIn(converted))
            }
            Err(Miss::None) if schema.is_none() => Ok(Meant::BuiltIn(operands)),
            Err(miss) => Err(self.no_operator(&full.to_string(), &inputs, place, miss)),
        }
    }

    /// A users' operator over its operands.
    fn call_operator(&mut self, user: &UserOperator, operands: Vec<(Expr, i32)>, place: i32) -> Result<Expr> {
        if user.definition.is_shell() {
            let words = |oid: u32| super::super::regtype::shown_in(self.schema, oid, None).unwrap_or_default();
            let (left, right) = (user.definition.left, words(user.definition.right));
            let shown = match left {
                0 => format!("{} {right}", user.name),
                left => format!("{} {} {right}", words(left), user.name),
            };
            let message = format!("operator is only a shell: {shown}");
            return Err(self.error(Condition::UndefinedFunction, message, place));
        }
        let oid = user.oid;
        if let Ok(place) = usize::try_from(place) {
            let namespace = user.namespace.clone();
            self.note(|uses| uses.operators.push(NamedObject { place, oid, namespace }));
        }
        self.note(|uses| {
            uses.routines.insert(oid);
        });
        // The operator's types are those of its function, or become them as they are.
        let declared = [user.definition.left, user.definition.right].into_iter().filter(|oid| *oid != 0);
        let declared: Vec<u32> = declared.collect();
        let mut converted = Vec::with_capacity(operands.len());
        for ((operand, at), oid) in operands.into_iter().zip(declared) {
            let ty = types::of_oid(oid, self.schema).filter(|ty| *ty != Type::RECORD);
            converted.push(match ty.filter(|_| Polymorphic::of_oid(oid).is_none()) {
                Some(ty) => (self.coerce(operand, &ty, CastContext::Implicit, at)?, at),
                None => (operand, at),
            });
        }
        // What is named is the operator, which names the function.
        let function = user.definition.function;
        let noted = self.uses.as_ref().is_some_and(|uses| uses.routines.contains(&function));
        let called = self.call_of_oid(function, converted, place)?;
        if !noted {
            self.note(|uses| {
                uses.routines.remove(&function);
            });
        }
        let ty = called.ty.clone();
        let args = vec![Expr::integer(oid.into(), Type::Oid), called];
        Ok(Expr::new(ExprKind::Call { function: functions::internal("operator of users"), args }, ty))
    }
}
