//! The messages. Each encodes and decodes in the same place, one file per family.
//!
//! Text from a frontend stays bytes (`&[u8]`): whether it is valid UTF-8 is for the session to judge, because a wrong
//! byte is an error of that statement (`22021`), not of the protocol. Text from a backend is decoded loosely for the
//! same reason.

mod authentication;
mod copy;
mod query;
mod report;
mod result;
mod startup;
#[cfg(test)]
mod tests;
mod texts;

pub use authentication::{Authentication, SaslInitialResponse};
pub use copy::{CopyFormats, CopyResponse, PieceEncoder};
pub use query::{Bind, Execute, Formats, FunctionCall, Oids, Parse, Target, Values};
pub use report::{
    BackendKeyData, NegotiateProtocolVersion, Notice, Notification, ParameterStatus, Severity, TransactionStatus,
};
pub use result::{DataRow, FieldDescription, MAX_COLUMNS, RowDescription, RowEncoder};
pub use startup::{
    CANCEL_REQUEST, CancelRequest, GSSENC_REQUEST, MAX_CANCEL_KEY, PROTOCOL_3_0, PROTOCOL_3_2, ProtocolVersion,
    SSL_REQUEST, StartupMessage, StartupPacket,
};
pub use texts::map_texts;

use rowferry_wire::{Malformed, Reader, Writer};

