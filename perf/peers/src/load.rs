//! A closed loop of the load engine on one URL from one pinned thread, as `boxscore load` runs it.

use std::error::Error;
use std::time::Duration;

use instruments::load::http::request::{Origin, Wanted};
use instruments::load::{Control, Load, run};

/// Prints good answers, failed requests, and good answers a second.
pub fn closed(url: &str, connections: &str, seconds: &str, cpu: &str) -> Result<String, Box<dyn Error>> {
    let mut load = Load::new(url.parse()?);
    load.connections = connections.parse()?;
    load.duration = Some(Duration::from_secs(seconds.parse()?));
    load.cpus = vec![cpu.parse()?];
    let outcome = run(&load, &Control::default())?;
    let rate = outcome.throughput().ok_or("no time passed")?;
    Ok(format!("[{},{},{rate}]", outcome.record.good, outcome.record.failures.total()))
}

/// The bytes that the engine sends for one request.
pub fn request(url: &str) -> Result<String, Box<dyn Error>> {
    let load = Load::new(url.parse()?);
    let url = &load.targets[0].url;
    let origin = Origin {
        host: url.authority(),
        method: load.method.clone(),
        headers: Vec::new(),
        body: Vec::new(),
        keepalive: true,
    };
    let (path, expected) = (url.path.clone(), load.targets[0].expected);
    let wanted = Wanted { path, expected, method: None, closes: false };
    Ok(String::from_utf8(origin.bytes(&wanted)?)?)
}
