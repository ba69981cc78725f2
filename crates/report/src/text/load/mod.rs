//! One load: the screen while it runs, and the one at its end.
//!
//! Times share one scale a table. Bars are shares of the longest one, so that shapes can be compared, not heights.

pub mod live;
mod requests;
mod server;

pub use requests::requests;

use std::collections::BTreeMap;

use model::doc::{BottleneckDoc, BucketDoc, LoadDoc, StatusDoc, TimesDoc};
use model::finding::{Rule, Subject};
use model::format::{self, Kind, Scale};
use model::id::short;
use model::{Finding, Unit, Validity};

use super::fit::{Part, Rank, Screen};
use super::grid::{Align, Cell, Grid};
use super::notes;
use super::{Look, Tone, answer, ceilings, cores, cut, hang, joined, missing, reason, settings, width};

const BAR: char = '█';
/// Of each kind; the others are in the document.
const MOST_REASONS: usize = 2;
const HALF: char = '▌';
/// A last step that ends so many times as far as the one before it is told in words.
const WIDE: f64 = 3.0;

/// The last lines: where the run is stored, and commands to go on with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Word, command, what it is for.
    pub advice: Vec<(String, String, String)>,
    /// The command that shows all of it; that of a load which was not stored is its own with `--json`.
    pub whole: Option<String>,
    /// The ceilings were asked for: they stay.
    pub has_ceilings: bool,
}

/// The last screen of a load.
pub fn screen(doc: &LoadDoc, tail: &Tail, look: Look) -> String {
    let mut screen = Screen::default();
    screen.add(answer::first(doc.answer.as_ref(), look));
    let manner = joined(&manner(doc), look.columns).join("\n");
    screen.add(format!("{}\n{manner}\n\n", cut(&doc.url, look.columns)));
    screen.add(rates(doc, look));
    screen.add(failures(doc, look));
    let remedy = |ample: f64| format!("-n {ample:.0} or a longer -d");
    let times = times(&doc.response_time, &doc.service_time, look);
    screen.add(format!("\n{times}{}\n", untold(&doc.response_time, look, remedy)));
    screen.add(histogram(doc, look));
    let setup = doc.setup.as_ref().map(|setup| hang("setup       ", setup, look.columns));
    screen.add(Part::new(hang("generator   ", &generator(doc), look.columns)).or(
        Rank::Figure,
        "generator",
        "",
    ));
    // What the server used of what it may use is half of what holds it back.
    screen.add(server::line(&doc.server, look));
    screen.add(Part::new(setup.unwrap_or_default()).or(Rank::Figure, "setup", ""));
    for one in &doc.bottlenecks {
        screen.add(bottleneck(one, tail.has_ceilings, look));
        ceilings::parts(one, tail.has_ceilings, look).into_iter().for_each(|part| screen.add(part));
        screen.add(cores::of_load_bound(one, "cores", look));
    }
    screen.add(doc.since.as_ref().map(|since| settings::since(since, look)).unwrap_or_default());
    let remarks: Vec<String> =
        doc.remarks.iter().map(|text| notes::marked("-", Tone::Plain, text, look)).collect();
    screen.add(notes::fewer(&remarks, Rank::Figure, "remark"));
    // One take has no interval: that is known before, and nothing to be warned of.
    let told = doc.findings.iter().filter(|finding| !matches!(finding.rule, Rule::Samples(_)));
    // All of them are about this one load, whose parameters stand above.
    let told: Vec<Finding> = told.map(|finding| finding.clone().about(Subject::RUN)).collect();
    screen.add(notes::doubts_part(&told, &super::fold::Headlines::default(), look));
    screen.add(Part::new(notes::checks(&told, "", look)).or(Rank::Hint, "", ""));
    screen.tell_here();
    screen.add("\n".to_owned());
    let advice: Vec<String> = tail.advice.iter().map(|advice| advised(advice, look)).collect();
    let few = advice[..advice.len().min(LEAST_ADVICE)].concat();
    screen.add(Part::new(advice.concat()).or(Rank::Hint, "", few));
    let sentence = doc.answer.as_ref().map(|answer| answer.sentence.as_str());
    screen.fit(look, tail.whole.as_deref().unwrap_or("--json"), |text| answer::last(text, sentence, look))
}

