//! One load after another on a store whose keys are there: ours keeps them, one of the user's has them during a take.

use std::net::SocketAddr;
use std::sync::Arc;

use model::login::Login;
use model::{Fault, Probe, Record, Seconds, Setup, Unfit};

use super::ask::KvAsk;
use super::hosted::{self, Hosted, Key};
use crate::load::kv::{Spec, data};
use crate::load::reach::reachable;
use crate::load::target::{Scheme, Url};
use crate::workload::store::{self, Info};
use crate::workload::web::params::Subject;
use crate::workload::web::probe::Loads;

/// Loads on one store.
pub struct KvLoads {
    setup: Setup,
    asked: KvAsk,
    held: Held,
    loads: Loads,
    /// What is to be noted with the next take.
    said: Vec<(&'static str, String)>,
}

/// Where the keys are.
enum Held {
    Ours { hosted: Arc<Hosted>, url: Url },
    Theirs(Theirs),
}

/// A store of the user's: never started, stopped or set up; only our own keys are written, and they are deleted.
struct Theirs {
    address: SocketAddr,
    scheme: Scheme,
    spec: Spec,
    login: Option<Login>,
}

impl KvLoads {
    pub fn prepare(setup: &Setup, mut asked: KvAsk) -> Result<KvLoads, Unfit> {
        let mut said = Vec::new();
        let held = match &asked.ours {
            Some(options) => {
                let key = Key { options: options.clone(), spec: asked.spec.clone(), dir: setup.dir.clone() };
                let hosted = hosted::get(key).map_err(|error| Unfit::new(error.to_string()))?;
                let url = hosted.url().map_err(Unfit::new)?;
                said.extend(hosted.build().map(|build| ("server-build", build)));
                Held::Ours { hosted, url }
            }
            None => {
                let Subject::Url(url) = &asked.ask.subject else {
                    return Err(Unfit::new("no URL of a store"));
                };
                let address = reachable(&asked.ask.load).map_err(|error| Unfit::new(error.to_string()))?;
                let theirs = Theirs {
                    address,
                    scheme: url.scheme,
                    spec: asked.spec.clone(),
                    login: setup.login.clone(),
                };
                let (what, holds) = theirs.describe().map_err(Unfit::new)?;
                asked.ask.server = Some(what);
                said.extend(holds.map(|holds| ("store-holds", holds)));
                Held::Theirs(theirs)
            }
        };
        let loads = loads(setup, &asked, &held)?;
        Ok(KvLoads { setup: setup.clone(), asked, held, loads, said })
    }

    /// Does something with the keys in place, before the takes.
    pub fn before<T>(&mut self, work: impl FnOnce(&mut Loads) -> Result<T, Fault>) -> Result<T, Fault> {
        self.ready()?;
        let done = work(&mut self.loads);
        self.clear();
        done
    }

    /// Does a take with the keys in place.
    pub fn during(
        &mut self,
        record: &mut dyn Record,
        work: impl FnOnce(&mut Loads, &mut dyn Record) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.ready()?;
        let mut done = work(&mut self.loads, record);
        if let Held::Ours { hosted, .. } = &self.held {
            // That one of its processes is gone explains whatever else failed.
            if let Err(why) = hosted.check() {
                done = Err(Fault::new(format!("during the load {why}")));
            }
        }
        self.clear();
        for (kind, text) in self.said.drain(..) {
            record.note(kind, &text);
        }
        done
    }

    /// Puts the keys there; a store of ours that ended is started anew.
    fn ready(&mut self) -> Result<(), Fault> {
        match &mut self.held {
            Held::Theirs(theirs) => theirs.fill().map_err(Fault::new),
            Held::Ours { hosted, url } => {
                let ended = hosted.ensure().map_err(|error| Fault::new(error.to_string()))?;
                self.said.extend(ended.map(|ended| ("server-restarted", ended)));
                let now = hosted.url().map_err(Fault::new)?;
                if now != *url {
                    *url = now;
                    self.loads =
                        loads(&self.setup, &self.asked, &self.held).map_err(|unfit| Fault::new(unfit.why))?;
                }
                Ok(())
            }
        }
    }

    /// Takes our keys out of a store that is not ours.
    fn clear(&mut self) {
        if let Held::Theirs(theirs) = &self.held
            && let Err(why) = theirs.clear()
        {
            let left = format!("keys that begin with `{}` are left in the store: {why}", theirs.spec.prefix);
            self.said.push(("keys-left", left));
        }
    }
}

fn loads(setup: &Setup, asked: &KvAsk, held: &Held) -> Result<Loads, Unfit> {
    let mut ask = asked.ask.clone();
    if let Held::Ours { hosted, url } = held {
        ask.server = Some(hosted.words(&ask.cores.server));
        ask.load.targets = vec![url.clone().into()];
        ask.subject = Subject::Url(url.clone());
    }
    Loads::prepare(setup, ask)
}

impl Theirs {
    fn fill(&self) -> Result<(), String> {
        let filled = data::fill(self.address, self.scheme, &self.spec, self.login.as_ref());
        filled.map_err(|why| {
            // What was written before is not left there; of two failures the first is told.
            let _as_far_as_possible = self.clear();
            format!("cannot write the keys of the load: {why}")
        })
    }

    fn clear(&self) -> Result<(), String> {
        data::clear(self.address, self.scheme, &self.spec, self.login.as_ref())
    }

    /// What it is, and what it holds that is not ours.
    fn describe(&self) -> Result<(String, Option<String>), String> {
        let resp = self.scheme == Scheme::Redis;
        let info = store::ask(self.address, resp, self.login.as_ref())?;
        let name = if resp { "redis" } else { "memcached" };
        let version = info.text("redis_version").or_else(|| info.text("version")).unwrap_or("?");
        let what = format!("the store at {} ({name}/{version})", self.address);
        let keys = if resp { keys_of_redis(&info) } else { info.number("curr_items").unwrap_or(0) };
        let holds = (keys > 0).then(|| {
            format!("{what} holds {keys} keys that are not ours; none of them is read, changed or deleted")
        });
        Ok((what, holds))
    }
}

/// Of all databases together: `db0:keys=5,expires=0,avg_ttl=0`.
fn keys_of_redis(info: &Info) -> u64 {
    let keys = |(name, value): (&str, &str)| {
        let is_database = name.strip_prefix("db").is_some_and(|rest| rest.parse::<u32>().is_ok());
        let keys = value.split(',').find_map(|field| field.strip_prefix("keys="))?;
        keys.parse::<u64>().ok().filter(|_| is_database)
    };
    info.lines().filter_map(keys).fold(0, u64::saturating_add)
}

impl Probe for KvLoads {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        self.before(|loads| loads.calibrate(at_least))
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.during(record, |loads, record| loads.take(repeats, record))
    }

    fn cpus(&self) -> Vec<u32> {
        self.loads.busy_cpus()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_all_databases_are_counted() {
        let info = Info::of(
            b"# Keyspace\r\ndb0:keys=5,expires=0,avg_ttl=0\r\ndb3:keys=2,expires=0\r\ndbx:keys=9\r\n",
        );
        assert_eq!(keys_of_redis(&info), 7);
        assert_eq!(keys_of_redis(&Info::default()), 0);
    }
}
