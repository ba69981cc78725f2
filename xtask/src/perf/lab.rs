//! `boxscore lab run -- uname -r` beside clush on 132 ssh servers of this host: wall time and CPU time.
//!
//! Both use one configuration of ssh, with curve25519 as key exchange, and 64 hosts at once. Cold: each logs in to
//! every host, and ours keeps the connections (`--keep`); clush does not, or does by ControlMaster. Warm: the
//! connections are open on both sides. CPU time is that of the program and its children, and of the ssh processes that
//! stay with the connections; that of the servers is not counted. Sockets lie in memory, as those of a user's session.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::bound::{Took, timed};
use super::options::Options;
use super::pairs::{Outcome, comparison, in_turns, load};
use crate::shell;

const HOSTS: usize = 132;
const LIMIT: Duration = Duration::from_secs(300);

/// Where a session's sockets lie too: in memory.
const MEMORY: &str = "/dev/shm";

pub fn run(options: &Options, outcome: &mut Outcome) -> Result<()> {
    let folder = Path::new(MEMORY).join(format!("boxscore-perf-lab-{}", std::process::id()));
    fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
    let done = match Fleet::start(&folder) {
        Ok(fleet) => compare(options, outcome, &fleet),
        Err(error) => {
            outcome.skip("lab run beside clush", &format!("{error:#}"));
            Ok(())
        }
    };
    fs::remove_dir_all(&folder)?;
    done
}

fn compare(options: &Options, outcome: &mut Outcome, fleet: &Fleet<'_>) -> Result<()> {
    let before = load();
    let product = options.product();
    // Whether the connections are open before, and whether clush keeps its own.
    for (warm, keeps) in [(false, false), (false, true), (true, true)] {
        let what = format!("lab run, {HOSTS} hosts, {}", if warm { "warm" } else { "cold" });
        let peer = if keeps { "clush, kept" } else { "clush" };
        if warm {
            fleet.ours(&product)?;
            fleet.clush(keeps)?;
        }
        let closed = |took: Result<Took>, connections: &str| {
            if !warm {
                fleet.close(connections)?;
            }
            took
        };
        let ours = || closed(fleet.ours(&product), "boxscore");
        match in_turns(options.pairs, 24, ours, || closed(fleet.clush(keeps), "clush")) {
            Ok(pairs) => {
                let wall: Vec<_> = pairs.iter().map(|(ours, theirs)| (ours.wall, theirs.wall)).collect();
                outcome.keep(comparison(&format!("{what}: wall time"), peer, "s", &wall, true, before)?);
                let cpu: Vec<_> = pairs.iter().map(|(ours, theirs)| (ours.cpu, theirs.cpu)).collect();
                outcome.keep(comparison(&format!("{what}: CPU time"), peer, "s", &cpu, true, before)?);
            }
            Err(error) => outcome.skip(&format!("{what} beside {peer}"), &format!("{error:#}")),
        }
    }
    Ok(())
}

/// The servers, ended when dropped.
struct Fleet<'a> {
    folder: &'a Path,
    pids: Vec<PathBuf>,
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        // What cannot be closed ends by itself.
        drop(self.close("boxscore").and_then(|()| self.close("clush")));
        let pids: Vec<String> = self
            .pids
            .iter()
            .filter_map(|file| Some(fs::read_to_string(file).ok()?.trim().to_owned()))
            .collect();
        let words: Vec<&str> = pids.iter().map(String::as_str).collect();
        drop(shell::command("kill", &words).status());
    }
}

