//! A load on a web server that runs already: rate, response and service times, failures, and what the generator used.
//!
//! Times are seconds, from the intended start (response) or the actual one (service) to the last byte. Failed requests
//! are in the times and not in the rates. The threads use the last CPUs allowed. One take is one load; connections are
//! made before it starts. A take without a single good answer fails.

use std::time::Duration;

use model::{
    Better, Bytes, BytesPerSec, Cadence, Card, Count, Family, Fault, Instrument, Metric, Need, ParamKind,
    ParamSpec, Params, PerSec, Probe, Ratio, Record, RecordExt, Seconds, Setup, Size, Tier, Unfit, Variant,
};

use crate::bench::kernel::int_param;
use crate::load::{Load, Outcome, check, run_watched, schedule::Schedule};

const THROUGHPUT: Metric<PerSec> = Metric::new(
    "throughput",
    Better::Higher,
    "good answers that were complete within the take's duration, per second of it",
)
.per("request");
const BANDWIDTH: Metric<BytesPerSec> = Metric::new(
    "bandwidth",
    Better::Higher,
    "bytes of the bodies of good answers per second from the start to the last answer",
);
const RESPONSE: Metric<Seconds> = Metric::new(
    "response-time",
    Better::Lower,
    "median time from when a request was due to the last byte of its answer, failed requests included",
);
const RESPONSE_P99: Metric<Seconds> =
    Metric::new("response-time-p99", Better::Lower, "what 99 in 100 response times of the take at most are");
const RESPONSES: Metric<Seconds> =
    Metric::new("response-times", Better::Neither, "all response times of the take");
const SERVICES: Metric<Seconds> = Metric::new(
    "service-times",
    Better::Neither,
    "all times of the take from when a request was sent to the last byte of its answer",
);
const FAILED: Metric<Count> = Metric::new(
    "failed",
    Better::Neither,
    "requests that failed, by kind: no connection, reset, closed, timeout, 4xx, 5xx, wrong or short answer, unsent",
)
.per("request");
const LATE: Metric<Seconds> = Metric::new(
    "late-p99",
    Better::Neither,
    "how late 99 in 100 sends at most were, from when they could be sent; open loops only",
);
const ANSWERING: Metric<Seconds> =
    Metric::new("answering-time", Better::Neither, "from the start of the take to its last answer");
const IN_FLIGHT: Metric<Count> = Metric::new(
    "in-flight",
    Better::Neither,
    "requests in flight, integrated from the start to the last answer, by that time; failed ones included",
)
.per("request");
const LITTLE: Metric<Count> = Metric::new(
    "in-flight-by-little",
    Better::Neither,
    "what requests in flight must be by Little's law: the sum of all service times by the same time",
)
.per("request");
const SHARE: Metric<Ratio> = Metric::new(
    "generator-share",
    Better::Neither,
    "the share of its time in which the busiest generator thread worked; waiting by spinning is not work",
);
const CPU: Metric<Seconds> = Metric::new(
    "generator-cpu",
    Better::Neither,
    "CPU time of the generator for each request sent, without waiting by spinning",
)
.per("request");

const DEFAULT_URL: &str = "none";

static CARD: Card = Card {
    name: "load",
    family: Family::Web,
    says: "a load on a web server that runs already: rate, response times, failures",
    source: "own engine; closed loops as wrk and ab, open loops as wrk2",
    cadence: Cadence::Repeat,
    definition: 1,
    params: PARAMS,
    metrics: &[
        THROUGHPUT.info(),
        BANDWIDTH.info(),
        RESPONSE.info(),
        RESPONSE_P99.info(),
        RESPONSES.info(),
        SERVICES.info(),
        FAILED.info(),
        LATE.info(),
        ANSWERING.info(),
        IN_FLIGHT.info(),
        LITTLE.info(),
        SHARE.info(),
        CPU.info(),
    ],
    needs: &[Need::Server],
    variants: &[Variant { tier: Tier::Full, set: "", headline: &["throughput", "response-time-p99"] }],
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "url",
        kind: ParamKind::Text,
        default: DEFAULT_URL,
        says: "http:// or https:// URL to load",
    },
    ParamSpec {
        name: "connections",
        kind: ParamKind::Int { min: 1, max: 1_000_000 },
        default: "50",
        says: "connections of all threads together",
    },
    ParamSpec {
        name: "threads",
        kind: ParamKind::Threads,
        default: "1",
        says: "generator threads, one a CPU",
    },
    ParamSpec {
        name: "arrivals",
        kind: ParamKind::Choice(&["closed", "constant", "poisson"]),
        default: "closed",
        says: "closed: each connection sends on its answer; the others: requests are due at a rate",
    },
    ParamSpec {
        name: "rate",
        kind: ParamKind::Int { min: 1, max: 1_000_000_000 },
        default: "1000",
        says: "requests due per second; a closed loop has none",
    },
    ParamSpec {
        name: "duration",
        kind: ParamKind::Int { min: 1, max: 86_400 },
        default: "5",
        says: "seconds in which requests are sent",
    },
    ParamSpec {
        name: "keepalive",
        kind: ParamKind::Choice(&["on", "off"]),
        default: "on",
        says: "off: each request has a connection of its own",
    },
    ParamSpec {
        name: "method",
        kind: ParamKind::Choice(&["GET", "HEAD", "POST"]),
        default: "GET",
        says: "the method; POST has an empty body",
    },
    ParamSpec {
        name: "timeout",
        kind: ParamKind::Int { min: 1, max: 3600 },
        default: "10",
        says: "seconds after which a request has failed, and for which the end of a take waits",
    },
    ParamSpec {
        name: "certificate",
        kind: ParamKind::Choice(&["checked", "any"]),
        default: "checked",
        says: "whether the server's certificate must be valid",
    },
];

