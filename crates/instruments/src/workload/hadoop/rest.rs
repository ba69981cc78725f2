//! The web interfaces of the daemons: one bounded request at a time, JSON in, values out.
//!
//! Where a node has a network of its own, the request comes from within it.

use std::borrow::Cow;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use serde_json::Value;

use super::network::Network;
use crate::workload::server::ready;

/// Time limit of an answer.
const LIMIT: Duration = Duration::from_secs(5);
/// The question about the state of HDFS to the NameNode.
pub const HDFS_STATE: &str = "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState";
/// The host of a daemon of ours, seen from its own network.
pub const LOOPBACK: &str = "127.0.0.1";

/// A daemon with a web interface, on the node with the daemons that a cluster has once.
#[derive(Clone, Debug)]
pub struct Door<'a> {
    pub network: &'a Network,
    pub host: Cow<'a, str>,
    pub port: u16,
}

impl Door<'_> {
    /// Its answer to a question, as JSON. Fails when it does not answer in time, with 200, or in JSON.
    pub fn get(&self, path: &str) -> Result<Value, String> {
        let answer = self.network.within(|| {
            any(&self.host, self.port, |address| ready::ask(address, self.named_host(), path, LIMIT))
        })??;
        if answer.status != 200 {
            return Err(format!("{} answers with status {}", self.named(), answer.status));
        }
        let json = serde_json::from_slice(&answer.body);
        json.map_err(|error| format!("{} answers no JSON: {error}", self.named()))
    }

    /// Removes a folder of HDFS with all that is in it; one that is not there is removed. Fails as [`Door::get`] does.
    pub fn remove(&self, folder: &str, user: &str) -> Result<(), String> {
        let path = format!("/webhdfs/v1{folder}?op=DELETE&recursive=true&user.name={user}");
        let answer = self.network.within(|| {
            any(&self.host, self.port, |address| ready::delete(address, self.named_host(), &path, LIMIT))
        })??;
        match answer.status {
            200 | 404 => Ok(()),
            status => Err(format!("HDFS does not remove {folder}: status {status}")),
        }
    }
}

impl Door<'_> {
    /// As requests name it.
    fn named_host(&self) -> &str {
        if self.host == LOOPBACK { "localhost" } else { &self.host }
    }

    fn named(&self) -> String {
        match &*self.host {
            LOOPBACK => format!("port {}", self.port),
            host => format!("{host}:{}", self.port),
        }
    }
}

/// Does something with the addresses of a host, one after another until it succeeds. Fails as the last one does.
pub fn any<T>(host: &str, port: u16, work: impl Fn(SocketAddr) -> Result<T, String>) -> Result<T, String> {
    let all = (host, port).to_socket_addrs().map_err(|error| format!("{host}: {error}"))?;
    let mut last = Err(format!("{host} has no address"));
    for address in all {
        last = work(address);
        if last.is_ok() {
            break;
        }
    }
    last
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
