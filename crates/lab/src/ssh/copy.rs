//! Files to and from many hosts, over the connections that commands use.
//!
//! A file lies under another name until it is whole and its size and hash are right, so nothing is ever half there. The
//! script that does so on the host is constant: folders and names reach it on its stdin, and no shell reads them.

use std::fs::File;
use std::io::{Cursor, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::command::{Base, Call, Exit};
use super::failure::{Failure, printable};
use super::host::Host;
use super::login::{Options, Reach};
use super::sent::Sent;
use super::session::{Output, Sink};
use super::sockets::Sockets;
use crate::fan_out::each;
use crate::sha256::Sha256;
use crate::stop::Stop;

/// Reads folder, name, mode, size and hash, one a line; then the file.
const PUSH: &str = "sh -c '\
    t=; c() { test -z \"$t\" || rm -f -- \"$t\"; }; trap c EXIT; trap \"exit 97\" HUP INT PIPE TERM; \
    IFS= read -r d; IFS= read -r n; IFS= read -r m; IFS= read -r z; IFS= read -r s; \
    case $d in \"~\") d=$HOME;; \"~/\"*) d=$HOME/${d#??};; -*) d=./$d;; esac; \
    unset CDPATH; cd \"$d\" || exit 91; \
    test -d \"$n\" && exit 96; \
    t=.$n.boxscore.$$; \
    cat > \"$t\" || exit 92; \
    test \"$(wc -c < \"$t\")\" -eq \"$z\" || exit 93; \
    v=size; \
    if command -v sha256sum > /dev/null; then \
    h=$(sha256sum < \"$t\"); test \"${h%% *}\" = \"$s\" || exit 94; v=sha256; fi; \
    chmod \"$m\" \"$t\" && mv -f -- \"$t\" \"$n\" || exit 95; \
    t=; echo boxscore-pushed $v'";

/// Reads a path; prints a line with size and hash (`-` without a program for it), then the file. A file that grows is
/// read as long as it was.
const PULL: &str = "sh -c '\
    IFS= read -r f; \
    case $f in \"~/\"*) f=$HOME/${f#??};; -*) f=./$f;; esac; \
    test -f \"$f\" || exit 91; \
    z=$(wc -c < \"$f\") || exit 92; \
    s=-; \
    if command -v sha256sum > /dev/null; then s=$(head -c $z < \"$f\" | sha256sum); fi; \
    echo boxscore-file $z ${s%% *}; \
    exec head -c $z < \"$f\"'";

/// How a copy was held against the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    Sha256,
    /// By its size alone: the host has no program that hashes.
    Size,
}

impl Verified {
    pub const fn word(self) -> &'static str {
        match self {
            Verified::Sha256 => "sha256",
            Verified::Size => "size",
        }
    }

    fn from_word(word: &str) -> Option<Verified> {
        [Verified::Sha256, Verified::Size].into_iter().find(|one| one.word() == word)
    }
}

/// The result of copying to or from one host.
#[derive(Clone, Debug)]
pub struct Copied {
    pub index: usize,
    pub host: Host,
    /// How all files were verified; the weakest way of them.
    pub result: Result<Verified, Failure>,
    /// Files that are whole at their place.
    pub files: usize,
    pub bytes: u64,
    /// The files of a tree that were sent; `None` for single files.
    pub sent: Option<Sent>,
    pub seconds: f64,
}

/// A path that is not copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    #[error("{}: {why}", .path.escape_debug())]
    Local { path: String, why: String },
    #[error("`{}` names no file: its last part must be a name", .0.escape_debug())]
    Nameless(String),
    #[error("`{}` holds a line break", .0.escape_debug())]
    Lines(String),
    #[error("two files are called {}", .0.escape_debug())]
    Twice(String),
}

/// A file of this side, with what it will be verified by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalFile {
    path: PathBuf,
    name: String,
    size: u64,
    mode: u32,
    sha256: String,
}

