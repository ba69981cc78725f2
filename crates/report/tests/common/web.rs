//! An invented run that loaded a web server: sweeps, curves, what binds, cores, a profile. All planted and always the
//! same.

use std::rc::Rc;

use model::answer::AnswerDoc;
use model::data::{Point, RunData, Series};
use model::doc::{
    Binding, BottleneckDoc, CurveDoc, CurveMarkDoc, CurvePointDoc, EstimateDoc, PercentileDoc, ResourceDoc,
    RunDoc,
};
use model::metric::Better;
use model::note::{Note, NoteBody, WebSetup};
use model::reading::{Phase, SeriesKey, Value};
use model::unit::Unit;
use model::{Histogram, Params, Validity};

use super::{Planted, data, params, run, scatter, series};

/// Requests per second that the invented server can answer.
const CAPACITY: f64 = 61_200.0;
const SERVER: &str = "content=gif;duration=1;keepalive=on;listen=127.0.0.1;mpm=auto;server=nginx;url=none";
const TAKES: u64 = 8;

/// One planted load.
struct Load {
    params: Params,
    rate: f64,
    median: f64,
    p99: f64,
    /// Share of the generator's core.
    generator: f64,
}

fn closed(connections: f64, generators: f64) -> Load {
    let most = if generators < 2.0 { 0.93 * CAPACITY } else { CAPACITY };
    let idle = 95e-6;
    let rate = most * connections / (connections + 6.0) * if connections > 300.0 { 0.97 } else { 1.0 };
    let median = (connections / rate).max(idle);
    Load {
        params: params(&format!(
            "{SERVER};arrivals=closed;connections={connections};generators={generators}"
        )),
        rate,
        median,
        p99: median * 2.6,
        generator: rate / (62_000.0 * generators),
    }
}

fn open(load: f64) -> Load {
    let share = load / 100.0;
    let wait = 1.0 / (1.02 - share.min(1.0)) - 0.9;
    Load {
        params: params(&format!("{SERVER};arrivals=poisson;connections=200;generators=1;load={load}%")),
        rate: CAPACITY * share.min(1.0) * 0.995,
        median: 95e-6 * (1.0 + 0.35 * wait) * if share > 1.0 { 900.0 } else { 1.0 },
        p99: 210e-6 * (1.0 + 0.9 * wait) * if share > 1.0 { 500.0 } else { 1.0 },
        generator: 0.9 * share.min(1.0),
    }
}

fn other(what: &str, rate: f64, median: f64) -> Load {
    let params = params(SERVER).with(&params(what));
    Load { params, rate, median, p99: median * 2.0, generator: 0.4 }
}

fn loads() -> Vec<Load> {
    let connections = [1.0, 10.0, 20.0, 50.0, 100.0, 400.0, 1000.0];
    let mut all: Vec<Load> = connections.iter().map(|n| closed(*n, 1.0)).collect();
    all.extend(connections[1..].iter().map(|n| closed(*n, 2.0)));
    all.extend([10.0, 25.0, 50.0, 75.0, 90.0, 100.0, 110.0].map(open));
    all.push(other("arrivals=closed;connections=50;generators=1;keepalive=off", 18_300.0, 2.7e-3));
    for (readers, rate) in [(1, 5.1), (2, 8.9), (4, 9.6)] {
        let what = format!("arrivals=closed;connections={readers};content=large;generators=1");
        all.push(other(&what, rate, f64::from(readers) / rate));
    }
    all
}

fn figure(metric: &'static str, unit: Unit, better: Better, value: f64) -> Planted {
    let headline = ["throughput", "response-time-p99"].contains(&metric);
    let validity = Validity::Ok;
    Planted { instrument: "web", metric, unit, better, params: "", value, spread: 0.012, headline, validity }
}

