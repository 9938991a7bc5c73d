//! What has come from the client.

use rowferry_wire::ReceiveBuffer;

/// Bytes of a client, apart from the conversation, so that a request can be read in place while it is answered.
#[derive(Debug)]
pub struct Inbox {
    buffer: ReceiveBuffer,
    /// The message that the last request borrows from; it goes at the next poll.
    lent: usize,
}

impl Inbox {
    /// An inbox that grows in steps of so many bytes.
    pub const fn with_step(step: usize) -> Self {
        Self { buffer: ReceiveBuffer::with_step(step), lent: 0 }
    }

    /// Room for at least `least` more bytes.
    pub fn space(&mut self, least: usize) -> &mut [u8] {
        self.settle();
        self.buffer.space(least)
    }

    /// The first `count` bytes of the last [`space`](Self::space) were filled.
    pub fn filled(&mut self, count: usize) {
        self.buffer.filled(count);
    }

    /// True when bytes have come that no request was made of.
    pub fn is_amid_message(&self) -> bool {
        self.buffer.unread().len() > self.lent
    }

    /// What has come, from the message on that was lent last.
    pub(super) fn unread(&self) -> &[u8] {
        self.buffer.unread()
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.buffer.consume(count);
    }

    /// The body of the first message, of `len` bytes, which stays until the next poll.
    pub(super) fn lend(&mut self, len: usize) -> &[u8] {
        self.lent = len;
        &self.buffer.unread()[crate::frame::HEADER..len]
    }

    /// The same of a packet of the start-up, which has no tag.
    pub(super) fn lend_packet(&mut self, len: usize) -> &[u8] {
        self.lent = len;
        &self.buffer.unread()[4..len]
    }

    /// What was lent is done with.
    pub(super) fn settle(&mut self) {
        if self.lent > 0 {
            self.buffer.consume(std::mem::take(&mut self.lent));
            self.buffer.shrink();
        }
    }
}
