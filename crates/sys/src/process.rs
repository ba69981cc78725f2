//! Child processes in groups of their own, their CPU use, and waiting for file descriptors.
//!
//! CPU times are nanoseconds, memory is bytes. A child's usage is known after it was waited for, and includes only
//! those of its own children that it has waited for itself.

use crate::error::{Error, Result, check};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// Sets the name of this thread, which of the first one is the process's in `ps`. Fails where the kernel takes none.
pub fn set_name(name: &std::ffi::CStr) -> Result<()> {
    // SAFETY: this prctl reads a string that ends in a zero byte, which outlives the call.
    let ret = unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    check(ret, || "name the process".into()).map(drop)
}

/// Resources that a process used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    pub user_ns: u64,
    pub system_ns: u64,
    /// The largest resident set so far.
    pub max_rss_bytes: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

fn count(value: libc::c_long) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn time_ns(time: libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(micros.saturating_mul(1000))
}

impl From<libc::rusage> for Usage {
    fn from(raw: libc::rusage) -> Self {
        Self {
            user_ns: time_ns(raw.ru_utime),
            system_ns: time_ns(raw.ru_stime),
            max_rss_bytes: count(raw.ru_maxrss).saturating_mul(1024),
            minor_faults: count(raw.ru_minflt),
            major_faults: count(raw.ru_majflt),
            voluntary_switches: count(raw.ru_nvcsw),
            involuntary_switches: count(raw.ru_nivcsw),
        }
    }
}

/// The kernel's own `struct rusage`: two pairs of seconds and microseconds, then 14 longs. Used
/// with the bare wait4, since musl's for 32-bit times leaves the structure unfilled.
type KernelUsage = [libc::c_long; 18];

fn from_kernel(raw: &KernelUsage) -> Usage {
    let pair_ns = |at: usize| {
        let seconds = count(raw[at]).saturating_mul(1_000_000_000);
        seconds.saturating_add(count(raw[at + 1]).saturating_mul(1000))
    };
    Usage {
        user_ns: pair_ns(0),
        system_ns: pair_ns(2),
        max_rss_bytes: count(raw[4]).saturating_mul(1024),
        minor_faults: count(raw[8]),
        major_faults: count(raw[9]),
        voluntary_switches: count(raw[16]),
        involuntary_switches: count(raw[17]),
    }
}

fn zero_usage() -> libc::rusage {
    // SAFETY: rusage is plain integers; all zero is valid.
    unsafe { std::mem::zeroed() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    ThisProcess,
    ThisThread,
    /// All children that were waited for.
    Children,
}

/// Usage so far. Fails when the kernel does not tell.
pub fn usage(who: Who) -> Result<Usage> {
    let id = match who {
        Who::ThisProcess => libc::RUSAGE_SELF,
        Who::ThisThread => libc::RUSAGE_THREAD,
        Who::Children => libc::RUSAGE_CHILDREN,
    };
    let mut raw = zero_usage();
    // SAFETY: `raw` is a writable rusage; the call keeps no pointer.
    check(unsafe { libc::getrusage(id, &raw mut raw) }, || format!("read the resource usage ({who:?})"))?;
    Ok(raw.into())
}

/// The account under which a child runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub uid: u32,
    pub gid: u32,
    /// Supplementary groups, see [`groups_of`].
    pub groups: Vec<u32>,
}

/// The groups of `user` (a name), with `gid` among them. Fails when they cannot be read.
pub fn groups_of(user: &str, gid: u32) -> Result<Vec<u32>> {
    let what = || format!("read the groups of user {user:?}");
    let name = std::ffi::CString::new(user).map_err(|_| Error::invalid(what(), "a NUL in it"))?;
    let mut room: libc::c_int = 64;
    while room <= 65_536 {
        let mut groups: Vec<libc::gid_t> = vec![0; room as usize];
        let mut got = room;
        // SAFETY: `name` is a C string and `groups` has room for `got` entries.
        let ret = unsafe { libc::getgrouplist(name.as_ptr(), gid, groups.as_mut_ptr(), &raw mut got) };
        if ret >= 0 {
            groups.truncate(usize::try_from(got).unwrap_or(0));
            return Ok(groups);
        }
        room *= 4;
    }
    Err(Error::unavailable(what(), "more than 65536 groups"))
}

/// How to start a [`ProcessGroup`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// Kill the child when the *thread* that starts it ends; so start it from a lasting thread.
    pub die_with_parent: bool,
    /// Added to the child's niceness.
    pub nice: i32,
    /// Drop to this account (needs root).
    pub account: Option<Account>,
    /// The folder of a control group that the child joins before exec.
    pub control_group: Option<PathBuf>,
}

