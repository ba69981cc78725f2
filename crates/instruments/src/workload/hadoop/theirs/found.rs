//! A cluster of the user's as its web interfaces tell of it, before anything is done to it.
//!
//! The interfaces are found by the configuration. NameNode and ResourceManager must answer; without a history server
//! the phases of jobs are missing. Memory is in MiB.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use super::super::network::Network;
use super::super::rest::{Door, HDFS_STATE, any, at, number, text};
use super::super::states::manager_state;
use super::configuration::Configuration;

/// Time limit of a connection to the NameNode.
const CONNECT: Duration = Duration::from_secs(5);
const NAME_NODE_HTTP: u16 = 9870;
const MANAGER_HTTP: u16 = 8088;
const HISTORY_HTTP: u16 = 19_888;
/// Memory that Hadoop gives a map, the process that directs a job, and a container at least, where nothing is set.
const MAP_MIB: u64 = 1024;
const DIRECTOR_MIB: u64 = 1536;
const LEAST_MIB: u64 = 1024;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub host: String,
    pub port: u16,
}

/// A cluster that answers.
#[derive(Clone, Debug)]
pub struct Found {
    /// `hdfs://HOST:PORT`
    pub uri: String,
    pub configuration: Configuration,
    pub name_node: Address,
    pub manager: Address,
    /// Or why it cannot be asked.
    pub history: Result<Address, String>,
    pub version: String,
    pub data_nodes: f64,
    pub room: Room,
}

/// The room for tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Memory that each NodeManager gives to containers.
    pub nodes: Vec<u64>,
    /// Of a container: of a map, and of the process that directs a job.
    pub container: u64,
    pub director: u64,
}

/// The address of HDFS, as an option has it. Fails where it is none.
pub fn address(text: &str) -> Result<Vec<(&'static str, String)>, String> {
    Ok(vec![("cluster", format!("hdfs://{}", host_and_port(text)?))])
}

fn host_and_port(text: &str) -> Result<Address, String> {
    let wrong = || "the address of HDFS is written as hdfs://HOST:PORT".to_owned();
    let rest = text.trim().strip_prefix("hdfs://").ok_or_else(wrong)?.trim_end_matches('/');
    match rest.contains(['/', '@', '?', '#', ' ']) {
        true => Err(wrong()),
        false => Address::read(rest).ok_or_else(wrong),
    }
}

impl Address {
    fn read(text: &str) -> Option<Address> {
        let (host, port) = text.trim().rsplit_once(':')?;
        let port = port.parse().ok().filter(|port| *port > 0)?;
        (!host.is_empty()).then(|| Address { host: host.to_owned(), port })
    }

    /// The same, where no host is one: 0.0.0.0 is every address of whoever listens there.
    fn at(self, host: &str) -> Address {
        match self.host.as_str() {
            "0.0.0.0" => Address { host: host.to_owned(), ..self },
            _ => self,
        }
    }

    pub fn door(&self) -> Door<'_> {
        Door { network: &Network::Loopback, host: self.host.as_str().into(), port: self.port }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}:{}", self.host, self.port)
    }
}

impl Found {
    /// Asks a cluster. Fails, with what is wrong, where it cannot be measured.
    pub fn ask(uri: &str) -> Result<Found, String> {
        let hdfs = host_and_port(uri)?;
        let configuration = Configuration::find()?;
        if configuration.get("hadoop.security.authentication").is_some_and(|how| how != "simple") {
            return Err("its configuration wants Kerberos (hadoop.security.authentication), by which boxscore cannot ask its \
                        web interfaces: not supported"
                .to_owned());
        }
        connect(&hdfs)?;
        let name_node = name_node(&configuration, &hdfs);
        let asked = |what: &str, address: &Address, set: &str, path: &str| {
            address
                .door()
                .get(path)
                .map_err(|why| format!("its {what} ({address} by {set}) does not answer: {why}"))
        };
        let of_name_node = |path: &str| asked("NameNode", &name_node, "dfs.namenode.http-address", path);
        let data_nodes = ready(&of_name_node(HDFS_STATE)?, &of_name_node(&bean("NameNodeStatus"))?, &hdfs)?;
        let version = version(&of_name_node(&bean("NameNodeInfo"))?);
        let (manager, nodes) = active(&managers(&configuration, &hdfs.host))?;
        let mib = |name: &str, usual: u64| configuration.mib(name).unwrap_or(usual);
        let least = mib("yarn.scheduler.minimum-allocation-mb", LEAST_MIB);
        let room = Room {
            nodes,
            container: mib("mapreduce.map.memory.mb", MAP_MIB).next_multiple_of(least),
            director: mib("yarn.app.mapreduce.am.resource.mb", DIRECTOR_MIB).next_multiple_of(least),
        };
        if room.tasks() == 0 {
            return Err(format!(
                "no node has room for a container of {} MiB beside the {} MiB that direct a job",
                room.container, room.director
            ));
        }
        let history = history(&configuration, &manager.host);
        let answer = history.door().get("/ws/v1/history/info");
        let history = answer.map(|_| history.clone()).map_err(|why| {
            format!(
                "its history server ({history} by mapreduce.jobhistory.webapp.address) does not answer ({why}), so that phases, \
                 counters and containers of jobs are missing"
            )
        });
        let uri = format!("hdfs://{hdfs}");
        Ok(Found { uri, configuration, name_node, manager, history, version, data_nodes, room })
    }

