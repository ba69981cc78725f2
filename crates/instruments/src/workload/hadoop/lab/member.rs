//! The nodes of a cluster over several hosts: their names, their addresses, and the file by which Java alone knows
//! both.
//!
//! As a parameter they are `NAME@ADDRESS` with blanks between them, the master first. Addresses are IPv4. Hadoop calls
//! nodes by name; no name server and no /etc/hosts needs to know them.

use std::net::Ipv4Addr;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file of names in the folder of a cluster.
pub const HOSTS: &str = "hosts";

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    /// At which the others reach it, and at which its daemons listen.
    pub address: Ipv4Addr,
}

/// All nodes, as one of them sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The master first.
    pub members: Vec<Member>,
    /// The number of this one.
    pub own: usize,
}

/// True for a name that Java takes as one of a host.
pub fn is_plain(name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let ends = [name.chars().next(), name.chars().last()];
    name.chars().all(is_inner)
        && ends.iter().all(|c| c.is_some_and(|c| c.is_ascii_alphanumeric()))
        && name.parse::<Ipv4Addr>().is_err()
        && name != "localhost"
}

/// Reads the parameter; none of an empty one. Fails for what is not of the form, and for what is there twice.
pub fn parse(text: &str) -> Result<Vec<Member>, String> {
    let mut all: Vec<Member> = Vec::new();
    for word in text.split_whitespace() {
        let (name, address) = word.split_once('@').unwrap_or((word, ""));
        let address = address.parse().ok().filter(|_| is_plain(name));
        let address = address.ok_or_else(|| format!("members: {word} is not NAME@ADDRESS"))?;
        if let Some(other) = all.iter().find(|one| one.name == name || one.address == address) {
            return Err(format!("members: {word} is {}@{} too", other.name, other.address));
        }
        all.push(Member { name: name.to_owned(), address });
    }
    Ok(all)
}

/// The parameter of these nodes.
pub fn text(members: &[Member]) -> String {
    let words: Vec<String> = members.iter().map(|one| format!("{}@{}", one.name, one.address)).collect();
    words.join(" ")
}

impl Place {
    pub fn own(&self) -> Option<&Member> {
        self.members.get(self.own)
    }

    /// The file of names for Java, which looks up both ways in it and nowhere else. `host` is what this host calls
    /// itself.
    fn hosts(&self, host: &str) -> String {
        let mut text = "127.0.0.1 localhost\n".to_owned();
        let mut all: Vec<(usize, &Member)> = self.members.iter().enumerate().collect();
        // Java takes the first line that contains an address: a longer one may begin with it.
        all.sort_by_key(|(_, one)| one.address.to_string().len());
        let is_free = self.members.iter().all(|one| one.name != host) && is_plain(host);
        for (at, one) in all {
            let alias = if at == self.own && is_free { format!(" {host}") } else { String::new() };
            text.push_str(&format!("{} {}{alias}\n", one.address, one.name));
        }
        text
    }

    /// Writes that file into a folder.
    pub fn write_hosts(&self, folder: &Path) -> Result<(), String> {
        let host = sys::system::uname().map_err(|error| error.to_string())?.node;
        sys::files::atomic_write(&folder.join(HOSTS), self.hosts(&host).as_bytes(), 0o644)
            .map_err(|error| error.to_string())
    }
}

/// The variables of a Java process of a cluster: the file of names, and the class path of this host, under the names
/// by which containers inherit them.
pub fn environment(folder: &Path, class_path: &[String]) -> [(&'static str, String); 2] {
    [
        (TOOL_OPTIONS, format!("-Djdk.net.hosts.file={}", folder.join(HOSTS).display())),
        (JARS, class_path.join(":")),
    ]
}

/// Java reads its value as options.
pub const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
/// The class path of each host, which may be another one on each.
pub const JARS: &str = "BOXSCORE_HADOOP_JARS";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_is_read_as_it_is_written() {
        let all = parse("node1@10.0.0.1 node2@10.0.0.12").unwrap();
        assert_eq!((all.len(), all[1].name.as_str()), (2, "node2"));
        assert_eq!(text(&all), "node1@10.0.0.1 node2@10.0.0.12");
        assert_eq!(parse(""), Ok(Vec::new()));
        for odd in ["node1", "a_b@10.0.0.1", "a@::1", "a@b", "@10.0.0.1", "10.0.0.1@10.0.0.1", "-a@10.0.0.1"]
        {
            assert!(parse(odd).unwrap_err().contains("is not NAME@ADDRESS"), "{odd}");
        }
        assert!(parse("a@10.0.0.1 b@10.0.0.1").unwrap_err().contains("is a@10.0.0.1 too"));
        assert!(parse("a@10.0.0.1 a@10.0.0.2").is_err());
    }

    #[test]
    fn a_short_address_comes_before_those_that_begin_with_it() {
        let members = parse("long@10.0.0.11 short@10.0.0.1").unwrap();
        let place = Place { members, own: 0 };
        let text = place.hosts("box7");
        assert_eq!(text, "127.0.0.1 localhost\n10.0.0.1 short\n10.0.0.11 long box7\n");
        assert!(!place.hosts("short").contains("long short"), "another node has that name");
    }
}
