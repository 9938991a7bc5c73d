//! Values between their stored form and the wire, in both protocols.
//!
//! A result's [`RowWriter`] is made once and stays with its plan; a row then costs a call for each value, straight from
//! SQLite's memory into the output.

mod binary;
mod columns;
mod params;
mod text;
mod types;

use std::sync::Arc;

use rowferry_dialect::values::{Settings, ValueRef};
use rowferry_dialect::work;
use rowferry_engine::{Error, Prepared, Result, ResultColumn, Row, Session, Type};
use rowferry_wire_mysql::messages::resultset::ColumnDefinition;
use rowferry_wire_mysql::server::RowWriter as Cells;

pub(super) use columns::parameter;
pub(super) use params::{Given, given, stored};
pub(super) use types::{Form, WireType};

use crate::texts;

/// A column of a result.
#[derive(Debug)]
struct Column {
    ty: Type,
    form: Form,
}

/// Writes the rows of one result.
#[derive(Debug)]
pub(super) struct RowWriter {
    columns: Vec<Column>,
    /// What the client is told of them.
    pub(super) definitions: Vec<ColumnDefinition>,
    binary: bool,
}

impl RowWriter {
    /// The one for a plan's rows, which stays with the plan.
    pub(super) fn of(session: &mut Session, plan: &Prepared, columns: &[ResultColumn], binary: bool) -> Arc<Self> {
        // Who wants its texts in another encoding is told so, and shares with nobody.
        let is_shared = session.client_encoding().is_none();
        if is_shared && let Some(kept) = plan.door_part(binary).and_then(|part| part.clone().downcast::<Self>().ok()) {
            return kept;
        }
        let writer = Arc::new(Self::new(session, columns, binary));
        if is_shared {
            plan.keep_door_part(binary, writer.clone());
        }
        writer
    }

    fn new(session: &mut Session, columns: &[ResultColumn], binary: bool) -> Self {
        let definitions = columns::definitions(session, columns);
        let columns = columns.iter().map(|column| {
            let wire = WireType::of(&column.ty, column.origin.is_some());
            Column { ty: column.ty.through_domains().clone(), form: wire.form }
        });
        Self { columns: columns.collect(), definitions, binary }
    }

    /// Writes a row. The error comes with the column that cannot be sent.
    #[inline]
    pub(super) fn write(
        &self,
        cells: &mut Cells<'_>,
        row: &Row<'_>,
        settings: &Settings,
    ) -> std::result::Result<(), (usize, Error)> {
        if self.binary {
            return self.write_binary(cells, row, settings);
        }
        for (index, column) in self.columns.iter().enumerate() {
            match row.get(index) {
                ValueRef::Null => cells.text(None),
                value => cells
                    .cell_with(|out| {
                        work::reserve(out, length(value))?;
                        let start = out.len();
                        text::write(out, value, column.form, &column.ty, settings)?;
                        recode(out, start, column.form, settings)
                    })
                    .map_err(|error| (index, error))?,
            }
        }
        Ok(())
    }

    fn write_binary(
        &self,
        cells: &mut Cells<'_>,
        row: &Row<'_>,
        settings: &Settings,
    ) -> std::result::Result<(), (usize, Error)> {
        let nulls = cells.begin_binary(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            match row.get(index) {
                ValueRef::Null => cells.set_null(nulls, index),
                value => {
                    binary::write(cells, value, column.form, &column.ty, settings).map_err(|error| (index, error))?
                }
            }
        }
        Ok(())
    }
}

/// Puts a text that was written since `start` into the client's encoding.
#[inline]
fn recode(out: &mut Vec<u8>, start: usize, form: Form, settings: &Settings) -> Result<()> {
    match settings.client_encoding {
        Some(encoding) if form != Form::Bytes => texts::recode(out, start, encoding),
        _ => Ok(()),
    }
}

/// Bytes of a value as it is stored: as long, or longer, it is sent.
#[inline]
fn length(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    }
}