    /// Other applications that are at work on it, or wait to be. Fails where the ResourceManager does not tell.
    pub fn others(&self) -> Result<f64, String> {
        let metrics = self.manager.door().get("/ws/v1/cluster/metrics")?;
        let of = |key: &str| number(&metrics, &["clusterMetrics", key]);
        of("appsRunning")
            .zip(of("appsPending"))
            .map(|(running, pending)| running + pending)
            .ok_or_else(|| "the ResourceManager tells of no applications".to_owned())
    }
}

impl Room {
    /// Tasks that memory has room for at once, beside the process that directs a job.
    pub fn tasks(&self) -> u32 {
        let fit = |memory: u64| memory / self.container.max(1);
        let all: u64 = self.nodes.iter().map(|memory| fit(*memory)).sum();
        // It goes where it costs the fewest.
        let costs = |memory: &u64| Some(fit(*memory) - fit(memory.checked_sub(self.director)?));
        let cost = self.nodes.iter().filter_map(costs).min();
        cost.map_or(0, |cost| u32::try_from(all - cost).unwrap_or(u32::MAX))
    }
}

fn bean(name: &str) -> String {
    format!("/jmx?qry=Hadoop:service=NameNode,name={name}")
}

/// Fails unless somebody listens there.
fn connect(hdfs: &Address) -> Result<(), String> {
    let connect = |to| TcpStream::connect_timeout(&to, CONNECT).map(drop).map_err(|error| error.to_string());
    any(&hdfs.host, hdfs.port, connect).map_err(|why| format!("nothing answers there: {why}"))
}

/// The web interface of the NameNode at this address; of several by the name of the one that has it.
fn name_node(configuration: &Configuration, hdfs: &Address) -> Address {
    let rpc = configuration.endings("dfs.namenode.rpc-address.");
    let ending = rpc.into_iter().find(|(_, at)| *at == hdfs.to_string()).map(|(ending, _)| ending);
    let of = |name: String| configuration.get(&name).and_then(|text| Address::read(&text));
    let named = ending.and_then(|ending| of(format!("dfs.namenode.http-address.{ending}")));
    let usual = || Address { host: hdfs.host.clone(), port: NAME_NODE_HTTP };
    named.or_else(|| of("dfs.namenode.http-address".to_owned())).unwrap_or_else(usual).at(&hdfs.host)
}

/// The web interfaces of its ResourceManagers.
fn managers(configuration: &Configuration, host: &str) -> Vec<Address> {
    let ids = configuration.get("yarn.resourcemanager.ha.rm-ids").unwrap_or_default();
    let ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty()).map(|id| format!(".{id}"));
    let endings: Vec<String> = ids.chain([String::new()]).collect();
    let of = |ending: &String| {
        let get = |name: &str| configuration.get(&format!("yarn.resourcemanager.{name}{ending}"));
        let web = get("webapp.address").and_then(|text| Address::read(&text));
        let named = get("hostname").filter(|host| host != "0.0.0.0");
        let own = named.clone().or_else(|| ending.is_empty().then(|| host.to_owned()));
        let usual = own.map(|host| Address { host, port: MANAGER_HTTP });
        web.map(|web| web.at(named.as_deref().unwrap_or(host))).or(usual)
    };
    endings.iter().filter_map(of).take(8).collect()
}

fn history(configuration: &Configuration, host: &str) -> Address {
    let set = configuration.get("mapreduce.jobhistory.webapp.address");
    let set = set.and_then(|text| Address::read(&text));
    set.unwrap_or_else(|| Address { host: host.to_owned(), port: HISTORY_HTTP }).at(host)
}

/// The first ResourceManager that is at work, with the memory of its nodes. Fails as the last one does.
fn active(all: &[Address]) -> Result<(Address, Vec<u64>), String> {
    let mut last = Err("its configuration names no ResourceManager".to_owned());
    for address in all {
        let door = address.door();
        let told = door.get("/ws/v1/cluster/info").and_then(|info| {
            manager_state(&info)?;
            nodes(&door.get("/ws/v1/cluster/nodes?states=RUNNING")?)
        });
        match told {
            Ok(nodes) => return Ok((address.clone(), nodes)),
            Err(why) => {
                last = Err(format!(
                    "its ResourceManager ({address} by yarn.resourcemanager.webapp.address) is not ready: {why}"
                ));
            }
        }
    }
    last
}

