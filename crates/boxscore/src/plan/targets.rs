//! Targets: servers, stores and far ends that one study measures in turns (`--target NAME=ADDRESS`).
//!
//! Each is an arm, whose set holds its address as the cards of what is measured write it. Nothing is asked of the
//! network but where names lead to.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};

use instruments::workload::server::sockets::listeners;
use model::plan::Target;
use model::url::{Url, authority};
use model::{Arm, Card, format};

use super::setting::{Scope, Setting};
use crate::error::CliError;
use crate::study::login;

/// A target as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub name: String,
    pub address: String,
}

impl Given {
    /// The option, for messages.
    fn flag(&self) -> String {
        format!("--target {}={}", self.name, self.address)
    }

    /// As a plan has it.
    pub fn target(&self) -> Target {
        Target::new(&self.name, &self.address)
    }

    /// Where it listens; none where its address has no port, or its host is not known here.
    fn sockets(&self) -> Vec<SocketAddr> {
        let first = self.address.split_whitespace().next().unwrap_or_default();
        let found = match first.parse::<Url>() {
            Ok(url) => (url.host.as_str(), url.port).to_socket_addrs(),
            Err(_) => authority(first).to_socket_addrs(),
        };
        found.map(Iterator::collect).unwrap_or_default()
    }
}

/// Reads `NAME=ADDRESS` or `ADDRESS` each, which is then called by its host and port. Fails where two have one name.
pub fn read(targets: &[String]) -> Result<Vec<Given>, CliError> {
    let mut all: Vec<Given> = Vec::new();
    for text in targets {
        let one = given(text)?;
        if let Some(other) = all.iter().find(|other| other.name == one.name) {
            return Err(match other.address == one.address {
                true => CliError::usage(format!("{} is given twice", one.flag())),
                false => CliError::usage(format!("two targets are called `{}`", one.name))
                    .hint("give each a name of its own: --target NAME=URL"),
            });
        }
        all.push(one);
    }
    Ok(all)
}

/// The name in front of a value, where it has one, and the value: an address, or the command of a child.
pub fn split(text: &str) -> (Option<&str>, &str) {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || "-_.".contains(one));
    let named = text.split_once('=').map(|(name, address)| (name.trim(), address.trim()));
    match named.filter(|(name, _)| is_name(name)) {
        Some((name, address)) => (Some(name), address),
        None => (None, text.trim()),
    }
}

fn given(text: &str) -> Result<Given, CliError> {
    let (name, address) = split(text);
    let name = name.unwrap_or_else(|| authority(address)).to_owned();
    if address.is_empty() || name.is_empty() {
        return Err(CliError::usage("--target: not of the form NAME=URL")
            .hint("for example --target new=http://10.0.0.2/ --target old=http://10.0.0.1/"));
    }
    // Before any message names the address.
    let key = if address.contains("://") { "url" } else { "kv" };
    login::refuse(std::iter::once((key, address)))?;
    Ok(Given { name, address: address.to_owned() })
}

