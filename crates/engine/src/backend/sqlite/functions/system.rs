//! What clients and tools ask about the server, the session and the schema; sequences; object names.

use std::time::Duration;

use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::regtype;
use rowferry_dialect::types::Reg;
use rowferry_dialect::values::{Decimal, ValueRef, timestamp, uuid};
use rowferry_dialect::{Condition, Error, Result};

use rowferry_encodings::Encoding;

use crate::catalog::pg_statistic_ext::Part as Statistics;
use crate::catalog::signatures;

use super::call::{boolean, integer, text};
use super::context::Definition;
use super::datetime::clock;
use super::strings::texts;
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_stored_function", 2, stored_function).variadic().lenient().volatile(),
    // One that is IMMUTABLE, in an index.
    Row::new("rf_immutable_function", 2, stored_function).variadic().lenient(),
    // The row that WHERE CURRENT OF means; none for one that an outer join has made up.
    // The cursor's name is for the session, which knows the row already.
    Row::new("rf_cursor_row", 0, |call| Ok(call.context().state().cursor_row()?.map_or(Value::Null, Value::Integer)))
        .optional(1)
        .lenient()
        .volatile(),
    Row::new("rf_row_of_sample", 4, row_of_sample).lenient(),
    Row::new("rf_version", 0, |call| {
        let version = call.context().state().variable("server_version").unwrap_or_default();
        text(format!("PostgreSQL {version} (Rowferry {} on SQLite {})", env!("CARGO_PKG_VERSION"), rusqlite::version()))
    }),
    Row::new("rf_current_database", 0, |call| text(call.context().state().database())),
    Row::new("rf_current_schema", 0, |call| {
        Ok(call.context().state().search_path(false).into_iter().next().map_or(Value::Null, Value::Text))
    }),
    Row::new("rf_current_schemas", 1, |call| {
        let path = call.context().state().search_path(call.boolean(0)?);
        text(texts(path.iter().map(|name| Some(name.as_str())))?)
    }),
    Row::new("rf_current_user", 0, |call| text(call.context().state().user())),
    Row::new("rf_session_user", 0, |call| text(call.context().state().session_user())),
    Row::new("rf_pg_backend_pid", 0, |call| integer(call.context().state().pid())),
    Row::new("rf_pg_postmaster_start_time", 0, |call| {
        text(timestamp::to_stored_tz(call.context().state().server_start())?)
    }),
    Row::new("rf_current_setting", 1, current_setting).optional(1),
    Row::new("rf_set_config", 3, set_config).lenient().volatile(),
    Row::new("rf_pg_client_encoding", 0, |call| {
        text(call.context().state().variable("client_encoding").unwrap_or_default())
    }),
    Row::new("rf_pg_encoding_to_char", 1, |call| text(Encoding::numbered(call.integer(0)?).map_or("", Encoding::name))),
    Row::new("rf_pg_char_to_encoding", 1, |call| integer(Encoding::find(call.text(0)?).map_or(-1, Encoding::number))),
    Row::new("rf_pg_encoding_max_length", 1, |call| {
        Ok(Encoding::numbered(call.integer(0)?)
            .map_or(Value::Null, |encoding| Value::Integer(encoding.max_length().into())))
    }),
    Row::new("rf_pg_column_size", 1, |call| {
        integer(match call.value(0) {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as i64,
            _ => 8,
        })
    }),
    Row::new("rf_num_nonnulls", 0, |call| integer((0..call.len()).filter(|at| !call.is_null(*at)).count() as i64))
        .variadic()
        .lenient(),
    Row::new("rf_num_nulls", 0, |call| integer((0..call.len()).filter(|at| call.is_null(*at)).count() as i64))
        .variadic()
        .lenient(),
    Row::new("rf_gen_random_uuid", 0, |_| text(uuid::format(versioned(rand::random(), 4)))).volatile(),
    Row::new("rf_uuidv7", 0, |_| {
        let mut bytes: [u8; 16] = rand::random();
        let millis = (clock() / 1_000) as u64;
        bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        text(uuid::format(versioned(bytes, 7)))
    })
    .volatile(),
    // Sequences.
    Row::new("rf_currval", 1, |call| integer(call.context().state().currval(oid(call, 0)?)?)).volatile(),
    Row::new("rf_setval", 2, |call| {
        let called = call.len() < 3 || call.boolean(2)?;
        integer(call.context().state().setval(oid(call, 0)?, call.integer(1)?, called)?)
    })
    .optional(1)
    .volatile(),
    Row::new("rf_pg_sequence_state", 2, |call| {
        integer(call.context().state().sequence_state(oid(call, 0)?, call.integer(1)?)?)
    })
    .volatile(),
    Row::new("rf_lastval", 0, |call| integer(call.context().state().lastval()?)).volatile(),
    Row::new("rf_pg_get_serial_sequence", 2, |call| {
        Ok(call.context().state().serial_sequence(call.text(0)?, call.text(1)?)?.map_or(Value::Null, Value::Text))
    }),
    Row::new("rf_pg_sequence_last_value", 1, |call| {
        Ok(call.context().state().sequence_last_value(oid(call, 0)?)?.map_or(Value::Null, Value::Integer))
    })
    .volatile(),
    // Names of objects.
    Row::new("rf_to_regclass", 1, |call| to_reg(call, Reg::Class)),
    Row::new("rf_to_regtype", 1, |call| to_reg(call, Reg::Type)),
    Row::new("rf_to_regnamespace", 1, |call| to_reg(call, Reg::Namespace)),
    Row::new("rf_to_regproc", 1, |call| to_reg(call, Reg::Proc)),
    Row::new("rf_to_regprocedure", 1, |call| to_reg(call, Reg::Procedure)),
    Row::new("rf_to_regoper", 1, |call| to_reg(call, Reg::Oper)),
    Row::new("rf_to_regoperator", 1, |call| to_reg(call, Reg::Operator)),
    Row::new("rf_to_regrole", 1, |call| to_reg(call, Reg::Role)),
    Row::new("rf_format_type", 2, format_type).lenient(),
    Row::new("rf_pg_table_is_visible", 1, |call| {
        call.context().state().is_visible(oid(call, 0)?).map_or(Ok(Value::Null), boolean)
    }),
    Row::new("rf_from_zero", 1, |call| {
        let members = call.text(0)?;
        text(if members == "[]" { members.to_owned() } else { format!("{{\"lower\":[0],\"members\":{members}}}") })
    }),
    // The place of a row from its number: so many rows have one.
    Row::new("rf_ctid", 1, |call| match call.integer(0)? {
        row @ 0..=0xffff_ffff_ffff => text(format!("({},{})", row >> 16, row & 0xffff)),
        row => Err(Error::unsupported(format!("the \"ctid\" of a row of number {row}"))),
    }),
    Row::new("rf_pg_collation_is_visible", 1, |call| visible(call, "collation", 0)),
    Row::new("rf_pg_type_is_visible", 1, |call| visible(call, "type", 0)),
    Row::new("rf_pg_get_userbyid", 1, |call| {
        let oid = oid(call, 0)?;
        text(call.context().state().role_name(oid).unwrap_or_else(|| format!("unknown (OID={oid})")))
    }),
    Row::new("rf_pg_get_expr", 2, |call| {
        let stored = call.text(0)?;
        if call.given(2).is_none() || !call.boolean(2)? {
            return text(stored);
        }
        text(call.context().state().pretty_expression(stored, oid(call, 1)?).unwrap_or_else(|| stored.to_owned()))
    })
    .optional(1),
    Row::new("rf_pg_get_indexdef", 1, |call| {
        let column = if call.len() > 1 { call.integer(1)? as i32 } else { 0 };
        let pretty = call.given(2).is_some() && call.boolean(2)?;
        definition(call, Definition::Index { pretty }, column)
    })
    .optional(2),
    Row::new("rf_pg_get_constraintdef", 1, |call| {
        let pretty = call.given(1).is_some() && call.boolean(1)?;
        definition(call, Definition::Constraint { pretty }, 0)
    })
    .optional(1),
    Row::new("rf_pg_get_triggerdef", 1, |call| {
        let pretty = call.len() > 1 && call.integer(1)? != 0;
        definition(call, Definition::Trigger, i32::from(pretty))
    })
    .optional(1),
    Row::new("rf_pg_get_ruledef", 1, |call| {
        let pretty = call.len() > 1 && call.boolean(1)?;
        definition(call, Definition::Rule { pretty }, 0)
    })
    .optional(1),
    // What is asked of an object of CREATE STATISTICS stands behind it.
    Row::new("rf_statistics", 2, |call| match call.integer(1)? {
        0 => definition(call, Definition::Statistics(Statistics::Whole), 0),
        1 => definition(call, Definition::Statistics(Statistics::Members), 0),
        2 => definition(call, Definition::Statistics(Statistics::Expressions), 0),
        _ => {
            let visible = call.context().state().is_statistics_visible(oid(call, 0)?);
            visible.map_or(Ok(Value::Null), boolean)
        }
    }),
    Row::new("rf_pg_get_partkeydef", 1, |call| definition(call, Definition::PartitionKey, 0)),
    Row::new("rf_pg_get_partition_constraintdef", 1, |call| definition(call, Definition::PartitionConstraint, 0)),
    Row::new("rf_pg_partition_root", 1, |call| {
        let schema = call.context().state().schema();
        let above = crate::catalog::partitions::ancestors(&*schema, oid(call, 0)?);
        above.last().map_or(Ok(Value::Null), |root| integer(i64::from(*root)))
    }),
    Row::new("rf_pg_trigger_depth", 0, |call| integer(call.context().state().trigger_depth())),
    Row::new("rf_pg_get_viewdef", 1, |call| {
        let pretty = call.len() > 1 && call.integer(1)? != 0;
        definition(call, Definition::View { wrap: 0 }, i32::from(pretty))
    })
    .optional(1),
    Row::new("rf_wrapped_viewdef", 2, |call| {
        let wrap = i32::try_from(call.integer(1)?).unwrap_or_default();
        definition(call, Definition::View { wrap }, 1)
    }),
    // PostgreSQL answers NULL for one that is not there.
    Row::new("rf_pg_get_functiondef", 1, |call| {
        let schema = call.context().state().schema();
        let oid = u32::try_from(call.integer(0)?).unwrap_or(0);
        let of_users = schema.function_by_oid(oid).filter(|function| function.definition.aggregate.is_some());
        let of_facts = rowferry_facts::Function::by_oid(oid).filter(|fact| fact.kind == 'a').map(|fact| fact.name);
        if let Some(name) = of_users.as_ref().map(|function| function.name.as_str()).or(of_facts) {
            let message = format!("\"{name}\" is an aggregate function");
            return Err(Error::new(Condition::WrongObjectType, message));
        }
        if let Some(fact) = builtin(call)? {
            return Ok(signatures::definition(fact).map_or(Value::Null, Value::Text));
        }
        let state = call.context().state();
        let (schema, settings) = (state.schema(), call.context().settings());
        function(call, |function| {
            let print = rowferry_dialect::postgres::routine::definition_with;
            let body = sql_body(function, &*schema, &settings);
            Some(print(&function.namespace, &function.name, &function.definition, body))
        })
    }),
    Row::new("rf_pg_get_function_result", 1, |call| match builtin(call)? {
        Some(fact) => Ok(signatures::result(fact).map_or(Value::Null, Value::Text)),
        None => match made_with_a_range(call)? {
            Some((_, result)) => text(result),
            None => function(call, |function| function.definition.result()),
        },
    }),
    Row::new("rf_pg_get_function_arguments", 1, |call| match builtin(call)? {
        Some(fact) => text(signatures::arguments(fact, true)),
        None => match made_with_a_range(call)? {
            Some((arguments, _)) => text(arguments),
            None => function(call, |function| Some(function.definition.arguments(true))),
        },
    }),
    Row::new("rf_pg_get_function_identity_arguments", 1, |call| match builtin(call)? {
        Some(fact) => text(signatures::arguments(fact, false)),
        None => match made_with_a_range(call)? {
            Some((arguments, _)) => text(arguments),
            None => function(call, |function| Some(function.definition.arguments(false))),
        },
    }),
    Row::new("rf_pg_get_function_sqlbody", 1, |call| {
        let state = call.context().state();
        let (schema, settings) = (state.schema(), call.context().settings());
        function(call, |function| {
            let kept = || function.definition.shown_sql_body();
            function.definition.sql_body.then(|| sql_body(function, &*schema, &settings).unwrap_or_else(kept))
        })
    }),
    Row::new("rf_pg_function_is_visible", 1, |call| visible(call, "function", 0)),
    Row::new("rf_pg_describe_object", 3, |call| {
        let column = i32::try_from(call.integer(2)?).unwrap_or_default();
        let words = call.context().state().describe_object(oid(call, 0)?, oid(call, 1)?, column)?;
        Ok(words.map_or(Value::Null, Value::Text))
    }),
    Row::new("rf_pg_index_column_has_property", 3, index_property),
    Row::new("rf_pg_relation_is_updatable", 2, |call| {
        integer(updatable(call)?.map_or(0, |updatable| i64::from(updatable.events)))
    }),
    Row::new("rf_pg_column_is_updatable", 3, |call| {
        let column = usize::try_from(call.integer(1)? - 1).ok();
        boolean(updatable(call)?.is_some_and(|updatable| {
            column.is_some_and(|column| updatable.columns.get(column).copied().unwrap_or(false))
        }))
    }),
    Row::new("rf_obj_description", 1, |call| {
        // Their numbers are of a kind of their own.
        if call.len() > 1 && call.text(1)? == "pg_largeobject" {
            return call.context().state().large_object(crate::large_objects::Call::Comment(oid(call, 0)?));
        }
        comment(call, None)
    })
    .optional(1),
    Row::new("rf_col_description", 2, |call| {
        let column = call.integer(1)? as i32;
        comment(call, Some(column))
    }),
    Row::new("rf_pg_relation_size", 1, |call| size(call, Some(false))).optional(1),
    Row::new("rf_pg_indexes_size", 1, |call| size(call, None)),
    Row::new("rf_pg_total_relation_size", 1, |call| size(call, Some(true))),
    Row::new("rf_pg_database_size", 1, |call| integer(call.context().state().size(0, Some(true))?)),
    Row::new("rf_pg_size_pretty", 1, size_pretty),
    // It is there once something is in it.
    Row::new("rf_pg_my_temp_schema", 0, |call| integer(call.context().state().temporary_schema())),
    Row::new("rf_pg_notify", 2, |call| {
        let given = |at| if call.is_null(at) { Ok("") } else { call.text(at) };
        call.context().state().notify(given(0)?, given(1)?)?;
        text("")
    })
    .lenient()
    .volatile(),
    Row::new("rf_pg_notification_queue_usage", 0, |call| {
        Ok(Value::Real(call.context().state().notification_queue_usage()))
    })
    .volatile(),
    Row::new("rf_sleep", 1, |call| {
        call.context().state().sleep(Duration::from_secs_f64(call.float(0)?.clamp(0.0, 31_536_000.0)))?;
        Ok(Value::Null)
    })
    .volatile(),
];

