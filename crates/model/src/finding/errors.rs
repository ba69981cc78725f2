//! `errors`: requests of a load that failed.

use std::collections::BTreeMap;

use super::{Conclusion, Evidence, Several, Validity};
use crate::format::{list, percent};

const COUNTED: &str = "throughput counts good answers alone";
const NO_KIND: &str = "of which kind was not recorded";

#[derive(Clone, Debug, PartialEq)]
pub enum Errors {
    None,
    Failed(Failed),
}

/// Failed requests by kind, over all measured takes of a load; without kinds where only their share was recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failed {
    pub kinds: BTreeMap<String, f64>,
    /// The same requests as the kinds `status_4xx` and `status_5xx`, by status. Empty where those were not counted.
    pub statuses: BTreeMap<String, f64>,
    /// The first URL that was answered with a status.
    pub urls: BTreeMap<String, String>,
    /// Of all requests of the load.
    pub share: Option<f64>,
    /// More was offered than the server could answer, and nothing else went wrong.
    pub is_overload: bool,
}

impl Failed {
    /// Kinds and statuses, each request once.
    fn counts(&self) -> impl Iterator<Item = (String, f64)> {
        let by_status = self.statuses.iter().map(|(status, count)| (format!("status {status}"), *count));
        let others =
            self.kinds.iter().filter(|(kind, _)| self.statuses.is_empty() || !kind.starts_with("status_"));
        by_status.chain(others.map(|(kind, count)| (kind.clone(), *count)))
    }

    /// The most frequent first; statuses with the first URL that met them.
    fn named(&self) -> Vec<String> {
        let mut all: Vec<(String, f64)> = self.counts().collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let url = |what: &str| self.urls.iter().find(|(status, _)| what == format!("status {status}"));
        let one = |(what, count): (String, f64)| match url(&what) {
            Some((_, url)) => format!("{count:.0} {what} (first {url})"),
            None => format!("{count:.0} {what}"),
        };
        all.into_iter().map(one).collect()
    }

    const fn advice(&self) -> &'static str {
        match self.is_overload {
            true => "; more was offered than it could answer",
            false => "; look at the server's error log and limits",
        }
    }
}

impl Errors {
    const fn failed(&self) -> Option<&Failed> {
        match self {
            Errors::None => None,
            Errors::Failed(failed) => Some(failed),
        }
    }
}

impl Conclusion for Errors {
    fn kind(&self) -> &str {
        "errors"
    }

    fn state(&self) -> Validity {
        match self {
            Errors::None => Validity::Ok,
            Errors::Failed(_) => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        let Errors::Failed(failed) = self else { return "no request failed".to_owned() };
        let share = failed.share.map_or_else(String::new, |share| format!("{} of its ", percent(share)));
        match failed.named().as_slice() {
            [] => format!("{COUNTED}: {share}requests failed, {NO_KIND}{}", failed.advice()),
            named => format!("{COUNTED}: {share}requests failed: {}{}", list(named), failed.advice()),
        }
    }

    /// Failures by kind over all loads, and the worst share.
    fn many(all: &Several<'_, Self>) -> Option<String> {
        let failed = || all.rules().filter_map(Errors::failed);
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        for (what, count) in failed().flat_map(Failed::counts) {
            *counts.entry(what).or_default() += count;
        }
        let mut sorted: Vec<(String, f64)> = counts.into_iter().collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        let named: Vec<String> =
            sorted.into_iter().map(|(what, count)| format!("{count:.0} {what}")).collect();
        let worst = all.worst(|one| one.failed()?.share).map_or_else(String::new, |(share, _, name)| {
            format!(" (worst: {} of those of {name})", percent(share))
        });
        // A load that was offered too much fails otherwise than one that is refused.
        let first = failed().next()?;
        let advice = match failed().all(|one| one.is_overload == first.is_overload) {
            true => first.advice(),
            false => "",
        };
        let named = if named.is_empty() { NO_KIND.to_owned() } else { named.join(", ") };
        Some(format!("{COUNTED}: requests failed in {}{worst}: {named}{advice}", all.figures))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        for (what, count) in all.rules().filter_map(Errors::failed).flat_map(Failed::counts) {
            *counts.entry(what).or_default() += count;
        }
        let most = counts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((what, times)) = most else {
            let of_unknown_kind =
                || "rates are of good answers alone: requests failed, of unknown kind".to_owned();
            return all.rules().any(|one| one.failed().is_some()).then(of_unknown_kind);
        };
        let (share, ..) = all.worst(|one| one.failed()?.share)?;
        Some(format!("rates are of good answers: up to {} failed, most {what} ({times:.0})", percent(share)))
    }

    fn evidence(&self) -> Evidence {
        let Errors::Failed(failed) = self else { return Evidence::new() };
        let mut all = failed.kinds.clone();
        all.extend(failed.statuses.iter().map(|(status, count)| (format!("status {status}"), *count)));
        all.extend(failed.share.map(|share| ("share".to_owned(), share)));
        all
    }
}
