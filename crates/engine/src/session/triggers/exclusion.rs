//! EXCLUDE: whether a row conflicts with another.
//!
//! A constraint that may not wait is asked as soon as a row is written, as PostgreSQL does: rows of one statement see each
//! other. One that may is asked then, too, and again when it is time, but only of a row that was in conflict.

use std::sync::Arc;

use rowferry_dialect::access::{ObjectClass, Privileges};
use rowferry_dialect::exclusion::Exclusion;
use rowferry_dialect::ir::{OutputColumn, Statement, Value};
use rowferry_dialect::postgres::{Against, exclusion_query};
use rowferry_dialect::schema::{Index, Relation, Trigger};
use rowferry_dialect::{Error, Result, Schema as _, Type};

use super::super::ddl::exclusion::{refusal, shown};
use super::super::{Prepared, Session};
use super::calls::canonical_value;
use crate::catalog::describe;

/// The index of the EXCLUDE that a trigger stands for.
pub(super) fn index_of<'r>(relation: &'r Relation, trigger: &Trigger) -> Option<(&'r Index, &'r Exclusion)> {
    let name = trigger.key.as_ref()?.index()?;
    let index = relation.indexes.iter().find(|index| index.name == name)?;
    Some((index, index.exclusion.as_deref()?))
}

impl Session {
    /// Refuses a row that is there and conflicts with another.
    pub(super) fn ask_exclusion(&mut self, relation: &Arc<Relation>, trigger: &Trigger, rowid: i64) -> Result<()> {
        let Some((index, _)) = index_of(relation, trigger) else { return Ok(()) };
        let plan = self.exclusion_plan(relation, trigger, Against::Stored)?;
        let Some(found) = self.first_conflict(&plan, &[Value::Integer(rowid)])? else { return Ok(()) };
        if !self.may_see_rows(relation) {
            return Err(refusal_of(relation, index).detail("Key conflicts with existing key."));
        }
        let key = |at| describe::index_key(&self.schema, relation, index, at, true);
        let names: Vec<String> = (0..index.keys.len()).map(key).collect();
        let types: Vec<&Type> = columns_of(&plan).iter().map(|column| &column.ty).collect();
        let error = refusal_of(relation, index);
        Err(match shown(&names, &types, &found, &self.settings()) {
            Some([mine, other]) => error.detail(format!("Key {mine} conflicts with existing key {other}.")),
            None => error,
        })
    }

    /// Whether an error may show the role rows of a table that somebody else may have written.
    pub(super) fn may_see_rows(&self, relation: &Relation) -> bool {
        let rights = self.schema.rights();
        let held = rights.held_by(rights.role(), ObjectClass::Relation, relation.oid).0;
        held.overlaps(Privileges::SELECT) && !rights.is_secured(rights.role(), relation)
    }

    /// Whether a row that is there conflicts with another.
    pub(super) fn is_excluded(&mut self, relation: &Arc<Relation>, trigger: &Trigger, rowid: i64) -> Result<bool> {
        let plan = self.exclusion_plan(relation, trigger, Against::Stored)?;
        Ok(self.first_conflict(&plan, &[Value::Integer(rowid)])?.is_some())
    }

    /// Whether a row that is to be inserted would conflict with one that is there.
    pub(super) fn would_be_excluded(
        &mut self,
        relation: &Arc<Relation>,
        trigger: &Trigger,
        row: &[Value],
    ) -> Result<bool> {
        let plan = self.exclusion_plan(relation, trigger, Against::Given)?;
        Ok(self.first_conflict(&plan, row)?.is_some())
    }

    fn first_conflict(&mut self, plan: &Prepared, params: &[Value]) -> Result<Option<Vec<Value>>> {
        let mut rows = self.run_part(plan, params)?;
        if !rows.advance()? {
            return Ok(None);
        }
        let settings = self.settings();
        let columns = columns_of(plan).iter().enumerate();
        let values = columns.map(|(at, column)| canonical_value(rows.column(at).to_value(), &column.ty, &settings));
        values.collect::<Result<Vec<_>>>().map(Some)
    }

    fn exclusion_plan(
        &mut self,
        relation: &Arc<Relation>,
        trigger: &Trigger,
        against: Against,
    ) -> Result<Arc<Prepared>> {
        let generation = self.schema.generation();
        let key = (trigger.oid, against == Against::Given);
        let known = self.state.exclusions.lock().get(&key).cloned();
        if let Some(known) = known.filter(|known| known.bound.generation == generation) {
            return Ok(known);
        }
        let missing = || Error::internal("an EXCLUDE that cannot be read back");
        let (index, exclusion) = index_of(relation, trigger).ok_or_else(missing)?;
        let keys = describe::index_exprs(&self.schema, relation, index).ok_or_else(missing)?;
        let predicate = match &index.predicate {
            Some(text) => Some(self.bind_expression(text, relation, &self.schema)?),
            None => None,
        };
        let context = self.postgres_context();
        let query = exclusion_query(
            relation,
            &keys,
            predicate.as_ref(),
            &exclusion.operators,
            against,
            &self.schema,
            &context,
        )?;
        let params = match against {
            Against::Given => relation.columns.iter().map(|column| column.ty.clone()).collect(),
            Against::Stored | Against::Each => vec![Type::Int8],
        };
        let plan = Arc::new(Prepared::of_query(query, params, generation, &index.name)?);
        self.state.exclusions.lock().insert(key, plan.clone());
        Ok(plan)
    }
}

fn refusal_of(relation: &Relation, index: &Index) -> Error {
    let message = format!("conflicting key value violates exclusion constraint \"{}\"", index.name);
    refusal(message, relation, &index.name)
}

fn columns_of(plan: &Prepared) -> &[OutputColumn] {
    match &plan.bound.statement {
        Statement::Query(query) => &query.columns,
        _ => &[],
    }
}
