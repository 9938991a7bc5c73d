//! Calls: MySQL's functions by the number of their arguments, what they take of any value, and the user's variables.

use pg_query::protobuf as pg;

use super::super::binder::Binder;
use super::super::coerce::{as_it_lies, base};
use super::super::resolve::{Candidate, Miss, choose, instantiate};
use super::Placed;
use super::classes::{Class, class, fraction_digits, is_of_seconds, is_wide, moment_digits, own_words, scale};
use crate::functions::{self, FunctionKind};
use crate::ir::{CastContext, Expr, ExprKind, Value};
use crate::mysql::MATCH;
use crate::mysql::types::zerofill;
use crate::schema::QualifiedName;
use crate::values::mysql::fulltext::Mode;
use crate::values::mysql::json;
use crate::values::mysql::moments::Unit;
use crate::{Condition, Language, Result, Type};

/// Reads a variable of the user's that is not set when the statement is read: of no type by itself.
const UNSET: &str = "mysql_user_unset";

/// Functions that take the number of anything.
const OF_NUMBERS: &[&str] = &[
    "mysql_to_integer",
    "mysql_to_unsigned",
    "mysql_to_decimal",
    "mysql_to_double",
    "mysql_truth",
    "mysql_bit_and",
    "mysql_bit_or",
    "mysql_bit_xor",
    "mysql_shift_left",
    "mysql_shift_right",
    "mysql_bit_not",
    "interval",
    "bit_count",
    "bit_and",
    "bit_or",
    "bit_xor",
    "make_set",
    "export_set",
];

/// The aggregate of strings of bytes that one of bits is, with the bytes that there are where there are no rows; a literal of
/// bytes is a number.
fn of_bytes(name: &str, args: &[Placed]) -> Result<Option<(&'static str, i64)>> {
    const MOST: i64 = 511;
    let name = match name {
        "bit_and" => "mysql_bytes_bit_and",
        "bit_or" => "mysql_bytes_bit_or",
        "bit_xor" => "mysql_bytes_bit_xor",
        _ => return Ok(None),
    };
    let Some((arg, _)) = args.first() else { return Ok(None) };
    if class(&arg.ty) != Class::Bytes || matches!(arg.kind, ExprKind::Literal(_)) {
        return Ok(None);
    }
    let length = match own_words(&arg.ty) {
        Some("tinyblob") => 255,
        Some(words) if words.contains("blob") => MOST + 1,
        Some(words) => {
            words.trim_end_matches(')').rsplit('(').next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
        }
        None if matches!(arg.kind, ExprKind::Column(_)) => MOST + 1,
        None => 0,
    };
    if length > MOST {
        let message = "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; consider using the \
                       SUBSTRING() function";
        return Err(crate::Error::new(Condition::InvalidParameterValue, message).with_mysql(3514, "HY000"));
    }
    Ok(Some((name, length)))
}

/// The function of strings of bytes that an operation on bits is: where both operands are such strings, and one of them is no
/// literal in hexadecimal digits or bits, which is a number, too.
fn bytewise(name: &str, args: &[Placed]) -> Option<&'static str> {
    let of_two = matches!(name, "mysql_bit_and" | "mysql_bit_or" | "mysql_bit_xor");
    let decide = if of_two { args } else { args.get(..1)? };
    let is_bytes = |(arg, _): &Placed| class(&arg.ty) == Class::Bytes;
    if !decide.iter().all(is_bytes) || decide.iter().all(|(arg, _)| matches!(arg.kind, ExprKind::Literal(_))) {
        return None;
    }
    Some(match name {
        "mysql_bit_and" => "mysql_bytes_and",
        "mysql_bit_or" => "mysql_bytes_or",
        "mysql_bit_xor" => "mysql_bytes_xor",
        "mysql_shift_left" => "mysql_bytes_shift_left",
        "mysql_shift_right" => "mysql_bytes_shift_right",
        "mysql_bit_not" => "mysql_bytes_not",
        "bit_count" => "mysql_bytes_bit_count",
        _ => return None,
    })
}

