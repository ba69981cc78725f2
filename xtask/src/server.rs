//! A server that a script starts and ends: nginx, httpd or Redis on a port of the loopback.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::shell;

/// A server in a folder of its own, ended when dropped.
pub struct Server {
    child: Child,
    pub port: u16,
    pub folder: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        // A master ends its workers; all are ours.
        let pid = self.child.id().to_string();
        if shell::run("kill", &["-TERM", &pid]).is_ok() {
            drop(self.child.wait());
        }
        drop(fs::remove_dir_all(&self.folder));
    }
}

impl Server {
    /// Starts `words`, on one CPU where it is named, and waits until it listens. Programs of the administrator's folder
    /// are found too. Fails where it cannot be started, ends, or does not listen in time.
    pub fn start(cpu: Option<u32>, words: &[&str], port: u16, folder: PathBuf) -> Result<Server> {
        let pinned = cpu.map(|cpu| ["taskset".to_owned(), "-c".to_owned(), cpu.to_string()]);
        let mut all = pinned.iter().flatten().map(String::as_str).chain(words.iter().copied());
        let mut command = Command::new(all.next().unwrap_or_default());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
        command.args(all).current_dir(&folder).env("PATH", std::env::join_paths(path)?);
        let name = words.first().copied().unwrap_or_default();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let child = child.with_context(|| format!("cannot start {name}"))?;
        let mut server = Server { child, port, folder };
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            if let Some(status) = server.child.try_wait()? {
                bail!("{name} ended at once ({status}); is it installed?");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!("{name} does not answer on port {port}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_start_is_told() {
        let here = std::env::temp_dir().join(format!("boxscore-no-server-{}", std::process::id()));
        fs::create_dir_all(&here).unwrap();
        let error = Server::start(Some(0), &["false"], 1, here).err().unwrap().to_string();
        assert!(error.contains("false ended at once"), "{error}");
    }
}
