//! Damaged bytes and texts from good ones, the same every time: what fuzz tests in CI run on.

/// A small generator of numbers; the same seed yields the same numbers.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// A generator for a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 when that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next_u64() % limit as u64) as usize }
    }

    /// One of these.
    ///
    /// # Panics
    /// When there are none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Bytes that lengths, counts and tags like to stumble over.
const EXTREMES: [u8; 7] = [0x00, 0x01, 0x0c, 0x7f, 0x80, 0xfe, 0xff];

/// One to four changes to `bytes`: flipped bits, extreme bytes, inflated lengths, cuts, repetitions, pieces of `others`.
pub fn mutate(seeded: &mut Seeded, bytes: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=seeded.below(4) {
        let at = seeded.below(out.len());
        match seeded.below(8) {
            0 if !out.is_empty() => out[at] ^= 1 << seeded.below(8),
            1 if !out.is_empty() => out[at] = *seeded.pick(&EXTREMES),
            2 if !out.is_empty() => out[at] = seeded.next_u64() as u8,
            // A length of two or four bytes, grown or made negative.
            3 => {
                let value =
                    *seeded.pick(&[0xffff_ffffu32, 0x7fff_ffff, 0x8000_0000, 0x00ff_ffff, 0x0000_ffff, 0x0400_0001]);
                let width = *seeded.pick(&[2, 4]);
                let start = at & !1;
                for (place, byte) in out.iter_mut().skip(start).zip(&value.to_be_bytes()[4 - width..]) {
                    *place = *byte;
                }
            }
            4 => out.truncate(at),
            5 => {
                let end = at + seeded.below(out.len().saturating_sub(at).min(64) + 1);
                let piece = out[at..end].to_vec();
                out.splice(at..at, piece);
            }
            6 => {
                let end = at + seeded.below(out.len().saturating_sub(at).min(16) + 1);
                out.drain(at..end);
            }
            _ if !others.is_empty() => {
                let other = seeded.pick(others);
                let from = seeded.below(other.len());
                out.truncate(at);
                out.extend_from_slice(&other[from..]);
            }
            _ => {}
        }
    }
    out
}

/// One to four changes to a text: pieces dropped, repeated, doubled many times over, or replaced by one of `words`.
pub fn mutate_text(seeded: &mut Seeded, text: &str, words: &[&str]) -> String {
    let mut tokens: Vec<&str> = tokens(text);
    let mut repeated = 1;
    for _ in 0..=seeded.below(4) {
        let at = seeded.below(tokens.len());
        match seeded.below(6) {
            0 if !tokens.is_empty() => drop(tokens.remove(at)),
            1 if !tokens.is_empty() => {
                let again = tokens[at];
                tokens.insert(at, again);
            }
            2 if !words.is_empty() => tokens.insert(at, words[seeded.below(words.len())]),
            3 if !tokens.is_empty() && !words.is_empty() => tokens[at] = words[seeded.below(words.len())],
            4 => tokens.truncate(at),
            5 if !tokens.is_empty() => {
                let other = seeded.below(tokens.len());
                tokens.swap(at, other);
                repeated = *seeded.pick(&[1, 1, 1, 2, 50]);
            }
            _ => {}
        }
    }
    if repeated > 1 && !tokens.is_empty() {
        let at = seeded.below(tokens.len());
        let piece = vec![tokens[at]; repeated];
        tokens.splice(at..at, piece);
    }
    tokens.concat()
}

/// Words, numbers, blanks and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let class = |sign: char| match sign {
        _ if sign.is_alphanumeric() || sign == '_' => 1,
        _ if sign.is_whitespace() => 2,
        _ => 3,
    };
    let mut found = Vec::new();
    let (mut start, mut last) = (0, 0);
    for (at, sign) in text.char_indices() {
        let now = class(sign);
        if at > start && (now != last || now == 3) {
            found.push(&text[start..at]);
            start = at;
        }
        last = now;
    }
    if start < text.len() {
        found.push(&text[start..]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_does_the_same_damage() {
        let damage = |seed| mutate(&mut Seeded::new(seed), b"\x00\x0f\x00\x00\x00\x01", &[b"other".to_vec()]);
        assert_eq!(damage(1), damage(1));
        assert!((0..50).any(|seed| damage(seed) != damage(1)));
    }

    #[test]
    fn tokens_are_the_text() {
        let text = "SELECT a1, 'größe' -- x\n FROM t;";
        assert_eq!(tokens(text).concat(), text);
        assert_eq!(tokens("a+ 1"), ["a", "+", " ", "1"]);
    }
}
