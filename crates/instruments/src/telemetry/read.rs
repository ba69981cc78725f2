//! Files of /proc and /sys that are read again and again: opened once, then read in place.
//!
//! A file that cannot be read at a tick is missing at that tick.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;

use model::{Fault, Unfit};

/// First buffer size; most files fit, larger ones double it.
const FIRST: usize = 4 << 10;
/// Largest file that is read.
const LIMIT: usize = 8 << 20;

/// An open file and its last content.
#[derive(Debug)]
pub struct Kept {
    file: File,
    buffer: Vec<u8>,
}

impl Kept {
    /// `None` when it cannot be opened and read here.
    pub fn open(path: impl AsRef<Path>) -> Option<Kept> {
        let mut kept = Kept { file: File::open(path).ok()?, buffer: vec![0; FIRST] };
        kept.read()?;
        Some(kept)
    }

    /// The file's content now.
    pub fn read(&mut self) -> Option<&[u8]> {
        let mut filled = 0;
        loop {
            let Some(room) = self.buffer.get_mut(filled..).filter(|room| !room.is_empty()) else {
                let larger = self.buffer.len() * 2;
                if larger > LIMIT {
                    return None;
                }
                self.buffer.resize(larger, 0);
                continue;
            };
            match self.file.read_at(room, u64::try_from(filled).ok()?) {
                Ok(0) => return self.buffer.get(..filled),
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    /// The content now, parsed.
    pub fn parse<T>(&mut self, parse: impl FnOnce(&[u8]) -> T) -> Option<T> {
        self.read().map(parse)
    }
}

/// A file that an instrument needs.
#[derive(Debug)]
pub struct Needed {
    path: String,
    file: Kept,
}

impl Needed {
    /// Opens the file. Fails when it cannot be read here.
    pub fn open(path: impl Into<String>) -> Result<Needed, Unfit> {
        let path = path.into();
        match Kept::open(&path) {
            Some(file) => Ok(Needed { path, file }),
            None => Err(Unfit::new(format!("{path} cannot be read"))),
        }
    }

    /// Reads and parses the file. Fails when it cannot be read now.
    pub fn parse<T>(&mut self, parse: impl FnOnce(&[u8]) -> T) -> Result<T, Fault> {
        self.file.parse(parse).ok_or_else(|| Fault::new(format!("{} cannot be read", self.path)))
    }
}

/// The names in a directory, sorted; empty when it cannot be read.
pub fn names(dir: impl AsRef<Path>) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sees_the_content_of_now() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"one").unwrap();
        let mut kept = Kept::open(&path).unwrap();
        assert_eq!(kept.read(), Some(&b"one"[..]));
        let long = vec![b'y'; FIRST * 3 + 1];
        std::fs::write(&path, &long).unwrap();
        assert_eq!(kept.read(), Some(&long[..]));
        std::fs::write(&path, b"").unwrap();
        assert_eq!(kept.read(), Some(&b""[..]));
        assert!(Kept::open(dir.path().join("none")).is_none());
        assert!(Kept::open(dir.path()).is_none());
        assert_eq!(names(dir.path()), ["x"]);
    }

    #[test]
    fn a_file_that_is_needed_is_named_when_it_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x").display().to_string();
        assert_eq!(Needed::open(&path).unwrap_err().why, format!("{path} cannot be read"));
        std::fs::write(&path, b"one").unwrap();
        let mut needed = Needed::open(&path).unwrap();
        assert_eq!(needed.parse(<[u8]>::len), Ok(3));
        std::fs::write(&path, vec![b'y'; LIMIT + 1]).unwrap();
        assert_eq!(needed.parse(<[u8]>::len), Err(Fault::new(format!("{path} cannot be read"))));
    }

    #[test]
    fn files_of_the_kernel_are_whole() {
        let mut kept = Kept::open("/proc/stat").unwrap();
        assert!(kept.read().is_some_and(|bytes| bytes.starts_with(b"cpu") && bytes.ends_with(b"\n")));
        assert!(kept.parse(|bytes| bytes.len()).is_some_and(|len| len > 100));
    }
}
