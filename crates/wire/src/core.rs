/// What a pump sees of a client core: a place for the bytes that came, and the bytes that must go.
///
/// A pump does only this, in any colour: write [`output`](Core::output) and tell [`sent`](Core::sent); read into
/// [`receive_space`](Core::receive_space) and tell [`received`](Core::received) or
/// [`received_eof`](Core::received_eof). What the bytes mean, and when a conversation is over, is between the core
/// and its user. `receive_space` is memory of the core, so that asyncio's `BufferedProtocol` and a blocking `recv`
/// both fill it without a copy.
pub trait Core {
    /// Space for at least `least` bytes (and usually far more) from the peer.
    fn receive_space(&mut self, least: usize) -> &mut [u8];

    /// The first `count` bytes of the last [`receive_space`](Core::receive_space) were filled.
    fn received(&mut self, count: usize);

    /// The peer has closed its side.
    fn received_eof(&mut self);

    /// Bytes that wait to be written; empty when there are none.
    fn output(&self) -> &[u8];

    /// The first `count` bytes of [`output`](Core::output) were written.
    fn sent(&mut self, count: usize);
}

/// A growing buffer with a consumed front, for cores that decode incrementally.
///
/// Space given out by [`space`](ReceiveBuffer::space) is zeroed once and reused; consumed bytes are reclaimed when the
/// buffer is empty or when room is short, so that a long result set costs no copy per frame.
#[derive(Debug)]
pub struct ReceiveBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    step: usize,
}

impl Default for ReceiveBuffer {
    fn default() -> Self {
        Self::with_step(Self::STEP)
    }
}

impl ReceiveBuffer {
    /// Fresh space is given out in steps of this many bytes, unless told otherwise.
    pub const STEP: usize = 256 * 1024;

    /// The first space of all is this small, until it was filled once: most connections never need more, and zeroing a
    /// whole step for each costs as much as a login.
    const FIRST: usize = 16 * 1024;

    /// A buffer that grows in steps of `step` bytes: small ones for servers, whose clients say little and are many.
    pub const fn with_step(step: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, end: 0, step }
    }

    /// Bytes received and not yet consumed.
    #[inline]
    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Room for at least `least` bytes behind the unread ones.
    pub fn space(&mut self, least: usize) -> &mut [u8] {
        let least = least.max(1);
        let was_full = self.end == self.bytes.len();
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        if self.bytes.len() - self.end < least && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.bytes.is_empty() && least <= Self::FIRST {
            self.bytes.resize(Self::FIRST.min(self.step).max(least), 0);
        } else if self.bytes.len() - self.end < least || (was_full && self.bytes.len() < self.step) {
            let wanted = (self.end + least).next_multiple_of(self.step);
            self.bytes.resize(wanted, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// `count` bytes of the last space were filled.
    ///
    /// # Panics
    /// When `count` exceeds the space that was given out.
    pub fn filled(&mut self, count: usize) {
        assert!(count <= self.bytes.len() - self.end, "more bytes than the space that was given out");
        self.end += count;
    }

    /// The first `count` unread bytes are done with.
    ///
    /// # Panics
    /// When fewer are unread.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        assert!(count <= self.end - self.start, "more bytes than are unread");
        self.start += count;
    }

    /// Gives memory beyond one step back once everything is consumed.
    pub fn shrink(&mut self) {
        if self.start == self.end && self.bytes.len() > self.step {
            self.bytes.truncate(self.step);
            self.bytes.shrink_to_fit();
            self.start = 0;
            self.end = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReceiveBuffer;

    #[test]
    fn begins_small_and_grows_once_it_was_filled() {
        let mut buffer = ReceiveBuffer::default();
        let first = buffer.space(1).len();
        assert!(first < ReceiveBuffer::STEP / 4);
        buffer.filled(first - 1);
        buffer.consume(first - 1);
        assert_eq!(buffer.space(1).len(), first);
        buffer.filled(first);
        buffer.consume(first);
        assert_eq!(buffer.space(1).len(), ReceiveBuffer::STEP);
    }

    #[test]
    fn keeps_unread_bytes_when_it_grows() {
        let mut buffer = ReceiveBuffer::default();
        buffer.space(4)[..4].copy_from_slice(b"abcd");
        buffer.filled(4);
        buffer.consume(2);
        let room = buffer.space(ReceiveBuffer::STEP).len();
        assert!(room >= ReceiveBuffer::STEP);
        assert_eq!(buffer.unread(), b"cd");
        buffer.consume(2);
        assert_eq!(buffer.space(1).len(), 2 * ReceiveBuffer::STEP);
        buffer.shrink();
        assert_eq!(buffer.space(1).len(), ReceiveBuffer::STEP);
    }
}
