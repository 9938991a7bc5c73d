//! Informix's own functions: datetimes and intervals on their stored text, conversions, large objects, and what IBM's
//! driver calls for its metadata.

use rowferry_dialect::informix::spl::base_words;
use rowferry_dialect::informix::type_from_words;
use rowferry_dialect::informix::types::{YEAR_TO_FRACTION5, YEAR_TO_SECOND};
use rowferry_dialect::informix::values::{
    DateFormat, Decimal, Document, Moment, arithmetic, calendar, composite, computed, convert, date_to_days,
    moment_from_text, moment_to_text, number_from_text, number_to_text, strings, within_bytes,
};
use rowferry_dialect::ir::Value;
use rowferry_dialect::types::Field;
use rowferry_dialect::values::{ValueRef, zone};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::call::{integer, text};
use super::{Call, Row};
use crate::smart_objects;

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_ifx_last_serial", 0, |call| Ok(Value::Integer(call.context().state().last_serial().unwrap_or(0))))
        .volatile(),
    Row::new("rf_ifx_numbered", 2, |call| {
        let sequence = u32::try_from(call.integer(1)?).unwrap_or(0);
        let state = call.context().state();
        let given = if call.is_null(0) { 0 } else { call.integer(0)? };
        if given == 0 {
            return integer(state.nextval(sequence)?);
        }
        // One that is given moves those behind it.
        let (last, called) = (state.sequence_state(sequence, 0)?, state.sequence_state(sequence, 2)? != 0);
        if given > last || (given == last && !called) {
            state.setval(sequence, given, true)?;
        }
        integer(given)
    })
    .lenient()
    .volatile(),
    Row::new("rf_ifx_rows_processed", 0, |call| Ok(Value::Integer(call.context().state().rows_processed()))).volatile(),
    Row::new("rf_ifx_param_types", 1, |call| routine_types(call, false)),
    Row::new("rf_ifx_ret_types", 1, |call| routine_types(call, true)),
    Row::new("rf_ifx_routine", 2, |call| {
        let args = (2..call.len()).map(|at| call.owned(at)).collect();
        let mut rows = call.context().state().call_routine(routine(call)?, call.text(1)?, args)?;
        let first = rows.next().transpose()?;
        match rows.next() {
            None => Ok(first.and_then(|row| row.into_iter().next()).unwrap_or(Value::Null)),
            Some(_) => {
                Err(Error::new(Condition::RoutineManyRows, "a routine in an expression has returned more than one row"))
            }
        }
    })
    .variadic()
    .lenient()
    .volatile(),
    Row::new("rf_ifx_cast", 3, |call| {
        let (from, to) = (type_at(call, 1)?, type_at(call, 2)?);
        // EXTEND to larger fields: they are the present's.
        if let (Type::Datetime(source), ValueRef::Text(_)) = (&from, call.value(0))
            && source.first > Field::Year
            && matches!(&to, Type::Date | Type::Datetime(_))
        {
            let base = now(call)?.before(source.first);
            let moment = Moment::parse(call.text(0)?, *source, base)?.format(YEAR_TO_FRACTION5);
            return convert(&Value::Text(moment), &Type::Datetime(YEAR_TO_FRACTION5), &to);
        }
        computed(&call.owned(0), &from, &to)
    }),
    Row::new("rf_ifx_current", 1, |call| {
        let Type::Datetime(qualifier) = type_at(call, 0)? else {
            return Err(Error::internal("CURRENT of no DATETIME"));
        };
        text(now(call)?.format(qualifier))
    }),
    Row::new("rf_ifx_default_role", 0, |call| {
        let default = call.context().state().default_variable("informix.role");
        Ok(default.filter(|role| !role.is_empty() && role != "none").map_or(Value::Null, Value::Text))
    }),
    Row::new("rf_ifx_today", 0, |call| text(now(call)?.format(YEAR_TO_FRACTION5).get(..10).unwrap_or_default())),
    Row::new("rf_ifx_datetime_add", 6, |call| {
        let result = arithmetic::datetime_add(
            call.text(0)?,
            &type_at(call, 1)?,
            call.text(2)?,
            &type_at(call, 3)?,
            call.integer(4)?,
            &type_at(call, 5)?,
        );
        text(result?)
    }),
    Row::new("rf_ifx_datetime_sub", 5, |call| {
        text(arithmetic::datetime_sub(
            call.text(0)?,
            &type_at(call, 1)?,
            call.text(2)?,
            &type_at(call, 3)?,
            &type_at(call, 4)?,
        )?)
    }),
    Row::new("rf_ifx_interval_add", 6, |call| {
        let result = arithmetic::interval_add(
            call.text(0)?,
            &type_at(call, 1)?,
            call.text(2)?,
            &type_at(call, 3)?,
            call.integer(4)?,
            &type_at(call, 5)?,
        );
        text(result?)
    }),
    Row::new("rf_ifx_interval_mul", 4, |call| {
        text(arithmetic::interval_mul(call.text(0)?, &type_at(call, 1)?, call.float(2)?, &type_at(call, 3)?)?)
    }),
    Row::new("rf_ifx_interval_key", 2, |call| integer(arithmetic::interval_key(call.text(0)?, &type_at(call, 1)?)?)),
    Row::new("rf_ifx_units", 2, |call| text(arithmetic::units(&plain(call, 0)?, &type_at(call, 1)?)?)),
    Row::new("rf_ifx_date_read", 2, |call| text(dates_at(call, 1)?.read(call.text(0)?)?)),
    Row::new("rf_ifx_date_shown", 2, |call| text(dates_at(call, 1)?.shown(call.text(0)?))),
    Row::new("rf_ifx_row_field", 2, |call| {
        Ok(match composite::field(call.text(0)?, call.integer(1)?) {
            Some(field) => Value::Text(field),
            None => Value::Null,
        })
    }),
    Row::new("rf_ifx_member", 2, |call| text(composite::printed(&call.owned(0), &type_at(call, 1)?)?)).lenient(),
    Row::new("rf_ifx_holds", 2, |call| integer(composite::holds(call.text(0)?, call.text(1)?))),
    Row::new("rf_ifx_connect_path", 1, |call| {
        let key = path_key(call)?;
        if call.text(0)?.contains(&key) {
            return Err(Error::new(Condition::ConnectByLoop, "CONNECT BY query resulted in a loop"));
        }
        text(format!("{}{key}", call.text(0)?))
    })
    .variadic()
    .lenient(),
    Row::new("rf_ifx_on_path", 1, |call| integer(i64::from(call.text(0)?.contains(&path_key(call)?))))
        .variadic()
        .lenient(),
    Row::new("rf_pack_values", 1, super::lateral::pack).variadic().lenient(),
    Row::new("rf_ifx_bson_value", 3, bson_value),
    Row::new("rf_ifx_bson_get", 2, |call| {
        let document = Document::parse(call.text(0)?)?;
        let path = call.text(1)?;
        let name = if call.len() > 2 { call.text(2)? } else { path.rsplit('.').next().unwrap_or(path) };
        Ok(match document.field(path) {
            Some(found) => Value::Text(Document::Object(vec![(name.to_owned(), found.clone())]).to_string()),
            None => Value::Null,
        })
    })
    .optional(1),
    Row::new("rf_ifx_bson_size", 2, |call| {
        let document = Document::parse(call.text(0)?)?;
        let found = match call.text(1)? {
            "" => Some(&document),
            path => document.field(path),
        };
        Ok(found.map_or(Value::Null, |found| Value::Integer(i64::try_from(found.size()).unwrap_or(i64::MAX))))
    }),
    Row::new("rf_ifx_bson_update", 2, |call| {
        let document = Document::parse(call.text(0)?)?;
        text(document.updated(&Document::parse(call.text(1)?)?)?.to_string())
    }),
    Row::new("rf_ifx_bson_keys_exist", 2, |call| {
        let document = Document::parse(call.text(0)?)?;
        let mut all = true;
        for at in 1..call.len() {
            all &= document.field(call.text(at)?).is_some();
        }
        integer(i64::from(all))
    })
    .variadic(),
    Row::new("rf_ifx_format_units", 2, |call| text(strings::format_units(call.text(0)?, call.text(1)?)?)),
    Row::new("rf_ifx_cardinality", 1, |call| {
        let collection = call.text(0)?;
        composite::cardinality(collection).map(Value::Integer).ok_or_else(|| {
            Error::new(Condition::DatatypeMismatch, format!("CARDINALITY of \"{collection}\", which is no collection"))
        })
    }),
    Row::new("rf_ifx_add_days", 2, |call| text(arithmetic::add_days(call.text(0)?, call.integer(1)?)?)),
    Row::new("rf_ifx_days_between", 2, |call| integer(arithmetic::days_between(call.text(0)?, call.text(1)?)?)),
    Row::new("rf_ifx_mdy", 3, |call| text(arithmetic::mdy(call.integer(0)?, call.integer(1)?, call.integer(2)?)?)),
    Row::new("rf_ifx_add_months", 3, |call| {
        text(calendar::add_months(call.text(0)?, &type_at(call, 1)?, call.integer(2)?)?)
    }),
    Row::new("rf_ifx_last_day", 2, |call| text(calendar::last_day(call.text(0)?, &type_at(call, 1)?)?)),
    Row::new("rf_ifx_next_day", 3, |call| text(calendar::next_day(call.text(0)?, &type_at(call, 1)?, call.text(2)?)?)),
    Row::new("rf_ifx_months_between", 2, |call| {
        text(calendar::months_between(call.text(0)?, call.text(1)?)?.to_string())
    }),
    Row::new("rf_ifx_round_moment", 4, |call| {
        text(calendar::round_moment(call.text(0)?, &type_at(call, 1)?, call.text(2)?, call.boolean(3)?)?)
    }),
    Row::new("rf_ifx_number_to_interval", 3, |call| {
        text(calendar::number_to_interval(&plain(call, 0)?, call.text(1)?, &type_at(call, 2)?)?)
    }),
    Row::new("rf_ifx_interval_of_key", 2, |call| {
        text(calendar::interval_of_key(call.integer(0)?, &type_at(call, 1)?)?)
    }),
    Row::new("rf_ifx_to_char", 2, |call| {
        let moment = Moment::parse(call.text(0)?, YEAR_TO_FRACTION5, Moment::LEAST)?;
        text(moment_to_text(&moment, call.text(1)?)?)
    }),
    Row::new("rf_ifx_to_char_number", 2, |call| {
        text(number_to_text(&Decimal::parse(&plain(call, 0)?)?, call.text(1)?)?)
    }),
    Row::new("rf_ifx_to_date", 2, |call| {
        // Fields that the format does not name: this year and the first of everything else.
        let base = Moment { year: now(call)?.year, ..Moment::LEAST };
        text(moment_from_text(call.text(0)?, call.text(1)?, base)?.format(YEAR_TO_FRACTION5))
    }),
    Row::new("rf_ifx_to_number", 2, |call| text(number_from_text(call.text(0)?)?.to_string())),
    Row::new("rf_ifx_floating", 1, |call| text(Decimal::parse(&plain(call, 0)?)?.floating(32).to_string())),
    Row::new("rf_ifx_divide", 2, |call| {
        text(Decimal::parse(&plain(call, 0)?)?.divided(&Decimal::parse(&plain(call, 1)?)?)?.to_string())
    }),
    Row::new("rf_ifx_utc_to_datetime", 1, |call| {
        let micros = call.integer(0)?.saturating_mul(1_000_000);
        text(local(call, micros)?.format(YEAR_TO_SECOND))
    }),
    Row::new("rf_ifx_utc_current", 0, |call| integer(call.context().times().statement.div_euclid(1_000_000))),
    Row::new("rf_ifx_time_zone", 0, |call| {
        text(call.with_settings(|settings| settings.time_zone.iana_name().unwrap_or("UTC").to_owned()))
    }),
    Row::new("rf_ifx_session", 0, |call| integer(i64::from(call.context().state().pid()))),
    // Strings.
    Row::new("rf_ifx_substrb", 2, |call| {
        let bytes = call.bytes(0)?;
        let start = match call.integer(1)? {
            0 => 0,
            start if start > 0 => usize::try_from(start - 1).unwrap_or(usize::MAX),
            back => bytes.len().saturating_sub(usize::try_from(back.unsigned_abs()).unwrap_or(usize::MAX)),
        };
        let rest = bytes.get(start..).unwrap_or_default();
        let length = match call.given(2) {
            Some(_) => usize::try_from(call.integer(2)?).unwrap_or(0),
            None => rest.len(),
        };
        text(String::from_utf8_lossy(&rest[..length.min(rest.len())]).into_owned())
    })
    .optional(1),
    Row::new("rf_ifx_substring_index", 3, |call| {
        text(strings::substring_index(call.text(0)?, call.text(1)?, call.integer(2)?))
    }),
    Row::new("rf_ifx_within", 3, |call| {
        let length = u32::try_from(call.integer(1)?).unwrap_or(u32::MAX);
        let ty = if call.boolean(2)? { Type::Char(length) } else { Type::Lvarchar(length) };
        within_bytes(call.owned(0), &ty)
    }),
    Row::new("rf_ifx_part", 3, |call| {
        let place = |at| call.integer(at).map(|number| usize::try_from(number).unwrap_or(0));
        text(strings::part(call.text(0)?, place(1)?.saturating_sub(1), place(2)?))
    }),
    Row::new("rf_ifx_spliced", 4, |call| spliced(call, strings::spliced)).lenient(),
    Row::new("rf_ifx_spliced_bytes", 4, |call| spliced(call, strings::spliced_bytes)).lenient(),
    Row::new("rf_ifx_instr", 3, |call| {
        let count = match call.given(3) {
            Some(_) => call.integer(3)?,
            None => 1,
        };
        integer(strings::instr(call.text(0)?, call.text(1)?, call.integer(2)?, count))
    })
    .optional(1),
    // Large objects.
    Row::new("rf_ifx_lo_open", 2, |call| {
        let bytes = call.bytes(0)?.to_vec();
        integer(smart_objects::with(|objects| objects.open(bytes))?)
    })
    .volatile(),
    Row::new("rf_ifx_filetoblob", 2, |call| {
        client_side(call, 1)?;
        let name = call.text(0)?;
        Ok(Value::Blob(smart_objects::with(|objects| objects.file(name))?))
    })
    .volatile(),
    Row::new("rf_ifx_filetoclob", 2, |call| {
        client_side(call, 1)?;
        let name = call.text(0)?;
        text(smart_objects::with(|objects| objects.file_text(name))?)
    })
    .volatile(),
    Row::new("rf_ifx_lotofile", 3, |call| {
        client_side(call, 2)?;
        let bytes = match call.value(0) {
            ValueRef::Text(_) => smart_objects::with(|objects| objects.client_text(call.text(0)?))?,
            _ => call.bytes(0)?.to_vec(),
        };
        let name = call.text(1)?;
        text(smart_objects::with(|objects| objects.write_file(name, bytes)))
    })
    .volatile(),
    // What IBM's driver asks about columns, from syscolumns' codes.
    Row::new("rf_ifx_coltypename", 2, |call| {
        let (code, extended) = (call.integer(0)? & 0xff, call.integer(1)?);
        text(type_name(code, extended))
    }),
    Row::new("rf_ifx_precision", 3, |call| integer(precision(call.integer(0)? & 0xff, call.integer(2)?))),
    Row::new("rf_ifx_numscale", 2, |call| {
        let (code, length) = (call.integer(0)? & 0xff, call.integer(1)?);
        Ok(match code {
            5 | 8 if length & 0xff == 255 => Value::Null,
            5 | 8 => Value::Integer(length & 0xff),
            1 | 2 | 6 | 17 | 18 | 52 | 53 => Value::Integer(0),
            _ => Value::Null,
        })
    }),
    Row::new("rf_ifx_numprecradix", 1, |call| {
        Ok(match call.integer(0)? & 0xff {
            1..=6 | 8 | 17 | 18 | 52 | 53 => Value::Integer(10),
            _ => Value::Null,
        })
    }),
    Row::new("rf_ifx_datetype", 2, |call| {
        Ok(match call.integer(0)? & 0xff {
            7 => Value::Integer(1),
            10 => Value::Integer(3),
            _ => Value::Null,
        })
    }),
    Row::new("rf_ifx_charlen", 3, |call| {
        let (code, length) = (call.integer(0)? & 0xff, call.integer(2)?);
        Ok(match code {
            0 | 15 | 40 => Value::Integer(length),
            13 | 16 => Value::Integer(length & 0xff),
            _ => Value::Null,
        })
    }),
    Row::new("rf_ifx_jdbc_type", 3, |call| integer(jdbc_type(call.integer(0)? & 0xff, call.integer(1)?))),
];

