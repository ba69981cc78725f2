//! Power actions on many nodes: ask, then look until each is as it should be, or too much time has passed.
//!
//! A cycle is off, a look, and on: a BMC's own cycle cannot be told from one that did nothing.

use std::time::Duration;

use super::{Access, Failure, Power, Request, State};
use crate::stop::{Cut, Limit, Stop, after};

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

/// Carries an action out on each node, which may take `patience` for each step. No node waits for another: a cycle
/// turns each on again once it was off. `watch` is told before each pause who is waited for.
pub fn carry_out(
    power: &dyn Power,
    action: Action,
    all: &[&Access],
    patience: Duration,
    stop: &Stop,
    watch: &mut dyn FnMut(Waiting<'_>),
) -> States {
    let mut work = Work { power, steps: action.steps(), all, patience, states: power.states(all) };
    let now = sys::clock::now_ns();
    let mut going: Vec<Going> = (0..all.len()).filter_map(|at| work.begun(at, 0, now)).collect();
    let mut pause = FIRST_LOOK;
    while !going.is_empty() {
        if stop.is_requested() {
            work.give_up(&going, &Cut::Interrupted);
            break;
        }
        let has_begun = work.ask(&mut going);
        let has_moved = work.look(&mut going);
        pause = if has_begun || has_moved { FIRST_LOOK } else { pause };
        for (step, (_, wanted)) in work.steps.iter().enumerate() {
            let places: Vec<usize> = going.iter().filter(|one| one.step == step).map(|one| one.at).collect();
            if !places.is_empty() {
                watch(Waiting { places: &places, wanted: *wanted });
            }
        }
        let limit = Limit { stop, until_ns: going.iter().map(|one| one.until_ns).min() };
        match limit.pause(pause.min(until_next(&going))) {
            Ok(()) => {}
            Err(Cut::TimedOut) => work.give_up_late(&mut going),
            Err(cut) => {
                work.give_up(&going, &cut);
                break;
            }
        }
        pause = (pause * 2).min(LAST_LOOK);
    }
    work.states
}

/// How long it is until a further node is to be asked.
fn until_next(going: &[Going]) -> Duration {
    let now = sys::clock::now_ns();
    let left = going.iter().filter_map(|one| one.from_ns.checked_sub(now)).filter(|left| *left > 0);
    left.min().map_or(Duration::MAX, Duration::from_nanos)
}

/// A node on its way through the steps.
struct Going {
    at: usize,
    step: usize,
    has_taken: bool,
    /// Why it did not take the request the last time.
    refused: Option<Failure>,
    /// It is not asked before.
    from_ns: u64,
    until_ns: u64,
}

struct Work<'a> {
    power: &'a dyn Power,
    steps: &'static [(Request, State)],
    all: &'a [&'a Access],
    patience: Duration,
    states: States,
}

