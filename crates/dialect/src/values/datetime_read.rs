//! What the fields of a date and time mean.
//!
//! The rules are PostgreSQL's: a field's meaning depends on its look, on its length, and on what was found before it.
//! A date's numbers stand in the order that `DateStyle` says, unless the first has three digits or more: then it is
//! the year, and month and day follow.

use rowferry_wire::civil::{civil_from_days, days_from_civil};

use super::datetime_fields::{Field, Kind, split};
use super::datetime_text::{
    DAY, HOUR, INFINITY, MINUTE, NEGATIVE_INFINITY, Parsed, SECOND, Wanted, Zone, days_in_month,
};
use super::{DateOrder, Settings, zone};

/// Why a text is no date or time.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Problem {
    /// It does not read.
    Syntax,
    /// A field is impossible.
    Overflow,
    /// Month or day is impossible: perhaps the order of `DateStyle` is another.
    DateOrder,
    /// An offset of 16 hours or more.
    ZoneOffset,
    /// No such zone.
    Zone(String),
    /// It depends on the clock, which nobody has given.
    NeedsNow,
}

/// Reads a text for a value with a date (`Wanted::DateTime`) or for a time of day.
pub(super) fn read(text: &str, wanted: Wanted, settings: &Settings) -> Result<Parsed, Problem> {
    let fields = split(text, word_is_known).ok_or(Problem::Syntax)?;
    let mut reader = Reader::new(wanted, settings);
    for at in 0..fields.len() {
        let seen = reader.field(&fields, at)?;
        if reader.seen & seen != 0 {
            return Err(Problem::Syntax);
        }
        reader.seen |= seen;
    }
    reader.finish()
}

/// What has been found, as bits.
mod bit {
    pub(super) const YEAR: u32 = 1 << 0;
    pub(super) const MONTH: u32 = 1 << 1;
    pub(super) const DAY: u32 = 1 << 2;
    pub(super) const DAY_OF_YEAR: u32 = 1 << 3;
    pub(super) const HOUR: u32 = 1 << 4;
    pub(super) const MINUTE: u32 = 1 << 5;
    pub(super) const SECOND: u32 = 1 << 6;
    pub(super) const FRACTION: u32 = 1 << 7;
    pub(super) const ZONE: u32 = 1 << 8;
    pub(super) const SUMMER: u32 = 1 << 9;
    pub(super) const SUMMER_MARK: u32 = 1 << 10;
    pub(super) const CHANGING: u32 = 1 << 11;
    pub(super) const HALF_DAY: u32 = 1 << 12;
    pub(super) const ERA: u32 = 1 << 13;
    pub(super) const WEEKDAY: u32 = 1 << 14;
    pub(super) const SPECIAL: u32 = 1 << 15;
    pub(super) const DATE: u32 = YEAR | MONTH | DAY;
    pub(super) const TIME: u32 = HOUR | MINUTE | SECOND | FRACTION;
}

/// A word that is no zone's name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Word {
    Month(i64),
    Weekday,
    Am,
    Pm,
    Ad,
    Bc,
    Ignored,
    /// Says what the next field is.
    Label(Label),
    /// One hour ahead of the zone before it.
    Summer,
    Now,
    /// So many days from today.
    Day(i64),
    Midnight,
    Epoch,
    Infinity,
    NegativeInfinity,
}

/// What the next field is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Label {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Julian,
    Time,
    /// A unit that no input has.
    Other,
}

