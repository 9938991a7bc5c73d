//! From Python objects to SQL literals and to parameters of prepared statements.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateAccess, PyDateTime, PyDelta, PyDeltaAccess, PyDict, PyFloat,
    PyFrozenSet, PyInt, PyList, PySet, PyString, PyTime, PyTimeAccess, PyTuple, PyType, PyTzInfo, PyTzInfoAccess,
};
use rowferry_client::mysql::{Piece, Template};
use rowferry_wire_mysql::messages::resultset::{DateTime, Time};
use rowferry_wire_mysql::messages::statement::Bind;

use crate::errors::{Class, error};

/// How text becomes bytes, and what the server makes of quotes.
#[derive(Debug, Default)]
pub struct Encoding {
    /// Python's name of the connection's character set; `None` for UTF-8.
    pub name: Option<String>,
    /// The SQL mode NO_BACKSLASH_ESCAPES is on.
    pub no_backslash_escapes: bool,
    /// Mark bytes as `_binary`.
    pub binary_prefix: bool,
    /// Functions of the caller by type: `f(value, mapping) -> SQL literal`.
    pub encoders: Option<Py<PyDict>>,
    /// Makes JSON of dicts and lists.
    pub dumps: Option<Py<PyAny>>,
    /// Sets are values of SET columns.
    pub sets: bool,
    /// The session's time zone, where it is known.
    pub zone: Option<Py<PyAny>>,
}

/// A Python object, recognised.
enum Value<'a, 'py> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 signed bits, spelled out.
    BigInt(String),
    Float(f64),
    /// An exact number, spelled out.
    Decimal(String),
    Text(&'a Bound<'py, PyString>),
    /// Text made from the object.
    Spelled(String),
    Bytes(Bytes<'a>),
    Date(DateTime),
    DateTime(DateTime),
    /// With a time zone.
    Aware,
    Time(Time),
    /// What stands for an object of a rarer type.
    Other(Bound<'py, PyAny>),
}

enum Bytes<'a> {
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
}

impl Bytes<'_> {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, module, name)
}

fn classify<'a, 'py>(object: &'a Bound<'py, PyAny>) -> PyResult<Value<'a, 'py>> {
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static PLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static STRUCT_TIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if let Ok(value) = object.cast::<PyInt>() {
        return Ok(match value.extract::<i64>() {
            Ok(value) => Value::Int(value),
            // Subclasses may print as something else (enumerations do).
            Err(_) => Value::BigInt(py.get_type::<PyInt>().call1((value,))?.to_string()),
        });
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Value::Float(value.value()));
    }
    if let Ok(value) = object.cast::<PyDateTime>() {
        if value.get_tzinfo().is_some() {
            return Ok(Value::Aware);
        }
        // pandas' NaT is a datetime, and not equal to itself.
        if !value.is_exact_instance_of::<PyDateTime>() && value.ne(value)? {
            return Ok(Value::Null);
        }
        return Ok(Value::DateTime(DateTime {
            hour: value.get_hour(),
            minute: value.get_minute(),
            second: value.get_second(),
            microsecond: value.get_microsecond(),
            ..date_parts(value)
        }));
    }
    if let Ok(value) = object.cast::<PyDate>() {
        return Ok(Value::Date(date_parts(value)));
    }
    if let Ok(value) = object.cast::<PyBytes>() {
        return Ok(Value::Bytes(Bytes::Borrowed(value.as_bytes())));
    }
    if object.is_instance(class(py, &DECIMAL, "decimal", "Decimal")?)? {
        if !object.call_method0("is_finite")?.is_truthy()? {
            return Err(not_finite(py));
        }
        return Ok(Value::Decimal(object.call_method1("__format__", ("f",))?.extract()?));
    }
    if let Ok(value) = object.cast::<PyDelta>() {
        return duration(value).map(Value::Time);
    }
    if let Ok(value) = object.cast::<PyTime>() {
        if value.get_tzinfo().is_some() {
            let message = "a time of day with a time zone cannot be converted without a day: leave its zone out";
            return Err(error(py, Class::Programming, None, message));
        }
        return Ok(Value::Time(Time {
            hours: value.get_hour(),
            minutes: value.get_minute(),
            seconds: value.get_second(),
            microseconds: value.get_microsecond(),
            ..Time::default()
        }));
    }
    if let Ok(value) = object.cast::<PyByteArray>() {
        return Ok(Value::Bytes(Bytes::Owned(value.to_vec())));
    }
    if object.is_instance_of::<pyo3::types::PyMemoryView>() {
        return Ok(Value::Bytes(Bytes::Owned(object.call_method0("tobytes")?.extract()?)));
    }
    if object.is_instance(class(py, &STRUCT_TIME, "time", "struct_time")?)? {
        let field = |at: usize| object.get_item(at)?.extract::<u16>();
        return Ok(Value::DateTime(DateTime {
            year: field(0)?,
            month: field(1)? as u8,
            day: field(2)? as u8,
            hour: field(3)? as u8,
            minute: field(4)? as u8,
            second: field(5)? as u8,
            microsecond: 0,
        }));
    }
    if object.is_instance(class(py, &UUID, "uuid", "UUID")?)? {
        return Ok(Value::Spelled(object.str()?.to_string()));
    }
    let other = PLAIN.import(py, "rowferry.mysql._parameters", "plain")?.call1((object,))?;
    if !other.is(py.NotImplemented()) {
        return Ok(Value::Other(other));
    }
    let message = format!(
        "a parameter of type `{}` cannot be sent; convert it, or give `conv` a function for it",
        object.get_type().fully_qualified_name()?
    );
    Err(error(py, Class::Programming, None, &message))
}

