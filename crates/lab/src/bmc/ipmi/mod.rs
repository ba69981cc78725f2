//! IPMI over the network by tools of the system: FreeIPMI's `ipmipower`, one process for many BMCs, where it is
//! installed; `ipmitool`, a process for each, otherwise and for what the other one does not take.
//!
//! Cipher suite 3 comes first: every controller of IPMI 2.0 had it. Those that refuse it are asked with suite 17, which
//! newer ones want. Without a suite ipmitool spends ten seconds on asking which there are.

mod boot;
mod cards;
mod health;
mod ipmipower;
mod ipmitool;
mod sol;
mod watts;

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Access, Failure, Power, Request, State};
use crate::fan_out;
use crate::stop::{Cut, Limit, Stop};

/// How long a BMC may take to answer.
const SESSION: Duration = Duration::from_secs(4);

/// Processes of `ipmipower` at once: one for all BMCs of a password.
const WIDTH: usize = 4;

/// How long a process may take for all its BMCs; it is killed then.
const LIMIT: Duration = Duration::from_secs(120);

model::words! {
    /// A program of the system that speaks IPMI.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tool as word {
        IpmiPower = "ipmipower",
        IpmiTool = "ipmitool",
    }
}

impl Tool {
    /// The file of the program. Users' paths often lack the administrator's folder.
    fn file(self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
        folders.map(|folder| folder.join(self.word())).find(|file| file.is_file())
    }
}

/// A cipher suite by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Suite {
    /// SHA-1.
    Three,
    /// SHA-256.
    Seventeen,
}

impl Suite {
    const fn number(self) -> &'static str {
        match self {
            Suite::Three => "3",
            Suite::Seventeen => "17",
        }
    }
}

/// A question or request for BMCs, with the least privilege that may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    State,
    Do(Request),
}

impl Ask {
    const fn privilege(self) -> &'static str {
        match self {
            Ask::State => "USER",
            Ask::Do(_) => "OPERATOR",
        }
    }
}

/// The answer of a BMC: a state, or that it took the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    State(State),
    Taken,
}

/// How a BMC is known to tell the power of its node.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    /// With the privilege that it asks for.
    Dcmi(&'static str),
    /// Sensors whose sum it is.
    Sensors(Vec<String>),
}

/// BMCs that speak IPMI, by tools of the system.
#[derive(Debug)]
pub struct Ipmi<'a> {
    only: Option<Tool>,
    ipmipower: Option<PathBuf>,
    ipmitool: Option<PathBuf>,
    stop: &'a Stop,
    /// The suite that a BMC is known to take.
    suites: Mutex<HashMap<(IpAddr, u16), Suite>>,
    /// How a BMC is known to tell the power of its node.
    ways: Mutex<HashMap<(IpAddr, u16), Way>>,
}

impl<'a> Ipmi<'a> {
    /// The tools that are installed, or this one alone.
    pub fn new(only: Option<Tool>, stop: &'a Stop) -> Ipmi<'a> {
        let file = |tool: Tool| if only.is_none_or(|only| only == tool) { tool.file() } else { None };
        Ipmi {
            only,
            ipmipower: file(Tool::IpmiPower),
            ipmitool: file(Tool::IpmiTool),
            stop,
            suites: Mutex::new(HashMap::new()),
            ways: Mutex::new(HashMap::new()),
        }
    }

    fn limit(&self) -> Limit<'a> {
        Limit::from_now(self.stop, Some(LIMIT))
    }

    fn known(&self, access: &Access) -> Option<Suite> {
        let suites = self.suites.lock().unwrap_or_else(PoisonError::into_inner);
        suites.get(&(access.ip, access.port)).copied()
    }

    /// Asks each BMC with the suite that it is known to take; where none is known, with one after the other.
    fn by_suites<T>(
        &self,
        of: &[&Access],
        ask: impl Fn(&[(&Access, Suite)]) -> Vec<Result<T, Failure>>,
    ) -> Vec<Result<T, Failure>> {
        let first = |access: &&Access| self.known(access).unwrap_or(Suite::Three);
        let mut answers = ask(&of.iter().map(|access| (*access, first(access))).collect::<Vec<_>>());
        let is_refused = |at: &usize| {
            let says_no = matches!(answers[*at], Err(Failure::Cipher | Failure::Error { .. }));
            says_no && self.known(of[*at]).is_none()
        };
        let refused: Vec<usize> = (0..of.len()).filter(is_refused).collect();
        let second: Vec<(&Access, Suite)> = refused.iter().map(|at| (of[*at], Suite::Seventeen)).collect();
        let mut taken: Vec<Suite> = of.iter().map(first).collect();
        for (at, answer) in refused.iter().zip(ask(&second)) {
            // Of two refusals the first one says more.
            if !matches!(answer, Err(Failure::Cipher | Failure::Error { .. })) {
                answers[*at] = answer;
                taken[*at] = Suite::Seventeen;
            }
        }
        let mut suites = self.suites.lock().unwrap_or_else(PoisonError::into_inner);
        for ((access, suite), _) in of.iter().zip(taken).zip(&answers).filter(|(_, answer)| answer.is_ok()) {
            suites.insert((access.ip, access.port), suite);
        }
        answers
    }

