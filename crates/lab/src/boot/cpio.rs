//! The archive that the kernel unpacks as its first file system: cpio in the format "newc".

use std::collections::BTreeSet;
use std::io::{Result, Write};

const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const DEVICE: u32 = 0o020_000;

/// An archive that is written. Folders of a path are added before it.
pub struct Cpio<W: Write> {
    out: W,
    entries: u32,
    folders: BTreeSet<String>,
}

impl<W: Write> Cpio<W> {
    pub fn new(out: W) -> Cpio<W> {
        Cpio { out, entries: 0, folders: BTreeSet::new() }
    }

    /// Adds a folder; one that is there already is fine. A path begins without `/`.
    pub fn folder(&mut self, path: &str) -> Result<()> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            if end > 0 && self.folders.insert(path[..end].to_owned()) {
                self.entry(&path[..end], FOLDER | 0o755, b"", (0, 0))?;
            }
        }
        Ok(())
    }

    pub fn file(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<()> {
        self.parents(path)?;
        self.entry(path, FILE | mode, bytes, (0, 0))
    }

    pub fn link(&mut self, path: &str, to: &str) -> Result<()> {
        self.parents(path)?;
        self.entry(path, LINK | 0o777, to.as_bytes(), (0, 0))
    }

    /// Adds a character device with its two numbers.
    pub fn device(&mut self, path: &str, numbers: (u32, u32)) -> Result<()> {
        self.parents(path)?;
        self.entry(path, DEVICE | 0o600, b"", numbers)
    }

    /// Ends the archive and gives back what it was written to.
    pub fn finish(mut self) -> Result<W> {
        self.entry("TRAILER!!!", 0, b"", (0, 0))?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn parents(&mut self, path: &str) -> Result<()> {
        path.rsplit_once('/').map_or(Ok(()), |(folder, _)| self.folder(folder))
    }

    fn entry(&mut self, path: &str, mode: u32, bytes: &[u8], device: (u32, u32)) -> Result<()> {
        let too_long = || std::io::Error::other(format!("{path} is too long for the archive"));
        let size = u32::try_from(bytes.len()).map_err(|_| too_long())?;
        let name = u32::try_from(path.len() + 1).map_err(|_| too_long())?;
        self.entries += 1;
        // Magic, then inode, mode, uid, gid, links, time, size, device, device of the node, length of the name, check.
        let numbers = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name, 0];
        let mut head = b"070701".to_vec();
        for number in numbers {
            write!(head, "{number:08x}")?;
        }
        head.extend_from_slice(path.as_bytes());
        head.push(0);
        head.resize(head.len().next_multiple_of(4), 0);
        self.out.write_all(&head)?;
        self.out.write_all(bytes)?;
        self.out.write_all(&[0; 3][..bytes.len().next_multiple_of(4) - bytes.len()])
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn busybox_lists_and_unpacks_what_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut cpio = Cpio::new(Vec::new());
        cpio.file("init", 0o755, b"abcde").unwrap();
        cpio.file("lib/modules/a b.ko", 0o644, b"").unwrap();
        cpio.file("lib/x", 0o644, &[7; 4097]).unwrap();
        cpio.link("bin", "lib").unwrap();
        cpio.device("dev/console", (5, 1)).unwrap();
        let archive = dir.path().join("archive");
        std::fs::write(&archive, cpio.finish().unwrap()).unwrap();
        let busybox = |words: &[&str]| {
            let mut command = Command::new("busybox");
            command.arg("cpio").args(words).current_dir(dir.path());
            let output = command.stdin(Stdio::from(std::fs::File::open(&archive).unwrap())).output();
            let output = output.unwrap_or_else(|error| panic!("busybox: {error}; `sh xtask/setup.sh test`"));
            assert!(output.status.success(), "{output:?}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let listed = busybox(&["-t"]);
        let names =
            ["init", "lib", "lib/modules", "lib/modules/a b.ko", "lib/x", "bin", "dev", "dev/console"];
        assert_eq!(listed.lines().collect::<Vec<_>>(), names);
        busybox(&["-i", "-d", "init", "lib/x", "bin"]);
        assert_eq!(std::fs::read(dir.path().join("init")).unwrap(), b"abcde");
        assert_eq!(std::fs::read(dir.path().join("lib/x")).unwrap(), [7; 4097]);
        assert_eq!(std::fs::read_link(dir.path().join("bin")).unwrap().to_str(), Some("lib"));
    }
}
