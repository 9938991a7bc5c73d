//! What administrators and tools ask: one function with a word for each question, since every function costs a connection
//! something to know it.

use rowferry_dialect::access::{ItemText, LETTERS, bit_of_word};
use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::regtype;
use rowferry_dialect::scalar::snapshots::Snapshot;
use rowferry_dialect::types::Reg;
use rowferry_dialect::values::array::Array;
use rowferry_dialect::values::{Decimal, ValueRef};
use rowferry_dialect::{Condition, Error, Result, Type};
use rowferry_facts as facts;
use serde_json::Value as Json;

use super::call::{boolean, integer, text};
use super::strings::texts;
use super::system::visible;
use super::{Call, Named, Row};
use crate::settings;

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_ask", 1, |call| {
        let word = call.text(0)?;
        let found = QUESTIONS.iter().find(|(known, _)| *known == word);
        let (_, answer) = found.ok_or_else(|| Error::internal(format!("no such question: {word}")))?;
        answer(&call.rest())
    })
    .variadic(),
    Row::new("rf_hash_partition", 3, hash_partition).variadic().lenient(),
    // What is counted: a view, a column, and of what.
    Row::new("rf_statistic", 2, |call| {
        let oid = if call.len() > 2 { Some(u32::try_from(call.integer(2)?).unwrap_or(0)) } else { None };
        call.context().state().statistic(call.text(0)?, call.text(1)?, oid)
    })
    .optional(1)
    .volatile(),
    Row::new("rf_reset_statistics", 1, |call| {
        let state = call.context().state();
        let oid = || call.integer(1).map(|oid| u32::try_from(oid).unwrap_or(0));
        if call.text(0)? != "none" && !state.is_superuser(None)? {
            let function = match call.text(0)? {
                "all" => "pg_stat_reset",
                "one" => "pg_stat_reset_single_table_counters",
                "function" => "pg_stat_reset_single_function_counters",
                _ => "pg_stat_reset_shared",
            };
            let message = format!("permission denied for function {function}");
            return Err(Error::new(Condition::InsufficientPrivilege, message));
        }
        match call.text(0)? {
            "all" => state.reset_statistics(None)?,
            "one" => state.reset_statistics(Some(oid()?))?,
            "function" => state.reset_function_statistics(oid()?)?,
            "shared" => state.reset_shared_statistics(call.text(1)?)?,
            // What is asked for is read anew each time.
            _ => {}
        }
        text("")
    })
    .optional(1)
    .volatile(),
    Row::new("rf_setseed", 1, |call| {
        let seed = call.float(0)?;
        if !(-1.0..=1.0).contains(&seed) {
            let message = format!("setseed parameter {seed} is out of allowed range [-1,1]");
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
        call.context().state().seed_random(seed);
        text("")
    })
    .volatile(),
];

