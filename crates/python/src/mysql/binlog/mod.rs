//! The binary log: from the packets of a dump to Python's events.
//!
//! [`listen`] moves packets from a connection into a [`BinlogReader`], which outlives connections; [`events`] builds the
//! objects of `rowferry.mysql.events`, [`rows`] what is in their rows, [`arrow`] their columns.

mod arrow;
mod events;
mod listen;
mod rows;

use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyTuple};
use rowferry_wire_mysql::binlog::event::{Checksum, EventHeader};
use rowferry_wire_mysql::binlog::gtid::GtidSet;
use rowferry_wire_mysql::binlog::mariadb_gtid::MariadbPosition;
use rowferry_wire_mysql::binlog::reader::{Body, Event, Gtids, Interest, Position, Reader};
use rowferry_wire_mysql::binlog::table::TableMap;
use rowferry_wire_mysql::binlog::{Fault, event::EventType};

use super::columns::ZeroDates;
use super::driver::client_errno;
use crate::errors::{Class, error};

pub use arrow::BinlogToArrow;
pub use listen::{DumpRequest, dump, listen, register};
pub use rows::BinlogRows;
use rows::{Described, RowPlan, Taste};

/// What waits in memory before a listener goes on to hand it out.
const QUEUE_BYTES: usize = 1024 * 1024;

/// The state of a stream: what came and is not handed out, and how far the log is read.
#[pyclass(frozen, module = "rowferry._core.mysql")]
pub struct BinlogReader {
    inner: Mutex<Inner>,
}

struct Inner {
    reader: Reader,
    /// Packets that came.
    packets: VecDeque<Vec<u8>>,
    bytes: usize,
    /// What came behind the packets: an error of the server.
    failed: Option<PyErr>,
    /// The server has sent all of its log.
    ended: bool,
    /// Packets have a header of semi-synchronous replication.
    semi_sync: bool,
    /// The server wants to know that this place has arrived.
    acknowledge: Option<(String, u64)>,
    taste: Taste,
    /// What information_schema says of tables, by database and name.
    described: HashMap<(String, String), Vec<Described>>,
    plans: HashMap<(String, String), (Arc<TableMap>, Arc<RowPlan>)>,
    /// An event that waits for its table to be described.
    held: Option<Event>,
    /// Whether tables are to be described from outside.
    describes: bool,
    is_mariadb: bool,
}

