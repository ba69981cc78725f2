//! The values that a parameter takes, and the one spelling of each.
//!
//! Pure: a path or a URL is looked at as text; whether the file or the server is there is for others to say.

use core::net::IpAddr;

use crate::url::Scheme;

use super::{parse_bytes, parse_cpus, show_bytes, show_cpus};

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A whole number within bounds; `10k` is 10,000.
    Int { min: u64, max: u64 },
    /// A whole number that may be negative.
    Signed { min: i64, max: i64 },
    /// A number above 0, which may have a fraction; `1.5k` is 1500.
    Number { max: u64 },
    /// A share above 0, with its sign: `50%`.
    Percent { max: u64 },
    /// Seconds from a thousandth on: `10`, `2.5s`, `500ms`, `1m30s`; the canonical spelling is the number alone.
    Seconds { max: u64 },
    /// A time with its unit, from a microsecond on: `500us`, `10ms`, `2s`.
    Time { max: u64 },
    /// A size in bytes: `31`, `4KiB`, `8MiB`; the canonical spelling uses the largest exact prefix.
    Bytes { min: u64, max: u64 },
    /// Two numbers, one of them above 0: `100:5000`.
    FromTo { max: u64 },
    /// Numbers with blanks between them, none below 0.
    Weights,
    /// `http://` or `https://` URLs with blanks between them.
    Urls,
    /// One URL of a store: `redis://` or `memcached://`.
    StoreUrl,
    /// Whole numbers of two things beside each other, one of them above 0: `1:10`.
    Ratio { max: u64 },
    /// An IPv4 or IPv6 address.
    Address,
    /// A path.
    Path,
    /// Any text, or `@` and the path of the file that holds it.
    TextOrFile,
    /// One of a list, and the percent of some work at which it comes: `kill-node@40%`; without one, this many.
    AtPercent(&'static [&'static str], u64),
    /// One of a list.
    Choice(&'static [&'static str]),
    /// `1`, `2`, … or `all` (every allowed CPU).
    Threads,
    /// A CPU list such as `0-3,8`, or `auto`.
    Cpus,
    /// Any text.
    Text,
    /// That word (`auto`, `none`, or nothing), or a value of that kind.
    Or(&'static str, &'static ParamKind),
    /// A value of that kind, and only where the parameter named has one of these values; elsewhere it does not exist.
    Only(&'static str, &'static [&'static str], &'static ParamKind),
}

