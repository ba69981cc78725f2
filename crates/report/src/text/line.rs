//! One line that others paste into `compare`: a machine's headline figures with their intervals.
//!
//! `bx1:mini-1;int=1905:1912:1918e6;...`: low, median and high with one power of ten, in base units, rounded to
//! four significant digits. A figure without interval has its median only. Refused figures are left out. Figures with
//! a short code stand for the usual parameters; others carry theirs.

use std::fmt::Write;

use model::doc::RunDoc;
use model::metric::Better;
use model::unit::Unit;
use model::{Params, Validity};

use model::{Card, Cards, Code, MetricInfo, card, names};

/// A pasted line: points with intervals, without samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Pasted {
    pub name: String,
    pub rows: Vec<PastedRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PastedRow {
    pub instrument: String,
    pub metric: String,
    /// Only those that define the figure; the others were the usual ones.
    pub params: Params,
    pub unit: Unit,
    pub better: Better,
    pub definition: u32,
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// An error in a pasted line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PasteError {
    NotALine,
    /// A later version of the format, e.g. `bx2:`.
    Version(String),
    Field(String),
}

impl std::fmt::Display for PasteError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PasteError::NotALine => {
                out.write_str("not a line of `boxscore show --line` (it starts with `bx1:`)")
            }
            PasteError::Version(found) => {
                write!(out, "`{found}` is a newer form than this program knows (`bx1`)")
            }
            PasteError::Field(field) => {
                write!(out, "`{field}` is not a figure of the form name=low:value:high")
            }
        }
    }
}

impl std::error::Error for PasteError {}

