//! The event loop of one generator thread: it waits for an answer or a due time, whichever comes first, and acts on
//! it.
//!
//! Each thread has its own epoll, timer, connections, schedule and recorder. Threads share only the stop flag and the
//! progress counters, which they touch twenty times a second. Times are nanoseconds of the monotonic clock.
//!
//! Nothing is delayed on purpose. An answer waits for its turn while the thread sleeps or is busy with others; where
//! the kernel stamps arrivals (`ReceiveClock`), that is recorded and no part of the response time.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::time::Timespec;

use super::arrivals::ArrivalQueue;
use super::connection::{Connection, State};
use super::receive_clock::ReceiveClock;
use super::timeout_queue::TimeoutQueue;
use super::timer::Timer;
use crate::load::control::{Control, Shown};
use crate::load::failure::Failure;
use crate::load::protocol::Protocol;
use crate::load::recorder::Recorder;
use crate::load::transport::Transport;
use sys::clock;

/// A thread with a core of its own spins instead of sleeping in the last moments before a due time, for this long.
const SPIN_NS: u64 = 50_000;
/// Interval of the work that is not urgent: progress, and the stop flag.
const TICK_NS: u64 = 50_000_000;
/// How long a connection that is to be closed waits for the server to close it.
pub(super) const LINGER_NS: u64 = 100_000_000;
/// Pause of a closed loop after a failed connect.
pub(super) const REST_NS: u64 = 10_000_000;
/// How long requests in flight may still finish after the user has stopped the load.
const GRACE_NS: u64 = 500_000_000;
/// Connections that are opened at the same time before the start; more could overrun a server's accept queue.
const CONNECTING: usize = 64;
/// Events per poll. An open loop takes few, so that a burst of answers delays no send.
const EVENTS: usize = 512;
const EVENTS_OPEN: usize = 16;
/// From this number on, requests that were never sent are counted at once and not one by one.
const MANY: u64 = 1_000_000;
/// The timer's id in the epoll; all other ids are connections.
const TIMER: u64 = u64::MAX;
pub(super) const BUFFER: usize = 128 << 10;

/// Settings that all threads of a load share.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub address: SocketAddr,
    pub timeout_ns: u64,
    pub drain_ns: u64,
    /// Length of the window. `None`: until all requests are sent.
    pub duration_ns: Option<u64>,
    pub keepalive: bool,
    pub spin: bool,
}

pub struct EventLoop<'a, P: Protocol, T: Transport> {
    pub(super) protocol: &'a P,
    pub(super) shared: &'a T::Shared,
    pub(super) rules: Rules,
    pub(super) epoll: OwnedFd,
    timer: Timer,
    pub(super) connections: Vec<Connection<P::Reply, T>>,
    pub(super) timeouts: TimeoutQueue,
    pub(super) arrivals: ArrivalQueue,
    /// Free connections, the longest-waiting first.
    pub(super) free: VecDeque<u32>,
    /// Connections that failed and may be used again at once.
    pub(super) failed: VecDeque<u32>,
    /// Connections that may be used again later, and connections that wait for the server to close; each with its
    /// time.
    pub(super) resting: VecDeque<(u64, u32)>,
    pub(super) lingering: VecDeque<(u64, u32, u32)>,
    pub(super) record: Recorder,
    pub(super) receive_clock: ReceiveClock,
    pub(super) memo: P::Memo,
    pub(super) buffer: Box<[u8]>,
    pub(super) window_end_ns: u64,
    /// After the user has stopped the load: when requests in flight are given up.
    cut_ns: u64,
    spun_ns: u64,
    /// The thread's CPU time when it began to spin.
    spinning_from: Option<u64>,
    shown: Shown,
}

