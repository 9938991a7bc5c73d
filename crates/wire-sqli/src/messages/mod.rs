//! Every message after the login, decoded and encoded in the same file.
//!
//! [`ClientMessage`] is what a server reads, [`ServerMessage`] what a client reads; both encode, so that each role can
//! be played against the other. Text borrows from the receive buffer.

mod bind;
mod describe;
mod object;
mod result;
mod session;
mod statement;

pub use bind::{Param, ParamValue};
pub use describe::{Describe, Field, InputDescribe, TypeDescription};
pub use object::{CallRoutine, FileRequest, GetRoutine, LoAction, LoReply, LoRequest, Routine, SimpleLob};
pub use result::{Cost, Done, InsertDone, ServerError, Tuple, XactStat, warning};
pub use session::{Challenge, ChallengeStyle, DbOpen, Environment, SetSavepoint, XaOpen};
pub use statement::{FetchKind, GeneratedKeys, NFetch, PutInsert, RequestedType, RetType, SFetch, SqlText};

use rowferry_wire::Writer;

use crate::decoder::State;
use crate::put::Put;
use crate::scan::{Scan, Stop};
use crate::tag::Tag;
use crate::{Capabilities, DecodeError, TooLong, Widths};

/// A statement's number, given by the server.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StatementId(pub i16);