fn rows(load: &Load) -> Vec<Planted> {
    let bytes = if load.params.get("content") == Some("large") { 500e6 } else { 43.0 };
    vec![
        figure("throughput", Unit::PerSec, Better::Higher, load.rate),
        figure("bandwidth", Unit::BytesPerSec, Better::Higher, load.rate * bytes),
        figure("response-time", Unit::Second, Better::Lower, load.median),
        figure("response-time-p99", Unit::Second, Better::Lower, load.p99),
        figure("server-cpu", Unit::Second, Better::Lower, 14.2e-6),
    ]
}

/// Readings that are no rows: metric, parameters of the part, value.
fn parts(load: &Load) -> Vec<(&'static str, String, Unit, f64)> {
    let server = (load.rate / CAPACITY).min(1.0);
    let share = |metric, part: &str, value| (metric, part.to_owned(), Unit::Ratio, value);
    let mut out = vec![
        ("generator-cpu", String::new(), Unit::Second, 11.9e-6),
        share("generator-share", "", load.generator),
        share("server-thread-share", "", 0.97 * server),
        ("failed", "kind=timeout".to_owned(), Unit::Count, if load.p99 > 0.1 { 310.0 } else { 0.0 }),
    ];
    for (cpu, role, busy) in [(0, "server", server), (1, "generator", load.generator)] {
        let part = format!("cpu={cpu};role={role}");
        out.push(share("core-busy", &part, busy));
        out.push(share("core-user", &part, 0.14 * busy));
        out.push(share("core-system", &part, 0.45 * busy));
        out.push(share("core-softirq", &part, 0.41 * busy));
        out.push(share("core-steal", &part, 0.002));
    }
    out
}

fn key(metric: &str, unit: Unit, params: Params) -> SeriesKey {
    SeriesKey {
        instrument: "web".to_owned(),
        metric: metric.to_owned(),
        unit,
        params,
        arm: String::new(),
        definition: 1,
    }
}

fn points(values: impl Fn(u64) -> Value) -> Vec<Point> {
    let point = |seq: u64| Point {
        seq,
        block: 0,
        sitting: 0,
        phase: if seq == 0 { Phase::WarmUp } else { Phase::Measured },
        at_ns: seq * 1_000_000_000,
        window_ns: 1_000_000_000,
        value: values(seq),
    };
    (0..=TAKES).map(point).collect()
}

/// Times spread around the median as the planted tail asks.
fn times(median: f64, p99: f64) -> Histogram {
    let mut histogram = Histogram::default();
    let tail = (p99 / median).ln() / 4.6;
    for i in 0..4000u32 {
        let share = (f64::from(i) + 0.5) / 4000.0;
        let log = if share < 0.5 { (share - 0.5) * 0.5 } else { -(2.0 * (1.0 - share)).ln() * tail };
        histogram.record((median * log.exp() * 1e9) as u64);
    }
    histogram
}

fn raw(load: &Load) -> Vec<Series> {
    let numbers = |metric: &str, unit, better, params: Params, value: f64| Series {
        key: key(metric, unit, params),
        better,
        points: points(|seq| Value::Number(value * (1.0 + 0.01 * scatter(seq as usize)))),
    };
    let mut out: Vec<Series> = rows(load)
        .iter()
        .map(|row| numbers(row.metric, row.unit, row.better, load.params.clone(), row.value))
        .collect();
    for (metric, part, unit, value) in parts(load) {
        out.push(numbers(metric, unit, Better::Neither, load.params.with(&params(&part)), value));
    }
    let open = load.params.get("arrivals") == Some("poisson");
    for (metric, late) in [("response-times", 1.0), ("service-times", if open { 0.6 } else { 1.0 })] {
        let all = times(load.median * late, load.p99 * late);
        let points = points(|_| Value::from(all.clone()));
        out.push(Series {
            key: key(metric, Unit::Second, load.params.clone()),
            better: Better::Neither,
            points,
        });
    }
    out
}

fn estimate(value: f64) -> EstimateDoc {
    EstimateDoc { value: Some(value), low: Some(value * 0.98), high: Some(value * 1.02), why: None }
}

