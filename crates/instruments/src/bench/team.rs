//! A team of threads, each pinned to a CPU of its own, that start a take together.
//!
//! A member's state is built in its own thread, so its memory is first touched on its own node. A take
//! lasts from the first start to the last end, in nanoseconds of `sys::clock`. Not counted: waking the
//! members, and the wait until the last of them has arrived at the gate.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use model::{Fault, Seconds, Unfit};
use sys::{affinity, clock};

/// The result of one member in a take.
#[derive(Clone, Debug)]
pub struct Part<R> {
    pub cpu: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    pub out: R,
}

impl<R> Part<R> {
    /// This member's own time.
    pub fn time(&self) -> Seconds {
        Seconds::from_ns(self.end_ns.saturating_sub(self.start_ns))
    }
}

/// The results of all members in a take, in the order of the team's CPUs; never empty.
#[derive(Clone, Debug)]
pub struct Done<R> {
    pub parts: Vec<Part<R>>,
}

impl<R> Done<R> {
    /// Time from the first start to the last end.
    pub fn time(&self) -> Seconds {
        let start = self.parts.iter().map(|part| part.start_ns).min().unwrap_or(0);
        let end = self.parts.iter().map(|part| part.end_ns).max().unwrap_or(0);
        Seconds::from_ns(end.saturating_sub(start))
    }
}

/// The barrier of a take: no member starts before all have arrived.
#[derive(Debug)]
struct Gate {
    missing: AtomicUsize,
    called_off: AtomicBool,
}

impl Gate {
    fn new(members: usize) -> Gate {
        Gate { missing: AtomicUsize::new(members), called_off: AtomicBool::new(false) }
    }

    /// Waits for the others; false when the take was called off.
    fn pass(&self) -> bool {
        /// About 10 us of spinning; then the CPU is offered to whoever the late member is waiting for.
        const SPINS: u32 = 1 << 10;
        self.missing.fetch_sub(1, Ordering::AcqRel);
        let mut spins = 0u32;
        while self.missing.load(Ordering::Acquire) > 0 {
            if self.called_off.load(Ordering::Acquire) {
                return false;
            }
            spins = spins.saturating_add(1);
            if spins < SPINS { spin_loop() } else { thread::yield_now() }
        }
        true
    }
}

struct Member<J, R> {
    cpu: u32,
    jobs: Option<Sender<(J, Arc<Gate>)>>,
    parts: Receiver<Part<R>>,
    thread: Option<JoinHandle<()>>,
}

/// Pinned threads that wait for jobs. Dropping the team ends and joins them.
pub struct Team<J, R> {
    members: Vec<Member<J, R>>,
}

impl<J: Clone + Send + 'static, R: Send + 'static> Team<J, R> {
    /// Starts one thread on each of `cpus`; `make` builds the work of member 0, 1, 2 … inside its thread. Fails when a
    /// thread cannot be started or its work cannot be built.
    pub fn start<M, W>(cpus: &[u32], make: M) -> Result<Team<J, R>, Unfit>
    where
        M: Fn(usize) -> Result<W, Unfit> + Send + Sync + 'static,
        W: FnMut(J) -> R,
    {
        if cpus.is_empty() {
            return Err(Unfit::new("no CPU to run on"));
        }
        let make = Arc::new(make);
        let started: Vec<_> = cpus
            .iter()
            .enumerate()
            .map(|(index, &cpu)| enlist(index, cpu, Arc::clone(&make)))
            .collect::<Result<_, _>>()?;
        // All are under way; now wait until each has pinned itself and built its state.
        let mut members = Vec::with_capacity(started.len());
        for (member, ready) in started {
            match ready.recv() {
                Ok(Ok(())) => members.push(member),
                Ok(Err(unfit)) => return Err(unfit),
                Err(_) => return Err(Unfit::new(format!("the thread for CPU {} died", member.cpu))),
            }
        }
        Ok(Team { members })
    }

    /// Gives every member the same job and waits for all of them. Fails when a thread has died.
    pub fn take(&mut self, job: &J) -> Result<Done<R>, Fault> {
        let gate = Arc::new(Gate::new(self.members.len()));
        let sent = self.members.iter().all(|member| member.hand(job.clone(), &gate));
        if !sent {
            gate.called_off.store(true, Ordering::Release);
        }
        let parts: Vec<_> = self.members.iter().map(|member| (member.cpu, member.parts.recv())).collect();
        let mut done = Vec::with_capacity(parts.len());
        for (cpu, part) in parts {
            match part {
                Ok(part) => done.push(part),
                Err(_) => return Err(Fault::new(format!("the thread on CPU {cpu} has ended"))),
            }
        }
        Ok(Done { parts: done })
    }

    /// The CPUs of the members, in order.
    pub fn cpus(&self) -> Vec<u32> {
        self.members.iter().map(|member| member.cpu).collect()
    }
}

impl<J, R> Member<J, R> {
    fn hand(&self, job: J, gate: &Arc<Gate>) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.send((job, Arc::clone(gate))).is_ok())
    }
}

