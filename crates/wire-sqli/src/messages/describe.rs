//! Descriptions: `SQ_DESCRIBE` of columns, `SQ_IDESCRIBE` of parameters.

use std::borrow::Cow;

use rowferry_wire::{Malformed, Writer};

use super::StatementId;
use crate::put::Put;
use crate::scan::{Scan, Stop};
use crate::tag::Tag;
use crate::types::type_flag;
use crate::{DecodeError, MAX_STRING_TABLE, StatementType, TooLong, TypeCode, Widths};

/// A described type: what columns and parameters have in common.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TypeDescription<'a> {
    /// Low byte: [`TypeCode`]; high byte: [`type_flag`]s.
    pub type_word: u16,
    /// `sysxtdtypes.extended_id`; 0 for built-in types, 1 `lvarchar`, 5 `boolean`, 10 `blob`, 11 `clob`.
    pub extended_id: i32,
    /// Owner of the extended type.
    pub owner: &'a [u8],
    /// Name of the extended type; for rows and collections the text of the type.
    pub type_name: &'a [u8],
    /// Passed by reference; 0.
    pub by_reference: i16,
    /// Alignment of an opaque type: 1 for `boolean`, 4 for `blob`.
    pub alignment: i16,
    /// For `DISTINCT` types, the extended id of their source.
    pub source_type: i32,
    /// Width, digits and scale, or qualifier, by type.
    pub encoded_length: i32,
}

impl<'a> TypeDescription<'a> {
    /// The type without its flags.
    pub const fn code(&self) -> TypeCode {
        TypeCode(self.type_word as u8)
    }

    /// True when the column is declared `NOT NULL`.
    pub const fn is_not_null(&self) -> bool {
        self.type_word & type_flag::NOT_NULL != 0
    }

    fn decode(scan: &mut Scan<'a>) -> Result<Self, Stop> {
        Ok(Self {
            type_word: scan.u16()?,
            extended_id: scan.i32()?,
            owner: scan.char()?,
            type_name: scan.char()?,
            by_reference: scan.i16()?,
            alignment: scan.i16()?,
            source_type: scan.i32()?,
            encoded_length: scan.i32()?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>) -> Result<(), TooLong> {
        w.u16(self.type_word).i32(self.extended_id);
        w.char(self.owner, "owner of a type")?.char(self.type_name, "name of a type")?;
        w.i16(self.by_reference).i16(self.alignment).i32(self.source_type).i32(self.encoded_length);
        Ok(())
    }
}

/// One column of [`Describe`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Field<'a> {
    /// Offset of the name in the string table.
    pub name_index: i32,
    /// Offset of the column in a tuple in which every column has its declared width.
    pub start: i32,
    /// Its type.
    pub ty: TypeDescription<'a>,
}

/// `SQ_DESCRIBE` (8): what a prepared statement is and what it returns.
///
/// Wire: see [`Field`]; the tuple size has two or four bytes by capability 69. Sent for every `SQ_PREPARE`. An `INSERT`
/// describes its target columns, so fields do not mean that rows come back: see [`StatementType::needs_cursor`].
/// Vectors: `*.prepare*.reply`, `column.*.describe`, `real.describe.fork`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Describe<'a> {
    /// What the statement is.
    pub statement_type: StatementType,
    /// Its number for `SQ_ID`.
    pub statement: StatementId,
    /// Estimated rows or cost; 0 is fine.
    pub estimate: i32,
    /// Sum of the declared widths.
    pub tuple_size: i32,
    /// The columns.
    pub fields: Vec<Field<'a>>,
    /// The names, each ended by a NUL.
    pub strings: Cow<'a, [u8]>,
}

/// Bytes of the smallest field descriptor.
const LEAST_FIELD: usize = 30;

impl<'a> Describe<'a> {
    /// A statement without columns.
    pub const fn empty(statement_type: StatementType, statement: StatementId) -> Self {
        Self { statement_type, statement, estimate: 0, tuple_size: 0, fields: Vec::new(), strings: Cow::Borrowed(b"") }
    }

