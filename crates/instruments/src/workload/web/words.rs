//! Sentences on what runs where.

use model::generate::Generator;
use model::note::{ServerBuild, WebSetup};
use model::params::show_cpus;

use super::cores::Cores;
use super::served::Served;
use crate::load::Load;
use crate::load::generators::Remote;
use crate::workload::elf;
use crate::workload::server::run::Server;

/// The longest that a server's own words about its build are.
const MOST: usize = 2000;

/// A server in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerWords {
    /// Its name in figures; `None` for a web server of the user's.
    pub name: Option<String>,
    /// With its place: `nginx/1.22.1, 1 worker on CPU 0`.
    pub place: String,
}

/// Where the server and the generators of a load run; `server` where the caller knows better than `served`.
pub fn setup(
    served: &Served,
    load: &Load,
    cores: &Cores,
    remote: Option<&Remote>,
    server: Option<&ServerWords>,
) -> WebSetup {
    let generators = counted(load.threads, "generator");
    let on = match (remote, cores.generators.len()) {
        // Fewer than asked for is a fault of its own.
        (Some(remote), _) => {
            let known = remote.choose(load.threads).unwrap_or_default();
            places(known, sys::clock::boot_id().ok().as_deref(), &cores.generators)
        }
        (None, shared) if load.threads > shared => format!("share {}", cpus(&cores.generators)),
        (None, _) => format!("on {}", cpus(&cores.generators)),
    };
    let known = || match served {
        Served::Ours(hosted) => hosted.with(|server| ours(server, cores)).unwrap_or_default(),
        Served::Theirs(_) => {
            let whom = load.targets.first().map_or(String::new(), |one| one.url.authority());
            ServerWords { name: None, place: format!("the server at {whom}") }
        }
    };
    let ServerWords { name, place } = server.cloned().unwrap_or_else(known);
    WebSetup {
        name,
        server: place,
        generators: format!("{generators} {on}"),
        shares_cpus: cores.server.iter().any(|cpu| cores.generators.contains(cpu)),
    }
}

/// Where generators in processes of their own work: on this host, on others, or on one that is not known.
fn places(generators: &[Generator], here: Option<&str>, own: &[u32]) -> String {
    let names = |is_there: &dyn Fn(Option<&str>) -> bool| -> String {
        let there = generators.iter().filter(|one| is_there(one.host.as_deref()));
        there.map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let at = if own.is_empty() { String::new() } else { format!(" on {}", cpus(own)) };
    let known = here.is_some();
    let mine = names(&|host| known && host.is_some() && host == here);
    let others = names(&|host| known && host.is_some() && host != here);
    let unknown = names(&|host| !known || host.is_none());
    let parts = [
        (&mine, format!("in processes of their own ({mine}), here{at}")),
        (&others, format!("on other hosts ({others})")),
        (&unknown, format!("on hosts that are not known ({unknown})")),
    ];
    let said = parts.iter().filter(|(names, _)| !names.is_empty());
    said.map(|(_, place)| place.as_str()).collect::<Vec<_>>().join(" and ")
}

fn ours(server: &Server, cores: &Cores) -> ServerWords {
    let of =
        |name: &str| server.setup().iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str());
    let mut words = server.build().version.clone();
    if let Some(mpm) = of("mpm") {
        words.push_str(&format!(" {mpm}"));
    }
    let name = Some(words.clone());
    if let Some(workers) = of("workers") {
        let workers = workers.parse().map_or_else(|_| format!("{workers} workers"), |n| counted(n, "worker"));
        words.push_str(&format!(", {workers}"));
    }
    words.push_str(&format!(" on {}", cpus(&cores.server)));
    if of("swap").is_some() {
        words.push_str(" with its memory limited, but not its swap (the kernel does not count it)");
    }
    if let Some(account) = server.account() {
        words.push_str(&format!(" as {account}"));
    }
    ServerWords { name, place: words }
}

/// The build of a server, as its program prints it.
pub fn build(server: &Server) -> ServerBuild {
    let build = server.build();
    let details: String =
        build.details.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MOST).collect();
    let bits = elf::read(&build.program).map(|elf| elf.bits);
    ServerBuild {
        version: build.version.clone(),
        program: build.program.display().to_string(),
        details,
        bits,
    }
}

pub(crate) fn cpus(cpus: &[u32]) -> String {
    let many = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{many} {}", show_cpus(cpus))
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use model::NoteBody;

    use super::*;

    #[test]
    fn generators_elsewhere_are_told_from_those_here() {
        let one = |name: &str, host: Option<&str>| Generator {
            name: name.to_owned(),
            host: host.map(str::to_owned),
            cpus: Vec::new(),
            cores: Vec::new(),
        };
        let all = [one("a", Some("h")), one("b", Some("g")), one("c", None), one("d", Some("h"))];
        assert_eq!(places(&all[..1], Some("h"), &[]), "in processes of their own (a), here");
        assert_eq!(places(&all[1..2], Some("h"), &[]), "on other hosts (b)");
        let says = "in processes of their own (a, d), here on CPU 1 and on other hosts (b) and on hosts that are not \
                    known (c)";
        assert_eq!(places(&all, Some("h"), &[1]), says);
        assert_eq!(places(&all[..2], None, &[]), "on hosts that are not known (a, b)");
    }

    #[test]
    fn generators_are_placed_in_words() {
        let mut load = Load::new("http://127.0.0.1:81/".parse().unwrap());
        let served = Served::theirs(&load.targets[0].url);
        let of = |load: &Load, cpus: &[u32]| {
            let cores: Vec<Vec<u32>> = cpus.iter().map(|cpu| vec![*cpu]).collect();
            let setup = setup(&served, load, &Cores::among(&cores, load.threads, false), None, None);
            NoteBody::WebSetup(setup).text().into_owned()
        };
        assert_eq!(of(&load, &[0, 1]), "the server at 127.0.0.1:81; 1 generator on CPU 1");
        load.threads = 3;
        assert_eq!(of(&load, &[0, 1]), "the server at 127.0.0.1:81; 3 generators share CPUs 0-1");
    }
}
