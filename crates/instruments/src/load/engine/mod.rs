//! The threads of a load: each is pinned, and gets its part of the connections and of the schedule.
//!
//! In: a protocol, a transport, the rules and the share of the load. Out: one merged record and what each thread used.

pub mod arrivals;
mod connection;
mod event_loop;
mod exchange;
mod receive_clock;
mod timeout_queue;
mod timer;

use std::num::NonZeroU64;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use serde::{Deserialize, Serialize};

use super::control::Control;
use super::error::Error;
use super::protocol::Protocol;
use super::recorder::Recorder;
use super::schedule::{Part, Schedule};
use super::transport::Transport;
use arrivals::{ArrivalQueue, Choice, Pick};
use event_loop::EventLoop;
pub use event_loop::Rules;
use sys::{affinity, clock};

/// How long before the common start all threads learn of it.
pub const LEAD_NS: u64 = 2_000_000;

/// The load of this process, to be divided among its threads.
#[derive(Clone, Debug)]
pub struct LoadShare {
    pub threads: usize,
    pub connections: usize,
    /// Thread `i` runs on `cpus[i % len]`; anywhere when empty.
    pub cpus: Vec<usize>,
    pub schedule: Schedule,
    pub requests: Option<u64>,
    pub choice: Choice,
    pub seed: u64,
}

/// Resources that one thread used, in nanoseconds from the start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// Number of the host, to tell CPUs of different hosts apart; 0 for a single host.
    pub host: u32,
    pub cpu: Option<usize>,
    pub connections: usize,
    pub cpu_ns: u64,
    /// The part of `cpu_ns` spent spinning.
    pub spun_ns: u64,
    pub wall_ns: u64,
    /// CPU time that the cgroup quota allowed; equals `wall_ns` without a quota.
    pub allowed_ns: u64,
}

impl ThreadUse {
    /// Share of the core that the thread worked, without spinning.
    pub fn core_share(&self) -> f64 {
        self.cpu_ns.saturating_sub(self.spun_ns) as f64 / self.wall_ns.max(1) as f64
    }

    /// Share of the allowed CPU time that the thread worked, without spinning.
    pub fn share(&self) -> f64 {
        self.cpu_ns.saturating_sub(self.spun_ns) as f64 / self.allowed_ns.max(1) as f64
    }
}

/// The results of all threads.
#[derive(Clone, Debug)]
pub struct Ran {
    pub record: Recorder,
    pub threads: Vec<ThreadUse>,
    pub start_ns: u64,
    /// End of the window, by time or by a stop; `None` when the number of requests ended it.
    pub window_end_ns: Option<u64>,
}

struct Done {
    record: Recorder,
    used: ThreadUse,
    window_end_ns: u64,
}

impl LoadShare {
    fn part(&self, thread: usize) -> Part {
        Part { thread, threads: self.threads }
    }

    fn connections_of(&self, thread: usize) -> usize {
        usize::try_from(self.part(thread).share_of(self.connections as u64)).unwrap_or(usize::MAX)
    }

    fn cpu(&self, thread: usize) -> Option<usize> {
        (!self.cpus.is_empty()).then(|| self.cpus[thread % self.cpus.len()])
    }
}

/// Runs the load on this process's threads and merges what they recorded. `start` is called when all threads are
/// ready; it returns the time of the start, or `None` to call the load off.
///
/// Fails when a thread cannot be started or pinned, when polling fails, and when the load is called off.
pub fn run<P, T>(
    protocol: &P,
    shared: &T::Shared,
    rules: Rules,
    share: &LoadShare,
    control: &Control,
    start: &mut dyn FnMut() -> Option<u64>,
) -> Result<Ran, Error>
where
    P: Protocol + Sync,
    T: Transport,
{
    std::thread::scope(|scope| {
        let (ready, is_ready) = mpsc::channel();
        let mut threads = Vec::with_capacity(share.threads);
        for thread in 0..share.threads {
            let (go, gone) = mpsc::channel();
            let ready = ready.clone();
            let work =
                move || run_thread::<P, T>(protocol, shared, rules, share, thread, control, &ready, &gone);
            threads.push((go, spawn(scope, thread, work)?));
        }
        drop(ready);
        // One message a thread; a thread that failed drops its end, and dropping `go` sends the others home.
        let mut count = 0;
        while is_ready.recv().is_ok() {
            count += 1;
            if count == share.threads {
                break;
            }
        }
        let all_ready = count == share.threads;
        let start_ns = if all_ready { start() } else { None };
        let mut handles = Vec::with_capacity(share.threads);
        for (go, handle) in threads {
            if let Some(start_ns) = start_ns {
                control.started.store(true, Ordering::Relaxed);
                // A thread that is gone tells why when it is joined.
                let _gone = go.send(start_ns);
            }
            handles.push(handle);
        }
        match (merge(handles, start_ns.unwrap_or_default()), start_ns) {
            (Ok(_), None) => Err(Error::System("the load was called off before its start".to_owned())),
            (ran, _) => ran,
        }
    })
}