/// Answers a question from the arguments behind its word.
type Answer = fn(&Call<'_>) -> Result<Value>;

/// Every question.
const QUESTIONS: &[(&str, Answer)] = &[
    ("aclcontains", |call| {
        let item = item(call.text(1)?)?;
        let members = Array::read(call.text(0)?.as_bytes())?.members.into_iter();
        for member in members.filter_map(|member| member.as_str().map(str::to_owned)) {
            if self::item(&member)?.contains(&item) {
                return boolean(true);
            }
        }
        boolean(false)
    }),
    ("aclinsert", |_| Err(Error::new(Condition::FeatureNotSupported, "aclinsert is no longer supported"))),
    ("aclitemeq", |call| boolean(item(call.text(0)?)? == item(call.text(1)?)?)),
    ("aclremove", |_| Err(Error::new(Condition::FeatureNotSupported, "aclremove is no longer supported"))),
    ("aclitem", known_item),
    ("argument_default", argument_default),
    ("client_address", |call| {
        let address = client(call).map(|address| address.ip());
        // As the type `inet` is stored.
        Ok(address.map_or(Value::Null, |ip| Value::Text(ip.to_canonical().to_string())))
    }),
    ("client_port", |call| Ok(client(call).map_or(Value::Null, |address| Value::Integer(address.port().into())))),
    ("collation_version", collation_version),
    ("current_query", |call| Ok(call.context().state().current_query().map_or(Value::Null, Value::Text))),
    ("database_collation_version", |call| {
        let oid = call.integer(0)?;
        match call.context().state().is_database(oid) {
            true => Ok(Value::Null),
            false => Err(undefined(format!("database with OID {oid} does not exist"))),
        }
    }),
    ("export_snapshot", |call| text(call.context().state().export_snapshot()?)),
    ("fdw", |call| foreign(call, "foreign-data wrapper")),
    ("filenode", |call| Ok(call.context().state().filenode(oid(call, 0)?).map_or(Value::Null, Value::Integer))),
    ("index_property", |call| {
        let Some(method) = call.context().state().index_method(oid(call, 0)?) else { return Ok(Value::Null) };
        let Some(method) = METHODS.iter().find(|known| known.name == method) else { return Ok(Value::Null) };
        method.of_index.get(call.text(1)?).map_or(Ok(Value::Null), boolean)
    }),
    ("interval_type", |call| {
        // What stands behind the word and its precision: `interval(3) day to second`, `interval day to second(3)`.
        let schema = call.context().state().schema();
        let words = regtype::shown_in(&*schema, oid(call, 0)?, i32::try_from(call.integer(1)?).ok());
        let words = words.as_deref().and_then(|words| words.strip_prefix("interval"));
        let fields = words.map(|words| words.trim_start_matches(|c: char| "()".contains(c) || c.is_ascii_digit()));
        let fields = fields.and_then(|fields| fields.strip_prefix(' '));
        Ok(fields.map_or(Value::Null, |fields| Value::Text(fields.to_uppercase())))
    }),
    ("like_escape", like_escape),
    ("makeaclitem", make_item),
    ("method_property", |call| {
        let oid = oid(call, 0)?;
        let method = facts::AccessMethod::all().iter().find(|method| method.oid == oid);
        let known = method.and_then(|method| METHODS.iter().find(|known| known.name == method.name));
        known.and_then(|known| known.of_method.get(call.text(1).ok()?)).map_or(Ok(Value::Null), boolean)
    }),
    // There are no groups of lockers: the next one would be the first.
    ("mxid_age", |call| match call.integer(0)? {
        0 => integer(i32::MAX),
        number => integer(1_u32.wrapping_sub(number as u32) as i32),
    }),
    ("nameconcatoid", |call| {
        const LONGEST: usize = 63;
        let suffix = format!("_{}", call.integer(1)?);
        let name = call.text(0)?;
        let end = (0..=name.len().min(LONGEST - suffix.len())).rev().find(|end| name.is_char_boundary(*end));
        text(format!("{}{suffix}", &name[..end.unwrap_or(0)]))
    }),
    ("oidvectortypes", |call| {
        let stored = call.text(0)?;
        // One of the catalogs' is an array, one of a statement its text.
        let members: Vec<u32> = match stored.starts_with(['[', '{']) {
            true => {
                Array::read(stored.as_bytes())?.members.iter().filter_map(Json::as_u64).map(|oid| oid as u32).collect()
            }
            false => stored.split_ascii_whitespace().filter_map(|oid| oid.parse().ok()).collect(),
        };
        let schema = call.context().state().schema();
        let words = members.into_iter().map(|oid| match oid {
            0 => "-".to_owned(),
            oid => regtype::shown_in(&*schema, oid, None).unwrap_or_else(|| "???".to_owned()),
        });
        text(words.collect::<Vec<_>>().join(", "))
    }),
    ("parameter", parameter),
    ("replica_index", |call| {
        let relation = oid(call, 0)?;
        match call.context().state().replica_index(relation) {
            Some(index) => Ok(index.map_or(Value::Null, |oid| Value::Integer(oid.into()))),
            None => Err(Error::internal(format!("could not open relation with OID {relation}"))),
        }
    }),
    ("server_address", |call| {
        let address = server_end(call).map(|address| address.ip());
        Ok(address.map_or(Value::Null, |ip| Value::Text(ip.to_canonical().to_string())))
    }),
    ("server_port", |call| Ok(server_end(call).map_or(Value::Null, |address| Value::Integer(address.port().into())))),
    ("server", |call| foreign(call, "server")),
    ("setting_flags", |call| {
        let flags = settings::flags(call.text(0)?);
        flags.map_or(Ok(Value::Null), |flags| text(texts(flags.iter().copied().map(Some))?))
    }),
    ("size_bytes", size_bytes),
    ("snapshot", |call| text(call.context().state().snapshot()?.text())),
    ("snapshot_sees", |call| boolean(Snapshot::read(call.text(0)?)?.sees(call.integer(1)?))),
    ("snapshot_xmax", |call| integer(Snapshot::read(call.text(0)?)?.xmax)),
    ("snapshot_xmin", |call| integer(Snapshot::read(call.text(0)?)?.xmin)),
    ("to_ascii", to_ascii),
    ("visible", |call| visible(call, call.text(0)?, 1)),
    ("to_regcollation", |call| match call.context().state().object_oid(Reg::Collation, call.text(0)?) {
        Ok(oid) => integer(oid),
        Err(_) => Ok(Value::Null),
    }),
];

fn undefined(message: String) -> Error {
    Error::new(Condition::UndefinedObject, message)
}

fn oid(call: &Call<'_>, at: usize) -> Result<u32> {
    let number = call.integer(at)?;
    u32::try_from(number).map_err(|_| Error::new(Condition::NumericValueOutOfRange, "OID out of range"))
}

/// Where the client is; `None` for one that is not on a network.
fn client(call: &Call<'_>) -> Option<std::net::SocketAddr> {
    call.context().state().client_address().parse().ok()
}

/// Where it has met us; `None` for one that is not on a network.
fn server_end(call: &Call<'_>) -> Option<std::net::SocketAddr> {
    call.context().state().server_address().parse().ok()
}

fn item(text: &str) -> Result<ItemText> {
    ItemText::read(text)
}

/// An item whose roles there are.
fn known_item(call: &Call<'_>) -> Result<Value> {
    let item = item(call.text(0)?)?;
    let roles = [&item.grantee, &item.grantor].into_iter().filter(|role| !role.is_empty());
    for role in roles {
        call.context().state().object_oid(Reg::Role, &crate::catalog::names::quote_ident(role))?;
    }
    text(item.text())
}

/// `makeaclitem(grantee, grantor, privilege, whether it may be given on)`
fn make_item(call: &Call<'_>) -> Result<Value> {
    let state = call.context().state();
    let name = |oid: u32| match oid {
        0 => String::new(),
        oid => state.role_name(oid).unwrap_or_else(|| oid.to_string()),
    };
    let word = call.text(2)?;
    let bit = bit_of_word(&word.to_ascii_uppercase()).ok_or_else(|| {
        Error::new(Condition::InvalidParameterValue, format!("unrecognized privilege type: \"{word}\""))
    })?;
    let grantable = if call.boolean(3)? { bit } else { 0 };
    let (grantee, grantor) = (name(oid(call, 0)?), name(oid(call, 1)?));
    text(ItemText { grantee, grantor, privileges: bit, grantable }.text())
}

/// The word of a privilege's letter.
pub(super) fn privilege(letter: char) -> Option<&'static str> {
    LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, word)| *word)
}

