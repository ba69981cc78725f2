//! A study of ten thousand machines: every take is stored once and in order, and the conductor keeps no thread, no file
//! and no queue for any of them. The agents answer at once and are no processes.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use harness::conductor::{Conductor, Ended, Interaction, Link, Parting};
use harness::worker::Event;
use model::Phase;
use model::data::Status;
use model::frame::{Frame, OwnCost};
use model::plan::Takes;
use model::reading::Take;

use super::study::{Shared, Shelf, hello, plan};

const MACHINES: usize = 10_000;
const TAKES: u32 = 2;

/// An agent that answers in the moment that it is asked.
struct Prompt {
    index: usize,
    events: Sender<(usize, Event)>,
}

impl Prompt {
    fn say(&self, frame: Frame) -> Result<(), String> {
        self.events.send((self.index, Event::Frame(frame))).map_err(|error| error.to_string())
    }
}

impl Link for Prompt {
    fn send(&mut self, frame: &Frame) -> Result<(), String> {
        match frame {
            Frame::Plan(job) => {
                assert_eq!(job.plan.machines.len(), 1, "a machine is told of itself alone");
                assert_eq!(job.plan.machines[0].name, format!("m{}", self.index));
                self.say(Frame::Ready(Vec::new()))
            }
            Frame::Ack(Some(order)) => self.say(Frame::TakeDone(Box::new(Take {
                seq: order.seq,
                block: order.block,
                sitting: 0,
                phase: if order.warm_up { Phase::WarmUp } else { Phase::Measured },
                cell: order.cell,
                arm: order.arm,
                start_ns: order.seq,
                end_ns: order.seq + 1,
                repeats: 1,
                readings: Vec::new(),
                refusals: Vec::new(),
                notes: Vec::new(),
                fault: None,
            }))),
            Frame::Stop | Frame::Ack(None) => {
                self.say(Frame::Bye(OwnCost::default()))?;
                self.events
                    .send((self.index, Event::Lost("the pipe was closed".to_owned())))
                    .map_err(|e| e.to_string())
            }
            _ => Ok(()),
        }
    }

    fn hang_up(&mut self) -> Parting {
        Parting::default()
    }
}

#[test]
fn ten_thousand_machines_are_one_study() {
    let plan = plan(&[1], 1, MACHINES, Takes::Fixed(TAKES));
    let (give, events) = channel();
    let mut links: Vec<Box<dyn Link>> = Vec::new();
    for index in 0..MACHINES {
        let agent = Prompt { index, events: give.clone() };
        agent.say(Frame::Hello(hello())).unwrap();
        links.push(Box::new(agent));
    }
    let shelf = Mutex::new(Shelf::default());
    let mut sink = Shared(&shelf);
    let mut conductor = Conductor::new(&plan, links, events, &mut sink, &|| false);
    conductor.set_interaction(Interaction::default());
    let outcome = conductor.run("/nonexistent", 0);
    let shelf = shelf.into_inner().unwrap();
    assert_eq!(outcome.ended, Ended::Count);
    assert!(
        outcome.statuses.len() == MACHINES && outcome.statuses.iter().all(|one| *one == Status::Complete)
    );
    let each = 1 + TAKES as usize;
    assert_eq!((shelf.takes.len(), shelf.facts, shelf.ends.len()), (MACHINES * each, MACHINES, MACHINES));
    let mut of: Vec<Vec<u64>> = vec![Vec::new(); MACHINES];
    shelf.takes.iter().for_each(|(machine, take)| of[*machine].push(take.seq));
    assert!(of.iter().all(|own| own.iter().copied().eq(0..each as u64)));
    // Every machine has its take of a block before any has its take of the next.
    let block =
        |at: usize| shelf.takes[at * MACHINES..(at + 1) * MACHINES].iter().map(|(machine, _)| *machine);
    assert!((0..each).all(|at| block(at).collect::<HashSet<_>>().len() == MACHINES));
}