impl ParamKind {
    /// The canonical spelling of `value`; `None` where it is none of this kind.
    pub fn canonical(self, value: &str) -> Option<String> {
        match self {
            ParamKind::Int { min, max } => {
                whole(value).filter(|number| (min..=max).contains(number)).map(|number| number.to_string())
            }
            ParamKind::Signed { min, max } => {
                let number = value.parse::<i64>().ok().filter(|number| (min..=max).contains(number));
                number.map(|number| number.to_string())
            }
            ParamKind::Number { max } => above_0(value, max).map(|number| number.to_string()),
            ParamKind::Percent { max } => {
                above_0(value.strip_suffix('%')?.trim_end(), max).map(|number| format!("{number}%"))
            }
            ParamKind::Seconds { max } => {
                let ms = (parse_span(value)? * 1e3).round();
                (1.0..=float(max) * 1e3).contains(&ms).then(|| (ms / 1e3).to_string())
            }
            ParamKind::Time { max } => {
                let has_unit = value.ends_with(|last: char| last.is_ascii_alphabetic());
                show_time(parse_span(value).filter(|seconds| has_unit && *seconds <= float(max))?)
            }
            ParamKind::Bytes { min, max } => {
                parse_bytes(value).filter(|bytes| (min..=max).contains(bytes)).map(show_bytes)
            }
            ParamKind::FromTo { max } => {
                let (from, to) = value.split_once(':')?;
                let ends = [number(from.trim())?, number(to.trim())?];
                let fit = ends.iter().all(|end| (0.0..=float(max)).contains(end)) && ends != [0.0, 0.0];
                fit.then(|| format!("{}:{}", ends[0], ends[1]))
            }
            ParamKind::Weights => {
                let weights = words(value, |word| number(word).filter(|weight| *weight >= 0.0))?;
                Some(weights.iter().map(f64::to_string).collect::<Vec<_>>().join(" "))
            }
            ParamKind::Urls => Some(words(value, |word| url(word, |scheme| !scheme.is_store()))?.join(" ")),
            ParamKind::StoreUrl => url(value.trim(), Scheme::is_store).map(str::to_owned),
            ParamKind::Ratio { max } => {
                let (one, other) = value.split_once(':')?;
                let both = [whole(one.trim())?, whole(other.trim())?];
                let fit = both.iter().all(|part| *part <= max) && both != [0, 0];
                fit.then(|| format!("{}:{}", both[0], both[1]))
            }
            ParamKind::Address => value.parse::<IpAddr>().ok().map(|address| address.to_string()),
            ParamKind::Path => (!value.trim().is_empty()).then(|| value.to_owned()),
            ParamKind::AtPercent(choices, usual) => {
                let (word, percent) = match value.split_once('@') {
                    None => (value, usual),
                    Some((word, percent)) => (word, whole(percent.strip_suffix('%').unwrap_or(percent))?),
                };
                let fits = choices.contains(&word) && (1..=99).contains(&percent);
                fits.then(|| format!("{word}@{percent}%"))
            }
            ParamKind::Choice(choices) => choices.contains(&value).then(|| value.to_owned()),
            ParamKind::Threads if value == "all" => Some(value.to_owned()),
            ParamKind::Threads => {
                whole(value).filter(|count| (1..=65_536).contains(count)).map(|count| count.to_string())
            }
            ParamKind::Cpus if value == "auto" => Some(value.to_owned()),
            ParamKind::Cpus => parse_cpus(value).map(|cpus| show_cpus(&cpus)),
            ParamKind::Text | ParamKind::TextOrFile => Some(value.to_owned()),
            ParamKind::Or(word, _) if value == word => Some(value.to_owned()),
            ParamKind::Or(_, kind) | ParamKind::Only(_, _, kind) => kind.canonical(value),
        }
    }

    /// Description of the valid values, for an error message.
    pub fn wanted(self) -> String {
        match self {
            ParamKind::Int { min, max } => format!("a whole number from {min} to {max}"),
            ParamKind::Signed { min, max } => format!("a whole number from {min} to {max}"),
            ParamKind::Number { max } => format!("a number above 0, at most {max}"),
            ParamKind::Percent { max } => format!("a share above 0 % such as 50%, at most {max}%"),
            ParamKind::Seconds { max } => {
                format!("a time such as 10s, 2.5s or 500ms, at least 1ms, at most {max}s")
            }
            ParamKind::Time { max } => {
                format!("a time with its unit such as 500us, 10ms or 2s, at most {max}s")
            }
            ParamKind::Bytes { min, max } => {
                format!("a size from {} to {}", show_bytes(min), show_bytes(max))
            }
            ParamKind::FromTo { max } => {
                format!("two rates such as 100:5000, one of them above 0, each at most {max}")
            }
            ParamKind::Weights => "numbers from 0 on with blanks between them".to_owned(),
            ParamKind::Urls => "a URL that begins with http:// or https://".to_owned(),
            ParamKind::StoreUrl => "a URL that begins with redis:// or memcached://".to_owned(),
            ParamKind::Ratio { max } => {
                format!("two whole numbers such as 1:10, one of them above 0, each at most {max}")
            }
            ParamKind::Address => "an IP address such as 127.0.0.1 or ::1".to_owned(),
            ParamKind::Path => "a path".to_owned(),
            ParamKind::AtPercent(choices, usual) => {
                let words = choices.join(", ");
                format!(
                    "one of {words}, at 1 to 99 % of the work, {usual}% unless said: {}@{usual}%",
                    choices[0]
                )
            }
            ParamKind::Choice(choices) => format!("one of {}", choices.join(", ")),
            ParamKind::Threads => "a number of threads, or all".to_owned(),
            ParamKind::Cpus => "a CPU list such as 0-3,8, or auto".to_owned(),
            ParamKind::Text => "text".to_owned(),
            ParamKind::TextOrFile => "text, or @PATH of a file".to_owned(),
            ParamKind::Or("", kind) | ParamKind::Only(_, _, kind) => kind.wanted(),
            ParamKind::Or(word, kind) => format!("{}, or {word}", kind.wanted()),
        }
    }

