//! The parameters of `web` or `kv-load` that the flags of `load` mean.

use std::path::Path;

use instruments::load::http::request::{asks_to_close, header};
use instruments::workload::web;
use model::Params;
use model::url::Url;

use super::stores::{self, is_store};
use super::value::{number, value};
use crate::cli::load::LoadArgs;
use crate::error::CliError;
use crate::plan::mixes::Named;

const DURATION: &str = "10s";
const CONNECTIONS: u64 = 50;
const MOST_THREADS: usize = 4;
/// A longer body is named by its file instead of standing in every figure's parameters.
const MOST_BODY: usize = 4096;

/// The parameters of `web` or `kv-load` that the flags mean.
pub fn params(args: &LoadArgs, cpus: usize, mix: Option<&Named>) -> Result<Params, CliError> {
    let mut params = Params::default();
    for url in &args.urls {
        url.parse::<Url>().map_err(|error| {
            CliError::usage(error.to_string()).hint("for example: boxscore load http://127.0.0.1:8080/a.html")
        })?;
    }
    params.set("url", &args.urls.join(" "));
    if !args.weights.is_empty() {
        let weights = args.weights.iter().map(|text| value("--weight", "weights", text));
        params.set("weights", &weights.collect::<Result<Vec<_>, _>>()?.join(" "));
    }
    match &args.requests {
        Some(requests) => params.set("requests", &value("--requests", "requests", requests)?),
        // It lasts as long as its file says.
        None if args.replay.is_some() => {}
        None => {
            let text = args.duration.as_deref().unwrap_or(DURATION);
            params.set("duration", &value("--duration", "duration", text)?);
        }
    }
    let connections = connections(args, params.get("requests"))?;
    params.set("connections", &connections.to_string());
    params.set("generators", &threads(args, cpus, connections)?.to_string());
    arrivals(args, &mut params, mix)?;
    params.set("timeout", &value("--timeout", "timeout", &args.timeout)?);
    if is_store(args) {
        stores::params(args, &mut params)?
    } else {
        of_web(args, &mut params)?
    }
    Ok(params)
}

/// Sets method, headers, body, keep-alive and certificate checks of a load on a web server.
fn of_web(args: &LoadArgs, params: &mut Params) -> Result<(), CliError> {
    stores::none(args)?;
    let headers = args.headers.iter().map(|text| header(text));
    let headers: Vec<(String, String)> =
        headers.collect::<Result<_, _>>().map_err(|why| CliError::usage(format!("--header: {why}")))?;
    if !args.headers.is_empty() {
        params.set("headers", &args.headers.join("\n"));
    }
    let body = args.body.as_deref().map(body).transpose()?;
    let method = args.method.as_deref().map(method).transpose()?;
    params.set("method", method.unwrap_or(if body.is_some() { "POST" } else { "GET" }));
    if let Some(body) = body {
        params.set("body", &body);
    }
    params.set("keepalive", if args.no_keepalive || asks_to_close(&headers) { "off" } else { "on" });
    params.set("certificate", if args.insecure { "any" } else { "checked" });
    Ok(())
}

/// Sets rate, ramp, replay and speed: the times when requests are due.
fn arrivals(args: &LoadArgs, params: &mut Params, mix: Option<&Named>) -> Result<(), CliError> {
    if let Some(rate) = &args.rate {
        let rate = value("--rate", "rate", rate).map_err(|error| {
            error.hint("without --rate each connection sends as soon as it has its answer")
        })?;
        params.set("rate", &rate);
        params.set("arrivals", if args.poisson { "poisson" } else { "constant" });
    }
    if let Some(ramp) = &args.ramp {
        params.set("ramp", &value("--ramp", "ramp", ramp)?);
        params.set("arrivals", "ramp");
    }
    if let Some(name) = &args.replay {
        replay(name, args, params, mix)?;
    }
    if let Some(text) = &args.speed {
        let factor = text.strip_suffix('x').unwrap_or(text);
        params.set("speed", &value("--speed", "speed", factor)?);
    }
    Ok(())
}

