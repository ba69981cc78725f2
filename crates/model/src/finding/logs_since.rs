//! Since when requests of a label take longer, or less time: `since`.

use super::logs_parts::span_of;
use super::{Conclusion, Evidence, Validity, known};
use crate::doc::VerdictWord;
use crate::format::{Moment, list};

/// A part of the requests whose time changed: what it was multiplied by, with a 95 % interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// `/search/`, `answers below 4.00 KiB`; empty for all requests together.
    pub name: String,
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
}

/// From a moment to the end of what was read, requests take another time than before it.
#[derive(Clone, Debug, PartialEq)]
pub struct LogsSince {
    pub label: String,
    /// Seconds since 1970, and those that the log's own clock is ahead.
    pub at: f64,
    pub zone: f64,
    /// Seconds that were read.
    pub span: f64,
    /// The one with the most time first; all in one way.
    pub parts: Vec<Changed>,
    /// Labels with requests of the first part at the same times, which did not change then.
    pub steady: Vec<String>,
    /// How the first part compared before with that of the only steady label.
    pub before: Option<VerdictWord>,
}

/// Parts that a sentence names.
const NAMED: usize = 3;

impl Changed {
    /// `4.9 to 5.2 times as long`, `25 to 30 % longer`, `40 to 50 % less time`.
    fn takes(&self) -> String {
        span_of(self.low, self.high).replace(" shorter", " less time")
    }
}

impl LogsSince {
    fn moment(&self) -> Option<Moment> {
        Moment::at(self.at + self.zone)
    }

    /// `2026-11-25T14:30`, by the log's own clock, as `--where` and `--cut` take it.
    pub fn given(&self) -> Option<String> {
        self.moment().map(|moment| format!("{}T{}", moment.date(), moment.time()))
    }

    /// `/search/ takes 4.9 to 5.2 times as long since Wed 14:30`
    fn changed(&self) -> String {
        let since = self.moment().map_or_else(String::new, |at| format!(" since {}", at.within(self.span)));
        match self.parts.as_slice() {
            [only] if only.name.is_empty() => format!("a request takes {}{since}", only.takes()),
            [only] => {
                let take = if only.name.starts_with('/') { "takes" } else { "take" };
                format!("{} {take} {}{since}", only.name, only.takes())
            }
            several => {
                let way =
                    if several.first().is_some_and(|one| one.ratio < 1.0) { "less time" } else { "longer" };
                let shown = if several.len() == NAMED + 1 { several.len() } else { several.len().min(NAMED) };
                let mut named: Vec<String> =
                    several[..shown].iter().map(|one| format!("{} ({})", one.name, one.takes())).collect();
                named.extend((shown < several.len()).then(|| format!("{} more", several.len() - shown)));
                format!("requests take {way}{since} in {}", list(&named))
            }
        }
    }
}

impl Conclusion for LogsSince {
    fn kind(&self) -> &'static str {
        "since"
    }

    fn state(&self) -> Validity {
        Validity::Ok
    }

    /// `web2: /search/ takes 4.9 to 5.2 times as long since Wed 14:30; web1's does not; before that, the two tie.`
    fn one(&self) -> String {
        let steady = match self.steady.as_slice() {
            [] => String::new(),
            [only] => format!("; {only}'s does not"),
            several => format!("; those of {} do not", list(several)),
        };
        let before = match self.before {
            Some(VerdictWord::Tie) => "; before that, the two tie",
            _ => "",
        };
        format!("{}: {}{steady}{before}.", self.label, self.changed())
    }

    fn names_subject(&self) -> bool {
        true
    }

    fn evidence(&self) -> Evidence {
        let first = self.parts.first();
        known([
            ("at", Some(self.at)),
            ("ratio", first.map(|part| part.ratio)),
            ("low", first.map(|part| part.low)),
            ("high", first.map(|part| part.high)),
            ("parts", Some(self.parts.len() as f64)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(name: &str, low: f64, high: f64) -> Changed {
        Changed { name: name.to_owned(), ratio: (low * high).sqrt(), low, high }
    }

    fn since(parts: Vec<Changed>) -> LogsSince {
        let (label, steady) = ("web2".to_owned(), vec!["web1".to_owned()]);
        let at = 1_795_617_000.0;
        LogsSince { label, at, zone: 0.0, span: 86_400.0, parts, steady, before: Some(VerdictWord::Tie) }
    }

    #[test]
    fn the_moment_and_the_size_are_said() {
        let one = since(vec![changed("/search/", 4.87, 5.24)]);
        assert_eq!(
            one.one(),
            "web2: /search/ takes 4.9 to 5.2 times as long since Wed 14:30; web1's does not; before that, the two tie."
        );
        assert_eq!(one.given().unwrap(), "2026-11-25T14:30");
        let alone = LogsSince { steady: Vec::new(), before: None, ..since(vec![changed("", 0.5, 0.6)]) };
        assert_eq!(alone.one(), "web2: a request takes 40 to 50 % less time since Wed 14:30.");
        let several = [changed("/a/", 1.5, 1.6), changed("/b/", 2.0, 2.4)];
        let both =
            LogsSince { steady: vec!["web1".into(), "web3".into()], before: None, ..since(several.to_vec()) };
        assert_eq!(
            both.one(),
            "web2: requests take longer since Wed 14:30 in /a/ (50 to 60 % longer) and /b/ (2.0 to 2.4 times as long); \
             those of web1 and web3 do not."
        );
        let zoned = LogsSince { zone: 3600.0, ..one };
        assert_eq!(zoned.given().unwrap(), "2026-11-25T15:30");
    }
}
