//! The compressed protocol: packets, or parts of them, inside frames that may be squeezed.
//!
//! Frame: compressed length `u24le`, frame number `u8`, length before compression `u24le` (0: not compressed), bytes.
//! Frame numbers begin at 0 with each command. The numbers of the packets inside mean nothing any more: neither
//! vendor's server checks or keeps them.

use std::io::{Read, Write};

use flate2::Compression as Effort;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rowferry_wire::{Malformed, ReceiveBuffer};

use crate::packet::MAX_PAYLOAD;

/// Shorter ones are sent as they are, as the servers do it.
const WORTHWHILE: usize = 50;
const HEADER: usize = 7;

/// How bytes are squeezed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Algorithm {
    /// RFC 1950.
    Zlib,
    /// RFC 8878; MySQL 8.0.18.
    Zstd {
        /// 1 to 22; the server uses it, too.
        level: u8,
    },
}

impl Algorithm {
    /// The level that MySQL's own clients use.
    pub const ZSTD_DEFAULT: Self = Self::Zstd { level: 3 };

    fn squeeze(self, plain: &[u8], into: &mut Vec<u8>) {
        match self {
            Self::Zlib => {
                let mut encoder = ZlibEncoder::new(into, Effort::default());
                encoder.write_all(plain).and_then(|()| encoder.try_finish()).expect("writing into a Vec does not fail");
            }
            Self::Zstd { level } => {
                let packed = zstd::bulk::compress(plain, i32::from(level)).expect("sizes below 16 MiB are taken");
                into.extend_from_slice(&packed);
            }
        }
    }

    /// Fills the whole of `plain`, and no more than that.
    fn expand(self, packed: &[u8], plain: &mut [u8]) -> Result<(), Malformed> {
        let broken = || Malformed::new("compressed frame");
        match self {
            Self::Zlib => {
                let mut decoder = ZlibDecoder::new(packed);
                decoder.read_exact(plain).map_err(|_| broken())?;
                match decoder.read(&mut [0]) {
                    Ok(0) => Ok(()),
                    _ => Err(broken()),
                }
            }
            Self::Zstd { .. } => match zstd::bulk::decompress_to_buffer(packed, plain) {
                Ok(filled) if filled == plain.len() => Ok(()),
                _ => Err(broken()),
            },
        }
    }
}

/// Both directions of a connection whose frames are compressed.
#[derive(Debug)]
pub(crate) struct Framing {
    algorithm: Algorithm,
    /// Frames as they came.
    pub(crate) packed: ReceiveBuffer,
}

impl Framing {
    pub(crate) fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, packed: ReceiveBuffer::default() }
    }

    /// Expands the whole frames that have come into `plain`.
    pub(crate) fn expand(&mut self, plain: &mut ReceiveBuffer) -> Result<(), Malformed> {
        while self.expand_next(plain)?.is_some() {}
        Ok(())
    }

    /// Expands the next frame into `plain`, if it is whole, and tells its number.
    pub(crate) fn expand_next(&mut self, plain: &mut ReceiveBuffer) -> Result<Option<u8>, Malformed> {
        let Some(&[a, b, c, number, d, e, f]) = self.packed.unread().first_chunk::<HEADER>() else { return Ok(None) };
        let packed = u32::from_le_bytes([a, b, c, 0]) as usize;
        let expanded = u32::from_le_bytes([d, e, f, 0]) as usize;
        let Some(frame) = self.packed.unread().get(HEADER..HEADER + packed) else { return Ok(None) };
        let filled = if expanded == 0 { packed } else { expanded };
        let space = &mut plain.space(filled)[..filled];
        if expanded == 0 {
            space.copy_from_slice(frame);
        } else {
            self.algorithm.expand(frame, space)?;
        }
        plain.filled(filled);
        self.packed.consume(HEADER + packed);
        Ok(Some(number))
    }

    /// Replaces the packets from `start` on by frames, the first of them number `number`; tells the number that follows.
    pub(crate) fn seal(&self, output: &mut Vec<u8>, start: usize, mut number: u8) -> u8 {
        let plain = output.split_off(start);
        for chunk in plain.chunks(MAX_PAYLOAD) {
            let header = output.len();
            output.extend_from_slice(&[0; HEADER]);
            let mut expanded = 0;
            if chunk.len() >= WORTHWHILE {
                self.algorithm.squeeze(chunk, output);
                expanded = chunk.len();
            }
            if expanded == 0 || output.len() - header - HEADER >= chunk.len() {
                output.truncate(header + HEADER);
                output.extend_from_slice(chunk);
                expanded = 0;
            }
            let packed = output.len() - header - HEADER;
            output[header..header + 3].copy_from_slice(&(packed as u32).to_le_bytes()[..3]);
            output[header + 3] = number;
            output[header + 4..header + 7].copy_from_slice(&(expanded as u32).to_le_bytes()[..3]);
            number = number.wrapping_add(1);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(framing: &mut Framing, bytes: &[u8]) {
        framing.packed.space(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        framing.packed.filled(bytes.len());
    }

    #[test]
    fn what_is_sealed_expands_to_the_same_however_it_is_cut() {
        for algorithm in [Algorithm::Zlib, Algorithm::ZSTD_DEFAULT] {
            for len in [0, 1, 49, 50, 5_000, MAX_PAYLOAD, MAX_PAYLOAD + 1] {
                let plain: Vec<u8> = (0..len).map(|at| (at / 7) as u8).collect();
                let mut framing = Framing::new(algorithm);
                let mut output = b"before".to_vec();
                output.extend_from_slice(&plain);
                framing.seal(&mut output, 6, 0);
                assert!(output.starts_with(b"before"));
                let mut expanded = ReceiveBuffer::default();
                let (front, back) = output[6..].split_at((output.len() - 6) / 2);
                for part in [front, back] {
                    arrive(&mut framing, part);
                    framing.expand(&mut expanded).expect("our own frames");
                }
                assert!(expanded.unread() == plain, "{algorithm:?} {len}");
            }
        }
    }

    #[test]
    fn frames_that_lie_about_their_size_are_malformed() {
        for algorithm in [Algorithm::Zlib, Algorithm::ZSTD_DEFAULT] {
            for said in [99_u8, 101] {
                let mut framing = Framing::new(algorithm);
                let mut output = vec![b'x'; 100];
                framing.seal(&mut output, 0, 0);
                output[4] = said;
                arrive(&mut framing, &output);
                assert!(framing.expand(&mut ReceiveBuffer::default()).is_err(), "{algorithm:?} {said}");
            }
            let mut framing = Framing::new(algorithm);
            arrive(&mut framing, &[3, 0, 0, 0, 60, 0, 0, 1, 2, 3]);
            assert!(framing.expand(&mut ReceiveBuffer::default()).is_err());
        }
    }
}
