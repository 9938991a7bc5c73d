//! Packets: a payload of up to 16 MiB - 1 behind three bytes of length and one of sequence.

use rowferry_wire::ReceiveBuffer;

use crate::client::Failure;

/// A payload of exactly this size is continued in the next packet.
pub const MAX_PAYLOAD: usize = 0xff_ffff;

/// Bytes in front of each payload.
pub(crate) const HEADER: usize = 4;

/// Appends `payload` as one or more packets and returns the sequence number that follows.
pub(crate) fn put(output: &mut Vec<u8>, mut sequence: u8, payload: &[u8]) -> u8 {
    let mut rest = payload;
    loop {
        let (chunk, tail) = rest.split_at(rest.len().min(MAX_PAYLOAD));
        output.extend_from_slice(&(chunk.len() as u32).to_le_bytes()[..3]);
        output.push(sequence);
        output.extend_from_slice(chunk);
        sequence = sequence.wrapping_add(1);
        rest = tail;
        // A full packet is always followed by another, even by an empty one.
        if chunk.len() < MAX_PAYLOAD {
            return sequence;
        }
    }
}

/// Where a whole payload lies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In the receive buffer, behind its header.
    Buffer { len: usize },
    /// Put together from several packets.
    Joined,
}

/// Cuts payloads out of the bytes received; checks sequence numbers and sizes.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) buffer: ReceiveBuffer,
    joined: Vec<u8>,
    /// Bytes of what was handed out last, to be consumed once the caller has looked at it.
    pub(crate) lent: usize,
    /// The beginning of a long payload is in `joined`, its rest is awaited.
    pub(crate) joining: bool,
    pub(crate) sequence: u8,
    /// The numbers of packets mean something: not so inside compressed frames.
    pub(crate) is_numbered: bool,
    limit: usize,
}

impl Inbox {
    pub(crate) fn new(limit: usize) -> Self {
        Self::with_step(limit, ReceiveBuffer::STEP)
    }

    /// An inbox that grows in steps of `step` bytes.
    pub(crate) fn with_step(limit: usize, step: usize) -> Self {
        Self {
            buffer: ReceiveBuffer::with_step(step),
            joined: Vec::new(),
            lent: 0,
            joining: false,
            sequence: 0,
            is_numbered: true,
            limit,
        }
    }

    /// Gives the last payload back.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.lent > 0 {
            self.buffer.consume(self.lent);
            self.lent = 0;
        }
    }

    /// Bytes received and not handed out.
    pub(crate) fn waiting(&self) -> usize {
        self.buffer.unread().len() - self.lent
    }

    /// How many bytes the packet that is coming still lacks.
    pub(crate) fn missing(&self) -> usize {
        let unread = &self.buffer.unread()[self.lent..];
        match unread.first_chunk::<3>() {
            Some(&[a, b, c]) => {
                let len = u32::from_le_bytes([a, b, c, 0]) as usize;
                (HEADER + len).saturating_sub(unread.len())
            }
            None => HEADER - unread.len(),
        }
    }

    /// Cuts the next payload, if it is whole. It stays in place until the next call of `settle`.
    pub(crate) fn next(&mut self) -> Result<Option<Place>, Failure> {
        self.settle();
        loop {
            if !self.joining {
                self.joined.clear();
                self.joined.shrink_to(MAX_PAYLOAD);
            }
            let unread = self.buffer.unread();
            let Some(&[a, b, c, sequence]) = unread.first_chunk::<HEADER>() else { return Ok(None) };
            let len = u32::from_le_bytes([a, b, c, 0]) as usize;
            if sequence != self.sequence && self.is_numbered {
                return Err(Failure::OutOfSequence { expected: self.sequence, got: sequence });
            }
            if self.joined.len() + len > self.limit {
                return Err(Failure::TooLarge { limit: self.limit });
            }
            if unread.len() < HEADER + len {
                return Ok(None);
            }
            self.sequence = sequence.wrapping_add(1);
            if len < MAX_PAYLOAD && !self.joining {
                self.lent = HEADER + len;
                return Ok(Some(Place::Buffer { len }));
            }
            self.joined.extend_from_slice(&unread[HEADER..HEADER + len]);
            self.buffer.consume(HEADER + len);
            self.joining = len == MAX_PAYLOAD;
            if !self.joining {
                return Ok(Some(Place::Joined));
            }
        }
    }

    /// The payload that the last `next` found, for good.
    pub(crate) fn take(&mut self, place: Place) -> Vec<u8> {
        match place {
            Place::Buffer { .. } => self.payload(place).to_vec(),
            Place::Joined => std::mem::take(&mut self.joined),
        }
    }

    /// Bytes that have come and belong to no packet that was handed out; they are gone from here.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        self.settle();
        let rest = self.buffer.unread().to_vec();
        self.buffer.consume(rest.len());
        rest
    }

    /// The payload that the last `next` found.
    #[inline]
    pub(crate) fn payload(&self, place: Place) -> &[u8] {
        match place {
            Place::Buffer { len } => &self.buffer.unread()[HEADER..HEADER + len],
            Place::Joined => &self.joined,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(inbox: &mut Inbox, bytes: &[u8]) {
        inbox.buffer.space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        inbox.buffer.filled(bytes.len());
    }

    #[test]
    fn payloads_at_the_packet_limit_are_split_and_joined() {
        for len in [0, 1, MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD] {
            let payload: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let mut packets = Vec::new();
            let following = put(&mut packets, 7, &payload);
            assert_eq!(usize::from(following), 7 + len / MAX_PAYLOAD + 1);
            let mut inbox = Inbox::new(1 << 30);
            inbox.sequence = 7;
            let (most, last) = packets.split_at(packets.len() - 1);
            feed(&mut inbox, most);
            assert!(inbox.next().unwrap().is_none());
            feed(&mut inbox, last);
            let place = inbox.next().unwrap().expect("whole");
            assert!(inbox.payload(place) == payload, "{len}");
            assert_eq!(inbox.sequence, following);
        }
    }

    #[test]
    fn refuses_a_packet_out_of_order_and_one_beyond_the_limit() {
        let mut inbox = Inbox::new(10);
        feed(&mut inbox, &[1, 0, 0, 1, 0]);
        assert!(matches!(inbox.next(), Err(Failure::OutOfSequence { expected: 0, got: 1 })));
        let mut inbox = Inbox::new(10);
        feed(&mut inbox, &[11, 0, 0, 0]);
        assert!(matches!(inbox.next(), Err(Failure::TooLarge { limit: 10 })));
    }
}