pub struct UrlLoad;

pub static INSTRUMENT: UrlLoad = UrlLoad;

impl Instrument for UrlLoad {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        describe(setup).map(|_| ())
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        Ok(Box::new(Loads { load: describe(setup)? }))
    }
}

/// The load that the parameters describe.
fn describe(setup: &Setup) -> Result<Load, Unfit> {
    let text = |name: &str| setup.params.get(name).unwrap_or_default();
    let url = text("url");
    if url.is_empty() || url == DEFAULT_URL {
        return Err(Unfit::new("needs a server: --set url=http://HOST/PATH"));
    }
    let mut load = Load::new(url.parse().map_err(|error| Unfit::new(format!("{error}")))?);
    let number = |name: &str| int_param(setup, name);
    let seconds = |name: &str| number(name).map(Duration::from_secs);
    load.threads = setup.threads()?;
    load.connections =
        usize::try_from(number("connections")?).map_err(|_| Unfit::new("too many connections"))?;
    let rate = number("rate")? as f64;
    load.schedule = match text("arrivals") {
        "constant" => Schedule::Constant { rate },
        "poisson" => Schedule::Poisson { rate, seed: setup.seed },
        _ => Schedule::Closed,
    };
    load.duration =
        Some(if setup.size == Size::Smoke { Duration::from_millis(500) } else { seconds("duration")? });
    load.timeout = seconds("timeout")?;
    load.drain = load.timeout;
    load.keepalive = text("keepalive") != "off";
    text("method").clone_into(&mut load.method);
    load.tls.insecure = text("certificate") == "any";
    let spare = setup.cpus.len().saturating_sub(load.threads);
    load.cpus = setup.cpus[spare..].iter().map(|&cpu| cpu as usize).collect();
    // A core is left for the server, should it be on this machine.
    load.own_cores = spare > 0;
    load.seed = setup.seed;
    check(&load).map_err(|error| Unfit::new(error.to_string()))?;
    Ok(load)
}

struct Loads {
    load: Load,
}

impl Probe for Loads {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let outcome = run_watched(&self.load, record).map_err(|error| Fault::new(error.to_string()))?;
        tell(&outcome, record)
    }

    fn cpus(&self) -> Vec<u32> {
        self.load.cpus.iter().filter_map(|&cpu| u32::try_from(cpu).ok()).collect()
    }
}

/// The kinds of failures with their counts, as a sentence.
fn failures(outcome: &Outcome) -> String {
    let kinds: Vec<String> =
        outcome.record.failures.seen().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
    format!(
        "{} of {} requests failed: {}",
        outcome.record.failures.total(),
        outcome.requests(),
        kinds.join(", ")
    )
}

