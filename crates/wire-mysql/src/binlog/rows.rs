//! Rows that were inserted, changed or deleted.

use rowferry_wire::{Malformed, Reader};

use super::event::{EventType, Format};
use super::json_diff::{self, JsonDiff};
use super::table::TableMap;
use super::value::{Layout, Value};
use super::{Fault, compressed};
use crate::lenenc;
use crate::types::ColumnType;

/// What happened to rows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// They were inserted.
    Write,
    /// They were changed.
    Update,
    /// They were deleted.
    Delete,
}

/// The head of a rows event, and where its rows begin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowsEvent {
    /// The table's number; see [`TableMap`].
    pub table_id: u64,
    /// See [`rows_flag`].
    pub flags: u16,
    /// What happened.
    pub change: Change,
    /// JSON columns of the images after the change may hold their changes only.
    pub is_partial: bool,
    /// How many columns the table has.
    pub columns: usize,
    /// A bit for each column: it is in the images before the change (of deleted and changed rows) or, for inserted
    /// rows, after it.
    present: Vec<u8>,
    /// Idem for the images after a change.
    present_after: Vec<u8>,
    /// The rows' bytes.
    rows: Vec<u8>,
}

/// Flags of a rows event.
pub mod rows_flag {
    /// The last of its statement: tables may be forgotten.
    pub const STATEMENT_END: u16 = 0x0001;
    /// Foreign keys are not checked.
    pub const NO_FOREIGN_KEYS: u16 = 0x0002;
    /// Unique keys are not checked.
    pub const RELAXED_UNIQUE: u16 = 0x0004;
}

/// The number of the table that is there for its end of statement only.
pub const NO_TABLE: u64 = 0x00ff_ffff;

fn has(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8).is_some_and(|byte| byte & (1 << (at % 8)) != 0)
}

impl RowsEvent {
    /// What a type code says: the change, whether the second version, whether compressed. `None` for other events.
    pub const fn kind(event_type: EventType) -> Option<(Change, bool, bool)> {
        Some(match event_type {
            EventType::WRITE_ROWS_V1 => (Change::Write, false, false),
            EventType::UPDATE_ROWS_V1 => (Change::Update, false, false),
            EventType::DELETE_ROWS_V1 => (Change::Delete, false, false),
            EventType::WRITE_ROWS => (Change::Write, true, false),
            EventType::UPDATE_ROWS | EventType::PARTIAL_UPDATE_ROWS => (Change::Update, true, false),
            EventType::DELETE_ROWS => (Change::Delete, true, false),
            EventType::WRITE_ROWS_COMPRESSED_V1 => (Change::Write, false, true),
            EventType::UPDATE_ROWS_COMPRESSED_V1 => (Change::Update, false, true),
            EventType::DELETE_ROWS_COMPRESSED_V1 => (Change::Delete, false, true),
            EventType::WRITE_ROWS_COMPRESSED => (Change::Write, true, true),
            EventType::UPDATE_ROWS_COMPRESSED => (Change::Update, true, true),
            EventType::DELETE_ROWS_COMPRESSED => (Change::Delete, true, true),
            _ => return None,
        })
    }

    /// Wire: table number, flags `u16le`; in version 2 the length of what follows (itself included) `u16le`; number of
    /// columns; a bit for each; for changed rows another for each; rows.
    pub fn decode(body: &[u8], event_type: EventType, format: &Format) -> Result<Self, Fault> {
        let Some((change, is_second, is_compressed)) = Self::kind(event_type) else {
            return Err(Malformed::new("rows event type").into());
        };
        let mut reader = Reader::new(body);
        let table_id = TableMap::read_id(&mut reader, event_type, format)?;
        let flags = reader.u16_le("rows flags")?;
        if is_second {
            let len = reader.u16_le("rows extra length")?;
            let len = len.checked_sub(2).ok_or(Malformed::new("rows extra length"))?;
            reader.take(usize::from(len), "rows extra data")?;
        }
        let columns = lenenc::integer(&mut reader, "rows columns")?;
        let columns = usize::try_from(columns).map_err(|_| Malformed::new("rows columns"))?;
        let present = reader.take(columns.div_ceil(8), "rows column bits")?.to_vec();
        let present_after = match change {
            Change::Update => reader.take(columns.div_ceil(8), "rows column bits")?.to_vec(),
            _ => Vec::new(),
        };
        let rows = match is_compressed {
            true => compressed::expand_event(reader.rest())?,
            false => reader.rest().to_vec(),
        };
        let is_partial = event_type == EventType::PARTIAL_UPDATE_ROWS;
        Ok(Self { table_id, flags, change, is_partial, columns, present, present_after, rows })
    }

    /// Reads only which table it is about.
    pub fn peek_table(body: &[u8], event_type: EventType, format: &Format) -> Result<u64, Malformed> {
        TableMap::read_id(&mut Reader::new(body), event_type, format)
    }

    /// Bytes of the rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows, to be read one image after the other.
    pub fn images<'a>(&'a self, layouts: &'a [Layout], json: &'a [bool]) -> Result<Images<'a>, Malformed> {
        if layouts.len() != self.columns || json.len() != self.columns {
            return Err(Malformed::new("rows columns"));
        }
        Ok(Images { event: self, layouts, json, reader: Reader::new(&self.rows), begun: 0 })
    }

    /// True when the column is in the images before the change.
    pub fn is_in_before(&self, at: usize) -> bool {
        !matches!(self.change, Change::Write) && has(&self.present, at)
    }

    /// True when the column is in the images after the change.
    pub fn is_in_after(&self, at: usize) -> bool {
        match self.change {
            Change::Write => has(&self.present, at),
            Change::Update => has(&self.present_after, at),
            Change::Delete => false,
        }
    }
}

