//! Names of control sockets.
//!
//! A name is a digest of all that decides whom a connection leads to, so that a changed configuration never finds the
//! connection of the old one.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::host::Host;
use crate::private::{LONGEST_NAME, NoFolder, PrivateFolder};

/// The folder of the sockets.
#[derive(Clone, Debug)]
pub struct Sockets {
    folder: PrivateFolder,
}

impl Sockets {
    /// Fails when the folder cannot be made, or is somebody else's.
    pub fn open() -> Result<Sockets, NoFolder> {
        Ok(Sockets { folder: PrivateFolder::open()? })
    }

    /// The path of the socket of a host with this configuration file.
    pub(super) fn path(&self, host: &Host, config: Option<&Path>) -> PathBuf {
        let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".ssh/config"));
        let file = config.map(Path::to_owned).or(home);
        let state = file.as_deref().and_then(|path| path.metadata().ok()).map_or(String::new(), |found| {
            format!("{} {} {} {}", found.ino(), found.len(), found.mtime(), found.mtime_nsec())
        });
        let port = host.port().map_or(String::new(), |port| port.to_string());
        let parts: [&[u8]; 6] = [
            host.name().as_bytes(),
            host.address().unwrap_or_default().as_bytes(),
            host.user().unwrap_or_default().as_bytes(),
            port.as_bytes(),
            file.as_deref().map_or(&[], |path| path.as_os_str().as_bytes()),
            state.as_bytes(),
        ];
        let digest = ring::digest::digest(&ring::digest::SHA256, &parts.join(&0));
        let name: String =
            digest.as_ref().iter().take(LONGEST_NAME / 2).map(|byte| format!("{byte:02x}")).collect();
        self.folder.path().join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_decides_where_a_connection_leads_decides_its_socket() {
        let base = tempfile::tempdir().unwrap();
        let user = sys::files::effective_ids().0;
        let sockets = Sockets { folder: PrivateFolder::at(base.path().join("s"), user).unwrap() };
        let config = base.path().join("config");
        let host = |name: &str, address, user, port| Host::new(name, address, user, port).unwrap();
        let mut paths = vec![
            sockets.path(&host("a", None, None, None), None),
            sockets.path(&host("b", None, None, None), None),
            sockets.path(&host("a", Some("b"), None, None), None),
            sockets.path(&host("a", None, Some("b"), None), None),
            sockets.path(&host("a", None, None, Some(1)), None),
            sockets.path(&host("a", None, None, None), Some(&config)),
        ];
        sys::files::atomic_write(&config, b"Host a\n", 0o600).unwrap();
        paths.push(sockets.path(&host("a", None, None, None), Some(&config)));
        assert_eq!(paths.last(), Some(&sockets.path(&host("a", None, None, None), Some(&config))));
        let all = paths.len();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), all);
    }
}
