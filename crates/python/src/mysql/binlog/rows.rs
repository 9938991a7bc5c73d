use std::collections::HashMap;
use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rowferry_wire::{Malformed, civil};
use rowferry_wire_mysql::binlog::gtid::uuid_text;
use rowferry_wire_mysql::binlog::json::Json;
use rowferry_wire_mysql::binlog::json_diff;
use rowferry_wire_mysql::binlog::rows::{Cell, Change, RowsEvent, json_columns};
use rowferry_wire_mysql::binlog::table::{Column, TableMap};
use rowferry_wire_mysql::binlog::value::{Layout, Value, expand};
use rowferry_wire_mysql::messages::resultset::DateTime;
use rowferry_wire_mysql::types::{CHARSET_BINARY, ColumnType};

use crate::cells::{self, Object};
use crate::errors::{Class, error};
use crate::mysql::columns::{ZeroDates, timedelta};
use crate::mysql::driver::client_errno;
use crate::mysql::spelling::{date_text, datetime_text, float_text, is_date};

/// What values should look like.
#[derive(Clone, Debug, Default)]
pub struct Taste {
    pub zero_dates: ZeroDates,
    /// Python's codec by collation; `None` for UTF-8.
    pub codecs: HashMap<u32, Option<CString>>,
    /// Seconds that TIMESTAMPs are shown later than UTC.
    pub utc_offset: i32,
}

/// A column as information_schema describes it.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Described {
    name: String,
    /// `DATA_TYPE`, in lower case.
    data_type: String,
    is_unsigned: bool,
    /// The collation's number; 63 for bytes.
    collation: Option<u32>,
    /// ENUM and SET.
    members: Option<Vec<String>>,
}

/// True when the log does not tell all that is needed to read a table's rows as SELECT would.
pub fn lacks(map: &TableMap, is_mariadb: bool) -> bool {
    map.columns.iter().any(|column| {
        // MariaDB never tells that bytes are a UUID or an address.
        let may_be_special = is_mariadb
            && column.column_type == ColumnType::STRING
            && matches!(column.metadata, 4 | 16)
            && column.collation == Some(u32::from(CHARSET_BINARY));
        column.name.is_none() || may_be_special
    })
}

/// What text of a column becomes.
#[derive(Debug)]
enum Kind {
    Bytes,
    /// In UTF-8.
    Text,
    Encoded(CString),
    /// In MySQL's latin1.
    Latin1,
    /// Members by their number; without them the number itself.
    List(Option<Vec<String>>),
    /// MariaDB's types that are stored as bytes and shown as text.
    Uuid,
    Inet4,
    Inet6,
    /// By the layout alone.
    Plain,
}

/// How to read the rows of a table.
pub struct RowPlan {
    pub map: Arc<TableMap>,
    pub layouts: Vec<Layout>,
    pub json: Vec<bool>,
    kinds: Vec<Kind>,
    pub names: Vec<Py<PyString>>,
    pub columns: Vec<Column>,
    /// What events show of it, once one does.
    pub table: PyOnceLock<Py<PyAny>>,
    pub zero_dates: ZeroDates,
    utc_offset: i32,
}