impl Work<'_> {
    /// A node at a step, or at a later one where it is already as that wants it; `None` where nothing is left to do.
    /// A reset changes no state. Where a BMC was too busy to say how its node is, the request does no harm, but a reset
    /// does.
    fn begun(&mut self, at: usize, step: usize, from_ns: u64) -> Option<Going> {
        let (request, wanted) = *self.steps.get(step)?;
        let resets = request == Request::Reset;
        match &self.states[at] {
            Ok(State::Off) if resets => {
                self.states[at] = Err(Failure::IsOff);
                return None;
            }
            Ok(state) if !resets && *state == wanted => {
                return self.begun(at, step + 1, after(from_ns, OFF));
            }
            Err(failure) if resets || !failure.may_pass(false) => return None,
            _ => {}
        }
        let until_ns = after(from_ns, self.patience);
        Some(Going { at, step, has_taken: false, refused: None, from_ns, until_ns })
    }

    /// Makes the request of those that have not taken it; true where one is asked for the first time.
    fn ask(&mut self, going: &mut Vec<Going>) -> bool {
        let now = sys::clock::now_ns();
        let (mut failed, mut is_first) = (Vec::new(), false);
        for (step, (request, _)) in self.steps.iter().enumerate() {
            let is_asked = |one: &&mut Going| one.step == step && !one.has_taken && one.from_ns <= now;
            let mut asked: Vec<&mut Going> = going.iter_mut().filter(is_asked).collect();
            let places: Vec<usize> = asked.iter().map(|one| one.at).collect();
            if places.is_empty() {
                continue;
            }
            is_first |= asked.iter().any(|one| one.refused.is_none());
            let answers = self.power.ask(*request, &self.of(&places));
            for (one, answer) in asked.iter_mut().zip(answers) {
                match answer {
                    Ok(()) => (one.has_taken, one.refused) = (true, None),
                    Err(failure) if failure.may_pass(*request != Request::Reset) => {
                        one.refused = Some(failure);
                    }
                    Err(failure) => {
                        failed.push(one.at);
                        self.states[one.at] = Err(failure);
                    }
                }
            }
        }
        going.retain(|one| !failed.contains(&one.at));
        is_first
    }

    /// Looks at those that were asked; true where one has come further.
    fn look(&mut self, going: &mut Vec<Going>) -> bool {
        let now = sys::clock::now_ns();
        let places: Vec<usize> = going.iter().filter(|one| one.from_ns <= now).map(|one| one.at).collect();
        let seen = self.power.states(&self.of(&places));
        for (at, seen) in places.iter().zip(seen) {
            self.states[*at] = seen;
        }
        let now = sys::clock::now_ns();
        let mut has_moved = false;
        let next = |one: Going| {
            let (request, wanted) = self.steps[one.step];
            // A lost request may have been carried out; a reset shows in no state.
            let may_be = one.from_ns <= now && (request != Request::Reset || one.has_taken);
            if !may_be || self.states[one.at] != Ok(wanted) {
                return Some(one);
            }
            has_moved = true;
            self.begun(one.at, one.step + 1, after(now, OFF))
        };
        *going = std::mem::take(going).into_iter().filter_map(next).collect();
        has_moved
    }

    fn of(&self, places: &[usize]) -> Vec<&Access> {
        places.iter().filter_map(|at| self.all.get(*at).copied()).collect()
    }

    /// Gives up those whose time is over.
    fn give_up_late(&mut self, going: &mut Vec<Going>) {
        let now = sys::clock::now_ns();
        let (late, others): (Vec<Going>, Vec<Going>) =
            std::mem::take(going).into_iter().partition(|one| one.until_ns <= now);
        self.give_up(&late, &Cut::TimedOut);
        *going = others;
    }

    fn give_up(&mut self, going: &[Going], cut: &Cut) {
        let seconds = self.patience.as_secs_f64();
        for one in going {
            let failure = match (cut, &self.states[one.at], &one.refused) {
                (Cut::Interrupted, ..) => Failure::Interrupted,
                (Cut::Failed(said), ..) => Failure::Other { said: format!("on this side: {said}") },
                (Cut::TimedOut, _, Some(refused)) => refused.clone(),
                (Cut::TimedOut, Ok(state), None) => Failure::Unchanged { state: *state, seconds },
                (Cut::TimedOut, Err(last), None) => Failure::Silent { last: Box::new(last.clone()), seconds },
            };
            self.states[one.at] = Err(failure);
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
    fn a_node_that_does_not_go_off_keeps_no_other_off() {
        let nodes = vec![Planted::new(On, Some(0)), Planted::new(On, None)];
        let lab = Lab(RefCell::new(nodes));
        let all: Vec<Access> =
            [0, 1].map(|port| crate::bmc::ipmi::tests::access("a", "127.0.0.1", port)).into();
        let stop = Stop::new().unwrap();
        // The wait ends by itself once the first one is on; the other would be waited for, for ten minutes.
        let mut watch = |waiting: Waiting<'_>| {
            if waiting.places == [1] && lab.0.borrow()[0].asked == 2 {
                stop.request();
            }
        };
        let patience = Duration::from_secs(600);
        let states =
            carry_out(&lab, Action::Cycle, &all.iter().collect::<Vec<_>>(), patience, &stop, &mut watch);
        assert_eq!(states, [Ok(On), Err(Failure::Interrupted)]);
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
