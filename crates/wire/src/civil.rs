//! Days and dates of the proleptic Gregorian calendar.
//!
//! Day 0 is 1970-01-01. Only arithmetic: no clock, no time zone.

/// Days from 1970-01-01 to the first day that PostgreSQL's binary dates count from, 2000-01-01.
pub const DAYS_TO_2000: i64 = 10_957;

/// Days from 1970-01-01 back to Informix's day zero, 1899-12-31.
pub const DAYS_TO_1899_12_31: i64 = -25_568;

/// The day number of a date. Months and days outside their range carry over as arithmetic has it.
pub const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is a year's last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month (1 to 12) and day (1 to 31) of a day number.
pub const fn civil_from_days(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month as u8, day as u8)
}

/// True for years of 366 days.
pub const fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days in a month; 0 when `month` is not 1 to 12.
pub const fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year(year) => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_epochs() {
        assert_eq!(days_from_civil(1970, 1, 1), 0);
        assert_eq!(days_from_civil(2000, 1, 1), DAYS_TO_2000);
        assert_eq!(days_from_civil(1899, 12, 31), DAYS_TO_1899_12_31);
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut expected = (1599, 12u8, 31u8);
        for days in days_from_civil(1600, 1, 1)..days_from_civil(2400, 1, 1) {
            expected = match expected {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, day) if day == days_in_month(year, month) => (year, month + 1, 1),
                (year, month, day) => (year, month, day + 1),
            };
            assert_eq!(civil_from_days(days), expected);
            assert_eq!(days_from_civil(expected.0, i64::from(expected.1), i64::from(expected.2)), days);
        }
    }

    #[test]
    fn far_years_round_trip() {
        for year in [-4713, -1, 0, 1, 9999, 294_276] {
            let days = days_from_civil(year, 2, 28);
            assert_eq!(civil_from_days(days), (year, 2, 28));
        }
    }
}