/// Sets the replayed file. A mix is drawn from for as long as the flags say; a list of times ends with its last one, so
/// that rate, count and duration are refused.
fn replay(name: &str, args: &LoadArgs, params: &mut Params, mix: Option<&Named>) -> Result<(), CliError> {
    if let Some(Named { name, .. }) = mix {
        params.set("mix", name);
        if !args.poisson {
            params.set("arrivals", "mix");
        }
        return Ok(());
    }
    let given = [("--rate", &args.rate), ("--requests", &args.requests), ("--duration", &args.duration)];
    if let Some((flag, _)) = given.iter().find(|(_, given)| given.is_some()) {
        return Err(CliError::usage(format!(
            "{flag} with --replay {name}: its lines have times of their own"
        ))
        .hint("--speed 2x goes faster; a mix (boxscore logs --profile-out) takes a rate and a duration"));
    }
    let path = Path::new(name).canonicalize();
    let path = path.map_err(|error| CliError::data(format!("--replay {name}: {error}")))?;
    let text =
        path.to_str().ok_or_else(|| CliError::data(format!("--replay {name}: its path is not UTF-8")))?;
    // Read here too, so that its errors name the flag.
    web::replay::read(text, 0, 1.0).map_err(|why| CliError::data(format!("--replay {text}: {why}")))?;
    params.set("replay", text);
    params.set("arrivals", "replay");
    Ok(())
}

/// The number of connections; at most one for each request.
fn connections(args: &LoadArgs, requests: Option<&str>) -> Result<u64, CliError> {
    let requests = requests.and_then(|text| text.parse::<u64>().ok()).unwrap_or(u64::MAX);
    match &args.connections {
        None => Ok(CONNECTIONS.min(requests)),
        Some(text) => match number("--connections", "connections", text)? {
            count if count > requests => Err(CliError::usage(format!(
                "--connections {text} with --requests {requests}: each connection needs a request"
            ))
            .hint(format!("-c {requests} or fewer, or -n {count}"))),
            count => Ok(count),
        },
    }
}

fn threads(args: &LoadArgs, cpus: usize, connections: u64) -> Result<u64, CliError> {
    match &args.threads {
        None => Ok(((cpus / 2).clamp(1, MOST_THREADS) as u64).min(connections)),
        Some(text) => match number("--threads", "generators", text)? {
            threads if threads > connections => Err(CliError::usage(format!(
                "--threads {text} with --connections {connections}: each thread needs a connection"
            ))
            .hint(format!("-t {connections} or fewer, or -c {threads}"))),
            threads => Ok(threads),
        },
    }
}

/// Refuses a known method in small letters: methods are case-sensitive (RFC 9110), so that no server knows it.
fn method(text: &str) -> Result<&str, CliError> {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    match KNOWN.iter().find(|known| known.eq_ignore_ascii_case(text)) {
        Some(known) if *known != text => {
            Err(CliError::usage(format!("--method {text}: methods are in capitals"))
                .hint(format!("--method {known}")))
        }
        _ => Ok(text),
    }
}

/// The body as a parameter: a short text stands for itself, anything else for the path of its file.
fn body(given: &str) -> Result<String, CliError> {
    let Some(name) = given.strip_prefix('@') else { return Ok(given.to_owned()) };
    let unread = |error: std::io::Error| CliError::data(format!("--body {given}: {error}"));
    let bytes = std::fs::read(name).map_err(unread)?;
    match String::from_utf8(bytes) {
        Ok(text) if text.len() <= MOST_BODY && !text.starts_with('@') && text != "none" => Ok(text),
        _ => {
            let path = Path::new(name).canonicalize().map_err(unread)?;
            let path = path
                .to_str()
                .ok_or_else(|| CliError::data(format!("--body {given}: its path is not UTF-8")))?;
            Ok(format!("@{path}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_bodies_are_named_and_short_ones_are_taken_along() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = format!("@{}", file.path().display());
        std::fs::write(file.path(), "{}").unwrap();
        assert_eq!(body(&name).unwrap(), "{}");
        for bytes in [vec![b'x'; MOST_BODY + 1], vec![255, 0], b"@home".to_vec(), b"none".to_vec()] {
            std::fs::write(file.path(), &bytes).unwrap();
            let path = file.path().canonicalize().unwrap();
            assert_eq!(body(&name).unwrap(), format!("@{}", path.display()), "{bytes:?}");
        }
        assert!(body("@/no/such/file").unwrap_err().message.contains("/no/such/file"));
    }
}
