//! Figures of several labels side by side: labels as columns, figures as rows.

use model::doc::{AnswersDoc, FailedDoc, TrafficDoc};
use model::format::{self, Kind};
use model::unit::Unit;

use super::grid::{Align, Cell, Grid};
use super::logs::{NONE, View, bounded, clients, moment};
use super::{Look, cut};

/// Figures that are shown where everything is asked for.
const DETAILS: [&str; 4] = ["speed: median", "time: p90", "time: p99.9", "size: median"];

/// A figure of a group, and how it is written.
struct Figure {
    head: &'static str,
    kind: Kind,
    of: fn(&TrafficDoc) -> Option<f64>,
}

fn figures() -> Vec<Figure> {
    let one = |head, unit, of| Figure { head, kind: Kind::for_unit(unit), of };
    vec![
        one("bytes sent", Unit::Byte, |group| group.bytes),
        one("speed: totals", Unit::BytesPerSec, |group| group.ratio_of_totals),
        one("speed: mean of requests", Unit::BytesPerSec, |group| group.mean_of_ratios),
        one("speed: median", Unit::BytesPerSec, |group| group.ratio_median),
        one("time: mean", Unit::Second, |group| group.time_mean),
        one("time: median", Unit::Second, |group| group.p50),
        one("time: p90", Unit::Second, |group| group.p90),
        one("time: p99", Unit::Second, |group| group.p99),
        one("time: p99.9", Unit::Second, |group| group.p999),
        one("size: mean", Unit::Byte, |group| group.size_mean),
        one("size: median", Unit::Byte, |group| group.size_median),
    ]
}

/// Figures as rows, labels as columns.
pub fn beside(groups: &[TrafficDoc], view: View, look: Look) -> String {
    let names: Vec<String> = groups.iter().map(|group| cut(&group.label, 16)).collect();
    let mut heads = vec![("", Align::Left)];
    heads.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut grid = Grid::new(&heads).gap(3);
    let mut row = |head: &str, cells: Vec<String>| {
        let mut all = vec![Cell::from(head)];
        all.extend(cells.into_iter().map(Cell::from));
        grid.row(all);
    };
    let whole = |number: u64| format::fixed(number as f64, 0);
    row("requests", groups.iter().map(|group| whole(group.parsed)).collect());
    let answers = |group: &TrafficDoc, of: &dyn Fn(&AnswersDoc) -> Option<String>| {
        group.answers.as_deref().and_then(of).unwrap_or(NONE.to_owned())
    };
    let failed = |failed: &Option<FailedDoc>| {
        let failed = failed.as_ref()?;
        Some(format!("{} ({})", whole(failed.requests), format::percent(failed.share)))
    };
    let bots = |one: &AnswersDoc| {
        let agents = one.agents.as_ref()?;
        Some(format::percent(agents.bots as f64 / agents.requests.max(1) as f64))
    };
    type Told<'a> = (&'static str, &'a dyn Fn(&AnswersDoc) -> Option<String>);
    let least = groups.iter().filter_map(|group| group.answers.as_deref()?.rate).reduce(f64::min);
    let rate = |rate: f64| format::per_second_like(rate, least.unwrap_or(rate));
    let stretch = groups.iter().filter_map(|group| Some(group.last? - group.first? + 1.0)).reduce(f64::min);
    // Of two hours at least one is busier; of less, the minutes tell.
    let busiest = |one: &AnswersDoc, length: f64| {
        let told = [3600.0, 60.0].into_iter().find(|length| stretch.is_some_and(|all| all > 2.0 * length))?;
        let peak = if length > 60.0 { one.busiest_hour } else { one.busiest_minute };
        peak.filter(|_| told == length).map(|peak| rate(peak.rate))
    };
    let told: [Told<'_>; 6] = [
        ("on average", &|one| one.rate.map(rate)),
        ("in the busiest hour", &|one| busiest(one, 3600.0)),
        ("in the busiest minute", &|one| busiest(one, 60.0)),
        ("failed: 5xx", &|one| failed(&one.server_errors)),
        ("answered 4xx", &|one| failed(&one.client_errors)),
        ("bots", &bots),
    ];
    for (head, of) in told {
        let cells: Vec<String> = groups.iter().map(|group| answers(group, of)).collect();
        if cells.iter().any(|cell| cell != NONE) {
            row(head, cells);
        }
    }
    figure_rows(groups, view, &mut row);
    if groups.iter().any(|group| group.zero_time > 0) {
        row("time 0 in the log", groups.iter().map(|group| whole(group.zero_time)).collect());
    }
    if groups.iter().any(|group| group.clients.is_some()) {
        row("clients", groups.iter().map(clients).collect());
    }
    row("from (UTC)", groups.iter().map(|group| moment(group.first)).collect());
    row("to", groups.iter().map(|group| moment(group.last)).collect());
    grid.render(look.columns, look.paint)
}

/// The rows of speeds, times and sizes.
fn figure_rows(groups: &[TrafficDoc], view: View, row: &mut dyn FnMut(&str, Vec<String>)) {
    // Where failures took much of the time, they would be most of these figures.
    let without = groups.iter().any(|group| failed_time(group) >= MUCH_TIME);
    for figure in figures().into_iter().filter(|figure| view.all || !DETAILS.contains(&figure.head)) {
        if let Some((head, of)) = without.then(|| good(figure.head)).flatten() {
            let values: Vec<Option<f64>> = groups.iter().map(of).collect();
            row(head, bounded(&values, figure.kind, groups));
            if !view.all {
                continue;
            }
        }
        let values: Vec<Option<f64>> = groups.iter().map(|group| (figure.of)(group)).collect();
        if values.iter().any(Option::is_some) {
            row(figure.head, bounded(&values, figure.kind, groups));
        }
    }
}

/// The share of a label's time from which on its failures (5xx) are left out of speed and mean time.
const MUCH_TIME: f64 = 0.05;

/// The share of the time that failures of the server took.
fn failed_time(group: &TrafficDoc) -> f64 {
    let failed = group.answers.as_deref().and_then(|one| one.server_errors.as_ref()?.seconds);
    failed.zip(group.seconds).map_or(0.0, |(failed, all)| if all > 0.0 { failed / all } else { 0.0 })
}

/// A figure without failures of the server, and how it is called.
type Good = (&'static str, fn(&TrafficDoc) -> Option<f64>);

/// The same figure without failures of the server, where there is one.
fn good(head: &str) -> Option<Good> {
    fn sums(group: &TrafficDoc) -> Option<(f64, f64, f64)> {
        let failed = group.answers.as_deref()?.server_errors.as_ref()?;
        let seconds = group.seconds? - failed.seconds?;
        let requests = group.parsed.checked_sub(failed.requests)? as f64;
        Some((group.bytes? - failed.bytes?, seconds, requests)).filter(|_| seconds > 0.0 && requests > 0.0)
    }
    match head {
        "speed: totals" => {
            Some(("speed: totals, no 5xx", |group| sums(group).map(|(bytes, seconds, _)| bytes / seconds)))
        }
        "time: mean" => {
            Some(("time: mean, no 5xx", |group| sums(group).map(|(_, seconds, requests)| seconds / requests)))
        }
        _ => None,
    }
}