fn date_parts(value: &impl PyDateAccess) -> DateTime {
    DateTime { year: value.get_year() as u16, month: value.get_month(), day: value.get_day(), ..DateTime::default() }
}

fn duration(value: &Bound<'_, PyDelta>) -> PyResult<Time> {
    let seconds = i64::from(value.get_days()) * 86_400 + i64::from(value.get_seconds());
    let total = seconds * 1_000_000 + i64::from(value.get_microseconds());
    let (negative, total) = (total < 0, total.unsigned_abs());
    let seconds = total / 1_000_000;
    Ok(Time {
        negative,
        days: (seconds / 86_400) as u32,
        hours: (seconds / 3_600 % 24) as u8,
        minutes: (seconds / 60 % 60) as u8,
        seconds: (seconds % 60) as u8,
        microseconds: (total % 1_000_000) as u32,
    })
}

fn put_date(out: &mut Vec<u8>, value: DateTime) {
    out.extend_from_slice(format!("{:04}-{:02}-{:02}", value.year, value.month, value.day).as_bytes());
}

fn put_time(out: &mut Vec<u8>, hours: u32, minutes: u8, seconds: u8, microseconds: u32) {
    out.extend_from_slice(format!("{hours:02}:{minutes:02}:{seconds:02}").as_bytes());
    if microseconds != 0 {
        out.extend_from_slice(format!(".{microseconds:06}").as_bytes());
    }
}

fn put_datetime(out: &mut Vec<u8>, value: DateTime) {
    put_date(out, value);
    out.push(b' ');
    put_time(out, u32::from(value.hour), value.minute, value.second, value.microsecond);
}

fn put_duration(out: &mut Vec<u8>, value: Time) {
    if value.negative {
        out.push(b'-');
    }
    put_time(
        out,
        value.days.saturating_mul(24) + u32::from(value.hours),
        value.minutes,
        value.seconds,
        value.microseconds,
    );
}

