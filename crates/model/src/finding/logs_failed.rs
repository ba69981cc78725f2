//! Failures in a log: `failures` (what the server failed to answer, when, and what it cost), `refused` (a path that
//! many clients asked for and did not get) and `probe` (a client behind most of the requests that were refused).

use super::{Conclusion, Evidence, Validity, evidence, known};
use crate::doc::{MostlyDoc, MostlyOf, OutageDoc};
use crate::format::{self, Moment, fixed, percent, quantity};
use crate::unit::Unit;

/// A name that has most of something, or all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mostly {
    pub name: String,
    pub is_all: bool,
}

/// Most failures stand in this stretch; seconds since 1970 by the log's own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    pub from: f64,
    pub to: f64,
    /// Failures within it.
    pub failures: u64,
    /// It reaches back to the first request that was read, or on to the last.
    pub from_start: bool,
    pub to_end: bool,
}

impl Stretch {
    /// The same behind a label: `from Tue 14:00 to 14:24`, `at Tue 14:00`.
    fn since(&self, span: f64) -> Option<String> {
        let text = self.text(span)?;
        Some(match (self.from_start, self.to_end) {
            (false, false) if self.is_one_minute() => format!("at {text}"),
            (false, false) | (true, true) => format!("from {text}"),
            _ => text,
        })
    }

    fn is_one_minute(&self) -> bool {
        (self.from / 60.0).floor() == (self.to / 60.0).floor()
    }

