//! Axes: from a domain of values to pixels, with ticks at round numbers and labels in one unit.
//!
//! Domains are in base units; labels are scaled at the exit by `number`. A logarithmic axis that spans
//! more than four decades labels each tick with its own prefix (`4 KiB ... 32 MiB`), since no single
//! scale could. Values that are not finite, or not positive on a logarithmic axis, never reach an axis:
//! the figure counts and reports them.

mod clock;

use model::format::{self, Kind, Prefixes, Scale};
use model::unit::Unit;

/// How values map to the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Linear,
    /// Powers of ten.
    Log,
    /// Powers of two: sizes and thread counts.
    Log2,
}

/// The axis that a figure asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisSpec {
    /// The quantity of the axis; the unit is appended.
    pub title: String,
    pub kind: Kind,
    pub form: Form,
    /// A linear axis starts at 0.
    pub zero: bool,
    /// A linear axis ends at its values, not at the next tick.
    pub tight: bool,
    /// A linear axis of time whose ticks are clock times: seconds since 1970 at its 0, as the clock showed them.
    pub clock: Option<f64>,
}

impl AxisSpec {
    pub fn new(title: impl Into<String>, kind: Kind) -> AxisSpec {
        AxisSpec { title: title.into(), kind, form: Form::Linear, zero: false, tight: false, clock: None }
    }
    #[must_use]
    pub fn log(self) -> AxisSpec {
        AxisSpec { form: Form::Log, ..self }
    }
    #[must_use]
    pub fn log2(self) -> AxisSpec {
        AxisSpec { form: Form::Log2, ..self }
    }
    #[must_use]
    pub fn from_zero(self) -> AxisSpec {
        AxisSpec { zero: true, ..self }
    }
    /// Values are seconds since this moment.
    #[must_use]
    pub fn clock(self, start: f64) -> AxisSpec {
        AxisSpec { clock: Some(start), ..self }
    }
    #[must_use]
    pub fn tight(self) -> AxisSpec {
        AxisSpec { tight: true, ..self }
    }
    /// Can this value be drawn on the axis at all?
    pub fn takes(&self, value: f64) -> bool {
        value.is_finite() && value.abs() < 1e200 && (self.form == Form::Linear || value > 1e-200)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub label: String,
}

/// A fitted axis. `at` gives pixels between `from` (the low end) and `to`.
#[derive(Clone, Debug)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
    pub form: Form,
    pub major: Vec<Tick>,
    pub minor: Vec<f64>,
    /// For tooltips and tables.
    pub scale: Scale,
    /// `title (unit)`.
    pub title: String,
    /// As in [`AxisSpec::clock`].
    pub clock: Option<f64>,
}

impl Axis {
    /// Fits an axis to the values it takes; without any, a unit domain.
    pub fn fit(spec: &AxisSpec, values: impl Iterator<Item = f64>, from: f64, to: f64, most: usize) -> Axis {
        let (low, high) = extent(values.filter(|v| spec.takes(*v))).unwrap_or(match spec.form {
            Form::Linear => (0.0, 1.0),
            Form::Log | Form::Log2 => (1.0, 10.0),
        });
        let most = most.max(2);
        let (low, high, major) = match (spec.form, spec.clock) {
            (_, Some(start)) => clock::domain(low, high, start, most),
            (Form::Linear, _) => linear_domain(low, high, spec, most),
            (Form::Log | Form::Log2, _) => log_domain(low, high, spec.form, most),
        };
        let minor = minors(spec.form, low, high, &major);
        let mut axis = Axis {
            low,
            high,
            from,
            to,
            form: spec.form,
            scale: Scale::common(&scale_basis(&major, low, high), spec.kind),
            major: Vec::new(),
            minor,
            title: String::new(),
            clock: spec.clock,
        };
        axis.major = match spec.clock {
            Some(start) => clock::labels(&major, start),
            None => axis.labels(&major, spec.kind),
        };
        axis.title = if spec.clock.is_some() { spec.title.clone() } else { axis.heading(spec) };
        axis
    }

    /// A value in a table or a tooltip.
    pub fn text(&self, value: f64) -> String {
        self.clocked(value).unwrap_or_else(|| self.scale.number(value))
    }

    /// The same as a clock shows it, on an axis of time.
    pub fn clocked(&self, value: f64) -> Option<String> {
        let at = model::format::Moment::at(self.clock? + value)?;
        Some(format!("{} {}", at.date(), at.time()))
    }

    /// Does each tick carry its own prefix?
    fn mixed(&self) -> bool {
        self.form != Form::Linear && self.high / self.low > 1e4
    }

