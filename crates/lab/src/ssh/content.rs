//! A tree of static files on many hosts: only what differs there is sent, and every file is verified by its hash.
//!
//! A host lists the hashes of what it has. What is missing or differs goes there by rsync where both sides have it,
//! else as a tar archive through ssh. The host then lists its hashes again: a host is done when each file of the tree
//! has its hash there. Files of the host that the tree does not have stay. The scripts on the host are constant.

mod listing;
mod tar;
mod tree;

use std::io::Cursor;
use std::path::Path;
use std::process::{Command, Stdio};

use self::listing::{Listed, Listing};
use self::tar::Archive;
pub use self::tree::{ContentFile, Tree};
use super::command::{Base, Call, Exit};
use super::copy::{BadPath, Copied, Verified, on_host, one_line};
use super::failure::{Failure, printable};
use super::host::Host;
use super::login::{Options, Reach, remote_shell};
use super::sent::{Sent, Way};
use super::session::Output;
use super::sockets::Sockets;
use crate::child::{self, NoResult};
use crate::fan_out::each;
use crate::stop::{Cut, Stop};

/// Reads a folder and makes it. Prints a mark with its path, whether rsync is there, and the hash of each file in it.
const LIST: &str = "sh -c '\
    IFS= read -r d; \
    case $d in \"~\") d=$HOME;; \"~/\"*) d=$HOME/${d#??};; -*) d=./$d;; esac; \
    unset CDPATH; mkdir -p \"$d\" && cd \"$d\" || exit 91; \
    command -v sha256sum > /dev/null || exit 92; \
    echo \"boxscore-content $(pwd -P)\"; \
    if command -v rsync > /dev/null; then echo rsync; else echo tar; fi; \
    find . -type f -exec sha256sum {} + || exit 93; \
    echo boxscore-end'";

/// Reads a folder, a line, and then an archive, which it unpacks there.
const UNPACK: &str = "sh -c '\
    IFS= read -r d; cd \"$d\" || exit 91; \
    exec tar -xopf -'";

/// A tree for a folder of hosts, checked.
#[derive(Clone, Debug)]
pub struct Content {
    tree: Tree,
    folder: String,
    /// True if this side has rsync.
    has_rsync: bool,
}

impl Content {
    /// Fails for a folder with a line break.
    pub fn new(tree: Tree, folder: &str) -> Result<Content, BadPath> {
        one_line(folder)?;
        let asked = Command::new("rsync").arg("--version").stdin(Stdio::null()).output();
        let has_rsync = asked.is_ok_and(|output| output.status.success());
        Ok(Content { tree, folder: folder.to_owned(), has_rsync })
    }

    /// Brings the tree to each host. Fails when this machine cannot start a thread.
    pub fn run(
        &self,
        hosts: &[Host],
        options: &Options,
        sockets: &Sockets,
        stop: &Stop,
        done: impl FnMut(Copied),
    ) -> std::io::Result<()> {
        let base = Base::new(options, sockets, stop);
        let work = |index: usize, host: &Host| {
            let reach = base.reach();
            let (result, seconds) = on_host(&reach, host, || self.on_host(&reach, host));
            let (files, bytes) =
                result.as_ref().map_or((0, 0), |_| (self.tree.files().len(), self.tree.bytes()));
            let sent = result.as_ref().ok().copied();
            let result = result.map(|_| Verified::Sha256);
            Copied { index, host: host.clone(), result, files, bytes, sent, seconds }
        };
        each(hosts, options.width, work, done)
    }

    fn on_host(&self, reach: &Reach<'_>, host: &Host) -> Result<Sent, Failure> {
        let listing = list(reach, host, &self.folder)?;
        let differing = listing.lacks(&self.tree);
        if differing.is_empty() {
            return Ok(Sent { files: 0, bytes: 0, way: None, others: listing.others(&self.tree) });
        }
        let way = if self.has_rsync && listing.has_rsync { Way::Rsync } else { Way::Tar };
        match way {
            Way::Rsync => self.rsync(reach, host, &listing.folder, &differing)?,
            Way::Tar => self.tar(reach, host, &listing.folder, &differing)?,
        }
        let after = list(reach, host, &self.folder)?;
        let lacking = after.lacks(&self.tree);
        if let Some(first) = lacking.first() {
            let many = lacking.len();
            let said =
                format!("{}: its hash differs there ({many} such); did it change meanwhile?", first.name);
            return Err(Failure::Copy { said });
        }
        let bytes = differing.iter().map(|file| file.size).sum();
        Ok(Sent { files: differing.len(), bytes, way: Some(way), others: after.others(&self.tree) })
    }