/// Lines of advice that are left in any case: where the load is stored, and how it is repeated.
const LEAST_ADVICE: usize = 2;

fn advised((word, command, says): &(String, String, String), look: Look) -> String {
    let line = format!("{word:<8}{command:<36}  {says}");
    format!("{}\n", cut(line.trim_end(), look.columns))
}

/// The reads and writes of a load on a store: `writes to reads 1:10 · 100 000 keys of 30 B · values of 100 B`; else the
/// method.
fn asked(doc: &LoadDoc) -> Vec<String> {
    let param = |name: &str| doc.params.get(name).filter(|value| !value.is_empty());
    let Some(ratio) = param("ratio") else { return param("method").map(str::to_owned).into_iter().collect() };
    let mut parts = vec![match ratio.split_once(':') {
        Some(("0", _)) => "reads only".to_owned(),
        Some((_, "0")) => "writes only".to_owned(),
        _ => format!("writes to reads {ratio}"),
    }];
    if let Some(keys) = param("keys") {
        let count = keys.parse().map_or_else(|_| keys.to_owned(), |count: f64| format::fixed(count, 0));
        let size = param("key-size").map_or_else(String::new, |size| format!(" of {size} B"));
        let plural = if keys == "1" { "key" } else { "keys" };
        let drawn = param("popularity").map_or_else(String::new, |drawn| format!(", {drawn}"));
        parts.push(format!("{count} {plural}{size}{drawn}"));
    }
    parts.extend(param("value-size").map(|size| {
        let unit = if size.bytes().all(|byte| byte.is_ascii_digit()) { " B" } else { "" };
        format!("values of {size}{unit}")
    }));
    parts
}

/// How the load was made: `GET · 50 connections · 1 generator thread · closed loop`.
fn manner(doc: &LoadDoc) -> Vec<String> {
    let param = |name: &str| doc.params.get(name).unwrap_or_default();
    let given = |name: &str| Some(param(name)).filter(|value| !matches!(*value, "" | "none" | "auto"));
    let many = |name: &str, what: &str| {
        given(name).map(|count| format!("{count} {what}{}", if count == "1" { "" } else { "s" }))
    };
    let mut parts = asked(doc);
    parts.extend(many("connections", "connection"));
    parts.extend(many("generators", "generator thread"));
    parts.push(match param("arrivals") {
        "closed" => "closed loop".to_owned(),
        "poisson" => format!("{} requests/s, Poisson", param("rate")),
        "constant" => format!("{} requests/s, constant", param("rate")),
        "ramp" => format!("{} requests/s, evenly", param("ramp").replace(':', " to ")),
        other => other.to_owned(),
    });
    if param("keepalive") == "off" {
        parts.push("a connection a request".to_owned());
    }
    parts.extend(span(doc));
    parts.extend(doc.label.clone());
    parts.push(format!("run {}", short(&doc.run)));
    parts
}

/// The answers to what was sent in the window may come after it; by so much of it that is worth a word.
const AFTER: f64 = 0.02;

/// The time that the figures are of: `10 s`, `10 s, last answer after 12.3 s`.
fn span(doc: &LoadDoc) -> Option<String> {
    let (window, last) = (doc.window.or(doc.seconds)?, doc.seconds);
    let late = last.filter(|last| *last > window * (1.0 + AFTER));
    let late = late.map_or_else(String::new, |last| {
        format!(", last answer after {}", format::quantity(last, Kind::for_unit(Unit::Second)))
    });
    Some(format!("{}{late}", format::duration(window)))
}

