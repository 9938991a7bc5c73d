//! Finds message boundaries. A frame is cut first and decoded afterwards, inside its own slice, so that a wrong length
//! can never read into the next message.

use std::fmt;

/// Bytes in front of a message body: the tag and the length.
pub const HEADER: usize = 5;

/// The longest start-up packet that is accepted, in bytes, length word included. PostgreSQL's own limit.
pub const STARTUP_LIMIT: usize = 10_000;

/// The longest message of a kind that has no business being long (`Sync`, `Close`, `Execute`, …), length word included.
/// PostgreSQL's own limit for them.
pub const SMALL_MESSAGE_LIMIT: usize = 10_000;

/// The longest password or SASL message before the client is known, length word included. PostgreSQL's own limit.
pub const AUTHENTICATION_LIMIT: usize = 65_535;

/// What long messages (`Query`, `Parse`, `Bind`, `CopyData`, `FunctionCall`) may measure unless told otherwise.
pub const DEFAULT_MESSAGE_LIMIT: usize = 128 * 1024 * 1024;

/// Limits for the messages of one connection, in bytes, length word included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameLimits {
    /// For messages that carry statements or data.
    pub message: usize,
    /// For all others.
    pub small: usize,
}

impl FrameLimits {
    /// Until the client is authenticated it can send passwords and nothing long.
    pub const HANDSHAKE: Self = Self { message: AUTHENTICATION_LIMIT, small: AUTHENTICATION_LIMIT };

    /// For an authenticated client.
    pub const fn session(message: usize) -> Self {
        Self { message, small: SMALL_MESSAGE_LIMIT }
    }

    const fn of(self, tag: u8) -> usize {
        match tag {
            b'Q' | b'P' | b'B' | b'd' | b'F' => self.message,
            b'p' => AUTHENTICATION_LIMIT,
            _ => self.small,
        }
    }
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self::session(DEFAULT_MESSAGE_LIMIT)
    }
}

/// One whole message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Frame<'a> {
    /// The message's type byte.
    pub tag: u8,
    /// What follows the length word.
    pub body: &'a [u8],
    /// Bytes of the whole message: consume this many once the body is done with.
    pub len: usize,
}

/// Why no message can be cut. The stream has lost its boundaries: the connection must be closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameError {
    /// A length that does not even cover its own word, or a negative one.
    InvalidLength {
        /// The type byte, or 0 for a start-up packet.
        tag: u8,
        /// The length word as it came.
        length: i32,
    },
    /// A length beyond the limit of its kind.
    TooLong {
        /// The type byte, or 0 for a start-up packet.
        tag: u8,
        /// The length word as it came, in bytes.
        length: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// No message of the frontend begins with this byte.
    UnknownTag {
        /// The byte.
        tag: u8,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InvalidLength { tag: 0, length } => write!(f, "invalid length {length} of startup packet"),
            Self::InvalidLength { tag, length } => {
                write!(f, "invalid length {length} of message type \"{}\"", tag.escape_ascii())
            }
            Self::TooLong { tag: 0, length, limit } => {
                write!(f, "startup packet of {length} bytes exceeds the limit of {limit}")
            }
            Self::TooLong { tag, length, limit } => {
                write!(f, "message type \"{}\" of {length} bytes exceeds the limit of {limit}", tag.escape_ascii())
            }
            Self::UnknownTag { tag } => write!(f, "invalid frontend message type {tag}"),
        }
    }
}

impl std::error::Error for FrameError {}

/// Cuts the first message off `bytes`, which come from a frontend that has passed its start-up.
///
/// `Ok(None)` asks for more bytes; [`missing`] says how many. Tags that no frontend sends are refused at once, so that
/// garbage is not waited for.
pub fn cut_frontend(bytes: &[u8], limits: FrameLimits) -> Result<Option<Frame<'_>>, FrameError> {
    let Some(&tag) = bytes.first() else { return Ok(None) };
    if !matches!(tag, b'B' | b'C' | b'D' | b'E' | b'F' | b'H' | b'P' | b'Q' | b'S' | b'X' | b'c' | b'd' | b'f' | b'p') {
        return Err(FrameError::UnknownTag { tag });
    }
    cut(bytes, limits.of(tag))
}

/// Cuts the first message off `bytes`, which come from a backend; `limit` in bytes, length word included.
pub fn cut_backend(bytes: &[u8], limit: usize) -> Result<Option<Frame<'_>>, FrameError> {
    cut(bytes, limit)
}

