//! The server that wrote a log, as the log shows it, for a decision: how long its answers took, what took the time, and
//! the bot that makes most of its busiest hour.
//!
//! Times in s, shares 0 to 1. What the lines do not tell is `None`.

use logs::aggregate::Aggregate;
use logs::scan::Method;

use super::{answers, figures};

/// The share of the busiest hour's requests from which on a bot makes most of them.
const MOST: f64 = 0.5;
/// Paths that are named.
const PATHS: usize = 3;

/// A log's own server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Own {
    /// The response time at the percentile that was asked for.
    pub seconds: Option<f64>,
    /// The paths that took most of its time, and their share of it.
    pub slowest: Option<(Vec<String>, f64)>,
    /// Methods with a body, and their share of the requests.
    pub with_body: Option<(Vec<String>, f64)>,
    /// The share of the busiest hour, and the bot that makes it.
    pub bot: Option<(f64, String)>,
}

/// `percentile` as needs name it: `p99`.
pub fn own(label: &str, one: &Aggregate, percentile: Option<&str>) -> Own {
    let totals = one.totals();
    let share = percentile.and_then(|text| text.strip_prefix('p')?.parse::<f64>().ok());
    let said = answers::answers(one, PATHS);
    let bot = said.busiest_hour.zip(said.agents);
    Own {
        seconds: share.and_then(|share| super::known::of_times(&one.times, &totals, share / 100.0)),
        slowest: slowest(label, one),
        with_body: with_body(one),
        bot: bot
            .and_then(|(peak, agents)| {
                verdict::traffic::answers::most_of(
                    &peak,
                    &agents.each_bot,
                    said.zone as f64,
                    one.span.map(|(from, to)| (to - from + 1) as f64),
                )
            })
            .filter(|(share, _)| *share >= MOST),
    }
}

fn slowest(label: &str, one: &Aggregate) -> Option<(Vec<String>, f64)> {
    let all = figures::whole(label, one).seconds.filter(|all| *all > 0.0)?;
    let tops = super::tops::tops(label, one, PATHS);
    let paths = &tops.iter().find(|top| top.by == "time")?.paths;
    let seconds: f64 = paths.iter().filter_map(|path| path.seconds).sum();
    Some((paths.iter().map(|path| path.path.clone()).collect(), seconds / all))
}

fn with_body(one: &Aggregate) -> Option<(Vec<String>, f64)> {
    let has_none = |method: &Method| matches!(method.name(), "GET" | "HEAD");
    let each = || Method::ALL.iter().zip(one.methods).filter(|(_, requests)| *requests > 0);
    let sent = each().filter(|(method, _)| !has_none(method));
    let names: Vec<String> = sent.clone().map(|(method, _)| method.name().to_owned()).collect();
    let share = sent.map(|(_, requests)| requests).sum::<u64>() as f64
        / each().map(|(_, requests)| requests).sum::<u64>() as f64;
    (!names.is_empty()).then_some((names, share))
}
