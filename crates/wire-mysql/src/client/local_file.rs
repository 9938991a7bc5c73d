use super::results::{Results, State};
use super::{Client, Conversation, Misuse};
use crate::packet;

/// A file travels in packets of at most this many bytes, as the vendors' own clients send it: each must be within the
/// server's `max_allowed_packet`.
const PACKET: usize = 16 * 1024 - 64;

impl Client {
    /// True from [`Event::LocalFile`](super::Event::LocalFile) to [`end_file`](Self::end_file).
    pub fn is_uploading(&self) -> bool {
        matches!(self.queue.front(), Some((_, Conversation::Results(Results { state: State::Upload, .. }))))
    }

    /// Sends a piece of the file that the server has asked for.
    pub fn put_file(&mut self, bytes: &[u8]) -> Result<(), Misuse> {
        self.uploading()?;
        bytes.chunks(PACKET).for_each(|piece| self.put_next(piece));
        Ok(())
    }

    /// Ends the file; alone, it is an empty one. The statement's result follows.
    pub fn end_file(&mut self) -> Result<(), Misuse> {
        self.uploading()?;
        self.put_next(&[]);
        if let Some((_, Conversation::Results(results))) = self.queue.front_mut() {
            results.state = State::Head;
        }
        Ok(())
    }

    fn uploading(&self) -> Result<(), Misuse> {
        self.ready()?;
        if self.is_uploading() { Ok(()) } else { Err(Misuse::NoFile) }
    }

    /// Goes on with the numbers of the conversation.
    fn put_next(&mut self, payload: &[u8]) {
        let (start, number) = (self.output.len(), self.inbox.sequence);
        self.inbox.sequence = packet::put(&mut self.output, number, payload);
        self.seal(start, number);
    }
}
