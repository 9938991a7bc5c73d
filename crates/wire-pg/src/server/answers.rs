//! What the client is told.

use super::{Part, Server, State, Texts};
use crate::messages::{
    Backend, BackendKeyData, CopyResponse, Notice, Notification, Oids, ParameterStatus, PieceEncoder, RowDescription,
    RowEncoder, TransactionStatus, frame, map_texts,
};

impl<T: Texts> Server<T> {
    /// The client can send the next command.
    pub fn ready(&mut self, status: TransactionStatus) {
        self.put(&Backend::ReadyForQuery(status));
        self.state = State::Idle(status);
    }

    /// What was asked for has failed. In a series, what follows up to Sync is passed over.
    pub fn error(&mut self, notice: Notice<'_>) {
        self.put_notice(notice, Backend::ErrorResponse);
        self.state = match std::mem::replace(&mut self.state, State::Closed) {
            State::Idle(_) | State::Series => State::Skipping,
            State::CopyIn(part) | State::CopyOut(part) => part.failed(),
            same @ (State::Login(_) | State::Command | State::Skipping | State::Closed) => same,
        };
    }

    /// The last thing that the client is told: nothing more is read of it.
    pub fn fatal(&mut self, notice: Notice<'_>) {
        self.put_notice(notice, Backend::ErrorResponse);
        self.state = State::Closed;
    }

    /// A remark.
    pub fn notice(&mut self, notice: Notice<'_>) {
        self.put_notice(notice, Backend::NoticeResponse);
    }

    /// What another session has told this one.
    pub fn notification(&mut self, notification: Notification<'_>) {
        self.put_text(&Backend::NotificationResponse(notification));
    }

    /// A setting that clients care for has this value now.
    pub fn parameter_status(&mut self, name: &str, value: &str) {
        self.put_text(&Backend::ParameterStatus(ParameterStatus { name, value }));
    }

    /// The proof by which the session's statement can be stopped.
    pub fn key(&mut self, process: u32, key: &[u8]) {
        self.put(&Backend::BackendKeyData(BackendKeyData { process, key }));
    }

    /// A statement is prepared.
    pub fn parse_complete(&mut self) {
        self.put(&Backend::ParseComplete);
    }

    /// A portal is made.
    pub fn bind_complete(&mut self) {
        self.put(&Backend::BindComplete);
    }

    /// A statement or a portal is forgotten.
    pub fn close_complete(&mut self) {
        self.put(&Backend::CloseComplete);
    }

    /// The types of a statement's parameters.
    pub fn parameter_description(&mut self, types: Oids<'_>) {
        self.put(&Backend::ParameterDescription(types));
    }

    /// What was described returns no rows.
    pub fn no_data(&mut self) {
        self.put(&Backend::NoData);
    }

    /// The rows to come, or that a statement would return.
    ///
    /// # Errors
    /// For names that the client could not read; nothing is said.
    pub fn row_description(&mut self, description: RowDescription<'_>) -> Result<(), T::Error> {
        self.try_put(&Backend::RowDescription(description))
    }

    /// The same, encoded before for clients that want UTF-8.
    pub fn encoded_row_description(&mut self, message: &[u8]) {
        self.output.extend_from_slice(message);
    }

