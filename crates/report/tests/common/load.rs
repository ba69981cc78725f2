//! A load of fixed values as `boxscore load` documents it.

use model::answer::AnswerDoc;

use super::*;

fn busy() -> BTreeMap<String, model::doc::StatusDoc> {
    let first_url = Some("http://127.0.0.1:8080/index.html".to_owned());
    BTreeMap::from([("503".to_owned(), model::doc::StatusDoc { count: 40, first_url })])
}

fn times(one: &model::Histogram, borders: &[u64]) -> model::doc::TimesDoc {
    let at = |q: f64| one.quantile_ns(q).map(|ns| ns as f64 / 1e9);
    model::doc::TimesDoc {
        count: one.count(),
        over: one.over(),
        p50: at(0.5),
        p75: at(0.75),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: one.max_ns().map(|ns| ns as f64 / 1e9),
        mean: one.mean_ns().map(|ns| ns / 1e9),
        histogram: model::ladder::count(one, borders),
    }
}

/// A load of fixed values; an open loop has response times of its own.
pub fn load(open: bool) -> model::doc::LoadDoc {
    use model::{Histogram, doc::GeneratorDoc, doc::LoadDoc, ladder};
    let mut service = Histogram::default();
    for i in 0..2000u64 {
        service.record_n(180_000 + i * i % 7919 * 37 + if i % 97 == 0 { 2_400_000 } else { 0 }, 50);
    }
    let mut response = service.clone();
    if open {
        (0..40u64).for_each(|i| response.record_n(i * 25_000_000, 40));
    }
    let borders = ladder::borders(&[&response, &service], 9);
    let times = |one: &Histogram| times(one, &borders);
    let given = if open {
        "method=GET;connections=10;generators=1;arrivals=constant;rate=10000;keepalive=on"
    } else {
        "method=POST;connections=50;generators=2;arrivals=closed;rate=auto;keepalive=off"
    };
    LoadDoc {
        schema: "boxscore.load/1".to_owned(),
        run: "0192f3a4b5c67def8123456789abcdef".to_owned(),
        machine: machine("mini-1"),
        subject: None,
        label: open.then(|| "before".to_owned()),
        url: "http://127.0.0.1:8080/index.html".to_owned(),
        answer: Some(AnswerDoc {
            sentence: "36,400 requests/s; 99 % within 1.40 ms; one thread of the server is full".to_owned(),
            ..AnswerDoc::default()
        }),
        setup: Some("the server at 127.0.0.1:8080; 1 generator on CPU 1".to_owned()),
        params: params(given),
        seconds: Some(10.0),
        window: Some(10.0),
        cut: false,
        requests: response.count(),
        good: response.count() - if open { 0 } else { 42 },
        errors: if open {
            BTreeMap::new()
        } else {
            BTreeMap::from([("status_5xx".to_owned(), 40), ("timeout".to_owned(), 2)])
        },
        statuses: if open { BTreeMap::new() } else { busy() },
        throughput: Some(9_996.0),
        bytes: Some(61_200_000.0),
        bandwidth: Some(6_120_000.0),
        offered_load: open.then_some(10_000.0),
        in_flight: Some(3.21),
        response_time: times(&response),
        service_time: times(&service),
        late_p99: open.then_some(14.2e-6),
        late_read: Some(2e-6),
        late_read_p99: Some(9e-6),
        generator: GeneratorDoc {
            cpu_seconds: Some(1.1),
            cpu_per_request: Some(11.3e-6),
            busiest_core_share: Some(0.63),
            busiest_thread_share: Some(0.63),
        },
        server: used(),
        since: open.then(since),
        remarks: if open { vec!["at p99 a user waits 700 ms".to_owned()] } else { Vec::new() },
        bottlenecks: if open { Vec::new() } else { vec![bound()] },
        findings: findings(),
    }
}

fn used() -> model::doc::ServerUseDoc {
    model::doc::ServerUseDoc {
        cpus: Some(0.98),
        cpu_per_request: Some(98e-6),
        allowed_cpus: Some(2),
        waiting: None,
        quota_cpus: None,
        quota_group: None,
    }
}

