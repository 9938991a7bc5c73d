//! Routines of the fast path, and large objects.

use super::operation::{Awaited, Operation};
use super::{Client, Misuse, Params, Prepared};
use crate::messages::{CallRoutine, ClientMessage, GetRoutine, LoAction, LoRequest, Param, ParamValue, SimpleLob};
use crate::{TooLong, TypeCode};

/// A value that a routine returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    /// Its type.
    pub code: TypeCode,
    /// The name of an extended type, such as `blob`; else empty.
    pub type_name: Vec<u8>,
    /// Qualifier or digits, by type; 0 when the server leaves it out.
    pub precision: u16,
    /// What it is.
    pub value: ReturnedValue,
}

/// See [`Returned`].
#[derive(Clone, Debug, PartialEq)]
pub enum ReturnedValue {
    /// NULL.
    Null,
    /// A whole number of any width.
    Int(i64),
    /// `FLOAT`, `SMALLFLOAT`.
    Float(f64),
    /// Days since 1899-12-31.
    Date(i32),
    /// Text in the code set of the client.
    Text(Vec<u8>),
    /// `DECIMAL`, `MONEY`, `DATETIME`, `INTERVAL`, in base 100.
    Base100(Vec<u8>),
    /// Anything else, as it is.
    Opaque(Vec<u8>),
}

impl From<&Param<'_>> for Returned {
    fn from(param: &Param<'_>) -> Self {
        let value = match param.value {
            ParamValue::Null | ParamValue::Default => ReturnedValue::Null,
            ParamValue::SmallInt(value) => ReturnedValue::Int(value.into()),
            ParamValue::Integer(value) => ReturnedValue::Int(value.into()),
            ParamValue::BigInt(value) | ParamValue::Int8(value) => ReturnedValue::Int(value),
            ParamValue::Float(value) => ReturnedValue::Float(value),
            ParamValue::SmallFloat(value) => ReturnedValue::Float(value.into()),
            ParamValue::Date(days) => ReturnedValue::Date(days),
            ParamValue::Text(text) => ReturnedValue::Text(text.to_vec()),
            ParamValue::Base100(bytes) => ReturnedValue::Base100(bytes.to_vec()),
            ParamValue::Opaque(bytes) if param.code == TypeCode::LVARCHAR || param.name == b"lvarchar" => {
                ReturnedValue::Text(bytes.to_vec())
            }
            ParamValue::Opaque(bytes) | ParamValue::SimpleLob(bytes) => ReturnedValue::Opaque(bytes.to_vec()),
        };
        Self { code: param.code, type_name: param.name.to_vec(), precision: param.precision, value }
    }
}

/// Bytes of a chunk of a smart large object, as other clients say it.
const LO_CHUNK: i16 = 32_000;

impl Client {
    /// Bytes that one [`lo_read`](Self::lo_read) or [`lo_write`](Self::lo_write) moves at most.
    pub const LO_BYTES: usize = 1024 * 1024;

    /// Asks for the handle of a routine, by a signature such as `function informix.ifx_lo_close(integer)`. Event:
    /// [`Event::Routine`](super::Event::Routine).
    pub fn find_routine(&mut self, signature: &[u8]) -> Result<(), Misuse> {
        self.ready()?;
        self.ask(&[ClientMessage::GetRoutine(GetRoutine { signature, reserved: 0 })])?;
        self.operation = Operation::FindRoutine;
        Ok(())
    }

    /// Calls a routine by its handle, in a transaction when `begin` is true. Event:
    /// [`Event::Returned`](super::Event::Returned).
    pub fn call_routine(
        &mut self,
        database: &[u8],
        handle: i32,
        parameters: &Params,
        begin: bool,
    ) -> Result<(), Misuse> {
        self.ready()?;
        let widths = self.decoder.widths();
        let mut bytes = Vec::new();
        let params = parameters.len() as i16;
        ClientMessage::CallRoutine(CallRoutine { database, handle, params, reserved: 0 }).encode(&mut bytes, widths)?;
        if parameters.is_empty() {
            ClientMessage::Bind(Vec::new()).encode(&mut bytes, widths)?;
        }
        parameters.append_to(&mut bytes);
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        self.send(bytes, Operation::Call, begin);
        Ok(())
    }

    /// Reads up to `bytes` of an open smart large object, from its position or, by `seek`, from this offset of its
    /// beginning on. Event: [`Event::LoData`](super::Event::LoData); fewer bytes than asked for are the last.
    pub fn lo_read(&mut self, lofd: i16, bytes: usize, seek: Option<i64>) -> Result<(), Misuse> {
        self.ready()?;
        let size = bytes.min(Self::LO_BYTES);
        let action = match seek {
            Some(offset) => LoAction::SeekRead { offset: Some(offset), whence: 0 },
            None => LoAction::Read,
        };
        self.ask(&[ClientMessage::LoData(LoRequest { lofd, bytes: size as i32, chunk: LO_CHUNK, action })])?;
        self.operation = Operation::LoRead { size };
        Ok(())
    }

    /// Writes to an open smart large object, at its position. Event: [`Event::Done`](super::Event::Done), whose rows are
    /// the bytes written.
    pub fn lo_write(&mut self, lofd: i16, data: &[u8]) -> Result<(), Misuse> {
        self.ready()?;
        if data.is_empty() || data.len() > Self::LO_BYTES {
            return Err(TooLong { what: "piece of a large object", limit: Self::LO_BYTES }.into());
        }
        let request = LoRequest { lofd, bytes: data.len() as i32, chunk: LO_CHUNK, action: LoAction::Write };
        let mut messages = vec![ClientMessage::LoData(request)];
        messages.extend(data.chunks(LO_CHUNK as usize).map(ClientMessage::LoChunk));
        self.ask(&messages)?;
        self.operation = Operation::LoWrite { written: 0 };
        Ok(())
    }

    /// Fetches the `BYTE` or `TEXT` value of a descriptor in a row of an open cursor. Event:
    /// [`Event::Blob`](super::Event::Blob).
    pub fn fetch_blob(&mut self, prepared: &Prepared, descriptor: SimpleLob<'_>) -> Result<(), Misuse> {
        self.ready()?;
        let size = usize::try_from(descriptor.size()).unwrap_or(0);
        // Before the clean-up, which may close this very cursor.
        let widths = self.decoder.widths();
        let mut bytes = Vec::new();
        ClientMessage::Id(prepared.statement).encode(&mut bytes, widths)?;
        ClientMessage::FetchBlob(descriptor.0).encode(&mut bytes, widths)?;
        ClientMessage::Eot.encode(&mut bytes, widths)?;
        self.output.extend_from_slice(&bytes);
        self.awaited.push_back(Awaited::Operation);
        self.operation = Operation::Blob { size };
        Ok(())
    }
}
