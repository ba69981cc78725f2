//! Runs a load as a take: the program gets a progress report about once a second, and the user may end the load early.
//!
//! Without anyone watching, the load's threads are asked nothing. The waiting thread checks twenty times a second.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use model::frame::Live;
use model::note::CutAt;
use model::{Histogram, NoteBody, Record};

use super::{Control, Error};
use crate::progress;

const LOOK: Duration = Duration::from_millis(50);
const TELL_NS: u64 = 1_000_000_000;

/// A server without a good answer for this long is silent.
const SILENT_NS: u64 = 1_000_000_000;

/// An event of a load while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is under way for so long, at each look.
    Runs { ns: u64 },
    /// The server falls silent.
    Silent,
    /// It answers again.
    Answers,
}

/// Runs a load of `threads` threads to its end, or until the user ends it, and tells what happens in it. Fails as the
/// load does.
pub fn watched<T: Send>(
    threads: usize,
    record: &mut dyn Record,
    happens: &mut dyn FnMut(Event),
    carry_out: impl FnOnce(&Control) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let control = Control::default();
    let (mut teller, mut silence) = (Teller::new(threads), Silence::default());
    let mut start_ns = None;
    looked_at(&control, carry_out, || {
        if record.is_cut() && !control.stop.swap(true, Ordering::Relaxed) {
            record.note(NoteBody::Cut(CutAt::Load));
        }
        if control.started.load(Ordering::Relaxed) {
            let now_ns = sys::clock::now_ns();
            happens(Event::Runs { ns: now_ns.saturating_sub(*start_ns.get_or_insert(now_ns)) });
            if let Some(is_silent) = silence.look(control.good.load(Ordering::Relaxed), now_ns) {
                happens(if is_silent { Event::Silent } else { Event::Answers });
            }
        }
        if record.is_watched()
            && let Some(live) = teller.look(&control, sys::clock::now_ns())
        {
            record.live(live);
        }
    })
}

/// Runs a load that is part of preparing, until it ends or the user cancels. Fails as the load does.
pub fn awaited<T: Send>(carry_out: impl FnOnce(&Control) -> Result<T, Error> + Send) -> Result<T, Error> {
    let (progress, control) = (progress::current(), Control::default());
    looked_at(&control, carry_out, || control.stop.store(progress.is_cancelled(), Ordering::Relaxed))
}

/// Runs a load in a thread of its own and calls `look` twenty times a second.
fn looked_at<T: Send>(
    control: &Control,
    carry_out: impl FnOnce(&Control) -> Result<T, Error> + Send,
    mut look: impl FnMut(),
) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let work = move || {
            // Dropped at the end, also of a panic: that is the message.
            let _done = done;
            carry_out(control)
        };
        let handle = Builder::new()
            .name("load".to_owned())
            .spawn_scoped(scope, work)
            .map_err(|error| Error::System(format!("cannot start a thread: {error}")))?;
        while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            look();
        }
        handle.join().unwrap_or_else(|_| Err(Error::System("the load's thread failed".to_owned())))
    })
}

/// Detects from the number of good answers whether a server is silent.
#[derive(Default)]
struct Silence {
    good: u64,
    since_ns: Option<u64>,
    is_silent: bool,
}

impl Silence {
    /// The new state if it has changed.
    fn look(&mut self, good: u64, now_ns: u64) -> Option<bool> {
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        if good != self.good {
            (self.good, self.since_ns) = (good, Some(now_ns));
            return std::mem::take(&mut self.is_silent).then_some(false);
        }
        let falls = !self.is_silent && now_ns.saturating_sub(since_ns) >= SILENT_NS;
        self.is_silent |= falls;
        falls.then_some(true)
    }
}

/// Asks the load's threads once a second and reports their answer, or after half a second that there is none.
struct Teller {
    threads: usize,
    /// When the load was first seen to run.
    from_ns: Option<u64>,
    asked_ns: Option<u64>,
    next_ns: u64,
}

impl Teller {
    fn new(threads: usize) -> Teller {
        Teller { threads, from_ns: None, asked_ns: None, next_ns: 0 }
    }