/// How a child ended, and what it used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    pub status: ExitStatus,
    pub usage: Usage,
}

/// A child that leads its own process group; dropping it kills the whole group.
#[derive(Debug)]
pub struct ProcessGroup {
    /// Its stdio handles may be taken; wait for it with [`ProcessGroup::wait`] only.
    pub child: Child,
    pgid: libc::pid_t,
    exit: Option<Exit>,
}

/// Runs in the forked child before exec: only async-signal-safe calls, no allocation.
fn prepare_child(start: &Start, members: Option<&File>, parent: libc::pid_t) -> io::Result<()> {
    let sure = |ret: libc::c_int| match ret {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    // 0 is whoever writes it. Before the change of account, which may not write there.
    if let Some(mut members) = members {
        io::Write::write_all(&mut members, b"0")?;
    }
    // Before the change of account: only root may lower its niceness.
    if start.nice != 0 {
        // SAFETY: plain numbers. getpriority may return -1 as a value; setpriority reports.
        let now = unsafe { libc::getpriority(libc::PRIO_PROCESS as _, 0) };
        // SAFETY: plain numbers.
        sure(unsafe { libc::setpriority(libc::PRIO_PROCESS as _, 0, now + start.nice) })?;
    }
    if let Some(account) = &start.account {
        // SAFETY: the pointer and length are of one live slice.
        sure(unsafe { libc::setgroups(account.groups.len() as _, account.groups.as_ptr()) })?;
        // SAFETY: these take plain numbers.
        sure(unsafe { libc::setresgid(account.gid, account.gid, account.gid) })?;
        // SAFETY: as above.
        sure(unsafe { libc::setresuid(account.uid, account.uid, account.uid) })?;
    }
    // After the change of account, which clears the setting.
    if start.die_with_parent {
        // SAFETY: this prctl takes a signal number.
        sure(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) })?;
        // SAFETY: no arguments.
        if unsafe { libc::getppid() } != parent {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    Ok(())
}

/// The list of a control group's processes, opened for adding one. Fails when it cannot be opened.
fn members_of(folder: &Path) -> Result<File> {
    let path = folder.join("cgroup.procs");
    let opened = File::options().write(true).open(&path);
    opened.map_err(|e| Error::os(format!("join the control group {}", folder.display()), e))
}

impl ProcessGroup {
    /// Starts `command` as the leader of a new process group. Fails when the program cannot be started, or an option
    /// cannot be applied.
    pub fn spawn(mut command: Command, start: Start) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.process_group(0);
        if start != Start::default() {
            let members = start.control_group.as_deref().map(members_of).transpose()?;
            // SAFETY: no arguments.
            let parent = unsafe { libc::getpid() };
            // SAFETY: the closure obeys the rules between fork and exec, see `prepare_child`.
            unsafe { command.pre_exec(move || prepare_child(&start, members.as_ref(), parent)) };
        }
        let child = command.spawn().map_err(|e| Error::os(format!("start {program}"), e))?;
        let pgid = libc::pid_t::try_from(child.id())
            .map_err(|_| Error::invalid("start a process", "its id does not fit"))?;
        Ok(Self { child, pgid, exit: None })
    }

    pub fn pgid(&self) -> i32 {
        self.pgid
    }

    fn reap(&mut self, options: libc::c_int) -> Result<Option<Exit>> {
        if self.exit.is_some() {
            return Ok(self.exit);
        }
        let mut status: libc::c_int = 0;
        let mut raw: KernelUsage = [0; 18];
        let got = loop {
            // SAFETY: `status` is an int and `raw` has the kernel's rusage layout; both are
            // writable, and the call keeps neither pointer.
            let got = unsafe {
                libc::syscall(libc::SYS_wait4, self.pgid, &raw mut status, options, &raw mut raw, 0)
            };
            if got >= 0 {
                break got;
            }
            let error = Error::last(format!("wait for process {}", self.pgid));
            if error.errno() != Some(libc::EINTR) {
                return Err(error);
            }
        };
        if got == self.pgid as libc::c_long {
            self.exit = Some(Exit { status: ExitStatus::from_raw(status), usage: from_kernel(&raw) });
        }
        Ok(self.exit)
    }

    /// Waits for the leader to end. It may block for ever if its stdin is still held open here. Fails when the kernel
    /// does.
    pub fn wait(&mut self) -> Result<Exit> {
        self.reap(0)?.ok_or_else(|| Error::unavailable("the exit status", "wait4 returned another process"))
    }

    /// How the leader ended; `None` if it still runs. Fails when the kernel does.
    pub fn try_wait(&mut self) -> Result<Option<Exit>> {
        self.reap(libc::WNOHANG)
    }

    /// Sends `signal` to every process of the group; `false` if none is left. Fails when we may not signal it.
    pub fn signal(&self, signal: i32) -> Result<bool> {
        signal_group(self.pgid, signal)
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // Once the leader was reaped and its group is empty the number may be someone else's;
        // while the leader is unreaped it cannot be.
        if self.exit.is_none() {
            // Both can only fail if there is nothing left to kill, and a drop has nobody to tell.
            let _sent = self.signal(libc::SIGKILL);
            let _reaped = self.reap(0);
        }
    }
}

