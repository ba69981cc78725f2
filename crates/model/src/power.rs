//! Power of a machine at levels of its load: the levels, the meters, and readings as people and programs write them.
//!
//! Watts. A reading that cannot be understood is an error with what was there, never 0.

use std::fmt;

crate::words! {
    /// The source of readings. Figures of different meters are never compared.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Meter as word {
        /// The processor's own estimate of itself and its memory.
        Rapl = "rapl",
        /// A command that prints watts.
        Command = "command",
        /// Somebody reads a meter and types what it shows.
        Typed = "typed",
        /// The BMC of a node, asked by the program.
        Bmc = "bmc",
    }
}

/// The parameter of a take that says how much of what the machine can do is asked of it.
pub const LEVEL: &str = "level";
/// The parameter that says what the power is read by.
pub const METER: &str = "meter";
/// Values of [`LEVEL`]: nothing, or per cent of saturation.
pub const LEVELS: &[&str] = &["idle", "25", "50", "75", "100"];
pub const IDLE: &str = "idle";

/// Options of `run` that ask for power.
pub const FLAG: &str = "power";
pub const COMMAND_FLAG: &str = "watts-cmd";
pub const TYPED_FLAG: &str = "watts-typed";
pub const BMC_FLAG: &str = "watts-bmc";

/// Readings from here on are taken for another unit.
pub const MOST_WATTS: f64 = 1e5;

/// The share of saturation that a level stands for, from 0 to 1.
pub fn share(level: &str) -> Option<f64> {
    if level == IDLE {
        return Some(0.0);
    }
    let percent = level.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
    Some(percent / 100.0)
}

/// A level for people: `idle`, `at 50 %`.
pub fn level_name(share: f64) -> String {
    if share > 0.0 { format!("at {:.0} %", 100.0 * share) } else { IDLE.to_owned() }
}

/// Asks the user of the program for a reading while a take is under way.
pub trait Prompt: fmt::Debug + Send + Sync {
    /// Shows a question. It stands for itself: an earlier one is over.
    fn ask(&self, question: &str);
    /// The answer to the last question, once. `Some(None)`: there is no reading.
    fn answer(&self) -> Option<Option<f64>>;
    /// The last question is over; an answer that comes later is not used.
    fn withdraw(&self);
}

/// Fails where a number cannot be the power of a machine that runs.
pub fn checked(watts: f64) -> Result<f64, String> {
    match watts {
        watts if !watts.is_finite() => Err("it is no number".to_owned()),
        watts if watts <= 0.0 => Err(format!("{watts} W is not above 0")),
        watts if watts >= MOST_WATTS => {
            Err(format!("{watts} W is over 100 kW: it may be in another unit, such as mW or uW"))
        }
        watts => Ok(watts),
    }
}

/// A reading that was typed: `41.3`, `41,3 W`; `None` of an empty line. Fails where it is something else.
pub fn typed(text: &str) -> Result<Option<f64>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let found = found_in(text);
    match found.as_slice() {
        [one] if one.is_line => checked(one.watts()).map(Some),
        _ => Err(format!("`{}` is not a number of watts, such as 41.3", start_of(text))),
    }
}

/// The watts in the output of a command: the last number that has the unit, and of several the one of a line that says
/// `instantaneous`; where none has the unit, the last line that is nothing but a number, with or without a name before
/// it. Fails, with the beginning of the output, where there is none.
pub fn of_output(text: &str) -> Result<f64, String> {
    let lines: Vec<(&str, Vec<Found>)> = text.lines().map(|line| (line, found_in(line))).collect();
    let told = |is: &dyn Fn(&str, &Found) -> bool| {
        let all = lines.iter().flat_map(|(line, found)| found.iter().map(move |one| (*line, one)));
        all.filter(|(line, one)| is(line, one)).map(|(_, one)| one.watts()).last()
    };
    let instantaneous =
        |line: &str, one: &Found| one.unit.is_some() && line.to_lowercase().contains("instantaneous");
    let watts = told(&instantaneous)
        .or_else(|| told(&|_, one| one.unit.is_some()))
        .or_else(|| told(&|_, one| one.is_line));
    let wrong = |why: &str| format!("{why}: {}", start_of(text));
    match watts {
        Some(watts) => checked(watts).map_err(|why| wrong(&why)),
        None if text.trim().is_empty() => Err("it printed nothing".to_owned()),
        None => Err(wrong("no number of watts in its output")),
    }
}