/// Words of privileges apart, each without WITH GRANT OPTION; all must be of these.
fn check_words(words: &str, valid: &[&str]) -> Result<()> {
    for word in words.split(',') {
        let upper = word.trim().to_ascii_uppercase();
        let name = upper.strip_suffix(" WITH GRANT OPTION").map_or(upper.as_str(), str::trim_end);
        if !valid.contains(&name) {
            let message = format!("unrecognized privilege type: \"{}\"", word.trim());
            return Err(Error::new(Condition::InvalidParameterValue, message));
        }
    }
    Ok(())
}

/// The role that is asked about; `None` is the current one.
fn role(call: &Call<'_>) -> Result<Option<Named>> {
    Ok(match call.value(0) {
        ValueRef::Integer(-1) => None,
        ValueRef::Integer(oid) => Some(Named::Number(oid)),
        _ => Some(Named::Name(call.text(0)?.to_owned())),
    })
}

/// `satisfies_hash_partition(parent, modulus, remainder, key…)`; each key stands behind the object id of its type.
fn hash_partition(call: &Call<'_>) -> Result<Value> {
    let invalid = |message: String| Err(Error::new(Condition::InvalidParameterValue, message));
    if call.is_null(0) || call.is_null(1) || call.is_null(2) {
        return boolean(false);
    }
    let (modulus, remainder) = (call.integer(1)?, call.integer(2)?);
    if modulus <= 0 {
        return invalid("modulus for hash partition must be an integer value greater than zero".to_owned());
    }
    if remainder < 0 {
        let message = "remainder for hash partition must be an integer value greater than or equal to zero";
        return invalid(message.to_owned());
    }
    if remainder >= modulus {
        return invalid("remainder for hash partition must be less than modulus".to_owned());
    }
    let schema = call.context().state().schema();
    let parent = oid(call, 0)?;
    let Some((name, types)) = call.context().state().hash_keys(parent) else {
        return Err(Error::internal(format!("could not open relation with OID {parent}")));
    };
    let Some(types) = types else { return invalid(format!("\"{name}\" is not a hash partitioned table")) };
    let given = (call.len() - 3) / 2;
    if given != types.len() {
        return invalid(format!(
            "number of partitioning columns ({}) does not match number of partition keys provided ({given})",
            types.len()
        ));
    }
    let mut keys = Vec::with_capacity(given);
    for (at, wanted) in types.iter().enumerate() {
        let found = oid(call, 3 + 2 * at)?;
        let found = rowferry_dialect::postgres::types::of_oid(found, &*schema).unwrap_or(Type::Unknown);
        if !is_same_hash(&found, wanted) {
            let shown = rowferry_dialect::postgres::types::words;
            return invalid(format!(
                "column {} of the partition key has type {}, but supplied value is of type {}",
                at + 1,
                shown(wanted),
                shown(&found)
            ));
        }
        keys.push(call.owned(4 + 2 * at));
    }
    let hash = rowferry_dialect::partition::hash_of_row(keys.iter().zip(&types))?;
    boolean(hash % modulus.unsigned_abs() == remainder.unsigned_abs())
}