impl BinlogReader {
    /// The state. Python runs while it is held, so whoever waits for it must let others run.
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Inner> {
        self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

fn fault(py: Python<'_>, fault: &Fault) -> PyErr {
    let class = if matches!(fault, Fault::Unsupported(_)) { Class::NotSupported } else { Class::Operational };
    error(py, class, Some(client_errno::MALFORMED), &fault.to_string())
}

fn wrong_gtids(py: Python<'_>, failure: &impl std::fmt::Display) -> PyErr {
    error(py, Class::Programming, None, &failure.to_string())
}

fn gtids_of(py: Python<'_>, is_mariadb: bool, text: Option<&str>) -> PyResult<Gtids> {
    Ok(match (text, is_mariadb) {
        (None, _) => Gtids::Unknown,
        (Some(text), true) => Gtids::Mariadb(text.parse().map_err(|failure| wrong_gtids(py, &failure))?),
        (Some(text), false) => Gtids::Mysql(text.parse().map_err(|failure| wrong_gtids(py, &failure))?),
    })
}

#[pymethods]
impl BinlogReader {
    /// `event_types`: type codes that are wanted; None for all. `zero_dates` as in the settings.
    #[new]
    #[allow(clippy::too_many_arguments, reason = "keywords, each a parameter of the stream")]
    #[pyo3(signature = (*, event_types, only_tables, only_schemas, ignored_tables, ignored_schemas, zero_dates, describes))]
    fn new(
        event_types: Option<Vec<u8>>,
        only_tables: Vec<String>,
        only_schemas: Vec<String>,
        ignored_tables: Vec<String>,
        ignored_schemas: Vec<String>,
        zero_dates: &str,
        describes: bool,
    ) -> Self {
        let mut interest = Interest {
            only_tables: only_tables.into_iter().collect(),
            only_schemas: only_schemas.into_iter().collect(),
            ignored_tables: ignored_tables.into_iter().collect(),
            ignored_schemas: ignored_schemas.into_iter().collect(),
            ..Interest::default()
        };
        if let Some(wanted) = event_types {
            interest.types = [false; 256];
            wanted.into_iter().for_each(|code| interest.types[usize::from(code)] = true);
        }
        let zero_dates = match zero_dates {
            "none" => ZeroDates::Null,
            "error" => ZeroDates::Refuse,
            _ => ZeroDates::Text,
        };
        let inner = Inner {
            reader: Reader::new(interest, Position::default(), Gtids::Unknown),
            packets: VecDeque::new(),
            bytes: 0,
            failed: None,
            ended: false,
            semi_sync: false,
            acknowledge: None,
            taste: Taste { zero_dates, ..Taste::default() },
            described: HashMap::new(),
            plans: HashMap::new(),
            held: None,
            describes,
            is_mariadb: false,
        };
        Self { inner: Mutex::new(inner) }
    }

    /// Where to begin: before the first connection.
    #[pyo3(signature = (file, offset, is_mariadb, gtids=None))]
    fn begin(&self, py: Python<'_>, file: String, offset: u64, is_mariadb: bool, gtids: Option<&str>) -> PyResult<()> {
        let gtids = gtids_of(py, is_mariadb, gtids)?;
        let mut inner = self.lock(py);
        inner.is_mariadb = is_mariadb;
        inner.reader.start_at(Position { file, offset }, gtids);
        Ok(())
    }

    /// A connection stands. `codecs`: Python's codec by collation; None for UTF-8. `utc_offset`: seconds to add to
    /// TIMESTAMPs.
    #[pyo3(signature = (*, checksums, semi_sync, codecs, utc_offset))]
    fn connected(
        &self,
        py: Python<'_>,
        checksums: bool,
        semi_sync: bool,
        codecs: HashMap<u32, Option<String>>,
        utc_offset: i32,
    ) -> PyResult<()> {
        let mut inner = self.lock(py);
        inner.reader.connected(if checksums { Checksum::Crc32 } else { Checksum::None });
        inner.semi_sync = semi_sync;
        inner.packets.clear();
        inner.bytes = 0;
        inner.failed = None;
        inner.ended = false;
        inner.held = None;
        inner.acknowledge = None;
        let mut by_collation = HashMap::with_capacity(codecs.len());
        for (collation, codec) in codecs {
            by_collation.insert(collation, codec.map(CString::new).transpose()?);
        }
        inner.taste.codecs = by_collation;
        inner.taste.utc_offset = utc_offset;
        inner.plans.clear();
        Ok(())
    }

    /// The next event; None when more packets must come first. A pair of database and table wants that to be described,
    /// and this to be called again.
    fn next_event(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.lock(py).next_event(py)
    }

    /// What information_schema says of a table: for each column a dict; None when it says nothing.
    #[pyo3(signature = (schema, table, columns))]
    fn describe(&self, py: Python<'_>, schema: String, table: String, columns: Option<Vec<Described>>) {
        let mut inner = self.lock(py);
        inner.plans.remove(&(schema.clone(), table.clone()));
        inner.described.insert((schema, table), columns.unwrap_or_default());
    }

    /// True when the server has sent all of its log and all of it is handed out.
    #[getter]
    fn is_at_end(&self, py: Python<'_>) -> bool {
        let inner = self.lock(py);
        inner.ended && inner.packets.is_empty() && !inner.reader.has_more() && inner.held.is_none()
    }

    /// File and offset behind the last event that was handed out.
    #[getter]
    fn position(&self, py: Python<'_>) -> (String, u64) {
        let inner = self.lock(py);
        let position = inner.reader.position();
        (position.file.clone(), position.offset)
    }

    /// File and offset behind the last whole transaction.
    #[getter]
    fn safe_position(&self, py: Python<'_>) -> (String, u64) {
        let inner = self.lock(py);
        let position = inner.reader.safe();
        (position.file.clone(), position.offset)
    }

    /// The transactions that were handed out as a whole; None when that is not known.
    #[getter]
    fn gtid_set(&self, py: Python<'_>) -> Option<String> {
        match self.lock(py).reader.gtids() {
            Gtids::Unknown => None,
            known => Some(known.to_string()),
        }
    }

    /// True while a transaction is handed out.
    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> bool {
        self.lock(py).reader.is_in_transaction()
    }

    /// Packets that came and wait.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> usize {
        self.lock(py).packets.len()
    }
}

impl Inner {
    /// Takes a packet of the dump.
    fn push(&mut self, packet: &[u8]) {
        // The zero in front says that it is an event.
        self.packets.push_back(packet.get(1..).unwrap_or_default().to_vec());
        self.bytes += packet.len();
    }

    fn next_event(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        loop {
            let event = match self.held.take() {
                Some(event) => Some(event),
                None if self.reader.has_more() => self.reader.next_packed().map_err(|failure| fault(py, &failure))?,
                None => {
                    let Some(packet) = self.packets.pop_front() else {
                        return self.failed.take().map_or(Ok(None), Err);
                    };
                    self.bytes -= (packet.len() + 1).min(self.bytes);
                    let event = self.opened(py, &packet)?;
                    self.reader.event(event).map_err(|failure| fault(py, &failure))?
                }
            };
            let Some(event) = event else { continue };
            if let Body::Rows(map, _) | Body::TableMap(map) = &event.body
                && self.describes
                && rows::lacks(map, self.is_mariadb)
                && !self.is_described(map)
            {
                let wanted = PyTuple::new(py, [&map.schema, &map.table])?.into_any().unbind();
                self.held = Some(event);
                return Ok(Some(wanted));
            }
            return self.object(py, event).map(Some);
        }
    }