/// Which columns are JSON documents of MySQL, for [`RowsEvent::images`].
pub fn json_columns(map: &TableMap) -> Vec<bool> {
    map.columns.iter().map(|column| column.column_type == ColumnType::JSON).collect()
}

/// A cell of an image.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// The column is not in the image.
    Absent,
    /// Its value, which may be NULL.
    Value(Value<'a>),
    /// What changes in the document that stood there before.
    Diffs(Vec<JsonDiff<'a>>),
}

/// Images of rows, one behind the other.
#[derive(Debug)]
pub struct Images<'a> {
    event: &'a RowsEvent,
    layouts: &'a [Layout],
    json: &'a [bool],
    reader: Reader<'a>,
    /// Where the row began.
    begun: usize,
}

impl<'a> Images<'a> {
    /// True when all rows are read.
    pub fn is_at_end(&self) -> bool {
        self.reader.is_empty()
    }

    /// Reads the cells of one image, each handed to `take` with its column. The bits of NULLs stand in front.
    #[inline]
    pub fn image<E: From<Malformed>>(
        &mut self,
        is_after: bool,
        mut take: impl FnMut(usize, Cell<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let present: &'a [u8] = match (self.event.change, is_after) {
            (Change::Update, true) => &self.event.present_after,
            _ => &self.event.present,
        };
        let columns = self.layouts.len();
        let is_first = is_after == (self.event.change == Change::Write);
        if is_first {
            self.begun = self.reader.position();
        }
        let reader = &mut self.reader;
        let mut diffed = None;
        if self.event.is_partial && is_after {
            const PARTIAL_JSON: u64 = 1;
            match lenenc::integer(reader, "rows value options")? {
                0 => {}
                PARTIAL_JSON => {
                    let count = self.json.iter().filter(|is_json| **is_json).count();
                    diffed = Some(reader.take(count.div_ceil(8), "rows partial bits")?);
                }
                _ => return Err(Malformed::new("rows value options").into()),
            }
        }
        let all_present = (0..columns / 8).all(|at| present[at] == 0xff)
            && (columns.is_multiple_of(8) || present[columns / 8].trailing_ones() as usize >= columns % 8);
        let count = if all_present { columns } else { (0..columns).filter(|at| has(present, *at)).count() };
        let nulls = reader.take(count.div_ceil(8), "rows NULL bits")?;
        let (mut seen, mut documents) = (0, 0);
        for (at, layout) in self.layouts.iter().enumerate() {
            let document = documents;
            documents += usize::from(self.json[at]);
            if !all_present && !has(present, at) {
                take(at, Cell::Absent)?;
                continue;
            }
            let is_null = nulls[seen / 8] & (1 << (seen % 8)) != 0;
            seen += 1;
            if is_null {
                take(at, Cell::Value(Value::Null))?;
                continue;
            }
            if self.json[at] && diffed.is_some_and(|bits| has(bits, document)) {
                let len = reader.u32_le("JSON diff length")?;
                let bytes = reader.take(len as usize, "JSON diff")?;
                take(at, Cell::Diffs(json_diff::decode(bytes)?))?;
                continue;
            }
            take(at, Cell::Value(layout.decode(reader)?))?;
        }
        let is_last = is_after || self.event.change == Change::Delete;
        if is_last && self.reader.position() == self.begun {
            // Rows without a byte would never end.
            return Err(Malformed::new("rows without columns").into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(event: &RowsEvent, layouts: &[Layout]) -> Result<Vec<Vec<String>>, Malformed> {
        let json = vec![false; layouts.len()];
        let mut images = event.images(layouts, &json)?;
        let mut all = Vec::new();
        let mut is_after = event.change == Change::Write;
        while !images.is_at_end() {
            let mut row = Vec::new();
            images.image::<Malformed>(is_after, |_, cell| {
                row.push(match cell {
                    Cell::Absent => "-".to_owned(),
                    Cell::Value(value) => format!("{value:?}"),
                    Cell::Diffs(diffs) => format!("{diffs:?}"),
                });
                Ok(())
            })?;
            all.push(row);
            is_after ^= event.change == Change::Update;
        }
        Ok(all)
    }

    const LAYOUTS: [Layout; 3] =
        [Layout::Int { width: 1, is_unsigned: false }, Layout::Bytes { length_width: 1 }, Layout::Double];

    #[test]
    fn images_have_the_columns_that_their_bits_say() {
        let body =
            [&[5, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0b101, 0b010][..], &[0b10, 7], &[0, 2, b'h', b'i'], &[0b11], &[1]]
                .concat();
        let event = RowsEvent::decode(&body, EventType::UPDATE_ROWS, &Format::default()).unwrap();
        assert_eq!((event.table_id, event.change), (5, Change::Update));
        assert!(event.is_in_before(0) && !event.is_in_before(1) && event.is_in_after(1));
        assert_eq!(
            read(&event, &LAYOUTS).unwrap(),
            [["Int(7)", "-", "Null"], ["-", "Bytes([104, 105])", "-"], ["Null", "-", "Null"], ["-", "Null", "-"],]
        );
    }

    #[test]
    fn a_row_must_consume_its_bytes() {
        let body = [&[5, 0, 0, 0, 0, 0, 0, 0, 3, 0b111][..], &[0b100, 7, 1, b'x'], &[0b100, 8, 1]].concat();
        let event = RowsEvent::decode(&body, EventType::WRITE_ROWS_V1, &Format::default()).unwrap();
        assert_eq!(read(&event, &LAYOUTS), Err(Malformed::new("bytes")));
        assert_eq!(read(&event, &LAYOUTS[..2]), Err(Malformed::new("rows columns")));
        assert!(RowsEvent::decode(&body[..9], EventType::WRITE_ROWS_V1, &Format::default()).is_err());
    }
}
