//! `pg_stat_statements`.

use rowferry_dialect::ir::Value;
use rowferry_dialect::{Condition, Error, Result};

use super::{Member, RowsMember};
use crate::functions::Call;
use crate::functions::call::text;
use crate::functions::rows::Source;
use crate::functions::rows_sources::Arguments;

pub(super) const MEMBERS: &[Member] = &[Member::new("pg_stat_statements_reset_1_7", reset)];

pub(super) const ROWS: &[RowsMember] = &[("pg_stat_statements_1_10", statements)];

fn statements(call: &Arguments<'_>) -> Result<Source> {
    let rows = call.context.state().statement_statistics(call.integer(0)? != Some(0))?;
    Ok(Box::new(rows.into_iter().map(Ok)))
}

fn reset(call: &Call<'_>) -> Result<Value> {
    let state = call.context().state();
    if !state.is_superuser(None)? {
        let message = "permission denied for function pg_stat_statements_reset";
        return Err(Error::new(Condition::InsufficientPrivilege, message));
    }
    let given = |at: usize| if at < call.len() { call.integer(at) } else { Ok(0) };
    let oid = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
    state.reset_statement_statistics(oid(given(0)?), oid(given(1)?), given(2)?)?;
    text("")
}
