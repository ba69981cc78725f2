//! Parameters: canonical `k=v` pairs, their specification on a card, and sizes such as `8MiB`.
//!
//! A parameter's stored form is text in one canonical spelling, so that equal parameters are equal keys.

mod kind;
mod label;

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flags::{self, Flag};
use crate::url::Url;

pub use label::{Label, QUOTED};

pub use kind::{ParamKind, number, parse_span, show_time, whole};

// Copies share the pairs: a document of many machines has each key thousands of times.
/// Sorted `k=v` pairs; part of every series key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(Arc<BTreeMap<String, String>>);

impl Params {
    /// Parses `k=v;k=v` (or commas); an empty text is no parameter. Fails for a part without `=`, or a name that is
    /// given twice.
    pub fn parse(text: &str) -> Result<Params, ParamError> {
        let mut params = Params::default();
        for pair in text.split([';', ',']).map(str::trim).filter(|pair| !pair.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(ParamError::NotAPair(pair.to_owned()));
            };
            let (key, value) = (key.trim(), value.trim());
            if key.is_empty() || value.is_empty() {
                return Err(ParamError::NotAPair(pair.to_owned()));
            }
            if params.pairs_mut().insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(ParamError::Twice(key.to_owned()));
            }
        }
        Ok(params)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub fn set(&mut self, key: &str, value: &str) {
        self.pairs_mut().insert(key.to_owned(), value.to_owned());
    }

    /// Takes a pair out; its value, if it was there.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        if self.0.contains_key(key) { self.pairs_mut().remove(key) } else { None }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> btree_map::Iter<'_, String, String> {
        self.0.iter()
    }

    pub fn keys(&self) -> btree_map::Keys<'_, String, String> {
        self.0.keys()
    }

    pub fn values(&self) -> btree_map::Values<'_, String, String> {
        self.0.values()
    }

    /// Takes out the pairs for which `keep` is false.
    pub fn retain(&mut self, keep: impl Fn(&str, &str) -> bool) {
        // Where all stay, the pairs stay shared.
        if self.iter().any(|(key, value)| !keep(key, value)) {
            self.pairs_mut().retain(|key, value| keep(key, value));
        }
    }

    fn pairs_mut(&mut self) -> &mut BTreeMap<String, String> {
        Arc::make_mut(&mut self.0)
    }

    /// These pairs with `other`'s laid over them.
    pub fn with(&self, other: &Params) -> Params {
        let mut merged = self.clone();
        merged.pairs_mut().extend(other.0.iter().map(|(key, value)| (key.clone(), value.clone())));
        merged
    }

    /// These pairs without the keys of `other`.
    pub fn without(&self, other: &Params) -> Params {
        self.iter().filter(|(key, _)| !other.0.contains_key(*key)).collect()
    }

    /// True when every pair that both name agrees.
    pub fn agrees(&self, other: &Params) -> bool {
        self.0.iter().all(|(key, value)| other.0.get(key).is_none_or(|theirs| theirs == value))
    }

    /// True when every pair of `part` stands here too.
    pub fn contains(&self, part: &Params) -> bool {
        part.0.iter().all(|(key, value)| self.0.get(key) == Some(value))
    }
}

impl FromIterator<(String, String)> for Params {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Params {
        Params(Arc::new(pairs.into_iter().collect()))
    }
}

impl<'a> FromIterator<(&'a String, &'a String)> for Params {
    fn from_iter<T: IntoIterator<Item = (&'a String, &'a String)>>(pairs: T) -> Params {
        pairs.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

impl<'a> IntoIterator for &'a Params {
    type Item = (&'a String, &'a String);
    type IntoIter = btree_map::Iter<'a, String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Params {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ";" };
            write!(out, "{separator}{key}={value}")?;
        }
        Ok(())
    }
}

/// The error of a parameter that does not fit its specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    #[error("`{0}` is not of the form key=value")]
    NotAPair(String),
    #[error("`{0}` is given twice")]
    Twice(String),
    #[error("unknown parameter `{key}`; {instrument} has: {known}")]
    Unknown { instrument: String, key: String, known: String },
    #[error("`{key}={value}` is not possible: {wanted}")]
    Impossible { key: String, value: String, wanted: String },
}

/// One parameter on a card.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    pub name: &'static str,
    pub kind: ParamKind,
    pub default: &'static str,
    pub says: &'static str,
    /// How a value is written in a figure's name.
    pub label: Label,
    /// Values by which figures are put in order, before any other; without them, a choice's own order.
    pub first: &'static [&'static str],
    pub part: Part,
    pub matched: Matched,
    /// How figures that it keeps apart could be made comparable, as a clause.
    pub remedy: Option<&'static str>,
    pub implies: Option<Implied>,
    /// The option of `run` that sets it.
    pub flag: Option<Flag>,
    /// How the address of a target (`--target`) is written as parameters of the card; `None` of what is no address.
    pub target: Option<AddressOf>,
}