/// Whether a name without schema finds an object of a kind; NULL where there is none.
pub(super) fn visible(call: &Call<'_>, kind: &str, at: usize) -> Result<Value> {
    let found = call.context().state().is_object_visible(kind, oid(call, at)?);
    found.map_or(Ok(Value::Null), boolean)
}

/// What can be done to the relation (0) by itself.
fn updatable(call: &Call<'_>) -> Result<Option<rowferry_dialect::postgres::Updatable>> {
    let schema = call.context().state().schema();
    let relation = schema.relation_by_oid(oid(call, 0)?);
    Ok(relation.map(|relation| {
        rowferry_dialect::postgres::updatable(&relation, &*schema, &rowferry_dialect::plan::Context::default())
    }))
}

fn oid(call: &Call<'_>, at: usize) -> Result<u32> {
    let value = call.integer(at)?;
    u32::try_from(value)
        .map_err(|_| Error::new(Condition::NumericValueOutOfRange, format!("\"{value}\" is no object identifier")))
}

fn versioned(mut bytes: [u8; 16], version: u8) -> [u8; 16] {
    bytes[6] = bytes[6] & 0x0f | version << 4;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}

fn stored_function(call: &Call<'_>) -> Result<Value> {
    let args = (2..call.len()).map(|at| call.owned(at)).collect();
    let oid = u32::try_from(call.integer(0)?).unwrap_or(0);
    let element = if call.is_null(1) { None } else { Some(call.text(1)?) };
    call.context().state().function_value(oid, element, args)
}