/// NULL counts as an empty text.
fn spliced(call: &Call<'_>, splice: fn(&str, i64, i64, &str) -> String) -> Result<Value> {
    let given = |at| if call.is_null(at) { Ok("") } else { call.text(at) };
    text(splice(given(0)?, call.integer(1)?, call.integer(2)?, given(3)?))
}

/// The types of what a routine takes or returns, with commas between; NULL when there is no such routine.
fn routine_types(call: &Call<'_>, returned: bool) -> Result<Value> {
    let (oid, schema) = (routine(call)?, call.context().state().schema());
    let Some(found) = schema.all_routines().into_iter().find(|routine| routine.oid == oid) else {
        return Ok(Value::Null);
    };
    let parsed = found.parsed()?;
    let types = if returned {
        parsed.result_columns(&*schema)?.into_iter().map(|(_, ty)| ty).collect()
    } else {
        parsed.param_types(&*schema)?
    };
    text(types.iter().map(base_words).collect::<Vec<_>>().join(","))
}

/// The values behind PRIOR of a row, as a part of the path to it: a slash stands at both ends and nowhere else.
fn path_key(call: &Call<'_>) -> Result<String> {
    let mut key = "/".to_owned();
    for at in 1..call.len() {
        match call.value(at) {
            ValueRef::Null => key.push_str("\\n"),
            ValueRef::Integer(value) => key.push_str(&value.to_string()),
            ValueRef::Real(value) => key.push_str(&value.to_string()),
            ValueRef::Text(_) => key.push_str(&call.text(at)?.replace('\\', "\\b").replace('/', "\\s")),
            ValueRef::Blob(bytes) => key.extend(bytes.iter().map(|byte| format!("{byte:02x}"))),
        }
        key.push_str("\\c");
    }
    key.push('/');
    Ok(key)
}