    fn tar(
        &self,
        reach: &Reach<'_>,
        host: &Host,
        folder: &str,
        files: &[&ContentFile],
    ) -> Result<(), Failure> {
        let head = Cursor::new(format!("{folder}\n").into_bytes());
        let mut source = std::io::Read::chain(head, Archive::new(self.tree.folder(), files));
        let (mut stdout, mut stderr) = (Output::default(), Output::default());
        let mut call =
            Call { command: UNPACK, feed: Some(&mut source), stdout: &mut stdout, stderr: &mut stderr };
        match call.make(reach, host).0? {
            Exit::Code(0) => Ok(()),
            Exit::Code(91) => Err(not_copied(format!("its folder {} is gone", printable(folder.as_bytes())))),
            Exit::Code(127) => Err(not_copied("it has neither rsync nor tar".to_owned())),
            Exit::Code(code) => Err(not_copied(format!(
                "tar ended there with exit code {code} ({})",
                printable(&stderr.bytes)
            ))),
            Exit::Signal => Err(not_copied("tar was killed there".to_owned())),
        }
    }

    /// rsync has its own stream beside the connection that is open: the listing left one.
    fn rsync(
        &self,
        reach: &Reach<'_>,
        host: &Host,
        folder: &str,
        files: &[&ContentFile],
    ) -> Result<(), Failure> {
        let mut names = Vec::new();
        for file in files {
            names.extend_from_slice(file.name.as_bytes());
            names.push(0);
        }
        let list = child::in_memory(&names).map_err(|error| not_copied(format!("on this side: {error}")))?;
        let shell = remote_shell(host, reach.sockets, reach.options);
        let mut command = Command::new("rsync");
        command.args([
            "--recursive",
            "--perms",
            "--ignore-times",
            "--protect-args",
            "--from0",
            "--files-from=-",
        ]);
        command.arg("--rsh").arg(shell).arg("--").arg(slashed(self.tree.folder()));
        command.arg(format!("{}:{}/", host.name(), folder.trim_end_matches('/')));
        let limit = reach.limit(reach.options.limit);
        let ended = child::run_from(command, Stdio::from(list), limit).map_err(|error| match error {
            NoResult::NotStarted(said) => not_copied(format!("rsync: {said}")),
            NoResult::Cut(Cut::Interrupted) => Failure::Interrupted { begun: true },
            NoResult::Cut(Cut::TimedOut) => {
                Failure::TimedOut { seconds: reach.options.limit.unwrap_or_default().as_secs_f64() }
            }
            NoResult::Cut(Cut::Failed(said)) => Failure::Other { said },
        })?;
        match ended.status.success() {
            true => Ok(()),
            false => Err(not_copied(format!("rsync: {}", printable(ended.stderr.as_bytes())))),
        }
    }
}

fn not_copied(said: String) -> Failure {
    Failure::Copy { said }
}

/// A folder as rsync takes it for what is in it.
fn slashed(folder: &Path) -> std::ffi::OsString {
    let mut text = folder.as_os_str().to_owned();
    text.push("/");
    text
}

fn list(reach: &Reach<'_>, host: &Host, folder: &str) -> Result<Listed, Failure> {
    let mut source = Cursor::new(format!("{folder}\n").into_bytes());
    let (mut listing, mut stderr) = (Listing::default(), Output::default());
    let mut call = Call { command: LIST, feed: Some(&mut source), stdout: &mut listing, stderr: &mut stderr };
    let exit = call.make(reach, host).0?;
    let said = || printable(&stderr.bytes);
    match exit {
        Exit::Code(0) => listing.read().ok_or_else(|| not_copied("it gave no list of its files".to_owned())),
        Exit::Code(91) => Err(not_copied(format!("its folder cannot be made or entered ({})", said()))),
        Exit::Code(92) => Err(not_copied("it has no sha256sum, so nothing can be verified there".to_owned())),
        Exit::Code(93) => Err(not_copied(format!("its files cannot be read ({})", said()))),
        Exit::Code(code) => Err(not_copied(format!("the script ended with exit code {code} ({})", said()))),
        Exit::Signal => Err(not_copied("the script was killed there".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_are_one_word_for_every_shell() {
        for script in [LIST, UNPACK] {
            let inner = script.strip_prefix("sh -c '").and_then(|rest| rest.strip_suffix('\'')).unwrap();
            assert!(!inner.contains(['\'', '\n', '!', '\\']), "{inner}");
        }
    }
}
