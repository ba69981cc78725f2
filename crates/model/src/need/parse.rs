//! Reads a need as it is written: `web 20000/s p99<20ms`, `kv 200k/s replicas=2`, `cmd 'make -j8' 400/h`,
//! `memory 2TiB`, `mix.json 3000/s p99<50ms errors<0.1%`, `logs a.log`.
//!
//! Words are separated by blanks; quotation marks keep blanks. A demand may be a range, `20k..30k/s`; that of a log may
//! be multiplied, `logs a.log x200`.

use super::{Limit, Need, Ranged, Work};
use crate::params::{Params, parse_span};
use crate::unit::Unit;

/// More than any fleet does: sums of these stay exact.
const MOST: f64 = 1e18;
/// Percentiles that a limit can be of, as searches know them.
const PERCENTILES: [&str; 6] = ["p50", "p90", "p95", "p99", "p99.9", "p99.99"];

/// The parameter that a test of an instrument is.
pub const TEST: &str = "test";

/// Why a need cannot be read, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedError {
    pub what: String,
    pub hint: String,
}

impl NeedError {
    fn new(what: impl Into<String>, hint: &str) -> NeedError {
        NeedError { what: what.into(), hint: hint.to_owned() }
    }
}

/// Words that people write for a work, and its name.
const MEANT: [(&str, &str); 6] = [
    ("key-value", "kv"),
    ("keyvalue", "kv"),
    ("kvs", "kv"),
    ("http", "web"),
    ("ram", "memory"),
    ("storage", "disk"),
];

const FORMS: &str = "write web 20000/s p99<20ms, kv 200k/s, cmd 'make -j8' 400/h, memory 2TiB, disk 40TB, MIX.json \
                     3000/s, logs FILE, or INSTRUMENT RATE";

/// Reads a need. Fails where a word is none of its work, demand, conditions or parameters.
pub fn parse(text: &str) -> Result<Need, NeedError> {
    let words = words(text)?;
    let mut rest = words.iter().map(String::as_str);
    let Some(first) = rest.next() else { return Err(NeedError::new("the need is empty", FORMS)) };
    if let Some((_, meant)) = MEANT.iter().find(|(word, _)| first.eq_ignore_ascii_case(word)) {
        return Err(NeedError::new(format!("`{first}` is no work"), &format!("did you mean `{meant}`?")));
    }
    let mut named = |what: &str| {
        rest.next()
            .map(str::to_owned)
            .ok_or_else(|| NeedError::new(format!("`{text}` names no {what}"), FORMS))
    };
    let work = match first {
        "web" => Work::Web,
        "kv" => Work::Kv,
        "memory" => Work::Memory,
        "disk" => Work::Disk,
        "cmd" => Work::Cmd(named("command")?),
        "logs" => Work::Logs(named("file")?),
        mix if std::path::Path::new(mix).extension().is_some_and(|ext| ext.eq_ignore_ascii_case("json")) => {
            Work::Mix(mix.to_owned())
        }
        name if name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(['<', '=']) => {
            Work::Instrument(name.to_owned())
        }
        other => return Err(NeedError::new(format!("`{other}` is no work"), FORMS)),
    };
    let mut need = Need {
        text: text.trim().to_owned(),
        work,
        demand: None,
        factor: None,
        unit: Unit::PerSec,
        limit: None,
        errors: None,
        params: Params::default(),
        filters: Vec::new(),
        called: None,
    };
    let mut rest = rest.peekable();
    if let Some(test) = rest.next_if(|word| matches!(need.work, Work::Instrument(_)) && is_test(word)) {
        need.params.set(TEST, test);
    }
    for word in rest {
        take(&mut need, word)?;
    }
    check(need)
}

/// A bare word behind an instrument: one of its tests, as in `hadoop terasort 1TB/h`.
fn is_test(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.contains(['<', '=', '/'])
}

