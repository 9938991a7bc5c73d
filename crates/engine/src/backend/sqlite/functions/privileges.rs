//! `has_table_privilege` and its kin, `pg_has_role`, `acldefault`.

use rowferry_dialect::access::{Acl, ObjectClass};
use rowferry_dialect::ir::Value;
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Error, Result};

use super::call::{boolean, text};
use super::strings::texts;
use super::{Call, Row};

/// Somebody or something, as a function's argument names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Named {
    /// By object id (or a column by its number).
    Number(i64),
    /// By name.
    Name(String),
}

/// What a function asks about privileges.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Of what.
    pub class: ObjectClass,
    /// Whose; `None` is the current role's.
    pub role: Option<Named>,
    /// On which object.
    pub object: Named,
    /// On which of its columns.
    pub column: Option<Named>,
    /// Which privileges, as written; one is enough.
    pub words: &'a str,
}

/// The current role, as [`ROWS`]' callers name it.
const CURRENT: i64 = -1;

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_has_privilege", 4, |call| {
        let class = call.text(0)?.chars().next().and_then(ObjectClass::of_letter);
        let class = class.ok_or_else(|| Error::internal("a privilege on nothing"))?;
        ask(call, class, 1, None)
    }),
    Row::new("rf_has_any_column_privilege", 3, |call| ask(call, ObjectClass::Column, 0, None)),
    Row::new("rf_has_column_privilege", 4, |call| ask(call, ObjectClass::Column, 0, Some(2))),
    Row::new("rf_row_security_active", 1, |call| {
        let relation = named(call, 0)?;
        boolean(call.context().state().has_row_security(&relation)?)
    }),
    Row::new("rf_pg_has_role", 3, |call| {
        let role = named(call, 1)?;
        answer(call.context().state().has_role(caller(call, 0)?, role, call.text(2)?)?)
    }),
    Row::new("rf_acldefault", 2, |call| {
        let class = call.text(0)?.chars().next().and_then(ObjectClass::of_letter);
        let class = class.ok_or_else(|| Error::internal("unrecognized object type abbreviation"))?;
        let owner = u32::try_from(call.integer(1)?).unwrap_or_default();
        let state = call.context().state();
        let name = |role: u32| state.role_name(role).unwrap_or_else(|| role.to_string());
        let items = Acl::of_new(class, owner).texts(|role| crate::catalog::names::acl_name(&name(role)));
        text(texts(items.iter().map(|item| Some(item.as_str())))?)
    }),
    Row::new("rf_shobj_description", 2, |call| {
        let oid = u32::try_from(call.integer(0)?).unwrap_or_default();
        let state = call.context().state();
        let comment = match call.text(1)? {
            "pg_authid" => state.role_comment(oid),
            "pg_database" => state.database_comment(oid),
            _ => None,
        };
        Ok(comment.map_or(Value::Null, Value::Text))
    }),
];

fn ask(call: &Call<'_>, class: ObjectClass, first: usize, column: Option<usize>) -> Result<Value> {
    let question = Question {
        class,
        role: caller(call, first)?,
        object: named(call, first + 1)?,
        column: column.map(|at| named(call, at)).transpose()?,
        words: call.text(call.len() - 1)?,
    };
    answer(call.context().state().has_privilege(&question)?)
}

/// NULL is what is not there.
fn answer(found: Option<bool>) -> Result<Value> {
    found.map_or(Ok(Value::Null), boolean)
}

fn named(call: &Call<'_>, at: usize) -> Result<Named> {
    match call.value(at) {
        ValueRef::Integer(number) => Ok(Named::Number(number)),
        _ => Ok(Named::Name(call.text(at)?.to_owned())),
    }
}

fn caller(call: &Call<'_>, at: usize) -> Result<Option<Named>> {
    let role = named(call, at)?;
    Ok(Some(role).filter(|role| *role != Named::Number(CURRENT)))
}
