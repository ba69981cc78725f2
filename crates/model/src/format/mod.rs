//! How a number is written for people: the one place for rounding, prefixes, thousands separators and plurals.
//!
//! In: values in base units (s, B, 1/s, B/s, Hz, W, J, degrees Celsius), counts and shares of 1.
//! Out: text with three to four significant digits. Bytes take Ki/Mi/Gi unless the caller asks for powers of
//! ten; everything else takes k/M/G and m/u/n. A value that is not finite prints as `-`, never as 0.
//!
//! [`quantity`], [`number`], [`percent`] and [`duration`] write one value. [`Scale`] writes a column or an axis, whose
//! values share one prefix, [`amount`] and [`Amounts`] amounts of work as needs are written. Not for
//! text that is read back: that is `params::show_bytes`.

mod amounts;
mod moment;
mod scale;

pub use amounts::{Amounts, amount};
pub use moment::Moment;
pub use scale::{Kind, Prefixes, Scale};

use crate::unit::Unit;

/// One value with its unit, in the prefix that suits it best: `92.4 ns`, `31.2 GB/s`, `1.12 GiB`.
///
/// A plain [`crate::Unit`] is shown by its habit ([`Kind::of`]).
pub fn quantity(value: f64, kind: impl Into<Kind>) -> String {
    Scale::common(&[value], kind.into()).with_unit(value)
}

/// How many decimals show three significant digits.
pub(crate) fn decimals(size: f64) -> usize {
    match size {
        s if s >= 99.95 || s == 0.0 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.999_5 => 2,
        s if s >= 0.099_95 => 3,
        s if s >= 0.009_995 => 4,
        _ => 5,
    }
}

/// In place of a time that is slower than any answer.
pub const OVER: &str = "over the time limit";
/// The same in a table.
const OVER_CELL: &str = "over";

/// From here on a number is written with a power of ten.
const POWERS: f64 = 1e9;

/// Three significant digits below 1000, whole numbers above, four significant digits from 10,000 on. An infinite value
/// is over the time limit.
pub fn number(value: f64) -> String {
    if value == f64::INFINITY {
        return OVER_CELL.to_owned();
    }
    if !value.is_finite() {
        return "-".to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(0.001..POWERS).contains(&size) {
        return format!("{value:.2e}");
    }
    if size >= 9_999.5 {
        let unit = 10f64.powf(size.log10().floor() - 3.0);
        return fixed((value / unit).round() * unit, 0);
    }
    fixed(value, decimals(size))
}

/// A fixed number of decimals, thousands separated by commas, no `-0`.
pub fn fixed(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let text = format!("{:.*}", places, value.abs());
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::with_capacity(text.len() + 4);
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('-');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if !part.is_empty() {
        out.push('.');
        out.push_str(part);
    }
    out
}

/// A ratio: two decimals from 0.1 on, three significant digits elsewhere.
pub fn ratio(value: f64) -> String {
    if (0.1..100.0).contains(&value) { fixed(value, 2) } else { number(value) }
}

/// A share of 1 as `95 %`, `0.3 %`, `17.4 %`; from a thousand times on, where no digit means anything, as such.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "-".to_owned();
    }
    if share.abs() >= 1_000.0 {
        return format!("{}over 100,000 %", if share < 0.0 { "-" } else { "" });
    }
    let value = share * 100.0;
    let places = match value.abs() {
        v if v >= 9.95 || v == 0.0 || (v - v.round()).abs() < 1e-9 => 0,
        v if v >= 0.095 => 1,
        v if v >= 0.000_5 => 3,
        _ => return "under 0.001 %".to_owned(),
    };
    format!("{} %", fixed(value, places))
}

/// A part of a whole: as [`percent`], but `100 %` is all of it: `99.8 %`, `over 99.9 %`.
pub fn percent_of(part: u64, whole: u64) -> String {
    let share = part as f64 / whole.max(1) as f64;
    match share {
        share if part < whole && share >= 0.9995 => "over 99.9 %".to_owned(),
        share if part < whole && share >= 0.995 => format!("{} %", fixed(share * 100.0, 1)),
        share => percent(share),
    }
}

/// A probability from which on no digit of the rest means anything.
pub const NEARLY_ALL: f64 = 0.9995;

/// A probability by draws: `93 %`, `99.5 %`, `>99.9 %`, `<0.1 %`.
pub fn probability(share: f64) -> String {
    match share {
        share if share >= NEARLY_ALL => ">99.9 %".to_owned(),
        share if share > 0.99 => format!("{} %", fixed(share * 100.0, 1)),
        share if share > 0.0 && share < 1.0 - NEARLY_ALL => "<0.1 %".to_owned(),
        share => percent(share),
    }
}

