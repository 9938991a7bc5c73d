//! Numbers out of ASCII digits, eight at a time.

/// The most digits that surely fit 64 bits.
pub const MOST: usize = 19;

/// Powers of ten, by exponent.
pub const POWERS: [u64; MOST + 1] = {
    let mut powers = [1; MOST + 1];
    let mut at = 1;
    while at <= MOST {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// What 1 to [`MOST`] digits spell. `None` for anything else.
#[inline]
pub fn parse(text: &[u8]) -> Option<u64> {
    match text.len() {
        1..=3 => few(text),
        4..=8 => eight(padded(text)),
        9..=16 => {
            let (head, tail) = text.split_last_chunk::<8>()?;
            let head = if head.len() < 4 { few(head)? } else { eight(padded(head))? };
            Some(head * POWERS[8] + eight(u64::from_le_bytes(*tail))?)
        }
        17..=MOST => {
            let (head, tail) = text.split_at(text.len() - 16);
            Some(few(head)? * POWERS[16] + parse(tail)?)
        }
        _ => None,
    }
}

/// A number with at most one point in it: its digits as one number, and how many of them stand behind the point, which
/// is looked for first where `expected` digits would be behind it.
///
/// `None` for anything else, for more than [`MOST`] digits, and for none.
#[inline]
pub fn parse_fixed(text: &[u8], expected: usize) -> Option<(u64, usize)> {
    if text.len() > MOST + 1 {
        return None;
    }
    // Without a decimal there is no point.
    let guess = if expected == 0 { None } else { text.len().checked_sub(expected + 1) };
    let point = match guess {
        Some(guess) if text[guess] == b'.' => Some(guess),
        // Few digits stand behind a point, so it is looked for from there.
        _ => text.iter().rposition(|&byte| byte == b'.'),
    };
    let Some(point) = point else { return Some((parse(text)?, 0)) };
    let (whole, fraction) = (&text[..point], &text[point + 1..]);
    let value = match (whole, fraction) {
        ([], []) => return None,
        ([], fraction) => parse(fraction)?,
        (whole, []) => parse(whole)?,
        (whole, fraction) => parse(whole)? * POWERS[fraction.len()] + parse(fraction)?,
    };
    Some((value, fraction.len()))
}

/// One to three digits.
#[inline]
fn few(text: &[u8]) -> Option<u64> {
    let digit = |byte: u8| u64::from(byte.wrapping_sub(b'0'));
    let (value, most) = match *text {
        [a] => (digit(a), digit(a)),
        [a, b] => (digit(a) * 10 + digit(b), digit(a).max(digit(b))),
        [a, b, c] => (digit(a) * 100 + digit(b) * 10 + digit(c), digit(a).max(digit(b)).max(digit(c))),
        _ => return None,
    };
    (most <= 9).then_some(value)
}

const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// Four to eight bytes as the last of eight, with `0` in front: the first byte is the lowest.
#[inline]
fn padded(text: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) else { return 0 };
    let missing = 8 * (8 - text.len() as u32);
    // The two halves overlap; what the first has in common with the last is shifted out.
    let first = u64::from(u32::from_le_bytes(*first)) << missing & u64::from(u32::MAX);
    let zeros = ZEROS & !(u64::MAX << missing);
    u64::from(u32::from_le_bytes(*last)) << 32 | first | zeros
}

/// Eight digits, the first in the lowest byte. `None` when one is none.
#[inline]
const fn eight(word: u64) -> Option<u64> {
    let digits = word ^ ZEROS;
    // A digit beyond 9 reaches the uppermost bit of its byte, by itself or by this sum.
    if (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = (digits & 0x00ff_00ff_00ff_00ff) * 10 + (digits >> 8 & 0x00ff_00ff_00ff_00ff);
    let fours = (pairs & 0x0000_ffff_0000_ffff) * 100 + (pairs >> 16 & 0x0000_ffff_0000_ffff);
    Some((fours & 0xffff_ffff) * 10_000 + (fours >> 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_every_length_are_read() {
        let digits = "9876543210987654321";
        for len in 1..=MOST {
            let text = &digits[..len];
            assert_eq!(parse(text.as_bytes()), text.parse().ok(), "{text}");
            let zeros = "0".repeat(len);
            assert_eq!(parse(zeros.as_bytes()), Some(0));
            let nines = "9".repeat(len);
            assert_eq!(parse(nines.as_bytes()), nines.parse().ok());
        }
        assert_eq!(parse(b""), None);
        assert_eq!(parse(&[b'1'; MOST + 1]), None);
    }

    #[test]
    fn whatever_is_no_digit_is_refused_at_every_place() {
        for len in 1..=MOST {
            for at in 0..len {
                for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
                    let mut text = vec![b'5'; len];
                    text[at] = byte;
                    assert_eq!(parse(&text), None, "{byte:02x} at {at} of {len}");
                }
            }
        }
    }

    #[test]
    fn a_point_may_stand_anywhere() {
        for (text, expected) in [
            ("12.50", Some((1250, 2))),
            ("0.007", Some((7, 3))),
            (".5", Some((5, 1))),
            ("5.", Some((5, 0))),
            ("42", Some((42, 0))),
            ("9999999999999999.999", Some((9_999_999_999_999_999_999, 3))),
            ("99999999999999999.999", None),
            (".", None),
            ("", None),
            ("1.2.3", None),
            ("1e5", None),
            ("-1", None),
            ("1.-1", None),
        ] {
            for guess in 0..=MOST + 3 {
                assert_eq!(parse_fixed(text.as_bytes(), guess), expected, "{text}");
            }
        }
    }
}