/// The words that PostgreSQL knows; it compares ten characters at most, which no name of a zone comes near.
fn word(text: &str) -> Option<Word> {
    if let Some(month) = month_name(text) {
        return Some(Word::Month(month));
    }
    Some(match text {
        "sun" | "sunday" | "mon" | "monday" | "tue" | "tues" | "tuesday" | "wed" | "weds" | "wednesday" | "thu"
        | "thur" | "thurs" | "thursday" | "fri" | "friday" | "sat" | "saturday" => Word::Weekday,
        "am" => Word::Am,
        "pm" => Word::Pm,
        "ad" => Word::Ad,
        "bc" => Word::Bc,
        "at" | "on" => Word::Ignored,
        "y" => Word::Label(Label::Year),
        "m" => Word::Label(Label::Month),
        "d" => Word::Label(Label::Day),
        "h" => Word::Label(Label::Hour),
        "mm" => Word::Label(Label::Minute),
        "s" => Word::Label(Label::Second),
        "j" | "jd" | "julian" => Word::Label(Label::Julian),
        "t" => Word::Label(Label::Time),
        "dow" | "doy" | "isodow" | "isoyear" => Word::Label(Label::Other),
        "dst" => Word::Summer,
        "now" => Word::Now,
        "today" => Word::Day(0),
        "tomorrow" => Word::Day(1),
        "yesterday" => Word::Day(-1),
        "allballs" => Word::Midnight,
        "epoch" => Word::Epoch,
        "infinity" => Word::Infinity,
        "-infinity" => Word::NegativeInfinity,
        _ => return None,
    })
}

/// 1 to 12 for a month's name or its usual abbreviation.
pub fn month_name(word: &str) -> Option<i64> {
    let lower = word.to_ascii_lowercase();
    if lower == "sept" {
        return Some(9);
    }
    let at = MONTHS.iter().position(|month| {
        lower.eq_ignore_ascii_case(month) || (lower.len() == 3 && month[..3].eq_ignore_ascii_case(&lower))
    })?;
    Some(at as i64 + 1)
}

/// Months, in English.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Days of the week, in English, from Sunday.
pub const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

struct Reader<'a> {
    wanted: Wanted,
    settings: &'a Settings,
    seen: u32,
    label: Option<Label>,
    year: i64,
    month: i64,
    day: i64,
    day_of_year: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    /// Seconds east of Greenwich.
    offset: i32,
    zone: Option<Zone>,
    text_month: bool,
    julian: bool,
    short_year: bool,
    bc: bool,
    /// Afternoon, morning, or a clock of 24 hours.
    pm: Option<bool>,
    instant: Option<i64>,
}

impl<'a> Reader<'a> {
    fn new(wanted: Wanted, settings: &'a Settings) -> Self {
        Self {
            wanted,
            settings,
            seen: 0,
            label: None,
            year: 0,
            month: 0,
            day: 0,
            day_of_year: 0,
            hour: 0,
            minute: 0,
            second: 0,
            micros: 0,
            offset: 0,
            zone: None,
            text_month: false,
            julian: false,
            short_year: false,
            bc: false,
            pm: None,
            instant: None,
        }
    }

    /// Reads one field and says what it was.
    fn field(&mut self, fields: &[Field], at: usize) -> Result<u32, Problem> {
        let field = &fields[at];
        match field.kind {
            Kind::Date => self.date_or_zone(fields, at),
            Kind::Time => {
                if self.label.take().is_some_and(|label| label != Label::Time) {
                    return Err(Problem::Syntax);
                }
                self.time(&field.text)?;
                if self.wanted == Wanted::DateTime {
                    self.check_time()?;
                }
                Ok(bit::TIME)
            }
            Kind::Offset => {
                self.offset = offset(&field.text)?;
                Ok(bit::ZONE)
            }
            Kind::Number => match self.label.take() {
                Some(label) => self.labelled(label, &field.text),
                None => self.number(fields, at),
            },
            Kind::Word | Kind::SignedWord => self.word(fields, at),
        }
    }