/// True for types whose values have one form.
fn is_same_hash(found: &Type, wanted: &Type) -> bool {
    match (found.through_domains(), wanted.through_domains()) {
        (Type::Varchar(_) | Type::Text, Type::Varchar(_) | Type::Text) => true,
        (found, wanted) => found.same_base(wanted),
    }
}

/// Privileges on what there is none of here.
fn foreign(call: &Call<'_>, kind: &str) -> Result<Value> {
    call.context().state().is_superuser(role(call)?)?;
    match call.value(1) {
        ValueRef::Integer(_) => {
            check_words(call.text(2)?, &["USAGE"])?;
            Ok(Value::Null)
        }
        _ => Err(undefined(format!("{kind} \"{}\" does not exist", call.text(1)?))),
    }
}

/// Privileges on settings, which only superusers have.
fn parameter(call: &Call<'_>) -> Result<Value> {
    let superuser = call.context().state().is_superuser(role(call)?)?;
    check_words(call.text(2)?, &["SET", "ALTER SYSTEM"])?;
    boolean(superuser)
}

fn collation_version(call: &Call<'_>) -> Result<Value> {
    const DEFAULT: u32 = 100;
    let oid = oid(call, 0)?;
    if oid == DEFAULT {
        return Ok(Value::Null);
    }
    let missing = || undefined(format!("collation with OID {oid} does not exist"));
    let is_unicode = call.context().state().is_unicode_collation(oid).ok_or_else(missing)?;
    Ok(if is_unicode { Value::Text(crate::backend::UNICODE_VERSION.to_owned()) } else { Value::Null })
}

