//! Process groups, control groups and private folders that never outlive this program, not even a `kill -9` of it.
//!
//! Each group that is started here is written into a file in memory that a guard shares: a child in a group of its own
//! that holds the write end of a pipe. When nobody can read that pipe any more, because this program ended in whatever
//! way, the guard reads the file and kills every group in it that was not struck out, then removes the folders of
//! their control groups, which are empty then, and their private folders. Processes that left their group (`setsid`)
//! are reached only where they carry the mark of such a folder (`marked`). It sleeps until then, so that starting and
//! ending a group costs no other process any time.
//!
//! A server is started so that it dies with this program (PR_SET_PDEATHSIG), which covers the moment before the guard
//! knows its group. A command of the user's is started in the cheaper way that cannot do so (`posix_spawn`): its
//! error output, a pipe of its own, is written down first, and the guard finds by it who holds that pipe.
//!
//! Who kills this program and its guard in one moment leaves the kernel alone to act: the leader of a server's group
//! dies with its parent, its own children do not, since that setting is not inherited, and commands go on. Workers of
//! nginx or httpd may stay then, with their port and folder; a study's port is a free one, so that the next study does
//! not meet them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, PipeReader, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, getpgid};
use sys::process::{Exit, Interest, ProcessGroup, Start, poll, signal_group};

/// The same number on every Linux.
const SIGKILL: i32 = 9;

/// A control group can be removed when the last of its processes is gone, which takes the kernel a moment.
const LOOKS: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

mod contained;
mod leaving;
mod marked;

pub use contained::{CONTAINER, Contained};
use contained::{container_of, remove_container};
pub use leaving::{SCRIPT, leave};
pub use marked::{MARK, end_marked, marked};

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static BOOK: Mutex<Book> = Mutex::new(Book { wards: Wards::new(), guard: None });

/// Processes and folders that must not outlive this program.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wards {
    groups: BTreeSet<i32>,
    /// Of control groups.
    folders: BTreeSet<PathBuf>,
    /// Private folders, with what is in them.
    places: BTreeSet<PathBuf>,
    /// Inodes of the error outputs of commands that are being started, whose groups are not known yet.
    outputs: BTreeSet<u64>,
    /// Containers of docker and podman, which are no children of who started them: `podman NAME`.
    containers: BTreeSet<String>,
}

/// How the names of private folders begin: the guard removes no other.
pub const PRIVATE: &str = ".boxscore-server-";

/// The wards at present, and the guard that knows of them.
#[derive(Debug)]
struct Book {
    wards: Wards,
    guard: Option<Guard>,
}

#[derive(Debug)]
struct Guard {
    group: ProcessGroup,
    /// Read by the guard when this program has ended: lines of [`Wards::note`].
    file: File,
    bytes: usize,
    /// Its other end is the guard's output. The kernel closes this one when this program ends, and no child of ours
    /// inherits it.
    _life: PipeReader,
}

/// Bytes of the file from which on it is begun anew when there is nothing to guard.
const LONG: usize = 64 << 10;

/// Names the program that acts as the guard when its only argument is `guard`: it must call [`serve`] with its input
/// and output. The first call counts.
pub fn set_program(program: impl Into<PathBuf>) {
    // A second call finds the first one's choice, as it says above.
    let _first_stays = PROGRAM.set(program.into());
}

/// Fails, with the reason, when groups cannot be started here.
pub fn available() -> Result<(), String> {
    match PROGRAM.get() {
        Some(_) => Ok(()),
        None => Err("this program has no guard that would end what it starts".to_owned()),
    }
}

/// That program: it also acts as other children of ours.
pub(crate) fn program() -> Option<&'static PathBuf> {
    PROGRAM.get()
}

/// The guard's whole life: waits until nobody can read `life`, the write end of a pipe, then reads `file` and ends what
/// is left. Its lines are `+` or `-` and PGID, control group, private folder (after `=`) or the inode of an error
/// output (after `?`). Fails when it cannot wait or read.
pub fn serve(file: impl AsFd, life: impl AsFd) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("the guard cannot read its file: {error}");
    while !poll(&[Interest::End(life.as_fd())], None).map_err(|error| told(&error))?[0].closed {}
    let mut file = File::from(file.as_fd().try_clone_to_owned().map_err(|error| told(&error))?);
    let mut text = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut text)).map_err(|error| told(&error))?;
    let mut wards = Wards::default();
    text.split(|byte| *byte == b'\n').for_each(|line| wards.note(line));
    wards.end();
    Ok(())
}