    /// Digits and separators: a date, a name of a zone, or a time run together with an offset.
    fn date_or_zone(&mut self, fields: &[Field], at: usize) -> Result<u32, Problem> {
        let text = &fields[at].text;
        if self.wanted == Wanted::DateTime && self.label == Some(Label::Julian) {
            // `J2451187-08`.
            let (days, rest) = integer(text)?;
            self.julian_day(days);
            self.offset = offset(rest)?;
            self.label = None;
            return Ok(bit::DATE | bit::TIME | bit::ZONE);
        }
        let is_date = match self.wanted {
            Wanted::DateTime => self.label.is_none() && self.seen & (bit::MONTH | bit::DAY) != bit::MONTH | bit::DAY,
            // A date may stand before a time that needs it.
            Wanted::Time => {
                at == 0
                    && fields.len() >= 2
                    && (fields[fields.len() - 1].kind == Kind::Date || fields[1].kind == Kind::Time)
            }
        };
        if is_date {
            return self.date(text);
        }
        if !text.starts_with(|c: char| c.is_ascii_digit()) && (self.label.is_none() || self.wanted == Wanted::Time) {
            self.zone = Some(Zone::Named(zone::by_name(text).ok_or_else(|| Problem::Zone(text.clone()))?));
            return Ok(bit::ZONE);
        }
        if self.label.take().is_some_and(|label| label != Label::Time && self.wanted == Wanted::DateTime)
            || self.seen & bit::TIME == bit::TIME
        {
            return Err(Problem::Syntax);
        }
        let split = text.find('-').ok_or(Problem::Syntax)?;
        self.offset = offset(&text[split..])?;
        let known = if self.wanted == Wanted::Time { self.seen | bit::DATE } else { self.seen };
        Ok(self.run_together(&text[..split], known)? | bit::ZONE)
    }

    /// A number behind a word such as `J`, `T` or `Y`.
    fn labelled(&mut self, label: Label, text: &str) -> Result<u32, Problem> {
        let (value, rest) = integer(text)?;
        let fractional = rest.starts_with('.');
        if fractional && !matches!(label, Label::Julian | Label::Time | Label::Second)
            || !fractional && !rest.is_empty()
        {
            return Err(Problem::Syntax);
        }
        self.instant = None;
        Ok(match label {
            Label::Year => {
                self.year = value;
                bit::YEAR
            }
            Label::Month if self.seen & bit::MONTH != 0 && self.seen & bit::HOUR != 0 => {
                self.minute = value;
                bit::MINUTE
            }
            Label::Month => {
                self.month = value;
                bit::MONTH
            }
            Label::Day => {
                self.day = value;
                bit::DAY
            }
            Label::Hour => {
                self.hour = value;
                bit::HOUR
            }
            Label::Minute => {
                self.minute = value;
                bit::MINUTE
            }
            Label::Second => {
                self.second = value;
                if fractional {
                    self.micros = fraction(rest)?;
                    bit::SECOND | bit::FRACTION
                } else {
                    bit::SECOND
                }
            }
            Label::Julian => {
                self.julian_day(value);
                if !fractional {
                    return Ok(bit::DATE);
                }
                let part: f64 = if rest == "." { 0.0 } else { rest.parse().map_err(|_| Problem::Syntax)? };
                let time = (part * DAY as f64) as i64;
                (self.hour, self.minute) = (time / HOUR, time / MINUTE % 60);
                (self.second, self.micros) = (time / SECOND % 60, time % SECOND);
                bit::DATE | bit::TIME
            }
            Label::Time => match self.run_together(text, self.seen | bit::DATE)? {
                bit::TIME => bit::TIME,
                _ => return Err(Problem::Syntax),
            },
            Label::Other => return Err(Problem::Syntax),
        })
    }

    fn julian_day(&mut self, julian: i64) {
        let (year, month, day) = civil_from_days(julian - JULIAN_1970);
        (self.year, self.month, self.day) = (year, i64::from(month), i64::from(day));
        self.julian = true;
    }

    /// Digits that no word explains.
    fn number(&mut self, fields: &[Field], at: usize) -> Result<u32, Problem> {
        let text = &fields[at].text;
        let point = text.find('.');
        if self.wanted == Wanted::Time {
            let known = self.seen | bit::DATE;
            return match point {
                Some(_) if at == 0 && fields.len() >= 2 && fields[fields.len() - 1].kind == Kind::Date => {
                    self.date(text)
                }
                Some(point) if point > 2 => self.run_together(text, known),
                Some(_) => Err(Problem::Syntax),
                None if text.len() > 4 => self.run_together(text, known),
                None => self.single(text, false, known),
            };
        }
        match point {
            Some(_) if self.seen & bit::DATE == 0 => self.date(text),
            Some(point) if point > 2 => self.run_together(text, self.seen),
            _ if text.len() >= 6 && (self.seen & bit::DATE == 0 || self.seen & bit::TIME == 0) => {
                self.run_together(text, self.seen)
            }
            _ => self.single(text, self.text_month, self.seen),
        }
    }