/// The bytes of a float as an SQL literal: always with an exponent, so that it is a DOUBLE and no DECIMAL.
fn put_float(py: Python<'_>, out: &mut Vec<u8>, value: f64) -> PyResult<()> {
    if !value.is_finite() {
        return Err(not_finite(py));
    }
    out.extend_from_slice(format!("{value:e}").as_bytes());
    Ok(())
}

/// TIME goes up to 838:59:59.
const LAST_HOUR: u32 = 838;

fn not_finite(py: Python<'_>) -> PyErr {
    error(py, Class::Programming, None, "MySQL has no infinite numbers and no NaN")
}

/// An aware datetime as a clock in `zone` shows it; an error when that is `None`.
fn without_zone<'py>(object: &Bound<'py, PyAny>, zone: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static IN_ZONE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    IN_ZONE.import(object.py(), "rowferry.mysql._parameters", "in_zone")?.call1((object, zone))
}

/// A value as the server spells it, in UTF-8 and without quotes.
pub fn spell(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let mut out = Vec::new();
    match classify(object)? {
        Value::Null => {}
        Value::Bool(value) => out.push(if value { b'1' } else { b'0' }),
        Value::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::BigInt(text) | Value::Decimal(text) | Value::Spelled(text) => out.extend_from_slice(text.as_bytes()),
        Value::Float(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::Text(text) => out.extend_from_slice(text.to_str()?.as_bytes()),
        Value::Bytes(bytes) => out.extend_from_slice(bytes.as_slice()),
        Value::Date(value) => put_date(&mut out, value),
        Value::DateTime(value) => put_datetime(&mut out, value),
        Value::Aware => return spell(&without_zone(object, PyTzInfo::utc(object.py())?.as_any())?),
        Value::Time(value) => put_duration(&mut out, value),
        Value::Other(other) => return spell(&other),
    }
    Ok(out)
}

impl Encoding {
    /// A second one of the same.
    pub fn share(&self, py: Python<'_>) -> Self {
        Self {
            name: self.name.clone(),
            encoders: self.encoders.as_ref().map(|encoders| encoders.clone_ref(py)),
            dumps: self.dumps.as_ref().map(|dumps| dumps.clone_ref(py)),
            zone: self.zone.as_ref().map(|zone| zone.clone_ref(py)),
            ..*self
        }
    }

    /// Text that stands for a collection: JSON, or the value of a SET.
    fn collection(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        if let Some(dumps) = &self.dumps
            && (object.is_instance_of::<PyDict>() || object.is_instance_of::<PyList>())
        {
            return dumps.bind(object.py()).call1((object,))?.extract().map(Some);
        }
        if self.sets && (object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>()) {
            let members = object.try_iter()?.map(|member| member?.extract()).collect::<PyResult<Vec<String>>>()?;
            return Ok(Some(members.join(",")));
        }
        Ok(None)
    }

    /// An aware datetime on the session's clock.
    fn on_clock<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match &self.zone {
            Some(zone) => without_zone(object, zone.bind(object.py())),
            None => without_zone(object, object.py().None().bind(object.py())),
        }
    }

    /// Text in the connection's character set.
    pub fn encode<'a>(&self, text: &'a Bound<'_, PyString>) -> PyResult<std::borrow::Cow<'a, [u8]>> {
        match &self.name {
            None => Ok(text.to_str()?.as_bytes().into()),
            Some(name) => {
                let bytes = text.call_method1("encode", (name,))?.cast_into::<PyBytes>()?;
                Ok(bytes.as_bytes().to_vec().into())
            }
        }
    }

    /// SQL in the connection's character set, and its placeholders. They are found among characters, not bytes: the
    /// second byte of a character may look like a backslash or a backquote.
    pub fn template(&self, sql: &Bound<'_, PyString>) -> PyResult<(Vec<u8>, Template)> {
        let py = sql.py();
        let text = sql.to_str()?;
        let mut template = Template::parse(text.as_bytes(), !self.no_backslash_escapes)
            .map_err(|invalid| error(py, Class::Programming, None, &invalid.to_string()))?;
        let mut bytes = Vec::with_capacity(text.len());
        for piece in &mut template.pieces {
            let (range, encoded) = match piece {
                Piece::Text(range) => (range, true),
                // Only looked up, never sent.
                Piece::Named { name, .. } => (name, false),
                Piece::Percent | Piece::Next { .. } => continue,
            };
            let start = bytes.len();
            match text.get(range.clone()) {
                Some(part) if encoded => bytes.extend_from_slice(&self.encode(&PyString::new(py, part))?),
                part => bytes.extend_from_slice(part.unwrap_or_default().as_bytes()),
            }
            *range = start..bytes.len();
        }
        Ok((bytes, template))
    }

    /// Puts a backslash before what would end a literal, or doubles quotes where backslashes are ordinary.
    pub fn put_escaped(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        let mut rest = bytes;
        let special = |byte: &u8| {
            if self.no_backslash_escapes {
                *byte == b'\''
            } else {
                matches!(byte, b'\'' | b'"' | b'\\' | 0 | b'\n' | b'\r' | 0x1a)
            }
        };
        while let Some(at) = rest.iter().position(special) {
            out.extend_from_slice(&rest[..at]);
            match rest[at] {
                byte if self.no_backslash_escapes => out.extend_from_slice(&[byte, byte]),
                0 => out.extend_from_slice(b"\\0"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                0x1a => out.extend_from_slice(b"\\Z"),
                byte => out.extend_from_slice(&[b'\\', byte]),
            }
            rest = &rest[at + 1..];
        }
        out.extend_from_slice(rest);
    }

    fn put_quoted(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        out.reserve(bytes.len() + 2);
        out.push(b'\'');
        self.put_escaped(out, bytes);
        out.push(b'\'');
    }

    fn put_bytes(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        if self.name.is_some() {
            // In other character sets a byte may swallow the quote behind it; hexadecimal has no quotes inside.
            out.extend_from_slice(b"x'");
            out.extend(bytes.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()));
            out.push(b'\'');
        } else {
            if self.binary_prefix && !ends_with_introducer(out) {
                out.extend_from_slice(b"_binary");
            }
            self.put_quoted(out, bytes);
        }
    }

    fn put_text(&self, out: &mut Vec<u8>, text: &Bound<'_, PyString>) -> PyResult<()> {
        match &self.name {
            None => self.put_quoted(out, text.to_str()?.as_bytes()),
            Some(name) => {
                // Escape characters, not bytes: the second byte of a character may look like a backslash.
                let mut escaped = Vec::new();
                self.put_quoted(&mut escaped, text.to_str()?.as_bytes());
                let escaped = PyString::new(text.py(), &String::from_utf8_lossy(&escaped));
                out.extend_from_slice(escaped.call_method1("encode", (name,))?.cast::<PyBytes>()?.as_bytes());
            }
        }
        Ok(())
    }

    /// The SQL literal of a value. True when it brings quotes of its own.
    pub fn put_literal(&self, out: &mut Vec<u8>, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = object.py();
        if let Some(encoders) = &self.encoders
            && let Some(encoder) = encoders.bind(py).get_item(object.get_type())?
        {
            let literal = encoder.call1((object, encoders))?;
            let literal = match literal.cast::<PyString>() {
                Ok(text) => self.encode(text)?.into_owned(),
                Err(_) => literal.extract::<Vec<u8>>()?,
            };
            out.extend_from_slice(&literal);
            return Ok(literal.contains(&b'\''));
        }
        if (self.dumps.is_some() || self.sets)
            && let Some(text) = self.collection(object)?
        {
            self.put_text(out, &PyString::new(py, &text))?;
            return Ok(true);
        }
        if let Some(items) = items(object) {
            // For `IN %s` and `NOT IN %s`. An empty list has no literal; a query without rows is one. (NULL) is not: nothing
            // is known to be out of it.
            let mut first = true;
            out.push(b'(');
            for item in items? {
                if !first {
                    out.push(b',');
                }
                first = false;
                self.put_literal(out, &item?)?;
            }
            if first {
                out.extend_from_slice(b"SELECT NULL FROM DUAL WHERE FALSE");
            }
            out.push(b')');
            return Ok(true);
        }
        match classify(object)? {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Value::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Value::BigInt(text) | Value::Decimal(text) => out.extend_from_slice(text.as_bytes()),
            Value::Float(value) => put_float(py, out, value)?,
            Value::Text(text) => {
                self.put_text(out, text)?;
                return Ok(true);
            }
            Value::Spelled(text) => {
                self.put_quoted(out, text.as_bytes());
                return Ok(true);
            }
            Value::Bytes(bytes) => {
                self.put_bytes(out, bytes.as_slice());
                return Ok(true);
            }
            Value::Date(value) => return Ok(quoted(out, |out| put_date(out, value))),
            Value::DateTime(value) => return Ok(quoted(out, |out| put_datetime(out, value))),
            Value::Aware => return self.put_literal(out, &self.on_clock(object)?),
            Value::Other(other) => return self.put_literal(out, &other),
            Value::Time(value) => return Ok(quoted(out, |out| put_duration(out, value))),
        }
        Ok(false)
    }

    /// SQL with `?` for each `%s`; `None` when it has other placeholders, or some inside quotes.
    pub fn question_marks(&self, sql: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyBytes>>> {
        let marked = self.mark(sql)?.filter(|(_, names)| names.is_empty());
        Ok(marked.map(|(marked, _)| PyBytes::new(sql.py(), &marked).unbind()))
    }

    /// SQL with `?` for each placeholder, and the names in their order, none for `%s`; `None` when both kinds are mixed,
    /// or one stands inside quotes.
    pub fn mark(&self, sql: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<u8>, Vec<String>)>> {
        let (bytes, template) = match sql.cast::<PyString>() {
            Ok(text) if self.name.is_some() => match self.template(text) {
                Ok(found) => found,
                Err(_) => return Ok(None),
            },
            other => {
                let bytes = match other {
                    Ok(text) => self.encode(text)?.into_owned(),
                    Err(_) => sql.extract::<Vec<u8>>()?,
                };
                let Ok(template) = Template::parse(&bytes, !self.no_backslash_escapes) else { return Ok(None) };
                (bytes, template)
            }
        };
        let (mut marked, mut names, mut params) = (Vec::with_capacity(bytes.len()), Vec::new(), 0);
        for piece in &template.pieces {
            match piece {
                Piece::Text(range) => marked.extend_from_slice(&bytes[range.clone()]),
                Piece::Percent => marked.push(b'%'),
                Piece::Next { quoted: false } => {
                    marked.push(b'?');
                    params += 1;
                }
                Piece::Named { name, quoted: false } => {
                    marked.push(b'?');
                    names.push(String::from_utf8_lossy(&bytes[name.clone()]).into_owned());
                }
                Piece::Next { quoted: true } | Piece::Named { quoted: true, .. } => return Ok(None),
            }
        }
        Ok((params == 0 || names.is_empty()).then_some((marked, names)))
    }

    /// Adds a value to those of an execution.
    pub fn bind(&self, params: &mut impl Bind, object: &Bound<'_, PyAny>) -> PyResult<()> {
        if (self.dumps.is_some() || self.sets)
            && let Some(text) = self.collection(object)?
        {
            params.text(&self.encode(&PyString::new(object.py(), &text))?);
            return Ok(());
        }
        match classify(object)? {
            Value::Null => params.null(),
            Value::Bool(value) => params.int(i64::from(value)),
            Value::Int(value) => params.int(value),
            Value::BigInt(text) => match text.parse::<u64>() {
                Ok(value) => params.uint(value),
                Err(_) => params.decimal(text.as_bytes()),
            },
            Value::Float(value) if !value.is_finite() => return Err(not_finite(object.py())),
            Value::Float(value) => params.double(value),
            Value::Decimal(text) => params.decimal(text.as_bytes()),
            Value::Text(text) => params.text(&self.encode(text)?),
            Value::Spelled(text) => params.text(text.as_bytes()),
            Value::Bytes(bytes) => params.bytes(bytes.as_slice()),
            Value::Date(value) => params.date(value),
            Value::DateTime(value) => params.datetime(value),
            // MySQL 9 refuses fractions in the last hour that it can hold, but not as text.
            Value::Time(value)
                if value.microseconds != 0 && value.days.saturating_mul(24) + u32::from(value.hours) >= LAST_HOUR =>
            {
                let mut text = Vec::new();
                put_duration(&mut text, value);
                params.text(&text);
            }
            Value::Time(value) => params.time(value),
            Value::Aware => return self.bind(params, &self.on_clock(object)?),
            Value::Other(other) => return self.bind(params, &other),
        }
        Ok(())
    }

    /// Fills a template in and appends the statement. `sql` is the text that `template` was parsed from.
    pub fn fill(&self, out: &mut Vec<u8>, sql: &[u8], template: &Template, args: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = args.py();
        let wrong = |message: &str| error(py, Class::Programming, None, message);
        let names = args.cast::<PyDict>().ok();
        let sequence = match (names, args.cast::<PyTuple>(), args.cast::<PyList>()) {
            (Some(_), ..) => None,
            (None, Ok(tuple), _) => Some(tuple.clone()),
            (None, _, Ok(list)) => Some(list.to_tuple()),
            // A single value that is no sequence.
            (None, ..) => Some(PyTuple::new(py, [args])?),
        };
        let mut used = 0;
        let value = |out: &mut Vec<u8>, object: &Bound<'_, PyAny>, quoted: bool| -> PyResult<()> {
            let brings_quotes = self.put_literal(out, object)?;
            if quoted && brings_quotes {
                return Err(wrong(
                    "a placeholder stands inside quotes or a comment: remove the quotes, the value brings its own",
                ));
            }
            Ok(())
        };
        for piece in &template.pieces {
            match piece {
                Piece::Text(range) => out.extend_from_slice(&sql[range.clone()]),
                Piece::Percent => out.push(b'%'),
                Piece::Next { quoted } => {
                    let sequence = sequence.as_ref().ok_or_else(|| {
                        wrong("the statement has `%s`, but the parameters are a dict: use `%(name)s`")
                    })?;
                    if used >= sequence.len() {
                        return Err(wrong("not enough arguments: the statement has more placeholders"));
                    }
                    value(out, &*sequence.get_borrowed_item(used)?, *quoted)?;
                    used += 1;
                }
                Piece::Named { name, quoted } => {
                    let names = names.ok_or_else(|| {
                        wrong("the statement has `%(name)s`, but the parameters are no dict: use `%s`")
                    })?;
                    let name = String::from_utf8_lossy(&sql[name.clone()]);
                    let object = match names.get_item(&*name)? {
                        Some(object) => Some(object),
                        // mysqlclient takes names in bytes beside SQL in bytes.
                        None => names.get_item(PyBytes::new(py, name.as_bytes()))?,
                    };
                    let object =
                        object.ok_or_else(|| wrong(&format!("the parameters have no value for `%({name})s`")))?;
                    value(out, &object, *quoted)?;
                }
            }
        }
        match sequence {
            Some(sequence) if used < sequence.len() => {
                let message = format!("too many arguments: {} placeholders, {} values", used, sequence.len());
                Err(wrong(&message))
            }
            _ => Ok(()),
        }
    }
}

