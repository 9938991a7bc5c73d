//! The commands: simple query needs no type of its own; the extended query does.

use rowferry_wire::{Malformed, Reader, Writer};

use crate::Format;

/// A statement or a portal, by name; the empty name is the unnamed one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Target<'a> {
    /// A prepared statement.
    Statement(&'a [u8]),
    /// A portal.
    Portal(&'a [u8]),
}

impl<'a> Target<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        match reader.u8("kind of target")? {
            b'S' => Ok(Self::Statement(reader.until_nul("statement name")?)),
            b'P' => Ok(Self::Portal(reader.until_nul("portal name")?)),
            _ => Err(Malformed::new("kind of target")),
        }
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Statement(name) => {
                writer.u8(b'S').terminated(name);
            }
            Self::Portal(name) => {
                writer.u8(b'P').terminated(name);
            }
        }
    }
}

/// Prepares a statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Parse<'a> {
    /// The statement's name.
    pub statement: &'a [u8],
    /// Its text: one statement, or none.
    pub sql: &'a [u8],
    /// Parameter types that the client insists on; 0 leaves one to the server. May be fewer than the parameters.
    pub types: Oids<'a>,
}

impl<'a> Parse<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            statement: reader.until_nul("Parse statement name")?,
            sql: reader.until_nul("Parse text")?,
            types: Oids::decode(reader)?,
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.terminated(self.statement).terminated(self.sql);
        self.types.encode(writer);
    }
}

/// Gives a statement its parameters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bind<'a> {
    /// The portal to make.
    pub portal: &'a [u8],
    /// The statement it is made of.
    pub statement: &'a [u8],
    /// How the parameters are written.
    pub parameter_formats: Formats<'a>,
    /// The parameters.
    pub parameters: Values<'a>,
    /// How the result is to be written.
    pub result_formats: Formats<'a>,
}

impl<'a> Bind<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            portal: reader.until_nul("Bind portal name")?,
            statement: reader.until_nul("Bind statement name")?,
            parameter_formats: Formats::decode(reader)?,
            parameters: Values::decode(reader)?,
            result_formats: Formats::decode(reader)?,
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.terminated(self.portal).terminated(self.statement);
        self.parameter_formats.encode(writer);
        self.parameters.encode(writer);
        self.result_formats.encode(writer);
    }
}

/// Runs a portal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Execute<'a> {
    /// The portal.
    pub portal: &'a [u8],
    /// The most rows to return now; 0 or less is all of them.
    pub max_rows: i32,
}

impl<'a> Execute<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self { portal: reader.until_nul("Execute portal name")?, max_rows: reader.i32("Execute row limit")? })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.terminated(self.portal).i32(self.max_rows);
    }
}

/// Calls a function by its oid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FunctionCall<'a> {
    /// The function's oid.
    pub function: u32,
    /// How the arguments are written.
    pub argument_formats: Formats<'a>,
    /// The arguments.
    pub arguments: Values<'a>,
    /// How the result is to be written.
    pub result_format: Format,
}

impl<'a> FunctionCall<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            function: reader.u32("FunctionCall oid")?,
            argument_formats: Formats::decode(reader)?,
            arguments: Values::decode(reader)?,
            result_format: Format(reader.u16("FunctionCall result format")?),
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.u32(self.function);
        self.argument_formats.encode(writer);
        self.arguments.encode(writer);
        writer.u16(self.result_format.0);
    }
}

/// Format codes: none means text for all, one means that one for all, else one for each.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Formats<'a> {
    codes: &'a [u8],
}