    /// One number of a date, told by what is known already.
    fn single(&mut self, text: &str, text_month: bool, known: u32) -> Result<u32, Problem> {
        let (value, rest) = integer(text)?;
        let digits = text.len() - rest.len();
        if digits == 0 {
            return Err(Problem::Syntax);
        }
        if rest.starts_with('.') {
            if digits > 2 {
                return self.run_together(text, known | bit::DATE);
            }
            self.micros = fraction(rest)?;
        } else if !rest.is_empty() {
            return Err(Problem::Syntax);
        }
        if text.len() == 3 && known & bit::DATE == bit::YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(bit::DAY_OF_YEAR | bit::MONTH | bit::DAY);
        }
        const YEAR_MONTH: u32 = bit::YEAR | bit::MONTH;
        const MONTH_DAY: u32 = bit::MONTH | bit::DAY;
        let order = self.settings.date_order;
        let found = match known & bit::DATE {
            0 if text.len() >= 3 || order == DateOrder::Ymd => bit::YEAR,
            0 if order == DateOrder::Dmy => bit::DAY,
            0 | bit::YEAR | bit::DAY => bit::MONTH,
            bit::MONTH if text_month && (text.len() >= 3 || order == DateOrder::Ymd) => bit::YEAR,
            YEAR_MONTH if text_month && text.len() >= 3 && self.short_year => {
                // `01-Feb-1995` in the order of years first: what was taken for the year was the day.
                self.day = self.year;
                self.year = value;
                self.short_year = false;
                return Ok(bit::DAY);
            }
            bit::MONTH | YEAR_MONTH => bit::DAY,
            MONTH_DAY => bit::YEAR,
            bit::DATE => return self.run_together(text, known),
            _ => return Err(Problem::Syntax),
        };
        match found {
            bit::YEAR => {
                self.year = value;
                self.short_year = text.len() <= 2;
            }
            bit::MONTH => self.month = value,
            _ => self.day = value,
        }
        Ok(found)
    }

    /// A date or a time without separators: `20240506`, `040506.789`.
    fn run_together(&mut self, text: &str, known: u32) -> Result<u32, Problem> {
        let digits = match text.split_once('.') {
            Some((digits, part)) => {
                self.micros = if part.is_empty() { 0 } else { fraction_micros(part) };
                digits
            }
            None if known & bit::DATE != bit::DATE && text.len() >= 6 => {
                let (year, rest) = text.split_at(text.len() - 4);
                (self.year, _) = integer(year)?;
                (self.month, _) = integer(&rest[..2])?;
                (self.day, _) = integer(&rest[2..])?;
                if year.len() == 2 {
                    self.short_year = true;
                }
                return Ok(bit::DATE);
            }
            None => text,
        };
        if known & bit::TIME == bit::TIME || !matches!(digits.len(), 4 | 6) {
            return Err(Problem::Syntax);
        }
        (self.hour, _) = integer(&digits[..2])?;
        (self.minute, _) = integer(&digits[2..4])?;
        (self.second, _) = integer(&digits[4..])?;
        Ok(bit::TIME)
    }

    /// A date with separators.
    fn date(&mut self, text: &str) -> Result<u32, Problem> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
            let first = rest.chars().next().ok_or(Problem::Syntax)?;
            let end = rest.find(|c: char| c.is_ascii_digit() != first.is_ascii_digit() || !c.is_ascii_alphanumeric());
            let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
            // One character behind a part is dropped, whatever it is.
            rest = behind.get(1..).unwrap_or("");
            parts.push(part);
        }
        let (mut known, mut found, mut text_month) = (self.seen, 0, false);
        let mut add = |known: &mut u32, bits: u32| {
            if *known & bits != 0 {
                return Err(Problem::Syntax);
            }
            *known |= bits;
            found |= bits;
            Ok(())
        };
        for part in parts.iter().filter(|part| part.starts_with(|c: char| c.is_ascii_alphabetic())) {
            match word(part) {
                Some(Word::Ignored) => {}
                Some(Word::Month(month)) => {
                    self.month = month;
                    text_month = true;
                    add(&mut known, bit::MONTH)?;
                }
                _ => return Err(Problem::Syntax),
            }
        }
        for part in parts.iter().filter(|part| part.starts_with(|c: char| c.is_ascii_digit())) {
            let bits = self.single(part, text_month, known)?;
            add(&mut known, bits)?;
        }
        if known & !(bit::DAY_OF_YEAR | bit::ZONE) != bit::DATE {
            return Err(Problem::Syntax);
        }
        Ok(found)
    }

    fn time(&mut self, text: &str) -> Result<(), Problem> {
        (self.hour, self.minute, self.second, self.micros) = clock(text)?;
        if self.hour > i64::from(i32::MAX) { Err(Problem::Overflow) } else { Ok(()) }
    }

    fn word(&mut self, fields: &[Field], at: usize) -> Result<u32, Problem> {
        let text = &fields[at].text;
        // Abbreviations of zones come first.
        match zone::abbreviated(text) {
            Some(zone::Abbreviation::Fixed { offset, summer }) => {
                self.offset = offset;
                return Ok(if summer { bit::ZONE | bit::SUMMER } else { bit::ZONE });
            }
            Some(zone::Abbreviation::Of(zone)) => {
                self.zone = Some(Zone::Abbreviated(zone, text.clone()));
                return Ok(bit::ZONE | bit::CHANGING);
            }
            None => {}
        }
        let Some(word) = word(text) else {
            self.zone = Some(Zone::Named(zone::by_name(text).ok_or(Problem::Syntax)?));
            return Ok(bit::ZONE);
        };
        let now = || self.settings.now.ok_or(Problem::NeedsNow);
        if self.wanted == Wanted::Time && matches!(word, Word::Month(_) | Word::Weekday | Word::Day(_)) {
            return Err(Problem::Syntax);
        }
        Ok(match word {
            Word::Ignored => 0,
            Word::Weekday => bit::WEEKDAY,
            Word::Am | Word::Pm => {
                self.pm = Some(word == Word::Pm);
                bit::HALF_DAY
            }
            Word::Ad | Word::Bc => {
                self.bc = word == Word::Bc;
                bit::ERA
            }
            Word::Summer => {
                self.offset += 3_600;
                bit::SUMMER_MARK | bit::SUMMER
            }
            Word::Month(month) => self.month_word(month),
            Word::Label(Label::Time) => {
                let sensible = self.wanted == Wanted::Time || self.seen & bit::DATE == bit::DATE;
                let next = fields.get(at + 1).map(|field| field.kind);
                if !sensible || !matches!(next, Some(Kind::Number | Kind::Time | Kind::Date)) {
                    return Err(Problem::Syntax);
                }
                self.label = Some(Label::Time);
                0
            }
            Word::Label(label) => {
                self.label = Some(label);
                0
            }
            Word::Now => {
                let now = now()?;
                self.instant = Some(now);
                if self.wanted == Wanted::Time {
                    self.clock(zone::to_local(&self.settings.time_zone, now).rem_euclid(DAY));
                    return Ok(bit::TIME);
                }
                self.set_day(zone::to_local(&self.settings.time_zone, now).div_euclid(DAY));
                bit::DATE | bit::TIME | bit::ZONE
            }
            Word::Day(away) => {
                let today = zone::to_local(&self.settings.time_zone, now()?).div_euclid(DAY) + away;
                self.set_day(today);
                bit::DATE
            }
            Word::Midnight => {
                self.clock(0);
                self.offset = 0;
                bit::TIME | bit::ZONE
            }
            Word::Epoch | Word::Infinity | Word::NegativeInfinity if self.wanted == Wanted::Time => {
                return Err(Problem::Syntax);
            }
            Word::Epoch => self.special(0),
            Word::Infinity => self.special(INFINITY),
            Word::NegativeInfinity => self.special(NEGATIVE_INFINITY),
        })
    }

    fn special(&mut self, instant: i64) -> u32 {
        self.instant = Some(instant);
        bit::SPECIAL
    }

    fn month_word(&mut self, month: i64) -> u32 {
        // `5 May`: what was taken for a month by its place was the day.
        let day_before = self.seen & bit::MONTH != 0
            && !self.text_month
            && self.seen & bit::DAY == 0
            && (1..=31).contains(&self.month);
        if day_before {
            self.day = self.month;
        }
        self.text_month = true;
        self.month = month;
        if day_before { bit::DAY } else { bit::MONTH }
    }

    /// A day of the clock, whose year is whole.
    fn set_day(&mut self, days: i64) {
        let (year, month, day) = civil_from_days(days);
        (self.year, self.month, self.day) = (year, i64::from(month), i64::from(day));
        self.short_year = false;
    }

    fn clock(&mut self, micros: i64) {
        (self.hour, self.minute) = (micros / HOUR, micros / MINUTE % 60);
        (self.second, self.micros) = (micros / SECOND % 60, micros % SECOND);
    }

    fn check_time(&self) -> Result<(), Problem> {
        let fits = (0..=24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..=60).contains(&self.second)
            && (0..=SECOND).contains(&self.micros)
            && self.time_of_day() <= DAY;
        if fits { Ok(()) } else { Err(Problem::Overflow) }
    }

    fn time_of_day(&self) -> i64 {
        self.hour * HOUR + self.minute * MINUTE + self.second * SECOND + self.micros
    }

    fn finish(mut self) -> Result<Parsed, Problem> {
        self.check_date()?;
        let seen = self.seen;
        let has = |bits: u32| seen & bits == bits;
        if let Some(pm) = self.pm {
            if self.hour > 12 {
                return Err(Problem::Overflow);
            }
            match (pm, self.hour) {
                (false, 12) => self.hour = 0,
                (true, 0..=11) => self.hour += 12,
                _ => {}
            }
        }
        if let (Wanted::DateTime, Some(instant)) = (self.wanted, self.instant) {
            return Ok(Parsed { instant: Some(instant), ..Parsed::default() });
        }
        if self.wanted == Wanted::Time {
            self.check_time()?;
            if !has(bit::TIME) {
                return Err(Problem::Syntax);
            }
        } else if !has(bit::DATE) {
            return Err(Problem::Syntax);
        }
        let zone = match self.zone.take() {
            Some(_) if has(bit::SUMMER_MARK) => return Err(Problem::Syntax),
            Some(zone) => Some(zone),
            None if has(bit::ZONE) => Some(Zone::At(self.offset)),
            None if has(bit::SUMMER_MARK) => return Err(Problem::Syntax),
            None => None,
        };
        // A zone that changes its clocks needs a date, and part of one is of no use to find out an offset.
        if self.wanted == Wanted::Time && !has(bit::DATE) {
            let partial = self.seen & bit::DATE != 0;
            let needs_date = match &zone {
                Some(zone @ Zone::Named(_)) => !zone.is_fixed(),
                Some(Zone::At(_)) => false,
                Some(Zone::Abbreviated(..)) | None => partial,
            };
            if needs_date {
                return Err(Problem::Syntax);
            }
        }
        Ok(Parsed {
            days: has(bit::DATE).then(|| days_from_civil(self.year, self.month, self.day)),
            micros: self.time_of_day(),
            zone,
            instant: None,
        })
    }

    /// Settles the year, and refuses months and days that do not exist.
    fn check_date(&mut self) -> Result<(), Problem> {
        if self.seen & bit::YEAR != 0 && !self.julian {
            if self.bc {
                if self.year <= 0 {
                    return Err(Problem::Overflow);
                }
                // The year before 1 AD is counted as 0.
                self.year = 1 - self.year;
            } else if self.short_year {
                self.year += match self.year {
                    ..70 => 2_000,
                    70..100 => 1_900,
                    _ => 0,
                };
            } else if self.year <= 0 {
                return Err(Problem::Overflow);
            }
        }
        if self.seen & bit::DAY_OF_YEAR != 0 {
            let (year, month, day) = civil_from_days(days_from_civil(self.year, 1, 1) + self.day_of_year - 1);
            (self.year, self.month, self.day) = (year, i64::from(month), i64::from(day));
        }
        let has = |bits: u32| self.seen & bits == bits;
        if has(bit::MONTH) && !(1..=12).contains(&self.month) || has(bit::DAY) && !(1..=31).contains(&self.day) {
            return Err(Problem::DateOrder);
        }
        if has(bit::DATE) && self.day > days_in_month(self.year, self.month) {
            return Err(Problem::Overflow);
        }
        Ok(())
    }
}