/// The default of a function's argument, counted from 1.
fn argument_default(call: &Call<'_>) -> Result<Value> {
    let (function, at) = (oid(call, 0)?, call.integer(1)?);
    let Some(at) = usize::try_from(at - 1).ok() else { return Ok(Value::Null) };
    if let Some(fact) = facts::Function::by_oid(function) {
        let first = fact.arguments.len() - fact.defaults as usize;
        let default = at.checked_sub(first).and_then(|at| fact.default_values.split(", ").nth(at));
        return Ok(default.filter(|text| !text.is_empty()).map_or(Value::Null, |text| Value::Text(text.to_owned())));
    }
    let schema = call.context().state().schema();
    let found = schema.function_by_oid(function);
    let default = found.and_then(|function| function.definition.params.get(at)?.default.clone());
    Ok(default.map_or(Value::Null, Value::Text))
}

/// What an access method's indexes can.
struct Method {
    name: &'static str,
    of_method: Can,
    of_index: Can,
}

/// Properties with their answers.
struct Can([(&'static str, bool); 5]);

impl Can {
    const fn method(order: bool, unique: bool, several: bool, exclude: bool, include: bool) -> Self {
        Self([
            ("can_order", order),
            ("can_unique", unique),
            ("can_multi_col", several),
            ("can_exclude", exclude),
            ("can_include", include),
        ])
    }

    const fn index(clusterable: bool, plain: bool, backward: bool) -> Self {
        Self([
            ("clusterable", clusterable),
            ("index_scan", plain),
            ("bitmap_scan", true),
            ("backward_scan", backward),
            // A property that nobody can ask for.
            ("", false),
        ])
    }

    fn get(&self, property: &str) -> Option<bool> {
        let property = property.to_ascii_lowercase();
        self.0.iter().find(|(name, _)| !name.is_empty() && *name == property).map(|(_, can)| *can)
    }
}

/// PostgreSQL's access methods of indexes.
const METHODS: &[Method] = &[
    Method {
        name: "btree",
        of_method: Can::method(true, true, true, true, true),
        of_index: Can::index(true, true, true),
    },
    Method {
        name: "hash",
        of_method: Can::method(false, false, false, true, false),
        of_index: Can::index(false, true, true),
    },
    Method {
        name: "gist",
        of_method: Can::method(false, false, true, true, true),
        of_index: Can::index(true, true, false),
    },
    Method {
        name: "gin",
        of_method: Can::method(false, false, true, false, false),
        of_index: Can::index(false, false, false),
    },
    Method {
        name: "spgist",
        of_method: Can::method(false, false, false, true, true),
        of_index: Can::index(false, true, false),
    },
    Method {
        name: "brin",
        of_method: Can::method(false, false, true, false, false),
        of_index: Can::index(false, false, false),
    },
];

/// A pattern of bytes with another escape character than the backslash, as one with the backslash.
fn like_escape(call: &Call<'_>) -> Result<Value> {
    let (pattern, escape) = (call.bytes(0)?, call.bytes(1)?);
    let escape = match escape {
        [] => None,
        [byte] => Some(*byte),
        _ => {
            return Err(Error::new(Condition::InvalidEscapeSequence, "invalid escape string")
                .hint("Escape string must be empty or one character."));
        }
    };
    if escape == Some(b'\\') {
        return Ok(Value::Blob(pattern.to_vec()));
    }
    let mut result = Vec::with_capacity(pattern.len());
    let mut escaped = false;
    for byte in pattern {
        if Some(*byte) == escape && !escaped {
            result.push(b'\\');
            escaped = true;
            continue;
        }
        if *byte == b'\\' && !escaped {
            result.push(b'\\');
        }
        result.push(*byte);
        escaped = false;
    }
    Ok(Value::Blob(result))
}

/// `1.5 GB` in bytes.
fn size_bytes(call: &Call<'_>) -> Result<Value> {
    let given = call.text(0)?;
    let invalid = || Error::new(Condition::InvalidParameterValue, format!("invalid size: \"{given}\""));
    let start = given.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let (number, rest) = leading_number(start).ok_or_else(invalid)?;
    let unit = rest.trim_matches(|c: char| c.is_ascii_whitespace());
    let factor = if unit.is_empty() {
        1
    } else {
        const UNITS: [(&str, u32); 6] = [("bytes", 0), ("kB", 1), ("MB", 2), ("GB", 3), ("TB", 4), ("PB", 5)];
        let known = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
        let (_, power) = known.ok_or_else(|| {
            invalid()
                .detail(format!("Invalid size unit: \"{unit}\"."))
                .hint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
        })?;
        1024_i64.pow(*power)
    };
    let number = Decimal::parse(number)?;
    let size = if factor == 1 { number } else { number.mul(&Decimal::from_i64(factor))? };
    integer(size.to_integer(&rowferry_dialect::Type::Int8)?)
}

/// The number at the beginning of a text, with an exponent if that is whole, and what follows.
fn leading_number(text: &str) -> Option<(&str, &str)> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with(['-', '+']));
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if text[end..].starts_with('.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['-', '+']));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some(text.split_at(end))
}

/// Letters of an encoding of single bytes without their accents, from the byte 128 on.
struct Accents {
    name: &'static str,
    letters: &'static str,
}

const ACCENTS: [Accents; 4] = [
    Accents {
        name: "LATIN1",
        letters: "                                  cL Y  \"Ca  -R     'u .,      ?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooooo/ouuuuyty",
    },
    Accents {
        name: "LATIN2",
        letters: "                                 A L LS \"SSTZ-ZZ a,l'ls ,sstz\"zzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt.",
    },
    Accents {
        name: "LATIN9",
        letters: "                                  cL YS sCa  -R     Zu .z   EeY?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooooo/ouuuuyty",
    },
    Accents {
        name: "WIN1250",
        letters: "  ' \"    %S<STZZ `'\"\".--  s>stzz   L A  \"CS  -RZ  ,l'u .,as L\"lzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt ",
    },
];

/// A text without accents, its bytes read as those of an encoding.
fn to_ascii(call: &Call<'_>) -> Result<Value> {
    let encoding = match call.given(1) {
        None => "UTF8",
        Some(ValueRef::Integer(number)) => rowferry_encodings::Encoding::numbered(number)
            .map(rowferry_encodings::Encoding::name)
            .ok_or_else(|| undefined(format!("{number} is not a valid encoding code")))?,
        Some(_) => {
            let name = call.text(1)?;
            rowferry_encodings::Encoding::find(name)
                .map(rowferry_encodings::Encoding::name)
                .ok_or_else(|| undefined(format!("{name} is not a valid encoding name")))?
        }
    };
    let Some(accents) = ACCENTS.iter().find(|accents| accents.name == encoding) else {
        let message = format!("encoding conversion from {encoding} to ASCII not supported");
        return Err(Error::new(Condition::FeatureNotSupported, message));
    };
    let plain = |byte: u8| match byte.checked_sub(128) {
        None => char::from(byte),
        Some(at) => accents.letters.as_bytes().get(usize::from(at)).map_or(' ', |letter| char::from(*letter)),
    };
    text(call.text(0)?.bytes().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_above_ascii_has_a_letter() {
        for accents in &ACCENTS {
            assert_eq!((accents.letters.len(), accents.letters.is_ascii()), (128, true), "{}", accents.name);
        }
    }

    #[test]
    fn numbers_end_where_their_unit_begins() {
        assert_eq!(leading_number("1.5 GB"), Some(("1.5", " GB")));
        assert_eq!(leading_number("1e6 MB"), Some(("1e6", " MB")));
        assert_eq!(leading_number(".5e"), Some((".5", "e")));
        assert_eq!(leading_number("-.0gb"), Some(("-.0", "gb")));
        for wrong in ["", "-.", "+ 1", "--123", ".+912", "x"] {
            assert_eq!(leading_number(wrong), None, "{wrong}");
        }
    }
}