    fn look(&mut self, control: &Control, now_ns: u64) -> Option<Live> {
        if !control.started.load(Ordering::Relaxed) {
            return None;
        }
        let from_ns = *self.from_ns.get_or_insert_with(|| {
            self.next_ns = now_ns + TELL_NS;
            now_ns
        });
        let Some(asked_ns) = self.asked_ns else {
            if now_ns >= self.next_ns {
                self.next_ns += TELL_NS;
                self.asked_ns = Some(now_ns);
                control.ask();
            }
            return None;
        };
        let response: Option<Histogram> = control.answer(self.threads);
        if response.is_none() && now_ns.saturating_sub(asked_ns) < TELL_NS / 2 {
            return None;
        }
        self.asked_ns = None;
        Some(Live {
            elapsed_ns: now_ns.saturating_sub(from_ns),
            good: control.good.load(Ordering::Relaxed),
            failed: control.failed.load(Ordering::Relaxed),
            body_bytes: control.body_bytes.load(Ordering::Relaxed),
            response,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use model::{Fact, Finding, MetricInfo, Params};

    use super::*;
    use crate::load::tests::OK;
    use crate::load::tests::server::{Server, Then};
    use crate::load::{Load, Outcome, run};

    fn run_watched(load: &Load, record: &mut dyn Record) -> Result<Outcome, Error> {
        watched(load.threads, record, &mut |_| {}, |control| run(load, control))
    }

    /// Watches, and wants the end once it has heard something.
    #[derive(Default)]
    struct Watcher {
        heard: Vec<Live>,
        notes: Vec<String>,
        watches: bool,
        cuts_after: Option<usize>,
        asked: AtomicU64,
    }

    impl Record for Watcher {
        fn value(&mut self, _: &MetricInfo, _: f64) {}
        fn value_of(&mut self, _: &MetricInfo, _: &Params, _: f64) {}
        fn histogram(&mut self, _: &MetricInfo, _: Histogram) {}
        fn fact(&mut self, _: Fact) {}
        fn note(&mut self, note: NoteBody) {
            self.notes.push(format!("{}: {}", note.kind(), note.text()));
        }
        fn refuse(&mut self, _: Finding) {}
        fn is_watched(&self) -> bool {
            self.watches
        }
        fn live(&mut self, live: Live) {
            self.heard.push(live);
        }
        fn is_cut(&self) -> bool {
            let asked = self.asked.fetch_add(1, Ordering::Relaxed);
            self.cuts_after.is_some_and(|heard| self.heard.len() >= heard && asked > 3)
        }
    }

    fn load(server: &Server) -> Load {
        Load {
            connections: 3,
            threads: 2,
            duration: Some(Duration::from_secs(600)),
            ..Load::new(server.url("/").parse().unwrap())
        }
    }

    #[test]
    fn a_watched_load_tells_how_it_goes_and_ends_when_the_user_wants() {
        let server = Server::fixed(OK, Then::Keep);
        let mut watcher = Watcher { watches: true, cuts_after: Some(2), ..Watcher::default() };
        // Ten minutes, if nothing cut it.
        let outcome = run_watched(&load(&server), &mut watcher).unwrap();
        assert_eq!(watcher.notes, ["cut: the user ended the load before its time"]);
        let (first, second) = (&watcher.heard[0], &watcher.heard[1]);
        assert!(first.elapsed_ns < second.elapsed_ns && first.good <= second.good, "{first:?} {second:?}");
        assert!(second.good > 0 && second.good <= outcome.record.good && second.failed == 0);
        assert!(outcome.elapsed_s < 300.0 && outcome.record.failures.total() == 0, "{outcome:?}");
        let told = watcher.heard.iter().filter_map(|live| live.response.as_ref()).map(Histogram::count);
        assert!(told.max().unwrap_or(0) <= outcome.requests());
    }

    #[test]
    fn who_does_not_watch_is_told_nothing_and_may_cut_all_the_same() {
        let server = Server::fixed(OK, Then::Keep);
        let mut watcher = Watcher { cuts_after: Some(0), ..Watcher::default() };
        let outcome = run_watched(&load(&server), &mut watcher).unwrap();
        assert!(watcher.heard.is_empty() && outcome.record.failures.total() == 0, "{outcome:?}");
        assert_eq!(watcher.notes.len(), 1);
    }

    #[test]
    fn silence_is_told_once_and_so_is_its_end() {
        let mut silence = Silence::default();
        let good = [0, 5, 5, 5, 5, 6, 6, 6, 6, 6];
        let told: Vec<Option<bool>> =
            good.iter().zip(0u64..).map(|(good, at)| silence.look(*good, at * SILENT_NS / 2)).collect();
        let (falls, speaks) = (Some(true), Some(false));
        assert_eq!(told, [None, None, None, falls, None, speaks, None, falls, None, None]);
    }

    #[test]
    fn a_question_that_nobody_answers_is_given_up() {
        let control = Control::default();
        let mut teller = Teller::new(1);
        assert_eq!(teller.look(&control, 0), None);
        control.started.store(true, Ordering::Relaxed);
        control.good.store(7, Ordering::Relaxed);
        let at = |tenths: u64| tenths * 100_000_000;
        let heard: Vec<u64> = (1..40).filter(|&tenths| teller.look(&control, at(tenths)).is_some()).collect();
        // Asked at 1.1, 2.1 and 3.1 s, given up half a second later.
        assert_eq!(heard, [16, 26, 36]);
    }
}