/// TABLESAMPLE: whether a row, or the block of rows that it is in, belongs to the sample. The arguments are the row's place,
/// 1 for blocks, how many of a hundred, and the seed.
fn row_of_sample(call: &Call<'_>) -> Result<Value> {
    /// Rows that SYSTEM takes or leaves together.
    const BLOCK: i64 = 128;
    if call.is_null(2) {
        let message = "TABLESAMPLE parameter cannot be null";
        return Err(Error::new(Condition::InvalidTablesampleArgument, message));
    }
    if call.is_null(3) {
        let message = "TABLESAMPLE REPEATABLE parameter cannot be null";
        return Err(Error::new(Condition::InvalidTablesampleRepeat, message));
    }
    let percent = call.float(2)?;
    if !(0.0..=100.0).contains(&percent) {
        let message = "sample percentage must be between 0 and 100";
        return Err(Error::new(Condition::InvalidTablesampleArgument, message));
    }
    // The row that an outer join has made up is none of the table's.
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let row = call.integer(0)?;
    let unit = if call.integer(1)? == 1 { row.div_euclid(BLOCK) } else { row };
    // Zero has two signs and is one seed.
    let seed = call.float(3)? + 0.0;
    let drawn = mixed(mixed(seed.to_bits()) ^ unit.cast_unsigned()) >> 32;
    let chosen = (percent / 100.0 * (f64::from(u32::MAX) + 1.0)).round() as u64;
    boolean(drawn < chosen)
}

