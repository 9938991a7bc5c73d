//! TABLE_MAP: which table rows are about, and what its columns are.

use rowferry_wire::{Malformed, Reader, open_enum};

use super::event::{EventType, Format, name};
use crate::lenenc;
use crate::types::ColumnType;

open_enum! {
    /// A part of the optional metadata behind the columns.
    pub struct MetadataType(u8) {
        /// A bit for each numeric column: no sign.
        SIGNEDNESS = 1,
        /// The collation of most text columns, and those that differ.
        DEFAULT_CHARSET = 2,
        /// The collation of each text column.
        COLUMN_CHARSET = 3,
        /// The names of all columns.
        COLUMN_NAME = 4,
        /// The members of each SET.
        SET_STR_VALUE = 5,
        /// The members of each ENUM.
        ENUM_STR_VALUE = 6,
        /// What kind of geometry.
        GEOMETRY_TYPE = 7,
        /// The columns of the primary key.
        SIMPLE_PRIMARY_KEY = 8,
        /// The same with prefixes.
        PRIMARY_KEY_WITH_PREFIX = 9,
        /// As DEFAULT_CHARSET, for ENUM and SET.
        ENUM_AND_SET_DEFAULT_CHARSET = 10,
        /// As COLUMN_CHARSET, for ENUM and SET.
        ENUM_AND_SET_COLUMN_CHARSET = 11,
        /// A bit for each column: it is not invisible.
        COLUMN_VISIBILITY = 12,
        /// The length of each VECTOR.
        VECTOR_DIMENSIONALITY = 13,
    }
}

/// MariaDB: a BLOB whose values are compressed.
pub const BLOB_COMPRESSED: ColumnType = ColumnType(140);
/// MariaDB: a VARCHAR whose values are compressed.
pub const VARCHAR_COMPRESSED: ColumnType = ColumnType(141);
/// Elements of a multi-valued index; no column has it.
const TYPED_ARRAY: ColumnType = ColumnType(20);

/// A column as the log tells it. What the log does not tell is `None`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Column {
    /// The type; ENUM and SET as themselves.
    pub column_type: ColumnType,
    /// The type's own two bytes; see [`value::Layout`](super::value::Layout).
    pub metadata: u16,
    /// NULL is possible.
    pub nullable: bool,
    /// The name.
    pub name: Option<String>,
    /// Numeric: no sign.
    pub is_unsigned: Option<bool>,
    /// Text, ENUM and SET: the collation's number; 63 for bytes.
    pub collation: Option<u32>,
    /// ENUM and SET: the members, in the column's character set.
    pub members: Option<Vec<Vec<u8>>>,
    /// GEOMETRY: 0 any, 1 point, 2 line string, 3 polygon, 4 to 6 the same in several, 7 collection.
    pub geometry_type: Option<u32>,
    /// VECTOR: how many numbers.
    pub dimensions: Option<u32>,
    /// Invisible to `SELECT *`.
    pub invisible: Option<bool>,
}

impl Default for Column {
    fn default() -> Self {
        Self {
            column_type: ColumnType::NULL,
            metadata: 0,
            nullable: false,
            name: None,
            is_unsigned: None,
            collation: None,
            members: None,
            geometry_type: None,
            dimensions: None,
            invisible: None,
        }
    }
}

/// Which table rows are about.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TableMap {
    /// The number by which rows refer to it, until the next map of that number.
    pub table_id: u64,
    /// The database.
    pub schema: String,
    /// The table.
    pub table: String,
    /// The columns, in the table's order.
    pub columns: Vec<Column>,
    /// The columns of the primary key by position; `None` when the log does not tell.
    pub primary_key: Option<Vec<u32>>,
}

const fn is_numeric(column_type: ColumnType) -> bool {
    matches!(
        column_type,
        ColumnType::TINY
            | ColumnType::SHORT
            | ColumnType::INT24
            | ColumnType::LONG
            | ColumnType::LONGLONG
            | ColumnType::NEWDECIMAL
            | ColumnType::FLOAT
            | ColumnType::DOUBLE
            | ColumnType::YEAR
    )
}

/// What has a collation in the metadata: of MySQL vectors, too, and of MariaDB geometries.
const fn is_text_of_mysql(column_type: ColumnType) -> bool {
    is_text(column_type) || matches!(column_type, ColumnType::VECTOR)
}

const fn is_text_of_mariadb(column_type: ColumnType) -> bool {
    is_text(column_type) || matches!(column_type, ColumnType::GEOMETRY)
}