/// In place of a number whose digits would mean nothing.
pub const NOT_KNOWN: &str = "not known";
/// An interval of a ratio whose ends are so many times apart says nothing.
const TELLS_NOTHING: f64 = 25.0;

/// The smallest difference that can be told, as a share of 1; beyond twice the figure none can.
pub fn floor(share: f64) -> String {
    if share > 1.0 { NOT_KNOWN.to_owned() } else { percent(share) }
}

/// True if an interval of a ratio says anything.
pub fn tells(low: f64, high: f64) -> bool {
    low > 0.0 && high.is_finite() && high / low <= TELLS_NOTHING
}

/// The interval of a ratio: `0.65 to 1.89`, or that it is not known.
pub fn ratio_interval(low: f64, high: f64) -> String {
    if tells(low, high) { format!("{} to {}", ratio(low), ratio(high)) } else { NOT_KNOWN.to_owned() }
}

/// The range of floors as `5 %`, or `5 to 20 %` where they differ; `None` without any. Beyond 100 % no digit means
/// anything.
pub fn floor_range(shares: &[f64]) -> Option<String> {
    let (low, high) =
        (shares.iter().copied().min_by(f64::total_cmp)?, shares.iter().copied().max_by(f64::total_cmp)?);
    if high > 1.0 {
        let low = if low > 1.0 { String::new() } else { format!("{} to ", percent(low)) };
        return Some(format!("{low}over 100 %"));
    }
    percent_range(shares)
}

/// The range of shares of 1 as `5 %`, or `5 to 20 %` where they differ; `None` without any.
pub fn percent_range(shares: &[f64]) -> Option<String> {
    let low = percent(shares.iter().copied().min_by(f64::total_cmp)?);
    let high = percent(shares.iter().copied().max_by(f64::total_cmp)?);
    Some(if low == high { high } else { format!("{} to {high}", low.trim_end_matches(" %")) })
}

/// A length of time in the two largest units that matter: `1 min 52 s`, `3.20 s`, `45.0 ms`, `2 h 5 min`.
/// Whole seconds have no decimals: `3 s`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "-".to_owned();
    }
    if seconds.abs() < 59.5 {
        let is_whole = seconds.abs() >= 9.995 || seconds.fract() == 0.0;
        return if is_whole { format!("{} s", fixed(seconds, 0)) } else { quantity(seconds, Unit::Second) };
    }
    let sign = if seconds < 0.0 { "-" } else { "" };
    let total = seconds.abs().round();
    if total >= 1e15 {
        return format!("{} s", number(seconds));
    }
    let parts = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s")];
    let first = parts.iter().position(|(size, _)| total >= *size).unwrap_or(3);
    let (size, name) = parts[first];
    let mut out = format!("{sign}{} {name}", fixed((total / size).floor(), 0));
    if let Some((small, next)) = parts.get(first + 1) {
        let rest = ((total % size) / small).floor();
        if rest > 0.0 {
            out.push_str(&format!(" {rest:.0} {next}"));
        }
    }
    out
}

/// The same, to the hour beyond a day, to the minute beyond two hours: the last second of a day is not what is asked
/// for.
pub fn rounded_duration(seconds: f64) -> String {
    let step = match seconds {
        long if long > 86_400.0 => 3600.0,
        long if long > 7200.0 => 60.0,
        _ => return duration(seconds),
    };
    duration((seconds / step).round() * step)
}

/// The same as people plan with it: `1 h 20 min`, `10 h`, `38 d`.
pub fn coarse(seconds: f64) -> String {
    let step = match seconds {
        days if days > 20.0 * 86_400.0 => 86_400.0,
        hours if hours > 5.0 * 3600.0 => 3600.0,
        _ => 600.0,
    };
    duration((seconds / step).round() * step)
}

/// A number of requests: whole below 100,000.
pub fn many(requests: u64) -> String {
    match requests {
        0..100_000 => fixed(requests as f64, 0),
        100_000..1_000_000 => format!("{} k", fixed(requests as f64 / 1e3, 0)),
        1_000_000..1_000_000_000 => format!("{} M", number(requests as f64 / 1e6)),
        _ => format!("{} G", number(requests as f64 / 1e9)),
    }
}

/// `14.2/s`; what comes less than once in a hundred seconds, an hour.
pub fn per_second(rate: f64) -> String {
    per_second_like(rate, rate)
}

/// The same in the unit of another rate, so that rates of one line can be compared.
pub fn per_second_like(rate: f64, like: f64) -> String {
    match like {
        like if like >= 0.01 => format!("{}/s", number(rate)),
        _ => format!("{} an hour", number(rate * 3600.0)),
    }
}

/// A p value: `p 0.022`, or `p < 0.001`, beyond which it says nothing more.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p {}", fixed(p, 3)) }
}

