//! One prefix for all the values of a column, a row or an axis.

use super::{decimals, fixed, number};
use crate::card::Card;
use crate::metric::Prefix;
use crate::unit::Unit;

/// Powers of 1000 or of 1024.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefixes {
    /// Powers of 1000: k, M, G, and m, u, n below 1.
    Decimal,
    /// Powers of 1024: Ki, Mi, Gi; no prefix below 1.
    Binary,
    /// The base unit as it is.
    None,
    /// A share, printed times 100 with `%`.
    Percent,
}

/// Unit of a column or an axis: the unit itself, the thing counted (`op` in `Mop/s`), and the prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub unit: Unit,
    pub item: &'static str,
    pub prefixes: Prefixes,
}

impl Kind {
    /// The habit of the unit: bytes in Ki, rates and times in powers of ten, temperatures and ratios bare.
    pub const fn for_unit(unit: Unit) -> Kind {
        let prefixes = match unit {
            Unit::Byte => Prefixes::Binary,
            Unit::Ratio | Unit::Celsius => Prefixes::None,
            _ => Prefixes::Decimal,
        };
        Kind { unit, item: "", prefixes }
    }

    /// As the card of the metric's instrument asks, where it is known here.
    pub fn shown(card: Option<&'static Card>, metric: &str, unit: Unit) -> Kind {
        match card.and_then(|card| card.metric(metric)) {
            Some(info) => Kind::metric(unit, info.prefix, info.per),
            None => Kind::for_unit(unit),
        }
    }

    /// As a metric's card asks: its unit, its prefixes and what it counts.
    pub const fn metric(unit: Unit, prefix: Prefix, per: &'static str) -> Kind {
        let kind = Kind::for_unit(unit).item(per);
        match (unit, prefix) {
            (Unit::Byte | Unit::BytesPerSec, Prefix::Binary) => kind.binary(),
            (Unit::Byte | Unit::BytesPerSec, Prefix::Decimal) => kind.decimal(),
            (Unit::Ratio, Prefix::Percent) => Kind::percent(),
            _ => kind,
        }
    }

    /// A share of 1, printed in per cent.
    pub const fn percent() -> Kind {
        Kind { unit: Unit::Ratio, item: "", prefixes: Prefixes::Percent }
    }

    /// The same with powers of ten, for definitions that use 10^6 (`MB`).
    #[must_use]
    pub const fn decimal(self) -> Kind {
        Kind { prefixes: Prefixes::Decimal, ..self }
    }

    /// The same with powers of 1024 (`GiB/s`).
    #[must_use]
    pub const fn binary(self) -> Kind {
        Kind { prefixes: Prefixes::Binary, ..self }
    }

    /// The same without prefixes (thread counts, hours).
    #[must_use]
    pub const fn plain(self) -> Kind {
        Kind { prefixes: Prefixes::None, ..self }
    }

    /// Names what is counted: `op` makes `Mop/s` of `M/s`.
    #[must_use]
    pub const fn item(self, item: &'static str) -> Kind {
        Kind { item, ..self }
    }
}

impl From<Unit> for Kind {
    fn from(unit: Unit) -> Kind {
        Kind::for_unit(unit)
    }
}

const DECIMAL: [(f64, &str); 9] = [
    (1e-12, "p"),
    (1e-9, "n"),
    (1e-6, "u"),
    (1e-3, "m"),
    (1.0, ""),
    (1e3, "k"),
    (1e6, "M"),
    (1e9, "G"),
    (1e12, "T"),
];
/// Seconds, counts and rates never go beyond these; seconds have no `ks`.
const KIB: f64 = 1024.0;
const BINARY: [(f64, &str); 5] =
    [(1.0, ""), (KIB, "Ki"), (KIB * KIB, "Mi"), (KIB * KIB * KIB, "Gi"), (KIB * KIB * KIB * KIB, "Ti")];

/// One factor and one unit label for a whole column, row or axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Base units are divided by this.
    pub divisor: f64,
    /// Unit for the heading: `MB/s`, `ns`, `%`; empty for a bare count or ratio.
    pub unit: String,
    /// A value is so large that it is written with a power of ten; the others are then, too.
    powers: bool,
}