    /// A row of so many columns, to be written in place.
    #[inline]
    pub fn row(&mut self, columns: u16) -> RowEncoder<'_> {
        RowEncoder::begin(&mut self.output, columns)
    }

    /// A statement is done; the tag has ASCII characters only. A COPY ends with it.
    pub fn command_complete(&mut self, tag: &str) {
        self.put(&Backend::CommandComplete(tag));
        self.completed();
    }

    /// The same of a statement whose tag ends with a number, of rows mostly.
    pub fn counted_complete(&mut self, words: &str, count: u64) {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(count).as_bytes();
        frame(&mut self.output, b'C', |writer| {
            writer.raw(words.as_bytes()).raw(b" ").terminated(digits);
        });
        self.completed();
    }

    fn completed(&mut self) {
        if let State::CopyIn(part) = self.state {
            self.state = part.rest();
        }
    }

    /// There was no statement.
    pub fn empty_query(&mut self) {
        self.put(&Backend::EmptyQueryResponse);
    }

    /// As many rows as were asked for have gone; there may be more.
    pub fn portal_suspended(&mut self) {
        self.put(&Backend::PortalSuspended);
    }

    /// What the function has returned.
    pub fn function_result(&mut self, value: Option<&[u8]>) {
        self.put(&Backend::FunctionCallResponse(value));
    }

    /// Asks for the data of a COPY: [`Request::CopyData`](super::Request::CopyData) brings them, until
    /// [`command_complete`](Self::command_complete) or [`error`](Self::error).
    pub fn copy_in(&mut self, response: CopyResponse<'_>) {
        self.put(&Backend::CopyInResponse(response));
        self.state = State::CopyIn(self.part());
    }

    /// The data of a COPY follow, up to [`copy_done`](Self::copy_done) or [`error`](Self::error).
    pub fn copy_out(&mut self, response: CopyResponse<'_>) {
        self.put(&Backend::CopyOutResponse(response));
        self.state = State::CopyOut(self.part());
    }

    /// A piece of a COPY's data.
    pub fn copy_data(&mut self, data: &[u8]) {
        self.put(&Backend::CopyData(data));
    }

    /// A piece of a COPY's data, to be written in place.
    #[inline]
    pub fn copy_piece(&mut self) -> PieceEncoder<'_> {
        PieceEncoder::begin(&mut self.output)
    }

    /// A COPY's data are complete.
    pub fn copy_done(&mut self) {
        self.put(&Backend::CopyDone);
        if let State::CopyOut(part) = self.state {
            self.state = part.rest();
        }
    }

    /// What a COPY that begins now is a part of.
    const fn part(&self) -> Part {
        if matches!(self.state, State::Command) { Part::Query } else { Part::Series }
    }

    /// Adds a message without texts of more than ASCII.
    fn put(&mut self, message: &Backend<'_>) {
        message.encode(&mut self.output);
    }

    /// Adds an error or a notice. Where the client's encoding lacks a character of it, that is what it is told instead.
    fn put_notice<'n>(&mut self, notice: Notice<'n>, message: fn(Box<Notice<'n>>) -> Backend<'n>) {
        let severity = notice.severity;
        if let Err(error) = self.try_put(&message(notice.into())) {
            message(T::told(&error, severity).into()).encode(&mut self.output);
        }
    }

    /// Adds a message; a question mark stands for a character that the client's encoding lacks.
    fn put_text(&mut self, message: &Backend<'_>) {
        if self.try_put(message).is_ok() {
            return;
        }
        let mut plain = Vec::new();
        message.encode(&mut plain);
        let question = |byte: &u8| if byte.is_ascii() { *byte } else { b'?' };
        let lossy = map_texts(&plain, &mut self.output, |text, out| {
            out.extend(text.iter().map(question));
            Ok::<(), std::convert::Infallible>(())
        });
        match lossy {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// Adds a message whose texts the client must be able to read; otherwise nothing is added.
    fn try_put(&mut self, message: &Backend<'_>) -> Result<(), T::Error> {
        if self.texts.are_utf8() {
            message.encode(&mut self.output);
            return Ok(());
        }
        let mut plain = Vec::new();
        message.encode(&mut plain);
        let texts = &self.texts;
        map_texts(&plain, &mut self.output, |text, out| texts.put(text, out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Utf8;
    use super::*;

    #[test]
    fn a_count_is_written_as_the_tag_that_it_ends() {
        for count in [0, 9, 10, 1_000_000, u64::MAX] {
            let (mut counted, mut whole) = (Server::new(100, Utf8), Server::new(100, Utf8));
            counted.counted_complete("INSERT 0", count);
            whole.command_complete(&format!("INSERT 0 {count}"));
            assert_eq!(counted.output(), whole.output());
        }
    }

    #[test]
    fn a_piece_is_written_in_place() {
        let (mut in_place, mut whole) = (Server::new(100, Utf8), Server::new(100, Utf8));
        for data in [b"1\ttwo\n".as_slice(), b""] {
            let mut piece = in_place.copy_piece();
            let at = piece.data_at();
            piece.out().extend_from_slice(data);
            assert_eq!(&piece.out()[at..], data);
            assert_eq!(piece.finish(), Some(data.len()));
            let mut abandoned = in_place.copy_piece();
            abandoned.out().extend_from_slice(b"lost");
            abandoned.abandon();
            whole.copy_data(data);
        }
        assert_eq!(in_place.output(), whole.output());
    }
}
