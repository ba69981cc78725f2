//! BMCs of all kinds: each is asked by the protocol that the inventory names.

use super::boot::{Boot, Boots};
use super::cards::{Cards, TellsCards};
use super::health::{Event, Health, Sensor};
use super::ipmi::{Ipmi, Tool};
use super::redfish::Redfish;
use super::watts::WallWatts;
use super::{Access, Failure, Power, Request, State};
use crate::console::Line;
use crate::inventory::BmcKind;
use crate::stop::Stop;

/// The protocols.
#[derive(Debug)]
pub struct Bmcs<'a> {
    ipmi: Ipmi<'a>,
    redfish: Redfish<'a>,
}

impl<'a> Bmcs<'a> {
    /// `tool` is the only one for IPMI; `insecure` takes any certificate.
    pub fn new(tool: Option<Tool>, insecure: bool, stop: &'a Stop) -> Bmcs<'a> {
        Bmcs { ipmi: Ipmi::new(tool, stop), redfish: Redfish::new(insecure, stop) }
    }

    /// Opens the console of a node. `take` ends the session of somebody else first.
    pub fn console(&self, access: &Access, take: bool) -> Result<Line, Failure> {
        match access.kind {
            BmcKind::Ipmi => self.ipmi.console(access, take),
            BmcKind::Redfish => Err(Failure::Kind { kind: BmcKind::Redfish.word() }),
        }
    }

    /// Asks both protocols at once, so that none waits for the other.
    fn by_kind<T: Send>(
        of: &[&Access],
        ipmi: impl FnOnce(&[&Access]) -> Vec<Result<T, Failure>> + Send,
        redfish: impl FnOnce(&[&Access]) -> Vec<Result<T, Failure>> + Send,
    ) -> Vec<Result<T, Failure>> {
        let (first, second): (Vec<&Access>, Vec<&Access>) =
            of.iter().partition(|access| access.kind == BmcKind::Ipmi);
        let (first, second) = std::thread::scope(|scope| {
            let second = scope.spawn(|| if second.is_empty() { Vec::new() } else { redfish(&second) });
            let first = if first.is_empty() { Vec::new() } else { ipmi(&first) };
            (first, second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let (mut first, mut second) = (first.into_iter(), second.into_iter());
        let one = |access: &&Access| match access.kind {
            BmcKind::Ipmi => first.next(),
            BmcKind::Redfish => second.next(),
        };
        of.iter().map(one).map(|result| result.unwrap_or(Err(Failure::Interrupted))).collect()
    }
}

impl Power for Bmcs<'_> {
    fn states(&self, of: &[&Access]) -> Vec<Result<State, Failure>> {
        Bmcs::by_kind(of, |of| self.ipmi.states(of), |of| self.redfish.states(of))
    }

    fn ask(&self, request: Request, of: &[&Access]) -> Vec<Result<(), Failure>> {
        Bmcs::by_kind(of, |of| self.ipmi.ask(request, of), |of| self.redfish.ask(request, of))
    }
}

impl Boots for Bmcs<'_> {
    fn boots(&self, of: &[&Access]) -> Vec<Result<Boot, Failure>> {
        Bmcs::by_kind(of, |of| self.ipmi.boots(of), |of| self.redfish.boots(of))
    }

    fn set(&self, boot: Boot, of: &[&Access]) -> Vec<Result<(), Failure>> {
        Bmcs::by_kind(of, |of| self.ipmi.set(boot, of), |of| self.redfish.set(boot, of))
    }
}

impl WallWatts for Bmcs<'_> {
    fn watts(&self, of: &[&Access]) -> Vec<Result<f64, Failure>> {
        Bmcs::by_kind(of, |of| self.ipmi.watts(of), |of| self.redfish.watts(of))
    }
}

impl TellsCards for Bmcs<'_> {
    fn cards(&self, of: &[&Access]) -> Vec<Result<Cards, Failure>> {
        Bmcs::by_kind(of, |of| self.ipmi.cards(of), |of| self.redfish.cards(of))
    }
}

impl Health for Bmcs<'_> {
    fn sensors(&self, of: &[&Access]) -> Vec<Result<Vec<Sensor>, Failure>> {
        Bmcs::by_kind(of, |of| self.ipmi.sensors(of), |of| self.redfish.sensors(of))
    }

    fn events(&self, last: u32, of: &[&Access]) -> Vec<Result<Vec<Event>, Failure>> {
        Bmcs::by_kind(of, |of| self.ipmi.events(last, of), |of| self.redfish.events(last, of))
    }
}
