//! Invented runs of access logs: a day of two machines with what they did meanwhile, or two sides of a cut.

use model::data::{Point, RunData, Series, TakeHead};
use model::doc::{
    AgentsDoc, AnswersDoc, BesideDoc, BesideRow, BotDoc, CompareDoc, EpisodeDoc, FailedDoc, LogsSideDoc,
    MissingDoc, NameDoc, NamesDoc, OverTimeDoc, PeakDoc, ReferrersDoc, RowDoc, RunDoc, SeriesDoc,
    VerdictWord,
};
use model::finding::{Cache, LogsCompared};
use model::metric::Better;
use model::reading::{Phase, SeriesKey, Value};
use model::unit::Unit;
use model::why::Why;
use model::{Finding, Params, Samples, Subject, Validity};

use super::{arm, compare, data, figures, machine, run, scatter, series};

const HOUR: f64 = 3600.0;
const HOUR_NS: u64 = 3_600_000_000_000;
/// 2010-05-01 00:00 UTC.
pub const DAY: f64 = 1_272_672_000.0;
const GIB: f64 = 1_073_741_824.0;

/// How a label was: its hours since [`DAY`], the time of a request, its machine.
#[derive(Clone, Copy)]
pub struct Label {
    pub name: &'static str,
    pub from: u64,
    pub hours: u64,
    pub seconds: f64,
    pub cache: f64,
    pub read: f64,
}

pub const HDD: Label =
    Label { name: "hdd", from: 0, hours: 24, seconds: 24.7e-3, cache: 6.0 * GIB, read: 2.1e6 };
pub const SSD: Label = Label { name: "ssd", seconds: 13.9e-3, cache: 1.2 * GIB, read: 31e6, ..HDD };

fn busy(hour: u64) -> f64 {
    1.0 + 0.7 * ((hour as f64 - 9.0) / 24.0 * std::f64::consts::TAU).sin()
}

fn row(label: Label, hour: u64) -> BesideRow {
    let (load, odd) = (busy(hour), 1.0 + 0.04 * scatter(hour as usize + label.name.len()));
    let requests = 25_000.0 * load;
    BesideRow {
        at: DAY + (label.from + hour) as f64 * HOUR,
        seconds: HOUR,
        requests: requests as u64,
        bytes: requests * 7.7e3,
        speed: Some(7.7e3 / (label.seconds * load.sqrt() * odd)),
        p50: Some(label.seconds * 0.3 * odd),
        p99: Some(label.seconds * 9.0 * load * odd),
        server_errors: 0,
        samples: 3600,
        load: Some(1.4 * load * odd * label.seconds / 14e-3),
        cpu: Some((0.15 + 3.0 * label.seconds) * load * odd),
        iowait: Some(0.03),
        disk_read: Some(label.read * load * odd),
        memory_used: Some(1.6 * GIB * odd),
        page_cache: Some(label.cache * odd.sqrt()),
        net_sent: None,
    }
}