const fn is_text(column_type: ColumnType) -> bool {
    matches!(
        column_type,
        ColumnType::VARCHAR
            | ColumnType::VAR_STRING
            | ColumnType::STRING
            | ColumnType::TINY_BLOB
            | ColumnType::BLOB
            | ColumnType::MEDIUM_BLOB
            | ColumnType::LONG_BLOB
            | BLOB_COMPRESSED
            | VARCHAR_COMPRESSED
    )
}

const fn is_list(column_type: ColumnType) -> bool {
    matches!(column_type, ColumnType::ENUM | ColumnType::SET)
}

impl TableMap {
    /// Reads the number of a table: 6 bytes since MySQL 5.1.4.
    pub(super) fn read_id(reader: &mut Reader<'_>, event_type: EventType, format: &Format) -> Result<u64, Malformed> {
        if format.post_header(event_type, 8) == 6 {
            return Ok(u64::from(reader.u32_le("table number")?));
        }
        let [a, b, c, d, e, f] = reader.array("table number")?;
        Ok(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
    }

    /// Reads the names only: number, database, table.
    pub fn peek(body: &[u8], format: &Format) -> Result<(u64, String, String), Malformed> {
        let mut reader = Reader::new(body);
        Self::head(&mut reader, format)
    }

    fn head(reader: &mut Reader<'_>, format: &Format) -> Result<(u64, String, String), Malformed> {
        let table_id = Self::read_id(reader, EventType::TABLE_MAP, format)?;
        reader.u16_le("table flags")?;
        let mut string = |what| -> Result<String, Malformed> {
            let len = usize::from(reader.u8(what)?);
            let text = name(reader.take(len, what)?);
            if reader.u8(what)? == 0 { Ok(text) } else { Err(Malformed::new(what)) }
        };
        Ok((table_id, string("table database")?, string("table name")?))
    }

    /// Wire: number, flags `u16le`; database and table, each with a length byte and NUL; number of columns, a type code
    /// for each, length of their metadata and these, a bit for each column that may be NULL; optional parts.
    pub fn decode(body: &[u8], format: &Format) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let (table_id, schema, table) = Self::head(&mut reader, format)?;
        let count = lenenc::integer(&mut reader, "table columns")?;
        let count = usize::try_from(count).map_err(|_| Malformed::new("table columns"))?;
        let types = reader.take(count, "table column types")?;
        let mut metadata = Reader::new(lenenc::bytes(&mut reader, "table metadata")?);
        let nullable = reader.take(count.div_ceil(8), "table NULL bits")?;
        let mut columns = Vec::with_capacity(count);
        for (at, &code) in types.iter().enumerate() {
            let (column_type, metadata) = real_type(ColumnType(code), &mut metadata)?;
            let nullable = nullable[at / 8] & (1 << (at % 8)) != 0;
            columns.push(Column { column_type, metadata, nullable, ..Column::default() });
        }
        metadata.finish("table metadata trailer")?;
        let mut map = Self { table_id, schema, table, columns, primary_key: None };
        let has_collation = if format.is_mariadb() { is_text_of_mariadb } else { is_text_of_mysql };
        while !reader.is_empty() {
            let part = MetadataType(reader.u8("optional metadata type")?);
            map.take_part(part, Reader::new(lenenc::bytes(&mut reader, "optional metadata")?), has_collation)?;
        }
        Ok(map)
    }

