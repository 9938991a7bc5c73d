use std::sync::Arc;

use super::{ColumnCache, Event, Failure, Outcome, Prepared, Session};
use crate::messages::handshake::capability;
use crate::messages::resultset::{ColumnDefinition, Columns};
use crate::messages::statement::PrepareOk;
use crate::messages::status::Eof;

/// What is awaited next.
#[derive(Debug)]
enum State {
    Head,
    Params { left: u16 },
    ParamsEof,
    Columns { left: u16 },
    ColumnsEof,
}

/// The preparation of a statement.
#[derive(Debug)]
pub(super) struct Prepare {
    state: State,
    head: PrepareOk,
    raw: Vec<u8>,
}

impl Prepare {
    pub(super) const fn new() -> Self {
        let head = PrepareOk { statement: super::StatementId(0), columns: 0, params: 0, warnings: 0 };
        Self { state: State::Head, head, raw: Vec::new() }
    }

    pub(super) fn handle(
        &mut self,
        payload: &[u8],
        session: &Session,
        cache: &mut ColumnCache,
    ) -> Result<Outcome, Failure> {
        let eof_follows = !session.has(capability::DEPRECATE_EOF);
        match &mut self.state {
            State::Head => {
                self.head = PrepareOk::decode(payload)?;
                self.state = State::Params { left: self.head.params };
            }
            State::Params { left } => {
                // Servers describe parameters by name `?` and no useful type.
                ColumnDefinition::decode(payload)?;
                *left -= 1;
            }
            State::Columns { left } => {
                Columns::push_raw(&mut self.raw, payload);
                *left -= 1;
            }
            State::ParamsEof | State::ColumnsEof => {
                Eof::decode(payload)?;
            }
        }
        loop {
            self.state = match &self.state {
                State::Params { left: 0 } if eof_follows && self.head.params > 0 => State::ParamsEof,
                State::Params { left: 0 } => State::Columns { left: self.head.columns },
                State::ParamsEof if matches!(payload.first(), Some(&Eof::HEADER)) => {
                    State::Columns { left: self.head.columns }
                }
                State::Columns { left: 0 } if eof_follows && self.head.columns > 0 => State::ColumnsEof,
                State::Columns { left: 0 } => break,
                State::ColumnsEof if matches!(payload.first(), Some(&Eof::HEADER)) => break,
                _ => return Ok(Outcome::Again),
            };
            if matches!(self.state, State::ParamsEof | State::ColumnsEof) {
                return Ok(Outcome::Again);
            }
        }
        let columns = if self.head.columns == 0 { None } else { Some(cache.columns(std::mem::take(&mut self.raw))?) };
        let columns: Option<Arc<Columns>> = columns;
        if session.has(capability::MARIADB_CACHE_METADATA) {
            cache.prepared(self.head.statement, columns.clone());
        }
        let prepared = Prepared { statement: self.head.statement, params: usize::from(self.head.params), columns };
        Ok(Outcome::Event(Event::Prepared(prepared)))
    }
}
