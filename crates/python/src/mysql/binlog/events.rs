use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyModule, PyString, PyTuple};
use rowferry_wire_mysql::binlog::event::{EventHeader, EventType, UserValue};
use rowferry_wire_mysql::binlog::gtid::uuid_text;
use rowferry_wire_mysql::binlog::mariadb_gtid::mariadb_flag;
use rowferry_wire_mysql::binlog::reader::{Body, Event};
use rowferry_wire_mysql::binlog::rows::Change;

use super::rows::{BinlogRows, RowPlan, Taste};
use crate::cells;

/// The object of an event: a class of `rowferry.mysql.events`, called with the header's parts and then its own.
pub fn object(py: Python<'_>, event: Event, plan: Option<Arc<RowPlan>>, taste: &Taste) -> PyResult<Py<PyAny>> {
    let Event { header, body } = event;
    let make = Maker { py, header };
    match body {
        Body::Rows(_, rows) => {
            let Some(plan) = plan else { return make.event("UnknownEvent", Vec::new()) };
            let class = match (rows.change, rows.is_partial) {
                (Change::Write, _) => "WriteRowsEvent",
                (Change::Update, false) => "UpdateRowsEvent",
                (Change::Update, true) => "PartialUpdateRowsEvent",
                (Change::Delete, _) => "DeleteRowsEvent",
            };
            let flags = rows.flags;
            let table = table(py, &plan)?;
            let rows = Py::new(py, BinlogRows::new(rows, plan))?;
            make.event(class, vec![table, any(py, flags)?, rows.into_any()])
        }
        Body::TableMap(_) => {
            let Some(plan) = plan else { return make.event("UnknownEvent", Vec::new()) };
            make.event("TableMapEvent", vec![table(py, &plan)?])
        }
        Body::Xid(number) => make.event("XidEvent", vec![any(py, number)?]),
        Body::Query(query) => {
            let parts = vec![
                text(py, &query.schema),
                text(py, &query.sql),
                any(py, query.thread_id)?,
                any(py, query.execution_time)?,
                any(py, query.error_code)?,
                PyBytes::new(py, &query.status_variables).into_any().unbind(),
            ];
            make.event("QueryEvent", parts)
        }
        Body::Gtid(gtid) => {
            let is_anonymous = header.event_type == EventType::ANONYMOUS_GTID;
            let class = if is_anonymous { "AnonymousGtidEvent" } else { "GtidEvent" };
            let parts = vec![
                any(py, uuid_text(&gtid.uuid))?,
                any(py, gtid.tag)?,
                any(py, gtid.number)?,
                any(py, gtid.last_committed)?,
                any(py, gtid.sequence_number)?,
                any(py, gtid.immediate_commit)?,
                any(py, gtid.original_commit)?,
                any(py, gtid.transaction_length)?,
                any(py, gtid.immediate_version)?,
                any(py, gtid.original_version)?,
            ];
            make.event(class, parts)
        }
        Body::MariadbGtid(event) => {
            let parts = vec![
                any(py, event.gtid.domain)?,
                any(py, event.gtid.sequence)?,
                any(py, event.flags)?,
                any(py, event.commit_id)?,
                any(py, event.flags & mariadb_flag::DDL != 0)?,
            ];
            make.event("MariadbGtidEvent", parts)
        }
        Body::MariadbGtidList(position) => make.event("MariadbGtidListEvent", vec![any(py, position.to_string())?]),
        Body::PreviousGtids(set) => make.event("PreviousGtidsEvent", vec![any(py, set.to_string())?]),
        Body::Rotate(rotate) => make.event("RotateEvent", vec![any(py, rotate.file)?, any(py, rotate.position)?]),
        Body::FormatDescription(format) => {
            let parts = vec![
                any(py, format.version)?,
                any(py, format.server_version)?,
                any(py, format.created)?,
                any(py, format!("{:?}", format.checksum).to_uppercase())?,
            ];
            make.event("FormatDescriptionEvent", parts)
        }
        Body::RowsQuery(statement) => {
            let is_mariadb = header.event_type == EventType::ANNOTATE_ROWS;
            let class = if is_mariadb { "MariadbAnnotateRowsEvent" } else { "RowsQueryLogEvent" };
            make.event(class, vec![text(py, &statement)])
        }
        Body::IntVar(variable) => make.event("IntvarEvent", vec![any(py, variable.kind)?, any(py, variable.value)?]),
        Body::Rand(first, second) => make.event("RandEvent", vec![any(py, first)?, any(py, second)?]),
        Body::UserVar(variable) => {
            let value = user_value(py, variable.value, taste)?;
            make.event("UserVarEvent", vec![text(py, &variable.name), value])
        }
        Body::XaPrepare { one_phase, format_id, gtrid, bqual } => {
            let parts = vec![
                any(py, one_phase)?,
                any(py, format_id)?,
                PyBytes::new(py, &gtrid).into_any().unbind(),
                PyBytes::new(py, &bqual).into_any().unbind(),
            ];
            make.event("XAPrepareEvent", parts)
        }
        Body::Incident { number, message } => make.event("IncidentEvent", vec![any(py, number)?, any(py, message)?]),
        Body::Heartbeat { file, position } => make.event("HeartbeatLogEvent", vec![any(py, file)?, any(py, position)?]),
        Body::Stop => make.event("StopEvent", Vec::new()),
        Body::BinlogCheckpoint(file) => make.event("MariadbBinLogCheckPointEvent", vec![any(py, file)?]),
        Body::Other(bytes) => make.event("UnknownEvent", vec![PyBytes::new(py, &bytes).into_any().unbind()]),
    }
}

