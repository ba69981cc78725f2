//! One load after another on a server, watched.

use std::sync::Arc;

use model::{Fault, PerSec, Probe, Record, RecordExt, Seconds, Setup, Unfit};

use super::metrics::{self, CAPACITY, OFFERED};
use super::params::{Ask, Offered, Subject};
use super::pool::{self, Key};
use super::served::Served;
use super::watch::Look;
use super::{capacity, words};
use crate::load::schedule::Schedule;
use crate::load::{Control, Load, run};

/// A prepared load.
pub struct Loads {
    ask: Ask,
    served: Arc<Served>,
    /// Names its capacity among others.
    key: String,
    told: bool,
}

impl Loads {
    pub fn prepare(setup: &Setup) -> Result<Loads, Unfit> {
        let ask = Ask::of(setup)?;
        let served = match &ask.subject {
            Subject::Url(url) => Served::theirs(url),
            Subject::Managed { kind, options, set } => {
                let key = Key {
                    kind: *kind,
                    options: (**options).clone(),
                    set: *set,
                    seed: setup.seed,
                    dir: setup.dir.clone(),
                };
                Served::ours(pool::get(key).map_err(|error| Unfit::new(error.to_string()))?)
            }
        };
        let place = format!("{:?} {}", setup.cpus, setup.dir.display());
        Ok(Loads { ask, served, key: capacity::key(&setup.params, &place), told: false })
    }

    /// The load at this rate; starts a server of ours anew where it has ended. With what is to be noted.
    fn at(&self, rate: f64) -> Result<(Load, Option<String>), Fault> {
        let mut load = self.ask.at(rate);
        let mut ended = None;
        if let Served::Ours(hosted) = &*self.served {
            ended = hosted.ensure().map_err(|error| Fault::new(error.to_string()))?;
            load.targets = hosted.targets().map_err(Fault::new)?;
        }
        Ok((load, ended))
    }

    fn capacity(&self) -> Result<f64, Fault> {
        match capacity::known(&self.key) {
            Some(rate) => Ok(rate),
            None => capacity::measure(&self.key, &self.at(0.0)?.0).map_err(Fault::new),
        }
    }

    /// Says once what runs where.
    fn tell(&mut self, load: &Load, record: &mut dyn Record) {
        if self.told {
            return;
        }
        self.told = true;
        record.note("web-setup", &words::setup(&self.served, load, &self.ask.cores));
        if let Served::Ours(hosted) = &*self.served {
            hosted.with(|server| record.note("server-build", &words::build(server)));
        }
    }
}

impl Probe for Loads {
    fn calibrate(&mut self, _: Seconds) -> Result<u64, Fault> {
        if matches!(self.ask.offered, Offered::Share(_)) {
            self.capacity()?;
        }
        Ok(1)
    }

    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let capacity = match self.ask.offered {
            Offered::Share(_) => Some(self.capacity()?),
            Offered::Closed | Offered::Rate(_) => None,
        };
        let rate = match self.ask.offered {
            Offered::Closed => 0.0,
            Offered::Rate(rate) => rate,
            Offered::Share(share) => share * capacity.unwrap_or_default(),
        };
        let (load, ended) = self.at(rate)?;
        if let Some(ended) = ended {
            record.note("server-restarted", &ended);
        }
        self.tell(&load, record);
        let before = Look::before(|| self.served.usage());
        let ran = run(&load, &Control::default());
        let after = Look::after(|| self.served.usage());
        if let Served::Ours(hosted) = &*self.served {
            hosted.check().map_err(|why| Fault::new(format!("during the load {why}")))?;
        }
        let outcome = ran.map_err(|error| Fault::new(error.to_string()))?;
        metrics::push(&outcome, record)?;
        if let Schedule::Constant { rate } | Schedule::Poisson { rate, .. } = load.schedule {
            record.push(&OFFERED, PerSec(rate));
        }
        if let Some(capacity) = capacity {
            record.push(&CAPACITY, PerSec(capacity));
        }
        after.push(&before, &self.ask.cores, outcome.record.service().total(), record);
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        let mut cpus = [self.ask.cores.server.as_slice(), self.ask.cores.generators.as_slice()].concat();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }
}