fn spawn<'scope, 'env, F>(
    scope: &'scope Scope<'scope, 'env>,
    thread: usize,
    work: F,
) -> Result<ScopedJoinHandle<'scope, Result<Option<Done>, Error>>, Error>
where
    F: FnOnce() -> Result<Option<Done>, Error> + Send + 'scope,
{
    let builder = Builder::new().name(format!("load-{thread}"));
    builder
        .spawn_scoped(scope, work)
        .map_err(|error| Error::System(format!("cannot start thread {thread}: {error}")))
}

fn merge(
    handles: Vec<ScopedJoinHandle<'_, Result<Option<Done>, Error>>>,
    start_ns: u64,
) -> Result<Ran, Error> {
    let mut ran = Ran { record: Recorder::default(), threads: Vec::new(), start_ns, window_end_ns: None };
    let mut wrong = None;
    let mut window_end_ns = 0;
    for handle in handles {
        match handle.join() {
            Ok(Ok(Some(done))) => {
                ran.record.merge(&done.record);
                ran.threads.push(done.used);
                window_end_ns = done.window_end_ns.max(window_end_ns);
            }
            Ok(Ok(None)) => {}
            Ok(Err(error)) => wrong = Some(error),
            Err(_panic) => wrong = Some(Error::System("a generator thread panicked".to_owned())),
        }
    }
    ran.window_end_ns = (window_end_ns < u64::MAX).then_some(window_end_ns);
    wrong.map_or(Ok(ran), Err)
}

fn system(what: &'static str) -> impl Fn(rustix::io::Errno) -> Error {
    move |error| Error::System(format!("{what}: {error}"))
}

/// Runs one thread, from pinning to its record. `None` when the load was called off before the start.
#[expect(clippy::too_many_arguments, reason = "what a thread is given, once")]
fn run_thread<P: Protocol, T: Transport>(
    protocol: &P,
    shared: &T::Shared,
    rules: Rules,
    share: &LoadShare,
    thread: usize,
    control: &Control,
    ready: &mpsc::Sender<()>,
    start: &mpsc::Receiver<u64>,
) -> Result<Option<Done>, Error> {
    let cpu = share.cpu(thread);
    if let Some(cpu) = cpu {
        affinity::set_allowed(&[cpu]).map_err(|error| Error::System(error.to_string()))?;
    }
    // Naps of some tens of microseconds, where the kernel else adds 50. It can refuse nothing here but a number.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))
        .map_err(system("cannot set the timer slack"))?;
    let pick = Pick::new(&share.choice, share.seed.wrapping_add(thread as u64));
    let arrivals = ArrivalQueue::new(&share.schedule, share.requests, share.part(thread), pick);
    let connections = share.connections_of(thread);
    let mut event_loop = EventLoop::<P, T>::new(protocol, shared, rules, connections, arrivals)
        .map_err(system("cannot set up an event queue"))?;
    event_loop.connect_ahead(control).map_err(system("cannot wait for connections"))?;
    // The other end outlives this thread.
    let _listening = ready.send(());
    let Ok(start_ns) = start.recv() else { return Ok(None) };
    let before_ns = clock::thread_cpu_ns();
    event_loop.run(start_ns, control).map_err(system("cannot wait for answers"))?;
    let cpu_ns = clock::thread_cpu_ns().saturating_sub(before_ns);
    let wall_ns = clock::now_ns().saturating_sub(start_ns);
    let (record, window_end_ns, spun_ns) = event_loop.into_record();
    let used = ThreadUse { host: 0, cpu, connections, cpu_ns, spun_ns, wall_ns, allowed_ns: wall_ns };
    Ok(Some(Done { record, used, window_end_ns }))
}