impl<'a> Formats<'a> {
    /// Wraps codes as they stand on the wire, two bytes each; a last odd byte is ignored.
    pub const fn from_wire(codes: &'a [u8]) -> Self {
        Self { codes }
    }

    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count = usize::from(reader.u16("number of format codes")?);
        Ok(Self { codes: reader.take(count * 2, "format codes")? })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        let count = u16::try_from(self.len()).unwrap_or(u16::MAX);
        writer.u16(count).raw(&self.codes[..usize::from(count) * 2]);
    }

    /// How many codes were sent.
    pub const fn len(&self) -> usize {
        self.codes.len() / 2
    }

    /// True when none was sent, which means text.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The codes as sent.
    pub fn iter(&self) -> impl Iterator<Item = Format> + 'a {
        self.codes.chunks_exact(2).map(|pair| Format(u16::from_be_bytes([pair[0], pair[1]])))
    }

    /// The format of the value at `index`, if the codes cover it.
    pub fn of(&self, index: usize) -> Option<Format> {
        match self.len() {
            0 => Some(Format::TEXT),
            1 => self.iter().next(),
            _ => self.iter().nth(index),
        }
    }
}

/// Type oids.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Oids<'a> {
    oids: &'a [u8],
}

impl<'a> Oids<'a> {
    /// Wraps oids as they stand on the wire, four bytes each.
    pub const fn from_wire(oids: &'a [u8]) -> Self {
        Self { oids }
    }

    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count = usize::from(reader.u16("number of type oids")?);
        Ok(Self { oids: reader.take(count * 4, "type oids")? })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        let count = u16::try_from(self.oids.len() / 4).unwrap_or(u16::MAX);
        writer.u16(count).raw(&self.oids[..usize::from(count) * 4]);
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.oids.len() / 4
    }

    /// True when there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The oids.
    pub fn iter(&self) -> impl Iterator<Item = u32> + 'a {
        self.oids.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }
}

/// Values with a length each, `None` for NULL. All lengths were checked when this was decoded.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Values<'a> {
    count: u16,
    bytes: &'a [u8],
}

impl<'a> Values<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count = reader.u16("number of values")?;
        reader.fits(usize::from(count), 4, "number of values")?;
        let rest = reader.clone().rest();
        let start = reader.position();
        for _ in 0..count {
            value(reader, "length of a value")?;
        }
        Ok(Self { count, bytes: &rest[..reader.position() - start] })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.u16(self.count).raw(self.bytes);
    }

    /// Writes `values` in their wire form to `storage`, and wraps it.
    ///
    /// Values beyond 65,535, the most that a message can count, are left out.
    pub fn build<'v>(storage: &'a mut Vec<u8>, values: impl IntoIterator<Item = Option<&'v [u8]>>) -> Self {
        storage.clear();
        let mut writer = Writer::new(storage);
        let mut count = 0u16;
        for item in values.into_iter().take(usize::from(u16::MAX)) {
            put_value(&mut writer, item);
            count += 1;
        }
        Self { count, bytes: storage }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// True when there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The values as they travel: a length before each.
    pub const fn wire(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where in [`wire`](Self::wire) each value begins and ends; `None` is NULL.
    pub fn places(&self) -> impl Iterator<Item = Option<(usize, usize)>> + 'a {
        let mut reader = Reader::new(self.bytes);
        (0..self.count).map_while(move |_| {
            let value = value(&mut reader, "value").ok()?;
            let end = reader.position();
            Some(value.map(|value| (end - value.len(), end)))
        })
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&'a [u8]>> + 'a {
        let mut reader = Reader::new(self.bytes);
        // Lengths were checked by `decode`, or written by `build`.
        (0..self.count).map_while(move |_| value(&mut reader, "value").ok())
    }
}

/// Reads a length and that many bytes; -1 is NULL.
pub(super) fn value<'a>(reader: &mut Reader<'a>, what: &'static str) -> Result<Option<&'a [u8]>, Malformed> {
    match reader.i32(what)? {
        -1 => Ok(None),
        length => {
            let length = usize::try_from(length).map_err(|_| Malformed::new(what))?;
            reader.take(length, what).map(Some)
        }
    }
}

/// Writes a length and the bytes; NULL is -1.
pub(super) fn put_value(writer: &mut Writer<'_>, value: Option<&[u8]>) {
    match value {
        None => {
            writer.i32(-1);
        }
        Some(bytes) => drop(writer.i32(i32::try_from(bytes.len()).unwrap_or(i32::MAX)).raw(bytes)),
    }
}