impl Scale {
    /// The scale that all these values share. The smallest magnitude should be at least 1; where that
    /// would make the largest longer than five digits, the largest decides.
    pub fn common(values: &[f64], kind: Kind) -> Scale {
        let mut low = f64::INFINITY;
        let mut high = 0.0_f64;
        for size in values.iter().map(|v| v.abs()).filter(|v| v.is_finite() && *v > 0.0) {
            low = low.min(size);
            high = high.max(size);
        }
        if high == 0.0 {
            return Scale::new(1.0, "", kind);
        }
        let steps = steps(kind);
        let by_low = pick(steps, low);
        let (divisor, prefix) = if high / by_low.0 < 1e5 { by_low } else { pick(steps, high) };
        let scale = Scale::new(divisor, prefix, kind);
        Scale { powers: high / scale.divisor >= super::POWERS, ..scale }
    }

    fn new(divisor: f64, prefix: &str, kind: Kind) -> Scale {
        let divisor = if kind.prefixes == Prefixes::Percent { 0.01 } else { divisor };
        Scale { divisor, unit: label(prefix, kind), powers: false }
    }

    /// The value in this scale, without the unit: `1,912`, `5.61`, `-` when there is none.
    pub fn number(&self, value: f64) -> String {
        let scaled = value / self.divisor;
        if self.powers && scaled.is_finite() && scaled != 0.0 {
            format!("{scaled:.2e}")
        } else {
            number(scaled)
        }
    }

    /// With the unit: `92.4 ns`, `142 /s`.
    pub fn with_unit(&self, value: f64) -> String {
        match self.unit.as_str() {
            _ if value == f64::INFINITY => super::OVER.to_owned(),
            _ if !value.is_finite() => "-".to_owned(),
            "" => self.number(value),
            // A heading needs the 1; behind a number it would read as a factor.
            "1/s" => format!("{} /s", self.number(value)),
            unit => format!("{} {unit}", self.number(value)),
        }
    }

    /// With the unit, in two significant digits: for what is not known more closely.
    pub fn roughly(&self, value: f64) -> String {
        let scaled = value / self.divisor;
        match self.unit.as_str() {
            unit if value.is_finite()
                && scaled != 0.0
                && !self.powers
                && !unit.is_empty()
                && unit != "1/s" =>
            {
                let places = 1 - scaled.abs().log10().floor() as i32;
                let tens = 10f64.powi(places);
                let rounded = (scaled * tens).round() / tens;
                format!("{} {unit}", super::fixed(rounded, usize::try_from(places).unwrap_or(0)))
            }
            _ => self.with_unit(value),
        }
    }

    /// The two ends with the same number of decimals, enough to tell them apart: `1,905 - 1,918`. `None` where they are
    /// so far apart that they tell nothing: it is not known.
    pub fn interval(&self, low: f64, high: f64) -> Option<(String, String)> {
        if low > 0.0 && high.is_finite() && !super::tells(low, high) {
            return None;
        }
        Some(self.ends(low, high))
    }

    fn ends(&self, low: f64, high: f64) -> (String, String) {
        let (low, high) = (low / self.divisor, high / self.divisor);
        if !low.is_finite() || !high.is_finite() {
            return (number(low), number(high));
        }
        let first = decimals(low.abs().max(high.abs()));
        let enough = (first..=first + 2).find(|d| low == high || fixed(low, *d) != fixed(high, *d));
        let places = enough.unwrap_or(first);
        (fixed(low, places), fixed(high, places))
    }

    /// [`Scale::interval`] as one text, with the unit.
    pub fn interval_text(&self, low: f64, high: f64) -> String {
        let Some((low, high)) = self.interval(low, high) else { return super::NOT_KNOWN.to_owned() };
        match self.unit.as_str() {
            "" => format!("{low} to {high}"),
            // As in `with_unit`.
            "1/s" => format!("{low} to {high} /s"),
            unit => format!("{low} to {high} {unit}"),
        }
    }

    /// The unit label for a terminal that may not show `°`.
    pub fn ascii_unit(&self) -> String {
        self.unit.replace('°', "deg ")
    }
}

fn steps(kind: Kind) -> &'static [(f64, &'static str)] {
    match (kind.prefixes, kind.unit) {
        (Prefixes::None | Prefixes::Percent, _) => &DECIMAL[4..5],
        (Prefixes::Binary, _) => &BINARY,
        // There is no ks, and a kilosecond would help nobody.
        (Prefixes::Decimal, Unit::Second) => &DECIMAL[..5],
        // Whole things do not come in thousandths, and `m/s` is no rate.
        (Prefixes::Decimal, Unit::Count | Unit::Byte | Unit::PerSec | Unit::BytesPerSec) => &DECIMAL[4..],
        (Prefixes::Decimal, _) => &DECIMAL[3..],
    }
}

