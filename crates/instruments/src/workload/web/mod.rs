//! A load on a web server, one that we start or one that runs already: rate, response and service times, failures,
//! what the generators, the server and the machine's parts did meanwhile.
//!
//! One take is one load; connections are made before it starts. A take without a single good answer fails, and so does
//! one in which a server of ours ended. Other programs' work on the same machine is in the figures of cores and disks.

pub mod around;
mod behind;
pub mod capacity;
pub mod cold;
pub mod cores;
pub mod course;
pub mod drops;
pub mod groups;
pub mod limits;
pub mod memory;
pub mod metrics;
pub mod mixed;
pub mod own;
pub mod params;
pub mod pool;
pub mod probe;
mod queues;
pub mod replay;
pub mod seconds;
pub mod served;
pub mod shown;
pub mod subject;
pub mod warm;
pub mod watch;
pub mod words;

use model::{
    Cadence, Card, Example, Family, Flag, Means, Need, Probe, Role, Setup, Shown, Simple, Tier, Unfit,
    Variant,
};

use params::Ask;
use probe::Loads;

static CARD: Card = Card {
    name: model::names::instrument::WEB,
    family: Family::Web,
    says: "a load on a web server: rate, response times, failures, and what held it back",
    source: "own engine; closed loops as wrk and ab, open loops as wrk2",
    shown: Shown {
        label: "web",
        main: model::metrics::load::THROUGHPUT.name(),
        tells: shown::TELLS,
        sorted: shown::SORTED,
        place: 0,
        ..Shown::PLAIN
    },
    role: Role::Load { rate: model::metrics::load::THROUGHPUT.name() },
    parts: metrics::PARTS,
    cadence: Cadence::Repeat,
    definition: 8,
    params: params::PARAMS,
    metrics: metrics::ALL,
    needs: &[Need::Server],
    variants: VARIANTS,
    flags: &[
        Flag::new(
            "profile",
            "WHAT",
            "Sample the server with perf in a load of its own before the takes, or with =system all that runs: the busiest \
             processes and symbols; a flame graph in the report",
            Means::Profile,
        ),
        model::flags::CEILINGS,
    ],
    examples: &[
        Example::new(
            "boxscore run web --quick",
            "loads of a web server, and what holds it back, in 3 minutes",
        ),
        Example::new(
            "boxscore run web --url http://127.0.0.1:8080/ -H 'Accept-Encoding: gzip'",
            "a server of yours, asked as browsers do",
        ),
        Example::new(
            "boxscore run web --target a=http://10.0.0.1/ --target b=http://10.0.0.2/",
            "two servers of yours under the same loads, in turns",
        ),
        Example::new(
            "boxscore run web --quick --ceilings",
            "the same as a share of what this machine can do, which is measured first",
        ),
        Example::new("boxscore run web --mix mix.json", "the same with the requests of your own log"),
        Example::new("boxscore run web --content site", "the files of a folder of yours"),
        Example::new(
            "boxscore run web --on @leaf1 --from @gens --content site",
            "the same from each of these nodes, loaded over the network, and all together",
        ),
        Example::new(
            "boxscore run web --arm mpm=prefork --arm mpm=event",
            "two setups of a server, interleaved",
        ),
        Example::new(
            "boxscore run web --from 'ssh gen1 ./boxscore' --from 'ssh gen2 ./boxscore' --set listen=10.0.0.5",
            "load from other hosts, merged exactly",
        ),
    ],
    ..Card::DEFAULT
};