    /// True if the values are sizes in bytes.
    pub const fn is_size(self) -> bool {
        match self {
            ParamKind::Bytes { .. } => true,
            ParamKind::Or(_, kind) | ParamKind::Only(_, _, kind) => kind.is_size(),
            _ => false,
        }
    }

    /// True if the values are whole numbers, beside which a word may stand for another one.
    pub const fn is_whole(self) -> bool {
        match self {
            ParamKind::Int { .. } => true,
            ParamKind::Or(_, kind) | ParamKind::Only(_, _, kind) => kind.is_whole(),
            _ => false,
        }
    }

    /// The values that there are, where they are few enough to be listed.
    pub const fn choices(self) -> Option<&'static [&'static str]> {
        match self {
            ParamKind::Choice(choices) => Some(choices),
            ParamKind::Or(_, kind) | ParamKind::Only(_, _, kind) => kind.choices(),
            _ => None,
        }
    }

    /// The file that a value names, where it names one.
    pub fn file(self, value: &str) -> Option<&str> {
        match self {
            ParamKind::Path => Some(value),
            ParamKind::TextOrFile => value.strip_prefix('@'),
            ParamKind::Or(word, kind) if value != word => kind.file(value),
            ParamKind::Only(_, _, kind) => kind.file(value),
            _ => None,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "bounds of parameters are far below 2^53")]
const fn float(bound: u64) -> f64 {
    bound as f64
}

/// Every word read by `read`; `None` without a word.
fn words<'a, T>(text: &'a str, read: impl Fn(&'a str) -> Option<T>) -> Option<Vec<T>> {
    let all = text.split_whitespace().map(read).collect::<Option<Vec<T>>>()?;
    (!all.is_empty()).then_some(all)
}

/// A text that begins as a URL of such a scheme. What follows is checked where it is read as a [`crate::url::Url`].
fn url(text: &str, is_allowed: impl Fn(Scheme) -> bool) -> Option<&str> {
    let has_host = !text.ends_with("://");
    Scheme::of_url(text).filter(|scheme| has_host && is_allowed(*scheme)).map(|_| text)
}

/// A decimal number, with `k`, `M` or `G` for its thousands, millions and thousand millions.
pub fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (text.get(..at)?, 1e3),
        (at, 'M') => (text.get(..at)?, 1e6),
        (at, 'G') => (text.get(..at)?, 1e9),
        _ => (text, 1.0),
    };
    // What a number can also be called, `inf` and `nan`, is none here.
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || b".+-eE".contains(&byte));
    let number = digits.parse::<f64>().ok().filter(|_| is_decimal)? * factor;
    number.is_finite().then_some(number)
}

/// A whole number in digits, or as [`number`] reads it.
pub fn whole(text: &str) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Ok(exact) = text.parse::<u64>() {
        return Some(exact);
    }
    let number = number(text).filter(|number| number.fract() == 0.0 && (0.0..=EXACT).contains(number))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
    Some(number as u64)
}

fn above_0(text: &str, max: u64) -> Option<f64> {
    number(text).filter(|number| *number > 0.0 && *number <= float(max))
}

