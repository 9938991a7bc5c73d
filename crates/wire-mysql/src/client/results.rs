use std::sync::Arc;

use rowferry_wire::{Malformed, Reader};

use super::{ColumnCache, Event, Failure, Outcome, Session, StatementId, more_results};
use crate::lenenc;
use crate::messages::handshake::capability;
use crate::messages::resultset::Columns;
use crate::messages::status::{Eof, Ok as OkPacket, ServerError, status_flag};
use crate::packet::{self, Place};

/// No server has tables or select lists as wide as this.
const COLUMN_LIMIT: u64 = 0x1_0000;

/// The server asks for a file of the client.
const LOCAL_INFILE: u8 = 0xfb;

/// What is awaited next.
#[derive(Debug)]
pub(super) enum State {
    Head,
    Columns {
        left: u64,
        raw: Vec<u8>,
    },
    ColumnsEof {
        raw: Vec<u8>,
    },
    InRows,
    /// The end of the file that the server asked for; it is ours to send.
    Upload,
}

/// The results of a query or an execution, one after the other.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) state: State,
    /// What is executed.
    statement: Option<StatementId>,
    /// Columns of this result that came with it, where the server may leave them out the next time.
    came: Option<Arc<Columns>>,
    /// A ping follows, whose answer tells that further results will not come.
    pub(super) is_guarded: bool,
}

/// True when a payload of `len` bytes that begins with `first` is not a row.
#[inline]
pub(super) const fn ends_rows(first: u8, len: usize, deprecate_eof: bool) -> bool {
    match first {
        ServerError::HEADER => true,
        // A row may begin with FE, too: the length of a cell of 16 MiB and more.
        OkPacket::END_HEADER => {
            if deprecate_eof {
                len < packet::MAX_PAYLOAD
            } else {
                len < 9
            }
        }
        _ => false,
    }
}

impl Results {
    pub(super) const fn new() -> Self {
        Self { state: State::Head, statement: None, came: None, is_guarded: false }
    }

    /// Those of several statements, behind which a ping goes.
    pub(super) fn guarded() -> Self {
        Self { is_guarded: true, ..Self::new() }
    }

    /// Those of an execution.
    pub(super) const fn of(statement: StatementId) -> Self {
        Self { state: State::Head, statement: Some(statement), came: None, is_guarded: false }
    }

    /// The server gave up amid an answer.
    pub(super) fn refused(&mut self, cache: &mut ColumnCache) {
        if let (Some(statement), Some(columns)) = (self.statement, self.came.take()) {
            cache.ended(statement, columns, false);
        }
    }

    /// Decodes columns that came, and keeps them where the server will take them for known.
    fn columns(&mut self, raw: Vec<u8>, session: &Session, cache: &mut ColumnCache) -> Result<Outcome, Failure> {
        let columns = cache.columns(raw)?;
        if let Some(statement) = self.statement
            && session.has(capability::MARIADB_CACHE_METADATA)
        {
            cache.came(statement, &columns);
            self.came = Some(columns.clone());
        }
        self.state = State::InRows;
        Ok(Outcome::Event(Event::Columns(columns)))
    }

    pub(super) fn handle(
        &mut self,
        payload: &[u8],
        place: Place,
        session: &Session,
        cache: &mut ColumnCache,
    ) -> Result<Outcome, Failure> {
        let deprecate_eof = session.has(capability::DEPRECATE_EOF);
        let first = *payload.first().ok_or(Malformed::new("empty message"))?;
        match &mut self.state {
            State::Head => match first {
                OkPacket::HEADER => {
                    let ok = OkPacket::decode(payload, session.has(capability::SESSION_TRACK))?;
                    let more = more_results(ok.status);
                    Ok(Outcome::Event(Event::Done { ok, more }))
                }
                LOCAL_INFILE => {
                    self.state = State::Upload;
                    Ok(Outcome::Event(Event::LocalFile(payload[1..].to_vec())))
                }
                _ => {
                    let mut reader = Reader::new(payload);
                    let left = lenenc::integer(&mut reader, "column count")?;
                    let follow =
                        !session.has(capability::MARIADB_CACHE_METADATA) || reader.u8("whether columns follow")? != 0;
                    reader.finish("column count")?;
                    if left == 0 || left > COLUMN_LIMIT {
                        return Err(Malformed::new("column count").into());
                    }
                    if !follow {
                        let statement = self.statement.ok_or(Malformed::new("a query's columns left out"))?;
                        let columns = cache.known(statement, left)?;
                        self.state = State::InRows;
                        return Ok(Outcome::Event(Event::Columns(columns)));
                    }
                    self.state = State::Columns { left, raw: Vec::new() };
                    Ok(Outcome::Again)
                }
            },
            State::Columns { left, raw } => {
                Columns::push_raw(raw, payload);
                *left -= 1;
                if *left > 0 {
                    return Ok(Outcome::Again);
                }
                let raw = std::mem::take(raw);
                if !deprecate_eof {
                    self.state = State::ColumnsEof { raw };
                    return Ok(Outcome::Again);
                }
                self.columns(raw, session, cache)
            }
            State::ColumnsEof { raw } => {
                let raw = std::mem::take(raw);
                Eof::decode(payload)?;
                self.columns(raw, session, cache)
            }
            State::InRows => {
                if !ends_rows(first, payload.len(), deprecate_eof) {
                    return Ok(Outcome::Row(place));
                }
                let ok = if deprecate_eof {
                    OkPacket::decode(payload, session.has(capability::SESSION_TRACK))?
                } else {
                    let Eof { warnings, status } = Eof::decode(payload)?;
                    OkPacket { status, warnings, ..OkPacket::default() }
                };
                self.state = State::Head;
                let more = more_results(ok.status);
                if let (Some(statement), Some(columns)) = (self.statement, self.came.take()) {
                    // A procedure's results are followed by its OK; of them, only its OUT parameters are its own.
                    cache.ended(statement, columns, !more || ok.status & status_flag::PS_OUT_PARAMS != 0);
                }
                Ok(Outcome::Event(Event::EndOfRows { ok, more }))
            }
            State::Upload => Err(Failure::Unexpected { state: "the file that it asked for", got: first }),
        }
    }
}