impl LocalFile {
    /// Reads and hashes a file. Fails for what cannot be read or is no plain file, and for a name with a line break.
    pub fn read(path: &Path) -> Result<LocalFile, BadPath> {
        let shown = || path.display().to_string();
        let wrong = |error: std::io::Error| BadPath::Local { path: shown(), why: error.to_string() };
        let name =
            path.file_name().and_then(|name| name.to_str()).ok_or_else(|| BadPath::Nameless(shown()))?;
        one_line(name)?;
        let mut file = File::open(path).map_err(wrong)?;
        let found = file.metadata().map_err(wrong)?;
        if !found.is_file() {
            return Err(BadPath::Local { path: shown(), why: "it is no plain file".to_owned() });
        }
        let mut hash = Sha256::new();
        let mut chunk = vec![0; 64 << 10];
        loop {
            match file.read(&mut chunk).map_err(wrong)? {
                0 => break,
                count => hash.add(&chunk[..count]),
            }
        }
        let (size, mode) = (found.len(), found.mode() & 0o777);
        Ok(LocalFile { path: path.to_owned(), name: name.to_owned(), size, mode, sha256: hash.digits() })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its hash, as small hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The same under another name and with another mode, where it goes.
    pub(super) fn sent_as(self, name: String, mode: u32) -> LocalFile {
        LocalFile { name, mode, ..self }
    }
}

pub(super) fn one_line(text: &str) -> Result<(), BadPath> {
    if text.contains(['\n', '\0']) { Err(BadPath::Lines(text.to_owned())) } else { Ok(()) }
}

/// The name that a path of a host gets on this side. Fails where its last part is no name.
fn last_part(path: &str) -> Result<&str, BadPath> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if matches!(name, "" | "." | ".." | "~") { Err(BadPath::Nameless(path.to_owned())) } else { Ok(name) }
}

fn twice<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), BadPath> {
    let mut seen = std::collections::BTreeSet::new();
    match names.into_iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(BadPath::Twice(name.to_owned())),
        None => Ok(()),
    }
}

/// Files for a folder of hosts, checked.
#[derive(Clone, Debug)]
pub struct Push {
    files: Vec<LocalFile>,
    folder: String,
}

impl Push {
    /// Fails for two files of one name, and for a folder with a line break.
    pub fn new(files: Vec<LocalFile>, folder: &str) -> Result<Push, BadPath> {
        one_line(folder)?;
        twice(files.iter().map(|file| file.name.as_str()))?;
        let folder = if folder.is_empty() { "." } else { folder };
        Ok(Push { files, folder: folder.to_owned() })
    }

    /// Copies the files to each host. Fails when this machine cannot start a thread.
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
            let one = |file: &LocalFile| push(&base.reach(), host, file, &self.folder);
            copied(&base.reach(), index, host, self.files.iter().map(one))
        };
        each(hosts, options.width, work, done)
    }
}

/// Paths of hosts for a folder of this side, checked.
#[derive(Clone, Debug)]
pub struct Pull {
    /// Each with the name that it gets here.
    paths: Vec<(String, String)>,
    folder: PathBuf,
}

impl Pull {
    /// Fails for a path whose last part is no name, and for two of one name.
    pub fn new(paths: &[String], folder: &Path) -> Result<Pull, BadPath> {
        paths.iter().try_for_each(|path| one_line(path))?;
        let named = paths.iter().map(|path| last_part(path).map(|name| (path.clone(), name.to_owned())));
        let paths: Vec<(String, String)> = named.collect::<Result<_, _>>()?;
        twice(paths.iter().map(|(_, name)| name.as_str()))?;
        Ok(Pull { paths, folder: folder.to_owned() })
    }

    /// Copies the files of each host into a folder of its name. Fails when this machine cannot start a thread.
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
            let folder = self.folder.join(host.to_string());
            let one = |(path, name): &(String, String)| pull(&base.reach(), host, path, &folder, name);
            copied(&base.reach(), index, host, self.paths.iter().map(one))
        };
        each(hosts, options.width, work, done)
    }
}

/// Does the work of a host, and ends the login there unless it is kept. Also the seconds that it took.
pub(super) fn on_host<T>(reach: &Reach<'_>, host: &Host, work: impl FnOnce() -> T) -> (T, f64) {
    let begun_ns = sys::clock::now_ns();
    let done = work();
    if reach.options.keep.is_zero() {
        reach.close(host);
    }
    (done, sys::clock::now_ns().saturating_sub(begun_ns) as f64 / 1e9)
}

/// Puts the copies of a host together; the first that fails is the last.
fn copied(
    reach: &Reach<'_>,
    index: usize,
    host: &Host,
    copies: impl Iterator<Item = Result<(Verified, u64), Failure>>,
) -> Copied {
    let ((files, bytes, result), seconds) = on_host(reach, host, || {
        let (mut files, mut bytes, mut result) = (0, 0, Ok(Verified::Sha256));
        for copy in copies {
            match copy {
                Ok((verified, size)) => {
                    files += 1;
                    bytes += size;
                    if verified == Verified::Size {
                        result = Ok(Verified::Size);
                    }
                }
                Err(failure) => {
                    result = Err(failure);
                    break;
                }
            }
        }
        (files, bytes, result)
    });
    Copied { index, host: host.clone(), result, files, bytes, sent: None, seconds }
}