    fn take_part(
        &mut self,
        part: MetadataType,
        mut reader: Reader<'_>,
        has_collation: fn(ColumnType) -> bool,
    ) -> Result<(), Malformed> {
        match part {
            MetadataType::SIGNEDNESS => {
                let mut columns = self.of(is_numeric);
                bits(&mut reader, &mut columns, |column, bit| column.is_unsigned = Some(bit))?;
            }
            MetadataType::COLUMN_VISIBILITY => {
                let mut columns = self.of(|_| true);
                bits(&mut reader, &mut columns, |column, bit| column.invisible = Some(!bit))?;
            }
            MetadataType::DEFAULT_CHARSET => default_collations(&mut reader, &mut self.of(has_collation))?,
            MetadataType::ENUM_AND_SET_DEFAULT_CHARSET => default_collations(&mut reader, &mut self.of(is_list))?,
            MetadataType::COLUMN_CHARSET => each_collation(&mut reader, &mut self.of(has_collation))?,
            MetadataType::ENUM_AND_SET_COLUMN_CHARSET => each_collation(&mut reader, &mut self.of(is_list))?,
            MetadataType::COLUMN_NAME => {
                for column in &mut self.columns {
                    column.name = Some(name(lenenc::bytes(&mut reader, "column name")?));
                }
            }
            MetadataType::SET_STR_VALUE | MetadataType::ENUM_STR_VALUE => {
                let of_set = part == MetadataType::SET_STR_VALUE;
                let wanted = if of_set { ColumnType::SET } else { ColumnType::ENUM };
                for column in self.columns.iter_mut().filter(|column| column.column_type == wanted) {
                    let count = small(&mut reader, "members of a list")? as usize;
                    reader.fits(count, 1, "members of a list")?;
                    let members = (0..count).map(|_| Ok(lenenc::bytes(&mut reader, "member of a list")?.to_vec()));
                    column.members = Some(members.collect::<Result<_, Malformed>>()?);
                }
            }
            MetadataType::GEOMETRY_TYPE => {
                for column in self.of(|column_type| column_type == ColumnType::GEOMETRY) {
                    column.geometry_type = Some(small(&mut reader, "geometry type")?);
                }
            }
            MetadataType::VECTOR_DIMENSIONALITY => {
                for column in self.of(|column_type| column_type == ColumnType::VECTOR) {
                    column.dimensions = Some(small(&mut reader, "vector dimensions")?);
                }
            }
            MetadataType::SIMPLE_PRIMARY_KEY | MetadataType::PRIMARY_KEY_WITH_PREFIX => {
                let mut key = Vec::new();
                while !reader.is_empty() {
                    let at = small(&mut reader, "primary key column")?;
                    if at as usize >= self.columns.len() {
                        return Err(Malformed::new("primary key column"));
                    }
                    if part == MetadataType::PRIMARY_KEY_WITH_PREFIX {
                        small(&mut reader, "primary key prefix")?;
                    }
                    key.push(at);
                }
                self.primary_key = Some(key);
            }
            // A later version's.
            _ => return Ok(()),
        }
        reader.finish("optional metadata trailer")
    }

    fn of(&mut self, wanted: fn(ColumnType) -> bool) -> Vec<&mut Column> {
        self.columns.iter_mut().filter(|column| wanted(column.column_type)).collect()
    }
}

fn small(reader: &mut Reader<'_>, what: &'static str) -> Result<u32, Malformed> {
    u32::try_from(lenenc::integer(reader, what)?).map_err(|_| Malformed::new(what))
}

/// A bit for each column, the highest first.
fn bits(reader: &mut Reader<'_>, columns: &mut [&mut Column], set: fn(&mut Column, bool)) -> Result<(), Malformed> {
    let bytes = reader.take(columns.len().div_ceil(8), "optional metadata bits")?;
    for (at, column) in columns.iter_mut().enumerate() {
        set(column, bytes[at / 8] & (0x80 >> (at % 8)) != 0);
    }
    Ok(())
}

fn default_collations(reader: &mut Reader<'_>, columns: &mut [&mut Column]) -> Result<(), Malformed> {
    let usual = small(reader, "default collation")?;
    columns.iter_mut().for_each(|column| column.collation = Some(usual));
    while !reader.is_empty() {
        let at = small(reader, "collation's column")? as usize;
        let collation = small(reader, "column collation")?;
        columns.get_mut(at).ok_or(Malformed::new("collation's column"))?.collation = Some(collation);
    }
    Ok(())
}

fn each_collation(reader: &mut Reader<'_>, columns: &mut [&mut Column]) -> Result<(), Malformed> {
    for column in columns {
        column.collation = Some(small(reader, "column collation")?);
    }
    Ok(())
}