/// Spreads the bits of a number (the finalizer of SplitMix64).
const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn current_setting(call: &Call<'_>) -> Result<Value> {
    let name = call.text(0)?;
    match call.context().state().variable(&name.to_ascii_lowercase()) {
        Some(value) => text(value),
        None if call.len() > 1 && call.boolean(1)? => Ok(Value::Null),
        None => {
            let message = format!("unrecognized configuration parameter \"{name}\"");
            Err(Error::new(Condition::UndefinedObject, message))
        }
    }
}

fn set_config(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Err(Error::new(Condition::NullValueNotAllowed, "SET requires parameter name"));
    }
    let name = call.text(0)?.to_ascii_lowercase();
    let value = if call.is_null(1) { None } else { Some(call.text(1)?) };
    let local = call.given(2).is_some() && call.boolean(2)?;
    call.context().state().set_variable(&name, value, local)?;
    Ok(call.context().state().variable(&name).map_or(Value::Null, Value::Text))
}

/// The object of a name, NULL if there is none.
fn to_reg(call: &Call<'_>, reg: Reg) -> Result<Value> {
    match call.context().state().object_oid(reg, call.text(0)?) {
        Ok(oid) => integer(oid),
        Err(error)
            if matches!(error.condition(), Condition::FeatureNotSupported | Condition::InsufficientPrivilege) =>
        {
            Err(error)
        }
        Err(_) => Ok(Value::Null),
    }
}