    fn heading(&self, spec: &AxisSpec) -> String {
        let unit = if self.mixed() { "" } else { self.scale.unit.as_str() };
        match (spec.title.is_empty(), unit.is_empty()) {
            (true, _) => unit.to_owned(),
            (false, true) => spec.title.clone(),
            (false, false) => format!("{} ({unit})", spec.title),
        }
    }

    fn labels(&self, values: &[f64], kind: Kind) -> Vec<Tick> {
        let places = decimals_of(values, self.scale.divisor);
        // Ticks may lie so close that the usual digits do not tell them apart: then more are shown.
        let texts = |extra| values.iter().map(|v| self.label(*v, kind, places, extra)).collect::<Vec<_>>();
        let apart = |texts: &Vec<String>| texts.windows(2).all(|pair| pair[0] != pair[1]);
        let texts = (0..=12).map(texts).find(apart).unwrap_or_else(|| texts(12));
        values.iter().zip(texts).map(|(value, label)| Tick { value: *value, label }).collect()
    }

    /// One tick's label, with `extra` digits beyond the usual ones.
    fn label(&self, value: f64, kind: Kind, places: usize, extra: usize) -> String {
        if self.mixed() && kind.prefixes != Prefixes::None {
            let own = Scale::common(&[value], kind);
            let unit = if own.unit.is_empty() { String::new() } else { format!(" {}", own.unit) };
            return format!("{}{unit}", short(value / own.divisor));
        }
        let scaled = value / self.scale.divisor;
        match self.form {
            _ if scaled != 0.0 && !(1e-4..1e7).contains(&scaled.abs()) => scientific(scaled, 3 + extra),
            Form::Linear => format::fixed(scaled, places + extra),
            Form::Log | Form::Log2 if extra == 0 => short(scaled),
            Form::Log | Form::Log2 => format::fixed(scaled, places.max(extra)),
        }
    }

    /// Pixels of a value, held inside the axis.
    pub fn at(&self, value: f64) -> f64 {
        let share = match self.form {
            Form::Linear => (value - self.low) / (self.high - self.low),
            Form::Log | Form::Log2 => {
                (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
            }
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.from + share * (self.to - self.from)
    }
}

/// Smallest and largest of the finite values.
pub fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite()).fold(None, |seen, v| match seen {
        None => Some((v, v)),
        Some((low, high)) => Some((low.min(v), high.max(v))),
    })
}

/// The scale of an axis follows its ticks, not the padding at its ends.
fn scale_basis(major: &[f64], low: f64, high: f64) -> Vec<f64> {
    let top = major.iter().copied().fold(0.0_f64, |a, v| a.max(v.abs()));
    if top > 0.0 { vec![top] } else { vec![low, high] }
}

