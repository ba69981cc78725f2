//! A store over RESP: round trips of one hot key as `kv-basic` has them, and the request for it.

use std::error::Error;

use instruments::bench::kv::client::Client;
use instruments::bench::kv::connection::Connection;
use instruments::bench::kv::hot::{self, Hot};
use instruments::bench::kv::keys::{HOT, value};
use instruments::bench::kv::times::Times;
use instruments::bench::net::frame::Wait;
use instruments::store_protocol::resp::Resp;

/// Bytes of each value.
const SIZE: usize = 100;

/// Writes the hot key; prints the request that reads it.
pub fn request(address: &str) -> Result<String, Box<dyn Error>> {
    let value = value(SIZE);
    let mut to = Client::from(Connection::open(address.parse()?, &Resp, Wait::Block, None)?);
    Hot { key: HOT, value: &value, replicas: 0 }.write_once(&mut to)?;
    Ok(format!("*2\r\n$3\r\nGET\r\n${}\r\n{}\r\n", HOT.len(), std::str::from_utf8(HOT)?))
}

/// Means of blocks of 100 ms, in nanoseconds.
pub fn turns(address: &str, blocks: &str, cpu: &str) -> Result<String, Box<dyn Error>> {
    let _pinned = sys::affinity::pin(cpu.parse()?)?;
    let value = value(SIZE);
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