/// The largest step that leaves at least 1, allowing for rounding at the edge; else the smallest step.
fn pick<'a>(steps: &[(f64, &'a str)], size: f64) -> (f64, &'a str) {
    let fits = steps.iter().rev().find(|(divisor, _)| size / divisor >= 0.999_5);
    fits.or(steps.first()).copied().unwrap_or((1.0, ""))
}

fn label(prefix: &str, kind: Kind) -> String {
    let item = kind.item;
    match (kind.prefixes, kind.unit) {
        (Prefixes::Percent, _) => "%".to_owned(),
        (_, Unit::Second) => format!("{prefix}s"),
        (_, Unit::Byte) => format!("{prefix}B"),
        (_, Unit::Count) => format!("{prefix}{item}"),
        (_, Unit::Ratio) => item.to_owned(),
        (_, Unit::Watt) => format!("{prefix}W"),
        (_, Unit::Joule) => format!("{prefix}J"),
        (_, Unit::Celsius) => "°C".to_owned(),
        (_, Unit::Hertz) => format!("{prefix}Hz"),
        (_, Unit::BytesPerSec) => format!("{prefix}B/s"),
        (_, Unit::PerSec) if prefix.is_empty() && item.is_empty() => "1/s".to_owned(),
        (_, Unit::PerSec) => format!("{prefix}{item}/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate() -> Kind {
        Kind::for_unit(Unit::PerSec)
    }

    #[test]
    fn a_row_shares_one_scale() {
        let scale = Scale::common(&[548e6, 4.02e9], Kind::for_unit(Unit::BytesPerSec));
        assert_eq!(
            (scale.unit.as_str(), scale.number(548e6), scale.number(4.02e9)),
            ("MB/s", "548".into(), "4,020".into())
        );
        let scale = Scale::common(&[92.4e-9, 91.8e-9], Kind::for_unit(Unit::Second));
        assert_eq!(scale.with_unit(92.4e-9), "92.4 ns");
        let scale = Scale::common(&[912e6, 14.31e9], rate().item("op"));
        assert_eq!((scale.unit.as_str(), scale.number(14.31e9)), ("Mop/s", "14,310".into()));
        assert_eq!(Scale::common(&[118e3], rate()).unit, "k/s");
        assert_eq!(Scale::common(&[2e-6], Kind::for_unit(Unit::Second)).ascii_unit(), "us");
    }

    #[test]
    fn one_power_of_ten_is_enough_for_all() {
        let scale = Scale::common(&[997_500_000.0, 1.33e9], Kind::for_unit(Unit::Second));
        assert_eq!((scale.number(997_500_000.0), scale.number(1.33e9)), ("9.98e8".into(), "1.33e9".into()));
        assert_eq!(scale.number(0.0), "0");
    }

    #[test]
    fn intervals_are_told_apart() {
        let scale = Scale::common(&[5.61e9], Kind::for_unit(Unit::BytesPerSec));
        assert_eq!(scale.interval_text(5.6e9, 5.62e9), "5.60 to 5.62 GB/s");
        assert_eq!(scale.interval(5.6111e9, 5.6139e9), Some(("5.611".into(), "5.614".into())));
        assert_eq!(scale.interval(f64::NAN, 5.6e9).unwrap().0, "-");
        // Ends so far apart tell nothing.
        assert_eq!(scale.interval(1e-3, 1e9), None);
        assert_eq!(scale.interval_text(7e-14, 5e20), "not known");
        assert_eq!(scale.interval_text(0.0, 1e9), "0.00 to 1.00 GB/s");
        assert_eq!(Scale::common(&[67.2], rate()).interval_text(67.1, 67.3), "67.1 to 67.3 /s");
    }

    proptest! {
        #[test]
        fn a_scale_keeps_order(mut values in proptest::collection::vec(1e-12..1e15_f64, 2..8)) {
            values.sort_by(f64::total_cmp);
            let scale = Scale::common(&values, rate());
            let (low, high) = scale.ends(values[0], values[1]);
            let parse = |t: &str| t.replace(',', "").parse::<f64>().unwrap();
            prop_assert!(parse(&low) <= parse(&high));
        }
    }
}