/// `90s`, `10m`, `24h`, `2d`, `1h30m`, `2.5s`, `500ms`, `500us`, or plain seconds; above 0.
pub fn parse_span(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut total = 0.0;
    let sound = |seconds: f64| (seconds.is_finite() && seconds > 0.0).then_some(seconds);
    if let Ok(seconds) = rest.parse::<f64>() {
        return sound(seconds);
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest.get(..end)?.parse().ok()?;
        let unit_end = rest.get(end..)?.find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| end + at);
        total += number
            * match rest.get(end..unit_end)?.trim() {
                "us" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                _ => return None,
            };
        rest = rest.get(unit_end..)?;
    }
    sound(total)
}

/// The canonical spelling of a time, in whole microseconds; `None` when it is not from 1 us to 1 h.
pub fn show_time(seconds: f64) -> Option<String> {
    let us = (seconds * 1e6).round();
    if !(1.0..=3.6e9).contains(&us) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most an hour of microseconds"
    )]
    let us = us as u64;
    Some(match us {
        us if us.is_multiple_of(1_000_000) => format!("{}s", us / 1_000_000),
        us if us.is_multiple_of(1000) => format!("{}ms", us / 1000),
        us => format!("{us}us"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: &[ParamKind] = &[
        ParamKind::Int { min: 1, max: 1_000_000 },
        ParamKind::Signed { min: -20, max: 19 },
        ParamKind::Number { max: 1_000_000_000 },
        ParamKind::Percent { max: 200 },
        ParamKind::Seconds { max: 86_400 },
        ParamKind::Time { max: 3600 },
        ParamKind::Bytes { min: 1, max: 1 << 40 },
        ParamKind::FromTo { max: 1_000_000 },
        ParamKind::Weights,
        ParamKind::Urls,
        ParamKind::StoreUrl,
        ParamKind::Ratio { max: 1000 },
        ParamKind::Address,
        ParamKind::Path,
        ParamKind::TextOrFile,
        ParamKind::AtPercent(&["a", "b"], 40),
        ParamKind::Choice(&["a", "b"]),
        ParamKind::Threads,
        ParamKind::Cpus,
        ParamKind::Text,
        ParamKind::Or("auto", &ParamKind::Number { max: 10 }),
    ];

    proptest! {
        /// Equal values are equal keys: a canonical spelling is its own.
        #[test]
        fn a_canonical_spelling_is_its_own(text in "[0-9.:%kMGsmuh -]{0,8}|.{0,8}") {
            for kind in KINDS {
                if let Some(once) = kind.canonical(&text) {
                    prop_assert_eq!(kind.canonical(&once), Some(once.clone()), "{:?} {}", kind, text);
                }
            }
        }
    }

    #[test]
    fn each_kind_has_one_spelling() {
        for (kind, given, spelled) in [
            (ParamKind::Int { min: 1, max: 1_000_000 }, "1k", "1000"),
            (ParamKind::Int { min: 1, max: 1_000_000 }, "007", "7"),
            (ParamKind::Signed { min: -20, max: 19 }, "-20", "-20"),
            (ParamKind::Number { max: 1_000_000 }, "1.5k", "1500"),
            (ParamKind::Number { max: 1_000_000 }, "1000.0", "1000"),
            (ParamKind::Percent { max: 200 }, "50.0%", "50%"),
            (ParamKind::Seconds { max: 86_400 }, "2.5s", "2.5"),
            (ParamKind::Seconds { max: 86_400 }, "500ms", "0.5"),
            (ParamKind::Seconds { max: 86_400 }, "1m", "60"),
            (ParamKind::Seconds { max: 86_400 }, "10", "10"),
            (ParamKind::Time { max: 3600 }, "0.01s", "10ms"),
            (ParamKind::Time { max: 3600 }, "1500us", "1500us"),
            (ParamKind::FromTo { max: 100 }, "1 : 20.0", "1:20"),
            (ParamKind::Weights, " 9  0.50", "9 0.5"),
            (ParamKind::Urls, "http://a/  HTTPS://b", "http://a/ HTTPS://b"),
            (ParamKind::StoreUrl, "redis://a:1", "redis://a:1"),
            (ParamKind::Ratio { max: 1000 }, "01: 10", "1:10"),
            (ParamKind::AtPercent(&["a", "b"], 40), "b", "b@40%"),
            (ParamKind::AtPercent(&["a", "b"], 40), "a@07", "a@7%"),
            (ParamKind::Address, "0:0:0:0:0:0:0:1", "::1"),
            (ParamKind::Or("none", &ParamKind::Address), "none", "none"),
        ] {
            assert_eq!(kind.canonical(given).as_deref(), Some(spelled), "{kind:?} {given}");
        }
    }

    #[test]
    fn other_kinds_are_refused_with_what_is_wanted() {
        for (kind, given, wanted) in [
            (ParamKind::Int { min: 1, max: 9 }, "0 10 -1 1.5 x 1e99", "from 1 to 9"),
            (ParamKind::Signed { min: -20, max: 19 }, "-21 20 a", "from -20 to 19"),
            (ParamKind::Number { max: 1000 }, "abc inf nan -5 0 2k 1e999", "above 0, at most 1000"),
            (ParamKind::Percent { max: 200 }, "0% 500% -1% 50 % x% nan%", "at most 200%"),
            (ParamKind::Seconds { max: 60 }, "0 -1 61 1h soon inf nan 1us", "500ms"),
            (ParamKind::Time { max: 3600 }, "10 fast -1ms 0ms 2h", "10ms"),
            (ParamKind::FromTo { max: 100 }, "5 a:5 1:101 -1:5 0:0 nan:1", "100:5000"),
            (ParamKind::Weights, "much -1 nan", "numbers"),
            (ParamKind::Urls, "wrong ftp://a/ http:// localhost:80", "http://"),
            (ParamKind::StoreUrl, "wrong http://a/ redis:// localhost:80", "redis://"),
            (ParamKind::AtPercent(&["a", "b"], 40), "c a@ a@0% a@100% a@%", "1 to 99 %"),
            (ParamKind::Ratio { max: 100 }, "5 a:5 1:101 -1:5 0:0 1.5:1", "1:10"),
            (ParamKind::Address, "zzz localhost 1.2.3 127.0.0.1:80", "127.0.0.1"),
            (ParamKind::Or("auto", &ParamKind::Number { max: 9 }), "none abc", "at most 9, or auto"),
        ] {
            for given in given.split(' ').filter(|given| !given.is_empty()) {
                assert_eq!(kind.canonical(given), None, "{kind:?} {given}");
            }
            assert_eq!(kind.canonical(""), None);
            assert!(kind.wanted().contains(wanted), "{}", kind.wanted());
        }
    }

    #[test]
    fn files_are_known() {
        const BODY: ParamKind = ParamKind::Or("none", &ParamKind::TextOrFile);
        assert_eq!((BODY.file("none"), BODY.file("a"), BODY.file("@/x")), (None, None, Some("/x")));
        assert_eq!(ParamKind::Path.file("/x"), Some("/x"));
        assert_eq!(ParamKind::Text.file("/x"), None);
    }

    #[test]
    fn spans_are_seconds() {
        for (text, seconds) in
            [("90s", 90.0), ("1h30m", 5400.0), ("24h", 86_400.0), ("10", 10.0), ("250us", 0.000_25)]
        {
            assert_eq!(parse_span(text), Some(seconds));
        }
        for text in ["10 parsecs", "-1s", "0", "", "inf", "nan", "s", "1.2.3s"] {
            assert_eq!(parse_span(text), None, "{text}");
        }
        for (s, text) in [(0.0005, "500us"), (0.01, "10ms"), (2.0, "2s")] {
            assert_eq!(show_time(s).as_deref(), Some(text));
        }
        assert_eq!((show_time(0.0), show_time(1e9), show_time(f64::NAN)), (None, None, None));
    }
}