impl RowPlan {
    /// `described` fills what the log leaves out; what does not fit the log is left aside.
    pub fn new(py: Python<'_>, map: &Arc<TableMap>, described: &[Described], taste: &Taste) -> PyResult<Self> {
        let fits = described.len() == map.columns.len()
            && described
                .iter()
                .zip(&map.columns)
                .all(|(told, column)| is_stored_as(&told.data_type, column.column_type));
        let mut columns = map.columns.clone();
        let mut kinds = Vec::with_capacity(columns.len());
        let mut names: Vec<Py<PyString>> = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter_mut().enumerate() {
            let told = described.get(at).filter(|_| fits);
            let mut special = None;
            if let Some(told) = told {
                column.name.get_or_insert_with(|| told.name.clone());
                column.is_unsigned.get_or_insert(told.is_unsigned);
                special = match told.data_type.as_str() {
                    "uuid" => Some(Kind::Uuid),
                    "inet4" => Some(Kind::Inet4),
                    "inet6" => Some(Kind::Inet6),
                    _ => None,
                };
                if column.collation.is_none() {
                    column.collation = told.collation;
                }
                if column.members.is_none() {
                    let members = told.members.as_ref();
                    column.members = members.map(|all| all.iter().map(|each| each.clone().into_bytes()).collect());
                    // information_schema speaks UTF-8, whatever the column does.
                    if column.members.is_some() {
                        special = Some(Kind::List(members.cloned()));
                    }
                }
            }
            let name = column.name.clone().unwrap_or_else(|| format!("UNKNOWN_COL{at}"));
            names.push(PyString::intern(py, &name).unbind());
            kinds.push(match special {
                Some(kind) => kind,
                None => Kind::of(py, column, taste)?,
            });
        }
        let layouts = columns.iter().map(Layout::of).collect::<Result<Vec<_>, _>>();
        let layouts = layouts.map_err(|failure| malformed(py, map, failure))?;
        let json = json_columns(map);
        let (zero_dates, utc_offset) = (taste.zero_dates, taste.utc_offset);
        let table = PyOnceLock::new();
        Ok(Self { map: map.clone(), layouts, json, kinds, names, columns, table, zero_dates, utc_offset })
    }
}

impl RowPlan {
    /// True when values of the column are bytes.
    pub fn is_bytes(&self, at: usize) -> bool {
        matches!(self.kinds.get(at), Some(Kind::Bytes))
    }

    /// True when values of the column stand in the log as they are shown.
    pub fn is_plain(&self, at: usize) -> bool {
        matches!(self.kinds.get(at), Some(Kind::Bytes | Kind::Text))
    }

    /// The members of an ENUM or SET.
    pub fn members(&self, at: usize) -> Option<Vec<String>> {
        match self.kinds.get(at) {
            Some(Kind::List(members)) => members.clone(),
            _ => None,
        }
    }
}

/// Whether a type of information_schema can be what the log says.
fn is_stored_as(data_type: &str, column_type: ColumnType) -> bool {
    match data_type {
        "tinyint" => column_type == ColumnType::TINY,
        "smallint" => column_type == ColumnType::SHORT,
        "mediumint" => column_type == ColumnType::INT24,
        "int" => column_type == ColumnType::LONG,
        "bigint" => column_type == ColumnType::LONGLONG,
        "float" => column_type == ColumnType::FLOAT,
        "double" => column_type == ColumnType::DOUBLE,
        "decimal" => column_type == ColumnType::NEWDECIMAL,
        "year" => column_type == ColumnType::YEAR,
        "bit" => column_type == ColumnType::BIT,
        "enum" => column_type == ColumnType::ENUM,
        "set" => column_type == ColumnType::SET,
        "date" => matches!(column_type, ColumnType::DATE | ColumnType::NEWDATE),
        "time" => matches!(column_type, ColumnType::TIME | ColumnType::TIME2),
        "datetime" => matches!(column_type, ColumnType::DATETIME | ColumnType::DATETIME2),
        "timestamp" => matches!(column_type, ColumnType::TIMESTAMP | ColumnType::TIMESTAMP2),
        "uuid" | "inet4" | "inet6" | "char" | "binary" => column_type == ColumnType::STRING,
        _ => !matches!(
            column_type,
            ColumnType::TINY
                | ColumnType::SHORT
                | ColumnType::INT24
                | ColumnType::LONG
                | ColumnType::LONGLONG
                | ColumnType::FLOAT
                | ColumnType::DOUBLE
                | ColumnType::NEWDECIMAL
        ),
    }
}