/// The parameter sets of a named run; the last ones go where time is short.
const VARIANTS: &[Variant] = &[
    Variant { tier: Tier::Quick, set: "connections=50;content=gif", headline: &["throughput", "error-rate"] },
    sweep("connections=1|10|20|50|100|400|1000"),
    // Shares of one's own capacity are a curve of one machine; machines are compared at equal rates.
    Variant { tier: Tier::Full, set: "arrivals=poisson;load=10%|25%|50%|75%|90%|100%|120%", headline: &[] },
    Variant { tier: Tier::Full, set: "content=large;connections=1|2|4", headline: &["bandwidth"] },
    sweep("keepalive=off"),
    sweep("connections=50;generators=half"),
    sweep("connections=10|20;generators=half"),
    sweep("arrivals=poisson;rate=1000|4000|16000|64000"),
];

const fn sweep(set: &'static str) -> Variant {
    Variant { tier: Tier::Full, set, headline: &["throughput", "response-time-p99", "error-rate"] }
}

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, prepare).fits(|setup| Ask::from_setup(setup).map(|_| ())).lasts(seconds::take);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    Ok(Box::new(Loads::prepare(setup, Ask::from_setup(setup)?)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{Fact, Fault, Finding, Histogram, MetricInfo, NoteBody, Params, Record, Size};

    use model::Instrument;

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
        fn note(&mut self, note: NoteBody) {
            self.notes.push(note.text().into_owned());
        }
        fn refuse(&mut self, _: Finding) {}
    }

    fn setup(given: &str) -> Setup {
        Setup {
            size: Size::Smoke,
            ..Setup::bare(
                CARD.resolve(&Params::parse(given).unwrap()).unwrap(),
                sys::affinity::allowed().unwrap().iter().map(|&cpu| u32::try_from(cpu).unwrap()).collect(),
                std::env::temp_dir(),
            )
        }
    }

    fn take(given: &str) -> Result<Sheet, Fault> {
        let mut sheet = Sheet::default();
        INSTRUMENT.prepare(&setup(given)).unwrap().take(1, &mut sheet).map(|()| sheet)
    }

    /// Metrics of an open loop on a server that is not ours, on this machine; the machine's own counters may be
    /// missing.
    const OPEN: &[&str] = &[
        "throughput",
        "bandwidth",
        "response-time",
        "response-time-p99",
        "offered-load",
        "late-p99",
        "late-read",
        "late-read-p99",
        "in-flight",
        "generator-share",
        "generator-cpu",
        "server-cpu",
        "server-cores",
        "server-thread-share",
    ];

    #[test]
    fn a_take_shows_what_there_is() {
        let server = Server::fixed(OK, Then::Keep);
        let url = server.url("/");
        let sheet = take(&format!("url={url};connections=3;arrivals=constant;rate=3000;timeout=60")).unwrap();
        for metric in OPEN {
            assert!(sheet.values.contains_key(*metric), "{metric}: {:?}", sheet.notes);
        }
        assert!(sheet.values.keys().any(|key| key.starts_with("core-busy;cpu=")), "{:?}", sheet.values);
        // 3000 a second for half a second.
        assert_eq!(sheet.counts, BTreeMap::from([("response-times", 1500), ("service-times", 1500)]));
        assert!((sheet.values["offered-load"] - 3000.0).abs() < 1e-9);
        assert_eq!(sheet.values["error-rate"], 0.0);
        // Connections bound what is in flight.
        let seen = sheet.values["in-flight"];
        assert!(seen > 0.0 && seen <= 3.0, "{seen}");
        let closed = take(&format!("url={url};connections=2;timeout=60;requests=7")).unwrap();
        assert!(!closed.values.contains_key("late-p99") && !closed.values.contains_key("offered-load"));
        assert!(closed.values["throughput"] > 0.0);
        assert_eq!(closed.counts["response-times"], 7);
    }

    #[test]
    fn failures_are_told_by_kind_and_a_take_of_failures_alone_fails() {
        let server = Server::new(|request, stream| {
            let bad = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
            let answer = if request.nth % 2 == 0 { OK } else { bad };
            crate::load::tests::server::send(stream, answer.as_bytes(), Then::Keep)
        });
        let sheet =
            take(&format!("url={};connections=1;arrivals=constant;rate=1000;timeout=60", server.url("/")))
                .unwrap();
        assert_eq!(sheet.values["failed;kind=status_5xx"], 250.0);
        assert_eq!(sheet.values["failed-statuses;status=503"], 250.0);
        let url = server.url("/");
        let told =
            [format!("503 {url}"), format!("250 of 500 requests failed: 250 status 503 (first {url})")];
        assert_eq!(sheet.notes[1..=2], told);
        assert!(sheet.notes[0].starts_with("the server at 127.0.0.1:"), "{:?}", sheet.notes);
        let broken = Server::fixed("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", Then::Keep);
        let fault = take(&format!("url={};connections=1;timeout=60", broken.url("/"))).err().unwrap();
        assert!(
            fault.text.starts_with("no good answer: ") && fault.text.contains("status 404 (first http://"),
            "{fault}"
        );
        assert!(fault.text.contains("); these answers came at "), "{fault}");
    }

    /// Why parameters cannot be, by the card or by the instrument.
    fn refused(given: &str) -> String {
        match CARD.resolve(&Params::parse(given).unwrap()) {
            Err(error) => error.to_string(),
            Ok(_) => INSTRUMENT.fit(&setup(given)).map_or_else(|unfit| unfit.why, |()| String::new()),
        }
    }

    #[test]
    fn what_cannot_be_is_explained() {
        for (given, what) in [
            ("url=http://a/;generators=2;connections=1", "at least one connection"),
            ("url=http://a:0/", "1 to 65535"),
            ("url=http://a/;headers=a", "no colon"),
            ("url=http://a/;method=A B", "one word"),
            ("url=http://a/;arrivals=poisson", "needs its rate"),
            ("url=http://a/;requests=9;connections=10", "connections=10 for requests=9"),
            ("server=nginx;mpm=event", "mpm"),
            ("server=builtin;certificate=any", "https"),
        ] {
            let why = refused(given);
            assert!(why.contains(what), "{given}: {why}");
        }
        for given in ["url=http://a/;connections=1", "url=http://a/;headers=a: b", "server=builtin"] {
            assert_eq!(refused(given), "", "{given}");
        }
    }

    /// Nothing that no load could have gets past the card.
    #[test]
    fn values_are_checked_by_the_card() {
        for given in [
            "arrivals=open",
            "ramp=5",
            "load=0%",
            "load=500%",
            "load=50",
            "rate=abc",
            "rate=0",
            "rate=inf",
            "rate=nan",
            "rate=-5",
            "requests=0",
            "requests=1.5",
            "url=wrong",
            "url=ftp://a/",
            "weights=much",
            "connections=0",
            "generators=0",
            "duration=0",
            "duration=soon",
            "timeout=0",
            "certificate=/no/such.pem",
            "content-size=huge",
            "server=iis",
            "mpm=itk",
            "workers=0",
            "workers=x",
            "limit-rate=fast",
            "memory=lots",
            "nice=20",
            "nice=low",
            "listen=zzz",
        ] {
            let error = CARD.resolve(&Params::parse(given).unwrap()).unwrap_err().to_string();
            assert!(error.contains(&format!("`{given}` is not possible: ")), "{error}");
        }
        for (given, key, value) in [
            ("rate=1k", "rate", "1000"),
            ("duration=500ms", "duration", "0.5"),
            ("timeout=1m", "timeout", "60"),
            ("connections=10k", "connections", "10000"),
            ("workers=auto", "workers", "auto"),
        ] {
            assert_eq!(CARD.resolve(&Params::parse(given).unwrap()).unwrap().get(key), Some(value));
        }
    }

    #[test]
    fn an_mpm_names_its_server() {
        let ask = Ask::from_setup(&setup("mpm=prefork")).unwrap();
        assert!(matches!(ask.subject, subject::Subject::Managed { kind, .. } if kind.name() == "httpd"));
    }
}
