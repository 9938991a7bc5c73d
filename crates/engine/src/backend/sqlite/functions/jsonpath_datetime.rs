//! Dates and times in SQL/JSON paths: what `.datetime()` makes of a text.

use std::cmp::Ordering;

use jiff::tz::TimeZone;
use rowferry_dialect::values::datetime_text::{DAY, SECOND};
use rowferry_dialect::values::from_char::{self, Standard};
use rowferry_dialect::values::{date, time, timestamp, zone};
use rowferry_dialect::{Condition, Error, Result};

use super::Context;

/// A date or time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Moment {
    /// Days since 1970.
    Date(i64),
    /// Microseconds of the day.
    Time(i64),
    /// Microseconds of the day by the clocks there, and seconds east of Greenwich.
    TimeTz(i64, i32),
    /// Microseconds since 1970.
    Timestamp(i64),
    /// Microseconds since 1970 in Greenwich, and the seconds east of it in which the text had it.
    TimestampTz(i64, i32),
}

/// The session's zone, and what day it is.
pub(super) struct Zone {
    zone: TimeZone,
    now: i64,
}

impl Zone {
    /// The zone of a session.
    pub(super) fn of(context: &Context) -> Self {
        let zone = context.with_settings(|settings| settings.time_zone.clone());
        Self { zone, now: context.times().transaction }
    }
}

/// The forms that are tried when no template says which, in this order.
const TEMPLATES: [&str; 19] = [
    "yyyy-mm-dd",
    "HH24:MI:SS.USTZH:TZM",
    "HH24:MI:SS.USTZH",
    "HH24:MI:SSTZH:TZM",
    "HH24:MI:SSTZH",
    "HH24:MI:SS.US",
    "HH24:MI:SS",
    "yyyy-mm-dd HH24:MI:SS.USTZH:TZM",
    "yyyy-mm-dd HH24:MI:SS.USTZH",
    "yyyy-mm-dd HH24:MI:SSTZH:TZM",
    "yyyy-mm-dd HH24:MI:SSTZH",
    "yyyy-mm-dd\"T\"HH24:MI:SS.USTZH:TZM",
    "yyyy-mm-dd\"T\"HH24:MI:SS.USTZH",
    "yyyy-mm-dd\"T\"HH24:MI:SSTZH:TZM",
    "yyyy-mm-dd\"T\"HH24:MI:SSTZH",
    "yyyy-mm-dd HH24:MI:SS.US",
    "yyyy-mm-dd HH24:MI:SS",
    "yyyy-mm-dd\"T\"HH24:MI:SS.US",
    "yyyy-mm-dd\"T\"HH24:MI:SS",
];

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidDatetimeFormat, message)
}

impl Moment {
    /// Reads a text by a template of the standard's, or by the first of the usual forms that it has.
    pub(super) fn read(text: &str, template: Option<&str>) -> Result<Self> {
        if let Some(template) = template {
            return Self::from_standard(&from_char::parse_standard(text, template)?);
        }
        let read = |template: &&str| from_char::parse_standard(text, template).ok();
        let found = TEMPLATES.iter().find_map(|template| Self::from_standard(&read(template)?).ok());
        found.ok_or_else(|| {
            let message = format!("datetime format is not recognized: \"{text}\"");
            Error::new(Condition::InvalidJsonDatetime, message)
                .hint("Use a datetime template argument to specify the input data format.")
        })
    }