/// A number of things: `1 take`, `12 takes`.
pub fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// An enumeration: `a, b and c`.
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_are_binary_unless_said() {
        assert_eq!(quantity(32.0 * 1024f64.powi(3), Unit::Byte), "32.0 GiB");
        assert_eq!(quantity(32e6, Kind::for_unit(Unit::Byte).decimal()), "32.0 MB");
        assert_eq!(quantity(1.0, Unit::Byte), "1.00 B");
    }

    #[test]
    fn digits() {
        let cases = [
            (0.0, "0"),
            (1.016, "1.02"),
            (40.93, "40.9"),
            (999.96, "1,000"),
            (14_312.0, "14,310"),
            (-0.001, "-0.00100"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(1e30), "1.00e30");
        assert_eq!(number(f64::NAN), "-");
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(number(99_996.0), "100,000");
    }

    #[test]
    fn a_small_p_is_no_zero() {
        for (p, text) in
            [(1e-9, "p < 0.001"), (0.000_99, "p < 0.001"), (0.001, "p 0.001"), (0.0217, "p 0.022")]
        {
            assert_eq!(p_value(p), text);
        }
    }

    #[test]
    fn memory_is_in_the_largest_unit_of_which_there_is_one() {
        for (bytes, text) in [
            (12.0, "12.0 B"),
            (2048.0, "2.00 KiB"),
            (1.12 * 1024f64.powi(3), "1.12 GiB"),
            (1024f64.powi(4) - 1.0, "1.00 TiB"),
            (95.4 * 1024f64.powi(4), "95.4 TiB"),
        ] {
            assert_eq!(quantity(bytes, Unit::Byte), text);
        }
    }

    #[test]
    fn quantities_have_three_digits() {
        for (value, unit, text) in [
            (5.07e9, Unit::Hertz, "5.07 GHz"),
            (89.6e9, Unit::BytesPerSec, "89.6 GB/s"),
            (92.4e-9, Unit::Second, "92.4 ns"),
            (38.0, Unit::Second, "38.0 s"),
            (0.0, Unit::Second, "0 s"),
            (14_200.0, Unit::PerSec, "14.2 k/s"),
            (142.0, Unit::PerSec, "142 /s"),
        ] {
            assert_eq!(quantity(value, unit), text);
        }
    }

    #[test]
    fn lists_read_as_english() {
        let items = |n: usize| ["a", "b", "c"].iter().take(n).map(|s| (*s).to_owned()).collect::<Vec<_>>();
        assert_eq!((list(&items(0)), list(&items(1))), (String::new(), "a".into()));
        assert_eq!((list(&items(2)), list(&items(3))), ("a and b".into(), "a, b and c".into()));
        assert_eq!((count(1, "take"), count(2, "take")), ("1 take".into(), "2 takes".into()));
    }

    #[test]
    fn times_and_shares() {
        assert_eq!(duration(112.0), "1 min 52 s");
        assert_eq!(duration(38.2), "38 s");
        assert_eq!(duration(0.045), "45.0 ms");
        assert_eq!(duration(7_500.0), "2 h 5 min");
        assert_eq!(duration(59.7), "1 min");
        assert_eq!(duration(90_000.0), "1 d 1 h");
        assert_eq!(
            (duration(0.0), duration(3.0), duration(15.2)),
            ("0 s".into(), "3 s".into(), "15 s".into())
        );
        assert_eq!((duration(60.0), duration(3661.0)), ("1 min".into(), "1 h 1 min".into()));
        assert_eq!((duration(86_403.0), duration(190_000.0)), ("1 d".into(), "2 d 4 h".into()));
        assert_eq!(
            (percent(0.95), percent(0.003), percent(0.174), percent(0.0)),
            ("95 %".into(), "0.3 %".into(), "17 %".into(), "0 %".into())
        );
        assert_eq!(
            [(50_885, 51_000), (99_999, 100_000), (7, 7), (1, 300), (0, 0)]
                .map(|(part, all)| percent_of(part, all)),
            ["99.8 %", "over 99.9 %", "100 %", "0.3 %", "0 %"]
        );
        assert_eq!(
            (ratio(1.3149), ratio(0.0123), ratio(240.0)),
            ("1.31".into(), "0.0123".into(), "240".into())
        );
    }

    proptest! {
        #[test]
        fn never_nan_and_never_wrong_by_more_than_the_digits(value in proptest::num::f64::ANY) {
            let text = number(value);
            prop_assert!(!text.contains("NaN") && !text.contains("inf"));
            if value.is_finite() && value.abs() < 1e300 && value != 0.0 {
                let back: f64 = text.replace(',', "").parse().unwrap();
                prop_assert!((back / value - 1.0).abs() < 0.006, "{value} as {text}");
            }
            prop_assert!(!duration(value).contains("inf"));
            prop_assert!(!percent(value).contains("NaN"));
        }
    }
}