/// Reads the address of a target. Fails, with what is wanted instead, where it is none for the card.
pub type AddressOf = fn(&str) -> Result<flags::Settings, String>;

/// The part of a load that a parameter is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    Take,
    /// When requests are sent; a search for a rate sets these itself.
    Schedule,
    /// The server, as far as it is started for the take. One that runs already is never changed.
    Server,
    /// Where the server, the store or the far end is. With one of these values it is started for the take.
    Address { ours: &'static [&'static str] },
}

/// How a parameter counts where the figures of two sides are matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matched {
    /// Figures that differ in it are different figures.
    #[default]
    Identity,
    /// Figures that differ in it may be compared, with a remark, where each named side has only one.
    Condition,
    /// How long or how often: it keeps no figures apart.
    Extent,
    /// URLs: their scheme is identity, their path a condition, host and port an address that keeps no figures apart.
    Url,
    /// Where something of the user's is: an address that keeps no figures apart. Values that stand for something of
    /// ours are identity.
    Address,
}

/// How closely figures are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Whatever the address and the extent.
    Close,
    /// Whatever the conditions, too.
    Loose,
}

/// A value that a parameter gives to another one: only where it is set itself, and the other one has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Implied {
    pub param: &'static str,
    pub value: &'static str,
    /// The reason, as a clause about the value: `which alone has MPMs`.
    pub why: &'static str,
}

impl ParamSpec {
    /// A parameter that has its default where nobody gives it; `says` is one line for its user.
    pub const fn new(
        name: &'static str,
        kind: ParamKind,
        default: &'static str,
        says: &'static str,
    ) -> ParamSpec {
        ParamSpec {
            name,
            kind,
            default,
            says,
            label: Label::Pair,
            first: &[],
            part: Part::Take,
            matched: Matched::Identity,
            remedy: None,
            implies: None,
            flag: None,
            target: None,
        }
    }

    #[must_use]
    pub const fn label(self, label: Label) -> ParamSpec {
        ParamSpec { label, ..self }
    }