fn rates(doc: &LoadDoc, look: Look) -> String {
    let missing = || "-".to_owned();
    let count = |count: u64| format::fixed(count as f64, 0);
    let rate = doc.throughput.map_or_else(missing, |rate| format!("{} requests/s", format::number(rate)));
    let bandwidth =
        doc.bandwidth.map_or_else(missing, |rate| format::quantity(rate, Kind::for_unit(Unit::BytesPerSec)));
    let failed = doc.requests.saturating_sub(doc.good);
    let mut grid =
        Grid::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left), ("", Align::Right)]).gap(3);
    let row = |grid: &mut Grid, a: &str, b: (String, Tone), c: &str, d: (String, Tone)| {
        grid.row(vec![a.into(), Cell::tone(b.0, b.1), c.into(), Cell::tone(d.0, d.1)]);
    };
    row(&mut grid, "throughput", (rate, Tone::Bold), "requests", (count(doc.requests), Tone::Plain));
    let tone = if failed > 0 { Tone::Bad } else { Tone::Plain };
    row(&mut grid, "bandwidth", (bandwidth, Tone::Plain), "failed", (count(failed), tone));
    grid.render(look.columns, look.paint)
}

/// How many requests failed, and of what.
fn failures(doc: &LoadDoc, look: Look) -> Part {
    let failed = doc.requests.saturating_sub(doc.good);
    if failed == 0 {
        return Part::default();
    }
    let share = format::percent(failed as f64 / doc.requests.max(1) as f64);
    let kinds = kinds(&doc.errors, &doc.statuses);
    let of = |most: usize| {
        let more = kinds.len().saturating_sub(most);
        let more =
            if more == 0 { String::new() } else { format!(" and {}", format::count(more, "other kind")) };
        let text = format!("{share} failed: {}{more}", kinds[..most.min(kinds.len())].join(", "));
        notes::line(Validity::Invalid, &text, look)
    };
    Part::new(of(kinds.len())).or(Rank::Doubt, "failures", of(2)).or(Rank::Doubt, "failures", of(1))
}

/// `40 status 503 (first http://a/b)`, `2 timeout`: answers by their status, everything else by its kind.
fn kinds(errors: &BTreeMap<String, u64>, statuses: &BTreeMap<String, StatusDoc>) -> Vec<String> {
    let count = |count: u64| format::fixed(count as f64, 0);
    let by_status = statuses.iter().map(|(status, met)| {
        let url = met.first_url.as_ref().map_or_else(String::new, |url| format!(" (first {url})"));
        format!("{} status {status}{url}", count(met.count))
    });
    let others = errors.iter().filter(|(kind, _)| statuses.is_empty() || !kind.starts_with("status_"));
    by_status.chain(others.map(|(kind, times)| format!("{} {kind}", count(*times)))).collect()
}

/// The percentiles, in ascending order, then the extremes.
fn row_of(times: &TimesDoc) -> [Option<f64>; 7] {
    [times.p50, times.p75, times.p90, times.p99, times.p999, times.max, times.mean]
}

/// Why cells of the table of times hold no number: percentiles of too few requests, failed ones that are slower than
/// any.
fn untold(response: &TimesDoc, look: Look, remedy: impl Fn(f64) -> String) -> String {
    const QUANTILES: [f64; 5] = [0.5, 0.75, 0.9, 0.99, 0.999];
    let mut out = String::new();
    let few = missing::percentile(&QUANTILES, missing::Had::All(response.count), remedy)
        .filter(|_| response.count > 0);
    if let Some(few) = few {
        out.push_str(&notes::marked("-", Tone::Plain, &few, look));
    }
    if response.over > 0 {
        let failed = format::count(usize::try_from(response.over).unwrap_or(usize::MAX), "failed request");
        let text = format!("over: {}, as {failed} had no good answer in time", format::OVER);
        out.push_str(&notes::marked("-", Tone::Plain, &text, look));
    }
    out
}

fn times(response: &TimesDoc, service: &TimesDoc, look: Look) -> String {
    const HEADS: [&str; 7] = ["p50", "p75", "p90", "p99", "p99.9", "max", "mean"];
    let (response, service) = (row_of(response), row_of(service));
    let known: Vec<f64> = response.iter().chain(&service).flatten().copied().collect();
    let spread = Spread::of(&known);
    let mut heads = vec![("time", Align::Left), ("", Align::Left)];
    heads.extend(HEADS.map(|head| (head, Align::Right)));
    let mut grid = Grid::new(&heads);
    for (name, values) in [("response", response), ("service", service)] {
        let mut cells: Vec<Cell> = vec![name.into(), spread.unit().into()];
        cells.extend(
            values.map(|value| Cell::from(value.map_or("-".to_owned(), |value| spread.number(value)))),
        );
        grid.row(cells);
    }
    grid.render(look.columns, look.paint)
}

