//! What ENCRYPT_AES and ENCRYPT_TDES yield: a head of 11 characters, and in BASE64 8 random bytes, the encrypted hint and
//! the encrypted data. The sizes are those that IBM's manual computes; what stands in the head is our own, since nobody
//! has published what a server writes there.

/// The characters of the head.
const HEAD: usize = 11;
/// Random bytes before what is encrypted.
pub const SALT: usize = 8;
/// The longest hint, in bytes.
pub const HINT: usize = 32;
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A cipher.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Algorithm {
    /// AES with 128 bits.
    Aes,
    /// DES three times.
    TripleDes,
}

impl Algorithm {
    /// Bytes of a block.
    pub fn block(self) -> usize {
        match self {
            Self::Aes => 16,
            Self::TripleDes => 8,
        }
    }

    /// How long so many bytes are when they are encrypted: at least one byte is filled up.
    pub fn encrypted(self, bytes: usize) -> usize {
        (bytes / self.block() + 1) * self.block()
    }

    /// How long the whole is, in characters; `hint` is none where no hint is kept.
    pub fn size(self, bytes: usize, hint: Option<usize>) -> usize {
        let payload = SALT + self.encrypted(bytes) + hint.map_or(0, |hint| self.encrypted(hint));
        HEAD + payload.div_ceil(3) * 4
    }
}

/// The head.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Head {
    /// How it is encrypted.
    pub algorithm: Algorithm,
    /// Bytes of the encrypted hint.
    pub hint: usize,
    /// Bytes behind the head, before BASE64; modulo 2²⁴.
    pub length: u32,
    /// 18 bits by which another password is told from the right one.
    pub check: u32,
}

impl Head {
    /// In characters.
    pub fn write(&self) -> String {
        let kind = match self.algorithm {
            Algorithm::Aes => 'A',
            Algorithm::TripleDes => 'T',
        };
        let mut text = format!("~{kind}");
        let mut digits = |number: u32, count: u32| {
            for place in (0..count).rev() {
                text.push(char::from(DIGITS[(number >> (6 * place)) as usize & 63]));
            }
        };
        digits(u32::try_from(self.hint / self.algorithm.block()).unwrap_or(0), 1);
        digits(self.length, 4);
        digits(self.check, 3);
        text.push('~');
        text
    }

    /// Reads the head of a value, and what stands behind it; `None` for what ENCRYPT has not made.
    pub fn read(value: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = value.split_at_checked(HEAD)?;
        let [b'~', kind, digits @ .., b'~'] = head else { return None };
        let algorithm = match kind {
            b'A' => Algorithm::Aes,
            b'T' => Algorithm::TripleDes,
            _ => return None,
        };
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0_u32, |number, digit| {
                let found = DIGITS.iter().position(|known| known == digit)?;
                Some(number << 6 | u32::try_from(found).ok()?)
            })
        };
        let hint = usize::try_from(number(&digits[..1])?).ok()? * algorithm.block();
        Some((Self { algorithm, hint, length: number(&digits[1..5])?, check: number(&digits[5..])? }, rest))
    }
}

/// True for a whole value that ENCRYPT has made of a string: cut off anywhere, nobody could decrypt it again.
pub fn is_encrypted(text: &str) -> bool {
    Head::read(text.as_bytes()).is_some_and(|(head, rest)| rest.len() == (head.length as usize).div_ceil(3) * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_manual() {
        // "Example showing how to determine the size of an encrypted column": 16 bytes, with the longest hint and without.
        assert_eq!(Algorithm::TripleDes.size(16, Some(32)), 107);
        assert_eq!(Algorithm::TripleDes.size(16, None), 55);
        assert_eq!(Algorithm::TripleDes.encrypted(13), 16);
        assert_eq!(Algorithm::Aes.encrypted(16), 32);
    }

    #[test]
    fn a_head_is_read_as_it_was_written() {
        let head = Head { algorithm: Algorithm::TripleDes, hint: 40, length: 72, check: 0x2_1234 };
        let text = head.write();
        assert_eq!(text.len(), HEAD);
        let whole = format!("{text}{}", "x".repeat(96));
        assert_eq!(Head::read(whole.as_bytes()), Some((head, &b"x".repeat(96)[..])));
        assert!(is_encrypted(&whole) && !is_encrypted(&whole[..100]) && !is_encrypted("~A~"));
    }
}
