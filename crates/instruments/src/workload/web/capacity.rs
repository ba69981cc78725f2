//! How many requests a server answers in a closed loop, measured once for each way of loading it.
//!
//! Good answers per second, the most of several short bursts with the same connections, generators, content and cache
//! as the open loop that asks. Answers of large files, of which few fit into a burst, count up to the last one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::Params;
use model::plan::PROFILE;
use model::power::{LEVEL, METER};

use super::metrics::failures;
use crate::load::generators::Sent;
use crate::load::schedule::Schedule;
use crate::load::{Error, Load, Outcome};
use crate::progress;

/// Parameters that a capacity does not depend on.
const FREE: [&str; 9] = ["arrivals", "load", "rate", "duration", "requests", LEVEL, METER, "settle", PROFILE];
/// Whatever else is busy only takes from a burst: they go on until so many in a row brought no more.
const VAIN: usize = 3;
const MOST_BURSTS: usize = 9;
/// The ratio that is more.
const MORE: f64 = 1.02;
const BURST: Duration = Duration::from_millis(500);
/// A burst with fewer good answers is repeated at twice the length, up to [`LONGEST`].
const ENOUGH: u64 = 50;
const LONGEST: Duration = Duration::from_secs(4);

static MEASURED: Mutex<Option<HashMap<String, f64>>> = Mutex::new(None);

/// The key of a capacity: loads with equal keys share one.
pub fn key(params: &Params, place: &str) -> String {
    let mut kept = params.clone();
    kept.retain(|name, _| !FREE.contains(&name));
    format!("{kept} {place}")
}

/// The capacity of this key, if it was measured.
pub fn known(key: &str) -> Option<f64> {
    MEASURED.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(key).copied()
}

/// How a burst is carried out.
pub struct Bursts<'a> {
    /// Done before each: drops the content from the cache where the load finds it on the disk.
    pub before: &'a dyn Fn() -> Result<(), String>,
    pub run: &'a dyn Fn(&Load) -> Result<Sent, Error>,
    /// Good answers per second.
    pub rate: &'a dyn Fn(&Outcome) -> Option<f64>,
}

/// Measures a capacity with `load` and keeps it. Fails when the load does.
pub fn measure(key: &str, load: &Load, bursts: &Bursts<'_>) -> Result<f64, String> {
    let mut burst =
        Load { schedule: Schedule::Closed, duration: Some(BURST), requests: None, ..load.clone() };
    let mut best = 0.0_f64;
    let mut vain = 0;
    let mut failed = None;
    let progress = progress::current();
    for _ in 0..MOST_BURSTS {
        progress.check()?;
        (bursts.before)()?;
        let sent = (bursts.run)(&burst).map_err(|error| error.to_string())?;
        lengthen(&mut burst, &sent.outcome);
        let rate = (bursts.rate)(&sent.outcome).unwrap_or(0.0);
        vain = if rate > MORE * best { 1 } else { vain + 1 };
        best = best.max(rate);
        if sent.outcome.record.failures.total() > 0 {
            failed = Some(failures(&sent.outcome));
        }
        if vain >= VAIN {
            break;
        }
    }
    let rate = Some(best).filter(|rate| *rate > 0.0).ok_or_else(|| {
        let how = failed.map(|how| format!(" (of a burst {how})")).unwrap_or_default();
        format!(
            "a closed loop had no good answer{how}, so the server's capacity is not known: give a rate instead of load, \
             or a longer timeout than {} s",
            load.timeout.as_secs_f64()
        )
    })?;
    MEASURED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_default()
        .insert(key.to_owned(), rate);
    Ok(rate)
}

/// Makes the next burst longer where this one had few answers: a slow server has most of them under way at its end.
fn lengthen(burst: &mut Load, had: &Outcome) {
    let is_few = had.record.good_in_window < ENOUGH.max(burst.connections as u64);
    burst.duration = burst.duration.map(|lasted| if is_few { (2 * lasted).min(LONGEST) } else { lasted });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Control;
    use crate::load::generators::{Generators, Local};
    use crate::load::tests::OK;
    use crate::load::tests::server::{Server, Then};

    fn here(load: &Load) -> Result<Sent, Error> {
        Local { cpus: Vec::new(), own_cores: false }.run(load, 1, &Control::default())
    }

    fn bursts(before: &dyn Fn() -> Result<(), String>) -> Bursts<'_> {
        Bursts { before, run: &here, rate: &Outcome::throughput }
    }

    #[test]
    fn loads_that_differ_in_rate_alone_share_a_capacity() {
        let of = |text: &str| key(&Params::parse(text).unwrap(), "/x");
        assert_eq!(
            of("arrivals=poisson;load=10%;connections=5"),
            of("arrivals=constant;load=20%;connections=5")
        );
        for other in ["connections=6", "connections=5;content=large", "connections=5;cache=cold"] {
            assert_ne!(of("connections=5"), of(other));
        }
        assert_ne!(of("connections=5"), key(&Params::parse("connections=5").unwrap(), "/y"));
    }

    #[test]
    fn the_most_of_several_bursts_is_the_capacity() {
        let server = Server::fixed(OK, Then::Keep);
        let load = Load::new(server.url("/").parse().unwrap());
        let of = |rates: &'static [f64]| {
            let nth = std::cell::Cell::new(0);
            let rate = |_: &Outcome| {
                nth.set(nth.get() + 1);
                rates.get(nth.get() - 1).copied()
            };
            let short =
                |load: &Load| here(&Load { duration: Some(Duration::from_millis(5)), ..load.clone() });
            let bursts = Bursts { before: &|| Ok(()), run: &short, rate: &rate };
            (measure(&format!("{rates:?}"), &load, &bursts).unwrap(), nth.get())
        };
        assert_eq!(of(&[100.0, 99.0, 101.0, 300.0]), (101.0, 3), "quiet");
        // A neighbour was busy at first.
        assert_eq!(of(&[100.0, 270.0, 260.0, 265.0, 1.0]), (270.0, 4));
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]), (9.0, MOST_BURSTS));
    }

    #[test]
    fn a_capacity_is_measured_and_kept() {
        let server = Server::fixed(OK, Then::Keep);
        let load = Load::new(server.url("/").parse().unwrap());
        let name = server.url("/kept");
        assert_eq!(known(&name), None);
        let dropped = std::cell::Cell::new(0);
        let before = || {
            dropped.set(dropped.get() + 1);
            Ok(())
        };
        let rate = measure(&name, &load, &bursts(&before)).unwrap();
        assert!((VAIN..=MOST_BURSTS).contains(&dropped.get()));
        assert!(rate > 0.0);
        assert_eq!(known(&name), Some(rate));
        let broken = Server::fixed("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", Then::Keep);
        let load = Load::new(broken.url("/").parse().unwrap());
        let why = measure("broken", &load, &bursts(&|| Ok(()))).unwrap_err();
        assert!(why.contains("no good answer (") && why.contains("status 404 (first http://"), "{why}");
        let why = measure("broken", &load, &bursts(&|| Err("no cache".to_owned()))).unwrap_err();
        assert_eq!(why, "no cache");
        assert_eq!(known("broken"), None);
    }
}