/// How times of one table are set: in one unit, or where they lie too far apart each in its own.
enum Spread {
    One(Scale),
    Each,
}

/// Below this a number in the common unit is hard to read.
const LEAST: f64 = 0.01;

impl Spread {
    fn of(times: &[f64]) -> Spread {
        let scale = Scale::common(times, Kind::for_unit(Unit::Second));
        let least = times.iter().copied().filter(|time| *time > 0.0).fold(f64::INFINITY, f64::min);
        if least / scale.divisor < LEAST { Spread::Each } else { Spread::One(scale) }
    }

    /// Empty where each has its own.
    fn unit(&self) -> String {
        match self {
            Spread::One(scale) => scale.ascii_unit(),
            Spread::Each => String::new(),
        }
    }

    fn number(&self, time: f64) -> String {
        match self {
            Spread::One(scale) => scale.number(time),
            Spread::Each => {
                let scale = Scale::common(&[time], Kind::for_unit(Unit::Second));
                format!("{} {}", scale.number(time), scale.ascii_unit())
            }
        }
    }
}

/// `≤ 200 us` and the like, of one scale each.
fn border(seconds: f64) -> String {
    let kind = Kind::for_unit(Unit::Second);
    let scale = Scale::common(&[seconds], kind);
    let number = scale.number(seconds);
    // `1.50` is `1.5` here: borders are round.
    let short =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    format!("≤ {short} {}", scale.ascii_unit())
}

/// A bar of `room` characters for the longest.
fn bar(count: u64, most: u64, room: usize) -> String {
    if count == 0 || most == 0 {
        return String::new();
    }
    let halves = (count as u128 * 2 * room as u128).div_ceil(u128::from(most));
    let halves = usize::try_from(halves).unwrap_or(2 * room);
    let mut out: String = std::iter::repeat_n(BAR, halves / 2).collect();
    if halves % 2 == 1 {
        out.push(HALF);
    }
    out
}

/// The bars of a load, in fewer and wider steps where there is no room, and without where there is none at all.
fn histogram(doc: &LoadDoc, look: Look) -> Part {
    let of = |each: usize| {
        let text = shape(&doc.response_time.histogram, &doc.service_time.histogram, each, look);
        if text.is_empty() { text } else { format!("{text}\n") }
    };
    let part =
        [2, 3].into_iter().fold(Part::new(of(1)), |part, each| part.or(Rank::Shape, "histogram", of(each)));
    part.or(Rank::Figure, "histogram", "")
}

/// Where the two are alike, one column of bars; otherwise both side by side. `each` steps are one.
fn shape(response: &[BucketDoc], service: &[BucketDoc], each: usize, look: Look) -> String {
    let (response, service) = (wider(response, each), wider(service, each));
    let columns: Vec<(&str, &[BucketDoc])> = match response == service {
        true => vec![("response and service time", &response)],
        false => vec![("response time", &response), ("service time", &service)],
    };
    let said = match beyond(&response) {
        Some(said) if response == service => notes::marked("-", Tone::Dim, &said, look),
        Some(said) => notes::marked("-", Tone::Dim, &format!("response time {said}"), look),
        None => String::new(),
    };
    let bars = bars(&columns, look);
    if bars.is_empty() { bars } else { format!("{bars}{said}") }
}

/// A last step that is far wider than the others is no part of the shape: what lies in it.
fn beyond(steps: &[BucketDoc]) -> Option<String> {
    let [.., before, last] = steps else { return None };
    let count_of = |steps: &[BucketDoc]| steps.iter().map(|step| step.count).sum::<u64>();
    let second = Kind::for_unit(Unit::Second);
    (last.count > 0 && last.to >= WIDE * before.to).then(|| {
        let (count, all) = (last.count as f64, count_of(steps) as f64);
        format!(
            "beyond {}: {} of {}, the largest {}",
            format::quantity(before.to, second),
            format::fixed(count, 0),
            format::fixed(all, 0),
            format::quantity(last.to, second)
        )
    })
}

