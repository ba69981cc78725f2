//! Figures of several labels side by side: labels as columns, figures as rows.

use model::doc::{AnswersDoc, FailedDoc, TrafficDoc};
use model::format::{self, Kind};
use model::unit::Unit;

use super::grid::{Align, Cell, Grid};
use super::logs_values::{NONE, View, bounded, clients, moment};
use super::{Look, cut, hang};

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

/// Figures as rows, labels as columns; so many labels beside each other as there is room for.
pub fn beside(groups: &[TrafficDoc], view: View, look: Look) -> String {
    let fitting = |groups: &[TrafficDoc]| {
        let mut grids = Room::ALL.iter().map(|room| table(groups, view, *room));
        grids.find(|grid| grid.width() <= look.columns)
    };
    let even = (1..=groups.len()).map(|parts| groups.len().div_ceil(parts));
    let side_by_side =
        even.clone().find_map(|count| groups.chunks(count).map(fitting).collect::<Option<Vec<_>>>());
    let grids = side_by_side.unwrap_or_else(|| vec![table(groups, view, Room::Narrow)]);
    let shown: Vec<String> = grids.iter().map(|grid| grid.render(look.columns, look.paint)).collect();
    shown.join("\n") + &of_all_answers(groups, look)
}

/// The space between columns, and times of day with the year or without.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Wide,
    Narrow,
}

impl Room {
    const ALL: [Room; 2] = [Room::Wide, Room::Narrow];

    fn gap(self) -> usize {
        if self == Room::Wide { 3 } else { 1 }
    }

    fn moment(self, seconds: Option<f64>) -> String {
        let text = moment(seconds);
        match text.split_once('-').filter(|_| self == Room::Narrow) {
            Some((_, without_year)) if !without_year.is_empty() => without_year.to_owned(),
            _ => text,
        }
    }
}

fn table(groups: &[TrafficDoc], view: View, room: Room) -> Grid {
    let names: Vec<String> = groups.iter().map(|group| cut(&group.label, 16)).collect();
    let mut heads = vec![("", Align::Left)];
    heads.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut grid = Grid::new(&heads).gap(room.gap());
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
    row("from (UTC)", groups.iter().map(|group| room.moment(group.first)).collect());
    row("to", groups.iter().map(|group| room.moment(group.last)).collect());
    grid
}

/// The mark of a figure that failures of the server (5xx) are in.
const OF_ALL: &str = " *";

/// The line below that explains the mark; nothing where no label has a failure.
fn of_all_answers(groups: &[TrafficDoc], look: Look) -> String {
    if !groups.iter().any(has_failures) || groups.iter().all(|group| group.seconds.is_none()) {
        return String::new();
    }
    hang("* ", "of all answers, 5xx too; --where 'status<500' leaves them out", look.columns)
}

/// True if the server failed a request of the label.
pub(super) fn has_failures(group: &TrafficDoc) -> bool {
    let failed = group.answers.as_deref().and_then(|one| one.server_errors.as_ref());
    failed.is_some_and(|failed| failed.requests > 0)
}

/// The rows of speeds, times and sizes. Where the server failed requests, speed and mean time stand without them; with
/// them too where they took much of the time.
fn figure_rows(groups: &[TrafficDoc], view: View, row: &mut dyn FnMut(&str, Vec<String>)) {
    let failed = groups.iter().any(has_failures);
    for figure in figures().into_iter().filter(|figure| view.all || !DETAILS.contains(&figure.head)) {
        let without = good(figure.head).filter(|_| failed);
        if let Some((head, of)) = without {
            let values: Vec<Option<f64>> = groups.iter().map(of).collect();
            row(head, bounded(&values, figure.kind, groups));
            if !view.all && !groups.iter().any(|group| failed_time(group) >= MUCH_TIME) {
                continue;
            }
        }
        let values: Vec<Option<f64>> = groups.iter().map(|group| (figure.of)(group)).collect();
        if values.iter().any(Option::is_some) {
            let is_marked = failed && ["speed", "time"].iter().any(|what| figure.head.starts_with(what));
            let mark = if is_marked { OF_ALL } else { "" };
            row(&format!("{}{mark}", figure.head), bounded(&values, figure.kind, groups));
        }
    }
}

/// The share of a label's time from which on its failures (5xx) are much of the figures that they are in.
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
    match head {
        "speed: totals" => Some(("speed: totals, no 5xx", |group| group.ratio_of_totals_good)),
        "time: mean" => Some(("time: mean, no 5xx", |group| group.time_mean_good)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A label that sent 300 B in 9 s, of which failures took 8 s where there were any.
    fn label(name: &str, failures: u64) -> TrafficDoc {
        let failed = FailedDoc { requests: failures, seconds: Some(8.0), ..FailedDoc::default() };
        let answers = AnswersDoc { server_errors: Some(failed), ..AnswersDoc::default() };
        TrafficDoc {
            label: name.to_owned(),
            parsed: 9,
            first: Some(1_795_435_200.0),
            last: Some(1_795_521_599.0),
            seconds: Some(9.0),
            ratio_of_totals: Some(300.0 / 9.0),
            ratio_of_totals_good: Some(300.0),
            time_mean: Some(1.0),
            time_mean_good: Some(0.5),
            p99: Some(8.0),
            answers: Some(Box::new(answers)),
            ..TrafficDoc::default()
        }
    }

    #[test]
    fn figures_that_failures_are_in_are_marked() {
        let rows = |failures| beside(&[label("a", 0), label("b", failures)], View::SHORT, Look::wide(80));
        let text = rows(2);
        let heads = [
            "speed: totals, no 5xx ",
            "speed: totals * ",
            "time: mean, no 5xx ",
            "time: p99 * ",
            "* of all answers, 5xx too",
        ];
        assert!(heads.iter().all(|head| text.contains(head)), "{text}");
        let text = rows(0);
        assert!(!text.contains("no 5xx") && !text.contains('*') && text.contains("speed: totals "), "{text}");
    }

    #[test]
    fn labels_that_do_not_fit_stand_closer_or_below_each_other() {
        let names = ["web1 before", "web1 after", "web2 before", "web2 after"];
        let labels = names.map(|name| label(name, 2));
        for columns in [120, 80, 60, 40] {
            let text = beside(&labels, View::SHORT, Look::wide(columns));
            assert!(text.lines().all(|line| super::super::width(line) <= columns), "{text}");
            assert!(names.iter().all(|name| text.contains(name)), "{text}");
            let tables = text.matches("requests ").count();
            assert_eq!(
                tables,
                [(120, 1), (80, 1), (60, 2), (40, 4)].iter().find(|one| one.0 == columns).unwrap().1
            );
        }
    }
}