/// The beginning of a text, on one line.
fn start_of(text: &str) -> String {
    const MOST: usize = 120;
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.retain(|letter| !letter.is_control());
    match words.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &words[..at]),
        None => words,
    }
}

/// A number in a line.
struct Found {
    number: f64,
    /// How many watts its unit is; `None` without one.
    unit: Option<f64>,
    /// The line is nothing else, but for a name before it.
    is_line: bool,
}

impl Found {
    fn watts(&self) -> f64 {
        self.number * self.unit.unwrap_or(1.0)
    }
}

/// The number of watts that a unit stands for.
fn unit(word: &str) -> Option<f64> {
    match word {
        "W" | "w" | "Watt" | "Watts" | "watt" | "watts" | "WATT" | "WATTS" => Some(1.0),
        "mW" | "milliwatt" | "milliwatts" => Some(1e-3),
        "uW" | "\u{b5}W" | "\u{3bc}W" | "microwatts" => Some(1e-6),
        "kW" | "KW" => Some(1e3),
        _ => None,
    }
}

/// A decimal number with a point, or with a comma that one or two digits follow: with three it may be a thousand.
fn number(word: &str) -> Option<f64> {
    let is_plain = word.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-' | '+'));
    if is_plain {
        return word.parse().ok();
    }
    let (whole, part) = word.split_once(',')?;
    let are_digits = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    let is_decimal = are_digits(whole) && are_digits(part) && (1..=2).contains(&part.len());
    if is_decimal { format!("{whole}.{part}").parse().ok() } else { None }
}

/// The numbers of a line that stand by themselves, not those in names, times and addresses.
fn found_in(line: &str) -> Vec<Found> {
    // `power=41` and `power:41` are a name and a number.
    let words: Vec<&str> = line.split_whitespace().flat_map(parted).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (digits, joined) = split_unit(word);
        let Some(number) = number(digits) else { continue };
        let behind = words.get(at + 1).copied().map(plain_end);
        let (unit, used) = match joined {
            "" => (behind.and_then(unit), usize::from(behind.and_then(unit).is_some())),
            joined => (unit(plain_end(joined)), 0),
        };
        if !joined.is_empty() && unit.is_none() {
            continue;
        }
        let is_last = at + 1 + used == words.len();
        let is_named = at == 0 || words.get(at - 1).is_some_and(|name| name.ends_with([':', '=', '|', ',']));
        found.push(Found { number, unit, is_line: is_last && is_named });
    }
    found
}

/// A word without the mark at its end.
fn plain_end(word: &str) -> &str {
    word.trim_end_matches([',', '.', ';', ')', '|'])
}

/// `power=41W` as `power=` and `41W`; a time such as 12:30 stays whole.
fn parted(word: &str) -> Vec<&str> {
    let marks = word.matches([':', '=']).count();
    let cut = word.find([':', '=']).map(|at| word.split_at(at + 1));
    match cut {
        Some((name, value))
            if marks == 1 && !value.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            vec![name, value]
        }
        _ => vec![word],
    }
}

