//! Controls a running load: stops it, and reads its progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::recorder::{Counts, Recorder};
use model::Histogram;

/// State shared with the running threads. The counters lag by up to 50 ms.
#[derive(Debug, Default)]
pub struct Control {
    /// Set it to end the load: no more requests are sent, and those still in flight half a second later count as cut.
    pub stop: AtomicBool,
    /// Set once all connections are open and the clock runs.
    pub started: AtomicBool,
    pub good: AtomicU64,
    pub failed: AtomicU64,
    pub body_bytes: AtomicU64,
    /// Number of the last question; threads compare it without the lock.
    asked: AtomicU64,
    answers: Mutex<Answers>,
}

/// Response times, added up as the threads answer one question.
#[derive(Debug, Default)]
struct Answers {
    question: u64,
    threads: usize,
    /// Times of good answers, and the number of failed requests.
    response: Option<(Counts, u64)>,
}

impl Control {
    fn answers(&self) -> MutexGuard<'_, Answers> {
        // Sums are whole between two calls, so that a panic elsewhere leaves them usable.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the threads for their response times so far. Each thread spends some tens of microseconds on it: ask about
    /// once a second.
    pub fn ask(&self) {
        let mut answers = self.answers();
        answers.question += 1;
        answers.threads = 0;
        answers.response = None;
        self.asked.store(answers.question, Ordering::Relaxed);
    }

    /// The merged response times, once all threads have answered. Each result is returned once.
    pub fn answer(&self, threads: usize) -> Option<Histogram> {
        let mut answers = self.answers();
        if answers.threads < threads {
            return None;
        }
        answers.response.take().map(|(times, failed)| times.histogram(failed))
    }
}

/// The reports of a thread so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    good: u64,
    failed: u64,
    body_bytes: u64,
    question: u64,
}

impl Shown {
    pub(super) fn tell(&mut self, record: &Recorder, control: &Control) {
        let add = |to: &AtomicU64, shown: &mut u64, now: u64| {
            to.fetch_add(now - *shown, Ordering::Relaxed);
            *shown = now;
        };
        add(&control.good, &mut self.good, record.good);
        add(&control.failed, &mut self.failed, record.failures.total());
        add(&control.body_bytes, &mut self.body_bytes, record.body_bytes);
        if control.asked.load(Ordering::Relaxed) != self.question {
            self.answer(record, control);
        }
    }

    fn answer(&mut self, record: &Recorder, control: &Control) {
        let (response, failed) = (record.response(), record.failures.total());
        let mut answers = control.answers();
        // The lock decides which question it is: a newer one may have come meanwhile.
        if answers.question == self.question {
            return;
        }
        self.question = answers.question;
        answers.threads += 1;
        match &mut answers.response {
            Some((all, others)) => {
                all.merge(&response);
                *others += failed;
            }
            none => *none = Some((response, failed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder(values: &[u64]) -> Recorder {
        let mut recorder = Recorder::default();
        values.iter().for_each(|&age_ns| recorder.unsent(0, age_ns));
        recorder
    }

    #[test]
    fn each_thread_answers_each_question_once() {
        let control = Control::default();
        let (first, second) = (recorder(&[1, 2]), recorder(&[5]));
        let (mut one, mut two) = (Shown::default(), Shown::default());
        one.tell(&first, &control);
        assert_eq!(control.answer(1), None);
        control.ask();
        one.tell(&first, &control);
        one.tell(&first, &control);
        assert_eq!(control.answer(2), None);
        two.tell(&second, &control);
        assert_eq!(control.answer(2).unwrap().count(), 3);
        assert_eq!(control.answer(2), None);
        control.ask();
        one.tell(&first, &control);
        // A new question before all have answered the old one: nothing of the old one stays.
        control.ask();
        two.tell(&second, &control);
        one.tell(&first, &control);
        assert_eq!(control.answer(2).unwrap().count(), 3);
        assert_eq!(control.failed.load(Ordering::SeqCst), 3);
    }
}