fn format_type(call: &Call<'_>) -> Result<Value> {
    if call.is_null(0) {
        return Ok(Value::Null);
    }
    let oid = oid(call, 0)?;
    if oid == 0 {
        return text("-");
    }
    // Without any modifier the type's name by the standard is asked for; -1 is none of a column.
    let modifier = match call.given(1) {
        Some(ValueRef::Integer(modifier)) => Some(modifier as i32),
        Some(_) => Some(-1),
        None => None,
    };
    text(regtype::shown_in(&*call.context().state().schema(), oid, modifier).unwrap_or_else(|| "???".to_owned()))
}

fn definition(call: &Call<'_>, kind: Definition, column: i32) -> Result<Value> {
    Ok(call.context().state().definition(kind, oid(call, 0)?, column).map_or(Value::Null, Value::Text))
}

/// A body in SQL's own grammar as PostgreSQL prints it, where it can be printed.
fn sql_body(
    function: &rowferry_dialect::stored_function::StoredFunction,
    schema: &dyn rowferry_dialect::Schema,
    settings: &rowferry_dialect::values::Settings,
) -> Option<String> {
    let context = rowferry_dialect::plan::Context::default();
    let printed = || rowferry_dialect::postgres::function_body(function, schema, &context, Some(settings));
    function.definition.sql_body.then(printed).flatten()
}