/// Sends `signal` to process group `pgid`; `false` if it has no process. Fails when we may not signal it.
pub fn signal_group(pgid: i32, signal: i32) -> Result<bool> {
    let what = || format!("send signal {signal} to process group {pgid}");
    // 0 and 1 mean "my own group" and "everybody" to kill(2).
    if pgid <= 1 {
        return Err(Error::invalid(what(), "not the id of a group of ours"));
    }
    // SAFETY: kill takes plain numbers.
    if unsafe { libc::kill(-pgid, signal) } == 0 {
        return Ok(true);
    }
    let error = Error::last(what());
    match error.errno() {
        Some(libc::ESRCH) => Ok(false),
        _ => Err(error),
    }
}

/// True if any process is in group `pgid`, whoever owns it. Fails when the kernel does.
pub fn group_exists(pgid: i32) -> Result<bool> {
    match signal_group(pgid, 0) {
        Err(error) if error.errno() == Some(libc::EPERM) => Ok(true),
        other => other,
    }
}

/// Makes this process the leader of a new process group and returns its id; no change if it leads one already. Fails
/// when the kernel refuses.
pub fn become_group_leader() -> Result<i32> {
    // SAFETY: plain numbers and no arguments.
    let (pid, pgid) = unsafe { (libc::getpid(), libc::getpgrp()) };
    if pid != pgid {
        // SAFETY: plain numbers.
        check(unsafe { libc::setpgid(0, 0) }, || "lead a process group".into())?;
    }
    Ok(pid)
}

/// Makes the kernel send SIGKILL to this process when the thread that started it ends. Returns `false` if `parent` has
/// ended already. Fails when the kernel refuses.
pub fn die_with_parent(parent: i32) -> Result<bool> {
    // SAFETY: this prctl takes a signal number.
    let ret = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) };
    check(ret, || "ask to die with the parent".into())?;
    // SAFETY: no arguments.
    Ok(unsafe { libc::getppid() } == parent)
}

/// Readiness of one file descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ready {
    pub readable: bool,
    pub writable: bool,
    /// The other end is gone or the descriptor is in error; a read says which.
    pub closed: bool,
}

