//! The files of the built-in server, read once at its start. A path that is not among them is answered with 404.
//!
//! Small bodies are kept in memory; larger ones stay in open files. Links are not followed.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use model::tree;

const IN_MEMORY: u64 = 1 << 20;
/// Bytes of bodies that are kept in memory; other bodies stay in their files.
const MEMORY: u64 = 256 << 20;
/// Those of a tree, and the one by which the server is known.
const MOST_FILES: usize = tree::MOST_FILES + 1;
const DEPTH: usize = tree::DEPTH;

/// How the connection goes on after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Kept, as HTTP/1.1 does by default.
    Keep,
    /// Kept, for HTTP/1.0 with `keep-alive`.
    KeepOld,
    Close,
}

#[derive(Debug)]
pub enum Body {
    Memory(Vec<u8>),
    File(File),
}

/// One answer, without what the request decides.
#[derive(Debug)]
pub struct Answer {
    heads: [Vec<u8>; 3],
    pub body: Body,
    pub bytes: u64,
}

impl Answer {
    fn new(status: &str, body: Body, bytes: u64) -> Answer {
        let head = |connection: &str| {
            let kind = "application/octet-stream";
            format!(
                "HTTP/1.1 {status}\r\nServer: builtin\r\nContent-Type: {kind}\r\nContent-Length: {bytes}\r\n{connection}\r\n"
            )
            .into_bytes()
        };
        let heads = [head(""), head("Connection: keep-alive\r\n"), head("Connection: close\r\n")];
        Answer { heads, body, bytes }
    }

    pub fn head(&self, then: Then) -> &[u8] {
        let [keep, keep_old, close] = &self.heads;
        match then {
            Then::Keep => keep,
            Then::KeepOld => keep_old,
            Then::Close => close,
        }
    }
}

/// The answers, by number.
#[derive(Debug)]
pub struct Files {
    answers: Vec<Answer>,
    paths: HashMap<Vec<u8>, usize>,
}

/// Why a request gets no file, in the order of the first answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Bad,
    NotFound,
    Method,
    TooLarge,
    Coding,
}

impl Refusal {
    const ALL: [(Refusal, &str); 5] = [
        (Refusal::Bad, "400 Bad Request"),
        (Refusal::NotFound, "404 Not Found"),
        (Refusal::Method, "405 Method Not Allowed"),
        (Refusal::TooLarge, "413 Content Too Large"),
        (Refusal::Coding, "501 Not Implemented"),
    ];
}

impl Files {
    /// Reads everything under `root`. Fails when a file cannot be read.
    pub fn load(root: &Path) -> Result<Files, String> {
        let refusals =
            Refusal::ALL.iter().map(|(_, status)| Answer::new(status, Body::Memory(Vec::new()), 0));
        let mut files = Files { answers: refusals.collect(), paths: HashMap::new() };
        let mut memory = 0;
        for path in list(root)? {
            let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
            let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            let file = File::open(&path).map_err(failed)?;
            let bytes = file.metadata().map_err(failed)?.len();
            let fits = bytes <= IN_MEMORY && bytes.saturating_add(memory) <= MEMORY;
            let body = if fits {
                memory += bytes;
                Body::Memory(fs::read(&path).map_err(failed)?)
            } else {
                Body::File(file)
            };
            // It may have grown since it was asked for its size.
            let bytes = if let Body::Memory(held) = &body { held.len() as u64 } else { bytes };
            files.paths.insert(tree::url_path(name).into_bytes(), files.answers.len());
            files.answers.push(Answer::new("200 OK", body, bytes));
        }
        Ok(files)
    }

    /// The number of the answer for a path.
    pub fn find(&self, path: &[u8]) -> usize {
        self.paths.get(path).copied().unwrap_or_else(|| Files::refusal(Refusal::NotFound))
    }

    pub fn refusal(refusal: Refusal) -> usize {
        Refusal::ALL.iter().position(|(known, _)| *known == refusal).unwrap_or(0)
    }

    pub fn get(&self, number: usize) -> Option<&Answer> {
        self.answers.get(number)
    }
}

/// The regular files under `root`, to a bounded depth. Fails when a folder cannot be read.
fn list(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut waiting = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let failed = |error: std::io::Error| format!("cannot list {}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && depth < DEPTH {
                waiting.push((entry.path(), depth + 1));
            } else if kind.is_file() {
                found.push(entry.path());
            }
            if found.len() > MOST_FILES {
                return Err(format!("more than {MOST_FILES} files under {}", root.display()));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_path_and_links_are_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/a.txt"), "abc").unwrap();
        fs::write(dir.path().join("big"), vec![7; (IN_MEMORY + 1) as usize]).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).unwrap();
        let files = Files::load(dir.path()).unwrap();
        let answer = files.get(files.find(b"/sub/a.txt")).unwrap();
        assert!(matches!(&answer.body, Body::Memory(body) if body == b"abc"));
        let head = String::from_utf8(answer.head(Then::Close).to_vec()).unwrap();
        assert!(
            head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("Connection: close\r\n\r\n"),
            "{head}"
        );
        assert!(head.contains("Content-Length: 3\r\n"), "{head}");
        let big = files.get(files.find(b"/big")).unwrap();
        assert!(matches!(big.body, Body::File(_)) && big.bytes == IN_MEMORY + 1);
        for not in [&b"/link"[..], b"/../etc/passwd", b"/sub", b"", b"sub/a.txt"] {
            let head = files.get(files.find(not)).unwrap().head(Then::Keep).to_vec();
            assert!(head.starts_with(b"HTTP/1.1 404 "));
        }
        for (refusal, status) in Refusal::ALL {
            let head = files.get(Files::refusal(refusal)).unwrap().head(Then::KeepOld).to_vec();
            assert!(head.starts_with(format!("HTTP/1.1 {status}\r\n").as_bytes()));
        }
        assert!(Files::load(Path::new("/no/such")).unwrap_err().contains("/no/such"));
    }
}