impl Kind {
    fn of(py: Python<'_>, column: &Column, taste: &Taste) -> PyResult<Self> {
        Ok(match column.column_type {
            ColumnType::ENUM | ColumnType::SET => {
                let decoded = column.members.as_ref().map(|members| -> PyResult<Vec<String>> {
                    members.iter().map(|member| decoded(py, member, column.collation, taste)).collect()
                });
                Self::List(decoded.transpose()?)
            }
            ColumnType::GEOMETRY | ColumnType::VECTOR => Self::Bytes,
            ColumnType::STRING
            | ColumnType::VAR_STRING
            | ColumnType::VARCHAR
            | ColumnType::TINY_BLOB
            | ColumnType::BLOB
            | ColumnType::MEDIUM_BLOB
            | ColumnType::LONG_BLOB
            | rowferry_wire_mysql::binlog::table::BLOB_COMPRESSED
            | rowferry_wire_mysql::binlog::table::VARCHAR_COMPRESSED => match column.collation {
                // Nothing is known of it, and bytes are never wrong.
                None => Self::Bytes,
                Some(collation) if collation == u32::from(CHARSET_BINARY) => Self::Bytes,
                Some(collation) => match taste.codecs.get(&collation) {
                    Some(None) => Self::Text,
                    Some(Some(codec)) if codec.as_bytes() == b"cp1252" => Self::Latin1,
                    Some(Some(codec)) => Self::Encoded(codec.clone()),
                    None => Self::Bytes,
                },
            },
            _ => Self::Plain,
        })
    }
}

fn decoded(py: Python<'_>, bytes: &[u8], collation: Option<u32>, taste: &Taste) -> PyResult<String> {
    match collation.and_then(|collation| taste.codecs.get(&collation)) {
        Some(Some(codec)) => {
            // SAFETY: the GIL is held; the object is new and ours.
            let text = unsafe { Bound::from_owned_ptr_or_err(py, cells::encoded_text(bytes, codec)) }?;
            text.extract()
        }
        _ => Ok(String::from_utf8_lossy(bytes).into_owned()),
    }
}

pub fn malformed(py: Python<'_>, map: &TableMap, failure: Malformed) -> PyErr {
    let message = format!("binary log, table {}.{}: {failure}", map.schema, map.table);
    error(py, Class::Operational, Some(client_errno::MALFORMED), &message)
}

/// Why an image was not built.
enum Refused {
    Malformed(Malformed),
    /// A Python exception is set.
    Raised,
}

impl From<Malformed> for Refused {
    fn from(failure: Malformed) -> Self {
        Self::Malformed(failure)
    }
}

/// The rows of an event. They are decoded when they are asked for.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct BinlogRows {
    pub event: RowsEvent,
    pub plan: Arc<RowPlan>,
}

/// What becomes of an image.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Tuples,
    Dicts,
}

impl BinlogRows {
    pub const fn new(event: RowsEvent, plan: Arc<RowPlan>) -> Self {
        Self { event, plan }
    }

    fn refused(&self, py: Python<'_>, refused: Refused) -> PyErr {
        match refused {
            Refused::Malformed(failure) => malformed(py, &self.plan.map, failure),
            Refused::Raised => PyErr::fetch(py),
        }
    }

    /// Calls `take` with the images of each row: before and after, null where there is none. References are `take`'s.
    fn each(&self, py: Python<'_>, shape: Shape, mut take: impl FnMut(Object, Object) -> PyResult<()>) -> PyResult<()> {
        let plan = &self.plan;
        let images = self.event.images(&plan.layouts, &plan.json);
        let mut images = images.map_err(|failure| malformed(py, &plan.map, failure))?;
        let absent = absent(py)?;
        let mut documents: Vec<Option<&[u8]>> = vec![None; if self.event.is_partial { plan.kinds.len() } else { 0 }];
        while !images.is_at_end() {
            let mut both = [ptr::null_mut(); 2];
            for is_after in [false, true] {
                let is_there = match self.event.change {
                    Change::Write => is_after,
                    Change::Delete => !is_after,
                    Change::Update => true,
                };
                if !is_there {
                    continue;
                }
                let image = plan.image(shape, absent, &mut documents, |take| images.image(is_after, take));
                match image {
                    Ok(image) => both[usize::from(is_after)] = image,
                    Err(refused) => {
                        // SAFETY: ours, or null.
                        unsafe { ffi::Py_XDECREF(both[0]) };
                        return Err(self.refused(py, refused));
                    }
                }
            }
            take(both[0], both[1])?;
        }
        Ok(())
    }
}