impl Wards {
    const fn new() -> Wards {
        Wards {
            groups: BTreeSet::new(),
            folders: BTreeSet::new(),
            places: BTreeSet::new(),
            outputs: BTreeSet::new(),
            containers: BTreeSet::new(),
        }
    }

    fn is_empty(&self) -> bool {
        *self == Wards::new()
    }

    fn note(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let number = |digits: &str| digits.parse::<i32>().ok().filter(|pgid| *pgid > 1);
        let folder = |path: &str| path.starts_with('/').then(|| PathBuf::from(path));
        let (sign, name) = text.split_at_checked(1).unwrap_or_default();
        let place = name.strip_prefix('=').and_then(folder).filter(|path| is_private(path));
        if let Some(place) = place {
            self.places.remove(&place);
            if sign == "+" {
                self.places.insert(place);
            }
            return;
        }
        if let Some(inode) = name.strip_prefix('?').and_then(|digits| digits.parse().ok()) {
            match sign {
                "+" => drop(self.outputs.insert(inode)),
                _ => drop(self.outputs.remove(&inode)),
            }
            return;
        }
        if let Some(container) = name.strip_prefix('!').filter(|text| container_of(text).is_some()) {
            match sign {
                "+" => drop(self.containers.insert(container.to_owned())),
                _ => drop(self.containers.remove(container)),
            }
            return;
        }
        match (sign, number(name), folder(name)) {
            ("+", Some(pgid), _) => drop(self.groups.insert(pgid)),
            ("-", Some(pgid), _) => drop(self.groups.remove(&pgid)),
            ("+", None, Some(folder)) => drop(self.folders.insert(folder)),
            ("-", None, Some(folder)) => drop(self.folders.remove(&folder)),
            _ => {}
        }
    }

    /// The lines from which a guard learns of them.
    fn lines(&self) -> String {
        let groups = self.groups.iter().map(|pgid| format!("+{pgid}\n"));
        let folders = self.folders.iter().map(|folder| format!("+{}\n", folder.display()));
        let places = self.places.iter().map(|place| format!("+={}\n", place.display()));
        let outputs = self.outputs.iter().map(|inode| format!("+?{inode}\n"));
        let containers = self.containers.iter().map(|container| format!("+!{container}\n"));
        groups.chain(folders).chain(places).chain(outputs).chain(containers).collect()
    }

    fn end(&self) {
        kill(&self.groups);
        kill(&self.outputs.iter().flat_map(|inode| holders(*inode)).collect());
        self.containers.iter().for_each(|container| remove_container(container));
        for folder in &self.folders {
            // There is nobody to tell of a failure.
            let _removed = remove(folder);
        }
        self.places.iter().for_each(|place| clear(place));
    }
}

fn is_private(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PRIVATE))
}

