//! Amounts as they are written: `0.20..0.40`, `4y`, `60%`, `5%/month`, prices such as `0.19/h` and `1200/y`.
//!
//! Nothing is negative, and nothing is NaN or infinite.

use crate::need::{Ranged, parse_share};
use crate::params::parse_span;

pub const SECONDS_A_YEAR: f64 = 8766.0 * 3600.0;
pub const SECONDS_A_MONTH: f64 = SECONDS_A_YEAR / 12.0;
/// A demand that has grown so many times is no forecast.
pub const MOST_GROWTH: f64 = 1e9;
/// Money and watts beyond this are a slip; sums of them stay exact enough.
const MOST: f64 = 1e15;

/// A number, or the two ends of a range: `0.3`, `0.20..0.40`.
pub fn parse_range(text: &str) -> Option<Ranged> {
    range(text, |end| end.trim().parse().ok())
}

fn range(text: &str, read: impl Fn(&str) -> Option<f64>) -> Option<Ranged> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let end = |text: &str| read(text).filter(|value| (0.0..MOST).contains(value));
    let (low, high) = (end(low)?, end(high)?);
    (low <= high).then_some(Ranged { low, high })
}

/// A share above 0, up to 1, or a range of shares: `60%`, `50..70%`, `0.6`.
pub fn parse_utilisation(text: &str) -> Option<Ranged> {
    shares(text).filter(|share| share.low > 0.0 && share.high <= 1.0)
}

/// Shares whose first end may leave out the `%` of the second.
fn shares(text: &str) -> Option<Ranged> {
    let is_percent = text.trim_end().ends_with('%');
    range(text, |end| match is_percent && !end.trim_end().ends_with('%') {
        true => parse_share(&format!("{end}%")),
        false => parse_share(end),
    })
}

const DAY_S: f64 = 86_400.0;

/// Seconds of `4y`, `18 months`, `365d`; a day at least.
pub fn parse_life(text: &str) -> Option<f64> {
    let text = text.trim();
    let units = [
        ("years", SECONDS_A_YEAR),
        ("year", SECONDS_A_YEAR),
        ("y", SECONDS_A_YEAR),
        ("months", SECONDS_A_MONTH),
        ("month", SECONDS_A_MONTH),
    ];
    let unit = units.iter().find_map(|(word, seconds)| Some((text.strip_suffix(word)?, seconds)));
    let seconds = match unit {
        Some((number, seconds)) => number.trim().parse::<f64>().ok()? * seconds,
        None if text.parse::<f64>().is_ok() => return None,
        None => parse_span(text)?,
    };
    // A box does not live for minutes: `1m` is a slip for a month.
    (DAY_S..1e3 * SECONDS_A_YEAR).contains(&seconds).then_some(seconds)
}

/// A demand that grows by a share in each period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    pub share: Ranged,
    pub period_s: f64,
}

/// `5%/month`, `3..6%/month`, `40%/y`.
pub fn parse_growth(text: &str) -> Option<Growth> {
    let (share, period) = text.split_once('/')?;
    let period_s = match period.trim() {
        "day" | "d" => 86_400.0,
        "week" | "w" => 7.0 * 86_400.0,
        "month" => SECONDS_A_MONTH,
        "quarter" => 3.0 * SECONDS_A_MONTH,
        "year" | "y" => SECONDS_A_YEAR,
        _ => return None,
    };
    Some(Growth { share: shares(share.trim())?, period_s })
}

impl Growth {
    /// The factor after a time; `None` beyond [`MOST_GROWTH`].
    pub fn over(self, seconds: f64) -> Option<Ranged> {
        let factor = |share: f64| (1.0 + share).powf(seconds / self.period_s);
        let grown = Ranged { low: factor(self.share.low), high: factor(self.share.high) };
        (grown.high <= MOST_GROWTH).then_some(grown)
    }
}

/// The share of a circuit's fuse that a load may take which stays for hours, as electrical codes have it.
pub const CONTINUOUS: f64 = 0.8;

