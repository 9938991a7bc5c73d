//! How many bytes a character has, and which they may be: what PostgreSQL checks before it looks a character up.

/// Which bytes are a character.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shape {
    /// One byte each.
    Single,
    /// BIG5, GBK, UHC: two bytes, the second not zero.
    Double,
    /// EUC of China and Korea: two bytes of the upper rows. The three bytes are those that China's claims behind SS2.
    Euc { after_ss2: usize },
    /// EUC of Japan: half-width kana behind SS2, three bytes behind SS3.
    EucJapan,
    /// EUC of Taiwan: four bytes behind SS2.
    EucTaiwan,
    /// JOHAB, as PostgreSQL checks it: as if it were EUC.
    Johab,
    /// Shift JIS.
    ShiftJis,
    /// GB18030: two or four bytes.
    Gb18030,
    /// Emacs' own.
    Mule,
    /// UTF-8.
    Utf8,
}

const SS2: u8 = 0x8e;
const SS3: u8 = 0x8f;

/// A byte of the upper rows of EUC.
fn upper(byte: u8) -> bool {
    (0xa1..=0xfe).contains(&byte)
}

impl Shape {
    pub(crate) fn max_length(self) -> i32 {
        match self {
            Self::Single => 1,
            Self::Double | Self::ShiftJis => 2,
            Self::Euc { .. } | Self::EucJapan | Self::Johab => 3,
            Self::EucTaiwan | Self::Gb18030 | Self::Mule | Self::Utf8 => 4,
        }
    }

    /// How long the first character claims to be; `None` where too few bytes are here to tell.
    pub(crate) fn length(self, bytes: &[u8]) -> Option<usize> {
        let first = *bytes.first()?;
        if first.is_ascii() {
            return Some(1);
        }
        Some(match (self, first) {
            (Self::Single, _) => 1,
            (Self::Double, _) => 2,
            (Self::Euc { after_ss2 }, SS2) => after_ss2,
            (Self::EucJapan | Self::Johab, SS2) => 2,
            (Self::EucTaiwan, SS2) => 4,
            (Self::Euc { .. } | Self::EucJapan | Self::EucTaiwan | Self::Johab, SS3) => 3,
            (Self::Euc { .. } | Self::EucJapan | Self::EucTaiwan | Self::Johab, _) => 2,
            (Self::ShiftJis, 0xa1..=0xdf) => 1,
            (Self::ShiftJis, _) => 2,
            (Self::Gb18030, _) => match bytes.get(1)? {
                b'0'..=b'9' => 4,
                _ => 2,
            },
            (Self::Mule, 0x81..=0x8d) => 2,
            (Self::Mule, 0x90..=0x9b) => 3,
            (Self::Mule, 0x9c | 0x9d) => 4,
            (Self::Mule, _) => 1,
            (Self::Utf8, 0xc0..=0xdf) => 2,
            (Self::Utf8, 0xe0..=0xef) => 3,
            (Self::Utf8, 0xf0..=0xf7) => 4,
            (Self::Utf8, _) => 1,
        })
    }

    /// The length of the first character, if it is one.
    pub(crate) fn verified(self, bytes: &[u8]) -> Option<usize> {
        if *bytes.first()? == 0 {
            return None;
        }
        if bytes[0].is_ascii() {
            return Some(1);
        }
        let code = bytes.get(..self.length(bytes)?)?;
        let valid = match (self, code) {
            (Self::Single, _) => true,
            (Self::Double, [first, second]) => *second != 0 && (*first, *second) != (0x8d, b' '),
            (Self::Euc { .. }, [_, ..]) => return self.euc_pair(bytes),
            (Self::EucJapan, [SS2, kana]) => (0xa1..=0xdf).contains(kana),
            (Self::EucJapan, [SS3, rest @ ..]) => rest.iter().copied().all(upper),
            (Self::EucJapan, pair) => pair.iter().copied().all(upper),
            (Self::EucTaiwan, [SS2, plane, rest @ ..]) => {
                (0xa1..=0xa7).contains(plane) && rest.iter().copied().all(upper)
            }
            (Self::EucTaiwan, [first, rest @ ..]) => *first != SS3 && rest.iter().copied().all(upper),
            (Self::Johab, [_, rest @ ..]) => rest.iter().copied().all(upper),
            (Self::ShiftJis, [_]) => true,
            (Self::ShiftJis, [first, second, ..]) => {
                matches!(first, 0x81..=0x9f | 0xe0..=0xfc) && matches!(second, 0x40..=0x7e | 0x80..=0xfc)
            }
            (Self::Gb18030, [first, second]) => {
                matches!(first, 0x81..=0xfe) && matches!(second, 0x40..=0x7e | 0x80..=0xfe)
            }
            (Self::Gb18030, [first, _, third, fourth]) => {
                matches!(first, 0x81..=0xfe) && matches!(third, 0x81..=0xfe) && fourth.is_ascii_digit()
            }
            (Self::Mule, [_, rest @ ..]) => rest.iter().all(|byte| !byte.is_ascii()),
            (Self::Utf8, code) => std::str::from_utf8(code).is_ok(),
            _ => false,
        };
        valid.then_some(code.len())
    }

    /// EUC of two bytes is checked as such, whatever length the first byte claims.
    fn euc_pair(self, bytes: &[u8]) -> Option<usize> {
        bytes.get(..2)?.iter().copied().all(upper).then_some(2)
    }
}
