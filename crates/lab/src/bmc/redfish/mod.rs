//! Redfish over HTTPS: resources as JSON, one request after the other for a BMC, many BMCs side by side.
//!
//! Certificates are those of the inventory; without one nothing is sent but on explicit request. A BMC that manages
//! several systems is refused: which of them is meant is not said.

mod cards;
mod http;
mod log;
mod system;
mod thermal;
mod tls;
mod watts;

use std::time::Duration;

use serde_json::Value;

use super::{Access, Failure};
use crate::fan_out;
use crate::ssh::printable;
use crate::stop::{Limit, Stop};

/// How long a request may take.
const LIMIT: Duration = Duration::from_secs(20);

/// BMCs at once.
const WIDTH: usize = 64;

/// Redirections that are followed.
const HOPS: usize = 3;

/// BMCs that speak Redfish.
#[derive(Debug)]
pub struct Redfish<'a> {
    /// Takes any certificate.
    insecure: bool,
    stop: &'a Stop,
}

impl<'a> Redfish<'a> {
    pub const fn new(insecure: bool, stop: &'a Stop) -> Redfish<'a> {
        Redfish { insecure, stop }
    }

    /// Does the work with each BMC.
    fn each<T: Send>(
        &self,
        of: &[&Access],
        work: impl Fn(&Service<'_>) -> Result<T, Failure> + Sync,
    ) -> Vec<Result<T, Failure>> {
        let mut results: Vec<Result<T, Failure>> = of.iter().map(|_| Err(Failure::Interrupted)).collect();
        let one = |at: usize, access: &&Access| {
            let service = Service { access, insecure: self.insecure, stop: self.stop };
            let result = if self.stop.is_requested() { Err(Failure::Interrupted) } else { work(&service) };
            (at, result)
        };
        let went = fan_out::each(of, WIDTH, one, |(at, result)| results[at] = result);
        if let Err(error) = went {
            let failure = Failure::Other { said: format!("on this side: {error}") };
            results.iter_mut().for_each(|result| *result = Err(failure.clone()));
        }
        results
    }
}

/// One BMC.
struct Service<'a> {
    access: &'a Access,
    insecure: bool,
    stop: &'a Stop,
}

impl Service<'_> {
    fn get(&self, path: &str) -> Result<Value, Failure> {
        self.call("GET", path, None)
    }

    /// A resource that not every BMC has.
    fn find(&self, path: &str) -> Result<Option<Value>, Failure> {
        match self.get(path) {
            Ok(value) => Ok(Some(value)),
            Err(Failure::Missing { .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let text = body.map(Value::to_string);
        let mut path = path.to_owned();
        for _ in 0..=HOPS {
            let limit = Limit::from_now(self.stop, Some(LIMIT));
            let reply = http::request(self.access, self.insecure, (method, &path, text.as_deref()), limit)?;
            match (reply.status, &reply.location) {
                (301 | 302 | 307 | 308, Some(to)) => path = own_path(to)?,
                (200..=299, _) if reply.body.is_empty() => return Ok(Value::Null),
                (200..=299, _) => {
                    let wrong = |error: serde_json::Error| Failure::Other {
                        said: format!("{path}: no JSON: {error}"),
                    };
                    return serde_json::from_slice(&reply.body).map_err(wrong);
                }
                (status, _) => return Err(refused(status, &path, &reply.body)),
            }
        }
        Err(Failure::Other { said: format!("{} leads to no end", printable(path.as_bytes())) })
    }
}

/// The path of a redirection. The password goes to no other server.
fn own_path(to: &str) -> Result<String, Failure> {
    let path = match to.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => to,
    };
    if is_path(path) {
        return Ok(path.to_owned());
    }
    Err(Failure::Other { said: format!("it leads to {}", printable(to.as_bytes())) })
}

/// True for a path that can stand in a request as it is.
fn is_path(path: &str) -> bool {
    path.starts_with('/') && path.chars().all(|c| c.is_ascii_graphic())
}

/// The failure behind a status, with the message of the service.
fn refused(status: u16, path: &str, body: &[u8]) -> Failure {
    let error: Value = serde_json::from_slice(body).unwrap_or_default();
    let told = error["error"]["@Message.ExtendedInfo"][0]["Message"].as_str();
    let told = told.or(error["error"]["message"].as_str()).map(|text| printable(text.as_bytes()));
    let said = match told {
        Some(told) => format!("{status} for {path}: {told}"),
        None => format!("{status} for {path}"),
    };
    match status {
        401 => Failure::Login,
        403 => Failure::Privilege,
        404 => Failure::Missing { path: path.to_owned() },
        429 | 503 => Failure::Busy,
        _ => Failure::Error { said },
    }
}

/// The path of a resource that another one names.
fn link(value: &Value) -> Option<String> {
    value["@odata.id"].as_str().filter(|path| is_path(path)).map(str::to_owned)
}

/// The paths of the members of a collection.
fn members(collection: &Value) -> Vec<String> {
    collection["Members"].as_array().into_iter().flatten().filter_map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_a_kind_and_the_message_of_the_service() {
        let body =
            br#"{"error": {"message": "no", "@Message.ExtendedInfo": [{"Message": "not \u001b now"}]}}"#;
        assert_eq!(
            refused(500, "/x", body).to_string(),
            "its BMC reports an error: 500 for /x: not \\u{1b} now"
        );
        assert_eq!(refused(501, "/x", b"<html>").to_string(), "its BMC reports an error: 501 for /x");
        for (status, word) in
            [(401, "login"), (403, "privilege"), (404, "missing"), (503, "busy"), (409, "error")]
        {
            assert_eq!(refused(status, "/x", b"").word(), word);
        }
    }

    #[test]
    fn a_redirection_stays_on_the_server() {
        assert_eq!(own_path("/a/b").unwrap(), "/a/b");
        assert_eq!(own_path("https://elsewhere/a").unwrap(), "/a");
        for bad in ["a", "", "/a b", "/a\r\nX: y"] {
            assert!(own_path(bad).is_err(), "{bad}");
        }
        let all = serde_json::json!({"Members": [{"@odata.id": "/a"}, {"@odata.id": "b"}, {}]});
        assert_eq!(members(&all), ["/a"]);
        assert!(members(&Value::Null).is_empty());
    }
}
