//! The times that logs are written with: patterns of fixed parts, read into seconds since 1970 and the zone.
//!
//! The zone stands in the line, so a change of clocks or of the year needs no guessing. Where a pattern has none,
//! UTC is taken, and the format says so. Fractions of a second are read and dropped: the time of a line places it in
//! an hour.

use super::number;

/// When a request was: whole seconds since 1970 (UTC), and how many quarter hours the log's clock is ahead of UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    pub seconds: i64,
    pub zone: i8,
}

impl At {
    /// Seconds since 1970 that the log's own clock showed.
    pub fn local(self) -> i64 {
        self.seconds + i64::from(self.zone) * 900
    }
}

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Byte(u8),
    Year,
    /// Two digits: 69 to 99 are of the last century.
    ShortYear,
    Month,
    MonthName,
    Day,
    /// The day with a blank for a leading zero.
    PaddedDay,
    Hour,
    Hour12,
    AmPm,
    Minute,
    Second,
    /// Digits of a second after a point.
    Fraction,
    /// `+hhmm`, `+hh:mm` or `Z`.
    Zone,
    /// Three letters that say nothing new: a weekday, the name of a zone.
    Letters,
    /// Since 1970: seconds (with or without a fraction), milliseconds, microseconds.
    Epoch,
    EpochMs,
    EpochUs,
}

impl Part {
    /// True if it always has the same number of bytes.
    fn is_fixed(self) -> bool {
        !matches!(
            self,
            Part::Fraction | Part::Zone | Part::Letters | Part::Epoch | Part::EpochMs | Part::EpochUs
        )
    }
}

/// Parts of a time that are read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Civil {
    pub year: Option<i64>,
    pub month: Option<i64>,
    pub day: Option<i64>,
    pub hour: i64,
    pub afternoon: Option<bool>,
    pub minute: i64,
    pub second: i64,
    pub zone: Option<i8>,
    pub epoch: Option<i64>,
}

/// Years outside are no times of requests.
const YEARS: std::ops::RangeInclusive<i64> = 1990..=2199;

/// A pattern of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
    fixed: bool,
}

impl Pattern {
    pub fn new(parts: Vec<Part>) -> Pattern {
        // A zone of four digits does not vary within a log; one of another length is read anew each time.
        let fixed = parts.iter().all(|part| part.is_fixed() || *part == Part::Zone);
        Pattern { parts, fixed }
    }

    /// `10/Oct/2000:13:55:36 -0700`, in brackets or not.
    pub fn common(brackets: bool) -> Pattern {
        use Part::{Byte, Day, Hour, Minute, MonthName, Second, Year, Zone};
        let mut parts =
            vec![Day, Byte(b'/'), MonthName, Byte(b'/'), Year, Byte(b':'), Hour, Byte(b':'), Minute];
        parts.extend([Byte(b':'), Second, Byte(b' '), Zone]);
        if brackets {
            parts.insert(0, Byte(b'['));
            parts.push(Byte(b']'));
        }
        Pattern::new(parts)
    }

    /// `2000-10-10T13:55:36+02:00` (or `Z`), with a fraction of a second or not where one is expected.
    pub fn iso(fraction: bool) -> Pattern {
        use Part::{Byte, Day, Fraction, Hour, Minute, Month, Second, Year, Zone};
        let mut parts = vec![Year, Byte(b'-'), Month, Byte(b'-'), Day, Byte(b'T'), Hour, Byte(b':'), Minute];
        parts.extend([Byte(b':'), Second]);
        parts.extend(fraction.then_some(Fraction));
        parts.push(Zone);
        Pattern::new(parts)
    }

    /// The plain bytes that it begins with, and the pattern behind them.
    pub fn behind_lead(self) -> (Vec<u8>, Pattern) {
        let lead = |part: &Part| if let Part::Byte(byte) = part { Some(*byte) } else { None };
        let bytes: Vec<u8> = self.parts.iter().map_while(lead).collect();
        let parts = self.parts[bytes.len()..].to_vec();
        (bytes, Pattern::new(parts))
    }

    /// True if equal bytes at the start of two texts mean equal times.
    pub fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// True if the pattern has the time's zone.
    pub fn has_zone(&self) -> bool {
        let zoned = |part: &Part| matches!(part, Part::Zone | Part::Epoch | Part::EpochMs | Part::EpochUs);
        self.parts.iter().any(zoned)
    }

