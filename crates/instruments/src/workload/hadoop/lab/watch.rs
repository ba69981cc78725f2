//! The watch over a cluster on several hosts while a job runs: what each used, and a node that fails.
//!
//! Every other node is asked every two seconds, as long as few answers are kept. A node that is lost, whose daemon
//! ends, or whose DataNode the NameNode has not heard for a minute (a link between nodes, not the one to us) ends the
//! cluster on the master at once, with the client that would wait for it.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use model::node_use::NodeUse;
use serde_json::Value;

use super::Far;
use super::counted::Counted;
use crate::workload::guard;
use crate::workload::hadoop::machine_use::MachineUse;
use crate::workload::hadoop::rest::{Door, number, text};

const PAUSE: Duration = Duration::from_secs(2);
/// The question to the NameNode about its DataNodes.
const DATA_NODES: &str = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo";
/// Seconds without a word of a DataNode, which speaks every three, after which its node is given up.
const SILENT: f64 = 60.0;

/// The master's side of a cluster.
#[derive(Clone, Debug)]
pub struct Master<'a> {
    pub name: &'a str,
    /// With the mark of its processes.
    pub folder: &'a Path,
    pub name_node: Door<'a>,
}

/// Does something, and watches the nodes meanwhile: what each used, and all together; times are milliseconds since
/// 1970.
pub fn during<T>(master: Master<'_>, far: &Far, work: impl FnOnce() -> T) -> (T, Vec<NodeUse>, MachineUse) {
    std::thread::scope(|scope| {
        let (tell, ends) = channel::<()>();
        let watcher = scope.spawn(move || watch(master, far, &ends));
        let done = work();
        drop(tell);
        // Without what was seen there is no use to tell of.
        let (nodes, machine) = watcher.join().unwrap_or_default();
        (done, nodes, machine)
    })
}

fn watch(master: Master<'_>, far: &Far, ends: &Receiver<()>) -> (Vec<NodeUse>, MachineUse) {
    let mut all: Vec<(NodeUse, [Counted; 2])> = Vec::new();
    let (mut pause, mut from_ms) = (PAUSE, now_ms());
    let mut is_last = false;
    loop {
        let seen = far.look().and_then(|others| silent(&master).map(|()| others));
        let others = match seen {
            Ok(others) => others,
            Err(why) => {
                far.give_up(why);
                // The client of a cluster that is broken would wait for it.
                let _left_to_the_cluster = guard::end_marked(master.folder);
                break;
            }
        };
        let to_ms = now_ms();
        let mut is_full = false;
        let own = (master.name.to_owned(), Counted::now());
        for (name, counted) in std::iter::once(own).chain(others) {
            match all.iter_mut().find(|(known, _)| known.node == name) {
                None => all.push((NodeUse { node: name, ..NodeUse::default() }, [counted.clone(), counted])),
                Some((known, [_, before])) => {
                    let stretch = before.until(&counted, (from_ms, to_ms));
                    if is_last {
                        known.end(stretch);
                    } else {
                        is_full |= known.push(stretch);
                    }
                    *before = counted;
                }
            }
        }
        from_ms = to_ms;
        if is_last {
            break;
        }
        pause = if is_full { pause * 2 } else { pause };
        is_last = ends.recv_timeout(pause) != Err(RecvTimeoutError::Timeout);
    }
    let shares: Vec<MachineUse> = all.iter().map(|(_, [first, last])| last.used(first)).collect();
    (all.into_iter().map(|(node, _)| node).collect(), MachineUse::together(&shares))
}

fn now_ms() -> u64 {
    sys::clock::wall_ns() / 1_000_000
}

/// Fails where the NameNode has not heard a DataNode for long. One that does not answer is judged by others.
fn silent(master: &Master<'_>) -> Result<(), String> {
    match master.name_node.get(DATA_NODES).ok().and_then(|answer| unheard(&answer)) {
        None => Ok(()),
        Some((node, seconds)) => Err(format!(
            "{node}: its DataNode was not heard for {seconds:.0} s: is its link to the other nodes down?"
        )),
    }
}

/// The DataNode that was not heard for the longest time, where that is long.
fn unheard(answer: &Value) -> Option<(String, f64)> {
    let bean = answer.get("beans")?.get(0)?;
    let live: Value = serde_json::from_str(text(bean, &["LiveNodes"])?).ok()?;
    let of = |(name, node): (&String, &Value)| {
        let host = name.rsplit_once(':').map_or(name.as_str(), |(host, _)| host);
        Some((host.to_owned(), number(node, &["lastContact"])?))
    };
    let all = live.as_object()?.iter().filter_map(of);
    all.filter(|(_, seconds)| *seconds > SILENT).max_by(|one, other| one.1.total_cmp(&other.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_node_that_is_silent_is_named() {
        let told = |seconds: u32| {
            let live =
                format!(r#"{{"node1:9866":{{"lastContact":1}},"node2:9866":{{"lastContact":{seconds}}}}}"#);
            unheard(&serde_json::json!({"beans": [{"LiveNodes": live}]}))
        };
        assert_eq!(told(2), None);
        assert_eq!(told(61), Some(("node2".to_owned(), 61.0)));
        assert_eq!(unheard(&serde_json::json!({"beans": []})), None);
    }
}
