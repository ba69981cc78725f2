//! People's names of loads on a web server: which server, what of it, and what is unusual about the load.
//!
//! Usual values are those of the instrument's card, and are not said unless they tell figures apart.

use model::Params;

use super::Key;

/// A parameter, its usual value, and how any other one is said; `{}` stands for the value.
struct Told {
    param: &'static str,
    usual: &'static str,
    says: &'static str,
}

const fn told(param: &'static str, usual: &'static str, says: &'static str) -> Told {
    Told { param, usual, says }
}

/// In the order of a name. Those of the server's name are not here.
const TOLD: [Told; 34] = [
    told("content", "gif", "{} files"),
    told("percentile", "", "{}"),
    told("limit", "", "within {}"),
    told("arrivals", "closed", "{} arrivals"),
    told("load", "auto", "{} load"),
    told("rate", "auto", "{}/s"),
    told("mix", "none", "as {}"),
    told("speed", "1", "{} times as fast"),
    told("connections", "50", "{} connections"),
    told("generators", "1", "{} generators"),
    told("keepalive", "on", "no keep-alive"),
    told("duration", "1", "{} s"),
    told("requests", "auto", "{} requests"),
    told("method", "GET", "{}"),
    told("headers", "none", "own headers"),
    told("body", "none", "own body"),
    told("keys", "100000", "{} keys"),
    told("key-size", "30", "keys of {} B"),
    told("value-size", "100", "values of {} B"),
    told("popularity", "uniform", "{}"),
    told("ratio", "1:10", "{} writes to reads"),
    told("replicas", "0", "{} replicas"),
    told("persistence", "off", "persistence {}"),
    told("threads", "auto", "{} threads"),
    told("timeout", "10", "timeout {} s"),
    told("certificate", "checked", "any certificate"),
    told("cache", "warm", "{} cache"),
    told("memory", "none", "{} of memory"),
    told("listen", "127.0.0.1", "on {}"),
    told("workers", "auto", "{} workers"),
    told("sendfile", "on", "no sendfile"),
    told("access-log", "off", "access log"),
    told("open-file-cache", "off", "open-file cache"),
    told("nice", "0", "nice {}"),
];
const LAST: [Told; 2] = [told("limit-rate", "auto", "{} B/s a response"), told("binary", "auto", "{}")];

#[must_use]
pub fn is_web(instrument: &str) -> bool {
    matches!(instrument, "web" | "web-slo" | "kv-load" | "kv-slo")
}

/// What is loaded.
#[must_use]
pub fn topic(instrument: &str) -> &'static str {
    if instrument.starts_with("kv") { "kv load" } else { "web" }
}

/// `nginx`, `own server`, `httpd prefork`, the URL; nothing where the program chose the server and did not say.
#[must_use]
pub fn server(params: &Params) -> String {
    let given = |name: &str| params.get(name).filter(|value| !matches!(*value, "auto" | "none" | ""));
    if let Some(url) = given("url") {
        return url.to_owned();
    }
    match (given("server"), given("mpm")) {
        (Some("builtin"), _) => "own server".to_owned(),
        (Some(server), Some(mpm)) => format!("{server} {mpm}"),
        (None, Some(mpm)) => format!("httpd {mpm}"),
        (Some(server), None) => server.to_owned(),
        (None, None) => String::new(),
    }
}

/// What is unusual about a load; usual values too of the parameters in `always`, and nothing of those in `never`.
#[must_use]
pub fn unusual(params: &Params, always: &[&str], never: &[&str]) -> Vec<String> {
    let word = |told: &Told| {
        let value = params.get(told.param).filter(|_| !never.contains(&told.param))?;
        let usual = value == told.usual || (told.param == "arrivals" && params.get("load").is_some_and(open));
        if usual && !always.contains(&told.param) {
            return None;
        }
        Some(said(told, value))
    };
    TOLD.iter().chain(&LAST).filter_map(word).collect()
}

/// The parameters that tell a load from the usual one: what is as usual is not said again, but for how many connections
/// there are. The content of a server of its own is not known here.
#[must_use]
pub fn telling(params: &Params) -> Params {
    let mut out = params.clone();
    let has_url = params.get("url").is_some_and(|url| url != "none");
    out.0.retain(|name, value| {
        let usual = TOLD.iter().chain(&LAST).find(|told| told.param == *name).map(|told| told.usual);
        let unset = matches!(value.as_str(), "auto" | "none" | "off" | "");
        let unused = has_url && matches!(name.as_str(), "content" | "cache" | "listen" | "sendfile");
        name == "connections" || !(unused || usual.map_or(unset, |usual| usual == value))
    });
    out
}

/// A share of the capacity is asked of an open loop alone.
fn open(load: &str) -> bool {
    load.ends_with('%')
}

fn said(told: &Told, value: &str) -> String {
    match (told.param, value) {
        ("connections" | "generators" | "workers" | "requests", "1") => {
            format!("1 {}", told.says.trim_start_matches("{} ").trim_end_matches('s'))
        }
        ("keepalive" | "sendfile", "on") => told.says.trim_start_matches("no ").to_owned(),
        ("access-log" | "open-file-cache", "off") => format!("no {}", told.says),
        (_, value) if value == told.usual && matches!(value, "auto" | "none" | "") => {
            format!("{} {}", told.param, if value.is_empty() { "none" } else { value })
        }
        _ => told.says.replace("{}", super::spelled(value).as_str()),
    }
}