    /// Reads the pattern at the start of `text` into `civil`; says how many bytes it took.
    pub fn read(&self, text: &[u8], civil: &mut Civil) -> Option<usize> {
        let mut rest = text;
        for part in &self.parts {
            let taken = read_part(*part, rest, civil)?;
            rest = rest.get(taken..)?;
        }
        Some(text.len() - rest.len())
    }
}

fn read_part(part: Part, text: &[u8], civil: &mut Civil) -> Option<usize> {
    let two = || number::digits(text, 2);
    match part {
        Part::Byte(byte) => (*text.first()? == byte).then_some(1),
        Part::Year => number::digits(text, 4).map(|year| (civil.year = Some(year), 4).1),
        Part::ShortYear => {
            let year = two()?;
            civil.year = Some(if year < 69 { 2000 + year } else { 1900 + year });
            Some(2)
        }
        Part::Month => two().map(|month| (civil.month = Some(month), 2).1),
        Part::MonthName => month(text.get(..3)?).map(|month| (civil.month = Some(month), 3).1),
        Part::Day => two().map(|day| (civil.day = Some(day), 2).1),
        Part::PaddedDay => {
            let day = if *text.first()? == b' ' { number::digits(&text[1..], 1) } else { two() }?;
            civil.day = Some(day);
            Some(2)
        }
        Part::Hour | Part::Hour12 => two().map(|hour| (civil.hour = hour, 2).1),
        Part::AmPm => {
            civil.afternoon = Some(text.get(..2)?.eq_ignore_ascii_case(b"PM"));
            Some(2)
        }
        Part::Minute => two().map(|minute| (civil.minute = minute, 2).1),
        Part::Second => two().map(|second| (civil.second = second, 2).1),
        Part::Fraction => Some(fraction(text)),
        Part::Zone => zone(text, civil),
        Part::Letters => Some(text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()),
        Part::Epoch | Part::EpochMs | Part::EpochUs => epoch(part, text, civil),
    }
}

/// A point or comma with its digits, or bare digits where the point stands in the pattern; nothing is also right.
fn fraction(text: &[u8]) -> usize {
    let point = usize::from(matches!(text.first(), Some(b'.' | b',')));
    let digits = text[point..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 { 0 } else { point + digits }
}

fn zone(text: &[u8], civil: &mut Civil) -> Option<usize> {
    let sign = match text.first()? {
        b'Z' => {
            civil.zone = Some(0);
            return Some(1);
        }
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = number::digits(&text[1..], 2)?;
    let colon = usize::from(text.get(3) == Some(&b':'));
    let minutes = number::digits(text.get(3 + colon..)?, 2)?;
    if hours > 24 || minutes > 59 {
        return None;
    }
    civil.zone = i8::try_from(sign * (hours * 4 + minutes / 15)).ok();
    civil.zone.map(|_| 5 + colon)
}

fn epoch(part: Part, text: &[u8], civil: &mut Civil) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ticks = number::digits(text, digits)?;
    civil.epoch = Some(match part {
        Part::EpochMs => ticks / 1000,
        Part::EpochUs => ticks / 1_000_000,
        _ => ticks,
    });
    Some(digits + if part == Part::Epoch { fraction(&text[digits..]) } else { 0 })
}

fn month(name: &[u8]) -> Option<i64> {
    const NAMES: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let place = NAMES.chunks_exact(3).position(|known| known == name)?;
    i64::try_from(place + 1).ok()
}

impl Civil {
    /// The moment; none where a part is missing or does not exist. A leap second is the second before it.
    pub fn at(&self) -> Option<At> {
        let zone = self.zone.unwrap_or(0);
        if let Some(seconds) = self.epoch {
            let inside = days(*YEARS.start(), 1, 1) * 86_400..days(*YEARS.end() + 1, 1, 1) * 86_400;
            return inside.contains(&seconds).then_some(At { seconds, zone });
        }
        let (year, month, day) = (self.year?, self.month?, self.day?);
        let hour = match self.afternoon {
            Some(afternoon) if (1..=12).contains(&self.hour) => {
                self.hour % 12 + if afternoon { 12 } else { 0 }
            }
            Some(_) => return None,
            None => self.hour,
        };
        let exists = YEARS.contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day)
            && (0..24).contains(&hour)
            && (0..60).contains(&self.minute)
            && (0..=60).contains(&self.second);
        let seconds = days(year, month, day) * 86_400 + hour * 3600 + self.minute * 60 + self.second.min(59);
        exists.then_some(At { seconds: seconds - i64::from(zone) * 900, zone })
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a date in the Gregorian calendar; years count from March, so that a leap day ends one.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let months = (month + 9) % 12;
    365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * months + 2) / 5
        + day
        - 719_469
}

