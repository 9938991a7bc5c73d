use std::fmt;

rowferry_wire::open_enum! {
    /// A capability bit, numbered from the most significant bit of the first byte of a mask.
    pub struct Capability(u16) {
        /// `VARCHAR` in rows carries a length prefix.
        VARIABLE_LENGTH_VARCHAR = 13,
        /// `SQ_CIDESCRIBE` is answered.
        DESCRIBE_INPUT = 34,
        /// The server wants a PAM conversation before anything else.
        PAM = 44,
        /// Generated keys can be asked for.
        GENERATED_KEYS = 48,
        /// `SQ_IDESCRIBE` carries a flags field.
        NAMED_PARAMETERS = 52,
        /// `BIGINT` and `BIGSERIAL`; `SQ_INSERTDONE` carries eight bytes more.
        BIGINT = 54,
        /// Savepoints.
        SAVEPOINTS = 56,
        /// Statements in batches.
        BATCHING = 61,
        /// SQL text beyond 64 KiB; `SQ_ERR` has a four-byte offset.
        LONG_SQL = 62,
        /// Fetch buffers beyond 32 KiB.
        LARGE_FETCH_BUFFER = 63,
        /// `SQ_DESCRIBE` has a four-byte tuple size.
        LARGE_TUPLE = 69,
        /// Eight-byte row counts and row ids; 68-byte `BYTE`/`TEXT` descriptors.
        LONG_ROWID = 70,
    }
}

/// A capability mask as it travels in `SQ_PROTOCOLS`.
///
/// A feature is active only if both sides have its bit: see [`Capabilities::and`].
#[derive(Clone, Eq, PartialEq)]
pub struct Capabilities(Vec<u8>);

impl Capabilities {
    /// A longer mask is refused.
    pub const MAX_BYTES: usize = 256;

    /// The mask in these bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// What our client offers: nine bytes, those of IBM JDBC 15 (vector `protocols.jdbc15.request`).
    pub fn client_offer() -> Self {
        Self::new([0xff, 0xfc, 0x7f, 0xfc, 0x3c, 0x8c, 0xaa, 0x97, 0x06])
    }

    /// What an Informix 15 answers (vector `real.protocols.v15`).
    pub fn server_15() -> Self {
        Self::new([0xbd, 0xbe, 0x9f, 0xfe, 0x7f, 0xb7, 0xff, 0xef, 0xff])
    }

    /// What an Informix 12.10 answers: no 64-bit widths (vector `real.protocols.v12`).
    pub fn server_12() -> Self {
        Self::new([0xbd, 0xbe, 0x9f, 0xfe, 0x7f, 0xb7, 0xff, 0xef, 0xf0])
    }

    /// The bytes of the mask.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// True when the bit is in this mask.
    pub fn has(&self, capability: Capability) -> bool {
        let bit = usize::from(capability.0);
        self.0.get(bit / 8).is_some_and(|byte| byte & (0x80 >> (bit % 8)) != 0)
    }

    /// The capabilities that both masks have; as long as the shorter one.
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// This mask with one bit set or cleared. A bit beyond the mask lengthens it.
    pub fn with(mut self, capability: Capability, on: bool) -> Self {
        let (byte, bit) = (usize::from(capability.0) / 8, 0x80 >> (capability.0 % 8));
        if self.0.len() <= byte {
            self.0.resize(byte + 1, 0);
        }
        if on {
            self.0[byte] |= bit;
        } else {
            self.0[byte] &= !bit;
        }
        self
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Capabilities(")?;
        for byte in &self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// The layout choices that follow from the active capabilities.
///
/// The default is the layout before negotiation: everything narrow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Widths {
    /// SQL text is `LCHAR`, and the offset of `SQ_ERR` has four bytes (bit 62).
    pub long_sql: bool,
    /// The tuple size of `SQ_DESCRIBE` has four bytes (bit 69).
    pub large_tuple: bool,
    /// Counts and row ids of `SQ_DONE` have eight bytes, simple large object descriptors 68 (bit 70).
    pub long_rowid: bool,
    /// `SQ_INSERTDONE` carries the `BIGSERIAL` value (bit 54).
    pub bigserial: bool,
    /// `SQ_IDESCRIBE` carries flags (bit 52).
    pub named_parameters: bool,
}

impl Widths {
    /// The widths of capabilities that both sides have.
    pub fn of(active: &Capabilities) -> Self {
        Self {
            long_sql: active.has(Capability::LONG_SQL),
            large_tuple: active.has(Capability::LARGE_TUPLE),
            long_rowid: active.has(Capability::LONG_ROWID),
            bigserial: active.has(Capability::BIGINT),
            named_parameters: active.has(Capability::NAMED_PARAMETERS),
        }
    }

    /// Bytes in the descriptor of a `BYTE` or `TEXT` value.
    pub const fn simple_lob_descriptor(self) -> usize {
        if self.long_rowid { 68 } else { 56 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_active_only_if_both_have_it() {
        let eight_bytes = Capabilities::new(&Capabilities::client_offer().as_bytes()[..8]);
        let narrow = Widths::of(&eight_bytes.and(&Capabilities::server_15()));
        assert_eq!((narrow.large_tuple, narrow.long_rowid, narrow.long_sql), (false, false, true));
        let wide = Widths::of(&Capabilities::client_offer().and(&Capabilities::server_15()));
        assert_eq!((wide.large_tuple, wide.long_rowid, wide.long_sql), (true, true, true));
        let twelve = Widths::of(&Capabilities::client_offer().and(&Capabilities::server_12()));
        assert_eq!((twelve.large_tuple, twelve.long_rowid, twelve.bigserial), (false, false, true));
    }

    #[test]
    fn bits_count_from_the_most_significant() {
        let mask = Capabilities::new([0u8; 2]).with(Capability(7), true).with(Capability(8), true);
        assert_eq!(mask.as_bytes(), [0x01, 0x80]);
        assert!(Capabilities::server_12().with(Capability::PAM, true).has(Capability::PAM));
        assert!(!Capabilities::server_15().has(Capability::PAM));
    }
}