/// What a metric is called beside the rate, which has no name of its own.
fn metric(instrument: &str, metric: &str) -> String {
    match (instrument, metric) {
        ("web" | "kv-load", "throughput") | ("web-slo" | "kv-slo", "slo-throughput") => String::new(),
        (_, "response-time") => "p50".to_owned(),
        (_, "response-time-p99") => "p99".to_owned(),
        (_, "server-cpu") => "server CPU".to_owned(),
        (_, other) => other.to_owned(),
    }
}

/// `web p99, nginx, 10 connections`.
#[must_use]
pub fn label(key: Key<'_>, always: &[&str]) -> String {
    let mut head = topic(key.instrument).to_owned();
    let what = metric(key.instrument, key.metric);
    if !what.is_empty() {
        head.push_str(&format!(" {what}"));
    }
    let server = server(key.params);
    let mut parts = vec![head];
    if !server.is_empty() {
        parts.push(server);
    }
    parts.extend(unusual(key.params, always, &[]));
    parts.join(", ")
}

/// Parameters whose values differ among the loads of one metric: they belong to every name.
#[must_use]
pub fn differing<'k>(keys: &[Key<'k>]) -> Vec<&'k str> {
    let loads: Vec<&Params> =
        keys.iter().filter(|key| is_web(key.instrument)).map(|key| key.params).collect();
    let mut names: Vec<&str> = loads.iter().flat_map(|params| params.0.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    // What only an open loop has does not tell closed loops apart.
    names.retain(|name| {
        !matches!(*name, "arrivals" | "load" | "rate" | "percentile" | "limit")
            && loads.iter().any(|params| params.get(name) != loads[0].get(name))
    });
    names
}

/// Order among loads: closed loops first, then content, load and connections as numbers, then what is told.
#[must_use]
pub fn order(key: Key<'_>) -> (usize, u64, u64, u64) {
    let number = |name: &str| {
        let text = key.params.get(name).unwrap_or("").trim_end_matches('%');
        text.parse::<u64>().unwrap_or(0)
    };
    let open = usize::from(!matches!(key.params.get("arrivals"), None | Some("closed")));
    let what = match key.metric {
        "throughput" | "slo-throughput" => 0,
        "response-time" => 1,
        "response-time-p99" => 2,
        _ => 3,
    };
    let content = ["gif", "1k", "10k", "100k", "1M", "mix", "large"];
    let content = content.iter().position(|name| key.params.get("content") == Some(name)).unwrap_or(0);
    (open * 100 + content * 10 + what, number("load"), number("connections"), number("generators"))
}

#[cfg(test)]
mod tests {
    use super::super::{label as any, labels};
    use super::*;

    fn params(text: &str) -> Params {
        Params::parse(text).expect("pairs")
    }

    fn named(metric: &str, text: &str) -> String {
        any(Key { instrument: "web", metric, params: &params(text) })
    }

    #[test]
    fn a_load_is_named_by_its_server_and_what_is_unusual() {
        let usual = "arrivals=closed;connections=50;content=gif;generators=1;keepalive=on;load=auto;mpm=auto;url=none";
        assert_eq!(named("throughput", &format!("{usual};server=builtin")), "web, own server");
        assert_eq!(named("response-time-p99", &format!("{usual};server=nginx")), "web p99, nginx");
        assert_eq!(named("throughput", "server=auto"), "web");
        assert_eq!(
            named("server-cpu", "mpm=prefork;server=auto;keepalive=off"),
            "web server CPU, httpd prefork, no keep-alive"
        );
        assert_eq!(
            named("throughput", "url=http://a/;arrivals=poisson;load=50%;connections=1"),
            "web, http://a/, 50% load, 1 connection"
        );
        let slo = Params::parse("limit=10ms;percentile=p99;server=nginx").unwrap();
        let slo = Key { instrument: "web-slo", metric: "slo-throughput", params: &slo };
        assert_eq!(any(slo), "web, nginx, p99, within 10ms");
    }

    #[test]
    fn what_is_as_usual_tells_nothing() {
        let url = "arrivals=closed;cache=warm;connections=2;content=gif;duration=5;generators=1;keepalive=on;load=auto";
        let url = params(&format!("{url};mpm=auto;requests=auto;url=http://a/;weights=none;workers=auto"));
        assert_eq!(telling(&url), params("connections=2;duration=5;url=http://a/"));
        let own = params("connections=50;keepalive=off;server=nginx;content=large;sendfile=off;cache=warm");
        assert_eq!(
            telling(&own),
            params("connections=50;keepalive=off;server=nginx;content=large;sendfile=off")
        );
    }

    #[test]
    fn loads_of_a_sweep_all_say_what_differs() {
        let (few, usual) = (params("connections=10;server=nginx"), params("connections=50;server=nginx"));
        let key = |params| Key { instrument: "web", metric: "throughput", params };
        assert_eq!(
            labels(&[key(&few), key(&usual)]),
            ["web, nginx, 10 connections", "web, nginx, 50 connections"]
        );
        let (on, off) = (params("sendfile=on;memory=none"), params("sendfile=off;memory=512M"));
        assert_eq!(
            labels(&[key(&on), key(&off)]),
            ["web, memory none, sendfile", "web, 512M of memory, no sendfile"]
        );
    }
}