/// What stands for a column that is not in an image.
fn absent(py: Python<'_>) -> PyResult<&Py<PyAny>> {
    static ABSENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    ABSENT.get_or_try_init(py, || Ok(py.import("rowferry.mysql.events")?.getattr("ABSENT")?.unbind()))
}

fn diffs_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static DIFF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = DIFF.get_or_try_init(py, || -> PyResult<_> {
        Ok(py.import("rowferry.mysql.events")?.getattr("JsonDiff")?.unbind())
    })?;
    Ok(class.bind(py))
}

fn partial_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static PARTIAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = PARTIAL.get_or_try_init(py, || -> PyResult<_> {
        Ok(py.import("rowferry.mysql.events")?.getattr("PartialJson")?.unbind())
    })?;
    Ok(class.bind(py))
}

/// The changes of a document as Python sees them.
fn diff_objects<'py>(py: Python<'py>, diffs: &[json_diff::JsonDiff<'_>]) -> PyResult<Bound<'py, PyTuple>> {
    let class = diffs_class(py)?;
    let mut objects = Vec::with_capacity(diffs.len());
    for diff in diffs {
        let value = diff.value.as_ref().map(Json::text).transpose();
        let value = value.map_err(|failure| {
            error(py, Class::Operational, Some(client_errno::MALFORMED), &format!("binary log: {failure}"))
        })?;
        objects.push(class.call1((diff.operation.name(), diff.path, value))?);
    }
    PyTuple::new(py, objects)
}

impl RowPlan {
    /// Builds an image out of what `walk` hands over.
    fn image<'a>(
        &self,
        shape: Shape,
        absent: &Py<PyAny>,
        documents: &mut [Option<&'a [u8]>],
        walk: impl FnOnce(&mut dyn FnMut(usize, Cell<'a>) -> Result<(), Refused>) -> Result<(), Refused>,
    ) -> Result<Object, Refused> {
        // SAFETY: the GIL is held by whoever builds objects; the container is new and nobody else has seen it, so its
        // places may be filled one by one. References are counted as the C API says.
        unsafe {
            let row = match shape {
                Shape::Tuples => ffi::PyTuple_New(self.layouts.len() as ffi::Py_ssize_t),
                Shape::Dicts => ffi::PyDict_New(),
            };
            if row.is_null() {
                return Err(Refused::Raised);
            }
            let mut put = |at: usize, cell: Cell<'a>| -> Result<(), Refused> {
                let object = match cell {
                    Cell::Absent if shape == Shape::Dicts => return Ok(()),
                    Cell::Absent => {
                        ffi::Py_INCREF(absent.as_ptr());
                        absent.as_ptr()
                    }
                    Cell::Value(Value::Json(document)) => {
                        if let Some(place) = documents.get_mut(at) {
                            *place = Some(document);
                        }
                        self.value(at, Value::Json(document))?
                    }
                    Cell::Value(value) => self.value(at, value)?,
                    Cell::Diffs(diffs) => changed(documents.get(at).copied().flatten(), diffs)?,
                };
                if object.is_null() {
                    return Err(Refused::Raised);
                }
                if shape == Shape::Tuples {
                    ffi::PyTuple_SET_ITEM(row, at as ffi::Py_ssize_t, object);
                    return Ok(());
                }
                let failed = ffi::PyDict_SetItem(row, self.names[at].as_ptr(), object) != 0;
                ffi::Py_DECREF(object);
                if failed { Err(Refused::Raised) } else { Ok(()) }
            };
            match walk(&mut put) {
                Ok(()) => Ok(row),
                Err(refused) => {
                    ffi::Py_DECREF(row);
                    Err(refused)
                }
            }
        }
    }

    /// The object of a value; null with an exception set.
    #[inline]
    pub fn value(&self, at: usize, value: Value<'_>) -> Result<Object, Malformed> {
        Ok(match value {
            Value::Int(value) => cells::int(value),
            Value::Unsigned(value) => cells::uint(value),
            Value::Null => cells::none(),
            Value::Bytes(bytes) => self.bytes(at, bytes),
            Value::Decimal(number) => cells::decimal(number.as_bytes()),
            Value::Double(value) => cells::float(value),
            // As SELECT answers it: six digits.
            Value::Float(value) => {
                cells::float(float_text(value, NOT_FIXED).parse().unwrap_or_else(|_| f64::from(value)))
            }
            Value::DateTime(value, decimals) => self.datetime(value, decimals),
            Value::Timestamp(seconds, microseconds, decimals) => {
                self.datetime(self.moment(seconds, microseconds), decimals)
            }
            Value::Date(value) if is_date(value) => cells::date(i32::from(value.year), value.month, value.day),
            Value::Date(value) => self.no_date(&date_text(value)),
            Value::Time(value) => timedelta(value),
            Value::Year(year) => cells::int(i64::from(year)),
            Value::Bits(bits) => cells::bytes(bits),
            Value::Enum(number) => self.member(at, number),
            Value::Set(bits) => self.set(at, bits),
            Value::Padded(bytes, size) => {
                let mut padded = bytes.to_vec();
                padded.resize(size, 0);
                self.bytes(at, &padded)
            }
            Value::Compressed(bytes) => self.bytes(at, &expand(bytes)?),
            Value::Json(document) => cells::text(Json::decode(document)?.text()?.as_bytes()),
        })
    }

    #[inline]
    fn bytes(&self, at: usize, bytes: &[u8]) -> Object {
        match &self.kinds[at] {
            Kind::Text => cells::text(bytes),
            Kind::Encoded(codec) => cells::encoded_text(bytes, codec),
            Kind::Latin1 if bytes.is_ascii() => cells::text(bytes),
            Kind::Latin1 => cells::text(latin1_text(bytes).as_bytes()),
            Kind::Uuid => special(bytes, |bytes: [u8; 16]| uuid_text(&bytes)),
            Kind::Inet4 => special(bytes, |bytes: [u8; 4]| std::net::Ipv4Addr::from(bytes).to_string()),
            Kind::Inet6 => special(bytes, |bytes: [u8; 16]| inet6_text(bytes)),
            _ => cells::bytes(bytes),
        }
    }

    fn member(&self, at: usize, number: u16) -> Object {
        let Kind::List(Some(members)) = &self.kinds[at] else { return cells::int(i64::from(number)) };
        match usize::from(number).checked_sub(1) {
            None => cells::text(b""),
            Some(place) => match members.get(place) {
                Some(member) => cells::text(member.as_bytes()),
                None => cells::int(i64::from(number)),
            },
        }
    }

    fn set(&self, at: usize, bits: u64) -> Object {
        let Kind::List(Some(members)) = &self.kinds[at] else { return cells::uint(bits) };
        let chosen: Vec<&str> = (0..64)
            .filter(|place| bits & (1 << place) != 0)
            .filter_map(|place| members.get(place as usize).map(String::as_str))
            .collect();
        cells::text(chosen.join(",").as_bytes())
    }

    /// The zero moment is none of 1970.
    pub fn moment(&self, seconds: u32, microsecond: u32) -> DateTime {
        if seconds == 0 && microsecond == 0 {
            return DateTime::default();
        }
        let seconds = i64::from(seconds) + i64::from(self.utc_offset);
        let (year, month, day) = civil::civil_from_days(seconds.div_euclid(86_400));
        let of_day = seconds.rem_euclid(86_400);
        DateTime {
            year: year as u16,
            month,
            day,
            hour: (of_day / 3_600) as u8,
            minute: (of_day / 60 % 60) as u8,
            second: (of_day % 60) as u8,
            microsecond,
        }
    }

    #[inline]
    fn datetime(&self, value: DateTime, decimals: u8) -> Object {
        let DateTime { year, month, day, hour, minute, second, microsecond } = value;
        if is_date(value) && hour < 24 && minute < 60 && second < 60 && microsecond < 1_000_000 {
            cells::datetime(i32::from(year), month, day, hour, minute, second, microsecond)
        } else {
            self.no_date(&datetime_text(value, decimals))
        }
    }

    #[cold]
    fn no_date(&self, text: &[u8]) -> Object {
        match self.zero_dates {
            ZeroDates::Text => cells::text(text),
            ZeroDates::Null => cells::none(),
            ZeroDates::Refuse => {
                // SAFETY: cells are built with the GIL held.
                let py = unsafe { Python::assume_attached() };
                let message = format!("`{}` is no date of the calendar", String::from_utf8_lossy(text));
                error(py, Class::Data, None, &message).restore(py);
                ptr::null_mut()
            }
        }
    }
}

/// `decimals` of columns whose number of decimals is not fixed.
pub const NOT_FIXED: u8 = 31;

/// Bytes of a fixed size, which the log cuts zeros off from.
fn special<const N: usize>(bytes: &[u8], text: impl Fn([u8; N]) -> String) -> Object {
    let mut all = [0; N];
    match all.get_mut(..bytes.len()) {
        Some(head) => head.copy_from_slice(bytes),
        None => return cells::bytes(bytes),
    }
    cells::text(text(all).as_bytes())
}

/// MySQL's latin1 is Windows' code page 1252, but knows a character for each byte: Python's codec refuses five.
fn latin1_text(bytes: &[u8]) -> String {
    const HIGH: [char; 32] = [
        '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
        '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}',
        '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}',
        '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
    ];
    let character = |byte: &u8| match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        other => char::from(*other),
    };
    bytes.iter().map(character).collect()
}

/// As the server spells it: an IPv4 address inside is shown as such.
fn inet6_text(bytes: [u8; 16]) -> String {
    std::net::Ipv6Addr::from(bytes).to_string()
}

/// The document after its changes; the changes themselves when the document before is not known.
fn changed(document: Option<&[u8]>, diffs: Vec<json_diff::JsonDiff<'_>>) -> Result<Object, Refused> {
    // SAFETY: objects are built with the GIL held.
    let py = unsafe { Python::assume_attached() };
    let Some(document) = document else {
        let object = diff_objects(py, &diffs).and_then(|diffs| partial_class(py)?.call1((diffs,)));
        return object.map(|object| object.unbind().into_ptr()).map_err(|failure| {
            failure.restore(py);
            Refused::Raised
        });
    };
    let mut json = Json::decode(document)?;
    json_diff::apply(&mut json, diffs)?;
    Ok(cells::text(json.text()?.as_bytes()))
}

/// The list that `append` fills.
fn list_of(
    py: Python<'_>,
    fill: impl FnOnce(&mut dyn FnMut(Object) -> PyResult<()>) -> PyResult<()>,
) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    fill(&mut |object| {
        // SAFETY: the reference is ours, and not null.
        let object = unsafe { Bound::from_owned_ptr_or_err(py, object) }?;
        list.append(object)
    })?;
    Ok(list.unbind())
}