/// The event to wait for on a descriptor.
#[derive(Debug, Clone, Copy)]
pub enum Interest<'a> {
    Read(BorrowedFd<'a>),
    Write(BorrowedFd<'a>),
    /// The other end's closing alone.
    End(BorrowedFd<'a>),
}

/// Waits until at least one descriptor is ready or `timeout` is over (`None`: for ever). Results are in the order of
/// the interests; after the timeout nothing is ready. Fails when the kernel does.
pub fn poll(interests: &[Interest<'_>], timeout: Option<Duration>) -> Result<Vec<Ready>> {
    let mut fds: Vec<libc::pollfd> = interests
        .iter()
        .map(|interest| match interest {
            Interest::Read(fd) => (fd.as_raw_fd(), libc::POLLIN),
            Interest::Write(fd) => (fd.as_raw_fd(), libc::POLLOUT),
            Interest::End(fd) => (fd.as_raw_fd(), 0),
        })
        .map(|(fd, events)| libc::pollfd { fd, events, revents: 0 })
        .collect();
    let end = timeout.map(|t| {
        let ns = u64::try_from(t.as_nanos()).unwrap_or(u64::MAX);
        crate::clock::now_ns().saturating_add(ns)
    });
    loop {
        // Rounded up, so that a short timeout is not a busy loop; a day at most, then again.
        let left = end.map(|end| end.saturating_sub(crate::clock::now_ns()).div_ceil(1_000_000));
        let ms = left.map_or(-1, |ms| libc::c_int::try_from(ms.min(86_400_000)).unwrap_or(-1));
        // SAFETY: the pointer and length are of one live, writable slice.
        let got = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, ms) };
        if got < 0 {
            let error = Error::last("wait for file descriptors");
            if error.errno() != Some(libc::EINTR) {
                return Err(error);
            }
        } else if got > 0 || end.is_some_and(|end| crate::clock::now_ns() >= end) {
            break;
        }
    }
    let has = |fd: &libc::pollfd, bits: libc::c_short| fd.revents & bits != 0;
    Ok(fds
        .iter()
        .map(|fd| Ready {
            readable: has(fd, libc::POLLIN),
            writable: has(fd, libc::POLLOUT),
            closed: has(fd, libc::POLLHUP | libc::POLLERR | libc::POLLNVAL),
        })
        .collect())
}

/// Waits, and tells for each of `fds` whether it can be read without blocking (an end of file counts). Fails when the
/// kernel does.
pub fn poll_read(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Result<Vec<bool>> {
    let interests: Vec<_> = fds.iter().map(|fd| Interest::Read(*fd)).collect();
    let ready = poll(&interests, timeout)?;
    Ok(ready.iter().map(|r| r.readable || r.closed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::process::Stdio;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stdin(Stdio::null());
        command
    }

    #[test]
    fn reports_status_and_usage() {
        let mut group = ProcessGroup::spawn(shell("exit 3"), Start::default()).unwrap();
        let exit = group.wait().unwrap();
        assert_eq!(exit.status.code(), Some(3));
        assert!(exit.usage.max_rss_bytes > 0 && exit.usage.minor_faults > 0);
        assert_eq!(group.try_wait().unwrap(), Some(exit));
        assert!(
            usage(Who::ThisThread).unwrap().user_ns
                <= usage(Who::ThisProcess).unwrap().user_ns + 1_000_000_000
        );
    }

    #[test]
    fn kills_grandchildren_with_the_group() {
        let start = Start { die_with_parent: true, nice: 1, ..Start::default() };
        let group = ProcessGroup::spawn(shell("sleep 1000 & sleep 1000"), start).unwrap();
        let pgid = group.pgid();
        assert!(group_exists(pgid).unwrap());
        drop(group);
        // The grandchild is reaped by init, some time later.
        for _ in 0..1000 {
            if !group_exists(pgid).unwrap() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the group lives on");
    }

    #[test]
    fn polls_a_pipe() {
        let mut group = ProcessGroup::spawn(shell("read x; echo hi"), Start::default()).unwrap();
        let out = group.child.stdout.take().unwrap();
        assert_eq!(poll_read(&[out.as_fd()], None).unwrap(), [true]);
        group.wait().unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let none = poll_read(&[reader.as_fd()], Some(Duration::from_millis(1))).unwrap();
        assert_eq!(none, [false]);
        let ready = poll(&[Interest::Write(writer.as_fd())], None).unwrap();
        assert!(ready[0].writable);
        drop(writer);
        assert_eq!(poll_read(&[reader.as_fd()], None).unwrap(), [true]);
        let (reader, writer) = io::pipe().unwrap();
        let ended = |timeout| poll(&[Interest::End(writer.as_fd())], timeout).unwrap()[0].closed;
        assert!(!ended(Some(Duration::from_millis(1))));
        drop(reader);
        assert!(ended(None));
    }

    #[test]
    fn never_signals_everybody() {
        for pgid in [-5, 0, 1] {
            assert!(signal_group(pgid, 0).is_err());
        }
    }

    #[test]
    fn drops_to_another_account() {
        if crate::files::effective_ids().0 != 0 {
            return;
        }
        let account = Account { uid: 65_534, gid: 65_534, groups: vec![65_534] };
        let start = Start { account: Some(account), ..Start::default() };
        let mut group = ProcessGroup::spawn(shell("id -u; id -G"), start).unwrap();
        let out = io::read_to_string(group.child.stdout.take().unwrap()).unwrap();
        assert!(group.wait().unwrap().status.success());
        assert_eq!(out, "65534\n65534\n");
        assert!(groups_of("root", 0).unwrap().contains(&0));
    }

    #[test]
    fn joins_a_control_group_before_it_runs() {
        // Any file takes what a group's list would take: the writing process.
        let folder = tempfile::tempdir().unwrap();
        let start = Start { control_group: Some(folder.path().to_owned()), ..Start::default() };
        let error = ProcessGroup::spawn(shell("true"), start.clone()).err().unwrap().to_string();
        assert!(error.contains("control group") && error.contains(&folder.path().display().to_string()));
        let list = folder.path().join("cgroup.procs");
        std::fs::write(&list, "").unwrap();
        let script = format!("cat {}", list.display());
        let mut group = ProcessGroup::spawn(shell(&script), start).unwrap();
        assert_eq!(io::read_to_string(group.child.stdout.take().unwrap()).unwrap(), "0");
        assert!(group.wait().unwrap().status.success());
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = ProcessGroup::spawn(Command::new("/no/such"), Start::default()).err().unwrap();
        assert!(error.to_string().contains("/no/such"), "{error}");
    }
}
