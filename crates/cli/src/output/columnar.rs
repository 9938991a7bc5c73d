//! Answers as Parquet and as Arrow's files. Rows stream: no more of them is kept than a batch, and what Parquet has
//! of a row group.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::columns::Column;
use super::{make_names_distinct, visible};
use crate::conversation::typed::{Rows, Value};

/// So many rows are a batch at most.
const BATCH_ROWS: usize = 8_192;
/// With so many bytes a batch is full.
const BATCH_BYTES: usize = 16 * 1024 * 1024;
/// With so many rows, or bytes as they are written, a row group is full: readers take one at a time, too.
const GROUP_ROWS: usize = 1_048_576;
const GROUP_BYTES: usize = 64 * 1024 * 1024;

/// Which of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Columnar {
    /// Apache Parquet, compressed by zstd.
    Parquet,
    /// Arrow's IPC format for files, also known as Feather version 2; not compressed, so that it can be mapped.
    Arrow,
}

/// Where bytes go.
pub type Out = Box<dyn Write + Send>;

enum Sink {
    Parquet(Box<ArrowWriter<Out>>),
    Arrow(Box<FileWriter<Out>>),
}

/// Takes the rows of an answer, one at a time, and writes them by columns.
pub struct ColumnWriter {
    form: Columnar,
    /// Until the columns are known.
    out: Option<Out>,
    sink: Option<Sink>,
    schema: SchemaRef,
    columns: Vec<Column>,
    /// In the batch.
    rows: usize,
    /// About as many bytes.
    bytes: usize,
    /// In all.
    count: u64,
}

impl ColumnWriter {
    /// Writes to `out`.
    pub fn new(form: Columnar, out: Out) -> Self {
        Self {
            form,
            out: Some(out),
            sink: None,
            schema: Arc::new(Schema::empty()),
            columns: Vec::new(),
            rows: 0,
            bytes: 0,
            count: 0,
        }
    }

    fn write_batch(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        (self.rows, self.bytes) = (0, 0);
        let arrays = self.columns.iter_mut().map(Column::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(of_arrow)?;
        match &mut self.sink {
            Some(Sink::Parquet(writer)) => writer.write(&batch).map_err(of_parquet),
            Some(Sink::Arrow(writer)) => writer.write(&batch).map_err(of_arrow),
            None => Err(io::Error::other("rows came before their columns")),
        }
    }
}

impl Rows for ColumnWriter {
    fn begin(&mut self, columns: Vec<Field>) -> io::Result<()> {
        let Some(out) = self.out.take() else {
            return Err(io::Error::other("the statement has more than one answer, and a file holds one"));
        };
        let mut names: Vec<String> = columns.iter().map(|column| column.name().clone()).collect();
        make_names_distinct(names.iter_mut());
        let fields: Vec<Field> = columns.into_iter().zip(names).map(|(field, name)| field.with_name(name)).collect();
        for field in &fields {
            let column = Column::new(field.data_type());
            let unknown = || io::Error::other(format!("the column `{}` is of a type that has no place", field.name()));
            self.columns.push(column.ok_or_else(unknown)?);
        }
        self.schema = Arc::new(Schema::new(fields));
        let schema = Arc::clone(&self.schema);
        self.sink = Some(match self.form {
            Columnar::Parquet => {
                let level = ZstdLevel::try_new(3).map_err(of_parquet)?;
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(level))
                    .set_max_row_group_row_count(Some(GROUP_ROWS))
                    .set_max_row_group_bytes(Some(GROUP_BYTES))
                    .set_created_by(concat!("rowferry version ", env!("CARGO_PKG_VERSION")).to_owned())
                    .build();
                let writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(of_parquet)?;
                Sink::Parquet(Box::new(writer))
            }
            Columnar::Arrow => Sink::Arrow(Box::new(FileWriter::try_new(out, &schema).map_err(of_arrow)?)),
        });
        Ok(())
    }

    fn row(&mut self, cells: &[Value<'_>]) -> io::Result<()> {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.count += 1;
        for (at, (column, cell)) in self.columns.iter_mut().zip(cells).enumerate() {
            self.bytes += column.push(cell).map_err(|why| {
                let name = visible(self.schema.field(at).name());
                io::Error::other(format!("row {}, column `{name}`: {why}", self.count))
            })?;
        }
        self.rows += 1;
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES { self.write_batch() } else { Ok(()) }
    }

    fn end(&mut self) -> io::Result<()> {
        self.write_batch()?;
        match self.sink.take() {
            Some(Sink::Parquet(writer)) => writer.into_inner().map_err(of_parquet)?.flush(),
            Some(Sink::Arrow(mut writer)) => {
                writer.finish().map_err(of_arrow)?;
                writer.into_inner().map_err(of_arrow)?.flush()
            }
            None => Err(io::Error::other("the answer has no columns")),
        }
    }

    fn notice(&mut self, text: &str) -> io::Result<()> {
        eprintln!("{}", visible(text));
        Ok(())
    }
}

/// What the system says of a write is told as it is: a reader that has gone is no failure.
fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other.to_string()),
    }
}

fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other.to_string()),
        },
        ParquetError::ArrowError(text) | ParquetError::General(text) => io::Error::other(text),
        other => io::Error::other(other.to_string()),
    }
}
