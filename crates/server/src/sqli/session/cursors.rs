//! Cursors: opened, fetched from, closed.

use rowferry_engine::{Condition, Error, Outcome, Type, smart_objects};
use rowferry_wire_sqli::messages::{Done, FetchKind, RetType, SFetch, ServerMessage, Tuple};
use rowferry_wire_sqli::values::CellFormat;
use rowferry_wire_sqli::{TypeCode, Widths};

use super::statements::wanted_file;
use super::{Commands, Failure, MAX_FETCH, Next, Obeyed, Pending, Resume};
use crate::sqli::composites;
use crate::sqli::cursor::{Layout, OpenCursor};
use crate::sqli::values::RowContext;

/// Set aside for the answer to a fetch before it is known how long it is: most are of a row or two.
const SHORT_REPLY: usize = 512;

impl Commands {
    pub(super) fn open_cursor(&mut self) -> Obeyed<Next> {
        let current = self.current;
        let statement = self.statement()?;
        if statement.kind == 6 {
            self.open_insert()?;
            return Ok(Next::Go);
        }
        if !statement.is_query() {
            return Err(Error::new(Condition::DuplicateCursor, "only a query can be opened").into());
        }
        let scroll = std::mem::take(&mut statement.scroll);
        let (hold, positioned) = (statement.hold, statement.positioned);
        if scroll && statement.for_update {
            return Err(Error::new(
                Condition::InvalidCursorDefinition,
                "a scroll cursor cannot be declared for an updatable query",
            )
            .into());
        }
        statement.cursor = None;
        self.objects.forget(current);
        let (prepared, values) = self.arguments()?;
        self.begin_if_ansi()?;
        let cursor = match self.session()?.execute(&prepared, &values) {
            Ok(Outcome::Rows(cursor)) => cursor,
            Ok(Outcome::Done { .. }) => return Err(Error::internal("a query without rows").into()),
            Err(error) => {
                if scroll {
                    self.statement()?.scroll = true;
                }
                return wanted_file(error, Resume::Open);
            }
        };
        self.statement()?.cursor = Some(OpenCursor::new(cursor, scroll, hold, positioned));
        Ok(Next::Go)
    }

    pub(super) fn not_open() -> Failure {
        Error::new(Condition::InvalidCursorState, "the cursor is not open").into()
    }

    /// Sends as many rows as fit, at least one.
    pub(super) fn fetch(&mut self, budget: usize) -> Obeyed<Next> {
        let current = self.current;
        let (code_set, widths) = (self.code_set, self.server.widths());
        let budget = budget.min(MAX_FETCH);
        let Some(statement) = self.statements.get(current) else {
            return Err(
                Error::new(Condition::InvalidSqlStatementName, format!("there is no statement {current}")).into()
            );
        };
        let layout = Layout::of(statement);
        let auto_free = statement.auto_free;
        let Some(cursor) = &mut statement.cursor else { return Err(Self::not_open()) };
        let open = self.open.as_ref().map(|open| &open.session);
        let mut context =
            RowContext { code_set, widths, objects: &mut self.objects, statement: current, session: open };
        let mut reply = Vec::with_capacity(SHORT_REPLY);
        let mut used = 0;
        let mut ended = false;
        loop {
            if !cursor.advance(&layout, &mut context)? {
                ended = true;
                break;
            }
            let bytes = cursor.row().len();
            if used > 0 && used + bytes > budget {
                cursor.push_back();
                break;
            }
            used += bytes;
            encode_tuple(cursor.row(), widths, &mut reply)?;
            if used >= budget || cursor.is_positioned() {
                break;
            }
        }
        if ended {
            let done = Done { rows: cursor.delivered, ..Done::default() };
            let _ = ServerMessage::Done(done).encode(&mut reply, widths);
            if auto_free {
                // Version 4 of IBM's driver asks once more at the end, version 15 says no more of it.
                let oldest = self.statements.spend(current);
                if let Some(oldest) = oldest {
                    self.free(oldest);
                }
            }
        }
        Ok(self.reply(reply))
    }

