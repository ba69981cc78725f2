//! The measuring child's way to ask the user of the program what a meter shows.
//!
//! A take goes on meanwhile, so the answer does not wait in the channel of orders: the reading thread puts it here.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::frame::Frame;
use model::power::Prompt;

/// The number of a question, and its answer.
type Answer = (u64, Option<f64>);

/// The last answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(Arc<Mutex<Option<Answer>>>);

impl Answers {
    pub(crate) fn put(&self, id: u64, watts: Option<f64>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((id, watts));
    }

    /// The answer to a question, once; one to an earlier question is dropped.
    fn take(&self, id: u64) -> Option<Option<f64>> {
        let answer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.filter(|(of, _)| *of == id).map(|(_, watts)| watts)
    }
}

/// Sends a frame to the program.
type Say = Box<dyn Fn(&Frame) + Send + Sync>;

pub(crate) struct Prompter {
    answers: Answers,
    say: Say,
    /// Number of the last question.
    asked: AtomicU64,
}

impl Prompter {
    pub(crate) fn new(answers: Answers, say: Say) -> Prompter {
        Prompter { answers, say, asked: AtomicU64::new(0) }
    }

    fn tell(&self, id: u64, question: Option<String>) {
        (self.say)(&Frame::Ask { id, question });
    }
}

impl fmt::Debug for Prompter {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Prompter").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Prompt for Prompter {
    fn ask(&self, question: &str) {
        let id = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        self.tell(id, Some(question.to_owned()));
    }

    fn answer(&self) -> Option<Option<f64>> {
        self.answers.take(self.asked.load(Ordering::Relaxed))
    }

    fn withdraw(&self) {
        self.tell(self.asked.load(Ordering::Relaxed), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_an_earlier_question_is_none_to_this_one() {
        let answers = Answers::default();
        let prompter = Prompter::new(answers.clone(), Box::new(|_| {}));
        prompter.ask("now");
        assert_eq!(prompter.answer(), None);
        answers.put(1, Some(41.0));
        assert_eq!((prompter.answer(), prompter.answer()), (Some(Some(41.0)), None));
        prompter.ask("and now");
        answers.put(1, Some(42.0));
        assert_eq!(prompter.answer(), None, "it came too late");
        answers.put(2, None);
        assert_eq!(prompter.answer(), Some(None));
    }
}