fn percentiles(load: &Load, by: f64) -> Vec<PercentileDoc> {
    let all = [(0.5, load.median), (0.9, load.median * 1.6), (0.99, load.p99), (0.999, load.p99 * 1.9)];
    all.map(|(quantile, time)| PercentileDoc { quantile, time: estimate(time * by) }).to_vec()
}

fn point(load: &Load, x: f64, asked: &str) -> CurvePointDoc {
    let open = load.params.get("arrivals") == Some("poisson");
    CurvePointDoc {
        x,
        asked: asked.to_owned(),
        n: TAKES,
        throughput: estimate(load.rate),
        bandwidth: Some(estimate(rows(load)[1].value)),
        response: percentiles(load, 1.0),
        mean_response: Some(load.median * 1.2),
        service: percentiles(load, if open { 0.6 } else { 1.0 }),
        requests: None,
        failed: if load.p99 > 0.1 { 310.0 * TAKES as f64 } else { 0.0 },
        power: Some(load.rate / load.median),
        held: open.then_some(load.rate > 0.95 * x),
        validity: Validity::Ok,
        lower_bound: load.generator > 0.85,
    }
}

fn curve(
    over: &str,
    arrivals: &str,
    loads: &[&Load],
    peak: Option<(usize, &str)>,
    knee: Option<(usize, &str)>,
) -> CurveDoc {
    let swept = if over == "offered-load" { "load" } else { over };
    let mut shared = loads[0].params.clone();
    shared.remove(swept);
    let points: Vec<CurvePointDoc> = loads
        .iter()
        .map(|load| {
            let asked = load.params.get(swept).unwrap_or("");
            let number: f64 = asked.trim_end_matches('%').parse().unwrap_or(0.0);
            point(load, if over == "offered-load" { CAPACITY * number / 100.0 } else { number }, asked)
        })
        .collect();
    let mark = |(at, text): (usize, &str)| CurveMarkDoc {
        x: points[at].x,
        throughput: loads[at].rate,
        mean_response: points[at].mean_response,
        text: text.to_owned(),
    };
    CurveDoc {
        capacity: None,
        instrument: "web".to_owned(),
        over: over.to_owned(),
        arrivals: arrivals.to_owned(),
        params: shared,
        arm: String::new(),
        peak: peak.map(mark),
        knee: knee.map(mark),
        points,
        why: None,
    }
}

fn curves(all: &[Load]) -> Vec<CurveDoc> {
    let of = |wanted: &dyn Fn(&Load) -> bool| all.iter().filter(|load| wanted(load)).collect::<Vec<_>>();
    let is = |load: &Load, name: &str, value: &str| load.params.get(name) == Some(value);
    let sweep = |load: &Load| {
        is(load, "arrivals", "closed") && is(load, "content", "gif") && is(load, "keepalive", "on")
    };
    let one = of(&|load| sweep(load) && is(load, "generators", "1"));
    let two = of(&|load| sweep(load) && is(load, "generators", "2"));
    let open = of(&|load| is(load, "arrivals", "poisson"));
    let large = of(&|load| is(load, "content", "large"));
    vec![
        curve(
            "connections",
            "closed",
            &one,
            Some((6, "54.9 k/s at 1000 connections, a lower bound; 100 reach it within 3 %")),
            None,
        ),
        curve(
            "connections",
            "closed",
            &two,
            Some((5, "59.0 k/s at 1000 connections; 100 reach it within 3 %")),
            None,
        ),
        curve(
            "offered-load",
            "poisson",
            &open,
            Some((5, "holds 61.2 k/s offered; more is not answered in full (60.9 k/s at most)")),
            Some((
                3,
                "knee at 45.9 k/s offered, 171 us in the mean: beyond it, time grows faster than throughput",
            )),
        ),
        curve(
            "connections",
            "closed",
            &large,
            Some((2, "9.60 1/s at 4 connections; no fewer reach it within 3 %")),
            None,
        ),
    ]
}