fn since() -> model::doc::SinceDoc {
    model::doc::SinceDoc {
        run: "01a2c3d4e5f60000".to_owned(),
        label: Some("before".to_owned()),
        differ: vec![setting("net.core.somaxconn", "8", "4096"), setting("RPS of eth0", "off", "CPUs 0-1")],
    }
}

fn bound() -> model::doc::BottleneckDoc {
    use model::doc::{Binding, BottleneckDoc};
    let texts = |given: &[&str]| given.iter().map(|text| (*text).to_owned()).collect();
    BottleneckDoc {
        instrument: "web".to_owned(),
        params: Params::default(),
        arm: String::new(),
        throughput: Some(9_996.0),
        kind: Binding::Thread,
        resource: "server thread".to_owned(),
        share: Some(0.99),
        sentence: "bound by one thread of the server (99 % of cpu0; the other core 31 % idle)".to_owned(),
        evidence: texts(&["the busiest thread ran 99 % of the time", "cpu0 97 % busy"]),
        counter_evidence: texts(&["the generator was busy for 63 %"]),
        advice: texts(&["start more workers", "spread the NIC's interrupts"]),
        also: Vec::new(),
        resources: Vec::new(),
        ceilings: ceilings(),
        cores: vec![core("0", "server", [0.19, 0.53, 0.24]), core("1", "generator", [0.31, 0.36, 0.08])],
        files: Some(model::doc::FilesDoc {
            disk_read: Some(8e6),
            server_read: Some(7.5e6),
            refaults: Some(2_000.0),
            server_cache: Some(263e6),
        }),
    }
}

/// A disk that was measured two hours before, the loopback with a doubtful figure, and two that never were.
pub fn ceilings() -> Vec<model::doc::CeilingDoc> {
    use model::doc::{CeilingDoc, CeilingFigureDoc, CeilingOf};
    let figure = |instrument: &str, value: f64, validity| CeilingFigureDoc {
        instrument: instrument.to_owned(),
        metric: String::new(),
        params: Params::default(),
        value,
        low: Some(0.95 * value),
        high: Some(1.05 * value),
        run: "0190".to_owned(),
        age: 7_500.0,
        validity,
        doubts: Vec::new(),
    };
    let one = |of, resource: &str, (unit, used): (Unit, f64), measured: Option<CeilingFigureDoc>| {
        let share = |of: &dyn Fn(&CeilingFigureDoc) -> f64| measured.as_ref().map(|figure| used / of(figure));
        let one = CeilingDoc {
            of,
            resource: resource.to_owned(),
            unit,
            used,
            at_least: of == CeilingOf::BytesCopied,
            share: share(&|figure| figure.value),
            share_low: share(&|figure| figure.high.unwrap_or(figure.value)),
            share_high: share(&|figure| figure.low.unwrap_or(figure.value)),
            exceeded: false,
            command: "boxscore run x".to_owned(),
            by_option: true,
            why: None,
            text: String::new(),
            measured,
        };
        one.with_text()
    };
    let (reads, carried) =
        (figure("disk-read", 22e3, Validity::Ok), figure("net-bandwidth", 2.1e9, Validity::Doubtful));
    vec![
        one(CeilingOf::Reads, "vda", (Unit::PerSec, 4e3), Some(reads)),
        one(CeilingOf::BytesCarried, "lo", (Unit::BytesPerSec, 2e8), Some(carried)),
        one(CeilingOf::BytesCopied, "memory", (Unit::BytesPerSec, 2e8), None),
        one(CeilingOf::Answers, "builtin", (Unit::PerSec, 9_996.0), None),
    ]
}

fn core(cpu: &str, role: &str, [user, system, softirq]: [f64; 3]) -> model::doc::CoreDoc {
    model::doc::CoreDoc {
        cpu: cpu.to_owned(),
        role: role.to_owned(),
        user: Some(user),
        system: Some(system),
        softirq: Some(softirq),
        steal: Some(0.0),
        generator: None,
        idle: 1.0 - user - system - softirq,
    }
}

pub fn setting(name: &str, base: &str, arm: &str) -> model::doc::SettingDoc {
    model::doc::SettingDoc { name: name.to_owned(), key: None, base: base.to_owned(), arm: arm.to_owned() }
}