/// Year, month and day of a number of days since 1970.
pub fn date(days: i64) -> (i64, i64, i64) {
    // Not later than the year of the day, and few years before it.
    let mut year = 1970 + days.div_euclid(if days < 0 { 365 } else { 366 });
    while self::days(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && self::days(year, month + 1, 1) <= days {
        month += 1;
    }
    (year, month, days - self::days(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pattern: &Pattern, text: &str) -> Option<At> {
        let mut civil = Civil::default();
        let taken = pattern.read(text.as_bytes(), &mut civil)?;
        (taken == text.len()).then(|| civil.at())?
    }

    fn common(text: &str) -> Option<At> {
        read(&Pattern::common(true), text)
    }

    #[test]
    fn the_zone_of_the_line_decides() {
        assert_eq!(common("[10/Oct/2000:13:55:36 -0700]"), Some(At { seconds: 971_211_336, zone: -28 }));
        assert_eq!(common("[10/Oct/2000:22:55:36 +0200]").map(|at| at.seconds), Some(971_211_336));
        let nepal = common("[11/Oct/2000:02:40:36 +0545]");
        assert_eq!(nepal, Some(At { seconds: 971_211_336, zone: 23 }));
        // An hour that the clocks repeat is two hours.
        let (first, again) = ("[29/Oct/2023:02:30:00 +0200]", "[29/Oct/2023:02:30:00 +0100]");
        assert_eq!(common(again).unwrap().seconds - common(first).unwrap().seconds, 3600);
        assert_eq!(common(first).unwrap().local(), common(again).unwrap().local());
        let (old, new) = ("[31/Dec/2023:23:59:59 +0000]", "[01/Jan/2024:00:00:00 +0000]");
        assert_eq!(common(new).unwrap().seconds - common(old).unwrap().seconds, 1);
    }

    #[test]
    fn other_ways_to_write_it() {
        let iso = Pattern::iso(true);
        for text in ["2000-10-10T20:55:36Z", "2000-10-10T22:55:36.123456+02:00", "2000-10-10T22:55:36+0200"] {
            assert_eq!(read(&iso, text).map(|at| at.seconds), Some(971_211_336), "{text}");
        }
        let epochs =
            [(Part::Epoch, "971211336.123"), (Part::EpochMs, "971211336123"), (Part::Epoch, "971211336")];
        for (part, text) in epochs {
            let pattern = Pattern::new(vec![part]);
            assert_eq!(read(&pattern, text), Some(At { seconds: 971_211_336, zone: 0 }), "{text}");
        }
        let twelve = Pattern::new(vec![
            Part::Month,
            Part::Byte(b'/'),
            Part::PaddedDay,
            Part::Byte(b'/'),
            Part::ShortYear,
            Part::Byte(b' '),
            Part::Hour12,
            Part::Byte(b':'),
            Part::Minute,
            Part::AmPm,
        ]);
        assert_eq!(read(&twelve, "10/ 9/00 12:05AM").map(|at| at.seconds), Some(971_049_900));
        assert_eq!(read(&twelve, "10/ 9/00 12:05PM").map(|at| at.seconds), Some(971_049_900 + 43_200));
    }

    #[test]
    fn times_that_do_not_exist_are_refused() {
        for text in [
            "[31/Feb/2000:13:55:36 -0700]",
            "[10/Okt/2000:13:55:36 -0700]",
            "[10/Oct/2000:24:55:36 -0700]",
            "[10/Oct/2000:13:60:36 -0700]",
            "[10/Oct/1000:13:55:36 -0700]",
            "[29/Feb/2023:00:00:00 +0000]",
            "[00/Oct/2000:13:55:36 -0700]",
            "[10/Oct/2000:13:55:36 -9900]",
            "[10/Oct/2000:13:55:36 0700]",
            "[",
            "",
            "[10/Oct/2000:13:55:3",
            "[10/Oct/2000:13:55:36 -0700",
            "[1x/Oct/2000:13:55:36 -0700]",
        ] {
            assert_eq!(common(text), None, "{text}");
        }
        assert!(common("[31/Dec/2016:23:59:60 +0000]").is_some());
        assert_eq!(read(&Pattern::new(vec![Part::Epoch]), "99999999999999999999"), None);
        assert_eq!(read(&Pattern::new(vec![Part::Epoch]), "7"), None);
    }

    proptest! {
        #[test]
        fn dates_and_days_are_inverse(n in -800_000i64..800_000) {
            let (year, month, day) = date(n);
            prop_assert_eq!(days(year, month, day), n);
            prop_assert!((1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day));
        }
    }
}