/// One word behind the work.
fn take(need: &mut Need, word: &str) -> Result<(), NeedError> {
    if let Some((name, limit)) = word.split_once('<') {
        return condition(need, word, name, limit.trim_start_matches('='));
    }
    if let Some((key, value)) = word.split_once('=') {
        if need.params.get(key).is_some() {
            return Err(NeedError::new(format!("{key} is given twice"), "give each parameter once"));
        }
        need.params.set(key, value);
        return Ok(());
    }
    if need.demand.is_some() || (need.factor.is_some() && times(word).is_some()) {
        return Err(NeedError::new(format!("`{word}`: the demand is given already"), FORMS));
    }
    if let Some(factor) = times(word) {
        need.factor = Some(factor);
        return Ok(());
    }
    let (demand, unit) = parse_amount(word)?;
    need.demand = Some(demand);
    need.unit = unit;
    Ok(())
}

fn condition(need: &mut Need, word: &str, name: &str, limit: &str) -> Result<(), NeedError> {
    if name == "errors" {
        let share = parse_share(limit).filter(|share| *share > 0.0 && *share < 1.0);
        let wrong = || NeedError::new(format!("`{word}`: not a share of errors"), "write errors<0.1%");
        return put(&mut need.errors, share.ok_or_else(wrong)?, name);
    }
    if !PERCENTILES.contains(&name) {
        let hint = format!("conditions are errors<0.1% and a limit of {}", PERCENTILES.join(", "));
        return Err(NeedError::new(format!("`{word}` is no condition"), &hint));
    }
    if limit.trim().parse::<f64>().is_ok() {
        // Plain seconds are rarely meant: an answer within 50 s is no web server's aim.
        let hint = format!("write {name}<{limit}ms or {name}<{limit}s");
        return Err(NeedError::new(format!("`{word}`: the limit has no unit"), &hint));
    }
    let wrong = || NeedError::new(format!("`{word}`: the limit is not a time"), "write p99<20ms");
    let seconds = parse_span(limit).ok_or_else(wrong)?;
    put(&mut need.limit, Limit { percentile: name.to_owned(), seconds }, "a limit")
}

fn put<T>(place: &mut Option<T>, value: T, name: &str) -> Result<(), NeedError> {
    if place.is_some() {
        return Err(NeedError::new(format!("{name} is given twice"), "give each condition once"));
    }
    *place = Some(value);
    Ok(())
}

/// A demand that fits the work.
fn check(need: Need) -> Result<Need, NeedError> {
    let is_space = need.is_space();
    if let Some(factor) = need.factor {
        let is_of_log = matches!(need.work, Work::Logs(_) | Work::Mix(_));
        if need.demand.is_some() || !is_of_log {
            let what = format!("`{}`: `x{}` multiplies the demand of a log", need.text, factor.low);
            let hint = "write logs FILE x200 or MIX.json x200, without a rate; elsewhere the rate itself";
            return Err(NeedError::new(what, hint));
        }
    }
    if need.demand.is_none() && !matches!(need.work, Work::Logs(_) | Work::Mix(_)) {
        let hint = if is_space { "write memory 2TiB" } else { "write a rate, such as 20000/s or 400/h" };
        return Err(NeedError::new(format!("`{}` has no demand", need.text), hint));
    }
    if is_space != (need.unit == Unit::Byte) {
        let (is, hint) = if is_space {
            ("space is no rate", "write memory 2TiB")
        } else {
            ("the demand is an amount", "write it by the time: 20000/s, 400/h, 1TB/h")
        };
        return Err(NeedError::new(format!("`{}`: {is}", need.text), hint));
    }
    if is_space && (need.limit.is_some() || need.errors.is_some()) {
        return Err(NeedError::new(
            format!("`{}`: space has no response time and no errors", need.text),
            FORMS,
        ));
    }
    Ok(need)
}

/// `x200`, `x100..300`: so many times the demand of a log.
fn times(word: &str) -> Option<Ranged> {
    let text = word.strip_prefix(['x', 'X', '×'])?;
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let factor = |text: &str| number(text).filter(|(_, is_bytes)| !is_bytes).map(|(value, _)| value);
    let (low, high) = (factor(low)?, factor(high)?);
    (low <= high).then_some(Ranged { low, high })
}

