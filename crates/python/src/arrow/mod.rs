//! Result sets as Arrow record batches, through the Arrow PyCapsule interface: no Python object per cell, no Arrow
//! library needed.
//!
//! [`column`] has the builders, which know no protocol; each driver decodes its rows into them. [`ArrowBatch`] and
//! [`ArrowBatches`] are what Python sees.

pub mod column;
mod recycle;

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, StructArray};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::errors::{Class, error};

/// Adds the classes to the module `rowferry._core`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowBatch>()?;
    module.add_class::<ArrowBatches>()
}

/// The exception for buffers that cannot be handed over; a mistake of ours.
pub fn failed(py: Python<'_>, failure: &ArrowError) -> PyErr {
    error(py, Class::Internal, None, &format!("Arrow: {failure}"))
}

/// Some rows of a result set, by columns.
#[pyclass(frozen, module = "rowferry._core")]
pub struct ArrowBatch {
    batch: RecordBatch,
}

impl ArrowBatch {
    pub const fn new(batch: RecordBatch) -> Self {
        Self { batch }
    }
}

#[pymethods]
impl ArrowBatch {
    /// How many rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// How many columns.
    #[getter]
    fn num_columns(&self) -> usize {
        self.batch.num_columns()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<ArrowBatch of {} rows: {}>", self.batch.num_rows(), self.column_names().join(", "))
    }

    /// Arrow PyCapsule interface: the schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.batch.schema())
    }

    /// Arrow PyCapsule interface: schema and columns, as one array of structs. The batch comes as it is, whatever
    /// schema is requested.
    #[pyo3(signature = (requested_schema = None, **_kwargs))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
        _kwargs: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let data = StructArray::from(self.batch.clone()).into_data();
        let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), c"arrow_array")?;
        PyTuple::new(py, [schema_capsule(py, &self.batch.schema())?, array])
    }

    /// Arrow PyCapsule interface: a stream of this batch.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream_capsule(py, &self.batch.schema(), vec![self.batch.clone()])
    }
}

/// All batches of a result set: what becomes a table.
#[pyclass(frozen, module = "rowferry._core")]
pub struct ArrowBatches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl ArrowBatches {
    /// Batches of one result set, at least one.
    #[new]
    fn new(py: Python<'_>, batches: Vec<Py<ArrowBatch>>) -> PyResult<Self> {
        let Some(first) = batches.first() else {
            return Err(error(py, Class::Interface, None, "a table needs a batch, if only for its columns"));
        };
        let schema = first.get().batch.schema();
        Ok(Self { schema, batches: batches.iter().map(|batch| batch.get().batch.clone()).collect() })
    }

    /// How many rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Arrow PyCapsule interface: the schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// Arrow PyCapsule interface: a stream of the batches.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream_capsule(py, &self.schema, self.batches.clone())
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(|failure| failed(py, &failure))?;
    // Who takes the schema out leaves a released one behind, and what nobody takes is released with the capsule.
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

fn stream_capsule<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), Arc::clone(schema));
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
}