/// What a type code and its metadata mean: ENUM and SET hide behind STRING, and so do lengths beyond 255.
fn real_type(column_type: ColumnType, metadata: &mut Reader<'_>) -> Result<(ColumnType, u16), Malformed> {
    let what = "table metadata";
    Ok(match column_type {
        ColumnType::STRING | ColumnType::VAR_STRING | ColumnType::ENUM | ColumnType::SET => {
            let [code, length] = metadata.array(what)?;
            match ColumnType(code) {
                ColumnType::ENUM => (ColumnType::ENUM, u16::from(length)),
                ColumnType::SET => (ColumnType::SET, u16::from(length)),
                // Two bits of the length are kept, inverted, in the type's.
                _ if code & 0x30 != 0x30 => {
                    let high = u16::from((code & 0x30) ^ 0x30) << 4;
                    (ColumnType(code | 0x30), high | u16::from(length))
                }
                real => (real, u16::from(length)),
            }
        }
        ColumnType::NEWDECIMAL => {
            let [precision, scale] = metadata.array(what)?;
            (column_type, u16::from_be_bytes([precision, scale]))
        }
        ColumnType::VARCHAR | VARCHAR_COMPRESSED | ColumnType::BIT => (column_type, metadata.u16_le(what)?),
        ColumnType::FLOAT
        | ColumnType::DOUBLE
        | ColumnType::BLOB
        | ColumnType::TINY_BLOB
        | ColumnType::MEDIUM_BLOB
        | ColumnType::LONG_BLOB
        | BLOB_COMPRESSED
        | ColumnType::GEOMETRY
        | ColumnType::JSON
        | ColumnType::VECTOR
        | ColumnType::TIME2
        | ColumnType::DATETIME2
        | ColumnType::TIMESTAMP2 => (column_type, u16::from(metadata.u8(what)?)),
        TYPED_ARRAY => return Err(Malformed::new("column of arrays")),
        _ => (column_type, 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(types: &[u8], metadata: &[u8], nulls: &[u8], optional: &[u8]) -> Vec<u8> {
        let mut body = vec![9, 0, 0, 0, 0, 0, 1, 0, 1, b's', 0, 1, b't', 0, types.len() as u8];
        body.extend_from_slice(types);
        body.push(metadata.len() as u8);
        body.extend_from_slice(metadata);
        body.extend_from_slice(nulls);
        body.extend_from_slice(optional);
        body
    }

    #[test]
    fn columns_have_their_types_metadata_and_names() {
        // INT, VARCHAR(300), CHAR(10), CHAR(260) in 4 bytes per character, ENUM, DECIMAL(10,2)
        let types = [3, 15, 254, 254, 254, 246];
        let metadata = [44, 1, 254, 10, 0xce, 0x10, 247, 1, 10, 2];
        let optional = b"\x01\x01\x80\x02\x03\x2d\x01\x3f\x04\x0c\x01a\x01b\x01c\x01d\x01e\x01f\x06\x05\x02\x01x\x01y\x08\x02\x00\x01";
        let body = body(&types, &metadata, &[0b10_0001], optional);
        let map = TableMap::decode(&body, &Format::default()).unwrap();
        let seen: Vec<_> = map.columns.iter().map(|column| (column.column_type, column.metadata)).collect();
        assert_eq!(
            seen,
            [
                (ColumnType::LONG, 0),
                (ColumnType::VARCHAR, 300),
                (ColumnType::STRING, 10),
                (ColumnType::STRING, 0x310),
                (ColumnType::ENUM, 1),
                (ColumnType::NEWDECIMAL, 10 << 8 | 2),
            ]
        );
        assert!(map.columns[0].nullable && !map.columns[1].nullable && map.columns[5].nullable);
        assert_eq!((map.columns[0].is_unsigned, map.columns[5].is_unsigned), (Some(true), Some(false)));
        assert_eq!((map.columns[1].collation, map.columns[2].collation), (Some(45), Some(63)));
        assert_eq!(map.columns[4].members, Some(vec![b"x".to_vec(), b"y".to_vec()]));
        assert_eq!(map.columns[4].name.as_deref(), Some("e"));
        assert_eq!(map.primary_key, Some(vec![0, 1]));
        assert_eq!(TableMap::peek(&body, &Format::default()), Ok((9, "s".into(), "t".into())));
    }

    #[test]
    fn metadata_that_ends_early_or_late_is_refused() {
        let format = Format::default();
        assert!(TableMap::decode(&body(&[15], &[44], &[0], b""), &format).is_err());
        assert!(TableMap::decode(&body(&[3], &[44], &[0], b""), &format).is_err());
        assert!(TableMap::decode(&body(&[3], &[], &[0], b"\x01\x02\x80\x00"), &format).is_err());
        assert!(TableMap::decode(&body(&[3], &[], &[0], b"\x08\x01\x01"), &format).is_err());
        assert!(TableMap::decode(&body(&[3], &[], &[0], b"\x04\x02\x05a"), &format).is_err());
        assert!(TableMap::decode(&body(&[3], &[], &[0], b"\x63\x01\x00"), &format).is_ok());
    }
}