/// Neighbouring steps as one, the last ones first, so that the borders stay.
fn wider(steps: &[BucketDoc], each: usize) -> Vec<BucketDoc> {
    let together = |some: &[BucketDoc]| {
        let count = some.iter().map(|step| step.count).sum();
        some.last().map(|last| BucketDoc { to: last.to, count })
    };
    let mut wide: Vec<BucketDoc> = steps.rchunks(each).filter_map(together).collect();
    wide.reverse();
    wide
}

/// Bars of histograms with the same borders.
fn bars(columns: &[(&str, &[BucketDoc])], look: Look) -> String {
    let Some((_, first)) = columns.first().filter(|(_, buckets)| !buckets.is_empty()) else {
        return String::new();
    };
    let labels: Vec<String> = first.iter().map(|bucket| border(bucket.to)).collect();
    let indent = labels.iter().map(|label| width(label)).max().unwrap_or(0);
    let each = look.columns.saturating_sub(indent) / columns.len().max(1);
    // Two spaces before, and room for a share such as `99.9 %` behind.
    let room = each.saturating_sub(2 + 8).clamp(4, 60);
    let mut out = " ".repeat(indent);
    for (name, _) in columns {
        out.push_str(&format!("  {:<w$}", Tone::Plain.paint(&cut(name, each - 2), false), w = each - 2));
    }
    out = Tone::Dim.paint(out.trim_end(), look.paint);
    out.push('\n');
    for (at, label) in labels.iter().enumerate() {
        let mut line = format!("{label:>indent$}");
        for (_, buckets) in columns {
            let total: u64 = buckets.iter().map(|bucket| bucket.count).sum();
            let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
            let count = buckets.get(at).map_or(0, |bucket| bucket.count);
            let share = if count == 0 { String::new() } else { share(count, total) };
            let cell = format!("{} {share}", bar(count, most, room));
            line.push_str(&format!("  {:<w$}", cell.trim_end(), w = each - 2));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Short: `12.3 %`, `0.01 %`, `<0.01 %`.
fn share(count: u64, total: u64) -> String {
    let percent = count as f64 * 100.0 / total.max(1) as f64;
    match percent {
        p if p < 0.01 => "<0.01 %".to_owned(),
        p if p < 0.1 => format!("{p:.2} %"),
        p if p < 99.95 => format!("{p:.1} %"),
        _ => "100 %".to_owned(),
    }
}

fn generator(doc: &LoadDoc) -> String {
    let one = &doc.generator;
    let mut parts = Vec::new();
    if let Some(share) = one.busiest_core_share {
        parts.push(format!("{} of its busiest core", format::percent(share)));
    }
    if let Some(cpu) = one.cpu_per_request {
        let scale = Scale::common(&[cpu], Kind::for_unit(Unit::Second));
        parts.push(format!("{} {} of CPU a request", scale.number(cpu), scale.ascii_unit()));
    }
    if let Some(late) = doc.late_p99 {
        let scale = Scale::common(&[late], Kind::for_unit(Unit::Second));
        parts.push(format!("99 % of sends {} {} late or less", scale.number(late), scale.ascii_unit()));
    }
    if let Some(flying) = doc.in_flight {
        parts.push(format!("{} in flight", format::number(flying)));
    }
    if parts.is_empty() { "-".to_owned() } else { parts.join(" · ") }
}

/// The bottleneck, the evidence for and against it, and advice; evidence that was asked for stays.
fn bottleneck(one: &BottleneckDoc, is_asked: bool, look: Look) -> Part {
    let also = match one.also.as_slice() {
        [] => String::new(),
        some => hang("also        ", &some.join("; "), look.columns),
    };
    let sentence = hang("bottleneck  ", &one.sentence, look.columns) + &also;
    let [evidence, against, advice] =
        [("for", &one.evidence), ("against", &one.counter_evidence), ("try", &one.advice)]
            .map(|(word, texts)| reason(word, &texts[..texts.len().min(MOST_REASONS)], look));
    let first = reason("try", &one.advice[..one.advice.len().min(1)], look);
    if is_asked {
        // Ceilings that are near stand behind the other reasons.
        let evidence = reason("for", &one.evidence, look);
        return Part::new(format!("{sentence}{evidence}{against}{advice}"))
            .or(Rank::Reason, "evidence against", format!("{sentence}{evidence}{advice}"))
            .or(Rank::Figure, "advice", format!("{sentence}{evidence}{first}"));
    }
    Part::new(format!("{sentence}{evidence}{against}{advice}"))
        .or(Rank::Reason, "evidence", format!("{sentence}{evidence}{advice}"))
        .or(Rank::Reason, "evidence", format!("{sentence}{advice}"))
        .or(Rank::Figure, "evidence", format!("{sentence}{first}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share_of_the_longest() {
        assert_eq!(bar(10, 10, 4), "████");
        assert_eq!(bar(5, 10, 3), "█▌");
        assert_eq!(bar(1, 1_000_000, 40), "▌", "what is there is seen");
        assert_eq!((bar(0, 10, 4).as_str(), bar(0, 0, 4).as_str()), ("", ""));
        assert_eq!(bar(u64::MAX, u64::MAX, 60).chars().count(), 60);
    }

    #[test]
    fn wider_steps_hold_what_theirs_held() {
        let steps: Vec<BucketDoc> =
            [1, 2, 4, 8, 16].map(|count| BucketDoc { to: count as f64, count }).to_vec();
        let of =
            |each: usize| wider(&steps, each).iter().map(|step| (step.to, step.count)).collect::<Vec<_>>();
        assert_eq!(of(1).len(), 5);
        assert_eq!(of(2), [(1.0, 1), (4.0, 6), (16.0, 24)]);
        assert_eq!(of(3), [(2.0, 3), (16.0, 28)]);
        assert!(wider(&[], 2).is_empty());
    }

    #[test]
    fn what_lies_beyond_the_shape_is_said() {
        let steps = |last: f64| [(1e-3, 40), (2e-3, 9), (last, 1)].map(|(to, count)| BucketDoc { to, count });
        assert_eq!(beyond(&steps(9.0)).as_deref(), Some("beyond 2.00 ms: 1 of 50, the largest 9.00 s"));
        assert_eq!(beyond(&steps(3e-3)), None);
        let look = Look::plain();
        assert!(
            shape(&steps(9.0), &steps(9.0), 1, look)
                .ends_with("- beyond 2.00 ms: 1 of 50, the largest 9.00 s\n")
        );
        assert_eq!(shape(&[], &[], 1, look), "");
    }

    #[test]
    fn times_far_apart_have_units_of_their_own() {
        let near = Spread::of(&[0.000_2, 0.019]);
        assert_eq!((near.number(0.019).as_str(), near.unit().as_str()), ("19,000", "us"));
        let far = Spread::of(&[0.000_099_5, 0.0, 1.0]);
        assert_eq!((far.number(0.000_099_5).as_str(), far.unit().as_str()), ("99.5 us", ""));
        assert_eq!(far.number(0.908), "908 ms");
    }

    #[test]
    fn shares_are_short() {
        let said =
            [(1, 1_000_000), (5, 10_000), (1, 8), (1, 1), (0, 0)].map(|(count, total)| share(count, total));
        assert_eq!(said, ["<0.01 %", "0.05 %", "12.5 %", "100 %", "<0.01 %"]);
    }

    #[test]
    fn the_window_is_said_and_how_far_answers_lie_behind_it() {
        let of = |window, seconds| span(&LoadDoc { window, seconds, ..crate::common::load(false) });
        assert_eq!(of(Some(10.0), Some(10.1)).as_deref(), Some("10 s"));
        assert_eq!(of(Some(10.0), Some(12.3)).as_deref(), Some("10 s, last answer after 12.3 s"));
        // A run of before the window was stored.
        assert_eq!(of(None, Some(10.1)).as_deref(), Some("10 s"));
        assert_eq!(of(None, None), None);
    }
}