/// A field of a document as a value of an SQL type, which its words name; NULL where there is none.
fn bson_value(call: &Call<'_>) -> Result<Value> {
    let document = Document::parse(call.text(0)?)?;
    let ty = type_at(call, 2)?;
    // Instants are milliseconds since 1970, or written out.
    let instant = |call: &Call<'_>, given: &Document| match given {
        Document::Integer(millis) => local(call, millis.saturating_mul(1_000)),
        Document::Text(written) => {
            let written = written.trim_end_matches('Z').replacen('T', " ", 1);
            Moment::parse(&written, YEAR_TO_FRACTION5, Moment::LEAST)
        }
        other => Err(Error::new(Condition::DatatypeMismatch, format!("{other} is no instant"))),
    };
    match document.field(call.text(1)?) {
        None | Some(Document::Null) => Ok(Value::Null),
        Some(Document::Boolean(value)) => convert(&Value::Integer(i64::from(*value)), &Type::Bool, &ty),
        Some(Document::Integer(number)) => convert(&Value::Integer(*number), &Type::Int8, &ty),
        Some(Document::Double(number)) => convert(&Value::Real(*number), &Type::Float8, &ty),
        Some(Document::Text(value)) => convert(&Value::Text(value.clone()), &Type::Text, &ty),
        Some(Document::Object(members)) => match &members[..] {
            [(key, Document::Text(id))] if key == "$oid" => convert(&Value::Text(id.clone()), &Type::Text, &ty),
            [(key, Document::Text(number))] if key == "$numberLong" => {
                convert(&Value::Text(number.clone()), &Type::Text, &ty)
            }
            [(key, given)] if key == "$date" => {
                let moment = instant(call, given)?.format(YEAR_TO_FRACTION5);
                convert(&Value::Text(moment), &Type::Datetime(YEAR_TO_FRACTION5), &ty)
            }
            _ => convert(&Value::Text(Document::Object(members.clone()).to_string()), &Type::Text, &ty),
        },
        Some(other) => convert(&Value::Text(other.to_string()), &Type::Text, &ty),
    }
}