/// The settings of a target's arm: its address, as each of the chosen cards writes it. Fails where one has no target,
/// or the address is none for it.
pub fn settings(given: &Given, chosen: &[&'static Card]) -> Result<Vec<Setting>, CliError> {
    let flag = given.flag();
    let mut all: Vec<Setting> = Vec::new();
    for card in chosen {
        let Some(read) = card.params.iter().find_map(|spec| spec.target) else {
            return Err(CliError::usage(format!(
                "{flag}: {} measures this machine, and no target",
                card.name
            ))
            .hint("targets are for `boxscore run web`, `kv`, `kv-load` and `net`, and for `boxscore load`"));
        };
        let pairs = read(&given.address)
            .map_err(|why| CliError::usage(format!("{flag} is no target for {}: {why}", card.name)))?;
        for (key, value) in pairs {
            let setting = Setting::new(&flag, Scope::All, key, &value);
            if !all.contains(&setting) {
                all.push(setting);
            }
        }
    }
    Ok(all)
}

/// Fails where two arms lead to the same.
pub fn distinct(arms: &[Arm]) -> Result<(), CliError> {
    for (at, arm) in arms.iter().enumerate() {
        if let Some(other) = arms.iter().take(at).find(|other| other.set == arm.set) {
            let text = format!("`{}` and `{}` are one target: nothing to compare", other.name, arm.name);
            return Err(CliError::usage(text).hint("`boxscore aa` says how much two equal runs differ"));
        }
    }
    Ok(())
}

/// Says which targets are one server or one process, and which share a host.
pub fn shared(targets: &[Given]) -> Vec<String> {
    let sockets: Vec<(&Given, Vec<SocketAddr>)> = targets.iter().map(|one| (one, one.sockets())).collect();
    let one_server = |a: &[SocketAddr], b: &[SocketAddr]| a.iter().any(|one| b.contains(one));
    let one_process =
        |a: &[SocketAddr], b: &[SocketAddr]| !one_server(a, b) && !processes(a).is_disjoint(&processes(b));
    let one_host =
        |a: &[SocketAddr], b: &[SocketAddr]| !one_server(a, b) && !one_process(a, b) && is_one_host(a, b);
    // The names that have such a partner.
    let with_partner = |is_partner: &dyn Fn(&[SocketAddr], &[SocketAddr]) -> bool| {
        let has = |(one, own): &&(&Given, Vec<SocketAddr>)| {
            sockets.iter().any(|(other, theirs)| other.name != one.name && is_partner(own, theirs))
        };
        let names: Vec<String> =
            sockets.iter().filter(has).map(|(one, _)| format!("`{}`", one.name)).collect();
        (!names.is_empty()).then(|| format::list(&names))
    };
    let server = with_partner(&one_server).map(|names| format!("{names} lead to one server"));
    let process = with_partner(&one_process).map(|names| {
        format!(
            "{names} are one process that listens at several addresses: they differ in its settings alone"
        )
    });
    let host = with_partner(&one_host);
    let host = host.map(|names| format!("{names} share a host: each takes from what the other could have"));
    server.into_iter().chain(process).chain(host).collect()
}

/// True where addresses alone tell that two targets are on one host.
pub fn lead_to_one_host(one: &Target, other: &Target) -> bool {
    let of = |target: &Target| Given { name: target.name.clone(), address: target.address.clone() }.sockets();
    is_one_host(&of(one), &of(other))
}

fn is_one_host(a: &[SocketAddr], b: &[SocketAddr]) -> bool {
    let is_loopback = |all: &[SocketAddr]| all.iter().any(|one| one.ip().is_loopback());
    let is_same = a.iter().any(|one| b.iter().any(|other| one.ip() == other.ip()));
    is_same || is_loopback(a) && is_loopback(b)
}

/// The processes of this machine that listen there; none where they are elsewhere, or may not be seen.
fn processes(sockets: &[SocketAddr]) -> BTreeSet<i32> {
    let here = sockets.iter().filter(|one| one.ip().is_loopback() || is_here(one.ip()));
    here.filter_map(|one| listeners(*one).ok()).flatten().collect()
}

/// True for an address of this machine: nobody can listen at another one.
fn is_here(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

/// How targets in several arms are set beside each other in one of them.
pub fn how_compared(targets: &[Target]) -> Option<String> {
    let last: Vec<String> =
        targets.iter().filter_map(|target| Some(format!("'{}'", target.arms.last()?))).take(2).collect();
    (last.len() == 2).then(|| {
        format!(
            "the first target in the first arm is what the others are compared with; of one arm, afterwards: boxscore \
             compare {}",
            last.join(" ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(given: &[&str]) -> Result<Vec<(String, String)>, CliError> {
        let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
        Ok(read(&given)?.into_iter().map(|one| (one.name, one.address)).collect())
    }

    #[test]
    fn a_target_has_a_name_or_is_called_by_host_and_port() {
        let pair = |name: &str, address: &str| (name.to_owned(), address.to_owned());
        assert_eq!(
            all(&["a=http://h:81/x?y=z", "http://h:82/?q=1", "redis://h", "box:9"]).unwrap(),
            [
                pair("a", "http://h:81/x?y=z"),
                pair("h:82", "http://h:82/?q=1"),
                pair("h", "redis://h"),
                pair("box:9", "box:9"),
            ]
        );
    }

    #[test]
    fn wrong_targets_are_explained_without_their_passwords() {
        for (given, says) in [
            (vec!["a="], "not of the form NAME=URL"),
            (vec!["a=http://h/", "a=http://i/"], "two targets are called `a`"),
            (vec!["a=http://h/", "a=http://h/"], "--target a=http://h/ is given twice"),
            (vec!["http://h/x", "http://h/y"], "two targets are called `h`"),
            (vec!["a=redis://u:secret@h"], "would be stored with the run"),
            (vec!["a=u:secret@h:1"], "would be stored with the run"),
        ] {
            let error = all(&given).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains("secret"), "{given:?}: {error}");
        }
    }

    #[test]
    fn one_server_and_one_host_are_said() {
        let said = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|one| (*one).to_owned()).collect();
            shared(&read(&given).unwrap())
        };
        let one = said(&["a=http://127.0.0.1:81/x", "b=http://127.0.0.1:81/y"]);
        assert_eq!(one, ["`a` and `b` lead to one server"]);
        let host = said(&["a=http://127.0.0.1:81/", "b=127.0.0.1:82", "c=http://192.0.2.1/"]);
        assert_eq!(host, ["`a` and `b` share a host: each takes from what the other could have"]);
        assert_eq!(said(&["a=http://192.0.2.1/", "b=http://192.0.2.2/"]), [""; 0]);
        // This process.
        let [one, other] = [0, 1].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
        let address = |name: &str, listener: &std::net::TcpListener| {
            format!("{name}=http://{}/", listener.local_addr().unwrap())
        };
        let process = said(&[&address("a", &one), &address("b", &other)]);
        assert!(process.len() == 1 && process[0].starts_with("`a` and `b` are one process"), "{process:?}");
    }
}