/// True for what [`parse`] might read.
pub fn is_line(text: &str) -> bool {
    let text = text.trim_start();
    text.strip_prefix("bx").is_some_and(|rest| {
        rest.split(':')
            .next()
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// The line of a run.
pub fn line(run: &RunDoc) -> String {
    let chosen = run.series.iter().filter(|series| series.headline && series.validity != Validity::Invalid);
    let rows = chosen.filter_map(|series| {
        Some(PastedRow {
            instrument: series.instrument.clone(),
            metric: series.metric.clone(),
            params: match series.card.filter(|card| card.role.rate().is_some()) {
                Some(card) => names::load::telling(card, &series.params),
                None => series.params.clone(),
            },
            unit: series.unit,
            better: series.better,
            definition: series.definition,
            value: series.median?,
            low: series.low,
            high: series.high,
        })
    });
    let pasted =
        Pasted { name: run.label.clone().unwrap_or_else(|| run.machine.name.clone()), rows: rows.collect() };
    write(&pasted, run.cards)
}

/// A line of these rows.
pub fn write(pasted: &Pasted, cards: Cards) -> String {
    let mut out = format!("bx1:{}", escape(&pasted.name));
    for (index, row) in pasted.rows.iter().enumerate() {
        let code = code_of(row, cards).filter(|code| {
            let same =
                |other: &PastedRow| code_of(other, cards).is_some_and(|theirs| theirs.code == code.code);
            pasted.rows.iter().enumerate().all(|(at, other)| at == index || !same(other))
        });
        let name = code.map_or_else(|| long_name(row), |code| code.code.to_owned());
        let definition = if row.definition == 1 { String::new() } else { format!("#{}", row.definition) };
        let _ = write!(out, ";{name}{definition}={}", numbers(row));
    }
    out
}

/// The short code of a figure, where it is the usual one of its instrument.
fn code_of(row: &PastedRow, cards: Cards) -> Option<&'static Code> {
    let card = card::find(cards, &row.instrument)?;
    let info = card.metric(&row.metric)?;
    let codes = if (info.unit, info.better) == (row.unit, row.better) { card.shown.codes } else { &[] };
    codes.iter().find(|code| code.is_of(&row.metric, &row.params))
}

/// `web.throughput[size:43,url:gif]>1/s`
fn long_name(row: &PastedRow) -> String {
    let pairs: Vec<String> =
        row.params.iter().map(|(key, value)| format!("{}:{}", escape(key), escape(value))).collect();
    let way = match row.better {
        Better::Higher => '>',
        Better::Lower => '<',
        Better::Neither => '~',
    };
    let (instrument, metric) = (escape(&row.instrument), escape(&row.metric));
    format!("{instrument}.{metric}[{}]{way}{}", pairs.join(","), row.unit.symbol())
}

/// Low, median, high as four-digit mantissas over one power of ten.
fn numbers(row: &PastedRow) -> String {
    let bounds = row.low.zip(row.high).filter(|(low, high)| low.is_finite() && high.is_finite());
    let largest =
        bounds.map_or(row.value.abs(), |(low, high)| row.value.abs().max(low.abs()).max(high.abs()));
    if !row.value.is_finite() {
        return "-".to_owned();
    }
    let mut exponent = if largest > 0.0 { largest.log10().floor() as i32 - 3 } else { 0 };
    // Rounding up to a fifth digit moves the power, so that writing again writes the same.
    if (largest / power(exponent)).round() >= 10_000.0 {
        exponent += 1;
    }
    let mantissa = |value: f64| format!("{}", (value / power(exponent)).round());
    let tail = if exponent == 0 { String::new() } else { format!("e{exponent}") };
    match bounds {
        Some((low, high)) => format!("{}:{}:{}{tail}", mantissa(low), mantissa(row.value), mantissa(high)),
        None => format!("{}{tail}", mantissa(row.value)),
    }
}

fn power(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

/// Reads a line back.
pub fn parse(text: &str, cards: Cards) -> Result<Pasted, PasteError> {
    let text = text.trim().trim_matches(['\'', '"', '`']);
    if !is_line(text) {
        return Err(PasteError::NotALine);
    }
    let Some(body) = text.strip_prefix("bx1:") else {
        return Err(PasteError::Version(text.split(':').next().unwrap_or("").to_owned()));
    };
    let mut fields = body.split(';');
    let name =
        unescape(fields.next().unwrap_or("")).filter(|name| !name.is_empty()).ok_or(PasteError::NotALine)?;
    let rows: Result<Vec<PastedRow>, PasteError> = fields
        .map(str::trim)
        .filter(|field| !field.is_empty())
        .map(|field| row(field, cards).ok_or_else(|| PasteError::Field(super::cut(field, 60))))
        .collect();
    Ok(Pasted { name, rows: rows? })
}

fn row(field: &str, cards: Cards) -> Option<PastedRow> {
    let (name, numbers) = field.rsplit_once('=')?;
    let (name, definition) = match name.rsplit_once('#') {
        Some((name, number)) => (name, number.parse().ok()?),
        None => (name, 1),
    };
    let (value, low, high) = read_numbers(numbers)?;
    let coded = |card: &&'static Card| Some((*card, card.shown.codes.iter().find(|code| code.code == name)?));
    if let Some((card, code)) = cards.iter().find_map(coded) {
        let params = Params::parse(code.params).ok()?;
        let (instrument, metric) = (card.name.to_owned(), code.metric.to_owned());
        let MetricInfo { unit, better, .. } = *card.metric(code.metric)?;
        return Some(PastedRow { instrument, metric, params, unit, better, definition, value, low, high });
    }
    let (head, rest) = name.split_once('[')?;
    let (pairs, tail) = rest.rsplit_once(']')?;
    let (instrument, metric) = head.split_once('.')?;
    let better = match tail.chars().next()? {
        '>' => Better::Higher,
        '<' => Better::Lower,
        '~' => Better::Neither,
        _ => return None,
    };
    let unit = Unit::parse(tail.get(1..)?)?;
    let mut params = Params::default();
    for pair in pairs.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once(':')?;
        params.set(&unescape(key)?, &unescape(value)?);
    }
    let (instrument, metric) = (unescape(instrument)?, unescape(metric)?);
    Some(PastedRow { instrument, metric, params, unit, better, definition, value, low, high })
}

fn read_numbers(text: &str) -> Option<(f64, Option<f64>, Option<f64>)> {
    let (mantissas, exponent) = match text.split_once('e') {
        Some((mantissas, exponent)) => (mantissas, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let read = |text: &str| text.parse::<f64>().ok().map(|m| m * power(exponent)).filter(|v| v.is_finite());
    match mantissas.split(':').collect::<Vec<_>>().as_slice() {
        [value] => Some((read(value)?, None, None)),
        [low, value, high] => Some((read(value)?, Some(read(low)?), Some(read(high)?))),
        _ => None,
    }
}

/// Letters, digits and `._-/` as they are, anything else as `%xx` bytes; a dot only in the names that allow it.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02x}");
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let pair = [rest.next()?, rest.next()?];
            let digits =
                std::str::from_utf8(&pair).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row() -> impl Strategy<Value = PastedRow> {
        let names = ("[a-z.#=;]{1,12}", "[a-z-]{1,8}");
        let params = proptest::collection::btree_map("[a-z:]{1,6}", "\\PC{1,8}", 0..4);
        let units = proptest::sample::select(Unit::ALL.to_vec());
        let ways = proptest::sample::select(vec![Better::Higher, Better::Lower, Better::Neither]);
        let value = (1.0..9.99f64, -12..18i32).prop_map(|(m, e)| m * power(e));
        let width = proptest::option::of(0.0..0.3f64);
        (names, params, units, ways, value, width, 1u32..4).prop_map(
            |((instrument, metric), params, unit, better, value, width, definition)| PastedRow {
                instrument,
                metric,
                params: params.into_iter().collect(),
                unit,
                better,
                definition,
                value,
                low: width.map(|w| value * (1.0 - w)),
                high: width.map(|w| value * (1.0 + w)),
            },
        )
    }

    proptest! {
        #[test]
        fn lines_come_back(name in "\\PC{1,20}", rows in proptest::collection::vec(row(), 0..8)) {
            let pasted = Pasted { name, rows };
            let text = write(&pasted, instruments::cards());
            let back = parse(&text, instruments::cards()).unwrap();
            prop_assert_eq!(&back.name, &pasted.name);
            prop_assert_eq!(back.rows.len(), pasted.rows.len());
            for (ours, theirs) in pasted.rows.iter().zip(&back.rows) {
                let name = |row: &PastedRow| (row.instrument.clone(), row.metric.clone(), row.params.clone());
                let kind = |row: &PastedRow| (row.unit, row.better, row.definition);
                prop_assert_eq!(name(ours), name(theirs));
                prop_assert_eq!(kind(ours), kind(theirs));
                let near = |a: f64, b: f64| (a - b).abs() <= 0.001 * ours.value.abs();
                prop_assert!(near(ours.value, theirs.value), "{} {}", ours.value, theirs.value);
                prop_assert_eq!(ours.low.is_some(), theirs.low.is_some());
                prop_assert!(ours.high.zip(theirs.high).is_none_or(|(a, b)| near(a, b)));
            }
            prop_assert_eq!(write(&back, instruments::cards()), text);
        }

        #[test]
        fn any_text_parses_or_fails_cleanly(text in "\\PC{0,80}", tail in "[a-z0-9:;=.\\[\\],%<>#e-]{0,80}") {
            let _ = (parse(&text, instruments::cards()), parse(&format!("bx1:{tail}"), instruments::cards()), is_line(&text));
        }
    }

    #[test]
    fn codes_stand_for_the_usual_headlines() {
        let pasted = parse("bx1:mini-1;int=1905:1912:1918e6;lat=924e-10", instruments::cards()).unwrap();
        assert_eq!(pasted.name, "mini-1");
        let [int, lat] = &pasted.rows[..] else { panic!("two rows: {pasted:?}") };
        assert_eq!((int.instrument.as_str(), int.params.get("kind")), ("index", Some("integer")));
        assert!((int.low.unwrap() / 1.905e9 - 1.0).abs() < 1e-9 && (lat.value / 92.4e-9 - 1.0).abs() < 1e-9);
        assert_eq!((lat.low, lat.better), (None, Better::Lower));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(parse("mini-1", instruments::cards()), Err(PasteError::NotALine));
        assert_eq!(parse("bx1:", instruments::cards()), Err(PasteError::NotALine));
        assert_eq!(parse("bx2:a;int=1", instruments::cards()), Err(PasteError::Version("bx2".into())));
        assert!(parse("bx1:a;speed=9", instruments::cards()).unwrap_err().to_string().contains("`speed=9`"));
    }
}