/// A message from the client, after the start-up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frontend<'a> {
    /// Gives a prepared statement its parameters and makes a portal of it.
    Bind(Bind<'a>),
    /// Forgets a statement or a portal.
    Close(Target<'a>),
    /// A piece of a COPY's data.
    CopyData(&'a [u8]),
    /// The COPY's data is complete.
    CopyDone,
    /// The COPY cannot be completed, and why.
    CopyFail(&'a [u8]),
    /// Asks what a statement or a portal is.
    Describe(Target<'a>),
    /// Runs a portal.
    Execute(Execute<'a>),
    /// Asks for what has been answered so far.
    Flush,
    /// Calls a function by its oid; a relic.
    FunctionCall(FunctionCall<'a>),
    /// Prepares a statement.
    Parse(Parse<'a>),
    /// A password or SASL message: the state of the authentication says which.
    Password(&'a [u8]),
    /// Runs statements the simple way.
    Query(&'a [u8]),
    /// Ends a pipeline; answered by `ReadyForQuery`.
    Sync,
    /// Goodbye.
    Terminate,
}

impl<'a> Frontend<'a> {
    /// Decodes the body of the message `tag`.
    pub fn decode(tag: u8, body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let reader = &mut reader;
        let message = match tag {
            b'B' => Self::Bind(Bind::decode(reader)?),
            b'C' => Self::Close(Target::decode(reader)?),
            b'd' => Self::CopyData(reader.rest()),
            b'c' => Self::CopyDone,
            b'f' => Self::CopyFail(reader.until_nul("CopyFail message")?),
            b'D' => Self::Describe(Target::decode(reader)?),
            b'E' => Self::Execute(Execute::decode(reader)?),
            b'H' => Self::Flush,
            b'F' => Self::FunctionCall(FunctionCall::decode(reader)?),
            b'P' => Self::Parse(Parse::decode(reader)?),
            b'p' => Self::Password(reader.rest()),
            b'Q' => Self::Query(reader.until_nul("Query text")?),
            b'S' => Self::Sync,
            b'X' => Self::Terminate,
            _ => return Err(Malformed::new("frontend message type")),
        };
        reader.finish("bytes after the end of the message")?;
        Ok(message)
    }

    /// Appends the whole message, header included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bind(bind) => frame(out, b'B', |w| bind.encode(w)),
            Self::Close(target) => frame(out, b'C', |w| target.encode(w)),
            Self::CopyData(data) => frame(out, b'd', |w| {
                w.raw(data);
            }),
            Self::CopyDone => frame(out, b'c', |_| ()),
            Self::CopyFail(why) => frame(out, b'f', |w| {
                w.terminated(why);
            }),
            Self::Describe(target) => frame(out, b'D', |w| target.encode(w)),
            Self::Execute(execute) => frame(out, b'E', |w| execute.encode(w)),
            Self::Flush => frame(out, b'H', |_| ()),
            Self::FunctionCall(call) => frame(out, b'F', |w| call.encode(w)),
            Self::Parse(parse) => frame(out, b'P', |w| parse.encode(w)),
            Self::Password(body) => frame(out, b'p', |w| {
                w.raw(body);
            }),
            Self::Query(sql) => frame(out, b'Q', |w| {
                w.terminated(sql);
            }),
            Self::Sync => frame(out, b'S', |_| ()),
            Self::Terminate => frame(out, b'X', |_| ()),
        }
    }
}

/// A message from the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Backend<'a> {
    /// What the server wants to know, or that it is content.
    Authentication(Authentication<'a>),
    /// What a cancel request must name.
    BackendKeyData(BackendKeyData<'a>),
    /// `Bind` succeeded.
    BindComplete,
    /// `Close` succeeded.
    CloseComplete,
    /// A statement has ended; its tag.
    CommandComplete(&'a str),
    /// The server will send data in both directions (replication).
    CopyBothResponse(CopyResponse<'a>),
    /// A piece of a COPY's data.
    CopyData(&'a [u8]),
    /// The COPY's data is complete.
    CopyDone,
    /// The server awaits a COPY's data.
    CopyInResponse(CopyResponse<'a>),
    /// The server is about to send a COPY's data.
    CopyOutResponse(CopyResponse<'a>),
    /// A row.
    DataRow(DataRow<'a>),
    /// The query text held no statement.
    EmptyQueryResponse,
    /// It failed.
    ErrorResponse(Box<Notice<'a>>),
    /// The result of a `FunctionCall`; `None` is NULL.
    FunctionCallResponse(Option<&'a [u8]>),
    /// The server does not speak all that was asked for.
    NegotiateProtocolVersion(NegotiateProtocolVersion<'a>),
    /// What was described returns no rows.
    NoData,
    /// A remark.
    NoticeResponse(Box<Notice<'a>>),
    /// Another session's NOTIFY.
    NotificationResponse(Notification<'a>),
    /// The types of a statement's parameters.
    ParameterDescription(Oids<'a>),
    /// A setting that clients care for has this value now.
    ParameterStatus(ParameterStatus<'a>),
    /// `Parse` succeeded.
    ParseComplete,
    /// The row limit of `Execute` was reached; there may be more.
    PortalSuspended,
    /// The server awaits the next command.
    ReadyForQuery(TransactionStatus),
    /// What the rows to come look like.
    RowDescription(RowDescription<'a>),
}

impl<'a> Backend<'a> {
    /// Decodes the body of the message `tag`.
    pub fn decode(tag: u8, body: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let reader = &mut reader;
        let message = match tag {
            b'R' => Self::Authentication(Authentication::decode(reader)?),
            b'K' => Self::BackendKeyData(BackendKeyData::decode(reader)?),
            b'2' => Self::BindComplete,
            b'3' => Self::CloseComplete,
            b'C' => Self::CommandComplete(text(reader, "CommandComplete tag")?),
            b'W' => Self::CopyBothResponse(CopyResponse::decode(reader)?),
            b'd' => Self::CopyData(reader.rest()),
            b'c' => Self::CopyDone,
            b'G' => Self::CopyInResponse(CopyResponse::decode(reader)?),
            b'H' => Self::CopyOutResponse(CopyResponse::decode(reader)?),
            b'D' => Self::DataRow(DataRow::decode(reader)?),
            b'I' => Self::EmptyQueryResponse,
            b'E' => Self::ErrorResponse(Notice::decode(reader)?.into()),
            b'V' => Self::FunctionCallResponse(query::value(reader, "FunctionCallResponse value")?),
            b'v' => Self::NegotiateProtocolVersion(NegotiateProtocolVersion::decode(reader)?),
            b'n' => Self::NoData,
            b'N' => Self::NoticeResponse(Notice::decode(reader)?.into()),
            b'A' => Self::NotificationResponse(Notification::decode(reader)?),
            b't' => Self::ParameterDescription(Oids::decode(reader)?),
            b'S' => Self::ParameterStatus(ParameterStatus::decode(reader)?),
            b'1' => Self::ParseComplete,
            b's' => Self::PortalSuspended,
            b'Z' => Self::ReadyForQuery(TransactionStatus(reader.u8("ReadyForQuery status")?)),
            b'T' => Self::RowDescription(RowDescription::decode(reader)?),
            _ => return Err(Malformed::new("backend message type")),
        };
        reader.finish("bytes after the end of the message")?;
        Ok(message)
    }

    /// Appends the whole message, header included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Authentication(request) => frame(out, b'R', |w| request.encode(w)),
            Self::BackendKeyData(key) => frame(out, b'K', |w| key.encode(w)),
            Self::BindComplete => frame(out, b'2', |_| ()),
            Self::CloseComplete => frame(out, b'3', |_| ()),
            Self::CommandComplete(tag) => frame(out, b'C', |w| put_text(w, tag)),
            Self::CopyBothResponse(response) => frame(out, b'W', |w| response.encode(w)),
            Self::CopyData(data) => frame(out, b'd', |w| {
                w.raw(data);
            }),
            Self::CopyDone => frame(out, b'c', |_| ()),
            Self::CopyInResponse(response) => frame(out, b'G', |w| response.encode(w)),
            Self::CopyOutResponse(response) => frame(out, b'H', |w| response.encode(w)),
            Self::DataRow(row) => frame(out, b'D', |w| row.encode(w)),
            Self::EmptyQueryResponse => frame(out, b'I', |_| ()),
            Self::ErrorResponse(notice) => frame(out, b'E', |w| notice.encode(w)),
            Self::FunctionCallResponse(value) => frame(out, b'V', |w| query::put_value(w, *value)),
            Self::NegotiateProtocolVersion(answer) => frame(out, b'v', |w| answer.encode(w)),
            Self::NoData => frame(out, b'n', |_| ()),
            Self::NoticeResponse(notice) => frame(out, b'N', |w| notice.encode(w)),
            Self::NotificationResponse(notification) => frame(out, b'A', |w| notification.encode(w)),
            Self::ParameterDescription(types) => frame(out, b't', |w| types.encode(w)),
            Self::ParameterStatus(status) => frame(out, b'S', |w| status.encode(w)),
            Self::ParseComplete => frame(out, b'1', |_| ()),
            Self::PortalSuspended => frame(out, b's', |_| ()),
            Self::ReadyForQuery(status) => frame(out, b'Z', |w| {
                w.u8(status.0);
            }),
            Self::RowDescription(description) => frame(out, b'T', |w| description.encode(w)),
        }
    }
}

/// Writes a tag, a length and what `body` writes.
pub(crate) fn frame(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Writer<'_>)) {
    out.push(tag);
    untagged(out, body);
}

/// Writes a length and what `body` writes: the form of start-up packets.
pub(crate) fn untagged(out: &mut Vec<u8>, body: impl FnOnce(&mut Writer<'_>)) {
    let mut writer = Writer::new(out);
    let start = writer.len();
    writer.i32(0);
    body(&mut writer);
    let length = writer.len() - start;
    // Messages are bounded far below this by whoever builds them; a peer refuses what is cut here.
    writer.patch_i32(start, i32::try_from(length).unwrap_or(i32::MAX));
}

/// Reads a terminated string of a backend.
pub(crate) fn text<'a>(reader: &mut Reader<'a>, what: &'static str) -> Result<&'a str, Malformed> {
    std::str::from_utf8(reader.until_nul(what)?).map_err(|_| Malformed::new(what))
}

/// Writes a terminated string. A NUL inside would end it early and shift what follows: the text is cut there.
pub(crate) fn put_text(writer: &mut Writer<'_>, text: &str) {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    writer.terminated(&bytes[..end]);
}