/// Functions that look at the bytes of a text.
const OF_BYTES: &[&str] = &[
    "ascii",
    "bit_length",
    "compress",
    "crc32",
    "hex",
    "length",
    "md5",
    "mysql_to_bytes",
    "octet_length",
    "ord",
    "sha",
    "sha1",
    "sha2",
    "to_base64",
];

/// Functions whose arguments become members of documents.
const MAKES_DOCUMENTS: &[&str] = &[
    "json_array",
    "json_array_append",
    "json_array_insert",
    "json_arrayagg",
    "json_insert",
    "json_object",
    "json_objectagg",
    "json_replace",
    "json_set",
    "mysql_member_of",
];

/// Which arguments of a function are documents.
fn of_documents(name: &str) -> Option<std::ops::Range<usize>> {
    Some(match name {
        "json_extract" | "json_value" | "json_set" | "json_insert" | "json_replace" | "json_array_append"
        | "json_array_insert" | "json_remove" | "json_contains_path" | "json_keys" | "json_length" | "json_depth"
        | "json_type" | "json_pretty" | "json_search" | "json_storage_size" | "mysql_json_table" => 0..1,
        _ if name.starts_with("mysql_json_value_") => 0..1,
        "json_contains" | "json_overlaps" | "json_schema_valid" | "json_schema_validation_report" => 0..2,
        "mysql_member_of" => 1..2,
        "json_merge" | "json_merge_patch" | "json_merge_preserve" => 0..usize::MAX,
        _ => return None,
    })
}

/// Aggregates and window functions whose value is one of those that they are given first.
const OF_ONE: &[&str] = &["min", "max", "any_value", "first_value", "last_value", "nth_value", "lag", "lead"];

