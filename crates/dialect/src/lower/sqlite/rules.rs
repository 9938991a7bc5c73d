//! What domains ask of values, as words that `rf_checked` is told.

use serde_json::{Value as Json, json};

use super::{Lowering, Sql, quote_text, repr_of};
use crate::ir::{DomainRules, Expr, Rules};
use crate::types::Storage;
use crate::{Error, Result, Type};

impl Lowering<'_> {
    /// A value, checked by a function that knows the rules by their words. Decimals come to it as texts.
    pub(super) fn checked(&mut self, arg: &Expr, rules: &Rules) -> Result<Sql> {
        let words = rules_words(rules)?;
        let value = self.expr(arg)?;
        let value = self.decimal_text(value, &arg.ty);
        self.needs_us();
        // Where SQLite keeps the expression it takes no function that may answer otherwise the next time.
        let function = if self.spell.is_some() { "rf_checked_steady" } else { "rf_checked" };
        Ok(Sql { sql: format!("{function}({}, {})", value.sql, quote_text(&words)), repr: repr_of(&arg.ty) })
    }
}

/// The words of rules: `members` those of an array's members, `fields` places of a row's fields with theirs, `bounds` those of the
/// bounds of a range, whose `subtype` is told, and those of the whole: the domain's `name` as messages show
/// it, its `schema`, `domain`, whether its values are `bytes` (as members of arrays they are texts), whether it is `not_null`, the `names` of its checks, and the `sql` that tells which of them
/// the value `?1` violates first, counted from 0.
///
/// # Errors
/// `0A000` for a check that SQLite cannot be told.
pub fn rules_words(rules: &Rules) -> Result<String> {
    Ok(words(rules)?.to_string())
}

fn words(rules: &Rules) -> Result<Json> {
    let mut words = match &rules.domain {
        Some(rules) => json!({
            "name": rules.domain.shown(),
            "schema": rules.domain.namespace,
            "domain": rules.domain.name,
            "bytes": Type::User(rules.domain.clone()).storage() == Storage::Blob,
            "not_null": rules.not_null,
            "names": rules.checks.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "sql": checks_sql(rules)?,
        }),
        None => json!({}),
    };
    if !rules.fields.is_empty() {
        let fields = rules.fields.iter().map(|(at, rules)| Ok(json!([at, self::words(rules)?])));
        words["fields"] = fields.collect::<Result<Vec<_>>>()?.into();
    }
    if let Some((subtype, bounds)) = &rules.bounds {
        words["subtype"] = crate::user_type::subtype_words(&subtype.without_domains()).into();
        words["bounds"] = self::words(bounds)?;
    }
    if let Some(members) = &rules.members {
        words["members"] = self::words(members)?;
    }
    Ok(words)
}

fn checks_sql(rules: &DomainRules) -> Result<Option<String>> {
    if rules.checks.is_empty() {
        return Ok(None);
    }
    let mut sql = "SELECT CASE".to_owned();
    for (at, (_, condition)) in rules.checks.iter().enumerate() {
        sql.push_str(&format!(" WHEN ({}) IS FALSE THEN {at}", check(condition)?));
    }
    sql.push_str(" END");
    Ok(Some(sql))
}

/// A check over one value, which is the parameter `?1`.
fn check(condition: &Expr) -> Result<String> {
    let spell = |_| "?1".to_owned();
    let mut lowering = Lowering { spell: Some(&spell), spelled_texts: true, ..Lowering::default() };
    let sql = lowering.expr(condition)?.sql;
    if !lowering.params.is_empty() {
        return Err(Error::new(crate::Condition::UndefinedParameter, "there is no parameter here"));
    }
    Ok(sql)
}