/// The memory of each node that runs.
fn nodes(answer: &Value) -> Result<Vec<u64>, String> {
    let all = at(answer, &["nodes", "node"]).and_then(Value::as_array);
    let memory = |node: &Value| {
        Some(number(node, &["availMemoryMB"])?.max(0.0) + number(node, &["usedMemoryMB"]).unwrap_or(0.0))
    };
    let all: Vec<u64> = all.into_iter().flatten().filter_map(memory).map(|mib| mib as u64).collect();
    match all.is_empty() {
        true => Err("none of its NodeManagers runs".to_owned()),
        false => Ok(all),
    }
}

/// The DataNodes that live. Fails where HDFS takes no writes, and where the NameNode is another one.
fn ready(state: &Value, status: &Value, hdfs: &Address) -> Result<f64, String> {
    let first =
        |answer: &Value| answer.get("beans").and_then(|beans| beans.get(0)).cloned().unwrap_or_default();
    let (state, status) = (first(state), first(status));
    if let Some(role) = text(&status, &["State"]).filter(|role| *role != "active") {
        return Err(format!("the NameNode there is {role}: name the active one"));
    }
    let own = text(&status, &["HostAndPort"]).and_then(Address::read);
    if let Some(other) = own.filter(|own| own.port != hdfs.port) {
        return Err(format!(
            "the configuration is of another HDFS: the NameNode of dfs.namenode.http-address is hdfs://{other}"
        ));
    }
    let live = number(&state, &["NumLiveDataNodes"]).ok_or("the NameNode does not tell its DataNodes")?;
    match text(&state, &["FSState"]) {
        Some("Operational") if live > 0.0 => Ok(live),
        Some("Operational") => Err("none of its DataNodes lives".to_owned()),
        Some("safeMode") => {
            Err("the NameNode is in safe mode, so that HDFS takes no writes: `hdfs dfsadmin -safemode get` \
                                 tells more"
                .to_owned())
        }
        state => Err(format!("the state of its HDFS is {}", state.unwrap_or("unknown"))),
    }
}

/// `3.4.2`, of `3.4.2, r84e8b89...`
fn version(info: &Value) -> String {
    let bean = info.get("beans").and_then(|beans| beans.get(0));
    let told = bean.and_then(|bean| text(bean, &["SoftwareVersion"]).or_else(|| text(bean, &["Version"])));
    told.and_then(|told| told.split(',').next()).unwrap_or("of an unknown version").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(host: &str, port: u16) -> Address {
        Address { host: host.to_owned(), port }
    }

    #[test]
    fn addresses_of_hdfs_are_read() {
        assert_eq!(address("hdfs://m:8020/").unwrap(), [("cluster", "hdfs://m:8020".to_owned())]);
        for wrong in
            ["m:8020", "hdfs://m", "hdfs://m:0", "hdfs://m:8020/user", "file:///x", "hdfs://:8020", ""]
        {
            assert!(address(wrong).unwrap_err().contains("hdfs://HOST:PORT"), "{wrong}");
        }
    }

    #[test]
    fn a_host_that_is_every_address_is_that_of_hdfs() {
        let none = Configuration::default();
        let hdfs = at("m", 8020);
        assert_eq!(name_node(&none, &hdfs), at("m", 9870));
        assert_eq!(managers(&none, "m"), [at("m", 8088)]);
        assert_eq!(history(&none, "m"), at("m", 19_888));
        assert_eq!(at("0.0.0.0", 1).at("m"), at("m", 1));
    }

    #[test]
    fn states_that_take_no_job_are_named() {
        let of = |live: u32, state: &str, role: &str, port: u16| {
            let state = json!({"beans": [{"NumLiveDataNodes": live, "FSState": state}]});
            let status = json!({"beans": [{"State": role, "HostAndPort": format!("m:{port}")}]});
            ready(&state, &status, &at("m", 8020))
        };
        assert_eq!(of(2, "Operational", "active", 8020), Ok(2.0));
        assert!(of(0, "Operational", "active", 8020).unwrap_err().contains("DataNodes"));
        assert!(of(2, "safeMode", "active", 8020).unwrap_err().contains("safe mode"));
        assert!(of(2, "Operational", "standby", 8020).unwrap_err().contains("standby"));
        assert!(of(2, "Operational", "active", 9000).unwrap_err().contains("another HDFS"));
        assert!(nodes(&json!({"nodes": null})).unwrap_err().contains("NodeManagers"));
        assert_eq!(version(&json!({"beans": [{"SoftwareVersion": "3.4.2"}]})), "3.4.2");
        assert_eq!(version(&json!({})), "of an unknown version");
    }

    #[test]
    fn the_room_is_what_memory_leaves() {
        let room = |nodes: &[u64]| Room { nodes: nodes.to_vec(), container: 1024, director: 2048 }.tasks();
        assert_eq!((room(&[4096]), room(&[4096, 2048]), room(&[2048])), (2, 4, 0));
        // Half a container that is left over holds half of what directs.
        assert_eq!((room(&[2560, 1024]), room(&[1024, 1024]), room(&[])), (1, 0, 0));
    }
}
