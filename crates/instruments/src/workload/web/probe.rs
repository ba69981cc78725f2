//! One load after another on a server, watched.

use std::sync::Arc;

use model::{Fault, PerSec, Probe, Record, RecordExt, Setup, Unfit};

use super::metrics::{self, OFFERED};
use super::params::{Ask, Offered, Subject};
use super::pool::{self, Hosted, Key};
use super::watch::Look;
use crate::load::schedule::Schedule;
use crate::load::target::Url;
use crate::load::{Load, run_watched};
use crate::workload::server::tree::{self, Usage};
use crate::workload::server::{sockets, tree as processes};

/// The server that is loaded.
enum Served {
    Ours(Arc<Hosted>),
    Theirs(Url),
}

impl Served {
    fn usage(&self) -> Result<Usage, String> {
        match self {
            Served::Ours(hosted) => hosted.usage(),
            Served::Theirs(url) => {
                let addresses = url.addresses()?;
                if !addresses.iter().all(|address| address.ip().to_canonical().is_loopback()) {
                    return Err(format!(
                        "the server at {} is not known to be on this machine",
                        url.authority()
                    ));
                }
                let mut why = format!("{} has no address", url.authority());
                for address in addresses {
                    match sockets::listeners(address) {
                        Ok(listeners) => return tree::Usage::of(processes::family(&listeners)?),
                        Err(error) => why = error,
                    }
                }
                Err(why)
            }
        }
    }
}

/// A prepared load.
pub struct Loads {
    ask: Ask,
    served: Served,
}

impl Loads {
    pub fn prepare(setup: &Setup) -> Result<Loads, Unfit> {
        let ask = Ask::of(setup)?;
        let served = match &ask.subject {
            Subject::Url(url) => Served::Theirs(url.clone()),
            Subject::Managed { kind, options, set } => {
                let key = Key {
                    kind: *kind,
                    options: (**options).clone(),
                    set: *set,
                    seed: setup.seed,
                    dir: setup.dir.clone(),
                };
                Served::Ours(pool::get(key).map_err(|error| Unfit::new(error.to_string()))?)
            }
        };
        Ok(Loads { ask, served })
    }

    /// The load of the next take; starts a server of ours anew where it has ended.
    fn next(&self, record: &mut dyn Record) -> Result<Load, Fault> {
        let rate = match self.ask.offered {
            Offered::Closed => 0.0,
            Offered::Rate(rate) => rate,
            Offered::Share(_) => return Err(Fault::new("the server's capacity is not known")),
        };
        let mut load = self.ask.at(rate);
        if let Served::Ours(hosted) = &self.served {
            let ended = hosted.ensure().map_err(|error| Fault::new(error.to_string()))?;
            if let Some(ended) = ended {
                record.note("server-restarted", &ended);
            }
            load.targets = hosted.targets().map_err(Fault::new)?;
        }
        Ok(load)
    }
}

impl Probe for Loads {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let load = self.next(record)?;
        let before = Look::before(|| self.served.usage());
        let ran = run_watched(&load, record);
        let after = Look::after(|| self.served.usage());
        if let Served::Ours(hosted) = &self.served {
            hosted.check().map_err(|why| Fault::new(format!("during the load {why}")))?;
        }
        let outcome = ran.map_err(|error| Fault::new(error.to_string()))?;
        metrics::push(&outcome, record)?;
        if let Schedule::Constant { rate } | Schedule::Poisson { rate, .. } = load.schedule {
            record.push(&OFFERED, PerSec(rate));
        }
        after.push(&before, &self.ask.cores, outcome.record.service().total(), record);
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        self.ask.cores.generators.clone()
    }
}