/// Reads an amount: `20000/s`, `200k/s`, `400/h`, `20k..30k/s`, `1TB/h`, `2TiB`. Numbers have decimal prefixes (`k`,
/// `M`, `G`) without a `B`; with one, `TB` is decimal and `TiB` binary.
pub fn parse_amount(text: &str) -> Result<(Ranged, Unit), NeedError> {
    let wrong = || {
        NeedError::new(
            format!("`{text}` is neither a rate nor an amount above 0"),
            "write 20000/s, 200k/s, 400/h, 20k..30k/s, 1TB/h or 2TiB",
        )
    };
    let (amount, per) = match text.split_once('/') {
        Some((amount, per)) => (amount, Some(seconds(per).ok_or_else(wrong)?)),
        None => (text, None),
    };
    let (low, high) = amount.split_once("..").unwrap_or((amount, amount));
    let (high, is_bytes) = number(high).ok_or_else(wrong)?;
    // `20..30k/s`: the prefix of the end is also that of the beginning.
    let suffix = amount.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
    let is_bare = low.chars().all(|c| c.is_ascii_digit() || c == '.');
    let low = if is_bare { number(&format!("{low}{suffix}")) } else { number(low) };
    let (low, low_is_bytes) = low.ok_or_else(wrong)?;
    if low > high || is_bytes != low_is_bytes {
        return Err(wrong());
    }
    let ranged = Ranged { low, high }.times(per.map_or(1.0, |seconds: f64| 1.0 / seconds));
    let unit = match (is_bytes, per) {
        (true, Some(_)) => Unit::BytesPerSec,
        (true, None) => Unit::Byte,
        (false, Some(_)) => Unit::PerSec,
        (false, None) => return Err(wrong()),
    };
    Ok((ranged, unit))
}

fn seconds(per: &str) -> Option<f64> {
    Some(match per.trim() {
        "s" | "sec" | "second" => 1.0,
        "min" | "minute" => 60.0,
        "h" | "hour" => 3600.0,
        "d" | "day" => 86_400.0,
        _ => return None,
    })
}

/// A number above 0 with its prefix, and whether it counts bytes.
fn number(text: &str) -> Option<(f64, bool)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text.get(..end)?.parse().ok()?;
    let suffix = text.get(end..)?.trim();
    let (prefix, is_bytes) = suffix.strip_suffix('B').map_or((suffix, false), |prefix| (prefix, true));
    let power = |base: f64, letter: char| "kMGTP".find(letter).map(|at| base.powi(at as i32 + 1));
    let mut letters = prefix.chars();
    let factor = match (letters.next(), letters.next(), letters.next()) {
        (None, _, _) => 1.0,
        (Some(letter), Some('i'), None) => power(1024.0, if letter == 'K' { 'k' } else { letter })?,
        (Some(letter), None, _) => power(1000.0, letter)?,
        _ => return None,
    };
    let is_binary = prefix.ends_with('i');
    let value = value * factor;
    (value.is_finite() && value > 0.0 && value < MOST).then_some((value, is_bytes || is_binary))
}

/// `0.1%`, or a share such as `0.001`.
pub fn parse_share(text: &str) -> Option<f64> {
    let text = text.trim();
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    share.is_finite().then_some(share)
}

