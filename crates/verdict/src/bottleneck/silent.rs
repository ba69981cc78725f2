//! A server that stopped answering before the load was over: it ended, hangs, or nobody can reach it any more.
//!
//! Seconds from the start of the load, by take; the take that lost most of its window counts. A silence is more than a
//! slow answer where it is a tenth of the window and many times the mean distance of the answers before, with requests
//! that failed without any answer or at their time limit.

use model::doc::Binding;
use model::metrics::load;
use model::{NoteBody, Unit};

use super::view::{Claim, Rank, Seen, View};
use model::format;

/// The least share of the window, the least time, and the least number of mean distances between answers.
const SHARE: f64 = 0.1;
const LEAST_S: f64 = 0.25;
const DISTANCES: f64 = 20.0;
/// A server that uses less of a core while nobody is answered does nothing.
const NOTHING: f64 = 0.05;
/// Ways to fail that leave a request without an answer, and what each tells.
const WAYS: [(&str, &str); 7] = [
    ("connect", "nothing accepts connections there"),
    ("tls", "the TLS handshake failed"),
    ("reset", "connections were reset"),
    ("closed", "connections were closed without an answer"),
    ("timeout", "no answer within the time limit"),
    ("unsent", "no connection was free to send on"),
    ("cut", "no answer when the load was ended"),
];

/// When the last answer of a take came, and its window.
struct Take {
    last: f64,
    window: f64,
}

pub fn seen(view: &View<'_, '_>) -> Option<Seen> {
    let load = view.load;
    let kinds = load.sums_by(&load::FAILED, "kind");
    let met: Vec<(&str, &str, f64)> =
        WAYS.iter().filter_map(|(kind, says)| Some((*kind, *says, *kinds.get(*kind)?))).collect();
    let take = worst(view).filter(|_| !met.is_empty())?;
    let lost = (take.window - take.last) / take.window;
    let text = format!(
        "no answer came after {} of {}",
        format::quantity(take.last, Unit::Second),
        format::quantity(take.window, Unit::Second)
    );
    let named: Vec<String> =
        met.iter().map(|(kind, says, count)| format!("{count:.0} {kind} ({says})")).collect();
    let named = format::list(&named);
    let notes = load.notes(view.index.run).into_iter().filter_map(|note| match note {
        NoteBody::ServerSilent(text) => Some(text.clone()),
        _ => None,
    });
    let idle = load.median(&load::SILENT_CORES).map(|cores| match cores < NOTHING {
        true => "its processes used no CPU time meanwhile".to_owned(),
        false => format!("it used {} cores meanwhile without answering", format::number(cores)),
    });
    // Refused ones are hardly in flight.
    let waits = kinds.contains_key("timeout") || kinds.contains_key("cut");
    let in_flight = load.median(&load::IN_FLIGHT).filter(|_| waits).map(|count| {
        format!(
            "{} requests were in flight on average, as those that nobody answers stay",
            format::number(count)
        )
    });
    let advice = match (kinds.contains_key("connect"), load.median(&load::SILENT_CORES)) {
        (true, _) => "see why it ended: its error log, `dmesg` (out of memory?), who stopped it; then repeat",
        (false, Some(cores)) if cores >= NOTHING => {
            "see what it is busy with (`perf top -p PID`), then repeat"
        }
        _ => {
            "see what it waits for (`cat /proc/PID/stack`, `ps -o stat,wchan PID`, its error log), then repeat"
        }
    };
    let claim = Claim {
        rank: Rank::Silent,
        sentence: format!(
            "{} stopped answering after {} of {}: {named}",
            load.server(),
            format::quantity(take.last, Unit::Second),
            format::quantity(take.window, Unit::Second)
        ),
        evidence: notes.chain(idle).chain(in_flight).collect(),
        counter: Vec::new(),
        advice: vec![advice.to_owned()],
    };
    let resource = "server".to_owned();
    Some(Seen { kind: Binding::Silent, resource, share: Some(lost), text, claim: Some(claim) })
}

/// The take that lost most, where one did.
fn worst(view: &View<'_, '_>) -> Option<Take> {
    let load = view.load;
    let (last, windows) = (load.by_take(&load::ANSWERING), load.by_take(&load::WINDOW));
    let requests = load.by_take(&load::REQUESTS);
    let failed = load.sums_by_take(&load::FAILED);
    let takes = last.iter().filter_map(|(seq, last)| {
        let (window, requests) = (*windows.get(seq)?, *requests.get(seq)?);
        let answers = requests - failed.get(seq).filter(|failed| **failed > 0.0)?;
        let silence = window - last;
        let is_long = silence >= LEAST_S.max(SHARE * window) && silence * answers >= DISTANCES * last;
        (is_long && answers > 0.0).then_some(Take { last: *last, window })
    });
    takes.max_by(|a, b| (a.window - a.last).total_cmp(&(b.window - b.last)))
}
