//! Options of a decision as numbers, each with its provenance.

use model::decision::{
    CONTINUOUS, Growth, Key, MOST_GROWTH, SECONDS_A_MONTH, parse_circuit, parse_growth, parse_life,
    parse_range, parse_utilisation,
};
use model::doc::InputDoc;
use model::format::{fixed, number, percent};
use model::need::{Ranged, parse_share};
use verdict::decide::Spare;

use super::asked::{Asked, Said};
use crate::error::CliError;

const LIFE: &str = "4y";
const UTILISATION: Ranged = Ranged::point(0.7);
const SURE: f64 = 0.9;
const STALE: &str = "1y";
const RACK_UNITS: f64 = 42.0;
const DRAWS: usize = 10_000;
const MOST_DRAWS: usize = 1_000_000;
const SEED: u64 = 1;
/// Zones where none are counted, as clouds have them.
const ZONES: u64 = 3;
const MOST_SPARE: u64 = 1_000_000;
const DEFAULT: &str = "default";

/// All that is not about needs or sides.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The share of a box that is used, where it is not that of its own knee.
    pub utilisation: Ranged,
    pub spare: Spare,
    pub life_s: f64,
    pub kwh: Option<Ranged>,
    pub pue: Ranged,
    pub per_unit_month: Option<Ranged>,
    pub rack_watts: Option<f64>,
    pub rack_units: f64,
    pub circuit_watts: Option<f64>,
    pub per_circuit_month: Option<Ranged>,
    pub equal_price: Option<f64>,
    pub budget: Option<f64>,
    /// Factor of every demand at the end of the time for which it grows.
    pub growth: Ranged,
    /// Seconds over which the demand grows.
    pub growth_s: f64,
    pub sure: f64,
    pub stale_s: f64,
    pub draws: usize,
    pub seed: u64,
    /// The currency that was asked for.
    pub currency: Option<String>,
    told: Vec<Told>,
}

/// An input as documents show it.
#[derive(Clone, Debug)]
struct Told {
    doc: InputDoc,
    /// It is money, of such a unit behind the currency: `/kWh`.
    money: Option<(Ranged, &'static str)>,
}

impl Told {
    fn money(name: &str, range: Ranged, unit: &'static str, said: &Said) -> Told {
        Told { doc: with_text(name, range, String::new(), &said.from), money: Some((range, unit)) }
    }
}

impl From<InputDoc> for Told {
    fn from(doc: InputDoc) -> Told {
        Told { doc, money: None }
    }
}

impl Inputs {
    pub fn months(&self) -> f64 {
        self.life_s / SECONDS_A_MONTH
    }

    /// The inputs as documents show them, with their money in this currency.
    pub fn docs(&self, currency: Option<&str>) -> Vec<InputDoc> {
        let currency = currency.unwrap_or_default();
        let told = |told: &Told| match told.money {
            Some((range, unit)) => {
                InputDoc { shown: shown(range, &format!("{currency}{unit}")), ..told.doc.clone() }
            }
            None => told.doc.clone(),
        };
        self.told.iter().map(told).collect()
    }