    /// Describes columns: each with its name, its type and the width that it declares.
    pub fn of_columns<'n>(
        statement_type: StatementType,
        statement: StatementId,
        columns: impl IntoIterator<Item = (&'n [u8], TypeDescription<'a>, i32)>,
    ) -> Self {
        let mut strings = Vec::new();
        let mut start = 0i32;
        let fields = columns
            .into_iter()
            .map(|(name, ty, width)| {
                let field = Field { name_index: strings.len() as i32, start, ty };
                strings.extend_from_slice(name);
                strings.push(0);
                start = start.saturating_add(width);
                field
            })
            .collect();
        Self { statement_type, statement, estimate: 0, tuple_size: start, fields, strings: Cow::Owned(strings) }
    }

    /// The name of a field: up to its NUL.
    pub fn name(&self, field: &Field<'_>) -> Result<&[u8], Malformed> {
        let tail = usize::try_from(field.name_index).ok().and_then(|index| self.strings.get(index..));
        let tail = tail.ok_or(Malformed::new("name of a column"))?;
        let len = tail.iter().position(|&byte| byte == 0).ok_or(Malformed::new("name of a column"))?;
        Ok(&tail[..len])
    }

    pub(super) fn decode(scan: &mut Scan<'a>, widths: Widths) -> Result<Self, Stop> {
        let statement_type = StatementType(scan.u16()?);
        let statement = StatementId(scan.i16()?);
        let estimate = scan.i32()?;
        let tuple_size = if widths.large_tuple { scan.i32()? } else { i32::from(scan.u16()?) };
        let count = scan.count("number of columns")?;
        let strings = scan.len32(MAX_STRING_TABLE, "length of the string table")?;
        if count == 0 {
            let strings = Cow::Borrowed(scan.take_padded(strings)?);
            return Ok(Self { statement_type, statement, estimate, tuple_size, fields: Vec::new(), strings });
        }
        scan.owe(strings + (strings & 1));
        let fields = scan.items(count, LEAST_FIELD, |scan| {
            let (name_index, start) = (scan.i32()?, scan.i32()?);
            Ok(Field { name_index, start, ty: TypeDescription::decode(scan)? })
        })?;
        scan.settle();
        let strings = Cow::Borrowed(scan.take_padded(strings)?);
        Ok(Self { statement_type, statement, estimate, tuple_size, fields, strings })
    }

    /// Under the tag of a statement's description, or of a generated key's.
    pub(super) fn encode(&self, tag: Tag, w: &mut Writer<'_>, widths: Widths) -> Result<(), TooLong> {
        w.u16(tag.0).u16(self.statement_type.0).i16(self.statement.0).i32(self.estimate);
        if widths.large_tuple {
            w.i32(self.tuple_size);
        } else {
            // Clients that decode cell by cell ignore it, and there is no other way to say it here.
            w.u16(u16::try_from(self.tuple_size).unwrap_or(u16::MAX));
        }
        w.count(self.fields.len(), "number of columns")?;
        if self.strings.len() > MAX_STRING_TABLE {
            return Err(TooLong { what: "names of the columns", limit: MAX_STRING_TABLE });
        }
        w.i32(self.strings.len() as i32);
        for field in &self.fields {
            w.i32(field.name_index).i32(field.start);
            field.ty.encode(w)?;
        }
        w.padded(&self.strings);
        Ok(())
    }
}

/// `SQ_IDESCRIBE` (125): the types of the parameters, in their order.
///
/// Wire: `i16` count; when there are any and capability 52 is active, `i16` flags, of which the lowest bit would
/// announce names in a layout that is not known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InputDescribe<'a> {
    /// One per parameter.
    pub params: Vec<TypeDescription<'a>>,
}

impl<'a> InputDescribe<'a> {
    pub(super) fn decode(scan: &mut Scan<'a>, widths: Widths) -> Result<Self, Stop> {
        let count = scan.count("number of parameters")?;
        if count > 0 && widths.named_parameters && scan.i16()? & 1 != 0 {
            return Err(DecodeError::Unsupported("names of parameters").into());
        }
        Ok(Self { params: scan.items(count, LEAST_FIELD - 8, TypeDescription::decode)? })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>, widths: Widths) -> Result<(), TooLong> {
        w.u16(Tag::IDESCRIBE.0).count(self.params.len(), "number of parameters")?;
        if !self.params.is_empty() && widths.named_parameters {
            w.i16(0);
        }
        self.params.iter().try_for_each(|param| param.encode(w))
    }
}