fn comment(call: &Call<'_>, column: Option<i32>) -> Result<Value> {
    Ok(call.context().state().comment(oid(call, 0)?, column).map_or(Value::Null, Value::Text))
}

/// The size of a relation; NULL if there is none, as in PostgreSQL.
fn size(call: &Call<'_>, indexes: Option<bool>) -> Result<Value> {
    match call.context().state().size(oid(call, 0)?, indexes) {
        Ok(bytes) => integer(bytes),
        Err(error) if error.condition() == Condition::UndefinedTable => Ok(Value::Null),
        Err(error) => Err(error),
    }
}

fn index_property(call: &Call<'_>) -> Result<Value> {
    let (index, column) = (oid(call, 0)?, call.integer(1)? as i32);
    let state = call.context().state();
    if column < 1
        || state.definition(Definition::Index { pretty: false }, index, column).is_none_or(|key| key.is_empty())
    {
        return Ok(Value::Null);
    }
    // A column that is only included has no order, and finds nothing.
    let order = state.index_order(index, column);
    let told = match call.text(2)? {
        "asc" => order.map(|(descending, _)| !descending),
        "desc" => order.map(|(descending, _)| descending),
        "nulls_first" => order.map(|(_, first)| first),
        "nulls_last" => order.map(|(_, first)| !first),
        "search_array" | "search_nulls" => order.map(|_| true),
        "orderable" => Some(order.is_some()),
        "returnable" => Some(true),
        "distance_orderable" => Some(false),
        _ => None,
    };
    told.map_or(Ok(Value::Null), boolean)
}

/// A size with the unit in which it has at most five digits, rounded half up as PostgreSQL does.
fn size_pretty(call: &Call<'_>) -> Result<Value> {
    let size = call.decimal(0)?;
    let limit = Decimal::from_i64(10_240);
    if size.abs().compare(&limit).is_lt() {
        return text(format!("{size} bytes"));
    }
    let mut unit_size = Decimal::from_i64(1);
    for unit in ["kB", "MB", "GB", "TB", "PB"] {
        unit_size = unit_size.mul(&Decimal::from_i64(1_024))?;
        let shown = size.div(&unit_size)?.rounded(0);
        if shown.abs().compare(&limit).is_lt() || unit == "PB" {
            return text(format!("{shown} {unit}"));
        }
    }
    Ok(Value::Null)
}

/// The function of PostgreSQL's own that a call asks about.
fn builtin(call: &Call<'_>) -> Result<Option<&'static rowferry_facts::Function>> {
    Ok(u32::try_from(call.integer(0)?).ok().and_then(rowferry_facts::Function::by_oid))
}

/// What PostgreSQL makes with a user's range type: arguments and result.
fn made_with_a_range(call: &Call<'_>) -> Result<Option<(String, String)>> {
    Ok(crate::catalog::user_ranges::constructor_words(&*call.context().state().schema(), oid(call, 0)?))
}

/// What is told of a function that users have made; NULL for others.
fn function(
    call: &Call<'_>,
    tell: impl FnOnce(&rowferry_dialect::stored_function::StoredFunction) -> Option<String>,
) -> Result<Value> {
    let schema = call.context().state().schema();
    let found = u32::try_from(call.integer(0)?).ok().and_then(|oid| schema.function_by_oid(oid));
    Ok(found.and_then(|function| tell(&function)).map_or(Value::Null, Value::Text))
}