impl<'a> Fleet<'a> {
    fn start(folder: &'a Path) -> Result<Fleet<'a>> {
        let path = |name: &str| folder.join(name).display().to_string();
        let port = TcpListener::bind(("127.0.2.1", 0))?.local_addr()?.port();
        for key in ["id", "hostkey"] {
            shell::run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &path(key)])?;
        }
        let user = shell::output("id", &["-un"])?;
        if user.trim() == "root" {
            fs::create_dir_all("/run/sshd")?;
        }
        let mut fleet = Fleet { folder, pids: Vec::new() };
        let mut client = String::new();
        for number in 1..=HOSTS {
            client.push_str(&format!("Host node{number:03}\n HostName 127.0.2.{number}\n"));
            let pid = folder.join(format!("{number}.pid"));
            let config = path(&format!("{number}.conf"));
            // Another home: what the user's shell does at its start is no part of the comparison.
            fs::write(
                &config,
                format!(
                    "Port {port}\nListenAddress 127.0.2.{number}\nHostKey {}\nPidFile {}\nAuthorizedKeysFile {}\n\
                     StrictModes no\nUsePAM no\nSetEnv HOME={}\n",
                    path("hostkey"),
                    pid.display(),
                    path("id.pub"),
                    folder.display()
                ),
            )?;
            shell::run("/usr/sbin/sshd", &["-f", &config, "-E", &path("sshd.log")])?;
            fleet.pids.push(pid);
        }
        let key = fs::read_to_string(folder.join("hostkey.pub"))?;
        fs::write(folder.join("known_hosts"), format!("[127.0.2.*]:{port} {key}"))?;
        client.push_str(&format!(
            "Host *\n Port {port}\n User {}\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n \
             GlobalKnownHostsFile /dev/null\n KexAlgorithms curve25519-sha256\n BatchMode yes\n",
            user.trim(),
            path("id"),
            path("known_hosts")
        ));
        let masters =
            format!(" ControlMaster auto\n ControlPath {}/%C\n ControlPersist 600\n", path("clush"));
        fs::write(folder.join("plain"), &client)?;
        fs::write(folder.join("keeps"), client + &masters)?;
        fs::create_dir_all(folder.join("clush"))?;
        Ok(fleet)
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn ours(&self, product: &str) -> Result<Took> {
        let hosts: Vec<String> = (1..=HOSTS).map(|number| format!("node{number:03}")).collect();
        let (hosts, config) = (hosts.join(","), self.path("plain"));
        let words = [
            product,
            "lab",
            "run",
            &hosts,
            "--ssh-config",
            &config,
            "--keep",
            "600",
            "--fold",
            "--",
            "uname",
            "-r",
        ];
        self.timed(&words, "boxscore")
    }

    fn clush(&self, keeps: bool) -> Result<Took> {
        let options = format!("-F {}", self.path(if keeps { "keeps" } else { "plain" }));
        let hosts = format!("node[001-{HOSTS}]");
        self.timed(&["clush", "-q", "-b", "-f", "64", "-o", &options, "-w", &hosts, "uname", "-r"], "clush")
    }

    /// Runs a command; its connections are in a folder of this name. Fails unless every host answered.
    fn timed(&self, words: &[&str], connections: &str) -> Result<Took> {
        let place = self.path(connections);
        let before = masters_cpu(&place)?;
        let (out, took) = timed(words, &[("XDG_RUNTIME_DIR", self.folder)], LIMIT)?;
        if !out.contains(&format!("[001-{HOSTS}]")) {
            bail!("{}: not every host answered:\n{out}", words[0]);
        }
        Ok(Took { cpu: took.cpu + (masters_cpu(&place)? - before), ..took })
    }

    /// Ends the ssh processes that stay with the connections in this folder.
    fn close(&self, connections: &str) -> Result<()> {
        let place = self.path(connections);
        let pids: Vec<String> = masters(&place)?.into_iter().map(|(pid, _)| pid).collect();
        if !pids.is_empty() {
            let words: Vec<&str> = pids.iter().map(String::as_str).collect();
            shell::run("kill", &words)?;
        }
        while !masters(&place)?.is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

/// CPU seconds so far of the ssh processes of connections in a folder.
fn masters_cpu(place: &str) -> Result<f64> {
    Ok(masters(place)?.into_iter().map(|(_, cpu)| cpu).sum())
}

/// The ssh processes whose sockets are in this folder, with their CPU seconds.
fn masters(place: &str) -> Result<Vec<(String, f64)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let folder = entry?.path();
        // A process may have ended meanwhile.
        let (Ok(words), Ok(times)) =
            (fs::read_to_string(folder.join("cmdline")), fs::read_to_string(folder.join("schedstat")))
        else {
            continue;
        };
        if words.starts_with("ssh") && words.contains(&format!("{place}/")) {
            let pid = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.push((pid, cpu_of(&times).context("a schedstat without times")?));
        }
    }
    Ok(found)
}

/// CPU seconds in the text of /proc/PID/schedstat, which counts nanoseconds; `stat` counts hundredths of a second,
/// and most of these processes use less.
fn cpu_of(schedstat: &str) -> Option<f64> {
    Some(schedstat.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_process_are_read() {
        assert_eq!(cpu_of("1500000000 200 30\n"), Some(1.5));
        assert_eq!(cpu_of(""), None);
    }
}