/// What a client sends.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientMessage<'a> {
    /// `SQ_COMMAND` (1): run without preparing.
    Command(SqlText<'a>),
    /// `SQ_PREPARE` (2).
    Prepare(SqlText<'a>),
    /// `SQ_CURNAME` (3): name the cursor of the current statement.
    CursorName(&'a [u8]),
    /// `SQ_ID` (4): the statement that the rest of the group is about.
    Id(StatementId),
    /// `SQ_BIND` (5): values for the placeholders. They stay with the statement, also across groups.
    Bind(Vec<Param<'a>>),
    /// `SQ_OPEN` (6): open the cursor.
    Open,
    /// `SQ_EXECUTE` (7).
    Execute,
    /// `SQ_NFETCH` (9).
    NFetch(NFetch),
    /// `SQ_CLOSE` (10): close the cursor.
    Close,
    /// `SQ_RELEASE` (11): free the statement.
    Release,
    /// `SQ_EOT` (12): your turn.
    Eot,
    /// `SQ_PUTINSERT` (17).
    PutInsert(PutInsert<'a>),
    /// `SQ_CMMTWORK` (19).
    Commit,
    /// `SQ_RBWORK` (20), with its mandatory word, 0.
    Rollback(i16),
    /// `SQ_NDESCRIBE` (22): send `SQ_DESCRIBE`.
    NDescribe,
    /// `SQ_SFETCH` (23).
    SFetch(SFetch),
    /// `SQ_SCROLL` (24): the cursor to be opened scrolls.
    Scroll,
    /// `SQ_DBLIST` (26).
    DbList,
    /// `SQ_BEGIN` (35).
    Begin,
    /// `SQ_DBOPEN` (36).
    DbOpen(DbOpen<'a>),
    /// `SQ_DBCLOSE` (37).
    DbClose,
    /// `SQ_FETCHBLOB` (38): the [descriptor](SimpleLob) of a `BYTE` or `TEXT` value.
    FetchBlob(&'a [u8]),
    /// `SQ_BLOB` (39): a chunk; an empty one ends the value.
    Blob(&'a [u8]),
    /// `SQ_BBIND` (41): so many `BYTE` and `TEXT` values follow in chunks.
    BBind(i16),
    /// `SQ_HOLD` (43): the cursor to be opened survives the transaction.
    Hold,
    /// `SQ_WANTDONE` (49): send `SQ_DONE`.
    WantDone,
    /// `SQ_VERSION` (53).
    Version,
    /// `SQ_EXIT` (56): the session ends; no `SQ_EOT` follows.
    Exit,
    /// `SQ_INFO` (81).
    Environment(Environment<'a>),
    /// `SQ_LODATA` (97).
    LoData(LoRequest),
    /// A chunk of a write by [`LoRequest`].
    LoChunk(&'a [u8]),
    /// `SQ_RET_TYPE` (100).
    RetType(RetType<'a>),
    /// `SQ_GETROUTINE` (101).
    GetRoutine(GetRoutine<'a>),
    /// `SQ_EXFPROUTINE` (102).
    CallRoutine(CallRoutine<'a>),
    /// `SQ_FILE_READ` (106): a file of so many bytes follows in chunks.
    FileTotal(i32),
    /// `SQ_FILE_READ` (106): a chunk of it.
    FileChunk(&'a [u8]),
    /// `SQ_FILE_WRITE` (107): so many bytes were written.
    FileWritten(i32),
    /// `SQ_AUTOFREE` (108): free the statement when its cursor ends.
    AutoFree,
    /// `SQ_CIDESCRIBE` (124): describe the parameters.
    DescribeInput,
    /// `SQ_PROTOCOLS` (126): what the client can do.
    Protocols(Capabilities),
    /// `SQ_ACK` (128): ready for PAM.
    PamAck,
    /// `SQ_RESPONSE` (130): the answer to a challenge.
    PamResponse(&'a [u8]),
    /// Tag 134: which generated keys are wanted.
    GeneratedKeys(GeneratedKeys<'a>),
    /// `SQ_SQLISETSVPT` (137).
    SetSavepoint(SetSavepoint<'a>),
    /// `SQ_XOPEN` (82).
    XaOpen(XaOpen<'a>),
    /// `SQ_SQLIRELSVPT` (138).
    ReleaseSavepoint(&'a [u8]),
    /// `SQ_SQLIRBACKSVPT` (139).
    RollbackToSavepoint(&'a [u8]),
}

impl<'a> ClientMessage<'a> {
    pub(crate) fn decode(scan: &mut Scan<'a>, state: &mut State) -> Result<Self, Stop> {
        if state.lo_left > 0 {
            return Ok(Self::LoChunk(object::decode_announced_chunk(scan, &mut state.lo_left)?));
        }
        let widths = state.widths;
        let tag = Tag(scan.u16()?);
        Ok(match tag {
            Tag::COMMAND => Self::Command(SqlText::decode(scan, widths)?),
            Tag::PREPARE => Self::Prepare(SqlText::decode(scan, widths)?),
            Tag::CURNAME => Self::CursorName(scan.char()?),
            Tag::ID => Self::Id(StatementId(scan.i16()?)),
            Tag::BIND => Self::Bind(bind::decode_bind(scan, widths)?),
            Tag::OPEN => Self::Open,
            Tag::EXECUTE => Self::Execute,
            Tag::NFETCH => Self::NFetch(NFetch::decode(scan)?),
            Tag::CLOSE => Self::Close,
            Tag::RELEASE => Self::Release,
            Tag::EOT => Self::Eot,
            Tag::PUTINSERT => Self::PutInsert(PutInsert::decode(scan)?),
            Tag::CMMTWORK => Self::Commit,
            Tag::RBWORK => Self::Rollback(scan.i16()?),
            Tag::NDESCRIBE => Self::NDescribe,
            Tag::SFETCH => Self::SFetch(SFetch::decode(scan)?),
            Tag::SCROLL => Self::Scroll,
            Tag::DBLIST => Self::DbList,
            Tag::BEGIN => Self::Begin,
            Tag::DBOPEN => Self::DbOpen(DbOpen::decode(scan)?),
            Tag::DBCLOSE => Self::DbClose,
            Tag::FETCHBLOB => Self::FetchBlob(scan.take(widths.simple_lob_descriptor())?),
            Tag::BLOB => Self::Blob(scan.char()?),
            Tag::BBIND => Self::BBind(scan.i16()?),
            Tag::HOLD => Self::Hold,
            Tag::WANTDONE => Self::WantDone,
            Tag::VERSION => Self::Version,
            Tag::EXIT => Self::Exit,
            Tag::INFO => Self::Environment(Environment::decode(scan)?),
            Tag::LODATA => {
                let request = LoRequest::decode(scan)?;
                if request.action == LoAction::Write {
                    state.lo_left = request.bytes as usize;
                }
                Self::LoData(request)
            }
            Tag::RET_TYPE => Self::RetType(RetType::decode(scan)?),
            Tag::GETROUTINE => Self::GetRoutine(GetRoutine::decode(scan, widths)?),
            Tag::EXFPROUTINE => Self::CallRoutine(CallRoutine::decode(scan)?),
            Tag::FILE_READ if state.file_left > 0 => {
                Self::FileChunk(object::decode_announced_chunk(scan, &mut state.file_left)?)
            }
            Tag::FILE_READ => {
                let total = scan.len32(i32::MAX as usize, "length of a file")?;
                state.file_left = total;
                Self::FileTotal(total as i32)
            }
            Tag::FILE_WRITE => Self::FileWritten(scan.i32()?),
            Tag::AUTOFREE => Self::AutoFree,
            Tag::CIDESCRIBE => Self::DescribeInput,
            Tag::PROTOCOLS => Self::Protocols(session::decode_protocols(scan)?),
            Tag::ACK => Self::PamAck,
            Tag::RESPONSE => Self::PamResponse(scan.char()?),
            Tag::AUTOGENKEYS => Self::GeneratedKeys(GeneratedKeys::decode(scan)?),
            Tag::SETSVPT => Self::SetSavepoint(SetSavepoint::decode(scan)?),
            Tag::XOPEN => Self::XaOpen(XaOpen::decode(scan)?),
            Tag::RELSVPT => Self::ReleaseSavepoint(scan.char()?),
            Tag::RBACKSVPT => Self::RollbackToSavepoint(scan.char()?),
            Tag(unknown) => return Err(DecodeError::UnknownTag(unknown).into()),
        })
    }

    /// Appends the message to `out`. On error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>, widths: Widths) -> Result<(), TooLong> {
        let before = out.len();
        self.write(&mut Writer::new(out), widths).inspect_err(|_| out.truncate(before))
    }

    fn write(&self, w: &mut Writer<'_>, widths: Widths) -> Result<(), TooLong> {
        let mut bare = |tag: Tag| {
            w.u16(tag.0);
            Ok(())
        };
        match self {
            Self::Open => bare(Tag::OPEN),
            Self::Execute => bare(Tag::EXECUTE),
            Self::Close => bare(Tag::CLOSE),
            Self::Release => bare(Tag::RELEASE),
            Self::Eot => bare(Tag::EOT),
            Self::Commit => bare(Tag::CMMTWORK),
            Self::NDescribe => bare(Tag::NDESCRIBE),
            Self::Scroll => bare(Tag::SCROLL),
            Self::DbList => bare(Tag::DBLIST),
            Self::Begin => bare(Tag::BEGIN),
            Self::DbClose => bare(Tag::DBCLOSE),
            Self::Hold => bare(Tag::HOLD),
            Self::WantDone => bare(Tag::WANTDONE),
            Self::Version => bare(Tag::VERSION),
            Self::Exit => bare(Tag::EXIT),
            Self::AutoFree => bare(Tag::AUTOFREE),
            Self::DescribeInput => bare(Tag::CIDESCRIBE),
            Self::PamAck => bare(Tag::ACK),
            Self::Command(text) => text.encode(w, Tag::COMMAND, widths),
            Self::Prepare(text) => text.encode(w, Tag::PREPARE, widths),
            Self::CursorName(name) => w.u16(Tag::CURNAME.0).char(name, "name of a cursor").map(drop),
            Self::Id(id) => {
                statement::encode_id(*id, w);
                Ok(())
            }
            Self::Bind(params) => bind::encode_bind(params, w),
            Self::NFetch(fetch) => {
                fetch.encode(w);
                Ok(())
            }
            Self::PutInsert(put) => put.encode(w),
            Self::Rollback(word) => {
                w.u16(Tag::RBWORK.0).i16(*word);
                Ok(())
            }
            Self::SFetch(fetch) => {
                fetch.encode(w);
                Ok(())
            }
            Self::DbOpen(open) => open.encode(w),
            Self::FetchBlob(descriptor) => object::encode_fetch_blob(descriptor, w),
            Self::Blob(chunk) => object::encode_chunk(Tag::BLOB, chunk, w),
            Self::BBind(count) => {
                w.u16(Tag::BBIND.0).i16(*count);
                Ok(())
            }
            Self::Environment(environment) => environment.encode(w),
            Self::LoData(request) => {
                request.encode(w);
                Ok(())
            }
            Self::LoChunk(chunk) => object::encode_announced_chunk(chunk, w),
            Self::RetType(types) => types.encode(w),
            Self::GetRoutine(routine) => routine.encode(w, widths),
            Self::CallRoutine(call) => call.encode(w),
            Self::FileTotal(total) => {
                object::encode_total(Tag::FILE_READ, *total, w);
                Ok(())
            }
            Self::FileChunk(chunk) => object::encode_chunk(Tag::FILE_READ, chunk, w),
            Self::FileWritten(total) => {
                object::encode_total(Tag::FILE_WRITE, *total, w);
                Ok(())
            }
            Self::Protocols(mask) => session::encode_protocols(mask, w),
            Self::PamResponse(text) => w.u16(Tag::RESPONSE.0).char(text, "answer to a challenge").map(drop),
            Self::GeneratedKeys(keys) => keys.encode(w),
            Self::SetSavepoint(savepoint) => savepoint.encode(w),
            Self::XaOpen(open) => open.encode(w),
            Self::ReleaseSavepoint(name) => w.u16(Tag::RELSVPT.0).char(name, "name of a savepoint").map(drop),
            Self::RollbackToSavepoint(name) => w.u16(Tag::RBACKSVPT.0).char(name, "name of a savepoint").map(drop),
        }
    }
}

/// What a server sends.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerMessage<'a> {
    /// `SQ_DESCRIBE` (8).
    Describe(Describe<'a>),
    /// `SQ_CLOSE` (10): the server closed the cursor itself.
    Close,
    /// `SQ_EOT` (12): your turn.
    Eot,
    /// `SQ_ERR` (13).
    Error(ServerError<'a>),
    /// `SQ_TUPLE` (14).
    Tuple(Tuple<'a>),
    /// `SQ_DONE` (15).
    Done(Done),
    /// Tag 135: the generated keys that [`ClientMessage::GeneratedKeys`] asked for, in the answer to `SQ_PREPARE` or
    /// `SQ_COMMAND`. The statement's type and number say nothing.
    KeyDescribe(Describe<'a>),
    /// Tag 136: the keys of a row, laid out as [`Self::KeyDescribe`] says, in the answer to the execution.
    KeyTuple(Tuple<'a>),
    /// `SQ_TUPID` (25): absolute number of the row before.
    TupId(i32),
    /// `SQ_DBLIST` (26).
    DbList(Vec<&'a [u8]>),
    /// `SQ_BLOB` (39): a chunk; an empty one ends the value.
    Blob(&'a [u8]),
    /// `SQ_VERSION` (53).
    Version(&'a [u8]),
    /// `SQ_COST` (55).
    Cost(Cost),
    /// `SQ_EXIT` (56): the session is over.
    Exit,
    /// `SQ_INSERTDONE` (94).
    InsertDone(InsertDone),
    /// `SQ_LODATA` (97).
    LoData(LoReply),
    /// A chunk of [`LoReply::Read`].
    LoChunk(&'a [u8]),
    /// `SQ_FILE` (98).
    File(FileRequest<'a>),
    /// `SQ_XACTSTAT` (99).
    XactStat(XactStat),
    /// `SQ_GETROUTINE` (101).
    Routine(Routine<'a>),
    /// `SQ_FPROUTINE` (103): out parameters, then the result.
    Results(Vec<Param<'a>>),
    /// `SQ_FILE_WRITE` (107): a chunk to be written.
    FileChunk(&'a [u8]),
    /// `SQ_IDESCRIBE` (125).
    InputDescribe(InputDescribe<'a>),
    /// `SQ_PROTOCOLS` (126): what the server can do.
    Protocols(Capabilities),
    /// `SQ_ACCEPT` (127): PAM is content.
    PamAccept,
    /// `SQ_CHALLENGE` (129): PAM asks.
    Challenge(Challenge<'a>),
}

impl<'a> ServerMessage<'a> {
    pub(crate) fn decode(scan: &mut Scan<'a>, state: &mut State) -> Result<Self, Stop> {
        if state.lo_left > 0 {
            return Ok(Self::LoChunk(object::decode_announced_chunk(scan, &mut state.lo_left)?));
        }
        let widths = state.widths;
        let tag = Tag(scan.u16()?);
        Ok(match tag {
            Tag::TUPLE => Self::Tuple(Tuple::decode(scan)?),
            Tag::DESCRIBE => Self::Describe(Describe::decode(scan, widths)?),
            Tag::KEYDESCRIBE => Self::KeyDescribe(Describe::decode(scan, widths)?),
            Tag::KEYTUPLE => Self::KeyTuple(Tuple::decode(scan)?),
            Tag::CLOSE => Self::Close,
            Tag::EOT => Self::Eot,
            Tag::ERR => Self::Error(ServerError::decode(scan, widths)?),
            Tag::DONE => Self::Done(Done::decode(scan, widths)?),
            Tag::TUPID => Self::TupId(scan.i32()?),
            Tag::DBLIST => Self::DbList(session::decode_names(scan)?),
            Tag::BLOB => Self::Blob(scan.char()?),
            Tag::VERSION => Self::Version(scan.char()?),
            Tag::COST => Self::Cost(Cost::decode(scan)?),
            Tag::EXIT => Self::Exit,
            Tag::INSERTDONE => Self::InsertDone(InsertDone::decode(scan, widths)?),
            Tag::LODATA => {
                let reply = LoReply::decode(scan)?;
                if let LoReply::Read(bytes) = reply {
                    state.lo_left = bytes as usize;
                }
                Self::LoData(reply)
            }
            Tag::FILE => Self::File(FileRequest::decode(scan)?),
            Tag::XACTSTAT => Self::XactStat(XactStat::decode(scan)?),
            Tag::GETROUTINE => Self::Routine(Routine::decode(scan)?),
            Tag::FPROUTINE => Self::Results(bind::decode_results(scan, widths)?),
            Tag::FILE_WRITE => Self::FileChunk(scan.char()?),
            Tag::IDESCRIBE => Self::InputDescribe(InputDescribe::decode(scan, widths)?),
            Tag::PROTOCOLS => Self::Protocols(session::decode_protocols(scan)?),
            Tag::ACCEPT => Self::PamAccept,
            Tag::CHALLENGE => Self::Challenge(Challenge::decode(scan)?),
            Tag(unknown) => return Err(DecodeError::UnknownTag(unknown).into()),
        })
    }

    /// Appends the message to `out`. On error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>, widths: Widths) -> Result<(), TooLong> {
        let before = out.len();
        self.write(&mut Writer::new(out), widths).inspect_err(|_| out.truncate(before))
    }

    fn write(&self, w: &mut Writer<'_>, widths: Widths) -> Result<(), TooLong> {
        match self {
            Self::Close => drop(w.u16(Tag::CLOSE.0)),
            Self::Eot => drop(w.u16(Tag::EOT.0)),
            Self::Exit => drop(w.u16(Tag::EXIT.0)),
            Self::PamAccept => drop(w.u16(Tag::ACCEPT.0)),
            Self::Describe(describe) => describe.encode(Tag::DESCRIBE, w, widths)?,
            Self::KeyDescribe(describe) => describe.encode(Tag::KEYDESCRIBE, w, widths)?,
            Self::KeyTuple(tuple) => tuple.encode(Tag::KEYTUPLE, w)?,
            Self::Error(error) => error.encode(w, widths)?,
            Self::Tuple(tuple) => tuple.encode(Tag::TUPLE, w)?,
            Self::Done(done) => done.encode(w, widths),
            Self::TupId(row) => drop(w.u16(Tag::TUPID.0).i32(*row)),
            Self::DbList(names) => session::encode_names(names, w)?,
            Self::Blob(chunk) => object::encode_chunk(Tag::BLOB, chunk, w)?,
            Self::Version(text) => drop(w.u16(Tag::VERSION.0).char(text, "version")?),
            Self::Cost(cost) => cost.encode(w),
            Self::InsertDone(done) => done.encode(w, widths),
            Self::LoData(reply) => reply.encode(w),
            Self::LoChunk(chunk) => object::encode_announced_chunk(chunk, w)?,
            Self::File(request) => request.encode(w)?,
            Self::XactStat(status) => status.encode(w),
            Self::Routine(routine) => routine.encode(w)?,
            Self::Results(values) => bind::encode_results(values, w)?,
            Self::FileChunk(chunk) => object::encode_chunk(Tag::FILE_WRITE, chunk, w)?,
            Self::InputDescribe(describe) => describe.encode(w, widths)?,
            Self::Protocols(mask) => session::encode_protocols(mask, w)?,
            Self::Challenge(challenge) => challenge.encode(w)?,
        }
        Ok(())
    }
}

/// The smallest message is a tag.
pub(crate) const LEAST_MESSAGE: usize = 2;