fn bottlenecks(all: &[Load]) -> Vec<BottleneckDoc> {
    let mut sorted: Vec<&Load> = all.iter().collect();
    sorted.sort_by(|a, b| b.rate.total_cmp(&a.rate));
    let of = |load: &&Load| {
        let server = (load.rate / CAPACITY).min(1.0);
        let bound = load.generator > 0.85;
        let (kind, resource, share) = match (bound, server > 0.85) {
            (true, _) => (Binding::Generator, "generator", load.generator),
            (_, true) => (Binding::Softirq, "cpu0", server),
            _ => (Binding::Connections, "connections", server),
        };
        let percent = (share * 100.0).round();
        let sentence = match kind {
            Binding::Generator => format!(
                "bound by the load generator (cpu1 {percent} % busy): {:.1} k/s is a lower bound",
                load.rate / 1e3
            ),
            Binding::Softirq => format!(
                "bound by softirq on cpu0 ({percent} % busy, 41 % of it in softirq; the other core 8 % idle)"
            ),
            _ => "bound by the number of connections: each waits for its answer before it sends again"
                .to_owned(),
        };
        BottleneckDoc {
            instrument: "web".to_owned(),
            params: load.params.clone(),
            arm: String::new(),
            throughput: Some(load.rate),
            kind,
            resource: resource.to_owned(),
            share: Some(share),
            sentence,
            evidence: vec![
                format!("cpu0 is {percent} % busy: user 14 %, system 45 %, softirq 41 %"),
                "the server's busiest thread has 97 % of a core".to_owned(),
            ],
            counter_evidence: vec!["no listen queue overflowed".to_owned(), "steal is 0.2 %".to_owned()],
            advice: vec![
                "spread the NIC's interrupts over more cores (IRQ affinity, RPS)".to_owned(),
                "use larger keep-alive batches".to_owned(),
            ],
            also: Vec::new(),
            resources: vec![
                ResourceDoc {
                    kind: Binding::Softirq,
                    resource: "cpu0".to_owned(),
                    share: Some(server),
                    text: format!("cpu0 {percent} % busy: softirq 41 %"),
                },
                ResourceDoc {
                    kind: Binding::Generator,
                    resource: "generator".to_owned(),
                    share: Some(load.generator),
                    text: "generator on cpu1".to_owned(),
                },
                ResourceDoc {
                    kind: Binding::Disk,
                    resource: "sda".to_owned(),
                    share: Some(0.0),
                    text: "sda idle".to_owned(),
                },
            ],
            ceilings: super::load::ceilings(),
            cores: Vec::new(),
            files: None,
        }
    };
    sorted.iter().map(of).collect()
}

const PROFILE: &str = "nginx;main;ngx_worker;ngx_epoll_process_events;__libc_send;entry_SYSCALL_64_[k];tcp_sendmsg_[k];tcp_write_xmit_[k];__dev_queue_xmit_[k] 310\n\
    nginx;main;ngx_worker;ngx_epoll_process_events;__libc_send;entry_SYSCALL_64_[k];tcp_sendmsg_[k] 160\n\
    nginx;main;ngx_worker;ngx_epoll_process_events;__libc_recv;entry_SYSCALL_64_[k];tcp_recvmsg_[k] 140\n\
    nginx;main;ngx_worker;ngx_epoll_process_events;epoll_wait;entry_SYSCALL_64_[k];ep_poll_[k] 120\n\
    nginx;main;ngx_worker;ngx_http_process_request;ngx_http_handler 90\n\
    nginx;main;ngx_worker;ngx_http_process_request;ngx_http_parse_header_line 70\n\
    nginx;main;ngx_worker;ngx_time_update 20\n";

