//! A tar archive (ustar, with GNU's long names) of files, as a stream. Owners and times are left out.

use std::fs::File;
use std::io::{Error, Read, Result};
use std::path::{Path, PathBuf};

use super::tree::ContentFile;

const BLOCK: usize = 512;
/// Bytes of a name in a header.
const NAME: usize = 100;

/// The archive, read from the files as it is sent.
pub(super) struct Archive<'a> {
    folder: PathBuf,
    files: std::slice::Iter<'a, &'a ContentFile>,
    /// Bytes that are given before the next part of the body.
    head: Vec<u8>,
    at: usize,
    body: Option<(File, &'a ContentFile, u64)>,
    is_over: bool,
}

impl<'a> Archive<'a> {
    pub(super) fn new(folder: &Path, files: &'a [&'a ContentFile]) -> Archive<'a> {
        Archive {
            folder: folder.to_owned(),
            files: files.iter(),
            head: Vec::new(),
            at: 0,
            body: None,
            is_over: false,
        }
    }

    /// Begins the next file, or the end of the archive.
    fn next(&mut self) -> Result<()> {
        (self.head, self.at) = (Vec::new(), 0);
        let Some(file) = self.files.next() else {
            self.is_over = true;
            self.head = vec![0; 2 * BLOCK];
            return Ok(());
        };
        let name = file.name.as_bytes();
        if name.len() > NAME {
            let length = name.len() as u64 + 1;
            self.head.extend(header(b"././@LongLink", 0o644, length, b'L'));
            self.head.extend_from_slice(name);
            self.head.push(0);
            self.head.resize(self.head.len().next_multiple_of(BLOCK), 0);
        }
        self.head.extend(header(&name[..name.len().min(NAME)], file.mode, file.size, b'0'));
        self.body = Some((File::open(self.folder.join(&file.name))?, file, file.size));
        Ok(())
    }
}

impl Read for Archive<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            if self.at < self.head.len() {
                let count = into.len().min(self.head.len() - self.at);
                into[..count].copy_from_slice(&self.head[self.at..self.at + count]);
                self.at += count;
                return Ok(count);
            }
            match &mut self.body {
                None if self.is_over => return Ok(0),
                None => self.next()?,
                Some((_, file, 0)) => {
                    let odd = usize::try_from(file.size % BLOCK as u64).unwrap_or(0);
                    (self.head, self.at) = (vec![0; (BLOCK - odd) % BLOCK], 0);
                    self.body = None;
                }
                Some((open, file, left)) => {
                    let most = usize::try_from(*left).unwrap_or(usize::MAX).min(into.len());
                    let count = open.read(&mut into[..most])?;
                    if count == 0 && most > 0 {
                        return Err(Error::other(format!("{} became shorter", file.name)));
                    }
                    *left -= count as u64;
                    return Ok(count);
                }
            }
        }
    }
}

/// The header of a file; its numbers are octal digits.
fn header(name: &[u8], mode: u32, size: u64, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name);
    put(100, format!("{mode:07o}\0").as_bytes());
    put(108, b"0000000\x000000000\0");
    // 8 GiB need a twelfth digit, which takes the place of the end.
    put(124, format!("{size:011o}").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar  \0");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn tar_and_busybox_read_what_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let long = format!("{}/{}", "d".repeat(90), "n".repeat(90));
        std::fs::create_dir(dir.path().join("d".repeat(90))).unwrap();
        for (name, size) in [("-a b $(id)", 0), (long.as_str(), 1), ("x", 512), ("y", 70_001)] {
            std::fs::write(dir.path().join(name), vec![b'q'; size]).unwrap();
        }
        let tree = Tree::read(dir.path()).unwrap();
        let files: Vec<&ContentFile> = tree.files().iter().collect();
        let mut bytes = Vec::new();
        Archive::new(tree.folder(), &files).read_to_end(&mut bytes).unwrap();
        let archive = dir.path().join("archive");
        std::fs::write(&archive, &bytes).unwrap();
        for tool in [&["tar"][..], &["busybox", "tar"]] {
            let to = tempfile::tempdir().unwrap();
            let mut command = Command::new(tool[0]);
            command.args(&tool[1..]).args(["-xopf", "-"]).current_dir(to.path());
            let done = command.stdin(Stdio::from(File::open(&archive).unwrap())).status();
            assert!(
                done.unwrap_or_else(|error| panic!("{tool:?}: {error}; `sh xtask/setup.sh test`")).success()
            );
            let got = Tree::read(to.path()).unwrap();
            assert_eq!(got.files(), tree.files(), "{tool:?}");
        }
    }

    #[test]
    fn a_file_that_becomes_shorter_ends_the_archive_with_an_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("x"), "abc").unwrap();
        let tree = Tree::read(dir.path()).unwrap();
        std::fs::write(dir.path().join("x"), "a").unwrap();
        let files: Vec<&ContentFile> = tree.files().iter().collect();
        let error = Archive::new(tree.folder(), &files).read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("x became shorter"), "{error}");
    }
}