/// The object id of a routine.
fn routine(call: &Call<'_>) -> Result<u32> {
    u32::try_from(call.integer(0)?).map_err(|_| Error::internal("a routine without an object id"))
}

/// A type from its words at an argument; read once per place of the statement.
fn type_at(call: &Call<'_>, at: usize) -> Result<Type> {
    call.prepared(at, || type_from_words(call.text(at)?))
}

/// A form of dates.
fn dates_at(call: &Call<'_>, at: usize) -> Result<DateFormat> {
    DateFormat::of_dbdate(call.text(at)?).ok_or_else(|| Error::internal("a form of dates that is none"))
}

/// A number as text.
fn plain(call: &Call<'_>, at: usize) -> Result<String> {
    match convert(&call.owned(at), &Type::Numeric(None), &Type::Numeric(None))? {
        Value::Integer(number) => Ok(number.to_string()),
        Value::Real(number) => Ok(number.to_string()),
        Value::Text(number) => Ok(number),
        Value::Null | Value::Blob(_) => Err(Error::new(Condition::InvalidTextRepresentation, "a number is expected")),
    }
}

/// The statement's moment in the server's own time zone.
fn now(call: &Call<'_>) -> Result<Moment> {
    local(call, call.context().times().statement)
}

/// A moment, in microseconds since 1970, in the server's own time zone.
fn local(call: &Call<'_>, instant: i64) -> Result<Moment> {
    /// Days from 1899-12-31 to 1970-01-01.
    const EPOCH_DAYS: i128 = 25_568;
    let micros = i128::from(call.with_settings(|settings| zone::to_local(&settings.time_zone, instant)));
    debug_assert_eq!(i128::from(date_to_days(1970, 1, 1)), EPOCH_DAYS);
    Moment::from_ticks(EPOCH_DAYS * 86_400 * 100_000 + micros.div_euclid(10))
}

