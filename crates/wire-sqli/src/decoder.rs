use rowferry_wire::ReceiveBuffer;

use crate::login::{LoginReply, LoginRequest, Packet};
use crate::messages::{ClientMessage, LEAST_MESSAGE, ServerMessage};
use crate::scan::{Scan, Stop};
use crate::tag::Tag;
use crate::{Capabilities, DecodeError, MAX_PAYLOAD, Widths};

/// What decoding depends on besides the bytes: the negotiated widths, and data announced by an earlier message.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    pub(crate) widths: Widths,
    /// Bytes of a smart large object that follow in chunks without tags.
    pub(crate) lo_left: usize,
    /// Bytes of a file that follow in tagged chunks.
    pub(crate) file_left: usize,
}

/// Whose messages a [`Decoder`] reads.
pub trait Side {
    /// A message of that side.
    type Message<'a>;

    /// In which steps the receive buffer grows: a server has many clients that say little.
    #[doc(hidden)]
    const STEP: usize;

    #[doc(hidden)]
    fn decode<'a>(scan: &mut Scan<'a>, state: &mut State) -> Result<Self::Message<'a>, Stop>;
}

/// The client's messages, as a server reads them.
#[derive(Debug)]
pub enum FromClient {}

/// The server's messages, as a client reads them.
#[derive(Debug)]
pub enum FromServer {}

impl Side for FromClient {
    type Message<'a> = ClientMessage<'a>;

    const STEP: usize = 16 * 1024;

    fn decode<'a>(scan: &mut Scan<'a>, state: &mut State) -> Result<Self::Message<'a>, Stop> {
        ClientMessage::decode(scan, state)
    }
}

impl Side for FromServer {
    type Message<'a> = ServerMessage<'a>;

    const STEP: usize = ReceiveBuffer::STEP;

    #[inline]
    fn decode<'a>(scan: &mut Scan<'a>, state: &mut State) -> Result<Self::Message<'a>, Stop> {
        ServerMessage::decode(scan, state)
    }
}

/// Turns the bytes of one side into messages, as they arrive.
///
/// Bytes go into [`space`](Decoder::space) and are announced by [`filled`](Decoder::filled), or are [`push`](Decoder::push)ed;
/// [`next`](Decoder::next) yields messages until it needs more. A message that is not complete is tried again only once
/// the bytes that it is known to need are there. After an error the decoder yields nothing but that error.
#[derive(Debug)]
pub struct Decoder<S: Side> {
    buffer: ReceiveBuffer,
    state: State,
    /// Bytes of the message that was yielded last, still in the buffer because it borrows them.
    yielded: usize,
    /// Unread bytes without which trying again is useless.
    needed: usize,
    broken: Option<DecodeError>,
    side: std::marker::PhantomData<fn() -> S>,
}

impl<S: Side> Default for Decoder<S> {
    fn default() -> Self {
        Self {
            buffer: ReceiveBuffer::with_step(S::STEP),
            state: State::default(),
            yielded: 0,
            needed: 0,
            broken: None,
            side: std::marker::PhantomData,
        }
    }
}

impl<S: Side> Decoder<S> {
    /// A decoder that expects a login packet, or messages in their narrow widths.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on messages have the widths of these capabilities, which both sides have.
    pub fn activate(&mut self, active: &Capabilities) {
        self.state.widths = Widths::of(active);
    }

    /// The widths in force, to encode the answers.
    pub const fn widths(&self) -> Widths {
        self.state.widths
    }

    /// Room for at least `least` bytes from the peer.
    pub fn space(&mut self, least: usize) -> &mut [u8] {
        self.discard();
        self.buffer.space(least)
    }

    /// The first `count` bytes of the last [`space`](Decoder::space) were filled.
    pub fn filled(&mut self, count: usize) {
        self.buffer.filled(count);
    }

    /// Appends bytes from the peer.
    pub fn push(&mut self, bytes: &[u8]) {
        self.space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.filled(bytes.len());
    }

