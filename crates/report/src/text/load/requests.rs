//! The requests of the loads of a run: how many ended how, and their times, below all its figures.
//!
//! Counts and times are of all measured takes together; which figures may be believed stands elsewhere.

use model::doc::RequestsDoc;
use model::format::{self, count};
use model::metrics::load;
use model::names::{self, Key};

use super::{kinds, shape, times, untold};
use crate::text::{Look, Tone, cores, hang};

/// One block a load.
pub fn requests(all: &[RequestsDoc], look: Look) -> String {
    let keys: Vec<Key<'_>> = all
        .iter()
        .map(|one| Key {
            card: one.card,
            instrument: &one.instrument,
            metric: load::THROUGHPUT.name(),
            params: &one.params,
        })
        .collect();
    let mut out = String::new();
    for (one, label) in all.iter().zip(names::labels(&keys)) {
        let arm = if one.arm.is_empty() { String::new() } else { format!(" [{}]", one.arm) };
        let takes = count(one.takes, "take");
        out.push('\n');
        out.push_str(&hang(
            "",
            &Tone::Bold.paint(&format!("{label}{arm} · all of {takes}"), look.paint),
            look.columns,
        ));
        out.push_str(&times(&one.response_time, &one.service_time, look));
        let remedy = |_: f64| "more takes, or a longer --set duration".to_owned();
        out.push_str(&untold(&one.response_time, look, remedy));
        out.push_str(&hang("requests  ", &ended(one), look.columns));
        out.push_str(&cores::table("cores", &one.cores, look));
        out.push_str(&one.files.as_ref().map(|files| cores::files(files, look)).unwrap_or_default());
        // The steps of many loads would bury their times.
        if let [only] = all {
            out.push_str(&shape(&only.response_time.histogram, &only.service_time.histogram, 1, look));
        }
    }
    out
}

/// `5,000: 4,960 good, 40 status 503 (first http://a/b)`.
fn ended(one: &RequestsDoc) -> String {
    let whole = |count: u64| format::fixed(count as f64, 0);
    let mut parts = vec![format!("{} good", whole(one.good))];
    parts.extend(kinds(&one.errors, &one.statuses));
    format!("{}: {}", whole(one.requests), parts.join(", "))
}