/// Trailing zeros off: `0.5`, `20`, `1,000`.
fn short(value: f64) -> String {
    let text = format::number(value);
    if !text.contains('.') || text.contains('e') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `2.5e111`: at most `places` decimals.
fn scientific(value: f64, places: usize) -> String {
    let text = format!("{value:.places$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn decimals_of(values: &[f64], divisor: f64) -> usize {
    let close = |v: f64, d: i32| {
        let shifted = v / divisor * 10f64.powi(d);
        (shifted - shifted.round()).abs() < 1e-6 * shifted.abs().max(1e-3)
    };
    (0..=8).find(|d| values.iter().all(|v| close(*v, *d))).unwrap_or(8) as usize
}

/// The step 1, 2 or 5 (25; 4 or 8 for whole things) times a power of ten that gives at most `most` intervals.
fn nice_step(span: f64, most: usize, whole: bool) -> f64 {
    let rough = span / most as f64;
    let power = 10f64.powf(rough.log10().floor());
    // Threads come in fours; a quarter only where it needs no decimal of its own.
    let units: &[f64] = match (whole, power >= 10.0) {
        (true, _) => &[1.0, 2.0, 4.0, 8.0],
        (false, true) => &[1.0, 2.0, 2.5, 5.0],
        (false, false) => &[1.0, 2.0, 5.0],
    };
    let unit = units.iter().copied().find(|u| u * power >= rough * 0.999_999).unwrap_or(10.0);
    if whole { (unit * power).max(1.0) } else { unit * power }
}

/// Multiples of `step` inside the domain.
fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    if !(step > 0.0 && step.is_finite()) {
        return Vec::new();
    }
    let slack = step * 1e-6;
    let first = ((low - slack) / step).ceil();
    let ticks = (0..64).map(|i| (first + f64::from(i)) * step).take_while(|v| *v <= high + slack);
    let near_zero = |v: f64| if v.abs() < slack { 0.0 } else { v };
    let mut ticks: Vec<f64> = ticks.map(|v| near_zero(v).clamp(low, high)).collect();
    ticks.dedup();
    ticks
}

/// Multiples between ends that stay as they are. The usual step may leave none or only one there: then a finer one.
fn inside(low: f64, high: f64, most: usize, step: impl Fn(usize) -> f64) -> Vec<f64> {
    let ways: Vec<_> = (most..=3 * most).map(|most| multiples(low, high, step(most))).collect();
    let two = ways.iter().find(|ticks| (2..=most + 2).contains(&ticks.len()));
    two.or_else(|| ways.iter().find(|ticks| !ticks.is_empty())).cloned().unwrap_or_default()
}

fn linear_domain(low: f64, high: f64, spec: &AxisSpec, most: usize) -> (f64, f64, Vec<f64>) {
    let (mut low, mut high) = (low, high);
    if spec.zero {
        low = low.min(0.0);
        high = high.max(0.0);
    }
    // All equal, or equal but for rounding: show some room around.
    let size = low.abs().max(high.abs());
    if high - low <= size * 1e-9 {
        let room = if size == 0.0 { 1.0 } else { size * 0.05 };
        (low, high) = if spec.zero && low == 0.0 { (0.0, room) } else { (low - room, high + room) };
    }
    let whole = spec.kind.unit == Unit::Count && spec.kind.prefixes == Prefixes::None;
    // Round in the unit that is shown: Gi is no power of ten.
    let unit = match spec.kind.prefixes {
        Prefixes::Binary => Scale::common(&[low.abs().max(high.abs())], spec.kind).divisor,
        _ => 1.0,
    };
    let step = |most| nice_step((high - low) / unit, most, whole) * unit;
    if spec.tight {
        return (low, high, inside(low, high, most, step));
    }
    let step = step(most);
    let (low, high) = padded(low, high, step);
    (low, high, multiples(low, high, step))
}

/// The domain out to the next multiples of `step`, unless one lies there already but for rounding.
fn padded(low: f64, high: f64, step: f64) -> (f64, f64) {
    (low.min((low / step + 1e-6).floor() * step), high.max((high / step - 1e-6).ceil() * step))
}

fn log_domain(low: f64, high: f64, form: Form, most: usize) -> (f64, f64, Vec<f64>) {
    let (mut low, mut high) = (low, high);
    if high / low < 1.02 {
        (low, high) = (low / 1.05, high * 1.05);
    }
    let base = if form == Form::Log2 { 2.0 } else { 10.0 };
    let span = (high / low).log(base);
    if form == Form::Log2 && span >= 1.0 {
        let every = (span / (most as f64)).ceil().max(1.0);
        let ticks = powers(base, low, high, every);
        return (low, high, ticks);
    }
    if (high / low).log10() < 0.8 {
        // Less than a decade: round numbers at even steps, placed logarithmically.
        let step = nice_step(high - low, most, false);
        let (from, to) = padded(low, high, step);
        if from > 0.0 {
            return (from, to, multiples(from, to, step));
        }
        // 0 has no place here.
        return (low, high, inside(low, high, most, |most| nice_step(high - low, most, false)));
    }
    let (low, high) = (low / 1.08, high * 1.08);
    let decades = (high / low).log10();
    let fine = [vec![1.0, 2.0, 5.0], vec![1.0, 3.0]].into_iter().find_map(|units| {
        let ticks = decade_ticks(low, high, &units);
        (ticks.len() <= most + 1 && ticks.len() >= 2).then_some(ticks)
    });
    let ticks = fine.unwrap_or_else(|| powers(10.0, low, high, (decades / most as f64).ceil().max(1.0)));
    (low, high, ticks)
}

/// Every `every`-th power of the base inside the domain.
fn powers(base: f64, low: f64, high: f64, every: f64) -> Vec<f64> {
    let first = (low.log(base) / every - 1e-9).ceil();
    (0..64)
        .map(|i| base.powf((first + f64::from(i)) * every))
        .take_while(|v| *v <= high * (1.0 + 1e-9))
        .map(|v| v.clamp(low, high))
        .collect()
}

fn decade_ticks(low: f64, high: f64, units: &[f64]) -> Vec<f64> {
    let (first, last) = (low.log10().floor(), high.log10().ceil());
    if last - first > 40.0 {
        return Vec::new();
    }
    let mut ticks = Vec::new();
    let mut power = first;
    while power <= last {
        // A division keeps 10^-7 exact where a product would not.
        let unit = |u: f64| if power < 0.0 { u / 10f64.powf(-power) } else { u * 10f64.powf(power) };
        ticks.extend(units.iter().map(|u| unit(*u)).filter(|v| (low..=high).contains(v)));
        power += 1.0;
    }
    ticks
}

/// Light lines between the labelled ones.
fn minors(form: Form, low: f64, high: f64, major: &[f64]) -> Vec<f64> {
    let candidates = match form {
        Form::Linear => return Vec::new(),
        Form::Log2 => powers(2.0, low, high, 1.0),
        Form::Log if (high / low).log10() > 12.0 => return Vec::new(),
        Form::Log => decade_ticks(low, high, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
    };
    candidates.into_iter().filter(|c| !major.iter().any(|m| (m / c - 1.0).abs() < 1e-6)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axis(spec: &AxisSpec, values: &[f64]) -> Axis {
        Axis::fit(spec, values.iter().copied(), 0.0, 400.0, 6)
    }
    fn labels(axis: &Axis) -> Vec<&str> {
        axis.major.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn round_numbers_in_one_unit() {
        let got = axis(&AxisSpec::new("latency", Kind::for_unit(Unit::Second)), &[0.3e-6, 94e-9]);
        assert_eq!(got.title, "latency (ns)");
        assert_eq!(labels(&got), ["50", "100", "150", "200", "250", "300"]);
        let got = axis(&AxisSpec::new("rate", Kind::for_unit(Unit::PerSec)).from_zero(), &[0.0, 4.1e6]);
        assert_eq!(labels(&got), ["0", "1", "2", "3", "4", "5"]);
    }

    #[test]
    fn logarithmic_sizes() {
        let got = axis(&AxisSpec::new("size", Kind::for_unit(Unit::Byte)).log2(), &[4096.0, 67_108_864.0]);
        assert_eq!(labels(&got), ["4 KiB", "32 KiB", "256 KiB", "2 MiB", "16 MiB"]);
        let got = axis(&AxisSpec::new("ratio", Kind::for_unit(Unit::Ratio)).log(), &[0.8, 1.6]);
        assert_eq!(labels(&got), ["0.8", "1", "1.2", "1.4", "1.6"]);
        let got = axis(&AxisSpec::new("latency", Kind::for_unit(Unit::Second)).log(), &[1e-6, 2.0]);
        assert_eq!(labels(&got)[0], "1 us");
    }

    #[test]
    fn equal_and_missing_values_still_make_an_axis() {
        for values in [&[][..], &[5.0][..], &[0.0, 0.0][..], &[f64::NAN][..], &[1e300][..], &[-3.0, -3.0][..]]
        {
            for form in [Form::Linear, Form::Log, Form::Log2] {
                let spec = AxisSpec { form, ..AxisSpec::new("x", Kind::for_unit(Unit::Count)) };
                let got = axis(&spec, values);
                assert!(got.high > got.low, "{values:?} {form:?}");
                assert!(got.at(5.0).is_finite());
            }
        }
    }

    #[test]
    fn close_ticks_are_told_apart() {
        let ends =
            [(121.7, 124.3), (7.4506e13, 7.4514e13), (1_234_567.1, 1_234_568.3), (5.000_000_1, 5.000_000_2)];
        for (low, high) in ends {
            for form in [Form::Linear, Form::Log] {
                let spec = AxisSpec { form, ..AxisSpec::new("x", Kind::for_unit(Unit::Second)) };
                let got = axis(&spec, &[low, high]);
                assert!(got.major.windows(2).all(|pair| pair[0].label != pair[1].label), "{got:?}");
            }
        }
        let spec = AxisSpec::new("x", Kind::for_unit(Unit::Second));
        assert_eq!(labels(&axis(&spec, &[7.4506e13, 7.4514e13]))[..2], ["7.4506e13", "7.4508e13"]);
    }

    #[test]
    fn an_axis_that_ends_at_its_values_has_no_tick_beyond_them() {
        let got = axis(&AxisSpec::new("x", Kind::for_unit(Unit::Second)).tight(), &[1.0, 1e9]);
        assert!(got.major.iter().all(|tick| (1.0..=1e9).contains(&tick.value)), "{got:?}");
    }

    #[test]
    fn an_axis_with_room_for_two_ticks_has_two() {
        let fit = |spec: &AxisSpec, ends: [f64; 2]| Axis::fit(spec, ends.into_iter(), 0.0, 400.0, 2);
        let spec = AxisSpec::new("x", Kind::for_unit(Unit::Second));
        // The usual steps, 5 s and 5 ms, leave none and one.
        let got = fit(&spec.clone().log(), [0.768_873, 4.8439]);
        assert_eq!(labels(&got), ["2", "4"]);
        let got = fit(&spec.clone().log(), [0.004_06, 0.008_1]);
        assert_eq!(labels(&got), ["6", "8"]);
        assert_eq!(labels(&fit(&spec.tight(), [0.8, 4.9])), ["2", "4"]);
    }

    fn sound(got: &Axis, a: f64, b: f64, most: usize) -> Result<(), TestCaseError> {
        prop_assert!(got.low <= a.min(b) && got.high >= a.max(b), "{got:?}");
        prop_assert!(got.major.windows(2).all(|w| w[0].value < w[1].value));
        prop_assert!(got.major.iter().all(|t| (got.low..=got.high).contains(&t.value)), "{got:?}");
        prop_assert!(got.major.len() <= most + 2, "{got:?}");
        prop_assert!(got.major.iter().all(|t| !t.label.contains("NaN")));
        prop_assert!(got.major.windows(2).all(|w| w[0].label != w[1].label), "{got:?}");
        prop_assert!(got.at(a.min(b)) <= got.at(a.max(b)));
        Ok(())
    }

    /// Two values: any, a hair apart, in a round proportion, about 0; many of them round or just beside.
    fn ends() -> impl Strategy<Value = (f64, f64)> {
        let round = prop::sample::select(vec![1.0, 1.02, 1.024, 2.0, 2.5, 4.0, 5.0, 8.0, 9.5, 9.995, 9.9995]);
        let beside = prop_oneof![Just(0i64), -4i64..5, -(1i64 << 40)..1i64 << 40];
        let any = (prop_oneof![round.clone(), 1.0..10.0_f64], -18..16, beside, any::<bool>());
        let any = any.prop_map(|(digits, power, ulps, negative)| {
            let value = digits * 10f64.powi(power);
            let value = f64::from_bits(value.to_bits().saturating_add_signed(ulps));
            if negative { -value } else { value }
        });
        let close = (any.clone(), 1.0..2.0_f64, 0..60)
            .prop_map(|(a, b, halved)| (a, a * (1.0 + b * 0.5f64.powi(halved))));
        let part =
            (any.clone(), round, 0..12).prop_map(|(a, digits, power)| (a, a * digits * 10f64.powi(power)));
        prop_oneof![
            (any.clone(), any.clone()),
            close,
            part,
            any.clone().prop_map(|a| (a, 0.0)),
            any.prop_map(|a| (a, -a))
        ]
    }

    proptest! {
        #[test]
        fn ticks_are_sound_at_odd_ends(
            (a, b) in ends(), unit in prop::sample::select(Unit::ALL.to_vec()), plain: bool, zero: bool, tight: bool,
            most in 2..9usize, form in 0..3usize,
        ) {
            let form = [Form::Linear, Form::Log, Form::Log2][form];
            let (a, b) = if form == Form::Linear { (a, b) } else { (a.abs().max(1e-18), b.abs().max(1e-18)) };
            let kind = if plain { Kind::for_unit(unit).plain() } else { Kind::for_unit(unit) };
            let spec = AxisSpec { form, zero, tight, ..AxisSpec::new("x", kind) };
            let got = Axis::fit(&spec, [a, b].into_iter(), 0.0, 400.0, most);
            sound(&got, a, b, most)?;
            // Between tight ends there may be no whole thing.
            prop_assert!(tight && unit == Unit::Count || !got.major.is_empty(), "{got:?}");
        }

        #[test]
        fn ticks_lie_inside_and_rise(
            a in -1e15..1e15_f64, b in -1e15..1e15_f64, exponent in -20..1, most in 2..9usize, form in 0..3usize,
        ) {
            let form = [Form::Linear, Form::Log, Form::Log2][form];
            let size = 10f64.powi(exponent);
            let (mut a, mut b) = (a * size, b * size);
            if form != Form::Linear { (a, b) = (a.abs().max(1e-18), b.abs().max(1e-18)); }
            let spec = AxisSpec { form, ..AxisSpec::new("x", Kind::for_unit(Unit::Second)) };
            let got = Axis::fit(&spec, [a, b].into_iter(), 0.0, 400.0, most);
            sound(&got, a, b, most)?;
        }
    }
}