    fn from_standard(read: &Standard) -> Result<Self> {
        let parts = &read.parts;
        let zone_of =
            |ty: &str| parts.offset.ok_or_else(|| invalid(format!("missing time zone in input string for type {ty}")));
        let local = || {
            let micros = parts.days.checked_mul(DAY).and_then(|midnight| midnight.checked_add(parts.micros));
            micros.ok_or_else(|| Error::new(Condition::DatetimeFieldOverflow, "timestamp out of range"))
        };
        let micros = time::round(parts.micros, parts.precision);
        match (read.dated, read.timed, read.zoned) {
            (true, true, true) => {
                let offset = zone_of("timestamptz")?;
                let instant = local()?.saturating_sub(i64::from(offset) * SECOND);
                Ok(Self::TimestampTz(timestamp::check(timestamp::round(instant, parts.precision))?, offset))
            }
            (true, true, false) => Ok(Self::Timestamp(timestamp::check(timestamp::round(local()?, parts.precision))?)),
            (true, false, true) => Err(invalid("datetime format is zoned but not timed")),
            (true, false, false) => Ok(Self::Date(date::check(parts.days)?)),
            (false, true, true) => Ok(Self::TimeTz(micros, zone_of("timetz")?)),
            (false, true, false) => Ok(Self::Time(micros)),
            (false, false, _) => Err(invalid("datetime format is not dated and not timed")),
        }
    }

    /// The type's words, which `.type()` gives.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Date(_) => "date",
            Self::Time(_) => "time without time zone",
            Self::TimeTz(..) => "time with time zone",
            Self::Timestamp(_) => "timestamp without time zone",
            Self::TimestampTz(..) => "timestamp with time zone",
        }
    }

    /// The type's short name, for messages.
    fn name(self) -> &'static str {
        match self {
            Self::Date(_) => "date",
            Self::Time(_) => "time",
            Self::TimeTz(..) => "timetz",
            Self::Timestamp(_) => "timestamp",
            Self::TimestampTz(..) => "timestamptz",
        }
    }

    /// As JSON shows it.
    pub(super) fn text(self) -> String {
        let moment = |micros: i64| timestamp::to_stored(micros).unwrap_or_default().replacen(' ', "T", 1);
        match self {
            Self::Date(days) => date::to_stored(days).unwrap_or_default(),
            Self::Time(micros) => time::to_stored(micros),
            Self::TimeTz(micros, offset) => time::to_stored(micros) + &long_offset(offset),
            Self::Timestamp(micros) => moment(micros),
            Self::TimestampTz(micros, offset) => {
                moment(micros.saturating_add(i64::from(offset) * SECOND)) + &long_offset(offset)
            }
        }
    }

    /// Two moments of kinds that can be compared; a zone makes a time without one comparable with those that have it.
    pub(super) fn compare(&self, other: &Self, zone: Option<&Zone>) -> Result<Option<Ordering>> {
        let (left, right) = (*self, *other);
        let order = match (left, right) {
            (Self::Date(a), Self::Date(b)) => a.cmp(&b),
            (Self::Time(a), Self::Time(b)) => a.cmp(&b),
            (Self::Timestamp(a), Self::Timestamp(b)) | (Self::TimestampTz(a, _), Self::TimestampTz(b, _)) => a.cmp(&b),
            (Self::TimeTz(..), Self::TimeTz(..)) => left.time_key(None)?.cmp(&right.time_key(None)?),
            (Self::Date(_) | Self::Timestamp(_), Self::Date(_) | Self::Timestamp(_)) => {
                left.local_micros().cmp(&right.local_micros())
            }
            (Self::Date(_) | Self::Timestamp(_), Self::TimestampTz(b, _)) => {
                left.instant(right, zone)?.cmp(&i128::from(b))
            }
            (Self::TimestampTz(a, _), Self::Date(_) | Self::Timestamp(_)) => {
                i128::from(a).cmp(&right.instant(left, zone)?)
            }
            (Self::Time(_), Self::TimeTz(..)) | (Self::TimeTz(..), Self::Time(_)) => {
                let zone = zone.ok_or_else(|| match left {
                    Self::Time(_) => left.needs_zone(right),
                    _ => right.needs_zone(left),
                })?;
                left.time_key(Some(zone))?.cmp(&right.time_key(Some(zone))?)
            }
            _ => return Ok(None),
        };
        Ok(Some(order))
    }

    fn needs_zone(self, wanted: Self) -> Error {
        let message = format!("cannot convert value from {} to {} without time zone usage", self.name(), wanted.name());
        Error::new(Condition::FeatureNotSupported, message).hint("Use *_tz() function for time zone support.")
    }

    /// A date's beginning or a timestamp, which may lie beyond what timestamps reach.
    fn local_micros(self) -> i128 {
        match self {
            Self::Date(days) => i128::from(days) * i128::from(DAY),
            Self::Time(micros) | Self::TimeTz(micros, _) | Self::Timestamp(micros) | Self::TimestampTz(micros, _) => {
                i128::from(micros)
            }
        }
    }

    /// The same in Greenwich.
    fn instant(self, wanted: Self, zone: Option<&Zone>) -> Result<i128> {
        let zone = zone.ok_or_else(|| self.needs_zone(wanted))?;
        let local = self.local_micros();
        Ok(match i64::try_from(local) {
            Ok(micros) => i128::from(zone::to_instant(&zone.zone, micros)),
            Err(_) => local,
        })
    }

    /// What orders times with an offset.
    fn time_key(self, zone: Option<&Zone>) -> Result<(i64, i32)> {
        Ok(match (self, zone) {
            (Self::TimeTz(micros, offset), _) => time::TimeTz { micros, offset }.sort_key(),
            (Self::Time(micros), Some(zone)) => {
                let today = zone::to_local(&zone.zone, zone.now).div_euclid(DAY) * DAY;
                let offset = zone::offset_at_local(&zone.zone, today + micros);
                time::TimeTz { micros, offset }.sort_key()
            }
            _ => return Err(Error::internal("a moment without a time of day")),
        })
    }
}