    /// `Tue 14:00 to 14:24`, `Tue 14:00` within a minute, `from Tue 14:00 to the end of what was read`, in a log of so
    /// many seconds.
    pub fn text(&self, span: f64) -> Option<String> {
        // The whole minute of the last failure belongs to it: `--where 'at<14:24'` takes all.
        let (from, to) = (Moment::at(self.from)?, Moment::at((self.to / 60.0).floor() * 60.0 + 60.0)?);
        let range = || {
            if self.is_one_minute() {
                return from.within(span);
            }
            let end = if from.date() == to.date() { to.time() } else { to.within(span) };
            format!("{} to {end}", from.within(span))
        };
        Some(match (self.from_start, self.to_end) {
            (true, true) => format!("{}, from the beginning to the end of what was read", range()),
            (true, false) => format!("from the beginning of what was read to {}", to.within(span)),
            (false, true) => format!("from {} to the end of what was read", from.within(span)),
            (false, false) => range(),
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum LogsFailed {
    /// Requests with a status from 500 on.
    Server {
        label: String,
        requests: u64,
        /// Of all requests.
        share: f64,
        /// Names that most of them have in common.
        mostly: Vec<MostlyDoc>,
        episode: Option<Stretch>,
        /// Requests of the path, or in the folder, of most of them, in that stretch.
        outage: Option<OutageDoc>,
        /// Length of the log in s.
        span: f64,
        /// Share of the time that all requests took, where that is much.
        time_share: Option<f64>,
        /// How long one took on average, in s, where that is much.
        seconds: Option<f64>,
    },
    /// A path of most requests with a status from 400 to 499, which no one client makes up.
    Refused {
        label: String,
        /// Requests with such a status, and their share of all.
        requests: u64,
        share: f64,
        /// The path or folder of most of them.
        mostly: MostlyDoc,
        /// The status of all of the path, if they have one.
        status: Option<u16>,
        episode: Option<Stretch>,
        /// Length of the log in s.
        span: f64,
    },
    /// A client behind most requests with a status from 400 to 499.
    Probe {
        client: String,
        /// The program that it says it is.
        agent: Option<String>,
        requests: u64,
        /// The path that it asked for most.
        path: Mostly,
        /// The status of all of them, if they have one.
        status: Option<u16>,
        /// It asked for what only scanners ask for.
        is_known: bool,
    },
}

impl LogsFailed {
    pub const fn is_probe(&self) -> bool {
        matches!(self, LogsFailed::Probe { .. })
    }

    /// True for what the sentences of a log, a comparison and a page begin with.
    pub const fn is_told_first(&self) -> bool {
        matches!(self, LogsFailed::Server { .. } | LogsFailed::Refused { .. })
    }
}

/// `Tue 14:00 to 14:24`; where some failures lie outside, how many lie within.
fn when(episode: &Stretch, requests: u64, span: f64) -> Option<String> {
    let stretch = episode.text(span)?;
    Some(match episode.failures {
        all if all >= requests => stretch,
        some => format!("{} of them {stretch}", format::many(some)),
    })
}

/// `from Tue 20:00 to 20:23 40 of 40 requests for /cart failed with 5xx after 2.50 ms on average (old: 0 of 32);
/// outside of that none`, of so many failures in a log of so many seconds.
fn told(outage: &OutageDoc, when: &str, mostly: &[MostlyDoc], requests: u64) -> String {
    let many = |count: u64| fixed(count as f64, 0);
    let (failed, all) = (many(outage.failed), many(outage.requests));
    let noun = if outage.requests == 1 { "request" } else { "requests" };
    let is_folder = mostly.iter().any(|one| one.what == MostlyOf::Folder);
    let with = if is_folder { "in" } else { "for" };
    let mut text = format!("{when} {failed} of {all} {noun} {with} {} failed with 5xx", outage.path);
    if let Some(seconds) = outage.seconds {
        let mean = seconds / outage.failed.max(1) as f64;
        text.push_str(&format!(" after {} on average", quantity(mean, Unit::Second)));
    }
    let of = |one: &crate::doc::ServedDoc| {
        format!("{}: {} of {}", one.label, many(one.failed), many(one.requests))
    };
    let others: Vec<String> = outage.others.iter().map(of).collect();
    if !others.is_empty() {
        text.push_str(&format!(" ({})", others.join(", ")));
    }
    let is_told = |one: &&MostlyDoc| [MostlyOf::Path, MostlyOf::Folder].contains(&one.what);
    let common: Vec<MostlyDoc> = mostly.iter().filter(|one| !is_told(one)).cloned().collect();
    if let Some(common) = MostlyDoc::list(&common, requests) {
        text.push_str(&format!(", {common}"));
    }
    match requests.saturating_sub(outage.failed) {
        0 => text + "; outside of that none",
        1 => text + "; besides these 1 request",
        more => format!("{text}; besides these {} requests", many(more)),
    }
}

impl Conclusion for LogsFailed {
    fn kind(&self) -> &str {
        match self {
            LogsFailed::Server { .. } => "failures",
            LogsFailed::Refused { .. } => "refused",
            LogsFailed::Probe { .. } => "probe",
        }
    }

    /// An answer that was not given is not well, though the log tells it exactly.
    fn state(&self) -> Validity {
        match self {
            LogsFailed::Server { .. } | LogsFailed::Refused { .. } => Validity::Doubtful,
            LogsFailed::Probe { .. } => Validity::Ok,
        }
    }

    fn one(&self) -> String {
        match self {
            LogsFailed::Server {
                label,
                requests,
                mostly,
                episode: Some(episode),
                outage: Some(outage),
                span,
                ..
            } if episode.since(*span).is_some() => {
                let when = episode.since(*span).unwrap_or_default();
                format!("{label}: {}.", told(outage, &when, mostly, *requests))
            }
            LogsFailed::Server { label, requests, share, mostly, episode, span, seconds, .. } => {
                let count = fixed(*requests as f64, 0);
                let noun = if *requests == 1 { "request" } else { "requests" };
                let mut text = format!("{label}: {count} {noun} ({}) failed with 5xx", percent(*share));
                if let Some(mean) = seconds {
                    text.push_str(&format!(" after {} on average", quantity(*mean, Unit::Second)));
                }
                let when = episode.and_then(|it| when(&it, *requests, *span));
                let parts = [MostlyDoc::list(mostly, *requests), when];
                for part in parts.into_iter().flatten() {
                    text.push_str(&format!(", {part}"));
                }
                text + "."
            }
            LogsFailed::Refused { label, requests, share, mostly, status, episode, span } => {
                let count = fixed(*requests as f64, 0);
                let status = status.map_or_else(|| "4xx".to_owned(), |status| status.to_string());
                let common = MostlyDoc::list(std::slice::from_ref(mostly), *requests).into_iter();
                let when = episode.and_then(|it| when(&it, *requests, *span));
                let of_it: Vec<String> = common.chain(when).collect();
                format!(
                    "{label}: {count} requests ({}) were answered {status}, {}.",
                    percent(*share),
                    of_it.join(", ")
                )
            }
            LogsFailed::Probe { client, agent, requests, path, status, is_known } => {
                let agent = agent.as_ref().map_or_else(String::new, |agent| format!(", {agent}"));
                let count = fixed(*requests as f64, 0);
                let all = path.is_all.then(|| format!("{count} requests of {}", path.name));
                let what =
                    all.unwrap_or_else(|| format!("{count} requests of several paths such as {}", path.name));
                let status = status.map_or_else(|| "all 4xx".to_owned(), |status| format!("all {status}"));
                let looks = if *is_known { ": looks like a probe" } else { "" };
                format!("{client}{agent}: {what}, {status}{looks}")
            }
        }
    }

    fn names_subject(&self) -> bool {
        true
    }

    fn evidence(&self) -> Evidence {
        match self {
            LogsFailed::Server { requests, share, mostly, time_share, seconds, episode, .. } => known([
                ("requests", Some(*requests as f64)),
                ("share", Some(*share)),
                ("time-share", *time_share),
                ("seconds", *seconds),
                ("from", episode.map(|episode| episode.from)),
                ("to", episode.map(|episode| episode.to)),
                ("mostly", mostly.first().map(|one| one.requests as f64)),
            ]),
            LogsFailed::Refused { requests, share, mostly, episode, .. } => known([
                ("requests", Some(*requests as f64)),
                ("share", Some(*share)),
                ("from", episode.map(|episode| episode.from)),
                ("to", episode.map(|episode| episode.to)),
                ("mostly", Some(mostly.requests as f64)),
            ]),
            LogsFailed::Probe { requests, .. } => evidence([("requests", *requests as f64)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::ServedDoc;

    #[test]
    fn an_outage_is_told_with_its_time_and_its_cost() {
        let noon = 1_794_923_999.0 - 1_794_923_999.0 % 86_400.0 + 14.0 * 3600.0;
        let of = |what, requests, name: &str| MostlyDoc { what, name: name.to_owned(), requests };
        let path = of(MostlyOf::Path, 185, "/api/orders");
        let episode = |failures, from_start, to_end| {
            Some(Stretch { from: noon, to: noon + 1440.0, failures, from_start, to_end })
        };
        let said = |mostly, episode, seconds: Option<f64>| {
            LogsFailed::Server {
                label: "www2".to_owned(),
                requests: 185,
                share: 0.001_45,
                mostly,
                episode,
                outage: None,
                span: 86_400.0,
                time_share: seconds.map(|_| 0.584),
                seconds,
            }
            .one()
        };
        assert_eq!(
            said(vec![path.clone()], episode(185, false, false), Some(30.5)),
            "www2: 185 requests (0.1 %) failed with 5xx after 30.5 s on average, all 185 for /api/orders, \
             Tue 14:00 to 14:25."
        );
        assert_eq!(
            said(vec![path, of(MostlyOf::Client, 180, "10.0.0.7")], None, None),
            "www2: 185 requests (0.1 %) failed with 5xx, all 185 for /api/orders, 180 of 185 from 10.0.0.7."
        );
        assert_eq!(
            said(Vec::new(), episode(100, false, false), None),
            "www2: 185 requests (0.1 %) failed with 5xx, 100 of them Tue 14:00 to 14:25."
        );
        assert_eq!(said(Vec::new(), None, None), "www2: 185 requests (0.1 %) failed with 5xx.");
        let outage = |from_start, to_end| said(Vec::new(), episode(185, from_start, to_end), None);
        assert!(
            outage(false, true).ends_with("failed with 5xx, from Tue 14:00 to the end of what was read.")
        );
        assert!(
            outage(true, false)
                .ends_with("failed with 5xx, from the beginning of what was read to Tue 14:25.")
        );
        let minute = Stretch { from: noon, to: noon + 59.0, failures: 9, from_start: false, to_end: false };
        assert_eq!(minute.text(86_400.0).as_deref(), Some("Tue 14:00"));
        assert!(outage(true, true).ends_with(
            "failed with 5xx, Tue 14:00 to 14:25, from the beginning to the end of what was read."
        ));
    }

    #[test]
    fn an_outage_of_a_path_is_told_with_all_its_requests() {
        let outage = OutageDoc {
            path: "/cart".to_owned(),
            failed: 40,
            requests: 40,
            seconds: Some(0.1),
            others: vec![ServedDoc { label: "old".to_owned(), failed: 0, requests: 32 }],
        };
        let told = |requests, outage: &OutageDoc, to: f64, mostly: &[MostlyDoc]| {
            let noon = 1_794_923_999.0 - 1_794_923_999.0 % 86_400.0 + 14.0 * 3600.0;
            let stretch =
                Stretch { from: noon, to: noon + to, failures: 40, from_start: false, to_end: false };
            LogsFailed::Server {
                label: "new".to_owned(),
                requests,
                share: 0.001,
                mostly: mostly.to_vec(),
                episode: Some(stretch),
                outage: Some(outage.clone()),
                span: 86_400.0,
                time_share: None,
                seconds: None,
            }
            .one()
        };
        let said = |requests, outage: &OutageDoc, to: f64| told(requests, outage, to, &[]);
        assert_eq!(
            said(40, &outage, 1439.0),
            "new: from Tue 14:00 to 14:24 40 of 40 requests for /cart failed with 5xx after 2.50 ms on average (old: 0 \
             of 32); outside of that none."
        );
        let folder = OutageDoc { path: "/checkout/".to_owned(), others: Vec::new(), ..outage.clone() };
        let mostly = MostlyDoc { what: MostlyOf::Folder, name: folder.path.clone(), requests: 40 };
        assert_eq!(
            told(40, &folder, 1439.0, &[mostly]),
            "new: from Tue 14:00 to 14:24 40 of 40 requests in /checkout/ failed with 5xx after 2.50 ms on average; outside \
             of that none."
        );
        let alone = OutageDoc { seconds: None, others: Vec::new(), ..outage };
        assert_eq!(
            said(45, &alone, 9.0),
            "new: at Tue 14:00 40 of 40 requests for /cart failed with 5xx; besides these 5 requests."
        );
    }

    #[test]
    fn a_missing_path_is_told_with_its_time() {
        let noon = 1_794_923_999.0 - 1_794_923_999.0 % 86_400.0 + 14.0 * 3600.0;
        let said = |status, episode, requests| {
            LogsFailed::Refused {
                label: "web1".to_owned(),
                requests: 4310,
                share: 0.14,
                mostly: MostlyDoc { what: MostlyOf::Path, name: "/old.css".to_owned(), requests },
                status,
                episode,
                span: 86_400.0,
            }
            .one()
        };
        let to_end = Stretch { from: noon, to: noon + 1e4, failures: 4310, from_start: false, to_end: true };
        assert_eq!(
            said(Some(404), Some(to_end), 4310),
            "web1: 4,310 requests (14 %) were answered 404, all 4,310 for /old.css, from Tue 14:00 to the end of what was \
             read."
        );
        assert_eq!(
            said(None, None, 4000),
            "web1: 4,310 requests (14 %) were answered 4xx, 4,000 of 4,310 of them for /old.css."
        );
    }

    #[test]
    fn a_probe_is_called_one() {
        let probe = |is_known, is_all| LogsFailed::Probe {
            client: "45.9.20.77".to_owned(),
            agent: Some("python-requests/2.31".to_owned()),
            requests: 8638,
            path: Mostly { name: "/wp-login.php".to_owned(), is_all },
            status: Some(404),
            is_known,
        };
        assert_eq!(
            probe(true, true).one(),
            "45.9.20.77, python-requests/2.31: 8,638 requests of /wp-login.php, all 404: looks like a probe"
        );
        assert_eq!(
            probe(false, false).one(),
            "45.9.20.77, python-requests/2.31: 8,638 requests of several paths such as /wp-login.php, all 404"
        );
    }
}