    /// The event behind the header of semi-synchronous replication.
    fn opened<'a>(&mut self, py: Python<'_>, packet: &'a [u8]) -> PyResult<&'a [u8]> {
        if !self.semi_sync {
            return Ok(packet);
        }
        match packet {
            [0xef, wants_answer, event @ ..] => {
                if wants_answer & 1 != 0
                    && let Ok(header) = EventHeader::decode(event)
                {
                    self.acknowledge = Some((self.reader.position().file.clone(), u64::from(header.position)));
                }
                Ok(event)
            }
            _ => Err(error(
                py,
                Class::Operational,
                Some(client_errno::MALFORMED),
                "no header of semi-synchronous replication",
            )),
        }
    }

    fn is_described(&self, map: &Arc<TableMap>) -> bool {
        let name = (map.schema.clone(), map.table.clone());
        let is_known = self.plans.get(&name).is_some_and(|(known, _)| known.columns == map.columns);
        is_known || self.described.contains_key(&name)
    }

    /// How to read the rows of a table.
    fn plan(&mut self, py: Python<'_>, map: &Arc<TableMap>) -> PyResult<Arc<RowPlan>> {
        let name = (map.schema.clone(), map.table.clone());
        if let Some((known, plan)) = self.plans.get(&name)
            && (Arc::ptr_eq(known, map) || known.columns == map.columns && known.primary_key == map.primary_key)
        {
            return Ok(plan.clone());
        }
        // Good for this shape of the table only: the next one is asked for anew.
        let described = self.described.remove(&name).unwrap_or_default();
        let plan = Arc::new(RowPlan::new(py, map, &described, &self.taste)?);
        self.plans.insert(name, (map.clone(), plan.clone()));
        Ok(plan)
    }

    fn object(&mut self, py: Python<'_>, event: Event) -> PyResult<Py<PyAny>> {
        let plan = match &event.body {
            Body::Rows(map, _) | Body::TableMap(map) => Some(self.plan(py, map)?),
            _ => None,
        };
        events::object(py, event, plan, &self.taste)
    }
}

/// The union of two sets of GTIDs, or MariaDB's positions as the server would print them.
#[pyfunction]
pub fn normalise_gtids(py: Python<'_>, text: &str, is_mariadb: bool) -> PyResult<String> {
    Ok(gtids_of(py, is_mariadb, Some(text))?.to_string())
}

/// MySQL's set of GTIDs, for programs that compare and join them.
#[pyclass(frozen, eq, module = "rowferry.mysql.events", name = "GtidSet")]
#[derive(PartialEq)]
pub struct PyGtidSet {
    set: GtidSet,
}

#[pymethods]
impl PyGtidSet {
    #[new]
    #[pyo3(signature = (text=""))]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        Ok(Self { set: text.parse().map_err(|failure| wrong_gtids(py, &failure))? })
    }

    fn __str__(&self) -> String {
        self.set.to_string()
    }

    fn __repr__(&self) -> String {
        format!("GtidSet('{}')", self.set)
    }

    fn __bool__(&self) -> bool {
        !self.set.is_empty()
    }

    /// Whether all transactions of `other`, a set or its text, are in this one.
    fn __contains__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.set.contains_set(&Self::of(py, other)?))
    }

    /// The union.
    fn __or__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut set = self.set.clone();
        set.merge(&Self::of(py, other)?);
        Ok(Self { set })
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.set.to_string().hash(&mut hasher);
        hasher.finish()
    }
}

impl PyGtidSet {
    fn of(py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<GtidSet> {
        if let Ok(other) = other.cast::<Self>() {
            return Ok(other.get().set.clone());
        }
        let text: &str = other.extract()?;
        text.parse().map_err(|failure| wrong_gtids(py, &failure))
    }
}

/// The last transaction of each of MariaDB's domains.
#[pyclass(frozen, eq, module = "rowferry.mysql.events", name = "GtidPosition")]
#[derive(PartialEq)]
pub struct PyGtidPosition {
    position: MariadbPosition,
}

#[pymethods]
impl PyGtidPosition {
    #[new]
    #[pyo3(signature = (text=""))]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        Ok(Self { position: text.parse().map_err(|failure| wrong_gtids(py, &failure))? })
    }

    fn __str__(&self) -> String {
        self.position.to_string()
    }

    fn __repr__(&self) -> String {
        format!("GtidPosition('{}')", self.position)
    }

    /// Whether the position is at or behind a GTID, or all of a list.
    fn __contains__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = other.str()?;
        let other: MariadbPosition = other.to_str()?.parse().map_err(|failure| wrong_gtids(py, &failure))?;
        Ok(other.gtids().all(|gtid| self.position.contains(*gtid)))
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.position.to_string().hash(&mut hasher);
        hasher.finish()
    }
}

/// The type codes of events by name, for `rowferry.mysql.events`.
#[pyfunction]
pub fn event_types(py: Python<'_>) -> PyResult<Py<PyDict>> {
    let types = PyDict::new(py);
    for code in 0..=u8::MAX {
        if let Some(name) = EventType(code).name() {
            types.set_item(name, code)?;
        }
    }
    Ok(types.unbind())
}