/// True for the words that belong to dates and are no names of zones.
pub(super) fn word_is_known(text: &str) -> bool {
    word(text).is_some()
}

/// Hour, minute, second and microsecond of `04:05`, `04:05:06.789`, and of minutes with seconds, `05:06.789`.
pub(super) fn clock(text: &str) -> Result<(i64, i64, i64, i64), Problem> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (hour, rest) = text.split_at(end);
    let hour: i64 = if hour.is_empty() { 0 } else { hour.parse().map_err(|_| Problem::Overflow)? };
    let (minute, rest) = integer(rest.strip_prefix(':').ok_or(Problem::Syntax)?)?;
    let time = if rest.is_empty() {
        (hour, minute, 0, 0)
    } else if rest.starts_with('.') {
        (0, i64::from(i32::try_from(hour).map_err(|_| Problem::Overflow)?), minute, fraction(rest)?)
    } else {
        let (second, rest) = integer(rest.strip_prefix(':').ok_or(Problem::Syntax)?)?;
        let micros = match rest {
            "" => 0,
            rest => fraction(rest)?,
        };
        (hour, minute, second, micros)
    };
    if time.1 > 59 || time.2 > 60 { Err(Problem::Overflow) } else { Ok(time) }
}

/// The Julian day of 1970-01-01.
pub(super) const JULIAN_1970: i64 = 2_440_588;

