//! A moment as a person writes it: to the second, in the log's own zone where it names none.
//!
//! `2000-10-10`, `2000-10-10 13:55`, with seconds, with a zone (RFC 3339), as Apache and nginx write it
//! (`10/Oct/2000:13:55:36 -0700`), or seconds since 1970. Fractions of a second are read and dropped.

use std::fmt;

use super::clock::{At, Civil, Part, Pattern, date};

/// When, by which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970: UTC, or by the log's own clock.
    seconds: i64,
    is_local: bool,
}

impl Moment {
    /// Reads a moment. The error names the ways to write one.
    pub fn parse(text: &str) -> Result<Moment, String> {
        let text = text.trim();
        for pattern in patterns() {
            let mut civil = Civil::default();
            if pattern.read(text.as_bytes(), &mut civil) == Some(text.len())
                && let Some(at) = civil.at()
            {
                return Ok(Moment { seconds: at.seconds, is_local: !pattern.has_zone() });
            }
        }
        Err(format!("{text:?} is no time: write 2000-10-10, 2000-10-10T13:55 or 2000-10-10T13:55:36+02:00"))
    }

    /// Seconds since 1970 on the clock that the moment is told by.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// The request's time on that clock.
    pub fn clock_of(self, at: At) -> i64 {
        if self.is_local { at.local() } else { at.seconds }
    }

    /// True if a request came then or later.
    #[inline]
    pub fn is_reached(self, at: At) -> bool {
        self.clock_of(at) >= self.seconds
    }

    /// Seconds since 1970 (UTC) for a log whose clock is so many quarter hours ahead of UTC.
    pub fn utc(self, zone: i8) -> i64 {
        if self.is_local { self.seconds - i64::from(zone) * 900 } else { self.seconds }
    }
}

/// The longer ones may begin with a shorter one, so each is read to the end of the text.
fn patterns() -> Vec<Pattern> {
    use Part::{Byte, Day, Epoch, Fraction, Hour, Minute, Month, MonthName, Second, Year, Zone};
    let day = [Year, Byte(b'-'), Month, Byte(b'-'), Day].to_vec();
    let common = [Day, Byte(b'/'), MonthName, Byte(b'/'), Year].to_vec();
    let mut all = vec![Pattern::new(vec![Epoch]), Pattern::new(day.clone()), Pattern::new(common.clone())];
    let joints = [(&day, b'T'), (&day, b't'), (&day, b' '), (&common, b':'), (&common, b' ')];
    for (day, joint) in joints {
        let mut parts = day.clone();
        parts.extend([Byte(joint), Hour, Byte(b':'), Minute]);
        for second in [&[][..], &[Byte(b':'), Second, Fraction]] {
            parts.extend(second);
            for zone in [&[][..], &[Zone], &[Byte(b' '), Zone]] {
                all.push(Pattern::new([parts.as_slice(), zone].concat()));
            }
        }
    }
    all.push(Pattern::common(true));
    all
}

/// `2000-10-10 13:55:36 -0700`: a time as the log's own clock showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown(pub At);

impl fmt::Display for Shown {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.0.local();
        let (year, month, day) = date(local.div_euclid(86_400));
        let rest = local.rem_euclid(86_400);
        write!(
            to,
            "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
            rest / 3600,
            rest / 60 % 60,
            rest % 60
        )?;
        let minutes = i64::from(self.0.zone) * 15;
        let sign = if minutes < 0 { '-' } else { '+' };
        write!(to, " {sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 13:55:36 by a clock 7 hours behind UTC.
    const AT: At = At { seconds: 971_211_336, zone: -28 };

    #[test]
    fn a_zone_that_is_written_counts() {
        for text in [
            "2000-10-10T20:55:36Z",
            "2000-10-10T22:55:36.5+02:00",
            "2000-10-10 13:55:36 -0700",
            "2000-10-10t13:55:36-0700",
            "10/Oct/2000:13:55:36 -0700",
            "[10/Oct/2000:13:55:36 -0700]",
            "971211336",
            " 971211336.9 ",
        ] {
            let moment = Moment::parse(text).unwrap();
            assert_eq!((moment.utc(0), moment.utc(9)), (971_211_336, 971_211_336), "{text}");
            assert!(moment.is_reached(AT), "{text}");
            assert!(!moment.is_reached(At { seconds: AT.seconds - 1, ..AT }), "{text}");
        }
    }

    #[test]
    fn without_a_zone_it_is_the_logs_own() {
        for text in ["2000-10-10 13:55:36", "10/Oct/2000:13:55:36", "2000-10-10T13:55:36.25"] {
            let moment = Moment::parse(text).unwrap();
            assert_eq!(moment.utc(-28), 971_211_336, "{text}");
            assert!(moment.is_reached(AT) && !moment.is_reached(At { zone: -32, ..AT }), "{text}");
        }
        assert_eq!(Moment::parse("2000-10-10 13:55").unwrap().utc(-28), 971_211_300);
        assert_eq!(Moment::parse("2000-10-10").unwrap().utc(0), 971_136_000);
        assert_eq!(Moment::parse("10/Oct/2000").unwrap().utc(0), 971_136_000);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "14:00",
            "2000-13-01",
            "2000-02-30 10:00",
            "2000-10-10 24:00",
            "2000-10-10 13",
            "10/Okt/2000:13:55",
            "7",
            "2000-10-10T13:55:36+99:00",
            "2000-10-10 13:55 x",
        ] {
            let error = Moment::parse(text).unwrap_err();
            assert!(error.contains("no time: write"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(seconds in 700_000_000i64..4_000_000_000, zone in -48i8..56) {
            let at = At { seconds, zone };
            prop_assert_eq!(Moment::parse(&Shown(at).to_string()).unwrap().utc(0), seconds);
        }
    }
}
