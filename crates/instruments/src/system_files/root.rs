//! The root directory of a machine's files: `/` for this machine, a folder for a captured one.
//!
//! It reads regular files only, up to a size limit, and reports in words why one could not be read. It follows the
//! links of sysfs but never waits: pipes, sockets and device nodes are refused.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sys::cpu::CpuFacts;

use super::cpuinfo::{self, CpuInfo};

/// Largest file; /proc/cpuinfo of 1,024 CPUs has about 2 MB.
const LIMIT: u64 = 8 << 20;

/// The reason for a fact that only root can read.
pub const NEEDS_ROOT: &str = "needs root: run with sudo";
/// The reason for a fact whose file does not exist.
pub const ABSENT: &str = "this system does not report it";
/// The root of a scan.
#[derive(Clone, Debug)]
pub struct Root {
    prefix: PathBuf,
    /// The processor's own description; `None` for captured trees, and if it gives none.
    pub cpu: Option<CpuFacts>,
    /// The directory whose file system holds the store and the disk benchmarks.
    pub dir: Option<PathBuf>,
    /// True for the running machine.
    pub live: bool,
    cpuinfo: OnceLock<CpuInfo>,
}

impl Root {
    /// The running machine.
    pub fn live() -> Root {
        Root {
            prefix: PathBuf::from("/"),
            cpu: sys::cpu::facts(),
            dir: None,
            live: true,
            cpuinfo: OnceLock::new(),
        }
    }

    /// A captured tree.
    pub fn at(prefix: impl Into<PathBuf>) -> Root {
        Root { prefix: prefix.into(), cpu: None, dir: None, live: false, cpuinfo: OnceLock::new() }
    }

    #[must_use]
    pub fn with_dir(mut self, dir: impl Into<PathBuf>) -> Root {
        self.dir = Some(dir.into());
        self
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.prefix.join(path.trim_start_matches('/'))
    }

    /// A file's bytes. Fails with the reason why it cannot be read.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        let path = self.path(path);
        let kind = fs::metadata(&path).map_err(|error| reason(&error))?;
        if !kind.is_file() {
            return Err("not a regular file".to_owned());
        }
        let file = fs::File::open(&path).map_err(|error| reason(&error))?;
        let mut bytes = Vec::new();
        file.take(LIMIT).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
        Ok(bytes)
    }

    /// /proc/cpuinfo, read once; empty when it cannot be read.
    pub fn cpuinfo(&self) -> &CpuInfo {
        self.cpuinfo.get_or_init(|| {
            self.bytes("/proc/cpuinfo").map(|bytes| cpuinfo::parse(&bytes)).unwrap_or_default()
        })
    }

    /// A file's text without surrounding blanks and NULs. Fails with the reason why it cannot be read.
    pub fn read(&self, path: &str) -> Result<String, String> {
        let bytes = self.bytes(path)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
    }

    /// The text of a file that may be missing or empty.
    pub fn maybe(&self, path: &str) -> Option<String> {
        self.read(path).ok().filter(|text| !text.is_empty())
    }

    /// A whole number in a file.
    pub fn number(&self, path: &str) -> Option<i64> {
        self.maybe(path)?.parse().ok()
    }

    /// Names in a directory, `eth2` before `eth10`; empty when it cannot be read.
    pub fn list(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_by_cached_key(|name| natural(name));
        names
    }

    /// The last part of a link's target.
    pub fn link(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// The path with all links followed, relative to the root; `None` when it leads out of the root.
    pub fn resolve(&self, path: &str) -> Option<String> {
        let full = fs::canonicalize(self.path(path)).ok()?;
        let prefix = fs::canonicalize(&self.prefix).ok()?;
        Some(full.strip_prefix(prefix).ok()?.to_string_lossy().into_owned())
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The prefix itself, for errors and tests.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ABSENT.to_owned(),
        ErrorKind::PermissionDenied => NEEDS_ROOT.to_owned(),
        ErrorKind::InvalidInput => "the driver reports none".to_owned(),
        _ => error.to_string(),
    }
}

/// Sort key: text and numbers in turn.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts: Vec<(String, u64)> = vec![(String::new(), 0)];
    let mut in_number = false;
    for c in name.chars() {
        match (c.to_digit(10), parts.last_mut()) {
            (Some(digit), Some(last)) => {
                last.1 = last.1.saturating_mul(10).saturating_add(u64::from(digit));
                in_number = true;
            }
            (None, Some(last)) if !in_number => last.0.push(c),
            _ => {
                parts.push((c.to_string(), 0));
                in_number = false;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_people_count() {
        let mut names = ["eth10", "eth2", "eth1", "cpu0", "a1b10", "a1b9"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["a1b9", "a1b10", "cpu0", "eth1", "eth2", "eth10"]);
    }

    #[test]
    fn reads_say_why_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), " 7\n\0").unwrap();
        let root = Root::at(dir.path());
        assert_eq!(root.read("/x"), Ok("7".to_owned()));
        assert_eq!(root.number("x"), Some(7));
        assert_eq!(root.read("/y"), Err(ABSENT.to_owned()));
        assert_eq!(root.read("/"), Err("not a regular file".to_owned()));
    }
}