/// The number that a text begins with (0 if it begins with none), and what stands behind it.
fn integer(text: &str) -> Result<(i64, &str), Problem> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok((0, rest));
    }
    let value = digits.parse::<i32>().map_err(|_| Problem::Overflow)?;
    Ok((i64::from(value), rest))
}

/// Microseconds of `.789`; the point may stand alone.
fn fraction(text: &str) -> Result<i64, Problem> {
    let digits = text.strip_prefix('.').ok_or(Problem::Syntax)?;
    if digits.bytes().all(|b| b.is_ascii_digit()) { Ok(fraction_micros(digits)) } else { Err(Problem::Syntax) }
}

/// Microseconds of the digits behind a decimal point, rounded as the nearest double rounds.
pub fn fraction_micros(digits: &str) -> i64 {
    let part = format!("0.{digits}").parse::<f64>().unwrap_or(0.0);
    (part * 1e6).round_ties_even() as i64
}

/// Seconds east of Greenwich of `+05:30`, `-0800`, `+2`.
fn offset(text: &str) -> Result<i32, Problem> {
    let negative = match text.as_bytes().first() {
        Some(b'+') => false,
        Some(b'-') => true,
        _ => return Err(Problem::Syntax),
    };
    let part = |text| integer(text).map_err(|_| Problem::ZoneOffset);
    let (mut hours, mut rest) = part(&text[1..])?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(behind) = rest.strip_prefix(':') {
        (minutes, rest) = part(behind)?;
        if let Some(behind) = rest.strip_prefix(':') {
            (seconds, rest) = part(behind)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    if hours > 15 || minutes > 59 || seconds > 59 {
        return Err(Problem::ZoneOffset);
    }
    if !rest.is_empty() {
        return Err(Problem::Syntax);
    }
    let total = (hours * 3_600 + minutes * 60 + seconds) as i32;
    Ok(if negative { -total } else { total })
}