/// How many digits behind the point the moment has that a function makes of these; `None` where that is not known.
fn digits_made(function: &str, args: &[Placed]) -> Option<u8> {
    let literal = |arg: &Placed| match &arg.0.kind {
        ExprKind::Literal(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let written = |text: &str| text.split_once('.').map_or(0, |(_, fraction)| fraction.trim_end().len().min(6) as u8);
    // Of a text that is written these are its own.
    let digits = |arg: &Placed| moment_digits(&arg.0.ty).or_else(|| literal(arg).map(|text| written(&text)));
    let (moment, amount, unit) = match (function, args) {
        ("mysql_date_add" | "mysql_moment_add", [moment, amount, unit, _]) => (moment, amount, unit),
        ("timestampadd", [unit, amount, moment]) => (moment, amount, unit),
        ("timestamp" | "mysql_to_datetime", [moment]) | ("convert_tz", [moment, ..]) => return digits(moment),
        ("timestamp", [date, time]) if is_of_seconds(&time.0.ty) => return digits(date),
        ("addtime" | "subtime", [moment, time]) => {
            let of_time = if is_of_seconds(&time.0.ty) { Some(0) } else { literal(time).map(|text| written(&text)) };
            return digits(moment).zip(of_time).map(|(one, other)| one.max(other));
        }
        ("from_unixtime", [seconds]) if class(&seconds.0.ty) == Class::Integer => return Some(0),
        ("mysql_str_to_datetime", [_, format]) => {
            return literal(format).map(|format| if format.contains("%f") { 6 } else { 0 });
        }
        _ => return None,
    };
    let unit = literal(unit)?.to_ascii_uppercase();
    if unit.contains("MICROSECOND") {
        return Some(6);
    }
    // A fraction of seconds has digits of its own.
    let whole = class(&amount.0.ty) == Class::Integer
        || !unit.contains("SECOND")
        || literal(amount).is_some_and(|amount| !amount.contains('.'));
    moment_digits(&moment.0.ty).filter(|_| whole)
}

/// A decimal whose whole part may have more digits than every integer has.
fn is_wider_than_integers(number: &Expr) -> bool {
    const SURE: usize = 19;
    let digits = match (number.ty.through_domains(), &number.kind) {
        (Type::Numeric(Some(modifier)), _) => {
            usize::try_from(i32::from(modifier.precision) - i32::from(modifier.scale)).unwrap_or(0)
        }
        (Type::Numeric(None), ExprKind::Literal(Value::Text(digits))) => {
            digits.trim_start_matches('-').split('.').next().map_or(0, str::len)
        }
        _ => 0,
    };
    digits >= SURE
}

/// What time it is, with as many digits behind the point as are asked for.
const MOMENTS_OF_NOW: &[&str] =
    &["current_timestamp", "localtime", "localtimestamp", "now", "sysdate", "utc_timestamp"];

impl Binder<'_> {
    /// A call of one of MySQL's functions that the binder itself makes.
    pub(in crate::postgres) fn mysql_call_of(&mut self, name: &str, args: Vec<Placed>) -> Result<Expr> {
        let args = self.mysql_told(args)?;
        match self.mysql_candidate(name, &args, |kind| kind == FunctionKind::Scalar) {
            Some(candidate) => self.mysql_called(candidate, args),
            None => Err(self.unsupported(format!("the function {name}"), -1)),
        }
    }

    /// Arguments of which none lies otherwise than functions know it.
    fn mysql_told(&mut self, args: Vec<Placed>) -> Result<Vec<Placed>> {
        if !args.iter().any(|(arg, _)| is_wide(&arg.ty)) {
            return Ok(args);
        }
        args.into_iter().map(|(arg, at)| Ok((self.mysql_wide_number(arg, at)?, at))).collect()
    }

    /// The row that a call means: one of so many arguments, the one whose types fit best where there are several.
    pub(super) fn mysql_candidate(
        &self,
        name: &str,
        args: &[Placed],
        wanted: impl Fn(FunctionKind) -> bool,
    ) -> Option<Candidate> {
        let inputs: Vec<Type> = args.iter().map(|(arg, _)| base(&arg.ty)).collect();
        let rows = functions::named(Language::Mysql, name).filter(|row| wanted(row.kind));
        let mut all: Vec<Candidate> = rows.filter_map(|row| instantiate(row, &inputs)).collect();
        if all.len() > 1 {
            // One of MySQL's own types is what it is over.
            let plain: Vec<Type> = inputs.iter().map(|ty| base(&ty.without_domains())).collect();
            if let Ok(found) = choose(all.clone(), &plain, false, &|from, to| self.becomes(from, to)) {
                return Some(found);
            }
        }
        if all.is_empty() { None } else { Some(all.swap_remove(0)) }
    }

    /// The call, its arguments made what the row takes.
    pub(super) fn mysql_called(&mut self, mut candidate: Candidate, args: Vec<Placed>) -> Result<Expr> {
        if MOMENTS_OF_NOW.contains(&candidate.function.name) && matches!(candidate.result, Type::Timestamp(None)) {
            let digits = match args.as_slice() {
                [] => Some(0),
                [(digits, _)] => match &digits.kind {
                    ExprKind::Literal(Value::Integer(digits)) => {
                        u8::try_from(*digits).ok().filter(|digits| *digits <= 6)
                    }
                    _ => None,
                },
                _ => None,
            };
            candidate.result = Type::Timestamp(digits);
        }
        if matches!(candidate.result, Type::Timestamp(None)) {
            let of_seconds = match args.as_slice() {
                [(seconds, _)]
                    if candidate.function.name == "from_unixtime" && class(&seconds.ty) == Class::Decimal =>
                {
                    self.mysql_scale(seconds).and_then(|scale| u8::try_from(scale.clamp(0, 6)).ok())
                }
                _ => None,
            };
            candidate.result = Type::Timestamp(of_seconds.or_else(|| digits_made(candidate.function.name, &args)));
        }
        let mut converted = Vec::with_capacity(args.len());
        // What shows so many digits behind the point, however many of them are zeros.
        let shown = match args.as_slice() {
            [(shown, at)] if candidate.function.name == "mysql_to_text" => {
                if let Some(digits) = own_words(&shown.ty).and_then(zerofill) {
                    let number = Expr::new(
                        ExprKind::Cast { arg: Box::new(shown.clone()), context: CastContext::Explicit },
                        Type::Int8,
                    );
                    let digits = Expr::integer(i64::try_from(digits).unwrap_or(0), Type::Int8);
                    return self.mysql_call_of("mysql_zerofilled", vec![(number, *at), (digits, -1)]);
                }
                match (fraction_digits(&shown.ty), scale(&shown.ty)) {
                    (0, None) => None,
                    (0, Some(digits)) => {
                        let digits = Expr::integer(digits.into(), Type::Int8);
                        return self.mysql_call_of("mysql_fixed", vec![args[0].clone(), (digits, -1)]);
                    }
                    (digits, _) => Some(digits),
                }
            }
            _ => None,
        };
        for ((arg, at), wanted) in args.into_iter().zip(&candidate.args) {
            converted.push((self.mysql_argument(arg, wanted, at)?, at));
        }
        let called = self.call(candidate, converted)?;
        let Some(digits) = shown else { return Ok(called) };
        self.mysql_call_of("mysql_digits", vec![(called, -1), (Expr::integer(digits.into(), Type::Int8), -1)])
    }

    /// An argument as a function takes it.
    pub(in crate::postgres) fn mysql_argument(&mut self, arg: Expr, wanted: &Type, at: i32) -> Result<Expr> {
        let arg = if class(wanted).is_number() { arg } else { self.mysql_rounded(arg) };
        if *wanted == Type::Unknown {
            return self.settle(arg, at);
        }
        if class(&arg.ty) == Class::Open && class(wanted).is_number() {
            let arg = self.mysql_number(arg, at)?;
            return self.coerce(arg, wanted, CastContext::Implicit, at);
        }
        self.coerce(arg, wanted, CastContext::Implicit, at)
    }

    /// A call that is written.
    pub(in crate::postgres) fn mysql_function_call(&mut self, call: &pg::FuncCall) -> Result<Expr> {
        let parts = super::super::names::strings(&call.funcname);
        let Some(name) = parts.last().map(|name| (*name).to_owned()) else {
            return Err(crate::Error::internal("a call without a name"));
        };
        if parts.len() == 1
            && let Some(mode) = name.strip_prefix(MATCH).and_then(Mode::named)
        {
            return self.mysql_match(mode, &call.args);
        }
        let rows = || functions::named(Language::Mysql, &name);
        let is_grouped = rows().any(|row| matches!(row.kind, FunctionKind::Aggregate | FunctionKind::Window));
        if parts.len() == 1 && (is_grouped || call.over.is_some()) {
            return self.grouped_call(&name, call, call.over.as_deref());
        }
        let args = self.placed_all(&call.args)?;
        let mut args = self.mysql_told(args)?;
        let meant = self.mysql_user_variable(&name, &mut args)?;
        if matches!(name.as_str(), "mysql_regexp" | "regexp_like" | "regexp_instr" | "regexp_substr" | "regexp_replace")
            && args.iter().any(|(arg, _)| class(&arg.ty) == Class::Bytes)
        {
            let message = format!(
                "Character set 'binary' cannot be used in conjunction with 'utf8mb4_0900_ai_ci' in call to {}.",
                name.trim_start_matches("mysql_")
            );
            return Err(self.error(Condition::DatatypeMismatch, message, -1).with_mysql(3995, "HY000"));
        }
        if OF_BYTES.contains(&name.as_str())
            && let Some((arg, at)) = args.first_mut()
        {
            let taken = std::mem::replace(arg, Expr::null(Type::Unknown));
            *arg = self.mysql_bytes_in_charset(taken, *at)?;
        }
        self.mysql_documents(&name, &mut args)?;
        let meant = match bytewise(&name, &args) {
            Some(bytewise) => bytewise.to_owned(),
            None => meant,
        };
        if let ("mysql_to_integer" | "mysql_to_unsigned", [(arg, at)]) = (meant.as_str(), args.as_slice())
            && (matches!(class(&arg.ty), Class::Moment | Class::Text)
                || matches!(arg.kind, ExprKind::Literal(Value::Text(_))) && class(&arg.ty) == Class::Open)
        {
            // A moment is rounded to seconds first, and a text is a whole number.
            let text = self.settle(arg.clone(), *at)?;
            args = vec![(self.mysql_call_of("mysql_to_integer", vec![(text, *at)])?, *at)];
        }
        if OF_NUMBERS.contains(&meant.as_str()) {
            args = self.mysql_numbers(args)?;
        }
        // A whole number is its own floor and ceiling, whatever its size.
        if matches!(name.as_str(), "floor" | "ceil" | "ceiling")
            && let [(number, _)] = args.as_slice()
            && class(&number.ty) == Class::Decimal
            && self.is_unsigned(number)
        {
            return args.pop().map(|(number, _)| number).ok_or_else(|| crate::Error::internal("an argument is gone"));
        }
        if name == "mysql_integer_divide"
            && let Some((divisor, at)) = args.pop()
        {
            let divisor = self.coerce(divisor, &Type::Numeric(None), CastContext::Implicit, at)?;
            args.push(self.mysql_divisor((divisor, at))?);
        }
        // A date and hours are a moment.
        let is_moment = match args.as_slice() {
            [(date, _), _, (unit, _), _] if name == "mysql_date_add" && base(&date.ty) == Type::Date => {
                match &unit.kind {
                    ExprKind::Literal(Value::Text(unit)) => Unit::named(unit).is_some_and(Unit::is_of_time),
                    _ => false,
                }
            }
            _ => false,
        };
        let is_whole = match args.as_slice() {
            [(moment, _)] if name == "unix_timestamp" => match &moment.kind {
                ExprKind::Literal(Value::Text(text)) => !text.contains('.'),
                _ => is_of_seconds(&moment.ty),
            },
            _ => false,
        };
        let called = match meant.as_str() {
            _ if is_moment => "mysql_moment_add",
            _ if is_whole => "mysql_unix_seconds",
            "mysql_integer_divide" if args.iter().any(|(number, _)| self.is_unsigned(number)) => {
                "mysql_unsigned_divide"
            }
            "floor" if args.first().is_some_and(|(number, _)| is_wider_than_integers(number)) => "mysql_floor",
            "ceil" | "ceiling" if args.first().is_some_and(|(number, _)| is_wider_than_integers(number)) => {
                "mysql_ceil"
            }
            meant => meant,
        };
        if parts.len() == 1
            && let Some(candidate) = self.mysql_candidate(called, &args, |kind| kind == FunctionKind::Scalar)
        {
            if candidate.function.volatility == functions::Volatility::Volatile {
                self.effects.volatile = true;
            }
            let called = self.mysql_called(candidate, args)?;
            // What stands around it says what it is.
            return Ok(if meant == UNSET { Expr { ty: Type::Unknown, ..called } } else { called });
        }
        if parts.len() == 1 && rows().next().is_some() {
            let message = format!("Incorrect parameter count in the call to native function '{name}'");
            return Err(self.error(Condition::UndefinedFunction, message, call.location));
        }
        let shown = match parts.as_slice() {
            [name] => self.mysql_shown(&QualifiedName::bare(&**name)),
            parts => parts.join("."),
        };
        Err(self.error(Condition::UndefinedFunction, format!("FUNCTION {shown} does not exist"), call.location))
    }

    /// Makes documents of those arguments of a function that are to be some, and moments of instants where it makes members
    /// of a document of them.
    fn mysql_documents(&mut self, name: &str, args: &mut [Placed]) -> Result<()> {
        let function = match name {
            "mysql_member_of" => "member of",
            name if name.starts_with("mysql_json_value_") => "json_value",
            name => name.strip_prefix("mysql_").unwrap_or(name),
        };
        for (index, (arg, at)) in args.iter_mut().enumerate() {
            if MAKES_DOCUMENTS.contains(&name) {
                let taken = std::mem::replace(arg, Expr::null(Type::Unknown));
                *arg = self.mysql_local(taken, *at)?;
            }
            let is_document = of_documents(name).is_some_and(|places| places.contains(&index));
            if !is_document || arg.ty == Type::Json || matches!(arg.kind, ExprKind::Literal(Value::Null)) {
                continue;
            }
            let taken = std::mem::replace(arg, Expr::null(Type::Unknown));
            let taken = self.settle(taken, *at)?;
            if class(&taken.ty) != Class::Text {
                let message = format!(
                    "Invalid data type for JSON data in argument {} to function {function}; a JSON string or JSON type is \
                     required.",
                    index + 1
                );
                return Err(self.error(Condition::DatatypeMismatch, message, *at).with_mysql(3146, "22032"));
            }
            *arg = match &taken.kind {
                ExprKind::Literal(Value::Text(text)) if let Ok(document) = json::normal(text) => {
                    Expr::new(ExprKind::Literal(Value::Text(document)), Type::Json)
                }
                _ => {
                    let number = Expr::integer(i64::try_from(index).unwrap_or(0) + 1, Type::Int8);
                    let args = vec![(taken, *at), (number, -1), (Expr::text(function), -1)];
                    self.mysql_call_of("mysql_json_argument", args)?
                }
            };
        }
        Ok(())
    }

    /// What `CONVERT(… USING latin1)` and its kin yield, as bytes; anything else stays what it is.
    pub(super) fn mysql_bytes_in_charset(&mut self, expr: Expr, at: i32) -> Result<Expr> {
        match expr.kind {
            ExprKind::Call { function, mut args } if function.name == "mysql_in_charset" => {
                match args.first().map(|arg| class(&arg.ty)) {
                    // They are bytes of that set.
                    Some(Class::Bytes) => Ok(args.swap_remove(0)),
                    _ => {
                        let args = args.into_iter().map(|arg| (arg, at)).collect();
                        self.mysql_call_of("mysql_encoded", args)
                    }
                }
            }
            _ => Ok(expr),
        }
    }

    /// The function behind a variable of the user's, which is of the kind of what it was given.
    pub(super) fn mysql_user_variable(&mut self, called: &str, args: &mut Vec<Placed>) -> Result<String> {
        let same = || Ok(called.to_owned());
        let variable = match args.first().map(|(name, _)| &name.kind) {
            Some(ExprKind::Literal(Value::Text(name))) => name.clone(),
            _ => return same(),
        };
        match called {
            "mysql_set_user_variable" => {
                let Some((value, at)) = args.pop() else { return same() };
                let is_null = matches!(value.kind, ExprKind::Literal(Value::Null));
                let value = self.settle(value, at)?;
                let (kind, value) = match class(&value.ty) {
                    // It stays of the kind that it was.
                    _ if is_null => ("null", value),
                    Class::Truth | Class::Integer | Class::Decimal if self.is_unsigned(&value) => ("unsigned", value),
                    Class::Truth | Class::Integer => {
                        ("integer", self.coerce(value, &Type::Int8, CastContext::Implicit, at)?)
                    }
                    Class::Decimal => ("decimal", self.mysql_rounded(value)),
                    Class::Float => ("double", self.coerce(value, &Type::Float8, CastContext::Implicit, at)?),
                    Class::Bytes => ("bytes", value),
                    Class::Text => ("text", value),
                    _ => ("text", self.coerce(value, &Type::Text, CastContext::Implicit, at)?),
                };
                args.extend([(value, at), (Expr::text(kind), -1)]);
                if crate::mysql::user_kind(&self.context.user_kinds, &variable).is_none() {
                    let first = if matches!(kind, "null" | "bytes") { "bytes" } else { "text" };
                    self.set_first.entry(variable).or_insert(first);
                }
                same()
            }
            "mysql_user_variable" => {
                // Of the kind that it is when the statement begins, whatever it is set to while it runs.
                let known = crate::mysql::user_kind(&self.context.user_kinds, &variable);
                Ok(match known.or(self.set_first.get(&variable).copied()) {
                    None => UNSET.to_owned(),
                    Some("text") => called.to_owned(),
                    Some(kind) => format!("mysql_user_{kind}"),
                })
            }
            _ => same(),
        }
    }

    /// A variable of the user's that nobody has set, as what stands around it asks for; `None` for what is none.
    pub(in crate::postgres) fn mysql_unset(&mut self, expr: &Expr, to: &Type, at: i32) -> Result<Option<Expr>> {
        let ExprKind::Call { function, args } = &expr.kind else { return Ok(None) };
        let [variable] = args.as_slice() else { return Ok(None) };
        if function.name != UNSET {
            return Ok(None);
        }
        let name = match class(to) {
            Class::Truth | Class::Integer => "mysql_user_integer",
            Class::Decimal => "mysql_user_decimal",
            Class::Float => "mysql_user_double",
            Class::Bytes => "mysql_user_bytes",
            Class::Text | Class::Moment | Class::Open | Class::Other => "mysql_user_variable",
        };
        self.mysql_call_of(name, vec![(variable.clone(), at)]).map(Some)
    }

    /// The arguments of a function that takes their numbers.
    pub(super) fn mysql_numbers(&mut self, args: Vec<Placed>) -> Result<Vec<Placed>> {
        let mut numbers = Vec::with_capacity(args.len());
        for (arg, at) in args {
            let arg = self.mysql_bare(arg, at)?;
            let arg = self.mysql_position(arg, at)?;
            numbers.push((if class(&arg.ty) == Class::Moment { self.mysql_number(arg, at)? } else { arg }, at));
        }
        Ok(numbers)
    }

    /// What LAG and LEAD are where there is no such row is of another kind than their values: both become what the two have
    /// in common.
    fn mysql_otherwise(&mut self, name: &str, mut args: Vec<Placed>) -> Result<Vec<Placed>> {
        if !matches!(name, "lag" | "lead") {
            return Ok(args);
        }
        // A text that is written is one beside what is none.
        if let [(value, _), _, (otherwise, at)] = args.as_mut_slice()
            && !matches!(class(&value.ty), Class::Text | Class::Open)
            && matches!(otherwise.kind, ExprKind::Literal(Value::Text(_)))
            && class(&otherwise.ty) == Class::Open
        {
            let taken = std::mem::replace(otherwise, Expr::null(Type::Unknown));
            *otherwise = self.settle(taken, *at)?;
        }
        let [(value, value_at), _, (otherwise, otherwise_at)] = args.as_slice() else { return Ok(args) };
        let kinds = [class(&value.ty), class(&otherwise.ty)];
        if kinds[0] == kinds[1] || kinds.contains(&Class::Open) {
            return Ok(args);
        }
        let common = self.mysql_common_type(&[(&value.ty, *value_at), (&otherwise.ty, *otherwise_at)]);
        for place in [0, 2] {
            let (arg, at) = args[place].clone();
            args[place] = (self.coerce(arg, &common, CastContext::Implicit, at)?, at);
        }
        Ok(args)
    }

    /// The row of an aggregate or window function, its arguments converted.
    pub(in crate::postgres) fn mysql_grouped(
        &mut self,
        name: &str,
        args: Vec<Placed>,
        windowed: bool,
    ) -> Result<std::result::Result<(Candidate, Vec<Placed>), Miss>> {
        let wanted = |kind| kind == FunctionKind::Aggregate || (windowed && kind == FunctionKind::Window);
        // What is one of the values stays as it lies.
        let kept = args.first().map(|(arg, _)| arg.ty.clone());
        let kept = kept.filter(|ty| OF_ONE.contains(&name) && (is_wide(ty) || *ty == Type::Json));
        let mut args = args;
        self.mysql_documents(name, &mut args)?;
        let (name, args) = match args.as_slice() {
            [(arg, at)] if name == "sum" && is_wide(&arg.ty) => {
                ("mysql_wide_sum", vec![(as_it_lies(arg.clone(), &Type::Int8), *at)])
            }
            _ if kept.is_some() || name == "count" => (name, args),
            _ => (name, self.mysql_told(args)?),
        };
        let (name, args) = match of_bytes(name, &args)? {
            Some((name, length)) => {
                let mut args = args;
                args.push((Expr::integer(length, Type::Int8), -1));
                (name, args)
            }
            None => (name, args),
        };
        let of_numbers = OF_NUMBERS.contains(&name) || matches!(name, "sum" | "avg");
        let args = if of_numbers { self.mysql_numbers(args)? } else { args };
        let args = if kept.is_none() { self.mysql_otherwise(name, args)? } else { args };
        // The average of what is known to have so many digits keeps more than it shows.
        let name = match args.as_slice() {
            [(arg, _)] if name == "avg" && self.mysql_scale(arg).is_some() => "mysql_exact_avg",
            _ => name,
        };
        let Some(mut candidate) = self.mysql_candidate(name, &args, wanted) else { return Ok(Err(Miss::None)) };
        if let Some(kept) = kept {
            let of_values = candidate.args.iter_mut().enumerate().filter(|(at, _)| *at != 1);
            of_values.for_each(|(_, ty)| *ty = kept.clone());
            candidate.result = kept;
        } else if let Some((value, _)) = args.first().filter(|(arg, _)| {
            // It has as many digits behind the point, or is a YEAR or bits, too.
            OF_ONE.contains(&name)
                && (fraction_digits(&arg.ty) > 0
                    || moment_digits(&arg.ty).is_some()
                    || scale(&arg.ty).is_some()
                    || own_words(&arg.ty).is_some_and(|words| words == "year" || words.starts_with("bit(")))
        }) {
            candidate.result = value.ty.clone();
        }
        let mut converted = Vec::with_capacity(args.len());
        for ((arg, at), wanted) in args.into_iter().zip(&candidate.args) {
            converted.push((self.mysql_argument(arg, wanted, at)?, at));
        }
        Ok(Ok((candidate, converted)))
    }

    /// LIKE.
    pub(in crate::postgres) fn mysql_like(
        &mut self,
        negated: bool,
        text: Placed,
        pattern: Placed,
        escape: Option<Placed>,
    ) -> Result<Expr> {
        let by_bytes = [&text.0.ty, &pattern.0.ty].into_iter().any(|ty| class(ty) == Class::Bytes);
        let escape = match escape {
            Some(escape) => escape,
            None => (Expr::text("\\"), -1),
        };
        let mut args = Vec::with_capacity(3);
        for (arg, at) in [text, pattern, escape] {
            args.push((self.coerce(arg, &Type::Text, CastContext::Implicit, at)?, at));
        }
        let name = if by_bytes { "mysql_like_binary" } else { "mysql_like" };
        let found = self.mysql_call_of(name, args)?;
        Ok(if negated { Expr::new(ExprKind::Not(Box::new(found)), Type::Bool) } else { found })
    }
}
