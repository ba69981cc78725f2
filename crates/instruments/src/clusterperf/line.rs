//! One line of one figure: `basic.read100         17.1 us     read random 100B object (30B key) median`, or of a figure
//! with its bounds: `basic.read100 13.8 us, Best 13.3 us , Worst 32.2 us`, with a line of its bandwidth below it.

use model::{Better, Unit};

/// Which definition of `basic` was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// The mean over one hot object, until July 2014.
    One,
    /// Each request to one hot object, until September 2014.
    Two,
    /// Each request to random objects, since.
    Three,
}

impl Era {
    /// The value of the parameter `definition`.
    pub const fn word(self) -> &'static str {
        match self {
            Era::One => "era1",
            Era::Two => "era2",
            Era::Three => "era3",
        }
    }
}

/// Units as they are printed, with the base unit and the factor to it.
const UNITS: [(&str, Unit, f64); 13] = [
    ("ns", Unit::Second, 1e-9),
    ("us", Unit::Second, 1e-6),
    ("ms", Unit::Second, 1e-3),
    ("s", Unit::Second, 1.0),
    ("B/s", Unit::BytesPerSec, 1.0),
    ("KB/s", Unit::BytesPerSec, 1024.0),
    ("MB/s", Unit::BytesPerSec, 1_048_576.0),
    ("GB/s", Unit::BytesPerSec, 1_073_741_824.0),
    ("/s", Unit::PerSec, 1.0),
    ("K/s", Unit::PerSec, 1e3),
    ("M/s", Unit::PerSec, 1e6),
    ("G/s", Unit::PerSec, 1e9),
    ("%", Unit::Ratio, 0.01),
];

/// By which output of clusterperf is told from other texts: the beginning of a figure's name, and of its words.
const KNOWN: [(&str, &str); 7] = [
    ("basic.read", ""),
    ("basic.write", ""),
    ("readNotFound", ""),
    ("netBandwidth", ""),
    ("echoBw", "bandwidth receiving "),
    ("echo", "send "),
    ("broadcast", "broadcast message to "),
];

/// Levels of RAMCloud's messages.
const LEVELS: [&str; 5] = ["(none)", "ERROR", "WARNING", "NOTICE", "DEBUG"];

/// Ends of the names of figures that stand beside another one.
const ASIDE: [&str; 9] = [".min", ".max", ".9", ".90", ".99", ".999", ".9999", ".99999", ".avg"];

/// A line, as far as it is one of a figure.
pub struct Line<'a> {
    pub name: &'a str,
    pub unit: Unit,
    number: &'a str,
    factor: f64,
    words: &'a str,
}

/// True for a line that only clusterperf prints.
pub fn is_known(text: &str) -> bool {
    let (name, said) = match (parse(text), bounded(text)) {
        (Some(line), _) => (line.name, line.words),
        (None, Some([mean, ..])) => (mean.name, ""),
        (None, None) => return false,
    };
    KNOWN.iter().any(|(begin, words)| name.starts_with(begin) && said.starts_with(words))
}

/// True for a message of RAMCloud among the figures: `1424126587.12 ClusterPerf.cc:3076 in echo_basic NOTICE[1]: ...`.
pub fn is_message(text: &str) -> bool {
    let mut words = text.split(' ');
    let mut next = || words.next().unwrap_or_default();
    let (time, place, in_word, _function, level) = (next(), next(), next(), next(), next());
    let is_time = time.starts_with(|c: char| c.is_ascii_digit()) && time.parse::<f64>().is_ok();
    let is_level =
        level.split_once('[').is_some_and(|(name, thread)| LEVELS.contains(&name) && thread.ends_with("]:"));
    is_time && place.contains(':') && in_word == "in" && is_level
}

/// A number with its unit, in the base unit.
fn measure<'a>(name: &'a str, number: &'a str, printed: &str) -> Option<Line<'a>> {
    let (_, unit, factor) = *UNITS.iter().find(|(known, ..)| *known == printed)?;
    number.starts_with(|c: char| c.is_ascii_digit() || c == '-').then_some(())?;
    Some(Line { name, unit, number, factor, words: "" })
}

/// The line of a figure with its bounds, as clusterperf of early 2014 was published: mean, best, worst.
pub fn bounded(text: &str) -> Option<[Line<'_>; 3]> {
    let words: Vec<&str> =
        text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty()).collect();
    let [name, mean, of_mean, "Best", best, of_best, "Worst", worst, of_worst] = words[..] else {
        return None;
    };
    is_name(name).then_some(())?;
    Some([measure(name, mean, of_mean)?, measure(name, best, of_best)?, measure(name, worst, of_worst)?])
}

/// The line below it: the name of the bandwidth, as other versions print it, and the bandwidth.
pub fn bandwidth(text: &str) -> Option<(String, Line<'_>)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [number, printed, "bandwidth", done, size, ..] = words[..] else { return None };
    let done = match done {
        "reading" => "read",
        "writing" => "write",
        _ => return None,
    };
    let size = size.strip_suffix('B').filter(|size| size.starts_with(|c: char| c.is_ascii_digit()))?;
    Some((format!("basic.{done}Bw{size}"), measure("", number, printed)?))
}

/// The title of a listing: `Clusterperf.py with cut through switch mode.`
pub fn is_title(text: &str) -> bool {
    text.to_ascii_lowercase().contains("clusterperf")
}

fn is_name(name: &str) -> bool {
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(named)
}

/// The line of a figure: a name, a number, a unit, words.
pub fn parse(text: &str) -> Option<Line<'_>> {
    let (name, rest) = text.split_once(char::is_whitespace)?;
    is_name(name).then_some(())?;
    let (number, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let (printed, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some(Line { words: words.trim(), ..measure(name, number, printed)? })
}

/// The error for a line that belongs to no table and is no figure.
pub fn unknown(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    format!("`{shown}` is neither a figure (name, number, unit, words) nor of a table of clusterperf")
}

impl Line<'_> {
    /// The value in the base unit; `None` where clusterperf had too few requests for the percentile, which it prints
    /// as 0. Fails when it is not a number.
    pub fn value(&self) -> Result<Option<f64>, String> {
        let value = self.number.parse::<f64>().ok().map(|number| number * self.factor);
        match value.filter(|value| value.is_finite() && *value >= 0.0) {
            Some(value) if value > 0.0 || self.unit == Unit::Ratio => Ok(Some(value)),
            Some(_) if self.is_aside() => Ok(None),
            Some(_) => Err(format!("{}: it is 0, which no request takes", self.name)),
            None => Err(format!("{}: `{}` is no such number", self.name, self.number)),
        }
    }

    /// The definition of `basic` that the words name.
    pub fn era(&self) -> Option<Era> {
        let has = |word: &str| self.words.split(' ').any(|one| one == word);
        let each = has("median") || has("minimum") || self.words.ends_with('%');
        match (has("random"), has("single")) {
            (true, _) => Some(Era::Three),
            (false, true) if each => Some(Era::Two),
            (false, true) => Some(Era::One),
            (false, false) => None,
        }
    }

    pub fn better(&self) -> Better {
        match self.unit {
            _ if self.is_aside() => Better::Neither,
            Unit::Second => Better::Lower,
            // It follows from the times.
            Unit::BytesPerSec if self.name.starts_with("basic.") || self.name.starts_with("echoBw") => {
                Better::Neither
            }
            Unit::BytesPerSec | Unit::PerSec => Better::Higher,
            _ => Better::Neither,
        }
    }

    fn is_aside(&self) -> bool {
        ASIDE.iter().any(|end| self.name.ends_with(end))
    }
}