fn quoted(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) -> bool {
    out.push(b'\'');
    put(out);
    out.push(b'\'');
    true
}

/// The items of a collection that stands for a parenthesised list.
fn items<'py>(object: &Bound<'py, PyAny>) -> Option<PyResult<Bound<'py, pyo3::types::PyIterator>>> {
    let is_collection = object.is_instance_of::<PyTuple>() && object.get_type().getattr("tm_year").is_err()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PySet>()
        || object.is_instance_of::<PyFrozenSet>();
    is_collection.then(|| object.try_iter())
}

/// A value as LOAD DATA reads it, by its own defaults: tabs and line ends escaped, NULL as `\N`.
fn put_field(out: &mut Vec<u8>, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let escaped = |out: &mut Vec<u8>, bytes: &[u8]| {
        for &byte in bytes {
            match byte {
                b'\\' | b'\t' | b'\n' => out.extend_from_slice(&[b'\\', byte]),
                0 => out.extend_from_slice(b"\\0"),
                _ => out.push(byte),
            }
        }
    };
    match classify(object)? {
        Value::Null => out.extend_from_slice(b"\\N"),
        Value::Bool(value) => out.push(if value { b'1' } else { b'0' }),
        Value::Int(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::BigInt(text) | Value::Decimal(text) => out.extend_from_slice(text.as_bytes()),
        Value::Float(value) => put_float(object.py(), out, value)?,
        Value::Text(text) => escaped(out, text.to_str()?.as_bytes()),
        Value::Spelled(text) => escaped(out, text.as_bytes()),
        Value::Bytes(bytes) => escaped(out, bytes.as_slice()),
        Value::Date(value) => put_date(out, value),
        Value::DateTime(value) => put_datetime(out, value),
        Value::Time(value) => put_duration(out, value),
        // The session is not asked: the zone is cut off with a warning.
        Value::Aware => {
            let none = object.py().None();
            return put_field(out, &without_zone(object, none.bind(object.py()))?);
        }
        Value::Other(other) => return put_field(out, &other),
    }
    Ok(())
}

/// Rows as lines that LOAD DATA reads by its own defaults; an error names its row.
#[pyfunction]
pub fn tab_separated<'py>(py: Python<'py>, rows: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut lines = Vec::new();
    for (at, row) in rows.try_iter()?.enumerate() {
        let mut first = true;
        for value in row?.try_iter()? {
            if !std::mem::take(&mut first) {
                lines.push(b'\t');
            }
            // The attribute is there on all of our classes; others go without.
            put_field(&mut lines, &value?).inspect_err(|wrong| drop(wrong.value(py).setattr("row", at)))?;
        }
        lines.push(b'\n');
    }
    Ok(PyBytes::new(py, &lines))
}

