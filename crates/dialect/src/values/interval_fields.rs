//! What `interval year to month` and `interval(3)` keep of an interval.

use super::Interval;
use super::datetime_text::{HOUR, MINUTE};

/// The modifiers of an interval type.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct IntervalModifier {
    /// The fields, as bits of PostgreSQL's modifier; [`IntervalModifier::ALL`] when none are named.
    pub fields: u16,
    /// Digits of the second's fraction.
    pub digits: Option<u8>,
}

/// The fields, as bits.
mod bit {
    pub(super) const MONTH: u16 = 1 << 1;
    pub(super) const YEAR: u16 = 1 << 2;
    pub(super) const DAY: u16 = 1 << 3;
    pub(super) const HOUR: u16 = 1 << 10;
    pub(super) const MINUTE: u16 = 1 << 11;
    pub(super) const SECOND: u16 = 1 << 12;
}

/// What the grammar has words for.
const RANGES: [(u16, &str); 13] = [
    (bit::YEAR, "year"),
    (bit::MONTH, "month"),
    (bit::DAY, "day"),
    (bit::HOUR, "hour"),
    (bit::MINUTE, "minute"),
    (bit::SECOND, "second"),
    (bit::YEAR | bit::MONTH, "year to month"),
    (bit::DAY | bit::HOUR, "day to hour"),
    (bit::DAY | bit::HOUR | bit::MINUTE, "day to minute"),
    (bit::DAY | bit::HOUR | bit::MINUTE | bit::SECOND, "day to second"),
    (bit::HOUR | bit::MINUTE, "hour to minute"),
    (bit::HOUR | bit::MINUTE | bit::SECOND, "hour to second"),
    (bit::MINUTE | bit::SECOND, "minute to second"),
];

/// The smallest field of a range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Smallest {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

impl IntervalModifier {
    /// All fields.
    pub const ALL: u16 = 0x7fff;
    /// All digits, in PostgreSQL's modifier.
    const ALL_DIGITS: i32 = 0xffff;

    /// The modifiers of fields and digits; `None` for fields that no words stand for, and for an interval without limits.
    pub fn new(fields: u16, digits: Option<u8>) -> Option<Self> {
        let known = fields == Self::ALL || RANGES.iter().any(|(bits, _)| *bits == fields);
        (known && (fields != Self::ALL || digits.is_some())).then_some(Self { fields, digits })
    }

    /// PostgreSQL's number for them.
    pub fn typmod(self) -> i32 {
        i32::from(self.fields) << 16 | self.digits.map_or(Self::ALL_DIGITS, i32::from)
    }

    /// The modifiers that a number stands for.
    pub fn from_typmod(typmod: i32) -> Option<Self> {
        let digits = u8::try_from(typmod & Self::ALL_DIGITS).ok().filter(|digits| *digits <= 6);
        Self::new((typmod >> 16) as u16 & Self::ALL, digits)
    }

    /// The fields in words; `None` for all.
    pub fn words(self) -> Option<&'static str> {
        RANGES.iter().find(|(bits, _)| *bits == self.fields).map(|(_, words)| *words)
    }

    /// The modifiers of fields in words and of digits.
    pub fn from_words(words: Option<&str>, digits: Option<u8>) -> Option<Self> {
        match words {
            None => Self::new(Self::ALL, digits),
            Some(words) => {
                RANGES.iter().find(|(_, known)| *known == words).and_then(|(bits, _)| Self::new(*bits, digits))
            }
        }
    }

    /// What a number without a unit counts, and the smallest field that is kept; `None` for all fields.
    pub(super) fn smallest(self) -> Option<Smallest> {
        let has = |bit: u16| self.fields != Self::ALL && self.fields & bit != 0;
        let order = [
            (bit::SECOND, Smallest::Second),
            (bit::MINUTE, Smallest::Minute),
            (bit::HOUR, Smallest::Hour),
            (bit::DAY, Smallest::Day),
            (bit::MONTH, Smallest::Month),
            (bit::YEAR, Smallest::Year),
        ];
        order.into_iter().find(|(bit, _)| has(*bit)).map(|(_, smallest)| smallest)
    }

    /// Two numbers with a colon are minutes and seconds.
    pub(super) fn is_minute_to_second(self) -> bool {
        self.fields == bit::MINUTE | bit::SECOND
    }

    /// What is kept of an interval: nothing below the smallest field, and so many digits.
    pub fn fit(self, value: Interval) -> Interval {
        let cut = |size: i64| Interval { micros: value.micros / size * size, ..value };
        let mut kept = match self.smallest() {
            Some(Smallest::Year) => Interval { months: value.months / 12 * 12, days: 0, micros: 0 },
            Some(Smallest::Month) => Interval { days: 0, micros: 0, ..value },
            Some(Smallest::Day) => Interval { micros: 0, ..value },
            Some(Smallest::Hour) => cut(HOUR),
            Some(Smallest::Minute) => cut(MINUTE),
            Some(Smallest::Second) | None => value,
        };
        if let Some(digits @ 0..=5) = self.digits {
            let unit = 10_i64.pow(6 - u32::from(digits));
            let rounded = |micros: i64| micros.saturating_add(unit / 2) / unit * unit;
            kept.micros = if kept.micros >= 0 { rounded(kept.micros) } else { -rounded(kept.micros.saturating_neg()) };
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_survive_their_number_and_their_words() {
        for (fields, words) in RANGES {
            for digits in [None, Some(2)] {
                let modifier = IntervalModifier { fields, digits };
                assert_eq!(IntervalModifier::from_typmod(modifier.typmod()), Some(modifier));
                assert_eq!(IntervalModifier::from_words(Some(words), digits), Some(modifier));
            }
        }
        assert_eq!(IntervalModifier::new(IntervalModifier::ALL, None), None);
        assert_eq!(IntervalModifier { fields: IntervalModifier::ALL, digits: Some(3) }.typmod(), 0x7fff_0003);
    }

    #[test]
    fn what_is_below_the_smallest_field_is_cut_off() {
        let value = Interval::parse("1 year 2 mons 3 days 04:05:06.789").unwrap();
        for (words, digits, kept) in [
            (Some("year"), None, "1 year"),
            (Some("year to month"), None, "1 year 2 mons"),
            (Some("day to hour"), None, "1 year 2 mons 3 days 04:00:00"),
            (Some("minute"), None, "1 year 2 mons 3 days 04:05:00"),
            (Some("second"), Some(1), "1 year 2 mons 3 days 04:05:06.8"),
            (None, Some(0), "1 year 2 mons 3 days 04:05:07"),
        ] {
            assert_eq!(IntervalModifier::from_words(words, digits).unwrap().fit(value).to_string(), kept);
        }
    }
}
