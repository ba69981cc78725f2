//! One load after another on a store whose keys are there: ours keeps them, one of the user's has them during a take.

use std::sync::Arc;

use model::url::Url;
use model::{Fault, NoteBody, Probe, Record, Seconds, Setup, Unfit};

use super::ask::KvAsk;
use super::hosted::{self, Hosted, Key};
use super::theirs::Theirs;
use crate::load::reach::reachable;
use crate::workload::web::probe::Loads;
use crate::workload::web::subject::Subject;
use crate::workload::web::words::ServerWords;
use crate::workload::web_slo::Placed;

/// Loads on one store.
pub struct KvLoads {
    setup: Setup,
    asked: KvAsk,
    held: Held,
    loads: Loads,
    /// Notes for the next take.
    notes: Vec<NoteBody>,
    /// Why the store takes no keys, where not even the first take had them.
    given_up: Option<String>,
}

/// Where the keys are.
enum Held {
    Ours { hosted: Arc<Hosted>, url: Url },
    Theirs(Theirs),
}

impl KvLoads {
    /// Finds or starts the store. Fails when it cannot be reached or started.
    pub fn prepare(setup: &Setup, mut asked: KvAsk) -> Result<KvLoads, Unfit> {
        let mut notes = Vec::new();
        let held = match &asked.ours {
            Some(options) => {
                let key = Key { options: options.clone(), spec: asked.spec.clone(), dir: setup.dir.clone() };
                let hosted = hosted::get(key).map_err(|error| Unfit::new(error.to_string()))?;
                let url = hosted.url().map_err(Unfit::new)?;
                notes.extend(hosted.build().map(NoteBody::ServerBuild));
                Held::Ours { hosted, url }
            }
            None => {
                let Subject::Url(url) = &asked.ask.subject else {
                    return Err(Unfit::new("no URL of a store"));
                };
                let address = reachable(&asked.ask.load).map_err(|error| Unfit::new(error.to_string()))?;
                let (theirs, what) = Theirs::look(address, url.scheme, &asked.spec, setup.login.as_ref())
                    .map_err(Unfit::new)?;
                asked.ask.server = Some(ServerWords { name: Some(what.clone()), place: what });
                Held::Theirs(theirs)
            }
        };
        let loads = loads(setup, &asked, &held)?;
        Ok(KvLoads { setup: setup.clone(), asked, held, loads, notes, given_up: None })
    }

    /// Starts a store of ours that ended anew, with its keys.
    fn ready(&mut self) -> Result<(), Fault> {
        let Held::Ours { hosted, url } = &mut self.held else { return Ok(()) };
        let ended = hosted.ensure().map_err(|error| Fault::new(error.to_string()))?;
        self.notes.extend(ended.map(|ended| NoteBody::remark("server-restarted", ended)));
        let now = hosted.url().map_err(Fault::new)?;
        if now != *url {
            *url = now;
            self.loads =
                loads(&self.setup, &self.asked, &self.held).map_err(|unfit| Fault::new(unfit.why))?;
        }
        Ok(())
    }
}

impl Placed for KvLoads {
    const WHAT: &'static str = "kv";

    fn check(setup: &Setup) -> Result<(), Unfit> {
        KvAsk::from_setup(setup).map(drop)
    }

    fn start(setup: &Setup) -> Result<KvLoads, Unfit> {
        KvLoads::prepare(setup, KvAsk::from_setup(setup)?)
    }

    /// Does something with the keys of a store of ours in place, before the takes. One of the user's has keys in takes
    /// alone: they end when the user wants it.
    fn before(&mut self, work: impl FnOnce(&mut Loads) -> Result<u64, Fault>) -> Result<u64, Fault> {
        match self.held {
            Held::Theirs(_) => Ok(1),
            Held::Ours { .. } => {
                self.ready()?;
                work(&mut self.loads)
            }
        }
    }

    /// Does a take with the keys in place.
    fn during(
        &mut self,
        record: &mut dyn Record,
        work: impl FnOnce(&mut Loads, &mut dyn Record) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let ready = match &mut self.held {
            Held::Theirs(theirs) => theirs.fill(record),
            Held::Ours { .. } => self.ready(),
        };
        let mut done = ready.and_then(|()| work(&mut self.loads, record));
        match &mut self.held {
            Held::Theirs(theirs) => {
                theirs.clear(record);
                self.given_up = theirs.refused();
            }
            Held::Ours { hosted, .. } => {
                // That one of its processes is gone explains whatever else failed.
                if let Err(why) = hosted.check() {
                    done = Err(Fault::new(format!("during the load {why}")));
                }
            }
        }
        self.notes.drain(..).for_each(|note| record.note(note));
        done
    }

    fn busy_cpus(&self) -> Vec<u32> {
        self.loads.busy_cpus()
    }

    fn given_up(&self) -> Option<String> {
        self.given_up.clone()
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

impl Probe for KvLoads {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        self.before(|loads| loads.calibrate(at_least))
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.during(record, |loads, record| loads.take(repeats, record))
    }

    fn given_up(&self) -> Option<String> {
        Placed::given_up(self)
    }

    fn cpus(&self) -> Vec<u32> {
        self.loads.busy_cpus()
    }
}