pub(super) fn push(
    reach: &Reach<'_>,
    host: &Host,
    file: &LocalFile,
    folder: &str,
) -> Result<(Verified, u64), Failure> {
    let LocalFile { path, name, size, mode, sha256 } = file;
    let head = format!("{folder}\n{name}\n{mode:o}\n{size}\n{sha256}\n");
    let not_copied = |said: String| Failure::Copy { said: format!("{name}: {said}") };
    let body = File::open(path).map_err(|error| not_copied(format!("on this side: {error}")))?;
    let mut source = Cursor::new(head.into_bytes()).chain(body.take(*size));
    let (mut stdout, mut stderr) = (Output::default(), Output::default());
    let mut call = Call { command: PUSH, feed: Some(&mut source), stdout: &mut stdout, stderr: &mut stderr };
    let exit = call.make(reach, host).0?;
    let text = String::from_utf8_lossy(&stdout.bytes);
    let word = text.lines().find_map(|line| line.strip_prefix("boxscore-pushed "));
    match (exit, word.and_then(Verified::from_word)) {
        (Exit::Code(0), Some(verified)) => Ok((verified, *size)),
        (Exit::Code(code), _) => {
            let why = match code {
                91 => format!("its folder {} cannot be entered", printable(folder.as_bytes())),
                92 => "it could not be written".to_owned(),
                93 => "it did not arrive whole".to_owned(),
                94 => "its hash differs there; did it change meanwhile?".to_owned(),
                95 => "it could not be put at its place".to_owned(),
                96 => "a folder has its name there".to_owned(),
                97 => "it was stopped there".to_owned(),
                _ => format!("the script ended with exit code {code}"),
            };
            Err(not_copied(with_stderr(why, &stderr)))
        }
        (Exit::Signal, _) => Err(not_copied(with_stderr("the script was killed".to_owned(), &stderr))),
    }
}

fn with_stderr(why: String, stderr: &Output) -> String {
    match printable(&stderr.bytes).as_str() {
        "" => why,
        said => format!("{why} ({said})"),
    }
}

fn pull(
    reach: &Reach<'_>,
    host: &Host,
    path: &str,
    folder: &Path,
    name: &str,
) -> Result<(Verified, u64), Failure> {
    let shown = printable(path.as_bytes());
    let not_copied = |said: String| Failure::Copy { said: format!("{shown}: {said}") };
    let mut source = Cursor::new(format!("{path}\n").into_bytes());
    let mut arriving = Arriving::Head(Vec::new());
    let mut stderr = Output::default();
    let mut place = Place { arriving: &mut arriving, path: folder.join(name) };
    let mut call = Call { command: PULL, feed: Some(&mut source), stdout: &mut place, stderr: &mut stderr };
    match call.make(reach, host).0? {
        Exit::Code(0) => arriving.finish().map_err(not_copied),
        Exit::Code(91) => Err(not_copied("there is no such file there".to_owned())),
        Exit::Code(code) => {
            Err(not_copied(with_stderr(format!("it could not be read: exit code {code}"), &stderr)))
        }
        Exit::Signal => Err(not_copied(with_stderr("the script was killed".to_owned(), &stderr))),
    }
}

/// Bytes that may come before the head of a file: what a shell prints.
const MOST_GREETING: usize = 64 << 10;

/// A file that comes from a host.
enum Arriving {
    /// Its head has not come.
    Head(Vec<u8>),
    Body(Box<Body>),
}

struct Body {
    file: sys::files::NewFile,
    hash: Sha256,
    left: u64,
    size: u64,
    sha256: Option<String>,
}

/// Where an arriving file goes.
struct Place<'a> {
    arriving: &'a mut Arriving,
    path: PathBuf,
}

impl Sink for Place<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let begun = match &mut *self.arriving {
            Arriving::Body(body) => body.take(bytes).map(|()| None),
            Arriving::Head(so_far) => {
                so_far.extend_from_slice(bytes);
                match head(so_far) {
                    Some((size, sha256, rest)) => {
                        Body::begin(&self.path, size, sha256).and_then(|mut body| {
                            body.take(&so_far[rest..])?;
                            Ok(Some(body))
                        })
                    }
                    None if so_far.len() > MOST_GREETING => Err("its shell prints without end".to_owned()),
                    None => Ok(None),
                }
            }
        };
        if let Some(body) = begun.map_err(|said| Failure::Copy { said })? {
            *self.arriving = Arriving::Body(Box::new(body));
        }
        Ok(())
    }
}

