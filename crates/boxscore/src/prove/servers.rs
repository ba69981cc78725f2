//! Faults of a server: delays, stalls, slowness, and answers that are wrong. Each is read from a load on it and held
//! against the server's own account.

use instruments::workload::server::builtin::faulty::{Account, Fault, Faults};
use model::data::RunData;
use model::doc::{Binding, ProofLineDoc};
use model::metrics::load;
use model::names::instrument;
use model::{Histogram, Unit};
use verdict::prove;

use super::bench::{Bench, Cores, Lines};

/// Requests that ended, good or not.
fn requests(run: &RunData) -> Option<u64> {
    prove::requests(run, instrument::WEB)
}

fn times(run: &RunData, metric: &str) -> Option<Histogram> {
    prove::histogram(run, instrument::WEB, metric)
}

fn own(account: &Account) -> prove::Own<'_> {
    prove::Own { held: &account.held, answered: &account.answered }
}

/// Runs `measure` between two measurements of the cores' scheduling gaps, and returns both.
fn watched<T>(bench: &Bench<'_>, measure: impl FnOnce() -> Result<T, String>) -> Result<(T, Cores), String> {
    let before = bench.cores()?;
    let measured = measure()?;
    Ok((measured, before.and(bench.cores()?)))
}

pub fn delay(bench: &Bench<'_>) -> Lines {
    let faults = Faults { delay_us: 20_000, ..Faults::default() };
    let load = "arrivals=constant;rate=500;connections=50;duration=3";
    let ((run, account), cores) = watched(bench, || bench.load(faults, load))?;
    let (response, service) = (times(&run, load::RESPONSES.name()), times(&run, load::SERVICES.name()));
    // A response time begins when the request is due, so the generator's core is passed twice.
    let of = |name: &str, quantile: f64, read: &Option<Histogram>, times: usize| {
        prove::percentile(name, quantile, own(&account), read.as_ref(), &cores.passed(times))
    };
    let mut lines = vec![
        of("response time", 0.5, &response, 2),
        of("response time", 0.99, &response, 2),
        of("service time", 0.99, &service, 1),
        prove::same("requests", account.requests, requests(&run)),
    ];
    lines.extend(prove::in_flight(&run, instrument::WEB, account.in_flight(), &cores.passed(1)));
    Ok(lines)
}

pub fn percentiles(bench: &Bench<'_>) -> Lines {
    let faults = Faults { delay_us: 1_000, spread_us: 50_000, ..Faults::default() };
    let load = "arrivals=constant;rate=1000;connections=100;duration=6";
    let ((run, account), cores) = watched(bench, || bench.load(faults, load))?;
    let service = times(&run, load::SERVICES.name());
    let gaps = cores.passed(1);
    let of =
        |quantile: f64| prove::percentile("service time", quantile, own(&account), service.as_ref(), &gaps);
    let mut lines = [0.01, 0.1, 0.5, 0.9, 0.99, 0.999].map(of).to_vec();
    lines.push(prove::late(&run, instrument::WEB, &cores.generator));
    Ok(lines)
}

pub fn stall(bench: &Bench<'_>) -> Lines {
    let faults = Faults { stall_us: 1_000_000, period_us: 10_000_000, ..Faults::default() };
    let load = "arrivals=constant;rate=1000;connections=10;duration=10";
    let ((run, account), cores) = watched(bench, || bench.load(faults, load))?;
    let stalled_s = account.stalled_ns as f64 / 1e9;
    let stall = prove::Stall { stalled_s, take_s: 10.0, rate: 1000.0, connections: 10.0 };
    let mut lines = vec![prove::same("stalls", 1, Some(account.stalls))];
    lines.extend(prove::stall(&run, instrument::WEB, stall, &cores.passed(1)));
    lines.push(prove::same("requests", account.requests, requests(&run)));
    Ok(lines)
}

pub fn slow(bench: &Bench<'_>) -> Lines {
    let faults = Faults { delay_us: 2_000, serial: true, ..Faults::default() };
    let (run, account) = bench.load(faults, "connections=10;duration=3")?;
    let span = account.last_ns.saturating_sub(account.first_ns) as f64 / 1e9;
    let rate = account.good as f64 / span.max(1e-9);
    let named = [Binding::Serial, Binding::Waiting, Binding::Thread, Binding::Core, Binding::Cores];
    Ok(vec![
        prove::within(
            "throughput",
            Unit::PerSec,
            rate,
            prove::median(&run, instrument::WEB, load::THROUGHPUT.name()),
            0.02 * rate,
        ),
        prove::binds("what binds", "the server", &run, &named, instruments::cards()),
    ])
}

/// Good answers and failures, kind by kind, as both sides counted them.
fn counts(run: &RunData, account: &Account) -> Vec<ProofLineDoc> {
    let failed = prove::failed(run, instrument::WEB);
    let all: u64 = failed.values().sum();
    let good = requests(run).map(|requests| requests.saturating_sub(all));
    let mut lines = vec![prove::same("good answers", account.good, good)];
    let mut kinds: Vec<&str> = Fault::ALL.iter().filter_map(|fault| fault.counts_as()).collect();
    kinds.dedup();
    for kind in kinds {
        let (planted, read) = (account.failed(kind), failed.get(kind).copied());
        if planted > 0 || read.is_some() {
            lines.push(prove::same(kind, planted, Some(read.unwrap_or(0))));
        }
    }
    let known = |kind: &String| Fault::ALL.iter().any(|fault| fault.counts_as() == Some(kind));
    // What nobody planted must not be read.
    lines.extend(
        failed.iter().filter(|(kind, _)| !known(kind)).map(|(kind, n)| prove::same(kind, 0, Some(*n))),
    );
    lines
}

pub fn cut(bench: &Bench<'_>) -> Lines {
    let faults = Faults { every: 10, kinds: vec![Fault::Short], body: 1000, ..Faults::default() };
    let (run, account) = bench.load(faults, "connections=10;requests=5000")?;
    let mut lines = counts(&run, &account);
    lines.push(prove::refused(
        "the run says so",
        "requests that failed",
        &run,
        &["errors"],
        instruments::cards(),
    ));
    Ok(lines)
}

pub fn faults(bench: &Bench<'_>) -> Lines {
    // Not among them: an end of the connection that the client can only notice with its next request.
    let kinds: Vec<Fault> = Fault::ALL.into_iter().filter(|fault| *fault != Fault::Leaves).collect();
    let faults = Faults { every: 10, kinds, ..Faults::default() };
    let load = "arrivals=constant;rate=500;connections=100;duration=3;timeout=1";
    let (run, account) = bench.load(faults, load)?;
    Ok(counts(&run, &account))
}
