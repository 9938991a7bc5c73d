//! Aggregates of users: CREATE AGGREGATE, DROP AGGREGATE, and the routines in SPL behind one.

use serde_json::{Value as Json, json};

use super::ast::{Ast, ObjectName};
use super::bind::Binder;
use super::parser::Parser;
use crate::ir::{self, CreateAggregate, Ddl};
use crate::{Condition, Result};

/// The routines behind an aggregate, by their names: which of one name is meant, the types of a call decide.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Parts {
    /// INIT: what the state begins with, told a NULL of the argument's type.
    pub init: Option<String>,
    /// ITER: the state with one more value in it.
    pub iter: String,
    /// COMBINE: one state of two. It is asked for and never called: a group is computed by one.
    pub combine: String,
    /// FINAL: what the aggregate is, out of the state.
    pub finish: Option<String>,
    /// HANDLESNULLS: rows whose argument is NULL count.
    pub handles_nulls: bool,
}

/// An aggregate of users.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserAggregate {
    /// Object id.
    pub oid: u32,
    /// Its name.
    pub name: String,
    /// What it is made of.
    pub parts: Parts,
}

impl Parts {
    /// As they are kept.
    pub fn to_text(&self) -> String {
        json!({
            "init": self.init, "iter": self.iter, "combine": self.combine, "final": self.finish,
            "handlesnulls": self.handles_nulls,
        })
        .to_string()
    }

    /// From what is kept; `None` for what is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let json: Json = serde_json::from_str(text).ok()?;
        let name = |part: &str| json[part].as_str().map(str::to_owned);
        Some(Self {
            init: name("init"),
            iter: name("iter")?,
            combine: name("combine")?,
            finish: name("final"),
            handles_nulls: json["handlesnulls"].as_bool()?,
        })
    }
}

impl Parser<'_> {
    /// `[IF NOT EXISTS] name WITH (INIT = f, ITER = f, COMBINE = f, FINAL = f, HANDLESNULLS)`, behind CREATE AGGREGATE.
    pub(super) fn create_aggregate(&mut self) -> Result<Ast> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name()?;
        self.expect_word("with")?;
        self.expect_sign("(")?;
        let (mut init, mut iter, mut combine, mut finish, mut handles_nulls) = (None, None, None, None, false);
        loop {
            if self.word("handlesnulls") {
                handles_nulls = true;
            } else {
                let part = match () {
                    () if self.word("init") => &mut init,
                    () if self.word("iter") => &mut iter,
                    () if self.word("combine") => &mut combine,
                    () if self.word("final") => &mut finish,
                    () => return Err(self.unexpected()),
                };
                let at = self.start();
                self.expect_sign("=")?;
                if part.replace(self.object_name()?.name).is_some() {
                    return Err(self.error_at(Condition::SyntaxError, "a part of the aggregate is named twice", at));
                }
            }
            if !self.sign(",") {
                break;
            }
        }
        let (Some(iter), Some(combine)) = (iter, combine) else {
            let at = self.start();
            return Err(self.error_at(Condition::SyntaxError, "an aggregate needs ITER and COMBINE", at));
        };
        self.expect_sign(")")?;
        let parts = Parts { init, iter, combine, finish, handles_nulls };
        Ok(Ast::CreateAggregate { name, parts, if_not_exists })
    }

    /// `[IF EXISTS] name`, behind DROP AGGREGATE.
    pub(super) fn drop_aggregate(&mut self) -> Result<Ast> {
        let if_exists = self.if_exists();
        Ok(Ast::DropAggregate { name: self.object_name()?, if_exists })
    }
}

impl Binder<'_> {
    /// CREATE AGGREGATE. The routines need not be there yet.
    pub(super) fn create_aggregate(
        &mut self,
        name: &ObjectName,
        parts: &Parts,
        if_not_exists: bool,
    ) -> Result<ir::Statement> {
        let known = self.schema().informix_aggregate(&name.name).is_some();
        if known && if_not_exists {
            return Ok(ir::Statement::Nothing { tag: "CREATE AGGREGATE" });
        }
        let mut built_in = crate::functions::named(crate::Language::Informix, &name.name);
        if known || built_in.next().is_some() || !self.schema().routines(&name.name).is_empty() {
            let message = format!("there is a routine or an aggregate ({}) already", name.name);
            return Err(self.error(Condition::DuplicateFunction, message, name.at).column(&*name.name));
        }
        self.changes_schema();
        let create = CreateAggregate { name: name.name.clone(), words: parts.to_text() };
        Ok(ir::Statement::Ddl(Box::new(Ddl::CreateAggregate(create))))
    }

    /// DROP AGGREGATE.
    pub(super) fn drop_aggregate(&mut self, name: &ObjectName, if_exists: bool) -> Result<ir::Statement> {
        let Some(found) = self.schema().informix_aggregate(&name.name) else {
            if if_exists {
                return Ok(ir::Statement::Nothing { tag: "DROP AGGREGATE" });
            }
            let message = format!("aggregate ({}) not found", name.name);
            return Err(self.error(Condition::UndefinedFunction, message, name.at).column(&*name.name));
        };
        self.changes_schema();
        Ok(ir::Statement::Ddl(Box::new(Ddl::DropAggregate { oid: found.oid })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_survive_their_text() {
        let parts = Parts { iter: "add".into(), combine: "both".into(), handles_nulls: true, ..Parts::default() };
        assert_eq!(Parts::from_text(&parts.to_text()), Some(parts.clone()));
        let parts = Parts { init: Some("start".into()), finish: Some("end".into()), handles_nulls: false, ..parts };
        assert_eq!(Parts::from_text(&parts.to_text()), Some(parts));
        assert_eq!(Parts::from_text("{}"), None);
    }
}