/// Size, hash and the place behind the head, once it has come.
fn head(bytes: &[u8]) -> Option<(u64, Option<String>, usize)> {
    const MARK: &[u8] = b"boxscore-file ";
    let start = bytes.windows(MARK.len()).position(|window| window == MARK)?;
    let length = bytes[start..].iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&bytes[start + MARK.len()..start + length]).ok()?;
    let mut words = line.split_whitespace();
    let size = words.next()?.parse().ok()?;
    let sha256 = words.next().filter(|word| *word != "-").map(str::to_owned);
    Some((size, sha256, start + length + 1))
}

impl Body {
    fn begin(path: &Path, size: u64, sha256: Option<String>) -> Result<Body, String> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let file = sys::files::NewFile::create(path, 0o666).map_err(|error| error.to_string())?;
        Ok(Body { file, hash: Sha256::new(), left: size, size, sha256 })
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(count).ok_or("more came than its size")?;
        self.hash.add(bytes);
        self.file.append(bytes).map_err(|error| error.to_string())
    }
}

impl Arriving {
    /// Verifies what came and gives it its name.
    fn finish(self) -> Result<(Verified, u64), String> {
        let Arriving::Body(body) = self else { return Err("nothing came".to_owned()) };
        let Body { file, hash, left, size, sha256 } = *body;
        if left > 0 {
            return Err(format!("{left} of its {size} bytes did not come"));
        }
        let verified = match sha256 {
            Some(wanted) if wanted != hash.digits() => {
                return Err("its hash differs here; did it change meanwhile?".to_owned());
            }
            Some(_) => Verified::Sha256,
            None => Verified::Size,
        };
        file.finish().map_err(|error| error.to_string())?;
        Ok((verified, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &Path) -> PathBuf {
        folder.join("h").join("f")
    }

    fn arrive(folder: &Path, chunks: &[&[u8]]) -> Result<(Verified, u64), String> {
        let mut arriving = Arriving::Head(Vec::new());
        let mut to = Place { arriving: &mut arriving, path: place(folder) };
        for chunk in chunks {
            to.take(chunk).map_err(|failure| failure.to_string())?;
        }
        arriving.finish()
    }

    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let head = format!("boxscore-file 3 {hash}\n");
        let left = || std::fs::read_dir(folder.path().join("h")).map_or(0, Iterator::count);
        for (chunks, says) in [
            (vec![&b"Welcome\n"[..]], "nothing came"),
            (vec![head.as_bytes(), b"ab"], "1 of its 3 bytes did not come"),
            (vec![head.as_bytes(), b"abx"], "its hash differs here"),
            (vec![head.as_bytes(), b"abcd"], "more came than its size"),
        ] {
            let error = arrive(folder.path(), &chunks).unwrap_err();
            assert!(error.contains(says), "{error}");
            assert_eq!(left(), 0, "{says}");
        }
        let parts = [&b"Welcome\nboxscore-"[..], &head.as_bytes()[9..], b"ab", b"c"];
        assert_eq!(arrive(folder.path(), &parts), Ok((Verified::Sha256, 3)));
        assert_eq!(std::fs::read(place(folder.path())).unwrap(), b"abc");
        assert_eq!(arrive(folder.path(), &[b"boxscore-file 0 -\n"]), Ok((Verified::Size, 0)));
        assert_eq!(left(), 1);
    }

    #[test]
    fn no_path_escapes() {
        for (path, error) in [
            ("/etc/..", true),
            ("..", true),
            ("a/.", true),
            ("dir/", true),
            ("~", true),
            ("a\nb", true),
            ("../a", false),
            ("$(id)", false),
        ] {
            assert_eq!(Pull::new(&[path.to_owned()], Path::new(".")).is_err(), error, "{path}");
        }
        let twice = ["/a/x".to_owned(), "/b/x".to_owned()];
        assert!(Pull::new(&twice, Path::new(".")).unwrap_err().to_string().contains("two files"));
        assert!(Push::new(Vec::new(), "a\nb").is_err());
        assert!(LocalFile::read(Path::new("/")).is_err());
        assert!(LocalFile::read(Path::new("/nowhere")).unwrap_err().to_string().contains("/nowhere"));
        assert!(LocalFile::read(Path::new("/dev/null")).unwrap_err().to_string().contains("no plain file"));
    }

    #[test]
    fn the_scripts_are_one_word_for_every_shell() {
        for script in [PUSH, PULL] {
            let inner = script.strip_prefix("sh -c '").and_then(|rest| rest.strip_suffix('\'')).unwrap();
            assert!(!inner.contains(['\'', '\n', '!', '\\']), "{inner}");
        }
    }
}
