//! The web interfaces of the daemons: one bounded request at a time, JSON in, values out.
//!
//! Where a node has a network of its own, the request comes from within it.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

use super::network::Network;
use crate::workload::server::ready;

/// Time limit of an answer.
const LIMIT: Duration = Duration::from_secs(5);

/// A daemon with a web interface, on the node with the daemons that a cluster has once.
#[derive(Clone, Copy, Debug)]
pub struct Door<'a> {
    pub network: &'a Network,
    pub port: u16,
}

impl Door<'_> {
    /// Its answer to a question, as JSON. Fails when it does not answer in time, with 200, or in JSON.
    pub fn get(&self, path: &str) -> Result<Value, String> {
        let port = self.port;
        let path = path.to_owned();
        let host = self.network.door();
        let answer = self.network.within(move || {
            let address = SocketAddr::from((host, port));
            ready::ask(address, "localhost", &path, LIMIT)
        })??;
        if answer.status != 200 {
            return Err(format!("port {port} answers with status {}", answer.status));
        }
        serde_json::from_slice(&answer.body).map_err(|error| format!("port {port} answers no JSON: {error}"))
    }

    /// Removes a folder of HDFS with all that is in it; one that is not there is removed. Fails as [`Door::get`] does.
    pub fn remove(&self, folder: &str, user: &str) -> Result<(), String> {
        let port = self.port;
        let path = format!("/webhdfs/v1{folder}?op=DELETE&recursive=true&user.name={user}");
        let host = self.network.door();
        let answer = self.network.within(move || {
            let address = SocketAddr::from((host, port));
            ready::delete(address, "localhost", &path, LIMIT)
        })??;
        match answer.status {
            200 | 404 => Ok(()),
            status => Err(format!("HDFS does not remove {folder}: status {status}")),
        }
    }
}

/// The value below these keys.
pub fn at<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}

/// A number below these keys.
pub fn number(value: &Value, keys: &[&str]) -> Option<f64> {
    at(value, keys)?.as_f64()
}

/// A text below these keys.
pub fn text<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    at(value, keys)?.as_str()
}
