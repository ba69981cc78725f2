//! A store over RESP: round trips of one hot key as `kv-basic` has them, and a closed loop of the load engine.
//!
//! The loop has keys of its own, which are written before it and deleted after it.

use std::error::Error;
use std::time::Duration;

use instruments::bench::kv::client::Client;
use instruments::bench::kv::connection::Connection;
use instruments::bench::kv::hot::{self, Hot};
use instruments::bench::kv::keys::{HOT, value};
use instruments::bench::kv::times::Times;
use instruments::load::store_client::Spec;
use instruments::load::store_client::data::{At, Work};
use instruments::load::store_client::keys::{Popularity, Sizes};
use instruments::load::{Control, Load, run};
use instruments::bench::net::frame::Wait;
use instruments::store_protocol::resp::Resp;

/// Bytes of each value.
const SIZE: u32 = 100;

/// The keys that are read: 30 bytes each, as clusterperf has them.
fn spec() -> Spec {
    Spec {
        keys: 1000,
        prefix: "boxscore-perf-".to_owned(),
        key_bytes: HOT.len(),
        popularity: Popularity::Uniform,
        reads: 1.0,
        sizes: Sizes::Fixed(SIZE),
        seed: 1,
    }
}

/// Writes the hot key; prints the request that reads it.
pub fn request(address: &str) -> Result<String, Box<dyn Error>> {
    let value = value(SIZE as usize);
    let mut to = Client::from(Connection::open(address.parse()?, &Resp, Wait::Block, None)?);
    Hot { key: HOT, value: &value, replicas: 0 }.write_once(&mut to)?;
    Ok(format!("*2\r\n$3\r\nGET\r\n${}\r\n{}\r\n", HOT.len(), std::str::from_utf8(HOT)?))
}

/// Means of blocks of 100 ms, in nanoseconds.
pub fn turns(address: &str, blocks: &str, cpu: &str) -> Result<String, Box<dyn Error>> {
    let _pinned = sys::affinity::pin(cpu.parse()?)?;
    let value = value(SIZE as usize);
    let hot = Hot { key: HOT, value: &value, replicas: 0 };
    let mut to = Client::from(Connection::open(address.parse()?, &Resp, Wait::Block, None)?);
    let mut times = Times::default();
    hot.check(&mut to)?;
    hot.ask_read(&mut to);
    let mut means = Vec::new();
    for _ in 0..blocks.parse::<u32>()? {
        let mean = hot::mean(&mut to, &mut times, hot::MEAN_NS, |answer| hot::is_one(answer, value.len()))?;
        means.push(mean.ns as f64 / mean.count as f64);
    }
    Ok(serde_json::to_string(&means)?)
}

/// Prints good answers, failed requests, and good answers a second.
pub fn closed(url: &str, connections: &str, seconds: &str, cpu: &str) -> Result<String, Box<dyn Error>> {
    let mut load = Load::new(url.parse()?);
    load.connections = connections.parse()?;
    load.duration = Some(Duration::from_secs(seconds.parse()?));
    load.cpus = vec![cpu.parse()?];
    let spec = spec();
    let url = &load.targets[0].url;
    let (scheme, address) =
        (url.scheme, *instruments::load::target::addresses(url)?.first().ok_or("no address")?);
    load.store = Some(spec.clone());
    let at = At { address, scheme, login: None };
    at.each(Work::Write, &spec, &mut |_| Ok(()))?;
    let outcome = run(&load, &Control::default());
    at.each(Work::Delete, &spec, &mut |_| Ok(()))?;
    let outcome = outcome?;
    let rate = outcome.throughput().ok_or("no time passed")?;
    Ok(format!("[{},{},{rate}]", outcome.record.good, outcome.record.failures.total()))
}