    /// Reads every option. Fails for the first that is no value of its key.
    pub fn read(asked: &Asked) -> Result<Inputs, CliError> {
        let currency = currency(asked)?;
        let mut docs: Vec<Told> = Vec::new();
        let life_s = life(asked, &mut docs)?;
        let utilisation = utilisation(asked, &mut docs)?;
        let spare = spare(asked, &mut docs)?;
        let kwh = range(asked, Key::Kwh, "write 0.30 or 0.20..0.40")?;
        docs.extend(kwh.map(|(kwh, said)| Told::money("energy price", kwh, "/kWh", said)));
        let pue = range(asked, Key::Pue, "write 1.4 or 1.2..1.6")?;
        if let Some((_, said)) = pue.filter(|(pue, _)| pue.low < 1.0) {
            return Err(said.wrong("a site draws at least what its boxes do", "write 1.4 or 1.2..1.6"));
        }
        docs.extend(pue.map(|(pue, said)| doc("PUE", pue, "", &said.from).into()));
        let (growth, growth_s) = growth(asked, life_s, &mut docs)?;
        let per_unit_month = a_month(asked, (Key::PerU, "rack unit"), &mut docs)?;
        let circuit_watts = circuit(asked, &mut docs)?;
        let per_circuit_month = a_month(asked, (Key::PerCircuit, "price of a circuit"), &mut docs)?;
        if let Some(said) = asked.one(Key::PerCircuit).filter(|_| circuit_watts.is_none()) {
            return Err(said.wrong("no circuit is said", "say what one carries: --circuit 230V/16A"));
        }
        let rack_watts = above_zero(asked, Key::RackWatts)?;
        let rack = |(watts, said): (f64, &Said)| doc("rack power", Ranged::point(watts), "W", &said.from);
        docs.extend(rack_watts.map(|one| rack(one).into()));
        let rack_units = above_zero(asked, Key::RackUnits)?;
        let amount = |key: Key, name: &str, docs: &mut Vec<Told>| -> Result<Option<f64>, CliError> {
            let amount = above_zero(asked, key)?;
            docs.extend(amount.map(|(amount, said)| Told::money(name, Ranged::point(amount), "", said)));
            Ok(amount.map(|(amount, _)| amount))
        };
        let equal_price = amount(Key::EqualPrice, "equal price", &mut docs)?;
        let budget = amount(Key::Budget, "budget", &mut docs)?;
        let sure = sure(asked, &mut docs)?;
        let (draws, seed) = (whole(asked, Key::Draws)?, whole(asked, Key::Seed)?);
        if let Some(said) =
            asked.one(Key::Draws).filter(|_| !draws.is_none_or(|n| (100..=MOST_DRAWS as u64).contains(&n)))
        {
            return Err(said.wrong("too few, or more than it takes", "write 100 to 1000000"));
        }
        Ok(Inputs {
            utilisation,
            spare,
            life_s,
            kwh: kwh.map(|(kwh, _)| kwh),
            pue: pue.map_or(Ranged::point(1.0), |(pue, _)| pue),
            per_unit_month,
            rack_watts: rack_watts.map(|(watts, _)| watts),
            rack_units: rack_units.map_or(RACK_UNITS, |(units, _)| units),
            circuit_watts,
            per_circuit_month,
            equal_price,
            budget,
            growth,
            growth_s,
            sure,
            stale_s: stale(asked)?,
            draws: draws.map_or(DRAWS, |draws| draws as usize),
            seed: seed.unwrap_or(SEED),
            currency,
            told: docs,
        })
    }
}

fn range<'a>(asked: &'a Asked, key: Key, hint: &str) -> Result<Option<(Ranged, &'a Said)>, CliError> {
    let Some(said) = asked.one(key) else { return Ok(None) };
    let wrong = || said.wrong("not an amount from 0 on, or a range of them", hint);
    parse_range(&said.given).map(|range| Some((range, said))).ok_or_else(wrong)
}

/// `0.20 to 0.40 EUR/kWh`.
fn shown(range: Ranged, unit: &str) -> String {
    let plain = |value: f64| match value {
        value if value >= 1000.0 => fixed(value, if value.fract() == 0.0 { 0 } else { 2 }),
        value => {
            let text = value.to_string();
            // Money has two decimals where it has one.
            let is_tenth = !unit.is_empty() && text.split_once('.').is_some_and(|(_, part)| part.len() == 1);
            if is_tenth { format!("{text}0") } else { text }
        }
    };
    let ends = match range.is_range() {
        true => format!("{} to {}", plain(range.low), plain(range.high)),
        false => plain(range.low),
    };
    // `0.30 EUR/kWh`; `0.30/kWh` without a currency.
    if unit.starts_with('/') {
        format!("{ends}{unit}")
    } else {
        format!("{ends} {}", unit.trim()).trim().to_owned()
    }
}

fn doc(name: &str, range: Ranged, unit: &str, from: &str) -> InputDoc {
    with_text(name, range, shown(range, unit), from)
}

fn with_text(name: &str, range: Ranged, shown: String, from: &str) -> InputDoc {
    let (low, high) = if range.is_range() { (Some(range.low), Some(range.high)) } else { (None, None) };
    InputDoc {
        name: name.to_owned(),
        shown,
        value: Some(range.middle()),
        low,
        high,
        from: from.to_owned(),
        date: None,
        is_stale: false,
    }
}

fn percents(range: Ranged) -> String {
    match range.is_range() {
        true => format!("{} to {}", percent(range.low).trim_end_matches(" %"), percent(range.high)),
        false => percent(range.low),
    }
}

/// The currency that was asked for.
fn currency(asked: &Asked) -> Result<Option<String>, CliError> {
    let Some(said) = asked.one(Key::Currency) else { return Ok(None) };
    let is_code = said.given.len() == 3 && said.given.bytes().all(|byte| byte.is_ascii_alphabetic());
    match is_code {
        true => Ok(Some(said.given.to_uppercase())),
        false => Err(said.wrong("not a code of three letters", "write EUR")),
    }
}