fn mean(rows: &[BesideRow]) -> BesideRow {
    let of = |figure: fn(&BesideRow) -> Option<f64>| {
        let known: Vec<f64> = rows.iter().filter_map(figure).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    BesideRow {
        at: rows[0].at,
        seconds: rows.len() as f64 * HOUR,
        requests: rows.iter().map(|row| row.requests).sum(),
        bytes: rows.iter().map(|row| row.bytes).sum(),
        speed: of(|row| row.speed),
        load: of(|row| row.load),
        cpu: of(|row| row.cpu),
        disk_read: of(|row| row.disk_read),
        memory_used: of(|row| row.memory_used),
        page_cache: of(|row| row.page_cache),
        ..rows[0].clone()
    }
}

pub fn beside(label: Label) -> BesideDoc {
    let rows: Vec<BesideRow> = (0..label.hours).map(|hour| row(label, hour)).collect();
    let span = (rows[0].at, rows[0].at + label.hours as f64 * HOUR);
    BesideDoc {
        label: label.name.to_owned(),
        run: format!("0192{}c0ffee0123456789abcdef", label.name.replace(' ', "")),
        machine: format!("db-{}", &label.name[..3]),
        host: Some(format!("db-{}.example", &label.name[..3])),
        drift: None,
        log: span,
        telemetry: span,
        step: Some(HOUR),
        why: None,
        mean: Some(mean(&rows)),
        rows,
    }
}

/// A metric of the card, and what an hour says of it.
type Hourly = (&'static str, Unit, Better, fn(&BesideRow) -> f64);

const HOURLY: [Hourly; 5] = [
    ("requests", Unit::Count, Better::Neither, |row| row.requests as f64),
    ("ratio_of_totals", Unit::BytesPerSec, Better::Higher, |row| row.speed.unwrap_or(0.0)),
    ("time.p50", Unit::Second, Better::Lower, |row| row.p50.unwrap_or(0.0)),
    ("time.p90", Unit::Second, Better::Lower, |row| row.p99.unwrap_or(0.0) * 0.5),
    ("time.p99", Unit::Second, Better::Lower, |row| row.p99.unwrap_or(0.0)),
];

/// The hours of a label as a store gives them back.
fn raw(label: Label, rows: &[BesideRow]) -> RunData {
    let series = |(metric, unit, better, of): Hourly| {
        let point = |(seq, row): (u64, &BesideRow)| Point {
            seq,
            block: seq as u32,
            sitting: 0,
            phase: Phase::Measured,
            at_ns: (label.from + seq) * HOUR_NS,
            window_ns: HOUR_NS,
            value: Value::Number(of(row)),
        };
        let (instrument, params) = ("logs".to_owned(), Params::default());
        let key =
            SeriesKey { instrument, metric: metric.into(), unit, params, arm: String::new(), definition: 1 };
        Series { key, better, points: (0..).zip(rows).map(point).collect() }
    };
    let take = |seq: u64| TakeHead {
        seq,
        block: seq as u32,
        sitting: 0,
        phase: Phase::Measured,
        cell: 0,
        arm: 0,
        start_ns: (label.from + seq) * HOUR_NS,
        end_ns: (label.from + seq + 1) * HOUR_NS,
        repeats: 1,
        fault: None,
        refusals: Vec::new(),
    };
    RunData {
        series: HOURLY.map(series).to_vec(),
        takes: (0..label.hours).map(take).collect(),
        telemetry: Vec::new(),
        notes: Vec::new(),
        facts: Vec::new(),
        traffic: None,
        own_cost: None,
        ..data(1, 1, 1)
    }
}

/// A figure of hours: a median without an interval.
fn shown((metric, unit, better, of): &Hourly, rows: &[BesideRow]) -> SeriesDoc {
    let mut all: Vec<f64> = rows.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    SeriesDoc {
        instrument: "logs".to_owned(),
        metric: (*metric).to_owned(),
        unit: *unit,
        better: *better,
        params: Params::default(),
        headline: ["ratio_of_totals", "time.p99"].contains(metric),
        samples: Samples::Periods,
        n: rows.len() as u64,
        median: all.get(all.len() / 2).copied(),
        low: None,
        high: None,
        level: None,
        floor: None,
        again_low: None,
        again_high: None,
        noise_runs: Vec::new(),
        why: Some("periods differ in what was asked for, and are no repetitions".to_owned()),
        validity: Validity::Unknown,
        ..series(&figures()[0])
    }
}

/// A stored run of a label, with its machine where it has one.
pub fn label(label: Label, has_machine: bool, side: Option<LogsSideDoc>) -> (RunDoc, RunData) {
    let beside = beside(label);
    let raw = raw(label, &beside.rows);
    let rows = HOURLY.iter().filter(|hourly| hourly.2 != Better::Neither);
    let doc = RunDoc {
        run: format!("0192{}f3a4b5c67def8123456789ab", label.name.replace(' ', "")),
        machine: machine(label.name),
        started: DAY + label.from as f64 * HOUR + 125.0,
        seconds: Some(label.hours as f64 * HOUR - 130.0),
        level: "named".to_owned(),
        config: std::collections::BTreeMap::new(),
        own_cpu_seconds: None,
        series: rows.map(|hourly| shown(hourly, &beside.rows)).collect(),
        findings: Vec::new(),
        logs_side: side,
        beside: has_machine.then_some(beside),
        ..run()
    };
    (doc, raw)
}

/// The second label beside the first, with what is said of them.
pub fn versus(base: &str, other: &str, findings: Vec<Finding>) -> CompareDoc {
    let row = |metric: &str, unit, better, ratio: f64, values: (f64, f64)| RowDoc {
        card: model::card::find(instruments::cards(), "logs"),
        instrument: "logs".to_owned(),
        metric: metric.to_owned(),
        unit,
        better,
        params: Params::default(),
        headline: true,
        index: None,
        arm: other.to_owned(),
        base: base.to_owned(),
        arm_value: Some(values.1),
        base_value: Some(values.0),
        ratio: Some(ratio),
        low: Some(ratio * 0.96),
        high: Some(ratio * 1.04),
        p: Some(1e-9),
        p_holm: Some(2e-9),
        floor: None,
        noise: None,
        noise_runs: Vec::new(),
        margin: 0.05,
        verdict: VerdictWord::Better,
        why: Why::default(),
        point: false,
        per_price: None,
        per_watt: None,
        worth: None,
        lower_bounds: Vec::new(),
    };
    CompareDoc {
        paragraph: format!("{other} serves requests 77 % faster than {base}.").into(),
        answer: String::new(),
        arms: vec![arm(base, false), arm(other, false)],
        rows: vec![
            row("speed", Unit::BytesPerSec, Better::Higher, 1.77, (312e3, 552e3)),
            row("time", Unit::Second, Better::Lower, 0.56, (24.7e-3, 13.9e-3)),
        ],
        index: Vec::new(),
        value: Vec::new(),
        next_step: None,
        findings,
        settings: Vec::new(),
        footnotes: Vec::new(),
        ..compare()
    }
}

/// Two machines over the same day: the second has faster disks and a smaller page cache.
pub fn machines() -> (Vec<(RunDoc, RunData)>, CompareDoc) {
    let memory = |label: &str, gib: f64| Cache { label: label.to_owned(), bytes: gib * GIB, disk_read: None };
    let unlike = LogsCompared::PageCache { arm: memory("ssd", 1.2), base: memory("hdd", 6.0) };
    let cache = Finding::new(unlike).about(Subject::groups("ssd", "hdd"));
    (vec![label(HDD, true, None), label(SSD, true, None)], versus("hdd", "ssd", vec![cache]))
}

/// One log cut at 14:00.
pub fn sides() -> (Vec<(RunDoc, RunData)>, CompareDoc) {
    let at = DAY as i64 + 14 * 3600;
    let side = |side: &str| {
        let (label, given) = ("web".to_owned(), "2010-05-01 14:00".to_owned());
        Some(LogsSideDoc { label, given, at, side: side.to_owned() })
    };
    let before = Label { name: "web before", hours: 14, ..HDD };
    let after = Label { name: "web after", from: 14, hours: 10, ..SSD };
    let text = "before and after share no time: whatever else changed meanwhile is in the difference too";
    let said = Finding::foreign("time-confounded", Validity::Doubtful, text)
        .about(Subject::groups("web after", "web before"));
    let runs = vec![label(before, true, side("before")), label(after, true, side("after"))];
    (runs, versus("web before", "web after", vec![said]))
}

fn referrers(top: NamesDoc) -> ReferrersDoc {
    ReferrersDoc { requests: 300_000, own: Some("shop.example".to_owned()), own_requests: 250_000, top }
}

/// Two bots: one all day from many addresses, one for two hours from one.
fn each_bot(google: &str) -> Vec<BotDoc> {
    let clients = |all: &[(&str, u64)], distinct| NamesDoc {
        top: all
            .iter()
            .map(|(name, requests)| NameDoc { name: (*name).to_owned(), requests: *requests })
            .collect(),
        others: 0,
        distinct: Some(distinct),
    };
    let peak = |at, requests, rate| Some(PeakDoc { at: DAY + at, requests, rate });
    vec![
        BotDoc {
            name: google.to_owned(),
            requests: 60_000,
            clients: clients(&[("66.249.66.1", 30_000), ("66.249.66.2", 20_000)], 7),
            busiest_hour: peak(3.0 * HOUR, 9_000, 2.5),
            hour_requests: Some(120_000),
            from: Some(DAY),
            to: Some(DAY + 24.0 * HOUR),
            every_day: None,
            peak_requests: None,
        },
        BotDoc {
            name: "curl/8.5.0".to_owned(),
            requests: 24_000,
            clients: clients(&[("203.0.113.77", 24_000)], 1),
            busiest_hour: peak(12.0 * HOUR, 20_000, 5.56),
            hour_requests: Some(44_000),
            from: Some(DAY + 12.0 * HOUR),
            to: Some(DAY + 14.0 * HOUR),
            every_day: None,
            peak_requests: None,
        },
    ]
}

/// Steps of 5 minutes.
fn steps(rows: impl Iterator<Item = (f64, u64, u64, u64)>) -> OverTimeDoc {
    OverTimeDoc { step: 300.0, rows: rows.collect(), ..OverTimeDoc::default() }
}

/// What a label was asked, how it answered, and who asked.
pub fn answers() -> AnswersDoc {
    let names = |all: &[(&str, u64)], others, distinct| NamesDoc {
        top: all
            .iter()
            .map(|(name, requests)| NameDoc { name: (*name).to_owned(), requests: *requests })
            .collect(),
        others,
        distinct,
    };
    let failed = |requests, paths, clients, episode| FailedDoc {
        requests,
        share: requests as f64 / 600_000.0,
        paths,
        clients,
        bytes: None,
        seconds: None,
        asked: Vec::new(),
        episode,
        ..FailedDoc::default()
    };
    let peak = |at, requests, rate| Some(PeakDoc { at: DAY + at, requests, rate });
    let noon = EpisodeDoc {
        from: DAY + 14.0 * HOUR,
        to: DAY + 14.0 * HOUR + 1200.0,
        failures: 2_000,
        ..EpisodeDoc::default()
    };
    let row = |n: u64| (DAY + n as f64 * 300.0, 2_000, 20, if (168..172).contains(&n) { 500 } else { n % 2 });
    let (google, chrome) = (
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36",
    );
    AnswersDoc {
        sentence: "shop: 600 k requests in 1 d, 6.94/s on average, 31.0/s in the busiest hour (Sat 12:00); 0.4 % failed \
                   with 5xx, 2,000 of 2,142 of them for /cart, 2,000 of 2,142 in one episode, Sat 14:00 to 14:20; 99 % of answers, \
                   5xx too, within 240 ms."
            .to_owned(),
        zone: 0,
        rate: Some(6.94),
        busiest_hour: peak(12.0 * HOUR, 111_600, 31.0),
        busiest_minute: peak(12.5 * HOUR, 2_520, 42.0),
        busiest_second: peak(12.5 * HOUR + 7.0, 91, 91.0),
        client_errors: Some(failed(
            5_760,
            names(&[("/wp-login.php", 3_000), ("/.env", 1_000), ("/old", 400), ("/older", 300)], 1_060, None),
            names(&[("203.0.113.9", 5_000)], 760, Some(31)),
            None,
        )),
        server_errors: Some(failed(
            2_142,
            names(&[("/cart", 2_000), ("/checkout", 142)], 0, Some(2)),
            names(&[("10.0.0.1", 9), ("10.0.0.2", 8), ("10.0.0.3", 8)], 2_117, Some(900)),
            Some(noon),
        )),
        over_time: steps((0..288).map(row)),
        agents: Some(AgentsDoc {
            requests: 600_000,
            bots: 84_000,
            top_bots: names(&[(google, 60_000), ("curl/8.5.0", 24_000)], 0, Some(2)),
            top_others: names(&[(chrome, 400_000)], 116_000, Some(9)),
            each_bot: each_bot(google),
        }),
        referrers: Some(referrers(names(&[("www.search.example", 40_000)], 10_000, Some(3)))),
        missing: vec![MissingDoc { what: "clients".to_owned(), why: "no line tells a client".to_owned() }],
        error: 0.000_332,
        ..AnswersDoc::default()
    }
}
