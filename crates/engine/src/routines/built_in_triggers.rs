//! The functions of triggers that PostgreSQL brings.

use rowferry_dialect::ir::{TriggerEvent, TriggerLevel, TriggerTime, Value};
use rowferry_dialect::scalar::search::TSVECTOR;
use rowferry_dialect::schema::{QualifiedName, Trigger};
use rowferry_dialect::text_search::{Kind, SearchObject, no_object};
use rowferry_dialect::types::Reg;
use rowferry_dialect::{Condition, Error, Result, Schema as _, Type, postgres};

use super::trigger::TriggerCall;
use crate::session::Session;

/// The function with an object id, and its name.
pub(super) fn by_oid(oid: u32) -> Option<BuiltIn> {
    Some(match oid {
        Trigger::ACTIONS => super::actions::run,
        Trigger::MYSQL => super::mysql::run_trigger,
        1_291 => suppress_redundant_updates,
        3_752 => |session, call| update_vector(session, call, false),
        3_753 => |session, call| update_vector(session, call, true),
        _ => return None,
    })
}

/// What a function makes of the row; `None` leaves it as it is.
type BuiltIn = fn(&mut Session, &TriggerCall<'_>) -> Result<Option<Vec<Value>>>;

fn protocol(message: String) -> Error {
    Error::new(Condition::TriggerProtocolViolated, message)
}

/// An update that changes nothing is left out.
fn suppress_redundant_updates(_: &mut Session, call: &TriggerCall<'_>) -> Result<Option<Vec<Value>>> {
    let name = "suppress_redundant_updates_trigger";
    let wrong = |what: &str| Err(protocol(format!("{name}: must be called {what}")));
    match (call.event, call.when, call.level) {
        (event, ..) if event != TriggerEvent::Update => wrong("on update"),
        (_, when, _) if when != TriggerTime::Before => wrong("before update"),
        (_, _, level) if level != TriggerLevel::Row => wrong("for each row"),
        _ => Ok(call.new.filter(|new| call.old != Some(new)).map(<[Value]>::to_vec)),
    }
}

/// A vector of the words of other columns.
fn update_vector(session: &mut Session, call: &TriggerCall<'_>, by_column: bool) -> Result<Option<Vec<Value>>> {
    let internal = |what: &str| Err(Error::internal(format!("tsvector_update_trigger: {what}")));
    if call.level != TriggerLevel::Row {
        return internal("must be fired for row");
    }
    if call.when != TriggerTime::Before {
        return internal("must be fired BEFORE event");
    }
    if !matches!(call.event, TriggerEvent::Insert | TriggerEvent::Update) {
        return internal("must be fired for INSERT or UPDATE");
    }
    let ([vector, configuration, texts @ ..], Some(new)) = (call.args, call.new) else {
        return internal("arguments must be tsvector_field, ts_config, text_field1, ...)");
    };
    if texts.is_empty() {
        return internal("arguments must be tsvector_field, ts_config, text_field1, ...)");
    }
    let columns = &call.relation.columns;
    let column = |name: &str, what: &str| {
        let missing = || Error::new(Condition::UndefinedColumn, format!("{what}column \"{name}\" does not exist"));
        call.relation.column(name).ok_or_else(missing)
    };
    let of_type = |name: &str, what: &str| {
        Error::new(Condition::DatatypeMismatch, format!("column \"{name}\" is not of {what} type"))
    };
    let place = column(vector, "tsvector ")?;
    if columns[place].ty.through_domains() != &Type::Scalar(&TSVECTOR, None) {
        return Err(of_type(vector, "tsvector"));
    }
    let configuration = if by_column {
        let at = column(configuration, "configuration ")?;
        if columns[at].ty.through_domains() != &Type::Reg(Reg::Config) {
            return Err(of_type(configuration, "regconfig"));
        }
        let Value::Integer(oid) = new[at] else {
            let message = format!("configuration column \"{configuration}\" must not be null");
            return Err(Error::new(Condition::NullValueNotAllowed, message));
        };
        oid
    } else {
        i64::from(named(session, configuration)?.oid)
    };
    let mut needed = call.event == TriggerEvent::Insert;
    let mut words: Vec<&str> = Vec::with_capacity(texts.len());
    for name in texts {
        let at = column(name, "")?;
        if !matches!(columns[at].ty.through_domains(), Type::Text | Type::Varchar(_) | Type::Char(_)) {
            return Err(of_type(name, "a character"));
        }
        needed |= call.assigned.contains(&at);
        if let Value::Text(text) = &new[at] {
            words.push(text);
        }
    }
    let mut row = new.to_vec();
    if needed {
        row[place] = crate::functions::search_vector(session.functions_context(), configuration, &words)?;
    }
    Ok(Some(row))
}

/// A configuration by its name, which tells its schema: the result must not depend on a search path.
fn named(session: &mut Session, text: &str) -> Result<std::sync::Arc<SearchObject>> {
    let invalid = || Error::new(Condition::InvalidName, "invalid name syntax");
    let name: QualifiedName = postgres::qualified_name(text).ok_or_else(invalid)?;
    if name.schema.is_none() {
        let message = format!("text search configuration name \"{text}\" must be schema-qualified");
        return Err(Error::new(Condition::InvalidParameterValue, message));
    }
    let found = session.schema().search_object(Kind::Configuration, &name);
    found.ok_or_else(|| no_object(Kind::Configuration, &name.to_string()))
}
