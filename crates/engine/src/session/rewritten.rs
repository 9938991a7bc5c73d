//! Changes that rules have made into other statements: these run one after another, in one transaction.

use std::sync::Arc;

use rowferry_dialect::access::Needs;
use rowferry_dialect::ir::{RewrittenPart, Statement as Ir, Value};
use rowferry_dialect::plan::Bound;
use rowferry_dialect::{Error, Result, Type};

use super::compile::{MadeFor, Uses};
use super::execute::command_words;
use super::parsed::Parsed;
use super::transaction::Block;
use super::{Outcome, Prepared, Session};

impl Session {
    /// The plan of a change that rules have made into others, with theirs.
    pub(super) fn lower_rewritten(
        &mut self,
        mut bound: Bound,
        parsed: &Parsed,
        declared: &[Option<Type>],
    ) -> Result<Prepared> {
        let Ir::Rewritten(rewritten) = &mut bound.statement else {
            return Err(Error::internal("a change that no rules have rewritten"));
        };
        let parts: Vec<RewrittenPart> = std::mem::take(&mut rewritten.parts);
        let mut plans = Vec::with_capacity(parts.len());
        for RewrittenPart { statement, columns } in parts {
            let part = Bound {
                statement,
                columns,
                params: bound.params.clone(),
                effects: bound.effects,
                generation: bound.generation,
                // Of the whole they are asked at once.
                needs: Needs::default(),
                inside: bound.inside.clone(),
                notices: Vec::new(),
            };
            plans.push(Arc::new(self.lower(part, parsed, declared)?));
        }
        let made_for = MadeFor::of(&self.user, &self.schema.search_path);
        Ok(Prepared::of_rewritten(bound, plans, made_for, parsed, declared))
    }

    /// Runs them. The one that tells has the rows and their number; without one nothing has been done for the client.
    pub(super) fn run_rewritten(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        let plan = self.renew(prepared)?;
        if !matches!(plan.bound.statement, Ir::Rewritten(_)) {
            return self.dispatch(&plan, params);
        }
        if plan.rewritten.iter().any(|part| !part.uses.temporary) {
            self.open_write(command_words(prepared.command))?;
        }
        let outcome =
            self.as_part_of_transaction(|session| session.atomically(|session| session.run_each(&plan, params)))?;
        if self.transaction.block == Block::None {
            self.end_commit()?;
        }
        Ok(outcome)
    }

    fn run_each(&mut self, prepared: &Arc<Prepared>, params: &[Value]) -> Result<Outcome> {
        let mut outcome = Outcome::Done { command: prepared.command, rows: 0 };
        for at in 0..prepared.rewritten.len() {
            // What has run may have changed the schema.
            let plan = self.renew(prepared)?;
            let Ir::Rewritten(rewritten) = &plan.bound.statement else { return Err(Error::stale_plan()) };
            let part = match plan.rewritten.get(at) {
                Some(part) if plan.rewritten.len() == prepared.rewritten.len() => part.clone(),
                _ => return Err(Error::stale_plan()),
            };
            let ran = self.dispatch(&part, params)?;
            match ran {
                told if rewritten.tells == Some(at) => outcome = told,
                // Its rows are for nobody, but what they call is called.
                Outcome::Rows(mut rows) => while rows.next()?.is_some() {},
                Outcome::Done { .. } => {}
            }
        }
        Ok(outcome)
    }
}

impl Prepared {
    /// The plan of a change that has become others.
    fn of_rewritten(
        bound: Bound,
        rewritten: Vec<Arc<Self>>,
        made_for: MadeFor,
        parsed: &Parsed,
        declared: &[Option<Type>],
    ) -> Self {
        let command = super::command::command(&bound.statement);
        let uses = Uses { temporary: rewritten.iter().all(|part| part.uses.temporary), ..Uses::default() };
        let made_for = Some(made_for);
        Self { command, rewritten, uses, made_for, declared: declared.to_vec(), ..Self::of_nothing(bound, parsed) }
    }
}
