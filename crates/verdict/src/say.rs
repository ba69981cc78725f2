//! Numbers inside sentences: three significant digits, decimal prefixes, English plurals.
//!
//! Only for findings and paragraphs; tables are scaled by the report.

use model::Unit;
pub use model::amount::{digits, memory};

/// `5.07 GHz`, `14.2 k/s`, `3.1 us`: three significant digits with a prefix.
#[must_use]
pub fn quantity(value: f64, unit: Unit) -> String {
    let scaled = |factor: f64, suffix: &str| format!("{} {suffix}", digits(value / factor));
    let size = value.abs();
    let symbol = match unit {
        Unit::Second if size > 0.0 && size < 1e-6 => return scaled(1e-9, "ns"),
        Unit::Second if size > 0.0 && size < 1e-3 => return scaled(1e-6, "us"),
        Unit::Second if size > 0.0 && size < 1.0 => return scaled(1e-3, "ms"),
        Unit::Ratio | Unit::Count => return digits(value),
        other => other.symbol(),
    };
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match prefixes.iter().find(|(factor, _)| size >= *factor) {
        Some((factor, prefix)) if unit == Unit::PerSec => scaled(*factor, &format!("{prefix}/s")),
        Some((factor, prefix)) => scaled(*factor, &format!("{prefix}{symbol}")),
        None if unit == Unit::PerSec => scaled(1.0, "/s"),
        None => scaled(1.0, symbol),
    }
}

/// A share as a percentage: `69 %`, `0.3 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let hundred = share * 100.0;
    if hundred == 0.0 {
        "0 %".to_owned()
    } else if hundred.abs() < 0.095 {
        format!("{hundred:.2} %")
    } else if hundred.abs() < 9.95 {
        format!("{hundred:.1} %")
    } else {
        format!("{hundred:.0} %")
    }
}

/// A length of time in its two largest units: `15 s`, `3 h 20 min`, `2 d`.
#[must_use]
pub fn span(seconds: f64) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")];
    let mut left = seconds.max(0.0).round() as u64;
    let mut parts = Vec::new();
    for (size, name) in UNITS {
        let count = left / size;
        left %= size;
        if count > 0 || (size == 1 && parts.is_empty()) {
            parts.push(format!("{count} {name}"));
        } else if !parts.is_empty() {
            break;
        }
    }
    parts.truncate(2);
    parts.join(" ")
}

/// `1 take`, `12 takes`.
#[must_use]
pub fn count(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

/// `a, b and c`.
#[must_use]
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

    #[test]
    fn lengths_of_time_have_two_units() {
        let of = |seconds: f64| span(seconds);
        assert_eq!(
            (of(0.0), of(15.2), of(60.0), of(3661.0)),
            ("0 s".into(), "15 s".into(), "1 min".into(), "1 h 1 min".into())
        );
        assert_eq!(
            (of(86_400.0), of(86_403.0), of(190_000.0)),
            ("1 d".into(), "1 d".into(), "2 d 4 h".into())
        );
    }

    #[test]
    fn quantities_have_three_digits() {
        assert_eq!(quantity(5.07e9, Unit::Hertz), "5.07 GHz");
        assert_eq!(quantity(89.6e9, Unit::BytesPerSec), "89.6 GB/s");
        assert_eq!(quantity(92.4e-9, Unit::Second), "92.4 ns");
        assert_eq!(quantity(38.0, Unit::Second), "38.0 s");
        assert_eq!(quantity(14_200.0, Unit::PerSec), "14.2 k/s");
        assert_eq!(quantity(0.0, Unit::Second), "0 s");
        assert_eq!(
            (percent(0.69), percent(0.003), percent(0.0)),
            ("69 %".into(), "0.3 %".into(), "0 %".into())
        );
    }

    #[test]
    fn lists_read_as_english() {
        let items = |n: usize| ["a", "b", "c"].iter().take(n).map(|s| (*s).to_owned()).collect::<Vec<_>>();
        assert_eq!((list(&items(0)), list(&items(1))), (String::new(), "a".into()));
        assert_eq!((list(&items(2)), list(&items(3))), ("a and b".into(), "a, b and c".into()));
        assert_eq!((count(1, "take"), count(2, "take")), ("1 take".into(), "2 takes".into()));
    }
}