/// The life that was said, else the time for which the demand is said to grow.
fn life(asked: &Asked, docs: &mut Vec<Told>) -> Result<f64, CliError> {
    let said = asked.one(Key::Life).or_else(|| asked.one(Key::For));
    let (text, from) = match said {
        Some(said) => (said.given.as_str(), said.from.as_str()),
        None => (LIFE, DEFAULT),
    };
    let seconds = parse_life(text);
    let wrong = || match said {
        Some(said) => said.wrong("not a length of time of a day or more", "write 4y, 18 months or 365d"),
        None => CliError::usage("the life is not a length of time"),
    };
    let seconds = seconds.ok_or_else(wrong)?;
    docs.push(with_text("life", Ranged::point(seconds), verdict::decide::life(seconds), from).into());
    Ok(seconds)
}

/// The wish that each side is used up to the knee of its own curve.
pub fn knee(asked: &Asked) -> Option<&Said> {
    asked.one(Key::Utilisation).filter(|said| said.given.trim() == "knee")
}

fn utilisation(asked: &Asked, docs: &mut Vec<Told>) -> Result<Ranged, CliError> {
    let hint = "write 60%, 50..70% or knee";
    let (range, from) = match asked.one(Key::Utilisation) {
        Some(said) if knee(asked).is_some() => {
            let text = "at the knee of each one's curve".to_owned();
            let doc = with_text("utilisation", UTILISATION, text, &said.from);
            docs.push(InputDoc { value: None, ..doc }.into());
            return Ok(UTILISATION);
        }
        Some(said) => {
            let range = parse_utilisation(&said.given);
            (range.ok_or_else(|| said.wrong("not a share above 0 %, up to 100 %", hint))?, said.from.as_str())
        }
        None => (UTILISATION, DEFAULT),
    };
    docs.push(utilisation_doc(range, from).into());
    Ok(range)
}

pub fn utilisation_doc(range: Ranged, from: &str) -> InputDoc {
    with_text("utilisation", range, percents(range), from)
}

fn spare(asked: &Asked, docs: &mut Vec<Told>) -> Result<Spare, CliError> {
    let Some(said) = asked.one(Key::Spare) else { return Ok(Spare::None) };
    let spare = parse_spare(&said.given).ok_or_else(|| {
        said.wrong("not a way to have spare boxes", "write n+1, n+2, zone, 4 zones or none")
    })?;
    let (shown, value) = match spare {
        Spare::None => ("none".to_owned(), 0.0),
        Spare::Boxes(boxes) => (format!("{boxes} may fail"), boxes as f64),
        Spare::Zones(zones) => {
            let usual = if said.given.trim() == "zone" { ", as many as clouds have" } else { "" };
            (format!("1 of {zones} zones may fail{usual}"), zones as f64)
        }
    };
    docs.push(with_text("spare", Ranged::point(value), shown, &said.from).into());
    Ok(spare)
}

fn parse_spare(text: &str) -> Option<Spare> {
    let text = text.trim().to_ascii_lowercase();
    let number = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number <= MOST_SPARE);
    if let Some(boxes) = text.strip_prefix("n+") {
        return number(boxes).map(Spare::Boxes);
    }
    match text.as_str() {
        "none" | "n" => Some(Spare::None),
        "zone" => Some(Spare::Zones(ZONES)),
        _ => {
            let zones = number(text.strip_suffix("zones")?)?;
            // A single zone that fails leaves nothing.
            (zones > 1).then_some(Spare::Zones(zones))
        }
    }
}

fn growth(asked: &Asked, life_s: f64, docs: &mut Vec<Told>) -> Result<(Ranged, f64), CliError> {
    let span = |said: &Said| {
        parse_life(&said.given)
            .ok_or_else(|| said.wrong("not a length of time of a day or more", "write 3y or 18 months"))
    };
    let asked_span = asked.one(Key::For).map(|said| span(said).map(|seconds| (seconds, said))).transpose()?;
    let Some(said) = asked.one(Key::Growth) else {
        return match asked_span {
            Some((_, said)) => {
                Err(said
                    .wrong("nothing grows", "say the growth too, --growth 5%/month, or the life, --life 3y"))
            }
            None => Ok((Ranged::point(1.0), life_s)),
        };
    };
    let growth: Growth = parse_growth(&said.given)
        .ok_or_else(|| said.wrong("not a growth by the time", "write 5%/month, 3..6%/month or 40%/y"))?;
    let (seconds, how) = match asked_span {
        Some((seconds, _)) => (seconds, String::new()),
        None => (life_s, ", over the life".to_owned()),
    };
    let over = verdict::decide::life(seconds);
    let factor = growth.over(seconds).ok_or_else(|| {
        let what = format!("over {over} the demand is more than {} times today's", number(MOST_GROWTH));
        said.wrong(&what, "say a smaller growth, or a shorter time: --for 3y")
    })?;
    let text = format!("{} for {over}: {} times today's{how}", said.given.trim(), shown(rounded(factor), ""));
    docs.push(with_text("growth", factor, text, &said.from).into());
    Ok((factor, seconds))
}

