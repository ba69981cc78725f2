//! Counters that are read right before and right after a load, beside the machine's cores and disks: the kernel's
//! drops, those of each listening socket, the server's memory, the limits of its control groups, and whether its
//! content came from the disk.

use model::{Fault, Record};

use super::cold::Cold;
use super::drops::{CounterSource, Drops};
use super::groups::{self, Limits};
use super::memory;
use super::params::Ask;
use super::queues::Queues;
use super::served::Served;
use crate::load::Outcome;
use crate::workload::server::memory::Use;
use crate::workload::server::run::Server;

/// Before a load.
#[derive(Debug)]
pub struct Before {
    place: CounterSource,
    drops: Drops,
    queues: Queues,
    held: Option<Use>,
    limits: Limits,
    cold: Option<Cold>,
}

/// A load is over.
#[derive(Debug)]
pub struct Around {
    before: Before,
    drops: Drops,
    queues: Queues,
    held: Option<Use>,
    limits: Limits,
}

impl Before {
    /// Reads the counters before a load, and takes the content out of the cache where that is requested. Fails when it
    /// stays there.
    pub fn look(ask: &Ask, served: &Served) -> Result<Before, Fault> {
        let cold = match served {
            Served::Ours(hosted) if ask.is_cold => Some(Cold::before(hosted)?),
            _ => None,
        };
        let place = CounterSource::from_served(served);
        let limits = groups::look(served);
        Ok(Before {
            drops: place.look(),
            queues: Queues::look(served),
            held: held(served),
            limits,
            place,
            cold,
        })
    }

    pub fn end(self, served: &Served) -> Around {
        let limits = groups::look(served);
        Around {
            drops: self.place.look(),
            queues: Queues::look(served),
            held: held(served),
            limits,
            before: self,
        }
    }
}

impl Around {
    /// Pushes what happened in between.
    pub fn push(&self, served: &Served, outcome: &Outcome, record: &mut dyn Record) {
        let before = &self.before;
        before.place.push(&before.drops, &self.drops, record);
        self.queues.push(&before.queues, served, record);
        memory::push(before.held, self.held, record);
        groups::push(&before.limits, &self.limits, record);
        if let (Some(cold), Served::Ours(hosted)) = (&before.cold, served) {
            cold.after(hosted.content(), outcome, record);
        }
    }
}

/// The server's use of its memory limit.
fn held(served: &Served) -> Option<Use> {
    match served {
        Served::Ours(hosted) => hosted.with(Server::memory).flatten(),
        Served::Theirs(_) => None,
    }
}