    /// Sends a fetch's reply, after the files that its rows have made.
    pub(super) fn reply(&mut self, reply: Vec<u8>) -> Next {
        let files = smart_objects::with(smart_objects::SmartObjects::take_written);
        if files.is_empty() {
            self.server.put_encoded(&reply);
            return Next::Go;
        }
        Next::Files(Pending::Write(files, reply))
    }

    pub(super) fn scroll_fetch(&mut self, fetch: SFetch) -> Obeyed<Next> {
        let current = self.current;
        let (code_set, widths) = (self.code_set, self.server.widths());
        let Some(statement) = self.statements.get(current) else {
            return Err(
                Error::new(Condition::InvalidSqlStatementName, format!("there is no statement {current}")).into()
            );
        };
        let layout = Layout::of(statement);
        let Some(cursor) = &mut statement.cursor else { return Err(Self::not_open()) };
        let open = self.open.as_ref().map(|open| &open.session);
        let mut context =
            RowContext { code_set, widths, objects: &mut self.objects, statement: current, session: open };
        let row = i64::from(fetch.row);
        let wanted = match fetch.kind {
            FetchKind::NEXT => cursor.delivered + 1,
            FetchKind::PREVIOUS => cursor.delivered - 1,
            FetchKind::FIRST => 1,
            FetchKind::LAST => cursor.last(&layout, &mut context)?,
            FetchKind::RELATIVE => cursor.delivered + row,
            FetchKind::ABSOLUTE if row < 0 => cursor.last(&layout, &mut context)? + row + 1,
            _ => row,
        };
        let mut reply = Vec::new();
        let mut done = Done::default();
        if cursor.go_to(wanted, &layout, &mut context)? {
            encode_tuple(cursor.row(), widths, &mut reply)?;
            let number = i32::try_from(wanted).unwrap_or(i32::MAX);
            let _ = ServerMessage::TupId(number).encode(&mut reply, widths);
            done.rows = 1;
        }
        let _ = ServerMessage::Done(done).encode(&mut reply, widths);
        Ok(self.reply(reply))
    }

    pub(super) fn requested(&mut self, types: &RetType<'_>) -> Obeyed {
        let widths = self.server.widths();
        let statement = self.statement()?;
        if !types.fetch {
            let formats = types.types.iter().map(|asked| CellFormat::requested(asked, widths));
            let formats: Result<Vec<_>, _> = formats.collect();
            statement.requested = Some(formats.map_err(|error| Error::unsupported(error.to_string()))?.into());
            return Ok(());
        }
        if types.types.len() != statement.columns.len() {
            return Err(Error::new(Condition::ProtocolViolation, "RET_TYPE has another number of columns").into());
        }
        let mut formats = Vec::with_capacity(types.types.len());
        for (asked, column) in types.types.iter().zip(statement.columns.iter()) {
            let format = match &column.shown {
                Type::Composite(words) if asked.code == TypeCode::SENDRECV && composites::is_flat(words) => {
                    Ok(CellFormat::Described)
                }
                // Of one within another only the text is known.
                Type::Composite(_) => Ok(CellFormat::LongText),
                _ => CellFormat::requested(asked, widths),
            };
            formats.push(format.map_err(|error| Error::unsupported(error.to_string()))?);
        }
        statement.requested = Some(formats.into());
        Ok(())
    }

    pub(super) fn close_cursor(&mut self) {
        self.flush_puts();
        let current = self.current;
        self.objects.forget(current);
        if let Some(statement) = self.statements.get(current) {
            statement.cursor = None;
            statement.putting = None;
            statement.hold = false;
            if statement.auto_free {
                self.free(current);
            }
        }
    }

    pub(super) fn release(&mut self) {
        self.free(self.current);
        self.command = None;
    }

    pub(super) fn free(&mut self, id: usize) {
        self.objects.forget(id);
        self.statements.remove(id);
    }
}

fn encode_tuple(payload: &[u8], widths: Widths, out: &mut Vec<u8>) -> Obeyed {
    ServerMessage::Tuple(Tuple { warnings: 0, payload })
        .encode(out, widths)
        .map_err(|error| Failure::Error(Error::new(Condition::ProgramLimitExceeded, error.to_string())))
}