    #[must_use]
    pub const fn first(self, first: &'static [&'static str]) -> ParamSpec {
        ParamSpec { first, ..self }
    }

    #[must_use]
    pub const fn flag(self, flag: Flag) -> ParamSpec {
        ParamSpec { flag: Some(flag), ..self }
    }

    #[must_use]
    pub const fn target(self, target: AddressOf) -> ParamSpec {
        ParamSpec { target: Some(target), ..self }
    }

    #[must_use]
    pub const fn part(self, part: Part) -> ParamSpec {
        ParamSpec { part, ..self }
    }

    #[must_use]
    pub const fn matched(self, matched: Matched) -> ParamSpec {
        ParamSpec { matched, ..self }
    }

    #[must_use]
    pub const fn remedy(self, remedy: &'static str) -> ParamSpec {
        ParamSpec { remedy: Some(remedy), ..self }
    }

    /// The part of a value in which two figures must agree to be matched; `None` where they need not.
    pub fn key_part(&self, value: &str, how: Match) -> Option<String> {
        match (self.matched, how) {
            (Matched::Extent, _) | (Matched::Condition, Match::Loose) => None,
            (Matched::Identity, _) | (Matched::Condition, Match::Close) => Some(value.to_owned()),
            (Matched::Address, _) => match self.part {
                Part::Address { ours } if !ours.contains(&value) => Some("address".to_owned()),
                _ => Some(value.to_owned()),
            },
            (Matched::Url, how) => {
                let part = |url: Url| match how {
                    Match::Close => format!("{}://{}", url.scheme.name(), url.path),
                    Match::Loose => url.scheme.name().to_owned(),
                };
                let mut parts: Vec<String> =
                    value.split_whitespace().map(|url| url.parse().map_or(url.to_owned(), part)).collect();
                if how == Match::Loose {
                    parts.dedup();
                }
                Some(parts.join(" "))
            }
        }
    }

    #[must_use]
    pub const fn implies(self, param: &'static str, value: &'static str, why: &'static str) -> ParamSpec {
        ParamSpec { implies: Some(Implied { param, value, why }), ..self }
    }

    /// The value that this parameter implies in `set`; `None` where it has its default, or the other one is set.
    pub fn implied(&self, set: &Params, default: &str) -> Option<Implied> {
        let implied = self.implies?;
        let is_told = set.get(self.name).is_some_and(|value| value != self.default);
        let is_free = set.get(implied.param).is_none_or(|value| value == default);
        (is_told && is_free).then_some(implied)
    }

    /// These with another default for the one of that name.
    pub const fn defaulting<const N: usize>(
        mut specs: [ParamSpec; N],
        name: &str,
        default: &'static str,
    ) -> [ParamSpec; N] {
        let mut at = 0;
        while at < N {
            if is_same_text(specs[at].name, name) {
                specs[at].default = default;
            }
            at += 1;
        }
        specs
    }

    /// How many of these are not part of the schedule.
    pub const fn count_unscheduled(specs: &[ParamSpec]) -> usize {
        let (mut at, mut count) = (0, 0);
        while at < specs.len() {
            count += !matches!(specs[at].part, Part::Schedule) as usize;
            at += 1;
        }
        count
    }

    /// Those `N` parameters that are not part of the schedule.
    pub const fn unscheduled<const N: usize>(specs: &[ParamSpec]) -> [ParamSpec; N] {
        let mut all = [specs[0]; N];
        let (mut at, mut next) = (0, 0);
        while next < specs.len() {
            if !matches!(specs[next].part, Part::Schedule) {
                all[at] = specs[next];
                at += 1;
            }
            next += 1;
        }
        all
    }

    /// Place of a value where figures are put in order: among those that come first or the choices, else by number.
    /// Sizes and choices that are missing come last, numbers that are missing first.
    pub fn place(&self, value: Option<&str>) -> u64 {
        let words = if self.first.is_empty() { self.kind.choices().unwrap_or_default() } else { self.first };
        if !words.is_empty() {
            let Some(value) = value else { return if self.first.is_empty() { u64::MAX } else { 0 } };
            return words.iter().position(|word| *word == value).unwrap_or(words.len()) as u64;
        }
        match (self.kind.is_size(), value) {
            (true, value) => value.and_then(parse_bytes).unwrap_or(u64::MAX),
            (false, None) => 0,
            (false, Some("auto" | "none")) => 0,
            (false, Some(value)) => value.trim_end_matches('%').parse().unwrap_or(u64::MAX),
        }
    }

    /// The canonical spelling of `value`, or what is wanted instead.
    pub fn canonical(&self, value: &str) -> Result<String, ParamError> {
        let wrong = |wanted: String| ParamError::Impossible {
            key: self.name.to_owned(),
            value: value.to_owned(),
            wanted,
        };
        self.kind.canonical(value).ok_or_else(|| wrong(self.kind.wanted()))
    }
}

/// `a == b`, while the program is compiled.
const fn is_same_text(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Parses `31`, `4k`, `4KiB`, `8MiB`, `1G` (prefixes are powers of two, `kB`/`MB`/`GB` powers of ten).
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let factor: u64 = match text.get(digits..)?.trim() {
        "" | "B" => 1,
        "k" | "K" | "Ki" | "KiB" => 1 << 10,
        "M" | "Mi" | "MiB" => 1 << 20,
        "G" | "Gi" | "GiB" => 1 << 30,
        "T" | "Ti" | "TiB" => 1 << 40,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// Values of a parameter are equal when they are the same text or the same number of bytes.
pub fn same(a: &str, b: &str) -> bool {
    a == b || parse_bytes(a).is_some_and(|bytes| parse_bytes(b) == Some(bytes))
}

/// The canonical spelling of a size: the largest binary prefix that divides it. It is read back, so it is exact and
/// without a blank, unlike `format::quantity`.
pub fn show_bytes(bytes: u64) -> String {
    const PREFIXES: [(u64, &str); 4] =
        [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (factor, suffix) in PREFIXES {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{}{suffix}", bytes / factor);
        }
    }
    bytes.to_string()
}

/// Parses a kernel-style CPU list (`0-3,8`); sorted, without repeats; `None` for anything else.
pub fn parse_cpus(text: &str) -> Option<Vec<u32>> {
    const MOST: u32 = 65_536;
    let mut cpus = Vec::new();
    for part in text.trim().split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?),
            None => (part.parse().ok()?, part.parse().ok()?),
        };
        if first > last || last >= MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    (!cpus.is_empty()).then_some(cpus)
}

/// A CPU of a list that this process cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("CPU {cpu} is not here, or not allowed")]
pub struct NoCpu {
    pub cpu: u32,
    /// Those that it can use, folded: `0-3`.
    pub allowed: String,
}