fn tell(outcome: &Outcome, record: &mut dyn Record) -> Result<(), Fault> {
    if outcome.record.good == 0 {
        return Err(Fault::new(match outcome.requests() {
            0 => "no request was due in this time".to_owned(),
            _ => format!("no good answer: {}", failures(outcome)),
        }));
    }
    let seconds = |ns: Option<u64>| ns.map(Seconds::from_ns);
    let responses = outcome.response_time();
    if let Some(rate) = outcome.throughput() {
        record.push(&THROUGHPUT, Count(rate) / Seconds(1.0));
    }
    if outcome.answering_s > 0.0 {
        record.push(&BANDWIDTH, Bytes(outcome.record.body_bytes as f64) / Seconds(outcome.answering_s));
    }
    let little = outcome.little();
    if outcome.answering_s > 0.0 {
        record.push(&ANSWERING, Seconds(outcome.answering_s));
        record.push(&IN_FLIGHT, Count(little.in_flight_s / outcome.answering_s));
        record.push(&LITTLE, Count(little.served_s / outcome.answering_s));
    }
    let percentiles = [(&RESPONSE, 0.5), (&RESPONSE_P99, 0.99)];
    for (metric, quantile) in percentiles {
        if let Some(time) = seconds(responses.quantile_ns(quantile)) {
            record.push(metric, time);
        }
    }
    if let Some(late) = outcome.late_p99_s() {
        record.push(&LATE, Seconds(late));
    }
    if let Some(cpu) = outcome.cpu_per_request_s() {
        record.push(&CPU, Seconds(cpu));
    }
    record.push(&SHARE, Ratio(outcome.generator.busiest_thread_share()));
    record.histogram(&RESPONSES.info(), responses);
    record.histogram(&SERVICES.info(), outcome.service_time());
    for (kind, count) in outcome.record.failures.seen() {
        let mut extra = Params::default();
        extra.set("kind", kind.name());
        record.push_of(&FAILED, &extra, Count(count as f64));
    }
    if outcome.record.failures.total() > 0 {
        record.note("errors", &failures(outcome));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{Fact, Finding, Histogram, MetricInfo};

    use super::*;
    use crate::load::tests::OK;
    use crate::load::tests::server::{Server, Then};

    #[derive(Default)]
    struct Sheet {
        values: BTreeMap<String, f64>,
        counts: BTreeMap<&'static str, u64>,
        notes: Vec<String>,
    }

    impl Record for Sheet {
        fn value(&mut self, metric: &MetricInfo, value: f64) {
            self.values.insert(metric.name.to_owned(), value);
        }
        fn value_of(&mut self, metric: &MetricInfo, extra: &Params, value: f64) {
            self.values.insert(format!("{};{extra}", metric.name), value);
        }
        fn histogram(&mut self, metric: &MetricInfo, histogram: Histogram) {
            self.counts.insert(metric.name, histogram.count());
        }
        fn fact(&mut self, _: Fact) {}
        fn note(&mut self, _: &str, text: &str) {
            self.notes.push(text.to_owned());
        }
        fn refuse(&mut self, _: Finding) {}
    }

    fn setup(given: &str) -> Setup {
        Setup {
            params: CARD.resolve(&Params::parse(given).unwrap()).unwrap(),
            size: Size::Smoke,
            cpus: sys::affinity::allowed().unwrap().iter().map(|&cpu| u32::try_from(cpu).unwrap()).collect(),
            dir: std::env::temp_dir(),
            llc: None,
            memory: None,
            seed: 1,
            command: None,
        }
    }

    fn take(given: &str) -> Result<Sheet, Fault> {
        let mut sheet = Sheet::default();
        INSTRUMENT.prepare(&setup(given)).unwrap().take(1, &mut sheet).map(|()| sheet)
    }

    #[test]
    fn a_take_shows_every_metric() {
        let server = Server::fixed(OK, Then::Keep);
        let url = server.url("/");
        let sheet = take(&format!("url={url};connections=3;arrivals=constant;timeout=60")).unwrap();
        for metric in CARD.metrics {
            let shown = sheet.values.contains_key(metric.name) || sheet.counts.contains_key(metric.name);
            assert!(shown || metric.name == "failed", "{}", metric.name);
        }
        // 1000 a second for half a second.
        assert_eq!(sheet.counts, BTreeMap::from([("response-times", 500), ("service-times", 500)]));
        // Connections bound what is in flight, and both sides of Little's law count the same requests.
        let (seen, expected) = (sheet.values["in-flight"], sheet.values["in-flight-by-little"]);
        assert!(seen > 0.0 && seen <= 3.0 && (seen - expected).abs() < 1e-6 * seen, "{seen} {expected}");
        let closed = take(&format!("url={url};connections=2;timeout=60")).unwrap();
        assert!(!closed.values.contains_key("late-p99") && closed.values["throughput"] > 0.0);
    }

    #[test]
    fn failures_are_told_by_kind_and_a_take_of_failures_alone_fails() {
        let server = Server::new(|request, stream| {
            let bad = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
            let answer = if request.nth % 2 == 0 { OK } else { bad };
            crate::load::tests::server::send(stream, answer.as_bytes(), Then::Keep)
        });
        let sheet =
            take(&format!("url={};connections=1;arrivals=constant;timeout=60", server.url("/"))).unwrap();
        assert_eq!(sheet.values["failed;kind=status_5xx"], 250.0);
        assert_eq!(sheet.notes, ["250 of 500 requests failed: 250 status_5xx"]);
        let broken = Server::fixed("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", Then::Keep);
        let fault = take(&format!("url={};connections=1;timeout=60", broken.url("/"))).err().unwrap();
        assert!(fault.0.starts_with("no good answer: ") && fault.0.contains("status_4xx"), "{fault}");
    }

    #[test]
    fn a_load_without_a_server_says_what_is_missing() {
        for (given, what) in [
            ("", "needs a server"),
            ("url=ftp://a/", "only http"),
            ("url=http://a/;threads=1;connections=1", ""),
        ] {
            let fit = INSTRUMENT.fit(&setup(given));
            assert_eq!(fit.is_ok(), what.is_empty(), "{given}: {fit:?}");
            assert!(fit.map_or_else(|unfit| unfit.why, |()| String::new()).contains(what), "{given}");
        }
    }

    #[test]
    fn the_last_cpus_are_the_generators() {
        let mut setup = setup("url=http://a/;threads=2;connections=4");
        setup.cpus = vec![0, 1, 2, 3];
        let load = describe(&setup).unwrap();
        assert_eq!((load.cpus.as_slice(), load.own_cores), (&[2, 3][..], true));
        setup.cpus = vec![5, 7];
        let load = describe(&setup).unwrap();
        assert_eq!((load.cpus.as_slice(), load.own_cores), (&[5, 7][..], false));
    }
}
