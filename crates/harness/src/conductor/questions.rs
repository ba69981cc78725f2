//! Questions of a measuring child to the user: what a meter shows now. The take that asks goes on meanwhile.

use model::frame::Frame;
use model::plan::Takes;

use super::{Conductor, Show, SinkError, Typist};
use crate::inflow;
use crate::tally::most_blocks;

impl<'a> Conductor<'a> {
    /// Somebody reads meters for the measuring children.
    #[must_use]
    pub fn with_typist(mut self, typist: Option<&'a mut dyn Typist>) -> Conductor<'a> {
        self.questions.typist = typist;
        self
    }
}

impl Conductor<'_> {
    /// A child asks, or its last question is over. Where nobody can be asked it is told so at once.
    pub(super) fn ask(&mut self, machine: usize, id: u64, question: Option<String>) -> Result<(), SinkError> {
        if self.wall.is_meant(machine) {
            return self.ask_wall(machine, id, question.is_some());
        }
        let Some(question) = question else {
            if self.questions.open == Some((machine, id)) {
                self.close_question(false);
            }
            return Ok(());
        };
        if self.questions.open.is_some() {
            self.close_question(false);
        }
        let Some(typist) = &mut self.questions.typist else {
            return self.tell(machine, &Frame::Reading { id, watts: None });
        };
        typist.ask();
        self.questions.open = Some((machine, id));
        let text = inflow::cut(question);
        let (take, of) = (self.taken + 1, self.all_takes());
        self.sink.show(&Show::Question { machine, text: &text, take, of });
        Ok(())
    }

    /// Passes on what was typed meanwhile.
    pub(super) fn hear_typist(&mut self) -> Result<(), SinkError> {
        let Some((machine, id)) = self.questions.open else { return Ok(()) };
        let answer = self.questions.typist.as_mut().and_then(|typist| typist.answer());
        match answer {
            None => Ok(()),
            Some(Err(why)) => {
                self.sink.show(&Show::NoReading { why: &why });
                Ok(())
            }
            Some(Ok(watts)) => {
                self.close_question(watts.is_some());
                self.tell(machine, &Frame::Reading { id, watts })
            }
        }
    }

    fn close_question(&mut self, answered: bool) {
        self.questions.open = None;
        if let Some(typist) = &mut self.questions.typist {
            typist.withdraw();
        }
        self.sink.show(&Show::QuestionOver { answered });
    }

    /// How many takes there will be in all, where that is fixed.
    fn all_takes(&self) -> Option<u64> {
        if !matches!(self.plan.takes, Takes::Fixed(_)) {
            return None;
        }
        let cells = u32::try_from(self.plan.cells.len()).unwrap_or(u32::MAX);
        let entries: u64 = (0..cells).map(|cell| self.plan.arms_of(cell).len() as u64).sum();
        Some(entries * self.machines.len() as u64 * u64::from(most_blocks(self.plan)))
    }
}