/// A circuit that feeds boxes: the watts that it carries all the time, and the fuse that they were worked out from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circuit {
    pub watts: f64,
    pub fuse: Option<Fuse>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fuse {
    pub volts: f64,
    pub amperes: f64,
}

/// `230V/16A`, of which [`CONTINUOUS`] counts, or the watts themselves: `3000W`, `3kW`, `3000`.
pub fn parse_circuit(text: &str) -> Option<Circuit> {
    let above_0 = |text: &str| text.trim().parse().ok().filter(|value: &f64| *value > 0.0 && *value < MOST);
    let Some((volts, amperes)) = text.split_once('/') else {
        let text = text.trim();
        let (number, factor) = match text.strip_suffix("kW") {
            Some(number) => (number, 1e3),
            None => (text.strip_suffix('W').unwrap_or(text), 1.0),
        };
        return Some(Circuit { watts: above_0(number)? * factor, fuse: None });
    };
    let volts = above_0(volts.trim().strip_suffix('V')?)?;
    let amperes = above_0(amperes.trim().strip_suffix('A')?)?;
    let watts = volts * amperes * CONTINUOUS;
    Some(Circuit { watts, fuse: Some(Fuse { volts, amperes }) })
}

/// The losses of several boxes together: contention, and coherence behind a colon. Both are from 0 on and below 1:
/// `0.03`, `0.02..0.04:0.001`, `3%`.
pub fn parse_loss(text: &str) -> Option<(Ranged, Ranged)> {
    let (sigma, kappa) = text.split_once(':').unwrap_or((text, "0"));
    let loss = |text: &str| shares(text.trim()).filter(|loss| loss.high < 1.0);
    loss(sigma).zip(loss(kappa))
}

/// The time for which a price pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// Bought.
    Once,
    Hour,
    Month,
    Year,
}

impl Term {
    pub const fn suffix(self) -> &'static str {
        match self {
            Term::Once => "",
            Term::Hour => "/h",
            Term::Month => "/month",
            Term::Year => "/y",
        }
    }

    /// Seconds that one payment pays for; `None` of a purchase.
    pub const fn seconds(self) -> Option<f64> {
        match self {
            Term::Once => None,
            Term::Hour => Some(3600.0),
            Term::Month => Some(SECONDS_A_MONTH),
            Term::Year => Some(SECONDS_A_YEAR),
        }
    }

    /// The factor that makes an hourly price of one payment; `None` of a purchase.
    pub fn per_hour(self) -> Option<f64> {
        self.seconds().map(|seconds| 3600.0 / seconds)
    }
}

/// A price as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceText {
    pub amount: Ranged,
    pub term: Term,
}