/// `41.3W` as `41.3` and `W`.
fn split_unit(word: &str) -> (&str, &str) {
    let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '-' | '+');
    let end = word.find(|letter| !is_of_number(letter)).unwrap_or(word.len());
    let (digits, rest) = word.split_at(end);
    let kept = digits.trim_end_matches([',', '.']);
    (kept, rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DCMI: &str = "
    Instantaneous power reading:                   123 Watts
    Minimum during sampling period:                 85 Watts
    Maximum during sampling period:                388 Watts
    Average power reading over sample period:      124 Watts
    IPMI timestamp:                           Thu Nov 26 04:12:31 2026
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated
";

    #[test]
    fn watts_of_many_programs_are_read() {
        for (text, watts) in [
            ("123\n", 123.0),
            ("123.4 W", 123.4),
            ("123.4W\n", 123.4),
            ("45,3 W", 45.3),
            (DCMI, 123.0),
            ("sensor: 45 W\n", 45.0),
            ("power1:       45.00 W  (interval = 300.00 s)\n", 45.0),
            ("PSU1: 30 W\nPSU2: 31 W\n", 31.0),
            ("power=41\n", 41.0),
            ("Pwr Consumption  | 84 | Watts\nPwr Consumption | 84 Watts | ok", 84.0),
            ("41250 mW", 41.25),
            ("1.2 kW", 1200.0),
            ("read at 12:30:01 from 10.0.0.7\n88\n", 88.0),
            ("\u{feff}x\n  77  \n\n", 77.0),
        ] {
            assert_eq!(of_output(text), Ok(watts), "{text}");
        }
    }

    #[test]
    fn what_is_no_power_is_an_error_with_its_beginning() {
        for (text, says) in [
            ("", "it printed nothing"),
            ("\n \n", "it printed nothing"),
            ("no reading", "no number of watts in its output: no reading"),
            ("up 3 days", "no number of watts"),
            ("0 W", "0 W is not above 0: 0 W"),
            ("-5", "-5 W is not above 0"),
            ("45000000\n", "over 100 kW: it may be in another unit, such as mW or uW: 45000000"),
            ("1,234 W", "no number of watts"),
            ("NaN W", "no number of watts"),
            ("psu2", "no number of watts"),
            ("12:30", "no number of watts"),
        ] {
            let why = of_output(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
        let long = of_output(&"x".repeat(5000)).unwrap_err();
        assert!(long.len() < 200 && long.ends_with("..."), "{long}");
    }

    #[test]
    fn typed_readings_are_numbers_or_nothing() {
        assert_eq!(typed("41.3\n"), Ok(Some(41.3)));
        assert_eq!(typed(" 41,3 W "), Ok(Some(41.3)));
        assert_eq!(typed("41W"), Ok(Some(41.0)));
        assert_eq!(typed("  \n"), Ok(None));
        for text in ["abc", "41 42", "0", "-3", "100000", "nan", "inf", "1e9", "41 V", "about 41", "1,234"] {
            assert!(typed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn levels_are_shares() {
        let shares: Vec<Option<f64>> = LEVELS.iter().map(|level| share(level)).collect();
        assert_eq!(shares, [Some(0.0), Some(0.25), Some(0.5), Some(0.75), Some(1.0)]);
        assert_eq!((share("101"), share("nan"), share("")), (None, None, None));
        assert_eq!((level_name(0.0).as_str(), level_name(0.25).as_str()), ("idle", "at 25 %"));
    }

    proptest! {
        #[test]
        fn nothing_panics_and_what_is_read_is_power(text in "(\\PC|\n){0,60}") {
            let is_power = |watts: f64| watts.is_finite() && watts > 0.0 && watts < MOST_WATTS;
            prop_assert!(of_output(&text).is_ok_and(is_power) || of_output(&text).is_err());
            prop_assert!(typed(&text).is_ok_and(|watts| watts.is_none_or(is_power)) || typed(&text).is_err());
        }

        #[test]
        fn numbers_come_back(watts in 0.001f64..99_999.0) {
            prop_assert_eq!(of_output(&format!("{watts}")), Ok(watts));
            prop_assert_eq!(of_output(&format!("total power: {watts} W, and more")), Ok(watts));
            prop_assert_eq!(typed(&format!("{watts}")), Ok(Some(watts)));
        }
    }
}