/// Ends what carries the mark of a private folder, and removes it; who was killed just now may write to it a moment.
fn clear(place: &Path) {
    end_marked(place);
    let _nobody_to_tell = leave(place);
    for _ in 0..LOOKS {
        match std::fs::remove_dir_all(place) {
            Ok(()) => return,
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            // One that cannot be removed is left to the next run here.
            Err(error) if error.kind() != ErrorKind::DirectoryNotEmpty => return,
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// The groups of processes whose error output is the pipe with this inode.
fn holders(inode: u64) -> BTreeSet<i32> {
    let pipe = PathBuf::from(format!("pipe:[{inode}]"));
    // Without /proc nobody can be found, and there is nobody to tell.
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter(|entry| std::fs::read_link(entry.path().join("fd/2")).is_ok_and(|to| to == pipe))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
        .filter_map(|pid| getpgid(Some(pid)).ok())
        .map(|pgid| pgid.as_raw_nonzero().get())
        .collect()
}

fn kill(groups: &BTreeSet<i32>) {
    for pgid in groups {
        // A group that is gone is what was wanted, and there is nobody to tell of another failure.
        let _gone = signal_group(*pgid, SIGKILL);
    }
}

/// Removes the folder of a control group when its last process is gone.
fn remove(folder: &Path) -> Result<(), String> {
    for look in 1.. {
        match std::fs::remove_dir(folder) {
            Ok(()) => break,
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(error) if error.kind() == ErrorKind::ResourceBusy && look < LOOKS => {
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(format!("cannot remove {}: {error}", folder.display())),
        }
    }
    Ok(())
}

fn book() -> MutexGuard<'static, Book> {
    BOOK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// Tells the guard; starts one if there is none or it has died.
    fn tell(&mut self, line: &str) -> Result<(), String> {
        let is_idle = self.wards.is_empty();
        if let Some(guard) = &mut self.guard
            && matches!(guard.group.try_wait(), Ok(None))
            && guard.note(line, is_idle).is_ok()
        {
            return Ok(());
        }
        let mut guard = Guard::start()?;
        let known = self.wards.lines();
        guard
            .note(&format!("{known}{line}"), false)
            .map_err(|error| format!("cannot tell the guard: {error}"))?;
        self.guard = Some(guard);
        Ok(())
    }

    /// Tells a guard more that was told something just now, in the fewest steps: the clock of a command runs.
    fn tell_more(&mut self, line: &str) -> Result<(), String> {
        match self.guard.as_mut().map(|guard| guard.note(line, false)) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => self.tell(line),
        }
    }

    fn add(&mut self, pgid: i32) -> Result<(), String> {
        self.tell(&format!("+{pgid}\n"))?;
        self.wards.groups.insert(pgid);
        Ok(())
    }

    fn remove(&mut self, pgid: i32) {
        if self.wards.groups.remove(&pgid) {
            // Without its guard the next start makes a new one, which hears of living groups only.
            let _told = self.tell(&format!("-{pgid}\n"));
        }
    }
}

impl Guard {
    fn start() -> Result<Guard, String> {
        let program = PROGRAM.get().ok_or("no guard program is set")?;
        let failed = |error: &dyn std::fmt::Display| format!("cannot start a guard: {error}");
        let file = memfd_create("boxscore-guard", MemfdFlags::CLOEXEC).map_err(|error| failed(&error))?;
        let (life, other) = std::io::pipe().map_err(|error| failed(&error))?;
        let shared = file.try_clone().map_err(|error| failed(&error))?;
        let mut command = Command::new(program);
        command.arg("guard").stdin(shared).stdout(other).stderr(Stdio::null());
        let group = ProcessGroup::spawn(command, Start::default()).map_err(|error| failed(&error))?;
        Ok(Guard { group, file: File::from(file), bytes: 0, _life: life })
    }

    /// Writes lines; begins the file anew where it is long and tells of nothing.
    fn note(&mut self, lines: &str, is_idle: bool) -> std::io::Result<()> {
        if is_idle && self.bytes > LONG {
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.bytes = 0;
        }
        self.bytes = self.bytes.saturating_add(lines.len());
        self.file.write_all(lines.as_bytes())
    }
}

/// The folder of a control group, made new; it goes when this is dropped, or with this program.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    removed: bool,
}

impl Folder {
    /// Makes the folder. Fails when its path is not absolute or not a line of text, or when it cannot be made.
    pub fn make(path: &Path) -> Result<Folder, String> {
        let name = path.to_str().filter(|name| name.starts_with('/') && !name.contains('\n'));
        let name = name.ok_or_else(|| format!("{} is no name for a control group", path.display()))?;
        let mut book = book();
        // The guard must know it before it is there.
        book.tell(&format!("+{name}\n"))?;
        std::fs::create_dir(path).map_err(|error| {
            let _told = book.tell(&format!("-{name}\n"));
            format!("cannot make {name}: {error}")
        })?;
        book.wards.folders.insert(path.to_owned());
        Ok(Folder { path: path.to_owned(), removed: false })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder once its processes are gone, as dropping does. Fails when it cannot be removed.
    pub fn remove(mut self) -> Result<(), String> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), String> {
        if self.removed {
            return Ok(());
        }
        // One that cannot be removed now is left to the guard.
        remove(&self.path)?;
        self.removed = true;
        let mut book = book();
        if book.wards.folders.remove(&self.path) {
            let _told = book.tell(&format!("-{}\n", self.path.display()));
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A drop has nobody to tell; the guard tries again.
        let _left_to_the_guard = self.clear();
    }
}

/// A private folder that the guard knows of.
#[derive(Debug)]
pub struct Private {
    path: PathBuf,
}

impl Private {
    /// Tells the guard of a folder that is about to be made; `None` where the guard cannot watch over it. Fails when
    /// the guard is gone.
    pub fn tell(path: &Path) -> Result<Option<Private>, String> {
        let name = path.to_str().filter(|name| name.starts_with('/') && !name.contains('\n'));
        let Some(name) = name.filter(|_| is_private(path) && available().is_ok()) else { return Ok(None) };
        let mut book = book();
        book.tell(&format!("+={name}\n"))?;
        book.wards.places.insert(path.to_owned());
        Ok(Some(Private { path: path.to_owned() }))
    }

    /// It is gone, or was never made. Who drops this instead leaves the folder to the guard.
    pub fn forget(self) {
        let mut book = book();
        if book.wards.places.remove(&self.path) {
            let _told = book.tell(&format!("-={}\n", self.path.display()));
        }
    }
}

/// A child that leads a process group which dies with this program. Dropping it kills the group.
#[derive(Debug)]
pub struct Guarded {
    group: ProcessGroup,
}

impl Guarded {
    /// Starts `command`. Its leader also dies with the calling thread, which covers the moment before the guard knows.
    /// Fails when it cannot be started or watched.
    pub fn spawn(command: Command, start: Start) -> Result<Guarded, String> {
        available()?;
        let mut book = book();
        // The guard must run before there is something to guard.
        book.tell("")?;
        let start = Start { die_with_parent: true, ..start };
        let group = ProcessGroup::spawn(command, start).map_err(|error| error.to_string())?;
        book.add(group.pgid())?;
        Ok(Guarded { group })
    }

    /// Starts `command` with `stderr`, the write end of a pipe that nobody else writes to, as its error output. It
    /// costs less than [`Guarded::spawn`], and tells when it began, by the clock of this program. Fails as that does.
    pub fn spawn_cheaply(mut command: Command, stderr: OwnedFd) -> Result<(Guarded, u64), String> {
        available()?;
        let stderr = File::from(stderr);
        let inode = stderr.metadata().map_err(|error| format!("cannot read a pipe's inode: {error}"))?.ino();
        command.stderr(stderr);
        let mut book = book();
        book.tell(&format!("+?{inode}\n"))?;
        let start_ns = sys::clock::now_ns();
        let group = ProcessGroup::spawn(command, Start::default()).map_err(|error| error.to_string());
        let known = group.as_ref().map(|group| format!("+{}\n", group.pgid())).unwrap_or_default();
        book.tell_more(&format!("{known}-?{inode}\n"))?;
        let group = group?;
        book.wards.groups.insert(group.pgid());
        Ok((Guarded { group }, start_ns))
    }

    pub fn pgid(&self) -> i32 {
        self.group.pgid()
    }

    /// The leader, to take its pipes.
    pub fn child(&mut self) -> &mut std::process::Child {
        &mut self.group.child
    }

    /// Waits for the leader to end. Fails when the kernel does not tell.
    pub fn wait(&mut self) -> Result<Exit, String> {
        self.group.wait().map_err(|error| error.to_string())
    }

    /// The exit of the leader, if it has ended by now. Fails when the kernel does not tell.
    pub fn try_wait(&mut self) -> Result<Option<Exit>, String> {
        self.group.try_wait().map_err(|error| error.to_string())
    }

    /// Sends `signal` to every process of the group; `false` if none is left. Fails when the kernel refuses.
    pub fn signal(&self, signal: i32) -> Result<bool, String> {
        self.group.signal(signal).map_err(|error| error.to_string())
    }

    /// True if any process of the group is left. Fails when the kernel does not tell.
    pub fn is_alive(&self) -> Result<bool, String> {
        sys::process::group_exists(self.group.pgid()).map_err(|error| error.to_string())
    }

    /// Kills what is left of the group: processes that the leader left behind.
    pub fn end(&mut self) {
        let mut book = book();
        if book.wards.groups.contains(&self.group.pgid()) {
            kill(&BTreeSet::from([self.group.pgid()]));
            book.remove(self.group.pgid());
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.end();
    }
}

/// The process groups that were started here and have not been ended.
pub fn groups() -> BTreeSet<i32> {
    book().wards.groups.clone()
}

/// Ends everything that was started here: for a program that is about to end in the middle of its work.
pub fn end_all() {
    let mut book = book();
    std::mem::take(&mut book.wards).end();
    drop(book.guard.take());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hears_only_what_makes_sense() {
        let mut wards = Wards::default();
        for line in [&b"+12"[..], b"+13", b"-12", b"+1", b"+0", b"+-5", b"x", b"", b"+99999999999", b"\xff+7"]
        {
            wards.note(line);
        }
        for line in ["+/a/b", "+/a/c d", "-/a/b", "+a", "+", "-", "/x", "+ä/x"] {
            wards.note(line.as_bytes());
        }
        assert_eq!(wards.groups, BTreeSet::from([13]));
        assert_eq!(wards.folders, BTreeSet::from([PathBuf::from("/a/c d")]));
        for line in
            ["+=/a/.boxscore-server-1", "+=/a/.boxscore-server-2", "-=/a/.boxscore-server-1", "+=/a", "+=/"]
        {
            wards.note(line.as_bytes());
        }
        assert_eq!(wards.places, BTreeSet::from([PathBuf::from("/a/.boxscore-server-2")]));
        for line in ["+?7", "+?8", "-?7", "+?x"] {
            wards.note(line.as_bytes());
        }
        assert_eq!(wards.outputs, BTreeSet::from([8]));
        // Another guard learns the same.
        let mut other = Wards::default();
        wards.lines().lines().for_each(|line| other.note(line.as_bytes()));
        assert_eq!(other, wards);
    }

    #[test]
    fn a_command_whose_group_is_not_known_yet_is_found_by_its_error_output() {
        let (reader, writer) = std::io::pipe().unwrap();
        let inode = File::from(OwnedFd::from(writer.try_clone().unwrap())).metadata().unwrap().ino();
        let mut command = Command::new("/bin/sleep");
        command.arg("1000").stderr(writer);
        let mut group = ProcessGroup::spawn(command, Start::default()).unwrap();
        let mut wards = Wards::new();
        wards.note(format!("+?{}", inode + 1).as_bytes());
        assert_eq!(holders(inode), BTreeSet::from([group.pgid()]));
        wards.end();
        assert_eq!(group.try_wait().unwrap(), None);
        wards.note(format!("+?{inode}").as_bytes());
        wards.end();
        assert!(!group.wait().unwrap().status.success());
        drop(reader);
    }

    #[test]
    fn the_guard_acts_when_its_pipe_has_no_reader() {
        let mut file = File::from(memfd_create("test", MemfdFlags::CLOEXEC).unwrap());
        let mut command = Command::new("/bin/sleep");
        command.arg("1000");
        let mut group = ProcessGroup::spawn(command, Start::default()).unwrap();
        writeln!(file, "+{}", group.pgid()).unwrap();
        let (life, other) = std::io::pipe().unwrap();
        let guard = std::thread::spawn(move || serve(file, other));
        assert_eq!(group.try_wait().unwrap(), None);
        drop(life);
        assert_eq!(guard.join().unwrap(), Ok(()));
        assert!(!group.wait().unwrap().status.success());
    }

    #[test]
    fn folders_that_are_in_use_stay() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("group");
        assert_eq!(remove(&folder), Ok(()));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("x"), "").unwrap();
        // A file system says "not empty" where the kernel's control groups say "busy".
        let why = remove(&folder).unwrap_err();
        assert!(why.contains("group") && folder.exists(), "{why}");
        for bad in ["relative", "/a\nb"] {
            assert!(Folder::make(Path::new(bad)).unwrap_err().contains("no name"));
        }
    }

    #[test]
    fn private_folders_go_with_all_that_is_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join(format!("{PRIVATE}1"));
        std::fs::create_dir_all(place.join("a/b")).unwrap();
        std::fs::write(place.join("a/b/c"), "x").unwrap();
        let mut wards = Wards::new();
        for path in [&place, dir.path()] {
            wards.note(format!("+={}", path.display()).as_bytes());
        }
        wards.end();
        assert!(!place.exists() && dir.path().exists());
        // Once more: it is gone, which was wanted.
        wards.end();
    }

    #[test]
    fn nothing_starts_without_a_guard() {
        if PROGRAM.get().is_none() {
            let why = Guarded::spawn(Command::new("/bin/true"), Start::default()).unwrap_err();
            assert!(why.contains("guard"), "{why}");
        }
    }
}