/// The whole run: document and data.
pub fn web() -> (RunDoc, RunData) {
    let (mut doc, mut raw_data) = (run(), data(2, 2, 4));
    let all = loads();
    doc.level = "named".to_owned();
    doc.answer = answer("nginx: 61,200 requests/s with 1000 connections; 99 % within 20.9 ms");
    doc.findings.clear();
    doc.series = all
        .iter()
        .flat_map(|load| {
            rows(load)
                .into_iter()
                .map(|row| model::doc::SeriesDoc { params: load.params.clone(), ..series(&row) })
        })
        .collect();
    doc.curves = curves(&all);
    doc.bottlenecks = bottlenecks(&all);
    let setup = WebSetup {
        name: Some("nginx/1.22.1".to_owned()),
        server: "nginx/1.22.1, 1 worker on CPU 0".to_owned(),
        generators: "1 generator on CPU 1".to_owned(),
        shares_cpus: false,
    };
    let notes = [NoteBody::WebSetup(setup), NoteBody::Profile(PROFILE.to_owned())];
    raw_data.notes = notes.map(Note::of_run).to_vec();
    raw_data.series = all.iter().flat_map(raw).collect();
    raw_data.telemetry.clear();
    (doc, raw_data)
}

fn answer(sentence: &str) -> Option<AnswerDoc> {
    Some(AnswerDoc { sentence: sentence.to_owned(), ..AnswerDoc::default() })
}

/// One load, one take: what `load URL` measures.
pub fn one_load() -> (RunDoc, RunData) {
    let (mut doc, mut raw_data) = web();
    let params = params("arrivals=poisson;connections=50;generators=1;rate=30000;url=http://10.0.0.7/");
    let load = Load { params, rate: 29_900.0, median: 160e-6, p99: 2.1e-3, generator: 0.5 };
    doc.series = rows(&load)
        .into_iter()
        .map(|row| model::doc::SeriesDoc {
            params: load.params.clone(),
            low: None,
            high: None,
            n: 1,
            ..series(&row)
        })
        .collect();
    doc.curves.clear();
    doc.answer = answer("29,900 requests/s; 99 % within 2.10 ms");
    doc.bottlenecks = bottlenecks(std::slice::from_ref(&load));
    raw_data.notes.clear();
    raw_data.series = raw(&load);
    (doc, raw_data)
}

/// Two arms of one study: the sweeps of each, with curves and what binds them.
pub fn arms() -> (RunDoc, RunData) {
    let (mut doc, mut raw_data) = web();
    let arm = |set: &str| model::plan::Arm { name: set.to_owned(), set: params(set) };
    let arms = ["mpm=prefork", "mpm=event;sendfile=off"];
    raw_data.plan.arms = arms.map(arm).to_vec();
    let laid = |of: &Params, set: &str| of.with(&params(set));
    let mut series = Vec::new();
    let (mut curves, mut bottlenecks, mut raws) = (Vec::new(), Vec::new(), Vec::new());
    for set in arms {
        for row in &doc.series {
            series.push(model::doc::SeriesDoc {
                params: laid(&row.params, set),
                arm: set.to_owned(),
                ..row.clone()
            });
        }
        for curve in &doc.curves {
            curves.push(CurveDoc { params: laid(&curve.params, set), arm: set.to_owned(), ..curve.clone() });
        }
        for one in &doc.bottlenecks {
            bottlenecks.push(BottleneckDoc {
                params: laid(&one.params, set),
                arm: set.to_owned(),
                ..one.clone()
            });
        }
        for one in &raw_data.series {
            let key =
                SeriesKey { params: laid(&one.key.params, set), arm: set.to_owned(), ..one.key.clone() };
            raws.push(Series { key, ..one.clone() });
        }
    }
    (doc.series, doc.curves, doc.bottlenecks, raw_data.series) = (series, curves, bottlenecks, raws);
    (doc, raw_data)
}

/// Runs as a report takes them.
pub fn shared(runs: impl IntoIterator<Item = (RunDoc, RunData)>) -> Vec<(Rc<RunDoc>, Rc<RunData>)> {
    runs.into_iter().map(|(doc, data)| (Rc::new(doc), Rc::new(data))).collect()
}