fn cut(bytes: &[u8], limit: usize) -> Result<Option<Frame<'_>>, FrameError> {
    let (Some(&tag), Some(word)) = (bytes.first(), bytes.get(1..HEADER).and_then(|b| b.first_chunk::<4>())) else {
        return Ok(None);
    };
    let length = i32::from_be_bytes(*word);
    let Ok(size) = usize::try_from(length) else { return Err(FrameError::InvalidLength { tag, length }) };
    if size < 4 {
        return Err(FrameError::InvalidLength { tag, length });
    }
    if size > limit {
        return Err(FrameError::TooLong { tag, length: size, limit });
    }
    Ok(bytes.get(HEADER..size + 1).map(|body| Frame { tag, body, len: size + 1 }))
}

/// Cuts a start-up packet (which has no tag) off `bytes`: its body without the length word, and its whole length.
pub fn cut_startup(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, FrameError> {
    let Some(word) = bytes.first_chunk::<4>() else { return Ok(None) };
    let length = i32::from_be_bytes(*word);
    let Ok(size) = usize::try_from(length) else { return Err(FrameError::InvalidLength { tag: 0, length }) };
    if size < 8 {
        return Err(FrameError::InvalidLength { tag: 0, length });
    }
    if size > STARTUP_LIMIT {
        return Err(FrameError::TooLong { tag: 0, length: size, limit: STARTUP_LIMIT });
    }
    Ok(bytes.get(4..size).map(|body| (body, size)))
}

/// How many bytes the message at the front of `bytes` still lacks; at least 1. Only meaningful after a cut said `None`.
pub fn missing(bytes: &[u8]) -> usize {
    let wanted = match bytes.get(1..HEADER).and_then(|b| b.first_chunk::<4>()) {
        Some(word) => usize::try_from(i32::from_be_bytes(*word)).unwrap_or(0) + 1,
        None => HEADER,
    };
    wanted.saturating_sub(bytes.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(tag: u8, length: i32) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes
    }

    #[test]
    fn a_strict_prefix_asks_for_more() {
        let mut bytes = header(b'Q', 8);
        bytes.extend_from_slice(b"abc\0");
        for end in 0..bytes.len() {
            assert_eq!(cut_frontend(&bytes[..end], FrameLimits::default()), Ok(None), "{end} bytes");
            let asked = missing(&bytes[..end]);
            assert!(asked >= 1 && end + asked <= bytes.len(), "{end} bytes, asked for {asked}");
        }
        let frame = cut_frontend(&bytes, FrameLimits::default()).unwrap().unwrap();
        assert_eq!((frame.tag, frame.body, frame.len), (b'Q', &b"abc\0"[..], 9));
    }

    #[test]
    fn refuses_one_byte_beyond_each_limit() {
        let session = FrameLimits::session(1 << 20);
        for (tag, limits, limit) in [
            (b'Q', session, 1 << 20),
            (b'P', session, 1 << 20),
            (b'B', session, 1 << 20),
            (b'd', session, 1 << 20),
            (b'F', session, 1 << 20),
            (b'S', session, SMALL_MESSAGE_LIMIT),
            (b'E', session, SMALL_MESSAGE_LIMIT),
            (b'p', session, AUTHENTICATION_LIMIT),
            (b'Q', FrameLimits::HANDSHAKE, AUTHENTICATION_LIMIT),
        ] {
            assert_eq!(cut_frontend(&header(tag, limit as i32), limits), Ok(None));
            assert_eq!(
                cut_frontend(&header(tag, limit as i32 + 1), limits),
                Err(FrameError::TooLong { tag, length: limit + 1, limit })
            );
        }
        assert_eq!(cut_startup(&(STARTUP_LIMIT as i32).to_be_bytes()), Ok(None));
        assert_eq!(
            cut_startup(&(STARTUP_LIMIT as i32 + 1).to_be_bytes()),
            Err(FrameError::TooLong { tag: 0, length: STARTUP_LIMIT + 1, limit: STARTUP_LIMIT })
        );
    }

    #[test]
    fn refuses_lengths_that_cannot_be() {
        for length in [i32::MIN, -1, 0, 3] {
            assert_eq!(
                cut_frontend(&header(b'S', length), FrameLimits::default()),
                Err(FrameError::InvalidLength { tag: b'S', length })
            );
        }
        for length in [i32::MIN, -1, 0, 7] {
            assert_eq!(cut_startup(&length.to_be_bytes()), Err(FrameError::InvalidLength { tag: 0, length }));
        }
    }

    #[test]
    fn refuses_an_unknown_tag_at_once() {
        assert_eq!(cut_frontend(b"G", FrameLimits::default()), Err(FrameError::UnknownTag { tag: b'G' }));
    }
}