/// An offset with its minutes: `+05:00`.
fn long_offset(seconds: i32) -> String {
    let mut out = Vec::new();
    zone::write_offset(&mut out, seconds);
    let short = out.len() == 3;
    let mut text = String::from_utf8(out).unwrap_or_default();
    if short {
        text.push_str(":00");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, template: Option<&str>) -> String {
        Moment::read(text, template)
            .map_or_else(|error| error.to_string(), |moment| format!("{} {}", moment.words(), moment.text()))
    }

    /// What PostgreSQL 15 answers.
    #[test]
    fn texts_are_read_by_the_standards_templates() {
        for (text, template, shown) in [
            ("2017-03-10", None, "date 2017-03-10"),
            ("12:34:56 +3", None, "time with time zone 12:34:56+03:00"),
            ("12:34:56+3:10", None, "time with time zone 12:34:56+03:10"),
            ("12:34:56+03:10", None, "time with time zone 12:34:56+03:10"),
            ("2017-03-10T12:34:56.789-05", None, "timestamp with time zone 2017-03-10T12:34:56.789-05:00"),
            ("2017-03-10 12:34:56", None, "timestamp without time zone 2017-03-10T12:34:56"),
            ("10-03-2017", Some("dd-mm-yyyy"), "date 2017-03-10"),
            (
                "10-03-2017 12:34",
                Some("dd-mm-yyyy"),
                "trailing characters remain in input string after datetime format",
            ),
            ("10-03-2017t12:34:56", Some("dd-mm-yyyy\"T\"HH24:MI:SS"), "unmatched format character \"T\""),
            ("10-03-2017 12:34:56", Some("dd-mm-yyyy HH24:MI:SS TZH"), "input string is too short for datetime format"),
            ("10-03-2017", Some("dd.mm.yyyy"), "unmatched format separator \".\""),
            ("12:34", Some("aaa"), "invalid datetime format separator: \"a\""),
        ] {
            assert_eq!(read(text, template), shown, "{text}");
        }
    }

    #[test]
    fn a_zone_makes_more_comparable() {
        let moment = |text: &str| Moment::read(text, None).unwrap();
        let utc = Zone { zone: TimeZone::UTC, now: 0 };
        let (day, instant) = (moment("2017-03-10"), moment("2017-03-10 00:00:00+00"));
        assert!(day.compare(&instant, None).is_err());
        assert_eq!(day.compare(&instant, Some(&utc)).unwrap(), Some(Ordering::Equal));
        assert_eq!(day.compare(&moment("12:00:00"), None).unwrap(), None);
        assert_eq!(moment("12:00:00").compare(&moment("12:00:00+01"), Some(&utc)).unwrap(), Some(Ordering::Greater));
    }
}
