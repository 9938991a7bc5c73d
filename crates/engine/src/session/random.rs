//! Numbers by chance that a seed decides: `setseed` and what `random` says behind it, which is what PostgreSQL 15 says.
//!
//! The generator is xoroshiro128**, whose state SplitMix64 makes of the seed.

/// A generator with a state.
#[derive(Clone, Copy, Debug)]
pub struct Generator([u64; 2]);

impl Generator {
    /// The generator that a seed from -1 to 1 begins.
    pub fn seeded(seed: f64) -> Self {
        const FRACTION: u64 = (1 << 52) - 1;
        let mut from = (FRACTION as f64 * seed) as i64 as u64;
        Self([split_mix(&mut from), split_mix(&mut from)])
    }

    /// The next number, from 0 to below 1.
    pub fn next(&mut self) -> f64 {
        let [first, second] = self.0;
        let mixed = first ^ second;
        let value = first.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        self.0 = [first.rotate_left(24) ^ mixed ^ (mixed << 16), mixed.rotate_left(37)];
        (value >> 12) as f64 / (1_u64 << 52) as f64
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What PostgreSQL 15.18 says behind these seeds.
    #[test]
    fn a_seed_decides_the_numbers_as_in_postgresql() {
        let mut half = Generator::seeded(0.5);
        assert_eq!([half.next(), half.next()], [0.985_167_717_534_799_9, 0.825_301_858_027_981]);
        assert_eq!(Generator::seeded(-1.0).next(), 0.725_656_831_544_149);
        let mut tenth = Generator::seeded(0.1);
        assert_eq!([tenth.next(), tenth.next()], [0.734_550_721_251_906_2, 0.640_283_923_127_707_1]);
    }
}