/// `429`, `2000..2500`, `2000-2500`, `0.19/h`, `0.05..0.19/h`, `35/month`, `1200/y`. Above 0.
pub fn parse_price(text: &str) -> Option<PriceText> {
    let (amount, term) = match text.split_once('/') {
        None => (text, Term::Once),
        Some((amount, per)) => match per.trim() {
            "h" | "hour" => (amount, Term::Hour),
            "month" => (amount, Term::Month),
            "y" | "year" => (amount, Term::Year),
            _ => return None,
        },
    };
    let amount = parse_range(amount).or_else(|| {
        let (low, high) = amount.split_once('-')?;
        parse_range(&format!("{low}..{high}"))
    })?;
    (amount.low > 0.0).then_some(PriceText { amount, term })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prices_are_bought_or_rented() {
        let cases = [
            ("429", 429.0, 429.0, Term::Once),
            ("2000..2500", 2000.0, 2500.0, Term::Once),
            ("2000-2500", 2000.0, 2500.0, Term::Once),
            ("0.19/h", 0.19, 0.19, Term::Hour),
            ("0.05..0.19/h", 0.05, 0.19, Term::Hour),
            ("35/month", 35.0, 35.0, Term::Month),
            ("1200/y", 1200.0, 1200.0, Term::Year),
        ];
        for (text, low, high, term) in cases {
            assert_eq!(parse_price(text), Some(PriceText { amount: Ranged { low, high }, term }), "{text}");
        }
        for text in
            ["", "-5", "nan", "inf", "0", "0..3", "5..4", "5-4", "1/fortnight", "1e99", "3 EUR", "-1..2"]
        {
            assert_eq!(parse_price(text), None, "{text}");
        }
    }

    #[test]
    fn shares_and_times_are_within_bounds() {
        assert_eq!(parse_utilisation("60%"), Some(Ranged::point(0.6)));
        assert_eq!(parse_utilisation("50..70%"), Some(Ranged { low: 0.5, high: 0.7 }));
        for text in ["0%", "101%", "1.01", "-5%", "nan", "80..70%", ""] {
            assert_eq!(parse_utilisation(text), None, "{text}");
        }
        assert_eq!(parse_life("4y"), Some(4.0 * SECONDS_A_YEAR));
        assert_eq!(parse_life("18 months"), Some(1.5 * SECONDS_A_YEAR));
        assert_eq!(parse_life("365d"), Some(365.0 * 86_400.0));
        for text in ["", "4", "-1y", "nany", "1e9y", "0y", "y"] {
            assert_eq!(parse_life(text), None, "{text}");
        }
    }

    #[test]
    fn circuits_and_losses_are_within_bounds() {
        let watts = |text: &str| parse_circuit(text).map(|circuit| circuit.watts.round());
        assert_eq!([watts("230V/16A"), watts("120 V / 20 A")], [Some(2_944.0), Some(1_920.0)]);
        assert_eq!([watts("3000W"), watts("3kW"), watts("3000")], [Some(3_000.0); 3]);
        for text in ["", "16A", "230V", "230/16", "0V/16A", "-230V/16A", "nanW", "infW", "230V/16A/2"] {
            assert_eq!(parse_circuit(text), None, "{text}");
        }
        let (point, none) = (Ranged::point(0.03), Ranged::point(0.0));
        assert_eq!(parse_loss("0.03"), Some((point, none)));
        assert_eq!(parse_loss("3%:0.001"), Some((point, Ranged::point(0.001))));
        assert_eq!(parse_loss("0.02..0.04:0"), Some((Ranged { low: 0.02, high: 0.04 }, none)));
        for text in ["", "1", "-0.1", "0.1:", "0.1:1", "nan", "0.2..0.1", "a=b", "0.1:0:0"] {
            assert_eq!(parse_loss(text), None, "{text}");
        }
    }

    #[test]
    fn growth_compounds_and_does_not_overflow() {
        let growth = parse_growth("5%/month").unwrap();
        let factor = growth.over(3.0 * SECONDS_A_YEAR).unwrap().low;
        assert!((factor - 1.05f64.powi(36)).abs() < 1e-9, "{factor}");
        assert_eq!(parse_growth("3..6%/month").unwrap().share, Ranged { low: 0.03, high: 0.06 });
        assert_eq!(parse_growth("900%/day").unwrap().over(4.0 * SECONDS_A_YEAR), None);
        for text in ["5%", "5%/fortnight", "-5%/month", "nan/month", ""] {
            assert_eq!(parse_growth(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_gives_an_amount_that_is_none(text in "[-0-9.%/a-z ]{0,14}") {
            if let Some(price) = parse_price(&text) {
                prop_assert!(price.amount.low > 0.0 && price.amount.high.is_finite());
            }
            if let Some(range) = parse_range(&text) {
                prop_assert!(range.low >= 0.0 && range.low <= range.high);
            }
            if let Some(growth) = parse_growth(&text) {
                prop_assert!(growth.over(SECONDS_A_YEAR).is_none_or(|factor| factor.low >= 1.0));
            }
            if let Some(life) = parse_life(&text) {
                prop_assert!(life > 0.0 && life.is_finite());
            }
        }
    }
}