impl<'a, P: Protocol, T: Transport> EventLoop<'a, P, T> {
    /// A loop with this many connections, all closed. Fails when the kernel gives no epoll or timer.
    pub fn new(
        protocol: &'a P,
        shared: &'a T::Shared,
        rules: Rules,
        connections: usize,
        arrivals: ArrivalQueue,
    ) -> Result<EventLoop<'a, P, T>, Errno> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer = Timer::new()?;
        // Edge-triggered: each expiry is told once, and nobody has to read the timer.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, timer.fd(), epoll::EventData::new_u64(TIMER), flags)?;
        Ok(EventLoop {
            protocol,
            shared,
            rules,
            epoll,
            timer,
            connections: std::iter::repeat_with(Connection::default).take(connections).collect(),
            timeouts: TimeoutQueue::new(connections),
            arrivals,
            free: VecDeque::with_capacity(connections + 1),
            failed: VecDeque::with_capacity(connections + 1),
            resting: VecDeque::with_capacity(connections + 1),
            lingering: VecDeque::with_capacity(connections + 1),
            record: Recorder::default(),
            receive_clock: ReceiveClock::new(),
            memo: P::Memo::default(),
            buffer: vec![0; BUFFER].into_boxed_slice(),
            window_end_ns: u64::MAX,
            cut_ns: u64::MAX,
            spun_ns: 0,
            spinning_from: None,
            shown: Shown::default(),
        })
    }

    /// Opens the connections before the start. A connect that fails is repeated, and counted, by the first request of
    /// its connection. Fails when polling fails.
    pub fn connect_ahead(&mut self, control: &Control) -> Result<(), Errno> {
        let limit_ns = clock::now_ns().saturating_add(self.rules.timeout_ns);
        let mut events = no_events(EVENTS);
        let (mut next, total) = (0, if self.rules.keepalive { self.connections.len() } else { 0 });
        loop {
            let connecting = self.connections[..next]
                .iter()
                .filter(|connection| connection.state == State::Connecting)
                .count();
            let room = CONNECTING.saturating_sub(connecting).min(total - next);
            for index in next..next + room {
                self.connect(index as u32);
            }
            next += room;
            let now_ns = clock::now_ns();
            if next == total && (connecting == 0 && room == 0) || now_ns >= limit_ns || control.is_stopped() {
                break;
            }
            self.timer.wake_by(limit_ns.min(now_ns + TICK_NS), now_ns)?;
            self.poll(&mut events, true)?;
        }
        for index in 0..self.connections.len() {
            if self.connections[index].state == State::Connecting {
                self.close(index as u32);
            }
            self.free.push_back(index as u32);
        }
        self.failed.clear();
        Ok(())
    }

    /// Runs the load from `start_ns` until nothing is in flight any more. Fails when polling fails.
    pub fn run(&mut self, start_ns: u64, control: &Control) -> Result<(), Errno> {
        self.window_end_ns = self.rules.duration_ns.map_or(u64::MAX, |span| start_ns.saturating_add(span));
        self.arrivals.begin(start_ns, self.window_end_ns);
        clock::sleep_until(start_ns);
        let mut events = no_events(if self.arrivals.is_closed() { EVENTS } else { EVENTS_OPEN });
        let mut now_ns = clock::now_ns();
        let mut tick_ns = now_ns + TICK_NS;
        loop {
            self.dispatch(now_ns);
            self.expire(now_ns);
            if now_ns >= tick_ns {
                tick_ns = now_ns + TICK_NS;
                self.shown.tell(&self.record, control);
                if control.is_stopped() && self.cut_ns == u64::MAX {
                    self.arrivals.cut(now_ns);
                    self.window_end_ns = self.window_end_ns.min(now_ns);
                    self.cut_ns = now_ns + GRACE_NS;
                }
                if now_ns >= self.cut_ns {
                    self.give_up();
                    break;
                }
            }
            if self.is_over(now_ns) {
                break;
            }
            let sleeps = self.prepare_wait(now_ns, tick_ns)?;
            self.spin(!sleeps);
            self.record.stalls.awake(now_ns);
            self.poll(&mut events, sleeps)?;
            now_ns = clock::now_ns();
        }
        self.spin(false);
        // What was due in the window and found no connection: nobody waits longer than the load lasts.
        if let Some(rest) = self.arrivals.backlog(MANY) {
            self.record.unsent_many(rest.count, |nth| rest.at(nth), now_ns);
            self.arrivals.cut(0);
        }
        while let Some(due) = self.arrivals.take(u64::MAX) {
            self.record.unsent(due.intended_ns.unwrap_or(now_ns), now_ns);
        }
        self.shown.tell(&self.record, control);
        Ok(())
    }

    /// Starts or ends a period of spinning, whose CPU time does not count as work.
    pub(super) fn spin(&mut self, begins: bool) {
        if begins && self.spinning_from.is_none() {
            self.spinning_from = Some(clock::thread_cpu_ns());
        } else if !begins && let Some(from_ns) = self.spinning_from.take() {
            self.spun_ns += clock::thread_cpu_ns().saturating_sub(from_ns);
        }
    }

    /// Sends the due requests on free connections.
    fn dispatch(&mut self, now_ns: u64) {
        for _ in 0..self.failed.len() {
            if let Some(index) = self.failed.pop_front() {
                self.release(index, now_ns);
            }
        }
        if !self.may_send(now_ns) {
            return;
        }
        while let Some(&index) = self.free.front() {
            let Some(due) = self.arrivals.take(now_ns) else { break };
            self.free.pop_front();
            self.start(index, due, 0);
        }
    }

    /// True while requests that wait for a connection may still be sent: in the window, and during the drain after it.
    pub(super) fn may_send(&self, now_ns: u64) -> bool {
        now_ns < self.window_end_ns.saturating_add(self.rules.drain_ns)
    }

    /// Fails requests that have timed out, and releases connections whose pause is over.
    fn expire(&mut self, now_ns: u64) {
        while let Some(index) = self.timeouts.first() {
            let started_ns = self.connections[index as usize].times.started_ns;
            if started_ns.saturating_add(self.rules.timeout_ns) > now_ns {
                break;
            }
            self.fail(index, Failure::Timeout);
        }
        while let Some(&(at_ns, index)) = self.resting.front() {
            if at_ns > now_ns {
                break;
            }
            self.resting.pop_front();
            self.release(index, now_ns);
        }
        while let Some(&(at_ns, index, generation)) = self.lingering.front() {
            let connection = &self.connections[index as usize];
            let is_here = connection.state == State::Lingering && connection.generation == generation;
            if is_here && at_ns > now_ns {
                break;
            }
            self.lingering.pop_front();
            if is_here {
                self.close(index);
                self.release(index, now_ns);
            }
        }
    }

    /// Fails all requests in flight as cut.
    fn give_up(&mut self) {
        while let Some(index) = self.timeouts.first() {
            self.fail(index, Failure::Cut);
        }
    }

    fn is_over(&mut self, now_ns: u64) -> bool {
        if self.timeouts.len() > 0 || !self.failed.is_empty() {
            return false;
        }
        if self.arrivals.is_closed() {
            return !self.arrivals.goes_on(now_ns);
        }
        !self.may_send(now_ns) || self.arrivals.next_ns().is_none()
    }

    /// Sets the timer to the next thing to do. False when that is too near to sleep.
    fn prepare_wait(&mut self, now_ns: u64, tick_ns: u64) -> Result<bool, Errno> {
        let mut wake_ns = tick_ns;
        if let Some(index) = self.timeouts.first() {
            let started_ns = self.connections[index as usize].times.started_ns;
            wake_ns = wake_ns.min(started_ns.saturating_add(self.rules.timeout_ns));
        }
        if let Some(&(at_ns, _)) = self.resting.front() {
            wake_ns = wake_ns.min(at_ns);
        }
        if let Some(&(at_ns, ..)) = self.lingering.front() {
            wake_ns = wake_ns.min(at_ns);
        }
        if !self.failed.is_empty() {
            return Ok(false);
        }
        if !self.free.is_empty()
            && self.may_send(now_ns)
            && let Some(due_ns) = self.arrivals.next_ns()
        {
            let before_ns = if self.rules.spin { SPIN_NS } else { 0 };
            let due_ns = due_ns.saturating_sub(before_ns);
            if due_ns <= now_ns {
                return Ok(false);
            }
            wake_ns = wake_ns.min(due_ns);
        }
        self.timer.wake_by(wake_ns, now_ns)?;
        Ok(true)
    }

    /// Polls, with or without sleeping, and handles the events.
    fn poll(&mut self, events: &mut [epoll::Event], sleeps: bool) -> Result<(), Errno> {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let limit = if sleeps { None } else { Some(&now) };
        let count = match epoll::wait(&self.epoll, &mut *events, limit) {
            Ok(count) => count,
            Err(Errno::INTR) => 0,
            Err(error) => return Err(error),
        };
        if count > 0 {
            self.spin(false);
        }
        for event in &events[..count] {
            let (flags, data) = (event.flags, event.data);
            let data = data.u64();
            if data != TIMER {
                self.handle(data as u32, (data >> 32) as u32, flags);
            }
        }
        Ok(())
    }

    /// The record, the end of the window, and the CPU time spent spinning.
    pub fn into_record(mut self) -> (Recorder, u64, u64) {
        self.record.redirects.to = self.protocol.redirected_to(&self.memo).map(str::to_owned);
        self.record.coding = self.protocol.content_coding(&self.memo).map(str::to_owned);
        (self.record, self.window_end_ns, self.spun_ns)
    }

    /// The epoll id of a connection.
    pub(super) fn interest(index: u32, generation: u32) -> epoll::EventData {
        epoll::EventData::new_u64(u64::from(generation) << 32 | u64::from(index))
    }
}

fn no_events(count: usize) -> Box<[epoll::Event]> {
    let none = epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) };
    vec![none; count].into_boxed_slice()
}

impl Control {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