/// An exact number as rows have it, from its spelling: for tests of the ways to make one.
#[pyfunction]
pub fn decimal_from_text(py: Python<'_>, text: &[u8]) -> PyResult<Py<PyAny>> {
    // SAFETY: the function answers a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, crate::cells::decimal(text)) }.map(Bound::unbind)
}

/// Bytes of a literal with what would end it escaped, as `mysql_real_escape_string` does.
#[pyfunction]
#[pyo3(signature = (bytes, no_backslash_escapes=false))]
pub fn escape_bytes<'py>(py: Python<'py>, bytes: &[u8], no_backslash_escapes: bool) -> Bound<'py, PyBytes> {
    let mut escaped = Vec::with_capacity(bytes.len());
    Encoding { no_backslash_escapes, ..Encoding::default() }.put_escaped(&mut escaped, bytes);
    PyBytes::new(py, &escaped)
}

/// Whether a statement already says `_binary` of the literal to come, as Django writes it.
fn ends_with_introducer(sql: &[u8]) -> bool {
    const INTRODUCER: &[u8] = b"_binary";
    let Some((before, word)) = sql.trim_ascii_end().split_last_chunk::<{ INTRODUCER.len() }>() else { return false };
    let begins = before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"_$".contains(byte));
    begins && word.eq_ignore_ascii_case(INTRODUCER)
}
