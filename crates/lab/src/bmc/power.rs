//! Power actions on many nodes: ask, then look until each is as it should be, or too much time has passed.
//!
//! A cycle is off, a look, and on: a BMC's own cycle cannot be told from one that did nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Access, Failure, Power, Request, State};
use crate::stop::{Cut, Limit, Stop};

model::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Action as word {
        On = "on",
        Off = "off",
        Soft = "soft",
        Cycle = "cycle",
        Reset = "reset",
    }
}

impl Action {
    /// The requests, each with the state that is looked for behind it.
    const fn steps(self) -> &'static [(Request, State)] {
        match self {
            Action::On => &[(Request::On, State::On)],
            Action::Off => &[(Request::Off, State::Off)],
            Action::Soft => &[(Request::Soft, State::Off)],
            Action::Cycle => &[(Request::Off, State::Off), (Request::On, State::On)],
            Action::Reset => &[(Request::Reset, State::On)],
        }
    }
}

/// The first pause between two looks; each is twice the one before.
const FIRST_LOOK: Duration = Duration::from_millis(250);
const LAST_LOOK: Duration = Duration::from_secs(2);

/// How long a node stays off in a cycle. Power supplies need it.
const OFF: Duration = Duration::from_secs(1);

type States = Vec<Result<State, Failure>>;

/// Nodes on their way.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    /// Their places in the list.
    pub places: &'a [usize],
    pub wanted: State,
}

/// Carries an action out on each node, which may take `patience` for each step. One that fails keeps none of the others
/// back. `watch` is told before each pause who is waited for.
pub fn carry_out(
    power: &dyn Power,
    action: Action,
    all: &[&Access],
    patience: Duration,
    stop: &Stop,
    watch: &mut dyn FnMut(Waiting<'_>),
) -> States {
    let mut work = Work { power, all, patience, stop, watch, states: power.states(all) };
    for (step, (request, wanted)) in action.steps().iter().enumerate() {
        // Without a pause where the user stopped: the step below says so of each node.
        if step > 0 && work.states.contains(&Ok(State::Off)) {
            let _paused = Limit::from_now(stop, None).pause(OFF);
        }
        work.step(*request, *wanted);
    }
    work.states
}

struct Work<'a> {
    power: &'a dyn Power,
    all: &'a [&'a Access],
    patience: Duration,
    stop: &'a Stop,
    watch: &'a mut dyn FnMut(Waiting<'_>),
    states: States,
}

/// The nodes of one step.
struct Step {
    request: Request,
    wanted: State,
    /// Nodes that are not yet as they should be.
    waiting: Vec<usize>,
    /// Those among them that did not take the request, with the reason.
    refused: BTreeMap<usize, Option<Failure>>,
}

