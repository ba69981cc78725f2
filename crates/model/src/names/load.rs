//! People's names of loads: which server, what of it, and what is unusual about the load.
//!
//! Usual values are the defaults of the instrument's card, and are not said unless they tell figures apart.

use super::Key;
use crate::card::Card;
use crate::params::Params;

/// The name of the server that boxscore itself starts.
pub const OWN_SERVER: &str = "own server";

/// `nginx`, `own server`, `httpd prefork`, the URL; nothing where the program chose the server and did not say.
pub fn server(params: &Params) -> String {
    let given = |name: &str| params.get(name).filter(|value| !matches!(*value, "auto" | "none" | ""));
    if let Some(url) = given("url") {
        return url.to_owned();
    }
    match (given("server"), given("mpm")) {
        (Some("builtin"), _) => OWN_SERVER.to_owned(),
        (Some(server), Some(mpm)) => format!("{server} {mpm}"),
        (None, Some(mpm)) => format!("httpd {mpm}"),
        (Some(server), None) => server.to_owned(),
        (None, None) => String::new(),
    }
}

/// Parameters of a load that differ from their usual value. Those in `always` are named with usual values too, those in
/// `never` are not named.
pub fn unusual(card: Option<&Card>, params: &Params, always: &[&str], never: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    let Some(card) = card else { return out };
    for tell in card.shown.tells.iter().filter(|tell| !never.contains(&tell.param)) {
        let Some((param, value)) = card.param(tell.param).zip(params.get(tell.param)) else { continue };
        let implied = tell.param == "arrivals" && params.get("load").is_some_and(is_share);
        if (tell.says(value, param.default) && !implied) || always.contains(&tell.param) {
            let unset = matches!(value, "auto" | "none");
            let pair = || format!("{} {value}", param.name);
            out.push(if unset { pair() } else { param.label.show(param.name, value) });
        }
    }
    out
}

/// The parameters that tell a load from the usual one: what is as usual is not said again, but for how many connections
/// there are. The content of a server of its own is not known here.
pub fn telling(card: &Card, params: &Params) -> Params {
    let mut out = params.clone();
    let has_url = params.get("url").is_some_and(|url| url != "none");
    let tells = |name: &str| card.shown.tells.iter().find(|tell| tell.param == name);
    out.retain(|name, value| {
        let unused = has_url && matches!(name, "content" | "cache" | "listen" | "sendfile");
        let said = match tells(name).zip(card.param(name)) {
            Some((tell, param)) => tell.says(value, param.default),
            None => !matches!(value, "auto" | "none" | "off" | ""),
        };
        name == "connections" || (said && !unused)
    });
    out
}

/// A share of the capacity is asked of an open loop alone.
fn is_share(load: &str) -> bool {
    load.ends_with('%')
}

/// `web p99, nginx, 10 connections`.
pub fn label(card: &Card, key: Key<'_>, always: &[&str]) -> String {
    parts(card, key, always).join(", ")
}

/// The parts of that name: the metric, the server, and what is unusual or in `always`.
pub fn parts(card: &Card, key: Key<'_>, always: &[&str]) -> Vec<String> {
    let mut parts = vec![super::of_metric(card, key.metric)];
    parts.push(server(key.params));
    parts.retain(|part| !part.is_empty());
    parts.extend(unusual(Some(card), key.params, always, &[]));
    parts
}

/// Parameters whose values differ among the loads of one metric: they belong to every name.
pub fn differing<'k>(keys: &[Key<'k>]) -> Vec<&'k str> {
    let loads: Vec<&Params> =
        keys.iter().filter(|key| super::is_load(key.card)).map(|key| key.params).collect();
    let mut names: Vec<&str> = loads.iter().flat_map(|params| params.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    // What only an open loop has does not tell closed loops apart.
    names.retain(|name| {
        !matches!(*name, "arrivals" | "load" | "rate" | "percentile" | "limit")
            && loads.iter().any(|params| params.get(name) != loads[0].get(name))
    });
    names
}