#[pymethods]
impl BinlogRows {
    /// Pairs of images, before and after; None where there is none. As tuples with ABSENT for columns that are not in
    /// the image, or as dicts without them.
    #[pyo3(signature = (as_dict=true))]
    fn pairs(&self, py: Python<'_>, as_dict: bool) -> PyResult<Py<PyList>> {
        let shape = if as_dict { Shape::Dicts } else { Shape::Tuples };
        list_of(py, |append| {
            self.each(py, shape, |before, after| {
                let some = |object: Object| if object.is_null() { cells::none() } else { object };
                let mut both = [some(before), some(after)];
                append(cells::tuple(2, false, |at| std::mem::replace(&mut both[at], ptr::null_mut())))
            })
        })
    }

    /// The images of one side only.
    #[pyo3(signature = (after, as_dict=true))]
    fn images(&self, py: Python<'_>, after: bool, as_dict: bool) -> PyResult<Py<PyList>> {
        let shape = if as_dict { Shape::Dicts } else { Shape::Tuples };
        list_of(py, |append| {
            self.each(py, shape, |before, now| {
                let (wanted, other) = if after { (now, before) } else { (before, now) };
                // SAFETY: ours, or null.
                unsafe { ffi::Py_XDECREF(other) };
                if wanted.is_null() { Ok(()) } else { append(wanted) }
            })
        })
    }