/// The server's own files are nobody's business here.
fn client_side(call: &Call<'_>, at: usize) -> Result<()> {
    if call.text(at)?.eq_ignore_ascii_case("client") {
        return Ok(());
    }
    Err(Error::new(Condition::InsufficientPrivilege, "files of the server are not accessible; say 'client'"))
}

/// The name of a type by its code.
fn type_name(code: i64, extended: i64) -> &'static str {
    match (code, extended) {
        (0, _) => "CHAR",
        (1, _) => "SMALLINT",
        (2, _) => "INTEGER",
        (3, _) => "FLOAT",
        (4, _) => "SMALLFLOAT",
        (5, _) => "DECIMAL",
        (6, _) => "SERIAL",
        (7, _) => "DATE",
        (8, _) => "MONEY",
        (10, _) => "DATETIME",
        (11, _) => "BYTE",
        (12, _) => "TEXT",
        (13, _) => "VARCHAR",
        (14, _) => "INTERVAL",
        (15, _) => "NCHAR",
        (16, _) => "NVARCHAR",
        (17, _) => "INT8",
        (18, _) => "SERIAL8",
        (19, _) => "SET",
        (20, _) => "MULTISET",
        (21, _) => "LIST",
        (22, _) => "ROW",
        (40, 1) => "LVARCHAR",
        (40, 25) => "JSON",
        (40, 26) => "BSON",
        (41, 5) => "BOOLEAN",
        (41, 10) => "BLOB",
        (41, 11) => "CLOB",
        (52, _) => "BIGINT",
        (53, _) => "BIGSERIAL",
        _ => "OPAQUE",
    }
}

/// Digits, or characters, of a type.
fn precision(code: i64, length: i64) -> i64 {
    match code {
        1 => 5,
        2 | 6 | 7 => 10,
        3 => 17,
        4 => 7,
        5 | 8 => length >> 8,
        // The whole qualifier: IBM's driver reads the fields from it.
        10 | 14 => length,
        13 | 16 => length & 0xff,
        17 | 18 | 52 | 53 => 19,
        _ => length,
    }
}

/// java.sql.Types' number for a type.
fn jdbc_type(code: i64, extended: i64) -> i64 {
    match (code, extended) {
        (0 | 15, _) => 1,
        (1, _) => 5,
        (2 | 6, _) => 4,
        (3, _) => 8,
        (4, _) => 7,
        (5 | 8, _) => 3,
        (7, _) => 91,
        (10, _) => 93,
        (11, _) => -4,
        (12, _) => -1,
        (13 | 16, _) => 12,
        (14, _) => 1,
        (17 | 18 | 52 | 53, _) => -5,
        (40, 1) => -1,
        (41, 5) => -7,
        (41, 10) => 2004,
        (41, 11) => 2005,
        _ => 1111,
    }
}