/// Fails where one of the CPUs is not among those that are allowed.
pub fn check_cpus<C: Copy + TryInto<u32>>(wanted: &[u32], allowed: &[C]) -> Result<(), NoCpu> {
    let allowed: Vec<u32> = allowed.iter().filter_map(|cpu| (*cpu).try_into().ok()).collect();
    match wanted.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(()),
        Some(cpu) => Err(NoCpu { cpu: *cpu, allowed: show_cpus(&allowed) }),
    }
}

/// The folded spelling of a CPU list, the inverse of [`parse_cpus`].
pub fn show_cpus(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let show = |&(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(show).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_parse_back(bytes in any::<u64>()) {
            prop_assert_eq!(parse_bytes(&show_bytes(bytes)), Some(bytes));
        }

        #[test]
        fn cpus_parse_back(cpus in proptest::collection::btree_set(0u32..5000, 1..64)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            prop_assert_eq!(parse_cpus(&show_cpus(&cpus)), Some(cpus));
        }

        #[test]
        fn nothing_panics(text in ".*") {
            let _ = (Params::parse(&text), parse_bytes(&text), parse_cpus(&text));
        }

        #[test]
        fn params_parse_back(pairs in proptest::collection::btree_map("[a-z.]{1,8}", "[a-z0-9-]{1,8}", 0..6)) {
            let params = Params(Arc::new(pairs));
            prop_assert_eq!(Params::parse(&params.to_string()), Ok(params));
        }
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(Params::parse("a=1,a=2"), Err(ParamError::Twice("a".into())));
        assert_eq!(Params::parse("a"), Err(ParamError::NotAPair("a".into())));
        let spec = ParamSpec::new("op", ParamKind::Choice(&["read", "copy"]), "read", "");
        assert_eq!(
            spec.canonical("wirte").unwrap_err().to_string(),
            "`op=wirte` is not possible: one of read, copy"
        );
    }

    #[test]
    fn host_and_port_are_an_address() {
        let url = ParamSpec::new("url", ParamKind::Urls, "none", "").matched(Matched::Url);
        let part = |text: &str, how| url.key_part(text, how).unwrap();
        let close = |text: &str| part(text, Match::Close);
        assert_eq!(close("http://127.0.0.1:8080"), close("http://localhost/"));
        assert_ne!(close("http://a/x"), close("http://a/y"));
        assert_ne!(close("http://a/"), close("https://a/"));
        assert_eq!(close("redis://a:1"), close("redis://b:2"));
        assert_eq!(close("none"), "none");
        assert_eq!(part("http://a/x http://a/y", Match::Loose), part("http://b/z", Match::Loose));
        let store = ParamSpec::new("kv", ParamKind::Text, "redis", "")
            .part(Part::Address { ours: &["redis", "memcached"] })
            .matched(Matched::Address);
        let of = |text: &str| store.key_part(text, Match::Close).unwrap();
        assert!(of("a:1") == of("b:2") && of("redis") != of("memcached") && of("redis") != of("a:1"));
        let span = ParamSpec { matched: Matched::Extent, ..url };
        assert_eq!((span.key_part("2", Match::Close), span.key_part("2", Match::Loose)), (None, None));
        let count = ParamSpec { matched: Matched::Condition, ..url };
        assert_eq!(count.key_part("50", Match::Close), Some("50".to_owned()));
        assert_eq!(count.key_part("50", Match::Loose), None);
    }

    #[test]
    fn sizes_have_one_spelling() {
        let spec = ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 1 << 30 }, "1KiB", "");
        assert_eq!(spec.canonical("1024").unwrap(), "1KiB");
        assert_eq!(spec.canonical("1k").unwrap(), "1KiB");
        assert_eq!(spec.canonical("127").unwrap(), "127");
        assert!(spec.canonical("auto").is_err());
        let spec =
            ParamSpec { kind: ParamKind::Or("auto", &ParamKind::Bytes { min: 1, max: 1 << 30 }), ..spec };
        assert_eq!(spec.canonical("auto").unwrap(), "auto");
        assert_eq!(spec.canonical("2048").unwrap(), "2KiB");
        assert!(spec.canonical("2TiB").is_err());
        let spec = ParamSpec {
            kind: ParamKind::Or("none", &ParamKind::Bytes { min: 1 << 20, max: 1 << 30 }),
            ..spec
        };
        assert_eq!(spec.canonical("none").unwrap(), "none");
        assert_eq!(spec.canonical("512M").unwrap(), "512MiB");
        for bad in ["auto", "1k", "2G", ""] {
            assert!(spec.canonical(bad).unwrap_err().to_string().contains("1MiB to 1GiB"), "{bad}");
        }
    }
}