    /// Rows as python-mysql-replication and asyncmy have them: dicts with `values`, or `before_values` and
    /// `after_values`.
    fn peers(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        let list = PyList::empty(py);
        self.each(py, Shape::Dicts, |before, after| {
            // SAFETY: the references are ours, or null.
            let [before, after] = [before, after].map(|object| unsafe { Bound::from_owned_ptr_or_opt(py, object) });
            let row = PyDict::new(py);
            match (before, after) {
                (Some(before), Some(after)) => {
                    row.set_item(pyo3::intern!(py, "before_values"), before)?;
                    row.set_item(pyo3::intern!(py, "after_values"), after)?;
                }
                (before, after) => row.set_item(pyo3::intern!(py, "values"), before.or(after))?,
            }
            list.append(row)
        })?;
        Ok(list.unbind())
    }

    /// For each row a dict of the JSON columns that the log tells the changes of.
    fn json_diffs(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        let plan = &self.plan;
        let list = PyList::empty(py);
        let images = self.event.images(&plan.layouts, &plan.json);
        let mut images = images.map_err(|failure| malformed(py, &plan.map, failure))?;
        let mut is_after = self.event.change == Change::Write;
        while !images.is_at_end() {
            let found = PyDict::new(py);
            let walked = images.image::<Refused>(is_after, |at, cell| {
                let Cell::Diffs(diffs) = cell else { return Ok(()) };
                let put = diff_objects(py, &diffs).and_then(|diffs| found.set_item(&plan.names[at], diffs));
                put.map_err(|failure| {
                    failure.restore(py);
                    Refused::Raised
                })
            });
            walked.map_err(|refused| self.refused(py, refused))?;
            if is_after || self.event.change != Change::Update {
                list.append(found)?;
            }
            is_after ^= self.event.change == Change::Update;
        }
        Ok(list.unbind())
    }

    /// How many rows.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let plan = &self.plan;
        let images = self.event.images(&plan.layouts, &plan.json);
        let mut images = images.map_err(|failure| malformed(py, &plan.map, failure))?;
        let mut count = 0;
        let mut is_after = self.event.change == Change::Write;
        while !images.is_at_end() {
            images.image::<Refused>(is_after, |_, _| Ok(())).map_err(|refused| self.refused(py, refused))?;
            is_after ^= self.event.change == Change::Update;
            count += 1;
        }
        Ok(if self.event.change == Change::Update { count / 2 } else { count })
    }

    /// The names of the columns that are in the images of one side.
    fn present(&self, py: Python<'_>, after: bool) -> PyResult<Py<PyTuple>> {
        let event = &self.event;
        let names = self.plan.names.iter().enumerate().filter(|(at, _)| match after {
            true => event.is_in_after(*at),
            false => event.is_in_before(*at),
        });
        let names: Vec<_> = names.map(|(_, name)| name.clone_ref(py)).collect();
        Ok(PyTuple::new(py, names)?.unbind())
    }
}