/// Three digits are enough to be read.
fn rounded(range: Ranged) -> Ranged {
    let digits = |value: f64| (value * 100.0).round() / 100.0;
    Ranged { low: digits(range.low), high: digits(range.high) }
}

/// The watts that a circuit carries all the time.
fn circuit(asked: &Asked, docs: &mut Vec<Told>) -> Result<Option<f64>, CliError> {
    let Some(said) = asked.one(Key::Circuit) else { return Ok(None) };
    let circuit = parse_circuit(&said.given).ok_or_else(|| {
        said.wrong(
            "not a circuit",
            "write its voltage and fuse, 230V/16A, of which 80 % are used, or the watts that it carries, 3000W",
        )
    })?;
    let text = match circuit.fuse {
        Some(fuse) => format!(
            "{} V, {} A: {} W, {} of it as a load that stays",
            fuse.volts,
            fuse.amperes,
            number(circuit.watts),
            percent(CONTINUOUS)
        ),
        None => format!("{} W", number(circuit.watts)),
    };
    docs.push(with_text("circuit", Ranged::point(circuit.watts), text, &said.from).into());
    Ok(Some(circuit.watts))
}

/// `20/month`; a number alone is by the month too.
fn a_month(
    asked: &Asked,
    (key, name): (Key, &str),
    docs: &mut Vec<Told>,
) -> Result<Option<Ranged>, CliError> {
    let Some(said) = asked.one(key) else { return Ok(None) };
    let (amount, months) = match said.given.split_once('/') {
        None => (said.given.as_str(), Some(1.0)),
        Some((amount, per)) => {
            let months = match per.trim() {
                "month" => Some(1.0),
                "y" | "year" => Some(12.0),
                _ => None,
            };
            (amount, months)
        }
    };
    let range = parse_range(amount).zip(months).map(|(range, months)| range.times(1.0 / months));
    let range =
        range.ok_or_else(|| said.wrong("not money by the month", "write 20/month or 15..25/month"))?;
    docs.push(Told::money(name, range, " a month", said));
    Ok(Some(range))
}

fn above_zero(asked: &Asked, key: Key) -> Result<Option<(f64, &Said)>, CliError> {
    let Some(said) = asked.one(key) else { return Ok(None) };
    let number = said.given.trim().parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1e15);
    let wrong = || said.wrong("not a number above 0", "write it without a unit");
    number.map(|number| Some((number, said))).ok_or_else(wrong)
}

fn whole(asked: &Asked, key: Key) -> Result<Option<u64>, CliError> {
    let read =
        |said: &Said| said.given.trim().parse().map_err(|_| said.wrong("not a whole number", "write 10000"));
    asked.one(key).map(read).transpose()
}

fn sure(asked: &Asked, docs: &mut Vec<Told>) -> Result<f64, CliError> {
    let (share, from) = match asked.one(Key::Sure) {
        Some(said) => {
            let share = parse_share(&said.given).filter(|share| *share > 0.0 && *share < 1.0);
            let wrong = || said.wrong("not a probability above 0 % and below 100 %", "write 95%");
            (share.ok_or_else(wrong)?, said.from.as_str())
        }
        None => (SURE, DEFAULT),
    };
    docs.push(with_text("enough with", Ranged::point(share), percent(share), from).into());
    Ok(share)
}

fn stale(asked: &Asked) -> Result<f64, CliError> {
    let (text, said) = match asked.one(Key::Stale) {
        Some(said) => (said.given.as_str(), Some(said)),
        None => (STALE, None),
    };
    parse_life(text).ok_or_else(|| match said {
        Some(said) => said.wrong("not a length of time of a day or more", "write 1y or 90d"),
        None => CliError::usage("the age of stale inputs is not a length of time"),
    })
}