impl<J, R> Drop for Member<J, R> {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A member that panicked has been reported as a fault of its take.
            let _reported = thread.join();
        }
    }
}

type Started<J, R> = (Member<J, R>, Receiver<Result<(), Unfit>>);

fn enlist<J, R, M, W>(index: usize, cpu: u32, make: Arc<M>) -> Result<Started<J, R>, Unfit>
where
    J: Send + 'static,
    R: Send + 'static,
    M: Fn(usize) -> Result<W, Unfit> + Send + Sync + 'static,
    W: FnMut(J) -> R,
{
    let (jobs, inbox) = channel::<(J, Arc<Gate>)>();
    let (outbox, parts) = channel();
    let (say_ready, ready) = channel();
    let body = move || {
        let built = pin(cpu).and_then(|pinned| make(index).map(|work| (pinned, work)));
        let (_pinned, mut work) = match built {
            Ok(built) => built,
            Err(unfit) => return drop(say_ready.send(Err(unfit))),
        };
        drop(make);
        if say_ready.send(Ok(())).is_err() {
            return;
        }
        while let Ok((job, gate)) = inbox.recv() {
            if !gate.pass() {
                return;
            }
            let start_ns = clock::now_ns();
            let out = work(job);
            let end_ns = clock::now_ns();
            if outbox.send(Part { cpu, start_ns, end_ns, out }).is_err() {
                return;
            }
        }
    };
    let thread = thread::Builder::new()
        .name(format!("bench-{cpu}"))
        .spawn(body)
        .map_err(|error| Unfit::new(format!("cannot start a thread for CPU {cpu}: {error}")))?;
    Ok((Member { cpu, jobs: Some(jobs), parts, thread: Some(thread) }, ready))
}

fn pin(cpu: u32) -> Result<affinity::Pinned, Unfit> {
    let number = usize::try_from(cpu).map_err(|_| Unfit::new(format!("there is no CPU {cpu}")))?;
    affinity::pin(number).map_err(|error| Unfit::new(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPUs that this test may use, as many times over as asked: members may share one.
    fn cpus(count: usize) -> Vec<u32> {
        let allowed: Vec<u32> =
            affinity::allowed().unwrap().into_iter().map(|cpu| u32::try_from(cpu).unwrap()).collect();
        allowed.iter().copied().cycle().take(count).collect()
    }

    #[test]
    fn members_are_pinned_and_keep_their_state() {
        let mut team: Team<u64, (Vec<usize>, u64)> = Team::start(&cpus(3), |index| {
            let mut sum = index as u64;
            Ok(move |job| {
                sum += job;
                (affinity::allowed().unwrap(), sum)
            })
        })
        .unwrap();
        team.take(&10).unwrap();
        let done = team.take(&10).unwrap();
        let sums: Vec<u64> = done.parts.iter().map(|part| part.out.1).collect();
        assert_eq!(sums, [20, 21, 22]);
        for part in &done.parts {
            assert_eq!(part.out.0, [part.cpu as usize]);
            assert!(part.start_ns <= part.end_ns && part.time() <= done.time());
        }
    }

    #[test]
    fn nobody_starts_before_all_have_arrived() {
        let arrived = Arc::new(AtomicUsize::new(0));
        let shared = Arc::clone(&arrived);
        let mut team: Team<(), ()> = Team::start(&cpus(4), move |_| {
            let shared = Arc::clone(&shared);
            Ok(move |()| {
                shared.fetch_add(1, Ordering::SeqCst);
            })
        })
        .unwrap();
        for round in 1..=50 {
            let done = team.take(&()).unwrap();
            assert_eq!(arrived.load(Ordering::SeqCst), 4 * round);
            assert_eq!(done.parts.len(), 4);
        }
    }

    #[test]
    fn a_member_that_cannot_be_built_says_why() {
        let refuse = |index: usize| match index {
            1 => Err(Unfit::new("no room")),
            _ => Ok(|job: u64| job),
        };
        let why = Team::<u64, u64>::start(&cpus(2), refuse).err().map(|unfit| unfit.why);
        assert_eq!(why.as_deref(), Some("no room"));
        let why = Team::<u64, u64>::start(&[60_000], |_| Ok(|job| job)).err().map(|unfit| unfit.why);
        assert!(why.is_some_and(|why| !why.is_empty()));
        assert!(Team::<u64, u64>::start(&[], |_| Ok(|job| job)).is_err());
    }

    #[test]
    fn a_member_that_ended_is_a_fault_every_time() {
        let mut team: Team<u64, u64> = Team::start(&cpus(2), |index| {
            Ok(move |job: u64| {
                // Unwinds without the message that a panic would print.
                if index == 1 && job == 7 {
                    std::panic::resume_unwind(Box::new("over"));
                }
                job
            })
        })
        .unwrap();
        assert!(team.take(&1).is_ok());
        assert!(team.take(&7).is_err());
        assert!(team.take(&1).is_err());
        assert!(team.take(&1).is_err());
    }
}