impl Work<'_> {
    fn step(&mut self, request: Request, wanted: State) {
        let resets = request == Request::Reset;
        if resets {
            for state in self.states.iter_mut().filter(|state| **state == Ok(State::Off)) {
                *state = Err(Failure::IsOff);
            }
        }
        // A node that is as it should be is not asked again; a reset changes no state. Where a BMC was too busy to say
        // how its node is, the request does no harm, but a reset does.
        let needs = |at: &usize| match &self.states[*at] {
            Ok(state) => resets || *state != wanted,
            Err(failure) => !resets && failure.may_pass(false),
        };
        let waiting: Vec<usize> = (0..self.all.len()).filter(needs).collect();
        let refused = waiting.iter().map(|at| (*at, None)).collect();
        let mut step = Step { request, wanted, waiting, refused };
        let limit = Limit::from_now(self.stop, Some(self.patience));
        let mut pause = FIRST_LOOK;
        while !step.waiting.is_empty() {
            if self.stop.is_requested() {
                return self.give_up(&step, &Cut::Interrupted);
            }
            self.ask(&mut step);
            self.look(&mut step);
            if step.waiting.is_empty() {
                return;
            }
            (self.watch)(Waiting { places: &step.waiting, wanted });
            if let Err(cut) = limit.pause(pause) {
                return self.give_up(&step, &cut);
            }
            pause = (pause * 2).min(LAST_LOOK);
        }
    }

    /// Makes the request of those that have not taken it.
    fn ask(&mut self, step: &mut Step) {
        let places: Vec<usize> = step.refused.keys().copied().collect();
        let asked = self.power.ask(step.request, &self.of(&places));
        for (at, asked) in places.into_iter().zip(asked) {
            match asked {
                Ok(()) => drop(step.refused.remove(&at)),
                Err(failure) if failure.may_pass(step.request != Request::Reset) => {
                    step.refused.insert(at, Some(failure));
                }
                Err(failure) => {
                    step.refused.remove(&at);
                    step.waiting.retain(|other| *other != at);
                    self.states[at] = Err(failure);
                }
            }
        }
    }

    fn look(&mut self, step: &mut Step) {
        let seen = self.power.states(&self.of(&step.waiting));
        for (at, seen) in step.waiting.iter().zip(seen) {
            self.states[*at] = seen;
        }
        let is_there = |at: &usize| {
            // A lost request may have been carried out; a reset shows in no state.
            let asked = step.request != Request::Reset || !step.refused.contains_key(at);
            asked && self.states[*at] == Ok(step.wanted)
        };
        step.waiting.retain(|at| !is_there(at));
        step.refused.retain(|at, _| step.waiting.contains(at));
    }

    fn of(&self, places: &[usize]) -> Vec<&Access> {
        places.iter().filter_map(|at| self.all.get(*at).copied()).collect()
    }

    fn give_up(&mut self, step: &Step, cut: &Cut) {
        let seconds = self.patience.as_secs_f64();
        for at in &step.waiting {
            let failure = match (cut, &self.states[*at]) {
                (Cut::Interrupted, _) => Failure::Interrupted,
                (Cut::Failed(said), _) => Failure::Other { said: format!("on this side: {said}") },
                (Cut::TimedOut, state) => match (step.refused.get(at), state) {
                    (Some(Some(refused)), _) => refused.clone(),
                    (_, Ok(state)) => Failure::Unchanged { state: *state, seconds },
                    (_, Err(last)) => Failure::Silent { last: Box::new(last.clone()), seconds },
                },
            };
            self.states[*at] = Err(failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// A node whose state changes so many looks after it took a request (`None`: never), and what its BMC answers to
    /// the first ones.
    #[derive(Clone)]
    struct Planted {
        state: State,
        looks: Option<u32>,
        coming: Option<(State, u32)>,
        answers: Vec<Failure>,
        asked: u32,
    }

    impl Planted {
        fn new(state: State, looks: Option<u32>) -> Planted {
            Planted { state, looks, coming: None, answers: Vec::new(), asked: 0 }
        }

        fn answers(mut self, answers: &[Failure]) -> Planted {
            self.answers = answers.to_vec();
            self
        }
    }

    struct Lab(RefCell<Vec<Planted>>);

    fn place(access: &Access) -> usize {
        usize::from(access.port)
    }

    impl Power for Lab {
        fn states(&self, of: &[&Access]) -> States {
            let mut nodes = self.0.borrow_mut();
            of.iter()
                .map(|access| {
                    let node = &mut nodes[place(access)];
                    match &mut node.coming {
                        Some((next, 0)) => node.state = *next,
                        Some((_, looks)) => *looks -= 1,
                        None => {}
                    }
                    Ok(node.state)
                })
                .collect()
        }

        fn ask(&self, request: Request, of: &[&Access]) -> Vec<Result<(), Failure>> {
            let mut nodes = self.0.borrow_mut();
            of.iter()
                .map(|access| {
                    let node = &mut nodes[place(access)];
                    node.asked += 1;
                    let next =
                        if matches!(request, Request::On | Request::Reset) { State::On } else { State::Off };
                    if !node.answers.is_empty() {
                        let answer = node.answers.remove(0);
                        // A lost request was carried out.
                        if answer == Failure::Lost {
                            node.coming = Some((next, 0));
                        }
                        return Err(answer);
                    }
                    node.coming = node.looks.map(|looks| (next, looks));
                    Ok(())
                })
                .collect()
        }
    }

    fn carry(action: Action, nodes: Vec<Planted>) -> (States, Vec<u32>) {
        let access = |port: usize| {
            let node = format!("a{port}");
            crate::bmc::ipmi::tests::access(&node, "127.0.0.1", u16::try_from(port).unwrap())
        };
        let all: Vec<Access> = (0..nodes.len()).map(access).collect();
        let lab = Lab(RefCell::new(nodes));
        let stop = Stop::new().unwrap();
        let patience = Duration::from_millis(900);
        let states = carry_out(&lab, action, &all.iter().collect::<Vec<_>>(), patience, &stop, &mut |_| {});
        (states, lab.0.into_inner().into_iter().map(|node| node.asked).collect())
    }

    use State::{Off, On};

    #[test]
    fn a_state_is_awaited_and_a_bmc_that_lies_is_named() {
        let nodes = [(Off, Some(0)), (On, None), (Off, Some(2)), (Off, None)];
        let (states, asked) =
            carry(Action::On, nodes.map(|(state, looks)| Planted::new(state, looks)).to_vec());
        assert_eq!(states[..3], [Ok(On), Ok(On), Ok(On)]);
        assert_eq!(states[3], Err(Failure::Unchanged { state: Off, seconds: 0.9 }));
        assert_eq!(asked, [1, 0, 1, 1], "a request that was taken is not made again");
        let (states, asked) = carry(Action::Soft, vec![Planted::new(On, Some(0))]);
        assert_eq!((states, asked), (vec![Ok(Off)], vec![1]));
    }

    #[test]
    fn a_cycle_is_off_and_on_and_a_reset_needs_a_node_that_is_on() {
        let nodes = vec![Planted::new(On, Some(1)), Planted::new(Off, Some(0)), Planted::new(On, None)];
        let (states, asked) = carry(Action::Cycle, nodes);
        assert_eq!(states[..2], [Ok(On), Ok(On)]);
        assert_eq!(states[2], Err(Failure::Unchanged { state: On, seconds: 0.9 }));
        assert_eq!(asked, [2, 1, 1], "one that does not go off is not turned on");
        let nodes = vec![Planted::new(On, Some(0)), Planted::new(Off, Some(0))];
        assert_eq!(carry(Action::Reset, nodes), (vec![Ok(On), Err(Failure::IsOff)], vec![1, 0]));
    }

    #[test]
    fn a_busy_bmc_is_asked_again_and_a_lost_request_is_looked_for() {
        let nodes = vec![
            Planted::new(Off, Some(0)).answers(&[Failure::Busy, Failure::Busy]),
            Planted::new(Off, None).answers(&[Failure::Lost]),
            Planted::new(Off, Some(0)).answers(&[Failure::Privilege]),
            Planted::new(Off, Some(0)).answers(&vec![Failure::Busy; 20]),
        ];
        let (states, asked) = carry(Action::On, nodes);
        assert_eq!(states, [Ok(On), Ok(On), Err(Failure::Privilege), Err(Failure::Busy)]);
        assert_eq!(asked[..3], [3, 1, 1]);
        let nodes = vec![
            Planted::new(On, Some(0)).answers(&[Failure::Busy]),
            Planted::new(On, Some(0)).answers(&[Failure::Lost]),
        ];
        let (states, asked) = carry(Action::Reset, nodes);
        assert_eq!(
            (states, asked),
            (vec![Ok(On), Err(Failure::Lost)], vec![2, 1]),
            "one may have been reset"
        );
    }

    #[test]
    fn a_stop_ends_the_wait() {
        let lab = Lab(RefCell::new(vec![Planted::new(Off, None)]));
        let access = crate::bmc::ipmi::tests::access("a0", "127.0.0.1", 0);
        let stop = Stop::new().unwrap();
        let mut seen = 0;
        let mut watch = |waiting: Waiting<'_>| {
            seen += waiting.places.len();
            stop.request();
        };
        let states = carry_out(&lab, Action::On, &[&access], Duration::from_secs(600), &stop, &mut watch);
        assert_eq!((states, seen), (vec![Err(Failure::Interrupted)], 1));
    }
}