/// Words apart; quotation marks of either kind keep blanks together.
fn words(text: &str) -> Result<Vec<String>, NeedError> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    for letter in text.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if letter == '\'' || letter == '"' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => all.extend(word.take()),
            None => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return Err(NeedError::new(format!("`{text}`: a quotation mark is not closed"), FORMS));
    }
    all.extend(word);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn needs_are_read_as_they_are_written() {
        let web = parse("web 20000/s p99<20ms errors<0.1% connections=100").unwrap();
        assert_eq!(
            (web.work.clone(), web.demand, web.unit),
            (Work::Web, Some(Ranged::point(20_000.0)), Unit::PerSec)
        );
        assert_eq!(web.limit.unwrap().seconds, 0.02);
        assert!((web.errors.unwrap() - 0.001).abs() < 1e-12);
        assert_eq!(web.params.get("connections"), Some("100"));
        let cmd = parse("cmd 'make -j8' 400/h").unwrap();
        assert_eq!((cmd.name(), cmd.demand.unwrap().low), ("make -j8", 400.0 / 3600.0));
        assert_eq!(parse("memory 2TiB").unwrap().demand, Some(Ranged::point(2.0 * 1024f64.powi(4))));
        assert_eq!(parse("disk 40TB").unwrap().demand, Some(Ranged::point(40e12)));
        assert_eq!(parse("kv 20..30k/s").unwrap().demand, Some(Ranged { low: 20e3, high: 30e3 }));
        assert_eq!(parse("disk-seq 2GB/s op=read").unwrap().unit, Unit::BytesPerSec);
        assert_eq!(parse("logs a.log p99<50ms").unwrap().demand, None);
        assert_eq!(parse("MIX.json 3000/s").unwrap().work, Work::Mix("MIX.json".to_owned()));
        let grown = parse("logs a.log x200 p99<50ms").unwrap();
        assert_eq!((grown.demand, grown.factor), (None, Some(Ranged::point(200.0))));
        assert_eq!(parse("a.json x1.5..2").unwrap().factor, Some(Ranged { low: 1.5, high: 2.0 }));
    }

    #[test]
    fn an_instrument_may_have_a_test_behind_it() {
        let need = parse("hadoop terasort 1TB/h").unwrap();
        assert_eq!(
            (&need.work, need.params.get(TEST)),
            (&Work::Instrument("hadoop".into()), Some("terasort"))
        );
        assert_eq!((need.demand, need.unit), (Some(Ranged::point(1e12 / 3600.0)), Unit::BytesPerSec));
        assert_eq!((need.name(), need.long_name().as_str()), ("hadoop", "hadoop test=terasort"));
        for (text, part) in [
            ("hadoop terasort", "no demand"),
            ("hadoop terasort wordcount 1TB/h", "neither a rate"),
            ("hadoop terasort 1TB/h test=x", "twice"),
            ("web soon 10/s", "neither a rate"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.what.contains(part), "{text}: {}", error.what);
        }
        assert_eq!(parse("web 1/s p99<20ms").unwrap().long_name(), "web p99 < 20.0 ms");
    }

    #[test]
    fn a_slip_has_what_was_meant() {
        let hint = |text: &str| parse(text).expect_err(text).hint;
        assert_eq!(hint("web 10/s p99<50"), "write p99<50ms or p99<50s");
        assert_eq!(hint("Key-Value 10/s"), "did you mean `kv`?");
    }

    #[test]
    fn wrong_needs_say_what_is_wrong() {
        let cases = [
            ("", "empty"),
            ("web", "no demand"),
            ("web 0/s", "above 0"),
            ("web -5/s", "above 0"),
            ("web nan/s", "above 0"),
            ("web 1e999/s", "above 0"),
            ("web 20000", "neither a rate"),
            ("web x200", "demand of a log"),
            ("logs a.log 20/s x200", "demand is given already"),
            ("logs a.log x200 20/s", "demand of a log"),
            ("logs a.log x2 x3", "demand is given already"),
            ("logs a.log x0", "neither a rate"),
            ("web 2TiB", "an amount"),
            ("memory 2/s", "no rate"),
            ("memory 2TiB p99<1ms", "no response time"),
            ("web 10/s p98<1ms", "no condition"),
            ("web 10/s p99<soon", "not a time"),
            ("web 10/s p99<50", "has no unit"),
            ("web 10/s p99<=0.5", "has no unit"),
            ("key-value 10/s", "`key-value` is no work"),
            ("web 10/s p99<1ms p99<2ms", "twice"),
            ("web 10/s errors<200%", "share"),
            ("web 10/s 20/s", "already"),
            ("web 30..20/s", "above 0"),
            ("cmd 'make 4/h", "not closed"),
            ("cmd", "names no command"),
            ("<5 10/s", "no work"),
            ("web 1/s a=1 a=2", "twice"),
        ];
        for (text, part) in cases {
            let error = parse(text).expect_err(text);
            assert!(error.what.contains(part), "{text}: {}", error.what);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,60}") {
            let _ = parse(&text);
        }

        #[test]
        fn a_rate_is_read_back(rate in 0.001f64..1e9) {
            let need = parse(&format!("web {rate}/s")).unwrap();
            prop_assert_eq!(need.demand, Some(Ranged::point(rate)));
        }
    }
}