/// The sentence of what is stale: which input of which side, and its date.
pub fn stale_note(stale: &[(String, String)], stale_s: f64) -> Option<String> {
    if stale.is_empty() {
        return None;
    }
    let all: Vec<String> = stale.iter().map(|(name, date)| format!("{name} ({date})")).collect();
    let inputs = if all.len() == 1 { "an input is".to_owned() } else { format!("{} inputs are", all.len()) };
    let age = verdict::decide::life(stale_s);
    Some(format!("{inputs} older than {age}, so the cost may have changed since: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::decide::DecideArgs;

    fn inputs(change: impl Fn(&mut DecideArgs)) -> Result<Inputs, CliError> {
        let mut args =
            DecideArgs { need: vec!["web 1/s".into()], from: vec!["a".into()], ..DecideArgs::default() };
        change(&mut args);
        Inputs::read(&Asked::new(&args)?)
    }

    #[test]
    fn defaults_are_said() {
        let inputs = inputs(|_| {}).unwrap();
        let shown: Vec<String> =
            inputs.docs(None).iter().map(|doc| format!("{} {} {}", doc.name, doc.shown, doc.from)).collect();
        assert_eq!(shown, ["life 4 years default", "utilisation 70 % default", "enough with 90 % default"]);
        assert!((inputs.months() - 48.0).abs() < 1e-9);
    }

    #[test]
    fn ranges_and_growth_are_shown_as_they_are_said() {
        let inputs = inputs(|args| {
            args.kwh = Some("0.20..0.40".into());
            args.currency = Some("eur".into());
            args.growth = Some("5%/month".into());
            args.span = Some("3y".into());
            args.spare = Some("zone".into());
            args.per_u = Some("20/month".into());
            args.circuit = Some("230V/16A".into());
            args.per_circuit = Some("90..110/month".into());
        })
        .unwrap();
        let text = |currency: Option<&str>| {
            let docs = inputs.docs(currency);
            docs.iter().map(|doc| format!("{} {}\n", doc.name, doc.shown)).collect::<String>()
        };
        // The currency is known from the prices alone where nobody asks for one.
        let (text, without) = (text(inputs.currency.as_deref()), text(None));
        assert!(without.contains("energy price 0.20 to 0.40/kWh\n"), "{without}");
        assert!(without.contains("rack unit 20 a month\n"), "{without}");
        for part in [
            "energy price 0.20 to 0.40 EUR/kWh\n",
            "growth 5%/month for 3 years: 5.79 times today's\n",
            "spare 1 of 3 zones may fail, as many as clouds have\n",
            "rack unit 20 EUR a month\n",
            "circuit 230 V, 16 A: 2,944 W, 80 % of it as a load that stays\n",
            "price of a circuit 90 to 110 EUR a month\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(inputs.spare, Spare::Zones(3));
    }

    #[test]
    fn what_is_no_value_says_so_with_its_key() {
        type Case = (fn(&mut DecideArgs), &'static str);
        let cases: [Case; 19] = [
            (|a| a.kwh = Some("-0.3".into()), "--kwh -0.3: not an amount"),
            (|a| a.kwh = Some("nan".into()), "--kwh nan: not an amount"),
            (|a| a.utilisation = Some("120%".into()), "--utilisation 120%: not a share"),
            (|a| a.utilisation = Some("0".into()), "--utilisation 0: not a share"),
            (|a| a.life = Some("4".into()), "--life 4: not a length"),
            (|a| a.pue = Some("0.9".into()), "--pue 0.9: a site draws"),
            (|a| a.growth = Some("900%/day".into()), "more than 1.00e9 times"),
            (|a| a.growth = Some("5%".into()), "--growth 5%: not a growth"),
            (|a| a.span = Some("3y".into()), "--for 3y: nothing grows"),
            (|a| a.spare = Some("1 zones".into()), "--spare 1 zones"),
            (|a| a.sure = Some("100%".into()), "--sure 100%"),
            (|a| a.draws = Some("5".into()), "--draws 5"),
            (|a| a.budget = Some("-5".into()), "--budget -5"),
            (|a| a.rack_watts = Some("inf".into()), "--rack-watts inf"),
            (|a| a.currency = Some("euros".into()), "--currency euros"),
            (|a| a.per_u = Some("20/week".into()), "--per-u 20/week"),
            (|a| a.circuit = Some("16A".into()), "--circuit 16A: not a circuit"),
            (|a| a.per_circuit = Some("100/week".into()), "--per-circuit 100/week: not money"),
            (|a| a.per_circuit = Some("100/month".into()), "--per-circuit 100/month: no circuit is said"),
        ];
        for (change, says) in cases {
            let error = inputs(change).expect_err(says);
            assert!(error.message.contains(says) && error.hint.is_some(), "{says}: {error}");
        }
    }
}