    /// The next message; `None` when more bytes are needed.
    #[allow(clippy::should_implement_trait)] // It lends.
    pub fn next(&mut self) -> Result<Option<S::Message<'_>>, DecodeError> {
        self.discard();
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let unread = self.buffer.unread();
        if unread.len() < self.needed.max(LEAST_MESSAGE) {
            return Ok(None);
        }
        let mut scan = Scan::new(unread);
        match S::decode(&mut scan, &mut self.state) {
            Ok(message) => {
                self.yielded = scan.position();
                self.needed = 0;
                Ok(Some(message))
            }
            Err(Stop::More(needed)) => {
                self.needed = needed;
                Ok(None)
            }
            Err(Stop::Fatal(error)) => {
                self.broken = Some(error.clone());
                Err(error)
            }
        }
    }

    /// True when no byte waits, not even the beginning of a message.
    pub fn is_empty(&self) -> bool {
        self.buffer.unread().len() == self.yielded
    }

    /// Gives the memory of a large message back.
    pub fn shrink(&mut self) {
        self.discard();
        self.buffer.shrink();
    }

    fn discard(&mut self) {
        self.buffer.consume(std::mem::take(&mut self.yielded));
    }

    fn packet<P: Packet>(&mut self) -> Result<Option<P>, DecodeError> {
        self.discard();
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        match P::frame(self.buffer.unread()) {
            Ok(None) => Ok(None),
            Ok(Some(len)) => {
                self.yielded = len;
                let packet = P::decode(&self.buffer.unread()[..len]);
                if let Err(error) = &packet {
                    self.broken = Some(error.clone());
                }
                packet.map(Some)
            }
            Err(error) => {
                self.broken = Some(error.clone());
                Err(error)
            }
        }
    }
}

impl Decoder<FromClient> {
    /// The login request; `None` when more bytes are needed. It comes before any message.
    pub fn login_request(&mut self) -> Result<Option<LoginRequest>, DecodeError> {
        self.packet()
    }
}

impl Decoder<FromServer> {
    /// What has come and was not decoded yet.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.buffer.unread()[self.yielded..]
    }

    /// The answer to the login request; `None` when more bytes are needed. It comes before any message.
    pub fn login_reply(&mut self) -> Result<Option<LoginReply>, DecodeError> {
        self.packet()
    }
}

impl Decoder<FromServer> {
    /// The payload of the row that [`next`](Decoder::next) has just yielded; empty after any other message.
    pub(crate) fn last_tuple(&self) -> &[u8] {
        match tuple_at(self.buffer.unread()) {
            Some((payload, len)) if len == self.yielded => payload,
            _ => &[],
        }
    }

    /// Hands whole rows that have come to `visit`, until it answers false or something else comes.
    ///
    /// The outcome is false when `visit` stopped it.
    pub(crate) fn visit_tuples(&mut self, mut visit: impl FnMut(&[u8]) -> bool) -> bool {
        self.discard();
        if self.broken.is_some() || self.state.lo_left > 0 {
            return true;
        }
        let unread = self.buffer.unread();
        let (mut at, mut go_on) = (0, true);
        while let Some((payload, len)) = tuple_at(&unread[at..]) {
            go_on = visit(payload);
            at += len;
            if !go_on {
                break;
            }
        }
        if at > 0 {
            self.needed = 0;
            self.buffer.consume(at);
        }
        go_on
    }
}

/// The payload of a whole `SQ_TUPLE` at the start of `bytes`, and the bytes that the message takes.
#[inline]
fn tuple_at(bytes: &[u8]) -> Option<(&[u8], usize)> {
    const HEADER: usize = 8;
    let &[tag0, tag1, _, _, l0, l1, l2, l3] = bytes.first_chunk::<HEADER>()?;
    let len = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    // Anything else, and lengths out of bounds, are for the careful path to judge.
    if u16::from_be_bytes([tag0, tag1]) != Tag::TUPLE.0 || len > MAX_PAYLOAD {
        return None;
    }
    let whole = HEADER + len + (len & 1);
    (bytes.len() >= whole).then(|| (&bytes[HEADER..HEADER + len], whole))
}