    /// Asks each BMC by `ipmitool` for what the other tool has not.
    fn by_ipmitool<T: Send>(
        &self,
        privilege: &str,
        words: &[&str],
        of: &[&Access],
        read: impl Fn(&str) -> Result<T, Failure> + Sync,
    ) -> Vec<Result<T, Failure>> {
        self.by_suites(of, |of| {
            let missing = || Err(Failure::NoTool { said: "ipmitool is not installed".to_owned() });
            let mut answers: Vec<Result<T, Failure>> = of.iter().map(|_| missing()).collect();
            if let Some(program) = &self.ipmitool {
                let of: Vec<(usize, (&Access, Suite))> = of.iter().copied().enumerate().collect();
                let call = ipmitool::Call { program, privilege, words, verbose: false };
                ipmitool::each(&call, &of, self.stop, &read, |at, answer| answers[at] = answer);
            }
            answers
        })
    }

    /// Asks each BMC by the tool that takes it.
    fn by_tools(&self, ask: Ask, of: &[(&Access, Suite)]) -> Vec<Result<Answer, Failure>> {
        let missing = match (&self.ipmipower, self.only) {
            (Some(_), _) => "ipmipower does not take this address or password; ipmitool would".to_owned(),
            (None, Some(tool)) => format!("{} is not installed", tool.word()),
            (None, None) => "neither ipmipower nor ipmitool is installed".to_owned(),
        };
        let mut answers: Vec<Result<Answer, Failure>> =
            of.iter().map(|_| Err(Failure::NoTool { said: missing.clone() })).collect();
        let is_for_many = |at: &usize| self.ipmipower.is_some() && ipmipower::takes(of[*at].0);
        let (many, single): (Vec<usize>, Vec<usize>) = (0..of.len()).partition(is_for_many);
        let mut batches: BTreeMap<(&str, &str, Suite), Vec<usize>> = BTreeMap::new();
        for at in many {
            let (access, suite) = of[at];
            batches.entry((&access.user, access.password.text(), suite)).or_default().push(at);
        }
        let calls: Vec<(Suite, Vec<usize>)> = batches
            .into_iter()
            .flat_map(|((.., suite), places)| {
                ipmipower::batches(&places, |at| of[at].0).into_iter().map(move |places| (suite, places))
            })
            .collect();
        let call = |_: usize, (suite, places): &(Suite, Vec<usize>)| {
            let accesses: Vec<&Access> = places.iter().map(|at| of[*at].0).collect();
            (places.clone(), self.by_ipmipower(ask, *suite, &accesses))
        };
        let went = fan_out::each(&calls, WIDTH, call, |(places, said)| {
            places.iter().zip(said).for_each(|(at, answer)| answers[*at] = answer);
        });
        if let Err(error) = went {
            let failure = Failure::Other { said: format!("on this side: {error}") };
            let places = calls.iter().flat_map(|(_, places)| places);
            places.for_each(|at| answers[*at] = Err(failure.clone()));
        }
        if let Some(program) = &self.ipmitool {
            let single: Vec<(usize, (&Access, Suite))> = single.into_iter().map(|at| (at, of[at])).collect();
            let words = ["chassis", "power", ipmitool::word(ask)];
            let call = ipmitool::Call { program, privilege: ask.privilege(), words: &words, verbose: true };
            ipmitool::each(&call, &single, self.stop, &ipmitool::power, |at, answer| answers[at] = answer);
        }
        answers
    }

    fn by_ipmipower(&self, ask: Ask, suite: Suite, of: &[&Access]) -> Vec<Result<Answer, Failure>> {
        match &self.ipmipower {
            Some(program) => ipmipower::run(program, ask, suite, of, self.limit()),
            None => Vec::new(),
        }
    }
}

/// The failure of a tool that gave no result; `name` is the tool.
fn no_result(name: &str, error: crate::child::NoResult) -> Failure {
    use crate::child::NoResult;
    match error {
        NoResult::NotStarted(said) => Failure::NoTool { said: format!("{name} cannot be started: {said}") },
        NoResult::Cut(Cut::Interrupted) => Failure::Interrupted,
        NoResult::Cut(Cut::TimedOut) => Failure::NoAnswer,
        NoResult::Cut(Cut::Failed(said)) => Failure::Other { said: format!("on this side: {said}") },
    }
}

impl Power for Ipmi<'_> {
    fn states(&self, of: &[&Access]) -> Vec<Result<State, Failure>> {
        let state = |answer: Answer| match answer {
            Answer::State(state) => Ok(state),
            Answer::Taken => Err(Failure::Other { said: "the tool told no state".to_owned() }),
        };
        self.by_suites(of, |of| self.by_tools(Ask::State, of))
            .into_iter()
            .map(|answer| answer.and_then(state))
            .collect()
    }

    fn ask(&self, request: Request, of: &[&Access]) -> Vec<Result<(), Failure>> {
        let answers = self.by_suites(of, |of| self.by_tools(Ask::Do(request), of));
        answers.into_iter().map(|answer| answer.map(|_| ())).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::inventory::Password;

    pub(crate) fn access(node: &str, ip: &str, port: u16) -> Access {
        let password = Password::new("geheim");
        Access {
            node: node.to_owned(),
            kind: crate::inventory::BmcKind::Ipmi,
            host: ip.to_owned(),
            ip: ip.parse().unwrap(),
            port,
            user: "ADMIN".to_owned(),
            password,
            fingerprints: Vec::new(),
        }
    }

    #[test]
    fn without_a_tool_each_bmc_says_so() {
        let stop = Stop::new().unwrap();
        let (suites, ways) = (Mutex::default(), Mutex::default());
        let none = Ipmi { only: None, ipmipower: None, ipmitool: None, stop: &stop, suites, ways };
        let states = none.states(&[&access("a", "127.0.0.1", 1)]);
        let no_tool = |state: &Result<State, Failure>| matches!(state, Err(Failure::NoTool { .. }));
        assert!(states.iter().all(no_tool) && states.len() == 1, "{states:?}");
    }
}