struct Maker<'py> {
    py: Python<'py>,
    header: EventHeader,
}

impl Maker<'_> {
    fn event(&self, class: &str, parts: Vec<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let EventHeader { timestamp, event_type, server_id, size, position, flags } = self.header;
        let py = self.py;
        let mut arguments = Vec::with_capacity(6 + parts.len());
        for number in [timestamp, u32::from(event_type.0), server_id, size, position, u32::from(flags)] {
            arguments.push(any(py, number)?);
        }
        arguments.extend(parts);
        Ok(module(py)?.getattr(class)?.call1(PyTuple::new(py, arguments)?)?.unbind())
    }
}

fn module(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Ok(MODULE.get_or_try_init(py, || py.import("rowferry.mysql.events").map(Bound::unbind))?.bind(py))
}

fn any<'py>(py: Python<'py>, value: impl IntoPyObject<'py>) -> PyResult<Py<PyAny>> {
    value.into_py_any(py)
}

/// Text that clients sent: mostly UTF-8, and kept whatever it is.
fn text(py: Python<'_>, bytes: &[u8]) -> Py<PyAny> {
    PyString::new(py, &String::from_utf8_lossy(bytes)).into_any().unbind()
}

/// The table as events tell it, made once for each plan.
fn table(py: Python<'_>, plan: &Arc<RowPlan>) -> PyResult<Py<PyAny>> {
    let made = plan.table.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
        let column_class = module(py)?.getattr("TableColumn")?;
        let mut columns = Vec::with_capacity(plan.columns.len());
        for (at, column) in plan.columns.iter().enumerate() {
            let key = plan.map.primary_key.as_ref().map(|key| key.contains(&(at as u32)));
            let parts = (
                plan.names[at].clone_ref(py),
                column.column_type.0,
                column.metadata,
                column.nullable,
                column.is_unsigned,
                column.collation,
                plan.members(at),
                key,
                column.invisible,
                column.geometry_type,
                column.dimensions,
            );
            columns.push(column_class.call1(parts)?);
        }
        let key = plan.map.primary_key.as_ref().map(|key| -> PyResult<_> {
            PyTuple::new(py, key.iter().filter_map(|at| plan.names.get(*at as usize)).collect::<Vec<_>>())
        });
        let map = &plan.map;
        let parts = (map.table_id, &map.schema, &map.table, PyTuple::new(py, columns)?, key.transpose()?);
        Ok(module(py)?.getattr("TableInfo")?.call1(parts)?.unbind())
    })?;
    Ok(made.clone_ref(py))
}

fn user_value(py: Python<'_>, value: UserValue, taste: &Taste) -> PyResult<Py<PyAny>> {
    // SAFETY: the GIL is held, and what is answered is a new reference, or null with an exception set.
    let owned = |object| unsafe { Bound::from_owned_ptr_or_err(py, object) }.map(Bound::unbind);
    match value {
        UserValue::Null => Ok(py.None()),
        UserValue::Int(value) => any(py, value),
        UserValue::Unsigned(value) => any(py, value),
        UserValue::Real(value) => any(py, value),
        UserValue::Decimal(spelled) => owned(cells::decimal(spelled.as_bytes())),
        UserValue::Text { collation, bytes } => match taste.codecs.get(&collation) {
            Some(None) => Ok(text(py, &bytes)),
            Some(Some(codec)) => owned(cells::encoded_text(&bytes, codec)),
            None => Ok(PyBytes::new(py, &bytes).into_any().unbind()),
        },
    }
}
